"""The dice log: what each action records, where every die is afterwards, and what is refused."""

from typing import Any

import pytest

from device.dice_control import set_decisions
from device.dice_control.dice_log import EVENTS
from device.dice_control.dice_state import PLACES
from device.dice_control.event_alerts import latched_alerts
from engine_lite.refusal import Refused
from tests.dice_table import SERIALS, DiceTable, broken

MARKED: dict[str, Any] = {"serials": SERIALS, "house_mark": "CGM"}


def test_a_swap_is_one_event_that_says_all_and_takes_three_parts() -> None:
    table = DiceTable("es-1979")
    table.set_up(**MARKED)
    table.game(shooter="7", roll_number=14)
    opened = table.lid(True)
    data = table.do("swap", out=["004712"], in_=["004715"], reason="shooter_request")
    assert table.events[-1] == (
        "dice_moved",
        {
            "action": "swap",
            "rules": "es-1979",
            "session": 5,
            "shooter": "7",
            "roll_number": 14,
            "rolls_in_series": 0,
            "point": None,
            "phase": "come_out",
            "set": "A",
            "reason": "shooter_request",
            "opening": opened,
            "out": ["004712"],
            "in": ["004715"],
            "moves": [
                {"set": "A", "die": "004712", "from": "play", "to": "reserve"},
                {"set": "A", "die": "004715", "from": "reserve", "to": "play"},
            ],
            "asked_by": "shooter",
            "asked_by_name": "7",
            "done_by": "Ana",
            "seen_by": "Luis",
        },
    )
    assert data is table.events[-1][1]
    assert table.at("play") == ["004711", "004715"]


def test_who_asked_is_as_the_reason_names_or_as_it_is_said_and_nobody_else() -> None:
    table = DiceTable()
    table.set_up()
    table.game(shooter="4")
    asked = {
        reason: (said["asked_by"], said["asked_by_name"])
        for reason in ("offered_to_shooter", "player_request", "inspector_request", "boxman_order", "die_off_table")
        for said in [table.do("swap", out=table.at("play")[:1], in_=table.at("reserve")[:1], reason=reason)]
    }
    assert asked == {
        "offered_to_shooter": (None, None),
        "player_request": ("player", None),
        "inspector_request": ("inspector", None),
        "boxman_order": ("boxman", "Ana"),
        "die_off_table": (None, None),
    }
    data = table.do(
        "swap",
        out=table.at("play")[:1],
        in_=table.at("reserve")[:1],
        reason="inspector_request",
        asked_by="inspector",
        asked_by_name="Sr. Ruiz",
        note="looks worn",
    )
    assert (data["asked_by_name"], data["note"]) == ("Sr. Ruiz", "looks worn")


def test_a_dice_change_puts_all_before_the_shooter_and_returns_the_rest() -> None:
    # Chile: "pone delante del jugador ... los cinco o seis dados ..., el jugador debe tomar dos para lanzarlos y los
    # tres o cuatro restantes deben ser devueltos, a la vista de los jugadores"
    table = DiceTable("cl-scj")
    table.set_up(dice=5)
    data = table.do("change", taken=["2", "5"], reason="boxman_order")
    assert data["offered"] == ["1", "2", "3", "4", "5"]
    assert [(move["die"], move["from"], move["to"]) for move in data["moves"]] == [
        ("1", "play", "reserve"),
        ("5", "reserve", "play"),
    ]
    assert table.log.state.last_change == {"seq": table.seq, "session": 5, "roll_number": 0}
    changed = table.log.state.last_change
    table.do("off_table", dice=["1"])
    table.do("found", die="1", to="reserve")
    assert table.log.state.last_change == changed
    data = table.do("change", taken=["2", "5"])
    assert data["moves"] == [], "the shooter kept them, and that is recorded"


