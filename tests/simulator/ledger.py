"""What anybody was told, and what must therefore be so: held against the journal after each start and at the end."""

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

from device.dice_control.dice_log import EVENTS as DICE_EVENTS
from device.dice_control.dice_state import PLACES
from device.journal import READ_LIMIT_MAX, JournalReader
from device.session import ReplayError, Session

# A first die that nothing follows is given up after so long (Timing.abandon_ms).
ABANDON_S = 10.0
# So much later than it was seen an event may be stamped, where the disk stalls and others wait before it.
JOURNALED_WITHIN_MS = 30_000
# The kinds of signal of the node of which each report may make one, and one only.
_COUNTED_GROUPS = ("node:dice_keys", "node:bet_status")
_DICE_KEYS = "node:dice_keys"
What = Literal["pair", "hold", "lone die"]
_BY_KEYS: dict[What, tuple[str, ...]] = {
    "pair": ("roll", "correct", "key_refused"),
    "hold": ("take_back", "shooter", "key_refused"),
}


class Violation(Exception):
    """Something that must never be, was."""


@dataclass
class Asked:
    """A command that was given: how, and what came of it as far as whoever gave it knows."""

    method: str
    arguments: tuple[Any, ...]
    outcome: Literal["unknown", "done", "not done"] = "unknown"
    answer: dict[str, Any] | None = None
    # An answer never came: whether it was done, only the journal says.
    unanswered: bool = False


@dataclass(frozen=True)
class Keyed:
    """What was keyed on the node, from when to when; `first` to `last` are the reports of the boot that it made."""

    what: What
    dice: tuple[int, ...]
    began_s: float
    ended_s: float
    boot_id: int
    first: int
    last: int


