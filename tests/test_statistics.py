"""Statistics of rolls and hold: figures made by hand, and what no cut, correction or choice of period may change."""

import json
import math
from datetime import UTC, date
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

from device.session import Session
from device.session_corrections import adjust_settlement, correct_roll
from device.statistics_edges import Odds, layout_of
from device.statistics_figures import Count, Figures, Hold, days_of, figures, sessions_of, sets_of
from device.statistics_history import Statistics, UnreadableEvent, statistics
from engine_lite import rule_sets
from engine_lite.rule_compiler import compile_rules
from engine_lite.rule_data import RuleError
from tests.dice_journal import local_zone
from tests.played_journal import ONE_SIDED, PlayedJournal, played_days

SIDE_BETS = Path(__file__).parent / "rules" / "house-side-bets.json"


def odds_of(rules: str = "us-vegas", **options: Any) -> Odds:
    return Odds(compile_rules(rule_sets.load(rules), options))


def all_of(found: Statistics) -> Figures:
    return figures(found.stretches, found)


def hold_of(made: Figures, kind: str) -> Hold:
    (hold,) = [hold for hold in made.bets if hold.kind == kind]
    return hold


def line_of(made: Figures, what: str) -> Count:
    (count,) = [count for count in made.line if count.what == what]
    return count


# The worth of a bet


@pytest.mark.parametrize(
    ("kind", "number", "worth"),
    [
        # 251 of 495 are lost and 244 won; on a point of 4, 6 throws lose and 3 win; and the other way round.
        ("pass_line", None, Fraction(7, 495)),
        ("pass_line", 4, Fraction(6 - 3, 9)),
        ("dont_pass", 4, Fraction(3 - 6, 9)),
        ("dont_pass", None, Fraction(27, 1980)),
        # (6 - 5 * 7/6) / 11, and no edge on odds.
        ("place", 6, Fraction(1, 66)),
        ("pass_odds", 4, Fraction(0)),
        # Lost 6 times of 9; won 3 times at 2 to 1 less a twentieth of the bet.
        ("buy", 4, Fraction(6, 9) - Fraction(3, 9) * (2 - Fraction(1, 20))),
        # Lost 20 times, won 14 times at 1 to 1, once at 2 to 1 and once at 3 to 1.
        ("field", None, Fraction(20 - 14 - 2 - 3, 36)),
    ],
)
def test_a_chip_is_worth_what_it_costs_until_it_is_decided(kind: str, number: int | None, worth: Fraction) -> None:
    assert odds_of().worth((kind, number)) == worth


def test_a_commission_that_is_taken_beforehand_is_worth_itself() -> None:
    # 6 of 9 lose the bet, 3 win twice of it, all have paid a twentieth.
    assert odds_of(vig="up_front").worth(("buy", 4)) == Fraction(6 - 6, 9) + Fraction(1, 20)


@pytest.mark.parametrize("name", rule_sets.NAMES)
@pytest.mark.parametrize("options", [{}, {"vig": "up_front"}], ids=["default", "up_front"])
def test_no_roll_changes_what_is_won_and_worth_together_on_average(name: str, options: dict[str, Any]) -> None:
    try:
        odds = odds_of(name, **options)
    except RuleError:
        pytest.fail("no rule set") if not options else None
        return
    for kind in odds.rules.kinds:
        numbers = odds.rules.numbers(kind)
        first = odds.rules.one(kind)
        assert first is not None
        for number in numbers if first.number is not None else [None, *numbers]:
            changes = odds.changes((kind, number))
            assert sum(changes) / 36 == pytest.approx(float(odds.worth((kind, number))), abs=1e-12)


# How far a roll throws the house off


