"""A table's rolls as statistics count them, out of its journal's events, in stretches of an hour at most.

A session of its own does every event again (device.session), so what lay on each bet when the dice were thrown is
known, and not guessed. A corrected roll counts as what it was corrected to, at the time of the first entry.
Stretches end with the hour of the clock, the session or the set of dice, so that any day, session or set is made of
whole ones; their moments are what `event_moments` makes of all clocks together.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from fractions import Fraction
from typing import Any

from device.dice_control.day_report import local
from device.dice_control.event_moments import EventMoments, Moment, lapse_ms, wall_of
from device.event import Event
from device.roll_history import ROLLS_MAX
from device.session import ReplayError, Session
from device.statistics_edges import Odds, exact_win, layout_of
from device.statistics_tally import Tally
from engine_lite.rules import LOSE, MOVE, PUSH, WIN
from engine_lite.table import Table

# A longer time between two rolls is a pause of the game and no part of its pace.
PAUSE_MS = 15 * 60 * 1000


class UnreadableEvent(Exception):
    """An event that is not what its type says, or does not follow from those before it: the message names it."""


@dataclass
class Stretch:
    """Rolls of one session with one set of dice (None: not known which), within an hour of the clock."""

    session: int
    dice_set: str | None
    began: Moment
    ended: Moment
    tally: Tally = field(default_factory=Tally)


@dataclass
class Statistics:
    """All rolls of a journal. `names` are the bets' names under the rules that they were last offered under."""

    table: str | None = None
    rules: str | None = None
    stretches: list[Stretch] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    # Bets on a whole hand, which have no variance here.
    without_variance: set[str] = field(default_factory=set)
    # Whether the last session is still open, and what lies on the layout now: neither decided nor counted.
    open_session: int | None = None
    layout: int = 0
    last_seq: int = 0
    # Of what was pruned after delivery: the last event.
    pruned_seq: int = 0


def statistics(events: Iterable[Event], before: Session | None = None, zone: tzinfo | None = None) -> Statistics:
    """Read a journal's events, from the first that is left on and in order. Raises UnreadableEvent.

    `before` is the session then, and goes on. `zone` is that of the hours; None is the machine's own.
    """
    reading = _Reading(before if before is not None else Session(), zone)
    for event in events:
        try:
            reading.take(event)
        except ReplayError as error:
            raise UnreadableEvent(str(error)) from error
    return reading.finish()


@dataclass
class _Roll:
    """A roll, which may still be corrected: what lay there before it, and where it counts."""

    event: Event
    session: int
    number: int
    dice_set: str | None
    gap_ms: int | None
    # Thrown in vain since the roll before.
    void_throws: int
    tally: Tally
    # What supervisors gave players beside what it settled, as the house sees it.
    adjusted: int = 0


