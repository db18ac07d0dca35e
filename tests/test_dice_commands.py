"""`boxman dice`: text, CSV and pages out of a journal, in the table's language; and bad input."""

import csv
import io
import re
import string
import subprocess
import unicodedata
from collections.abc import Callable, Iterator
from datetime import UTC
from pathlib import Path

import pytest

from device.dice_control.day_report import DAY_BEGINS
from device.dice_control.dice_alerts import DICE_ALERTS
from device.dice_control.dice_history import history
from device.dice_control.dice_rules import NAMES, REASONS
from device.dice_control.dice_state import PLACES
from device.dice_control.report_words import WORDS, Words
from device.event import Event, Stamp
from device.journal import Journal
from device.languages.languages import LANGUAGES, language_of
from engine_lite.steps import NO_ROLL_REASONS
from provisioning.command_line import main
from provisioning.dice_csv import LOG_COLUMNS, safe
from provisioning.dice_text import WIDTH, log_lines, shown_width, wrapped
from tests.dice_journal import DiceJournal, local_zone, spanish_day, write_journal
from tests.dice_table import Data
from tests.terminal_rig import BOXMAN

Run = Callable[..., str]
DAY = "2026-11-29"


@pytest.fixture(autouse=True)
def in_madrid() -> Iterator[None]:
    with local_zone("Europe/Madrid"):
        yield


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the journal of `spanish_day`."""
    return write_journal(tmp_path_factory.mktemp("data"), spanish_day().journal)


@pytest.fixture
def run(data: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `boxman dice ...` on the journal and gives what it prints: a report, or one line that says what is wrong."""

    def run(*arguments: str, status: int = 0, folder: Path = data) -> str:
        assert main(["dice", *arguments, "--data", str(folder)]) == status
        said = capsys.readouterr()
        if said.err:
            assert (status, said.err.count("\n"), said.out) == (1, 1, "")
            return said.err
        return said.out

    return run


def rows_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


# Text


def test_the_log_tells_every_row_in_local_time(run: Run) -> None:
    text = run("log", "--language", "en")
    assert (
        "2026-11-29 19:11:48    29      1     6      3        Dice swapped, Set A\n"
        "    Dice A2: in play > in the reserve; A4: in the reserve > in play\n"
        "    Reason: shooter's request\n"
        "    Asked by: shooter 3\n"
        "    Done by: Ana. Seen by: Luis\n"
        "    AGAINST THE RULE: IV.3: No change of dice (shooter request) during the series for point 6.\n"
    ) in text
    assert "    Reason: NOT EXPLAINED\n    Open for: 1.5 s\n" in text
    assert "    DIFFERENCE: die B6: by the log in the reserve, seen nowhere\n" in text
    last = spanish_day().journal[-1]
    assert f"Journal: last event {last.seq}, hash {last.hash}\n" in text


def test_the_report_tells_the_account(run: Run) -> None:
    text = run("report", "--day", DAY, "--language", "en", status=1)
    for line in (
        "NOT IN ORDER:",
        "- Missing, set A: A1",
        "- Closing count of set B (event 36): die B6: by the log in the reserve, seen nowhere",
        "- Opening of the reserve not explained: 1 (event 39)",
        "- Done against a rule: 3 (events 29, 35, 37)",
        "Set                             A      B      C      D    Sum",
        "At the beginning                6      6      6      0     18",
        "+ Received                      0      0      0      6      6",
        "− Destroyed                     0      0      6      0      6",
        "= At the end                    6      6      0      6     18",
        "Hours at the table          26:30   0:00   0:00   0:00",
        "The moves add up: 18 + 6 − 6 = 18; but the dice do not reconcile, see above.",
        "In use over 24 hours: A (26:30)",
        "4 openings; 1 not explained; 1 explained late by a supervisor.",
        "2 changes of dice; 1 against the rules.",
        "    Against the rule: IV.3: No change of dice (shooter request) during the series for point 6.",
        "es-1979: Orden de 9 de octubre de 1979, Catalogo de Juegos, heading 06 (BOE 261 of 31-10-1979)",
        "Provisional: this day is not over; the journal ends before it does.",
    ):
        assert f"\n{line}\n" in text, line


