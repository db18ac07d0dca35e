"""The terminal as it ships, in a process of its own: console, hardware, uplink, restarts and refusals to start."""

import json
import os
import signal
import socket
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from device.page_server import listen
from device.snapshot_file import Snapshot, SnapshotFile
from device.table_key import read_table_key
from device.terminal import SAME_THROW_S
from drivers.virtual_node import node_command, set_dice_key
from drivers.wiring import Wiring
from engine_lite import rule_sets
from tests.free_ports import free_port
from tests.terminal_load import game_of
from tests.terminal_rig import BOXMAN, SILENT_NODE, START_S, WAIT_S, TerminalProcess, boxman, lines_in, wait_for

BET = {"bet": {"player": "3", "kind": "pass_line", "amount": 10}}
# However busy the machine is, no press becomes a hold, and nothing that was pressed is given up.
PATIENT = "[timing]\nhold_ms = 599999\nabandon_ms = 600000\nstuck_ms = 600000\npick_ms = 600000\n"


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TerminalProcess]:
    """One virtual table for the tests that leave it as they found it."""
    with patient_table(tmp_path_factory.mktemp("table")) as process:
        process.wait_for_state(lambda state: state["node"]["state"] == "online", "the node is there")
        yield process


def patient_table(folder: Path, more: str = "") -> TerminalProcess:
    """A table that gives fingers their time."""
    configuration = folder / "table.toml"
    configuration.write_text(PATIENT + more)
    return TerminalProcess(folder / "data", configuration=configuration)


def keyed(table: TerminalProcess, *dice: int, node: Path | None = None) -> None:
    """Presses of the dice keys, each of which, and its release, has come to the terminal before this goes on."""
    for die in dice:
        for down in (True, False):
            set_dice_key(node or table.data / "virtual", die, down, wiring=Wiring())
            wait_for(lambda die=die, down=down: is_down(table, die) is down, f"key {die} is seen")  # type: ignore[misc]


def is_down(table: TerminalProcess, die: int) -> bool:
    inputs = table.client.get("/api/hardware").json()["inputs"]
    [key] = [line for line in inputs if line["name"] == f"dice_key_{die}"]
    return bool(key["active"])


def codes(state: dict[str, Any]) -> list[str]:
    """The alerts, but for those of a node that is silent for a while, as it is on a busy machine."""
    return [alert["code"] for alert in state["alerts"] if alert["code"] not in SILENT_NODE]


def played(table: TerminalProcess) -> dict[str, Any]:
    """What nothing but a command changes."""
    state = table.state()
    commands = [line for line in lines_in(table.data) if "command" in json.loads(line)["data"]]
    return game_of(state) | {"table": state["table"], "commands": commands}


def journal_types(data: Path) -> list[str]:
    return [json.loads(line)["type"] for line in boxman("journal", "export", "--data", data).stdout.splitlines()]


def told_states(stream: httpx.Response) -> Iterator[dict[str, Any]]:
    """The states that an event stream tells; its heartbeat keeps the deadline honest."""
    deadline = time.monotonic() + WAIT_S
    for line in stream.iter_lines():
        assert time.monotonic() < deadline, "the state that was waited for did not come"
        if line.startswith("data: "):
            yield json.loads(line[6:])


def test_a_roll_from_the_dice_keys_settles_and_the_stream_tells_it(table: TerminalProcess) -> None:
    before = table.state()["roll_number"]
    table.do({"bet": {"player": "3", "kind": "field", "amount": 10}})
    with table.client.stream("GET", "/api/stream") as stream:
        states = told_states(stream)
        assert next(states)["roll_number"] == before
        keyed(table, 6, 6)
        told = next(state for state in states if state["roll_number"] == before + 1)
    # The Strip's field pays three to one on twelve.
    assert told["last_roll"]["dice"] == [6, 6]
    assert told["last_roll"]["results"] == [
        {"player": "3", "kind": "field", "result": "win", "amount": 10, "odds": [3, 1], "paid": 30, "returned": 10}
    ]


