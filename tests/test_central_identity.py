"""Who may do what at the centre, on real servers and generated files: each refusal in plain words, and play goes on."""

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import nats.errors
import pytest
from nats.js.api import AckPolicy, ConsumerConfig

from device.central_history import read_history
from device.nats_connection import NatsAccess, connected
from device.nats_log import NatsSystem
from device.table_key import TableKey
from device.uplink_protocol import subject
from provisioning.central_server import STREAM
from tests.central_rig import SITE, TABLE, Authority, Central, set_up_when_ready
from tests.nats_rig import FakeJournal, UnitUnderTest, running_uplink, wait_until

OTHER = "craps-2"
OWN_SUBJECT = subject(SITE, TABLE)
OTHER_SUBJECT = subject(SITE, OTHER)
LEAF = "casino-2"


@pytest.fixture(scope="module")
def central(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Central]:
    """A hub of one server with two tables, the first of which has written two events."""
    folder = tmp_path_factory.mktemp("central")
    with Central(folder, tables=[(SITE, TABLE), (SITE, OTHER)]) as made:
        made.start()
        asyncio.run(set_up_when_ready(made))

        async def write() -> None:
            async with unit(system_of(made), FakeJournal(TABLE, events=2), folder) as running:
                await running.delivered(2)

        asyncio.run(write())
        yield made


def system_of(
    central: Central, table: str = TABLE, site: str = SITE, *, ca: Path | None = None, key: TableKey | None = None
) -> NatsSystem:
    return NatsSystem(
        central.urls(site), site, table, ca=ca or central.authority.ca, key=key or central.key(f"{site}.{table}")
    )


@contextlib.asynccontextmanager
async def unit(
    system: NatsSystem, journal: FakeJournal, folder: Path, table: str = TABLE
) -> AsyncIterator[UnitUnderTest]:
    folder.mkdir(exist_ok=True)
    async with running_uplink("", journal, folder, table, system=system) as running:
        yield running


async def history(central: Central, site: str, table: str) -> list[str]:
    """All events of a table at the hub, as a central reader reads them."""
    lines: list[str] = []
    await read_history(
        central.access("archive"),
        STREAM,
        subject(site, table),
        lambda payload, _: lines.extend(payload.decode().split("\n")),
    )
    return lines


def refused(system: NatsSystem, folder: Path, words: str) -> None:
    """The uplink says `words`, and goes on trying while events are journaled."""

    async def scenario() -> None:
        journal = FakeJournal(TABLE, events=1)
        async with unit(system, journal, folder) as running:
            await wait_until(lambda: running.status.last_error is not None, "an error")
            assert running.status.last_error == words
            journal.append()
            running.uplink.notify()
            assert (running.status.delivered, running.alerts) == (0, [])

    asyncio.run(scenario())


def test_a_table_signs_in_with_its_own_key_and_a_reader_reads_it(central: Central, tmp_path: Path) -> None:
    async def scenario() -> None:
        journal = FakeJournal(TABLE, events=300)
        async with unit(system_of(central), journal, tmp_path) as running:
            await running.delivered(300)
        assert await history(central, SITE, TABLE) == journal.lines

    asyncio.run(scenario())


def test_a_key_that_is_in_no_list_is_refused(central: Central, tmp_path: Path) -> None:
    stranger = central.key("stranger")
    words = (
        "the central server refuses this table's credentials; its list of tables should hold the key " + stranger.public
    )
    refused(system_of(central, key=stranger), tmp_path, words)


def test_a_server_that_another_ca_signed_is_refused(central: Central, tmp_path: Path) -> None:
    other = Authority(tmp_path, "other")
    words = "the central server's certificate is refused: the site's CA has not signed it"
    refused(system_of(central, ca=other.ca), tmp_path, words)


def test_a_ca_that_vanished_is_said(central: Central, tmp_path: Path) -> None:
    gone = tmp_path / "gone.pem"
    words = f"{gone}: cannot be read (No such file or directory); it should be the site's CA in PEM form"
    refused(system_of(central, ca=gone), tmp_path, words)


@pytest.mark.parametrize(
    ("names", "days", "words"),
    [
        ("IP:127.0.0.1", -1, "it has expired, or this table's clock is ahead"),
        ("DNS:other.example", 30, "it is of another server than the one in this table's configuration"),
    ],
)
def test_a_certificate_that_does_not_do_is_said(tmp_path: Path, names: str, days: int, words: str) -> None:
    with Central(tmp_path, names=names, days=days) as central:
        central.start()
        refused(system_of(central), tmp_path, f"the central server's certificate is refused: {words}")


def test_another_tables_subject_is_refused(central: Central, tmp_path: Path) -> None:
    impostor = system_of(central, OTHER, key=central.key(f"{SITE}.{TABLE}"))
    refused(
        impostor,
        tmp_path,
        "the central server does not permit it: "
        f'publish to "$js.api.direct.get.{STREAM.lower()}.{OTHER_SUBJECT}"',
    )  # fmt: skip


