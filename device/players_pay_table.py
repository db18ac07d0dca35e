"""The pay table on the players' display: what each bet pays under the rules in force, as plain values for the page."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from device.languages.said import bet_name
from device.throw_results import labels, wins
from engine_lite.rule_compiler import compile_rules
from engine_lite.rules import COLLECT, NUMBERS, BetRule, RuleSet

# The parts of the table by the stages of their bets; the page has words for their names.
GROUPS = {
    "line": ("line",),
    "odds": ("odds",),
    "multi_roll": ("multi_roll",),
    "one_roll": ("one_roll",),
    "hand": ("collect", "points"),
}
# What is paid: the labels of what it is paid on, and num to den.
Line = tuple[list[str], tuple[int, int]]


def players_pay_table(rule_set: Mapping[str, Any], options: Mapping[str, Any], language: str) -> list[dict[str, Any]]:
    """The groups that the rule set has: `group`, and its `bets`, each with its name in a language and its lines.

    A line has `on` (numbers, totals or dice; empty: whenever it wins), `points` (how many were made; only of bets on
    points) and `pays` ([num, den]). `commission` is [num, den] of the bet or the win, null where there is none.
    """
    rules = compile_rules(dict(rule_set), dict(options))
    groups = []
    for group, stages in GROUPS.items():
        bets = [
            _bet(rules, kind, rule_set["bets"][kind], language)
            for kind in rule_set["order"]
            if rule_set["bets"][kind]["stage"] in stages
        ]
        if bets:
            groups.append({"group": group, "bets": bets})
    return groups


def _bet(rules: RuleSet, kind: str, data: Mapping[str, Any], language: str) -> dict[str, Any]:
    lines: list[Line]
    if "each" in data:
        # One entry of the data that is a bet of its own on each of its results.
        lines = [
            ([result], pays)
            for result in sorted(data["each"])
            for _, pays in wins(rules, _one(rules, f"{kind}_{result.replace('-', '_')}"))
        ]
        rule = None
    else:
        rule = _one(rules, kind)
        lines = _lines(rules, rule)
    commission = rule.commission if rule is not None else None
    view: dict[str, Any] = {
        "kind": kind,
        "name": bet_name(data["name"], rules.name, language),
        "lines": [{"on": on, "pays": list(pays)} for on, pays in _alike(lines)],
        "commission": None if commission is None else [commission.num, commission.den],
    }
    if rule is not None and rule.stage == "points":
        assert rule.by_count is not None
        view["lines"] = [
            {"on": [], "points": count, "pays": [win.num, win.den]} for count, win in sorted(rule.by_count.items())
        ]
    return view


def _lines(rules: RuleSet, rule: BetRule) -> list[Line]:
    if rule.stage == "line":
        there = rules.rule(rule.kind, NUMBERS[0])
        assert there is not None
        pays = {Fraction(*paid): paid for of in (rule, there) for _, paid in wins(rules, of)}
        # Nearly always all alike; where they are not, the first roll's totals say which is which.
        return [([], paid) for paid in pays.values()] if len(pays) == 1 else wins(rules, rule)
    if rule.stage == "collect":
        assert rule.by_count is not None
        win = rule.by_count[0]
        return [(labels(rules, rule, COLLECT), (win.num, win.den))]
    if rule.number is None:
        return wins(rules, rule)
    found: list[Line] = []
    for number in rules.numbers(rule.kind):
        at = rules.rule(rule.kind, number)
        assert at is not None
        found += [([str(number)], paid) for _, paid in wins(rules, at)]
    return found


def _alike(lines: list[Line]) -> list[Line]:
    """Lines that pay the same as one."""
    by_pay: dict[Fraction, Line] = {}
    for on, pays in lines:
        by_pay.setdefault(Fraction(*pays), ([], pays))[0].extend(on)
    return list(by_pay.values())


def _one(rules: RuleSet, kind: str) -> BetRule:
    rule = rules.one(kind)
    assert rule is not None
    return rule
