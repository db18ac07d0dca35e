"""What a name may be written with, and which names are one person, one maker, one set or one serial number."""

import pytest

from device.console.requests import BadRequest, parse_acknowledge
from device.dice_control.dice_actions import ActionError, parse_action
from device.dice_control.names import folded, folded_mark, mark_fault, person_fault, same_mark, same_name, text_fault
from engine_lite.refusal import Refused
from tests.dice_table import SERIALS, DiceTable

ALLOWED = "a name is of Latin letters, Chinese characters, digits, spaces and ' - . , ·"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ana", "ANA"),
        ("Ana", "Ana."),
        ("Ana", "A na"),
        ("Ana", "Ana\u0323"),
        ("Ana", "\uff21na"),
        ("Jos\u00e9", "Jose\u0301"),
        ("Jos\u00e9", "Jose"),
        ("O'Brien", "O\u2019Brien"),
        ("O'Brien", "O\u02bcBrien"),
        ("O'Brien", "OBrien"),
        ("Ana-Ruiz", "Ana\u2010Ruiz"),
        ("Ana-Ruiz", "Ana Ruiz"),
        ("Luis", "Lu1s"),
        ("Luis", "LuIs"),
        ("Ilia", "llia"),
        ("Otto", "0tto"),
        ("M.\u00aa Ruiz", "Ma Ruiz"),
        ("Stra\u00dfe", "STRASSE"),
        ("\u0141ukasz \u00d8st", "Lukasz Ost"),
        ("\u9673\u5927\u6587", "\u9673 \u5927\u6587"),
        # A compatibility ideograph, canonically the same.
        ("\u8c48", "\uf900"),
    ],
)
def test_names_that_read_alike_are_one_person(one: str, other: str) -> None:
    assert person_fault(one) is None
    assert person_fault(other) is None
    assert same_name(one, other)
    assert not same_name(one, "Eva")


@pytest.mark.parametrize(
    ("one", "other"), [("Ana", "Anna"), ("Luis", "Louis"), ("\u9673\u5927\u6587", "\u9673\u5927\u660e"), ("Eva", "Ewa")]
)
def test_names_that_read_otherwise_are_two_people(one: str, other: str) -> None:
    assert not same_name(one, other)


def test_what_an_earlier_version_took_is_compared_all_the_same() -> None:
    assert same_name("Ana", "A\u3164na")
    assert same_name("Ana", "Ana\u2800")
    assert same_name("Ana", "An\u200ba")
    assert same_name("Ana", "Ana\U00016fe4")
    assert same_mark("004711", "\u0660\u0660\u0664\u0667\u0661\u0661")
    assert same_mark("004711", "\uff10\uff10\uff14\uff17\uff11\uff11")
    assert same_mark("A", "A\u0323")
    assert folded("\u3164.") == ""


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("\u0410na", "CYRILLIC CAPITAL LETTER A (U+0410)"),
        ("An\u0430", "CYRILLIC SMALL LETTER A (U+0430)"),
        ("Lu\u0456s", "CYRILLIC SMALL LETTER BYELORUSSIAN-UKRAINIAN I (U+0456)"),
        ("\u0391na", "GREEK CAPITAL LETTER ALPHA (U+0391)"),
        ("\u1d00na", "LATIN LETTER SMALL CAPITAL A (U+1D00)"),
        ("\u0251na", "LATIN SMALL LETTER ALPHA (U+0251)"),
        ("Ana\u0661", "ARABIC-INDIC DIGIT ONE (U+0661)"),
        ("Lu|s", "VERTICAL LINE (U+007C)"),
        ("Ana<b>", "LESS-THAN SIGN (U+003C)"),
        ("Ana\U0001d159", "MUSICAL SYMBOL NULL NOTEHEAD (U+1D159)"),
        ("Ana\U00016fe4", "KHITAN SMALL SCRIPT FILLER (U+16FE4)"),
        ("Ana\ufffc", "OBJECT REPLACEMENT CHARACTER (U+FFFC)"),
        ("Ana\u3164", "HANGUL FILLER (U+3164)"),
        ("Ana\ufe0f", "VARIATION SELECTOR-16 (U+FE0F)"),
        ("Ana\u034f", "COMBINING GRAPHEME JOINER (U+034F)"),
        ("Ana\u0345", "COMBINING GREEK YPOGEGRAMMENI (U+0345)"),
        ("Ana\u05bc", "HEBREW POINT DAGESH OR MAPIQ (U+05BC)"),
        ("Ana\u3099", "COMBINING KATAKANA-HIRAGANA VOICED SOUND MARK (U+3099)"),
        ("Ana\u00a0Ruiz", "NO-BREAK SPACE (U+00A0)"),
        ("A\u202ena", "RIGHT-TO-LEFT OVERRIDE (U+202E)"),
        ("Ana\u0378", "U+0378"),
        ("Ana\ud800", "U+D800"),
        # A mark belongs to a letter.
        ("\u0323", "COMBINING DOT BELOW (U+0323)"),
        ("Ana \u0323", "COMBINING DOT BELOW (U+0323)"),
    ],
)
def test_a_character_that_no_name_has_is_named(name: str, said: str) -> None:
    assert person_fault(name) == f"must not hold {said}: {ALLOWED}"


