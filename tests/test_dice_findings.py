"""What is not in order on a gaming day: each kind of alarm is named in the report, until it is put right."""

from datetime import UTC, date
from typing import Any

import pytest

from device.dice_control.day_report import DayReport, day_report, gaming_day
from device.dice_control.dice_history import History, history
from device.dice_control.report_sections import Section, sections
from device.dice_control.report_texts import articles_text, balance_text, findings_text, headline_text
from device.dice_control.report_words import Words
from device.dice_control.row_texts import note_text
from provisioning.dice_csv import report_cells, status_cells
from provisioning.dice_text import report_lines, status_lines
from tests.dice_journal import SERIALS, DiceJournal

EN = Words("en")
DAY = date(2026, 11, 29)
RESERVE = ["A3", "A4", "A5", "A6"]


def table(rules: str = "es-1979") -> DiceJournal:
    """A set of six is at the table, two of its dice in play, and was counted."""
    journal = DiceJournal(rules, "2026-11-29T20:00:00.000Z")
    journal.do("on_duty", boxman="Ana", witness="Luis")
    journal.receive("A", serials=SERIALS, house_mark="CM", edge_hundredths_mm=2000)
    journal.inspect(set="A")
    journal.lid(True)
    journal.do("place", set="A")
    journal.do("change", set="A", taken=["A1", "A2"])
    journal.do("count", set="A", count="opening", seen={"play": ["A1", "A2"], "reserve": RESERVE})
    journal.lid(False)
    return journal


def of_day(journal: DiceJournal) -> tuple[History, DayReport]:
    found = history(journal.journal)
    return found, day_report(found, gaming_day(DAY, zone=UTC))


def findings(journal: DiceJournal) -> list[str]:
    return findings_text(of_day(journal)[1], EN)


def tell(journal: DiceJournal, kind: str, data: dict[str, Any]) -> int:
    """An event that the dice log decided nothing about; its seq."""
    journal.events.append((kind, data))
    return journal.append(kind, data)


def alert(journal: DiceJournal, name: str, **detail: Any) -> int:
    return tell(journal, "alert_raised", {"alert": name, "text": "Said.", "detail": detail, "latched": False})


def over(journal: DiceJournal, name: str) -> int:
    return tell(journal, "alert_cleared", {"alert": name})


def noted(journal: DiceJournal, name: str) -> int:
    return tell(journal, "alert_acknowledged", {"alert": name, "name": "Eva"})


def section(journal: DiceJournal, title: str) -> Section:
    found, report = of_day(journal)
    return next(one for one in sections(found, report, EN, UTC) if one.title == title)


def test_a_day_on_which_nothing_was_alarmed_is_in_order() -> None:
    journal = table()
    _, report = of_day(journal)
    assert findings_text(report, EN) == []
    assert (headline_text(report, EN) or "").endswith("no rule is broken, no alert is open.")
    assert section(journal, "broken_rules").lines == ()


# Lost dice


def test_a_die_that_is_written_off_is_neither_found_nor_destroyed_and_not_in_order() -> None:
    journal = table()
    journal.do("missing", set="A", dice=["A1"])
    moves = [{"set": "A", "die": "A1", "from": "missing", "to": "written_off"}]
    signed = {"done_by": "Eva", "seen_by": "Luis", "opening": None}
    tell(
        journal, "dice_set_moved", signed | {"set": "A", "to": "written_off", "reason": "die_off_table", "moves": moves}
    )
    found, report = of_day(journal)
    (account,) = report.sets
    assert (account.end["written_off"], account.found, account.into("destroyed"), account.missed_at_end) == (1, 0, 0, 0)
    assert (report.balances, report.reconciles) == (True, False)
    assert findings_text(report, EN) == ["Written off without being found, set A: A1"]
    assert balance_text(report, EN)[0].startswith("The moves add up: 0 + 6 − 0 = 6; but the dice do not reconcile")
    assert [line.row.done_by for line in section(journal, "removals").lines] == ["Ana", "Eva"]
    assert "    Dice: A1: missing > written off" in list(report_lines(found, report, EN, UTC))


