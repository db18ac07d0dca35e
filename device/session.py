"""The table session: what signals and commands mean for the game, without I/O, clocks or threads.

Commands and signals come in one at a time and in order. Each answer is a list of journal entries, `(type, data)`; the
session has then already taken them on, and whoever runs it must write them down before anyone is told. After a start
the journal's events are given to `replay`, which does the same steps again and holds the results against those that
were journaled: the session is the journal replayed, and nothing else.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine_lite.dealing_order import player_order
from engine_lite.refusal import Refused
from engine_lite.rule_compiler import compile_rules
from engine_lite.rules import RuleSet
from engine_lite.steps import apply_step, step_name
from engine_lite.table import Table

Entry = tuple[str, dict[str, Any]]

RECENT_ROLLS_MAX = 12
# Commands remembered so that one that is sent again after a lost answer is not done twice.
COMMANDS_MAX = 1000
INPUT_TEXT_MAX = 300


class ReplayError(Exception):
    """The journal does not lead where it says: the message names the event and what differs."""


@dataclass(frozen=True)
class TableTerms:
    """What a table is opened under: the rule set's data, options, unit and limits (chip units)."""

    rule_set: Mapping[str, Any]
    options: Mapping[str, Any]
    unit: int
    minimum: int
    maximum: int

    def table(self) -> Table:
        """A new table under these terms. Raises RuleError or ValueError when they are not sound."""
        return Table(compile_rules(dict(self.rule_set), dict(self.options)), self.unit, self.minimum, self.maximum)

    def data(self) -> dict[str, Any]:
        """The terms as they stand in an event."""
        return {
            "rule_set": dict(self.rule_set),
            "options": dict(self.options),
            "unit": self.unit,
            "limits": {"min": self.minimum, "max": self.maximum},
        }

    def check(self) -> RuleSet:
        """The rule set, if a table may be opened under these terms. Raises RuleError or ValueError.

        More than `table` asks: the regulation's own bounds on the limits. What was opened once is not judged again.
        """
        rules = self.table().rules
        if self.minimum % self.unit:
            raise ValueError(f"the minimum {self.minimum} must be a multiple of the unit {self.unit}")
        bounds = rules.maximum_bounds(self.minimum)
        if bounds is not None and not bounds[0] <= self.maximum <= bounds[1]:
            raise ValueError(
                f"the maximum must be from {bounds[0]} to {bounds[1]} where the minimum is {self.minimum} "
                f"({rules.name}, {rules.limits_source})"
            )
        return rules


@dataclass(frozen=True)
class Origin:
    """Where a step came from: the console, the buttons or the dice keys; its command id or the node's report."""

    via: str
    command: str | None = None
    report: tuple[int, int] | None = None

    def data(self) -> dict[str, Any]:
        """The origin as it stands in an event."""
        said: dict[str, Any] = {"via": self.via}
        if self.command is not None:
            said["command"] = self.command
        if self.report is not None:
            said["report"] = list(self.report)
        return said


@dataclass
class Puck:
    """Where the puck is: `state` in_place, lifted, fault or unknown; `position` a number or "off"; `face` on or off."""

    state: str = "unknown"
    position: int | str | None = None
    face: str | None = None


