"""The session that a journal leads to: from a snapshot and the events after it, or from event 1."""

import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from device.event import Event
from device.event_times import EventTimes
from device.journal import Journal
from device.session import ReplayError, Session
from device.session_snapshot import BadState, restore_state
from device.snapshot_file import BadSnapshot, SnapshotFile

PROGRESS_EVENTS = 1_000

log = logging.getLogger(__name__)

OnProgress = Callable[[int, int], None]


@dataclass(frozen=True)
class Recovered:
    """The session, since when things are as they are, and the event of the snapshot it came from (0: of none)."""

    session: Session
    times: EventTimes
    snapshot_seq: int


def recover(journal: Journal, file: SnapshotFile, on_progress: OnProgress) -> Recovered:
    """The session that the journal leads to. Every event after the snapshot's is checked on the way.

    Those before it are not looked at, which a table with a million of them has no time for: a verification does that.
    A snapshot that does not fit the journal is thrown away, and so is one that the events after it do not follow from;
    then everything is replayed. `on_progress` gets (events read, events in all). Raises JournalError or ReplayError.
    """
    try:
        recovered = _from_snapshot(journal, file, on_progress)
        if recovered is not None:
            return recovered
    except (BadSnapshot, BadState, ReplayError) as reason:
        log.warning("%s is thrown away and the whole journal replayed: %s", file.path, reason)
        with suppress(OSError):
            file.discard()
    session, times = Session(), EventTimes()
    _replay(session, times, journal.events(), journal.last_seq, on_progress)
    return Recovered(session, times, 0)


def _from_snapshot(journal: Journal, file: SnapshotFile, on_progress: OnProgress) -> Recovered | None:
    snapshot = file.read()
    if snapshot is None:
        return None
    if snapshot.seq > journal.last_seq:
        raise BadSnapshot(f"is of event {snapshot.seq}, but the journal ends at event {journal.last_seq}")
    events = journal.events(snapshot.seq)
    if next(events).hash != snapshot.hash:
        raise BadSnapshot(f"is of another journal: its event {snapshot.seq} has another hash")
    session, times = restore_state(snapshot.state)
    if session.seq != snapshot.seq:
        raise BadSnapshot(f"is of event {snapshot.seq}, but its state of event {session.seq}")
    _replay(session, times, events, journal.last_seq, on_progress)
    return Recovered(session, times, snapshot.seq)


def _replay(
    session: Session, times: EventTimes, events: Iterator[Event], last_seq: int, on_progress: OnProgress
) -> None:
    for event in events:
        session.replay(event.seq, event.type, event.data)
        times.note(event)
        if event.seq % PROGRESS_EVENTS == 0:
            on_progress(event.seq, last_seq)
