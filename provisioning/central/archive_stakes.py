"""What lay on the bets that an event settles: the game played along, from the opening of the table on.

An event says what is paid, not what was collected from a loser. The rules that the table was opened under stand in
its opening, so the archive can play the steps again and look. Pure: no I/O.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from device.table_terms import TableTerms
from engine_lite.refusal import Refused
from engine_lite.steps import NAMES, apply_step, check_step
from engine_lite.table import Table

OPENING: Final = "table_opened"
STEPS: Final = (OPENING, *NAMES)
"""The types of event to be given to `Stakes.take`, in their order."""


@dataclass(frozen=True)
class Stake:
    """What an event's results are about: an amount for each of them; and who has the dice, None: nobody was named."""

    amounts: tuple[int, ...]
    shooter: str | None


class Stakes:
    """One table's game."""

    def __init__(self) -> None:
        self._table: Table | None = None

    def take(self, kind: str, data: Mapping[str, Any]) -> Stake | None:
        """Play an event. None where that leads elsewhere than at the table (another version of the rules), or did
        before in this session."""
        try:
            if kind == OPENING:
                self._table = TableTerms.of(data).table()
                return Stake((), None)
            if self._table is None:
                return None
            return self._step(self._table, data)
        except (Refused, KeyError, TypeError, ValueError):
            self._table = None
            return None

    def _step(self, table: Table, data: Mapping[str, Any]) -> Stake:
        check_step(data["step"])
        results = apply_step(table, data["step"])
        said = data.get("results", [])
        if said != results and "results" in data:
            raise ValueError("the table has settled otherwise")
        return Stake(tuple(_stake(table, result) for result in said), table.shooter)


def _stake(table: Table, result: Mapping[str, Any]) -> int:
    before = table.stake_before_roll(result["player"], result["kind"], result.get("number"))
    # What a player takes back, and a bet that was put down after a roll that is corrected, did not lie there before.
    return int(result["returned"]) if result["result"] == "return" else before
