"""Bets that are put down without being spelt out: pressing, repeating, and what another program proposes.

Each is decided by the session in its turn and journaled as the `bet` events that it comes to, all in one commit; the
core checks every bet as one that was entered by hand.
"""

from collections.abc import Iterator, Sequence
from math import lcm
from typing import Any, Final

from device.origin import Origin
from device.session import Entry, Session
from engine_lite import placement
from engine_lite.refusal import Refused
from engine_lite.rules import LOSE, RETURN, WIN, BetRule
from engine_lite.steps import apply_step
from engine_lite.table import Table

BY_UNIT: Final = "unit"
BY_DOUBLE: Final = "double"
PRESSES: Final = (BY_UNIT, BY_DOUBLE)
"""How a bet is pressed: by one unit of its own, or by as much as stands."""

_DECIDES: Final = (WIN, LOSE, RETURN)


def quick_bets(session: Session, player: str) -> dict[str, Any]:
    """What the console offers for a player at a touch: the bets to repeat, those that are not allowed now with the
    reason, what one unit of each standing bet is, and the limits of what may be put down where they are not the
    table's: of odds, and of what stands already. A maximum below the minimum: nothing more may be put there.
    """
    table = session.table
    if table is None:
        return {"repeat": [], "not_allowed": [], "units": [], "limits": []}
    allowed, refused = _repeatable(session, table, player)
    units = [
        {"kind": rule.kind, "number": rule.number, "unit": _unit(table, rule)}
        for rule in (bet[0] for bet in table.bets_of(player))
    ]
    limits = list(_limits(table, player))
    return {"repeat": allowed, "not_allowed": refused, "units": units, "limits": limits}


def press(session: Session, player: str, kind: str, number: int | None, by: str, origin: Origin) -> list[Entry]:
    """Raise a bet that stands by one of PRESSES. Raises Refused: also no_such_bet, where it stands no more."""
    table = _open_table(session)
    rule = placement.named(table, player, kind, number)
    standing = table.standing(player, rule.key)
    if standing is None:
        raise Refused("no_such_bet", "there is no such bet on the layout")
    amount = standing[1] if by == BY_DOUBLE else _unit(table, rule)
    asked = {"press": {"player": player, "kind": kind, "number": number, "by": by}}
    return _put(session, [_bet(player, kind, rule.number, amount)], asked, origin)


def repeat(session: Session, player: str, origin: Origin) -> list[Entry]:
    """Put a player's bets of before the last decision down again, as far as they are allowed now.

    What stands already is left as it is. Raises Refused where nothing is left to be put down.
    """
    allowed, refused = _repeatable(session, _open_table(session), player)
    if not allowed and refused:
        raise Refused(refused[0]["refused"], refused[0]["message"])
    if not allowed:
        raise Refused("nothing_to_repeat", "there is nothing to repeat")
    return _put(session, [{"player": player} | bet for bet in allowed], {"repeat": player}, origin)


def put_all(session: Session, bets: Sequence[dict[str, Any]], asked: dict[str, Any], origin: Origin) -> list[Entry]:
    """Put several bets down, or none of them. Raises Refused with what is wrong with the first that is not allowed."""
    trial = _open_table(session).copy()
    for bet in bets:
        apply_step(trial, {"bet": bet})
    return _put(session, bets, asked, origin)


def _put(session: Session, bets: Sequence[dict[str, Any]], asked: dict[str, Any], origin: Origin) -> list[Entry]:
    return [session.record("bet", {"step": {"bet": bet}, "asked": asked} | origin.data()) for bet in bets]


def _open_table(session: Session) -> Table:
    if session.table is None or not session.is_open:
        raise Refused("not_now", "the table is closed; open it first")
    return session.table


def _bet(player: str, kind: str, number: int | None, amount: int) -> dict[str, Any]:
    bet: dict[str, Any] = {"player": player, "kind": kind, "amount": amount}
    return bet if number is None else bet | {"number": number}


def _unit(table: Table, rule: BetRule) -> int:
    """The least amount that is as much as the table's minimum and is paid without a remainder: 6 on a six of 5."""
    step = table.rules.exact_step(rule) * table.unit
    if table.rules.multiple_of_minimum:
        step = lcm(step, table.minimum)
    return -(-table.minimum // step) * step


def _limits(table: Table, player: str) -> Iterator[dict[str, Any]]:
    """What may be put on each of a player's bets now: the least and the most, where they are not the table's."""
    rules = table.rules
    named = (rules.rule(kind, number) for kind in rules.kinds for number in (None, *rules.numbers(kind)))
    for rule in (one for one in named if one is not None):
        flat = None if rule.parent is None else table.standing(player, rule.parent.key)
        if rule.stage == "odds" and flat is None:
            continue
        standing = table.standing(player, rule.key)
        stands = 0 if standing is None else standing[1]
        step = placement.step_of(table, rule)
        whole = table.maximum if flat is None else flat[1]
        most = placement.most_of(table, rule, whole) - stands
        wanted = 1 if rule.stage == "odds" else table.minimum - stands
        least = max(-(-wanted // step) * step, step)
        if (least, most) != (table.minimum, table.maximum):
            yield {"kind": rule.kind, "number": rule.number, "min": least, "max": most}


def _repeatable(session: Session, table: Table, player: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The bets to repeat that are allowed now, and the others with the reason: kind, number, amount of each."""
    allowed: list[dict[str, Any]] = []
    refused: list[dict[str, Any]] = []
    trial = table.copy()
    for rule, amount in _before_the_last_decision(session, table, player):
        # A line bet that stays in its place is put down anew as what it was before it had a number.
        number = None if rule.silent_move else rule.number
        if trial.standing(player, placement.named(trial, player, rule.kind, number).key) is not None:
            continue
        bet = _bet(player, rule.kind, number, amount)
        said = {name: value for name, value in bet.items() if name != "player"}
        try:
            apply_step(trial, {"bet": bet})
        except Refused as error:
            refused.append(said | {"refused": error.code, "message": error.message})
        else:
            allowed.append(said)
    return allowed, refused


def _before_the_last_decision(session: Session, table: Table, player: str) -> Iterator[tuple[BetRule, int]]:
    """A player's bets, with amounts, when the last roll was thrown that took one of them off the layout.

    Line bets come first, since odds need them.
    """
    for roll in reversed(session.history):
        then = table.at(roll.before, *roll.limits)
        bets = then.bets_of(player)
        if not bets:
            continue
        results = then.roll(*roll.dice)
        decided = any(result["player"] == player and result["result"] in _DECIDES for result in results)
        if decided and any(then.standing(player, bet[0].key) is None for bet in bets):
            yield from sorted(((bet[0], bet[1]) for bet in bets), key=lambda bet: (bet[0].stage == "odds", bet[0].rank))
            return
