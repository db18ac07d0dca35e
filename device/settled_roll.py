"""The last roll as a screen shows it: the dice, and what is to be collected, paid and taken back."""

from collections.abc import Mapping, Sequence
from typing import Any

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
        "results": [_with_stake(table, result) for result in data["results"]],
        "corrected": undone is not None,
        # What the wrong roll had settled and must be taken back.
        "undone": undone["results"] if undone is not None else [],
        "undone_dice": undone["dice"] if undone is not None else None,
        # Bets that players had taken back and that the right roll had decided: the chips are owed.
        "not_redone": data.get("not_redone", []),
    }


def _with_stake(table: Table, result: dict[str, Any]) -> dict[str, Any]:
    """A loser with the stake that is collected, which the dealer wants to see."""
    if result["result"] != "lose":
        return result
    return result | {"amount": table.stake_before_roll(result["player"], result["kind"], result.get("number"))}
