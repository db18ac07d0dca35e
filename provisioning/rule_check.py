"""What is wrong with a rule file: every finding, not only the first.

The compiler is the one authority on what a rule file may say. It stops at the first fault, so each part is put alone
into a set that is sound for the rest and compiled. What a compiler need not mind is looked at here: sources, names,
results that no throw is left for, and what each bet is worth.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from engine_lite import rule_sets
from engine_lite.house_edge import Edge, NeverDecided, bets_as_made, house_edge, per_cent
from engine_lite.rule_compiler import compile_rules
from engine_lite.rule_data import RuleError
from engine_lite.rules import NUMBERS, BetRule
from engine_lite.steps import NO_ROLL_REASONS

ERROR, WARNING = "error", "warning"
# A bet that costs its players more than this share is most likely a slip of the pen.
EDGE_MAX = (1, 4)

_KIND = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_SOURCE = "the article of the regulation, or house"
_SOUND: dict[str, Any] = {
    "name": "sound",
    "version": 1,
    "title": "sound",
    "source": "house",
    "warnings": [],
    "options": {
        name: {"default": False, "values": [False, True], "about": "sound", "source": "house"}
        for name in ("winners_stay_up", "exact_amounts")
    },
    "shooter": {"needs": "line", "source": "house"},
    "dice_pass": {"come_out_craps": False, "source": "house"},
    "amounts": {"multiple_of_minimum": False, "source": "house"},
    "no_roll": {},
    "working": {},
    "order": [],
    "bets": {},
}
_SOUND_BET = {"stage": "one_roll", "name": "sound", "win": {"7": [1, 1]}, "lose": "rest", "source": "house"}
# Sections that say one thing, each under its source; in the file itself, and for each entry of the others.
_SAID_ONCE = ("shooter", "dice_pass", "amounts", "limits")
_SAID_EACH = ("no_roll", "working")


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong (ERROR) or doubtful (WARNING), with its place in the file and what would be right."""

    severity: str
    place: str
    text: str


def check_rules(data: Any) -> list[Finding]:
    """All findings on the parsed JSON of a rule file, errors first; none where it is sound beyond doubt."""
    if not isinstance(data, dict):
        return [Finding(ERROR, "the file", f"is {_shown(data)}; must be one object, the rule set")]
    compiler = [_finding(data, message) for message in _compiler_messages(data)]
    found = [*compiler, *_sources(data), *_no_roll(data), *_names(data), *_values(data)]
    if not compiler:
        found += [*_dead_results(data), *_edges(data)]
    once = list(dict.fromkeys(found))
    return sorted(once, key=lambda finding: finding.severity != ERROR)


# What the compiler says


def _compiler_messages(data: dict[str, Any]) -> list[str]:
    """Every message that the compiler has for the parts of the file, each compiled within a sound set."""
    messages: list[str] = []

    def compiles(part: dict[str, Any], chosen: dict[str, Any] | None = None) -> bool:
        try:
            compile_rules(part, chosen)
        except RuleError as error:
            messages.append(str(error))
            return False
        return True

    for section in sorted({*data, *_SOUND} - {"options", "working", "order", "bets"}):
        part = {key: value for key, value in _SOUND.items() if key != section}
        compiles({**part, section: data[section]} if section in data else part)
    options = dict(_SOUND["options"])
    for name, option in _entries(data, "options"):
        if compiles({**_SOUND, "options": {**_SOUND["options"], name: option}}):
            options[name] = option
    stubs = {kind: _SOUND_BET for kind, _ in _entries(data, "bets")}
    for kind, entry in _entries(data, "working"):
        known = {kind: _SOUND_BET} if kind in stubs else stubs
        compiles({**_SOUND, "bets": known, "order": sorted(known), "working": {kind: entry}})
    for kind, bet in _entries(data, "bets"):
        part = {**_SOUND, "options": options, **_with_parent(data, kind, bet)}
        referred = {name: option for name, option in options.items() if f'"option:{name}"' in json.dumps(bet)}
        for chosen in choices(referred):
            compiles(part, chosen)
    # What concerns the parts together, and the parts that are no objects; most of it has been said by now.
    compiles(data)
    if not messages:
        for chosen in choices(options):
            compiles(data, chosen)
    refused = {name for name, _ in _entries(data, "options") if name not in options}
    return [said for said in messages if not any(said.endswith(f"there is no option {name}") for name in refused)]


