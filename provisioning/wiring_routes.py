"""Where the wires of a wiring picture run: straight from a pin, along a lane of their own, straight to a terminal.

Heights are in rows of the board, 0 being the top edge of its first row of pins. Pins are at the middle of a row and
terminals at its edge, so that no two wires ever run along each other; they cross at right angles only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from provisioning.wiring_plan import ROWS, SIDE_ROWS_MAX, BoardPin, Connector, Side, Terminal

# Rows that connectors may stand above the board; as many, or one fewer, are below.
ABOVE = (SIDE_ROWS_MAX - ROWS + 1) // 2
# Lanes that share a column keep this distance, in rows.
_LANE_GAP = 0.6
# Wires around the board run between the rows in which terminals are.
_TRACKS_PER_ROW = 3


@dataclass(frozen=True)
class Place:
    """A connector with the row of its name; its terminals are in the rows below."""

    connector: Connector
    row: int


@dataclass(frozen=True)
class Lane:
    """The upright part of a wire in the channel of `side`; column 0 is next to the connectors."""

    side: Side
    column: int
    start: float
    end: float


@dataclass(frozen=True)
class Route:
    """One wire: from its pin along one lane, or around the board along two, to its terminal."""

    pin: BoardPin
    connector: Connector
    terminal: Terminal
    lanes: tuple[Lane, ...]


@dataclass(frozen=True)
class _Upright:
    """A lane before it has its column. `outwards`: it leads to a connector, not around the board."""

    wire: int
    side: Side
    start: float
    end: float
    outwards: bool

    @property
    def order(self) -> tuple[int, float]:
        """From the connectors inwards: in this order neighbours do not cross where that can be had."""
        if not self.outwards:
            return 2, -abs(self.end - self.start)
        return (0, self.start) if self.end > self.start else (1, -self.start)


def places(connectors: Sequence[Connector]) -> list[Place]:
    """Where the connectors of one board stand: each side by side with its pins, as far as there is room."""
    found = []
    sides: tuple[Side, ...] = ("left", "right")
    for side in sides:
        standing = sorted((each for each in connectors if each.side == side), key=_middle)
        rows = [len(each.terminals) + 1 for each in standing]
        gap = 1 if sum(rows) + len(rows) - 1 <= SIDE_ROWS_MAX else 0
        starts: list[int] = []
        lowest = -ABOVE
        for each, height in zip(standing, rows, strict=True):
            starts.append(max(lowest, round(_middle(each) - height / 2)))
            lowest = starts[-1] + height + gap
        highest = SIDE_ROWS_MAX - ABOVE
        for n in reversed(range(len(starts))):
            starts[n] = min(starts[n], highest - rows[n])
            highest = starts[n] - gap
        found += [Place(each, row) for each, row in zip(standing, starts, strict=True)]
    return found


def _middle(connector: Connector) -> float:
    rows = [terminal.pin.row for terminal in connector.terminals if terminal.pin is not None]
    return sum(rows) / len(rows)


def routes(standing: Sequence[Place]) -> list[Route]:
    """The wires of one board."""
    wires = [
        (terminal.pin, place, terminal)
        for place in standing
        for terminal in place.connector.terminals
        if terminal.pin is not None
    ]
    uprights: list[_Upright] = []
    tracks = {"above": 0, "below": 0}
    # The nearest to an edge of the board first, so that those around it do not cross each other on their way.
    for wire in sorted(range(len(wires)), key=lambda n: min(wires[n][0].row, ROWS - 1 - wires[n][0].row)):
        pin, place, terminal = wires[wire]
        start, end, side = pin.row + 0.5, float(place.row + terminal.number), place.connector.side
        if pin.side != side:
            edge: Literal["above", "below"] = "above" if pin.row < ROWS // 2 else "below"
            around = _track(tracks[edge])
            tracks[edge] += 1
            height = -around if edge == "above" else ROWS + around
            uprights.append(_Upright(wire, pin.side, start, height, outwards=False))
            start = height
        uprights.append(_Upright(wire, side, start, end, outwards=True))
    lanes: dict[int, list[Lane]] = {}
    for upright, column in _columns(uprights):
        lanes.setdefault(upright.wire, []).append(Lane(upright.side, column, upright.start, upright.end))
    return [
        Route(pin, place.connector, terminal, tuple(sorted(lanes[n], key=lambda lane: lane.side != pin.side)))
        for n, (pin, place, terminal) in enumerate(wires)
    ]


def _track(n: int) -> float:
    """How far from the board's edge the n-th wire around it runs, in rows; never where a terminal is."""
    return n // _TRACKS_PER_ROW + (n % _TRACKS_PER_ROW + 1) / (_TRACKS_PER_ROW + 1)


def _columns(uprights: Sequence[_Upright]) -> list[tuple[_Upright, int]]:
    """Each in the outermost column where it meets none that comes before it in order."""
    found: list[tuple[_Upright, int]] = []
    for upright in sorted(uprights, key=lambda each: each.order):
        met = [
            column
            for other, column in found
            if other.side == upright.side
            and min(upright.start, upright.end) < max(other.start, other.end) + _LANE_GAP
            and min(other.start, other.end) < max(upright.start, upright.end) + _LANE_GAP
        ]
        found.append((upright, max(met, default=-1) + 1))
    return found
