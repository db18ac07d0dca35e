"""The game watches the hardware: what becomes an alert, when, with which words, and how it ends."""

import json
from typing import Any

import pytest

from device.alert_conditions import GraceTimes
from device.alert_watch import AlertWatch
from device.dice_control import dice_rules
from device.dice_control.reserve_conditions import ReserveTimes
from device.origin import Origin
from device.screen import alerts, puck_view
from device.session import Entry, Session
from device.signal_entries import entries_of
from device.table_terms import TableTerms
from drivers.signals import DiceKeyed, InputStuck, NodeDropped, PuckUnseen, Signal
from drivers.table_inputs import Received
from drivers.wiring import DEFAULT_PINS, Pin, Wiring
from engine_lite import rule_sets
from engine_lite.refusal import Refused

BUTTONS = Origin("header:bet_status")
RESERVE = Origin("header:reserve")
CONSOLE = Origin("console")
OFF: tuple[str, int | str | None, str | None] = ("in_place", "off", "off")
LIFTED: tuple[str, int | str | None, str | None] = ("lifted", None, None)


def on(box: int) -> tuple[str, int | str | None, str | None]:
    return ("in_place", box, "on")


class Table:
    """A session and its watch in simulated time, with the entries as the journal would hold them."""

    def __init__(
        self, rules: str = "us-vegas", options: dict[str, Any] | None = None, wiring: Wiring | None = None
    ) -> None:
        self.session = Session()
        grace = GraceTimes(puck_ms=4_000, roll_ms=4_000, button_ms=5_000)
        self.watch = AlertWatch(grace, ReserveTimes(), dice_rules.load(rules), wiring or Wiring())
        self.now_ms = 0
        self.entries: list[Entry] = []
        self.keep(self.session.start("1", {}, key="U", configuration_hash="0"))
        terms = TableTerms(rule_sets.load(rules), options or {}, 1, 1, 1000)
        self.keep(self.session.open_table(terms, CONSOLE))

    def keep(self, entries: list[Entry]) -> None:
        self.entries += entries

    def puck(self, seen: tuple[str, int | str | None, str | None], number: int = 1, **more: Any) -> None:
        self.keep(self.session.puck_seen(number, *seen, {"initial": False} | more))

    def do(self, step: dict[str, Any]) -> None:
        self.keep(self.session.command(step, CONSOLE))

    def bet(self, kind: str, number: int, amount: int = 20) -> None:
        self.do({"bet": {"player": "3", "kind": kind, "number": number, "amount": amount}})

    def button(self, status: str, box: int | None) -> None:
        self.keep(self.session.bet_status_keyed(status, box, BUTTONS))

    def after(self, duration_ms: int) -> list[str]:
        """Let time pass as the terminal does; the alerts that are raised ("+name") and cleared ("-name") meanwhile."""
        changes = []
        for _ in range(duration_ms // 100):
            self.now_ms += 100
            if self.watch.wants(self.session, self.now_ms):
                entries = self.watch.look(self.session, self.now_ms)
                self.keep(entries)
                signs = {"alert_raised": "+", "alert_cleared": "-"}
                changes += [signs[kind] + data["alert"] for kind, data in entries]
        return changes

    def acknowledge(self, name: str, by: str = "Ana") -> None:
        raised = self.session.alerts[name]["seq"] if name in self.session.alerts else 1
        self.keep(self.session.acknowledge_alert(name, raised, by, CONSOLE))

    def text(self, name: str) -> str:
        text: str = self.session.alerts[name]["text"]
        return text


def test_a_puck_that_does_not_follow_the_roll_is_an_alert_after_the_grace_time_until_it_does() -> None:
    table = Table()
    table.puck(OFF)
    table.do({"roll": [4, 2]})
    assert table.after(3_900) == []
    assert table.after(300) == ["+puck_misplaced"]
    assert table.text("puck_misplaced") == "The puck is on OFF, but the point is 6. Put it on 6, ON face up."
    assert table.entries[-1][1]["detail"] == {
        "expected": {"position": 6, "face": "on"},
        "seen": [{"puck": 1, "state": "in_place", "position": "off"}],
    }
    table.puck(on(6))
    assert table.after(100) == ["-puck_misplaced"]
    assert table.after(10_000) == []


def test_a_dealer_who_is_in_time_raises_no_alert_and_each_roll_gives_time_anew() -> None:
    table = Table()
    table.puck(OFF)
    for dice, where in (([4, 2], on(6)), ([3, 3], OFF), ([4, 5], on(9)), ([3, 4], OFF)):
        table.do({"roll": dice})
        assert table.after(3_500) == []
        table.puck(LIFTED)
        assert table.after(300) == []
        table.puck(where)
        assert table.after(1_000) == []


def test_an_alert_that_stands_follows_the_puck_from_one_wrong_place_to_the_next() -> None:
    table = Table()
    table.puck(OFF)
    table.do({"roll": [4, 2]})
    table.after(5_000)
    table.puck(LIFTED)
    assert table.after(900) == [], "it may be on its way"
    table.puck(on(8))
    assert table.after(1_200) == ["+puck_misplaced"]
    assert table.text("puck_misplaced") == "The puck is on 8, but the point is 6. Put it on 6, ON face up."
    table.puck(LIFTED)
    table.after(1_200)
    assert table.text("puck_misplaced") == (
        "No sensor sees the puck: it is lifted, or lies with the wrong face up, but the point is 6. "
        "Put it on 6, ON face up."
    )
    table.puck(on(6))
    assert table.after(200) == ["-puck_misplaced"]


def test_a_puck_that_moves_without_a_roll_asks_for_the_roll() -> None:
    table = Table()
    table.puck(OFF)
    table.puck(on(8))
    assert table.after(3_900) == []
    assert table.after(200) == ["+roll_missing"]
    assert table.text("roll_missing") == (
        "The puck is on 8, but no roll was entered. Enter the roll, or put it back on its OFF place, OFF face up."
    )
    table.do({"roll": [5, 3]})
    assert table.after(200) == ["-roll_missing"]
    table.puck(OFF)
    table.after(5_000)
    assert table.text("roll_missing") == (
        "The puck is on OFF, but no roll was entered. Enter the roll, or put it back on 8, ON face up."
    )
    table.puck(on(8))
    assert table.after(200) == ["-roll_missing"]


def test_a_table_that_opens_with_its_puck_off_asks_for_the_first_roll_as_well() -> None:
    table = Table()
    table.puck(OFF)
    table.keep(table.session.open_table(TableTerms(rule_sets.load("us-vegas"), {}, 1, 1, 1000), CONSOLE))
    table.puck(on(8))
    assert table.after(5_000) == ["+roll_missing"]


def test_a_lifted_puck_is_misplaced_and_asks_for_no_roll() -> None:
    table = Table()
    table.puck(OFF)
    table.puck(LIFTED)
    assert table.after(4_200) == ["+puck_misplaced"]
    assert "but there is no point. Put it on its OFF place, OFF face up." in table.text("puck_misplaced")


def test_the_puck_of_a_closed_table_may_be_anywhere() -> None:
    table = Table()
    table.puck(on(4))
    table.after(5_000)
    assert list(table.session.alerts) == ["puck_misplaced"]
    table.keep(table.session.close_table(CONSOLE))
    assert table.after(5_000) == ["-puck_misplaced"]


def test_nothing_is_said_of_a_puck_that_was_not_seen_since_the_start() -> None:
    table = Table()
    table.do({"roll": [4, 2]})
    assert table.after(10_000) == []
    table.puck(OFF)
    table.after(5_000)
    table.keep(table.session.start("1", {}, key="U", configuration_hash="0"))
    assert table.after(5_000) == [], "the alert of before the restart stands until the puck is seen"
    assert list(table.session.alerts) == ["puck_misplaced"]
    table.puck(on(6))
    assert table.after(100) == ["-puck_misplaced"]


def test_two_pucks_that_disagree_are_told_with_both_places() -> None:
    table = Table()
    table.puck(OFF, 1)
    table.puck(OFF, 2)
    table.do({"roll": [5, 5]})
    table.puck(on(10), 1)
    assert table.after(4_200) == ["+pucks_disagree"]
    assert table.text("pucks_disagree") == (
        "The pucks disagree. The first puck is on 10. The second puck is on OFF. Both belong on 10, ON face up."
    )
    assert puck_view(table.session, 1)["agrees"] is True
    assert puck_view(table.session, 2)["agrees"] is False
    table.puck(on(10), 2)
    assert table.after(100) == ["-pucks_disagree"]


def test_two_sensors_that_answer_at_once_are_named_at_once() -> None:
    table = Table()
    table.puck(("fault", None, None), sensors=["4", "6"])
    assert table.after(100) == ["+puck_fault"]
    assert table.text("puck_fault").startswith("The sensors of the puck on 4 and 6 answer at once.")
    table.puck(OFF)
    assert table.after(100) == ["-puck_fault"]


def test_a_button_for_a_box_without_bets_asks_for_the_bet() -> None:
    table = Table()
    table.button("buy", 4)
    assert table.after(4_900) == []
    assert table.after(200) == ["+box_without_bets"]
    assert table.text("box_without_bets") == (
        "BUY was pressed for box 4, which has no bets. Enter the bet that lies there, "
        "or press the buttons again to lift the marker."
    )
    table.bet("buy", 4)
    assert table.after(100) == ["-box_without_bets"]


def test_a_button_for_another_box_without_bets_has_a_grace_time_of_its_own() -> None:
    table = Table()
    table.button("buy", 4)
    assert table.after(5_100) == ["+box_without_bets"]
    table.button("buy", 5)
    assert table.after(100) == ["-box_without_bets"], "it told of box 4"
    assert table.after(4_800) == []
    assert table.after(200) == ["+box_without_bets"]
    assert table.session.alerts["box_without_bets"]["detail"] == {"status": "buy", "box": 5}


@pytest.mark.parametrize("restarts", [False, True])
def test_a_reserve_that_was_shut_and_opened_between_two_looks_has_its_time_anew(restarts: bool) -> None:
    table = Table()
    table.keep(table.session.reserve_seen(True, False, RESERVE))
    assert table.after(60_200) == ["+reserve_left_open"]
    if restarts:
        table.watch = AlertWatch(GraceTimes(), ReserveTimes(), dice_rules.load("us-vegas"), Wiring())
    table.keep(table.session.reserve_seen(False, False, RESERVE))
    table.keep(table.session.reserve_seen(True, False, RESERVE))
    opening = table.session.seq
    assert table.after(100) == ["-reserve_left_open"]
    assert "+reserve_left_open" not in table.after(59_000)
    assert "+reserve_left_open" in table.after(1_200)
    assert table.session.alerts["reserve_left_open"]["detail"]["opening"] == opening


@pytest.mark.parametrize("status", ["buy", "lay"])
def test_lifting_the_marker_puts_it_right(status: str) -> None:
    table = Table()
    table.button(status, 4)
    table.after(6_000)
    table.button(status, 4)
    assert table.after(100) == ["-box_without_bets"]


def test_on_for_an_empty_box_stands_until_acknowledged_by_name() -> None:
    table = Table()
    table.button("on", 9)
    assert table.after(6_000) == ["+box_without_bets"]
    assert table.text("box_without_bets") == (
        "ON was pressed for box 9, which has no bets. Enter the bet that lies there."
    )
    table.acknowledge("box_without_bets")
    assert table.after(60_000) == []
    [alert] = [alert for alert in alerts(table.session, {}) if alert["code"] == "box_without_bets"]
    assert (alert["can_acknowledge"], alert["acknowledged_by"]) == (False, "Ana")


@pytest.mark.parametrize(("status", "kind"), [("buy", "place"), ("lay", "place_to_lose")])
def test_a_marked_box_without_a_commission_bet_asks_for_the_commission(status: str, kind: str) -> None:
    # Chile: the marker is placed after the commission is paid, which is taken when the bet is put down.
    table = Table("cl-scj")
    table.bet(kind, 4)
    table.button(status, 4)
    assert table.after(4_900) == []
    assert table.after(200) == ["+commission_not_taken:4"]
    assert table.text("commission_not_taken:4") == (
        f"Box 4 is marked {status.upper()}: take the commission and enter the {status} bet, "
        "or press the buttons again to lift the marker."
    )
    assert table.entries[-1][1]["detail"] == {"box": 4, "status": status, "players": ["3"], "in_rules": True}
    table.bet(status, 4)
    assert table.after(100) == ["-commission_not_taken:4"]


def test_a_buy_bet_with_its_commission_may_be_marked() -> None:
    for options in ({"vig": "up_front"}, {"vig": "on_win"}):
        table = Table("us-vegas", options)
        table.bet("buy", 4)
        table.button("buy", 4)
        assert table.after(10_000) == []


def test_a_marker_that_the_rules_do_not_know_is_to_be_lifted() -> None:
    table = Table("es-1979")
    table.bet("place", 6, 6)
    table.button("buy", 6)
    assert table.after(6_000) == ["+commission_not_taken:6"]
    assert "these rules have no buy bet" in table.text("commission_not_taken:6")


def test_inputs_that_fail_are_alerts_at_once_and_end_when_they_work() -> None:
    table = Table()
    seen = table.session.input_seen
    table.keep(seen("node_lost", {"reason": "unplugged"}))
    table.keep(seen("input_stuck", {"name": "puck_4"}))
    table.keep(seen("input_unavailable", {"name": "lid", "reason": "GPIO2 (lid) is busy"}))
    table.keep(seen("input_unavailable", {"name": "on", "reason": "GPIO5 (on) is busy"}))
    table.keep(seen("line_noisy", {"frames": 21, "seconds": 60}))
    assert table.after(100) == ["+node_offline", "+input_stuck", "+input_unavailable", "+line_noisy"]
    assert table.text("input_stuck") == ("Stuck, and left out of account: the puck sensor on 4. Call a technician.")
    assert table.text("input_unavailable") == (
        "Cannot be used: the switch of the lid and the ON button. Call a technician; all else works."
    )
    table.keep(seen("input_available", {"name": "lid"}))
    assert table.after(1_000) == ["+input_unavailable"], "raised again with the one that is left"
    for kind, data in (
        ("input_available", {"name": "on"}),
        ("input_freed", {"name": "puck_4"}),
        ("node_found", {"gap_ms": 900, "restarted": False, "dropped": 0, "boot_id": 7, "dropped_in_all": 0}),
        ("line_quiet", {}),
    ):
        table.keep(seen(kind, data))
    # The table began to watch a second ago; what a restart has not said again yet may still be so.
    assert table.after(3_000) == []
    assert table.after(2_000) == ["-node_offline", "-input_unavailable"]
    assert table.after(31_000) == ["-input_stuck"]
    assert table.after(31_000) == ["-line_noisy"]


def test_a_restart_clears_no_alert_that_may_still_be_so() -> None:
    table = Table()
    lost = ("node_lost", {"reason": "unplugged"})
    table.keep(table.session.input_seen(*lost))
    assert table.after(100) == ["+node_offline"]
    table.acknowledge("node_offline")
    table.watch = AlertWatch(GraceTimes(), ReserveTimes(), dice_rules.load("us-vegas"), Wiring())
    table.keep(table.session.start("1", {}, key="U", configuration_hash="0"))
    assert table.after(3_000) == []
    table.keep(table.session.input_seen(*lost))
    assert table.after(10_000) == [], "it was never put right"
    assert table.session.alerts["node_offline"]["acknowledged_by"] == "Ana"


def test_a_restart_clears_an_alert_that_was_put_right_meanwhile() -> None:
    table = Table()
    table.keep(table.session.input_seen("input_unavailable", {"name": "lid", "reason": "busy"}))
    assert table.after(100) == ["+input_unavailable"]
    table.watch = AlertWatch(GraceTimes(), ReserveTimes(), dice_rules.load("us-vegas"), Wiring())
    table.keep(table.session.start("1", {}, key="U", configuration_hash="0"))
    assert table.after(4_800) == []
    assert table.after(400) == ["-input_unavailable"]


def test_what_the_node_dropped_adds_up_until_somebody_acknowledges_it() -> None:
    keys = Keys()
    for changes in (20, 64):
        entries = entries_of(keys.table.session, Received(NodeDropped(changes, 7, changes), "node", None))
        keys.table.keep(entries)
    assert "no room for 84 changes" in keys.table.text("node_dropped")
    keys.table.acknowledge("node_dropped")
    keys.table.keep(entries_of(keys.table.session, Received(NodeDropped(3, 7, 87), "node", None)))
    assert "no room for 3 changes" in keys.table.text("node_dropped")


def test_a_report_that_the_journal_holds_stays_held_whatever_comes_after_it() -> None:
    keys = Keys()
    for number in (6, 4):
        keys.table.keep(keys.table.session.dice_keyed(1, 2, Origin("node:dice_keys", report=(7, number))))
    assert keys.table.session.hardware.reports == {"dice_keys": (7, 6)}


def test_what_has_happened_stands_until_it_is_acknowledged_and_only_once() -> None:
    table = Table()
    table.keep(table.session.raise_alert("node_dropped", "Three changes were lost.", {"changes": 3}, latched=True))
    assert table.session.raise_alert("node_dropped", "Three changes were lost.", {"changes": 3}, latched=True) == []
    assert table.after(10_000) == []
    table.acknowledge("node_dropped")
    assert table.session.alerts == {}
    with pytest.raises(Refused, match="does not stand any more"):
        table.acknowledge("node_dropped")


def test_an_acknowledged_alert_is_raised_again_when_what_is_wrong_changes_or_comes_back() -> None:
    table = Table()
    table.puck(OFF)
    table.do({"roll": [4, 2]})
    table.after(5_000)
    table.acknowledge("puck_misplaced")
    with pytest.raises(Refused, match="Ana has acknowledged this alert already"):
        table.acknowledge("puck_misplaced", "Luis")
    assert table.after(5_000) == []
    table.puck(on(8))
    read = table.session.alerts["puck_misplaced"]["seq"]
    assert table.after(1_200) == ["+puck_misplaced"]
    assert table.session.alerts["puck_misplaced"]["acknowledged_by"] is None
    with pytest.raises(Refused, match="says something else now"):
        table.session.acknowledge_alert("puck_misplaced", read, "Ana", CONSOLE)
    table.acknowledge("puck_misplaced")
    table.puck(on(6))
    assert table.after(100) == ["-puck_misplaced"]
    table.puck(on(8))
    assert table.after(5_000) == ["+roll_missing"]


def test_alerts_stand_in_order_of_urgency_with_the_acknowledged_ones_last() -> None:
    table = Table("es-md-2004")
    table.keep(table.session.input_seen("line_noisy", {"frames": 21, "seconds": 60}))
    table.keep(table.session.input_seen("node_lost", {"reason": "unplugged"}))
    table.after(100)
    table.puck(OFF)
    table.do({"roll": [4, 2]})
    table.keep(table.session.take_back(True, CONSOLE))
    table.after(5_000)
    table.acknowledge("node_offline")
    since = {"puck_misplaced": "2026-11-29T22:10:56.123Z"}
    shown = alerts(table.session, since)
    assert [alert["id"] for alert in shown] == [
        "correcting",
        "puck_misplaced",
        "line_noisy",
        "rule_warning",
        "node_offline",
    ]
    assert [alert["since"] for alert in shown] == [None, "2026-11-29T22:10:56.123Z", None, None, None]


def test_what_is_to_be_handed_over_stands_before_all_else_the_newest_first() -> None:
    table = Table("us-vegas")
    table.puck(OFF)
    for event, text in ((3, "Roll 1 was corrected to 6-4. Hand out 40 to 1."), (9, "Roll 2 was corrected to 6-2.")):
        table.keep(table.session.raise_alert(f"roll_corrected:{event}", text, {}, latched=True))
    table.do({"roll": [4, 2]})
    table.after(5_000)
    table.keep(table.session.raise_alert("pin_locked:Juan", "5 wrong PINs in a row.", {}, latched=True))
    table.keep(table.session.take_back(True, CONSOLE))
    assert [alert["id"] for alert in alerts(table.session, {})] == [
        "roll_corrected:9",
        "roll_corrected:3",
        "correcting",
        "puck_misplaced",
        "pin_locked:Juan",
    ]


def test_alerts_and_what_they_stand_on_come_back_from_the_journal() -> None:
    table = Table("cl-scj")
    table.puck(OFF, 1)
    table.puck(OFF, 2)
    table.bet("place", 4)
    table.button("buy", 4)
    table.do({"roll": [5, 5]})
    table.after(10_000)
    table.acknowledge("puck_misplaced")
    again = Session()
    for seq, (kind, data) in enumerate(json.loads(json.dumps(table.entries)), start=1):
        again.replay(seq, kind, data)
    assert json.dumps(again.snapshot(), sort_keys=True) == json.dumps(table.session.snapshot(), sort_keys=True)
    assert alerts(again, {}) == alerts(table.session, {})
    watch = AlertWatch(GraceTimes(), ReserveTimes(), dice_rules.load("cl-scj"), Wiring())
    assert watch.look(again, 0) == [], "what stands is not raised again"


def test_what_an_absent_node_reads_is_unknown_and_named() -> None:
    pins = dict(DEFAULT_PINS) | {"lid": Pin("node", 22)}
    table = Table(wiring=Wiring(pins))
    table.keep(table.session.reserve_seen(False, True, Origin("node:reserve", report=(7, 1))))
    table.puck(OFF, via="header:puck")
    table.keep(table.session.input_seen("node_lost", {"reason": "unplugged"}))
    assert table.after(100) == ["+node_offline"]
    assert table.text("node_offline") == (
        "The I/O node does not answer; look at its cable. What it reads is not seen: the dice keys, the lid of the "
        "reserve. Enter dice on the screen: keys pressed now count later, but not once a throw is entered here."
    )
    assert table.session.hardware.lid_open is None
    assert puck_view(table.session, 1)["agrees"] is True, "the puck is on the header"
    found = {"gap_ms": 900, "restarted": False, "dropped": 0, "boot_id": 7, "dropped_in_all": 0}
    table.keep(table.session.input_seen("node_found", found))
    assert table.session.hardware.lid_open is False


def test_a_puck_that_nobody_can_see_is_neither_right_nor_wrong() -> None:
    table = Table()
    table.puck(OFF)
    table.keep(entries_of(table.session, Received(PuckUnseen(1), "header:puck", None)))
    assert puck_view(table.session, 1) == {"state": "unknown", "position": None, "face": None, "agrees": None}
    table.do({"roll": [4, 2]})
    assert table.after(10_000) == []


def test_a_lid_that_cannot_be_read_is_neither_open_nor_shut() -> None:
    table = Table()
    table.keep(table.session.reserve_seen(False, True, Origin("header:reserve")))
    table.keep(table.session.input_seen("input_unavailable", {"name": "lid", "reason": "busy"}))
    assert table.session.hardware.lid_open is None


class Keys:
    """A table whose dice keys are on a node; signals come from it, late or not."""

    def __init__(self) -> None:
        self.table = Table()
        self.number = 0
        self.found()

    def found(self) -> None:
        found = {"gap_ms": None, "restarted": False, "dropped": 0, "boot_id": 7, "dropped_in_all": 0}
        self.table.keep(self.table.session.input_seen("node_found", found))

    def lost(self) -> None:
        self.table.keep(self.table.session.input_seen("node_lost", {"reason": "unplugged"}))

    def say(self, signal: Signal, *, late: bool = False) -> list[str]:
        self.number += 1
        received = Received(signal, "node:dice_keys", (7, self.number), late)
        entries = entries_of(self.table.session, received)
        self.table.keep(entries)
        return [kind for kind, _ in entries]


def test_dice_keyed_while_the_node_was_away_count_unless_a_throw_was_entered_on_the_screen() -> None:
    keys = Keys()
    keys.lost()
    keys.found()
    assert keys.say(DiceKeyed(2, 2), late=True) == ["roll"]
    keys.lost()
    keys.table.do({"roll": [3, 3]})
    keys.found()
    assert keys.say(DiceKeyed(3, 3), late=True) == ["key_refused", "alert_raised"]
    [alert] = [alert for name, alert in keys.table.session.alerts.items() if name.startswith("late_key:")]
    assert alert["text"] == (
        "3-3 was keyed while the I/O node was away, and a throw was entered on the screen since. "
        "It is not counted; if it was another throw, enter it now."
    )
    assert keys.say(DiceKeyed(1, 2)) == ["roll"], "what is keyed now counts"
    keys.lost()
    keys.found()
    assert keys.say(DiceKeyed(5, 1), late=True) == ["roll"], "nothing was entered in this outage"


@pytest.mark.parametrize("step", [{"roll": [3, 3]}, {"no_roll": "off_table"}])
def test_a_restart_of_the_program_in_the_outage_does_not_forget_what_was_entered(step: dict[str, Any]) -> None:
    keys = Keys()
    keys.lost()
    keys.table.do(step)
    keys.table.keep(keys.table.session.start("1", {}, key="U", configuration_hash="0"))
    keys.lost()
    keys.found()
    assert keys.say(DiceKeyed(3, 3), late=True) == ["key_refused", "alert_raised"]


def test_a_stuck_take_back_key_takes_nothing_back() -> None:
    keys = Keys()
    keys.table.do({"roll": [3, 3]})
    keys.table.keep(keys.table.session.take_back_keyed(Origin("node:dice_keys", report=(7, 1))))
    assert keys.table.session.correcting
    assert keys.say(InputStuck("dice_key_1")) == ["input_stuck", "take_back"]
    assert not keys.table.session.correcting
