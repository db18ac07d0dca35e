"""Rule sets ready for play: what each throw does to each bet.

They are compiled from the data of a jurisdiction by `engine_lite.rule_compiler`, which a small heap can let go of once
that is done.
"""

from collections import namedtuple

try:
    from typing import TYPE_CHECKING
except ImportError:  # MicroPython has no typing
    TYPE_CHECKING = False  # type: ignore[misc]
if TYPE_CHECKING:
    from typing import Any

NUMBERS = (4, 5, 6, 8, 9, 10)
CHANGES = ("increase", "reduce", "take_down")

WIN = "win"
LOSE = "lose"
PUSH = "push"
MOVE = "move"
RETURN = "return"
# A throw that a collecting bet looks at; never a result.
COLLECT = "collect"

# What one throw does to one bet: `result`; for a win the ratio `num` to `den`; for a move the number `to`; for a throw
# that is collected its `bit`.
Outcome = namedtuple("Outcome", ("result", "num", "den", "to", "bit"))


class BetRule:
    """The rule of one bet at one number (None where it has none, or has not got it yet).

    `codes` has one entry for each of the 36 throws, at index (first die - 1) * 6 + (second die - 1): 0 when the throw
    leaves the bet where it is, otherwise the place of its Outcome in the rule set's `outcomes`. `rank` is the bet's
    place in the dealing order among kinds.
    """

    # What most bets have in common stands here once and not in each object: a small heap needs that.
    parent: "BetRule | None" = None
    # The share of the table's maximum that may lie here, or of the flat bet that odds may reach.
    max_share: "tuple[int, int]" = (1, 1)
    change: "tuple[str, ...]" = CHANGES
    placed = "any"
    # On and Off buttons: whether they count, and what holds without them on a come-out and on a point.
    switchable = False
    works_on_come_out = True
    works_on_point = True
    stays_up = False
    silent_move = False
    commission: "Commission | None" = None
    # All bits of a collecting bet; the pays of a bet on points by how many were made.
    full = 0
    by_count: "dict[int, Outcome] | None" = None

    def __init__(self, kind: str, number: "int | None", stage: str, name: str) -> None:
        self.kind = kind
        self.number = number
        self.key = (kind, number)
        self.rank = 0
        self.stage = stage
        self.name = name
        self.codes: "bytes | bytearray" = bytearray(36)


class Commission:
    """The vig of a buy or lay bet, as the rule set's data say.

    `num`/`den` of the bet or of the win, rounded down, to the nearest (a half up) or up to the table's unit, and at
    least `minimum` units; taken from the win or `up_front`.
    """

    def __init__(self, num: int, den: int, base: str, rounding: str, minimum: int, up_front: bool) -> None:
        self.num = num
        self.den = den
        self.base = base
        self.rounding = rounding
        self.minimum = minimum
        self.up_front = up_front

    def due(self, amount: int, win: Outcome, unit: int) -> int:
        """The commission, in chip units, on a bet of `amount` that pays as `win` says."""
        num, den = amount * self.num, self.den * unit
        if self.base == "win":
            num, den = num * win.num, den * win.den
        if self.rounding == "up":
            units = -(-num // den)
        elif self.rounding == "nearest":
            units = (2 * num + den) // (2 * den)
        else:
            units = num // den
        return max(units, self.minimum) * unit


class RuleSet:
    """A jurisdiction's bets under chosen options, ready for play. Made by `rule_compiler.compile_rules`."""

    def __init__(self, name: str, title: str, version: int, options: "dict[str, Any]") -> None:
        self.name = name
        self.title = title
        self.version = version
        self.options = options
        self.warnings: "list[str]" = []
        self.exact_amounts = False
        self.shooter_needs = "line"
        self.craps_pass_dice = False
        self.multiple_of_minimum = False
        # How many minima the table's maximum must be at least and may be at most; None where nothing is said.
        self.maximum_in_minima: "tuple[int, int] | None" = None
        self.limits_source = ""
        self.kinds: "list[str]" = []
        # Many throws have the same outcome: one object serves them all. 0 is none.
        self.outcomes: "list[Outcome | None]" = [None]
        self._rules: "dict[tuple[str, int | None], BetRule]" = {}
        # One rule of each kind, and the numbers of each kind, rising.
        self._one: "dict[str, BetRule]" = {}
        self._numbers: "dict[str, list[int]]" = {}

    def add(self, rule: BetRule) -> None:
        """Take in the next bet, in dealing order."""
        if rule.kind not in self._one:
            self.kinds.append(rule.kind)
            self._one[rule.kind] = rule
            self._numbers[rule.kind] = []
        if rule.number is not None:
            self._numbers[rule.kind] = sorted(self._numbers[rule.kind] + [rule.number])
        rule.rank = self.kinds.index(rule.kind)
        self._rules[rule.key] = rule

    def maximum_bounds(self, minimum: int) -> "tuple[int, int] | None":
        """From what to what a table's maximum may be where its minimum is this; None where nothing is said."""
        if self.maximum_in_minima is None:
            return None
        return (self.maximum_in_minima[0] * minimum, self.maximum_in_minima[1] * minimum)

    def rule(self, kind: str, number: "int | None") -> "BetRule | None":
        """The rule of `kind` at `number`, or None when this rule set has no such bet."""
        return self._rules.get((kind, number))

    def numbers(self, kind: str) -> "list[int]":
        """The numbers at which `kind` is offered, rising; empty for a bet without numbers or an unknown kind."""
        return self._numbers.get(kind, [])

    def one(self, kind: str) -> "BetRule | None":
        """A rule of `kind` at whatever number, for what all its numbers have in common; None when it is not offered."""
        return self._one.get(kind)

    def outcome(self, rule: BetRule, first: int, second: int) -> "Outcome | None":
        """What a throw of two dice does to a bet; None: nothing."""
        return self.outcomes[rule.codes[(first - 1) * 6 + second - 1]]

    def collected(self, rule: BetRule, bits: int) -> "list[int]":
        """The totals or points that a collecting bet has so far, rising."""
        found = []
        for index in range(36):
            outcome = self.outcomes[rule.codes[index]]
            total = index // 6 + index % 6 + 2
            if outcome is not None and outcome.result == COLLECT and outcome.bit & bits and total not in found:
                found.append(total)
        return sorted(found)

    def exact_step(self, rule: BetRule) -> int:
        """The smallest amount, in units, that a bet pays exactly whatever wins; amounts must be its multiples."""
        step = 1
        wins = [self.outcomes[code] for code in set(rule.codes)]
        wins.extend((rule.by_count or {}).values())
        for outcome in wins:
            if outcome is not None and outcome.result == WIN:
                step = least_common_multiple(step, outcome.den // greatest_common_divisor(outcome.num, outcome.den))
        return step

    def winning(self, rule: BetRule) -> "Outcome | None":
        """The outcome with which a bet wins (the first, where it pays by the throw); None where it never does."""
        for code in rule.codes:
            outcome = self.outcomes[code]
            if outcome is not None and outcome.result == WIN:
                return outcome
        return None


def least_common_multiple(a: int, b: int) -> int:
    """The smallest whole number that both divide."""
    return a // greatest_common_divisor(a, b) * b


def greatest_common_divisor(a: int, b: int) -> int:
    """The greatest whole number that divides both."""
    while b:
        a, b = b, a % b
    return a
