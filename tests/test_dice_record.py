"""What an inspector reads at once in the day's report and the log: what is in order, what is not, and who said so."""

from dataclasses import replace
from datetime import UTC, date
from zoneinfo import ZoneInfo

import pytest

from device.dice_control import dice_rules
from device.dice_control.day_report import DayReport, day_report, gaming_day
from device.dice_control.dice_history import History, history
from device.dice_control.log_rows import LogRow
from device.dice_control.report_kinds import FIRST_DAY, LAST_DAY
from device.dice_control.report_texts import balance_text, findings_text, headline_text, rules_now, rules_of_day
from device.dice_control.report_words import Words
from device.dice_control.row_texts import explanation_text, note_text, opening_marks
from provisioning.dice_text import report_lines
from tests.dice_journal import SERIALS, DiceJournal

EN = Words("en")
DAY = date(2026, 11, 29)


def table(rules: str = "es-1979") -> DiceJournal:
    """A set of six is at the table, two of its dice in play."""
    journal = DiceJournal(rules, "2026-11-29T20:00:00.000Z")
    journal.do("on_duty", boxman="Ana", witness="Luis")
    journal.receive("A", serials=SERIALS, house_mark="CM", edge_hundredths_mm=2000)
    journal.inspect(set="A")
    journal.lid(True)
    journal.do("place", set="A")
    journal.do("change", set="A", taken=["A1", "A2"])
    journal.lid(False)
    return journal


def of_day(journal: DiceJournal, day: date = DAY) -> tuple[History, DayReport]:
    found = history(journal.journal)
    return found, day_report(found, gaming_day(day, zone=UTC))


def last(journal: DiceJournal, what: str) -> LogRow:
    return [row for row in history(journal.journal).rows if row.what == what][-1]


# The headline


def test_a_day_on_which_all_is_well_says_so() -> None:
    journal = table()
    journal.do("count", set="A", count="opening", seen={"play": ["A1", "A2"], "reserve": ["A3", "A4", "A5", "A6"]})
    _, report = of_day(journal)
    assert (findings_text(report, EN), report.reconciles) == ([], True)
    assert (headline_text(report, EN) or "").startswith("In order: the account balances, every count agrees")
    assert balance_text(report, EN) == ["The account balances: 0 + 6 − 0 = 6."]


def test_nothing_is_said_to_be_in_order_of_a_day_without_dice() -> None:
    _, report = of_day(DiceJournal(wall="2026-11-29T20:00:00.000Z"))
    assert headline_text(report, EN) is None


@pytest.mark.parametrize(
    ("places", "told"),
    [
        (["missing"], "Missing, set A: A3, A4"),
        (["off_table"], "Not back from the floor, set A: A3, A4"),
    ],
)
def test_dice_that_are_lost_are_named_and_the_account_does_not_read_as_balanced(places: list[str], told: str) -> None:
    journal = table()
    journal.lid(True)
    for action in places:
        journal.do(action, set="A", dice=["A3", "A4"])
    journal.lid(False)
    _, report = of_day(journal)
    assert report.balances
    assert not report.reconciles
    assert findings_text(report, EN) == [told]
    (said,) = balance_text(report, EN)
    assert said == "The moves add up: 0 + 6 − 0 = 6; but the dice do not reconcile, see above."


def test_dice_that_are_found_again_on_the_day_are_not_missing() -> None:
    journal = table()
    journal.lid(True)
    journal.do("missing", set="A", dice=["A3"])
    journal.do("found", set="A", die="A3")
    journal.lid(False)
    _, report = of_day(journal)
    assert findings_text(report, EN) == []


def test_a_count_that_differs_is_named_even_if_the_next_one_agrees() -> None:
    journal = table()
    reserve = ["A3", "A4", "A5", "A6"]
    journal.do("count", set="A", count="check", seen={"play": ["A1", "A2"], "reserve": reserve[1:]})
    seq = journal.journal[-1].seq
    journal.do("count", set="A", count="closing", seen={"play": ["A1", "A2"], "reserve": reserve})
    _, report = of_day(journal)
    told = f"Check count of set A (event {seq}): die A3: by the log in the reserve, seen nowhere"
    assert findings_text(report, EN) == [told]
    assert not report.reconciles


