"""A commissioning as a page shows it: the steps and what they came to, and what is waited for now. Pure.

Steps are named in the page's language; what is waited for comes as codes, which the page has its words for.
"""

from typing import Any

from device.commissioning.machine import Commissioning, Result
from device.commissioning.steps import CentreReached, Contact, Lit, NodeAnswers, Step, Turned, Wanted
from device.commissioning.words import Words


def commissioning_view(commissioning: Commissioning, words: Words) -> dict[str, Any]:
    """All that a page shows; `now` is None when every step has come to something."""
    steps, results = commissioning.steps, commissioning.results
    return {
        "by": commissioning.by,
        "steps": [_step(step, results.get(step.name), words) for step in steps],
        "last": next(reversed(results), None),
        "now": None if commissioning.step is None else _now(commissioning, commissioning.step),
    }


def _step(step: Step, result: Result | None, words: Words) -> dict[str, Any]:
    said = {"name": step.name, "text": words.of_step(step), "pin": step.pin}
    if result is None:
        return said | {"verdict": None}
    names = result.said.split(", ") if result.reason in ("also", "both_faces") else []
    return said | {
        "verdict": result.verdict,
        "reason": result.reason,
        "said": result.said if result.reason == "said" else "",
        "names": names,
        "bounce_us": result.told_bounce_us,
        "by": result.by,
    }


def _now(commissioning: Commissioning, step: Step) -> dict[str, Any]:
    wanted = commissioning.wanted
    return {
        "step": step.name,
        "kind": step.kind,
        "puck": step.puck,
        "place": step.place,
        "face": step.face,
        "last_place": commissioning.is_last_place,
        "wanted": _code(wanted),
        "asked": commissioning.is_asked,
        "unread": commissioning.unread,
        "begins_wrong": commissioning.begins_wrong,
        "others": list(commissioning.others),
    }


def _code(wanted: Wanted | None) -> str:
    match wanted:
        case Contact():
            return "closed" if wanted.closed else "open"
        case Turned():
            return "turned"
        case Lit():
            return "lit"
        case NodeAnswers() | CentreReached():
            return "plugged" if wanted.wanted else "unplugged"
        case _:
            return "restart"
