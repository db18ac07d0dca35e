"""Names as people read them: two that look alike at a glance are one, and one that shows nothing is none."""

import unicodedata

# What shows nothing although it is a letter, a mark or a symbol: fillers, joiners, variation selectors, empty Braille.
_INVISIBLE = frozenset(
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
            *range(0xE0100, 0xE01F0),
        ),
    )
)


def folded(name: str) -> str:
    """A name to compare: one for all ways to write it in large and small letters, widths, accents and spaces.

    Empty where nothing of it can be seen.
    """
    if name.isascii():
        return " ".join(name.casefold().split())
    seen = "".join(
        character for character in name if character not in _INVISIBLE and unicodedata.category(character) != "Cf"
    )
    # Folded letters may be composed anew.
    wide = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", seen).casefold())
    return " ".join("".join(character for character in wide if character not in _INVISIBLE).split())


def same_name(one: str, other: str) -> bool:
    """Whether two names are one person, set or serial number."""
    return folded(one) == folded(other)
