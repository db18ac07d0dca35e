"""Starts after power cuts, crashes and good endings; the watch over clock and link; the self-test; the door."""

import asyncio
import copy
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from device import terminal as terminal_module
from device.assembly import terms_to_open
from device.clock import Clock
from device.event import Event
from device.journal import Journal
from device.origin import Origin
from device.recorder import Halted
from device.session import Session
from device.settings import Settings
from device.table_key import TableKey
from device.table_terms import TableTerms
from device.terminal import Terminal
from engine_lite import rule_sets
from engine_lite.refusal import Refused
from tests.journal_rig import KEY, OTHER_KEY, STAMP, events_in, terminal_on
from tests.test_alerts import Table

TERMS = TableTerms(rule_sets.load("us-vegas"), {}, 1, 1, 1000)
S = 1_000_000_000
# 2026-11-30T12:00:00Z.
NOON = 1_796_040_000 * S
HOUR = 3600 * S
WAIT_S = 60.0


class Machine:
    """A machine whose clocks a test moves; each run of the terminal on it goes on from the journal."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "journal.db"
        self.boot = "boot-1"
        self.mono_ns = 60 * S
        self.wall_ns = NOON
        self.time_state = 0
        self.terminal: Terminal

    def clock(self) -> Clock:
        return Clock(
            boot=self.boot,
            monotonic_ns=lambda: self.mono_ns,
            wall_ns=lambda: self.wall_ns,
            time_state=lambda: self.time_state,
        )

    def run(
        self,
        *steps: Callable[["Machine"], Awaitable[object]],
        cut: bool = False,
        key: TableKey = KEY,
        version: str = "1.0",
        terms: TableTerms = TERMS,
    ) -> list[Event]:
        """Start, do `steps`, stop or, with `cut`, break off; the events of this run."""
        return asyncio.run(self._run(steps, cut, key, version, terms))

    async def _run(
        self,
        steps: tuple[Callable[["Machine"], Awaitable[object]], ...],
        cut: bool,
        key: TableKey,
        version: str,
        terms: TableTerms,
    ) -> list[Event]:
        with Journal.open(self.path, "craps-1") as journal:
            before = journal.last_seq
            self.terminal = terminal_on(journal, Settings("casino-1", "craps-1", terms), key, self.clock())
            self.terminal.begin(version, {"site": "casino-1"}, None if before else terms)
            if not cut:
                running = asyncio.create_task(self.terminal.run())
                # It has begun, so that it ends by itself.
                await asyncio.sleep(0)
                for step in steps:
                    await step(self)
                running.cancel()
                with suppress(asyncio.CancelledError):
                    await running
        return events_in(self.path)[before:]

    async def until(self, condition: Callable[[list[Event]], Any], what: str) -> None:
        """Wait for what is to be in the journal."""
        deadline = asyncio.get_running_loop().time() + WAIT_S
        while not condition(events_in(self.path)):
            assert asyncio.get_running_loop().time() < deadline, f"not within {WAIT_S} s: {what}"
            await asyncio.sleep(0.01)

    def told(self, kind: str) -> list[dict[str, Any]]:
        return [event.data for event in events_in(self.path) if event.type == kind]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setattr(terminal_module, "MACHINE_LOOK_S", 0.01)
    return Machine(tmp_path)


async def until_tested(machine: Machine) -> None:
    """The self-test is over."""
    runs = len(machine.told("started"))
    await machine.until(lambda _: len(machine.told("self_test")) == runs, "the self-test")


async def quiet(terminal: Terminal) -> int:
    """The state's version, once nothing has changed it for longer than the terminal takes to look for alerts."""
    version = terminal.version
    while True:
        try:
            async with asyncio.timeout(3 * terminal_module.WATCH_S):
                version = await terminal.wait_for_change(version)
        except TimeoutError:
            return version


def types(events: list[Event]) -> list[str]:
    return [event.type for event in events]


