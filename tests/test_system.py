"""One table through 300 rolls and all six rule sets, with 20 crashes and the central server gone a third of the time.

Everything is real: the terminal's process, the node's MicroPython behind its pseudo-terminal, the NATS server, and
Chromium for the rolls that are touched in. What is random comes from SEED.
"""

import asyncio
import json
import random
import re
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from device.terminal import SAME_THROW_S
from drivers.virtual_node import node_command, set_dice_key
from drivers.wiring import Wiring
from engine_lite import rule_sets
from engine_lite.scenario import prepare
from engine_lite.steps import apply_step
from provisioning.central_server import CentralServer, ensure_stream
from tests.browser_rig import browser, touch_page
from tests.nats_rig import read_log
from tests.terminal_rig import TerminalProcess, boxman, wait_for

SEED = 1979
ROLLS_PER_RULE_SET = 50
CRASHES = 20
PLAYERS = ("1", "2", "5", "12")
NUMBERS = (4, 5, 6, 8, 9, 10)
KEY_DOWN_S = 0.1
SITE, TABLE = "casino", "craps-7"


def without(die: int | str | None, dice: list[int]) -> list[int]:
    """The dice that are still to be entered where this one is there; "" or None: none is."""
    left = list(dice)
    if die:
        left.remove(int(die))
    return left


@contextmanager
def reporting(state: Callable[[], dict[str, Any]]) -> Iterator[None]:
    """Say with a failure what the screen showed then."""
    try:
        yield
    except AssertionError as failure:
        shown = {name: value for name, value in state().items() if name not in ("bets", "recent_rolls", "inputs")}
        failure.add_note(f"the screen shows {json.dumps(shown)}")
        raise


