"""The table's end of the line to the I/O node, through pyserial. Nothing here waits for the node."""

import os
import select
import struct
import termios
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import serial

from drivers import node_codec as codec
from drivers.line_noise import WINDOW_SECONDS, LineNoise
from drivers.node_port import NodePortBusy as NodePortBusy
from drivers.node_port import NodePortMissing, Opening, close_port

READ_MAX = 4096
REOPEN_MS = 500
# A node that cannot be used needs somebody to do something first.
UNUSABLE_REOPEN_MS = 5000
OPEN_SECONDS = 2.0
ATTACH_MS = 500
BEAT_MS = 1000
# The node beats at least once a second.
NODE_SILENT_MS = 3000
FRAME_GAP_MS = 100
# What MicroPython's prompt, and a program that is just being started, take as orders: to stop, and to start anew.
ORDERS = b"\x03\x04"

_REFUSALS = {
    codec.MALFORMED: "it does not understand it",
    codec.TOO_MANY_INPUTS: f"it reads at most {codec.INPUTS_MAX} inputs, not {{pin}}",
    codec.PIN_MISSING: "its board has no pin {pin} for this",
    codec.PIN_TWICE: "its pin {pin} is used twice",
    codec.SETTLE_TOO_SHORT: f"the settle time of its pin {{pin}} is under {codec.SETTLE_MS_MIN} ms",
}


class NodeUnusable(Exception):
    """The node answers, but not in a way that is of use: it needs another firmware or another configuration."""


@dataclass(frozen=True)
class NodeUp:
    """The node answers, with our configuration.

    `gap_ms` is how long it was away, None at the first contact. `restarted`: it was reset since this program or, after
    `resume`, its journal last heard of it. `dropped`: changes that are known to be lost since then; of a reset, those
    that it had told of and not yet handed over. `levels`: by pin, whether the contact was closed before the first
    report that follows.
    """

    gap_ms: int | None
    restarted: bool
    dropped: int
    levels: Mapping[int, bool]
    # Changes that the node had no room for since its start.
    total: int = field(default=0, compare=False)


@dataclass(frozen=True)
class NodeDown:
    """The node does not answer any more, or did not within NODE_SILENT_MS of the first try."""

    reason: str


@dataclass(frozen=True)
class Report:
    """One change of one contact. `time_ms` is the node's own time, `held_ms` the time since its change before.

    `initial`: the contact was closed already when the node began to look, or it is the release of such a one.
    """

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


@dataclass(frozen=True)
class ReportsDropped:
    """While it was in contact, the node had no room for so many more changes; `total` since its start."""

    changes: int
    total: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Noisy:
    """So many frames were lost, in both directions, within the last `seconds`. Nothing else is lost yet."""

    frames: int
    seconds: int


@dataclass(frozen=True)
class Quiet:
    """The line, which was noisy, has been good for a while."""


LinkEvent = NodeUp | NodeDown | Report | NodeTime | ReportsDropped | Noisy | Quiet


def make_attach_frame() -> tuple[int, bytes]:
    """A token of its own for each opening, with its ATTACH, such that the board takes nothing in it as an order."""
    while True:
        token = int.from_bytes(os.urandom(2), "big")
        frame = codec.encode(0, codec.ATTACH, struct.pack(codec.ATTACH_FORMAT, token))
        if not any(order in frame for order in ORDERS):
            return token, frame


