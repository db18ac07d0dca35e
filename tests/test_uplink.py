"""The uplink against a real nats-server: what arrives, once and in order, whatever fails in between."""

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import NoReturn

import pytest

import device.nats_connection
import device.uplink
from device.delivery_record import DeliveryRecord
from device.ended_tasks import end_tasks
from device.uplink import Deliver, UplinkStatus
from device.uplink_protocol import Batch, LogEnd
from provisioning.central_server import STREAM, CentralServer, ensure_stream, stream_config
from tests.conformance_rig import FaultyLink, be_patient, hurry
from tests.nats_rig import (
    FailingLink,
    FakeJournal,
    jetstream,
    read_log,
    read_messages,
    running_uplink,
    wait_until,
)

TABLE = "craps-1"
SUBJECT = "craps.test.craps-1.journal"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[CentralServer]:
    """A central server with the stream set up."""
    with CentralServer(tmp_path / "central") as running:
        asyncio.run(ensure_stream(running.url))
        yield running


def test_a_backlog_is_packed_and_a_restarted_unit_goes_on_after_it(server: CentralServer, tmp_path: Path) -> None:
    async def scenario() -> None:
        journal = FakeJournal(TABLE, events=600)
        async with running_uplink(server.url, journal, tmp_path, TABLE) as unit:
            await unit.delivered(600)
        assert [len(message) for message in await read_messages(server.url, "test", TABLE)] == [256, 256, 88]

        journal.append(3)
        async with running_uplink(server.url, journal, tmp_path, TABLE) as unit:
            assert unit.status == UplinkStatus("offline", 600, None)
            await unit.delivered(603)
            assert unit.alerts == []
        assert [len(message) for message in await read_messages(server.url, "test", TABLE)] == [256, 256, 88, 3]
        assert await read_log(server.url, "test", TABLE) == journal.lines

    asyncio.run(scenario())


