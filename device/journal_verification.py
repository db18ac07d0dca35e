"""Proves that a journal is whole and unaltered, or names the first event that is not.

The chain alone cannot tell that events were cut off at its end: compare `last_seq` and `last_hash` with the
central log's.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from device.event import GENESIS_HASH
from device.journal import JournalDamaged, JournalReader

PROGRESS_EVENTS: Final = 1_000


@dataclass(frozen=True)
class VerificationResult:
    """What a verification found. `last_seq` and `last_hash` are of the last event that is good."""

    last_seq: int
    """Also the number of events checked and found good: they start at 1 and have no hole."""
    last_hash: str
    table: str | None
    """None when there is no event."""
    first_bad_seq: int | None
    """None when everything is good."""
    what_is_wrong: str | None

    @property
    def is_good(self) -> bool:
        return self.what_is_wrong is None


def verify(reader: JournalReader, on_progress: Callable[[int, int], None]) -> VerificationResult:
    """Checks every event from 1 on: canonical form, hash, `seq` without a hole, `prev`, and one table
    throughout.

    `on_progress` is told (events checked, events in all) every PROGRESS_EVENTS and at the end. Raises
    JournalError when the file cannot be read for a reason other than damage.
    """
    last_seq, last_hash = 0, GENESIS_HASH
    table: str | None = None
    try:
        events_in_all = reader.last_seq
        for event in reader.events():
            last_seq, last_hash, table = event.seq, event.hash, event.table
            if last_seq % PROGRESS_EVENTS == 0:
                on_progress(last_seq, max(events_in_all, last_seq))
    except JournalDamaged as damage:
        bad_seq = damage.seq if damage.seq is not None else last_seq + 1
        return VerificationResult(last_seq, last_hash, table, bad_seq, damage.reason)
    on_progress(last_seq, last_seq)
    return VerificationResult(last_seq, last_hash, table, None, None)
