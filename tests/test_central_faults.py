"""Whatever fails between a table and the centre, with real processes: each ends with a whole and verified archive."""

import asyncio
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import device.nats_connection
from device.uplink import UplinkStatus
from provisioning.central import archive_schema as schema
from provisioning.central.archive_configuration import read_archive_configuration
from provisioning.central.archive_reader import run_archive
from tests.archive_rig import ArchiveDatabase, PlayedJournal, check_whole
from tests.central_rig import SITE, Authority, Central, set_up_when_ready, system_of, unit
from tests.conformance_rig import FaultyLink, hurry
from tests.nats_rig import UnitUnderTest, running_uplink, wait_until

HUB = "hub-1"


@pytest.fixture(scope="module")
def central(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Central]:
    """A hub of one server; each test has a table of its own."""
    names = ("killed", "unacknowledged", "half-open", "doubled", "rolled-back", "clock", "certificate", "authority")
    with Central(tmp_path_factory.mktemp("central"), tables=[(SITE, name) for name in names]) as made:
        made.start()
        asyncio.run(set_up_when_ready(made))
        yield made


@pytest.fixture(autouse=True)
def _closed_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device.nats_connection, "CLOSE_TIMEOUT_S", 0.1)


def played(central: Central, table: str, events: int, seed: int = 1) -> PlayedJournal:
    return PlayedJournal(table, central.key(f"{SITE}.{table}"), seed=seed, events=events)


def append(running: UnitUnderTest, journal: PlayedJournal, count: int = 1) -> None:
    journal.append(count)
    running.uplink.notify()


async def archived(central: Central, *journals: PlayedJournal) -> ArchiveDatabase:
    """Archive with a reader's key until all of the journals is there, and hold it against them."""
    folder = central.folder / "archive"
    folder.mkdir(exist_ok=True)
    words = f'[central]\nservers = ["{central.urls(SITE)[0]}"]\nca = "{central.authority.ca}"\n'
    words += f'key = "{central.keys}/archive.key"\n'
    for site, table in central.tables:
        words += f'[[tables]]\nsite = "{site}"\nname = "{table}"\nkey = "{central.key(f"{site}.{table}").public}"\n'
    (folder / "archive.toml").write_text(words, encoding="utf-8")
    said = read_archive_configuration(folder / "archive.toml")
    database = ArchiveDatabase(folder, None, "")

    def has_all() -> bool:
        ends = database.ends()
        return all(ends.get(journal.history.table) == journal.last_seq() for journal in journals)

    archiving = asyncio.create_task(run_archive(said.engine(), said.access, said.stream, said.keys))
    try:
        await wait_until(lambda: archiving.done() or has_all(), "everything in the archive", 60)
    finally:
        archiving.cancel()
        [ended] = await asyncio.gather(archiving, return_exceptions=True)
    assert isinstance(ended, asyncio.CancelledError), ended
    for journal in journals:
        check_whole(database, journal.history)
    return database


def test_a_server_killed_while_events_are_published(central: Central, tmp_path: Path) -> None:
    async def scenario() -> None:
        journal = played(central, "killed", 900)
        kill_after = [200, 500]

        def kill_in_the_middle(status: UplinkStatus) -> None:
            if kill_after and status.delivered >= kill_after[0]:
                del kill_after[0]
                central.servers[HUB].kill()

        system = system_of(central, "killed")
        async with running_uplink("", journal, tmp_path, "killed", system=system, on_change=kill_in_the_middle) as it:
            for kills_left in (1, 0):
                await wait_until(lambda left=kills_left: len(kill_after) == left, "a kill", 60)  # type: ignore[misc]
                await it.is_in("offline")
                central.start(HUB)
            await it.delivered(journal.last_seq())
            assert it.alerts == []
        await archived(central, journal)

    asyncio.run(scenario())


def test_a_lost_acknowledgement(central: Central, tmp_path: Path) -> None:
    async def scenario() -> None:
        journal = played(central, "unacknowledged", 5)
        link = FaultyLink(central.servers[HUB].port)
        async with (
            link.listening(),
            unit(system_of(central, "unacknowledged", port=link.port), journal, tmp_path, "unacknowledged") as it,
        ):
            await it.delivered(journal.last_seq())
            link.swallows_answers = True
            sent_bytes, before = link.sent_bytes, it.status.delivered
            append(it, journal)
            await wait_until(lambda: link.sent_bytes > sent_bytes, "it is sent", 60)
            await archived(central, journal)
            assert it.status.delivered == before
            # What is sent again has more in it, and so another name.
            journal.append(3)
            link.cut()
            await it.is_in("offline")
            link.swallows_answers = False
            await it.delivered(journal.last_seq())
            assert it.alerts == []
        await archived(central, journal)

    asyncio.run(scenario())


def test_a_link_that_is_half_open(central: Central, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)

    async def scenario() -> None:
        journal = played(central, "half-open", 5)
        link = FaultyLink(central.servers[HUB].port)
        async with (
            link.listening(),
            unit(system_of(central, "half-open", port=link.port), journal, tmp_path, "half-open") as it,
        ):
            await it.delivered(journal.last_seq())
            told = len(it.statuses)
            link.freeze()
            append(it, journal, 3)
            await wait_until(lambda: "offline" in [status.state for status in it.statuses[told:]], "the loss shown", 60)
            await it.delivered(journal.last_seq())
        await archived(central, journal)

    asyncio.run(scenario())


