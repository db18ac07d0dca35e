"""Which languages there are, and which of them a table speaks, and how its numbers are written."""

from typing import Final

# The languages, by what each calls itself.
LANGUAGES: Final = {"en": "English", "es": "español", "pt": "português", "zh-Hant": "繁體中文"}
_OF_RULES: Final = {"es-1979": "es", "es-md-2004": "es", "cl-scj": "es", "pe-1999": "es", "mo-2010": "pt"}
# The territory whose way to write numbers and dates a rule set's tables follow.
_TERRITORIES: Final = {
    "cl-scj": "CL",
    "es-1979": "ES",
    "es-md-2004": "ES",
    "mo-2010": "MO",
    "pe-1999": "PE",
    "us-vegas": "US",
}


def language_of(rules: str | None) -> str:
    """The language of a table under a rule set; English where none is known of it."""
    return _OF_RULES.get(rules or "", "en")


def locale_of(language: str, rules: str) -> str:
    """A language as the territory of a rule set writes it, such as es-CL; a house's own rules: the language alone."""
    territory = _TERRITORIES.get(rules)
    return language if territory is None else f"{language}-{territory}"
