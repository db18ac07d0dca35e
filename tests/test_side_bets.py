"""A house's own bets from a rule file: no code of theirs, played through the same core.

The scenario files beside the rule file were written by hand.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from engine_lite.json_text import json_text
from engine_lite.refusal import Refused
from engine_lite.rule_compiler import compile_rules
from engine_lite.steps import apply_step
from engine_lite.table import Table
from provisioning.command_line import main

RULES = Path(__file__).parent / "rules" / "house-side-bets.json"
SCENARIOS = sorted(RULES.parent.glob("scenario-*.json"))
DATA: dict[str, Any] = json.loads(RULES.read_text())


def new_table() -> Table:
    return Table(compile_rules(DATA), 1, 1, 1000)


def steps_of(path: Path) -> list[dict[str, Any]]:
    return [
        {key: value for key, value in step.items() if key not in ("expect", "refused")}
        for step in json.loads(path.read_text())["steps"]
    ]


def done(table: Table, step: dict[str, Any]) -> list[dict[str, Any]] | str:
    """What a step gives, or the code of its refusal."""
    try:
        return apply_step(table, step)
    except Refused as refused:
        return refused.code


def collected(table: Table) -> dict[str, list[int]]:
    return {bet["kind"]: bet["collected"] for bet in table.bets() if "collected" in bet}


def test_there_is_a_scenario_for_each_bet_of_the_house() -> None:
    kinds = {step["bet"]["kind"] for path in SCENARIOS for step in steps_of(path) if "bet" in step}
    assert kinds == set(DATA["order"][-6:])


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_the_scenario_is_settled_as_it_was_by_hand(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["settle", str(path), "--rules", str(RULES)]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_a_snapshot_between_any_two_steps_changes_nothing_after_it(path: Path) -> None:
    through, resumed = new_table(), new_table()
    for step in steps_of(path):
        snapshot = json.loads(json_text(resumed.snapshot()))
        resumed = new_table()
        resumed.restore(snapshot)
        assert done(resumed, step) == done(through, step)
        assert resumed.bets() == through.bets()
        assert resumed.snapshot() == through.snapshot()
        assert resumed.house + sum(resumed.players.values()) + resumed.layout() == 0


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_each_roll_keyed_wrongly_first_gives_the_same_in_the_end(path: Path) -> None:
    plain, corrected = new_table(), new_table()
    for step in steps_of(path):
        results = done(plain, step)
        if "roll" in step:
            right = step["roll"]
            apply_step(corrected, {"roll": [3, 4] if right != [3, 4] else [1, 1]})
            step = {"correct": right}
        assert done(corrected, step) == results
        assert corrected.bets() == plain.bets()
        assert (corrected.house, corrected.players, corrected.point) == (plain.house, plain.players, plain.point)


def test_a_collecting_bet_says_what_it_has() -> None:
    table = new_table()
    table.place("A", "small", 1)
    table.place("A", "all", 1)
    assert collected(table) == {"all": [], "small": []}
    for dice in ([6, 6], [1, 1], [6, 6], [2, 3]):
        table.roll(*dice)
    assert collected(table) == {"all": [2, 5, 12], "small": [2, 5]}
    table.correct(5, 6)
    assert collected(table) == {"all": [2, 11, 12], "small": [2]}


def test_fire_says_which_points_it_has_and_counts_made_points_only() -> None:
    table = new_table()
    table.place("A", "fire", 1)
    table.roll(4, 6)
    assert collected(table) == {"fire": []}
    table.roll(4, 4)
    assert collected(table) == {"fire": []}
    table.roll(5, 5)
    assert collected(table) == {"fire": [10]}
    table.roll(3, 4)
    table.roll(5, 6)
    assert collected(table) == {"fire": [10]}


def test_a_no_roll_collects_nothing() -> None:
    table = new_table()
    table.place("A", "small", 1)
    apply_step(table, {"no_roll": "off_table"})
    assert collected(table) == {"small": []}


def test_a_bet_on_points_is_not_raised_nor_made_once_the_hand_has_begun() -> None:
    data: dict[str, Any] = json.loads(RULES.read_text())
    del data["bets"]["fire"]["change"]
    table = Table(compile_rules(data), 1, 1, 1000)
    table.place("A", "fire", 1)
    table.roll(4, 4)
    for player in ("A", "B"):
        with pytest.raises(Refused, match="before a shooter's first roll"):
            table.place(player, "fire", 9)
    # Naming another shooter in the middle of a hand begins no new one.
    table.set_shooter("B")
    with pytest.raises(Refused, match="before a shooter's first roll"):
        table.place("B", "fire", 5)


def test_a_push_gives_back_the_commission_that_was_taken_beforehand() -> None:
    data: dict[str, Any] = json.loads(RULES.read_text())
    data["bets"]["lay"]["numbers"]["4"]["push"] = ["12"]
    table = Table(compile_rules(data, {"vig": "up_front"}), 1, 1, 1000)
    table.place("A", "lay", 40, 4)
    # Forty lays twenty; five per cent of twenty is one.
    assert (table.players, table.house) == ({"A": -41}, 1)
    pushed = {"player": "A", "kind": "lay", "number": 4, "result": "push", "returned": 40, "commission_returned": 1}
    assert table.roll(6, 6) == [pushed]
    assert (table.players, table.house) == ({"A": 0}, 0)
