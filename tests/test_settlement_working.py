"""Which bets act on a roll: bet by bet, with the puck off and on, without a button, with On and with Off."""

from itertools import product
from typing import Any

import pytest

from engine_lite import rule_sets
from engine_lite.rule_compiler import compile_rules
from engine_lite.table import Table

BUTTONS = {"none": None, "on": True, "off": False}
# Las Vegas, cell by cell: does the bet act on the next roll? Line odds stand while there is a point and at no other
# time; the dash is a cell that cannot be.
VEGAS = """
 side   bet             | puck off: button none  on   off | puck on: button none  on   off
 right  place           |                   no   yes  no  |                  yes  yes  no
 wrong  place_to_lose   |                   no   yes  no  |                  yes  yes  no
 right  buy             |                   no   yes  no  |                  yes  yes  no
 wrong  lay             |                   yes  yes  no  |                  yes  yes  no
 right  big             |                   yes  yes  no  |                  yes  yes  no
 right  hardway         |                   no   yes  no  |                  yes  yes  no
 right  come_odds       |                   no   yes  no  |                  yes  yes  no
 wrong  dont_come_odds  |                   yes  yes  no  |                  yes  yes  no
 right  pass_odds       |                   -    -    -   |                  yes  yes  no
 wrong  dont_pass_odds  |                   -    -    -   |                  yes  yes  no
"""
# The other rule sets say nothing on the matter, or leave it to the house: everything acts unless an Off button lies.
ELSEWHERE = (
    "come_odds dont_come_odds pass_odds dont_pass_odds big hardway",
    "place place_to_lose",
    "buy lay",
)
OTHER_KINDS = {
    "es-1979": ELSEWHERE[:2],
    "es-md-2004": ELSEWHERE[:2],
    "mo-2010": ELSEWHERE[:1],
    "cl-scj": ELSEWHERE,
    "pe-1999": ELSEWHERE,
}
WRONG_SIDE = ("place_to_lose", "lay", "dont_come_odds", "dont_pass_odds")
LINE_ODDS = ("pass_odds", "dont_pass_odds")


def cells(table: str) -> list[tuple[str, str, str, str, bool]]:
    """Each cell of a table as above that can be: side, bet, puck, button, whether the bet acts."""
    found = []
    for line in table.strip().splitlines()[1:]:
        named, *halves = line.split("|")
        side, kind = named.split()
        for puck, half in zip(("off", "on"), halves, strict=True):
            for button, cell in zip(BUTTONS, half.split(), strict=True):
                if cell != "-":
                    found.append((side, kind, puck, button, {"yes": True, "no": False}[cell]))
    return found


MATRIX = [("us-vegas", kind, puck, button, acts) for _, kind, puck, button, acts in cells(VEGAS)] + [
    (rules, kind, puck, button, button != "off")
    for rules, groups in OTHER_KINDS.items()
    for kind in " ".join(groups).split()
    for puck, button in product(("off", "on"), BUTTONS)
    if kind not in LINE_ODDS or puck == "on"
]


def table_of(rules: str) -> Table:
    return Table(compile_rules(rule_sets.load(rules)), 1, 1, 1000)


def with_six(rules: str, kind: str, puck: str) -> Table:
    """A table with one bet of `kind` on 6, for 12 (odds: 10 on a flat 10), on a come-out or with a point: 9, or 6 where
    the bet is odds on the line."""
    table = table_of(rules)
    if kind in LINE_ODDS:
        table.place("A", "pass_line" if kind == "pass_odds" else "dont_pass", 10)
        table.roll(2, 4)
        table.place("A", kind, 10)
        return table
    table.roll(4, 5)
    if kind.endswith("_odds"):
        table.place("A", kind.removesuffix("_odds"), 10)
        table.roll(3, 3)
        table.place("A", kind, 10, 6)
    else:
        table.place("A", kind, 12, 6)
    if puck == "off":
        table.roll(4, 5)
    assert table.point == (9 if puck == "on" else None)
    return table


def results_of(results: list[dict[str, Any]], kind: str) -> list[str]:
    return [result["result"] for result in results if result["kind"] == kind]


def test_the_matrix_names_every_bet_that_takes_a_button_and_its_side() -> None:
    assert {kind for _, kind, *_ in cells(VEGAS)} == set(rule_sets.load("us-vegas")["working"])
    assert {(kind, side == "wrong") for side, kind, *_ in cells(VEGAS)} == {
        (kind, kind in WRONG_SIDE) for _, kind, *_ in cells(VEGAS)
    }
    assert len(cells(VEGAS)) == 8 * 6 + 2 * 3
    for rules, groups in OTHER_KINDS.items():
        assert set(" ".join(groups).split()) == set(rule_sets.load(rules)["working"])


@pytest.mark.parametrize(("rules", "kind", "puck", "button", "works"), MATRIX)
def test_a_bet_wins_and_loses_when_it_works_and_stays_or_comes_back_when_it_is_off(
    rules: str, kind: str, puck: str, button: str, works: bool
) -> None:
    for dice, wins in (((3, 3), kind not in WRONG_SIDE), ((3, 4), kind in WRONG_SIDE)):
        table = with_six(rules, kind, puck)
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
        table = with_six(rules, "come_odds", "off")
        results = table.roll(3, 4)
        assert results_of(results, "come") == ["lose"]
        assert results_of(results, "come_odds") == [odds_result]
        assert table.players == {"A": up}


def test_an_off_button_stays_until_an_on_button_is_laid() -> None:
    table = with_six("es-1979", "place", "on")
    table.working(False, "A", "place", 6)
    assert table.roll(3, 4) == []
    assert table.roll(2, 4) == []
    assert table.roll(3, 3) == []
    table.working(True, "A", "place", 6)
    assert results_of(table.roll(3, 4), "place") == ["lose"]


def test_a_button_stays_on_a_bet_that_is_added_to_or_reduced() -> None:
    table = with_six("us-vegas", "place", "on")
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
