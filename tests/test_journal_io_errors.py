"""The Nth write, flush, truncation or deletion under the journal fails, for N = 1, 2, 3 ... until none does.

Whatever the journal said was appended is there after a power cut, and what it refused is there whole or not at all.
"""

import random
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from device import journal as journal_module
from device import journal_files
from device.event import Stamp, parse
from device.journal import Journal, JournalError, JournalFailed, JournalFull
from device.journal_files import log_path
from tests.simulator.memory_folder import memory_folder
from tests.simulator.simulated_disk import FaultKind, SimulatedDisk

STAMP = Stamp("boot-1", 5, "2026-11-29T22:10:56.123Z", "free")
Entries = list[tuple[str, dict[str, Any]]]
LOG_PAGES = 15
"""Small, so that every N can be tried: the log goes to the database three times in a session."""
EVENTS_OF_APPENDS = ((1, 3, 12, 1, 2, 9, 1), (2, 1, 10, 1))
"""Between the two the journal is closed and opened again."""
OPERATIONS_MIN = {"write": 80, "sync": 15, "truncate": 1, "delete": 2, "full": 80, "any": 100}
"""What the session must at least ask of the disk for this test to mean anything."""


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(journal_module, "LOG_PAGES", LOG_PAGES)
    with memory_folder() as path:
        yield path


def entries_of(count: int, first: int) -> Entries:
    """Lines of some 300 to 1,500 bytes, so that appends fill from a part of a page to some of them."""
    numbers = range(first, first + count)
    return [("noted", {"number": number, "note": "x" * (number * 211 % 1200)}) for number in numbers]


@dataclass
class Session:
    """A scripted session of one table, up to its end or to the first error that ends it.

    `journals` has those that are open then, as a program that is killed leaves them.
    """

    told: list[str] = field(default_factory=list)
    refused: Entries = field(default_factory=list)
    error: JournalError | None = None
    journals: ExitStack = field(default_factory=ExitStack)

    def run(self, disk: SimulatedDisk) -> None:
        """From an empty folder on."""
        try:
            for counts in EVENTS_OF_APPENDS:
                journal = self.journals.enter_context(Journal.open(disk.folder / "journal.db", "craps-1"))
                for count in counts:
                    self._append(journal, entries_of(count, journal.last_seq + 1), disk)
                journal.close()
        except JournalError as error:
            self.error = error

    def _append(self, journal: Journal, entries: Entries, disk: SimulatedDisk) -> None:
        before = journal.last_seq
        self.refused = entries
        try:
            events = journal.append(entries, STAMP)
        except JournalFull:
            assert journal.last_seq == before
            disk.heal()
            events = journal.append(entries, STAMP)
        except JournalFailed:
            with pytest.raises(JournalFailed):
                journal.append(entries, STAMP)
            raise
        self.told += [event.line() for event in events]
        self.refused = []

    def holds(self, journal: Journal) -> None:
        """Everything told is there, what was refused is there whole or not at all, and more can be appended."""
        lines = journal.read(1, 1000)
        assert lines[: len(self.told)] == self.told
        more = [(event.type, event.data) for event in map(parse, lines[len(self.told) :])]
        assert more in ([], self.refused)
        # Who starts now believes what is there.
        self.told, self.refused = lines, []
        self.append_one(journal)

    def append_one(self, journal: Journal) -> None:
        """An append that must succeed."""
        self.told += [event.line() for event in journal.append(entries_of(1, journal.last_seq + 1), STAMP)]


def after_power_cuts(session: Session, disk: SimulatedDisk, cuts: int) -> None:
    """The journal, opened after the same cut with several outcomes."""
    for _ in range(cuts):
        left = disk.folder.with_name("left")
        disk.crash(left)
        outcome = Session(list(session.told), list(session.refused))
        with SimulatedDisk(left, disk.random), Journal.open(left / "journal.db", "craps-1") as journal:
            outcome.holds(journal)
        shutil.rmtree(left)


def cut_at_once(session: Session, disk: SimulatedDisk, cuts: int) -> None:
    after_power_cuts(session, disk, cuts)


def closed_started_and_cut(session: Session, disk: SimulatedDisk, cuts: int) -> None:
    session.journals.close()
    started_and_cut(session, disk, cuts)


def killed_started_and_cut(session: Session, disk: SimulatedDisk, cuts: int) -> None:
    """The program ends without a word, as by SIGKILL, and a new one finds what the system's memory holds."""
    with disk.kill(disk.folder.with_name("killed")) as after:
        started_and_cut(session, after, cuts)
    shutil.rmtree(after.folder)


def started_and_cut(session: Session, disk: SimulatedDisk, cuts: int) -> None:
    with Journal.open(disk.folder / "journal.db", "craps-1") as journal:
        session.holds(journal)
        after_power_cuts(session, disk, cuts)


