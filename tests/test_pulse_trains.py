"""Random pulse trains, more than ten thousand of them: what is reported is what the line says, and nothing is invented.

A train is a line's life: its changes, in milliseconds. It is read as the program reads it, at a pace, and now and then
later than that. No level is held against the program that it had no chance to see.
"""

from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from drivers.bet_status_decoder import BetStatusDecoder
from drivers.closure_decoder import lid_decoder
from drivers.debounce import Debouncer
from drivers.dice_keys_decoder import DiceKeyContacts, DiceKeysDecoder
from drivers.header import HINT_LATE_MS, open_pin_factory
from drivers.puck_decoder import PuckDecoder
from drivers.signals import (
    POSITIONS,
    BetStatusKeyed,
    DiceEntryAbandoned,
    DiceKeyed,
    DieKeyed,
    EdgeLost,
    InputFreed,
    InputStuck,
    NewShooterKeyed,
    PuckFault,
    PuckLifted,
    PuckMoved,
    ReserveClosed,
    ReserveOpened,
    Signal,
    SlotsSeen,
    TakeBackKeyed,
)
from drivers.slots_decoder import SlotsDecoder
from drivers.table_inputs import IDLE_LOOK_MS, PACE_MS, TableInputs
from drivers.wiring import BUTTONS, DICE_KEYS, GROUPS, INPUTS, Pin, Timing, Wiring

SETTLE_MS = 15

# From contact bounce to a slow hand.
GAPS_MS = st.one_of(st.integers(1, 6), st.integers(1, 40), st.integers(1, 400))
TRAINS = st.lists(GAPS_MS, max_size=40)


@dataclass
class Line:
    """One contact, open at first, that changes after each of the gaps."""

    gaps_ms: list[int]
    changes_ms: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        now_ms = 100
        for gap_ms in self.gaps_ms:
            now_ms += gap_ms
            self.changes_ms.append(now_ms)
        # Whatever it did, in the end it is open.
        if len(self.changes_ms) % 2:
            self.changes_ms.append(now_ms + 50)

    @property
    def end_ms(self) -> int:
        return (self.changes_ms[-1] if self.changes_ms else 100) + 1

    def closed(self, now_ms: int) -> bool:
        return bisect_right(self.changes_ms, now_ms) % 2 == 1

    def changed_ms(self, now_ms: int) -> int:
        """When it last changed, up to now."""
        n = bisect_right(self.changes_ms, now_ms)
        return self.changes_ms[n - 1] if n else 0

    def closings(self) -> list[tuple[int, int]]:
        """When it was closed: (from, until)."""
        return list(zip(self.changes_ms[::2], self.changes_ms[1::2], strict=True))


def looks(end_ms: int, late_ms: list[int], *, after_ms: int = 200) -> list[int]:
    """The times of the looks: every PACE_MS from 0 on, some of them late, until `after_ms` after the end."""
    times = [0]
    while times[-1] < end_ms + after_ms:
        late = late_ms[len(times) % len(late_ms)] if late_ms else 0
        times.append(times[-1] + PACE_MS + late)
    return times


LATE_MS = st.lists(st.sampled_from([0, 0, 0, 0, 1, 3, 20]), max_size=7)


@settings(max_examples=3500)
@given(TRAINS, LATE_MS, st.integers(2, 60))
def test_a_debounced_level_is_the_level_within_its_time_and_one_look(
    gaps_ms: list[int], late_ms: list[int], settle_ms: int
) -> None:
    line, debouncer = Line(gaps_ms), Debouncer(settle_ms)
    changes: list[bool] = []
    # Since which look the line has been seen as it is; the first look after it last changed.
    same_since_ms, seen, first_look_ms, changed_ms = 0, False, 0, 0
    for now_ms in looks(line.end_ms, late_ms):
        if line.closed(now_ms) != seen:
            same_since_ms, seen = now_ms, not seen
        if line.changed_ms(now_ms) != changed_ms:
            first_look_ms, changed_ms = now_ms, line.changed_ms(now_ms)
        if debouncer.feed(now_ms, seen):
            assert debouncer.level is seen
            changes.append(seen)
            # Never on less than the settle time's worth of looks that all say so.
            assert now_ms - same_since_ms >= settle_ms
        if now_ms - first_look_ms >= settle_ms:
            assert debouncer.level == seen
    assert changes[0] is False
    assert all(one != other for one, other in pairwise(changes))
    assert changes.count(True) == changes.count(False) - 1, "presses equal releases, after the first level"


