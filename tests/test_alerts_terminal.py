"""Alerts of a running terminal: raised on real pins and a real line, acknowledged by name, kept through a crash."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.terminal_rig import TerminalProcess, lines_in, wait_for

GRACE = "[alerts]\npuck_ms = 300\nroll_ms = 300\nbutton_ms = 300\n"


@pytest.fixture
def table(tmp_path: Path) -> Iterator[TerminalProcess]:
    """A table whose alerts come quickly."""
    configuration = tmp_path / "table.toml"
    configuration.write_text(GRACE)
    with TerminalProcess(tmp_path / "data", configuration=configuration) as process:
        process.wait_for_state(
            lambda state: state["puck"]["agrees"] and state["node"]["state"] == "online", "puck and node are seen"
        )
        yield process


def alert(table: TerminalProcess, name: str) -> dict[str, Any]:
    """The alert `name`, as soon as it is told."""
    state = table.wait_for_state(
        lambda state: any(alert["id"] == name for alert in state["alerts"]), f"the alert {name}"
    )
    found: dict[str, Any] = next(alert for alert in state["alerts"] if alert["id"] == name)
    return found


def acknowledge(table: TerminalProcess, name: str, raised: int, by: str, command: str | None = None) -> httpx.Response:
    body = {"id": command or table.fresh_id(), "alert": name, "raised": raised, "name": by}
    return table.client.post("/api/acknowledge", json=body)


def journaled(table: TerminalProcess, *kinds: str) -> list[dict[str, Any]]:
    return [event for line in lines_in(table.data) if (event := json.loads(line))["type"] in kinds]


def test_an_alert_is_acknowledged_once_by_name_and_outlives_a_crash(table: TerminalProcess) -> None:
    table.do({"roll": [2, 4]})
    raised = alert(table, "puck_misplaced")
    assert raised["text"] == "The puck is on OFF, but the point is 6. Put it on 6, ON face up."
    assert (raised["can_acknowledge"], raised["acknowledged_by"]) == (True, None)
    stale = acknowledge(table, "puck_misplaced", raised["raised"] - 1, "Ana")
    assert (stale.status_code, stale.json()["refused"]) == (409, "stale")
    command = table.fresh_id()
    for repeated in (False, True):
        answer = acknowledge(table, "puck_misplaced", raised["raised"], "Ana María", command)
        assert (answer.status_code, answer.json()["repeated"]) == (200, repeated)
    second = acknowledge(table, "puck_misplaced", raised["raised"], "Luis")
    assert second.json()["message"] == "Ana María has acknowledged this alert already"
    table.kill()
    table.start()
    kept = alert(table, "puck_misplaced")
    assert (kept["acknowledged_by"], kept["since"]) == ("Ana María", raised["since"])
    table.hand(puck={"position": 6, "face": "on"})
    table.wait_for_state(
        lambda state: "puck_misplaced" not in [alert["id"] for alert in state["alerts"]], "the alert is cleared"
    )
    events = journaled(table, "alert_raised", "alert_acknowledged", "alert_cleared")
    # A node that is silent for a while, as on a busy machine, is another alert.
    [told, noted, cleared] = [event for event in events if event["data"]["alert"] == "puck_misplaced"]
    assert [event["type"] for event in (told, noted, cleared)] == [
        "alert_raised",
        "alert_acknowledged",
        "alert_cleared",
    ]
    assert told["data"]["detail"] == {
        "expected": {"position": 6, "face": "on"},
        "seen": [{"puck": 1, "state": "in_place", "position": "off"}],
    }
    assert (noted["data"]["name"], noted["data"]["raised"]) == ("Ana María", told["seq"])


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": " Ana"}, "name"),
        ({"name": "A" * 41}, "name"),
        ({"name": "Ana\n"}, "name"),
        ({"name": 7}, "name"),
        ({"raised": True}, "raised"),
        ({"raised": 0}, "raised"),
        ({"alert": None}, "alert"),
        ({"by": "Ana"}, "by"),
    ],
)
def test_a_malformed_acknowledgement_names_its_field(
    table: TerminalProcess, change: dict[str, Any], field: str
) -> None:
    body = {"id": table.fresh_id(), "alert": "puck_misplaced", "raised": 1, "name": "Ana"} | change
    answer = table.client.post("/api/acknowledge", json=body)
    assert (answer.status_code, answer.json()["field"]) == (400, field)


def test_faults_of_pins_and_line_are_alerts_until_they_are_mended(table: TerminalProcess) -> None:
    table.hand(fault={"kind": "dead", "name": "box_6", "seed": 1})
    assert alert(table, "input_unavailable")["text"] == (
        "Cannot be used: the button of box 6. Call a technician; all else works."
    )
    hardware = table.client.get("/api/hardware").json()
    [box] = [line for line in hardware["inputs"] if line["name"] == "box_6"]
    assert (box["pin"], box["active"]) == ("gpio:16", None)
    assert box["unavailable"].startswith("GPIO16 (box_6) is unavailable")
    table.hand(mend="dead")
    began = time.monotonic()
    table.hand(fault={"kind": "unplug", "away_ms": 1000, "seed": 1})
    # It may be over before anybody has seen it on the screen.
    wait_for(
        lambda: "node_offline" in [event["data"]["alert"] for event in journaled(table, "alert_raised")],
        "the alert node_offline",
    )
    state = table.wait_for_state(lambda state: not state["alerts"], "pin and node are back")
    assert state["node"]["state"] == "online"
    # It may have been silent once more by itself, on a busy machine.
    founds = [event["data"] for event in journaled(table, "node_found")][1:]
    # It was heard a moment before, three seconds at most.
    assert 1000 <= max(found["gap_ms"] for found in founds) < (time.monotonic() - began + 3) * 1000
    assert {(found["restarted"], found["dropped"]) for found in founds} == {(False, 0)}


def test_a_lost_edge_is_put_right_and_journaled_as_such(table: TerminalProcess) -> None:
    table.hand(fault={"kind": "lost_edge", "name": "lid", "chance": 100, "seed": 1})
    table.hand(lid="open")
    table.wait_for_state(lambda state: state["reserve"]["open"], "the lid is seen without its edge")
    [lost] = wait_for(lambda: journaled(table, "edge_lost"), "the lost edge is told")
    [opened] = journaled(table, "reserve_opened")
    assert (opened["data"]["via"], lost["data"]) == ("header:reserve", {"name": "lid"})

    assert (
        next(line["lost_edges"] for line in table.client.get("/api/hardware").json()["inputs"] if line["name"] == "lid")
        == 1
    )


def test_lamps_say_what_they_mean(table: TerminalProcess) -> None:
    table.do({"roll": [2, 4]})
    table.wait_for_state(
        lambda _: (
            [name for name, lit in table.client.get("/api/virtual").json()["lamps"].items() if lit]
            == ["dice_key_2", "dice_key_4"]
        ),
        "the keys of the last roll are lit",
    )
    lamps = {lamp["name"]: lamp for lamp in table.client.get("/api/hardware").json()["lamps"]}
    assert len(lamps) == 16
    assert lamps["dice_key_2"]["meaning"] == "A die of 2 waits for the second one, or was in the last roll."
    assert (lamps["dice_key_2"]["lit"], lamps["dice_key_3"]["lit"]) == (True, False)
