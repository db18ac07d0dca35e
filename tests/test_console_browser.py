"""The console as the boxman has it: a touch screen of 800 x 480 in a real browser, on a terminal that really runs."""

import os
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, Request, Route, ViewportSize, expect

from drivers.wiring import DEFAULT_PINS
from tests.browser_rig import (
    EXPECT_MS,
    SCREEN,
    TOUCH_PX,
    know_roll,
    lapse,
    layout_faults,
    show_state,
    touch,
    touch_page,
    unhurry,
)
from tests.terminal_rig import TerminalProcess, bet, wait_for

HOLD_MS = 2200
# From a press to what it does, on a busy machine.
SEEN_S = 15
MARKUP = '<img src=x onerror="throw 1"><b>x</b>'


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TerminalProcess]:
    """One virtual table for the whole file. What waits for a second key waits for as long as a busy machine takes.

    No alert comes but those of the puck, which tests wait for.
    """
    folder = tmp_path_factory.mktemp("console")
    configuration = folder / "table.toml"
    configuration.write_text(
        "[timing]\npick_ms = 600000\nabandon_ms = 600000\n"
        "[alerts]\nbutton_ms = 600000\nexplain_ms = 600000\nopen_max_ms = 600000\n"
    )
    with TerminalProcess(folder / "data", configuration=configuration) as process:
        yield process


def revive(terminal: TerminalProcess) -> None:
    """Start the terminal again where a test that failed has left it dead or frozen."""
    try:
        terminal.state()
    except httpx.TransportError:
        terminal.kill()
        terminal.start()


def explain_openings(terminal: TerminalProcess) -> None:
    """Say why the reserve was opened, so that it is no alert of the next test."""
    shut = terminal.wait_for_state(lambda state: not state["reserve"]["open"], "the lid is shut")
    for opening in shut["dice"]["openings"]:
        parts = {"opening": opening["seq"], "reason": "inspector_request", "as": "supervisor", "done_by": "Eva"}
        body = {"id": terminal.fresh_id(), "action": {"explain": parts}}
        assert terminal.client.post("/api/dice", json=body).status_code == 200


def note_alerts(terminal: TerminalProcess) -> None:
    """Acknowledge what the test before has left, as somebody who was not on duty."""
    for alert in terminal.state()["alerts"]:
        if alert["can_acknowledge"]:
            body = {"id": terminal.fresh_id(), "alert": alert["id"], "raised": alert["raised"], "name": "Marta Gil"}
            # One that is put right by itself in this moment needs nobody any more.
            assert terminal.client.post("/api/acknowledge", json=body).status_code in (200, 409)


@pytest.fixture
def table(terminal: TerminalProcess) -> TerminalProcess:
    """The table opened anew: a come-out, nothing on the layout, the puck off, the lid shut, no half-entered die."""
    revive(terminal)
    if terminal.state()["pending_die"]:
        terminal.hand(dice_key=1, hold_ms=HOLD_MS)
    while bets := terminal.state()["bets"]:
        for one in bets:
            terminal.post({"take_down": {name: one[name] for name in ("player", "kind", "number")}})
        if terminal.state()["bets"]:
            terminal.do({"roll": [3, 4]})
    assert terminal.open_table("us-vegas", limits={"min": 5, "max": 500}).status_code == 200
    terminal.hand(lid="closed")
    explain_openings(terminal)
    terminal.hand(puck={"position": "off", "face": "off"})
    note_alerts(terminal)
    terminal.wait_for_state(
        lambda state: state["puck"]["agrees"] and state["node"]["state"] == "online" and not state["alerts"],
        "the table is ready",
    )
    return terminal


@pytest.fixture
def page(chromium: Browser, table: TerminalProcess) -> Iterator[Page]:
    """The console on the touch screen, ready for the first touch."""
    with touch_page(chromium) as console:
        unhurry(console)
        show(console, table)
        yield console


def show(page: Page, table: TerminalProcess) -> None:
    """The console with the rules read: what its buttons are named after, and where they stand, is what stays."""
    page.goto(table.address)
    expect(page.get_by_test_id("die-1")).to_be_enabled()
    expect(page.get_by_test_id("phase")).to_have_text("Come-out")
    expect(page.get_by_test_id("no-roll-short")).to_be_enabled()


def rows(page: Page, name: str) -> Locator:
    """The rows of a list, without the lines that head those that stand apart."""
    return page.get_by_test_id(name).locator("li:not(.apart)")


def press_until(press: Callable[[], object], is_seen: Callable[[], bool], what: str) -> None:
    """Press a key until it is seen: an I/O node that gets no time meanwhile does not see it."""
    for _ in range(4):
        press()
        with suppress(AssertionError):
            wait_for(is_seen, what, SEEN_S)
            return
    raise AssertionError(f"pressed four times: {what}")


def keyed(table: TerminalProcess) -> tuple[Any, Any]:
    """What a dice key changes."""
    state = table.state()
    return state["pending_die"], state["last_roll"]


def key_die(table: TerminalProcess, press: Callable[[], object]) -> None:
    """Press a dice key until the terminal has it: 3 to 6, of which a press that is too long means nothing."""
    before = keyed(table)
    press_until(press, lambda: keyed(table) != before, "the die is keyed")


def key_dice(table: TerminalProcess, *dice: int) -> None:
    """Press dice keys on the table, one after the other."""
    for die in dice:
        key_die(table, partial(table.hand, dice_key=die))


def open_virtual_table(page: Page, table: TerminalProcess) -> Page:
    """The virtual table in a second page of the same browser."""
    virtual = page.context.new_page()
    virtual.goto(f"{table.address}/virtual")
    expect(virtual.get_by_test_id("virtual-phase")).to_have_text("Come-out")
    return virtual


def sent_steps(page: Page) -> list[Any]:
    """What the page posts from now on, each as often as it goes out."""
    sent: list[Any] = []

    def note(request: Request) -> None:
        if request.method == "POST":
            sent.append(request.post_data_json)

    page.on("request", note)
    return sent


def test_two_touches_settle_a_roll_and_show_collect_and_pay_in_dealing_order(
    page: Page, table: TerminalProcess
) -> None:
    for player, kind, amount in (("3", "pass_line", 10), ("5", "dont_pass", 20), ("7", "field", 10), ("9", "horn", 20)):
        bet(table, player, kind, amount)
    bet(table, "11", "any_craps", 5)
    touch(page, "die-6")
    expect(page.get_by_test_id("die-one")).to_have_attribute("data-value", "6")
    touch(page, "die-5")
    expect(page.get_by_test_id("last-roll")).to_have_attribute("data-dice", "6-5")
    expect(page.get_by_test_id("die-one")).to_have_attribute("data-value", "")
    # Eleven pays five on the horn's fourth part for 15 to 1, less the other three: 5 * 15 - 15 = 60.
    expect(rows(page, "collect-list")).to_have_text(["5Don't Pass20", "11Any Craps5"])
    expect(rows(page, "pay-list")).to_have_text(
        [
            "3Pass Line10 at 1 to 1 = 10 · stake 10 back10",
            "7Field10 at 1 to 1 = 10 · stake 10 back10",
            "9Horn20 at 3 to 1 = 60 · stake 20 back60",
        ]
    )
    expect(page.get_by_test_id("collect-sum")).to_have_text("25")
    expect(page.get_by_test_id("pay-sum")).to_have_text("80")
    expect(page.get_by_test_id("step-undo")).to_be_hidden()
    assert table.state()["roll_number"] == 1


def test_bets_of_two_players_and_their_odds_go_down_by_touch(page: Page, table: TerminalProcess) -> None:
    touch(page, "button-bets", "player-3", "kind-pass_line", "chip-5", "chip-5")
    expect(page.get_by_test_id("bet-amount")).to_contain_text("10")
    touch(page, "bet-put", "player-8", "kind-dont_pass", "digit-1", "digit-5", "bet-put", "close-bets")
    table.wait_for_state(lambda state: len(state["bets"]) == 2, "both bets are down")
    touch(page, "die-2", "die-2")
    expect(page.get_by_test_id("point")).to_have_text("4")
    touch(page, "button-bets", "player-3", "kind-pass_odds", "digit-3", "digit-0", "bet-put")
    touch(page, "player-8", "kind-dont_pass_odds", "digit-4", "digit-0", "bet-put")
    expect(rows(page, "bets-list")).to_have_text(
        ["3Pass Line 410", "3Pass Odds 430", "8Don't Pass 415", "8Don't Pass Odds 440"]
    )
    touch(page, "close-bets", "die-1", "die-3")
    # Odds on 4 pay two to one.
    expect(rows(page, "pay-list")).to_have_text(
        [
            "3Pass Line 410 at 1 to 1 = 10 · stake 10 back10",
            "3Pass Odds 430 at 2 to 1 = 60 · stake 30 back60",
        ]
    )
    expect(rows(page, "collect-list")).to_have_text(["8Don't Pass 415", "8Don't Pass Odds 440"])


