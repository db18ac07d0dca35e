"""Which bets act on a roll: bet by bet, on a come-out and after the point, without a button, with On and with Off."""

from itertools import product
from typing import Any

import pytest

from engine_lite import rule_sets
from engine_lite.rule_compiler import compile_rules
from engine_lite.table import Table

BUTTONS = {"none": None, "on": True, "off": False}
# Does the bet act on a come-out without a button? After the point every bet does; a button beats both.
VEGAS = {
    "place": False,
    "place_to_lose": False,
    "buy": False,
    "lay": True,
    "big": True,
    "hardway": False,
    "come_odds": False,
    "dont_come_odds": True,
}
# Spain has no rule on the matter: everything acts on every roll.
SPAIN = dict.fromkeys(("place", "place_to_lose", "big", "hardway", "come_odds", "dont_come_odds"), True)
MATRIX = [
    (rules, kind, phase, button, {"on": True, "off": False}.get(button, phase == "point" or come_out))
    for rules, kinds in (("us-vegas", VEGAS), ("es-1979", SPAIN))
    for (kind, come_out), phase, button in product(kinds.items(), ("come-out", "point"), BUTTONS)
]
WRONG_SIDE = ("place_to_lose", "lay", "dont_come_odds")


def table_of(rules: str) -> Table:
    return Table(compile_rules(rule_sets.load(rules)), 1, 1, 1000)


def six_in_phase(rules: str, kind: str, phase: str) -> Table:
    """A table with one bet of `kind` on 6, for 12 (odds: 10 on a flat 10), on a come-out or with 9 as the point."""
    table = table_of(rules)
    table.roll(4, 5)
    if kind.endswith("_odds"):
        table.place("A", kind.removesuffix("_odds"), 10)
        table.roll(3, 3)
        table.place("A", kind, 10, 6)
    else:
        table.place("A", kind, 12, 6)
    if phase == "come-out":
        table.roll(4, 5)
    assert table.point == (9 if phase == "point" else None)
    return table


def results_of(results: list[dict[str, Any]], kind: str) -> list[str]:
    return [result["result"] for result in results if result["kind"] == kind]


@pytest.mark.parametrize(("rules", "kind", "phase", "button", "works"), MATRIX)
def test_a_bet_wins_and_loses_when_it_works_and_stays_or_comes_back_when_it_is_off(
    rules: str, kind: str, phase: str, button: str, works: bool
) -> None:
    for dice, wins in (((3, 3), kind not in WRONG_SIDE), ((3, 4), kind in WRONG_SIDE)):
        table = six_in_phase(rules, kind, phase)
        on = BUTTONS[button]
        if on is not None:
            assert table.working(on, "A", kind, 6) == 1
        assert [bet["works"] for bet in table.bets() if bet["kind"] == kind] == [works]
        came = results_of(table.roll(*dice), kind)
        if works:
            assert came == ["win" if wins else "lose"]
        elif kind.endswith("_odds"):
            # The flat bet is decided and leaves; odds that were off go back to the player.
            assert came == ["return"]
        else:
            assert came == []
            assert [bet["kind"] for bet in table.bets()] == [kind]


@pytest.mark.parametrize("rules", rule_sets.NAMES)
@pytest.mark.parametrize(("line", "odds"), [("pass_line", "pass_odds"), ("dont_pass", "dont_pass_odds")])
@pytest.mark.parametrize("dice", [(3, 3), (3, 4)])
def test_line_odds_that_are_off_come_back_when_the_line_is_decided(
    rules: str, line: str, odds: str, dice: tuple[int, int]
) -> None:
    table = table_of(rules)
    table.place("A", line, 10)
    table.roll(2, 4)
    table.place("A", odds, 10)
    table.working(False, "A", odds, 6)
    assert table.roll(1, 1) == []
    results = table.roll(*dice)
    won = (dice == (3, 3)) == (line == "pass_line")
    assert results_of(results, line) == ["win" if won else "lose"]
    assert [r for r in results if r["kind"] == odds] == [
        {"player": "A", "kind": odds, "number": 6, "result": "return", "returned": 10}
    ]
    assert table.bets() == []
    assert table.players == {"A": 10 if won else -10}


def test_on_a_come_out_seven_the_come_loses_and_its_idle_odds_come_back_in_las_vegas_only() -> None:
    for rules, odds_result, up in (("us-vegas", "return", -10), ("es-1979", "lose", -20)):
        table = six_in_phase(rules, "come_odds", "come-out")
        results = table.roll(3, 4)
        assert results_of(results, "come") == ["lose"]
        assert results_of(results, "come_odds") == [odds_result]
        assert table.players == {"A": up}


def test_an_off_button_stays_until_an_on_button_is_laid() -> None:
    table = six_in_phase("es-1979", "place", "point")
    table.working(False, "A", "place", 6)
    assert table.roll(3, 4) == []
    assert table.roll(2, 4) == []
    assert table.roll(3, 3) == []
    table.working(True, "A", "place", 6)
    assert results_of(table.roll(3, 4), "place") == ["lose"]


def test_a_button_stays_on_a_bet_that_is_added_to_or_reduced() -> None:
    table = six_in_phase("us-vegas", "place", "point")
    table.working(False, "A", "place", 6)
    table.place("A", "place", 12, 6)
    table.reduce("A", "place", 6, 6)
    assert table.roll(3, 4) == []
    assert [(bet["amount"], bet["button"]) for bet in table.bets()] == [(18, False)]


def test_a_button_that_names_nothing_means_every_bet_that_takes_one() -> None:
    table = table_of("es-1979")
    assert table.working(False) == 0
    table.place("A", "pass_line", 10)
    table.place("A", "place", 12, 6)
    table.place("B", "hardway", 5, 4)
    table.place("B", "field", 5)
    assert table.working(False) == 2
    # The line and the field have no button: they act on the seven.
    assert sorted(result["kind"] for result in table.roll(3, 4)) == ["field", "pass_line"]


@pytest.mark.parametrize(
    ("named", "off"),
    [
        ({"player": "A"}, ["A hardway 6", "A place 6", "A place 8"]),
        ({"number": 6}, ["A hardway 6", "A place 6", "B place 6"]),
        ({"kind": "place"}, ["A place 6", "A place 8", "B place 6"]),
        ({"player": "A", "kind": "place"}, ["A place 6", "A place 8"]),
        ({"kind": "place", "number": 6}, ["A place 6", "B place 6"]),
        ({"player": "A", "number": 6}, ["A hardway 6", "A place 6"]),
        ({"player": "B", "kind": "place", "number": 6}, ["B place 6"]),
    ],
    ids=str,
)
def test_what_a_button_leaves_out_means_all(named: dict[str, Any], off: list[str]) -> None:
    table = table_of("es-1979")
    for player, kind, number in (("A", "place", 6), ("A", "place", 8), ("A", "hardway", 6), ("B", "place", 6)):
        table.place(player, kind, 12, number)
    assert table.working(False, **named) == len(off)
    assert sorted(f"{b['player']} {b['kind']} {b['number']}" for b in table.bets() if not b["works"]) == off


@pytest.mark.parametrize("kind", ["pass_odds", "dont_pass_odds"])
def test_a_button_on_line_odds_needs_no_number(kind: str) -> None:
    table = table_of("us-vegas")
    table.place("A", kind.replace("_odds", "_line" if kind == "pass_odds" else ""), 10)
    table.roll(2, 2)
    table.place("A", kind, 10)
    assert table.working(False, "A", kind) == 1
