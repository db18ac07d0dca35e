"""Over any day of rolls, lid, slots, alerts and crashes the session is its journal, and the dice add up."""

import copy
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from device.alert_conditions import GraceTimes
from device.alert_watch import AlertWatch
from device.dice_control import dice_rules
from device.dice_control.dice_actions import ActionError, parse_action
from device.dice_control.dice_alerts import DICE_ALERTS
from device.dice_control.dice_history import History, history
from device.dice_control.dice_state import PLACES
from device.dice_control.reserve_conditions import ReserveTimes
from device.event import GENESIS_HASH, Event, Stamp, parse, seal
from device.origin import Origin
from device.session import Entry, Session
from device.table_terms import TableTerms
from drivers.wiring import Wiring
from engine_lite import rule_sets
from engine_lite.refusal import Refused
from tests.test_dice_properties import action

CONSOLE = Origin("console")
JURISDICTIONS = ("es-1979", "es-md-2004", "mo-2010", "cl-scj", "pe-1999", "us-vegas")
# Longer than any time that the watch gives: what is wrong now is an alert at the next look.
AGES_MS = 100_000
RULES = {name: dice_rules.load(name) for name in JURISDICTIONS}
TERMS = {name: TableTerms(rule_sets.load(name), {}, 1, 5, 5000) for name in JURISDICTIONS}

faces = st.lists(st.integers(1, 6), min_size=2, max_size=2)
step = (
    st.builds(lambda dice: {"roll": dice}, faces)
    | st.builds(lambda dice: {"correct": dice}, faces)
    | st.builds(lambda reason: {"no_roll": reason}, st.sampled_from(("off_table", "in_dice_cup", "broken", "on_chips")))
    | st.just({"bet": {"player": "3", "kind": "pass_line", "amount": 10}})
    | st.just({"shooter": "3"})
)
happening = st.one_of(
    st.tuples(st.just("dice"), action),
    st.tuples(st.just("dice"), action),
    st.tuples(st.just("dice"), action),
    st.tuples(st.just("step"), step),
    st.tuples(st.just("step"), step),
    st.tuples(st.sampled_from(("lid", "lid", "lid_at_start")), st.booleans()),
    st.tuples(st.just("slots"), st.lists(st.integers(1, 6), unique=True, max_size=6).map(sorted)),
    st.tuples(st.sampled_from(("open", "close", "no_more_bets", "crash", "stop")), st.none()),
    st.tuples(st.sampled_from(("watch", "watch", "acknowledge")), st.integers(0, 3)),
)
SWAPPED = {"out": ["play 0"], "in": ["reserve 0"], "reason": "shooter_request"}
VOID = {"void_throw": {"no_roll": "last void", "dice": ["play 0"]}}
# What belongs together, and would seldom come together by chance.
SCENES: list[list[tuple[str, Any]]] = [
    [("step", {"no_roll": "in_dice_cup"}), ("lid", True), ("dice", VOID), ("lid", False)],
    [
        ("step", {"no_roll": "off_table"}),
        ("dice", VOID),
        ("lid", True),
        ("dice", {"swap": {"out": [], "in": ["reserve 0"], "reason": "die_off_table"}}),
        ("lid", False),
        ("step", {"roll": [3, 4]}),
        ("watch", 1),
        ("dice", {"missing": {"dice": ["floor 0"]}}),
    ],
    [
        ("lid", True),
        ("lid", False),
        ("watch", 1),
        ("watch", 1),
        ("dice", {"explain": {"reason": "inspector_request", "as": "boxman"}}),
        ("watch", 1),
        ("dice", {"explain": {"reason": "inspector_request", "as": "supervisor", "done_by": "Eva"}}),
        ("watch", 1),
    ],
    [("lid", True), ("crash", None), ("lid_at_start", True), ("dice", {"swap": SWAPPED}), ("crash", None)],
]
happenings = st.lists(st.builds(lambda one: [one], happening) | st.sampled_from(SCENES), min_size=1, max_size=40).map(
    lambda parts: [one for part in parts for one in part]
)
# A set at the table and two of its dice in play, so that what follows is about something.
MORNING: list[tuple[str, Any]] = [
    ("dice", {"on_duty": {"boxman": "Ana", "witness": "Luis"}}),
    ("dice", {"receive": {"set": "A", "dice": 5, "maker": "Bold", "colour": "red"}}),
    ("dice", {"inspect": {"set": "A", "checks": {}, "instruments": {"magnet": {"sound": True, "showed": "x"}}}}),
    ("lid", True),
    ("dice", {"place": {"set": "A"}}),
    ("dice", {"change": {"taken": ["1", "2"]}}),
    ("lid", False),
]


