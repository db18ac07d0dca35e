"""Pruning a journal: the state and what remains are as before, and whatever is done to it afterwards is found."""

import json
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from device.adoption import HistoryCopy
from device.checkpoint import parse_checkpoint
from device.journal import Journal, JournalDamaged, JournalError, JournalFull, JournalPruned, JournalReader
from device.journal_base import Base, check_base, put_base, sign_base, state_text
from device.journal_verification import verify
from device.prune_point import state_at
from device.recovery import beginning, recover
from device.snapshot_file import Snapshot, SnapshotFile
from tests.journal_rig import KEY, OTHER_KEY, STAMP, changed, noted, tamper
from tests.pruning_rig import SITE, TABLE, Game, checkpoint_of


def text(state: Any) -> str:
    """A state to compare; an event that comes back from the disk has its keys in another order."""
    return json.dumps(state, sort_keys=True)


@pytest.fixture
def game(tmp_path: Path) -> Game:
    return Game(tmp_path / "journal.db")


# The same state, the same remaining history


@given(st.data(), st.integers(1, 6), st.integers(2, 9))
@hypothesis_settings(max_examples=25)
def test_pruned_anywhere_and_again_it_is_the_same_session_and_the_same_remaining_history(
    data: st.DataObject, hands: int, sign_every: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        game = Game(Path(folder) / "journal.db", hands, sign_every)
        last_cut = 0
        for _ in range(data.draw(st.integers(1, 3))):
            cuts = [cut for cut in game.cuts if last_cut < cut < game.last_seq - 1]
            if not cuts:
                break
            last_cut = data.draw(st.sampled_from(cuts))
            with JournalReader(game.path) as reader:
                assert text(state_at(reader, last_cut)["session"]) == text(game.states[last_cut]["session"])
            game.prune(last_cut)
            assert [event.line() for event in game.read()] == [
                game.events[seq].line() for seq in range(last_cut + 1, game.last_seq + 1)
            ]
            recovered = game.recover()
            assert text(recovered.session.snapshot()) == text(game.session.snapshot())
            result = game.verify()
            assert (result.what_is_wrong, result.pruned_seq) == (None, last_cut)
            assert (result.last_seq, result.last_hash) == (game.last_seq, game.events[game.last_seq].hash)
            assert result.key == KEY.public
            if data.draw(st.booleans()):
                game.more()


def test_what_is_left_is_read_and_what_is_gone_is_said_to_be(game: Game) -> None:
    cut = game.cuts[1]
    game.prune(cut)
    with JournalReader(game.path) as reader:
        base = reader.base()
        assert base is not None
        assert (base.seq, base.hash) == (cut, game.events[cut].hash)
        assert (reader.last_seq, reader.last_hash) == (game.last_seq, game.events[game.last_seq].hash)
        assert reader.read(cut + 1, 1) == [game.events[cut + 1].line()]
        assert next(reader.events(cut - 3)).seq == cut + 1
        assert next(reader.events(cut + 4)).seq == cut + 4
        for seq in (1, cut):
            with pytest.raises(JournalPruned, match=f"events 1 to {cut} were pruned after delivery"):
                reader.read(seq, 5)
    # All of it goes on: appended to, opened again, pruned again, replayed.
    game.more()
    game.prune(game.cuts[3])
    assert game.verify().what_is_wrong is None
    assert text(game.recover().session.snapshot()) == text(game.session.snapshot())


def test_a_reader_that_is_on_its_way_when_its_next_events_are_pruned_says_so(tmp_path: Path) -> None:
    game = Game(tmp_path / "journal.db", hands=280, sign_every=100, all_states=False)
    with JournalReader(game.path) as reader:
        events = reader.events()
        next(events)
        cut = next(cut for cut in game.cuts if cut > 600)
        game.prune(cut)
        with pytest.raises(JournalPruned):
            list(events)
        # A verification is not put off by that.
        restarted: list[int] = []

        def prune_once(done: int, _of: int) -> None:
            if not restarted:
                restarted.append(done)
                game.prune(next(cut for cut in game.cuts if cut > 1210))

        with JournalReader(game.path) as other:
            assert other.last_seq > 1300
            assert verify(other, prune_once).what_is_wrong is None
        assert restarted


def test_the_room_of_what_was_pruned_is_used_again(tmp_path: Path) -> None:
    game = Game(tmp_path / "journal.db", hands=300, sign_every=100, all_states=False)
    with Journal.open(game.path, TABLE) as journal:
        (before,) = journal._connection.execute("PRAGMA page_count").fetchone()
    base = game.prune(game.cuts[-2])
    game.more(hands=100)
    with Journal.open(game.path, TABLE) as journal:
        (after,) = journal._connection.execute("PRAGMA page_count").fetchone()
    # Pages of 4 KiB: the base is written before what it stands for is gone.
    assert after <= before + len(base.state) / 4000 + 10


def test_only_what_is_here_and_followed_by_others_can_be_pruned(game: Game) -> None:
    cut = game.cuts[1]
    game.prune(cut)
    before = game.path.read_bytes()
    last = game.last_seq
    for base in (
        game.base(game.cuts[0]),
        game.base(cut),
        game.base(last),
        replace(game.base(game.cuts[2]), seq=last + 1),
        game.base(game.cuts[2], table="craps-2"),
        game.base(game.cuts[2], hash="a" * 64),
        replace(game.base(game.cuts[2]), signature="0" * 128),
    ):
        with Journal.open(game.path, TABLE) as journal, pytest.raises(ValueError, match=r"base|signature"):
            journal.prune(base, [noted(1)], STAMP)
    assert game.verify().last_seq == last
    assert game.path.read_bytes() == before


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)",
        "DELETE FROM events WHERE seq = (SELECT min(seq) FROM events)",
        "DELETE FROM base",
        "UPDATE base SET seq = seq + 1",
        "INSERT INTO base SELECT seq - 1, hash, table_name, state, format, program, key, signature FROM base",
        "INSERT INTO base SELECT seq + 1000, hash, table_name, state, format, program, key, signature FROM base",
        "INSERT OR REPLACE INTO base SELECT * FROM base",
    ],
)
def test_triggers_refuse_what_is_no_prune(game: Game, statement: str) -> None:
    game.prune(game.cuts[1])
    with closing(sqlite3.connect(game.path)) as connection, pytest.raises(sqlite3.IntegrityError):
        connection.execute(statement)


