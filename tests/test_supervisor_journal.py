"""What a supervisor asks the journal: filters, pages, sessions, hands of the dice, rolls settled again, export."""

import json
from typing import Any

import pytest

from device import journal_query, session_corrections
from device.event import GENESIS_HASH, Stamp, seal
from device.journal_query import Filter, NoAnswer
from device.origin import Origin
from provisioning.settle import settle
from tests.test_session import Recorder, terms

SUPERVISOR = Origin("console", person="Marta Gil")


def lines_of(table: Recorder) -> list[str]:
    """The journal of a session, an event a minute."""
    found: list[str] = []
    last = GENESIS_HASH
    for number, (kind, data) in enumerate(json.loads(json.dumps(table.entries)), start=1):
        stamp = Stamp("boot", number, f"2026-11-29T22:{number % 60:02}:00.000Z", "synced")
        event = seal("craps-1", number, stamp, kind, data, last)
        found.append(event.line())
        last = event.hash
    return found


class Journal:
    """Lines as a reader of the journal gives them; `pruned` so many of them."""

    def __init__(self, lines: list[str], pruned: int = 0) -> None:
        self.lines = lines
        self.first = pruned + 1
        self.end = len(lines) + 1

    def read(self, first: int, limit: int) -> list[str]:
        assert first >= self.first, "what was pruned is not asked for"
        return self.lines[first - 1 : first - 1 + limit]


def two_sessions() -> Recorder:
    """One session of four rolls and two shooters, closed; another with one roll, whose dice were corrected."""
    table = Recorder()
    table.do({"shooter": "3"})
    table.bet("3", "pass_line", 10)
    table.do({"roll": [2, 2]})
    table.do({"roll": [3, 1]})
    table.bet("3", "pass_line", 10)
    table.do({"roll": [4, 4]})
    table.do({"roll": [3, 4]})
    table.do({"shooter": "5"})
    table.keep(table.session.close_table(Origin("console", person="Marta Gil")))
    table.keep(table.session.open_table(terms("es-1979"), Origin("console", person="Eva Ruiz")))
    table.bet("7", "field", 10)
    table.do({"roll": [3, 3]})
    table.bet("7", "field", 10)
    table.do({"roll": [1, 6]})
    at = table.session.game_seq
    table.keep(session_corrections.correct_roll(table.session, 1, (5, 4), "camera", at, SUPERVISOR))
    return table


@pytest.fixture(scope="module")
def table() -> Recorder:
    return two_sessions()


@pytest.fixture(scope="module")
def journal(table: Recorder) -> Journal:
    return Journal(lines_of(table))


def kinds(found: dict[str, Any]) -> list[str]:
    return [event["type"] for event in found["events"]]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Filter(type="shooter"), ["shooter", "shooter"]),
        (Filter(roll=1), ["roll_corrected", "roll", "roll"]),
        (Filter(roll=1, player="7"), ["roll_corrected", "roll"]),
        (Filter(name="EVA RUIZ"), ["table_opened"]),
        (Filter(name="Marta Gil"), ["roll_corrected", "table_closed"]),
        (Filter(since="2026-11-29T22:02", until="2026-11-29T22:03"), ["shooter", "table_opened"]),
        (Filter(type="reserve_opened"), []),
    ],
    ids=["kind", "roll", "roll and player", "name", "another name", "time", "nothing"],
)
def test_a_filter_finds_what_it_says_the_latest_first(journal: Journal, wanted: Filter, expected: list[str]) -> None:
    found = journal_query.search(journal.read, 1, journal.end, wanted)
    assert kinds(found) == expected
    assert found["before"] is None


def test_a_page_is_bounded_and_says_where_to_go_on(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_query, "FOUND_MAX", 3)
    seen, before = [], journal.end
    while before is not None:
        page = journal_query.search(journal.read, 1, before, Filter(type="roll"))
        seen += [event["seq"] for event in page["events"]]
        before = page["before"]
    rolls = [number for number, line in enumerate(journal.lines, start=1) if '"type":"roll"' in line]
    assert seen == rolls[::-1]
    # However little is found, no question looks at more than so many events.
    monkeypatch.setattr(journal_query, "LOOKED_AT_MAX", 5)
    page = journal_query.search(journal.read, 1, journal.end, Filter(type="shooter"))
    assert (page["looked_at"], page["before"], page["events"]) == (5, journal.end - 5, [])