@settings(max_examples=2000)
@given(TRAINS, TRAINS, LATE_MS)
def test_presses_and_lids_come_one_for_one_and_from_a_contact_that_was_made(
    button_gaps_ms: list[int], lid_gaps_ms: list[int], late_ms: list[int]
) -> None:
    button, lid = Line(button_gaps_ms), Line(lid_gaps_ms)
    buttons = BetStatusDecoder(settle_ms=SETTLE_MS, pick_ms=10_000, stuck_ms=30_000)
    reserve = lid_decoder(settle_ms=50)
    told: list[tuple[int, Signal]] = []
    others = dict.fromkeys(BUTTONS, False)
    times = looks(max(button.end_ms, lid.end_ms), late_ms)
    for now_ms in times:
        signals = buttons.feed(now_ms, others | {"off": button.closed(now_ms)})
        signals += reserve.feed(now_ms, {"lid": lid.closed(now_ms)})
        told += [(now_ms, signal) for signal in signals]
    assert not buttons.unsettled and not reserve.unsettled
    presses_ms = [at_ms for at_ms, signal in told if signal == BetStatusKeyed("off", None)]
    lids = [signal for _, signal in told if isinstance(signal, ReserveOpened | ReserveClosed)]
    assert len(presses_ms) + len(lids) == len(told), "no other button says anything"
    held_one_by_one(button, presses_ms, slack_ms=25, settle_ms=SETTLE_MS)
    assert lids[0] == ReserveOpened(initial=True)
    assert all(type(one) is not type(other) for one, other in pairwise(lids))
    assert lids.count(ReserveClosed(initial=False)) == lids.count(ReserveOpened(initial=False))


def held_one_by_one(line: Line, presses_ms: list[int], *, slack_ms: int, settle_ms: int) -> None:
    """Each press is a contact made, a different one for each; a contact that is made for long enough is a press.

    `slack_ms` is the longest that two looks lie apart; a change may just miss one, and its settle time another.
    """
    closings = line.closings()
    for one_ms, other_ms in pairwise(presses_ms):
        # The line was seen open between them, for the settle time.
        assert any(until_ms >= one_ms - settle_ms and until_ms < other_ms for _, until_ms in closings)
    for at_ms in presses_ms:
        assert any(from_ms <= at_ms - settle_ms and from_ms < at_ms for from_ms, _ in closings)
    assert len(presses_ms) <= len(closings)
    quiet_ms = settle_ms + 2 * slack_ms
    for n, (from_ms, until_ms) in enumerate(closings):
        open_before = from_ms - closings[n - 1][1] if n else from_ms
        if until_ms - from_ms > quiet_ms and open_before > quiet_ms:
            assert [at_ms for at_ms in presses_ms if from_ms < at_ms < until_ms + 1] != []


@settings(max_examples=1500)
@given(st.lists(st.tuples(st.sampled_from(POSITIONS), TRAINS), max_size=3, unique_by=lambda one: one[0]), LATE_MS)
def test_the_puck_is_where_the_sensors_say_and_no_sensor_is_called_stuck_that_has_let_go(
    trains: list[tuple[Any, list[int]]], late_ms: list[int]
) -> None:
    lines = {position: Line(gaps_ms) for position, gaps_ms in trains}
    puck = PuckDecoder(1, settle_ms=60, lift_ms=300)
    told: list[Signal] = []
    end_ms = max((line.end_ms for line in lines.values()), default=100)
    let_go_ms = dict.fromkeys(POSITIONS, 0)
    # The places that were seen to answer since a sensor last let go, each alone beside it or not.
    others: dict[Any, set[Any]] = {position: set() for position in POSITIONS}
    for now_ms in looks(end_ms, late_ms, after_ms=1200):
        answering = {position for position, line in lines.items() if line.closed(now_ms)}
        for position in POSITIONS:
            if position not in answering:
                let_go_ms[position] = now_ms
                others[position].clear()
            else:
                others[position] |= answering - {position}
        signals = puck.feed(now_ms, {f"puck_{position}": position in answering for position in POSITIONS})
        for signal in signals:
            if isinstance(signal, InputStuck):
                position = next(place for place in POSITIONS if signal.name == f"puck_{place}")
                # Three patterns of several took the time of a lift each.
                assert now_ms - let_go_ms[position] >= 3 * 300
                assert len(others[position]) >= 2
            elif isinstance(signal, PuckMoved):
                assert signal.position in answering
        told += signals
    assert not puck.half_done
    assert isinstance(told[-1], PuckLifted | InputFreed), "all are open in the end"
    stuck = [signal for signal in told if isinstance(signal, InputStuck)]
    assert len(stuck) == len([signal for signal in told if isinstance(signal, InputFreed)])
    places = [signal for signal in told if isinstance(signal, PuckMoved | PuckLifted | PuckFault)]
    assert isinstance(places[-1], PuckLifted)
    assert [n for n, signal in enumerate(places) if signal.initial] == [0]


