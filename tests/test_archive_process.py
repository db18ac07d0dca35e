"""The archive as a process between a real NATS server and real databases, while everything breaks around it."""

import asyncio
import random
import shutil
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from provisioning.central import archive_schema as schema
from provisioning.central.archive_database import held_for_writing
from provisioning.central.archive_message import LogMessage
from provisioning.central.archive_writer import Archive
from provisioning.central_server import CentralServer, ensure_stream
from tests.archive_rig import (
    OTHER_KEY,
    SITE,
    ArchiveDatabase,
    ArchiveProcess,
    History,
    Log,
    Postgresql,
    log_at,
    new_database,
    postgresql,
    tables_but_own,
)


@pytest.fixture(scope="module")
def server() -> Iterator[Postgresql]:
    with postgresql() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path, server: Postgresql) -> ArchiveDatabase:
    return new_database(tmp_path, server if request.param == "postgresql" else None)


@pytest.fixture
def central(tmp_path: Path) -> Iterator[CentralServer]:
    with CentralServer(tmp_path / "nats") as running:
        asyncio.run(ensure_stream(running.url))
        yield running


def send(central: CentralServer, *messages: tuple[History | str, bytes]) -> None:
    """Publish messages, in their order."""

    async def sending(log: Log) -> None:
        for whose, payload in messages:
            await log.send(whose, payload)

    asyncio.run(_with_log(central.url, sending))


async def _with_log(url: str, use: Callable[[Log], Coroutine[Any, Any, None]]) -> None:
    async with log_at(url) as log:
        await use(log)


def has_all(database: ArchiveDatabase, *histories: History) -> Callable[[], bool]:
    return lambda: all(database.ends().get(history.table) == len(history.events) for history in histories)


def archived_at_once(tmp_path: Path, *histories: History) -> dict[str, Any]:
    """What an archive holds of these when nothing broke: by another way, without the stream and in other messages."""
    folder = tmp_path / "at-once"
    folder.mkdir()
    database = ArchiveDatabase(folder, None, "")
    with held_for_writing(database.engine()) as connection:
        archive = Archive(connection, None)
        for history in histories:
            for payload in history.payloads():
                archive.take(LogMessage(0, f"craps.{SITE}.{history.table}.journal", payload), in_order=True)
    return tables_but_own(database)


def test_killed_again_and_again_it_has_every_event_once(
    tmp_path: Path, central: CentralServer, database: ArchiveDatabase
) -> None:
    chance = random.Random(1)
    histories = [History(table=f"craps-{number}").play(chance, 300) for number in (1, 2, 3)]
    mixed: list[tuple[History | str, bytes]] = []
    queues = [list(history.payloads(1)) for history in histories]
    while any(queues):
        which = chance.choice([at for at, queue in enumerate(queues) if queue])
        mixed.append((histories[which], queues[which].pop(0)))
    program = ArchiveProcess(tmp_path, central.url, database)
    size = len(mixed) // 3 + 1
    portions = [mixed[at : at + size] for at in range(0, len(mixed), size)]
    for portion in portions:
        before = sum(database.ends().values())
        with program:
            # What is killed is at it, or has just been: there is always a portion that it was not given yet.
            send(central, *portion)
            program.wait_for(lambda before=before: sum(database.ends().values()) > before, "it goes on")  # type: ignore[misc]
            program.kill()
    with program:
        program.wait_for(has_all(database, *histories), "every event", timeout_s=180.0)
    assert tables_but_own(database) == archived_at_once(tmp_path, *histories)
    assert database.rows(schema.alarms) == []


def test_a_consumer_that_is_gone_is_made_anew(tmp_path: Path, central: CentralServer) -> None:
    database, history = new_database(tmp_path, None), History().play(random.Random(4), 60)
    half = len(history.events) // 2

    async def lose(log: Log) -> None:
        # More than one where the archive had to connect anew.
        consumers = await log.consumers()
        assert consumers
        for consumer in consumers:
            assert await log.delete_consumer(consumer)

    with ArchiveProcess(tmp_path, central.url, database) as program:
        send(central, (history, history.payload(1, half)))
        program.wait_for(lambda: database.ends().get(history.table) == half, "the first half")
        asyncio.run(_with_log(central.url, lose))
        send(central, (history, history.payload(half + 1, len(history.events))))
        program.wait_for(has_all(database, history), "every event")