def test_the_variance_of_a_field_bet_is_that_of_its_36_throws() -> None:
    # 5 chips: 20 throws win 5 for the house, 14 lose 5, one loses 10 and one 15; the mean is 5/36.
    mean = Fraction(5, 36)
    expected = (20 * (5 - mean) ** 2 + 14 * (-5 - mean) ** 2 + (-10 - mean) ** 2 + (-15 - mean) ** 2) / 36
    by_kind, whole = odds_of().variances({("field", None): 5})
    assert by_kind == {"field": pytest.approx(float(expected))}
    assert whole == pytest.approx(float(expected))


def test_bets_that_win_and_lose_together_are_no_independent_ones() -> None:
    odds = odds_of()
    _, one = odds.variances({("pass_line", None): 10})
    _, ten = odds.variances({("pass_line", None): 100})
    assert ten == pytest.approx(100 * one)
    # Pass and don't pass undo each other but for the 12, which only pass loses: 10 once in 36 throws.
    _, both = odds.variances({("pass_line", None): 10, ("dont_pass", None): 10})
    assert both == pytest.approx(100 * (1 / 36) * (35 / 36))


def test_bets_that_are_off_or_on_a_whole_hand_have_no_part_in_it() -> None:
    bets = [
        {"kind": "place", "number": 6, "amount": 12, "works": False},
        {"kind": "place", "number": 8, "amount": 12, "works": True},
        {"kind": "place", "number": 8, "amount": 6, "works": True},
    ]
    assert layout_of(bets) == {("place", 8): 18}
    odds = Odds(compile_rules(json.loads(SIDE_BETS.read_text(encoding="utf-8"))))
    assert odds.variances({("small", None): 5}) == ({}, 0.0)


# Rolls and bets by hand


def test_a_short_game_by_hand() -> None:
    game = PlayedJournal()
    game.bet("1", "pass_line", 10)
    game.bet("2", "field", 5)
    game.roll((1, 3))  # The point is 4; the field pays 1 to 1.
    game.bet("3", "buy", 20, 4)
    game.bet("4", "place", 12, 6)
    game.roll((6, 6), (2, 2))  # The point is made: pass pays 10, the buy 40 less a commission of 1 and stays up.
    game.bet("5", "pass_line", 5)
    game.roll((4, 3))  # A natural; the place bets are off on a come-out.
    made = all_of(game.statistics())
    assert (made.rolls, made.decisions) == (4, 2)
    assert [(count.what, count.seen) for count in made.faces] == list(zip("123456", (1, 2, 2, 1, 0, 2), strict=True))
    seen = {count.what: count.seen for count in made.totals if count.seen}
    assert seen == {"4": 2, "7": 1, "12": 1}
    assert [(count.what, count.seen, count.of) for count in made.line] == [
        ("natural", 1, 2),
        ("craps", 0, 2),
        ("point_set", 1, 2),
        ("point_made", 1, 1),
        ("seven_out", 0, 1),
    ]
    assert line_of(made, "point_made").expected == pytest.approx(3 / 9)
    assert line_of(made, "natural").expected == pytest.approx(2 * 8 / 36)
    assert line_of(made, "natural").error == pytest.approx(math.sqrt(2 * (8 / 36) * (28 / 36)))
    assert [(bet.kind, bet.decided, bet.staked, bet.won) for bet in made.bets] == [
        ("pass_line", 2, 15, -15),
        ("buy", 1, 20, -39),
        ("field", 1, 5, -5),
    ]
    assert hold_of(made, "pass_line").expected == pytest.approx(15 * 7 / 495)
    assert hold_of(made, "pass_line").expected_hold == pytest.approx(7 / 495)
    assert hold_of(made, "buy").expected == pytest.approx(20 / 60)
    assert (made.whole.decided, made.whole.staked, made.whole.won) == (4, 40, -59)
    assert game.statistics().layout == 32
    assert made.whole.rounding == 0


