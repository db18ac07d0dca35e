"""What the table's hardware was last seen to say: pucks, lid, slots, markers, faults. Part of the session.

Only journaled events change it, so that a replay leads to the same state.
"""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Puck:
    """Where a puck is: `state` in_place, lifted, fault or unknown; `position` a number or "off"; `face` on or off."""

    state: str = "unknown"
    position: int | str | None = None
    face: str | None = None
    # The positions that answer at once, where `state` is fault.
    sensors: list[str] = field(default_factory=list)


def expected_puck(point: int | None) -> dict[str, Any]:
    """Where every puck belongs while the point is `point`, None on the come-out."""
    return {"position": "off" if point is None else point, "face": "off" if point is None else "on"}


@dataclass
class HardwareState:
    """The second puck is in `pucks` once it was seen; a table without one never sees it."""

    pucks: dict[int, Puck] = field(default_factory=lambda: {1: Puck()})
    # Whether all pucks lay where the game has them at some time since the last roll.
    puck_was_right: bool = False
    reserve_open: bool | None = None
    slots: list[int] | None = None
    marks: dict[int, str] = field(default_factory=dict)
    last_status: dict[str, Any] | None = None
    # A status that was pressed for a box without bets, until it is put right.
    idle_press: dict[str, Any] | None = None
    unavailable: dict[str, str] = field(default_factory=dict)
    stuck: list[str] = field(default_factory=list)
    node_away: str | None = None
    line_noisy: bool = False
    # The I/O node's last boot, and how many changes it had dropped by then.
    node_dropped: tuple[int, int] | None = None
    # The last report of the I/O node that the journal holds, for each group of inputs: (boot id, number).
    reports: dict[str, tuple[int, int]] = field(default_factory=dict)

    def agrees(self, point: int | None) -> bool | None:
        """Whether every puck lies where it belongs; None while one of them has not been seen since the start."""
        if any(puck.state == "unknown" for puck in self.pucks.values()):
            return None
        expected = expected_puck(point)
        return all(
            puck.state == "in_place" and {"position": puck.position, "face": puck.face} == expected
            for puck in self.pucks.values()
        )

    def start(self) -> None:
        """The program has started: the inputs are told as they are found now."""
        self.pucks = {number: Puck() for number in self.pucks}
        self.unavailable = {}
        self.stuck = []
        self.node_away = None
        self.line_noisy = False

    def open_table(self) -> None:
        """The table is opened under new terms, with no bets on it."""
        self.marks = {}
        self.idle_press = None

    def take(self, kind: str, data: dict[str, Any]) -> None:
        """Take an event of the hardware on. ValueError: `kind` is no such event."""
        match kind:
            case "puck":
                seen = Puck(data["state"], data["position"], data["face"], data.get("sensors", []))
                self.pucks[data["puck"]] = seen
            case "reserve_opened" | "reserve_closed":
                self.reserve_open = kind == "reserve_opened"
            case "slots":
                self.slots = data["occupied"]
            case "bet_status":
                self._take_status(data)
            case "input_unavailable":
                self.unavailable[data["name"]] = data["reason"]
            case "input_available":
                self.unavailable.pop(data["name"], None)
            case "input_stuck":
                self.stuck = sorted({*self.stuck, data["name"]})
            case "input_freed":
                self.stuck = [name for name in self.stuck if name != data["name"]]
            case "node_lost":
                self.node_away = data["reason"]
            case "node_found":
                self.node_away = None
                self.node_dropped = (data["boot_id"], data["dropped_in_all"])
            case "node_dropped":
                self.node_dropped = (data["boot_id"], data["dropped_in_all"])
            case "line_noisy" | "line_quiet":
                self.line_noisy = kind == "line_noisy"
            case "edge_lost" | "button_held_at_start":
                # For the record.
                pass
            case _:
                raise ValueError(f"{kind} is no event of the hardware")

    def _take_status(self, data: dict[str, Any]) -> None:
        status, box = data["status"], data["box"]
        self.last_status = {"status": status, "box": box}
        lifted = False
        if status in ("buy", "lay") and box is not None:
            # Pressed again, the marker is lifted.
            lifted = self.marks.get(box) == status
            if lifted:
                del self.marks[box]
            else:
                self.marks[box] = status
        self.idle_press = None if lifted or not data.get("box_empty") else {"status": status, "box": box}


EVENTS = (
    "puck",
    "reserve_opened",
    "reserve_closed",
    "slots",
    "bet_status",
    "input_unavailable",
    "input_available",
    "input_stuck",
    "input_freed",
    "node_lost",
    "node_found",
    "node_dropped",
    "line_noisy",
    "line_quiet",
    "edge_lost",
    "button_held_at_start",
)
