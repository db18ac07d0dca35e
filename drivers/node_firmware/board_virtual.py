"""A node without a Pico: MicroPython's unix port, whose stdin and stdout are the far end of a pseudo-terminal.

Its folder holds
- `keys`, one byte for each pin, read again for every sample: "1" is a contact closed to ground, and "h" makes the
  program hang at that pin, as a fault in it would;
- `lamps`, the same for the outputs: "1" is high;
- `skip_ms`, if it is there when the board starts: a number, read again for every sample, that is added to the clock,
  so that hours pass at once. The clock begins at this number and wraps as a Pico's does;
- what a Pico keeps in its flash.

Whoever starts this sets stdin and stdout to non-blocking. The watchdog kills the process with SIGKILL, and a restart
ends it with RESTART_STATUS; starting it again is left to whoever started it.
"""

import _thread
import io
import os
import sys
import time

from drivers import node_codec as codec
from drivers.node_firmware.board import WATCHDOG_MS, Board

PINS = 30
READ_MAX = 64
WRAP_MS = 1 << 30
WATCH_MS = 100
RESTART_STATUS = 64
_CLOSED = 49
_HANG = 104


class VirtualBoard(Board):
    """A board whose pins are the bytes of the files `keys` and `lamps` in `folder`."""

    def __init__(self, folder: str) -> None:
        self.folder = folder + "/"
        self._keys = open(self.folder + "keys", "rb")  # noqa: PTH123, SIM115
        self._lamps = open(self.folder + "lamps", "r+b")  # noqa: PTH123, SIM115
        self._skip: io.BufferedReader | None
        try:
            self._skip = open(self.folder + "skip_ms", "rb")  # noqa: PTH123, SIM115
        except OSError:
            self._skip = None
        self._levels = bytearray(PINS)
        self._inputs = b""
        self._outputs = b""
        self._running = True
        self._started_ms = super().ticks_ms()
        self._hungry_ms = 0
        self._skip_ms = 0
        self._read_skip()
        self.set_outputs(0)

    def running(self) -> bool:
        return self._running

    def ticks_ms(self) -> int:
        return (super().ticks_diff(super().ticks_ms(), self._started_ms) + self._skip_ms) % WRAP_MS

    def ticks_diff(self, later: int, earlier: int) -> int:
        return (later - earlier + WRAP_MS // 2) % WRAP_MS - WRAP_MS // 2

    def sleep_ms(self, duration_ms: int) -> None:
        # MicroPython's own sleep_ms wakes up every half millisecond here, for events of which there are none.
        time.sleep(duration_ms / 1000)

    def start_watchdog(self) -> None:
        self.feed_watchdog()
        _thread.start_new_thread(self._watch, ())

    def feed_watchdog(self) -> None:
        self._hungry_ms = 0

    def _watch(self) -> None:
        # Looks are counted and no clock is read: where a busy machine stops the whole process, the program is well.
        while self._hungry_ms < WATCHDOG_MS:
            self.sleep_ms(WATCH_MS)
            self._hungry_ms += WATCH_MS
        # The shell's parent is this process, whose other thread may hang in the system.
        os.system("kill -9 $PPID")  # noqa: S605

    def restart(self) -> None:
        sys.exit(RESTART_STATUS)

    def configure(self, inputs: bytes, outputs: bytes) -> None:
        for pin in inputs + outputs:
            if pin >= PINS:
                raise codec.ConfigurationRefused(codec.PIN_MISSING, pin)
        self._inputs = inputs
        self._outputs = outputs
        self.set_outputs(0)

    def _read_skip(self) -> None:
        if self._skip is not None:
            self._skip.seek(0)
            # Empty for a moment while somebody writes it.
            self._skip_ms = int(self._skip.read() or self._skip_ms)

    def levels(self) -> list[bool]:
        self._read_skip()
        self._keys.seek(0)
        self._keys.readinto(self._levels)
        for pin in self._inputs:
            while self._levels[pin] == _HANG:
                pass
        return [self._levels[pin] == _CLOSED for pin in self._inputs]

    def set_outputs(self, bits: int) -> None:
        levels = bytearray(b"0" * PINS)
        for n, pin in enumerate(self._outputs):
            levels[pin] = 48 + ((bits >> n) & 1)
        self._lamps.seek(0)
        self._lamps.write(levels)
        self._lamps.flush()

    def read(self) -> bytes:
        try:
            data = sys.stdin.buffer.read(READ_MAX)
        except OSError:
            # Nobody holds the other end any more.
            self._running = False
            return b""
        return data or b""

    def write(self, data: bytes) -> int:
        try:
            return sys.stdout.buffer.write(data) or 0
        except OSError:
            self._running = False
            return 0
