"""A replaced unit's history: taken from the central log, proved, and put where the new unit's journal begins.

The new unit has a key of its own and goes on after the last event that the centre holds. What the former unit had not
delivered is not there; should that unit come back, its key is in no list any more, and its journal is another one than
the log's from the `adopted` event on, so that it is fenced.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from device.central_history import CentralHistory
from device.clock import Clock
from device.data_folder import DataFolder, give_to_owner, sync_folder
from device.event import GENESIS_HASH, BadEvent, Event, parse
from device.journal import Journal
from device.journal_base import ADOPTED
from device.journal_files import bytes_in, log_path
from device.journal_verification import SignatureCheck, Unproven
from device.uplink_protocol import EMPTY_LOG, LogEnd


class NotAdopted(Exception):
    """The history cannot be taken over; the text says why. The journal's place is as it was."""


class HistoryCopy:
    """Takes a log's messages in order, proves them, and writes them into a journal that has nothing yet."""

    def __init__(self, journal: Journal, site: str) -> None:
        self._journal = journal
        self._site = site
        self._signatures = SignatureCheck()

    def take(self, payload: bytes) -> None:
        """Raises NotAdopted at the first event that the former unit cannot have written so."""
        events: list[Event] = []
        seq, hash = self._journal.last_seq, self._journal.last_hash
        for line in payload.split(b"\n"):
            seq += 1
            event = self._proved(line, seq, hash)
            hash = event.hash
            events.append(event)
        self._journal.append_sealed(events)

    def former_key(self) -> str:
        """The key of the unit that wrote it, once it is whole. Raises NotAdopted when it may not end where it does."""
        try:
            # What the former unit has pruned from its own journal is in this one.
            self._signatures.check_end()
        except Unproven as error:
            raise NotAdopted(f"event {self._journal.last_seq} of the central log: {error}") from error
        if self._signatures.site != self._site:
            raise NotAdopted(f"the central log is of site {self._signatures.site!r}, not of {self._site!r}")
        assert self._signatures.key is not None
        return self._signatures.key

    def _proved(self, line: bytes, seq: int, prev: str) -> Event:
        try:
            event = parse(line.decode("utf-8"))
        except (UnicodeDecodeError, BadEvent) as error:
            raise NotAdopted(f"event {seq} of the central log: {error}") from None
        if (event.seq, event.prev) != (seq, prev):
            raise NotAdopted(f"event {seq} of the central log: does not follow the one before")
        if event.table != self._journal.table_name:
            raise NotAdopted(f"event {seq} of the central log: is of table {event.table!r}")
        try:
            self._signatures.take(event)
        except Unproven as error:
            raise NotAdopted(f"event {seq} of the central log: {error}") from error
        return event


async def adopt(
    folder: DataFolder,
    centrals: Sequence[CentralHistory],
    *,
    site: str,
    table: str,
    key: str,
    clock: Clock,
    on_progress: Callable[[int, int], None],
) -> int:
    """Make the journal from the table's log, for the unit with this public key; return its last event.

    Where the table delivers to several `centrals`, the log that goes farthest is taken: the others are beginnings of
    it. `on_progress` is told (events taken, events in the log). A cut leaves no journal, or the whole one. Raises
    NotAdopted, CentralUnreadable or JournalError.
    """
    if folder.journal_path.exists():
        raise NotAdopted(f"{folder.journal_path}: this unit has a journal already; only a new unit takes over a table")
    ends = [(await each.end(), each) for each in centrals]
    _, central = max(ends, key=lambda known: known[0].seq)
    unfinished = folder.journal_path.with_name(f"{folder.journal_path.name}.adopting")
    _remove(unfinished)
    with closing(Journal.open(unfinished, table)) as journal:
        copy = HistoryCopy(journal, site)

        def take(payload: bytes, end: LogEnd) -> None:
            copy.take(payload)
            on_progress(journal.last_seq, max(end.seq, journal.last_seq))

        end = await central.read(take)
        if end == EMPTY_LOG or journal.last_hash == GENESIS_HASH:
            raise NotAdopted(
                f"the central log holds nothing under {central.name}; a table without a history just starts"
            )
        for other_end, other in ends:
            own = journal.read(other_end.seq, 1) if other_end.seq else []
            if other_end != EMPTY_LOG and own != [other_end.line]:
                raise NotAdopted(f"event {other_end.seq} under {other.name} is not the one under {central.name}")
        former = copy.former_key()
        if former == key:
            raise NotAdopted(f"the central log was written with this unit's own key {key}; it is not a new unit's")
        said = {"through": journal.last_seq, "hash": journal.last_hash, "former_key": former, "key": key}
        last = journal.append([(ADOPTED, said)], clock.stamp())[-1].seq
    if bytes_in(log_path(unfinished)) > 0:
        raise NotAdopted(f"{unfinished}: cannot be closed, another program reads it; end that program and try again")
    _give_to_owner(unfinished, folder.path)
    unfinished.rename(folder.journal_path)
    sync_folder(folder.path.absolute())
    return last


def _give_to_owner(unfinished: Path, folder: Path) -> None:
    """Its -wal and -shm went when it was closed."""
    descriptor = os.open(unfinished, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        give_to_owner(descriptor, folder)
    finally:
        os.close(descriptor)


def _remove(unfinished: Path) -> None:
    """What an attempt that was cut off has left."""
    for suffix in ("", "-wal", "-shm"):
        unfinished.with_name(unfinished.name + suffix).unlink(missing_ok=True)
