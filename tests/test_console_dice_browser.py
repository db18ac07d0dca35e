"""The dice control on the boxman's console: a real browser on a terminal that runs, its lid and slots moved by hand."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ViewportSize, expect

from device.dice_control.day_report import DAY_BEGINS, gaming_date
from tests.browser_rig import SCREEN, layout_faults, touch
from tests.dice_console_rig import (
    COUNT_TOUCHES,
    IMPATIENT_MS,
    SERIALS,
    Start,
    act,
    alert_texts,
    answers,
    consoles,
    is_asked,
    is_back,
    lid,
    places,
    question,
    set_up,
    slots,
    touches,
    type_in,
    wrong,
)

LARGE: ViewportSize = {"width": 1280, "height": 720}
MARKUP = "<b>Bold</b>"


@pytest.fixture
def start(chromium: Browser, tmp_path: Path) -> Iterator[Start]:
    """Starts a terminal with the dice rules of a jurisdiction and opens its console on a touch screen."""
    with consoles(chromium, tmp_path) as begin:
        yield begin


def test_a_swap_takes_four_touches_from_the_closing_of_the_lid(start: Start) -> None:
    page, table = start("us-vegas")
    set_up(table)
    expect(page.get_by_test_id("set-in-play")).to_have_text("A")
    expect(page.get_by_test_id("dice-in-play")).to_have_text("11 12")
    expect(page.get_by_test_id("dice-slots")).to_have_text("slots 4")
    expect(page.get_by_test_id("reserve")).to_contain_text("reserve 4/6 · shut")
    lid(table, "open")
    is_asked(page, "opening")
    expect(question(page)).to_contain_text("Reserve OPEN. Why?")
    expect(page.get_by_test_id("reserve")).to_contain_text("OPEN")
    lid(table, "closed")
    expect(question(page)).to_contain_text("Why was the reserve opened?")
    page.evaluate(COUNT_TOUCHES)
    touch(page, "reason-of-opening-shooter_request", "out-004712", "in-004714")
    expect(page.get_by_test_id("confirm-change")).to_have_text("004712 back, 004714 into play")
    touch(page, "confirm-change")
    is_back(page)
    assert touches(page) == 4
    expect(question(page)).to_be_hidden()
    expect(page.get_by_test_id("dice-in-play")).to_have_text("11 14")
    assert places(table) == {"play": ["004711", "004714"], "reserve": ["004712", "004713", "004715", "004716"]}
    assert table.state()["dice"]["openings"] == []
    assert alert_texts(table) == []


def test_a_swap_of_both_dice_from_the_button_needs_no_opening(start: Start) -> None:
    page, table = start("us-vegas")
    set_up(table)
    touch(page, "button-dice")
    page.evaluate(COUNT_TOUCHES)
    touch(page, "why-boxman_order", "out-004711", "in-004713", "confirm-change")
    is_back(page)
    assert touches(page) == 4
    touch(page, "button-dice", "why-damage", "out-004712", "out-004713", "in-004714")
    expect(page.get_by_test_id("confirm-change")).to_be_disabled()
    expect(page.get_by_test_id("confirm-change")).to_have_text("Touch the die that comes in")
    touch(page, "in-004715")
    # What is damaged is looked at.
    expect(page.get_by_test_id("confirm-change")).to_have_text(
        "004712 and 004713 to inspection, 004714 and 004715 into playthen: who asked?"
    )
    touch(page, "confirm-change", "asked-by-boxman")
    is_back(page)
    assert places(table) == {
        "play": ["004714", "004715"],
        "reserve": ["004711", "004716"],
        "inspection": ["004712", "004713"],
    }


def test_an_opening_for_which_no_die_moved_is_explained_by_one_touch(start: Start) -> None:
    page, table = start("us-vegas")
    set_up(table)
    lid(table, "open", "closed")
    page.evaluate(COUNT_TOUCHES)
    touch(page, "reason-of-opening-closing")
    expect(question(page)).to_be_hidden()
    assert touches(page) == 1
    assert table.state()["dice"]["openings"] == []
    # Who opened it to count has to count: the signed count is the reason.
    lid(table, "open", "closed")
    touch(page, "reason-of-opening-count", "confirm-count")
    expect(page.get_by_test_id("count-check")).to_contain_text("counted")
    touch(page, "close-dice")
    expect(question(page)).to_be_hidden()
    assert table.state()["dice"]["openings"] == []
    # A reason that may move a die says in a second touch that it moved none.
    lid(table, "open", "closed")
    touch(page, "reason-of-opening-inspector_request", "no-die-moved")
    is_back(page)
    expect(question(page)).to_be_hidden()
    # While the lid is still open it can be said already; closing it asks nothing any more.
    lid(table, "open")
    touch(page, "reason-of-opening-closing")
    expect(question(page)).to_be_hidden()
    lid(table, "closed")
    expect(page.get_by_test_id("reserve")).to_have_attribute("data-state", "closed")
    expect(question(page)).to_be_hidden()


def test_where_no_set_is_recorded_each_reason_is_one_touch_after_the_names(start: Start) -> None:
    page, table = start("us-vegas")
    lid(table, "open", "closed")
    # Nobody is on duty yet: the names are asked for once, and then what was touched is done.
    touch(page, "reason-of-opening-player_request", "duty-confirm")
    type_in(page, "ana")
    type_in(page, "bo")
    touch(page, "duty-confirm")
    is_back(page)
    expect(question(page)).to_be_hidden()
    assert table.state()["dice"]["duty"] == {"boxman": "Ana", "witness": "Bo"}
    lid(table, "open", "closed")
    touch(page, "reason-of-opening-damage")
    expect(question(page)).to_be_hidden()
    assert table.state()["dice"]["openings"] == []


def test_the_dice_are_entered_while_a_reason_is_asked(start: Start) -> None:
    page, table = start("us-vegas")
    set_up(table)
    table.do({"bet": {"player": "3", "kind": "pass_line", "amount": 10, "number": None}})
    lid(table, "open", "closed")
    is_asked(page, "opening")
    touch(page, "die-2", "die-2")
    expect(page.get_by_test_id("point")).to_have_text("4")
    is_asked(page, "opening")
    # Folded away, it leaves the room to what is paid; unfolded, it is answered.
    touch(page, "question-fold")
    expect(page.get_by_test_id("reason-of-opening-closing")).to_be_hidden()
    touch(page, "die-5", "die-5", "question-fold", "reason-of-opening-closing")
    expect(question(page)).to_be_hidden()
    assert table.state()["roll_number"] == 2


def test_a_swap_that_the_rules_forbid_is_marked_with_its_article_and_raises_an_alert(start: Start) -> None:
    page, table = start("es-1979")
    set_up(table)
    lid(table, "open", "closed")
    is_asked(page, "opening")
    assert not [said for said in answers(page) if "against" in said]
    table.do({"bet": {"player": "3", "kind": "pass_line", "amount": 10, "number": None}})
    table.do({"roll": [2, 2]})
    # In the middle of a series Spain allows what the inspector orders, damage, and a die off the table.
    expect(page.get_by_test_id("reason-of-opening-shooter_request")).to_contain_text("against IV.3")
    said = answers(page)
    assert ["against IV.3" in words for words in said] == [False] * 5 + [True] * 5
    assert [words.splitlines()[0] for words in said[:5]] == [
        "Inspector asked",
        "Damaged die",
        "Die off the table",
        "Count",
        "Closing",
    ]
    touch(page, "reason-of-opening-shooter_request", "out-004711", "in-004716")
    expect(page.get_by_test_id("confirm-change")).to_contain_text("recorded as against the rules")
    touch(page, "confirm-change")
    expect(page.get_by_test_id("alert-list")).to_contain_text(
        "No change of dice (shooter request) during the series for point 4 (IV.3)."
    )
    assert places(table)["play"] == ["004712", "004716"]


def test_a_late_opening_is_explained_by_a_supervisor_who_signs(start: Start) -> None:
    page, table = start("us-vegas", explain_ms=IMPATIENT_MS)
    set_up(table)
    lid(table, "open", "closed")
    is_asked(page, "late")
    expect(question(page)).to_contain_text("a supervisor must say why")
    assert layout_faults(page) == []
    expect(page.get_by_test_id("alert-list")).to_contain_text("no reason was given")
    touch(page, "reason-of-opening-damage")
    expect(page.get_by_test_id("dice-text-says")).to_have_text(
        "Opening of the reserve after roll 0: Damaged die. The supervisor's name:"
    )
    # It is no page of a tab.
    expect(page.locator("#dice-tabs [aria-pressed=true]")).to_have_count(0)
    expect(page.get_by_test_id("dice-text-done")).to_be_disabled()
    # The boxman does not explain it himself, under his own name neither.
    type_in(page, "ana")
    expect(page.get_by_test_id("notice")).to_contain_text("a supervisor must explain this opening")
    is_asked_still = table.state()["dice"]["openings"]
    assert [opening["reason"] for opening in is_asked_still] == [None]
    touch(page, *["dice-letter-back"] * 3)
    type_in(page, "eva ruiz")
    is_back(page)
    expect(question(page)).to_be_hidden()
    expect(page.get_by_test_id("alert-list").locator("li")).to_have_count(0)
    assert table.state()["dice"]["openings"] == []


def test_a_dice_change_puts_all_before_the_shooter_who_takes_two(start: Start) -> None:
    page, table = start("cl-scj")
    set_up(table, serials=False)
    lid(table, "open", "closed")
    page.evaluate(COUNT_TOUCHES)
    touch(page, "reason-of-opening-offered_to_shooter", "taken-4", "taken-6")
    expect(page.get_by_test_id("confirm-change")).to_have_text("Shooter takes 4 and 6then: who asked?")
    # Nobody asks in the rules' own words: who did is said, and it is done.
    touch(page, "confirm-change")
    assert places(table)["play"] == ["1", "2"]
    touch(page, "asked-by-shooter")
    is_back(page)
    assert touches(page) == 5
    assert places(table) == {"play": ["4", "6"], "reserve": ["1", "2", "3", "5"]}
    expect(question(page)).to_be_hidden()
    # They can be shown as lying before him first; a third touch takes the first choice back.
    touch(page, "button-dice", "why-offered_to_shooter", "offer", "asked-by-boxman")
    expect(page.locator(".place[data-place=offered] button")).to_have_count(6)
    assert places(table) == {"offered": ["1", "2", "3", "4", "5", "6"]}
    touch(page, "close-dice", "button-dice", "taken-1", "taken-2", "taken-3", "confirm-change", "asked-by-shooter")
    is_back(page)
    assert places(table) == {"play": ["2", "3"], "reserve": ["1", "4", "5", "6"]}
    assert alert_texts(table) == []


def test_a_die_off_the_table_is_found_inspected_and_comes_back(start: Start) -> None:
    page, table = start("mo-2010")
    set_up(table, dice=5, serials=False)
    touch(page, "button-no-roll", "reason-off_table")
    is_asked(page, "void_throw")
    touch(page, "void-die-2")
    expect(question(page)).to_be_hidden()
    assert places(table) == {"play": ["1"], "floor": ["2"], "reserve": ["3", "4", "5"]}
    # The shooter chooses one of the reserve: that a die lies on the floor says why.
    lid(table, "open")
    slots(table, 2)
    lid(table, "closed")
    touch(page, "reason-of-opening-die_off_table", "in-5", "confirm-change", "asked-by-boxman")
    is_back(page)
    touch(page, "button-dice", "missing-2")
    expect(page.get_by_test_id("found-2")).to_be_visible()
    expect(page.get_by_test_id("alert-dice_missing:A")).to_be_attached()
    touch(page, "found-2", "inspect-2")
    checks = page.locator("#dice-inspect .checks:not(.four) button")
    expect(checks).to_have_count(4)
    touch(page, "check-equal_edges", "check-clear_pips", "check-clear_pips", "check-clear_pips")
    expect(page.get_by_test_id("check-clear_pips")).to_contain_text("NOT MADE")
    touch(page, "all-good", "then-reserve", "confirm-inspect")
    expect(page.get_by_test_id("in-2")).to_be_visible()
    assert places(table) == {"play": ["1", "5"], "reserve": ["2", "3", "4"]}
    # All four checks of art. 1.2 were made, as art. 3.4 asks.
    assert alert_texts(table) == []


def test_a_die_that_leaves_the_table_outside_a_throw_is_searched(start: Start) -> None:
    page, table = start("us-vegas")
    set_up(table)
    touch(page, "button-dice", "why-die_off_table", "out-004712", "off-table")
    expect(page.get_by_test_id("floor-004712")).to_be_visible()
    # The die that comes in is all that is left to touch.
    touch(page, "in-004715", "confirm-change", "asked-by-shooter")
    is_back(page)
    assert places(table) == {
        "play": ["004711", "004715"],
        "floor": ["004712"],
        "reserve": ["004713", "004714", "004716"],
    }


def test_a_void_throw_of_both_dice_or_of_none(start: Start) -> None:
    page, table = start("es-1979")
    set_up(table)
    touch(page, "button-no-roll", "reason-slid")
    expect(page.get_by_test_id("last-roll")).to_contain_text("No roll: Slid")
    expect(question(page)).to_be_hidden()
    touch(page, "button-no-roll", "reason-on_chips")
    is_asked(page, "void_throw")
    touch(page, "void-none")
    expect(question(page)).to_be_hidden()
    assert table.state()["dice"]["last_void_throw"] is None
    touch(page, "button-no-roll", "reason-in_dice_cup", "void-both")
    expect(question(page)).to_be_hidden()
    state = table.state()
    assert state["dice"]["last_void_throw"] == state["last_no_roll"]["seq"]
    assert places(table)["play"] == ["004711", "004712"]


def test_a_count_names_what_differs_before_it_is_signed(start: Start) -> None:
    page, table = start("es-1979")
    set_up(table, counted=False)
    touch(page, "button-dice", "dice-tab-count")
    sign = page.get_by_test_id("confirm-count")
    expect(sign).to_have_text("Sign: opening count, as in the log")
    touch(page, "count-004713", "place-nowhere", "place-reserve")
    type_in(page, "x9")
    expect(page.get_by_test_id("differences").locator("li")).to_have_text(
        ["Die 004713: in the reserve by the log, seen not there", "Die X9: not of this set, seen in the reserve"]
    )
    expect(sign).to_have_text("Sign: opening count, 2 differences")
    # Put where the log has it, a die differs no more.
    touch(page, "count-004713", "place-reserve", "count-004713", "place-play")
    expect(page.get_by_test_id("differences").locator("li").first).to_have_text(
        "Die 004713: in the reserve by the log, seen in play"
    )
    # Another witness, for this entry alone.
    touch(page, "signed-count", "duty-witness", *["dice-letter-back"] * 2)
    type_in(page, "cai")
    touch(page, "duty-once")
    expect(page.get_by_test_id("signed-count")).to_have_text("Ana, seen by Cai")
    touch(page, "confirm-count")
    expect(page.get_by_test_id("count-opening")).to_contain_text("counted")
    expect(page.get_by_test_id("signed-count")).to_have_text("Ana, seen by Bo")
    assert alert_texts(table) == [
        "The opening count of set A differs from the log: die 004713 is in the reserve by the log, and was seen in "
        "play; die X9 is not of this set, and was seen in the reserve."
    ]
    # A count moves nothing; the next is a check, as the log has it.
    assert places(table)["reserve"] == SERIALS[2:]
    expect(sign).to_have_text("Sign: check, as in the log")
    touch(page, "count-closing", "confirm-count")
    expect(page.get_by_test_id("count-closing")).to_contain_text("counted")


def test_a_set_is_received_inspected_and_placed_by_touch_alone(start: Start) -> None:
    page, table = start("es-1979")
    touch(page, "button-dice", "to-sets", "receive", "receive-set")
    for text in ("17", "bold dice", "red"):
        type_in(page, text)
    touch(page, "receive-house_mark")
    type_in(page, "gm")
    touch(page, "receive-edge")
    type_in(page, "20.5")
    # Spain has six dice with serial numbers; each follows the one before it unless it is entered.
    expect(page.get_by_test_id("receive-dice")).to_have_text("6 dice")
    expect(page.get_by_test_id("confirm-receive")).to_be_disabled()
    touch(page, "receive-serial-1")
    type_in(page, "a0998")
    touch(page, "receive-serial-4", *["dice-letter-back"] * 5)
    type_in(page, "b1")
    touch(page, "confirm-receive", "duty-confirm")
    type_in(page, "ana")
    type_in(page, "bo")
    touch(page, "duty-confirm")
    expect(page.get_by_test_id("needs")).to_contain_text("not inspected before use")
    [received] = table.state()["dice"]["sets"]
    assert [die["die"] for die in received["dice"]] == ["A0998", "A0999", "A1000", "B1", "B2", "B3"]
    about = {name: received[name] for name in ("set", "maker", "colour", "house_mark", "numbered_by")}
    assert about == {
        "set": "17",
        "maker": "Bold Dice",
        "colour": "Red",
        "house_mark": "GM",
        "numbered_by": "serial",
    }
    touch(page, "inspect-set", "all-good", "instrument-micrometer")
    type_in(page, "20.50 mm")
    touch(page, "instrument-magnet", "offered-Not magnetic", "dice-text-done")
    touch(page, "unsound-B3", "offered-Chipped", "dice-text-done")
    expect(page.get_by_test_id("confirm-inspect")).to_contain_text("B3 not sound, 5 sound")
    touch(page, "unsound-B3")
    expect(page.get_by_test_id("confirm-inspect")).to_have_text(
        "All 6 are soundSigns 9 of 9 checks; Micrometer, Magnet"
    )
    with page.expect_request("**/api/dice") as sent:
        touch(page, "confirm-inspect")
    body = sent.value.post_data_json
    assert body is not None
    inspected = body["action"]["inspect"]
    assert inspected["instruments"] == {
        "micrometer": {"sound": True, "showed": "20.50 mm"},
        "magnet": {"sound": True, "showed": "Not magnetic"},
    }
    assert all(inspected["checks"].values())
    assert len(inspected["checks"]) == 9
    expect(page.get_by_test_id("needs")).to_have_text("Fit for use in this session.")
    touch(page, "place-set")
    expect(page.get_by_test_id("remove-store")).to_be_visible()
    assert places(table, "17") == {"reserve": ["A0998", "A0999", "A1000", "B1", "B2", "B3"]}
    (text,) = alert_texts(table)
    assert text == "Against es-1979: Dice left or entered the reserve, but its lid was not opened (house)."


def test_dice_and_sets_are_taken_away_at_the_second_touch(start: Start) -> None:
    page, table = start("us-vegas")
    set_up(table)
    touch(page, "button-dice", "dice-tab-sets", "set-A", "pick-004716")
    # Nothing is taken away for a reason that nobody touched.
    expect(page.get_by_test_id("remove-withdrawn")).to_be_disabled()
    expect(page.locator("[data-testid^=removal-][aria-pressed=true]")).to_have_count(0)
    touch(page, "removal-damage", "remove-withdrawn")
    expect(page.get_by_test_id("remove-withdrawn")).to_have_text("Again: withdraw 1 die")
    assert places(table)["reserve"] == SERIALS[2:]
    touch(page, "remove-withdrawn")
    expect(page.get_by_test_id("pick-004716")).to_contain_text("Withdrawn")
    assert places(table)["withdrawn"] == ["004716"]
    touch(page, "removal-closing", "remove-store", "remove-store")
    expect(page.get_by_test_id("place-set")).to_be_visible()
    assert places(table) == {"store": SERIALS[:5], "withdrawn": ["004716"]}
    touch(page, "removal-closing", "remove-cancelled", "remove-cancelled")
    table.wait_for_state(lambda state: not state["dice"]["sets"], "the set is gone")
    touch(page, "dice-tab-sets")
    expect(page.locator("#dice-sets-list")).to_have_text("No set was received yet.")


def test_the_keyboard_swaps_a_die(start: Start) -> None:
    page, table = start("es-1979")
    set_up(table)
    lid(table, "open", "closed")
    is_asked(page, "opening")
    page.keyboard.press("d")
    expect(page.get_by_test_id("overlay-dice")).to_be_visible()
    # The third reason is the player's; the second die in play goes out; the first of the reserve comes in.
    page.keyboard.press("3")
    expect(page.get_by_test_id("why-player_request")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("1")
    page.keyboard.press("Backspace")
    page.keyboard.press("2")
    expect(page.get_by_test_id("out-004712")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("1")
    expect(page.get_by_test_id("confirm-change")).to_be_enabled()
    page.keyboard.press("Enter")
    is_back(page)
    expect(question(page)).to_be_hidden()
    assert places(table)["play"] == ["004711", "004713"]
    # The digits are dice again.
    expect(page.get_by_test_id("die-3")).to_be_enabled()
    page.keyboard.press("3")
    expect(page.get_by_test_id("die-one")).to_have_attribute("data-value", "3")
    page.keyboard.press("?")
    expect(page.locator("#help-keys")).to_contain_text("Dice, No more bets")


def test_names_are_typed_and_what_was_typed_is_text(start: Start) -> None:
    page, table = start("us-vegas")
    touch(page, "button-dice", "dice-tab-duty", "duty-boxman")
    for name in ("Ana Núñez", "Bo 12"):
        expect(page.get_by_test_id("dice-text-field")).to_be_focused()
        page.keyboard.type(name)
        page.keyboard.press("Enter")
    expect(page.get_by_test_id("duty-witness")).to_contain_text("Bo 12")
    expect(page.get_by_test_id("duty-confirm")).to_be_enabled()
    page.keyboard.press("Enter")
    is_back(page)
    assert table.state()["dice"]["duty"] == {"boxman": "Ana Núñez", "witness": "Bo 12"}
    touch(page, "button-dice")
    expect(page.get_by_test_id("signed-change")).to_have_text("Ana Núñez, seen by Bo 12")
    # A maker may have any characters in its name.
    act(table, "receive", set="A", dice=5, maker=MARKUP, colour="red")
    touch(page, "dice-tab-sets")
    expect(page.get_by_test_id("set-A")).to_contain_text(MARKUP)


def test_no_more_bets_stands_until_the_roll_and_an_open_reserve_is_an_alert(start: Start) -> None:
    page, table = start("us-vegas")
    set_up(table)
    table.do({"bet": {"player": "3", "kind": "pass_line", "amount": 10, "number": None}})
    said = page.get_by_test_id("button-no-more-bets")
    expect(said).to_have_text("No more bets")
    expect(said).to_be_enabled()
    page.keyboard.press("m")
    expect(said).to_have_text("Dice are out")
    expect(said).to_be_disabled()
    lid(table, "open")
    expect(page.get_by_test_id("alert-list")).to_contain_text("open during a roll")
    touch(page, "die-5", "die-5")
    expect(said).to_have_attribute("data-out", "false")
    touch(page, "button-no-more-bets")
    expect(said).to_have_attribute("data-out", "true")


def test_a_table_is_closed_says_so_and_is_opened_again(start: Start) -> None:
    page, table = start("us-vegas")
    set_up(table)
    table.do({"bet": {"player": "3", "kind": "pass_line", "amount": 10, "number": None}})
    act(table, "count", count="closing", seen={"play": SERIALS[:2], "reserve": SERIALS[2:]})
    close = page.get_by_test_id("confirm-close-table")
    touch(page, "button-open-table", "confirm-close-table")
    expect(close).to_have_text("Again: close the table")
    touch(page, "confirm-close-table")
    expect(page.get_by_test_id("notice")).to_contain_text("Bets lie on the layout")
    assert table.state()["open"]
    page.keyboard.press("Escape")
    table.do({"roll": [3, 4]})
    expect(page.get_by_test_id("last-roll")).to_have_attribute("data-dice", "3-4")
    touch(page, "button-open-table", "confirm-close-table", "confirm-close-table")
    expect(page.get_by_test_id("closed")).to_contain_text("The table is closed.")
    expect(page.get_by_test_id("phase")).to_have_text("Closed")
    # Nothing looks as if dice could be entered.
    expect(page.get_by_test_id("closed")).to_be_in_viewport(ratio=1)
    expect(page.locator("#phase-block")).to_have_css("border-color", "rgb(255, 193, 77)")
    expect(page.locator("#die-one")).to_have_text("The table is closed")
    expect(page.locator("#dice-keys .die rect").first).to_have_css("fill", "none")
    expect(page.locator("#puck")).to_be_hidden()
    for name in ("die-1", "button-no-roll", "button-no-more-bets", "button-new-shooter", "button-correct"):
        expect(page.get_by_test_id(name)).to_be_disabled()
    assert not table.state()["open"]
    # The reserve is asked about all the same.
    lid(table, "open")
    expect(page.get_by_test_id("alert-list")).to_contain_text("open while the table was closed")
    lid(table, "closed")
    touch(page, "reason-of-opening-closing")
    expect(question(page)).to_be_hidden()
    touch(page, "closed-count", "count-closing")
    # Whoever counts a closed table only counts.
    expect(page.get_by_test_id("confirm-count")).to_have_text("Sign: closing count, as in the log")
    touch(page, "confirm-count")
    expect(page.get_by_test_id("count-closing")).to_contain_text("counted")
    touch(page, "close-dice", "closed-open")
    expect(close).to_be_hidden()
    touch(page, "confirm-open")
    expect(page.get_by_test_id("closed")).to_be_hidden()
    expect(page.get_by_test_id("die-1")).to_be_enabled()
    assert table.state()["session_number"] == 2


def test_closing_leads_to_the_closing_count_of_each_set_and_then_closes(start: Start) -> None:
    page, table = start("us-vegas")
    set_up(table)
    act(table, "receive", set="B", dice=5, maker="Bold", colour="blue")
    lid(table, "open")
    act(table, "place", set="B")
    slots(table, 6)
    lid(table, "closed")
    sign = page.get_by_test_id("confirm-count")
    expect(page.get_by_test_id("dice-slots")).to_have_text("slots 6")
    touch(page, "button-open-table", "confirm-close-table")
    expect(page.get_by_test_id("count-closes")).to_have_text("Before the table is closed: count the dice.")
    expect(sign).to_have_text("Sign: closing count, as in the log")
    touch(page, "confirm-count")
    expect(page.get_by_test_id("count-set-B")).to_have_attribute("aria-pressed", "true")
    expect(sign).to_have_text("Sign: closing count, as in the log; closes the table")
    assert layout_faults(page) == []
    # Who goes away from it does not close the table with a count that is made later.
    touch(page, "close-dice", "button-dice", "dice-tab-count")
    expect(page.get_by_test_id("count-closes")).to_have_count(0)
    touch(page, "close-dice", "button-open-table", "confirm-close-table")
    expect(page.get_by_test_id("count-set-B")).to_have_attribute("aria-pressed", "true")
    touch(page, "confirm-count")
    is_back(page)
    expect(page.get_by_test_id("closed")).to_be_visible()
    assert not [alert for alert in table.state()["alerts"] if alert["code"] == "no_closing_count"]


def test_closing_without_a_count_asks_once_more_and_says_that_it_is_an_alert(start: Start) -> None:
    page, table = start("us-vegas")
    set_up(table)
    expect(page.get_by_test_id("set-in-play")).to_have_text("A")
    touch(page, "button-open-table", "confirm-close-table", "close-uncounted")
    expect(page.get_by_test_id("close-uncounted")).to_have_text("Again: close; it will be an alert")
    assert layout_faults(page) == []
    assert table.state()["open"]
    touch(page, "close-uncounted")
    is_back(page)
    expect(page.get_by_test_id("closed")).to_be_visible()
    assert table.state()["dice"]["counts"].get("closing") is None


FACES = {"1": 30, "2": 40, "3": 40, "4": 40, "5": 40, "6": 50}
TOTALS = {str(total): 3 * (6 - abs(total - 7)) for total in range(2, 13)}
EXPECTED = {
    "faces": dict.fromkeys(FACES, 40.0),
    "totals": {str(total): 120 * (6 - abs(total - 7)) / 36 for total in range(2, 13)},
}


def fairness(*sets: tuple[str, bool]) -> dict[str, Any]:
    """What the terminal tells of some sets: 120 rolls of each, and whether chance explains them."""
    return {
        "sets": [
            {
                "set": name,
                "rolls": 120,
                "faces": FACES,
                "totals": TOTALS,
                "expected": EXPECTED,
                "verdict": "Chance is an unlikely explanation." if advisory else "Chance explains it.",
                "advisory": advisory,
            }
            for name, advisory in sets
        ]
    }


def test_what_a_set_showed_stands_beside_what_chance_gives(start: Start) -> None:
    page, table = start("us-vegas")
    set_up(table)
    for _ in range(20):
        table.do({"roll": [1, 2]})
    for _ in range(79):
        table.do({"roll": [6, 6]})
    # A roll that the page hears of later would close the dialog.
    expect(page.locator("#last-words")).to_contain_text("Roll 99 ")
    touch(page, "button-dice", "dice-tab-fair")
    verdict = page.get_by_test_id("verdict")
    expect(verdict).to_contain_text("Set A: 99 rolls")
    expect(verdict).to_have_attribute("data-advisory", "false")
    bars = page.get_by_test_id("bars-faces").locator("rect")
    expect(bars).to_have_count(6)
    assert [bar.get_attribute("data-observed") for bar in bars.all()] == ["20", "20", "0", "0", "0", "158"]
    tops = [float(bar.get_attribute("y") or 0) for bar in bars.all()]
    heights = [float(bar.get_attribute("height") or 0) for bar in bars.all()]
    assert heights[0] / heights[5] == pytest.approx(20 / 158)
    # Chance gives each face a sixth of 198 dice; its line stands above the axis as high as a bar of 33 would.
    due = page.get_by_test_id("bars-faces").locator(".due").first
    axis = tops[0] + heights[0]
    assert (axis - float(due.get_attribute("y1") or 0)) / heights[5] == pytest.approx(33 / 158)
    totals = page.get_by_test_id("bars-totals").locator("rect")
    assert [bar.get_attribute("data-observed") for bar in totals.all()] == ["0", "20", *["0"] * 8, "79"]
    # A set is judged each hundred rolls.
    page.keyboard.press("Escape")
    table.do({"roll": [6, 6]})
    expect(page.locator("#last-words")).to_contain_text("Roll 100 ")
    touch(page, "button-dice", "dice-tab-fair")
    expect(verdict).to_contain_text("Set A: 100 rolls")
    expect(verdict).to_have_attribute("data-advisory", "true")
    expect(verdict).to_contain_text("MIND")


def test_the_log_and_the_reports_open_in_a_window_of_their_own(start: Start) -> None:
    page, table = start("us-vegas")
    set_up(table)
    touch(page, "button-dice", "dice-tab-reports")
    today = gaming_date(datetime.now().astimezone(), DAY_BEGINS, None)
    expect(page.locator("[data-testid^=page-report-]")).to_have_count(7)
    for language, words in (("rules", "en"), ("es", "es")):
        touch(page, f"language-{language}")
        for name in ("log", "status", f"report-{today}"):
            with page.context.expect_page() as opened:
                touch(page, f"page-{name}")
            other = opened.value
            expect(other.locator("html")).to_have_attribute("lang", words)
            other.close()
    with page.context.expect_page() as opened:
        touch(page, "page-status")
    expect(opened.value.locator("body")).to_contain_text("004711")
    expect(page.get_by_test_id("dice-reports")).to_be_visible()


def test_an_alert_of_the_reserve_leads_to_the_question_of_its_opening(start: Start) -> None:
    page, table = start("us-vegas", explain_ms=IMPATIENT_MS)
    set_up(table)
    touch(page, "die-1", "die-1")
    expect(page.get_by_test_id("last-roll")).to_have_attribute("data-dice", "1-1")
    lid(table, "open", "closed")
    is_asked(page, "late")
    first = table.state()["dice"]["openings"][0]["seq"]
    touch(page, "die-1", "die-2")
    expect(page.get_by_test_id("last-roll")).to_have_attribute("data-dice", "1-2")
    lid(table, "open", "closed")
    table.wait_for_state(lambda state: len(wrong(state)) == 2, "both openings are alerts")
    expect(question(page)).to_contain_text("after roll 2")
    row = page.get_by_test_id(f"alert-reserve_unexplained:{first}")
    expect(row).to_contain_text("Say why")
    touch(page, "question-fold", f"alert-reserve_unexplained:{first}", "say-why")
    expect(page.get_by_test_id("overlay-acknowledge")).to_be_hidden()
    expect(question(page)).to_contain_text("after roll 1")
    touch(page, "reason-of-opening-inspector_request")
    type_in(page, "eva")
    is_back(page)
    table.wait_for_state(lambda state: len(wrong(state)) == 1, "one of them is explained")
    expect(question(page)).to_contain_text("after roll 2")
    # What has nothing to do with the reserve is only acknowledged.
    table.do({"roll": [2, 2]})
    touch(page, "alert-puck_misplaced")
    expect(page.get_by_test_id("say-why")).to_be_hidden()


@pytest.mark.parametrize("screen", [SCREEN, LARGE], ids=["800x480", "1280x720"])
def test_every_page_of_the_dice_fits_the_screen_with_buttons_for_a_finger(start: Start, screen: ViewportSize) -> None:
    page, table = start("es-1979")
    page.set_viewport_size(screen)

    def looks_right(where: str) -> None:
        assert layout_faults(page) == [], where

    looks_right("nothing is known of the dice")
    touch(page, "button-dice")
    looks_right("no set is at the table")
    touch(page, "dice-tab-count")
    looks_right("nothing to count")
    page.keyboard.press("Escape")
    set_up(table)
    act(table, "on_duty", boxman="Maximiliane Oberhauser von der Salzach", witness="Señora de los Dados Número Dos")
    act(
        table,
        "receive",
        set="Set-20261130",
        dice=6,
        maker="Bold and Sons",
        colour="ruby",
        serials=["1", "2", "3", "4", "5", "6"],
    )
    lid(table, "open")
    is_asked(page, "opening")
    looks_right("the lid is open")
    table.do({"bet": {"player": "3", "kind": "pass_line", "amount": 10, "number": None}})
    table.do({"roll": [2, 2]})
    lid(table, "closed")
    expect(page.get_by_test_id("reason-of-opening-new_set")).to_contain_text("against IV.3")
    looks_right("a reason is asked during a series")
    touch(page, "question-fold")
    looks_right("the question is folded away")
    touch(page, "question-fold", "reason-of-opening-player_request", "out-004711", "in-004713")
    looks_right("a swap that is against the rules")
    touch(page, "why-offered_to_shooter")
    looks_right("a dice change")
    touch(page, "asked", "asked-by-inspector", "asked-note")
    type_in(page, "a note as long as people write them")
    looks_right("who asked")
    touch(page, "asked-done")
    looks_right("a dice change that somebody asked for")
    touch(page, "signed-change")
    looks_right("the names")
    touch(page, "duty-boxman")
    looks_right("a name is entered")
    touch(page, "dice-tab-count", "count-004714", "place-nowhere")
    looks_right("a count that differs")
    touch(page, "count-004715")
    looks_right("a die in the hand")
    touch(page, "place-reserve", "confirm-count", "correct-log")
    looks_right("the log before it is put right")
    touch(page, "correction-note", "offered-Put back in the wrong place", "dice-text-done")
    looks_right("the log as it will be")
    touch(page, "dice-tab-sets")
    looks_right("the sets")
    touch(page, "set-Set-20261130", "pick-3")
    looks_right("a set")
    touch(page, "removal-damage")
    looks_right("dice of a set are taken away")
    touch(page, "inspect-set")
    looks_right("an inspection that has not begun")
    touch(page, "all-good", "check-house_mark", "check-house_mark", "unsound-3", "offered-Chipped", "dice-text-done")
    looks_right("an inspection that cannot be true")
    touch(page, "check-sound")
    looks_right("an inspection")
    touch(page, "instrument-micrometer")
    page.get_by_test_id("dice-text-field").fill("19.05 mm")
    looks_right("what an instrument showed")
    touch(page, "dice-tab-sets", "receive", *["more-dice"] * 2)
    looks_right("a set of eight is received")
    page.keyboard.press("Escape")
    # The count was the reason of the opening.
    expect(question(page)).to_be_hidden()
    table.do({"no_roll": "off_table"})
    is_asked(page, "void_throw")
    looks_right("which die was it")
    act(table, "off_table", dice=["004712"])
    touch(page, "button-dice")
    expect(page.get_by_test_id("found-004712")).to_be_visible()
    looks_right("a die lies on the floor")
    page.route("**/api/dice/fairness", lambda route: route.fulfill(json=fairness(("A", False), ("Set-20261130", True))))
    touch(page, "dice-tab-fair", "fair-Set-20261130")
    looks_right("what chance says")
    touch(page, "dice-tab-reports")
    looks_right("the log and the reports")
    page.keyboard.press("Escape")
    table.do({"roll": [3, 4]})
    expect(page.get_by_test_id("last-roll")).to_have_attribute("data-dice", "3-4")
    touch(page, "button-open-table")
    looks_right("closing the table")
    touch(page, "confirm-close-table")
    looks_right("the closing count")
    touch(page, "close-uncounted")
    looks_right("closing without a count asks once more")
    touch(page, "close-uncounted")
    expect(page.get_by_test_id("closed")).to_be_visible()
    looks_right("the table is closed")
    touch(page, "closed-open", "confirm-open")
    is_asked(page, "duty")
    looks_right("who is on duty in a new session")
    touch(page, "duty-same")
    looks_right("who is on duty, asked once more")
    touch(page, "duty-same")
    page.locator("[data-code=count_differs] button").tap()
    looks_right("an alert for a supervisor")
