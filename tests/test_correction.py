"""A correction undoes the last roll and settles the right one: as if it had been rolled right from the start."""

from typing import Any

import pytest

from engine_lite import rule_sets
from engine_lite.json_text import json_text
from engine_lite.refusal import Refused
from engine_lite.rule_compiler import compile_rules
from engine_lite.table import Table

THROWS = [(first, second) for first in range(1, 7) for second in range(1, 7)]
RULES = {name: compile_rules(rule_sets.load(name)) for name in rule_sets.NAMES}


def table_of(rules: str) -> Table:
    return Table(RULES[rules], 1, 1, 10000)


def money(table: Table) -> int:
    return table.house + sum(table.players.values()) + table.layout()


def busy(rules: str, come_out: bool) -> Table:
    """A table with bets of most stages, on a come-out or with 6 as the point."""
    table = table_of(rules)
    table.set_shooter("A")
    table.place("A", "pass_line", 10)
    table.roll(2, 2)
    table.place("A", "pass_odds", 10)
    table.place("B", "come", 10)
    table.place("C", "dont_come", 10)
    table.roll(3, 5)
    table.place("B", "come_odds", 10, 8)
    table.place("C", "dont_come_odds", 12, 8)
    table.roll(1, 3)
    for player, kind, amount, number in (("A", "hardway", 5, 6), ("A", "field", 5, None), ("A", "big", 12, 6)):
        table.place(player, kind, amount, number)
    if RULES[rules].rule("buy", 10):
        table.place("B", "buy", 20, 10)
    table.place("A", "pass_line", 10)
    table.place("D", "dont_pass", 10)
    if not come_out:
        table.roll(2, 4)
        table.place("D", "dont_pass_odds", 12)
        table.place("B", "come", 10)
        table.place("B", "field", 10)
    return table


@pytest.mark.parametrize("come_out", [True, False], ids=["come-out", "point"])
@pytest.mark.parametrize("rules", rule_sets.NAMES)
def test_a_corrected_roll_equals_the_right_roll_for_every_pair_of_throws(rules: str, come_out: bool) -> None:
    start = busy(rules, come_out).snapshot()
    rights: dict[tuple[int, int], tuple[str, str]] = {}
    for right in THROWS:
        table = table_of(rules)
        table.restore(start)
        results = json_text(table.roll(*right))
        rights[right] = (results, json_text(table.snapshot()))
    corrected = table_of(rules)
    for wrong in THROWS:
        corrected.restore(start)
        corrected.roll(*wrong)
        # Corrected again and again: each time the last roll was this one instead.
        for right in THROWS:
            results = json_text(corrected.correct(*right))
            assert (results, json_text(corrected.snapshot())) == rights[right], (wrong, right)


def test_bets_made_since_are_kept() -> None:
    table = table_of("us-vegas")
    table.place("A", "pass_line", 10)
    table.roll(2, 2)
    table.roll(1, 1)
    table.place("B", "place", 12, 6)
    table.place("A", "pass_odds", 20, 4)
    assert table.correct(2, 3) == []
    assert [(bet["player"], bet["kind"], bet["number"], bet["amount"]) for bet in table.bets()] == [
        ("A", "pass_line", 4, 10),
        ("A", "pass_odds", 4, 20),
        ("B", "place", 6, 12),
    ]
    assert table.players == {"A": -30, "B": -12}


def test_what_the_players_did_since_is_done_again() -> None:
    table = table_of("es-1979")
    for player, number in (("A", 4), ("A", 8), ("B", 8)):
        table.place(player, "place", 12, number)
    table.roll(4, 5)
    table.take_down("A", "place", 4)
    table.reduce("A", "place", 2, 8)
    table.working(False, "B", "place", 8)
    table.set_shooter("B")
    table.correct(1, 1)
    assert [(bet["player"], bet["number"], bet["amount"], bet["works"]) for bet in table.bets()] == [
        ("A", 8, 10, True),
        ("B", 8, 12, False),
    ]
    assert table.shooter == "B"
    assert table.point is None
    assert table.players == {"A": -10, "B": -12}


@pytest.mark.parametrize(
    ("kind", "number", "amount", "wrong", "right"),
    [
        # A point that was none: no come bet; nor odds on its number.
        ("come", None, 10, (2, 2), (1, 1)),
        ("pass_odds", 4, 20, (2, 2), (1, 1)),
        # No point that was one: the line is closed to B.
        ("pass_line", None, 10, (1, 1), (2, 2)),
    ],
    ids=["come", "odds on a lost line", "line"],
)
def test_a_bet_made_since_that_no_longer_stands_is_handed_back_and_listed_last(
    kind: str, number: int | None, amount: int, wrong: tuple[int, int], right: tuple[int, int]
) -> None:
    bettor = "A" if kind == "pass_odds" else "B"
    expected = table_of("us-vegas")
    expected.place("A", "pass_line", 10)
    results = expected.roll(*right)
    table = table_of("us-vegas")
    table.place("A", "pass_line", 10)
    table.roll(*wrong)
    table.place(bettor, kind, amount, number)
    handed: dict[str, Any] = {"player": bettor, "kind": kind, "result": "return", "returned": amount}
    if number is not None:
        handed["number"] = number
    assert table.correct(*right) == [*results, handed]
    assert table.bets() == expected.bets()
    assert table.players == expected.players
    assert money(table) == 0


