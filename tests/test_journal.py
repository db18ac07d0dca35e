"""The journal: appended events are on the disk, in order, and a failure is never taken for a success."""

import os
import random
import re
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from device.event import GENESIS_HASH, BadEvent, Event, Stamp, parse
from device.journal import (
    Journal,
    JournalDamaged,
    JournalError,
    JournalFailed,
    JournalFull,
    JournalGone,
    JournalReader,
)

STAMP = Stamp("boot-1", 5, "2026-11-29T22:10:56.123Z", "free")

APPEND_FOR_EVER = """
import itertools, os, sys
from pathlib import Path
from device.event import Stamp
from device.journal import Journal
journal = Journal.open(Path(sys.argv[1]), "craps-1")
stamp = Stamp("boot-1", 5, "2026-11-29T22:10:56.123Z", "free")
for number in itertools.count():
    entries = [("rolled", {"number": number, "part": part}) for part in range(1 + number % 3)]
    os.write(1, b"".join(b"%d\\n" % event.seq for event in journal.append(entries, stamp)))
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


def rolled(number: int) -> tuple[str, dict[str, Any]]:
    return ("rolled", {"number": number})


def filled(path: Path, count: int) -> list[Event]:
    """A closed journal of `count` events."""
    with Journal.open(path, "craps-1") as journal:
        return journal.append([rolled(number) for number in range(count)], STAMP)


def test_a_new_journal_is_empty_private_and_flushes_every_commit(path: Path) -> None:
    with Journal.open(path, "craps-1") as journal:
        assert (journal.last_seq, journal.last_hash) == (0, GENESIS_HASH)
        assert journal.read(1, 10) == []
        assert list(journal.events()) == []
        for file in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert journal._connection.execute("PRAGMA journal_mode").fetchone() == (b"wal",)
        assert journal._connection.execute("PRAGMA synchronous").fetchone() == (2,)


def test_events_follow_each_other_and_reopening_goes_on(path: Path) -> None:
    with Journal.open(path, "craps-1") as journal:
        first, second = journal.append([("opened", {"rules": "es-1979"}), rolled(1)], STAMP)
        assert (journal.last_seq, journal.last_hash) == (2, second.hash)
    with Journal.open(path, "craps-1") as journal:
        assert (journal.last_seq, journal.last_hash) == (2, second.hash)
        (third,) = journal.append([rolled(2)], STAMP)
        assert list(journal.events()) == [first, second, third]
        assert journal.read(1, 10) == [first.line(), second.line(), third.line()]
    assert [event.seq for event in (first, second, third)] == [1, 2, 3]
    assert [event.prev for event in (first, second, third)] == [GENESIS_HASH, first.hash, second.hash]
    assert first.data == {"rules": "es-1979"}
    assert first.table == "craps-1"


def test_reading_a_part(path: Path) -> None:
    events = filled(path, 1203)
    with JournalReader(path) as reader:
        assert [parse(line).seq for line in reader.read(1000, 3)] == [1000, 1001, 1002]
        assert reader.read(1204, 5) == []
        assert list(reader.events()) == events
        assert list(reader.events(1202)) == events[1201:]
        assert list(reader.events(1204)) == []
        assert list(reader.events(2**63)) == []
        assert (reader.last_seq, reader.last_hash) == (1203, events[-1].hash)


@pytest.mark.parametrize(("first", "limit"), [(0, 1), (-1, 1), (1, 0), (1, 10_001)])
def test_reading_outside_the_bounds_is_refused(path: Path, first: int, limit: int) -> None:
    with Journal.open(path, "craps-1") as journal, pytest.raises(ValueError, match="must be"):
        journal.read(first, limit)


def test_a_bad_entry_writes_nothing_and_breaks_nothing(path: Path) -> None:
    with Journal.open(path, "craps-1") as journal:
        with pytest.raises(BadEvent, match=r"data\.pays: float"):
            journal.append([rolled(1), ("paid", {"pays": 8.5})], STAMP)
        assert journal.last_seq == 0
        assert journal.append([], STAMP) == []
        assert [event.seq for event in journal.append([rolled(1)], STAMP)] == [1]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET event = 'x' WHERE seq = 2",
        "DELETE FROM events WHERE seq = 3",
        "INSERT OR REPLACE INTO events VALUES (2, 'x')",
        "INSERT INTO events VALUES (5, 'x')",
        "INSERT INTO events VALUES (0, 'x')",
    ],
)
def test_the_file_itself_refuses_to_change_events(path: Path, statement: str) -> None:
    events = filled(path, 3)
    connection = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError, match="events"):
        connection.execute(statement)
    connection.close()
    with JournalReader(path) as reader:
        assert list(reader.events()) == events


def test_a_reader_sees_each_append_at_once_and_cannot_write(path: Path) -> None:
    with Journal.open(path, "craps-1") as journal, JournalReader(path) as reader:
        assert (reader.last_seq, reader.last_hash) == (0, GENESIS_HASH)
        for number in range(3):
            (event,) = journal.append([rolled(number)], STAMP)
            assert (reader.last_seq, reader.last_hash) == (event.seq, event.hash)
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reader._connection.execute("DROP TABLE events")


def test_reading_in_a_thread_while_another_writes(path: Path) -> None:
    total = 300
    seen: list[Event] = []
    stop_at = time.monotonic() + 600

    def follow() -> None:
        with JournalReader(path) as reader:
            while len(seen) < total and time.monotonic() < stop_at:
                seen.extend(reader.events(len(seen) + 1))

    with Journal.open(path, "craps-1") as journal:
        follower = threading.Thread(target=follow)
        follower.start()
        written = [event for number in range(total // 2) for event in journal.append([rolled(number)] * 2, STAMP)]
        follower.join()
    assert seen == written


def test_a_full_disk_takes_nothing_of_the_call_and_the_next_one_when_there_is_room(path: Path) -> None:
    journal = Journal.open(path, "craps-1")
    kept = journal.append([rolled(1)], STAMP)
    pages = journal._connection.execute("PRAGMA page_count").fetchone()[0]
    journal._connection.execute(f"PRAGMA max_page_count={pages}")
    for _ in range(2):
        with pytest.raises(JournalFull, match=f"^{re.escape(str(path))}: the disk is full") as full:
            journal.append([rolled(number) for number in range(1000)], STAMP)
        assert "\n" not in str(full.value)
        assert journal.last_seq == 1
        assert list(journal.events()) == kept
    journal._connection.execute("PRAGMA max_page_count=1000000")
    kept += journal.append([rolled(2)], STAMP)
    journal.close()
    with Journal.open(path, "craps-1") as journal:
        assert list(journal.events()) == kept


def test_a_second_writer_makes_the_first_refuse_instead_of_mixing_two_histories(path: Path) -> None:
    with Journal.open(path, "craps-1") as first, Journal.open(path, "craps-1") as second:
        events = second.append([rolled(1)], STAMP)
        with pytest.raises(JournalFailed, match="without a hole"):
            first.append([rolled(2)], STAMP)
        events += second.append([rolled(3)], STAMP)
        assert list(first.events()) == events


def test_a_file_that_takes_no_writing_stops_the_journal(path: Path) -> None:
    with Journal.open(path, "craps-1") as journal:
        kept = journal.append([rolled(1)], STAMP)
        journal._connection.execute("PRAGMA query_only=ON")
        with pytest.raises(JournalFailed, match=r"cannot be written .*readonly"):
            journal.append([rolled(2)], STAMP)
        journal._connection.execute("PRAGMA query_only=OFF")
        with pytest.raises(JournalFailed, match="takes nothing more"):
            journal.append([rolled(2)], STAMP)
        assert list(journal.events()) == kept


def remove_database(path: Path) -> None:
    path.unlink()


def remove_log(path: Path) -> None:
    Path(f"{path}-wal").unlink()


def remove_folder(path: Path) -> None:
    shutil.rmtree(path.parent)


def move_folder(path: Path) -> None:
    path.parent.rename(path.parent.with_name("elsewhere"))


def replace_database(path: Path) -> None:
    shutil.copy(path, f"{path}.copy")
    Path(f"{path}.copy").rename(path)


def cut_database(path: Path) -> None:
    os.truncate(path, 100)


def empty_log(path: Path) -> None:
    os.truncate(f"{path}-wal", 0)


def cut_log(path: Path) -> None:
    os.truncate(f"{path}-wal", Path(f"{path}-wal").stat().st_size - 1)


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (remove_database, r"journal\.db was removed or moved while in use"),
        (remove_log, r"journal\.db-wal was removed or moved while in use"),
        (remove_folder, r"journal\.db was removed or moved while in use"),
        (move_folder, r"journal\.db was removed or moved while in use"),
        (replace_database, r"journal\.db was replaced while in use"),
        (cut_database, r"journal\.db was cut from \d+ to 100 bytes while in use"),
        (empty_log, r"journal\.db-wal was cut from \d+ to 0 bytes while in use"),
        (cut_log, r"journal\.db-wal was cut from \d+ to \d+ bytes while in use"),
    ],
)
@pytest.mark.parametrize("reopened", [False, True])
def test_nothing_is_acknowledged_once_the_files_have_gone(
    tmp_path: Path, harm: Callable[[Path], None], told: str, reopened: bool
) -> None:
    path = tmp_path / "data" / "journal.db"
    path.parent.mkdir()
    if reopened:
        filled(path, 3)
    with Journal.open(path, "craps-1") as journal:
        # A first append moves the database's header to the log, and the checkpoint fills the database.
        journal.append([rolled(1)], STAMP)
        journal._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        journal.append([rolled(2)], STAMP)
        seq = journal.last_seq
        harm(path)
        with pytest.raises(JournalGone, match=f"cannot be written .*{told}"):
            journal.append([rolled(3)], STAMP)
        assert journal.last_seq == seq
        with pytest.raises(JournalFailed, match="takes nothing more"):
            journal.append([rolled(3)], STAMP)


class RemovesTheLogBehindACommit:
    """A connection whose files go between the look before a commit and the one after it."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, statement: str) -> object:
        done = self._connection.execute(statement)
        if statement == "COMMIT":
            remove_log(self._path)
        return done


