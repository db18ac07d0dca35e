"""The virtual table's faults: one catalogue, each shown where it acts, repeated by its seed, gone when it is mended."""

import json
import time
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import pytest
from gpiozero import InputDevice
from hypothesis import given
from hypothesis import strategies as st

from drivers.header import open_pin_factory
from drivers.signals import (
    BetStatusKeyed,
    BoxPicked,
    EdgeLost,
    InputAvailable,
    InputFreed,
    InputStuck,
    InputUnavailable,
    PuckFault,
    PuckMoved,
    PuckUnseen,
    ReserveClosed,
    ReserveOpened,
    Signal,
)
from drivers.table_inputs import TableInputs
from drivers.virtual_contact import Contact
from drivers.virtual_faults import (
    CATALOGUE,
    LINE_FAULTS,
    Fault,
    FaultError,
    LineFault,
    Number,
    catalogue_view,
    parse_fault,
    read_line_faults,
    write_line_faults,
)
from drivers.virtual_pins import VirtualPin, VirtualPinFactory
from drivers.virtual_table import VirtualTable
from drivers.wiring import Pin, Wiring

WIRING = Wiring()
SMALL = Wiring({"lid": Pin("header", 2), "slot_1": Pin("node", 16)})


# The catalogue


def test_every_kind_says_what_it_does_and_lies_within_its_own_bounds() -> None:
    assert list(CATALOGUE) == [
        "bounce",
        "lost_edge",
        "stuck",
        "dead",
        "noise",
        "drop",
        "duplicate",
        "silent",
        "unplug",
        "restart",
    ]
    for name, kind in CATALOGUE.items():
        assert kind.kind == name and kind.about.endswith(".")
        names = kind.names(WIRING)
        fault = parse_fault({"kind": name, **({"name": names[0]} if kind.one_name else {})}, WIRING, seed=9)
        assert fault.seed == 9
        for parameter in kind.parameters:
            assert fault.parameters[parameter.name] == parameter.default
            if isinstance(parameter, Number):
                assert parameter.lowest <= parameter.default <= parameter.highest
        assert parse_fault(fault.data(), WIRING, seed=0) == fault, "what is shown can be asked for again"


def test_the_catalogue_of_a_table_names_its_own_contacts() -> None:
    names = {view["kind"]: view["names"] for view in catalogue_view(SMALL)}
    assert names["bounce"] == names["stuck"] == ["lid", "slot_1"]
    assert names["lost_edge"] == names["dead"] == ["lid"]
    assert names["noise"] == names["restart"] == []
    assert "dead" not in {view["kind"] for view in catalogue_view(Wiring({"slot_1": Pin("node", 16)}))}
    (stuck,) = (view for view in catalogue_view(SMALL) if view["kind"] == "stuck")
    assert (stuck["one_name"], stuck["seeded"]) == (True, False)
    assert [(part["name"], part["default"]) for part in stuck["parameters"]] == [("active", True)]
    (noise,) = (view for view in catalogue_view(SMALL) if view["kind"] == "noise")
    assert [(part["lowest"], part["highest"]) for part in noise["parameters"]] == [(1, 2000)]
    json.dumps(catalogue_view(SMALL))


