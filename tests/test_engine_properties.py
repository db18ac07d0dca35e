"""What holds after any sequence of steps, sensible or not, under every rule set."""

import json
from itertools import product
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from engine_lite import rule_sets
from engine_lite.json_text import json_text
from engine_lite.refusal import CODES, Refused
from engine_lite.rule_compiler import compile_rules
from engine_lite.rules import NUMBERS, RuleSet
from engine_lite.steps import apply_step
from engine_lite.table import KINDS, Table

Step = dict[str, Any]
STEADY = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=300,
    stateful_step_count=40,
    suppress_health_check=list(HealthCheck),
)


def chosen(name: str) -> list[RuleSet]:
    """A rule set under each combination of its options."""
    data = rule_sets.load(name)
    names = sorted(data["options"])
    values = [data["options"][option]["values"] for option in names]
    return [compile_rules(data, dict(zip(names, choice, strict=True))) for choice in product(*values)]


def attempt(table: Table, step: Step) -> tuple[str | None, list[dict[str, Any]]]:
    """Do a step; returns the code of a refusal, and the results."""
    try:
        return None, apply_step(table, step)
    except Refused as refusal:
        return refusal.code, []


ALL_RULES = [rules for name in rule_sets.NAMES for rules in chosen(name)]

players = st.sampled_from(["1", "2", "10", "Ana"])
kinds = st.sampled_from([*KINDS, "world", "hop_3_4", "no_such_kind"])
lines = st.sampled_from(["pass_line", "dont_pass", "come", "dont_come"])
odds = st.sampled_from(["pass_odds", "dont_pass_odds", "come_odds", "dont_come_odds"])
numbers = st.sampled_from([None, *NUMBERS, 7])
amounts = st.one_of(st.integers(1, 12).map(lambda tens: tens * 10), st.integers(-1, 130))
dice = st.integers(1, 6)


