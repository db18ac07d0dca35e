"""The dice keys on a real node: the firmware under MicroPython behind a pseudo-terminal, read by TableInputs."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from drivers.header import open_pin_factory
from drivers.node_firmware.board_virtual import PINS
from drivers.node_link import NodePortBusy
from drivers.node_port import close_port
from drivers.signals import (
    ButtonHeldAtStart,
    DiceEntryAbandoned,
    DiceKeyed,
    DieKeyed,
    NewShooterKeyed,
    NodeFound,
    NodeLost,
    Signal,
    TakeBackKeyed,
)
from drivers.table_inputs import Received, TableInputs
from drivers.virtual_node import VirtualNode, node_lamps, set_dice_key
from drivers.wiring import Timing, Wiring

DEADLINE_SECONDS = 60.0
# A finger that a busy machine holds up holds no key, and gives no roll up.
UNHURRIED = Timing(hold_ms=60_000, abandon_ms=120_000, stuck_ms=600_000)
WIRING = Wiring(timing=UNHURRIED)
# More samples than fit into the time in which a key settles, and what else the node may read meanwhile.
SAMPLES = 60


def now_ms() -> int:
    return time.monotonic_ns() // 1_000_000


def until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen"
        time.sleep(0.005)


class Host:
    """A table's program: polls, keeps what it received and, unless told otherwise, acknowledges it."""

    def __init__(
        self,
        folder: Path,
        *,
        acknowledging: bool = True,
        resume: tuple[int, int] | None = None,
        timing: Timing = UNHURRIED,
    ) -> None:
        self.folder = folder
        wiring = replace(WIRING, timing=timing)
        self.inputs = TableInputs(wiring, pin_factory=open_pin_factory("mock"), node_port=str(folder / "node"))
        if resume is not None:
            self.inputs.resume({"dice_keys": resume}, (resume[0], 0))
        self.acknowledging = acknowledging
        self.received: list[Received] = []

    def poll(self) -> None:
        for received in self.inputs.poll(now_ms()):
            if not received.origin.startswith("header"):
                self.received.append(received)
            if self.acknowledging:
                self.inputs.acknowledge(received)

    def signals(self) -> list[Signal]:
        """What the keys said."""
        return [received.signal for received in self.received if received.origin == "node:dice_keys"]

    def node_signals(self) -> list[Signal]:
        return [received.signal for received in self.received if received.origin == "node"]

    def report_of(self, signal: Signal) -> tuple[int, int] | None:
        """The report of the last signal of this kind."""
        return next(received.report for received in reversed(self.received) if received.signal == signal)

    def found(self) -> list[NodeFound]:
        """How the node was found, and after each silence again: a busy machine makes some."""
        return [signal for signal in self.node_signals() if isinstance(signal, NodeFound)]

    def lost_nothing(self) -> bool:
        """Whether the node was there, without a restart, and dropped nothing."""
        first, *others = self.found()
        return first == NodeFound(None, restarted=False, dropped=0) and not any(
            found.restarted or found.dropped for found in others
        )

    def until(self, condition: Callable[[], bool], what: str) -> None:
        def polled() -> bool:
            self.poll()
            return condition()

        until(polled, what)

    def online(self) -> "Host":
        self.until(lambda: self.inputs.node_state == "online", "the node's answer")
        return self

    def press(self, key: int) -> None:
        """Press a key until it is felt, and let go of it until that is felt."""
        for down in (True, False):
            self.move(key, down)

    def move(self, key: int, down: bool) -> None:
        """Press a key or let go of it, until that is felt."""
        set_dice_key(self.folder, key, down, wiring=WIRING)

        def felt() -> bool:
            inputs = {view["name"]: view["active"] for view in self.inputs.hardware()["inputs"]}
            return inputs[f"dice_key_{key}"] is down

        self.until(felt, "the key's movement")

    def pass_time(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        self.until(lambda: time.monotonic() >= end, "the end of a pause")

    def roll(self, first: int, second: int) -> Received:
        """Key a roll and wait until it has arrived."""
        roll = DiceKeyed(first, second)
        known = self.signals().count(roll)
        self.press(first)
        self.press(second)
        self.until(lambda: self.signals().count(roll) == known + 1, "the roll")
        return next(received for received in reversed(self.received) if received.signal == roll)

    def acknowledge_all(self) -> None:
        """Acknowledge what is not yet, and wait until the node has forgotten it. It must have kept something till now.

        What the node says of that a moment before it has heard of the acknowledgement is another number.
        """
        self.until(lambda: self.inputs.hardware()["node"]["counters"]["waiting"] > 0, "the node's word")
        self.acknowledging = True
        for received in self.received:
            self.inputs.acknowledge(received)
        self.until(lambda: self.inputs.hardware()["node"]["counters"]["waiting"] == 0, "the acknowledgement's effect")

    def settled(self) -> None:
        """Wait for longer than the node waits before it repeats what was not acknowledged."""
        self.pass_time(1.3)


def press_with_nobody_there(node: VirtualNode, folder: Path, key: int) -> None:
    """There is nobody who could say that the node has seen the press: wait until it has looked at its keys enough."""
    for down in (True, False):
        set_dice_key(folder, key, down, wiring=WIRING)
        known = read_bytes(node)
        until(lambda known=known: read_bytes(node) >= known + SAMPLES * PINS, "the node's sampling")  # type: ignore[misc]


def read_bytes(node: VirtualNode) -> int:
    """How much the node has read; each sample reads all pins."""
    assert node._process is not None
    return int(Path(f"/proc/{node._process.pid}/io").read_text().split("rchar:")[1].split()[0])


def lit(folder: Path) -> list[str]:
    """The node's lamps that are lit."""
    return [name for name, on in node_lamps(folder, wiring=WIRING).items() if on]


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A port that a busy machine opens or closes late is none that hangs."""
    monkeypatch.setattr("drivers.node_link.OPEN_SECONDS", DEADLINE_SECONDS)
    monkeypatch.setattr(
        "drivers.node_link.close_port", lambda port, seconds=DEADLINE_SECONDS: close_port(port, seconds)
    )


@pytest.fixture
def node(tmp_path: Path) -> Iterator[VirtualNode]:
    with VirtualNode(tmp_path) as node:
        yield node


@pytest.fixture
def folder(node: VirtualNode, tmp_path: Path) -> Path:
    """The folder of a node that runs."""
    assert node.port.parent == tmp_path
    return tmp_path


def test_two_presses_are_one_roll_and_an_acknowledged_roll_is_forgotten(folder: Path) -> None:
    host = Host(folder, acknowledging=False).online()
    roll = host.roll(3, 4)
    assert host.signals() == [DieKeyed(3), DiceKeyed(3, 4)]
    assert roll.report is not None and roll.report[1] == 4
    assert host.lost_nothing()
    host.acknowledge_all()
    host.inputs.close()
    later = Host(folder).online()
    later.settled()
    assert later.signals() == []
    later.inputs.close()


def test_presses_while_the_table_is_away_arrive_once_and_in_order(node: VirtualNode, folder: Path) -> None:
    host = Host(folder, acknowledging=False).online()
    host.roll(1, 2)
    host.acknowledge_all()
    host.inputs.close()
    for key in (5, 6, 3, 3):
        press_with_nobody_there(node, folder, key)
    later = Host(folder).online()
    later.until(lambda: len(later.signals()) >= 4, "the backlog")
    later.settled()
    assert later.signals() == [DieKeyed(5), DiceKeyed(5, 6), DieKeyed(3), DiceKeyed(3, 3)]
    later.inputs.close()


def test_a_killed_table_gets_what_it_had_not_acknowledged_again_and_the_rest_not(
    node: VirtualNode, folder: Path
) -> None:
    """A real process, killed between taking a roll and acknowledging it."""
    program = """
import sys, time
from pathlib import Path
from drivers.header import open_pin_factory
from drivers.signals import DiceKeyed
from drivers.table_inputs import TableInputs
from drivers.wiring import Timing, Wiring
timing = Timing(hold_ms=60_000, abandon_ms=120_000, stuck_ms=600_000)
inputs = TableInputs(Wiring(timing=timing), pin_factory=open_pin_factory("mock"), node_port=sys.argv[1])
while True:
    for received in inputs.poll(time.monotonic_ns() // 1_000_000):
        if isinstance(received.signal, DiceKeyed):
            print(*received.report, flush=True)
        if received.signal == DiceKeyed(1, 1):
            inputs.acknowledge(received)
    if inputs.node_state == "online" and sys.argv[2:]:
        print(sys.argv.pop(), flush=True)
    time.sleep(0.005)
"""
    command = [sys.executable, "-c", program, str(folder / "node"), "online"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as table:
        try:
            assert table.stdout is not None
            assert table.stdout.readline() == "online\n"
            reports = []
            for first, second in ((1, 1), (2, 6)):
                press_with_nobody_there(node, folder, first)
                press_with_nobody_there(node, folder, second)
                boot_id, number = table.stdout.readline().split()
                reports.append((int(boot_id), int(number)))
        finally:
            table.send_signal(signal.SIGKILL)
    again = Host(folder, acknowledging=False, resume=reports[0]).online()
    again.until(lambda: DiceKeyed(2, 6) in again.signals(), "the roll that was not acknowledged")
    assert again.signals() == [DieKeyed(2), DiceKeyed(2, 6)]
    assert again.report_of(DiceKeyed(2, 6)) == reports[1]
    again.inputs.close()
    # It was committed, and only its acknowledgement was lost: the journal knows it, so it is not said again.
    known = Host(folder, resume=reports[1]).online()
    known.settled()
    assert known.signals() == []
    assert known.lost_nothing()
    known.inputs.close()


def test_a_half_entered_roll_outlives_the_table(node: VirtualNode, folder: Path) -> None:
    host = Host(folder).online()
    host.press(6)
    host.until(lambda: host.signals() == [DieKeyed(6)], "the first die")
    host.pass_time(0.05)
    host.inputs.close()
    press_with_nobody_there(node, folder, 5)
    later = Host(folder).online()
    later.until(lambda: len(later.signals()) == 2, "the roll")
    assert later.signals() == [DieKeyed(6), DiceKeyed(6, 5)]
    later.inputs.close()


def test_a_lone_die_is_given_up_in_the_nodes_time(folder: Path) -> None:
    host = Host(folder, timing=replace(UNHURRIED, abandon_ms=1500)).online()
    host.press(4)
    host.until(lambda: len(host.signals()) == 2, "the end of the entry")
    assert host.signals() == [DieKeyed(4), DiceEntryAbandoned(4, "timeout")]
    host.inputs.close()


@pytest.mark.parametrize(("key", "signal_expected"), [(1, TakeBackKeyed()), (2, NewShooterKeyed())])
def test_a_hold_speaks_once_and_is_no_die(folder: Path, key: int, signal_expected: Signal) -> None:
    holding = replace(UNHURRIED, hold_ms=800)
    host = Host(folder, timing=holding).online()
    set_dice_key(folder, key, True, wiring=WIRING)
    host.until(lambda: host.signals() == [signal_expected], "the hold")
    report = host.report_of(signal_expected)
    host.inputs.close()
    # The key is still down while the table restarts.
    later = Host(folder, resume=report, timing=holding).online()
    set_dice_key(folder, key, False, wiring=WIRING)
    later.settled()
    assert later.signals() == []
    later.inputs.close()


def test_a_key_that_is_down_when_the_node_begins_is_said_and_is_no_press(folder: Path) -> None:
    set_dice_key(folder, 5, True, wiring=WIRING)
    host = Host(folder).online()
    host.until(lambda: host.signals() == [ButtonHeldAtStart("dice_key_5")], "the held key")
    host.move(5, False)
    assert host.signals() == [ButtonHeldAtStart("dice_key_5")]
    host.inputs.close()


def test_a_second_program_is_refused_with_a_clear_error(folder: Path) -> None:
    host = Host(folder).online()
    with pytest.raises(NodePortBusy, match=r"the I/O node at .*/node is in use by another program"):
        Host(folder)
    host.roll(2, 2)
    host.inputs.close()


def test_a_node_that_is_reset_is_lost_found_and_used_again(tmp_path: Path) -> None:
    began_ms = now_ms()
    with VirtualNode(tmp_path):
        host = Host(tmp_path).online()
        host.press(6)
        host.until(lambda: host.signals() == [DieKeyed(6)], "the first die")
        host.inputs.set_lamps({"lay": True})
        host.until(lambda: lit(tmp_path) == ["lay"], "the lamp")
    host.until(lambda: host.inputs.node_state == "offline", "the loss")
    assert isinstance(host.node_signals()[-1], NodeLost)
    assert host.lost_nothing()
    with VirtualNode(tmp_path):
        host.until(lambda: host.found()[-1].restarted, "the return")
        gap_ms = host.found()[-1].gap_ms
        assert gap_ms is not None and 0 < gap_ms <= now_ms() - began_ms
        others = [signal for signal in host.node_signals() if not isinstance(signal, NodeFound | NodeLost)]
        assert others == [DiceEntryAbandoned(6, "node_restarted")]
        host.roll(4, 4)
        assert host.signals() == [DieKeyed(6), DieKeyed(4), DiceKeyed(4, 4)]
        host.until(lambda: lit(tmp_path) == ["lay"], "the lamp")
        host.inputs.close()


def test_a_node_that_comes_after_the_table_is_waited_for(tmp_path: Path) -> None:
    host = Host(tmp_path)
    host.poll()
    assert host.inputs.node_state == "offline"
    assert host.inputs.node_fileno() is None
    with VirtualNode(tmp_path):
        host.online()
        assert host.inputs.node_fileno() is not None
        host.inputs.close()


def test_noise_on_the_line_to_the_node_costs_no_press(folder: Path) -> None:
    host = Host(folder).online()
    noise = os.open(folder / "node", os.O_WRONLY | os.O_NOCTTY)
    for n in range(20):
        os.write(noise, bytes((0x7E, n, 0x7E, 60)) * 5)
        host.poll()
    os.close(noise)
    host.roll(5, 2)
    assert host.signals() == [DieKeyed(5), DiceKeyed(5, 2)]
    host.inputs.close()
