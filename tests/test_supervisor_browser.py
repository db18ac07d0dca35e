"""The supervisor's pages in a browser: signing in by touch and by keyboard, corrections, the journal."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Request, ViewportSize, expect

from device.people_file import Listed, changing, hashed
from provisioning.settle import settle
from tests.axe_rig import axe_faults
from tests.browser_rig import SCREEN, SCREEN_16_TO_9, layout_faults, touch, touch_page, unhurry
from tests.terminal_rig import TerminalProcess, lines_in

MARTA, PIN = "Marta Gil", "2580"
LARGE: ViewportSize = {"width": 1280, "height": 720}
WAIT_MS = 60_000
DONE_HERE = ("no_more_bets", "roll", "reserve_explained")
RECORD = """async (action) => {
  const { record } = await import("/static/dice_dialog.js");
  const { mayEnter } = await import("/static/console_state.js");
  // A page that waits for an answer, or hears nothing at the moment, sends nothing.
  while (!mayEnter()) await new Promise((done) => setTimeout(done, 50));
  return record(action);
}"""
EXPLAIN = {"explain": {"reason": "inspector_request", "as": "supervisor", "done_by": MARTA}}
LOST = {"set": "A", "to": "written_off", "reason": "die_off_table", "dice": ["004711"], "done_by": MARTA}
ANSWERED_LATE = """async () => {
  const { asIHaveSignedIn, keepWord } = await import("/static/sign_in.js");
  const before = sessionStorage.getItem("boxman-page");
  const told = await asIHaveSignedIn(async () => { keepWord("another"); return { name: null }; });
  keepWord(before);
  return told;
}"""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TerminalProcess]:
    """Six is the point; five-six was thrown, which a boxman entered for six-two; then one-two."""
    folder = tmp_path_factory.mktemp("supervisor")
    data = folder / "data"
    data.mkdir()
    proof = hashed(PIN)
    with changing(data) as write:
        write((Listed(MARTA, "supervisor", 1, proof), Listed("Bo Lin", "technician", 1, proof)))
    configuration = folder / "table.toml"
    # A busy machine is nobody who has gone.
    configuration.write_text("[console]\nsign_out_s = 540\n")
    with TerminalProcess(data, configuration=configuration) as process:
        process.do({"shooter": "3"})
        process.do({"bet": {"player": "3", "kind": "pass_line", "amount": 10}})
        process.do({"roll": [2, 4]})
        process.do({"bet": {"player": "5", "kind": "field", "amount": 5}})
        process.do({"bet": {"player": "7", "kind": "place", "amount": 12, "number": 8}})
        process.do({"roll": [5, 6]})
        process.do({"roll": [1, 2]})
        yield process


@pytest.fixture
def page(chromium: Browser, table: TerminalProcess) -> Iterator[Page]:
    with touch_page(chromium) as opened:
        opened.goto(f"{table.address}/supervisor")
        yield opened


def seen(page: Page, name: str) -> None:
    expect(page.get_by_test_id(name)).to_be_visible(timeout=WAIT_MS)


def sign_in(page: Page, name: str = MARTA, first: str = "tab-table") -> None:
    seen(page, f"sign-in-{name}")
    touch(page, f"sign-in-{name}", *(f"pin-{digit}" for digit in PIN), "pin-ok")
    seen(page, first)


def sign_out(page: Page) -> None:
    """And wait for it: a page that is closed at once tells nobody."""
    touch(page, "sign-out")
    seen(page, f"sign-in-{MARTA}")


def kinds(table: TerminalProcess) -> list[str]:
    return [line.rpartition('"type":"')[2].partition('"')[0] for line in lines_in(table.data)]


def test_a_pin_is_entered_by_touch_or_keyboard_and_a_wrong_one_opens_nothing(page: Page) -> None:
    seen(page, f"sign-in-{MARTA}")
    touch(page, f"sign-in-{MARTA}")
    page.keyboard.type("2581")
    assert "2581" not in page.content()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("notice")).to_have_text("Wrong PIN; 4 more tries", timeout=WAIT_MS)
    expect(page.get_by_test_id("tab-table")).to_be_hidden()
    sign_in(page)
    # The page keeps its sign-in when it is loaded anew; another tab has none.
    page.reload()
    seen(page, "tab-table")
    other = page.context.new_page()
    other.goto(page.url)
    seen(other, f"sign-in-{MARTA}")
    expect(other.get_by_test_id("tab-table")).to_be_hidden()
    other.close()
    page.bring_to_front()
    seen(page, "tab-table")
    # What was asked before somebody signed in, and is answered afterwards, says nothing of who is signed in.
    assert page.evaluate(ANSWERED_LATE) is None
    sign_out(page)


def test_who_is_no_supervisor_only_reads(page: Page) -> None:
    sign_in(page, "Bo Lin", "tab-journal")
    for name in ("table", "corrections", "alerts"):
        expect(page.get_by_test_id(f"tab-{name}")).to_be_hidden()
    seen(page, "hands")
    sign_out(page)


def test_an_earlier_roll_is_corrected_after_a_look_at_what_becomes(page: Page, table: TerminalProcess) -> None:
    sign_in(page)
    # An answer that does not come is asked for again.
    page.route("**/api/rolls*", lambda route: route.abort(), times=1)
    touch(page, "tab-corrections", "roll-2", "right-1-6", "right-2-2")
    seen(page, "players")
    rows = page.get_by_test_id("players").locator("[data-player]")
    told = [(row.get_attribute("data-player"), row.get_attribute("data-difference")) for row in rows.all()]
    assert told == [("5", "-10"), ("7", "14")]
    expect(page.get_by_test_id("confirm-correction")).to_be_disabled()
    touch(page, "reason-other")
    page.keyboard.type("seen from above")
    page.keyboard.press("Enter")
    # Loaded anew in the middle, nothing was done.
    page.reload()
    seen(page, "tab-table")
    assert table.state()["last_roll"]["dice"] == [1, 2]
    assert "roll_corrected" not in kinds(table)
    touch(page, "tab-corrections", "roll-2", "right-1-6", "right-2-2")
    seen(page, "confirm-correction")
    touch(page, "reason-camera")
    # The game goes on meanwhile: what was looked at is looked at again.
    table.do({"bet": {"player": "9", "kind": "field", "amount": 5}})
    touch(page, "confirm-correction")
    expect(page.get_by_test_id("notice")).to_have_attribute("data-code", "stale", timeout=WAIT_MS)
    expect(page.get_by_test_id("confirm-correction")).to_be_enabled(timeout=WAIT_MS)
    page.get_by_test_id("confirm-correction").dblclick()
    expect(page.get_by_test_id("notice")).to_have_text("Roll 2 is corrected.", timeout=WAIT_MS)
    assert kinds(table).count("roll_corrected") == 1, "a double touch corrects once"
    state = table.state()
    assert state["recent_rolls"] == [[2, 4], [6, 2], [1, 2]]
    (alert,) = (alert for alert in state["alerts"] if alert["code"] == "roll_corrected")
    assert alert["text"] == "Roll 2 was corrected to 6-2. Hand out 14 to 7. Take back 10 from 5."
    touch(page, "tab-alerts", f"acknowledge-{alert['id']}")
    expect(page.get_by_test_id(f"acknowledge-{alert['id']}")).to_be_hidden(timeout=WAIT_MS)
    assert [alert for alert in table.state()["alerts"] if alert["code"] == "roll_corrected"] == []
    sign_out(page)


def test_a_settlement_is_adjusted_with_its_reason(page: Page, table: TerminalProcess) -> None:
    sign_in(page)
    house = table.state()["house"]
    touch(page, "tab-corrections", "roll-1", "adjust", "add-4")
    touch(page, "ask-digit-1", "ask-digit-4", "ask-ok", "reason-paid", "confirm-adjustment")
    expect(page.get_by_test_id("notice")).to_have_text("The settlement of roll 1 is adjusted.", timeout=WAIT_MS)
    assert table.state()["house"] == house - 14
    sign_out(page)


def test_limits_are_set_with_the_keyboard_and_the_table_says_so(page: Page, table: TerminalProcess) -> None:
    sign_in(page)
    touch(page, "limit-min")
    page.keyboard.type("10")
    touch(page, "limit-max")
    page.keyboard.type("1000")
    touch(page, "set-limits")
    table.wait_for_state(lambda state: state["table"]["limits"] == {"min": 10, "max": 1000}, "the limits are set")
    sign_out(page)


def test_the_journal_is_searched_a_roll_settled_again_and_a_session_saved(page: Page, tmp_path: Path) -> None:
    sign_in(page)
    touch(page, "tab-journal")
    page.get_by_test_id("filter-type").select_option("roll")
    touch(page, "filter-roll", "ask-digit-1", "ask-ok", "search")
    seen(page, "found")
    events = page.locator("[data-type]")
    expect(events).to_have_count(1)
    expect(events.first).to_have_attribute("data-type", "roll")
    touch(page, f"settle-{events.first.get_attribute('data-seq')}")
    expect(page.get_by_test_id("settled")).to_have_attribute("data-equal", "true", timeout=WAIT_MS)
    touch(page, "tab-shooters")
    seen(page, "hands")
    expect(page.get_by_test_id("hands").locator("[data-shooter='3']")).to_have_count(1)
    touch(page, "tab-sessions")
    seen(page, "export-scenario-1")
    with page.expect_download(timeout=WAIT_MS) as saving:
        touch(page, "export-scenario-1")
    saved = tmp_path / "session.json"
    saving.value.save_as(saved)
    assert settle([saved], None) == 0, "the saved session, with its corrected roll, settles as it was told"
    sign_out(page)


def test_a_supervisors_sign_in_goes_along_to_the_boxmans_screen(page: Page, table: TerminalProcess) -> None:
    sign_in(page)
    touch(page, "to-console")
    expect(page.get_by_test_id("signed-in")).to_contain_text(f"{MARTA} is signed in", timeout=WAIT_MS)
    left = page.get_by_test_id("signed-in-left")
    expect(left).to_have_text(re.compile("^[0-9]:[0-5][0-9]$"))
    first = left.inner_text()
    posted: list[tuple[str, bool]] = []

    def note(request: Request) -> None:
        if request.method == "POST":
            posted.append((urlsplit(request.url).path, "x-boxman-page" in request.headers))

    page.on("request", note)
    # The boxman plays on, in nobody's name; the supervisor's time runs all the same.
    number = table.state()["roll_number"]
    touch(page, "button-no-more-bets", "die-1", "die-3")
    table.wait_for_state(lambda state: state["roll_number"] == number + 1, "the roll is entered")
    expect(left).not_to_have_text(first)
    assert left.inner_text() < first
    # What only a supervisor does is done in the supervisor's name.
    table.hand(lid="open")
    table.wait_for_state(lambda state: state["reserve"]["open"], "the lid is open")
    table.hand(lid="closed")
    table.wait_for_state(lambda state: not state["reserve"]["open"], "the lid is shut")
    expect(page.get_by_test_id("die-1")).to_be_enabled()
    assert page.evaluate(RECORD, EXPLAIN)
    # What got no answer in time was sent again.
    assert list(dict.fromkeys(posted)) == [("/api/no_more_bets", False), ("/api/command", False), ("/api/dice", True)]
    told = [json.loads(line) for line in lines_in(table.data)]
    done = [(event["type"], event["data"].get("person")) for event in told if event["type"] in DONE_HERE][-3:]
    assert done == [("no_more_bets", None), ("roll", None), ("reserve_explained", MARTA)]
    # There is no such die; who writes it off is told all the same.
    with page.expect_request("**/api/dice*") as sent:
        assert not page.evaluate(RECORD, {"remove": LOST})
    assert "x-boxman-page" in sent.value.headers
    page.get_by_test_id("signed-in").get_by_test_id("sign-out").tap()
    expect(page.get_by_test_id("signed-in")).to_be_hidden(timeout=WAIT_MS)
    table.wait_for_state(lambda state: state["people"]["signed_in"] == [], "nobody is signed in")


@pytest.mark.parametrize("screen", [SCREEN, SCREEN_16_TO_9, LARGE], ids=["800x480", "853x480", "1280x720"])
def test_nothing_is_cut_off_or_too_small_for_a_finger(
    chromium: Browser, table: TerminalProcess, screen: ViewportSize
) -> None:
    # Colours, roles and names are the same on all.
    def seen_wrong(page: Page) -> list[str]:
        return layout_faults(page) + (axe_faults(page) if screen == SCREEN else [])

    faults: dict[str, Any] = {}
    with touch_page(chromium, screen) as page:
        # What a page shows whose terminal is out of reach for a moment is another page.
        unhurry(page)
        page.goto(f"{table.address}/supervisor")
        seen(page, f"sign-in-{MARTA}")
        touch(page, f"sign-in-{MARTA}")
        faults["pin"] = seen_wrong(page)
        touch(page, *(f"pin-{digit}" for digit in PIN), "pin-ok")
        for tab, there in (
            ("table", "table-says"),
            ("corrections", "roll-1"),
            ("alerts", "alert-rows"),
            ("shooters", "hands"),
            ("sessions", "export-scenario-1"),
            ("journal", "search"),
        ):
            touch(page, f"tab-{tab}")
            seen(page, there)
            faults[tab] = seen_wrong(page)
        touch(page, "tab-corrections", "roll-1")
        faults["dice"] = seen_wrong(page)
        touch(page, "right-1-5", "right-2-3")
        page.locator("[data-testid=confirm-correction], [data-testid=adjust-instead]").wait_for()
        faults["comparison"] = seen_wrong(page)
        touch(page, "correction-back", "roll-1", "adjust")
        faults["adjustment"] = seen_wrong(page)
        sign_out(page)
    assert {name: found for name, found in faults.items() if found} == {}
