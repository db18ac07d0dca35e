"""A thousand tables on a cluster of three: a night without it, their return at once, and a node killed every minute.

`python -m tests.bench.fleet --tables 100` for fewer. All of it runs on one machine: the three servers, generated as
`boxman central config` does, with TLS and a key for each table, and the tables' uplinks as they ship in one process,
their journals in memory. The night is short: the journals grow by its events at once.
"""

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

from nats.js.api import AckPolicy, ConsumerConfig

from device.central_reader import consume_anew, passing_name_of
from device.delivery_record import DeliveryRecord
from device.nats_connection import connected
from device.uplink import Uplink, UplinkStatus
from device.uplink_protocol import DeliveryError
from provisioning.central_server import STREAM, SUBJECTS
from tests.central_rig import Central, set_up_when_ready, system_of
from tests.nats_rig import FakeJournal

TABLES = 1_000
TABLES_A_SITE = 100
EVENTS_A_SECOND = 10
"""Of all tables together."""
NIGHT_S = 8 * 3600
LIVE_S = 130.0
OUTAGE_S = 75.0
"""Of real time, so that every table waits as long between two attempts as after a whole night."""
KILL_EVERY_S = 60.0
DOWN_S = 10.0
STEP_S_MAX = 900.0
HISTORY_MESSAGES = 500


class FleetTable:
    """One table: its journal, its uplink, and how long its live events took."""

    def __init__(self, central: Central, site: str, name: str) -> None:
        self.site, self.name = site, name
        self.journal = FakeJournal(name)
        self.status = UplinkStatus("offline", 0, None)
        self.alerts: list[str] = []
        self.took_s: list[float] = []
        self._waiting: list[tuple[int, float]] = []
        self.uplink = Uplink(
            read_events=self.journal.read,
            last_seq=self.journal.last_seq,
            base=lambda: None,
            record=DeliveryRecord(Path(":memory:")),
            system=system_of(central, name, site),
            on_change=self._changed,
            on_alert=lambda code, _: self.alerts.append(code),
            random=random.Random(),
        )

    @property
    def is_through(self) -> bool:
        return self.status.delivered == self.journal.last_seq()

    def append(self, events: int = 1) -> None:
        """Events that happen now."""
        self.journal.append(events)
        self.uplink.notify()

    def append_live(self) -> None:
        """One event, the delivery of which is timed."""
        self.append()
        self._waiting.append((self.journal.last_seq(), time.perf_counter()))

    def _changed(self, status: UplinkStatus) -> None:
        self.status = status
        while self._waiting and self._waiting[0][0] <= status.delivered:
            _, since = self._waiting.pop(0)
            self.took_s.append(time.perf_counter() - since)


async def fleet_speed(folder: Path, count: int) -> list[tuple[str, str]]:
    """Figures of one run. Raises AssertionError when anything was lost, or is there twice."""
    names = [(f"casino-{number // TABLES_A_SITE + 1}", f"craps-{number + 1}") for number in range(count)]
    with Central(folder, hub_servers=3, tables=names) as central:
        central.start()
        await set_up_when_ready(central)
        figures = _of_servers(central, "without a table")
        tables = [FleetTable(central, site, name) for site, name in names]
        async with AsyncExitStack() as stack:
            for table in tables:
                stack.push_async_callback(_end, asyncio.create_task(table.uplink.run()))
            figures += await _play(central, tables)
            figures += _of_servers(central, f"with {count:,} tables")
        figures += await _check(central, tables)
    return figures


async def _play(central: Central, tables: list[FleetTable]) -> list[tuple[str, str]]:
    first_s = await _until(lambda: all(table.status.state == "online" for table in tables))
    figures = [(f"{len(tables):,} tables come for the first time, all online after", f"{first_s:.1f} s")]
    living = asyncio.create_task(_live(tables))
    killing = asyncio.create_task(_kill_nodes(central))
    await asyncio.sleep(LIVE_S)
    figures += _took("in operation, a node killed every minute", tables)
    await _end(killing)
    await _end(living)

    for server in central.servers.values():
        server.kill()
    night = NIGHT_S * EVENTS_A_SECOND // len(tables)
    for table in tables:
        table.append(night)
        await asyncio.sleep(0)
    await asyncio.sleep(OUTAGE_S)
    undelivered = sum(table.journal.last_seq() - table.status.delivered for table in tables)
    for server in central.servers.values():
        server.start()
    began = time.perf_counter()
    living = asyncio.create_task(_live(tables))
    killing = asyncio.create_task(_kill_nodes(central, first_s=DOWN_S))
    online_s = await _until(lambda: all(table.status.state == "online" for table in tables))
    await _until(lambda: all(table.status.delivered >= night for table in tables))
    peak_s = time.perf_counter() - began
    for table in tables:
        table.took_s.clear()
    await asyncio.sleep(KILL_EVERY_S + DOWN_S)
    await _end(killing)
    figures += [
        (f"undelivered after a night of {NIGHT_S // 3600} h, events", f"{undelivered:,}"),
        ("all return at once, a node killed meanwhile; all online after", f"{online_s:.1f} s"),
        ("the same, the night delivered after", f"{peak_s:.1f} s"),
    ]
    figures += _took("after the return, a node killed", tables)
    await _end(living)
    await _until(lambda: all(table.is_through for table in tables))
    return figures