def _with_parent(data: dict[str, Any], kind: str, bet: Any) -> dict[str, Any]:
    """A bet alone or, where it lies on another, with that one before or after it as in the file."""
    bets = {kind: bet}
    parent = bet.get("parent") if isinstance(bet, dict) else None
    if isinstance(parent, str) and parent in data["bets"]:
        bets[parent] = data["bets"][parent]
    order = data.get("order")
    names = [name for name in order if isinstance(name, str)] if isinstance(order, list) else []
    return {"bets": bets, "order": sorted(bets, key=lambda name: names.index(name) if name in names else len(names))}


def choices(options: dict[str, Any]) -> list[dict[str, Any]]:
    """The options to try: all defaults, then each other value of each option alone."""
    others = [
        {name: value}
        for name, option in sorted(options.items())
        for value in option["values"]
        if value != option["default"]
    ]
    return [{}, *others]


def _entries(data: dict[str, Any], section: str) -> list[tuple[str, Any]]:
    entries = data.get(section)
    return sorted(entries.items()) if isinstance(entries, dict) else []


# What would be right where something is missing.
_WANTED = {
    "source": _SOURCE,
    "max_source": _SOURCE,
    "version": "a positive whole number, one more with each change",
    "warnings": "a list of texts, empty where there is nothing to warn of",
    "order": "a list that names each bet once, in dealing order",
    "stage": "one of line, odds, multi_roll, one_roll, collect, points",
    "win": 'an object of results with what they pay, such as {"7": [4, 1]}',
    "lose": 'a list of results such as ["7"], or "rest"',
    "collect": 'a list of results such as ["2", "3", "4", "5", "6"]',
    "pays": "a ratio to one such as [3, 2], or for points an object of them by count",
    "max": "the share of the flat bet or of the table's maximum, such as [3, 1]",
    "rate": "a ratio such as [5, 100]",
}


def _finding(data: dict[str, Any], message: str) -> Finding:
    """A message of the compiler, which begins with the place, as what is wrong and what would be right."""
    place, _, text = message.partition(" ")
    if place in ("the", "option"):
        return Finding(ERROR, "the file", message)
    place = place.removesuffix(":")
    if place == "order":
        text = _order_text(data) or text
    elif text == "is missing":
        text = f"is missing; must be {_WANTED.get(place.rsplit('.', 1)[-1], 'there, as in the rule sets of boxman')}"
    elif text.startswith("must "):
        value: Any = data
        for key in place.split("."):
            if not isinstance(value, dict) or key not in value:
                return Finding(ERROR, place, text)
            value = value[key]
        text = f"is {_shown(value)}; {text}"
    return Finding(ERROR, place, text)


def _order_text(data: dict[str, Any]) -> str | None:
    order, bets = data.get("order"), data.get("bets")
    if not isinstance(order, list) or not isinstance(bets, dict) or not all(isinstance(name, str) for name in order):
        return None
    faults = [f"does not name {name}" for name in bets if name not in order]
    faults += [f"names {name}, which is no bet" for name in dict.fromkeys(order) if name not in bets]
    faults += [f"names {name} more than once" for name in bets if order.count(name) > 1]
    return f"{', '.join(faults)}; must name each bet once"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


# What the compiler need not mind


def _sources(data: dict[str, Any]) -> Iterator[Finding]:
    """Every number and every choice stands under a source that says something."""
    wanted = [("", data)]
    wanted += [(section, data[section]) for section in _SAID_ONCE if section in data]
    for section in _SAID_EACH:
        wanted += [(f"{section}.{name}", entry) for name, entry in _entries(data, section)]
    for kind, bet in _entries(data, "bets"):
        if not isinstance(bet, dict):
            continue
        if "commission" in bet:
            wanted.append((f"bets.{kind}.commission", bet["commission"]))
        for number, entry in _entries(bet, "numbers"):
            if isinstance(entry, dict) and "max" in entry and "max_source" not in {**bet, **entry}:
                place = f"bets.{kind}.numbers.{number}.max"
                yield Finding(ERROR, place, f"has no max_source, neither here nor for the bet; must be {_SOURCE}")
    for place, entry in wanted:
        if isinstance(entry, dict) and "source" not in entry:
            yield Finding(ERROR, f"{place}.source".lstrip("."), f"is missing; must be {_SOURCE}")
    yield from _blank_sources(data, "")


