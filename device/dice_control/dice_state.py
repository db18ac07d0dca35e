"""What the dice log knows: sets, dice and their places, openings of the reserve. Only journal events change it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

PLACES = (
    "store",
    "reserve",
    "play",
    "offered",
    "floor",
    "inspection",
    "missing",
    "withdrawn",
    "cancelled",
    "destroyed",
)
# Where a die is that serves, or may soon serve, at the table.
AT_TABLE = ("reserve", "play", "offered", "floor", "inspection")
# Where it serves.
SERVING = ("reserve", "play", "offered")
# Where it is lost, and where it is lost or was taken away.
LOST = ("floor", "missing")
GONE = (*LOST, "withdrawn", "cancelled", "destroyed")
# So many dice are thrown.
IN_PLAY = 2

# Openings that wait for a reason. Beyond it, a further one counts as part of the last: a lid switch that flutters
# must not fill the memory.
OPENINGS_MAX = 100
# People on duty that are remembered for one opening.
DUTY_MAX = 100


@dataclass
class Die:
    """One die. `state` is what the last inspection since it was out of sight said: unchecked, sound or unsound."""

    place: str = "store"
    state: str = "unchecked"
    # Where it left the table for good or for now: the session, and the roll before the series, in which it did.
    left_in: list[int] | None = None
    # The series in which it fell, for as long as it does not serve again.
    fell_in: list[int] | None = None
    # What an inspection found wrong with it, for as long as none called it sound.
    fault: str | None = None
    # It was withdrawn or cancelled once, which is final.
    taken_away: bool = False


@dataclass
class DiceSet:
    """One set; its dice by serial number, or by "1", "2" ... where they carry none."""

    dice: dict[str, Die]
    numbered_by: str
    maker: str
    colour: str
    house_mark: str | None
    edge_hundredths_mm: int | None
    received: int
    # Sessions in which a die of it was in play: the first since it was brought to the table, and the last of all.
    first_session: int | None = None
    last_session: int | None = None
    # Dice that were found only after the series in which they left the table; empty again when the set leaves it.
    found_late: list[str] = field(default_factory=list)
    last_count: int | None = None
    # Where that count saw the dice that were elsewhere by the log (None: nowhere), until they are moved.
    difference: dict[str, str | None] = field(default_factory=dict)
    # The session of its last closing count.
    closing_session: int | None = None

    def at(self, *places: str) -> list[str]:
        """The dice in these places, in the set's order."""
        return [name for name, die in self.dice.items() if die.place in places]


@dataclass
class Opening:
    """An opening of the reserve that is not over, or waits for its reason."""

    seq: int
    shooter: str | None
    roll_number: int
    point: int | None
    closed: int | None = None
    reason: str | None = None
    # The alert was raised: only a supervisor's explanation ends it.
    late: bool = False
    # Who was on duty when it was opened, as far as it is known.
    duty: list[str] = field(default_factory=list)
    # A roll was entered while the lid was open.
    during_roll: bool = False
    # Openings after this one that were counted in, beyond OPENINGS_MAX: how many, and the seq of the last.
    further: int = 0
    through: int | None = None

    @property
    def waits(self) -> bool:
        """Whether it needs a reason from someone."""
        return self.reason is None or self.late


