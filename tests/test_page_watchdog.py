"""A page whose program is dead is loaded anew by itself; a terminal that is away is said in red; in a real browser."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Page, Request, Route, expect

from device.console.page_files import PAGES
from tests.browser_rig import SCREEN
from tests.terminal_rig import TerminalProcess, wait_for

# In which the page's own clock may pass some minutes, however busy the machine is.
WITHIN_S = 180
FAILING = "throw new Error('as if it were broken');"


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TerminalProcess]:
    """One virtual table for the whole file, with a display for players."""
    folder = tmp_path_factory.mktemp("watchdog")
    configuration = folder / "table.toml"
    configuration.write_text("[players_display]\nenabled = true\n")
    with TerminalProcess(folder / "data", configuration=configuration) as process:
        yield process


@contextmanager
def any_page(chromium: Browser) -> Iterator[Page]:
    """A page that may fail."""
    context = chromium.new_context(viewport=SCREEN, has_touch=True)
    context.set_default_timeout(60_000)
    try:
        yield context.new_page()
    finally:
        context.close()


def pass_time(page: Page, until: Callable[[], object], what: str) -> float:
    """Let the page's own clock run on until something is so; the seconds that this took by it.

    The clock waits for what the page has asked for: what a busy machine takes for that is no time of the page.
    """
    seconds = 0.0
    asked: list[Request] = []

    def answered(request: Request) -> None:
        if request in asked:
            asked.remove(request)

    def note(request: Request) -> None:
        # Of a page that is loaded anew nothing more is heard; and no stream ends.
        if request.is_navigation_request():
            asked.clear()
        if "/stream" not in request.url:
            asked.append(request)

    def is_answered() -> bool:
        page.wait_for_timeout(20)
        return not asked

    page.on("request", note)
    page.on("requestfinished", answered)
    page.on("requestfailed", answered)
    began = time.monotonic()
    while not until():
        assert time.monotonic() - began < WITHIN_S, f"not within {WITHIN_S} s, {seconds} s of the page: {what}"
        # An error of the page's program in a timer, which a browser writes on its console, is reported here too.
        with suppress(Error):
            page.clock.run_for(500)
        seconds += 0.5
        wait_for(is_answered, "the page has what it asked for")
    return seconds


def hold_clock(page: Page) -> None:
    """Let the page's own clock stand still, but for what `pass_time` lets pass."""
    page.clock.install(time="2026-01-02T20:14:02Z")
    page.clock.pause_at("2026-01-02T20:14:03Z")


def count_loads(page: Page, path: str) -> list[str]:
    """The loads of a page from now on."""
    loads: list[str] = []
    page.on("request", lambda request: loads.append(request.url) if request.url.endswith(path) else None)
    return loads


def wait_for_load(page: Page, loads: list[str]) -> None:
    """It is loaded anew, while its own clock stands still."""

    def has_begun() -> bool:
        page.wait_for_timeout(20)
        return bool(loads)

    wait_for(has_begun, "the page is loaded anew")


@pytest.mark.parametrize("broken", ["console.js", "bets.js"])
def test_a_page_that_is_broken_at_load_says_so_and_comes_back_when_it_is_mended(
    chromium: Browser, terminal: TerminalProcess, broken: str
) -> None:
    with any_page(chromium) as page:
        bodies = {"console.js": FAILING, "bets.js": "export const nothing = ;"}

        def breaks(route: Route) -> None:
            route.fulfill(body=bodies[broken], content_type="text/javascript")

        hold_clock(page)
        page.route(f"**/static/{broken}", breaks)
        page.goto(terminal.address)
        words = page.get_by_test_id("failed-page")
        expect(words).to_be_visible()
        for said in ("Nothing is lost", "No se ha perdido nada", "Nada se perdeu", "沒有遺失任何資料"):
            expect(words).to_contain_text(said)
        loads = count_loads(page, "/static/watchdog.js")
        pass_time(page, lambda: loads, "it is loaded anew")
        page.unroute(f"**/static/{broken}")
        pass_time(page, page.get_by_test_id("die-1").is_visible, "the page lives")
        expect(page.get_by_test_id("die-1")).to_be_enabled()
        expect(words).to_be_hidden()


