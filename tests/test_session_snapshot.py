"""A session restored from its snapshot is the session: it shows the same and goes on in the same way."""

import copy
import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from device.dice_control import dice_rules
from device.dice_control.dice_actions import ActionError, parse_action
from device.event import GENESIS_HASH, Stamp, seal
from device.event_times import EventTimes
from device.origin import Origin
from device.screen import alerts, table_view
from device.session import Entry, Session
from device.session_snapshot import BadState, restore, restore_state, state_of
from device.table_terms import TableTerms
from engine_lite import rule_sets
from engine_lite.refusal import Refused
from tests import test_dice_properties as dice
from tests.dice_table import DiceTable
from tests.test_session import ACTIONS, BETS, BUTTONS, CONFIGURED, KINDS, LID, PLAYERS, keys, terms

RULES = dice_rules.load("us-vegas")
WHERE = st.sampled_from([("in_place", "off", "off"), ("in_place", 6, "on"), ("lifted", None, None)])
INPUTS = st.sampled_from(["lid", "puck_4", "dice_key_1"])
BOARD = st.fixed_dictionaries({"boot_id": st.integers(1, 2), "dropped_in_all": st.integers(0, 3)})
NUMBERS = st.sampled_from([None, 4, 5, 6, 8, 9, 10])
# What the tests of the session's replay do, and everything else that a session takes on.
MORE = st.one_of(
    st.tuples(st.just("reduce"), BETS),
    st.tuples(st.just("take_down"), st.fixed_dictionaries({"player": PLAYERS, "kind": st.sampled_from(KINDS)})),
    st.tuples(st.just("working"), st.fixed_dictionaries({"on": st.booleans()}, optional={"number": NUMBERS})),
    st.tuples(st.just("shooter"), PLAYERS),
    st.tuples(st.just("no_roll"), st.sampled_from(["off_table", "in_dice_cup", "broken"])),
    st.tuples(st.just("rules"), st.sampled_from(["es-1979", "mo-2010"])),
    st.tuples(st.just("puck"), st.tuples(st.sampled_from([1, 2]), WHERE)),
    st.tuples(st.just("slots"), st.lists(st.integers(1, 4), unique=True)),
    st.tuples(st.just("input_unavailable"), st.fixed_dictionaries({"name": INPUTS, "reason": st.just("busy")})),
    st.tuples(st.just("input_available"), st.fixed_dictionaries({"name": INPUTS})),
    st.tuples(st.just("input_stuck"), st.fixed_dictionaries({"name": INPUTS})),
    st.tuples(st.just("input_freed"), st.fixed_dictionaries({"name": INPUTS})),
    st.tuples(st.just("node_lost"), st.fixed_dictionaries({"reason": st.just("unplugged")})),
    st.tuples(st.just("node_found"), BOARD),
    st.tuples(st.just("line_noisy"), st.just({})),
    st.tuples(st.just("raise"), st.tuples(st.sampled_from(["a", "b", "reserve_unexplained:9"]), st.booleans())),
    st.tuples(st.just("clear"), st.integers(0, 2)),
    st.tuples(st.just("acknowledge"), st.integers(0, 2)),
    st.tuples(st.just("dice"), dice.action),
    st.tuples(st.just("dice"), dice.action),
    st.tuples(st.just("stop"), st.none()),
)
STEPS = st.lists(st.one_of(ACTIONS, ACTIONS, MORE), max_size=30)


def entries_of(session: Session, number: int, action: str, value: Any) -> list[Entry]:
    """What follows from an action. Raises Refused."""
    console = Origin("console", f"command-{number}")
    match action:
        case "bet" | "reduce" | "take_down" | "working" | "shooter" | "no_roll":
            return session.command({action: value}, console)
        case "roll" | "correct":
            return session.command({action: list(value)}, console)
        case "keys":
            return session.dice_keyed(value[0], value[1], keys(number))
        case "take_back":
            return session.take_back_keyed(keys(number))
        case "new_shooter":
            return session.new_shooter_keyed(keys(number))
        case "status":
            return session.bet_status_keyed(value[0], value[1], BUTTONS)
        case "lid":
            return session.reserve_seen(value, initial=False, origin=LID)
        case "close":
            return session.close_table(console)
        case "open":
            return session.open_table(terms(), console)
        case "rules":
            return session.open_table(terms(value), console)
        case "no_more_bets":
            return session.no_more_bets(console)
        case "restart":
            return session.start("1", CONFIGURED, key="U", configuration_hash="0")
        case "stop":
            return session.stop()
        case "puck":
            puck, (state, position, face) = value
            return session.puck_seen(puck, state, position, face, {"initial": False})
        case "slots":
            return session.input_seen("slots", {"occupied": sorted(value)})
        case "raise":
            return session.raise_alert(value[0], "look", {"number": number}, latched=value[1])
        case "clear" | "acknowledge":
            return about_an_alert(session, action, value, console)
        case "dice":
            return dice_entries(session, value, console)
        case _:
            return session.input_seen(action, value)


