"""A node of the tests' own: the firmware under MicroPython, and a line to it that the test carries byte by byte."""

import contextlib
import os
import pty
import subprocess
import time
import tty
from collections.abc import Callable
from pathlib import Path
from random import Random

from drivers import node_codec as codec
from drivers.node_firmware.board_virtual import PINS
from drivers.node_link import LinkEvent, NodeLink, NodeUp, Report, ReportsDropped
from drivers.virtual_node import micropython_path

ROOT = Path(__file__).resolve().parent.parent
DEADLINE_SECONDS = 60.0
INPUTS = ((2, 2), (3, 2), (4, 4))
OUTPUTS = (8, 9)
CRC = codec.configuration_crc(bytes((3, 2, 2, 3, 2, 4, 4, 8, 9)))
# A change holds once it was sampled so often: twice the longest settle time.
SAMPLES = 8
SKIP_DIGITS = 20


def until(condition: Callable[[], bool], what: str, circumstances: Callable[[], object] = str) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen; {circumstances()}"
        time.sleep(0.001)


class Noise:
    """Changes, drops and invents bytes, each with a chance of one in `one_in`."""

    def __init__(self, seed: int, one_in: int) -> None:
        self._chance = Random(seed)
        self._one_in = one_in
        self.hits = 0

    def __call__(self, data: bytes) -> bytes:
        said = bytearray()
        for byte in data:
            what = self._chance.randrange(self._one_in)
            if what > 0:
                said.append(byte)
                continue
            self.hits += 1
            kind = self._chance.randrange(3)
            if kind == 0:
                said.append(byte ^ self._chance.randint(1, 255))
            elif kind == 1:
                said += bytes((byte, self._chance.randrange(256)))
        return bytes(said)


class NodeRig:
    """The node's process, its folder, and the line between it and `port`, which moves only when `pump` is called."""

    def __init__(self, folder: Path, *, skip_ms: int = 0) -> None:
        self.folder = folder
        self.port = folder / "port"
        self.to_node: Callable[[bytes], bytes] = bytes
        self.to_host: Callable[[bytes], bytes] = bytes
        (folder / "keys").write_bytes(b"0" * PINS)
        (folder / "lamps").write_bytes(b"0" * PINS)
        self.set_clock(skip_ms)
        self._process: subprocess.Popen[bytes] | None = None
        self._near = self._far = self._host = self._slave = -1
        self._name = ""
        self._waiting_for_host = b""
        self._waiting_for_node = b""

    def start(self) -> None:
        """Switch the node on."""
        self._far, near = pty.openpty()
        tty.setraw(near)
        os.set_blocking(near, False)
        os.set_blocking(self._far, False)
        with (self.folder / "errors").open("ab") as errors:
            self._process = subprocess.Popen(
                [micropython_path(), str(ROOT / "drivers" / "node_firmware" / "main.py"), str(self.folder)],
                stdin=near,
                stdout=near,
                stderr=errors,
                env={"PATH": "/usr/bin:/bin", "MICROPYPATH": str(ROOT)},
            )
        self._near = near
        # What the interpreter reads before that is the program itself.
        until(self._has_begun, "the node's start")
        self.sampled()

    def _has_begun(self) -> bool:
        """Whether the board has its pins."""
        assert self._process is not None
        for descriptor in Path(f"/proc/{self._process.pid}/fd").iterdir():
            # It may be closed meanwhile.
            with contextlib.suppress(FileNotFoundError):
                if descriptor.readlink() == self.folder / "keys":
                    return True
        return False

    def status(self) -> int | None:
        """The exit status of the node's process, None while it runs."""
        assert self._process is not None
        return self._process.poll()

    def kill(self) -> None:
        """Cut the node's power."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
            os.close(self._far)
            os.close(self._near)
        self._waiting_for_node = b""

    def plug(self) -> None:
        """Plug the host's end in, under a new name."""
        self._host, self._slave = pty.openpty()
        if os.ttyname(self._slave) == self._name:
            # Held on to while another is taken.
            held = (self._host, self._slave)
            self._host, self._slave = pty.openpty()
            for descriptor in held:
                os.close(descriptor)
        self._name = os.ttyname(self._slave)
        tty.setraw(self._slave)
        os.set_blocking(self._host, False)
        self.port.unlink(missing_ok=True)
        self.port.symlink_to(self._name)

    def unplug(self) -> None:
        """Pull the host's end out."""
        if self._host >= 0:
            os.close(self._host)
            os.close(self._slave)
            self.port.unlink()
            self._host = -1
        self._waiting_for_host = b""

    def close(self) -> None:
        self.kill()
        self.unplug()

    def pump(self) -> None:
        """Carry what either side has said."""
        if self._host >= 0 and self._process is not None:
            self._waiting_for_node += self.to_node(_read(self._host))
            self._waiting_for_node = _write(self._far, self._waiting_for_node)
        if self._process is not None and not self._waiting_for_host:
            said = self.to_host(_read(self._far))
            self._waiting_for_host = said if self._host >= 0 else b""
        if self._host >= 0:
            self._waiting_for_host = _write(self._host, self._waiting_for_host)

    def set_pin(self, pin: int, key: bytes) -> None:
        with (self.folder / "keys").open("r+b", buffering=0) as keys:
            keys.seek(pin)
            keys.write(key)

    def lamps(self) -> bytes:
        levels = (self.folder / "lamps").read_bytes()
        return bytes(levels[pin] for pin in OUTPUTS)

    def set_clock(self, skip_ms: int) -> None:
        """Put the node's clock that far ahead of the real one."""
        path = self.folder / "skip_ms"
        with path.open("r+b" if path.exists() else "wb", buffering=0) as file:
            file.write(f"{skip_ms:0{SKIP_DIGITS}}".encode())

    def sampled(self) -> None:
        """Wait until the node has sampled its pins often enough for a change to have settled."""
        known = self._read_bytes()
        # Each sample reads the keys and the clock.
        until(lambda: self._read_bytes() >= known + SAMPLES * (PINS + SKIP_DIGITS), "the node's sampling")

    def change(self, pin: int, closed: bool) -> None:
        """Change a contact and let the node see it."""
        self.set_pin(pin, b"1" if closed else b"0")
        self.sampled()

    def press(self, pin: int) -> None:
        self.change(pin, True)
        self.change(pin, False)

    def _read_bytes(self) -> int:
        assert self._process is not None
        if self._process.poll() is not None:
            raise AssertionError(f"the node ended: {(self.folder / 'errors').read_text()}")
        said = Path(f"/proc/{self._process.pid}/io").read_text()
        return int(said.split("rchar:")[1].split()[0])


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 4096)
    except BlockingIOError:
        return b""


