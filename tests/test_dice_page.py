"""The dice reports as pages: printed on A4 by Chromium, in every language, with lines to sign and nothing cut off."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from device.dice_control.report_words import WORDS
from device.languages.languages import LANGUAGES
from provisioning.command_line import main
from tests.browser_rig import touch_page
from tests.dice_journal import DiceJournal, local_zone, spanish_day, write_journal

Show = Callable[..., Page]
DAY = "2026-11-29"
MM = 96 / 25.4
# A4 less the margins of 12 mm on either side, in pixels of 1/96 inch.
UPRIGHT, ACROSS = int((210 - 24) * MM), int((297 - 24) * MM)
SIGN_HEIGHT_MIN = 8 * MM


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_journal(tmp_path_factory.mktemp("day"), spanish_day().journal)


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Names as long as they may be, many sets, long texts, markup in names, rolls that are far from fair."""
    journal = DiceJournal("es-md-2004", "2026-11-29T18:00:00.000Z")
    journal.on_duty_before("W" * 40, "<script>document.title='x'</script>ab")
    for number in range(8):
        journal.receive(f"{number}" * 40, dice=6)
    name = "0" * 40
    journal.inspect(set=name, unsound={"3": "chipped " * 20 + "!"}, note="&<b>" * 50)
    journal.do("place", set=name)
    journal.do("change", set=name, taken=["1", "2"])
    journal.game(shooter="S" * 40, point=10, roll_number=4321)
    for _ in range(12):
        journal.wait(61)
        journal.lid_opened_for(99.5)
        out, into = journal.at("play", name=name)[0], journal.at("reserve", name=name)[0]
        asked = {"reason": "shooter_request", "asked_by_name": "P" * 40}
        journal.do("swap", set=name, out=[out], in_=[into], to="reserve", **asked)
        journal.void_throw("in_dice_cup", into)
    journal.raise_alert(f"dice_missing:{name}", "x" * 300)
    journal.do("count", set=name, count="check", seen={"play": ["1", "9"], "reserve": []})
    for name in ("lid", "slot_1"):
        journal.append("input_unavailable", {"name": name, "reason": "x" * 200})
        journal.wait(4000)
        journal.append("input_available", {"name": name})
    journal.append("slots", {"occupied": [1, 2, 3, 4, 5, 6, 7, 8], "initial": True})
    journal.append("slots", {"occupied": [1, 2, 3, 4, 5, 6, 7], "initial": False})
    for number in range(200):
        journal.roll(6, 1 + number % 6)
    return write_journal(tmp_path_factory.mktemp("crowded"), journal.journal)


@pytest.fixture
def show(chromium: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Show]:
    """Opens what `boxman dice ACTION --html` writes, as it is printed on a sheet of a width."""
    with local_zone("Europe/Madrid"), touch_page(chromium) as page:

        def show(action: str, data: Path, *arguments: str, width: int = UPRIGHT) -> Page:
            # A day whose dice do not reconcile ends with 1, and has its report all the same.
            status = main(["dice", action, "--html", "--data", str(data), *arguments])
            said = capsys.readouterr()
            assert (status in (0, 1), said.err) == (True, "")
            (tmp_path / "page.html").write_text(said.out, encoding="utf-8")
            page.set_viewport_size({"width": width, "height": 1000})
            page.emulate_media(media="print")
            page.goto((tmp_path / "page.html").as_uri())
            return page

        yield show


def overflowing(page: Page) -> list[str]:
    """What reaches beyond the sheet's edge, or beyond the cell that it is in."""
    found: list[str] = page.evaluate(
        """() => {
            const wide = document.documentElement.clientWidth + 0.5;
            const beyond = [...document.querySelectorAll('body, body *')]
                .filter(part => !part.closest('svg') || part.tagName === 'svg')
                .filter(part => part.getBoundingClientRect().right > wide || part.scrollWidth > part.clientWidth + 1
                    && ['TD', 'TH', 'P', 'DD', 'H1', 'H2', 'H3', 'BODY'].includes(part.tagName));
            return beyond.map(part => part.tagName + ': ' + part.textContent.slice(0, 60));
        }"""
    )
    return found