@pytest.mark.parametrize("to", ["destroyed", "cancelled", "withdrawn"])
def test_an_older_journal_that_destroys_a_missing_die_has_written_it_off(to: str) -> None:
    journal = table()
    journal.do("missing", set="A", dice=["A1"])
    moved: dict[str, Any] = {"set": "A", "reason": "die_off_table", "done_by": "Ana", "seen_by": "Luis"}
    for source, target in (("missing", to), (to, "inspection")):
        tell(
            journal,
            "dice_set_moved",
            moved | {"to": target, "opening": None, "moves": [{"set": "A", "die": "A1", "from": source, "to": target}]},
        )
        _, report = of_day(journal)
        (account,) = report.sets
        assert report.balances
        if target == to:
            assert (account.end["written_off"], account.found, account.into(to)) == (1, 0, 0)
            assert findings_text(report, EN) == ["Written off without being found, set A: A1"]
    # Somebody has it after all.
    assert (account.end["written_off"], account.found, account.written_off) == (0, 1, [])


def test_a_die_on_the_floor_at_the_day_s_end_is_missing_in_the_account_too() -> None:
    journal = table()
    journal.void_throw("off_table", "A1")
    (account,) = of_day(journal)[1].sets
    assert (account.missed_at_end, account.went_missing, account.elsewhere_at_table, account.found) == (1, 1, 0, 0)
    journal.do("found", set="A", die="A1")
    (account,) = of_day(journal)[1].sets
    assert (account.missed_at_end, account.went_missing, account.elsewhere_at_table, account.found) == (0, 0, 1, 1)
    assert account.into("floor") == 1


# The reserve


def test_an_inspection_that_puts_a_die_back_explains_the_opening() -> None:
    journal = table()
    journal.void_throw("off_table", "A1")
    journal.do("found", set="A", die="A1")
    journal.lid(True)
    journal.inspect(set="A", dice=["A1"], then="reserve")
    journal.lid(False)
    assert [opening.reason for opening in history(journal.journal).openings] == ["new_set", "die_off_table"]


def test_a_reserve_that_was_open_when_it_may_not_be_is_not_in_order_although_it_was_explained() -> None:
    journal = table()
    tell(journal, "no_more_bets", {})
    opened = journal.lid(True)
    alert(journal, "reserve_left_open", opening=opened)
    over(journal, "reserve_left_open")
    journal.do("explain", reason="boxman_order", **{"as": "boxman"})
    journal.lid(False)
    tell(journal, "table_closed", {})
    journal.game(table_open=False)
    second = journal.lid(True)
    journal.do("explain", reason="closing", **{"as": "boxman"})
    journal.lid(False)
    assert findings(journal) == [
        f"The reserve was open during a roll: 1 (event {opened})",
        f"The reserve was open while the table was closed: 1 (event {second})",
        f"The reserve was left open for too long: 1 (event {opened})",
    ]


def test_an_explanation_after_the_alert_is_named() -> None:
    journal = table()
    opened = journal.lid_opened_for(1)
    journal.raise_alert(f"reserve_unexplained:{opened}", "Said.", opening=opened)
    journal.do("explain", opening=opened, reason="boxman_order", as_="supervisor", done_by="Eva")
    over(journal, f"reserve_unexplained:{opened}")
    assert findings(journal) == [f"Openings of the reserve explained late by a supervisor: 1 (event {opened})"]


def test_slots_that_contradicted_the_log_are_named_although_they_agree_again() -> None:
    journal = table()
    seq = alert(journal, "slots_disagree", occupied=[1], log=RESERVE)
    over(journal, "slots_disagree")
    assert findings(journal) == [f"The slots of the reserve contradicted the log: 1 (event {seq})"]


def test_a_full_disk_is_not_in_order_and_a_stretch_out_of_sight() -> None:
    journal = table()
    seq = tell(journal, "recording_stopped", {"reason": "disk_full", "free_bytes": 0})
    journal.wait(90)
    tell(journal, "recording_resumed", {"free_bytes": 10**9})
    journal.lid(True, initial=True)
    found, report = of_day(journal)
    assert findings_text(report, EN)[-1] == f"Nothing was recorded, the disk was full: 1 (event {seq})"
    (stretch,) = report.unwatched
    assert (stretch.cause, stretch.lasted_ms, stretch.lid_open_after) == ("not_recorded", 90_000, True)
    assert "seen first after nothing was recorded" in note_text(found.rows[-1], EN)