def test_dice_may_lie_before_the_shooter_for_a_while_and_are_judged_once() -> None:
    table = DiceTable("es-1979")
    table.set_up(**MARKED)
    table.game(point=8, rolls_in_series=1, roll_number=1)
    assert broken(table.do("offer", reason="boxman_order")) == [("change", "IV.3")]
    assert table.at("offered") == SERIALS
    assert broken(table.do("change", taken=SERIALS[4:], reason="boxman_order")) == []
    assert (table.at("play"), table.at("reserve")) == (SERIALS[4:], SERIALS[:4])


def test_an_offer_says_what_was_offered_to_whom_and_is_judged_like_a_change() -> None:
    table = DiceTable("es-1979")
    table.set_up(**MARKED)
    data = table.do("offer", dice=SERIALS[:5], reason="shooter_request")
    assert (data["offered"], data["asked_by"], data["asked_by_name"]) == (SERIALS[:5], "shooter", "3")
    assert broken(data) == [("offered", "IV.3")]
    table = DiceTable("es-1979")
    table.set_up(**MARKED)
    table.game(point=8, rolls_in_series=1, roll_number=1)
    assert broken(table.do("change", taken=SERIALS[4:], reason="boxman_order")) == [("change", "IV.3")]


def test_a_correction_into_play_is_judged_like_any_use() -> None:
    table = DiceTable("pe-1999")
    table.receive(dice=5, serials=SERIALS[:5], house_mark="Real")
    table.do("place", set="A")
    data = table.do("correction", places={SERIALS[0]: "play"}, note="it was thrown")
    assert broken(data) == [("correction", "house"), ("inspection", "art. 3")]


def test_a_die_off_the_table_in_spain_from_the_void_throw_to_the_new_set() -> None:
    table = DiceTable("es-1979")
    table.set_up(**MARKED)
    table.game(point=6, roll_number=1, rolls_in_series=1)
    void = table.seq
    table.game(no_roll=(void, "off_table"))
    data = table.do("void_throw", no_roll=void, dice=["004711"])
    assert data["no_roll_reason"] == "off_table"
    assert data["moves"] == [{"set": "A", "die": "004711", "from": "play", "to": "floor"}]
    # IV.3: "se le ofrecerá elegir entre los cuatro dados restantes de la mesa, para terminar la jugada"
    data = table.do("swap", out=[], in_=["004716"], reason="die_off_table")
    assert broken(data) == []
    assert table.at("play") == ["004712", "004716"]
    # "Si al termino de la misma el dado perdido no se encontrara, se proveerá a la mesa de un nuevo juego de dados,
    # retirando los anteriores."
    table.game(point=None, roll_number=4, rolls_in_series=0)
    data = table.do("remove", set="A", to="withdrawn", reason="die_off_table")
    assert {move["die"]: move["to"] for move in data["moves"]} == {
        "004711": "missing",
        **dict.fromkeys(SERIALS[1:], "withdrawn"),
    }
    table.receive("B", serials=[serial + "B" for serial in SERIALS], house_mark="CGM")
    table.inspect(set="B")
    assert broken(table.do("place", set="B")) == []
    assert broken(table.do("change", taken=["004711B", "004712B"])) == []
    assert table.do("found", set="A", die="004711")["moves"][0]["from"] == "missing"


@pytest.mark.parametrize(
    ("reason", "moved_to", "why"),
    [
        ("off_table", "floor", "die_off_table"),
        ("broken", "inspection", "damage"),
        ("in_dice_cup", None, "die_off_table"),
        ("on_chips", None, None),
    ],
)
def test_a_void_throw_is_linked_to_its_dice(reason: str, moved_to: str | None, why: str | None) -> None:
    # Spain IV.3: "Si los dados se rompen, se superponen, se montan sobre una ficha o caen de la mesa ... o en el cesto
    # de los dados de reserva ... «tirada nula»"
    table = DiceTable("es-1979")
    table.set_up(**MARKED)
    opened = table.lid(True)
    table.game(no_roll=(99, reason))
    data = table.do("void_throw", no_roll=99, dice=["004712"])
    assert (data["no_roll"], data["no_roll_reason"], data["dice"], data["reason"]) == (99, reason, ["004712"], why)
    assert [move["to"] for move in data["moves"]] == ([moved_to] if moved_to else [])
    assert data["opening"] == (opened if reason == "in_dice_cup" else None)
    with pytest.raises(Refused, match="event 99 are recorded already"):
        table.do("void_throw", no_roll=99, dice=["004711"])


