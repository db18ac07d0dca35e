"""Debouncing of one line. Runs on the table and, unchanged, under MicroPython on the I/O node."""


class Debouncer:
    """Takes a level over once it has been seen unchanged for `settle_ms`; with 0, at once.

    Only levels count. An edge is a reason to feed earlier and nothing more, so no lost edge can leave a button held.
    `level` is None until the first level has settled.
    """

    def __init__(self, settle_ms: int) -> None:
        self.level: bool | None = None
        self._settle_ms = settle_ms
        self._candidate: bool | None = None
        self._since_ms = 0

    @property
    def settled(self) -> bool:
        """Whether the line as it was last seen is what `level` says."""
        return self._candidate == self.level

    def feed(self, time_ms: int, level: bool) -> bool:
        """Take one reading; say whether `level` changed. Times are milliseconds that never go back."""
        if level != self._candidate:
            self._candidate = level
            self._since_ms = time_ms
        return self.poll(time_ms)

    def poll(self, time_ms: int) -> bool:
        """Let time pass with the line as it was last seen; say whether `level` changed."""
        if self._candidate == self.level or time_ms - self._since_ms < self._settle_ms:
            return False
        self.level = self._candidate
        return True
