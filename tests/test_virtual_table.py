"""The virtual table drives the pins and the node's contacts that hardware would, and keeps what lies where."""

import os
from pathlib import Path
from typing import Any

import pytest
from gpiozero import LED

from drivers.header import open_pin_factory
from drivers.node_firmware.board_virtual import PINS
from drivers.signals import (
    BetStatusKeyed,
    BoxPicked,
    DoorClosed,
    DoorOpened,
    InputUnavailable,
    PuckLifted,
    PuckMoved,
    ReserveClosed,
    ReserveOpened,
    Signal,
    SlotsSeen,
)
from drivers.table_inputs import TableInputs
from drivers.virtual_table import DEMO_PINS, VirtualTable
from drivers.wiring import BUTTONS, DEFAULT_PINS, GROUPS, SLOTS, Pin, Wiring

# A table that is all on the header but for its buttons, with two pucks and three slots.
LONG_TABLE = Wiring(
    {
        **{name: Pin("header", pin) for pin, name in enumerate(GROUPS["puck"], 2)},
        **{name: Pin("header", pin) for pin, name in enumerate(GROUPS["second_puck"], 9)},
        **{name: Pin("node", pin) for pin, name in enumerate(BUTTONS)},
        **{name: Pin("header", pin) for pin, name in enumerate(SLOTS[:3], 20)},
    }
)


