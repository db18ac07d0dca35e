"""Whatever is done to a journal's file is found, and the first bad event is named."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from device.checkpoint import Checkpoint, sign
from device.event import GENESIS_HASH, Event, seal
from device.journal import Journal, JournalDamaged, JournalReader
from device.journal_verification import UNSIGNED_EVENTS_MAX, VerificationResult, verify
from tests.journal_rig import (
    KEY,
    OTHER_KEY,
    STAMP,
    Entry,
    chained_anew,
    changed,
    filled,
    lines_of,
    noted,
    rewrite,
    started,
    tamper,
    write,
)

SIGN: Entry = ("sign", {})
CLOSED: Entry = ("table_closed", {})
STOPPED: Entry = ("stopped", {})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


def verified(path: Path, checkpoint: Checkpoint | None = None) -> VerificationResult:
    with JournalReader(path) as reader:
        return verify(reader, lambda *_: None, checkpoint)


def found(path: Path, checkpoint: Checkpoint | None = None) -> tuple[int | None, str | None]:
    result = verified(path, checkpoint)
    return result.first_bad_seq, result.what_is_wrong


def good(seq: int, hash: str, signed_seq: int = 0) -> VerificationResult:
    return VerificationResult(seq, hash, "craps-1", None, None, signed_seq, KEY.public, 0, "casino-1")


def test_a_good_journal(path: Path) -> None:
    events = filled(path, 2345)
    assert [event.seq for event in events if event.type == "checkpoint"] == [1000, 2000]
    progress: list[tuple[int, int]] = []
    with JournalReader(path) as reader:
        result = verify(reader, lambda *counts: progress.append(counts))
    assert result == good(2345, events[-1].hash, signed_seq=1999)
    assert result.is_good
    assert progress == [(1000, 2345), (2000, 2345), (2345, 2345)]


def test_an_empty_journal_is_good(path: Path) -> None:
    filled(path, 0)
    assert verified(path) == VerificationResult(0, GENESIS_HASH, None, None, None, 0, None, 0, None)


def test_every_single_byte_edit_is_found_in_its_event(path: Path) -> None:
    events = write(path, [started(), noted(2), STOPPED, SIGN])
    connection = sqlite3.connect(path, isolation_level=None)
    edit = "UPDATE events SET event = CAST(? AS TEXT) WHERE seq = ?"
    with JournalReader(path) as reader:
        for trigger in ("events_no_update", "events_no_delete", "events_in_order"):
            connection.execute(f"DROP TRIGGER {trigger}")
        connection.execute("PRAGMA synchronous=OFF")
        for event in events:
            line = event.line().encode()
            for position, byte in enumerate(line):
                for flipped in (byte ^ 1, byte ^ 0x80):
                    edited = line[:position] + bytes([flipped]) + line[position + 1 :]
                    connection.execute(edit, (edited, event.seq))
                    result = verify(reader, lambda *_: None)
                    assert (result.first_bad_seq, result.last_seq) == (event.seq, event.seq - 1), edited
            connection.execute(edit, (line, event.seq))
        assert verify(reader, lambda *_: None).is_good
    connection.close()


@pytest.mark.parametrize("seq", [1, 2, 3])
def test_an_event_that_one_changed_bit_made_null_is_named(path: Path, seq: int) -> None:
    events = filled(path, 3)
    content = bytearray(path.read_bytes())
    # Four bytes of SQLite's record header come before the text; the first is their number, and 0 leaves all out.
    header = content.index(events[seq - 1].line().encode()) - 4
    assert content[header] == 4
    content[header] = 0
    path.write_bytes(content)
    result = verified(path)
    assert (result.first_bad_seq, result.last_seq, result.what_is_wrong) == (seq, seq - 1, "is not text")
    with pytest.raises(JournalDamaged, match=f"event {seq}: is not text"), Journal.open(path, "craps-1") as journal:
        list(journal.events())


def test_a_removed_event(path: Path) -> None:
    events = filled(path, 9)
    tamper(path, lambda connection: connection.execute("DELETE FROM events WHERE seq = 5"))
    assert found(path) == (5, "missing, the next one is 6")
    assert (verified(path).last_seq, verified(path).last_hash) == (4, events[3].hash)
    with Journal.open(path, "craps-1") as journal:
        with pytest.raises(JournalDamaged) as damaged:
            list(journal.events())
        assert journal.read(1, 9) == [event.line() for event in events[:4]]
        with pytest.raises(JournalDamaged, match="event 5: missing"):
            journal.read(5, 9)
    assert str(damaged.value) == f"{path}: event 5: missing, the next one is 6"
    assert damaged.value.seq == 5


def test_a_removed_event_whose_place_was_closed(path: Path) -> None:
    filled(path, 9)

    def close_ranks(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM events WHERE seq = 5")
        for seq in range(6, 10):
            connection.execute("UPDATE events SET seq = ? WHERE seq = ?", (seq - 1, seq))

    tamper(path, close_ranks)
    result = verified(path)
    assert (result.first_bad_seq, result.what_is_wrong) == (5, "holds event 6")


def test_a_swapped_pair(path: Path) -> None:
    filled(path, 9)

    def swap(connection: sqlite3.Connection) -> None:
        for old, new in ((3, 100), (4, 3), (100, 4)):
            connection.execute("UPDATE events SET seq = ? WHERE seq = ?", (new, old))

    tamper(path, swap)
    result = verified(path)
    assert (result.first_bad_seq, result.what_is_wrong) == (3, "holds event 4")


def test_the_first_events_removed(path: Path) -> None:
    filled(path, 9)
    tamper(path, lambda connection: connection.execute("DELETE FROM events WHERE seq <= 2"))
    assert verified(path).first_bad_seq == 1
    with pytest.raises(JournalDamaged, match="event 1: missing"):
        Journal.open(path, "craps-1")


@pytest.mark.parametrize("seq", [0, -3])
def test_an_event_before_the_first(path: Path, seq: int) -> None:
    filled(path, 2)
    tamper(path, lambda connection: connection.execute("INSERT INTO events VALUES (?, '{}')", (seq,)))
    result = verified(path)
    assert (result.first_bad_seq, result.what_is_wrong) == (seq, "a journal starts at event 1")


def test_an_event_replaced_by_one_with_a_right_hash_breaks_the_chain_behind_it(path: Path) -> None:
    events = filled(path, 9)
    forged = seal("craps-1", 4, STAMP, "noted", {"number": 7}, events[2].hash)
    tamper(path, lambda c: c.execute("UPDATE events SET event = ? WHERE seq = 4", (forged.line(),)))
    result = verified(path)
    assert (result.first_bad_seq, result.last_hash) == (5, forged.hash)
    assert result.what_is_wrong == f"prev is {events[3].hash}, but event 4 is {forged.hash}"


def test_an_event_of_another_table_in_a_right_chain(path: Path) -> None:
    events = filled(path, 2)
    foreign = seal("craps-2", 3, STAMP, "noted", {}, events[1].hash)
    tamper(path, lambda c: c.execute("INSERT INTO events VALUES (3, ?)", (foreign.line(),)))
    result = verified(path)
    assert (result.first_bad_seq, result.what_is_wrong) == (3, "is of table 'craps-2', those before of 'craps-1'")


def test_a_bad_last_event_keeps_the_writer_from_going_on(path: Path) -> None:
    filled(path, 3)
    tamper(path, lambda c: c.execute("UPDATE events SET event = replace(event, 'Zoë', 'Zoe') WHERE seq = 3"))
    with pytest.raises(JournalDamaged, match="event 3: hash is"):
        Journal.open(path, "craps-1")


def test_a_tail_cut_off_leaves_a_shorter_chain_to_compare_with_the_central_logs(path: Path) -> None:
    events = filled(path, 5)
    tamper(path, lambda connection: connection.execute("DELETE FROM events WHERE seq >= 4"))
    assert verified(path) == good(3, events[2].hash)


def test_a_file_cut_in_the_middle(path: Path) -> None:
    filled(path, 500, note="x" * 200)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(JournalDamaged, match="malformed"):
        JournalReader(path)
    with pytest.raises(JournalDamaged, match="malformed"):
        Journal.open(path, "craps-1")


def test_a_ruined_page_is_found_and_named_by_its_first_event(path: Path) -> None:
    events = filled(path, 200, note="x" * 200)
    content = bytearray(path.read_bytes())
    position = content.index(b'"number":100}')
    page_start = position - position % 4096
    seqs_on_page = [
        event.seq for event in events if page_start <= content.index(event.line().encode()) < page_start + 4096
    ]
    content[page_start : page_start + 4096] = b"\xa5" * 4096
    path.write_bytes(content)
    result = verified(path)
    assert result.first_bad_seq == min(seqs_on_page)
    assert result.last_seq == min(seqs_on_page) - 1


def test_no_ruined_page_goes_unseen(path: Path) -> None:
    filled(path, 200, note="x" * 200)
    whole = path.read_bytes()
    for page_start in range(0, len(whole), 4096):
        for ruin in (b"\0" * 4096, b"\xa5" * 4096):
            path.write_bytes(whole[:page_start] + ruin + whole[page_start + 4096 :])
            try:
                is_good = verified(path).is_good
            except JournalDamaged:
                is_good = False
            assert not is_good, page_start


# What a forger does who computes all hashes anew: only the signatures tell.

DAY: list[Entry] = [started(), noted(2), noted(3), CLOSED, SIGN, noted(6), noted(7), STOPPED, SIGN]


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Event]]:
    path = tmp_path_factory.mktemp("day") / "journal.db"
    return path, write(path, DAY)


@settings(max_examples=100, derandomize=True)
@given(st.data())
def test_any_other_byte_anywhere_is_found(day: tuple[Path, list[Event]], data: st.DataObject) -> None:
    path, events = day
    event = data.draw(st.sampled_from(events))
    line = event.line().encode()
    position = data.draw(st.integers(0, len(line) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda byte: byte != line[position]))
    for content, bad_seq in ((line[:position] + bytes([byte]) + line[position + 1 :], event.seq), (line, None)):
        update = ("UPDATE events SET event = CAST(? AS TEXT) WHERE seq = ?", (content, event.seq))
        tamper(path, lambda connection, update=update: connection.execute(*update))  # type: ignore[misc]
        assert found(path)[0] == bad_seq


def test_a_signed_day_is_good_up_to_the_event_that_was_signed_last(path: Path) -> None:
    events = write(path, DAY)
    assert verified(path) == good(9, events[-1].hash, signed_seq=8)


@pytest.mark.parametrize("seq", [1, 2, 3, 4, 6, 7, 8])
@pytest.mark.parametrize("field", ["wall", "data", "type", "boot", "mono_ns", "clock"])
def test_an_edit_with_all_hashes_computed_anew(path: Path, seq: int, field: str) -> None:
    events = write(path, DAY)
    edited = {
        "wall": "2026-11-29T22:10:56.124Z",
        "data": events[seq - 1].data | {"number": 77},
        "type": "noted" if seq == 1 else "else",
        "boot": "boot-2",
        "mono_ns": 6,
        "clock": "free",
    }
    events[seq - 1] = changed(events[seq - 1], **{field: edited[field]})
    rewrite(path, lines_of(chained_anew(events)))
    bad_seq, reason = found(path)
    assert reason is not None
    if (seq, field) == (1, "type"):
        assert (bad_seq, "before any start" in reason) == (1, True)
    else:
        signed_from, signed_by = (1, 5) if seq < 5 else (5, 9)
        assert bad_seq == signed_by
        assert "the signature is not one of table 'craps-1'" in reason
        assert reason.endswith(f"one of events {signed_from} to {signed_by} was changed")


def test_the_last_checkpoint_of_all_cannot_sign_for_itself_and_the_result_says_so(path: Path) -> None:
    events = write(path, DAY)
    events[8] = changed(events[8], wall="2026-11-29T23:10:56.123Z")
    rewrite(path, lines_of(chained_anew(events)))
    assert (verified(path).is_good, verified(path).signed_seq, verified(path).last_seq) == (True, 8, 9)


REORDERED: dict[str, Callable[[list[Event]], list[Event]]] = {
    "removed": lambda events: events[:2] + events[3:],
    "swapped": lambda events: [events[0], events[2], events[1], *events[3:]],
    "inserted": lambda events: [*events[:2], events[1], *events[2:]],
}


@pytest.mark.parametrize("change", REORDERED)
def test_events_removed_swapped_or_inserted_with_all_hashes_computed_anew(path: Path, change: str) -> None:
    events = REORDERED[change](write(path, DAY))
    rewrite(path, lines_of(chained_anew(events)))
    signed_by = next(seq for seq, event in enumerate(events, start=1) if event.type == "checkpoint")
    bad_seq, reason = found(path)
    assert bad_seq == signed_by
    assert reason is not None and f"one of events 1 to {signed_by} was changed" in reason


def test_a_chain_made_anew_around_a_checkpoint_that_was_left_as_it_was(path: Path) -> None:
    events = write(path, DAY)
    events[1] = changed(events[1], data={})
    forged = chained_anew(events)
    left = changed(forged[4], data=events[4].data)
    rewrite(path, lines_of([*forged[:4], left]))
    assert found(path) == (
        5,
        f"signs event 4 with hash {events[3].hash}, but before it comes event 4 with hash {forged[3].hash}; "
        "one of events 1 to 5 was changed",
    )


@pytest.mark.parametrize("kind", [CLOSED, STOPPED])
def test_a_closing_or_stop_without_its_checkpoint(path: Path, kind: Entry) -> None:
    write(path, [started(), noted(2), kind])
    assert found(path) == (4, "the checkpoint that was written together with event 3 is missing")


def test_a_checkpoint_taken_out_before_the_next_start(path: Path) -> None:
    write(path, [started(), STOPPED, started(previous="stopped"), noted(4), SIGN])
    assert found(path) == (3, "the checkpoint that was written together with event 2 is missing")


def test_all_checkpoints_taken_out(path: Path) -> None:
    write(path, [started(), *(noted(number) for number in range(2, UNSIGNED_EVENTS_MAX + 2))])
    assert found(path) == (1257, "there is no checkpoint since event 0, though one is due every 1000 events")


def test_unsigned_events_are_counted_from_the_last_checkpoint(path: Path) -> None:
    write(path, [started(), SIGN, *(noted(number) for number in range(3, UNSIGNED_EVENTS_MAX + 3))])
    assert verified(path).is_good
    write(path, [noted(0)])
    assert found(path)[0] == 1259


def test_a_start_without_a_key(path: Path) -> None:
    write(path, [("started", {"version": "1"})])
    assert found(path) == (1, "is a start without the table's public key")


def test_a_start_with_a_key_that_is_none(path: Path) -> None:
    write(path, [("started", {"key": KEY.public[:-1] + "2"})])
    assert found(path) == (1, "is a start without the table's public key")


def test_events_before_any_start(path: Path) -> None:
    write(path, [noted(1)])
    bad_seq, reason = found(path)
    assert (bad_seq, reason is not None and "comes before any start" in reason) == (1, True)


def test_a_checkpoint_signed_with_another_key(path: Path) -> None:
    write(path, DAY[:5], OTHER_KEY)
    assert found(path) == (
        5,
        f"is signed with the key {OTHER_KEY.public}, but the table's key is {KEY.public}",
    )


def test_a_checkpoint_signed_with_another_key_under_the_tables_name(path: Path) -> None:
    events = write(path, DAY[:4])
    forged = sign(OTHER_KEY, "craps-1", 4, events[3].hash).data() | {"key": KEY.public}
    write(path, [("checkpoint", forged)])
    bad_seq, reason = found(path)
    assert (bad_seq, reason is not None and "the signature is not one of" in reason) == (5, True)


def test_a_checkpoint_signature_of_another_table_with_the_same_key(path: Path) -> None:
    events = write(path, DAY[:4])
    write(path, [("checkpoint", sign(KEY, "craps-2", 4, events[3].hash).data())])
    bad_seq, reason = found(path)
    assert (bad_seq, reason is not None and "the signature is not one of table 'craps-1'" in reason) == (5, True)


def test_a_checkpoint_of_an_earlier_event(path: Path) -> None:
    events = write(path, DAY[:3])
    write(path, [("checkpoint", sign(KEY, "craps-1", 2, events[1].hash).data())])
    assert found(path)[0] == 4


BROKEN: dict[str, dict[str, Any]] = {
    "signature": {"signature": "0" * 128},
    "upper case": {"signature": "A" * 128},
    "too short": {"signature": ""},
    "no text": {"signature": 7},
    "seq": {"seq": 3},
    "seq true": {"seq": True},
    "hash": {"hash": "0" * 64},
    "key": {"key": "U"},
    "more": {"more": 1},
    "table": {"table": "craps-1"},
}


@pytest.mark.parametrize("part", BROKEN)
def test_a_checkpoint_with_one_part_changed(path: Path, part: str) -> None:
    events = write(path, DAY[:4])
    write(path, [("checkpoint", sign(KEY, "craps-1", 4, events[3].hash).data() | BROKEN[part])])
    assert found(path)[0] == 5


def test_a_key_that_changed_without_a_mark(path: Path) -> None:
    write(path, [*DAY, started(OTHER_KEY)])
    assert found(path) == (
        10,
        f"names the key {OTHER_KEY.public}, not marked as changed, but the table's key was {KEY.public}",
    )


def test_a_marked_change_of_the_key_is_told_and_what_follows_must_be_signed_with_the_new_one(path: Path) -> None:
    write(path, [*DAY, started(OTHER_KEY, key_changed=True), STOPPED, SIGN], OTHER_KEY)
    assert found(path)[0] == 5, "the first run was signed with the other key here"
    path.unlink()
    write(path, DAY)
    write(path, [started(OTHER_KEY, key_changed=True), STOPPED, SIGN], OTHER_KEY)
    result = verified(path)
    assert (result.is_good, result.key, result.key_changed_seq, result.signed_seq) == (True, OTHER_KEY.public, 10, 11)


@pytest.mark.parametrize("before", [[], DAY])
def test_a_mark_where_no_key_changed(path: Path, before: list[Entry]) -> None:
    write(path, [*before, started(key_changed=True)])
    assert found(path)[0] == len(before) + 1


# Against a checkpoint that was taken away earlier.


def test_a_checkpoint_that_was_taken_away_bears_out_the_journal_it_is_of(path: Path) -> None:
    events = write(path, [*DAY, started(), noted(11)])
    for event in events[:9]:
        assert verified(path, sign(KEY, "craps-1", event.seq, event.hash)).is_good


def test_a_tail_that_was_cut_off_before_the_checkpoint(path: Path) -> None:
    events = write(path, DAY)
    tamper(path, lambda connection: connection.execute("DELETE FROM events WHERE seq > 5"))
    assert verified(path).is_good
    assert found(path, sign(KEY, "craps-1", 8, events[7].hash)) == (
        6,
        "missing, though the checkpoint is of event 8: it was cut off",
    )
    tamper(path, lambda connection: connection.execute("DELETE FROM events"))
    assert found(path, sign(KEY, "craps-1", 8, events[7].hash))[0] == 1


def test_a_journal_forged_with_a_key_of_its_own(path: Path) -> None:
    events = write(path, DAY)
    away = sign(KEY, "craps-1", 8, events[7].hash)
    path.unlink()
    write(path, [started(OTHER_KEY), *DAY[1:]], OTHER_KEY)
    assert verified(path).is_good
    assert found(path, away) == (
        8,
        f"the checkpoint is signed with the key {KEY.public}, but the table's key here is {OTHER_KEY.public}",
    )


def test_a_journal_forged_with_the_tables_own_key(path: Path) -> None:
    events = write(path, DAY)
    path.unlink()
    forged = write(path, [started(), noted(99), *DAY[2:]])
    assert verified(path).is_good
    assert found(path, sign(KEY, "craps-1", 8, events[7].hash)) == (
        8,
        f"hash is {forged[7].hash}, but {events[7].hash} in the checkpoint: it or an event before it was changed",
    )


def test_a_checkpoint_of_another_table(path: Path) -> None:
    events = write(path, DAY)
    assert found(path, sign(KEY, "craps-2", 8, events[7].hash)) == (
        1,
        "is of table 'craps-1', but the checkpoint of table 'craps-2'",
    )
