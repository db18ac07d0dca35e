"""The wiring of a table as a picture (SVG) for one A4 sheet, landscape; on A3 everything is larger by 1.4.

Lengths are in mm of the A4 sheet. Nothing tells by colour alone: each core's colour is written at its terminal, each
terminal at its pin and each pin at its terminal. Nothing is taken from elsewhere, neither fonts nor programs.
"""

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from drivers.wiring import Board, Wiring
from provisioning.wiring_parts import BOARD_UA_MAX, lamps_ua, milliamperes, part_of
from provisioning.wiring_plan import (
    BOARDS,
    DRIVER,
    ROWS,
    SIDE_ROWS_MAX,
    BoardPin,
    Side,
    bill_of_materials,
    board_pins,
    connectors,
)
from provisioning.wiring_routes import ABOVE, Lane, Place, Route, places, routes

SHEET_WIDTH, SHEET_HEIGHT = 297, 210
_MARGIN = 8.0
# The smallest writing; 2 mm is what one reads on paper without trouble.
_TEXT, _SMALL_TITLE, _TITLE = 2.2, 2.6, 3.8
_PITCH = 3.4
_LINE = 3.0

# Columns, from a connector inwards.
_CONNECTOR_WIDTH = 51.0
_TERMINAL_WIDTH, _PIN_WIDTH, _COLOUR_WIDTH = 5.4, 8.4, 15.6
# Columns of a board, from its middle outwards.
_PAD_START, _PAD_WIDTH, _NAME_WIDTH, _REFERENCE_WIDTH, _SERIES_WIDTH = 0.5, 5.2, 13.6, 9.0, 6.4
_REFERENCE_START = _PAD_START + _PAD_WIDTH + _NAME_WIDTH
_SERIES_START = _REFERENCE_START + _REFERENCE_WIDTH + 0.8
_BOARD_HALF = _SERIES_START + _SERIES_WIDTH + 0.8
_NOTES_WIDTH = 65.0
_NOTES_X = SHEET_WIDTH - _MARGIN - _NOTES_WIDTH
_LANE_MAX = 1.5
# Characters of a line of notes, so that they fit in a wide font as well.
_NOTE_CHARACTERS, _WHAT_CHARACTERS = 45, 41

_INKS = {
    "white": "#ffffff",
    "brown": "#8b5a2b",
    "green": "#2e9e3f",
    "yellow": "#ffd800",
    "grey": "#9a9a9a",
    "pink": "#ff9ec4",
    "blue": "#2060d0",
    "red": "#d81e1e",
    "black": "#000000",
    "violet": "#8e3fb0",
}
_TITLES: Mapping[Board, str] = {
    "header": "Raspberry Pi, 40-pin header, seen from above, USB ports at the bottom",
    "node": "I/O node: Raspberry Pi Pico, seen from above, USB at the top",
}


@dataclass(frozen=True)
class Heading:
    """What stands in the title block; `configuration` is the short hash of the file that the picture is of."""

    site: str
    table: str
    configuration: str


@dataclass(frozen=True)
class _Area:
    """Where one board's drawing is: its channels from `left` to `right`, its pins around `middle`, row 0 at `top`."""

    left: float
    right: float
    middle: float
    top: float
    lane: float

    def y(self, row: float) -> float:
        return self.top + row * _PITCH

    def lane_x(self, lane: Lane) -> float:
        offset = (lane.column + 1) * self.lane
        return self.left + offset if lane.side == "left" else self.right - offset