@pytest.mark.parametrize("name", [".", "12", "-", "1 2"])
def test_a_name_holds_a_letter(name: str) -> None:
    assert person_fault(name) == f"must hold a letter: {ALLOWED}"


@pytest.mark.parametrize("name", ["", " Ana", "Ana ", "A" * 41, 7, None, ["Ana"]])
def test_a_name_is_one_line(name: object) -> None:
    assert person_fault(name) == "must be 1 to 40 visible characters without spaces around them"
    assert person_fault("A" * 40) is None


@pytest.mark.parametrize("mark", ["A", "004711", "12-A", "2026.11/3_b", "x" * 40])
def test_a_mark_is_of_ascii_letters_digits_and_few_signs(mark: str) -> None:
    assert mark_fault(mark) is None


@pytest.mark.parametrize("mark", ["", "-", "A 1", "\u0392", "\u0410", "\uff21", "\u0664", "A\n", "A|", "x" * 41, 4711])
def test_another_mark_is_refused(mark: object) -> None:
    assert mark_fault(mark) == "must be 1 to 40 of A to Z, a to z, 0 to 9, - . / and _, a letter or digit among them"


def test_the_signs_of_a_mark_tell_marks_apart() -> None:
    assert folded_mark("1/12") != folded_mark("11/2")
    assert same_mark("OO4712", "004712")
    assert same_mark("aIl", "A11")
    assert not same_mark("A-1", "A1")


@pytest.mark.parametrize("text", ["\u9ab0\u5b50", "\u0391\u03b8\u03ae\u03bd\u03b1", "Bold & Co. <1>", "\u2605"])
def test_a_maker_is_free_text(text: str) -> None:
    assert text_fault(text) is None


@pytest.mark.parametrize("text", ["Bold\u3164", "\u0323", "Bo\ufffcld", "Bold\u200b", "\U0001d159", "Bold\ufe0f"])
def test_free_text_holds_nothing_that_does_not_show(text: str) -> None:
    assert text_fault(text) == "must be 1 to 40 visible characters without spaces around them"


@pytest.mark.parametrize(
    ("action", "field"),
    [
        ({"on_duty": {"boxman": "Eva", "witness": "\u0410na"}}, "on_duty.witness"),
        ({"on_duty": {"boxman": "\u0410na", "witness": "Eva"}}, "on_duty.boxman"),
        ({"missing": {"dice": ["1"], "done_by": "\u0410na"}}, "missing.done_by"),
        ({"missing": {"dice": ["1"], "seen_by": "\u0410na"}}, "missing.seen_by"),
        ({"offer": {"asked_by_name": "\u0410na"}}, "offer.asked_by_name"),
        ({"explain": {"reason": "count", "as": "supervisor", "done_by": "\u0410na"}}, "explain.done_by"),
    ],
)
def test_every_name_of_an_action_is_looked_at(action: object, field: str) -> None:
    with pytest.raises(ActionError, match="CYRILLIC CAPITAL LETTER A") as error:
        parse_action(action)
    assert error.value.field == field


def test_so_is_the_name_under_an_acknowledgement() -> None:
    body = {"id": "12345678", "alert": "x", "raised": 1}
    assert parse_acknowledge(body | {"name": "Eva"}).name == "Eva"
    with pytest.raises(BadRequest, match="CYRILLIC CAPITAL LETTER A") as error:
        parse_acknowledge(body | {"name": "\u0410na"})
    assert error.value.field == "name"


def test_a_set_or_a_serial_that_reads_like_another_is_there_already() -> None:
    table = DiceTable()
    table.receive("A1", serials=SERIALS)
    for name in ("\u0391", "\u0410"):
        with pytest.raises(ActionError, match="A to Z"):
            table.receive(name)
    with pytest.raises(Refused, match="set A1 was received already"):
        table.receive("aI")
    with pytest.raises(Refused, match="serial 004712 of Bold is in the store already, in set A1"):
        table.receive("B", 2, serials=["OO4712", "x"])
    with pytest.raises(ActionError, match="names OO4799, which reads like 004799"):
        table.receive("B", 2, serials=["004799", "OO4799"])
    table.do("remove", set="A1", to="destroyed", reason="closing")
    with pytest.raises(Refused, match="a set A1 was received before, and destroyed"):
        table.receive("AL")
    data = table.receive("B", 2, serials=["OO4712", "x"])
    assert [said["rule"] for said in data["against_rule"] if said["rule"] == "destroyed"] == ["destroyed"]


def test_a_set_that_an_earlier_version_named_otherwise_is_still_referred_to() -> None:
    table = DiceTable()
    data = table.receive("B", 5)
    table.take("dice_set_received", data | {"set": "Juego \u0392 7", "dice": ["1l", "11"]})
    table.inspect(set="Juego \u0392 7")
    assert table.do("place", set="Juego \u0392 7")["set"] == "Juego \u0392 7"
    assert table.do("change", set="Juego \u0392 7", taken=["1l", "11"])["moves"]