@dataclass
class DiceState:
    """The whole state. Read it freely; only `take` changes it."""

    sets: dict[str, DiceSet] = field(default_factory=dict)
    openings: list[Opening] = field(default_factory=list)
    reserve_open: bool | None = None
    slots: list[int] | None = None
    # Who was said to be on duty last: session, boxman, witness.
    duty: dict[str, Any] | None = None
    # The last void throw whose dice are known, and the last change of dice: seq, session, roll number.
    last_void_throw: int | None = None
    last_change: dict[str, int] | None = None
    # The last opening, {"seq", "reason"}, until a roll is entered while the lid is shut: a further deed of its reason
    # still belongs to it.
    last_opening: dict[str, Any] | None = None
    # The last offer that was not followed by another change: what a change must be equal to, to be judged already.
    last_offer: dict[str, Any] | None = None
    # A roll was entered while a set was at the table and not two dice of one set in play; and that is so still.
    rolled_unknown: bool = False
    # The last count of a set at the table, and the session of the last opening count of one.
    last_count: int | None = None
    opening_session: int | None = None
    # The last session in which an alert said that dice roll without an opening count.
    uncounted_session: int | None = None
    # The session of the last count, and the seq of the last opening, closing and check count in it.
    counts: dict[str, int] = field(default_factory=dict)

    def at(self, *places: str) -> list[tuple[str, str]]:
        """(set, die) of all dice in these places."""
        return [(name, die) for name, dice_set in self.sets.items() for die in dice_set.at(*places)]

    def sets_at_table(self) -> Iterator[tuple[str, DiceSet]]:
        """The sets of which a die is in the reserve, in play, offered, on the floor or under inspection."""
        for name, dice_set in self.sets.items():
            if dice_set.at(*AT_TABLE):
                yield name, dice_set

    def open_opening(self) -> Opening | None:
        """The opening that is not over."""
        last = self.openings[-1] if self.openings else None
        return last if last is not None and last.closed is None else None

    def current_opening(self) -> Opening | None:
        """The opening that what is done now belongs to: the one that is not over, or the last that has no reason."""
        last = self.openings[-1] if self.openings else None
        return last if last is not None and (last.closed is None or last.reason is None) else None

    def pair_in_play(self) -> bool:
        """Whether two dice of one set are in play, as they are to be for a roll."""
        dice = self.at("play")
        return len(dice) == IN_PLAY and len({name for name, _ in dice}) == 1

    def take(self, kind: str, data: Mapping[str, Any], seq: int) -> None:
        """Apply an event. ValueError: `kind` is none of the dice log's."""
        match kind:
            case "reserve_opened":
                self._opened(data, seq)
            case "reserve_closed":
                self._closed(seq)
            case "slots":
                self.slots = list(data["occupied"])
            case "roll":
                self._rolled()
            case "alert_raised":
                if data["alert"].startswith("no_opening_count:"):
                    self.uncounted_session = data["detail"]["session"]
                for opening in self.openings:
                    opening.late |= data["alert"] == f"reserve_unexplained:{opening.seq}"
            case "reserve_explained":
                self._explained(data)
            case "dice_duty":
                self.duty = {name: data[name] for name in ("session", "boxman", "witness")}
            case "dice_set_received":
                self._received(data, seq)
            case "dice_set_inspected" | "dice_set_placed" | "dice_moved" | "dice_counted" | "dice_set_moved":
                self._of_dice(kind, data, seq)
            case "void_dice":
                self._of_dice(kind, data, seq)
                self.last_void_throw = data["no_roll"]
            case _:
                raise ValueError(f"{kind} is no event of the dice log")

    def _opened(self, data: Mapping[str, Any], seq: int) -> None:
        going_on = self.open_opening()
        if not (going_on is not None and data["initial"]):
            # Otherwise the lid was open when the terminal stopped, and still is.
            if going_on is not None:
                going_on.closed = seq
                self._drop_explained()
            if len(self.openings) < OPENINGS_MAX:
                self.openings.append(Opening(seq, data["shooter"], data["roll_number"], data["point"]))
            else:
                # One explanation must do for all of them, and what was said until now was not about this one.
                self.openings[-1].further += 1
                self.openings[-1].through = seq
                self.openings[-1].closed = self.openings[-1].reason = None
            opening = self.openings[-1]
            duty = () if self.duty is None else (self.duty["boxman"], self.duty["witness"])
            opening.duty = list(dict.fromkeys([*opening.duty, *duty]))[:DUTY_MAX]
            self.last_opening = {"seq": opening.seq, "reason": None}
        self.reserve_open = True

    def _rolled(self) -> None:
        opening = self.open_opening()
        if opening is not None:
            opening.during_roll = True
        else:
            self.last_opening = None
        self.rolled_unknown = bool(self.at(*AT_TABLE)) and not self.pair_in_play()

    def _closed(self, seq: int) -> None:
        opening = self.open_opening()
        if opening is not None:
            opening.closed = seq
        self.reserve_open = False
        self._drop_explained()

    def _explained(self, data: Mapping[str, Any]) -> None:
        for opening in self.openings:
            if opening.seq == data["opening"]:
                opening.reason = data["reason"]
                self._note_reason(opening)
                opening.late = opening.late and data["explained_as"] != "supervisor"
        self._drop_explained()

    def _note_reason(self, opening: Opening) -> None:
        if self.last_opening is not None and self.last_opening["seq"] == opening.seq:
            self.last_opening["reason"] = opening.reason

    def _drop_explained(self) -> None:
        self.openings = [opening for opening in self.openings if opening.waits or opening.closed is None]

    def _received(self, data: Mapping[str, Any], seq: int) -> None:
        self.sets[data["set"]] = DiceSet(
            dice={die: Die() for die in data["dice"]},
            numbered_by=data["numbered_by"],
            maker=data["maker"],
            colour=data["colour"],
            house_mark=data["house_mark"],
            edge_hundredths_mm=data["edge_hundredths_mm"],
            received=seq,
        )

    def _of_dice(self, kind: str, data: Mapping[str, Any], seq: int) -> None:
        dice_set = self.sets[data["set"]]
        session, series = data["session"], [data["session"], data["roll_number"] - data["rolls_in_series"]]
        if not dice_set.at(*AT_TABLE):
            dice_set.first_session = None
        serves = bool(dice_set.at(*SERVING))
        at_table = bool(dice_set.at(*AT_TABLE))
        for move in data["moves"]:
            die = dice_set.dice[move["die"]]
            if die.place != move["from"]:
                raise ValueError(f"die {move['die']} of set {data['set']} is not in {move['from']}, but in {die.place}")
            found = move["from"] in LOST and move["to"] not in GONE
            if serves and found and die.left_in != series and move["die"] not in dice_set.found_late:
                dice_set.found_late.append(move["die"])
            self._move(die, move["to"], series)
            dice_set.difference.pop(move["die"], None)
            if "play" in (move["from"], move["to"]):
                # Dice that are put into play before the table opens serve the session to come.
                dice_set.last_session = max(session, dice_set.last_session or 0)
                dice_set.first_session = dice_set.first_session or session
        if not dice_set.at(*AT_TABLE):
            dice_set.found_late.clear()
        if kind == "dice_set_inspected":
            for name in data["sound"]:
                dice_set.dice[name].state = "sound"
                dice_set.dice[name].fault = None
            for name, fault in data["unsound"].items():
                dice_set.dice[name].state = "unsound"
                dice_set.dice[name].fault = fault
        elif kind == "dice_counted":
            dice_set.last_count = seq
            dice_set.difference = {said["die"]: said["seen"] for said in data["difference"] if said["log"] is not None}
            if data["count"] == "closing":
                dice_set.closing_session = session
            if at_table:
                self.last_count = seq
                if data["count"] == "opening":
                    self.opening_session = session
            if self.counts.get("session") != session:
                self.counts = {"session": session}
            self.counts[data["count"]] = seq
        if data["action"] in ("swap", "change") or any(move["to"] == "play" for move in data["moves"]):
            self.last_change = {"seq": seq, "session": session, "roll_number": data["roll_number"]}
        if data["action"] == "offer":
            self.last_offer = {
                "set": data["set"],
                "reason": data["reason"],
                "dice": sorted(data["offered"]),
                "series": series,
                "point": data["point"],
            }
        elif data["moves"]:
            self.last_offer = None
        if self.rolled_unknown and (self.pair_in_play() or not self.at(*AT_TABLE)):
            self.rolled_unknown = False
        self._explain_by_deed(data["opening"], data["reason"])

    def _move(self, die: Die, to: str, series: list[int]) -> None:
        out_of_sight = to in ("floor", "missing", "inspection", "store")
        if out_of_sight and die.state == "sound":
            die.state = "unchecked"
        if to not in GONE:
            die.left_in = None
        elif die.left_in is None:
            die.left_in = series
        if to in LOST:
            die.fell_in = die.fell_in or series
        elif to != "inspection":
            die.fell_in = None
        if to in ("withdrawn", "cancelled", "destroyed"):
            die.taken_away = True
        die.place = to

    def _explain_by_deed(self, seq: int | None, reason: str) -> None:
        for opening in self.openings:
            if opening.seq == seq and opening.reason is None:
                opening.reason = reason
                self._note_reason(opening)
        self._drop_explained()
