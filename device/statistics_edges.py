"""What chance does to a layout in one roll: the exact worth of each bet, and how far a roll may throw the house off it.

The worth of a bet is what it is expected to cost its player from now to its decision: its exact house edge
(engine_lite.house_edge) for each chip that lies there, a commission that is taken beforehand counted as well. A roll
changes what the house has won and what the layout is worth; taken together, the change is zero on average, whatever
the players do. So what was won differs from what the edges say by a sum of such changes, and the sum of their
variances is the variance of that difference. Bets on one roll win and lose together, so the variance is of the whole
layout and not of each bet by itself.

Bets that collect (engine_lite.rules.COLLECT) have no such variance here: their worth changes with what they have.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from engine_lite.house_edge import THROWS, house_edge
from engine_lite.rules import LOSE, MOVE, WIN, BetRule, Outcome, RuleSet

# Layouts stay as they are for some rolls; so many of them are remembered.
_LAYOUTS_MAX = 512

BetKey = tuple[str, int | None]


class Odds:
    """The worth and the chances of every bet of one rule set."""

    def __init__(self, rules: RuleSet) -> None:
        self.rules = rules
        self._worth: dict[BetKey, Fraction] = {}
        self._changes: dict[BetKey, list[float]] = {}
        self._variances: dict[tuple[tuple[BetKey, int], ...], tuple[dict[str, float], float]] = {}

    def rule(self, key: BetKey) -> BetRule:
        """The rule of a bet that is known to be offered."""
        rule = self.rules.rule(*key)
        assert rule is not None
        return rule

    def worth(self, key: BetKey) -> Fraction:
        """What one chip on a bet is expected to cost its player until it is decided. Raises NeverDecided."""
        if key not in self._worth:
            rule = self.rule(key)
            per_bet = house_edge(self.rules, rule).per_bet
            # The edge is of all that was put down, the commission beside the bet included.
            self._worth[key] = Fraction(*per_bet) * (1 + beside(self.rules, rule))
        return self._worth[key]

    def variances(self, layout: Mapping[BetKey, int]) -> tuple[dict[str, float], float]:
        """Of one roll on chips that work, by bet: the variance of what it does, by kind of bet and of all together.

        In chip units squared. Bets that collect are left out.
        """
        key = tuple(sorted(layout.items(), key=lambda item: (item[0][0], item[0][1] or 0)))
        if key not in self._variances:
            if len(self._variances) >= _LAYOUTS_MAX:
                self._variances.clear()
            self._variances[key] = self._computed(layout)
        return self._variances[key]

    def _computed(self, layout: Mapping[BetKey, int]) -> tuple[dict[str, float], float]:
        by_kind: dict[str, list[float]] = {}
        whole = [0.0] * THROWS
        for key, amount in layout.items():
            if self.rule(key).full:
                continue
            of_kind = by_kind.setdefault(key[0], [0.0] * THROWS)
            for index, change in enumerate(self.changes(key)):
                of_kind[index] += amount * change
                whole[index] += amount * change
        return {kind: _variance(changes) for kind, changes in by_kind.items()}, _variance(whole)

    def changes(self, key: BetKey) -> list[float]:
        """By throw, what one chip on a bet that works makes the house win, with what it is worth afterwards."""
        if key not in self._changes:
            rule, worth = self.rule(key), self.worth(key)
            self._changes[key] = [float(self._change(rule, worth, self.rules.outcomes[code])) for code in rule.codes]
        return self._changes[key]

    def _change(self, rule: BetRule, worth: Fraction, outcome: Outcome | None) -> Fraction:
        if outcome is None:
            return worth
        if outcome.result == MOVE:
            return self.worth((rule.kind, outcome.to))
        return exact_win(self.rules, rule, outcome)


def exact_win(rules: RuleSet, rule: BetRule, outcome: Outcome) -> Fraction:
    """What the house wins of one chip that this outcome decides, with the commission, and without any rounding."""
    if outcome.result == WIN:
        paid = Fraction(outcome.num, outcome.den)
        won = beside(rules, rule) - paid
        if rule.commission is not None and not rule.commission.up_front:
            rate = Fraction(rule.commission.num, rule.commission.den)
            won += rate * paid if rule.commission.base == "win" else rate
        return won
    return 1 + beside(rules, rule) if outcome.result == LOSE else Fraction(0)


def beside(rules: RuleSet, rule: BetRule) -> Fraction:
    """The commission that is put down beside each chip, exactly; 0 where none is taken beforehand."""
    commission = rule.commission
    if commission is None or not commission.up_front:
        return Fraction(0)
    rate = Fraction(commission.num, commission.den)
    if commission.base != "win":
        return rate
    win = rules.winning(rule)
    assert win is not None
    return rate * Fraction(win.num, win.den)


def layout_of(bets: Iterable[Mapping[str, Any]]) -> dict[BetKey, int]:
    """The chips that work, by bet, of the bets on a layout (engine_lite.table.Table.bets)."""
    layout: dict[BetKey, int] = {}
    for bet in bets:
        if bet["works"]:
            key = (bet["kind"], bet["number"])
            layout[key] = layout.get(key, 0) + bet["amount"]
    return layout


def _variance(values: list[float]) -> float:
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values) / len(values)
