"""Whether a lid or a door is shut, from its switch."""

from collections.abc import Callable, Mapping

from drivers.debounce import Debouncer
from drivers.signals import DoorClosed, DoorOpened, ReserveClosed, ReserveOpened, Signal


class ClosureDecoder:
    """A closed contact is a shut lid or door; the first settled state, also after it could not be read, is `initial`.

    Make one by `lid_decoder` or `door_decoder`.
    """

    half_done = False

    def __init__(
        self, name: str, opened: Callable[[bool], Signal], closed: Callable[[bool], Signal], settle_ms: int
    ) -> None:
        """`name` is the input; `opened` and `closed` are given `initial`."""
        self._name = name
        self._opened = opened
        self._closed = closed
        self._settle_ms = settle_ms
        self._contact = Debouncer(settle_ms)
        self._known = False

    @property
    def unsettled(self) -> bool:
        """Whether time alone may still bring a signal."""
        return not self._contact.settled

    def feed(self, time_ms: int, active: Mapping[str, bool]) -> list[Signal]:
        """Take one reading of the input; without it, nobody knows how the lid or the door is."""
        if self._name not in active:
            self._contact = Debouncer(self._settle_ms)
            self._known = False
            return []
        return self._signals(self._contact.feed(time_ms, active[self._name]))

    def poll(self, time_ms: int) -> list[Signal]:
        """Let time pass with the switch as it was last seen."""
        return self._signals(self._contact.poll(time_ms))

    def _signals(self, changed: bool) -> list[Signal]:
        if not changed:
            return []
        initial = not self._known
        self._known = True
        return [self._closed(initial) if self._contact.level else self._opened(initial)]


def lid_decoder(settle_ms: int) -> ClosureDecoder:
    """Of the lid of the dice reserve, on the input `lid`."""
    return ClosureDecoder("lid", ReserveOpened, ReserveClosed, settle_ms)


def door_decoder(settle_ms: int) -> ClosureDecoder:
    """Of the cabinet's door, on the input `door`."""
    return ClosureDecoder("door", DoorOpened, DoorClosed, settle_ms)
