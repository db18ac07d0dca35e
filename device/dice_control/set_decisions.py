"""What follows from an action on a set: received, inspected, brought to the table, counted, taken away."""

from collections.abc import Mapping
from typing import Any

from device.dice_control import rule_judgement as judge
from device.dice_control.action_facts import (
    PLACE_WORDS,
    check_dice,
    check_in_play,
    check_supervisor,
    coming_session,
    fell,
    find_set,
    game_facts,
    moves,
    opening_facts,
    point_now,
    signatures,
    touches_play,
)
from device.dice_control.dice_context import Context
from device.dice_control.dice_rules import DiceRules
from device.dice_control.dice_state import AT_TABLE, LOST, SERVING, DiceState
from device.dice_control.names import folded_mark, same_mark, same_name
from engine_lite.refusal import Refused

Entry = tuple[str, dict[str, Any]]

# Sets that are not destroyed: a new one every day for five years.
SETS_MAX = 2_000
AT_HAND = ("store", "reserve", "play", "offered", "inspection")
# From where dice are taken away to where.
REMOVED_FROM = {
    "store": ("reserve", "play", "offered", "inspection"),
    "withdrawn": AT_HAND,
    "cancelled": ("store", "withdrawn"),
    "destroyed": ("store", "withdrawn", "cancelled"),
    # Given up, one by one, by a supervisor: nobody has them, so they can be neither cancelled nor destroyed.
    "written_off": ("floor", "missing"),
}


def receive(state: DiceState, parts: Mapping[str, Any], context: Context) -> Entry:
    """A set arrives in the store."""
    name, number, serials = parts["set"], parts["dice"], parts.get("serials")
    for other, known in state.sets.items():
        if same_mark(name, other):
            number = len(known.dice)
            raise Refused("set_exists", f"set {other} was received already, with {number} dice; name it otherwise")
    if gone := [other for other in state.destroyed if same_mark(name, other)]:
        raise Refused("set_exists", f"a set {gone[0]} was received before, and destroyed; name this one otherwise")
    if len(state.sets) >= SETS_MAX:
        raise Refused("too_many_sets", f"the log holds {SETS_MAX} sets, and no more; record which were destroyed")
    if serials is not None:
        if len(serials) != number:
            more = f"; {', '.join(serials[number:])} too many" if len(serials) > number else ""
            raise Refused(
                "wrong_number", f"set {name} is to have {number} dice, but {len(serials)} serials are given{more}"
            )
        _check_new_serials(state, serials, parts["maker"])
    broken = list(judge.wrong_number(context.rules, name, number))
    broken += judge.destroyed_again(state, name, serials or (), parts["maker"])
    data = game_facts("receive", parts, context) | signatures(state, parts, context)
    data |= {
        "set": name,
        "dice": list(serials) if serials is not None else [str(number + 1) for number in range(number)],
        "numbered_by": "set" if serials is None else "serial",
        "maker": parts["maker"],
        "colour": parts["colour"],
        "house_mark": parts.get("house_mark"),
        "edge_hundredths_mm": parts.get("edge_hundredths_mm"),
    }
    return "dice_set_received", against(data, broken)


def _check_new_serials(state: DiceState, serials: list[str], maker: str) -> None:
    """Refuse the number of a die that is somewhere else; that of a destroyed one is recorded and raises an alert."""
    new = {folded_mark(serial) for serial in serials}
    for name, dice_set in state.sets.items():
        if dice_set.numbered_by != "serial" or not same_name(dice_set.maker, maker):
            continue
        for serial, die in dice_set.dice.items():
            if folded_mark(serial) in new and die.place != "destroyed":
                where = PLACE_WORDS[die.place]
                raise Refused("serial_exists", f"serial {serial} of {dice_set.maker} is {where} already, in set {name}")