class Terminal:
    """Inputs and virtual table on one header, in simulated time."""

    def __init__(self, folder: Path, wiring: Wiring | None = None) -> None:
        wiring = wiring or Wiring()
        self.now_ms = 0
        self.factory: Any = open_pin_factory("mock")
        self.inputs = TableInputs(wiring, pin_factory=self.factory, node_port=None)
        self.table = VirtualTable(wiring, pin_factory=self.factory, folder=folder, now_ms=lambda: self.now_ms)

    def run(self, duration_ms: int) -> list[Signal]:
        signals: list[Signal] = []
        for _ in range(duration_ms // 5):
            self.now_ms += 5
            signals += [received.signal for received in self.inputs.poll(self.now_ms)]
        return signals


def closed(folder: Path) -> list[int]:
    """The pins of the node whose contacts are closed."""
    return [pin for pin, level in enumerate((folder / "keys").read_bytes()) if level == ord("1")]


def test_a_new_table_has_its_puck_off_and_its_lid_shut(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    assert sorted(terminal.run(400), key=repr) == [
        PuckMoved("off", "off", initial=True),
        ReserveClosed(initial=True),
    ]
    keys = [f"dice_key_{die}" for die in range(1, 7)]
    assert terminal.table.state() == {
        "puck": {"position": "off", "face": "off"},
        "second_puck": None,
        "lid": "closed",
        "door": None,
        "slots": [],
        "lamps": dict.fromkeys(
            ("box_4", "box_5", "box_6", "box_8", "box_9", "box_10", "on", "off", "buy", "lay", *keys), False
        ),
    }


def test_puck_lid_and_buttons_arrive_as_signals(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.run(400)
    terminal.table.place_puck(6, "on")
    assert terminal.run(400) == [PuckMoved(6, "on", initial=False)]
    terminal.table.place_puck(6, "off")
    assert terminal.run(400) == [PuckLifted(initial=False)], "the sensor of a box does not see the OFF face"
    terminal.table.place_puck(None, "off")
    assert terminal.run(400) == []
    terminal.table.place_puck("off", "off")
    assert terminal.run(400) == [PuckMoved("off", "off", initial=False)]
    terminal.table.set_lid(shut=False)
    assert terminal.run(400) == [ReserveOpened(initial=False)]
    for name in ("box_10", "lay"):
        terminal.table.set_button(name, True)
        signals = terminal.run(80)
        terminal.table.set_button(name, False)
        signals += terminal.run(80)
        assert signals == ([BoxPicked(10)] if name == "box_10" else [BetStatusKeyed("lay", 10), BoxPicked(None)])


def test_a_door_on_the_header_arrives_as_signals_and_stands_among_the_inputs(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, Wiring({"lid": Pin("header", 17), "door": Pin("header", 27)}))
    assert sorted(terminal.run(400), key=repr) == [DoorClosed(initial=True), ReserveClosed(initial=True)]
    terminal.table.set_door(shut=False)
    assert terminal.run(400) == [DoorOpened(initial=False)]
    view = terminal.inputs.hardware()["inputs"][1]
    assert (view["name"], view["group"], view["pin"], view["active"]) == ("door", "door", "gpio:27", False)
    bare = Terminal(tmp_path, Wiring({"lid": Pin("header", 17)}))
    with pytest.raises(ValueError, match="there is no switch at a door"):
        bare.table.set_door(shut=True)


def test_a_long_table_has_two_pucks_that_move_by_themselves_and_dice_in_its_slots(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, LONG_TABLE)
    assert sorted(terminal.run(500), key=repr) == [
        PuckMoved("off", "off", initial=True, puck=1),
        PuckMoved("off", "off", initial=True, puck=2),
        SlotsSeen((1, 2, 3), initial=True),
    ]
    terminal.table.place_puck(9, "on", puck=2)
    assert terminal.run(500) == [PuckMoved(9, "on", initial=False, puck=2)]
    terminal.table.place_puck(4, "on")
    assert terminal.run(500) == [PuckMoved(4, "on", initial=False, puck=1)]
    terminal.table.set_slot(2, occupied=False)
    assert terminal.run(500) == [SlotsSeen((1, 3), initial=False)]
    state = terminal.table.state()
    assert (state["puck"], state["second_puck"], state["slots"]) == (
        {"position": 4, "face": "on"},
        {"position": 9, "face": "on"},
        [True, False, True],
    )


def test_contacts_of_the_node_are_in_its_folder(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, LONG_TABLE)
    assert (tmp_path / "keys").read_bytes() == b"0" * PINS
    terminal.table.set_button("box_6", True)
    assert closed(tmp_path) == [BUTTONS.index("box_6")]
    terminal.table.set_button("box_6", False)
    assert closed(tmp_path) == []


def test_a_puck_is_lifted_from_one_sensor_before_the_next_one_sees_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wiring = Wiring({name: Pin("node", pin) for pin, name in enumerate(GROUPS["puck"])})
    table = Terminal(tmp_path, wiring).table
    written: list[tuple[int, bool]] = []
    monkeypatch.setattr("drivers.virtual_table.set_node_pin", lambda _folder, pin, down: written.append((pin, down)))
    table.place_puck(4, "on")
    table.place_puck("off", "off")
    assert written == [(6, False), (0, True), (0, False), (6, True)]


def test_a_demonstration_has_six_dice_in_the_reserve_and_a_door_on_the_node(tmp_path: Path) -> None:
    assert {name: str(DEMO_PINS[name]) for name in DEMO_PINS if name not in DEFAULT_PINS} == {
        **{f"slot_{slot}": f"node:{15 + slot}" for slot in range(1, 7)},
        "door": "node:22",
    }
    table = Terminal(tmp_path, Wiring(DEMO_PINS)).table
    assert closed(tmp_path) == [16, 17, 18, 19, 20, 21, 22]
    table.set_slot(1, occupied=False)
    table.set_slot(6, occupied=False)
    table.set_door(shut=False)
    assert closed(tmp_path) == [17, 18, 19, 20]
    assert table.state()["door"] == "open"
    assert Terminal(tmp_path, Wiring(DEMO_PINS)).table.state()["door"] == "open"
    assert table.state()["slots"] == [False, True, True, True, True, False]
    with pytest.raises(ValueError, match="no slot 7"):
        table.set_slot(7, occupied=True)


def test_lamps_are_read_from_their_pins(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.inputs.set_lamps({"on": True, "box_9": True})
    lit = [name for name, on in terminal.table.state()["lamps"].items() if on]
    assert lit == ["box_9", "on"]


def test_pucks_lid_and_dice_stay_where_they_are_while_programs_come_and_go(tmp_path: Path) -> None:
    first = Terminal(tmp_path)
    first.table.place_puck(9, "on")
    first.table.set_lid(shut=False)
    again = Terminal(tmp_path)
    assert sorted(again.run(400), key=repr) == [PuckMoved(9, "on", initial=True), ReserveOpened(initial=True)]
    long = Terminal(tmp_path, LONG_TABLE)
    long.table.place_puck(5, "on", puck=2)
    long.table.set_slot(3, occupied=False)
    state = Terminal(tmp_path, LONG_TABLE).table.state()
    assert (state["puck"], state["second_puck"], state["slots"]) == (
        {"position": 9, "face": "on"},
        {"position": 5, "face": "on"},
        [True, True, False],
    )


def test_a_key_that_a_killed_program_left_down_is_up_again(tmp_path: Path) -> None:
    first = Terminal(tmp_path, LONG_TABLE)
    first.table.set_button("on", True)
    Terminal(tmp_path, LONG_TABLE)
    assert closed(tmp_path) == []


def test_a_table_shows_its_contacts_on_pins_that_are_opened_later(tmp_path: Path) -> None:
    factory: Any = open_pin_factory("mock")
    VirtualTable(Wiring(), pin_factory=factory, folder=tmp_path).place_puck(8, "on")
    inputs = TableInputs(Wiring(), pin_factory=factory, node_port=None)
    received = [one.signal for at_ms in range(0, 400, 5) for one in inputs.poll(at_ms)]
    assert PuckMoved(8, "on", initial=True) in received


PUCKS = '"puck": {"position": 4, "face": "on"}, "second_puck": {"position": null, "face": "off"}'
SLOTS_LEFT = '"slots": [true, true, true, true, true, true, true, false]'


def test_the_file_of_a_table_holds_pucks_lid_and_slots(tmp_path: Path) -> None:
    (tmp_path / "table.json").write_text(f'{{{PUCKS}, "shut": false, {SLOTS_LEFT}}}')
    state = Terminal(tmp_path, LONG_TABLE).table.state()
    assert (state["puck"]["position"], state["second_puck"]["position"], state["lid"]) == (4, None, "open")


@pytest.mark.parametrize(
    "left",
    [
        "",
        "[]",
        "{}",
        "[" * 100_000,
        f'{{{PUCKS}, "shut": true}}',
        f'{{{PUCKS}, "shut": 1, {SLOTS_LEFT}}}',
        f'{{{PUCKS}, "shut": true, "slots": [true]}}',
        f'{{{PUCKS}, "shut": true, "slots": [1, 1, 1, 1, 1, 1, 1, 1]}}',
        f'{{{PUCKS.replace("4", "77")}, "shut": true, {SLOTS_LEFT}}}',
        f'{{{PUCKS.replace("4", "4.0")}, "shut": true, {SLOTS_LEFT}}}',
        f'{{{PUCKS.replace("4", "[4]")}, "shut": true, {SLOTS_LEFT}}}',
        f'{{{PUCKS.replace("4", "true")}, "shut": true, {SLOTS_LEFT}}}',
        f"""{{{PUCKS.replace('"on"', '["on"]')}, "shut": true, {SLOTS_LEFT}}}""",
        '{"position": 4, "face": "on", "shut": true}',
    ],
)
def test_a_table_whose_file_says_nothing_of_use_is_as_new(
    tmp_path: Path, left: str, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "table.json").write_text(left)
    state = Terminal(tmp_path).table.state()
    assert (state["puck"], state["lid"]) == ({"position": "off", "face": "off"}, "closed")
    assert [message.split(" does not say")[0] for message in caplog.messages] == [str(tmp_path / "table.json")]


def test_where_the_puck_lies_is_flushed_before_it_takes_the_place_of_what_was_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = Terminal(tmp_path).table
    written = b""

    def flush(descriptor: int) -> None:
        nonlocal written
        assert not (tmp_path / "table.json").exists()
        written = Path(f"/proc/self/fd/{descriptor}").read_bytes()

    monkeypatch.setattr(os, "fsync", flush)
    table.place_puck(6, "on")
    assert written
    assert (tmp_path / "table.json").read_bytes() == written


def test_what_the_table_does_not_have_is_refused(tmp_path: Path) -> None:
    table = Terminal(tmp_path).table
    with pytest.raises(ValueError, match="no place 7"):
        table.place_puck(7, "on")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no face 'up'"):
        table.place_puck(6, "up")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no puck 2"):
        table.place_puck(6, "on", puck=2)
    with pytest.raises(ValueError, match="no button 'box_7'"):
        table.set_button("box_7", True)
    with pytest.raises(ValueError, match="no dice key 7"):
        table.set_dice_key(7, True)
    with pytest.raises(ValueError, match="no slot 1"):
        table.set_slot(1, occupied=True)


def test_a_dice_key_of_a_node_that_was_never_there_cannot_be_pressed(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no virtual node"):
        Terminal(tmp_path).table.set_dice_key(3, True)


def test_a_table_plays_on_its_header_though_its_nodes_folder_cannot_be_used(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "keys").mkdir()
    terminal = Terminal(tmp_path)
    assert [str(tmp_path) in message for message in caplog.messages] == [True]
    terminal.run(400)
    terminal.table.place_puck(6, "on")
    assert terminal.run(400) == [PuckMoved(6, "on", initial=False)]


def test_busy_pins_are_told_once_and_the_rest_of_the_table_works(tmp_path: Path) -> None:
    factory: Any = open_pin_factory("mock")
    pins = Wiring().pins
    holders = [LED(pins[name].number, pin_factory=factory) for name in ("lid", "lamp_box_4")]
    inputs = TableInputs(Wiring(), pin_factory=factory, node_port=None)
    table = VirtualTable(Wiring(), pin_factory=factory, folder=tmp_path)
    table.place_puck(8, "on")
    table.set_lid(shut=False)
    received = [received for at_ms in range(0, 400, 20) for received in inputs.poll(at_ms)]
    assert [one.signal.name for one in received if isinstance(one.signal, InputUnavailable)] == ["lid", "lamp_box_4"]
    assert [one.signal for one in received if one.origin == "header:puck"] == [PuckMoved(8, "on", initial=True)]
    assert len(received) == 3
    inputs.set_lamps({"box_4": True, "box_5": True})
    assert table.state()["lamps"]["box_5"]
    inputs.close()
    for holder in holders:
        holder.close()
