"""The terminal: takes signals and commands one at a time, in order; writes what follows to the journal; then tells.

The session is never shown ahead of the disk: `state` is made anew only after an append has returned. When an append
fails, the terminal stops accepting and says so; it never answers as if it had saved.
"""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeGuard

from device import lamps
from device.alert_watch import AlertWatch
from device.checkpoint import is_checkpoint_due, sign_entries
from device.clock import Clock
from device.configuration_hash import configuration_hash
from device.event import Event, Stamp
from device.event_times import EventTimes
from device.journal import Journal, JournalError
from device.screen import alerts, table_view
from device.session import Entry, Origin, Session, TableTerms
from device.settings import Settings
from device.signal_entries import entries_of, origin_of
from device.snapshot_keeper import SnapshotKeeper
from device.table_key import TableKey
from drivers.signals import (
    BetStatusKeyed,
    BoxPicked,
    DiceEntryAbandoned,
    DiceKeyed,
    DieKeyed,
    NewShooterKeyed,
    ReserveOpened,
    Signal,
    TakeBackKeyed,
)
from drivers.table_inputs import Received, TableInputs
from engine_lite.refusal import Refused
from engine_lite.steps import step_name

log = logging.getLogger(__name__)

# Commands waiting for the journal; more than this at once is no boxman.
QUEUE_MAX = 256
# However fast a line bounces, the table does other things between two looks at it.
LOOK_MIN_S = 0.002
WATCH_S = 0.1
# The steps that take the place of two dice keys.
ROLLS = ("roll", "correct", "no_roll")
# No throw follows another so soon: the same dice on screen and keys are one.
SAME_THROW_S = 3.0
DICE_KEYS = ":dice_keys"
# A node that is there has said so by then; until then its silence is no alarm.
NODE_GREETING_S = 5.0


class Halted(Exception):
    """The terminal accepts nothing; the message says why and what to do."""


class IdReused(Exception):
    """A command came under the id of another one; each action needs an id of its own."""


class Busy(Exception):
    """More commands wait than a person can give."""


class Follower(Protocol):
    """A reader of the journal that is told when events were committed."""

    def notify(self) -> None:
        """Events were committed."""


@dataclass(frozen=True)
class _Work:
    """One thing to be decided by the session; `done` gets the committed events, or what went wrong."""

    decide: Callable[[], list[Entry]]
    done: "asyncio.Future[list[Event]] | None"
    received: Received | None = None


