"""What is counted of the rolls of a table, in whole numbers and exact fractions, so that parts can be added up.

Amounts are chip units. A bet is counted when a roll decides it: wins, loses or pushes; what players take back and what
still lies on the layout is not. Its commission is counted then as well, also where it was taken beforehand.
"""

from dataclasses import dataclass, field
from fractions import Fraction

FACES = (1, 2, 3, 4, 5, 6)
TOTALS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
# What rolls mean for the line: on a come-out, and on a point.
NATURAL, CRAPS, POINT_SET = "natural", "craps", "point_set"
POINT_MADE, SEVEN_OUT = "point_made", "seven_out"
LINE = (NATURAL, CRAPS, POINT_SET, POINT_MADE, SEVEN_OUT)


@dataclass
class BetTally:
    """One kind of bet. `won` is what the house has won of `staked`, negative where it has lost."""

    decided: int = 0
    staked: int = 0
    won: int = 0
    # Of what was won: what rounding to chips left with the house, and what the exact edges expect.
    rounding: Fraction = Fraction(0)
    expected: Fraction = Fraction(0)
    # Of what was won without rounding, less what is expected; chip units squared. 0 for bets that collect.
    variance: float = 0.0

    def add(self, other: "BetTally") -> None:
        """Add what another part has of it."""
        self.decided += other.decided
        self.staked += other.staked
        self.won += other.won
        # Most parts add nothing here, and adding fractions takes time.
        if other.rounding:
            self.rounding += other.rounding
        if other.expected:
            self.expected += other.expected
        self.variance += other.variance


@dataclass
class Pace:
    """The times between rolls that follow each other in one session; longer ones than a pause are left out."""

    gaps: int = 0
    total_ms: int = 0
    squares_ms: int = 0

    def note(self, gap_ms: int) -> None:
        """Count the time from one roll to the next."""
        self.gaps += 1
        self.total_ms += gap_ms
        self.squares_ms += gap_ms * gap_ms

    def add(self, other: "Pace") -> None:
        """Add what another part has of it."""
        self.gaps += other.gaps
        self.total_ms += other.total_ms
        self.squares_ms += other.squares_ms


@dataclass
class Tally:
    """Some rolls of a table."""

    rolls: int = 0
    void_throws: int = 0
    faces: list[int] = field(default_factory=lambda: [0] * len(FACES))
    totals: list[int] = field(default_factory=lambda: [0] * len(TOTALS))
    line: dict[str, int] = field(default_factory=lambda: dict.fromkeys(LINE, 0))
    # Points that were decided, by number: what chance gives a point depends on it.
    points: dict[int, int] = field(default_factory=dict)
    pace: Pace = field(default_factory=Pace)
    bets: dict[str, BetTally] = field(default_factory=dict)
    # What supervisors took from players (below 0: gave them) beside what rolls have settled; of no kind of bet.
    adjusted: int = 0
    # Like that of one kind of bet, of all together but those that collect.
    variance: float = 0.0

    def count_dice(self, first: int, second: int, point_before: int | None) -> None:
        """Count a roll of two dice, and what it means for the line."""
        total = first + second
        self.rolls += 1
        self.faces[first - 1] += 1
        self.faces[second - 1] += 1
        self.totals[total - 2] += 1
        if point_before is None:
            self.line[NATURAL if total in (7, 11) else CRAPS if total in (2, 3, 12) else POINT_SET] += 1
        elif total in (7, point_before):
            self.line[SEVEN_OUT if total == 7 else POINT_MADE] += 1
            self.points[point_before] = self.points.get(point_before, 0) + 1

    def bet(self, kind: str) -> BetTally:
        """The kind's own tally."""
        return self.bets.setdefault(kind, BetTally())

    def add(self, other: "Tally") -> None:
        """Add another part of the table's rolls."""
        self.rolls += other.rolls
        self.void_throws += other.void_throws
        self.adjusted += other.adjusted
        self.faces = [mine + more for mine, more in zip(self.faces, other.faces, strict=True)]
        self.totals = [mine + more for mine, more in zip(self.totals, other.totals, strict=True)]
        for what, count in other.line.items():
            self.line[what] += count
        for number, count in other.points.items():
            self.points[number] = self.points.get(number, 0) + count
        self.pace.add(other.pace)
        for kind, bet in other.bets.items():
            self.bet(kind).add(bet)
        self.variance += other.variance


def sum_of(tallies: "list[Tally]") -> Tally:
    """All of them together."""
    whole = Tally()
    for tally in tallies:
        whole.add(tally)
    return whole
