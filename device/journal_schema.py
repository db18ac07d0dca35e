"""What a journal's database holds: its tables and triggers, and how one of an older version becomes one of this.

Version 2 added the base (`device.journal_base`), so that delivered events can be pruned.
"""

import sqlite3
from typing import Final

APPLICATION_ID: Final = 0x626F786D
"""`boxm` in ASCII, in the database's header."""

SCHEMA_VERSION: Final = 2

_EVENTS: Final = "CREATE TABLE events(seq INTEGER PRIMARY KEY, event TEXT NOT NULL) STRICT"
_EVENTS_NO_UPDATE: Final = (
    "CREATE TRIGGER events_no_update BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are never changed'); END"
)
# Also stops INSERT OR REPLACE, for which the trigger before a deletion is not run.
_EVENTS_IN_ORDER: Final = (
    "CREATE TRIGGER events_in_order BEFORE INSERT ON events"
    " WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM events)"
    " BEGIN SELECT RAISE(ABORT, 'events follow each other without a hole'); END"
)
_EVENTS_NO_DELETE_1: Final = (
    "CREATE TRIGGER events_no_delete BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END"
)
_BASE: Final = (
    "CREATE TABLE base(seq INTEGER PRIMARY KEY, hash TEXT NOT NULL, table_name TEXT NOT NULL, state TEXT NOT NULL,"
    " format INTEGER NOT NULL, program TEXT NOT NULL, key TEXT NOT NULL, signature TEXT NOT NULL) STRICT"
)
_EVENTS_NO_DELETE: Final = (
    "CREATE TRIGGER events_no_delete BEFORE DELETE ON events"
    " WHEN OLD.seq > (SELECT coalesce(max(seq), 0) FROM base)"
    " BEGIN SELECT RAISE(ABORT, 'events are never deleted, unless a base stands for them'); END"
)
# An event stays behind it: the next number is that of the last event and one.
_BASE_FORWARD: Final = (
    "CREATE TRIGGER base_forward BEFORE INSERT ON base"
    " WHEN NEW.seq <= (SELECT coalesce(max(seq), 0) FROM base)"
    " OR (SELECT count(*) FROM events WHERE seq IN (NEW.seq, NEW.seq + 1)) IS NOT 2"
    " BEGIN SELECT RAISE(ABORT, 'a base only moves forward, and stays behind the last event'); END"
)
_BASE_NO_UPDATE: Final = (
    "CREATE TRIGGER base_no_update BEFORE UPDATE ON base BEGIN SELECT RAISE(ABORT, 'a base is never changed'); END"
)
_BASE_NO_DELETE: Final = (
    "CREATE TRIGGER base_no_delete BEFORE DELETE ON base WHEN OLD.seq IS (SELECT max(seq) FROM base)"
    " BEGIN SELECT RAISE(ABORT, 'a base is only deleted after the next one'); END"
)

SCHEMAS: Final = {
    1: (_EVENTS, _EVENTS_NO_UPDATE, _EVENTS_NO_DELETE_1, _EVENTS_IN_ORDER),
    SCHEMA_VERSION: (
        _EVENTS,
        _EVENTS_NO_UPDATE,
        _EVENTS_IN_ORDER,
        _BASE,
        _EVENTS_NO_DELETE,
        _BASE_FORWARD,
        _BASE_NO_UPDATE,
        _BASE_NO_DELETE,
    ),
}
"""By version, the statements that make it; a reader takes each of them."""


def create(connection: sqlite3.Connection) -> None:
    """Makes a journal in an empty database, in one transaction. Raises sqlite3.Error."""
    _make(connection, SCHEMAS[SCHEMA_VERSION])


def migrate(connection: sqlite3.Connection) -> None:
    """Makes a journal of version 1 one of this version, in one transaction. Raises sqlite3.Error."""
    added = [statement for statement in SCHEMAS[SCHEMA_VERSION] if statement not in SCHEMAS[1]]
    _make(connection, ("DROP TRIGGER events_no_delete", *added))


def _make(connection: sqlite3.Connection, statements: tuple[str, ...]) -> None:
    """A cut anywhere leaves the file as it was, or complete: the numbers in the header are part of the transaction."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statement in statements:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
        connection.execute("COMMIT")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
