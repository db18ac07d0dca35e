"""A day at a craps table in a script: the terminal's process, hands on lid and slots, deeds at the console.

What the day left behind is read as an auditor would, by `boxman dice` and `boxman journal export`, and told in lines
that can be written by hand. A line of the dice log: session.roll/point, what was done, the set, the dice, the reason,
who asked, the rules broken, the difference, what it belongs to, a note, and who did it and saw it where that was not
the boxman on duty (Ana) and the witness on duty (Luis). Events that others refer to have labels, numbered as they
come: o1 an opening of the reserve, v1 a void throw, b1 what broke a rule, d1 a count that differs, s1 a change of the
slots under a shut lid.
"""

import csv
import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from device.dice_control.dice_rules import load
from device.dice_control.dice_state import PLACES
from device.dice_control.report_words import WORDS
from provisioning.command_line import main
from provisioning.dice_csv import LOG_COLUMNS, REPORT_COLUMNS, STATUS_COLUMNS
from tests.terminal_rig import SILENT_NODE, TerminalProcess, wait_for

BOXMAN, WITNESS, SUPERVISOR = "Ana", "Luis", "Eva"
# Long enough for what a script does between two waits, short enough to wait for. Those of puck and rolls never end.
EXPLAIN_MS, OPEN_MAX_MS, SLOTS_MS = 1500, 10_000, 500
NEVER_MS = 600_000
CONFIGURATION = """
[table]
rules = "{rules}"
[alerts]
explain_ms = {explain_ms}
open_max_ms = {open_max_ms}
slots_ms = {slots_ms}
puck_ms = 3600000
roll_ms = 3600000
[uplink]
servers = ["nats://127.0.0.1:9"]
"""
SLOTS = 6
_NOT_TOLD = ("seen: ", "all sound", "checked: ", "no instruments", "sound: ", "Bold, red", "open for ", "For: ")
_LABELS = {"reserve_opened": "o", "no_roll": "v"}


@contextmanager
def dice_table(
    folder: Path, rules: str, *, open_max_ms: int = OPEN_MAX_MS, slots_ms: int = SLOTS_MS
) -> Iterator["DiceTable"]:
    """A table under `rules` whose reserve is empty and shut, open for its first session."""
    configuration = folder / "table.toml"
    times = {"explain_ms": EXPLAIN_MS, "open_max_ms": open_max_ms, "slots_ms": slots_ms}
    configuration.write_text(CONFIGURATION.format(rules=rules, **times))
    with TerminalProcess(folder / "data", configuration=configuration) as terminal:
        table = DiceTable(terminal, rules)
        terminal.wait_for_state(
            lambda state: (
                state["dice"]["reserve"]["open"] is False
                and state["reserve"]["slots"] is not None
                and state["node"]["state"] == "online"
            ),
            "lid and slots are seen",
        )
        table.slots(0)
        yield table