def about_an_alert(session: Session, action: str, which: int, origin: Origin) -> list[Entry]:
    if which >= len(session.alerts):
        return []
    name = list(session.alerts)[which]
    if action == "clear":
        return session.clear_alert(name)
    return session.acknowledge_alert(name, session.alerts[name]["seq"], "Ana", origin)


def dice_entries(session: Session, value: Any, origin: Origin) -> list[Entry]:
    table = SimpleNamespace(context=session.dice_context(RULES), log=session.dice)
    try:
        asked = parse_action(dice.named(cast(DiceTable, table), value))
    except ActionError:
        return []
    return session.dice_action(asked, RULES, origin)


def follows(session: Session, number: int, action: str, value: Any) -> list[Entry] | tuple[str, str]:
    """The entries as the journal holds them, or the refusal."""
    try:
        said = entries_of(session, number, action, copy.deepcopy(value))
    except Refused as refused:
        return refused.code, refused.message
    entries: list[Entry] = json.loads(json.dumps(said))
    return entries


def through_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


def assert_values(restored: Session, session: Session) -> None:
    # Not sorted: the order of alerts, sets and answers is part of the state.
    assert json.dumps(restored.snapshot()) == json.dumps(session.snapshot())
    assert restored.hardware == session.hardware
    assert restored.dice.state == session.dice.state


def assert_same(restored: Session, session: Session) -> None:
    assert_values(restored, session)
    assert table_view(restored) == table_view(session)
    assert alerts(restored, {}) == alerts(session, {})
    context = session.dice_context(RULES)
    assert restored.dice_context(RULES) == context
    assert restored.dice.view(context) == session.dice.view(context)


def started() -> Session:
    session = Session()
    session.start("1", CONFIGURED, key="U", configuration_hash="0")
    session.open_table(terms(), Origin("configuration"))
    return session


def with_dice(session: Session) -> Session:
    """A set of six dice at the table, two of them in play."""
    for said in (
        {"on_duty": {"boxman": "Ana", "witness": "Luis"}},
        {"receive": {"set": "A", "dice": 6, "maker": "Bold", "colour": "red"}},
        {"inspect": {"set": "A", "checks": {"sound": True}}},
        {"place": {"set": "A"}},
        {"change": {"set": "A", "taken": ["1", "2"]}},
    ):
        session.dice_action(parse_action(said), RULES, Origin("console"))
    return session


