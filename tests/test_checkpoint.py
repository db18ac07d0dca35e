"""Checkpoints: what is signed and when; what a start says of key, configuration and version."""

import asyncio
import itertools
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey

from device.checkpoint import BadCheckpoint, is_checkpoint_due, parse_checkpoint, sign, sign_entries
from device.clock import Clock
from device.configuration_hash import configuration_hash
from device.dice_control import dice_rules
from device.event import Event, seal
from device.journal import Journal, JournalReader
from device.journal_verification import verify
from device.origin import Origin
from device.session import Session
from device.settings import Settings, UplinkSettings
from device.table_key import TableKey
from device.table_terms import TableTerms
from drivers.wiring import Pin, Timing, Wiring
from engine_lite import rule_sets
from tests.journal_rig import KEY, OTHER_KEY, STAMP, events_in, terminal_on, write

HASH = "ab" * 32
TERMS = TableTerms(rule_sets.load("us-vegas"), {}, 1, 1, 1000)
SETTINGS = Settings("casino-1", "craps-1", TERMS)
SHOOTER = {"shooter": "3"}
# Of the same boot as STAMP, half a day later: 2026-11-30T12:00:00Z.
CLOCK = Clock(boot=STAMP.boot, wall_ns=lambda: 1_796_040_000 * 10**9)


def test_the_signature_is_over_the_domain_and_table_seq_and_hash() -> None:
    checkpoint = sign(TableKey(bytes(32)), "craps-1", 7, HASH)
    text = b'\xffboxman checkpoint 1\n{"hash":"' + HASH.encode() + b'","seq":7,"table":"craps-1"}'
    SigningKey(bytes(32)).verify_key.verify(text, bytes.fromhex(checkpoint.signature))
    with pytest.raises(BadSignatureError):
        SigningKey(bytes(32)).verify_key.verify(text[1:], bytes.fromhex(checkpoint.signature))


def test_no_text_that_a_server_may_have_signed_is_a_checkpoint() -> None:
    with pytest.raises(UnicodeDecodeError):
        b"\xffboxman checkpoint 1\n".decode()


def test_a_checkpoint_is_read_as_it_was_signed() -> None:
    checkpoint = sign(KEY, "craps-1", 7, HASH)
    assert checkpoint.data() == {"seq": 7, "hash": HASH, "key": KEY.public, "signature": checkpoint.signature}
    assert parse_checkpoint("craps-1", checkpoint.data()) == checkpoint


@pytest.mark.parametrize(
    "change",
    [
        {"seq": 8},
        {"seq": 0},
        {"seq": 2**70},
        {"seq": "7"},
        {"hash": "cd" * 32},
        {"hash": "AB" * 32},
        {"key": OTHER_KEY.public},
        {"key": ""},
        {"signature": "00" * 64},
        {"table": "craps-1"},
    ],
)
def test_any_other_checkpoint_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(BadCheckpoint):
        parse_checkpoint("craps-1", sign(KEY, "craps-1", 7, HASH).data() | change)


@pytest.mark.parametrize("field", ["seq", "hash", "key", "signature"])
def test_a_checkpoint_that_lacks_something_is_refused(field: str) -> None:
    fields = sign(KEY, "craps-1", 7, HASH).data()
    del fields[field]
    with pytest.raises(BadCheckpoint, match=f"has no {field} that could be one"):
        parse_checkpoint("craps-1", fields)


@pytest.mark.parametrize("table", ["craps-2", "", "\ud800"])
def test_a_checkpoint_of_another_table_is_refused(table: str) -> None:
    with pytest.raises(BadCheckpoint):
        parse_checkpoint(table, sign(KEY, "craps-1", 7, HASH).data())


def test_what_is_signed_is_the_last_entry_as_the_journal_seals_it(tmp_path: Path) -> None:
    first = seal("craps-1", 1, STAMP, "one", {}, "0" * 64)
    second = seal("craps-1", 2, STAMP, "two", {"a": 1}, first.hash)
    signed = sign_entries(KEY, "craps-1", [("one", {}), ("two", {"a": 1})], STAMP, 0, "0" * 64)
    assert signed == sign(KEY, "craps-1", 2, second.hash)
    assert write(tmp_path / "journal.db", [("one", {}), ("two", {"a": 1})])[1] == second


def test_a_checkpoint_is_due_after_a_thousand_events_a_closing_and_a_stop() -> None:
    assert not is_checkpoint_due(["roll"], 999)
    assert is_checkpoint_due(["roll"], 1000)
    assert is_checkpoint_due(["table_closed"], 1)
    assert is_checkpoint_due(["stopped"], 1)


# A running terminal