def test_the_puck_on_the_pins_is_held_against_the_point(table: TerminalProcess) -> None:
    table.wait_for_state(lambda state: state["puck"]["agrees"], "the puck is at its OFF place")
    table.do({"roll": [2, 4]})
    state = table.wait_for_state(lambda state: state["puck"]["agrees"] is False, "the puck should be on 6")
    assert state["puck"]["expected"] == {"position": 6, "face": "on"}
    state = table.wait_for_state(codes, "the alert after the grace time")
    assert codes(state) == ["puck_misplaced"]
    table.hand(puck={"position": 6, "face": "on"})
    table.wait_for_state(lambda state: state["puck"]["agrees"] and not codes(state), "the puck is on 6")
    table.hand(puck={"position": "off", "face": "off"})
    table.do({"roll": [3, 4]})
    table.wait_for_state(lambda state: state["puck"]["agrees"] and not codes(state), "the puck is back")


def test_buttons_and_lid_reach_the_session_through_their_pins(table: TerminalProcess) -> None:
    table.do({"bet": {"player": "3", "kind": "place", "amount": 12, "number": 8}})
    # Long enough for the pins to be looked at, too, where the machine pauses meanwhile.
    table.hand(press="box_8", hold_ms=1000)
    table.hand(press="off", hold_ms=1000)
    state = table.wait_for_state(lambda state: state["buttons"]["last"], "the button is seen")
    assert [bet["button"] for bet in state["bets"]] == [False]
    table.wait_for_state(lambda _: table.client.get("/api/virtual").json()["lamps"]["off"], "the lamp OFF is lit")
    table.hand(lid="open")
    state = table.wait_for_state(lambda state: state["reserve"]["open"], "the lid is open")
    assert codes(state) == ["reserve_open"]
    table.hand(lid="closed")
    table.wait_for_state(lambda state: state["reserve"]["open"] is False, "the lid is shut")
    table.do({"take_down": {"player": "3", "kind": "place", "number": 8}})


def test_a_die_that_waits_on_the_keys_does_not_begin_the_roll_after_one_from_the_screen(table: TerminalProcess) -> None:

    def second_die_was_keyed_in_time() -> bool:
        began = time.monotonic()
        keyed(table, 3)
        table.wait_for_state(lambda state: state["pending_die"] == 3, "the first die is shown")
        table.do({"roll": [3, 5]})
        assert table.state()["pending_die"] is None
        # The second die of that throw, as somebody keys it a moment later, begins no roll either.
        keyed(table, 5)
        if time.monotonic() - began < SAME_THROW_S:
            return True
        # On a busy machine it may have been too late for that, and a first die. What is entered now comes behind it.
        table.do({"bet": {"player": "3", "kind": "field", "amount": 10}})
        if table.state()["pending_die"] is not None:
            keyed(table, 5)
        return False

    wait_for(second_die_was_keyed_in_time, "the second die is keyed in time")
    before = table.state()["roll_number"]
    keyed(table, 1, 2)
    state = table.wait_for_state(lambda state: state["roll_number"] == before + 1, "the keys enter the next roll")
    assert state["last_roll"]["dice"] == [1, 2]
    table.do({"roll": [3, 4]})


def test_losers_are_shown_with_their_stake_and_a_correction_with_what_it_undid(table: TerminalProcess) -> None:
    table.do({"bet": {"player": "3", "kind": "field", "amount": 15}})
    table.do({"roll": [5, 2]})
    lost = {"player": "3", "kind": "field", "result": "lose", "amount": 15}
    assert table.state()["last_roll"]["results"] == [lost]
    table.do({"correct": [6, 5]})
    last = table.state()["last_roll"]
    won = {"player": "3", "kind": "field", "result": "win", "amount": 15, "odds": [1, 1], "paid": 15, "returned": 15}
    assert last["results"] == [won]
    assert (last["undone"], last["undone_dice"]) == ([lost], [5, 2])
    again = table.post({"correct": [5, 6]})
    assert (again.status_code, again.json()["refused"]) == (409, "nothing_to_correct")


def test_of_two_screens_that_enter_the_same_throw_the_second_is_refused(table: TerminalProcess) -> None:
    seen = table.state()["roll_number"]
    body = {"step": {"roll": [1, 2]}, "after_roll": seen}
    first = table.client.post("/api/command", json=body | {"id": table.fresh_id()})
    second = table.client.post("/api/command", json=body | {"id": table.fresh_id()})
    assert (first.status_code, second.status_code, second.json()["refused"]) == (200, 409, "stale")
    assert table.state()["roll_number"] == seen + 1


