"""What the dice log tells of times in which nobody could watch the reserve, and of changes that nobody saw."""

from datetime import UTC, date
from typing import Any

import pytest

from device.dice_control.day_report import day_report, gaming_day
from device.dice_control.dice_history import history
from device.dice_control.log_rows import LogRow, Unwatched
from device.dice_control.report_words import Words
from device.dice_control.row_texts import cause_text, lasted_text, note_text, seen_after_text
from tests.dice_journal import DiceJournal

EN = Words("en")
NODE_FOUND = {"gap_ms": 1, "restarted": False, "dropped": 0, "boot_id": 7, "dropped_in_all": 0}


def table(**via: str) -> DiceJournal:
    """At 20:00 the lid is shut and four slots hold a die; where they are read is `via`."""
    journal = DiceJournal(wall="2026-11-29T20:00:00.000Z")
    lid(journal, False, initial=True, **via)
    slots(journal, 1, 2, 3, 4, initial=True, **via)
    return journal


def lid(journal: DiceJournal, is_open: bool, *, initial: bool = False, **via: str) -> int:
    game = {"shooter": None, "roll_number": 0, "point": None, "initial": initial}
    kind = "reserve_opened" if is_open else "reserve_closed"
    return journal.append(kind, game | ({"via": f"{via['lid']}:reserve"} if "lid" in via else {}))


def slots(journal: DiceJournal, *occupied: int, initial: bool = False, **more: str) -> int:
    via = {"via": f"{more.pop('slots')}:slots"} if "slots" in more else {}
    more.pop("lid", None)
    return journal.append("slots", {"occupied": list(occupied), "initial": initial} | via)


def told(stretch: Unwatched) -> tuple[Any, ...]:
    return (
        stretch.cause,
        stretch.inputs,
        f"{stretch.began.at:%H:%M:%S}",
        None if stretch.ended is None else f"{stretch.ended.at:%H:%M:%S}",
        lasted_text(stretch, EN),
        seen_after_text(stretch, EN),
    )


def stretches(journal: DiceJournal) -> list[tuple[Any, ...]]:
    return [told(stretch) for stretch in history(journal.journal).unwatched]


def rows(journal: DiceJournal, *whats: str) -> list[LogRow]:
    return [row for row in history(journal.journal).rows if row.what in whats]


@pytest.mark.parametrize(
    ("begins", "ends", "cause"),
    [("input_unavailable", "input_available", "input"), ("input_stuck", "input_freed", "stuck")],
)
def test_an_input_that_cannot_be_used_is_a_stretch_with_what_was_seen_first_afterwards(
    begins: str, ends: str, cause: str
) -> None:
    journal = table()
    journal.wait(60)
    journal.append(begins, {"name": "lid", "reason": "busy"})
    journal.wait(3727)
    journal.append(ends, {"name": "lid"})
    lid(journal, True, initial=True)
    journal.wait(5)
    lid(journal, False)
    journal.append(begins, {"name": "slot_2", "reason": "busy"})
    assert stretches(journal) == [
        (cause, ("lid",), "20:01:00", "21:03:07", "1:02:07", "Reserve open"),
        (cause, ("slot_2",), "21:03:12", None, "goes on", ""),
    ]
    ends_of = [(row.what, row.seq) for row in rows(journal, "unwatched", "watched_again")]
    assert ends_of == [("unwatched", 5), ("watched_again", 6), ("unwatched", 9)]
    assert cause_text(history(journal.journal).unwatched[1], EN).endswith(": slot 2")


def test_other_inputs_are_none_of_the_reserve() -> None:
    journal = table()
    journal.append("input_unavailable", {"name": "puck_4", "reason": "busy"})
    journal.append("input_stuck", {"name": "dice_key_1"})
    journal.append("edge_lost", {"name": "box_4"})
    assert stretches(journal) == []
    assert rows(journal, "unwatched", "edge_lost") == []


