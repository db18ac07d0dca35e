"""What an inspector got past the dice log once, and what another person has to see to since."""

from typing import Any

import pytest

from device.dice_control import dice_rules
from device.dice_control.dice_actions import ActionError, parse_action
from device.dice_control.event_alerts import latched_alerts, signers
from device.dice_control.reserve_conditions import ReserveTimes, conditions
from device.screen import alerts
from engine_lite.refusal import Refused
from tests.dice_table import SERIALS, DiceTable, broken
from tests.test_alerts import CONSOLE, Table

MARKED: dict[str, Any] = {"serials": SERIALS, "house_mark": "CGM"}
D1, D2, D3, D4, D5, D6 = SERIALS
SHUT = ("lid_shut", "house")
COUNTED = {"play": [D1, D2], "reserve": [D3, D4, D5, D6]}


def spain(*, point: int | None = None) -> DiceTable:
    """In session 5, two dice in play, four in the reserve, the lid shut."""
    table = DiceTable("es-1979")
    table.set_up(**MARKED)
    table.lid(False, initial=True)
    table.game(point=point, roll_number=1, rolls_in_series=0 if point is None else 1)
    return table


def standing(table: DiceTable) -> dict[str, str]:
    return {said.alert: said.text for said in conditions(table.log, table.context, ReserveTimes())}


def roll(table: DiceTable, **game: Any) -> None:
    table.game(roll_number=table.context.roll_number + 1, **game)
    table.take("roll", {"point": table.context.point})


# A lost die


def lost_in_spain() -> DiceTable:
    """IV.3: a die is lost for good in a series, another one was taken for it, and the series is over."""
    table = spain(point=6)
    table.do("off_table", dice=[D1])
    table.lid(True)
    table.do("swap", out=[], in_=[D3], reason="die_off_table")
    table.lid(False)
    roll(table, point=None, rolls_in_series=0)
    return table


@pytest.mark.parametrize("place", ["floor", "missing"])
@pytest.mark.parametrize("to", ["cancelled", "destroyed", "withdrawn", "store"])
def test_nobody_can_cancel_or_destroy_a_die_that_nobody_has(place: str, to: str) -> None:
    table = lost_in_spain()
    if place == "missing":
        table.do("missing", dice=[D1])
    with pytest.raises(Refused, match="nobody has it; record that it is found, or a supervisor writes it off") as said:
        table.do("remove", set="A", dice=[D1], to=to, reason="die_off_table")
    assert said.value.code == "wrong_place"
    assert table.at(place) == [D1]


def test_a_lost_die_is_written_off_by_a_supervisor_and_another_person_takes_note() -> None:
    table = lost_in_spain()
    table.do("missing", dice=[D1])
    for name in ("Ana", "luis"):
        with pytest.raises(Refused, match="on duty; a supervisor must write a die off"):
            table.do("remove", set="A", dice=[D1], to="written_off", reason="die_off_table", done_by=name)
    data = table.do("remove", set="A", dice=[D1], to="written_off", reason="die_off_table", done_by="Eva")
    assert data["moves"] == [{"set": "A", "die": D1, "from": "missing", "to": "written_off"}]
    assert (data["done_by"], data["seen_by"]) == ("Eva", "Luis")
    assert latched_alerts("dice_set_moved", data, 40) == [
        (
            "dice_written_off:40",
            "Die 004711 of set A written off as lost by Eva.",
            {"event": 40, "set": "A", "dice": [D1], "by": "Eva"},
        )
    ]
    assert signers(data) == ["Eva", "Luis"]
    # IV.3 asks for a new set nonetheless.
    assert set(standing(table)) == {"set_to_replace:A"}
    table.do("found", die=D1)
    assert table.at("inspection") == [D1]
    assert set(standing(table)) == {"set_to_replace:A"}
    assert table.replayed().snapshot() == table.log.snapshot()


def test_a_write_off_names_its_dice_and_who_signs_it() -> None:
    said = {"set": "A", "to": "written_off", "reason": "closing"}
    with pytest.raises(ActionError, match=r"remove\.dice is missing: dice are written off one by one"):
        parse_action({"remove": said | {"done_by": "Eva"}})
    with pytest.raises(ActionError, match=r"remove\.done_by is missing: a supervisor signs"):
        parse_action({"remove": said | {"dice": [D1]}})
    with pytest.raises(Refused, match="die 004712 of set A is in play, not on the floor or missing"):
        spain().do("remove", **said | {"dice": [D2], "done_by": "Eva"})


