"""A terminal that is killed between the reserve's opening, the swap and the closing: nothing lost, nothing twice."""

import json
import random
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from device.dice_control.dice_log import DiceLog
from tests.dice_day_rig import BOXMAN, NEVER_MS, SUPERVISOR, WITNESS, DiceTable, dice_table

SEED = 146
CRASHES = 6
DICE = ["A1", "A2", "A3", "A4", "A5"]


@pytest.fixture
def table(tmp_path: Path) -> Iterator[DiceTable]:
    """A table in Peru with A1 and A2 in play, A3 to A5 in the reserve."""
    with dice_table(tmp_path, "pe-1999", open_max_ms=NEVER_MS, slots_ms=NEVER_MS) as table:
        table.dice("on_duty", boxman=BOXMAN, witness=WITNESS)
        table.receive("A", 5)
        table.inspect(set="A")
        with table.reserve(dice_after=3):
            table.dice("place", set="A")
            table.dice("change", taken=["A1", "A2"])
        yield table


def restart(table: DiceTable) -> None:
    """Killed and started again; lid and slots have been seen."""
    table.terminal.kill()
    start(table)


def start(table: DiceTable) -> None:
    """Start after a crash; lid and slots have been seen."""
    table.terminal.start()
    started = table.journal("started")[-1]["seq"]

    def seen() -> bool:
        kinds = [event["type"] for event in table.journal() if event["seq"] > started]
        return "slots" in kinds and bool({"reserve_opened", "reserve_closed"} & set(kinds))

    table.terminal.wait_for_state(lambda _: seen(), "lid and slots are seen again")


def killed_here(table: DiceTable) -> dict[str, Any]:
    """The dice log after a crash at this point, which must be what it was before."""
    before = table.dice_state
    restart(table)
    after = table.dice_state
    assert after == before
    assert dice_of(after) == DICE
    return after


def dice_of(state: dict[str, Any]) -> list[str]:
    return [die["die"] for dice_set in state["sets"] for die in dice_set["dice"]]


def at(state: dict[str, Any], place: str) -> list[str]:
    return [die["die"] for dice_set in state["sets"] for die in dice_set["dice"] if die["place"] == place]


def openings(state: dict[str, Any]) -> list[tuple[int, bool, str | None, bool]]:
    """Of each opening that is not over: seq, whether the lid was shut again, reason, whether the alert was raised."""
    return [
        (opening["seq"], opening["closed"] is not None, opening["reason"], opening["late"])
        for opening in state["openings"]
    ]


def waiting(state: dict[str, Any]) -> list[tuple[int, bool, str | None]]:
    """The same without the alert, which comes after a while."""
    return [opening[:3] for opening in openings(state)]


def test_a_crash_at_each_point_of_a_swap_changes_nothing(table: DiceTable) -> None:
    lid = table.open_lid()
    state = killed_here(table)
    assert openings(state) == [(lid, False, None, False)]
    assert state["reserve"]["open"]

    command = table.terminal.fresh_id()
    body = {"id": command, "action": {"swap": {"out": ["A1"], "in": ["A3"], "reason": "shooter_request"}}}
    first = table.terminal.client.post("/api/dice", json=body).json()
    state = killed_here(table)
    assert openings(state) == [(lid, False, "shooter_request", False)]
    assert (at(state, "play"), at(state, "reserve")) == (["A2", "A3"], ["A1", "A4", "A5"])
    # The console does not know whether it was done, and sends it again.
    again = table.terminal.client.post("/api/dice", json=body).json()
    assert again == first | {"repeated": True}
    assert [event["data"]["opening"] for event in table.journal("dice_moved")][1:] == [lid]

    table.close_lid()
    state = killed_here(table)
    assert openings(state) == []
    told = [(event["type"], event["data"]["initial"]) for event in table.journal("reserve_opened", "reserve_closed")]
    # From the lid's opening on: seen open at two starts, shut by hand, seen shut at the last start.
    assert told[-5:] == [
        ("reserve_opened", False),
        ("reserve_opened", True),
        ("reserve_opened", True),
        ("reserve_closed", False),
        ("reserve_closed", True),
    ]
    report = table.report("en")
    assert "2 openings; 0 not explained; 0 explained late by a supervisor.\n" in report
    assert "The account balances: 0 + 5 − 0 = 5.\n" in report