def test_the_key_of_a_unit_that_took_the_table_over_passes_at_once(machine: Machine) -> None:
    machine.run(until_tested)
    with Journal.open(machine.path, "craps-1") as journal:
        said = {"through": journal.last_seq, "hash": journal.last_hash, "former_key": KEY.public}
        journal.append([("adopted", said | {"key": OTHER_KEY.public})], STAMP)
    machine.run(until_tested, key=OTHER_KEY)
    [check] = [check for check in machine.told("self_test")[-1]["checks"] if "taken the table over" in check["said"]]
    assert check["result"] == "passed"


def test_a_first_start_a_start_on_the_same_boot_and_one_after_a_good_ending(machine: Machine) -> None:
    first = machine.run(until_tested)
    assert types(first) == ["started", "power_up", "table_opened", "self_test", "stopped", "checkpoint"]
    assert first[0].data["previous"] == "first"
    again = machine.run(until_tested)
    assert types(again) == ["started", "self_test", "stopped", "checkpoint"]
    assert again[0].data["previous"] == "stopped"
    machine.boot = "boot-2"
    assert types(machine.run(until_tested)) == ["started", "power_up", "self_test", "stopped", "checkpoint"]


def test_a_crash_and_a_power_cut_are_told_apart_by_the_boot(machine: Machine) -> None:
    assert types(machine.run(cut=True)) == ["started", "power_up", "table_opened"]
    crashed = machine.run(cut=True)
    assert types(crashed) == ["started", "crash_found"]
    assert crashed[0].data["previous"] == "cut_off"
    assert crashed[1].data == {"last_seq": 3, "last": "2026-11-30T12:00:00.000Z"}
    machine.boot = "boot-2"
    cut = machine.run(cut=True)
    assert types(cut) == ["started", "power_up", "power_loss_found"]
    assert cut[2].data == {"last_seq": 5, "last": "2026-11-30T12:00:00.000Z"}
    # Written together, so no cut leaves a start without what it found.
    assert len({(event.mono_ns, event.wall) for event in cut}) == 1


def test_a_clock_without_a_battery_is_told_at_the_start(machine: Machine) -> None:
    machine.run(cut=True)
    machine.boot, machine.wall_ns, machine.time_state = "boot-2", 12 * S, 5
    events = machine.run(cut=True)
    assert types(events) == ["started", "power_up", "power_loss_found", "clock_behind"]
    assert events[3].data == {"last": "2026-11-30T12:00:00.000Z", "now": "1970-01-01T00:00:12.000Z"}
    assert events[3].clock == "free"


def test_a_step_of_the_clock_is_journaled_and_a_large_one_an_alert(machine: Machine) -> None:
    async def set_back(machine: Machine) -> None:
        await until_tested(machine)
        machine.mono_ns += S
        machine.wall_ns += S - 3 * HOUR - 120 * S
        await machine.until(lambda _: machine.told("alert_raised") and machine.terminal.state["alerts"], "the alert")
        assert machine.terminal.state["alerts"][-1]["text"] == STEPPED
        machine.mono_ns += S
        machine.wall_ns += 3 * S
        await machine.until(lambda _: len(machine.told("clock_stepped")) == 2, "the second step")

    machine.run(set_back)
    assert machine.told("clock_stepped") == [
        {
            "by_ms": -10_920_000,
            "before": "2026-11-30T12:00:01.000Z",
            "after": "2026-11-30T08:58:01.000Z",
            "was": "synced",
        },
        {"by_ms": 2000, "before": "2026-11-30T08:58:02.000Z", "after": "2026-11-30T08:58:04.000Z", "was": "synced"},
    ]
    (alert,) = machine.told("alert_raised")
    assert (alert["alert"], alert["text"], alert["latched"]) == ("clock_stepped", STEPPED, True)
    # As it says: the order is the journal's, and the monotonic time goes on.
    events = events_in(machine.path)
    assert [event.mono_ns for event in events] == sorted(event.mono_ns for event in events)


STEPPED = "The clock was set back by 3 h 2 min; order and durations are not concerned."


