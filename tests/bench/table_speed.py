"""One roll of a full table, 24 players with 12 bets each, and the memory that it takes, on both runtimes."""

import json
import platform
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PROGRAM = Path(__file__).with_name("micropython_table.py")
RULES = "us-vegas"
# The full table fits into 192 KB, as the tests show; what measures it here takes a little more.
RUNTIMES: dict[str, list[str | Path]] = {
    f"CPython {platform.python_version()}": [sys.executable],
    "MicroPython": [Path(sys.executable).with_name("micropython"), "-X", "heapsize=256k"],
}


def table_speed() -> list[tuple[str, str]]:
    """Time and memory on each runtime, under the rule set that has most bets."""
    figures = []
    for runtime, python in RUNTIMES.items():
        speed, memory = _measured(python, "speed"), _measured(python, "memory")
        figures += [
            (f"a seven that decides {speed['decided']} bets, {runtime}", f"{speed['seven_us']:,} us"),
            (f"an average roll of 288 bets, {runtime}", f"{speed['average_us']:,} us"),
            (f"memory of core and rule set, {runtime}", f"{memory['rules_bytes'] / 1024:.0f} KiB"),
            (f"memory of 288 bets and the last roll, {runtime}", f"{memory['table_bytes'] / 1024:.0f} KiB"),
        ]
    return figures


def _measured(python: list[str | Path], what: str) -> dict[str, int]:
    done = subprocess.run([*python, PROGRAM, ROOT, RULES, what], capture_output=True, check=True)
    measured: dict[str, int] = json.loads(done.stdout)
    return measured
