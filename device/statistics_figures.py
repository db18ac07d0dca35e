"""What statistics say: what was seen, what chance and the exact edges expect, and how far apart the two may well be.

Each figure comes with its sample and with its standard error, so that nobody takes chance for a fault or a fault for
chance. Money is counted in whole chip units and worth in exact fractions up to here; ratios and errors are floats.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from fractions import Fraction

from device.dice_control.day_report import DAY_BEGINS, gaming_date
from device.dice_control.fairness import compare_faces, compare_totals
from device.statistics_history import Statistics, Stretch
from device.statistics_tally import (
    CRAPS,
    FACES,
    NATURAL,
    POINT_MADE,
    POINT_SET,
    SEVEN_OUT,
    TOTALS,
    BetTally,
    Pace,
    Tally,
    sum_of,
)
from engine_lite.house_edge import THROWS, WAYS

HOUR_MS = 3_600_000
# Of the course of what was won, so many points; of the pace, so many bars.
COURSE_MAX = 120
PACES_MAX = 48
_COME_OUT = {NATURAL: Fraction(8, THROWS), CRAPS: Fraction(4, THROWS), POINT_SET: Fraction(24, THROWS)}
_MADE = {number: Fraction(ways, ways + WAYS[7]) for number, ways in WAYS.items() if number != 7}


@dataclass(frozen=True)
class Count:
    """How often something was seen in `of` trials, how often chance expects it, and the standard error of that."""

    what: str
    seen: int
    of: int
    expected: float
    error: float


@dataclass(frozen=True)
class Rate:
    """Rolls an hour of play, and the standard error; `gaps` times between rolls, `played_ms` together."""

    gaps: int
    played_ms: int
    an_hour: float
    error: float | None


@dataclass(frozen=True)
class Hold:
    """What the house won of what was staked, in chip units. `kind` None: all bets whose `error` is known.

    `expected` is what the exact edges say, `rounding` what rounding to chips left with the house besides; `error` is
    the standard error of `won` about the two together, None for bets of which it is not known.
    """

    kind: str | None
    decided: int
    staked: int
    won: int
    expected: float
    rounding: float
    error: float | None

    @property
    def difference(self) -> float:
        """What was won beyond what is expected, rounding counted."""
        return self.won - self.expected - self.rounding

    @property
    def hold(self) -> float | None:
        """What was won of each chip; None where none was staked."""
        return self.won / self.staked if self.staked else None

    @property
    def expected_hold(self) -> float | None:
        """What the exact edges expect of each chip, without rounding; None where none was staked."""
        return self.expected / self.staked if self.staked else None


@dataclass(frozen=True)
class CoursePoint:
    """After so many rolls: what was won so far, what was expected with rounding, and the standard error."""

    rolls: int
    won: int
    expected: float
    error: float


@dataclass(frozen=True)
class Figures:
    """The statistics of one period; `began` and `ended` are its first and last roll, None where there was none.

    `faces_chance` and `totals_chance`: how often chance alone strays as far as this or farther; None: too few rolls.
    `paces`: the pace of each hour, or of more together where there are many. `adjusted`: what supervisors took from
    players (below 0: gave them) beside what rolls have settled, which is in no other figure.
    """

    rolls: int
    void_throws: int
    began: datetime | None
    ended: datetime | None
    faces: tuple[Count, ...]
    faces_chance: float | None
    totals: tuple[Count, ...]
    totals_chance: float | None
    line: tuple[Count, ...]
    decisions: int
    pace: Rate | None
    paces: tuple[tuple[datetime, Rate], ...]
    bets: tuple[Hold, ...]
    whole: Hold
    adjusted: int
    course: tuple[CoursePoint, ...]


def figures(stretches: Iterable[Stretch], found: Statistics) -> Figures:
    """The statistics of these stretches of one journal, in their order; bets in dealing order."""
    parts = list(stretches)
    tally, without = sum_of([part.tally for part in parts]), frozenset(found.without_variance)
    faces, totals = compare_faces(tally.faces), compare_totals(tally.totals)
    decided = [kind for kind in found.names if kind in tally.bets and tally.bets[kind].decided]
    bets = [_hold(kind, tally.bets[kind], known=kind not in without) for kind in decided]
    return Figures(
        rolls=tally.rolls,
        void_throws=tally.void_throws,
        began=parts[0].began.at if parts else None,
        ended=parts[-1].ended.at if parts else None,
        # Of two dice each shows a face of its own, so there are twice as many trials as rolls.
        faces=tuple(_count(str(face), seen, 2 * tally.rolls, Fraction(1, 6)) for face, seen in _by(FACES, tally.faces)),
        faces_chance=faces.probability,
        totals=tuple(
            _count(str(total), seen, tally.rolls, Fraction(6 - abs(total - 7), THROWS))
            for total, seen in _by(TOTALS, tally.totals)
        ),
        totals_chance=totals.probability,
        line=_line(tally),
        decisions=tally.line[NATURAL] + tally.line[CRAPS] + tally.line[POINT_MADE] + tally.line[SEVEN_OUT],
        pace=_rate(tally.pace),
        paces=_paces(parts),
        bets=tuple(bets),
        whole=_whole(tally, without),
        adjusted=tally.adjusted,
        course=_course(parts, without),
    )


def days_of(found: Statistics, zone: tzinfo | None) -> dict[date, list[Stretch]]:
    """The stretches of each gaming day, in their order."""
    days: dict[date, list[Stretch]] = {}
    for part in found.stretches:
        days.setdefault(gaming_date(part.began.at, DAY_BEGINS, zone), []).append(part)
    return days


def sessions_of(found: Statistics) -> dict[int, list[Stretch]]:
    """The stretches of each session, in their order."""
    sessions: dict[int, list[Stretch]] = {}
    for part in found.stretches:
        sessions.setdefault(part.session, []).append(part)
    return sessions


def sets_of(found: Statistics) -> dict[str, list[Stretch]]:
    """The stretches of each set of dice, in the order in which they were used first."""
    sets: dict[str, list[Stretch]] = {}
    for part in found.stretches:
        if part.dice_set is not None:
            sets.setdefault(part.dice_set, []).append(part)
    return sets


def _by(labels: tuple[int, ...], counts: list[int]) -> Iterable[tuple[int, int]]:
    return zip(labels, counts, strict=True)


def _count(what: str, seen: int, of: int, chance: Fraction) -> Count:
    return Count(what, seen, of, float(of * chance), math.sqrt(of * chance * (1 - chance)))


def _line(tally: Tally) -> tuple[Count, ...]:
    come_outs = sum(tally.line[what] for what in _COME_OUT)
    on_come_out = [_count(what, tally.line[what], come_outs, chance) for what, chance in _COME_OUT.items()]
    points = tally.points
    made, error = _points_made(points)
    decided = sum(points.values())
    return (
        *on_come_out,
        Count(POINT_MADE, tally.line[POINT_MADE], decided, float(made), error),
        Count(SEVEN_OUT, tally.line[SEVEN_OUT], decided, float(decided - made), error),
    )


def _points_made(points: Mapping[int, int]) -> tuple[Fraction, float]:
    made = sum((count * _MADE[number] for number, count in points.items()), Fraction(0))
    variance = sum((count * _MADE[number] * (1 - _MADE[number]) for number, count in points.items()), Fraction(0))
    return made, math.sqrt(variance)


def _rate(pace: Pace) -> Rate | None:
    """Rolls an hour, from the mean time between rolls; of a single time nobody can say how far it may be off."""
    if pace.gaps == 0 or pace.total_ms == 0:
        return None
    an_hour = pace.gaps * HOUR_MS / pace.total_ms
    error = None
    if pace.gaps > 1:
        mean = pace.total_ms / pace.gaps
        spread = max(0.0, (pace.squares_ms - pace.gaps * mean * mean) / (pace.gaps - 1))
        error = an_hour * math.sqrt(spread / pace.gaps) / mean
    return Rate(pace.gaps, pace.total_ms, an_hour, error)


def _paces(parts: list[Stretch]) -> tuple[tuple[datetime, Rate], ...]:
    found = []
    every = max(1, -(-len(parts) // PACES_MAX))
    for first in range(0, len(parts), every):
        together = Pace()
        for part in parts[first : first + every]:
            together.add(part.tally.pace)
        if (rate := _rate(together)) is not None:
            found.append((parts[first].began.at, rate))
    return tuple(found)


def _hold(kind: str, bet: BetTally, *, known: bool) -> Hold:
    return Hold(
        kind,
        bet.decided,
        bet.staked,
        bet.won,
        float(bet.expected),
        float(bet.rounding),
        math.sqrt(bet.variance) if known else None,
    )


def _whole(tally: Tally, without: frozenset[str]) -> Hold:
    bets = [bet for kind, bet in tally.bets.items() if kind not in without]
    return Hold(
        None,
        sum(bet.decided for bet in bets),
        sum(bet.staked for bet in bets),
        sum(bet.won for bet in bets),
        float(sum((bet.expected for bet in bets), Fraction(0))),
        float(sum((bet.rounding for bet in bets), Fraction(0))),
        math.sqrt(tally.variance),
    )


def _course(parts: list[Stretch], without: frozenset[str]) -> tuple[CoursePoint, ...]:
    points = []
    so_far = Tally()
    # As few as can be drawn, and the last always.
    every = -(-len(parts) // COURSE_MAX)
    for place, part in enumerate(parts, start=1):
        so_far.add(part.tally)
        if place % every == 0 or place == len(parts):
            whole = _whole(so_far, without)
            assert whole.error is not None
            points.append(CoursePoint(so_far.rolls, whole.won, whole.expected + whole.rounding, whole.error))
    return tuple(points)
