"""The catalogues are whole: nothing untranslated, nothing obsolete, and all parts where they belong."""

import re
import string
from io import BytesIO

import pytest
from babel.messages.catalog import Message
from babel.messages.pofile import read_po

from device.languages.catalogues import BET, SAID, catalogue, file_of, key_of
from device.languages.languages import LANGUAGES, language_of, locale_of
from device.languages.page_module import chosen_language, words_module
from device.languages.said import amount_text, bet_name, said
from drivers import virtual_faults
from engine_lite import rule_sets
from engine_lite.rule_compiler import compile_rules
from tests.catalogue_rig import PLURALS, ROOT, TRANSLATED, asked, extracted, is_of_the_terminal, messages, scripts
from tests.said_sentences import PART, SPEAKERS, sentences

FORMS = {"es": 2, "pt": 2, "zh-Hant": 1}
# A text of the source that is a part of a longer sentence only, which EXAMPLES has whole.
PIECES = {
    "a bet",
    " and ",
    " or ",
    ", X9 times",
    ", or press the buttons again to lift the marker",
    "; X9 too many",
    "; one of this number is X9, in set X9",
    "; the I/O node has firmware X9, configuration X9",
    "Box X9 is marked X9: these rules have no X9 bet. X9X9.",
    "Box X9 is marked X9: take the commission and enter the X9 bet, or X9.",
    "The I/O node does not answer; look at its cable. X9X9",
    "The clock was set X9 by X9; X9",
    "The disk was fullX9, and nothing was recorded meanwhile. Enter what was thrown then; count the dice, and hold the "
    "bets on the layout against those on the screen.",
    "The pucks disagree. X9. Both belong X9.",
    "X9 and X9",
    "X9 was keyed X9. It is not counted; if it was another throw, enter it now.",
    "X9 was pressed for box X9, which has no bets. Enter the bet that lies thereX9.",
    "X9 writes it off",
    "X9, and no die X9X9",
    "X9, beside the reserve",
    "X9, but X9. Put it X9.",
    "after roll X9: X9",
    "wrong PIN; X9 more X9",
    "X9, too little for the reserve; make room before the table stops",
    "X9; older than version X9, which ran before",
    "X9X9 is on X9",
    " Enter dice on the screen: keys pressed now count later, but not once a throw is entered here.",
    "X9 would be in play, not X9; in play now: X9",
    "back to the store",
    "does not wait for a reason",
    "must hold a letter: X9",
    "must not hold X9: X9",
    "no opening of the reserve",
    "not X9",
    "order and durations are not concerned.",
    "press the buttons again to lift the marker",
    "set X9 has X9 dice, X9",
    "set X9 is to have X9 dice, but X9 serials are givenX9",
    "the opening of event X9",
    "the point is X9",
    "there is no point",
    "to the X9 ones",
    "waits for a reason",
    "was counted last in X9",
    "was not counted yet",
    "while the I/O node was away, and a throw was entered on the screen since",
    "while the disk was full and nothing was accepted",
}
# Sentences put together, as they are said.
EXAMPLES = (
    "the shooter, 3, needs a bet before a come-out roll",
    "the shooter, 3, needs Pass Line or Don't Pass before a come-out roll",
    "The pucks disagree. The first puck is on 6. No sensor sees the second puck: it is lifted, or lies with the wrong "
    "face up. Both belong on its OFF place, OFF face up.",
    "The puck is on 6, but the point is 8. Put it on 8, ON face up.",
    "The puck is on OFF, but there is no point. Put it on its OFF place, OFF face up.",
    "The sensors of the puck on 4 and 5 answer at once. Look for a second magnet on the layout; if there is none, a "
    "sensor is faulty: call a technician. The puck belongs on 4, ON face up.",
    "ON was pressed for box 4, which has no bets. Enter the bet that lies there.",
    "BUY was pressed for box 4, which has no bets. Enter the bet that lies there, or press the buttons again to lift "
    "the marker.",
    "Box 4 is marked BUY: these rules have no buy bet. Press the buttons again to lift the marker.",
    "Box 4 is marked LAY: take the commission and enter the lay bet, or press the buttons again to lift the marker.",
    "The I/O node does not answer; look at its cable. What it reads is not seen: the puck, the dice keys. Enter dice "
    "on the screen: keys pressed now count later, but not once a throw is entered here.",
    "The I/O node does not answer; look at its cable. Its lamps are dark.",
    "Stuck, and left out of account: the button of box 9, dice key 3 and the lamp of the ON button. Call a technician.",
    "The clock was set back by 3 h 2 min; order and durations are not concerned.",
    "The clock was set forward by 20424 d 1 min; order and durations are not concerned.",
    "The disk was full, 2 times, and nothing was recorded meanwhile. Enter what was thrown then; count the dice, and "
    "hold the bets on the layout against those on the screen.",
    "A take-back was keyed while the disk was full and nothing was accepted. It is not counted; if it was another "
    "throw, enter it now.",
    "4-3 was keyed while the I/O node was away, and a throw was entered on the screen since. It is not counted; if it "
    "was another throw, enter it now",
    "set A has 6 dice, 1, 2, 3, 4, 5, 6, and no die 7; one of this number is in the store, in set B",
    "set A has 6 dice, 1, 2, 3, 4, 5, 6, and no die 7",
    "die 3 of set A is in the store, not in play or in the reserve",
    "1 die would be in play, not 2; in play now: 3 of set A",
    "3 dice would be in play, not 2; in play now: 3 of set A, 4 of set A",
    "set A is to have 2 dice, but 3 serials are given; 4713 too many",
    "set A is to have 3 dice, but 2 serials are given",
    "no opening of the reserve waits for a reason",
    "the opening of event 12 does not wait for a reason",
    "event 12 is not the last count of set A, which was not counted yet",
    "event 12 is not the last count of set A, which was counted last in 14",
    "die 3 of set A is missing: nobody has it; record that it is found, or a supervisor writes it off",
    "no die of set A is in the reserve, in play, so none can go back to the store",
    "no die of set A is withdrawn, so none can go to the cancelled ones",
    "die 3 is called unsound, but the check sound (in good state) is good; say which check or instrument it failed",
    "Roll 17 was corrected to 4-3. Hand out 20 to 3, 15 to Ana. Take back 5 from 8. Put the bets as the screen shows "
    "them.",
    "wrong PIN; 1 more try",
    "wrong PIN; nothing is tried for 30 seconds",
    "62517 MiB free, beside the reserve",
    "12 MiB free, too little for the reserve; make room before the table stops",
    "version 0.1.0, configuration 33046028d24b; older than version 0.2.0, which ran before",
    "31 inputs and 16 lamps; the I/O node has firmware 2.0, configuration 74b6",
    "must hold a letter: a name is of Latin letters, Chinese characters, digits, spaces and ' - . , ·",
)
# Of the terminal's own faults, which no screen shows, or only beside words that tell what to do.
UNTOLD = re.compile(r"event X9 .*|the table (has|was) never (been )?opened|X9 is no event of people")
ENGLISH = re.compile(r"\b(the|of|is|are|was|not|with|must|by|and|its)\b")


