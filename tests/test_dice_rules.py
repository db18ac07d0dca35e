"""What each jurisdiction asks about dice, held against its text; and what is recorded as against a rule."""

import json
from pathlib import Path
from typing import Any

import pytest

from device.dice_control import dice_rules
from device.dice_control.event_alerts import latched_alerts
from device.session_alerts import ALERT_TEXT_MAX
from tests.dice_table import SERIALS, DiceTable, broken

MARKED: dict[str, Any] = {"serials": SERIALS, "house_mark": "CGM", "edge_hundredths_mm": 2000}

# In the set, in the reserve while two are in play, edge in hundredths of a millimetre, may a set serve again.
TEXTS = [
    # II.1 "de 20 a 25 mm. de lado ... seis dados en perfecto estado y distintos de los usados en la sesión anterior.
    # Dos dados se utilizarán en la partida, quedando en reserva los otros cuatro"
    ("es-1979", "6", "4", "2000 to 2500", "not_next_session"),
    ("es-md-2004", "6", "4", "2000 to 2500", "not_next_session"),
    # art. 1.1.1 "Quatro ou cinco dados"
    ("mo-2010", "4 to 5", "2 to 3", None, "always"),
    # Medios Materiales: "cinco o seis dados en perfecto estado ... quedando en reserva los otros tres o cuatro"
    ("cl-scj", "5 to 6", "3 to 4", None, "always"),
    # art. 2.b "dos de los cinco dados", 4.c "Los tres dados restantes", 3 "los cinco dados ... nuevos"
    ("pe-1999", "5", "3", None, "never"),
    ("us-vegas", "at least 5", "at least 3", None, "always"),
]


@pytest.mark.parametrize(("name", "in_set", "in_reserve", "edge", "reuse"), TEXTS)
def test_the_numbers_are_those_of_the_text(
    name: str, in_set: str, in_reserve: str, edge: str | None, reuse: str
) -> None:
    rules = dice_rules.load(name)
    assert (rules.in_set.said(), rules.in_reserve.said()) == (in_set, in_reserve)
    assert (rules.edge.said() if rules.edge else None) == edge
    assert rules.reuse.allowed == reuse


def test_every_value_has_its_article_and_no_file_holds_a_key_that_nobody_reads() -> None:
    def articles(value: object) -> None:
        if isinstance(value, dict):
            if "minimum" in value or "required" in value or "text" in value or "come_out" in value:
                assert value["article"].strip(), value
            for part in value.values():
                articles(part)

    folder = Path(dice_rules.__file__).with_name("rules")
    assert sorted(path.stem for path in folder.glob("*.json")) == sorted(dice_rules.NAMES)
    for name in dice_rules.NAMES:
        data = json.loads((folder / f"{name}.json").read_text())
        articles(data)
        rules = dice_rules.load(name)
        assert rules.name == name
        assert set(data) == {field if field != "edge" else "edge_hundredths_mm" for field in vars(rules)}
        assert set(data["changes"]) == set(dice_rules.CHANGE_REASONS)
        assert set(rules.after_floor.checks) <= set(rules.checks)


def test_an_unknown_jurisdiction_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        dice_rules.load("../es-1979")


