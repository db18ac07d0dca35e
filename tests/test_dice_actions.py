"""What an action on the dice log may look like: each fault is named with its part."""

import pytest

from device.dice_control.dice_actions import ActionError, parse_action

WRONG: list[tuple[object, str, str]] = [
    ([], "action", "must be an object with one of on_duty, receive"),
    ({}, "action", "must be an object with one of"),
    ({"swap": {}, "place": {}}, "action", "must be an object with one of"),
    ({"steal": {}}, "action", "must be an object with one of"),
    ({"place": "A"}, "place", "must be an object"),
    ({"place": {}}, "place.set", "is missing"),
    (
        {"place": {"set": "A", "colour": "red"}},
        "place.colour",
        "is not known; the parts are set, done_by, seen_by, note",
    ),
    ({"place": {"set": " A"}}, "place.set", "must be 1 to 40 visible characters"),
    ({"place": {"set": "A\n"}}, "place.set", "must be 1 to 40 visible characters"),
    ({"place": {"set": "A\x07B"}}, "place.set", "must be 1 to 40 visible characters"),
    ({"place": {"set": "x" * 41}}, "place.set", "must be 1 to 40 visible characters"),
    ({"place": {"set": "A", "note": "x" * 201}}, "place.note", "must be 1 to 200 visible characters"),
    (
        {"receive": {"set": "A", "dice": 9, "maker": "B", "colour": "red"}},
        "receive.dice",
        "must be a whole number from 2 to 8",
    ),
    ({"receive": {"set": "A", "dice": True, "maker": "B", "colour": "red"}}, "receive.dice", "must be a whole number"),
    (
        {"receive": {"set": "A", "dice": 5, "maker": "B", "colour": "red", "serials": ["1", "1"]}},
        "receive.serials",
        "names die 1 twice",
    ),
    (
        {"receive": {"set": "A", "dice": 5, "maker": "B", "colour": "red", "edge_hundredths_mm": 19.05}},
        "receive.edge_hundredths_mm",
        "must be a whole number",
    ),
    ({"swap": {"out": ["1"], "in": ["3"]}}, "swap.reason", "is missing"),
    ({"swap": {"out": ["1"], "in": ["3"], "reason": "closing"}}, "swap.reason", "must be one of offered_to_shooter"),
    ({"swap": {"out": ["1"], "in": ["3"], "reason": ["damage"]}}, "swap.reason", "must be one of"),
    ({"swap": {"out": ["1", "2", "3"], "in": ["3"], "reason": "damage"}}, "swap.out", "must be a list of 0 to 2 dice"),
    ({"swap": {"out": ["1"], "in": [], "reason": "damage"}}, "swap.in", "must be a list of 1 to 2 dice"),
    ({"swap": {"out": [1], "in": ["3"], "reason": "damage"}}, "swap.out", "must be 1 to 40 visible characters"),
    ({"change": {"taken": ["1"]}}, "change.taken", "must be a list of 2 dice"),
    ({"count": {"count": "check", "seen": {"pocket": []}}}, "count.seen", "must be one of reserve"),
    (
        {"count": {"count": "check", "seen": {"play": ["1"], "reserve": ["1"]}}},
        "count.seen",
        "names die 1 in two places",
    ),
    ({"inspect": {"checks": {"sound": "yes"}}}, "inspect.checks.sound", "must be true or false"),
    (
        {"inspect": {"checks": {}, "instruments": {"ruler": {"sound": True, "showed": "x"}}}},
        "inspect.instruments",
        "must be one of micrometer",
    ),
    (
        {"inspect": {"checks": {}, "instruments": {"magnet": {"sound": True}}}},
        "inspect.instruments.magnet",
        "must be an object with sound",
    ),
    ({"explain": {"reason": "count", "as": "supervisor"}}, "explain.done_by", "is missing: a supervisor signs"),
    ({"correction": {"places": {"1": "cancelled"}, "note": "x"}}, "correction.places.1", "must be one of store"),
    ({"correction": {"places": {"1": "store"}}}, "correction.note", "is missing"),
]


@pytest.mark.parametrize(("body", "field", "message"), WRONG)
def test_an_action_of_the_wrong_shape_is_named_part_by_part(body: object, field: str, message: str) -> None:
    with pytest.raises(ActionError) as error:
        parse_action(body)
    assert (error.value.field, message in error.value.message) == (field, True), str(error.value)
