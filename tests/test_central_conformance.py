"""What a central system must hold, whichever way it takes events: one suite against NATS and HTTPS, real processes."""

import asyncio
import json
import random
from collections.abc import Iterator
from copy import copy
from pathlib import Path

import pytest

import device.https_log
import device.nats_connection
import device.nats_log
import device.uplink_protocol
from device.adoption import adopt
from device.clock import Clock
from device.data_folder import open_data_folder
from device.table_key import TableKey
from device.uplink import UplinkStatus
from tests.archive_rig import History
from tests.conformance_rig import (
    KEY,
    KNOWN,
    OTHER_KEY,
    OTHER_TABLE,
    SITE,
    TABLE,
    UNKNOWN_KEY,
    AnyCentral,
    Certificates,
    FaultyLink,
    HttpsCentral,
    NatsCentral,
    be_patient,
    delivering,
    hurry,
    link_to,
    running,
)
from tests.nats_rig import FakeJournal, UnitUnderTest, wait_until
from tests.terminal_rig import lines_in

HEIR = TableKey(b"\x0a" * 32)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """A CA and a server's certificate under it."""
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(params=[NatsCentral, HttpsCentral], ids=["nats", "https"])
def central(request: pytest.FixtureRequest, tmp_path: Path, certificates: Certificates) -> Iterator[AnyCentral]:
    """A central system that runs and has no events."""
    made: AnyCentral = request.param(tmp_path / "central", certificates)
    with running(made):
        yield made


def append(unit: UnitUnderTest, journal: FakeJournal, count: int = 1) -> None:
    journal.append(count)
    unit.uplink.notify()


def delivered_online(unit: UnitUnderTest) -> list[int]:
    return [status.delivered for status in unit.statuses if status.state == "online"]