def test_reloads_come_less_and_less_often_while_they_do_not_help(chromium: Browser, terminal: TerminalProcess) -> None:
    with any_page(chromium) as page:
        hold_clock(page)
        page.route("**/static/console.js", lambda route: route.fulfill(body=FAILING, content_type="text/javascript"))
        loads = count_loads(page, "/static/watchdog.js")
        # Whether the terminal is there; then the page is loaded.
        questions = count_loads(page, "/api/state")
        page.goto(terminal.address)
        waited = []
        for _ in range(5):
            expect(page.get_by_test_id("failed-page")).to_be_visible()
            loads.clear()
            questions.clear()
            waited.append(pass_time(page, lambda: questions, "the terminal is asked"))
            wait_for_load(page, loads)
        # 2, 4, 8, 16 and 32 seconds are over at the next look, half a second later.
        assert waited == [2.5, 4.5, 8.5, 16.5, 32.5]


def test_a_page_whose_program_stops_drawing_is_loaded_anew(chromium: Browser, terminal: TerminalProcess) -> None:
    with any_page(chromium) as page:
        hold_clock(page)
        page.goto(terminal.address)
        expect(page.get_by_test_id("die-1")).to_be_enabled()
        loads = count_loads(page, "/static/watchdog.js")
        # Whatever is to be drawn from now on ends in an error.
        page.evaluate("document.getElementById('halted').remove()")
        pass_time(page, lambda: loads, "the page is loaded anew")
        expect(page.get_by_test_id("die-1")).to_be_enabled()


def test_players_see_nothing_old_when_their_page_is_dead(chromium: Browser, terminal: TerminalProcess) -> None:
    with any_page(chromium) as page:
        hold_clock(page)
        page.goto(f"{terminal.address}/players")
        game = page.locator("#game")
        expect(game).to_be_visible()
        page.evaluate("globalThis.signOfLife = undefined")
        pass_time(page, game.is_hidden, "the game is hidden")
        loads = count_loads(page, "/static/watchdog.js")
        pass_time(page, lambda: loads, "the page is loaded anew")
        expect(game).to_be_visible()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "frozen"])
def test_a_terminal_that_is_away_is_said_in_red_and_the_page_is_not_loaded_meanwhile(
    chromium: Browser, terminal: TerminalProcess, how: signal.Signals
) -> None:
    with any_page(chromium) as page:
        page.clock.install()
        page.goto(terminal.address)
        expect(page.get_by_test_id("die-1")).to_be_enabled()
        loads = count_loads(page, "/static/watchdog.js")
        bar = page.get_by_test_id("offline")
        expect(bar).to_be_hidden()
        if how == signal.SIGKILL:
            terminal.kill()
        else:
            os.kill(terminal.pid, how)
        try:
            # Two seconds after the last answer.
            page.clock.run_for(2_200)
            expect(bar).to_be_visible()
            expect(bar).to_contain_text("Nothing is lost")
            expect(bar).to_have_css("background-color", "rgb(200, 30, 30)")
            # Longer than the watchdog waits for a sign of life, and for its first reload.
            page.clock.run_for(20_000)
            assert loads == []
            expect(page.get_by_test_id("failed-page")).to_be_hidden()
        finally:
            if how == signal.SIGKILL:
                terminal.start()
            else:
                os.kill(terminal.pid, signal.SIGCONT)
        expect(bar).to_be_hidden()
        expect(page.get_by_test_id("die-1")).to_be_enabled()
        assert loads == []


def test_a_window_that_is_the_table_s_own_screen_stays_it_and_no_other_becomes_it(
    chromium: Browser, terminal: TerminalProcess
) -> None:
    with any_page(chromium) as page:
        page.clock.install()
        told: list[str] = []
        page.context.on(
            "request", lambda asked: told.append(asked.post_data or "") if "/painted" in asked.url else None
        )
        page.goto(f"{terminal.address}/?screen=table")
        pass_time(page, lambda: told, "it tells that it paints")
        assert told[0] == '{"screen":"table"}'
        page.goto(f"{terminal.address}/statistics")
        expect(page.get_by_test_id("back")).to_be_visible()
        told.clear()
        pass_time(page, lambda: told, "the statistics tell it too")
        # Another window of the same browser is anybody's.
        other = page.context.new_page()
        page.close()
        other.clock.install()
        other.goto(terminal.address)
        expect(other.get_by_test_id("die-1")).to_be_enabled()
        told.clear()
        other.clock.run_for(30_000)
        expect(other.get_by_test_id("die-1")).to_be_enabled()
        assert told == []


def test_the_watchdog_imports_nothing() -> None:
    words = (Path(PAGES) / "watchdog.js").read_text(encoding="utf-8")
    assert "import " not in words
    for page in ("console.html", "supervisor.html", "players.html", "statistics.html", "virtual.html"):
        text = (Path(PAGES) / page).read_text(encoding="utf-8")
        # Before the page's own program, so that it hears of its faults.
        assert text.index('src="/static/watchdog.js"') < text.index('type="module"')