def test_the_report_ends_with_lines_to_sign(run: Run) -> None:
    *_, end = lines = run("report", "--day", DAY, "--language", "en", status=1).split("\n")
    title, _, heads, *signed = lines[lines.index("Signatures") : -1]
    assert (title, end) == ("Signatures", "")
    assert heads.split() == ["Name", "Signature", "Date", "and", "time"]
    for line, signer in zip(signed[2::3], ("Boxman", "Witness", "Supervisor", "Inspector"), strict=True):
        name, *room = line.split()
        assert name == signer
        assert [set(blank) for blank in room] == [{"_"}] * 3
        assert line.index("_") == heads.index("Name")


NOT_BEGUN = {
    "en": "This day begins at 06:00; the table is still in the gaming day 2026-11-29.",
    "es": "Este día empieza a las 06:00; la mesa está aún en el día de juego 2026-11-29.",
    "pt": "Este dia começa às 06:00; a mesa está ainda no dia de jogo 2026-11-29.",
    "zh-Hant": "當日於 06:00 開始；賭枱仍在博彩日 2026-11-29。",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_day_that_has_not_begun_says_so_before_anything_else(run: Run, language: str) -> None:
    asked = ("report", "--day", "2026-11-30", "--language", language)
    title, _, first, *_ = run(*asked, status=1).split("\n")
    assert (title, first) == (WORDS["report"][list(LANGUAGES).index(language)], NOT_BEGUN[language])
    assert rows_of(run(*asked, "--csv", status=1))[1][2] == NOT_BEGUN[language]
    assert f'</h1>\n<p class="notice">{NOT_BEGUN[language]}</p>' in run(*asked, "--html", status=1)


def test_the_hour_at_which_the_day_begins_is_the_one_that_was_asked_for(run: Run) -> None:
    # The journal ends at 22:40 UTC, which is 23:40 in Madrid.
    text = run("report", "--day", DAY, "--begins", "23:45", "--language", "en", status=1)
    assert "\nThis day begins at 23:45; the table is still in the gaming day 2026-11-28.\n" in text


@pytest.mark.parametrize(
    ("day", "first"),
    [
        (DAY, "Provisional: this day is not over; the journal ends before it does."),
        ("2026-11-28", "This day is over; the journal ends in the gaming day 2026-11-29."),
    ],
)
def test_a_day_says_whether_it_is_over(run: Run, day: str, first: str) -> None:
    asked = ("report", "--day", day, "--language", "en")
    # On the 29th a die is lost, and a count differs.
    status = 1 if day == DAY else 0
    assert run(*asked, status=status).split("\n")[2] == first
    assert rows_of(run(*asked, "--csv", status=status))[1][2] == first
    mark = ' class="notice"' if day == DAY else ""
    assert f"</h1>\n<p{mark}>{first}</p>" in run(*asked, "--html", status=status)


UNKNOWN = "2 rolls while no set was known to be in play."
LACKING = "NO SET OF DICE WAS RECORDED: 2 rolls on this day, with dice that the log does not know."


@pytest.mark.parametrize("form", [(), ("--csv",), ("--html",)])
def test_rolls_without_a_set_are_no_all_clear(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: tuple[str, ...]
) -> None:
    journal = DiceJournal(wall="2026-11-29T18:00:00.000Z")
    journal.roll(1, 2)
    journal.roll(3, 4)
    write_journal(tmp_path, journal.journal)

    def report(day: str) -> tuple[int, str]:
        status = main(["dice", "report", "--day", day, "--language", "en", "--data", str(tmp_path), *form])
        return status, capsys.readouterr().out

    status, text = report(DAY)
    assert status == 1
    assert LACKING in text
    assert UNKNOWN in text
    for clear in ("The account balances", "no dice to account for", "Nothing was done"):
        assert clear not in text
    status, text = report("2026-11-28")
    assert (status, LACKING in text, UNKNOWN in text) == (0, False, False)


def test_one_is_one_and_not_many_in_every_language(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    journal = DiceJournal(wall="2026-11-29T18:00:00.000Z")
    journal.do("on_duty", boxman="Ana", witness="Luis")
    journal.set_up(dice=5)
    late = journal.lid_opened_for(1)
    journal.raise_alert(f"reserve_unexplained:{late}", "No reason.")
    journal.do("explain", opening=late, reason="inspector_request", as_="supervisor", done_by="Eva")
    journal.roll(1, 2)
    write_journal(tmp_path, journal.journal)
    told = {
        "en": (
            "1 opening; 0 not explained; 1 explained late by a supervisor.",
            "1 change of dice; 0",
            "1 roll;",
        ),
        "es": (
            "1 apertura; 0 sin explicar; 1 explicada tarde por el jefe de mesa.",
            "1 cambio de dados; 0",
            "1 tirada;",
        ),
        "pt": (
            "1 abertura; 0 sem explicação; 1 explicada tarde pelo supervisor.",
            "1 mudança de dados; 0",
            "1 lançamento;",
        ),
        "zh-Hant": ("共開啟 1 次；0 次未有說明；1 次由主管補充說明。", "共換骰 1 次；0", "擲 1 次;"),
    }
    for language, said in told.items():
        for action in (("report", "--day", DAY), ("status",)):
            assert main(["dice", *action, "--language", language, "--data", str(tmp_path)]) == 0
        text = capsys.readouterr().out
        assert [part for part in said if part not in text] == []


def test_a_phrase_of_one_says_the_same_as_that_of_many() -> None:
    ones = [key for key in WORDS if key.endswith(".one")]
    assert ones
    for key in ones:
        many = WORDS[key.removesuffix(".one")]
        parts = [{part for _, part, _, _ in string.Formatter().parse(said[0])} for said in (WORDS[key], many)]
        assert parts[0] == parts[1]
        assert "number" in parts[0]


def test_the_status_tells_where_every_die_is(run: Run) -> None:
    text = run("status", "--language", "en")
    for line in (
        "Set A: 6 dice, Bold, red, mark CM",
        "    missing: A1; withdrawn: A2, A3, A4, A5, A6",
        "    destroyed: C1, C2, C3, C4, C5, C6",
        "Reserve: closed",
        "Reserve opened (event 39): NOT EXPLAINED",
    ):
        assert f"\n{line}\n" in text, line


def test_a_day_and_a_time_choose_rows(run: Run) -> None:
    of_day = rows_of(run("log", "--day", DAY, "--csv"))
    assert [row[0] for row in of_day[1:]] == [str(seq) for seq in range(13, 41) if seq not in (15, 33)]
    # 18:00 and 18:01 UTC; the end is not part of the time.
    some = rows_of(run("log", "--since", "2026-11-29T19:00", "--until", "2026-11-29T18:01:00Z", "--csv"))
    assert [row[0] for row in some[1:]] == ["13", "14"]
    # The gaming day of the 29th that begins at 19:30 has what was done at 22:30 UTC, and the day before the rest.
    late = rows_of(run("log", "--day", DAY, "--begins", "19:30", "--csv"))
    assert [row[0] for row in late[1:]] == [str(seq) for seq in range(34, 41)]


def test_nothing_is_said_of_a_day_without_events(run: Run) -> None:
    assert run("log", "--day", "2020-01-01", "--language", "en").endswith("\nNothing about dice or the reserve.\n")
    assert "\nNothing was done with dice or the reserve on this day.\n" in run(
        "report", "--day", "2020-01-01", "--language", "en"
    )


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("action", ["log", "status", "report"])
def test_no_line_is_wider_than_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], language: str, action: str
) -> None:
    journal = DiceJournal("es-md-2004", "2026-11-29T18:00:00.000Z")
    name = "W" * 40
    journal.do("on_duty", boxman=name, witness="骰" * 40)
    journal.game(shooter="骰" * 40, point=None)
    for number in range(9):
        journal.receive(f"{number}" * (40 if number % 2 else 6), dice=5)
    journal.inspect(set="0" * 6, unsound={"3": "chipped " * 20 + "!"}, note="骰" * 200)
    journal.do("place", set="0" * 6)
    journal.do("change", set="0" * 6, taken=["1", "2"], asked_by="player", asked_by_name="P" * 40)
    journal.lid_opened_for(1)
    journal.raise_alert("dice_missing:A", "x" * 300)
    journal.do("count", set="0" * 6, count="check", seen={"play": ["1", "9"], "reserve": []})
    write_journal(tmp_path, journal.journal)
    day = ["--day", DAY] if action == "report" else []
    differs = action == "report"
    assert main(["dice", action, *day, "--language", language, "--data", str(tmp_path)]) == int(differs)
    lines = capsys.readouterr().out.split("\n")
    assert max(map(shown_width, lines)) <= WIDTH == 100
    assert all("\N{HORIZONTAL ELLIPSIS}" not in line or action == "log" for line in lines)


