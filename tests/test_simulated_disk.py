"""The simulated disk holds SQLite to its flushes: what was not flushed may be gone, torn or out of order."""

import gc
import random
import sqlite3
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from device.delivery_record import Delivered, DeliveryRecord
from device.event import Stamp
from device.journal import Journal, JournalError, JournalFailed
from tests.simulator.memory_folder import memory_folder
from tests.simulator.simulated_disk import FaultKind, SimulatedDisk

STAMP = Stamp("boot-1", 5, "2026-11-29T22:10:56.123Z", "free")
# How long one of two writers may have to wait for the other on a busy machine.
PATIENCE_S = 600.0


@pytest.fixture
def folder() -> Iterator[Path]:
    with memory_folder() as path:
        yield path


def disk_in(folder: Path, seed: int) -> SimulatedDisk:
    data = folder / f"data-{seed}"
    data.mkdir()
    return SimulatedDisk(data, random.Random(seed))


def opened(disk: SimulatedDisk, synchronous: str = "FULL") -> sqlite3.Connection:
    """A database with a write-ahead log and an empty table, flushed."""
    connection = sqlite3.connect(disk.folder / "some.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE numbers(number INTEGER PRIMARY KEY, filler TEXT)")
    connection.execute(f"PRAGMA synchronous={synchronous}")
    return connection


def add(connection: sqlite3.Connection, number: int) -> None:
    connection.execute("INSERT INTO numbers VALUES (?, ?)", (number, "x" * 700))


def numbers_in(connection: sqlite3.Connection) -> list[int]:
    return [row[0] for row in connection.execute("SELECT number FROM numbers ORDER BY number")]


def numbers_left(folder: Path) -> list[int]:
    with closing(sqlite3.connect(folder / "some.db")) as connection:
        return numbers_in(connection)


def events_of(count: int) -> list[tuple[str, dict[str, Any]]]:
    return [("noted", {"number": number, "note": "x" * 500}) for number in range(count)]


def content_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_what_was_flushed_is_there_after_every_cut(folder: Path) -> None:
    with disk_in(folder, 1) as disk, closing(opened(disk)) as connection:
        for number in range(40):
            add(connection, number)
        for cut in range(20):
            disk.crash(folder / f"left-{cut}")
            assert numbers_left(folder / f"left-{cut}") == list(range(40))


def test_what_was_not_flushed_is_lost_in_every_way(folder: Path) -> None:
    """Of nine commits without a flush some are there, in order: the log's checksums tell the rest."""
    counts: Counter[int] = Counter()
    with disk_in(folder, 1) as disk, closing(opened(disk, "NORMAL")) as connection:
        for number in range(9):
            add(connection, number)
        for cut in range(200):
            disk.crash(folder / f"left-{cut}")
            left = numbers_left(folder / f"left-{cut}")
            assert left == list(range(len(left)))
            counts[len(left)] += 1
        assert set(counts) == set(range(10))
        ways = {"lost", "whole", "in order", "some", "reordered", "torn"}
        assert {f"unflushed {way}" for way in ways} <= disk.struck.keys()
        assert sum(count for name, count in disk.struck.items() if name.startswith("unflushed")) == 200


class Always(random.Random):
    """Chance, but for one thing that it always chooses."""

    def __init__(self, way: str) -> None:
        super().__init__(1)
        self._way: Final = way

    def choice(self, options: Any) -> Any:
        return self._way if self._way in options else super().choice(options)


