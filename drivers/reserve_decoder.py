"""Whether the lid of the dice reserve is shut, from its switch."""

from collections.abc import Mapping

from drivers.debounce import Debouncer
from drivers.signals import ReserveClosed, ReserveOpened, Signal


class ReserveDecoder:
    """A closed contact is a shut lid; the first settled state, also after it could not be read, is `initial`."""

    half_done = False

    def __init__(self, *, settle_ms: int) -> None:
        self._settle_ms = settle_ms
        self._lid = Debouncer(settle_ms)
        self._known = False

    @property
    def unsettled(self) -> bool:
        """Whether time alone may still bring a signal."""
        return not self._lid.settled

    def feed(self, time_ms: int, active: Mapping[str, bool]) -> list[Signal]:
        """Take one reading of the input `lid`; without it, nobody knows how the lid is."""
        if "lid" not in active:
            self._lid = Debouncer(self._settle_ms)
            self._known = False
            return []
        return self._signals(self._lid.feed(time_ms, active["lid"]))

    def poll(self, time_ms: int) -> list[Signal]:
        """Let time pass with the switch as it was last seen."""
        return self._signals(self._lid.poll(time_ms))

    def _signals(self, changed: bool) -> list[Signal]:
        if not changed:
            return []
        initial = not self._known
        self._known = True
        return [ReserveClosed(initial) if self._lid.level else ReserveOpened(initial)]