@settings(max_examples=150, derandomize=True)
@given(before=STEPS, after=STEPS, dice_there=st.booleans())
def test_a_restored_session_is_the_session_and_goes_on_as_it_does(
    before: list[tuple[str, Any]], after: list[tuple[str, Any]], dice_there: bool
) -> None:
    session = with_dice(started()) if dice_there else started()
    for number, (action, value) in enumerate(before):
        follows(session, number, action, value)
    kept = session.snapshot()
    text = json.dumps(kept)
    restored = restore(through_json(kept))
    assert_same(restored, session)
    # Numbered on from the middle: some commands come again.
    for number, (action, value) in enumerate(after, start=len(before) // 2):
        expected = follows(session, number, action, value)
        assert follows(restored, number, action, value) == expected
    assert_same(restored, session)
    assert json.dumps(kept) == text, "a snapshot stays as it is while its session goes on"


@pytest.mark.parametrize("rules", rule_sets.NAMES)
def test_a_session_under_each_rule_set_is_restored_with_all_of_its_rules(rules: str) -> None:
    session = Session()
    session.open_table(terms(rules), Origin("configuration"))
    restored = restore(through_json(session.snapshot()))
    assert_same(restored, session)
    assert restored.terms == session.terms
    assert restored.terms is not None
    assert restored.terms.rule_set == rule_sets.load(rules)


def test_a_session_that_was_never_opened_is_restored() -> None:
    assert_values(restore(through_json(Session().snapshot())), Session())


def test_a_command_that_is_sent_again_after_a_restore_gets_its_answer() -> None:
    session = started()
    session.command({"bet": {"player": "3", "kind": "pass_line", "amount": 10}}, Origin("console", "command-1"))
    restored = restore(through_json(session.snapshot()))
    assert restored.answered("command-1") == {
        "seq": 3,
        "asked": {"bet": {"player": "3", "kind": "pass_line", "amount": 10}},
        "results": [],
        "point": None,
    }


def test_a_roll_from_before_the_snapshot_is_corrected_after_it() -> None:
    session = started()
    session.command({"bet": {"player": "3", "kind": "field", "amount": 10}}, Origin("console"))
    session.command({"roll": [2, 4]}, Origin("console"))
    ((_, data),) = restore(through_json(session.snapshot())).command({"correct": [5, 4]}, Origin("console"))
    # The field, lost on six, pays even money on nine.
    assert data["results"] == [{"player": "3", "kind": "field", "result": "win", "paid": 10, "returned": 10}]
    assert data["corrects"] == 4


def test_since_when_things_are_as_they_are_is_restored() -> None:
    times = EventTimes()
    stamp = Stamp("boot-1", 5, "2026-11-29T22:10:56.123Z", "free")
    raised = {"alert": "node_dropped", "latched": True}
    for seq, (kind, data) in enumerate([("reserve_opened", {}), ("alert_raised", raised)], start=1):
        times.note(seal("craps-1", seq, stamp, kind, data, GENESIS_HASH if seq == 1 else "1" * 64))
    _, restored = restore_state(through_json(state_of(Session(), times)))
    since = "2026-11-29T22:10:56.123Z"
    assert restored == EventTimes(since, {"node_dropped": since}, ["node_dropped"])


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value within, the outermost first."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def with_value(state: Any, path: tuple[Any, ...], value: Any) -> Any:
    changed = copy.deepcopy(state)
    if not path:
        return value
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return changed


def busy() -> dict[str, Any]:
    session = with_dice(started())
    session.command({"bet": {"player": "3", "kind": "place", "amount": 12, "number": 6}}, Origin("console", "c"))
    session.command({"roll": [2, 4]}, Origin("console"))
    session.reserve_seen(True, initial=False, origin=LID)
    session.raise_alert("puck_fault", "look", {}, latched=True)
    state: dict[str, Any] = through_json(state_of(session, EventTimes()))
    # A rule set is checked by the tests of its compiler.
    return state


@pytest.mark.parametrize("wrong", [None, 7, -1, "x", [], {}, [[]], True, 2.5], ids=str)
def test_a_state_with_a_wrong_value_anywhere_is_refused_or_a_state_never_a_traceback(wrong: Any) -> None:
    state = busy()
    rule_set = ("session", "terms", "rule_set")
    refused = 0
    for path in places(state):
        if path[:3] == rule_set and len(path) > 3:
            continue
        try:
            restored, _ = restore_state(with_value(state, path, wrong))
        except BadState:
            refused += 1
        else:
            restored.snapshot()
            assert path, "the whole state is no other value"
    assert refused > 60


@pytest.mark.parametrize(
    "path",
    [
        "",
        "times",
        "session",
        "session hardware",
        "session hardware pucks 1",
        "session dice",
        "session dice sets A",
        "session dice sets A dice 1",
        "session dice openings 0",
        "session terms",
        "session terms limits",
        "session table",
        "session table before",
    ],
)
def test_a_state_with_a_part_missing_or_too_much_is_refused(path: str) -> None:
    state = busy()
    names = tuple(0 if key == "0" else key for key in path.split())
    part: Any = state
    for name in names:
        part = part[name]
    for changed in (part | {"more": 1}, {name: part[name] for name in list(part)[1:]}):
        with pytest.raises(BadState, match="missing or too much"):
            restore_state(with_value(state, names, changed))


def test_money_that_does_not_add_up_is_refused() -> None:
    state = busy()
    state["session"]["table"]["house"] += 1
    with pytest.raises(BadState, match="does not add up"):
        restore_state(state)


def test_terms_that_no_table_can_be_opened_under_are_refused() -> None:
    state = busy()
    state["session"]["terms"] = through_json(TableTerms({"name": "x"}, {}, 1, 1, 1000).data())
    with pytest.raises(BadState):
        restore_state(state)


def test_what_always_works_is_named_the_same_whatever_was_put_down_first() -> None:
    """A refusal of a button stands in the journal, so it must not depend on what a snapshot leaves out."""
    messages = set()
    for kinds in (("pass_line", "field"), ("field", "pass_line")):
        session = started()
        for kind in kinds:
            session.command({"bet": {"player": "3", "kind": kind, "amount": 10}}, Origin("console"))
        with pytest.raises(Refused) as refused:
            session.command({"working": {"on": False, "player": "3"}}, Origin("console"))
        messages.add(refused.value.message)
    assert len(messages) == 1
