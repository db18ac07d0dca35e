"""The I/O node: samples contacts, numbers their changes and repeats them until the table has taken them.

It sees its surroundings through a board (`board_pico`, `board_virtual`) and waits for nobody: what a
table does not take now is offered again, and a table that does not read costs no sample.
"""

import struct

from drivers import node_codec as codec
from drivers.debounce import Debouncer
from drivers.node_firmware.board import Board

FIRMWARE = (2, 0)
SAMPLE_MS = 2
REPORTS_MAX = 128
# After so long, an input that still bounces keeps the table waiting no more.
SETTLING_MS = 500
RESEND_MS = 1000
# A table that was silent for so long is gone; it beats every second while it is there.
TABLE_SILENT_MS = 3000
# Beats carry the time in which the table sees a key being held, so they are quick while something is going on.
BEAT_BUSY_MS = 100
BEAT_IDLE_MS = 1000
# A frame is sent in one piece: a gap of this length inside one means that its rest was lost.
FRAME_GAP_MS = 100
FRAMES_PER_STEP = 4
U16 = 0xFFFF
U32 = 0xFFFFFFFF


class Input:
    """One contact: its debouncer, when it changed, and what the table was told or has acknowledged of it."""

    def __init__(self, pin: int, settle_ms: int, now_ms: int) -> None:
        self.pin = pin
        self.debouncer = Debouncer(settle_ms)
        self.settled = False
        self.changed_at_ms = now_ms
        self.held_ms = 0
        # Closed when sampling began, and still; the second is what the table was told.
        self.initial = False
        self.told_initial = False
        # Its last change waits for room.
        self.waits = False
        # The level before the oldest report that waits.
        self.acknowledged = False


class Report:
    """A report that waits for its acknowledgement."""

    def __init__(self, number: int, payload: bytes, line: Input, closed: bool) -> None:
        self.number = number
        self.payload = payload
        self.line = line
        self.closed = closed