class DiceTable:
    """One table. Whatever does something waits until the terminal has taken it on."""

    def __init__(self, terminal: TerminalProcess, rules: str) -> None:
        self.terminal = terminal
        self.rules = load(rules)

    @property
    def dice_state(self) -> dict[str, Any]:
        """The dice log as the screen shows it."""
        shown: dict[str, Any] = self.terminal.state()["dice"]
        return shown

    # The game

    def post(self, path: str, **body: Any) -> int:
        """A request that must be done; the seq of its event."""
        answer = self.terminal.client.post(path, json={"id": self.terminal.fresh_id()} | body)
        assert answer.status_code == 200, answer.text
        seq: int = answer.json()["seq"]
        return seq

    def open_table(self) -> None:
        """Open the table for a further session."""
        self.post("/api/open", rules=self.rules.name, unit=1, limits={"min": 5, "max": 5000})

    def close_table(self) -> None:
        """End the session."""
        self.post("/api/close")

    def no_more_bets(self) -> None:
        """The dice are out."""
        self.post("/api/no_more_bets")

    def shooter(self, player: str, kind: str = "pass_line") -> None:
        """A player bets on a line and gets the dice."""
        self.terminal.do({"bet": {"player": player, "kind": kind, "amount": 10}})
        self.terminal.do({"shooter": player})

    def roll(self, first: int, second: int) -> list[tuple[str, str]]:
        """A throw; (kind, win or lose) of the bets it decides."""
        answer = self.terminal.do({"roll": [first, second]})
        return [(result["kind"], result["result"]) for result in answer["results"]]

    def void_throw(self, reason: str, *dice: str, **more: Any) -> int:
        """A throw that does not count, and the dice it was about; the seq of the throw."""
        self.no_more_bets()
        seq: int = self.terminal.do({"no_roll": reason})["seq"]
        if dice:
            self.dice("void_throw", no_roll=seq, dice=list(dice), **more)
        return seq

    # Dice

    def dice(self, action: str, /, **parts: Any) -> int:
        """An action on the dice that must be done; `in` and `as` are written in_ and as_. The seq of its event."""
        said = {part.removesuffix("_"): value for part, value in parts.items()}
        return self.post("/api/dice", action={action: said})

    def refused(self, action: str, /, **parts: Any) -> tuple[int, dict[str, Any]]:
        """Status and answer of an action that must not be done, and that must leave everything as it was."""
        before = self._state_of_the_table()
        said = {part.removesuffix("_"): value for part, value in parts.items()}
        body = {"id": self.terminal.fresh_id(), "action": {action: said}}
        answer = self.terminal.client.post("/api/dice", json=body)
        assert answer.status_code != 200, answer.text
        assert self._state_of_the_table() == before
        return answer.status_code, answer.json()

    def _state_of_the_table(self) -> dict[str, Any]:
        """What the screen shows, without what the link to a server that is not there does in its own time."""
        return self.terminal.state() | {"seq": None, "uplink": None}

    def receive(self, name: str, dice: int, *, numbered: bool = True, **more: Any) -> None:
        """A set arrives: dice A1, A2 ... of set A with the house's mark, or plain ones without numbers of their own."""
        said = {"set": name, "dice": dice, "maker": "Bold", "colour": "red"}
        if numbered:
            said |= {"serials": [f"{name}{number}" for number in range(1, dice + 1)], "house_mark": "CM"}
        self.dice("receive", **{part: value for part, value in (said | more).items() if value is not None})

    def inspect(self, **more: Any) -> None:
        """All that the rules ask to be checked is, and is good."""
        self.dice("inspect", checks=dict.fromkeys(self.rules.checks, True), **more)

    # Hands

    def slots(self, dice: int) -> None:
        """So many dice lie in the reserve: in the first slots."""
        for slot in range(1, SLOTS + 1):
            self.terminal.hand(slot=slot, occupied=slot <= dice)
        wanted = list(range(1, dice + 1))
        self.terminal.wait_for_state(
            lambda state: state["reserve"]["slots"] == wanted, f"{dice} dice are seen in the slots"
        )

    def open_lid(self) -> int:
        """The seq of the opening."""
        self.terminal.hand(lid="open")
        state = self.terminal.wait_for_state(lambda state: state["dice"]["reserve"]["open"], "the lid is seen open")
        seq: int = state["dice"]["openings"][-1]["seq"]
        return seq

    def close_lid(self) -> None:
        """Shut the reserve."""
        self.terminal.hand(lid="closed")
        self.terminal.wait_for_state(lambda state: state["dice"]["reserve"]["open"] is False, "the lid is seen shut")

    def settled(self) -> None:
        """Wait until the slots have settled after the last closing: what changes now has another cause."""
        closed = self.journal("reserve_closed")[-1]["seq"]
        wait_for(
            lambda: any(event["data"]["closed"] == closed for event in self.journal("reserve_settled")),
            "the slots have settled",
        )

    @contextmanager
    def reserve(self, dice_after: int | None = None) -> Iterator[int]:
        """The reserve is open meanwhile; `dice_after` lie there when it is shut (None: as many as before)."""
        yield self.open_lid()
        if dice_after is not None:
            self.slots(dice_after)
        self.close_lid()

    # Alerts

    def alert(self, name: str) -> str:
        """The text of an alert, as soon as it is told."""
        state = self.terminal.wait_for_state(
            lambda state: any(alert["id"] == name for alert in state["alerts"]), f"the alert {name}"
        )
        text: str = next(alert["text"] for alert in state["alerts"] if alert["id"] == name)
        return text

    def no_alert(self, name: str) -> None:
        """Wait until an alert is over."""
        self.terminal.wait_for_state(
            lambda state: all(alert["id"] != name for alert in state["alerts"]), f"the end of the alert {name}"
        )

    def acknowledge(self, name: str, by: str = SUPERVISOR) -> str:
        """Wait for an alert, and take note of it by name; its text."""
        text = self.alert(name)
        raised = next(alert["raised"] for alert in self.terminal.state()["alerts"] if alert["id"] == name)
        self.post("/api/acknowledge", alert=name, raised=raised, name=by)
        return text

    def alerts(self) -> list[str]:
        """The kinds of the alerts that stand, but for a node's that is silent for a while, as on a busy machine."""
        standing = [alert["code"] for alert in self.terminal.state()["alerts"] if alert["raised"] is not None]
        return [code for code in standing if code not in SILENT_NODE]

    # What is left behind

    def journal(self, *kinds: str) -> list[dict[str, Any]]:
        """The events of these kinds, or all, as exported."""
        lines = self._boxman("journal", "export").splitlines()
        return [event for line in lines if (event := json.loads(line))["type"] in kinds or not kinds]

    def _boxman(self, *arguments: str) -> str:
        """What the command prints, beside the running terminal."""
        output = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")
        with redirect_stdout(output):
            status = main([*arguments, "--data", str(self.terminal.data)])
        # Of a day whose dice do not reconcile the report ends with 1.
        assert status == 0 or "report" in arguments
        output.seek(0)
        return output.read()

    def _csv(self, columns: tuple[str, ...], *arguments: str) -> list[dict[str, str]]:
        said = self._boxman("dice", *arguments, "--csv", "--language", "en")
        rows = csv.reader(io.StringIO(said, newline=""))
        return [dict(zip(columns, row, strict=True)) for row in rows][1:]

    def log(self) -> list[str]:
        """The dice log in lines."""
        events = {event["seq"]: event for event in self.journal()}
        labels = _labels(events)
        return [_line(row, events, labels) for row in self._csv(LOG_COLUMNS, "log")]

    def status(self) -> dict[str, str]:
        """Where the dice of each set are."""
        places: dict[str, dict[str, list[str]]] = {}
        for row in self._csv(STATUS_COLUMNS, "status"):
            if row["section"] == "Dice":
                places.setdefault(row["set"], {}).setdefault(row["value"], []).append(row["item"])
        order = [WORDS[f"place.{place}"][0] for place in PLACES]
        return {
            name: "; ".join(f"{at}: {', '.join(dice[at])}" for at in sorted(dice, key=order.index))
            for name, dice in places.items()
        }

    def account(self) -> dict[str, dict[str, int]]:
        """The gaming day's figures that are not 0, by set and in sum."""
        sections = {"Account of the dice": "", "At the end, by place": "end: ", "Moved on this day": "moved: "}
        figures: dict[str, dict[str, int]] = {}
        for row in self._csv(REPORT_COLUMNS, "report", *_today()):
            if row["section"] in sections and row["item"] != "Hours at the table" and row["value"] != "0":
                figures.setdefault(row["set"], {})[sections[row["section"]] + row["item"]] = int(row["value"])
        return figures

    def report(self, language: str | None = None) -> str:
        """The gaming day's account as text, in the table's own language or in another one."""
        return self._boxman("dice", "report", *_today(), *([] if language is None else ["--language", language]))


