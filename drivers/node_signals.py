"""What the reports of the I/O node mean: link events in, signals out, and which reports somebody still needs.

A plain state machine without a line or a clock; time is the node's own. Each group of inputs has its decoder and its
watermark, the last of its reports that is known to be in the journal. The node hands out everything it still holds to
a program that starts: reports at or below a group's watermark only say how its inputs stood.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from drivers.bet_status_decoder import BetStatusDecoder
from drivers.closure_decoder import ClosureDecoder, door_decoder, lid_decoder
from drivers.dice_keys_decoder import DiceKeysDecoder
from drivers.node_link import LinkEvent, NodeDown, NodeTime, NodeUp, Noisy, Quiet, Report, ReportsDropped
from drivers.puck_decoder import PuckDecoder
from drivers.signals import (
    BoxPicked,
    DiceEntryAbandoned,
    DieKeyed,
    InputFreed,
    InputStuck,
    LineNoisy,
    LineQuiet,
    NodeDropped,
    NodeFound,
    NodeLost,
    Signal,
)
from drivers.slots_decoder import SlotsDecoder
from drivers.wiring import DICE_KEYS, GROUPS, Wiring

ReportId = tuple[int, int]

# For something half done the node keeps so many reports and no more, of the 128 that it has room for.
HALF_DONE_REPORTS_MAX = 64

# What a program says anew after a start, and what becomes part of a later signal: their reports are not theirs.
_WITHOUT_REPORT = (DieKeyed, DiceEntryAbandoned, BoxPicked, InputStuck, InputFreed)


@dataclass(frozen=True)
class Received:
    """A signal, where it came from, and the last node report that went into it: (boot id, number), or None.

    `origin` is the board and the group, such as header:puck or node:reserve, or the board alone for what concerns it.
    `late`: the node kept it while it was not in contact.
    """

    signal: Signal
    origin: str
    report: ReportId | None
    late: bool = field(default=False, compare=False)


class _Decoder(Protocol):
    """What a group's inputs mean."""

    @property
    def half_done(self) -> bool:
        """Whether something that was fed may still become part of a later signal."""

    def poll(self, time_ms: int) -> list[Signal]:
        """Let time pass."""


@dataclass
class _Group:
    """The inputs of one group. `levels` are None until the node has said how they stand."""

    name: str
    decoder: _Decoder
    levels: dict[str, bool | None]
    watermark: ReportId | None = None
    started: bool = False
    # The last report that was taken, in this boot of the node; the first of those that something half done is made of.
    last_report: int = 0
    half_done_from: int | None = None
    # Closed when the node began to look: by the report that said so.
    held_at_start: dict[str, int] = field(default_factory=dict)
    # Dice keys that are down since a report which the journal covers: its number and its time.
    known_down: dict[str, tuple[int, int]] = field(default_factory=dict)


