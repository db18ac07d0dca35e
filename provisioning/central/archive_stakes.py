"""What lay on the bets that an event settles: the game played along, from the opening of the table on.

An event says what is paid, not what was collected from a loser. The rules that the table was opened under stand in
its opening, so the archive can play the steps again and look; a roll that a supervisor corrects, and those after it,
are played again from where the roll was thrown. Pure: no I/O.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from device import corrections, roll_history, session_corrections
from device.roll_history import History, KeptRoll
from device.table_terms import TableTerms
from engine_lite.refusal import Refused
from engine_lite.steps import NAMES, apply_step, check_step
from engine_lite.table import Table

OPENING: Final = "table_opened"
CORRECTION: Final = "roll_corrected"
STEPS: Final = (OPENING, *NAMES, *session_corrections.EVENTS)
"""The types of event to be given to `Stakes.take`, in their order."""


@dataclass(frozen=True)
class Stake:
    """What the results of a roll, or of a step between two, are about: an amount for each of them; and who has the
    dice, None: nobody was named. `commission` was taken with the bet that the step puts down."""

    amounts: tuple[int, ...]
    shooter: str | None
    commission: int = 0


class Stakes:
    """One table's game in a session, to be given its events from the opening on.

    `keeps_rolls`: also what a correction of an earlier roll needs. At a full table that is ten times as much as the
    rest, and most sessions never need it.
    """

    def __init__(self, *, keeps_rolls: bool) -> None:
        self.keeps_rolls = keeps_rolls
        self._table: Table | None = None
        self._history: History = ()

    @property
    def takes_commission_with_bets(self) -> bool:
        """Whether any bet of this session has its commission taken when it is put down."""
        if self._table is None:
            return False
        rules = [self._table.rules.one(kind) for kind in self._table.rules.kinds]
        return any(rule is not None and rule.commission is not None and rule.commission.up_front for rule in rules)

    def take(self, seq: int, kind: str, data: Mapping[str, Any]) -> tuple[Stake, ...] | None:
        """Play event `seq`: what the results of each roll that it settles are about; one stake for any other step.

        None where that leads elsewhere than at the table (another version of the rules), or did before in this session,
        and for a correction where the rolls are not kept.
        """
        try:
            if kind == OPENING:
                self._table = TableTerms.of(data).table()
                return ()
            if self._table is None:
                return None
            if kind == CORRECTION:
                return self._correct(self._table, data)
            if kind == "settlement_adjusted":
                # What a player has got beside the settlements lies on no bet, now or in any other course of the game.
                return ()
            if kind == "limits_changed":
                self._table.set_limits(data["limits"]["min"], data["limits"]["max"])
                return ()
            return (self._step(self._table, seq, data),)
        except (Refused, corrections.Blocked, KeyError, TypeError, ValueError):
            self._table, self._history = None, ()
            return None

    def _step(self, table: Table, seq: int, data: Mapping[str, Any]) -> Stake:
        step = data["step"]
        name = check_step(step)
        keeps = self.keeps_rolls and name in ("roll", "correct")
        since, limits = tuple(table.since_roll()) if keeps else (), (table.minimum, table.maximum)
        held = table.house
        results = apply_step(table, step)
        said = data.get("results", [])
        if said != results and "results" in data:
            raise ValueError("the table has settled otherwise")
        if keeps:
            dice = (step[name][0], step[name][1])
            if name == "roll":
                # How long the series is settles nothing.
                kept = KeptRoll(seq, table.roll_number, dice, since, limits, table.before_roll(), series_before=0)
                self._history = roll_history.with_roll(self._history, kept)
            else:
                self._history = (*self._history[:-1], replace(self._history[-1], dice=dice))
        # Of a bet that is put down, the house gets nothing else.
        return replace(_stake(table, said), commission=table.house - held if name == "bet" else 0)

    def _correct(self, table: Table, data: Mapping[str, Any]) -> tuple[Stake, ...]:
        asked = data["asked"]
        first, second = asked["dice"]
        place = roll_history.find(self._history, asked["number"])
        if place is None:
            raise ValueError("a roll is corrected that is not known here")
        changed = corrections.preview(table, self._history, place, (first, second))["rolls"]
        if [roll["becomes"] for roll in changed] != data["rolls"]:
            raise ValueError("the table has settled otherwise")
        course = corrections.play(table, self._history[place:], (first, second))
        self._table, self._history = course.table, (*self._history[:place], *course.kept)
        thrown = {roll.number: roll for roll in course.kept}
        return tuple(_stake_of(table, thrown[roll["number"]], roll["results"]) for roll in data["rolls"])


def _stake_of(table: Table, roll: KeptRoll, results: list[dict[str, Any]]) -> Stake:
    then = table.at(roll.before, *roll.limits)
    then.roll(*roll.dice)
    return _stake(then, results)


def _stake(table: Table, results: list[dict[str, Any]]) -> Stake:
    """Of a table on which the roll with these results was the last."""
    return Stake(tuple(_amount(table, result) for result in results), table.shooter)


def _amount(table: Table, result: Mapping[str, Any]) -> int:
    before = table.stake_before_roll(result["player"], result["kind"], result.get("number"))
    # What a player takes back, and a bet that was put down after a roll that is corrected, did not lie there before.
    return int(result["returned"]) if result["result"] == "return" else before
