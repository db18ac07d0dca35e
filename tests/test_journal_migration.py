"""A journal of an older version is read as it is, and becomes one of this version in one step."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from device.journal import Journal, JournalReader
from device.journal_schema import APPLICATION_ID, SCHEMAS
from device.journal_verification import verify
from tests.journal_rig import STAMP, filled, noted
from tests.pruning_rig import TABLE


def of_version_1(path: Path, other: Path) -> list[str]:
    """A journal at `path` as version 1 made it, with the events of the one at `other`; their lines."""
    events = [event.line() for event in filled(other, 20)]
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        for statement in SCHEMAS[1]:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute("PRAGMA user_version=1")
        connection.executemany("INSERT INTO events VALUES (?, ?)", list(enumerate(events, 1)))
    return events


def test_a_journal_of_version_1_is_read_as_it_is_and_becomes_one_of_this_when_it_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    lines = of_version_1(path, tmp_path / "new.db")
    with JournalReader(path) as reader:
        assert (reader.base(), [event.line() for event in reader.events()]) == (None, lines)
        assert verify(reader, lambda _done, _of: None).what_is_wrong is None
        with Journal.open(path, TABLE) as journal:
            # Also to one that had it open.
            journal.append([noted(21)], STAMP)
            assert (reader.base(), reader.last_seq) == (None, 21)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)
        schema = sorted(sql for (sql,) in connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL"))
    assert schema == sorted(SCHEMAS[2])
    with Journal.open(path, TABLE) as journal:
        assert [event.line() for event in journal.events()][:20] == lines


def test_a_cut_anywhere_in_the_migration_leaves_the_one_version_or_the_other(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    path = folder / "journal.db"
    lines = of_version_1(path, tmp_path / "new.db")
    with Journal.open(path, TABLE):
        log = (folder / "journal.db-wal").read_bytes()
        for length in range(0, len(log) + 1, 1030):
            shutil.copyfile(path, tmp_path / "cut.db")
            (tmp_path / "cut.db-wal").write_bytes(log[:length])
            with closing(sqlite3.connect(tmp_path / "cut.db")) as connection:
                (version,) = connection.execute("PRAGMA user_version").fetchone()
                schema = [sql for (sql,) in connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")]
                assert sorted(schema) == sorted(SCHEMAS[version])
                # The commit is the last page; the file has some 4 KiB of log less before it.
                assert version == (2 if length == len(log) else 1)
            with Journal.open(tmp_path / "cut.db", TABLE) as journal:
                assert [event.line() for event in journal.events()] == lines
