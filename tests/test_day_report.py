"""A gaming day's account of its dice, and the dice log's rows, against figures worked out by hand."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from device.dice_control import dice_rules
from device.dice_control.day_report import DayReport, day_report, gaming_day
from device.dice_control.dice_actions import ActionError, parse_action
from device.dice_control.dice_history import DICE_EVENTS, LID_EVENTS, History, history
from device.dice_control.dice_rules import NAMES
from device.dice_control.event_alerts import latched_alerts
from device.dice_control.log_rows import LogRow
from device.dice_control.report_words import Words
from device.dice_control.reserve_conditions import ReserveTimes, conditions
from device.dice_control.row_texts import dice_text, note_text, rule_texts, seconds_text
from device.dice_control.set_account import Difference, SetDay
from device.event import GENESIS_HASH
from device.origin import Origin
from device.session import Entry, Session
from device.table_terms import TableTerms
from engine_lite import rule_sets
from engine_lite.refusal import Refused
from tests.dice_journal import DiceJournal, spanish_day
from tests.test_dice_properties import action, elsewhere

MADRID = ZoneInfo("Europe/Madrid")


def of_day(journal: DiceJournal, day: str = "2026-11-29", zone: Any = MADRID) -> tuple[History, DayReport]:
    found = history(journal.journal)
    return found, day_report(found, gaming_day(date.fromisoformat(day), zone=zone))


def account(report: DayReport, name: str) -> SetDay:
    return next(day for day in report.sets if day.name == name)


def rows(journal: DiceJournal, *whats: str) -> list[LogRow]:
    """The rows of these kinds; of none, all but that the table was opened."""
    found = history(journal.journal).rows
    return [row for row in found if row.what in whats or (not whats and row.what != "table_opened")]


def move(set_name: str, die: str, source: str, target: str) -> dict[str, str]:
    return {"set": set_name, "die": die, "from": source, "to": target}


# The gaming day


def test_a_gaming_day_begins_at_its_hour_of_local_time() -> None:
    day = gaming_day(date(2026, 11, 29), zone=MADRID)
    assert day.starts == datetime(2026, 11, 29, 5, 0, tzinfo=UTC)
    assert day.ends == datetime(2026, 11, 30, 5, 0, tzinfo=UTC)
    assert day.holds(day.starts)
    assert not day.holds(day.ends)
    late = gaming_day(date(2026, 11, 29), time(10, 30), ZoneInfo("Asia/Macau"))
    assert late.starts == datetime(2026, 11, 29, 2, 30, tzinfo=UTC)
    assert late.ends == datetime(2026, 11, 30, 2, 30, tzinfo=UTC)


@pytest.mark.parametrize(("day", "hours"), [(date(2026, 3, 28), 23), (date(2026, 10, 24), 25), (date(2026, 7, 1), 24)])
def test_a_day_in_which_summer_time_begins_or_ends_has_23_or_25_hours(day: date, hours: int) -> None:
    span = gaming_day(day, zone=MADRID)
    assert span.ends.astimezone(UTC) - span.starts.astimezone(UTC) == timedelta(hours=hours)


# The day of `spanish_day`, worked out by hand


def test_the_account_of_a_day() -> None:
    _, report = of_day(spanish_day())
    # Set: beginning, received, destroyed, end; distributed, returned, withdrawn, cancelled, gone missing.
    by_hand = {
        "A": (6, 0, 0, 6, 0, 0, 5, 0, 1),
        "B": (6, 0, 0, 6, 6, 6, 0, 0, 0),
        "C": (6, 0, 6, 0, 0, 0, 0, 0, 0),
        "D": (0, 6, 0, 6, 0, 0, 0, 0, 0),
        "": (18, 6, 6, 18, 6, 6, 5, 0, 1),
    }
    for day in (*report.sets, report.total):
        figures = (
            day.held_at_beginning,
            day.received,
            day.into("destroyed"),
            day.held_at_end,
            day.distributed,
            day.returned,
            day.into("withdrawn"),
            day.into("cancelled"),
            day.into("missing"),
        )
        assert figures == by_hand[day.name], day.name
    assert [day.name for day in report.sets] == ["A", "B", "C", "D"]
    assert account(report, "A").beginning == {"play": 2, "reserve": 4}
    assert account(report, "A").end == {"withdrawn": 5, "missing": 1}
    assert report.total.end == {"store": 12, "withdrawn": 5, "missing": 1, "destroyed": 6}
    assert report.balances


def test_a_set_that_was_in_use_for_more_than_24_hours_is_named() -> None:
    _, report = of_day(spanish_day())
    # From 20:00 on the 28th to 22:30 on the 29th.
    assert account(report, "A").longest == timedelta(hours=26, minutes=30)
    assert [day.name for day in report.sets if day.over_24_hours] == ["A"]
    # On the day before it was in use for nine hours, until the day was over.
    _, before = of_day(spanish_day(), "2026-11-28")
    assert account(before, "A").longest == timedelta(hours=9)
    assert account(before, "A").since == datetime(2026, 11, 28, 20, tzinfo=UTC)


def test_exactly_24_hours_are_not_more_than_24() -> None:
    journal = DiceJournal(wall="2026-11-28T20:00:00.000Z")
    journal.do("on_duty", boxman="Ana", witness="Luis")
    journal.set_up()
    journal.move_to("2026-11-29T20:00:00.000Z")
    journal.do("remove", set="A", to="store", reason="closing")
    _, report = of_day(journal)
    assert account(report, "A").longest == timedelta(hours=24)
    assert not account(report, "A").over_24_hours


def test_openings_are_counted_with_their_explanations() -> None:
    _, report = of_day(spanish_day())
    told = [
        (opening.open_ms, opening.reason, opening.explained_as, opening.explained_by, opening.late)
        for opening in report.openings
    ]
    assert told == [
        (6500, "die_off_table", None, "Ana", False),
        (12000, "inspector_request", "supervisor", "Eva", True),
        # The set was withdrawn afterwards, and out of the reserve.
        (3250, "die_off_table", None, "Ana", False),
        (1500, None, None, None, False),
    ]
    assert len(report.unexplained) == 1
    assert [opening.explained_by for opening in report.explained_late] == ["Eva"]


def test_counts_changes_and_void_throws_of_the_day() -> None:
    _, report = of_day(spanish_day())
    counts = [(row.what, row.set_name, row.done_by, row.seen_by, row.difference) for row in report.counts]
    missing = {"die": "B6", "log": "reserve", "seen": None}
    assert counts == [
        ("count_opening", "A", "Ana", "Luis", ()),
        ("count_closing", "B", "Ana", "Luis", (missing,)),
    ]
    assert [row.reason for row in report.changes] == ["die_off_table", "shooter_request"]
    # The lid was not opened for the change, nor to bring set B and to take it away.
    told = [(row.what, rule["rule"], rule["article"]) for row in report.against_rule for rule in row.against_rule]
    assert told == [
        ("swap", "change", "IV.3"),
        ("swap", "lid_shut", "house"),
        ("placed", "lid_shut", "house"),
        ("to_store", "lid_shut", "house"),
    ]
    void = [(row.what, row.reason, row.dice) for row in report.void_throws]
    assert void == [
        ("void_dice", "off_table", ("A1",)),
        ("void_dice", "in_dice_cup", ("A3",)),
        ("void_throw", "short", ()),
    ]


def test_a_day_is_over_when_the_journal_reaches_beyond_it() -> None:
    journal = spanish_day()
    assert not of_day(journal)[1].is_over
    journal.move_to("2026-11-30T05:00:00.000Z")
    journal.take("stopped", {})
    assert of_day(journal)[1].is_over


@pytest.mark.parametrize(
    ("ends", "journal_day"),
    [
        # Madrid is an hour ahead of UTC, and a gaming day begins at six.
        ("2026-11-30T04:59:59.000Z", date(2026, 11, 29)),
        ("2026-11-30T05:00:00.000Z", date(2026, 11, 30)),
        ("2026-11-30T23:30:00.000Z", date(2026, 11, 30)),
        ("2026-12-05T12:00:00.000Z", date(2026, 12, 5)),
    ],
)
def test_the_gaming_day_in_which_the_journal_ends_is_told(ends: str, journal_day: date) -> None:
    journal = spanish_day()
    journal.move_to(ends)
    journal.take("stopped", {})
    for day in ("2026-11-29", "2026-11-30"):
        report = of_day(journal, day)[1]
        assert report.journal_day == journal_day
        assert report.is_over is (journal_day > date.fromisoformat(day))


def test_rolls_with_dice_that_the_log_does_not_know_belong_to_their_day() -> None:
    journal = DiceJournal(wall="2026-11-29T04:59:00.000Z")
    journal.roll(1, 1)
    journal.wait(60)
    journal.roll(2, 2)
    journal.roll(3, 3)
    found, report = of_day(journal)
    assert (found.rolls_of_no_set, report.unknown_rolls, report.lacks_dice) == (3, 2, True)
    assert of_day(journal, "2026-11-28")[1].unknown_rolls == 1
    assert not of_day(journal, "2026-11-30")[1].lacks_dice
    journal.do("on_duty", boxman="Ana", witness="Luis")
    journal.receive(dice=5)
    report = of_day(journal)[1]
    assert (report.unknown_rolls, report.lacks_dice) == (2, False), "there is a set to account for"


def test_a_roll_while_the_clock_is_not_synced_is_found_by_the_monotonic_clock() -> None:
    journal = DiceJournal(wall="2026-11-29T20:00:00.000Z")
    journal.reboot("boot-2", "1970-01-01T00:00:10.000Z", "free")
    journal.roll(1, 1)
    journal.wait(90)
    journal.clock, journal.wall = "synced", datetime(2026, 11, 29, 21, tzinfo=UTC)
    journal.take("slots", {"occupied": [], "initial": True})
    found, report = of_day(journal)
    assert [roll.at for roll in found.unknown_rolls] == [datetime(2026, 11, 29, 20, 58, 30, tzinfo=UTC)]
    assert report.unknown_rolls == 1


def test_a_day_without_events_has_an_account_too() -> None:
    journal = spanish_day()
    journal.move_to("2026-12-24T05:00:00.000Z")
    journal.take("stopped", {})
    _, report = of_day(journal, "2026-12-01")
    assert (report.rows, report.openings, report.is_over) == ((), (), True)
    assert report.total.held_at_beginning == report.total.held_at_end == 18
    assert report.balances
    # C was destroyed: there is nothing to account for any more.
    assert [day.name for day in report.sets] == ["A", "B", "D"]
    _, before = of_day(journal, "2020-01-01")
    assert (before.sets, before.rows, before.balances) == ((), (), True)


def test_an_empty_journal_has_a_day() -> None:
    found = history([])
    assert (found.last_seq, found.last_hash, found.last_at) == (0, GENESIS_HASH, None)
    report = day_report(found, gaming_day(date(2026, 11, 29), zone=UTC))
    assert (report.is_over, report.balances, report.sets) == (False, True, ())
    assert (report.journal_day, report.lacks_dice) == (None, False)


# Where the events contradict each other


def test_a_die_that_is_moved_from_where_it_was_not_is_named() -> None:
    journal = spanish_day()
    found = history(journal.journal)
    (row,) = [row for row in found.rows if row.what == "missing"]
    row.moves = (replace(row.moves[0], source="inspection"),)
    report = day_report(found, gaming_day(date(2026, 11, 29), zone=MADRID))
    assert not report.balances
    assert account(report, "A").differences == [Difference(row.seq, "A", "A1", "inspection", "floor")]
    assert not account(report, "A").balances
    assert account(report, "B").balances


def test_a_die_that_was_never_received_is_named() -> None:
    found = history(spanish_day().journal)
    (row,) = [row for row in found.rows if row.what == "missing"]
    row.moves = (replace(row.moves[0], die="A7"),)
    report = day_report(found, gaming_day(date(2026, 11, 29), zone=MADRID))
    assert report.total.differences == [Difference(row.seq, "A", "A7", "floor", None)]
    assert account(report, "A").held_at_end == 7
    assert not report.balances


def test_a_set_that_is_received_twice_is_named() -> None:
    found = history(spanish_day().journal)
    (row,) = [row for row in found.rows if row.what == "received" and row.set_name == "D"]
    row.set_name, row.dice = "B", ("B1",)
    report = day_report(found, gaming_day(date(2026, 11, 29), zone=MADRID))
    assert account(report, "B").differences == [Difference(row.seq, "B", "B1", None, "store")]
    assert not report.balances


# Time


def test_the_clock_that_was_not_synced_is_marked_and_the_day_is_found_by_the_monotonic_clock() -> None:
    journal = DiceJournal(wall="2026-11-29T20:00:00.000Z")
    journal.reboot("boot-2", "1970-01-01T00:00:10.000Z", "free")
    journal.do("on_duty", boxman="Ana", witness="Luis")
    journal.receive()
    journal.wait(90)
    journal.clock, journal.wall = "synced", datetime(2026, 11, 29, 21, tzinfo=UTC)
    journal.take("slots", {"occupied": [], "initial": True})
    assert [(row.what, row.clock, row.at) for row in rows(journal)] == [
        ("duty", "free", datetime(2026, 11, 29, 20, 58, 30, tzinfo=UTC)),
        ("received", "free", datetime(2026, 11, 29, 20, 58, 30, tzinfo=UTC)),
    ]


def test_a_clock_that_is_lost_is_carried_on_from_its_last_synced_event() -> None:
    journal = DiceJournal(wall="2026-11-29T20:00:00.000Z")
    journal.wait(60)
    journal.clock, journal.wall = "free", datetime(2001, 1, 1, tzinfo=UTC)
    journal.do("on_duty", boxman="Ana", witness="Luis")
    assert rows(journal)[0].at == datetime(2026, 11, 29, 20, 1, tzinfo=UTC)


def test_a_boot_whose_clock_was_never_synced_stays_between_its_neighbours() -> None:
    journal = DiceJournal(wall="2026-11-29T20:00:00.000Z")
    journal.reboot("boot-2", "1970-01-01T00:00:10.000Z", "free")
    journal.lid(False, initial=True)
    journal.reboot("boot-3", "2040-01-01T00:00:00.000Z", "free")
    journal.lid(True)
    journal.reboot("boot-4", "2026-11-29T22:00:00.000Z", "synced")
    journal.lid(False, initial=True)
    assert [row.at for row in rows(journal)] == [datetime(2026, 11, 29, hour, tzinfo=UTC) for hour in (20, 22, 22)]


def test_a_clock_that_goes_back_does_not_turn_the_order_round() -> None:
    journal = DiceJournal(wall="2026-11-29T20:00:00.000Z")
    journal.lid(True)
    journal.wall = datetime(2026, 11, 29, 19, tzinfo=UTC)
    journal.lid(False)
    assert [(row.at.hour, row.clock) for row in rows(journal)] == [(20, "synced"), (20, "wrong")]


def test_how_long_the_lid_was_open_is_not_asked_of_the_wall_clock() -> None:
    journal = DiceJournal()
    journal.lid(True)
    journal.wait(5.5)
    journal.wall += timedelta(days=10)
    journal.lid(False)
    assert [(row.what, row.open_ms) for row in rows(journal)] == [("reserve_opened", 5500), ("reserve_closed", 5500)]


@pytest.mark.parametrize(("clock", "open_ms"), [("synced", 120_000), ("free", None)])
def test_over_a_restart_of_the_machine_two_synced_clocks_say_how_long(clock: str, open_ms: int | None) -> None:
    journal = DiceJournal(wall="2026-11-29T20:00:00.000Z")
    journal.lid(True)
    journal.reboot("boot-2", "2026-11-29T20:02:00.000Z", clock)
    journal.lid(True, initial=True)
    journal.lid(False)
    found = history(journal.journal)
    (opening,) = found.openings
    assert (opening.open_ms, opening.closed) == (open_ms, 5)
    told = [(row.first_since, row.belongs_to) for row in rows(journal)]
    assert told == [(None, None), ("start", 3), (None, 3)]


def test_a_lid_that_a_start_finds_open_is_an_opening() -> None:
    journal = DiceJournal()
    journal.lid(False, initial=True)
    journal.lid(True, initial=True)
    found = history(journal.journal)
    assert [opening.row.seq for opening in found.openings] == [4]
    assert found.reserve_open is True


# Rows


def test_the_rows_say_what_was_done_to_which_dice_by_whom() -> None:
    found, _ = of_day(spanish_day())
    (swap,) = [row for row in found.rows if row.what == "swap" and row.against_rule]
    assert [(move.die, move.source, move.target) for move in swap.moves] == [
        ("A2", "play", "reserve"),
        ("A4", "reserve", "play"),
    ]
    assert (swap.set_name, swap.reason, swap.asked_by, swap.asked_by_name) == ("A", "shooter_request", "shooter", "3")
    assert (swap.done_by, swap.seen_by, swap.roll_number, swap.point, swap.phase) == ("Ana", "Luis", 1, 6, "point")
    (inspected,) = [row for row in found.rows if row.what == "inspected" and row.set_name == "A"]
    assert inspected.dice == ("A1", "A2", "A3", "A4", "A5", "A6")
    assert (found.table, found.site, found.rules) == ("craps-1", "casino-1", "es-1979")


def test_a_void_throw_s_row_has_the_game_although_its_event_has_not() -> None:
    journal = DiceJournal()
    journal.take("shooter", {"step": {"shooter": "Zoe"}})
    journal.roll(2, 2, number=7, point=4)
    journal.void_throw("on_chips")
    (row,) = rows(journal)
    assert (row.what, row.shooter, row.roll_number, row.point, row.session) == ("void_throw", "Zoe", 7, 4, 1)


def test_a_change_by_which_the_shooter_keeps_his_dice_names_what_was_offered_and_taken() -> None:
    journal = DiceJournal()
    journal.do("on_duty", boxman="Ana", witness="Luis")
    journal.set_up(dice=5)
    journal.do("change", taken=["1", "2"])
    journal.do("offer")
    journal.do("offer")
    kept, _, again = history(journal.journal).rows[-3:]
    assert (kept.what, kept.moves, kept.offered, kept.taken) == ("change", (), tuple("12345"), ("1", "2"))
    assert dice_text(kept, Words("en")) == "offered: 1, 2, 3, 4, 5; taken: 1, 2"
    assert dice_text(again, Words("en")) == "offered: 1, 2, 3, 4, 5"


@pytest.mark.parametrize(
    ("rules", "reason", "said"),
    [
        # Macau art. 3.1: the face most exposed upwards is read; art. 3.2.1: off the table is void.
        ("mo-2010", "on_chips", "art. 3.1"),
        ("mo-2010", "leaning", "art. 3.1"),
        ("mo-2010", "off_table", None),
        ("es-1979", "on_chips", None),
    ],
)
def test_a_void_throw_that_the_rule_set_reads_says_so(rules: str, reason: str, said: str | None) -> None:
    journal = DiceJournal(rules)
    journal.do("on_duty", boxman="Ana", witness="Luis")
    journal.set_up(dice=5)
    journal.void_throw(reason, "1")
    rows = history(journal.journal).rows[-2:]
    assert [row.what for row in rows] == ["void_throw", "void_dice"]
    for row in rows:
        assert (row.counted_by or "").partition(":")[0] == (said or "")
        assert ("by the rules this throw is read (art. 3.1:" in note_text(row, Words("en"))) is (said is not None)


def test_the_rules_that_are_broken_stand_under_their_articles() -> None:
    journal = DiceJournal("es-1979")
    journal.do("on_duty", boxman="Ana", witness="Luis")
    journal.receive(dice=6)
    journal.do("place", set="A")
    row = history(journal.journal).rows[-1]
    assert len(row.against_rule) == 2
    assert rule_texts(row, Words("en")) == [
        "II.1: The dice of set A have no serial numbers. The dice of set A do not carry the house's mark."
    ]


@pytest.mark.parametrize(("milliseconds", "text"), [(0, "0.0"), (49, "0.0"), (50, "0.1"), (1999, "2.0"), (6549, "6.5")])
def test_seconds_are_rounded_to_the_nearest_tenth(milliseconds: int, text: str) -> None:
    assert seconds_text(milliseconds) == text


def test_alerts_about_dice_are_rows_and_others_are_not() -> None:
    journal = DiceJournal()
    journal.raise_alert("puck_misplaced", "The puck is on 4.")
    journal.raise_alert("dice_key_stuck", "A key is stuck.")
    journal.raise_alert("dice_missing:A", "Die 3 of set A missing.")
    journal.take("alert_acknowledged", {"alert": "dice_missing:A", "name": "Eva"})
    journal.raise_alert("against_rule:9", "Against the rule.")
    found = history(journal.journal)
    assert [(row.what, row.alert, row.text, row.done_by) for row in rows(journal)] == [
        ("alert_raised", "dice_missing:A", "Die 3 of set A missing.", None),
        ("alert_acknowledged", "dice_missing:A", "Die 3 of set A missing.", "Eva"),
        ("alert_raised", "against_rule:9", "Against the rule.", None),
    ]
    assert list(found.alerts) == ["dice_missing:A", "against_rule:9"]
    journal.take("alert_acknowledged", {"alert": "against_rule:9", "name": "Eva"})
    journal.take("alert_cleared", {"alert": "dice_missing:A"})
    assert history(journal.journal).alerts == {}


def test_after_the_alert_a_boxman_s_word_does_not_explain_an_opening() -> None:
    journal = DiceJournal()
    journal.do("on_duty", boxman="Ana", witness="Luis")
    opening = journal.lid_opened_for(1)
    journal.raise_alert(f"reserve_unexplained:{opening}", "No reason.")
    journal.do("explain", opening=opening, reason="damage", as_="boxman")
    assert [opening.is_explained for opening in history(journal.journal).openings] == [False]
    journal.do("explain", opening=opening, reason="boxman_order", as_="supervisor", done_by="Eva")
    (told,) = history(journal.journal).openings
    assert (told.is_explained, told.late, told.reason, told.explained_by) == (True, True, "boxman_order", "Eva")


def test_the_first_deed_in_an_opening_explains_it() -> None:
    journal = DiceJournal()
    journal.do("on_duty", boxman="Ana", witness="Luis")
    journal.set_up(dice=5)
    journal.lid(True)
    journal.do("swap", set="A", out=["1"], in_=["3"], reason="damage", to="reserve")
    journal.do("swap", set="A", out=["2"], in_=["4"], reason="boxman_order")
    journal.lid(False)
    found = history(journal.journal)
    assert [row.belongs_to for row in found.rows if row.what == "swap"] == [found.openings[0].row.seq] * 2
    assert found.openings[0].reason == found.openings[0].row.reason == "damage"


# Rolls


def test_a_roll_of_dice_of_two_sets_counts_for_neither() -> None:
    journal = DiceJournal()
    journal.do("on_duty", boxman="Ana", witness="Luis")
    for name in "AB":
        journal.receive(name, dice=5)
    moved = {
        "action": "swap",
        "opening": None,
        "moves": [move("A", "1", "store", "play"), move("B", "1", "store", "play")],
    }
    journal.append("dice_moved", moved)
    journal.roll(1, 1)
    journal.append("dice_moved", moved | {"moves": [move("B", "2", "store", "play")]})
    journal.append("dice_moved", moved | {"moves": [move("A", "1", "play", "floor")]})
    journal.roll(2, 2)
    found = history(journal.journal)
    assert found.rolls_of_no_set == 1
    assert {name: count.rolls for name, count in found.rolls.items()} == {"B": 1}


def test_rolls_count_for_the_set_in_play_corrections_once_and_void_throws_not() -> None:
    journal = DiceJournal()
    journal.do("on_duty", boxman="Ana", witness="Luis")
    journal.roll(1, 1)
    journal.set_up(dice=5)
    journal.roll(6, 6)
    journal.void_throw("on_chips")
    roll = journal.roll(5, 4)
    for dice in ([5, 5], [4, 4]):
        journal.take("correct", {"step": {"correct": dice}, "corrects": roll, "point": None})
    found = history(journal.journal)
    assert found.rolls_of_no_set == 1
    assert {name: (count.rolls, count.faces) for name, count in found.rolls.items()} == {"A": (2, [0, 0, 0, 2, 0, 2])}


def test_a_correction_counts_for_the_set_that_was_thrown_although_another_is_in_play_now() -> None:
    journal = DiceJournal()
    journal.do("on_duty", boxman="Ana", witness="Luis")
    journal.set_up("A", dice=5)
    roll = journal.roll(5, 4)
    journal.do("remove", set="A", to="store", reason="new_set")
    journal.set_up("B", dice=5)
    journal.take("correct", {"step": {"correct": [1, 1]}, "corrects": roll, "point": None})
    journal.roll(2, 2)
    found = history(journal.journal)
    assert found.rolls["A"].faces == [2, 0, 0, 0, 0, 0]
    assert found.rolls["B"].faces == [0, 2, 0, 0, 0, 0]


# What the terminal itself writes


def test_a_session_s_own_events_are_read_and_lead_to_its_own_dice() -> None:
    journal = DiceJournal(opened=False)
    journal.journal.clear()
    session = Session()
    console, lid = Origin("console"), Origin("header:reserve")
    rules = dice_rules.load("us-vegas")

    def write(entries: list[Entry]) -> None:
        for kind, data in entries:
            journal.append(kind, data)

    def do(name: str, **parts: Any) -> None:
        write(session.dice_action(parse_action({name: parts}), rules, console))

    write(session.start("1.0", {"site": "casino-2"}, key="U", configuration_hash="0"))
    write(session.open_table(TableTerms(rule_sets.load("us-vegas"), {}, 1, 1, 1000), console))
    do("on_duty", boxman="Ana", witness="Luis")
    do("receive", set="A", dice=5, maker="Bold", colour="red")
    do("place", set="A")
    do("change", set="A", taken=["1", "2"])
    write(session.command({"shooter": "Zoe"}, console))
    write(session.command({"bet": {"player": "Zoe", "kind": "pass_line", "amount": 10}}, console))
    write(session.command({"roll": [2, 2]}, console))
    write(session.command({"correct": [3, 3]}, console))
    write(session.command({"no_roll": "on_chips"}, console))
    do("void_throw", no_roll=journal.journal[-1].seq, dice=["1"])
    write(session.reserve_seen(True, False, lid))
    write(session.reserve_seen(False, False, lid))
    found = history(journal.journal)
    assert (found.site, found.rules) == ("casino-2", "us-vegas")
    assert found.places == {"A": {die: there.place for die, there in session.dice.state.sets["A"].dice.items()}}
    assert found.rolls["A"].faces == [0, 0, 2, 0, 0, 0]
    last = found.rows[-1]
    assert (last.what, last.shooter, last.roll_number, last.point) == ("reserve_closed", "Zoe", 1, 6)
    # The set was not inspected, nor counted before it was thrown: alerts that stand until they are noted.
    assert {name.partition(":")[0] for name in found.alerts} == {"against_rule", "no_opening_count"}
    assert found.alerts == {name: said["text"] for name, said in session.alerts.items()}


# Over any sequence that the dice log yields


def play(journal: DiceJournal, steps: Iterable[Any]) -> None:
    for step in steps:
        if isinstance(step, tuple):
            what, number = step
            journal.wait(number * 3600)
            if what in ("lid", "lid_at_start"):
                journal.lid(number % 2 == 0, initial=what == "lid_at_start")
            elif what == "alert":
                journal.raise_alert(f"reserve_unexplained:{number}", "No reason.")
            else:
                journal.game(session_number=journal.context.session_number + 1, no_roll=(number, "off_table"))
            continue
        try:
            ((kind, data),) = journal.log.decide(parse_action(step), journal.context)
        except (ActionError, Refused):
            continue
        seq = journal.take(kind, data)
        for alert, text, _ in latched_alerts(kind, data, seq):
            journal.raise_alert(alert, text)
        for condition in conditions(journal.log, journal.context, ReserveTimes()):
            journal.raise_alert(condition.alert, condition.text)


@settings(max_examples=150)
@given(
    rules=st.sampled_from(NAMES),
    steps=st.lists(action | st.tuples(elsewhere, st.integers(1, 9)), max_size=40),
    prepared=st.booleans(),
)
def test_every_day_balances_and_every_dice_event_has_its_row(rules: str, steps: list[Any], prepared: bool) -> None:
    journal = DiceJournal(rules, "2026-11-28T06:00:00.000Z")
    journal.do("on_duty", boxman="Ana", witness="Luis")
    if prepared:
        journal.set_up(dice=5)
    play(journal, steps)
    found = history(journal.journal)
    kinds = (*LID_EVENTS, *DICE_EVENTS, "alert_raised", "table_opened")
    wanted = [event.seq for event in journal.journal if event.type in kinds]
    assert [row.seq for row in found.rows] == wanted

    held = 0
    told: list[int] = []
    last = journal.wall.date() + timedelta(days=1)
    for number in range((last - date(2026, 11, 28)).days + 1):
        report = day_report(found, gaming_day(date(2026, 11, 28) + timedelta(days=number), zone=UTC))
        assert report.balances, [day.differences for day in report.sets]
        assert report.total.held_at_beginning == held, "a day begins with what the day before ended with"
        held = report.total.held_at_end
        told += [row.seq for row in report.rows]
    assert told == wanted, "every event belongs to one day"
    by_place = Counter(die.place for dice_set in journal.log.state.sets.values() for die in dice_set.dice.values())
    assert held == by_place.total() - by_place["destroyed"]
    assert +report.total.end == +Counter(
        {place: number for place, number in by_place.items() if place != "destroyed" or report.total.end["destroyed"]}
    )
