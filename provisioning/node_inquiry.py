"""Asks an I/O node who it is and how it does, without configuring it or taking anything from it."""

import select
import struct
import termios
import time
from dataclasses import dataclass
from types import TracebackType

from drivers import node_codec as codec
from drivers.node_link import ATTACH_MS, READ_MAX, make_attach_frame
from drivers.node_port import NodePortMissing, close_port, open_port


@dataclass(frozen=True)
class NodeIdentity:
    """What a node says of itself first. Of a node that speaks another protocol, only that and its firmware is known."""

    protocol: int
    firmware: str
    boot_id: int = 0
    # None: it has none.
    configuration: int | None = None


@dataclass(frozen=True)
class NodeCondition:
    """How a node does: its time since its start, its reports and losses."""

    running_ms: int
    waiting: int
    dropped: int
    lost_frames: int


class NodePortGone(NodePortMissing):
    """The device vanished while it was spoken with."""


class NodeInquiry:
    """A conversation with the node at `port`. Raises NodePortBusy, NodePortMissing; NodePortGone at any time later."""

    def __init__(self, port: str) -> None:
        self._port = port
        self._serial = open_port(port)
        self._decoder = codec.Decoder()
        self._token, self._attach = make_attach_frame()
        self._sequence = 0

    def identity(self, seconds: float) -> NodeIdentity | None:
        """Ask until the node answers; None when it does not within this time."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self._sequence = 0
            self._write(self._attach)
            payload = self._frame(codec.HELLO, min(left, ATTACH_MS / 1000))
            if payload is None or len(payload) < 3:
                continue
            firmware = f"{payload[1]}.{payload[2]}"
            if payload[0] != codec.PROTOCOL:
                return NodeIdentity(payload[0], firmware)
            numbers = codec.unpack(codec.HELLO_FORMAT, payload)
            if numbers and numbers[3] == self._token:
                return NodeIdentity(payload[0], firmware, numbers[4], numbers[5] or None)
        return None

    def condition(self, seconds: float) -> NodeCondition | None:
        """Wait for the node's next word on how it does; None when it says none within this time."""
        payload = self._frame(codec.BEAT, seconds)
        numbers = codec.unpack(codec.NODE_BEAT_FORMAT, payload or b"")
        return NodeCondition(numbers[0], numbers[3], numbers[2], numbers[4]) if numbers else None

    def send_to_prompt(self, boot_id: int) -> None:
        """Make the node restart to MicroPython's prompt."""
        self._sequence += 1
        self._write(codec.encode(self._sequence, codec.INSTALL, struct.pack(codec.INSTALL_FORMAT, boot_id)))

    def close(self) -> None:
        """Give the port back."""
        close_port(self._serial)

    def __enter__(self) -> "NodeInquiry":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _frame(self, wanted: int, seconds: float) -> bytes | None:
        """The payload of the next frame of a type."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            for _sequence, kind, payload in self._decoder.feed(self._read(left)):
                if kind == wanted:
                    return payload
        return None

    def _read(self, seconds: float) -> bytes:
        try:
            if not select.select([self._serial.fileno()], [], [], seconds)[0]:
                return b""
            return bytes(self._serial.read(READ_MAX))
        except (OSError, termios.error) as error:
            raise NodePortGone(f"the I/O node's port {self._port} has gone: {error}") from error

    def _write(self, data: bytes) -> None:
        """Write as much as there is room for: a frame that does not fit is said again or missed."""
        try:
            if select.select([], [self._serial.fileno()], [], 0)[1]:
                self._serial.write(data)
        except (OSError, termios.error) as error:
            raise NodePortGone(f"the I/O node's port {self._port} has gone: {error}") from error
