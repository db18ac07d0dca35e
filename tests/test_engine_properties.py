"""What holds after any sequence of steps, sensible or not, under every rule set and option.

`make test` tries a few hundred sequences, always the same; `make test-long` sets BOXMAN_TEST_LONG and tries at least
20,000, new ones every time.
"""

import json
import os
from itertools import product
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from engine_lite import rule_sets
from engine_lite.placement import KINDS
from engine_lite.refusal import CODES, Refused
from engine_lite.rule_compiler import compile_rules
from engine_lite.rules import NUMBERS, RuleSet
from engine_lite.steps import apply_step
from engine_lite.table import Table

Step = dict[str, Any]
LONG = "BOXMAN_TEST_LONG" in os.environ
STEADY = settings(
    print_blob=True,
    max_examples=20_000 if LONG else 300,
    stateful_step_count=40,
    suppress_health_check=list(HealthCheck),
)

# Bets of the stages that no jurisdiction at hand uses, and a commission unlike theirs: added to Las Vegas.
MORE_BETS: dict[str, dict[str, Any]] = {
    "small": {"stage": "collect", "collect": ["2", "3", "4", "5", "6"], "pays": [34, 1], "placed": "new_shooter"},
    "tall": {"stage": "collect", "collect": ["8", "9", "10", "11", "12"], "pays": [34, 1], "placed": "come_out"},
    # Two combinations only, so that some are won within a few rolls.
    "twins": {"stage": "collect", "collect": ["3-3", "5"], "pays": [7, 2], "placed": "any"},
    "fire": {
        "stage": "points",
        "pays": {"1": [1, 2], "2": [5, 1], "3": [10, 3], "4": [24, 1], "5": [249, 1], "6": [999, 1]},
        "placed": "new_shooter",
    },
    "hard_six_first": {"stage": "multi_roll", "win": {"3-3": [5, 3]}, "lose": ["6", "5-6"]},
}
LINES = ["pass_line", "dont_pass", "come", "dont_come"]
LONG_HELD = ["small", "tall", "twins", "fire", "hard_six_first"]


def las_vegas_and_more() -> dict[str, Any]:
    data = rule_sets.load("us-vegas")
    for kind, bet in MORE_BETS.items():
        lose = {"lose": ["7"]} if bet["stage"] == "collect" else {}
        data["bets"][kind] = {**bet, **lose, "name": kind, "source": "house"}
        data["order"].append(kind)
    data["working"]["twins"] = {"come_out": False, "point": True, "source": "house"}
    data["bets"]["buy"]["commission"].update(rounding="nearest", minimum=2, base="win")
    data["bets"]["lay"]["commission"].update(rounding="up", rate=[7, 100])
    data["bets"]["place"]["commission"] = dict(data["bets"]["buy"]["commission"], rate=[1, 40])
    return data


def chosen(data: dict[str, Any]) -> list[RuleSet]:
    """A rule set under each combination of its options."""
    names = sorted(data["options"])
    values = [data["options"][option]["values"] for option in names]
    return [compile_rules(data, dict(zip(names, choice, strict=True))) for choice in product(*values)]


def attempt(table: Table, step: Step) -> tuple[str | None, list[dict[str, Any]]]:
    """Do a step; returns the code of a refusal, and the results."""
    try:
        return None, apply_step(table, step)
    except Refused as refusal:
        return refusal.code, []


