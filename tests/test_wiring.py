"""Names and pins: what cannot be wired is refused in one line that names it."""

import pytest

from drivers.wiring import DEFAULT_PINS, INPUTS, LAMPS, Pin, Timing, Wiring, group_of, parse_pin


def test_pins_are_read_and_written_in_one_way() -> None:
    assert parse_pin("gpio:17") == Pin("header", 17)
    assert parse_pin("node:3") == Pin("node", 3)
    assert [str(parse_pin(text)) for text in ("gpio:2", "node:28")] == ["gpio:2", "node:28"]


@pytest.mark.parametrize(
    "text", ["17", "GPIO17", "gpio:", "gpio:x", "pico:3", "gpio:-1", "gpio:117", "gpio:17 ", "gpio:\u0661\u0667"]
)
def test_what_is_no_pin_is_refused_with_what_one_looks_like(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no pin; write gpio:17 for the header or node:3 for the I/O node"):
        parse_pin(text)


@pytest.mark.parametrize("text", ["gpio:0", "gpio:1", "gpio:28", "node:23", "node:25", "node:29"])
def test_a_pin_that_does_not_exist_is_refused_with_those_that_do(text: str) -> None:
    with pytest.raises(ValueError, match=f"^{text} does not exist or cannot be used; choose one of "):
        parse_pin(text)


def test_the_default_wires_a_whole_table_with_one_puck() -> None:
    wiring = Wiring()
    assert len(wiring.inputs("header")) == 18
    assert wiring.inputs("node") == {f"dice_key_{die}": die + 1 for die in range(1, 7)}
    assert wiring.lamps("node") == {"lamp_buy": 8, "lamp_lay": 9} | {f"lamp_dice_key_{n}": n + 9 for n in range(1, 7)}
    assert len(wiring.lamps("header")) == 8
    assert (wiring.board("puck"), wiring.board("dice_keys"), wiring.board("slots")) == ("header", "node", None)
    assert wiring.group("reserve") == ("lid",)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lid": Pin("header", 17)}, "gpio:17 is wired twice: to puck_5 and to lid"),
        ({"lamp_on": Pin("node", 2)}, "node:2 is wired twice: to lamp_on and to dice_key_1"),
        ({"lid": Pin("header", 1)}, r"gpio:1 \(lid\) does not exist or cannot be used"),
        ({"lid": Pin("node", 24)}, r"node:24 \(lid\) does not exist or cannot be used"),
        ({"lids": Pin("node", 22)}, "there is no signal 'lids'"),
        ({"second_puck_4": Pin("node", 22)}, "second_puck_5 is not wired, but second_puck_4 is; second_puck needs all"),
        ({"slot_1": Pin("node", 21), "slot_3": Pin("node", 22)}, "slot_2 is not wired, but slot_3 is"),
        ({"on": Pin("node", 22)}, "box_4 is on gpio:26 and on on node:22; the inputs of bet_status must be on one"),
    ],
)
def test_what_cannot_be_wired_is_named(changes: dict[str, Pin], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Wiring(dict(DEFAULT_PINS) | changes)


def test_a_table_need_not_have_everything() -> None:
    wiring = Wiring({"lid": Pin("node", 5)})
    assert (wiring.inputs("header"), wiring.inputs("node")) == ({}, {"lid": 5})
    assert wiring.board("puck") is None


def test_the_node_reads_no_more_than_it_has_bits_for() -> None:
    names = [name for name in INPUTS if group_of(name) in ("puck", "bet_status", "reserve", "slots")]
    pins = [*range(23), 26, 27, 28]
    with pytest.raises(ValueError, match="the I/O node reads at most 24 inputs, not 25"):
        Wiring({name: Pin("node", pin) for name, pin in zip(names[:25], pins, strict=False)})


@pytest.mark.parametrize(
    ("timing", "message"),
    [
        ({"button_settle_ms": 1}, "button_settle_ms must be a whole number from 2 to 250"),
        ({"slot_settle_ms": 251}, "slot_settle_ms must be a whole number from 2 to 250"),
        ({"hold_ms": 49}, "hold_ms must be a whole number from 50 to 600000"),
        ({"stuck_ms": 600_001}, "stuck_ms must be a whole number from 50 to 600000"),
        ({"hold_ms": 5000, "stuck_ms": 5000}, r"stuck_ms \(5000\) must be longer than hold_ms \(5000\)"),
        ({"pick_ms": True}, "pick_ms must be a whole number from 50 to 600000"),
    ],
)
def test_times_out_of_range_are_refused(timing: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        Timing(**timing)


def test_every_name_belongs_to_one_group_and_every_lamp_to_a_button_or_key() -> None:
    assert len(set(INPUTS)) == len(INPUTS) == 40
    names = ("puck_off", "second_puck_4", "box_10", "dice_key_6", "lid", "slot_8", "door")
    assert [group_of(name) for name in names] == [
        "puck",
        "second_puck",
        "bet_status",
        "dice_keys",
        "reserve",
        "slots",
        "door",
    ]
    assert all(lamp.removeprefix("lamp_") in INPUTS for lamp in LAMPS)
    with pytest.raises(KeyError):
        group_of("lamp_on")
