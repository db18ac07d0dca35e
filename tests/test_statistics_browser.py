"""The page of statistics in a real browser, on a terminal that goes on from a journal of played days."""

import re
from collections.abc import Iterator
from datetime import date
from random import Random

import pytest
from playwright.sync_api import Browser, Page, expect

from device.languages.languages import LANGUAGES
from tests.browser_rig import EXPECT_MS, SCREEN, SCREEN_16_TO_9, touch_page, touch_px
from tests.dice_journal import write_journal
from tests.played_journal import PlayedJournal, played_days
from tests.terminal_rig import TerminalProcess

# A reading of the journal is a program of its own, on a machine that may have much else to do.
READ_MS = 60_000
SESSIONS = 3
# What is too wide for the screen, too small for a finger, or cut off.
FAULTS = """(least) => {
  const faults = [];
  if (document.documentElement.scrollWidth > innerWidth) faults.push("the page is wider than the screen");
  for (const node of document.querySelectorAll(".wide, figcaption, td, th, h1, h2, button, a"))
    if (node.scrollWidth > node.clientWidth + 1 && getComputedStyle(node).display !== "inline")
      faults.push(`${node.tagName} ${node.innerText.slice(0, 30)} is cut off`);
  for (const node of document.querySelectorAll("button, a")) {
    if (!node.checkVisibility()) continue;
    const { width, height } = node.getBoundingClientRect();
    if (width < least || height < least) faults.push(`${node.innerText} is ${width} x ${height}`);
  }
  return faults;
}"""


@pytest.fixture(scope="module")
def game() -> PlayedJournal:
    """Three sessions by chance, each with a set of dice."""
    return played_days(Random(8), SESSIONS, 40)


@pytest.fixture(scope="module")
def table(game: PlayedJournal, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TerminalProcess]:
    """A terminal on that journal."""
    folder = tmp_path_factory.mktemp("statistics")
    write_journal(folder, game.events)
    with TerminalProcess(folder) as process:
        yield process


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    expect.set_options(timeout=EXPECT_MS)
    with touch_page(chromium) as touched:
        yield touched


def read(page: Page, table: TerminalProcess) -> None:
    page.goto(f"{table.address}/statistics")
    expect(page.get_by_test_id("bet-whole")).to_be_visible(timeout=READ_MS)


def test_the_page_has_the_figures_of_the_journal_and_of_its_parts(
    page: Page, table: TerminalProcess, game: PlayedJournal
) -> None:
    rolls = [event.data["step"]["roll"] for event in game.events if event.type == "roll"]
    read(page, table)
    expect(page.get_by_test_id("summary")).to_contain_text(f"{len(rolls)} rolls")
    sevens = page.get_by_test_id("plot-totals").locator('[data-what="7"]')
    expect(sevens).to_have_attribute("data-seen", str(sum(sum(dice) == 7 for dice in rolls)))
    # A bar is marked where it lies more than two standard errors from what is expected.
    sixes, due = sum(dice.count(6) for dice in rolls), 2 * len(rolls) / 6
    outside = abs(sixes - due) > 2 * (due * 5 / 6) ** 0.5
    bar = page.get_by_test_id("plot-faces").locator('[data-what="6"]')
    expect(bar).to_have_attribute("data-outside", str(outside).lower())
    expect(page.get_by_test_id("plot-faces").locator("xpath=..")).to_contain_text(
        f"Sample: {2 * len(rolls)} dice faces."
    )

    page.get_by_test_id("kind-session").tap()
    expect(page.get_by_test_id(f"period-{SESSIONS}")).to_have_attribute("aria-pressed", "true")
    page.get_by_test_id("period-1").tap()
    first_open, second_open = [event.seq for event in game.events if event.type == "table_opened"][:2]
    of_first = sum(event.type == "roll" and first_open < event.seq < second_open for event in game.events)
    expect(page.get_by_test_id("summary")).to_contain_text(f"{of_first} rolls")
    page.get_by_test_id("kind-set").tap()
    page.get_by_test_id("period-R1").tap()
    expect(page.get_by_test_id("summary")).to_contain_text(f"{of_first} rolls")
    page.get_by_test_id("kind-day").tap()
    days = page.locator("#periods button")
    expect(days.first).to_have_attribute("data-testid", re.compile(r"period-\d{4}-\d\d-\d\d"))
    assert date.fromisoformat((days.last.get_attribute("data-testid") or "").removeprefix("period-"))


def test_what_was_played_since_is_there_when_it_is_read_anew(page: Page, table: TerminalProcess) -> None:
    read(page, table)
    before = page.get_by_test_id("summary").inner_text()
    assert table.open_table("us-vegas").status_code == 200
    session = table.state()["session_number"]
    table.do({"bet": {"player": "1", "kind": "field", "amount": 7}})
    table.do({"bet": {"player": "1", "kind": "pass_line", "amount": 30}})
    table.do({"roll": [1, 3]})
    page.get_by_test_id("refresh").tap()
    expect(page.get_by_test_id("summary")).not_to_have_text(before, timeout=READ_MS)
    expect(page.get_by_test_id("says")).to_contain_text("30 still on the layout, not counted.")
    page.get_by_test_id("kind-session").tap()
    expect(page.get_by_test_id(f"period-{session}")).to_have_text(f"Session {session}, open")
    expect(page.get_by_test_id("bet-field")).to_have_attribute("data-won", "-7")
    expect(page.get_by_test_id("bet-pass_line")).to_have_count(0)


def test_a_reading_that_fails_says_why_and_keeps_what_was_there(page: Page, table: TerminalProcess) -> None:
    read(page, table)
    page.route("**/api/statistics", lambda route: route.fulfill(status=409, json={"message": "it cannot be read"}))
    page.get_by_test_id("refresh").tap()
    expect(page.get_by_test_id("failed")).to_have_text("it cannot be read")
    expect(page.get_by_test_id("bet-whole")).to_be_visible()
    expect(page.get_by_test_id("refresh")).to_be_enabled()


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_fits_the_smallest_screen_in_every_language(
    chromium: Browser, table: TerminalProcess, language: str
) -> None:
    screen = SCREEN_16_TO_9 if language == "pt" else SCREEN
    with touch_page(chromium, screen) as page:
        page.context.add_cookies([{"name": "language", "value": language, "url": table.address}])
        read(page, table)
        assert page.locator("html").get_attribute("lang") == language
        assert page.evaluate(FAULTS, touch_px(screen)) == []
        page.get_by_test_id("kind-session").tap()
        assert page.evaluate(FAULTS, touch_px(screen)) == []


def test_the_console_leads_there_and_back(page: Page, table: TerminalProcess) -> None:
    page.goto(table.address)
    page.get_by_test_id("button-help").tap()
    page.get_by_test_id("statistics").tap()
    expect(page.get_by_test_id("bet-whole")).to_be_visible(timeout=READ_MS)
    page.get_by_test_id("back").tap()
    expect(page.get_by_test_id("die-1")).to_be_visible()
