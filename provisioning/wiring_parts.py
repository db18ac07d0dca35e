"""The parts that a table is wired from, what small parts they need beside them, and what would burn a pin.

Figures are in mV, uA and ohm. Where they are from: Hall switches, the data sheets of the DRV5023 (SLIS151: from 2.5 V,
open drain, at least 10 nF beside it, answers to a south pole at its marked side) and of the A3144 (from 4.5 V, open
collector; KY-003 modules carry it, with a pull-up to their supply); ULN2003A, SLRS027 (2.7 kohm before each of seven
channels, 20 to 300 mA from 3.3 V pins). Pins: the Raspberry Pi documentation, "GPIO" (3.3 V, some 50 mA together,
1.8 kohm pull-ups fixed on GPIO2 and GPIO3) and the RP2040 data sheet (50 mA together, 4 mA a pin as it starts).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from drivers.wiring import INPUTS, LAMPS, Board, Pin, Wiring, group_of

Rail = Literal["GND", "3.3 V", "5 V", "24 V"]
Kind = Literal["puck sensor", "button", "lid", "slot", "door", "lamp"]

PIN_MV = 3_300
# What the pins of one board may give together.
BOARD_UA_MAX = 50_000
# Before every input: it keeps a pin that is an output by mistake within 10 mA when its contact closes, and is small
# enough for the 1.8 kohm pull-ups: 3.3 V * 330 / (1800 + 330) = 0.51 V, where up to 0.8 V is surely low.
INPUT_OHM = 330
FIXED_PULL_UPS = (Pin("header", 2), Pin("header", 3))
DRIVER_CHANNELS = 7
# Into a channel of a driver, were there nothing behind its resistor.
DRIVER_UA = PIN_MV * 1000 // 2_700

_KINDS: dict[str, Kind] = {
    "puck": "puck sensor",
    "second_puck": "puck sensor",
    "bet_status": "button",
    "dice_keys": "button",
    "reserve": "lid",
    "slots": "slot",
    "door": "door",
}
# Resistors are made in these steps of a decade (IEC 60063, E12).
_E12 = (10, 12, 15, 18, 22, 27, 33, 39, 47, 56, 68, 82)


@dataclass(frozen=True)
class Part:
    """One kind of part. `rails` is what it needs on its connector beside its signal.

    `pulled_up_mv`: what its output rises to when it is not active, 0 where it leaves that to the pin. `series_ohm` is
    the resistor at the pin, 0 where the pin's line goes to a channel of a driver. `pin_ua`: what a lamp takes from it.
    """

    name: str
    what: str
    kinds: tuple[Kind, ...]
    rails: tuple[Rail, ...]
    pulled_up_mv: int = 0
    # Where its output rises too far: the part to take, of the same kind and with an open output.
    open_part: str = ""
    series_ohm: int = INPUT_OHM
    pin_ua: int = 0
    capacitor: bool = False


def _led(name: str, what: str, forward_mv: int, most_ua: int) -> Part:
    ohm = series_ohm(forward_mv, most_ua)
    return Part(name, what, ("lamp",), ("GND",), series_ohm=ohm, pin_ua=(PIN_MV - forward_mv) * 1000 // ohm)


def series_ohm(forward_mv: int, most_ua: int) -> int:
    """The least E12 resistor, 10 ohm or more, with which an LED on a 3.3 V pin takes no more than `most_ua`."""
    decade = 1
    while True:
        for step in _E12:
            if step * decade * most_ua >= (PIN_MV - forward_mv) * 1000:
                return step * decade
        decade *= 10


PARTS = (
    Part(
        "hall_switch",
        "Hall switch, unipolar, open drain, for 3.3 V (such as DRV5023)",
        ("puck sensor", "lid"),
        ("GND", "3.3 V"),
        capacitor=True,
    ),
    Part(
        "hall_switch_5v",
        "Hall switch, unipolar, open collector, for 5 V (such as A3144)",
        ("puck sensor", "lid"),
        ("GND", "5 V"),
        capacitor=True,
    ),
    Part(
        "hall_module_5v",
        "Hall module for 5 V with its own pull-up (such as KY-003)",
        ("puck sensor", "lid"),
        ("GND", "5 V"),
        pulled_up_mv=5_000,
        open_part="hall_switch",
    ),
    Part("push_button", "Push button, contact closes when pressed", ("button",), ("GND",)),
    Part("micro_switch", "Lever micro switch, contact closes when pressed", ("lid", "slot", "door"), ("GND",)),
    Part("reed_switch", "Reed switch with magnet, closes near it", ("lid", "door"), ("GND",)),
    Part(
        "reflective_sensor",
        "Reflective sensor, NPN open collector, on when it sees a die, for 5 V",
        ("slot",),
        ("GND", "5 V"),
    ),
    Part(
        "reflective_module_5v",
        "Reflective module for 5 V with its own pull-up",
        ("slot",),
        ("GND", "5 V"),
        pulled_up_mv=5_000,
        open_part="reflective_sensor",
    ),
    _led("led", "LED, red or yellow, 2.0 V", 2_000, 4_000),
    _led("led_bright", "LED, red or yellow, 2.0 V, for 8 mA", 2_000, 8_000),
    Part("lamp_5v_driver", "Lamp for 5 V, 20 mA at most", ("lamp",), ("GND", "5 V"), series_ohm=0, pin_ua=DRIVER_UA),
    Part(
        "lamp_24v_driver", "Lamp for 24 V, 300 mA at most", ("lamp",), ("GND", "24 V"), series_ohm=0, pin_ua=DRIVER_UA
    ),
)
_BY_NAME = {part.name: part for part in PARTS}
# What is taken where the configuration names none.
_DEFAULTS: dict[Kind, str] = {
    "puck sensor": "hall_switch",
    "button": "push_button",
    "lid": "micro_switch",
    "slot": "micro_switch",
    "door": "reed_switch",
    "lamp": "led",
}


def kind_of(name: str) -> Kind:
    """Which kind of signal `name` is. KeyError: there is no such signal."""
    return "lamp" if name in LAMPS else _KINDS[group_of(name)]


def part_of(name: str, parts: Mapping[str, str]) -> Part:
    """The part of the signal `name`, where `parts` holds what was chosen."""
    return _BY_NAME[parts.get(name, _DEFAULTS[kind_of(name)])]


def parts_for(name: str) -> tuple[str, ...]:
    """The parts that may serve as the signal `name`, the one that is taken by default first."""
    default = _DEFAULTS[kind_of(name)]
    fit = [part.name for part in PARTS if kind_of(name) in part.kinds and part.pulled_up_mv <= PIN_MV]
    return (default, *(part for part in fit if part != default))


def check_part(name: str, part: str) -> None:
    """Raises ValueError: `part` is none, or cannot serve as the signal `name`."""
    right = parts_for(name)
    if part not in _BY_NAME:
        near = get_close_matches(part, right, 1)
        remedy = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(right)}"
        raise ValueError(f"there is no part {part!r}; {remedy}")
    if kind_of(name) not in _BY_NAME[part].kinds:
        raise ValueError(f"{part} cannot be a {kind_of(name)}; choose one of {', '.join(right)}")


def check_currents(wiring: Wiring, parts: Mapping[str, str]) -> None:
    """Raises ValueError for what would harm a board or mislead a dealer: it names the signal, the part and the pin."""
    for name in (*INPUTS, *LAMPS):
        if name not in wiring.pins:
            continue
        pin, part = wiring.pins[name], part_of(name, parts)
        if part.pulled_up_mv > PIN_MV:
            raise ValueError(
                f"{name}: {part.name} raises its output to {volts(part.pulled_up_mv)} V, but {pin} takes 3.3 V "
                f"at most; use {part.open_part} or another part with an open output"
            )
        if name in LAMPS and pin in FIXED_PULL_UPS:
            raise ValueError(
                f"{name} is on {pin}, whose fixed pull-up of 1.8 kohm lights a lamp while nothing runs; use another pin"
            )
    boards: tuple[Board, ...] = ("header", "node")
    for board in boards:
        _check_board(board, wiring, parts)


def _check_board(board: Board, wiring: Wiring, parts: Mapping[str, str]) -> None:
    lamps = list(wiring.lamps(board))
    together_ua = lamps_ua(board, wiring, parts)
    if together_ua > BOARD_UA_MAX:
        raise ValueError(
            f"the {len(lamps)} lamps on the {board} ({lamps[0]} to {lamps[-1]}) take {milliamperes(together_ua)} mA "
            f"together, but its pins give {milliamperes(BOARD_UA_MAX)} mA at most; use lamp_24v_driver or led"
        )


def lamps_ua(board: Board, wiring: Wiring, parts: Mapping[str, str]) -> int:
    """What a board's pins give when all of its lamps are lit, in uA."""
    return sum(part_of(name, parts).pin_ua for name in wiring.lamps(board))


def volts(mv: int) -> str:
    """Such as 5 or 3.3."""
    return f"{mv / 1000:g}"


def milliamperes(ua: int) -> str:
    """To a tenth, such as 31.4."""
    return f"{ua / 1000:.1f}"