def text_of(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def state_of(table: Table, *apart: str) -> str:
    """All that a table knows, as text; `apart` from these."""
    return text_of({key: value for key, value in table.snapshot().items() if key not in apart})


RULES = [*(chosen(rule_sets.load(name)) for name in rule_sets.NAMES), chosen(las_vegas_and_more())]
ALL_RULES = [rules for group in RULES for rules in group]

any_rules = st.sampled_from(RULES).flatmap(st.sampled_from)
players = st.sampled_from(["1", "2", "10", "Ana"])
kinds = st.sampled_from([*KINDS, *LONG_HELD, "world", "hop_3_4", "no_such_kind"])
lines = st.sampled_from(LINES)
numbers = st.sampled_from([None, *NUMBERS, 7])
amounts = st.one_of(st.integers(1, 12).map(lambda tens: tens * 10), st.integers(-1, 130))
dice = st.integers(1, 6)


def line_of(kind: str) -> str:
    """The line bet that odds belong to; of any other bet its own kind."""
    return {"pass_odds": "pass_line", "dont_pass_odds": "dont_pass"}.get(kind, kind.removesuffix("_odds"))


class ThreeTables(RuleBasedStateMachine):
    """One table; a twin that is fed the same steps and is now and then replaced by its own restored snapshot; and one
    on which the players act in another order between two rolls, each player's own steps in the order they were done.
    """

    @initialize(rules=any_rules, unit=st.sampled_from([1, 1, 5]), minimum=st.sampled_from([1, 5, 10]))
    def open(self, rules: RuleSet, unit: int, minimum: int) -> None:
        self.limits = (unit, minimum, 100)
        self.rule_set = rules
        self.offered: list[tuple[str, int | None]] = []
        for kind, number in product(rules.kinds, (None, *NUMBERS)):
            bet = rules.rule(kind, number)
            if bet is not None and bet.stage != "odds" and (bet.stage != "line" or number is None):
                # Bets that stay for more than one roll would seldom be met among all the hop bets.
                self.offered += [(kind, number)] * (1 if bet.stage == "one_roll" else 4)
        self.table = self.fresh()
        self.twin = self.fresh()
        self.other_order = self.fresh()
        self.waiting: list[tuple[str, Step]] = []
        self.before_roll: str | None = None

    def fresh(self) -> Table:
        return Table(self.rule_set, *self.limits)

    def do(self, step: Step, player: str | None = None) -> list[dict[str, Any]] | None:
        """Do a step (`player`: whose it is, None for all) on the tables: they agree, and a refusal changes nothing.

        Returns the results, None if refused.
        """
        before, had = state_of(self.table), self.owned(player)
        code, results = attempt(self.table, step)
        # Between rolls a player's chips only move from the rack to the layout and back, commission held with them.
        assert self.owned(player) == had
        assert text_of(attempt(self.twin, step)) == text_of((code, results))
        if player is not None:
            self.waiting.append((player, step))
        else:
            for _, earlier in sorted(self.waiting, key=lambda item: item[0], reverse=True):
                attempt(self.other_order, earlier)
            self.waiting = []
            assert text_of(attempt(self.other_order, step)) == text_of((code, results))
            # The steps since the last roll stand in the order in which they were done.
            assert state_of(self.other_order, "since") == state_of(self.table, "since")
        if code is None:
            return results
        assert code in CODES
        assert state_of(self.table) == before
        return None

    def owned(self, player: str | None) -> int:
        """What a player is up, with the chips on the layout and the commission that comes back with them."""
        if player is None:
            return 0
        lying = [bet["amount"] + bet["commission"] for bet in self.table.bets() if bet["player"] == player]
        return self.table.players.get(player, 0) + int(sum(lying))

    def bet_of(self, player: str, kind: str, amount: int, number: int | None = None) -> None:
        self.do({"bet": {"player": player, "kind": kind, "amount": amount, "number": number}}, player)

    @rule(player=players, kind=kinds, amount=amounts, number=numbers)
    def bet(self, player: str, kind: str, amount: int, number: int | None) -> None:
        self.bet_of(player, kind, amount, number)

    @rule(player=players, kind=lines, amount=st.sampled_from([10, 20, 100]))
    def bet_on_a_line(self, player: str, kind: str, amount: int) -> None:
        self.bet_of(player, kind, amount)

    @rule(player=players, pick=st.integers(0, 999), amount=st.sampled_from([10, 15, 30]))
    def bet_on_what_is_offered(self, player: str, pick: int, amount: int) -> None:
        kind, number = self.offered[pick % len(self.offered)]
        self.bet_of(player, kind, amount, number)

    @rule(picks=st.lists(st.tuples(players, st.integers(0, 999)), min_size=4, max_size=12))
    def bets_on_what_is_offered(self, picks: list[tuple[str, int]]) -> None:
        for player, pick in picks:
            self.bet_on_what_is_offered(player, pick, 10)

    @rule(player=players)
    def bet_on_what_is_held_long(self, player: str) -> None:
        for kind in LONG_HELD:
            self.bet_of(player, kind, 10)

    @rule(amount=st.sampled_from([10, 20, 60]))
    def bet_odds_on_what_lies(self, amount: int) -> None:
        for bet in self.table.bets():
            if bet["kind"] in LINES and bet["number"]:
                odds = "pass_odds" if bet["kind"] == "pass_line" else bet["kind"] + "_odds"
                self.bet_of(bet["player"], odds, amount, bet["number"])

    @rule(amount=st.sampled_from([5, 10]) | st.integers(-1, 60), pick=st.integers(0, 30))
    def reduce_what_lies(self, amount: int, pick: int) -> None:
        if lying := self.table.bets():
            bet = lying[pick % len(lying)]
            self.do({"reduce": {**{k: bet[k] for k in ("player", "kind", "number")}, "amount": amount}}, bet["player"])

    @rule(pick=st.integers(0, 30))
    def take_down_what_lies(self, pick: int) -> None:
        if lying := self.table.bets():
            bet = lying[pick % len(lying)]
            self.do({"take_down": {k: bet[k] for k in ("player", "kind", "number")}}, bet["player"])

    @rule(player=players, kind=kinds, number=numbers)
    def take_down(self, player: str, kind: str, number: int | None) -> None:
        self.do({"take_down": {"player": player, "kind": kind, "number": number}}, player)

    @rule(player=st.none() | players, kind=st.none() | kinds, number=numbers, on=st.booleans())
    def press_button(self, player: str | None, kind: str | None, number: int | None, on: bool) -> None:
        self.do({"working": {"player": player, "kind": kind, "number": number, "on": on}}, player)

    @rule(player=players, bets=st.sampled_from([False, True, True]))
    def give_dice(self, player: str, bets: bool) -> None:
        self.do({"shooter": player})
        if bets:
            self.bet_of(player, "pass_line", 10)

    @rule(first=dice, second=dice)
    def roll(self, first: int, second: int) -> None:
        house, had = self.table.house, dict(self.table.players)
        lay = {(b["player"], b["kind"], b["number"]): b["amount"] for b in self.table.bets()}
        before = state_of(self.table)
        results = self.do({"roll": [first, second]})
        if results is None:
            return
        self.before_roll = before
        # The money that moved is the money that the results tell of.
        for name in set(had) | set(self.table.players):
            told = sum(
                r.get("paid", 0) + r.get("returned", 0) - r.get("commission", 0) for r in results if r["player"] == name
            )
            assert self.table.players.get(name, 0) - had.get(name, 0) == told
        for result in results:
            stake = lay[(result["player"], result["kind"], result.get("number"))]
            assert result.get("returned", 0) in (0, stake)
            assert result["result"] != "lose" or set(result) <= {"player", "kind", "number", "result"}
        assert len({(r["player"], r["kind"], r.get("number")) for r in results}) == len(results)
        lost = sum(lay[(r["player"], r["kind"], r.get("number"))] for r in results if r["result"] == "lose")
        paid = sum(r.get("paid", 0) - r.get("commission", 0) for r in results)
        assert self.table.house - house == lost - paid

    @rule(first=dice, second=dice)
    def roll_again(self, first: int, second: int) -> None:
        self.roll(first, second)

    @rule(first=dice, second=dice)
    def correct(self, first: int, second: int) -> None:
        wrong = self.table.snapshot()
        results = self.do({"correct": [first, second]})
        if results is None:
            assert self.before_roll is None or self.table.shooter is not None
            return
        assert self.before_roll is not None
        right = self.fresh()
        right.restore(json.loads(self.before_roll))
        rolled = right.roll(first, second)
        assert results[: len(rolled)] == rolled
        handed = results[len(rolled) :]
        assert {said["result"] for said in handed} <= {"return"}
        # Where both rolls send the line bets the same way, what was done since means the same on both tables; where
        # they do not, it means so unless a line bet or its odds were touched.
        same_lines = (wrong["moved"], wrong["point"]) == (right.snapshot()["moved"], right.point)
        if same_lines or not any(_touches_a_line(step) for step in wrong["since"]):
            codes = [attempt(right, _as_step(step))[0] for step in wrong["since"]]
            assert state_of(self.table, "not_redone") == state_of(right, "not_redone")
            if not any(codes):
                assert handed == []
                assert self.table.not_redone == []

    @rule()
    def take_up_a_snapshot(self) -> None:
        text = json.dumps(self.twin.snapshot())
        self.twin = self.fresh()
        self.twin.restore(json.loads(text))

    @invariant()
    def no_money_is_made_or_lost(self) -> None:
        assert self.table.house + sum(self.table.players.values()) + self.table.layout() == 0

    @invariant()
    def the_two_tables_are_the_same(self) -> None:
        assert state_of(self.table) == state_of(self.twin)

    @invariant()
    def every_bet_is_whole_and_odds_lie_on_their_line_bet(self) -> None:
        unit, _, maximum = self.limits
        lying = {(b["player"], b["kind"], b["number"]): b["amount"] for b in self.table.bets()}
        for (player, kind, number), amount in lying.items():
            assert type(amount) is int
            assert amount > 0
            assert amount % unit == 0
            if kind.endswith("_odds"):
                bet = self.rule_set.rule(kind, number)
                assert bet is not None
                assert amount * bet.max_share[1] <= lying[(player, line_of(kind), number)] * bet.max_share[0]
            elif kind in ("pass_line", "dont_pass"):
                assert number == self.table.point
                assert amount <= maximum


def _touches_a_line(step: list[Any]) -> bool:
    return step[0] in ("bet", "reduce", "take_down") and line_of(step[2]) in LINES


def _as_step(step: list[Any]) -> Step:
    """A step since the last roll, as a snapshot lists it, in the shape in which it is done."""
    name = step[0]
    if name == "shooter":
        return {"shooter": step[1]}
    if name == "working":
        return {"working": {"on": step[1], "player": step[2], "kind": step[3], "number": step[4]}}
    named = {"player": step[1], "kind": step[2], "number": step[4]}
    return {name: named if name == "take_down" else {**named, "amount": step[3]}}


TestAnySequenceOfSteps = ThreeTables.TestCase
TestAnySequenceOfSteps.settings = STEADY


@STEADY
@given(
    rules=st.sampled_from([rules for rules in ALL_RULES if not rules.exact_amounts]),
    amount=st.integers(1, 10**12),
    unit=st.sampled_from([1, 5, 25]),
    throw=st.tuples(dice, dice),
)
def test_what_is_paid_and_what_is_left_over_make_up_the_exact_pay(
    rules: RuleSet, amount: int, unit: int, throw: tuple[int, int]
) -> None:
    table = Table(rules, unit, 1, 10**15)
    table.roll(4, 5)
    pays: dict[tuple[str, int | None], tuple[int, int]] = {}
    for kind in rules.kinds:
        for number in (*rules.numbers(kind), None):
            bet = rules.rule(kind, number)
            if bet is None or bet.stage not in ("one_roll", "multi_roll"):
                continue
            table.place("A", kind, amount * unit, number)
            outcome = rules.outcome(bet, *throw)
            if outcome is not None and outcome.result == "win":
                pays[(kind, number)] = (outcome.num, outcome.den)
    won = [result for result in table.roll(*throw) if result["result"] == "win"]
    assert len(won) == len(pays)
    for result in won:
        num, den = pays[(result["kind"], result.get("number"))]
        paid, (over, of) = result.get("paid", 0), result.get("remainder", [0, 1])
        assert paid % unit == 0
        assert 0 <= over < unit * of
        assert (paid * of + over) * den == amount * unit * num * of
