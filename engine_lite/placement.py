"""What may be put on a table, and when: the refusals of a step, each before anything has changed."""

from engine_lite.refusal import Refused
from engine_lite.rules import NUMBERS, BetRule, least_common_multiple

try:
    from typing import TYPE_CHECKING
except ImportError:  # MicroPython has no typing
    TYPE_CHECKING = False  # type: ignore[misc]
if TYPE_CHECKING:
    from engine_lite.table import Table

# Every kind of SCENARIOS.md: one that a rule set lacks is "not offered", any other name is "unknown".
KINDS = (
    "pass_line",
    "dont_pass",
    "come",
    "dont_come",
    "pass_odds",
    "dont_pass_odds",
    "come_odds",
    "dont_come_odds",
    "place",
    "place_to_lose",
    "buy",
    "lay",
    "field",
    "big",
    "hardway",
    "any_seven",
    "any_craps",
    "two",
    "three",
    "eleven",
    "twelve",
    "horn",
    "c_and_e",
    "under_seven",
    "over_seven",
)


def _name(table: "Table", kind: str) -> str:
    """The regulation's name of an offered kind."""
    rule = table.rules.one(kind)
    return rule.name if rule is not None else kind


def check_offered(table: "Table", kind: str) -> None:
    """Whether the rule set has a kind. Raises Refused: not_offered or unknown_kind."""
    if table.rules.one(kind) is not None:
        return
    if kind in KINDS:
        raise Refused("not_offered", table.rules.name + " has no such bet: " + kind)
    raise Refused("unknown_kind", "there is no bet called " + str(kind))


def offered(table: "Table", kind: str, number: "int | None") -> BetRule:
    """The rule of a kind and number as someone named them. Raises Refused: also unknown_number."""
    rules = table.rules
    check_offered(table, kind)
    whole = number is None or type(number) is int
    rule = rules.rule(kind, number) if whole else None
    if rule is None:
        numbers = rules.numbers(kind)
        if whole and number in NUMBERS and numbers:
            raise Refused("not_offered", rules.name + " has no such bet: " + kind + " " + str(number))
        if not numbers:
            raise Refused("unknown_number", _name(table, kind) + " takes no number")
        raise Refused("unknown_number", _name(table, kind) + " needs a number: " + ", ".join([str(n) for n in numbers]))
    return rule


def named(table: "Table", player: str, kind: str, number: "int | None") -> BetRule:
    """Like `offered`; where the number may be left out (pass line and its odds), it is filled in."""
    one = table.rules.one(kind) if number is None else None
    if one is not None:
        line = one.parent or one
        if line.silent_move:
            if one.parent is not None and table.point is None:
                _check_parent(table, player, kind, line.kind, None)
                raise Refused("not_now", "odds need a point")
            number = table.point
    return offered(table, kind, number)


def check_placeable(table: "Table", player: str, rule: BetRule) -> None:
    """Whether a bet may be put down or added to now, or Refused."""
    if rule.stage == "odds":
        assert rule.parent is not None
        _check_parent(table, player, rule.kind, rule.parent.kind, rule.number)
    standing = table.standing(player, rule.key)
    if standing is not None and ("increase" not in rule.change or standing[4]):
        raise Refused("contract", rule.name + " may not be increased now")
    if rule.stage != "odds" and (standing is None or rule.stage != "line"):
        _check_placed_now(table, rule)


def _check_placed_now(table: "Table", rule: BetRule) -> None:
    placed = table.known_rule(rule.kind, None).placed if rule.stage == "line" else rule.placed
    if placed == "come_out" and table.point is not None:
        raise Refused("not_now", rule.name + " is taken on a come-out only")
    if placed == "point" and table.point is None:
        raise Refused("not_now", rule.name + " is taken only once a point is established")
    if placed == "new_shooter" and not table.new_hand:
        raise Refused("not_now", rule.name + " is taken before a shooter's first roll only")
    if rule.stage == "line" and rule.number is not None:
        raise Refused("not_now", rule.name + " goes to its number by a roll only")


def _check_parent(table: "Table", player: str, kind: str, parent_kind: str, number: "int | None") -> None:
    if table.standing(player, (parent_kind, number)) is None:
        raise Refused(
            "needs_parent",
            _name(table, kind) + " needs a bet on " + _name(table, parent_kind) + " that has this number",
        )


def step_of(table: "Table", rule: BetRule) -> int:
    """What the amounts of a bet must be multiples of, all in all."""
    step = table.unit
    if table.rules.multiple_of_minimum:
        step = least_common_multiple(step, table.minimum)
    if table.rules.exact_amounts:
        step = least_common_multiple(step, table.rules.exact_step(rule) * table.unit)
    return step


def check_multiple(table: "Table", rule: BetRule, amount: int) -> None:
    """Whether an amount is one that this table takes. Raises Refused: not_multiple."""
    for step in (table.unit, table.minimum) if table.rules.multiple_of_minimum else (table.unit,):
        if amount % step:
            raise Refused("not_multiple", rule.name + " must be a multiple of " + str(step))
    if table.rules.exact_amounts:
        step = table.rules.exact_step(rule) * table.unit
        if amount % step:
            raise Refused("not_multiple", rule.name + " is paid exactly only in multiples of " + str(step))


def check_maximum(table: "Table", player: str, rule: BetRule, total: int) -> None:
    """Whether so much may lie on a bet, `total` in all. Raises Refused: above_max."""
    if rule.stage == "odds":
        assert rule.parent is not None
        flat = table.standing(player, rule.parent.key)
        assert flat is not None
        check_share(table, rule, total, flat[1])
    else:
        check_share(table, rule, total, table.maximum)


def check_share(table: "Table", rule: BetRule, total: int, whole: int) -> None:
    """Whether `total` is within the bet's share of `whole`, the table's maximum or the flat bet. Raises Refused."""
    num, den = rule.max_share
    if total * den > whole * num:
        raise Refused("above_max", "the maximum here is " + str(most_of(table, rule, whole)))


def most_of(table: "Table", rule: BetRule, whole: int) -> int:
    """The highest amount that the bet's share of `whole` allows and the table takes."""
    num, den = rule.max_share
    most = whole * num // den
    return most - most % step_of(table, rule)


def check_shooter(table: "Table", shooter: str) -> None:
    """A come-out roll needs the bet that the regulation asks of the shooter."""
    for bet in table.bets_of(shooter):
        if table.rules.shooter_needs == "any" or bet[0].silent_move:
            return
    wanted = "a bet"
    if table.rules.shooter_needs == "line":
        lines = [table.rules.one(kind) for kind in table.rules.kinds]
        wanted = " or ".join(
            [rule.name for rule in lines if rule is not None and rule.stage == "line" and rule.silent_move]
        )
    raise Refused("no_shooter_bet", "the shooter, " + shooter + ", needs " + wanted + " before a come-out roll")
