"""Ways round the dice log that were tried: each leaves a mark, an alert or a refusal."""

from typing import Any

import pytest

from device.dice_control import dice_rules
from device.dice_control.dice_actions import parse_action
from device.dice_control.dice_history import history
from device.dice_control.event_alerts import closing_facts, count_alerts
from device.dice_control.game_memory import UncountedClosing
from device.dice_control.reserve_conditions import ReserveTimes, conditions
from device.dice_control.reserve_openings import OPENINGS_MAX
from device.origin import Origin
from device.session import Session
from device.table_terms import TableTerms
from engine_lite import rule_sets
from engine_lite.refusal import Refused
from tests.dice_journal import DiceJournal
from tests.dice_table import SERIALS, DiceTable, broken

MARKED: dict[str, Any] = {"serials": SERIALS, "house_mark": "CGM"}
D1, D2, D3, D4, D5, D6 = SERIALS
CHANGE, SHUT, CORRECTION = ("change", "IV.3"), ("lid_shut", "house"), ("correction", "house")


def spain(*, point: int | None = 6) -> DiceTable:
    """Two dice in play, four in the reserve, the lid shut, a series for the point under way."""
    table = DiceTable("es-1979")
    table.set_up(**MARKED)
    table.lid(False, initial=True)
    table.game(point=point, roll_number=1, rolls_in_series=0 if point is None else 1)
    return table


def standing(table: DiceTable) -> dict[str, str]:
    return {said.alert: said.text for said in conditions(table.log, table.context, ReserveTimes())}


def roll(table: DiceTable, **game: Any) -> None:
    table.game(roll_number=table.context.roll_number + 1, **game)
    table.take("roll", {})


# Corrections


def test_a_swap_that_is_entered_as_a_correction_is_judged_like_one_and_marked() -> None:
    table = spain()
    data = table.do("correction", places={D1: "reserve", D3: "play"}, note="mistyped")
    assert broken(data) == [CORRECTION, CHANGE, ("no_opening", "house")]
    assert data["against_rule"][2]["text"] == "No opening of the reserve accounts for what the log is put right by."
    assert data["against_rule"][0]["text"] == (
        "Dice 004711 and 004713 of set A put elsewhere in the log without a count that saw them there."
    )
    assert table.log.state.last_change == {"seq": table.seq, "session": 5, "roll_number": 1}


def test_a_correction_after_a_count_that_saw_the_die_there_is_not_marked() -> None:
    table = spain(point=None)
    table.lid(True)
    table.do("count", count="check", seen={"play": [D1, D3], "reserve": [D2, D4, D5, D6]})
    assert broken(table.do("correction", places={D2: "reserve", D3: "play"}, note="not keyed")) == []
    # The count's word is used up, and never was about another place or another die.
    table.do("swap", out=[D3], in_=[D2], reason="damage", to="reserve")
    assert broken(table.do("correction", places={D2: "reserve", D3: "play"}, note="as counted")) == [CORRECTION]
    assert broken(table.do("correction", places={D2: "play", D3: "reserve"}, note="again")) == [CORRECTION]
    table.do("count", count="check", seen={"play": [D1, D3], "reserve": [D2, D4, D5, D6]})
    assert broken(table.do("correction", places={D2: "inspection"}, note="elsewhere")) == [CORRECTION]
    assert broken(table.do("correction", places={D5: "store"}, note="another")) == [CORRECTION]


def test_a_lost_die_does_not_come_back_by_a_correction_without_a_mark() -> None:
    table = spain(point=None)
    table.do("off_table", dice=[D1])
    table.lid(True)
    table.do("count", count="check", seen={"play": [D2], "reserve": [D1, D3, D4, D5, D6]})
    data = table.do("correction", places={D1: "reserve"}, note="it was there")
    assert broken(data) == [CORRECTION, ("after_floor", "III")]


