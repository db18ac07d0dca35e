"""The drawn layout, the arithmetic of a settled roll, off and on, and what a correction would change, by touch."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect

from device.languages.said import bet_name
from engine_lite import rule_sets
from tests.browser_rig import SCREEN, know_roll, lapse, layout_faults, touch, touch_page, unhurry
from tests.terminal_rig import TerminalProcess, bet

PERU_ES = "art. 5.a: el tirador que pierde pasa los dados"
LARGE: ViewportSize = {"width": 1280, "height": 720}
# Room for every bet's own field beside a warning that always stands.
LAPTOP: ViewportSize = {"width": 1440, "height": 900}


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TerminalProcess]:
    """One virtual table for the whole file; it speaks English under every rule set, and nobody minds its puck."""
    folder = tmp_path_factory.mktemp("layout")
    file = folder / "table.toml"
    file.write_text('[console]\nlanguage = "en"\n[alerts]\npuck_ms = 600000\nroll_ms = 600000\n', encoding="utf-8")
    with TerminalProcess(folder / "data", configuration=file) as process:
        yield process


@pytest.fixture
def table(terminal: TerminalProcess) -> TerminalProcess:
    """The table under the Las Vegas rules, on a come-out, nothing on the layout."""
    begin(terminal, "us-vegas")
    return terminal


@pytest.fixture
def page(chromium: Browser, table: TerminalProcess) -> Iterator[Page]:
    """The console on the touch screen."""
    with touch_page(chromium) as console:
        show(console, table)
        yield console


def begin(table: TerminalProcess, rules: str) -> None:
    """Open the table anew, whatever the test before has left."""
    while table.state()["bets"]:
        table.do({"shooter": "16"})
        table.post({"bet": {"player": "16", "kind": "pass_line", "amount": 5, "number": None}})
        for one in table.state()["bets"]:
            table.post({"take_down": {name: one[name] for name in ("player", "kind", "number")}})
        if table.state()["bets"]:
            table.do({"roll": [3, 4]})
    assert table.open_table(rules, limits={"min": 5, "max": 5000}).status_code == 200


def show(page: Page, table: TerminalProcess) -> None:
    unhurry(page)
    page.goto(table.address)
    expect(page.get_by_test_id("die-1")).to_be_enabled()
    expect(page.get_by_test_id("felt-pass_line")).to_be_visible()


def roll(page: Page, first: int, second: int) -> None:
    """Two touches, and the roll is on the screen."""
    touch(page, f"die-{first}", f"die-{second}")
    know_roll(page, first, second)


def rows(page: Page, name: str) -> Locator:
    return page.get_by_test_id(name).locator("li:not(.apart)")


def piles(page: Page, place: str) -> list[str]:
    """The chips in a place, each pile with what lies on it."""
    return page.get_by_test_id(place).locator(".pile").all_inner_texts()


def test_the_layout_shows_what_lies_where_with_the_dealer_s_lammers(page: Page, table: TerminalProcess) -> None:
    bet(table, "3", "pass_line", 25)
    bet(table, "12", "dont_pass", 50)
    # On the come-out come bets are not taken; on a point pass line bets are not.
    expect(page.get_by_test_id("felt-come")).to_have_attribute("data-taken", "false")
    expect(page.get_by_test_id("felt-pass_line")).to_have_attribute("data-taken", "true")
    expect(page.get_by_test_id("taken-now")).to_have_text("Now: Pass Line, Don't Pass")
    table.do({"roll": [2, 4]})
    for player, kind, amount, number in (
        ("3", "pass_odds", 50, 6),
        ("5", "come", 15, None),
        ("2", "place", 30, 8),
        ("7", "place", 12, 8),
        ("7", "place", 15, 5),
        ("9", "buy", 100, 4),
        ("9", "lay", 60, 10),
        ("4", "place_to_lose", 35, 9),
        ("9", "hardway", 5, 10),
        ("14", "horn", 20, None),
    ):
        bet(table, player, kind, amount, number)
    table.do({"working": {"player": "7", "kind": "place", "number": 5, "on": False}})
    expect(page.get_by_test_id("taken-now")).to_have_text("Now: Come, Don't Come, odds")
    expect(page.get_by_test_id("felt-come")).to_have_attribute("data-taken", "true")
    expect(page.get_by_test_id("puck-box-5").locator("[data-lammer=OFF]")).to_be_visible()
    found = {place: piles(page, f"puck-box-{place}") for place in (4, 5, 6, 8, 9, 10)}
    assert found == {4: ["BUY\n100"], 5: ["OFF\n15"], 6: [], 8: ["42"], 9: ["35"], 10: ["LAY\n60"]}
    assert piles(page, "felt-pass_line") == ["25+50"]
    assert piles(page, "felt-dont_pass") == ["50"]
    assert piles(page, "felt-come") == ["15"]
    assert piles(page, "felt-hardways") == ["5"]
    expect(page.get_by_test_id("felt-others")).to_contain_text("Horn")
    # The come bet goes to its box, with odds; the total of the box says all of it.
    roll(page, 3, 5)
    bet(table, "5", "come_odds", 30, 8)
    touch(page, "last-roll")
    expect(page.get_by_test_id("puck-box-8")).to_have_attribute("data-total", "87")
    assert piles(page, "puck-box-8") == ["15+30", "42"]
    # A sum stands only under several bets.
    expect(page.locator('[data-testid="puck-box-8"][data-several] .total')).to_be_visible()
    expect(page.get_by_test_id("puck-box-4").locator(".total")).to_be_hidden()
    assert layout_faults(page) == []
    page.set_viewport_size(LARGE)
    expect(page.get_by_test_id("felt-hardway-10")).to_have_attribute("data-total", "5")
    assert layout_faults(page) == []


def test_a_touch_on_the_layout_leads_to_the_entry_of_its_bets(page: Page, table: TerminalProcess) -> None:
    touch(page, "puck-box-8", "player-3")
    expect(page.get_by_test_id("overlay-bets")).to_be_visible()
    touch(page, "kind-place", "digit-1", "digit-2", "bet-put")
    table.wait_for_state(
        lambda state: [(one["kind"], one["number"], one["amount"]) for one in state["bets"]] == [("place", 8, 12)],
        "a place bet lies on the box that was touched",
    )
    touch(page, "close-bets", "felt-field", "digit-5", "bet-put", "close-bets")
    expect(page.get_by_test_id("felt-field")).to_have_attribute("data-total", "5")
    expect(page.get_by_test_id("puck-box-8")).to_have_attribute("data-total", "12")


def test_each_rule_set_has_the_places_of_its_own_bets(chromium: Browser, table: TerminalProcess) -> None:
    lines = {"come", "dont_come", "field", "pass_line", "dont_pass"}
    in_boxes = {"place", "place_to_lose", "buy", "lay", "big"}
    for name in rule_sets.NAMES:
        begin(table, name)
        data = rule_sets.load(name)
        with touch_page(chromium, LAPTOP) as page:
            show(page, table)
            fields = page.locator("#felt .field").evaluate_all("(all) => all.map(({ dataset }) => dataset.testid)")
            offered = {kind for kind in data["bets"] if not kind.endswith("_odds")} - in_boxes - {"hardway"}
            hard = {f"felt-hardway-{number}" for number in (4, 6, 8, 10)}
            assert set(fields) == {f"felt-{kind}" for kind in offered} | hard, name
            assert lines <= offered

            # By the regulation's own names, as English has them, behind the boxes and before them.
            def called(kind: str, names: dict[str, Any] = data["bets"], rules: str = name) -> str:
                return bet_name(names[kind]["name"], rules, "en")

            expect(page.get_by_test_id("felt-pass_line")).to_have_text(called("pass_line"))
            before = called("place" if "place" in data["bets"] else "big")
            names = page.locator(".row-name").all_inner_texts()
            assert names[0] == called("dont_come")
            assert names[-1] == before
            assert layout_faults(page) == [], name
            for screen in (LARGE, SCREEN):
                page.set_viewport_size(screen)
                assert layout_faults(page) == [], name
            expect(page.get_by_test_id("felt-others")).to_be_visible()


def test_a_pay_is_said_as_a_dealer_says_it(page: Page, table: TerminalProcess) -> None:
    bet(table, "1", "pass_line", 10)
    table.do({"roll": [2, 2]})
    for player, kind, amount, number in (
        ("3", "place", 12, 6),
        ("5", "place", 11, 6),
        ("8", "field", 10, None),
        ("9", "buy", 100, 6),
    ):
        bet(table, player, kind, amount, number)
    know_roll(page, 2, 2)
    roll(page, 5, 1)
    expect(rows(page, "collect-list")).to_have_text(["8Field10"])
    # 11 at 7 to 6 are 12 5/6; 100 at 6 to 5, and 5 of every 100 that were bet.
    expect(rows(page, "pay-list")).to_have_text(
        [
            "3Place 612 at 7 to 6 = 14 · stays up14",
            "5Place 611 at 7 to 6 = 12 5/6, down to 12 · stays up12",
            "9Buy 6100 at 6 to 5 = 120, less 5 = 115 · stays up115",
        ]
    )
    expect(page.get_by_test_id("pay-sum")).to_have_text("141")


def test_a_commission_up_front_is_that_of_the_next_play(chromium: Browser, table: TerminalProcess) -> None:
    begin(table, "cl-scj")
    bet(table, "1", "pass_line", 10)
    table.do({"roll": [3, 3]})
    bet(table, "9", "buy", 100, 4)
    with touch_page(chromium) as page:
        show(page, table)
        roll(page, 2, 2)
        expect(rows(page, "pay-list")).to_contain_text(["100 at 2 to 1 = 200, less 5 for the next = 195 · stays up195"])


def test_a_come_bet_that_wins_while_another_travels_to_its_box_is_off_and_on(
    page: Page, table: TerminalProcess
) -> None:
    bet(table, "1", "pass_line", 10)
    table.do({"roll": [2, 2]})
    bet(table, "3", "come", 10)
    bet(table, "5", "come", 25)
    bet(table, "7", "dont_come", 40)
    table.do({"roll": [5, 1]})
    bet(table, "3", "come_odds", 20, 6)
    bet(table, "3", "come", 10)
    bet(table, "5", "come", 10)
    bet(table, "7", "dont_come", 50)
    bet(table, "9", "come", 15)
    before = table.state()
    know_roll(page, 5, 1)
    roll(page, 4, 2)
    # Even money and six to five; the chips in the Come and the odds go back, the ten in the box stays.
    expect(rows(page, "pay-list")).to_have_text(
        [
            "3Come 610 at 1 to 1 = 10 · 20 at 6 to 5 = 24 · off and on: 10 stays on 6 · stake 30 back34",
            "5Come 625 at 1 to 1 = 25 · off and on: 15 off 6, 10 stays · stake 25 back25",
            "9Come15to 6",
        ]
    )
    expect(rows(page, "collect-list")).to_have_text(["7Don't Come 6off and on: 10 more on 6, 50 stays40"])
    expect(page.get_by_test_id("pay-count")).to_have_text("2")
    expect(page.get_by_test_id("pay-sum")).to_have_text("59")
    # What is handed out is what was settled: nothing but these rows has changed the house's chips.
    assert table.state()["house"] == before["house"] - 59 + 40
    touch(page, "last-roll")
    assert piles(page, "puck-box-6") == ["50", "35"]


def test_results_give_way_to_the_layout_once_they_are_settled(page: Page, table: TerminalProcess) -> None:
    work = page.locator("#work")
    expect(work).to_have_attribute("data-view", "layout")
    bet(table, "3", "field", 10)
    roll(page, 1, 1)
    expect(work).to_have_attribute("data-view", "results")
    expect(page.get_by_test_id("felt")).to_be_hidden()
    # The last roll turns them, both ways.
    touch(page, "last-roll")
    expect(page.get_by_test_id("felt")).to_be_visible()
    expect(page.get_by_test_id("pay-list")).to_be_hidden()
    touch(page, "last-roll")
    expect(page.get_by_test_id("pay-list")).to_be_visible()
    # Whoever takes the next bets has paid.
    touch(page, "button-bets", "close-bets")
    expect(page.get_by_test_id("felt")).to_be_visible()
    bet(table, "3", "field", 10)
    roll(page, 1, 2)
    expect(page.get_by_test_id("pay-list")).to_be_visible()


def test_while_the_dice_are_out_a_void_throw_is_said_by_one_touch(page: Page, table: TerminalProcess) -> None:
    bet(table, "3", "pass_line", 10)
    touch(page, "button-no-more-bets")
    expect(page.get_by_test_id("taken-now")).to_have_attribute("data-out", "true")
    expect(page.get_by_test_id("throw-slid")).to_be_visible()
    assert layout_faults(page) == []
    touch(page, "throw-slid")
    expect(page.get_by_test_id("last-roll")).to_contain_text("No roll: Slid")
    expect(page.get_by_test_id("felt-pass_line")).to_be_visible()
    # Dice that these rules read are voided by a second touch only.
    touch(page, "button-no-more-bets", "throw-on_chips")
    expect(page.get_by_test_id("throw-on_chips")).to_have_text("Touch again: no roll all the same")
    assert table.state()["last_no_roll"]["reason"] == "slid"
    touch(page, "throw-on_chips")
    table.wait_for_state(lambda state: state["last_no_roll"]["reason"] == "on_chips", "the throw is void")


def test_a_common_reason_of_no_roll_is_one_touch_at_any_time_and_a_trembling_finger_says_it_once(
    page: Page, table: TerminalProcess
) -> None:
    bet(table, "3", "field", 10)
    roll(page, 5, 4)
    # What is to be paid is still on the screen, and a die of the next throw was keyed.
    expect(page.get_by_test_id("pay-list")).to_be_visible()
    touch(page, "die-2")
    off_table = page.get_by_test_id("no-roll-off_table")
    expect(off_table).to_have_text("No rollOff table")
    sent: list[Any] = []
    page.on("request", lambda asked: sent.append(asked.post_data_json) if asked.url.endswith("/command") else None)
    off_table.dblclick(delay=5)
    expect(page.get_by_test_id("last-roll")).to_contain_text("No roll: Off table")
    expect(page.get_by_test_id("die-one")).to_have_attribute("data-value", "")
    # Once it is answered, the dice are entered, and the reason rests.
    expect(page.get_by_test_id("die-1")).to_be_enabled()
    expect(off_table).to_be_disabled()
    lapse(page)
    expect(off_table).to_be_enabled()
    assert [asked["step"] for asked in sent] == [{"no_roll": "off_table"}]
    assert table.state()["roll_number"] == 1
    for reason in ("on_rail", "short"):
        touch(page, f"no-roll-{reason}")
        expect(page.get_by_test_id("last-roll")).to_contain_text({"on_rail": "On rail", "short": "Short"}[reason])
        expect(page.get_by_test_id("die-1")).to_be_enabled()
        lapse(page)
    assert layout_faults(page) == []


@pytest.mark.parametrize(
    ("rules", "words"),
    [("us-vegas", "Dice pass on a seven-out"), ("pe-1999", "Dice pass on seven-out and come-out craps")],
)
def test_the_screen_says_when_the_dice_pass(chromium: Browser, table: TerminalProcess, rules: str, words: str) -> None:
    begin(table, rules)
    with touch_page(chromium) as page:
        show(page, table)
        expect(page.get_by_test_id("dice-pass-rule")).to_have_text(words)
        touch(page, "button-help")
        source = rule_sets.load(rules)["dice_pass"]["source"]
        expect(page.get_by_test_id("help-status")).to_contain_text(f"{words} ({source})")
        told = table.client.get("/api/state?language=es").json()["table"]["dice_pass"]["source"]
        assert told == {"us-vegas": "casa: convención del Strip de Las Vegas", "pe-1999": PERU_ES}[rules]


def test_what_a_correction_changes_stands_there_before_it_is_confirmed(page: Page, table: TerminalProcess) -> None:
    bet(table, "3", "pass_line", 10)
    bet(table, "5", "dont_pass", 20)
    bet(table, "7", "field", 10)
    roll(page, 6, 5)
    touch(page, "button-correct", "right-die-5", "right-die-6")
    compared = page.get_by_test_id("compared")
    expect(compared).to_have_text("These dice are entered already.")
    expect(page.get_by_test_id("confirm-correct")).to_be_disabled()
    # Eleven had given player 3 ten and their stake, and taken player 5's; four makes a point of it. The field wins on
    # both.
    touch(page, "right-die-2", "right-die-2")
    expect(page.get_by_test_id("compared-point")).to_have_text("Point: none → 4")
    expect(compared.locator("li")).to_have_text(
        ["3Take back 10stake 10 to layouttake back 10", "5Give back 20hand out 20", "7Take back 10Pay 100"]
    )
    assert layout_faults(page) == []
    # Two is craps: pass and don't pass change hands, and the field pays twice.
    touch(page, "right-die-1", "right-die-1")
    expect(compared.locator("li")).to_have_text(
        [
            "3Take back 10Collect 10stake 10 to layouttake back 20",
            "5Give back 20Pay 20stake 20 backhand out 40",
            "7Take back 10Pay 20hand out 10",
        ]
    )
    assert layout_faults(page) == []
    assert table.state()["last_roll"]["dice"] == [6, 5]
    touch(page, "confirm-correct")
    expect(page.get_by_test_id("last-roll")).to_have_attribute("data-dice", "1-1")
    # The screen that follows has the same sums: 10 + 10, 20; 10, 20 + 20.
    expect(page.get_by_test_id("step-undo")).to_contain_text("Take back 20 · Give back 20")
    expect(page.get_by_test_id("step-settle")).to_contain_text("Collect 10 · Pay 40")


def test_a_comparison_is_refused_in_plain_words(table: TerminalProcess) -> None:
    ask = table.client.get
    assert ask("/api/correction", params={"dice": "2-1"}).json()["refused"] == "nothing_to_correct"
    table.do({"roll": [2, 1]})
    same = ask("/api/correction", params={"dice": "1-2"})
    assert (same.status_code, same.json()["refused"]) == (409, "nothing_to_correct")
    for dice in ("", "7-1", "1-2-3", "1_2"):
        wrong = ask("/api/correction", params={"dice": dice})
        assert (wrong.status_code, wrong.json()["field"]) == (400, "dice")


@pytest.mark.parametrize("rules", ["us-vegas", "es-1979"])
def test_layout_and_results_fit_in_every_language(chromium: Browser, table: TerminalProcess, rules: str) -> None:
    begin(table, rules)
    for player, kind, amount in (("3", "pass_line", 25), ("12", "dont_pass", 50)):
        bet(table, player, kind, amount)
    table.do({"roll": [2, 4]})
    for player, kind, amount, number in (
        ("5", "come", 1500, None),
        ("2", "place", 3000, 8),
        ("7", "place", 11, 8),
        ("7", "place_to_lose", 25, 4),
        ("11", "big", 10, 8),
        ("9", "hardway", 5, 8),
        ("14", "horn", 20, None),
        ("14", "any_craps", 5, None),
        ("14", "any_seven", 5, None),
    ):
        bet(table, player, kind, amount, number)
    for screen in (SCREEN, LARGE):
        for language in ("es", "pt", "zh-Hant"):
            with touch_page(chromium, screen) as page:
                page.context.add_cookies([{"name": "language", "value": language, "url": table.address}])
                show(page, table)
                assert layout_faults(page) == [], (rules, language, "layout")
                if screen is LARGE and language == "zh-Hant":
                    table.do({"roll": [3, 5]})
                    expect(page.get_by_test_id("pay-list")).to_be_visible()
                    assert layout_faults(page) == [], (rules, language, "results")
