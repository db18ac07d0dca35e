"""The gettext catalogues: what the screens say in each of LANGUAGES, by the English words.

A catalogue is `<language>.po` in this folder, read as it is. A message with a context (`msgctxt`) is one of:
- `said`: a sentence that the terminal composes in English, with its parts in braces (`device.languages.said`);
- `bet` and `bet <rule set>`: the name of a bet, in general and as a regulation has it;
- anything else: a word that means different things in different places of a page.
The English catalogue holds only names of bets that a regulation gives in another language.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from babel.messages.pofile import read_po

CATALOGUES: Final = Path(__file__).parent
# What stands between the context of a message and its English words, as in gettext's own files.
CONTEXT_END: Final = "\x04"
SAID: Final = "said"
BET: Final = "bet"
# The words of a message; where it counts something and the language has two forms, that for one and that for others.
Words = Mapping[str, str | tuple[str, ...]]


def file_of(language: str) -> Path:
    """The catalogue of one of LANGUAGES."""
    return CATALOGUES / f"{language.replace('-', '_')}.po"


@cache
def catalogue(language: str) -> Words:
    """The words of one of LANGUAGES, by context and English words (of a message that counts: those for one)."""
    with file_of(language).open("rb") as file:
        messages = read_po(file)
    words: dict[str, str | tuple[str, ...]] = {}
    for message in messages:
        english = message.id if isinstance(message.id, str) else message.id[0]
        forms = (message.string,) if isinstance(message.string, str) else tuple(message.string or ())
        if english and any(forms):
            words[key_of(english, message.context)] = forms[0] if isinstance(message.id, str) else forms
    return words


def key_of(english: str, context: str | None) -> str:
    """What a message is found under."""
    return english if context is None else f"{context}{CONTEXT_END}{english}"


def page_words(language: str) -> Words:
    """What a page has to know itself: all but what the terminal translates before it answers."""
    left_out = (SAID + CONTEXT_END, BET + CONTEXT_END, BET + " ")
    return {key: said for key, said in catalogue(language).items() if not key.startswith(left_out)}
