"""What the interface tells in the language that a request asks for: names of bets, alerts, refusals, faults.

The terminal itself speaks English, as its journal does. So does the interface where a request names no language: then
in the terminal's own words, but for the names of bets and the way amounts are written.
"""

from typing import Any, Final

from device.dice_control.report_words import Words
from device.languages.alert_texts import alert_said, need_text
from device.languages.languages import LANGUAGES
from device.languages.said import bet_name, said

# Before the source of a rule that reads dice which are no roll elsewhere.
READ_HERE: Final = " (read here, "


def asked_language(query_language: str | None) -> str:
    """The language to answer in; English where a request names none of LANGUAGES."""
    return query_language if query_language in LANGUAGES else "en"


def state_in(state: dict[str, Any], language: str) -> dict[str, Any]:
    """The state as a screen shows it, its texts in a language; what people wrote stays."""
    rules, dice_pass = state["table"]["rules"], state["table"]["dice_pass"]
    table = state["table"] | {
        "title": said(state["table"]["title"], language, rules),
        "warnings": [said(text, language, rules) for text in state["table"]["warnings"]],
        "dice_pass": dice_pass | {"source": said(dice_pass["source"], language, rules)},
    }
    alerts = [
        alert | {"text": alert_said(alert["id"], alert["text"], alert["detail"], language, rules)}
        for alert in state["alerts"]
    ]
    uplink = state["uplink"] | {"last_error": _said(state["uplink"]["last_error"], language, rules)}
    return state | {
        "table": table,
        "alerts": alerts,
        "dice": state["dice"] if language == "en" else _dice_in(state["dice"], Words(language)),
        "uplink": uplink,
        "halted": _said(state["halted"], language, rules),
    }


def _dice_in(view: dict[str, Any], words: Words) -> dict[str, Any]:
    checks = {name: check | {"text": words.of("check", name)} for name, check in view["rules"]["checks"].items()}
    sets = [
        one | {"needs": [need | {"text": need_text(need, one["set"], words)} for need in one["needs"]]}
        for one in view["sets"]
    ]
    return view | {"rules": view["rules"] | {"checks": checks}, "sets": sets}


def rule_set_in(view: dict[str, Any], language: str) -> dict[str, Any]:
    """A rule set as the pages know it, its bets by their names in a language."""
    rules = view["name"]
    named = [bet | {"name": bet_name(bet["name"], rules, language)} for bet in view["bets"]]
    options = {
        name: option | {"about": said(option["about"], language, rules)} for name, option in view["options"].items()
    }
    return view | {
        "title": said(view["title"], language, rules),
        "bets": named,
        "options": options,
        "warnings": [said(text, language, rules) for text in view["warnings"]],
        "no_roll": {reason: _reason_in(text, language, rules) for reason, text in view["no_roll"].items()},
    }


def _reason_in(text: str, language: str, rules: str) -> str:
    reason, mark, source = text.partition(READ_HERE)
    source = said(source.removesuffix(")"), language, rules) + ")" if mark else ""
    return said(reason, language, rules) + mark + source


def hardware_in(view: dict[str, Any], language: str, rules: str) -> dict[str, Any]:
    """What the hardware page tells, its faults and meanings in a language."""
    translated = dict(view)
    for part in ("inputs", "lamps"):
        translated[part] = [
            one | {name: _said(one[name], language, rules) for name in ("unavailable", "meaning") if name in one}
            for one in view[part]
        ]
    if view["self_test"]:
        checks = [check | {"said": said(check["said"], language, rules)} for check in view["self_test"]["checks"]]
        translated["self_test"] = view["self_test"] | {"checks": checks}
    if "error" in view["node"]:
        translated["node"] = view["node"] | {"error": _said(view["node"]["error"], language, rules)}
    return translated


def virtual_in(view: dict[str, Any], language: str, rules: str) -> dict[str, Any]:
    """What the page of the virtual table tells, what its faults are in a language."""
    kinds = [kind | {"about": said(kind["about"], language, rules)} for kind in view["fault_kinds"]]
    return view | {"fault_kinds": kinds}


def _said(text: str | None, language: str, rules: str) -> str | None:
    return None if text is None else said(text, language, rules)