def test_wrapping() -> None:
    assert wrapped("one two three", 7, 2) == ["one two", "  three"]
    assert wrapped("abcdefghij", 4, 1) == ["abcd", " efg", " hij"]
    assert wrapped("骰骰骰", 4, 0) == ["骰骰", "骰"]
    assert wrapped("", 4, 0) == [""]
    # A word with an accent is no more broken than one without, and one that is too long still is.
    assert wrapped("en inspección", 12, 2) == ["en", "  inspección"]
    assert wrapped("sr. Peña", 6, 1) == ["sr.", " Peña"]
    assert wrapped("á" * 6, 4, 1) == ["áááá", " áá"]


# The machine's zone and unsynced clocks


def test_a_time_from_a_clock_that_was_not_synced_has_a_question_mark() -> None:
    journal = DiceJournal(wall="2026-11-29T18:00:00.000Z")
    journal.clock = "free"
    journal.lid(True)
    found = history(journal.journal)
    lines = list(log_lines(found, found.rows, "", Words("en"), UTC))
    assert any(line.startswith("2026-11-29 18:00:00 ?  3 ") for line in lines)
    assert lines[-3:] == [
        "? = the clock was not synced: the order is certain, the time is not.",
        "",
        "The clock was not synced at 1 event (3): its order is certain, its time is not.",
    ]


