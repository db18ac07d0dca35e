"""Corrections: what the players did after a roll that turns out to have been another one."""

from engine_lite import placement
from engine_lite.refusal import Refused
from engine_lite.rules import RETURN

try:
    from typing import TYPE_CHECKING
except ImportError:  # MicroPython has no typing
    TYPE_CHECKING = False  # type: ignore[misc]
if TYPE_CHECKING:
    from typing import Any

    from engine_lite.table import Table


def redo(
    table: "Table",
    since: "list[tuple[Any, ...]]",
    wrong: "dict[tuple[str, str], int]",
    right: "dict[tuple[str, str], int]",
) -> "tuple[list[dict[str, Any]], list[dict[str, Any]]]":
    """Do the steps `since` the wrong roll again on a table that now has the right one.

    `wrong` and `right` say where each of the rolls sent line bets (player and kind to number): chips that were laid on
    a bet that travelled lie where the dice really sent it. Returns the bets that cannot stand, as `return` results, and
    what players hold that they should not: bets they took back which the right roll has decided or keeps.
    """
    # What each bet is owed that was put down and could not be done again, less what was taken back of it.
    owed: "dict[tuple[str, str, int | None], int]" = {}
    for step in since:
        bet_step = step[0] in ("bet", "reduce", "take_down")
        number = _followed(table, step[1], step[2], step[4], wrong, right) if bet_step else None
        try:
            table.again(step, number)
        except Refused:
            if bet_step:
                key = (step[1], step[2], step[4])
                owed[key] = owed.get(key, 0) + (step[3] if step[0] == "bet" else -step[3])
    handed, held = [], []
    for key in sorted(owed, key=lambda key: (key[0], key[1], key[2] or 0)):
        said: "dict[str, Any]" = {"player": key[0], "kind": key[1]}
        if key[2] is not None:
            said["number"] = key[2]
        if owed[key] > 0:
            said["result"] = RETURN
            said["returned"] = owed[key]
            handed.append(said)
        elif owed[key] < 0:
            said["amount"] = -owed[key]
            held.append(said)
    return handed, held


def limits_before(since: "list[tuple[Any, ...]]", now: "tuple[int, int]") -> "tuple[int, int]":
    """The limits that held before the steps `since`, where `now` are those after them."""
    for step in since:
        if step[0] == "limits":
            return (step[3], step[4])
    return now


def play_on(table: "Table", steps: "list[tuple[Any, ...]]") -> None:
    """Do steps of `Table.since_roll` on a table where an earlier roll was another one, exactly as they were done.

    A line bet that stays in its place, and its odds, are those of the point as it is now. What speaks for a bet that
    does not lie there (a button) is left out: there is nothing to lay it on. Raises Refused at the first other step
    that the rules do not allow now.
    """
    for step in steps:
        try:
            bet_step = step[0] in ("bet", "reduce", "take_down")
            table.again(step, _number_now(table, step[1], step[2], step[4]) if bet_step else None)
        except Refused:
            if step[0] != "working":
                raise


def _number_now(table: "Table", player: str, kind: str, number: "int | None") -> "int | None":
    rule = table.known_rule(kind, number)
    line = rule.parent or rule
    return placement.named(table, player, kind, None).number if line.silent_move else number


def _followed(
    table: "Table",
    player: str,
    kind: str,
    number: "int | None",
    wrong: "dict[tuple[str, str], int]",
    right: "dict[tuple[str, str], int]",
) -> "int | None":
    """The number of the bet that was meant: where the wrong roll moved a line bet, where the right one moved it."""
    rule = table.rules.rule(kind, number)
    parent = rule.parent if rule is not None else None
    line = parent.kind if parent is not None else kind
    if number is not None and wrong.get((player, line)) == number and (player, line) in right:
        return right[(player, line)]
    return number
