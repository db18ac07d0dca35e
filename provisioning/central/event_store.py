"""The receiver's store: one SQLite file with the log of every table, flushed before anyone is told of a write."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from device.event import GENESIS_HASH, Event
from device.uplink_protocol import PACK_BYTES_MAX
from provisioning.central.sqlite_store import StoreError, open_store, writing

_VERSION: Final = 1
# Marks the file as one of these ("BXCR").
_APPLICATION: Final = 0x42584352
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS log (
    id INTEGER PRIMARY KEY, site TEXT NOT NULL, name TEXT NOT NULL, UNIQUE (site, name)
) STRICT;
CREATE TABLE IF NOT EXISTS event (
    log INTEGER NOT NULL REFERENCES log (id), seq INTEGER NOT NULL, hash TEXT NOT NULL,
    line TEXT NOT NULL, PRIMARY KEY (log, seq)
) STRICT;
"""


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
        self._database = open_store(path, _APPLICATION, _VERSION, _TABLES, "the receiver's store")

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
        with writing(self._database, "the store"):
            self._append(site, table, expected, events)

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
