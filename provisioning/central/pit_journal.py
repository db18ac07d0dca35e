"""The pit's own journal: what it holds, and how it is verified. It is chained as a table's is, and nothing signs it."""

from collections.abc import Callable
from typing import Final

from device.event import GENESIS_HASH
from device.journal import JournalDamaged, JournalReader
from device.journal_verification import PROGRESS_EVENTS

JOURNAL_NAME: Final = "pit"
KIND: Final = "alert_seen"
_FOREIGN: Final = "is none of the pit's, which are of alerts that were seen"


def is_pit_journal(reader: JournalReader) -> bool:
    """Whether a journal begins as the pit's does. Raises JournalError when it cannot be read."""
    try:
        if reader.base() is not None:
            return False
        first = next(reader.events(), None)
    except JournalDamaged:
        return False
    return first is not None and (first.table, first.type) == (JOURNAL_NAME, KIND)


def verify_pit_journal(reader: JournalReader, on_progress: Callable[[int, int], None]) -> tuple[int, str]:
    """Its last event and that one's hash, once every event was found canonical, chained, and the pit's.

    Raises JournalDamaged with the first that is not. `on_progress` is told (events checked, events in all).
    """
    seq, last_hash = 0, GENESIS_HASH
    events_in_all = reader.last_seq
    for event in reader.events():
        if event.type != KIND:
            raise JournalDamaged(reader.path, event.seq, _FOREIGN)
        seq, last_hash = event.seq, event.hash
        if seq % PROGRESS_EVENTS == 0:
            on_progress(seq, max(events_in_all, seq))
    on_progress(seq, seq)
    return seq, last_hash
