"""What a technician is told to wire and to buy, against tables written by hand from the boards' published pinouts."""

import pytest
from gpiozero.pins.pi import PiBoardInfo

from drivers.wiring import DEFAULT_PINS, GROUPS, INPUTS, LAMPS, Pin, Wiring
from provisioning.wiring_parts import PARTS, check_currents, lamps_ua, part_of, series_ohm
from provisioning.wiring_picture import notes
from provisioning.wiring_plan import (
    RAIL_COLOURS,
    SIDE_ROWS_MAX,
    SIGNAL_COLOURS,
    Connector,
    Item,
    bill_of_materials,
    board_pins,
    connectors,
)

# From "GPIO and the 40-pin header": physical pin, BCM number.
HEADER = (
    (3, 2), (5, 3), (7, 4), (8, 14), (10, 15), (11, 17), (12, 18), (13, 27), (15, 22), (16, 23), (18, 24), (19, 10),
    (21, 9), (22, 25), (23, 11), (24, 8), (26, 7), (29, 5), (31, 6), (32, 12), (33, 13), (35, 19), (36, 16), (37, 26),
    (38, 20), (40, 21),
)  # fmt: skip
HEADER_RAILS = {1: "3V3", 2: "5V", 4: "5V", 17: "3V3"} | dict.fromkeys((6, 9, 14, 20, 25, 30, 34, 39), "GND")
# From the Pico's data sheet: physical pin, GP number.
PICO = (
    (1, 0), (2, 1), (4, 2), (5, 3), (6, 4), (7, 5), (9, 6), (10, 7), (11, 8), (12, 9), (14, 10), (15, 11), (16, 12),
    (17, 13), (19, 14), (20, 15), (21, 16), (22, 17), (24, 18), (25, 19), (26, 20), (27, 21), (29, 22), (31, 26),
    (32, 27), (34, 28),
)  # fmt: skip
PICO_RAILS = {30: "RUN", 33: "AGND", 35: "ADC_VREF", 36: "3V3(OUT)", 37: "3V3_EN", 39: "VSYS", 40: "VBUS"}
PICO_RAILS |= dict.fromkeys((3, 8, 13, 18, 23, 28, 38), "GND")

# The default wiring: connector, terminal, signal, physical pin.
DEFAULT_LOOMS = """
X1.3 puck_4 7, X1.4 puck_5 11, X1.5 puck_6 13, X1.6 puck_8 15, X1.7 puck_9 19, X1.8 puck_10 21, X1.9 puck_off 23,
X3.2 box_4 37, X3.3 box_5 32, X3.4 box_6 36, X3.5 box_8 38, X3.6 box_9 40, X3.7 box_10 5,
X3.8 on 29, X3.9 off 31, X3.10 buy 33, X3.11 lay 35,
X4.2 lamp_box_4 12, X4.3 lamp_box_5 16, X4.4 lamp_box_6 18, X4.5 lamp_box_8 22, X4.6 lamp_box_9 24,
X4.7 lamp_box_10 26, X4.8 lamp_on 8, X4.9 lamp_off 10,
X7.2 lid 3,
X14.2 lamp_buy 11, X14.3 lamp_lay 12,
X15.2 dice_key_1 4, X15.3 dice_key_2 5, X15.4 dice_key_3 6, X15.5 dice_key_4 7, X15.6 dice_key_5 9, X15.7 dice_key_6 10,
X16.2 lamp_dice_key_1 14, X16.3 lamp_dice_key_2 15, X16.4 lamp_dice_key_3 16, X16.5 lamp_dice_key_4 17,
X16.6 lamp_dice_key_5 19, X16.7 lamp_dice_key_6 20
"""


def test_every_pin_of_the_header_has_the_number_that_is_published() -> None:
    published = dict(HEADER_RAILS) | {physical: f"GPIO{bcm}" for physical, bcm in HEADER} | {27: "ID_SD", 28: "ID_SC"}
    assert {pin.number: pin.name for pin in board_pins("header")} == published


def test_the_header_is_that_of_the_pin_library() -> None:
    header = PiBoardInfo.from_revision(0xD04170).headers["J8"]
    for pin in board_pins("header"):
        known = header.pins[pin.number]
        name = {"GPIO0": "ID_SD", "GPIO1": "ID_SC"}.get(known.name, known.name)
        assert pin.name == name
        assert (pin.row, pin.side) == (known.row - 1, "left" if known.col == 1 else "right")


def test_every_pin_of_the_pico_has_the_number_that_is_published() -> None:
    published = dict(PICO_RAILS) | {physical: f"GP{number}" for physical, number in PICO}
    assert {pin.number: pin.name for pin in board_pins("node")} == published
    # Counted downwards on the left and upwards on the right, USB up.
    assert [(pin.side, pin.row) for pin in board_pins("node")] == [
        *(("left", row) for row in range(20)),
        *(("right", row) for row in range(19, -1, -1)),
    ]