@dataclass
class Game:
    """The table under test, and what it has told."""

    terminal: TerminalProcess
    central: CentralServer
    node_folder: Path
    page: Page
    chance: random.Random
    told: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    rolls: int = 0
    crashes: int = 0
    # What was entered on the screen last, and when.
    on_screen: tuple[list[int], float] = ([], 0.0)
    crash_rolls: frozenset[int] = frozenset()
    central_up: bool = True
    entered: dict[str, int] = field(default_factory=lambda: {"keys": 0, "http": 0, "touch": 0})

    def send(self, step: dict[str, Any]) -> bool:
        """Send a step until it is answered, over crashes too; False: it was refused."""
        return self.answered("/api/command", {"step": step}, step)

    def answered(self, path: str, body: dict[str, Any], step: dict[str, Any]) -> bool:
        """Send a request under one id until it is answered."""
        command = self.terminal.fresh_id()

        def answer() -> httpx.Response | None:
            try:
                return self.terminal.client.post(path, json=body | {"id": command})
            except httpx.TransportError:
                return None

        response = wait_for(answer, f"an answer to {step}", 60)
        if response.status_code == 409:
            return False
        assert response.status_code == 200, response.text
        self.told.append((response.json()["seq"], step))
        return True

    def state(self) -> dict[str, Any]:
        """What the screen shows, over crashes too."""

        def look() -> dict[str, Any] | None:
            try:
                return self.terminal.state()
            except httpx.TransportError:
                return None

        state: dict[str, Any] = wait_for(look, "the state", 60)
        return state

    def roll(self, dice: list[int], way: str) -> None:
        """Enter a roll in one of three ways and wait until the screen has it."""
        before = self.state()
        expected = before["roll_number"] + 1
        crash = self._crash_soon() if self.rolls in self.crash_rolls else None
        match way:
            case "keys":
                self._after_the_same_dice(dice)
                for die in dice:
                    self._press(die)
            case "http":
                assert self.send({"roll": dice})
            case _:
                self._touch(dice, before, expected)
        if crash is not None:
            crash.join()
        if way == "keys":
            self._keyed(dice, expected)
        with reporting(self.state):
            wait_for(lambda: self.state()["roll_number"] == expected, f"roll {expected} by {way}", 60)
        last = self.state()["last_roll"]
        assert sorted(last["dice"]) == sorted(dice)
        self.told.append((last["seq"], {"roll": last["dice"]}))
        self.rolls += 1
        self.entered[way] += 1
        if way != "keys":
            self.on_screen = (sorted(dice), time.monotonic())

    def _after_the_same_dice(self, dice: list[int]) -> None:
        """No throw follows another so soon; sooner, the same dice on the keys are the throw that the screen has."""
        on_screen, entered_s = self.on_screen
        if on_screen == sorted(dice):
            time.sleep(max(0.0, entered_s + SAME_THROW_S + 0.5 - time.monotonic()))

    def _crash_soon(self) -> threading.Thread:
        delay_s = self.chance.uniform(0, 0.15)

        def crash() -> None:
            time.sleep(delay_s)
            self.terminal.kill()
            self.terminal.start()

        self.crashes += 1
        thread = threading.Thread(target=crash)
        thread.start()
        return thread

    def _touch(self, dice: list[int], before: dict[str, Any], expected: int) -> None:
        # A person touches when the page shows the game as it is.
        shown = self.page.get_by_test_id("last-roll")
        if before["last_no_roll"]:
            expect(shown).to_contain_text("No roll")
        elif last := before["last_roll"]:
            expect(shown).to_contain_text(re.compile(rf"Roll {before['roll_number']}\b"))
            # A correction changes nothing else there, and a page that learns of it forgets a die that was touched.
            expect(shown).to_have_attribute("data-dice", "-".join(map(str, last["dice"])))
            expect(shown).to_have_attribute("data-corrected", str(last["corrected"]).lower())
        slot, again = self.page.get_by_test_id("die-one"), self.page.get_by_test_id("unsent-again")
        for _ in range(5):
            expect(again.or_(self.page.locator("#dice-keys .dice-key:enabled")).first).to_be_visible()
            # The page waits for no answer now: what it was to send is done, or is forgotten, or is to be sent again.
            if self.state()["roll_number"] == expected:
                return
            if again.is_visible():
                # After a crash no answer came in time, as the page says. Sent again, nothing is done twice.
                again.tap()
            else:
                for die in without(slot.get_attribute("data-value"), dice):
                    self.page.get_by_test_id(f"die-{die}").tap()
            try:
                wait_for(lambda: self.state()["roll_number"] == expected, f"roll {expected} by touch", 15)
            except AssertionError:
                # Between the two touches a crash made the page forget the first; a person sees that and touches again.
                continue
            return

    def _press(self, die: int) -> None:
        for down in (True, False):
            set_dice_key(self.node_folder, die, down, wiring=Wiring())
            # A key is down, and then up, for as long as a quick finger needs.
            time.sleep(KEY_DOWN_S)

    def _keyed(self, dice: list[int], expected: int) -> None:
        """Where a starved node missed a press, a person sees after a while which die is there and keys the other."""
        for _ in range(5):
            try:
                wait_for(lambda: self.state()["roll_number"] == expected, f"roll {expected} of the keys", 15)
            except AssertionError:
                for die in without(self.state()["pending_die"], dice):
                    self._press(die)
            else:
                return

    def play(self, rules: str, rolls: int) -> None:
        """Open the table under a rule set and play."""
        opened = {"rules": rules, "unit": 1, "limits": {"min": 1, "max": 1000}}
        assert self.answered("/api/open", opened, {"open": rules})
        offered = {kind["kind"]: kind["numbers"] for kind in self._bets_of(rules)}
        for _ in range(rolls):
            self._act(offered)
            if self.rolls % 10 == 0:
                self._toggle_central()
            dice = [self.chance.randint(1, 6), self.chance.randint(1, 6)]
            self.roll(dice, self.chance.choice(["keys", "http", "touch"]))
            if self.chance.random() < 0.05:
                right = [self.chance.randint(1, 6), self.chance.randint(1, 6)]
                assert self.send({"correct": right}) or sorted(right) == sorted(dice)
                self.on_screen = (sorted(right), time.monotonic())

    def _bets_of(self, rules: str) -> list[dict[str, Any]]:
        sets = self.terminal.client.get("/api/rules").json()["sets"]
        bets: list[dict[str, Any]] = next(known["bets"] for known in sets if known["name"] == rules)
        return bets

    def _act(self, offered: dict[str, list[int]]) -> None:
        """What players do between two rolls; what the rules refuse is refused."""
        chance, state = self.chance, self.state()
        shooter = state["shooter"] or PLAYERS[0]
        if state["dice_pass"]:
            shooter = chance.choice(PLAYERS)
        if state["shooter"] != shooter:
            assert self.send({"shooter": shooter})
        if state["point"] is None:
            # The shooter's own bet, without which nobody may throw.
            self.send({"bet": {"player": shooter, "kind": "pass_line", "amount": 10}})
        for _ in range(chance.randint(1, 4)):
            kind = chance.choice(sorted(offered))
            body: dict[str, Any] = {"player": chance.choice(PLAYERS), "kind": kind, "amount": chance.randint(1, 40)}
            if offered[kind] and "odds" not in kind:
                body["number"] = chance.choice(offered[kind])
            elif kind in ("come_odds", "dont_come_odds"):
                body["number"] = chance.choice(NUMBERS)
            self.send({"bet": body})
        if chance.random() < 0.2:
            self.send({"working": {"on": chance.random() < 0.5, "number": chance.choice(NUMBERS)}})
        if chance.random() < 0.1:
            assert self.send({"no_roll": "off_table"})
        if state["bets"] and chance.random() < 0.2:
            bet = chance.choice(state["bets"])
            self.send({"take_down": {"player": bet["player"], "kind": bet["kind"], "number": bet["number"]}})

    def _toggle_central(self) -> None:
        """Gone for every third ten of rolls."""
        wanted = self.rolls // 10 % 3 != 2
        if wanted != self.central_up:
            self.central_up = wanted
            if wanted:
                self.central.start()
            else:
                self.central.stop()

    def clear_layout(self) -> None:
        """Play on with sevens until nothing lies on the layout."""
        while bets := self.state()["bets"]:
            for bet in bets:
                self.send({"take_down": {"player": bet["player"], "kind": bet["kind"], "number": bet["number"]}})
            if self.state()["bets"] and not self.send({"roll": [3, 4]}):
                assert self.send({"bet": {"player": self.state()["shooter"], "kind": "pass_line", "amount": 10}})


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Game]:
    """The whole game, played to its end."""
    folder = tmp_path_factory.mktemp("system")
    chance = random.Random(SEED)
    node = subprocess.Popen(node_command(folder / "node", with_parent=True))
    try:
        with CentralServer(folder / "central") as central:
            asyncio.run(ensure_stream(central.url))
            configuration = folder / "table.toml"
            configuration.write_text(
                f'[table]\nsite = "{SITE}"\nname = "{TABLE}"\n[uplink]\nservers = ["{central.url}"]\n'
                f'[hardware]\nnode = "{folder / "node" / "node"}"\n'
                # A finger that a busy machine holds up is no long press, and a die that it keys late is not given up.
                "[timing]\nhold_ms = 60000\nstuck_ms = 120000\nabandon_ms = 600000\n"
            )
            with TerminalProcess(folder / "data", configuration=configuration) as terminal:
                terminal.wait_for_state(lambda state: state["node"]["state"] == "online", "the node is there")
                with browser() as chromium, touch_page(chromium) as page:
                    page.goto(terminal.address)
                    played = Game(terminal, central, folder / "node", page, chance)
                    rolls = ROLLS_PER_RULE_SET * len(rule_sets.NAMES)
                    played.crash_rolls = frozenset(chance.sample(range(rolls), CRASHES))
                    for rules in rule_sets.NAMES:
                        played.play(rules, ROLLS_PER_RULE_SET)
                        if rules != rule_sets.NAMES[-1]:
                            played.clear_layout()
                if not played.central_up:
                    central.start()

                def is_delivered() -> bool:
                    uplink = terminal.state()["uplink"]
                    return uplink["state"] == "online" and not uplink["undelivered"]

                # It may have to come back from its back-off more than once.
                wait_for(is_delivered, "everything is delivered", 180)
                yield played
    finally:
        node.terminate()
        node.wait()


