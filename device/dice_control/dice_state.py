"""What the dice log knows: sets, dice and their places, openings of the reserve. Only journal events change it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from device.dice_control.game_memory import GameMemory, ReusedRoll
from device.dice_control.reserve_openings import DUTY_MAX, OPENINGS_MAX, Opening, ShutChange, added

PLACES = (
    "store",
    "reserve",
    "play",
    "offered",
    "floor",
    "inspection",
    "missing",
    "written_off",
    "withdrawn",
    "cancelled",
    "destroyed",
)
# Where a die is that serves, or may soon serve, at the table.
AT_TABLE = ("reserve", "play", "offered", "floor", "inspection")
# Where it serves.
SERVING = ("reserve", "play", "offered")
# Where it is lost, and where it is lost or was taken away.
LOST = ("floor", "missing", "written_off")
GONE = (*LOST, "withdrawn", "cancelled", "destroyed")
# So many dice are thrown.
IN_PLAY = 2

# Destroyed sets whose serial numbers are remembered: one a day for a quarter of a century. Beyond it the oldest goes.
DESTROYED_MAX = 10_000


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
    # Sessions in which it served for a roll: the first since it was brought to the table, the last of all, and the one
    # before that.
    first_session: int | None = None
    last_session: int | None = None
    previous_session: int | None = None
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
class DestroyedSet:
    """What is remembered of a set all of whose dice were destroyed: its name is that of no other set, and a serial
    number of it that comes back is an alarm."""

    maker: str
    # Its serial numbers; none where its dice carried none.
    serials: list[str]


@dataclass
class DiceState:
    """The whole state. Read it freely; only `take` changes it."""

    # Sets of which not all dice are destroyed, at most SETS_MAX (`set_decisions`), and by name what is left of others.
    sets: dict[str, DiceSet] = field(default_factory=dict)
    destroyed: dict[str, DestroyedSet] = field(default_factory=dict)
    openings: list[Opening] = field(default_factory=list)
    reserve_open: bool | None = None
    # The places that held a die when the sensors were read last; one whose sensor cannot be read is as it was before.
    slots: list[int] | None = None
    # From a closing until the slots have settled (`reserve_settled`): its seq, how many dice the log had in the reserve
    # then, and the opening if it was explained.
    settling: int | None = None
    settling_reserve: int = 0
    settling_opening: Opening | None = None
    # And whether the slots could not be seen then: what is found otherwise when they are seen again may belong to it.
    settling_unread: bool = False
    # How many more dice were in the slots than in the log's reserve when they had settled last.
    surplus: int = 0
    # How many starts of the program have found the slots and the log in disagreement as it was before.
    starts_in_disagreement: int = 0
    # A change under a shut lid that may still turn out to belong to an opening, and those that an alert tells of.
    shut_change: ShutChange | None = None
    shut_alert: ShutChange | None = None
    # The table's session, and the last two sessions in which dice were in play for a roll.
    session: int = 0
    played: list[int] = field(default_factory=list)
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
    # The last count of a set at the table, with the opening that it belongs to; the session of the last opening count.
    last_count: int | None = None
    last_count_opening: int | None = None
    opening_session: int | None = None
    # The last session in which an alert said that dice roll without an opening count.
    uncounted_session: int | None = None
    game: GameMemory = field(default_factory=GameMemory)
    # The session of the last count of a set at the table, and the seq of its last opening, closing and check count.
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
        """The opening that what is done now belongs to: the one that goes on, or the last, while it has no reason."""
        last = self.openings[-1] if self.openings else None
        if last is None or last.closed is None:
            return last
        return None if last.over or last.reason is not None else last

    def counted_for(self, opening: Opening) -> bool:
        """Whether the last count of a set at the table belongs to this opening, or came after its closing."""
        if self.last_count is None:
            return False
        began = opening.seq if opening.through is None else opening.through
        belongs = self.last_count_opening == opening.seq and self.last_count > began
        return belongs or (opening.closed is not None and self.last_count > opening.closed)

    def lid_now(self) -> str:
        """open; shut; settling, where it was shut so shortly ago that the slots may not have settled; or unseen."""
        if self.reserve_open is None:
            return "unseen"
        if self.reserve_open:
            return "open"
        return "shut" if self.settling is None else "settling"

    def duty_at(self, opening: int | None) -> list[str]:
        """Who is said to be on duty, or was last; and who was at this opening, where it still waits."""
        names = [] if self.duty is None else [self.duty["boxman"], self.duty["witness"]]
        return names + [name for one in self.openings if one.seq == opening for name in one.duty]

    def played_before(self, session: int) -> int | None:
        """The last session before `session` in which dice were in play for a roll."""
        return max((played for played in self.played if played < session), default=None)

    def pair_in_play(self) -> bool:
        """Whether two dice of one set are in play, as they are to be for a roll."""
        dice = self.at("play")
        return len(dice) == IN_PLAY and len({name for name, _ in dice}) == 1

    def slots_disagree(self) -> bool:
        """Whether other dice were seen in the slots than the log has in the reserve, by their number.

        Where no set was ever recorded, nobody keeps the log that the slots could contradict.
        """
        return bool(self.sets) and self.slots is not None and len(self.slots) != len(self.at("reserve"))

    def take(self, kind: str, data: Mapping[str, Any], seq: int) -> None:
        """Apply an event. ValueError: `kind` is none of the dice log's."""
        self._apply(kind, data, seq)
        if self.starts_in_disagreement and not self.slots_disagree():
            self.starts_in_disagreement = 0

    def _apply(self, kind: str, data: Mapping[str, Any], seq: int) -> None:
        match kind:
            case "started" | "recording_resumed":
                for one in self.openings:
                    one.starts += 1
                self.game.started()
                self.starts_in_disagreement += 1
            case "reserve_opened":
                self._opened(data, seq)
            case "reserve_closed":
                self._closed(seq)
            case "reserve_settled":
                self._settled(data)
            case "slots":
                self._slots(data, seq)
            case "table_opened":
                self.session += 1
                self.game.opened()
                self._end_openings()
                for waiting in self.openings:
                    # Those who open the table now cannot say why.
                    waiting.late |= waiting.over and waiting.while_closed
            case "table_closed":
                self.game.closed(data, self.session)
                if data.get("reserve_open") and (opening := self.open_opening()) is not None:
                    opening.while_closed = True
            case "no_more_bets":
                self.game.throwing = True
                if (opening := self.open_opening()) is not None:
                    opening.during_roll = True
            case "no_roll":
                self.game.no_roll(data, seq)
                if self.game.off_table and (opening := self.open_opening()) is not None:
                    opening.off_table = True
            case "roll":
                self._rolled(data, seq)
            case "alert_raised":
                self._alerted(data)
            case "alert_acknowledged":
                self._acknowledged(data["alert"])
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
                self.game.named(data["no_roll"])
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
                self.openings[-1].over = False
                self.openings[-1].told = []
                self.openings[-1].starts = 0
            opening = self.openings[-1]
            # Journals of earlier versions do not say how the table was.
            opening.while_closed |= not data.get("table_open", True)
            opening.during_roll |= self.game.throwing
            opening.off_table |= self.game.off_table
            duty = () if self.duty is None else (self.duty["boxman"], self.duty["witness"])
            opening.duty = list(dict.fromkeys([*opening.duty, *duty]))[:DUTY_MAX]
            self.last_opening = {"seq": opening.seq, "reason": None}
        self.reserve_open = True
        self.settling = self.settling_opening = self.shut_change = None

    def _end_openings(self) -> None:
        for opening in self.openings:
            opening.over |= opening.closed is not None

    def _rolled(self, data: Mapping[str, Any], seq: int) -> None:
        opening = self.open_opening()
        if opening is not None:
            opening.during_roll = True
        else:
            self.last_opening = None
        self._end_openings()
        self.game.rolled(data)
        self.rolled_unknown = bool(self.at(*AT_TABLE)) and not self.pair_in_play()
        thrown = {name for name, _ in self.at("play")}
        if thrown and self.session not in self.played:
            self.played = [*self.played, self.session][-2:]
        # Where no die is in play by the log, those that might be are taken to have served.
        again: dict[str, int] = {}
        for name in sorted(thrown or {name for name, _ in self.at(*SERVING)}):
            served = self.sets[name]
            if served.last_session is not None and served.last_session != self.session:
                again[name] = served.previous_session = served.last_session
            served.last_session = self.session
            served.first_session = served.first_session or self.session
        if again:
            self.game.reused = ReusedRoll(seq, self.session, again)
        for _, there in self.sets_at_table():
            # Not a closing count, if the game goes on.
            there.closing_session = None

    def _closed(self, seq: int) -> None:
        opening = self.open_opening()
        if self.reserve_open is not False:
            self.settling, self.settling_reserve = seq, len(self.at("reserve"))
            self.settling_opening = None
            self.settling_unread = False
        if opening is not None:
            opening.closed = seq
            if not opening.waits:
                self.settling_opening = opening
        self.reserve_open = False
        self._drop_explained()

    def _settled(self, data: Mapping[str, Any]) -> None:
        """What lies in the slots after a closing; what was said before it, and does not fit, is asked anew."""
        if data.get("unread"):
            self.settling_unread = True
            return
        self.surplus = data["surplus"]
        opening = self.settling_opening
        self.settling = self.settling_opening = None
        if data["asked_anew"] is None or opening is None or opening.seq != data["asked_anew"]:
            return
        opening.reason = None
        opening.moved = False
        self._note_reason(opening)
        self.openings.append(opening)

    def _slots(self, data: Mapping[str, Any], seq: int) -> None:
        unread = data.get("unread", [])
        kept = [place for place in self.slots or [] if place in unread]
        before, self.slots = self.slots, sorted({*(place for place in data["occupied"] if place not in unread), *kept})
        if before is None or before == self.slots or self.reserve_open is not False:
            return
        # Shut a moment ago, a die's place may settle after the lid; at a start that is over.
        if self.settling is not None and (self.settling_unread or not data["initial"]):
            return
        self.shut_change = added(self.shut_change, ShutChange(seq, seq, 1, before, self.slots, data["initial"]))

    def shut_changes(self) -> ShutChange | None:
        """The changes under a shut lid of which an alert is to tell: those that it tells of, and those since."""
        return None if self.shut_change is None else added(self.shut_alert, self.shut_change)

    def _alerted(self, data: Mapping[str, Any]) -> None:
        alert: str = data["alert"]
        if alert.startswith("no_opening_count:"):
            self.uncounted_session = data["detail"]["session"]
        elif alert.startswith("slots_changed_shut:"):
            self.shut_alert, self.shut_change = ShutChange(**data["detail"]), None
        family, _, about = alert.partition(":")
        self.game.told(family, about)
        for opening in self.openings:
            if about == str(opening.seq):
                opening.late |= family == "reserve_unexplained"
                if family in ("reserve_open_during_roll", "reserve_open_while_closed"):
                    opening.told.append(family)

    def _acknowledged(self, alert: str) -> None:
        if self.shut_alert is not None and alert == f"slots_changed_shut:{self.shut_alert.event}":
            self.shut_alert = None
        family, _, about = alert.partition(":")
        if family == "dice_not_named":
            self.game.named(int(about))

    def _explained(self, data: Mapping[str, Any]) -> None:
        for opening in self.openings:
            if opening.seq == data["opening"]:
                opening.reason = data["reason"]
                opening.moved = False
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
                self.game.counted(session, data["set"])
            if at_table:
                self._counted(data, seq)
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
        if all(die.place == "destroyed" for die in dice_set.dice.values()):
            self._forget_destroyed(data["set"])
        self._explain_by_deed(data)

    def _counted(self, data: Mapping[str, Any], seq: int) -> None:
        self.last_count = seq
        self.last_count_opening = data["opening"]
        if data["count"] == "opening":
            self.opening_session = data["session"]
        if self.counts.get("session") != data["session"]:
            self.counts = {"session": data["session"]}
        self.counts[data["count"]] = seq

    def _forget_destroyed(self, name: str) -> None:
        gone = self.sets.pop(name)
        serials = list(gone.dice) if gone.numbered_by == "serial" else []
        self.destroyed[name] = DestroyedSet(gone.maker, serials)
        while len(self.destroyed) > DESTROYED_MAX:
            self.destroyed.pop(next(iter(self.destroyed)))

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

    def _explain_by_deed(self, data: Mapping[str, Any]) -> None:
        for opening in self.openings:
            new = opening.reason is None or "instead_of" in data
            # Why it was opened while nobody played is to be said, or to be seen in what was taken or brought.
            new = new and (bool(data["moves"]) or not opening.while_closed)
            if opening.seq == data["opening"] and data["reason"] is not None and new:
                opening.reason = data["reason"]
                opening.moved = bool(data["moves"])
                self._note_reason(opening)
        self._drop_explained()
