"""The game as players at the table have seen it: the dice and what they did to the point. Nobody's bets, no money.

Told of journaled events, in order. What came before the first of them is not known, and is not guessed: the hand that
is under way then has no count of rolls.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from device.table_terms import TableTerms
from engine_lite.house_edge import THROWS
from engine_lite.rules import NUMBERS

TOTALS = tuple(range(2, 13))
# Of so many rolls the totals are counted, and of fewer than so many nothing is called hot or cold.
COUNTED_ROLLS_MAX = 100
COUNTED_ROLLS_MIN = 36
# How many totals are called hot, and how many cold, at most.
CALLED_MAX = 2
# What the game needs to know of each event.
EVENTS = ("table_opened", "table_closed", "shooter", "roll", "correct", "roll_corrected", "recording_resumed")


@dataclass(frozen=True)
class Hand:
    """One shooter's rolls, from the first come-out on; `rolls` and `points_made` None: of one that began unseen."""

    rolls: int | None = None
    points_made: int | None = None
    over: bool = False
    shooter: str | None = None


@dataclass
class SeenRoll:
    """A roll as it stands after all corrections, and what was before it: the hand and the point.

    `named` are the players who were named shooter since.
    """

    number: int
    dice: tuple[int, int]
    hand: Hand
    point: int | None
    named: list[str] = field(default_factory=list)


@dataclass
class PlayersTable:
    """The game so far. `is_open` None: no event has told yet."""

    is_open: bool | None = None
    point: int | None = None
    hand: Hand = field(default_factory=Hand)
    seen: deque[SeenRoll] = field(default_factory=lambda: deque(maxlen=COUNTED_ROLLS_MAX))
    craps_pass_dice: bool = False

    @property
    def rolls(self) -> list[tuple[int, int]]:
        """The last rolls, at most COUNTED_ROLLS_MAX, the newest last."""
        return [roll.dice for roll in self.seen]

    def take(self, kind: str, data: Mapping[str, Any]) -> None:
        """Take on one of EVENTS."""
        match kind:
            case "table_opened":
                self.is_open, self.point, self.hand = True, None, Hand(0, 0)
                self.seen.clear()
                self.craps_pass_dice = TableTerms.of(data).table().rules.craps_pass_dice
            case "table_closed":
                self.is_open = False
            case "shooter":
                self._name(data["step"]["shooter"])
            case "roll":
                first, second = data["step"]["roll"]
                self.point = data["point_before"]
                self._roll(data["number"], (first, second))
            case "correct":
                first, second = data["step"]["correct"]
                self._correct(data["number"], (first, second), data["point"])
            case "roll_corrected":
                first, second = data["dice"]
                self._correct(data["number"], (first, second), data["point"]["becomes"])
            case "recording_resumed":
                # What was thrown while the disk was full may never be entered.
                self.hand = Hand(shooter=self.hand.shooter)

    def _roll(self, number: int, dice: tuple[int, int]) -> None:
        self.seen.append(SeenRoll(number, dice, self.hand, self.point))
        total, point = sum(dice), self.point
        hand = Hand(0, 0) if self.hand.over else self.hand
        if point is None:
            self.point = total if total in NUMBERS else None
            over = self.craps_pass_dice and total in (2, 3, 12)
        else:
            self.point = None if total in (7, point) else point
            over = total == 7
        self.hand = replace(
            hand,
            rolls=None if hand.rolls is None else hand.rolls + 1,
            points_made=None if hand.points_made is None else hand.points_made + (total == point),
            over=over,
        )

    def _correct(self, number: int, dice: tuple[int, int], point: int | None) -> None:
        """Roll `number` was another one, and those after it may mean something else; `point` is what it is now."""
        again: list[SeenRoll] = []
        while self.seen and self.seen[-1].number >= number:
            again.insert(0, self.seen.pop())
        if not again or again[0].number != number:
            # It was thrown before what is known, and nobody knows what it makes of the hand.
            self.seen.extend(again)
            self.hand, self.point = Hand(shooter=self.hand.shooter), point
            return
        self.hand, self.point = again[0].hand, again[0].point
        for roll in again:
            self._roll(roll.number, dice if roll.number == number else roll.dice)
            # Whoever was named because the hand seemed over has not got the dice when it goes on.
            if self.hand.over:
                for shooter in roll.named:
                    self._name(shooter)

    def _name(self, shooter: str) -> None:
        """Who has the dice: another than before begins a hand. One who is named late has begun it already."""
        if self.seen:
            self.seen[-1].named.append(shooter)
        if self.hand.over or self.hand.shooter not in (None, shooter):
            self.hand = Hand(0, 0)
        self.hand = replace(self.hand, shooter=shooter)


@dataclass(frozen=True)
class Numbers:
    """How often each total came in the last `of` rolls; which came most above and below what chance gives."""

    of: int
    counts: dict[int, int]
    hot: tuple[int, ...]
    cold: tuple[int, ...]


def numbers(rolls: Sequence[tuple[int, int]]) -> Numbers:
    """The totals of these rolls; none is hot or cold of fewer than COUNTED_ROLLS_MIN."""
    counts = dict.fromkeys(TOTALS, 0)
    for first, second in rolls:
        counts[first + second] += 1
    of = len(rolls)
    if of < COUNTED_ROLLS_MIN:
        return Numbers(of, counts, (), ())
    # How many times as often as expected, in whole numbers; of two alike, the one that is rarer.
    ways = {total: 6 - abs(total - 7) for total in TOTALS}
    ranked = sorted(TOTALS, key=lambda total: (counts[total] * THROWS / ways[total], -ways[total]))
    cold = tuple(total for total in ranked[:CALLED_MAX] if counts[total] * THROWS < of * ways[total])
    hot = tuple(total for total in ranked[: -CALLED_MAX - 1 : -1] if counts[total] * THROWS > of * ways[total])
    return Numbers(of, counts, hot, cold)