def test_a_node_that_is_away_hides_what_it_reads() -> None:
    journal = table(lid="header", slots="node")
    journal.wait(10)
    journal.append("node_lost", {"reason": "no answer"})
    journal.wait(20)
    journal.append("node_found", NODE_FOUND | {"dropped": 3, "dropped_in_all": 3})
    slots(journal, 1, 2, 3, 4, initial=True, slots="node")
    journal.append("node_dropped", {"changes": 2, "boot_id": 7, "dropped_in_all": 5})
    seen = "slots with a die: 1, 2, 3, 4"
    assert stretches(journal) == [("node", ("slots",), "20:00:10", "20:00:30", "0:00:20", seen)]
    lost = [(row.seq, row.changes, row.inputs) for row in rows(journal, "changes_dropped")]
    assert lost == [(6, 3, ("slots",)), (8, 2, ("slots",))]


def test_a_node_that_reads_nothing_of_the_reserve_does_not_matter() -> None:
    journal = table(lid="header", slots="header")
    journal.append("node_lost", {"reason": "no answer"})
    journal.append("node_found", NODE_FOUND | {"dropped": 3})
    assert (stretches(journal), rows(journal, "changes_dropped")) == ([], [])


def start(journal: DiceJournal, previous: str) -> int:
    return journal.append("started", {"configured": {"site": "casino-1"}, "previous": previous})


def test_while_the_program_is_stopped_nobody_watches() -> None:
    journal = table()
    journal.wait(60)
    journal.append("input_unavailable", {"name": "lid", "reason": "busy"})
    journal.wait(60)
    journal.append("stopped", {})
    journal.wait(600)
    start(journal, "stopped")
    lid(journal, False, initial=True)
    assert stretches(journal) == [
        ("input", ("lid",), "20:01:00", "20:02:00", "0:01:00", ""),
        ("stopped", (), "20:02:00", "20:12:00", "0:10:00", "Reserve closed"),
    ]
    (row,) = rows(journal, "watched_again")
    assert (row.seq, note_text(row, EN)) == (
        7,
        "the program was stopped; For: 0:10:00; Seen first afterwards: Reserve closed",
    )


@pytest.mark.parametrize(("clock", "lasted"), [("synced", "3:00:00"), ("free", "not known")])
def test_after_a_cut_nobody_watched_since_the_last_event(clock: str, lasted: str) -> None:
    journal = table()
    journal.wait(3600)
    journal.append("no_more_bets", {})
    journal.reboot("boot-2", "2026-11-30T00:00:00.000Z", clock)
    start(journal, "cut_off")
    journal.append("input_unavailable", {"name": "lid", "reason": "busy"})
    journal.append("input_available", {"name": "lid"})
    lid(journal, True, initial=True)
    cut, blind = stretches(journal)
    # What is seen once the lid can be read again says nothing of the moment of the start.
    assert cut == ("cut_off", (), "21:00:00", "00:00:00", lasted, "")
    assert blind[:2] + blind[5:] == ("input", ("lid",), "Reserve open")


def test_a_cut_ends_what_could_not_be_watched_before_it() -> None:
    journal = table()
    journal.append("input_unavailable", {"name": "lid", "reason": "busy"})
    journal.wait(60)
    journal.append("no_more_bets", {})
    journal.wait(60)
    start(journal, "cut_off")
    assert stretches(journal) == [
        ("input", ("lid",), "20:00:00", "20:01:00", "0:01:00", ""),
        ("cut_off", (), "20:01:00", "20:02:00", "0:01:00", ""),
    ]


def test_a_table_without_a_reserve_to_watch_has_no_such_stretch() -> None:
    journal = DiceJournal()
    journal.append("stopped", {})
    start(journal, "stopped")
    assert stretches(journal) == []


def test_the_first_sight_of_the_lid_says_after_what() -> None:
    journal = table(lid="node")
    journal.append("input_unavailable", {"name": "lid", "reason": "busy"})
    journal.append("input_available", {"name": "lid"})
    lid(journal, False, initial=True, lid="node")
    journal.append("node_lost", {"reason": "no answer"})
    journal.append("node_found", NODE_FOUND)
    lid(journal, False, initial=True, lid="node")
    lid(journal, True, lid="node")
    start(journal, "cut_off")
    lid(journal, True, initial=True, lid="node")
    assert [note_text(row, EN) for row in rows(journal, "reserve_opened", "reserve_closed")] == [
        "seen when the terminal started",
        "seen when its switch could be read again",
        "seen when the I/O node answered again",
        "",
        "seen when the terminal started",
    ]