def test_the_question_mark_is_explained_at_the_foot_of_each_table_that_has_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = DiceJournal(wall="2026-11-29T18:00:00.000Z")
    journal.do("on_duty", boxman="Ana", witness="Luis")
    journal.set_up(dice=5)
    journal.clock = "free"
    journal.lid_opened_for(1)
    write_journal(tmp_path, journal.journal)
    foot = "? = the clock was not synced: the order is certain, the time is not."
    asked = ["dice", "report", "--day", DAY, "--language", "en", "--data", str(tmp_path)]
    assert main(asked) == 0
    parts = capsys.readouterr().out.split("\n\n")
    assert [part.split("\n")[0] for part in parts if foot in part] == ["Openings of the reserve"]
    assert main([*asked, "--html"]) == 0
    sections = capsys.readouterr().out.split("<h2>")[1:]
    assert [part.partition("<")[0] for part in sections if f'<td colspan="7">{foot}</td></tr></tfoot>' in part] == [
        "Openings of the reserve"
    ]
    assert main([*asked, "--csv"]) == 0
    assert "The clock was not synced at 2 events" in capsys.readouterr().out


# CSV


def test_the_log_as_csv_names_the_alert(run: Run) -> None:
    rows = [dict(zip(LOG_COLUMNS, row, strict=True)) for row in rows_of(run("log", "--csv", "--language", "en"))]
    assert rows[0]["alert"] == "Alert"
    named = {row["event"]: row["alert"] for row in rows[1:] if row["alert"]}
    (opening,) = [row["event"] for row in rows if "explained late" in row["reason"]]
    assert list(named.values()) == [f"reserve_unexplained:{opening}"] * 2