async def violations(access: NatsAccess, *requests: tuple[str, str]) -> list[str]:
    """What the server says to requests (subject, where the answer should go), in order."""
    said: list[str] = []
    async with connected(access, "test") as client:

        async def note(error: Exception) -> None:
            said.append(str(error))

        client._error_cb = note
        for name, reply in requests:
            await client.publish(name, b"", reply=reply)
        await wait_until(lambda: len(said) >= len(requests), "a refusal of each request")
    return said


async def last_sequence(central: Central) -> int:
    async with connected(central.access("admin"), "test") as client:
        return int((await client.jetstream().stream_info(STREAM)).state.last_seq)


def test_a_table_reads_its_own_last_message_only(central: Central) -> None:
    get = f"$JS.API.DIRECT.GET.{STREAM}"
    foreign = [f"{get}.{OTHER_SUBJECT}", get, f"$JS.API.STREAM.MSG.GET.{STREAM}", f"$JS.API.CONSUMER.CREATE.{STREAM}"]
    foreign += [f"$JS.API.STREAM.DELETE.{STREAM}", f"$JS.API.STREAM.PURGE.{STREAM}", f"$JS.API.STREAM.INFO.{STREAM}"]
    access = central.access(f"{SITE}.{TABLE}")

    async def scenario() -> None:
        said = await violations(access, *((name, f"{access.inbox}.x") for name in foreign))
        assert all("permissions violation for publish" in words for words in said)

    asyncio.run(scenario())


def test_an_answer_sent_to_another_tables_subject_does_not_get_there(central: Central) -> None:
    async def scenario() -> None:
        before = await last_sequence(central)
        access = central.access(f"{SITE}.{TABLE}")
        async with connected(access, "test") as client:
            own = await client.jetstream().get_last_msg(STREAM, OWN_SUBJECT, direct=True)
            assert own.data
            await client.publish(f"$JS.API.DIRECT.GET.{STREAM}.{OWN_SUBJECT}", b"", reply=OTHER_SUBJECT)
            # Answered after the one above.
            await client.jetstream().get_last_msg(STREAM, OWN_SUBJECT, direct=True)
        reader = central.access("archive")
        async with connected(reader, "test") as client:
            await client.publish(f"$JS.API.STREAM.INFO.{STREAM}", b"", reply=OTHER_SUBJECT)
            await client.jetstream().stream_info(STREAM)
        assert await last_sequence(central) == before

    asyncio.run(scenario())


def test_a_reader_cannot_publish_or_change_the_stream(central: Central) -> None:
    async def scenario() -> None:
        before = await last_sequence(central)
        names = [
            OWN_SUBJECT,
            *(f"$JS.API.STREAM.{what}.{STREAM}" for what in ("DELETE", "PURGE", "UPDATE", "MSG.DELETE")),
        ]
        said = await violations(central.access("archive"), *((name, "") for name in names))
        assert all("permissions violation for publish" in words for words in said)
        assert await last_sequence(central) == before

    asyncio.run(scenario())


def test_a_reader_keeps_its_place_with_a_durable_consumer(central: Central) -> None:
    async def scenario() -> None:
        async with connected(central.access("archive"), "test") as client:
            jetstream = client.jetstream()
            config = ConsumerConfig(ack_policy=AckPolicy.EXPLICIT)
            messages = await jetstream.pull_subscribe(OWN_SUBJECT, durable="keeps", stream=STREAM, config=config)
            [message] = await messages.fetch(1, timeout=5)
            await message.ack_sync()
            assert (await jetstream.consumer_info(STREAM, "keeps")).ack_floor.consumer_seq == 1

    asyncio.run(scenario())


def test_nobody_listens_to_what_a_table_publishes_or_is_answered(central: Central) -> None:
    async def scenario() -> None:
        for owner in (f"{SITE}.{OTHER}", "archive"):
            said: list[str] = []
            async with connected(central.access(owner), "test") as client:

                async def note(error: Exception, said: list[str] = said) -> None:
                    said.append(str(error))

                client._error_cb = note
                for name in (OWN_SUBJECT, "craps.>", ">", f"_INBOX_{SITE}.{TABLE}.>"):
                    with contextlib.suppress(nats.errors.Error):
                        await client.subscribe(name)
                await wait_until(lambda: len(said) >= 4, "a refusal of each subscription")  # noqa: B023
            assert all("permissions violation for subscription" in words for words in said)

    asyncio.run(scenario())


