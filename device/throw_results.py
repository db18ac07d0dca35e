"""What throws do to a bet, as a pay table says it: by totals, or by dice where those of one total do not do the same.

Read from the compiled rules, so that a pay table says what is settled.
"""

from fractions import Fraction

from engine_lite.rules import LOSE, WIN, BetRule, RuleSet


def wins(rules: RuleSet, rule: BetRule) -> list[tuple[list[str], tuple[int, int]]]:
    """What a bet wins on ("7", "3-3", "any other 8"), with what that pays (num to den), the least pay first."""
    by_pay: dict[Fraction, tuple[list[str], tuple[int, int]]] = {}
    for label, code in _results(rules, rule):
        outcome = rules.outcomes[code]
        if outcome is not None and outcome.result == WIN:
            ratio = Fraction(outcome.num, outcome.den)
            by_pay.setdefault(ratio, ([], (outcome.num, outcome.den)))[0].append(label)
    return [by_pay[ratio] for ratio in sorted(by_pay)]


def labels(rules: RuleSet, rule: BetRule, result: str) -> list[str]:
    """What leads to a result of a bet (engine_lite.rules.WIN and its like)."""
    found = []
    for label, code in _results(rules, rule):
        outcome = rules.outcomes[code]
        if outcome is not None and outcome.result == result:
            found.append(label)
    return found


def _results(rules: RuleSet, rule: BetRule) -> list[tuple[str, int]]:
    """Totals, or combinations where a total is not of one piece, each with its outcome's code."""
    found = []
    for total in range(2, 13):
        pairs = [(low, total - low) for low in range(max(1, total - 6), total // 2 + 1)]
        codes = [rule.codes[(low - 1) * 6 + high - 1] for low, high in pairs]
        if len(set(codes)) == 1:
            found.append((str(total), codes[0]))
            continue
        rest = [code for code in codes if _result(rules, code) == LOSE]
        others = [code for code in codes if _result(rules, code) == WIN]
        for (low, high), code in zip(pairs, codes, strict=True):
            if code not in rest or len(rest) + len(others) < len(codes):
                found.append((f"{low}-{high}", code))
        if rest and len(rest) + len(others) == len(codes):
            found.append((f"any other {total}", rest[0]))
    return found


def _result(rules: RuleSet, code: int) -> str | None:
    outcome = rules.outcomes[code]
    return None if outcome is None else outcome.result
