"""Alerts, broken rules and inspections in the language of the report; what has no words there, in the journal's."""

import re
import string
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from device.dice_control import event_alerts, reserve_conditions, rule_judgement
from device.dice_control.alert_texts import alert_text, article_text, rule_text
from device.dice_control.alert_words import ALERT_PHRASES, ARTICLE_ASIDES, RULE_PHRASES
from device.dice_control.dice_alerts import DICE_ALERTS
from device.dice_control.dice_history import history
from device.dice_control.dice_rules import INSTRUMENTS, NAMES, load
from device.dice_control.event_alerts import count_alerts, latched_alerts
from device.dice_control.log_rows import LogRow, Move
from device.dice_control.report_words import WORDS, Words
from device.dice_control.reserve_conditions import ReserveTimes, conditions
from device.languages.languages import LANGUAGES
from tests.dice_journal import SERIALS, DiceJournal

TRANSLATED = [language for language in LANGUAGES if language != "en"]
ES = Words("es")
AT = datetime(2026, 11, 29, 20, tzinfo=UTC)


def source(module: Any) -> str:
    return Path(module.__file__).read_text(encoding="utf-8")


def parts_of(phrase: str) -> set[str]:
    return {part for _, part, _, _ in string.Formatter().parse(phrase) if part}


# Nothing is left out


def test_every_alert_about_dice_has_words() -> None:
    assert set(ALERT_PHRASES) == set(DICE_ALERTS)
    text = source(reserve_conditions) + source(event_alerts)
    raised = set(re.findall(r'Condition\(\s*f?"([a-z_]+)|f"([a-z_]+):\{', text))
    names = {name for pair in raised for name in pair if name}
    assert names >= {"reserve_left_open", "dice_missing", "against_rule"}
    assert names <= set(DICE_ALERTS)


def test_every_rule_has_words() -> None:
    rules = set(re.findall(r'_broken\(\s*f?"([a-z_]+)', source(rule_judgement)))
    assert rules >= {"in_set", "change", "lid_shut"}
    ours = {"sound_again", "sound_brought", "change_during_series", "change_not_fallen", "change_come_out"}
    assert rules - {"change"} == set(RULE_PHRASES) - ours


@pytest.mark.parametrize("rules", NAMES)
def test_every_check_and_instrument_has_a_word(rules: str) -> None:
    for check in load(rules).checks:
        assert f"check.{check}" in WORDS
    for instrument in INSTRUMENTS:
        assert f"instrument.{instrument}" in WORDS


@pytest.mark.parametrize("phrases", [ALERT_PHRASES, RULE_PHRASES])
def test_a_phrase_has_the_same_parts_in_every_language(phrases: dict[str, Any]) -> None:
    for key, alternatives in phrases.items():
        for said in alternatives:
            assert len(said) == len(TRANSLATED)
            assert [parts_of(phrase) for phrase in said] == [parts_of(said[0])] * len(said), key


@pytest.mark.parametrize("rules", NAMES)
@pytest.mark.parametrize("language", TRANSLATED)
def test_no_article_is_told_in_english(rules: str, language: str) -> None:
    text = Path(rule_judgement.__file__).with_name("rules").joinpath(f"{rules}.json").read_text(encoding="utf-8")
    for article in set(re.findall(r'"(?:instruments_)?article": "([^"]+)"', text)):
        said = article_text(article, Words(language))
        assert not re.search(r"house|kept in force|chosen|with|after", said), article
        assert article_text(article, Words("en")) in (article, "house")


# What is said


def broken(rule: str, row: LogRow | None = None, **detail: Any) -> str:
    said = {"rule": rule, "article": "II.1", "text": "In English.", "detail": detail}
    return rule_text(said, row or LogRow(9, "placed", AT, "synced", set_name="A"), ES)