def wiring_svg(wiring: Wiring, parts: Mapping[str, str], heading: Heading) -> str:
    """The picture of a wiring, with its bill of materials."""
    made = connectors(wiring, parts)
    shown = [board for board in BOARDS if any(connector.board == board for connector in made)]
    drawn: list[str] = []
    for n, board in enumerate(shown):
        top = _MARGIN + 2 * _LINE + (ABOVE + 0.5) * _PITCH + n * (SIDE_ROWS_MAX * _PITCH + 2.5 * _LINE)
        drawn += _board(board, places([each for each in made if each.board == board]), top)
    drawn += _notes(wiring, parts, heading)
    title = f"Wiring of table {heading.table}, site {heading.site}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{SHEET_WIDTH}mm" height="{SHEET_HEIGHT}mm" '
        f'viewBox="0 0 {SHEET_WIDTH} {SHEET_HEIGHT}">\n<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n'
        f'<rect width="{SHEET_WIDTH}" height="{SHEET_HEIGHT}" fill="#fff"/>\n' + "\n".join(drawn) + "\n</svg>\n"
    )


_STYLE = f"""
@page {{ size: landscape; margin: 0; }}
@media print {{ svg {{ width: 100vw; height: 100vh; }} }}
text {{ font: {_TEXT}px "Liberation Sans", Arial, Helvetica, "DejaVu Sans", sans-serif; fill: #000; }}
.strong {{ font-weight: bold; }}
.heading {{ font-size: {_SMALL_TITLE}px; font-weight: bold; }}
.title {{ font-size: {_TITLE}px; font-weight: bold; }}
.end {{ text-anchor: end; }}
.middle {{ text-anchor: middle; }}
.box {{ fill: #fff; stroke: #000; stroke-width: .2; }}
.used {{ stroke-width: .45; }}
.board {{ fill: #f2f2f2; stroke: #000; stroke-width: .3; }}
.rule {{ stroke: #000; stroke-width: .15; }}
.wire {{ fill: none; stroke-linejoin: round; }}
.edge {{ stroke: #000; stroke-width: .75; }}
.core {{ stroke-width: .45; }}
.second {{ stroke-width: .45; stroke-dasharray: 1.6 1.6; }}
"""


# One board


def _board(board: Board, standing: Sequence[Place], top: float) -> list[str]:
    wires = routes(standing)
    area = _area(wires, top)
    bottom = area.y(ROWS)
    used = Counter(route.pin.number for route in wires)
    drawn = [
        _text(_MARGIN, area.y(-ABOVE - 0.5) - _LINE, _TITLES[board], "heading"),
        _rect(area.middle - _PAD_WIDTH - 1.2, top - 0.6, 2 * _PAD_WIDTH + 2.4, bottom - top + 1.2, "board"),
    ]
    # Long wires first, so that a short one is not hidden where they cross.
    for route in sorted(wires, key=lambda each: -len(each.lanes)):
        drawn += _wire(area, route, used[route.pin.number] > 1)
    drawn += _joints(area, wires)
    for pin in board_pins(board):
        drawn += _pin(area, pin, [route for route in wires if route.pin == pin])
    for place in standing:
        drawn += _connector(area, place)
    return drawn


def _area(wires: Sequence[Route], top: float) -> _Area:
    left, right = _MARGIN + _CONNECTOR_WIDTH, _NOTES_X - 3 - _CONNECTOR_WIDTH
    columns: Counter[Side] = Counter({"left": 1, "right": 1})
    for each in (lane for route in wires for lane in route.lanes):
        columns[each.side] = max(columns[each.side], each.column + 2)
    room = right - left - 2 * _BOARD_HALF
    width = min(_LANE_MAX, room / columns.total())
    slack = (room - width * columns.total()) / 2
    return _Area(left, right, left + slack + width * columns["left"] + _BOARD_HALF, top, width)


def _outwards(side: Side) -> int:
    return -1 if side == "left" else 1


def _wire(area: _Area, route: Route, shared: bool) -> list[str]:
    start = area.middle + _outwards(route.pin.side) * (_BOARD_HALF if shared else _REFERENCE_START + _REFERENCE_WIDTH)
    points = [(start, area.y(route.pin.row + 0.5))]
    for lane in route.lanes:
        points += [(area.lane_x(lane), area.y(lane.start)), (area.lane_x(lane), area.y(lane.end))]
    edge = area.left if route.connector.side == "left" else area.right
    points.append((edge, area.y(route.lanes[-1].end)))
    path = "M" + " L".join(f"{x:.2f} {y:.2f}" for x, y in points)
    first, _, second = route.terminal.colour.partition("/")
    lines = [f'<path class="wire edge" d="{path}"/><path class="wire core" stroke="{_INKS[first]}" d="{path}"/>']
    if second:
        lines.append(f'<path class="wire second" stroke="{_INKS[second]}" d="{path}"/>')
    return lines


