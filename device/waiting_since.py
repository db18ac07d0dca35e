"""Since when the oldest event that is not delivered has waited: its wall time, read from the journal when asked for."""

import json
from collections.abc import Callable

from device.journal import JournalError


class WaitingSince:
    """Knows the time of the event that it was asked for last, since it is asked for the same at every change."""

    def __init__(self, read: Callable[[int, int], list[str]]) -> None:
        """`read(first, limit)` gives the journal's lines from event `first` on."""
        self._read = read
        self._known: tuple[int, str] | None = None

    def __call__(self, seq: int) -> str | None:
        """When event `seq` happened (RFC 3339, UTC; the clock's quality aside); None: the journal does not say."""
        if self._known is None or self._known[0] != seq:
            try:
                lines = self._read(seq, 1)
            except JournalError:
                return None
            if not lines:
                return None
            self._known = (seq, json.loads(lines[0])["wall"])
        return self._known[1]