def test_the_central_log_may_come_and_go(tmp_path: Path, central: CentralServer, database: ArchiveDatabase) -> None:
    history = History().play(random.Random(2), 60)
    with ArchiveProcess(tmp_path, central.url, database) as program:
        half = len(history.events) // 2
        send(central, (history, history.payload(1, half)))
        program.wait_for(lambda: database.ends() == {"craps-1": half}, "the first half")
        central.kill()
        program.wait_for(lambda: "the central log is away" in program.log, "it says so")
        central.start()
        send(central, (history, history.payload(half + 1, len(history.events))))
        program.wait_for(has_all(database, history), "the second half")
        assert program.stop() == 0
        assert database.rows(schema.alarms) == []


def test_the_database_may_come_and_go(tmp_path: Path, central: CentralServer) -> None:
    with postgresql() as server:
        database = new_database(tmp_path, server)
        history = History().play(random.Random(3), 60)
        half = len(history.events) // 2
        with ArchiveProcess(tmp_path, central.url, database) as program:
            send(central, (history, history.payload(1, half)))
            program.wait_for(lambda: database.ends() == {"craps-1": half}, "the first half")
            server.kill()
            send(central, *((history, payload) for payload in history.payloads(3, first=half + 1)))
            program.wait_for(lambda: "the database is away" in program.log, "it says so")
            assert program.exit_status is None
            server.start()
            program.wait_for(has_all(database, history), "the second half")
        assert tables_but_own(database) == archived_at_once(tmp_path, history)


def test_what_somebody_put_into_the_stream_is_an_alarm_until_somebody_resolves_it(
    tmp_path: Path, central: CentralServer, database: ArchiveDatabase
) -> None:
    chance = random.Random(4)
    names = ("gap", "fork", "key", "malformed", "foreign", "oversized", "good")
    tables = {name: History(table=name).play(chance, 30) for name in names}
    forked, other = tables["fork"], History(table="fork").play(random.Random(5), 30)
    stranger = History(table="key", key=OTHER_KEY)
    bad: list[tuple[History | str, bytes]] = [
        (tables["gap"], tables["gap"].payload(7, 9)),
        (forked, other.payload(6, 8)),
        (stranger, stranger.payload(1, 1)),
        (tables["malformed"], b'{"v":1}'),
        (tables["foreign"], tables["good"].payload(6, 8)),
        (tables["oversized"], b"x" * 600_000),
    ]
    program = ArchiveProcess(tmp_path, central.url, database)
    with program:
        send(central, *((tables[name], tables[name].payload(1, 5)) for name in names if name != "key"))
        send(central, *bad)
        send(central, (stranger, tables["key"].payload(1, 5)))
        send(central, *((history, history.payload(6, len(history.events))) for history in tables.values()))
        program.wait_for(has_all(database, tables["good"]), "the good table goes on")
        program.wait_for(lambda: database.count(schema.alarms) == 6, "six alarms")
        found = {row["table_name"]: (row["kind"], row["seq"]) for row in database.rows(schema.alarms)}
        assert found == {
            "gap": ("gap", 6),
            "fork": ("fork", 6),
            "key": ("fork", 1),
            "malformed": ("malformed", 6),
            "foreign": ("foreign", 6),
            "oversized": ("oversized", 6),
        }
        assert {name: seq for name, seq in database.ends().items() if name not in ("good", "key")} == dict.fromkeys(
            ("gap", "fork", "malformed", "foreign", "oversized"), 5
        )
        status = program.command("status")
        assert status.returncode == 1
        assert f"{SITE}/malformed  ALARM at event 6 (malformed): line 1 of the message: table: missing" in status.stdout
        assert "1 messages wait since" in status.stdout
        for name in ("malformed", "foreign", "oversized", "fork"):
            words = (SITE, name, "--name", "Eva", "--reason", "looked into", "--leave-out")
            assert program.command("resolve", *words).returncode == 0
        program.wait_for(
            has_all(database, *(tables[name] for name in ("malformed", "foreign", "oversized"))), "read again"
        )
        program.wait_for(has_all(database, forked), "the fork's own history goes on")
        again = program.command("resolve", SITE, "malformed", "--name", "Eva", "--reason", "twice")
        assert (again.returncode, again.stderr) == (1, "boxman: no alarm of table casino-1/malformed stands\n")
        nameless = program.command("resolve", SITE, "gap", "--name", " ", "--reason", "x")
        assert "--name must be 1 to 100 printable characters" in nameless.stderr


