"""How far the journal is known to be delivered, kept over a restart in a small SQLite file of its own.

The file is a memory, not a source of truth: on every connect the uplink asks the central log where it ends. The
file lets the console say at once how much is undelivered, and lets a central log that lost its tail be noticed.
So WAL with synchronous=NORMAL is enough: a power cut may take the last writes back, the file then understates
what was delivered, and the next connect puts that right. Acknowledgements thus cost the disk no flush.
"""

import logging
import sqlite3
from dataclasses import dataclass
from pathlib import Path

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Delivered:
    """The last event (`seq`) that a target acknowledged, and the target's own number for it; 0 for none."""

    seq: int
    log_sequence: int


class DeliveryRecord:
    """The record of what each target (for example "nats") has acknowledged. Used from one thread."""

    def __init__(self, path: Path) -> None:
        """Open or make the file. A damaged one is replaced: what it said is found out again from the log."""
        try:
            self._database = _open(path)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            log.warning("%s is damaged (%s) and is made anew", path.name, error)
            for suffix in ("", "-wal", "-shm"):
                path.with_name(path.name + suffix).unlink(missing_ok=True)
            self._database = _open(path)

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


def _open(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, isolation_level=None)
    try:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute(
            "CREATE TABLE IF NOT EXISTS delivered"
            " (target TEXT PRIMARY KEY, seq INTEGER NOT NULL, log_sequence INTEGER NOT NULL) WITHOUT ROWID"
        )
    except sqlite3.Error:
        database.close()
        raise
    return database
