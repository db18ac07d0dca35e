"""Attempts to break the console: two browsers, pages of before, the way back, double touches, strangers, many bets.

What other files try is not tried again: a terminal that is killed under the page, dice that two people key, a
supervisor's correction that is confirmed twice or loaded anew (test_console_browser.py, test_supervisor_browser.py),
and requests made out of the description (test_openapi.py).
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from device.console.http_interface import DESCRIPTION
from device.people_file import Listed, changing, hashed
from engine_lite.table import BETS_MAX
from tests.browser_rig import layout_faults, touch, touch_page, unhurry
from tests.terminal_rig import TerminalProcess, lines_in, wait_for

MARTA, PIN = "Marta Gil", "2580"
MARKUP = '<img src=x onerror="throw 1"><b>x</b>'
# The stream of this page says nothing but what a test lets it say.
OWN_STREAM = """window.EventSource = class {
  constructor() { window.stream = this; }
};"""
LANDS_AGAIN = """(proposal) => {
  const bar = document.getElementById("proposals");
  window.landed = 0;
  new MutationObserver(() => {
    if (bar.dataset.proposal !== proposal || window.landed) return;
    window.landed += 1;
    bar.querySelector("[data-testid=proposal-accept]").click();
  }).observe(bar, { attributes: true, childList: true, subtree: true });
}"""
LATE = """(state) => {
  window.stream.onmessage({ data: JSON.stringify(state) });
  return [document.getElementById("last-roll").dataset.dice, document.getElementById("overlay-no-roll").hidden];
}"""
AFTER_A_LOSS = f"(state) => {{ window.stream.onerror(); return ({LATE})(state); }}"


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TerminalProcess]:
    """One virtual table, with a supervisor who has a PIN and stays signed in, for the whole file."""
    folder = tmp_path_factory.mktemp("attacks")
    data, configuration = folder / "data", folder / "table.toml"
    data.mkdir()
    configuration.write_text("[console]\nsign_out_s = 3600\n")
    with changing(data) as write:
        write((Listed(MARTA, "supervisor", 1, hashed(PIN)),))
    with TerminalProcess(data, configuration=configuration) as process:
        yield process


@pytest.fixture
def table(terminal: TerminalProcess) -> TerminalProcess:
    """The table opened anew, with nothing on the layout."""
    if terminal.state()["bets"]:
        terminal.do({"roll": [3, 4]})
    assert terminal.open_table("us-vegas", limits={"min": 5, "max": 500}).status_code == 200
    return terminal


@pytest.fixture
def page(chromium: Browser, table: TerminalProcess) -> Iterator[Page]:
    """The console on the touch screen, ready for the first touch."""
    with touch_page(chromium) as console:
        show(console, table)
        yield console


def show(page: Page, table: TerminalProcess) -> None:
    unhurry(page)
    page.goto(table.address)
    expect(page.get_by_test_id("die-1")).to_be_enabled()


def propose(table: TerminalProcess, name: str, *bets: dict[str, Any]) -> None:
    body = {"source": "tray-1", "id": name, "after_roll": table.state()["roll_number"], "bets": bets}
    assert table.client.post("/api/proposals", json=body).json()["state"] == "waiting"


def standing(table: TerminalProcess) -> dict[tuple[str, str], int]:
    return {(one["player"], one["kind"]): one["amount"] for one in table.state()["bets"]}


def field(player: int, amount: int = 5) -> dict[str, Any]:
    return {"player": str(player), "kind": "field", "amount": amount}


def sign_in(page: Page, table: TerminalProcess) -> None:
    page.goto(f"{table.address}/supervisor")
    touch(page, f"sign-in-{MARTA}", *(f"pin-{digit}" for digit in PIN), "pin-ok")
    expect(page.get_by_test_id("tab-table")).to_be_visible()


def test_two_browsers_that_accept_the_same_proposal_book_it_once(
    chromium: Browser, page: Page, table: TerminalProcess
) -> None:
    with touch_page(chromium) as other:
        show(other, table)
        propose(table, "attack-0001", field(1), field(2))
        # What this page holds back of its touch goes out when the other's is on the disk.
        held: list[Any] = []
        page.route("**/api/proposals/accept*", lambda route: held.append(route), times=1)
        touch(page, "proposal-accept")
        wait_for(lambda: page.evaluate("1") and held, "the touch is held back")
        touch(other, "proposal-accept")
        expect(other.get_by_test_id("proposals")).to_be_hidden()
        held[0].continue_()
        expect(page.get_by_test_id("notice")).to_have_text("This proposal was accepted")
    assert standing(table) == {("1", "field"): 5, ("2", "field"): 5}


def test_a_second_touch_does_not_accept_the_proposal_that_comes_after(page: Page, table: TerminalProcess) -> None:
    many = [field(player) for player in range(1, 17)]
    propose(table, "attack-0002", *many)
    propose(table, "attack-0003", field(3, 500))
    accept = page.get_by_test_id("proposal-accept")
    # Not all are to be read in the bar; how many and how much is.
    expect(accept).to_contain_text("16 bets: 80")
    assert layout_faults(page) == []
    # The finger lands again as soon as the next one stands there.
    page.evaluate(LANDS_AGAIN, "attack-0003")
    accept.tap()
    expect(accept).to_contain_text("1 bet: 500")
    expect(accept).to_be_enabled()
    assert page.evaluate("window.landed") == 1
    assert standing(table) == {(str(player), "field"): 5 for player in range(1, 17)}
    assert [one["proposal"] for one in table.state()["proposals"]] == ["attack-0003"]


def test_a_state_of_before_that_arrives_late_is_not_shown_again(page: Page, table: TerminalProcess) -> None:
    before = table.state()
    table.do({"roll": [6, 5]})
    page.add_init_script(OWN_STREAM)
    page.reload()
    expect(page.get_by_test_id("last-roll")).to_have_attribute("data-dice", "6-5")
    touch(page, "button-no-roll")
    expect(page.get_by_test_id("overlay-no-roll")).to_be_visible()
    # A dialog closes when another roll comes; none has come.
    assert page.evaluate(LATE, before) == ["6-5", False]
    # After the stream was lost, it may be another terminal that speaks.
    assert page.evaluate(AFTER_A_LOSS, before)[0] == ""


def test_a_reload_and_the_way_back_in_the_middle_of_a_correction_leave_no_doubt(
    page: Page, table: TerminalProcess
) -> None:
    touch(page, "die-6", "die-5")
    expect(page.get_by_test_id("last-roll")).to_have_attribute("data-dice", "6-5")
    touch(page, "button-correct", "right-die-2")
    table.wait_for_state(lambda state: state["correcting"], "the next dice correct")
    page.reload()
    banner = page.get_by_test_id("correcting")
    expect(banner).to_contain_text("The next two dice correct roll 1.")
    expect(page.get_by_test_id("die-one")).to_have_attribute("data-value", "")
    # Elsewhere meanwhile; and what another screen enters is there on the way back.
    page.goto(f"{table.address}/supervisor")
    expect(page.get_by_test_id(f"sign-in-{MARTA}")).to_be_visible()
    page.go_back()
    expect(banner).to_be_visible()
    touch(page, "do-not-correct")
    expect(banner).to_be_hidden()
    page.goto(f"{table.address}/supervisor")
    table.do({"roll": [1, 1]})
    page.go_back()
    expect(page.get_by_test_id("last-roll")).to_have_attribute("data-dice", "1-1")
    touch(page, "die-2", "die-2")
    expect(page.get_by_test_id("last-roll")).to_have_attribute("data-dice", "2-2")
    assert table.state()["recent_rolls"][-3:] == [[6, 5], [1, 1], [2, 2]]


def test_a_supervisor_who_signs_in_on_another_screen_does_nothing_more_on_the_first(
    chromium: Browser, page: Page, table: TerminalProcess
) -> None:
    table.do({"bet": field(5)})
    table.do({"roll": [6, 5]})
    table.do({"no_roll": "slid", "note": MARKUP})
    sign_in(page, table)
    touch(page, "tab-corrections", "roll-1", "right-1-4", "right-2-4", "reason-camera")
    expect(page.get_by_test_id("confirm-correction")).to_be_enabled()
    # It does not hear of it, as on a slow network.
    page.route("**/api/people*", lambda route: route.abort())
    with touch_page(chromium) as other:
        unhurry(other)
        sign_in(other, table)
        # The first page still shows what was to be confirmed; its word is worth nothing any more.
        touch(page, "confirm-correction")
        expect(page.get_by_test_id("notice")).to_have_attribute("data-code", "needs_sign_in")
        page.unroute("**/api/people*")
        expect(page.get_by_test_id(f"sign-in-{MARTA}")).to_be_visible()
        assert table.state()["last_roll"]["dice"] == [6, 5]
        touch(other, "tab-journal", "search")
        expect(other.locator("[data-type=no_roll]").first).to_contain_text(MARKUP)
        assert other.locator("body img").count() == 0
        # Signed out, the way back leads to the pad and to nothing behind it.
        touch(other, "to-console")
        other.get_by_test_id("signed-in").get_by_test_id("sign-out").tap()
        expect(other.get_by_test_id("signed-in")).to_be_hidden()
        other.go_back()
        expect(other.get_by_test_id(f"sign-in-{MARTA}")).to_be_visible()
        expect(other.get_by_test_id("tab-table")).to_be_hidden()
    corrected = [line for line in lines_in(table.data) if '"type":"correct"' in line]
    assert corrected == []


def test_a_page_from_elsewhere_does_nothing_whatever_it_posts_to(table: TerminalProcess) -> None:
    paths = json.loads(DESCRIPTION.read_text(encoding="utf-8"))["paths"]
    posted = [path for path, methods in paths.items() if "post" in methods]
    assert len(posted) > 15
    for path in posted:
        for headers, field_named in (
            ({"Origin": "http://elsewhere.example"}, "Origin"),
            ({"Origin": "null"}, "Origin"),
            # What a form can send without asking.
            ({"Content-Type": "text/plain"}, "Content-Type"),
        ):
            sent = {"Content-Type": "application/json"} | headers
            body = json.dumps({"id": "from-elsewhere-1", "step": {"roll": [1, 1]}})
            answer = table.client.post(path, content=body, headers=sent)
            assert (answer.status_code, answer.json()["field"]) == (400, field_named), path
        strange = table.client.post(path, json={}, headers={"Host": "elsewhere.example"})
        assert (strange.status_code, strange.text) == (400, "Invalid host header"), path
        # Nobody is told that another page may ask.
        asked = table.client.options(path, headers={"Origin": "http://elsewhere.example"})
        assert "access-control-allow-origin" not in asked.headers
    assert not [line for line in lines_in(table.data) if "from-elsewhere-1" in line]


def test_more_bets_than_any_layout_holds_are_refused_and_the_page_stays_whole(
    page: Page, table: TerminalProcess
) -> None:
    kinds: list[dict[str, Any]] = [
        {"kind": kind, "number": box} for kind in ("place", "buy", "lay") for box in (4, 5, 6, 8, 9, 10)
    ]
    kinds += [{"kind": "field"}, {"kind": "pass_line"}]
    number = table.state()["roll_number"]
    for name in range(BETS_MAX // len(kinds)):
        bets = [bet | {"player": f"P{name}", "amount": 60} for bet in kinds]
        said = {"source": "tray-1", "id": f"crowd-{name:04}"}
        table.client.post("/api/proposals", json=said | {"after_roll": number, "bets": bets}).raise_for_status()
        accepted = {"id": table.fresh_id(), "source": "tray-1", "proposal": said["id"]}
        table.client.post("/api/proposals/accept", json=accepted).raise_for_status()
    refused = table.post({"bet": field(1)})
    assert (refused.status_code, refused.json()["refused"]) == (409, "above_max")
    assert refused.json()["message"] == "the layout holds at most 1,000 bets"
    expect(page.locator("#button-bets-count")).to_have_text("1000")
    assert layout_faults(page) == []
    touch(page, "button-bets", "player-P49", "kind-pass_line")
    expect(page.get_by_test_id("bet-repeat")).to_be_disabled()
    assert layout_faults(page) == []
    touch(page, "close-bets", "die-3", "die-4")
    # The field of each loses, the line and six lay bets win; on a come-out the others stay as they are.
    expect(page.get_by_test_id("collect-count")).to_have_text("50")
    expect(page.get_by_test_id("pay-count")).to_have_text("350")
    assert layout_faults(page) == []
    state = table.state()
    assert state["roll_number"] == number + 1
    assert len(state["bets"]) == 900
    assert state["halted"] is None