class Terminal:
    """One table's terminal. All methods belong to the event loop that runs `run`."""

    def __init__(
        self,
        session: Session,
        journal: Journal,
        clock: Clock,
        settings: Settings,
        times: EventTimes,
        key: TableKey,
    ) -> None:
        self._session = session
        self._key = key
        self._configuration_hash = configuration_hash(settings)
        self._watch = AlertWatch(settings.grace, settings.reserve, settings.dice_rules, settings.wiring)
        self._dice_rules = settings.dice_rules
        self._times = times
        # Set, by `hint` or by a line of the node, when a look at the inputs is worth it.
        self._look = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._journal = journal
        self._clock = clock
        self._site = settings.site
        self._inputs: TableInputs | None = None
        self._queue: asyncio.Queue[_Work] = asyncio.Queue(QUEUE_MAX)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="journal")
        self._changed = asyncio.Event()
        self._followers: list[Follower] = []
        self._snapshots: SnapshotKeeper | None = None
        self._halted: str | None = None
        self._live: dict[str, Any] = {
            "pending_die": None,
            "box": None,
            "uplink": {"state": "off", "delivered": 0, "last_error": None},
            "node": {"state": "none"},
        }
        self._node_met = False
        # What the dice keys said and the session has not heard yet; a die of theirs that the last step used up.
        self._keys_queued = 0
        self._used_die: Received | None = None
        # What was entered on the screen last, and when.
        self._entered: tuple[Any, float] = (None, 0.0)
        self._clock_quality = clock.stamp().clock
        self._committed: dict[str, Any] = {}
        self.version = 0
        # Set when the terminal ends: whoever follows the state lets go.
        self.closing = False

    # What is told

    @property
    def state(self) -> dict[str, Any]:
        """The screen's JSON object: what is on the disk, and the live state of links and keys."""
        live, committed = self._live, self._committed
        uplink = live["uplink"]
        undelivered = max(0, committed["seq"] - uplink["delivered"]) if uplink["state"] != "off" else 0
        return committed | {
            "halted": self._halted,
            "pending_die": live["pending_die"],
            "buttons": committed["buttons"] | {"box": live["box"]},
            "uplink": {
                "state": uplink["state"],
                "undelivered": undelivered,
                "last_error": uplink["last_error"],
            },
            "node": live["node"],
            "clock": self._clock_quality,
        }

    @property
    def rule_set(self) -> dict[str, Any]:
        """The data of the rule set that the table is open under."""
        assert self._session.terms is not None
        return dict(self._session.terms.rule_set)

    async def wait_for_change(self, version: int) -> int:
        """Wait until the state is newer than `version`; returns the version it then has."""
        while self.version <= version:
            await self._changed.wait()
        return self.version

    def close(self) -> None:
        """Let go of everyone who follows the state; the terminal is about to end."""
        self.closing = True
        self._announce()

    def follow(self, follower: Follower) -> None:
        """Tell `follower` of every commit from now on."""
        self._followers.append(follower)

    def keep_snapshots(self, keeper: SnapshotKeeper) -> None:
        """Have `keeper` keep a snapshot of what is on the disk."""
        self._snapshots = keeper

    def set_uplink(self, state: str, delivered: int, last_error: str | None) -> None:
        """What the uplink says of itself."""
        self._set_live("uplink", {"state": state, "delivered": delivered, "last_error": last_error})

    # Commands

    async def command(self, step: dict[str, Any], command: str, after_roll: int | None = None) -> dict[str, Any]:
        """Do a step from the console and return its answer once it is on the disk.

        A command whose id was done before is not done again; it gets the same answer. Raises Refused, Halted or Busy.
        """

        def decide() -> list[Entry]:
            name = step_name(step)
            if name not in ROLLS:
                return self._session.command(step, Origin("console", command), after_roll)
            # A roll from the screen uses up a die that waits on the keys, whose report is then done with this event.
            # Not one that was keyed behind dice that wait for their turn after this roll.
            inputs = self._inputs if self._keys_queued == 0 else None
            keyed = inputs.die_report if inputs is not None else None
            entries = self._session.command(step, Origin("console", command, keyed), after_roll)
            if inputs is not None:
                self._used_die = inputs.use_up_die()
                self._set_live("pending_die", None)
            self._entered = (step[name], self._loop.time())
            return entries

        return await self._once(command, step, decide)

    async def take_back(self, correcting: bool, command: str) -> dict[str, Any]:
        """Whether the next two dice correct the last roll. Raises Refused, Halted or Busy."""
        origin = Origin("console", command)
        return await self._once(command, correcting, lambda: self._session.take_back(correcting, origin))

    async def open_table(self, terms: TableTerms, command: str) -> dict[str, Any]:
        """Open the table under new terms. Raises Refused, Halted or Busy."""
        origin = Origin("console", command)
        return await self._once(command, terms.data(), lambda: self._session.open_table(terms, origin))

    async def dice_action(self, action: dict[str, Any], command: str) -> dict[str, Any]:
        """Record an action on the dice (dice_actions.parse_action). Raises Refused, Halted or Busy."""
        origin = Origin("console", command)
        return await self._once(command, action, lambda: self._session.dice_action(action, self._dice_rules, origin))

    async def close_table(self, command: str) -> dict[str, Any]:
        """Close the table; the session ends. Raises Refused, Halted or Busy."""
        origin = Origin("console", command)
        return await self._once(command, "table_closed", lambda: self._session.close_table(origin))

    async def no_more_bets(self, command: str) -> dict[str, Any]:
        """The bets are closed and the dice are out. Raises Refused, Halted or Busy."""
        origin = Origin("console", command)
        return await self._once(command, "no_more_bets", lambda: self._session.no_more_bets(origin))

    async def acknowledge(self, alert: str, raised: int, name: str, command: str) -> dict[str, Any]:
        """Somebody has taken note of an alert, as event `raised` told of it. Raises Refused, Halted or Busy."""
        origin = Origin("console", command)
        asked = {"alert": alert, "raised": raised, "name": name}
        return await self._once(command, asked, lambda: self._session.acknowledge_alert(alert, raised, name, origin))

    async def alert(self, code: str, text: str) -> None:
        """Raise an alert of another part of the terminal, which stands until it is acknowledged."""
        await self._submit(lambda: self._session.raise_alert(code, text, {}, latched=True))

    async def _once(self, command: str, asked: object, decide: Callable[[], list[Entry]]) -> dict[str, Any]:
        """Do a command unless its id was done before; its answer, with `repeated`. Raises IdReused for another one."""
        repeated = False

        def once() -> list[Entry]:
            nonlocal repeated
            known = self._session.answered(command)
            if known is None:
                return decide()
            if known["asked"] != asked:
                raise IdReused
            repeated = True
            return []

        await self._submit(once)
        answer = self._session.answered(command)
        assert answer is not None
        return answer | {"repeated": repeated}

    async def _submit(self, decide: Callable[[], list[Entry]]) -> list[Event]:
        if self._halted is not None:
            raise Halted(self._halted)
        done: asyncio.Future[list[Event]] = asyncio.get_running_loop().create_future()
        try:
            self._queue.put_nowait(_Work(decide, done))
        except asyncio.QueueFull:
            raise Busy("too many commands at once; wait a moment") from None
        return await done

    # Running

    def connect(self, inputs: TableInputs) -> None:
        """Read these inputs, once `run` runs."""
        self._inputs = inputs

    def begin(self, version: str, configured: dict[str, Any], terms: TableTerms | None) -> None:
        """Journal the start, before anything else is accepted; open the table under `terms` unless None."""
        entries = self._session.start(
            version, configured, key=self._key.public, configuration_hash=self._configuration_hash
        )
        if terms is not None:
            entries += self._session.open_table(terms, Origin("configuration"))
        stamp = self._clock.stamp()
        self._journal.append(self._signed(entries, stamp), stamp)
        self._committed = self._view()

    async def run(self) -> None:
        """Work until cancelled; then journal the stop."""
        tasks = [asyncio.create_task(self._work()), asyncio.create_task(self._watch_alerts())]
        if self._inputs is not None:
            tasks.append(asyncio.create_task(self._poll(self._inputs)))
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            # What is on its way to the disk arrives before the stop is written behind it.
            self._writer.shutdown()
            if self._halted is None:
                with suppress(JournalError):
                    stamp = self._clock.stamp()
                    events = self._journal.append(self._signed(self._session.stop(), stamp), stamp)
                    if self._snapshots is not None:
                        self._snapshots.stop(self._session, self._times, events[-1])

    def _signed(self, entries: list[Entry], stamp: Stamp) -> list[Entry]:
        """The entries, with a checkpoint behind them when one is due: in one commit, so none is ever missing."""
        kinds = [kind for kind, _ in entries]
        if not is_checkpoint_due(kinds, self._session.seq - self._session.checkpoint_seq):
            return entries
        journal = self._journal
        signed = sign_entries(self._key, journal.table_name, entries, stamp, journal.last_seq, journal.last_hash)
        return entries + self._session.checkpoint(signed.data())

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            work = await self._queue.get()
            if self._halted is not None:
                _fail(work, Halted(self._halted))
                continue
            self._used_die = None
            if work.received is not None and work.received.origin.endswith(DICE_KEYS):
                self._keys_queued -= 1
            try:
                entries = work.decide()
            except (Refused, IdReused) as refused:
                _fail(work, refused)
                continue
            except Exception as error:
                # A fault of this program: the session may have been left half changed, and only a restart is sure.
                log.exception("a step or a signal could not be taken on")
                self._halt(f"fault in the program: {error}")
                _fail(work, Halted(str(error)))
                continue
            used = self._used_die
            events: list[Event] = []
            if entries:
                stamp = self._clock.stamp()
                try:
                    append = loop.run_in_executor(
                        self._writer, self._journal.append, self._signed(entries, stamp), stamp
                    )
                    # Shielded: being told to end does not take back what is on its way to the disk.
                    events = await asyncio.shield(append)
                except Exception as error:
                    # The session is ahead of the disk now, whatever the reason: only a restart puts that right.
                    log.exception("the journal cannot be written")
                    self._halt(f"the journal cannot be written: {error}")
                    _fail(work, Halted(str(error)))
                    continue
                self._clock_quality = stamp.clock
            self._tell(events)
            for received in (work.received, used):
                if received is not None and self._inputs is not None:
                    self._inputs.acknowledge(received)
            if work.done is not None and not work.done.cancelled():
                work.done.set_result(events)
            if events and self._snapshots is not None:
                self._snapshots.note(self._session, self._times, events[-1])

    def _tell(self, events: list[Event]) -> None:
        for event in events:
            self._times.note(event)
        self._committed = self._view()
        self._announce()
        if events:
            for follower in self._followers:
                follower.notify()

    def _view(self) -> dict[str, Any]:
        view = table_view(self._session)
        view["table"] |= {"site": self._site, "table": self._journal.table_name}
        view["dice"] = self._session.dice.view(self._session.dice_context(self._dice_rules))
        view["reserve"]["since"] = self._times.reserve
        view["alerts"] = alerts(self._session, self._times.alerts)
        return view

    def _announce(self) -> None:
        self.version += 1
        self._changed.set()
        self._changed = asyncio.Event()

    def _halt(self, reason: str) -> None:
        self._halted = f"Nothing is accepted any more. Call a technician. ({reason})"
        self._announce()

    def _set_live(self, name: str, value: Any) -> None:
        if self._live[name] != value:
            self._live[name] = value
            self._announce()

    # Hardware

    def hint(self) -> None:
        """From any thread: an input may have changed, and a look now is worth it."""
        self._loop.call_soon_threadsafe(self._look.set)

    def hardware(self) -> dict[str, Any]:
        """What the hardware page shows: every input and lamp, the node and its line."""
        if self._inputs is None:
            return {"pin_library": None, "inputs": [], "lamps": [], "node": {"state": "none"}}
        view = self._inputs.hardware()
        for lamp in view["lamps"]:
            lamp["meaning"] = lamps.MEANINGS[lamp["name"]]
        return view

    async def _poll(self, inputs: TableInputs) -> None:
        """Look at the inputs whenever something may have changed, and at a steady pace for what no edge told of."""
        clock = self._loop.time
        started = clock()
        lamps_shown = -1
        fileno: int | None = None
        try:
            while True:
                self._look.clear()
                for received in inputs.poll(int(clock() * 1000)):
                    if received.origin.endswith(DICE_KEYS):
                        self._keys_queued += 1
                    await self._queue.put(_Work(partial(self._decide, received), None, received))
                fileno = self._follow_line(fileno, inputs.node_fileno())
                self._note_node(inputs.node_state, clock() - started)
                if self.version != lamps_shown:
                    lamps_shown = self.version
                    inputs.set_lamps(lamps.lit(self._committed, self._live["box"], self._live["pending_die"]))
                await asyncio.sleep(LOOK_MIN_S)
                with suppress(TimeoutError):
                    async with asyncio.timeout(inputs.pace_ms / 1000):
                        await self._look.wait()
        finally:
            self._follow_line(fileno, None)

    def _follow_line(self, former: int | None, current: int | None) -> int | None:
        """Look when the node says something; its descriptor changes when the port is opened anew."""
        if former != current:
            if former is not None:
                self._loop.remove_reader(former)
            if current is not None:
                self._loop.add_reader(current, self._look.set)
        return current

    def _note_node(self, state: str, running_s: float) -> None:
        if state == "offline" and not self._node_met and running_s < NODE_GREETING_S:
            state = "connecting"
        self._node_met = self._node_met or state == "online"
        self._set_live("node", {"state": state})

    def _look_for_alerts(self) -> list[Entry]:
        return self._watch.look(self._session, int(self._loop.time() * 1000))

    async def _watch_alerts(self) -> None:
        """Raise and clear alerts, in order with everything else that the session takes on."""

        while True:
            if self._halted is None and self._watch.wants(self._session, int(self._loop.time() * 1000)):
                with suppress(Halted, Busy):
                    await self._submit(self._look_for_alerts)
            await asyncio.sleep(WATCH_S)

    def _decide(self, received: Received) -> list[Entry]:
        self._note_live(received.signal)
        if self._entered_just_now(received.signal):
            return self._session.keyed_again(received.signal.first, received.signal.second, origin_of(received))
        entries = entries_of(self._session, received)
        if isinstance(received.signal, ReserveOpened):
            # Some openings are wrong however short they are.
            entries += self._look_for_alerts()
        return entries

    def _entered_just_now(self, signal: Signal) -> TypeGuard[DiceKeyed]:
        """Whether these dice were entered on the screen a moment ago: two people keyed the same throw."""
        dice, entered_s = self._entered
        return (
            isinstance(signal, DiceKeyed)
            and isinstance(dice, list)
            and not self._session.correcting
            and sorted(dice) == sorted((signal.first, signal.second))
            and self._loop.time() - entered_s < SAME_THROW_S
        )

    def _note_live(self, signal: Signal) -> None:
        match signal:
            case DieKeyed():
                self._set_live("pending_die", signal.first)
            case DiceKeyed() | DiceEntryAbandoned() | TakeBackKeyed() | NewShooterKeyed():
                self._set_live("pending_die", None)
            case BoxPicked():
                self._set_live("box", signal.box)
            case BetStatusKeyed():
                self._set_live("box", None)
            case _:
                pass


def _fail(work: _Work, error: Exception) -> None:
    if work.done is not None and not work.done.cancelled():
        work.done.set_exception(error)