class NodeLink:
    """Hands every report of the node out once and in order, and keeps it on the node until `acknowledge`.

    `port` is a path, or "usb:" and a USB serial number. It may vanish and return, under another name if it is given by
    its number. `inputs` are pins of the node, each with the milliseconds (2 to 255) that a contact must be quiet;
    `outputs` are pins too. To a new program the link hands out every report that the node still has.

    `firmware` and `configuration_crc` are the node's own word on itself, `device` is the path now in use, and `error`
    says why the node is not in contact.
    """

    def __init__(self, port: str, *, inputs: Sequence[tuple[int, int]], outputs: Sequence[int]) -> None:
        self.port = port
        self.device: str | None = None
        self.online = False
        self.error: str | None = None
        self.firmware: str | None = None
        self.configuration_crc: int | None = None
        self.boot_id: int | None = None
        self.last_taken = 0
        self.acknowledged = 0
        self.outputs = 0
        self._gaps = 0
        self._repeated = 0
        self._dropped = 0
        self._waiting = 0
        self._pins = [pin for pin, _ in inputs]
        self._configuration = codec.encode_configuration(list(inputs), list(outputs))
        self._opening: Opening | None = None
        self._serial: serial.Serial | None = None
        self._decoder = codec.Decoder()
        self._noise = LineNoise()
        self._lost_told = 0
        # Frames of ours that the node missed, and its counter that this was made from.
        self._node_lost = 0
        self._node_lost_u16: int | None = None
        self._told_down = False
        self._first_poll_ms: int | None = None
        self._heard_ms: int | None = None
        self._last_online_ms: int | None = None
        self._opened_ms = 0
        self._received_ms = 0
        self._retry_ms = 0
        self._attach_frame = b""
        self._attach_ms = 0
        self._beat_ms = 0
        self._configure_due = False
        self._acknowledge_due = False
        self._beat_due = False
        self._sending = b""
        self._token = 0
        self._sequence = 0
        # The newest report that the node has told of; None before its first word to this program.
        self._last_told: int | None = None
        self._dropped_told = 0
        # The node's time, unwrapped, and the ticks it was made from.
        self._time_ms = 0
        self._ticks: int | None = None

    def resume(self, boot_id: int, dropped: int) -> None:
        """Before the first poll: the boot that the journal knows, and how much it dropped by then (`total`).

        So `NodeUp.restarted` is right, and what was dropped is told once.
        """
        self.boot_id = boot_id
        self._dropped_told = dropped

    def open(self) -> bool:
        """Try to open the port; False when it is not there, or hangs for OPEN_SECONDS: then `poll` goes on trying.

        Raises NodePortBusy when another program has it.
        """
        self._opening = Opening(self.port)
        try:
            opened = self._opening.result(OPEN_SECONDS)
        except NodePortBusy as busy:
            self._opening = None
            self.error = str(busy)
            raise
        except NodePortMissing as missing:
            self._opening = None
            self.error = str(missing)
            return False
        if opened is None:
            self.error = f"the I/O node's port {self.port} does not open: the device hangs"
            return False
        self._take(opened)
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
        """Drive the node's outputs: bit n is the n-th of `outputs`. Said again and again, as the node forgets them."""
        if bits != self.outputs:
            self.outputs = bits
            self._beat_due = True

    def counters(self) -> dict[str, int]:
        """How well the line does, since this program began.

        lost_frames, node_lost_frames: frames of the node, and ours to it, that did not arrive. bad_crc, dropped_bytes:
        what came instead. gaps: reports that came before one that was lost. repeated: reports that came again.
        dropped: changes the node had no room for since its own start. waiting: reports that the node keeps now.
        """
        return {
            "lost_frames": self._decoder.lost_frames,
            "node_lost_frames": self._node_lost,
            "bad_crc": self._decoder.bad_crc,
            "dropped_bytes": self._decoder.dropped_bytes,
            "gaps": self._gaps,
            "repeated": self._repeated,
            "dropped": self._dropped,
            "waiting": self._waiting,
        }

    def poll(self, now_ms: int) -> list[LinkEvent]:
        """Read and write what can be done at once. Call at least every 100 ms, and when `fileno` is ready."""
        if self._first_poll_ms is None:
            self._first_poll_ms = now_ms
        if not self._is_open(now_ms):
            return self._down_if_silent(now_ms, self.error or "its port is being opened")
        if self._opened_ms < 0:
            self._opened_ms = self._received_ms = self._attach_ms = now_ms
        events: list[LinkEvent] = []
        try:
            self._read(now_ms, events)
            self._write(now_ms)
        except NodeUnusable as unusable:
            return events + self._lose(now_ms, str(unusable), UNUSABLE_REOPEN_MS)
        except (OSError, termios.error) as error:
            return events + self._lose(now_ms, str(error), REOPEN_MS)
        events += self._judge_noise(now_ms)
        heard_ms = max(self._opened_ms, self._heard_ms or self._opened_ms)
        if now_ms - heard_ms >= NODE_SILENT_MS:
            events += self._lose(now_ms, f"nothing heard for {NODE_SILENT_MS // 1000} seconds", REOPEN_MS)
        return events

    def close(self) -> None:
        """Close the port. The node keeps what was not acknowledged."""
        if self._opening is not None:
            self._opening.give_up()
            self._opening = None
        if self._serial is not None:
            close_port(self._serial)
            self._serial = None
        self.device = None
        self.online = False

    def _is_open(self, now_ms: int) -> bool:
        if self._serial is not None:
            return True
        if self._opening is None:
            if now_ms < self._retry_ms:
                return False
            self._opening = Opening(self.port)
        try:
            opened = self._opening.result(0)
        except (NodePortBusy, NodePortMissing) as error:
            self._opening = None
            self._retry_ms = now_ms + REOPEN_MS
            self.error = str(error)
            return False
        if opened is None:
            return False
        self._take(opened)
        return True

    def _take(self, opened: serial.Serial) -> None:
        self._opening = None
        self._serial = opened
        self.device = str(Path(str(opened.port)).resolve())
        self.error = None
        self._decoder.forget()
        self._node_lost_u16 = None
        self._sending = b""
        self._configure_due = False
        self._token, self._attach_frame = make_attach_frame()
        # The first poll sends ATTACH and starts the clock for silence.
        self._opened_ms = self._attach_ms = -1

    def _lose(self, now_ms: int, reason: str, retry_ms: int) -> list[LinkEvent]:
        was_online = self.online
        assert self._serial is not None
        # What hangs is left to itself.
        close_port(self._serial, 0)
        self._serial = None
        self.device = None
        self.online = False
        self.error = reason
        self._retry_ms = now_ms + retry_ms
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

    def _judge_noise(self, now_ms: int) -> list[LinkEvent]:
        lost = self._decoder.lost_frames + self._node_lost
        change = self._noise.feed(now_ms, lost - self._lost_told)
        self._lost_told = lost
        if change == "noisy":
            return [Noisy(self._noise.recent, WINDOW_SECONDS)]
        return [Quiet()] if change == "quiet" else []

    def _read(self, now_ms: int, events: list[LinkEvent]) -> None:
        assert self._serial is not None
        data = self._serial.read(READ_MAX)
        if data:
            self._received_ms = now_ms
            frames = self._decoder.feed(data)
        elif self._decoder.waiting and now_ms - self._received_ms >= FRAME_GAP_MS:
            frames = self._decoder.give_up()
        else:
            return
        for _sequence, kind, payload in frames:
            if kind == codec.HELLO:
                events += self._hello(now_ms, payload)
            elif kind == codec.REFUSED:
                self._refused(codec.unpack(codec.REFUSED_FORMAT, payload))
            elif kind == codec.REPORT and self.online:
                events += self._report(codec.unpack(codec.REPORT_FORMAT, payload))
            elif kind == codec.BEAT and self.online:
                events += self._beat(codec.unpack(codec.NODE_BEAT_FORMAT, payload))
            self._heard_ms = now_ms
            if self.online:
                self._last_online_ms = now_ms

    def _hello(self, now_ms: int, payload: bytes) -> list[LinkEvent]:
        if len(payload) >= 3 and payload[0] != codec.PROTOCOL:
            raise NodeUnusable(
                f"its firmware {payload[1]}.{payload[2]} speaks protocol {payload[0]}, not {codec.PROTOCOL}; "
                "install it again with: boxman node install"
            )
        numbers = codec.unpack(codec.HELLO_FORMAT, payload)
        if not numbers:
            return []
        _, major, minor, token, boot_id, configuration, first, dropped, levels = numbers
        if token != self._token:
            # The answer to somebody before us.
            return []
        self.firmware = f"{major}.{minor}"
        self.configuration_crc = configuration
        if configuration != codec.configuration_crc(self._configuration):
            self._configure_due = True
            return []
        if self.online and self.boot_id == boot_id:
            return []
        restarted = self.boot_id is not None and self.boot_id != boot_id
        known = self._last_told is not None
        lost = 0
        if self.boot_id != boot_id:
            if self._last_told is not None:
                # What it had told of and not handed over went with its memory.
                lost = max(0, self._last_told - self.last_taken)
            self.boot_id = boot_id
            self._ticks = None
            self._dropped_told = 0
            known = False
        if known:
            # What it has forgotten without us, somebody else has acknowledged.
            lost += max(0, first - 1 - self.last_taken)
            self.last_taken = max(self.last_taken, first - 1)
            self.acknowledged = max(self.acknowledged, first - 1)
        else:
            self.last_taken = self.acknowledged = first - 1
        self._last_told = self.last_taken
        self._acknowledge_due = first <= self.acknowledged
        lost += (dropped - self._dropped_told) & 0xFFFFFFFF
        self._dropped_told = self._dropped = dropped
        self.online = True
        self._told_down = False
        self.error = None
        gap_ms = None if self._last_online_ms is None else now_ms - self._last_online_ms
        return [
            NodeUp(gap_ms, restarted, lost, {pin: bool(levels >> n & 1) for n, pin in enumerate(self._pins)}, dropped)
        ]

    def _refused(self, numbers: tuple[int, ...]) -> None:
        if numbers and numbers[0] == codec.configuration_crc(self._configuration):
            why = _REFUSALS.get(numbers[1], "for its reason {reason}").format(pin=numbers[2], reason=numbers[1])
            raise NodeUnusable(f"the I/O node refuses its configuration: {why}")

    def _report(self, numbers: tuple[int, ...]) -> list[LinkEvent]:
        if not numbers:
            return []
        number, ticks, pin, flags, held_ms = numbers
        assert self._last_told is not None
        self._last_told = max(self._last_told, number)
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
        ticks, last, dropped, self._waiting, node_lost = numbers
        assert self._last_told is not None
        self._last_told = max(self._last_told, last)
        if self._node_lost_u16 is not None:
            self._node_lost += (node_lost - self._node_lost_u16) & 0xFFFF
        self._node_lost_u16 = node_lost
        events: list[LinkEvent] = []
        if dropped != self._dropped_told:
            events.append(ReportsDropped((dropped - self._dropped_told) & 0xFFFFFFFF, dropped))
            self._dropped_told = self._dropped = dropped
        if last == self.last_taken:
            events.append(NodeTime(self._unwrap(ticks)))
        return events

    def _unwrap(self, ticks: int) -> int:
        """The node's time without its wrap every 2**32 ms; it never goes back."""
        passed = 0 if self._ticks is None else (ticks - self._ticks) & 0xFFFFFFFF
        if self._ticks is None:
            self._time_ms = ticks
        if passed < 1 << 31:
            self._time_ms += passed
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
            self._sequence = 0
            return self._attach_frame
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
        if self._beat_due or now_ms - self._beat_ms >= BEAT_MS:
            self._beat_due = False
            self._beat_ms = now_ms
            return self._frame(codec.BEAT, struct.pack(codec.TABLE_BEAT_FORMAT, self.outputs))
        return b""

    def _frame(self, kind: int, payload: bytes) -> bytes:
        self._sequence = (self._sequence + 1) & 255
        return codec.encode(self._sequence, kind, payload)
