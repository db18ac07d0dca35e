"""The centre in the simulation: one subject of a JetStream stream in memory, and links to it that fail."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Final, NoReturn

from device.event import Stamp, parse, seal
from device.uplink import CentralLog, Deliver
from device.uplink_protocol import EMPTY_LOG, PACK_BYTES_MAX, Batch, DeliveryError, LogEnd, headers, read_log_end
from tests.simulator.simulated_loop import SimulatedLoop

REQUEST_TIMEOUT_S: Final = 5.0
LATE_MAX_S: Final = 30.0


@dataclass(frozen=True)
class Message:
    """One message of the log: the stream's number of it, its name, and when it came."""

    sequence: int
    name: str
    payload: bytes
    came_s: float


class WrongLastSequence(Exception):
    """The log does not end where the publisher said."""


class CentralServer:
    """A stream with one subject. Its semantics are JetStream's, as `nats_log` finds them."""

    def __init__(self, loop: SimulatedLoop, duplicate_window_s: float) -> None:
        self._loop = loop
        self._window_s = duplicate_window_s
        self.messages: list[Message] = []
        self.starts = 1
        self._last_sequence = 0
        self._names: dict[str, tuple[int, float]] = {}

    def publish(self, name: str, payload: bytes, expected_sequence: int | None) -> tuple[int, bool]:
        """The sequence of the message, and whether one of this name was there before. Raises WrongLastSequence.

        `expected_sequence` None: the publisher does not say where the log ends.
        """
        known = self._names.get(name)
        if known is not None and self._loop.time() - known[1] < self._window_s:
            return known[0], True
        last = self.messages[-1].sequence if self.messages else 0
        if expected_sequence not in (None, last):
            raise WrongLastSequence
        return self.append(name, payload), False

    def append(self, name: str, payload: bytes) -> int:
        """Write a message, whatever is there."""
        self._last_sequence += 1
        now_s = self._loop.time()
        self.messages.append(Message(self._last_sequence, name, payload, now_s))
        self._names[name] = (self._last_sequence, now_s)
        return self._last_sequence

    def end(self) -> LogEnd:
        """Where the log ends."""
        if not self.messages:
            return EMPTY_LOG
        return read_log_end(self.messages[-1].sequence, self.messages[-1].payload)

    def lose_tail(self, count: int, *, purged: bool) -> None:
        """Lose the last messages: by a crash, after which numbers and names are those of what is left, or purged."""
        del self.messages[max(0, len(self.messages) - count) :]
        if not purged:
            self.starts += 1
            self._last_sequence = self.messages[-1].sequence if self.messages else 0
            self._names = {message.name: (message.sequence, message.came_s) for message in self.messages}

    def lines(self) -> list[str]:
        """The events in the log, in order."""
        return [line for message in self.messages for line in message.payload.decode().split("\n")]


@dataclass
class Network:
    """How the way to the centre is. Chances are of each request."""

    is_down: bool = False
    is_half_open: bool = False
    lost_request: float = 0.0
    lost_answer: float = 0.0
    doubled: float = 0.0
    late: float = 0.0
    latency_max_s: float = 0.02