def test_a_backlog_is_packed_and_a_unit_without_its_record_resumes_by_asking(
    central: AnyCentral, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    be_patient(monkeypatch)

    async def scenario() -> None:
        journal = FakeJournal(TABLE, events=1000)
        async with delivering(central, journal, tmp_path / "one") as unit:
            await unit.delivered(1000)
            assert delivered_online(unit) == [0, 256, 512, 768, 1000]
        journal.append(3)
        async with delivering(central, journal, tmp_path / "record lost") as unit:
            await unit.delivered(1003)
            assert delivered_online(unit) == [1000, 1003]
            assert unit.alerts == []
        assert await central.log(TABLE) == journal.lines

    asyncio.run(scenario())


def test_events_go_at_once_while_the_link_is_up(
    central: AnyCentral, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    be_patient(monkeypatch)

    async def scenario() -> None:
        journal = FakeJournal(TABLE)
        clock = asyncio.get_running_loop().time
        took_s: list[float] = []
        async with delivering(central, journal, tmp_path / "unit") as unit:
            await unit.is_in("online")
            for seq in range(1, 21):
                began = clock()
                append(unit, journal)
                await unit.delivered(seq)
                took_s.append(clock() - began)
            # No clock lets them go: on a busy machine some take long, but never all of them.
            assert min(took_s) < 1
            assert delivered_online(unit) == list(range(21))
        assert await central.log(TABLE) == journal.lines

    asyncio.run(scenario())


def test_a_lost_acknowledgement_makes_no_hole_and_no_duplicate(central: AnyCentral, tmp_path: Path) -> None:
    async def scenario() -> None:
        journal = FakeJournal(TABLE, events=1)
        async with (
            link_to(central) as link,
            delivering(central, journal, tmp_path / "unit", port=link.port) as unit,
        ):
            await unit.delivered(1)
            link.swallows_answers = True
            append(unit, journal)
            while len(await central.log(TABLE)) < 2:
                await asyncio.sleep(0.01)
            assert unit.status.delivered == 1
            # More has happened since, so what comes next is packed otherwise.
            journal.append(2)
            link.cut()
            await unit.is_in("offline")
            link.swallows_answers = False
            await unit.delivered(4)
            assert unit.alerts == []
        assert await central.log(TABLE) == journal.lines

    asyncio.run(scenario())


def test_a_pack_that_is_cut_off_in_the_middle_leaves_nothing_behind(
    central: AnyCentral, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    be_patient(monkeypatch)

    async def scenario() -> None:
        journal = FakeJournal(TABLE, events=1)
        async with (
            link_to(central) as link,
            delivering(central, journal, tmp_path / "unit", port=link.port) as unit,
        ):
            await unit.delivered(1)
            journal.append(200)
            # Until the log was looked at.
            link.refuses = True
            link.sends_bytes = 40_000
            unit.uplink.notify()
            await wait_until(lambda: link.sends_bytes is None, "the cut")
            await unit.is_in("offline")
            assert len(await central.log(TABLE)) == 1
            link.refuses = False
            await unit.delivered(201)
            assert unit.alerts == []
        assert await central.log(TABLE) == journal.lines

    asyncio.run(scenario())


@pytest.mark.parametrize("events", [1, 0], ids=["with an event to deliver", "while idle"])
def test_a_half_open_link_is_noticed_and_left(
    central: AnyCentral, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, events: int
) -> None:
    hurry(monkeypatch)

    async def scenario() -> None:
        journal = FakeJournal(TABLE, events=1)
        async with (
            link_to(central) as link,
            delivering(central, journal, tmp_path / "unit", port=link.port) as unit,
        ):
            await unit.delivered(1)
            told = len(unit.statuses)
            link.freeze()
            append(unit, journal, events)
            await wait_until(lambda: "offline" in [status.state for status in unit.statuses[told:]], "the loss shown")
            append(unit, journal)
            await unit.delivered(2 + events)
            assert unit.alerts == []
        assert await central.log(TABLE) == journal.lines

    asyncio.run(scenario())


def test_killed_while_events_are_written_it_has_each_of_them_once(central: AnyCentral, tmp_path: Path) -> None:
    async def scenario() -> None:
        journal = FakeJournal(TABLE, events=1500, padding_bytes=4000)
        kill_after = [250, 700, 1200]

        def kill_in_the_middle(status: UplinkStatus) -> None:
            if kill_after and status.delivered >= kill_after[0]:
                del kill_after[0]
                central.program.kill()

        async with delivering(central, journal, tmp_path / "unit", on_change=kill_in_the_middle) as unit:
            for kills_left in (2, 1, 0):
                await wait_until(lambda left=kills_left: len(kill_after) == left, "a kill")  # type: ignore[misc]
                await unit.is_in("offline")
                central.start()
            await unit.delivered(1500)
            assert unit.alerts == []
        assert await central.log(TABLE) == journal.lines

    asyncio.run(scenario())


def test_a_killed_one_is_said_to_be_down(central: AnyCentral, tmp_path: Path) -> None:
    async def scenario() -> None:
        journal = FakeJournal(TABLE, events=1)
        async with delivering(central, journal, tmp_path / "unit") as unit:
            await unit.delivered(1)
            central.program.kill()
            said = "the central server takes no connections; it may be down"
            append(unit, journal)
            await wait_until(lambda: unit.status == UplinkStatus("offline", 1, said), said)

    asyncio.run(scenario())


def roll_back(central: AnyCentral) -> None:
    central.program.kill()
    central.program.roll_back()
    central.start()


@pytest.mark.parametrize("is_connected", [True, False], ids=["while connected", "while the unit was off"])
def test_a_tail_that_it_lost_is_sent_again_with_an_alert(
    central: AnyCentral, tmp_path: Path, is_connected: bool
) -> None:
    lost = (
        "log_lost_tail",
        "the central log ends at event 2, though it acknowledged event 4; the missing events are sent again",
    )

    async def scenario() -> None:
        journal = FakeJournal(TABLE, events=2)
        async with delivering(central, journal, tmp_path / "unit") as unit:
            await unit.delivered(2)
            central.program.stop()
            central.program.keep_store()
            central.start()
            append(unit, journal, 2)
            await unit.delivered(4)
            if is_connected:
                roll_back(central)
                append(unit, journal)
                await unit.delivered(5)
                assert unit.alerts == [lost]
        if not is_connected:
            roll_back(central)
            async with delivering(central, journal, tmp_path / "unit") as unit:
                await unit.delivered(4)
                assert unit.alerts == [lost]
        assert await central.log(TABLE) == journal.lines

    asyncio.run(scenario())


def test_a_unit_with_another_history_is_fenced_with_one_alert_and_writes_nothing(
    central: AnyCentral, tmp_path: Path
) -> None:
    async def scenario() -> None:
        one, two = FakeJournal(TABLE, "one", events=3), FakeJournal(TABLE, "two", events=5)
        async with delivering(central, one, tmp_path / "one") as first:
            await first.delivered(3)
        async with delivering(central, two, tmp_path / "two") as second:
            await second.is_in("fenced")
            assert second.status.delivered == 0
            assert second.alerts == [
                (
                    "uplink_fenced",
                    "event 3 in the central log is not the one in this unit's journal: another unit reports under "
                    "this table's name, or this unit's journal was replaced",
                )
            ]
        assert await central.log(TABLE) == one.lines

    asyncio.run(scenario())


def test_of_two_units_with_one_key_the_one_that_comes_second_is_fenced_and_the_first_goes_on(
    central: AnyCentral, tmp_path: Path
) -> None:
    async def scenario() -> None:
        one, two = FakeJournal(TABLE, "one"), FakeJournal(TABLE, "two")
        async with (
            delivering(central, one, tmp_path / "one") as first,
            delivering(central, two, tmp_path / "two") as second,
        ):
            await first.is_in("online")
            await second.is_in("online")
            append(first, one)
            await first.delivered(1)
            append(second, two, 2)
            await second.is_in("fenced")
            assert [code for code, _ in second.alerts] == ["uplink_fenced"]
            append(first, one)
            await first.delivered(2)
            assert first.alerts == []
        assert await central.log(TABLE) == one.lines

    asyncio.run(scenario())


class RecordingRandom(random.Random):
    """Draws a short wait every time, and keeps the bounds that it was to draw from."""

    def __init__(self) -> None:
        super().__init__()
        self.bounds: list[tuple[float, float]] = []

    def uniform(self, a: float, b: float) -> float:
        self.bounds.append((a, b))
        return 0.02


async def break_a_request_off(link: FaultyLink, unit: UnitUnderTest, journal: FakeJournal) -> None:
    """Between its way to the server and its answer, so that whoever asks notices."""
    link.swallows_answers = True
    sent_bytes = link.sent_bytes
    append(unit, journal)
    await wait_until(lambda: link.sent_bytes > sent_bytes, "the request")
    link.cut()
    link.swallows_answers = False


def test_the_back_off_grows_with_every_short_link_and_begins_anew_after_a_stable_one(
    central: AnyCentral, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = RecordingRandom()

    async def scenario() -> None:
        journal = FakeJournal(TABLE, events=1)
        async with (
            link_to(central) as link,
            delivering(central, journal, tmp_path / "unit", port=link.port, chance=chance) as unit,
        ):
            for breaks in range(1, 5):
                await unit.delivered(breaks)
                if breaks == 4:
                    # So the minute that it takes by default has passed.
                    monkeypatch.setattr(device.uplink_protocol, "LINK_STABLE_S", 0.0)
                    short = len(chance.bounds)
                await break_a_request_off(link, unit, journal)
                await wait_until(lambda due=breaks: len(chance.bounds) >= due, "the wait")  # type: ignore[misc]
            await unit.delivered(5)
        # On a busy machine a link may break off once more than it was made to.
        assert chance.bounds[:short] == [(0.0, 2.0**number) for number in range(short)]
        assert set(chance.bounds[short:]) == {(0.0, 1.0)}
        assert 3 <= short < len(chance.bounds) < 8

    asyncio.run(scenario())


def test_a_table_whose_key_is_not_known_is_told_so_plays_on_and_delivers_once_it_is(
    central: AnyCentral, tmp_path: Path
) -> None:
    said = (
        "the central server refuses this table's credentials; its list of tables should hold the key "
        f"{UNKNOWN_KEY.public}"
    )

    async def scenario() -> None:
        journal = FakeJournal("craps-3", events=2)
        async with delivering(central, journal, tmp_path / "unit", table="craps-3", key=UNKNOWN_KEY) as unit:
            await wait_until(lambda: unit.status == UplinkStatus("offline", 0, said), said)
            append(unit, journal)
            assert unit.alerts == []
            central.program.stop()
            central.know(KNOWN | {"craps-3": UNKNOWN_KEY.public})
            central.start()
            await unit.delivered(3)
        assert await central.log("craps-3") == journal.lines

    asyncio.run(scenario())


def test_a_certificate_that_has_expired_is_said(tmp_path: Path, certificates: Certificates) -> None:
    said = "the central server's certificate is refused: it has expired, or this table's clock is ahead"
    expired = copy(certificates)
    expired.certificate, expired.key = certificates.expired_certificate, certificates.expired_key
    central = HttpsCentral(tmp_path / "central", expired)

    async def scenario() -> None:
        async with delivering(central, FakeJournal(TABLE, events=1), tmp_path / "unit") as unit:
            await wait_until(lambda: unit.status == UplinkStatus("offline", 0, said), said)
        assert await central.log(TABLE) == []

    with running(central):
        asyncio.run(scenario())


def test_a_server_under_another_ca_gets_nothing(central: AnyCentral, tmp_path: Path) -> None:
    said = "the central server's certificate is refused: the site's CA has not signed it"

    async def scenario() -> None:
        journal = FakeJournal(TABLE, events=1)
        wrong = central.certificates.other_ca
        async with delivering(central, journal, tmp_path / "unit", ca=wrong) as unit:
            await wait_until(lambda: unit.status == UplinkStatus("offline", 0, said), said)
            append(unit, journal)
        assert await central.log(TABLE) == []

    asyncio.run(scenario())


def test_the_largest_event_goes_alone_and_large_ones_in_packs(
    central: AnyCentral, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    be_patient(monkeypatch)

    async def scenario() -> None:
        journal = FakeJournal(TABLE, events=2)
        # 512 KiB is what an event may have: this one has a little less, and twice that in an answer that quotes it.
        journal.append(padding='"' * 261_000)
        journal.append(5, padding="y" * 100_000)
        assert 500_000 < len(journal.lines[2].encode()) <= 512 * 1024
        async with delivering(central, journal, tmp_path / "unit") as unit:
            await unit.delivered(8)
            assert delivered_online(unit) == [0, 2, 3, 5, 7, 8]
        assert await central.log(TABLE) == journal.lines

    asyncio.run(scenario())


def adopted(central: AnyCentral, folder: Path) -> int:
    folder.mkdir()
    with open_data_folder(folder) as data:
        return asyncio.run(
            adopt(
                data,
                [central.history(TABLE, HEIR)],
                site=SITE,
                table=TABLE,
                key=HEIR.public,
                clock=Clock(),
                on_progress=lambda *_: None,
            )
        )


def test_a_new_unit_takes_the_table_over_and_goes_on_where_the_log_ends(
    central: AnyCentral, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    be_patient(monkeypatch)
    former = FakeJournal(TABLE)
    # Signed, as a terminal's is, in several messages and pages.
    history = History(TABLE, KEY, SITE).play(random.Random(1), 700)
    history.checkpoint()
    former.lines = [event.line() for event in history.events]
    assert len(former.lines) > 2 * 256

    async def deliver(journal: FakeJournal, key: TableKey, name: str) -> None:
        async with delivering(central, journal, tmp_path / name, key=key) as unit:
            await unit.delivered(len(journal.lines))
            assert unit.alerts == []

    asyncio.run(deliver(former, KEY, "former"))
    central.program.stop()
    central.know({TABLE: HEIR.public, OTHER_TABLE: OTHER_KEY.public})
    central.start()
    assert adopted(central, tmp_path / "heir") == len(former.lines) + 1
    heir = FakeJournal(TABLE)
    heir.lines = lines_in(tmp_path / "heir")
    assert heir.lines[:-1] == former.lines
    assert json.loads(heir.lines[-1])["type"] == "adopted"
    asyncio.run(deliver(heir, HEIR, "heir"))
    assert asyncio.run(central.log(TABLE)) == heir.lines


def test_two_tables_have_a_log_each(central: AnyCentral, tmp_path: Path) -> None:
    async def scenario() -> None:
        one, two = FakeJournal(TABLE, events=300), FakeJournal(OTHER_TABLE, events=300)
        async with (
            delivering(central, one, tmp_path / "one") as first,
            delivering(central, two, tmp_path / "two", table=OTHER_TABLE, key=OTHER_KEY) as second,
        ):
            await first.delivered(300)
            await second.delivered(300)
        assert await central.log(TABLE) == one.lines
        assert await central.log(OTHER_TABLE) == two.lines

    asyncio.run(scenario())
