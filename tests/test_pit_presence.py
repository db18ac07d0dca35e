"""Signs of life: from a table's uplink through real servers to whoever may hear them, and to nobody else."""

import asyncio
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg

from device import nats_connection, presence
from device.delivery_record import DeliveryRecord
from device.nats_connection import connected
from device.nats_log import NatsSystem
from device.presence import Presence, read_presence
from device.uplink import Uplink
from provisioning.central.pit_board import Board
from provisioning.central.pit_sources import listen_to_log
from provisioning.central_server import PRESENCES, CentralServer, ensure_stream
from tests.central_rig import SITE, TABLE, Central, set_up_when_ready
from tests.nats_rig import FakeJournal, jetstream, running_uplink, wait_until

LEAF = "casino-2"
WAIT_S = 60.0


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "PRESENCE_S", 0.05)
    # A test connects once, and a server on a busy machine takes its time.
    monkeypatch.setattr(nats_connection, "CONNECT_TIMEOUT_S", 60)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[CentralServer]:
    with CentralServer(tmp_path / "central") as running:
        asyncio.run(ensure_stream(running.url))
        yield running


@asynccontextmanager
async def hearing(client: Client) -> AsyncIterator[list[tuple[str, bytes]]]:
    """What comes on the subjects of signs of life."""
    came: list[tuple[str, bytes]] = []

    async def heard(message: Msg) -> None:
        came.append((message.subject, message.data))

    await client.subscribe(PRESENCES, cb=heard)
    await client.flush()
    yield came


def test_a_table_at_which_nothing_happens_is_heard_with_what_it_has_delivered(
    server: CentralServer, tmp_path: Path
) -> None:
    async def scenario() -> None:
        async with jetstream(server.url) as stream, hearing(stream._nc) as came:
            journal = FakeJournal(TABLE, events=3)
            async with running_uplink(server.url, journal, tmp_path, TABLE) as unit:
                await unit.delivered(3)
                told = [Presence(presence.UNIT, 3, 3, "online")] * 3
                # What was told before may still be on its way, however much of it.
                await wait_until(
                    lambda: [read_presence(payload) for _, payload in came[-3:]] == told, "it goes on telling", WAIT_S
                )
                assert {subject for subject, _ in came} == {f"craps.test.{TABLE}.presence"}
            # No log keeps them.
            assert (await stream.stream_info("CRAPS")).state.messages == 1

    asyncio.run(scenario())


def test_a_fenced_unit_says_so_and_what_it_lacks(server: CentralServer, tmp_path: Path) -> None:
    async def scenario() -> None:
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
        async with running_uplink(server.url, FakeJournal(TABLE, events=3), tmp_path / "a", TABLE) as unit:
            await unit.delivered(3)
        async with jetstream(server.url) as stream, hearing(stream._nc) as came:
            other = FakeJournal(TABLE, history="b", events=5)
            async with running_uplink(server.url, other, tmp_path / "b", TABLE) as unit:
                await unit.is_in("fenced")
                told = Presence(presence.UNIT, 5, 0, "fenced")
                await wait_until(
                    lambda: [read_presence(payload) for _, payload in came].count(told) > 1,
                    "it goes on telling",
                    WAIT_S,
                )

    asyncio.run(scenario())


@pytest.fixture(scope="module")
def central(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Central]:
    """A hub and a leaf site, generated as a casino's would be."""
    folder = tmp_path_factory.mktemp("central")
    with Central(folder, leaf_sites=[LEAF], tables=[(SITE, TABLE), (LEAF, TABLE)]) as running:
        running.start()
        for site in (SITE, LEAF):
            asyncio.run(set_up_when_ready(running, site))
        yield running


def test_a_reader_at_the_hub_hears_the_tables_of_all_sites_and_a_table_nobody(central: Central) -> None:
    async def scenario() -> None:
        async with (
            connected(central.access("archive"), "reader") as reader,
            connected(central.access(f"{SITE}.{TABLE}"), "table") as one,
            connected(central.access(f"{LEAF}.{TABLE}", LEAF), "table") as other,
            hearing(reader) as came,
            hearing(one) as eavesdropped,
        ):

            async def tell() -> None:
                while True:
                    await one.publish(f"craps.{SITE}.{TABLE}.presence", b"one")
                    await other.publish(f"craps.{LEAF}.{TABLE}.presence", b"other")
                    # Another table's: neither may.
                    await one.publish(f"craps.{LEAF}.{TABLE}.presence", b"false")
                    await other.publish(f"craps.{SITE}.{TABLE}.presence", b"false")
                    await asyncio.sleep(0.05)

            telling = asyncio.create_task(tell())
            wanted = {(f"craps.{SITE}.{TABLE}.presence", b"one"), (f"craps.{LEAF}.{TABLE}.presence", b"other")}
            await wait_until(lambda: wanted <= set(came), "both are heard", WAIT_S)
            telling.cancel()
            assert set(came) == wanted
            assert eavesdropped == []

    asyncio.run(scenario())


def test_a_table_delivers_as_ever_where_a_server_lets_no_signs_of_life_through_and_the_pit_is_told(
    central: Central, tmp_path: Path
) -> None:
    """Such as one whose files are of an older version."""
    file = central.folder / "files" / "hub-1.conf"
    text = file.read_text(encoding="utf-8")
    server = central.servers["hub-1"]
    server.kill()
    file.write_text(text.replace(".presence", ".withheld"), encoding="utf-8")
    try:
        server.start()
        server.wait()

        async def scenario() -> None:
            journal = FakeJournal(TABLE, events=3)
            key = central.key(f"{SITE}.{TABLE}")
            system = NatsSystem(central.urls(SITE), SITE, TABLE, ca=central.authority.ca, key=key)
            async with running_uplink("", journal, tmp_path, TABLE, system=system) as unit:
                await unit.delivered(3)
                journal.append()
                unit.uplink.notify()
                await unit.delivered(4)
            board = Board([], lambda _names, _standing: None, monotonic_s=lambda: 0.0, wall_ms=lambda: 0)
            listening = asyncio.create_task(listen_to_log(board, central.access("archive"), "CRAPS"))
            kinds: set[str] = set()

            def is_told() -> bool:
                board.tick()
                kinds.update(warning["kind"] for warning in board.since(0)["warnings"])
                return "presence_refused" in kinds

            await wait_until(is_told, "the page says that they are withheld", WAIT_S)
            listening.cancel()

        asyncio.run(scenario())
    finally:
        server.kill()
        file.write_text(text, encoding="utf-8")
        server.start()
        server.wait()


def test_a_broken_link_ends_the_telling_with_the_delivery(server: CentralServer, tmp_path: Path) -> None:
    async def scenario() -> None:
        record = DeliveryRecord(tmp_path / "delivery.db")
        uplink = Uplink(
            read_events=FakeJournal(TABLE).read,
            last_seq=lambda: 0,
            base=lambda: None,
            record=record,
            system=NatsSystem([server.url], "test", TABLE),
            on_change=lambda _status: None,
            on_alert=lambda _code, _text: None,
            random=random.Random(1),
        )
        before = len(asyncio.all_tasks())
        running = asyncio.create_task(uplink.run())
        await wait_until(lambda: uplink.status.state == "online", "online", WAIT_S)
        server.kill()
        await wait_until(lambda: uplink.status.state == "offline", "offline", WAIT_S)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await wait_until(lambda: len(asyncio.all_tasks()) == before, "nothing goes on", WAIT_S)
        record.close()

    asyncio.run(scenario())
