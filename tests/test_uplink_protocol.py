"""Packing, headers, fencing and back-off, without a network."""

import random
import ssl

import nats.errors
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nats.js.errors import APIError, NoStreamResponseError, NotFoundError, ServiceUnavailableError

from device.nats_connection import explain
from device.uplink_protocol import (
    EMPTY_LOG,
    Backoff,
    Batch,
    DeliveryError,
    LogEnd,
    backoff_limit_s,
    fence_reason,
    headers,
    pack,
    read_log_end,
    subject,
)
from tests.nats_rig import FakeJournal

WHO = "another unit reports under this table's name, or this unit's journal was replaced"


def test_events_are_packed_one_a_line() -> None:
    lines = ['{"seq":7}', '{"seq":8}']
    assert pack(lines, 7) == Batch(7, 8, b'{"seq":7}\n{"seq":8}')


def test_a_pack_ends_before_the_event_that_would_make_it_too_large() -> None:
    lines = ['{"seq":1}', '{"seq":2}', '{"seq":3}']  # 9 bytes each, so two and their newline are 19
    assert pack(lines, 1, bytes_max=19).last == 2
    assert pack(lines, 1, bytes_max=18).last == 1


def test_a_single_event_that_is_too_large_is_packed_alone() -> None:
    assert pack(['{"seq":1}', '{"seq":2}'], 1, bytes_max=3) == Batch(1, 1, b'{"seq":1}')


def test_letters_count_by_their_bytes() -> None:
    assert pack(['{"seq":1,"é":0}', '{"seq":2}'], 1, bytes_max=25).last == 1  # 16 + 1 + 9 = 26


@given(st.lists(st.integers(0, 3000), min_size=1, max_size=300), st.integers(1, 4000))
def test_packs_one_after_the_other_are_the_whole_journal(paddings: list[int], bytes_max: int) -> None:
    lines = [f'{{"seq":{seq},"p":"{"x" * padding}"}}' for seq, padding in enumerate(paddings, start=1)]
    sent: list[str] = []
    while len(sent) < len(lines):
        batch = pack(lines[len(sent) :], len(sent) + 1, bytes_max)
        packed = batch.payload.decode().split("\n")
        assert len(packed) == batch.last - batch.first + 1 <= 256
        assert len(batch.payload) <= bytes_max or len(packed) == 1
        sent += packed
    assert sent == lines


def test_a_journal_that_no_longer_holds_the_event_or_has_a_hole_is_not_sent() -> None:
    with pytest.raises(DeliveryError, match="gives event 5 where event 3 is due"):
        pack(['{"seq":5}'], 3)
    with pytest.raises(DeliveryError, match="gives event 5 where event 4 is due"):
        pack(['{"seq":3}', '{"seq":5}'], 3)


def test_headers() -> None:
    assert headers("craps-1", Batch(5, 9, b""), 17) == {
        "Nats-Msg-Id": "craps-1:5-9",
        "Nats-Expected-Last-Subject-Sequence": "17",
        "Boxman-First-Seq": "5",
        "Boxman-Last-Seq": "9",
    }


def test_the_subject_takes_plain_names_only() -> None:
    assert subject("demo", "craps-1") == "craps.demo.craps-1.journal"
    for name in ("", "a.b", "*", ">", "a b", "x" * 65, "a\n"):
        with pytest.raises(ValueError, match="is not a name"):
            subject(name, "craps-1")
        with pytest.raises(ValueError, match="is not a name"):
            subject("demo", name)


def test_the_end_of_the_log_is_the_last_line_of_its_last_message() -> None:
    assert read_log_end(40, b'{"seq":7}\n{"seq":8}') == LogEnd(40, 8, '{"seq":8}')
    assert read_log_end(41, b'{"seq":9}') == LogEnd(41, 9, '{"seq":9}')


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"hello",
        b"[1]",
        b"7",
        b'{"seq":"1"}',
        b'{"seq":0}',
        b'{"seq":true}',
        b'{"seq":9223372036854775808}',
        b'{"seq":1e999}',
        b"[" * 200_000,
        b"\xff",
        b'{"seq":1}\n',
    ],
)
def test_a_message_that_is_no_journal_event_fences_everyone(payload: bytes) -> None:
    end = read_log_end(40, payload)
    assert end == LogEnd(40, 0, "")
    assert fence_reason(end, 5, None) == (
        f"the last message under this table's name in the central log is not a journal event: {WHO}"
    )