async def _live(tables: list[FleetTable]) -> None:
    """Events at random tables."""
    while True:
        random.choice(tables).append_live()
        await asyncio.sleep(1 / EVENTS_A_SECOND)


async def _kill_nodes(central: Central, first_s: float = KILL_EVERY_S) -> None:
    """One after the other, each of which is back soon."""
    wait_s = first_s
    while True:
        await asyncio.sleep(wait_s)
        server = random.choice(list(central.servers.values()))
        server.kill()
        try:
            await asyncio.sleep(DOWN_S)
        finally:
            server.start()
        wait_s = KILL_EVERY_S - DOWN_S


async def _until(holds: Callable[[], bool]) -> float:
    """Wait; how long that took."""
    began = time.perf_counter()
    async with asyncio.timeout(STEP_S_MAX):
        while not holds():
            await asyncio.sleep(0.1)
    return time.perf_counter() - began


async def _end(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _took(when: str, tables: list[FleetTable]) -> list[tuple[str, str]]:
    took_ms = sorted(took_s * 1000 for table in tables for took_s in table.took_s)
    return [
        (f"a live event {when}: delivered after, p50", f"{statistics.median(took_ms):.0f} ms"),
        ("the same, p99", f"{took_ms[len(took_ms) * 99 // 100]:,.0f} ms"),
        ("the same, longest", f"{took_ms[-1]:,.0f} ms"),
    ]


def _of_servers(central: Central, when: str) -> list[tuple[str, str]]:
    """What the largest of the three takes."""
    memory_kib, files = 0, 0
    for server in central.servers.values():
        folder = Path(f"/proc/{server.pid}")
        lines = (folder / "status").read_text().splitlines()
        memory_kib = max(memory_kib, next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")))
        files = max(files, len(list((folder / "fd").iterdir())))
    return [
        (f"memory of a server {when}", f"{memory_kib / 1024:.0f} MiB"),
        (f"open files of a server {when}", f"{files}"),
    ]


async def _check(central: Central, tables: list[FleetTable]) -> list[tuple[str, str]]:
    """Every table's history in the cluster against its journal, read in the stream's order."""
    while True:
        try:
            count, found = await _read(central)
            break
        except DeliveryError:  # a node has just come back
            await asyncio.sleep(1.0)
    for table in tables:
        assert found.get(f"craps.{table.site}.{table.name}.journal", []) == table.journal.lines, table.name
    alerts = Counter(code for table in tables for code in table.alerts)
    events = sum(table.journal.last_seq() for table in tables)
    return [
        ("events in the cluster, each once and in order", f"{events:,}"),
        ("messages that they are in", f"{count:,}"),
        ("alerts of tables meanwhile", ", ".join(f"{n} {code}" for code, n in alerts.items()) or "none"),
    ]


async def _read(central: Central) -> tuple[int, dict[str, list[str]]]:
    """How many messages there are, and the lines in them, by subject."""
    found: dict[str, list[str]] = {}
    count, left = 0, 1
    async with connected(central.access("archive"), "bench") as client:
        jetstream = client.jetstream(timeout=30)
        name = passing_name_of(central.key("archive"))
        config = ConsumerConfig(
            name=name, filter_subject=SUBJECTS, ack_policy=AckPolicy.NONE, mem_storage=True, num_replicas=1
        )
        messages = await consume_anew(jetstream, STREAM, config)
        while left:
            batch = await messages.fetch(HISTORY_MESSAGES, timeout=30)
            for message in batch:
                found.setdefault(message.subject, []).extend(message.data.decode().split("\n"))
            count += len(batch)
            left = batch[-1].metadata.num_pending
    return count, found


def main() -> None:
    """Run it once and print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", type=int, default=TABLES)
    count = parser.parse_args().tables
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as name:
        for what, figure in asyncio.run(fleet_speed(Path(name), count)):
            print(f"  {what:<76} {figure:>12}")


if __name__ == "__main__":
    main()
