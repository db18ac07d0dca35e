"""The session that a journal leads to: from a snapshot and the events after it, from its base, or from event 1."""

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from device.event import Event
from device.event_times import EventTimes
from device.journal import Journal, JournalDamaged, JournalError, JournalReader
from device.journal_base import BadBase, Witness
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
    then everything is replayed that was not pruned. `on_progress` gets (events read, events in all). Raises
    JournalError or ReplayError.
    """
    try:
        recovered = _from_snapshot(journal, file, on_progress)
        if recovered is not None:
            return recovered
    except (BadSnapshot, BadState, ReplayError) as reason:
        log.warning("%s is thrown away and the whole journal replayed: %s", file.path, reason)
        with suppress(OSError):
            file.discard()
    session, times = beginning(journal)
    witness = Witness(journal.base())
    for event in _noting_progress(journal.events(), journal.last_seq, on_progress):
        replay(session, times, event)
        witness.take(event, session.key)
    try:
        witness.check_end()
    except BadBase as error:
        raise JournalDamaged(journal.path, error.seq or journal.last_seq + 1, str(error)) from None
    return Recovered(session, times, 0)


def beginning(journal: Journal | JournalReader) -> tuple[Session, EventTimes]:
    """The session before the first event that is left: a new one, or that of the base. Raises JournalError."""
    base = journal.base()
    if base is None:
        return Session(), EventTimes()
    try:
        session, times = restore_state(json.loads(base.state), is_base=True)
    except ValueError as error:
        raise JournalError(
            f"{journal.path}: this program cannot read the base of event {base.seq}, which version {base.program} "
            f"wrote ({error}); start that version or a later one"
        ) from error
    if session.seq != base.seq:
        raise JournalDamaged(journal.path, base.seq, f"the base that stands for it holds the state of {session.seq}")
    return session, times


def replay(session: Session, times: EventTimes, event: Event) -> None:
    """Take on the event that comes next. Raises ReplayError."""
    session.replay(event.seq, event.type, event.data)
    times.note(event)


def _from_snapshot(journal: Journal, file: SnapshotFile, on_progress: OnProgress) -> Recovered | None:
    snapshot = file.read()
    if snapshot is None:
        return None
    if snapshot.seq > journal.last_seq:
        raise BadSnapshot(f"is of event {snapshot.seq}, but the journal ends at event {journal.last_seq}")
    base = journal.base()
    if base is not None and snapshot.seq <= base.seq:
        raise BadSnapshot(f"is of event {snapshot.seq}, but events 1 to {base.seq} were pruned")
    events = journal.events(snapshot.seq)
    if next(events).hash != snapshot.hash:
        raise BadSnapshot(f"is of another journal: its event {snapshot.seq} has another hash")
    session, times = restore_state(snapshot.state)
    if session.seq != snapshot.seq:
        raise BadSnapshot(f"is of event {snapshot.seq}, but its state of event {session.seq}")
    for event in _noting_progress(events, journal.last_seq, on_progress):
        replay(session, times, event)
    return Recovered(session, times, snapshot.seq)


def _noting_progress(events: Iterator[Event], last_seq: int, on_progress: OnProgress) -> Iterator[Event]:
    for event in events:
        yield event
        if event.seq % PROGRESS_EVENTS == 0:
            on_progress(event.seq, last_seq)