def test_a_void_throw_that_is_not_the_last_one_is_refused() -> None:
    table = DiceTable()
    table.set_up(dice=5)
    with pytest.raises(Refused, match="there is no void throw since the last roll"):
        table.do("void_throw", no_roll=9, dice=["1"])
    table.game(no_roll=(12, "off_table"))
    with pytest.raises(Refused, match="the last void throw is event 12, not 9"):
        table.do("void_throw", no_roll=9, dice=["1"])


def test_damage_and_withdrawal_and_the_end_of_a_die() -> None:
    table = DiceTable("pe-1999")
    table.set_up(dice=5, serials=SERIALS[:5], house_mark="Real")
    table.do("swap", out=["004711"], in_=["004713"], reason="damage")
    assert table.at("inspection") == ["004711"]
    checks = {"sound": False}
    table.do("inspect", dice=["004711"], checks=checks, unsound={"004711": "chipped"}, then="withdrawn")
    assert table.at("withdrawn") == ["004711"]
    table.do("remove", set="A", to="cancelled", dice=["004711"], reason="damage")
    table.do("remove", set="A", to="destroyed", dice=["004711"], reason="damage")
    assert table.at("destroyed") == ["004711"]
    with pytest.raises(Refused, match="die 004712 of set A is in play, not in the store or withdrawn"):
        table.do("remove", set="A", to="cancelled", dice=["004712"], reason="damage")


def test_a_count_that_matches_and_one_that_does_not() -> None:
    table = DiceTable()
    table.set_up(dice=5)
    opened = table.lid(True)
    data = table.do("count", count="opening", seen={"play": ["1", "2"], "reserve": ["3", "4", "5"]}, done_by="Eva")
    assert (data["difference"], data["done_by"], data["seen_by"], data["opening"]) == ([], "Eva", "Luis", opened)
    assert latched_alerts("dice_counted", data, 9) == []
    table.do("off_table", dice=["1"])
    data = table.do("count", count="closing", seen={"reserve": ["2", "3", "0815"]})
    assert data["expected"] == {"reserve": ["3", "4", "5"], "play": ["2"], "floor": ["1"]}
    assert data["difference"] == [
        {"die": "1", "log": "floor", "seen": None},
        {"die": "2", "log": "play", "seen": "reserve"},
        {"die": "4", "log": "reserve", "seen": None},
        {"die": "5", "log": "reserve", "seen": None},
        {"die": "0815", "log": None, "seen": "reserve"},
    ]
    ((alert, text, _),) = latched_alerts("dice_counted", data, 21)
    assert alert == "count_differs:21"
    assert text == (
        "The closing count of set A differs from the log: die 1 is on the floor by the log, and was not seen; "
        "die 2 is in play by the log, and was seen in the reserve; "
        "die 4 is in the reserve by the log, and was not seen; die 5 is in the reserve by the log, and was not seen; "
        "die 0815 is not of this set, and was seen in the reserve."
    )
    assert table.at("play") == ["2"], "a count moves nothing"
    counted = table.seq
    data = table.do("correction", places={"2": "reserve"}, count=counted, note="put back before the count")
    assert data["moves"] == [{"set": "A", "die": "2", "from": "play", "to": "reserve"}]
    data = table.do("missing", dice=["4", "5"])
    assert table.at("missing") == ["4", "5"]
    with pytest.raises(Refused, match="event 3 is not the last count of set A, which was counted last in"):
        table.do("correction", places={"3": "play"}, count=3, note="so it is")


