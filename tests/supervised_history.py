"""Histories in which a supervisor corrects earlier rolls, adjusts what they settled, and changes the limits."""

import contextlib
import random

from device import session_corrections
from device.origin import Origin
from engine_lite.refusal import Refused
from engine_lite.table import Table
from tests.archive_rig import History

SUPERVISOR = Origin("console", person="Marta Gil")


def correct_roll(history: History, number: int, dice: tuple[int, int]) -> int:
    """The seq of the correction."""
    at = history.session.game_seq
    return history.add(session_corrections.correct_roll(history.session, number, dice, "camera", at, SUPERVISOR))


def adjust(history: History, number: int, amounts: dict[str, int]) -> int:
    """Players get so much more, or below 0 less, of a roll than it has settled; the seq of the adjustment."""
    said = [{"player": player, "amount": amount} for player, amount in amounts.items()]
    at = history.session.game_seq
    return history.add(session_corrections.adjust_settlement(history.session, number, said, "short", at, SUPERVISOR))


def change_limits(history: History, minimum: int, maximum: int) -> int:
    """The seq of the change."""
    return history.add(session_corrections.change_limits(history.session, minimum, maximum, SUPERVISOR))


def game(history: History) -> Table:
    """The table as its terminal has it."""
    assert history.session.table is not None
    return history.session.table


def play_supervised(history: History, chance: random.Random, steps: int) -> None:
    """Play on at random, and let the supervisor have a hand in it."""
    for _ in range(steps):
        history.play(chance, 3)
        thrown = game(history).roll_number
        if not history.session.is_open or not thrown:
            continue
        number = chance.randint(max(1, thrown - 8), thrown)
        what = chance.random()
        with contextlib.suppress(Refused):
            if what < 0.5:
                correct_roll(history, number, (chance.randint(1, 6), chance.randint(1, 6)))
            elif what < 0.7:
                adjust(history, number, {"1": chance.choice((-3, 8)), "7": 5})
            elif what < 0.8:
                change_limits(history, chance.choice((5, 10)), 5000)