def test_a_journal_in_which_a_missing_die_was_destroyed_is_still_read() -> None:
    table = lost_in_spain()
    data = table.do("missing", dice=[D1])
    moves = [{"set": "A", "die": D1, "from": "missing", "to": "destroyed"}]
    table.take("dice_set_moved", data | {"action": "remove", "to": "destroyed", "moves": moves})
    assert table.at("destroyed") == [D1]


def test_a_die_that_a_count_misses_is_missing_by_the_count_and_one_from_the_floor_by_its_fall() -> None:
    table = lost_in_spain()
    assert table.do("missing", dice=[D1])["reason"] == "die_off_table"
    table.do("swap", out=[D2], in_=[D4], reason="damage")
    assert table.at("inspection") == [D2]
    assert table.do("missing", dice=[D2])["reason"] == "count"


# Openings


def test_an_opening_without_a_reason_excuses_nothing_after_the_next_roll() -> None:
    table = spain()
    opened = table.lid(True)
    table.lid(False)
    table.take("alert_raised", {"alert": f"reserve_unexplained:{opened}", "detail": {}})
    in_time = table.do("swap", out=[D1], in_=[D3], reason="damage")
    assert in_time["opening"] == opened
    opened = table.lid(True)
    table.lid(False)
    roll(table)
    data = table.do("swap", out=[D2], in_=[D4], reason="damage")
    assert (data["opening"], broken(data)) == (None, [SHUT])
    count = table.do("count", count="check", seen={"play": [D3, D4], "reserve": [D5, D6]})
    assert count["opening"] is None
    assert [opening.reason for opening in table.log.state.openings] == ["damage", None]
    assert table.do("explain", reason="inspector_request", as_="boxman")["opening"] == opened


def closed_spain() -> DiceTable:
    table = spain()
    table.game(table_open=False)
    table.do("count", count="closing", seen=COUNTED)
    return table


def test_an_opening_while_the_table_is_closed_is_not_explained_by_a_count() -> None:
    table = closed_spain()
    opened = table.lid(True)
    assert table.do("count", count="check", seen=COUNTED)["opening"] == opened
    table.lid(False)
    table.do("count", count="check", seen=COUNTED)
    assert [opening.waits for opening in table.log.state.openings] == [True]
    table.do("explain", reason="count", as_="boxman")
    assert table.log.state.openings == [], "somebody said so by name"


def test_an_opening_while_the_table_is_closed_is_not_explained_by_the_next_session() -> None:
    table = closed_spain()
    opened = table.lid(True)
    table.lid(False)
    table.take("table_opened", {})
    table.game(table_open=True, session_number=6)
    table.do("on_duty", boxman="Bob", witness="Max")
    assert table.do("count", count="opening", seen=COUNTED)["opening"] is None
    data = table.do("swap", out=[D1], in_=[D3], reason="damage")
    assert (data["opening"], broken(data)) == (None, [SHUT])
    assert [opening.seq for opening in table.log.state.openings] == [opened]
    assert f"reserve_unexplained:{opened}" in standing(table)
    table.do("explain", reason="closing", as_="boxman")
    assert [opening.waits for opening in table.log.state.openings] == [True], "who opens the table does not know why"
    table.do("explain", reason="closing", as_="supervisor", done_by="Eva")
    assert table.log.state.openings == []
    assert table.replayed().snapshot() == table.log.snapshot()


def test_what_is_brought_while_the_table_is_closed_explains_its_opening() -> None:
    table = closed_spain()
    table.lid(True)
    table.do("remove", set="A", to="store", reason="closing")
    table.lid(False)
    assert table.log.state.openings == []


def test_a_reserve_that_is_open_when_the_table_is_closed_is_told_so() -> None:
    table = spain()
    opened = table.lid(True)
    table.take("table_closed", {"reserve_open": True})
    table.game(table_open=False)
    table.lid(False)
    assert standing(table)[f"reserve_open_while_closed:{opened}"] == (
        "The dice reserve was open while the table was closed. Close it, and say why it was opened."
    )


def test_openings_of_journals_that_do_not_say_how_the_table_was_are_as_they_were() -> None:
    table = spain()
    table.take("reserve_opened", {"initial": False, "shooter": None, "roll_number": 1, "point": None})
    table.do("count", count="closing", seen=COUNTED)
    table.take("reserve_closed", {"initial": False})
    assert table.log.state.openings == []


