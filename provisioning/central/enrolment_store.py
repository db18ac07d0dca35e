"""The centre's store of enrolments: one SQLite file (mode 0600) of codes given out and of units that came with them.

Rows are only ever added, and flushed before anyone is told. Of a code only the hash is here.
"""

import json
import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from provisioning.central.sqlite_store import StoreError, open_store, writing
from provisioning.enrolment import Enrolled

_VERSION: Final = 1
# Marks the file as one of these ("BXEN").
_APPLICATION: Final = 0x4258454E
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS code (
    id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, site TEXT NOT NULL, name TEXT NOT NULL,
    expires_s INTEGER NOT NULL, configuration TEXT NOT NULL, files TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS enrolled (
    code INTEGER PRIMARY KEY REFERENCES code (id), key TEXT NOT NULL, enrolled_s INTEGER NOT NULL
) STRICT;
"""
_WHAT: Final = "a store of enrolments"


class CodeRefused(Exception):
    """A code that enrols nobody; nothing was written. `reason` is one of `receiver_refusals.STATUS`."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason: Final = reason


@dataclass(frozen=True)
class Enrolment:
    """A code that was given out for a table, and what became of it. Times are seconds since 1970.

    `key` is the public key of the unit that came with it at `enrolled_s`, None when none has. `replaced`: a newer code
    was given out for the table.
    """

    site: str
    table: str
    expires_s: int
    key: str | None
    enrolled_s: int | None
    replaced: bool


class EnrolmentStore:
    """Used from one thread after the other, never from two at once; other processes may use the file meanwhile."""

    def __init__(self, path: Path) -> None:
        """Open the file or make it. Raises StoreError."""
        try:
            # Configurations may hold a server's password; what SQLite puts beside the file gets its mode.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        except OSError as error:
            raise StoreError(f"{path}: cannot be opened ({error.strerror}); it should be {_WHAT}") from error
        self._database = open_store(path, _APPLICATION, _VERSION, _TABLES, _WHAT)

    def add(self, code_hash: str, site: str, table: str, expires_s: int, enrolled: Enrolled) -> None:
        """Let the code with this hash enrol one unit as a table, until a time. Raises StoreError."""
        with writing(self._database, "the store of enrolments"):
            self._database.execute(
                "INSERT INTO code (hash, site, name, expires_s, configuration, files) VALUES (?, ?, ?, ?, ?, ?)",
                (code_hash, site, table, expires_s, enrolled.configuration, json.dumps(dict(enrolled.files))),
            )

    def enrol(self, code_hash: str, site: str, table: str, key: str, now_s: int) -> Enrolled:
        """What the unit with this key gets for its code; the same again whenever it asks again.

        That it came is on the disk when this returns. Raises CodeRefused or StoreError.
        """
        with writing(self._database, "the store of enrolments"):
            row = self._database.execute(
                "SELECT id, site, name, expires_s, configuration, files, key,"
                " EXISTS (SELECT 1 FROM code AS newer"
                "  WHERE newer.site = code.site AND newer.name = code.name AND newer.id > code.id)"
                " FROM code LEFT JOIN enrolled ON enrolled.code = code.id WHERE hash = ?",
                (code_hash,),
            ).fetchone()
            if row is None:
                raise CodeRefused("wrong_code", "this code was never given out here")
            id, its_site, its_table, expires_s, configuration, files, its_key, replaced = row
            if (its_site, its_table) != (site, table):
                raise CodeRefused("foreign_code", "this code is another table's")
            if its_key is not None and its_key != key:
                raise CodeRefused("code_used", "this code was used by another unit; have a new card made")
            if replaced:
                raise CodeRefused("code_replaced", "a newer card was made for this table; this one is void")
            if its_key is None:
                if now_s >= expires_s:
                    raise CodeRefused("code_expired", "this code has expired; have a new card made")
                self._database.execute("INSERT INTO enrolled VALUES (?, ?, ?)", (id, key, now_s))
        return Enrolled(configuration, json.loads(files))

    def enrolments(self) -> list[Enrolment]:
        """Every code that was given out, the oldest first. Raises StoreError."""
        try:
            rows = self._database.execute(
                "SELECT site, name, expires_s, key, enrolled_s, EXISTS (SELECT 1 FROM code AS newer"
                "  WHERE newer.site = code.site AND newer.name = code.name AND newer.id > code.id)"
                " FROM code LEFT JOIN enrolled ON enrolled.code = code.id ORDER BY id"
            ).fetchall()
        except sqlite3.Error as error:
            raise StoreError(f"the store of enrolments cannot be read ({error})") from error
        return [
            Enrolment(site, table, expires_s, key, enrolled_s, bool(replaced))
            for site, table, expires_s, key, enrolled_s, replaced in rows
        ]

    def close(self) -> None:
        """Close the file."""
        self._database.close()
