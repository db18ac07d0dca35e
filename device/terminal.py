"""The terminal: what people, pages and hardware say goes to the recorder, and what is on the disk to whoever asks.

The session is never shown ahead of the disk: `state` is made anew only when the recorder has told of a commit.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Protocol, TypeGuard

from device import lamps
from device.alert_watch import AlertWatch
from device.clock import Clock
from device.configuration_hash import configuration_hash
from device.disk_space import DiskSpace
from device.event import Event
from device.input_reader import InputReader
from device.journal import Journal
from device.journal_base import Base
from device.machine_watch import MachineWatch
from device.origin import Origin
from device.people_file import PEOPLE_FILE
from device.recorder import Busy, Halted, IdReused, Recorder
from device.recovery import Recovered
from device.screen import alerts, table_view
from device.screen_watch import ScreenWatch
from device.self_test import Check, check_hardware, check_rules, have_answered, self_test
from device.session import Entry, Session
from device.settings import Settings
from device.sign_in_desk import SignInDesk
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

WATCH_S = 0.1
# The steps that take the place of two dice keys.
ROLLS = ("roll", "correct", "no_roll")
# No throw follows another so soon: the same dice on screen and keys are one.
SAME_THROW_S = 3.0
DICE_KEYS = ":dice_keys"
# How often to look at the clock and the link.
MACHINE_LOOK_S = 1.0
# How long the self-test waits for inputs and node, longer than a node takes that is there; and how often it looks.
HARDWARE_WAIT_S = 6.0
HARDWARE_LOOK_S = 0.05


class Follower(Protocol):
    """A reader of the journal that is told when events were committed."""

    def notify(self) -> None:
        """Events were committed."""


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
        self._public_key = key.public
        self._configuration_hash = configuration_hash(settings)
        self._dice_rules = settings.dice_rules
        self._recorder = Recorder(recovered, journal, clock, key, space, recover_again, self)
        self.people = SignInDesk(self._recorder, journal.path.with_name(PEOPLE_FILE), settings.sign_out_after_s)
        self._watch = self._new_watch()
        # Set, by `hint` or by a line of the node, when a look at the inputs is worth it.
        self._look = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._clock = clock
        self._site = settings.site
        self._inputs: TableInputs | None = None
        self._open_inputs: Callable[[Session], TableInputs] | None = None
        self._changed = asyncio.Event()
        self._followers: list[Follower] = []
        self._live: dict[str, Any] = {
            "pending_die": None,
            "box": None,
            "uplink": {"state": "off", "delivered": 0, "last_error": None, "targets": {}},
            "node": {"state": "none"},
        }
        # What the dice keys said and the session has not heard yet.
        self._keys_queued = 0
        # What was entered on the screen last, and when.
        self._entered: tuple[Any, float] = (None, 0.0)
        self._machine = MachineWatch(clock)
        self.screens = ScreenWatch()
        # What the self-test has found so far, until it is journaled; and what it said then.
        self._checks: list[Check] | None = None
        self._self_test: dict[str, Any] | None = None
        # Why the rules in force must not be played.
        self._unfit: str | None = None
        self._committed: dict[str, Any] = {}
        self._waiting_since: Callable[[int], str | None] = lambda _: None
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
            "halted": self._recorder.halt_reason,
            "pending_die": live["pending_die"],
            "buttons": committed["buttons"] | {"box": live["box"]},
            "uplink": {
                "state": uplink["state"],
                "undelivered": undelivered,
                "waiting_since": self._waiting_since(uplink["delivered"] + 1) if undelivered else None,
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
        self.announce()

    def follow(self, follower: Follower) -> None:
        """Tell `follower` of every commit from now on."""
        self._followers.append(follower)

    def keep_snapshots(self, keeper: SnapshotKeeper) -> None:
        """Have `keeper` keep a snapshot of what is on the disk."""
        self._recorder.keep_snapshots(keeper)

    def tell_waiting(self, waiting_since: Callable[[int], str | None]) -> None:
        """Have `waiting_since` say when the oldest event that is not delivered happened."""
        self._waiting_since = waiting_since

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

    async def command(
        self, step: dict[str, Any], command: str, after_roll: int | None = None, *, person: str | None = None
    ) -> dict[str, Any]:
        """Do a step from the console and return its answer once it is on the disk.

        A command whose id was done before is not done again; it gets the same answer. `person` has signed in on the
        page that it comes from, here and below. Raises Refused, Halted or Busy.
        """

        used: Received | None = None

        def decide() -> list[Entry]:
            nonlocal used
            name = step_name(step)
            if name not in ROLLS:
                return self._session.command(step, Origin("console", command, person=person), after_roll)
            # A roll from the screen uses up a die that waits on the keys, whose report is then done with this event.
            # Not one that was keyed behind dice that wait for their turn after this roll.
            inputs = self._inputs if self._keys_queued == 0 else None
            keyed = inputs.die_report if inputs is not None else None
            entries = self._session.command(step, Origin("console", command, keyed, person), after_roll)
            if inputs is not None:
                used = inputs.use_up_die()
                self._set_live("pending_die", None)
            self._entered = (step[name], self._loop.time())
            return entries

        def on_disk() -> None:
            if used is not None:
                self._acknowledge(used)

        return await self._once(command, step, decide, on_disk)

    async def take_back(self, correcting: bool, command: str, *, person: str | None = None) -> dict[str, Any]:
        """Whether the next two dice correct the last roll. Raises Refused, Halted or Busy."""
        origin = Origin("console", command, person=person)
        return await self._once(command, correcting, lambda: self._session.take_back(correcting, origin))

    async def open_table(self, terms: TableTerms, command: str, *, person: str | None = None) -> dict[str, Any]:
        """Open the table under new terms. Raises Refused, Halted or Busy."""
        rules = await asyncio.to_thread(check_rules, terms)
        if rules.result == "failed":
            raise Refused("rules_unfit", f"these rules would pay wrong ({rules.said})")
        origin = Origin("console", command, person=person)
        return await self._once(command, terms.data(), lambda: self._session.open_table(terms, origin))

    async def dice_action(self, action: dict[str, Any], command: str, *, person: str | None = None) -> dict[str, Any]:
        """Record an action on the dice (dice_actions.parse_action). Raises Refused, Halted or Busy."""
        origin = Origin("console", command, person=person)
        return await self._once(command, action, lambda: self._session.dice_action(action, self._dice_rules, origin))

    async def close_table(self, command: str, *, person: str | None = None) -> dict[str, Any]:
        """Close the table; the session ends. Raises Refused, Halted or Busy."""
        origin = Origin("console", command, person=person)
        return await self._once(command, "table_closed", lambda: self._session.close_table(origin))

    async def no_more_bets(self, command: str, *, person: str | None = None) -> dict[str, Any]:
        """The bets are closed and the dice are out. Raises Refused, Halted or Busy."""
        origin = Origin("console", command, person=person)
        return await self._once(command, "no_more_bets", lambda: self._session.no_more_bets(origin))

    async def acknowledge(
        self, alert: str, raised: int, name: str, command: str, *, person: str | None = None
    ) -> dict[str, Any]:
        """Somebody has taken note of an alert, as event `raised` told of it. Raises Refused, Halted or Busy."""
        origin = Origin("console", command, person=person)
        asked = {"alert": alert, "raised": raised, "name": name}
        return await self._once(command, asked, lambda: self._session.acknowledge_alert(alert, raised, name, origin))

    async def why_not_accepting(self) -> str | None:
        """Why nothing is accepted; None: something without effect just went the way of a command.

        Waits for as long as a command would, which is for good where the journal hangs.
        """
        while True:
            try:
                await self._recorder.submit(list)
            except Halted as halted:
                return str(halted)
            except Busy:
                await asyncio.sleep(WATCH_S)
            else:
                return None

    async def do(
        self,
        asked: object,
        person: str | None,
        decide: Callable[[Session, Origin], list[Entry]],
        command: str,
        *,
        source: tuple[str, str] | None = None,
    ) -> dict[str, Any]:
        """Do what another part of the session decides (`session_corrections`, `bet_entry`), asked for by `person`.

        `source`: see `Origin`. Raises Refused, Halted or Busy.
        """
        origin = Origin("console", command, person=person, source=source)
        return await self._once(command, asked, lambda: decide(self._session, origin))

    async def look(self, at: Callable[[Session], dict[str, Any]]) -> dict[str, Any]:
        """Something about the session as the disk has it. Looking changes nothing. Raises Refused, Halted or Busy."""
        found: dict[str, Any] = {}

        def look() -> list[Entry]:
            found.update(at(self._session))
            return []

        await self._recorder.submit(look)
        return found

    async def rest_where_closed(self, reason: str) -> bool:
        """Accept nothing any more where the table is closed; False: it is open, and plays on. Raises Halted or Busy."""

        def rest() -> list[Entry]:
            # In its turn: whatever is behind it is refused.
            if not self._session.is_open:
                self._recorder.halt(reason)
            return []

        await self._recorder.submit(rest)
        return self._recorder.halt_reason == reason

    async def alert(self, code: str, text: str) -> None:
        """Raise an alert of another part of the terminal, which stands until it is acknowledged."""
        await self._recorder.submit(lambda: self._session.raise_alert(code, text, {}, latched=True))

    async def standing_alert(self, code: str, text: str | None) -> None:
        """Raise an alert of another part of the terminal, which stands until that part clears it (None).

        Raises Halted or Busy.
        """

        def decide() -> list[Entry]:
            if text is not None:
                return self._session.raise_alert(code, text, {})
            return self._session.clear_alert(code) if code in self._session.alerts else []

        await self._recorder.submit(decide)

    async def prune(self, base: Base, data: dict[str, Any]) -> None:
        """Put `base` in the place of the events that it stands for (`journal_base.pruned_data`).

        Raises Halted or Busy.
        """
        write = partial(self._recorder.journal.prune, base)
        await self._recorder.submit(lambda: self._session.prune_journal(data), write=write)

    async def _once(
        self,
        command: str,
        asked: object,
        decide: Callable[[], list[Entry]],
        on_disk: Callable[[], None] | None = None,
    ) -> dict[str, Any]:
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

        await self._recorder.submit(once, on_disk=on_disk)
        answer = self._session.answered(command)
        assert answer is not None
        return answer | {"repeated": repeated}

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
        self._recorder.begin(partial(self._begin_entries, version, configured, terms))
        if self._unfit is not None:
            self._recorder.halt(self._unfit)

    def _begin_entries(self, version: str, configured: dict[str, Any], terms: TableTerms | None) -> list[Entry]:
        recorder = self._recorder
        found = Found(
            last=_last_event(recorder.journal),
            snapshot_seq=recorder.snapshot_seq,
            free_bytes=recorder.space.free_bytes(),
            holds_reserve=recorder.space.take_reserve(),
            now=self._clock.stamp(),
        )
        start = Start(version, configured, terms, self._public_key, self._configuration_hash)
        started = start_session(self._session, start, found)
        self._checks, self._unfit = started.checks, started.unfit
        return started.entries

    async def run(self) -> None:
        """Work until cancelled; then journal the stop."""
        await self._recorder.run(self._beside)

    def _beside(self) -> list[Coroutine[Any, Any, None]]:
        if self._unfit is not None and self._recorder.halt_reason is None:
            self._recorder.halt(self._unfit)
        work = [self._watch_alerts(), self._watch_machine(), self._test_hardware(), self.people.watch()]
        if self._inputs is not None:
            reader = InputReader(self._inputs, self._look, self._take_in, partial(self._set_live, "node"))
            work.append(reader.run(lambda: self.version, self._lamps))
        return work

    # What the recorder tells

    def committed(self, events: list[Event]) -> None:
        """These are on the disk."""
        for event in events:
            self._recorder.times.note(event)
            if event.type == "self_test":
                self._self_test, self._checks = event.data | {"wall": event.wall}, None
        self._committed = self._view()
        self.announce()
        if events:
            for follower in self._followers:
                follower.notify()

    def halted(self) -> None:
        """Whether anything is accepted has changed."""
        self.announce()

    def let_go(self) -> None:
        """The disk is full: nothing is taken on."""
        self.disconnect()
        self._keys_queued = 0

    def take_up(self) -> None:
        """There is room again, and the session is what the disk has."""
        self._watch = self._new_watch()
        if self._open_inputs is not None:
            self._inputs = self._open_inputs(self._session)

    def _new_watch(self) -> AlertWatch:
        settings = self._settings
        return AlertWatch(settings.grace, settings.reserve, settings.dice_rules, settings.wiring)

    @property
    def _session(self) -> Session:
        return self._recorder.session

    # The machine

    async def _watch_machine(self) -> None:
        """Journal what happens to the clock and to the link."""
        while True:
            quality = self._machine.clock_quality
            if told := self._machine.look(self._loop_ms()):
                await self._recorder.hand_in(partial(self._machine_seen, told))
            if self._machine.clock_quality != quality:
                self.announce()
            await asyncio.sleep(MACHINE_LOOK_S)

    async def _test_hardware(self) -> None:
        """End the self-test: what it found, once the hardware has said how it is or has had the time to."""
        if self._checks is None:
            return
        until = self._loop.time() + HARDWARE_WAIT_S
        while not have_answered(self.hardware()) and self._loop.time() < until:
            await asyncio.sleep(HARDWARE_LOOK_S)
        checks = [*self._checks, check_hardware(self.hardware())]
        await self._recorder.hand_in(partial(self._machine_seen, [self_test(checks)]))

    def _machine_seen(self, told: list[Entry]) -> list[Entry]:
        return self._session.machine_seen(told)

    def _loop_ms(self) -> int:
        return int(self._loop.time() * 1000)

    def _view(self) -> dict[str, Any]:
        view = table_view(self._session)
        view["table"] |= {"site": self._site, "table": self._recorder.journal.table_name}
        view["dice"] = self._session.dice.view(self._session.dice_context(self._dice_rules))
        view["reserve"]["since"] = self._recorder.times.reserve
        view["alerts"] = alerts(self._session, self._recorder.times.alerts)
        return view

    def announce(self) -> None:
        """What a page is shown has changed: whoever follows it is to look anew."""
        self.version += 1
        self._changed.set()
        self._changed = asyncio.Event()

    def _set_live(self, name: str, value: Any) -> None:
        if self._live[name] != value:
            self._live[name] = value
            self.announce()

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
        await self._recorder.hand_in(partial(self._decide, received), partial(self._acknowledge, received))

    def _acknowledge(self, received: Received) -> None:
        """What `received` led to is on the disk."""
        if self._inputs is not None:
            self._inputs.acknowledge(received)

    def _lamps(self) -> dict[str, bool]:
        return lamps.lit(self._committed, self._live["box"], self._live["pending_die"])

    def _look_for_alerts(self) -> list[Entry]:
        return self._watch.look(self._session, self._loop_ms())

    async def _watch_alerts(self) -> None:
        """Raise and clear alerts, in order with everything else that the session takes on."""

        while True:
            if self._recorder.halt_reason is None and self._watch.wants(self._session, self._loop_ms()):
                with suppress(Halted, Busy):
                    await self._recorder.submit(self._look_for_alerts)
            await asyncio.sleep(WATCH_S)

    def _decide(self, received: Received) -> list[Entry]:
        if received.origin.endswith(DICE_KEYS):
            self._keys_queued -= 1
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


def _last_event(journal: Journal) -> Event | None:
    return next(journal.events(journal.last_seq), None) if journal.last_seq else None