def test_what_rounding_leaves_with_the_house_is_told_apart() -> None:
    game = PlayedJournal()
    game.bet("1", "pass_line", 5)
    game.roll((1, 3))
    game.bet("2", "place", 5, 6)
    game.bet("3", "buy", 30, 5)  # A twentieth is 1 and a half, of which 1 is taken.
    game.roll((3, 3), (2, 3))
    made = all_of(game.statistics())
    place, buy = hold_of(made, "place"), hold_of(made, "buy")
    # 5 at 7 to 6 is 5 and five sixths, of which 5 are paid.
    assert place.won == -5
    assert place.rounding == pytest.approx(5 / 6)
    assert place.difference == pytest.approx(-5 - 5 / 66 - 5 / 6)
    assert buy.won == -45 + 1
    assert buy.rounding == pytest.approx(-0.5)


def test_a_commission_taken_beforehand_counts_when_the_bet_is_decided() -> None:
    game = PlayedJournal(options={"vig": "up_front"})
    game.bet("1", "pass_line", 5)
    game.roll((2, 3))
    game.bet("2", "buy", 20, 4)
    game.bet("3", "buy", 20, 10)
    game.roll((1, 3))
    made = all_of(game.statistics())
    assert [(bet.kind, bet.staked, bet.won, bet.expected) for bet in made.bets] == [("buy", 20, -40 + 1, 1.0)]
    # The 4 stays up and has paid again; both are lost with their commissions.
    game.roll((3, 4))
    made = all_of(game.statistics())
    assert (hold_of(made, "buy").decided, hold_of(made, "buy").won) == (3, -39 + 21 + 21)
    assert hold_of(made, "buy").rounding == 0
    table = game.session.table
    assert table is not None
    assert sum(bet.won for bet in made.bets) == table.house


def test_a_commission_taken_beforehand_is_kept_of_a_bet_that_wins_and_goes() -> None:
    game = PlayedJournal(options={"vig": "up_front", "winners_stay_up": False})
    game.bet("1", "pass_line", 5)
    game.roll((2, 3))
    game.bet("2", "buy", 20, 4)
    game.roll((1, 3))
    assert hold_of(all_of(game.statistics()), "buy").won == -40 + 1


def test_a_corrected_roll_counts_as_what_it_was() -> None:
    game, right = PlayedJournal(), PlayedJournal()
    for played in (game, right):
        played.bet("1", "pass_line", 10)
        played.bet("2", "field", 5)
    game.roll((1, 3))
    game.bet("3", "come", 10)
    game.wait(9)
    game.do({"correct": [1, 5]})
    right.roll((1, 5))
    right.bet("3", "come", 10)
    for played in (game, right):
        played.roll((1, 3), (4, 3))
    assert all_of(game.statistics()).bets == all_of(right.statistics()).bets
    assert all_of(game.statistics()).faces == all_of(right.statistics()).faces
    assert all_of(game.statistics()).line == all_of(right.statistics()).line
    assert all_of(game.statistics()).whole == all_of(right.statistics()).whole


def test_a_roll_that_a_supervisor_corrects_later_counts_as_what_it_was_and_so_do_those_after_it() -> None:
    game, right = PlayedJournal(), PlayedJournal()
    for played, first in ((game, (1, 3)), (right, (2, 3))):
        played.bet("1", "pass_line", 10)
        played.bet("2", "field", 5)
        played.roll(first, (3, 3))
        played.bet("3", "come", 10)
        played.roll((6, 2))
    game.supervise(correct_roll, 1, (2, 3), "misread")
    for played in (game, right):
        played.roll((1, 6), (5, 6))
    made, expected = all_of(game.statistics()), all_of(right.statistics())
    assert (made.bets, made.whole, made.faces, made.line) == (
        expected.bets,
        expected.whole,
        expected.faces,
        expected.line,
    )
    table = game.session.table
    assert table is not None
    assert made.whole.won == table.house