def test_the_default_wiring_is_wired_terminal_by_terminal() -> None:
    found = [
        f"{connector.name}.{terminal.number} {terminal.carries} {terminal.pin.number}"
        for connector in connectors(Wiring(), {})
        for terminal in connector.terminals
        if terminal.carries not in RAIL_COLOURS and terminal.pin is not None
    ]
    assert sorted(found) == sorted(" ".join(DEFAULT_LOOMS.split()).split(", "))


def _full() -> Wiring:
    """All 52 pins: 24 inputs are the most that a node reads."""
    on_header = (*GROUPS["puck"], *GROUPS["second_puck"], *GROUPS["bet_status"])
    lamps = [f"lamp_{name}" for name in (*GROUPS["bet_status"], *GROUPS["dice_keys"])]
    on_node = (*GROUPS["dice_keys"], *GROUPS["slots"], "lid", *lamps)
    pins = {name: Pin("header", number) for name, number in zip(on_header, range(4, 28), strict=True)}
    nodes = (*range(23), 26, 27, 28)
    return Wiring(pins | {name: Pin("node", number) for name, number in zip(on_node, nodes, strict=False)})


@pytest.mark.parametrize("wiring", [Wiring(), _full()], ids=["default", "full"])
@pytest.mark.parametrize("lamp", ["led", "lamp_5v_driver", "lamp_24v_driver"])
def test_grounds_and_supplies_are_at_the_same_terminals_of_every_connector(wiring: Wiring, lamp: str) -> None:
    parts = {name: lamp for name in wiring.pins if name.startswith("lamp_")}
    made = connectors(wiring, parts)
    for connector in made:
        first = connector.terminals[0]
        assert (first.number, first.carries, first.colour) == (1, "GND", "black")
        assert first.pin is not None
        assert first.pin.number in (HEADER_RAILS if connector.board == "header" else PICO_RAILS)
        supply = {"X1": "3.3 V", "X2": "3.3 V"}.get(connector.name)
        if "Lamps" in connector.title:
            supply = {"led": None, "lamp_5v_driver": "5 V", "lamp_24v_driver": "24 V"}[lamp]
        assert [t.carries for t in connector.terminals[1:] if t.carries in RAIL_COLOURS] == ([supply] if supply else [])
        if supply is not None:
            second = connector.terminals[1]
            # 24 V never come from a board.
            names = {"3.3 V": ("3V3", "3V3(OUT)"), "5 V": ("5V", "VBUS"), "24 V": ()}[supply]
            assert (None if second.pin is None else second.pin.name) in (names or (None,))
        assert len({t.colour for t in connector.terminals}) == len(connector.terminals)
    for board in ("header", "node"):
        grounds = [c.terminals[0].pin for c in made if c.board == board]
        assert len(set(grounds)) == len(grounds), "there are grounds enough for each connector to have its own"


def test_no_side_of_a_board_gets_more_rows_than_the_sheet_has() -> None:
    for wiring in (Wiring(), _full()):
        rows: dict[tuple[str, str], int] = {}
        for each in connectors(wiring, {}):
            rows[each.board, each.side] = rows.get((each.board, each.side), 0) + 1 + len(each.terminals)
        assert max(rows.values()) <= SIDE_ROWS_MAX


def test_a_lamp_has_the_colour_of_its_button_whatever_else_is_wired() -> None:
    def colours(made: list[Connector]) -> dict[str, str]:
        return {t.carries: t.colour for c in made for t in c.terminals if t.carries not in RAIL_COLOURS}

    every = colours(connectors(Wiring(), {}))
    for name in (*GROUPS["bet_status"], *GROUPS["dice_keys"]):
        assert every[f"lamp_{name}"] == every[name]
    alone = colours(connectors(Wiring({"buy": Pin("header", 4), "lamp_buy": Pin("node", 4)}), {}))
    assert alone == {"buy": every["buy"], "lamp_buy": every["buy"]}
    assert not {"black", "red"} & set(SIGNAL_COLOURS)


def test_a_door_has_a_connector_of_its_own_and_a_reed_switch() -> None:
    wiring = Wiring({"lid": Pin("header", 2), "door": Pin("node", 4)})
    lid, door = connectors(wiring, {})
    assert (lid.name, door.name, door.title) == ("X7", "X19", "Door of the cabinet")
    assert [terminal.carries for terminal in door.terminals] == ["GND", "door"]
    bill = {item.what: item.where for item in bill_of_materials(wiring, {})}
    assert bill["Reed switch with magnet, closes near it"] == "X19"


