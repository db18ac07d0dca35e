"""The words of a page as a module that its scripts import, in the language that its browser has chosen."""

import json
from collections.abc import Mapping

from device.languages.catalogues import page_words
from device.languages.languages import LANGUAGES, locale_of

# The cookie in which a browser keeps the language that was touched.
COOKIE = "language"


def chosen_language(cookies: Mapping[str, str], otherwise: str) -> str:
    """The language that a browser has chosen; where it chose none of LANGUAGES, `otherwise`."""
    chosen = cookies.get(COOKIE, "")
    return chosen if chosen in LANGUAGES else otherwise


def words_module(language: str, rules: str) -> str:
    """The module: LANGUAGE, LANGUAGES with their own names, the LOCALE of a rule set's numbers, and WORDS."""
    parts = {
        "LANGUAGE": language,
        "LANGUAGES": LANGUAGES,
        "LOCALE": locale_of(language, rules),
        "WORDS": dict(page_words(language)),
    }
    lines = [f"export const {name} = {json.dumps(said, ensure_ascii=False)};" for name, said in parts.items()]
    return "\n".join(lines) + "\n"
