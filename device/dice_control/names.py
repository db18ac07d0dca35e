"""Names of people, dice and sets: what they may be written with, and which of them are one.

Two that look alike at a glance are one. What would look like another name without being one (letters of another script)
and what shows nothing is refused when it is entered; whatever an earlier version took is compared all the same.
"""

import re
import unicodedata
from typing import Any, Final

NAME_MAX: Final = 40
"""The characters of a name."""

_SIGNS_IN_NAME: Final = " '’ʼ-‐‑.,·・"
_PERSON_SAID: Final = "a name is of Latin letters, Chinese characters, digits, spaces and ' - . , ·"
_MARK_SAID: Final = f"must be 1 to {NAME_MAX} of A to Z, a to z, 0 to 9, - . / and _, a letter or digit among them"
_LATIN: Final = re.compile("LATIN (?:SMALL|CAPITAL) LETTER ([A-Z])(?: WITH .+)?")
_LATIN_TOO: Final = {"ß": "ss", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th", "ı": "i", "ŋ": "n", "ə": "e"}
_IDEOGRAPH: Final = "CJK UNIFIED IDEOGRAPH"
# Without the joiner, which shows nothing, and the Greek iota.
_DIACRITICS: Final = frozenset(map(chr, range(0x0300, 0x0370))) - {"\u034f", "\u0345"}
_MARK: Final = re.compile(rf"(?=.*[A-Za-z0-9])[A-Za-z0-9./_-]{{1,{NAME_MAX}}}")
_LOOKS_LIKE: Final = str.maketrans({"l": "i", "1": "i", "|": "i", "0": "o"})
# What shows nothing although it is a letter, a mark or a symbol: fillers, joiners, variation selectors, empty Braille.
_INVISIBLE: Final = frozenset(
    map(
        chr,
        (
            0x034F,
            0x115F,
            0x1160,
            0x17B4,
            0x17B5,
            *range(0x180B, 0x1810),
            0x2800,
            0x3164,
            *range(0xFE00, 0xFE10),
            0xFFA0,
            0xFFFC,
            0x16FE4,
            0x1D159,
            *range(0xE0100, 0xE01F0),
        ),
    )
)


def person_fault(value: Any) -> str | None:
    """Why this cannot be the name of a person, and what would be right; None where it can be."""
    if not _is_one_line(value, NAME_MAX):
        return _line_said(NAME_MAX)
    has_letter = after_letter = False
    for character in value:
        # A wide letter, as those who write Chinese may get it, is the letter.
        parts = unicodedata.normalize("NFKC", character)
        is_mark = after_letter and character in _DIACRITICS
        if not (is_mark or (character.isprintable() and all(map(_is_in_name, parts)))):
            return f"must not hold {_called(character)}: {_PERSON_SAID}"
        after_letter = is_mark or any(map(_base, parts))
        has_letter |= any(_is_letter(part) for part in parts)
    return None if has_letter else f"must hold a letter: {_PERSON_SAID}"


def mark_fault(value: Any) -> str | None:
    """Why this cannot be the name of a new set or a serial number, and what would be right; None where it can be."""
    return None if isinstance(value, str) and _MARK.fullmatch(value) else _MARK_SAID


def text_fault(value: Any, length_max: int = NAME_MAX) -> str | None:
    """Why this cannot be a line of free text, such as a maker's name in any script; None where it can be."""
    right = _is_one_line(value, length_max) and value.isprintable() and _INVISIBLE.isdisjoint(value)
    return None if right and not _is_diacritic(value[0]) else _line_said(length_max)


def folded(name: str) -> str:
    """The name of a person or a maker to compare: one for all ways to write it that look alike.

    Large and small letters, widths, accents, spaces and signs make no difference, nor do i, l and 1, o and 0. Empty
    where it holds no letter and no digit, as only earlier versions took it.
    """
    # An apostrophe may be a letter to Unicode.
    return "".join(
        character for character in _plain(name) if character.isalnum() and unicodedata.category(character) != "Lm"
    )


def same_name(one: str, other: str) -> bool:
    """Whether two names are one person or one maker."""
    return folded(one) == folded(other)


def folded_mark(mark: str) -> str:
    """The name of a set or a serial number to compare: as `folded`, but its signs count."""
    return "".join(character for character in _plain(mark) if not character.isspace())


def same_mark(one: str, other: str) -> bool:
    """Whether two set names or two serial numbers read alike."""
    return folded_mark(one) == folded_mark(other)


def _plain(text: str) -> str:
    if text.isascii():
        return text.casefold().translate(_LOOKS_LIKE)
    spread = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    seen = (
        character
        for character in spread
        if character not in _INVISIBLE and unicodedata.category(character) != "Cf" and not _is_diacritic(character)
    )
    return "".join(map(_alike, seen)).translate(_LOOKS_LIKE)


def _alike(character: str) -> str:
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    return _base(character) or character


def _base(character: str) -> str:
    """The small letters a to z that a Latin letter is written with; none where it is no letter of a name."""
    if (small := character.lower()) in _LATIN_TOO:
        return _LATIN_TOO[small]
    found = _LATIN.fullmatch(unicodedata.name(character, ""))
    return found[1].lower() if found else ""


def _is_letter(character: str) -> bool:
    return bool(_base(character)) or unicodedata.name(character, "").startswith(_IDEOGRAPH)


def _is_in_name(character: str) -> bool:
    return _is_letter(character) or character in _SIGNS_IN_NAME or character in "0123456789"


def _is_diacritic(character: str) -> bool:
    return unicodedata.category(character).startswith("M")


def _is_one_line(value: Any, length_max: int) -> bool:
    return isinstance(value, str) and value == value.strip() and 1 <= len(value) <= length_max


def _line_said(length_max: int) -> str:
    return f"must be 1 to {length_max} visible characters without spaces around them"


def _called(character: str) -> str:
    name, number = unicodedata.name(character, ""), f"U+{ord(character):04X}"
    return f"{name} ({number})" if name else number
