"""A table's state as JSON values, and back."""

try:
    from typing import TYPE_CHECKING
except ImportError:  # MicroPython has no typing
    TYPE_CHECKING = False  # type: ignore[misc]
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from engine_lite.rules import BetRule
    from engine_lite.table import Key, Layout, State


def state_to_json(state: "State") -> "dict[str, Any]":
    """What a roll changes, in a form that is the same for the same state."""
    point, shooter, roll_number, dice_pass, new_hand, house, players, bets = state
    return {
        "point": point,
        "shooter": shooter,
        "roll_number": roll_number,
        "dice_pass": dice_pass,
        "new_hand": new_hand,
        "house": house,
        # Who has neither won nor lost is as one who never played.
        "players": [[name, players[name]] for name in sorted(players) if players[name]],
        "bets": [
            [player] + list(key) + list(bets[player][key][1:])
            for player in sorted(bets)
            for key in sorted(bets[player], key=_key_order)
        ],
    }


def state_from_json(
    known_rule: "Callable[[str, int | None], BetRule]", seated: "Callable[[str], str]", state: "dict[str, Any]"
) -> "State":
    """The state that `state_to_json` was given, under the same rules; `seated` gives each player's name a seat."""
    bets: "Layout" = {}
    for player, kind, number, amount, held, button, bits in state["bets"]:
        rule = known_rule(kind, number)
        bets.setdefault(seated(player), {})[rule.key] = (rule, amount, held, button, bits)
    return (
        state["point"],
        state["shooter"],
        state["roll_number"],
        state["dice_pass"],
        state["new_hand"],
        state["house"],
        dict(state["players"]),
        bets,
    )


def _key_order(key: "Key") -> "tuple[str, int]":
    return (key[0], key[1] or 0)