def test_a_refusal_is_said_in_plain_words_and_closes_at_a_touch(page: Page, table: TerminalProcess) -> None:
    touch(page, "button-bets", "player-3", "kind-pass_line", "digit-3", "bet-put")
    notice = page.get_by_test_id("notice")
    expect(notice).to_have_text("The minimum is 5")
    assert table.state()["bets"] == []
    notice.tap()
    expect(notice).to_be_hidden()
    # What was entered is still there to be mended, with the key that takes a digit away.
    page.keyboard.press("Backspace")
    touch(page, "digit-3", "digit-0", "bet-put")
    expect(rows(page, "bets-list")).to_have_text(["3Pass Line30"])


def test_a_refused_or_put_amount_is_not_continued(page: Page, table: TerminalProcess) -> None:
    amount = page.get_by_test_id("bet-amount").locator("b")
    touch(page, "button-bets", "player-3", "kind-pass_line", "digit-1", "digit-0", "bet-put", "kind-come")
    expect(amount).to_have_text("0")
    # A come bet is refused on the come-out; the ten of it is not the beginning of the next amount.
    touch(page, "digit-1", "digit-0", "bet-put")
    expect(page.get_by_test_id("notice")).to_contain_text("Come is taken only once a point is established")
    expect(amount).to_have_text("10")
    touch(page, "digit-2")
    expect(amount).to_have_text("2")
    touch(page, "digit-5", "kind-dont_pass", "digit-7")
    expect(amount).to_have_text("7")
    touch(page, "digit-0", "player-8", "chip-5", "chip-5")
    expect(amount).to_have_text("10")
    # What is keyed before the answer is there stays.
    touch(page, "bet-put", "digit-6")
    expect(amount).to_have_text("6")
    expect(rows(page, "bets-list")).to_have_text(["3Pass Line10", "8Don't Pass10"])
    expect(page.get_by_test_id("bet-put")).to_be_enabled()
    expect(amount).to_have_text("6")
    assert [standing["amount"] for standing in table.state()["bets"]] == [10, 10]


def test_another_tab_and_another_rule_set_forget_the_chosen_bet(page: Page, table: TerminalProcess) -> None:
    touch(page, "button-bets", "player-3", "group-numbers", "kind-lay", "number-6", "digit-6")
    expect(page.locator("#bet-summary")).to_contain_text("Lay 6")
    touch(page, "group-line")
    expect(page.locator("#bet-summary")).to_contain_text("choose a bet")
    touch(page, "group-numbers", "kind-lay", "number-6")
    assert table.open_table("mo-2010", limits={"min": 5, "max": 500}).status_code == 200
    expect(page.locator("#bet-summary")).to_have_text("Choose a player · choose a bet")
    expect(page.get_by_test_id("bet-amount").locator("b")).to_have_text("0")


def test_a_void_throw_is_said_with_its_reason_and_counts_as_no_roll(page: Page, table: TerminalProcess) -> None:
    touch(page, "die-4", "button-no-roll", "reason-slid")
    expect(page.get_by_test_id("overlay-no-roll")).to_be_hidden()
    expect(page.get_by_test_id("last-roll")).to_contain_text("No roll: Slid")
    # The die that was half entered belonged to that throw.
    expect(page.get_by_test_id("die-one")).to_have_attribute("data-value", "")
    assert table.state()["roll_number"] == 0


def test_a_correction_shows_what_to_undo_and_then_what_to_settle(page: Page, table: TerminalProcess) -> None:
    for player, kind, amount in (("3", "pass_line", 10), ("5", "dont_pass", 20), ("7", "field", 10)):
        bet(table, player, kind, amount)
    touch(page, "die-6", "die-5")
    expect(rows(page, "collect-list")).to_have_count(1)
    touch(page, "button-correct")
    confirm = page.get_by_test_id("confirm-correct")
    expect(confirm).to_be_disabled()
    touch(page, "right-die-2", "right-die-1")
    expect(confirm).to_have_text("Undo 6-5, settle 2-1")
    assert table.state()["last_roll"]["dice"] == [6, 5]
    confirm.tap()
    expect(page.get_by_test_id("last-roll")).to_have_attribute("data-dice", "2-1")
    expect(page.get_by_test_id("last-roll")).to_contain_text("corrected")
    expect(rows(page, "undo-take-list")).to_have_text(["3Pass Linestake 10 to layout10", "7Fieldstake 10 to layout10"])
    expect(page.get_by_test_id("undo-take-sum")).to_have_text("20")
    expect(rows(page, "undo-give-list")).to_have_text(["5Don't Passto layout20"])
    expect(page.get_by_test_id("undo-give-sum")).to_have_text("20")
    # The right roll waits behind the second step, its totals in sight.
    expect(page.get_by_test_id("collect-list")).to_be_hidden()
    expect(page.get_by_test_id("step-undo")).to_contain_text("Take back 20 · Give back 20")
    expect(page.get_by_test_id("step-settle")).to_contain_text("Settle 2-1")
    expect(page.get_by_test_id("step-settle")).to_contain_text("Collect 10 · Pay 30")
    touch(page, "step-settle")
    expect(page.get_by_test_id("undo-take-list")).to_be_hidden()
    expect(rows(page, "collect-list")).to_have_text(["3Pass Line10"])
    expect(rows(page, "pay-list")).to_have_text(
        ["5Don't Pass20 at 1 to 1 = 20 · stake 20 back20", "7Field10 at 1 to 1 = 10 · stake 10 back10"]
    )
    touch(page, "step-undo")
    expect(page.get_by_test_id("undo-take-list")).to_be_visible()
    # The next roll ends it.
    touch(page, "die-1", "die-1")
    expect(page.get_by_test_id("last-roll")).to_have_attribute("data-dice", "1-1")
    expect(page.get_by_test_id("step-undo")).to_be_hidden()
    # It has decided nothing, so that the layout has the room.
    expect(page.get_by_test_id("felt")).to_be_visible()


def test_dice_keyed_while_the_correction_is_open_correct_the_roll(page: Page, table: TerminalProcess) -> None:
    bet(table, "5", "dont_pass", 20)
    touch(page, "die-6", "die-5", "button-correct")
    expect(page.get_by_test_id("correct-says")).to_have_text(
        "Touch the right dice and confirm, or key them at the table: the second key corrects roll 1."
    )
    key_dice(table, 4)
    expect(page.locator("#correct-to .die")).to_have_attribute("data-value", "4")
    key_dice(table, 3)
    expect(page.get_by_test_id("overlay-correct")).to_be_hidden()
    expect(page.get_by_test_id("last-roll")).to_have_attribute("data-dice", "4-3")
    expect(page.get_by_test_id("step-undo")).to_contain_text("1. Undo 6-5")
    expect(page.get_by_test_id("step-settle")).to_contain_text("2. Settle 4-3")
    state = table.state()
    assert (state["roll_number"], state["correcting"]) == (1, False)


def test_a_correction_that_is_called_off_makes_the_next_dice_a_new_roll(page: Page, table: TerminalProcess) -> None:
    touch(page, "die-6", "die-5")
    for way in ("Escape", "close-correct"):
        touch(page, "button-correct")
        expect(page.get_by_test_id("correct-says")).to_have_attribute("data-armed", "true")
        if way == "Escape":
            page.keyboard.press("Escape")
        else:
            touch(page, way)
        table.wait_for_state(lambda state: not state["correcting"], "the next dice are a roll again")
        # The page knows it as well.
        expect(page.get_by_test_id("correcting")).to_be_hidden()
    key_dice(table, 4, 4)
    expect(page.get_by_test_id("last-roll")).to_have_attribute("data-dice", "4-4")
    assert table.state()["roll_number"] == 2


def test_a_correction_that_is_announced_elsewhere_is_called_off_on_the_screen(
    page: Page, table: TerminalProcess
) -> None:
    banner = page.get_by_test_id("correcting")

    def announce() -> None:
        body = {"id": table.fresh_id(), "correcting": True}
        assert table.client.post("/api/take_back", json=body).status_code == 200
        expect(banner).to_contain_text("The next two dice correct roll 1.")
        # The page takes nothing while an action of its own is under way.
        expect(page.get_by_test_id("do-not-correct")).to_be_enabled()

    def is_called_off() -> None:
        expect(banner).to_be_hidden()
        table.wait_for_state(lambda state: not state["correcting"], "the next dice are a roll again")

    # The roll closes a dialog, so it must be there before one is opened.
    touch(page, "die-6", "die-5")
    expect(page.get_by_test_id("last-roll")).to_have_attribute("data-dice", "6-5")
    touch(page, "button-bets")
    announce()
    touch(page, "do-not-correct")
    is_called_off()
    announce()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("overlay-bets")).to_be_hidden()
    expect(banner).to_be_visible()
    page.keyboard.press("Escape")
    is_called_off()


def test_a_roll_that_arrives_closes_the_dialog_that_would_hide_it(page: Page, table: TerminalProcess) -> None:
    bet(table, "5", "pass_line", 20)
    touch(page, "button-bets", "player-3", "kind-come")
    key_dice(table, 4, 3)
    expect(page.get_by_test_id("overlay-bets")).to_be_hidden()
    expect(rows(page, "pay-list")).to_have_text(["5Pass Line20 at 1 to 1 = 20 · stake 20 back20"])
    # A finger on its way to the panel finds the dice keys at rest; then they work.
    touch(page, "die-1", "die-1")
    expect(page.get_by_test_id("last-roll")).to_have_attribute("data-dice", "1-1")


