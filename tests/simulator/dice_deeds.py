"""Actions on the dice as a boxman gives them, from chance: mostly right, with dice that are there."""

from random import Random
from typing import Any

from device.dice_control.dice_actions import ActionError, parse_action
from device.dice_control.dice_rules import CHANGE_REASONS, REASONS
from device.session import Session

Action = dict[str, Any]
NAMES = ("Ana", "Luis", "Eva")
SETS = ("A", "B", "C")
# What makes a table ready; later actions are then about something.
MORNING: tuple[Action, ...] = (
    {"on_duty": {"boxman": "Ana", "witness": "Luis"}},
    {"receive": {"set": "A", "dice": 6, "maker": "Bold", "colour": "red"}},
    {"inspect": {"set": "A", "checks": {}}},
    {"place": {"set": "A"}},
    {"change": {"taken": ["1", "2"]}},
)


def some_action(random: Random, session: Session) -> Action | None:
    """An action of the right shape, or None where chance made none."""
    names = tuple(_DEEDS)
    kind = random.choice((*names, "swap", "swap", "off_table", "found", "void_throw", "explain"))
    try:
        return parse_action({kind: _DEEDS[kind](random, session)})
    except ActionError:
        return None


def _dice(random: Random, session: Session, count: int, *places: str) -> list[str]:
    there = [die for _, die in session.dice.state.at(*places)]
    return random.sample(there, min(count, len(there)))


def _die(random: Random, session: Session, *places: str) -> str:
    return next(iter(_dice(random, session, 1, *places)), "1")


def _receive(random: Random, _session: Session) -> Any:
    dice = random.randint(4, 6)
    said: dict[str, Any] = {"set": random.choice(SETS), "dice": dice, "maker": "Bold", "colour": "red"}
    if random.random() < 0.3:
        said["serials"] = [f"{random.randrange(10**6):06}" for _ in range(dice)]
    return said


def _inspect(random: Random, session: Session) -> Any:
    said: dict[str, Any] = {"set": random.choice(SETS), "checks": {}}
    if random.random() < 0.3:
        said = {"checks": {}, "dice": _dice(random, session, 2, "inspection", "floor") or ["1"]}
        said["then"] = random.choice(("reserve", "play", "withdrawn"))
    if random.random() < 0.1:
        said["unsound"] = {_die(random, session, "inspection", "store"): "chipped"}
    return said


def _swap(random: Random, session: Session) -> Any:
    out = _dice(random, session, random.choice((1, 1, 2)), "play")
    said: dict[str, Any] = {
        "out": out,
        "in": _dice(random, session, max(1, 2 - len(session.dice.state.at("play")) + len(out)), "reserve"),
        "reason": random.choice(CHANGE_REASONS),
    }
    if random.random() < 0.3:
        said["to"] = random.choice(("reserve", "inspection", "floor", "withdrawn"))
    return said


def _correction(random: Random, session: Session) -> Any:
    die = _die(random, session, "reserve", "play", "floor", "inspection")
    return {"places": {die: random.choice(("store", "reserve", "play", "floor", "inspection"))}, "note": "seen"}


def _count(random: Random, session: Session) -> Any:
    seen = {place: [die for _, die in session.dice.state.at(place)] for place in ("reserve", "play", "floor")}
    return {"count": random.choice(("opening", "closing", "check")), "seen": {k: v for k, v in seen.items() if v}}


def _remove(random: Random, session: Session) -> Any:
    said: dict[str, Any] = {
        "set": random.choice(SETS),
        "to": random.choice(("store", "withdrawn", "cancelled", "destroyed")),
        "reason": "closing",
    }
    if random.random() < 0.5:
        said["dice"] = _dice(random, session, 2, "reserve", "inspection") or ["1"]
    return said


def _void_throw(random: Random, session: Session) -> Any:
    void = session.last_no_roll
    return {"no_roll": 1 if void is None else void["seq"], "dice": _dice(random, session, 1, "play") or ["1"]}


def _explain(random: Random, _session: Session) -> Any:
    return {"reason": random.choice(REASONS), "as": random.choice(("boxman", "supervisor")), "done_by": "Eva"}


_DEEDS = {
    "on_duty": lambda random, _session: dict(zip(("boxman", "witness"), random.sample(NAMES, 2), strict=True)),
    "receive": _receive,
    "inspect": _inspect,
    "place": lambda random, _session: {"set": random.choice(SETS)},
    "offer": lambda random, session: {"dice": _dice(random, session, 5, "reserve") or ["1"]},
    "change": lambda random, session: {"taken": _dice(random, session, 2, "offered", "reserve") or ["1", "2"]},
    "swap": _swap,
    "off_table": lambda random, session: {"dice": [_die(random, session, "play")]},
    "void_throw": _void_throw,
    "found": lambda random, session: {"die": _die(random, session, "floor", "missing")},
    "missing": lambda random, session: {"dice": [_die(random, session, "floor")]},
    "correction": _correction,
    "count": _count,
    "remove": _remove,
    "explain": _explain,
}
