"""What the archive makes of messages, in SQLite and in PostgreSQL alike: rows, alarms, and how they are resolved."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from device.checkpoint import sign
from device.event import GENESIS_HASH, Event, Stamp, seal
from device.session import Session
from provisioning.central import archive_schema as schema
from provisioning.central.archive_alarms import NotInAlarm, read_status, resolve
from provisioning.central.archive_check import KnownKeys
from provisioning.central.archive_database import ArchiveDatabaseError, ArchiveHeld, held_for_writing, opened
from provisioning.central.archive_message import LogMessage
from provisioning.central.archive_writer import Archive, Taken
from tests.archive_rig import (
    CONSOLE,
    KEY,
    OTHER_KEY,
    SITE,
    ArchiveDatabase,
    History,
    Postgresql,
    new_database,
    postgresql,
)

HEARD = "2026-11-30T01:02:03.004Z"


@pytest.fixture(scope="module")
def server() -> Iterator[Postgresql]:
    with postgresql() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path, server: Postgresql) -> ArchiveDatabase:
    return new_database(tmp_path, server if request.param == "postgresql" else None)


class Hand:
    """Gives an archive messages, as the reader would."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.sequence = 0

    def give(self, history: History | str, *payloads: bytes, in_order: bool = False) -> Taken:
        """The messages, one after the other; what became of the last."""
        taken = Taken.HERE
        for payload in payloads:
            self.sequence += 1
            named = history if isinstance(history, str) else f"craps.{history.site}.{history.table}.journal"
            message = LogMessage(self.sequence, named, payload, HEARD)
            taken = self.archive.take(message, in_order=in_order)
        return taken


@contextmanager
def hand(database: ArchiveDatabase, keys: KnownKeys | None = None) -> Iterator[Hand]:
    database.at_rest()
    with held_for_writing(database.engine()) as connection:
        yield Hand(Archive(connection, keys))


def picked(rows: list[dict[str, Any]], *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in rows]


# What an analyst finds


def a_short_game(table: str = "craps-1") -> History:
    """Event 1 starts, 2 opens, and so on as the comments say; played under us-vegas."""
    history = History(table)
    history.open()
    history.do({"bet": {"player": "1", "kind": "pass_line", "amount": 10}})  # 3
    history.do({"roll": [2, 2]})  # 4: the point is 4
    history.do({"bet": {"player": "2", "kind": "place", "amount": 12, "number": 6}})  # 5
    history.do({"bet": {"player": "2", "kind": "field", "amount": 10}})  # 6
    history.do({"roll": [3, 3]})  # 7: wins 14 on the 6, loses the field; but it was
    history.do({"correct": [5, 6]})  # 8: 11, which wins the field
    history.do({"take_down": {"player": "2", "kind": "place", "number": 6}})  # 9
    history.do({"shooter": "1"})  # 10
    history.do({"roll": [4, 3]})  # 11: seven-out
    history.add(history.session.close_table(CONSOLE))  # 12, and its checkpoint 13
    return history