@dataclass
class Session:
    """One terminal's game. Read `table`, `puck` and the other fields freely; change them only through the methods."""

    seq: int = 0
    table: Table | None = None
    terms: TableTerms | None = None
    puck: Puck = field(default_factory=Puck)
    reserve_open: bool | None = None
    marks: dict[int, str] = field(default_factory=dict)
    last_status: dict[str, Any] | None = None
    last_roll: dict[str, Any] | None = None
    last_no_roll: dict[str, Any] | None = None
    recent_rolls: list[list[int]] = field(default_factory=list)
    correcting: bool = False
    notice: str | None = None
    node_report: tuple[int, int] | None = None
    unavailable: dict[str, str] = field(default_factory=dict)
    configured: dict[str, Any] | None = None
    running: bool = False
    commands: "OrderedDict[str, dict[str, Any]]" = field(default_factory=OrderedDict)

    # Commands

    def start(self, version: str, configured: dict[str, Any]) -> list[Entry]:
        """The terminal has started; says whether the last run was ended or broke off (a power cut, a crash)."""
        previous = "first" if self.configured is None else "cut_off" if self.running else "stopped"
        return [self._take("started", {"version": version, "configured": configured, "previous": previous})]

    def stop(self) -> list[Entry]:
        """The terminal ends in good order."""
        return [self._take("stopped", {})]

    def open_table(self, terms: TableTerms, origin: Origin) -> list[Entry]:
        """Open the table under new terms. Raises Refused (`not_now`) while bets lie on the layout."""
        if self.table is not None and self.table.layout():
            raise Refused("not_now", "bets lie on the layout; finish the hand before the table is opened anew")
        return [self._take("table_opened", terms.data() | origin.data())]

    def command(self, step: dict[str, Any], origin: Origin, after_roll: int | None = None) -> list[Entry]:
        """Do a step of the right shape (see engine_lite.steps). Raises Refused, and then nothing has changed.

        `after_roll` is the number of the last roll that whoever gives the step knows of; when there has been another
        since, the step is refused as `stale`: two people may have keyed the same throw.
        """
        if after_roll is not None and self.table is not None and after_roll != self.table.roll_number:
            raise Refused("stale", f"the table has moved on: roll {self.table.roll_number} was entered meanwhile")
        if self.last_roll is not None and sorted(step.get("correct", [])) == sorted(self.last_roll["dice"]):
            raise Refused("nothing_to_correct", "the last roll was entered as these dice")
        return [self._take(step_name(step), {"step": step} | origin.data())]

    def answered(self, command: str) -> dict[str, Any] | None:
        """The answer that a command of this id got when it was done, or None."""
        return self.commands.get(command)

    # Signals

    def puck_seen(
        self, state: str, position: int | str | None, face: str | None, detail: dict[str, Any]
    ) -> list[Entry]:
        """The puck was put down, lifted, or two sensors see it (`state` as in Puck)."""
        data = {"state": state, "position": position, "face": face}
        return [self._take("puck", data | detail)]

    def reserve_seen(self, is_open: bool, initial: bool) -> list[Entry]:
        """The lid of the dice reserve was opened or closed; the game's state then is part of the record."""
        table = self.table
        data = {
            "initial": initial,
            "shooter": table.shooter if table else None,
            "roll_number": table.roll_number if table else 0,
            "point": table.point if table else None,
        }
        return [self._take("reserve_opened" if is_open else "reserve_closed", data)]

    def bet_status_keyed(self, status: str, box: int | None) -> list[Entry]:
        """A bet-status button: ON and OFF work on the bets of the box (or on all); BUY and LAY mark the box."""
        data: dict[str, Any] = {"status": status, "box": box}
        if status in ("buy", "lay"):
            if box is None:
                data["refused"] = f"press a box button before {status.upper()}"
            return [self._take("bet_status", data)]
        working: dict[str, Any] = {"on": status == "on"}
        if box is not None:
            working["number"] = box
        try:
            steps = self.command({"working": working}, Origin("buttons"))
        except Refused as refused:
            data["refused"] = refused.message
            steps = []
        return [*steps, self._take("bet_status", data)]

    def dice_keyed(self, first: int, second: int, report: tuple[int, int] | None) -> list[Entry]:
        """Two dice keys: the roll, or after a take-back the right dice of the last roll."""
        name = "correct" if self.correcting else "roll"
        return self._keyed({name: [first, second]}, report)

    def take_back_keyed(self, report: tuple[int, int] | None) -> list[Entry]:
        """Key 1 was held: the next two dice correct the last roll; held again, they do not."""
        try:
            return self.take_back(not self.correcting, Origin("dice_keys", report=report))
        except Refused as refused:
            return [self._refused_key(refused.message, report)]

    def take_back(self, correcting: bool, origin: Origin) -> list[Entry]:
        """Whether the next two dice, on the keys or on a screen, correct the last roll. Raises Refused."""
        if correcting and self.last_roll is None:
            raise Refused("nothing_to_correct", "there is no roll to take back")
        return [self._take("take_back", {"correcting": correcting} | origin.data())]

    def new_shooter_keyed(self, report: tuple[int, int] | None) -> list[Entry]:
        """Key 2 was held: the dice pass to the next player, in order of position, who has a line bet."""
        shooter = self._next_shooter()
        if shooter is None:
            return [self._refused_key("no other player has a line bet; name the shooter on the screen", report)]
        return self._keyed({"shooter": shooter}, report)

    def input_seen(self, kind: str, data: dict[str, Any]) -> list[Entry]:
        """What else the hardware says: input_unavailable, node_lost, node_found.

        Its texts may hold what the operating system gave, a name that is no text among it: what no event can hold
        is replaced, and a text is cut at INPUT_TEXT_MAX characters.
        """
        clean = {name: _event_text(value) if isinstance(value, str) else value for name, value in data.items()}
        return [self._take(kind, clean)]

    def alert(self, code: str, text: str) -> list[Entry]:
        """Something that the centre or another part of the terminal must be told, such as a fenced table."""
        return [self._take("alert", {"code": code, "text": text})]

    # Replay

    def replay(self, seq: int, kind: str, data: dict[str, Any]) -> None:
        """Take on a journaled event. Raises ReplayError when it does not follow from those before it."""
        if seq != self.seq + 1:
            raise ReplayError(f"event {seq} does not follow event {self.seq}")
        try:
            _, again = self._take(kind, data)
        except (Refused, KeyError, TypeError, ValueError) as error:
            raise ReplayError(f"event {seq} ({kind}) cannot be done again: {error}") from error
        if again != data:
            differing = sorted(name for name in again if again[name] != data.get(name))
            raise ReplayError(f"event {seq} ({kind}) was journaled with another {', '.join(differing)}")

    def snapshot(self) -> dict[str, Any]:
        """The whole state as plain values: equal before a cut and after the restart."""
        said = {name: value for name, value in vars(self).items() if name not in ("table", "terms", "puck", "commands")}
        said["puck"] = vars(self.puck)
        said["table"] = self.table.snapshot() if self.table else None
        said["rules"] = self.table.rules.name if self.table else None
        said["commands"] = list(self.commands.items())
        return said

    # What follows is the session's own

    def _take(self, kind: str, data: dict[str, Any]) -> Entry:
        """Take an entry on: the only place where the state changes, on the way in and in a replay alike."""
        take = getattr(self, f"_on_{kind}", None)
        if take is None:
            raise ValueError(f"{kind} is no kind of event")
        data = dict(data)
        take(data)
        self.seq += 1
        if report := data.get("report"):
            self.node_report = (report[0], report[1])
        if command := data.get("command"):
            self._remember(command, kind, data)
        return kind, data

    def _remember(self, command: str, kind: str, data: dict[str, Any]) -> None:
        self.commands[command] = {
            "seq": self.seq,
            "asked": _asked(kind, data),
            "results": data.get("results", []),
            "point": self.table.point if self.table else None,
        }
        if len(self.commands) > COMMANDS_MAX:
            self.commands.popitem(last=False)

    def _on_started(self, data: dict[str, Any]) -> None:
        self.configured = data["configured"]
        self.running = True
        # A reader who comes later sees the inputs as they are found now.
        self.puck = Puck()
        self.unavailable = {}
        self.notice = None

    def _on_stopped(self, _data: dict[str, Any]) -> None:
        self.running = False

    def _on_table_opened(self, data: dict[str, Any]) -> None:
        limits = data["limits"]
        terms = TableTerms(data["rule_set"], data["options"], data["unit"], limits["min"], limits["max"])
        self.table = terms.table()
        self.terms = terms
        self.marks = {}
        self.last_roll = None
        self.last_no_roll = None
        self.recent_rolls = []
        self.correcting = False
        self.notice = None

    def _step(self, data: dict[str, Any]) -> list[dict[str, Any]]:
        if self.table is None:
            raise Refused("not_now", "the table is not open")
        results = apply_step(self.table, data["step"])
        self.notice = None
        return results

    def _on_bet(self, data: dict[str, Any]) -> None:
        self._step(data)

    _on_working = _on_shooter = _on_bet

    def _on_reduce(self, data: dict[str, Any]) -> None:
        data["results"] = self._step(data)

    _on_take_down = _on_reduce

    def _on_no_roll(self, data: dict[str, Any]) -> None:
        self._step(data)
        self.last_no_roll = {"reason": data["step"]["no_roll"], "seq": self.seq + 1}

    def _on_roll(self, data: dict[str, Any]) -> None:
        point_before = self.table.point if self.table else None
        data["results"] = self._step(data)
        assert self.table is not None
        data |= {"number": self.table.roll_number, "point_before": point_before, "point": self.table.point}
        self._note_roll(data["step"]["roll"], data, self.seq + 1, corrected=False)

    def _on_correct(self, data: dict[str, Any]) -> None:
        data["results"] = self._step(data)
        assert self.table is not None
        assert self.last_roll is not None
        last = self.last_roll
        data |= {
            "corrects": last["seq"],
            "number": self.table.roll_number,
            "point_before": last["point_before"],
            "point": self.table.point,
        }
        if self.table.not_redone:
            data["not_redone"] = [dict(said) for said in self.table.not_redone]
        self.recent_rolls.pop()
        self._note_roll(data["step"]["correct"], data, last["seq"], corrected=True)

    def _note_roll(self, dice: list[int], data: dict[str, Any], seq: int, *, corrected: bool) -> None:
        undone = self.last_roll if corrected and self.last_roll else {"dice": None, "results": []}
        self.correcting = False
        self.last_no_roll = None
        self.recent_rolls = [*self.recent_rolls, list(dice)][-RECENT_ROLLS_MAX:]
        self.last_roll = {
            "seq": seq,
            "number": data["number"],
            "dice": list(dice),
            "total": sum(dice),
            "point_before": data["point_before"],
            "point": data["point"],
            "results": [self._with_stake(result) for result in data["results"]],
            "corrected": corrected,
            # After a correction: what the wrong roll had settled and must be taken back.
            "undone": undone["results"],
            "undone_dice": undone["dice"],
            # Bets that players had taken back and that the right roll had decided: the chips are owed.
            "not_redone": data.get("not_redone", []),
        }

    def _with_stake(self, result: dict[str, Any]) -> dict[str, Any]:
        """A loser with the stake that is collected, which the dealer wants to see."""
        if result["result"] != "lose" or self.table is None:
            return result
        stake = self.table.stake_before_roll(result["player"], result["kind"], result.get("number"))
        return result | {"amount": stake}

    def _on_take_back(self, data: dict[str, Any]) -> None:
        self.correcting = data["correcting"]

    def _on_key_refused(self, data: dict[str, Any]) -> None:
        self.notice = data["message"]

    def _on_puck(self, data: dict[str, Any]) -> None:
        self.puck = Puck(data["state"], data["position"], data["face"])

    def _on_reserve_opened(self, _data: dict[str, Any]) -> None:
        self.reserve_open = True

    def _on_reserve_closed(self, _data: dict[str, Any]) -> None:
        self.reserve_open = False

    def _on_bet_status(self, data: dict[str, Any]) -> None:
        status, box = data["status"], data["box"]
        self.last_status = {"status": status, "box": box}
        self.notice = data.get("refused")
        if status in ("buy", "lay") and box is not None:
            # Pressed again, the marker is lifted.
            if self.marks.get(box) == status:
                del self.marks[box]
            else:
                self.marks[box] = status

    def _on_input_unavailable(self, data: dict[str, Any]) -> None:
        self.unavailable[data["name"]] = data["reason"]

    def _on_node_lost(self, _data: dict[str, Any]) -> None:
        """The node's state is told live; the event is for the record."""

    _on_node_found = _on_button_held_at_start = _on_alert = _on_node_lost

    def _keyed(self, step: dict[str, Any], report: tuple[int, int] | None) -> list[Entry]:
        """A step from the dice keys; a refusal is journaled too: the keys are used up and the screen says why."""
        try:
            return self.command(step, Origin("dice_keys", report=report))
        except Refused as refused:
            return [self._refused_key(refused.message, report, step)]

    def _refused_key(self, message: str, report: tuple[int, int] | None, step: dict[str, Any] | None = None) -> Entry:
        data: dict[str, Any] = {"message": message} | Origin("dice_keys", report=report).data()
        if step is not None:
            data["step"] = step
        return self._take("key_refused", data)

    def _next_shooter(self) -> str | None:
        table = self.table
        if table is None:
            return None
        lines = ("pass_line", "dont_pass")
        players: list[str] = sorted({bet["player"] for bet in table.bets() if bet["kind"] in lines}, key=player_order)
        if not players:
            return None
        if table.shooter is None:
            return players[0]
        later = [player for player in players if player_order(player) > player_order(table.shooter)]
        following = [player for player in [*later, *players] if player != table.shooter]
        return following[0] if following else None


def _asked(kind: str, data: dict[str, Any]) -> Any:
    """What a command asked for, as far as it tells it from another one under the same id."""
    if kind == "table_opened":
        return {name: data[name] for name in ("rule_set", "options", "unit", "limits")}
    return data["correcting"] if kind == "take_back" else data["step"]


def _event_text(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")[:INPUT_TEXT_MAX]
