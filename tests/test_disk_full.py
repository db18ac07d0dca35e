"""A full disk: acceptance stops, the stop is recorded, and work goes on by itself when there is room again."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from device.clock import Clock
from device.disk_space import DiskSpace, SpaceLimits
from device.event import Event, Stamp
from device.journal import Journal, JournalFull, JournalReader
from device.recorder import DISK_FULL, Halted
from device.recovery import Recovered
from device.session import Session
from device.settings import Settings
from device.terminal import Terminal
from drivers.header import open_pin_factory
from drivers.table_inputs import TableInputs
from drivers.virtual_contact import Contact
from drivers.wiring import Wiring, parse_pin
from tests.journal_rig import KEY, replayed
from tests.test_session import terms

FIELD = {"bet": {"player": "3", "kind": "field", "amount": 10}}
PLENTY = 1_000_000
LID = Wiring({"lid": parse_pin("gpio:17")})


class FullJournal(Journal):
    """A journal whose disk at times takes nothing at all; a small event may fit where a larger one did not."""

    takes_nothing = False

    def append(self, entries: Sequence[tuple[str, dict[str, Any]]], stamp: Stamp) -> list[Event]:
        if self.takes_nothing:
            raise JournalFull(f"{self.path}: the disk is full")
        return super().append(entries, stamp)


class Disk(DiskSpace):
    """A disk whose room for the journal is counted in pages of the database."""

    def __init__(self, journal: Journal) -> None:
        super().__init__(journal.path.parent)
        self._journal = journal
        self.reserve_pages = 0
        self.pages = PLENTY
        self.short = False

    def fill(self, *, reserve_pages: int) -> None:
        """No more room, but for what the reserve holds."""
        self.reserve_pages = reserve_pages
        (self.pages,) = self._journal._connection.execute("PRAGMA page_count").fetchone()
        self._limit()

    def free(self) -> None:
        """There is room again."""
        self.pages, self.short = PLENTY, False
        self._limit()

    def _limit(self) -> None:
        self._journal._connection.execute(f"PRAGMA max_page_count={self.pages}")

    def free_bytes(self) -> int:
        return 0 if self.pages < PLENTY or self.short else PLENTY

    def is_short(self) -> bool:
        return self.short

    def give_up_reserve(self) -> None:
        if self.pages < PLENTY:
            self.pages += self.reserve_pages
            self.reserve_pages = 0
            self._limit()

    def take_reserve(self) -> bool:
        return self.pages == PLENTY and not self.short


class Table:
    """A terminal in this process, with a lid on virtual pins."""

    def __init__(self, path: Path, *, full: bool = False) -> None:
        self.journal = FullJournal(path, "craps-1")
        self.disk = Disk(self.journal)
        if full:
            self.disk.fill(reserve_pages=0)
            self.journal.takes_nothing = True
        self.terminal = Terminal(
            replayed(self.journal),
            self.journal,
            Clock(),
            Settings("casino-1", "craps-1", terms(), wiring=LID),
            KEY,
            space=self.disk,
            recover_again=self._recover,
        )
        self.recoveries = 0
        self.factory: Any = open_pin_factory("mock")
        self.lid = Contact("lid")
        self.factory.pin(17).connect(self.lid, self.now_ms)
        self.terminal.connect(self._open_inputs)
        self.terminal.begin("1", {"site": "casino-1"}, None if self.journal.last_seq else terms())
        self._running = asyncio.create_task(self.terminal.run())

    def now_ms(self) -> int:
        """The time in which the lid moves."""
        return int(asyncio.get_running_loop().time() * 1000)

    def _recover(self) -> Recovered:
        self.recoveries += 1
        return replayed(self.journal)

    def _open_inputs(self, _session: Session) -> TableInputs:
        return TableInputs(LID, pin_factory=self.factory, node_port=None, on_hint=self.terminal.hint)

    async def until(self, condition: Callable[[], bool], what: str) -> None:
        try:
            async with asyncio.timeout(20):
                while not condition():
                    await asyncio.sleep(0.005)
        except TimeoutError:
            raise AssertionError(f"{what} did not happen; {self.terminal.state}") from None

    async def halted(self) -> None:
        await self.until(lambda: self.terminal.state["halted"] == DISK_FULL, "the stop")

    async def going(self) -> None:
        await self.until(lambda: self.terminal.state["halted"] is None, "going on")

    async def end(self) -> None:
        """End in good order."""
        self._running.cancel()
        await asyncio.gather(self._running, return_exceptions=True)
        self.terminal.disconnect()
        self.journal.close()


def kinds(path: Path) -> list[str]:
    """The types of all events in the journal."""
    with JournalReader(path) as reader:
        return [event.type for event in reader.events()]


def count(path: Path, kind: str) -> int:
    return kinds(path).count(kind)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


def play(path: Path, steps: Callable[[Table], Awaitable[None]], *, full: bool = False) -> None:
    async def all_of_it() -> None:
        table = Table(path, full=full)
        try:
            await steps(table)
        finally:
            await table.end()

    asyncio.run(all_of_it())


async def bet_until_full(table: Table) -> int:
    """Bets until one finds the disk full; how many were confirmed."""
    for number in range(1000):
        try:
            await table.terminal.command(FIELD, f"bet-{number}")
        except Halted:
            return number
    raise AssertionError("the disk was never full")


def test_what_finds_the_disk_full_is_not_done_and_the_stop_is_recorded_in_the_reserve(path: Path) -> None:
    async def steps(table: Table) -> None:
        table.disk.fill(reserve_pages=50)
        confirmed = await bet_until_full(table)
        await table.halted()
        await table.until(lambda: "recording_stopped" in kinds(path), "the record of the stop")
        assert count(path, "bet") == confirmed
        bets = table.terminal.state["bets"]
        assert sum(bet["amount"] for bet in bets) == 10 * confirmed
        with pytest.raises(Halted, match="The disk is full"):
            await table.terminal.command(FIELD, "while it is full")

        table.disk.free()
        await table.going()
        # The same command again, as a screen does that got no answer: it is done now, and once.
        for _ in range(2):
            await table.terminal.command(FIELD, f"bet-{confirmed}")
        assert count(path, "bet") == confirmed + 1
        found = table.terminal.state
        assert sum(bet["amount"] for bet in found["bets"]) == 10 * (confirmed + 1)
        assert [alert["code"] for alert in found["alerts"]] == ["recording_gap"]

    play(path, steps)
    assert kinds(path)[-4:] == ["alert_raised", "bet", "stopped", "checkpoint"]
    assert count(path, "recording_stopped") == count(path, "recording_resumed") == 1


def test_the_stop_is_shown_though_not_even_it_can_be_recorded(path: Path) -> None:
    async def steps(table: Table) -> None:
        table.disk.fill(reserve_pages=0)
        table.journal.takes_nothing = True
        confirmed = await bet_until_full(table)
        await table.halted()
        # One for what was refused, then one for each attempt to record the stop.
        await table.until(lambda: table.recoveries >= 2, "another attempt")
        assert table.terminal.state["halted"] == DISK_FULL
        table.journal.takes_nothing = False
        table.disk.free()
        await table.going()
        assert count(path, "bet") == confirmed == 0
        assert count(path, "recording_resumed") == 1

    play(path, steps)


def test_a_disk_that_is_nearly_full_stops_the_table_before_a_write_fails(path: Path) -> None:
    async def steps(table: Table) -> None:
        await table.terminal.command(FIELD, "one")
        table.disk.short = True
        await table.halted()
        await table.until(lambda: "recording_stopped" in kinds(path), "the record of the stop")
        table.disk.free()
        await table.going()
        await table.terminal.command(FIELD, "two")

    play(path, steps)
    assert count(path, "bet") == 2


def test_what_happened_at_the_hardware_meanwhile_is_seen_as_it_is_found_afterwards(path: Path) -> None:
    async def steps(table: Table) -> None:
        await table.until(lambda: table.terminal.state["reserve"]["open"] is True, "the lid, open")
        table.disk.fill(reserve_pages=50)
        await bet_until_full(table)
        await table.halted()
        table.lid.move(True, table.now_ms())
        table.disk.free()
        await table.going()
        await table.until(lambda: table.terminal.state["reserve"]["open"] is False, "the lid, shut")

    play(path, steps)
    with JournalReader(path) as reader:
        lid = [(event.type, event.data["initial"]) for event in reader.events() if event.type.startswith("reserve_")]
    assert lid == [("reserve_opened", True), ("reserve_closed", True)]


def test_a_table_that_is_cut_off_while_the_disk_is_full_starts_when_there_is_room(path: Path) -> None:
    async def first(table: Table) -> None:
        table.disk.fill(reserve_pages=50)
        await bet_until_full(table)
        await table.until(lambda: "recording_stopped" in kinds(path), "the record of the stop")

    async def second(table: Table) -> None:
        assert table.terminal.state["halted"] == DISK_FULL
        with pytest.raises(Halted, match="The disk is full"):
            await table.terminal.command(FIELD, "too early")
        assert count(path, "started") == 1
        table.journal.takes_nothing = False
        table.disk.free()
        await table.going()
        await table.terminal.command(FIELD, "now")

    play(path, first)
    bets = count(path, "bet")
    # A stop for want of room leaves no end of the run behind, as a cut.
    assert kinds(path)[-1] == "recording_stopped"
    play(path, second, full=True)
    assert count(path, "started") == 2
    assert count(path, "bet") == bets + 1


def test_a_table_that_was_never_opened_does_not_begin_on_a_full_disk(path: Path) -> None:
    async def steps(_table: Table) -> None:
        raise AssertionError("it has begun")

    with pytest.raises(JournalFull, match="the disk has no room for a journal"):
        play(path, steps, full=True)


def test_the_reserve_is_really_held_and_really_given_up(tmp_path: Path) -> None:
    space = DiskSpace(tmp_path, SpaceLimits(reserve=1_000_000, stop=0, resume=0))
    before = space.free_bytes()
    assert space.take_reserve()
    found = (tmp_path / "reserve").stat()
    assert found.st_size == 1_000_000
    assert found.st_blocks * 512 >= 1_000_000
    assert found.st_mode & 0o777 == 0o600
    assert space.take_reserve()
    space.give_up_reserve()
    assert not (tmp_path / "reserve").exists()
    space.give_up_reserve()
    assert before > 0


def test_a_reserve_that_would_leave_too_little_is_not_taken(tmp_path: Path) -> None:
    class Small(DiskSpace):
        free = 0

        def free_bytes(self) -> int:
            return self.free

    small = Small(tmp_path, SpaceLimits(reserve=1000, stop=300, resume=600))
    for free, is_short, takes in ((299, True, False), (300, False, False), (1599, False, False), (1600, False, True)):
        small.free = free
        assert (small.is_short(), small.take_reserve()) == (is_short, takes), free
    # It is there and counts no more as free: what it leaves is enough.
    small.free = 0
    assert small.take_reserve()
