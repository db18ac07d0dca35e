"""How much of one kind is told within an hour, so that what flaps does not fill the journal. Pure."""

from collections import deque
from typing import Final

TOLD_PER_HOUR_MAX: Final = 10
"""More within an hour is counted by whoever asks, and told of when there is room again."""
HOUR_MS: Final = 3_600_000


class HourlyLimit:
    """Ten things within any hour."""

    def __init__(self) -> None:
        self._told_ms: deque[int] = deque(maxlen=TOLD_PER_HOUR_MAX)

    def has_room(self, now_ms: int) -> bool:
        """Whether one more may be told. `now_ms` is monotonic, as in every call."""
        return len(self._told_ms) < TOLD_PER_HOUR_MAX or now_ms - self._told_ms[0] >= HOUR_MS

    def note(self, now_ms: int) -> None:
        """One was told."""
        self._told_ms.append(now_ms)