def test_what_was_not_recorded_goes_on_over_a_restart_until_recording_is_resumed() -> None:
    journal = table()
    tell(journal, "recording_stopped", {"reason": "disk_full", "free_bytes": 0})
    tell(journal, "started", {"configured": {"site": "casino-1"}})
    tell(journal, "recording_resumed", {"free_bytes": 10**9})
    assert [stretch.cause for stretch in of_day(journal)[1].unwatched] == ["not_recorded"]


# Throws and counts


@pytest.mark.parametrize(
    ("reason", "is_named"), [("off_table", True), ("broken", True), ("in_dice_cup", True), ("stacked", False)]
)
def test_a_void_throw_for_which_a_die_left_play_needs_the_die(reason: str, is_named: bool) -> None:
    journal = table()
    journal.void_throw(reason)
    seq = journal.seq
    assert findings(journal) == ([f"Void throws whose dice were not named: 1 (event {seq})"] if is_named else [])


def test_a_closing_count_that_follows_makes_up_for_the_alert_and_an_opening_count_does_not() -> None:
    journal = table()
    opening = alert(journal, "no_opening_count:1", session=1, sets=["A"])
    closing = alert(journal, "no_closing_count:1", session=1, sets=["A"])
    for name in ("no_opening_count:1", "no_closing_count:1"):
        noted(journal, name)
    missed = f"Dice rolled without an opening count: 1 (event {opening})"
    assert findings(journal) == [missed, f"The table was closed without a closing count: 1 (event {closing})"]
    for count in ("opening", "closing"):
        journal.do("count", set="A", count=count, seen={"play": ["A1", "A2"], "reserve": RESERVE})
    assert findings(journal) == [missed]


# Sets that must go


@pytest.mark.parametrize("family", ["set_served_before", "set_to_replace"])
def test_a_set_that_must_go_and_rolls_is_against_the_rule(family: str) -> None:
    journal = table()
    seq = alert(journal, f"{family}:A", set="A", article="II.1")
    still = findings(journal)
    assert still == [
        f"Sets that had to be replaced and were not: 1 (event {seq})",
        f"Alerts that nobody noted or put right: 1 (event {seq})",
    ]
    over(journal, f"{family}:A")
    assert findings(journal) == [], "it was replaced before it was used"
    again = alert(journal, f"{family}:A", set="A", article="II.1")
    journal.roll(3, 4)
    over(journal, f"{family}:A")
    assert findings(journal) == [
        f"Done against a rule: 1 (event {again})",
        f"Sets that had to be replaced and were not: 1 (event {again})",
    ]
    (line,) = section(journal, "broken_rules").lines
    assert line.fields[1].parts == ("Said.", "rolled 1 time all the same")


def test_a_roll_with_a_set_that_served_before_is_against_the_rule_once() -> None:
    journal = table()
    alert(journal, "set_served_before:A", set="A", article="II.1")
    rolled = journal.roll(3, 4)
    broken = {"rule": "reuse", "article": "II.1", "text": "Served.", "detail": {"set": "A", "session": 1}}
    seq = alert(journal, f"against_rule:{rolled}", event=rolled, rules="es-1979", against_rule=[broken])
    assert f"Done against a rule: 1 (event {seq})" in findings(journal)
    assert [line.row.seq for line in section(journal, "broken_rules").lines] == [seq]


# Alerts