def test_a_second_archive_waits_until_the_first_ends(
    tmp_path: Path, central: CentralServer, database: ArchiveDatabase
) -> None:
    history = History().play(random.Random(6), 60)
    first = ArchiveProcess(tmp_path, central.url, database)
    with first:
        first.wait_for(lambda: "reading the central log" in first.log, "it reads")
        second_folder = tmp_path / "second"
        second_folder.mkdir()
        second = ArchiveProcess(second_folder, central.url, database)
        second.configuration = first.configuration
        with second:
            second.wait_for(lambda: "another archive writes into this database; waiting" in second.log, "it waits")
            send(central, (history, history.payload(1, 9)))
            first.wait_for(lambda: database.ends() == {"craps-1": 9}, "the first one archives")
            assert "reading the central log" not in second.log
            first.kill()
            send(central, (history, history.payload(10, len(history.events))))
            second.wait_for(has_all(database, history), "the second one archives")
    assert database.rows(schema.alarms) == []


def test_a_log_that_lost_its_tail_is_sent_it_again(
    tmp_path: Path, central: CentralServer, database: ArchiveDatabase
) -> None:
    history, other = History().play(random.Random(7), 80), History(table="craps-2").play(random.Random(8), 80)
    program = ArchiveProcess(tmp_path, central.url, database)
    send(central, *((one, one.payload(1, 20)) for one in (history, other)))
    central.stop()
    shutil.copytree(tmp_path / "nats" / "store", tmp_path / "saved")
    central.start()
    send(central, *((one, payload) for one in (history, other) for payload in history_part(one, 21, 40, 2)))
    with program:
        program.wait_for(lambda: database.ends() == {"craps-1": 40, "craps-2": 40}, "all that was sent")
    central.stop()
    shutil.rmtree(tmp_path / "nats" / "store")
    (tmp_path / "saved").rename(tmp_path / "nats" / "store")
    central.start()
    # The tables send it again, packed otherwise and in another order, and go on.
    send(central, *((one, payload) for one in (other, history) for payload in history_part(one, 21, 200, 7)))
    with program:
        program.wait_for(has_all(database, history, other), "everything")
    assert database.rows(schema.alarms) == []
    assert tables_but_own(database) == archived_at_once(tmp_path, history, other)


def history_part(history: History, first: int, last: int, size: int) -> list[bytes]:
    last = min(last, len(history.events))
    return [history.payload(at, min(at + size - 1, last)) for at in range(first, last + 1, size)]


def test_a_database_brought_back_from_a_backup_catches_up(
    tmp_path: Path, central: CentralServer, database: ArchiveDatabase
) -> None:
    history, quiet = History().play(random.Random(9), 60), History(table="quiet").play(random.Random(10), 20)
    program = ArchiveProcess(tmp_path, central.url, database)
    send(central, (history, history.payload(1, 10)))
    with program:
        program.wait_for(lambda: database.ends() == {"craps-1": 10}, "the beginning")
        assert program.stop() == 0
    database.save()
    send(central, (history, history.payload(11, 20)), (quiet, quiet.payload(1, len(quiet.events))))
    with program:
        program.wait_for(lambda: database.ends() == {"craps-1": 20, "quiet": len(quiet.events)}, "more")
        assert program.stop() == 0
    database.bring_back()
    send(central, (history, history.payload(21, len(history.events))))
    with program:
        program.wait_for(has_all(database, history, quiet), "everything")
    assert database.rows(schema.alarms) == []


def test_a_configuration_that_is_not_sound_is_named(tmp_path: Path, server: Postgresql) -> None:
    database = new_database(tmp_path, server)
    program = ArchiveProcess(tmp_path, "nats://127.0.0.1:9", database)
    secret = tmp_path / "archive.dsn"
    secret.chmod(0o644)
    refused = program.command("archive")
    assert refused.returncode == 1
    assert refused.stderr.endswith(f"archive.postgresql: {secret} may be read by others; it should have mode 0600\n")
    secret.chmod(0o600)
    assert "is empty; boxman central archive brings it up to date" in program.command("status").stderr
    with held_for_writing(database.engine()):
        pass
    assert program.command("status").stdout == (
        "nothing of the central log was read yet: boxman central archive has not reached it, or it is empty\n"
    )
    program.configuration.write_text("[central]\nserver = 1\n")
    assert "central.server is no key, did you mean servers?" in program.command("archive").stderr
    program.configuration.write_text('[central]\nservers = ["nats://a"]\n[archive]\nsqlite = "a"\npostgresql = "b"\n')
    assert "only one of them can be the database" in program.command("archive").stderr
