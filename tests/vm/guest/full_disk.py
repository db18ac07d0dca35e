"""A disk that is really full under a table that is played: `python3 -m tests.vm.guest.full_disk`, in the guest.

On a small tmpfs and on a small ext4, filled bit by bit and at one stroke: the table stops and says why, the stop is
recorded, nothing that was told is lost, and when there is room again it goes on by itself.
"""

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tests.terminal_load import Load
from tests.terminal_rig import TerminalProcess, boxman, lines_in, wait_for

# Room for what the terminal wants to have left, and some more.
DISK_BYTES = 96 << 20
LEFT_BYTES = 256 << 10
PIECE_BYTES = 1 << 20
# The emulation is some ten times slower than a table's computer.
START_S = 180.0
WAIT_S = 90.0
ANSWERS = 10
CONFIGURATION = Path("/boxman/tests/vm/guest/table.toml")
_PLACE = Path("/mnt")


def on_tmpfs() -> None:
    """Mount a small tmpfs."""
    _run("mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(_PLACE))


def on_ext4() -> None:
    """Mount a small ext4 on a loop device, whose blocks lie in memory."""
    image = Path("/run/disk.img")
    image.unlink(missing_ok=True)
    with image.open("wb") as file:
        file.truncate(DISK_BYTES)
    _run("mke2fs", "-q", "-t", "ext4", "-b", "4096", "-m", "0", str(image))
    _run("mount", "-o", "loop", str(image), str(_PLACE))


def bit_by_bit(filler: Path) -> None:
    """Fill the disk while the table is played, until nothing more goes on it."""
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(PIECE_BYTES))
                os.fsync(file.fileno())
        except OSError:
            return


def at_one_stroke(filler: Path) -> None:
    """Fill the disk between two looks that the terminal has at it; it takes room itself at the same time."""
    found = os.statvfs(filler.parent)
    with filler.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, found.f_bavail * found.f_frsize - LEFT_BYTES)


def check(mount: Callable[[], None], fill: Callable[[Path], None]) -> str:
    """Play, fill, make room, play on; what was seen. Raises AssertionError."""
    mount()
    configuration = Path("/run/table.toml")
    configuration.write_text(CONFIGURATION.read_text().replace("10.0.2.15", "127.0.0.1"))
    filler = _PLACE / "filler"
    table = TerminalProcess(_PLACE / "data", configuration=configuration)
    try:
        table.start(START_S)
        load = Load(f"{mount.__name__} {fill.__name__}", with_dice_keys=False, timeout_s=WAIT_S, may_halt=True)
        account = load.account
        load.begin(table.address)
        load.wait_for_answers(ANSWERS, WAIT_S)
        fill(filler)
        halted = wait_for(lambda: table.state()["halted"], "the table stops", WAIT_S)
        assert "disk is full" in halted, halted
        wait_for(lambda: account.halts, "a command is refused", WAIT_S)
        assert all("disk is full" in text for text in account.halts), account.halts
        before = account.answers_in_this_life()
        filler.unlink()
        began = time.monotonic()
        wait_for(lambda: table.state()["halted"] is None, "the table goes on", WAIT_S)
        went_on_s = time.monotonic() - began
        load.wait_for_answers(before + ANSWERS, WAIT_S)
        table.kill()
        load.end()
        lines = lines_in(table.data)
        assert (wrong := account.settle(lines)) == [], wrong
        types = [json.loads(line)["type"] for line in lines]
        kept = [name for name in types if name in ("started", "recording_stopped", "recording_resumed")]
        assert kept == ["started", "recording_stopped", "recording_resumed"], kept
        verified = boxman("journal", "verify", "--data", table.data)
        assert verified.returncode == 0, verified.stderr
    finally:
        table.kill()
        _run("umount", str(_PLACE))
    return f"{account.answers} answers and {account.states} states held; went on {went_on_s:.1f} s after there was room"


def main() -> None:
    """Both file systems, both ways."""
    checks = [(mount, fill) for mount in (on_tmpfs, on_ext4) for fill in (bit_by_bit, at_one_stroke)]
    print(f"PLAN {len(checks)}")
    for mount, fill in checks:
        name = f"a full disk {mount.__name__}, filled {fill.__name__}".replace("_", " ")
        try:
            print(f"PASS {name}: {check(mount, fill)}")
        except AssertionError as failure:
            print(f"FAIL {name}: {' '.join(str(failure).split())}")


def _run(*command: str) -> None:
    subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
