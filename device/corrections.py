"""What becomes of a session when one of its earlier rolls was another one: computed without changing anything.

The rolls from the corrected one on are settled again, with all that players and house did between them. What then is
not allowed any more (a bet for which the game is another one now) forbids the correction: nobody can say what the
player would have done instead. Only what the roll itself should have paid is left then, as an adjustment.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from device.event import EVENT_BYTES_MAX, canonical
from device.roll_history import History, KeptRoll
from device.settled_roll import settled_roll
from engine_lite.correction import play_on
from engine_lite.dealing_order import player_order
from engine_lite.refusal import Refused
from engine_lite.table import Table

ADJUSTMENTS_MAX: Final = 24
"""The players whom one adjustment may be about."""

AMOUNT_MAX: Final = 10**12


@dataclass(frozen=True)
class SettledAgain:
    """A roll as it is settled in one course of the game."""

    seq: int
    number: int
    dice: tuple[int, int]
    point_before: int | None
    point: int | None
    results: list[dict[str, Any]]

    def data(self) -> dict[str, Any]:
        """As it stands in an event."""
        return {
            "seq": self.seq,
            "number": self.number,
            "dice": list(self.dice),
            "point_before": self.point_before,
            "point": self.point,
            "results": self.results,
        }


@dataclass(frozen=True)
class Course:
    """How the session goes on from a roll: the table as it is in the end, and each roll on the way."""

    table: Table
    kept: History
    rolls: list[SettledAgain]
    series: int


class Blocked(Exception):
    """A later step that the rules do not allow any more; `after` is the number of the roll before it."""

    def __init__(self, after: int, step: dict[str, Any], refused: Refused) -> None:
        super().__init__(f"after roll {after}: {refused}")
        self.after = after
        self.step = step
        self.refused = refused

    def data(self) -> dict[str, Any]:
        """What a page shows of it."""
        return {
            "after": self.after,
            "step": self.step,
            "refused": self.refused.code,
            "message": self.refused.message,
        }


def play(table: Table, rolls: Sequence[KeptRoll], dice: tuple[int, int]) -> Course:
    """Play the session from the first of `rolls` on, which shows `dice`, to where `table` is. Raises Blocked."""
    first = rolls[0]
    now = table.at(first.before, *first.limits)
    series = first.series_before
    kept, settled = [], []
    for position, roll in enumerate(rolls):
        steps = first.steps
        if position:
            _play_on(now, roll.steps, roll.number - 1)
            steps = tuple(now.since_roll())
        thrown = roll.dice if position else dice
        limits, point_before, series_before = (now.minimum, now.maximum), now.point, series
        try:
            results = now.roll(*thrown)
        except Refused as refused:
            raise Blocked(roll.number - 1, {"roll": list(thrown)}, refused) from None
        series = 0 if now.point is None else series + 1
        kept.append(KeptRoll(roll.seq, roll.number, thrown, steps, limits, now.before_roll(), series_before))
        settled.append(SettledAgain(roll.seq, roll.number, thrown, point_before, now.point, results))
    _play_on(now, table.since_roll(), rolls[-1].number)
    return Course(now, tuple(kept), settled, series)


def player_differences(before: Table, was: Table, becomes: Table) -> list[dict[str, Any]]:
    """What each player has got since `before`, and what it becomes, where these differ; in chips, less what is bet.

    `difference` is to be handed out, below 0 to be taken back.
    """
    names = sorted({*was.players, *becomes.players}, key=player_order)
    found = []
    for name in names:
        start = before.players.get(name, 0)
        then, now = was.players.get(name, 0) - start, becomes.players.get(name, 0) - start
        if then != now:
            found.append({"player": name, "was": then, "becomes": now, "difference": now - then})
    return found


def bet_differences(was: Table, becomes: Table) -> list[dict[str, Any]]:
    """The bets that lie on the layout with another amount than they did; 0: they do not lie there."""
    then, now = _amounts(was.bets()), _amounts(becomes.bets())
    return [
        {"player": player, "kind": kind, "number": number, "was": then.get(key, 0), "becomes": now.get(key, 0)}
        for key in [*then, *(key for key in now if key not in then)]
        for player, kind, number in [key]
        if then.get(key, 0) != now.get(key, 0)
    ]


def preview(table: Table, history: History, place: int, dice: tuple[int, int]) -> dict[str, Any]:
    """The comparison of what was and what becomes when the roll at `place` of the history was `dice`.

    `blocked`: what forbids it; then all the rest is of that roll alone, as if nothing had come after it, and
    `adjustments` are what it should have left each player beyond what it did, chips on the layout among it. `results`:
    of the last roll, what it would settle, as a screen shows it. Raises Refused where these are the dice already.
    """
    rolls = history[place:]
    roll = rolls[0]
    if sorted(roll.dice) == sorted(dice):
        raise Refused("nothing_to_correct", f"roll {roll.number} was entered as these dice")
    before = table.at(roll.before, *roll.limits)
    was = play(table, rolls, roll.dice)
    said: dict[str, Any] = {
        "corrects": roll.seq,
        "number": roll.number,
        "was": list(roll.dice),
        "dice": list(dice),
        "is_last": len(rolls) == 1,
        "blocked": None,
        "not_redone": [],
    }
    if len(rolls) == 1:
        last = table.copy()
        results = last.correct(*dice)
        becomes = [SettledAgain(roll.seq, roll.number, dice, before.point, last.point, results)]
        said["not_redone"] = [dict(one) for one in last.not_redone]
        said["results"] = settled_roll(last, roll.seq, dice, becomes[0].data(), None)["results"]
        return said | _compared(before, table, last, was.rolls, becomes)
    try:
        course = play(table, rolls, dice)
    except Blocked as blocked:
        said["blocked"] = blocked.data()
        one, other = (_alone(table, roll, thrown) for thrown in (roll.dice, dice))
        said["adjustments"] = _owed(one.table, other.table)
        return said | _compared(before, one.table, other.table, one.rolls, other.rolls)
    return said | _compared(before, table, course.table, was.rolls, course.rolls)


def check_adjustments(adjustments: Iterable[dict[str, Any]]) -> None:
    """Refuse an adjustment that names nobody, a player twice, or nothing to give or take."""
    players = [adjustment["player"] for adjustment in adjustments]
    if not 1 <= len(players) <= ADJUSTMENTS_MAX:
        raise Refused("bad_adjustment", f"name 1 to {ADJUSTMENTS_MAX} players")
    if len(set(players)) < len(players):
        raise Refused("bad_adjustment", "name each player once")


def check_size(said: dict[str, Any]) -> None:
    """Refuse a correction that no event of the journal could hold."""
    if len(canonical(said)) > EVENT_BYTES_MAX // 4:
        raise Refused("too_much", "this would change more than one event can hold; adjust the settlement of the roll")


def to_settle(said: dict[str, Any]) -> str | None:
    """What is to be done at the table after a correction, in words; None where nothing is."""
    give = [f"{one['difference']} to {one['player']}" for one in said["players"] if one["difference"] > 0]
    take = [f"{-one['difference']} from {one['player']}" for one in said["players"] if one["difference"] < 0]
    parts = [f"Hand out {', '.join(give)}."] if give else []
    parts += [f"Take back {', '.join(take)}."] if take else []
    parts += ["Put the bets as the screen shows them."] if said["bets"] else []
    if not parts:
        return None
    dice = "-".join(map(str, said["dice"]))
    return " ".join([f"Roll {said['number']} was corrected to {dice}.", *parts])


def _alone(table: Table, roll: KeptRoll, dice: tuple[int, int]) -> Course:
    """The roll by itself, with nothing after it."""
    now = table.at(roll.before, *roll.limits)
    point_before = now.point
    results = now.roll(*dice)
    return Course(now, (), [SettledAgain(roll.seq, roll.number, dice, point_before, now.point, results)], 0)


def _owed(was: Table, becomes: Table) -> list[dict[str, Any]]:
    """What each player has more in one course than in the other, in hand and on the layout together."""

    def worth(table: Table) -> dict[str, int]:
        found = dict(table.players)
        for bet in table.bets():
            found[bet["player"]] = found.get(bet["player"], 0) + bet["amount"]
        return found

    then, now = worth(was), worth(becomes)
    names = sorted({*then, *now}, key=player_order)
    owed = ((name, now.get(name, 0) - then.get(name, 0)) for name in names)
    return [{"player": name, "amount": amount} for name, amount in owed if amount]


def _compared(
    before: Table, was: Table, becomes: Table, rolls_were: list[SettledAgain], rolls_become: list[SettledAgain]
) -> dict[str, Any]:
    pairs = zip(rolls_were, rolls_become, strict=True)
    return {
        "players": player_differences(before, was, becomes),
        "bets": bet_differences(was, becomes),
        "point": {"was": was.point, "becomes": becomes.point},
        "dice_pass": {"was": was.dice_pass, "becomes": becomes.dice_pass},
        "rolls": [{"was": then.data(), "becomes": now.data()} for then, now in pairs if then != now],
    }


def _play_on(table: Table, steps: Sequence[tuple[Any, ...]], after: int) -> None:
    for step in steps:
        try:
            play_on(table, [step])
        except Refused as refused:
            raise Blocked(after, _step(step), refused) from None


def _step(taken: tuple[Any, ...]) -> dict[str, Any]:
    """A step of `Table.since_roll` that may be refused, as a step of a scenario."""
    name, player, kind, amount, number = taken
    said = {"player": player, "kind": kind} | ({} if number is None else {"number": number})
    return {name: said if name == "take_down" else said | {"amount": amount}}


def _amounts(bets: Iterable[dict[str, Any]]) -> dict[tuple[str, str, int | None], int]:
    return {(bet["player"], bet["kind"], bet["number"]): bet["amount"] for bet in bets}