def test_a_game_is_found_as_rolls_and_settlements(database: ArchiveDatabase) -> None:
    history = a_short_game()
    with hand(database) as given:
        assert given.give(history, *history.payloads()) is Taken.HERE
    rolls = database.rows(schema.rolls)
    names = ("seq", "session", "number", "die_1", "die_2", "total", "point_before", "point", "shooter")
    assert picked(rolls, *names, "corrects", "corrected_by", "via") == [
        (4, 1, 1, 2, 2, 4, None, 4, None, None, None, "console"),
        (7, 1, 2, 3, 3, 6, 4, 4, None, None, 8, "console"),
        (8, 1, 2, 5, 6, 11, 4, 4, None, 7, None, "console"),
        (11, 1, 3, 4, 3, 7, 4, None, "1", None, None, "console"),
    ]
    found = picked(
        database.rows(schema.settlements),
        *("seq", "cause", "roll_number", "player", "kind", "number", "result", "amount", "paid", "returned"),
        "corrected_by",
    )
    assert sorted(found, key=str) == sorted(
        [
            (7, "roll", 2, "2", "place", 6, "win", 12, 14, 0, 8),
            (7, "roll", 2, "2", "field", None, "lose", 10, 0, 0, 8),
            (8, "correct", 2, "2", "field", None, "win", 10, 10, 10, None),
            (9, "take_down", None, "2", "place", 6, "return", 12, 0, 12, None),
            (11, "roll", 3, "1", "pass_line", 4, "lose", 10, 0, 0, None),
        ],
        key=str,
    )
    opened_at, closed_at = "2026-11-29T00:00:02.250Z", "2026-11-29T00:00:12.250Z"
    assert database.rows(schema.sessions) == [
        {
            "site": SITE, "table_name": "craps-1", "session": 1, "opened_seq": 2, "opened_wall": opened_at,
            "closed_seq": 12, "closed_wall": closed_at, "rules": "us-vegas", "unit": 1, "minimum": 5, "maximum": 5000,
        }
    ]  # fmt: skip
    with database.engine().connect() as connection:
        totals = connection.execute(text("SELECT * FROM session_totals")).one()
        assert tuple(totals) == (SITE, "craps-1", 1, 10, 10, 0, 0, 0)
        assert connection.execute(text("SELECT seq FROM rolls_in_force ORDER BY seq")).scalars().all() == [4, 8, 11]
        assert connection.execute(text("SELECT COUNT(*) FROM settlements_in_force")).scalar_one() == 3


def test_every_result_that_the_rules_know_is_found(database: ArchiveDatabase) -> None:
    history = History()
    history.open()
    history.do({"bet": {"player": "1", "kind": "dont_pass", "amount": 10}})  # 3
    history.do({"bet": {"player": "2", "kind": "pass_line", "amount": 10}})  # 4
    history.do({"roll": [6, 6]})  # 5: nobody wins the don't pass on the barred twelve
    history.do({"bet": {"player": "2", "kind": "pass_line", "amount": 10}})  # 6
    history.do({"roll": [2, 2]})  # 7: the point is 4
    history.do({"bet": {"player": "2", "kind": "come", "amount": 10}})  # 8
    history.do({"roll": [2, 3]})  # 9: the come bet travels to 5
    history.do({"roll": [1, 3]})  # 10: the point is made
    with hand(database) as given:
        assert given.give(history, *history.payloads()) is Taken.HERE
    names = ("seq", "kind", "result", "amount", "paid", "returned", "moved_to")
    assert sorted(picked(database.rows(schema.settlements), *names), key=str) == sorted(
        [
            (5, "dont_pass", "push", 10, 0, 10, None),
            (5, "pass_line", "lose", 10, 0, 0, None),
            (9, "come", "move", 10, 0, 0, 5),
            (10, "pass_line", "win", 10, 10, 10, None),
        ],
        key=str,
    )


def test_every_event_is_found_as_it_was_sealed(database: ArchiveDatabase) -> None:
    history = a_short_game()
    with hand(database) as given:
        given.give(history, *history.payloads(1))
    rows = database.rows(schema.events)
    rebuilt = [
        Event(
            1, row["table_name"], row["seq"], row["boot"], row["mono_ns"], row["wall"], row["clock"], row["type"],
            row["data"], row["prev"], row["hash"],
        ).line()
        for row in rows
    ]  # fmt: skip
    assert rebuilt == [event.line() for event in history.events]
    (table,) = database.rows(schema.tables)
    assert (table["last_seq"], table["signed_seq"], table["is_open"], table["key"]) == (13, 12, False, KEY.public)
    assert (table["heard_at"], table["alarm"], table["last_sequence"]) == (HEARD, None, 13)


def test_dice_are_found_where_they_went(database: ArchiveDatabase) -> None:
    history = History()
    history.open()
    people = {"done_by": "Ana", "seen_by": "Luis"}
    history.dice("receive", set="Red", dice=5, maker="Bold", colour="red", **people)  # 3
    history.dice("place", set="Red", **people)  # 4, and what it breaks raises an alert
    with hand(database) as given:
        given.give(history, *history.payloads())
    rows = database.rows(schema.dice_movements)
    names = ("seq", "action", "dice_set", "die", "from_place", "to_place", "done_by", "seen_by", "session")
    assert picked(rows, *names) == [
        *((3, "receive", "Red", str(die), None, "store", "Ana", "Luis", 1) for die in range(1, 6)),
        *((4, "place", "Red", str(die), "store", "reserve", "Ana", "Luis", 1) for die in range(1, 6)),
    ]


