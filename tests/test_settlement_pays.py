"""What is paid in whole chips, what rounding leaves over, what stays up, and in which order the dealer works."""

from typing import Any

import pytest

from engine_lite import rule_sets
from engine_lite.rule_compiler import compile_rules
from engine_lite.table import Table


def table_of(rules: str, unit: int = 1, **options: object) -> Table:
    return Table(compile_rules(rule_sets.load(rules), options), unit, 1, 10000)


@pytest.mark.parametrize(
    ("rules", "kind", "number", "amount", "unit", "dice", "paid", "remainder"),
    [
        # 7 x 7 / 6 = 8 and a sixth.
        ("es-1979", "place", 6, 7, 1, (3, 3), 8, [1, 6]),
        # 10 x 7 / 6 = 11 and two thirds, in lowest terms.
        ("es-1979", "place", 6, 10, 1, (3, 3), 11, [2, 3]),
        # 1 x 7 / 5 = 1 and two fifths; 3 x 9 / 5 = 5 and two fifths.
        ("es-1979", "place", 5, 1, 1, (2, 3), 1, [2, 5]),
        ("es-1979", "place", 4, 3, 1, (2, 2), 5, [2, 5]),
        # 10 x 5 / 11 = 4 and 6 elevenths; 10 x 5 / 8 = 6 and a quarter; 1 x 4 / 5 is nothing in chips.
        ("es-1979", "place_to_lose", 4, 10, 1, (3, 4), 4, [6, 11]),
        ("es-1979", "place_to_lose", 5, 10, 1, (3, 4), 6, [1, 4]),
        ("es-1979", "place_to_lose", 6, 1, 1, (3, 4), 0, [4, 5]),
        # 10 x 27 / 4 = 67 and a half.
        ("mo-2010", "horn", None, 10, 1, (1, 1), 67, [1, 2]),
        # 7 x 26 / 5 = 36 and two fifths; 7 x 11 / 5 = 15 and two fifths.
        ("us-vegas", "world", None, 7, 1, (6, 6), 36, [2, 5]),
        ("us-vegas", "world", None, 7, 1, (5, 6), 15, [2, 5]),
        # In fives: 30 x 7 / 6 = 35 exactly; 25 x 7 / 6 = 29 and a sixth, 25 and 4 and a sixth over.
        ("es-1979", "place", 6, 30, 5, (3, 3), 35, None),
        ("es-1979", "place", 6, 25, 5, (3, 3), 25, [25, 6]),
        # In fives: 15 x 27 / 4 = 101 and a quarter.
        ("mo-2010", "horn", None, 15, 5, (1, 1), 100, [5, 4]),
        # In hundreds: 100 x 7 / 6 = 116 and two thirds.
        ("es-1979", "place", 6, 100, 100, (3, 3), 100, [50, 3]),
        ("us-vegas", "hop_1_2", None, 3, 1, (2, 1), 45, None),
    ],
)
def test_the_pay_is_rounded_down_to_the_unit_and_the_exact_rest_is_told(
    rules: str,
    kind: str,
    number: int | None,
    amount: int,
    unit: int,
    dice: tuple[int, int],
    paid: int,
    remainder: list[int] | None,
) -> None:
    table = table_of(rules, unit)
    table.place("A", kind, amount, number)
    (result,) = table.roll(*dice)
    assert result["result"] == "win"
    assert result.get("paid", 0) == paid
    assert result.get("remainder") == remainder


@pytest.mark.parametrize(
    ("rules", "kind", "number", "dice", "paid"),
    [
        ("es-1979", "place", 6, (3, 3), 14),
        ("es-1979", "place_to_lose", 6, (3, 4), 9),
        ("es-1979", "big", 6, (3, 3), 12),
        ("es-1979", "hardway", 6, (3, 3), 108),
        ("mo-2010", "big", 6, (3, 3), 14),
    ],
)
def test_a_winner_stays_up_or_is_handed_back_as_the_operator_chooses(
    rules: str, kind: str, number: int, dice: tuple[int, int], paid: int
) -> None:
    stays = table_of(rules)
    stays.place("A", kind, 12, number)
    (result,) = stays.roll(*dice)
    assert (result["paid"], result.get("returned", 0)) == (paid, 0)
    assert [bet["amount"] for bet in stays.bets()] == [12]
    handed = table_of(rules, winners_stay_up=False)
    handed.place("A", kind, 12, number)
    (result,) = handed.roll(*dice)
    assert (result["paid"], result["returned"]) == (paid, 12)
    assert handed.bets() == []
    assert handed.players == {"A": paid}


