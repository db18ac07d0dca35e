"""The dice log for a screen."""

from dataclasses import asdict
from typing import Any

from device.dice_control import rule_judgement as judge
from device.dice_control.action_facts import coming_session, on_duty
from device.dice_control.dice_context import Context
from device.dice_control.dice_rules import REASONS, DiceRules
from device.dice_control.dice_state import AT_TABLE, DiceState
from device.dice_control.reserve_openings import Opening

# Sets beside those at the table that a screen is given.
SHOWN_MAX = 50


def dice_view(state: DiceState, context: Context) -> dict[str, Any]:
    """Plain values: the rules, who is on duty, the sets, the reserve, openings, reasons, counts.

    The sets are those at the table and up to SHOWN_MAX others that are not gone; `further_sets` says how many more.
    `last_void_throw` is the seq of the last void throw whose dice are known.

    `needs` of a set is what it lacks for use in this session, each with its article; a reason's `allowed` is whether a
    change of dice for it is allowed now. `difference` of a set: where its `last_count` saw the dice that are elsewhere
    by the log (None: nowhere). `supervisors_listed`: whether a supervisor must be one of `supervisors`.
    `duty_before` are the two of an earlier session, where nobody is on duty in this one.
    """
    rules = context.rules
    shown, further = _shown(state)
    boxman = on_duty(state, context, "boxman")
    return {
        "rules": {
            "name": rules.name,
            "title": rules.title,
            "in_set": rules.in_set.said(),
            "in_reserve": rules.in_reserve.said(),
            "serials_required": rules.serials.required,
            "checks": {name: {"text": check.text, "article": check.article} for name, check in rules.checks.items()},
            "checks_after_floor": list(rules.after_floor.checks),
            "instruments": list(rules.inspection.instruments),
            "edge_hundredths_mm": None if rules.edge is None else asdict(rules.edge),
        },
        "supervisors_listed": context.supervisors is not None,
        "supervisors": list(context.supervisors or ()),
        "duty": None if boxman is None else {"boxman": boxman, "witness": on_duty(state, context, "witness")},
        "duty_before": _duty_before(state) if boxman is None else None,
        "sets": [_set(rules, state, name, context) for name in shown],
        "further_sets": further,
        "reserve": {"open": state.reserve_open, "dice": len(state.at("reserve")), "slots": state.slots},
        "openings": [_opening(opening) for opening in state.openings],
        "reasons": [_reason(reason, context) for reason in REASONS],
        "last_void_throw": state.last_void_throw,
        "last_change": state.last_change,
        "counts": dict(state.counts),
    }


def _opening(opening: Opening) -> dict[str, Any]:
    """An opening as it is on the screen: how many starts it has outlived is a matter of its grace time alone."""
    return {name: value for name, value in asdict(opening).items() if name != "starts"}


def _duty_before(state: DiceState) -> dict[str, str] | None:
    return None if state.duty is None else {role: state.duty[role] for role in ("boxman", "witness")}


def _shown(state: DiceState) -> tuple[list[str], int]:
    """The sets for a screen, in the order in which they came, and how many more could be brought or are not settled."""
    there: set[str] = set()
    others: dict[str, list[str]] = {"missing": [], "store": [], "withdrawn": []}
    for name, dice_set in state.sets.items():
        places = {die.place for die in dice_set.dice.values()}
        if not places.isdisjoint(AT_TABLE):
            there.add(name)
        elif found := next((place for place in others if place in places), None):
            others[found].append(name)
    # What is lost comes first, then what can be brought; of each, what came last.
    rest = [name for names in others.values() for name in reversed(names)]
    there.update(rest[:SHOWN_MAX])
    return [name for name in state.sets if name in there], len(rest[SHOWN_MAX:])


def _set(rules: DiceRules, state: DiceState, name: str, context: Context) -> dict[str, Any]:
    dice_set = state.sets[name]
    at_hand = dice_set.at("store", "reserve", "play", "offered", "inspection")
    needs = list(judge.set_unfit(rules, state, name, dice_set, coming_session(context), len(at_hand)))
    needs += judge.not_inspected(rules, name, dice_set, at_hand, used=False)
    return {
        "set": name,
        "maker": dice_set.maker,
        "colour": dice_set.colour,
        "house_mark": dice_set.house_mark,
        "numbered_by": dice_set.numbered_by,
        "dice": [{"die": die, "place": said.place, "state": said.state} for die, said in dice_set.dice.items()],
        "needs": needs,
        "last_count": dice_set.last_count,
        "difference": dict(dice_set.difference),
    }


def _reason(reason: str, context: Context) -> dict[str, Any]:
    change = context.rules.changes.get(reason)
    if change is None:
        # The reserve is opened for it, but no dice are changed.
        return {"reason": reason, "allowed": True, "article": None}
    allowed = change.come_out if context.point is None else change.during_series
    return {"reason": reason, "allowed": allowed, "article": change.article}