def test_a_correction_out_of_the_store_is_judged_as_bringing_a_set() -> None:
    table = spain(point=None)
    table.receive("B", 2)
    table.lid(True)
    data = table.do("correction", set="B", places={"1": "reserve", "2": "reserve"}, note="found behind")
    assert [rule for rule, _ in broken(data)] == ["correction", "in_set", "serials", "house_mark", "in_set"]


# Inspections and removals that change dice


def test_an_inspection_that_changes_the_dice_in_play_is_judged_as_a_change() -> None:
    table = spain()
    assert broken(table.inspect(dice=[D1], then="reserve")) == [CHANGE, SHUT]
    assert broken(table.inspect(dice=[D3], then="play")) == [CHANGE, SHUT]
    assert table.log.state.last_change == {"seq": table.seq, "session": 5, "roll_number": 1}
    table.game(point=None, rolls_in_series=0)
    table.lid(True)
    assert broken(table.inspect(dice=[D3], then="reserve")) == []


def test_a_die_taken_away_from_play_is_judged_as_a_change() -> None:
    table = spain()
    assert broken(table.do("remove", set="A", dice=[D1], to="store", reason="boxman_order")) == [CHANGE]
    assert broken(table.do("remove", set="A", dice=[D2], to="store", reason="closing")) == [CHANGE]
    table = spain()
    table.lid(True)
    assert broken(table.do("remove", set="A", to="store", reason="closing")) == [], "the whole set, at closing"
    table = spain()
    table.game(table_open=False)
    assert broken(table.do("remove", set="A", dice=[D1], to="store", reason="boxman_order")) == []


# A die off the table


def test_a_die_off_the_table_is_believed_only_where_the_log_has_one_there_since_this_series() -> None:
    table = spain()
    table.lid(True)
    data = table.do("swap", out=[D1], in_=[D3], reason="die_off_table", to="inspection")
    assert broken(data) == [CHANGE]
    assert data["against_rule"][0]["text"] == (
        "No change of dice (die off table) during the series for point 6: by the log no die left the table in it."
    )
    assert broken(table.do("change", taken=[D4, D5], reason="die_off_table"))[0] == CHANGE
    table.do("off_table", dice=[D4])
    assert broken(table.do("swap", out=[], in_=[D6], reason="die_off_table")) == []
    # Lost in that series, it is no reason in the next one.
    table.game(roll_number=5, rolls_in_series=1, point=8)
    assert broken(table.do("swap", out=[D5], in_=[D3], reason="die_off_table", to="inspection")) == [CHANGE]


def test_a_die_that_was_found_at_once_is_off_the_table_until_it_serves_again() -> None:
    table = spain()
    table.lid(True)
    table.do("off_table", dice=[D1])
    table.do("found", die=D1)
    assert broken(table.do("swap", out=[], in_=[D3], reason="die_off_table")) == []
    table.inspect(dice=[D1], then="reserve")
    assert CHANGE in broken(table.do("swap", out=[D3], in_=[D1], reason="die_off_table", to="inspection"))


# Offers


@pytest.mark.parametrize("differs", ["nothing", "reason", "dice", "roll"])
def test_an_offer_stands_for_the_change_of_the_same_dice_for_the_same_reason_in_the_same_series(differs: str) -> None:
    table = spain(point=None)
    table.lid(True)
    table.do("offer", reason="shooter_request", dice=SERIALS)
    if differs == "roll":
        table.game(point=6, roll_number=2, rolls_in_series=1)
    reason = "player_request" if differs == "reason" else "shooter_request"
    offered = SERIALS[:5] if differs == "dice" else SERIALS
    data = table.do("change", taken=[D4, D5], reason=reason, offered=offered)
    expected = {"dice": [("offered", "IV.3")], "roll": [CHANGE]}
    assert broken(data) == expected.get(differs, [])


# The lid


