"""The table session: what signals and commands become, and that the journal replayed is the session."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from device.event import GENESIS_HASH, Stamp, seal
from device.origin import Origin
from device.screen import alerts, table_view
from device.session import Entry, ReplayError, Session
from device.table_terms import TableTerms
from engine_lite import rule_sets
from engine_lite.refusal import Refused

KEYS = "node:dice_keys"
BUTTONS = Origin("header:bet_status")
LID = Origin("header:reserve")
CONFIGURED: dict[str, Any] = {"rules": "us-vegas"}


def terms(rules: str = "us-vegas", minimum: int = 1, maximum: int = 1000) -> TableTerms:
    return TableTerms(rule_sets.load(rules), {}, 1, minimum, maximum)


class Recorder:
    """A session with the entries it gave, as the journal would hold them."""

    def __init__(self, rules: str = "us-vegas") -> None:
        self.session = Session()
        self.entries: list[Entry] = []
        self.keep(self.session.start("1", CONFIGURED, key="U", configuration_hash="0"))
        self.keep(self.session.open_table(terms(rules), Origin("configuration")))

    def keep(self, entries: list[Entry]) -> list[Entry]:
        self.entries += entries
        return entries

    def do(self, step: dict[str, Any], command: str | None = None) -> dict[str, Any]:
        (entry,) = self.keep(self.session.command(step, Origin("console", command)))
        return entry[1]

    def bet(self, player: str, kind: str, amount: int, number: int | None = None) -> None:
        body = {"player": player, "kind": kind, "amount": amount}
        self.do({"bet": body if number is None else body | {"number": number}})

    def replayed(self) -> Session:
        """A fresh session that has been given the entries as they come back from the disk."""
        session = Session()
        for seq, (kind, data) in enumerate(json.loads(json.dumps(self.entries)), start=1):
            session.replay(seq, kind, data)
        return session


def keys(number: int) -> Origin:
    """Report `number` of a node's dice keys."""
    return Origin(KEYS, report=(77, number))


def codes(session: Session) -> list[str]:
    return [alert["code"] for alert in alerts(session, {})]


def test_a_roll_is_one_entry_with_its_results_number_and_points() -> None:
    table = Recorder()
    table.bet("3", "pass_line", 10)
    assert table.do({"roll": [2, 4]}) == {
        "step": {"roll": [2, 4]},
        "via": "console",
        "results": [],
        "number": 1,
        "point_before": None,
        "point": 6,
    }
    won = table.do({"roll": [3, 3]})
    assert won["results"] == [
        {"player": "3", "kind": "pass_line", "number": 6, "result": "win", "paid": 10, "returned": 10}
    ]
    assert (won["number"], won["point_before"], won["point"]) == (2, 6, None)


def test_a_correction_names_the_roll_it_corrects_and_the_roll_stays_in_the_record() -> None:
    table = Recorder()
    table.bet("3", "field", 10)
    table.do({"roll": [2, 4]})
    wrong_seq = table.session.seq
    corrected = table.do({"correct": [5, 4]})
    assert corrected["corrects"] == wrong_seq
    # The field pays even money on nine.
    assert corrected["results"] == [{"player": "3", "kind": "field", "result": "win", "paid": 10, "returned": 10}]
    assert [kind for kind, _ in table.entries[-2:]] == ["roll", "correct"]
    assert table.session.recent_rolls == [[5, 4]]
    assert table.session.last_roll is not None
    assert table.session.last_roll["corrected"] is True
    # A second correction still names the roll, not the first correction.
    assert table.do({"correct": [6, 4]})["corrects"] == wrong_seq


def test_a_refused_step_leaves_no_entry_and_no_change() -> None:
    table = Recorder()
    before = table.session.snapshot()
    with pytest.raises(Refused, match="not_now"):
        table.do({"bet": {"player": "3", "kind": "come", "amount": 10}})
    assert table.session.snapshot() == before