def test_a_screen_that_corrects_makes_the_next_keyed_dice_a_correction(table: TerminalProcess) -> None:
    table.do({"roll": [1, 2]})
    seen = table.state()["roll_number"]
    for correcting in (True, False, True):
        answer = table.client.post("/api/take_back", json={"id": table.fresh_id(), "correcting": correcting})
        assert answer.status_code == 200
        assert table.state()["correcting"] is correcting
    keyed(table, 1, 1)
    state = table.wait_for_state(lambda state: state["last_roll"]["dice"] == [1, 1], "the keys correct the roll")
    assert (state["roll_number"], state["correcting"]) == (seen, False)
    bad = table.client.post("/api/take_back", json={"id": table.fresh_id(), "correcting": 1})
    assert (bad.status_code, bad.json()["field"]) == (400, "correcting")


def test_a_node_and_a_server_that_die_are_started_again(tmp_path: Path) -> None:
    with patient_table(tmp_path) as table:
        table.wait_for_state(lambda state: state["node"]["state"] == "online", "the node is there")
        before = len(lines_in(table.data))
        for pid in descendants(table.pid):
            # What dies with its parent may be gone already.
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        wait_for(
            lambda: "node_lost" in [json.loads(line)["type"] for line in lines_in(table.data)[before:]],
            "the node is missed",
        )
        table.wait_for_state(lambda state: state["node"]["state"] == "online", "the node is back")
        keyed(table, 2, 5)
        table.wait_for_state(lambda state: state["roll_number"] == 1, "its keys enter a roll")
        table.wait_for_state(
            lambda state: state["uplink"]["state"] == "online" and not state["uplink"]["undelivered"], "delivered"
        )


def test_it_ends_quietly_and_at_once_with_pages_open(tmp_path: Path) -> None:
    with TerminalProcess(tmp_path / "data") as table, table.client.stream("GET", "/api/stream") as stream:
        next(stream.iter_lines())
        assert table.terminate() == 0
        assert "Traceback" not in table.output
        assert "Exception" not in table.output


def test_a_command_sent_again_is_not_done_again(table: TerminalProcess) -> None:
    command = table.fresh_id()
    before = table.state()["roll_number"]
    first = table.post({"roll": [1, 2]}, command).json()
    again = table.post({"roll": [1, 2]}, command).json()
    assert again == first | {"repeated": True}
    assert table.state()["roll_number"] == before + 1
    other = table.post({"roll": [1, 1]}, command)
    assert (other.status_code, other.json()["field"]) == (400, "id")


def test_of_two_actions_in_flight_under_one_id_one_is_refused(table: TerminalProcess) -> None:
    for _ in range(20):
        command = table.fresh_id()
        steps = [{"bet": {"player": player, "kind": "place", "amount": 6, "number": 8}} for player in ("3", "4")]
        with ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(lambda step, command=command: table.post(step, command), steps))
        assert sorted(answer.status_code for answer in answers) == [200, 400]
    for player in ("3", "4"):
        table.post({"take_down": {"player": player, "kind": "place", "number": 8}})


def test_an_id_that_opened_the_table_does_not_open_it_under_other_terms(table: TerminalProcess) -> None:
    command = table.fresh_id()
    assert table.open_table("us-vegas", id=command).json()["repeated"] is False
    assert table.open_table("us-vegas", id=command).json()["repeated"] is True
    other = table.open_table("mo-2010", id=command)
    assert (other.status_code, other.json()["field"]) == (400, "id")
    assert table.state()["table"]["rules"] == "us-vegas"


def test_a_die_given_up_before_a_crash_does_not_come_back_after_it(tmp_path: Path) -> None:
    node = tmp_path / "node"
    with (
        ended_with(subprocess.Popen(node_command(node, with_parent=True))),
        patient_table(tmp_path, f'[hardware]\nnode = "{node / "node"}"\n') as table,
    ):
        table.wait_for_state(lambda state: state["node"]["state"] == "online", "the node is there")
        keyed(table, 3, node=node)
        pressed_s = time.monotonic()
        table.wait_for_state(lambda state: state["pending_die"] == 3, "the first die is shown")
        table.do({"roll": [2, 6]})
        table.kill()
        table.start()
        table.wait_for_state(lambda state: state["node"]["state"] == "online", "the node is back")
        # Sooner it would be the second die of the same throw.
        time.sleep(max(0.0, pressed_s + SAME_THROW_S + 1 - time.monotonic()))
        keyed(table, 5, node=node)
        table.wait_for_state(lambda state: state["pending_die"] == 5, "the first die of the next roll is shown")
        keyed(table, 6, node=node)
        state = table.wait_for_state(lambda state: state["roll_number"] == 2, "the keys enter a roll")
        assert state["last_roll"]["dice"] == [5, 6]