def test_the_reason_is_asked_again_after_the_start(table: DiceTable) -> None:
    with table.reserve() as lid:
        pass
    restart(table)
    assert waiting(table.dice_state) == [(lid, True, None)]
    name = f"reserve_unexplained:{lid}"
    text = table.alert(name)
    [raised] = [event["seq"] for event in table.journal("alert_raised") if event["data"]["alert"] == name]
    state = killed_here(table)
    assert openings(state) == [(lid, True, None, True)]
    assert table.alert(name) == text
    table.dice("explain", reason="inspector_request", as_="boxman")
    killed_here(table)
    assert table.alerts() == ["reserve_unexplained"], "only a supervisor ends it, after a crash too"
    table.dice("explain", reason="inspector_request", as_="supervisor", done_by=SUPERVISOR)
    table.no_alert(name)
    state = killed_here(table)
    assert openings(state) == []
    told = [event for event in table.journal("alert_raised", "alert_cleared") if event["data"]["alert"] == name]
    assert [event["type"] for event in told] == ["alert_raised", "alert_cleared"]
    assert told[0]["seq"] == raised


@pytest.mark.parametrize("was_open", [True, False])
def test_a_lid_that_moves_while_the_terminal_is_down_is_seen_at_the_start(table: DiceTable, was_open: bool) -> None:
    if was_open:
        table.open_lid()
    before = table.dice_state
    table.terminal.kill()
    hands = table.terminal.data / "virtual" / "table.json"
    hands.write_text(json.dumps(json.loads(hands.read_text()) | {"shut": was_open}))
    start(table)
    state = table.dice_state
    assert state["sets"] == before["sets"]
    assert state["reserve"]["open"] is not was_open
    told = table.journal("reserve_opened", "reserve_closed")
    assert told[-1]["data"]["initial"]
    opened = told[-2 if was_open else -1]["seq"]
    assert waiting(state) == [(opened, was_open, None)]
    if was_open:
        # Nobody knows what was done with it open; a reason is asked for.
        table.alert(f"reserve_unexplained:{opened}")


def test_crashes_at_any_moment_of_swaps_lose_and_double_nothing(table: DiceTable) -> None:
    chance = random.Random(SEED)
    terminal = table.terminal
    sent: list[str] = []
    told: list[int] = []
    for crash in range(CRASHES):
        state = table.dice_state
        command = f"crash-swap-{crash}"
        sent.append(command)
        action = {"out": at(state, "play")[:1], "in": at(state, "reserve")[:1], "reason": "shooter_request"}
        body = {"id": command, "action": {"swap": action}}

        def work(body: dict[str, Any] = body) -> None:
            """The lid is opened, the dice are swapped, the lid is shut, as far as it comes."""
            with httpx.Client(base_url=terminal.address, timeout=60) as client:
                try:
                    client.post("/api/virtual", json={"lid": "open"})
                    answer = client.post("/api/dice", json=body)
                    assert answer.status_code == 200, answer.text
                    told.append(answer.json()["seq"])
                    client.post("/api/virtual", json={"lid": "closed"})
                except httpx.TransportError:
                    pass

        hands = threading.Thread(target=work)
        hands.start()
        hands.join(chance.uniform(0, 0.1))
        terminal.kill()
        hands.join()
        start(table)
        # Whether it had been done or not: sent again it is done once.
        answer = terminal.client.post("/api/dice", json=body)
        assert answer.status_code == 200, answer.text
        if table.dice_state["reserve"]["open"]:
            table.close_lid()
        terminal.hand(lid="closed")
    events = table.journal()
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    swaps = [event for event in events if event["type"] == "dice_moved" and event["data"]["action"] == "swap"]
    assert [event["data"]["command"] for event in swaps] == sent
    assert {event["seq"] for event in swaps} >= set(told), "what was told was kept"
    log = DiceLog()
    for event in events:
        if event["type"].startswith(("dice_", "reserve_", "slots")) or event["type"] == "alert_raised":
            log.take(event["type"], event["data"], event["seq"])
    state = table.dice_state
    for place in ("play", "reserve"):
        assert at(state, place) == log.state.sets["A"].at(place)
    assert (len(at(state, "play")), dice_of(state)) == (2, DICE)
    # Every opening is over, has a reason, or is asked for.
    assert [opening["seq"] for opening in state["openings"]] == [opening.seq for opening in log.state.openings]
