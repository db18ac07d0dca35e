"""The commission on buy and lay: 5 per cent of the bet, or of what a lay wins, rounded down, at least one unit."""

from typing import Any

import pytest

from engine_lite import rule_sets
from engine_lite.rule_compiler import compile_rules
from engine_lite.table import Table

# Kind, number, stake, pay, commission, worked by hand:
#   buy pays true odds, 5 per cent of 40 is 2; lay wins 20 or 40, 5 per cent of that is 1 or 2.
WORKED = [
    ("buy", 4, 40, 80, 2),
    ("buy", 5, 40, 60, 2),
    ("buy", 6, 40, 48, 2),
    ("buy", 8, 40, 48, 2),
    ("buy", 9, 40, 60, 2),
    ("buy", 10, 40, 80, 2),
    ("lay", 4, 40, 20, 1),
    ("lay", 5, 60, 40, 2),
    ("lay", 6, 48, 40, 2),
    ("lay", 8, 48, 40, 2),
    ("lay", 9, 60, 40, 2),
    ("lay", 10, 40, 20, 1),
]
HOW = {4: (2, 2), 5: (2, 3), 6: (3, 3), 8: (4, 4), 9: (4, 5), 10: (5, 5)}


def table_of(vig: str, stay: bool = True, unit: int = 1, rules: str = "us-vegas") -> Table:
    options: dict[str, object] = {"vig": vig, "winners_stay_up": stay}
    table = Table(compile_rules(rule_sets.load(rules), options), unit, 1, 10000)
    # A point, so that every bet works.
    table.roll(5, 5)
    return table


def deciding(kind: str, number: int, wins: bool) -> tuple[int, int]:
    return HOW[number] if wins == (kind == "buy") else (3, 4)


def settled(table: Table, kind: str, number: int, wins: bool = True) -> dict[str, Any]:
    (result,) = table.roll(*deciding(kind, number, wins))
    return result


@pytest.mark.parametrize(("kind", "number", "amount", "paid", "commission"), WORKED)
def test_on_a_win_the_commission_comes_off_the_pay_and_nothing_is_taken_before(
    kind: str, number: int, amount: int, paid: int, commission: int
) -> None:
    table = table_of("on_win", stay=False)
    table.place("A", kind, amount, number)
    assert table.players == {"A": -amount}
    assert settled(table, kind, number) == {
        "player": "A",
        "kind": kind,
        "number": number,
        "result": "win",
        "paid": paid,
        "returned": amount,
        "commission": commission,
    }
    assert table.players == {"A": paid - commission}
    assert table.house == commission - paid


@pytest.mark.parametrize(("kind", "number", "amount", "paid", "commission"), WORKED)
def test_up_front_the_commission_is_taken_with_the_stake_and_not_again_when_the_bet_leaves(
    kind: str, number: int, amount: int, paid: int, commission: int
) -> None:
    table = table_of("up_front", stay=False)
    table.place("A", kind, amount, number)
    assert table.players == {"A": -amount - commission}
    assert table.house == commission
    result = settled(table, kind, number)
    assert (result["paid"], result["returned"], result.get("commission", 0)) == (paid, amount, 0)
    assert table.players == {"A": paid - commission}


@pytest.mark.parametrize(("kind", "number", "amount", "paid", "commission"), WORKED)
@pytest.mark.parametrize("vig", ["on_win", "up_front"])
def test_a_bet_that_wins_twice_and_stays_up_pays_the_commission_for_each_win(
    vig: str, kind: str, number: int, amount: int, paid: int, commission: int
) -> None:
    table = table_of(vig)
    table.place("A", kind, amount, number)
    for _ in range(2):
        if table.point is None:
            table.roll(*HOW[5 if number == 4 else 4])
        result = settled(table, kind, number)
        assert (result["paid"], result.get("returned", 0), result["commission"]) == (paid, 0, commission)
    # Up front a third commission lies ready for the next win; it comes back with the stake.
    ready = commission if vig == "up_front" else 0
    assert table.players == {"A": 2 * (paid - commission) - amount - ready}
    table.take_down("A", kind, number)
    assert table.players == {"A": 2 * (paid - commission)}
    assert table.house == -2 * (paid - commission)