def _blank_sources(value: Any, place: str) -> Iterator[Finding]:
    if isinstance(value, dict):
        for key, item in value.items():
            here = f"{place}.{key}".lstrip(".")
            if key in ("source", "max_source") and not (isinstance(item, str) and item.strip()):
                yield Finding(ERROR, here, f"is {_shown(item)}; must be {_SOURCE}")
            yield from _blank_sources(item, here)


def _no_roll(data: dict[str, Any]) -> Iterator[Finding]:
    """Each reason for a void throw is there and says whether it is one."""
    reasons = data.get("no_roll")
    right = 'must say of each reason {"void": true or false, "source": ...}'
    if not isinstance(reasons, dict):
        wrong = f"is {_shown(reasons)}" if "no_roll" in data else "is missing"
        yield Finding(ERROR, "no_roll", f"{wrong}; {right}: {', '.join(NO_ROLL_REASONS)}")
        return
    for reason in NO_ROLL_REASONS:
        if reason not in reasons:
            yield Finding(ERROR, f"no_roll.{reason}", f"is missing; {right}")
    for reason, said in sorted(reasons.items()):
        place = f"no_roll.{reason}"
        if reason not in NO_ROLL_REASONS:
            yield Finding(ERROR, place, f"is no reason; the reasons are {', '.join(NO_ROLL_REASONS)}")
        elif not isinstance(said, dict):
            yield Finding(ERROR, place, f"is {_shown(said)}; {right}")
        else:
            if type(said.get("void")) is not bool:
                yield Finding(ERROR, f"{place}.void", f"is {_shown(said.get('void'))}; must be true or false")
            for key in sorted(set(said) - {"void", "source"}):
                yield Finding(ERROR, f"{place}.{key}", "is no key here; the keys are void, source")


def _names(data: dict[str, Any]) -> Iterator[Finding]:
    """Kinds are lower_snake_case, and no two bets go by the same one."""
    places: dict[str, str] = {}
    for kind, bet in _entries(data, "bets"):
        place = f"bets.{kind}"
        if not _KIND.fullmatch(kind):
            yield Finding(ERROR, place, "is no name for a bet; must be lower_snake_case such as aces_or_twelve")
        for name, where in kinds_of(kind, bet).items():
            if name in places:
                yield Finding(ERROR, where, f"would be called {name} like {places[name]}; each bet needs its own name")
            places.setdefault(name, where)


def kinds_of(kind: str, bet: Any) -> dict[str, str]:
    """The kinds that one entry of "bets" defines, with their places in the file."""
    if isinstance(bet, dict) and isinstance(bet.get("each"), dict):
        return {f"{kind}_{result.replace('-', '_')}": f"bets.{kind}.each.{result}" for result in bet["each"]}
    return {kind: f"bets.{kind}"}


def _values(data: dict[str, Any]) -> Iterator[Finding]:
    """Values that are each of the right form and make no sense together."""
    limits = data.get("limits")
    bounds = limits.get("maximum_in_minima") if isinstance(limits, dict) else None
    if isinstance(bounds, list) and [type(bound) for bound in bounds] == [int, int] and bounds[0] > bounds[1]:
        yield Finding(
            ERROR, "limits.maximum_in_minima", f"is {_shown(bounds)}; must be the lower bound, then the upper"
        )
    options = dict(_entries(data, "options"))
    for kind, bet in _entries(data, "bets"):
        commission = bet.get("commission") if isinstance(bet, dict) else None
        taken = commission.get("taken") if isinstance(commission, dict) else None
        if not isinstance(taken, str):
            continue
        option = options.get(taken.removeprefix("option:"))
        values = option.get("values") if isinstance(option, dict) else None
        if not taken.startswith("option:") or not isinstance(values, list):
            text = f'is {_shown(taken)}; must name an option, such as "option:vig"'
            yield Finding(ERROR, f"bets.{kind}.commission.taken", text)
        elif any(value not in ("on_win", "up_front") for value in values):
            text = f"is {_shown(taken)}, which may be {_shown(values)}; its values must be on_win and up_front"
            yield Finding(ERROR, f"bets.{kind}.commission.taken", text)