def test_openings_without_a_reason_changed_slots_and_broken_rules_are_named_by_their_events() -> None:
    journal = table()
    openings = [journal.lid_opened_for(1) for _ in range(2)]
    # Two openings wait, so the swap explains the last of them.
    journal.game(point=4, roll_number=1, rolls_in_series=1)
    journal.do("swap", set="A", out=["A2"], in_=["A3"], reason="shooter_request")
    swap = journal.journal[-1].seq
    for occupied in ([1, 2], [1]):
        changed = journal.take("slots", {"occupied": occupied, "initial": False, "lid": "shut"})
    _, report = of_day(journal)
    assert findings_text(report, EN) == [
        f"Opening of the reserve not explained: 1 (event {openings[0]})",
        f"The reserve changed under a shut lid: 1 (event {changed})",
        f"Done against a rule: 1 (event {swap})",
    ]
    assert report.reconciles, "the dice do"


def test_how_often_nobody_watched_stands_beside_the_headline_and_not_against_it() -> None:
    journal = table()
    journal.do("count", set="A", count="check", seen={"play": ["A1", "A2"], "reserve": ["A3", "A4", "A5", "A6"]})
    journal.append("input_unavailable", {"name": "lid", "reason": "busy"})
    found, report = of_day(journal)
    assert findings_text(report, EN) == []
    lines = list(report_lines(found, report, EN, UTC))
    assert "The reserve was out of sight: 1 time, listed below" in lines


# Inspections and deliveries


def test_an_inspection_is_told_in_full_although_all_was_well() -> None:
    journal = table("us-vegas")
    journal.do(
        "inspect",
        set="A",
        dice=["A3", "A4"],
        checks={"sound": True},
        instruments={
            "micrometer": {"sound": True, "showed": "19.05 mm"},
            "magnet": {"sound": True, "showed": "no pull"},
            "steel_square": {"sound": True, "showed": "square"},
            "balancing_caliper": {"sound": True, "showed": "turns freely"},
        },
        edges_hundredths_mm={"A3": 1905, "A4": 1907},
        note="by daylight",
    )
    row = last(journal, "inspected")
    assert note_text(row, EN).split("; ") == [
        "all sound",
        "checked: in perfect state",
        "balancing caliper: turns freely",
        "magnet: no pull",
        "micrometer: 19.05 mm",
        "steel square: square",
        "edges (mm): A3 19.05, A4 19.07",
        "by daylight",
    ]
    assert (row.dice, row.done_by, row.seen_by) == (("A3", "A4"), "Ana", "Luis")
    _, report = of_day(journal)
    assert [row.seq for row in report.inspections][-1] == row.seq


def test_an_inspection_names_what_failed_what_was_left_out_and_which_dice_are_unsound() -> None:
    journal = table()
    checks = dict.fromkeys(journal.context.rules.checks, True)
    del checks["numbered"]
    journal.do(
        "inspect",
        set="A",
        checks=checks | {"sharp_edges": False},
        unsound={"A4": "edge worn"},
        instruments={"micrometer": {"sound": False, "showed": "19.40 mm"}},
    )
    parts = note_text(last(journal, "inspected"), EN).split("; ")
    assert parts[:3] == ["die A4 unsound: edge worn", "sound: A1, A2, A3, A5, A6", "FAILED: edges sharp"]
    assert parts[4:] == ["not checked: numbered", "micrometer: 19.40 mm (NOT SOUND)"]
    journal.do("inspect", set="A", checks={"sound": True})
    assert note_text(last(journal, "inspected"), EN).endswith("; no instruments")


