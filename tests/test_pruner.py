"""When a running table prunes its journal, how far, and what is told of it where the journal is read."""

import asyncio
import json
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from device.central_comparison import Comparison, Different
from device.clock import Clock
from device.dice_control.day_report import DayPruned, day_report, gaming_day
from device.dice_control.dice_history import history
from device.dice_control.dice_log import HEARD
from device.event import GENESIS_HASH, Event, Stamp, parse, seal
from device.journal import Journal, JournalReader
from device.journal_base import Base, sign_base
from device.prune_point import prune_point
from device.pruner import Pruner
from device.recorder import Halted
from device.recovery import beginning
from device.session import Session
from device.settings import Settings
from device.terminal import Terminal
from device.uplink_protocol import EMPTY_LOG, LogEnd, lost_pruned_reason
from provisioning.central_server import CentralServer, ensure_stream
from provisioning.command_line import main
from provisioning.configuration import ConfigurationError, read_configuration
from tests.dice_journal import spanish_day
from tests.journal_rig import KEY, terminal_on
from tests.nats_rig import FakeJournal, read_log, running_uplink
from tests.pruning_rig import TABLE, Game, checkpoint_of
from tests.test_session import CONFIGURED, terms

DAYS = 180
NOW = "2026-11-29T12:00:00.000Z"
OLD = "2026-06-02T11:59:59.999Z"
"""180 days and a millisecond before NOW."""
YOUNG = "2026-06-02T12:00:00.001Z"
FUTURE = "2036-01-01T00:00:00.000Z"
WRONG = "2006-10-15T00:00:00.000Z"
"""1,024 weeks or so ago: what a receiver of satellite time says that counts them with ten bits."""


# How far


def history_of(*said: str) -> list[Event]:
    """Events from number 11 on, each said as its type's first letter (n or c, a checkpoint), clock and wall time."""
    events: list[Event] = []
    for seq, one in enumerate(said, start=11):
        kind, clock, wall = one.split()
        stamp = Stamp("b", seq, {"old": OLD, "young": YOUNG, "future": FUTURE, "wrong": WRONG}[wall], clock)
        name = {"n": "noted", "c": "checkpoint"}[kind]
        events.append(seal("t", seq, stamp, name, {}, events[-1].hash if events else "a" * 64))
    return events


@pytest.mark.parametrize(
    ("said", "delivered", "last"),
    [
        ([], 99, None),
        (["n synced old", "c synced old", "n synced young"], 99, 11),
        (["n synced old", "c synced old", "n synced old", "c synced old", "n synced young"], 99, 13),
        # Only before a checkpoint.
        (["n synced old", "n synced old", "n synced old"], 99, None),
        (["c synced old", "n synced old", "n synced old"], 99, None),
        # Only what was delivered.
        (["n synced old", "c synced old", "n synced old", "c synced old"], 13, 13),
        (["n synced old", "c synced old", "n synced old", "c synced old"], 12, 11),
        (["n synced old", "c synced old", "n synced old", "c synced old"], 10, None),
        # Only what is older than the retention.
        (["n synced young", "c synced old", "n synced old"], 99, None),
        (["n synced old", "c synced young", "n synced old"], 99, None),
        (["n synced old", "c synced old", "n synced young", "c synced old"], 99, 11),
        # A clock that is not synced says nothing of an event; one behind it does.
        (["n free old", "c free old", "n free old"], 99, None),
        (["n free old", "c free old", "n synced old"], 99, 11),
        (["n free old", "c free old", "n free old", "c free old", "n synced old", "n synced young"], 99, 13),
        # What is younger by any clock makes all behind it young: a receiver may say another year for a while.
        (["n free young", "c free young", "n synced old"], 99, None),
        (["n free old", "c free old", "n synced old", "n free young", "c free old", "n synced old"], 99, 11),
        (["n free old", "c free young", "n synced wrong"], 99, None),
        (["n synced wrong", "c synced wrong", "n synced old", "c synced old", "n synced young"], 99, 13),
        # Beyond what was delivered, too.
        (["n free old", "c free old", "n free old", "n synced old"], 11, 11),
        (["n free old", "c free old", "n free old", "n synced young"], 11, None),
        # One from the future is of a wrong clock.
        (["n synced future", "c synced future", "n synced old"], 99, 11),
        (["n synced old", "c synced future", "n synced young"], 99, None),
    ],
)
def test_what_may_go(said: Sequence[str], delivered: int, last: int | None) -> None:
    point = prune_point(history_of(*said), delivered, DAYS, NOW)
    assert (None if point is None else point.seq) == last


