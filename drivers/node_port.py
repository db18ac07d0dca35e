"""Finds and opens the serial port of an I/O node, and never keeps anybody waiting for one that hangs."""

import contextlib
import errno
import termios
import threading

import serial
from serial.tools import list_ports

BAUD = 115200
USB = "usb:"
# How long `close_port` waits for the port to be free again; a device that hangs can hold it for half a minute.
CLOSE_SECONDS = 2.0


class NodePortBusy(Exception):
    """Another program holds the node's port."""


class NodePortMissing(Exception):
    """There is no such port, or it cannot be told which one is meant."""


def find_device(port: str) -> str | None:
    """The device that `port` stands for: a path as it is, "usb:SERIAL" by the USB serial number of what is plugged in.

    A Pico's serial number is its `machine.unique_id()` in hexadecimal; capitals and small letters are the same. None:
    no such device is plugged in. Raises NodePortMissing when several are.
    """
    if not port.startswith(USB):
        return port
    wanted = port.removeprefix(USB)
    found = sorted(device for device, number in usb_devices() if number.lower() == wanted.lower())
    if len(found) > 1:
        raise NodePortMissing(
            f"{' and '.join(found)} both have the USB serial number {wanted}; name the I/O node's port by its path"
        )
    return found[0] if found else None


def usb_devices() -> list[tuple[str, str]]:
    """Device and serial number of every USB serial port that has one."""
    return [(port.device, port.serial_number) for port in list_ports.comports() if port.serial_number]


def open_port(port: str) -> serial.Serial:
    """Open the port that `port` stands for, for this program alone; reads and writes do not wait.

    May take seconds for a device that hangs. Raises NodePortBusy, NodePortMissing.
    """
    device = find_device(port)
    if device is None:
        others = ", ".join(sorted(number for _, number in usb_devices())) or "none"
        raise NodePortMissing(
            f"no USB serial device with the number {port.removeprefix(USB)} is plugged in (plugged in: {others})"
        )
    try:
        return serial.Serial(device, BAUD, timeout=0, write_timeout=0, exclusive=True)
    except (OSError, termios.error, ValueError) as error:
        # pyserial wraps only some of what the system says of a device that is being pulled.
        if isinstance(error, serial.SerialException) and error.errno in (errno.EAGAIN, errno.EBUSY):
            raise NodePortBusy(
                f"the I/O node at {device} is in use by another program; stop that program, or name another port"
            ) from error
        raise NodePortMissing(f"the I/O node's port {device} cannot be opened: {error}") from error


def close_port(port: serial.Serial, seconds: float = CLOSE_SECONDS) -> None:
    """Close a port, in at most `seconds`: what takes longer goes on by itself.

    The system would first wait for the device to take what was written to it.
    """
    thread = threading.Thread(target=_close, args=(port,), name="closing the node's port", daemon=True)
    thread.start()
    thread.join(seconds)


def _close(port: serial.Serial) -> None:
    with contextlib.suppress(OSError, termios.error):
        port.reset_output_buffer()
    with contextlib.suppress(OSError):
        port.close()


class Opening:
    """An attempt to open a port, in a thread of its own, because the system may wait for a device that hangs."""

    def __init__(self, port: str) -> None:
        self._port = port
        self._lock = threading.Lock()
        self._opened: serial.Serial | None = None
        self._error: NodePortBusy | NodePortMissing | None = None
        self._given_up = False
        self._thread = threading.Thread(target=self._run, name="opening the node's port", daemon=True)
        self._thread.start()

    def result(self, seconds: float) -> serial.Serial | None:
        """The open port, waiting for it at most so long; None: it is not there yet. Raises as `open_port` does."""
        self._thread.join(seconds)
        if self._thread.is_alive():
            return None
        if self._error is not None:
            raise self._error
        assert self._opened is not None
        return self._opened

    def give_up(self) -> None:
        """Nobody wants the port any more: close it when it comes."""
        with self._lock:
            self._given_up = True
            opened = self._opened
        if opened is not None:
            close_port(opened)

    def _run(self) -> None:
        try:
            opened = open_port(self._port)
        except (NodePortBusy, NodePortMissing) as error:
            self._error = error
            return
        with self._lock:
            self._opened = opened
            given_up = self._given_up
        if given_up:
            _close(opened)
