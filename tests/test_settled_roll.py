"""The arithmetic beside each pay: stake by odds, rounded as shown, less the commission shown, is what was settled."""

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from device.settled_roll import settled_roll
from device.taken_bets import kinds_not_taken
from engine_lite import rule_sets
from engine_lite.refusal import Refused
from engine_lite.rule_compiler import compile_rules
from engine_lite.rules import RuleSet
from engine_lite.table import Table

HOUSE_RULES = Path(__file__).parent / "rules" / "house-side-bets.json"
PLAYERS = ("1", "2", "7")
ROLLS = 1200


def variants() -> list[Any]:
    """Each rule set as it comes and with each value of what is left to the operator, and the house's own bets."""
    found = []
    for data in (*map(rule_sets.load, rule_sets.NAMES), json.loads(HOUSE_RULES.read_text(encoding="utf-8"))):
        name = data["name"]
        found.append(pytest.param(data, {}, 1, id=name))
        found.append(pytest.param(data, {}, 5, id=f"{name}, chips of 5"))
        for option, said in data["options"].items():
            if option != "exact_amounts":
                found += [
                    pytest.param(data, {option: value}, 2, id=f"{name}, {option} {value}")
                    for value in said["values"]
                    if value != said["default"]
                ]
    return found


def shown(table: Table, dice: tuple[int, int]) -> dict[str, Any]:
    """A roll as the screen shows it."""
    point = table.point
    results = table.roll(*dice)
    data = {"number": table.roll_number, "point_before": point, "point": table.point, "results": results}
    return settled_roll(table, 1, dice, data, None)


def bet_somewhere(table: Table, rules: RuleSet, chance: random.Random) -> None:
    """A bet of some player that the rules take now, or none where they refuse it."""
    # Hop bets are many, and each is as the other.
    rule = rules.one(chance.choice([kind for kind in rules.kinds if kind[:4] != "hop_" or chance.random() < 0.5]))
    assert rule is not None
    numbers: list[int | None] = [None]
    if rule.stage == "odds":
        assert rule.parent is not None
        numbers = [bet["number"] for bet in table.bets() if bet["kind"] == rule.parent.kind and bet["number"]] or [4]
    elif rule.stage != "line" and rules.numbers(rule.kind):
        numbers = [*rules.numbers(rule.kind)]
    try:
        table.place(chance.choice(PLAYERS), rule.kind, table.unit * chance.randint(1, 41), chance.choice(numbers))
    except Refused:
        return


def throw(chance: random.Random) -> tuple[int, int]:
    """Two dice; most sevens are thrown again, so that there are long hands as well."""
    dice = (chance.randint(1, 6), chance.randint(1, 6))
    return throw(chance) if sum(dice) == 7 and chance.random() < 0.6 else dice


def pays_as_said(result: dict[str, Any], unit: int) -> int:
    """What a win hands out beside the stake, after the words on the screen have been held to each other."""
    exact = Fraction(*result["odds"]) * result["amount"]
    paid: int = result.get("paid", 0)
    commission: int = result.get("commission", 0)
    assert paid % unit == 0
    assert paid <= exact < paid + unit
    assert ("exact" in result) == (exact != paid)
    if "exact" in result:
        whole, num, den = result["exact"]
        assert whole + Fraction(num, den) == exact
        assert 0 <= num < den
    assert result.get("up_front", False) <= (commission > 0)
    return paid - commission


@pytest.mark.parametrize(("data", "options", "unit"), variants())
def test_stake_by_odds_less_commission_is_what_was_settled(
    data: dict[str, Any], options: dict[str, Any], unit: int
) -> None:
    rules = compile_rules(data, options)
    table = Table(rules, unit, unit, 1000 * unit)
    chance = random.Random(20261130)
    won = set()
    for _ in range(ROLLS):
        for _ in range(8):
            bet_somewhere(table, rules, chance)
        before = dict(table.players)
        stood = {(bet["player"], bet["kind"], bet["number"]): bet["amount"] for bet in table.bets()}
        last = shown(table, throw(chance))
        handed = dict.fromkeys(PLAYERS, 0)
        for result in last["results"]:
            back = result.get("returned", 0) + result.get("commission_returned", 0)
            if "amount" in result:
                key = (result["player"], result["kind"], result.get("number"))
                assert result["amount"] == stood[key]
            if result["result"] == "win":
                won.add(result["kind"])
                back += pays_as_said(result, unit)
            handed[result["player"]] += back
        after = {player: table.players.get(player, 0) - before.get(player, 0) for player in PLAYERS}
        assert after == handed
        hold_off_and_on(table, last["results"])
    assert {one_of_many(kind) for kind in won} == {one_of_many(kind) for kind in rules.kinds}