@contextmanager
def ended_with(process: "subprocess.Popen[bytes]") -> Iterator[None]:
    """A process that goes however the test ends."""
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def test_the_console_s_socket_is_one_that_does_not_hold_answers_back() -> None:
    """asyncio turns Nagle's delay (some 40 ms an answer) off only for a socket that was named as TCP."""
    with listen("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP


def test_a_refused_step_is_answered_with_its_code(table: TerminalProcess) -> None:
    before = played(table)
    answer = table.post({"bet": {"player": "3", "kind": "come", "amount": 10}})
    assert (answer.status_code, answer.json()["refused"]) == (409, "not_now")
    assert played(table) == before


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"step": {"roll": [1, 2]}}, "id"),
        ({"id": "short", "step": {"roll": [1, 2]}}, "id"),
        ({"id": "long-enough"}, "step"),
        ({"id": "long-enough", "step": {"roll": [1, 2]}, "more": 1}, "more"),
        ({"id": "long-enough", "step": []}, "step"),
        ({"id": "long-enough", "step": {"roll": [0, 7]}}, "step.roll"),
        ({"id": "long-enough", "step": {"roll": [1, 2.0]}}, "step.roll"),
        ({"id": "long-enough", "step": {"roll": [True, 2]}}, "step.roll"),
        ({"id": "long-enough", "step": {"roll": [1, 2], "no_roll": "slid"}}, "step"),
        ({"id": "long-enough", "step": {"no_roll": "bored"}}, "step.no_roll"),
        ({"id": "long-enough", "step": {"bet": {"player": "3", "kind": "place", "number": 6}}}, "step.bet.amount"),
        ({"id": "long-enough", "step": {"bet": BET["bet"] | {"amount": 1.5}}}, "step.bet.amount"),
        ({"id": "long-enough", "step": {"bet": BET["bet"] | {"amount": -5}}}, "step.bet.amount"),
        ({"id": "long-enough", "step": {"bet": BET["bet"] | {"player": ""}}}, "step.bet.player"),
        ({"id": "long-enough", "step": {"bet": BET["bet"] | {"player": "\ud800"}}}, "step.bet.player"),
        ({"id": "long-enough", "step": {"bet": BET["bet"] | {"extra": 1}}}, "step.bet.extra"),
        ({"id": "long-enough", "step": {"dance": 1}}, "step"),
    ],
)
def test_a_malformed_command_names_the_field_and_changes_nothing(
    table: TerminalProcess, body: dict[str, Any], field: str
) -> None:
    before = played(table)
    answer = table.client.post("/api/command", content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["field"]) == (400, field)
    assert played(table) == before


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"rules": "us-reno"}, "rules"),
        ({"options": {"bar": 2}}, "options"),
        ({"options": {"vig": "never"}}, "options"),
        ({"unit": 0}, "unit"),
        ({"limits": {"min": 5}}, "limits.max"),
        ({"limits": {"min": 50, "max": 5}}, "limits"),
        ({"limits": [1, 5]}, "limits"),
        ({"unit": 25, "limits": {"min": 5, "max": 500}}, "limits"),
        ({"rules": "es-1979", "limits": {"min": 5, "max": 5001}}, "limits"),
    ],
)
def test_terms_that_are_not_sound_do_not_open_the_table(
    table: TerminalProcess, more: dict[str, Any], field: str
) -> None:
    before = played(table)
    answer = table.open_table("us-vegas", **more)
    assert (answer.status_code, answer.json()["field"]) == (400, field)
    assert played(table) == before