def forms(message: Message) -> tuple[str, ...]:
    return (message.string,) if isinstance(message.string, str) else tuple(message.string or ())


def bets_of(name: str) -> set[str]:
    """The names that a rule set has for its bets."""
    rules = compile_rules(rule_sets.load(name))
    return {rule.name for kind in rules.kinds if (rule := rules.one(kind)) is not None}


def parts(text: str) -> list[str]:
    return sorted({name for _, name, _, _ in string.Formatter().parse(text) if name is not None})


# The catalogues


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_catalogue_has_what_the_pages_ask_for_and_nothing_else(language: str) -> None:
    has = {
        (message.id if isinstance(message.id, tuple) else (message.id,), message.context)
        for message in messages(language)
        if not is_of_the_terminal(message.context)
    }
    wanted = {(one.english, one.context): one.place for one in asked()}
    missing = [f"{place}: {one[0]}" for one, place in wanted.items() if one not in has]
    assert missing == [], "run: python -m tests.catalogue_rig"
    assert has - set(wanted) == set(), "asked for by no page"


@pytest.mark.parametrize("language", TRANSLATED)
def test_everything_is_translated_with_all_its_parts(language: str) -> None:
    for message in messages(language):
        english = (message.id,) if isinstance(message.id, str) else tuple(message.id)
        said_here = forms(message)
        assert all(said_here), f"untranslated: {english[0]}"
        assert not message.fuzzy, english
        assert len(said_here) == (FORMS[language] if len(english) > 1 else 1), english
        for words in said_here:
            # What counts one thing may say so without the number.
            left_out = {"count"} if len(said_here) > 1 and words == said_here[0] else set()
            assert set(parts(english[-1])) - left_out == set(parts(words)) - left_out, english
            assert words == words.strip() or english[0] != english[0].strip(), english


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_catalogue_s_head_says_how_its_language_counts(language: str) -> None:
    with file_of(language).open("rb") as file:
        head = read_po(BytesIO(file.read()))
    assert dict(head.mime_headers)["Plural-Forms"].rstrip(";") in PLURALS.get(language, PLURALS["en"])
    assert head.num_plurals == FORMS[language]