def test_the_table_is_not_opened_anew_while_bets_lie_on_the_layout() -> None:
    table = Recorder()
    table.bet("3", "place", 12, 6)
    with pytest.raises(Refused, match="bets lie on the layout"):
        table.session.open_table(terms("es-1979"), Origin("console"))
    table.do({"take_down": {"player": "3", "kind": "place", "number": 6}})
    table.keep(table.session.open_table(terms("es-1979"), Origin("console")))
    assert table.session.table is not None
    assert table.session.table.rules.name == "es-1979"


def test_a_closed_table_takes_no_step_until_it_is_opened_again() -> None:
    table = Recorder()
    table.bet("3", "place", 12, 6)
    with pytest.raises(Refused, match="bets lie on the layout"):
        table.session.close_table(Origin("console"))
    table.do({"take_down": {"player": "3", "kind": "place", "number": 6}})
    table.keep(table.session.close_table(Origin("console", "close-1")))
    for step in ({"roll": [1, 2]}, {"no_roll": "off_table"}, {"correct": [1, 2]}, {"shooter": "3"}):
        with pytest.raises(Refused, match="the table is closed"):
            table.session.command(step, Origin("console"))
    with pytest.raises(Refused, match="closed already"):
        table.session.close_table(Origin("console"))
    assert table.keep(table.session.dice_keyed(1, 2, keys(1)))[0][0] == "key_refused"
    assert (table.session.session_number, table.session.is_open) == (1, False)
    table.keep(table.session.open_table(terms(), Origin("console")))
    table.do({"roll": [1, 2]})
    assert (table.session.session_number, table.session.is_open) == (2, True)


@pytest.mark.parametrize("step", [{"roll": [1, 2]}, {"no_roll": "off_table"}])
def test_the_dice_are_out_from_no_more_bets_to_the_roll_or_no_roll(step: dict[str, Any]) -> None:
    table = Recorder()
    table.keep(table.session.no_more_bets(Origin("console", "bets-1")))
    with pytest.raises(Refused, match="the dice are out already"):
        table.session.no_more_bets(Origin("console"))
    assert table.session.dice_out
    table.do(step)
    assert not table.session.dice_out


def test_a_command_is_remembered_with_its_answer() -> None:
    table = Recorder()
    table.do({"bet": {"player": "3", "kind": "pass_line", "amount": 10}}, "command-1")
    table.do({"roll": [3, 4]}, "command-2")
    assert table.session.answered("command-2") == {
        "seq": 4,
        "asked": {"roll": [3, 4]},
        "results": [{"player": "3", "kind": "pass_line", "result": "win", "paid": 10, "returned": 10}],
        "point": None,
    }
    assert table.session.answered("command-3") is None


def test_dice_keys_enter_a_roll_and_their_report_is_kept() -> None:
    table = Recorder()
    ((kind, data),) = table.keep(table.session.dice_keyed(3, 4, keys(5)))
    assert (kind, data["step"], data["via"], data["report"]) == ("roll", {"roll": [3, 4]}, KEYS, [77, 5])
    assert table.session.hardware.reports == {"dice_keys": (77, 5)}


def test_dice_keys_that_are_refused_are_used_up_and_the_screen_says_why() -> None:
    table = Recorder()
    table.do({"shooter": "3"})
    ((kind, data),) = table.keep(table.session.dice_keyed(3, 4, keys(6)))
    assert kind == "key_refused"
    assert data["report"] == [77, 6]
    assert table.session.hardware.reports == {"dice_keys": (77, 6)}
    assert table.session.table is not None
    assert table.session.table.roll_number == 0
    assert codes(table.session) == ["notice"]
    table.bet("3", "pass_line", 10)
    assert codes(table.session) == []


def test_holding_key_one_makes_the_next_dice_a_correction_and_holding_it_again_does_not() -> None:
    table = Recorder()
    assert table.keep(table.session.take_back_keyed(keys(1)))[0][0] == "key_refused"
    table.do({"roll": [1, 2]})
    table.keep(table.session.take_back_keyed(keys(2)))
    assert table.session.correcting
    table.keep(table.session.take_back_keyed(keys(3)))
    assert not table.session.correcting
    table.keep(table.session.take_back_keyed(keys(4)))
    ((kind, _),) = table.keep(table.session.dice_keyed(1, 1, keys(6)))
    assert kind == "correct"
    assert table.session.recent_rolls == [[1, 1]]
    assert not table.session.correcting


