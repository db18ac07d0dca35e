"""How far a journal may be pruned, and the state there: what takes its time, and is done beside the table."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Final

from device.checkpoint import CHECKPOINT
from device.event import Event
from device.journal import JournalReader
from device.recovery import beginning, replay
from device.session_snapshot import state_of

PRUNE_EVENTS_MAX: Final = 4_000
"""At once: the table waits until they are gone, and they must fit into the write-ahead log as it is (LOG_PAGES)."""


def prune_point(events: Iterable[Event], delivered: int, retention_days: int, now: str) -> Event | None:
    """The last event to go: the one before a checkpoint; None where none may. `now` is of a synced clock.

    `events` are all that there are, in order. Those up to `delivered` may go once they are older than the retention.
    Order is by `seq`: an event is as old as one behind it, and no older than one before it. So they go up to the first
    that is younger by any clock, and as far as one behind them, stamped by a synced clock, is old enough: a clock that
    was wrong once, back in another year, makes nothing old. One from the future tells nothing.
    """
    oldest = _days_before(now, retention_days)
    first_seq: int | None = None
    previous: Event | None = None
    candidate: Event | None = None
    point: Event | None = None
    for event in events:
        first_seq = event.seq if first_seq is None else first_seq
        is_within = previous is not None and previous.seq <= delivered and event.seq - first_seq <= PRUNE_EVENTS_MAX
        if event.type == CHECKPOINT and is_within:
            candidate = previous
        if event.wall <= now:
            if event.wall > oldest:
                break
            if event.clock == "synced":
                point = candidate
        if not is_within and previous is not None and point is candidate:
            break
        previous = event
    return point


def state_at(reader: JournalReader, seq: int) -> dict[str, Any]:
    """The state after event `seq`, which is in the journal (session_snapshot). Raises JournalError or ReplayError."""
    session, times = beginning(reader)
    for event in reader.events():
        replay(session, times, event)
        if event.seq == seq:
            break
    return state_of(session, times)


def _days_before(wall: str, days: int) -> str:
    moment = datetime.fromisoformat(wall).replace(tzinfo=None) - timedelta(days=days)
    return moment.isoformat(timespec="milliseconds") + "Z"
