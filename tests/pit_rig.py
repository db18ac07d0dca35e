"""The pit's page over a real NATS server and a real archive, tables that tell as terminals do, and time that jumps."""

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Coroutine, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import nats

from device.clock import Clock
from device.data_folder import open_data_folder
from device.event import Stamp, seal
from device.journal import Journal
from device.presence import Presence
from provisioning.central.archive_database import held_for_writing, sqlite_engine
from provisioning.central.archive_message import LogMessage
from provisioning.central.archive_writer import Archive
from provisioning.central.pit_commands import serve_page
from provisioning.central.pit_configuration import read_pit_configuration
from provisioning.central.pit_journal import JOURNAL_NAME
from provisioning.central.pit_seen import SeenBook
from provisioning.central_server import CentralServer, ensure_stream
from tests.archive_rig import History
from tests.free_ports import free_port
from tests.terminal_rig import WAIT_S, wait_for


class Loop:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def do(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run it there, and give what it gives."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(WAIT_S)

    def start(self, work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        """Begin it there."""

        async def begun() -> "asyncio.Task[Any]":
            return asyncio.ensure_future(work)

        task: asyncio.Task[Any] = self.do(begun())
        return task

    def end(self, task: "asyncio.Task[Any]") -> None:
        """Cancel it, and wait until it has ended."""

        async def ended() -> None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        self.do(ended())

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(WAIT_S)
        self._loop.close()


@dataclass
class JumpingClock:
    """Both of the pit's clocks, which stand still and jump ahead when a test says so: a busy machine is no silence."""

    ahead_s: float = 0.0
    began_s: float = field(default_factory=time.monotonic)
    began_ms: int = field(default_factory=lambda: time.time_ns() // 1_000_000)

    def monotonic_s(self) -> float:
        return self.began_s + self.ahead_s

    def wall_ms(self) -> int:
        return self.began_ms + round(self.ahead_s * 1000)


class Pit:
    """A page over a folder, which holds the archive's database, and over a NATS server."""

    def __init__(self, folder: Path, url: str, more: str = "") -> None:
        self.folder = folder
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.clock = JumpingClock()
        self.configuration = folder / "pit.toml"
        self.configuration.write_text(
            f'[central]\nservers = ["{url}"]\n[pit]\nport = {self.port}\n{more}', encoding="utf-8"
        )
        self._loop = Loop()
        self._held = ExitStack()
        self._serving: Any = None

    def start(self) -> None:
        configuration = read_pit_configuration(self.configuration)
        held = self._held = ExitStack()
        folder = held.enter_context(open_data_folder(configuration.data))
        book = SeenBook(held.enter_context(Journal.open(folder.journal_path, JOURNAL_NAME)), Clock())
        listener = socket.create_server(("127.0.0.1", self.port))
        held.callback(listener.close)
        page = serve_page(configuration, book, listener, monotonic_s=self.clock.monotonic_s, wall_ms=self.clock.wall_ms)
        self._serving = self._loop.start(page)

    def stop(self) -> None:
        """End it as a crash would, but for the socket."""
        self._loop.end(self._serving)
        self._held.close()

    def close(self) -> None:
        self.stop()
        self._loop.close()

    def answers(self) -> bool:
        """Whether the page can be had."""
        try:
            return httpx.get(self.address, timeout=WAIT_S).status_code == 200
        except httpx.TransportError:
            return False

    def told(self) -> dict[str, Any]:
        """All that a page gets which has just been opened."""
        answer = httpx.get(f"{self.address}/api/tables", timeout=WAIT_S)
        assert answer.status_code == 200
        told: dict[str, Any] = answer.json()
        return told

    def table(self, history: History) -> dict[str, Any]:
        """One table as it is shown; empty where it is not."""
        shown = [view for view in self.told()["tables"] if _names(view) == (history.site, history.table)]
        return shown[0] if shown else {}

    def shows(self, history: History, **parts: Any) -> None:
        """Wait until the table is shown so."""
        last: dict[str, Any] = {}

        def holds() -> bool:
            last.clear()
            last.update(self.table(history))
            return all(last.get(name) == part for name, part in parts.items())

        try:
            wait_for(holds, f"{history.table} shows {parts}")
        except AssertionError as error:
            raise AssertionError(f"{error}; it shows {last}") from None


def _names(view: dict[str, Any]) -> tuple[str, str]:
    return view["site"], view["table"]


@dataclass
class Tables:
    """Tables at a central server. What they send goes into the stream, and from there into the archive.

    The archive's program is tested elsewhere; here it is its writer, so that no test waits for a process.
    """

    url: str
    database: Path
    unit: str = "unit1"
    sent: dict[tuple[str, str], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._loop = Loop()
        self._waiting: list[LogMessage] = []
        self._held = ExitStack()
        self._archive = Archive(self._held.enter_context(held_for_writing(sqlite_engine(self.database))), None)
        self.connect()

    def connect(self) -> None:
        """Connect, again where the server was away."""
        self._client = self._loop.do(
            nats.connect(self.url, allow_reconnect=False, connect_timeout=round(WAIT_S), error_cb=_nothing)
        )

    def archived(self, *histories: History) -> None:
        """Send what the tables have and the log not, and take it into the archive."""
        self.sent_only(*histories)
        self.catch_up()

    def sent_only(self, *histories: History) -> None:
        """Send it, while the archive stands still."""
        self._waiting += [message for history in histories for message in self._sent(history)]

    def catch_up(self) -> None:
        """Take into the archive what was sent meanwhile."""
        for message in self._waiting:
            self.take(message)
        self._waiting.clear()

    def _sent(self, history: History) -> list[LogMessage]:
        names = (history.site, history.table)
        first = self.sent.get(names, 0) + 1
        self.sent[names] = len(history.events)
        subject = f"craps.{history.site}.{history.table}.journal"
        return [self.message(subject, payload) for payload in history.payloads(first=first)]

    def message(self, subject: str, payload: bytes) -> LogMessage:
        """Publish to the stream; the message as the archive gets it."""
        ack = self._loop.do(self._client.jetstream(timeout=WAIT_S).publish(subject, payload))
        return LogMessage(ack.seq, subject, payload, time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime()))

    def take(self, message: LogMessage) -> None:
        """Take one message into the archive."""
        self._archive.take(message, in_order=False)

    def present(self, *histories: History, delivered: int | None = None, state: str = "online", unit: str = "") -> None:
        """A sign of life of each of these tables."""
        for history in histories:
            seq = len(history.events)
            presence = Presence(unit or self.unit, seq, seq if delivered is None else delivered, state)
            self.tell(f"craps.{history.site}.{history.table}.presence", presence.payload())

    def tell(self, subject: str, payload: bytes) -> None:
        """Any message that no stream keeps."""

        async def told() -> None:
            await self._client.publish(subject, payload)
            await self._client.flush(round(WAIT_S))

        self._loop.do(told())

    def close(self) -> None:
        self._loop.do(self._client.close())
        self._loop.close()
        self._held.close()


async def _nothing(_error: Exception) -> None:
    """What breaks is the test's own doing."""


@dataclass
class SlowHistory(History):
    """A table at which something happens every twenty seconds."""

    def _seal(self, kind: str, data: dict[str, Any]) -> None:
        seq = len(self.events) + 1
        stamp = Stamp("boot-1", seq * 20 * 10**9, "2026-11-29T22:10:00.000Z", "synced")
        self.events.append(seal(self.table, seq, stamp, kind, data, self.last_hash))


@dataclass
class LateHistory(History):
    """A table whose clock is years behind."""

    def _seal(self, kind: str, data: dict[str, Any]) -> None:
        seq = len(self.events) + 1
        stamp = Stamp("boot-1", seq * 10**9, "2019-02-03T04:05:06.789Z", "free")
        self.events.append(seal(self.table, seq, stamp, kind, data, self.last_hash))


@contextlib.contextmanager
def central_server(folder: Path) -> Iterator[CentralServer]:
    """A NATS server with the stream."""
    with CentralServer(folder) as server:
        # Playwright has a loop of its own in the tests' thread.
        loop = Loop()
        loop.do(ensure_stream(server.url))
        loop.close()
        yield server
