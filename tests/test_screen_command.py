"""`boxman screen`: a browser whose page hangs for good is ended, so that the service manager starts it anew."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from playwright.sync_api import sync_playwright

from device.screen_watch import SCREEN, SCREENS_MAX, ScreenWatch
from provisioning.install.units import kiosk_unit, waiting_page
from provisioning.screen_command import PaintWatch
from provisioning.screen_zoom import display_size, write_zoom, zoom_of
from tests.browser_rig import ARGUMENTS, CHROMIUM, EXPECT_MS, SCREEN_16_TO_9
from tests.terminal_rig import BOXMAN, TerminalProcess, boxman, wait_for

# A page tells every five seconds that it paints; a busy machine is late. Nobody works meanwhile.
SILENT_S = 45


def test_a_screen_is_still_when_it_told_nothing_for_so_long_while_the_terminal_answered() -> None:
    watch = PaintWatch(0.0, 60.0)
    assert not watch.is_still(30.0, answered=True, ago_s=None)
    assert not watch.is_still(59.0, answered=True, ago_s=2.0)
    assert not watch.is_still(117.0, answered=True, ago_s=60.0)
    assert watch.is_still(118.0, answered=True, ago_s=61.0)


def test_a_screen_that_never_painted_is_given_as_long_and_a_terminal_that_is_away_does_not_count() -> None:
    assert PaintWatch(0.0, 60.0).is_still(61.0, answered=True, ago_s=None)
    watch = PaintWatch(0.0, 60.0)
    assert not watch.is_still(300.0, answered=False, ago_s=None)
    # The terminal is back, and does not know yet of any painting.
    assert not watch.is_still(359.0, answered=True, ago_s=None)
    assert watch.is_still(361.0, answered=True, ago_s=None)


def test_what_the_browser_ends_with_is_what_this_ends_with_and_one_that_is_not_there_is_named() -> None:
    assert boxman("screen", "--port", "1", "--", "sh", "-c", "exit 7").returncode == 7
    missing = boxman("screen", "--", "/nowhere/browser")
    assert missing.returncode != 0
    assert "/nowhere/browser: cannot be started" in missing.stderr


def test_the_unit_runs_the_browser_full_screen_with_a_profile_in_memory_and_no_dialog() -> None:
    unit = kiosk_unit(PurePosixPath("/opt/boxman/current/bin/boxman"), 8081, "/usr/bin/cage", "/usr/bin/chromium")
    (started,) = re.findall(r"^ExecStart=((?:.*\\\n)*.*)$", unit, re.MULTILINE)
    command = started.replace("\\\n", " ").split()
    program, compositor = command[: command.index("--")], command[command.index("--") + 1 :]
    # What the session says of it leads to a folder that the service does not see.
    assert program[:2] == ["/usr/bin/env", "XDG_RUNTIME_DIR=/run/boxman-kiosk"]
    assert program[2:] == ["/opt/boxman/current/bin/boxman", "screen", "--port", "8081"]
    assert compositor[:4] == ["/usr/bin/cage", "-d", "--", "/usr/bin/chromium"]
    flags = compositor[4:]
    # /run is memory; its folder is made and taken away with the service.
    assert "--user-data-dir=/run/boxman-kiosk/profile" in flags
    assert "RuntimeDirectory=boxman-kiosk\n" in unit
    for flag in ("kiosk", "noerrdialogs", "disable-session-crashed-bubble", "no-first-run", "disable-component-update"):
        assert f"--{flag}" in flags
    assert not [flag for flag in flags if "remote-debugging" in flag]
    assert "Restart=always\n" in unit
    assert f"http://127.0.0.1:8081/?screen={SCREEN}" in waiting_page(8081)


def test_told_to_end_it_ends_its_browser(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    browser = ["sh", "-c", f"trap 'echo ended > {mark}; exit' TERM; echo started > {mark}; while :; do sleep 0.1; done"]
    watched = subprocess.Popen([BOXMAN, "screen", "--port", "1", "--", *browser])
    wait_for(mark.exists, "it runs")
    watched.terminate()
    watched.wait(60)
    assert mark.read_text() == "ended\n"


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TerminalProcess]:
    with TerminalProcess(tmp_path_factory.mktemp("screen") / "data") as process:
        yield process


def test_the_terminal_holds_a_screen_for_silent_that_was_heard_and_tells_nothing_for_ten_seconds() -> None:
    watch = ScreenWatch()
    watch.painted("laptop", 0.0)
    assert [watch.is_silent(float(second)) for second in range(30)] == [None] * 30
    watch.painted(SCREEN, 30.0)
    assert not any(watch.is_silent(float(second)) for second in range(30, 41))
    assert watch.is_silent(41.0)
    watch.painted(SCREEN, 41.5)
    assert watch.is_silent(42.0) is False
    # The terminal itself was held up: what the screen told meanwhile still waits to be read.
    assert watch.is_silent(100.0) is False
    assert [watch.is_silent(float(second)) for second in range(101, 112)] == [False] * 10 + [True]


def test_the_screen_that_told_longest_ago_is_forgotten_first() -> None:
    watch = ScreenWatch()
    for number in range(SCREENS_MAX + 1):
        watch.painted(f"screen-{number}", float(number))
    assert watch.ago_s("screen-0", 20.0) is None
    assert watch.ago_s("screen-1", 20.0) == 19.0


DISPLAYS = {"card0-HDMI-A-1": ("disconnected\n", ""), "card1-DSI-1": ("connected\n", "720x1280\n")}


def test_a_small_display_of_many_pixels_shows_pages_as_large_as_seven_inches_need_it(tmp_path: Path) -> None:
    assert display_size(tmp_path) is None
    for name, (status, modes) in DISPLAYS.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "status").write_text(status)
        (tmp_path / name / "modes").write_text(modes)
    # A node of the card itself is no display.
    (tmp_path / "card1").mkdir()
    assert display_size(tmp_path) == (1280, 720)
    sizes = {(800, 480): 1, (1024, 600): 1.25, (1280, 720): 1.5, (1280, 800): 1.6, (1920, 1080): 1, (640, 480): 1}
    assert {size: zoom_of(size) for size in sizes} == sizes
    assert zoom_of(None) == 1


def test_a_browser_with_that_zoom_lays_a_page_out_for_fewer_pixels(tmp_path: Path) -> None:
    write_zoom(tmp_path / "profile", 1.5)
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            tmp_path / "profile",
            executable_path=CHROMIUM,
            args=[*ARGUMENTS, "--window-size=1280,720"],
            no_viewport=True,
            timeout=EXPECT_MS,
        )
        page = context.pages[0]
        # Its window comes to its size a moment after it is there.
        page.wait_for_function(f"innerWidth === {SCREEN_16_TO_9['width']}", timeout=EXPECT_MS)
        context.close()


@pytest.mark.parametrize("query", ["screen=UPPER", "screen=", "", "screen=a%20b"])
def test_a_screen_has_a_plain_name(terminal: TerminalProcess, query: str) -> None:
    assert terminal.client.get(f"/api/painted?{query}").json()["field"] == "screen"


def silent(state: dict[str, Any]) -> list[dict[str, Any]]:
    """The alerts that a screen is silent."""
    return [alert for alert in state["alerts"] if alert["code"] == "screen_silent"]


def test_a_browser_whose_page_hangs_is_ended_and_other_screens_are_told(
    terminal: TerminalProcess, tmp_path: Path
) -> None:
    profile = tmp_path / "profile"
    watcher = [str(BOXMAN), "screen", "--port", str(terminal.port), "--silent", str(SILENT_S), "--"]
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-port=0"]
    page_of = [f"--user-data-dir={profile}", f"{terminal.address}/?screen={SCREEN}"]
    watched = subprocess.Popen(
        [*watcher, str(CHROMIUM), *flags, *page_of],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        wait_for(
            lambda: terminal.client.get(f"/api/painted?screen={SCREEN}").json()["ago_s"] is not None,
            "the page tells that it paints",
        )
        assert watched.poll() is None
        port = (profile / "DevToolsActivePort").read_text().split()[0]
        with sync_playwright() as playwright:
            address = f"http://127.0.0.1:{port}"
            page = playwright.chromium.connect_over_cdp(address, timeout=EXPECT_MS).contexts[0].pages[0]
            # A program that never comes back, and takes no time of this machine: it waits for an answer without an end.
            page.evaluate(
                """() => { setTimeout(() => {
                  const request = new XMLHttpRequest();
                  request.open("GET", "/api/stream", false);
                  request.send();
                }, 0); }"""
            )
        said, _ = watched.communicate(timeout=300)
        assert watched.returncode == 1
        assert "paints no more" in said
        (alert,) = wait_for(lambda: silent(terminal.state()), "the other screens are told")
        assert "Enter rolls with the dice keys or on another screen" in alert["text"]

        def paints_again() -> bool:
            terminal.client.post("/api/painted", json={"screen": SCREEN})
            return silent(terminal.state()) == []

        wait_for(paints_again, "the screen is not held for silent any more")
    finally:
        if watched.poll() is None:
            watched.terminate()
            watched.wait()