def test_alerts_are_found_from_raising_to_their_end(database: ArchiveDatabase) -> None:
    history = History()
    session = history.session
    history.add(session.raise_alert("puck_differs", "one", {"n": 1}))  # 2
    history.add(session.raise_alert("puck_differs", "two", {"n": 2}))  # 3: in the place of 2
    history.add(session.acknowledge_alert("puck_differs", 3, "Eva", CONSOLE))  # 4: it stands on
    history.add(session.clear_alert("puck_differs"))  # 5
    history.add(session.raise_alert("clock_stepped:9", "three", {}, latched=True))  # 6
    history.add(session.acknowledge_alert("clock_stepped:9", 6, "Eva", CONSOLE))  # 7: it ends
    history.add(session.raise_alert("puck_differs", "four", {}))  # 8: stands
    with hand(database) as given:
        given.give(history, *history.payloads(3))
    names = ("seq", "kind", "text", "detail", "latched", "acknowledged_seq", "acknowledged_by", "ended_seq", "ended_by")
    assert picked(database.rows(schema.alerts), *names) == [
        (2, "puck_differs", "one", {"n": 1}, False, None, None, 3, "alert_raised"),
        (3, "puck_differs", "two", {"n": 2}, False, 4, "Eva", 5, "alert_cleared"),
        (6, "clock_stepped", "three", {}, True, 7, "Eva", 7, "alert_acknowledged"),
        (8, "puck_differs", "four", {}, False, None, None, None, None),
    ]


def expected_rolls_and_settlements(history: History) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """From all events at once: what was on the layout is looked up in a session that replays them."""
    replay, chains, rolls, results = Session(), {}, [], []  # type: ignore[var-annotated]
    before: dict[Any, int] = {}
    for event in history.events:
        now = (
            {(bet["player"], bet["kind"], bet["number"]): bet["amount"] for bet in replay.table.bets()}
            if replay.table
            else {}
        )
        if event.type == "roll":
            before = now
        replay.replay(event.seq, event.type, event.data)
        if event.type in ("roll", "correct"):
            chains.setdefault(event.data.get("corrects", event.seq), []).append(event.seq)
            rolls.append((event.seq, *event.data["step"][event.type], replay.session_number))
        for position, result in enumerate(event.data.get("results", [])):
            stake = before.get((result["player"], result["kind"], result.get("number")))
            amount = result["returned"] if result["result"] == "return" else stake
            results.append((event.seq, position, result["kind"], result["result"], amount, result.get("paid", 0)))
    superseded = {wrong: by for chain in chains.values() for wrong, by in pairwise(chain)}
    return (
        [(*roll, superseded.get(roll[0])) for roll in rolls],
        [(*result, superseded.get(result[0])) for result in results],
    )


@pytest.mark.parametrize("seed", [1, 2])
def test_the_rows_follow_from_the_events_however_these_come(database: ArchiveDatabase, seed: int) -> None:
    chance = random.Random(seed)
    histories = [History(table=f"craps-{number}").play(chance, 250) for number in (1, 2)]
    waiting = [(history, 1) for history in histories]
    with held_for_writing(database.engine()) as connection:
        given = Hand(Archive(connection, None))
        while waiting:
            history, first = waiting.pop(chance.randrange(len(waiting)))
            # Some of what came already comes again; and the archive is sometimes started anew.
            last = first + chance.choice((0, 1, 7, 40))
            again = max(1, first - chance.choice((0, 0, 3, 30)))
            assert given.give(history, history.payload(again, last)) is Taken.HERE
            if chance.random() < 0.2:
                given.archive = Archive(connection, None)
            if last < len(history.events):
                waiting.append((history, last + 1))
    for history in histories:
        rolls, results = expected_rolls_and_settlements(history)
        mine = [row for row in database.rows(schema.rolls) if row["table_name"] == history.table]
        assert picked(mine, "seq", "die_1", "die_2", "session", "corrected_by") == rolls
        mine = [row for row in database.rows(schema.settlements) if row["table_name"] == history.table]
        names = ("seq", "position", "kind", "result", "amount", "paid", "corrected_by")
        assert picked(mine, *names) == results
        mine = [row for row in database.rows(schema.alerts) if row["table_name"] == history.table]
        assert {row["seq"] for row in mine if row["ended_seq"] is None} == {
            standing["seq"] for standing in history.session.alerts.values()
        }
        assert any(row[-1] is not None for row in results), "no result was corrected: the test shows nothing"