def test_a_roll_that_two_people_key_is_entered_once(page: Page, table: TerminalProcess) -> None:
    # This page is not told of the other's roll, as on a slow network.
    before = table.state()
    show_state(page, before)
    sent = sent_steps(page)
    table.do({"roll": [3, 1]})
    touch(page, "die-3", "die-1")
    expect(page.get_by_test_id("notice")).to_contain_text("The table has moved on")
    expect(page.get_by_test_id("die-one")).to_have_attribute("data-value", "")
    assert [body["after_roll"] for body in sent] == [0]
    assert table.state()["roll_number"] == 1


def test_names_that_begin_alike_are_told_apart(page: Page, table: TerminalProcess) -> None:
    names = ("Maximilian Oberhuber", "Maximiliane Oberhauser", "Maximilian Obermaier", "Maria")
    for player in names:
        bet(table, player, "field", 10)
        bet(table, player, "any_craps", 10)
    touch(page, "button-bets")
    # The bets of the one who is chosen come to the top, under the name and what lies there.
    touch(page, f"player-{names[2]}")
    expect(page.locator("#bet-summary")).to_contain_text(f"Player {names[2]}, 20 on layout")
    chosen = page.locator("#bets-list section[data-chosen] h3")
    expect(chosen).to_have_text(f"{names[2]}20")
    expect(chosen).to_be_in_viewport()
    touch(page, "close-bets", "die-5", "die-4")
    expect(rows(page, "pay-list")).to_have_count(4)
    expect(rows(page, "collect-list")).to_have_count(4)
    cut_off = (
        "nodes => nodes.filter(n => n.scrollHeight > n.clientHeight + 1 || n.scrollWidth > n.clientWidth + 1).length"
    )
    assert page.locator("#pay-list .name, #collect-list .name, #collect-list b, #pay-list b").count() == 16
    assert page.locator("#pay-list .name, #collect-list .name").evaluate_all(cut_off) == 0


def test_a_throw_that_is_no_roll_leaves_the_lists_marked_as_settled(page: Page, table: TerminalProcess) -> None:
    bet(table, "3", "field", 10)
    touch(page, "die-5", "die-4")
    settled = page.get_by_test_id("settled")
    expect(rows(page, "pay-list")).to_have_count(1)
    expect(settled).to_be_hidden()
    touch(page, "button-no-roll", "reason-slid")
    expect(settled).to_have_text("Already settled (roll 1)")
    expect(page.locator("#pay")).to_have_css("opacity", "0.7")
    # The next roll is to be settled again.
    touch(page, "die-2", "die-2")
    expect(settled).to_be_hidden()
    expect(page.locator("#pay")).to_have_css("opacity", "1")


def test_only_what_is_paid_is_counted_and_come_bets_that_travel_stand_apart(page: Page, table: TerminalProcess) -> None:
    table.do({"roll": [2, 2]})
    know_roll(page, 2, 2)
    bet(table, "3", "come", 10)
    bet(table, "5", "come", 15)
    bet(table, "7", "place", 12, 6)
    touch(page, "die-3", "die-3")
    # Twelve on the six pay seven to six.
    expect(page.get_by_test_id("pay-count")).to_have_text("1")
    expect(page.get_by_test_id("pay-sum")).to_have_text("14")
    expect(page.locator("#pay-list .apart")).to_have_text("2 come bets travel")
    expect(rows(page, "pay-list")).to_have_text(
        ["7Place 612 at 7 to 6 = 14 · stays up14", "3Come10to 6", "5Come15to 6"]
    )


def test_a_long_list_turns_its_page_at_a_touch_with_the_total_in_sight(page: Page, table: TerminalProcess) -> None:
    players = [str(position) for position in range(1, 17)]
    for player in players:
        bet(table, player, "field", 10)
        bet(table, player, "any_craps", 5)
    touch(page, "die-4", "die-3")
    expect(rows(page, "collect-list")).to_have_count(32)
    last = rows(page, "collect-list").last
    expect(last).not_to_be_in_viewport()
    more = page.get_by_test_id("collect-more")
    expect(more).to_contain_text("▼")
    for _ in range(10):
        if "▲" in more.inner_text():
            break
        more.tap()
    expect(last).to_be_in_viewport()
    # Sixteen times 10 and 5.
    expect(page.get_by_test_id("collect-sum")).to_have_text("240")
    expect(page.get_by_test_id("collect-sum")).to_be_in_viewport()
    more.tap()
    expect(rows(page, "collect-list").first).to_be_in_viewport()


def test_what_takes_much_away_asks_for_a_second_touch(page: Page, table: TerminalProcess) -> None:
    for player in ("3", "5"):
        bet(table, player, "field", 10)
    touch(page, "button-bets", "all-off")
    expect(page.get_by_test_id("all-off")).to_have_text("Again: all 2 bets OFF")
    assert all(standing["button"] is None for standing in table.state()["bets"])
    touch(page, "player-3", "group-one_roll", "kind-field", "bet-take-down")
    expect(page.get_by_test_id("bet-take-down")).to_have_text("Again: 10 down")
    # The second touch is about another bet, so it asks again.
    touch(page, "player-5", "bet-take-down")
    assert len(table.state()["bets"]) == 2
    touch(page, "bet-take-down")
    expect(rows(page, "bets-list")).to_have_text(["3Field10"])
    # After a while nothing is asked any more.
    touch(page, "all-on")
    expect(page.get_by_test_id("all-on")).to_have_text("Again: all 1 bets ON")
    lapse(page)
    expect(page.get_by_test_id("all-on")).to_have_text("All bets on")


def test_dice_that_count_under_these_rules_are_voided_at_a_second_touch_only(
    page: Page, table: TerminalProcess
) -> None:
    touch(page, "die-4", "die-3")
    know_roll(page, 4, 3)
    touch(page, "button-no-roll", "reason-on_chips")
    expect(page.get_by_test_id("reason-on_chips")).to_have_text("Touch again: no roll all the same")
    assert table.state()["last_no_roll"] is None
    touch(page, "reason-on_chips")
    expect(page.get_by_test_id("last-roll")).to_contain_text("No roll: On chips")


def test_a_shooter_without_a_line_bet_is_refused_with_two_ways_out(page: Page, table: TerminalProcess) -> None:
    table.do({"shooter": "3"})
    expect(page.get_by_test_id("shooter")).to_have_text("Shooter 3")
    touch(page, "die-4", "die-3")
    expect(page.get_by_test_id("notice")).to_contain_text("The shooter, 3, needs Pass Line or Don't Pass")
    touch(page, "notice-new-shooter", "close-shooter", "die-4")
    expect(page.get_by_test_id("die-one")).to_have_attribute("data-value", "4")
    touch(page, "die-3", "notice-bets")
    expect(page.get_by_test_id("overlay-bets")).to_be_visible()


def test_a_bet_taken_up_since_that_the_right_roll_decides_is_taken_back_first(
    page: Page, table: TerminalProcess
) -> None:
    table.do({"roll": [2, 2]})
    bet(table, "3", "place", 12, 6)
    table.do({"roll": [1, 2]})
    table.do({"take_down": {"player": "3", "kind": "place", "number": 6}})
    bet(table, "5", "come", 10)
    know_roll(page, 1, 2)
    touch(page, "button-correct", "right-die-3", "right-die-4", "confirm-correct")
    # Nothing was settled on 1-2, but the seven collects the place bet that player 3 has in hand again.
    expect(rows(page, "undo-take-list")).to_have_text(["3Place 6taken up since: to layout12"])
    touch(page, "step-settle")
    expect(rows(page, "collect-list")).to_have_text(["3Place 612"])
    # A come bet is not taken on the come-out that the seven leads to.
    expect(rows(page, "pay-list")).to_have_text(["5Comehanded back10"])


def test_a_come_out_that_decides_at_once_has_its_name(page: Page, table: TerminalProcess) -> None:
    words = page.locator("#last-words")
    for dice, said in (((3, 4), "Natural"), ((1, 1), "Craps"), ((6, 5), "Natural")):
        table.do({"roll": list(dice)})
        expect(words).to_contain_text(said)


def test_a_new_shooter_is_named_by_touch(page: Page, table: TerminalProcess) -> None:
    expect(page.get_by_test_id("shooter")).to_have_text("No shooter")
    bet(table, "5", "pass_line", 10)
    touch(page, "button-new-shooter", "shooter-5")
    expect(page.get_by_test_id("overlay-shooter")).to_be_hidden()
    expect(page.get_by_test_id("shooter")).to_have_text("Shooter 5")


