"""A node without a Pico: MicroPython's unix port, whose stdin and stdout are the far end of a pseudo-terminal.

The file `keys` holds one byte for each pin, "1" for a contact closed to ground, and is read again for every sample.
The file `lamps` gets the same for the outputs. Whoever starts this sets stdin and stdout to non-blocking.
"""

import sys

from drivers.node_firmware.board import Board

PINS = 30
READ_MAX = 64


class VirtualBoard(Board):
    """A board whose pins are the bytes of the files `keys` and `lamps` in `folder`."""

    def __init__(self, folder: str) -> None:
        self._keys = open(folder + "/keys", "rb")  # noqa: PTH123, SIM115
        self._lamps = open(folder + "/lamps", "r+b")  # noqa: PTH123, SIM115
        self._levels = bytearray(PINS)
        self._inputs = b""
        self._outputs = b""
        self._running = True

    def running(self) -> bool:
        return self._running

    def configure(self, inputs: bytes, outputs: bytes) -> None:
        if any(pin >= PINS for pin in inputs + outputs):
            raise ValueError("no such pin")
        self._inputs = inputs
        self._outputs = outputs
        self.set_outputs(0)

    def levels(self) -> list[bool]:
        self._keys.seek(0)
        self._keys.readinto(self._levels)
        return [self._levels[pin] == 49 for pin in self._inputs]

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