def test_a_message_names_its_first_and_last_event(server: CentralServer, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_uplink(server.url, FakeJournal(TABLE, events=3), tmp_path, TABLE) as unit:
            await unit.delivered(3)
        async with jetstream(server.url) as stream:
            message = await stream.get_last_msg(STREAM, SUBJECT)
        assert message.headers == {
            "Nats-Msg-Id": "test.craps-1:1-3",
            "Nats-Expected-Last-Subject-Sequence": "0",
            "Nats-Expected-Stream": "CRAPS",
            "Boxman-First-Seq": "1",
            "Boxman-Last-Seq": "3",
        }

    asyncio.run(scenario())


def test_events_that_happen_while_connected_go_at_once(server: CentralServer, tmp_path: Path) -> None:
    async def scenario() -> None:
        journal = FakeJournal(TABLE)
        async with running_uplink(server.url, journal, tmp_path, TABLE) as unit:
            await unit.is_in("online")
            for seq in range(1, 6):
                journal.append()
                unit.uplink.notify()
                await unit.delivered(seq)
        assert await read_messages(server.url, "test", TABLE) == [[line] for line in journal.lines]

    asyncio.run(scenario())


def test_what_happens_while_the_server_is_down_arrives_once_and_in_order(server: CentralServer, tmp_path: Path) -> None:
    async def scenario() -> None:
        journal = FakeJournal(TABLE, events=2)
        async with running_uplink(server.url, journal, tmp_path, TABLE) as unit:
            await unit.delivered(2)
            server.stop()
            await wait_until(
                lambda: (
                    unit.status == UplinkStatus("offline", 2, "the central server takes no connections; it may be down")
                ),
                "the outage shown",
            )
            journal.append(400)
            unit.uplink.notify()
            server.start()
            await unit.delivered(402)
            assert unit.alerts == []
        assert await read_log(server.url, "test", TABLE) == journal.lines

    asyncio.run(scenario())


def test_a_server_killed_while_events_are_published_has_each_of_them_once(
    server: CentralServer, tmp_path: Path
) -> None:
    async def scenario() -> None:
        journal = FakeJournal(TABLE, events=3000, padding_bytes=4000)
        kill_after = [500, 1500, 2500]

        def kill_in_the_middle(status: UplinkStatus) -> None:
            if kill_after and status.delivered >= kill_after[0]:
                del kill_after[0]
                server.kill()

        async def restart_after_a_kill(kills_left: int) -> None:
            await wait_until(lambda: len(kill_after) == kills_left, "a kill")
            await unit.is_in("offline")
            server.start()

        async with running_uplink(server.url, journal, tmp_path, TABLE, on_change=kill_in_the_middle) as unit:
            await restart_after_a_kill(kills_left=2)
            await restart_after_a_kill(kills_left=1)
            await restart_after_a_kill(kills_left=0)
            await unit.delivered(3000)
            assert unit.alerts == []
        assert await read_log(server.url, "test", TABLE) == journal.lines

    asyncio.run(scenario())


@contextlib.asynccontextmanager
async def failing_link(server: CentralServer) -> AsyncIterator[FailingLink]:
    async with FailingLink(int(server.url.rpartition(":")[2])).listening() as link:
        yield link


async def log_length(server: CentralServer) -> int:
    return len(await read_log(server.url, "test", TABLE))


def test_a_lost_acknowledgement_makes_no_hole_and_no_duplicate(server: CentralServer, tmp_path: Path) -> None:
    async def scenario() -> None:
        journal = FakeJournal(TABLE, events=1)
        async with (
            failing_link(server) as link,
            running_uplink(link.url, journal, tmp_path, TABLE) as unit,
        ):
            await unit.delivered(1)
            link.swallows_answers = True
            journal.append()
            unit.uplink.notify()
            while await log_length(server) < 2:
                pass
            assert unit.status.delivered == 1
            # More has happened since, so that what comes next is packed otherwise and has another Nats-Msg-Id.
            journal.append(2)
            link.cut()
            await unit.is_in("offline")
            link.swallows_answers = False
            await unit.delivered(4)
            assert unit.alerts == []
        assert await read_log(server.url, "test", TABLE) == journal.lines

    asyncio.run(scenario())


def test_an_outage_longer_than_the_duplicate_window_makes_no_duplicate(server: CentralServer, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with jetstream(server.url) as stream:
            await stream.update_stream(stream_config().evolve(duplicate_window=0.1))
        journal = FakeJournal(TABLE, events=1)
        async with (
            failing_link(server) as link,
            running_uplink(link.url, journal, tmp_path, TABLE) as unit,
        ):
            await unit.delivered(1)
            link.swallows_answers = True
            journal.append()
            unit.uplink.notify()
            while await log_length(server) < 2:
                pass
            await duplicate_window_has_passed(server)
            link.cut()
            await unit.is_in("offline")
            link.swallows_answers = False
            await unit.delivered(2)
        assert await read_log(server.url, "test", TABLE) == journal.lines

    asyncio.run(scenario())


async def duplicate_window_has_passed(server: CentralServer) -> None:
    """Wait until the server has forgotten a name that it heard after everything it has heard until now."""
    async with jetstream(server.url) as stream:
        while True:
            ack = await stream.publish("craps.test.probe.journal", b"", headers={"Nats-Msg-Id": "probe"})
            if not ack.duplicate and ack.seq > 3:
                return


@pytest.mark.parametrize(
    "first_has",
    [
        pytest.param(1, id="and publishes under the same Nats-Msg-Id"),
        pytest.param(2, id="and publishes under another Nats-Msg-Id"),
    ],
)
def test_a_second_unit_is_fenced_in_the_middle_of_a_connection(
    server: CentralServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first_has: int
) -> None:
    be_patient(monkeypatch)

    async def scenario() -> None:
        one, two = FakeJournal(TABLE, "one"), FakeJournal(TABLE, "two")
        (tmp_path / "two").mkdir()
        async with (
            running_uplink(server.url, one, tmp_path, TABLE) as first,
            running_uplink(server.url, two, tmp_path / "two", TABLE) as second,
        ):
            await first.is_in("online")
            await second.is_in("online")
            one.append(first_has)
            first.uplink.notify()
            await first.delivered(first_has)
            two.append()
            second.uplink.notify()
            await second.is_in("fenced")
            assert second.status.delivered == 0
            assert [status.state for status in second.statuses] == ["online", "fenced"]

            one.append()
            first.uplink.notify()
            await first.delivered(first_has + 1)
            assert first.alerts == []
        assert await read_log(server.url, "test", TABLE) == one.lines

    asyncio.run(scenario())


def test_a_second_unit_is_fenced_says_so_once_and_goes_on_when_the_log_is_its_own(
    server: CentralServer, tmp_path: Path
) -> None:
    async def scenario() -> None:
        one, two = FakeJournal(TABLE, "one", events=3), FakeJournal(TABLE, "two", events=5)
        async with running_uplink(server.url, one, tmp_path, TABLE) as first:
            await first.delivered(3)
        (tmp_path / "two").mkdir()
        async with running_uplink(server.url, two, tmp_path / "two", TABLE) as second:
            await second.is_in("fenced")
            why = second.status.last_error
            assert why == (
                "event 3 in the central log is not the one in this unit's journal: "
                "another unit reports under this table's name, or this unit's journal was replaced"
            )
            server.stop()
            await wait_until(lambda: second.status.last_error != why, "the outage shown")
            assert second.status.state == "fenced"
            server.start()
            await wait_until(lambda: second.status.last_error == why, "the fence shown again")
            assert second.alerts == [("uplink_fenced", why)]
            assert await read_log(server.url, "test", TABLE) == one.lines

            async with jetstream(server.url) as stream:
                await stream.purge_stream(STREAM, subject=SUBJECT)
            await second.delivered(5)
        assert await read_log(server.url, "test", TABLE) == two.lines

    asyncio.run(scenario())


def test_a_unit_whose_journal_is_behind_the_log_is_fenced(server: CentralServer, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_uplink(server.url, FakeJournal(TABLE, events=3), tmp_path, TABLE) as unit:
            await unit.delivered(3)
        (tmp_path / "new").mkdir()
        async with running_uplink(server.url, FakeJournal(TABLE, events=2), tmp_path / "new", TABLE) as replaced:
            await replaced.is_in("fenced")
            assert [code for code, _ in replaced.alerts] == ["uplink_fenced"]

    asyncio.run(scenario())


async def roll_back_to_the_first_message(server: CentralServer) -> None:
    async with jetstream(server.url) as stream:
        first = await stream.get_msg(STREAM, seq=1)
        assert first.data is not None
        await stream.delete_stream(STREAM)
        await ensure_stream(server.url)
        await stream.publish(SUBJECT, first.data)


LOST_TAIL = (
    "log_lost_tail",
    "the central log ends at event 2, though it acknowledged event 4; the missing events are sent again",
)


def test_a_log_that_lost_its_tail_while_the_unit_was_off_gets_it_again_with_an_alert(
    server: CentralServer, tmp_path: Path
) -> None:
    async def scenario() -> None:
        journal = FakeJournal(TABLE, events=2)
        async with running_uplink(server.url, journal, tmp_path, TABLE) as unit:
            await unit.delivered(2)
            journal.append(2)
            unit.uplink.notify()
            await unit.delivered(4)
        await roll_back_to_the_first_message(server)
        async with running_uplink(server.url, journal, tmp_path, TABLE) as unit:
            await unit.delivered(4)
            assert unit.alerts == [LOST_TAIL]
        assert await read_log(server.url, "test", TABLE) == journal.lines

    asyncio.run(scenario())


def test_a_log_that_lost_its_tail_while_connected_gets_it_again_with_an_alert(
    server: CentralServer, tmp_path: Path
) -> None:
    async def scenario() -> None:
        journal = FakeJournal(TABLE, events=2)
        async with running_uplink(server.url, journal, tmp_path, TABLE) as unit:
            await unit.delivered(2)
            journal.append(2)
            unit.uplink.notify()
            await unit.delivered(4)
            await roll_back_to_the_first_message(server)
            journal.append()
            unit.uplink.notify()
            await unit.delivered(5)
            assert unit.alerts == [LOST_TAIL]
        assert await read_log(server.url, "test", TABLE) == journal.lines

    asyncio.run(scenario())


def test_a_replica_that_is_behind_is_no_loss(tmp_path: Path) -> None:
    journal = FakeJournal(TABLE, events=4)
    line = journal.lines[1]

    class BehindAtFirst:
        """A cluster without a leader yet, one of whose servers answers as it was two messages ago."""

        bytes_max = 256 * 1024

        def __init__(self) -> None:
            self.ends = [LogEnd(1, 2, line), LogEnd(2, 4, journal.lines[3])]

        async def end(self) -> LogEnd:
            return self.ends.pop(0)

        async def publish(self, batch: Batch, sequence: int) -> int | None:
            return sequence + 1 if batch.first == 5 else None

        async def tell(self, presence: bytes) -> None:
            del presence

    class System:
        name = "nats"

        async def use(self, deliver: Deliver) -> NoReturn:
            await deliver(BehindAtFirst())

    async def scenario() -> None:
        record = DeliveryRecord(tmp_path / "delivery.db")
        record.set("nats", 4, 2)
        record.close()
        async with running_uplink("", journal, tmp_path, TABLE, system=System()) as unit:
            await wait_until(lambda: UplinkStatus("online", 4, None) in unit.statuses, "the true end")
            journal.append()
            unit.uplink.notify()
            await unit.delivered(5)
            assert unit.alerts == []

    asyncio.run(scenario())


def test_an_acknowledged_duplicate_that_the_log_does_not_hold_does_not_count(
    server: CentralServer, tmp_path: Path
) -> None:
    async def scenario() -> None:
        journal = FakeJournal(TABLE, events=2)
        async with running_uplink(server.url, journal, tmp_path, TABLE) as unit:
            await unit.delivered(2)
        async with jetstream(server.url) as stream:
            await stream.purge_stream(STREAM, subject=SUBJECT)
            async with running_uplink(server.url, journal, tmp_path, TABLE) as unit:
                # The server still knows the message's name, and acknowledges without storing it.
                said = "the central log does not take events 1 to 2 at the moment"
                await wait_until(lambda: unit.status == UplinkStatus("offline", 0, said), said)
                await stream.update_stream(stream_config().evolve(duplicate_window=0.1))
                await unit.delivered(2)
                assert [code for code, _ in unit.alerts] == ["log_lost_tail"]
        assert await read_log(server.url, "test", TABLE) == journal.lines

    asyncio.run(scenario())


def test_a_missing_stream_is_said_and_delivery_begins_once_it_is_there(tmp_path: Path) -> None:
    async def scenario(server: CentralServer) -> None:
        journal = FakeJournal(TABLE, events=1)
        async with running_uplink(server.url, journal, tmp_path, TABLE) as unit:
            said = "no central server has this stream ready; if that stays, it has to be set up there"
            await wait_until(lambda: unit.status == UplinkStatus("offline", 0, said), said)
            await ensure_stream(server.url)
            await unit.delivered(1)

    with CentralServer(tmp_path / "central") as server:
        asyncio.run(scenario(server))


def test_a_server_that_accepts_and_says_nothing_does_not_hold_the_uplink(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device.nats_connection, "CONNECT_TIMEOUT_S", 0.1)

    async def scenario() -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            url = f"nats://127.0.0.1:{silent.getsockname()[1]}"
            async with running_uplink(url, FakeJournal(TABLE), tmp_path, TABLE) as unit:
                said = "the central server does not answer in time"
                await wait_until(lambda: unit.status.last_error == said, said)

    asyncio.run(scenario())


def test_a_plain_link_that_is_half_open_is_noticed_and_left(
    server: CentralServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hurry(monkeypatch)

    async def scenario() -> None:
        journal = FakeJournal(TABLE, events=1)
        link = FaultyLink(int(server.url.rpartition(":")[2]))
        async with link.listening(), running_uplink(link.url, journal, tmp_path, TABLE) as unit:
            await unit.delivered(1)
            told = len(unit.statuses)
            link.freeze()
            journal.append()
            unit.uplink.notify()
            await wait_until(lambda: "offline" in [status.state for status in unit.statuses[told:]], "the loss shown")
            await unit.delivered(2)
            assert unit.alerts == []
        assert await read_log(server.url, "test", TABLE) == journal.lines

    asyncio.run(scenario())


def test_a_password_in_a_url_is_neither_shown_nor_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    async def scenario() -> None:
        with socket.socket() as nobody_listens:
            nobody_listens.bind(("127.0.0.1", 0))
            url = f"nats://table:hunter2@127.0.0.1:{nobody_listens.getsockname()[1]}"
            async with running_uplink(url, FakeJournal(TABLE), tmp_path, TABLE) as unit:
                await wait_until(lambda: unit.status.last_error is not None, "an error")
                assert "hunter2" not in str(unit.statuses)

    asyncio.run(scenario())
    assert "hunter2" not in caplog.text


def test_a_tls_address_keeps_the_password_from_a_server_without_encryption(tmp_path: Path) -> None:
    heard = bytearray()
    said = "the central server offers no encryption, which its tls:// address demands"

    async def answer_in_the_clear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b'INFO {"auth_required":true,"max_payload":1048576}\r\n')
        heard.extend(await reader.read())
        writer.close()

    async def scenario() -> None:
        async with await asyncio.start_server(answer_in_the_clear, "127.0.0.1", 0) as server:
            url = f"tls://table:hunter2@127.0.0.1:{server.sockets[0].getsockname()[1]}"
            async with running_uplink(url, FakeJournal(TABLE), tmp_path, TABLE) as unit:
                await wait_until(lambda: unit.status.last_error == said, said)

    asyncio.run(scenario())
    assert heard == b""


def test_a_url_with_a_mistake_is_refused_without_showing_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with running_uplink("nats://table:hunter2/x@host:4222", FakeJournal(TABLE), tmp_path, TABLE):
            pass

    with pytest.raises(ValueError, match="server 1 of the uplink") as refused:
        asyncio.run(scenario())
    assert "hunter2" not in str(refused.value)


def test_an_unexpected_error_is_shown_and_logged_and_does_not_end_the_uplink(
    server: CentralServer, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    be_patient(monkeypatch)
    journal = FakeJournal(TABLE, events=1)
    failures = [RuntimeError("a mistake in the program")]

    def read_events(first: int, limit: int) -> list[str]:
        if failures:
            raise failures.pop()
        return journal.read(first, limit)

    async def scenario() -> None:
        async with running_uplink(server.url, journal, tmp_path, TABLE, read_events=read_events) as unit:
            await unit.delivered(1)
            assert [status.last_error for status in unit.statuses] == [
                None,
                "an unexpected error (RuntimeError); the log of this unit has the details",
                None,
                None,
            ]

    asyncio.run(scenario())
    assert "RuntimeError: a mistake in the program" in caplog.text


def test_a_listener_that_fails_does_not_stop_delivery(server: CentralServer, tmp_path: Path) -> None:
    def fail(_status: UplinkStatus) -> None:
        raise RuntimeError("a mistake in the listener")

    async def scenario() -> None:
        async with running_uplink(server.url, FakeJournal(TABLE, events=2), tmp_path, TABLE, on_change=fail) as unit:
            await unit.delivered(2)

    asyncio.run(scenario())


def test_a_task_that_forgets_a_cancellation_is_ended_all_the_same() -> None:
    async def forget_twice() -> None:
        for _ in range(2):
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
        await asyncio.Event().wait()

    async def scenario() -> None:
        forgetful, done = asyncio.create_task(forget_twice()), asyncio.create_task(asyncio.sleep(0))
        await done
        async with asyncio.timeout(60):
            await end_tasks(forgetful, done)
        assert forgetful.cancelled()

    asyncio.run(scenario())
