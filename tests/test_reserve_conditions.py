"""What is wrong with the reserve and the dice: which condition stands, from when, in which words, and how it ends."""

from typing import Any

import pytest

from device.condition import Condition
from device.dice_control.reserve_conditions import ReserveTimes, conditions
from engine_lite.refusal import Refused
from tests.dice_table import SERIALS, DiceTable

TIMES = ReserveTimes(explain_ms=30_000, open_max_ms=60_000, slots_ms=5_000)
MARKED: dict[str, Any] = {"serials": SERIALS, "house_mark": "CGM"}


def standing(table: DiceTable) -> dict[str, Condition]:
    found = {condition.alert: condition for condition in conditions(table.log, table.context, TIMES)}
    assert {condition.alert for condition in conditions(table.replayed(), table.context, TIMES)} == set(found)
    return found


def ready(rules: str = "us-vegas", dice: int = 5, **more: Any) -> DiceTable:
    table = DiceTable(rules)
    table.set_up(dice=dice, **more)
    return table


def test_a_table_in_good_order_has_none() -> None:
    table = ready()
    table.lid(False, initial=True)
    table.take("slots", {"occupied": [1, 2, 3], "initial": True})
    assert standing(table) == {}


def test_an_opening_waits_for_its_reason_from_its_closing_on() -> None:
    table = ready()
    table.game(roll_number=14, shooter="7")
    opened = table.lid(True)
    assert f"reserve_unexplained:{opened}" not in standing(table)
    closed = table.lid(False)
    condition = standing(table)[f"reserve_unexplained:{opened}"]
    assert condition.grace_ms == 30_000
    assert condition.text == (
        "The dice reserve was opened after roll 14 (shooter 7) and no reason was given. A supervisor must say why."
    )
    assert condition.detail == {
        "opening": opened,
        "closed": closed,
        "roll_number": 14,
        "shooter": "7",
        "further": 0,
    }
    table.do("explain", reason="inspector_request", as_="boxman")
    assert standing(table) == {}


def test_after_the_alert_the_boxmans_word_does_not_end_it_but_a_supervisors_does() -> None:
    table = ready()
    opened = table.lid(True)
    table.lid(False)
    alert = f"reserve_unexplained:{opened}"
    before = standing(table)[alert]
    table.take("alert_raised", {"alert": alert})
    table.do("explain", reason="inspector_request", as_="boxman")
    assert standing(table)[alert] == before, "the same words, so that the alert is not raised twice"
    table.do("explain", reason="inspector_request", as_="supervisor", done_by="Sofia")
    assert standing(table) == {}


def test_each_opening_without_a_reason_has_its_own_alert() -> None:
    table = ready()
    first = table.lid(True)
    table.lid(False)
    second = table.lid(True)
    table.lid(False)
    assert set(standing(table)) == {f"reserve_unexplained:{first}", f"reserve_unexplained:{second}"}


def test_an_opening_that_was_cut_off_by_a_power_cut_asks_for_its_reason_again() -> None:
    table = ready()
    opened = table.lid(True)
    # The terminal is killed here, and starts with the lid closed.
    table.lid(False, initial=True)
    assert f"reserve_unexplained:{opened}" in standing(table)
    table.do("swap", out=["1"], in_=["3"], reason="shooter_request")
    assert standing(table) == {}


def test_left_open_is_counted_for_each_opening_anew() -> None:
    table = ready()
    first = table.lid(True)
    condition = standing(table)["reserve_left_open"]
    assert (condition.grace_ms, condition.epoch) == (60_000, first)
    assert condition.text == "The dice reserve is open for more than 60 s. Close it."
    table.lid(False)
    assert "reserve_left_open" not in standing(table)
    second = table.lid(True)
    assert standing(table)["reserve_left_open"].epoch == second


