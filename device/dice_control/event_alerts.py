"""Alerts from what has happened: a rule that was broken, a count that differs. Only their acknowledgement ends them."""

from collections.abc import Mapping, Sequence
from typing import Any

from device.dice_control.action_facts import PLACE_WORDS
from device.dice_control.dice_state import DiceState
from device.dice_control.rule_judgement import by_article

Alert = tuple[str, str, dict[str, Any]]


def latched_alerts(kind: str, data: Mapping[str, Any], seq: int) -> list[Alert]:
    """The alerts that an event of the dice log raises: (name, text, detail)."""
    alerts: list[Alert] = []
    if broken := data.get("against_rule"):
        said = " ".join(f"{_one_sentence(texts)} ({article})." for article, texts in by_article(broken).items())
        text = f"Against {data['rules']}: {said}"
        alerts.append((f"against_rule:{seq}", text, {"event": seq, "rules": data["rules"], "against_rule": broken}))
    if kind == "dice_counted" and data["difference"]:
        said = "; ".join(_difference(difference) for difference in data["difference"])
        detail = {"event": seq} | {part: data[part] for part in ("set", "count", "difference")}
        text = f"The {data['count']} count of set {data['set']} differs from the log: {said}."
        alerts.append((f"count_differs:{seq}", text, detail))
    return alerts


def count_alerts(kind: str, state: DiceState, session: int) -> list[Alert]:
    """The alerts that a "roll" or "table_closed" raises whose count of the dice at the table was not recorded.

    `state` as it is after the event, `session` the number of the table's session. A roll raises it once a session.
    """
    if kind == "roll":
        settled = session in (state.opening_session, state.uncounted_session)
        names = [] if settled else [name for name, _ in state.sets_at_table()]
        alert, said = "no_opening_count", "Dice roll without an opening count"
    else:
        names = [name for name, dice_set in state.sets_at_table() if dice_set.closing_session != session]
        alert, said = "no_closing_count", "The table was closed without a closing count"
    if not names:
        return []
    sets = f"set {names[0]}" if len(names) == 1 else f"sets {', '.join(names)}"
    return [(f"{alert}:{session}", f"{said} of {sets}. Count the dice.", {"session": session, "sets": names})]


def _one_sentence(texts: Sequence[str]) -> str:
    """Texts that one article stands behind, without the full stop, so that it is plain what the article belongs to."""
    first, *others = (text.removesuffix(".") for text in texts)
    return "; ".join([first, *(text[0].lower() + text[1:] for text in others)])


def _difference(difference: Mapping[str, Any]) -> str:
    die, log, seen = difference["die"], difference["log"], difference["seen"]
    by_log = "not of this set" if log is None else f"{PLACE_WORDS[log]} by the log"
    was = "was not seen" if seen is None else f"was seen {PLACE_WORDS[seen]}"
    return f"die {die} is {by_log}, and {was}"