def test_a_set_that_came_is_told_with_maker_colour_mark_and_edge() -> None:
    journal = table()
    assert note_text(last(journal, "received"), EN) == "Bold, red, mark CM, edge 20.00 mm"
    journal.receive("B", dice=5)
    assert note_text(last(journal, "received"), EN) == "Bold, red"
    found, report = of_day(journal)
    told = [(row.what, row.set_name, row.dice) for row in report.deliveries]
    assert told == [
        ("received", "A", tuple(SERIALS)),
        ("placed", "A", tuple(SERIALS)),
        ("received", "B", tuple("12345")),
    ]
    text = "\n".join(report_lines(found, report, EN, UTC))
    assert "Set B\n    Maker, colour, mark: Bold, red\n    Dice: 1, 2, 3, 4, 5\n    Done by: Ana\n" in text


# The table and its openings


def test_the_table_s_opening_and_closing_are_rows_with_session_and_rule_set() -> None:
    journal = table()
    journal.append("table_closed", {})
    assert note_text(last(journal, "table_opened"), EN) == "session 1, rule set es-1979"
    assert note_text(last(journal, "table_closed"), EN) == "session 1, rule set es-1979"


def test_openings_during_a_roll_or_while_the_table_is_closed_say_so() -> None:
    journal = table()
    journal.append("no_more_bets", {})
    journal.lid_opened_for(1)
    journal.take("no_roll", {"step": {"no_roll": "short"}})
    journal.lid_opened_for(1)
    for event in (("no_more_bets", {}), ("roll", {"step": {"roll": [1, 2]}, "number": 1, "point": None})):
        journal.lid(True)
        journal.take(*event)
        journal.lid(False)
        journal.append("no_roll", {"step": {"no_roll": "short"}})
    journal.lid(True)
    journal.take("table_closed", {})
    journal.lid(False)
    journal.lid_opened_for(1)
    openings = history(journal.journal).openings[1:]
    assert [opening_marks(opening, EN) for opening in openings] == [
        ["during a roll"],
        [],
        ["during a roll"],
        ["during a roll"],
        ["while the table was closed"],
        ["while the table was closed"],
    ]


def test_a_supervisor_who_explains_is_told_as_one() -> None:
    journal = table()
    opening = journal.lid_opened_for(1)
    journal.do("explain", opening=opening, reason="inspector_request", as_="supervisor", done_by="Eva")
    assert note_text(last(journal, "explained"), EN) == "as supervisor"
    assert explanation_text(history(journal.journal).openings[-1], EN) == "inspector's request (Eva, as supervisor)"
    journal.do("explain", opening=journal.lid_opened_for(1), reason="closing", as_="boxman")
    assert note_text(last(journal, "explained"), EN) == ""
    assert explanation_text(history(journal.journal).openings[-1], EN) == "closing (Ana)"


def test_an_opening_that_was_explained_before_it_was_shut_tells_what_the_reason_came_to_cover() -> None:
    journal = table()
    journal.take("slots", {"occupied": [1, 2, 3, 4], "initial": True, "lid": "shut"})
    opening = journal.lid(True)
    journal.wait(2)
    journal.do("explain", opening=opening, reason="inspector_request", as_="boxman")
    journal.wait(90)
    journal.take("slots", {"occupied": [1, 2, 3], "initial": False, "lid": "open"})
    journal.do("count", set="A", count="check", seen={"play": ["A1", "A2"], "reserve": ["A3", "A4", "A5"]})
    count = journal.journal[-1].seq
    journal.lid(False)
    assert opening_marks(history(journal.journal).openings[-1], EN) == [
        "explained before it was shut; open for 90.0 s more; "
        f"afterwards: Check count (event {count}), slots with a die: 1, 2, 3, 4 > 1, 2, 3"
    ]


def test_an_opening_that_was_explained_before_it_was_shut_says_that_nothing_followed() -> None:
    journal = table()
    opening = journal.lid(True)
    journal.do("explain", opening=opening, reason="inspector_request", as_="boxman")
    journal.wait(7)
    journal.lid(False)
    (mark,) = opening_marks(history(journal.journal).openings[-1], EN)
    assert mark == "explained before it was shut; open for 7.0 s more; nothing recorded afterwards"