def test_the_table_opens_under_other_rules_but_not_while_bets_lie_on_it(page: Page, table: TerminalProcess) -> None:
    bet(table, "5", "pass_line", 10)
    bet(table, "5", "place", 12, 6)
    touch(page, "button-open-table", "rules-es-1979")
    expect(page.locator("#table-title")).to_have_text("Table: rules and limits")
    expect(page.get_by_test_id("in-the-way")).to_have_text("Bets lie on the layout: 5 Pass Line 10, 5 Place 6 12 OFF")
    order = page.locator("#rule-sets b").all_inner_texts()
    touch(page, "field-max", "table-digit-9", "table-digit-0", "table-digit-0", "confirm-open")
    notice = page.get_by_test_id("notice")
    expect(notice).to_contain_text("Bets lie on the layout")
    assert table.state()["table"]["rules"] == "us-vegas"
    notice.tap()
    table.do({"take_down": {"player": "5", "kind": "pass_line"}})
    table.do({"take_down": {"player": "5", "kind": "place", "number": 6}})
    touch(page, "confirm-open")
    expect(page.get_by_test_id("overlay-table")).to_be_hidden()
    expect(page.locator("#table-rules")).to_have_text("es-1979")
    assert table.state()["table"]["limits"] == {"min": 5, "max": 900}
    # A rule set keeps its place when it comes into force, and yes comes first in every question.
    touch(page, "button-open-table")
    expect(page.locator("#rule-sets b")).to_have_text(order)
    answers = page.locator("#rule-options .values").all_inner_texts()
    assert [words.split()[0] for words in answers if words.split()[-1] in ("yes", "no")] == ["yes"] * 2
    touch(page, "close-table")
    # What the rule set offers follows: the 1979 Order has no hop bets.
    touch(page, "button-bets", "group-line")
    expect(page.get_by_test_id("group-hop")).to_have_count(0)


def test_a_misplaced_puck_shows_on_the_strip_until_it_lies_right(page: Page, table: TerminalProcess) -> None:
    virtual = open_virtual_table(page, table)
    message = page.get_by_test_id("puck-message")
    expect(message).to_have_text("Puck in place")
    touch(page, "die-2", "die-4")
    expect(message).to_have_text("Move puck to 6, ON")
    expect(page.get_by_test_id("puck-box-6")).to_have_attribute("data-expected", "true")
    expect(page.get_by_test_id("puck-box-off")).to_have_attribute("data-puck", "off")
    touch(virtual, "virtual-puck-8")
    expect(page.get_by_test_id("puck-box-8")).to_have_attribute("data-puck", "on")
    expect(message).to_have_attribute("data-agrees", "false")
    touch(virtual, "virtual-puck-6")
    expect(message).to_have_text("Puck in place")
    expect(page.get_by_test_id("puck-box-6")).to_have_attribute("data-puck", "on")
    touch(virtual, "virtual-lift")
    expect(message).to_have_text("Puck lifted")


def test_buttons_lid_and_dice_keys_of_the_table_reach_the_console(page: Page, table: TerminalProcess) -> None:
    virtual = open_virtual_table(page, table)
    bet(table, "3", "place", 12, 8)
    touch(virtual, "virtual-button-box_8")
    expect(page.get_by_test_id("puck-box-8")).to_have_attribute("data-picked", "")
    touch(virtual, "virtual-button-buy")
    expect(page.get_by_test_id("puck-box-8")).to_contain_text("buy")
    expect(virtual.get_by_test_id("virtual-button-buy")).to_have_attribute("data-lamp", "true")
    touch(virtual, "virtual-button-lay")
    expect(rows(page, "alert-list")).to_have_text(["Press a box button before LAY."])
    touch(virtual, "virtual-lid")
    expect(page.get_by_test_id("reserve")).to_have_attribute("data-state", "open")
    # The question says that it is open; an alert beside it would say it twice.
    expect(page.get_by_test_id("question")).to_contain_text("Reserve OPEN. Why?")
    expect(page.get_by_test_id("alert-list")).not_to_contain_text("reserve")
    touch(virtual, "virtual-lid")
    expect(page.get_by_test_id("reserve")).to_have_attribute("data-state", "closed")
    key_die(table, partial(touch, virtual, "virtual-key-3"))
    expect(page.get_by_test_id("die-one")).to_have_attribute("data-value", "3")
    key_die(table, partial(touch, virtual, "virtual-key-5"))
    expect(page.get_by_test_id("last-roll")).to_have_attribute("data-dice", "3-5")
    # Holding key 1 takes it back: the next two dice, here touched on the screen, correct the roll.
    hold = partial(touch, virtual, "virtual-hold-1")
    press_until(hold, lambda: bool(table.state()["correcting"]), "the next dice correct")
    expect(page.get_by_test_id("correcting")).to_be_visible()
    page.bring_to_front()
    touch(page, "die-3", "die-6")
    expect(page.get_by_test_id("last-roll")).to_have_attribute("data-dice", "3-6")
    assert table.state()["roll_number"] == 1


def alert(code: str, text: str, *, waits: bool = True, by: str | None = None) -> dict[str, Any]:
    """An alert as the terminal tells of it."""
    since = "2026-01-02T20:14:03Z"
    return {
        "id": code,
        "code": code,
        "text": text,
        "raised": 7,
        "since": since,
        "can_acknowledge": waits and by is None,
        "acknowledged_by": by,
    }


def whose(table: TerminalProcess) -> str | None:
    """Who has acknowledged the puck's alert, as the terminal has it."""
    [name] = [told["acknowledged_by"] for told in table.state()["alerts"] if told["code"] == "puck_misplaced"]
    return name if name is None else str(name)


def leave_the_puck(page: Page) -> Locator:
    """A point of 6 is rolled and nobody moves the puck; the alert, once it is raised."""
    touch(page, "die-2", "die-4")
    raised = page.get_by_test_id("alert-puck_misplaced")
    expect(raised).to_be_visible()
    return raised


def test_alerts_stand_in_the_terminal_s_order_and_say_what_to_do(page: Page, table: TerminalProcess) -> None:
    bet(table, "3", "field", 10)
    table.do({"roll": [2, 2]})
    fenced = "event 7 in the central log is not the one"
    told = table.state() | {
        "uplink": {
            "state": "fenced",
            "undelivered": 12,
            "waiting_since": "2026-01-02T20:14:03.250Z",
            "last_error": fenced,
            "targets": {"nats": "fenced", "https": "online"},
        },
        "correcting": True,
        "alerts": [
            alert("correcting", "The next two dice correct the last roll.", waits=False),
            alert("notice", "Press a box button before BUY.", waits=False),
            alert("puck_misplaced", "The puck is on OFF, but the point is 4. Put it on 4, ON face up."),
            alert("uplink_fenced", fenced),
            alert("reserve_open", "The lid of the dice reserve is open.", waits=False),
            alert("input_stuck", "Stuck, and left out of account: box_6. Call a technician.", by="Ana Ruiz"),
            alert("rule_warning", "Juego de 7 pays fifteen times the bet.", waits=False),
        ],
    }
    show_state(page, told)
    # The banner over everything says it of the correction.
    expect(page.get_by_test_id("correcting")).to_be_visible()
    since = page.evaluate("""new Date("2026-01-02T20:14:03Z").toLocaleTimeString("en-GB").slice(0, 5)""")
    expect(rows(page, "alert-list")).to_have_text(
        [
            "Press a box button before BUY.",
            f"The puck is on OFF, but the point is 4. Put it on 4, ON face up.{since}▸",
            f"Nothing reaches the centre: another unit reports as this table. Play on; tell the supervisor.{since}▸",
            "The lid of the dice reserve is open.",
            "Stuck, and left out of account: box_6. Call a technician.acknowledged by Ana Ruiz",
            "Juego de 7 pays fifteen times the bet.",
        ]
    )
    expect(page.get_by_test_id("pay-list")).to_contain_text("Field")
    touch(page, "button-help")
    expect(page.get_by_test_id("help-status")).to_contain_text(f"nats FENCED, https Online: {fenced}")
    oldest = re.compile(r"Undelivered12, the oldest of 2026-01-0[23] [0-2][0-9]:[0-9]4")
    expect(page.get_by_test_id("help-status")).to_contain_text(oldest)


def test_what_an_earlier_correction_changed_of_the_last_roll_is_nothing_to_collect_or_pay(
    page: Page, table: TerminalProcess
) -> None:
    bet(table, "3", "field", 10)
    table.do({"roll": [2, 2]})
    expect(page.get_by_test_id("pay-sum")).to_have_text("10")
    told = table.state()
    hand_over = "Roll 7 was corrected to 6-4. Hand out 40 to 1, 9 to 4. Take back 60 from 2."
    standing = [alert("roll_corrected", hand_over), alert("pin_locked", "5 wrong PINs in a row were tried for Juan.")]
    show_state(page, told | {"alerts": standing, "last_roll": told["last_roll"] | {"settled_by": told["seq"]}})
    expect(page.locator("#last-words")).to_have_text("Roll 1 · Already settled: nothing to do")
    expect(page.get_by_test_id("pay-sum")).to_be_hidden()
    expect(page.get_by_test_id("last-roll")).to_be_disabled()
    # In their place the layout, as the bets are to lie, below what is to be handed over.
    expect(page.get_by_test_id("felt")).to_be_visible()
    expect(rows(page, "alert-list").first).to_contain_text(hand_over)
    expect(page.get_by_test_id("alert-roll_corrected")).to_be_in_viewport(ratio=1)
    assert layout_faults(page) == []