# Spain IV.3: "El tirador podrá pedir que se cambien los dados antes de lanzarlos, pero no podrá hacerlo durante la
# serie de lanzamientos precisos para alcanzar el número designado como punto, salvo en el caso de que un dado salte
# fuera de la mesa, cayendo en el suelo". Peru 4.c: the shooter "podra pedir un cambio de los dados que estan en juego".
# Chile: "Después de un número determinado de tiradas o cuando lo determine el jefe de mesa". Macau is silent.
@pytest.mark.parametrize(
    ("rules", "reason", "point", "expected"),
    [
        ("es-1979", "shooter_request", None, []),
        ("es-1979", "shooter_request", 6, [("change", "IV.3")]),
        ("es-1979", "boxman_order", None, []),
        ("es-1979", "boxman_order", 6, [("change", "IV.3")]),
        ("es-1979", "player_request", 6, [("change", "IV.3")]),
        ("es-1979", "die_off_table", 6, []),
        # II.1: the four in reserve are there "para el caso de tener que sustituir a los primeros".
        ("es-1979", "damage", 6, []),
        ("pe-1999", "shooter_request", 6, []),
        ("pe-1999", "inspector_request", 6, []),
        ("cl-scj", "boxman_order", 6, []),
        ("mo-2010", "shooter_request", 6, []),
        ("us-vegas", "shooter_request", 6, []),
    ],
)
def test_when_a_swap_is_allowed(rules: str, reason: str, point: int | None, expected: list[tuple[str, str]]) -> None:
    table = DiceTable(rules)
    number = table.context.rules.in_set.minimum
    table.set_up(dice=number, serials=SERIALS[:number], house_mark="CGM")
    table.game(point=point, roll_number=1, rolls_in_series=0 if point is None else 1)
    out, coming = table.at("play")[0], table.at("reserve")[0]
    data = table.do("swap", out=[out], in_=[coming], reason=reason)
    assert broken(data) == expected
    assert coming in table.at("play"), "recorded, not prevented"
    reasons = {said["reason"]: said["allowed"] for said in table.log.view(table.context)["reasons"]}
    assert reasons[reason] is not bool(expected), "the screen says so beforehand"


def test_a_swap_against_the_rule_names_rule_article_and_words_and_raises_a_latched_alert() -> None:
    table = DiceTable("es-1979")
    table.set_up(**MARKED)
    table.game(point=6, roll_number=1, rolls_in_series=1)
    data = table.do("swap", out=["004712"], in_=["004715"], reason="shooter_request")
    assert data["against_rule"] == [
        {
            "rule": "change",
            "article": "IV.3",
            "text": "No change of dice (shooter request) during the series for point 6.",
            "detail": {"reason": "shooter_request", "point": 6},
        }
    ]
    (alert,) = latched_alerts("dice_moved", data, 41)
    assert alert == (
        "against_rule:41",
        "Against es-1979: No change of dice (shooter request) during the series for point 6 (IV.3).",
        {"event": 41, "rules": "es-1979", "against_rule": data["against_rule"]},
    )


def test_an_alert_names_each_article_once_at_the_end_of_its_texts_and_cuts_nothing_off() -> None:
    table = DiceTable("us-vegas")
    table.receive(dice=5)
    data = table.do("inspect", set="A", checks={}, edges_hundredths_mm=dict.fromkeys("12345", 1905))
    ((_, text, _),) = latched_alerts("dice_set_inspected", data, 9)
    assert text == (
        "Against us-vegas: Not checked: without flaw or mark (house). Inspected without the micrometer; inspected "
        "without the balancing caliper; inspected without the steel square; inspected without the magnet "
        "(house)."
    )
    table = DiceTable("es-md-2004")
    table.receive(dice=5, edge_hundredths_mm=1905)
    table.do("inspect", set="A", checks={}, edges_hundredths_mm=dict.fromkeys("12345", 1905))
    ((_, text, _),) = latched_alerts("dice_set_inspected", table.events[-1][1], 9)
    assert text.count("Orden de 9 de octubre de 1979, II.1") == 1
    assert text.count("; not checked: ") == 9
    assert text.endswith("; not checked: in perfect state (Orden de 9 de octubre de 1979, II.1).")
    kept = "Orden de 9 de octubre de 1979, II.1 (kept in force by the decree's transitional provision)"
    assert table.events[-1][1]["against_rule"][-1]["article"] == kept, "the whole of it is in the event"
    assert len(text) <= ALERT_TEXT_MAX


# Chile, "Juego con dados nuevos": "pone delante del jugador ... los cinco o seis dados al servicio de la mesa, el
# jugador debe tomar dos ... y los tres o cuatro restantes deben ser devueltos". Spain IV.3: "los seis dados".
# Macau 2.2: "dois dados escolhidos de entre os que lhe forem apresentados". Peru 2.b: "los cinco dados".
@pytest.mark.parametrize(
    ("rules", "dice", "offered", "expected"),
    [
        ("es-1979", 6, 6, []),
        ("es-1979", 6, 5, [("offered", "IV.3")]),
        ("cl-scj", 5, 5, []),
        ("cl-scj", 6, 5, [("offered", "Juego con dados nuevos")]),
        ("pe-1999", 5, 4, [("offered", "art. 2.b")]),
        ("mo-2010", 5, 3, []),
        ("us-vegas", 6, 5, []),
    ],
)
def test_how_many_dice_are_offered(rules: str, dice: int, offered: int, expected: list[tuple[str, str]]) -> None:
    table = DiceTable(rules)
    table.set_up(dice=dice, serials=SERIALS[:dice], house_mark="CGM")
    data = table.do("change", taken=SERIALS[2:4], offered=SERIALS[:offered] if offered > 3 else SERIALS[2:5])
    assert broken(data) == expected
    assert table.at("play") == SERIALS[2:4]
    assert len(table.at("reserve")) == dice - 2


