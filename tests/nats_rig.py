"""A real central server for tests, a journal that needs no disk, and a link that can be made to fail."""

import asyncio
import contextlib
import hashlib
import json
import random
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import nats
from nats.js import JetStreamContext
from nats.js.errors import NotFoundError

from device.delivery_record import DeliveryRecord
from device.journal_base import Base
from device.nats_log import NatsSystem
from device.uplink import CentralSystem, Uplink, UplinkStatus
from provisioning.central_server import STREAM

WAIT_S = 60.0


async def wait_until(condition: Callable[[], bool], what: str, timeout_s: float = WAIT_S) -> None:
    """Wait until `condition` holds; AssertionError that names `what` after the deadline."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout_s
    while not condition():
        assert loop.time() < deadline, f"not within {timeout_s} s: {what}"
        await asyncio.sleep(0.005)


@contextlib.asynccontextmanager
async def jetstream(url: str) -> AsyncIterator[JetStreamContext]:
    """Give a connection of the test's own."""
    client = await nats.connect(
        url, allow_reconnect=False, max_reconnect_attempts=1, reconnect_time_wait=0, connect_timeout=round(WAIT_S)
    )
    try:
        yield client.jetstream(timeout=WAIT_S)
    finally:
        await client.close()


async def read_messages(url: str, site: str, table: str) -> list[list[str]]:
    """Return all messages of a table's journal in the stream, in order, each as its event lines."""
    messages: list[list[str]] = []
    sequence = 1
    async with jetstream(url) as stream:
        with contextlib.suppress(NotFoundError):
            while True:
                message = await stream.get_msg(
                    STREAM, seq=sequence, subject=f"craps.{site}.{table}.journal", direct=True, next=True
                )
                assert message.data is not None and message.seq is not None
                messages.append(message.data.decode().split("\n"))
                sequence = message.seq + 1
    return messages


async def read_log(url: str, site: str, table: str) -> list[str]:
    """Return all event lines of a table's journal in the stream, in order."""
    return [line for message in await read_messages(url, site, table) for line in message]


class AnyJournal(Protocol):
    """What an uplink reads, in memory."""

    base: Base | None

    def append(self, count: int = 1) -> None:
        """Add events."""

    def read(self, first: int, limit: int) -> list[str]:
        """Return up to `limit` lines from event `first` on."""

    def last_seq(self) -> int:
        """Return the number of the last event."""


class FakeJournal:
    """Sealed events in memory; `history` makes the events of two units differ."""

    def __init__(self, table: str, history: str = "a", events: int = 0, padding_bytes: int = 0) -> None:
        self._table = table
        self._history = history
        self._padding = "x" * padding_bytes
        self._last_hash = "0" * 64
        self.lines: list[str] = []
        # What stands for those that were pruned.
        self.base: Base | None = None
        self.append(events)

    def append(self, count: int = 1, padding: str | None = None) -> None:
        """Add sealed events, with this padding in place of the usual one."""
        for _ in range(count):
            event: dict[str, Any] = {
                "v": 1,
                "table": self._table,
                "seq": len(self.lines) + 1,
                "boot": self._history,
                "mono_ns": 1_000_000 * len(self.lines),
                "wall": "2026-11-29T22:10:56.123Z",
                "clock": "synced",
                "type": "rolled",
                "data": {"dice": [2, 4], "padding": self._padding if padding is None else padding},
                "prev": self._last_hash,
            }
            self._last_hash = hashlib.sha256(_canonical(event).encode()).hexdigest()
            self.lines.append(_canonical(event | {"hash": self._last_hash}))

    def read(self, first: int, limit: int) -> list[str]:
        """Return up to `limit` lines from event `first` on, none of which was pruned."""
        assert self.base is None or first > self.base.seq
        return self.lines[first - 1 : first - 1 + limit]

    def last_seq(self) -> int:
        """Return the number of the last event."""
        return len(self.lines)


def _canonical(event: dict[str, Any]) -> str:
    return json.dumps(event, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


class QuickRandom(random.Random):
    """Draws a short wait every time, so that no test waits for a back-off."""

    def uniform(self, a: float, b: float) -> float:
        """Return 20 ms, or the upper bound if that is less."""
        return min(0.02, max(a, b))


@dataclass
class UnitUnderTest:
    """An uplink that runs, and what it has told."""

    uplink: Uplink
    statuses: list[UplinkStatus] = field(default_factory=list)
    alerts: list[tuple[str, str]] = field(default_factory=list)

    @property
    def status(self) -> UplinkStatus:
        """The status as it is now."""
        return self.uplink.status

    async def delivered(self, seq: int) -> None:
        """Wait until the unit is online and has delivered event `seq`."""
        await wait_until(
            lambda: self.status.state == "online" and self.status.delivered == seq,
            f"event {seq} delivered",
        )

    async def is_in(self, state: str) -> None:
        """Wait for a state."""
        await wait_until(lambda: self.status.state == state, state)


@contextlib.asynccontextmanager
async def running_uplink(
    url: str,
    journal: AnyJournal,
    folder: Path,
    table: str,
    *,
    on_change: Callable[[UplinkStatus], None] | None = None,
    read_events: Callable[[int, int], list[str]] | None = None,
    system: CentralSystem | None = None,
) -> AsyncIterator[UnitUnderTest]:
    """Run the uplink of table `table` at site "test", or with `system`; `folder` keeps its delivery record."""
    record = DeliveryRecord(folder / "delivery.db")

    def told(status: UplinkStatus) -> None:
        unit.statuses.append(status)
        if on_change is not None:
            on_change(status)

    uplink = Uplink(
        read_events=read_events or journal.read,
        last_seq=journal.last_seq,
        base=lambda: journal.base,
        record=record,
        system=system or NatsSystem([url], "test", table),
        on_change=told,
        on_alert=lambda code, text: unit.alerts.append((code, text)),
        random=QuickRandom(),
    )
    unit = UnitUnderTest(uplink)
    running = asyncio.create_task(uplink.run())
    try:
        yield unit
        assert not running.done(), "the uplink has ended"
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        record.close()


class FailingLink:
    """A TCP proxy before a server, which can swallow the server's answers, cut every connection and take none."""

    def __init__(self, server_port: int) -> None:
        self._server_port = server_port
        self._writers: set[asyncio.StreamWriter] = set()
        self.swallows_answers = False
        self.refuses = False
        self.url = ""

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator["FailingLink"]:
        """Serve on a free port, named by `url`."""
        listener = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"nats://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            listener.close()
            self.cut()

    def cut(self) -> None:
        """Cut all connections at once, and what is in them is lost."""
        for writer in self._writers:
            writer.transport.abort()

    async def _serve(self, client_reader: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        if self.refuses:
            client.transport.abort()
            return
        server_reader, server = await asyncio.open_connection("127.0.0.1", self._server_port)
        ends = {client, server}
        self._writers |= ends
        try:
            await asyncio.gather(
                self._pump(client_reader, server, is_answer=False),
                self._pump(server_reader, client, is_answer=True),
            )
        finally:
            self._writers -= ends

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, is_answer: bool) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65536):
                if not (is_answer and self.swallows_answers):
                    writer.write(data)
                    await writer.drain()
        writer.close()
