"""An alert in the language of a screen, out of what it is about; what it says in the journal is English."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from device.dice_control.alert_texts import alert_text, rule_text
from device.dice_control.alert_words import ALERT_PHRASES
from device.dice_control.log_rows import LogRow
from device.dice_control.report_words import Words
from device.languages.said import said

# Phrases tell of no time.
_SOME_TIME: Final = datetime(1970, 1, 1, tzinfo=UTC)


def alert_said(name: str, text: str, detail: Mapping[str, Any], language: str, rules: str) -> str:
    """What an alert says: of dice and their reserve out of its detail, as the reports say it; others by their text."""
    family = name.partition(":")[0]
    if family in ALERT_PHRASES and language != "en":
        row = LogRow(0, "alert_raised", _SOME_TIME, "free", alert=name, text=text, detail=detail)
        told = alert_text(row, Words(language))
        if told != text:
            return told
    return said(text, language, rules)


def need_text(need: Mapping[str, Any], dice_set: str, words: Words) -> str:
    """What a set lacks for use, as the rule that it would break is told."""
    return rule_text(need, LogRow(0, "placed", _SOME_TIME, "free", set_name=dice_set), words)
