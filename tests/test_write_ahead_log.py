"""The journal's write-ahead log: bounded whoever reads and however long, and made durable before anyone is told."""

import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from device import journal as journal_module
from device.event import Stamp
from device.journal import LOG_PAGES, Journal, JournalDamaged, JournalError, JournalReader

STAMP = Stamp("boot-1", 5, "2026-11-29T22:10:56.123Z", "free")
# A page of 4096 bytes and what the log says of it; twice as many pages as begin the log anew, for what is written
# while a query of a reader runs.
LOG_BYTES_MAX = 2 * LOG_PAGES * (4096 + 24)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


def rolled(number: int) -> tuple[str, dict[str, Any]]:
    return ("rolled", {"number": number, "results": "x" * 150})


def log_of(path: Path) -> Path:
    return Path(f"{path}-wal")


def test_the_log_stays_bounded_while_readers_stay_open(path: Path) -> None:
    """50,000 events, some 23 MB, while two follow the journal, one is half through it and one is only open."""
    with Journal.open(path, "craps-1") as journal, JournalReader(path) as idle, JournalReader(path) as slow:
        journal.append([rolled(0)] * 1000, STAMP)
        assert idle.last_seq == 1000
        half_through = slow.events()
        next(half_through)
        ended = threading.Event()
        followed = [0, 0]

        def follow(which: int) -> None:
            with JournalReader(path) as reader:
                while not (ended.is_set() and followed[which] == reader.last_seq):
                    followed[which] += len(reader.read(followed[which] + 1, 500))
                    ended.wait(0.005)

        followers = [threading.Thread(target=follow, args=(which,)) for which in (0, 1)]
        for follower in followers:
            follower.start()
        longest = 0
        for number in range(500):
            journal.append([rolled(number)] * 100, STAMP)
            longest = max(longest, log_of(path).stat().st_size)
            if number % 50 == 0:
                next(half_through)
        ended.set()
        for follower in followers:
            follower.join()
        assert followed == [51_000, 51_000]
        assert idle.last_seq == 51_000
        assert longest <= LOG_BYTES_MAX
        assert path.stat().st_size > 2.5 * LOG_BYTES_MAX


def half_an_iteration(reader: JournalReader) -> Iterator[Any]:
    events = reader.events()
    next(events)
    return events


def read_up_to_damage(reader: JournalReader) -> Any:
    with pytest.raises(JournalDamaged) as damage:
        reader.read(500, 300)
    # Whoever catches the error keeps every frame that it came through.
    return damage


@pytest.mark.parametrize(
    "use",
    [
        half_an_iteration,
        read_up_to_damage,
        lambda reader: reader.read(1, 10),
        lambda reader: reader.last_seq,
        lambda reader: reader.last_hash,
    ],
    ids=["half an iteration", "up to damage", "read", "last_seq", "last_hash"],
)
def test_no_reader_keeps_the_log_from_beginning_anew_between_two_readings(
    path: Path, use: Callable[[JournalReader], Any]
) -> None:
    with Journal.open(path, "craps-1") as journal, JournalReader(path) as reader:
        journal.append([rolled(number) for number in range(1200)], STAMP)
        journal._connection.execute("DROP TRIGGER events_no_delete")
        journal._connection.execute("DELETE FROM events WHERE seq = 500")
        kept = use(reader)
        with closing(sqlite3.connect(path, timeout=0)) as other:
            busy, in_log, written = other.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()
        assert (busy, written) == (0, in_log)
        assert kept is not None


def crashed(path: Path, folder: Path) -> Path:
    """What is left of a journal in use when its program ends this moment."""
    folder.mkdir()
    for file in (path, log_of(path)):
        shutil.copy(file, folder / file.name)
    return folder / path.name


def test_what_a_crash_left_in_the_log_is_in_the_database_before_anything_is_said(path: Path, tmp_path: Path) -> None:
    with Journal.open(path, "craps-1") as journal:
        events = journal.append([rolled(number) for number in range(10)], STAMP)
        left = crashed(path, tmp_path / "left")
    without_log = sqlite3.connect(f"{left.as_uri()}?immutable=1", uri=True)
    with closing(without_log), pytest.raises(sqlite3.Error, match="no such table"):
        without_log.execute("SELECT count(*) FROM events")
    with Journal.open(left, "craps-1") as journal:
        alone = tmp_path / "alone.db"
        shutil.copy(left, alone)
        assert list(journal.events()) == events
    with Journal.open(alone, "craps-1") as journal:
        assert list(journal.events()) == events


def test_a_program_that_reads_on_and_on_is_named_at_the_start(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "BUSY_TIMEOUT_SECONDS", 0)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        with Journal.open(path, "craps-1") as journal:
            journal.append([rolled(1)], STAMP)
            other.execute("BEGIN")
            other.execute("SELECT count(*) FROM events").fetchone()
            journal.append([rolled(2)], STAMP)
        with pytest.raises(JournalError, match="another program has been reading it"):
            Journal.open(path, "craps-1")
        other.execute("COMMIT")
        with Journal.open(path, "craps-1") as journal:
            assert journal.last_seq == 2


def test_a_reader_of_the_latest_events_does_not_hinder_a_start(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "BUSY_TIMEOUT_SECONDS", 0)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        with Journal.open(path, "craps-1") as journal:
            journal.append([rolled(1)], STAMP)
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM events").fetchone()
        with Journal.open(path, "craps-1") as journal:
            assert journal.append([rolled(2)], STAMP)[0].seq == 2