class TwoTables(RuleBasedStateMachine):
    """One table, and another that is fed the same steps and is now and then replaced by its own restored snapshot."""

    @initialize(rules=st.sampled_from(ALL_RULES), unit=st.sampled_from([1, 1, 5]), minimum=st.sampled_from([1, 5, 10]))
    def open(self, rules: RuleSet, unit: int, minimum: int) -> None:
        self.limits = (unit, minimum, 100)
        self.rule_set = rules
        self.table = Table(rules, *self.limits)
        self.twin = Table(rules, *self.limits)

    def do(self, step: Step) -> list[dict[str, Any]] | None:
        """Do a step on both tables: they agree, and a refusal changes nothing. Returns the results, None if refused."""
        before = json_text(self.table.snapshot())
        code, results = attempt(self.table, step)
        assert attempt(self.twin, step) == (code, results)
        if code is None:
            return results
        assert code in CODES
        assert json_text(self.table.snapshot()) == before
        return None

    @rule(player=players, kind=kinds, amount=amounts, number=numbers)
    def bet(self, player: str, kind: str, amount: int, number: int | None) -> None:
        self.do({"bet": {"player": player, "kind": kind, "amount": amount, "number": number}})

    @rule(player=players, kind=lines, amount=st.sampled_from([10, 20, 100]))
    def bet_on_a_line(self, player: str, kind: str, amount: int) -> None:
        self.do({"bet": {"player": player, "kind": kind, "amount": amount}})

    @rule(player=players, kind=odds, amount=st.sampled_from([10, 20]))
    def bet_odds_on_what_lies(self, player: str, kind: str, amount: int) -> None:
        line = {"pass_odds": "pass_line", "dont_pass_odds": "dont_pass"}.get(kind, kind.removesuffix("_odds"))
        lying = [b["number"] for b in self.table.bets() if b["player"] == player and b["kind"] == line and b["number"]]
        for number in lying[:1]:
            self.do({"bet": {"player": player, "kind": kind, "amount": amount, "number": number}})

    @rule(amount=st.integers(-1, 60), pick=st.integers(0, 30))
    def reduce_what_lies(self, amount: int, pick: int) -> None:
        if lying := self.table.bets():
            bet = lying[pick % len(lying)]
            self.do({"reduce": {**{k: bet[k] for k in ("player", "kind", "number")}, "amount": amount}})

    @rule(pick=st.integers(0, 30))
    def take_down_what_lies(self, pick: int) -> None:
        if lying := self.table.bets():
            bet = lying[pick % len(lying)]
            self.do({"take_down": {k: bet[k] for k in ("player", "kind", "number")}})

    @rule(player=players, kind=kinds, number=numbers)
    def take_down(self, player: str, kind: str, number: int | None) -> None:
        self.do({"take_down": {"player": player, "kind": kind, "number": number}})

    @rule(player=st.none() | players, kind=st.none() | kinds, number=numbers, on=st.booleans())
    def press_button(self, player: str | None, kind: str | None, number: int | None, on: bool) -> None:
        self.do({"working": {"player": player, "kind": kind, "number": number, "on": on}})

    @rule(player=players)
    def give_dice(self, player: str) -> None:
        self.do({"shooter": player})

    @rule(first=dice, second=dice)
    def roll(self, first: int, second: int) -> None:
        house, had = self.table.house, dict(self.table.players)
        lay = {(b["player"], b["kind"], b["number"]): b["amount"] for b in self.table.bets()}
        results = self.do({"roll": [first, second]})
        if results is None:
            return
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
        self.do({"roll": [first, second]})

    @rule(first=dice, second=dice)
    def correct(self, first: int, second: int) -> None:
        self.do({"correct": [first, second]})

    @rule()
    def take_up_a_snapshot(self) -> None:
        text = json.dumps(self.twin.snapshot())
        self.twin = Table(self.rule_set, *self.limits)
        self.twin.restore(json.loads(text))

    @invariant()
    def no_money_is_made_or_lost(self) -> None:
        assert self.table.house + sum(self.table.players.values()) + self.table.layout() == 0

    @invariant()
    def the_two_tables_are_the_same(self) -> None:
        assert json_text(self.table.snapshot()) == json_text(self.twin.snapshot())

    @invariant()
    def every_bet_is_whole_and_odds_lie_on_their_line_bet(self) -> None:
        unit, _, maximum = self.limits
        lying = {(b["player"], b["kind"], b["number"]): b["amount"] for b in self.table.bets()}
        for (player, kind, number), amount in lying.items():
            assert type(amount) is int
            assert amount > 0
            assert amount % unit == 0
            if kind.endswith("_odds"):
                line = {"pass_odds": "pass_line", "dont_pass_odds": "dont_pass"}.get(kind, kind.removesuffix("_odds"))
                assert (player, line, number) in lying
            elif kind in ("pass_line", "dont_pass"):
                assert number == self.table.point
                assert amount <= maximum


TestAnySequenceOfSteps = TwoTables.TestCase
TestAnySequenceOfSteps.settings = STEADY

bets = st.builds(
    lambda player, kind, number, amount: {"bet": {"player": player, "kind": kind, "amount": amount, "number": number}},
    players,
    st.sampled_from(["pass_line", "dont_pass", "place", "place_to_lose", "big", "hardway", "field", "buy", "lay"]),
    st.sampled_from([None, 4, 6, 8]),
    st.sampled_from([5, 10, 12]),
)


@STEADY
@given(
    rules=st.sampled_from(ALL_RULES),
    rounds=st.lists(st.tuples(st.lists(bets, max_size=12), dice, dice), max_size=4),
)
def test_the_order_in_which_different_players_bet_changes_nothing(
    rules: RuleSet, rounds: list[tuple[list[Step], int, int]]
) -> None:
    first, other = Table(rules, 1, 1, 100), Table(rules, 1, 1, 100)
    for steps, one, two in rounds:
        # The second table takes one player after the other, each player's own bets in the order they were made.
        for table, order in ((first, steps), (other, sorted(steps, key=lambda step: str(step["bet"]["player"])))):
            for step in order:
                attempt(table, step)
        assert json_text(first.roll(one, two)) == json_text(other.roll(one, two))
        state, same = first.snapshot(), other.snapshot()
        assert {k: v for k, v in state.items() if k != "since"} == {k: v for k, v in same.items() if k != "since"}


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