def test_dice_do_not_pass_through_a_shut_lid_unmarked() -> None:
    table = spain(point=None)
    assert broken(table.do("swap", out=[D1], in_=[D3], reason="shooter_request")) == [SHUT]
    assert broken(table.do("change", taken=[D1, D2])) == [SHUT]
    assert broken(table.do("off_table", dice=[D6])) == [SHUT]
    assert SHUT in broken(table.do("found", die=D6, to="reserve"))
    assert broken(table.do("remove", set="A", dice=[D6], to="withdrawn", reason="damage")) == [SHUT]
    assert broken(table.do("remove", set="A", to="store", reason="new_set")) == [SHUT]
    assert SHUT in broken(table.do("place", set="A"))
    assert broken(table.do("missing", dice=[D5])) == [], "nothing passed the lid: it is not there"


def test_where_no_lid_is_wired_nothing_is_said_of_it() -> None:
    table = DiceTable("es-1979")
    table.set_up(**MARKED)
    table.game(lid_unseen=True)
    data = table.do("swap", out=[D1], in_=[D3], reason="shooter_request")
    assert broken(data) == [] and "lid" not in data


def test_an_opening_serves_all_deeds_while_it_is_open_and_those_of_its_reason_until_the_next_roll() -> None:
    table = spain(point=None)
    opened = table.lid(True)
    table.do("count", count="check", seen={"play": [D1, D2], "reserve": [D3, D4, D5, D6]})
    assert broken(table.do("swap", out=[D1], in_=[D3], reason="damage")) == []
    table.lid(False)
    assert broken(table.do("swap", out=[D2], in_=[D4], reason="damage")) == [], "it was opened for the damage"
    assert broken(table.do("swap", out=[D4], in_=[D5], reason="boxman_order")) == [SHUT]
    assert broken(table.do("swap", out=[D5], in_=[D4], reason="boxman_order")) == [SHUT]
    opened = table.lid(True)
    table.lid(False)
    assert table.do("swap", out=[D3], in_=[D5], reason="damage")["opening"] == opened
    again = table.do("swap", out=[D4], in_=[D6], reason="damage")
    assert (again["opening"], broken(again)) == (opened, [])
    roll(table)
    table.do("inspect", dice=[D1], checks=dict.fromkeys(table.context.rules.checks, True))
    assert broken(table.inspect(dice=[D1], then="reserve", reason="damage")) == [SHUT]


# Explanations


def test_a_count_explains_an_opening_only_where_one_was_made_since() -> None:
    table = spain(point=None)
    table.receive("B", 5)
    everything = {"play": [D1, D2], "reserve": [D3, D4, D5, D6]}
    table.do("count", set="A", count="check", seen=everything)
    table.lid(True)
    first = table.lid(False)
    assert table.do("count", set="B", count="check", seen={"store": ["1"]})["opening"] is None, "not at the table"
    with pytest.raises(Refused, match=f"no set at the table was counted since event {first - 1}; record the count"):
        table.do("explain", reason="count", as_="boxman")
    table.lid(True)
    table.do("count", set="A", count="check", seen=everything)
    table.lid(False)
    assert table.do("explain", reason="count", as_="boxman")["opening"] == first - 1


def test_an_older_count_does_not_explain_a_later_opening_that_was_counted_in_with_it() -> None:
    table = spain(point=None)
    for _ in range(OPENINGS_MAX):
        last = table.lid(True)
        table.lid(False)
    table.lid(True)
    table.take("alert_raised", {"alert": f"reserve_unexplained:{last}"})
    table.do("count", count="check", seen={"play": [D1, D2], "reserve": [D3, D4, D5, D6]})
    table.lid(True)
    with pytest.raises(Refused, match="no set at the table was counted since event"):
        table.do("explain", reason="count", as_="supervisor", done_by="Eva")


def test_an_explanation_that_the_rules_forbid_is_marked_by_the_phase_of_the_opening() -> None:
    table = spain()
    table.lid(True)
    table.lid(False)
    table.game(point=None)
    assert broken(table.do("explain", reason="shooter_request", as_="boxman")) == [CHANGE]
    table.lid(True)
    table.lid(False)
    table.game(point=6)
    assert broken(table.do("explain", reason="shooter_request", as_="boxman")) == []


