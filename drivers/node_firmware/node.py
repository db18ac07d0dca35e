"""The I/O node: samples contacts, numbers their changes and repeats them until the table has taken them.

It sees its surroundings through a board (`board_pico`, `board_virtual`) and waits for nobody: what a
table does not take now is offered again, and a table that does not read costs no sample.
"""

import struct

from drivers import node_codec as codec
from drivers.debounce import Debouncer
from drivers.node_firmware.board import Board

FIRMWARE = (1, 0)
SAMPLE_MS = 2
REPORTS_MAX = 128
INPUTS_MAX = 24
RESEND_MS = 1000
# A table that was silent for so long is gone; it beats every second while it is there.
TABLE_SILENT_MS = 3000
# Beats carry the time in which the table sees a key being held, so they are quick while something is going on.
BEAT_BUSY_MS = 100
BEAT_IDLE_MS = 1000
# A frame is sent in one piece: a gap of this length inside one means that its rest was lost.
FRAME_GAP_MS = 100
FRAMES_PER_STEP = 4
U32 = 0xFFFFFFFF


class Input:
    """One contact: its debouncer, what the table was told of it, and when it changed."""

    def __init__(self, pin: int, settle_ms: int, now_ms: int, closed_at_first: bool) -> None:
        self.pin = pin
        self.debouncer = Debouncer(settle_ms)
        self.told = False
        self.closed_at_first = closed_at_first
        # Closed when sampling began, and still; the second is what the table was told.
        self.initial = False
        self.told_initial = False
        self.changed_at_ms = now_ms
        self.held_ms = 0


class Node:
    """The node's whole state. `step` does what is to be done now and never waits."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._boot_id = board.random_u32()
        self._ticks = board.ticks_ms()
        self._now_ms = 0
        self._configuration = b""
        self._inputs: list[Input] = []
        # Reports that wait for their acknowledgement: (number, payload), oldest first, at most REPORTS_MAX.
        self._reports: list[tuple[int, bytes]] = []
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
        self._beat_ms = 0

    def run(self) -> None:
        """Step every two milliseconds for as long as the board runs."""
        while self._board.running():
            self.step()
            self._board.sleep_ms(SAMPLE_MS)

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
        for i in range(len(self._inputs)):
            line = self._inputs[i]
            first = line.debouncer.level is None
            changed = line.debouncer.feed(self._now_ms, levels[i])
            level = line.debouncer.level
            if changed:
                line.held_ms = self._now_ms - line.changed_at_ms
                line.changed_at_ms = self._now_ms
                line.initial = first and level is True and line.closed_at_first
            if level is None or level == line.told:
                continue
            if len(self._reports) < REPORTS_MAX:
                self._report(line, level)
            elif changed:
                self._dropped = (self._dropped + 1) & U32

    def _report(self, line: Input, level: bool) -> None:
        # The release of a contact that was closed from the beginning is marked as well: its press was none.
        flags = codec.CLOSED if level else 0
        if level:
            line.told_initial = line.initial
        if line.told_initial:
            flags |= codec.INITIAL
        line.told = level
        if not self._reports:
            self._progress_ms = self._now_ms
        self._last_number += 1
        payload = struct.pack(
            codec.REPORT_FORMAT,
            self._last_number & U32,
            self._now_ms & U32,
            line.pin,
            flags,
            min(line.held_ms, U32),
        )
        self._reports.append((self._last_number, payload))

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
        if self._heard_ms is None:
            self._resend()
        self._heard_ms = self._now_ms
        if kind == codec.ATTACH:
            self._sending = b""
            self._hello_due = True
            self._resend()
        elif kind == codec.CONFIGURE:
            self._configure(payload)
        elif kind == codec.ACKNOWLEDGE:
            numbers = codec.unpack(codec.ACKNOWLEDGE_FORMAT, payload)
            if numbers and numbers[0] == self._boot_id:
                self._forget(numbers[1])
        elif kind == codec.OUTPUTS:
            bits = codec.unpack(codec.OUTPUTS_FORMAT, payload)
            if bits:
                self._board.set_outputs(bits[0])

    def _configure(self, payload: bytes) -> None:
        if len(payload) < 2 or payload[1] > INPUTS_MAX or len(payload) < 2 + payload[1]:
            return
        self._hello_due = True
        if payload == self._configuration:
            return
        inputs = payload[2 : 2 + payload[1]]
        try:
            self._board.configure(inputs, payload[2 + payload[1] :])
        except ValueError:
            # A pin this board does not have. HELLO goes out with the configuration that holds.
            return
        self._configuration = payload
        # Looked at now, before HELLO says so: what closes after HELLO is a press.
        levels = self._board.levels()
        self._inputs = [Input(inputs[i], payload[0], self._now_ms, levels[i]) for i in range(len(inputs))]

    def _forget(self, number: int) -> None:
        while self._reports and self._reports[0][0] <= number:
            self._reports.pop(0)
            self._next = max(0, self._next - 1)
            self._progress_ms = self._now_ms

    def _resend(self) -> None:
        self._next = 0
        self._progress_ms = self._now_ms

    def _transmit(self) -> None:
        if self._heard_ms is None:
            return
        if self._now_ms - self._heard_ms >= TABLE_SILENT_MS:
            self._heard_ms = None
            self._sending = b""
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
        if self._hello_due:
            self._hello_due = False
            return self._frame(codec.HELLO, self._hello())
        busy = self._reports or any(line.told for line in self._inputs)
        if self._now_ms - self._beat_ms >= (BEAT_BUSY_MS if busy else BEAT_IDLE_MS):
            self._beat_ms = self._now_ms
            return self._frame(codec.BEAT, self._beat())
        if self._reports and self._now_ms - self._progress_ms >= RESEND_MS:
            self._resend()
        if self._next < len(self._reports):
            payload = self._reports[self._next][1]
            self._next += 1
            return self._frame(codec.REPORT, payload)
        return b""

    def _frame(self, kind: int, payload: bytes) -> bytes:
        self._sequence = (self._sequence + 1) & 255
        return codec.encode(self._sequence, kind, payload)

    def _hello(self) -> bytes:
        first = self._reports[0][0] if self._reports else self._last_number + 1
        return struct.pack(
            codec.HELLO_FORMAT,
            codec.PROTOCOL,
            FIRMWARE[0],
            FIRMWARE[1],
            self._boot_id,
            codec.crc16(self._configuration),
            first & U32,
            self._dropped,
        )

    def _beat(self) -> bytes:
        return struct.pack(
            codec.BEAT_FORMAT, self._now_ms & U32, self._last_number & U32, self._dropped, len(self._reports)
        )