def test_what_a_supervisor_adjusts_is_told_apart() -> None:
    game = PlayedJournal()
    game.bet("1", "field", 5)
    game.roll((1, 3))
    game.roll((2, 2))
    game.supervise(adjust_settlement, 1, [{"player": "1", "amount": 4}], "paid too much")
    made = all_of(game.statistics())
    assert (made.whole.won, made.adjusted) == (-5, -4)
    table = game.session.table
    assert table is not None
    assert table.house == -9


def test_what_lies_on_the_layout_is_not_counted() -> None:
    game = PlayedJournal()
    game.bet("1", "pass_line", 50)
    game.roll((4, 4))
    made = all_of(game.statistics())
    assert made.bets == ()
    assert (made.whole.decided, made.whole.expected) == (0, 0)


def test_a_bet_on_a_whole_hand_counts_but_has_no_error() -> None:
    game = PlayedJournal(rules=json.loads(SIDE_BETS.read_text(encoding="utf-8")))
    game.bet("1", "pass_line", 10)
    game.bet("2", "small", 5)
    game.roll((3, 4))
    made = all_of(game.statistics())
    small = hold_of(made, "small")
    assert (small.won, small.error) == (5, None)
    # Won before a seven with all of 2 to 6: 1 to 34, the chance is 2.635 % (Wizard of Odds), so the edge is 7.76 %.
    assert small.expected_hold == pytest.approx(0.0776, abs=5e-5)
    assert (made.whole.staked, made.whole.won) == (10, -10)


# The same whatever the journal is cut into


def test_two_parts_of_a_pruned_journal_are_together_what_the_whole_is() -> None:
    game = PlayedJournal()
    game.use_set("A")
    game.hands(Random(5), 60)
    whole = all_of(game.statistics())
    for cut in range(40, len(game.events), 37):
        session = Session()
        for event in game.events[:cut]:
            session.replay(event.seq, event.type, event.data)
        first = statistics(game.events[:cut])
        # A roll at the end may be corrected by what comes first in the other part.
        second = statistics(game.events[cut:], session)
        parts = figures([*first.stretches, *second.stretches], first)
        for part, bet in zip(parts.bets, whole.bets, strict=True):
            assert (part.kind, part.decided, part.staked, part.won) == (bet.kind, bet.decided, bet.staked, bet.won)
            assert [part.expected, part.rounding, part.error] == pytest.approx([bet.expected, bet.rounding, bet.error])
        assert (parts.faces, parts.totals, parts.line) == (whole.faces, whole.totals, whole.line)
        assert second.pruned_seq == cut
        assert set(sets_of(second)) == {"A"}


def test_the_house_has_won_what_is_counted() -> None:
    game = PlayedJournal()
    game.hands(Random(11), 150)
    table = game.session.table
    assert table is not None
    assert all_of(game.statistics()).whole.won == table.house


def test_errors_are_as_large_as_chance_makes_them() -> None:
    # Of many short sessions, the differences in standard errors have a mean of 0 and a spread of 1, within three of
    # their own standard errors. Nearly all of these bets lose together, which independent ones would not.
    chance = Random(2026)
    off = []
    for _ in range(80):
        game = PlayedJournal()
        game.hands(chance, 15, ONE_SIDED)
        whole = all_of(game.statistics()).whole
        assert whole.error is not None
        off.append(whole.difference / whole.error)
    mean = sum(off) / len(off)
    spread = math.sqrt(sum(value * value for value in off) / len(off))
    assert abs(mean) < 3 / math.sqrt(len(off))
    assert abs(spread - 1) < 3 / math.sqrt(2 * len(off))


# Periods


