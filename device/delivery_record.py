"""How far the journal is known to be delivered, kept over a restart in a small SQLite file of its own.

The file is a memory, not a source of truth: on every connect the uplink asks the central log where it ends. The
file lets the console say at once how much is undelivered, and lets a central log that lost its tail be noticed.
So WAL with synchronous=NORMAL is enough: a power cut may take the last writes back, the file then understates
what was delivered, and the next connect puts that right. Acknowledgements thus cost the disk no flush.
"""

import logging
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

log = logging.getLogger(__name__)

DELIVERY_FILE = "delivery.db"
"""In the data folder."""


@dataclass(frozen=True)
class Delivered:
    """The last event (`seq`) that a target acknowledged, and the target's own number for it; 0 for none."""

    seq: int
    log_sequence: int


class DeliveryRecord:
    """The record of what each target (for example "nats") has acknowledged. Used from one thread."""

    def __init__(self, path: Path) -> None:
        """Open or make the file. What it said is found out again from the log, so nothing here stops a table.

        A damaged file is replaced. Where there is something else in its place, or it cannot be written, the record
        is kept in memory and a warning says so.
        """
        try:
            self._database = _opened_or_made_anew(path)
        except (sqlite3.Error, OSError) as error:
            log.warning("%s cannot be used (%s); what is delivered is kept in memory until the end", path, error)
            self._database = _open(":memory:")

    def read(self, target: str) -> Delivered:
        """Return what `target` is known to have."""
        row = self._database.execute("SELECT seq, log_sequence FROM delivered WHERE target = ?", (target,)).fetchone()
        return Delivered(*row) if row else Delivered(seq=0, log_sequence=0)

    def set(self, target: str, seq: int, log_sequence: int) -> None:
        """Keep that `target` has every event up to `seq`. Raises sqlite3.Error if it is not written."""
        self._database.execute(
            "INSERT OR REPLACE INTO delivered (target, seq, log_sequence) VALUES (?, ?, ?)",
            (target, seq, log_sequence),
        )

    def close(self) -> None:
        """Close the file."""
        self._database.close()


def alert_if_journal_is_shorter(delivered: Delivered, last_seq: int, on_alert: Callable[[str, str], None]) -> None:
    """Tell `on_alert` (code, text) when the journal, as it was at the start, lacks events that were delivered.

    Its disk may have been replaced, which is no reason to keep a table from starting; nor must it go unseen.
    """
    if last_seq < delivered.seq:
        text = (
            f"the journal ends at event {last_seq}, though event {delivered.seq} was delivered before: "
            "it was lost, cut or replaced; only the central log has the missing events"
        )
        log.warning("journal_shorter_than_delivered: %s", text)
        on_alert("journal_shorter_than_delivered", text)


def _opened_or_made_anew(path: Path) -> sqlite3.Connection:
    # SQLite would not always say so of a pipe or a folder, and neither is ours to replace.
    if path.exists() and not path.is_file():
        raise OSError("it is no file")
    try:
        return _open(path)
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        log.warning("%s is damaged (%s) and is made anew", path.name, error)
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        return _open(path)


def _open(path: Path | str) -> sqlite3.Connection:
    # No waiting: this runs in the event loop, and a record that is locked for a moment is written at the next delivery.
    database = sqlite3.connect(path, isolation_level=None, timeout=0)
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute(
            "CREATE TABLE IF NOT EXISTS delivered"
            " (target TEXT PRIMARY KEY, seq INTEGER NOT NULL, log_sequence INTEGER NOT NULL) WITHOUT ROWID"
        )
        for numbers in database.execute("SELECT seq, log_sequence FROM delivered"):
            if not all(type(number) is int and number >= 0 for number in numbers):
                raise sqlite3.DatabaseError("a number in it is none")
    except sqlite3.Error:
        database.close()
        raise
    return database