@pytest.mark.parametrize(
    ("asked", "field", "message"),
    [
        ([], "fault", "must be an object"),
        ({}, "kind", "must be one of bounce, lost_edge"),
        ({"kind": ["noise"]}, "kind", "must be one of"),
        ({"kind": "earthquake"}, "kind", "must be one of"),
        ({"kind": "noise", "name": "lid"}, "name", "must be left out"),
        ({"kind": "noise", "spread_ms": 5}, "spread_ms", "is not known; the fields are kind, name, seed, rate"),
        ({"kind": "noise", "rate": 0}, "rate", "must be a whole number from 1 to 2000"),
        ({"kind": "noise", "rate": 2001}, "rate", "must be a whole number from 1 to 2000"),
        ({"kind": "noise", "rate": True}, "rate", "must be a whole number"),
        ({"kind": "noise", "rate": 5.0}, "rate", "must be a whole number"),
        ({"kind": "noise", "seed": -1}, "seed", "must be a whole number from 0 to 4294967295"),
        ({"kind": "noise", "seed": 2**32}, "seed", "must be a whole number"),
        ({"kind": "noise", "seed": None}, "seed", "must be a whole number"),
        ({"kind": "stuck"}, "name", "is missing; choose one of lid, slot_1"),
        ({"kind": "stuck", "name": "puck_6"}, "name", "must be one of lid, slot_1"),
        ({"kind": "stuck", "name": ["lid"]}, "name", "must be one of lid, slot_1"),
        ({"kind": "stuck", "name": "lid", "active": 1}, "active", "must be true or false"),
        ({"kind": "dead", "name": "slot_1"}, "name", "must be one of lid"),
        ({"kind": "lost_edge", "name": "lid", "chance": 101}, "chance", "from 1 to 100"),
        ({"kind": "unplug", "away_ms": 199}, "away_ms", "from 200 to 60000"),
    ],
)
def test_a_fault_that_cannot_be_is_refused_with_the_part_and_what_would_be_right(
    asked: Any, field: str, message: str
) -> None:
    with pytest.raises(FaultError) as refused:
        parse_fault(asked, SMALL, seed=0)
    assert refused.value.field == field
    assert message in refused.value.message


def test_the_faults_of_the_line_reach_the_nodes_process_through_its_folder(tmp_path: Path) -> None:
    assert read_line_faults(tmp_path) == []
    noise = parse_fault({"kind": "noise", "rate": 7}, SMALL, seed=3)
    faults = [LineFault(noise, None), LineFault(parse_fault({"kind": "unplug"}, SMALL, seed=0), 123)]
    write_line_faults(tmp_path, faults)
    assert read_line_faults(tmp_path) == faults
    write_line_faults(tmp_path, [])
    assert read_line_faults(tmp_path) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[1]",
        "[" * 100_000,
        '[{"fault": {"kind": "noise"}}]',
        '[{"fault": {"kind": "noise"}, "ends_ms": 1.5}]',
        '[{"fault": {"kind": "noise", "rate": 0}, "ends_ms": null}]',
        '[{"fault": {"kind": "bounce"}, "ends_ms": null}]',
    ],
)
def test_a_file_of_faults_that_makes_no_sense_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / LINE_FAULTS).write_text(text)
    with pytest.raises(FaultError):
        read_line_faults(tmp_path)


# One contact


def bounces(seed: int, movements: int, spread_ms: int = 8, bounces: int = 6) -> list[list[tuple[int, bool]]]:
    """When a contact of this seed was seen to change, for each of its movements, 1,000 ms apart from 0."""
    contact = Contact("lid")
    contact.set_fault(Fault("bounce", None, seed, {"bounces": bounces, "spread_ms": spread_ms}))
    trains = []
    for n in range(movements):
        contact.move(n % 2 == 0, n * 1000)
        seen = []
        for now_ms in range(n * 1000, n * 1000 + 250):
            seen += [(now_ms - n * 1000, level) for level, _told in contact.changes(now_ms)]
        trains.append(seen)
    return trains


@given(st.integers(0, 2**32 - 1), st.integers(1, 200), st.integers(1, 40))
def test_a_bouncing_contact_starts_at_once_and_rests_where_it_was_put(seed: int, spread_ms: int, most: int) -> None:
    for n, train in enumerate(bounces(seed, 4, spread_ms, most)):
        target = n % 2 == 0
        assert train[0] == (0, target)
        assert train[-1][1] is target
        assert train[-1][0] <= spread_ms
        assert all(before[1] is not after[1] for before, after in pairwise(train))
        assert 3 <= len(train) <= 2 * most + 1, "a bounce is an opening and a closing"