class SimulatedCentral:
    """A CentralSystem over a network that fails.

    `on_asked` is told when the table says something, and gives back whether that leaves a machine that has power;
    `on_written` is told of what the log has taken.
    """

    name = "simulated"

    def __init__(self, loop: SimulatedLoop, random: Random, table: str, struck: "Counter[str]") -> None:
        self._loop = loop
        self._random = random
        self._table = table
        self._struck = struck
        self._broken: asyncio.Event = asyncio.Event()
        self.server: Final = CentralServer(loop, random.choice((2.0, 20.0, 120.0)))
        self.network = Network()
        self._foreign: set[bytes] = set()
        self.on_asked: Callable[[], bool] = _yes
        self.on_written: Callable[[], None] = _nothing

    def cut(self) -> None:
        """End the links that there are."""
        self._broken.set()
        self._broken = asyncio.Event()

    async def use(self, deliver: Deliver) -> NoReturn:
        await self.travel()
        if self.network.is_half_open:
            await asyncio.sleep(REQUEST_TIMEOUT_S)
            raise DeliveryError("the central server does not answer in time")
        if self.network.is_down:
            raise DeliveryError("the central server takes no connections; it may be down")
        link: CentralLog = _Link(self)
        delivery = asyncio.ensure_future(deliver(link))
        breaking = asyncio.ensure_future(self._broken.wait())
        try:
            await asyncio.wait({delivery, breaking}, return_when=asyncio.FIRST_COMPLETED)
            if delivery.done() and not delivery.cancelled():
                delivery.result()
            raise DeliveryError("the link to the central server broke off")
        finally:
            delivery.cancel()
            breaking.cancel()
            await asyncio.gather(delivery, breaking, return_exceptions=True)

    async def travel(self) -> None:
        """The time that a message takes."""
        await asyncio.sleep(self._random.uniform(0.000_1, self.network.latency_max_s))

    def happens(self, what: str, chance: float) -> bool:
        """Whether a fault of this chance strikes now."""
        struck = chance > 0 and self._random.random() < chance
        if struck:
            self._struck[f"network: {what}"] += 1
        return struck

    async def request(self) -> None:
        """A request goes to the server. Raises DeliveryError when nothing comes of it."""
        await self.travel()
        if self.network.is_half_open or self.happens("request lost", self.network.lost_request):
            await asyncio.sleep(REQUEST_TIMEOUT_S)
            raise DeliveryError("the central server does not answer in time")

    async def answer(self) -> None:
        """The answer goes back. Raises DeliveryError when it does not arrive."""
        if self.happens("answer lost", self.network.lost_answer):
            await asyncio.sleep(REQUEST_TIMEOUT_S)
            raise DeliveryError("the central server does not answer in time")
        await self.travel()

    async def publish(self, batch: Batch, sequence: int) -> int | None:
        """See CentralLog."""
        if not self.on_asked():
            await asyncio.Event().wait()
        said = headers(self._table, batch, sequence)
        name = said["Nats-Msg-Id"]
        sent = said.get("Nats-Expected-Last-Subject-Sequence")
        expected = None if sent is None else int(sent)
        if self.happens("request late", self.network.late):
            late_s = self._random.uniform(0, LATE_MAX_S)
            self._loop.call_later(late_s, self._write_late, self.server.starts, name, batch.payload, expected)
            await asyncio.sleep(REQUEST_TIMEOUT_S)
            raise DeliveryError("the central server does not answer in time")
        await self.request()
        written = self._write(name, batch.payload, expected)
        if self.happens("request doubled", self.network.doubled):
            self._write(name, batch.payload, expected)
        await self.answer()
        return written

    def _write(self, name: str, payload: bytes, expected: int | None) -> int | None:
        try:
            sequence, is_duplicate = self.server.publish(name, payload, expected)
        except WrongLastSequence:
            return None
        if is_duplicate:
            return None
        self.on_written()
        return sequence

    def _write_late(self, start: int, name: str, payload: bytes, expected: int | None) -> None:
        # What was under way to a server does not outlive that server.
        if start == self.server.starts:
            self._write(name, payload, expected)

    def second_unit_writes(self) -> None:
        """Another unit under this table's name goes on from a copy of the journal."""
        lines = self.server.lines()
        if not lines:
            return
        last = parse(lines[-1])
        stamp = Stamp("another-boot", 1, last.wall, last.clock)
        event = seal(last.table, last.seq + 1, stamp, "new_shooter_elsewhere", {}, last.hash)
        payload = event.line().encode()
        self._foreign.add(payload)
        self.server.append(f"{self._table}:{event.seq}-{event.seq}", payload)

    @property
    def has_second_unit(self) -> bool:
        """Whether the log holds what another unit wrote."""
        return bool(self._foreign) and any(message.payload in self._foreign for message in self.server.messages)


class _Link:
    """One link to the centre (`uplink.CentralLog`)."""

    bytes_max = PACK_BYTES_MAX

    def __init__(self, central: SimulatedCentral) -> None:
        self._central = central

    async def end(self) -> LogEnd:
        await self._central.request()
        end = self._central.server.end()
        await self._central.answer()
        return end

    async def publish(self, batch: Batch, sequence: int) -> int | None:
        return await self._central.publish(batch, sequence)

    async def tell(self, presence: bytes) -> None:
        """Nobody watches."""


def _yes() -> bool:
    """Whoever asks has power."""
    return True


def _nothing() -> None:
    """Nobody wants to know."""