def test_open_during_a_roll_or_while_the_table_is_closed_is_wrong_at_once() -> None:
    table = ready()
    opened = table.lid(True)
    assert set(standing(table)) == {"reserve_left_open"}
    table.game(throwing=True)
    condition = standing(table)[f"reserve_open_during_roll:{opened}"]
    assert (condition.grace_ms, condition.detail, condition.latched) == (0, {"opening": opened}, True)
    table.game(throwing=False, table_open=False)
    condition = standing(table)[f"reserve_open_while_closed:{opened}"]
    assert (condition.grace_ms, condition.detail, condition.latched) == (0, {"opening": opened}, True)
    assert f"reserve_open_during_roll:{opened}" not in standing(table)


def test_slots_that_count_other_than_the_log_disagree_while_the_lid_is_closed() -> None:
    table = ready()
    table.lid(False, initial=True)
    table.take("slots", {"occupied": [1, 2], "initial": False})
    condition = standing(table)["slots_disagree"]
    assert condition.grace_ms == 5_000
    assert condition.text == (
        "The slots of the reserve hold 2 dice, but by the log there are 3: 3 of set A, 4 of set A, 5 of set A. "
        "Count them and record the count."
    )
    assert condition.detail == {"occupied": [1, 2], "log": ["3", "4", "5"], "sets": ["A", "A", "A"]}
    table.lid(True)
    assert "slots_disagree" not in standing(table)
    table.lid(False)
    table.do("missing", dice=["4"])
    assert "slots_disagree" not in standing(table)


@pytest.mark.parametrize(
    ("slots", "missing", "text"),
    [
        ([1], ["3", "4", "5"], "hold 1 die, but by the log there are none. Count"),
        ([], ["4", "5"], "hold no dice, but by the log there is 1: 3 of set A. Count"),
        ([1], ["5"], "hold 1 die, but by the log there are 2: 3 of set A, 4 of set A. Count"),
    ],
)
def test_slots_and_log_are_told_in_plain_words(slots: list[int], missing: list[str], text: str) -> None:
    table = ready()
    table.lid(False, initial=True)
    table.do("missing", dice=missing)
    table.take("slots", {"occupied": slots, "initial": False})
    assert text in standing(table)["slots_disagree"].text


def test_slots_contradict_no_log_that_nobody_keeps() -> None:
    table = DiceTable()
    table.take("slots", {"occupied": [1, 2], "initial": True})
    assert standing(table) == {}
    table.receive()
    assert set(standing(table)) == {"slots_disagree"}


def test_who_starts_the_program_twice_puts_off_no_throw_closing_or_slots_any_further() -> None:
    table = ready()
    table.lid(False, initial=True)
    table.take("slots", {"occupied": [1, 2], "initial": False})
    table.take("no_roll", {"step": {"no_roll": "off_table"}, "sets": ["A"]})
    table.take("table_closed", {"uncounted": ["A"]})
    table.game(table_open=False)
    graces = []
    for kind in ("started", "recording_resumed"):
        graces.append({alert.partition(":")[0]: said.grace_ms for alert, said in standing(table).items()})
        table.take(kind, {})
    graces.append({alert.partition(":")[0]: said.grace_ms for alert, said in standing(table).items()})
    first = {"slots_disagree": 5_000, "dice_not_named": 30_000, "no_closing_count": 120_000}
    # What the slots hold is to be told anew at a start, and takes a second to settle.
    assert graces == [first, first, {"slots_disagree": 1_000, "dice_not_named": 0, "no_closing_count": 0}]


def test_slots_that_agreed_in_between_have_their_time_anew() -> None:
    table = ready()
    table.lid(False, initial=True)
    table.take("slots", {"occupied": [1, 2], "initial": False})
    table.take("started", {})
    table.take("slots", {"occupied": [1, 2, 3], "initial": True})
    table.take("slots", {"occupied": [1, 2], "initial": False})
    table.take("started", {})
    assert standing(table)["slots_disagree"].grace_ms == 5_000


def test_a_missing_die_stands_until_it_is_found() -> None:
    table = ready()
    table.do("missing", dice=["4"])
    assert standing(table)["dice_missing:A"].text == "Die 4 of set A lost. Search; record what is found."
    table.do("missing", dice=["5"])
    assert standing(table)["dice_missing:A"].detail == {"set": "A", "dice": ["4", "5"]}
    table.do("found", die="4")
    table.do("found", die="5")
    assert standing(table) == {}