# What is not taken


def noted(number: int, prev: str, table: str = "craps-1", **data: Any) -> Event:
    """An event that no session wrote."""
    stamp = Stamp("boot-1", 5, "2026-11-29T22:10:56.123Z", "synced")
    return seal(table, number, stamp, "noted", data, prev)


def another(history: History, seq: int, prev: str) -> bytes:
    return noted(seq, prev, history.table).line().encode()


def other_table(prev: str) -> bytes:
    return noted(3, prev, "craps-9").line().encode()


def with_line_changed(history: History, old: str, new: str) -> bytes:
    return history.payload(3, 4).replace(old.encode(), new.encode())


def _bad_signature(history: History) -> bytes:
    data = sign(OTHER_KEY, history.table, 3, history.events[2].hash).data() | {"key": KEY.public}
    stamp = Stamp("boot-1", 5, "2026-11-29T22:10:56.123Z", "synced")
    return (
        history.payload(3, 3)
        + b"\n"
        + seal(history.table, 4, stamp, "checkpoint", data, history.events[2].hash).line().encode()
    )


def _bad_shape(history: History) -> bytes:
    stamp = Stamp("boot-1", 5, "2026-11-29T22:10:56.123Z", "synced")
    return seal(history.table, 3, stamp, "roll", {"step": {"roll": [0, 7]}}, history.events[1].hash).line().encode()


BAD: dict[str, tuple[str, int, str, Callable[[History], bytes]]] = {
    "gap": ("gap", 3, "events 3 to 3 are missing", lambda history: history.payload(4, 5)),
    "gap within": ("gap", 4, "events 4 to 4", lambda history: history.payload(3, 3) + b"\n" + history.payload(5, 5)),
    "other-event": ("fork", 2, "two histories", lambda history: another(history, 2, history.events[0].hash)),
    "other-chain": ("fork", 3, "two histories", lambda history: another(history, 3, "a" * 64)),
    "signature": ("signature", 4, "the signature is not one of", _bad_signature),
    "hash": ("malformed", 3, "hash is", lambda history: with_line_changed(history, '"amount":10', '"amount":11')),
    "no JSON": ("malformed", 3, "not JSON", lambda _: b"hello"),
    "empty": ("malformed", 3, "not JSON", lambda _: b""),
    "no text": ("malformed", 3, "no UTF-8", lambda _: b"\xff\xfe"),
    "shape": ("malformed", 3, "data.step", _bad_shape),
    "version": ("version", 3, "version 2 is unknown", lambda history: with_line_changed(history, '"v":1', '"v":2')),
    "table": ("foreign", 3, "is of table 'craps-9'", lambda history: other_table(history.events[1].hash)),
    "bytes": ("oversized", 3, "524289 bytes", lambda _: b"x" * (512 * 1024 + 1)),
    "events": ("oversized", 3, "more than 256 events", lambda history: b"\n".join([history.payload(3, 3)] * 257)),
}  # fmt: skip


