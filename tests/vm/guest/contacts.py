"""Moves contacts from a process of its own, as a hand does: the program under test knows nothing of it.

`python3 -m tests.vm.guest.contacts` reads lines `PIN closed|open WAIT_MS`, makes each movement, writes the monotonic
time of it in nanoseconds, and waits at least so long. With the argument `hold` it reads pins and keeps those contacts
closed until standard input ends, also when somebody claims a pin: gpio-sim lets the pull-up of a claim win, the switch
of a table does not.
"""

import sys
import threading
import time

from tests.vm.guest import simulated_chip

_HOLD_S = 0.002


def _play() -> None:
    for line in sys.stdin.read().splitlines():
        pin, state, wait_ms = line.split()
        moved_ns = time.monotonic_ns()
        simulated_chip.move(int(pin), closed=state == "closed")
        print(moved_ns)
        time.sleep(int(wait_ms) / 1000)


def _hold() -> None:
    pins = [int(pin) for pin in sys.stdin.readline().split()]
    input_ends = threading.Thread(target=sys.stdin.read, daemon=True)
    input_ends.start()
    for pin in pins:
        simulated_chip.move(pin, closed=True)
    print("held")
    while input_ends.is_alive():
        time.sleep(_HOLD_S)
        for pin in pins:
            simulated_chip.move(pin, closed=True)


if sys.argv[1:] == ["hold"]:
    _hold()
else:
    _play()
