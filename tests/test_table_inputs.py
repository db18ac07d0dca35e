"""All inputs behind one object: any group on either board, levels before edges, one page for technicians."""

from collections.abc import Sequence
from typing import Any

import pytest
from gpiozero import LED

from drivers.header import open_pin_factory
from drivers.node_link import LinkEvent, NodeTime, NodeUp, Report
from drivers.signals import (
    BetStatusKeyed,
    BoxPicked,
    ButtonHeldAtStart,
    DiceEntryAbandoned,
    DiceKeyed,
    DieKeyed,
    EdgeLost,
    InputAvailable,
    InputFreed,
    InputStuck,
    InputUnavailable,
    NodeFound,
    PuckLifted,
    PuckMoved,
    ReserveClosed,
    ReserveOpened,
    Signal,
    SlotsSeen,
)
from drivers.table_inputs import IDLE_LOOK_MS, PACE_MS, Received, TableInputs
from drivers.virtual_contact import Contact
from drivers.virtual_faults import Fault
from drivers.wiring import BUTTONS, DEFAULT_PINS, DICE_KEYS, GROUPS, Pin, Wiring

ALL_ON_HEADER = Wiring(
    {
        **{name: Pin("header", pin) for name, pin in zip(GROUPS["second_puck"], range(2, 9), strict=True)},
        **{name: Pin("header", pin) for name, pin in zip(DICE_KEYS, range(9, 15), strict=True)},
        "slot_1": Pin("header", 15),
        "slot_2": Pin("header", 16),
        "lamp_dice_key_2": Pin("header", 20),
    }
)


class Table:
    """A program that polls as often as it is told to, and at once on a hint; a millisecond at a time."""

    def __init__(self, wiring: Wiring | None = None, *, node_port: str | None = None) -> None:
        self.wiring = Wiring() if wiring is None else wiring
        self.factory: Any = open_pin_factory("mock")
        self.hinted = False
        self.inputs = TableInputs(self.wiring, pin_factory=self.factory, node_port=node_port, on_hint=self.hint)
        self.now_ms = 0
        self.due_ms = 0
        self.polls = 0
        self.at: list[tuple[int, Signal]] = []

    def hint(self) -> None:
        self.hinted = True

    def set(self, name: str, closed: bool, *, told: bool = True) -> None:
        """Close or open a contact of the header; without being told of it, its edge is lost."""
        pin = self.factory.pin(self.wiring.pins[name].number)
        if not told:
            pin._change_state(not closed)
        elif closed:
            pin.drive_low()
        else:
            pin.drive_high()

    def run(self, duration_ms: int) -> list[Signal]:
        signals: list[Signal] = []
        for _ in range(duration_ms):
            if self.hinted or self.now_ms >= self.due_ms:
                self.hinted = False
                self.polls += 1
                for received in self.inputs.poll(self.now_ms):
                    signals.append(received.signal)
                    self.at.append((self.now_ms, received.signal))
                self.due_ms = self.now_ms + self.inputs.pace_ms
            self.now_ms += 1
        return signals

    def view(self, name: str) -> dict[str, Any]:
        (view,) = [view for view in self.inputs.hardware()["inputs"] if view["name"] == name]
        return view  # type: ignore[no-any-return]


def running(wiring: Wiring | None = None) -> Table:
    table = Table(wiring)
    table.run(1000)
    return table


def test_the_state_at_start_is_told_once_with_where_it_came_from() -> None:
    table = Table()
    received = [one for now_ms in range(0, 1000, 5) for one in table.inputs.poll(now_ms)]
    assert received == [
        Received(ReserveOpened(initial=True), "header:reserve", None),
        Received(PuckLifted(initial=True), "header:puck", None),
    ]


def test_a_press_of_thirty_milliseconds_is_a_press() -> None:
    table = running()
    for start_ms in range(30):
        table.run(170 + start_ms)
        table.set("on", True)
        signals = table.run(30)
        table.set("on", False)
        assert signals + table.run(100) == [BetStatusKeyed("on", None)]
    assert table.view("on")["lost_edges"] == table.view("on")["glitches"] == 0


def test_it_is_looked_often_only_while_something_moves() -> None:
    table = running()
    assert (PACE_MS, IDLE_LOOK_MS) == (5, 25)
    assert table.inputs.pace_ms == 25
    table.polls = 0
    table.run(1000)
    assert table.polls == 40
    table.set("box_4", True)
    table.run(1)
    assert table.inputs.pace_ms == 5
    table.run(500)
    assert table.inputs.pace_ms == 5, "a button is down"
    table.set("box_4", False)
    table.run(100)
    assert table.inputs.pace_ms == 25


