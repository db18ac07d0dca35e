"""A progress bar on the terminal for work that may take more than a moment."""

import sys
import time

AFTER_S = 1.0
BAR_WIDTH = 30


class ProgressBar:
    """Shows how far a piece of work is, on standard error when that is a terminal, once it has taken a second."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._started = time.monotonic()
        self._shown = False

    def __call__(self, done: int, whole: int) -> None:
        """Say that `done` of `whole` is done."""
        if not sys.stderr.isatty() or whole < 1 or time.monotonic() - self._started < AFTER_S:
            return
        filled = BAR_WIDTH * done // whole
        bar = "#" * filled + "." * (BAR_WIDTH - filled)
        print(f"\r{self._what} [{bar}] {100 * done // whole} %", end="", file=sys.stderr, flush=True)
        self._shown = True

    def close(self) -> None:
        """End the line, if one was begun."""
        if self._shown:
            print(file=sys.stderr)
            self._shown = False
