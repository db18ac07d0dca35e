"""The rolls of a session that a supervisor may still correct, with all that leads from each to the next.

Before each roll the table has a state, which nothing changes any more; so keeping it costs nothing while the game goes
on. On the disk there is only the state before the oldest of them and what was done since, out of which the others are
made again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypedDict

from engine_lite.correction import play_on
from engine_lite.snapshot import state_from_json, state_to_json
from engine_lite.table import Table

ROLLS_MAX: Final = 60
"""So many rolls are kept, half an hour's and more: playing them again takes no player's time."""

STEPS_MAX: Final = 4_000
"""The steps between kept rolls, all in all; where there are more, fewer rolls are kept."""


@dataclass(frozen=True)
class KeptRoll:
    """A roll as it stands after all corrections.

    `seq` is the event that entered it first, `steps` what was done between the roll before and this one (`Table.again`;
    of the oldest it is not looked at), `limits` are those that held, `before` the state of the table and
    `series_before` the throws of the series then.
    """

    seq: int
    number: int
    dice: tuple[int, int]
    steps: tuple[tuple[Any, ...], ...]
    limits: tuple[int, int]
    before: Any
    series_before: int


History = tuple[KeptRoll, ...]


class KeptRollValues(TypedDict):
    """A kept roll but for its state."""

    seq: int
    number: int
    dice: tuple[int, int]
    steps: list[list[str | int | bool | None]]
    limits: tuple[int, int]
    series_before: int


class HistoryValues(TypedDict):
    """A history as plain values: the state before the oldest roll (None: no roll is kept), and the rolls."""

    before: dict[str, Any] | None
    rolls: list[KeptRollValues]


def with_roll(history: History, roll: KeptRoll) -> History:
    """The history with one more roll, within its bounds."""
    kept = [*history, roll][-ROLLS_MAX:]
    while sum(len(one.steps) for one in kept[1:]) > STEPS_MAX:
        del kept[0]
    return tuple(kept)


def to_values(history: History) -> HistoryValues:
    """The history as plain values."""
    return {
        "before": state_to_json(history[0].before) if history else None,
        "rolls": [
            {
                "seq": roll.seq,
                "number": roll.number,
                "dice": roll.dice,
                "steps": [list(step) for step in roll.steps],
                "limits": roll.limits,
                "series_before": roll.series_before,
            }
            for roll in history
        ],
    }


def from_values(table: Table, values: HistoryValues) -> History:
    """The history that `to_values` was given; `table` has its rule set. Raises ValueError, KeyError or Refused."""
    if values["before"] is None or not values["rolls"]:
        return ()
    rolls = values["rolls"]
    state = state_from_json(table.known_rule, str, values["before"])
    now = table.at(state, *rolls[0]["limits"])
    history = []
    for position, said in enumerate(rolls):
        steps = tuple(tuple(step) for step in said["steps"])
        if position:
            play_on(now, list(steps))
        now.roll(*said["dice"])
        history.append(
            KeptRoll(
                said["seq"],
                said["number"],
                said["dice"],
                steps,
                said["limits"],
                now.before_roll(),
                said["series_before"],
            )
        )
    return tuple(history)


def find(history: Sequence[KeptRoll], number: int) -> int | None:
    """The place of roll `number` in the history, None where it is not kept."""
    return next((place for place, roll in enumerate(history) if roll.number == number), None)
