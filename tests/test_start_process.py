"""Starts of the real program: the self-test, the cabinet's door, a crash, rules that would pay wrong."""

import copy
import json
from pathlib import Path
from typing import Any

from engine_lite import rule_sets
from tests.journal_rig import events_in
from tests.terminal_rig import TerminalProcess, boxman, wait_for

CONFIGURATION = """
[table]
rules = "house.json"

[hardware]
pins = "mock"
node = "/nowhere/node"

[uplink]
servers = ["nats://127.0.0.1:9"]

[wiring]
lid = "gpio:2"
door = "gpio:3"
"""


def told(data: Path, kind: str) -> list[dict[str, Any]]:
    return [event.data for event in events_in(data / "journal.db") if event.type == kind]


def alerts(state: dict[str, Any]) -> list[str]:
    return [alert["id"] for alert in state["alerts"]]


def test_a_table_tests_itself_and_tells_of_its_door_over_a_crash(tmp_path: Path) -> None:
    with TerminalProcess(tmp_path / "data") as table:

        def tested() -> Any:
            return table.client.get("/api/hardware").json()["self_test"]

        test = wait_for(tested, "the self-test")
        results = {check["check"]: check["result"] for check in test["checks"]}
        assert test["passed"] is True
        assert list(results) == ["journal", "rules", "key", "program", "disk", "clock", "hardware"]
        # Of this machine, a test knows neither its clock's quality nor its disk.
        assert {name: results[name] for name in ("journal", "rules", "key", "program")} == dict.fromkeys(
            ("journal", "rules", "key", "program"), "passed"
        )
        # On a busy machine the node, or what it reads, comes later than it is waited for.
        [hardware] = [check for check in test["checks"] if check["check"] == "hardware"]
        late = ("the I/O node does not answer", "not heard of yet: ")
        assert hardware["result"] == "passed" or hardware["said"].startswith(late)
        wait_for(lambda: told(table.data, "door_closed"), "the door is told")
        assert "door_open" not in alerts(table.state())
        table.hand(door="open")
        table.wait_for_state(lambda state: "door_open" in alerts(state), "the alert of the door")
        table.kill()
        table.start()
        assert "door_open" in alerts(table.state())
        wait_for(lambda: len(told(table.data, "door_opened")) == 2, "the open door is told again")
        table.wait_for_state(lambda state: "door_open" in alerts(state), "the alert of the door still")
        table.hand(door="closed")
        table.wait_for_state(lambda state: "door_open" not in alerts(state), "the door is shut")
        wait_for(tested, "the self-test of the second start")
        assert table.terminate() == 0
    assert [data["initial"] for data in told(tmp_path / "data", "door_opened")] == [False, True]
    assert [data["initial"] for data in told(tmp_path / "data", "door_closed")] == [True, False]
    assert len(told(tmp_path / "data", "power_up")) == 1
    (crash,) = told(tmp_path / "data", "crash_found")
    assert events_in(tmp_path / "data" / "journal.db")[crash["last_seq"]].type == "started"
    shown = boxman("journal", "show", "--data", tmp_path / "data", "--last", "1000").stdout.splitlines()
    heads = [line for line in shown if "self_test" in line]
    assert len(heads) == 2
    assert heads[0].endswith("self_test  passed true")
    checks = shown[shown.index(heads[0]) + 1 :][:7]
    assert [line.split()[0] for line in checks] == list(results)
    assert checks[1].split(maxsplit=2) == [
        "rules",
        "passed",
        "us-vegas, version 1: the house edge of each of 89 bets is as stated",
    ]
    assert len(boxman("journal", "show", "--data", tmp_path / "data", "--last", "1").stdout.splitlines()) == 1


def test_rules_that_would_pay_wrong_stop_the_table_until_they_are_put_right(tmp_path: Path) -> None:
    right = rule_sets.load("us-vegas")
    wrong = copy.deepcopy(right)
    wrong["bets"]["any_seven"]["win"] = {"7": [5, 1]}
    rules, configuration = tmp_path / "house.json", tmp_path / "table.toml"
    rules.write_text(json.dumps(wrong))
    configuration.write_text(CONFIGURATION)
    roll = {"roll": [3, 4]}
    with TerminalProcess(tmp_path / "data", configuration=configuration) as table:
        halted = table.state()["halted"]
        assert halted == (
            "Nobody may play: these rules would pay wrong (the house edge of any_seven is 0/1, but 1/6 is stated for "
            "us-vegas, version 1). Call a technician."
        )
        assert table.post(roll).status_code == 503
        assert table.client.get("/api/hardware").json()["self_test"]["passed"] is False
        assert table.terminate() == 0
        rules.write_text(json.dumps(right))
        table.start()
        assert table.state()["halted"] is None
        assert table.post({"shooter": "3"}).status_code == 200
        # Nothing answers at the node's port and at the centre, which the journal says and the table bears.
        wait_for(lambda: len(told(table.data, "self_test")) == 2, "the second self-test")
        wait_for(lambda: told(table.data, "link_lost"), "the link is told as lost")
    first, second = told(tmp_path / "data", "self_test")
    assert first["passed"] is False
    assert second["passed"] is True
    (hardware,) = [check for check in second["checks"] if check["check"] == "hardware"]
    assert (hardware["result"], hardware["said"]) == ("warning", "the I/O node does not answer")
    assert told(tmp_path / "data", "link_lost")[0]["never_connected"] is True
    assert [data["rule_set"] for data in told(tmp_path / "data", "table_opened")] == [wrong, right]