class Day:
    """A session under one regulation, with all that its journal would hold."""

    def __init__(self, rules: str) -> None:
        self.rules = RULES[rules]
        self.terms = TERMS[rules]
        self.session = Session()
        self.watch = self._new_watch()
        self.entries: list[Entry] = []
        self.now_ms = 0
        self.dice_of: dict[str, list[str]] = {}
        self.entries += self._start()
        self.entries += self.session.open_table(self.terms, Origin("configuration"))

    def _new_watch(self) -> AlertWatch:
        return AlertWatch(GraceTimes(), ReserveTimes(), self.rules, Wiring())

    def _start(self) -> list[Entry]:
        configured = {"rules": self.rules.name, "site": "casino"}
        return self.session.start("1", configured, key="U", configuration_hash="0")

    def happens(self, what: str, how: Any) -> bool:
        """Let something happen; False where it was refused, and then nothing may have changed."""
        before = copy.deepcopy(self.session.snapshot())
        try:
            entries = self._entries(what, how)
        except (Refused, ActionError):
            assert self.session.snapshot() == before
            return False
        self.entries += entries
        for kind, data in entries:
            if kind == "dice_set_received":
                self.dice_of[data["set"]] = data["dice"]
        return True

    def _entries(self, what: str, how: Any) -> list[Entry]:
        session = self.session
        match what:
            case "dice":
                return session.dice_action(parse_action(self._named(how)), self.rules, CONSOLE)
            case "step":
                return session.command(how, CONSOLE)
            case "lid" | "lid_at_start":
                return session.reserve_seen(how, what == "lid_at_start", Origin("header:reserve"))
            case "slots":
                return session.slots_seen(how, False, Origin("node:slots"))
            case "open":
                return session.open_table(self.terms, CONSOLE)
            case "close":
                return session.close_table(CONSOLE)
            case "no_more_bets":
                return session.no_more_bets(CONSOLE)
            case "crash" | "stop":
                # What was not written down is gone: how long something has been wrong.
                self.watch = self._new_watch()
                stopped = session.stop() if what == "stop" else []
                return stopped + self._start()
            case "watch":
                self.now_ms += how * AGES_MS
                return self.watch.look(session, self.now_ms)
            case _:
                return self._acknowledge(how)

    def _acknowledge(self, which: int) -> list[Entry]:
        standing = list(self.session.alerts.items())
        if not standing:
            return []
        name, alert = standing[which % len(standing)]
        return self.session.acknowledge_alert(name, alert["seq"], "Eva", CONSOLE)

    def _named(self, value: Any) -> Any:
        """The same with the dice by their names: "play 0" is the first that is in play now."""
        if isinstance(value, dict):
            return {self._named(key): self._named(part) for key, part in value.items()}
        if isinstance(value, list):
            return [self._named(part) for part in value]
        if value == "last void":
            last = self.session.last_no_roll
            return 1 if last is None else last["seq"]
        if isinstance(value, str) and " " in value:
            place, which = value.split()
            there = self.session.dice.state.at(place)
            return there[int(which)][1] if there else "1"
        return value

    def replayed(self) -> Session:
        """A fresh session that has been given the entries as they come back from the disk."""
        session = Session()
        for seq, (kind, data) in enumerate(json.loads(json.dumps(self.entries)), start=1):
            session.replay(seq, kind, data)
        return session

    def told(self) -> History:
        """What the reports make of the same journal."""
        events: list[Event] = []
        for seq, (kind, data) in enumerate(self.entries, start=1):
            stamp = Stamp("boot-1", seq * 1_000_000, "2026-11-28T20:00:00.000Z", "synced")
            previous = events[-1].hash if events else GENESIS_HASH
            events.append(parse(seal("craps-1", seq, stamp, kind, data, previous).line()))
        return history(events)


@settings(max_examples=120)
@given(rules=st.sampled_from(JURISDICTIONS), happened=happenings)
def test_the_session_is_its_journal_and_the_dice_add_up(rules: str, happened: list[tuple[str, Any]]) -> None:
    day = Day(rules)
    assert all(day.happens(what, how) for what, how in MORNING)
    for what, how in happened:
        day.happens(what, how)
        state = day.session.dice.state
        there = {name: [die.place for die in dice_set.dice.values()] for name, dice_set in state.sets.items()}
        there |= {name: ["destroyed"] * len(day.dice_of[name]) for name in state.destroyed}
        assert {name: len(places) for name, places in there.items()} == {
            name: len(dice) for name, dice in day.dice_of.items()
        }
        assert all(place in PLACES for places in there.values() for place in places)
        day.session.dice.view(day.session.dice_context(day.rules))
    session = day.session
    assert day.replayed().snapshot() == session.snapshot()

    # The reports read the events on their own; what they say is what the terminal knows.
    told, state = day.told(), session.dice.state
    places = {name: {die: said.place for die, said in dice_set.dice.items()} for name, dice_set in state.sets.items()}
    places |= {name: dict.fromkeys(day.dice_of[name], "destroyed") for name in state.destroyed}
    assert told.places == places
    assert told.reserve_open == state.reserve_open
    waiting = [opening for opening in told.openings if not opening.is_explained]
    assert [(opening.row.seq, opening.closed, opening.reason, opening.late) for opening in waiting] == [
        (opening.seq, opening.closed, opening.reason, opening.late) for opening in state.openings if opening.waits
    ]
    standing = {name: alert["text"] for name, alert in session.alerts.items()}
    assert told.alerts == {name: text for name, text in standing.items() if name.partition(":")[0] in DICE_ALERTS}


@settings(max_examples=40)
@given(rules=st.sampled_from(JURISDICTIONS), happened=happenings, data=st.data())
def test_a_crash_anywhere_goes_on_as_if_there_had_been_none(
    rules: str, happened: list[tuple[str, Any]], data: st.DataObject
) -> None:
    """Replayed in the middle, the session does with the rest what it does without the crash."""
    day = Day(rules)
    cut = data.draw(st.integers(0, len(happened)))
    for what, how in [*MORNING, *happened[:cut]]:
        day.happens(what, how)
    twin = Day(rules)
    twin.entries = list(day.entries)
    twin.session, twin.now_ms, twin.dice_of = day.replayed(), day.now_ms, dict(day.dice_of)
    twin.watch = day.watch
    for what, how in happened[cut:]:
        if what in ("watch", "crash", "stop"):
            # The two would share one watch.
            continue
        assert day.happens(what, how) == twin.happens(what, how)
    assert twin.entries == day.entries
    assert twin.session.snapshot() == day.session.snapshot()
