"""A full disk: acceptance stops, the stop is recorded, and work goes on by itself when there is room again."""

import asyncio
import re
import shutil
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from device.clock import Clock
from device.disk_space import DiskSpace, SpaceLimits
from device.event import Event, Stamp
from device.journal import Journal, JournalFull, JournalReader
from device.origin import Origin
from device.recorder import DISK_FULL, QUEUE_MAX, Halted
from device.recovery import Recovered
from device.session import Entry, Session
from device.settings import Settings
from device.signal_entries import entries_of
from device.terminal import Terminal
from drivers.header import open_pin_factory
from drivers.signals import DiceKeyed
from drivers.table_inputs import Received, TableInputs
from drivers.virtual_contact import Contact
from drivers.wiring import Wiring, parse_pin
from engine_lite.refusal import Refused
from tests.journal_rig import KEY, replayed
from tests.test_session import terms

FIELD = {"bet": {"player": "3", "kind": "field", "amount": 10}}
PLENTY = 1_000_000
LID = Wiring({"lid": parse_pin("gpio:17")})


class FullJournal(Journal):
    """A journal whose disk at times takes nothing at all; a small event may fit where a larger one did not."""

    takes_nothing = False
    first_refused: str | None = None
    """The type of the first event that there was no room for."""

    def append(self, entries: Sequence[tuple[str, dict[str, Any]]], stamp: Stamp) -> list[Event]:
        try:
            return self._append(entries, stamp)
        except JournalFull:
            self.first_refused = self.first_refused or entries[0][0]
            raise

    def _append(self, entries: Sequence[tuple[str, dict[str, Any]]], stamp: Stamp) -> list[Event]:
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
        self.gives_up: Callable[[], object] = lambda: None

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
        self.gives_up()
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
            async with asyncio.timeout(60):
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


def gaps(table: Table) -> list[dict[str, Any]]:
    """The alerts of what was not recorded."""
    return [alert for alert in table.terminal.state["alerts"] if alert["code"] == "recording_gap"]


async def bet_until_full(table: Table) -> int:
    """Bets until one finds the disk full; how many were confirmed."""
    for number in range(1000):
        try:
            await table.terminal.command(FIELD, f"bet-{number}")
        except Halted as halted:
            said = str(halted)
        else:
            continue
        if table.journal.first_refused == "bet":
            # Not that it was not done: a power cut before anything else is written may bring it about.
            assert re.fullmatch("the journal cannot be written: .*: the disk is full", said)
        else:
            assert said == DISK_FULL
        return number
    raise AssertionError("the disk was never full")


def test_what_finds_the_disk_full_is_not_done_and_the_stop_is_recorded_in_the_reserve(path: Path) -> None:
    async def steps(table: Table) -> None:
        await table.until(lambda: table.terminal.state["reserve"]["open"] is True, "the lid, open")
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
        assert len(gaps(table)) == 1

    play(path, steps)
    # What comes of itself after going on, as at a start, may be among them.
    told = [kind for kind in kinds(path) if kind not in ("reserve_opened", "self_test")]
    assert told[-4:] == ["alert_raised", "bet", "stopped", "checkpoint"]
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


def test_a_stop_that_is_over_at_once_is_recorded_as_well(path: Path) -> None:
    async def steps(table: Table) -> None:
        table.disk.gives_up = table.disk.free
        table.disk.short = True
        await table.until(lambda: "recording_resumed" in kinds(path), "going on")

    play(path, steps)
    told = kinds(path)
    assert told.count("recording_stopped") == 1
    assert told.index("recording_stopped") < told.index("recording_resumed")


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


@pytest.mark.parametrize("cut", [True, False])
def test_a_table_that_ends_while_the_disk_is_full_starts_when_there_is_room_and_tells_of_the_gap(
    path: Path, cut: bool
) -> None:
    async def first(table: Table) -> None:
        table.disk.fill(reserve_pages=50)
        await bet_until_full(table)
        await table.until(lambda: "recording_stopped" in kinds(path), "the record of the stop")
        if cut:
            # What a cut leaves: the files as they are now.
            for name in (path.name, f"{path.name}-wal"):
                shutil.copy(path.with_name(name), path.with_name(f"left-{name}"))

    async def second(table: Table) -> None:
        assert table.terminal.state["halted"] == DISK_FULL
        with pytest.raises(Halted, match="The disk is full"):
            await table.terminal.command(FIELD, "too early")
        assert count(left, "started") == 1
        table.journal.takes_nothing = False
        table.disk.free()
        await table.going()
        await table.terminal.command(FIELD, "now")
        assert len(gaps(table)) == 1

    play(path, first)
    left = path.with_name(f"left-{path.name}") if cut else path
    bets = count(left, "bet")
    assert kinds(left)[-1 if cut else -3 :] == (
        ["recording_stopped"] if cut else ["recording_stopped", "stopped", "checkpoint"]
    )
    play(left, second, full=True)
    told = kinds(left)
    assert told.count("started") == 2
    assert told.count("crash_found") == cut
    assert told.count("recording_resumed") == 1
    assert told.count("bet") == bets + 1


