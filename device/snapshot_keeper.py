"""Keeps a snapshot of the session up to date, in a thread of its own: the table waits only while it is taken."""

import logging
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from device.event import Event
from device.event_times import EventTimes
from device.session import Session
from device.session_snapshot import state_of
from device.snapshot_file import Snapshot, SnapshotFile

SNAPSHOT_EVENTS: Final = 2_000
"""So many events later, the next snapshot: no start replays many more, which a small computer does in a second."""

log = logging.getLogger(__name__)


class SnapshotKeeper:
    """What it fails to write is missing at the next start, which then takes longer: a failure stops nothing."""

    def __init__(self, file: SnapshotFile, seq: int) -> None:
        """`seq` is the event of the snapshot that is there, 0 where there is none."""
        self._file = file
        self._seq = seq
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="snapshot")
        self._writing: Future[None] | None = None
        self._is_given_up = False

    def note(self, session: Session, times: EventTimes, event: Event) -> None:
        """The session is now what the journal leads to up to `event`, which is on the disk. Does not wait."""
        if event.seq - self._seq >= SNAPSHOT_EVENTS and (self._writing is None or self._writing.done()):
            self._begin(session, times, event)

    def stop(self, session: Session, times: EventTimes, event: Event) -> None:
        """Nothing follows `event` in this run: returns when its snapshot is on the disk."""
        self._begin(session, times, event)
        self.close()

    def give_up(self) -> None:
        """What is kept is wrong: it is thrown away and no other is written in this run. Does not wait."""
        self._is_given_up = True
        self._writer.submit(self._file.discard).add_done_callback(self._log_failure)

    def close(self) -> None:
        """Returns when a snapshot that is being written is on the disk. Closing twice does nothing."""
        self._writer.shutdown()

    def _begin(self, session: Session, times: EventTimes, event: Event) -> None:
        if self._is_given_up:
            return
        # Also when it then fails: tried again with every event, a full disk would keep the table busy.
        self._seq = event.seq
        self._writing = self._writer.submit(self._file.write, Snapshot(event.seq, event.hash, state_of(session, times)))
        self._writing.add_done_callback(self._log_failure)

    def _log_failure(self, writing: "Future[None]") -> None:
        if (error := writing.exception()) is not None:
            log.error("no snapshot was written, or thrown away: %s", error)
