"""Bets at a touch: pressing, repeating, the table's own chips, and what another program proposes; in a real browser."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.browser_rig import SCREEN, know_roll, lapse, layout_faults, touch, touch_page, unhurry
from tests.terminal_rig import TerminalProcess, bet, wait_for

WIDE: ViewportSize = {"width": 1280, "height": 720}
TWICE = "(button) => { button.click(); button.click(); }"


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TerminalProcess]:
    """One virtual table for the whole file."""
    with TerminalProcess(tmp_path_factory.mktemp("bets") / "data") as process:
        yield process


@pytest.fixture
def table(terminal: TerminalProcess) -> TerminalProcess:
    """The table opened anew, with nothing on the layout."""
    while bets := terminal.state()["bets"]:
        for one in bets:
            terminal.post({"take_down": {name: one[name] for name in ("player", "kind", "number")}})
        if terminal.state()["bets"]:
            terminal.do({"roll": [3, 4]})
    assert terminal.open_table("us-vegas", limits={"min": 5, "max": 500}).status_code == 200
    return terminal


@pytest.fixture
def page(chromium: Browser, table: TerminalProcess) -> Iterator[Page]:
    """The console on the touch screen, ready for the first touch."""
    with touch_page(chromium) as console:
        unhurry(console)
        console.goto(table.address)
        expect(console.get_by_test_id("die-1")).to_be_enabled()
        yield console


def standing(table: TerminalProcess) -> dict[tuple[str, str, int | None], int]:
    return {(one["player"], one["kind"], one["number"]): one["amount"] for one in table.state()["bets"]}


def propose(table: TerminalProcess, number: int, *bets: dict[str, Any]) -> dict[str, Any]:
    """What the terminal answers to a proposal of a tray."""
    body = {"source": "tray-1", "id": f"proposal-{number}", "after_roll": table.state()["roll_number"], "bets": bets}
    answer = table.client.post("/api/proposals", json=body)
    assert answer.status_code == 200, answer.text
    said: dict[str, Any] = answer.json()
    return said


def test_a_standing_bet_is_pressed_by_its_unit_and_doubled_at_a_touch_each(page: Page, table: TerminalProcess) -> None:
    bet(table, "3", "place", 12, 6)
    touch(page, "button-bets")
    page.locator('#bets-list li[data-kind="place"] button').tap()
    expect(page.get_by_test_id("bet-press")).to_have_text("Press +6")
    expect(page.get_by_test_id("bet-double")).to_have_text("Double: 24")
    # Two touches that follow each other faster than an answer are one.
    page.get_by_test_id("bet-press").evaluate(TWICE)
    expect(page.get_by_test_id("bet-double")).to_have_text("Double: 36")
    assert standing(table) == {("3", "place", 6): 18}
    touch(page, "bet-double")
    expect(page.get_by_test_id("bet-double")).to_have_text("Double: 72")
    assert standing(table) == {("3", "place", 6): 36}
    assert layout_faults(page) == []


def test_repeat_puts_the_bets_of_before_the_seven_down_again_and_says_what_is_not_allowed(
    page: Page, table: TerminalProcess
) -> None:
    bet(table, "3", "pass_line", 10)
    table.do({"roll": [4, 2]})
    bet(table, "3", "pass_odds", 20)
    bet(table, "3", "place", 10, 5)
    table.do({"roll": [3, 4]})
    know_roll(page, 3, 4)
    touch(page, "button-bets", "player-3")
    expect(page.get_by_test_id("bet-repeat")).to_contain_text("Repeat 2 bets: 20")
    expect(page.get_by_test_id("bet-repeat")).to_contain_text("not now: Pass Odds 6")
    assert layout_faults(page) == []
    page.get_by_test_id("bet-repeat").evaluate(TWICE)
    expect(page.locator("#bets-list li")).to_have_count(2)
    expect(page.get_by_test_id("bet-repeat")).to_be_disabled()
    assert standing(table) == {("3", "pass_line", None): 10, ("3", "place", 5): 10}


def test_a_contract_bet_is_taken_down_by_nobody_and_the_rule_says_so(page: Page, table: TerminalProcess) -> None:
    bet(table, "3", "pass_line", 10)
    table.do({"roll": [4, 2]})
    know_roll(page, 4, 2)
    touch(page, "button-bets")
    page.locator('#bets-list li[data-kind="pass_line"] button').tap()
    touch(page, "bet-take-down", "bet-take-down")
    expect(page.get_by_test_id("notice")).to_have_text("Pass Line may not be taken down now")
    assert standing(table) == {("3", "pass_line", 6): 10}


@pytest.mark.parametrize(
    ("unit", "least", "most", "chips"),
    [
        (1, 5, 500, [1, 5, 25, 100, 500]),
        (5, 25, 5000, [5, 25, 100, 500, 1000]),
        (100, 1000, 1_000_000, [500, 1000, 5000, 25000, 100000]),
    ],
)
def test_the_chips_are_those_of_the_table(
    page: Page, table: TerminalProcess, unit: int, least: int, most: int, chips: list[int]
) -> None:
    assert table.open_table("us-vegas", unit=unit, limits={"min": least, "max": most}).status_code == 200
    touch(page, "button-bets", "player-1", "kind-pass_line")
    expect(page.locator("#chips button")).to_have_text([f"{chip:,}" for chip in chips])
    assert layout_faults(page) == []
    touch(page, f"chip-{chips[1]}")
    expect(page.get_by_test_id("bet-amount").locator("b")).to_have_text(f"{chips[1]:,}")


@pytest.mark.parametrize("screen", [SCREEN, WIDE], ids=["small", "wide"])
def test_proposals_stand_on_the_screen_one_at_a_time_and_are_taken_or_left_at_a_touch(
    chromium: Browser, table: TerminalProcess, screen: ViewportSize
) -> None:
    first = ({"player": "1", "kind": "pass_line", "amount": 10}, {"player": "1", "kind": "field", "amount": 5})
    second = {"player": "2", "kind": "place", "amount": 12, "number": 8}
    with touch_page(chromium, screen) as page:
        unhurry(page)
        page.goto(table.address)
        expect(page.get_by_test_id("die-1")).to_be_enabled()
        expect(page.get_by_test_id("proposals")).to_be_hidden()
        number = screen["width"] + 10
        propose(table, number, *first)
        propose(table, number + 1, second)
        bar = page.get_by_test_id("proposals")
        expect(bar).to_contain_text("tray-1, player 1 Pass Line 10, Field 5")
        expect(bar).to_contain_text("1 more waits")
        assert standing(table) == {}
        assert layout_faults(page) == []
        page.get_by_test_id("proposal-accept").tap()
        expect(bar).to_contain_text("tray-1, player 2 Place 8 12")
        assert standing(table) == {("1", "pass_line", None): 10, ("1", "field", None): 5}
        page.get_by_test_id("proposal-refuse").tap()
        expect(bar).to_be_hidden()
        assert len(standing(table)) == 2
        assert propose(table, number, *first)["state"] == "accepted"
        assert propose(table, number + 1, second)["state"] == "refused"


def test_a_proposal_that_the_rules_refuse_books_nothing_and_says_why_and_a_roll_ends_it(
    page: Page, table: TerminalProcess
) -> None:
    propose(
        table,
        1,
        {"player": "1", "kind": "field", "amount": 5},
        {"player": "1", "kind": "come", "amount": 10},
    )
    touch(page, "proposal-accept")
    expect(page.get_by_test_id("notice")).to_have_text("Come is taken only once a point is established")
    assert standing(table) == {}
    expect(page.get_by_test_id("proposals")).to_be_visible()
    table.do({"roll": [4, 2]})
    expect(page.get_by_test_id("proposals")).to_be_hidden()
    wait_for(lambda: table.state()["proposals"] == [], "the proposal has ended")


def test_the_limits_of_odds_stand_at_the_amount_and_the_key_is_dead_above_them(
    page: Page, table: TerminalProcess
) -> None:
    bet(table, "3", "pass_line", 10)
    table.do({"roll": [2, 2]})
    know_roll(page, 2, 2)
    # Odds of Las Vegas on four are three times the line bet.
    touch(page, "button-bets", "player-3", "kind-pass_odds", "digit-3", "digit-1")
    expect(page.get_by_test_id("bet-amount")).to_contain_text("1 to 30")
    expect(page.get_by_test_id("bet-put")).to_be_disabled()
    expect(page.locator("#kinds [aria-pressed=true]:not([data-cut])")).to_have_text("Pass Odds")
    touch(page, "digit-clear", "digit-3", "digit-0", "bet-put")
    expect(page.get_by_test_id("bet-amount")).to_contain_text("no more here")
    assert standing(table)["3", "pass_odds", 4] == 30


@pytest.mark.usefixtures("table")
def test_a_refusal_stays_in_the_dialog_until_the_next_touch(page: Page) -> None:
    touch(page, "button-bets", "player-3", "kind-come", "digit-5", "bet-put")
    summary = page.locator("#bet-summary")
    expect(summary).to_have_text("Come is taken only once a point is established")
    expect(page.locator("#bet-amount[data-refused]")).to_be_visible()
    assert layout_faults(page) == []
    touch(page, "digit-5")
    expect(summary).to_have_text("Player 3, 0 on layout · Come")
    expect(page.locator("#bet-amount[data-refused]")).to_have_count(0)


_IN_SIGHT = """() => {
  const list = document.getElementById("bets-list").getBoundingClientRect();
  const row = document.querySelector("#bets-list li[data-chosen]");
  const { top, bottom } = row.getBoundingClientRect();
  return top >= list.top && bottom <= list.bottom + 1 && !row.hasAttribute("data-cut");
}"""


def test_the_chosen_bet_is_in_sight_and_named_at_the_keys_and_one_touch_takes_nothing_down(
    page: Page, table: TerminalProcess
) -> None:
    for player in range(1, 9):
        bet(table, str(player), "any_craps", 5)
    touch(page, "button-bets", "group-one_roll", "kind-any_craps", "player-7")
    expect(page.get_by_test_id("bet-chosen")).to_have_text("7 · Any Craps · 5")
    page.wait_for_function(_IN_SIGHT)
    touch(page, "bet-take-down")
    expect(page.get_by_test_id("bet-take-down")).to_have_text("Again: 5 down")
    lapse(page)
    expect(page.locator("#bet-summary")).to_have_text("Nothing was taken down: touch it twice.")
    assert standing(table)["7", "any_craps", None] == 5
    # A touch on the row that is chosen leaves it chosen.
    page.locator("#bets-list li[data-chosen] button").tap()
    touch(page, "bet-take-down", "bet-take-down")
    table.wait_for_state(lambda state: len(state["bets"]) == 7, "the bet is down")
    assert layout_faults(page) == []