def test_what_is_bad_puts_its_table_in_alarm_and_no_other(database: ArchiveDatabase) -> None:
    good = History(table="good").play(random.Random(5), 60)
    with hand(database) as given:
        for number, name in enumerate(BAD):
            history = a_short_game(name.replace(" ", "-"))
            given.give(history, history.payload(1, 2))
            assert given.give(history, BAD[name][3](history), in_order=True) is Taken.ALARM, name
            assert given.give(history, *history.payloads(1, first=3)) is Taken.WAITS
            assert given.give(good, good.payload(number * 3 + 1, number * 3 + 3)) is Taken.HERE
    alarms = {row["table_name"]: row for row in database.rows(schema.alarms)}
    tables = {row["table_name"]: row for row in database.rows(schema.tables)}
    for name, (kind, seq, reason, _) in BAD.items():
        alarm, table = alarms[name.replace(" ", "-")], tables[name.replace(" ", "-")]
        assert (alarm["kind"], alarm["seq"], alarm["resolved_at"]) == (kind, seq, None), name
        assert reason in alarm["reason"]
        # What was good before, in the same message as well, is here.
        assert (table["last_seq"], table["waiting_messages"]) == (max(seq - 1, 2), 11), name
    assert (tables["good"]["last_seq"], tables["good"]["alarm"]) == (len(BAD) * 3, None)


def test_only_listed_tables_come_in_each_under_its_key(database: ArchiveDatabase) -> None:
    keys = {(SITE, "craps-1"): (KEY.public,), (SITE, "craps-2"): (KEY.public,)}
    with hand(database, keys) as given:
        good, other, unlisted = History(), History(table="craps-2", key=OTHER_KEY), History(table="craps-3")
        assert given.give(good, good.payload(1, 1)) is Taken.HERE
        assert given.give(other, other.payload(1, 1)) is Taken.ALARM
        assert given.give(unlisted, unlisted.payload(1, 1)) is Taken.ALARM
        abroad = History(table="craps-1", site="casino-2")
        assert given.give(f"craps.{SITE}.craps-4.journal", abroad.payload(1, 1)) is Taken.ALARM
        assert given.give("craps.a b.c.journal", good.payload(1, 1)) is Taken.ALARM
    found = picked(database.rows(schema.alarms), "site", "table_name", "kind")
    assert found[:3] == [(SITE, "craps-2", "key"), (SITE, "craps-3", "key"), (SITE, "craps-4", "foreign")]
    assert found[3] == ("a b", "c", "foreign")


@pytest.mark.parametrize(
    ("listed", "raises_at", "why"),
    [
        ((KEY.public, OTHER_KEY.public), None, ""),
        ((OTHER_KEY.public,), 1, f"names the key '{KEY.public}', which is not listed as the table's"),
        ((KEY.public,), 5, f"names the key '{OTHER_KEY.public}', which is not listed as the table's"),
        ((OTHER_KEY.public, KEY.public), 5, f"of a former unit, which {KEY.public} has replaced"),
        (None, 5, f"changes the key from {KEY.public} to '{OTHER_KEY.public}', which only a list of tables"),
    ],
)
def test_a_new_unit_goes_on_only_where_the_list_has_its_key_behind_the_former_ones(
    tmp_path: Path, listed: tuple[str, ...] | None, raises_at: int | None, why: str
) -> None:
    history = History()
    history.add(history.session.stop())  # 2, and its checkpoint 3
    history.add(history.session.start("1.0.0", {"site": SITE}, key=KEY.public, configuration_hash="0" * 64))  # 4
    assert history.adopt(OTHER_KEY) == 5
    history.checkpoint()
    database = ArchiveDatabase(tmp_path, None, "")
    with hand(database, {(SITE, "craps-1"): listed} if listed is not None else None) as given:
        for payload in history.payloads(1):
            given.give(history, payload)
    (table,) = database.rows(schema.tables)
    found = picked(database.rows(schema.alarms), "kind", "seq", "reason")
    if raises_at is None:
        assert (table["key"], table["last_seq"], found) == (OTHER_KEY.public, len(history.events), [])
    else:
        assert table["last_seq"] == raises_at - 1
        assert found[0][:2] == ("key", raises_at) and why in found[0][2]


