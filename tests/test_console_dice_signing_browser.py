"""Signing for the dice on the console: nothing counts, and nothing is signed, that was not expressly entered."""

import re
from collections.abc import Iterator
from datetime import datetime, time
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from device.dice_control.day_report import DAY_BEGINS
from tests.browser_rig import layout_faults, show_state, touch
from tests.dice_console_rig import (
    COUNT_TOUCHES,
    SERIALS,
    Start,
    act,
    consoles,
    is_asked,
    is_back,
    lid,
    places,
    question,
    sent_action,
    set_up,
    slots,
    touches,
    type_in,
)
from tests.terminal_rig import TerminalProcess


@pytest.fixture
def start(chromium: Browser, tmp_path: Path) -> Iterator[Start]:
    """Starts a terminal with the dice rules of a jurisdiction and opens its console on a touch screen."""
    with consoles(chromium, tmp_path) as begin:
        yield begin


def is_open_for(page: Page, *, why: str, todo: str) -> None:
    """The page says that the reason that led to it does not count yet, and what is to be touched."""
    expect(page.locator("[data-testid=pending]:visible")).to_have_text(f"Does not count yet: {why}. {todo}")


def reason_given(table: TerminalProcess) -> str | None:
    """The reason of the only opening of the reserve that is not done with."""
    [opening] = table.state()["dice"]["openings"]
    reason: str | None = opening["reason"]
    return reason


def actions_sent(page: Page) -> list[dict[str, Any]]:
    """A list that fills with the actions on the dice that the page sends from now on."""
    actions: list[dict[str, Any]] = []

    def note(request: Request) -> None:
        if request.method == "POST" and (body := request.post_data_json) is not None:
            actions.append(body["action"])

    page.on("request", note)
    return actions


def test_a_reason_that_leads_to_the_dice_says_that_it_does_not_count_until_they_are_confirmed(start: Start) -> None:
    page, table = start("us-vegas")
    set_up(table)
    lid(table, "open")
    touch(page, "reason-of-opening-shooter_request")
    is_open_for(page, why="Shooter asked", todo="Touch the dice, or No die moved.")
    touch(page, "close-dice")
    expect(question(page)).to_contain_text("Not recorded yet. Touch it again.")
    expect(page.get_by_test_id("reason-of-opening-shooter_request")).to_have_class("begun")
    assert reason_given(table) is None
    touch(page, "reason-of-opening-shooter_request", "out-004711")
    is_open_for(page, why="Shooter asked", todo="Touch the other die.")
    touch(page, "in-004713")
    is_open_for(page, why="Shooter asked", todo="Touch the green button.")
    touch(page, "confirm-change")
    is_back(page)
    assert reason_given(table) == "shooter_request"
    slots(table, 4)
    lid(table, "closed", "open", "closed")
    touch(page, "reason-of-opening-new_set")
    is_open_for(page, why="New set", todo="Bring a set to the table, or touch No die moved.")
    touch(page, "close-dice", "reason-of-opening-count")
    is_open_for(page, why="Count", todo="Sign the count.")
    touch(page, "confirm-count")
    expect(page.locator("[data-testid=pending]:visible")).to_have_count(0)