# Snapshots beside a pruned journal


def test_a_snapshot_from_before_the_base_is_thrown_away_and_a_later_one_believed(
    game: Game, caplog: pytest.LogCaptureFixture
) -> None:
    file = SnapshotFile(game.path.with_name("snapshot"), "1", TABLE, KEY)
    cut = game.cuts[2]
    game.prune(cut)
    for seq in (cut - 1, cut):
        file.write(Snapshot(seq, game.events[seq].hash, game.states[seq]))
        recovered = game.recover()
        assert (recovered.snapshot_seq, file.path.exists()) == (0, False)
        assert f"is of event {seq}, but events 1 to {cut} were pruned" in caplog.text
        assert text(recovered.session.snapshot()) == text(game.session.snapshot())
    file.write(Snapshot(cut + 1, game.events[cut + 1].hash, game.states[cut + 1]))
    recovered = game.recover()
    assert recovered.snapshot_seq == cut + 1
    assert text(recovered.session.snapshot()) == text(game.session.snapshot())


# Bases of other versions


def rebased(game: Game, cut: int, change: Callable[[dict[str, Any]], object]) -> Game:
    """The game pruned at `cut` by a program that kept another state."""
    state = json.loads(state_text(game.states[cut]))
    change(state)
    game.states[cut] = state
    game.prune(cut)
    return game


def test_a_base_without_fields_that_came_later_is_read_with_their_defaults(game: Game) -> None:
    def earlier(state: dict[str, Any]) -> None:
        del state["session"]["series_before_roll"]
        del state["session"]["hardware"]["reports"]
        del state["session"]["dice"]["surplus"]
        del state["times"]["latched"]

    rebased(game, game.cuts[0], earlier)
    assert text(game.recover().session.table.snapshot()) == text(game.session.table.snapshot())  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "later",
    [
        lambda state: state["session"].update(of_tomorrow=1),
        lambda state: state["session"]["hardware"].update(of_tomorrow=1),
        lambda state: state["session"].pop("terms"),
        lambda state: state["session"]["table"].pop("house"),
        lambda state: state.pop("times"),
    ],
)
def test_a_base_that_this_program_cannot_read_is_one_clear_line(game: Game, later: Callable[[Any], Any]) -> None:
    cut = game.cuts[0]
    rebased(game, cut, later)
    with pytest.raises(JournalError, match=f"cannot read the base of event {cut}, which version 1 wrote .*; start"):
        game.recover()
    assert game.verify().what_is_wrong is None


