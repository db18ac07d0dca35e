"""What cannot be true is refused over HTTP with the difference named, and leaves everything as it was."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.dice_day_rig import BOXMAN, WITNESS, DiceTable, dice_table


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DiceTable]:
    """A table in Peru: of set A two dice are in play, two in the reserve and A5 on the floor; set B is in the store."""
    with dice_table(tmp_path_factory.mktemp("peru"), "pe-1999") as table:
        table.dice("on_duty", boxman=BOXMAN, witness=WITNESS)
        table.receive("A", 5)
        table.receive("B", 5)
        table.inspect(set="A")
        with table.reserve(dice_after=2):
            table.dice("place", set="A")
            table.dice("change", taken=["A1", "A2"])
            table.dice("off_table", dice=["A5"])
        table.settled()
        yield table


def events(table: DiceTable) -> list[dict[str, Any]]:
    """The journal without what the link to a server that is not there does in its own time."""
    return [event for event in table.journal() if not event["type"].startswith("link_")]


NEW = {"dice": 5, "maker": "Bold", "colour": "red"}


@pytest.mark.parametrize(
    ("action", "parts", "code", "message"),
    [
        (
            "receive",
            NEW | {"set": "C", "serials": ["C1", "C2", "A3", "C4", "C5"]},
            "serial_exists",
            "serial A3 of Bold is in the reserve already, in set A",
        ),
        (
            "receive",
            NEW | {"set": "C", "serials": ["C1", "C2", "C3", "C4", "C5", "C6"]},
            "wrong_number",
            "set C is to have 5 dice, but 6 serials are given; C6 too many",
        ),
        (
            "receive",
            NEW | {"set": "A", "serials": ["C1", "C2", "C3", "C4", "C5"]},
            "set_exists",
            "set A was received already, with 5 dice; name it otherwise",
        ),
        (
            "swap",
            {"out": ["A1"], "in": ["A1"], "reason": "damage"},
            "same_die",
            "die A1 cannot be swapped with itself; name another to come in",
        ),
        (
            "swap",
            {"out": ["A3"], "in": ["A4"], "reason": "damage"},
            "wrong_place",
            "die A3 of set A is in the reserve, not in play",
        ),
        (
            "swap",
            {"out": ["A1"], "in": ["A5"], "reason": "damage"},
            "wrong_place",
            "die A5 of set A is on the floor, not in the reserve or before the shooter",
        ),
        (
            "swap",
            {"out": ["A1"], "in": ["B1"], "reason": "damage"},
            "unknown_die",
            "set A has 5 dice, A1, A2, A3, A4, A5, and no die B1; one of this number is in the store, in set B",
        ),
        (
            "swap",
            {"out": [], "in": ["A3"], "reason": "damage"},
            "two_in_play",
            "3 dice would be in play, not 2; in play now: A1 of set A, A2 of set A",
        ),
        (
            "found",
            {"die": "A5", "to": "play"},
            "two_in_play",
            "3 dice would be in play, not 2; in play now: A1 of set A, A2 of set A",
        ),
        (
            "found",
            {"die": "A1"},
            "wrong_place",
            "die A1 of set A is in play, not on the floor or missing or written off as lost",
        ),
        (
            "place",
            {"set": "A"},
            "wrong_place",
            "no die of set A is in the store; they are in play and in the reserve and on the floor",
        ),
        ("place", {"set": "Z"}, "unknown_set", "no set Z was received"),
        (
            "count",
            {"count": "check", "seen": {}, "done_by": "Luis"},
            "same_name",
            "Luis cannot witness what Luis did; name another person as seen_by",
        ),
        (
            "void_throw",
            {"no_roll": 1, "dice": ["A1"]},
            "no_void_throw",
            "there is no void throw since the last roll",
        ),
        ("explain", {"reason": "count", "as": "boxman"}, "no_opening", "no opening of the reserve waits for a reason"),
    ],
)
def test_what_cannot_be_is_refused(
    table: DiceTable, action: str, parts: dict[str, Any], code: str, message: str
) -> None:
    before = events(table)
    assert table.refused(action, **parts) == (409, {"refused": code, "message": message})
    assert events(table) == before


@pytest.mark.parametrize(
    ("action", "parts", "field", "message"),
    [
        ("swap", {"out": ["A1", "A1"], "in": ["A3"], "reason": "damage"}, "swap.out", "names die A1 twice"),
        ("swap", {"out": ["A1"], "in": ["A3"], "reason": "luck"}, "swap.reason", "must be one of offered_to_shooter"),
        ("change", {"taken": ["A1", "A2", "A3"]}, "change.taken", "must be a list of 2 dice"),
        (
            "count",
            {"count": "closing", "seen": {"play": ["A1"], "reserve": ["A1"]}},
            "count.seen",
            "names die A1 in two places",
        ),
        ("receive", NEW | {"set": "C", "dice": 9}, "receive.dice", "must be a whole number from 2 to 8"),
        ("explain", {"reason": "count", "as": "supervisor"}, "explain.done_by", "is missing: a supervisor signs with"),
    ],
)
def test_what_is_malformed_names_its_part(
    table: DiceTable, action: str, parts: dict[str, Any], field: str, message: str
) -> None:
    before = events(table)
    status, answer = table.refused(action, **parts)
    assert (status, answer["field"]) == (400, f"action.{field}")
    assert answer["message"].startswith(message)
    assert events(table) == before


def test_a_sixth_die_that_the_rules_do_not_want_is_recorded_as_against_them(table: DiceTable) -> None:
    table.receive("S", 6)
    placed = table.dice("place", set="S")
    text = table.acknowledge(f"against_rule:{placed}")
    assert text == (
        "Against pe-1999: Set S has 6 dice at hand; the rules ask for 5; "
        "set S came to the table while set A was there: 10 dice; the rules ask for 5 (art. 2.b)."
    )
    table.dice("remove", set="S", to="withdrawn", reason="new_set")


def test_a_closing_count_that_does_not_match_is_recorded_with_the_difference_and_moves_nothing(
    table: DiceTable,
) -> None:
    places = table.status()
    seen = {"play": ["A1"], "reserve": ["A3", "A4", "A2"], "floor": []}
    count = table.dice("count", set="A", count="closing", seen=seen)
    text = table.acknowledge(f"count_differs:{count}")
    assert text == (
        "The closing count of set A differs from the log: die A2 is in play by the log, and was seen in the reserve; "
        "die A5 is on the floor by the log, and was not seen."
    )
    [counted] = table.journal("dice_counted")
    assert counted["data"]["seen"] == seen
    assert counted["data"]["expected"] == {"play": ["A1", "A2"], "reserve": ["A3", "A4"], "floor": ["A5"]}
    assert counted["data"]["difference"] == [
        {"die": "A2", "log": "play", "seen": "reserve"},
        {"die": "A5", "log": "floor", "seen": None},
    ]
    assert (counted["data"]["done_by"], counted["data"]["seen_by"]) == (BOXMAN, WITNESS)
    assert table.status() == places