def test_a_count_that_sees_nothing_is_no_count() -> None:
    table = spain()
    data = table.do("count", count="check", seen={})
    assert [said["die"] for said in data["difference"]] == SERIALS
    table.do("off_table", dice=[D1])
    table.do("remove", set="A", dice=SERIALS[1:], to="store", reason="closing")
    with pytest.raises(Refused, match="the count sees no die of set A; say where they are seen"):
        table.do("count", set="A", count="check", seen={})


def test_the_closing_count_asks_for_every_die_at_the_table() -> None:
    table = spain(point=None)
    table.do("off_table", dice=[D1])
    table.do("swap", out=[], in_=[D3], reason="die_off_table")
    table.do("swap", out=[D2], in_=[D4], reason="damage")
    data = table.do("count", count="closing", seen={"play": [D3, D4], "reserve": [D5, D6]})
    assert data["difference"] == [
        {"die": D1, "log": "floor", "seen": None},
        {"die": D2, "log": "inspection", "seen": None},
    ]


# Names


def test_names_are_compared_as_people_read_them() -> None:
    table = spain()
    with pytest.raises(Refused, match="cannot be boxman and witness at once"):
        table.do("on_duty", boxman="Ana", witness="\uff21NA")
    with pytest.raises(Refused, match="cannot witness what"):
        table.do("missing", dice=[D1], seen_by="An-a.")
    with pytest.raises(Refused, match="set A was received already, with 6 dice"):
        table.receive("a")
    with pytest.raises(Refused, match="serial 004711 of Bold is in play already, in set A"):
        table.do(
            "receive",
            set="B",
            dice=2,
            maker="BOLD",
            colour="red",
            serials=["oo47lI", "2"],
        )


def test_a_supervisor_is_none_of_those_on_duty_at_the_opening_or_now_or_last() -> None:
    table = spain()
    table.lid(True)
    table.lid(False)
    table.do("on_duty", boxman="Bob", witness="Eva")
    for name, said in (
        ("Ana", "was on duty at this opening"),
        ("LUIS", "was on duty at this opening"),
        ("Bob", "is the boxman on duty"),
        ("Eva", "is the witness on duty"),
    ):
        with pytest.raises(Refused, match=f"{name} {said}"):
            table.do("explain", reason="inspector_request", as_="supervisor", done_by=name)
    table.game(session_number=6)
    with pytest.raises(Refused, match="Bob is the boxman on duty"):
        table.do("explain", reason="inspector_request", as_="supervisor", done_by="Bob")
    table.do("explain", reason="inspector_request", as_="supervisor", done_by="Sofia")
    assert table.log.state.openings == []


# Rolls


@pytest.mark.parametrize(("out", "said"), [([D1], "1 die is in play"), ([D1, D2], "no die is in play")])
def test_a_roll_without_two_dice_in_play_stands_until_a_change_puts_it_right(out: list[str], said: str) -> None:
    table = spain(point=None)
    table.lid(True)
    table.do("correction", places=dict.fromkeys(out, "reserve"), note="x")
    assert "dice_in_play" not in standing(table)
    roll(table)
    assert standing(table)["dice_in_play"] == (
        f"Rolls are entered, but by the log {said}. Record which dice are in play."
    )
    table.do("change", taken=[D3, D4])
    assert "dice_in_play" not in standing(table)


def test_a_roll_with_dice_of_two_sets_is_told() -> None:
    table = spain(point=None)
    table.receive("B", 2)
    table.lid(True)
    table.do("place", set="B")
    table.do("correction", set="A", places={D2: "reserve"}, note="x")
    table.do("correction", set="B", places={"1": "play"}, note="x")
    roll(table)
    assert "by the log 2 dice are in play, of sets A and B." in standing(table)["dice_in_play"]


def test_where_no_set_is_at_the_table_no_dice_are_asked_for() -> None:
    table = DiceTable()
    roll(table)
    assert standing(table) == {}


