"""What the pit's page reads of a table from the archive's database, SQLite and PostgreSQL, without holding it up."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy.exc import DBAPIError

from provisioning.central.archive_configuration import ArchiveConfiguration, archive_configuration
from provisioning.central.archive_database import held_for_writing, opened
from provisioning.central.archive_message import LogMessage
from provisioning.central.archive_writer import Archive
from provisioning.central.pit_database import Game, Look, Standing, look, reading_engine
from tests.archive_rig import CONSOLE, ArchiveDatabase, History, Postgresql, postgresql
from tests.supervised_history import change_limits, correct_roll

NAMES = ("casino-1", "craps-1")


@pytest.fixture(scope="module")
def server() -> Iterator[Postgresql]:
    with postgresql() as running:
        yield running


@pytest.fixture
def database(request: pytest.FixtureRequest, tmp_path: Path) -> ArchiveDatabase:
    """In SQLite, and where a test asks for it also in PostgreSQL."""
    if getattr(request, "param", "sqlite") == "sqlite":
        return ArchiveDatabase(tmp_path, None, "")
    server: Postgresql = request.getfixturevalue("server")
    server.run(f"CREATE DATABASE {request.node.originalname}")
    return ArchiveDatabase(tmp_path, server, request.node.originalname)


both = pytest.mark.parametrize("database", ["sqlite", "postgresql"], indirect=True)


def configured(database: ArchiveDatabase) -> ArchiveConfiguration:
    archive: dict[str, str] = {"sqlite": "archive.db"}
    if database.server is not None:
        secret = database.folder / "archive.dsn"
        secret.touch(0o600)
        secret.write_text(database.server.conninfo(database.name), encoding="utf-8")
        archive = {"postgresql": "archive.dsn"}
    return archive_configuration({"central": {"servers": ["nats://127.0.0.1"]}, "archive": archive}, database.folder)


def archived(database: ArchiveDatabase, *histories: History, first: int = 1) -> None:
    with held_for_writing(database.engine()) as connection:
        archive = Archive(connection, None)
        for history in histories:
            for payload in history.payloads(1, first):
                subject = f"craps.{history.site}.{history.table}.journal"
                message = LogMessage(archive.position + 1, subject, payload, "2026-11-30T07:12:00.250Z")
                archive.take(message, in_order=False)


def in_time() -> bool:
    return False


def seen(database: ArchiveDatabase) -> Look:
    with opened(reading_engine(configured(database))) as connection:
        return look(connection, {}, in_time)


def game(database: ArchiveDatabase) -> Game:
    return seen(database).games[NAMES]


@both
def test_the_game_as_it_stands(database: ArchiveDatabase) -> None:
    history = History()
    history.open(minimum=5, maximum=500)  # 2
    history.do({"bet": {"player": "3", "kind": "pass_line", "amount": 10}})
    history.do({"shooter": "3"})
    history.do({"roll": [2, 2]})
    wrong = history.do({"roll": [3, 6]})
    history.do({"correct": [3, 5]})
    last = len(history.events)
    archived(database, history)
    found = seen(database)
    row = found.rows[NAMES]
    assert (row.last_seq, row.is_open, row.refusal) == (last, True, None)
    assert (row.heard_at, row.heard_sequence, found.position) == ("2026-11-30T07:12:00.250Z", last, last)
    stands = found.games[NAMES]
    assert (stands.point, stands.shooter, stands.roll, stands.roll_number) == (4, "3", (3, 5), 2)
    assert (stands.rules, stands.minimum, stands.maximum) == ("us-vegas", 5, 500)
    # An event a second in these histories; the roll that was corrected counts once, when it was thrown.
    assert (stands.since_ns, stands.last_ns) == (2 * 10**9, last * 10**9)
    assert stands.thrown_ns == (wrong * 10**9, (wrong - 1) * 10**9)

    history.do({"roll": [3, 4]})  # a seven-out
    history.do({"shooter": "5"})
    archived(database, history, first=last + 1)
    stands = game(database)
    assert (stands.point, stands.shooter, stands.roll) == (None, "5", (3, 4))
    assert len(stands.thrown_ns) == 3


def test_a_session_that_was_just_opened_has_nothing_of_the_one_before(database: ArchiveDatabase) -> None:
    history = History()
    history.open()
    history.do({"shooter": "3"})
    history.do({"bet": {"player": "3", "kind": "pass_line", "amount": 10}})
    history.do({"roll": [2, 2]})
    history.do({"roll": [3, 4]})
    history.open()
    archived(database, history)
    stands = game(database)
    assert (stands.point, stands.shooter, stands.roll, stands.thrown_ns) == (None, None, None, ())


def test_the_correction_of_an_earlier_roll_and_changed_limits_count(database: ArchiveDatabase) -> None:
    history = History()
    history.open(minimum=5, maximum=500)
    history.do({"bet": {"player": "3", "kind": "pass_line", "amount": 10}})
    first = history.do({"roll": [2, 2]})
    history.do({"roll": [3, 5]})
    history.do({"shooter": "3"})
    correct_roll(history, 1, (3, 3))  # the point is 6, and it has not been made
    change_limits(history, 10, 1000)
    archived(database, history)
    stands = game(database)
    assert (stands.point, stands.minimum, stands.maximum) == (6, 10, 1000)
    assert (stands.roll, stands.roll_number, stands.shooter) == ((3, 5), 2, "3")
    assert stands.thrown_ns == ((first + 1) * 10**9, first * 10**9)
    last = len(history.events)
    correct_roll(history, 1, (6, 5))  # a natural, so the 8 is the point
    archived(database, history, first=last + 1)
    assert game(database).point == 8


def test_the_sets_that_are_in_play(database: ArchiveDatabase) -> None:
    history = History()
    history.open()
    history.dice("on_duty", boxman="Ana", witness="Luis")
    for name in ("Red", "Blue"):
        history.dice("receive", set=name, dice=5, maker="Bold", colour=name.lower())
        history.dice("place", set=name)
    history.dice("change", set="Red", taken=["1", "2"])
    archived(database, history)
    assert game(database).dice_sets == ("Red",)
    last = len(history.events)
    history.dice("remove", set="Red", to="store", reason="closing")
    history.dice("change", set="Blue", taken=["3", "4"])
    archived(database, history, first=last + 1)
    assert game(database).dice_sets == ("Blue",)


def test_alerts_stand_until_they_end(database: ArchiveDatabase) -> None:
    history = History()
    puck = history.add(history.session.raise_alert("puck_differs", "The puck is on 8.", {}, latched=False))
    clock = history.add(history.session.raise_alert("clock_stepped", "The clock went back.", {}, latched=True))
    archived(database, history)
    puck_stands = Standing("puck_differs", puck, "The puck is on 8.", {}, latched=False, acknowledged_by=None)
    clock_stands = Standing("clock_stepped", clock, "The clock went back.", {}, latched=True, acknowledged_by=None)
    assert game(database).alerts == (puck_stands, clock_stands)
    last = len(history.events)
    for alert, seq in (("puck_differs", puck), ("clock_stepped", clock)):
        history.add(history.session.acknowledge_alert(alert, seq, "Eva", CONSOLE))
    archived(database, history, first=last + 1)
    assert game(database).alerts == (Standing("puck_differs", puck, "The puck is on 8.", {}, False, "Eva"),)


def test_a_history_that_is_refused(database: ArchiveDatabase) -> None:
    history = History()
    history.open()
    archived(database, history)
    with held_for_writing(database.engine()) as connection:
        Archive(connection, None).take(LogMessage(99, "craps.casino-1.craps-1.journal", b"{"), in_order=False)
    refusal = seen(database).rows[NAMES].refusal
    assert refusal is not None
    assert (refusal.kind, refusal.seq) == ("malformed", len(history.events) + 1)
    assert refusal.reason.startswith("line 1 of the message:")


def test_only_the_tables_that_have_changed_are_read_again(database: ArchiveDatabase) -> None:
    one, other = History(), History(table="craps-2")
    archived(database, one, other)
    before = seen(database).rows
    last = len(one.events)
    one.open()
    archived(database, one, first=last + 1)
    with opened(reading_engine(configured(database))) as connection:
        again = look(connection, before, in_time)
        assert set(again.rows) == {NAMES, ("casino-1", "craps-2")}
        assert set(again.games) == {NAMES}
        assert look(connection, again.rows, in_time).games == {}


@both
def test_reading_keeps_nobody_from_writing_and_cannot_write(database: ArchiveDatabase) -> None:
    history = History()
    archived(database, history)
    last = len(history.events)
    history.open()
    with opened(reading_engine(configured(database))) as connection:
        with connection.begin():
            connection.exec_driver_sql("SELECT count(*) FROM events").one()
            # While the reader's transaction is open; SQLite's writer waits ten seconds, and would fail then.
            archived(database, history, first=last + 1)
        with pytest.raises(DBAPIError), connection.begin():
            connection.exec_driver_sql("DELETE FROM events")
    assert seen(database).rows[NAMES].last_seq == len(history.events)


def test_a_file_that_is_no_database_is_no_crash(tmp_path: Path) -> None:
    database = ArchiveDatabase(tmp_path, None, "")
    database.path.write_bytes(b"no database at all" * 100)
    with pytest.raises(DBAPIError) as failed:
        seen(database)
    assert isinstance(failed.value.orig, sqlite3.DatabaseError)


def test_what_there_is_no_time_for_waits_and_nobody_waits_for_ever(database: ArchiveDatabase) -> None:
    histories = [History(table=f"craps-{number}") for number in (1, 2, 3)]
    archived(database, *histories)
    with opened(reading_engine(configured(database))) as connection:
        first = look(connection, {}, lambda: True)
        assert (len(first.rows), len(first.games), first.waiting) == (1, 1, 2)
        # The first has news again and again, and the others come all the same.
        last = len(histories[0].events)
        histories[0].open()
        archived(database, histories[0], first=last + 1)
        second = look(connection, first.rows, lambda: True)
        third = look(connection, second.rows, lambda: True)
        assert {*first.games, *second.games, *third.games} == {(h.site, h.table) for h in histories}
        assert (third.waiting, third.rows[NAMES].last_seq) == (1, last)
        fourth = look(connection, third.rows, lambda: True)
        assert (fourth.waiting, fourth.rows[NAMES].last_seq) == (0, len(histories[0].events))