def test_holding_key_two_passes_the_dice_to_the_next_position_with_a_line_bet() -> None:
    table = Recorder()
    assert table.keep(table.session.new_shooter_keyed(keys(1)))[0][0] == "key_refused"
    table.bet("2", "pass_line", 10)
    table.bet("10", "dont_pass", 10)
    table.bet("5", "field", 10)
    for expected in ("2", "10", "2"):
        table.keep(table.session.new_shooter_keyed(keys(2)))
        assert table.session.table is not None
        assert table.session.table.shooter == expected


def test_on_and_off_work_on_the_box_and_buy_and_lay_mark_it() -> None:
    table = Recorder()
    table.bet("3", "place", 12, 6)
    table.bet("3", "place", 12, 8)
    entries = table.keep(table.session.bet_status_keyed("off", 6, BUTTONS))
    assert [kind for kind, _ in entries] == ["working", "bet_status"]
    assert table.session.table is not None
    assert {bet["number"]: bet["button"] for bet in table.session.table.bets()} == {6: False, 8: None}
    table.keep(table.session.bet_status_keyed("on", None, BUTTONS))
    assert {bet["number"]: bet["button"] for bet in table.session.table.bets()} == {6: True, 8: True}
    table.keep(table.session.bet_status_keyed("buy", 4, BUTTONS))
    assert table.session.hardware.marks == {4: "buy"}
    table.keep(table.session.bet_status_keyed("lay", 4, BUTTONS))
    assert table.session.hardware.marks == {4: "lay"}
    table.keep(table.session.bet_status_keyed("lay", 4, BUTTONS))
    assert table.session.hardware.marks == {}


@pytest.mark.parametrize(("status", "box"), [("off", 10), ("buy", None)])
def test_a_button_that_can_do_nothing_is_journaled_with_the_reason(status: str, box: int | None) -> None:
    table = Recorder()
    ((kind, data),) = table.keep(table.session.bet_status_keyed(status, box, BUTTONS))
    assert kind == "bet_status"
    assert data["refused"]
    assert codes(table.session) == ["notice"]


def test_a_lid_that_opens_is_recorded_with_the_state_of_the_game() -> None:
    table = Recorder()
    table.do({"shooter": "3"})
    table.bet("3", "pass_line", 10)
    table.do({"roll": [4, 5]})
    ((kind, data),) = table.keep(table.session.reserve_seen(is_open=True, initial=False, origin=LID))
    game = {"table_open": True, "shooter": "3", "roll_number": 1, "phase": "point", "point": 9}
    assert (kind, data) == ("reserve_opened", {"initial": False, "via": "header:reserve"} | game)
    assert codes(table.session) == ["reserve_open"]
    table.keep(table.session.reserve_seen(is_open=False, initial=False, origin=LID))
    assert codes(table.session) == []


def test_madrids_any_seven_is_warned_of_on_the_screen() -> None:
    view = table_view(Recorder("es-md-2004").session)
    assert "fifteen times" in view["table"]["warnings"][0]
    [alert] = alerts(Recorder("es-md-2004").session, {})
    assert (alert["code"], alert["can_acknowledge"]) == ("rule_warning", False)
    assert "fifteen times" in alert["text"]


def test_a_start_says_how_the_last_run_ended() -> None:
    table = Recorder()
    assert table.entries[0][1]["previous"] == "first"
    assert table.session.start("1", CONFIGURED, key="U", configuration_hash="0")[0][1]["previous"] == "cut_off"
    table.session.stop()
    assert table.session.start("1", CONFIGURED, key="U", configuration_hash="0")[0][1]["previous"] == "stopped"


def test_a_journal_whose_results_differ_from_the_rules_is_not_believed() -> None:
    table = Recorder()
    table.bet("3", "field", 10)
    table.do({"roll": [6, 6]})
    _, data = table.entries[-1]
    data["results"][0]["paid"] = 29
    with pytest.raises(ReplayError, match=r"event 4 \(roll\) was journaled with another results"):
        table.replayed()