def test_a_base_of_a_later_format_is_not_read(game: Game) -> None:
    cut = game.cuts[0]
    base = game.prune(cut)
    later = replace(base, format=2)
    signed = sign_base(KEY, TABLE, later.seq, later.hash, later.state, "9")
    tamper(game.path, lambda connection: put_again(connection, replace(signed, format=2)))
    assert game.verify().first_bad_seq == cut


# What somebody does to it


def put_again(connection: sqlite3.Connection, base: Base) -> None:
    connection.execute("DELETE FROM base")
    put_base(connection, base)


def restore(connection: sqlite3.Connection, game: Game, first: int, last: int) -> None:
    rows = [(seq, game.events[seq].line()) for seq in range(first, last + 1)]
    connection.executemany("INSERT INTO events VALUES (?, ?)", rows)


# The game of the fixture has checkpoints as its events 6, 12, 18 and 24 and ends with event 26. Pruned up to event 11,
# it goes on with journal_pruned, 27, a checkpoint, and another hand up to the checkpoint 34.
CUT, WITNESS, LAST = 11, 27, 34
# What is done, the first bad event, and what is wrong with it.
DEEDS: dict[str, tuple[str, int, str]] = {
    "head removed": ("DELETE FROM events WHERE seq <= 14", 12, "missing"),
    "one removed": ("DELETE FROM events WHERE seq = 13", 13, "missing"),
    "all removed": ("DELETE FROM events", 12, "it was cut off"),
    "tail cut": ("DELETE FROM events WHERE seq > 18", 19, "is missing"),
    "base removed": ("DELETE FROM base", 1, "missing"),
    "state changed": ("UPDATE base SET state = state || ' '", 11, "signature"),
    "program changed": ("UPDATE base SET program = '0'", 11, "signature"),
    "hash changed": ("UPDATE base SET hash = replace(hash, '0', '1')", 11, "signature"),
    "format changed": ("UPDATE base SET format = 0", 11, "signature"),
    "seq changed": ("UPDATE base SET seq = 5", 5, "signature"),
    "two bases": (
        "INSERT INTO base SELECT 10, hash, table_name, state, format, program, key, signature FROM base",
        11,
        "one of several",
    ),
    "not text": ("UPDATE base SET state = CAST(x'ff' AS TEXT)", 11, "is not text"),
}
SWAPPED: dict[str, tuple[Callable[[Game], Base], int, str]] = {
    "base of another table": (lambda game: game.base(CUT, table="craps-2"), 12, "is of table"),
    "base with another hash": (lambda game: game.base(CUT, hash="a" * 64), 12, "prev is"),
    "base of another key": (lambda game: game.base(CUT, key=OTHER_KEY), WITNESS, "signed with the key"),
    "another key in it": (lambda game: replace(game.base(CUT), key=OTHER_KEY.public), CUT, "signature"),
    "another state, signed": (
        lambda game: game.base(CUT, state=state_text(other_money(game.states[CUT]))),
        WITNESS,
        "was written with another base",
    ),
    "moved back": (lambda game: game.base(5), 6, "missing"),
}


def other_money(state: dict[str, Any]) -> dict[str, Any]:
    """A player has five chips more, which the house has less."""
    other: dict[str, Any] = json.loads(state_text(state))
    other["session"]["table"]["house"] -= 5
    other["session"]["table"]["players"][0][1] += 5
    return other


def assert_found(game: Game, bad: int, reason: str) -> None:
    result = game.verify()
    assert (result.first_bad_seq, result.what_is_wrong) == (bad, result.what_is_wrong)
    assert reason in (result.what_is_wrong or "")
    with pytest.raises(JournalDamaged, match=reason) as damage:
        game.recover()
    assert damage.value.seq == bad


@pytest.fixture
def pruned(game: Game) -> Game:
    """A game that was pruned, and went on."""
    game.prune(CUT)
    game.more()
    kinds = {seq: event.type for seq, event in game.events.items()}
    assert [seq for seq in kinds if kinds[seq] == "checkpoint"] == [6, 12, 18, 24, 28, LAST]
    assert (kinds[WITNESS], game.last_seq) == ("journal_pruned", LAST)
    return game


