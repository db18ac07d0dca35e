"""What goes on around the program under test: hands that move contacts, programs that hold lines."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tests.vm.guest.table import QUIET_S, WIRING, CheckFailed, Table

# Longer than the longest series of movements takes.
_PLAY_SECONDS_MAX = 60


def play(table: Table, movements: Sequence[tuple[str, bool, int]]) -> list[int]:
    """Have a hand make the movements (name, closed, wait in ms) while the table runs.

    Returns when each was made, in monotonic nanoseconds. Raises CheckFailed when the hand comes to grief.
    """
    lines = [f"{WIRING.pins[name].number} {'closed' if closed else 'open'} {ms}\n" for name, closed, ms in movements]
    hand = _start("contacts")
    assert hand.stdin is not None and hand.stdout is not None
    hand.stdin.write("".join(lines))
    hand.stdin.close()
    if not table.run(_PLAY_SECONDS_MAX, until=lambda: hand.poll() is not None) or hand.returncode != 0:
        raise CheckFailed("the process that moves the contacts did not end well")
    table.run(QUIET_S)
    return [int(line) for line in hand.stdout.read().split()]


@contextmanager
def contacts_held(names: Sequence[str]) -> Iterator[None]:
    """Contacts that are closed and stay so whoever claims their pins."""
    hand = _start("contacts", "hold")
    assert hand.stdin is not None
    hand.stdin.write(" ".join(str(WIRING.pins[name].number) for name in names) + "\n")
    hand.stdin.flush()
    with _until_left(hand):
        yield


@contextmanager
def lines_held(names: Sequence[str]) -> Iterator[None]:
    """Another program that has the lines of these signals."""
    with _until_left(_start("line_holder", *(str(WIRING.pins[name].number) for name in names))):
        yield


def run_apart(table: Table, statement: str) -> None:
    """Have another process run a statement about the simulated chip while the table runs. Raises CheckFailed."""
    code = f"from tests.vm.guest import simulated_chip; simulated_chip.{statement}"
    other = subprocess.Popen([sys.executable, "-c", code])
    if not table.run(_PLAY_SECONDS_MAX, until=lambda: other.poll() is not None) or other.returncode != 0:
        raise CheckFailed(f"{statement} did not end well")


def _start(module: str, *arguments: str) -> subprocess.Popen[str]:
    # lgpio of the other process makes its pipe in memory, too.
    return subprocess.Popen(
        [sys.executable, "-m", f"tests.vm.guest.{module}", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "LG_WD": "/run"},
    )


@contextmanager
def _until_left(other: subprocess.Popen[str]) -> Iterator[None]:
    """Another process from when it says that it holds what it is to hold until this is left."""
    assert other.stdin is not None and other.stdout is not None
    if (said := other.stdout.readline().strip()) != "held":
        raise CheckFailed(f"the other process said {said!r}")
    try:
        yield
    finally:
        other.stdin.close()
        other.wait()
