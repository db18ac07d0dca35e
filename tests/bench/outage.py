"""72 hours without a network: 60,000 events delivered by a real terminal, on which rolls are entered meanwhile."""

import asyncio
import json
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from device.table_key import KEY_FILE_NAME
from tests.bench.journal_speed import REPLAY_S_MAX, lengthen_journal
from tests.central_rig import SITE, TABLE, Central, set_up_when_ready
from tests.terminal_rig import BOXMAN, TerminalProcess, wait_for

EVENTS = 60_000
DELIVERED_S_MAX = 600.0
ROLL_EVERY_S = 0.25


def outage() -> list[tuple[str, str]]:
    """Figures of one server and of a cluster of three; each flushes every message."""
    figures = []
    for servers in (1, 3):
        with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as name:
            delivered_s, waited_s, told_ms = _outage(Path(name), servers)
        what = "a single server" if servers == 1 else "a cluster of three"
        figures += [
            (f"{EVENTS:,} events to {what}, each message flushed", f"{delivered_s:.1f} s"),
            ("until the table tried again, before that", f"{waited_s:.1f} s"),
            ("a roll entered meanwhile, told to the event stream, p50", f"{statistics.median(told_ms):.0f} ms"),
            (f"the same, longest of {len(told_ms)}", f"{max(told_ms):.0f} ms"),
        ]
    return figures


def _outage(folder: Path, servers: int) -> tuple[float, float, list[float]]:
    """Seconds of delivery and before it, and milliseconds of each roll meanwhile."""
    (folder / "central").mkdir()
    data, configuration = folder / "data", folder / "table.toml"
    with Central(folder / "central", hub_servers=servers) as central:
        urls = ", ".join(f'"{url}"' for url in central.urls(SITE))
        configuration.write_text(
            f'[table]\nsite = "{SITE}"\nname = "{TABLE}"\n'
            f'[uplink]\nservers = [{urls}]\nca = "{central.authority.ca}"\n',
            encoding="utf-8",
        )
        with TerminalProcess(data, configuration=configuration) as terminal:
            terminal.terminate()
            lengthen_journal(data, EVENTS)
            shutil.copy(data / KEY_FILE_NAME, central.keys / f"{SITE}.{TABLE}.key")
            central.write()
            terminal.start(REPLAY_S_MAX)
            terminal.wait_for_state(lambda state: state["uplink"]["undelivered"] >= EVENTS, "the backlog is shown")
            central.start()
            asyncio.run(set_up_when_ready(central))
            began = time.perf_counter()
            with _rolling(terminal) as told_ms:
                wait_for(lambda: terminal.state()["uplink"]["state"] == "online", "the link", DELIVERED_S_MAX)
                online = time.perf_counter()
                wait_for(lambda: terminal.state()["uplink"]["undelivered"] <= 1, "the delivery", DELIVERED_S_MAX)
                delivered = time.perf_counter()
            terminal.wait_for_state(lambda state: state["uplink"]["undelivered"] == 0, "all of it")
            terminal.terminate()
        verify: list[str | Path] = [BOXMAN, "journal", "verify", "--data", data, "--central", configuration]
        subprocess.run([*verify, "--key", central.keys / "archive.key"], check=True, stdout=subprocess.DEVNULL)
    return delivered - online, online - began, told_ms


@contextmanager
def _rolling(terminal: TerminalProcess) -> Iterator[list[float]]:
    """Enter rolls meanwhile, and time each until the event stream tells of it."""
    told_ms: list[float] = []
    ended, told_all = threading.Event(), threading.Event()
    arrived: dict[int, float] = {}
    first = terminal.state()["roll_number"]

    def listen() -> None:
        with httpx.stream("GET", f"{terminal.address}/api/stream", timeout=60) as stream:
            for line in stream.iter_lines():
                if line.startswith("data: "):
                    arrived.setdefault(json.loads(line[6:])["roll_number"], time.perf_counter())
                if told_all.is_set():
                    return

    def roll() -> None:
        number = first
        while not ended.is_set():
            # A come-out roll needs the shooter's; on a point it is refused.
            terminal.post({"bet": {"player": "1", "kind": "pass_line", "amount": 10}})
            number += 1
            sent = time.perf_counter()
            terminal.do({"roll": [1 + number % 6, 1 + number // 6 % 6]})
            wait_for(lambda number=number: number in arrived, "the roll is told")  # type: ignore[misc]
            told_ms.append((arrived[number] - sent) * 1000)
            ended.wait(ROLL_EVERY_S)

    threads = [threading.Thread(target=work, daemon=True) for work in (listen, roll)]
    for thread in threads:
        thread.start()
    try:
        yield told_ms
    finally:
        ended.set()
        threads[1].join()
        told_all.set()


if __name__ == "__main__":
    for what, figure in outage():
        print(f"  {what:<76} {figure:>12}")