def test_a_roll_under_an_open_lid_makes_it_an_opening_during_a_roll_and_shutting_it_does_not_undo_that() -> None:
    table = spain(point=None)
    first = table.lid(True)
    alert = f"reserve_open_during_roll:{first}"
    assert alert not in standing(table)
    roll(table)
    assert alert in standing(table)
    table.lid(False)
    assert alert in standing(table)
    table.take("alert_raised", {"alert": alert, "detail": {"opening": first}})
    assert alert not in standing(table), "told; it is latched"
    second = table.lid(True)
    assert f"reserve_open_during_roll:{second}" not in standing(table)
    assert table.replayed().snapshot() == table.log.snapshot()


# Counts that are left out


def test_dice_that_roll_without_an_opening_count_are_told_once_a_session() -> None:
    table = spain(point=None)
    roll(table)
    ((alert, text, detail),) = count_alerts(table.log.state, 5)
    assert (alert, text) == ("no_opening_count:5", "Dice roll without an opening count of set A. Count the dice.")
    table.take("alert_raised", {"alert": alert, "text": text, "detail": detail, "latched": True})
    assert count_alerts(table.log.state, 5) == []
    assert count_alerts(table.log.state, 6) != []
    table.game(session_number=6)
    table.do("on_duty", boxman="Ana", witness="Luis")
    table.receive("B", 5)
    table.do("count", set="B", count="opening", seen={"store": ["1"]})
    assert count_alerts(table.log.state, 6) != [], "that set is not at the table"
    table.do("count", set="A", count="opening", seen={"play": [D1, D2], "reserve": [D3, D4, D5, D6]})
    assert count_alerts(table.log.state, 6) == []
    assert count_alerts(DiceTable().log.state, 6) == []


def test_a_table_that_is_closed_without_a_closing_count_is_told() -> None:
    table = spain(point=None)
    assert closing_facts(table.log.state, 5) == {"uncounted": ["A"]}
    where: dict[str, Any] = {"play": [D1, D2], "reserve": [D3, D4, D5, D6]}
    table.do("count", count="closing", seen=where)
    roll(table)
    assert closing_facts(table.log.state, 5) == {"uncounted": ["A"]}, "the game went on after the count"
    table.do("count", count="closing", seen=where)
    assert closing_facts(table.log.state, 5) == {}
    table.do("remove", set="A", to="store", reason="closing")
    assert closing_facts(table.log.state, 6) == {}


def test_a_closing_count_soon_after_the_closing_is_in_time_and_one_in_the_next_session_is_not() -> None:
    table = spain(point=None)
    table.take("table_closed", closing_facts(table.log.state, 5))
    table.game(table_open=False)
    (condition,) = [said for said in conditions(table.log, table.context, ReserveTimes()) if "closing" in said.alert]
    assert (condition.alert, condition.latched, condition.grace_ms) == ("no_closing_count:5", True, 120_000)
    assert condition.text == "Session 5 was closed without a closing count of set A."
    assert condition.detail == {"session": 5, "sets": ["A"]}
    where: dict[str, Any] = {"play": [D1, D2], "reserve": [D3, D4, D5, D6]}
    table.do("count", count="check", seen=where)
    assert "no_closing_count:5" in standing(table)
    table.do("count", count="closing", seen=where)
    assert "no_closing_count:5" not in standing(table)
    table.game(table_open=True, session_number=6)
    table.do("on_duty", boxman="Ana", witness="Luis")
    roll(table)
    table.take("table_closed", closing_facts(table.log.state, 6))
    table.take("table_opened", {})
    table.game(session_number=7)
    table.do("on_duty", boxman="Ana", witness="Luis")
    table.do("count", count="closing", seen=where)
    (condition,) = [said for said in conditions(table.log, table.context, ReserveTimes()) if "closing" in said.alert]
    assert (condition.alert, condition.grace_ms) == ("no_closing_count:6", 0)
    table.take("alert_raised", {"alert": condition.alert, "detail": condition.detail})
    assert "no_closing_count:6" not in standing(table), "told once; it is latched"