@pytest.mark.parametrize("deed", DEEDS)
def test_whatever_is_done_to_a_pruned_journal_is_found_with_the_first_bad_event(pruned: Game, deed: str) -> None:
    change, bad, reason = DEEDS[deed]
    tamper(pruned.path, lambda connection: connection.execute(change))
    assert_found(pruned, bad, reason)


@pytest.mark.parametrize("deed", SWAPPED)
def test_a_base_that_is_swapped_for_another_one_is_found(pruned: Game, deed: str) -> None:
    other, bad, reason = SWAPPED[deed]
    tamper(pruned.path, lambda connection: put_again(connection, other(pruned)))
    assert_found(pruned, bad, reason)


def test_events_that_are_put_back_are_found(pruned: Game) -> None:
    tamper(pruned.path, lambda connection: restore(connection, pruned, CUT, CUT))
    assert_found(pruned, CUT, "is still there, though the base stands for it")


def test_a_base_that_is_moved_back_with_its_events_is_found(pruned: Game) -> None:
    def change(connection: sqlite3.Connection) -> None:
        put_again(connection, pruned.base(5))
        restore(connection, pruned, 6, CUT)

    tamper(pruned.path, change)
    assert_found(pruned, WITNESS, "says that events 1 to 11 were pruned, but the base stands for 5 events")


