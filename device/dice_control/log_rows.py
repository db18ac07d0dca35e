"""What the dice log's reports are made of: rows, openings of the reserve, stretches nobody watched it, sets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from device.dice_control.event_moments import Moment


@dataclass(frozen=True)
class Move:
    """A die of a set from one place to another."""

    set_name: str
    die: str
    source: str
    target: str


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


def set_facts(data: Mapping[str, Any], seq: int) -> SetFacts:
    """The set that the event `seq` receives."""
    return SetFacts(
        name=data["set"],
        dice=tuple(data["dice"]),
        numbered_by=data["numbered_by"],
        maker=data["maker"],
        colour=data["colour"],
        house_mark=data["house_mark"],
        edge_hundredths_mm=data["edge_hundredths_mm"],
        received=seq,
    )


@dataclass
class Unwatched:
    """A stretch in which the reserve, or part of it, could not be watched.

    `cause`: input (it could not be read), stuck (it could not be right), node (the I/O node was away), stopped or
    cut_off (the program was not running), not_recorded (the disk was full). `inputs` are those concerned: "lid",
    "slot_1" ...; none: all. What was seen first afterwards is in `lid_open_after` and `slots_after`, as far as it was
    seen at all.
    """

    cause: str
    inputs: tuple[str, ...]
    began: Moment
    ended: Moment | None = None
    lasted_ms: int | None = None
    lid_open_after: bool | None = None
    slots_after: tuple[int, ...] | None = None


@dataclass
class LogRow:
    """One event of the dice log. What it does not tell is None or empty.

    `what` is swap, change, offer, off_table, found, missing, correction, received, inspected, placed, count_opening,
    count_closing, count_check, to_store, to_withdrawn, to_cancelled, to_destroyed, void_dice, void_throw (of which the
    dice are not told), explained, duty, table_opened, table_closed, reserve_opened, reserve_closed, slots_changed_shut
    (under a shut lid), asked_anew (the reason of an opening lapses: the slots contradict it), unwatched, watched_again
    (the ends of a stretch), edge_lost, changes_dropped or one of ALERT_EVENTS. `dice` are those concerned, also where
    none moves. `clock` is synced, free or wrong (event_moments).
    """

    seq: int
    what: str
    at: datetime
    clock: str
    # What the wall clock said.
    wall: str = ""
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
    explained_as: str | None = None
    # The rule set of a table that was opened; of what was done with dice, the rules it was judged by.
    rules: str | None = None
    against_rule: tuple[Mapping[str, Any], ...] = ()
    # Of a count: where it saw which dice, and how that differs from the log.
    seen: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    difference: tuple[Mapping[str, Any], ...] = ()
    # Of a set that was received.
    facts: SetFacts | None = None
    # Of an inspection: what was checked, and whether it was good; what was not; edges by die, in hundredths of a
    # millimetre; of unsound dice, what is wrong with them; of instruments, what they showed.
    checks: Mapping[str, bool] = field(default_factory=dict)
    not_checked: tuple[str, ...] = ()
    edges: Mapping[str, int] = field(default_factory=dict)
    unsound: Mapping[str, str] = field(default_factory=dict)
    instruments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    # The void throw, or the opening of the reserve, that it belongs to: a seq.
    belongs_to: int | None = None
    # The lid's switch could not be read then.
    lid_unseen: bool = False
    # Of a void throw that the rule set counts: what that says.
    counted_by: str | None = None
    alert: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    # Of an alert: the row that it is about; whether only a name ends it; the rows in which it was noted, was over, and
    # was raised again while it stood; and of one that a set must go, how often that set rolled all the same.
    about: "LogRow | None" = None
    latched: bool = False
    noted: "LogRow | None" = None
    over: "LogRow | None" = None
    again: "LogRow | None" = None
    rolls_while: int = 0
    text: str | None = None
    # Of what is no change but the first sight of the lid or the slots: why it is (start, input, node or not_recorded).
    first_since: str | None = None
    # Of an opening and its closing: for how long it was open.
    open_ms: int | None = None
    # Of slots that changed: which held a die before and afterwards.
    slots: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    # The stretch that begins or ends here, or inputs that lost a change.
    stretch: Unwatched | None = None
    inputs: tuple[str, ...] = ()
    # How many changes of inputs were lost; of asked_anew, how many more dice the slots hold than the log has there.
    changes: int | None = None

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

    @property
    def last_raised(self) -> "LogRow":
        """Of an alert that was raised again while it stood: the last of these rows."""
        row = self
        while row.again is not None:
            row = row.again
        return row

    @property
    def is_settled(self) -> bool:
        """Of an alert that was raised: whether it is over, or where only a name ends it, was noted."""
        last = self.last_raised
        return last.over is not None or (last.latched and last.noted is not None)


@dataclass
class Opening:
    """An opening of the reserve: the row of its event, and how it ended. `closed` is the closing's seq."""

    row: LogRow
    closed: int | None = None
    closing: LogRow | None = None
    open_ms: int | None = None
    # Dice were out, or a roll was entered, while it was open; the table was closed then.
    during_roll: bool = False
    while_closed: bool = False
    reason: str | None = None
    # boxman, supervisor, or None where a deed with the dice explained it.
    explained_as: str | None = None
    explained_by: str | None = None
    explained_seq: int | None = None
    # The deed that explained it, which says who asked for it.
    deed: LogRow | None = None
    # The explanation came while the lid was open: for how long it stayed open then, what was done before it was shut,
    # or for it afterwards, and which slots held a die then and at the end.
    explained_open: bool = False
    open_after_ms: int | None = None
    afterwards: list[LogRow] = field(default_factory=list)
    slots_then: tuple[int, ...] | None = None
    slots_at_end: tuple[int, ...] | None = None
    # A reason given while it was open lapsed, because the slots contradicted it.
    asked_anew: bool = False
    # The alert was raised before it was explained, or that it was open for too long.
    late: bool = False
    left_open: bool = False

    @property
    def is_explained(self) -> bool:
        """Whether someone has said why; after the alert, only a supervisor can."""
        return self.reason is not None and (not self.late or self.explained_as == "supervisor")


def what_of(kind: str, data: Mapping[str, Any]) -> str:
    """What an event about dice says was done, as `LogRow.what` has it."""
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
