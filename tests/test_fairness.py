"""Whether dice are fair: the chi-square tail against printed tables, the counts, and how often a fair set is marked."""

import math
import random
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from itertools import product

import pytest

from device.dice_control.fairness import (
    FACES,
    FALSE_ALARM_CHANCE,
    ROLLS_PER_LOOK,
    TOTALS,
    RollCount,
    chi_square_tail,
    compare_faces,
    compare_totals,
    look_threshold,
)
from device.dice_control.fairness_plot import bar_plot

# Critical values of chi-square as tables print them (NIST/SEMATECH e-Handbook, 1.3.6.7.4), to three digits.
CRITICAL = [
    (1, 0.05, "3.841"),
    (1, 0.001, "10.828"),
    (2, 0.05, "5.991"),
    (2, 0.001, "13.816"),
    (3, 0.01, "11.345"),
    (4, 0.10, "7.779"),
    (5, 0.10, "9.236"),
    (5, 0.05, "11.070"),
    (5, 0.01, "15.086"),
    (5, 0.001, "20.515"),
    (10, 0.10, "15.987"),
    (10, 0.05, "18.307"),
    (10, 0.01, "23.209"),
    (10, 0.001, "29.588"),
    (11, 0.05, "19.675"),
]


@pytest.mark.parametrize(("degrees", "probability", "printed"), CRITICAL)
def test_the_tail_at_printed_critical_values(degrees: int, probability: float, printed: str) -> None:
    value = float(printed)
    # The tail falls: the true critical value lies within half a unit of the last digit printed.
    assert chi_square_tail(value + 0.0005, degrees) < probability < chi_square_tail(value - 0.0005, degrees)


def test_the_tail_is_a_probability() -> None:
    for degrees in range(1, 12):
        assert chi_square_tail(0, degrees) == 1
        assert 0 <= chi_square_tail(5000, degrees) < 1e-300
    with pytest.raises(ValueError, match="0 degrees"):
        chi_square_tail(1, 0)
    with pytest.raises(ValueError, match="-1"):
        chi_square_tail(-1, 5)


def test_the_statistic_by_hand() -> None:
    # 18 rolls are 36 faces, 6 expected of each: (4 + 4 + 1 + 1 + 0 + 0) / 6.
    faces = compare_faces([8, 4, 7, 5, 6, 6])
    assert faces.expected == (6, 6, 6, 6, 6, 6)
    assert faces.statistic == pytest.approx(10 / 6)
    # 180 rolls: 5, 10, 15, 20, 25, 30, 25 ... expected. 4 too many twos, 4 too few sevens: 16/5 + 16/30.
    totals = compare_totals([9, 10, 15, 20, 25, 26, 25, 20, 15, 10, 5])
    assert totals.expected == pytest.approx((5, 10, 15, 20, 25, 30, 25, 20, 15, 10, 5))
    assert totals.statistic == pytest.approx(16 / 5 + 16 / 30)


def exact_chances(draws: int) -> list[tuple[float, float]]:
    """(statistic, chance) of every way in which `draws` of six equal faces can fall, the greatest first."""
    found: dict[int, float] = {}

    def fall(faces: Sequence[int], left: int) -> None:
        if len(faces) == 5:
            counts = (*faces, left)
            ways = math.lgamma(draws + 1) - sum(map(LOG_FACTORIALS.__getitem__, counts))
            squares = sum(count * count for count in counts)
            found[squares] = found.get(squares, 0) + math.exp(ways - draws * math.log(6))
            return
        for count in range(left + 1):
            fall((*faces, count), left - count)

    fall((), draws)
    # The sum of (count - draws/6)^2 / (draws/6), from the sum of the squares.
    return sorted(((6 * squares / draws - draws, chance) for squares, chance in found.items()), reverse=True)


LOG_FACTORIALS = [math.lgamma(number + 1) for number in range(31)]


def exact_tail(draws: int, statistic: float) -> float:
    return sum(chance for reached, chance in exact_chances(draws) if reached >= statistic - 1e-9)


def test_the_exact_enumeration_agrees_with_cases_counted_by_hand() -> None:
    # Two draws: equal faces in 6 of 36 ways (statistic 10), otherwise two different ones (statistic 4).
    assert exact_tail(2, 10) == pytest.approx(6 / 36)
    assert exact_tail(2, 4) == pytest.approx(1)
    # Three draws: three equal in 6 of 216 ways (15), two equal in 90 (7), none in 120 (3).
    assert exact_tail(3, 15) == pytest.approx(6 / 216)
    assert exact_tail(3, 7) == pytest.approx(96 / 216)
    pairs = [sum(draws.count(face) ** 2 for face in range(6)) for draws in product(range(6), repeat=3)]
    assert [pairs.count(squares) for squares in (9, 5, 3)] == [6, 90, 120]


def test_the_tail_is_near_the_exact_chance_where_five_are_expected() -> None:
    exact = 0.0
    for statistic, chance in exact_chances(30):
        exact += chance
        # The smooth curve runs through the middle of each step.
        assert abs(chi_square_tail(statistic, 5) - (exact - chance / 2)) < (0.003 if statistic >= 12 else 0.015)
    assert exact == pytest.approx(1)