def test_a_missing_die_is_a_difference_only_where_it_is_seen() -> None:
    table = DiceTable()
    table.set_up(dice=5)
    table.do("missing", dice=["5"])
    seen = {"play": ["1", "2"], "reserve": ["3", "4"]}
    assert table.do("count", count="check", seen=seen)["difference"] == []
    seen["reserve"].append("5")
    assert table.do("count", count="check", seen=seen)["difference"] == [
        {"die": "5", "log": "missing", "seen": "reserve"}
    ]


def test_an_opening_waits_for_its_reason_and_a_deed_gives_it() -> None:
    table = DiceTable()
    table.set_up(dice=5)
    first = table.lid(True)
    table.lid(False)
    second = table.lid(True)
    assert [opening.seq for opening in table.log.state.openings] == [first, second]
    data = table.do("swap", out=["1"], in_=["3"], reason="shooter_request")
    assert data["opening"] == second
    assert table.log.state.openings[-1].reason == "shooter_request", "known, but not over"
    table.lid(False)
    assert [opening.seq for opening in table.log.state.openings] == [first]
    data = table.do("explain", reason="inspector_request", as_="boxman")
    assert (data["opening"], data["reason"]) == (first, "inspector_request")
    assert (data["explained_as"], data["late"]) == ("boxman", False)
    assert table.log.state.openings == []


def test_the_opening_that_is_named_is_the_one_that_is_explained() -> None:
    table = DiceTable()
    first, _, second, _ = table.lid(True), table.lid(False), table.lid(True), table.lid(False)
    assert table.do("explain", opening=first, reason="inspector_request", as_="boxman")["opening"] == first
    assert [opening.seq for opening in table.log.state.openings] == [second]


def test_the_reason_may_come_after_the_lid_is_closed() -> None:
    table = DiceTable()
    table.set_up(dice=5)
    opened = table.lid(True)
    table.lid(False)
    assert table.do("change", taken=["3", "4"])["opening"] == opened
    assert table.log.state.openings == []
    assert table.do("swap", out=["3"], in_=["1"], reason="damage")["opening"] is None


def test_what_does_not_touch_the_reserve_explains_no_opening() -> None:
    table = DiceTable()
    table.set_up(dice=5)
    table.lid(True)
    assert table.do("off_table", dice=["1"])["opening"] is None
    assert table.do("found", die="1")["opening"] is None
    assert table.log.state.openings[0].reason is None
    assert table.do("count", count="check", seen={"reserve": ["3", "4", "5"]})["opening"] is not None


def test_after_the_alert_only_a_supervisor_ends_it_and_not_under_the_boxmans_name() -> None:
    table = DiceTable()
    table.set_up(dice=5)
    opened = table.lid(True)
    table.lid(False)
    table.take("alert_raised", {"alert": f"reserve_unexplained:{opened}", "text": "", "detail": {}, "latched": False})
    data = table.do("explain", reason="inspector_request", as_="boxman")
    assert data["late"] is True
    assert table.do("change", taken=["3", "4"])["opening"] is None, "it has its reason, and waits for the supervisor"
    assert [opening.seq for opening in table.log.state.openings] == [opened]
    with pytest.raises(Refused, match="ana is the boxman on duty; a supervisor must explain this opening"):
        table.do("explain", opening=opened, reason="inspector_request", as_="supervisor", done_by="ana")
    table.do("explain", opening=opened, reason="inspector_request", as_="supervisor", done_by="Sofia")
    assert table.log.state.openings == []
    with pytest.raises(Refused, match="no opening of the reserve waits for a reason"):
        table.do("explain", reason="inspector_request", as_="boxman")