def test_in_spain_a_die_that_is_lost_when_the_series_ends_costs_the_whole_set() -> None:
    # IV.3: "Si al termino de la misma el dado perdido no se encontrara, se proveerá a la mesa de un nuevo juego de
    # dados, retirando los anteriores."
    table = ready("es-1979", 6, **MARKED)
    table.game(roll_number=10, rolls_in_series=1, point=6)
    table.do("swap", out=["004711"], in_=["004713"], reason="die_off_table")
    table.game(roll_number=12, rolls_in_series=3)
    assert standing(table) == {}, "looked for, while the shooter finishes"
    table.game(roll_number=13, rolls_in_series=0, point=None)
    found = standing(table)
    assert set(found) == {"dice_missing:A", "set_to_replace:A"}
    assert found["set_to_replace:A"].text == (
        "Die 004711 of set A not found when the series ended: withdraw the set and bring a new one (IV.3)."
    )
    table.game(roll_number=14, rolls_in_series=1, point=8)
    assert "set_to_replace:A" in standing(table), "until it is done"
    table.do("remove", set="A", to="withdrawn", reason="die_off_table")
    assert set(standing(table)) == {"dice_missing:A"}, "the die is lost still"
    for to in ("cancelled", "destroyed"):
        with pytest.raises(Refused, match="die 004711 of set A is missing: nobody has it; record that it is found"):
            table.do("remove", set="A", to=to, dice=["004711"], reason="die_off_table")
    table.do("remove", set="A", to="written_off", dice=["004711"], reason="die_off_table", done_by="Eva")
    assert standing(table) == {}


def test_a_die_that_is_lost_on_the_come_out_is_looked_for_until_that_series_ends() -> None:
    table = ready("es-1979", 6, **MARKED)
    table.game(roll_number=9, rolls_in_series=0, no_roll=(70, "off_table"))
    table.do("void_throw", no_roll=70, dice=["004711"])
    table.do("swap", out=[], in_=["004714"], reason="die_off_table")
    table.game(roll_number=10, rolls_in_series=1, point=4, no_roll=None)
    assert standing(table) == {}
    table.game(roll_number=11, rolls_in_series=0, point=None)
    assert "set_to_replace:A" in standing(table)


@pytest.mark.parametrize("given_up", [False, True])
def test_in_spain_a_die_that_is_found_after_its_series_does_not_save_the_set(given_up: bool) -> None:
    # IV.3: "se proveerá a la mesa de un nuevo juego de dados, retirando los anteriores"
    table = ready("es-1979", 6, **MARKED)
    table.game(roll_number=10, rolls_in_series=1, point=6)
    table.do("swap", out=["004711"], in_=["004713"], reason="die_off_table")
    if given_up:
        table.do("missing", dice=["004711"])
    table.game(roll_number=13, rolls_in_series=0, point=None)
    before = standing(table)["set_to_replace:A"]
    table.do("found", die="004711")
    assert standing(table) == {"set_to_replace:A": before}
    table.inspect(dice=["004711"], then="reserve")
    assert standing(table) == {"set_to_replace:A": before}
    table.do("remove", set="A", to="store", reason="die_off_table")
    assert standing(table) == {}
    # Complete again, it may come back when another set has served.
    table.game(session_number=7)
    table.do("on_duty", boxman="Ana", witness="Luis")
    table.do("place", set="A")
    assert standing(table) == {}


def test_a_die_that_is_found_when_its_set_is_gone_calls_for_no_other_set() -> None:
    table = ready("es-1979", 6, **MARKED)
    table.game(roll_number=10, rolls_in_series=1, point=6)
    table.do("swap", out=["004711"], in_=["004713"], reason="die_off_table")
    table.game(roll_number=13, rolls_in_series=0, point=None)
    table.do("remove", set="A", to="store", reason="die_off_table")
    table.do("found", set="A", die="004711")
    table.do("place", set="A")
    assert standing(table) == {}