def test_an_alert_is_told_with_who_noted_it_and_when_it_was_over_or_that_it_is_open() -> None:
    journal = table()
    open_one = alert(journal, "dice_in_play")
    happened = alert(journal, "count_differs:9", event=9)
    note = noted(journal, "count_differs:9")
    passing = alert(journal, "dice_missing:A", set="A")
    end = over(journal, "dice_missing:A")
    found, report = of_day(journal)
    outcomes = {line.row.seq: line.fields[1].text for line in section(journal, "alerts").lines}
    assert outcomes == {
        open_one: "OPEN",
        happened: f"noted by Eva (event {note}, 2026-11-29 20:00:00)",
        passing: f"over (event {end}, 2026-11-29 20:00:00)",
    }
    assert findings_text(report, EN) == [f"Alerts that nobody noted or put right: 1 (event {open_one})"]
    ends = {row.seq: row.belongs_to for row in found.rows if row.what in ("alert_cleared", "alert_acknowledged")}
    assert ends == {note: happened, end: passing}
    status = list(status_lines(found, EN, UTC))
    assert f"2026-11-29 20:00:00 event {open_one}: Said. What became of it: OPEN" in status


# The sections


def test_who_was_on_duty_corrections_and_counts_are_told() -> None:
    journal = table()
    journal.do("count", set="A", count="check", seen={"play": ["A1"], "reserve": [*RESERVE, "A2"]})
    count = journal.seq
    journal.do("correction", set="A", places={"A2": "reserve"}, note="put there", count=count)
    found, report = of_day(journal)
    text = "\n".join(report_lines(found, report, EN, UTC))
    assert "    Session: 1\n    Boxman: Ana\n    Witness: Luis\n" in text
    assert "Corrections of the log\n----------------------\n" in text
    (line,) = section(journal, "corrections").lines
    assert [field.text for field in line.fields[:3]] == ["A2: in play > in the reserve", "Ana", "Luis"]
    agreeing, differing = section(journal, "counts").lines
    assert agreeing.fields[0].parts == ("in play: A1, A2", "in the reserve: A3, A4, A5, A6")
    assert (agreeing.fields[1].text, agreeing.fields[1].grave, differing.fields[1].grave) == (
        "agrees with the log",
        False,
        True,
    )


def test_the_status_as_csv_has_a_row_for_each_die_with_its_state() -> None:
    journal = table()
    journal.do("swap", set="A", out=["A1"], in_=["A3"], reason="damage")
    found, _ = of_day(journal)
    rows = [tuple(row) for row in status_cells(found, EN, UTC)]
    dice = {row[2]: (row[1], row[3], row[4]) for row in rows if row[0] == "Dice"}
    assert dice == {
        "A1": ("A", "under inspection", "not inspected"),
        **dict.fromkeys(("A2", "A3"), ("A", "in play", "sound")),
        **dict.fromkeys(("A4", "A5", "A6"), ("A", "in the reserve", "sound")),
    }
    facts = {row[2]: row[3] for row in rows}
    assert (facts["On duty"], facts["Reserve"]) == ("Ana, Luis (session 1)", "closed")
    assert found.last_hash in facts.values()


def test_text_csv_and_status_tell_the_same_facts_of_a_change() -> None:
    journal = table()
    journal.game(shooter="7", roll_number=4)
    journal.lid(True)
    journal.do("swap", set="A", out=["A1"], in_=["A3"], reason="shooter_request")
    journal.lid(False)
    found, report = of_day(journal)
    text = "\n".join(report_lines(found, report, EN, UTC))
    assert "Dice swapped, Set A\n    Roll 4, Shooter 7\n" in text
    assert "    Asked by: shooter 7\n" in text
    swap = next(row for row in report_cells(found, report, EN, UTC) if row[2] == "Dice swapped")
    assert list(swap[6:]) == [1, 4, None, "7", "shooter 7", "Ana", "Luis"]


def test_an_article_stands_short_in_a_row_and_once_in_full_at_the_end() -> None:
    journal = table("es-md-2004")
    journal.game(point=6, rolls_in_series=1, roll_number=1)
    for out, into in (("A1", "A3"), ("A2", "A4")):
        journal.do("swap", set="A", out=[out], in_=[into], reason="shooter_request")
    found, report = of_day(journal)
    text = "\n".join(report_lines(found, report, EN, UTC))
    assert text.count("Against the rule: IV.3: No change of dice") == 2
    kept = "(kept in force by the decree's transitional provision)"
    last = articles_text(found, report.rows, EN)
    assert f"IV.3: Orden de 9 de octubre de 1979, IV.3 {kept}" in last
    assert last[0].startswith("es-md-2004: Decreto 32/2004")
    assert text.count(kept) <= 2