def test_how_long_the_lid_was_open_is_the_same_in_text_and_csv(run: Run) -> None:
    text = re.findall(r"Open for: ([0-9.]+) s", run("log", "--language", "en"))
    cells = [row[LOG_COLUMNS.index("open_s")] for row in rows_of(run("log", "--csv"))[1:]]
    # 3.25 s are 3.3.
    assert text == [cell for cell in cells if cell] == [said for said in ("6.5", "12.0", "3.3", "1.5") for _ in "oc"]


def test_the_log_as_csv_is_rfc_4180(run: Run) -> None:
    text = run("log", "--csv", "--language", "en")
    assert text.count("\r\n") == text.count("\n") == len(spanish_day().journal) - 3 + 1
    head, *rows = rows_of(text)
    assert len(head) == len(LOG_COLUMNS)
    assert {len(row) for row in rows} == {len(LOG_COLUMNS)}
    by_name = [dict(zip(LOG_COLUMNS, row, strict=True)) for row in rows]
    swap = next(row for row in by_name if row["event"] == "29")
    assert (
        swap
        | {
            "time": "2026-11-29T19:11:48.500+01:00",
            "utc": "2026-11-29T18:11:48.500Z",
            "clock": "synced",
            "session": "1",
            "shooter": "3",
            "roll": "1",
            "phase": "point",
            "point": "6",
            "what": "Dice swapped",
            "set": "A",
            "dice": "A2: in play > in the reserve; A4: in the reserve > in play",
            "reason": "shooter's request",
            "asked_by": "shooter 3",
            "done_by": "Ana",
            "seen_by": "Luis",
            "against_rule": "IV.3: No change of dice (shooter request) during the series for point 6. house: "
            "Dice left or entered the reserve, but its lid was not opened.",
            "difference": "",
            "open_s": "",
            "belongs_to": "",
            "note": "",
            "alert": "",
        }
        == swap
    )
    lid = next(row for row in by_name if row["event"] == "18")
    assert (lid["open_s"], lid["reason"]) == ("6.5", "die off the table (Ana)")


def test_the_report_as_csv_has_every_figure(run: Run) -> None:
    rows = rows_of(run("report", "--day", DAY, "--csv", "--language", "en", status=1))
    figures = {(row[1], row[0], row[2]): row[3] for row in rows}
    assert figures["A", "Moved on this day", "Withdrawn"] == "5"
    assert figures["A", "At the end, by place", "Missing, or on the floor"] == "1"
    assert figures["Sum", "Account of the dice", "Received"] == "6"
    assert figures["Sum", "Account of the dice", "At the end"] == "18"
    assert figures["A", "Moved on this day", "Hours at the table"] == "26:30"
    count = next(row for row in rows if row[2] == "Closing count")
    assert count[3:] == [
        "in the reserve: B1, B2, B3, B4, B5; die B6: by the log in the reserve, seen nowhere",
        "36",
        "2026-11-29T23:30:00+01:00",
        # Session, roll and shooter; there is no point.
        *("1", "2", "", "3"),
        "",
        "Ana",
        "Luis",
    ]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠"])
def test_no_cell_is_a_formula(start: str) -> None:
    assert safe(f'{start}HYPERLINK("x")') == f'\'{start}HYPERLINK("x")'


def test_numbers_and_harmless_texts_stay_as_they_are() -> None:
    assert [safe(cell) for cell in (-5, 0, None, "a=b", "")] == ["-5", "0", "", "a=b", ""]