def test_bounces_repeat_with_their_seed() -> None:
    assert bounces(7, 20) == bounces(7, 20)
    assert bounces(7, 20) != bounces(8, 20)
    assert len({len(train) for train in bounces(7, 20)}) > 2, "not every movement bounces alike"


def test_two_contacts_of_one_fault_have_dice_of_their_own() -> None:
    fault = Fault("bounce", None, 7, {"bounces": 40, "spread_ms": 200})
    trains = []
    for name in ("puck_4", "puck_5"):
        contact = Contact(name)
        contact.set_fault(fault)
        contact.move(True, 0)
        trains.append([(now_ms, contact.changes(now_ms)) for now_ms in range(201)])
    assert trains[0] != trains[1]


def test_a_movement_ends_the_bouncing_of_the_one_before() -> None:
    contact = Contact("lid")
    contact.set_fault(Fault("bounce", None, 1, {"bounces": 40, "spread_ms": 200}))
    contact.move(True, 0)
    contact.changes(10)
    contact.mend("bounce")
    contact.move(False, 20)
    assert contact.changes(20) in ([], [(False, True)])
    assert not contact.moving
    assert (contact.changes(500), contact.level) == ([], False)


def test_every_change_is_told_but_the_lost_ones() -> None:
    contact = Contact("lid")
    contact.move(True, 0)
    assert contact.changes(0) == [(True, True)]
    contact.set_fault(Fault("lost_edge", "lid", 1, {"chance": 100}))
    contact.move(False, 1)
    assert contact.changes(1) == [(False, False)]
    contact.mend("lost_edge")
    contact.move(True, 2)
    assert contact.changes(2) == [(True, True)]


def test_a_part_of_the_edges_is_lost_as_often_as_asked_and_the_same_ones_with_the_same_seed() -> None:
    def told(seed: int) -> list[bool]:
        contact = Contact("lid")
        contact.set_fault(Fault("lost_edge", None, seed, {"chance": 30}))
        seen = []
        for n in range(2_000):
            contact.move(n % 2 == 0, n)
            seen += [one for _level, one in contact.changes(n)]
        return seen

    assert told(1) == told(1) != told(2)
    # 600 of 2,000, with a spread of some twenty.
    assert 500 < told(1).count(False) < 700


@pytest.mark.parametrize("active", [True, False])
def test_a_stuck_contact_stays_and_shows_what_is_so_when_mended(active: bool) -> None:
    contact = Contact("lid")
    contact.move(not active, 0)
    contact.changes(0)
    contact.set_fault(Fault("stuck", "lid", 0, {"active": active}))
    assert contact.changes(1) == [(active, True)]
    for now_ms, closed in enumerate((active, not active, active, not active), 2):
        contact.move(closed, now_ms)
        assert contact.changes(now_ms) == []
    contact.mend("stuck")
    assert contact.changes(9) == [(not active, True)]


# Pins


class Header:
    """A lid on a virtual header, in simulated time, with a gpiozero device whose edges are counted."""

    def __init__(self) -> None:
        self.now_ms = 0
        self.factory: VirtualPinFactory = open_pin_factory("mock")
        self.lid = Contact("lid")
        self.pin: VirtualPin = self.factory.pin(2)
        self.pin.connect(self.lid, lambda: self.now_ms)
        self.told = 0
        self.device = self.opened()

    def opened(self) -> InputDevice:
        device = InputDevice(2, pull_up=True, pin_factory=self.factory)
        device.pin.when_changed = self._tell
        return device

    def _tell(self, _ticks: float, _state: bool) -> None:
        self.told += 1

    def put(self, closed: bool) -> None:
        self.lid.move(closed, self.now_ms)
        self.pin.look()


def test_a_contact_is_seen_on_its_pin_and_told() -> None:
    header = Header()
    header.put(True)
    assert header.device.is_active
    header.put(False)
    assert not header.device.is_active
    assert header.told == 2


def test_a_pin_that_is_opened_again_shows_its_contact_as_it_is() -> None:
    header = Header()
    header.put(True)
    header.device.close()
    assert header.opened().is_active


