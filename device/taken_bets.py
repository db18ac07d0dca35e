"""Which bets are taken in the phase that the game is in, as the rule set says."""

from engine_lite.rules import BetRule
from engine_lite.table import Table


def kinds_not_taken(table: Table) -> list[str]:
    """The kinds that nobody may put down now, in the rule set's order.

    Whose turn it is, not how much: amounts and a player's own bets are looked at when a bet is put down.
    """
    numbered = {bet["kind"] for bet in table.bets() if bet["number"] is not None}
    rules = [rule for kind in table.rules.kinds if (rule := table.rules.one(kind)) is not None]
    return [rule.kind for rule in rules if not _is_taken(table, rule, numbered)]


def _is_taken(table: Table, rule: BetRule, numbered: set[str]) -> bool:
    """`numbered` are the kinds of which a bet stands on a number: odds need one."""
    if rule.stage == "odds":
        return rule.parent is not None and rule.parent.kind in numbered
    placed = table.known_rule(rule.kind, None).placed if rule.stage == "line" else rule.placed
    if placed == "new_shooter":
        return table.new_hand
    return placed == "any" or (placed == "come_out") == (table.point is None)