class Run:
    """One run of a terminal on a journal."""

    def __init__(self, path: Path, key: TableKey = KEY, settings: Settings = SETTINGS, version: str = "1.0") -> None:
        self.path = path
        self._key = key
        self._settings = settings
        self._version = version
        self._ids = itertools.count(1)

    def play(self, *steps: Callable[["Run"], Awaitable[object]]) -> list[Event]:
        """Start, do `steps`, stop; the events of this run."""
        return asyncio.run(self._play(steps))

    async def _play(self, steps: tuple[Callable[["Run"], Awaitable[object]], ...]) -> list[Event]:
        with Journal.open(self.path, "craps-1") as journal:
            before = journal.last_seq
            self.terminal = terminal_on(journal, self._settings, self._key, CLOCK)
            self.terminal.begin(self._version, {"site": "casino-1"}, None if before else TERMS)
            running = asyncio.create_task(self.terminal.run())
            for step in steps:
                await step(self)
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running
        return events_in(self.path)[before:]

    def fresh_id(self) -> str:
        return f"{id(self)}-{next(self._ids)}"


async def close(run: Run) -> None:
    await run.terminal.close_table(run.fresh_id())


def steps(count: int) -> Callable[[Run], Awaitable[None]]:
    async def do(run: Run) -> None:
        for _ in range(count):
            await run.terminal.command(SHOOTER, run.fresh_id())

    return do


def types(events: list[Event]) -> list[str]:
    return [event.type for event in events]


def assert_signs_the_one_before(events: list[Event], seq: int) -> None:
    before, checkpoint = events[seq - 2], events[seq - 1]
    assert checkpoint.type == "checkpoint"
    assert checkpoint.data == sign(KEY, "craps-1", before.seq, before.hash).data()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


def test_closing_and_stop_are_signed(path: Path) -> None:
    events = Run(path).play(close)
    start, closing = ["started", "power_up", "table_opened"], ["table_closed", "checkpoint"]
    assert types(events) == [*start, *closing, "self_test", "stopped", "checkpoint"]
    assert_signs_the_one_before(events, 5)
    assert_signs_the_one_before(events, 8)