def test_no_more_goes_at_once_than_the_table_can_wait_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("device.prune_point.PRUNE_EVENTS_MAX", 4)
    events = history_of(*["n free old", "c free old"] * 10, "n synced old")
    point = prune_point(events, 99, DAYS, NOW)
    assert point is not None
    # Events 11 to 13 go, three of them; up to the next checkpoint it would be five.
    assert point.seq == 13


# A running table


class Table:
    """A terminal in this process, a clock that is set by hand, and what the uplink would say."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "journal.db"
        self.wall_s = 1_780_000_000
        self.time_state = 0
        self.delivered: int | None = None
        self.clock = Clock(
            boot="b",
            # Days go by on both clocks.
            monotonic_ns=lambda: (self.wall_s - 1_780_000_000) * 1_000_000_000 + 5,
            wall_ns=lambda: self.wall_s * 1_000_000_000,
            time_state=lambda: self.time_state,
        )

    def days_later(self, days: int) -> None:
        self.wall_s += days * 86_400

    def pruner(self, terminal: Terminal) -> Pruner:
        return Pruner(terminal, self.path, TABLE, KEY, "1", self.clock, DAYS, lambda: self.delivered)

    async def play(self, terminal: Terminal) -> None:
        """A bet and a roll, and the table is closed, which is signed, and opened again."""
        name = str(terminal.state["seq"])
        await terminal.command({"bet": {"player": "3", "kind": "field", "amount": 10}}, name + "a")
        await terminal.command({"roll": [1, 2]}, name + "b")
        await terminal.close_table(name + "c")
        await terminal.open_table(terms(), name + "d")


def test_a_table_prunes_what_is_delivered_and_old_and_nothing_else(tmp_path: Path) -> None:
    table = Table(tmp_path)

    async def scenario(journal: Journal) -> tuple[int, dict[str, Any]]:
        terminal = terminal_on(journal, Settings("casino-1", TABLE, terms()), KEY, table.clock)
        terminal.begin("1", CONFIGURED, terms())
        running = asyncio.create_task(terminal.run())
        pruner = table.pruner(terminal)
        await table.play(terminal)
        await table.play(terminal)
        old = journal.last_seq
        table.days_later(DAYS + 1)
        await table.play(terminal)
        assert not await pruner.prune(), "the link is not up"
        table.delivered, table.time_state = old, 5
        assert not await pruner.prune(), "the clock is not synced"
        table.time_state = 0
        table.delivered = 2
        assert not await pruner.prune(), "not delivered"
        table.delivered = old
        await terminal.alert("clock_stepped", "The clock was set forward by 181 d.")
        assert not await pruner.prune(), "the clock was set, and nobody has said that it is right"
        [raised] = [alert["raised"] for alert in terminal.state["alerts"] if alert["code"] == "clock_stepped"]
        await terminal.acknowledge("clock_stepped", raised, "Eva", "acknowledged")
        assert await pruner.prune()
        base = journal.base()
        assert base is not None
        last = [event.data for event in journal.events() if event.type == "journal_pruned"]
        assert last == [
            {
                "through": base.seq,
                "hash": base.hash,
                "state": base.state_hash,
                "retention_days": DAYS,
                "delivered": old,
            }
        ]
        assert not await pruner.prune(), "the rest is young"
        await table.play(terminal)
        state = terminal.state
        running.cancel()
        await asyncio.wait([running])
        return base.seq, state

    with Journal.open(table.path, TABLE) as journal:
        cut, state = asyncio.run(scenario(journal))
        kinds = {event.seq: event.type for event in journal.events()}
    assert min(kinds) == cut + 1
    assert kinds[cut + 1] == "checkpoint"
    (pruned_seq,) = [seq for seq, kind in kinds.items() if kind == "journal_pruned"]
    assert kinds[pruned_seq + 1] == "checkpoint"
    # The second closing is old, what follows is not.
    assert list(kinds.values()).count("table_closed") == 2
    assert main(["journal", "verify", "--data", str(tmp_path)]) == 0
    with Journal.open(table.path, TABLE) as journal:
        game = Game.__new__(Game)
        game.path = table.path
    session = game.recover().session
    assert session.table is not None
    assert (session.table.house, session.session_number) == (state["house"], state["session_number"])


def test_a_link_that_is_lost_while_the_state_is_made_puts_it_off(tmp_path: Path) -> None:
    table = Table(tmp_path)
    answers: list[int | None] = []

    async def scenario(journal: Journal) -> None:
        terminal = terminal_on(journal, Settings("casino-1", TABLE, terms()), KEY, table.clock)
        terminal.begin("1", CONFIGURED, terms())
        running = asyncio.create_task(terminal.run())
        await table.play(terminal)
        table.days_later(DAYS + 1)
        await table.play(terminal)
        pruner = Pruner(terminal, table.path, TABLE, KEY, "1", table.clock, DAYS, lambda: answers.pop(0))
        for then in (None, 3):
            answers[:] = [99, then]
            assert not await pruner.prune()
            assert answers == []
            assert journal.base() is None
        await terminal.alert("clock_stepped", "The clock was set forward by 181 d.")
        answers[:] = [99, 99]
        assert not await pruner.prune()
        assert answers == [99], "the state was not even made"
        [raised] = [alert["raised"] for alert in terminal.state["alerts"] if alert["code"] == "clock_stepped"]
        await terminal.acknowledge("clock_stepped", raised, "Eva", "acknowledged")
        # A table that has stopped accepting does not write.
        terminal._recorder.halt("Nothing is accepted.")
        answers[:] = [99, 99]
        with pytest.raises(Halted):
            await pruner.prune()
        assert journal.base() is None
        running.cancel()
        await asyncio.wait([running])

    with Journal.open(table.path, TABLE) as journal:
        asyncio.run(scenario(journal))


def test_a_journal_that_cannot_be_pruned_is_an_alert_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("device.pruner.PRUNE_EVERY_S", 0.01)
    table = Table(tmp_path)

    async def scenario(journal: Journal) -> None:
        terminal = terminal_on(journal, Settings("casino-1", TABLE, terms()), KEY, table.clock)
        terminal.begin("1", CONFIGURED, terms())
        table.delivered = 9
        tasks = [asyncio.create_task(terminal.run())]
        pruner = Pruner(terminal, tmp_path / "none.db", TABLE, KEY, "1", table.clock, DAYS, lambda: table.delivered)
        tasks.append(asyncio.create_task(pruner.run()))
        async with asyncio.timeout(60):
            while not terminal.state["alerts"]:
                await terminal.wait_for_change(terminal.version)
        (alert,) = terminal.state["alerts"]
        assert alert["code"] == "journal_not_pruned"
        assert "cannot be opened" in alert["text"]
        await table.play(terminal)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)

    with Journal.open(table.path, TABLE) as journal:
        asyncio.run(scenario(journal))
        assert journal.base() is None


# Delivery


@pytest.fixture
def server(tmp_path: Path) -> Any:
    with CentralServer(tmp_path / "central") as running:
        asyncio.run(ensure_stream(running.url))
        yield running


def pruned(journal: FakeJournal, seq: int) -> None:
    journal.base = sign_base(KEY, TABLE, seq, parse(journal.lines[seq - 1]).hash, "{}", "1")


def test_a_log_that_ends_with_the_last_pruned_event_is_continued(server: CentralServer, tmp_path: Path) -> None:
    async def scenario() -> None:
        journal = FakeJournal(TABLE, events=20)
        async with running_uplink(server.url, journal, tmp_path, TABLE) as unit:
            await unit.delivered(20)
        pruned(journal, 20)
        journal.append(5)
        async with running_uplink(server.url, journal, tmp_path, TABLE) as unit:
            await unit.delivered(25)
            assert unit.alerts == []
        assert await read_log(server.url, "test", TABLE) == journal.lines

    asyncio.run(scenario())


@pytest.mark.parametrize("delivered", [0, 12])
def test_a_log_that_lost_what_was_pruned_is_not_continued(
    server: CentralServer, tmp_path: Path, delivered: int
) -> None:
    async def scenario() -> None:
        journal = FakeJournal(TABLE, events=delivered)
        if delivered:
            async with running_uplink(server.url, journal, tmp_path, TABLE) as unit:
                await unit.delivered(delivered)
        journal.append(20 - delivered)
        pruned(journal, 13)
        async with running_uplink(server.url, journal, tmp_path, TABLE) as unit:
            await unit.is_in("fenced")
            assert [code for code, _ in unit.alerts] == ["log_lost_pruned"]
            assert f"events {delivered + 1} to 13 were lost there and cannot be sent again" in unit.alerts[0][1]
        assert await read_log(server.url, "test", TABLE) == journal.lines[:delivered]

    asyncio.run(scenario())


def test_another_history_that_ends_where_this_one_was_pruned_is_fenced(server: CentralServer, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_uplink(server.url, FakeJournal(TABLE, "b", 20), tmp_path, TABLE) as unit:
            await unit.delivered(20)
        journal = FakeJournal(TABLE, "a", 25)
        pruned(journal, 20)
        async with running_uplink(server.url, journal, tmp_path, TABLE) as unit:
            await unit.is_in("fenced")
            assert [code for code, _ in unit.alerts] == ["uplink_fenced"]

    asyncio.run(scenario())


def test_an_end_that_is_no_event_is_not_taken_for_a_loss() -> None:
    assert lost_pruned_reason(LogEnd(4, 0, ""), 13) is None
    assert lost_pruned_reason(EMPTY_LOG, 13) is not None
    assert lost_pruned_reason(EMPTY_LOG, 0) is None


# The central log beside a pruned journal


@pytest.fixture
def game(tmp_path: Path) -> Game:
    return Game(tmp_path / "journal.db")


def held_against(game: Game, base: Base, central: Sequence[str]) -> tuple[int | None, str, int]:
    """The first event that differs, why, and up to where both are alike."""
    with JournalReader(game.path) as reader:
        comparison = Comparison(reader.read, base)
        try:
            comparison.take("\n".join(central).encode())
        except Different as different:
            return different.seq, str(different), comparison.alike_seq
    return None, "", comparison.alike_seq


def test_the_pruned_part_of_the_central_log_must_lead_to_the_base(game: Game) -> None:
    base = game.prune(11)
    lines = [event.line() for event in game.events.values()]
    assert held_against(game, base, lines) == (None, "", game.last_seq)
    for at, line, seq, reason in (
        (3, lines[3].replace('"b', '"c'), 4, "holds no event in its place"),
        (3, lines[4], 4, "holds event 5 in its place"),
        (4, Game(game.path.with_name("other.db"), sign_every=3).events[5].line(), 5, "does not follow event 4"),
        (12, lines[13], 13, "missing in the central log"),
    ):
        found, told, _ = held_against(game, base, [*lines[:at], line, *lines[at + 1 :]])
        assert (found, reason in told) == (seq, True), told
    # All of another history, well linked, up to the base.
    others: list[Event] = []
    for event in [game.events[seq] for seq in range(1, 12)]:
        prev = others[-1].hash if others else GENESIS_HASH
        others.append(seal(TABLE, event.seq, Stamp("b", 1, NOW, "synced"), event.type, event.data, prev))
    found, told, _ = held_against(game, base, [event.line() for event in others] + lines[11:])
    assert (found, "in the journal's base" in told) == (11, True)


# What is read on the command line


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    status = main(list(words))
    return status, *capsys.readouterr()


def test_commands_say_where_the_journal_begins(game: Game, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    game.prune(11)
    data = ("--data", str(tmp_path))
    status, told, _ = run(capsys, "journal", "verify", *data)
    assert status == 0
    assert told.startswith(
        "events 1 to 11 were pruned after delivery, signed base; what remains begins with event 12\n17 events, unbroken"
    )
    begins = f"boxman: {game.path}: events 1 to 11 were pruned after delivery; the journal begins with event 12\n"
    status, told, complaint = run(capsys, "journal", "export", *data)
    assert (status, complaint) == (0, begins)
    assert [json.loads(line)["seq"] for line in told.splitlines()] == list(range(12, game.last_seq + 1))
    # The session was opened in what was pruned.
    status, told, complaint = run(capsys, "journal", "export", "--scenario", *data)
    assert (status, told) == (1, "")
    assert complaint == begins + "boxman: no session begins in what is left of the journal\n"
    file = tmp_path / "old.json"
    file.write_text(json.dumps(checkpoint_of(game.events[5])))
    status, _, complaint = run(capsys, "journal", "verify", *data, "--checkpoint", str(file))
    assert (status, complaint) == (
        1,
        f"{game.path}: the checkpoint that was given is of event 5, but events 1 to 11 were pruned here, so it proves "
        "nothing of this journal; give one of event 11 or later, or --central in its place\n",
    )
    status, told, _ = run(capsys, "journal", "checkpoint", *data)
    assert (status, json.loads(told)["seq"]) == (0, game.last_seq - 1)


DICE_ACTIONS = (["log"], ["status"], ["log", "--day", "2026-11-30"], ["report", "--day", "2026-12-03"])


def test_dice_reports_begin_where_the_journal_does(
    game: Game, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game.prune(11)
    data = ("--data", str(tmp_path))
    begins = f"boxman: {game.path}: events 1 to 11 were pruned after delivery; the journal begins with event 12\n"
    for form in ([], ["--csv"], ["--html"]):
        for action in DICE_ACTIONS:
            status, told, complaint = run(capsys, "dice", *action, *form, *data)
            assert (status, complaint) == (0, begins)
            if form != ["--csv"]:
                assert "events 1 to 11 pruned after delivery, last event 28" in " ".join(told.split()), told
    for report in ("log", "report"):
        status, told, complaint = run(capsys, "dice", report, "--day", "2026-11-28", *data)
        assert (status, told) == (1, "")
        assert "2026-11-28 was pruned: this journal begins with event 12 of 2026-11-29" in complaint
    with JournalReader(game.path) as reader:
        found = history(reader.events(), beginning(reader)[0])
    with pytest.raises(DayPruned):
        day_report(found, gaming_day(date(2026, 11, 29)))


def test_sets_that_were_received_in_what_was_pruned_are_still_accounted_for() -> None:
    events = spanish_day().journal
    day = gaming_day(date(2026, 11, 29), zone=ZoneInfo("Europe/Madrid"))
    # The event before the day's first is the first that is left.
    cut = next(event.seq for event in events if datetime.fromisoformat(event.wall) >= day.starts) - 2
    before = Session(seq=cut)
    for event in events[:cut]:
        if event.type in HEARD:
            before.dice.take(event.type, event.data, event.seq)
    whole, left = history(events), history(events[cut:], before)
    assert left.pruned_seq == cut
    assert (left.places, left.sets) == (whole.places, whole.sets)
    assert left.rolls == whole.rolls
    whole_report, report = day_report(whole, day), day_report(left, day)
    assert [account.name for account in report.sets] == ["A", "B", "C", "D"]
    for account, expected in zip(report.sets, whole_report.sets, strict=True):
        assert account.held_at_beginning == expected.held_at_beginning
        assert (account.end, account.balances) == (expected.end, expected.balances)


@pytest.mark.parametrize(
    ("said", "days"), [("", 180), ("[uplink]\nretention_days = 1\n", 1), ("[uplink]\nretention_days = 36500\n", 36500)]
)
def test_the_retention_time_is_configured_with_the_uplink(tmp_path: Path, said: str, days: int) -> None:
    file = tmp_path / "table.toml"
    file.write_text(said)
    assert read_configuration(file).retention_days == days


@pytest.mark.parametrize("days", ["0", "36501", "1.5", '"180"', "true"])
def test_a_retention_time_that_is_none_is_refused(tmp_path: Path, days: str) -> None:
    file = tmp_path / "table.toml"
    file.write_text(f"[uplink]\nretention_days = {days}\n")
    with pytest.raises(ConfigurationError, match=r"uplink.retention_days must be a whole number from 1 to 36500"):
        read_configuration(file)