def _today() -> list[str]:
    """A gaming day that began an hour ago, so that no script runs over its end."""
    began = datetime.now() - timedelta(hours=1)
    return ["--day", began.date().isoformat(), "--begins", began.strftime("%H:%M")]


def _labels(events: dict[int, dict[str, Any]]) -> dict[int, str]:
    labels: dict[int, str] = {}
    alerts = [event["data"]["alert"] for event in events.values() if event["type"] == "alert_raised"]
    changed_shut = {int(alert.partition(":")[2]) for alert in alerts if alert.startswith("slots_changed_shut:")}
    for seq, event in events.items():
        letter = _LABELS.get(event["type"])
        if event["data"].get("against_rule"):
            letter = "b"
        elif event["data"].get("difference"):
            letter = "d"
        elif seq in changed_shut:
            letter = "s"
        if letter is not None:
            labels[seq] = f"{letter}{1 + sum(label[0] == letter for label in labels.values())}"
    return labels


def _note(text: str) -> str:
    """A note without what other tests hold to its word: a good inspection, a set's maker, times, numbers of events."""
    parts = [part for part in text.split("; ") if not part.startswith(_NOT_TOLD)]
    return re.sub(r" \(event [0-9]+\)", "", "; ".join(parts))


def _line(row: dict[str, str], events: dict[int, dict[str, Any]], labels: dict[int, str]) -> str:
    event = events[int(row["event"])]
    what = row["what"]
    if event["seq"] in labels:
        what += f" {labels[event['seq']]}"
    is_alert = "alert" in event["data"]
    if is_alert:
        kind, _, about = event["data"]["alert"].partition(":")
        what += f" {kind}"
        if about:
            what += f":{labels[int(about)] if about.isdigit() else about}"
    where = f"{row['session']}.{row['roll']}" + (f"/{row['point']}" if row["point"] else "")
    belongs = f"of {labels[int(row['belongs_to'])]}" if row["belongs_to"] and not is_alert else ""
    cells = [f"{where} {what}", row["set"], row["dice"], row["reason"], row["asked_by"], row["against_rule"]]
    cells += [row["difference"], belongs, "" if is_alert else _note(row["note"])]
    if event["type"] == "dice_duty" or row["done_by"] not in ("", BOXMAN):
        cells.append(row["done_by"])
    if event["type"] == "dice_duty" or row["seen_by"] not in ("", WITNESS):
        cells.append(f"seen by {row['seen_by']}")
    return " | ".join(cell for cell in cells if cell)
