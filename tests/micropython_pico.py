"""Stands in for a Raspberry Pi Pico: its file system is a folder, its prompt is the raw one that mpremote speaks.

Run by MicroPython's unix port, with the folder and the platform as arguments and a terminal as stdin and stdout. It
starts `main.py` as the board does and then waits at the prompt. A reset ends the process with status 64, and a watchdog
that is not fed ends it with SIGKILL; whoever started it starts it again. The pins are the bytes of the files `pins_in`
and `pins_out` beside the folder.
"""

import _thread
import os
import sys
import time

RESET_STATUS = 64
LOOK_MS = 20
GREETING = "raw REPL; CTRL-B to exit\r\n>"
folder, platform = sys.argv[1:]


class Pin:
    """A pin that reads a byte of `pins_in` (pulled up: "1" is closed to ground) or writes one of `pins_out`."""

    IN = 0
    OUT = 1
    PULL_UP = 1

    def __init__(self, number: int, mode: int, pull: int | None = None, value: int | None = None) -> None:
        self.number = number
        # Every input here is pulled up.
        assert mode == self.OUT or pull == self.PULL_UP
        if value is not None:
            self.value(value)

    def init(self, mode: int) -> None:
        assert mode == self.IN
        self.value(0)

    def value(self, level: int | None = None) -> int | None:
        name = "/../pins_in" if level is None else "/../pins_out"
        with open(folder + name, "r+b") as file:  # noqa: PTH123
            file.seek(self.number)
            if level is None:
                return 0 if file.read(1) == b"1" else 1
            file.write(b"1" if level else b"0")
        return None


class WDT:
    """The watchdog: once begun, nothing stops it."""

    def __init__(self, timeout: int) -> None:
        self.timeout = timeout
        self.feed()
        _thread.start_new_thread(self.watch, ())

    def feed(self) -> None:
        self.hungry = 0

    def watch(self) -> None:
        # Looks are counted and no clock is read: where a busy machine stops the whole process, the program is well.
        while self.hungry < self.timeout:
            time.sleep_ms(LOOK_MS)  # type: ignore[attr-defined]
            self.hungry += LOOK_MS
        os.system("kill -9 $PPID")  # noqa: S605


class Machine:
    """The module `machine`."""

    Pin = Pin
    WDT = WDT

    @staticmethod
    def reset() -> None:
        sys.exit(RESET_STATUS)


class Sys:
    """The module `sys` of the port for the RP2."""

    def __init__(self) -> None:
        for name in dir(sys):
            if not name.startswith("__"):
                setattr(self, name, getattr(sys, name))
        self.platform = platform
        self.argv: list[str] = []


def say(text: str) -> None:
    sys.stdout.write(text)


def run(source: str, names: dict[str, object]) -> BaseException | None:
    """Execute a program; an error is printed, and only a reset goes through."""
    try:
        exec(source, names)  # noqa: S102
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001
        return error
    return None


def show(error: BaseException) -> None:
    sys.print_exception(error, sys.stdout)  # type: ignore[attr-defined]


def prompt() -> None:
    """The prompt, which is of use only in its raw form."""
    names: dict[str, object] = {"__name__": "__main__"}
    line = b""
    raw = False
    while True:
        byte = sys.stdin.buffer.read(1)
        if byte == b"\x01":
            # Ctrl-E A Ctrl-A asks for a quicker way to paste, which this one does not have.
            say("R\x00" if line == b"\x05A" else GREETING)
            raw, line = True, b""
        elif byte == b"\x02":
            raw, line = False, b""
            say("\r\n>>> ")
        elif byte == b"\x03":
            line = b""
        elif byte == b"\x04" and raw and line:
            say("OK")
            error = run(line.decode(), names)
            say("\x04")
            if error is not None:
                show(error)
            say("\x04>")
            line = b""
        elif byte == b"\x04" and raw:
            say("OK\r\nMPY: soft reboot\r\n" + GREETING)
            names = {"__name__": "__main__"}
        elif raw:
            line += byte


os.chdir(folder)
sys.path[:] = [""]
sys.modules["machine"] = Machine  # type: ignore[assignment]
sys.modules["sys"] = Sys()  # type: ignore[assignment]
if "main.py" in os.listdir("."):  # noqa: PTH208
    with open("main.py") as file:  # noqa: PTH123
        failed = run(file.read(), {"__name__": "__main__"})
    if failed is not None:
        show(failed)
prompt()