@settings(max_examples=1500)
@given(st.lists(st.tuples(st.sampled_from(DICE_KEYS), TRAINS), max_size=3, unique_by=lambda one: one[0]), LATE_MS)
def test_dice_come_from_keys_that_were_pressed(trains: list[tuple[str, list[int]]], late_ms: list[int]) -> None:
    lines = {name: Line(gaps_ms) for name, gaps_ms in trains}
    keys = DiceKeyContacts(DiceKeysDecoder(hold_ms=200, abandon_ms=700, stuck_ms=300), settle_ms=10)
    told: list[Signal] = []
    end_ms = max((line.end_ms for line in lines.values()), default=100)
    for now_ms in looks(end_ms, late_ms, after_ms=1200):
        told += keys.feed(now_ms, {name: name in lines and lines[name].closed(now_ms) for name in DICE_KEYS})
    assert not keys.unsettled
    dice: list[int] = []
    pending: int | None = None
    for signal in told:
        if isinstance(signal, DieKeyed):
            assert pending is None
            pending = signal.first
            dice.append(signal.first)
        elif isinstance(signal, DiceKeyed):
            assert signal.first == pending
            pending = None
            dice.append(signal.second)
        elif isinstance(signal, DiceEntryAbandoned):
            assert signal.first == pending
            pending = None
        elif isinstance(signal, TakeBackKeyed):
            assert "dice_key_1" in lines and pending is None
        elif isinstance(signal, NewShooterKeyed):
            assert "dice_key_2" in lines
        else:
            assert isinstance(signal, InputStuck | InputFreed)
    assert pending is None, "a lone die is given up"
    for name in DICE_KEYS:
        pressed = len(lines[name].closings()) if name in lines else 0
        assert dice.count(DICE_KEYS.index(name) + 1) <= pressed
        stuck = told.count(InputStuck(name))
        assert stuck == told.count(InputFreed(name)) <= pressed


@settings(max_examples=1000)
@given(st.lists(TRAINS, min_size=2, max_size=2), LATE_MS)
def test_slots_are_told_as_they_are(trains: list[list[int]], late_ms: list[int]) -> None:
    lines = [Line(gaps_ms) for gaps_ms in trains]
    slots = SlotsDecoder(("slot_1", "slot_2"), settle_ms=60)
    told: list[SlotsSeen] = []
    for now_ms in looks(max(line.end_ms for line in lines), late_ms):
        active = {f"slot_{n}": line.closed(now_ms) for n, line in enumerate(lines, 1)}
        told += [signal for signal in slots.feed(now_ms, active) if isinstance(signal, SlotsSeen)]
    assert told[0] == SlotsSeen((), initial=True)
    assert told[-1].occupied == ()
    assert all(one.occupied != other.occupied and not other.initial for one, other in pairwise(told))
    closings = sum(len(line.closings()) for line in lines)
    assert sum(len(set(other.occupied) - set(one.occupied)) for one, other in pairwise(told)) <= closings


# The header, through gpiozero's mock pins, polled as the program polls.

HEADER = Wiring(
    {
        **{name: Pin("header", pin) for name, pin in zip(GROUPS["puck"], range(4, 11), strict=True)},
        "on": Pin("header", 11),
        "off": Pin("header", 12),
        "lid": Pin("header", 2),
    }
)
TIMING = Timing()
SETTLE_MS_OF = {name: TIMING.settle_ms(name) for name in INPUTS}


@dataclass(frozen=True)
class Edge:
    """One change of one contact: when the library tells of it, after the change; None: never."""

    at_ms: int
    name: str
    closed: bool
    told_after_ms: int | None