# What is lost, and what is too many


def test_a_missing_die_is_told_when_the_rest_of_its_set_is_gone_until_it_is_given_up_by_name() -> None:
    table = spain(point=None)
    table.do("missing", dice=[D6])
    table.do("remove", set="A", to="withdrawn", reason="die_off_table")
    table.do("remove", set="A", to="destroyed", reason="die_off_table")
    assert set(standing(table)) == {"dice_missing:A"}
    table.do("remove", set="A", dice=[D6], to="written_off", reason="die_off_table", done_by="Eva")
    assert standing(table) == {}


def test_openings_beyond_the_limit_are_explained_with_the_one_that_stands_for_them() -> None:
    table = spain(point=None)
    for _ in range(OPENINGS_MAX + 3):
        last = table.lid(True)
        table.lid(False)
    stands_for = table.log.state.openings[-1].seq
    assert last > stands_for
    data = table.do("swap", out=[D1], in_=[D3], reason="shooter_request")
    assert (data["opening"], data["through"], broken(data)) == (stands_for, last, [])
    again = [table.lid(True), table.lid(False), table.lid(True), table.lid(False)][2]
    stands_for = table.log.state.openings[-1].seq
    data = table.do("explain", reason="inspector_request", as_="boxman")
    assert (data["opening"], data["through"], data["further"]) == (stands_for, again, 1)


def test_the_screen_gets_the_sets_at_the_table_and_fifty_others() -> None:
    table = spain(point=None)
    for number in range(60):
        table.receive(f"S{number}", 2)
    table.receive("lost", 2)
    table.do("missing", set="lost", dice=["1"])
    table.receive("gone", 2)
    table.do("remove", set="gone", to="destroyed", reason="damage")
    view = table.log.view(table.context)
    assert [said["set"] for said in view["sets"]] == ["A", *(f"S{number}" for number in range(11, 60)), "lost"]
    assert view["further_sets"] == 11


# At the terminal


def test_the_session_hears_rolls_and_latches_the_counts_that_are_left_out() -> None:
    session, console = Session(), Origin("console")
    rules = dice_rules.load("us-vegas")

    def do(name: str, **parts: Any) -> None:
        session.dice_action(parse_action({name: parts}), rules, console)

    session.open_table(TableTerms(rule_sets.load("us-vegas"), {}, 1, 1, 1000), console)
    do("on_duty", boxman="Ana", witness="Luis")
    do("receive", set="A", dice=5, maker="Bold", colour="red")
    do("place", set="A")
    session.command({"bet": {"player": "1", "kind": "pass_line", "amount": 10}}, console)
    session.command({"shooter": "1"}, console)
    told = [data["alert"] for kind, data in session.dice_keyed(3, 4, Origin("header:dice_keys")) if "alert" in data]
    assert told == ["no_opening_count:1"]
    assert session.alerts["no_opening_count:1"]["latched"]
    assert session.dice.state.rolled_unknown, "no die was in play"
    session.command({"bet": {"player": "1", "kind": "pass_line", "amount": 10}}, console)
    assert [kind for kind, _ in session.command({"roll": [5, 6]}, console)] == ["roll"], "told once"
    kinds = [(kind, data.get("alert")) for kind, data in session.close_table(console)]
    assert kinds == [("table_closed", None)]
    assert session.dice.state.game.uncounted == [UncountedClosing(1, ["A"])]


def test_the_report_has_all_the_openings_explained_that_one_stood_for() -> None:
    journal = DiceJournal()
    journal.do("on_duty", boxman="Ana", witness="Luis")
    for _ in range(OPENINGS_MAX + 2):
        journal.lid_opened_for(1)
    journal.do("explain", reason="inspector_request", as_="boxman")
    told = [opening.is_explained for opening in history(journal.journal).openings]
    assert told == [False] * (OPENINGS_MAX - 1) + [True] * 3