def test_every_call_for_words_is_found() -> None:
    # A call within another call or a template is not found by the extractor: give its words a name before.
    for path in scripts():
        text = re.sub(r"^\s*(//|\*|/\*).*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        calls = len(re.findall(r"(?<![\w.])t[nc]?\(\s*[\"'`]", text))
        assert calls == len(list(extracted(path))), path.name


def test_the_pages_markup_names_words_that_there_are() -> None:
    for path in ROOT.glob("device/console/pages/*.html"):
        text = path.read_text(encoding="utf-8")
        body = re.sub(r"<!--.*?-->|<noscript>.*?</noscript>|<title>.*?</title>", "", text, flags=re.DOTALL)
        assert not re.findall(r">\s*([^<>\s?→][^<>]*[a-z]{2}[^<>]*)<", body), f"{path.name}: words belong into a script"


def test_what_is_said_when_the_catalogues_are_dead_is_said_in_every_language() -> None:
    watchdog = (ROOT / "device/console/pages/watchdog.js").read_text(encoding="utf-8")
    words = watchdog.partition("const WORDS = {")[2].partition("};")[0]
    assert re.findall(r'^ *"?([\w-]+)"?: \["[^"]+", "[^"]+"\],$', words, re.MULTILINE) == list(LANGUAGES)


# What the terminal says


@pytest.mark.parametrize("language", TRANSLATED)
@pytest.mark.parametrize("path", SPEAKERS)
def test_every_sentence_of_the_terminal_is_known(path: str, language: str) -> None:
    for line, text in sentences(path):
        if text not in PIECES and not UNTOLD.fullmatch(text):
            text = text.replace(PART, "9")
            assert said(text, language, "us-vegas") != text, f"{path}:{line}"


@pytest.mark.parametrize("language", TRANSLATED)
def test_sentences_that_are_put_together_are_known_as_a_whole(language: str) -> None:
    for text in EXAMPLES:
        told = said(text, language, "us-vegas").replace("boxman node install", "")
        assert not ENGLISH.search(re.sub(r"\bsound \(in good state\)|ON|OFF", "", told)), told


def test_whoever_refuses_or_raises_an_alert_is_heard() -> None:
    # The alerts about dice are told out of their detail (tests/test_report_language.py).
    by_detail = {f"device/dice_control/{name}.py" for name in ("reserve_conditions", "event_alerts")}
    # Where they are defined and handed on.
    by_others = {"device/alert_watch.py", "device/console/journal_questions.py"}
    for layer in ("device", "engine_lite"):
        for path in (ROOT / layer).rglob("*.py"):
            name = str(path.relative_to(ROOT))
            if re.search(r"\braise Refused\(|\bCondition\(\n? *f?\"|raise_alert\(", path.read_text(encoding="utf-8")):
                assert name in {*SPEAKERS, *by_detail, *by_others}, name


@pytest.mark.parametrize("language", TRANSLATED)
def test_no_sentence_is_taken_for_another(language: str) -> None:
    for message in messages(language):
        if message.context == SAID and isinstance(message.id, str) and isinstance(message.string, str):
            filled = dict.fromkeys(parts(message.id), "9")
            told = said(message.id.format_map(filled), language, "us-vegas")
            assert told == message.string.format_map(filled)


def test_no_piece_is_listed_that_is_said_no_more() -> None:
    spoken = {text for path in SPEAKERS for _, text in sentences(path)}
    assert spoken >= PIECES


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", rule_sets.NAMES)
def test_a_rule_set_is_told_in_every_language(name: str, language: str) -> None:
    data = rule_sets.load(name)
    rules = compile_rules(data)
    words = catalogue(language)
    for bet in bets_of(name):
        known = key_of(bet, f"{BET} {name}") in words or key_of(bet, BET) in words
        # English, numbers and dice that hop need no words of their own.
        assert known or language == "en" or bet.isdecimal() or bet.startswith("Hop "), bet
    source = data["dice_pass"]["source"]
    for text in (rules.title, source, *rules.warnings, *(option["about"] for option in data["options"].values())):
        assert key_of(text, SAID) in words or language == "en", text
    for reason in data["no_roll"]:
        assert key_of(reason.replace("_", " ").capitalize(), SAID) in words or language == "en", reason


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_bet_is_named_that_no_rule_set_has(language: str) -> None:
    has = {(f"{BET} {rules}", bet) for rules in rule_sets.NAMES for bet in bets_of(rules)}
    for message in messages(language):
        if message.context == BET:
            assert message.id == "a bet" or (f"{BET} us-vegas", message.id) in has, message.id
        elif message.context and message.context.startswith(BET):
            assert (message.context, message.id) in has, message.id


@pytest.mark.parametrize("language", TRANSLATED)
def test_the_virtual_table_s_faults_are_told(language: str) -> None:
    for kind in virtual_faults.CATALOGUE.values():
        assert said(kind.about, language, "us-vegas") != kind.about


def test_a_sentence_is_told_with_its_parts() -> None:
    assert said("the minimum is 12500", "es", "es-1979") == "el mínimo es 12.500"
    assert said("Win may not be reduced now", "es", "es-1979") == "Win: ahora no se puede reducir"
    assert said("Linea de Pase may not be reduced now", "es", "cl-scj") == "Línea de pase: ahora no se puede reducir"
    assert said("There is no roll to take back.", "es", "es-1979") == "No hay tirada que corregir."
    assert said("There is no roll to take back.", "zh-Hant", "mo-2010") == "沒有可更正的擲骰。"
    told = said("the shooter, Ana, needs Pass Line or Don't Pass before a come-out roll", "zh-Hant", "us-vegas")
    assert told == "擲骰者 Ana 首擲前須下過關線或不過關線"
    several = (
        "Cannot be used: the puck sensor on 4, dice key 3 and the switch of the lid. Call a technician; all else works."
    )
    assert said(several, "pt", "mo-2010") == (
        "Não se pode usar: o sensor do disco em 4, tecla dos dados 3 e o contacto da tampa. Chamar o técnico; o resto "
        "funciona."
    )


def test_what_no_catalogue_knows_is_told_as_it_was_said() -> None:
    assert said("Something that nobody foresaw.", "es", "es-1979") == "Something that nobody foresaw."
    mixed = "Something that nobody foresaw. There is no roll to take back."
    assert said(mixed, "es", "es-1979") == "Something that nobody foresaw. No hay tirada que corregir."
    assert said("", "es", "es-1979") == ""


def test_a_name_that_reads_like_a_bet_or_a_sentence_s_part_stays() -> None:
    said_of = "Field has acknowledged this alert already"
    assert said(said_of, "es", "us-vegas") == "Field ya atendió esta alerta"


def test_english_has_its_own_words_with_numbers_and_bets_as_the_screen_writes_them() -> None:
    assert said("the minimum is 12500", "en", "us-vegas") == "the minimum is 12,500"
    assert said("Juego de 7 always works", "en", "es-1979") == "Any Seven always works"
    assert said("Something that nobody foresaw.", "en", "us-vegas") == "Something that nobody foresaw."


@pytest.mark.parametrize(
    ("rules", "language", "name", "expected"),
    [
        ("es-1979", "es", "Win", "Win"),
        ("es-1979", "en", "Asociada al Win", "Win Odds"),
        ("cl-scj", "es", "Linea de Pase", "Línea de pase"),
        ("cl-scj", "en", "Linea de Pase", "Pass Line"),
        ("pe-1999", "es", "Pass Line (Linea Ganadora)", "Línea Ganadora"),
        ("mo-2010", "pt", "Aposta adicional Come", "Aposta adicional Come"),
        ("mo-2010", "zh-Hant", "Pass Line", "過關線"),
        ("us-vegas", "es", "Pass Line", "Línea de pase"),
        # A house's own rules: a name that is the language's own is translated, one of its own stays.
        ("house", "zh-Hant", "Field", "場地注"),
        ("house", "zh-Hant", "All Small", "All Small"),
    ],
)
def test_a_bet_is_named_as_the_regulation_names_it_in_the_language(
    rules: str, language: str, name: str, expected: str
) -> None:
    assert bet_name(name, rules, language) == expected


def test_amounts_are_written_as_in_the_place_of_the_rules() -> None:
    assert amount_text(1234567, "es", "es-1979") == "1.234.567"
    assert amount_text(1234567, "es", "pe-1999") == "1,234,567"
    assert amount_text(1234567, "pt", "mo-2010") == "1\u00a0234\u00a0567"
    assert amount_text(1234567, "zh-Hant", "es-1979") == "1,234,567"
    assert (locale_of("es", "cl-scj"), locale_of("pt", "house")) == ("es-CL", "pt")


# Which language


def test_a_browser_s_choice_goes_before_the_table_s_language() -> None:
    assert chosen_language({"language": "zh-Hant"}, "es") == "zh-Hant"
    assert chosen_language({}, "es") == "es"
    assert chosen_language({"language": "xx"}, "es") == "es"
    of_rules = {name: language_of(name) for name in rule_sets.NAMES}
    spanish = dict.fromkeys(("cl-scj", "es-1979", "es-md-2004", "pe-1999"), "es")
    assert of_rules == spanish | {"mo-2010": "pt", "us-vegas": "en"}


def test_a_page_is_given_its_own_words_only() -> None:
    module = words_module("es", "cl-scj")
    assert 'export const LANGUAGE = "es";' in module
    assert 'export const LOCALE = "es-CL";' in module
    assert '"Collect": "Recoger"' in module
    assert '["1 alerta", "{count} alertas"]' in module
    assert "the minimum is" not in module
    assert "export const WORDS = {};" in words_module("en", "us-vegas")
