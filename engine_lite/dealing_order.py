"""The order in which a dealer works, and in which a layout is read."""

try:
    from typing import TYPE_CHECKING
except ImportError:  # MicroPython has no typing
    TYPE_CHECKING = False  # type: ignore[misc]
if TYPE_CHECKING:
    from typing import Any

from engine_lite.rules import LOSE, MOVE, PUSH, RETURN, WIN

# One whole number orders a result, small enough to be no object of its own on a 32-bit runtime.
SEATS_MAX = 1 << 13
RANKS_MAX = 1 << 9
# Losers are collected, winners paid, then comes what is handed back and what travels.
_RESULTS = {LOSE: 0, WIN: 1, PUSH: 2, RETURN: 3, MOVE: 4}


def player_order(player: str) -> "tuple[int, int, str]":
    """Sort key of a player: positions by number, then names."""
    for character in player:
        if character not in "0123456789":
            return (1, 0, player)
    return (0, int(player), player)


def layout_order(rank: int, number: "int | None", seat: int) -> int:
    """Sort key of a bet on the layout: by kind (its rank), box and player (the seat, below SEATS_MAX)."""
    return (rank * 16 + (number or 0)) * SEATS_MAX + seat


def dealing_order(result: str, number: "int | None", seat: int, rank: int) -> int:
    """Sort key of a result: losers first, then winners, within each by box, player and kind (below RANKS_MAX)."""
    return ((_RESULTS[result] * 16 + (number or 0)) * SEATS_MAX + seat) * RANKS_MAX + rank


def next_shooter(bets: "list[dict[str, Any]]", shooter: "str | None") -> "str | None":
    """The player who gets the dice after `shooter`: the next in order of position who has a line bet, or None.

    `bets` as Table.bets gives them, `shooter` None where nobody has the dice.
    """
    lines = ("pass_line", "dont_pass")
    players = sorted({bet["player"] for bet in bets if bet["kind"] in lines}, key=player_order)
    if shooter is not None:
        later = [player for player in players if player_order(player) > player_order(shooter)]
        players = [player for player in later + players if player != shooter]
    return players[0] if players else None