def test_only_a_log_that_begins_our_own_journal_may_be_continued() -> None:
    own, other = FakeJournal("t", "own", events=3), FakeJournal("t", "other", events=3)
    assert fence_reason(EMPTY_LOG, 0, None) is None
    assert fence_reason(EMPTY_LOG, 3, None) is None
    assert fence_reason(LogEnd(9, 2, own.lines[1]), 3, own.lines[1]) is None
    assert fence_reason(LogEnd(9, 3, own.lines[2]), 3, own.lines[2]) is None
    assert fence_reason(LogEnd(9, 2, other.lines[1]), 3, own.lines[1]) == (
        f"event 2 in the central log is not the one in this unit's journal: {WHO}"
    )
    assert fence_reason(LogEnd(9, 4, "x"), 3, None) == (
        "the central log already has event 4 of this table, but this unit's journal ends at event 3: " + WHO
    )


def test_the_limit_of_the_wait_doubles_up_to_the_cap() -> None:
    assert [backoff_limit_s(failures) for failures in range(7)] == [1, 2, 4, 8, 16, 30, 30]
    assert backoff_limit_s(1_000_000) == 30


@given(st.integers(0, 2**32), st.lists(st.floats(0, 59.9), max_size=40))
def test_every_wait_is_within_its_limit_and_short_links_do_not_reset_it(seed: int, links: list[float]) -> None:
    backoff = Backoff(random.Random(seed))
    for failures, lasted_s in enumerate(links):
        assert 0 <= backoff.delay_s(lasted_s) <= backoff_limit_s(failures)


class HighestRandom(random.Random):
    """Draws the upper bound."""

    def uniform(self, a: float, b: float) -> float:
        """Return the upper bound."""
        return max(a, b)


def test_only_a_link_that_was_stable_for_a_minute_resets_the_wait() -> None:
    backoff = Backoff(HighestRandom())
    assert [backoff.delay_s(lasted_s) for lasted_s in (0, 0, 59.9, 60, 0)] == [1, 2, 4, 1, 2]


def test_the_waits_of_many_tables_are_spread() -> None:
    waits = [Backoff(random.Random(seed)) for seed in range(1000)]
    fourth = sorted([backoff.delay_s(0) for _ in range(4)][3] for backoff in waits)
    in_each_second = [sum(second <= wait < second + 1 for wait in fourth) for second in range(8)]
    assert min(in_each_second) > 80
    assert max(in_each_second) < 170


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ConnectionRefusedError(111, "x"), "the central server takes no connections; it may be down"),
        (nats.errors.TimeoutError(), "the central server does not answer in time"),
        (nats.errors.UnexpectedEOF(), "the link to the central server broke off"),
        (ConnectionResetError(104, "x"), "the link to the central server broke off"),
        (nats.errors.AuthorizationError(), "the central server refuses this table's credentials"),
        (
            nats.errors.Error("nats: 'Authorization Violation'"),  # what connecting raises
            "the central server refuses this table's credentials",
        ),
        (
            NotFoundError(code=404, err_code=10059, description="stream not found"),
            "the central server has no such stream; it has to be set up there",
        ),
        (
            NoStreamResponseError(),
            "no stream on the central server takes this table's events; it has to be set up there",
        ),
        (ServiceUnavailableError(), "the central server's stream is not available at the moment"),
        (
            APIError(code=400, err_code=10077, description="maximum bytes exceeded"),
            "the central server refuses: maximum bytes exceeded (code 10077)",
        ),
        (OSError(113, "No route to host"), "the central server cannot be reached: No route to host"),
        (OSError("Multiple exceptions"), "the central server cannot be reached: no address of it answers"),
        (
            nats.errors.MaxPayloadError(),
            "the central server or the link to it fails: maximum payload exceeded",
        ),
    ],
)
def test_errors_are_said_in_plain_words(error: Exception, words: str) -> None:
    assert explain(error) == words


def test_a_refused_certificate_is_said() -> None:
    error = ssl.SSLError(1, "certificate verify failed")
    error.reason = "CERTIFICATE_VERIFY_FAILED"
    assert explain(error) == ("the central server's certificate or encryption is refused: CERTIFICATE_VERIFY_FAILED")