def test_an_opening_while_the_dice_are_out_is_told_after_it_is_shut() -> None:
    table = spain()
    table.take("no_more_bets", {})
    opened = table.lid(True)
    table.lid(False)
    assert f"reserve_open_during_roll:{opened}" in standing(table)
    roll(table)
    opened = table.lid(True)
    table.take("no_more_bets", {})
    table.lid(False)
    assert f"reserve_open_during_roll:{opened}" in standing(table)
    table.take("no_roll", {"step": {"no_roll": "short"}})
    opened = table.lid(True)
    assert f"reserve_open_during_roll:{opened}" not in standing(table)


# A throw off the table


def test_a_die_that_nobody_named_is_told_until_somebody_does_or_another_person_takes_note() -> None:
    table = spain(point=6)
    first = table.take("no_roll", {"step": {"no_roll": "off_table"}, "sets": ["A"]})
    table.game(no_roll=(first, "off_table"))
    (condition,) = conditions(table.log, table.context, ReserveTimes())
    assert (condition.alert, condition.grace_ms, condition.detail) == (
        f"dice_not_named:{first}",
        30_000,
        {"event": first},
    )
    table.do("void_throw", no_roll=first, dice=[D1])
    assert standing(table) == {}
    second = table.take("no_roll", {"step": {"no_roll": "off_table"}, "sets": ["A"]})
    table.take("no_roll", {"step": {"no_roll": "on_chips"}, "sets": ["A"]})
    (condition,) = conditions(table.log, table.context, ReserveTimes())
    assert (condition.alert, condition.grace_ms) == (f"dice_not_named:{second}", 0), "there was another throw since"
    table.take("alert_acknowledged", {"alert": f"dice_not_named:{second}", "raised": 99, "name": "Eva"})
    assert standing(table) == {}
    table.take("no_roll", {"step": {"no_roll": "off_table"}})
    assert standing(table) == {}, "no set was at the table, or the journal is older"


def test_a_void_throw_off_the_table_is_a_die_off_the_table_until_the_series_is_over() -> None:
    table = spain(point=6)
    table.take("no_roll", {"step": {"no_roll": "off_table"}, "sets": ["A"]})
    opened = table.lid(True)
    assert broken(table.do("swap", out=[D1], in_=[D3], reason="die_off_table", to="inspection")) == []
    table.lid(False)
    opened = table.lid(True)
    table.lid(False)
    roll(table, rolls_in_series=2)
    assert broken(table.do("explain", opening=opened, reason="die_off_table", as_="boxman")) == []
    opened = table.lid(True)
    table.lid(False)
    roll(table, point=None, rolls_in_series=0)
    assert broken(table.do("explain", opening=opened, reason="die_off_table", as_="boxman")) == []
    roll(table, point=8, rolls_in_series=1)
    table.lid(True)
    assert broken(table.do("explain", reason="die_off_table", as_="boxman")) == [("change", "IV.3")]


# One alert for one fact


def test_what_the_boxman_says_too_late_is_not_judged_and_what_the_supervisor_says_is_not_about_the_supervisor() -> None:
    table = spain(point=6)
    opened = table.lid(True)
    table.lid(False)
    table.take("alert_raised", {"alert": f"reserve_unexplained:{opened}", "detail": {}})
    assert broken(table.do("explain", reason="shooter_request", as_="boxman")) == []
    data = table.do("explain", reason="shooter_request", as_="supervisor", done_by="Eva")
    assert broken(data) == [("change", "IV.3")]
    assert signers(data) == []


def test_the_last_session_in_which_a_set_served_is_named() -> None:
    table = spain()
    roll(table)
    for session in (6, 7):
        table.game(session_number=session)
        assert f"served in session {session - 1} and is still" in standing(table)["set_served_before:A"]
        roll(table)
        assert f"served in session {session - 1} and is still" in standing(table)["set_served_before:A"]


def test_a_set_with_too_many_dice_is_against_the_rule_when_it_is_received() -> None:
    for rules, dice, said in (("es-1979", 7, "7 dice; the rules ask for 6"), ("mo-2010", 6, "6 dice; the rules ask")):
        data = DiceTable(rules).receive("S", dice)
        assert data["against_rule"][0]["text"].startswith(f"Set S has {said}")
    assert broken(DiceTable("mo-2010").receive("S", 5)) == []