@pytest.mark.parametrize(
    ("name", "signal"),
    [
        ("on", BetStatusKeyed("on", None)),
        ("box_9", BoxPicked(9)),
        ("lid", ReserveClosed(initial=False)),
        ("puck_6", PuckMoved(6, "on", initial=False)),
    ],
)
def test_a_lost_edge_is_put_right_within_100_ms_and_told_when_a_late_hint_would_have_come(
    name: str, signal: Signal
) -> None:
    table = running()
    for phase_ms in range(26):
        table.run(400 + phase_ms)
        table.at.clear()
        at_ms = table.now_ms
        table.set(name, True, told=False)
        table.run(120)
        assert [told for _, told in table.at] == [signal, EdgeLost(name)]
        assert table.at[0][0] - at_ms < 100
        table.set(name, False)
        table.run(400)
        if name == "box_9":
            # The pick is given up by pressing it again.
            table.set(name, True)
            table.run(50)
            table.set(name, False)
            table.run(50)
    assert table.view(name)["lost_edges"] == 26


def test_a_release_whose_edge_is_lost_leaves_no_button_held() -> None:
    table = running()
    table.set("off", True)
    assert table.run(200) == [BetStatusKeyed("off", None)]
    table.set("off", False, told=False)
    assert table.run(50) == []
    assert table.view("off")["active"] is False
    assert table.run(70) == [EdgeLost("off")]
    table.set("off", True)
    assert table.run(100) == [BetStatusKeyed("off", None)]


def test_a_busy_pin_takes_down_one_input_and_comes_back_as_a_state() -> None:
    factory = open_pin_factory("mock")
    holder = LED(6, pin_factory=factory)
    inputs = TableInputs(Wiring(), pin_factory=factory, node_port=None)
    first = inputs.poll(0)
    assert [(type(one.signal), one.origin) for one in first] == [(InputUnavailable, "header:bet_status")]
    view = next(view for view in inputs.hardware()["inputs"] if view["name"] == "buy")
    assert view["unavailable"] is None
    view = next(view for view in inputs.hardware()["inputs"] if view["name"] == "off")
    assert view["active"] is None
    assert view["unavailable"].startswith("GPIO6 (off) is unavailable: pin GPIO6 is already in use by ")
    holder.close()
    signals = [one for now_ms in range(5, 5000, 5) for one in inputs.poll(now_ms)]
    assert [one.origin for one in signals] == ["header:reserve", "header:puck"]
    assert inputs.poll(5000) == [Received(InputAvailable("off"), "header:bet_status", None)]
    factory.pin(6).drive_low()
    assert [one.signal for now_ms in range(5005, 5100, 5) for one in inputs.poll(now_ms)] == [ButtonHeldAtStart("off")]
    inputs.close()


@pytest.mark.parametrize("name", ["dice_key_1", "dice_key_2", "dice_key_5"])
def test_a_key_whose_pin_fails_while_it_is_down_is_neither_held_nor_stuck(name: str) -> None:
    table = running(ALL_ON_HEADER)
    contact = Contact(name)
    table.factory.pin(table.wiring.pins[name].number).connect(contact, lambda: table.now_ms)
    contact.move(True, table.now_ms)
    assert table.run(100) == []
    contact.set_fault(Fault("dead"))
    signals = table.run(40_000)
    assert [type(signal) for signal in signals] == [InputUnavailable]
    contact.mend("dead")
    contact.move(False, table.now_ms)
    assert table.run(6_000) == [InputAvailable(name)]


def test_a_button_whose_pin_fails_while_it_is_down_is_not_stuck() -> None:
    table = running()
    contact = Contact("on")
    table.factory.pin(table.wiring.pins["on"].number).connect(contact, lambda: table.now_ms)
    contact.move(True, table.now_ms)
    assert table.run(100) == [BetStatusKeyed("on", None)]
    contact.set_fault(Fault("dead"))
    assert [type(signal) for signal in table.run(40_000)] == [InputUnavailable]


def test_a_tap_on_the_header_that_lasts_while_the_program_does_not_run_is_no_hold() -> None:
    table = running(ALL_ON_HEADER)
    table.set("dice_key_1", True)
    assert table.run(40) == []
    table.set("dice_key_1", False)
    table.now_ms += 2_200
    assert table.run(100) == [DieKeyed(1)]


def test_a_busy_lamp_is_told_too() -> None:
    factory = open_pin_factory("mock")
    holder = LED(15, pin_factory=factory)
    inputs = TableInputs(Wiring(), pin_factory=factory, node_port=None)
    (told,) = inputs.poll(0)
    assert told.origin == "header"
    assert isinstance(told.signal, InputUnavailable) and told.signal.name == "lamp_off"
    inputs.set_lamps({"off": True})
    lamp = next(lamp for lamp in inputs.hardware()["lamps"] if lamp["name"] == "off")
    assert lamp["lit"] is True
    assert lamp["unavailable"].startswith("GPIO15 (lamp_off) is unavailable: ")
    holder.close()
    assert Received(InputAvailable("lamp_off"), "header", None) in inputs.poll(5000)
    assert factory.pin(15).state is True
    inputs.close()


