"""Who may do what at the centre, on real servers and generated files: each refusal in plain words, and play goes on."""

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path

import nats.errors
import pytest
from nats.js.api import AckPolicy, ConsumerConfig

import device.nats_connection
from device.central_reader import consume_anew, lasting_name
from device.nats_connection import NatsAccess, connected
from device.nats_log import NatsSystem
from device.uplink_protocol import subject
from provisioning.central_server import STREAM
from tests.central_rig import SITE, TABLE, Authority, Central, history, set_up_when_ready, system_of, unit
from tests.conformance_rig import hurry
from tests.nats_rig import WAIT_S, FakeJournal, wait_until

OTHER = "craps-2"
OWN_SUBJECT = subject(SITE, TABLE)
OTHER_SUBJECT = subject(SITE, OTHER)


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


def refused(system: NatsSystem, folder: Path, words: str) -> None:
    """The uplink says `words`, and goes on trying while events are journaled."""

    async def scenario() -> None:
        journal = FakeJournal(TABLE, events=1)
        async with unit(system, journal, folder) as running:
            await wait_until(lambda: running.status.last_error == words, words)
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


def test_another_tables_subject_is_refused(central: Central, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hurry(monkeypatch)
    impostor = system_of(central, OTHER, key=central.key(f"{SITE}.{TABLE}"))
    refused(
        impostor,
        tmp_path,
        "the central server does not permit it: "
        f'publish to "$js.api.direct.get.{STREAM.lower()}.{OTHER_SUBJECT}"',
    )  # fmt: skip


@pytest.fixture(autouse=True)
def _closed_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device.nats_connection, "CLOSE_TIMEOUT_S", 0.1)
    # Nobody here keeps silent on purpose.
    monkeypatch.setattr(device.nats_connection, "CONNECT_TIMEOUT_S", round(WAIT_S))


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
        return int((await client.jetstream(timeout=WAIT_S).stream_info(STREAM)).state.last_seq)


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
            jetstream = client.jetstream(timeout=WAIT_S)
            own = await jetstream.get_last_msg(STREAM, OWN_SUBJECT, direct=True)
            assert own.data
            await client.publish(f"$JS.API.DIRECT.GET.{STREAM}.{OWN_SUBJECT}", b"", reply=OTHER_SUBJECT)
            # Answered after the one above.
            await jetstream.get_last_msg(STREAM, OWN_SUBJECT, direct=True)
        reader = central.access("archive")
        async with connected(reader, "test") as client:
            await client.publish(f"$JS.API.STREAM.INFO.{STREAM}", b"", reply=OTHER_SUBJECT)
            await client.jetstream(timeout=WAIT_S).stream_info(STREAM)
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


def test_a_reader_keeps_its_place_with_the_consumer_of_its_own_name(central: Central) -> None:
    name = lasting_name(central.key("archive").public)

    async def scenario() -> None:
        async with connected(central.access("archive"), "test") as client:
            jetstream = client.jetstream(timeout=WAIT_S)
            config = ConsumerConfig(
                name=name, durable_name=name, filter_subject=OWN_SUBJECT, ack_policy=AckPolicy.EXPLICIT
            )
            messages = await consume_anew(jetstream, STREAM, config)
            [message] = await messages.fetch(1, timeout=WAIT_S)
            await message.ack_sync(WAIT_S)
            assert (await jetstream.consumer_info(STREAM, name)).ack_floor.consumer_seq == 1

    asyncio.run(scenario())


def test_a_reader_makes_no_consumers_without_end_and_does_not_come_at_anothers(central: Central) -> None:
    api, archives = "$JS.API.CONSUMER", lasting_name(central.key("archive").public)
    reader = central.access("pit")
    foreign = [
        *(f"{api}.CREATE.{STREAM}.{name}{rest}" for name in ("one-more", archives) for rest in ("", f".{OWN_SUBJECT}")),
        f"{api}.CREATE.{STREAM}",
        f"{api}.DURABLE.CREATE.{STREAM}.{archives}",
        *(f"{api}.{what}.{STREAM}.{archives}" for what in ("INFO", "DELETE", "MSG.NEXT", "PAUSE", "RESET")),
        f"$JS.ACK.{STREAM}.{archives}.1.1.1.1.0",
    ]

    async def scenario() -> None:
        said = await violations(reader, *((name, f"{reader.inbox}.x") for name in foreign))
        assert all("permissions violation for publish" in words for words in said)

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
            await wait_until(lambda: running.status.delivered == 600, "all events")
            assert running.alerts == []
            central.servers["hub-1"].start()
            central.servers["hub-1"].wait()
        assert await history(central, SITE, TABLE) == journal.lines
        async with connected(central.access("admin"), "test") as client:
            assert (await client.jetstream(timeout=WAIT_S).stream_info(STREAM)).config.num_replicas == 3

    with Central(tmp_path, hub_servers=3) as central:
        central.start()
        asyncio.run(scenario(central))
