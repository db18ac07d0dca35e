"""How a table is wired, worked out from its configuration: connectors with their terminals, and what is to be bought.

Terminal 1 of a connector is always ground, so that no loom in the wrong place brings a supply there; supplies follow,
then the signals in the order of their group. Connectors have the same name on every table: X1 to X8 on the header, X11
to X18 on the I/O node. The numbers of pins are those of the 40-pin header (Raspberry Pi documentation, "GPIO and the
40-pin header") and of the Pico (its data sheet, figure of the pinout, USB up). Colours are those of DIN 47100 cable,
where black is kept for ground and red for 3.3 V.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

from drivers.wiring import BUTTONS, DICE_KEYS, GROUPS, INPUTS, LAMPS, Board, Wiring
from provisioning.wiring_parts import DRIVER_CHANNELS, Part, Rail, part_of

Side = Literal["left", "right"]

# Left: the odd pins, downwards from pin 1. Right: the even ones, downwards from pin 2.
_HEADER_LEFT = "3V3 2 3 4 GND 17 27 22 3V3 10 9 11 GND ID_SD 5 6 13 19 26 GND"
_HEADER_RIGHT = "5V 5V GND 14 15 18 GND 23 24 GND 25 8 7 ID_SC GND 12 GND 16 20 21"
# Left: pins 1 to 20, downwards. Right: pins 40 to 21, downwards.
_PICO_LEFT = "0 1 GND 2 3 4 5 GND 6 7 8 9 GND 10 11 12 13 GND 14 15"
_PICO_RIGHT = "VBUS VSYS GND 3V3_EN 3V3(OUT) ADC_VREF 28 AGND 27 26 RUN 22 GND 21 20 19 18 GND 17 16"
ROWS = 20

_CONNECTORS = {
    "puck": ("X1", "Puck"),
    "second_puck": ("X2", "Second puck"),
    "bet_status": ("X3", "Buttons"),
    "button_lamps": ("X4", "Lamps of the buttons"),
    "dice_keys": ("X5", "Dice keys"),
    "dice_key_lamps": ("X6", "Lamps of the dice keys"),
    "reserve": ("X7", "Lid of the dice reserve"),
    "slots": ("X8", "Slots of the dice reserve"),
    "door": ("X9", "Door of the cabinet"),
}
_LOOMS: Mapping[str, Sequence[str]] = {
    **GROUPS,
    "button_lamps": [f"lamp_{name}" for name in BUTTONS],
    "dice_key_lamps": [f"lamp_{name}" for name in DICE_KEYS],
}
# What stands for a channel of a ULN2003A on a line.
DRIVER = "ULN"
RAIL_COLOURS: Mapping[Rail, str] = {"GND": "black", "3.3 V": "red", "5 V": "red/blue", "24 V": "brown/green"}
SIGNAL_COLOURS = (
    "white",
    "brown",
    "green",
    "yellow",
    "grey",
    "pink",
    "blue",
    "violet",
    "grey/pink",
    "white/green",
)
_RAIL_PINS: Mapping[Board, Mapping[str, Rail]] = {
    "header": {"GND": "GND", "3V3": "3.3 V", "5V": "5 V"},
    "node": {"GND": "GND", "3V3(OUT)": "3.3 V", "VBUS": "5 V"},
}
BOARDS: tuple[Board, ...] = ("header", "node")
# More rows than this on one side of a board do not fit on the sheet; a connector has one for its name.
SIDE_ROWS_MAX = 26


@dataclass(frozen=True)
class BoardPin:
    """A pin as one finds it: its physical number, its name, and where it is; `row` 0 is the top one."""

    number: int
    name: str
    side: Side
    row: int


@dataclass(frozen=True)
class Terminal:
    """One terminal: what it carries, the colour of its core, the board's pin and what sits on its line there.

    `pin` None: it comes from another supply. `series` is a resistor ("330"), a driver's channel ("ULN") or empty.
    """

    number: int
    carries: str
    colour: str
    pin: BoardPin | None
    series: str = ""


@dataclass(frozen=True)
class Connector:
    """One connector with the loom behind it; `side`: on which side of its board it is drawn."""

    name: str
    title: str
    board: Board
    side: Side
    terminals: tuple[Terminal, ...]


@dataclass(frozen=True)
class Item:
    """A line of the bill of materials: how many of what, and where they go."""

    count: int
    what: str
    where: str


def board_pins(board: Board) -> list[BoardPin]:
    """All 40 pins of a board, in the order of their physical numbers."""
    if board == "header":
        left = [
            BoardPin(2 * row + 1, _named("GPIO", name), "left", row) for row, name in enumerate(_HEADER_LEFT.split())
        ]
        right = [
            BoardPin(2 * row + 2, _named("GPIO", name), "right", row) for row, name in enumerate(_HEADER_RIGHT.split())
        ]
    else:
        left = [BoardPin(row + 1, _named("GP", name), "left", row) for row, name in enumerate(_PICO_LEFT.split())]
        right = [BoardPin(40 - row, _named("GP", name), "right", row) for row, name in enumerate(_PICO_RIGHT.split())]
    return sorted(left + right, key=lambda pin: pin.number)


def _named(prefix: str, name: str) -> str:
    return prefix + name if name.isdecimal() else name


def connectors(wiring: Wiring, parts: Mapping[str, str]) -> list[Connector]:
    """The connectors of a table: those of the header, then those of the node."""
    return [connector for board in BOARDS for connector in _on_board(board, wiring, parts)]


def _on_board(board: Board, wiring: Wiring, parts: Mapping[str, str]) -> list[Connector]:
    pins = {pin.name: pin for pin in board_pins(board)}
    signals: dict[str, dict[str, BoardPin]] = {}
    for group, names in _LOOMS.items():
        wired = [name for name in names if name in wiring.pins and wiring.pins[name].board == board]
        prefix = "GPIO" if board == "header" else "GP"
        if wired:
            signals[group] = {name: pins[f"{prefix}{wiring.pins[name].number}"] for name in wired}
    rails = {group: _rails([part_of(name, parts) for name in signals[group]]) for group in signals}
    sides = dict(
        zip(signals, _sides([(list(signals[group].values()), len(rails[group])) for group in signals]), strict=True)
    )
    uses: Counter[int] = Counter()
    made = {}
    # From the top, so that each takes a ground pin near by.
    for group in sorted(signals, key=lambda group: _middle(signals[group])):
        supplies = [
            (rail, _rail_pin(board, rail, sides[group], _middle(signals[group]), uses)) for rail in rails[group]
        ]
        made[group] = _connector(board, group, sides[group], supplies, signals[group], parts)
    return [made[group] for group in signals]


def _middle(pins: Mapping[str, BoardPin]) -> int:
    return sum(pin.row for pin in pins.values()) // len(pins)


def _rails(parts: list[Part]) -> list[Rail]:
    return [rail for rail in RAIL_COLOURS if any(rail in part.rails for part in parts)]


def _sides(groups: list[tuple[list[BoardPin], int]]) -> tuple[Side, ...]:
    """On which side each group is drawn: so that few wires cross the board and both sides have room."""

    def cost(sides: tuple[Side, ...]) -> tuple[int, int]:
        rows: Counter[Side] = Counter()
        crossing = 0
        for (pins, rails), side in zip(groups, sides, strict=True):
            rows[side] += 1 + rails + len(pins)
            crossing += sum(pin.side != side for pin in pins)
        return sum(max(0, n - SIDE_ROWS_MAX) for n in rows.values()), crossing

    both: tuple[Side, ...] = ("left", "right")
    return min(product(both, repeat=len(groups)), key=cost)


def _connector(
    board: Board,
    group: str,
    side: Side,
    supplies: list[tuple[Rail, BoardPin | None]],
    signals: Mapping[str, BoardPin],
    parts: Mapping[str, str],
) -> Connector:
    name, title = _CONNECTORS[group]
    terminals = [Terminal(n, rail, RAIL_COLOURS[rail], pin) for n, (rail, pin) in enumerate(supplies, 1)]
    for signal, pin in signals.items():
        ohm = part_of(signal, parts).series_ohm
        # A signal keeps its colour when others of its loom are not wired, and a lamp has that of its button.
        colour = SIGNAL_COLOURS[_LOOMS[group].index(signal)]
        terminals.append(Terminal(len(terminals) + 1, signal, colour, pin, str(ohm) if ohm else DRIVER))
    return Connector(name if board == "header" else f"X1{name[1:]}", title, board, side, tuple(terminals))


def _rail_pin(board: Board, rail: Rail, side: Side, row: int, uses: Counter[int]) -> BoardPin | None:
    """The pin that supplies a connector: the least used, then on its side, then the nearest."""
    pins = [pin for pin in board_pins(board) if _RAIL_PINS[board].get(pin.name) == rail]
    if not pins:
        return None
    chosen = min(pins, key=lambda pin: (uses[pin.number], pin.side != side, abs(pin.row - row), pin.number))
    uses[chosen.number] += 1
    return chosen


def bill_of_materials(wiring: Wiring, parts: Mapping[str, str]) -> list[Item]:
    """What is to be bought: boards, sensors and switches, small parts, connectors."""
    wired = [name for name in (*INPUTS, *LAMPS) if name in wiring.pins]
    made = connectors(wiring, parts)
    items = [Item(1, "Raspberry Pi with 40-pin header, 3 or later", "header")]
    if any(connector.board == "node" for connector in made):
        items.append(Item(1, "Raspberry Pi Pico with MicroPython, USB cable", "node"))
    where = {terminal.carries: connector.name for connector in made for terminal in connector.terminals}
    of_part: dict[Part, list[str]] = {}
    for name in wired:
        of_part.setdefault(part_of(name, parts), []).append(where[name])
    items += [Item(len(places), part.what, _listed(places)) for part, places in of_part.items()]
    capacitors = [place for part, places in of_part.items() if part.capacitor for place in places]
    if capacitors:
        items.append(Item(len(capacitors), "Capacitor 100 nF, ceramic, at a Hall switch", _listed(capacitors)))
    resistors: dict[int, list[str]] = {}
    for part, places in of_part.items():
        if part.series_ohm:
            resistors.setdefault(part.series_ohm, []).extend(places)
    for ohm, places in sorted(resistors.items()):
        items.append(Item(len(places), f"Resistor {ohm} ohm, 0.25 W, at the pin", _listed(places)))
    # Each board has its own, and so has each supply: the lamps of one chip share the supply that its COM is at.
    drivers: dict[Rail, list[list[str]]] = {}
    for board in BOARDS:
        for supply, names in _driven(wiring.lamps(board), parts).items():
            drivers.setdefault(supply, []).append(names)
    for supply, boards in sorted(drivers.items()):
        count = sum(-(-len(names) // DRIVER_CHANNELS) for names in boards)
        their_places = _listed([where[name] for names in boards for name in names])
        items.append(Item(count, f"ULN2003A, 7 channels, for lamps of {supply}", their_places))
    poles: dict[int, list[str]] = {}
    for connector in made:
        poles.setdefault(len(connector.terminals), []).append(connector.name)
    for count, names in sorted(poles.items()):
        items.append(Item(len(names), f"Plug connector, {count} poles", ", ".join(names)))
    return items


def _driven(lamps: Iterable[str], parts: Mapping[str, str]) -> dict[Rail, list[str]]:
    """The lamps that a driver feeds, by their supply."""
    found: dict[Rail, list[str]] = {}
    for name in lamps:
        part = part_of(name, parts)
        if not part.series_ohm:
            found.setdefault(part.rails[-1], []).append(name)
    return found


def _listed(places: list[str]) -> str:
    return ", ".join(dict.fromkeys(places))