@pytest.mark.parametrize(
    ("seq", "kind", "data", "message"),
    [
        (4, "stopped", {}, "does not follow event 2"),
        (3, "rolled", {}, "is no kind of event"),
        (3, "roll", {"step": {"roll": [0, 9]}}, "bad_dice"),
        (3, "roll", {}, "cannot be done again"),
    ],
)
def test_an_event_that_cannot_follow_is_named(seq: int, kind: str, data: dict[str, Any], message: str) -> None:
    with pytest.raises(ReplayError, match=message):
        Recorder().session.replay(seq, kind, data)


PLAYERS = st.sampled_from(["1", "2", "10"])
KINDS = ["pass_line", "dont_pass", "come", "dont_come", "pass_odds", "field", "place", "buy", "lay", "hardway", "horn"]
BETS = st.fixed_dictionaries(
    {"player": PLAYERS, "kind": st.sampled_from(KINDS), "amount": st.integers(1, 60)},
    optional={"number": st.sampled_from([4, 5, 6, 8, 9, 10])},
)
DICE = st.tuples(st.integers(1, 6), st.integers(1, 6))
BOXES = st.sampled_from([None, 4, 5, 6, 8, 9, 10])
ACTIONS = st.one_of(
    st.tuples(st.just("bet"), BETS),
    st.tuples(st.just("roll"), DICE),
    st.tuples(st.just("correct"), DICE),
    st.tuples(st.just("keys"), DICE),
    st.tuples(st.just("take_back"), st.none()),
    st.tuples(st.just("new_shooter"), st.none()),
    st.tuples(st.just("status"), st.tuples(st.sampled_from(["on", "off", "buy", "lay"]), BOXES)),
    st.tuples(st.just("lid"), st.booleans()),
    st.tuples(st.just("close"), st.none()),
    st.tuples(st.just("open"), st.none()),
    st.tuples(st.just("no_more_bets"), st.none()),
    st.tuples(st.just("restart"), st.none()),
)


@settings(max_examples=150, derandomize=True)
@given(st.lists(ACTIONS, max_size=40))
def test_the_journal_replayed_is_the_session(actions: list[tuple[str, Any]]) -> None:
    table = Recorder()
    session = table.session
    for number, (action, value) in enumerate(actions):
        origin = keys(number)
        try:
            match action:
                case "bet" | "roll" | "correct":
                    body = list(value) if action != "bet" else value
                    table.do({action: body}, f"command-{number}")
                case "keys":
                    table.keep(session.dice_keyed(value[0], value[1], origin))
                case "take_back":
                    table.keep(session.take_back_keyed(origin))
                case "new_shooter":
                    table.keep(session.new_shooter_keyed(origin))
                case "status":
                    status, box = value
                    table.keep(session.bet_status_keyed(status, box, BUTTONS))
                case "lid":
                    table.keep(session.reserve_seen(value, initial=False, origin=LID))
                case "close":
                    table.keep(session.close_table(Origin("console", f"command-{number}")))
                case "open":
                    table.keep(session.open_table(terms(), Origin("console", f"command-{number}")))
                case "no_more_bets":
                    table.keep(session.no_more_bets(Origin("console", f"command-{number}")))
                case "restart":
                    table.keep(session.start("1", CONFIGURED, key="U", configuration_hash="0"))
        except Refused:
            continue
    replayed = table.replayed()
    assert json.dumps(replayed.snapshot(), sort_keys=True) == json.dumps(session.snapshot(), sort_keys=True)
    assert table_view(replayed) == table_view(session)


def test_a_text_of_the_operating_system_that_no_event_can_hold_is_made_one() -> None:
    session = Session()
    [(kind, data)] = session.input_seen("node_lost", {"reason": "/dev/tty\udcff: " + "é" * 500})
    assert (kind, data) == ("node_lost", {"reason": "/dev/tty?: " + "é" * 289})
    seal("craps-1", 1, Stamp("boot-1", 5, "2026-11-29T22:10:56.123Z", "free"), kind, data, GENESIS_HASH)
    assert session.input_seen("edge_lost", {"name": "lid"})[0][1] == {"name": "lid"}