def test_who_asked_and_a_note_go_with_the_change_and_with_the_reason(start: Start) -> None:
    page, table = start("us-vegas")
    set_up(table)
    lid(table, "open", "closed")
    touch(
        page,
        "reason-of-opening-player_request",
        "out-004711",
        "in-004713",
        "asked",
        "asked-by-supervisor",
        "asked-name",
    )
    type_in(page, "eva")
    touch(page, "asked-note")
    type_in(page, "says it slips")
    touch(page, "asked-done")
    expect(page.get_by_test_id("asked")).to_have_text("Supervisor · Eva · Says it slips")
    with page.expect_request("**/api/dice") as sent:
        touch(page, "confirm-change")
    assert sent_action(sent.value, "swap") == {
        "set": "A",
        "out": ["004711"],
        "in": ["004713"],
        "reason": "player_request",
        "asked_by": "supervisor",
        "asked_by_name": "Eva",
        "note": "Says it slips",
    }
    is_back(page)
    # What was said of one change is not said of the next, whichever way leads there.
    lid(table, "open", "closed")
    touch(page, "reason-of-opening-count", "dice-tab-change")
    expect(page.get_by_test_id("asked")).to_have_text("Who asked? Note ▸")
    touch(page, "close-dice", "reason-of-opening-inspector_request")
    touch(page, "asked", "asked-note")
    type_in(page, "looked only")
    touch(page, "asked-done")
    with page.expect_request("**/api/dice") as sent:
        touch(page, "no-die-moved")
    assert sent_action(sent.value, "explain")["note"] == "Looked only"


def test_a_count_is_not_signed_while_a_die_is_in_the_hand(start: Start) -> None:
    page, table = start("us-vegas")
    set_up(table)
    touch(page, "button-dice", "dice-tab-count", "count-004713")
    sign = page.get_by_test_id("confirm-count")
    expect(sign).to_be_disabled()
    expect(sign).to_have_text("Where is die 004713? Touch the place.")
    actions = actions_sent(page)
    page.keyboard.press("Enter")
    touch(page, "place-reserve")
    expect(sign).to_be_enabled()
    assert actions == []
    # Who looks elsewhere meanwhile finds it where it lay.
    touch(page, "count-004713", "dice-tab-sets", "dice-tab-count")
    expect(sign).to_have_text("Sign: check, as in the log")


def test_the_log_is_put_right_as_the_count_saw_the_dice(start: Start) -> None:
    page, table = start("us-vegas")
    set_up(table)
    touch(page, "button-dice", "dice-tab-count")
    expect(page.get_by_test_id("correct-log")).to_be_hidden()
    touch(page, "count-004711", "place-reserve", "count-004713", "place-play", "count-004716", "place-nowhere")
    touch(page, "confirm-count", "correct-log")
    rows = page.get_by_test_id("before-after").locator("tbody tr")
    expect(rows).to_have_text(["004711In play→Reserve", "004713Reserve→In play", "004716Reserve→Missing"])
    expect(page.get_by_test_id("sums-before")).to_have_text("Now. In play: 2 · Reserve: 4")
    expect(page.get_by_test_id("sums-after")).to_have_text("Then. In play: 2 · Reserve: 3 · Missing: 1")
    sign = page.get_by_test_id("confirm-correction")
    expect(sign).to_be_disabled()
    assert layout_faults(page) == []
    # Enter asks why the log was wrong, and signs once that is said.
    page.keyboard.press("Enter")
    touch(page, "offered-A swap was not recorded", "dice-text-done")
    expect(sign).to_have_text("Sign: 3 dice as seen")
    expect(sign).to_be_enabled()
    actions = actions_sent(page)
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("place-nowhere")).to_contain_text("1 die")
    expect(page.get_by_test_id("correct-log")).to_be_hidden()
    signed = {"set": "A", "note": "A swap was not recorded", "done_by": "Ana", "seen_by": "Bo"}
    count = table.state()["dice"]["counts"]["check"]
    assert actions == [
        {"correction": signed | {"places": {"004711": "reserve", "004713": "play"}, "count": count}},
        {"missing": signed | {"dice": ["004716"]}},
    ]
    assert places(table) == {
        "play": ["004712", "004713"],
        "reserve": ["004711", "004714", "004715"],
        "missing": ["004716"],
    }


def test_a_correction_that_leaves_three_dice_in_play_is_not_signed(start: Start) -> None:
    page, table = start("us-vegas")
    set_up(table)
    touch(page, "button-dice", "dice-tab-count", "count-004713", "place-play", "confirm-count", "correct-log")
    touch(page, "correction-note", "offered-Wrong die was touched", "dice-text-done")
    expect(page.get_by_test_id("confirm-correction")).to_be_disabled()
    expect(page.get_by_test_id("confirm-correction")).to_have_text("3 in play? Count again.")