def test_days_sessions_and_sets_are_told_apart() -> None:
    with local_zone("Europe/Madrid"):
        # 03:00 and 11:00 UTC are 04:00 and 12:00; the gaming day ends at 06:00.
        game = played_days(Random(3), 3, 30)
        found = game.statistics()
        days = days_of(found, None)
        sessions = sessions_of(found)
        assert list(sessions) == [1, 2, 3]
        assert list(days) == [date(2026, 11, 28), date(2026, 11, 29)]
        assert list(sets_of(found)) == ["R1", "R2", "R3"]
        rolls = sum(event.type == "roll" for event in game.events)
        for parts in (days, sessions, sets_of(found)):
            assert sum(figures(some, found).rolls for some in parts.values()) == rolls
        starts = [figures(parts, found).began for parts in days.values()]
        assert all(start is not None and start.astimezone(UTC).hour in (5, 20, 12, 13) for start in starts)


def test_a_session_over_the_end_of_a_gaming_day_is_split_there() -> None:
    with local_zone("UTC"):
        game = PlayedJournal(wall="2026-11-29T05:58:30.000Z")
        game.roll((1, 1), (1, 2), (1, 1), (1, 2))  # At 05:59:06, 05:59:42, 06:00:18 and 06:00:54.
        days = days_of(game.statistics(), None)
        assert {day: sum(part.tally.rolls for part in parts) for day, parts in days.items()} == {
            date(2026, 11, 28): 2,
            date(2026, 11, 29): 2,
        }


def test_rolls_before_a_set_is_known_count_for_none() -> None:
    game = PlayedJournal()
    game.roll((1, 1))
    game.use_set("A")
    game.roll((1, 1), (1, 1))
    found = game.statistics()
    assert [(part.dice_set, part.tally.rolls) for part in found.stretches] == [(None, 1), ("A", 2)]


# Pace


def test_the_pace_is_of_play_and_not_of_pauses() -> None:
    game = PlayedJournal()
    for seconds in (0, 30, 60, 1200, 30, 60):
        game.wait(seconds)
        game.do({"roll": [1, 1]})
    game.close()
    game.open()
    game.do({"roll": [1, 1]})
    pace = all_of(game.statistics()).pace
    assert pace is not None
    # 30, 60, 30 and 60 s: 45 s on average, 80 an hour; the spread is 17.32 s, so the mean is known to 8.66 s.
    assert (pace.gaps, pace.played_ms, pace.an_hour) == (4, 180_000, 80.0)
    assert pace.error == pytest.approx(80 * 8.660254 / 45)


def test_void_throws_are_counted_and_are_no_rolls() -> None:
    game = PlayedJournal()
    game.do({"no_roll": "off_table"})
    game.roll((1, 1))
    game.do({"no_roll": "short"})
    game.roll((1, 1))
    made = all_of(game.statistics())
    assert (made.rolls, made.void_throws) == (2, 2)


def test_an_event_that_cannot_be_is_named() -> None:
    game = PlayedJournal()
    game.roll((1, 1))
    game.bet("1", "pass_line", 10)
    seq = game.events[-1].seq
    # A bet that the table refuses, as its minimum is 5; and one that has no amount.
    step = game.events[-1].data["step"]["bet"]
    step["amount"] = 1
    with pytest.raises(
        UnreadableEvent, match=rf"event {seq} \(bet\) cannot be done again: below_min: the minimum is 5"
    ):
        game.statistics()
    del step["amount"]
    with pytest.raises(UnreadableEvent, match=rf"event {seq} \(bet\) cannot be done again"):
        game.statistics()


def test_an_empty_journal_has_figures() -> None:
    made = all_of(statistics([]))
    assert (made.rolls, made.began, made.pace, made.bets, made.course) == (0, None, None, (), ())
    assert all(count.seen == 0 for count in (*made.totals, *made.faces, *made.line))


def test_the_course_ends_where_the_sums_do() -> None:
    game = played_days(Random(3), 2, 30)
    made = all_of(game.statistics())
    last = made.course[-1]
    assert (last.rolls, last.won) == (made.rolls, made.whole.won)
    assert last.expected == pytest.approx(made.whole.expected + made.whole.rounding)
    assert last.error == pytest.approx(made.whole.error)
