"""`boxman screen`: runs the browser of the table's own screen, and ends it when its page paints no more.

A page that has failed loads itself anew (watchdog.js). A browser whose page loops for good, or that does not draw any
more, cannot; then the page stops telling the terminal that it paints. This ends the browser, and the service manager
starts both anew. Before, it has the browser show its pages as large as the display needs it (screen_zoom).
"""

import argparse
import http.client
import json
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from device.screen_watch import SCREEN
from provisioning.command_failed import CommandFailed
from provisioning.screen_zoom import display_size, write_zoom, zoom_of

SILENT_MAX_S: Final = 60.0
"""So long without painting, while the terminal answers, and the browser is started anew; a page that has no program,
such as a report to print, ends so too, and the console is back."""

_PROFILE: Final = "--user-data-dir="
_LOOK_S: Final = 2.0
_ANSWER_S: Final = 3.0
_END_S: Final = 10.0


class PaintWatch:
    """Judges from what the terminal says whether the screen still paints. Pure: time comes in, in seconds."""

    def __init__(self, now_s: float, silent_max_s: float) -> None:
        self._silent_max_s = silent_max_s
        self._well_s = now_s

    def is_still(self, now_s: float, *, answered: bool, ago_s: float | None) -> bool:
        """Whether the screen paints no more. `ago_s`: when it last did; None: never while the terminal ran.

        While the terminal does not answer, a page can tell nothing, and shows that itself.
        """
        if not answered:
            self._well_s = now_s
        elif ago_s is not None:
            self._well_s = max(self._well_s, now_s - ago_s)
        return now_s - self._well_s > self._silent_max_s


def add_screen_command(parser: argparse.ArgumentParser) -> None:
    """Add what `boxman screen` takes."""
    parser.add_argument("--port", type=int, default=8080, metavar="N", help="the console's port")
    parser.add_argument(
        "--silent", type=float, default=SILENT_MAX_S, metavar="S", help="seconds without painting (default: 60)"
    )
    parser.add_argument("command", nargs="+", metavar="COMMAND", help="what runs the browser, after --")
    parser.set_defaults(start=lambda chosen: run_screen(chosen.command, chosen.port, chosen.silent))


def run_screen(command: Sequence[str], port: int, silent_max_s: float) -> int:
    """Run the browser until it ends, or paints no more: then exit status 1. Raises CommandFailed."""
    # Told to end, it ends the browser first.
    told_to_end = threading.Event()
    signal.signal(signal.SIGTERM, lambda _number, _frame: told_to_end.set())
    _zoom(command)
    try:
        browser = subprocess.Popen(command)
    except OSError as error:
        raise CommandFailed(f"{command[0]}: cannot be started ({error.strerror})") from error
    try:
        return _watch(browser, port, PaintWatch(time.monotonic(), silent_max_s), told_to_end)
    finally:
        _end(browser)


def _zoom(command: Sequence[str]) -> None:
    """Set the zoom of a Chromium whose profile is named in its command, and is new."""
    profile = next((Path(part.partition("=")[2]) for part in command if part.startswith(_PROFILE)), None)
    zoom = zoom_of(display_size())
    if profile is None or zoom == 1 or profile.exists():
        return
    try:
        write_zoom(profile, zoom)
    except OSError as error:
        # Small targets are better than no screen.
        print(f"{profile}: the zoom cannot be set ({error.strerror})", flush=True)


def _watch(browser: "subprocess.Popen[bytes]", port: int, watch: PaintWatch, told_to_end: threading.Event) -> int:
    while not told_to_end.is_set():
        try:
            return browser.wait(_LOOK_S)
        except subprocess.TimeoutExpired:
            answered, ago_s = _painted(port)
        if watch.is_still(time.monotonic(), answered=answered, ago_s=ago_s):
            print("the screen paints no more; its browser is started anew", flush=True)
            return 1
    return 0


def _painted(port: int) -> tuple[bool, float | None]:
    """Whether the terminal answers, and how long ago the screen painted."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_ANSWER_S)
    try:
        connection.request("GET", f"/api/painted?screen={SCREEN}")
        answer = connection.getresponse()
        if answer.status != http.client.OK:
            return False, None
        ago_s = json.loads(answer.read())["ago_s"]
    except (OSError, http.client.HTTPException, ValueError):
        return False, None
    finally:
        connection.close()
    return True, ago_s


def _end(browser: "subprocess.Popen[bytes]") -> None:
    browser.terminate()
    try:
        browser.wait(_END_S)
    except subprocess.TimeoutExpired:
        browser.kill()
        browser.wait()