def inspect(state: DiceState, parts: Mapping[str, Any], context: Context) -> Entry:
    """Dice are inspected; those found unsound stay where they are, unless all are withdrawn.

    Refuses what contradicts itself: dice called sound that nothing was looked at for, and a die called unsound where
    the check "sound" (in perfect state, without flaw) is good and nothing else failed; all other checks may be good of
    an unsound die. What a micrometer showed against the rules is against them, whatever it was called.
    """
    rules = context.rules
    name, dice_set = find_set(state, parts)
    dice = parts.get("dice", dice_set.at(*AT_HAND))
    check_dice(state, name, dice, AT_HAND)
    if not dice:
        raise Refused("wrong_place", f"no die of set {name} is at hand to be inspected")
    checks, edges = dict(parts["checks"]), dict(parts.get("edges_hundredths_mm", {}))
    instruments = dict(parts.get("instruments", {}))
    if unknown := [check for check in checks if check not in rules.checks]:
        raise Refused("unknown_check", f"{unknown[0]} is no check of {rules.name}; they are {', '.join(rules.checks)}")
    for die in (*parts.get("unsound", {}), *edges):
        if die not in dice:
            raise Refused("unknown_die", f"die {die} is not among those inspected: {', '.join(dice)}")
    broken, unsound = _findings(rules, name, dice, parts)
    sound = [die for die in dice if die not in unsound]
    broken += judge.sound_after_fault(rules, name, dice_set, sound)
    returning = all(dice_set.dice[die].place == "inspection" for die in dice)
    broken += judge.inspection_short(rules, checks, instruments, returning=returning)
    then = parts.get("then")
    if then in ("reserve", "play") and (stored := [die for die in dice if dice_set.dice[die].place == "store"]):
        raise Refused("wrong_place", f"die {stored[0]} of set {name} is in the store; place the set at the table first")
    targets = {} if then is None else dict.fromkeys(dice if then == "withdrawn" else sound, then)
    check_in_play(state, name, targets)
    reason = parts.get("reason", "die_off_table" if returning else "new_set")
    made = moves(name, dice_set, targets)
    if touches_play(made):
        broken += change_wrong(state, name, context, reason, {})
    in_reserve = then == "reserve" or any(dice_set.dice[die].place == "reserve" for die in dice)
    data = _facts("inspect", state, name, parts, context, reason, made, reserve=in_reserve)
    data |= {
        "dice": list(dice),
        "sound": sound,
        "unsound": unsound,
        "checks": checks,
        "not_checked": [check for check in rules.checks if check not in checks],
        "instruments": instruments,
        "edges_hundredths_mm": edges,
    }
    return "dice_set_inspected", deed(state, data, broken)


def _findings(
    rules: DiceRules, name: str, dice: list[str], parts: Mapping[str, Any]
) -> tuple[list[judge.Broken], dict[str, str]]:
    """What an inspection found against the rules, and the unsound dice with what is wrong. Raises Refused."""
    checks, instruments = parts["checks"], parts.get("instruments", {})
    edges, unsound = parts.get("edges_hundredths_mm", {}), dict(parts.get("unsound", {}))
    unseen = [die for die in dice if die not in unsound and die not in edges]
    if unseen and not checks and not instruments:
        raise Refused("nothing_inspected", f"nothing was looked at that says how die {unseen[0]} is; say what was")
    broken = [wrong for die, edge in edges.items() for wrong in judge.edge_wrong(rules, name, die, edge)]
    wrong_edges = {wrong["detail"]["dice"][0]: wrong["text"] for wrong in broken}
    failed = [f"not {rules.checks[check].text}" for check, good in checks.items() if not good]
    for instrument, said in instruments.items():
        shown: list[judge.Broken] = []
        if instrument == "micrometer":
            lengths = judge.edges_shown(said["showed"])
            shown = [wrong for edge in lengths for wrong in judge.edge_wrong(rules, name, None, edge)]
        broken += shown
        if shown or not said["sound"]:
            failed.append(f"{instrument.replace('_', ' ')}: {said['showed']}")
    if checks.get("sound") and not failed and (odd := [die for die in unsound if die not in wrong_edges]):
        text = f"die {odd[0]} is called unsound, but the check sound ({rules.checks['sound'].text}) is good"
        raise Refused("contradictory", f"{text}; say which check or instrument it failed")
    unsound = wrong_edges | unsound
    if failed and not unsound:
        # Which die it was is not said, so it may be any of them.
        unsound = {die: "; ".join(failed) for die in dice}
    return broken, unsound


def place(state: DiceState, parts: Mapping[str, Any], context: Context) -> Entry:
    """A set is brought from the store to the table, into the reserve."""
    name, dice_set = find_set(state, parts)
    coming = dice_set.at("store")
    if not coming:
        there = sorted({PLACE_WORDS[die.place] for die in dice_set.dice.values()})
        raise Refused("wrong_place", f"no die of set {name} is in the store; they are {' and '.join(there)}")
    broken = list(judge.set_unfit(context.rules, state, name, dice_set, coming_session(context), len(coming)))
    broken += judge.too_many_at_table(context.rules, state, name, len(coming))
    made = moves(name, dice_set, dict.fromkeys(coming, "reserve"))
    data = _facts("place", state, name, parts, context, "new_set", made, reserve=True)
    return "dice_set_placed", deed(state, data, broken)


