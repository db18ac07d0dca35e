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


def puck_agrees(puck: Puck, point: int | None) -> bool | None:
    """Whether a puck lies where it belongs; None while nobody knows where it is."""
    if puck.state == "unknown":
        return None
    return puck.state == "in_place" and {"position": puck.position, "face": puck.face} == expected_puck(point)


@dataclass
class HardwareState:
    """The second puck is in `pucks` once it was seen; a table without one never sees it."""

    pucks: dict[int, Puck] = field(default_factory=lambda: {1: Puck()})
    # Whether all pucks lay where the game has them at some time since the last roll.
    puck_was_right: bool = False
    reserve_open: bool | None = None
    # Whether the lid was told of since the start, or since its input could not be read.
    lid_told: bool = False
    # The cabinet's door, as it was told of since the start; None while nobody knows.
    door_open: bool | None = None
    slots: list[int] | None = None
    # Whether the slots were told of since the start.
    slots_told: bool = False
    marks: dict[int, str] = field(default_factory=dict)
    last_status: dict[str, Any] | None = None
    # A status that was pressed for a box without bets, until it is put right.
    idle_press: dict[str, Any] | None = None
    unavailable: dict[str, str] = field(default_factory=dict)
    stuck: list[str] = field(default_factory=list)
    node_away: str | None = None
    # The groups of inputs that the I/O node has told of.
    on_node: list[str] = field(default_factory=list)
    # Whether the node was in contact at some time since the start and still is; and whether, while it was not, a throw
    # was entered on the screen: what its keys say of that time is then late.
    node_in_contact: bool = False
    entered_without_node: bool = False
    # Whether, since the node's last contact, nothing was recorded for a while: what its keys say of that is late too.
    unrecorded_keys: bool = False
    line_noisy: bool = False
    # The I/O node's last boot, and how many changes it had dropped by then.
    node_dropped: tuple[int, int] | None = None
    # The last report of the I/O node that the journal holds, for each group of inputs: (boot id, number).
    reports: dict[str, tuple[int, int]] = field(default_factory=dict)
    # That of the first die which was used up last by a roll on the screen.
    used_up_die: tuple[int, int] | None = None

    def agrees(self, point: int | None) -> bool | None:
        """Whether every puck lies where it belongs; None while nobody knows where one of them is."""
        each = [puck_agrees(self.puck(number), point) for number in self.pucks]
        return None if None in each else all(each)

    def puck(self, number: int) -> Puck:
        """Puck 1 or 2 as it is seen now: what an absent node saw last is no sight."""
        unseen = self._unseen("puck" if number == 1 else "second_puck")
        return Puck() if unseen else self.pucks[number]

    @property
    def keys_are_late(self) -> bool:
        """Whether what the node has kept of its keys must not be done any more."""
        return self.entered_without_node or self.unrecorded_keys

    @property
    def lid_open(self) -> bool | None:
        """Whether the reserve is open; None while nobody knows."""
        return None if self._unseen("reserve") else self.reserve_open

    @property
    def lid_unseen(self) -> bool:
        """Whether nobody can say how the lid of the reserve is now, because it has no switch, or that is not read."""
        return not self.lid_told or "lid" in self.stuck or self._unseen("reserve")

    @property
    def slots_unseen(self) -> bool:
        """Whether all slots are on a node that is not in contact, or has told nothing of them since the start."""
        return "slots" in self.on_node and not (self.node_in_contact and self.slots_told)

    @property
    def unread_slots(self) -> list[int]:
        """The places of the reserve whose sensors cannot be read although their board answers."""
        return sorted(int(name.removeprefix("slot_")) for name in self.unavailable if name.startswith("slot_"))

    def _unseen(self, group: str) -> bool:
        return self.node_away is not None and group in self.on_node

    def note_report(self, group: str, boot_id: int, number: int) -> None:
        """The journal holds this report of the node, and so all before it; what it held stays held."""
        known = self.reports.get(group)
        if known is None or known[0] != boot_id or number > known[1]:
            self.reports[group] = (boot_id, number)

    def _lose_contact(self) -> None:
        if self.node_in_contact:
            self.entered_without_node = self.unrecorded_keys = False
        self.node_in_contact = False

    def throw_entered(self, via: str) -> None:
        """A roll, a correction or a void throw was entered."""
        if via == "console" and not self.node_in_contact:
            self.entered_without_node = True

    def start(self) -> None:
        """The program has started: the inputs are told as they are found now."""
        self.pucks = {number: Puck() for number in self.pucks}
        self.unavailable = {}
        self.stuck = []
        self.lid_told = self.slots_told = False
        self.door_open = None
        self.node_away = None
        self._lose_contact()
        self.line_noisy = False

    def open_table(self) -> None:
        """The table is opened under new terms, with no bets on it."""
        self.marks = {}
        self.idle_press = None

    def take(self, kind: str, data: dict[str, Any]) -> None:
        """Take an event of the hardware on. ValueError: `kind` is no such event."""
        board, _, group = str(data.get("via", "")).partition(":")
        if board == "node" and group and group not in self.on_node:
            self.on_node = sorted([*self.on_node, group])
        elif board == "header" and group in self.on_node:
            # It was wired anew since.
            self.on_node.remove(group)
        match kind:
            case "puck":
                seen = Puck(data["state"], data["position"], data["face"], data.get("sensors", []))
                self.pucks[data["puck"]] = seen
            case "reserve_opened" | "reserve_closed":
                self.reserve_open = kind == "reserve_opened"
                self.lid_told = True
            case "door_opened" | "door_closed":
                self.door_open = kind == "door_opened"
            case "slots":
                self.slots = data["occupied"]
                self.slots_told = True
            case "bet_status":
                self._take_status(data)
            case "input_unavailable":
                self.unavailable[data["name"]] = data["reason"]
                if data["name"] == "lid":
                    self.reserve_open = None
                    self.lid_told = False
                elif data["name"] == "door":
                    self.door_open = None
            case "input_available":
                self.unavailable.pop(data["name"], None)
            case "input_stuck":
                self.stuck = sorted({*self.stuck, data["name"]})
            case "input_freed":
                self.stuck = [name for name in self.stuck if name != data["name"]]
            case "node_lost":
                self.node_away = data["reason"]
                self._lose_contact()
            case "node_found":
                self.node_away = None
                self.node_in_contact = True
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
    "door_opened",
    "door_closed",
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
