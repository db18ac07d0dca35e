"""How fast the archive takes a central log: events live, a message each, and a backlog in packs; SQLite, PostgreSQL."""

import asyncio
import random
import tempfile
import time
from pathlib import Path

from device.nats_connection import NatsAccess
from provisioning.central.archive_database import held_for_writing
from provisioning.central.archive_reader import run_archive
from provisioning.central_server import STREAM, CentralServer, ensure_stream
from tests.archive_rig import ArchiveDatabase, History, Postgresql, log_at, postgresql

TABLES = 10
EVENTS = 200
# Looking holds the archive up for a moment.
LOOK_S = 0.2
ARCHIVED_S_MAX = 600.0


def archive_speed() -> list[tuple[str, str]]:
    """Figures of this machine's disk; all of it on one machine."""
    chance = random.Random(1)
    histories = [History(table=f"craps-{number}").play(chance, EVENTS) for number in range(TABLES)]
    figures = []
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as name, postgresql() as server:
        for what, size in (("each event a message", 1), ("packed", 256)):
            for engine, where in (("SQLite", None), ("PostgreSQL", server)):
                folder = Path(name) / f"{engine}-{size}"
                folder.mkdir()
                speed = _speed(folder, where, f"{engine.lower()}_{size}", histories, size)
                figures.append((f"events a second into the archive, {engine}, {what}", f"{speed:,.0f}"))
    return figures


def _speed(folder: Path, server: Postgresql | None, name: str, histories: list[History], size: int) -> float:
    if server is not None:
        server.run(f"CREATE DATABASE {name}")
    database = ArchiveDatabase(folder, server, name)
    with CentralServer(folder / "nats") as central:
        asyncio.run(_send(central.url, histories, size))
        return asyncio.run(_archive(central.url, database, sum(len(history.events) for history in histories)))


async def _send(url: str, histories: list[History], size: int) -> None:
    """In turns, as tables write."""
    await ensure_stream(url)
    async with log_at(url) as log:
        queues = [(history, history.payloads(size)) for history in histories]
        for place in range(max(len(payloads) for _, payloads in queues)):
            for history, payloads in queues:
                await log.send(history, *payloads[place : place + 1])


async def _archive(url: str, database: ArchiveDatabase, events: int) -> float:
    with held_for_writing(database.engine()):
        pass  # The schema is made.
    began = time.perf_counter()
    archiving = asyncio.create_task(run_archive(database.engine(), NatsAccess([url]), STREAM, None))
    async with asyncio.timeout(ARCHIVED_S_MAX):
        while sum(database.ends().values()) < events:
            await asyncio.sleep(LOOK_S)
    took_s = time.perf_counter() - began
    archiving.cancel()
    await asyncio.gather(archiving, return_exceptions=True)
    return events / took_s


if __name__ == "__main__":
    for what, figure in archive_speed():
        print(f"  {what:<76} {figure:>12}")