def _write(descriptor: int, data: bytes) -> bytes:
    """Write what there is room for; return the rest."""
    try:
        return data[os.write(descriptor, data) :] if data else b""
    except BlockingIOError:
        return data


class Host:
    """A table's program on the link, which remembers what it was told and acknowledges it unless told otherwise."""

    def __init__(self, rig: NodeRig, *, resume: int | None = None, acknowledging: bool = True) -> None:
        self.rig = rig
        self.link = NodeLink(str(rig.port), inputs=INPUTS, outputs=OUTPUTS)
        if resume is not None:
            self.link.resume(resume, 0)
        self.acknowledging = acknowledging
        self.events: list[LinkEvent] = []
        # Moved by tests that let time pass at once.
        self.ahead_ms = 0
        # Set by tests whose time stands.
        self.held_ms: int | None = None

    def now_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000 + self.ahead_ms if self.held_ms is None else self.held_ms

    def poll(self) -> None:
        self.rig.pump()
        self.events += self.link.poll(self.now_ms())
        if self.acknowledging:
            self.link.acknowledge(self.link.last_taken)

    def until(self, condition: Callable[[], bool], what: str) -> None:
        def polled() -> bool:
            self.poll()
            return condition()

        until(polled, what, lambda: (self.link.error, self.events[-5:]))

    def online(self) -> "Host":
        self.until(lambda: self.link.online, "the node's answer")
        return self

    def reports(self) -> list[Report]:
        return [event for event in self.events if isinstance(event, Report)]

    def changes(self) -> list[tuple[int, bool]]:
        return [(report.pin, report.closed) for report in self.reports()]

    def ups(self) -> list[NodeUp]:
        return [event for event in self.events if isinstance(event, NodeUp)]

    def dropped(self) -> int:
        told = sum(event.changes for event in self.events if isinstance(event, ReportsDropped))
        return told + sum(up.dropped for up in self.ups())