def test_what_is_signed_and_its_checkpoint_are_one_commit(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commits: list[list[str]] = []
    append = Journal.append

    def noted_append(self: Journal, entries: Any, stamp: Any) -> list[Event]:
        commits.append([kind for kind, _ in entries])
        return append(self, entries, stamp)

    monkeypatch.setattr(Journal, "append", noted_append)
    Run(path).play(close)
    assert commits == [
        ["started", "power_up", "table_opened"],
        ["table_closed", "checkpoint"],
        ["self_test"],
        ["stopped", "checkpoint"],
    ]


def test_a_long_session_is_signed_every_thousand_events_over_restarts_too(path: Path) -> None:
    first = Run(path).play(steps(3))
    assert types(first)[-3:] == ["shooter", "stopped", "checkpoint"]
    # Start, power-up, opening, three shooters and the self-test, stop, checkpoint.
    assert len(first) == 9
    # Killed after a start and 990 steps, so neither a stop nor a checkpoint.
    with Journal.open(path, "craps-1") as journal:
        session = Session()
        for event in journal.events():
            session.replay(event.seq, event.type, event.data)
        entries = session.start("1.0", {"site": "casino-1"}, key=KEY.public, configuration_hash=HASH)
        for _ in range(990):
            entries += session.command(SHOOTER, Origin("console"))
        journal.append(entries, STAMP)
    second = Run(path).play(steps(1010))
    # 1000 events after checkpoint 9 comes event 1009, which 1010 signs; 1000 events later event 2010, which 2011 signs.
    assert [event.seq for event in second if event.type == "checkpoint"] == [1010, 2011, second[-1].seq]
    events = events_in(path)
    assert_signs_the_one_before(events, 1010)
    assert_signs_the_one_before(events, 2011)
    with JournalReader(path) as reader:
        assert verify(reader, lambda *_: None).is_good


def test_the_terminal_is_the_same_after_a_replay_of_checkpoints(path: Path) -> None:
    run = Run(path)
    run.play(steps(3))
    told = run.terminal.state
    again = Session()
    for event in events_in(path):
        again.replay(event.seq, event.type, event.data)
    assert (again.checkpoint_seq, again.seq, again.key, again.version) == (9, 9, KEY.public, "1.0")
    assert told["table"]["rules"] == "us-vegas"


# Starts


def start_of(events: list[Event]) -> dict[str, Any]:
    [event] = [event for event in events if event.type == "started"]
    return event.data


def test_a_start_names_key_and_configuration(path: Path) -> None:
    data = start_of(Run(path).play())
    assert data["key"] == KEY.public
    assert data["configuration_hash"] == configuration_hash(SETTINGS)
    assert {"key_changed", "downgrade"} & data.keys() == set()
    assert {"key_changed", "downgrade"} & start_of(Run(path).play()).keys() == set()


def test_another_key_is_marked_and_stands_as_an_alert_until_it_is_acknowledged(path: Path) -> None:
    Run(path).play()
    run = Run(path, OTHER_KEY)
    events = run.play()
    assert types(events)[:2] == ["started", "alert_raised"]
    assert start_of(events)["key_changed"] is True
    raised = events[1].data
    assert (raised["alert"], raised["latched"]) == ("table_key_changed", True)
    assert raised["detail"] == {"key": OTHER_KEY.public, "former_key": KEY.public}
    again = Run(path, OTHER_KEY)
    assert "key_changed" not in start_of(again.play())
    [alert] = [alert for alert in again.terminal.state["alerts"] if alert["id"] == "table_key_changed"]
    assert alert["can_acknowledge"]


@pytest.mark.parametrize(
    ("former", "version", "marked"),
    [
        ("1.10.0", "1.9.0", True),
        ("1.9.0", "1.10.0", False),
        ("1.0", "1.0", False),
        ("1.0", "1.0rc1", True),
        ("1.0rc1", "1.0", False),
        ("0.2.0.dev1", "0.1.0", True),
        ("bench", "0.1.0", False),
        ("1.0", "bench", False),
    ],
)
def test_an_older_version_than_before_is_marked(path: Path, former: str, version: str, marked: bool) -> None:
    Run(path, version=former).play()
    data = start_of(Run(path, version=version).play())
    assert data.get("downgrade") is (True if marked else None)


def test_after_a_downgrade_the_same_version_again_is_none(path: Path) -> None:
    for version in ("2.0", "1.0"):
        Run(path, version=version).play()
    assert "downgrade" not in start_of(Run(path, version="1.0").play())


# The configuration's hash

OTHER_SETTINGS = {
    "site": replace(SETTINGS, site="casino-2"),
    "table": replace(SETTINGS, table="craps-2"),
    "rules": replace(SETTINGS, terms=replace(TERMS, rule_set=rule_sets.load("es-1979"))),
    "limit": replace(SETTINGS, terms=replace(TERMS, maximum=1001)),
    "port": replace(SETTINGS, port=8081),
    "pin library": replace(SETTINGS, pin_library="lgpio"),
    "node": replace(SETTINGS, node_port="usb:1"),
    "pin": replace(SETTINGS, wiring=Wiring({"lid": Pin("header", 3)})),
    "other pin": replace(SETTINGS, wiring=Wiring({"lid": Pin("header", 4)})),
    "timing": replace(SETTINGS, wiring=Wiring(timing=Timing(lid_settle_ms=71))),
    "alerts": replace(SETTINGS, grace=replace(SETTINGS.grace, puck_ms=4001)),
    "dice": replace(SETTINGS, dice_rules=dice_rules.load("es-1979")),
    "hosts": replace(SETTINGS, hosts=("127.0.0.1",)),
    "uplink": replace(SETTINGS, uplink=UplinkSettings(["nats://hub:4222"])),
    "other uplink": replace(SETTINGS, uplink=UplinkSettings(["nats://hub:4223"])),
    "stream": replace(SETTINGS, uplink=UplinkSettings(["nats://hub:4222"], "OTHER")),
    "virtual": replace(SETTINGS, virtual_folder=Path("data/virtual")),
}


def test_every_change_of_the_configuration_has_another_hash() -> None:
    hashes = {configuration_hash(settings) for settings in [SETTINGS, *OTHER_SETTINGS.values()]}
    assert len(hashes) == 1 + len(OTHER_SETTINGS)
    assert all(re.fullmatch("[0-9a-f]{64}", text) for text in hashes)


def test_the_hash_is_the_same_however_often_and_whatever_the_order_of_the_pins() -> None:
    pins = {"lid": Pin("header", 3), "on": Pin("header", 4)}
    one, other = Wiring(pins), Wiring(dict(reversed(pins.items())))
    assert configuration_hash(replace(SETTINGS, wiring=one)) == configuration_hash(replace(SETTINGS, wiring=other))


@pytest.mark.parametrize("name", dice_rules.NAMES)
def test_every_rule_of_dice_can_be_hashed(name: str) -> None:
    configuration_hash(replace(SETTINGS, dice_rules=dice_rules.load(name)))


def test_a_password_is_no_part_of_the_hash_and_the_address_is() -> None:
    hashes = {
        configuration_hash(replace(SETTINGS, uplink=UplinkSettings([f"tls://{who}hub:4222"])))
        for who in ("", "table:secret@", "token@", "table:p%40ss@")
    }
    assert hashes == {configuration_hash(replace(SETTINGS, uplink=UplinkSettings(["tls://hub:4222"])))}


def test_a_virtual_tables_own_surroundings_are_no_part_of_the_hash() -> None:
    virtual = replace(SETTINGS, virtual_folder=Path("/data/one/virtual"))
    elsewhere = replace(
        SETTINGS,
        virtual_folder=Path("/data/two/virtual"),
        node_port="/data/two/virtual/node",
        uplink=UplinkSettings(["nats://127.0.0.1:40000"]),
    )
    assert configuration_hash(virtual) == configuration_hash(elsewhere)
