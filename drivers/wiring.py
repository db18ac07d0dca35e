"""What is wired to which pin: every input and lamp of a table by name, on the header or on the I/O node.

Inputs: `puck_4` ... `puck_10`, `puck_off` and the same seven as `second_puck_...` on a long table; the box buttons
`box_4` ... `box_10` and the status buttons `on`, `off`, `buy`, `lay`; `dice_key_1` ... `dice_key_6`; `lid`; `slot_1`
... `slot_8`, one for each place where a die of the reserve lies; `door`, of the cabinet. Lamps: `lamp_` and the name of
the button or dice key that it lights. A pin is written `gpio:17` (BCM number, on the header) or `node:3` (GP number, on
the node's Pico).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from drivers.signals import POSITIONS

Board = Literal["header", "node"]

# BCM 0 and 1 belong to the identification of add-on boards.
HEADER_PINS = range(2, 28)
# The pins a Pico brings out; 23 to 25 and 29 are its own.
NODE_PINS = (*range(23), 26, 27, 28)
# A node numbers its inputs in 24 bits of a report.
NODE_INPUTS_MAX = 24

BUTTONS = ("box_4", "box_5", "box_6", "box_8", "box_9", "box_10", "on", "off", "buy", "lay")
DICE_KEYS = tuple(f"dice_key_{die}" for die in range(1, 7))
SLOTS = tuple(f"slot_{place}" for place in range(1, 9))
# The inputs that one decoder reads. They sit on one board, because the two boards have clocks of their own.
GROUPS: dict[str, tuple[str, ...]] = {
    "puck": tuple(f"puck_{position}" for position in POSITIONS),
    "second_puck": tuple(f"second_puck_{position}" for position in POSITIONS),
    "bet_status": BUTTONS,
    "dice_keys": DICE_KEYS,
    "reserve": ("lid",),
    "slots": SLOTS,
    "door": ("door",),
}
INPUTS: tuple[str, ...] = tuple(name for names in GROUPS.values() for name in names)
LAMPS = tuple(f"lamp_{name}" for name in (*BUTTONS, *DICE_KEYS))
# Of these a table has all or none: half of them cannot tell where the puck is, or which die fell.
_WHOLE_GROUPS = ("puck", "second_puck", "dice_keys")

_PIN = re.compile(r"(gpio|node):([0-9]{1,2})")


@dataclass(frozen=True, order=True)
class Pin:
    """One pin: BCM number on the header, GP number on the node."""

    board: Board
    number: int

    def __str__(self) -> str:
        return f"{'gpio' if self.board == 'header' else 'node'}:{self.number}"


def parse_pin(text: str) -> Pin:
    """The pin that `text` names, such as gpio:17 or node:3. Raises ValueError, also for a pin that does not exist."""
    found = _PIN.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no pin; write gpio:17 for the header or node:3 for the I/O node")
    board: Board = "header" if found[1] == "gpio" else "node"
    pin = Pin(board, int(found[2]))
    if pin.number not in (HEADER_PINS if board == "header" else NODE_PINS):
        right = "gpio:2 to gpio:27" if board == "header" else "node:0 to node:22 and node:26 to node:28"
        raise ValueError(f"{pin} does not exist or cannot be used; choose one of {right}")
    return pin


def time_bounds_ms(name: str) -> tuple[int, int]:
    """The least and the most that the time `name` of Timing may be."""
    return (2, 250) if name.endswith("settle_ms") else (50, 600_000)


@dataclass(frozen=True)
class Timing:
    """How long things take to settle, in milliseconds.

    For an input on the node, the settle time is the node's own work; there it is 2 to 250.
    """

    puck_settle_ms: int = 60
    puck_lift_ms: int = 300
    button_settle_ms: int = 15
    pick_ms: int = 10_000
    lid_settle_ms: int = 50
    slot_settle_ms: int = 200
    dice_key_settle_ms: int = 20
    hold_ms: int = 2_000
    abandon_ms: int = 10_000
    # A button or key that is down for so long is stuck, or somebody leans on it.
    stuck_ms: int = 30_000

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            lowest, highest = time_bounds_ms(name)
            if type(value) is not int or not lowest <= value <= highest:
                raise ValueError(f"{name} must be a whole number from {lowest} to {highest}")
        if self.stuck_ms <= self.hold_ms:
            raise ValueError(f"stuck_ms ({self.stuck_ms}) must be longer than hold_ms ({self.hold_ms})")

    def settle_ms(self, name: str) -> int:
        """How long the input `name` must be quiet."""
        group = group_of(name)
        return {
            "puck": self.puck_settle_ms,
            "second_puck": self.puck_settle_ms,
            "bet_status": self.button_settle_ms,
            "dice_keys": self.dice_key_settle_ms,
            "reserve": self.lid_settle_ms,
            "slots": self.slot_settle_ms,
            "door": self.lid_settle_ms,
        }[group]


def group_of(name: str) -> str:
    """The group of the input `name`. KeyError: there is no such input."""
    for group, names in GROUPS.items():
        if name in names:
            return group
    raise KeyError(name)


# Together they take the whole header, so SPI, I2C, 1-Wire and the serial console are off. Two lamps and all that
# belongs to the dice keys are on the node.
DEFAULT_PINS: Mapping[str, Pin] = {
    **{name: Pin("header", n) for name, n in zip(GROUPS["puck"], (4, 17, 27, 22, 10, 9, 11), strict=True)},
    **{name: Pin("header", n) for name, n in zip(BUTTONS, (26, 12, 16, 20, 21, 3, 5, 6, 13, 19), strict=True)},
    "lid": Pin("header", 2),
    **{f"lamp_{name}": Pin("header", n) for name, n in zip(BUTTONS[:8], (18, 23, 24, 25, 8, 7, 14, 15), strict=True)},
    **{name: Pin("node", n) for n, name in enumerate(DICE_KEYS, 2)},
    "lamp_buy": Pin("node", 8),
    "lamp_lay": Pin("node", 9),
    **{f"lamp_{name}": Pin("node", n) for n, name in enumerate(DICE_KEYS, 10)},
}


@dataclass(frozen=True)
class Wiring:
    """The pins of one table and its times. ValueError: a pin is used twice, a name is unknown, a group is split."""

    pins: Mapping[str, Pin] = field(default_factory=lambda: dict(DEFAULT_PINS))
    timing: Timing = field(default_factory=Timing)

    def __post_init__(self) -> None:
        _check_names(self.pins)
        taken: dict[Pin, str] = {}
        for name, pin in self.pins.items():
            if pin.number not in (HEADER_PINS if pin.board == "header" else NODE_PINS):
                raise ValueError(f"{pin} ({name}) does not exist or cannot be used")
            if pin in taken:
                raise ValueError(f"{pin} is wired twice: to {taken[pin]} and to {name}")
            taken[pin] = name
        for group, names in GROUPS.items():
            _check_group(group, [name for name in names if name in self.pins], self.pins)
        if len(self.inputs("node")) > NODE_INPUTS_MAX:
            raise ValueError(f"the I/O node reads at most {NODE_INPUTS_MAX} inputs, not {len(self.inputs('node'))}")

    def inputs(self, board: Board) -> dict[str, int]:
        """The inputs on a board, by name, with their pin numbers; in the order of INPUTS."""
        return self._on(board, INPUTS)

    def lamps(self, board: Board) -> dict[str, int]:
        """The lamps on a board, by name, with their pin numbers; in the order of LAMPS."""
        return self._on(board, LAMPS)

    def group(self, group: str) -> tuple[str, ...]:
        """The wired inputs of a group."""
        return tuple(name for name in GROUPS[group] if name in self.pins)

    def board(self, group: str) -> Board | None:
        """The board that a group's inputs are on; None where none of them is wired."""
        wired = self.group(group)
        return self.pins[wired[0]].board if wired else None

    def _on(self, board: Board, names: Iterable[str]) -> dict[str, int]:
        return {name: self.pins[name].number for name in names if name in self.pins and self.pins[name].board == board}


def _check_names(names: Iterable[str]) -> None:
    for name in names:
        if name not in INPUTS and name not in LAMPS:
            raise ValueError(f"there is no signal {name!r}")


def _check_group(group: str, wired: list[str], pins: Mapping[str, Pin]) -> None:
    if group in _WHOLE_GROUPS and wired and len(wired) < len(GROUPS[group]):
        missing = next(name for name in GROUPS[group] if name not in wired)
        raise ValueError(f"{missing} is not wired, but {wired[0]} is; {group} needs all of its inputs or none")
    if group == "slots" and wired != list(SLOTS[: len(wired)]):
        missing = next(name for name in SLOTS if name not in wired)
        raise ValueError(f"{missing} is not wired, but {wired[-1]} is; slots are numbered from 1 without a gap")
    for name in wired[1:]:
        if pins[name].board != pins[wired[0]].board:
            raise ValueError(
                f"{wired[0]} is on {pins[wired[0]]} and {name} on {pins[name]}; "
                f"the inputs of {group} must be on one board"
            )