def _joints(area: _Area, wires: Sequence[Route]) -> list[str]:
    """Dots where several wires leave one pin together."""
    drawn = []
    for pin in {route.pin for route in wires}:
        columns = sorted({route.lanes[0].column for route in wires if route.pin == pin})
        # Column 0 is the outermost, where the last one turns off.
        for column in columns[1:]:
            x = area.lane_x(Lane(pin.side, column, 0, 0))
            drawn.append(f'<circle cx="{x:.2f}" cy="{area.y(pin.row + 0.5):.2f}" r=".7"/>')
    return sorted(drawn)


def _pin(area: _Area, pin: BoardPin, here: Sequence[Route]) -> list[str]:
    sign, y = _outwards(pin.side), area.y(pin.row + 0.5)
    anchor = "end" if pin.side == "left" else ""

    def column(offset: float, width: float) -> float:
        """The left edge of what is `offset` away from the middle."""
        return area.middle + (offset if sign > 0 else -offset - width)

    drawn = [
        _rect(column(_PAD_START, _PAD_WIDTH), y - 1.35, _PAD_WIDTH, 2.7, "box used" if here else "box"),
        _text(column(_PAD_START + _PAD_WIDTH / 2, 0), _base(y), str(pin.number), "middle strong" if here else "middle"),
    ]
    name = _PAD_START + _PAD_WIDTH + 1.4
    drawn.append(_text(column(name, 0), _base(y), pin.name, f"{anchor} strong" if here else anchor))
    if here:
        said = [f"{route.connector.name}.{route.terminal.number}" for route in here]
        text = ", ".join(said) if len(said) <= 2 else f"{said[0]} and {len(said) - 1} more"
        drawn.append(_text(column(_REFERENCE_START, 0), _base(y), text, anchor))
        series = here[0].terminal.series
        if series:
            x = column(_SERIES_START, _SERIES_WIDTH)
            drawn += [
                _rect(x, y - 1.3, _SERIES_WIDTH, 2.6, "box"),
                _text(x + _SERIES_WIDTH / 2, _base(y), series, "middle"),
            ]
    return drawn


def _connector(area: _Area, place: Place) -> list[str]:
    connector = place.connector
    left = connector.side == "left"
    x = area.left - _CONNECTOR_WIDTH if left else area.right
    top, count = area.y(place.row + 0.5), len(connector.terminals)
    numbers_x = x + _CONNECTOR_WIDTH - _TERMINAL_WIDTH if left else x
    drawn = [
        _text(x, area.y(place.row) + 1.0, f"{connector.name}  {connector.title}", "heading"),
        _rect(x, top, _CONNECTOR_WIDTH, count * _PITCH, "box"),
        _rect(numbers_x, top, _TERMINAL_WIDTH, count * _PITCH, "box used"),
    ]
    texts_x = x + 0.9 if left else x + _TERMINAL_WIDTH + 0.9
    for terminal in connector.terminals:
        y = area.y(place.row + terminal.number)
        pin = f"pin {terminal.pin.number}" if terminal.pin else "supply"
        colour_x = texts_x + _CONNECTOR_WIDTH - _TERMINAL_WIDTH - _COLOUR_WIDTH - _PIN_WIDTH - 0.9
        drawn += [
            _text(numbers_x + _TERMINAL_WIDTH / 2, _base(y), str(terminal.number), "middle strong"),
            _text(texts_x, _base(y), terminal.carries, "strong"),
            _text(colour_x, _base(y), terminal.colour),
            _text(colour_x + _COLOUR_WIDTH, _base(y), pin),
        ]
        if terminal.number > 1:
            drawn.append(_rule(x, y - _PITCH / 2, _CONNECTOR_WIDTH))
    return drawn


