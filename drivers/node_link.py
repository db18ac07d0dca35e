"""The table's end of the line to the I/O node, through pyserial. Nothing here waits for the node."""

import errno
import select
import struct
import termios
from collections.abc import Sequence
from dataclasses import dataclass

import serial

from drivers import node_codec as codec

BAUD = 115200
READ_MAX = 4096
REOPEN_MS = 500
ATTACH_MS = 500
BEAT_MS = 1000
# The node beats at least once a second.
NODE_SILENT_MS = 3000
FRAME_GAP_MS = 100


class NodePortBusy(Exception):
    """Another program holds the node's port."""


@dataclass(frozen=True)
class NodeUp:
    """The node answers, with our configuration. The fields are those of `signals.NodeFound`."""

    gap_ms: int | None
    restarted: bool
    dropped: int


@dataclass(frozen=True)
class NodeDown:
    """The node does not answer any more, or did not within NODE_SILENT_MS of the first try."""

    reason: str


@dataclass(frozen=True)
class Report:
    """One change of one contact. `time_ms` is the node's own time, `held_ms` the time since its change before."""

    number: int
    time_ms: int
    pin: int
    closed: bool
    initial: bool
    held_ms: int


@dataclass(frozen=True)
class NodeTime:
    """Up to this time of the node there is no report that has not been handed out."""

    time_ms: int


LinkEvent = NodeUp | NodeDown | Report | NodeTime


