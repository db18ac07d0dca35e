"""The node's port: found by its USB serial number, for one program alone, and never worth waiting for."""

import os
import pty
import termios
import threading
import time
import tty
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import serial

from drivers import node_port
from drivers.node_link import NodeLink
from drivers.node_port import NodePortBusy, NodePortMissing, Opening, close_port, find_device, open_port
from tests.node_rig import DEADLINE_SECONDS, until

SERIAL = "e6614103e7452d2f"


@dataclass
class Plugged:
    """A serial port as pyserial lists it."""

    device: str
    serial_number: str | None


class Bus:
    """What is plugged in."""

    def __init__(self) -> None:
        self.ports: list[Plugged] = []

    def comports(self) -> list[Plugged]:
        return self.ports


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a busy machine does late is no device that hangs."""
    monkeypatch.setattr("drivers.node_link.OPEN_SECONDS", DEADLINE_SECONDS)


@pytest.fixture
def bus(monkeypatch: pytest.MonkeyPatch) -> Bus:
    bus = Bus()
    monkeypatch.setattr(node_port, "list_ports", bus)
    return bus


@pytest.fixture
def device() -> Iterator[str]:
    near, far = pty.openpty()
    tty.setraw(far)
    yield os.ttyname(far)
    os.close(near)
    os.close(far)


def test_a_path_stands_for_itself() -> None:
    assert find_device("/dev/ttyACM0") == "/dev/ttyACM0"


def test_a_serial_number_is_looked_up_anew_each_time_whatever_its_letters(bus: Bus) -> None:
    bus.ports = [Plugged("/dev/ttyS0", None), Plugged("/dev/ttyACM0", "0123"), Plugged("/dev/ttyACM1", SERIAL)]
    assert find_device(f"usb:{SERIAL.upper()}") == "/dev/ttyACM1"
    bus.ports = [Plugged("/dev/ttyACM7", SERIAL.upper())]
    assert find_device(f"usb:{SERIAL}") == "/dev/ttyACM7"
    bus.ports = []
    assert find_device(f"usb:{SERIAL}") is None


def test_two_devices_of_one_number_are_named(bus: Bus) -> None:
    bus.ports = [Plugged("/dev/ttyACM1", SERIAL), Plugged("/dev/ttyACM0", SERIAL)]
    with pytest.raises(NodePortMissing) as caught:
        find_device(f"usb:{SERIAL}")
    assert str(caught.value) == (
        f"/dev/ttyACM0 and /dev/ttyACM1 both have the USB serial number {SERIAL}; name the I/O node's port by its path"
    )


@pytest.mark.parametrize(("others", "said"), [([], "none"), ([Plugged("/dev/ttyACM0", "cafe")], "cafe")])
def test_a_number_that_is_not_plugged_in_is_said_with_those_that_are(
    bus: Bus, others: list[Plugged], said: str
) -> None:
    bus.ports = others
    with pytest.raises(NodePortMissing) as caught:
        open_port(f"usb:{SERIAL}")
    assert str(caught.value) == (f"no USB serial device with the number {SERIAL} is plugged in (plugged in: {said})")


def test_a_link_by_number_says_what_is_missing_and_opens_whatever_name_it_has(bus: Bus, device: str) -> None:
    link = NodeLink(f"usb:{SERIAL}", inputs=[], outputs=[])
    assert not link.open()
    assert link.error is not None and SERIAL in link.error
    bus.ports = [Plugged(device, SERIAL)]
    until(lambda: link.poll(0) == [] and link.device == device, "the port's opening")
    assert link.error is None
    link.close()
    assert link.device is None


def test_a_port_is_for_one_program(device: str) -> None:
    first = open_port(device)
    with pytest.raises(NodePortBusy) as caught:
        open_port(device)
    assert str(caught.value) == (
        f"the I/O node at {device} is in use by another program; stop that program, or name another port"
    )
    close_port(first, DEADLINE_SECONDS)
    close_port(open_port(device))


def test_a_file_that_is_no_port_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(NodePortMissing, match=f"the I/O node's port {tmp_path}/file cannot be opened"):
        open_port(str(tmp_path / "file"))


class Hanging:
    """A device whose driver answers nothing until it is let go."""

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.closed = threading.Event()
        self.port = "/dev/ttyACM0"

    def open(self, _port: str) -> "Hanging":
        self.let_go.wait()
        return self

    def reset_output_buffer(self) -> None:
        raise termios.error(5, "Input/output error")

    def close(self) -> None:
        self.let_go.wait()
        self.closed.set()


def test_a_port_that_hangs_while_it_is_opened_holds_up_no_poll(monkeypatch: pytest.MonkeyPatch) -> None:
    hanging = Hanging()
    monkeypatch.setattr(node_port, "open_port", hanging.open)
    link = NodeLink("/dev/ttyACM0", inputs=[], outputs=[])
    start = time.monotonic()
    events = [event for now_ms in range(0, 10_000, 20) for event in link.poll(now_ms)]
    assert time.monotonic() - start < DEADLINE_SECONDS
    assert [str(event) for event in events] == ["NodeDown(reason='its port is being opened')"]
    link.close()
    assert not hanging.closed.is_set()
    hanging.let_go.set()
    assert hanging.closed.wait(DEADLINE_SECONDS), "nobody wants it any more"


def test_open_gives_up_waiting_for_a_port_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    hanging = Hanging()
    monkeypatch.setattr(node_port, "open_port", hanging.open)
    monkeypatch.setattr("drivers.node_link.OPEN_SECONDS", 0.05)
    link = NodeLink("/dev/ttyACM0", inputs=[], outputs=[])
    assert not link.open()
    assert link.error == "the I/O node's port /dev/ttyACM0 does not open: the device hangs"
    hanging.let_go.set()
    link.close()
    assert hanging.closed.wait(DEADLINE_SECONDS)


def test_a_port_that_hangs_while_it_is_closed_is_left_to_itself() -> None:
    hanging = Hanging()
    close_port(hanging, 0.05)  # type: ignore[arg-type]
    assert not hanging.closed.is_set()
    hanging.let_go.set()
    assert hanging.closed.wait(DEADLINE_SECONDS)


def test_a_port_that_comes_after_it_was_given_up_is_free_again(device: str) -> None:
    opening = Opening(device)
    port = opening.result(DEADLINE_SECONDS)
    assert isinstance(port, serial.Serial)
    opening.give_up()
    until(lambda: not port.is_open, "the port's closing")
    close_port(open_port(device))
