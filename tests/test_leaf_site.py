"""A casino with a server of its own, a leaf node: cut from its hub, and brought back from a backup; real servers."""

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path

import pytest
from sqlalchemy import Engine

from provisioning.central import archive_schema as schema
from provisioning.central.archive_alarms import resolve
from provisioning.central.archive_database import opened
from provisioning.central.archive_reader import run_archive
from provisioning.central_server import STREAM
from tests.archive_rig import ArchiveDatabase, PlayedJournal, check_whole
from tests.central_rig import (
    SITE,
    Central,
    history,
    line_is_up,
    look_for_sites,
    set_up_when_ready,
    system_of,
    unit,
)
from tests.conformance_rig import FaultyLink, be_patient
from tests.nats_rig import UnitUnderTest, wait_until

LEAF = "casino-2"
HUB = "hub-1"


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    be_patient(monkeypatch)


@pytest.fixture(scope="module")
def central(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Central]:
    """A hub with a table, and a leaf site with two, the line to which can be made to fail (`line_to`)."""
    tables = [(SITE, "craps-1"), (LEAF, "craps-1"), (LEAF, "craps-2")]
    with Central(tmp_path_factory.mktemp("central"), leaf_sites=[LEAF], tables=tables) as made:
        yield made


@contextlib.asynccontextmanager
async def line_to(central: Central) -> AsyncIterator[FaultyLink]:
    """The line from the leaf site to the hub, as long as both servers run on it."""
    line = FaultyLink(central.leaf_port(HUB))
    async with line.listening():
        central.write()
        file = central.folder / "files" / f"{LEAF}.conf"
        hub = f"127.0.0.1:{central.leaf_port(HUB)}"
        text = file.read_text(encoding="utf-8")
        assert hub in text
        file.write_text(text.replace(hub, f"127.0.0.1:{line.port}"), encoding="utf-8")
        central.start(HUB)
        central.start(LEAF)
        try:
            await set_up_when_ready(central, LEAF)
            await line_is_up(central, LEAF)
            await set_up_when_ready(central)
            yield line
        finally:
            for server in central.servers.values():
                server.stop()


def played(central: Central, site: str, table: str, seed: int, events: int) -> PlayedJournal:
    return PlayedJournal(table, central.key(f"{site}.{table}"), site=site, seed=seed, events=events)


def append(running: UnitUnderTest, journal: PlayedJournal, count: int = 1) -> None:
    journal.append(count)
    running.uplink.notify()


async def at_hub(central: Central, journal: PlayedJournal) -> None:
    """Wait until the hub has the journal's last event."""
    # A hub looks for its leaf sites by itself some 20 to 40 s after it lost one, and again where that failed.
    async with asyncio.timeout(180):
        while (await history(central, journal.history.site, journal.history.table))[-1:] != journal.lines[-1:]:
            await asyncio.sleep(0.05)


@contextlib.asynccontextmanager
async def archiving(central: Central, database: ArchiveDatabase, site: str) -> AsyncIterator[None]:
    """The archive, of what the hub or a leaf site's own server holds."""
    access = central.access("archive", site)
    running = asyncio.create_task(run_archive(database.engine(), access, STREAM, None))
    try:
        yield
    finally:
        running.cancel()
        [ended] = await asyncio.gather(running, return_exceptions=True)
        assert isinstance(ended, asyncio.CancelledError), ended


async def all_archived(database: ArchiveDatabase, journals: Sequence[PlayedJournal]) -> None:
    wanted = sum(journal.last_seq() for journal in journals)
    await wait_until(lambda: database.count(schema.events) == wanted, "everything in the archive")
    for journal in journals:
        check_whole(database, journal.history)


