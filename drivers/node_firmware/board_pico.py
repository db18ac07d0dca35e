"""The Raspberry Pi Pico: pins through `machine`, the table through the USB serial port that is stdin and stdout.

What MicroPython's port for the RP2 does with that port (shared/tinyusb/mp_usbd_cdc.c): while a table has it open,
POLLOUT says that there is room for at least one byte, and a write for which there is no room waits half a second. While
nobody has it open, a write never waits, and the newest 256 bytes stay for whoever comes. So bytes go out one a time and
only after POLLOUT, and a table tells old answers from its own.
"""

import select
import sys

import machine  # type: ignore[import-not-found]
import micropython  # type: ignore[import-not-found]

from drivers import node_codec as codec
from drivers.node_firmware.board import WATCHDOG_MS, Board

READ_MAX = 64
WRITE_MAX = 32
USABLE_PINS = tuple(range(23)) + (26, 27, 28)


class PicoBoard(Board):
    """A Pico on USB."""

    def __init__(self) -> None:
        # A frame may hold the byte that would otherwise interrupt the program.
        micropython.kbd_intr(-1)
        self._inputs: list[machine.Pin] = []
        self._outputs: list[machine.Pin] = []
        self._watchdog: machine.WDT | None = None
        self._readable = select.poll()
        self._readable.register(sys.stdin, select.POLLIN)
        self._writable = select.poll()
        self._writable.register(sys.stdout, select.POLLOUT)

    def running(self) -> bool:
        return True

    def start_watchdog(self) -> None:
        self._watchdog = machine.WDT(timeout=WATCHDOG_MS)

    def feed_watchdog(self) -> None:
        if self._watchdog is not None:
            self._watchdog.feed()

    def restart(self) -> None:
        machine.reset()

    def configure(self, inputs: bytes, outputs: bytes) -> None:
        for pin in inputs + outputs:
            if pin not in USABLE_PINS:
                raise codec.ConfigurationRefused(codec.PIN_MISSING, pin)
        for output in self._outputs:
            output.init(machine.Pin.IN)
        self._inputs = [machine.Pin(pin, machine.Pin.IN, machine.Pin.PULL_UP) for pin in inputs]
        self._outputs = [machine.Pin(pin, machine.Pin.OUT, value=0) for pin in outputs]

    def levels(self) -> list[bool]:
        return [not pin.value() for pin in self._inputs]

    def set_outputs(self, bits: int) -> None:
        for n, pin in enumerate(self._outputs):
            pin.value((bits >> n) & 1)

    def read(self) -> bytes:
        data = b""
        while len(data) < READ_MAX and self._ready(self._readable, select.POLLIN):
            data += sys.stdin.buffer.read(1)
        return data

    def write(self, data: bytes) -> int:
        sent = 0
        while sent < len(data) and sent < WRITE_MAX and self._ready(self._writable, select.POLLOUT):
            sys.stdout.buffer.write(data[sent : sent + 1])
            sent += 1
        return sent

    def _ready(self, poll: select.poll, what: int) -> bool:
        return any(event & what for _, event in poll.poll(0))
