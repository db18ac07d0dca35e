"""What the terminal has said in English (and keeps so in its journal), in the language of a screen.

The engine and the journal compose sentences out of parts: "the minimum is 5". The catalogues hold such sentences with
their parts in braces; here a sentence is recognised, and its parts are put into the words of the language. What no
catalogue knows is told as it was said.

What a part is called says what it is: `bet...` the name of a bet, `amount...` an amount in chip units, anything else a
name, a number or another sentence, or several of them.
"""

import re
import string
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from babel import Locale, UnknownLocaleError
from babel.numbers import format_decimal

from device.languages.catalogues import BET, CONTEXT_END, SAID, catalogue, key_of
from device.languages.languages import locale_of

AMOUNT: Final = "amount"
# Between two sentences, or two parts of one.
_ENDS = re.compile(r"(?<=[.;:]) ")
# A part does not reach beyond a sentence.
_A_PART = r"(?:(?!\. ).)+?"
_AN_AMOUNT = r"\d+"
# Between the last two of several names, and between others.
_JOINTS: Final = {
    "en": (" and ", " or ", ", "),
    "es": (" y ", " o ", ", "),
    "pt": (" e ", " ou ", ", "),
    "zh-Hant": ("及", "或", "、"),
}
_SEVERAL = re.compile("|".join(_JOINTS["en"]))
# Any catalogue that is whole has all sentences.
_HAS_ALL: Final = "es"
# Sentences that were told lately; a screen asks for the same ones again and again.
_REMEMBERED = 512


@dataclass(frozen=True)
class _Sentence:
    english: str
    begins: str  # up to its first part
    fixed: int  # how much of it is no part
    words: str


@cache
def _sentences(language: str) -> tuple[_Sentence, ...]:
    """The sentences of a language, those first that leave least to their parts. English has them as they are."""
    begin = SAID + CONTEXT_END
    found = []
    for key, words in catalogue(_HAS_ALL if language == "en" else language).items():
        if key.startswith(begin) and isinstance(words, str):
            english = key.removeprefix(begin)
            literals = [literal for literal, _, _, _ in string.Formatter().parse(english)]
            fixed = sum(map(len, literals))
            found.append(_Sentence(english, literals[0], fixed, english if language == "en" else words))
    return tuple(sorted(found, key=lambda sentence: -sentence.fixed))


@cache
def _pattern(english: str) -> re.Pattern[str]:
    """Made when a text begins like it: all of them together take a small computer a good part of a second."""
    pattern = ""
    for literal, field, _, _ in string.Formatter().parse(english):
        pattern += re.escape(literal)
        if field is not None:
            pattern += f"(?P<{field}>{_AN_AMOUNT if field.startswith(AMOUNT) else _A_PART})"
    return re.compile(pattern, re.DOTALL)


@lru_cache(_REMEMBERED)
def said(text: str, language: str, rules: str) -> str:
    """A text of the terminal in one of LANGUAGES, with the names that a rule set has for bets."""
    return _joined(list(_pieces(text, language, rules)), language)


def bet_name(name: str, rules: str, language: str) -> str:
    """The name of a bet: as the regulation has it in this language, as the language has it, or as the rule set has."""
    words = catalogue(language)
    for context in (f"{BET} {rules}", BET):
        found = words.get(key_of(name, context))
        if isinstance(found, str):
            return found
    return name


def amount_text(amount: int, language: str, rules: str) -> str:
    """An amount in chip units as the locale of a rule set's tables writes it."""
    try:
        locale = Locale.parse(locale_of(language, rules), sep="-")
    except UnknownLocaleError:
        locale = Locale.parse(language, sep="-")
    return format_decimal(amount, locale=locale)


def _told(text: str, language: str, rules: str) -> str | None:
    """The words of a text that is one known sentence; a screen may have begun it with a capital and ended it."""
    for stop in ("", "."):
        body = text.removesuffix(stop)
        for candidate in dict.fromkeys((body, body[:1].lower() + body[1:])):
            for sentence in _sentences(language):
                if not candidate.startswith(sentence.begins):
                    continue
                if found := _pattern(sentence.english).fullmatch(candidate):
                    parts = {name: _part(name, part, language, rules) for name, part in found.groupdict().items()}
                    words = sentence.words.format_map(parts)
                    if stop:
                        words += "。" if language.startswith("zh") else "."
                    return words if candidate == body else words[:1].upper() + words[1:]
    return None


def _part(name: str, part: str, language: str, rules: str) -> str:
    """What stands in a sentence."""
    if name.startswith(AMOUNT):
        return amount_text(int(part), language, rules)
    if name.startswith(BET) and (found := bet_name(part, rules, language)) != part:
        return found
    several = _SEVERAL.split(part)
    each = [_told(one, language, rules) for one in several]
    if len(several) == 1 or None in each:
        whole = _told(part, language, rules)
        if whole is not None:
            return whole
    for joint, words in zip(_JOINTS["en"], _JOINTS[language], strict=True):
        if joint in part:
            return words.join(_part(name, one, language, rules) for one in part.split(joint))
    return said(part, language, rules) if _ENDS.search(part) else part


def _pieces(text: str, language: str, rules: str) -> Iterator[str]:
    """The text's sentences, each told as far as it is known; of several that are known together, the longest run."""
    rest = _ENDS.split(text)
    while rest:
        for count in range(len(rest), 0, -1):
            told = _told(" ".join(rest[:count]), language, rules)
            if told is not None or count == 1:
                yield rest[0] if told is None else told
                rest = rest[count:]
                break


def _joined(pieces: list[str], language: str) -> str:
    """Pieces one after the other: Chinese sentences stand without a space between them."""
    text = " ".join(pieces)
    return re.sub(r"(?<=[。；：]) ", "", text) if language.startswith("zh") else text
