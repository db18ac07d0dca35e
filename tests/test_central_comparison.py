"""A journal held against the central log, event by event, on a real server."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from device.central_comparison import Comparison, ComparisonResult, Different, compare_with_central
from device.central_history import CentralUnreadable, nats_history
from device.event import Event, Stamp, seal
from device.journal import JournalReader
from device.nats_connection import NatsAccess
from provisioning.central_server import CentralServer, ensure_stream
from tests.conformance_rig import be_patient
from tests.journal_rig import changed, filled, lines_of
from tests.nats_rig import jetstream

EVENTS = 300
Change = Callable[[list[str]], list[str]]


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    be_patient(monkeypatch)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CentralServer]:
    with CentralServer(tmp_path_factory.mktemp("central")) as running:
        asyncio.run(ensure_stream(running.url))
        yield running


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Event]]:
    path = tmp_path_factory.mktemp("journal") / "journal.db"
    return path, filled(path, EVENTS)


def payloads(lines: Sequence[str], size: int = 70) -> list[bytes]:
    return ["\n".join(lines[first : first + size]).encode() for first in range(0, len(lines), size)]


def compare(lines: Sequence[str], own: Sequence[str]) -> Comparison:
    comparison = Comparison(lambda first, limit: list(own[first - 1 : first - 1 + limit]))
    for payload in payloads(lines):
        comparison.take(payload)
    return comparison


def difference(lines: Sequence[str], own: Sequence[str]) -> tuple[int, str]:
    with pytest.raises(Different) as different:
        compare(lines, own)
    return different.value.seq, str(different.value)


def test_two_that_are_alike(journal: tuple[Path, list[Event]]) -> None:
    lines = lines_of(journal[1])
    comparison = compare(lines, lines)
    assert (comparison.alike_seq, comparison.central_seq) == (EVENTS, EVENTS)


@pytest.mark.parametrize("seq", [1, 64, 65, 70, 71, 300])
def test_the_first_event_that_differs_is_named(journal: tuple[Path, list[Event]], seq: int) -> None:
    events = journal[1]
    edited = changed(events[seq - 1], wall="2026-11-30T22:10:56.123Z")
    central = lines_of([*events[: seq - 1], edited, *events[seq:]])
    told = (seq, f"hash is {events[seq - 1].hash}, but {edited.hash} in the central log")
    assert difference(central, lines_of(events)) == told


@pytest.mark.parametrize("seq", [1, 150])
def test_a_line_whose_hash_was_left_differs_too(journal: tuple[Path, list[Event]], seq: int) -> None:
    lines = lines_of(journal[1])
    edited = [*lines[: seq - 1], lines[seq - 1].replace('"synced"', '"free"'), *lines[seq:]]
    assert difference(edited, lines)[0] == seq
    assert difference(lines, edited)[0] == seq


def test_what_the_central_log_lacks_in_the_middle(journal: tuple[Path, list[Event]]) -> None:
    lines = lines_of(journal[1])
    assert difference(lines[:99] + lines[101:], lines) == (
        100,
        "missing in the central log, where event 102 follows event 99",
    )
    assert difference(lines[1:], lines)[0] == 1


def test_what_the_central_log_holds_twice(journal: tuple[Path, list[Event]]) -> None:
    lines = lines_of(journal[1])
    assert difference([*lines[:99], lines[97], *lines[99:]], lines) == (
        100,
        "the central log holds event 98 again after event 99",
    )


@pytest.mark.parametrize("rubbish", ["", "{}", "[1]", "\x00", '{"seq":"100"}', '{"seq":true}', "[" * 5000])
def test_what_is_no_event(journal: tuple[Path, list[Event]], rubbish: str) -> None:
    lines = lines_of(journal[1])
    assert difference([*lines[:99], rubbish, *lines[99:]], lines) == (
        100,
        "the central log holds something else than an event in its place",
    )


def test_events_behind_the_journals_end_are_counted_and_must_be_gapless(journal: tuple[Path, list[Event]]) -> None:
    lines = lines_of(journal[1])
    comparison = compare(lines, lines[:250])
    assert (comparison.alike_seq, comparison.central_seq) == (250, 300)
    assert difference(lines[:280] + lines[281:], lines[:250])[0] == 281


def test_memory_holds_a_few_events_only(journal: tuple[Path, list[Event]]) -> None:
    lines = lines_of(journal[1])
    asked: list[tuple[int, int]] = []

    def read(first: int, limit: int) -> list[str]:
        asked.append((first, limit))
        return lines[first - 1 : first - 1 + limit]

    comparison = Comparison(read)
    for payload in payloads(lines):
        comparison.take(payload)
    assert asked == [(1, 64), (65, 64), (129, 64), (193, 64), (257, 64)]


# On a real server


def compared(
    server: CentralServer, path: Path, table: str, progress: list[tuple[int, int]] | None = None
) -> ComparisonResult:
    def on_progress(done: int, whole: int) -> None:
        if progress is not None:
            progress.append((done, whole))

    with JournalReader(path) as reader:
        return asyncio.run(
            compare_with_central(
                reader,
                nats_history(NatsAccess([server.url]), "CRAPS", f"craps.casino-1.{table}.journal"),
                on_progress,
            )
        )


def publish(server: CentralServer, table: str, messages: Sequence[bytes]) -> None:
    async def do() -> None:
        async with jetstream(server.url) as stream:
            for message in messages:
                await stream.publish(f"craps.casino-1.{table}.journal", message)

    asyncio.run(do())


def test_a_log_of_many_messages_beside_others_is_read_to_its_end(
    server: CentralServer, journal: tuple[Path, list[Event]]
) -> None:
    path, events = journal
    lines = lines_of(events)
    for size in (1, 299):
        publish(server, f"many-{size}", payloads(lines, size))
        progress: list[tuple[int, int]] = []
        result = compared(server, path, f"many-{size}", progress)
        assert result == ComparisonResult(EVENTS, EVENTS, EVENTS, None, None)
        assert all(whole == EVENTS for _, whole in progress)
        assert len(progress) == (9 if size == 1 else 0)


def test_a_journal_that_goes_on_behind_the_log_is_well(
    server: CentralServer, journal: tuple[Path, list[Event]]
) -> None:
    path, events = journal
    publish(server, "behind", payloads(lines_of(events[:120])))
    assert compared(server, path, "behind") == ComparisonResult(120, EVENTS, 120, None, None)


def test_a_journal_whose_tail_was_cut_off_is_found(server: CentralServer, journal: tuple[Path, list[Event]]) -> None:
    path, events = journal
    more = seal("craps-1", 301, Stamp("boot-1", 6, "2026-11-29T22:10:57.000Z", "free"), "noted", {}, events[-1].hash)
    publish(server, "cut", payloads(lines_of([*events, more])))
    assert compared(server, path, "cut") == ComparisonResult(
        300, 300, 301, 301, "missing, though the central log goes on to event 301: the journal was cut off"
    )


def test_a_difference_says_where_both_end(server: CentralServer, journal: tuple[Path, list[Event]]) -> None:
    path, events = journal
    edited = changed(events[9], wall="2026-11-30T22:10:56.123Z")
    publish(server, "edited", payloads(lines_of([*events[:9], edited, *events[10:200]])))
    result = compared(server, path, "edited")
    assert (result.alike_seq, result.journal_seq, result.central_seq, result.first_bad_seq) == (9, 300, 200, 10)


def test_a_log_without_anything_bears_nothing_out(server: CentralServer, journal: tuple[Path, list[Event]]) -> None:
    result = compared(server, journal[0], "nobody")
    assert (result.first_bad_seq, result.alike_seq) == (1, 0)
    assert result.what_is_wrong == "the central log holds nothing under craps.casino-1.nobody.journal"


def test_a_journal_that_is_empty_as_is_the_log_is_well(server: CentralServer, tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    filled(path, 0)
    assert compared(server, path, "nobody") == ComparisonResult(0, 0, 0, None, None)


def test_a_server_that_is_not_there_and_a_stream_that_is_not_there(
    server: CentralServer, journal: tuple[Path, list[Event]]
) -> None:
    subject = "craps.casino-1.craps-1.journal"
    with JournalReader(journal[0]) as reader:
        for servers, stream, words in (
            (["nats://127.0.0.1:1"], "CRAPS", "the central server takes no connections; it may be down"),
            (
                [server.url],
                "OTHER",
                "no central server has this stream ready; if that stays, it has to be set up there",
            ),
        ):
            with pytest.raises(CentralUnreadable) as unreadable:
                asyncio.run(
                    compare_with_central(reader, nats_history(NatsAccess(servers), stream, subject), lambda *_: None)
                )
            assert str(unreadable.value) == words
