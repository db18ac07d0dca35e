"""Which places of the dice reserve hold a die, from the presence sensors under them."""

from collections.abc import Mapping, Sequence

from drivers.debounce import Debouncer
from drivers.signals import Signal, SlotsSeen


class SlotsDecoder:
    """An active sensor is a die in its place. All places are told together, at start as `initial`.

    `names` are the inputs `slot_1`, `slot_2` ... that are wired. A place whose sensor was never read counts as empty,
    and one that cannot be read any more keeps its state.
    """

    half_done = False

    def __init__(self, names: Sequence[str], *, settle_ms: int) -> None:
        self._slots = {name: Debouncer(settle_ms) for name in names}
        self._read: set[str] = set()
        self._told: tuple[int, ...] | None = None

    @property
    def unsettled(self) -> bool:
        """Whether time alone may still bring a signal."""
        return any(not slot.settled for slot in self._slots.values())

    def feed(self, time_ms: int, active: Mapping[str, bool]) -> list[Signal]:
        """Take one reading of the sensors by input name; one that is missing keeps its state."""
        for name, slot in self._slots.items():
            if name in active:
                self._read.add(name)
                slot.feed(time_ms, active[name])
        return self._signals()

    def poll(self, time_ms: int) -> list[Signal]:
        """Let time pass with the sensors as they were last seen."""
        for slot in self._slots.values():
            slot.poll(time_ms)
        return self._signals()

    def _signals(self) -> list[Signal]:
        initial = self._told is None
        if initial and (not self._read or any(self._slots[name].level is None for name in self._read)):
            return []
        occupied = tuple(number for number, slot in enumerate(self._slots.values(), 1) if slot.level)
        if occupied == self._told:
            return []
        self._told = occupied
        return [SlotsSeen(occupied, initial)]