def test_a_reason_given_before_the_closing_lapses_where_the_slots_contradict_it() -> None:
    journal = table()
    opening = journal.lid(True)
    journal.do("explain", opening=opening, reason="inspector_request", as_="boxman")
    journal.lid(False)
    settled = {"closed": journal.journal[-1].seq, "occupied": [1, 2, 3], "surplus": -1, "asked_anew": opening}
    journal.append("reserve_settled", settled)
    told = history(journal.journal).openings[-1]
    assert (told.is_explained, told.row.reason) == (False, None)
    assert "a reason given before it was shut lapsed: the slots contradict it" in opening_marks(told, EN)
    row = last(journal, "asked_anew")
    assert (row.belongs_to, note_text(row, EN)) == (opening, "dice in the slots against the log: -1")


def test_a_deed_may_take_the_place_of_a_reason() -> None:
    journal = table()
    opening = journal.lid(True)
    journal.do("explain", opening=opening, reason="inspector_request", as_="boxman")
    swap = dict(next(event.data for event in journal.journal if event.data.get("action") == "change"))
    instead = {"opening": opening, "reason": "damage", "instead_of": "inspector_request", "moves": []}
    journal.append("dice_moved", swap | instead)
    told = history(journal.journal).openings[-1]
    assert (told.reason, told.explained_as, told.explained_by) == ("damage", None, "Ana")


def test_a_deed_while_the_lid_could_not_be_seen_says_so() -> None:
    journal = table()
    swap = dict(next(event.data for event in journal.journal if event.data.get("action") == "change"))
    journal.append("dice_moved", swap | {"lid": "unseen", "opening": None, "moves": []})
    assert note_text(last(journal, "change"), EN) == "the switch of the lid could not be read"


# Rules and days


def test_a_table_under_other_rules_than_its_dice_names_both() -> None:
    journal = DiceJournal("pe-1999", "2026-11-29T20:00:00.000Z")
    found = history(journal.journal)
    assert rules_now(found, EN) == "pe-1999"
    journal.context = replace(journal.context, rules=dice_rules.load("es-1979"))
    journal.do("on_duty", boxman="Ana", witness="Luis")
    found, report = of_day(journal)
    told = "pe-1999; the dice are judged by es-1979"
    assert (rules_now(found, EN), rules_of_day(found, report, EN)) == (told, told)


def test_a_day_names_the_rule_sets_of_its_own_sessions() -> None:
    journal = DiceJournal("pe-1999", "2026-11-28T20:00:00.000Z")
    opened = {"rule_set": {"name": "mo-2010", "no_roll": {}}}
    journal.move_to("2026-11-29T12:00:00.000Z")
    journal.append("table_opened", opened)
    journal.move_to("2026-11-30T12:00:00.000Z")
    journal.append("table_closed", {})
    journal.move_to("2026-12-02T12:00:00.000Z")
    journal.append("table_opened", {"rule_set": {"name": "cl-scj", "no_roll": {}}})
    rules = {day: of_day(journal, date(2026, 11, day))[1].rules for day in (27, 28, 29, 30)}
    assert rules == {27: (), 28: ("pe-1999",), 29: ("pe-1999", "mo-2010"), 30: ("mo-2010",)}
    found, report = of_day(journal, date(2026, 12, 1))
    assert rules_of_day(found, report, EN) == "cl-scj", "the table was closed all day"


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Etc/GMT+12", "Europe/Madrid"])
@pytest.mark.parametrize("day", [FIRST_DAY, LAST_DAY])
def test_the_first_and_the_last_day_have_a_report_in_every_zone(day: date, zone: str) -> None:
    report = day_report(history(table().journal), gaming_day(day, zone=ZoneInfo(zone)))
    assert report.rows == ()


@pytest.mark.parametrize("day", [date.min, date.max, date(1969, 12, 31), date(9999, 1, 1)])
def test_a_day_that_no_journal_has_is_refused(day: date) -> None:
    with pytest.raises(ValueError, match="is not from 1970-01-01 to 9998-12-31"):
        gaming_day(day)
