"""When the reserve was out of sight: stretches between events in which its lid or its slots could not be watched.

Out of sight is an input that cannot be read or cannot be right, all that hangs on an I/O node that does not answer, and
everything while the program is not running: from `stopped`, or from the last event before a start after a cut; and
while nothing is recorded, because the disk is full.
"""

from device.dice_control.event_moments import EventMoments, Moment, lapse_ms, wall_of
from device.dice_control.log_rows import Unwatched
from device.event import Event

LID = "lid"
SLOTS = "slots"
_BEGINS = {"input_unavailable": "input", "input_stuck": "stuck"}
_ENDS = {"input_available": "input", "input_freed": "stuck"}
_GROUP_INPUTS = {"reserve": LID, "slots": SLOTS}


def is_of_reserve(name: str) -> bool:
    """Whether an input is the lid's switch or the sensor of a slot."""
    return name == LID or name.startswith("slot_")


class ReserveSight:
    """Reads a journal's events in order. `stretches` are all until now; a table without a lid or slots has none."""

    def __init__(self, moments: EventMoments) -> None:
        self.stretches: list[Unwatched] = []
        # Why the next state that the lid or the slots tell is their first.
        self.first_because = {LID: "start", SLOTS: "start"}
        self._moments = moments
        # What the I/O node has told of: "lid", "slots".
        self._on_node: list[str] = []
        # There is a lid or a slot; set where that is known from before the first event.
        self.has_reserve = False
        self._going: dict[str, tuple[Unwatched, Event]] = {}
        # Stretches that are over, until the lid and the slots are seen again.
        self._blind_lid: list[Unwatched] = []
        self._blind_slots: list[Unwatched] = []
        self._previous: Event | None = None

    @property
    def on_node(self) -> tuple[str, ...]:
        """Which of lid and slots are read by the I/O node, as far as it has told of them."""
        return tuple(self._on_node)

    def take(self, event: Event) -> list[tuple[str, Unwatched]]:
        """The stretches that begin ("unwatched") or end ("watched_again") with an event."""
        told = self._told(event)
        self._previous = event
        return told

    def _told(self, event: Event) -> list[tuple[str, Unwatched]]:
        data = event.data
        match event.type:
            case "reserve_opened" | "reserve_closed" | "slots":
                self._seen(event)
            case "input_unavailable" | "input_stuck" if is_of_reserve(data["name"]):
                self.has_reserve = True
                cause = _BEGINS[event.type]
                if data["name"] == LID:
                    self.first_because[LID] = "input"
                return self._begin(f"{cause}:{data['name']}", cause, (data["name"],), event)
            case "input_available" | "input_freed" if is_of_reserve(data["name"]):
                return self._end(f"{_ENDS[event.type]}:{data['name']}", event)
            case "node_lost" if self._on_node:
                self.first_because |= dict.fromkeys(self._on_node, "node")
                return self._begin("node", "node", self.on_node, event)
            case "node_found":
                return self._end("node", event)
            case "stopped" if self.has_reserve:
                self._end_all(event)
                return self._begin("program", "stopped", (), event)
            case "recording_stopped":
                return self._begin("recording", "not_recorded", (), event)
            case "recording_resumed":
                self.first_because = {LID: "not_recorded", SLOTS: "not_recorded"}
                return self._end("recording", event)
            case "started":
                return self._started(event)
        return []

    def _started(self, event: Event) -> list[tuple[str, Unwatched]]:
        self.first_because = {LID: "start", SLOTS: "start"}
        last = self._previous
        if "recording" in self._going:
            # Whatever happened to the program meanwhile, nothing was recorded since; that it is resumed comes next.
            self.first_because = {LID: "not_recorded", SLOTS: "not_recorded"}
            return []
        if "program" not in self._going and self.has_reserve and last is not None:
            self._end_all(last)
            self._begin("program", "cut_off", (), last)
        return self._end("program", event)

    def _seen(self, event: Event) -> None:
        self.has_reserve = True
        name = SLOTS if event.type == "slots" else LID
        board, _, group = str(event.data.get("via", "")).partition(":")
        if board == "node" and _GROUP_INPUTS.get(group) == name and name not in self._on_node:
            self._on_node.append(name)
        if name == SLOTS:
            for stretch in self._blind_slots:
                stretch.slots_after = tuple(event.data["occupied"])
            self._blind_slots.clear()
        else:
            for stretch in self._blind_lid:
                stretch.lid_open_after = event.type == "reserve_opened"
            self._blind_lid.clear()

    def _begin(self, key: str, cause: str, inputs: tuple[str, ...], event: Event) -> list[tuple[str, Unwatched]]:
        if key in self._going:
            return []
        stretch = Unwatched(cause, inputs, self._moment(event))
        self._going[key] = stretch, event
        self.stretches.append(stretch)
        # What is seen after this stretch was not seen after an earlier one.
        if not inputs or LID in inputs:
            self._blind_lid.clear()
        if inputs != (LID,):
            self._blind_slots.clear()
        return [("unwatched", stretch)]

    def _end(self, key: str, event: Event) -> list[tuple[str, Unwatched]]:
        if key not in self._going:
            return []
        stretch, began = self._going.pop(key)
        stretch.ended = self._moment(event)
        stretch.lasted_ms = lapse_ms(began, event)
        if not stretch.inputs or LID in stretch.inputs:
            self._blind_lid.append(stretch)
        if stretch.inputs != (LID,):
            self._blind_slots.append(stretch)
        return [("watched_again", stretch)]

    def _end_all(self, event: Event) -> None:
        for key in list(self._going):
            self._end(key, event)

    def _moment(self, event: Event) -> Moment:
        moment = Moment(event.seq, wall_of(event), event.clock)
        self._moments.add(moment, event)
        return moment
