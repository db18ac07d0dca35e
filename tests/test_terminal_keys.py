"""Dice keys and screen at the same time: one throw is one roll, and no key is used twice, however slow the disk is."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from device import terminal as terminal_module
from device.alert_conditions import GraceTimes
from device.dice_control.reserve_conditions import ReserveTimes
from device.event import Event, Stamp
from device.journal import Journal
from device.settings import Settings
from device.table_key import open_table_key
from device.table_terms import TableTerms
from drivers.header import open_pin_factory
from drivers.table_inputs import TableInputs
from drivers.wiring import DEFAULT_PINS, DICE_KEYS, Pin, Timing, Wiring
from engine_lite import rule_sets
from tests.journal_rig import terminal_on

NEVER_MS = 600_000
# The dice keys on the header, in place of the status lamps and box buttons that they need none of here. However slow
# the machine is, no press becomes a hold, and no die is given up.
WIRING = Wiring(
    {
        **{name: pin for name, pin in DEFAULT_PINS.items() if name.startswith("puck_") or name == "lid"},
        **{name: Pin("header", number) for name, number in zip(DICE_KEYS, (18, 23, 24, 25, 8, 7), strict=True)},
    },
    Timing(hold_ms=NEVER_MS - 1, abandon_ms=NEVER_MS, stuck_ms=NEVER_MS),
)
# How long a finger stays on a key, and off it: longer than a key must be quiet.
FINGER_S = 0.06
WAIT_S = 60
TERMS = TableTerms(rule_sets.load("us-vegas"), {}, 1, 1, 1000)


class HeldJournal(Journal):
    """A journal whose next write can be held up, as a worn card holds it up."""

    gate: threading.Event
    rolls: "list[tuple[str, list[int], Any]]"

    def append(self, entries: Any, stamp: Stamp) -> list[Event]:
        assert self.gate.wait(10 * WAIT_S)
        events = super().append(entries, stamp)
        for event in events:
            if event.type in ("roll", "key_refused"):
                dice = event.data.get("step", {}).get("roll")
                self.rolls.append((event.type, dice, event.data["via"]))
        return events


class Table:
    """A terminal on virtual pins in this process, whose disk can be held up."""

    def __init__(self, folder: Path) -> None:
        self.journal = HeldJournal(folder / "journal.db", "craps-1")
        self.journal.gate = threading.Event()
        self.journal.gate.set()
        self.journal.rolls = []
        # No alert comes between, which would hold up what comes after it.
        grace = GraceTimes(NEVER_MS, NEVER_MS, NEVER_MS)
        reserve = ReserveTimes(open_max_ms=NEVER_MS)
        settings = Settings("test", "craps-1", TERMS, wiring=WIRING, grace=grace, reserve=reserve)
        key = open_table_key(folder / "table.key")
        self.terminal = terminal_on(self.journal, settings, key)
        self.factory: Any = open_pin_factory("mock")
        self.inputs = TableInputs(WIRING, pin_factory=self.factory, node_port=None, on_hint=self.terminal.hint)
        self.terminal.connect(lambda _session: self.inputs)
        self.terminal.begin("1", {}, TERMS)
        self.ids = 0

    async def roll(self, first: int, second: int) -> None:
        self.ids += 1
        await self.terminal.command({"roll": [first, second]}, f"command-{self.ids}")

    async def press(self, die: int) -> None:
        """A press that is seen, and its release, before this returns."""
        pin = self.factory.pin(WIRING.pins[f"dice_key_{die}"].number)
        pin.drive_low()
        await self.until(lambda: self.down(die), f"the press of {die}")
        await asyncio.sleep(FINGER_S)
        pin.drive_high()
        await self.until(lambda: not self.down(die), f"the release of {die}")
        await asyncio.sleep(FINGER_S)

    def down(self, die: int) -> bool:
        """Whether the key is seen down."""
        [key] = [line for line in self.inputs.hardware()["inputs"] if line["name"] == f"dice_key_{die}"]
        return key["active"] is True

    async def until(self, condition: Callable[[], bool], what: str) -> None:
        try:
            async with asyncio.timeout(WAIT_S):
                while not condition():
                    await asyncio.sleep(0.005)
        except TimeoutError:
            raise AssertionError(f"{what} did not happen") from None

    @property
    def pending(self) -> int | None:
        pending: int | None = self.terminal.state["pending_die"]
        return pending


def run(folder: Path, play: Callable[[Table], Coroutine[Any, Any, None]]) -> list[tuple[str, list[int], Any]]:
    """Play at a table, and what the journal then has of rolls and refused keys."""

    async def all_of_it() -> list[tuple[str, list[int], Any]]:
        table = Table(folder)
        running = asyncio.create_task(table.terminal.run())
        # The lid takes longer to settle than the keys.
        await table.until(lambda: table.terminal.state["reserve"]["open"] is not None, "the inputs are seen")
        await play(table)
        await table.until(lambda: table.terminal.state["seq"] == table.journal.last_seq, "everything is told")
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        table.inputs.close()
        table.journal.close()
        return table.journal.rolls

    return asyncio.run(all_of_it())


KEYS, SCREEN = "header:dice_keys", "console"


def test_a_die_that_waits_is_used_up_by_a_roll_from_the_screen_though_the_disk_is_slow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Here the next throw comes at once, sooner than at a table.
    monkeypatch.setattr("drivers.dice_keys_decoder.SAME_THROW_MS", 0)

    async def play(table: Table) -> None:
        await table.press(3)
        await table.until(lambda: table.pending == 3, "the first die")
        table.journal.gate.clear()
        entering = asyncio.create_task(table.roll(2, 4))
        await asyncio.sleep(0)
        await table.press(5)
        table.journal.gate.set()
        await entering
        await table.until(lambda: table.pending == 5, "the die that was keyed after the roll")
        await table.press(6)
        await table.until(lambda: len(table.journal.rolls) == 2, "the roll of the keys")

    assert run(tmp_path, play) == [("roll", [2, 4], SCREEN), ("roll", [5, 6], KEYS)]


def test_a_die_keyed_while_a_roll_is_on_its_way_to_the_disk_waits_for_its_second(tmp_path: Path) -> None:
    async def play(table: Table) -> None:
        table.journal.gate.clear()
        entering = asyncio.create_task(table.roll(2, 4))
        await asyncio.sleep(0)
        await table.press(3)
        table.journal.gate.set()
        await entering
        await table.until(lambda: table.pending == 3, "the first die")
        await table.press(4)
        await table.until(lambda: len(table.journal.rolls) == 2, "the roll of the keys")
        assert table.pending is None

    assert run(tmp_path, play) == [("roll", [2, 4], SCREEN), ("roll", [3, 4], KEYS)]


def test_dice_that_wait_for_their_turn_behind_a_roll_from_the_screen_are_not_jumped_over(tmp_path: Path) -> None:
    async def play(table: Table) -> None:
        table.journal.gate.clear()
        bet = {"bet": {"player": "3", "kind": "field", "amount": 10}}
        betting = asyncio.create_task(table.terminal.command(bet, "command-bet"))
        await asyncio.sleep(0)
        entering = asyncio.create_task(table.roll(1, 1))
        for die in (3, 4, 5):
            await table.press(die)
        table.journal.gate.set()
        await asyncio.gather(betting, entering)
        await table.until(lambda: table.pending == 5, "the die after the roll of the keys")

    assert run(tmp_path, play) == [("roll", [1, 1], SCREEN), ("roll", [3, 4], KEYS)]


@pytest.mark.parametrize("keyed", [(2, 3), (3, 2)])
def test_the_same_dice_on_screen_and_keys_are_one_throw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keyed: tuple[int, int]
) -> None:
    assert terminal_module.SAME_THROW_S == 3
    # However long the two presses take.
    monkeypatch.setattr(terminal_module, "SAME_THROW_S", WAIT_S * 10)
    said = f"{keyed[0]}-{keyed[1]} was entered on the screen just now; if it was another throw, key it again."

    async def play(table: Table) -> None:
        await table.roll(2, 3)
        for die in keyed:
            await table.press(die)
        await table.until(
            lambda: said in [alert["text"] for alert in table.terminal.state["alerts"]], "the alert of the refusal"
        )
        # The time is over.
        monkeypatch.setattr(terminal_module, "SAME_THROW_S", 0)
        for die in keyed:
            await table.press(die)
        await table.until(lambda: len(table.journal.rolls) == 3, "the next throw with the same dice")

    assert run(tmp_path, play) == [
        ("roll", [2, 3], SCREEN),
        ("key_refused", list(keyed), KEYS),
        ("roll", list(keyed), KEYS),
    ]