def test_a_stuck_button_shows_and_is_no_reason_to_look_often() -> None:
    table = running()
    table.set("lay", True)
    assert table.run(31_000) == [BetStatusKeyed("lay", None), InputStuck("lay")]
    assert table.view("lay")["stuck"] is True
    assert table.inputs.pace_ms == 25
    table.set("lay", False)
    assert table.run(100) == [InputFreed("lay")]
    assert table.view("lay")["stuck"] is False


def test_everything_can_be_on_the_header() -> None:
    table = Table(ALL_ON_HEADER)
    table.set("slot_2", True)
    table.set("second_puck_off", True)
    assert table.run(1000) == [PuckMoved("off", "off", initial=True, puck=2), SlotsSeen((2,), initial=True)]
    for name, expected in (("dice_key_3", DieKeyed(3)), ("dice_key_5", DiceKeyed(3, 5))):
        table.set(name, True)
        assert table.run(50) == []
        assert table.inputs.pace_ms == 5
        table.set(name, False)
        assert table.run(50) == [expected]
    assert table.inputs.die_report is None
    table.inputs.close()


def test_a_die_on_the_header_is_given_up_when_the_roll_is_entered_on_the_screen() -> None:
    table = running(ALL_ON_HEADER)
    for given_up in (False, True):
        table.set("dice_key_3", True)
        table.run(50)
        table.set("dice_key_3", False)
        assert table.run(50) == [DieKeyed(3)]
        if given_up:
            assert table.inputs.use_up_die() is None, "no node to acknowledge anything to"
        assert table.run(11_000) == ([] if given_up else [DiceEntryAbandoned(3, "timeout")])


class FakeLink:
    """A node at the end of a line that the test speaks for."""

    made: "FakeLink"

    def __init__(self, port: str, *, inputs: Sequence[tuple[int, int]], outputs: Sequence[int]) -> None:
        self.port, self.inputs, self.output_pins = port, inputs, outputs
        self.device: str | None = None
        self.online = False
        self.error: str | None = "not there yet"
        self.firmware: str | None = None
        self.configuration_crc: int | None = None
        self.boot_id: int | None = None
        self.acknowledged = 0
        self.outputs = 0
        self.resumed: tuple[int, int] | None = None
        self.events: list[LinkEvent] = []
        FakeLink.made = self

    def open(self) -> bool:
        return False

    def resume(self, boot_id: int, dropped: int) -> None:
        self.resumed = (boot_id, dropped)

    def acknowledge(self, number: int) -> None:
        self.acknowledged = max(self.acknowledged, number)

    def set_outputs(self, bits: int) -> None:
        self.outputs = bits

    def counters(self) -> dict[str, int]:
        return {"bad_crc": 4}

    def fileno(self) -> int | None:
        return 33

    def poll(self, _now_ms: int) -> list[LinkEvent]:
        events, self.events = self.events, []
        return events

    def close(self) -> None:
        self.online = False

    def come_up(self, levels: dict[int, bool]) -> None:
        self.boot_id, self.online, self.error, self.device = 7, True, None, "/dev/ttyACM3"
        self.firmware, self.configuration_crc = "2.0", 0xA1B
        self.events.append(NodeUp(None, False, 0, levels))


@pytest.fixture
def link(monkeypatch: pytest.MonkeyPatch) -> type[FakeLink]:
    monkeypatch.setattr("drivers.table_inputs.NodeLink", FakeLink)
    return FakeLink


def test_the_node_is_told_its_pins_with_their_settle_times_and_what_is_done(link: type[FakeLink]) -> None:
    pins = dict(DEFAULT_PINS) | {"slot_1": Pin("node", 21), "lid": Pin("node", 22)}
    inputs = TableInputs(Wiring(pins), pin_factory=open_pin_factory("mock"), node_port="usb:E66")
    node = link.made
    assert node.port == "usb:E66"
    assert node.inputs == [*((pin, 20) for pin in range(2, 8)), (22, 50), (21, 200)]
    assert node.output_pins == [8, 9, *range(10, 16)]
    inputs.resume({"reserve": (7, 4), "dice_keys": (7, 2)}, (7, 3))
    assert node.resumed == (7, 3)
    node.come_up({22: True})
    node.events += [
        Report(3, 900, 22, False, False, 800),
        Report(4, 950, 22, True, False, 50),
        Report(5, 1000, 22, False, False, 50),
        NodeTime(1001),
    ]
    for now_ms in range(0, 400, 5):
        received = [one for one in inputs.poll(now_ms) if one.origin.startswith("node")]
        if received:
            break
    assert received == [
        Received(NodeFound(None, restarted=False, dropped=0), "node", None),
        Received(ReserveClosed(initial=True), "node:reserve", None),
        Received(ReserveOpened(initial=False), "node:reserve", (7, 5)),
        Received(SlotsSeen((), initial=True), "node:slots", None),
    ]
    assert node.acknowledged == 4
    inputs.acknowledge(Received(ReserveOpened(initial=False), "node:reserve", (6, 5)))
    assert node.acknowledged == 4, "that was another boot"
    inputs.acknowledge(received[2])
    assert node.acknowledged == 5
    inputs.close()