def test_the_puck_s_alert_gives_its_room_to_the_rows_of_a_correction(page: Page, table: TerminalProcess) -> None:
    for player in range(1, 5):
        bet(table, str(player), "pass_line", 10)
    table.do({"roll": [3, 4]})
    table.do({"correct": [2, 2]})
    told = table.state()
    show_state(page, told | {"alerts": [alert("puck_misplaced", "The puck is on OFF, but the point is 4.")]})
    expect(page.get_by_test_id("alert-puck_misplaced")).to_be_hidden()
    for row in rows(page, "undo-take-list").all():
        expect(row).to_be_in_viewport(ratio=1)
    expect(rows(page, "undo-take-list")).to_have_count(4)
    expect(page.get_by_test_id("undo-take-more")).to_be_hidden()
    # Once they are put away, it stands there as before.
    touch(page, "last-roll")
    expect(page.get_by_test_id("alert-puck_misplaced")).to_be_visible()


def test_a_notice_covers_nothing_that_is_needed(page: Page, table: TerminalProcess) -> None:
    table.do({"shooter": "3"})
    touch(page, "die-4", "die-3")
    notice = page.get_by_test_id("notice-new-shooter")
    expect(notice).to_be_visible()
    box = page.locator("#notice").bounding_box()
    assert box is not None
    for needed in ("#status", "#phase", "#work", "#entry"):
        other = page.locator(needed).bounding_box()
        assert other is not None
        apart = (
            box["y"] >= other["y"] + other["height"]
            or box["y"] + box["height"] <= other["y"]
            or box["x"] >= other["x"] + other["width"]
            or box["x"] + box["width"] <= other["x"]
        )
        assert apart, needed
    assert layout_faults(page) == []


def test_an_alert_is_acknowledged_by_name_at_a_touch_and_then_stands_quietly(
    page: Page, table: TerminalProcess
) -> None:
    leave_the_puck(page).tap()
    says = page.get_by_test_id("acknowledge-says")
    expect(says).to_contain_text("The puck is on OFF, but the point is 6. Put it on 6, ON face up.")
    name = page.get_by_test_id("acknowledge-name")
    confirm = page.get_by_test_id("confirm-acknowledge")
    touch(page, "letter-space")
    expect(confirm).to_be_disabled()
    touch(page, *(f"letter-{letter}" for letter in "ana"), "letter-space", *(f"letter-{letter}" for letter in "nuñx"))
    touch(page, "letter-back", "letter-e", "letter-z")
    expect(name).to_have_value(" Ana Nuñez")
    sent = sent_steps(page)
    touch(page, "confirm-acknowledge")
    expect(page.get_by_test_id("overlay-acknowledge")).to_be_hidden()
    row = page.locator("[data-alert=puck_misplaced]")
    expect(row).to_contain_text("acknowledged by Ana Nuñez")
    expect(row).to_have_attribute("data-mood", "quiet")
    expect(row).to_have_css("background-color", "rgb(20, 27, 32)")
    expect(row.locator("button")).to_have_count(0)
    assert [(body["alert"], body["name"]) for body in sent] == [("puck_misplaced", "Ana Nuñez")]
    # Put on another wrong box, it is another matter; who took note before is offered.
    table.hand(puck={"position": 8, "face": "on"})
    touch(page, "alert-puck_misplaced")
    expect(says).to_contain_text("The puck is on 8")
    touch(page, "name-Ana Nuñez", "confirm-acknowledge")
    wait_for(lambda: whose(table) == "Ana Nuñez", "it is acknowledged")
    table.hand(puck={"position": 6, "face": "on"})
    expect(rows(page, "alert-list")).to_have_count(0)


def test_an_alert_is_acknowledged_by_keyboard(page: Page, table: TerminalProcess) -> None:
    leave_the_puck(page)
    expect(rows(page, "alert-list")).to_have_count(1)
    page.keyboard.press("a")
    expect(page.get_by_test_id("acknowledge-name")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.type("Bo  Lih")
    page.keyboard.press("Backspace")
    # A figure is part of the name, not a die; and the keyboard goes on after a touch on the pad.
    touch(page, "letter-space")
    page.keyboard.type("12 ")
    expect(page.get_by_test_id("acknowledge-name")).to_have_value("Bo  Li 12 ")
    expect(page.get_by_test_id("confirm-acknowledge")).to_be_enabled()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("overlay-acknowledge")).to_be_hidden()
    expect(page.locator("[data-alert=puck_misplaced]")).to_contain_text("acknowledged by Bo Li 12")
    assert whose(table) == "Bo Li 12"
    # Nothing is left to acknowledge; the next key is a die again.
    page.keyboard.press("a")
    expect(page.get_by_test_id("overlay-acknowledge")).to_be_hidden()
    expect(page.get_by_test_id("die-3")).to_be_enabled()
    page.keyboard.press("3")
    expect(page.get_by_test_id("die-one")).to_have_attribute("data-value", "3")


def test_an_acknowledgement_whose_answer_is_lost_is_done_once(page: Page, table: TerminalProcess) -> None:
    sent = sent_steps(page)

    def lose_the_answer(route: Route) -> None:
        assert route.fetch(timeout=EXPECT_MS).status == 200
        route.abort()

    page.route("**/api/acknowledge", lose_the_answer, times=1)
    leave_the_puck(page).tap()
    expect(page.get_by_test_id("acknowledge-name")).to_be_focused()
    page.keyboard.type("Ana")
    touch(page, "confirm-acknowledge")
    expect(page.get_by_test_id("overlay-acknowledge")).to_be_hidden()
    assert whose(table) == "Ana"
    acknowledgements = [body for body in sent if "alert" in body]
    assert len(acknowledgements) == 2
    assert acknowledgements[0] == acknowledgements[1]
    expect(page.get_by_test_id("notice")).to_be_hidden()


def test_an_alert_that_is_put_right_under_its_dialog_is_not_acknowledged(page: Page, table: TerminalProcess) -> None:
    leave_the_puck(page).tap()
    expect(page.get_by_test_id("acknowledge-name")).to_be_focused()
    page.keyboard.type("Ana")
    expect(page.get_by_test_id("confirm-acknowledge")).to_be_enabled()
    table.hand(puck={"position": 6, "face": "on"})
    expect(page.get_by_test_id("acknowledge-says")).to_contain_text("It does not stand any more.")
    expect(page.get_by_test_id("confirm-acknowledge")).to_be_disabled()
    touch(page, "close-acknowledge")
    expect(rows(page, "alert-list")).to_have_count(0)


def test_a_roll_that_is_missing_draws_the_eye_to_the_dice(page: Page, table: TerminalProcess) -> None:
    entry, slot = page.get_by_test_id("entry"), page.get_by_test_id("die-one")
    # After craps the puck lies where it belongs; then it goes to a box as if a point had been made.
    table.do({"roll": [1, 1]})
    expect(page.get_by_test_id("last-roll")).to_have_attribute("data-dice", "1-1")
    expect(entry).to_have_attribute("data-wanted", "false")
    table.hand(puck={"position": 6, "face": "on"})
    expect(page.get_by_test_id("alert-roll_missing")).to_contain_text("but no roll was entered. Enter the roll")
    expect(entry).to_have_attribute("data-wanted", "true")
    expect(slot).to_have_text("Enter the roll: first die")
    expect(page.locator("#dice-keys")).to_have_css("outline-color", "rgb(255, 193, 77)")
    # Whoever has taken note of it is not asked any more.
    expect(rows(page, "alert-list")).to_have_count(1)
    page.keyboard.press("a")
    page.keyboard.type("Ana")
    expect(page.get_by_test_id("confirm-acknowledge")).to_be_enabled()
    page.keyboard.press("Enter")
    expect(entry).to_have_attribute("data-wanted", "false")
    expect(slot).to_have_text("First die")
    touch(page, "die-3", "die-3")
    expect(rows(page, "alert-list")).to_have_count(0)


@pytest.mark.parametrize("screen", [SCREEN, {"width": 1280, "height": 720}], ids=["800x480", "1280x720"])
def test_many_alerts_leave_the_dice_where_they_are(page: Page, table: TerminalProcess, screen: ViewportSize) -> None:
    page.set_viewport_size(screen)
    place = page.get_by_test_id("die-1").bounding_box()
    text = "is stuck, and left out of account. Look whether something lies on it; if nothing does, call a technician."
    many = [alert(f"input_stuck:{n}", f"Input {n} {text}") for n in range(12)]
    show_state(page, table.state() | {"alerts": many})
    expect(rows(page, "alert-list")).to_have_count(12)
    expect(rows(page, "alert-list").last).not_to_be_in_viewport()
    expect(page.get_by_test_id("no-roll-short")).to_be_visible()
    assert page.get_by_test_id("die-1").bounding_box() == place
    touch(page, "die-1")
    expect(page.get_by_test_id("die-one")).to_have_attribute("data-value", "1")
    more = page.get_by_test_id("alerts-more")
    expect(more).to_contain_text("more")
    for _ in range(12):
        if "▲" in more.inner_text():
            break
        more.tap()
    touch(page, "alert-input_stuck:11")
    expect(page.get_by_test_id("acknowledge-says")).to_contain_text("Input 11 is stuck")
    assert layout_faults(page) == []


