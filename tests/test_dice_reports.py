"""The reports of dice control as pages of a running terminal."""

import asyncio
import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from device.console.dice_reports import DiceReports
from device.dice_control.report_kinds import FIRST_DAY, LAST_DAY
from tests.dice_journal import spanish_day, write_journal
from tests.terminal_rig import TerminalProcess

ROLLS = [(2, 4), (3, 3), (6, 5)]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TerminalProcess]:
    """A table with a set of five at it, two of its dice in play for three rolls."""
    with TerminalProcess(tmp_path_factory.mktemp("reports") / "data") as process:
        for action in (
            {"on_duty": {"boxman": "Ana", "witness": "Luis"}},
            {"receive": {"set": "A-1", "dice": 5, "maker": "B <&> 1", "colour": "red"}},
            {"place": {"set": "A-1"}},
            {"correction": {"places": {"5": "inspection"}, "note": "B <&> 1"}},
            {"correction": {"places": {"5": "reserve"}, "note": "B <&> 1"}},
            {"change": {"taken": ["1", "2"]}},
        ):
            dice(process, action)
        for first, second in ROLLS:
            process.do({"roll": [first, second]})
        yield process


def dice(table: TerminalProcess, action: dict[str, Any]) -> dict[str, Any]:
    answer = table.client.post("/api/dice", json={"id": table.fresh_id(), "action": action})
    assert answer.status_code == 200, answer.text
    done: dict[str, Any] = answer.json()
    return done


@pytest.fixture(scope="module")
def gaming_day(table: TerminalProcess) -> str:
    """The gaming day on which all that was done at the table: it begins at six."""
    assert table.state()["roll_number"] == len(ROLLS)
    return (datetime.now() - timedelta(hours=6)).date().isoformat()


@pytest.mark.parametrize("path", ["/dice/log", "/dice/status", "/dice/report?day={day}", "/dice/log?day={day}"])
@pytest.mark.parametrize("language", ["", "en", "es", "pt", "zh-Hant"])
def test_a_report_is_a_page_that_names_the_set_and_runs_no_script(
    table: TerminalProcess, gaming_day: str, path: str, language: str
) -> None:
    parts = {"language": language} if language else {}
    url = path.format(day=gaming_day)
    answer = table.client.get(url, params=parts or None) if "?" not in url else table.client.get(url + _more(parts))
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "A-1" in answer.text
    assert "B &lt;&amp;&gt; 1" in answer.text, "the maker, and a note"
    assert "<script" not in answer.text
    assert f'lang="{language or "en"}"' in answer.text


def _more(parts: dict[str, str]) -> str:
    return "".join(f"&{name}={value}" for name, value in parts.items())


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/dice/report", "day"),
        ("/dice/report?day=yesterday", "day"),
        ("/dice/log?day=2026-02-30", "day"),
        ("/dice/report?day=9999-12-31", "day"),
        ("/dice/report?day=0001-01-01", "day"),
        ("/dice/log?day=0001-01-01", "day"),
        ("/dice/log?language=fr", "language"),
    ],
)
def test_a_report_that_cannot_be_meant_is_refused(table: TerminalProcess, path: str, field: str) -> None:
    answer = table.client.get(path)
    assert (answer.status_code, answer.json()["field"]) == (400, field)


def test_the_rolls_of_a_set_are_counted(table: TerminalProcess) -> None:
    [counted] = table.client.get("/api/dice/fairness").json()["sets"]
    assert (counted["set"], counted["rolls"], counted["advisory"]) == ("A-1", 3, False)
    # 2-4, 3-3 and 6-5: a two, two threes, a four, a five and a six; totals 6, 6 and 11.
    assert counted["faces"] == {"1": 0, "2": 1, "3": 2, "4": 1, "5": 1, "6": 1}
    assert {total: count for total, count in counted["totals"].items() if count} == {"6": 2, "11": 1}
    # Six dice, one of each face; three rolls, five ways of 36 for a six.
    assert counted["expected"]["faces"]["3"] == 1.0
    assert counted["expected"]["totals"]["6"] == round(3 * 5 / 36, 2)


def test_the_first_and_the_last_day_that_may_be_asked_for_are_days_without_events(table: TerminalProcess) -> None:
    for day in (FIRST_DAY, LAST_DAY):
        answer = table.client.get(f"/dice/report?day={day}&language=en")
        assert answer.status_code == 200, answer.text
        assert "Nothing was done with dice or the reserve on this day." in answer.text


def test_the_console_s_own_page_is_in_its_language_and_a_report_in_the_table_s(tmp_path: Path) -> None:
    reports = DiceReports(write_journal(tmp_path, spanish_day().journal) / "journal.db")
    verdicts = {"en": "first look after 100 rolls", "es": "primera revisión tras 100 tiradas"}
    for language, verdict in verdicts.items():
        [counted] = json.loads(asyncio.run(reports.fairness(language)))["sets"]
        assert counted["verdict"] == verdict
    assert b'lang="es"' in asyncio.run(reports.page("status", None, None))


def test_the_table_takes_rolls_while_a_report_is_made(table: TerminalProcess) -> None:
    before = table.state()["roll_number"]
    with table.client.stream("GET", "/dice/log") as report:
        table.do({"no_roll": "off_table"})
        assert report.status_code == 200
    assert table.state()["roll_number"] == before


def test_a_set_that_was_not_inspected_is_recorded_against_the_rule_and_alerts(table: TerminalProcess) -> None:
    state = table.wait_for_state(
        lambda state: "against_rule" in [alert["code"] for alert in state["alerts"]], "the alert of the rule"
    )
    [dice_set] = state["dice"]["sets"]
    assert [die["place"] for die in dice_set["dice"]] == ["play", "play", "reserve", "reserve", "reserve"]
