"""An emulated computer with a terminal on it, on a disk whose power can be cut.

It boots once, up to a terminal that is loaded and not started, with its disk not mounted, and is saved in that state.
Every life begins there: it mounts its disk as it finds it and starts the terminal, and spares the emulation the ten
seconds that kernel and imports take.
"""

import random
import shlex
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import httpx

from tests.free_ports import free_port
from tests.vm.control_line import MachineFailed, control_line
from tests.vm.volatile_disk import VolatileDisk

# Two groups of blocks: of the superblock, which may be torn, there is a second one, as on a table's card.
DISK_BYTES = 256 << 20
# Many times what it takes, because a host may have much other work.
LOADING_S = 600.0
SAVING_S = 240.0
START_S = 300.0
ANSWER_S = 120.0
_LOADED = b"LOADED"
# In hexadecimal and with two ends of lines no longer than what a serial port takes at once.
_SEED_BYTES = 6


class Machine:
    """From its power button to its cut. Use as a context manager."""

    def __init__(self, work: Path, name: str, program: Path, disk: VolatileDisk, *, saved: Path | None = None) -> None:
        """Boot, or go on from the state in `saved`. `name` tells its files in `work` from those of others."""
        self.disk = disk
        self.log = work / "log" / f"{name}.txt"
        self.control = work / f"{name}.control"
        self.control.unlink(missing_ok=True)
        port = free_port()
        self.address = f"http://127.0.0.1:{port}"
        self._console: IO[bytes] = self.log.open("ab")
        data = f"file.driver=nbd,file.server.type=unix,file.server.path={disk.address},cache=none,format=raw"
        command = ["qemu-system-x86_64", "-M", "pc", "-accel", "tcg", "-cpu", "max", "-smp", "1", "-m", "384"]
        command += ["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-serial", "stdio"]
        command += ["-qmp", f"unix:{self.control},server=on,wait=off"]
        command += ["-kernel", str(work / "vmlinux"), "-initrd", str(work / "initramfs.gz")]
        command += ["-append", "console=ttyS0 quiet loglevel=3 panic=-1 net.ifnames=0 boxman.task=terminal"]
        command += _drive("root", f"file={work / 'root.img'},format=raw,readonly=on")
        command += _drive("program", f"file={program},format=raw,readonly=on")
        command += _drive("data", data)
        command += ["-netdev", f"user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{port}-10.0.2.15:8080"]
        command += ["-device", "virtio-net-pci,netdev=net,romfile="]
        if saved is not None:
            command += ["-incoming", f"exec:cat {shlex.quote(str(saved))}"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=self._console, stderr=subprocess.STDOUT, bufsize=0
        )

    def start_terminal(self, chance: random.Random) -> None:
        """Have the disk mounted and the terminal started; returns at once."""
        assert self._process.stdin is not None
        # A machine that goes on from a saved state would draw the same random numbers in every life.
        # Its serial port loses the first character that it gets after that.
        self._process.stdin.write(b"\n" + chance.randbytes(_SEED_BYTES).hex().encode() + b"\n")

    def wait_for_answer(self) -> dict[str, Any]:
        """The first state that the terminal tells. Raises MachineFailed."""
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline and self._process.poll() is None:
            try:
                state: dict[str, Any] = httpx.get(f"{self.address}/api/state", timeout=ANSWER_S).json()
            except httpx.TransportError:
                time.sleep(0.02)
            else:
                return state
        raise MachineFailed(f"the terminal did not start within {START_S:.0f} s, see {self.log}")

    def wait_until_loaded(self, text_before: int) -> None:
        """Wait until the terminal is loaded; the log had `text_before` bytes before. Raises MachineFailed."""
        deadline = time.monotonic() + LOADING_S
        while _LOADED not in self.log.read_bytes()[text_before:]:
            if time.monotonic() > deadline or self._process.poll() is not None:
                raise MachineFailed(f"the machine did not boot within {LOADING_S:.0f} s, see {self.log}")
            time.sleep(0.1)

    def save(self, to: Path) -> None:
        """Write its state to a file; it stands still afterwards. Raises MachineFailed."""
        with control_line(self.control) as tell:
            tell("migrate", uri=f"exec:cat > {shlex.quote(str(to))}")
            deadline = time.monotonic() + SAVING_S
            while (status := tell("query-migrate")["status"]) != "completed":
                if status == "failed" or time.monotonic() > deadline:
                    raise MachineFailed(f"the machine's state cannot be saved in {to}: {status}")
                time.sleep(0.1)

    def cut(self) -> None:
        """The power goes, of the disk and with it of everything else."""
        self.disk.cut()
        self._process.kill()
        self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cut()
        self._console.close()
        if self._process.stdin is not None:
            self._process.stdin.close()


def save_loaded(work: Path, name: str, program: Path) -> Path:
    """Boot a machine with the terminal in `program` and save it as it is before its start. Raises MachineFailed."""
    image, saved = work / f"{name}.img", work / f"{name}.saved"
    make_disk(image)
    with Machine(work, name, program, VolatileDisk(image, work / f"{name}.socket")) as machine:
        text_before = machine.log.stat().st_size
        machine.wait_until_loaded(text_before)
        machine.save(saved)
    return saved


def make_disk(image: Path) -> None:
    """A disk with an empty ext4."""
    image.unlink(missing_ok=True)
    with image.open("wb") as file:
        file.truncate(DISK_BYTES)
    subprocess.run(["mke2fs", "-q", "-t", "ext4", "-b", "4096", str(image)], check=True)


def _drive(name: str, said: str) -> list[str]:
    return ["-drive", f"{said},if=none,id={name}", "-device", f"virtio-blk-pci,drive={name}"]