def test_each_bounce_is_told_by_the_time_that_somebody_looks() -> None:
    header = Header()
    fault = Fault("bounce", None, 5, {"bounces": 6, "spread_ms": 8})
    header.lid.set_fault(fault)
    header.put(True)
    assert header.told >= 1, "the first edge needs nobody who looks"
    header.now_ms = 8
    assert header.device.is_active
    assert header.told == len(bounces(5, 1)[0])


def test_a_lost_edge_changes_the_level_and_tells_nobody() -> None:
    header = Header()
    header.lid.set_fault(Fault("lost_edge", None, 1, {"chance": 100}))
    header.put(True)
    assert header.device.is_active
    assert header.told == 0
    header.lid.mend("lost_edge")
    header.put(False)
    assert header.told == 1


def test_a_dead_pin_raises_as_a_chip_that_vanishes_until_it_is_mended() -> None:
    header = Header()
    header.lid.set_fault(Fault("dead", "lid"))
    with pytest.raises(OSError, match="No such device"):
        header.device.value  # noqa: B018 - reading is what fails
    header.put(True)
    assert header.told == 0
    header.device.close()
    header.lid.mend("dead")
    assert header.opened().is_active, "what happened meanwhile counts"


def test_a_pin_used_as_an_output_is_not_pulled_by_a_contact() -> None:
    header = Header()
    header.device.close()
    header.pin.function = "output"
    header.pin.state = 1
    header.put(True)
    assert header.pin.state == 1


# The table


class Terminal:
    """Inputs and virtual table on one header, in simulated time; polls as the terminal does, early on hints."""

    def __init__(self, folder: Path, wiring: Wiring = WIRING) -> None:
        self.now_ms = 0
        self.hinted = False
        self.factory: VirtualPinFactory = open_pin_factory("mock")
        self.inputs = TableInputs(wiring, pin_factory=self.factory, node_port=None, on_hint=self._hint)
        self.table = VirtualTable(wiring, pin_factory=self.factory, folder=folder, now_ms=lambda: self.now_ms)
        self.signals: list[Signal] = []
        self.hinted = False
        self.run(500)

    def _hint(self) -> None:
        self.hinted = True

    def fault(self, **asked: Any) -> None:
        self.table.set_fault(parse_fault(asked, self.table.wiring, seed=0))

    def run(self, duration_ms: int) -> list[Signal]:
        """Let so much time pass; what was received meanwhile."""
        signals: list[Signal] = []
        end_ms = self.now_ms + duration_ms
        while self.now_ms < end_ms:
            self.now_ms = min(end_ms, self.now_ms + (1 if self.hinted else self.inputs.pace_ms))
            self.hinted = False
            signals += [received.signal for received in self.inputs.poll(self.now_ms)]
        self.signals += signals
        return signals

    def press(self, name: str, hold_ms: int = 80) -> list[Signal]:
        self.table.set_button(name, True)
        signals = self.run(hold_ms)
        self.table.set_button(name, False)
        return signals + self.run(80)


PLACES: tuple[Literal[4, 10, 6, 9], ...] = (4, 10, 6, 9)


def play(terminal: Terminal) -> list[Signal]:
    """A hand at the table: pucks, lid and buttons, each movement with time to settle."""
    signals: list[Signal] = []
    for box in PLACES:
        terminal.table.place_puck(box, "on")
        signals += terminal.run(500)
        signals += terminal.press(f"box_{box}") + terminal.press("buy")
        terminal.table.set_lid(shut=False)
        signals += terminal.run(500)
        terminal.table.set_lid(shut=True)
        signals += terminal.run(500)
        terminal.table.place_puck("off", "off")
        signals += terminal.run(500)
    return signals


PLAYED: list[Signal] = [
    signal
    for box in PLACES
    for signal in (
        PuckMoved(box, "on", initial=False),
        BoxPicked(box),
        BetStatusKeyed("buy", box),
        BoxPicked(None),
        ReserveOpened(initial=False),
        ReserveClosed(initial=False),
        PuckMoved("off", "off", initial=False),
    )
]


