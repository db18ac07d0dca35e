"""Clients that play a table at once over its HTTP interface, and an account of what the terminal told them.

For tests that end a terminal without warning: what was told to anyone must be in the journal afterwards, once and in
order, and the state must be the one that follows from it.
"""

import json
import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from device.screen import table_view
from device.session import Session

# What follows from the game alone; the rest of the screen also tells of links and sensors.
GAME = (
    "open",
    "session_number",
    "dice_out",
    "phase",
    "point",
    "shooter",
    "dice_pass",
    "roll_number",
    "bets",
    "last_roll",
    "recent_rolls",
    "last_no_roll",
    "house",
)
# People who are refused everything do not go on as fast as they can.
AFTER_HALT_S = 0.2
_BETS = ("pass_line", "dont_pass", "field", "any_seven", "come", "place", "hardway", "horn")
_BOXES = (4, 5, 6, 8, 9, 10)


@dataclass(frozen=True)
class Answer:
    """A command that was answered as done."""

    command: str
    step: dict[str, Any]
    seq: int
    results: list[dict[str, Any]]


def game_of(view: dict[str, Any]) -> dict[str, Any]:
    """The part of a screen's state that a restart must bring back, as JSON has it."""
    game: dict[str, Any] = json.loads(json.dumps({name: view[name] for name in GAME}))
    return game


class Account:
    """What a table has told over all its lives, held against its journal after each of them.

    Threads add to it; `settle` is for when they have ended. `answers` and `events` count what was held against it.
    """

    def __init__(self) -> None:
        self.answers = 0
        self.states = 0
        # What the terminal said when it accepted nothing.
        self.halts: list[str] = []
        self._lock = threading.Lock()
        self._answers: list[Answer] = []
        self._states: dict[int, dict[str, Any]] = {}
        self._faults: list[str] = []
        self._lines: list[str] = []
        self._commands: dict[str, int] = {}
        self._session = Session()

    @property
    def events(self) -> int:
        """How many events the journal had."""
        return len(self._lines)

    @property
    def game(self) -> dict[str, Any]:
        """The state that the journal leads to."""
        return game_of(table_view(self._session))

    def note_answer(self, answer: Answer) -> None:
        """A client was told that its command was done."""
        with self._lock:
            self._answers.append(answer)

    def note_state(self, state: dict[str, Any]) -> None:
        """Somebody was shown a state."""
        with self._lock:
            self._states[state["seq"]] = game_of(state)

    def note_fault(self, text: str) -> None:
        """The terminal did what it must not do, such as refuse everything."""
        with self._lock:
            self._faults.append(text)

    def answers_in_this_life(self) -> int:
        """How many answers have come since the last `settle`."""
        with self._lock:
            return len(self._answers)

    def told_in_this_life(self) -> int:
        """How many answers and states have come since the last `settle`."""
        with self._lock:
            return len(self._answers) + len(self._states)

    def settle(self, lines: Sequence[str]) -> list[str]:
        """Hold what was told against the journal's events, all of them; returns what is wrong, empty where all is well.

        What it held at the last call must still be there, byte for byte.
        """
        wrong = self._faults
        if list(lines[: len(self._lines)]) != self._lines:
            wrong.append(f"of {len(self._lines)} events that were there before, some are gone or changed")
            return wrong
        for seq, line in enumerate(lines[len(self._lines) :], start=len(self._lines) + 1):
            wrong += self._follow(seq, json.loads(line))
        self._lines = list(lines)
        for seq in self._states:
            wrong.append(f"a state with event {seq} was shown, but the journal ends at {len(lines)}")
        order: dict[str, int] = {}
        for answer in self._answers:
            wrong += self._check_answer(answer, order)
        self._answers, self._states, self._faults = [], {}, []
        return wrong

    def _follow(self, seq: int, event: dict[str, Any]) -> list[str]:
        """Take on the next event; hold the state that was shown of it against the one that it leads to."""
        wrong = []
        if event["seq"] != seq:
            wrong.append(f"event {seq} has the number {event['seq']}")
        command = event["data"].get("command")
        if command is not None:
            if command in self._commands:
                wrong.append(f"command {command} is in the events {self._commands[command]} and {seq}")
            self._commands[command] = seq
        self._session.replay(seq, event["type"], event["data"])
        shown = self._states.pop(seq, None)
        if shown is not None:
            self.states += 1
            if shown != self.game:
                wrong.append(f"the state that was shown with event {seq} is not the one that follows from the journal")
        return wrong

    def _check_answer(self, answer: Answer, order: dict[str, int]) -> list[str]:
        self.answers += 1
        client = answer.command.partition("-")[0]
        before, order[client] = order.get(client, 0), answer.seq
        if self._commands.get(answer.command) != answer.seq:
            found = self._commands.get(answer.command)
            return [f"{answer.step} was answered as event {answer.seq}, but is {found or 'nowhere'} in the journal"]
        data = json.loads(self._lines[answer.seq - 1])["data"]
        wrong = []
        if data["step"] != answer.step or data.get("results", []) != answer.results:
            wrong.append(f"event {answer.seq} is not what was answered: {answer}")
        if answer.seq <= before:
            wrong.append(f"event {answer.seq} was answered after event {before}")
        return wrong


