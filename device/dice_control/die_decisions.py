"""What follows from an action on dice of a set at the table: offered, changed, swapped, lost, found."""

from collections.abc import Mapping
from typing import Any

from device.dice_control import rule_judgement as judge
from device.dice_control.action_facts import (
    asked,
    check_dice,
    check_in_play,
    coming_session,
    fell,
    find_set,
    game_facts,
    moves,
    opening_facts,
    signatures,
    touches_play,
    touches_reserve,
)
from device.dice_control.dice_context import Context
from device.dice_control.dice_state import LOST, DiceSet, DiceState
from device.dice_control.set_decisions import AT_HAND, Entry, against, change_wrong, deed
from engine_lite.refusal import Refused

ON_OFFER = ("play", "reserve", "offered")
# Where a die goes that a swap takes out of play; otherwise into the reserve.
SWAPPED_TO = {"die_off_table": "floor", "damage": "inspection"}
# Where a void throw leaves its dice; otherwise they stay in play.
VOID_TO = {"off_table": "floor", "broken": "inspection"}
VOID_REASON = {"off_table": "die_off_table", "in_dice_cup": "die_off_table", "broken": "damage"}
LOOKED_FOR = ("store", "reserve", "play", "offered", "floor", "inspection", "withdrawn", "cancelled")
CORRECTED_FROM = ("store", "reserve", "play", "offered", "floor", "inspection", "missing")


def offer(state: DiceState, parts: Mapping[str, Any], context: Context) -> Entry:
    """Dice are put before the shooter."""
    name, dice_set = find_set(state, parts)
    dice = _offered(state, name, parts.get("dice"))
    reason = parts.get("reason", "offered_to_shooter")
    broken = change_wrong(state, name, context, reason, dict.fromkeys(dice, "offered"))
    broken += judge.too_few_offered(
        context.rules, name, dice_set, len(dice), reason, fell=fell(state, name, context, {})
    )
    data = _moved("offer", state, name, parts, context, reason, dict.fromkeys(dice, "offered"))
    data |= {"offered": dice} | asked(state, parts, context, reason)
    return "dice_moved", deed(state, data, broken)


def change(state: DiceState, parts: Mapping[str, Any], context: Context) -> Entry:
    """Dice were put before the shooter, who took two; the others are back in the reserve."""
    name, dice_set = find_set(state, parts)
    before = dice_set.at("offered")
    dice = _offered(state, name, parts.get("offered", before or None))
    taken = parts["taken"]
    check_dice(state, name, taken, ON_OFFER)
    if not_offered := [die for die in taken if die not in dice]:
        raise Refused("not_offered", f"die {not_offered[0]} was not offered; offered were {', '.join(dice)}")
    targets = dict.fromkeys(dice_set.at(*ON_OFFER), "reserve") | dict.fromkeys(taken, "play")
    check_in_play(state, name, targets, both=True)
    reason = parts.get("reason", "offered_to_shooter")
    broken: list[judge.Broken] = []
    offered = {
        "set": name,
        "reason": reason,
        "dice": sorted(dice),
        "series": [coming_session(context), context.roll_number - context.rolls_in_series],
        "point": context.point,
    }
    if not before or state.last_offer != offered:
        # Otherwise it was judged when they were put there.
        broken += change_wrong(state, name, context, reason, targets)
        broken += judge.too_few_offered(
            context.rules, name, dice_set, len(dice), reason, fell=fell(state, name, context, targets)
        )
    broken += _used(context, name, dice_set, taken)
    data = _moved("change", state, name, parts, context, reason, targets)
    data |= {"offered": dice, "taken": list(taken)} | asked(state, parts, context, reason)
    return "dice_moved", deed(state, data, broken)


def swap(state: DiceState, parts: Mapping[str, Any], context: Context) -> Entry:
    """One or two dice leave play, others come in; two are in play then."""
    name, dice_set = find_set(state, parts)
    out, coming, reason = parts["out"], parts["in"], parts["reason"]
    if both := [die for die in out if die in coming]:
        raise Refused("same_die", f"die {both[0]} cannot be swapped with itself; name another to come in")
    check_dice(state, name, out, ("play",))
    check_dice(state, name, coming, ("reserve", "offered"))
    to = parts.get("to", SWAPPED_TO.get(reason, "reserve"))
    targets = dict.fromkeys(out, to) | dict.fromkeys(coming, "play")
    check_in_play(state, name, targets, both=True)
    broken = change_wrong(state, name, context, reason, targets) + _used(context, name, dice_set, coming)
    if reason == "die_off_table" and to == "reserve":
        broken += judge.back_unchecked(context.rules, name, out)
    data = _moved("swap", state, name, parts, context, reason, targets)
    data |= {"out": list(out), "in": list(coming)} | asked(state, parts, context, reason)
    return "dice_moved", deed(state, data, broken)


def off_table(state: DiceState, parts: Mapping[str, Any], context: Context) -> Entry:
    """Dice left the table outside a throw."""
    name, _ = find_set(state, parts)
    check_dice(state, name, parts["dice"], ON_OFFER)
    targets = dict.fromkeys(parts["dice"], "floor")
    data = _moved("off_table", state, name, parts, context, "die_off_table", targets)
    return "dice_moved", deed(state, data, [])