def test_files_that_go_during_the_commit_are_noticed_before_it_is_told(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Journal.open(path, "craps-1") as journal:
        journal.append([rolled(1)], STAMP)
        monkeypatch.setattr(journal, "_connection", RemovesTheLogBehindACommit(journal._connection, path))
        with pytest.raises(JournalGone, match="removed or moved while in use"):
            journal.append([rolled(2)], STAMP)
        assert journal.last_seq == 1


def test_a_log_that_begins_anew_in_place_is_no_alarm(path: Path) -> None:
    with Journal.open(path, "craps-1") as journal, JournalReader(path) as reader:
        for number in range(30):
            journal.append([rolled(number)], STAMP)
            journal._connection.execute("PRAGMA wal_checkpoint(RESTART)")
        journal._connection.execute("PRAGMA wal_autocheckpoint=3")
        for number in range(30):
            journal.append([rolled(number)] * 20, STAMP)
        assert reader.last_seq == 630
    assert not Path(f"{path}-wal").exists()


def test_every_event_acknowledged_before_a_kill_is_there(path: Path) -> None:
    seeded = random.Random(20261129)
    acknowledged: list[int] = []
    for _ in range(20):
        child = subprocess.Popen([sys.executable, "-c", APPEND_FOR_EVER, path], stdout=subprocess.PIPE)
        assert child.stdout is not None
        printed = b"".join(child.stdout.readline() for _ in range(seeded.randrange(1, 40)))
        # The kill falls anywhere within an append: nothing is waited for here.
        time.sleep(seeded.uniform(0, 0.003))
        child.send_signal(signal.SIGKILL)
        printed += child.communicate()[0]
        assert child.returncode == -signal.SIGKILL
        # A number cut in half was not told.
        whole_lines = printed[: printed.rfind(b"\n") + 1].split()
        assert whole_lines
        acknowledged += [int(seq) for seq in whole_lines]
        with JournalReader(path) as reader:
            assert reader.last_seq >= acknowledged[-1]
        with Journal.open(path, "craps-1") as journal:
            there = [event.seq for event in journal.events()]
            # No append was torn: each ends at its last part.
            ends = next(iter(journal.events(journal.last_seq))).data
            assert ends["part"] == ends["number"] % 3
        assert there == list(range(1, len(there) + 1))
        assert set(acknowledged) <= set(there)
    assert len(acknowledged) == len(set(acknowledged))


@pytest.mark.parametrize("rest", [b"", b"\0" * 3000, b"\xa5" * 3000])
def test_a_log_cut_anywhere_opens_to_the_events_flushed_before_the_cut(path: Path, tmp_path: Path, rest: bytes) -> None:
    """What a power cut leaves: the write-ahead log up to some byte, then nothing, zeros or rubbish."""
    wal = Path(f"{path}-wal")
    with Journal.open(path, "craps-1") as journal:
        flushed_bytes = [wal.stat().st_size]
        events: list[Event] = []
        for number in range(5):
            events += journal.append([rolled(number)], STAMP)
            flushed_bytes.append(wal.stat().st_size)
        database, log = path.read_bytes(), wal.read_bytes()
    assert len(log) == flushed_bytes[-1] > 0
    after_cut = tmp_path / "after_cut"
    near_commits = {size + step for size in flushed_bytes for step in (-1, 0, 1)}
    for cut in sorted(near_commits | set(range(0, len(log), 1009))):
        after_cut.mkdir()
        (after_cut / "journal.db").write_bytes(database)
        (after_cut / "journal.db-wal").write_bytes(log[:cut] + rest)
        with Journal.open(after_cut / "journal.db", "craps-1") as journal:
            surviving = sum(1 for size in flushed_bytes[1:] if size <= cut)
            assert list(journal.events()) == events[:surviving]
            assert journal.append([rolled(9)], STAMP)[0].seq == surviving + 1
        shutil.rmtree(after_cut)


def test_a_file_that_is_no_database(path: Path) -> None:
    path.write_bytes(b"x" * 5000)
    for opening in (lambda: Journal.open(path, "craps-1"), lambda: JournalReader(path)):
        with pytest.raises(JournalDamaged, match="is not a database"):
            opening()
    assert path.read_bytes() == b"x" * 5000


def test_a_database_of_something_else_is_left_alone(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE recipes(name TEXT)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(JournalDamaged, match="not a boxman journal"):
        Journal.open(path, "craps-1")
    with pytest.raises(JournalDamaged, match="not a boxman journal"):
        JournalReader(path)
    assert path.read_bytes() == before


def test_a_journal_of_a_later_version(path: Path) -> None:
    filled(path, 1)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version=3")
    connection.close()
    with pytest.raises(JournalDamaged, match="of version 3, this program knows version 2"):
        Journal.open(path, "craps-1")


def test_a_journal_without_its_triggers(path: Path) -> None:
    filled(path, 1)
    connection = sqlite3.connect(path)
    connection.execute("DROP TRIGGER events_no_delete")
    connection.close()
    with pytest.raises(JournalDamaged, match="triggers were changed"):
        Journal.open(path, "craps-1")


def test_a_reader_refuses_a_journal_with_other_tables_as_the_writer_does(path: Path) -> None:
    filled(path, 1)
    connection = sqlite3.connect(path)
    connection.execute("DROP TRIGGER events_no_delete")
    connection.close()
    with pytest.raises(JournalDamaged, match="triggers were changed"):
        JournalReader(path)


def test_a_trigger_that_is_no_utf8_is_named_by_writer_and_reader(path: Path) -> None:
    filled(path, 1)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode=DELETE")
    connection.close()
    there = path.read_bytes()
    # SQLite quotes it in its error, and Python's driver cannot decode that.
    words = b"SELECT RAISE(ABORT, 'events are never changed"
    assert words in there
    path.write_bytes(there.replace(words, b"\xfb\xa7\xfb\xa7" + words[4:]))
    with pytest.raises(JournalDamaged, match="changed to what is not UTF-8"):
        Journal.open(path, "craps-1")
    with pytest.raises(JournalDamaged, match="changed to what is not UTF-8"):
        JournalReader(path)


def test_a_journal_at_rest_in_a_folder_that_takes_no_files_is_read_without_any(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = filled(path, 3)
    monkeypatch.setattr(os, "access", lambda _path, _mode: False)
    with JournalReader(path) as reader:
        assert list(reader.events()) == events
        assert list(path.parent.iterdir()) == [path]


def test_events_in_the_log_that_cannot_be_read_where_they_lie_are_not_passed_over(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "copy" / "journal.db"
    copy.parent.mkdir()
    with Journal.open(path, "craps-1") as journal:
        journal.append([rolled(1)], STAMP)
        for ending in ("", "-wal"):
            shutil.copy(f"{path}{ending}", f"{copy}{ending}")
    # Stands in for a folder without leave to write, which an administrator has everywhere.
    Path(f"{copy}-shm").symlink_to("nothing")
    monkeypatch.setattr(os, "access", lambda _path, _mode: False)
    with pytest.raises(JournalError, match=r"events wait in journal\.db-wal .* copy both files"):
        JournalReader(copy)


def test_the_journal_of_another_table(path: Path) -> None:
    filled(path, 2)
    with pytest.raises(JournalDamaged) as damaged:
        Journal.open(path, "craps-2")
    assert str(damaged.value) == f"{path}: is the journal of table 'craps-1', not of 'craps-2'"


def test_what_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="cannot be made"):
        Journal.open(tmp_path / "missing" / "journal.db", "craps-1")
    with pytest.raises(JournalError, match="cannot be"):
        JournalReader(tmp_path / "journal.db")
    with pytest.raises(JournalError, match="cannot be"):
        Journal.open(tmp_path, "craps-1")


def test_a_name_with_the_signs_of_an_address(tmp_path: Path) -> None:
    path = tmp_path / "50% of #3?" / "journal.db"
    path.parent.mkdir()
    filled(path, 1)
    assert list(tmp_path.iterdir()) == [path.parent]
    with JournalReader(path) as reader:
        assert reader.last_seq == 1