def cut_rows(page: Page) -> list[bool]:
    """Of each alert on the list, whether a line of its words is cut off; the feet of the last letters are none."""
    cut: list[bool] = page.locator("#alert-list li").evaluate_all(
        """(rows) => rows.map((row) => {
          const { height } = row.querySelector("span").getBoundingClientRect();
          return row.querySelector("span").scrollHeight > height + 6;
        })"""
    )
    return cut


@pytest.mark.parametrize("screen", [SCREEN, {"width": 1280, "height": 720}], ids=["800x480", "1280x720"])
def test_alerts_stand_whole_where_there_is_room_and_else_the_first_does(
    page: Page, table: TerminalProcess, screen: ViewportSize
) -> None:
    page.set_viewport_size(screen)
    text = (
        "The I/O node does not answer; look at its cable. What it reads is not seen: dice keys, slots. Enter dice on "
        "the screen: keys pressed now count later, but not once a throw is entered here."
    )
    told = table.state()
    show_state(page, told | {"alerts": [alert(f"node_offline:{n}", text) for n in range(2)]})
    expect(rows(page, "alert-list")).to_have_count(2)
    assert cut_rows(page) == [False, False]
    expect(rows(page, "alert-list").last).to_be_in_viewport(ratio=1)
    expect(page.get_by_test_id("alerts-more")).to_be_hidden()
    show_state(page, told | {"alerts": [alert(f"node_offline:{n}", text) for n in range(7)]})
    expect(rows(page, "alert-list")).to_have_count(7)
    expect(page.get_by_test_id("alerts-more")).to_be_visible()
    assert cut_rows(page) == [False] + [True] * 6
    expect(rows(page, "alert-list").first).to_be_in_viewport(ratio=1)
    # The list ends where a row does.
    ends = page.locator("#alert-list li").evaluate_all("rows => rows.map(row => row.getBoundingClientRect().bottom)")
    bottom = page.get_by_test_id("alert-list").evaluate("list => list.getBoundingClientRect().bottom")
    assert min(abs(end - bottom) for end in ends) <= 1


def test_what_dead_pins_leave_unseen_is_amber_and_so_is_the_hardware(page: Page, table: TerminalProcess) -> None:
    told = table.state()
    message, strip = page.get_by_test_id("puck-message"), page.locator("#puck")
    unseen = {"state": "unknown", "position": None, "face": None, "agrees": None}
    dead = alert("input_unavailable", "Cannot be used: the lid. Call a technician.", by="Ana")
    seen_no_more = {"puck": told["puck"] | unseen, "reserve": told["reserve"] | {"open": None}, "alerts": [dead]}
    show_state(page, told | seen_no_more)
    expect(message).to_have_text("Puck not seen")
    expect(message).to_have_css("color", "rgb(255, 193, 77)")
    expect(strip).to_have_attribute("data-mood", "mind")
    expect(page.get_by_test_id("reserve")).to_contain_text("Lid not seen")
    expect(page.get_by_test_id("reserve")).to_have_css("background-color", "rgb(255, 193, 77)")
    expect(page.get_by_test_id("node")).to_have_text("HardwareInput not read")
    for code, words in (("input_stuck", "Input stuck"), ("line_noisy", "Line disturbed")):
        show_state(page, told | {"alerts": [alert(code, "x")]})
        expect(page.get_by_test_id("node")).to_have_text(f"Hardware{words}")
        expect(page.get_by_test_id("node")).to_have_css("background-color", "rgb(255, 193, 77)")
    show_state(page, told | {"node": {"state": "offline"}, "alerts": [alert("node_offline", "x")]})
    expect(page.get_by_test_id("node")).to_have_text("HardwareNODE LOST")
    # A table without a sensor of the lid has nothing that it does not see.
    page.route("**/api/hardware", lambda route: route.fulfill(json=hardware_with_faults()))
    show_state(page, told | seen_no_more)
    expect(page.get_by_test_id("reserve")).to_have_text("Dice lid –")
    expect(page.get_by_test_id("reserve")).to_have_attribute("data-mood", "calm")


def test_the_hardware_page_shows_pins_and_levels_as_they_are_now(page: Page, table: TerminalProcess) -> None:
    def tile(name: str) -> Locator:
        return page.get_by_test_id(name)

    bet(table, "3", "place", 12, 8)
    touch(page, "button-hardware")
    off, six = tile("input-puck_off"), tile("input-puck_6")
    expect(off).to_have_text(f"OFF{DEFAULT_PINS['puck_off']}active")
    expect(six).to_have_text(f"6{DEFAULT_PINS['puck_6']}inactive")
    # Seven places of the puck, ten buttons, six dice keys, the lid, six slots, the door.
    expect(page.locator("[data-level]")).to_have_count(7 + 10 + 6 + 1 + 6 + 1)
    expect(tile("input-door")).to_have_text("Doornode:22closed")
    expect(tile("input-lid")).to_have_text(f"Lid{DEFAULT_PINS['lid']}closed")
    table.hand(puck={"position": 6, "face": "on"})
    expect(six).to_have_attribute("data-level", "active")
    expect(off).to_have_attribute("data-level", "inactive")
    touch(page, "hardware-lamps")
    expect(tile("lamp-box_8")).to_have_attribute("data-level", "lit")
    expect(tile("lamp-box_8")).to_contain_text(f"Box 8{DEFAULT_PINS['lamp_box_8']} · lit")
    expect(tile("lamp-box_8")).to_contain_text("Bets or a marker lie on box 8")
    expect(tile("lamp-on")).to_have_attribute("data-level", "dark")
    page.keyboard.press("3")
    facts = page.get_by_test_id("hardware-facts")
    for term in ("Pin libraryvirtual", "Node online", "Port", "Firmware", "Configuration", "Frames damaged"):
        expect(facts).to_contain_text(term)


def test_the_hardware_is_read_only_while_its_page_is_open(page: Page, table: TerminalProcess) -> None:
    paths: list[str] = []
    page.on("request", lambda request: paths.append(request.url.removeprefix(table.address)))

    def polls(path: str, count: int) -> None:
        paths.clear()
        wait_for(lambda: page.evaluate("1") and paths.count(path) >= count, f"{count} requests of {path}")

    def is_left_alone() -> bool:
        """A page that begins, or has its terminal back, reads once which inputs there are, after the rules."""
        polls("/api/state", 5)
        return paths.count("/api/hardware") <= paths.count("/api/rules") + 1

    assert is_left_alone()
    page.keyboard.press("h")
    polls("/api/hardware", 3)
    # It keeps to a rhythm of a second, as the poll of the state does.
    assert paths.count("/api/hardware") <= paths.count("/api/state") + 2
    touch(page, "close-hardware")
    assert is_left_alone()


def test_the_hardware_page_tells_the_self_test_of_the_start(page: Page, table: TerminalProcess) -> None:
    wait_for(lambda: table.client.get("/api/hardware").json()["self_test"], "the self-test")
    touch(page, "button-hardware")
    touch(page, "hardware-self_test")
    rules = page.get_by_test_id("check-rules")
    expect(rules).to_have_attribute("data-result", "passed")
    expect(rules).to_contain_text("us-vegas, version 1: the house edge of each of 89 bets is as stated")
    expect(page.locator("#hardware-body li")).to_have_count(7)
    expect(page.get_by_test_id("self-test-verdict")).to_have_text(re.compile(r"^Passed at [0-9]{2}:[0-9]{2}$"))
    told = table.client.get("/api/hardware").json()
    told["self_test"]["passed"] = False
    told["self_test"]["checks"] = [check | {"result": "passed"} for check in told["self_test"]["checks"]]
    told["self_test"]["checks"][2] |= {"result": "failed", "said": "is UB, but the journal was signed with UA"}
    page.route("**/api/hardware", lambda route: route.fulfill(json=told))
    expect(page.get_by_test_id("check-key")).to_have_attribute("data-result", "failed")
    expect(page.get_by_test_id("self-test-verdict")).to_have_text(re.compile("^NOT PASSED at "))
    expect(page.get_by_test_id("hardware-self_test")).to_have_text("Self-test1")
    told["self_test"] = None
    expect(page.locator("#hardware-body")).to_have_text("The self-test of this start is not over yet…")


def hardware_with_faults() -> dict[str, Any]:
    """A table on which much is broken, as GET /api/hardware tells of it."""
    sound = {"active": False, "unavailable": None, "stuck": False, "lost_edges": 0, "glitches": 0}
    busy = "box_6 on gpio:16 is held by another process"
    return {
        "pin_library": "lgpio",
        "inputs": [
            {"name": "puck_9", "pin": "gpio:10", "group": "puck"} | sound | {"active": True, "stuck": True},
            {"name": "second_puck_off", "pin": "node:22", "group": "second_puck"} | sound | {"active": None},
            {"name": "box_6", "pin": "gpio:16", "group": "bet_status"} | sound | {"active": None, "unavailable": busy},
            {"name": "buy", "pin": "gpio:13", "group": "bet_status"} | sound | {"lost_edges": 3, "glitches": 1204},
        ],
        "lamps": [
            {"name": "on", "pin": "gpio:14", "lit": False, "unavailable": "lamp_on on gpio:14 is busy", "meaning": "x"}
        ],
        "node": {
            "state": "offline",
            "port": "usb:E66138935F5A8B2C",
            "device": None,
            "firmware": "2.0",
            "configuration": "a1b2",
            "error": "no device has the USB serial number E66138935F5A8B2C",
            "counters": {"bad_crc": 17, "lost_frames": 4},
        },
    }