@pytest.mark.parametrize(
    ("content", "headers", "field"),
    [
        (b"{", {"Content-Type": "application/json"}, "body"),
        (b"[1]", {"Content-Type": "application/json"}, "body"),
        (b'{"id": NaN}', {"Content-Type": "application/json"}, "body"),
        (b"\xff", {"Content-Type": "application/json"}, "body"),
        (b"[" * 60_000, {"Content-Type": "application/json"}, "body"),
        (b" " * 70_000, {"Content-Type": "application/json"}, "body"),
        (b"{}", {"Content-Type": "text/plain"}, "Content-Type"),
        (b"{}", {"Content-Type": "application/json", "Origin": "http://elsewhere.example"}, "Origin"),
    ],
)
def test_a_body_that_is_no_json_object_of_this_page_is_refused(
    table: TerminalProcess, content: bytes, headers: dict[str, str], field: str
) -> None:
    for path in ("/api/command", "/api/open", "/api/virtual"):
        answer = table.client.post(path, content=content, headers=headers)
        assert (answer.status_code, answer.json()["field"]) == (400, field)


@pytest.mark.parametrize(
    ("movement", "field"),
    [
        ({}, "body"),
        ({"lid": "ajar"}, "lid"),
        ({"press": "red"}, "press"),
        ({"press": ["on"]}, "press"),
        ({"dice_key": 7}, "dice_key"),
        ({"dice_key": 1, "hold_ms": 0}, "hold_ms"),
        ({"dice_key": 1, "hold_ms": 10**9}, "hold_ms"),
        ({"puck": {"position": 7, "face": "on"}}, "position"),
        ({"puck": {"position": 6}}, "puck"),
        ({"lid": "open", "press": "on"}, "body"),
    ],
)
def test_a_movement_that_no_hand_can_make_is_refused(
    table: TerminalProcess, movement: dict[str, Any], field: str
) -> None:
    answer = table.client.post("/api/virtual", json=movement)
    assert (answer.status_code, answer.json()["field"]) == (400, field)


def test_another_host_name_gets_nothing(table: TerminalProcess) -> None:
    assert table.client.get("/api/state", headers={"Host": "elsewhere.example"}).status_code == 400


def test_it_listens_on_loopback_only(table: TerminalProcess) -> None:
    sockets = Path(f"/proc/{table.pid}/net/tcp").read_text().splitlines()[1:]
    port = f"{table.port:04X}"
    listening = [line.split()[1] for line in sockets if line.split()[3] == "0A" and line.split()[1].endswith(port)]
    assert listening == [f"0100007F:{port}"]


def test_what_was_told_is_there_after_a_crash(tmp_path: Path) -> None:
    with TerminalProcess(tmp_path / "data") as table:
        table.do(BET)
        table.do({"bet": {"player": "4", "kind": "dont_pass", "amount": 20}})
        table.do({"roll": [4, 5]})
        table.do({"bet": {"player": "3", "kind": "pass_odds", "amount": 20}})
        told = table.state()
        table.kill()
        table.start()
        again = table.wait_for_state(lambda state: state["puck"]["state"] == "in_place", "the inputs are read")
        for part in ("table", "bets", "point", "last_roll", "recent_rolls", "house", "roll_number"):
            assert again[part] == told[part]
        assert table.terminate() == 0
    types = journal_types(tmp_path / "data")
    assert types.count("started") == 2
    assert types[-2:] == ["stopped", "checkpoint"]


def test_a_rule_set_changed_in_the_configuration_waits_until_the_layout_is_empty(tmp_path: Path) -> None:
    configuration = tmp_path / "table.toml"
    configuration.write_text('[table]\nrules = "us-vegas"\n')
    with TerminalProcess(tmp_path / "data", configuration=configuration) as table:
        table.do(BET)
        table.terminate()
        configuration.write_text('[table]\nrules = "es-1979"\n')
        refused = boxman("run", "--config", configuration, "--data", table.data, "--port", str(table.port))
        assert refused.returncode == 1
        assert refused.stderr.count("\n") == 1
        assert "bets lie on the layout under us-vegas" in refused.stderr
        configuration.write_text('[table]\nrules = "us-vegas"\n')
        table.start()
        table.do({"roll": [3, 4]})
        table.terminate()
        configuration.write_text('[table]\nrules = "es-1979"\n')
        table.start()
        assert table.state()["table"]["rules"] == "es-1979"


