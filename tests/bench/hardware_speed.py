"""The hardware's way into the journal: from an edge on a pin, from a contact of the node; and what idling costs."""

import asyncio
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

from device.journal import Journal
from device.settings import Settings
from device.table_key import KEY_BYTES, TableKey
from device.table_terms import TableTerms
from drivers.header import open_pin_factory
from drivers.table_inputs import TableInputs
from drivers.virtual_node import node_command
from drivers.virtual_table import VirtualTable
from drivers.wiring import DEFAULT_PINS, Pin, Wiring
from engine_lite import rule_sets
from tests.journal_rig import terminal_on
from tests.terminal_rig import wait_for

MOVES = 200
IDLE_S = 5.0


def hardware_speed() -> list[tuple[str, str]]:
    """Figures of a terminal in this process on mocked pins and with a real MicroPython node."""
    figures = []
    for board, pin in (("a pin", DEFAULT_PINS["lid"]), ("the node", Pin("node", 22))):
        wiring = Wiring({**DEFAULT_PINS, "lid": pin})
        with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as folder:
            waits_ms, cpu, kib = asyncio.run(_lid_moves(Path(folder), wiring))
        settle_ms = wiring.timing.lid_settle_ms
        waits_ms.sort()
        p50, p99 = waits_ms[len(waits_ms) // 2], waits_ms[len(waits_ms) * 99 // 100]
        figures += [
            (f"edge on {board} -> event on the disk, less {settle_ms} ms of settling, p50", f"{p50:.1f} ms"),
            ("the same, p99", f"{p99:.1f} ms"),
        ]
        if board == "a pin":
            figures += [
                ("processor time of terminal and idle drivers", f"{cpu * 100:.1f} %"),
                ("resident memory at most, tests' own modules included", f"{kib / 1024:.1f} MiB"),
            ]
    return figures


async def _lid_moves(folder: Path, wiring: Wiring) -> tuple[list[float], float, int]:
    """Milliseconds from each movement to the flushed event, less the settle time; then the idle share of a core."""
    with ExitStack() as stack:
        node = subprocess.Popen(node_command(folder, with_parent=True))
        stack.callback(node.wait)
        stack.callback(node.terminate)
        await asyncio.to_thread(wait_for, (folder / "node").exists, "the node's port")
        journal = stack.enter_context(Journal.open(folder / "journal.db", "craps-1"))
        terms = TableTerms(rule_sets.load("us-vegas"), {}, 1, 5, 500)
        terminal = terminal_on(journal, Settings("bench", "craps-1", terms), TableKey(bytes(KEY_BYTES)))
        factory = open_pin_factory("mock")
        inputs = TableInputs(wiring, pin_factory=factory, node_port=str(folder / "node"), on_hint=terminal.hint)
        stack.callback(inputs.close)
        terminal.connect(lambda _session: inputs)
        table = VirtualTable(wiring, pin_factory=factory, folder=folder)
        terminal.begin("bench", {}, terms)
        told = _Told()
        terminal.follow(told)
        running = asyncio.create_task(terminal.run())
        await _until(lambda: terminal.state["reserve"]["open"] is False, told)
        waits_ms = []
        for number in range(MOVES):
            opened = number % 2 == 0
            moved = time.perf_counter()
            table.set_lid(shut=not opened)
            moved = (moved + time.perf_counter()) / 2
            await _until(lambda opened=opened: terminal.state["reserve"]["open"] is opened, told)  # type: ignore[misc]
            waits_ms.append((time.perf_counter() - moved) * 1000 - wiring.timing.lid_settle_ms)
        used = time.process_time()
        await asyncio.sleep(IDLE_S)
        share = (time.process_time() - used) / IDLE_S
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        return waits_ms, share, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


class _Told:
    """Set when the terminal has committed events."""

    def __init__(self) -> None:
        self.event = asyncio.Event()

    def notify(self) -> None:
        """Events were committed."""
        self.event.set()


async def _until(condition: Callable[[], bool], told: _Told) -> None:
    async with asyncio.timeout(20):
        while not condition():
            told.event.clear()
            if not condition():
                await told.event.wait()


if __name__ == "__main__":
    for what, figure in hardware_speed():
        print(f"  {what:<72} {figure:>12}")
