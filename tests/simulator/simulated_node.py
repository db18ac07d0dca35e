"""The I/O node in the simulation: the firmware itself, on a board and at the end of a line that are simulated.

It is stepped when its contacts move, when the table has said something, and at the pace of what it has to say.
"""

import os
from collections.abc import Callable
from random import Random
from typing import Final

import serial

from drivers.node_firmware.board import Board
from drivers.node_firmware.node import REPORTS_MAX, Node
from drivers.node_port import NodePortMissing
from tests.simulator.simulated_loop import SimulatedLoop

WRAP_MS: Final = 1 << 30
READ_MAX: Final = 64
LINE_BYTES_MAX: Final = 4096


class SimulatedBoard(Board):
    """A board whose contacts, line and flash belong to the node around it."""

    def __init__(self, node: "SimulatedNode", loop: SimulatedLoop, boot_id: int) -> None:
        self._node = node
        self._loop = loop
        self._started_s = loop.time()
        self._boot_id = boot_id
        self._inputs = b""

    def running(self) -> bool:
        return True

    def ticks_ms(self) -> int:
        return int((self._loop.time() - self._started_s) * 1000) % WRAP_MS

    def ticks_diff(self, later: int, earlier: int) -> int:
        return (later - earlier + WRAP_MS // 2) % WRAP_MS - WRAP_MS // 2

    def random_u32(self) -> int:
        return self._boot_id

    def keep_configuration(self, data: bytes) -> None:
        self._node.flash = data

    def kept_configuration(self) -> bytes:
        return self._node.flash

    def configure(self, inputs: bytes, outputs: bytes) -> None:
        self._inputs = inputs
        self._node.lamps = (False,) * len(outputs)

    def levels(self) -> list[bool]:
        return [self._node.closed.get(pin, False) for pin in self._inputs]

    def set_outputs(self, bits: int) -> None:
        self._node.lamps = tuple(bool(bits >> n & 1) for n in range(len(self._node.lamps)))

    def read(self) -> bytes:
        return self._node.line.read_at_node()

    def write(self, data: bytes) -> int:
        return self._node.line.write_at_node(data)


class Line:
    """The cable: what is under way in both directions. `damage` is the chance of each byte to be harmed."""

    def __init__(self, loop: SimulatedLoop, random: Random) -> None:
        self._loop = loop
        self._random = random
        self.to_table = bytearray()
        self.to_node = bytearray()
        self.plugged = True
        self.damage = 0.0
        self.port: SimulatedPort | None = None
        self.wake_node: Callable[[], None] = _nothing
        # Always ready to be written to, as far as the system is asked.
        self.descriptor: Final = os.open(os.devnull, os.O_RDWR)

    def close(self) -> None:
        """Give the descriptor back."""
        os.close(self.descriptor)

    def plug(self, plugged: bool) -> None:
        """Pull the cable out, or put it in again; what was under way is lost."""
        self.plugged = plugged
        self.to_table.clear()
        self.to_node.clear()
        self._loop.has_come(self.descriptor)

    def read_at_node(self) -> bytes:
        data = bytes(self.to_node[:READ_MAX])
        del self.to_node[:READ_MAX]
        return data

    def write_at_node(self, data: bytes) -> int:
        if not self.plugged or self.port is None:
            # Nobody listens; the board's own buffer is full.
            return 0
        taken = data[: LINE_BYTES_MAX - len(self.to_table)]
        self.to_table += self._harmed(taken)
        self._loop.has_come(self.descriptor)
        return len(taken)

    def write_at_table(self, data: bytes) -> int:
        taken = data[: LINE_BYTES_MAX - len(self.to_node)]
        self.to_node += self._harmed(taken)
        self.wake_node()
        return len(taken)

    def _harmed(self, data: bytes) -> bytes:
        if not self.damage:
            return data
        said = bytearray()
        for byte in data:
            if self._random.random() >= self.damage:
                said.append(byte)
            elif self._random.random() < 0.5:
                said += bytes((byte ^ self._random.randint(1, 255),))
        return bytes(said)


class SimulatedPort:
    """What `NodeLink` has for a serial port: one opening of the line. Reads and writes do not wait."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._is_open = True
        self.port = "/simulated/node"
        line.port = self
        line.to_table.clear()

    def fileno(self) -> int:
        return self._line.descriptor

    def read(self, size: int) -> bytes:
        self._check()
        data = bytes(self._line.to_table[:size])
        del self._line.to_table[:size]
        return data

    def write(self, data: bytes) -> int:
        self._check()
        return self._line.write_at_table(data)

    def close(self) -> None:
        self._is_open = False
        if self._line.port is self:
            self._line.port = None

    def _check(self) -> None:
        if not self._is_open or not self._line.plugged or self._line.port is not self:
            raise serial.SerialException("device disconnected")


class SimulatedOpening:
    """Stands for `drivers.node_port.Opening`, which has a thread: here a port opens at once or is missing."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def result(self, _seconds: float) -> SimulatedPort:
        if not self._line.plugged:
            raise NodePortMissing("no USB serial device with the number SIMULATED is plugged in")
        return SimulatedPort(self._line)

    def give_up(self) -> None:
        """It never has to be waited for."""


def close_port(port: SimulatedPort, _seconds: float = 0) -> None:
    """Stands for `drivers.node_port.close_port`, which has a thread of its own."""
    port.close()


class SimulatedNode:
    """The node and its line. `closed` are its contacts by pin; `boots` counts its starts."""

    def __init__(self, loop: SimulatedLoop, random: Random) -> None:
        self._loop = loop
        self._random = random
        self.line: Final = Line(loop, random)
        self.line.wake_node = self.wake
        self.closed: dict[int, bool] = {}
        self.lamps: tuple[bool, ...] = ()
        self.flash = b""
        self.boots = 0
        self.boot_id = 0
        # Boots in which it had no room for a change.
        self.overflown: set[int] = set()
        self._firmware: Node | None = None
        self._due: object | None = None
        self.power(True)

    def power(self, on: bool) -> None:
        """Switch it on or off; a node that is on and is switched on starts anew, its reports forgotten."""
        self._firmware = None
        self.line.to_node.clear()
        if on:
            self.boots += 1
            self.boot_id = self._random.getrandbits(32)
            self._firmware = Node(SimulatedBoard(self, self._loop, self.boot_id))
            self.wake()

    @property
    def is_on(self) -> bool:
        """Whether it has power."""
        return self._firmware is not None

    @property
    def is_configured(self) -> bool:
        """Whether it looks at its contacts, and has seen how they stood at first."""
        firmware = self._firmware
        return firmware is not None and bool(firmware._inputs) and not firmware._settling

    @property
    def last_number(self) -> int:
        """The number of its newest report."""
        return 0 if self._firmware is None else self._firmware._last_number

    @property
    def waiting(self) -> int:
        """How many reports are not acknowledged."""
        return 0 if self._firmware is None else len(self._firmware._reports)

    def set(self, pin: int, closed: bool) -> None:
        """Move a contact."""
        if self.closed.get(pin, False) != closed:
            self.closed[pin] = closed
            self.wake()

    def wake(self) -> None:
        """Let it step soon."""
        self._step_at(0.001)

    def _step_at(self, delay_s: float) -> None:
        self._due = token = object()
        self._loop.call_later(delay_s, self._step, token)

    def _step(self, token: object) -> None:
        firmware = self._firmware
        if token is not self._due or firmware is None:
            return
        firmware.step()
        if firmware._dropped or len(firmware._reports) >= REPORTS_MAX:
            self.overflown.add(self.boot_id)
        is_heard = self.line.plugged and self.line.port is not None
        if firmware._unsettled or firmware._settling or (firmware._sending and is_heard) or self.line.to_node:
            self._step_at(0.002)
        elif firmware._hello_due or firmware._next < len(firmware._reports):
            self._step_at(0.002 if firmware._heard_ms is not None and is_heard else 0.1)
        else:
            busy = firmware._reports or any(line.debouncer.level for line in firmware._inputs)
            self._step_at(0.1 if busy else 0.5)


def _nothing() -> None:
    """There is no node yet."""
