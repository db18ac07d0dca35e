"""A page whose program is dead is loaded anew by itself; a terminal that is away is said in red; in a real browser."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Page, Route, expect

from device.console.page_files import PAGES
from tests.browser_rig import SCREEN
from tests.terminal_rig import TerminalProcess

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
    """Let the page's own clock run on until something is so; the seconds that this took by it."""
    seconds = 0.0
    while not until():
        assert seconds < 200, f"not within 200 s of the page: {what}"
        # An error of the page's program in a timer, which a browser writes on its console, is reported here too.
        with suppress(Error):
            page.clock.run_for(500)
        # What the browser and the terminal do takes its time.
        page.wait_for_timeout(20)
        seconds += 0.5
    return seconds


def count_loads(page: Page, path: str) -> list[str]:
    """The loads of a page from now on."""
    loads: list[str] = []
    page.on("request", lambda request: loads.append(request.url) if request.url.endswith(path) else None)
    return loads


@pytest.mark.parametrize("broken", ["console.js", "bets.js"])
def test_a_page_that_is_broken_at_load_says_so_and_comes_back_when_it_is_mended(
    chromium: Browser, terminal: TerminalProcess, broken: str
) -> None:
    with any_page(chromium) as page:
        bodies = {"console.js": FAILING, "bets.js": "export const nothing = ;"}

        def breaks(route: Route) -> None:
            route.fulfill(body=bodies[broken], content_type="text/javascript")

        page.clock.install()
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
        page.clock.install()
        page.route("**/static/console.js", lambda route: route.fulfill(body=FAILING, content_type="text/javascript"))
        loads = count_loads(page, "/static/watchdog.js")
        page.goto(terminal.address)
        waited = []
        for _ in range(5):
            expect(page.get_by_test_id("failed-page")).to_be_visible()
            loads.clear()
            waited.append(pass_time(page, lambda: loads, "it is loaded anew"))
            page.wait_for_load_state()
        # 2, 4, 8, 16 and 32 seconds; a busy machine lets some of them pass uncounted.
        assert waited[0] < waited[2] < waited[4], waited


def test_a_page_whose_program_stops_drawing_is_loaded_anew(chromium: Browser, terminal: TerminalProcess) -> None:
    with any_page(chromium) as page:
        page.clock.install()
        page.goto(terminal.address)
        expect(page.get_by_test_id("die-1")).to_be_enabled()
        loads = count_loads(page, "/static/watchdog.js")
        # Whatever is to be drawn from now on ends in an error.
        page.evaluate("document.getElementById('halted').remove()")
        pass_time(page, lambda: loads, "the page is loaded anew")
        expect(page.get_by_test_id("die-1")).to_be_enabled()


def test_players_see_nothing_old_when_their_page_is_dead(chromium: Browser, terminal: TerminalProcess) -> None:
    with any_page(chromium) as page:
        page.clock.install()
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