def test_the_quality_of_the_clock_is_journaled_and_shown_when_it_changes(machine: Machine) -> None:
    async def lose(machine: Machine) -> None:
        await until_tested(machine)
        assert machine.terminal.state["clock"] == "synced"
        version = machine.terminal.version
        machine.time_state = 5
        await machine.until(lambda _: machine.told("clock_quality"), "the quality")
        await machine.terminal.wait_for_change(version)
        assert machine.terminal.state["clock"] == "free"
        # Back within the minute it is no event, but the screen is told.
        version = await quiet(machine.terminal)
        machine.time_state = 0
        async with asyncio.timeout(WAIT_S):
            # On a busy machine something else may have come as late.
            while machine.terminal.state["clock"] != "synced":
                version = await machine.terminal.wait_for_change(version)

    machine.run(lose)
    assert machine.told("clock_quality") == [{"clock": "free"}]


def test_a_lost_link_is_journaled_from_what_the_uplink_says(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("device.link_watch.LASTED_MS", 100)

    async def lose(machine: Machine) -> None:
        machine.terminal.set_uplink("offline", 0, "connection refused")
        await machine.until(lambda _: machine.told("link_lost") and machine.terminal.state["seq"] == 5, "the loss")
        machine.terminal.set_uplink("online", 2, None)
        await machine.until(lambda _: machine.told("link_regained"), "the return")

    machine.run(until_tested, lose)
    assert machine.told("link_lost") == [{"reason": "connection refused", "never_connected": True}]
    (regained,) = machine.told("link_regained")
    # Started, power_up, table_opened, self_test, link_lost, of which the centre has two.
    assert regained["undelivered"] == 3
    assert 100 <= regained["away_ms"] < WAIT_S * 1000


# The self-test


def test_the_self_test_is_journaled_after_the_start_with_all_its_checks(machine: Machine) -> None:
    machine.run(until_tested)
    (told,) = machine.told("self_test")
    assert told["passed"] is True
    results = {check["check"]: check["result"] for check in told["checks"]}
    assert results == dict.fromkeys(("journal", "rules", "key", "program", "disk", "clock", "hardware"), "passed")
    machine.time_state = 5
    machine.run(until_tested, key=OTHER_KEY, version="0.9")
    told = machine.told("self_test")[1]
    assert told["passed"] is False
    results = {check["check"]: check["result"] for check in told["checks"]}
    assert results | {"key": "failed", "program": "warning", "clock": "warning"} == results
    assert told["checks"][0]["said"] == "6 events, each of them checked"


def test_an_older_version_is_an_alert_until_somebody_takes_note_of_it(machine: Machine) -> None:
    machine.run(cut=True, version="1.10")
    events = machine.run(cut=True, version="1.9")
    assert types(events) == ["started", "alert_raised", "crash_found"]
    assert events[0].data["downgrade"] is True
    alert = events[1].data
    assert (alert["alert"], alert["latched"]) == ("downgrade", True)
    assert alert["text"].startswith("Version 1.9 has started, which is older than 1.10 before it.")
    assert types(machine.run(cut=True, version="1.9")) == ["started", "crash_found"]


def test_rules_that_would_pay_wrong_let_nobody_play(machine: Machine) -> None:
    data = copy.deepcopy(rule_sets.load("us-vegas"))
    data["bets"]["any_seven"]["win"] = {"7": [5, 1]}

    async def try_to_play(machine: Machine) -> None:
        with pytest.raises(Halted, match="any_seven is 0/1, but 1/6 is stated for us-vegas, version 1"):
            await machine.terminal.command({"shooter": "3"}, "test-0001")
        halted = machine.terminal.state["halted"]
        assert halted.startswith("Nobody may play: these rules would pay wrong (")

    events = machine.run(until_tested, try_to_play, terms=TableTerms(data, {}, 1, 1, 1000))
    assert types(events) == ["started", "power_up", "table_opened", "self_test", "stopped", "checkpoint"]
    assert events[3].data["passed"] is False
    # They stay in force, and the next start says the same.
    events = machine.run(until_tested, try_to_play)
    assert types(events) == ["started", "self_test", "stopped", "checkpoint"]


def test_a_table_is_not_opened_under_rules_that_would_pay_wrong(machine: Machine) -> None:
    data = copy.deepcopy(rule_sets.load("us-vegas"))
    data["bets"]["any_seven"]["win"] = {"7": [5, 1]}

    async def try_to_open(machine: Machine) -> None:
        with pytest.raises(Refused, match="these rules would pay wrong") as refused:
            await machine.terminal.open_table(TableTerms(data, {}, 1, 1, 1000), "test-0001")
        assert refused.value.code == "rules_unfit"

    assert "table_opened" not in types(machine.run(until_tested, try_to_open)[3:])


def test_rules_that_were_put_right_are_opened_anew_at_the_next_start() -> None:
    wrong = copy.deepcopy(rule_sets.load("us-vegas"))
    wrong["bets"]["any_seven"]["win"] = {"7": [5, 1]}
    configured = {"rules": "us-vegas"}
    table = Session()
    table.start("1.0", configured, key=KEY.public, configuration_hash="0")
    table.open_table(TableTerms(wrong, {}, 1, 1, 1000), Origin("configuration"))
    assert terms_to_open(table, TERMS, configured) is TERMS
    assert terms_to_open(table, TableTerms(wrong, {}, 1, 1, 1000), configured) is None
    # What was opened on the console stays in force.
    other = TableTerms(rule_sets.load("es-1979"), {}, 1, 1, 1000)
    assert terms_to_open(table, other, configured) is None
    assert terms_to_open(table, other, configured | {"supervisors": ["Eva"]}) is None, "no game depends on who they are"
    table.command({"bet": {"player": "3", "kind": "field", "amount": 10}}, Origin("console"))
    assert terms_to_open(table, TERMS, configured) is None


def test_a_journal_written_before_there_were_such_events_still_replays(machine: Machine) -> None:
    with Journal.open(machine.path, "craps-1") as journal:
        before = Session()
        entries = before.start("0.9", {"site": "casino-1"}, key=KEY.public, configuration_hash="0")
        journal.append([*entries, ("table_opened", TERMS.data() | {"via": "configuration"})], machine.clock().stamp())
    events = machine.run(cut=True)
    assert types(events) == ["started", "crash_found"]


# The door


def test_an_open_door_is_an_alert_until_it_is_shut() -> None:
    table = Table()
    table.keep(table.session.input_seen("door_opened", {"initial": True, "via": "header:door"}))
    assert table.after(200) == ["+door_open"]
    assert table.text("door_open") == "The cabinet's door is open."
    table.keep(table.session.input_seen("door_closed", {"initial": False, "via": "header:door"}))
    assert table.after(200) == [], "after a start what stands is told again"
    assert table.after(5_000) == ["-door_open"]


def test_an_alert_of_the_door_outlasts_the_node_that_reads_it_and_not_the_switch() -> None:
    table = Table()
    table.after(5_000)
    table.keep(table.session.input_seen("door_opened", {"initial": False, "via": "node:door"}))
    assert table.after(200) == ["+door_open"]
    table.keep(table.session.input_seen("node_lost", {"reason": "unplugged"}))
    assert table.after(10_000) == ["+node_offline"]
    table.keep(
        table.session.input_seen(
            "node_found",
            {"gap_ms": 9, "restarted": False, "dropped": 0, "boot_id": 1, "dropped_in_all": 0},
        )
    )
    table.keep(table.session.input_seen("door_closed", {"initial": True, "via": "node:door"}))
    assert sorted(table.after(200)) == ["-door_open", "-node_offline"]
    table.keep(table.session.input_seen("door_opened", {"initial": False, "via": "header:door"}))
    assert table.after(200) == ["+door_open"]
    table.keep(table.session.input_seen("input_unavailable", {"name": "door", "reason": "busy"}))
    assert sorted(table.after(200)) == ["+input_unavailable", "-door_open"]


def test_an_alert_of_the_door_outlasts_a_start_without_the_node_that_reads_it() -> None:
    table = Table()
    table.keep(table.session.input_seen("door_opened", {"initial": True, "via": "node:door"}))
    assert table.after(200) == ["+door_open"]
    table.keep(table.session.start("1", {}, key="U", configuration_hash="0"))
    table.watch = Table().watch
    table.keep(table.session.input_seen("node_lost", {"reason": "no such port"}))
    assert table.after(10_000) == ["+node_offline"]
    assert "door_open" in table.session.alerts
