"""From the second die's touch to the settled roll on the screen: the real page, service and disk, and a slow card.

A slow card's flush is made of this disk's by `strace`, which holds the service for so long at the end of each.
"""

import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser_rig import browser, touch_page
from tests.terminal_rig import TerminalProcess, wait_for

ROLLS = 100
SLOW_FLUSH_MS = 24

# When the second die was touched, when the service's answer to it was there (it answers once the roll is flushed), and
# when the frame that shows the roll had been painted, for each roll.
_WATCH = """() => {
  window.measured = [];
  let touched = 0, answered = 0;
  addEventListener("pointerdown", () => { touched = performance.now(); answered = 0; }, { capture: true });
  const ask = window.fetch;
  window.fetch = async (address, ...rest) => {
    const answer = await ask(address, ...rest);
    if (String(address).includes("/api/command")) answered = performance.now();
    return answer;
  };
  new MutationObserver(() => requestAnimationFrame(() => {
    const painted = new MessageChannel();
    painted.port1.onmessage = () => window.measured.push([answered ? answered - touched : null,
                                                          performance.now() - touched]);
    painted.port2.postMessage(null);
  })).observe(document.querySelector("[data-testid=last-roll]"), { attributeFilter: ["data-dice"] });
}"""


def touch_to_paint() -> list[tuple[str, str]]:
    """Figures of a console on this machine, with its own disk and with a slow card's flush."""
    rows: list[tuple[str, str]] = []
    for what, flush_ms in (("this disk", None), (f"a flush of {SLOW_FLUSH_MS} ms and more", SLOW_FLUSH_MS)):
        with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as folder:
            flushed, painted = _measured(Path(folder), flush_ms)
        rows += [
            (f"touch of the second die, to flushed and answered, {what}, p50", f"{statistics.median(flushed):.0f} ms"),
            ("the same, p99", f"{_p99(flushed):.0f} ms"),
            (f"touch of the second die, to settled and painted, {what}, p50", f"{statistics.median(painted):.0f} ms"),
            ("the same, p99", f"{_p99(painted):.0f} ms"),
        ]
    return rows


def _measured(folder: Path, flush_ms: int | None) -> tuple[list[float], list[float]]:
    with TerminalProcess(folder / "data") as terminal, browser() as chromium, touch_page(chromium) as page:
        page.goto(terminal.address)
        expect(page.get_by_test_id("die-1")).to_be_enabled()
        page.evaluate(_WATCH)
        slow = nullcontext() if flush_ms is None else _slow_flush(terminal.pid, flush_ms)
        with slow:
            for number in range(1, ROLLS + 1):
                for player in "123":
                    terminal.do({"bet": {"player": player, "kind": "field", "amount": 10}})
                _roll(page, 1 + number % 6, 1 + number // 6 % 6)
                page.wait_for_function("rolls => window.measured.length >= rolls", arg=number)
        measured: list[tuple[float | None, float]] = page.evaluate("window.measured")
    # Where the event stream was faster than the answer, the roll is on the screen and the answer is not timed.
    return sorted(one for one, _ in measured if one is not None), sorted(one for _, one in measured)


def _roll(page: Page, first: int, second: int) -> None:
    for die in (first, second):
        page.get_by_test_id(f"die-{die}").tap()


@contextmanager
def _slow_flush(pid: int, flush_ms: int) -> Iterator[None]:
    calls = "fdatasync,fsync"
    command = ["strace", "-f", "-qq", "-p", str(pid), "-e", f"trace={calls}"]
    command += ["-e", f"inject={calls}:delay_exit={flush_ms * 1000}", "-o", "/dev/null"]
    with subprocess.Popen(command) as tracer:
        try:
            wait_for(lambda: _is_traced(pid), "strace holds the service")
            yield
        finally:
            tracer.terminate()


def _is_traced(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return not any(line == "TracerPid:\t0" for line in status)


def _p99(figures: list[float]) -> float:
    return figures[len(figures) * 99 // 100]