def one_of_many(kind: str) -> str:
    return "hop" if kind.startswith("hop_") else kind


def hold_off_and_on(table: Table, results: list[dict[str, Any]]) -> None:
    """Where a come bet meets another in its box, what is carried leaves box and hand as they were settled."""
    for result in results:
        meets = result.get("off_and_on")
        if result["result"] == "move" or meets is None:
            continue
        (arrives,) = [
            other["amount"]
            for other in results
            if other["result"] == "move"
            and (other["player"], other["kind"], other["to"]) == (result["player"], result["kind"], result["number"])
            and other["off_and_on"] == meets
        ]
        stands = table.standing(result["player"], (result["kind"], result["number"]))
        assert stands is not None
        # The box: what was there, and what was put to it or handed back of it.
        assert meets["stays"] + meets["more"] == stands[1] == arrives
        assert meets["stays"] + meets["less"] == result["amount"]
        assert 0 in (meets["more"], meets["less"])
        # The hand: what is not put to the box, and what comes off it, is the stake that goes back (or is collected).
        assert arrives - meets["more"] + meets["less"] == result["amount"]
        if result["result"] == "win":
            assert result["returned"] == result["amount"]


def open_table(name: str, **options: Any) -> Table:
    return Table(compile_rules(rule_sets.load(name), options), 1, 1, 1000)


def wins(table: Table, *dice: int) -> list[dict[str, Any]]:
    """What the screen shows of the wins of a roll."""
    last = shown(table, (dice[0], dice[1]))
    return [result for result in last["results"] if result["result"] == "win"]


def test_a_place_bet_is_said_as_a_dealer_says_it() -> None:
    table = open_table("us-vegas")
    table.place("3", "pass_line", 10)
    table.roll(2, 2)
    table.place("3", "place", 12, 6)
    table.place("5", "place", 11, 8)
    assert wins(table, 5, 1) == [
        {"player": "3", "kind": "place", "number": 6, "result": "win", "amount": 12, "odds": [7, 6], "paid": 14}
    ]
    # 11 at 7 to 6 are 12 and 5/6.
    assert wins(table, 5, 3) == [
        {
            "player": "5", "kind": "place", "number": 8, "result": "win", "amount": 11, "odds": [7, 6],
            "exact": [12, 5, 6], "paid": 12, "remainder": [5, 6],
        }
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "up_front"), [("us-vegas", False), ("cl-scj", True)])
def test_a_buy_bet_says_its_commission_and_whether_it_is_that_of_the_next(name: str, up_front: bool) -> None:
    table = open_table(name)
    table.place("3", "pass_line", 10)
    table.roll(3, 3)
    table.place("9", "buy", 100, 4)
    (win,) = wins(table, 2, 2)
    # Two to one, and five in a hundred of the bet.
    assert (win["amount"], win["odds"], win["paid"], win["commission"]) == (100, [2, 1], 200, 5)
    assert win.get("up_front", False) is up_front


@pytest.mark.parametrize(
    ("stood", "arrives", "meets"),
    [
        (25, 25, {"stays": 25, "more": 0, "less": 0}),
        (10, 25, {"stays": 10, "more": 15, "less": 0}),
        (25, 10, {"stays": 10, "more": 0, "less": 15}),
    ],
)
@pytest.mark.parametrize(("kind", "result"), [("come", "win"), ("dont_come", "lose")])
def test_a_come_bet_that_meets_another_in_its_box_is_off_and_on(
    kind: str, result: str, stood: int, arrives: int, meets: dict[str, int]
) -> None:
    table = open_table("us-vegas")
    table.place("3", "pass_line", 10)
    table.roll(2, 2)
    table.place("3", kind, stood)
    table.place("5", kind, 40)
    table.roll(5, 1)
    table.place("3", kind, arrives)
    last = shown(table, (4, 2))
    told = {(one["player"], one["result"]): one for one in last["results"]}
    assert told[("3", result)]["off_and_on"] == told[("3", "move")]["off_and_on"] == meets
    # Another player's bet in the same box meets nothing.
    assert "off_and_on" not in told[("5", result)]


def test_a_phase_says_which_bets_it_does_not_take() -> None:
    table = open_table("es-1979")
    odds = ["pass_odds", "dont_pass_odds", "come_odds", "dont_come_odds"]
    assert kinds_not_taken(table) == ["come", "dont_come", *odds]
    table.place("3", "pass_line", 10)
    table.roll(2, 2)
    assert kinds_not_taken(table) == ["pass_line", "dont_pass", *odds[1:]]
    table.place("3", "come", 10)
    table.roll(3, 3)
    assert kinds_not_taken(table) == ["pass_line", "dont_pass", "dont_pass_odds", "dont_come_odds"]