@pytest.mark.parametrize(("kind", "number", "amount", "paid", "commission"), WORKED)
def test_a_bet_that_loses_costs_the_commission_only_where_it_was_taken_up_front(
    kind: str, number: int, amount: int, paid: int, commission: int
) -> None:
    assert paid > commission
    for vig, cost in (("on_win", 0), ("up_front", commission)):
        table = table_of(vig)
        table.place("A", kind, amount, number)
        assert settled(table, kind, number, wins=False)["result"] == "lose"
        assert table.players == {"A": -amount - cost}
        assert table.house == amount + cost


@pytest.mark.parametrize(("kind", "number", "amount", "paid", "commission"), WORKED)
def test_an_undecided_bet_taken_down_gets_its_commission_back(
    kind: str, number: int, amount: int, paid: int, commission: int
) -> None:
    assert paid > commission
    table = table_of("up_front")
    table.place("A", kind, amount, number)
    table.roll(1, 1)
    (handed,) = table.take_down("A", kind, number)
    assert handed["returned"] == amount
    assert table.players == {"A": 0}
    assert table.house == 0


def test_adding_and_reducing_move_the_commission_to_that_of_the_whole_bet() -> None:
    table = table_of("up_front")
    table.place("A", "buy", 30, 4)
    # 5 per cent of 30 is 1 and a half: 1.
    assert table.house == 1
    table.place("A", "buy", 10, 4)
    # Of 40: 2.
    assert table.house == 2
    table.reduce("A", "buy", 15, 4)
    # Of 25: 1 and a quarter.
    assert table.house == 1
    assert table.players == {"A": -26}


@pytest.mark.parametrize(
    ("kind", "number", "amount", "unit", "commission"),
    [
        # 5 per cent of 39 is 1.95, of 19 is 0.95.
        ("buy", 4, 39, 1, 1),
        ("buy", 4, 19, 1, 1),
        ("buy", 4, 60, 1, 3),
        # In fives: of 190 it is 9 and a half, of 25 it is 1 and a quarter.
        ("buy", 4, 190, 5, 5),
        ("buy", 4, 200, 5, 10),
        ("buy", 4, 25, 5, 5),
        # A lay of 78 against 4 wins 39; one of 100 against 5 wins 66 and two thirds, 5 per cent is 3 and a third.
        ("lay", 4, 78, 1, 1),
        ("lay", 5, 100, 1, 3),
        # 300 against 5 in fives wins 200: 10; 290 wins 193 and a third: 9 and two thirds.
        ("lay", 5, 300, 5, 10),
        ("lay", 5, 290, 5, 5),
    ],
)
def test_the_commission_is_rounded_down_to_the_unit_but_never_to_nothing(
    kind: str, number: int, amount: int, unit: int, commission: int
) -> None:
    table = table_of("on_win", unit=unit)
    table.place("A", kind, amount, number)
    assert settled(table, kind, number)["commission"] == commission
    table = table_of("up_front", unit=unit)
    table.place("A", kind, amount, number)
    assert table.house == commission


@pytest.mark.parametrize(("amount", "unit"), [(1, 1), (5, 5)])
def test_a_bet_that_wins_never_costs_its_player_money(amount: int, unit: int) -> None:
    table = table_of("on_win", stay=False, unit=unit)
    table.place("A", "lay", amount, 4)
    settled(table, "lay", 4)
    assert table.players["A"] >= 0


def test_chile_takes_its_commission_beforehand() -> None:
    table = Table(compile_rules(rule_sets.load("cl-scj")), 1, 1, 10000)
    table.place("A", "buy", 20, 4)
    assert table.players == {"A": -21}
    assert table.house == 1
