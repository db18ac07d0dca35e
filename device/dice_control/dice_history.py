"""The dice log as an auditor reads it: one row for each event about dice or the reserve, out of a journal's events.

Made from the events alone, not from the state that the terminal keeps, so that the two can be held against each other.

Time
====
Order is by seq. Every row gets a moment, which never goes back from one row to the next, so that a day is an unbroken
part of the journal: the wall time where the clock was synced; otherwise what the monotonic clock says from the nearest
event of the same boot whose clock was synced; otherwise the wall time as it stands, kept between its neighbours'.
How long the lid was open comes from the monotonic clock, and over a restart of the machine from two synced clocks.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from device.dice_control.dice_state import IN_PLAY
from device.dice_control.fairness import RollCount
from device.event import GENESIS_HASH, Event

LID_EVENTS = ("reserve_opened", "reserve_closed")
DICE_EVENTS = (
    "dice_duty",
    "dice_set_received",
    "dice_set_inspected",
    "dice_set_placed",
    "dice_moved",
    "dice_counted",
    "dice_set_moved",
    "void_dice",
    "reserve_explained",
)
ALERT_EVENTS = ("alert_raised", "alert_cleared", "alert_acknowledged")
# Alerts that tell of what has happened, so that they are over when they are noted.
HAPPENED = ("against_rule", "count_differs", "no_opening_count", "no_closing_count")
# Alerts about dice or the reserve: what stands before the colon of their names.
DICE_ALERTS = (
    "reserve_unexplained",
    "reserve_left_open",
    "reserve_open_during_roll",
    "reserve_open_while_closed",
    "slots_disagree",
    "dice_missing",
    "set_to_replace",
    "set_served_before",
    "dice_in_play",
    *HAPPENED,
)


@dataclass(frozen=True)
class Move:
    """A die of a set from one place to another."""

    set_name: str
    die: str
    source: str
    target: str


@dataclass
class LogRow:
    """One event of the dice log. What it does not tell is None or empty.

    `what` is swap, change, offer, off_table, found, missing, correction, received, inspected, placed, count_opening,
    count_closing, count_check, to_store, to_withdrawn, to_cancelled, to_destroyed, void_dice, void_throw (of which the
    dice are not told), explained, duty, reserve_opened, reserve_closed or one of ALERT_EVENTS. `dice` are those
    concerned, also where none moves.
    """

    seq: int
    what: str
    at: datetime
    clock: str
    session: int | None = None
    shooter: str | None = None
    roll_number: int | None = None
    point: int | None = None
    set_name: str | None = None
    dice: tuple[str, ...] = ()
    moves: tuple[Move, ...] = ()
    reason: str | None = None
    # Of an offer and a change: what was put before the shooter, and of a change what he took.
    offered: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    asked_by: str | None = None
    asked_by_name: str | None = None
    done_by: str | None = None
    seen_by: str | None = None
    against_rule: tuple[Mapping[str, str], ...] = ()
    difference: tuple[Mapping[str, Any], ...] = ()
    # Of unsound dice, what is wrong with them; of instruments, what they showed.
    unsound: Mapping[str, str] = field(default_factory=dict)
    instruments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    # The void throw, or the opening of the reserve, that it belongs to: a seq.
    belongs_to: int | None = None
    # Of a void throw that the rule set counts: what that says.
    counted_by: str | None = None
    alert: str | None = None
    text: str | None = None
    # Of the lid: whether it was seen so at a start; of an opening and its closing: for how long it was open.
    initial: bool = False
    open_ms: int | None = None

    @property
    def phase(self) -> str | None:
        """come_out or point; None where the event does not tell of the game."""
        if self.roll_number is None:
            return None
        return "come_out" if self.point is None else "point"

    @property
    def alert_family(self) -> str | None:
        """The alert's name without what it is about."""
        return None if self.alert is None else self.alert.partition(":")[0]


@dataclass(slots=True)
class UnknownRoll:
    """A roll while no set was known to be in play, or dice of two."""

    seq: int
    at: datetime


@dataclass
class Opening:
    """An opening of the reserve: the row of its event, and how it ended. `closed` is the closing's seq."""

    row: LogRow
    closed: int | None = None
    open_ms: int | None = None
    reason: str | None = None
    # boxman, supervisor, or None where a deed with the dice explained it.
    explained_as: str | None = None
    explained_by: str | None = None
    explained_seq: int | None = None
    # The alert was raised before it was explained.
    late: bool = False

    @property
    def is_explained(self) -> bool:
        """Whether someone has said why; after the alert, only a supervisor can."""
        return self.reason is not None and (not self.late or self.explained_as == "supervisor")