def test_an_inspection_is_signed_once_each_check_is_made_or_expressly_not(start: Start) -> None:
    page, table = start("us-vegas")
    set_up(table)
    touch(page, "button-dice", "dice-tab-sets", "set-A", "inspect-set")
    sign = page.get_by_test_id("confirm-inspect")
    expect(sign).to_be_disabled()
    expect(sign).to_have_text("Still open: 1 check, 4 instruments")
    expect(page.get_by_test_id("unsound-004711")).to_contain_text("not inspected")
    actions = actions_sent(page)
    page.keyboard.press("Enter")
    touch(page, "rest-not-made")
    expect(sign).to_have_text("Nothing was checked")
    expect(sign).to_be_disabled()
    touch(page, "check-sound", "instrument-magnet", "offered-Not magnetic", "dice-text-done")
    expect(sign).to_have_text("All 6 are soundSigns 1 of 1 check; Magnet")
    expect(page.get_by_test_id("contradictions")).to_have_text("Not made: Micrometer, Balancing caliper, Steel square.")
    assert actions == []
    # An instrument that was entered can be taken back: it was not used.
    touch(page, "instrument-magnet", "dice-text-none")
    expect(sign).to_have_text("All 6 are soundSigns 1 of 1 check; no instrument")
    with page.expect_request("**/api/dice") as sent:
        touch(page, "confirm-inspect")
    assert sent_action(sent.value, "inspect") == {"set": "A", "dice": SERIALS, "checks": {"sound": True}}


def test_what_cannot_be_true_of_an_inspection_is_said_at_once(start: Start) -> None:
    page, table = start("es-1979")
    set_up(table)
    touch(page, "button-dice", "dice-tab-sets", "set-A", "inspect-set", "all-good")
    sign = page.get_by_test_id("confirm-inspect")
    expect(sign).to_be_enabled()
    wrong = page.get_by_test_id("contradictions")
    touch(page, "unsound-004713", "offered-Chipped", "dice-text-done")
    expect(wrong).to_have_text("004713: Chipped. Then “In perfect state” is NOT good: touch it.")
    expect(sign).to_be_disabled()
    suspect = page.locator("#dice-inspect .suspect")
    expect(suspect).to_have_count(1)
    expect(suspect).to_have_attribute("data-testid", "check-sound")
    touch(page, "check-sound")
    expect(wrong).to_be_hidden()
    expect(suspect).to_have_count(0)
    expect(sign).to_be_enabled()
    # What was found not to be good is not made good with the rest.
    touch(page, "all-good")
    expect(page.get_by_test_id("check-sound")).to_contain_text("NOT GOOD")
    # Any fault is one of a check: with all of them good, there is none.
    touch(
        page, "unsound-004713", "check-sound", "check-sound", "unsound-004713", "offered-Wrong size", "dice-text-done"
    )
    expect(wrong).to_have_text("004713 not sound, but every check is good. Touch the one that it fails.")
    touch(page, "check-polished_faces")
    expect(wrong).to_be_hidden()
    # Spain has edges of 20 to 25 mm.
    touch(page, "instrument-micrometer")
    for text, bad in (("19.99 mm", True), ("20.00", False), ("25.01", True), ("25 mm", False)):
        page.get_by_test_id("dice-text-field").fill(text)
        # Numbers as Spain writes them, in whatever language.
        showed = text.split()[0].replace(".", ",")
        said = f"{showed} mm is outside 20,00 to 25,00 mm (II.1): the micrometer is NOT good."
        expect(page.get_by_test_id("dice-text-wrong")).to_have_text(said if bad else "")
        expect(page.get_by_test_id("dice-text-done")).to_be_enabled(enabled=not bad)
    page.get_by_test_id("dice-text-field").fill("19.05 mm")
    page.keyboard.press("Enter")
    touch(page, "dice-text-other")
    expect(page.get_by_test_id("instrument-micrometer")).to_have_class("check named bad")
    expect(sign).to_be_enabled()


