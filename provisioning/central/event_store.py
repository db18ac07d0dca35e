"""The receiver's store: one SQLite file with the log of every table, flushed before anyone is told of a write."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from device.event import GENESIS_HASH, Event
from device.uplink_protocol import PACK_BYTES_MAX

_VERSION: Final = 1
# Marks the file as one of these ("BXCR").
_APPLICATION: Final = 0x42584352
BUSY_TIMEOUT_S: Final = 5.0


class StoreError(Exception):
    """The store cannot be used; the text says why in one line."""


@dataclass(frozen=True)
class End:
    """The last event of a table's log; `EMPTY` when there is none."""

    seq: int
    hash: str
    line: str | None


EMPTY: Final = End(0, GENESIS_HASH, None)


class NotContinued(Exception):
    """The events do not follow the log's last one; nothing was written."""

    def __init__(self, end: End) -> None:
        super().__init__(f"the log ends at event {end.seq} with hash {end.hash}")
        self.end: Final = end


class EventStore:
    """All tables' logs. Used from one thread after the other, never from two at once."""

    def __init__(self, path: Path) -> None:
        """Open the file or make it. Raises StoreError."""
        try:
            self._database = sqlite3.connect(
                path, isolation_level=None, timeout=BUSY_TIMEOUT_S, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise StoreError(f"{path}: cannot be opened ({error}); it should be the receiver's store") from error
        try:
            self._prepare()
        except (sqlite3.Error, StoreError) as error:
            self._database.close()
            raise StoreError(f"{path}: {error}; it should be the receiver's store, or not exist yet") from error

    def _prepare(self) -> None:
        (application,) = self._database.execute("PRAGMA application_id").fetchone()
        (version,) = self._database.execute("PRAGMA user_version").fetchone()
        (tables,) = self._database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables and (application, version) != (_APPLICATION, _VERSION):
            raise StoreError("is another database, or of another version")
        self._database.execute("PRAGMA journal_mode = WAL")
        # In WAL mode, FULL flushes at every commit.
        self._database.execute("PRAGMA synchronous = FULL")
        self._database.executescript(
            f"""
            BEGIN IMMEDIATE;
            CREATE TABLE IF NOT EXISTS log (
                id INTEGER PRIMARY KEY, site TEXT NOT NULL, name TEXT NOT NULL, UNIQUE (site, name)
            ) STRICT;
            CREATE TABLE IF NOT EXISTS event (
                log INTEGER NOT NULL REFERENCES log (id), seq INTEGER NOT NULL, hash TEXT NOT NULL,
                line TEXT NOT NULL, PRIMARY KEY (log, seq)
            ) STRICT;
            PRAGMA application_id = {_APPLICATION};
            PRAGMA user_version = {_VERSION};
            COMMIT;
            """
        )

    def end(self, site: str, table: str) -> End:
        """Where a table's log ends. Raises StoreError."""
        try:
            return self._end(site, table)
        except sqlite3.Error as error:
            raise StoreError(f"the store cannot be read ({error})") from error

    def lines(self, site: str, table: str, first: int, limit: int) -> list[str]:
        """Up to `limit` events of a table's log from event `first` on, in order. Raises StoreError.

        Of them only those that begin within `PACK_BYTES_MAX` characters, since each may be half a MiB long.
        """
        lines: list[str] = []
        room = PACK_BYTES_MAX
        try:
            rows = self._database.execute(
                "SELECT line FROM event JOIN log ON log.id = event.log"
                " WHERE site = ? AND name = ? AND seq >= ? ORDER BY seq LIMIT ?",
                (site, table, first, limit),
            )
            with closing(rows):
                while room >= 0 and (row := rows.fetchone()):
                    lines.append(row[0])
                    room -= len(row[0])
        except sqlite3.Error as error:
            raise StoreError(f"the store cannot be read ({error})") from error
        return lines

    def append(self, site: str, table: str, expected: str, events: Sequence[Event]) -> None:
        """Write events, chained among themselves, to the end of a log that ends with the hash `expected`.

        They are on the disk when this returns. Raises NotContinued or StoreError, and has written nothing then.
        """
        try:
            self._database.execute("BEGIN IMMEDIATE")
            try:
                self._append(site, table, expected, events)
                self._database.execute("COMMIT")
            except BaseException:
                # A full disk has undone it already.
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise StoreError(f"the store cannot be written ({error})") from error

    def _append(self, site: str, table: str, expected: str, events: Sequence[Event]) -> None:
        end = self._end(site, table)
        if end.hash != expected or events[0].seq != end.seq + 1:
            raise NotContinued(end)
        self._database.execute("INSERT OR IGNORE INTO log (site, name) VALUES (?, ?)", (site, table))
        (log,) = self._database.execute("SELECT id FROM log WHERE site = ? AND name = ?", (site, table)).fetchone()
        self._database.executemany(
            "INSERT INTO event (log, seq, hash, line) VALUES (?, ?, ?, ?)",
            [(log, event.seq, event.hash, event.line()) for event in events],
        )

    def _end(self, site: str, table: str) -> End:
        row = self._database.execute(
            "SELECT seq, hash, line FROM event JOIN log ON log.id = event.log"
            " WHERE site = ? AND name = ? ORDER BY seq DESC LIMIT 1",
            (site, table),
        ).fetchone()
        return End(*row) if row else EMPTY

    def close(self) -> None:
        """Close the file."""
        self._database.close()