def test_a_lid_that_was_open_when_the_terminal_stopped_is_the_same_opening() -> None:
    table = DiceTable()
    table.set_up(dice=5)
    opened = table.lid(True)
    table.lid(True, initial=True)
    assert [opening.seq for opening in table.log.state.openings] == [opened]
    table.lid(False, initial=True)
    assert table.log.state.openings[0].closed == table.seq
    again = table.lid(True, initial=True)
    assert [opening.seq for opening in table.log.state.openings] == [opened, again], "opened while nobody looked"
    # A closing that was lost: the lid cannot be opened twice.
    third = table.lid(True)
    assert [(opening.seq, opening.closed) for opening in table.log.state.openings][1:] == [
        (again, third),
        (third, None),
    ]


def test_a_lid_that_flutters_does_not_fill_the_memory() -> None:
    table = DiceTable()
    for _ in range(103):
        table.lid(True)
        table.lid(False)
    openings = table.log.state.openings
    assert len(openings) == 100
    assert (openings[-1].further, openings[-1].closed) == (3, table.seq)


REFUSED: list[tuple[str, dict[str, Any], str, str]] = [
    ("swap", {"out": ["1"], "in_": ["1"], "reason": "damage"}, "same_die", "die 1 cannot be swapped with itself"),
    (
        "swap",
        {"out": ["3"], "in_": ["4"], "reason": "damage"},
        "wrong_place",
        "die 3 of set A is in the reserve, not in play",
    ),
    (
        "swap",
        {"out": ["1"], "in_": ["2"], "reason": "damage"},
        "wrong_place",
        "die 2 of set A is in play, not in the reserve",
    ),
    (
        "swap",
        {"out": ["1"], "in_": ["6"], "reason": "damage"},
        "unknown_die",
        "set A has 5 dice, 1, 2, 3, 4, 5, and no die 6",
    ),
    (
        "swap",
        {"out": [], "in_": ["3"], "reason": "damage"},
        "two_in_play",
        "3 dice would be in play, not 2; in play now: 1 of set A, 2 of set A",
    ),
    ("swap", {"out": ["1", "2"], "in_": ["3"], "reason": "damage"}, "two_in_play", "1 die would be in play, not 2"),
    ("swap", {"set": "Z", "out": ["1"], "in_": ["3"], "reason": "damage"}, "unknown_set", "no set Z was received"),
    (
        "swap",
        {"out": ["1"], "in_": ["3"], "reason": "damage", "seen_by": "ANA"},
        "same_name",
        "Ana cannot witness what Ana did",
    ),
    ("change", {"taken": ["1", "5"], "offered": ["1", "2", "3", "4"]}, "not_offered", "die 5 was not offered"),
    ("offer", {"dice": ["1", "7"]}, "unknown_die", "no die 7"),
    ("off_table", {"dice": ["6"]}, "unknown_die", "no die 6"),
    ("found", {"die": "1"}, "wrong_place", "die 1 of set A is in play, not on the floor or missing"),
    ("missing", {"dice": ["9"]}, "unknown_die", "no die 9"),
    (
        "correction",
        {"places": {"1": "play"}, "note": "x"},
        "nothing_to_correct",
        "the log has these dice of set A there already",
    ),
    ("correction", {"places": {"3": "play"}, "note": "x"}, "two_in_play", "3 dice would be in play"),
    (
        "correction",
        {"places": {"3": "floor"}, "count": 1, "note": "x"},
        "stale",
        "event 1 is not the last count of set A, which was not counted yet",
    ),
    ("place", {"set": "A"}, "wrong_place", "no die of set A is in the store; they are in play and in the reserve"),
    (
        "remove",
        {"set": "A", "to": "destroyed", "reason": "damage"},
        "wrong_place",
        "no die of set A is in the store, withdrawn, cancelled, so none can go to the destroyed ones",
    ),
    (
        "receive",
        {"set": "A", "dice": 5, "maker": "Bold", "colour": "red"},
        "set_exists",
        "set A was received already, with 5 dice",
    ),
    (
        "receive",
        {"set": "B", "dice": 5, "maker": "Bold", "colour": "red", "serials": SERIALS},
        "wrong_number",
        "set B is to have 5 dice, but 6 serials are given; 004716 too many",
    ),
    (
        "receive",
        {"set": "B", "dice": 5, "maker": "Bold", "colour": "red", "serials": SERIALS[:4]},
        "wrong_number",
        "5 dice, but 4 serials",
    ),
    ("inspect", {"checks": {"shiny": True}}, "unknown_check", "shiny is no check of us-vegas; they are sound"),
    (
        "inspect",
        {"checks": {}, "dice": ["1"], "unsound": {"2": "chipped"}},
        "unknown_die",
        "die 2 is not among those inspected: 1",
    ),
    ("explain", {"reason": "count", "as_": "boxman"}, "no_opening", "no opening of the reserve waits for a reason"),
    (
        "explain",
        {"reason": "count", "as_": "boxman", "opening": 4},
        "no_opening",
        "the opening of event 4 does not wait for a reason",
    ),
    ("on_duty", {"boxman": "Ana", "witness": "ana"}, "same_name", "Ana cannot be boxman and witness at once"),
]


