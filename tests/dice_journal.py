"""A journal in tests whose dice events are those that the dice log itself decides on, at times that a test sets."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from device.dice_control.dice_actions import parse_action
from device.dice_control.dice_history import DICE_EVENTS, LID_EVENTS
from device.event import GENESIS_HASH, Event, Stamp, parse, seal
from device.journal import Journal
from engine_lite import rule_sets
from tests.dice_table import Data, DiceTable

SERIALS = [f"A{number}" for number in range(1, 7)]


class DiceJournal(DiceTable):
    """Starts with `started` and `table_opened`. `move_to` and `wait` set the time of the next event."""

    def __init__(self, rules: str = "us-vegas", wall: str = "2026-11-28T20:00:00.000Z", *, opened: bool = True) -> None:
        self.wall = datetime.fromisoformat(wall)
        self.boot, self.mono_ns, self.clock = "boot-1", 0, "synced"
        self.journal: list[Event] = []
        super().__init__(rules, duty=False)
        self.game(session_number=1)
        self.take("started", {"configured": {"site": "casino-1"}})
        if opened:
            self.take("table_opened", {"rule_set": rule_sets.load(rules)})

    def move_to(self, wall: str) -> None:
        """The time of the next event, by both clocks."""
        moment = datetime.fromisoformat(wall)
        self.mono_ns += (moment - self.wall) // timedelta(microseconds=1) * 1000
        self.wall = moment

    def wait(self, seconds: float) -> None:
        self.wall += timedelta(seconds=seconds)
        self.mono_ns += round(seconds * 1e9)

    def reboot(self, boot: str, wall: str, clock: str) -> None:
        """The machine starts again; its clock may say anything."""
        self.boot, self.mono_ns, self.clock, self.wall = boot, 0, clock, datetime.fromisoformat(wall)

    def take(self, kind: str, data: Data) -> int:
        self.events.append((kind, data))
        if kind in (*LID_EVENTS, *DICE_EVENTS, "no_roll", "alert_raised"):
            self.log.take(kind, data, len(self.events))
        return self.append(kind, data)

    def append(self, kind: str, data: Data) -> int:
        """An event of which the dice log is not told, such as a forged one; its seq."""
        seq = len(self.journal) + 1
        wall = self.wall.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
        previous = self.journal[-1].hash if self.journal else GENESIS_HASH
        stamp = Stamp(self.boot, self.mono_ns, wall, self.clock)
        self.journal.append(parse(seal("craps-1", seq, stamp, kind, data, previous).line()))
        return seq

    def lid_opened_for(self, seconds: float) -> int:
        """The lid is opened, and closed again; the opening's seq."""
        seq = self.lid(True)
        self.wait(seconds)
        self.lid(False)
        return seq

    def roll(self, first: int, second: int, *, number: int = 1, point: int | None = None) -> int:
        return self.take("roll", {"step": {"roll": [first, second]}, "number": number, "point": point})

    def void_throw(self, reason: str, *dice: str) -> None:
        """A void throw, and where dice are given the word which they were."""
        seq = self.take("no_roll", {"step": {"no_roll": reason}})
        self.game(no_roll=(seq, reason))
        if dice:
            self.do("void_throw", no_roll=seq, dice=list(dice))

    def on_duty_before(self, boxman: str, witness: str) -> None:
        """Names as a version before took them, whatever stood in them."""
        action = parse_action({"on_duty": {"boxman": "Ana", "witness": "Luis"}})
        ((kind, data),) = self.log.decide(action, self.context)
        names = {"boxman": boxman, "witness": witness, "done_by": boxman, "seen_by": witness}
        self.take(kind, data | names)

    def raise_alert(self, alert: str, text: str, **detail: Any) -> int:
        return self.take("alert_raised", {"alert": alert, "text": text, "detail": detail, "latched": False})


@contextmanager
def local_zone(name: str) -> Iterator[None]:
    """The machine's zone, as TZ sets it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", name)
        time.tzset()
        yield
    time.tzset()


def write_journal(folder: Path, events: Sequence[Event]) -> Path:
    """A data folder with a journal of these events; gives the folder."""
    with Journal.open(folder / "journal.db", "craps-1") as journal:
        for event in events:
            stamp = Stamp(event.boot, event.mono_ns, event.wall, event.clock)
            journal.append([(event.type, event.data)], stamp)
    return folder


def spanish_day() -> DiceJournal:
    """Under es-1979, the gaming day of 29 November 2026 in Madrid: 05:00 UTC to 05:00 UTC.

    Before it: set A at the table since 20:00, two dice in play; set B in the store; set C withdrawn.
    On it: set D received; die A1 lost off the table and swapped for A3; a void throw in the reserve; an opening that a
    supervisor explains late, and one that nobody explains; a change amid a series, which IV.3 forbids; A1 missing, the
    others of A withdrawn 26 h 30 min after they came; B brought, counted with one die short, and returned; C destroyed.
    """
    day = DiceJournal("es-1979")
    day.do("on_duty", boxman="Ana", witness="Luis")
    day.receive("A", serials=SERIALS, house_mark="CM", edge_hundredths_mm=2000)
    day.inspect(set="A")
    day.do("place", set="A")
    day.do("change", set="A", taken=["A1", "A2"])
    for name in "BC":
        day.do(
            "receive",
            set=name,
            dice=6,
            maker="Bold",
            colour="red",
            serials=[f"{name}{number}" for number in range(1, 7)],
            house_mark="CM",
        )
        day.inspect(set=name)
    day.do("remove", set="C", to="withdrawn", reason="damage")

    day.move_to("2026-11-29T18:00:00.000Z")
    serials = [f"D{number}" for number in range(1, 7)]
    day.do("receive", set="D", dice=6, maker="Bold", colour="red", serials=serials, house_mark="CM")
    day.do("count", set="A", count="opening", seen={"play": ["A1", "A2"], "reserve": ["A3", "A4", "A5", "A6"]})
    day.roll(2, 4, number=1, point=6)
    day.game(roll_number=1, rolls_in_series=1, point=6)
    day.wait(60)
    day.void_throw("off_table", "A1")
    day.lid_opened_for(6.5)
    day.do("swap", set="A", out=[], in_=["A3"], reason="die_off_table")
    day.void_throw("in_dice_cup", "A3")
    day.void_throw("short")
    day.wait(600)
    late = day.lid_opened_for(12)
    day.wait(30)
    day.raise_alert(f"reserve_unexplained:{late}", "The dice reserve was opened and no reason was given.")
    day.do("explain", opening=late, reason="inspector_request", as_="supervisor", done_by="Eva")
    day.take("alert_cleared", {"alert": f"reserve_unexplained:{late}"})
    day.do("swap", set="A", out=["A2"], in_=["A4"], reason="shooter_request")
    day.wait(600)
    day.lid_opened_for(3.25)
    day.do("missing", set="A", dice=["A1"])
    day.roll(3, 3, number=2)
    day.game(roll_number=2, rolls_in_series=0, point=None)

    day.move_to("2026-11-29T22:30:00.000Z")
    day.do("remove", set="A", to="withdrawn", reason="die_off_table")
    day.do("place", set="B")
    day.do("count", set="B", count="closing", seen={"reserve": ["B1", "B2", "B3", "B4", "B5"]})
    day.do("remove", set="B", to="store", reason="closing")
    day.do("remove", set="C", to="destroyed", reason="damage")
    day.wait(600)
    day.lid_opened_for(1.5)
    return day