def test_too_few_rolls_get_no_verdict() -> None:
    assert compare_faces([0] * 6).probability is None
    assert compare_faces([29, 0, 0, 0, 0, 0]).probability is None  # 4.83 expected of each
    assert compare_faces([30, 0, 0, 0, 0, 0]).probability is not None  # 5
    assert compare_totals([179, *[0] * 10]).probability is None  # 4.97 twos expected
    assert compare_totals([180, *[0] * 10]).probability is not None  # 5


def test_counting_and_correcting() -> None:
    count = RollCount()
    count.add(1, 1)
    count.add(6, 5)
    assert (count.rolls, count.faces) == (2, [2, 0, 0, 0, 1, 1])
    count.correct((6, 5), (6, 6))
    assert (count.rolls, count.faces) == (2, [2, 0, 0, 0, 0, 2])
    assert count.totals == [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]


def test_all_looks_together_spend_the_false_alarm_chance_at_most() -> None:
    assert look_threshold(1) == pytest.approx(FALSE_ALARM_CHANCE / 4)
    assert 2 * sum(look_threshold(look) for look in range(1, 100_000)) < FALSE_ALARM_CHANCE


def test_a_set_is_judged_at_looks_only_and_a_corrected_roll_counts_as_corrected() -> None:
    count = RollCount()
    for _ in range(ROLLS_PER_LOOK - 1):
        count.add(6, 6)
    assert count.mark_now() is None
    count.add(6, 6)
    mark = count.mark_now()
    assert mark is not None
    assert (mark.what, mark.look, mark.rolls) == ("faces", 1, ROLLS_PER_LOOK)
    assert count.mark is None, "a roll that may still be corrected has not been judged for good"
    count.add(1, 2)
    assert count.mark == mark
    for _ in range(1000):
        for face in FACES:
            count.add(face, 7 - face)
    assert count.mark == mark, "what was seen stays"


def rolled(count: RollCount, rolls: int, dice: random.Random, faces: Sequence[int] = FACES) -> None:
    for _ in range(rolls):
        count.add(dice.choice(faces), dice.choice(FACES))


def test_fair_sets_are_marked_no_more_often_than_said() -> None:
    dice = random.Random(20261129)
    sets, marked, low = 1500, 0, {"faces": 0, "totals": 0}
    for _ in range(sets):
        count = RollCount()
        rolled(count, 600, dice)
        marked += count.mark_now() is not None
        for what, comparison in (("faces", compare_faces(count.faces)), ("totals", compare_totals(count.totals))):
            assert comparison.probability is not None
            low[what] += comparison.probability < 0.1
    # 1.5 are allowed on average; 7 or more would happen once in a thousand such tests.
    assert marked <= 6
    # The probabilities are what they say: a tenth of them is below 0.1, give or take four standard deviations.
    spread = 4 * math.sqrt(sets * 0.1 * 0.9)
    for what, number in low.items():
        assert abs(number - sets * 0.1) < spread, what


def test_a_loaded_die_is_found() -> None:
    dice = random.Random(6)
    found = 0
    for _ in range(40):
        count = RollCount()
        # One die shows the six as often as two other faces together, 2/7; the other die is fair. After 1500 rolls the
        # statistic is 81 on average with a spread of 18, and the mark is set from 35 on.
        rolled(count, 1500, dice, (*FACES, 6))
        mark = count.mark_now()
        found += mark is not None
    assert found >= 38


def test_dice_of_which_every_face_is_right_are_found_by_their_totals() -> None:
    count = RollCount()
    for number in range(300):
        face = FACES[number % 6]
        count.add(face, 7 - face)
    mark = count.mark_now()
    assert mark is not None
    assert (mark.what, mark.look) == ("totals", 2)  # the first look has too few rolls for totals


def test_the_plot_shows_every_number_with_its_sample() -> None:
    picture = bar_plot(compare_totals([1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1]), TOTALS, "Totals <&>", "36 rolls")
    root = ElementTree.fromstring(picture)  # noqa: S314
    name = "{http://www.w3.org/2000/svg}"
    texts = [text.text for text in root.iter(f"{name}text")]
    assert texts[:2] == ["Totals <&>", "36 rolls"]
    assert [text for text in texts if text in {str(total) for total in TOTALS}].count("12") == 1
    bars = [float(bar.get("height", "")) for bar in root.iter(f"{name}rect")]
    assert len(bars) == 11
    # Exactly as expected: each line lies on the top of its bar.
    assert bars[5] == max(bars) == pytest.approx(6 * bars[0], abs=0.5)
    lines = [float(line.get("y1", "")) for line in root.iter(f"{name}line")][1:]
    tops = [float(bar.get("y", "")) for bar in root.iter(f"{name}rect")]
    assert lines == pytest.approx(tops, abs=0.11)


def test_a_plot_of_no_rolls_is_empty_and_whole() -> None:
    root = ElementTree.fromstring(bar_plot(compare_faces([0] * 6), FACES, "Faces", "0 rolls"))  # noqa: S314
    assert all(float(bar.get("height", "")) == 0 for bar in root.iter("{http://www.w3.org/2000/svg}rect"))