def test_the_bill_of_the_default_wiring_counts_what_was_counted_by_hand() -> None:
    # 7 Hall switches; 10 buttons and 6 dice keys, each with its LED; one lid; 7 + 16 + 1 + 16 resistors.
    assert bill_of_materials(Wiring(), {}) == [
        Item(1, "Raspberry Pi with 40-pin header, 3 or later", "header"),
        Item(1, "Raspberry Pi Pico with MicroPython, USB cable", "node"),
        Item(7, "Hall switch, unipolar, open drain, for 3.3 V (such as DRV5023)", "X1"),
        Item(16, "Push button, contact closes when pressed", "X3, X15"),
        Item(1, "Lever micro switch, contact closes when pressed", "X7"),
        Item(16, "LED, red or yellow, 2.0 V", "X4, X14, X16"),
        Item(7, "Capacitor 100 nF, ceramic, at a Hall switch", "X1"),
        Item(40, "Resistor 330 ohm, 0.25 W, at the pin", "X1, X3, X15, X7, X4, X14, X16"),
        Item(1, "Plug connector, 2 poles", "X7"),
        Item(1, "Plug connector, 3 poles", "X14"),
        Item(2, "Plug connector, 7 poles", "X15, X16"),
        Item(2, "Plug connector, 9 poles", "X1, X4"),
        Item(1, "Plug connector, 11 poles", "X3"),
    ]


def test_a_bill_counts_drivers_by_board_and_resistors_by_value() -> None:
    parts = {name: "lamp_24v_driver" for name in DEFAULT_PINS if name.startswith("lamp_")} | {"lamp_on": "led_bright"}
    bill = {item.what: (item.count, item.where) for item in bill_of_materials(Wiring(), parts)}
    # 7 channels are used on the header and 8 on the node, which needs a second chip.
    assert bill["ULN2003A, 7 channels, for lamps of 24 V"] == (3, "X4, X14, X16")
    assert bill["Resistor 180 ohm, 0.25 W, at the pin"] == (1, "X4")
    assert bill["Resistor 330 ohm, 0.25 W, at the pin"] == (24, "X1, X3, X15, X7")
    assert bill["Lamp for 24 V, 300 mA at most"] == (15, "X4, X14, X16")


def test_lamps_of_two_supplies_share_no_driver() -> None:
    """Through the diodes to its COM, 24 V would come to the Pi's own 5 V."""
    parts = {"lamp_on": "lamp_24v_driver", "lamp_off": "lamp_5v_driver"}
    bill = {item.what: (item.count, item.where) for item in bill_of_materials(Wiring(), parts)}
    assert bill["ULN2003A, 7 channels, for lamps of 24 V"] == (1, "X4")
    assert bill["ULN2003A, 7 channels, for lamps of 5 V"] == (1, "X4")
    assert "Lamps of another supply have a ULN2003A of their own" in "\n".join(notes(Wiring(), parts))


def test_a_bill_without_a_node_has_no_pico() -> None:
    bill = bill_of_materials(Wiring({"lid": Pin("header", 2)}), {"lid": "hall_switch"})
    assert [(item.count, item.what.split(",")[0]) for item in bill] == [
        (1, "Raspberry Pi with 40-pin header"),
        (1, "Hall switch"),
        (1, "Capacitor 100 nF"),
        (1, "Resistor 330 ohm"),
        (1, "Plug connector"),
    ]


@pytest.mark.parametrize(
    ("forward_mv", "most_ua", "ohm"),
    [
        (2_000, 4_000, 330),  # 325 at least
        (2_000, 8_000, 180),  # 162.5
        (2_100, 12_000, 100),  # 100 exactly
        (1_800, 1_000, 1_500),  # 1500 exactly
        (3_200, 10_000, 10),  # 10 exactly
    ],
)
def test_a_series_resistor_is_the_next_one_that_is_made(forward_mv: int, most_ua: int, ohm: int) -> None:
    assert series_ohm(forward_mv, most_ua) == ohm


def test_the_lamps_of_the_default_wiring_are_within_what_a_board_gives() -> None:
    # (3.3 V - 2.0 V) / 330 ohm = 3.939 mA, eight times.
    assert lamps_ua("header", Wiring(), {}) == lamps_ua("node", Wiring(), {}) == 8 * 3_939
    check_currents(Wiring(), {})


def test_every_kind_of_signal_has_a_part_that_may_be_chosen_by_default() -> None:
    for name in (*INPUTS, *LAMPS):
        assert part_of(name, {}).pulled_up_mv == 0
    assert len({part.name for part in PARTS}) == len(PARTS)