@pytest.mark.parametrize(("name", "parts", "code", "message"), REFUSED)
def test_what_cannot_be_is_refused_in_one_line_and_changes_nothing(
    name: str, parts: dict[str, Any], code: str, message: str
) -> None:
    table = DiceTable()
    table.set_up(dice=5)
    before = table.log.snapshot()
    with pytest.raises(Refused) as refused:
        table.do(name, **parts)
    assert refused.value.code == code
    assert message in refused.value.message
    assert "\n" not in refused.value.message
    assert table.log.snapshot() == before


def test_a_die_must_be_where_the_action_takes_it_from() -> None:
    table = DiceTable()
    table.set_up(dice=6)
    table.do("swap", out=["1"], in_=["3"], reason="die_off_table")
    table.game(no_roll=(50, "off_table"))
    with pytest.raises(Refused, match="die 4 of set A is in the reserve, not in play"):
        table.do("void_throw", no_roll=50, dice=["4"])
    with pytest.raises(Refused, match="die 1 of set A is on the floor, not in play or in the reserve or before the"):
        table.do("change", taken=["1", "4"])
    with pytest.raises(Refused, match="3 dice would be in play, not 2"):
        table.do("found", die="1", to="play")
    table.do("remove", set="A", dice=["6"], to="withdrawn", reason="damage")
    with pytest.raises(Refused, match="die 6 of set A is withdrawn, not in the store"):
        table.do("correction", places={"6": "reserve"}, note="still here")
    table.do("remove", set="A", to="store", reason="closing")
    with pytest.raises(Refused, match="no die of set A is in play or in the reserve; place a set first"):
        table.do("offer", set="A")


def test_a_serial_that_is_at_another_place_is_refused_with_the_place() -> None:
    table = DiceTable("es-1979")
    table.set_up(**MARKED)
    with pytest.raises(Refused, match="serial 004713 of Bold is in the reserve already, in set A"):
        table.do("receive", set="B", dice=2, maker="BOLD", colour="blue", serials=["1", "004713"])
    table.do("receive", set="B", dice=2, maker="Other", colour="blue", serials=["1", "004713"])
    with pytest.raises(Refused, match="no die 1; one of this number is in the store, in set B"):
        table.do("swap", set="A", out=["004711"], in_=["1"], reason="damage")


def test_without_names_nothing_is_recorded_and_duty_ends_with_the_session() -> None:
    table = DiceTable(duty=False)
    with pytest.raises(Refused, match="nobody is on duty in this session; say who is, or name done_by"):
        table.receive()
    with pytest.raises(Refused, match="name seen_by"):
        table.receive(done_by="Eva")
    table.receive(done_by="Eva", seen_by="Tom")
    table.do("on_duty", boxman="Ana", witness="Luis")
    table.game(table_open=False)
    assert table.do("place", set="A")["done_by"] == "Ana", "after closing, for the last things"
    table.game(table_open=True, session_number=6)
    with pytest.raises(Refused, match="nobody is on duty"):
        table.do("change", taken=["1", "2"])