def test_only_names_that_were_recorded_here_are_offered_and_letters_stay_as_they_were_entered(start: Start) -> None:
    page, table = start("us-vegas")
    touch(page, "button-dice", "dice-tab-duty", "duty-boxman")
    touch(page, "dice-letter-c")
    expect(page.get_by_test_id("dice-letter-b")).to_have_text("b")
    touch(page, "dice-letter-shift", "dice-letter-b")
    expect(page.get_by_test_id("dice-text-field")).to_have_value("CB")
    touch(page, "dice-text-done")
    type_in(page, "zoe")
    # Somebody thought better of it: the name was never used.
    touch(page, "duty-witness", *["dice-letter-back"] * 3)
    expect(page.locator("[data-testid^='offered-']")).to_have_count(0)
    type_in(page, "bo")
    touch(page, "duty-confirm")
    is_back(page)
    assert table.state()["dice"]["duty"] == {"boxman": "CB", "witness": "Bo"}
    touch(page, "button-dice", "dice-tab-duty", "duty-boxman", *["dice-letter-back"] * 2)
    type_in(page, "ana")
    touch(page, "duty-witness")
    expect(page.locator("[data-testid^='offered-']")).to_have_text(["CB"])
    # Another page of this table offers those on duty.
    page.reload()
    expect(page.get_by_test_id("die-1")).to_be_enabled()
    touch(page, "button-dice", "dice-tab-duty", "duty-boxman")
    expect(page.locator("[data-testid^='offered-']")).to_have_count(0)


def test_a_new_session_asks_who_is_on_duty_in_two_touches(start: Start) -> None:
    page, table = start("us-vegas")
    set_up(table)
    act(table, "count", count="closing", seen={"play": SERIALS[:2], "reserve": SERIALS[2:]})
    assert table.client.post("/api/close", json={"id": table.fresh_id()}).status_code == 200
    expect(page.get_by_test_id("closed")).to_be_visible()
    expect(question(page)).to_be_hidden()
    touch(page, "closed-open", "confirm-open")
    is_asked(page, "duty")
    expect(question(page)).to_contain_text("Who is on duty?")
    # A page that has just been loaded knows them too.
    page.reload()
    is_asked(page, "duty")
    assert layout_faults(page) == []
    page.evaluate(COUNT_TOUCHES)
    touch(page, "duty-same")
    expect(page.get_by_test_id("duty-same")).to_have_text("Again: Ana and Bo on duty")
    assert table.state()["dice"]["duty"] is None
    touch(page, "duty-same")
    expect(question(page)).to_be_hidden()
    assert touches(page) == 2
    assert table.state()["dice"]["duty"] == {"boxman": "Ana", "witness": "Bo"}


def test_where_the_house_lists_its_supervisors_only_they_are_offered(start: Start) -> None:
    page, table = start("us-vegas")
    set_up(table)
    act(table, "count", count="check", seen={"play": SERIALS[:2], "reserve": SERIALS[2:5]})
    told = table.state()
    # Ana, who is on duty, does not acknowledge what she is part of.
    listed = {"supervisors_listed": True, "supervisors": ["Ana", "Marta Gil", "Eva Ruiz"]}
    refused = {"refused": "not_a_supervisor", "message": "Zoe is none of them"}
    page.route("**/api/acknowledge", lambda route: route.fulfill(status=409, json=refused))
    show_state(page, told | {"dice": told["dice"] | listed})
    page.locator("[data-code=count_differs] button").tap()
    expect(page.locator("#acknowledge-names button")).to_have_text(["Marta Gil", "Eva Ruiz"])
    touch(page, *(f"letter-{letter}" for letter in "zoe"), "confirm-acknowledge")
    expect(page.get_by_test_id("notice")).to_have_text(
        re.compile("^Zoe is not on the house's list of supervisors. One of them must do this.")
    )