class Node:
    """The node's whole state. `step` does what is to be done now and never waits, save for the flash."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._boot_id = board.random_u32()
        self._ticks = board.ticks_ms()
        self._now_ms = 0
        self._configuration = b""
        self._refusal = b""
        self._inputs: list[Input] = []
        self._levels: list[bool] = []
        # Whether an input has a level that it does not have for long enough.
        self._unsettled = False
        # Not every input has had its first settled level: changes are kept apart, to be numbered after those.
        self._settling = False
        self._configured_ms = 0
        self._early: list[Report] = []
        # Oldest first, at most REPORTS_MAX with those in `_early`.
        self._reports: list[Report] = []
        # Inputs whose last change has no report for want of room, in the order of these changes.
        self._waiting: list[Input] = []
        self._last_number = 0
        self._dropped = 0
        # The next of `_reports` to send; those before it are on their way.
        self._next = 0
        # When the oldest report was last sent, or one was acknowledged.
        self._progress_ms = 0
        self._decoder = codec.Decoder()
        self._heard_ms: int | None = None
        self._received_ms = 0
        self._sequence = 0
        self._sending = b""
        self._hello_due = False
        self._token = 0
        self._beat_ms = 0
        kept = codec.unseal(board.kept_configuration())
        if kept:
            self._configure(kept)
            # Nobody has asked yet.
            self._refusal = b""

    def run(self) -> None:
        """Step every two milliseconds for as long as the board runs, under the watchdog."""
        self._board.start_watchdog()
        due = self._board.ticks_ms()
        while self._board.running():
            self._board.feed_watchdog()
            self.step()
            elapsed = self._board.ticks_diff(self._board.ticks_ms(), due)
            # What is late is not made up for. The board does its own work while this rests, if only for a moment.
            self._board.sleep_ms(max(0, SAMPLE_MS - elapsed))
            due = self._board.ticks_ms()

    def step(self) -> None:
        """Sample once, hear what the table says, say what there is to say."""
        ticks = self._board.ticks_ms()
        self._now_ms += self._board.ticks_diff(ticks, self._ticks)
        self._ticks = ticks
        self._sample()
        self._receive()
        self._transmit()

    def _sample(self) -> None:
        levels = self._board.levels()
        if self._unsettled or levels != self._levels:
            self._levels = levels
            self._unsettled = False
            for i in range(len(levels)):
                line = self._inputs[i]
                if line.debouncer.feed(self._now_ms, levels[i]):
                    self._changed(line)
                if line.debouncer.level is None or line.debouncer.level != levels[i]:
                    self._unsettled = True
        if self._settling:
            self._end_settling()

    def _changed(self, line: Input) -> None:
        closed = line.debouncer.level is True
        line.initial = closed and not line.settled
        if not closed and not line.settled:
            # Open at first: what everybody takes for granted.
            line.settled = True
            return
        line.settled = True
        line.held_ms = self._now_ms - line.changed_at_ms
        line.changed_at_ms = self._configured_ms if line.initial and self._settling else self._now_ms
        if line.waits:
            # The change before this one found no room: the two of them never were.
            line.waits = False
            self._waiting.remove(line)
            self._dropped = (self._dropped + 2) & U32
            return
        line.waits = True
        self._waiting.append(line)
        self._report_what_waits()

    def _report_what_waits(self) -> None:
        while self._waiting and len(self._reports) + len(self._early) < REPORTS_MAX:
            line = self._waiting.pop(0)
            line.waits = False
            self._report(line)

    def _report(self, line: Input) -> None:
        closed = line.debouncer.level is True
        # The release of a contact that was closed from the beginning is marked as well: its press was none.
        if closed:
            line.told_initial = line.initial
        flags = (codec.CLOSED if closed else 0) | (codec.INITIAL if line.told_initial else 0)
        payload = struct.pack(">IBBI", line.changed_at_ms & U32, line.pin, flags, min(line.held_ms, U32))
        report = Report(0, payload, line, closed)
        if self._settling and not line.initial:
            self._early.append(report)
        else:
            self._number(report)

    def _number(self, report: Report) -> None:
        if not self._reports:
            self._progress_ms = self._now_ms
        self._last_number += 1
        report.number = self._last_number
        report.payload = struct.pack(">I", self._last_number & U32) + report.payload
        self._reports.append(report)

    def _end_settling(self) -> None:
        if self._now_ms - self._configured_ms < SETTLING_MS:
            for line in self._inputs:
                if not line.settled:
                    return
        self._settling = False
        for report in self._early:
            self._number(report)
        self._early = []

    def _receive(self) -> None:
        data = self._board.read()
        if data:
            self._received_ms = self._now_ms
            frames = self._decoder.feed(data)
        elif self._decoder.waiting and self._now_ms - self._received_ms >= FRAME_GAP_MS:
            frames = self._decoder.give_up()
        else:
            return
        for _sequence, kind, payload in frames:
            self._heard(kind, payload)

    def _heard(self, kind: int, payload: bytes) -> None:
        if kind != codec.ATTACH and self._heard_ms is None:
            # Meant for the node before a restart.
            return
        self._heard_ms = self._now_ms
        if kind == codec.ATTACH:
            token = codec.unpack(codec.ATTACH_FORMAT, payload)
            # A table of another protocol gets its answer too, so that it can say what is wrong.
            self._token = token[0] if token else 0
            self._sending = b""
            self._hello_due = True
            self._resend()
        elif kind == codec.CONFIGURE:
            self._configure(payload)
        elif kind == codec.ACKNOWLEDGE:
            numbers = codec.unpack(codec.ACKNOWLEDGE_FORMAT, payload)
            if numbers and numbers[0] == self._boot_id:
                self._forget(numbers[1])
        elif kind == codec.BEAT:
            bits = codec.unpack(codec.TABLE_BEAT_FORMAT, payload)
            if bits:
                self._board.set_outputs(bits[0])
        elif kind == codec.INSTALL:
            numbers = codec.unpack(codec.INSTALL_FORMAT, payload)
            if numbers and numbers[0] == self._boot_id:
                self._board.restart_for_install()

    def _configure(self, payload: bytes) -> None:
        if payload == self._configuration:
            self._hello_due = True
            return
        try:
            inputs, settle_ms, outputs = codec.decode_configuration(payload)
            self._board.configure(inputs, outputs)
        except codec.ConfigurationRefused as refused:
            self._refusal = struct.pack(
                codec.REFUSED_FORMAT, codec.configuration_crc(payload), refused.reason, refused.pin
            )
            return
        self._hello_due = True
        self._configuration = payload
        self._keep(codec.seal(payload))
        # Whatever waits is of pins that mean something else now.
        self._dropped = (self._dropped + len(self._reports) + len(self._early) + len(self._waiting)) & U32
        self._reports = []
        self._early = []
        self._waiting = []
        self._next = 0
        self._inputs = [Input(inputs[i], settle_ms[i], self._now_ms) for i in range(len(inputs))]
        self._levels = []
        self._unsettled = True
        self._settling = True
        self._configured_ms = self._now_ms

    def _keep(self, sealed: bytes) -> None:
        if self._board.kept_configuration() == sealed:
            return
        try:
            self._board.keep_configuration(sealed)
        except OSError:
            # It holds until the next start; then the table says it again.
            return

    def _forget(self, number: int) -> None:
        while self._reports and self._reports[0].number <= number:
            report = self._reports.pop(0)
            report.line.acknowledged = report.closed
            self._next = max(0, self._next - 1)
            self._progress_ms = self._now_ms
        self._report_what_waits()

    def _resend(self) -> None:
        self._next = 0
        self._progress_ms = self._now_ms

    def _transmit(self) -> None:
        if self._heard_ms is None:
            return
        if self._now_ms - self._heard_ms >= TABLE_SILENT_MS:
            self._heard_ms = None
            self._sending = b""
            self._board.set_outputs(0)
            return
        for _ in range(FRAMES_PER_STEP):
            if not self._sending:
                self._sending = self._next_frame()
                if not self._sending:
                    return
            self._sending = self._sending[self._board.write(self._sending) :]
            if self._sending:
                return

    def _next_frame(self) -> bytes:
        if self._refusal:
            refusal = self._refusal
            self._refusal = b""
            return self._frame(codec.REFUSED, refusal)
        if self._settling:
            # A report before HELLO would come to nothing.
            return b""
        if self._hello_due:
            self._hello_due = False
            return self._frame(codec.HELLO, self._hello())
        busy = self._reports or any(line.debouncer.level for line in self._inputs)
        if self._now_ms - self._beat_ms >= (BEAT_BUSY_MS if busy else BEAT_IDLE_MS):
            self._beat_ms = self._now_ms
            return self._frame(codec.BEAT, self._beat())
        if self._reports and self._now_ms - self._progress_ms >= RESEND_MS:
            self._resend()
        if self._next < len(self._reports):
            payload = self._reports[self._next].payload
            self._next += 1
            return self._frame(codec.REPORT, payload)
        return b""

    def _frame(self, kind: int, payload: bytes) -> bytes:
        self._sequence = (self._sequence + 1) & 255
        return codec.encode(self._sequence, kind, payload)

    def _hello(self) -> bytes:
        first = self._reports[0].number if self._reports else self._last_number + 1
        levels = 0
        for i in range(len(self._inputs)):
            if self._inputs[i].acknowledged:
                levels |= 1 << i
        return struct.pack(
            codec.HELLO_FORMAT,
            codec.PROTOCOL,
            FIRMWARE[0],
            FIRMWARE[1],
            self._token,
            self._boot_id,
            codec.configuration_crc(self._configuration) if self._configuration else 0,
            first & U32,
            self._dropped,
            levels,
        )

    def _beat(self) -> bytes:
        return struct.pack(
            codec.NODE_BEAT_FORMAT,
            self._now_ms & U32,
            (self._last_number + len(self._waiting)) & U32,
            self._dropped,
            len(self._reports),
            self._decoder.lost_frames & U16,
        )