def test_a_bet_put_down_and_taken_back_since_is_not_on_the_layout_after_a_correction() -> None:
    table = table_of("us-vegas")
    table.place("A", "pass_line", 10)
    table.roll(1, 1)
    table.place("A", "pass_line", 20)
    table.take_down("A", "pass_line")
    table.correct(2, 2)
    assert [(bet["kind"], bet["number"], bet["amount"]) for bet in table.bets()] == [("pass_line", 4, 10)]
    assert table.players == {"A": -10}


def test_a_correction_can_be_corrected() -> None:
    table = table_of("es-1979")
    table.place("A", "pass_line", 10)
    table.roll(3, 4)
    table.correct(1, 1)
    assert table.correct(2, 2) == []
    assert table.point == 4
    assert [(bet["kind"], bet["number"]) for bet in table.bets()] == [("pass_line", 4)]
    assert table.players == {"A": -10}
    assert table.roll_number == 1


def test_only_the_last_roll_is_corrected() -> None:
    table = table_of("es-1979")
    table.place("A", "pass_line", 10)
    table.roll(2, 2)
    table.roll(3, 4)
    assert [result["result"] for result in table.correct(1, 3)] == ["win"]
    assert table.players == {"A": 10}
    assert table.roll_number == 2


def test_a_correction_that_is_refused_leaves_a_later_one_possible() -> None:
    table = table_of("us-vegas")
    table.place("A", "pass_line", 10)
    table.roll(2, 2)
    table.place("B", "place", 12, 6)
    with pytest.raises(Refused, match="bad_dice"):
        table.correct(7, 1)
    table.correct(3, 3)
    assert table.point == 6
    assert [(bet["player"], bet["kind"]) for bet in table.bets()] == [("A", "pass_line"), ("B", "place")]


def test_a_commission_taken_since_is_taken_once() -> None:
    table = table_of("cl-scj")
    table.roll(4, 5)
    table.place("A", "buy", 40, 4)
    table.correct(1, 1)
    assert table.players == {"A": -42}
    assert table.house == 2
    assert money(table) == 0


def test_the_roll_can_still_be_corrected_after_a_snapshot_was_taken_up_again() -> None:
    table = busy("us-vegas", come_out=False)
    table.roll(3, 4)
    table.place("B", "place", 12, 8)
    fresh = table_of("us-vegas")
    fresh.restore(table.snapshot())
    assert fresh.correct(2, 4) == table.correct(2, 4)
    assert fresh.snapshot() == table.snapshot()


def test_odds_stay_with_the_bet_that_the_right_roll_sent_elsewhere() -> None:
    table = table_of("us-vegas")
    table.place("A", "pass_line", 10)
    table.roll(2, 2)
    table.place("A", "pass_odds", 20, 4)
    # The chips lie behind the line all the while; the point was six.
    assert table.correct(3, 3) == []
    assert [(bet["kind"], bet["number"], bet["amount"]) for bet in table.bets()] == [
        ("pass_line", 6, 10),
        ("pass_odds", 6, 20),
    ]


def test_a_bet_taken_down_since_is_down_wherever_the_right_roll_sent_it() -> None:
    table = table_of("us-vegas")
    table.place("A", "pass_line", 10)
    table.roll(4, 5)
    table.place("B", "dont_come", 10)
    table.roll(2, 2)
    table.take_down("B", "dont_come", 4)
    table.correct(3, 3)
    assert [(bet["player"], bet["kind"]) for bet in table.bets()] == [("A", "pass_line")]
    assert table.players == {"A": -10, "B": 0}
    assert table.not_redone == []


def test_a_bet_taken_down_since_that_the_right_roll_had_collected_is_said_to_be_owed() -> None:
    table = table_of("es-1979")
    table.place("A", "place", 12, 6)
    table.roll(4, 5)
    table.take_down("A", "place", 6)
    # It was a seven: the twelve that A holds again were lost.
    assert table.correct(3, 4) == [{"player": "A", "kind": "place", "number": 6, "result": "lose"}]
    assert table.not_redone == [{"player": "A", "kind": "place", "number": 6, "amount": 12}]
    assert table.players == {"A": -12}
    assert money(table) == 0


def test_odds_put_down_and_taken_back_with_their_line_since_are_owed_to_nobody() -> None:
    table = table_of("us-vegas")
    table.place("A", "dont_pass", 10)
    table.roll(2, 2)
    table.place("A", "dont_pass_odds", 20)
    table.take_down("A", "dont_pass")
    # Seven on the come-out: the don't pass had lost, the odds were never on.
    assert table.correct(3, 4) == [{"player": "A", "kind": "dont_pass", "result": "lose"}]
    assert table.not_redone == [{"player": "A", "kind": "dont_pass", "number": 4, "amount": 10}]


def test_who_is_even_is_in_a_snapshot_as_one_who_never_played() -> None:
    """A bet that is put down and gone again leaves no step to repeat, so it may leave no other trace either."""
    table, other = table_of("us-vegas"), table_of("us-vegas")
    table.place("A", "field", 10)
    table.take_down("A", "field")
    table.roll(3, 4)
    other.roll(3, 4)
    assert table.snapshot() == other.snapshot()


def test_a_copy_knows_whoever_had_a_bet_before_the_roll_that_made_them_even() -> None:
    table, again = table_of("us-vegas"), table_of("us-vegas")
    for dice in ((3, 4), (1, 3)):
        table.place("A", "field", 10)
        table.roll(*dice)
    assert (table.players, table.bets()) == ({"A": 0}, [])
    again.restore(table.snapshot())
    other = again.copy()
    assert other.correct(3, 4) == [{"player": "A", "kind": "field", "result": "lose"}]
    assert other.players == {"A": -20}