def test_a_name_that_is_a_formula_is_harmless_in_the_csv(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    journal = DiceJournal(wall="2026-11-29T18:00:00.000Z")
    journal.on_duty_before('=cmd|"/c calc"!A1', "Luis")
    write_journal(tmp_path, journal.journal)
    assert main(["dice", "log", "--csv", "--data", str(tmp_path)]) == 0
    row = rows_of(capsys.readouterr().out)[-1]
    assert row[LOG_COLUMNS.index("done_by")] == '\'=cmd|"/c calc"!A1'


# Languages


@pytest.mark.parametrize(
    ("rules", "language"),
    [
        ("es-1979", "es"),
        ("es-md-2004", "es"),
        ("cl-scj", "es"),
        ("pe-1999", "es"),
        ("mo-2010", "pt"),
        ("us-vegas", "en"),
        ("house-2", "en"),
        (None, "en"),
    ],
)
def test_the_language_follows_the_rule_set(rules: str | None, language: str) -> None:
    assert language_of(rules) == language


def test_the_report_speaks_the_table_s_language_unless_told_otherwise(run: Run) -> None:
    assert run("report", "--day", DAY, status=1).startswith("Conciliación diaria de los dados\n")
    assert "Tirada nula" in run("log")
    assert run("status", "--language", "pt").startswith("Dados: onde estão\n")
    assert run("log", "--language", "zh-Hant").startswith("骰子日誌\n")


def test_every_phrase_has_the_same_parts_in_every_language() -> None:
    for key, phrases in WORDS.items():
        parts = [{part for _, part, _, _ in string.Formatter().parse(phrase) if part} for phrase in phrases]
        assert all(part == parts[0] for part in parts), key
        assert all(phrase.strip() for phrase in phrases), key
        assert all(unicodedata.is_normalized("NFC", phrase) for phrase in phrases), key


def test_everything_that_a_row_can_say_has_a_word() -> None:
    whats = {
        *("swap", "change", "offer", "off_table", "found", "missing", "correction", "received", "inspected", "placed"),
        *("count_opening", "count_closing", "count_check", "void_dice", "void_throw", "explained", "duty"),
        *(f"to_{place}" for place in ("store", "withdrawn", "cancelled", "destroyed", "written_off")),
        *("reserve_opened", "reserve_closed", "alert_raised", "alert_cleared", "alert_acknowledged"),
        *("table_opened", "table_closed", "slots_changed_shut", "asked_anew", "unwatched", "watched_again"),
        *("edge_lost", "changes_dropped"),
    }
    for group, names in (
        ("what", whats),
        ("place", PLACES),
        ("reason", REASONS),
        ("no_roll", NO_ROLL_REASONS),
        ("asker", ("shooter", "player", "inspector", "supervisor", "boxman")),
    ):
        for name in names:
            assert f"{group}.{name}" in WORDS
    assert Words("es").of("reason", "something_new") == "something new"
    assert {language_of(name) for name in NAMES} == {"en", "es", "pt"}
    assert len(DICE_ALERTS) == len(set(DICE_ALERTS))


def test_chinese_needs_a_font_and_that_is_said(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["dice", "report", "--help"])
    assert "font with Chinese letters, such as Noto Sans CJK TC" in " ".join(capsys.readouterr().out.split())
    page = run("report", "--day", DAY, "--html", "--language", "zh-Hant", status=1)
    # The text, and the foot of a printed sheet on either side.
    assert page.count('"Noto Sans TC", "Noto Sans CJK TC"') == 3


# Bad input


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("report", "--day", "yesterday"), "--day yesterday must be a day such as 2026-11-29"),
        (("report", "--day", "2026-02-30"), "--day 2026-02-30 must be a day"),
        (("report", "--day", "9999-12-31"), "--day 9999-12-31 must be a day"),
        (("report", "--day", "0001-01-01"), "--day 0001-01-01 must be a day"),
        (("report", "--day", DAY, "--begins", "noon"), "--begins noon must be a time of day such as 06:00"),
        (("report", "--day", DAY, "--begins", "06:00Z"), "--begins 06:00Z must be a time of day"),
        (("log", "--since", "later"), "--since later must be a time such as 2026-11-29T22:00"),
        (("log", "--until", "0001-01-01"), "--until 0001-01-01 must be a time"),
        (("log", "--since", "2026-11-30", "--until", DAY), f"--until {DAY} must be later than --since 2026-11-30"),
        (("log", "--since", DAY, "--until", DAY), "must be later"),
        (("log", "--day", DAY, "--since", DAY), "give it without --since and --until"),
        (("log", "--begins", "07:00"), "give --day too"),
        (("log", "--language", "klingon"), "--language klingon must be one of en, es, pt, zh-Hant"),
    ],
)
def test_bad_input_is_one_line(run: Run, arguments: tuple[str, ...], told: str) -> None:
    assert told in run(*arguments, status=1)


