"""Are the dice fair? Faces and totals of a set's rolls against what chance gives. Advisory: no game waits for it.

Pearson's chi-square, on faces (5 degrees of freedom) and on totals (10). Its tail is computed here in closed form,
which whole degrees of freedom allow, rather than by a statistics library: a terminal would carry one of tens of
megabytes for the sake of one function of a dozen lines, and a table of critical values gives no probability that
could be shared out among many looks.

Whoever looks often enough sees something unlikely in the fairest dice. So a set is judged only at looks of a fixed
pace, one each ROLLS_PER_LOOK rolls, and look k may spend 1 / (k * (k + 1)) of FALSE_ALARM_CHANCE, one half of it on
the faces and one half on the totals. The parts never add up to more than the whole, however long a set is in use: of
a thousand fair sets at most one is ever marked, on average.

Floats: no money is near.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

ROLLS_PER_LOOK = 100
FALSE_ALARM_CHANCE = 0.001
# Below this number expected of a face or a total, chi-square is not what its tail says: no verdict.
EXPECTED_MIN = 5

FACES = (1, 2, 3, 4, 5, 6)
TOTALS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
_FACE_CHANCES = tuple(1 / 6 for _ in FACES)
_TOTAL_CHANCES = tuple((6 - abs(total - 7)) / 36 for total in TOTALS)


def chi_square_tail(statistic: float, degrees: int) -> float:
    """The chance that chi-square with `degrees` (1 or more) of freedom is `statistic` (0 or more) or greater."""
    if degrees < 1 or statistic < 0:
        raise ValueError(f"a statistic of {statistic} with {degrees} degrees of freedom is none")
    half = statistic / 2
    if degrees % 2 == 0:
        term = tail = 1.0
        for step in range(1, degrees // 2):
            term *= half / step
            tail += term
        return math.exp(-half) * tail
    term = math.sqrt(half) / math.gamma(1.5)
    tail = 0.0
    for step in range(1, (degrees + 1) // 2):
        tail += term
        term *= half / (step + 0.5)
    return math.erfc(math.sqrt(half)) + math.exp(-half) * tail


@dataclass(frozen=True)
class Comparison:
    """Observed numbers against expected ones. `probability` of so large a statistic; None: too few to say."""

    observed: tuple[int, ...]
    expected: tuple[float, ...]
    statistic: float
    probability: float | None


@dataclass(frozen=True)
class Mark:
    """Chance is an unlikely explanation: seen at look number `look`, in `what` ("faces" or "totals")."""

    what: str
    look: int
    rolls: int
    probability: float
    threshold: float


@dataclass
class RollCount:
    """The rolls of one set. `mark` is the first that a look that is over has set; it stays."""

    faces: list[int] = field(default_factory=lambda: [0] * len(FACES))
    totals: list[int] = field(default_factory=lambda: [0] * len(TOTALS))
    rolls: int = 0
    mark: Mark | None = None

    def add(self, first: int, second: int) -> None:
        """Count a roll of two dice, 1 to 6 each."""
        # Only now: the roll that a look ends with may have been corrected meanwhile.
        self.mark = self.mark_now()
        self.rolls += 1
        self._count(first, second, 1)

    def correct(self, wrong: tuple[int, int], right: tuple[int, int]) -> None:
        """The last roll was entered wrongly."""
        self._count(*wrong, -1)
        self._count(*right, 1)

    def mark_now(self) -> Mark | None:
        """The mark of the looks until now."""
        if self.mark is not None or self.rolls == 0 or self.rolls % ROLLS_PER_LOOK:
            return self.mark
        look = self.rolls // ROLLS_PER_LOOK
        threshold = look_threshold(look)
        for what, comparison in (("faces", compare_faces(self.faces)), ("totals", compare_totals(self.totals))):
            probability = comparison.probability
            if probability is not None and probability < threshold:
                return Mark(what, look, self.rolls, probability, threshold)
        return None

    def _count(self, first: int, second: int, by: int) -> None:
        self.faces[first - 1] += by
        self.faces[second - 1] += by
        self.totals[first + second - 2] += by


def look_threshold(look: int) -> float:
    """Below which probability one test marks a set at this look, 1 or more."""
    return FALSE_ALARM_CHANCE / (look * (look + 1)) / 2


def compare_faces(counts: Sequence[int]) -> Comparison:
    """How often each of FACES lay up, against one sixth each."""
    return _compare(counts, _FACE_CHANCES)


def compare_totals(counts: Sequence[int]) -> Comparison:
    """How often each of TOTALS was rolled, against 1 to 6 ways of 36."""
    return _compare(counts, _TOTAL_CHANCES)


def _compare(counts: Sequence[int], chances: Sequence[float]) -> Comparison:
    whole = sum(counts)
    expected = tuple(whole * chance for chance in chances)
    if whole == 0:
        return Comparison(tuple(counts), expected, 0.0, None)
    statistic = sum((seen - due) ** 2 / due for seen, due in zip(counts, expected, strict=True))
    # A rounding error must not turn 5 expected into too few.
    enough = min(expected) >= EXPECTED_MIN - 1e-9
    probability = chi_square_tail(statistic, len(chances) - 1) if enough else None
    return Comparison(tuple(counts), expected, statistic, probability)
