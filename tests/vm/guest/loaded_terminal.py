"""A terminal that is loaded and waits for its start: `python3 -m tests.vm.guest.loaded_terminal`.

Everything is imported and no disk is mounted yet. A line with a seed on standard input starts it.
"""

import fcntl
import subprocess
import sys
from pathlib import Path

# What a start imports when it comes to it.
import gpiozero.pins.mock  # noqa: F401
import uvicorn.lifespan.off
import uvicorn.loops.asyncio
import uvicorn.protocols.http.h11_impl  # noqa: F401

from provisioning.command_line import main

# linux/random.h
_RNDRESEEDCRNG = 0x5207
# e2fsck's exit status where it has put things right.
_REPAIRED = 1
_CONFIGURATION = "/boxman/tests/vm/guest/table.toml"


def _be_another(seed: bytes) -> None:
    """Draw other random numbers, and so have another boot id, than those who began from the same saved state."""
    with Path("/dev/urandom").open("wb", buffering=0) as pool:
        pool.write(seed)
        fcntl.ioctl(pool, _RNDRESEEDCRNG)


print("LOADED", flush=True)
_be_another(bytes.fromhex(next(line for line in sys.stdin if line.strip())))
# As systemd does at every boot with fsck.repair=yes: a torn superblock is taken from its copy. Of a commit block of
# ext4's journal, a part may arrive: the kernel 6.1 takes that for damage and refuses to mount, e2fsck and later kernels
# take it for the journal's end.
_checked = subprocess.run(["e2fsck", "-y", "/dev/vdc"], check=False).returncode
if _checked & ~_REPAIRED:
    sys.exit(f"e2fsck ended with {_checked}")
subprocess.run(["mount", "-t", "ext4", "-o", "errors=panic", "/dev/vdc", "/mnt"], check=True)
[_mounted] = [line for line in Path("/proc/mounts").read_text().splitlines() if line.startswith("/dev/vdc ")]
print(f"MOUNTED {_mounted}, {Path('/sys/block/vdc/queue/write_cache').read_text().strip()}", flush=True)
sys.argv = ["boxman", "run", "--config", _CONFIGURATION, "--data", "/mnt/data", "--port", "8080"]
sys.exit(main())
