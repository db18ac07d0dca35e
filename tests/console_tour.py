"""The console's pages and dialogs one after the other, in any language; each is yielded while it is on the screen."""

import re
from collections.abc import Iterator

from playwright.sync_api import Page, expect

from tests.browser_rig import touch, unhurry
from tests.dice_console_rig import act, is_asked, lid, question, set_up, type_in
from tests.terminal_rig import TerminalProcess

_DIALOGS = {
    "button-bets": ("group-line", "group-numbers", "kind-place", "group-one_roll"),
    "button-no-roll": (),
    "button-correct": ("right-die-1", "right-die-6"),
    "button-new-shooter": (),
    "button-open-table": ("rules-es-md-2004", "rules-mo-2010", "rules-cl-scj", "rules-pe-1999", "rules-us-vegas"),
    "button-hardware": ("hardware-lamps", "hardware-node", "hardware-self_test"),
    "button-help": ("help-more",),
}

# What a program beside the table finds out, which takes longer than anyone looks.
_FAIRNESS = {
    "set": "A",
    "rolls": 360,
    "faces": dict.fromkeys("123456", 120),
    "totals": {str(total): 60 - 10 * abs(7 - total) for total in range(2, 13)},
    "expected": {
        "faces": dict.fromkeys("123456", 120),
        "totals": {str(total): 60 - 10 * abs(7 - total) for total in range(2, 13)},
    },
    "verdict": "",
    "advisory": True,
}


def game_tour(page: Page, table: TerminalProcess) -> Iterator[str]:
    """A come-out, a correction, alerts, every dialog of the game, and the table closed."""
    unhurry(page)
    yield "before the first roll"
    for player in ("3", "8", "Señora de los Dados con un nombre largo"):
        for kind, amount in (("pass_line", 500), ("horn", 400)):
            table.do({"bet": {"player": player, "kind": kind, "amount": amount, "number": None}})
    touch(page, "die-6", "die-6")
    expect(page.get_by_test_id("last-roll")).to_have_attribute("data-dice", "6-6")
    yield "a roll"
    table.do({"correct": [2, 2]})
    expect(page.get_by_test_id("step-undo")).to_be_visible()
    yield "a correction"
    touch(page, "step-settle")
    yield "a correction, the right roll"
    table.do({"bet": {"player": "8", "kind": "pass_odds", "amount": 60, "number": 4}})
    for position in range(1, 17):
        table.do({"bet": {"player": str(position), "kind": "come", "amount": 25, "number": None}})
    # The page takes nothing while an action of its own is under way.
    expect(page.get_by_test_id("button-correct")).to_be_enabled()
    page.keyboard.press("c")
    expect(page.get_by_test_id("correct-says")).to_have_attribute("data-armed", "true")
    yield "a correction is open"
    page.keyboard.press("Escape")
    table.wait_for_state(lambda state: not state["correcting"], "the correction is called off")
    touch(page, "button-no-more-bets")
    expect(page.get_by_test_id("button-no-more-bets")).to_have_attribute("data-out", "true")
    yield "the dice are out"
    for opener, touches in _DIALOGS.items():
        touch(page, opener)
        yield opener
        for name in touches:
            touch(page, name)
            yield f"{opener}, {name}"
        page.keyboard.press("Escape")
    expect(page.get_by_test_id("alert-puck_misplaced")).to_be_attached()
    yield "an alert"
    touch(page, "alert-puck_misplaced", "letter-a")
    yield "an alert is acknowledged"
    touch(page, "confirm-acknowledge")
    expect(page.get_by_test_id("overlay-acknowledge")).to_be_hidden()
    yield "an alert was acknowledged"
    touch(page, "die-4", "die-3")
    expect(page.get_by_test_id("last-roll")).to_have_attribute("data-dice", "4-3")
    yield "a seven at a full table"
    touch(page, "button-no-roll", "reason-off_table")
    expect(page.get_by_test_id("settled")).to_be_visible()
    yield "no roll"
    touch(page, "button-new-shooter", "shooter-5")
    touch(page, "die-4", "die-3")
    expect(page.get_by_test_id("notice")).to_be_visible()
    yield "a refusal"


