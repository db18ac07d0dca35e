"""Over any sequence of actions the dice of every set add up, and the log replayed is the log shown."""

import contextlib
import copy
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from device.dice_control.dice_actions import ActionError, parse_action
from device.dice_control.dice_rules import CHANGE_REASONS, NAMES, REASONS
from device.dice_control.dice_state import PLACES
from device.dice_control.reserve_openings import OPENINGS_MAX
from engine_lite.refusal import Refused
from tests.dice_table import DiceTable

SETS = ("A", "B", "C")
DICE = tuple("1234567")
# A die by its name, or the first or the last one that is there now: "play 0", "reserve -1".
there = st.builds("{} {}".format, st.sampled_from(("play", "reserve", "floor", "missing")), st.sampled_from((0, -1)))
die = there | st.sampled_from(DICE)
dice = st.lists(die, max_size=7, unique=True) | st.lists(die, max_size=3)
two = st.lists(die, min_size=2, max_size=2)
name = st.sampled_from(("Ana", "Luis", "Eva"))


def parts(needed: dict[str, Any], optional: dict[str, Any] | None = None) -> st.SearchStrategy[dict[str, Any]]:
    signed = {"set": st.sampled_from(("A", "A", "A", "B")), "seen_by": name} | (optional or {})
    return st.fixed_dictionaries(needed, optional={part: said for part, said in signed.items() if part not in needed})


ACTIONS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "on_duty": st.fixed_dictionaries({"boxman": name, "witness": name}),
    "receive": parts(
        {
            "set": st.sampled_from(SETS),
            "dice": st.integers(1, 7),
            "maker": st.sampled_from(("Bold", "Gem")),
            "colour": st.just("red"),
        },
        {"serials": dice},
    ),
    "inspect": parts(
        {"checks": st.sampled_from(({}, {"sound": True}, {"sound": False}))},
        {
            "dice": dice,
            "unsound": st.dictionaries(die, st.just("chipped"), max_size=2),
            "then": st.sampled_from(("reserve", "play", "withdrawn")),
        },
    ),
    "place": parts({"set": st.sampled_from(SETS)}),
    "offer": parts({}, {"dice": dice}),
    "change": parts({"taken": two}, {"offered": dice}),
    "swap": parts(
        {
            "out": st.just(["play 0"]) | st.lists(die, max_size=2),
            "in": st.just(["reserve 0"]) | st.lists(die, max_size=2),
            "reason": st.sampled_from(CHANGE_REASONS),
        },
        {"to": st.sampled_from(("reserve", "inspection", "floor", "withdrawn"))},
    ),
    "off_table": parts({"dice": dice}),
    "void_throw": parts({"no_roll": st.sampled_from(("last void", 1)), "dice": st.just(["play 0"]) | dice}),
    "found": parts({"die": die}, {"to": st.sampled_from(("inspection", "reserve", "play"))}),
    "missing": parts({"dice": dice}),
    "correction": parts(
        {
            "places": st.dictionaries(die, st.sampled_from(("store", "reserve", "play", "floor", "inspection"))),
            "note": st.just("seen"),
        }
    ),
    "count": parts(
        {
            "count": st.sampled_from(("opening", "closing", "check")),
            "seen": st.dictionaries(st.sampled_from(("reserve", "play")), dice),
        }
    ),
    "remove": parts(
        {
            "set": st.sampled_from(SETS),
            "to": st.sampled_from(("store", "withdrawn", "cancelled", "destroyed")),
            "reason": st.just("closing"),
        },
        {"dice": dice},
    ),
    "explain": st.fixed_dictionaries(
        {"reason": st.sampled_from(REASONS), "as": st.sampled_from(("boxman", "supervisor")), "done_by": name}
    ),
}
# Those that move dice at the table come more often.
OFTEN = ("swap", "swap", "change", "void_throw", "found", "off_table")
action = st.sampled_from((*OFTEN, *sorted(ACTIONS))).flatmap(
    lambda chosen: ACTIONS[chosen].map(lambda said: {chosen: said})
)
elsewhere = st.sampled_from(("lid", "lid_at_start", "slots", "alert", "game", "session"))