def test_an_event_that_is_very_long_is_shown_without_its_data(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_query, "DATA_BYTES_MAX", 1000)
    (opened, _) = journal_query.search(journal.read, 1, journal.end, Filter(type="table_opened"))["events"]
    assert opened["data"] is None
    assert opened["bytes"] > 1000


def test_sessions_are_counted_from_the_last_and_end_where_the_journal_was_pruned(journal: Journal) -> None:
    found = journal_query.sessions(journal.read, 1, journal.end, 2)["sessions"]
    about = [(one["number"], one["rolls"], one["rules"], one["person"], one["closed"] is None) for one in found]
    assert about == [(2, 2, "es-1979", "Eva Ruiz", True), (1, 4, "us-vegas", None, False)]
    pruned = Journal(journal.lines, pruned=found[1]["opened_seq"])
    assert [one["number"] for one in journal_query.sessions(pruned.read, pruned.first, pruned.end, 2)["sessions"]] == [
        2
    ]


def test_the_hands_of_the_dice_say_who_threw_how_often_and_how_it_ended(journal: Journal) -> None:
    second, first = journal_query.sessions(journal.read, 1, journal.end, 2)["sessions"]
    (hand,) = journal_query.shooters(journal.read, first["opened_seq"])["hands"]
    told = (hand["shooter"], hand["from_roll"], hand["rolls"], hand["points"], hand["ended_by"])
    # Four is made, eight is the point, and seven ends it.
    assert told == ("3", 1, 4, 1, "seven_out")
    (hand,) = journal_query.shooters(journal.read, second["opened_seq"])["hands"]
    # With the six that was a nine, the seven still ends the hand.
    assert (hand["shooter"], hand["rolls"], hand["ended_by"]) == (None, 2, "seven_out")


def test_every_roll_and_correction_settled_again_is_equal(journal: Journal) -> None:
    for kind in journal_query.ROLLS:
        for event in journal_query.search(journal.read, 1, journal.end, Filter(type=kind))["events"]:
            assert journal_query.settle_again(journal.read, 1, event["seq"])["equal"] is True


def test_a_result_that_was_changed_shows_beside_what_it_should_be(table: Recorder) -> None:
    lines = lines_of(table)
    place = next(place for place, line in enumerate(lines) if '"paid":10' in line)
    lines[place] = lines[place].replace('"paid":10', '"paid":100')
    journal = Journal(lines)
    said = journal_query.settle_again(journal.read, 1, place + 1)
    assert said["equal"] is False
    assert [result["paid"] for result in said["journaled"]["results"]] == [100]
    assert [result["paid"] for result in said["settled"]["results"]] == [10]


def test_what_has_no_answer_says_why(journal: Journal) -> None:
    for seq, reason in ((1, "is no roll"), (10**6, "there is no event")):
        with pytest.raises(NoAnswer, match=reason):
            journal_query.settle_again(journal.read, 1, seq)
    roll = next(number for number, line in enumerate(journal.lines, start=1) if '"type":"roll"' in line)
    pruned = Journal(journal.lines, pruned=roll - 1)
    with pytest.raises(NoAnswer, match="begins before what is left"):
        journal_query.settle_again(pruned.read, roll, roll)
    with pytest.raises(NoAnswer, match="opens no session"):
        journal_query.check_opening(journal.read, roll)


def test_a_session_is_exported_as_it_stands_after_its_corrections(journal: Journal, tmp_path: Any) -> None:
    second, first = journal_query.sessions(journal.read, 1, journal.end, 2)["sessions"]
    for session in (first, second):
        file = tmp_path / f"{session['number']}.json"
        file.write_text(journal_query.session_scenario(journal.read, session["opened_seq"]), encoding="utf-8")
        assert settle([file], None) == 0
    steps = json.loads((tmp_path / "2.json").read_text())["steps"]
    # Nine pays the field even money; the roll after it, a seven, loses as it did.
    assert [step["roll"] for step in steps if "roll" in step] == [[5, 4], [1, 6]]
    assert next(step for step in steps if "roll" in step)["expect"]["results"] == [
        {"player": "7", "kind": "field", "result": "win", "paid": 10, "returned": 10}
    ]
    events = list(journal_query.session_lines(journal.read, first["opened_seq"]))
    assert events == journal.lines[first["opened_seq"] - 1 : second["opened_seq"] - 1]