def test_a_come_bet_that_wins_makes_room_for_the_one_that_travels_to_the_same_box() -> None:
    table = table_of("us-vegas")
    table.roll(4, 5)
    table.place("A", "come", 10)
    assert table.roll(3, 3) == [{"player": "A", "kind": "come", "result": "move", "to": 6}]
    table.place("A", "come", 15)
    table.place("A", "come_odds", 10, 6)
    assert table.roll(2, 4) == [
        {"player": "A", "kind": "come", "number": 6, "result": "win", "paid": 10, "returned": 10},
        {"player": "A", "kind": "come_odds", "number": 6, "result": "win", "paid": 12, "returned": 10},
        {"player": "A", "kind": "come", "result": "move", "to": 6},
    ]
    assert [(bet["kind"], bet["number"], bet["amount"]) for bet in table.bets()] == [("come", 6, 15)]


def test_a_line_bet_taken_down_brings_its_odds_back() -> None:
    table = table_of("us-vegas")
    table.place("A", "dont_pass", 10)
    table.roll(2, 2)
    table.place("A", "dont_pass_odds", 20)
    handed = table.take_down("A", "dont_pass")
    assert sorted((result["kind"], result["returned"]) for result in handed) == [
        ("dont_pass", 10),
        ("dont_pass_odds", 20),
    ]
    assert table.bets() == []
    assert table.players == {"A": 0}


def test_losers_are_collected_before_winners_are_paid_each_by_box_and_then_by_player() -> None:
    table = table_of("es-1979")
    table.roll(4, 5)
    lies: list[tuple[str, str, int]] = [
        ("B", "place", 8),
        ("10", "place", 6),
        ("2", "place_to_lose", 10),
        ("2", "place", 6),
        ("10", "place_to_lose", 4),
        ("2", "place_to_lose", 4),
        ("A", "place", 8),
        ("10", "place", 4),
    ]
    for player, kind, number in lies:
        table.place(player, kind, 12, number)
    assert [(r["result"], r["number"], r["player"]) for r in table.roll(3, 4)] == [
        ("lose", 4, "10"),
        ("lose", 6, "2"),
        ("lose", 6, "10"),
        ("lose", 8, "A"),
        ("lose", 8, "B"),
        ("win", 4, "2"),
        ("win", 4, "10"),
        ("win", 10, "2"),
    ]


@pytest.mark.parametrize("name", rule_sets.NAMES)
def test_the_dice_pass_on_the_seven_out_and_on_come_out_craps_in_peru_only(name: str) -> None:
    def after(*rolls: tuple[int, int]) -> bool:
        table = table_of(name)
        for dice in rolls:
            table.roll(*dice)
        return table.dice_pass

    assert after((2, 2), (3, 4))
    assert not after((3, 4))
    assert not after((5, 6))
    assert not after((2, 2), (2, 2))
    assert not after((2, 2), (1, 1))
    for craps in ((1, 1), (1, 2), (6, 6)):
        assert after(craps) == (name == "pe-1999")


def test_the_bar_of_peru_is_the_same_on_both_wrong_sides() -> None:
    def wins(bar: int, total: tuple[int, int]) -> list[str]:
        table = table_of("pe-1999", bar=bar)
        table.roll(2, 2)
        table.place("A", "dont_come", 10)
        come: list[dict[str, Any]] = table.roll(*total)
        table = table_of("pe-1999", bar=bar)
        table.place("A", "dont_pass", 10)
        return [result["result"] for result in come + table.roll(*total)]

    assert wins(12, (6, 6)) == ["push", "push"]
    assert wins(12, (1, 1)) == ["win", "win"]
    assert wins(2, (6, 6)) == ["win", "win"]
    assert wins(2, (1, 1)) == ["push", "push"]
    for bar in (2, 12):
        assert wins(bar, (1, 2)) == ["win", "win"]
        assert wins(bar, (5, 6)) == ["lose", "lose"]
