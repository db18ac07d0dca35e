"""Runs the checks in the guest and prints a line PASS or FAIL for each: `python3 -m tests.vm.guest`.

Each runs in a process of its own, forked before anything has opened the chip: whatever one of them leaves behind or
breaks, the next one starts as a terminal does.
"""

import faulthandler
import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

from tests.vm.guest import simulated_chip
from tests.vm.guest.checks import CHECKS
from tests.vm.guest.table import INPUTS, LAMPS, CheckFailed

_CHECK_SECONDS_MAX = 90
# What a check writes to standard error, such as a traceback: shown when it fails, and no more of it than this.
_COMPLAINTS = Path("/run/complaints.txt")
_COMPLAINT_LINES = 20


def _run(check: Callable[[], str], complaints: int, result: Connection) -> None:
    """In the check's own process: send what it saw, or why it failed."""
    # Beneath Python, because lgpio and the processes that a check starts write there, too.
    os.dup2(complaints, sys.stderr.fileno())
    faulthandler.dump_traceback_later(_CHECK_SECONDS_MAX - 5)
    try:
        result.send((True, check()))
    except CheckFailed as failure:
        result.send((False, str(failure)))


def main() -> None:
    """Make the chip and run all checks."""
    simulated_chip.create()
    print(f"PLAN {len(CHECKS)}")
    fork = multiprocessing.get_context("fork")
    for check in CHECKS:
        for pin in INPUTS.values():
            simulated_chip.move(pin, closed=False)
        for pin in LAMPS.values():
            # What switches a lamp draws its line to ground when nobody drives it.
            simulated_chip.move(pin, closed=True)
        started = time.monotonic()
        here, there = fork.Pipe(duplex=False)
        with _COMPLAINTS.open("w") as file:
            child = fork.Process(target=_run, args=(check, file.fileno(), there))
            child.start()
            child.join(_CHECK_SECONDS_MAX)
            if child.exitcode is None:
                child.kill()
                child.join()
        passed, detail = here.recv() if here.poll() else (False, f"its process ended with {child.exitcode}")
        took_s = time.monotonic() - started
        complaints = _COMPLAINTS.read_text().splitlines()
        if complaints:
            detail += f"; {len(complaints)} lines on standard error"
        print(f"{'PASS' if passed else 'FAIL'} {check.__name__.replace('_', ' ')} ({took_s:.0f} s): {detail}")
        if not passed:
            for line in complaints[-_COMPLAINT_LINES:]:
                print(f"     {line}")


main()