class Client:
    """Somebody at the table with a request of theirs under way; it is asked for again after a restart."""

    def __init__(self, name: str, account: Account, chance: random.Random, *, may_halt: bool) -> None:
        """`name` is of letters and digits."""
        self.name = name
        self._account = account
        self._may_halt = may_halt
        self._chance = chance
        self._number = 0
        self._open: tuple[str, dict[str, Any]] | None = None

    def play(self, http: httpx.Client) -> None:
        """Do one thing and note the answer. Raises httpx.TransportError when none comes."""
        again = self._open
        if again is None:
            self._number += 1
            again = f"{self.name}-{self._number:06}", random_step(self._chance)
        self._open = command, step = again
        answer = http.post("/api/command", json={"id": command, "step": step})
        self._open = None
        if answer.status_code == 200:
            told = answer.json()
            self._account.note_answer(Answer(command, step, told["seq"], told["results"]))
        elif answer.status_code == 503 and self._may_halt:
            self._account.halts.append(answer.json()["halted"])
            time.sleep(AFTER_HALT_S)
        elif answer.status_code != 409:
            self._account.note_fault(f"{step} was answered with {answer.status_code}: {answer.text}")


def random_step(chance: random.Random) -> dict[str, Any]:
    """Something that somebody enters at a table, not always in its place."""
    kind = chance.random()
    if kind < 0.4:
        return {"roll": [chance.randint(1, 6), chance.randint(1, 6)]}
    if kind < 0.44:
        return {"no_roll": "off_table"}
    if kind < 0.48:
        return {"correct": [chance.randint(1, 6), chance.randint(1, 6)]}
    bet: dict[str, Any] = {"player": str(chance.randint(1, 8)), "kind": chance.choice(_BETS)}
    bet["amount"] = chance.choice((12, 20, 60))
    if bet["kind"] == "place":
        bet["number"] = chance.choice(_BOXES)
    elif bet["kind"] == "hardway":
        bet["number"] = chance.choice((4, 6, 8, 10))
    return {"bet": bet}


class Load:
    """Two people who enter things, a hand at the virtual table and a screen, in threads, until the terminal ends."""

    def __init__(self, seed: str, *, with_dice_keys: bool, timeout_s: float, may_halt: bool = False) -> None:
        """No answer may take longer than `timeout_s`; a table that accepts nothing is a fault unless it `may_halt`."""
        self.account = Account()
        self._address = ""
        self._timeout_s = timeout_s
        self._with_dice_keys = with_dice_keys
        self._may_halt = may_halt
        self._chance = random.Random(seed)
        self._clients = [
            Client(name, self.account, random.Random(seed + name), may_halt=may_halt)
            for name in ("boxman", "supervisor")
        ]
        self._ended = threading.Event()
        self._threads: list[threading.Thread] = []

    def begin(self, address: str) -> None:
        """Play from now on; `address` is the console's."""
        self._address = address
        self._ended.clear()
        parts: list[Callable[[httpx.Client], None]] = [client.play for client in self._clients]
        self._threads = [threading.Thread(target=self._until_the_end, args=(part,)) for part in [*parts, self._hand]]
        self._threads.append(threading.Thread(target=self._until_the_end, args=(self._screen,)))
        for thread in self._threads:
            thread.start()

    def pause(self, seconds: float) -> None:
        """Let it play for so long."""
        self._ended.wait(seconds)

    def wait_for_answers(self, count: int, within_s: float) -> None:
        """Let it play until so many commands of this life were answered; it is a fault if they are not in time."""
        deadline = time.monotonic() + within_s
        while self.account.answers_in_this_life() < count:
            if time.monotonic() > deadline:
                self.account.note_fault(f"{count} commands were not answered within {within_s:.0f} s")
                return
            time.sleep(0.005)

    def end(self) -> None:
        """Return when nobody plays any more; the terminal has ended already."""
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _until_the_end(self, part: Callable[[httpx.Client], None]) -> None:
        with httpx.Client(base_url=self._address, timeout=self._timeout_s) as http:
            while not self._ended.is_set():
                try:
                    part(http)
                except httpx.TransportError:
                    # The terminal is gone; that it was ended is what `end` says in a moment.
                    if not self._ended.wait(self._timeout_s):
                        self.account.note_fault("the terminal stopped answering by itself")
                    return

    def _hand(self, http: httpx.Client) -> None:
        """Open and shut the reserve, and press the dice keys where there are some."""
        movements: list[dict[str, Any]] = [{"lid": "open"}, {"lid": "closed"}]
        if self._with_dice_keys:
            movements += [{"dice_key": self._chance.randint(1, 6)} for _ in range(2)]
        for movement in movements:
            answer = http.post("/api/virtual", json=movement)
            # The virtual table keeps its things on the same disk.
            disk_is_full = self._may_halt and "No space left" in answer.text
            if answer.status_code != 200 and not disk_is_full:
                self.account.note_fault(f"{movement} was answered with {answer.status_code}: {answer.text}")

    def _screen(self, http: httpx.Client) -> None:
        """Follow what the screen shows."""
        with http.stream("GET", "/api/stream") as stream:
            for line in stream.iter_lines():
                if line.startswith("data: "):
                    self.account.note_state(json.loads(line[6:]))