def test_a_broken_rule_is_told_with_its_numbers() -> None:
    assert broken("in_set", number=5, asked="6") == "Juego A: 5 dados; las normas piden 6."
    assert broken("in_set", number=3, asked="4 to 5") == "Juego A: 3 dados; las normas piden de 4 a 5."
    assert broken("in_set", number=3, asked="at least 5").endswith("las normas piden al menos 5.")
    both = broken("in_set", number=12, asked="6", others=["B", "C"])
    assert both == "Juego A en la mesa junto con B, C: 12 dados; las normas piden 6."
    edge: dict[str, Any] = {"edge_hundredths_mm": 1905, "minimum_hundredths_mm": 2000, "maximum_hundredths_mm": 2500}
    told = "arista de 19.05 mm; las normas piden de 20.00 a 25.00 mm."
    assert broken("edge", **edge) == f"Juego A: {told}"
    assert broken("edge", **edge, dice=["A3"]) == f"Juego A, dado A3: {told}"
    assert broken("inspection", dice=["A1", "A2"]) == "Juego A: usados sin inspección previa: A1, A2."
    assert broken("reuse", session=4) == "El juego A ya sirvió en la sesión 4."
    assert broken("check:flush_pips") == "Sin comprobar: puntos no ahuecados."
    assert broken("instrument:magnet") == "Inspeccionados sin: imán."


def test_a_change_is_told_with_reason_and_point() -> None:
    row = LogRow(9, "swap", AT, "synced", set_name="A", reason="shooter_request", point=6)
    when = "durante la serie del punto 6"
    assert broken("change", row) == f"No hay cambio de dados (petición del tirador) {when}."
    said = broken("change", row, reason="die_off_table", point=6, fell=False)
    assert said.startswith(f"No hay cambio de dados (dado fuera de la mesa) {when}: según el registro")
    assert broken("change", row, reason="new_set", point=None).endswith("antes de la tirada de salida.")


def test_an_unsound_die_that_is_called_sound_is_told_otherwise_than_one_that_is_used() -> None:
    inspected = LogRow(9, "inspected", AT, "synced", set_name="A")
    told = "Juego A: dados por buenos tras hallarse defectuosos: A1 (antes: chipped)."
    assert broken("sound", inspected, dice=["A1"], before="chipped") == told
    placed = LogRow(9, "placed", AT, "synced", set_name="A", moves=(Move("A", "A1", "store", "reserve"),))
    assert broken("sound", placed, dice=["A1"]) == "Juego A: hallados defectuosos y llevados a la mesa: A1."
    used = LogRow(9, "swap", AT, "synced", set_name="A", moves=(Move("A", "A1", "reserve", "play"),))
    assert broken("sound", used, dice=["A1"]) == "Juego A: hallados defectuosos y usados: A1."


def test_with_less_detail_less_is_told_and_without_words_it_is_english() -> None:
    assert broken("in_set") == "El número de dados del juego A en la mesa no es el que piden las normas."
    assert broken("a_rule_to_come", number=1) == "In English."
    assert broken("serials", LogRow(9, "placed", AT, "synced")) == "In English.", "of which set, nobody knows"
    row = LogRow(9, "placed", AT, "synced", set_name="A")
    said = {"rule": "serials", "article": "II.1", "text": "In English."}
    assert rule_text(said, row, Words("en")) == "In English."
    assert rule_text(said, row, ES) == "Los dados del juego A no llevan número de serie."


def alert(name: str, about: LogRow | None = None, **detail: Any) -> str:
    row = LogRow(9, "alert_raised", AT, "synced", alert=name, text="In English.", detail=detail, about=about)
    assert alert_text(row, Words("en")) == "In English."
    return alert_text(row, ES)