def count(state: DiceState, parts: Mapping[str, Any], context: Context) -> Entry:
    """Dice are counted where they lie; what differs from the log is named die by die, and nothing is moved.

    At closing every die is to be accounted for, those on the floor and under inspection too. A count of a set that is
    not at the table is no reason to open the reserve.
    """
    name, dice_set = find_set(state, parts)
    seen: dict[str, list[str]] = {place: list(dice) for place, dice in parts["seen"].items()}
    counted = AT_TABLE if parts["count"] == "closing" else SERVING
    expected = {place: dice_set.at(place) for place in dict.fromkeys((*seen, *counted))}
    expected = {place: dice for place, dice in expected.items() if dice or place in seen}
    seen_at = {die: place for place, dice in seen.items() for die in dice}
    expected_at = {die: place for place, dice in expected.items() for die in dice}
    difference: list[dict[str, Any]] = []
    for die, there in dice_set.dice.items():
        if seen_at.get(die) != expected_at.get(die):
            difference.append({"die": die, "log": there.place, "seen": seen_at.get(die)})
    difference += [
        {"die": die, "log": None, "seen": place} for die, place in seen_at.items() if die not in dice_set.dice
    ]
    at_table = bool(dice_set.at(*AT_TABLE))
    if at_table and not difference and not seen_at:
        raise Refused("nothing_counted", f"the count sees no die of set {name}; say where they are seen")
    data = _facts("count", state, name, parts, context, "count", [], reserve=at_table)
    data |= {"count": parts["count"], "seen": seen, "expected": expected, "difference": difference}
    broken = judge.reserve_wrong(context.rules, name, seen) if parts["count"] == "opening" else []
    return "dice_counted", against(data, list(broken))


def remove(state: DiceState, parts: Mapping[str, Any], context: Context) -> Entry:
    """Dice go back to the store, or are withdrawn, cancelled or destroyed; or lost ones are written off.

    When a whole set leaves the table, a die of it that still lies on the floor somewhere is missing.
    """
    name, dice_set = find_set(state, parts)
    to = parts["to"]
    dice = parts.get("dice", dice_set.at(*REMOVED_FROM[to]))
    if to == "written_off":
        check_supervisor(state, context, parts["done_by"], "write a die off")
    elif lost := [die for die in dice if die in dice_set.dice and dice_set.dice[die].place in LOST]:
        where = PLACE_WORDS[dice_set.dice[lost[0]].place]
        text = f"die {lost[0]} of set {name} is {where}: nobody has it; record that it is found, or a supervisor"
        raise Refused("wrong_place", f"{text} writes it off")
    check_dice(state, name, dice, REMOVED_FROM[to])
    if not dice:
        wanted = ", ".join(PLACE_WORDS[place] for place in REMOVED_FROM[to])
        raise Refused("wrong_place", f"no die of set {name} is {wanted}, so none can go {_going(to)}")
    targets = dict.fromkeys(dice, to)
    if "dice" not in parts and to in ("store", "withdrawn"):
        targets |= dict.fromkeys(dice_set.at("floor"), "missing")
    from_reserve = any(dice_set.dice[die].place == "reserve" for die in dice)
    made = moves(name, dice_set, targets)
    broken: list[judge.Broken] = []
    all_go = all(die in dice for die in dice_set.at(*SERVING))
    if touches_play(made) and not (all_go and parts["reason"] == "closing"):
        broken += change_wrong(state, name, context, parts["reason"], {})
    data = _facts("remove", state, name, parts, context, parts["reason"], made, reserve=from_reserve)
    return "dice_set_moved", deed(state, data | {"to": to}, broken)


def change_wrong(
    state: DiceState, name: str, context: Context, reason: str, targets: Mapping[str, str]
) -> list[judge.Broken]:
    """What is wrong with a change of dice for this reason now."""
    fallen = fell(state, name, context, targets)
    return list(judge.change_forbidden(context.rules, reason, point_now(context), fell=fallen))


def deed(state: DiceState, data: dict[str, Any], broken: list[judge.Broken]) -> dict[str, Any]:
    """The data of an event that moves dice, with the rules that it breaks, the lid that was not opened among them."""
    if "lid" not in data:
        entry = data["action"] == "correction"
        broken = [*broken, *judge.lid_shut(state, data["moves"], data["opening"], entry=entry)]
    return against(data, broken)


def against(data: dict[str, Any], broken: list[judge.Broken]) -> dict[str, Any]:
    """The event's data with the rules that it breaks."""
    return data | {"against_rule": broken} if broken else data


def _facts(
    action: str,
    state: DiceState,
    name: str,
    parts: Mapping[str, Any],
    context: Context,
    reason: str,
    made: list[dict[str, str]],
    *,
    reserve: bool,
) -> dict[str, Any]:
    said = {"set": name, "reason": reason, "moves": made}
    said |= opening_facts(state, context, reason, made, reserve=reserve)
    return game_facts(action, parts, context) | said | signatures(state, parts, context)


def _going(to: str) -> str:
    return "back to the store" if to == "store" else f"to the {to} ones"