def test_what_a_set_in_the_store_needs_is_not_said_as_if_it_were_used() -> None:
    table = DiceTable("mo-2010")
    table.receive("M", 4)
    table.inspect(set="M", unsound={"1": "chipped"}, dice=["1"])
    (said,) = table.log.view(table.context)["sets"]
    assert [need["text"] for need in said["needs"]][-1] == "Die 1 of set M found unsound."


@pytest.mark.parametrize(("name", "right"), [("7", True), ("Vega", True), ("12345", False), ("", False), ("7.", False)])
def test_a_player_who_asks_is_named_or_numbered(name: str, right: bool) -> None:
    asked = {"swap": {"out": ["1"], "in": ["2"], "reason": "player_request", "asked_by_name": name}}
    if right:
        assert parse_action(asked) == asked
    else:
        with pytest.raises(ActionError, match="asked_by_name"):
            parse_action(asked)


# At the terminal


class Spain(Table):
    """A session under es-1979 with its watch: six dice, two in play; Ana and Luis on duty."""

    def __init__(self, supervisors: list[str] | None = None) -> None:
        super().__init__("es-1979")
        if supervisors is not None:
            self.keep(self.session.start("1", {"supervisors": supervisors}, key="U", configuration_hash="0"))
        checks = dict.fromkeys(dice_rules.load("es-1979").checks, True)
        self.dice("on_duty", boxman="Ana", witness="Luis")
        self.dice("receive", set="A", dice=6, maker="Bold", colour="red", **MARKED)
        self.dice("inspect", set="A", checks=checks)
        self.dice("place", set="A")
        self.dice("change", taken=[D1, D2])
        self.dice("count", count="opening", seen=COUNTED)

    def dice(self, name: str, **parts: Any) -> None:
        action = parse_action({name: {part.removesuffix("_"): value for part, value in parts.items()}})
        self.keep(self.session.dice_action(action, dice_rules.load("es-1979"), CONSOLE))

    def lid(self, is_open: bool) -> int:
        self.keep(self.session.reserve_seen(is_open, False, CONSOLE))
        return self.session.seq

    def reopen(self) -> None:
        self.keep(self.session.close_table(CONSOLE))
        assert self.session.terms is not None
        self.keep(self.session.open_table(self.session.terms, CONSOLE))

    def shown(self) -> list[str]:
        return [alert["id"] for alert in alerts(self.session, {})]


def test_a_second_of_an_open_reserve_during_a_roll_stands_until_another_person_takes_note() -> None:
    table = Spain()
    table.keep(table.session.no_more_bets(CONSOLE))
    opened = table.lid(True)
    alert = f"reserve_open_during_roll:{opened}"
    assert table.after(100) == [f"+{alert}"]
    assert table.shown() == [alert], "and the open lid is not a second line"
    table.lid(False)
    table.dice("explain", reason="inspector_request", as_="boxman")
    assert table.after(5_000) == []
    assert table.shown() == [alert]
    for name in ("Ana", "Luis"):
        with pytest.raises(Refused, match=f"{name} is on duty; another person must acknowledge"):
            table.acknowledge(alert, name)
    table.acknowledge(alert, "Eva")
    assert table.after(5_000) == []
    assert table.shown() == []


def test_an_opening_while_the_table_is_closed_stands_until_another_person_takes_note() -> None:
    table = Spain()
    table.dice("count", count="closing", seen=COUNTED)
    table.keep(table.session.close_table(CONSOLE))
    opened = table.lid(True)
    table.dice("remove", set="A", to="store", reason="closing")
    table.lid(False)
    table.after(100)
    assert table.shown() == []
    opened = table.lid(True)
    alert = f"reserve_open_while_closed:{opened}"
    assert table.after(100) == [f"+{alert}"]
    table.lid(False)
    table.after(100)
    assert alert in table.shown()
    table.acknowledge(alert, "Eva")
    assert alert not in table.shown()