def test_a_die_on_the_node_waits_and_is_given_up(link: type[FakeLink]) -> None:
    inputs = TableInputs(Wiring(), pin_factory=open_pin_factory("mock"), node_port="usb:E66")
    node = link.made
    node.come_up({})
    node.events += [Report(1, 100, 4, True, False, 0), Report(2, 180, 4, False, False, 80)]
    assert Received(DieKeyed(3), "node:dice_keys", None) in inputs.poll(0)
    assert inputs.die_report == (7, 2)
    assert node.acknowledged == 0, "its press and its release are kept"
    used = inputs.use_up_die()
    assert used is not None and used.report == (7, 2)
    assert inputs.die_report is None
    inputs.poll(5)
    assert node.acknowledged == 0, "what was entered instead is not on the disk yet"
    inputs.acknowledge(used)
    node.events += [NodeTime(3_179)]
    inputs.poll(10)
    assert node.acknowledged == 0, "the second die may come within 3 s of the first, and another program is to know"
    node.events += [NodeTime(3_180)]
    inputs.poll(15)
    assert node.acknowledged == 2
    assert inputs.use_up_die() is None
    inputs.close()


def test_lamps_are_set_by_the_name_of_their_button_on_either_board(link: type[FakeLink]) -> None:
    factory = open_pin_factory("mock")
    inputs = TableInputs(Wiring(), pin_factory=factory, node_port="usb:E66")
    inputs.set_lamps({"on": True, "lay": True, "dice_key_1": True, "dice_key_6": False, "nothing": True})
    assert factory.pin(DEFAULT_PINS["lamp_on"].number).state is True
    # lay is the second of the node's lamps, dice_key_1 the third.
    assert link.made.outputs == 0b110
    inputs.set_lamps({"lay": False})
    assert link.made.outputs == 0b100
    assert {lamp["name"] for lamp in inputs.hardware()["lamps"] if lamp["lit"]} == {"on", "dice_key_1"}
    inputs.close()


def test_the_hardware_page_has_every_input_lamp_and_the_node(link: type[FakeLink]) -> None:
    inputs = TableInputs(Wiring(), pin_factory=open_pin_factory("mock"), node_port="usb:E66")
    before = inputs.hardware()
    assert before["node"] == {
        "state": "offline",
        "port": "usb:E66",
        "device": None,
        "firmware": None,
        "configuration": None,
        "error": "not there yet",
        "counters": {"bad_crc": 4},
    }
    assert inputs.node_state == "offline"
    assert [view["active"] for view in before["inputs"]] == [None] * 24, "nothing is known yet"
    link.made.come_up({3: True})
    for now_ms in range(0, 400, 5):
        inputs.poll(now_ms)
    after = inputs.hardware()
    assert after["pin_library"] == "mock"
    assert [view["name"] for view in after["inputs"]] == [*GROUPS["puck"], *BUTTONS, *DICE_KEYS, "lid"]
    assert after["inputs"][0] == {
        "name": "puck_4",
        "pin": "gpio:4",
        "group": "puck",
        "active": False,
        "unavailable": None,
        "stuck": False,
        "lost_edges": 0,
        "glitches": 0,
    }
    assert {view["name"] for view in after["inputs"] if view["active"]} == {"dice_key_2"}
    assert after["lamps"][0] == {"name": "box_4", "pin": "gpio:18", "lit": False, "unavailable": None}
    assert len(after["lamps"]) == 16
    assert (after["node"]["state"], after["node"]["device"]) == ("online", "/dev/ttyACM3")
    assert (after["node"]["firmware"], after["node"]["configuration"]) == ("2.0", "0a1b")
    assert inputs.node_fileno() == 33
    inputs.close()


def test_without_a_node_there_is_none() -> None:
    inputs = TableInputs(Wiring(), pin_factory=open_pin_factory("mock"), node_port=None)
    assert inputs.node_state == inputs.hardware()["node"]["state"] == "none"
    assert inputs.node_fileno() is None
    assert inputs.die_report is None
    inputs.set_lamps({"buy": True})
    inputs.close()