def test_a_hole_is_not_believed_before_the_table_was_read_alone(database: ArchiveDatabase) -> None:
    history = a_short_game()
    with hand(database) as given:
        given.give(history, history.payload(1, 2))
        assert given.give(history, history.payload(5, 6)) is Taken.WAITS
        assert given.archive.to_reread() == [(SITE, "craps-1")]
        # What comes meanwhile waits as well, or it would be taken twice.
        assert given.give(history, history.payload(7, 7)) is Taken.WAITS
        assert given.give(history, history.payload(3, 4), history.payload(5, 7), in_order=True) is Taken.HERE
        given.archive.reread_done((SITE, "craps-1"))
        assert given.archive.to_reread() == []
        assert given.give(history, history.payload(8, 8)) is Taken.HERE
    assert database.rows(schema.alarms) == []
    assert [row["seq"] for row in database.rows(schema.events)] == list(range(1, 9))


def test_what_comes_together_is_taken_as_if_it_came_alone(database: ArchiveDatabase) -> None:
    chance = random.Random(9)
    histories = [History(table=f"craps-{number}").play(chance, 150) for number in range(4)]
    messages = [
        LogMessage(0, f"craps.{SITE}.{history.table}.journal", payload, HEARD)
        for payloads in zip(*(history.payloads(7)[:9] for history in histories), strict=True)
        for history, payload in zip(histories, payloads, strict=True)
    ]
    # One table's fifth message is none: it is in alarm, what was good is kept, and the rest waits.
    messages[4 * 4 + 1] = replace(messages[4 * 4 + 1], payload=b"hello")
    messages = [replace(message, sequence=number) for number, message in enumerate(messages, start=1)]
    with hand(database) as given:
        taken = [what for at in range(0, 36, 10) for what in given.archive.take_next(messages[at : at + 10])]
        assert given.archive.position == 36
    with hand(database) as again:
        assert (again.archive.position, again.archive.position_hash) == (36, messages[-1].hash)
    assert [number for number, what in enumerate(taken) if what is not Taken.HERE] == [17, 21, 25, 29, 33]
    assert (taken[17], taken[21]) == (Taken.ALARM, Taken.WAITS)
    assert {row["table_name"]: row["last_seq"] for row in database.rows(schema.tables)} == {
        "craps-0": 63, "craps-1": 28, "craps-2": 63, "craps-3": 63
    }  # fmt: skip
    assert database.count(schema.events) == 63 * 3 + 28


# Resolving


def test_a_resolved_table_is_read_again_from_its_last_good_event(database: ArchiveDatabase) -> None:
    history = a_short_game()
    with hand(database) as given:
        given.give(history, history.payload(1, 2), b"hello")
        with opened(database.engine()) as connection:
            resolve(connection, SITE, "craps-1", name="Eva", reason="the log was brought back", leave_out=False)
            with pytest.raises(NotInAlarm, match="no alarm of table casino-1/craps-1 stands"):
                resolve(connection, SITE, "craps-1", name="Eva", reason="again", leave_out=False)
        assert given.archive.to_reread() == [(SITE, "craps-1")]
        assert given.give(history, *history.payloads(first=3), in_order=True) is Taken.HERE
        given.archive.reread_done((SITE, "craps-1"))
    (alarm,) = database.rows(schema.alarms)
    assert (alarm["resolved_by"], alarm["resolution"]) == ("Eva", "the log was brought back")
    assert alarm["left_out"] is False and alarm["resolved_at"] is not None
    (table,) = database.rows(schema.tables)
    assert (table["last_seq"], table["alarm"], table["waiting_messages"]) == (13, None, 0)


def test_a_message_that_is_left_out_stays_out_and_only_that_one(database: ArchiveDatabase) -> None:
    history = a_short_game()
    with hand(database) as given, opened(database.engine()) as connection:
        given.give(history, history.payload(1, 2), b"hello")
        resolve(connection, SITE, "craps-1", name="Eva", reason="somebody tried something", leave_out=True)
        assert given.give(history, b"hello", history.payload(3, 5), in_order=True) is Taken.HERE
        assert given.give(history, b"hallo", in_order=True) is Taken.ALARM
        (status,) = read_status(connection)
        assert status.left_out == 1 and status.alarm is not None and status.alarm.seq == 6