def test_of_two_units_with_one_identity_the_second_is_fenced(central: Central, tmp_path: Path) -> None:
    async def scenario() -> None:
        first, second = FakeJournal(OTHER, "a", events=3), FakeJournal(OTHER, "b", events=2)
        async with (
            unit(system_of(central, OTHER), first, tmp_path / "first", OTHER) as owner,
            unit(system_of(central, OTHER), second, tmp_path / "second", OTHER) as other,
        ):
            await wait_until(lambda: "fenced" in (owner.status.state, other.status.state), "one is fenced")
            held, journal = (owner, first) if other.status.state == "fenced" else (other, second)
            journal.append()
            held.uplink.notify()
            await held.delivered(journal.last_seq())
        assert await history(central, SITE, OTHER) == journal.lines

    asyncio.run(scenario())


def test_the_seed_is_nowhere_in_what_is_written_or_logged(
    central: Central, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    seed = (central.keys / f"{SITE}.{TABLE}.key").read_text(encoding="ascii").strip()

    async def scenario() -> None:
        async with unit(system_of(central), FakeJournal(TABLE, events=300), tmp_path) as running:
            await running.delivered(300)

    asyncio.run(scenario())
    assert seed not in caplog.text
    for file in (central.folder / "files").iterdir():
        assert seed not in file.read_text(encoding="utf-8")


def test_a_cluster_of_three_takes_everything_once_while_a_node_is_killed(tmp_path: Path) -> None:
    async def scenario(central: Central) -> None:
        await set_up_when_ready(central)
        journal = FakeJournal(TABLE, events=400, padding_bytes=4000)
        async with unit(system_of(central), journal, tmp_path / "unit") as running:
            await wait_until(lambda: running.status.delivered > 0, "some events")
            central.servers["hub-1"].kill()
            journal.append(200)
            running.uplink.notify()
            await wait_until(lambda: running.status.delivered == 600, "all events", 20)
            assert running.alerts == []
            central.servers["hub-1"].start()
            central.servers["hub-1"].wait()
        assert await history(central, SITE, TABLE) == journal.lines
        async with connected(central.access("admin"), "test") as client:
            assert (await client.jetstream().stream_info(STREAM)).config.num_replicas == 3

    with Central(tmp_path, hub_servers=3) as central:
        central.start()
        asyncio.run(scenario(central))


def test_a_leaf_site_collects_while_cut_from_its_hub_which_lost_its_tail_and_then_has_everything_once(
    tmp_path: Path,
) -> None:
    store, saved = tmp_path / "store-hub-1", tmp_path / "saved"

    async def scenario(central: Central) -> None:
        await set_up_when_ready(central, LEAF)
        await line_is_up(central)
        await set_up_when_ready(central)
        at_leaf, at_hub = FakeJournal(TABLE, "leaf", events=300), FakeJournal(TABLE, "hub", events=300)
        async with (
            unit(system_of(central, TABLE, LEAF), at_leaf, tmp_path / "leaf") as leaf,
            unit(system_of(central), at_hub, tmp_path / "hub") as hub,
        ):
            await leaf.delivered(300)
            await hub.delivered(300)
            await at_centre(central, 300)
            shutil.copytree(store, saved)
            for running, journal in ((leaf, at_leaf), (hub, at_hub)):
                journal.append(20)
                running.uplink.notify()
                await running.delivered(320)
            await at_centre(central, 320)
            central.servers["hub-1"].stop()
            shutil.rmtree(store)
            saved.rename(store)
            await hub.is_in("offline")
            for _ in range(3):
                at_leaf.append(20)
                leaf.uplink.notify()
                await leaf.delivered(at_leaf.last_seq())
            central.start("hub-1")
            await hub.delivered(320)
            # The hub asks a site again some 40 seconds after it found none.
            await at_centre(central, 380, 90)
            assert (leaf.alerts, [code for code, _ in hub.alerts]) == ([], ["log_lost_tail"])
        assert await history(central, LEAF, TABLE) == at_leaf.lines
        assert await history(central, SITE, TABLE) == at_hub.lines

    with Central(tmp_path, leaf_sites=[LEAF], tables=[(SITE, TABLE), (LEAF, TABLE)]) as central:
        central.start("hub-1")
        central.start(LEAF)
        asyncio.run(scenario(central))


async def line_is_up(central: Central) -> None:
    """Wait until what the hub asks the leaf site's server gets there; only the stream's own questions are answered."""
    async with connected(central.access("admin"), "test") as client, asyncio.timeout(20):
        while True:
            try:
                await client.request(f"$JS.{LEAF}.API.INFO", b"")
            except nats.errors.NoRespondersError:
                await asyncio.sleep(0.05)
            except nats.errors.TimeoutError:
                return


async def at_centre(central: Central, events: int, within_s: float = 30) -> None:
    """Wait until the hub has so many events of the leaf site's table."""
    async with asyncio.timeout(within_s):
        while len(await history(central, LEAF, TABLE)) < events:
            await asyncio.sleep(0.1)