def test_an_alert_is_told_with_what_it_is_about() -> None:
    opened: dict[str, Any] = {"opening": 7, "roll_number": 3, "shooter": "1"}
    once = "La reserva se abrió tras la tirada 3 (tirador 1; evento 7)"
    assert alert("reserve_unexplained:7", **opened, further=0).startswith(f"{once} y nadie dio el motivo.")
    assert alert("reserve_unexplained:7", **opened, further=4).startswith(f"{once}, y otras 4 veces después")
    assert alert("reserve_unexplained:7", opening=7, shooter=None).startswith("La reserva se abrió (evento 7)")
    assert alert("reserve_left_open", opening=7, open_max_ms=60_000).startswith("La reserva lleva abierta más de 60 s.")
    assert alert("reserve_left_open", opening=7).startswith("La reserva lleva abierta más de lo permitido.")
    assert alert("slots_disagree", occupied=[1, 2], log=["A3"]).startswith(
        "En los huecos de la reserva hay 2 dados; según el registro, 1: A3."
    )
    assert alert("slots_disagree", occupied=[1, 2], log=[]).startswith(
        "En los huecos de la reserva hay 2 dados; según el registro, ninguno."
    )
    assert "huecos 1, 2 > ninguno" in alert("slots_changed_shut:5", event=5, before=[1, 2], after=[])
    assert alert("dice_missing:A", set="A", dice=["A1", "A2"]).startswith("Faltan del juego A: A1, A2.")
    kept = "Orden de 9 de octubre de 1979, II.1 (kept in force by the decree's transitional provision)"
    replaced = alert("set_to_replace:A", set="A", dice=["A1"], at_hand=5, asked="6", article=kept)
    assert "5 dados; las normas piden 6 (II.1)." in replaced
    assert alert("an_alert_to_come", set="A") == "In English."


def test_a_count_s_alert_names_its_set_and_count() -> None:
    difference = [{"die": "A1", "log": "reserve", "seen": None}]
    told = "dado A1: según el registro en la reserva, visto en ningún lugar."
    count = LogRow(8, "count_closing", AT, "synced", set_name="A")
    said = alert("count_differs:8", count, event=8, difference=difference)
    assert said == f"Recuento de cierre del juego A: difiere del registro: {told}"
    assert alert("count_differs:8", event=8, difference=difference) == f"Un recuento difiere del registro: {told}"


# What the terminal raises itself


def raised(rules: str) -> list[LogRow]:
    """Alerts of many kinds, as they are raised, in a journal under these rules."""
    journal = DiceJournal(rules, "2026-11-29T20:00:00.000Z")
    journal.do("on_duty", boxman="Ana", witness="Luis")
    for name in "AB":
        journal.receive(name, dice=4)
    journal.receive("C", serials=SERIALS)
    journal.lid(True)
    for name in "AB":
        journal.do("place", set=name)
    journal.do("change", set="A", taken=["1", "2"])
    journal.do("inspect", set="B", dice=["1"], checks={}, unsound={"1": "chipped"})
    journal.game(point=4, roll_number=1, rolls_in_series=1)
    journal.do("swap", set="A", out=["1"], in_=["3"], reason="shooter_request")
    journal.do("count", set="B", count="check", seen={"reserve": ["1", "9"]})
    journal.do("missing", set="B", dice=["2"])
    journal.game(session_number=7, roll_number=9, rolls_in_series=0, point=None, throwing=True)
    journal.log.take("roll", {}, 10_000)
    alerts = [
        (name, text, detail)
        for seq, (kind, data) in enumerate(journal.events, 1)
        for name, text, detail in latched_alerts(kind, data, seq)
    ]
    alerts += count_alerts(journal.log.state, 8)
    alerts += [
        (said.alert, said.text, said.detail) for said in conditions(journal.log, journal.context, ReserveTimes())
    ]
    for name, text, detail in alerts:
        journal.append("alert_raised", {"alert": name, "text": text, "detail": detail, "latched": False})
    return [row for row in history(journal.journal).rows if row.what == "alert_raised"]


@pytest.mark.parametrize("rules", NAMES)
def test_no_alert_that_the_terminal_raises_is_told_in_english(rules: str) -> None:
    rows = raised(rules)
    assert {row.alert_family for row in rows} >= {"against_rule", "count_differs", "no_opening_count", "dice_missing"}
    for language in TRANSLATED:
        for row in rows:
            said = alert_text(row, Words(language))
            assert said != row.text
            english = re.search(r"\b(the|of set|was|were|not|and|dice|asks?)\b", said)
            assert english is None, said


def test_asides_are_told_in_every_language() -> None:
    assert all(len(said) == len(TRANSLATED) for said in ARTICLE_ASIDES.values())