class _Reading:
    def __init__(self, session: Session, zone: tzinfo | None) -> None:
        self._session = session
        self._zone = zone
        self._moments = EventMoments()
        self._found = Statistics(pruned_seq=session.seq, last_seq=session.seq)
        self._odds: Odds | None = None
        # Those that may still be corrected, the oldest first.
        self._rolls: deque[_Roll] = deque()
        self._void_throws = 0
        # The stretch that rolls go to, its hour, and its last roll.
        self._stretch: Stretch | None = None
        self._hour: datetime | None = None
        self._ends_with: Event | None = None
        # What the first stretch takes on: what lay there before the journal's first event.
        self._carried = Tally()
        if session.table is not None:
            self._use(session.table)
            self._expect_of_line_bets(self._carried, 1)

    def take(self, event: Event) -> None:
        session, found = self._session, self._found
        found.table, found.last_seq = event.table, event.seq
        self._moments.see(event)
        if event.type == "roll" and session.table is not None:
            before = _Lying(session.table)
            session.replay(event.seq, event.type, event.data)
            self._rolled(event, before)
            return
        session.replay(event.seq, event.type, event.data)
        if event.type == "table_opened":
            self._settle_rolls(0)
            assert session.table is not None
            self._use(session.table)
        elif event.type in ("correct", "roll_corrected"):
            self._count_anew(event.data["number"])
        elif event.type == "settlement_adjusted":
            asked = event.data["asked"]
            for roll in self._rolls:
                if roll.number == asked["number"]:
                    roll.adjusted -= sum(said["amount"] for said in asked["adjustments"])
        elif event.type == "no_roll":
            self._void_throws += 1

    def finish(self) -> Statistics:
        self._settle_rolls(0)
        session, found = self._session, self._found
        if self._stretch is not None:
            self._end_stretch()
            self._stretch.tally.void_throws += self._void_throws
        found.open_session = session.session_number if session.is_open else None
        if session.table is not None:
            found.layout = session.table.layout()
            if found.stretches:
                self._expect_of_line_bets(found.stretches[-1].tally, -1)
        self._moments.settle()
        return found

    def _use(self, table: Table) -> None:
        self._odds = Odds(table.rules)
        found = self._found
        found.rules = table.rules.name
        for kind in table.rules.kinds:
            rule = table.rules.one(kind)
            assert rule is not None
            found.names[kind] = rule.name
            if rule.full:
                found.without_variance.add(kind)

    def _rolled(self, event: Event, before: "_Lying") -> None:
        session, last = self._session, self._rolls[-1] if self._rolls else None
        roll = _Roll(
            event,
            session.session_number,
            event.data["number"],
            self._set_in_play(),
            None if last is None else lapse_ms(last.event, event),
            self._void_throws,
            self._counted(before, event.data["results"], event.data["step"]["roll"]),
        )
        self._void_throws = 0
        self._rolls.append(roll)
        self._settle_rolls(ROLLS_MAX)

    def _count_anew(self, first: int) -> None:
        """A roll was corrected: count it, and those after it, as they are now; what was pruned is counted nowhere."""
        table = self._session.table
        assert table is not None
        numbered = {roll.number: roll for roll in self._rolls}
        for kept in self._session.history:
            if kept.number >= first and kept.number in numbered:
                then = table.at(kept.before, *kept.limits)
                before = _Lying(then)
                numbered[kept.number].tally = self._counted(before, then.roll(*kept.dice), kept.dice)

    def _counted(self, before: "_Lying", results: list[dict[str, Any]], dice: Sequence[int]) -> Tally:
        odds, tally = self._odds, Tally()
        assert odds is not None
        tally.count_dice(dice[0], dice[1], before.point)
        by_kind, tally.variance = odds.variances(before.working)
        for kind, variance in by_kind.items():
            tally.bet(kind).variance = variance
        for key, amount in before.working.items():
            outcome = odds.rules.outcome(odds.rule(key), dice[0], dice[1])
            if outcome is not None and outcome.result == MOVE:
                # It stays what it was worth when it was put down; what it is worth now counts when it is decided.
                tally.bet(key[0]).expected += amount * (odds.worth(key) - odds.worth((key[0], outcome.to)))
        for result in results:
            if result["result"] in (WIN, LOSE, PUSH):
                stake = before.stakes[result["player"], result["kind"], result.get("number")]
                _decide(tally, odds, result, stake, dice)
        return tally

    def _settle_rolls(self, left: int) -> None:
        """All but so many of the last rolls are not corrected any more: they go to their stretches."""
        while len(self._rolls) > left:
            self._settle(self._rolls.popleft())

    def _settle(self, roll: _Roll) -> None:
        hour = local(wall_of(roll.event), self._zone).replace(minute=0, second=0, microsecond=0)
        stretch = self._stretch
        if stretch is None or (stretch.session, stretch.dice_set, self._hour) != (roll.session, roll.dice_set, hour):
            self._end_stretch()
            began = self._moment(roll.event)
            stretch = self._stretch = Stretch(roll.session, roll.dice_set, began, began)
            self._hour = hour
            self._found.stretches.append(stretch)
            stretch.tally.add(self._carried)
            self._carried = Tally()
        self._ends_with = roll.event
        stretch.tally.add(roll.tally)
        stretch.tally.void_throws += roll.void_throws
        stretch.tally.adjusted += roll.adjusted
        if roll.gap_ms is not None and roll.gap_ms <= PAUSE_MS:
            stretch.tally.pace.note(roll.gap_ms)

    def _end_stretch(self) -> None:
        if self._stretch is not None and self._ends_with is not None:
            self._stretch.ended = self._moment(self._ends_with)

    def _moment(self, event: Event) -> Moment:
        moment = Moment(event.seq, wall_of(event), event.clock)
        self._moments.add(moment, event)
        return moment

    def _set_in_play(self) -> str | None:
        """The set that the dice in play are of; None where that is not known."""
        state = self._session.dice.state
        return state.at("play")[0][0] if state.pair_in_play() else None

    def _expect_of_line_bets(self, tally: Tally, sign: int) -> None:
        """Line bets that lie on a number: count (1) or take back (-1) what was expected when they were put down.

        Their travel counted what they are worth there, which their decision takes back; it lies outside these events.
        """
        assert self._session.table is not None
        assert self._odds is not None
        for bet in self._session.table.bets():
            key = (bet["kind"], bet["number"])
            if bet["number"] is not None and self._odds.rule(key).stage == "line":
                change = self._odds.worth((bet["kind"], None)) - self._odds.worth(key)
                tally.bet(bet["kind"]).expected += sign * bet["amount"] * change


class _Lying:
    """What lies on a layout when dice are thrown."""

    def __init__(self, table: Table) -> None:
        bets = table.bets()
        self.point = table.point
        self.working = layout_of(bets)
        # Of each bet: what lies there, and the commission that was taken for it beforehand.
        self.stakes: dict[tuple[str, str, int | None], tuple[int, int]] = {
            (bet["player"], bet["kind"], bet["number"]): (bet["amount"], bet["commission"]) for bet in bets
        }


def _decide(tally: Tally, odds: Odds, result: dict[str, Any], stake: tuple[int, int], dice: Sequence[int]) -> None:
    """Count a bet that these dice have decided."""
    key = (result["kind"], result.get("number"))
    amount, held = stake
    rule = odds.rule(key)
    taken_before = rule.commission is not None and rule.commission.up_front
    won = 0
    if result["result"] == WIN:
        # Where it is taken beforehand, what a win takes is for the play that follows.
        won = (held if taken_before else result.get("commission", 0)) - result.get("paid", 0)
    elif result["result"] == LOSE:
        won = amount + held
    bet = tally.bet(rule.kind)
    bet.decided += 1
    bet.staked += amount
    bet.won += won
    bet.expected += amount * odds.worth(key)
    if rule.commission is not None:
        outcome = odds.rules.outcome(rule, dice[0], dice[1])
        assert outcome is not None
        bet.rounding += won - amount * exact_win(odds.rules, rule, outcome)
    elif "remainder" in result:
        bet.rounding += Fraction(*result["remainder"])