# Results that no throw is left for


def _dead_results(data: dict[str, Any]) -> Iterator[Finding]:
    """Results that are named and never come about, because others that go before have all their throws."""
    for kind, bet in _entries(data, "bets"):
        place = f"bets.{kind}"
        if bet["stage"] == "line":
            travels = [(f"{place} as a number to travel to", str(number)) for number in NUMBERS]
            yield from _dead(data, [*_named(bet["first_roll"], f"{place}.first_roll"), *travels])
        elif bet["stage"] == "collect":
            named = [(f"{place}.{key}", result) for key in ("lose", "collect") for result in bet[key]]
            yield from _dead(data, named)
        elif "numbers" in bet:
            for number, entry in sorted(bet["numbers"].items()):
                yield from _dead(data, _named(entry, f"{place}.numbers.{number}"))
        elif "win" in bet:
            yield from _dead(data, _named(bet, place))


def _named(bet: dict[str, Any], place: str) -> list[tuple[str, str]]:
    """The results that are named under "lose", "win" and "push" with their places, in the order in which they go."""
    lose = [] if bet["lose"] == "rest" else [(f"{place}.lose", result) for result in bet["lose"]]
    win = [(f"{place}.win", result) for result in sorted(bet["win"])]
    push = [(f"{place}.push", result) for result in bet.get("push", [])]
    return [*sorted([*lose, *win], key=lambda named: "-" in named[1]), *push]


def _dead(data: dict[str, Any], named: list[tuple[str, str]]) -> Iterator[Finding]:
    alive: set[int] = set()
    for chosen in choices(data["options"]):
        owner: dict[tuple[int, int], int] = {}
        for position, (_, result) in enumerate(named):
            option = result.removeprefix("option:")
            if option != result:
                result = str(chosen.get(option, data["options"][option]["default"]))
            owner.update(dict.fromkeys(_throws(result), position))
        alive.update(owner.values())
    for position, (place, result) in enumerate(named):
        if position not in alive:
            yield Finding(ERROR, place, f"names {result}, of which others take every throw; name each result once")


def _throws(result: str) -> list[tuple[int, int]]:
    throws = [(first, second) for first in range(1, 7) for second in range(1, 7)]
    if "-" in result:
        return [throw for throw in throws if "-".join(str(die) for die in sorted(throw)) == result]
    return [throw for throw in throws if str(sum(throw)) == result]


# What each bet is worth


def _edges(data: dict[str, Any]) -> Iterator[Finding]:
    """Bets that are never decided, that favour the player, or that cost more than EDGE_MAX."""
    places = {name: place for kind, bet in data["bets"].items() for name, place in kinds_of(kind, bet).items()}
    if data["name"] in rule_sets.NAMES and data != rule_sets.load(data["name"]):
        text = f"is {data['name']}, a rule set that comes with boxman and says otherwise; choose another name"
        yield Finding(WARNING, "name", text)
    found: set[str] = set()
    for chosen in choices(data["options"]):
        under = "".join(f" with {name} {_shown(value)}" for name, value in chosen.items())
        rules = compile_rules(data, chosen)
        for rule in bets_as_made(rules):
            place = _place(places, rule)
            if place in found:
                continue
            try:
                finding = _worth(place, house_edge(rules, rule), under)
            except NeverDecided:
                finding = Finding(ERROR, place, "is never decided; some throw must win or lose")
            if finding is not None:
                found.add(place)
                yield finding


def _place(places: dict[str, str], rule: BetRule) -> str:
    return places[rule.kind] + ("" if rule.number is None else f".numbers.{rule.number}")


def _worth(place: str, edge: Edge, under: str) -> Finding | None:
    num, den = edge.per_bet
    said = f"{num}/{den} ({per_cent(edge.per_bet)})" if len(str(den)) <= 12 else per_cent(edge.per_bet)
    if num < 0:
        text = (
            f"the player has the advantage, the house edge is {said}{under}; "
            "correct what it pays, or keep it and say so under warnings"
        )
        return Finding(WARNING, place, text)
    if num * EDGE_MAX[1] > den * EDGE_MAX[0]:
        limit = per_cent(EDGE_MAX)
        return Finding(
            WARNING, place, f"the house edge is {said}{under}, above {limit}; see whether it pays what it should"
        )
    return None