def exported(game: Game) -> list[str]:
    """The journal's lines."""
    return boxman("journal", "export", "--data", game.terminal.data).stdout.split("\n")[:-1]


def test_it_was_played_as_intended(game: Game) -> None:
    assert game.rolls == 300
    assert game.crashes == CRASHES
    assert min(game.entered.values()) > 50, game.entered


def test_the_journal_verifies_and_knows_of_every_crash(game: Game) -> None:
    verified = boxman("journal", "verify", "--data", game.terminal.data)
    assert verified.returncode == 0, verified.stderr
    started = [event["data"]["previous"] for line in exported(game) if (event := json.loads(line))["type"] == "started"]
    assert started == ["first"] + ["cut_off"] * CRASHES


def test_everything_that_was_told_is_in_the_journal(game: Game) -> None:
    events = [json.loads(line) for line in exported(game)]
    assert len(game.told) > 600
    for seq, step in game.told:
        event = events[seq - 1]
        assert event["seq"] == seq
        if "open" in step:
            assert event["data"]["rule_set"]["name"] == step["open"]
        else:
            assert event["data"]["step"] == step


def test_the_central_log_holds_every_event_once_and_in_order(game: Game) -> None:
    def whole_log() -> list[str] | None:
        # The table goes on: that the link is back is an event too, some seconds later.
        log = asyncio.run(read_log(game.central.url, SITE, TABLE))
        return log if len(log) == game.state()["seq"] else None

    log: list[str] = wait_for(whole_log, "the central log has all that the table has")
    assert [json.loads(line)["seq"] for line in log] == list(range(1, len(log) + 1))
    assert log == exported(game)[: len(log)]


def test_each_session_settled_afresh_gives_the_same_results(game: Game, tmp_path: Path) -> None:
    for number, rules in enumerate(rule_sets.NAMES, start=2):
        file = tmp_path / f"{rules}.json"
        arguments = ("journal", "export", "--data", game.terminal.data, "--scenario", "--session", str(number))
        file.write_text(boxman(*arguments).stdout)
        scenario = json.loads(file.read_text())
        assert scenario["rules"] == rules
        expected = [step["expect"]["results"] for step in scenario["steps"] if "expect" in step]
        assert len(expected) >= ROLLS_PER_RULE_SET
        settled = boxman("settle", file)
        assert settled.returncode == 0, settled.stderr
        lines = [json.loads(line) for line in settled.stdout.splitlines()]
        assert [line["results"] for line in lines] == expected


def test_the_last_session_settled_afresh_ends_with_the_layout_on_the_screen(game: Game) -> None:
    scenario = json.loads(boxman("journal", "export", "--data", game.terminal.data, "--scenario").stdout)
    again = prepare(scenario, rule_sets.load)
    for step in again.steps:
        apply_step(again.table, {name: value for name, value in step.items() if name != "expect"})
    state = game.state()
    assert again.table.bets() == state["bets"]
    assert (again.table.point, again.table.house) == (state["point"], state["house"])
    assert again.table.house + sum(again.table.players.values()) + again.table.layout() == 0