@dataclass(frozen=True)
class SetFacts:
    """A set as it was received."""

    name: str
    dice: tuple[str, ...]
    numbered_by: str
    maker: str
    colour: str
    house_mark: str | None
    edge_hundredths_mm: int | None
    received: int


@dataclass
class History:
    """All that the reports are made of. `rules` is the name of the rule set that the table was last opened under."""

    table: str | None = None
    site: str | None = None
    rules: str | None = None
    rows: list[LogRow] = field(default_factory=list)
    openings: list[Opening] = field(default_factory=list)
    sets: dict[str, SetFacts] = field(default_factory=dict)
    # Where each die is: by set, then by die.
    places: dict[str, dict[str, str]] = field(default_factory=dict)
    # Alerts about dice or the reserve that stand: name and text.
    alerts: dict[str, str] = field(default_factory=dict)
    rolls: dict[str, RollCount] = field(default_factory=dict)
    unknown_rolls: list[UnknownRoll] = field(default_factory=list)
    reserve_open: bool | None = None
    last_seq: int = 0
    last_hash: str = GENESIS_HASH
    last_at: datetime | None = None

    @property
    def rolls_of_no_set(self) -> int:
        """How many rolls count for no set."""
        return len(self.unknown_rolls)


class UnreadableEvent(Exception):
    """An event that is not what its type says: the message names it."""


def history(events: Iterable[Event]) -> History:
    """Read a journal's events, from the first on and in order. Raises UnreadableEvent."""
    reading = _Reading()
    for event in events:
        try:
            reading.take(event)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise UnreadableEvent(f"event {event.seq} ({event.type}) is not as this program writes it") from error
    return reading.finish()


@dataclass
class _Waiting:
    """A row, or a roll, whose moment is not known yet."""

    row: LogRow | UnknownRoll
    boot: str
    mono_ns: int


