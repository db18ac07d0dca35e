"""Slots under a shut lid, and what was said before it was shut, held against the slots: in simulated time."""

import json
from typing import Any

import pytest

from device.alert_conditions import GraceTimes
from device.alert_watch import AlertWatch
from device.dice_control import dice_rules
from device.dice_control.dice_actions import parse_action
from device.dice_control.reserve_conditions import ReserveTimes
from device.origin import Origin
from device.session import Entry, Session
from device.table_terms import TableTerms
from drivers.wiring import Wiring
from engine_lite import rule_sets
from engine_lite.refusal import Refused

CONSOLE = Origin("console")
LID, SLOTS = Origin("header:reserve"), Origin("header:slots")
RULES = dice_rules.load("us-vegas")
TIMES = ReserveTimes(explain_ms=30_000, open_max_ms=60_000, slots_ms=5_000)
SHUT = "slots_changed_shut"


class Reserve:
    """Five dice at a table: 1 and 2 in play, 3 to 5 in slots 1 to 3, the lid shut and all of it settled."""

    def __init__(self) -> None:
        self.session = Session()
        self.entries: list[Entry] = []
        self.now_ms = 0
        self.start()
        terms = TableTerms(rule_sets.load("us-vegas"), {}, 1, 5, 5000)
        self.keep(self.session.open_table(terms, CONSOLE))
        self.do("on_duty", boxman="Ana", witness="Luis")
        self.do("receive", set="A", dice=5, maker="Bold", colour="red")
        self.inspect(set="A")
        self.do("place", set="A")
        self.do("change", taken=["1", "2"])
        self.lid(False, initial=True)
        self.slots(1, 2, 3, initial=True)
        self.after(2_000)
        assert self.kinds("reserve_settled") == [
            {"closed": self.seq("reserve_closed"), "occupied": [1, 2, 3], "surplus": 0, "asked_anew": None}
        ]

    def keep(self, entries: list[Entry]) -> None:
        self.entries += entries

    def start(self) -> None:
        """The program starts, also after a crash."""
        self.watch = AlertWatch(GraceTimes(), TIMES, RULES, Wiring())
        self.keep(self.session.start("1", {}, key="U", configuration_hash="0"))

    def do(self, name: str, /, **parts: Any) -> dict[str, Any]:
        action = parse_action({name: {part.removesuffix("_"): value for part, value in parts.items()}})
        entries = self.session.dice_action(action, RULES, CONSOLE)
        self.keep(entries)
        return entries[0][1]

    def inspect(self, **parts: Any) -> None:
        used = {name: {"sound": True, "showed": "good"} for name in RULES.inspection.instruments}
        self.do("inspect", checks={"sound": True}, instruments=used, **parts)

    def lid(self, is_open: bool, *, initial: bool = False) -> int:
        self.keep(self.session.reserve_seen(is_open, initial, LID))
        return self.session.seq

    def slots(self, *occupied: int, initial: bool = False) -> int:
        self.keep(self.session.slots_seen(list(occupied), initial, SLOTS))
        return self.session.seq

    def input(self, kind: str, **data: Any) -> None:
        self.keep(self.session.input_seen(kind, data))

    def after(self, duration_ms: int) -> None:
        """Let time pass as the terminal does."""
        for _ in range(duration_ms // 100):
            self.now_ms += 100
            if self.watch.wants(self.session, self.now_ms):
                self.keep(self.watch.look(self.session, self.now_ms))

    def kinds(self, kind: str) -> list[dict[str, Any]]:
        return [data for name, data in self.entries if name == kind]

    def seq(self, kind: str) -> int:
        """Of the last event of this kind."""
        return max(seq for seq, (name, _) in enumerate(self.entries, start=1) if name == kind)

    def alerts(self) -> list[str]:
        """The alerts that stand, without those of the slots' number and of the input."""
        assert self.replayed().snapshot() == self.session.snapshot()
        return [name for name in self.session.alerts if name not in ("slots_disagree", "input_unavailable")]

    def replayed(self) -> Session:
        session = Session()
        for seq, (kind, data) in enumerate(json.loads(json.dumps(self.entries)), start=1):
            session.replay(seq, kind, data)
        return session

    def acknowledge(self, alert: str, by: str) -> None:
        self.keep(self.session.acknowledge_alert(alert, self.session.alerts[alert]["seq"], by, CONSOLE))


def test_a_die_that_is_taken_under_a_shut_lid_and_put_back_at_once_leaves_an_alert_that_only_another_ends() -> None:
    table = Reserve()
    taken = table.slots(1, 2)
    assert table.entries[-1][1] == {"occupied": [1, 2], "initial": False, "lid": "shut", "via": "header:slots"}
    table.after(400)
    back = table.slots(1, 2, 3)
    table.after(2_000)
    name = f"{SHUT}:{taken}"
    assert table.alerts() == [name]
    alert = table.session.alerts[name]
    assert alert["latched"]
    assert alert["text"] == (
        "The slots of the reserve changed 2 times without an opening of its lid: occupied 1, 2, 3 before, "
        "occupied 1, 2, 3 now. Count the dice."
    )
    assert alert["detail"] == {
        "event": taken,
        "last": back,
        "changes": 2,
        "before": [1, 2, 3],
        "after": [1, 2, 3],
        "initial": False,
    }
    table.after(60_000)
    assert table.alerts() == [name]
    for who in ("Ana", "LUIS "):
        with pytest.raises(Refused, match="another person must acknowledge") as refused:
            table.acknowledge(name, who.strip())
        assert refused.value.code == "same_name"
    table.do("on_duty", boxman="Carla", witness="Luz")
    with pytest.raises(Refused, match="Ana was on duty or signed then"):
        table.acknowledge(name, "Ana")
    table.acknowledge(name, "Eva")
    table.after(10_000)
    assert table.alerts() == []


def test_while_the_alert_stands_further_changes_are_added_to_it_and_after_it_they_are_another() -> None:
    table = Reserve()
    first = table.slots(2, 3)
    table.after(3_000)
    table.slots()
    table.after(3_000)
    name = f"{SHUT}:{first}"
    assert table.alerts() == [name]
    assert table.session.alerts[name]["text"] == (
        "The slots of the reserve changed 2 times without an opening of its lid: occupied 1, 2, 3 before, "
        "all empty now. Count the dice."
    )
    table.acknowledge(name, "Eva")
    again = table.slots(1)
    table.after(3_000)
    assert table.alerts() == [f"{SHUT}:{again}"]
    assert table.session.alerts[f"{SHUT}:{again}"]["detail"]["before"] == []


@pytest.mark.parametrize("slots_first", [True, False])
@pytest.mark.parametrize("late_ms", [0, 300, 800])
def test_a_die_that_is_taken_or_put_back_as_the_lid_moves_is_no_alert(slots_first: bool, late_ms: int) -> None:
    table = Reserve()
    for is_open, occupied in ((True, (1, 2)), (False, (1, 2, 3))):
        if slots_first and is_open:
            table.slots(*occupied)
            table.after(late_ms)
            table.lid(is_open)
        else:
            table.lid(is_open)
            table.after(late_ms)
            table.slots(*occupied)
        table.after(3_000)
    # Opened, a die taken, and shut: the lid says both before the slots say anything.
    table.lid(True)
    table.lid(False)
    table.after(late_ms)
    table.slots(1, 2)
    assert table.entries[-1][1]["lid"] == "settling"
    table.after(5_000)
    assert table.alerts() == []


def test_long_after_the_lid_was_shut_its_opening_covers_nothing() -> None:
    table = Reserve()
    table.lid(True)
    table.lid(False)
    table.after(1_500)
    changed = table.slots(1, 2)
    table.after(1_500)
    assert table.alerts() == [f"{SHUT}:{changed}"]


@pytest.mark.parametrize("lid_first", [True, False])
def test_what_differs_over_a_stop_is_an_alert_where_the_lid_was_shut_before_and_is_after(lid_first: bool) -> None:
    table = Reserve()
    table.start()
    if lid_first:
        table.lid(False, initial=True)
        seen = table.slots(1, 2, initial=True)
    else:
        seen = table.slots(1, 2, initial=True)
        table.after(30_000)
        assert table.alerts() == [], "nobody knows how the lid is"
        table.lid(False, initial=True)
    table.after(2_000)
    assert table.alerts() == [f"{SHUT}:{seen}"]
    assert table.session.alerts[f"{SHUT}:{seen}"]["text"] == (
        "The slots of the reserve changed without an opening of its lid: occupied 1, 2, 3 before, occupied 1, 2 now. "
        "It was found so at a start. Count the dice."
    )


def test_a_crash_right_after_the_change_forgets_nothing() -> None:
    table = Reserve()
    taken = table.slots(1, 2)
    table.start()
    table.lid(False, initial=True)
    table.slots(1, 2, initial=True)
    table.after(2_000)
    assert table.alerts() == [f"{SHUT}:{taken}"]


def test_an_opening_right_before_a_stop_does_not_cover_what_differs_after_it() -> None:
    table = Reserve()
    table.lid(True)
    table.lid(False)
    table.start()
    table.lid(False, initial=True)
    changed = table.slots(1, 2, initial=True)
    table.after(3_000)
    assert table.alerts() == [f"{SHUT}:{changed}"]


def test_a_lid_that_is_told_shut_again_at_a_start_covers_nothing() -> None:
    table = Reserve()
    table.start()
    table.slots(1, 2, 3, initial=True)
    table.lid(False, initial=True)
    changed = table.slots(1, 2)
    table.after(3_000)
    assert table.alerts() == [f"{SHUT}:{changed}"]


@pytest.mark.parametrize("was_open", [True, False])
def test_over_a_stop_an_opening_covers_what_differs(was_open: bool) -> None:
    table = Reserve()
    if was_open:
        table.lid(True)
    table.start()
    table.slots(1, 2, initial=True)
    table.lid(not was_open, initial=True)
    table.after(3_000)
    assert table.alerts() == []


def test_a_change_while_the_lid_is_not_seen_is_told_when_it_is_seen_shut_and_belongs_to_it_where_it_is_open() -> None:
    for is_open in (False, True):
        table = Reserve()
        table.input("input_unavailable", name="lid", reason="no such pin")
        changed = table.slots(1, 2)
        assert table.entries[-1][1]["lid"] == "unseen"
        table.after(10_000)
        assert table.alerts() == []
        table.input("input_available", name="lid")
        table.lid(is_open, initial=True)
        table.after(2_000)
        assert table.alerts() == ([] if is_open else [f"{SHUT}:{changed}"])


def test_the_node_that_is_away_sees_neither() -> None:
    table = Reserve()
    for origin in (Origin("node:reserve"), Origin("node:slots")):
        table.input("node_found", gap_ms=None, restarted=False, dropped=0, boot_id=1, dropped_in_all=0)
        table.keep(table.session.reserve_seen(False, False, origin))
    table.after(2_000)
    table.input("node_lost", reason="silent")
    table.after(10_000)
    # What it kept comes at once, in the order in which it happened.
    table.input("node_found", gap_ms=10_000, restarted=False, dropped=0, boot_id=1, dropped_in_all=0)
    table.lid(True)
    table.slots(1, 2)
    table.lid(False)
    table.after(2_000)
    assert table.alerts() == []
    changed = table.slots(1)
    table.after(2_000)
    assert table.alerts() == [f"{SHUT}:{changed}"]


def test_a_place_whose_sensor_cannot_be_read_is_as_it_was() -> None:
    table = Reserve()
    table.start()
    table.lid(False, initial=True)
    table.input("input_unavailable", name="slot_3", reason="no such pin")
    table.slots(1, 2, initial=True)
    assert table.entries[-1][1]["unread"] == [3]
    assert table.session.dice.state.slots == [1, 2, 3]
    table.after(2_000)
    table.input("input_available", name="slot_3")
    table.slots(1, 2, 3)
    table.after(2_000)
    assert table.alerts() == []


def test_nothing_is_held_against_the_boxman_that_a_dead_lid_switch_did_not_see() -> None:
    table = Reserve()
    data = table.do("swap", out=["1"], in_=["3"], reason="shooter_request")
    assert [broken["rule"] for broken in data["against_rule"]] == ["lid_shut"]
    for how, mended in (("input_unavailable", "input_available"), ("input_stuck", "input_freed")):
        table.input(how, name="lid", reason="no such pin")
        data = table.do("swap", out=["3"], in_=["1"], reason="shooter_request")
        assert (data["lid"], data["opening"], "against_rule" in data) == ("unseen", None, False)
        assert "lid" not in table.do("off_table", dice=["2"]), "it did not touch the reserve"
        table.input(mended, name="lid")
        table.lid(False, initial=True)
        data = table.do("swap", out=["1"], in_=["3", "4"], reason="shooter_request")
        assert ("lid" in data, [broken["rule"] for broken in data["against_rule"]]) == (False, ["lid_shut"])
        table.do("found", die="2")
        table.inspect(dice=["2"], then="reserve")
        table.do("swap", out=["3", "4"], in_=["1", "2"], reason="shooter_request")
        table.do("swap", out=["1"], in_=["3"], reason="shooter_request")


def test_a_table_without_a_lid_switch_is_told_of_nothing() -> None:
    session = Session()
    session.start("1", {}, key="U", configuration_hash="0")
    session.slots_seen([1, 2], True, SLOTS)
    session.slots_seen([1], False, SLOTS)
    assert session.dice.state.shut_changes() is None


# What was said before the lid was shut


def count(table: Reserve) -> dict[str, Any]:
    return table.do("count", count="check", seen={"play": ["1", "2"], "reserve": ["3", "4", "5"]})


def test_a_reason_that_the_slots_contradict_when_the_lid_is_shut_is_asked_anew() -> None:
    table = Reserve()
    opened = table.lid(True)
    count(table)
    table.slots(1, 2)
    closed = table.lid(False)
    assert table.session.dice.state.openings == []
    table.after(2_000)
    assert table.kinds("reserve_settled")[-1] == {
        "closed": closed,
        "occupied": [1, 2],
        "surplus": -1,
        "asked_anew": opened,
    }
    (opening,) = table.session.dice.state.openings
    assert (opening.seq, opening.closed, opening.reason) == (opened, closed, None)
    table.after(31_000)
    assert table.alerts() == [f"reserve_unexplained:{opened}"]
    with pytest.raises(Refused, match="Ana is the boxman on duty"):
        table.do("explain", reason="damage", as_="supervisor", done_by="Ana")
    table.do("explain", reason="inspector_request", as_="supervisor", done_by="Eva")
    table.after(1_000)
    assert table.alerts() == []


def test_a_deed_that_is_entered_afterwards_gives_the_reason_that_is_asked_anew() -> None:
    table = Reserve()
    opened = table.lid(True)
    table.do("explain", reason="damage", as_="boxman")
    table.slots(1, 2)
    table.lid(False)
    table.after(2_000)
    assert table.do("swap", out=["1"], in_=["3"], reason="damage")["opening"] == opened
    table.after(60_000)
    assert table.alerts() == []


def test_the_slots_are_not_taken_as_settled_while_nobody_sees_the_lid() -> None:
    table = Reserve()
    table.lid(True)
    table.lid(False)
    table.input("input_unavailable", name="lid", reason="no such pin")
    table.after(5_000)
    assert len(table.kinds("reserve_settled")) == 1, "that of the beginning"
    table.lid(False, initial=True)
    table.after(2_000)
    assert len(table.kinds("reserve_settled")) == 2


def test_a_second_opening_in_a_hurry_does_not_cover_what_the_first_one_took() -> None:
    table = Reserve()
    table.lid(True)
    table.do("explain", reason="inspector_request", as_="boxman")
    table.slots(1, 2)
    table.lid(False)
    second = table.lid(True)
    table.do("explain", reason="inspector_request", as_="boxman")
    table.lid(False)
    table.after(2_000)
    assert [opening.seq for opening in table.session.dice.state.openings] == [second]


def test_a_surplus_that_was_there_before_is_nothing_new() -> None:
    table = Reserve()
    table.lid(True)
    table.slots(1, 2)
    table.lid(False)
    table.after(2_000)
    table.do("explain", reason="inspector_request", as_="boxman")
    table.lid(True)
    table.do("explain", reason="inspector_request", as_="boxman")
    table.lid(False)
    table.after(2_000)
    assert table.kinds("reserve_settled")[-1]["surplus"] == -1
    assert table.session.dice.state.openings == []


def test_a_deed_that_moves_dice_before_the_lid_is_shut_takes_the_place_of_a_reason_given_before() -> None:
    table = Reserve()
    table.lid(True)
    table.do("explain", reason="inspector_request", as_="boxman")
    assert "instead_of" not in count(table), "a count moves nothing"
    table.lid(False)
    opened = table.lid(True)
    count(table)
    data = table.do("swap", out=["1"], in_=["3"], reason="damage")
    assert (data["opening"], data["instead_of"]) == (opened, "count")
    assert table.session.dice.state.openings[0].reason == "damage"
    assert "instead_of" not in table.do("swap", out=["2"], in_=["4"], reason="boxman_order"), "each deed has its own"
    assert table.session.dice.state.openings[0].reason == "damage"
    table.lid(False)
    assert table.session.dice.state.openings == []