def test_a_roll_with_a_set_of_the_session_before_is_against_the_rule() -> None:
    # Spain II.1: "distintos de los usados en la sesión anterior"
    table = Spain()
    table.do({"roll": [5, 6]})
    table.dice("count", count="closing", seen=COUNTED)
    table.reopen()
    table.dice("on_duty", boxman="Ana", witness="Luis")
    table.dice("count", count="opening", seen=COUNTED)
    assert "+set_served_before:A" in table.after(100)
    table.do({"roll": [5, 6]})
    rolled = table.session.seq
    assert table.after(100) == [f"+against_rule:{rolled}"]
    text = "Set A served in the session before; the dice must be others"
    assert table.text(f"against_rule:{rolled}") == f"Thrown against es-1979: {text} (II.1)."
    assert table.session.alerts[f"against_rule:{rolled}"]["detail"] == {
        "event": rolled,
        "rules": "es-1979",
        "against_rule": [
            {"rule": "reuse", "article": "II.1", "text": f"{text}.", "detail": {"set": "A", "session": 1}}
        ],
    }
    table.do({"roll": [5, 6]})
    assert table.after(100) == [], "once a session"
    table.acknowledge(f"against_rule:{rolled}", "Eva")
    assert table.after(100) == []


def test_the_record_says_how_the_table_was_and_which_sets_were_there() -> None:
    table = Spain()
    table.lid(True)
    assert table.entries[-1][1]["table_open"] is True
    table.lid(False)
    table.do({"no_roll": "off_table"})
    void = table.session.seq
    assert table.entries[-1] == ("no_roll", {"step": {"no_roll": "off_table"}, "sets": ["A"]} | CONSOLE.data())
    assert table.after(29_000) == []
    # The reserve was open for a moment as well, and nobody said why.
    assert f"+dice_not_named:{void}" in table.after(2_000)
    table.lid(True)
    table.keep(table.session.close_table(CONSOLE))
    assert table.entries[-1] == ("table_closed", {"uncounted": ["A"], "reserve_open": True} | CONSOLE.data())
    table.lid(False)
    table.lid(True)
    assert table.entries[-1][1]["table_open"] is False


def test_sets_of_a_session_that_is_over_are_not_judged_anew() -> None:
    # As after a start of this version with the journal of one that did not judge them.
    table = DiceTable("es-1979")
    table.set_up(**MARKED)
    roll(table)
    table.game(session_number=6)
    roll(table)
    assert f"against_rule:{table.seq}" in standing(table)
    rolled = table.seq
    table.game(session_number=7)
    assert f"against_rule:{rolled}" not in standing(table)


def test_grave_alerts_stand_before_what_can_wait_and_the_newest_first() -> None:
    table = Spain()
    for name in ("box_without_bets", "against_rule:7", "puck_fault", "late_key:3", "dice_missing:A", "against_rule:9"):
        table.keep(table.session.raise_alert(name, "This.", {}))
    assert table.shown() == [
        *("puck_fault", "against_rule:9", "dice_missing:A", "against_rule:7", "box_without_bets", "late_key:3"),
    ]
    table.acknowledge("against_rule:9", "Eva")
    assert table.shown()[-1] == "against_rule:9"


def test_only_listed_supervisors_act_as_such() -> None:
    table = Spain(["Marta Gil", "Jos\u00e9 Mas"])
    rules = dice_rules.load("es-1979")
    assert table.session.dice.view(table.session.dice_context(rules))["supervisors_listed"] is True
    table.lid(True)
    table.lid(False)
    with pytest.raises(Refused, match=r"A\. Ruiz is none of the supervisors of this table; one of them must") as said:
        table.dice("explain", reason="inspector_request", as_="supervisor", done_by="A. Ruiz")
    assert said.value.code == "not_a_supervisor"
    table.dice("explain", reason="inspector_request", as_="supervisor", done_by="marta gil")
    table.dice("off_table", dice=[D1])
    write_off = {"set": "A", "dice": [D1], "to": "written_off", "reason": "die_off_table"}
    with pytest.raises(Refused, match="Eva is none of the supervisors"):
        table.dice("remove", **write_off, done_by="Eva")
    table.dice("remove", **write_off, done_by="Marta Gil")
    (name,) = [name for name in table.session.alerts if name.startswith("dice_written_off")]
    with pytest.raises(Refused, match="Marta Gil was on duty or signed then"):
        table.acknowledge(name, "Marta Gil")
    with pytest.raises(Refused, match="Eva is none of the supervisors"):
        table.acknowledge(name, "Eva")
    table.acknowledge(name, "JOS\u00c9 MAS")
    table.keep(table.session.raise_alert("puck_fault", "This.", {}))
    table.acknowledge("puck_fault", "Ana")


def test_where_no_supervisors_are_listed_the_view_says_so() -> None:
    table = Spain()
    rules = dice_rules.load("es-1979")
    assert table.session.dice.view(table.session.dice_context(rules))["supervisors_listed"] is False
