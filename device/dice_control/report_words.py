"""The words of the dice reports in the languages of the tables: English, Spanish, Portuguese, Traditional Chinese.

What people wrote stays as it is in the journal.
"""

from typing import Final

from device.dice_control.check_words import CHECK_WORDS
from device.dice_control.day_words import DAY_WORDS
from device.dice_control.log_words import LOG_WORDS
from device.languages.languages import LANGUAGES

_ORDER: Final = tuple(LANGUAGES)

WORDS: Final = LOG_WORDS | DAY_WORDS | CHECK_WORDS


class Words:
    """The words of one of LANGUAGES."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._place = _ORDER.index(language)

    def __call__(self, key: str, **parts: object) -> str:
        """The word or phrase of a key, its parts put in. Raises KeyError for a key that there is none of."""
        return WORDS[key][self._place].format(**parts)

    def counted(self, key: str, number: int, **parts: object) -> str:
        """The phrase of a key with `number` in it: that of `key.one` where it is 1. Raises KeyError."""
        return self(f"{key}.one" if number == 1 else key, number=number, **parts)

    def of(self, group: str, name: str) -> str:
        """The word of `group.name`; the name itself where there is no word, such as for what a later version says."""
        said = WORDS.get(f"{group}.{name}")
        return name.replace("_", " ") if said is None else said[self._place]
