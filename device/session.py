"""The table session: what signals and commands mean for the game, without I/O, clocks or threads.

Commands and signals come in one at a time and in order. Each answer is a list of journal entries, `(type, data)`; the
session has then already taken them on, and whoever runs it must write them down before anyone is told. After a start
the journal's events are given to `replay`, which does the same steps again and holds the results against those that
were journaled: the session is the journal replayed, and nothing else.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from device import alert_book, roll_history, session_corrections, session_game
from device.answered_commands import Commands, remember
from device.dice_control.dice_actions import acting_supervisor
from device.dice_control.dice_context import Context
from device.dice_control.dice_log import EVENTS as DICE_EVENTS
from device.dice_control.dice_log import HEARD, DiceLog
from device.dice_control.dice_rules import DiceRules
from device.dice_control.event_alerts import Alert, closing_facts, count_alerts, latched_alerts, signers
from device.dice_control.reserve_conditions import settled_facts
from device.hardware_state import EVENTS as HARDWARE_EVENTS
from device.hardware_state import HardwareState
from device.journal_base import JOURNAL_PRUNED
from device.machine_events import EVENTS as MACHINE_EVENTS
from device.machine_events import step_text
from device.origin import Origin
from device.people import EVENTS as PEOPLE_EVENTS
from device.people import People, lock_text
from device.plain_values import plain
from device.roll_history import History
from device.session_alerts import ALERT_TEXT_MAX, event_text, gap_alert, is_older, late_key_text, start_alerts
from device.session_corrections import EVENTS as CORRECTION_EVENTS
from device.session_game import EVENTS as GAME_EVENTS
from device.table_terms import TableTerms
from engine_lite.dealing_order import next_shooter
from engine_lite.refusal import Refused
from engine_lite.steps import step_name
from engine_lite.table import Table

Entry = tuple[str, dict[str, Any]]

# Events that change nothing but the dice log.
_DICE_LOG_ONLY = (*DICE_EVENTS, "reserve_settled")
_ALERT_EVENTS = ("alert_raised", "alert_cleared", "alert_acknowledged")


class ReplayError(Exception):
    """The journal does not lead where it says: the message names the event and what differs."""


@dataclass
class Session:
    """One terminal's game. Read `table`, `hardware` and the other fields freely; change them only by the methods."""

    seq: int = 0
    table: Table | None = None
    terms: TableTerms | None = None
    hardware: HardwareState = field(default_factory=HardwareState)
    dice: DiceLog = field(default_factory=DiceLog)
    # Alerts that stand, the oldest first (`alert_book`).
    alerts: dict[str, dict[str, Any]] = field(default_factory=dict)
    last_roll: dict[str, Any] | None = None
    last_no_roll: dict[str, Any] | None = None
    recent_rolls: list[list[int]] = field(default_factory=list)
    correcting: bool = False
    # From one opening to the next closing: how many openings there were, and whether the table is open now.
    session_number: int = 0
    is_open: bool = False
    # Bets are closed and the dice are out: until the roll, or no roll, is entered.
    dice_out: bool = False
    # The throws since the last decision: 0 where the next throw is a come-out; and what that was before the last throw.
    rolls_in_series: int = 0
    series_before_roll: int = 0
    notice: str | None = None
    configured: dict[str, Any] | None = None
    running: bool = False
    # Since the disk was full, until it is told that there is room again.
    recording_stopped: bool = False
    # Of the last start: the program's version, and the public key that the table's checkpoints are signed with.
    version: str | None = None
    key: str | None = None
    # The last checkpoint event; 0 while there was none.
    checkpoint_seq: int = 0
    commands: Commands = field(default_factory=Commands)
    people: People = field(default_factory=People)
    # The rolls of this session that may still be corrected, and the last event that changed the game.
    history: History = ()
    game_seq: int = 0

    @property
    def point(self) -> int | None:
        """The point, None on the come-out and while no table was ever opened."""
        return self.table.point if self.table else None

    @property
    def supervisors(self) -> tuple[str, ...] | None:
        """Those who have a PIN, or else those whom the configuration lists; None: neither, and no name is checked."""
        if (proven := self.people.supervisors) is not None:
            return proven
        listed = (self.configured or {}).get("supervisors")
        return None if listed is None else tuple(listed)

    # Commands

    def start(self, version: str, configured: dict[str, Any], *, key: str, configuration_hash: str) -> list[Entry]:
        """The terminal has started; says whether the last run was ended or broke off (a power cut, a crash).

        It is marked when an older version than before has started, or one with another key; each is an alert as well.
        """
        data: dict[str, Any] = {
            "version": version,
            "configured": configured,
            "configuration_hash": configuration_hash,
            "previous": "first" if self.configured is None else "cut_off" if self.running else "stopped",
            "key": key,
        }
        if self.version is not None and is_older(version, self.version):
            data["downgrade"] = True
        if self.key not in (None, key):
            data["key_changed"] = True
        alerts = start_alerts(data, self.key, self.version)
        return [self._take("started", data), *self._latch(alerts)]

    def stop(self) -> list[Entry]:
        """The terminal ends in good order."""
        return [self._take("stopped", {})]

    def stop_recording(self, reason: str, free_bytes: int) -> list[Entry]:
        """Nothing can be recorded from now on, since the disk is full; what is left on it is for this alone."""
        return [self._take("recording_stopped", {"reason": reason, "free_bytes": free_bytes})]

    def resume_recording(self, free_bytes: int) -> list[Entry]:
        """There is room again. What happened meanwhile was not seen, so people have to look."""
        entries = [self._take("recording_resumed", {"free_bytes": free_bytes})]
        standing = self.alerts.get("recording_gap")
        gaps = 1 if standing is None else standing["detail"]["gaps"] + 1
        return entries + self._latch([gap_alert(gaps, self.seq)])

    def prune_journal(self, data: dict[str, Any]) -> list[Entry]:
        """The oldest events go from the journal; to be written together with it (`device.journal_base`)."""
        return [self._take(JOURNAL_PRUNED, data)]

    def checkpoint(self, data: dict[str, Any]) -> list[Entry]:
        """The journal was signed as far as the last event; to be written together with it."""
        return [self._take("checkpoint", data)]

    def open_table(self, terms: TableTerms, origin: Origin) -> list[Entry]:
        """Open the table under new terms. Raises Refused (`not_now`) while bets lie on the layout."""
        if self.table is not None and self.table.layout():
            raise Refused("not_now", "bets lie on the layout; finish the hand before the table is opened anew")
        return [self._take("table_opened", terms.data() | origin.data())]

    def close_table(self, origin: Origin) -> list[Entry]:
        """The session ends. Raises Refused (`not_now`) while bets lie on the layout or the table is closed."""
        if not self.is_open:
            raise Refused("not_now", "the table is closed already")
        if self.table is not None and self.table.layout():
            raise Refused("not_now", "bets lie on the layout; finish the hand before the table is closed")
        return [self._take("table_closed", origin.data() | closing_facts(self.dice.state, self.session_number))]

    def no_more_bets(self, origin: Origin) -> list[Entry]:
        """The stickman has closed the bets and the dice are out. Raises Refused."""
        if not self.is_open:
            raise Refused("not_now", "the table is closed")
        if self.dice_out:
            raise Refused("not_now", "the dice are out already; enter the roll, or no roll")
        return [self._take("no_more_bets", origin.data())]

    def command(self, step: dict[str, Any], origin: Origin, after_roll: int | None = None) -> list[Entry]:
        """Do a step of the right shape (see engine_lite.steps). Raises Refused, and then nothing has changed.

        `after_roll` is the number of the last roll that whoever gives the step knows of; when there has been another
        since, the step is refused as `stale`: two people may have keyed the same throw.
        """
        if after_roll is not None and self.table is not None and after_roll != self.table.roll_number:
            raise Refused("stale", f"the table has moved on: roll {self.table.roll_number} was entered meanwhile")
        if self.last_roll is not None and sorted(step.get("correct", [])) == sorted(self.last_roll["dice"]):
            raise Refused("nothing_to_correct", "the last roll was entered as these dice")
        data = {"step": step} | origin.data()
        if "no_roll" in step and (sets := [name for name, _ in self.dice.state.sets_at_table()]):
            data["sets"] = sets
        entries = [self._take(step_name(step), data)]
        if "roll" in step:
            entries += self._latch(count_alerts(self.dice.state, self.session_number))
        return entries

    def answered(self, command: str) -> dict[str, Any] | None:
        """The answer that a command of this id got when it was done, or None."""
        return self.commands.get(command)

    # Signals

    def puck_seen(
        self, puck: int, state: str, position: int | str | None, face: str | None, detail: dict[str, Any]
    ) -> list[Entry]:
        """Puck 1 or 2 was put down, lifted, or two sensors see it (`state` as in hardware_state.Puck)."""
        data = {"puck": puck, "state": state, "position": position, "face": face}
        return [self._take("puck", data | detail)]

    def reserve_seen(self, is_open: bool, initial: bool, origin: Origin) -> list[Entry]:
        """The lid of the dice reserve was opened or closed; the game's state then is part of the record."""
        table = self.table
        data = {
            "initial": initial,
            "table_open": self.is_open,
            "shooter": table.shooter if table else None,
            "roll_number": table.roll_number if table else 0,
            "phase": "come_out" if self.point is None else "point",
            "point": self.point,
        }
        return [self._take("reserve_opened" if is_open else "reserve_closed", data | origin.data())]

    def slots_seen(self, occupied: list[int], initial: bool, origin: Origin) -> list[Entry]:
        """Which places of the reserve hold a die; how the lid is then is part of the record (`dice_log`)."""
        data: dict[str, Any] = {"occupied": occupied, "initial": initial, "lid": self.dice.state.lid_now()}
        if self.hardware.lid_unseen:
            data["lid"] = "unseen"
        if unread := self.hardware.unread_slots:
            data["unread"] = unread
        return [self._take("slots", data | origin.data())]

    def reserve_settled(self) -> list[Entry]:
        """The lid of the reserve is shut, and the slots have settled since, or cannot be seen to do so."""
        return [self._take("reserve_settled", settled_facts(self.dice.state, unread=self.hardware.slots_unseen))]

    def bet_status_keyed(self, status: str, box: int | None, origin: Origin) -> list[Entry]:
        """A bet-status button: ON and OFF work on the bets of the box (or on all); BUY and LAY mark the box."""
        data: dict[str, Any] = {"status": status, "box": box}
        if box is not None and self.table is not None:
            data["box_empty"] = all(bet["number"] != box for bet in self.table.bets())
        if status in ("buy", "lay"):
            if box is None:
                data["refused"] = f"press a box button before {status.upper()}"
            return [self._take("bet_status", data | origin.data())]
        working: dict[str, Any] = {"on": status == "on"}
        if box is not None:
            working["number"] = box
        try:
            steps = self.command({"working": working}, origin)
        except Refused as refused:
            data["refused"] = refused.message
            steps = []
        return [*steps, self._take("bet_status", data | origin.data())]

    def keyed_too_late(self, what: str, origin: Origin) -> list[Entry]:
        """What the node kept of its keys while it was away, and a throw was entered on the screen meanwhile.

        It may be that very throw, so it is not done: the boxman decides. Nor is what was keyed while the screen said
        that nothing is accepted.
        """
        message = late_key_text(what, while_full=self.hardware.unrecorded_keys)
        entries = [self._refused_key(message.removesuffix("."), origin)]
        return entries + self.raise_alert(f"late_key:{self.seq}", message, {"what": what}, latched=True)

    def keyed_again(self, first: int, second: int, origin: Origin) -> list[Entry]:
        """The keys say what the screen said a moment ago: one throw, and it is entered."""
        message = f"{first}-{second} was entered on the screen just now; if it was another throw, key it again"
        return [self._refused_key(message, origin, {"roll": [first, second]})]

    def dice_keyed(self, first: int, second: int, origin: Origin) -> list[Entry]:
        """Two dice keys: the roll, or after a take-back the right dice of the last roll."""
        name = "correct" if self.correcting else "roll"
        return self._keyed({name: [first, second]}, origin)

    def take_back_keyed(self, origin: Origin) -> list[Entry]:
        """Key 1 was held: the next two dice correct the last roll; held again, they do not."""
        try:
            return self.take_back(not self.correcting, origin)
        except Refused as refused:
            return [self._refused_key(refused.message, origin)]

    def take_back(self, correcting: bool, origin: Origin) -> list[Entry]:
        """Whether the next two dice, on the keys or on a screen, correct the last roll. Raises Refused."""
        if correcting and self.last_roll is None:
            raise Refused("nothing_to_correct", "there is no roll to take back")
        return [self._take("take_back", {"correcting": correcting} | origin.data())]

    def new_shooter_keyed(self, origin: Origin) -> list[Entry]:
        """Key 2 was held: the dice pass to the next player, in order of position, who has a line bet."""
        shooter = None if self.table is None else next_shooter(self.table.bets(), self.table.shooter)
        if shooter is None:
            return [self._refused_key("no other player has a line bet; name the shooter on the screen", origin)]
        return self._keyed({"shooter": shooter}, origin)

    def input_seen(self, kind: str, data: dict[str, Any]) -> list[Entry]:
        """What else the hardware says: one of hardware_state.EVENTS.

        Its texts may hold what the operating system gave, a name that is no text among it: what no event can hold
        is replaced, and a text is cut at INPUT_TEXT_MAX characters.
        """
        clean = {name: event_text(value) if isinstance(value, str) else value for name, value in data.items()}
        return [self._take(kind, clean)]

    def machine_seen(self, told: Iterable[Entry]) -> list[Entry]:
        """What the machine under the terminal goes through (machine_events.EVENTS), with the alerts that it raises."""
        entries: list[Entry] = []
        for kind, data in told:
            clean = {name: event_text(value) if isinstance(value, str) else value for name, value in data.items()}
            entries.append(self._take(kind, clean))
            # One that stands already is not raised anew, so that it can be acknowledged while the clock goes on so.
            if kind != "clock_stepped" or kind in self.alerts:
                continue
            if text := step_text(data["by_ms"], data.get("was", "synced")):
                entries += self.raise_alert("clock_stepped", text, {"by_ms": data["by_ms"]}, latched=True)
        return entries

    # Dice

    def dice_context(self, rules: DiceRules) -> Context:
        """The game as the dice log sees it, under a jurisdiction's rules of dice."""
        table, void = self.table, self.last_no_roll
        return Context(
            rules=rules,
            table_open=self.is_open,
            session_number=self.session_number,
            point=self.point,
            shooter=table.shooter if table else None,
            roll_number=table.roll_number if table else 0,
            throwing=self.dice_out,
            rolls_in_series=self.rolls_in_series,
            no_roll=None if void is None else (void["seq"], void["reason"]),
            lid_unseen=self.hardware.lid_unseen,
            slots_unseen=self.hardware.slots_unseen,
            supervisors=self.supervisors,
        )

    def dice_action(self, action: dict[str, Any], rules: DiceRules, origin: Origin) -> list[Entry]:
        """An action on the dice (dice_actions), with the alerts that it raises. Raises Refused: nothing has changed."""
        if (supervisor := acting_supervisor(action)) is not None:
            self.people.check_supervisor(supervisor, origin.person)
        entries: list[Entry] = []
        for kind, data in self.dice.decide(action, self.dice_context(rules)):
            entries.append(self._take(kind, data | {"asked": action} | origin.data()))
            entries += self._latch(latched_alerts(kind, data, self.seq), signers(data))
        return entries

    # Alerts

    def raise_alert(
        self, alert: str, text: str, detail: dict[str, Any], *, latched: bool = False, people: Iterable[str] = ()
    ) -> list[Entry]:
        """An alert stands from now on; one that stands with the same text and detail is not raised again.

        `latched`: only its acknowledgement ends it, for what has happened rather than is so. `people` are those whom
        it is about, beside those on duty now and at the opening of the reserve that `detail` names.
        """
        about = [*people, *self.dice.state.duty_at(detail.get("opening"))]
        cut = event_text(text, ALERT_TEXT_MAX)
        data = alert_book.raised(self.alerts, alert, cut, detail, latched=latched, people=about)
        return [] if data is None else [self._take("alert_raised", data)]

    def clear_alert(self, alert: str) -> list[Entry]:
        """What the alert told of was put right."""
        return [self._take("alert_cleared", {"alert": alert})]

    def acknowledge_alert(self, alert: str, raised: int, name: str, origin: Origin) -> list[Entry]:
        """Somebody has taken note of an alert that stands, as event `raised` told of it. Raises Refused."""
        if alert_book.needs_another(alert):
            self.people.check_supervisor(name, origin.person)
        on_duty = self.dice.state.duty_at(None)
        alert_book.check_acknowledgement(self.alerts, alert, raised, name, on_duty, self.supervisors)
        return [self._take("alert_acknowledged", {"alert": alert, "raised": raised, "name": name} | origin.data())]

    def _latch(self, alerts: list[Alert], people: Iterable[str] = ()) -> list[Entry]:
        entries: list[Entry] = []
        for alert, text, detail in alerts:
            entries += self.raise_alert(alert, text, detail, latched=True, people=people)
        return entries

    # What others decide

    def person_seen(self, kind: str, data: dict[str, Any]) -> list[Entry]:
        """Who is listed, signs in or out, or tried a wrong PIN: one of people.EVENTS."""
        entries = [self._take(kind, data)]
        if kind == "pin_wrong" and data["locked_s"]:
            detail = {"name": data["name"], "wrong": data["wrong"]}
            text = lock_text(data["name"], data["wrong"])
            entries += self.raise_alert("pin_locked", text, detail, latched=True)
        return entries

    def record(self, kind: str, data: dict[str, Any]) -> Entry:
        """Take on what was decided elsewhere (`session_corrections`)."""
        return self._take(kind, data)

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
        """The whole state as plain values: equal before a cut and after the restart.

        It stays as it is while the session goes on; `device.session_snapshot.restore` is its inverse.
        """
        apart = ("table", "terms", "dice", "commands", "history")
        said = {name: plain(value) for name, value in vars(self).items() if name not in apart}
        said["table"] = self.table.snapshot() if self.table else None
        said["terms"] = self.terms.data() if self.terms else None
        said["dice"] = self.dice.snapshot()
        said["history"] = plain(roll_history.to_values(self.history))
        # Answers are never changed once they are there, and there may be many.
        said["commands"] = list(self.commands.items())
        return said

    # What follows is the session's own

    def _take(self, kind: str, data: dict[str, Any]) -> Entry:
        """Take an entry on: the only place where the state changes, on the way in and in a replay alike."""
        data = dict(data)
        if kind in HARDWARE_EVENTS:
            self._take_hardware(kind, data)
        elif kind in PEOPLE_EVENTS:
            self.people.take(kind, data)
        elif kind in GAME_EVENTS:
            session_game.take(self, kind, data)
        elif kind in CORRECTION_EVENTS:
            session_corrections.take(self, kind, data)
        elif kind in _ALERT_EVENTS:
            alert_book.take(self.alerts, kind, data, self.seq + 1)
        elif kind not in _DICE_LOG_ONLY and kind not in MACHINE_EVENTS:
            take = getattr(self, f"_on_{kind}", None)
            if take is None:
                raise ValueError(f"{kind} is no kind of event")
            take(data)
        if kind in HEARD:
            self.dice.take(kind, data, self.seq + 1)
        self.seq += 1
        if report := data.get("report"):
            # The console uses up a die of the keys; the hardware's own entries name their group.
            group = data["via"].partition(":")[2]
            if not group:
                self.hardware.used_up_die = (report[0], report[1])
            self.hardware.note_report(group or "dice_keys", report[0], report[1])
        if command := data.get("command"):
            remember(self.commands, command, self.seq, kind, data, self.point)
        return kind, data

    def _on_started(self, data: dict[str, Any]) -> None:
        self.configured = data["configured"]
        self.version = data["version"]
        self.key = data.get("key")
        self.people.sign_all_out()
        self.running = True
        self.hardware.start()
        self.notice = None

    def _on_stopped(self, _data: dict[str, Any]) -> None:
        self.people.sign_all_out()
        self.running = False

    def _on_recording_stopped(self, _data: dict[str, Any]) -> None:
        self.recording_stopped = True
        self.notice = None

    def _on_recording_resumed(self, _data: dict[str, Any]) -> None:
        self.recording_stopped = False
        self.hardware.start()
        self.hardware.unrecorded_keys = True

    def _on_journal_pruned(self, _data: dict[str, Any]) -> None:
        pass

    _on_adopted = _on_journal_pruned

    def _on_checkpoint(self, _data: dict[str, Any]) -> None:
        self.checkpoint_seq = self.seq + 1

    def _on_key_refused(self, data: dict[str, Any]) -> None:
        self.notice = data["message"]

    def _take_hardware(self, kind: str, data: dict[str, Any]) -> None:
        self.hardware.take(kind, data)
        if kind == "puck" and self.hardware.agrees(self.point):
            self.hardware.puck_was_right = True
        elif kind == "bet_status":
            self.notice = data.get("refused")

    def _keyed(self, step: dict[str, Any], origin: Origin) -> list[Entry]:
        """A step from the dice keys; a refusal is journaled too: the keys are used up and the screen says why."""
        try:
            return self.command(step, origin)
        except Refused as refused:
            return [self._refused_key(refused.message, origin, step)]

    def _refused_key(self, message: str, origin: Origin, step: dict[str, Any] | None = None) -> Entry:
        data: dict[str, Any] = {"message": message} | origin.data()
        if step is not None:
            data["step"] = step
        return self._take("key_refused", data)