def test_the_hardware_page_names_every_fault(page: Page) -> None:
    answers = [hardware_with_faults()]
    page.route("**/api/hardware", lambda route: route.fulfill(json=answers[0]) if answers else route.abort())
    touch(page, "button-hardware")
    expect(page.locator("#hardware-body .fault")).to_have_text(
        ["The input puck 9 on gpio:10 is stuck.", "box_6 on gpio:16 is held by another process"]
    )
    expect(page.locator(".board h2")).to_have_text(["Puck", "Second puck", "Buttons"])
    expect(page.locator(".board li")).to_have_text(
        ["9gpio:10STUCK", "OFFnode:22unknown", "6gpio:16FAULT", "BUYgpio:13inactivelost 3glitch 1204"]
    )
    expect(page.get_by_test_id("hardware-inputs")).to_have_text("Inputs2")
    expect(page.locator(".legend")).to_contain_text(["lost: changes", "glitch: edges"])
    touch(page, "hardware-lamps")
    expect(page.get_by_test_id("lamp-on")).to_have_text("ONgpio:14 · FAULTlamp_on on gpio:14 is busy")
    touch(page, "hardware-node")
    facts = page.get_by_test_id("hardware-facts")
    for fact in ("NODE LOST", "usb:E66138935F5A8B2C", "a1b2", "no device has the USB serial", "Frames damaged17"):
        expect(facts).to_contain_text(fact)
    expect(facts).not_to_contain_text("Device now")
    # Without an answer, what was told last stays, marked as old.
    silent = page.get_by_test_id("hardware-silent")
    expect(silent).to_be_hidden()
    answers.clear()
    expect(silent).to_be_visible()
    expect(facts).to_contain_text("NODE LOST")
    answers.append(hardware_with_faults())
    expect(silent).to_be_hidden()


def test_many_faults_are_one_line_that_unfolds_and_leave_the_map_in_sight(page: Page, table: TerminalProcess) -> None:
    told = table.client.get("/api/hardware").json()
    for one in told["inputs"]:
        one["unavailable"] = f"{one['name']} is held by another process"
    page.route("**/api/hardware", lambda route: route.fulfill(json=told))
    touch(page, "button-hardware")
    faults = page.get_by_test_id("hardware-faults")
    expect(faults).to_contain_text("31 inputs are stuck or not read.")
    expect(page.locator("#hardware-body .fault")).to_have_count(0)
    expect(page.locator(".board li").last).to_be_in_viewport(ratio=1)
    assert layout_faults(page) == []
    faults.tap()
    expect(page.locator("#hardware-body .fault")).to_have_count(31)
    faults.tap()
    expect(page.locator("#hardware-body .fault")).to_have_count(0)


def test_the_pad_of_letters_has_its_keys_as_on_a_keyboard(page: Page) -> None:
    leave_the_puck(page).tap()
    expect(page.get_by_test_id("letter-space")).to_be_visible()
    rows_of_keys: dict[int, list[str]] = {}
    for key in page.locator("#letters button").all():
        box = key.bounding_box()
        assert box is not None
        rows_of_keys.setdefault(round(box["y"]), []).append(key.inner_text())
        assert key.inner_text() != "space" or box["width"] > 4 * TOUCH_PX
    assert [" ".join(keys) for _, keys in sorted(rows_of_keys.items())] == [
        "1 2 3 4 5 6 7 8 9 0 ⌫",
        "Q W E R T Y U I O P -",
        "A S D F G H J K L Ñ .",
        "Z X C V B N M ⇧ space",
    ]


def test_two_pucks_are_both_shown_and_the_wrong_one_is_marked(page: Page, table: TerminalProcess) -> None:
    table.do({"roll": [2, 4]})
    told = table.state() | {"alerts": []}
    on_six = {"state": "in_place", "position": 6, "face": "on", "agrees": True}

    def pucks(first: dict[str, Any], second: dict[str, Any]) -> None:
        told["puck"] = told["puck"] | on_six | first
        told["second_puck"] = on_six | second
        show_state(page, told)

    message = page.get_by_test_id("puck-message")
    discs = page.locator("#puck .disc")
    pucks({}, {})
    expect(message).to_have_text("Both pucks in place")
    expect(discs).to_have_text(["1", "2"])
    expect(page.get_by_test_id("puck-box-6")).to_have_attribute("data-puck", "on")
    expect(page.get_by_test_id("puck-box-6")).to_have_attribute("data-second-puck", "on")
    pucks({}, {"position": "off", "face": "off", "agrees": False})
    expect(message.locator("span")).to_have_text(["1in place", "2move to 6, ON"])
    expect(page.get_by_test_id("puck-box-off")).to_have_attribute("data-second-puck", "off")
    expect(page.locator("#puck .disc[data-wrong]")).to_have_text(["2"])
    expect(page.locator("#puck")).to_have_attribute("data-mood", "alarm")
    pucks({}, {"state": "unknown", "position": None, "face": None, "agrees": None})
    expect(message.locator("span")).to_have_text(["1in place", "2not seen"])
    expect(message.locator("span").last).to_have_css("color", "rgb(255, 193, 77)")
    pucks({"state": "lifted", "position": None, "face": None, "agrees": False}, {})
    expect(message.locator("span")).to_have_text(["1lifted", "2in place"])
    expect(discs).to_have_text(["2"])


def test_a_keyboard_enters_dice_and_amounts(page: Page, table: TerminalProcess) -> None:
    die_one = page.get_by_test_id("die-one")
    page.keyboard.press("2")
    expect(die_one).to_have_attribute("data-value", "2")
    page.keyboard.press("Escape")
    expect(die_one).to_have_attribute("data-value", "")
    page.keyboard.press("b")
    touch(page, "player-3", "kind-pass_line")
    page.keyboard.press("1")
    page.keyboard.press("2")
    page.keyboard.press("Backspace")
    page.keyboard.press("5")
    expect(page.get_by_test_id("bet-put")).to_be_enabled()
    page.keyboard.press("Enter")
    expect(rows(page, "bets-list")).to_have_text(["3Pass Line15"])
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("overlay-bets")).to_be_hidden()
    # The bet may be on the screen before its answer is; the page takes dice from then on.
    expect(page.get_by_test_id("die-6")).to_be_enabled()
    page.keyboard.press("6")
    expect(die_one).to_have_attribute("data-value", "6")
    # The same key rests for a moment, against a finger that trembles.
    expect(page.get_by_test_id("die-6")).to_be_enabled()
    page.keyboard.press("6")
    expect(page.get_by_test_id("last-roll")).to_have_attribute("data-dice", "6-6")
    # The stream may tell of the roll before its own answer is here; until then the page takes nothing else.
    expect(page.get_by_test_id("button-correct")).to_be_enabled()
    page.keyboard.press("c")
    expect(page.get_by_test_id("overlay-correct")).to_be_visible()
    page.keyboard.press("5")
    page.keyboard.press("6")
    # What becomes of it stands there before it can be confirmed.
    expect(page.get_by_test_id("confirm-correct")).to_be_enabled()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("last-roll")).to_have_attribute("data-dice", "5-6")
    assert table.state()["roll_number"] == 1


@pytest.fixture
def held(chromium: Browser) -> Iterator[Page]:
    """A touch screen whose clock stands still but for what a test lets pass."""
    with touch_page(chromium) as console:
        console.clock.install(time="2026-01-02T20:14:02Z")
        console.clock.pause_at("2026-01-02T20:14:03Z")
        yield console


def let_pass(page: Page, is_so: Callable[[], bool], most_s: int = 60) -> None:
    """Seconds pass on the page's clock, each with time for an answer, until something is so, or so many have passed."""
    for _ in range(most_s):
        if is_so():
            return
        page.clock.run_for(1000)
        page.wait_for_timeout(300)


def test_a_terminal_that_goes_between_two_touches_is_said_in_red_and_comes_back(
    held: Page, table: TerminalProcess
) -> None:
    show(held, table)
    sent = sent_steps(held)
    offline = held.get_by_test_id("offline")
    touch(held, "die-3")
    expect(held.get_by_test_id("die-one")).to_have_attribute("data-value", "3")
    table.kill()
    let_pass(held, offline.is_visible, most_s=4)
    expect(offline).to_be_visible()
    expect(offline).to_contain_text("The terminal does not answer.")
    expect(offline).to_have_css("background-color", "rgb(200, 30, 30)")
    expect(held.get_by_test_id("die-4")).to_be_disabled()
    table.start()
    # A die that is half entered is given up after fifteen.
    let_pass(held, offline.is_hidden, most_s=9)
    expect(offline).to_be_hidden()
    expect(held.get_by_test_id("die-one")).to_have_attribute("data-value", "3")
    with held.expect_response("**/api/command*"):
        touch(held, "die-4")
    is_entered_once(held, table)
    assert [body["step"] for body in sent] == [{"roll": [3, 4]}]


