"""A running terminal: time from a roll's request to the event stream, start, and memory at rest."""

import json
import queue
import statistics
import tempfile
import threading
import time
from pathlib import Path

import httpx

from tests.terminal_rig import TerminalProcess

ROLLS = 500


def terminal_speed() -> list[tuple[str, str]]:
    """Figures of one virtual table on this machine's disk."""
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as folder:
        terminal = TerminalProcess(Path(folder) / "data")
        started = time.perf_counter()
        with terminal:
            start_s = time.perf_counter() - started
            terminal.wait_for_state(lambda state: state["node"]["state"] == "online", "the node is there")
            memory_kib = resident_kib(terminal.pid)
            told_ms = sorted(_roll_to_told_ms(terminal))
            terminal.terminate()
            started = time.perf_counter()
            terminal.start()
            again_s = time.perf_counter() - started
    return [
        ("start with an empty journal, central server and node included", f"{start_s:.2f} s"),
        (f"start with {ROLLS} rolls in the journal", f"{again_s:.2f} s"),
        ("resident memory of the idle service", f"{memory_kib / 1024:.1f} MiB"),
        ("roll sent, flushed, told to the event stream, p50", f"{statistics.median(told_ms):.1f} ms"),
        ("the same, p99", f"{told_ms[len(told_ms) * 99 // 100]:.1f} ms"),
    ]


def _roll_to_told_ms(terminal: TerminalProcess) -> list[float]:
    """For each roll the milliseconds from sending it to its arrival on an event stream that was open already."""
    arrivals: queue.Queue[tuple[int, float]] = queue.Queue()
    listening = threading.Event()

    def listen() -> None:
        with httpx.stream("GET", f"{terminal.address}/api/stream", timeout=30) as stream:
            for line in stream.iter_lines():
                arrived = time.perf_counter()
                if line.startswith("data: "):
                    rolls = json.loads(line[6:])["roll_number"]
                    arrivals.put((rolls, arrived))
                    listening.set()
                    if rolls == ROLLS:
                        return

    listener = threading.Thread(target=listen)
    listener.start()
    listening.wait(30)
    told_ms = []
    for number in range(1, ROLLS + 1):
        terminal.do({"bet": {"player": "1", "kind": "field", "amount": 10}})
        sent = time.perf_counter()
        terminal.do({"roll": [1 + number % 6, 1 + number // 6 % 6]})
        while True:
            rolls, arrived = arrivals.get(timeout=30)
            if rolls >= number:
                told_ms.append((arrived - sent) * 1000)
                break
    listener.join()
    return told_ms


def resident_kib(pid: int) -> int:
    """So much memory has this process now."""
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