# The slots under a shut lid


def test_slots_that_change_under_a_shut_lid_are_rows() -> None:
    journal = table()
    changed = slots(journal, 1, 2, 3)
    slots(journal, 1, 2, 3)
    journal.wait(2)
    lid(journal, True)
    slots(journal, 1, 2)
    lid(journal, False)
    (row,) = rows(journal, "slots_changed_shut")
    assert (row.seq, row.slots) == (changed, ((1, 2, 3, 4), (1, 2, 3)))
    assert note_text(row, EN) == "slots with a die: 1, 2, 3, 4 > 1, 2, 3"


@pytest.mark.parametrize(("lid_then", "marked"), [("shut", 1), ("settling", 0), ("open", 0), ("unseen", 0)])
def test_slots_that_settle_after_the_lid_was_shut_belong_to_that_opening(lid_then: str, marked: int) -> None:
    journal = table()
    lid(journal, True)
    lid(journal, False)
    journal.append("slots", {"occupied": [1], "initial": False, "lid": lid_then})
    assert len(rows(journal, "slots_changed_shut")) == marked


@pytest.mark.parametrize(("seconds", "marked"), [(1, 0), (1.001, 1)])
def test_slots_that_change_just_before_the_lid_is_seen_open_belong_to_that_opening(seconds: float, marked: int) -> None:
    journal = table()
    journal.append("slots", {"occupied": [1], "initial": False, "lid": "shut"})
    journal.wait(seconds)
    lid(journal, True)
    found = rows(journal, "slots_changed_shut", "reserve_opened")
    assert [row.what for row in found] == ["slots_changed_shut"] * marked + ["reserve_opened"]


@pytest.mark.parametrize(
    ("after", "lid_is_open", "marked"), [([1, 2], False, 1), ([1, 2, 3, 4], False, 0), ([1], True, 0)]
)
def test_slots_that_are_others_after_a_stop_are_a_row_unless_the_lid_is_open(
    after: list[int], lid_is_open: bool, marked: int
) -> None:
    journal = table()
    journal.append("stopped", {})
    start(journal, "stopped")
    lid(journal, lid_is_open, initial=True)
    journal.append("slots", {"occupied": after, "initial": True, "lid": "unseen"})
    found = rows(journal, "slots_changed_shut")
    told = ["seen when the terminal started; slots with a die: 1, 2, 3, 4 > 1, 2"][:marked]
    assert [note_text(row, EN) for row in found] == told


def test_a_change_that_was_found_by_looking_is_a_row() -> None:
    journal = table()
    journal.append("edge_lost", {"name": "lid"})
    (row,) = rows(journal, "edge_lost")
    assert note_text(row, EN) == "the switch of the lid: found by looking, so when it changed is not certain"


# The day


def test_a_day_has_the_stretches_that_reach_into_it() -> None:
    journal = DiceJournal(wall="2026-11-28T20:00:00.000Z")
    lid(journal, False, initial=True)
    for stops, starts in (
        ("2026-11-28T22:00:00.000Z", "2026-11-28T23:00:00.000Z"),
        ("2026-11-29T04:00:00.000Z", "2026-11-29T07:00:00.000Z"),
        ("2026-11-30T05:30:00.000Z", "2026-11-30T06:00:00.000Z"),
        ("2026-11-30T07:00:00.000Z", "2026-11-30T08:00:00.000Z"),
    ):
        journal.move_to(stops)
        journal.append("stopped", {})
        journal.move_to(starts)
        start(journal, "stopped")
    report = day_report(history(journal.journal), gaming_day(date(2026, 11, 29), zone=UTC))
    assert [f"{stretch.began.at:%d %H:%M}" for stretch in report.unwatched] == ["29 04:00", "30 05:30"]