def test_a_rule_file_of_the_house_is_played_and_kept_in_the_journal(tmp_path: Path) -> None:
    house = rule_sets.load("us-vegas") | {"name": "house-rules"}
    house["bets"]["low_doubles"] = {
        "stage": "one_roll",
        "name": "Low Doubles",
        "win": {"1-1": [10, 1], "2-2": [8, 1]},
        "lose": "rest",
        "source": "house",
    }
    house["order"].append("low_doubles")
    (tmp_path / "house.json").write_text(json.dumps(house))
    configuration = tmp_path / "table.toml"
    configuration.write_text('[table]\nrules = "house.json"\n')
    with TerminalProcess(tmp_path / "data", configuration=configuration) as table:
        offered = table.client.get("/api/rules").json()
        assert offered["current"] == "house-rules"
        assert "Low Doubles" in [bet["name"] for known in offered["sets"] for bet in known["bets"]]
        table.do({"bet": {"player": "3", "kind": "low_doubles", "amount": 10}})
        assert table.do({"roll": [2, 2]})["results"][0]["paid"] == 80
        # The file may go: the journal has the rules that the session was played under.
        table.kill()
        table.start()
        assert table.state()["last_roll"]["results"][0]["paid"] == 80


def test_what_opens_the_table_anew_stays_in_force_after_a_restart(tmp_path: Path) -> None:
    with TerminalProcess(tmp_path / "data") as table:
        assert table.open_table("pe-1999", options={"bar": 2}).status_code == 200
        table.terminate()
        table.start()
        assert table.state()["table"]["rules"] == "pe-1999"
        assert table.state()["table"]["options"]["bar"] == 2


def test_everything_reaches_the_central_server_of_a_virtual_table(tmp_path: Path) -> None:
    with TerminalProcess(tmp_path / "data") as table:
        table.do(BET)
        table.do({"roll": [5, 6]})
        state = table.wait_for_state(
            lambda state: state["uplink"]["state"] == "online" and state["uplink"]["undelivered"] == 0, "delivered"
        )
        assert state["seq"] >= 4


def test_a_second_terminal_on_the_same_data_is_refused_and_the_first_goes_on(tmp_path: Path) -> None:
    with TerminalProcess(tmp_path / "data") as table:
        second = boxman("run", "--data", table.data, "--port", str(free_port()))
        assert second.returncode == 1
        assert f"in use by process {table.pid} (boxman)" in second.stderr
        assert second.stderr.count("\n") == 1
        table.do(BET)


def one_clear_line(*arguments: str | Path) -> str:
    """The one line of a command that must fail."""
    ended = boxman(*arguments)
    assert ended.returncode == 1, ended
    assert ended.stdout == ""
    assert ended.stderr.count("\n") == 1, ended.stderr
    assert "Traceback" not in ended.stderr
    return ended.stderr


def test_a_port_in_use_is_one_clear_line(tmp_path: Path, table: TerminalProcess) -> None:
    line = one_clear_line("run", "--data", tmp_path / "data", "--port", str(table.port))
    assert f"port {table.port}" in line
    assert "--port" in line


def test_a_data_folder_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert str(tmp_path / "file") in one_clear_line("run", "--data", tmp_path / "file", "--port", str(free_port()))
    assert "/proc/boxman" in one_clear_line("run", "--data", "/proc/boxman", "--port", str(free_port()))


def remove_journal(data: Path) -> None:
    (data / "journal.db").unlink()


def move_data_folder(data: Path) -> None:
    data.rename(data.with_name("elsewhere"))


def empty_journal_log(data: Path) -> None:
    os.truncate(data / "journal.db-wal", 0)


@pytest.mark.parametrize("harm", [remove_journal, move_data_folder, empty_journal_log])
def test_a_journal_that_vanishes_halts_the_table(tmp_path: Path, harm: Callable[[Path], None]) -> None:
    with TerminalProcess(tmp_path / "data") as table:
        table.do(BET)
        before = table.state()["bets"]
        harm(table.data)
        answer = table.post({"roll": [5, 6]})
        assert answer.status_code == 503
        assert "while in use" in answer.json()["halted"]
        state = table.state()
        assert "while in use" in state["halted"]
        assert (state["bets"], state["last_roll"]) == (before, None)


def test_what_is_wrong_around_the_journal_does_not_keep_a_table_from_its_players(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "central").write_text("")
    (data / "delivery.db").mkdir()
    (data / "virtual").mkdir()
    (data / "virtual" / "table.json").write_text("")
    (data / "virtual" / "keys").mkdir()
    with TerminalProcess(data) as table:
        table.do(BET)
        table.wait_for_state(lambda state: state["puck"]["state"] == "in_place", "the puck is at OFF")
        assert table.terminate() == 0
        assert "Traceback" not in table.output
        assert "no central server, the table works on without: " in table.output


