"""The loop that a terminal runs around the drivers, with what a check expects of it."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from drivers.header import open_pin_factory
from drivers.signals import PuckLifted, ReserveOpened, Signal
from drivers.table_inputs import TableInputs
from drivers.wiring import Wiring
from tests.vm.guest import simulated_chip

WIRING = Wiring()
INPUTS = WIRING.inputs("header")
LAMPS = WIRING.lamps("header")
# Enough for whatever a table's times allow, 300 ms for a lifted puck, on a machine that is emulated.
SIGNAL_WITHIN_S = 3.0
# How long nothing may follow that was not asked for: longer than every settle time.
QUIET_S = 0.5
# What a table whose puck is in somebody's hand and whose lid is open says when it starts.
START: tuple[Signal, ...] = (ReserveOpened(initial=True), PuckLifted(initial=True))


class CheckFailed(Exception):
    """The drivers did not do what a check asks of them; the message says what was seen."""


@dataclass(frozen=True)
class Seen:
    """A signal and when the loop had it, in monotonic nanoseconds."""

    time_ns: int
    signal: Signal


class Table:
    """The default wiring without its node, on the simulated chip.

    `seen` are the signals since `expect` last cleared them, `hints_ns` the times of all hints.
    """

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.hints_ns: list[int] = []
        self._hint = threading.Event()
        factory = open_pin_factory("lgpio")
        self.inputs = TableInputs(WIRING, pin_factory=factory, node_port=None, on_hint=self._hinted)

    def _hinted(self) -> None:
        self.hints_ns.append(time.monotonic_ns())
        self._hint.set()

    def run(self, seconds: float, *, until: Callable[[], bool] = lambda: False) -> bool:
        """Sleep until a hint or for the pace, poll, and so on until something is so; say whether it is so."""
        deadline = time.monotonic() + seconds
        while not (done := until()) and time.monotonic() < deadline:
            self._hint.wait(self.inputs.pace_ms / 1000)
            self._hint.clear()
            for received in self.inputs.poll(time.monotonic_ns() // 1_000_000):
                self.seen.append(Seen(time.monotonic_ns(), received.signal))
        return done

    def signals(self) -> list[Signal]:
        """What `seen` holds, without the times."""
        return [seen.signal for seen in self.seen]

    def active(self) -> set[str]:
        """The inputs that the drivers call active."""
        return {row["name"] for row in self.inputs.hardware()["inputs"] if row["active"]}

    def expect_active(self, names: set[str]) -> None:
        """Run until exactly these inputs are active. Raises CheckFailed."""
        if not self.run(SIGNAL_WITHIN_S, until=lambda: self.active() == names):
            raise CheckFailed(f"active are {sorted(self.active())}, not {sorted(names)}")

    def expect(self, signals: Sequence[Signal]) -> None:
        """Run until so many signals are there and for as long as more may follow; clear them. Raises CheckFailed."""
        self.run(SIGNAL_WITHIN_S, until=lambda: len(self.seen) >= len(signals))
        self.run(QUIET_S)
        got = self.signals()
        self.seen.clear()
        if got != list(signals):
            raise CheckFailed(f"seen were {_brief(got)}, not {_brief(signals)}")

    def press(self, name: str, signals: Sequence[Signal]) -> None:
        """Close a contact, expect the signals, and open it again, which must give none. Raises CheckFailed."""
        move(name, closed=True)
        self.expect_active({name})
        self.expect(signals)
        move(name, closed=False)
        self.expect_active(set())
        self.expect([])


def _brief(signals: Sequence[Signal]) -> str:
    """All of them or, for a line that can be read, how many of each kind."""
    if len(signals) < 4:
        return f"{list(signals)}"
    return ", ".join(f"{count} {signal}" for signal, count in Counter(map(str, signals)).items())


@contextmanager
def table_at_rest() -> Iterator[Table]:
    """A table that has said what there was to say at its start; closed afterwards."""
    table = Table()
    table.expect(START)
    yield table
    table.inputs.close()


def move(name: str, *, closed: bool) -> None:
    """Close or open the contact of the input `name`."""
    simulated_chip.move(WIRING.pins[name].number, closed=closed)


def expect_lit(names: set[str]) -> None:
    """Exactly these lamps have current, as the kernel sees it. Raises CheckFailed."""
    lit = {name.removeprefix("lamp_") for name, pin in LAMPS.items() if simulated_chip.lit(pin)}
    if lit != names:
        raise CheckFailed(f"lit are {sorted(lit)}, not {sorted(names)}")