def test_a_die_that_is_found_within_its_series_costs_nothing() -> None:
    table = ready("es-1979", 6, **MARKED)
    table.game(roll_number=10, rolls_in_series=1, point=6)
    table.do("swap", out=["004711"], in_=["004713"], reason="die_off_table")
    table.game(roll_number=12, rolls_in_series=3)
    table.do("found", die="004711")
    table.game(roll_number=13, rolls_in_series=0, point=None)
    assert standing(table) == {}


def test_a_search_that_is_given_up_later_does_not_begin_anew() -> None:
    table = ready("es-1979", 6, **MARKED)
    table.game(roll_number=10, rolls_in_series=1, point=6)
    table.do("swap", out=["004711"], in_=["004713"], reason="die_off_table")
    table.game(roll_number=14, rolls_in_series=1, point=8)
    table.do("missing", dice=["004711"])
    assert set(standing(table)) == {"dice_missing:A", "set_to_replace:A"}


@pytest.mark.parametrize(
    ("rules", "dice", "lost", "text"),
    [
        # Macau art. 1.1.1: four or five dice.
        ("mo-2010", 5, ["1"], None),
        ("mo-2010", 5, ["1", "2"], "Set A has 3 dice left; the rules ask for 4 to 5. Bring another set (art. 1.1.1)."),
        ("cl-scj", 6, ["1"], None),
        ("pe-1999", 5, ["1"], "Set A has 4 dice left; the rules ask for 5. Bring another set (art. 2.b)."),
    ],
)
def test_elsewhere_a_set_is_replaced_when_too_few_dice_are_left(
    rules: str, dice: int, lost: list[str], text: str | None
) -> None:
    table = ready(rules, dice)
    table.do("off_table", dice=lost)
    assert standing(table) == {}
    table.game(roll_number=3, rolls_in_series=0)
    condition = standing(table).get("set_to_replace:A")
    assert (condition.text if condition else None) == text


def test_a_withdrawn_die_leaves_a_set_short_when_the_series_is_over() -> None:
    table = ready("es-1979", 6, **MARKED)
    table.game(roll_number=10, rolls_in_series=1, point=6)
    table.do("swap", out=["004711"], in_=["004713"], reason="damage", to="withdrawn")
    assert standing(table) == {}
    table.game(roll_number=11, rolls_in_series=0, point=None)
    assert standing(table)["set_to_replace:A"].text == (
        "Set A has 5 dice left; the rules ask for 6. Bring another set (II.1)."
    )


def test_a_set_that_stays_at_the_table_for_another_session_is_named_where_the_rules_forbid_it() -> None:
    # Spain II.1: "distintos de los usados en la sesión anterior"
    table = ready("es-1979", 6, **MARKED)
    table.throw()
    table.game(table_open=False)
    assert standing(table) == {}
    table.game(table_open=True, session_number=6)
    assert standing(table)["set_served_before:A"].text == (
        "Set A served in session 5 and is still at the table. Bring another (II.1)."
    )
    table.do("on_duty", boxman="Ana", witness="Luis")
    table.do("remove", set="A", to="store", reason="closing")
    assert standing(table) == {}
    other = ready("cl-scj", 5)
    other.game(session_number=6)
    assert standing(other) == {}


def test_a_set_that_only_lay_in_the_reserve_has_not_served() -> None:
    table = DiceTable("es-1979")
    table.receive(**MARKED)
    table.do("place", set="A")
    table.game(session_number=6)
    assert standing(table) == {}
    table.do("on_duty", boxman="Ana", witness="Luis")
    table.do("change", taken=["004711", "004712"])
    assert standing(table) == {}
    table.game(session_number=7)
    assert standing(table) == {}, "no dice were thrown"
    table.game(session_number=6)
    table.throw()
    table.game(session_number=7)
    assert standing(table)["set_served_before:A"].detail == {"set": "A", "session": 6, "article": "II.1"}
    table.do("on_duty", boxman="Ana", witness="Luis")
    table.do("change", taken=["004713", "004714"])
    assert "set_served_before:A" in standing(table), "it goes on serving"
