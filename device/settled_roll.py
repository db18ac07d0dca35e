"""The last roll as a screen shows it: the dice, and what is to be collected, paid and taken back.

What a dealer says of a pay stands beside it, from the rules and the settlement, so that no screen reckons anything:
`amount` (the stake) and `odds` (`[7, 6]`: 7 to 6). Where it was rounded down to the chip unit, `exact` is what it came
to: `[13, 1, 5]` is 13 and 1/5. A `commission` with `up_front` is that of the bet which stays up and plays again.

A come bet that wins while another of the same player travels to its box is paid "off and on": the bet in the box stays
for the one that arrives, so nothing is carried to and fro. `off_and_on` says what of it stays, what is put to it and
what is handed back of it; where a don't come bet loses to the box, what is collected more or less of the box. The money
is that of the settlement. The one that arrives has `off_and_on` too, as it needs no hand of its own.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from engine_lite.rules import LOSE, MOVE, WIN
from engine_lite.table import Table


def settled_roll(
    table: Table, seq: int, dice: Sequence[int], data: Mapping[str, Any], undone: Mapping[str, Any] | None
) -> dict[str, Any]:
    """What event `seq` settled with `data`, or was to settle when it is corrected.

    `undone` is the wrong roll in the place of which this one stands, as it was shown; None where none was corrected.
    """
    return {
        "seq": seq,
        "number": data["number"],
        "dice": list(dice),
        "total": sum(dice),
        "point_before": data["point_before"],
        "point": data["point"],
        "results": _off_and_on([_with_arithmetic(table, dice, result) for result in data["results"]]),
        "corrected": undone is not None,
        # What the wrong roll had settled and must be taken back.
        "undone": undone["results"] if undone is not None else [],
        "undone_dice": undone["dice"] if undone is not None else None,
        # Bets that players had taken back and that the right roll had decided: the chips are owed.
        "not_redone": data.get("not_redone", []),
    }


def _with_arithmetic(table: Table, dice: Sequence[int], result: dict[str, Any]) -> dict[str, Any]:
    """A result with the stake, which the dealer wants to see, and how a pay comes about."""
    if result["result"] not in (WIN, LOSE, MOVE):
        return result
    # Only what travels had no number yet.
    stake = table.stake_before_roll(result["player"], result["kind"], result.get("number"))
    said = result | {"amount": stake}
    if result["result"] != WIN:
        return said
    rule = table.known_rule(result["kind"], result.get("number"))
    outcome = table.rules.outcome(rule, dice[0], dice[1])
    exact = result.get("paid", 0) + Fraction(*result.get("remainder", (0, 1)))
    # What a bet that collects pays follows from what it had, not from this throw.
    if outcome is not None and outcome.result == WIN:
        odds = Fraction(outcome.num, outcome.den)
    else:
        odds = exact / stake
    said["odds"] = [odds.numerator, odds.denominator]
    if "remainder" in result:
        whole, part = divmod(exact, 1)
        said["exact"] = [whole, part.numerator, part.denominator]
    if "commission" in result and rule.commission is not None and rule.commission.up_front:
        said["up_front"] = True
    return said


def _off_and_on(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The results, those that belong together for a dealer marked."""
    arriving = {
        (result["player"], result["kind"], result["to"]): result for result in results if result["result"] == MOVE
    }
    met = {}
    for result in results:
        key = (result["player"], result["kind"], result.get("number"))
        if result["result"] in (WIN, LOSE) and key in arriving:
            met[key] = result["amount"], arriving[key]["amount"]
    return [_marked(result, met) for result in results]


def _marked(result: dict[str, Any], met: Mapping[tuple[str, str, int | None], tuple[int, int]]) -> dict[str, Any]:
    place = result["to"] if result["result"] == MOVE else result.get("number")
    key = (result["player"], result["kind"], place)
    if key not in met or result["result"] not in (WIN, LOSE, MOVE):
        return result
    stood, arrives = met[key]
    more = max(arrives - stood, 0)
    return result | {"off_and_on": {"stays": min(stood, arrives), "more": more, "less": max(stood - arrives, 0)}}