@pytest.mark.parametrize("afterwards", [cut_at_once, closed_started_and_cut, killed_started_and_cut])
@pytest.mark.parametrize(
    ("kind", "lasting", "cuts"),
    [
        ("write", False, 1),
        ("full", False, 1),
        ("sync", False, 6),
        ("sync", True, 4),
        ("truncate", False, 4),
        ("delete", False, 4),
        ("any", True, 1),
    ],
)
def test_whichever_operation_fails_nothing_that_was_told_is_lost(
    folder: Path, kind: FaultKind, lasting: bool, cuts: int, afterwards: Any
) -> None:
    ended: Counter[str] = Counter()
    n = 0
    struck = True
    while struck:
        n += 1
        data = folder / "data"
        data.mkdir()
        session = Session()
        with SimulatedDisk(data, random.Random(n)) as disk:
            disk.fail_nth(n, kind, lasting=lasting)
            session.run(disk)
            struck = bool(disk.struck)
            if session.error is not None:
                assert struck
                assert str(data / "journal.db") in str(session.error)
            ended[type(session.error).__name__] += 1
            disk.heal()
            afterwards(session, disk, cuts)
            session.journals.close()
        shutil.rmtree(data)
    assert n > OPERATIONS_MIN[kind]
    if kind in ("write", "sync", "any"):
        # While it is opened, and while it appends.
        assert ended["JournalError"] and ended["JournalFailed"]


def test_what_found_no_room_is_there_whole_or_not_at_all_where_nothing_was_written_after_it(folder: Path) -> None:
    """A file system that puts elsewhere what is written anew refuses where another would not, and in midst of a page.

    Where the rest of the page is as what lay there before, the log then holds a whole commit: nobody may have been
    told that it was not done.
    """
    were_there: Counter[bool] = Counter()
    for seed in range(60):
        data, killed = folder / "data", folder / "killed"
        data.mkdir()
        session = Session()
        with SimulatedDisk(data, random.Random(seed)) as disk:
            journal = session.journals.enter_context(Journal.open(data / "journal.db", "craps-1"))

            def append(journal: Journal = journal, session: Session = session) -> None:
                # Short, so that most of them are one page: the last one of the table.
                session.refused = [("noted", {"number": journal.last_seq + 1})]
                session.told += [event.line() for event in journal.append(session.refused, STAMP)]
                session.refused = []

            # The log has begun anew by then, in place.
            for _ in range(2 * LOG_PAGES):
                append()
            disk.fail_nth(1 + seed % 6, "full")
            with suppress(JournalFull):
                while not disk.struck:
                    append()
            disk.heal()
            with disk.kill(killed) as after, Journal.open(killed / "journal.db", "craps-1") as started:
                were_there[started.last_seq > len(session.told)] += 1
                session.holds(started)
                after_power_cuts(session, after, 1)
            session.journals.close()
        shutil.rmtree(data)
        shutil.rmtree(killed)
    assert min(were_there[True], were_there[False]) > 3


@pytest.mark.parametrize("room", [0, 1, 4096, 20_000, 60_000])
def test_a_full_disk_refuses_whole_appends_and_takes_them_again_when_there_is_room(folder: Path, room: int) -> None:
    data = folder / "data"
    data.mkdir()
    session = Session()
    refused = 0
    with SimulatedDisk(data, random.Random(room)) as disk, Journal.open(data / "journal.db", "craps-1") as journal:
        disk.bytes_free = room
        for _ in range(12):
            session.refused = entries_of(7, journal.last_seq + 1)
            try:
                session.told += [event.line() for event in journal.append(session.refused, STAMP)]
            except JournalFull:
                refused += 1
                assert [event.line() for event in journal.events()] == session.told
        assert refused > 0
        session.refused = []
        disk.bytes_free = None
        session.append_one(journal)
        after_power_cuts(session, disk, 4)


def test_the_power_goes_while_a_program_starts_that_was_killed_after_a_failed_flush(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For each flush that fails, and each operation of the start in which the power goes."""
    write_log_anew = journal_files.write_log_anew
    data, killed = folder / "data", folder / "killed"
    cuts_in_start = 0
    for n in range(1, OPERATIONS_MIN["sync"] + 1):
        was_cut = True
        m = 0
        while was_cut:
            m += 1
            data.mkdir()
            session = Session()
            with SimulatedDisk(data, random.Random(1000 * n + m)) as disk:
                disk.fail_nth(n, "sync")
                session.run(disk)
                after = disk.kill(killed)
                session.journals.close()

            def log_written_anew(path: Path, disk: SimulatedDisk = after) -> None:
                write_log_anew(path)
                if log_path(path).exists():
                    disk.flushed(log_path(path))

            with after:
                after.cut_nth(m)
                with monkeypatch.context() as patched, suppress(JournalError):
                    patched.setattr("device.journal.write_log_anew", log_written_anew)
                    Journal.open(killed / "journal.db", "craps-1").close()
                was_cut = after.dead
                cuts_in_start += was_cut
                after_power_cuts(session, after, 3)
            shutil.rmtree(data)
            shutil.rmtree(killed)
    assert cuts_in_start > 50
