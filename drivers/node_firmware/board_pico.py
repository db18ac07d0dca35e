"""The Raspberry Pi Pico: pins through `machine`, the table through the USB serial port that is stdin and stdout."""

import select
import sys

import machine  # type: ignore[import-not-found]
import micropython  # type: ignore[import-not-found]

from drivers.node_firmware.board import Board

READ_MAX = 64
# One byte a time, because the port only says that it has room, not how much, and a write beyond it blocks.
WRITE_MAX = 32
USABLE_PINS = tuple(range(23)) + (26, 27, 28)


class PicoBoard(Board):
    """A Pico on USB."""

    def __init__(self) -> None:
        # A frame may hold the byte that would otherwise interrupt the program.
        micropython.kbd_intr(-1)
        self._inputs: list[machine.Pin] = []
        self._outputs: list[machine.Pin] = []
        self._readable = select.poll()
        self._readable.register(sys.stdin, select.POLLIN)
        self._writable = select.poll()
        self._writable.register(sys.stdout, select.POLLOUT)

    def running(self) -> bool:
        return True

    def configure(self, inputs: bytes, outputs: bytes) -> None:
        if any(pin not in USABLE_PINS for pin in inputs + outputs):
            raise ValueError("no such pin")
        self._inputs = [machine.Pin(pin, machine.Pin.IN, machine.Pin.PULL_UP) for pin in inputs]
        self._outputs = [machine.Pin(pin, machine.Pin.OUT, value=0) for pin in outputs]

    def levels(self) -> list[bool]:
        return [not pin.value() for pin in self._inputs]

    def set_outputs(self, bits: int) -> None:
        for n, pin in enumerate(self._outputs):
            pin.value((bits >> n) & 1)

    def read(self) -> bytes:
        data = b""
        while len(data) < READ_MAX and self._readable.poll(0):
            data += sys.stdin.buffer.read(1)
        return data

    def write(self, data: bytes) -> int:
        sent = 0
        while sent < len(data) and sent < WRITE_MAX and self._writable.poll(0):
            sys.stdout.buffer.write(data[sent : sent + 1])
            sent += 1
        return sent