def test_a_base_that_is_removed_when_all_its_events_are_put_back_is_found(pruned: Game) -> None:
    def change(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM base")
        restore(connection, pruned, 1, CUT)

    tamper(pruned.path, change)
    assert_found(pruned, WITNESS, "says that events 1 to 11 were pruned, but the base stands for 0 events")


def test_a_base_that_is_moved_on_by_hand_is_found(pruned: Game) -> None:
    tamper(pruned.path, lambda connection: put_again(connection, pruned.base(17)))
    assert_found(pruned, LAST + 1, "that was written with the base of events 1 to 17 is missing")


def test_a_first_event_that_is_changed_is_found(pruned: Game) -> None:
    line = changed(pruned.events[12], boot="another").line()
    tamper(pruned.path, lambda connection: connection.execute("UPDATE events SET event = ? WHERE seq = 12", (line,)))
    assert_found(pruned, 13, "prev is")


def test_a_first_event_that_is_no_checkpoint_is_found(game: Game) -> None:
    cut = game.cuts[1] - 1
    game.prune(cut)
    result = game.verify()
    assert (result.first_bad_seq, "is no checkpoint" in (result.what_is_wrong or "")) == (cut + 1, True)


def test_a_checkpoint_that_was_taken_away_is_held_against_base_and_events(game: Game) -> None:
    cut = game.cuts[1]
    game.prune(cut)

    def verified(fields: dict[str, Any]) -> tuple[int | None, str]:
        checkpoint = parse_checkpoint(fields.pop("table"), fields)
        with JournalReader(game.path) as reader:
            result = verify(reader, lambda _done, _of: None, checkpoint)
        return result.first_bad_seq, result.what_is_wrong or ""

    assert verified(checkpoint_of(game.events[cut])) == (None, "")
    assert verified(checkpoint_of(game.events[cut + 3])) == (None, "")
    bad, reason = verified(checkpoint_of(replace(game.events[cut], hash="b" * 64)))
    assert (bad, "in the checkpoint" in reason) == (cut + 1, True)


# Cut anywhere


def opens_to(folder: Path, before: Game, *, cut: int) -> bool:
    """Whether what a cut left is the pruned journal; it is that or the former one, whole."""
    path = folder / "journal.db"
    with Journal.open(path, TABLE) as journal:
        base = journal.base()
        events = list(journal.events())
        assert [event.seq for event in events] == list(range(1 if base is None else cut + 1, journal.last_seq + 1))
        session, _ = beginning(journal)
        for event in events:
            session.replay(event.seq, event.type, event.data)
            assert event.line() == before.events[event.seq].line()
    with JournalReader(path) as reader:
        assert verify(reader, lambda _done, _of: None).what_is_wrong is None
    is_pruned = base is not None
    assert any(event.type == "journal_pruned" for event in events) == is_pruned
    return is_pruned


def test_a_cut_anywhere_in_a_prune_leaves_all_of_it_or_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    game = Game(folder / "journal.db", hands=40, sign_every=20)
    cut = game.cuts[-3]
    copies: list[Path] = []
    seen: set[bytes] = set()

    def copy() -> None:
        files = {file.name: file.read_bytes() for file in folder.iterdir() if file.suffix != ".db-shm"}
        content = b"".join(files.values())
        if content not in seen:
            seen.add(content)
            copies.append(tmp_path / f"copy-{len(copies)}")
            copies[-1].mkdir()
            for name, data in files.items():
                (copies[-1] / name).write_bytes(data)

    with Journal.open(game.path, TABLE) as journal:
        # A small cache, so that pages are written before the commit as well.
        journal._connection.execute("PRAGMA cache_size=4")
        journal._connection.set_progress_handler(copy, 1000)
        journal._connection.set_trace_callback(lambda _statement: copy())
        game.prune(cut, journal)
        journal._connection.set_progress_handler(None, 0)
        journal._connection.set_trace_callback(None)
        copy()
        database, log = game.path.read_bytes(), (folder / "journal.db-wal").read_bytes()
    assert [opens_to(copied, game, cut=cut) for copied in copies] == [False] * (len(copies) - 1) + [True]
    assert len(copies) > 10
    # The log itself, torn at every sixth page, within some, and right at the end.
    assert len(log) > 20 * 4120
    for number, length in enumerate([*range(32, len(log), 6 * 4120), *range(5000, len(log), 20_000), len(log) - 1]):
        torn = tmp_path / f"torn-{number}"
        torn.mkdir()
        (torn / "journal.db").write_bytes(database)
        (torn / "journal.db-wal").write_bytes(log[:length])
        assert not opens_to(torn, game, cut=cut), "the commit is the last page"


def test_no_room_for_a_prune_leaves_the_journal_as_it_was_and_in_use(game: Game) -> None:
    cut = game.cuts[1]
    with Journal.open(game.path, TABLE) as journal:
        (pages,) = journal._connection.execute("PRAGMA page_count").fetchone()
        journal._connection.execute(f"PRAGMA max_page_count={pages}")
        large = game.base(cut, state=json.dumps({"large": "x" * 1_000_000}))
        with pytest.raises(JournalFull):
            journal.prune(large, [noted(1)], STAMP)
        assert journal.base() is None
        journal._connection.execute("PRAGMA max_page_count=1000000")
        game.prune(cut, journal)
    assert game.verify().what_is_wrong is None


def test_a_base_is_signed_over_everything_in_it() -> None:
    base = sign_base(KEY, TABLE, 7, "a" * 64, '{"session":{}}', "1.0")
    check_base(base)
    for other in (
        {"table": "craps-2"},
        {"seq": 8},
        {"hash": "b" * 64},
        {"state": '{"session":{} }'},
        {"program": "1.1"},
        {"format": 0},
        {"key": OTHER_KEY.public},
        {"signature": OTHER_KEY.sign(b"x")},
    ):
        with pytest.raises(ValueError, match="signature"):
            check_base(replace(base, **other))


def test_a_unit_takes_over_the_whole_history_of_a_table_that_pruned_its_own(pruned: Game, tmp_path: Path) -> None:
    # The central log has all of it, the event that tells of the pruning too.
    path = tmp_path / "heir.db"
    payload = b"\n".join(pruned.events[seq].line().encode() for seq in range(1, LAST + 1))
    with Journal.open(path, TABLE) as journal:
        copy = HistoryCopy(journal, SITE)
        copy.take(payload)
        assert copy.former_key() == KEY.public
        said = {"through": LAST, "hash": journal.last_hash, "former_key": KEY.public, "key": OTHER_KEY.public}
        journal.append([("adopted", said)], STAMP)
    with JournalReader(path) as reader:
        result = verify(reader, lambda _done, _of: None)
    assert (result.what_is_wrong, result.last_seq, result.heir) == (None, LAST + 1, OTHER_KEY.public)
    with Journal.open(path, TABLE) as journal:
        file = SnapshotFile(path.with_name("snapshot"), "1", TABLE, OTHER_KEY)
        assert recover(journal, file, lambda _done, _of: None).session.seq == LAST + 1
