"""Who has seen which alert at the pit: kept over a start, chained, and refused where somebody altered it."""

from pathlib import Path

import pytest

from device.clock import Clock
from device.journal import Journal, JournalDamaged
from provisioning.central.pit_database import Standing
from provisioning.central.pit_seen import NAMES_MAX, SeenBook
from provisioning.command_line import main
from tests.journal_rig import events_in, rewrite

ONE, OTHER = ("casino-1", "craps-1"), ("casino-2", "craps-1")
PUCK = Standing("puck_differs", 7, "The puck is on 8.", {}, latched=False, acknowledged_by=None)
AGAIN = Standing("puck_differs", 9, "The puck is lifted.", {}, latched=False, acknowledged_by=None)
# 2026-11-30T07:12:00.250Z in milliseconds since 1970.
AT_MS = 1_796_022_720_250


def clock() -> Clock:
    return Clock(boot="boot-1", monotonic_ns=lambda: 1, wall_ns=lambda: AT_MS * 1_000_000, time_state=lambda: 0)


def test_it_is_known_again_after_a_start_and_for_that_alert_alone(tmp_path: Path) -> None:
    with Journal.open(tmp_path / "journal.db", "pit") as journal:
        SeenBook(journal, clock()).add(ONE, PUCK, "Eva Ruiz")
    with Journal.open(tmp_path / "journal.db", "pit") as journal:
        book = SeenBook(journal, clock())
        assert book.who(ONE, PUCK) == {"name": "Eva Ruiz", "at": AT_MS}
        # Raised anew, at another table of that name: nobody has seen that.
        assert book.who(ONE, AGAIN) is None
        assert book.who(OTHER, PUCK) is None


def test_the_last_names_are_offered_each_once(tmp_path: Path) -> None:
    with Journal.open(tmp_path / "journal.db", "pit") as journal:
        book = SeenBook(journal, clock())
        for raised, name in enumerate(["A", "B", "C", "D", "E", "F", "G", "B"], start=1):
            book.add(ONE, Standing("x", raised, "", {}, latched=False, acknowledged_by=None), name)
        assert book.names == ["B", "G", "F", "E", "D", "C"]
        assert len(book.names) == NAMES_MAX
        assert SeenBook(journal, clock()).names == book.names


def test_one_that_was_altered_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    with Journal.open(path, "pit") as journal:
        for name in ("Eva", "Luis", "Ana", "Eva", "Ana"):
            SeenBook(journal, clock()).add(ONE, PUCK, name)
    lines = [event.line() for event in events_in(path)]
    rewrite(path, [lines[0], lines[1].replace("Luis", "Juan"), *lines[2:]])
    with Journal.open(path, "pit") as journal, pytest.raises(JournalDamaged, match="event 2"):
        SeenBook(journal, clock())


def test_its_journal_is_verified_as_what_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "journal.db"
    with Journal.open(path, "pit") as journal:
        for name in ("Eva", "Luis", "Ana"):
            SeenBook(journal, clock()).add(ONE, PUCK, name)
        last_hash = journal.last_hash
    verify = ["journal", "verify", "--data", str(tmp_path)]
    assert main(verify) == 0
    assert capsys.readouterr().out.splitlines() == [
        "the pit's journal of who has seen which alert, which nothing signs: its chain was checked, and no more",
        f"3 events, unbroken; the last hash is {last_hash}",
    ]
    # In the folder of a table it proves nothing.
    (tmp_path / "table.key").touch()
    assert main(verify) == 1
    assert "event 1: comes before any start" in capsys.readouterr().err
    (tmp_path / "table.key").unlink()

    with Journal.open(path, "pit") as journal:
        journal.append([("shooter", {})], clock().stamp())
    assert main(verify) == 1
    assert capsys.readouterr().err == f"{path}: event 4: is none of the pit's, which are of alerts that were seen\n"
    lines = [event.line() for event in events_in(path)]
    rewrite(path, [lines[0], lines[1].replace("Luis", "Juan"), *lines[2:]])
    assert main(verify) == 1
    assert f"{path}: event 2: " in capsys.readouterr().err