def test_after_a_die_fell_the_shooter_chooses_among_the_others() -> None:
    # Spain IV.3: "se le ofrecerá elegir entre los cuatro dados restantes de la mesa, para terminar la jugada"
    table = DiceTable("es-1979")
    table.set_up(**MARKED)
    table.game(point=6, roll_number=1, rolls_in_series=1)
    table.do("off_table", dice=SERIALS[:1])
    assert broken(table.do("offer", reason="die_off_table", dice=SERIALS[2:])) == []
    assert broken(table.do("swap", out=[], in_=SERIALS[5:], reason="die_off_table")) == []


# Spain II.1: "Dos dados se utilizarán en la partida, quedando en reserva los otros cuatro". Peru 4.c: "Los tres dados
# restantes". Chile: "quedando en reserva los otros tres o cuatro". Macau art. 1.1.1: four or five dice, two are thrown.
@pytest.mark.parametrize(
    ("rules", "dice", "reserve", "expected"),
    [
        ("es-1979", 6, 4, []),
        ("es-1979", 6, 3, [("in_reserve", "II.1")]),
        ("es-1979", 6, 5, [("in_reserve", "II.1")]),
        ("pe-1999", 5, 3, []),
        ("pe-1999", 5, 2, [("in_reserve", "art. 4.c")]),
        ("cl-scj", 6, 3, []),
        ("cl-scj", 6, 4, []),
        ("cl-scj", 6, 2, [("in_reserve", "Medios Materiales, Dados")]),
        ("mo-2010", 5, 1, [("in_reserve", "art. 1.1.1 with art. 2.2")]),
        ("mo-2010", 5, 2, []),
        ("mo-2010", 5, 4, [("in_reserve", "art. 1.1.1 with art. 2.2")]),
    ],
)
def test_too_few_and_too_many_dice_in_the_reserve_are_recorded_at_the_opening_count(
    rules: str, dice: int, reserve: int, expected: list[tuple[str, str]]
) -> None:
    table = DiceTable(rules)
    table.set_up(dice=dice, serials=SERIALS[:dice], house_mark="CGM")
    there = [*SERIALS[2:dice], "X8", "X9"][:reserve]
    data = table.do("count", count="opening", seen={"play": SERIALS[:2], "reserve": there})
    assert broken(data) == expected
    for other in ("check", "closing"):
        assert broken(table.do("count", count=other, seen={"play": SERIALS[:2], "reserve": there})) == []


def test_the_reserve_is_judged_once_two_dice_are_in_play_and_in_plain_words() -> None:
    table = DiceTable("es-1979")
    table.set_up(**MARKED)
    assert broken(table.do("count", count="opening", seen={"play": [], "reserve": SERIALS})) == []
    data = table.do("count", count="opening", seen={"play": SERIALS[:2], "reserve": SERIALS[5:]})
    assert [alert for alert, _, _ in latched_alerts("dice_counted", data, 9)] == ["against_rule:9", "count_differs:9"]
    assert latched_alerts("dice_counted", data, 9)[0][1] == (
        "Against es-1979: Set A has 1 die in the reserve; the rules ask for 4 (II.1)."
    )


