"""Watches wall time against the monotonic clock: says when it was set, and when its quality has changed. Pure."""

from typing import Any, Final

from device.clock import Reading, wall_text
from device.hourly_limit import HOUR_MS, HourlyLimit

STEP_NS: Final = 500_000_000
"""Less than this is no step, nor are many that come to less within an hour."""
SLEW_PER_MILLION: Final = 500
"""So fast may Linux let wall time run away from the monotonic clock to put it right; that is no step either."""
ANCHOR_NS: Final = HOUR_MS * 1_000_000
"""So long are the clocks held against how they stood to each other."""
READING_NS_MAX: Final = 100_000_000
"""A reading that took longer was interrupted, and says nothing about how the clocks stand to each other."""
QUALITY_NS: Final = 60 * 1_000_000_000
"""A quality that flaps is told no more often than this."""

Entry = tuple[str, dict[str, Any]]
# The monotonic and the wall time of a reading, and its quality.
_Mark = tuple[int, int, str]


class ClockWatch:
    """One machine's clocks, looked at about once a second."""

    def __init__(self) -> None:
        # The last reading that was to be trusted; and the first since the last step, an hour old at most.
        self._last: _Mark | None = None
        self._anchor: _Mark | None = None
        self._limit = HourlyLimit()
        # Steps that there was no room to tell of, and how far they moved wall time in all.
        self._untold = 0
        self._untold_ns = 0
        self._quality: str | None = None
        self._told_ns: int | None = None

    def look(self, reading: Reading) -> list[Entry]:
        """What there is to be told since the reading before: `clock_stepped`, `clock_quality`.

        The first reading only says how things are. `by_ms` is how far wall time was moved, forward where it is more
        than 0; `before` is what it would say now had it not been moved, and `was` what its quality was. Small steps
        that add up are told as one. More steps than an hour has room for are told in sum: `untold` of them, by `by_ms`
        in all.
        """
        return [*self._step(reading), *self._quality_changed(reading)]

    def _step(self, reading: Reading) -> list[Entry]:
        if reading.after_ns - reading.before_ns > READING_NS_MAX:
            return []
        now = ((reading.before_ns + reading.after_ns) // 2, reading.wall_ns, reading.quality)
        last, self._last = self._last, now
        if last is None or self._anchor is None:
            self._anchor = now
            return []
        # One step is told as far as it was; against the anchor, there is also what was slewed since.
        since = next((mark for mark in (last, self._anchor) if _is_step(mark, now)), None)
        if since is not None or now[0] - self._anchor[0] >= ANCHOR_NS:
            self._anchor = now
        has_room = self._limit.has_room(now[0] // 1_000_000)
        if since is not None and (self._untold or not has_room):
            self._untold += 1
            self._untold_ns += _moved_ns(since, now)
        if not has_room or (since is None and not self._untold):
            return []
        self._limit.note(now[0] // 1_000_000)
        if self._untold:
            summed = {"untold": self._untold, "by_ms": _milliseconds(self._untold_ns)}
            self._untold = self._untold_ns = 0
            return [("clock_stepped", summed)]
        assert since is not None
        by_ns = _moved_ns(since, now)
        before, after = wall_text(now[1] - by_ns), wall_text(now[1])
        return [("clock_stepped", {"by_ms": _milliseconds(by_ns), "before": before, "after": after, "was": since[2]})]

    def _quality_changed(self, reading: Reading) -> list[Entry]:
        if self._quality is None:
            self._quality = reading.quality
        if reading.quality == self._quality:
            return []
        if self._told_ns is not None and reading.after_ns - self._told_ns < QUALITY_NS:
            return []
        self._quality, self._told_ns = reading.quality, reading.after_ns
        return [("clock_quality", {"clock": reading.quality})]


def _moved_ns(since: _Mark, now: _Mark) -> int:
    """How far wall time was moved, forward where it is more than 0."""
    return (now[1] - since[1]) - (now[0] - since[0])


def _is_step(since: _Mark, now: _Mark) -> bool:
    return abs(_moved_ns(since, now)) >= STEP_NS + (now[0] - since[0]) * SLEW_PER_MILLION // 1_000_000


def _milliseconds(duration_ns: int) -> int:
    """Rounded to the nearest, whatever the sign."""
    return (abs(duration_ns) + 500_000) // 1_000_000 * (-1 if duration_ns < 0 else 1)