def test_missing_events_that_are_left_out_are_known_to_be_missing(database: ArchiveDatabase) -> None:
    history = History().play(random.Random(7), 40)
    history.add(history.session.stop())
    with hand(database) as given, opened(database.engine()) as connection:
        given.give(history, history.payload(1, 5))
        assert given.give(history, history.payload(9, 12), in_order=True) is Taken.ALARM
        resolve(connection, SITE, "craps-1", name="Eva", reason="lost with the disk", leave_out=True)
        assert given.give(history, *history.payloads(first=9), in_order=True) is Taken.HERE
        # Too late: they stay out.
        assert given.give(history, history.payload(6, 8), in_order=True) is Taken.HERE
    seqs = [row["seq"] for row in database.rows(schema.events)]
    assert seqs == [*range(1, 6), *range(9, len(history.events) + 1)]
    (alarm,) = database.rows(schema.alarms)
    assert (alarm["kind"], alarm["seq"], alarm["found_seq"], alarm["left_out"]) == ("gap", 6, 9, True)
    assert database.rows(schema.tables)[0]["signed_seq"] == len(history.events) - 1


def test_a_stake_is_unknown_where_the_rules_led_elsewhere_at_the_table(database: ArchiveDatabase) -> None:
    history = a_short_game()
    lied, last_hash = [], GENESIS_HASH
    for event in history.events[:11]:
        data = event.data
        if event.seq == 11:
            data = data | {"results": [result | {"kind": "dont_pass"} for result in data["results"]]}
        stamp = Stamp(event.boot, event.mono_ns, event.wall, event.clock)
        lied.append(seal(event.table, event.seq, stamp, event.type, data, last_hash))
        last_hash = lied[-1].hash
    with hand(database) as given:
        assert given.give(history, "\n".join(event.line() for event in lied).encode()) is Taken.HERE
    assert database.rows(schema.settlements)[-1]["amount"] is None


# The database itself


def test_the_migrations_make_the_schema_of_the_program(database: ArchiveDatabase) -> None:
    with held_for_writing(database.engine()) as connection, connection.begin():
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, schema.metadata) == []
        if database.server is not None:
            comment = text(
                "SELECT col_description(attrelid, attnum) FROM pg_attribute"
                " WHERE attrelid = 'settlements'::regclass AND attname = 'paid'"
            )
            assert connection.execute(comment).scalar_one() == "won, without the stake"


def test_one_archive_at_a_time(database: ArchiveDatabase) -> None:
    with hand(database), pytest.raises(ArchiveHeld), held_for_writing(database.engine()):
        pass
    with hand(database):
        pass


def test_a_newer_schema_is_refused(database: ArchiveDatabase) -> None:
    with hand(database):
        pass
    with database.engine().connect() as connection, connection.begin():
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    for use in (held_for_writing, opened):
        database.at_rest()
        with (
            pytest.raises(ArchiveDatabaseError, match=r"schema 9999.*a newer one has written it"),
            use(database.engine()),
        ):
            pass


def test_nothing_is_made_by_looking(database: ArchiveDatabase) -> None:
    with pytest.raises(ArchiveDatabaseError, match="boxman central archive"), opened(database.engine()):
        pass
    assert not database.path.exists()


def test_a_message_that_cannot_be_committed_leaves_nothing(database: ArchiveDatabase) -> None:
    history = a_short_game()
    with hand(database) as given:
        given.give(history, history.payload(1, 3))
        with database.engine().connect() as connection, connection.begin():
            connection.execute(text("ALTER TABLE settlements RENAME TO away"))
        before = database.rows(schema.events), database.rows(schema.tables), given.archive.position
        with pytest.raises(DBAPIError):
            given.give(history, *history.payloads(first=4))
        assert (database.rows(schema.events), database.rows(schema.tables), given.archive.position) == before
        with database.engine().connect() as connection, connection.begin():
            connection.execute(text("ALTER TABLE away RENAME TO settlements"))
        assert given.give(history, *history.payloads(first=4)) is Taken.HERE
    assert len(database.rows(schema.settlements)) == 5