@pytest.mark.parametrize(
    ("rules", "dice", "expected"),
    [
        ("es-1979", 5, [("in_set", "II.1")]),
        ("mo-2010", 3, [("in_set", "art. 1.1.1")]),
        ("mo-2010", 4, []),
        ("mo-2010", 5, []),
        ("mo-2010", 6, [("in_set", "art. 1.1.1")]),
        ("cl-scj", 4, [("in_set", "Medios Materiales, Dados")]),
        ("pe-1999", 6, [("in_set", "art. 2.b")]),
        ("us-vegas", 8, []),
    ],
)
def test_too_few_and_too_many_dice_are_recorded_when_the_set_is_placed(
    rules: str, dice: int, expected: list[tuple[str, str]]
) -> None:
    table = DiceTable(rules)
    serials = [f"{number:06}" for number in range(dice)]
    table.receive(dice=dice, serials=serials, house_mark="CGM")
    data = table.do("place", set="A")
    assert broken(data) == expected
    assert table.at("reserve") == serials


def test_spain_asks_for_serials_initials_and_an_edge_from_20_to_25_mm() -> None:
    # II.1: "En una de las caras figurará el número de orden del fabricante y las siglas del establecimiento"
    table = DiceTable("es-1979")
    table.receive(edge_hundredths_mm=1905)
    data = table.do("place", set="A")
    assert broken(data) == [("serials", "II.1"), ("house_mark", "II.1"), ("edge", "II.1")]
    assert data["against_rule"][2]["text"] == "The dice of set A: edge 19.05 mm; the rules ask for 20.00 to 25.00 mm."
    for edge in (2000, 2500):
        other = DiceTable("es-1979")
        other.receive(serials=SERIALS, house_mark="CGM", edge_hundredths_mm=edge)
        assert broken(other.do("place", set="A")) == []


def test_a_set_may_not_serve_two_sessions_in_a_row_in_spain_and_never_again_in_peru() -> None:
    def placed_again(rules: str, dice: int, sessions_later: int) -> list[tuple[str, str]]:
        table = DiceTable(rules)
        table.set_up(dice=dice, serials=SERIALS[:dice], house_mark="CGM")
        table.throw()
        table.do("remove", set="A", to="store", reason="closing")
        for later in range(1, sessions_later):
            # With other dice.
            table.receive(f"B{later}", 6)
            table.game(session_number=5 + later)
            table.do("on_duty", boxman="Ana", witness="Luis")
            table.do("place", set=f"B{later}")
            table.do("change", set=f"B{later}", taken=["1", "2"])
            table.throw()
            table.do("remove", set=f"B{later}", to="store", reason="closing")
        table.game(session_number=5 + sessions_later)
        table.do("on_duty", boxman="Ana", witness="Luis")
        return broken(table.do("place", set="A"))

    # Spain II.1: "distintos de los usados en la sesión anterior". Peru 3: "los cinco dados ... nuevos".
    assert placed_again("es-1979", 6, 0) == []
    assert placed_again("es-1979", 6, 1) == [("reuse", "II.1")]
    assert placed_again("es-1979", 6, 2) == []
    assert placed_again("pe-1999", 5, 2) == [("reuse", "art. 3")]
    assert placed_again("cl-scj", 6, 1) == []


def test_the_last_session_of_a_set_is_the_one_in_which_dice_of_it_were_in_play_last() -> None:
    table = DiceTable("es-1979")
    table.set_up(**MARKED)
    table.throw()
    table.game(session_number=6)
    table.do("on_duty", boxman="Ana", witness="Luis")
    (view,) = table.log.view(table.context)["sets"]
    assert ("reuse", "II.1") in [(need["rule"], need["article"]) for need in view["needs"]]
    table.throw()
    table.do("remove", set="A", to="store", reason="closing")
    table.game(session_number=7)
    table.do("on_duty", boxman="Ana", witness="Luis")
    assert broken(table.do("place", set="A")) == [("reuse", "II.1")]


def test_a_set_that_was_brought_and_returned_without_being_in_play_has_not_served() -> None:
    # Spain II.1: "distintos de los usados en la sesión anterior"; this one was not used.
    for rules, dice in (("es-1979", 6), ("pe-1999", 5)):
        table = DiceTable(rules)
        table.receive(dice=dice, serials=SERIALS[:dice], house_mark="CGM")
        table.do("place", set="A")
        table.do("offer")
        table.do("remove", set="A", to="store", reason="new_set")
        table.game(session_number=6)
        table.do("on_duty", boxman="Ana", witness="Luis")
        assert broken(table.do("place", set="A")) == []


