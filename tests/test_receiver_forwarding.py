"""What the receiver takes over HTTPS, in the stream on NATS beside what other tables write there: real servers."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from nats.aio.msg import Msg

from device.nats_connection import connected, inbox_of
from device.presence import UNIT, Presence, read_presence
from device.uplink_protocol import Batch, LogEnd
from provisioning.central import receiver_forwarding
from provisioning.central.archive_database import held_for_writing, sqlite_engine
from provisioning.central.archive_message import LogMessage
from provisioning.central.archive_writer import Archive, Taken
from provisioning.central_server import PRESENCES
from tests.archive_rig import PlayedJournal
from tests.central_rig import Central, history, set_up_when_ready, system_of, unit
from tests.conformance_rig import SITE, Certificates, HttpsCentral, be_patient, delivering, running
from tests.nats_rig import FakeJournal, wait_until
from tests.test_central_identity import violations

OWN, BY_HTTPS, BOTH = "craps-1", "craps-2", "craps-3"
TABLES = ((SITE, OWN), (SITE, BY_HTTPS), (SITE, BOTH))


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    be_patient(monkeypatch)


@pytest.fixture(scope="module")
def central(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Central]:
    """A hub with a table of its own and two of a receiver's."""
    with Central(tmp_path_factory.mktemp("central"), tables=TABLES, forwarded=TABLES[1:]) as made:
        made.start()
        asyncio.run(set_up_when_ready(made))
        yield made


@pytest.fixture(scope="module")
def receiver(central: Central, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpsCentral]:
    folder = tmp_path_factory.mktemp("receiver")
    made = HttpsCentral(folder / "receiver", Certificates(folder))
    made.more = (
        f'[central]\nservers = ["{central.urls(SITE)[0]}"]\nca = "{central.authority.ca}"\n'
        f'key = "{central.keys / "https-1.key"}"\n'
    )
    made.know({table: central.key(f"{site}.{table}").public for site, table in TABLES[1:]})
    with running(made):
        yield made


async def until_in_stream(central: Central, table: str, lines: list[str]) -> None:
    # The receiver itself waits for up to 30 s between two attempts.
    async with asyncio.timeout(180):
        while await history(central, SITE, table) != lines:
            await asyncio.sleep(0.05)


def test_a_table_that_delivers_over_https_is_in_the_stream_as_it_was_signed(
    central: Central, receiver: HttpsCentral, tmp_path: Path
) -> None:
    key = central.key(f"{SITE}.{BY_HTTPS}")
    journal = PlayedJournal(BY_HTTPS, key, site=SITE, events=300)

    async def scenario() -> None:
        async with delivering(receiver, journal, tmp_path / "unit", table=BY_HTTPS, key=key) as table:
            await table.delivered(journal.last_seq())
            await until_in_stream(central, BY_HTTPS, journal.lines)
            # The stream away, and the receiver killed before it is back.
            central.servers["hub-1"].kill()
            journal.append(20)
            table.uplink.notify()
            await table.delivered(journal.last_seq())
            receiver.program.kill()
            receiver.start()
            central.start()
            journal.append(20)
            table.uplink.notify()
            await table.delivered(journal.last_seq())
            await until_in_stream(central, BY_HTTPS, journal.lines)

    asyncio.run(scenario())
    with held_for_writing(sqlite_engine(tmp_path / "archive.db")) as connection:
        archive = Archive(connection, {(SITE, BY_HTTPS): (key.public,)})
        lines = asyncio.run(history(central, SITE, BY_HTTPS))
        for at in range(0, len(lines), 200):
            message = LogMessage(at + 1, f"craps.{SITE}.{BY_HTTPS}.journal", "\n".join(lines[at : at + 200]).encode())
            assert archive.take(message, in_order=True) is Taken.HERE


def test_its_signs_of_life_are_its_own_and_nobody_tells_them_for_it(
    central: Central, receiver: HttpsCentral, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("device.presence.PRESENCE_S", 0.05)
    key = central.key(f"{SITE}.{BOTH}")
    heard: list[tuple[str, Presence]] = []

    async def scenario() -> None:
        async with connected(central.access("pit", SITE), "test") as client:

            async def note(message: Msg) -> None:
                heard.append((message.subject, read_presence(message.data)))

            await client.subscribe(PRESENCES, cb=note)
            await client.flush()
            journal = FakeJournal(BOTH, events=3)
            async with delivering(receiver, journal, tmp_path / "unit", table=BOTH, key=key) as table:
                await table.delivered(3)
                await wait_until(lambda: bool(heard) and heard[-1][1].delivered == 3, "a sign of life")
            # A receiver that comes to the stream anew says nothing of a table that has fallen silent.
            news = f"to the stream, {SITE}/{BOTH} online"
            before = receiver.program.output.count(news)
            receiver.program.kill()
            receiver.start()
            await wait_until(lambda: receiver.program.output.count(news) > before, news)
            await client.flush()
        assert {presence.unit for _, presence in heard} == {UNIT}
        assert {subject for subject, _ in heard} == {f"craps.{SITE}.{BOTH}.presence"}
        assert (heard[-1][1].seq, heard[-1][1].state) == (3, "online")

    asyncio.run(scenario())


def test_a_table_that_delivers_both_ways_is_in_the_stream_once(
    central: Central, receiver: HttpsCentral, tmp_path: Path
) -> None:
    key = central.key(f"{SITE}.{BOTH}")

    async def scenario() -> None:
        journal = FakeJournal(BOTH, events=3)
        async with (
            delivering(receiver, journal, tmp_path / "https", table=BOTH, key=key) as over_https,
            unit(system_of(central, BOTH, SITE), journal, tmp_path / "nats", BOTH) as over_nats,
        ):
            for _ in range(30):
                journal.append(5)
                over_https.uplink.notify()
                over_nats.uplink.notify()
                await asyncio.sleep(0.01)
            await over_https.delivered(153)
            await over_nats.delivered(153)
            assert over_https.alerts + over_nats.alerts == []
        await until_in_stream(central, BOTH, journal.lines)

    asyncio.run(scenario())


def test_a_store_behind_the_stream_is_waited_for_and_no_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiver_forwarding, "AHEAD_LOOK_S", 0.001)
    ends = [4, 5, 6]

    class Stream:
        bytes_max = 1

        async def end(self) -> LogEnd:
            return LogEnd(1, ends[0] if len(ends) == 1 else ends.pop(0), "")

        async def publish(self, batch: Batch, sequence: int) -> int | None:
            raise AssertionError(batch, sequence)

        async def tell(self, presence: bytes) -> None:
            raise AssertionError(presence)

    stored = [0, 3, 5, 6]
    link = receiver_forwarding._Quiet(Stream(), BOTH, lambda: stored.pop(0))
    assert (asyncio.run(link.end()).seq, stored) == (6, [])


def test_a_receiver_writes_for_its_own_tables_alone(central: Central) -> None:
    access = central.access("https-1", SITE)
    inbox = inbox_of(f"{SITE}.{BOTH}")
    foreign = [f"craps.{SITE}.{OWN}.journal", f"craps.{SITE}.{OWN}.presence", "$JS.API.STREAM.PURGE.CRAPS"]
    foreign += ["$JS.API.DIRECT.GET.CRAPS", f"$JS.API.DIRECT.GET.CRAPS.craps.{SITE}.{OWN}.journal"]

    async def scenario() -> None:
        said = await violations(access, *((name, f"{inbox}.x") for name in foreign))
        assert all("permissions violation for publish" in words for words in said)
        assert await history(central, SITE, OWN) == []

    asyncio.run(scenario())