@pytest.mark.parametrize("way", ["torn", "reordered"])
def test_only_whole_sectors_are_there_and_zeros_where_one_is_missing(folder: Path, way: str) -> None:
    cut_short = with_zeros = 0
    (folder / "data").mkdir()
    with SimulatedDisk(folder / "data", Always(way)) as disk, closing(opened(disk, "NORMAL")) as connection:
        log = disk.folder / "some.db-wal"
        flushed = log.stat().st_size
        for number in range(3):
            add(connection, number)
        written = log.read_bytes()
        # The log's own header of 32 bytes, then for each page a header of 24 and the page.
        ends = {start + length for start in range(32, len(written) + 1, 4120) for length in (0, 24)}
        for cut in range(60):
            disk.crash(folder / f"left-{cut}")
            left = (folder / f"left-{cut}" / log.name).read_bytes()
            assert left[:flushed] == written[:flushed]
            assert len(left) in ends or len(left) % 512 == 0
            cut_short += len(left) not in ends
            sectors = [slice(start, start + 512) for start in range((flushed + 511) // 512 * 512, len(left), 512)]
            with_zeros += any(left[sector].count(0) == 512 and written[sector].count(0) < 512 for sector in sectors)
    assert min(cut_short, with_zeros) > 5


def test_the_same_seed_leaves_the_same_bytes(folder: Path) -> None:
    left = []
    for run in ("first", "second"):
        (folder / run).mkdir()
        with SimulatedDisk(folder / run, random.Random(7)) as disk:
            journal = Journal.open(folder / run / "journal.db", "craps-1")
            journal.append(events_of(30), STAMP)
            disk.cut_nth(13, "write")
            with closing(journal), pytest.raises(JournalFailed, match="disk I/O error"):
                journal.append(events_of(30), STAMP)
            disk.crash(folder / f"{run}-left")
        content = content_of(folder / f"{run}-left")
        content.pop("journal.db-shm", None)
        left.append(content)
    assert left[0] == left[1]
    assert len(left[0]["journal.db-wal"]) > 4096


def test_a_flush_that_failed_is_not_made_good_by_another(folder: Path) -> None:
    """The second flush says that all is well; what the first left out is in memory, and not on the disk."""
    lost = 0
    for seed in range(30):
        with disk_in(folder, seed) as disk, closing(opened(disk, "NORMAL")) as connection:
            add(connection, 1)
            disk.fail_nth(1, "sync")
            with pytest.raises(sqlite3.OperationalError, match="disk I/O error"):
                connection.execute("PRAGMA wal_checkpoint").fetchall()
            assert disk.struck["failed sync"] == 1
            connection.execute("PRAGMA synchronous=FULL")
            add(connection, 2)
            assert numbers_in(connection) == [1, 2]
            disk.crash(folder / f"left-{seed}")
        left = numbers_left(folder / f"left-{seed}")
        assert left in ([], [1, 2])
        lost += left == []
    assert 5 < lost < 30


def test_what_a_failed_flush_left_out_is_made_good_by_writing_it_again(folder: Path) -> None:
    for seed in range(30):
        with disk_in(folder, seed) as disk, closing(opened(disk)) as connection:
            disk.fail_nth(1, "sync")
            with pytest.raises(sqlite3.OperationalError, match="disk I/O error"):
                add(connection, 1)
            # The commit was taken back, so the next one is written over it.
            add(connection, 2)
            disk.crash(folder / f"left-{seed}")
        assert numbers_left(folder / f"left-{seed}") == [2]


@pytest.mark.parametrize(
    ("kind", "name", "code"),
    [
        ("write", "failed write", sqlite3.SQLITE_IOERR_WRITE),
        ("sync", "failed sync", sqlite3.SQLITE_IOERR_FSYNC),
        ("any", "failed write", sqlite3.SQLITE_IOERR_WRITE),
        ("full", "full", sqlite3.SQLITE_FULL),
    ],
)
def test_the_nth_operation_fails_and_no_other(folder: Path, kind: FaultKind, name: str, code: int) -> None:
    with disk_in(folder, 1) as disk, closing(opened(disk)) as connection:
        disk.fail_nth(1, kind)
        with pytest.raises(sqlite3.OperationalError) as error:
            add(connection, 1)
        assert error.value.sqlite_errorcode == code
        add(connection, 2)
        assert disk.struck == {name: 1}
        assert numbers_in(connection) == [2]


def test_a_lasting_fault_goes_on_until_it_is_healed(folder: Path) -> None:
    with disk_in(folder, 1) as disk, closing(opened(disk)) as connection:
        disk.fail_nth(1, "write", lasting=True)
        for number in range(3):
            with pytest.raises(sqlite3.OperationalError):
                add(connection, number)
        disk.heal()
        add(connection, 4)
        assert numbers_in(connection) == [4]


def test_a_full_disk_takes_what_needs_no_more_room(folder: Path) -> None:
    with disk_in(folder, 1) as disk, closing(opened(disk)) as connection:
        for number in range(3):
            add(connection, number)
        log = disk.folder / "some.db-wal"
        size = log.stat().st_size
        disk.bytes_free = 5000
        with pytest.raises(sqlite3.OperationalError, match="full"):
            connection.execute("INSERT INTO numbers VALUES (4, ?)", ("x" * 50_000,))
        assert disk.struck["full"] == 1
        assert disk.bytes_free == 0
        assert log.stat().st_size == size + 5000
        # To the database go as many pages as it has room for: it was not written at all until now.
        disk.bytes_free = 1_000_000
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        database = (disk.folder / "some.db").stat().st_size
        assert disk.bytes_free == 1_000_000 - (database - 4096) + size + 5000


def test_the_power_goes_in_the_middle_of_a_flush(folder: Path) -> None:
    """Whether the commit is there is open; the program that goes on hears of errors and changes nothing."""
    counts: Counter[int] = Counter()
    for seed in range(30):
        with disk_in(folder, seed) as disk, closing(opened(disk)) as connection:
            add(connection, 1)
            disk.on_sync = lambda disk=disk: setattr(disk, "dead", True)
            with pytest.raises(sqlite3.OperationalError, match="disk I/O error"):
                add(connection, 2)
            before = content_of(disk.folder)
            with pytest.raises(sqlite3.OperationalError, match="disk I/O error"):
                add(connection, 3)
            with pytest.raises(sqlite3.OperationalError, match="unable to open"):
                sqlite3.connect(disk.folder / "some.db").execute("SELECT 1 FROM numbers")
            disk.crash(folder / f"left-{seed}")
            connection.close()
            after = content_of(disk.folder)
            assert {name: after[name] for name in ("some.db", "some.db-wal")} == {
                name: before[name] for name in ("some.db", "some.db-wal")
            }
        left = numbers_left(folder / f"left-{seed}")
        assert left in ([1], [1, 2])
        counts[len(left)] += 1
    assert min(counts[1], counts[2]) > 3


def test_the_power_goes_during_any_operation(folder: Path) -> None:
    n = 0
    while True:
        n += 1
        with disk_in(folder, n) as disk:
            disk.cut_nth(n)
            journal: Journal | None = None
            told = 0
            try:
                journal = Journal.open(disk.folder / "journal.db", "craps-1")
                for _ in range(3):
                    told = journal.append(events_of(3), STAMP)[-1].seq
                journal.close()
            except JournalError:
                assert disk.dead
            if not disk.dead:
                break
            disk.crash(folder / f"left-{n}")
            if journal is not None:
                journal.close()
        left = folder / f"left-{n}"
        with SimulatedDisk(left, disk.random), Journal.open(left / "journal.db", "craps-1") as after:
            assert after.last_seq in (told, told + 3)
    assert n > 30


def test_a_file_whose_folder_was_not_flushed_may_be_missing_and_one_deleted_may_be_back(folder: Path) -> None:
    made: Counter[bool] = Counter()
    deleted: Counter[bool] = Counter()
    for seed in range(20):
        with disk_in(folder, seed) as disk:
            with closing(opened(disk)) as connection:
                add(connection, 1)
            # Closing deleted the log, without a flush of the folder.
            disk.crash(folder / f"deleted-{seed}")
            deleted[(folder / f"deleted-{seed}" / "some.db-wal").exists()] += 1
            assert numbers_left(folder / f"deleted-{seed}") == [1]
        with disk_in(folder, 100 + seed) as disk, closing(sqlite3.connect(disk.folder / "new.db")) as connection:
            connection.execute("PRAGMA synchronous=OFF")
            connection.execute("CREATE TABLE numbers(number)")
            disk.crash(folder / f"made-{seed}")
            made[(folder / f"made-{seed}" / "new.db").exists()] += 1
    assert min(deleted[True], deleted[False]) > 3
    assert min(made[True], made[False]) > 3


def test_a_program_that_is_killed_finds_what_it_wrote_and_the_next_cut_does_not(folder: Path) -> None:
    lost = 0
    for seed in range(20):
        with disk_in(folder, seed) as disk, closing(opened(disk, "NORMAL")) as connection:
            add(connection, 1)
            after = disk.kill(folder / f"killed-{seed}")
        assert numbers_left_without_changes(after.folder) == [1]
        after.crash(folder / f"left-{seed}")
        lost += numbers_left(folder / f"left-{seed}") == []
    assert 3 < lost < 20


def numbers_left_without_changes(folder: Path) -> list[int]:
    with memory_folder() as other:
        for name, content in content_of(folder).items():
            (other / name).write_bytes(content)
        return numbers_left(other)


def test_files_of_other_kinds_are_left_former_torn_or_missing_where_that_is_asked_for(folder: Path) -> None:
    ways: Counter[str] = Counter()
    with disk_in(folder, 1) as disk:
        snapshot, key = disk.folder / "snapshot", disk.folder / "key"
        key.write_bytes(b"secret")
        snapshot.write_bytes(b"former")
        disk.note_file(snapshot)
        snapshot.write_bytes(b"n" * 2000)
        for cut in range(60):
            left = folder / f"left-{cut}"
            disk.crash(left, plain_files={"snapshot"})
            assert (left / "key").read_bytes() == b"secret"
            content = (left / "snapshot").read_bytes() if (left / "snapshot").exists() else None
            if content is not None and content != b"former":
                assert content == b"n" * len(content) and len(content) in (0, 512, 1024, 1536, 2000)
            ways["missing" if content is None else f"{len(content)} bytes"] += 1
    assert ways.keys() == {"missing", "6 bytes", "0 bytes", "512 bytes", "1024 bytes", "1536 bytes", "2000 bytes"}


def test_other_folders_are_not_concerned(folder: Path) -> None:
    (folder / "other").mkdir()
    with disk_in(folder, 1) as disk:
        disk.dead = True
        with closing(sqlite3.connect(folder / "other" / "some.db")) as connection:
            connection.execute("CREATE TABLE numbers(number)")
        assert (folder / "other" / "some.db").stat().st_size > 0
    with closing(sqlite3.connect(disk.folder / "some.db")) as connection:
        connection.execute("CREATE TABLE numbers(number)")


def test_the_delivery_record_may_forget_and_never_invents(folder: Path) -> None:
    """It is written without flushes, on purpose."""
    left: set[int] = set()
    with disk_in(folder, 1) as disk:
        record = DeliveryRecord(disk.folder / "delivered.db")
        for seq in range(1, 6):
            record.set("nats", seq, 10 * seq)
        for cut in range(60):
            disk.crash(folder / f"left-{cut}")
            after = DeliveryRecord(folder / f"left-{cut}" / "delivered.db")
            known = after.read("nats")
            after.close()
            assert known == Delivered(known.seq, 10 * known.seq)
            left.add(known.seq)
        record.close()
    assert {0, 5} <= left <= set(range(6))


def test_threads_may_write_and_read(folder: Path) -> None:
    with disk_in(folder, 1) as disk, closing(opened(disk)):
        database = disk.folder / "some.db"

        def write(numbers: range) -> None:
            with closing(sqlite3.connect(database, PATIENCE_S, isolation_level=None)) as connection:
                for number in numbers:
                    add(connection, number)

        def read(times: int) -> int:
            with closing(sqlite3.connect(database, PATIENCE_S)) as connection:
                return max(len(numbers_in(connection)) for _ in range(times))

        with ThreadPoolExecutor() as threads:
            writers = [threads.submit(write, range(300)), threads.submit(write, range(300, 600))]
            reader = threads.submit(read, 100)
            for writer in writers:
                writer.result()
            assert reader.result() <= 600
        disk.crash(folder / "left")
    assert numbers_left(folder / "left") == list(range(600))


def test_many_disks_one_after_another_leave_nothing_behind(folder: Path) -> None:
    def run(seed: int) -> None:
        with disk_in(folder, seed) as disk, closing(opened(disk)) as connection:
            for number in range(20):
                add(connection, number)
            disk.crash(folder / f"left-{seed}")

    def held() -> tuple[int, int]:
        gc.collect()
        return len(list(Path("/proc/self/fd").iterdir())), int(Path("/proc/self/statm").read_text().split()[1])

    for seed in range(30):
        run(seed)
    descriptors, pages = held()
    for seed in range(30, 180):
        run(seed)
    # A run that was not let go would hold some 150 KB of images.
    after = held()
    assert after[0] < descriptors + 100
    assert after[1] - pages < 3000


def test_an_error_in_a_hook_is_told_at_the_end(folder: Path) -> None:
    def fails() -> None:
        raise ValueError("no such thing")

    disk = disk_in(folder, 1)
    disk.__enter__()
    with closing(opened(disk)) as connection:
        disk.on_sync = fails
        with pytest.raises(sqlite3.OperationalError, match="disk I/O error"):
            add(connection, 1)
        disk.on_sync = None
    with pytest.raises(RuntimeError, match="a watcher of SQLite's files failed") as told:
        disk.__exit__(None, None, None)
    assert isinstance(told.value.__cause__, ValueError)
