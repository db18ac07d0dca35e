"""The dice log as an auditor reads it: one row for each event about dice or the reserve, out of a journal's events.

Made from the events alone, not from the state that the terminal keeps, so that the two can be held against each other.
Order is by seq; the moment of each row is what `event_moments` makes of all clocks together. How long the lid was open
comes from the monotonic clock, and over a restart of the machine from two synced clocks.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from device.dice_control.dice_alerts import ALERT_EVENTS, DICE_ALERTS, count_roll_against, take_alert
from device.dice_control.dice_state import IN_PLAY
from device.dice_control.event_moments import EventMoments, Moment, between_ms, lapse_ms, wall_of
from device.dice_control.fairness import RollCount
from device.dice_control.history_before import carried_openings, carried_set
from device.dice_control.log_rows import LogRow, Move, Opening, SetFacts, Unwatched, set_facts, what_of
from device.dice_control.reserve_sight import LID, SLOTS, ReserveSight, is_of_reserve
from device.event import GENESIS_HASH, Event
from device.session import Session

# A change of the slots that so shortly precedes an opening of the lid belongs to that: they settle at their own pace.
_BEFORE_OPENING_MS = 1000
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
# Where a die that was found sound is no longer known to be.
_OUT_OF_SIGHT = ("floor", "missing", "inspection", "store")


@dataclass
class History:
    """All that the reports are made of.

    `rules` is the rule set that the table was last opened under, `dice_rules` that by which the dice were last judged.
    """

    table: str | None = None
    site: str | None = None
    rules: str | None = None
    dice_rules: str | None = None
    rows: list[LogRow] = field(default_factory=list)
    openings: list[Opening] = field(default_factory=list)
    unwatched: list[Unwatched] = field(default_factory=list)
    sets: dict[str, SetFacts] = field(default_factory=dict)
    # Where each die is: by set, then by die.
    places: dict[str, dict[str, str]] = field(default_factory=dict)
    # What the last inspection since it was out of sight said of each die: unchecked, sound or unsound.
    states: dict[str, dict[str, str]] = field(default_factory=dict)
    # Who was said to be on duty last: boxman and witness, and in which session.
    on_duty: tuple[str, str, int] | None = None
    # Alerts about dice or the reserve that stand, by name: the row in which they were raised last.
    standing: dict[str, LogRow] = field(default_factory=dict)
    rolls: dict[str, RollCount] = field(default_factory=dict)
    # Rolls while no set was known to be in play, or dice of two.
    unknown_rolls: list[Moment] = field(default_factory=list)
    reserve_open: bool | None = None
    last_seq: int = 0
    last_hash: str = GENESIS_HASH
    last_at: datetime | None = None
    # Of what was pruned after delivery: the last event, when the next one was, and where each die lay then.
    pruned_seq: int = 0
    first_at: datetime | None = None
    places_at_first: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def rolls_of_no_set(self) -> int:
        """How many rolls count for no set."""
        return len(self.unknown_rolls)

    @property
    def alerts(self) -> dict[str, str]:
        """The text, in the journal's words, of each alert that stands."""
        return {name: row.text or "" for name, row in self.standing.items()}


class UnreadableEvent(Exception):
    """An event that is not what its type says: the message names it."""


def history(events: Iterable[Event], before: Session | None = None) -> History:
    """Read a journal's events, from the first that is left on and in order. Raises UnreadableEvent.

    `before` is the session then: where the oldest were pruned, it tells of sets and dice what they told.
    """
    reading = _Reading()
    if before is not None:
        reading.go_on_from(before)
    for event in events:
        try:
            reading.take(event)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise UnreadableEvent(f"event {event.seq} ({event.type}) is not as this program writes it") from error
    return reading.finish()