def test_what_happens_to_a_set_in_the_store_is_no_service() -> None:
    table = DiceTable("pe-1999")
    table.receive(dice=6, serials=SERIALS, house_mark="CGM")
    table.do("remove", set="A", to="withdrawn", dice=SERIALS[5:], reason="damage")
    table.game(session_number=6)
    table.do("on_duty", boxman="Ana", witness="Luis")
    assert broken(table.do("place", set="A")) == []


def test_a_set_that_is_placed_while_the_table_is_closed_serves_the_session_to_come() -> None:
    table = DiceTable("es-1979")
    table.game(table_open=False)
    table.receive(**MARKED)
    assert table.do("place", set="A")["session"] == 6
    assert table.do("change", taken=SERIALS[:2])["session"] == 6
    table.game(table_open=True, session_number=6)
    table.do("on_duty", boxman="Ana", witness="Luis")
    table.throw()
    table.game(table_open=False)
    assert table.do("remove", set="A", to="store", reason="closing")["session"] == 6
    assert broken(table.do("place", set="A")) == [("reuse", "II.1")], "that would be session 7"


def test_dice_that_were_not_inspected_are_named_when_they_come_into_play() -> None:
    # Peru 3: "[antes] de su utilización en una mesa de Craps, el personal del explotador verificara"
    table = DiceTable("pe-1999")
    table.receive(dice=5, serials=SERIALS[:5], house_mark="CGM")
    assert broken(table.do("place", set="A")) == []
    table.inspect(dice=SERIALS[:3])
    data = table.do("change", taken=[SERIALS[0], SERIALS[4]])
    assert broken(data) == [("inspection", "art. 3")]
    assert data["against_rule"][0]["text"] == "Die 004715 of set A not inspected before use."
    assert broken(table.do("change", taken=[SERIALS[0], SERIALS[4]])) == [], "it was in play, and said already"
    data = table.do("swap", out=[SERIALS[4]], in_=[SERIALS[1]], reason="inspector_request")
    assert broken(data) == []


def test_a_die_that_an_inspection_found_unsound_is_against_the_rule_in_play() -> None:
    table = DiceTable("cl-scj")
    table.receive(dice=5)
    table.do("place", set="A")
    table.do("inspect", checks={"sound": False}, unsound={"3": "a corner is chipped"})
    assert broken(table.do("change", taken=["1", "3"])) == [("sound", "Recursos Humanos")]
    assert table.log.view(table.context)["sets"][0]["dice"][2] == {"die": "3", "place": "play", "state": "unsound"}


def test_an_inspection_after_the_massachusetts_model_names_the_instruments_it_left_out() -> None:
    # 205 CMR 146.46(6)(a): micrometer or equivalent, balancing caliper, steel set square, magnet; a dealer present.
    table = DiceTable("us-vegas")
    table.receive(dice=5)
    table.do("place", set="A")
    data = table.do(
        "inspect",
        checks={"sound": True},
        instruments={"micrometer": {"sound": True, "showed": "19.05 mm on all edges"}},
        done_by="Eva",
        seen_by="Tom",
    )
    assert (data["done_by"], data["seen_by"], data["sound"]) == ("Eva", "Tom", ["1", "2", "3", "4", "5"])
    assert [rule for rule, _ in broken(data)] == [
        "instrument:balancing_caliper",
        "instrument:steel_square",
        "instrument:magnet",
    ]
    assert broken(table.inspect()) == []


def test_a_check_or_an_instrument_that_fails_makes_every_die_unsound_unless_the_die_is_named() -> None:
    table = DiceTable("mo-2010")
    table.receive(dice=4)
    checks = dict.fromkeys(table.context.rules.checks, True)
    data = table.do("inspect", set="A", checks=checks | {"balanced": False})
    assert data["unsound"] == dict.fromkeys("1234", "not of the same weight and balanced")
    data = table.do("inspect", set="A", checks=checks | {"balanced": False}, unsound={"2": "heavier on six"})
    assert (data["unsound"], data["sound"]) == ({"2": "heavier on six"}, ["1", "3", "4"])
    magnet = {"magnet": {"sound": False, "showed": "die 4 moves"}}
    data = table.do("inspect", set="A", checks=checks, instruments=magnet)
    assert data["unsound"] == dict.fromkeys("1234", "magnet: die 4 moves")