def test_cut_from_its_hub_for_a_night_it_collects_and_the_hub_has_everything_once(
    central: Central, tmp_path: Path
) -> None:
    store, saved = central.folder / f"store-{HUB}", tmp_path / "saved"
    database = ArchiveDatabase(tmp_path, None, "")

    async def scenario(line: FaultyLink) -> None:
        at_leaf, beside_hub = played(central, LEAF, "craps-1", 1, 300), played(central, SITE, "craps-1", 2, 50)
        async with (
            unit(system_of(central, "craps-1", LEAF), at_leaf, tmp_path / "leaf") as leaf,
            unit(system_of(central), beside_hub, tmp_path / "hub") as hub,
        ):
            await leaf.delivered(at_leaf.last_seq())
            await hub.delivered(beside_hub.last_seq())
            await at_hub(central, at_leaf)
            line.refuses = True
            line.cut()
            for _ in range(10):
                append(leaf, at_leaf, 60)
                await leaf.delivered(at_leaf.last_seq())
            assert (leaf.alerts, len(await history(central, LEAF, "craps-1")) < at_leaf.last_seq()) == ([], True)
            line.refuses = False
            await at_hub(central, at_leaf)

            # The hub's store is brought back from before that.
            central.servers[HUB].stop()
            shutil.copytree(store, saved)
            central.start(HUB)
            await look_for_sites(central, LEAF)
            for running, journal in ((leaf, at_leaf), (hub, beside_hub)):
                append(running, journal, 20)
                await running.delivered(journal.last_seq())
            await at_hub(central, at_leaf)
            central.servers[HUB].stop()
            shutil.rmtree(store)
            saved.rename(store)
            append(leaf, at_leaf, 20)
            await leaf.delivered(at_leaf.last_seq())
            central.start(HUB)
            await look_for_sites(central, LEAF)
            await hub.delivered(beside_hub.last_seq())
            await at_hub(central, at_leaf)
            assert (leaf.alerts, [code for code, _ in hub.alerts]) == ([], ["log_lost_tail"])
        assert await history(central, LEAF, "craps-1") == at_leaf.lines
        async with archiving(central, database, SITE):
            await all_archived(database, (at_leaf, beside_hub))

    async def with_line() -> None:
        async with line_to(central) as line:
            await scenario(line)

    asyncio.run(with_line())


def test_a_leaf_site_that_lost_its_tail_leaves_a_gap_at_the_hub_which_its_own_log_fills(
    central: Central, tmp_path: Path
) -> None:
    store, saved = central.folder / f"store-{LEAF}", tmp_path / "saved"
    database = ArchiveDatabase(tmp_path, None, "")
    engine: Engine = database.engine()

    async def scenario() -> None:
        journal = played(central, LEAF, "craps-2", 3, 50)
        async with unit(system_of(central, "craps-2", LEAF), journal, tmp_path / "leaf", "craps-2") as leaf:

            async def play(times: int) -> None:
                for _ in range(times):
                    append(leaf, journal)
                    await leaf.delivered(journal.last_seq())

            await leaf.delivered(journal.last_seq())
            central.servers[LEAF].stop()
            shutil.copytree(store, saved)
            central.start(LEAF)
            await look_for_sites(central, LEAF)
            await play(30)
            await at_hub(central, journal)
            before_loss = journal.last_seq()
            central.servers[LEAF].stop()
            shutil.rmtree(store)
            saved.rename(store)
            central.start(LEAF)
            await wait_until(lambda: [code for code, _ in leaf.alerts] == ["log_lost_tail"], "the loss noticed")
            # Sent again in one message where there were thirty, so that the next ones come under numbers of before.
            await leaf.delivered(before_loss)
            await play(40)
            await look_for_sites(central, LEAF)
            await at_hub(central, journal)
            table = (LEAF, "craps-2")

            def alarms() -> list[tuple[str, int]]:
                rows = database.rows(schema.alarms) if database.ends() else []
                return [(row["kind"], row["seq"]) for row in rows if row["table_name"] == "craps-2"]

            async with archiving(central, database, SITE):
                await wait_until(lambda: alarms() == [("gap", before_loss + 1)], "the gap is an alarm")
            # The site's own log is whole: the archive reads that, and then the hub's again, of which it has all by now.
            with opened(engine) as connection:
                resolve(connection, *table, name="Eva", reason="from the site's own log", leave_out=False)
            async with archiving(central, database, LEAF):
                await wait_until(lambda: database.ends()["craps-2"] == journal.last_seq(), "filled")
            append(leaf, journal, 5)
            await leaf.delivered(journal.last_seq())
            async with archiving(central, database, SITE):
                await wait_until(lambda: database.ends()["craps-2"] == journal.last_seq(), "it goes on")
        check_whole(database, journal.history)
        assert len(alarms()) == 1

    async def with_line() -> None:
        async with line_to(central):
            await scenario()

    asyncio.run(with_line())
