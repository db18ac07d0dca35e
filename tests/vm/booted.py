"""A whole Debian in a machine, to install boxman on: a shell in it, its terminal, and its console from outside."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import httpx

from tests.free_ports import free_port

# Many times what it takes, because a host may have much other work.
DEADLINE_S = 900.0
SERVICE = "boxman.service"
# Those that the checks make, and no more.
RESTARTS_MAX = 3
# Under which the machine sees what this host has on loopback, and nothing else: no route leads farther.
HOST = "10.0.2.2"


class Failed(Exception):
    """A check that failed."""


class Guest:
    """The machine: a shell in it, and its console from outside."""

    def __init__(self, process: "subprocess.Popen[bytes]", port: int) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._to: IO[bytes] = process.stdin
        self._from: IO[bytes] = process.stdout
        self._number = 0
        self.console = f"http://127.0.0.1:{port}"

    def say(self, line: str) -> None:
        """Have a line done by the shell, and wait for nothing."""
        self._to.write(line.encode() + b"\n")
        self._to.flush()

    def wait_for_shell(self) -> None:
        """Wait until the shell has started: it says so itself."""
        while b"SHELL READY" not in (line := self._from.readline()):
            if not line:
                raise Failed("the machine has ended")

    def run(self, command: str, *, status: int | None = 0) -> str:
        """What a command prints. Raises Failed where it ends otherwise than with `status`; None: as it likes."""
        self._number += 1
        mark = f"DONE-{self._number}"
        self.say(f"{{ {command}\n}} </dev/null >/run/shell.out 2>&1; s=$?; cat /run/shell.out; echo; echo {mark} $s")
        lines: list[str] = []
        while True:
            line = self._from.readline()
            if not line:
                raise Failed(f"the machine ended during: {command}")
            text = line.decode(errors="replace").rstrip("\r\n")
            if text.startswith(mark):
                break
            lines.append(text)
        output = "\n".join(lines).strip()
        ended = int(text.split()[1])
        if status is not None and ended != status:
            raise Failed(f"{command} ended with {ended}: {output[-400:]}")
        return output

    def shows(self, *properties: str) -> dict[str, str]:
        """Properties of the service."""
        said = self.run(f"systemctl show {SERVICE} -p {','.join(properties)}")
        return dict(line.split("=", 1) for line in said.splitlines())

    def wait_until(self, true: Callable[[], Any], what: str) -> Any:
        """What `true` gives as soon as that is anything. Raises Failed after the deadline."""
        deadline = time.monotonic() + DEADLINE_S
        while True:
            if found := true():
                return found
            if time.monotonic() > deadline:
                raise Failed(f"not within {DEADLINE_S:.0f} s: {what}")
            # To look takes such a machine a good part of a second, which it has not for what it is to do.
            time.sleep(2)

    def wait_until_ready(self, former: str = "") -> dict[str, str]:
        """Wait until the service accepts play, in another process than `former`."""

        def ready() -> dict[str, str] | None:
            told = self.shows(
                "ActiveState",
                "MainPID",
                "StatusText",
                "NRestarts",
                "ActiveEnterTimestampMonotonic",
                "ActiveExitTimestampMonotonic",
            )
            if int(told["NRestarts"]) > RESTARTS_MAX:
                raise Failed("the service starts again and again")
            return told if told["ActiveState"] == "active" and told["MainPID"] != former else None

        found: dict[str, str] = self.wait_until(ready, "the service is active")
        return found

    def state(self) -> dict[str, Any]:
        """The console's state, from outside the machine."""
        state: dict[str, Any] = httpx.get(f"{self.console}/api/state", timeout=120).json()
        return state

    def command(self, number: str, step: dict[str, Any]) -> None:
        """Have a step of the game entered on the screen, under an `id` of its own. Raises Failed."""
        asked = httpx.post(f"{self.console}/api/command", json={"id": number, "step": step}, timeout=120)
        if asked.status_code != 200:
            raise Failed(f"{step} is refused: {asked.status_code} {asked.text[:200]}")

    def start_anew(self, how: str) -> None:
        """Start the machine anew."""
        self.say(how)
        self.wait_for_shell()


@contextmanager
def machine(
    work: Path, *, counts_instructions: bool = False, system: str = "booted", more: Sequence[str] = ()
) -> Iterator[Guest]:
    """A machine whose disks forget all when it ends, with the disk image `system` and what `more` of QEMU's words say.

    With `counts_instructions` its clock does so, a nanosecond each, but is never ahead of the host's.
    """
    data = work / "installation-data.img"
    data.unlink(missing_ok=True)
    with data.open("wb") as empty:
        empty.truncate(256 << 20)
    subprocess.run(["mke2fs", "-q", "-t", "ext4", "-b", "4096", "-L", "boxman-data", str(data)], check=True)
    processors = ["-smp", "1", "-icount", "shift=0"] if counts_instructions else ["-smp", "2"]
    # Nothing of them outlives the machine, so nobody waits for this host's disk.
    disks = {
        "root": f"file={work / f'{system}.img'},snapshot=on,cache=unsafe",
        "releases": f"file={work / 'releases.img'},readonly=on",
        "data": f"file={data},snapshot=on,cache=unsafe",
    }
    with running(work, "installation", ["-m", "768", *processors, *more], disks) as guest:
        yield guest


@contextmanager
def running(work: Path, name: str, size: list[str], disks: dict[str, str]) -> Iterator[Guest]:
    """A machine under the rig's kernel, which logs as `name`. `size` and `disks` are QEMU's own words."""
    port = free_port()
    command = ["qemu-system-x86_64", "-M", "pc", "-accel", "tcg", "-cpu", "max", *size]
    command += ["-nodefaults", "-no-user-config", "-display", "none"]
    command += ["-serial", f"file:{work / 'log' / f'{name}.txt'}", "-serial", "stdio"]
    command += ["-kernel", str(work / "vmlinux"), "-initrd", str(work / "initramfs.gz")]
    command += [
        "-append",
        "console=ttyS0 quiet loglevel=3 panic=-1 net.ifnames=0 systemd.getty_auto=0 boxman.task=system",
    ]
    for disk, words in disks.items():
        command += ["-drive", f"{words},format=raw,if=none,id={disk}", "-device", f"virtio-blk-pci,drive={disk}"]
    command += ["-netdev", f"user,id=net,hostfwd=tcp:127.0.0.1:{port}-10.0.2.15:8080"]
    command += ["-device", "virtio-net-pci,netdev=net,romfile="]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=sys.stderr)
    try:
        guest = Guest(process, port)
        guest.wait_for_shell()
        yield guest
    finally:
        process.kill()
        process.wait()


def print_checks(checks: Iterator[tuple[str, str]]) -> int:
    """Print each check with what was seen; returns the exit status."""
    passed = 0
    began = time.monotonic()
    try:
        for what, seen in checks:
            passed += 1
            print(f"PASS {what}: {seen} ({time.monotonic() - began:.0f} s)", flush=True)
    except Failed as failure:
        print(f"FAIL after {passed} checks: {failure}", flush=True)
        return 1
    print(f"{passed} passed, 0 failed")
    return 0