class NodeLink:
    """Hands every report of the node out once and in order, and keeps it on the node until `acknowledge`.

    `port` is a path that keeps naming the same node, such as those under /dev/serial/by-id. It may vanish and return.
    `inputs` and `outputs` are pins of the node; `settle_ms` (2 to 255) is how long a contact must be quiet.
    """

    def __init__(self, port: str, *, inputs: Sequence[int], outputs: Sequence[int], settle_ms: int) -> None:
        self.port = port
        self.online = False
        self.error: str | None = None
        self.boot_id: int | None = None
        self.last_taken = 0
        self.acknowledged = 0
        self.outputs = 0
        self._lost_frames = 0
        self._repeated = 0
        self._gaps = 0
        self._dropped = 0
        self._configuration = bytes((settle_ms, len(inputs), *inputs, *outputs))
        self._serial: serial.Serial | None = None
        self._decoder = codec.Decoder()
        self._told_down = False
        self._first_poll_ms: int | None = None
        self._heard_ms: int | None = None
        self._last_online_ms: int | None = None
        self._opened_ms = 0
        self._received_ms = 0
        self._retry_ms = 0
        self._attach_ms = 0
        self._beat_ms = 0
        self._configure_due = False
        self._acknowledge_due = False
        self._outputs_due = False
        self._sending = b""
        self._sequence = 0
        self._peer_sequence: int | None = None
        self._dropped_told = 0
        # The node's time, unwrapped, and the ticks it was made from.
        self._time_ms = 0
        self._ticks: int | None = None

    def resume(self, boot_id: int, number: int) -> None:
        """Before the first poll: what is known of an earlier run. Reports of that boot up to `number` are done."""
        self.boot_id = boot_id
        self.last_taken = self.acknowledged = number

    def open(self) -> bool:
        """Try to open the port; False when it is not there.

        Raises NodePortBusy when another program has it.
        """
        try:
            self._serial = serial.Serial(self.port, BAUD, timeout=0, write_timeout=0, exclusive=True)
        except (OSError, termios.error, ValueError) as error:
            # pyserial wraps only some of what the system says of a device that is being pulled.
            self.error = str(error)
            if isinstance(error, serial.SerialException) and error.errno in (errno.EAGAIN, errno.EBUSY):
                raise NodePortBusy(
                    f"the I/O node at {self.port} is in use by another program; stop that program, or name another port"
                ) from error
            return False
        self.error = None
        self._decoder.forget()
        self._peer_sequence = None
        self._sending = b""
        self._configure_due = False
        # The first poll sends ATTACH and starts the clock for silence.
        self._opened_ms = self._attach_ms = -1
        return True

    def fileno(self) -> int | None:
        """The descriptor that becomes readable when the node says something; None while the port is not open."""
        return None if self._serial is None else self._serial.fileno()

    def acknowledge(self, number: int) -> None:
        """The node may forget its reports up to `number`."""
        if number > self.acknowledged:
            self.acknowledged = number
            self._acknowledge_due = True

    def set_outputs(self, bits: int) -> None:
        """Drive the node's outputs: bit n is the n-th of `outputs`. Said again to a node that comes back."""
        if bits != self.outputs:
            self.outputs = bits
            self._outputs_due = True

    def counters(self) -> dict[str, int]:
        """How well the line does. Alert on the rate of the first three, and on any `dropped`.

        bad_crc, dropped_bytes, lost_frames: noise. gaps: reports that came before one that was lost. repeated: reports
        that came again. dropped: changes the node had no room for since its start.
        """
        return {
            "bad_crc": self._decoder.bad_crc,
            "dropped_bytes": self._decoder.dropped_bytes,
            "lost_frames": self._lost_frames,
            "gaps": self._gaps,
            "repeated": self._repeated,
            "dropped": self._dropped,
        }

    def poll(self, now_ms: int) -> list[LinkEvent]:
        """Read and write what can be done at once. Call at least every 100 ms, and when `fileno` is ready."""
        if self._first_poll_ms is None:
            self._first_poll_ms = now_ms
        if self._serial is None:
            if now_ms < self._retry_ms:
                return self._down_if_silent(now_ms, self.error or "closed")
            self._retry_ms = now_ms + REOPEN_MS
            try:
                opened = self.open()
            except NodePortBusy as busy:
                self.error = str(busy)
                opened = False
            if not opened:
                return self._down_if_silent(now_ms, self.error or "closed")
        if self._opened_ms < 0:
            self._opened_ms = self._received_ms = self._attach_ms = now_ms
        events: list[LinkEvent] = []
        try:
            events += self._read(now_ms)
            self._write(now_ms)
        except (OSError, termios.error) as error:
            return events + self._lose(now_ms, str(error))
        heard_ms = max(self._opened_ms, self._heard_ms or self._opened_ms)
        if now_ms - heard_ms >= NODE_SILENT_MS:
            events += self._lose(now_ms, f"nothing heard for {NODE_SILENT_MS // 1000} seconds")
        return events

    def close(self) -> None:
        """Close the port. The node keeps what was not acknowledged."""
        if self._serial is not None:
            self._serial.close()
            self._serial = None
        self.online = False

    def _lose(self, now_ms: int, reason: str) -> list[LinkEvent]:
        was_online = self.online
        self.close()
        self.error = reason
        self._retry_ms = now_ms + REOPEN_MS
        if was_online:
            self._told_down = True
            return [NodeDown(reason)]
        return self._down_if_silent(now_ms, reason)

    def _down_if_silent(self, now_ms: int, reason: str) -> list[LinkEvent]:
        """Tell once of a node that was never there."""
        assert self._first_poll_ms is not None
        if self._told_down or now_ms - self._first_poll_ms < NODE_SILENT_MS:
            return []
        self._told_down = True
        return [NodeDown(reason)]

    def _read(self, now_ms: int) -> list[LinkEvent]:
        assert self._serial is not None
        data = self._serial.read(READ_MAX)
        if data:
            self._received_ms = now_ms
            frames = self._decoder.feed(data)
        elif self._decoder.waiting and now_ms - self._received_ms >= FRAME_GAP_MS:
            frames = self._decoder.give_up()
        else:
            return []
        events: list[LinkEvent] = []
        for sequence, kind, payload in frames:
            if self._peer_sequence is not None:
                self._lost_frames += (sequence - self._peer_sequence - 1) & 255
            self._peer_sequence = sequence
            if kind == codec.HELLO:
                events += self._hello(now_ms, codec.unpack(codec.HELLO_FORMAT, payload))
            elif kind == codec.REPORT and self.online:
                events += self._report(codec.unpack(codec.REPORT_FORMAT, payload))
            elif kind == codec.BEAT and self.online:
                events += self._beat(codec.unpack(codec.BEAT_FORMAT, payload))
            self._heard_ms = now_ms
            if self.online:
                self._last_online_ms = now_ms
        return events

    def _hello(self, now_ms: int, numbers: tuple[int, ...]) -> list[LinkEvent]:
        if not numbers:
            return []
        protocol, major, minor, boot_id, configuration, first, dropped = numbers
        if protocol != codec.PROTOCOL:
            raise OSError(
                f"its firmware {major}.{minor} speaks protocol {protocol}, not {codec.PROTOCOL}; flash it again"
            )
        if configuration != codec.crc16(self._configuration):
            self._configure_due = True
            return []
        restarted = self.boot_id is not None and self.boot_id != boot_id
        if self.online and not restarted:
            return []
        if self.boot_id != boot_id:
            self.boot_id = boot_id
            self.last_taken = self.acknowledged = 0
            self._ticks = None
            self._dropped_told = 0
        # What the node has forgotten, somebody has acknowledged.
        self.last_taken = max(self.last_taken, first - 1)
        self.acknowledged = max(self.acknowledged, first - 1)
        self._acknowledge_due = first <= self.acknowledged
        self._outputs_due = True
        self.online = True
        self._told_down = False
        self.error = None
        gap_ms = None if self._last_online_ms is None else now_ms - self._last_online_ms
        newly_dropped = dropped - self._dropped_told
        self._dropped_told = self._dropped = dropped
        return [NodeUp(gap_ms, restarted, newly_dropped)]

    def _report(self, numbers: tuple[int, ...]) -> list[LinkEvent]:
        if not numbers:
            return []
        number, ticks, pin, flags, held_ms = numbers
        if number <= self.last_taken:
            self._repeated += 1
            # Our acknowledgement was lost, if there was one.
            self._acknowledge_due = self._acknowledge_due or number <= self.acknowledged
            return []
        if number > self.last_taken + 1:
            # One before it was lost on the way; the node repeats both.
            self._gaps += 1
            return []
        self.last_taken = number
        closed = bool(flags & codec.CLOSED)
        return [Report(number, self._unwrap(ticks), pin, closed, bool(flags & codec.INITIAL), held_ms)]

    def _beat(self, numbers: tuple[int, ...]) -> list[LinkEvent]:
        if not numbers:
            return []
        ticks, last, dropped, _waiting = numbers
        self._dropped = dropped
        return [NodeTime(self._unwrap(ticks))] if last == self.last_taken else []

    def _unwrap(self, ticks: int) -> int:
        """The node's time without its wrap every 2**32 ms."""
        if self._ticks is None:
            self._time_ms = ticks
        else:
            self._time_ms += (ticks - self._ticks) & 0xFFFFFFFF
        self._ticks = ticks
        return self._time_ms

    def _write(self, now_ms: int) -> None:
        assert self._serial is not None
        while True:
            if not self._sending:
                self._sending = self._next_frame(now_ms)
            # pyserial spins on a full port whatever its write timeout, so it is only given what the port has room for.
            if not self._sending or not select.select([], [self._serial.fileno()], [], 0)[1]:
                return
            self._sending = self._sending[self._serial.write(self._sending) or 0 :]

    def _next_frame(self, now_ms: int) -> bytes:
        if not self.online and now_ms >= self._attach_ms:
            self._attach_ms = now_ms + ATTACH_MS
            return self._frame(codec.ATTACH, b"")
        if self._configure_due:
            self._configure_due = False
            return self._frame(codec.CONFIGURE, self._configuration)
        if not self.online:
            return b""
        if self._acknowledge_due:
            self._acknowledge_due = False
            return self._frame(
                codec.ACKNOWLEDGE, struct.pack(codec.ACKNOWLEDGE_FORMAT, self.boot_id, self.acknowledged)
            )
        if self._outputs_due:
            self._outputs_due = False
            return self._frame(codec.OUTPUTS, struct.pack(codec.OUTPUTS_FORMAT, self.outputs))
        if now_ms - self._beat_ms >= BEAT_MS:
            self._beat_ms = now_ms
            return self._frame(codec.BEAT, b"")
        return b""

    def _frame(self, kind: int, payload: bytes) -> bytes:
        self._sequence = (self._sequence + 1) & 255
        return codec.encode(self._sequence, kind, payload)
