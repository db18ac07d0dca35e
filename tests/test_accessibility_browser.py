"""What axe-core says of pages that no other test walks through.

The boxman's screen with all its dialogs is looked at in test_languages_browser.py, the supervisor's pages in
test_supervisor_browser.py, the commissioning in test_commission_browser.py, the pit's in test_pit_page.py.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from device.people_file import Listed, changing, hashed
from tests.axe_rig import axe_faults
from tests.browser_rig import SCREEN, SCREEN_16_TO_9, TOUCH_PX, touch, touch_page, touch_px
from tests.terminal_rig import TerminalProcess

MARTA, PIN = "Marta Gil", "2580"
BROKEN = """<!doctype html><html lang="en"><title>broken</title><body style="background:#fff">
<p style="color:#999">pale</p><button></button><input></body></html>"""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TerminalProcess]:
    """A table with a supervisor, a display for players, and three rolls."""
    folder = tmp_path_factory.mktemp("accessible")
    configuration = folder / "table.toml"
    configuration.write_text('[players_display]\nenabled = true\nhouse_text = "Good luck"\n')
    data = folder / "data"
    data.mkdir()
    with changing(data) as write:
        write((Listed(MARTA, "supervisor", 1, hashed(PIN)),))
    with TerminalProcess(data, configuration=configuration) as process:
        process.do({"shooter": "3"})
        process.do({"bet": {"player": "3", "kind": "pass_line", "amount": 10}})
        for dice in ([2, 4], [5, 6], [1, 2]):
            process.do({"bet": {"player": "5", "kind": "field", "amount": 5}})
            process.do({"roll": dice})
        yield process


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    with touch_page(chromium) as opened:
        yield opened


def test_a_supervisor_who_is_back_on_the_console(page: Page, table: TerminalProcess) -> None:
    page.goto(f"{table.address}/supervisor")
    touch(page, f"sign-in-{MARTA}", *(f"pin-{digit}" for digit in PIN), "pin-ok")
    expect(page.get_by_test_id("tab-table")).to_be_visible()
    page.goto(table.address)
    expect(page.get_by_test_id("signed-in")).to_be_visible()
    assert axe_faults(page) == []


def test_statistics_players_display_and_virtual_table(page: Page, table: TerminalProcess) -> None:
    found = {}
    for path, there in (("players", "last"), ("virtual", "virtual-phase"), ("statistics", "bet-whole")):
        page.goto(f"{table.address}/{path}")
        expect(page.get_by_test_id(there)).to_be_visible()
        found[path] = axe_faults(page)
    assert {path: faults for path, faults in found.items() if faults} == {}


def test_bars_of_proposals_and_of_a_page_that_has_failed(page: Page, table: TerminalProcess) -> None:
    bets = [{"player": "9", "kind": "field", "amount": 5}]
    body = {"source": "tray-1", "id": "proposal-1", "after_roll": table.state()["roll_number"], "bets": bets}
    assert table.client.post("/api/proposals", json=body).status_code == 200
    page.goto(table.address)
    expect(page.get_by_test_id("proposals")).to_be_visible()
    page.evaluate("document.getElementById('failed-page').hidden = false")
    assert axe_faults(page) == []


def test_the_tool_finds_what_is_wrong_and_a_target_is_nine_millimetres(page: Page) -> None:
    page.set_content(BROKEN)
    assert {fault.partition(":")[0] for fault in axe_faults(page)} == {"color-contrast", "button-name", "label"}
    # Seven inches from corner to corner are 800 pixels across 152.5 mm: 9 mm are 47.2 of them.
    width_mm = 7 * 25.4 * SCREEN["width"] / (SCREEN["width"] ** 2 + SCREEN["height"] ** 2) ** 0.5
    assert TOUCH_PX - 1 < 9 * SCREEN["width"] / width_mm <= TOUCH_PX
    # At 1280 x 720 they are 155 mm across, and 1.5 times the pixels that a page is laid out for: 9 mm are 74.3.
    assert touch_px(SCREEN_16_TO_9) * 1.5 == pytest.approx(74.3, abs=0.05)


def test_every_page_is_one_that_is_looked_at() -> None:
    pages = {path.stem for path in (Path(__file__).parent.parent / "device/console/pages").glob("*.html")}
    assert pages == {"console", "supervisor", "commission", "statistics", "players", "virtual"}