def void_throw(state: DiceState, parts: Mapping[str, Any], context: Context) -> Entry:
    """The dice that the last void throw was about."""
    seq = parts["no_roll"]
    if context.no_roll is None:
        raise Refused("no_void_throw", "there is no void throw since the last roll")
    last_seq, void_reason = context.no_roll
    if seq != last_seq:
        raise Refused("stale", f"the last void throw is event {last_seq}, not {seq}")
    if state.last_void_throw == seq:
        raise Refused("no_void_throw", f"the dice of the void throw of event {seq} are recorded already")
    name, dice_set = find_set(state, parts)
    check_dice(state, name, parts["dice"], ("play",))
    targets = dict.fromkeys(parts["dice"], VOID_TO[void_reason]) if void_reason in VOID_TO else {}
    reason = VOID_REASON.get(void_reason)
    data = game_facts("void_throw", parts, context) | signatures(state, parts, context)
    # The reserve is opened to take such a die out of it.
    data |= opening_facts(state, context, reason, (), reserve=void_reason == "in_dice_cup")
    data |= {
        "set": name,
        "no_roll": seq,
        "no_roll_reason": void_reason,
        "dice": list(parts["dice"]),
        "reason": reason,
        "moves": moves(name, dice_set, targets),
    }
    return "void_dice", data


def found(state: DiceState, parts: Mapping[str, Any], context: Context) -> Entry:
    """A die that lay on the floor, was missing or written off is there again."""
    name, dice_set = find_set(state, parts)
    die, to = parts["die"], parts.get("to", "inspection")
    check_dice(state, name, [die], LOST)
    check_in_play(state, name, {die: to})
    broken = list(judge.back_after_end(name, dice_set, [die]))
    if to != "inspection":
        broken += judge.back_unchecked(context.rules, name, [die])
    if to == "play":
        broken += change_wrong(state, name, context, "die_off_table", {die: to})
    return "dice_moved", deed(state, _moved("found", state, name, parts, context, "die_off_table", {die: to}), broken)


def missing(state: DiceState, parts: Mapping[str, Any], context: Context) -> Entry:
    """Dice were looked for and not found: on the floor, where they fell, or where the log has them."""
    name, dice_set = find_set(state, parts)
    check_dice(state, name, parts["dice"], LOOKED_FOR)
    targets = dict.fromkeys(parts["dice"], "missing")
    broken = list(judge.back_after_end(name, dice_set, parts["dice"]))
    fallen = all(dice_set.dice[die].place == "floor" for die in parts["dice"])
    reason = "die_off_table" if fallen else "count"
    return "dice_moved", against(_moved("missing", state, name, parts, context, reason, targets), broken)


def correction(state: DiceState, parts: Mapping[str, Any], context: Context) -> Entry:
    """The log is put right: each die is where it is seen.

    It is judged as the deed that would have brought the dice there, and marked unless a count has seen them there.
    """
    name, dice_set = find_set(state, parts)
    places = parts["places"]
    check_dice(state, name, places, CORRECTED_FROM)
    counted = parts.get("count")
    if counted is not None and counted != dice_set.last_count:
        last = "was not counted yet" if dice_set.last_count is None else f"was counted last in {dice_set.last_count}"
        raise Refused("stale", f"event {counted} is not the last count of set {name}, which {last}")
    made = moves(name, dice_set, places)
    if not made:
        raise Refused("nothing_to_correct", f"the log has these dice of set {name} there already")
    check_in_play(state, name, places)
    broken = []
    unseen = [
        move["die"] for move in made if move["from"] in LOST or dice_set.difference.get(move["die"]) != move["to"]
    ]
    if unseen:
        broken.append(judge.uncounted_correction(name, unseen))
    broken += judge.back_after_end(name, dice_set, [move["die"] for move in made])
    if touches_play(made):
        broken += change_wrong(state, name, context, "correction", places)
    if placed := [move["die"] for move in made if move["from"] == "store"]:
        at_hand = len(dice_set.at(*AT_HAND))
        broken += judge.set_unfit(context.rules, state, name, dice_set, coming_session(context), at_hand)
        broken += judge.too_many_at_table(context.rules, state, name, len(placed))
    back = [die for die, to in places.items() if to in ("reserve", "play") and _was_away(dice_set, die)]
    broken += judge.back_unchecked(context.rules, name, back)
    coming = [die for die, to in places.items() if to == "play" and die not in back]
    broken += _used(context, name, dice_set, coming)
    data = _moved("correction", state, name, parts, context, "count", places) | {"count": counted}
    return "dice_moved", deed(state, data, broken)


def _offered(state: DiceState, name: str, dice: list[str] | None) -> list[str]:
    dice_set = state.sets[name]
    there = dice_set.at(*ON_OFFER)
    if dice is None:
        if not there:
            raise Refused("wrong_place", f"no die of set {name} is in play or in the reserve; place a set first")
        return there
    check_dice(state, name, dice, ON_OFFER)
    return list(dice)


def _used(context: Context, name: str, dice_set: DiceSet, dice: list[str]) -> list[judge.Broken]:
    """What is wrong with dice that come into play and were not there before."""
    coming = [die for die in dice if dice_set.dice[die].place != "play"]
    return list(judge.not_inspected(context.rules, name, dice_set, coming))


def _was_away(dice_set: DiceSet, die: str) -> bool:
    return dice_set.dice[die].place in ("floor", "missing", "inspection")


def _moved(
    action: str,
    state: DiceState,
    name: str,
    parts: Mapping[str, Any],
    context: Context,
    reason: str,
    targets: Mapping[str, str],
) -> dict[str, Any]:
    made = moves(name, state.sets[name], targets)
    reserve = action in ("offer", "change") or touches_reserve(made)
    said = {"set": name, "reason": reason, "moves": made}
    said |= opening_facts(state, context, reason, made, reserve=reserve)
    return game_facts(action, parts, context) | said | signatures(state, parts, context)