# Beside the boards


def _notes(wiring: Wiring, parts: Mapping[str, str], heading: Heading) -> list[str]:
    y = _MARGIN + _TITLE
    drawn = [
        _text(_NOTES_X, y, f"Table {heading.table}", "title"),
        _text(_NOTES_X, y + 1.4 * _LINE, f"Site {heading.site}"),
        _text(_NOTES_X, y + 2.4 * _LINE, f"Wiring by configuration {heading.configuration}"),
        _rule(_NOTES_X, y + 3 * _LINE, _NOTES_WIDTH),
    ]
    y += 4.2 * _LINE
    drawn.append(_text(_NOTES_X, y, "Bill of materials", "heading"))
    for item in bill_of_materials(wiring, parts):
        y += 0.25 * _LINE
        for n, line in enumerate(textwrap.wrap(f"{item.what}: {item.where}", _WHAT_CHARACTERS)):
            y += _LINE
            if n == 0:
                drawn.append(_text(_NOTES_X + 4.5, y, str(item.count), "end strong"))
            drawn.append(_text(_NOTES_X + 6, y, line))
    y += 2 * _LINE
    drawn.append(_text(_NOTES_X, y, "Notes", "heading"))
    for note in notes(wiring, parts):
        y += 0.25 * _LINE
        for line in textwrap.wrap(note, _NOTE_CHARACTERS):
            y += _LINE
            drawn.append(_text(_NOTES_X, y, line))
    return drawn


def notes(wiring: Wiring, parts: Mapping[str, str]) -> list[str]:
    """What the technician is told beside the picture."""
    wired = {name: part_of(name, parts) for name in wiring.pins}
    said = [
        "Wire with the power off. Never bring 5 V to a pin: inputs are closed to ground, and what closes them must "
        "leave its output open.",
        "A box on a line is a resistor at the pin, in ohm. X1.2 is terminal 2 of connector X1.",
        "Colours of cores: DIN 47100. Black is ground, red 3.3 V, red/blue 5 V, brown/green 24 V.",
    ]
    if any(not part.series_ohm for part in wired.values()):
        said.append(
            f"{DRIVER} is a channel of a ULN2003A: its input at the pin, its output at the terminal, its COM at the "
            "lamps' supply, its ground at GND. Lamps of another supply have a ULN2003A of their own."
        )
    if any("24 V" in part.rails for part in wired.values()):
        said.append("24 V come from a supply of their own, whose ground is joined at GND; never from the board.")
    turned = [name for name in ("puck_off", "second_puck_off") if name in wired]
    if turned:
        said.append(
            f"{' and '.join(turned)}: turn the Hall switch over, its marked side down; there the puck shows its other "
            "pole. All others: marked side up."
        )
    sums = [
        f"{milliamperes(lamps_ua(board, wiring, parts))} mA on the {board}" for board in BOARDS if wiring.lamps(board)
    ]
    if sums:
        said.append(f"All lamps lit, the pins give {', '.join(sums)}; {milliamperes(BOARD_UA_MAX)} mA is the most.")
    if wiring.inputs("header") or wiring.lamps("header"):
        said.append("Switch off SPI, I2C, 1-Wire and the serial console of the Pi: they would hold pins.")
    return said


# Pieces of a picture


def _base(y: float) -> float:
    """The base line of writing whose middle is at `y`."""
    return y + 0.36 * _TEXT


def _text(x: float, y: float, text: str, style: str = "") -> str:
    name = f" class={quoteattr(style.strip())}" if style.strip() else ""
    return f'<text x="{x:.2f}" y="{y:.2f}"{name}>{escape(text)}</text>'


def _rect(x: float, y: float, width: float, height: float, style: str) -> str:
    return f'<rect x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" class={quoteattr(style)}/>'


def _rule(x: float, y: float, width: float) -> str:
    return f'<path class="rule" d="M{x:.2f} {y:.2f} h{width:.2f}"/>'