def printed(page: Page) -> bytes:
    return page.pdf(prefer_css_page_size=True)


def sheets(pdf: bytes) -> list[tuple[int, int]]:
    """Width and height in millimetres of each page of a PDF."""
    boxes = re.findall(rb"/MediaBox \[0 0 ([0-9.]+) ([0-9.]+)\]", pdf)
    return [(round(float(width) / 72 * 25.4), round(float(height) / 72 * 25.4)) for width, height in boxes]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("action", "arguments", "width"),
    [("report", ("--day", DAY), UPRIGHT), ("status", (), UPRIGHT), ("log", (), ACROSS)],
)
def test_nothing_reaches_beyond_a_sheet_and_there_are_lines_to_sign(
    show: Show, crowded: Path, action: str, arguments: tuple[str, ...], width: int, language: str
) -> None:
    page = show(action, crowded, *arguments, "--language", language, width=width)
    assert overflowing(page) == []
    place = list(LANGUAGES).index(language)
    signers = page.locator(".signatures .sign")
    names = [WORDS[f"sign.{signer}"][place] for signer in ("boxman", "witness", "supervisor", "inspector")]
    assert signers.locator("th").all_inner_texts() == names
    for number in range(len(names)):
        box = signers.nth(number).bounding_box()
        assert box is not None
        assert box["height"] >= SIGN_HEIGHT_MIN
        assert signers.nth(number).locator("td").count() == 3
    assert page.locator("html").get_attribute("lang") == language


@pytest.mark.parametrize(
    ("action", "arguments", "sheet"),
    [("report", ("--day", DAY), (210, 297)), ("status", (), (210, 297)), ("log", (), (297, 210))],
)
def test_it_prints_on_a4(
    show: Show, day: Path, action: str, arguments: tuple[str, ...], sheet: tuple[int, int]
) -> None:
    pages = sheets(printed(show(action, day, *arguments)))
    assert set(pages) == {sheet}
    assert len(pages) <= 4


def test_the_report_says_what_it_is_of(show: Show, day: Path) -> None:
    page = show("report", day, "--day", DAY, "--language", "en")
    last = spanish_day().journal[-1]
    facts = [" ".join(fact.split()) for fact in page.locator("dl > div").all_inner_texts()]
    assert facts == [
        "Table craps-1",
        "Site casino-1",
        "Rule set es-1979",
        "Gaming day 2026-11-29 (2026-11-29 06:00 UTC+01:00 to 2026-11-30 06:00 UTC+01:00)",
        f"Journal: last event {last.seq}, hash {last.hash}",
    ]


