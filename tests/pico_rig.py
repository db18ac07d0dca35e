"""A stand-in for a Raspberry Pi Pico on USB, which is started again after each reset and then has another name."""

import contextlib
import os
import pty
import subprocess
import threading
import tty
from pathlib import Path

from drivers.node_firmware.board_virtual import PINS
from drivers.virtual_node import micropython_path

PROGRAM = Path(__file__).resolve().parent / "micropython_pico.py"


class Pico:
    """The board whose flash is the folder `flash`; `port` is a link to the device that it has now."""

    def __init__(self, folder: Path, *, platform: str = "rp2") -> None:
        self._platform = platform
        self.flash = folder / "flash"
        self.flash.mkdir()
        self.port = folder / "port"
        self._folder = folder
        for name in ("pins_in", "pins_out"):
            (folder / name).write_bytes(b"0" * PINS)
        self.statuses: list[int] = []
        self._closing = False
        self._far = -1
        self._process = self._start()
        self._thread = threading.Thread(target=self._attend, daemon=True)
        self._thread.start()

    def _start(self) -> "subprocess.Popen[bytes]":
        near, far = pty.openpty()
        tty.setraw(far)
        # Before the board runs: what it does is seen on its new port.
        link = self._folder / "port.new"
        link.symlink_to(os.ttyname(far))
        link.replace(self.port)
        process = subprocess.Popen(
            [micropython_path(), str(PROGRAM), str(self.flash), self._platform],
            stdin=near,
            stdout=near,
            stderr=subprocess.STDOUT,
            env={"PATH": "/usr/bin:/bin"},
        )
        os.close(near)
        if self._far >= 0:
            os.close(self._far)
        self._far = far
        return process

    def _attend(self) -> None:
        while True:
            self.statuses.append(self._process.wait())
            if self._closing:
                return
            self._process = self._start()

    def cut_power(self) -> None:
        """And give it back at once."""
        self._process.kill()

    def files(self) -> dict[str, bytes]:
        """What is in the flash, by path."""
        found: dict[str, bytes] = {}
        for path in self.flash.rglob("*"):
            # The board may take it away meanwhile.
            with contextlib.suppress(FileNotFoundError):
                if path.is_file():
                    found[str(path.relative_to(self.flash))] = path.read_bytes()
        return found

    def close(self) -> None:
        self._closing = True
        self._process.kill()
        self._thread.join()
        os.close(self._far)