@pytest.mark.parametrize("action", ["log", "status", "report"])
def test_no_journal_is_one_line(run: Run, tmp_path: Path, action: str) -> None:
    day = ["--day", DAY] if action == "report" else []
    assert "there is no journal" in run(action, *day, status=1, folder=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_broken_journal_is_one_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "journal.db").write_bytes(b"no database" * 100)
    assert "is not a database" in run("status", status=1, folder=tmp_path)


@pytest.mark.parametrize(
    ("kind", "event"),
    [
        ("roll", {"step": {"roll": [0, 9]}, "number": 1, "point": None}),
        ("dice_moved", {"set": "A", "moves": [{"die": "1"}]}),
        ("alert_raised", {"alert": "reserve_unexplained:x", "text": "No reason."}),
    ],
)
def test_an_event_that_is_not_what_it_says_is_one_line(run: Run, tmp_path: Path, kind: str, event: Data) -> None:
    journal = DiceJournal()
    journal.do("on_duty", boxman="Ana", witness="Luis")
    journal.set_up()
    seq = journal.append(kind, event)
    write_journal(tmp_path, journal.journal)
    assert f"event {seq} ({kind}) is not as this program writes it" in run("status", status=1, folder=tmp_path)


@pytest.mark.parametrize("form", ["", "--csv", "--html"])
def test_a_full_disk_behind_standard_output_is_one_line(data: Path, form: str) -> None:
    command = f'"{BOXMAN}" dice log --data "{data}" {form} >/dev/full'
    ended = subprocess.run(["bash", "-c", command], capture_output=True, timeout=60, check=False)
    assert ended.returncode == 1
    assert ended.stderr.count(b"\n") == 1
    assert b"No space left on device" in ended.stderr


def test_an_account_that_does_not_balance_ends_with_status_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = spanish_day()
    facts = dict(journal.journal[12].data)
    journal.append("dice_set_moved", facts | {"to": "destroyed", "moves": [move("B", "B7", "store", "destroyed")]})
    write_journal(tmp_path, journal.journal)
    assert main(["dice", "report", "--day", DAY, "--language", "en", "--data", str(tmp_path)]) == 1
    text = re.sub(r"\s+", " ", capsys.readouterr().out)
    assert "THE ACCOUNT DOES NOT BALANCE: 18 + 6 − 7, and 18 at the end." in text
    assert 'Event 41 moves die B7 of set B from "in the store"; by the events before it was: never received.' in text


def move(set_name: str, die: str, source: str, target: str) -> dict[str, str]:
    return {"set": set_name, "die": die, "from": source, "to": target}


# Beside a running terminal


def test_it_reads_beside_the_writer_and_changes_nothing(tmp_path: Path, run: Run) -> None:
    write_journal(tmp_path, spanish_day().journal)
    with Journal.open(tmp_path / "journal.db", "craps-1") as journal:
        before = journal.last_hash
        assert f"hash {before}" in run("log", "--language", "en", folder=tmp_path).replace("\n    ", " ")
        last = spanish_day().journal[-1]
        (event,) = journal.append([("stopped", {})], stamp_of(last))
        assert f"hash {event.hash}" in run("log", "--language", "en", folder=tmp_path).replace("\n    ", " ")
        assert journal.last_seq == last.seq + 1
    assert {path.name for path in tmp_path.iterdir()} == {"journal.db"}


def stamp_of(event: Event) -> Stamp:
    return Stamp(event.boot, event.mono_ns, event.wall, event.clock)


def test_the_day_begins_at_six() -> None:
    assert f"{DAY_BEGINS:%H:%M}" == "06:00"
