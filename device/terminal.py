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
from typing import Any, Protocol

from device.clock import Clock
from device.event import Event
from device.journal import Journal, JournalError
from device.screen import table_view
from device.session import Entry, Origin, Session, TableTerms
from drivers.signals import (
    BetStatusKeyed,
    BoxPicked,
    ButtonHeldAtStart,
    DiceEntryAbandoned,
    DiceKeyed,
    DieKeyed,
    InputUnavailable,
    NewShooterKeyed,
    NodeFound,
    NodeLost,
    PuckFault,
    PuckLifted,
    PuckMoved,
    ReserveClosed,
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
POLL_S = 0.02
# The steps that take the place of two dice keys.
ROLLS = ("roll", "correct", "no_roll")
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

    def __init__(self, session: Session, journal: Journal, clock: Clock, site: str, inputs: TableInputs | None) -> None:
        self._session = session
        self._journal = journal
        self._clock = clock
        self._site = site
        self._inputs = inputs
        self._queue: asyncio.Queue[_Work] = asyncio.Queue(QUEUE_MAX)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="journal")
        self._changed = asyncio.Event()
        self._followers: list[Follower] = []
        self._halted: str | None = None
        self._live: dict[str, Any] = {
            "pending_die": None,
            "box": None,
            "uplink": {"state": "off", "delivered": 0, "last_error": None},
            "node": {"state": "none"},
        }
        self._node_met = False
        self._reserve_since: str | None = None
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
        alerts = list(committed["alerts"])
        if uplink["state"] == "fenced":
            alerts.append({"code": "uplink_fenced", "text": uplink["last_error"] or "Another unit claims this table."})
        if live["node"]["state"] == "offline":
            alerts.append({"code": "node_offline", "text": "The I/O node does not answer; enter dice on the screen."})
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
            "alerts": alerts,
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

    def set_uplink(self, state: str, delivered: int, last_error: str | None) -> None:
        """What the uplink says of itself."""
        self._set_live("uplink", {"state": state, "delivered": delivered, "last_error": last_error})

    # Commands

    async def command(self, step: dict[str, Any], command: str, after_roll: int | None = None) -> dict[str, Any]:
        """Do a step from the console and return its answer once it is on the disk.

        A command whose id was done before is not done again; it gets the same answer. Raises Refused, Halted or Busy.
        """

        def decide() -> list[Entry]:
            # A roll from the screen uses up a die that waits on the keys: its report is done with this event.
            keyed = self._inputs.die_report if self._inputs is not None and step_name(step) in ROLLS else None
            return self._session.command(step, Origin("console", command, keyed), after_roll)

        return await self._once(command, step, decide)

    async def take_back(self, correcting: bool, command: str) -> dict[str, Any]:
        """Whether the next two dice correct the last roll. Raises Refused, Halted or Busy."""
        origin = Origin("console", command)
        return await self._once(command, correcting, lambda: self._session.take_back(correcting, origin))

    async def open_table(self, terms: TableTerms, command: str) -> dict[str, Any]:
        """Open the table under new terms. Raises Refused, Halted or Busy."""
        origin = Origin("console", command)
        return await self._once(command, terms.data(), lambda: self._session.open_table(terms, origin))

    async def alert(self, code: str, text: str) -> None:
        """Journal an alert of another part of the terminal."""
        await self._submit(lambda: self._session.alert(code, text))

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

    def begin(
        self, version: str, configured: dict[str, Any], terms: TableTerms | None, reserve_since: str | None
    ) -> None:
        """Journal the start, before anything else is accepted; open the table under `terms` unless None."""
        self._reserve_since = reserve_since
        entries = self._session.start(version, configured)
        if terms is not None:
            entries += self._session.open_table(terms, Origin("configuration"))
        self._journal.append(entries, self._clock.stamp())
        self._committed = self._view()

    async def run(self) -> None:
        """Work until cancelled; then journal the stop."""
        tasks = [asyncio.create_task(self._work())]
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
                    self._journal.append(self._session.stop(), self._clock.stamp())

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            work = await self._queue.get()
            if self._halted is not None:
                _fail(work, Halted(self._halted))
                continue
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
            events: list[Event] = []
            if entries:
                stamp = self._clock.stamp()
                append = loop.run_in_executor(self._writer, self._journal.append, entries, stamp)
                try:
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
            if work.received is not None and self._inputs is not None:
                self._inputs.acknowledge(work.received)
            if work.done is not None and not work.done.cancelled():
                work.done.set_result(events)

    def _tell(self, events: list[Event]) -> None:
        for event in events:
            if event.type in ("reserve_opened", "reserve_closed"):
                self._reserve_since = event.wall
            elif event.type in ROLLS:
                self._live["pending_die"] = None
                if event.data["via"] == "console" and self._inputs is not None:
                    self._inputs.give_up_die()
        self._committed = self._view()
        self._announce()
        if events:
            for follower in self._followers:
                follower.notify()

    def _view(self) -> dict[str, Any]:
        view = table_view(self._session)
        view["table"] |= {"site": self._site, "table": self._journal.table_name}
        view["reserve"]["since"] = self._reserve_since
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

    async def _poll(self, inputs: TableInputs) -> None:
        """Read the hardware's signals at a fixed pace; an edge that was missed is seen at the next look."""
        clock = asyncio.get_running_loop().time
        started = clock()
        lamps_shown = -1
        while True:
            for received in inputs.poll(int(clock() * 1000)):
                await self._queue.put(_Work(partial(self._decide, received), None, received))
            state = inputs.health()["node"]["state"]
            if state == "offline" and not self._node_met and clock() - started < NODE_GREETING_S:
                state = "connecting"
            self._node_met = self._node_met or state == "online"
            self._set_live("node", {"state": state})
            if self.version != lamps_shown:
                lamps_shown = self.version
                inputs.set_lamps(self._lamps())
            await asyncio.sleep(POLL_S)

    def _lamps(self) -> dict[str, bool]:
        """Lamps show what is committed: a box with bets or a marker; ON, OFF, BUY, LAY where such a button lies."""
        committed = self._committed
        marks = committed["buttons"]["marks"]
        boxes = {bet["number"] for bet in committed["bets"]} | {int(box) for box in marks}
        buttons = {bet["button"] for bet in committed["bets"]}
        lamps = {"on": True in buttons, "off": False in buttons}
        lamps |= {status: status in marks.values() for status in ("buy", "lay")}
        return lamps | {f"box_{box}": box in boxes or self._live["box"] == box for box in (4, 5, 6, 8, 9, 10)}

    def _decide(self, received: Received) -> list[Entry]:
        session, signal, report = self._session, received.signal, received.report
        self._note_live(signal)
        match signal:
            case PuckMoved():
                detail = {"initial": signal.initial}
                return session.puck_seen("in_place", signal.position, signal.face, detail)
            case PuckLifted():
                return session.puck_seen("lifted", None, None, {"initial": signal.initial})
            case PuckFault():
                detail_of_fault: dict[str, Any] = {"initial": signal.initial, "sensors": list(signal.sensors)}
                return session.puck_seen("fault", None, None, detail_of_fault)
            case ReserveOpened() | ReserveClosed():
                return session.reserve_seen(isinstance(signal, ReserveOpened), signal.initial)
            case BetStatusKeyed():
                return session.bet_status_keyed(signal.status, signal.box)
            case DiceKeyed():
                return session.dice_keyed(signal.first, signal.second, report)
            case TakeBackKeyed():
                return session.take_back_keyed(report)
            case NewShooterKeyed():
                return session.new_shooter_keyed(report)
            case NodeLost():
                return session.input_seen("node_lost", {"reason": signal.reason})
            case NodeFound():
                found = {"gap_ms": signal.gap_ms, "restarted": signal.restarted, "dropped": signal.dropped}
                return session.input_seen("node_found", found)
            case InputUnavailable():
                return session.input_seen("input_unavailable", {"name": signal.name, "reason": signal.reason})
            case ButtonHeldAtStart():
                return session.input_seen("button_held_at_start", {"name": signal.name})
            case DieKeyed() | DiceEntryAbandoned() | BoxPicked():
                return []

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