def test_duty_that_is_said_before_the_table_opens_holds_in_the_session_to_come() -> None:
    table = DiceTable(duty=False)
    table.game(table_open=False)
    table.do("on_duty", boxman="Ana", witness="Luis")
    table.receive()
    table.game(table_open=True, session_number=6)
    assert table.do("place", set="A")["seen_by"] == "Luis"
    assert table.log.view(table.context)["duty"] == {"boxman": "Ana", "witness": "Luis"}


def test_an_action_needs_its_set_named_where_it_could_be_another() -> None:
    table = DiceTable()
    table.receive("A", 5)
    with pytest.raises(Refused, match="no set of dice is at the table; place one, or name the set"):
        table.do("change", taken=["1", "2"])
    table.receive("B", 5)
    table.do("place", set="A")
    table.do("place", set="B")
    with pytest.raises(Refused, match="sets A and B are at the table; name the set"):
        table.do("change", taken=["1", "2"])
    table.do("change", set="A", taken=["1", "2"])
    with pytest.raises(Refused, match="4 dice would be in play, not 2; in play now: 1 of set A, 2 of set A"):
        table.do("change", set="B", taken=["1", "2"])


def test_dice_in_the_store_do_not_come_to_the_table_by_an_inspection() -> None:
    table = DiceTable()
    table.receive(dice=5)
    with pytest.raises(Refused, match="die 1 of set A is in the store; place the set at the table first"):
        table.inspect(set="A", then="reserve")


def test_an_inspection_ends_when_the_set_goes_back_to_the_store() -> None:
    table = DiceTable()
    table.set_up(dice=5)
    table.do("remove", set="A", to="store", reason="closing")
    assert {die.state for die in table.log.state.sets["A"].dice.values()} == {"unchecked"}


def test_a_whole_day_replayed_is_the_same_log() -> None:
    table = DiceTable("es-1979")
    table.take("slots", {"occupied": [1, 2, 3, 4], "initial": True})
    table.lid(False, initial=True)
    table.set_up(**MARKED)
    table.lid(True)
    table.do("swap", out=["004711"], in_=["004713"], reason="die_off_table")
    table.lid(False)
    table.do("found", die="004711")
    table.inspect(dice=["004711"], then="reserve")
    opened = table.lid(True)
    table.lid(False)
    table.take("alert_raised", {"alert": f"reserve_unexplained:{opened}"})
    table.game(no_roll=(40, "broken"))
    table.do("void_throw", no_roll=40, dice=["004712"])
    table.do("count", count="closing", seen={"reserve": ["004714"]})
    table.do("remove", set="A", to="withdrawn", reason="damage")
    assert table.replayed().snapshot() == table.log.snapshot()
    assert {kind for kind, _ in table.events} >= set(EVENTS) - {"reserve_explained"}
    assert table.log.snapshot()["openings"][0]["late"] is True
    assert set(PLACES) >= {die.place for die in table.log.state.sets["A"].dice.values()}


def test_an_event_that_does_not_follow_is_not_taken() -> None:
    table = DiceTable()
    table.set_up(dice=5)
    data = table.do("swap", out=["1"], in_=["3"], reason="damage")
    with pytest.raises(ValueError, match="die 1 of set A is not in play, but in inspection"):
        table.log.take("dice_moved", data, 99)
    with pytest.raises(ValueError, match="bet is no event of the dice log"):
        table.log.take("bet", {}, 99)


def test_the_log_holds_so_many_sets_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    assert set_decisions.SETS_MAX == 2_000
    monkeypatch.setattr(set_decisions, "SETS_MAX", 2)
    table = DiceTable()
    table.receive("A")
    table.receive("B")
    with pytest.raises(Refused, match="the log holds 2 sets, and no more"):
        table.receive("C")