def dice_tour(page: Page, table: TerminalProcess) -> Iterator[str]:
    """Every page of the dialog about dice, the questions about the reserve, and the table closed."""
    unhurry(page)
    touch(page, "button-dice")
    yield "no set is at the table"
    touch(page, "dice-tab-count")
    yield "nothing to count"
    page.keyboard.press("Escape")
    set_up(table)
    act(table, "on_duty", boxman="Maximiliane Oberhauser von der Salzach", witness="Señora de los Dados Número Dos")
    serials = ["1", "2", "3", "4", "5", "6"]
    act(table, "receive", set="Set-20261130", dice=6, maker="Bold & Sons", colour="ruby", serials=serials)
    lid(table, "open")
    is_asked(page, "opening")
    yield "the lid is open"
    table.do({"bet": {"player": "3", "kind": "pass_line", "amount": 10, "number": None}})
    table.do({"roll": [2, 2]})
    lid(table, "closed")
    expect(page.get_by_test_id("reason-of-opening-new_set")).to_contain_text("IV.3")
    yield "a reason is asked during a series"
    touch(page, "reason-of-opening-player_request", "out-004711", "in-004713")
    yield "a swap that is against the rules"
    touch(page, "why-offered_to_shooter")
    yield "a dice change"
    touch(page, "asked", "asked-by-inspector", "asked-note")
    type_in(page, "a note as long as people write them")
    yield "who asked"
    touch(page, "asked-done", "signed-change")
    yield "the names"
    touch(page, "duty-boxman")
    yield "a name is entered"
    touch(page, "dice-tab-count", "count-004714", "place-nowhere")
    yield "a count that differs"
    touch(page, "count-004715")
    yield "a die in the hand"
    touch(page, "place-reserve", "confirm-count", "correct-log")
    yield "the log before it is put right"
    touch(page, "correction-note")
    yield "why the log was wrong"
    page.locator("#dice-text-offered button").first.tap()
    touch(page, "dice-text-done")
    yield "the log as it will be"
    touch(page, "dice-tab-sets")
    yield "the sets"
    touch(page, "set-Set-20261130", "pick-3")
    yield "a set"
    touch(page, "removal-damage")
    yield "dice of a set are taken away"
    touch(page, "inspect-set")
    yield "an inspection that has not begun"
    touch(page, "all-good", "check-house_mark", "check-house_mark", "unsound-3")
    page.locator("#dice-text-offered button").first.tap()
    touch(page, "dice-text-done")
    yield "an inspection that cannot be true"
    touch(page, "check-sound")
    yield "an inspection"
    touch(page, "instrument-micrometer")
    yield "what an instrument showed"
    touch(page, "dice-tab-sets", "receive", *["more-dice"] * 2)
    yield "a set of eight is received"
    page.keyboard.press("Escape")
    expect(question(page)).to_be_hidden()
    table.do({"no_roll": "off_table"})
    is_asked(page, "void_throw")
    yield "which die was it"
    act(table, "off_table", dice=["004712"])
    touch(page, "button-dice")
    expect(page.get_by_test_id("found-004712")).to_be_visible()
    yield "a die lies on the floor"
    page.route(re.compile("/api/dice/fairness"), lambda route: route.fulfill(json={"sets": [_FAIRNESS]}))
    touch(page, "dice-tab-fair")
    expect(page.get_by_test_id("verdict")).to_be_visible()
    yield "what chance says"
    touch(page, "dice-tab-reports")
    yield "the log and the reports"
    page.keyboard.press("Escape")
    table.do({"roll": [3, 4]})
    expect(page.get_by_test_id("last-roll")).to_have_attribute("data-dice", "3-4")
    touch(page, "button-open-table", "confirm-close-table")
    yield "the closing count"
    touch(page, "close-uncounted")
    yield "closing without a count asks once more"
    touch(page, "close-uncounted")
    expect(page.get_by_test_id("closed")).to_be_visible()
    yield "the table is closed"
    touch(page, "closed-open", "confirm-open")
    is_asked(page, "duty")
    yield "who is on duty in a new session"
    touch(page, "duty-same")
    yield "who is on duty, asked once more"
    touch(page, "duty-same")
    page.locator("[data-code=count_differs] button").tap()
    yield "an alert for a supervisor"