def is_entered_once(page: Page, table: TerminalProcess) -> None:
    """The roll 3-4 is on the screen, once it is back, and the keys take the next."""
    let_pass(page, page.get_by_test_id("die-1").is_enabled)
    expect(page.get_by_test_id("die-1")).to_be_enabled()
    expect(page.get_by_test_id("offline")).to_be_hidden()
    know_roll(page, 3, 4)
    assert table.state()["roll_number"] == 1


# What the page itself sees: how many polls were answered, and how many of them before the red bar came and went.
_WATCH = """() => {
  window.answers = 0;
  window.bars = [];
  const get = window.fetch;
  window.fetch = async (...request) => {
    const answer = await get(...request);
    if (request[0] === "/api/state") answers += 1;
    return answer;
  };
  const look = () => {
    const shown = !document.getElementById("offline").hidden;
    if (shown !== (bars.at(-1)?.shown ?? false)) bars.push({ answers, shown });
  };
  new MutationObserver(look).observe(document.getElementById("offline"), { attributeFilter: ["hidden"] });
}"""


def _fails(route: Route) -> None:
    route.abort()


def _is_silent(_route: Route) -> None:
    """Never answered, as if the terminal had forgotten it."""


@pytest.mark.parametrize("stream", [_fails, _is_silent])
def test_one_answered_poll_takes_the_red_bar_away_whatever_the_stream_does(
    held: Page, table: TerminalProcess, stream: Callable[[Route], None]
) -> None:
    held.route("**/api/stream", stream)
    show(held, table)
    held.evaluate(_WATCH)
    offline = held.get_by_test_id("offline")
    table.kill()
    held.clock.run_for(1900)
    expect(offline).to_be_hidden()
    held.clock.run_for(200)
    expect(offline).to_be_visible()
    table.start()
    let_pass(held, offline.is_hidden)
    expect(offline).to_be_hidden()
    came, went = held.evaluate("bars")
    assert went["answers"] == came["answers"] + 1


def test_a_roll_whose_answer_is_lost_in_a_crash_is_entered_once(held: Page, table: TerminalProcess) -> None:
    show(held, table)
    sent = sent_steps(held)
    crashed: list[Route] = []

    def crash_after_the_roll(route: Route) -> None:
        assert route.fetch(timeout=EXPECT_MS).status == 200
        table.kill()
        route.abort()
        crashed.append(route)

    held.route("**/api/command", crash_after_the_roll, times=1)
    touch(held, "die-3", "die-4")
    wait_for(lambda: held.evaluate("1") and crashed, "the terminal has crashed")
    let_pass(held, held.get_by_test_id("offline").is_visible, most_s=4)
    expect(held.get_by_test_id("offline")).to_be_visible()
    table.start()
    let_pass(held, partial(is_shown, held), most_s=5)
    # The keys come back with the answer to the repeated command.
    is_entered_once(held, table)
    assert len(sent) >= 2
    assert all(body == sent[0] for body in sent)


def is_shown(page: Page) -> bool:
    """Whether the roll 3-4 is on the screen. What is sent again is given up after ten seconds."""
    return page.get_by_test_id("last-roll").get_attribute("data-dice") == "3-4"


def test_a_roll_touched_as_the_terminal_crashes_is_entered_once_when_it_is_back(
    held: Page, table: TerminalProcess
) -> None:
    show(held, table)
    sent = sent_steps(held)
    touch(held, "die-3", "die-4")
    table.kill()
    let_pass(held, held.get_by_test_id("offline").is_visible, most_s=4)
    expect(held.get_by_test_id("offline")).to_be_visible()
    table.start()
    let_pass(held, partial(is_shown, held), most_s=5)
    is_entered_once(held, table)
    assert all(body == sent[0] for body in sent)


def test_a_roll_touched_while_the_terminal_is_frozen_is_entered_once_when_it_goes_on(
    held: Page, table: TerminalProcess
) -> None:
    show(held, table)
    sent = sent_steps(held)
    os.kill(table.pid, signal.SIGSTOP)
    try:
        touch(held, "die-3", "die-4")
        wait_for(lambda: held.evaluate("1") and sent, "the roll is sent")
        let_pass(held, held.get_by_test_id("offline").is_visible, most_s=4)
        expect(held.get_by_test_id("offline")).to_be_visible()
        # The page gives the first request up and sends the same again; both will reach the terminal.
        let_pass(held, lambda: len(sent) > 1, most_s=3)
        assert len(sent) > 1
    finally:
        os.kill(table.pid, signal.SIGCONT)
    let_pass(held, partial(is_shown, held), most_s=2)
    is_entered_once(held, table)
    assert all(body == sent[0] for body in sent)


def test_markup_in_a_player_s_name_is_text(page: Page, table: TerminalProcess) -> None:
    bet(table, MARKUP, "pass_line", 10)
    bet(table, MARKUP, "field", 10)
    touch(page, "button-bets")
    expect(rows(page, "bets-list")).to_have_text([f"{MARKUP}Pass Line10", f"{MARKUP}Field10"])
    expect(page.get_by_test_id(f"player-{MARKUP}")).to_have_text(f"{MARKUP}20")
    touch(page, "close-bets", "button-new-shooter", f"shooter-{MARKUP}")
    expect(page.get_by_test_id("shooter")).to_have_text(f"Shooter {MARKUP}")
    touch(page, "die-2", "die-2")
    expect(rows(page, "pay-list")).to_have_text([f"{MARKUP}Field10 at 1 to 1 = 10 · stake 10 back10"])
    assert page.locator("#stage img").count() == 0


_DIALOGS = {
    "button-bets": ("group-line", "group-numbers", "kind-place", "group-one_roll", "group-hop"),
    "button-no-roll": ("reason-on_chips",),
    "button-correct": ("right-die-1", "right-die-6"),
    "button-new-shooter": (),
    "button-open-table": ("rules-es-md-2004", "rules-mo-2010", "rules-cl-scj"),
    "button-hardware": ("hardware-lamps", "hardware-node", "hardware-self_test"),
    "button-help": (),
}


@pytest.mark.parametrize("screen", [SCREEN, {"width": 1280, "height": 720}], ids=["800x480", "1280x720"])
def test_every_dialog_fits_the_screen_with_buttons_for_a_finger(
    page: Page, table: TerminalProcess, screen: ViewportSize
) -> None:
    page.set_viewport_size(screen)

    def looks_right(where: str) -> None:
        assert layout_faults(page) == [], where

    looks_right("before the first roll")
    for player in ("3", "8", "Señora de los Dados con un nombre largo"):
        bet(table, player, "pass_line", 500)
        bet(table, player, "horn", 400)
    touch(page, "die-6", "die-6")
    expect(rows(page, "collect-list")).to_have_count(3)
    table.do({"correct": [2, 2]})
    expect(page.get_by_test_id("step-undo")).to_be_visible()
    looks_right("after a correction")
    table.hand(lid="open")
    bet(table, "8", "pass_odds", 60, 4)
    expect(page.get_by_test_id("question")).to_contain_text("Reserve OPEN")
    looks_right("with alerts")
    for position in range(1, 17):
        bet(table, str(position), "come", 25)
    expect(page.get_by_test_id("button-correct")).to_be_enabled()
    page.keyboard.press("c")
    expect(page.get_by_test_id("correct-says")).to_have_attribute("data-armed", "true")
    looks_right("a correction is open")
    page.keyboard.press("Escape")
    table.wait_for_state(lambda state: not state["correcting"], "the correction is called off")
    assert table.client.post("/api/take_back", json={"id": table.fresh_id(), "correcting": True}).status_code == 200
    expect(page.get_by_test_id("correcting")).to_be_visible()
    touch(page, "button-bets", "player-3")
    looks_right("the bets of a full table under the banner of a correction")
    page.keyboard.press("Escape")
    touch(page, "do-not-correct")
    expect(page.get_by_test_id("correcting")).to_be_hidden()
    for opener, touches in _DIALOGS.items():
        touch(page, opener)
        looks_right(opener)
        for name in touches:
            touch(page, name)
            looks_right(f"{opener}, {name}")
        page.keyboard.press("Escape")
    touch(page, "alert-puck_misplaced", "letter-a")
    looks_right("an alert is acknowledged")
    touch(page, "confirm-acknowledge")
    expect(page.get_by_test_id("overlay-acknowledge")).to_be_hidden()
    looks_right("with an alert that somebody has acknowledged")
    touch(page, "die-4", "die-3")
    expect(rows(page, "collect-list")).not_to_have_count(3)
    looks_right("a seven at a full table")
    page.goto(f"{table.address}/virtual")
    expect(page.get_by_test_id("virtual-phase")).to_have_text("Come-out")
    looks_right("the virtual table")