def test_the_end_in_good_order_is_recorded_in_the_reserve(path: Path) -> None:
    async def steps(table: Table) -> None:
        await table.terminal.command(FIELD, "one")
        table.journal.takes_nothing = True
        table.disk.gives_up = lambda: setattr(table.journal, "takes_nothing", False)

    play(path, steps)
    assert kinds(path)[-2:] == ["stopped", "checkpoint"]


def test_a_table_that_is_told_to_end_in_the_moment_in_which_the_disk_is_full_ends(path: Path) -> None:
    async def steps(table: Table) -> None:
        table.disk.fill(reserve_pages=0)
        table.journal.takes_nothing = True
        await bet_until_full(table)
        table._running.cancel()
        done, _ = await asyncio.wait([table._running], timeout=60)
        assert done

    play(path, steps)


def test_the_alert_of_the_gap_is_one_and_no_matter_for_those_on_duty(path: Path) -> None:
    async def steps(table: Table) -> None:
        duty = {"on_duty": {"boxman": "Ana Ruiz", "witness": "Luis Vega"}}
        await table.terminal.dice_action(duty, "duty")
        for _ in range(2):
            table.disk.short = True
            await table.halted()
            table.disk.free()
            await table.going()
        [alert] = gaps(table)
        assert "The disk was full, 2 times, and nothing was recorded meanwhile." in alert["text"]
        with pytest.raises(Refused, match="another person must acknowledge"):
            await table.terminal.acknowledge("recording_gap", alert["raised"], "Ana Ruiz", "by the boxman")
        await table.terminal.acknowledge("recording_gap", alert["raised"], "Marta Gil", "by another")
        assert gaps(table) == []

    play(path, steps)


def test_what_comes_in_while_nothing_is_accepted_is_not_done_afterwards(path: Path) -> None:
    """Signals that wait for room in a full queue put theirs there when it is emptied for the full disk."""
    done: list[int] = []

    async def steps(table: Table) -> None:
        recorder = table.terminal._recorder

        def note(number: int) -> list[Entry]:
            done.append(number)
            return []

        table.disk.fill(reserve_pages=50)
        table.journal.takes_nothing = True
        refused = asyncio.ensure_future(table.terminal.command(FIELD, "refused"))
        await asyncio.sleep(0)
        waiting = [asyncio.ensure_future(recorder.hand_in(partial(note, number))) for number in range(QUEUE_MAX + 20)]
        with pytest.raises(Halted):
            await refused
        async with asyncio.timeout(60):
            await asyncio.gather(*waiting)
            await recorder.hand_in(partial(note, -1))
        table.journal.takes_nothing = False
        table.disk.free()
        await table.going()
        await table.terminal.command(FIELD, "now")

    play(path, steps)
    assert done == []


def test_a_key_that_the_node_kept_while_nothing_was_accepted_is_not_done() -> None:
    session = Session()
    session.start("1", {"site": "casino-1"}, key="K", configuration_hash="h")
    session.open_table(terms(), Origin("configuration"))
    session.input_seen("node_found", {"boot_id": 7, "dropped_in_all": 0, "via": "node"})
    session.stop_recording("disk_full", 0)
    session.resume_recording(PLENTY)
    session.input_seen("node_found", {"boot_id": 7, "dropped_in_all": 0, "via": "node"})
    kept = entries_of(session, Received(DiceKeyed(4, 3), "node:dice_keys", (7, 1), late=True))
    assert [kind for kind, _ in kept] == ["key_refused", "alert_raised"]
    assert kept[0][1]["message"] == (
        "4-3 was keyed while the disk was full and nothing was accepted. It is not counted; "
        "if it was another throw, enter it now"
    )
    # What is keyed from now on counts.
    now = entries_of(session, Received(DiceKeyed(4, 3), "node:dice_keys", (7, 2), late=False))
    assert now[0][0] == "roll"


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


def test_a_file_with_a_hole_is_no_reserve(tmp_path: Path) -> None:
    space = DiskSpace(tmp_path, SpaceLimits(reserve=1_000_000, stop=0, resume=0))
    with (tmp_path / "reserve").open("wb") as file:
        file.truncate(1_000_000)
    assert (tmp_path / "reserve").stat().st_blocks == 0
    assert space.take_reserve()
    assert (tmp_path / "reserve").stat().st_blocks * 512 >= 1_000_000


def test_a_table_whose_reserve_is_held_stops_before_a_write_fails_as_well(path: Path) -> None:
    async def steps(table: Table) -> None:
        table.disk.short = True
        table.disk.take_reserve = lambda: True  # type: ignore[method-assign]
        await table.halted()

    play(path, steps)