class Ledger:
    """Takes every event as soon as anybody may know of it, and knows what each of them promised."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.session = Session()
        self.commands: dict[str, Asked] = {}
        self.keyed: list[Keyed] = []
        # Boots of the node in which reports were lost, as it does when its power goes or it has no room.
        self.forgetful_boots: set[int] = set()
        # By its stamp, how many events each commit was to write, and how many of them are there.
        self._asked_of_commit: dict[tuple[str, int], int] = {}
        self._in_commit: Counter[tuple[str, int]] = Counter()
        self._events_of: dict[str, list[dict[str, Any]]] = {}
        self._by_report: dict[tuple[str, int, int], tuple[str, int]] = {}
        self._keyed_events: list[dict[str, Any]] = []
        # The reports of first dice that a roll on the screen used up.
        self._used_up: set[tuple[int, int]] = set()
        self._alerts: set[str] = set()
        # When each opening of the reserve was journaled, which is after it was seen.
        self._opened: dict[int, tuple[str, int]] = {}
        self._starts: list[int] = []
        self._set_sizes: dict[str, int] = {}

    @property
    def last_seq(self) -> int:
        """The last event that anybody may know of."""
        return len(self.lines)

    def take_new(self, reader: JournalReader) -> list[str]:
        """Somebody was told that there is more: take it, and give it back."""
        new: list[str] = []
        while lines := reader.read(self.last_seq + 1, READ_LIMIT_MAX):
            for line in lines:
                self._take(line)
            new += lines
        return new

    def check_journal(self, reader: JournalReader) -> list[str]:
        """What was told is there, byte for byte; what is new is taken and given back. Raises Violation."""
        there: list[str] = []
        while lines := reader.read(len(there) + 1, READ_LIMIT_MAX):
            there += lines
        for seq, told in enumerate(self.lines, start=1):
            if seq > len(there):
                raise Violation(f"event {seq} was told and is missing; the journal ends at {len(there)}: {told}")
            if there[seq - 1] != told:
                raise Violation(f"event {seq} was told as {told} and now is {there[seq - 1]}")
        new = there[self.last_seq :]
        for line in new:
            self._take(line)
        self._check_commits()
        self.check_commands()
        return new

    def commit_begins(self, boot: str, mono_ns: int, events: int) -> None:
        """So many events are to be written under this stamp, all or none."""
        self._asked_of_commit[boot, mono_ns] = events

    def _check_commits(self) -> None:
        """Of what was to be written together all is there, or nothing. Raises Violation."""
        for stamp, there in self._in_commit.items():
            if there != self._asked_of_commit[stamp]:
                asked = self._asked_of_commit[stamp]
                raise Violation(f"of {asked} events that were written together at {stamp} {there} are there")

    def check_session(self, session: Session) -> None:
        """The terminal's state is a replay of the journal. Raises Violation."""
        ours, theirs = self.session.snapshot(), session.snapshot()
        if ours != theirs:
            names = sorted(name for name in ours if ours[name] != theirs.get(name))
            first = names[0]
            raise Violation(f"the state differs from a replay in {names}: {theirs.get(first)!r} is not {ours[first]!r}")

    def check_written(self, payload: bytes) -> None:
        """The centre holds what the journal holds. Raises Violation."""
        for line in payload.decode().split("\n"):
            seq = json.loads(line)["seq"]
            if seq > self.last_seq or self.lines[seq - 1] != line:
                raise Violation(f"the centre was given an event {seq} that the journal does not hold: {line}")

    # Commands

    def done(self, command: str, answer: dict[str, Any]) -> None:
        """A command was answered as done. Raises Violation."""
        asked = self.commands[command]
        answer = {name: value for name, value in answer.items() if name != "repeated"}
        if asked.answer is not None and asked.answer != answer:
            raise Violation(f"command {command} was answered {asked.answer}, and then {answer}")
        asked.outcome, asked.answer = "done", answer
        self._check_command(command, asked)

    def not_done(self, command: str) -> None:
        """A command was refused, or answered as not done. Raises Violation."""
        asked = self.commands[command]
        if asked.outcome == "unknown":
            asked.outcome = "not done"
        self._check_command(command, asked)

    def check_commands(self) -> None:
        """What was answered as done is there, what was not is not, and nothing twice. Raises Violation."""
        for command, asked in self.commands.items():
            self._check_command(command, asked)

    def _check_command(self, command: str, asked: Asked) -> None:
        events = self._events_of.get(command, [])
        moments = {(event["boot"], event["mono_ns"]) for event in events}
        if len(moments) > 1:
            raise Violation(f"command {command} was done {len(moments)} times: events {[e['seq'] for e in events]}")
        if asked.outcome == "not done" and events:
            raise Violation(f"command {command} was answered as not done, and is event {events[0]['seq']}")
        if asked.outcome == "done":
            assert asked.answer is not None
            if asked.answer["seq"] not in [event["seq"] for event in events]:
                raise Violation(f"command {command} was answered as event {asked.answer['seq']}, which it is not")

    # The node

    def check_keyed(self) -> None:
        """All that was keyed on the node is one event, unless the node has forgotten it. Raises Violation.

        One case is nobody's fault: the line broke between two dice, and a roll on the screen used up the first of them.
        The other is then the first of what is keyed next, until a first die is given up.
        """
        halved_until_s = 0.0
        for keyed in self.keyed:
            used_up = any(
                boot_id == keyed.boot_id and keyed.first <= number <= keyed.last for boot_id, number in self._used_up
            )
            if keyed.what == "lone die" or used_up or keyed.began_s < halved_until_s:
                if keyed.what == "pair" or keyed.began_s < halved_until_s:
                    halved_until_s = keyed.ended_s + ABANDON_S
                continue
            events = [
                event
                for event in self._keyed_events
                if event["data"]["report"][0] == keyed.boot_id
                and keyed.first <= event["data"]["report"][1] <= keyed.last
            ]
            if len(events) > 1:
                raise Violation(f"{keyed} became events {[event['seq'] for event in events]}")
            if not events and keyed.boot_id not in self.forgetful_boots:
                raise Violation(f"{keyed} is no event")
            for event in events:
                self._check_keyed_event(keyed, event)

    def _check_keyed_event(self, keyed: Keyed, event: dict[str, Any]) -> None:
        data = event["data"]
        if event["type"] not in _BY_KEYS[keyed.what]:
            raise Violation(f"{keyed} became event {event['seq']}, a {event['type']}")
        if keyed.what == "pair" and "step" in data:
            dice = data["step"].get("roll") or data["step"].get("correct")
            if dice != list(keyed.dice):
                raise Violation(f"{keyed} became event {event['seq']} with dice {dice}")

    # Events

    def is_alert_told(self, alert: str) -> bool:
        """Whether an alert of this code was ever raised in the journal."""
        return alert in self._alerts

    def _take(self, line: str) -> None:
        event = json.loads(line)
        seq, kind, data = event["seq"], event["type"], event["data"]
        if seq != self.last_seq + 1:
            raise Violation(f"event {seq} follows event {self.last_seq}")
        self.lines.append(line)
        self._in_commit[event["boot"], event["mono_ns"]] += 1
        try:
            self.session.replay(seq, kind, data)
        except ReplayError as error:
            raise Violation(f"the journal cannot be replayed: {error}") from error
        if command := data.get("command"):
            self._events_of.setdefault(command, []).append(event)
        if kind == "alert_raised":
            self._alerts.add(data["alert"])
            self._check_grace(event)
        elif kind in ("started", "recording_resumed"):
            self._starts.append(seq)
        elif kind == "reserve_opened":
            self._opened[seq] = (event["boot"], event["mono_ns"])
        self._note_report(event)
        self._check_money(seq)
        if kind in DICE_EVENTS:
            self._check_dice(kind, data, seq)

    def _check_grace(self, event: dict[str, Any]) -> None:
        """How long the reserve was open is no matter of wall time. Raises Violation."""
        detail = event["data"]["detail"]
        boot, opened_ns = self._opened.get(detail.get("opening"), ("", 0))
        if "open_max_ms" not in detail or event["boot"] != boot:
            return
        if sum(seq > detail["opening"] for seq in self._starts) > 1:
            # The time begins anew at a start, once: otherwise, who starts the terminal often is never asked.
            return
        open_ms = (event["mono_ns"] - opened_ns) // 1_000_000
        if open_ms + JOURNALED_WITHIN_MS < detail["open_max_ms"]:
            raise Violation(f"event {event['seq']} says that the reserve was open too long, after {open_ms} ms")

    def _note_report(self, event: dict[str, Any]) -> None:
        data = event["data"]
        via = data.get("via")
        if "report" in data and via == "console":
            self._used_up.add((data["report"][0], data["report"][1]))
        if "report" not in data or via not in _COUNTED_GROUPS:
            return
        report = (via, *data["report"])
        moment = (event["boot"], event["mono_ns"])
        if self._by_report.setdefault(report, moment) != moment:
            raise Violation(f"event {event['seq']} follows from the node's report {report}, as one before did")
        if via == _DICE_KEYS:
            self._keyed_events.append(event)

    def _check_money(self, seq: int) -> None:
        table = self.session.table
        if table is not None:
            total = table.house + sum(table.players.values()) + table.layout()
            if total != 0:
                raise Violation(f"after event {seq} {total} chips are too many or too few")

    def _check_dice(self, kind: str, data: dict[str, Any], seq: int) -> None:
        if kind == "dice_set_received":
            self._set_sizes[data["set"]] = len(data["dice"])
        state = self.session.dice.state
        there = {name: [die.place for die in dice_set.dice.values()] for name, dice_set in state.sets.items()}
        # Of a set all of whose dice were destroyed only what tells it from others is kept.
        there |= {name: ["destroyed"] * self._set_sizes[name] for name in state.destroyed if name in self._set_sizes}
        if {name: len(places) for name, places in there.items()} != self._set_sizes:
            raise Violation(f"after event {seq} the dice do not add up: {there}, received {self._set_sizes}")
        if not all(place in PLACES for places in there.values() for place in places):
            raise Violation(f"after event {seq} a die is nowhere: {there}")
        if sum(places.count("play") for places in there.values()) > 2:
            raise Violation(f"after event {seq} more than two dice are in play: {there}")
