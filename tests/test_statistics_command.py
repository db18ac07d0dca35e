"""`boxman statistics`, and the program that makes the page's figures: what they say, and how they refuse."""

import asyncio
import csv
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from io import StringIO
from pathlib import Path

import pytest

from device.console.dice_reports import ReportFailed
from device.console.statistics_page import StatisticsPage
from provisioning.command_line import main
from tests.dice_journal import local_zone, write_journal
from tests.played_journal import PlayedJournal


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sessions, an hour apart, each with a set of dice; the second is still open.

    The first: 10 on the pass line is lost to a seven-out on 4. The second: 5 in the field win 5, and 20 stay on pass.
    """
    game = PlayedJournal(wall="2026-11-28T20:00:00.000Z")
    game.use_set("A")
    game.bet("1", "pass_line", 10)
    game.roll((1, 3), (3, 4))
    game.store_set("A")
    game.close()
    game.wait(12 * 3600)
    game.open()
    game.use_set("B")
    game.bet("1", "pass_line", 20)
    game.bet("2", "field", 5)
    game.roll((4, 6))
    return write_journal(tmp_path_factory.mktemp("statistics"), game.events)


def lines(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> list[str]:
    with local_zone("UTC"):
        assert main(["statistics", *map(str, arguments)]) == 0
    return capsys.readouterr().out.splitlines()


def row(text: list[str], begins: str) -> list[str]:
    (found,) = [line for line in text if line.startswith(begins)]
    return found.removeprefix(begins).split()


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    assert main(["statistics", *map(str, arguments)]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    return said.err.strip()


def test_the_table_says_what_was_seen_and_what_is_expected(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = lines(capsys, "--data", data)
    assert said[0] == "STATISTICS OF TABLE craps-1"
    assert said[1].endswith("rolls from 2026-11-28 20:00+00:00 to 2026-11-29 08:01+00:00")
    assert "20 still on the layout, not counted" in said
    assert "3 rolls, 1 line decisions, 0 void throws" in said
    # 36 s from the first roll to the second: a hundred an hour.
    assert any(line.startswith("100.0 rolls an hour of play, of 1 times between rolls") for line in said)
    assert row(said, "10 ") == ["1", "3", "0.2", "0.5", "+1.6"]
    assert row(said, "points set") == ["2", "2", "1.3", "0.7", "+1.0"]
    assert row(said, "seven-outs") == ["1", "1", "0.7", "0.5", "+0.7"]
    assert row(said, "Pass Line")[:6] == ["1", "10", "10", "100.00%", "1.41%", "0.1"]
    assert row(said, "Field")[:6] == ["1", "5", "-5", "-100.00%", "2.78%", "0.1"]
    assert row(said, "all bets")[:4] == ["2", "15", "5", "33.33%"]


@pytest.mark.parametrize(
    ("options", "of", "rolls"),
    [
        (("--session", "1"), ", in session 1", "2 rolls"),
        (("--session", "2"), ", in session 2", "1 rolls"),
        (("--day", "2026-11-28"), ", on 2026-11-28", "2 rolls"),
        (("--set", "B"), ", with set B", "1 rolls"),
        (("--day", "2026-11-29", "--set", "B"), ", on 2026-11-29 with set B", "1 rolls"),
    ],
)
def test_a_period_or_a_set_can_be_chosen(
    data: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], of: str, rolls: str
) -> None:
    said = lines(capsys, "--data", data, *options)
    assert said[0] == f"STATISTICS OF TABLE craps-1{of}"
    assert any(line.startswith(f"{rolls}, ") for line in said)


def test_csv_has_numbers_that_a_spreadsheet_reads(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = list(csv.DictReader(StringIO("\n".join(lines(capsys, "--data", data, "--csv")))))
    by_name = {(row["figure"], row["of"]): row for row in rows}
    assert by_name["rolls", ""]["seen"] == "3"
    assert by_name["total", "7"] | {"standard_error": "", "off_by": ""} == {
        "figure": "total",
        "of": "7",
        "seen": "1",
        "sample": "3",
        "expected": "0.5",
        "rounding": "",
        "standard_error": "",
        "off_by": "",
    }
    field = by_name["won", "Field"]
    assert (field["seen"], field["sample"], field["expected"]) == ("-5", "5", "0.139")
    assert float(field["off_by"]) < 0
    assert by_name["bets decided", "all bets"]["seen"] == "2"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--day", "yesterday"), "boxman: --day yesterday must be a day such as 2026-11-29"),
        (("--session", "0"), "boxman: --session 0 must be a whole number, 1 or more"),
        (("--session", "3"), "no rolls were recorded in session 3"),
        (("--day", "2026-11-27"), "no rolls were recorded on 2026-11-27"),
        (("--set", "C"), "no rolls were recorded with set C"),
    ],
)
def test_what_cannot_be_shown_is_said_in_one_line(
    data: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], said: str
) -> None:
    complaint = refusal(capsys, "--data", data, *options)
    assert said in complaint
    assert "\n" not in complaint


def test_the_program_gives_every_period_of_the_page(data: Path) -> None:
    command = [sys.executable, "-m", "device.statistics_program", str(data / "journal.db"), "--language", "es"]
    made = subprocess.run(command, capture_output=True, check=True, env={"TZ": "UTC"}, timeout=120)
    view = json.loads(made.stdout)
    assert (view["table"], view["open_session"], view["layout"]) == ("craps-1", 2, 20)
    assert [(period["kind"], period["name"], period["rolls"]) for period in view["periods"]] == [
        ("all", None, 3),
        ("day", "2026-11-29", 1),
        ("day", "2026-11-28", 2),
        ("session", 2, 1),
        ("session", 1, 2),
        ("set", "B", 1),
        ("set", "A", 2),
    ]
    (field,) = [bet for bet in view["periods"][0]["bets"] if bet["kind"] == "field"]
    assert (field["name"], field["staked"], field["won"]) == ("Campo", 5, -5)


def test_all_who_ask_meanwhile_get_one_reading(data: Path) -> None:
    async def ask() -> list[bytes]:
        page = StatisticsPage(data / "journal.db")
        return list(await asyncio.gather(*(page.made("en") for _ in range(3))))

    first, *others = asyncio.run(ask())
    assert all(other is first for other in others)


def test_a_damaged_journal_is_named(data: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "journal.db"
    damaged.write_bytes((data / "journal.db").read_bytes())
    with closing(sqlite3.connect(damaged)) as connection:
        for (trigger,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {trigger}")
        connection.execute("DELETE FROM events WHERE seq = 5")
        connection.commit()
    with pytest.raises(ReportFailed, match=r"the statistics cannot be made: .*journal\.db"):
        asyncio.run(StatisticsPage(damaged).made("en"))