def test_an_edge_that_the_micrometer_finds_too_short_makes_that_die_unsound() -> None:
    table = DiceTable("es-1979")
    table.receive(**MARKED)
    data = table.inspect(set="A", edges_hundredths_mm={SERIALS[0]: 2000, SERIALS[1]: 1999})
    assert broken(data) == [("edge", "II.1")]
    assert list(data["unsound"]) == [SERIALS[1]]


def test_what_an_inspection_did_not_look_at_is_named_with_its_article() -> None:
    table = DiceTable("mo-2010")
    table.receive(dice=4)
    data = table.do("inspect", set="A", checks={"balanced": True, "clear_pips": True})
    assert data["not_checked"] == ["equal_edges", "opposite_faces_seven"]
    # art. 1.2: "1) Arestas com o mesmo comprimento; 2) A soma das pintas das faces opostas igual a sete"
    assert broken(data) == [("check:equal_edges", "art. 1.2.1"), ("check:opposite_faces_seven", "art. 1.2.2")]


def test_a_die_that_left_the_table_returns_only_after_inspection_in_macau() -> None:
    # art. 3.4: "Os dados saídos da mesa só podem ser reutilizados após verificação, por um croupier, dos requisitos
    # previstos no n.º 2 do artigo 1.º"
    table = DiceTable("mo-2010")
    table.set_up(dice=5)
    table.do("swap", out=["1"], in_=["3"], reason="die_off_table")
    assert broken(table.do("found", die="1", to="reserve")) == [("after_floor", "art. 3.4")]

    table = DiceTable("mo-2010")
    table.set_up(dice=5)
    table.do("swap", out=["1"], in_=["3"], reason="die_off_table")
    assert broken(table.do("found", die="1")) == []
    assert table.at("inspection") == ["1"]
    data = table.do("inspect", dice=["1"], checks={"balanced": True}, then="reserve")
    assert [rule for rule, _ in broken(data)] == ["check:equal_edges", "check:opposite_faces_seven", "check:clear_pips"]

    table.do("swap", out=["2"], in_=["1"], reason="die_off_table")
    table.do("found", die="2")
    data = table.do("inspect", dice=["2"], checks=dict.fromkeys(table.context.rules.checks, True), then="reserve")
    assert broken(data) == []
    assert data["reason"] == "die_off_table"
    assert "2" in table.at("reserve")


def test_a_die_that_is_put_back_unseen_is_against_the_rule_however_it_is_keyed() -> None:
    table = DiceTable("mo-2010")
    table.set_up(dice=5)
    data = table.do("swap", out=["1"], in_=["3"], reason="die_off_table", to="reserve")
    assert broken(data) == [("after_floor", "art. 3.4")]
    table.do("off_table", dice=["2"])
    data = table.do("correction", places={"2": "play"}, note="it lay in the rail")
    assert broken(data) == [("correction", "house"), ("after_floor", "art. 3.4")]


def test_a_second_set_at_the_table_is_too_many_dice() -> None:
    table = DiceTable("es-1979")
    table.set_up(**MARKED)
    table.receive("B", serials=[serial + "B" for serial in SERIALS], house_mark="CGM")
    data = table.do("place", set="B")
    assert data["against_rule"] == [
        {
            "rule": "in_set",
            "article": "II.1",
            "text": "Set B came to the table while set A was there: 12 dice; the rules ask for 6.",
            "detail": {"set": "B", "others": ["A"], "number": 12, "asked": "6"},
        }
    ]


def test_the_screen_says_what_a_set_needs_before_use() -> None:
    table = DiceTable("es-1979")
    table.receive(dice=5)
    (view,) = table.log.view(table.context)["sets"]
    assert [(need["rule"], need["article"]) for need in view["needs"]] == [
        ("in_set", "II.1"),
        ("serials", "II.1"),
        ("house_mark", "II.1"),
        ("inspection", "III"),
    ]
    table = DiceTable("es-1979")
    table.receive(**MARKED)
    table.inspect(set="A")
    (view,) = table.log.view(table.context)["sets"]
    assert view["needs"] == []