def named(table: DiceTable, value: Any) -> Any:
    """The same with the dice by their names."""
    if isinstance(value, dict):
        return {named(table, key): named(table, part) for key, part in value.items()}
    if isinstance(value, list):
        return [named(table, part) for part in value]
    if value == "last void":
        return (table.context.no_roll or (1, ""))[0]
    if isinstance(value, str) and " " in value:
        place, which = value.split()
        dice_there = table.log.state.at(place)
        return dice_there[int(which)][1] if dice_there else "1"
    return value


def happens(table: DiceTable, what: str, number: int) -> None:
    """Something that is no action: the lid, the slots, an alert, the game going on."""
    state = table.log.state
    if what == "lid":
        table.lid(not state.reserve_open)
    elif what == "lid_at_start":
        table.lid(number % 2 == 0, initial=True)
    elif what == "slots":
        table.take("slots", {"occupied": list(range(number % 5)), "initial": False})
    elif what == "alert":
        seq = state.openings[0].seq if state.openings else number
        table.take("alert_raised", {"alert": f"reserve_unexplained:{seq}"})
    elif what == "session":
        opens = not table.context.table_open
        session = table.context.session_number + opens
        table.game(table_open=opens, session_number=session, roll_number=0, rolls_in_series=0, point=None)
    else:
        reason = ("off_table", "broken", "in_dice_cup")[number % 3]
        table.game(
            roll_number=table.context.roll_number + 1,
            rolls_in_series=number % 3,
            point=6 if number % 3 else None,
            no_roll=(table.seq, reason) if number < 6 else None,
        )
        table.take("roll", {})


def places_of(snapshot: dict[str, Any], dice_of: dict[str, list[str]]) -> dict[str, dict[str, str]]:
    """Where each die of each set is; of a set that is remembered as destroyed, all are."""
    places = {
        set_name: {one: there["place"] for one, there in dice_set["dice"].items()}
        for set_name, dice_set in snapshot["sets"].items()
    }
    return places | {set_name: dict.fromkeys(dice_of[set_name], "destroyed") for set_name in snapshot["destroyed"]}


@settings(max_examples=100)
@given(
    rules=st.sampled_from(NAMES),
    steps=st.lists(action | action | st.tuples(elsewhere, st.integers(1, 9)), min_size=20, max_size=40),
    prepared=st.sampled_from((6, 5, 0)),
)
def test_the_dice_add_up_after_every_event_and_the_replay_is_the_log(
    rules: str, steps: list[Any], prepared: int
) -> None:
    table = DiceTable(rules)
    if prepared:
        table.set_up(dice=prepared)
    dice_of = {"A": [str(number + 1) for number in range(prepared)]} if prepared else {}
    for step in steps:
        before = table.log.snapshot()
        if isinstance(step, tuple):
            happens(table, *step)
        else:
            try:
                asked = parse_action(named(table, step))
            except ActionError:
                continue
            untouched = copy.deepcopy(asked)
            entries = []
            with contextlib.suppress(Refused):
                entries = table.log.decide(asked, table.context)
            assert table.log.snapshot() == before, "to decide changes nothing"
            assert asked == untouched
            for kind, data in entries:
                assert json.loads(json.dumps(data)) == data, "plain values, as the journal gives them back"
                table.take(kind, data)
                if kind == "dice_set_received":
                    dice_of[data["set"]] = data["dice"]
                moved = [(move["set"], move["die"]) for move in data.get("moves", [])]
                assert len(moved) == len(set(moved)), "no die moves twice in one event"
                were = places_of(before, dice_of)
                changed = {
                    (set_name, one)
                    for set_name, there in places_of(table.log.snapshot(), dice_of).items()
                    for one, place in there.items()
                    if set_name in were and were[set_name][one] != place
                }
                assert changed == set(moved), "no die moves without an event that names it"
        places = {
            set_name: list(there.values()) for set_name, there in places_of(table.log.snapshot(), dice_of).items()
        }
        assert {set_name: len(there) for set_name, there in places.items()} == {
            set_name: len(names) for set_name, names in dice_of.items()
        }
        assert all(place in PLACES for there in places.values() for place in there)
        assert sum(there.count("play") for there in places.values()) <= 2
        assert len(table.log.state.openings) <= OPENINGS_MAX
        table.log.view(table.context)
    assert table.replayed().snapshot() == table.log.snapshot()
