"""The actions of the console on the dice log: their shapes, checked part by part.

An action is an object with one key, its name; the value holds its parts. One finished deed is one action. Parts in
brackets may be left out, and then mean what is said here:

  [set]        the only set at the table
  [done_by]    the boxman on duty, [seen_by] the witness on duty; names of people, of which those that read alike
               are one (`names`)
  [note]       up to 200 visible characters

{"on_duty":  {boxman, witness}}
{"receive":  {set, dice: 5, maker, colour, [serials: ["004711", ...]], [house_mark], [edge_hundredths_mm: 1905]}}
{"inspect":  {[set], [dice: all in the store, at the table or under inspection], checks: {name: true | false},
              [unsound: {die: "what is wrong"}], [instruments: {"micrometer": {"sound": true, "showed": "19.05 mm"}}],
              [edges_hundredths_mm: {die: 1905}], [then: "reserve" | "play" | "withdrawn": they stay where they are],
              [reason: die_off_table for dice under inspection, else new_set]}}
             Something must have been looked at for each die that is not unsound. Where a die is unsound, the check
             "sound" is not true, unless something else failed.
{"place":    {set}}                                            store -> reserve; reason new_set
{"offer":    {[set], [reason: offered_to_shooter], [dice: all in play and in the reserve], [asked_by, asked_by_name]}}
{"change":   {[set], taken: [die, die], [reason: offered_to_shooter], [offered: all], [asked_by, asked_by_name]}}
{"swap":     {[set], out: [die ...], in: [die ...], reason, [to: by the reason], [asked_by, asked_by_name]}}
             Afterwards two dice are in play. `out` is empty where a die has left play before (floor, inspection).
             `to` is reserve | inspection | floor | withdrawn; die_off_table: floor; damage: inspection; else reserve.
{"off_table": {[set], dice: [die ...]}}                        play, offered or reserve -> floor, outside a throw
{"void_throw": {[set], no_roll: seq, dice: [die ...]}}         the dice concerned by the last void throw
{"found":    {[set], die, [to: "inspection" | "reserve" | "play"; inspection]}}
{"missing":  {[set], dice: [die ...]}}
{"correction": {[set], places: {die: place}, note, [count: seq]}}        place: store, reserve, play, floor, inspection
{"count":    {[set], count: "opening" | "closing" | "check", seen: {place: [die ...]}}}
{"remove":   {set, to: "store" | "withdrawn" | "cancelled" | "destroyed", reason, [dice: all that can go there]}}
{"remove":   {set, to: "written_off", reason, dice: [die ...], done_by}}
             Lost dice, from the floor or missing, are given up; done_by is a supervisor's own name.
{"explain":  {[opening: seq of the latest unexplained opening], reason, as: "boxman" | "supervisor"}}
             A supervisor's own name must be given as done_by. `count` only after a count that belongs to this opening
             or came after its closing.

[set], [done_by], [seen_by] and [note] are parts of every action but on_duty (none) and explain (no set, no seen_by).
[asked_by] is shooter | player | inspector | supervisor | boxman; where it is left out, whom the reason names, if any.
"""

import re
from collections.abc import Callable
from typing import Any

from device.dice_control.dice_rules import CHANGE_REASONS, INSTRUMENTS, REASONS
from device.dice_control.names import NAME_MAX, folded_mark, mark_fault, person_fault, text_fault

NOTE_MAX = 200
# No jurisdiction has more, nor has a table more slots.
DICE_IN_SET_MAX = 8
EDGE_HUNDREDTHS_MM_MAX = 10_000
ASKERS = ("shooter", "player", "inspector", "supervisor", "boxman")
COUNTS = ("opening", "closing", "check")
COUNTED_PLACES = ("reserve", "play", "offered", "inspection", "floor", "store")
CORRECTION_PLACES = ("store", "reserve", "play", "floor", "inspection")
REMOVAL_REASONS = ("inspector_request", "boxman_order", "damage", "die_off_table", "new_set", "closing")

Check = Callable[[str, Any], None]
_NUMBER = re.compile(r"[0-9]{1,4}")


