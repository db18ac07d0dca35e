"""The page of a commissioning on a touch screen and with a keyboard, in all languages."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, ViewportSize, expect

from device.commissioning.machine import Commissioning, Result
from device.commissioning.steps import Step, steps_of
from device.commissioning.view import commissioning_view
from device.commissioning.words import Words
from device.languages.languages import LANGUAGES
from device.people_file import Listed, changing, hashed
from drivers.virtual_table import DEMO_PINS
from drivers.wiring import Wiring
from tests.axe_rig import axe_faults
from tests.browser_rig import EXPECT_MS, SCREEN, layout_faults, touch, touch_page
from tests.commissioning_rig import SMALL, press_as_asked, press_until
from tests.journal_rig import KEY
from tests.terminal_rig import TerminalProcess, lines_in

ANA, PIN = "Ana Ruiz", "2580"
LARGE: ViewportSize = {"width": 1280, "height": 720}
# One step of each kind, with all that is waited for in it.
LOOKED_AT = {
    "puck_6": ("closed",),
    "puck_off_turned": ("turned",),
    "box_10": ("closed", "open"),
    "dice_key_6": ("closed",),
    "lamp_dice_key_6": ("lit",),
    "lid": ("open", "closed"),
    "slot_6": ("open", "closed"),
    "door": ("open", "closed"),
    "node": ("plugged", "unplugged"),
    "network": ("plugged", "unplugged"),
    "power": ("restart",),
}
# What may stand in the way of a step, of the longest.
OTHERS = {"others": ["puck_4", "puck_5", "box_9", "dice_key_3", "slot_4"]}
UNREAD = {"unread": "GPIO busy: gpio:16 is held by another process, or by SPI or 1-Wire; look for it in config.txt"}
REASON = "the wires of ON and OFF are crossed, and the lamp behind them belongs to another button of this table"
# A page that waits for its answers, however long a busy machine takes.
_PATIENT = "AbortSignal.timeout = () => new AbortController().signal;"
# The page asks again as soon as it is answered, which the terminal is slow to do where nothing is new.
_UNHURRIED = """const ask = fetch;
globalThis.fetch = (...what) => new Promise((done) => setTimeout(done, 100)).then(() => ask(...what));"""
COMMISSIONED = "The table is commissioned. This hand moves it all the same."
_NOTE_BAR = """() => {
  const bar = document.getElementById("offline");
  globalThis.told = [];
  new MutationObserver(() => told.push(bar.hidden ? "nothing" : bar.textContent))
    .observe(bar, { attributes: true, childList: true });
}"""
# What no rule of layout_faults sees: words beyond the edge of what holds them.
_CUT = """() => [...document.querySelectorAll("#do, #what, #hint, #say, #begin, #outcome, #title, #dialog-title")]
  .filter((node) => node.checkVisibility())
  .filter((node) => node.scrollWidth > node.clientWidth + 1 || node.scrollHeight > node.clientHeight + 1)
  .map((node) => `${node.id} is cut off: ${node.innerText.slice(0, 60)}`)"""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TerminalProcess]:
    """A table with few wires and a technician who has a PIN."""
    folder = tmp_path_factory.mktemp("commission")
    configuration, data = folder / "table.toml", folder / "data"
    configuration.write_text(SMALL)
    data.mkdir()
    with changing(data) as write:
        write((Listed(ANA, "technician", 1, hashed(PIN)), Listed("Marta Gil", "supervisor", 1, hashed(PIN))))
    with TerminalProcess(data, configuration=configuration) as process:
        yield process


def seen(page: Page, name: str, text: str) -> None:
    expect(page.get_by_test_id(name)).to_contain_text(text)


def asked(page: Page, step: str, wanted: str) -> None:
    expect(page.get_by_test_id("step")).to_have_attribute("data-step", step)
    expect(page.get_by_test_id("step")).to_have_attribute("data-wanted", wanted)


@contextmanager
def answered(page: Page) -> Iterator[None]:
    """What is said here is answered: until then, the page takes nothing more that is said."""
    with page.expect_request_finished(lambda request: request.method == "POST"):
        yield


def faults(page: Page) -> list[str]:
    found: list[str] = page.evaluate(_CUT)
    return layout_faults(page) + found + axe_faults(page)


def test_a_technician_leads_the_table_from_play_through_its_commissioning_and_back(
    chromium: Browser, table: TerminalProcess
) -> None:
    with touch_page(chromium) as page:
        page.goto(f"{table.address}/commission")
        seen(page, "begin-says", "The table is open. Close it first.")
        expect(page.get_by_test_id("begin-now")).to_be_disabled()
        assert faults(page) == []
        touch(page, "begin-sign-in", f"sign-in-{ANA}", *(f"pin-{digit}" for digit in PIN), "pin-ok")
        expect(page.get_by_test_id("sign-out")).to_be_visible()
        expect(page.get_by_test_id("to-commission")).to_be_hidden()
        assert table.client.post("/api/close", json={"id": table.fresh_id()}).status_code == 200
        touch(page, "to-commission")
        expect(page.get_by_test_id("begin-now")).to_be_enabled()
        touch(page, "begin-now")
        asked(page, "on", "closed")
        played = kinds(table)
        seen(page, "progress", "1 of 7")
        seen(page, "what", "ON button gpio:5")
        seen(page, "do", "Press it, and hold it for a moment.")
        assert faults(page) == []

        # What is done at the table goes on by itself.
        press_as_asked(table, "on")
        asked(page, "off", "closed")
        expect(page.get_by_test_id("last")).to_have_text("ON button: passed")
        seen(page, "progress", "2 of 7")
        # Another one answers, and is told when its press is long over.
        table.hand(lid="open")
        seen(page, "hint", "Something else has answered: Lid")
        table.hand(lid="closed")
        press_until(table, "on", lambda now: "on" in now["others"])
        seen(page, "hint", "Something else has answered: ON")
        assert faults(page) == []
        # A reason that is touched, and one that is written.
        touch(page, "fail")
        expect(page.get_by_test_id("dialog")).to_have_attribute("data-kind", "fail")
        assert faults(page) == []
        with answered(page):
            touch(page, "reason-1")
        asked(page, "lamp_on", "lit")
        expect(page.get_by_test_id("hint")).to_be_hidden()
        seen(page, "last", "OFF button: failed, Does not answer")
        assert faults(page) == []
        # It stays there when the page is loaded anew.
        page.reload()
        asked(page, "lamp_on", "lit")
        with answered(page):
            touch(page, "answer-no")
        asked(page, "lid", "open")
        # The keyboard does the same.
        with answered(page):
            page.keyboard.press("b")
        asked(page, "lamp_on", "lit")
        with answered(page):
            page.keyboard.press("Enter")
        asked(page, "lid", "open")
        seen(page, "last", "Lamp of ON: passed")
        page.keyboard.press("s")
        touch(page, "reason-other")
        page.keyboard.type("no key for it")
        assert faults(page) == []
        with answered(page):
            page.keyboard.press("Enter")
        asked(page, "node", "unplugged")
        seen(page, "last", "no key for it")
        page.keyboard.press("q")
        page.keyboard.press("Escape")
        expect(page.get_by_test_id("dialog")).to_be_hidden()
        with answered(page):
            touch(page, "leave", "end-here", "reason-3")

        seen(page, "outcome", "1 failed, 4 skipped, 2 passed")
        rows = page.locator("#not-passed li")
        assert [row.get_attribute("data-verdict") for row in rows.all()] == ["failed", *["skipped"] * 4]
        assert faults(page) == []
        with answered(page):
            touch(page, "again-off")
        asked(page, "off", "closed")
        press_as_asked(table, "off")
        seen(page, "outcome", "0 failed, 4 skipped, 3 passed")
        with answered(page):
            touch(page, "finish")
        expect(page.get_by_test_id("review")).to_have_attribute("data-finished", "true")
        assert kinds(table) == [*played, "commissioned", "checkpoint"]
        [event] = [json.loads(line) for line in lines_in(table.data) if '"type":"commissioned"' in line]
        seen(page, "signed", event["data"]["key"])
        assert faults(page) == []
        with page.context.expect_page() as opened:
            touch(page, "print")
        printed = opened.value
        expect(printed.locator("h1")).to_have_text("Commissioning report")
        expect(printed.locator("body")).to_contain_text(event["data"]["signature"])
        printed.close()
        touch(page, "start")
        # Back on the boxman's screen, with the table as it was.
        expect(page.get_by_test_id("die-1")).to_be_visible()
        assert table.state()["open"] is False
        page.goto(f"{table.address}/commission")
        seen(page, "begin-says", "signs in")
        expect(page.get_by_role("link", name="JSON")).to_be_visible()
        assert faults(page) == []


def kinds(table: TerminalProcess) -> list[str]:
    return [json.loads(line)["type"] for line in lines_in(table.data)]


def test_a_console_that_was_there_before_comes_along_and_back(chromium: Browser, tmp_path: Path) -> None:
    with TerminalProcess(tmp_path / "data") as table, touch_page(chromium) as page:
        page.goto(table.address)
        expect(page.get_by_test_id("die-1")).to_be_visible()
        assert table.client.post("/api/close", json={"id": table.fresh_id()}).status_code == 200
        begun = table.client.post("/api/commissioning", json={"table": "craps-1", "name": ANA})
        assert begun.status_code == 200, begun.text
        asked(page, "puck_4", "closed")
        with chromium.new_context() as context:
            hands = context.new_page()
            hands.set_default_timeout(EXPECT_MS)
            hands.add_init_script(_PATIENT)
            hands.clock.install(time=0)
            hands.clock.pause_at(1)
            hands.goto(f"{table.address}/virtual")
            bar = hands.get_by_test_id("virtual-offline")
            expect(bar).to_have_text(COMMISSIONED)
            expect(bar).to_be_visible()
            hands.evaluate(_NOTE_BAR)
            # For longer than a terminal may say nothing, and less than its page waits for an answer.
            hands.clock.run_for(2_500)
            assert set(hands.evaluate("told")) <= {COMMISSIONED}
            hands.clock.resume()
            hands.route("**/api/*", lambda route: route.abort())
            expect(bar).to_have_text("The terminal does not answer.")
            hands.unroute("**/api/*")
            expect(bar).to_have_text(COMMISSIONED)
            table.client.post("/api/commissioning", json={"do": "leave"})
            expect(bar).to_be_hidden()
        expect(page.get_by_test_id("die-1")).to_be_visible()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_kind_of_step_fits_the_screen(chromium: Browser, table: TerminalProcess, language: str) -> None:
    shown: dict[str, Any] = {}

    def answer(route: Route) -> None:
        route.fulfill(json=shown)

    with touch_page(chromium) as page:
        page.context.add_cookies([{"name": "language", "value": language, "url": table.address}])
        page.add_init_script(_UNHURRIED)
        page.add_init_script(_PATIENT)
        page.route("**/api/commissioning*", answer)
        for number, (name, view) in enumerate(views(language)):
            shown = view | {"version": str(number)}
            if number == 0:
                page.goto(f"{table.address}/commission")
            if view["now"] is None:
                expect(page.get_by_test_id("review")).to_have_attribute(
                    "data-finished", str(bool(view["finished"])).lower()
                )
            else:
                asked(page, view["now"]["step"], view["now"]["wanted"])
            # What fits the small one and is no list fits the large one.
            for screen in (SCREEN, LARGE) if view["now"] is None else (SCREEN,):
                page.set_viewport_size(screen)
                found: list[str] = page.evaluate(_CUT)
                assert layout_faults(page) + found == [], name
        for kind in ("leave", "fail"):
            shown = next(view for _, view in views(language)) | {"version": kind}
            page.set_viewport_size(SCREEN)
            expect(page.get_by_test_id("step")).to_be_visible()
            touch(page, kind)
            assert faults(page) == [], kind
            touch(page, "dialog-cancel")


def views(language: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """What a page is shown of a whole table, step by step, and at the end."""
    steps = steps_of(Wiring(DEMO_PINS), has_node=True, has_centre=True)
    results: dict[str, Result] = {}
    for step in steps:
        for wanted in LOOKED_AT.get(step.name, ()):
            view = view_of(steps, results, language)
            now = view["now"] | {"wanted": wanted, "asked": wanted in ("turned", "lit")}
            for more in ({}, OTHERS, UNREAD) if step.name == "dice_key_6" else ({},):
                yield f"{step.name} {wanted} {more}", view | {"now": now | more}
        verdicts = {"puck_4": "failed", "box_10": "skipped"}
        verdict: Any = verdicts.get(step.name, "passed")
        reason: Any = "also" if step.name == "puck_5" else "said" if verdict != "passed" else None
        said = "puck_4, puck_10" if reason == "also" else REASON
        bounce_us = 12_345 if step.kind == "press" else None
        results[step.name] = Result(step.name, verdict, ANA, "2026-11-30T04:05:06Z", reason, said, bounce_us)
    yield "review", view_of(steps, results, language)
    finished = {"key": KEY.public, "seq": 1234567, "report": "commissioned-craps-1-20261130T040506Z.html"}
    timing = {"timing": ["[timing]", "button_settle_ms = 45", "slot_settle_ms = 300"], "replace": ["puck_10"]}
    yield "finished", view_of(steps, results, language) | {"finished": finished | timing}


def view_of(steps: Sequence[Step], results: dict[str, Result], language: str) -> dict[str, Any]:
    commissioning = Commissioning(steps, ANA, dict(results))
    about = {"mode": "commissioning", "table": "craps-1", "site": "casino-1", "finished": None}
    error = {"centre_error": "cannot connect to https://receiver.casino.example:8443 (Connection refused)"}
    return commissioning_view(commissioning, Words(language)) | about | error