def test_a_file_in_the_place_of_the_virtual_tables_folder_is_one_clear_line(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "virtual").write_text("")
    assert str(data / "virtual") in one_clear_line("run", "--data", data, "--port", str(free_port()))


@pytest.mark.parametrize("output", [">/dev/full", ">&- <&-", ">/dev/null"])
def test_a_table_plays_though_nobody_can_be_told_where_it_is(tmp_path: Path, output: str) -> None:
    port = free_port()
    command = f'PYTHONIOENCODING=ascii exec "$0" run --data "$1" --port {port} {output}'
    terminal = subprocess.Popen(["bash", "-c", command, BOXMAN, tmp_path / "datä"], stderr=subprocess.PIPE, text=True)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:

            def answers() -> bool:
                assert terminal.poll() is None
                try:
                    return client.get("/api/state").status_code == 200
                except httpx.TransportError:
                    return False

            wait_for(answers, "the console answers", START_S)
            assert client.post("/api/command", json={"id": "long-enough", "step": BET}).status_code == 200
        terminal.terminate()
        assert terminal.wait(WAIT_S) == 0
    finally:
        terminal.kill()
        told = terminal.communicate()[1]
    assert "Traceback" not in told
    assert ("standard output cannot be written" in told) == ("full" in output)


@pytest.mark.parametrize("damage", ["not a database", "edited event", "removed event", "results edited and resealed"])
def test_a_damaged_journal_is_one_clear_line_that_names_it(tmp_path: Path, damage: str) -> None:
    with TerminalProcess(tmp_path / "data") as table:
        table.do(BET)
        table.do({"roll": [5, 6]})
        table.terminate()
        # With it, a start looks at what follows it only.
        (table.data / "snapshot").unlink()
        path = table.data / "journal.db"
        if damage == "not a database":
            path.write_bytes(b"rubbish" * 1000)
        else:
            damage_events(path, damage)
        line = one_clear_line("run", "--data", table.data, "--port", str(table.port))
        assert str(path) in line
        if damage != "results edited and resealed":
            assert boxman("journal", "verify", "--data", table.data).returncode == 1


def test_what_a_start_from_a_snapshot_did_not_look_at_is_verified_while_the_table_plays(tmp_path: Path) -> None:
    with TerminalProcess(tmp_path / "data") as table:
        table.do(BET)
        table.do({"roll": [5, 6]})
        table.terminate()
        assert (table.data / "snapshot").exists()
        damage_events(table.data / "journal.db", "edited event")
        table.start()
        state = table.wait_for_state(codes, "the alert of the verification")
        [text] = [alert["text"] for alert in state["alerts"] if alert["code"] == "journal_damaged"]
        assert text.startswith("The journal is not as this table wrote it: event ")
        assert table.post({"no_roll": "off_table"}).status_code == 200


def test_a_snapshot_that_the_journal_does_not_lead_to_is_told_and_not_believed_again(tmp_path: Path) -> None:
    with TerminalProcess(tmp_path / "data") as table:
        table.do(BET)
        table.terminate()
        # Whoever has the table's key, or a fault of the program, can make one that is whole.
        path, key = table.data / "snapshot", read_table_key(table.data / "table.key")
        assert key is not None
        kept = json.loads(path.read_bytes().partition(b"\n")[0])
        kept["state"]["session"]["session_number"] += 1
        file = SnapshotFile(path, kept["program"], kept["table"], key)
        file.write(Snapshot(kept["seq"], kept["hash"], kept["state"]))
        table.start()
        # Two programs beside the table, that give way to all others.
        wait_for(lambda: codes(table.state()), "the alert of the replay", 300)
        state = table.state()
        assert codes(state) == ["snapshot_wrong"]
        [text] = [alert["text"] for alert in state["alerts"] if alert["code"] == "snapshot_wrong"]
        assert text.startswith("What this table shows does not follow from its journal: the snapshot of event ")
        assert "that it went on from is another, in session_number. Finish" in text
        wait_for(lambda: not path.exists(), "the snapshot is thrown away", 60)
        table.terminate()
        assert not path.exists()

        def self_tests() -> list[dict[str, Any]]:
            return [event for line in lines_in(table.data) if (event := json.loads(line))["type"] == "self_test"]

        # A start that is ended at once may not have come to it.
        before = len(self_tests())
        table.start(60)
        wait_for(lambda: len(self_tests()) > before, "the self-test of the third start", 60)
        assert self_tests()[-1]["data"]["checks"][0]["said"].endswith("each of them checked"), (
            "it has replayed them all"
        )