def test_two_units_with_one_identity(central: Central, tmp_path: Path) -> None:
    async def scenario() -> None:
        one, two = played(central, "doubled", 20), played(central, "doubled", 20, seed=2)
        async with (
            unit(system_of(central, "doubled"), one, tmp_path / "one", "doubled") as first,
            unit(system_of(central, "doubled"), two, tmp_path / "two", "doubled") as second,
        ):
            await wait_until(lambda: "fenced" in (first.status.state, second.status.state), "one is fenced", 60)
            held, journal, fenced = (first, one, second) if second.status.state == "fenced" else (second, two, first)
            append(held, journal, 5)
            await held.delivered(journal.last_seq())
            assert ([code for code, _ in fenced.alerts], held.alerts) == (["uplink_fenced"], [])
        await archived(central, journal)

    asyncio.run(scenario())


def test_a_store_rolled_back_to_an_hour_ago(central: Central, tmp_path: Path) -> None:
    store, saved = central.folder / f"store-{HUB}", tmp_path / "saved"

    async def scenario() -> None:
        journal = played(central, "rolled-back", 100)
        async with unit(system_of(central, "rolled-back"), journal, tmp_path, "rolled-back") as it:
            await it.delivered(journal.last_seq())
            central.servers[HUB].stop()
            shutil.copytree(store, saved)
            central.start(HUB)
            for _ in range(20):
                append(it, journal, 3)
                await it.delivered(journal.last_seq())
            await archived(central, journal)
            central.servers[HUB].stop()
            shutil.rmtree(store)
            saved.rename(store)
            central.start(HUB)
            await wait_until(lambda: bool(it.alerts), "the loss noticed", 60)
            append(it, journal, 3)
            await it.delivered(journal.last_seq())
            assert [code for code, _ in it.alerts] == ["log_lost_tail"]
        await archived(central, journal)

    asyncio.run(scenario())


def test_a_table_whose_clock_is_wrong_by_years(central: Central, tmp_path: Path) -> None:
    async def scenario() -> None:
        journal = played(central, "clock", 0)
        for day in ("1970-01-01", "2061-07-01", "1999-12-31"):
            journal.history.day = day
            journal.append(10)
        async with unit(system_of(central, "clock"), journal, tmp_path, "clock") as it:
            await it.delivered(journal.last_seq())
        database = await archived(central, journal)
        (row,) = [row for row in database.rows(schema.tables) if row["table_name"] == "clock"]
        assert row["last_wall"].startswith("1999-12-31")
        # When the table was heard is told by the centre's clock.
        assert datetime.now(UTC) - datetime.fromisoformat(row["heard_at"]) < timedelta(hours=1)

    asyncio.run(scenario())


def renew(central: Central, issue: Callable[[str], object]) -> None:
    """Another certificate for the server, which starts with it."""
    central.servers[HUB].stop()
    issue(HUB)
    central.start(HUB)


def test_a_certificate_that_does_not_do_until_it_is_renewed(central: Central, tmp_path: Path) -> None:
    authority = central.authority
    faults: dict[str, Callable[[str], object]] = {
        "it has expired, or this table's clock is ahead": lambda name: authority.issue(name, days=-1),
        "it is not valid yet, or this table's clock is behind": authority.issue_for_later,
        "it is of another server than the one in this table's configuration": lambda name: authority.issue(
            name, "DNS:other.example"
        ),
    }

    async def scenario() -> None:
        journal = played(central, "certificate", 5)
        async with unit(system_of(central, "certificate"), journal, tmp_path, "certificate") as it:
            for words, issue in faults.items():
                await it.delivered(journal.last_seq())
                before = it.status.delivered
                renew(central, issue)
                said = f"the central server's certificate is refused: {words}"
                await wait_until(lambda said=said: it.status.last_error == said, said, 60)  # type: ignore[misc]
                append(it, journal, 5)
                assert (it.status.delivered, it.alerts) == (before, [])
                renew(central, authority.issue)
            await it.delivered(journal.last_seq())
        await archived(central, journal)

    asyncio.run(scenario())


def test_a_wrong_ca_until_the_right_one_is_in_its_place(central: Central, tmp_path: Path) -> None:
    ca = tmp_path / "ca-of-the-site.pem"
    shutil.copy(Authority(tmp_path, "other").ca, ca)

    async def scenario() -> None:
        journal = played(central, "authority", 5)
        async with unit(system_of(central, "authority", ca=ca), journal, tmp_path, "authority") as it:
            said = "the central server's certificate is refused: the site's CA has not signed it"
            await wait_until(lambda: it.status.last_error == said, said, 60)
            append(it, journal, 5)
            assert (it.status.delivered, it.alerts) == (0, [])
            shutil.copy(central.authority.ca, ca)
            await it.delivered(journal.last_seq())
        await archived(central, journal)

    asyncio.run(scenario())


def test_a_key_that_no_list_has_until_one_has_it(central: Central, tmp_path: Path) -> None:
    key = central.key(f"{SITE}.new")
    said = f"the central server refuses this table's credentials; its list of tables should hold the key {key.public}"

    async def scenario() -> None:
        journal = played(central, "new", 5)
        async with unit(system_of(central, "new"), journal, tmp_path, "new") as it:
            await wait_until(lambda: it.status.last_error == said, said, 60)
            append(it, journal, 5)
            assert (it.status.delivered, it.alerts) == (0, [])
            central.tables = [*central.tables, (SITE, "new")]
            central.write()
            central.servers[HUB].stop()
            central.start(HUB)
            await it.delivered(journal.last_seq())
        await archived(central, journal)

    asyncio.run(scenario())