def test_names_that_were_just_entered_are_not_said_to_be_those_of_the_session_before(start: Start) -> None:
    page, table = start("us-vegas")
    hint = page.get_by_text("As in the session before")
    touch(page, "button-dice", "dice-tab-duty", "duty-boxman")
    type_in(page, "ana")
    type_in(page, "bo")
    expect(page.get_by_test_id("duty-witness")).to_contain_text("Bo")
    expect(hint).to_have_count(0)
    touch(page, "duty-confirm")
    is_back(page)
    told = table.state()["table"]
    terms = {name: told[name] for name in ("rules", "options", "unit", "limits")}
    assert table.client.post("/api/close", json={"id": table.fresh_id()}).status_code == 200
    assert table.client.post("/api/open", json={"id": table.fresh_id()} | terms).status_code == 200
    touch(page, "button-dice", "dice-tab-duty")
    expect(hint).to_be_visible()
    touch(page, "duty-witness", *["dice-letter-back"] * 2)
    type_in(page, "eva")
    expect(page.get_by_test_id("duty-witness")).to_contain_text("Eva")
    expect(hint).to_have_count(0)


def test_the_days_that_are_offered_are_gaming_days_and_none_is_to_come(start: Start) -> None:
    page, table = start("us-vegas")
    set_up(table)
    days = page.locator("[data-testid^=page-report-]")
    assert time(6) == DAY_BEGINS
    for moment, today in (("2026-03-05T05:59:30", "2026-03-04"), ("2026-03-05T06:00:30", "2026-03-05")):
        page.clock.set_fixed_time(datetime.fromisoformat(moment).astimezone())
        touch(page, "button-dice", "dice-tab-reports")
        expect(days).to_have_count(7)
        expect(days.first).to_have_text(f"Today{today}")
        expect(page.get_by_test_id("page-report-2026-03-01")).to_be_visible()
        touch(page, "close-dice")


def test_a_dice_alert_is_left_to_a_supervisor(start: Start) -> None:
    page, table = start("us-vegas")
    set_up(table)
    act(table, "count", count="check", seen={"play": SERIALS[:2], "reserve": SERIALS[2:5]})
    row = page.locator("[data-code=count_differs] button")
    row.tap()
    says = page.get_by_test_id("acknowledge-says")
    expect(says).to_contain_text("A count differs from the log")
    expect(says).to_contain_text("A supervisor must do this.")
    # Those on duty are not offered; whoever enters one of them is told the same.
    expect(page.locator("#acknowledge-names button")).to_have_count(0)
    touch(page, *(f"letter-{letter}" for letter in "ana"), "confirm-acknowledge")
    expect(page.get_by_test_id("notice")).to_contain_text("A supervisor must do this: Ana is or was on duty here")
    touch(page, "notice", *["letter-back"] * 3, *(f"letter-{letter}" for letter in "eva"))
    # The word of whoever has signed in on this page goes along; nobody is asked meanwhile whether it still holds.
    page.route("**/api/people*", lambda route: route.abort())
    page.evaluate('sessionStorage.setItem("boxman-page", "a-word")')
    with page.expect_request("**/api/acknowledge*") as sent:
        touch(page, "confirm-acknowledge")
    assert sent.value.headers["x-boxman-page"] == "a-word"
    expect(page.get_by_test_id("overlay-acknowledge")).to_be_hidden()
    expect(page.locator("[data-code=count_differs]")).to_have_count(0)
    # She is offered for the next.
    act(table, "count", count="check", seen={"play": SERIALS[:2], "reserve": SERIALS[2:5]})
    row.tap()
    expect(page.locator("#acknowledge-names button")).to_have_text(["Eva"])