class ActionError(ValueError):
    """An action of the wrong shape: `field` names the part that is wrong, the message what would be right."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field} {message}")
        self.field = field
        self.message = message


def parse_action(body: object) -> dict[str, Any]:
    """The action in `body`, every part of the right shape. Raises ActionError."""
    if not isinstance(body, dict) or len(body) != 1 or next(iter(body)) not in _ACTIONS:
        raise ActionError("action", "must be an object with one of " + ", ".join(_ACTIONS))
    ((name, parts),) = body.items()
    if not isinstance(parts, dict):
        raise ActionError(name, "must be an object")
    needed, optional = _ACTIONS[name]
    for part in parts:
        if part not in needed and part not in optional:
            raise ActionError(f"{name}.{part}", "is not known; the parts are " + ", ".join((needed | optional).keys()))
    for part, check in (needed | optional).items():
        if part in parts:
            check(f"{name}.{part}", parts[part])
        elif part in needed:
            raise ActionError(f"{name}.{part}", "is missing")
    if name == "explain" and parts["as"] == "supervisor" and "done_by" not in parts:
        raise ActionError("explain.done_by", "is missing: a supervisor signs with a name of their own")
    if name == "remove" and parts["to"] == "written_off":
        if "dice" not in parts:
            raise ActionError("remove.dice", "is missing: dice are written off one by one")
        if "done_by" not in parts:
            raise ActionError("remove.done_by", "is missing: a supervisor signs with a name of their own")
    return {name: dict(parts)}


def acting_supervisor(action: dict[str, Any]) -> str | None:
    """Who does this as a supervisor: explains an opening, or writes dice off; None for every other action."""
    ((name, parts),) = action.items()
    as_supervisor = (name == "explain" and parts["as"] == "supervisor") or (
        name == "remove" and parts["to"] == "written_off"
    )
    supervisor: str | None = parts["done_by"] if as_supervisor else None
    return supervisor


def _text(length_max: int) -> Check:
    def check(field: str, value: Any) -> None:
        if fault := text_fault(value, length_max):
            raise ActionError(field, fault)

    return check


def _person(field: str, value: Any) -> None:
    if fault := person_fault(value):
        raise ActionError(field, fault)


def _asker(field: str, value: Any) -> None:
    """Who asked for other dice: a person by name, or a player who is known by a number."""
    if not (isinstance(value, str) and _NUMBER.fullmatch(value)):
        _person(field, value)


def _new_mark(field: str, value: Any) -> None:
    """What a set or a die is to be called. One that is there is referred to as it was named, also by old journals."""
    if fault := mark_fault(value):
        raise ActionError(field, fault)


def _one_of(allowed: tuple[str, ...]) -> Check:
    def check(field: str, value: Any) -> None:
        if not isinstance(value, str) or value not in allowed:
            raise ActionError(field, "must be one of " + ", ".join(allowed))

    return check


def _number(minimum: int, maximum: int) -> Check:
    def check(field: str, value: Any) -> None:
        if type(value) is not int or not minimum <= value <= maximum:
            raise ActionError(field, f"must be a whole number from {minimum} to {maximum}")

    return check


def _dice(fewest: int, most: int) -> Check:
    def check(field: str, value: Any) -> None:
        if not isinstance(value, list) or not fewest <= len(value) <= most:
            said = str(fewest) if fewest == most else f"{fewest} to {most}"
            raise ActionError(field, f"must be a list of {said} dice")
        for die in value:
            _NAME(field, die)
            if value.count(die) > 1:
                raise ActionError(field, f"names die {die} twice")

    return check


def _serials(field: str, value: Any) -> None:
    _SOME_DICE(field, value)
    known: dict[str, str] = {}
    for serial in value:
        _new_mark(field, serial)
        other = known.setdefault(folded_mark(serial), serial)
        if other != serial:
            raise ActionError(field, f"names {serial}, which reads like {other}; two dice must not")


def _by_key(check_key: Check, check_value: Check) -> Check:
    def check(field: str, value: Any) -> None:
        if not isinstance(value, dict) or len(value) > COUNT_KEYS_MAX:
            raise ActionError(field, f"must be an object of at most {COUNT_KEYS_MAX} parts")
        for key, part in value.items():
            check_key(field, key)
            check_value(f"{field}.{key}", part)

    return check


def _true_or_false(field: str, value: Any) -> None:
    if type(value) is not bool:
        raise ActionError(field, "must be true or false")


def _instrument(field: str, value: Any) -> None:
    if not isinstance(value, dict) or value.keys() != {"sound", "showed"}:
        raise ActionError(field, "must be an object with sound (true or false) and showed (what it showed)")
    _true_or_false(f"{field}.sound", value["sound"])
    _NOTE(f"{field}.showed", value["showed"])


def _seen(field: str, value: Any) -> None:
    _by_key(_one_of(COUNTED_PLACES), _dice(0, DICE_IN_SET_MAX))(field, value)
    dice = [die for place in value.values() for die in place]
    for die in dice:
        if dice.count(die) > 1:
            raise ActionError(field, f"names die {die} in two places")


COUNT_KEYS_MAX = 32
_NAME = _text(NAME_MAX)
_NOTE = _text(NOTE_MAX)
_SEQ = _number(1, 2**63 - 1)
_EDGE = _number(1, EDGE_HUNDREDTHS_MM_MAX)
_SOME_DICE = _dice(1, DICE_IN_SET_MAX)
_SIGNED: dict[str, Check] = {"done_by": _person, "seen_by": _person, "note": _NOTE}
_WITH_SET: dict[str, Check] = {"set": _NAME} | _SIGNED
_ASKED: dict[str, Check] = {"asked_by": _one_of(ASKERS), "asked_by_name": _asker}
_CHANGE_REASON = _one_of(CHANGE_REASONS)

# Of each action: the parts it needs, and those that may be left out.
_ACTIONS: dict[str, tuple[dict[str, Check], dict[str, Check]]] = {
    "on_duty": ({"boxman": _person, "witness": _person}, {}),
    "receive": (
        {"set": _new_mark, "dice": _number(2, DICE_IN_SET_MAX), "maker": _NAME, "colour": _NAME},
        {"serials": _serials, "house_mark": _NAME, "edge_hundredths_mm": _EDGE} | _SIGNED,
    ),
    "inspect": (
        {"checks": _by_key(_NAME, _true_or_false)},
        {
            "dice": _SOME_DICE,
            "unsound": _by_key(_NAME, _NOTE),
            "instruments": _by_key(_one_of(INSTRUMENTS), _instrument),
            "edges_hundredths_mm": _by_key(_NAME, _EDGE),
            "then": _one_of(("reserve", "play", "withdrawn")),
            "reason": _one_of(REASONS),
        }
        | _WITH_SET,
    ),
    "place": ({"set": _NAME}, _SIGNED),
    "offer": ({}, {"reason": _CHANGE_REASON, "dice": _SOME_DICE} | _ASKED | _WITH_SET),
    "change": ({"taken": _dice(2, 2)}, {"reason": _CHANGE_REASON, "offered": _SOME_DICE} | _ASKED | _WITH_SET),
    "swap": (
        {"out": _dice(0, 2), "in": _dice(1, 2), "reason": _CHANGE_REASON},
        {"to": _one_of(("reserve", "inspection", "floor", "withdrawn"))} | _ASKED | _WITH_SET,
    ),
    "off_table": ({"dice": _SOME_DICE}, _WITH_SET),
    "void_throw": ({"no_roll": _SEQ, "dice": _dice(1, 2)}, _WITH_SET),
    "found": ({"die": _NAME}, {"to": _one_of(("inspection", "reserve", "play"))} | _WITH_SET),
    "missing": ({"dice": _SOME_DICE}, _WITH_SET),
    "correction": (
        {"places": _by_key(_NAME, _one_of(CORRECTION_PLACES)), "note": _NOTE},
        {"count": _SEQ} | _WITH_SET,
    ),
    "count": ({"count": _one_of(COUNTS), "seen": _seen}, _WITH_SET),
    "remove": (
        {
            "set": _NAME,
            "to": _one_of(("store", "withdrawn", "cancelled", "destroyed", "written_off")),
            "reason": _one_of(REMOVAL_REASONS),
        },
        {"dice": _SOME_DICE} | _SIGNED,
    ),
    "explain": (
        {"reason": _one_of(REASONS), "as": _one_of(("boxman", "supervisor"))},
        {"opening": _SEQ, "done_by": _person, "note": _NOTE},
    ),
}
