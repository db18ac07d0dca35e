"""Watches wall time against the monotonic clock: says when it was set, and when its quality has changed. Pure."""

from typing import Any, Final

from device.clock import Reading, wall_text

STEP_NS: Final = 500_000_000
"""Less than this is no step."""
SLEW_PER_MILLION: Final = 500
"""So fast may Linux let wall time run away from the monotonic clock to put it right; that is no step either."""
READING_NS_MAX: Final = 100_000_000
"""A reading that took longer was interrupted, and says nothing about how the clocks stand to each other."""
QUALITY_NS: Final = 60 * 1_000_000_000
"""A quality that flaps is told no more often than this."""

Entry = tuple[str, dict[str, Any]]


class ClockWatch:
    """One machine's clocks, looked at about once a second."""

    def __init__(self) -> None:
        # The monotonic and the wall time, and its quality, of the last reading that was to be trusted.
        self._last: tuple[int, int, str] | None = None
        self._quality: str | None = None
        self._told_ns: int | None = None

    def look(self, reading: Reading) -> list[Entry]:
        """What there is to be told since the reading before: `clock_stepped`, `clock_quality`.

        The first reading only says how things are. `by_ms` is how far wall time was moved, forward where it is more
        than 0; `before` is what it would say now had it not been moved, and `was` what its quality was.
        """
        return [*self._step(reading), *self._quality_changed(reading)]

    def _step(self, reading: Reading) -> list[Entry]:
        if reading.after_ns - reading.before_ns > READING_NS_MAX:
            return []
        mono_ns = (reading.before_ns + reading.after_ns) // 2
        last, self._last = self._last, (mono_ns, reading.wall_ns, reading.quality)
        if last is None:
            return []
        passed_ns = mono_ns - last[0]
        expected_ns = last[1] + passed_ns
        by_ns = reading.wall_ns - expected_ns
        if abs(by_ns) < STEP_NS + passed_ns * SLEW_PER_MILLION // 1_000_000:
            return []
        by_ms = (abs(by_ns) + 500_000) // 1_000_000 * (1 if by_ns > 0 else -1)
        told = {"by_ms": by_ms, "before": wall_text(expected_ns), "after": wall_text(reading.wall_ns), "was": last[2]}
        return [("clock_stepped", told)]

    def _quality_changed(self, reading: Reading) -> list[Entry]:
        if self._quality is None:
            self._quality = reading.quality
        if reading.quality == self._quality:
            return []
        if self._told_ns is not None and reading.after_ns - self._told_ns < QUALITY_NS:
            return []
        self._quality, self._told_ns = reading.quality, reading.after_ns
        return [("clock_quality", {"clock": reading.quality})]