class _Times:
    """Gives rows their moments, as events with a synced clock come by."""

    def __init__(self) -> None:
        self._synced: tuple[str, int, datetime] | None = None
        self._waiting: list[_Waiting] = []

    def see(self, event: Event) -> None:
        """Take note of an event's stamp."""
        if event.clock != "synced":
            return
        wall = datetime.fromisoformat(event.wall)
        for waiting in self._waiting:
            if waiting.boot == event.boot:
                waiting.row.at = wall - timedelta(microseconds=(event.mono_ns - waiting.mono_ns) // 1000)
            else:
                waiting.row.at = min(waiting.row.at, wall)
        self._waiting.clear()
        self._synced = (event.boot, event.mono_ns, wall)

    def moment(self, event: Event) -> datetime:
        """When an event was, as far as the events until now tell."""
        wall = datetime.fromisoformat(event.wall)
        if event.clock == "synced" or self._synced is None:
            return wall
        boot, mono_ns, synced = self._synced
        if boot == event.boot:
            return synced + timedelta(microseconds=(event.mono_ns - mono_ns) // 1000)
        return max(wall, synced)

    def add(self, row: LogRow | UnknownRoll, event: Event) -> None:
        """The row of an event that was seen."""
        known = self._synced is not None and self._synced[0] == event.boot
        if not known:
            self._waiting.append(_Waiting(row, event.boot, event.mono_ns))


class _Reading:
    def __init__(self) -> None:
        self._found = History()
        self._times = _Times()
        self._last_event: Event | None = None
        self._session = 0
        self._roll_number = 0
        self._shooter: str | None = None
        self._point: int | None = None
        # By reason, what the rule set says of a void throw.
        self._no_roll: Mapping[str, Mapping[str, Any]] = {}
        self._in_play: set[tuple[str, str]] = set()
        # Of the last roll: its event, set and dice.
        self._last_roll: tuple[int, str | None, tuple[int, int]] | None = None
        self._open: Opening | None = None
        self._opened: Event | None = None

    def take(self, event: Event) -> None:
        found = self._found
        found.table, found.last_seq, found.last_hash = event.table, event.seq, event.hash
        self._times.see(event)
        self._last_event = event
        kind, data = event.type, event.data
        if kind in LID_EVENTS:
            self._lid(event)
        elif kind in DICE_EVENTS:
            self._dice(event)
        elif kind in ALERT_EVENTS:
            self._alert(event)
        elif kind == "no_roll":
            row = self._row(event, "void_throw")
            row.reason = data["step"]["no_roll"]
            row.text = data["step"].get("note")
            self._judge_void(row)
        else:
            self._game(event)

    def finish(self) -> History:
        found = self._found
        latest = datetime.min.replace(tzinfo=UTC)
        moments: list[LogRow | UnknownRoll] = [*found.rows, *found.unknown_rolls]
        for row in sorted(moments, key=lambda moment: moment.seq):
            latest = row.at = max(row.at, latest)
        if self._last_event is not None:
            found.last_at = max(self._times.moment(self._last_event), latest)
        return found

    def _row(self, event: Event, what: str) -> LogRow:
        data = event.data
        row = LogRow(
            seq=event.seq,
            what=what,
            at=self._times.moment(event),
            clock=event.clock,
            session=data.get("session", self._session or None),
            shooter=data.get("shooter", self._shooter),
            roll_number=data.get("roll_number", self._roll_number if self._session else None),
            point=data.get("point", self._point),
        )
        self._times.add(row, event)
        self._found.rows.append(row)
        return row

    # The lid

    def _lid(self, event: Event) -> None:
        data = event.data
        row = self._row(event, event.type)
        row.initial = data["initial"]
        found = self._found
        found.reserve_open = event.type == "reserve_opened"
        if event.type == "reserve_closed":
            self._lid_closed(row, event)
        elif self._open is None or not data["initial"]:
            if self._open is not None:
                # Its closing was never seen.
                self._open.closed = event.seq
            self._open, self._opened = Opening(row), event
            found.openings.append(self._open)
        else:
            # The lid was open when the terminal stopped, and still is.
            row.belongs_to = self._open.row.seq

    def _lid_closed(self, row: LogRow, event: Event) -> None:
        opening, opened = self._open, self._opened
        self._open = self._opened = None
        if opening is None or opened is None:
            return
        opening.closed = event.seq
        row.belongs_to = opening.row.seq
        if opened.boot == event.boot:
            opening.open_ms = (event.mono_ns - opened.mono_ns) // 1_000_000
        elif opened.clock == event.clock == "synced":
            wall = datetime.fromisoformat(event.wall) - datetime.fromisoformat(opened.wall)
            opening.open_ms = max(0, wall // timedelta(milliseconds=1))
        opening.row.open_ms = row.open_ms = opening.open_ms

    def _opening(self, seq: int | None) -> Opening | None:
        # The newest first: that is nearly always the one.
        return next((opening for opening in reversed(self._found.openings) if opening.row.seq == seq), None)

    # Dice

    def _dice(self, event: Event) -> None:
        data = event.data
        row = self._row(event, _what(event.type, data))
        row.set_name = data.get("set")
        row.moves = tuple(Move(said["set"], said["die"], said["from"], said["to"]) for said in data.get("moves", ()))
        row.dice = tuple(data["dice"]) if "dice" in data else tuple(move.die for move in row.moves)
        row.reason = data.get("reason")
        row.offered, row.taken = tuple(data.get("offered", ())), tuple(data.get("taken", ()))
        row.asked_by, row.asked_by_name = data.get("asked_by"), data.get("asked_by_name")
        row.done_by, row.seen_by = data.get("done_by"), data.get("seen_by")
        row.against_rule = tuple(data.get("against_rule", ()))
        row.difference = tuple(data.get("difference", ()))
        row.unsound = data.get("unsound", {})
        row.instruments = data.get("instruments", {})
        row.belongs_to = data.get("opening")
        row.text = data.get("note")
        for move in row.moves:
            self._found.places.setdefault(move.set_name, {})[move.die] = move.target
            if move.target == "play":
                self._in_play.add((move.set_name, move.die))
            else:
                self._in_play.discard((move.set_name, move.die))
        if event.type == "dice_set_received":
            self._received(event)
        elif event.type == "void_dice":
            # The row belongs to the throw; the reserve may have been opened for it too.
            self._explained_by_deed(row, data)
            row.reason, row.belongs_to = data["no_roll_reason"], data["no_roll"]
            self._judge_void(row)
        elif event.type == "reserve_explained":
            self._explained(data, event.seq)
        elif row.belongs_to is not None:
            self._explained_by_deed(row, data)

    def _judge_void(self, row: LogRow) -> None:
        said = self._no_roll.get(row.reason or "", {})
        if said.get("void") is False:
            row.counted_by = said["source"]

    def _received(self, event: Event) -> None:
        data = event.data
        self._found.sets[data["set"]] = SetFacts(
            name=data["set"],
            dice=tuple(data["dice"]),
            numbered_by=data["numbered_by"],
            maker=data["maker"],
            colour=data["colour"],
            house_mark=data["house_mark"],
            edge_hundredths_mm=data["edge_hundredths_mm"],
            received=event.seq,
        )
        self._found.places[data["set"]] = dict.fromkeys(data["dice"], "store")

    def _openings(self, data: Mapping[str, Any]) -> list[Opening]:
        """The opening that an event belongs to, with those that it stands for."""
        first = data["opening"]
        if first is None:
            return []
        if "through" not in data:
            opening = self._opening(first)
            return [] if opening is None else [opening]
        return [opening for opening in self._found.openings if first <= opening.row.seq <= data["through"]]

    def _explained(self, data: Mapping[str, Any], seq: int) -> None:
        for opening in self._openings(data):
            opening.reason = data["reason"]
            opening.explained_as, opening.explained_by = data["explained_as"], data["done_by"]
            opening.explained_seq = seq
            opening.row.reason = opening.reason

    def _explained_by_deed(self, row: LogRow, data: Mapping[str, Any]) -> None:
        for opening in self._openings(data):
            if opening.reason is None:
                opening.reason, opening.explained_by, opening.explained_seq = row.reason, row.done_by, row.seq
                opening.row.reason = opening.reason

    # Alerts

    def _alert(self, event: Event) -> None:
        data, found = event.data, self._found
        name: str = data["alert"]
        family, _, about = name.partition(":")
        if family not in DICE_ALERTS:
            return
        row = self._row(event, event.type)
        row.alert = name
        row.done_by = data.get("name")
        row.text = data.get("text", found.alerts.get(name))
        if event.type == "alert_raised":
            found.alerts[name] = data["text"]
            if family == "reserve_unexplained" and (opening := self._opening(int(about))) is not None:
                opening.late = True
        elif event.type == "alert_cleared" or family in HAPPENED:
            found.alerts.pop(name, None)

    # The game

    def _game(self, event: Event) -> None:
        data = event.data
        match event.type:
            case "started":
                self._found.site = data["configured"]["site"]
            case "table_opened":
                self._found.rules = data["rule_set"]["name"]
                self._no_roll = data["rule_set"]["no_roll"]
                self._session += 1
                self._roll_number, self._shooter, self._point, self._last_roll = 0, None, None, None
            case "shooter":
                self._shooter = data["step"]["shooter"]
            case "roll":
                dice = (data["step"]["roll"][0], data["step"]["roll"][1])
                self._roll_number, self._point = data["number"], data["point"]
                self._last_roll = (event.seq, self._count_roll(dice, event), dice)
            case "correct":
                dice = (data["step"]["correct"][0], data["step"]["correct"][1])
                self._point = data["point"]
                if self._last_roll is not None:
                    roll, name, wrong = self._last_roll
                    if name is not None:
                        self._found.rolls[name].correct(wrong, dice)
                    self._last_roll = (roll, name, dice)

    def _count_roll(self, dice: tuple[int, int], event: Event) -> str | None:
        names = {name for name, _ in self._in_play}
        if len(self._in_play) != IN_PLAY or len(names) != 1:
            unknown = UnknownRoll(event.seq, self._times.moment(event))
            self._times.add(unknown, event)
            self._found.unknown_rolls.append(unknown)
            return None
        (name,) = names
        self._found.rolls.setdefault(name, RollCount()).add(*dice)
        return name


def _what(kind: str, data: Mapping[str, Any]) -> str:
    match kind:
        case "dice_moved":
            return str(data["action"])
        case "dice_counted":
            return f"count_{data['count']}"
        case "dice_set_moved":
            return f"to_{data['to']}"
        case "reserve_explained":
            return "explained"
        case "void_dice":
            return kind
        case _:
            return kind.removeprefix("dice_").removeprefix("set_")