def test_the_report_s_account_is_the_one_worked_out_by_hand(show: Show, day: Path) -> None:
    page = show("report", day, "--day", DAY, "--language", "en")
    table = [row.split("\t") for row in page.locator(".account tr").all_inner_texts()]
    assert table == [
        ["Set", "A", "B", "C", "D", "Sum"],
        ["At the beginning", "6", "6", "6", "0", "18"],
        ["+ Received", "0", "0", "0", "6", "6"],
        ["− Destroyed", "0", "0", "6", "0", "6"],
        ["= At the end", "6", "6", "0", "6", "18"],
        ["At the end, by place"],
        ["In the store", "0", "6", "0", "6", "12"],
        ["In play", "0", "0", "0", "0", "0"],
        ["In the reserve", "0", "0", "0", "0", "0"],
        ["Elsewhere at the table", "0", "0", "0", "0", "0"],
        ["Missing, or on the floor", "1", "0", "0", "0", "1"],
        ["Written off", "0", "0", "0", "0", "0"],
        ["Withdrawn", "5", "0", "0", "0", "5"],
        ["Cancelled", "0", "0", "0", "0", "0"],
        ["Moved on this day"],
        ["Distributed to the table", "0", "6", "0", "0", "6"],
        ["Returned to the store", "0", "6", "0", "0", "6"],
        ["Withdrawn", "5", "0", "0", "0", "5"],
        ["Cancelled", "0", "0", "0", "0", "0"],
        ["Off the table", "1", "0", "0", "0", "1"],
        ["Gone missing", "1", "0", "0", "0", "1"],
        ["Written off", "0", "0", "0", "0", "0"],
        ["Found again", "0", "0", "0", "0", "0"],
        ["Hours at the table", "26:30", "0:00", "0:00", "0:00", ""],
    ]
    text = page.locator("main").inner_text()
    for said in (
        "The moves add up: 18 + 6 − 6 = 18; but the dice do not reconcile, see above.",
        "In use over 24 hours: A (26:30)",
        "4 openings; 1 not explained; 1 explained late by a supervisor.",
        "2 changes of dice; 1 against the rules.",
        "IV.3: No change of dice (shooter request) during the series for point 6.",
        "die B6: by the log in the reserve, seen nowhere",
    ):
        assert said in text
    first = page.locator("h1 + p")
    assert first.inner_text() == "Provisional: this day is not over; the journal ends before it does."
    assert first.get_attribute("class") == "notice"
    headline = page.locator("h1 + p + div")
    assert headline.get_attribute("class") == "notice"
    assert headline.inner_text().split("\n") == [
        "NOT IN ORDER",
        "Missing, set A: A1",
        "Closing count of set B (event 36): die B6: by the log in the reserve, seen nowhere",
        "Opening of the reserve not explained: 1 (event 39)",
        "Done against a rule: 3 (events 29, 35, 37)",
        "Openings of the reserve explained late by a supervisor: 1 (event 24)",
    ]


def test_many_sets_stand_in_tables_that_a_sheet_has_room_for(show: Show, crowded: Path) -> None:
    page = show("report", crowded, "--day", DAY, "--language", "en")
    heads = [row.split("\t") for row in page.locator(".account thead tr").all_inner_texts()]
    names = [str(number) * 40 for number in range(8)]
    assert heads == [["Set", *names[:6]], ["Set", *names[6:], "Sum"]]


def test_the_log_has_every_row(show: Show, day: Path) -> None:
    page = show("log", day, "--language", "en", width=ACROSS)
    numbers = page.locator(".log tbody tr td:nth-child(2)").all_inner_texts()
    assert numbers == [str(seq) for seq in range(2, 41) if seq not in (15, 33)]
    swap = page.locator(".log tbody tr", has_text="No change of dice")
    cells = swap.locator("td").all_inner_texts()
    assert cells[0] == "2026-11-29 19:11:48"
    assert cells[5:7] == ["Dice swapped A", "A2: in play > in the reserve; A4: in the reserve > in play"]
    assert cells[8:10] == ["Ana", "Luis"]


def test_what_people_wrote_is_text_and_no_markup(show: Show, crowded: Path) -> None:
    page = show("log", crowded, width=ACROSS)
    assert page.title() == "Registro de dados"
    assert page.locator("script").count() == 0
    assert "<script>document.title='x'</script>ab" in page.locator(".log").inner_text()


def test_dice_that_are_hardly_fair_are_marked_with_a_plot(show: Show, crowded: Path) -> None:
    page = show("report", crowded, "--day", DAY, "--language", "en")
    assert page.locator(".set svg").count() == 2
    assert "200 rolls; bars: thrown, lines: expected" in page.locator(".set svg").first.inner_html()
    said = page.locator(".set .notice").inner_text()
    assert said.startswith("200 rolls · Faces: chance gives this or worse with p = ")
    assert "ADVICE: Faces: chance alone is an unlikely explanation (look 1, after 100 rolls" in said


def test_a_day_without_anything_is_one_sheet(show: Show, day: Path) -> None:
    page = show("report", day, "--day", "2020-01-01", "--language", "en")
    text = page.locator("main").inner_text()
    assert "Nothing was done with dice or the reserve on this day." in text
    assert "There are no dice to account for on this day." in text
    assert sheets(printed(page)) == [(210, 297)]
