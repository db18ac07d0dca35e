"""Every stake from 1 to 200 units on every number: pays, remainders and commission against tables made apart."""

from typing import Any

import pytest

from engine_lite import rule_sets
from engine_lite.rule_compiler import compile_rules
from engine_lite.table import Table
from tests.golden.make_golden_tables import MINIMA, ROUNDINGS, UNITS, read, tables

NUMBERS = (4, 5, 6, 8, 9, 10)
WINNING = {4: (1, 3), 5: (2, 3), 6: (2, 4), 8: (2, 6), 9: (4, 5), 10: (4, 6)}
SEVEN = (3, 4)
# Which column of the golden table a kind is paid by.
COLUMNS = {
    "pass_odds": "odds",
    "come_odds": "odds",
    "buy": "odds",
    "dont_pass_odds": "against",
    "dont_come_odds": "against",
    "lay": "against",
    "place": "right",
    "place_to_lose": "wrong",
}
OFFERED = [(name, kind) for name in rule_sets.NAMES for kind in COLUMNS if kind in rule_sets.load(name)["bets"]]


def golden(name: str) -> dict[str, list[str]]:
    """The columns of a golden table, by their headings."""
    heading, *rows = read(name)
    return {title: [row[place] for row in rows] for place, title in enumerate(heading)}


PAYS = {unit: golden(f"pays-unit-{unit}.csv") for unit in UNITS}
COMMISSIONS = {unit: golden(f"commission-unit-{unit}.csv") for unit in UNITS}


def wins_on_seven(kind: str) -> bool:
    return COLUMNS[kind] in ("against", "wrong")


def table_with(data: dict[str, Any], kind: str, number: int, unit: int, **options: object) -> Table:
    """A table on which player "n" has n units on `kind` at `number`, for each n from 1 to 200, and it works."""
    table = Table(compile_rules(data, options), unit, unit, 1000 * unit)
    stakes = [int(stake) for stake in PAYS[unit]["stake"]]
    if kind.endswith("_odds"):
        line = "pass_line" if kind == "pass_odds" else kind.removesuffix("_odds")
        if "come" in kind:
            table.roll(*WINNING[9 if number == 4 else 4])
        for stake in stakes:
            table.place(str(stake // unit), line, stakes[-1])
        table.roll(*WINNING[number])
    for stake in stakes:
        table.place(str(stake // unit), kind, stake, number)
    table.working(True, None, kind, number)
    return table


def won_by_stake(table: Table, kind: str, number: int) -> list[dict[str, Any]]:
    """Roll what lets `kind` win at `number`; its results, by stake."""
    results = table.roll(*(SEVEN if wins_on_seven(kind) else WINNING[number]))
    won = [result for result in results if result["kind"] == kind]
    assert {(result["result"], result["number"]) for result in won} == {("win", number)}
    return sorted(won, key=lambda result: int(result["player"]))


def paid_and_left(result: dict[str, Any]) -> str:
    """A pay as the golden table writes it."""
    paid = str(result.get("paid", 0))
    return f"{paid} {result['remainder'][0]}/{result['remainder'][1]}" if "remainder" in result else paid


def test_the_golden_files_are_what_their_maker_makes() -> None:
    for name, rows in tables().items():
        assert read(name) == rows


@pytest.mark.parametrize(
    ("unit", "stake", "column", "pay"),
    [
        # 7 x 7 / 6, 10 x 5 / 11, 7 x 3 / 2, 9 x 5 / 6, 200 x 6 / 5, 1 x 4 / 5; in fives 25 x 7 / 6 and 1000 x 5 / 8.
        (1, 7, "right 6", "8 1/6"),
        (1, 10, "wrong 4", "4 6/11"),
        (1, 7, "odds 5", "10 1/2"),
        (1, 9, "against 8", "7 1/2"),
        (1, 200, "odds 6", "240"),
        (1, 1, "wrong 8", "0 4/5"),
        (5, 25, "right 6", "25 25/6"),
        (5, 1000, "wrong 9", "625"),
    ],
)
def test_rows_of_the_pay_table_worked_by_hand(unit: int, stake: int, column: str, pay: str) -> None:
    assert PAYS[unit][column][PAYS[unit]["stake"].index(str(stake))] == pay


@pytest.mark.parametrize(
    ("unit", "stake", "base", "dues"),
    [
        # Down, nearest, up with at least one unit, then with at least two. 30 x 5 / 100 is one and a half.
        (1, 30, "bet", (1, 2, 2, 2, 2, 2)),
        # 5 per cent of the 25 that 50 win, of the 105 that 70 win, of the 33 and a third that 50 win.
        (1, 50, "lay 4", (1, 1, 2, 2, 2, 2)),
        (1, 70, "buy 5", (5, 5, 6, 5, 5, 6)),
        (1, 50, "lay 9", (1, 2, 2, 2, 2, 2)),
        # 1.9 units of 5; a tenth of a unit of 5.
        (5, 190, "bet", (5, 10, 10, 10, 10, 10)),
        (5, 10, "bet", (5, 5, 5, 10, 10, 10)),
    ],
)
def test_rows_of_the_commission_table_worked_by_hand(unit: int, stake: int, base: str, dues: tuple[int, ...]) -> None:
    row = COMMISSIONS[unit]["stake"].index(str(stake))
    ways = [(rounding, minimum) for minimum in MINIMA for rounding in ROUNDINGS]
    assert tuple(int(COMMISSIONS[unit][f"{base} {way[0]} {way[1]}"][row]) for way in ways) == dues


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(("rules", "kind"), OFFERED)
def test_every_stake_on_every_number_is_paid_as_the_table_says(rules: str, kind: str, unit: int) -> None:
    for number in NUMBERS:
        table = table_with(rule_sets.load(rules), kind, number, unit)
        paid = [paid_and_left(result) for result in won_by_stake(table, kind, number)]
        assert paid == PAYS[unit][f"{COLUMNS[kind]} {number}"]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("minimum", MINIMA)
@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("base", ["bet", "win"])
@pytest.mark.parametrize("kind", ["buy", "lay"])
def test_the_commission_of_every_stake_is_what_the_table_says(
    kind: str, base: str, rounding: str, minimum: int, unit: int
) -> None:
    data = rule_sets.load("us-vegas")
    data["bets"][kind]["commission"].update(base=base, rounding=rounding, minimum=minimum)
    for number in NUMBERS:
        column = f"{base if base == 'bet' else f'{kind} {number}'} {rounding} {minimum}"
        dues = [int(due) for due in COMMISSIONS[unit][column]]
        stakes = [int(stake) for stake in COMMISSIONS[unit]["stake"]]
        # Up front it is taken with the stake, and again when the bet has won and stays.
        table = table_with(data, kind, number, unit, vig="up_front")
        assert [bet["commission"] for bet in table.bets()] == dues
        assert [-table.players[str(stake // unit)] - stake for stake in stakes] == dues
        assert table.house == sum(dues)
        assert [won["commission"] for won in won_by_stake(table, kind, number)] == dues
        # From the win it is never more than the win.
        table = table_with(data, kind, number, unit, vig="on_win")
        assert table.house == 0
        for won, due in zip(won_by_stake(table, kind, number), dues, strict=True):
            assert won.get("commission", 0) == min(due, won.get("paid", 0))
