"""A store of the centre's programs: one SQLite file of a kind and version, each write on the disk before it is told."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

BUSY_TIMEOUT_S: Final = 5.0


class StoreError(Exception):
    """The store cannot be used; the text says why in one line."""


def open_store(path: Path, application: int, version: int, tables: str, what: str) -> sqlite3.Connection:
    """Open the file or make it, with the `tables` (SQL), for one thread after the other.

    `application` and `version` mark the file; `what` says in an error what it should be. Raises StoreError.
    """
    try:
        database = sqlite3.connect(path, isolation_level=None, timeout=BUSY_TIMEOUT_S, check_same_thread=False)
    except sqlite3.Error as error:
        raise StoreError(f"{path}: cannot be opened ({error}); it should be {what}") from error
    try:
        _prepare(database, application, version, tables)
    except (sqlite3.Error, StoreError) as error:
        database.close()
        raise StoreError(f"{path}: {error}; it should be {what}, or not exist yet") from error
    return database


def _prepare(database: sqlite3.Connection, application: int, version: int, tables: str) -> None:
    found = [database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
    (count,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if count and found != [application, version]:
        raise StoreError("is another database, or of another version")
    database.execute("PRAGMA journal_mode = WAL")
    # In WAL mode, FULL flushes at every commit.
    database.execute("PRAGMA synchronous = FULL")
    database.executescript(
        f"BEGIN IMMEDIATE; {tables} PRAGMA application_id = {application}; PRAGMA user_version = {version}; COMMIT;"
    )


@contextmanager
def writing(database: sqlite3.Connection, what: str) -> Iterator[None]:
    """All that is written meanwhile is on the disk afterwards, or nothing of it where something is raised.

    `what` names the store in an error. Raises StoreError.
    """
    try:
        database.execute("BEGIN IMMEDIATE")
        try:
            yield
            database.execute("COMMIT")
        except BaseException:
            # A full disk has undone it already.
            if database.in_transaction:
                database.execute("ROLLBACK")
            raise
    except sqlite3.Error as error:
        raise StoreError(f"{what} cannot be written ({error})") from error
