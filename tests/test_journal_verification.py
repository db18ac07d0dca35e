"""Whatever is done to a journal's file is found, and the first bad event is named."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from device.event import GENESIS_HASH, Event, Stamp, seal
from device.journal import Journal, JournalDamaged, JournalReader
from device.journal_verification import VerificationResult, verify

STAMP = Stamp("boot-1", 5, "2026-11-29T22:10:56.123Z", "synced")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


def filled(path: Path, count: int, note: str = "Zoë") -> list[Event]:
    with Journal.open(path, "craps-1") as journal:
        return journal.append([("noted", {"number": number, "note": note}) for number in range(count)], STAMP)


def tamper(path: Path, change: Callable[[sqlite3.Connection], object]) -> None:
    """Changes the file as somebody who knows SQLite would: without the triggers, which are put back afterwards."""
    connection = sqlite3.connect(path)
    triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    change(connection)
    for _, sql in triggers:
        connection.execute(sql)
    connection.commit()
    connection.close()


def verified(path: Path) -> VerificationResult:
    with JournalReader(path) as reader:
        return verify(reader, lambda *_: None)


def test_a_good_journal(path: Path) -> None:
    events = filled(path, 2345)
    progress: list[tuple[int, int]] = []
    with JournalReader(path) as reader:
        result = verify(reader, lambda *counts: progress.append(counts))
    assert result == VerificationResult(2345, events[-1].hash, "craps-1", None, None)
    assert result.is_good
    assert progress == [(1000, 2345), (2000, 2345), (2345, 2345)]


def test_an_empty_journal_is_good(path: Path) -> None:
    filled(path, 0)
    assert verified(path) == VerificationResult(0, GENESIS_HASH, None, None, None)


def test_every_single_byte_edit_is_found_in_its_event(path: Path) -> None:
    events = filled(path, 3)
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
    assert verified(path) == VerificationResult(4, events[3].hash, "craps-1", 5, "missing, the next one is 6")
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
    assert verified(path) == VerificationResult(3, events[2].hash, "craps-1", None, None)


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