def test_only_dice_at_hand_are_inspected_and_two_stay_in_play() -> None:
    table = DiceTable()
    table.set_up(dice=5)
    table.do("missing", dice=["5"])
    with pytest.raises(Refused, match="die 5 of set A is missing, not in the store or in the reserve or in play"):
        table.inspect(dice=["5"])
    with pytest.raises(Refused, match="4 dice would be in play, not 2"):
        table.inspect(then="play")
    table.do("remove", set="A", to="withdrawn", reason="damage")
    with pytest.raises(Refused, match="no die of set A is at hand to be inspected"):
        table.inspect(set="A")
    with pytest.raises(Refused, match="so none can go back to the store"):
        table.do("remove", set="A", to="store", reason="closing")


def test_an_inspection_explains_an_opening_only_where_the_reserve_has_part_in_it() -> None:
    table = DiceTable()
    table.set_up(dice=5)
    opened = table.lid(True)
    assert table.inspect(dice=["1", "2"])["opening"] is None
    data = table.inspect(dice=["3"])
    assert (data["opening"], data["reason"]) == (opened, "new_set")
    table.lid(False)
    again = table.lid(True)
    table.do("swap", out=["1"], in_=["3"], reason="damage")
    table.lid(False)
    returned = table.lid(True)
    data = table.inspect(dice=["1"], then="reserve", reason="damage")
    assert (again < returned, data["opening"], data["reason"]) == (True, returned, "damage")


def test_what_lies_on_the_floor_is_missing_only_when_the_whole_set_leaves_the_table() -> None:
    table = DiceTable()
    table.set_up(dice=6)
    table.do("swap", out=["1"], in_=["3"], reason="die_off_table")
    table.do("remove", set="A", to="withdrawn", dice=["6"], reason="damage")
    assert table.at("floor") == ["1"]
    table.do("remove", set="A", to="destroyed", reason="damage")
    assert (table.at("floor"), table.at("destroyed")) == (["1"], ["6"])
    table.do("remove", set="A", to="store", reason="closing")
    assert (table.at("missing"), table.at("store")) == (["1"], ["2", "3", "4", "5"])


def test_the_screen_is_told_of_the_sets_the_reserve_the_openings_and_the_counts() -> None:
    table = DiceTable("mo-2010")
    table.receive("old", 4)
    table.do("remove", set="old", to="destroyed", reason="damage")
    table.set_up(dice=4, house_mark="Sol")
    table.take("slots", {"occupied": [1, 2], "initial": True})
    table.game(roll_number=3, point=9, rolls_in_series=1)
    opened = table.lid(True)
    table.do("count", count="opening", seen={"play": ["1", "2"]})
    view = table.log.view(table.context)
    assert view["rules"]["in_set"] == "4 to 5"
    assert view["rules"]["checks"]["balanced"] == {
        "text": "of the same weight and balanced",
        "article": "art. 1.2.4",
    }
    assert [(one["set"], one["maker"], one["colour"], one["house_mark"]) for one in view["sets"]] == [
        ("A", "Bold", "red", "Sol")
    ]
    assert view["sets"][0]["dice"][0] == {"die": "1", "place": "play", "state": "sound"}
    assert view["reserve"] == {"open": True, "dice": 2, "slots": [1, 2]}
    (opening,) = view["openings"]
    assert (opening["seq"], opening["shooter"], opening["roll_number"], opening["point"]) == (opened, "3", 3, 9)
    assert view["counts"] == {"session": 5, "opening": table.seq}
    table.do("count", count="check", seen={"play": ["1", "2"]})
    assert table.log.view(table.context)["counts"] == {"session": 5, "opening": table.seq - 1, "check": table.seq}
    assert {"reason": "count", "allowed": True, "article": None} in view["reasons"]
    assert {"reason": "offered_to_shooter", "allowed": True, "article": "art. 2.2"} in view["reasons"]
