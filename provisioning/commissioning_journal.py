"""The record of a commissioning in the table's journal, from which it is delivered to the centre like any event."""

from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

from device.checkpoint import CHECKPOINT, sign_entries
from device.clock import Clock
from device.commissioning.report import COMMISSIONED
from device.data_folder import DataFolder
from device.event import Event
from device.journal import Journal, JournalReader
from device.journal_base import ADOPTED
from device.table_key import TableKey
from provisioning.command_failed import CommandFailed

_BACK_EVENTS: Final = 1_000


def check_journal(folder: DataFolder, table: str, key: TableKey) -> None:
    """Raises CommandFailed unless a report of this unit can go into the journal, JournalError where it is damaged."""
    if not folder.journal_path.exists():
        raise CommandFailed(
            f"{folder.journal_path}: there is no journal yet; start the terminal once, which makes it and tests "
            "itself, and stop it again"
        )
    with JournalReader(folder.journal_path) as reader:
        last = _last_of(reader, ("started", ADOPTED))
    if last is None or last.type == ADOPTED:
        raise CommandFailed(
            f"{folder.journal_path}: this unit has not been started with it yet; start the terminal once, and stop it"
        )
    if last.table != table:
        raise CommandFailed(f"{folder.journal_path}: is the journal of table {last.table}, not of {table}")
    if last.data.get("key") != key.public:
        raise CommandFailed(
            f"{folder.journal_path}: its last start names the key {last.data.get('key')}, but this unit's is "
            f"{key.public}; start the terminal once, and see what it says"
        )


def _last_of(reader: JournalReader, kinds: tuple[str, ...]) -> Event | None:
    """The last event of one of these types."""
    base = reader.base()
    first, end = 1 if base is None else base.seq + 1, reader.last_seq
    while end >= first:
        begin = max(first, end - _BACK_EVENTS + 1)
        events = islice(reader.events(begin), end - begin + 1)
        if found := [event for event in events if event.type in kinds]:
            return found[-1]
        end = begin - 1
    return None


def record(folder: DataFolder, table: str, key: TableKey, said: Mapping[str, Any], after_seq: int, clock: Clock) -> int:
    """Append a signed report to the journal, unless it is there behind event `after_seq`; the number of its event.

    It is signed for at once. Raises JournalError.
    """
    with Journal.open(folder.journal_path, table) as journal:
        for event in journal.events(after_seq + 1):
            if event.type == COMMISSIONED and event.data == said:
                return event.seq
        stamp, entries = clock.stamp(), [(COMMISSIONED, dict(said))]
        checkpoint = sign_entries(key, table, entries, stamp, journal.last_seq, journal.last_hash)
        return journal.append([*entries, (CHECKPOINT, checkpoint.data())], stamp)[0].seq
