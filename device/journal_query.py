"""What a supervisor asks the journal: events that match a filter, sessions, hands of the dice, a roll settled again.

Each answer looks at a bounded number of events, the latest first, and says from where to go on; so no question takes
long, however long the journal. Pure but for what reads the events.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from device.dice_control.names import same_name
from device.event import Event, parse
from device.scenario_export import sessions as scenario_sessions
from device.session import Session
from engine_lite.json_text import json_text
from engine_lite.refusal import Refused

FOUND_MAX: Final = 40
"""The events of one page."""
LOOKED_AT_MAX: Final = 20_000
"""The events that one question looks at."""
DATA_BYTES_MAX: Final = 8_192
"""An event whose data is longer is shown without it."""

_BATCH: Final = 500
_PEOPLE: Final = frozenset(
    {"person", "name", "done_by", "seen_by", "boxman", "witness", "asked_by_name", "explained_by"}
)
# What leads a session from its opening to a roll.
_GAME: Final = frozenset(
    {
        "table_opened",
        "bet",
        "reduce",
        "take_down",
        "working",
        "shooter",
        "no_roll",
        "roll",
        "correct",
        "roll_corrected",
        "settlement_adjusted",
        "limits_changed",
    }
)
ROLLS: Final = ("roll", "correct", "roll_corrected")

Lines = Callable[[int, int], list[str]]
"""Gives the lines of up to so many events (second) from one on (first)."""


class NoAnswer(Exception):
    """The journal has no answer to this; one line says why."""


@dataclass(frozen=True)
class Filter:
    """Which events are asked for; what is None matches all. Times are RFC 3339, as far as they are given."""

    type: str | None = None
    since: str | None = None
    until: str | None = None
    roll: int | None = None
    player: str | None = None
    name: str | None = None

    def matches(self, event: Mapping[str, Any]) -> bool:
        """Whether an event is asked for."""
        data = event["data"]
        return (
            (self.type is None or event["type"] == self.type)
            and (self.since is None or event["wall"] >= self.since)
            and (self.until is None or event["wall"][: len(self.until)] <= self.until)
            and (self.roll is None or _roll_of(event["type"], data) == self.roll)
            and (self.player is None or self.player in _values(data, {"player", "shooter"}))
            and (self.name is None or any(same_name(self.name, name) for name in _values(data, _PEOPLE)))
        )


def search(read: Lines, first: int, before: int, wanted: Filter) -> dict[str, Any]:
    """The latest events before event `before` that match, and where to go on (None: nothing is left).

    `first` is the first event that the journal has.
    """
    found: list[dict[str, Any]] = []
    looked_at = 0
    for looked_at, line in enumerate(_backward(read, first, before), start=1):
        event = json.loads(line)
        before = event["seq"]
        if wanted.matches(event):
            shown = {name: event[name] for name in ("seq", "wall", "clock", "type")}
            fits = len(line) <= DATA_BYTES_MAX
            found.append(shown | {"data": event["data"] if fits else None, "bytes": len(line.encode())})
        if len(found) == FOUND_MAX or looked_at == LOOKED_AT_MAX:
            break
    return {"events": found, "looked_at": looked_at, "before": before if before > first else None}


def sessions(read: Lines, first: int, before: int, number: int) -> dict[str, Any]:
    """The latest sessions that were opened before event `before`, the last of which is session `number`."""
    found = []
    rolls = 0
    closed: str | None = None
    ended = before
    for looked_at, line in enumerate(_backward(read, first, before), start=1):
        event = json.loads(line)
        seq, kind, data = event["seq"], event["type"], event["data"]
        if kind == "table_closed":
            closed = event["wall"]
        elif kind == "roll":
            rolls += 1
        elif kind == "table_opened":
            about = {"number": number, "opened_seq": seq, "opened": event["wall"], "closed": closed, "rolls": rolls}
            terms = {"rules": data["rule_set"]["name"], "limits": data["limits"], "unit": data["unit"]}
            found.append(about | terms | {"person": data.get("person")})
            number, closed, rolls, ended = number - 1, None, 0, seq
        # Never within a session, which would then be counted in part.
        if len(found) == FOUND_MAX or (looked_at >= LOOKED_AT_MAX and ended == seq):
            break
    return {"sessions": found, "before": ended if found and ended > first else None, "number": number}


@dataclass
class _Hand:
    shooter: str | None
    begins: str
    from_roll: int
    rolls: int = 0
    points: int = 0
    ended_by: str | None = None


@dataclass
class _Throw:
    number: int
    wall: str
    shooter: str | None
    dice: list[int]
    point_before: int | None
    point: int | None


@dataclass
class _Log:
    shooter: str | None = None
    throws: dict[int, _Throw] = field(default_factory=dict)


def shooters(read: Lines, opened_seq: int) -> dict[str, Any]:
    """The hands of one session, the latest first: who had the dice, for how many rolls, the points that were made."""
    log = _Log()
    for event in _session_events(read, opened_seq):
        data = event["data"]
        match event["type"]:
            case "shooter":
                log.shooter = data["step"]["shooter"]
            case "roll" | "correct":
                dice = data["step"].get("roll") or data["step"]["correct"]
                number = data["number"]
                former = log.throws.get(number)
                by = former.shooter if former else log.shooter
                log.throws[number] = _Throw(number, event["wall"], by, dice, data["point_before"], data["point"])
            case "roll_corrected":
                for roll in data["rolls"]:
                    throw = log.throws[roll["number"]]
                    throw.dice, throw.point_before, throw.point = roll["dice"], roll["point_before"], roll["point"]
    hands: list[_Hand] = []
    for number in sorted(log.throws):
        throw = log.throws[number]
        if not hands or hands[-1].ended_by is not None or hands[-1].shooter != throw.shooter:
            hands.append(_Hand(throw.shooter, throw.wall, number))
        hand = hands[-1]
        hand.rolls += 1
        total = sum(throw.dice)
        hand.points += throw.point_before is not None and total == throw.point_before
        if throw.point_before is not None and total == 7:
            hand.ended_by = "seven_out"
    return {"hands": [vars(hand) for hand in reversed(hands)][:200]}


def settle_again(read: Lines, first: int, seq: int) -> dict[str, Any]:
    """The roll of event `seq` settled anew, from its session's opening on, beside what the journal says.

    Raises NoAnswer.
    """
    target = _event(read, seq)
    if target["type"] not in ROLLS:
        raise NoAnswer(f"event {seq} is no roll and no correction of one")
    opened_seq = _opening_before(read, first, seq)
    session = Session()
    for event in _session_events(read, opened_seq):
        if event["seq"] > seq:
            break
        if event["type"] not in _GAME:
            continue
        # The session counts what it is given; here it is given less than all.
        session.seq = event["seq"] - 1
        said = event["data"]
        bare = {name: said[name] for name in said if name not in ("command", "report")}
        try:
            _, again = session.record(event["type"], bare)
        except (Refused, KeyError, TypeError, ValueError) as error:
            raise NoAnswer(f"event {event['seq']} cannot be done again: {error}") from None
        if event["seq"] == seq:
            return _beside(event, again)
    raise NoAnswer(f"event {seq} is in no session that is left in this journal")


def _beside(event: Mapping[str, Any], again: Mapping[str, Any]) -> dict[str, Any]:
    facts = ("number", "point_before", "point", "results", "rolls", "players", "bets")
    then = {name: event["data"][name] for name in facts if name in event["data"]}
    now = {name: again[name] for name in facts if name in again}
    step = event["data"].get("step") or event["data"].get("asked")
    about = {"seq": event["seq"], "wall": event["wall"], "type": event["type"], "step": step}
    return about | {"equal": then == now, "journaled": then, "settled": now}


def session_lines(read: Lines, opened_seq: int) -> Iterator[str]:
    """The events of one session as they stand, a line each: from its opening to the event before the next."""
    for position, line in enumerate(_forward(read, opened_seq)):
        if position and json.loads(line)["type"] == "table_opened":
            return
        yield line


def session_scenario(read: Lines, opened_seq: int) -> str:
    """One session as a scenario file."""
    events: Iterator[Event] = map(parse, session_lines(read, opened_seq))
    (exported,) = scenario_sessions(events)
    steps = exported.scenario["steps"]
    head = {name: said for name, said in exported.scenario.items() if name != "steps"}
    return json_text(head)[:-1] + ',\n "steps": [\n  ' + ",\n  ".join(map(json_text, steps)) + "]}\n"


def check_opening(read: Lines, seq: int) -> None:
    """Raises NoAnswer unless event `seq` opens a session."""
    if _event(read, seq)["type"] != "table_opened":
        raise NoAnswer(f"event {seq} opens no session")


def _event(read: Lines, seq: int) -> dict[str, Any]:
    lines = read(seq, 1)
    if not lines:
        raise NoAnswer(f"there is no event {seq}")
    event: dict[str, Any] = json.loads(lines[0])
    return event


def _opening_before(read: Lines, first: int, seq: int) -> int:
    for line in _backward(read, first, seq):
        if '"type":"table_opened"' in line and (event := json.loads(line))["type"] == "table_opened":
            opened: int = event["seq"]
            return opened
    raise NoAnswer(f"the session of event {seq} begins before what is left of this journal")


def _session_events(read: Lines, opened_seq: int) -> Iterator[dict[str, Any]]:
    return map(json.loads, session_lines(read, opened_seq))


def _forward(read: Lines, first: int) -> Iterator[str]:
    while lines := read(first, _BATCH):
        yield from lines
        first += len(lines)


def _backward(read: Lines, first: int, before: int) -> Iterator[str]:
    while before > first:
        begin = max(first, before - _BATCH)
        yield from reversed(read(begin, before - begin))
        before = begin


def _roll_of(kind: str, data: Mapping[str, Any]) -> Any:
    """The number of the roll that an event is, or is about."""
    if kind == "settlement_adjusted":
        return data["asked"]["number"]
    return data.get("number") if kind in ROLLS else data.get("roll_number")


def _values(data: Any, names: frozenset[str] | set[str]) -> Iterator[str]:
    """The texts that stand under one of these names, however deep."""
    if isinstance(data, dict):
        for name, value in data.items():
            if isinstance(value, str):
                if name in names:
                    yield value
            elif name != "rule_set":
                yield from _values(value, names)
    elif isinstance(data, list):
        for value in data:
            yield from _values(value, names)