def damage_events(path: Path, damage: str) -> None:
    """Change the event of the roll behind the journal's back."""
    database = sqlite3.connect(path)
    triggers = database.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        database.execute(f"DROP TRIGGER {name}")
    rows = database.execute("SELECT seq, event FROM events ORDER BY seq").fetchall()
    rolled = next(seq for seq, line in rows if json.loads(line)["type"] == "roll")
    if damage == "removed event":
        database.execute("DELETE FROM events WHERE seq = ?", (rolled,))
    elif damage == "edited event":
        database.execute("UPDATE events SET event = replace(event, '\"paid\":10', '\"paid\":99')")
    else:
        reseal(database, rows)
    for _, sql in triggers:
        database.execute(sql)
    database.commit()
    database.close()


def reseal(database: sqlite3.Connection, rows: list[tuple[int, str]]) -> None:
    """Pay 99 for 10 and make the chain whole again, as somebody would who knows how it is made."""
    from device.event import Stamp, seal

    previous = "0" * 64
    for seq, line in rows:
        event = json.loads(line)
        for result in event["data"].get("results", []):
            result["paid"] = 99
        stamp = Stamp(event["boot"], event["mono_ns"], event["wall"], event["clock"])
        sealed = seal(event["table"], seq, stamp, event["type"], event["data"], previous)
        previous = sealed.hash
        database.execute("UPDATE events SET event = ? WHERE seq = ?", (sealed.line(), seq))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[table]\nrule = 'us-vegas'\n", "table.rule"),
        ("[tables]\n", "[tables]"),
        ("[table]\nrules = 'us-reno'\n", "table.rules"),
        ("[table]\nrules = 'no-such-file.json'\n", "no-such-file.json"),
        ("[table]\nrules = 'table.toml.json'\n", "table.toml.json"),
        ("[table]\nrules = 'es-1979'\nmin = 5\nmax = 499\n", "from 500 to 5000 where the minimum is 5 (es-1979, IV.2)"),
        ("[table]\nunit = 1.5\n", "table.unit"),
        ("[table]\nmin = 50\nmax = 5\n", "table"),
        ("[table.options]\nbar = 2\n", "bar"),
        ("[console]\nport = 70000\n", "console.port"),
        ("[uplink]\nservers = 'nats://10.0.0.1'\n", "uplink.servers"),
        ("[uplink]\nservers = ['http://10.0.0.1']\n", "uplink.servers"),
        ("[hardware]\npins = 'wiringpi'\n", "hardware.pins"),
        ("[table\n", "table.toml:1:"),
    ],
)
def test_a_configuration_that_is_not_sound_is_one_clear_line(tmp_path: Path, text: str, named: str) -> None:
    configuration = tmp_path / "table.toml"
    configuration.write_text(text)
    line = one_clear_line("run", "--config", configuration, "--data", tmp_path / "data", "--port", str(free_port()))
    assert named in line


def test_pins_that_this_machine_does_not_have_are_named_and_not_swapped(tmp_path: Path) -> None:
    configuration = tmp_path / "table.toml"
    configuration.write_text('[hardware]\npins = "rpigpio"\n[wiring]\nlid = "gpio:2"\n')
    line = one_clear_line("run", "--config", configuration, "--data", tmp_path / "data", "--port", str(free_port()))
    assert "rpigpio" in line


def test_nothing_is_left_running_after_the_terminal_was_killed(tmp_path: Path) -> None:
    with TerminalProcess(tmp_path / "data") as table:
        table.wait_for_state(lambda state: state["node"]["state"] == "online", "the node is there")
        family = descendants(table.pid)
        assert family
        table.kill()
        wait_for(lambda: not any(running(pid) for pid in family), "the node and the server have ended")


def running(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits for its parent does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def descendants(pid: int) -> list[int]:
    """A process's children and theirs."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            if parent == pid:
                found += [int(entry.name), *descendants(int(entry.name))]
    return found
