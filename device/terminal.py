"""The terminal: takes signals and commands one at a time, in order; writes what follows to the journal; then tells.

The session is never shown ahead of the disk: `state` is made anew only after an append has returned. When an append
fails, the terminal stops accepting and says so; it never answers as if it had saved.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
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
from device.disk_space import DiskSpace
from device.event import Event, Stamp
from device.input_reader import InputReader
from device.journal import Journal, JournalError, JournalFull
from device.journal_base import Base
from device.machine_watch import MachineWatch
from device.origin import Origin
from device.recovery import Recovered
from device.screen import alerts, table_view
from device.self_test import Check, check_hardware, check_rules, have_answered, self_test
from device.session import Entry, Session
from device.settings import Settings
from device.signal_entries import entries_of, origin_of
from device.snapshot_keeper import SnapshotKeeper
from device.start_entries import Found, Start, start_session
from device.table_key import TableKey
from device.table_terms import TableTerms
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
WATCH_S = 0.1
# The steps that take the place of two dice keys.
ROLLS = ("roll", "correct", "no_roll")
# No throw follows another so soon: the same dice on screen and keys are one.
SAME_THROW_S = 3.0
DICE_KEYS = ":dice_keys"
# How often to look at the room on the disk.
SPACE_LOOK_S = 1.0
# How often to look at the clock and the link.
MACHINE_LOOK_S = 1.0
# How long the self-test waits for inputs and node, longer than a node takes that is there; and how often it looks.
HARDWARE_WAIT_S = 6.0
HARDWARE_LOOK_S = 0.05
CALL_TECHNICIAN = "Nothing is accepted any more. Call a technician. ({})"
DISK_FULL = (
    "The disk is full. Nothing is accepted, and nothing that was confirmed is lost. Call a technician to make room; "
    "work then goes on by itself."
)


class Halted(Exception):
    """The terminal accepts nothing; the message says why and what to do."""


class _DiskFull(Exception):
    """There is no room to go on."""


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
    """One thing to be decided by the session; `done` gets the committed events, or what went wrong.

    `write` writes what was decided, the journal's `append` where it is None.
    """

    decide: Callable[[], list[Entry]]
    done: "asyncio.Future[list[Event]] | None"
    received: Received | None = None
    write: Callable[[list[Entry], Stamp], list[Event]] | None = None


class Terminal:
    """One table's terminal. All methods belong to the event loop that runs `run`."""

    def __init__(
        self,
        recovered: Recovered,
        journal: Journal,
        clock: Clock,
        settings: Settings,
        key: TableKey,
        *,
        space: DiskSpace,
        recover_again: Callable[[], Recovered],
    ) -> None:
        """`recovered` is what the journal leads to, and `recover_again` finds that anew, in another thread."""
        self._settings = settings
        self._key = key
        self._configuration_hash = configuration_hash(settings)
        self._dice_rules = settings.dice_rules
        self._space = space
        self._recover_again = recover_again
        self._go_on_from(recovered)
        # Set, by `hint` or by a line of the node, when a look at the inputs is worth it.
        self._look = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._journal = journal
        self._clock = clock
        self._site = settings.site
        self._inputs: TableInputs | None = None
        self._open_inputs: Callable[[Session], TableInputs] | None = None
        # What the start is journaled as; None once it was.
        self._beginning: tuple[str, dict[str, Any], TableTerms | None] | None = None
        self._queue: asyncio.Queue[_Work] = asyncio.Queue(QUEUE_MAX)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="journal")
        self._changed = asyncio.Event()
        self._followers: list[Follower] = []
        self._snapshots: SnapshotKeeper | None = None
        self._halted: str | None = None
        self._is_full = False
        self._live: dict[str, Any] = {
            "pending_die": None,
            "box": None,
            "uplink": {"state": "off", "delivered": 0, "last_error": None, "targets": {}},
            "node": {"state": "none"},
        }
        # What the dice keys said and the session has not heard yet; a die of theirs that the last step used up.
        self._keys_queued = 0
        self._used_die: Received | None = None
        # What was entered on the screen last, and when.
        self._entered: tuple[Any, float] = (None, 0.0)
        self._machine = MachineWatch(clock)
        # What the self-test has found so far, until it is journaled; and what it said then.
        self._checks: list[Check] | None = None
        self._self_test: dict[str, Any] | None = None
        # Why the rules in force must not be played.
        self._unfit: str | None = None
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
                "targets": uplink["targets"],
            },
            "node": live["node"],
            "clock": self._machine.clock_quality,
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

    def set_uplink(
        self, state: str, delivered: int, last_error: str | None, targets: Mapping[str, str] | None = None
    ) -> None:
        """What the uplinks say of themselves, taken together; `targets` is the state of each by its name."""
        self._set_live(
            "uplink",
            {"state": state, "delivered": delivered, "last_error": last_error, "targets": dict(targets or {})},
        )
        undelivered = max(0, self._committed["seq"] - delivered)
        self._machine.note_link(
            up=state == "online", reason=last_error, undelivered=undelivered, now_ms=self._loop_ms()
        )

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
        rules = await asyncio.to_thread(check_rules, terms)
        if rules.result == "failed":
            raise Refused("rules_unfit", f"these rules would pay wrong ({rules.said})")
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

    async def prune(self, base: Base, data: dict[str, Any]) -> None:
        """Put `base` in the place of the events that it stands for (`journal_base.pruned_data`).

        Raises Halted or Busy.
        """
        await self._submit(lambda: self._session.prune_journal(data), partial(self._journal.prune, base))

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

    async def _submit(
        self,
        decide: Callable[[], list[Entry]],
        write: Callable[[list[Entry], Stamp], list[Event]] | None = None,
    ) -> list[Event]:
        if self._halted is not None:
            raise Halted(self._halted)
        done: asyncio.Future[list[Event]] = asyncio.get_running_loop().create_future()
        try:
            self._queue.put_nowait(_Work(decide, done, write=write))
        except asyncio.QueueFull:
            raise Busy("too many commands at once; wait a moment") from None
        return await done

    # Running

    def connect(self, open_inputs: Callable[[Session], TableInputs]) -> None:
        """Open the inputs, which `run` then reads. Raises what opening them does."""
        self._open_inputs = open_inputs
        self._inputs = open_inputs(self._session)

    def disconnect(self) -> None:
        """Give the inputs back."""
        if self._inputs is not None:
            self._inputs.close()
            self._inputs = None
        self._set_live("pending_die", None)
        self._set_live("box", None)

    def begin(self, version: str, configured: dict[str, Any], terms: TableTerms | None) -> None:
        """Journal the start, before anything else is accepted; open the table under `terms` unless None.

        Where the disk has no room, `run` does so when it has. Raises JournalError.
        """
        self._beginning = (version, configured, terms)
        if self._space.take_reserve() or not self._space.is_short():
            try:
                self._tell(self._append_now(self._begin_entries()))
            except JournalFull:
                self._go_on_from(self._recover_again())
            else:
                self._beginning = None
                if self._unfit is not None:
                    self._halt(self._unfit)
                return
        if self._session.table is None:
            raise JournalFull(f"{self._journal.path}: the disk has no room for a journal")
        self._is_full = True
        self._halt(DISK_FULL)
        self._tell([])

    def _begin_entries(self) -> list[Entry]:
        if self._beginning is None:
            return []
        version, configured, terms = self._beginning
        start = Start(version, configured, terms, self._key.public, self._configuration_hash)
        found = Found(
            last=self._last_event(),
            snapshot_seq=self._snapshot_seq,
            free_bytes=self._space.free_bytes(),
            holds_reserve=self._space.take_reserve(),
            now=self._clock.stamp(),
        )
        started = start_session(self._session, start, found)
        self._checks, self._unfit = started.checks, started.unfit
        return started.entries

    def _last_event(self) -> Event | None:
        return next(self._journal.events(self._journal.last_seq), None) if self._journal.last_seq else None

    async def run(self) -> None:
        """Work until cancelled; then journal the stop."""
        try:
            while True:
                if self._is_full:
                    await self._wait_for_space()
                with suppress(_DiskFull):
                    await self._accept()
        finally:
            # What is on its way to the disk arrives before the stop is written behind it.
            self._writer.shutdown()
            if self._halted in (None, self._unfit):
                with suppress(JournalError):
                    events = self._append_now(self._session.stop())
                    if self._snapshots is not None:
                        self._snapshots.stop(self._session, self._times, events[-1])

    async def _accept(self) -> None:
        """Take commands and signals on. Raises _DiskFull, and has then told that nothing is accepted."""
        work = [self._work(), self._watch_alerts(), self._watch_space(), self._watch_machine(), self._test_hardware()]
        if self._inputs is not None:
            reader = InputReader(self._inputs, self._look, self._take_in, partial(self._set_live, "node"))
            work.append(reader.run(lambda: self.version, self._lamps))
        tasks = [asyncio.create_task(one) for one in work]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    # The machine

    async def _watch_machine(self) -> None:
        """Journal what happens to the clock and to the link."""
        while True:
            quality = self._machine.clock_quality
            if told := self._machine.look(self._loop_ms()):
                await self._queue.put(_Work(partial(self._session.machine_seen, told), None))
            if self._machine.clock_quality != quality:
                self._announce()
            await asyncio.sleep(MACHINE_LOOK_S)

    async def _test_hardware(self) -> None:
        """End the self-test: what it found, once the hardware has said how it is or has had the time to."""
        if self._checks is None:
            return
        until = self._loop.time() + HARDWARE_WAIT_S
        while not have_answered(self.hardware()) and self._loop.time() < until:
            await asyncio.sleep(HARDWARE_LOOK_S)
        checks = [*self._checks, check_hardware(self.hardware())]
        await self._queue.put(_Work(partial(self._session.machine_seen, [self_test(checks)]), None))

    def _loop_ms(self) -> int:
        return int(self._loop.time() * 1000)

    # A full disk

    async def _watch_space(self) -> None:
        """Stop before a write fails, where there is time for it."""

        def stop() -> list[Entry]:
            raise _DiskFull

        while True:
            if not await asyncio.to_thread(self._space.take_reserve) and self._space.is_short():
                # In its turn, so that nothing is on its way to the disk then.
                with suppress(Halted, Busy):
                    await self._submit(stop)
            await asyncio.sleep(SPACE_LOOK_S)

    def _halt_for_space(self) -> None:
        self._is_full = True
        self._halt(DISK_FULL)
        # What was pressed and keyed so far is not to be done later, when nobody expects it any more.
        while not self._queue.empty():
            _fail(self._queue.get_nowait(), Halted(DISK_FULL))
        self._keys_queued = 0

    async def _wait_for_space(self) -> None:
        """Return when there is room again, or when there is no hope. The stop is recorded as soon as that can be."""
        self.disconnect()
        self._space.give_up_reserve()
        stop_is_recorded = self._beginning is not None
        try:
            while self._is_full:
                if await asyncio.to_thread(self._space.take_reserve):
                    self._is_full = not await self._write_anew(self._going_on)
                elif not stop_is_recorded:
                    stop_is_recorded = await self._write_anew(self._stopping)
                if self._is_full:
                    await asyncio.sleep(SPACE_LOOK_S)
            self._beginning = None
            if self._open_inputs is not None:
                self._inputs = self._open_inputs(self._session)
        except Exception as error:
            log.exception("work cannot go on after the disk was full")
            self._is_full = False
            self._halt(CALL_TECHNICIAN.format(error))
            return
        self._halted = self._unfit
        self._announce()

    def _stopping(self) -> list[Entry]:
        return self._session.stop_recording("disk_full", self._space.free_bytes())

    def _going_on(self) -> list[Entry]:
        return self._begin_entries() or self._session.resume_recording(self._space.free_bytes())

    async def _write_anew(self, decide: Callable[[], list[Entry]]) -> bool:
        """From what is on the disk, write what `decide` says; whether there was room. Raises JournalError."""
        self._go_on_from(await self._loop.run_in_executor(self._writer, self._recover_again))
        stamp = self._clock.stamp()
        try:
            entries = self._signed(decide(), stamp)
            events = await self._loop.run_in_executor(self._writer, self._journal.append, entries, stamp)
        except JournalFull:
            return False
        self._tell(events)
        return True

    def _go_on_from(self, recovered: Recovered) -> None:
        settings = self._settings
        self._session, self._times = recovered.session, recovered.times
        self._snapshot_seq = recovered.snapshot_seq
        self._watch = AlertWatch(settings.grace, settings.reserve, settings.dice_rules, settings.wiring)

    # Writing

    def _append_now(self, entries: list[Entry]) -> list[Event]:
        stamp = self._clock.stamp()
        return self._journal.append(self._signed(entries, stamp), stamp)

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
            except _DiskFull:
                self._halt_for_space()
                _fail(work, Halted(DISK_FULL))
                raise
            except Exception as error:
                # A fault of this program: the session may have been left half changed, and only a restart is sure.
                log.exception("a step or a signal could not be taken on")
                self._halt(CALL_TECHNICIAN.format(f"fault in the program: {error}"))
                _fail(work, Halted(str(error)))
                continue
            used = self._used_die
            events: list[Event] = []
            if entries:
                stamp = self._clock.stamp()
                try:
                    append = loop.run_in_executor(
                        self._writer, work.write or self._journal.append, self._signed(entries, stamp), stamp
                    )
                    # Shielded: being told to end does not take back what is on its way to the disk.
                    events = await asyncio.shield(append)
                except JournalFull:
                    self._halt_for_space()
                    _fail(work, Halted(DISK_FULL))
                    raise _DiskFull from None
                except Exception as error:
                    # The session is ahead of the disk now, whatever the reason: only a restart puts that right.
                    log.exception("the journal cannot be written")
                    self._halt(CALL_TECHNICIAN.format(f"the journal cannot be written: {error}"))
                    _fail(work, Halted(str(error)))
                    continue
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
            if event.type == "self_test":
                self._self_test, self._checks = event.data | {"wall": event.wall}, None
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
        self._halted = reason
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
        """What the hardware page shows: every input and lamp, the node and its line, the self-test of this start."""
        view: dict[str, Any] = {"pin_library": None, "inputs": [], "lamps": [], "node": {"state": "none"}}
        if self._inputs is not None:
            view = self._inputs.hardware()
        view["self_test"] = self._self_test
        for lamp in view["lamps"]:
            lamp["meaning"] = lamps.MEANINGS[lamp["name"]]
        return view

    async def _take_in(self, received: Received) -> None:
        if received.origin.endswith(DICE_KEYS):
            self._keys_queued += 1
        await self._queue.put(_Work(partial(self._decide, received), None, received))

    def _lamps(self) -> dict[str, bool]:
        return lamps.lit(self._committed, self._live["box"], self._live["pending_die"])

    def _look_for_alerts(self) -> list[Entry]:
        return self._watch.look(self._session, self._loop_ms())

    async def _watch_alerts(self) -> None:
        """Raise and clear alerts, in order with everything else that the session takes on."""

        while True:
            if self._halted is None and self._watch.wants(self._session, self._loop_ms()):
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
