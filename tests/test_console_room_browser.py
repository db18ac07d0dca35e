"""What is to be collected and paid stays in sight on the console, whatever the reserve asks and the alerts say."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.browser_rig import SCREEN, layout_faults, show_state, touch
from tests.dice_console_rig import Start, consoles, lid, question, set_up

LARGE: ViewportSize = {"width": 1280, "height": 720}
SCREENS = pytest.mark.parametrize("screen", [SCREEN, LARGE], ids=["800x480", "1280x720"])
TEXT = "No change of dice (offered to shooter) during the series for point 6, and again for 9 (IV.3)."
PLAYERS = 8


@pytest.fixture
def start(chromium: Browser, tmp_path: Path) -> Iterator[Start]:
    """Starts a terminal with the dice rules of a jurisdiction and opens its console on a touch screen."""
    with consoles(chromium, tmp_path) as begin:
        yield begin


def alert(number: int) -> dict[str, Any]:
    """An alert that waits for a supervisor's name."""
    return {
        "id": f"against_rule:{number}",
        "code": "against_rule",
        "text": f"{number}. {TEXT}",
        "raised": number,
        "since": "2026-01-02T20:14:03Z",
        "can_acknowledge": True,
        "acknowledged_by": None,
    }


def after_a_roll(start: Start, screen: ViewportSize, *, alerts: int, late: bool, since: bool) -> Page:
    """The console after a roll that pays eight field bets, with alerts and a question about an opening.

    `late`: a supervisor is asked; `since`: the reserve was opened after the roll, so that the question stands unfolded.
    """
    page, table = start("us-vegas")
    page.set_viewport_size(screen)
    set_up(table)
    for player in range(1, PLAYERS + 1):
        table.do({"bet": {"player": str(player), "kind": "field", "amount": 10, "number": None}})
    if not since:
        lid(table, "open", "closed")
    table.do({"roll": [2, 2]})
    if since:
        lid(table, "open", "closed")
    told = table.state()
    openings = [opening | {"late": late} for opening in told["dice"]["openings"]]
    assert len(openings) == 1
    # The newest alert comes first.
    standing = [alert(number) for number in range(alerts, 0, -1)]
    show_state(page, told | {"alerts": standing, "dice": told["dice"] | {"openings": openings}})
    expect(page.get_by_test_id("pay-list").locator("li")).to_have_count(PLAYERS)
    return page


def paid_in_sight(page: Page) -> list[str]:
    """The players of the rows of Pay that are wholly in sight within the list and above the dice keys."""
    seen: list[str] = page.get_by_test_id("pay-list").evaluate(
        """(list) => {
          const edge = list.getBoundingClientRect();
          const floor = Math.min(edge.bottom, document.getElementById("entry").getBoundingClientRect().top) + 1;
          const isSeen = (row) => {
            const { top, bottom } = row.getBoundingClientRect();
            return row.checkVisibility({ visibilityProperty: true }) && top >= edge.top - 1 && bottom <= floor;
          };
          return [...list.querySelectorAll("li")].filter(isSeen).map((row) => row.dataset.player);
        }"""
    )
    return seen


@SCREENS
@pytest.mark.parametrize(
    ("alerts", "late", "since"),
    [(2, True, False), (8, True, False), (1, False, False), (8, False, True), (8, True, True)],
    ids=["two and a supervisor", "eight and a supervisor", "one", "unfolded", "unfolded for a supervisor"],
)
def test_whom_to_pay_stays_in_sight_beside_questions_and_alerts(
    start: Start, screen: ViewportSize, alerts: int, late: bool, since: bool
) -> None:
    page = after_a_roll(start, screen, alerts=alerts, late=late, since=since)
    expect(question(page)).to_be_visible()
    # What observers of sizes still owe is done then.
    assert layout_faults(page) == []
    first = paid_in_sight(page)
    assert first[:2] == ["1", "2"]
    # The pages that follow show each of the others.
    seen = set(first)
    more = page.get_by_test_id("pay-more")
    while more.is_visible() and "▲" not in more.inner_text():
        more.tap()
        assert layout_faults(page) == []
        assert set(paid_in_sight(page)) - seen
        seen |= set(paid_in_sight(page))
    assert seen == {str(player) for player in range(1, PLAYERS + 1)}


@SCREENS
def test_the_newest_alert_stands_in_one_line_and_the_others_open_at_a_touch(start: Start, screen: ViewportSize) -> None:
    page = after_a_roll(start, screen, alerts=8, late=True, since=False)
    newest = page.get_by_test_id("alert-against_rule:8")
    expect(newest).to_be_in_viewport(ratio=1)
    every = page.get_by_test_id("alerts-all")
    expect(every).to_have_text("+7 more")
    every.tap()
    expect(page.get_by_test_id("pay")).to_be_hidden()
    expect(every).to_have_text("▲ fold")
    expect(page.get_by_test_id("alert-against_rule:7")).to_be_in_viewport(ratio=1)
    assert layout_faults(page) == []
    touch(page, "alerts-more")
    assert layout_faults(page) == []
    every.tap()
    expect(newest).to_be_in_viewport(ratio=1)
    assert paid_in_sight(page)[:2] == ["1", "2"]


def test_a_row_that_an_edge_cuts_through_and_a_list_without_a_row_are_layout_faults(start: Start) -> None:
    page = after_a_roll(start, SCREEN, alerts=8, late=True, since=False)
    assert layout_faults(page) == []
    pays = page.get_by_test_id("pay-list")
    # As it was: the alerts take what the rows need, and the rows end where they may.
    pays.evaluate("(list) => { list.style.maxHeight = '40px'; }")
    pays.locator("li").evaluate_all("(rows) => { for (const row of rows) row.style.visibility = 'visible'; }")
    assert [fault for fault in layout_faults(page) if fault.startswith("pay-list cuts through")]
    for height in ("8px", "0"):
        pays.evaluate("(list, height) => { list.style.maxHeight = height; }", height)
        assert "pay-list shows none of its 8 rows" in layout_faults(page)