class Run:
    """What the program made of some edges."""

    def __init__(self, wiring: Wiring, edges: list[Edge], end_ms: int) -> None:
        self.wiring = wiring
        self.factory: Any = open_pin_factory("mock")
        self.told: list[tuple[int, Signal]] = []
        self.closed = dict.fromkeys(wiring.inputs("header"), False)
        self.active: dict[str, list[tuple[int, bool]]] = {name: [] for name in self.closed}
        self.changed_ms = dict.fromkeys(self.closed, 0)
        self.hinted = False
        self.inputs = TableInputs(wiring, pin_factory=self.factory, node_port=None, on_hint=self._hint)
        happenings = [(edge.at_ms, 0, edge) for edge in edges]
        happenings += [(edge.at_ms + edge.told_after_ms, 1, edge) for edge in edges if edge.told_after_ms is not None]
        happenings.sort(key=lambda one: one[:2])
        due_ms = 0
        while happenings or due_ms <= end_ms:
            if happenings and happenings[0][0] <= due_ms:
                now_ms, hint, edge = happenings.pop(0)
                self._happen(now_ms, bool(hint), edge)
                if not self.hinted:
                    continue
            else:
                now_ms = due_ms
            self.hinted = False
            self._poll(now_ms)
            due_ms = now_ms + self.inputs.pace_ms
        self.hardware = {view["name"]: view for view in self.inputs.hardware()["inputs"]}
        self.inputs.close()

    def _hint(self) -> None:
        self.hinted = True

    def _happen(self, now_ms: int, hint: bool, edge: Edge) -> None:
        pin = self.factory.pin(self.wiring.pins[edge.name].number)
        if hint:
            pin._call_when_changed()
        else:
            pin._change_state(not edge.closed)
            self.closed[edge.name] = edge.closed
            self.changed_ms[edge.name] = now_ms

    def _poll(self, now_ms: int) -> None:
        self.told += [(now_ms, received.signal) for received in self.inputs.poll(now_ms)]
        for view in self.inputs.hardware()["inputs"]:
            name, active = view["name"], view["active"]
            settle_ms = SETTLE_MS_OF[name]
            if now_ms - self.changed_ms[name] >= settle_ms + IDLE_LOOK_MS and now_ms >= settle_ms + IDLE_LOOK_MS:
                assert active == self.closed[name], "an edge lost or late costs one idle look, no more"
            known = self.active[name]
            if active is not None and (not known or known[-1][1] != active):
                known.append((now_ms, active))

    def signals(self, kind: type[Signal]) -> list[Signal]:
        return [signal for _, signal in self.told if isinstance(signal, kind)]


FATES = st.sampled_from([0, 0, 0, 1, 4, 9, None, None])


@settings(max_examples=900)
@given(
    st.dictionaries(
        st.sampled_from(["on", "off", "lid", "puck_6", "puck_off"]),
        st.lists(st.tuples(GAPS_MS, FATES), max_size=16),
        min_size=1,
    )
)
def test_with_edges_lost_and_late_the_table_reports_what_its_pins_say(
    trains: dict[str, list[tuple[int, int | None]]],
) -> None:
    edges: list[Edge] = []
    lines: dict[str, Line] = {}
    for name, train in trains.items():
        line = lines[name] = Line([gap_ms for gap_ms, _ in train])
        fates = [fate for _, fate in train] + [0]
        edges += [Edge(at_ms, name, n % 2 == 0, fates[n]) for n, at_ms in enumerate(line.changes_ms)]
    run = Run(HEADER, edges, max(line.end_ms for line in lines.values()) + 400)
    for name, history in run.active.items():
        assert history[0][1] is False and history[-1][1] is False
        made, let_go = [level for _, level in history].count(True), [level for _, level in history[1:]].count(False)
        assert made == let_go <= len(lines[name].closings() if name in lines else [])
    for name in ("on", "off"):
        presses_ms = [at_ms for at_ms, signal in run.told if signal == BetStatusKeyed(name, None)]  # type: ignore[arg-type]
        assert presses_ms == [at_ms for at_ms, level in run.active[name] if level]
        if name in lines:
            held_one_by_one(lines[name], presses_ms, slack_ms=IDLE_LOOK_MS, settle_ms=TIMING.button_settle_ms)
    assert len(run.signals(ReserveClosed)) == [level for _, level in run.active["lid"]].count(True)
    assert len(run.signals(ReserveOpened)) == [level for _, level in run.active["lid"]].count(False)
    for name, view in run.hardware.items():
        lost = len([edge for edge in edges if edge.name == name and edge.told_after_ms is None])
        assert run.signals(EdgeLost).count(EdgeLost(name)) == view["lost_edges"] <= lost
        assert view["glitches"] <= len([edge for edge in edges if edge.name == name])


@settings(max_examples=600)
@given(st.lists(st.tuples(st.integers(1, 300), st.sampled_from([0, 5, 20, None])), max_size=16))
def test_of_changes_that_lie_apart_every_lost_edge_is_told_and_no_other(train: list[tuple[int, int | None]]) -> None:
    now_ms = 100
    edges: list[Edge] = []
    for n, (gap_ms, fate) in enumerate(train):
        now_ms += gap_ms + TIMING.button_settle_ms + IDLE_LOOK_MS + HINT_LATE_MS
        edges.append(Edge(now_ms, "on", n % 2 == 0, fate))
    run = Run(Wiring({"on": Pin("header", 11)}), edges, now_ms + 400)
    lost_ms = [edge.at_ms for edge in edges if edge.told_after_ms is None]
    told_ms = [at_ms for at_ms, signal in run.told if signal == EdgeLost("on")]
    assert len(told_ms) == len(lost_ms)
    assert all(
        0 < told - lost <= IDLE_LOOK_MS + HINT_LATE_MS + PACE_MS for told, lost in zip(told_ms, lost_ms, strict=True)
    )
    assert run.hardware["on"]["glitches"] == 0
    assert len(run.signals(BetStatusKeyed)) == (len(train) + 1) // 2
