"""Alerts from what has happened: a rule that was broken, a count that differs. Only their acknowledgement ends them."""

from collections.abc import Mapping, Sequence
from typing import Any

from device.dice_control.action_facts import PLACE_WORDS
from device.dice_control.dice_state import DiceState
from device.dice_control.rule_judgement import by_article, named, short

Alert = tuple[str, str, dict[str, Any]]


def latched_alerts(kind: str, data: Mapping[str, Any], seq: int) -> list[Alert]:
    """The alerts that an event of the dice log raises: (name, text, detail)."""
    alerts: list[Alert] = []
    if broken := data.get("against_rule"):
        said = " ".join(f"{_one_sentence(texts)} ({short(article)})." for article, texts in by_article(broken).items())
        text = f"Against {data['rules']}: {said}"
        alerts.append((f"against_rule:{seq}", text, {"event": seq, "rules": data["rules"], "against_rule": broken}))
    if kind == "dice_counted" and data["difference"]:
        said = "; ".join(_difference(difference) for difference in data["difference"])
        detail = {"event": seq} | {part: data[part] for part in ("set", "count", "difference")}
        text = f"The {data['count']} count of set {data['set']} differs from the log: {said}."
        alerts.append((f"count_differs:{seq}", text, detail))
    if kind == "dice_set_moved" and data["to"] == "written_off":
        dice = [move["die"] for move in data["moves"]]
        text = f"{named(dice)} of set {data['set']} written off as lost by {data['done_by']}."
        detail = {"event": seq, "set": data["set"], "dice": dice, "by": data["done_by"]}
        alerts.append((f"dice_written_off:{seq}", text, detail))
    return alerts


def signers(data: Mapping[str, Any]) -> list[str]:
    """Whom the alerts of an event are about: those who signed it, but no supervisor who says what others did."""
    if data.get("explained_as") == "supervisor":
        return []
    return [data[name] for name in ("done_by", "seen_by") if name in data]


def count_alerts(state: DiceState, session: int) -> list[Alert]:
    """The alert that a roll raises, once a session, where no opening count of the dice at the table was recorded.

    `state` as it is after the roll, `session` the number of the table's session.
    """
    settled = session in (state.opening_session, state.uncounted_session)
    names = [] if settled else [name for name, _ in state.sets_at_table()]
    if not names:
        return []
    text = f"Dice roll without an opening count of {sets_said(names)}. Count the dice."
    return [(f"no_opening_count:{session}", text, {"session": session, "sets": names})]


def closing_facts(state: DiceState, session: int) -> dict[str, Any]:
    """What a closing of the table says of the dice: sets without a closing count, and the lid, where it is open."""
    names = [name for name, dice_set in state.sets_at_table() if dice_set.closing_session != session]
    return ({"uncounted": names} if names else {}) | ({"reserve_open": True} if state.reserve_open else {})


def sets_said(names: Sequence[str]) -> str:
    """ "set A" or "sets A, B"."""
    return f"set {names[0]}" if len(names) == 1 else f"sets {', '.join(names)}"


def _one_sentence(texts: Sequence[str]) -> str:
    """Texts that one article stands behind, without the full stop, so that it is plain what the article belongs to."""
    first, *others = (text.removesuffix(".") for text in texts)
    return "; ".join([first, *(text[0].lower() + text[1:] for text in others)])


def _difference(difference: Mapping[str, Any]) -> str:
    die, log, seen = difference["die"], difference["log"], difference["seen"]
    by_log = "not of this set" if log is None else f"{PLACE_WORDS[log]} by the log"
    was = "was not seen" if seen is None else f"was seen {PLACE_WORDS[seen]}"
    return f"die {die} is {by_log}, and {was}"
