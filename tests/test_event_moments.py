"""Clocks that are wrong for a while move neither the events beside them nor those after them."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from device.dice_control.day_report import day_report, gaming_day
from device.dice_control.dice_history import history
from device.dice_control.event_moments import SETTINGS_MAX, EventMoments, Moment, wall_of
from device.dice_control.log_rows import LogRow
from device.dice_control.report_words import Words
from device.dice_control.row_texts import clock_marks_text, clock_texts, note_text, time_text
from device.event import GENESIS_HASH, Event, Stamp, seal
from tests.dice_journal import DiceJournal

START = datetime(2026, 11, 29, 20, tzinfo=UTC)
AHEAD, BEHIND = datetime(2037, 1, 19, 3, 14, tzinfo=UTC), datetime(1970, 1, 1, tzinfo=UTC)


def lids(journal: DiceJournal) -> list[LogRow]:
    return [row for row in history(journal.journal).rows if row.what in ("reserve_opened", "reserve_closed")]


def told(journal: DiceJournal) -> list[tuple[int, str]]:
    """Of each opening and closing: seconds after START, and the quality of its clock."""
    return [((row.at - START) // timedelta(seconds=1), row.clock) for row in lids(journal)]


def with_clock(journal: DiceJournal, wall: datetime, is_open: bool) -> None:
    """The lid is moved while the wall clock says something else; afterwards it is right again."""
    right, journal.wall = journal.wall, wall
    journal.lid(is_open)
    journal.wall = right


@pytest.mark.parametrize("wall", [AHEAD, BEHIND, datetime(2019, 12, 31, tzinfo=UTC)])
def test_one_wrong_reading_stays_between_its_neighbours_and_moves_none_of_them(wall: datetime) -> None:
    journal = DiceJournal(wall="2026-11-29T20:00:00.000Z")
    journal.wait(10)
    journal.lid(True)
    journal.wait(10)
    with_clock(journal, wall, False)
    journal.wait(10)
    journal.lid(True)
    assert told(journal) == [(10, "synced"), (20, "wrong"), (30, "synced")]
    days = [day_report(history(journal.journal), gaming_day(date(2026, 11, day), zone=UTC)) for day in (29, 30)]
    assert [len(day.openings) for day in days] == [2, 0]


def test_a_wrong_last_reading_does_not_end_the_journal_in_its_year() -> None:
    journal = DiceJournal(wall="2026-11-29T20:00:00.000Z")
    journal.lid(True)
    journal.wait(5)
    with_clock(journal, AHEAD, False)
    assert history(journal.journal).last_at == START + timedelta(seconds=5)


def test_a_clock_that_jumps_ahead_and_back_and_behind_and_back() -> None:
    journal = DiceJournal(wall="2026-11-29T20:00:00.000Z")
    for wall in (None, AHEAD, None, BEHIND, None):
        journal.wait(60)
        with_clock(journal, journal.wall if wall is None else wall, True)
    assert told(journal) == [(60, "synced"), (120, "wrong"), (180, "synced"), (240, "wrong"), (300, "synced")]


def test_a_boot_ahead_of_its_neighbours_is_held_between_them() -> None:
    journal = DiceJournal(wall="2026-11-29T20:00:00.000Z")
    journal.lid(True)
    journal.reboot("boot-2", "2037-01-19T03:14:00.000Z", "synced")
    for is_open in (False, True, False):
        journal.lid(is_open)
    journal.reboot("boot-3", "2026-11-29T22:00:00.000Z", "synced")
    journal.lid(True)
    # Held before what follows: how long before nobody can say.
    assert told(journal) == [(0, "synced"), *[(7200, "wrong")] * 3, (7200, "synced")]


def test_the_boots_that_follow_decide_about_a_boot_in_which_most_was_wrong() -> None:
    journal = DiceJournal(wall="2026-11-29T20:00:00.000Z")
    journal.reboot("boot-2", "2026-11-29T21:00:00.000Z", "synced")
    for _ in range(5):
        with_clock(journal, AHEAD, True)
    journal.wait(60)
    journal.lid(False)
    journal.reboot("boot-3", "2026-11-29T22:00:00.000Z", "synced")
    journal.lid(True)
    assert told(journal) == [*[(3600, "wrong")] * 5, (3660, "synced"), (7200, "synced")]


def test_of_two_boots_that_contradict_each_other_the_later_is_believed() -> None:
    journal = DiceJournal(wall="2037-01-19T03:14:00.000Z")
    journal.lid(True)
    journal.reboot("boot-2", "2026-11-29T20:00:00.000Z", "synced")
    journal.lid(False)
    assert told(journal) == [(0, "wrong"), (0, "synced")]


def test_a_boot_that_says_1970_is_not_believed_although_nothing_follows() -> None:
    journal = DiceJournal(wall="2026-11-29T20:00:00.000Z")
    journal.lid(True)
    journal.reboot("boot-2", "1970-01-01T00:00:10.000Z", "synced")
    journal.lid(False)
    assert told(journal) == [(0, "synced"), (0, "wrong")]


def test_of_two_settings_of_a_boot_that_are_even_the_one_that_ends_first_is_believed() -> None:
    journal = DiceJournal(wall="2026-11-29T20:00:00.000Z")
    for is_open in (True, False):
        journal.wait(10)
        with_clock(journal, AHEAD, is_open)
    # With the two events that the journal begins with, it is two against two.
    assert told(journal) == [(10, "wrong"), (20, "wrong")]


@pytest.mark.parametrize("seconds", [-50, 50])
def test_a_clock_that_is_set_by_less_than_a_minute_is_believed(seconds: int) -> None:
    journal = DiceJournal(wall="2026-11-29T20:00:00.000Z")
    journal.lid(True)
    journal.wait(100)
    journal.wall += timedelta(seconds=seconds)
    journal.lid(False)
    journal.clock = "free"
    journal.wait(10)
    journal.lid(True)
    assert told(journal) == [(0, "synced"), (100 + seconds, "synced"), (110 + seconds, "free")]


def test_a_clock_that_drifts_far_in_small_steps_is_believed() -> None:
    journal = DiceJournal(wall="2026-11-29T20:00:00.000Z")
    for _ in range(10):
        journal.wait(3600)
        journal.wall += timedelta(seconds=30)
        journal.lid(True)
    assert told(journal) == [(3630 * hour, "synced") for hour in range(1, 11)]


def test_a_clock_that_never_says_the_same_twice_is_bounded() -> None:
    journal = DiceJournal(wall="2026-11-29T20:00:00.000Z")
    for number in range(2 * SETTINGS_MAX):
        journal.wait(1)
        with_clock(journal, AHEAD + timedelta(days=number), True)
    assert {clock for _, clock in told(journal)} == {"wrong"}
    assert told(journal)[-1] == (2 * SETTINGS_MAX, "wrong")


def test_a_wrong_clock_is_marked_and_what_it_said_is_told() -> None:
    journal = DiceJournal(wall="2026-11-29T20:00:00.000Z")
    journal.lid(True)
    with_clock(journal, AHEAD, False)
    rows, words = lids(journal), Words("en")
    assert [time_text(row, UTC) for row in rows] == ["2026-11-29 20:00:00", "2026-11-29 20:00:00 !"]
    assert note_text(rows[1], words) == "the clock said 2037-01-19 03:14:00.000 UTC, which its neighbours rule out"
    assert clock_texts(rows, words) == ["The clock was wrong at 1 event (4): it stands by its order."]
    assert clock_marks_text(rows[:1], words) is None
    assert (clock_marks_text(rows, words) or "").startswith("! = the clock was wrong")


def stamped(seq: int, boot: int, mono_us: int, wall: datetime, clock: str) -> Event:
    text = wall.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
    return seal("craps-1", seq, Stamp(f"boot-{boot}", mono_us * 1000, text, clock), "slots", {}, GENESIS_HASH)


# Of each boot: seconds since the last event, and for some readings what the clock said instead.
readings = st.lists(
    st.tuples(st.integers(0, 90_000), st.none() | st.datetimes(datetime(1970, 1, 1), datetime(2099, 1, 1))),
    min_size=1,
    max_size=12,
)


@given(boots=st.lists(readings, min_size=1, max_size=5))
def test_as_long_as_a_boot_s_clock_is_mostly_right_every_event_is_where_it_was(boots: list[Any]) -> None:
    moments, right, timed = EventMoments(), START, []
    wanted: list[tuple[datetime, str]] = []
    for number, boot in enumerate(boots):
        mono_us = 0
        wrong_left = (len(boot) - 1) // 2
        for seconds, said in boot:
            right += timedelta(seconds=seconds)
            mono_us += seconds * 1_000_000
            wall = right
            if said is not None and wrong_left and abs(said.replace(tzinfo=UTC) - right) > timedelta(minutes=5):
                wrong_left -= 1
                wall = said.replace(tzinfo=UTC, microsecond=0)
            event = stamped(len(wanted) + 1, number, mono_us, wall, "synced")
            moments.see(event)
            timed.append(Moment(event.seq, wall_of(event), event.clock))
            moments.add(timed[-1], event)
            wanted.append((right, "synced" if wall == right else "wrong"))
        right += timedelta(seconds=30)
    moments.settle()
    assert [(moment.at, moment.clock) for moment in timed] == wanted
