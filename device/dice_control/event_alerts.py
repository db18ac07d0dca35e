"""Alerts from what has happened: a rule that was broken, a count that differs. Only their acknowledgement ends them."""

from collections.abc import Mapping
from typing import Any

from device.dice_control.action_facts import PLACE_WORDS

Alert = tuple[str, str, dict[str, Any]]


def latched_alerts(kind: str, data: Mapping[str, Any], seq: int) -> list[Alert]:
    """The alerts that an event of the dice log raises: (name, text, detail)."""
    alerts: list[Alert] = []
    if broken := data.get("against_rule"):
        said = " ".join(f"{wrong['text'].removesuffix('.')} ({wrong['article']})." for wrong in broken)
        text = f"Against {data['rules']}: {said}"
        alerts.append((f"against_rule:{seq}", text, {"event": seq, "rules": data["rules"], "against_rule": broken}))
    if kind == "dice_counted" and data["difference"]:
        said = "; ".join(_difference(difference) for difference in data["difference"])
        text = f"The {data['count']} count of set {data['set']} differs from the log: {said}."
        alerts.append((f"count_differs:{seq}", text, {"event": seq, "difference": data["difference"]}))
    return alerts


def _difference(difference: Mapping[str, Any]) -> str:
    die, log, seen = difference["die"], difference["log"], difference["seen"]
    by_log = "not of this set" if log is None else f"{PLACE_WORDS[log]} by the log"
    was = "was not seen" if seen is None else f"was seen {PLACE_WORDS[seen]}"
    return f"die {die} is {by_log}, and {was}"