def test_a_table_without_a_fault_says_what_was_done(tmp_path: Path) -> None:
    assert play(Terminal(tmp_path)) == PLAYED


@pytest.mark.parametrize("seed", range(10))
def test_a_table_whose_contacts_bounce_says_the_same(tmp_path: Path, seed: int) -> None:
    terminal = Terminal(tmp_path)
    terminal.fault(kind="bounce", seed=seed, bounces=40, spread_ms=10)
    assert play(terminal) == PLAYED
    # The lid moved eight times; each time it bounced at least once, which is two changes more.
    assert len(terminal.factory.pin(2).states) > 8 * 3


def test_a_button_that_bounces_for_longer_than_it_takes_to_settle_is_pressed_once_when_held(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.fault(kind="bounce", name="box_6", seed=3, bounces=40, spread_ms=60)
    assert terminal.press("box_6", 300) == [BoxPicked(6)]


def test_lost_edges_are_found_by_looking_and_named(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.fault(kind="lost_edge", name="lid")
    terminal.table.set_lid(shut=False)
    assert not terminal.hinted
    # Within 100 ms: one look and 50 ms to settle. That its edge was lost is told when a late hint would have come.
    assert terminal.run(100) == [ReserveOpened(initial=False)]
    assert terminal.run(60) == [EdgeLost("lid")]
    terminal.table.mend("lost_edge")
    terminal.table.set_lid(shut=True)
    assert terminal.hinted
    assert terminal.run(200) == [ReserveClosed(initial=False)]


def test_every_edge_can_be_lost_and_what_was_done_is_still_said(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.fault(kind="lost_edge")
    signals = play(terminal)
    assert [signal for signal in signals if not isinstance(signal, EdgeLost)] == PLAYED
    # Each box: two sensors of the puck on the way there and back, a button and BUY, and the lid, each twice.
    assert sum(isinstance(signal, EdgeLost) for signal in signals) == 4 * (4 + 4 + 2)


def test_a_sensor_that_stays_active_is_a_fault_and_the_table_is_right_again_when_it_is_mended(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.fault(kind="stuck", name="puck_4", active=True)
    terminal.table.place_puck(6, "on")
    assert PuckFault(("4", "6"), initial=False) in terminal.run(1000)
    terminal.table.mend("stuck")
    assert terminal.run(1000)[-1] == PuckMoved(6, "on", initial=False)


def test_a_button_that_stays_inactive_says_nothing_until_it_is_mended(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.fault(kind="stuck", name="box_8", active=False)
    assert terminal.press("box_8") == []
    terminal.table.mend("stuck", "box_8")
    assert terminal.press("box_8") == [BoxPicked(8)]


def test_a_button_that_stays_active_is_pressed_once_and_then_stuck(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.fault(kind="stuck", name="box_8", active=True)
    assert terminal.run(29_000)[0] == BoxPicked(8)
    assert InputStuck("box_8") in terminal.run(2_000)
    terminal.table.mend()
    assert terminal.run(200) == [InputFreed("box_8")]


def test_a_dead_pin_takes_down_that_input_alone_and_comes_back(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.fault(kind="dead", name="lid")
    (gone,) = terminal.run(100)
    assert isinstance(gone, InputUnavailable)
    assert (gone.name, "No such device" in gone.reason) == ("lid", True)
    terminal.table.set_lid(shut=False)
    assert terminal.press("box_5") == [BoxPicked(5)]
    terminal.table.mend("dead")
    # Nobody has seen it move.
    assert terminal.run(6_000) == [InputAvailable("lid"), ReserveOpened(initial=True)]


def test_a_dead_chip_takes_all_pins_of_the_header_down_and_the_table_is_right_again_when_it_is_back(
    tmp_path: Path,
) -> None:
    terminal = Terminal(tmp_path)
    terminal.fault(kind="dead")
    gone = terminal.run(6_000)
    header = WIRING.inputs("header")
    assert {signal.name for signal in gone if isinstance(signal, InputUnavailable)} == set(header)
    assert [signal for signal in gone if not isinstance(signal, InputUnavailable)] == [PuckUnseen(1)]
    assert len(gone) == len(header) + 1, "each is said once"
    terminal.table.mend("dead")
    terminal.run(6_000)
    assert play(terminal) == PLAYED


@pytest.mark.parametrize("seed", range(5))
def test_with_every_fault_of_a_contact_and_then_with_none_the_table_reads_right_again(
    tmp_path: Path, seed: int
) -> None:
    terminal = Terminal(tmp_path)
    terminal.fault(kind="bounce", seed=seed, bounces=20, spread_ms=100)
    terminal.fault(kind="lost_edge", seed=seed, chance=50)
    terminal.fault(kind="dead", name="puck_9")
    terminal.fault(kind="stuck", name="puck_4", active=True)
    terminal.fault(kind="stuck", name="lid", active=False)
    play(terminal)
    assert [fault.kind for fault in terminal.table.faults()] == ["bounce", "lost_edge", "dead", "stuck", "stuck"]
    terminal.table.mend()
    assert terminal.table.faults() == []
    terminal.run(16_000)
    assert play(terminal) == PLAYED


def test_a_fault_of_the_same_kind_and_place_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.fault(kind="stuck", name="lid", active=True)
    terminal.fault(kind="stuck", name="lid", active=False)
    assert [fault.data() for fault in terminal.table.faults()] == [
        {"kind": "stuck", "name": "lid", "seed": 0, "active": False}
    ]


def test_mending_one_place_leaves_the_others_with_the_fault(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.fault(kind="stuck", name="box_4", active=False)
    terminal.fault(kind="stuck", name="box_5", active=False)
    terminal.table.mend("stuck", "box_4")
    assert terminal.press("box_5") == []
    assert terminal.press("box_4") == [BoxPicked(4)]
    with pytest.raises(FaultError, match="must be one of bounce"):
        terminal.table.mend("earthquake")


def test_the_same_seed_and_the_same_movements_give_the_same_edges(tmp_path: Path) -> None:
    def edges(folder: Path, seed: int) -> list[tuple[str, int, int]]:
        terminal = Terminal(folder)
        terminal.fault(kind="bounce", seed=seed)
        terminal.fault(kind="lost_edge", seed=seed, chance=30)
        play(terminal)
        views = {view["name"]: view for view in terminal.inputs.hardware()["inputs"]}
        pins = WIRING.inputs("header")
        return [(name, len(terminal.factory.pin(pin).states), views[name]["lost_edges"]) for name, pin in pins.items()]

    first = edges(tmp_path / "first", 1)
    assert edges(tmp_path / "again", 1) == first
    assert edges(tmp_path / "other", 2) != first


def test_line_faults_of_the_table_are_in_the_nodes_folder_until_they_are_mended(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.fault(kind="noise", seed=5, rate=9)
    before_ms = time.monotonic_ns() // 1_000_000
    terminal.fault(kind="unplug", away_ms=60_000)
    after_ms = time.monotonic_ns() // 1_000_000
    (noise, unplug) = read_line_faults(tmp_path)
    assert (noise.fault.data(), noise.ends_ms) == ({"kind": "noise", "name": None, "seed": 5, "rate": 9}, None)
    assert before_ms + 60_000 <= (unplug.ends_ms or 0) <= after_ms + 60_000
    terminal.table.mend("noise")
    assert [entry.fault.kind for entry in read_line_faults(tmp_path)] == ["unplug"]
    terminal.table.mend()
    assert read_line_faults(tmp_path) == []


def test_faults_end_with_the_program(tmp_path: Path) -> None:
    Terminal(tmp_path).fault(kind="noise")
    again = Terminal(tmp_path)
    assert again.table.faults() == []
    assert read_line_faults(tmp_path) == []
