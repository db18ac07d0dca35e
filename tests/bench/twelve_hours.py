"""Twelve hours of play, as fast as the service takes them, with the console open: what grows meanwhile."""

import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import CDPSession, Page, expect

from provisioning.progress import ProgressBar
from tests.bench.terminal_speed import resident_kib
from tests.browser_rig import browser, touch_page
from tests.terminal_rig import TerminalProcess

HOURS = 12
ROLLS_AN_HOUR = 120
PLAYERS = 8
# So many hours pass before anything is held against them: caches are full then.
WARM_HOURS = 2


def twelve_hours() -> list[tuple[str, str]]:
    """Memory of the service, and of the page after its garbage was collected, at the second and the last hour."""
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as folder:
        seen = _played(Path(folder))
    rows = []
    for hours in (WARM_HOURS, HOURS):
        service, heap, nodes, listeners = seen[hours]
        when = f"after {hours} hours, {hours * ROLLS_AN_HOUR:,} rolls with the bets of {PLAYERS} players"
        rows += [
            (f"resident memory of the service {when}", f"{service / 1024:.1f} MiB"),
            ("objects of the page", f"{heap / 1024:.0f} KiB"),
            ("the page's nodes, and listeners to its events", f"{nodes:,}, {listeners:,}"),
        ]
    return rows


def _played(folder: Path) -> dict[int, tuple[int, int, int, int]]:
    """Hour to: the service's memory in KiB; the page's objects in bytes, its nodes and its listeners."""
    seen = {}
    progress = ProgressBar("playing twelve hours")
    with TerminalProcess(folder / "data") as terminal, browser() as chromium, touch_page(chromium) as page:
        page.goto(terminal.address)
        expect(page.get_by_test_id("die-1")).to_be_enabled()
        inspector = page.context.new_cdp_session(page)
        inspector.send("Performance.enable")
        for hour in range(1, HOURS + 1):
            for number in range(ROLLS_AN_HOUR):
                _bets_and_roll(terminal, hour * ROLLS_AN_HOUR + number)
                progress((hour - 1) * ROLLS_AN_HOUR + number + 1, HOURS * ROLLS_AN_HOUR)
            _look_around(page)
            expect(page.get_by_test_id("last-roll")).to_have_attribute("data-dice", _dice_text(terminal))
            seen[hour] = (resident_kib(terminal.pid), *_page_memory(inspector))
    progress.close()
    return seen


def _bets_and_roll(terminal: TerminalProcess, number: int) -> None:
    for player in range(1, PLAYERS + 1):
        kind, box = (("field", None), ("place", 6), ("pass_line", None), ("hardway", 8))[(player + number) % 4]
        # A bet that cannot be made now is refused; that is a part of play too.
        terminal.post({"bet": {"player": str(player), "kind": kind, "number": box, "amount": 6}})
    terminal.do({"roll": [1 + number * 7 % 6, 1 + number * 5 // 6 % 6]})


def _look_around(page: Page) -> None:
    """What a boxman opens now and then."""
    for button, overlay in (("button-bets", "overlay-bets"), ("button-hardware", "overlay-hardware")):
        page.get_by_test_id(button).tap()
        expect(page.get_by_test_id(overlay)).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_test_id(overlay)).to_be_hidden()


def _dice_text(terminal: TerminalProcess) -> str:
    dice: list[int] = terminal.state()["last_roll"]["dice"]
    return "-".join(map(str, dice))


def _page_memory(inspector: CDPSession) -> tuple[int, int, int]:
    inspector.send("HeapProfiler.collectGarbage")
    told: list[dict[str, Any]] = inspector.send("Performance.getMetrics")["metrics"]
    metrics = {one["name"]: int(one["value"]) for one in told}
    return metrics["JSHeapUsedSize"], metrics["Nodes"], metrics["JSEventListeners"]