class NodeSignals:
    """The groups that are wired to the node."""

    def __init__(self, wiring: Wiring) -> None:
        self._wiring = wiring
        pins = wiring.inputs("node")
        self._name_on_pin = {pin: name for name, pin in pins.items()}
        self._groups = {
            group: _Group(group, self._new_decoder(group), dict.fromkeys(wiring.group(group)))
            for group in GROUPS
            if wiring.board(group) == "node"
        }
        self._group_of = {name: group for group in self._groups.values() for name in group.levels}
        # Each signal that is not acknowledged yet, with the first report that it needs.
        self._outstanding: list[tuple[Received, int]] = []
        # What is over, from its first to its last report, as long as the node may hold any of them.
        self._over: list[tuple[int, int]] = []
        self._boot_id: int | None = None
        self._boots_known: set[int] = set()
        # From each contact on, until all is told that the node had kept.
        self._catching_up = False
        self._last_report = 0
        self._time_ms = 0
        self._boot_began_ms = 0
        self._stuck: set[str] = set()
        self._die_report: ReportId | None = None
        # The report of a first die, keyed before this program began, whose roll was entered in another way.
        self._used_up_before: ReportId | None = None

    def resume(self, reports: Mapping[str, ReportId], used_up_die: ReportId | None = None) -> None:
        """Before the first event: by group, its last report that is known to be in the journal.

        `used_up_die` is the report of the last first die that the journal knows to have been used up (`die_report`).
        """
        self._used_up_before = used_up_die
        for name, report in reports.items():
            self._boots_known.add(report[0])
            if name in self._groups:
                self._groups[name].watermark = report

    def level(self, name: str) -> bool | None:
        """How an input stands; None before the first contact with the node."""
        return self._group_of[name].levels[name]

    @property
    def die_report(self) -> ReportId | None:
        """The node report that a waiting first die is made of, None while no die waits."""
        return self._die_report if self._pending_die() is not None else None

    def use_up_die(self) -> Received | None:
        """A throw was entered elsewhere: forget the first die that waits. Its report is owed an acknowledgement."""
        group = self._groups.get("dice_keys")
        if group is None or (die := self._pending_die()) is None:
            return None
        first_report = group.half_done_from or group.last_report
        used = Received(DiceEntryAbandoned(die, "entered_elsewhere"), f"node:{group.name}", self._die_report)
        _dice_keys(group).give_up()
        self._note_half_done(group)
        self._outstanding.append((used, first_report))
        return used

    def acknowledge(self, received: Received) -> None:
        """What `received` led to is on the disk. Saying so twice does no harm."""
        for entry in self._outstanding:
            if entry[0] == received:
                self._outstanding.remove(entry)
                return

    @property
    def done(self) -> int:
        """The last report of this boot up to which nobody needs any."""
        needed = [first for _, first in self._outstanding]
        needed += [
            group.half_done_from
            for group in self._groups.values()
            if group.half_done_from is not None and self._may_keep(group.half_done_from)
        ]
        needed += [number for group in self._groups.values() for number in group.held_at_start.values()]
        done = min(needed) - 1 if needed else self._last_report
        # Newest first: a group that heard the end of something without its beginning would take it for another thing.
        for first, last in sorted(self._over, key=_last_of, reverse=True):
            if first <= done < last and self._may_keep(first):
                done = first - 1
        return done

    def _may_keep(self, number: int) -> bool:
        return self._last_report - number < HALF_DONE_REPORTS_MAX

    def take(self, event: LinkEvent, boot_id: int | None) -> list[Received]:
        """Take one event of the link; `boot_id` is that of the node as it then is."""
        if isinstance(event, NodeDown):
            return [Received(NodeLost(event.reason), "node", None)]
        if isinstance(event, Noisy):
            return [Received(LineNoisy(event.frames, event.seconds), "node", None)]
        if isinstance(event, Quiet):
            return [Received(LineQuiet(), "node", None)]
        assert boot_id is not None
        if isinstance(event, ReportsDropped):
            return [Received(NodeDropped(event.changes, boot_id, event.total), "node", None)]
        if isinstance(event, NodeUp):
            return self._up(event, boot_id)
        self._time_ms = max(self._time_ms, self._boot_began_ms + event.time_ms)
        if isinstance(event, NodeTime):
            passed = [received for group in self._groups.values() for received in self._pass_time(group)]
            self._catching_up = False
            return passed
        return self._reported(event)

    def _new_decoder(self, group: str) -> _Decoder:
        """The decoder of a group whose inputs the node has settled already."""
        timing = self._wiring.timing
        if group == "puck":
            return PuckDecoder(1, settle_ms=0, lift_ms=timing.puck_lift_ms)
        if group == "second_puck":
            return PuckDecoder(2, settle_ms=0, lift_ms=timing.puck_lift_ms)
        if group == "bet_status":
            return BetStatusDecoder(settle_ms=0, pick_ms=timing.pick_ms, stuck_ms=timing.stuck_ms)
        if group == "reserve":
            return lid_decoder(settle_ms=0)
        if group == "door":
            return door_decoder(settle_ms=0)
        if group == "slots":
            return SlotsDecoder(self._wiring.group("slots"), settle_ms=0)
        assert group == "dice_keys"
        return DiceKeysDecoder(hold_ms=timing.hold_ms, abandon_ms=timing.abandon_ms, stuck_ms=timing.stuck_ms)

    def _up(self, event: NodeUp, boot_id: int) -> list[Received]:
        self._catching_up = True
        first_contact = self._boot_id is None
        # A journal may know several boots: groups that have said nothing for long remember an old one.
        restarted = bool(self._boots_known) and boot_id not in self._boots_known if first_contact else event.restarted
        received = [Received(NodeFound(event.gap_ms, restarted, event.dropped, boot_id, event.total), "node", None)]
        if boot_id == self._boot_id:
            return received
        if not first_contact and (die := self._pending_die()) is not None:
            received.append(Received(DiceEntryAbandoned(die, "node_restarted"), "node", None))
        self._boot_id = boot_id
        self._boot_began_ms = self._time_ms
        self._last_report = 0
        self._outstanding.clear()
        self._over.clear()
        for group in self._groups.values():
            group.started = False
            group.last_report = 0
            group.half_done_from = None
            group.held_at_start.clear()
            group.known_down.clear()
            for name in group.levels:
                group.levels[name] = event.levels.get(self._wiring.pins[name].number, False)
            # A puck, a lid, a door or a die that is found otherwise has changed; what a button did is gone.
            if group.name in ("bet_status", "dice_keys"):
                group.decoder = self._new_decoder(group.name)
        return received

    def _reported(self, report: Report) -> list[Received]:
        done = self.done
        self._over = [span for span in self._over if span[1] > done]
        self._last_report = report.number
        name = self._name_on_pin.get(report.pin)
        if name is None:
            # Not one of the pins that the node was told to look at: nothing that this table knows of.
            return []
        group = self._group_of[name]
        assert self._boot_id is not None
        # What the journal knows, and what was closed when the node began to look, is how things stood at start.
        if not group.started and _is_known(group.watermark, self._boot_id, report.number):
            group.levels[name] = report.closed
            if group.name == "dice_keys":
                self._note_known_key(group, name, report)
            return []
        if not group.started and report.initial and report.closed:
            group.levels[name] = True
            group.last_report = report.number
            if group.name == "dice_keys":
                group.held_at_start[name] = report.number
            return []
        received = self._pass_time(group)
        group.levels[name] = report.closed
        group.last_report = report.number
        if isinstance(group.decoder, DiceKeysDecoder):
            key = DICE_KEYS.index(name) + 1
            held_ms, initial = report.held_ms, report.initial
            signals = group.decoder.feed(self._time_ms, key, report.closed, held_ms=held_ms, initial=initial)
        else:
            signals = self._feed(group)
        return received + self._told(group, signals)

    def _note_known_key(self, group: _Group, name: str, report: Report) -> None:
        """A dice key of which the journal knows: it may be down still, or have been a first die that was used up."""
        group.known_down.pop(name, None)
        if report.closed:
            group.known_down[name] = (report.number, self._time_ms)
        elif group.watermark == self._used_up_before == (self._boot_id, report.number):
            _dice_keys(group).given_up_before(self._time_ms)
            group.half_done_from = min([report.number, *(number for number, _ in group.known_down.values())])

    def _pass_time(self, group: _Group) -> list[Received]:
        """Let the group's decoder know the time; the first time, how its inputs stood when it began."""
        if group.started:
            return self._told(group, group.decoder.poll(self._time_ms))
        if self._boot_id is None:
            return []
        group.started = True
        received = [Received(signal, f"node:{group.name}", None) for signal in self._freed(group)]
        if isinstance(group.decoder, DiceKeysDecoder):
            return received + self._start_dice_keys(group)
        return received + self._told(group, self._feed(group, at_start=True))

    def _feed(self, group: _Group, *, at_start: bool = False) -> list[Signal]:
        active = {name: level for name, level in group.levels.items() if level is not None}
        decoder = group.decoder
        if isinstance(decoder, PuckDecoder) and at_start and not decoder.started:
            return decoder.start(self._time_ms, active)
        assert isinstance(decoder, PuckDecoder | BetStatusDecoder | ClosureDecoder | SlotsDecoder)
        return decoder.feed(self._time_ms, active)

    def _start_dice_keys(self, group: _Group) -> list[Received]:
        decoder = _dice_keys(group)
        held, known_down = dict(group.held_at_start), dict(group.known_down)
        group.held_at_start.clear()
        group.known_down.clear()
        # The node keeps the press of every key until it is up or stuck: one that was down before is stuck.
        stuck_since_ms = self._time_ms - self._wiring.timing.stuck_ms
        down_since_ms = {
            DICE_KEYS.index(name) + 1: known_down[name][1] if name in known_down else stuck_since_ms
            for name, level in group.levels.items()
            if level and name not in held
        }
        last_report = group.last_report
        group.last_report = min((number for number, _ in known_down.values()), default=0)
        received = self._told(group, decoder.start(self._time_ms, down_since_ms))
        for name, number in held.items():
            group.last_report = number
            key = DICE_KEYS.index(name) + 1
            received += self._told(group, decoder.feed(self._time_ms, key, True, held_ms=0, initial=True))
        group.last_report = last_report
        return received

    def _freed(self, group: _Group) -> list[Signal]:
        """The buttons and keys that were stuck before the node restarted and are up now."""
        if group.name not in ("bet_status", "dice_keys"):
            return []
        freed = [name for name in group.levels if name in self._stuck and not group.levels[name]]
        self._stuck.difference_update(freed)
        return [InputFreed(name) for name in freed]

    def _told(self, group: _Group, signals: list[Signal]) -> list[Received]:
        first_report = group.half_done_from or group.last_report
        self._note_half_done(group)
        received = []
        for signal in signals:
            report: ReportId | None = None
            if isinstance(signal, InputStuck):
                self._stuck.add(signal.name)
            elif isinstance(signal, InputFreed):
                self._stuck.discard(signal.name)
            elif isinstance(signal, DieKeyed):
                assert self._boot_id is not None
                self._die_report = (self._boot_id, group.last_report)
            elif group.last_report and not isinstance(signal, _WITHOUT_REPORT):
                assert self._boot_id is not None
                report = (self._boot_id, group.last_report)
            late = self._catching_up and report is not None
            received.append(Received(signal, f"node:{group.name}", report, late))
            if report is not None:
                self._outstanding.append((received[-1], first_report))
        return received

    def _note_half_done(self, group: _Group) -> None:
        """Remember the first report that something half done is made of."""
        first_report = group.half_done_from or group.last_report
        if group.decoder.half_done and first_report:
            group.half_done_from = first_report
            return
        group.half_done_from = None
        if first_report < group.last_report:
            self._over.append((first_report, group.last_report))

    def _pending_die(self) -> int | None:
        group = self._groups.get("dice_keys")
        return None if group is None else _dice_keys(group).pending


def _is_known(watermark: ReportId | None, boot_id: int, number: int) -> bool:
    return watermark is not None and watermark[0] == boot_id and number <= watermark[1]


def _last_of(span: tuple[int, int]) -> int:
    return span[1]


def _dice_keys(group: _Group) -> DiceKeysDecoder:
    assert isinstance(group.decoder, DiceKeysDecoder)
    return group.decoder