class _Reading:
    def __init__(self) -> None:
        self._moments = EventMoments()
        self._sight = ReserveSight(self._moments)
        self._found = History(unwatched=self._sight.stretches)
        self._first_moment: Moment | None = None
        self._last_event: Event | None = None
        self._session = 0
        self._table_open = False
        # The dice are out: from "no more bets" to the roll.
        self._throwing = False
        self._roll_number = 0
        self._shooter: str | None = None
        self._point: int | None = None
        # By reason, what the rule set says of a void throw.
        self._no_roll: Mapping[str, Mapping[str, Any]] = {}
        self._in_play: set[tuple[str, str]] = set()
        # Of the last roll: its event, set and dice.
        # Those of this session: the set that was thrown (None: nobody knows) and the faces, by event.
        self._rolls: dict[int, tuple[str | None, tuple[int, int]]] = {}
        self._open: Opening | None = None
        # The events that opened it, and that explained it while it was open.
        self._opened: Event | None = None
        self._explained_by: Event | None = None
        self._slots: tuple[int, ...] | None = None
        # The last change of the slots that is a row, and its event.
        self._changed_shut: tuple[LogRow, Event] | None = None

    def go_on_from(self, session: Session) -> None:
        """Nothing was read yet, and this is what was before."""
        found = self._found
        found.pruned_seq = session.seq
        if session.configured is not None:
            found.site = session.configured.get("site")
        if session.terms is not None:
            found.rules, self._no_roll = session.terms.rule_set["name"], session.terms.rule_set["no_roll"]
        self._session, self._table_open = session.session_number, session.is_open
        self._throwing, self._point = session.dice_out, session.point
        if session.table is not None:
            self._roll_number, self._shooter = session.table.roll_number, session.table.shooter
        state = session.dice.state
        for name, held in state.sets.items():
            found.sets[name] = carried_set(name, held)
            found.places[name] = {number: die.place for number, die in held.dice.items()}
            found.states[name] = {number: die.state for number, die in held.dice.items()}
            self._in_play |= {(name, number) for number, die in held.dice.items() if die.place == "play"}
        if state.duty is not None:
            found.on_duty = state.duty["boxman"], state.duty["witness"], state.duty["session"]
        found.reserve_open = state.reserve_open
        self._sight.has_reserve = state.reserve_open is not None or state.slots is not None
        self._slots = None if state.slots is None else tuple(state.slots)
        found.openings += carried_openings(state)
        if found.openings and found.openings[-1].closed is None:
            self._open = found.openings[-1]
        found.places_at_first = {name: dict(dice) for name, dice in found.places.items()}

    def take(self, event: Event) -> None:
        found = self._found
        found.table, found.last_seq, found.last_hash = event.table, event.seq, event.hash
        self._moments.see(event)
        if self._last_event is None:
            self._first_moment = self._moment(event)
        self._last_event = event
        # Before anything else: that the program is there again comes before the table that it opens.
        for what, stretch in self._sight.take(event):
            self._row(event, what).stretch = stretch
        kind, data = event.type, event.data
        if kind in LID_EVENTS:
            self._lid(event)
        elif kind == "slots":
            self._slots_seen(event)
        elif kind == "reserve_settled":
            self._settled(event)
        elif kind in DICE_EVENTS:
            self._dice(event)
        elif kind in ALERT_EVENTS:
            self._alert(event)
        elif kind == "no_roll":
            self._throwing = False
            row = self._row(event, "void_throw")
            row.reason = data["step"]["no_roll"]
            row.text = data["step"].get("note")
            self._judge_void(row)
        elif kind in ("edge_lost", "node_found", "node_dropped"):
            self._lost(event)
        else:
            self._game(event)

    def finish(self) -> History:
        found = self._found
        if self._last_event is not None:
            last = self._moment(self._last_event)
        self._moments.settle()
        if self._last_event is not None:
            found.last_at = last.at
        if self._first_moment is not None:
            found.first_at = self._first_moment.at
        for opening in found.openings:
            if opening.open_ms is None and opening.closing is not None:
                opening.open_ms = between_ms(opening.row, opening.closing)
                opening.row.open_ms = opening.closing.open_ms = opening.open_ms
        for stretch in found.unwatched:
            if stretch.lasted_ms is None and stretch.ended is not None:
                stretch.lasted_ms = between_ms(stretch.began, stretch.ended)
        return found

    def _moment(self, event: Event) -> Moment:
        moment = Moment(event.seq, wall_of(event), event.clock)
        self._moments.add(moment, event)
        return moment

    def _row(self, event: Event, what: str) -> LogRow:
        data = event.data
        row = LogRow(
            seq=event.seq,
            what=what,
            at=wall_of(event),
            clock=event.clock,
            wall=event.wall,
            session=data.get("session", self._session or None),
            shooter=data.get("shooter", self._shooter),
            roll_number=data.get("roll_number", self._roll_number if self._session else None),
            point=data.get("point", self._point),
        )
        self._moments.add(row, event)
        self._found.rows.append(row)
        return row

    def _row_of(self, seq: object) -> LogRow | None:
        if seq is None:
            return None
        # The newest first: that is nearly always the one.
        return next((row for row in reversed(self._found.rows) if row.seq == seq), None)

    # The lid and the slots

    def _lid(self, event: Event) -> None:
        data = event.data
        row = self._row(event, event.type)
        if data["initial"]:
            row.first_since = self._sight.first_because[LID]
        found = self._found
        found.reserve_open = event.type == "reserve_opened"
        if event.type == "reserve_closed":
            self._lid_closed(row, event)
        elif self._open is None or not data["initial"]:
            if self._open is not None:
                # Its closing was never seen.
                self._open.closed = event.seq
            self._drop_change(event)
            self._open = Opening(row, during_roll=self._throwing, while_closed=not self._table_open)
            self._opened, self._explained_by = event, None
            found.openings.append(self._open)
        else:
            # The lid was open when it was seen last, and still is.
            row.belongs_to = self._open.row.seq

    def _lid_closed(self, row: LogRow, event: Event) -> None:
        opening, opened = self._open, self._opened
        self._open = self._opened = None
        if opening is None:
            return
        opening.closed = event.seq
        row.belongs_to = opening.row.seq
        # Of one that was opened before what was pruned, nothing tells when.
        if opened is not None:
            opening.closing = row
            opening.row.open_ms = row.open_ms = opening.open_ms = lapse_ms(opened, event)
        if self._explained_by is not None:
            opening.open_after_ms = lapse_ms(self._explained_by, event)
            opening.slots_at_end = self._slots

    def _slots_seen(self, event: Event) -> None:
        data = event.data
        before, self._slots = self._slots, tuple(data["occupied"])
        lid = data.get("lid", "unseen" if data["initial"] else "shut")
        may_be_shut = lid == "shut" or (lid == "unseen" and data["initial"])
        if before in (None, self._slots) or not may_be_shut or self._found.reserve_open is not False:
            return
        row = self._row(event, "slots_changed_shut")
        row.slots = (before or (), self._slots)
        if data["initial"]:
            row.first_since = self._sight.first_because[SLOTS]
        self._changed_shut = row, event

    def _drop_change(self, opened: Event) -> None:
        """The lid was opened: a change of the slots just before it was none under a shut lid."""
        if self._changed_shut is not None:
            row, changed = self._changed_shut
            ago_ms = lapse_ms(changed, opened)
            if row.first_since is None and ago_ms is not None and ago_ms <= _BEFORE_OPENING_MS:
                # It is among the last few.
                place = next(
                    place for place in range(len(self._found.rows) - 1, -1, -1) if self._found.rows[place] is row
                )
                del self._found.rows[place]
            self._changed_shut = None

    def _settled(self, event: Event) -> None:
        """The slots have settled after a closing; where they contradict the log, a reason given before it lapses."""
        opening = self._opening(event.data["asked_anew"])
        if opening is None:
            return
        row = self._row(event, "asked_anew")
        row.belongs_to, row.changes = opening.row.seq, event.data["surplus"]
        opening.asked_anew = True
        opening.reason = opening.row.reason = None
        opening.explained_as = opening.explained_by = opening.explained_seq = None

    def _lost(self, event: Event) -> None:
        """Changes of the lid or the slots that nobody saw when they were."""
        data = event.data
        if event.type == "edge_lost":
            if is_of_reserve(data["name"]):
                self._row(event, "edge_lost").inputs = (data["name"],)
            return
        changes = data["dropped"] if event.type == "node_found" else data["changes"]
        if changes and self._sight.on_node:
            row = self._row(event, "changes_dropped")
            row.inputs, row.changes = self._sight.on_node, changes

    def _opening(self, seq: int | None) -> Opening | None:
        # The newest first: that is nearly always the one.
        return next((opening for opening in reversed(self._found.openings) if opening.row.seq == seq), None)

    # Dice

    def _dice(self, event: Event) -> None:
        data = event.data
        row = self._row(event, what_of(event.type, data))
        row.set_name = data.get("set")
        row.moves = tuple(Move(said["set"], said["die"], said["from"], said["to"]) for said in data.get("moves", ()))
        row.dice = tuple(data["dice"]) if "dice" in data else tuple(move.die for move in row.moves)
        row.reason = data.get("reason")
        row.offered, row.taken = tuple(data.get("offered", ())), tuple(data.get("taken", ()))
        row.asked_by, row.asked_by_name = data.get("asked_by"), data.get("asked_by_name")
        row.done_by, row.seen_by = data.get("done_by"), data.get("seen_by")
        row.against_rule = tuple(data.get("against_rule", ()))
        row.difference = tuple(data.get("difference", ()))
        row.seen = {place: tuple(dice) for place, dice in data.get("seen", {}).items() if dice}
        row.checks, row.not_checked = data.get("checks", {}), tuple(data.get("not_checked", ()))
        row.edges = data.get("edges_hundredths_mm", {})
        row.unsound = data.get("unsound", {})
        row.instruments = data.get("instruments", {})
        row.explained_as = data.get("explained_as")
        row.lid_unseen = data.get("lid") == "unseen"
        row.rules = data.get("rules")
        self._found.dice_rules = row.rules or self._found.dice_rules
        row.belongs_to = data.get("opening")
        row.text = data.get("note")
        for move in row.moves:
            self._found.places.setdefault(move.set_name, {})[move.die] = move.target
            if move.target in _OUT_OF_SIGHT and self._found.states.get(move.set_name, {}).get(move.die) == "sound":
                self._found.states[move.set_name][move.die] = "unchecked"
            if move.target == "play":
                self._in_play.add((move.set_name, move.die))
            else:
                self._in_play.discard((move.set_name, move.die))
        if event.type == "dice_duty":
            self._found.on_duty = data["boxman"], data["witness"], data["session"]
        elif event.type == "dice_set_inspected":
            states = self._found.states.setdefault(data["set"], {})
            states |= dict.fromkeys(data.get("sound", ()), "sound") | dict.fromkeys(row.unsound, "unsound")
        if event.type == "dice_set_received":
            row.facts = self._received(event)
        elif event.type == "void_dice":
            # The row belongs to the throw; the reserve may have been opened for it too.
            self._deed_in_opening(row, data, event)
            row.reason, row.belongs_to = data["no_roll_reason"], data["no_roll"]
            self._judge_void(row)
        elif event.type == "reserve_explained":
            self._explained(row, data, event)
        elif row.belongs_to is not None:
            self._deed_in_opening(row, data, event)

    def _judge_void(self, row: LogRow) -> None:
        said = self._no_roll.get(row.reason or "", {})
        if said.get("void") is False:
            row.counted_by = said["source"]

    def _received(self, event: Event) -> SetFacts:
        facts = set_facts(event.data, event.seq)
        self._found.sets[facts.name] = facts
        self._found.places[facts.name] = dict.fromkeys(facts.dice, "store")
        self._found.states[facts.name] = dict.fromkeys(facts.dice, "unchecked")
        return facts

    def _openings(self, data: Mapping[str, Any]) -> list[Opening]:
        """The opening that an event belongs to, with those that it stands for."""
        first = data["opening"]
        if first is None:
            return []
        if "through" not in data:
            opening = self._opening(first)
            return [] if opening is None else [opening]
        return [opening for opening in self._found.openings if first <= opening.row.seq <= data["through"]]

    def _explained(self, row: LogRow, data: Mapping[str, Any], event: Event) -> None:
        for opening in self._openings(data):
            if opening.reason is not None and opening.explained_open:
                # Said again, or otherwise; what was said first still was said while the lid was open.
                opening.afterwards.append(row)
            elif opening is self._open:
                self._note_open(opening, event)
            opening.reason = data["reason"]
            opening.explained_as, opening.explained_by = data["explained_as"], data["done_by"]
            opening.explained_seq, opening.deed = event.seq, None
            opening.row.reason = opening.reason

    def _deed_in_opening(self, row: LogRow, data: Mapping[str, Any], event: Event) -> None:
        for opening in self._openings(data):
            if opening.reason is not None and "instead_of" not in data:
                opening.afterwards.append(row)
                continue
            if opening is self._open:
                self._note_open(opening, event)
            opening.reason, opening.explained_by, opening.explained_seq = row.reason, row.done_by, row.seq
            opening.explained_as, opening.deed = None, row
            opening.row.reason = opening.reason

    def _note_open(self, opening: Opening, event: Event) -> None:
        """Its reason is given before it is closed, and covers what happens until then."""
        opening.explained_open = True
        opening.slots_then = self._slots
        self._explained_by = event

    # Alerts

    def _alert(self, event: Event) -> None:
        family, _, about = event.data["alert"].partition(":")
        if family not in DICE_ALERTS:
            return
        row = self._row(event, event.type)
        take_alert(row, event.data, self._found.standing)
        if event.type != "alert_raised":
            return
        row.about = self._row_of(row.detail.get("event", row.detail.get("opening")))
        if (opening := self._opening(int(about) if about.isdecimal() else row.detail.get("opening"))) is not None:
            opening.late |= family == "reserve_unexplained"
            opening.left_open |= family == "reserve_left_open"

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
                self._table_open, self._throwing = True, False
                self._roll_number, self._shooter, self._point, self._rolls = 0, None, None, {}
                self._row(event, "table_opened").rules = self._found.rules
            case "table_closed":
                self._row(event, "table_closed").rules = self._found.rules
                self._table_open = self._throwing = False
                if self._open is not None:
                    self._open.while_closed = True
            case "shooter":
                self._shooter = data["step"]["shooter"]
            case "no_more_bets" | "roll":
                self._throwing = event.type == "no_more_bets"
                if self._open is not None:
                    self._open.during_roll = True
                if self._throwing:
                    return
                dice = (data["step"]["roll"][0], data["step"]["roll"][1])
                self._roll_number, self._point = data["number"], data["point"]
                self._rolls[event.seq] = (self._count_roll(dice, event), dice)
            case "correct":
                self._point = data["point"]
                self._correct_roll(data["corrects"], data["step"]["correct"])
            case "roll_corrected":
                self._point = data["point"]["becomes"]
                self._correct_roll(data["corrects"], data["dice"])

    def _correct_roll(self, roll: int, faces: list[int]) -> None:
        """Count other faces for the roll of event `roll`; one that is not known was pruned."""
        if roll in self._rolls:
            (name, wrong), dice = self._rolls[roll], (faces[0], faces[1])
            if name is not None:
                self._found.rolls[name].correct(wrong, dice)
            self._rolls[roll] = (name, dice)

    def _count_roll(self, dice: tuple[int, int], event: Event) -> str | None:
        names = {name for name, _ in self._in_play}
        count_roll_against(self._found.standing, names)
        if len(self._in_play) != IN_PLAY or len(names) != 1:
            self._found.unknown_rolls.append(self._moment(event))
            return None
        (name,) = names
        self._found.rolls.setdefault(name, RollCount()).add(*dice)
        return name
