"""The snapshot file is a cache: believed when it fits the journal exactly, and otherwise thrown away without harm."""

import asyncio
import errno
import hashlib
import json
import logging
import os
import shutil
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from device import snapshot_file, snapshot_keeper
from device.event import Event, Stamp, parse
from device.event_times import EventTimes
from device.journal import Journal, JournalDamaged, JournalReader
from device.origin import Origin
from device.recovery import Recovered, recover
from device.session import ReplayError, Session
from device.session_snapshot import state_of
from device.settings import Settings
from device.snapshot_file import BadSnapshot, Snapshot, SnapshotFile
from device.snapshot_keeper import SnapshotKeeper
from device.table_key import TableKey, is_signed_by, open_table_key
from engine_lite.refusal import Refused
from tests.journal_rig import KEY, OTHER_KEY, terminal_on
from tests.terminal_rig import TerminalProcess
from tests.test_session import CONFIGURED, terms

STAMP = Stamp("boot-1", 5, "2026-11-29T22:10:56.123Z", "free")
PROGRAM = "0.1.0"


def ignore(_done: int, _in_all: int) -> None:
    """Takes the progress of a replay."""


def text(state: Any) -> str:
    """A state to compare; an event that comes back from the disk has its keys in another order."""
    return json.dumps(state, sort_keys=True)


def signature_of(line: bytes, key: TableKey = KEY) -> bytes:
    """What stands in the second line of a snapshot."""
    return key.sign(b"\xffboxman snapshot 2\n" + hashlib.sha256(line).digest()).encode("ascii")


class Played:
    """A journal with a game of 40 events or so, and the snapshot file beside it."""

    def __init__(self, folder: Path, table: str = "craps-1", dice: tuple[int, int] = (1, 2)) -> None:
        folder.mkdir(exist_ok=True)
        self.path = folder / "journal.db"
        self.file = SnapshotFile(folder / "snapshot", PROGRAM, table, KEY)
        self.table = table
        self.session, self.times = Session(), EventTimes()
        self.states: list[dict[str, Any]] = []
        self.events: list[Event] = []
        with self.open() as journal:
            self._append(journal, self.session.start("1", CONFIGURED, key="U", configuration_hash="0"))
            self._append(journal, self.session.open_table(terms(), Origin("configuration")))
            for number in range(19):
                console = Origin("console", f"command-{number}")
                body = {"player": "3", "kind": "field", "amount": 10}
                self._append(journal, self.session.command({"bet": body}, console))
                self._append(journal, self.session.command({"roll": list(dice)}, Origin("console")))

    def open(self) -> Journal:
        return Journal.open(self.path, self.table)

    def _append(self, journal: Journal, entries: list[tuple[str, dict[str, Any]]]) -> None:
        for event in journal.append(entries, STAMP):
            self.times.note(event)
            self.events.append(event)
            self.states.append(state_of(self.session, self.times))

    def snapshot(self, seq: int) -> Snapshot:
        return Snapshot(seq, self.events[seq - 1].hash, self.states[seq - 1])

    def recovered(self) -> Recovered:
        with self.open() as journal:
            return recover(journal, self.file, ignore)

    def fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = json.loads(self.file.path.read_bytes().splitlines()[0])
        return fields

    def reseal(self, fields: Any) -> None:
        """Put other fields in, under a right signature."""
        line = json.dumps(fields).encode()
        self.file.path.write_bytes(line + b"\n" + signature_of(line) + b"\n")

    def assert_is_session(self, recovered: Recovered) -> None:
        assert text(recovered.session.snapshot()) == text(self.session.snapshot())
        assert recovered.times == self.times


@pytest.fixture
def played(tmp_path: Path) -> Played:
    return Played(tmp_path / "data")


@pytest.mark.parametrize("seq", [2, 17, 39, 40])
def test_a_snapshot_that_fits_is_believed_and_only_what_follows_it_is_replayed(
    played: Played, seq: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    played.file.write(played.snapshot(seq))
    replayed: list[int] = []
    replay = Session.replay

    def noted(session: Session, seq: int, kind: str, data: dict[str, Any]) -> None:
        replayed.append(seq)
        replay(session, seq, kind, data)

    monkeypatch.setattr(Session, "replay", noted)
    recovered = played.recovered()
    assert recovered.snapshot_seq == seq
    assert replayed == list(range(seq + 1, 41))
    played.assert_is_session(recovered)


def test_without_a_snapshot_everything_is_replayed(played: Played) -> None:
    recovered = played.recovered()
    assert recovered.snapshot_seq == 0
    played.assert_is_session(recovered)


def test_the_snapshot_of_any_event_is_what_the_journal_leads_to(played: Played) -> None:
    """What no start can tell, because it would have to replay everything."""
    session, times = Session(), EventTimes()
    for event, state in zip(played.events, played.states, strict=True):
        session.replay(event.seq, event.type, json.loads(json.dumps(event.data)))
        times.note(event)
        assert text(state_of(session, times)) == text(state)


def test_the_file_is_private_ascii_signed_and_says_what_it_is(played: Played) -> None:
    played.file.write(played.snapshot(17))
    assert stat.S_IMODE(played.file.path.stat().st_mode) == 0o600
    line, seal = played.file.path.read_text("ascii").splitlines()
    assert is_signed_by(KEY.public, b"\xffboxman snapshot 2\n" + hashlib.sha256(line.encode()).digest(), seal)
    fields = json.loads(line)
    assert {name: fields[name] for name in fields if name != "state"} == {
        "format": 2,
        "program": "0.1.0",
        "table": "craps-1",
        "seq": 17,
        "hash": played.events[16].hash,
    }
    assert fields["state"] == json.loads(json.dumps(played.states[16]))
    assert sorted(path.name for path in played.file.path.parent.iterdir()) == ["journal.db", "snapshot"]


def flip(place: int) -> Callable[[Played], None]:
    def damage(played: Played) -> None:
        content = bytearray(played.file.path.read_bytes())
        content[place] ^= 0x20
        played.file.path.write_bytes(content)

    return damage


def reseal(**parts: Any) -> Callable[[Played], None]:
    return lambda played: played.reseal(played.fields() | parts)


def other_hash(played: Played) -> None:
    played.reseal(played.fields() | {"hash": played.events[15].hash})


def hand_edited(played: Played) -> None:
    """The house gives itself a thousand, under a right signature; the money then no longer adds up."""
    fields = played.fields()
    fields["state"]["session"]["table"]["house"] += 1000
    played.reseal(fields)


def state_of_another_event(played: Played) -> None:
    played.reseal(played.fields() | {"state": json.loads(json.dumps(played.states[10]))})


def older_journal(played: Played) -> None:
    """The journal comes from a backup of an hour ago."""
    played.path.unlink()
    with played.open() as journal:
        journal.append([(event.type, event.data) for event in played.events[:10]], STAMP)


def journal_begun_anew(played: Played) -> None:
    """The backup was played on from, in another way: the same numbers, other events."""
    other = Played(played.path.parent / "other", dice=(2, 2))
    shutil.copy(other.path, played.path)
    played.session, played.times = other.session, other.times


def removed_journal(played: Played) -> None:
    played.path.unlink()


def a_folder(played: Played) -> None:
    played.file.path.unlink()
    played.file.path.mkdir()


def a_pipe(played: Played) -> None:
    played.file.path.unlink()
    os.mkfifo(played.file.path)


def a_link(played: Played) -> None:
    played.file.path.rename(played.file.path.with_name("elsewhere"))
    played.file.path.symlink_to("elsewhere")


def signed_by_another(played: Played) -> None:
    line = played.file.path.read_bytes().splitlines()[0]
    played.file.path.write_bytes(line + b"\n" + signature_of(line, OTHER_KEY) + b"\n")


def with_its_checksum_only(played: Played) -> None:
    line = played.file.path.read_bytes().splitlines()[0].replace(b'"house":', b'"house":1')
    played.file.path.write_bytes(line + b"\n" + hashlib.sha256(line).hexdigest().encode() + b"\n")


def nested(played: Played) -> None:
    line = b"[" * 100_000
    played.file.path.write_bytes(line + b"\n" + signature_of(line) + b"\n")


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (flip(0), "has not signed it"),
        (flip(-1), "has not signed it"),
        (flip(-2), "has not signed it"),
        (lambda played: played.file.path.write_bytes(b""), "has not signed it"),
        (lambda played: played.file.path.write_bytes(b"\n"), "has not signed it"),
        (nested, "no JSON"),
        (reseal(format=1), "is not of format 2"),
        (reseal(format=1, state=None, more={}), "is not of format 2"),
        (signed_by_another, "has not signed it"),
        (with_its_checksum_only, "has not signed it"),
        (reseal(format=2.0), "must be int"),
        (lambda played: played.reseal([played.fields()]), "is not of format 2"),
        (reseal(program="0.2.0"), "was written by version 0.2.0, this is 0.1.0"),
        (reseal(table="craps-2"), "is of table craps-2, not of craps-1"),
        (reseal(seq=0), "events start at 1"),
        (reseal(seq=2**70), "the journal ends at event 40"),
        (reseal(seq="17"), "seq: must be int"),
        (reseal(more=1), "more missing or too much"),
        (reseal(state={}), "session, times missing or too much"),
        (reseal(seq=16), "its event 16 has another hash"),
        (other_hash, "its event 17 has another hash"),
        (hand_edited, "does not add up"),
        (state_of_another_event, "is of event 17, but its state of event 11"),
        (journal_begun_anew, "its event 17 has another hash"),
        (a_folder, "is no file"),
        (a_pipe, "is no file"),
        (a_link, "cannot be read"),
    ],
)
def test_a_snapshot_that_does_not_fit_is_thrown_away_with_a_line_in_the_log(
    played: Played, damage: Callable[[Played], Any], why: str, caplog: pytest.LogCaptureFixture
) -> None:
    played.file.write(played.snapshot(17))
    damage(played)
    recovered = played.recovered()
    assert recovered.snapshot_seq == 0
    played.assert_is_session(recovered)
    (line,) = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert line.startswith(f"{played.file.path} is thrown away and the whole journal replayed: ")
    assert why in line
    # A folder is not removed: nobody knows what lies in it.
    assert damage is a_folder or not os.path.lexists(played.file.path)


@pytest.mark.parametrize(("damage", "last_seq"), [(older_journal, 10), (removed_journal, 0)])
def test_a_snapshot_of_a_journal_that_was_longer_is_thrown_away(
    played: Played, damage: Callable[[Played], None], last_seq: int
) -> None:
    played.file.write(played.snapshot(17))
    damage(played)
    recovered = played.recovered()
    assert (recovered.snapshot_seq, recovered.session.seq) == (0, last_seq)
    assert not played.file.path.exists()


def test_every_flipped_byte_and_every_cut_is_noticed(played: Played) -> None:
    # Of a session just begun, so that there are not too many bytes.
    snapshot = Snapshot(1, played.events[0].hash, state_of(Session(seq=1), EventTimes()))
    played.file.write(snapshot)
    whole = played.file.path.read_bytes()
    assert played.file.read() == Snapshot(1, snapshot.hash, json.loads(json.dumps(snapshot.state)))
    damaged = [whole[:place] + bytes([whole[place] ^ 0x01]) + whole[place + 1 :] for place in range(len(whole))]
    damaged += [whole[:length] for length in range(len(whole))]
    damaged += [whole + b"\n", whole + whole]
    for content in damaged:
        played.file.path.write_bytes(content)
        with pytest.raises(BadSnapshot):
            played.file.read()


def test_a_file_too_long_is_not_read_into_memory(played: Played) -> None:
    with played.file.path.open("wb") as file:
        file.truncate(10 * 2**30)
    with pytest.raises(BadSnapshot, match="a snapshot has at most"):
        played.file.read()


def test_a_state_that_the_events_after_it_do_not_follow_from_is_thrown_away_before_giving_up(played: Played) -> None:
    """Sealed, with the right hash, adding up: a state as a fault of a program might leave it."""
    fields = json.loads(json.dumps(played.states[16]))
    fields["session"]["table"]["roll_number"] = 99
    played.file.write(Snapshot(17, played.events[16].hash, fields))
    recovered = played.recovered()
    assert recovered.snapshot_seq == 0
    played.assert_is_session(recovered)
    assert not played.file.path.exists()


def test_a_journal_that_does_not_follow_is_not_believed_with_a_snapshot_either(played: Played) -> None:
    played.file.write(played.snapshot(17))
    with played.open() as journal:
        journal.append([("roll", {"step": {"roll": [1, 1]}, "via": "console", "results": []})], STAMP)
        with pytest.raises(ReplayError, match="event 41"):
            recover(journal, played.file, ignore)


def test_a_damaged_event_after_the_snapshot_is_found_at_the_start(played: Played) -> None:
    played.file.write(played.snapshot(17))
    with played.open() as journal:
        connection = journal._connection
        connection.execute("DROP TRIGGER events_no_update")
        line = played.events[29].line().replace('"amount":10', '"amount":11').replace("[1,2]", "[1,3]")
        connection.execute("UPDATE events SET event = ? WHERE seq = 30", (line,))
        with pytest.raises(JournalDamaged, match="event 30: hash is"):
            recover(journal, played.file, ignore)


@pytest.mark.parametrize("call", ["open", "fsync", "replace", "write"])
def test_a_snapshot_that_cannot_be_written_leaves_the_former_one_and_no_rubbish(
    played: Played, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    played.file.write(played.snapshot(17))

    def fails(*_args: Any, **_more: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        if call == "write":
            patch.setattr(snapshot_file, "SNAPSHOT_BYTES_MAX", 100)
        else:
            patch.setattr(Path if call == "replace" else os, call, fails)
        with pytest.raises(OSError):  # noqa: PT011 - whatever the system says
            played.file.write(played.snapshot(30))
    assert sorted(path.name for path in played.file.path.parent.iterdir()) == ["journal.db", "snapshot"]
    assert played.recovered().snapshot_seq == 17


def test_a_snapshot_is_flushed_before_it_takes_its_name_and_the_folder_after(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    replace, fsync = Path.replace, os.fsync

    def replaced(path: Path, target: Path) -> Path:
        done.append(f"{path.name} -> {target.name}")
        return replace(path, target)

    def flushed(descriptor: int) -> None:
        done.append(f"flush {Path(f'/proc/self/fd/{descriptor}').readlink().name}")
        fsync(descriptor)

    monkeypatch.setattr(Path, "replace", replaced)
    monkeypatch.setattr(os, "fsync", flushed)
    played.file.write(played.snapshot(17))
    assert done == ["flush snapshot.new", "snapshot.new -> snapshot", "flush data"]


def test_what_a_crash_left_of_a_snapshot_is_overwritten(played: Played) -> None:
    rest = played.file.path.with_name("snapshot.new")
    rest.write_bytes(b"x" * 1_000_000)
    rest.chmod(0o644)
    played.file.write(played.snapshot(17))
    assert stat.S_IMODE(played.file.path.stat().st_mode) == 0o600
    assert played.recovered().snapshot_seq == 17


def test_a_terminal_is_back_where_it_was_with_its_snapshot_without_it_and_with_a_damaged_one(tmp_path: Path) -> None:
    terminal = TerminalProcess(tmp_path / "data")
    file = tmp_path / "data" / "snapshot"
    told = ("bets", "last_roll", "recent_rolls", "roll_number", "point", "house", "session_number")
    with terminal:
        terminal.do({"bet": {"player": "3", "kind": "place", "amount": 12, "number": 6}})
        terminal.do({"roll": [2, 2]})
        before = {name: terminal.state()[name] for name in told}
        assert not file.exists(), "too soon"
        assert terminal.terminate() == 0
        kept = json.loads(file.read_bytes().splitlines()[0])
        with JournalReader(tmp_path / "data" / "journal.db") as reader:
            assert (kept["seq"], kept["hash"]) == (reader.last_seq, reader.last_hash)
        terminal.start()
        assert {name: terminal.state()[name] for name in told} == before
        terminal.kill()
        assert "thrown away" not in terminal.output
        file.write_bytes(file.read_bytes().replace(b'"place"', b'"buy"'))
        terminal.start()
        assert {name: terminal.state()[name] for name in told} == before
        assert not file.exists()
        terminal.kill()
        assert (
            f"{file} is thrown away and the whole journal replayed: this table's key has not signed it"
            in terminal.output
        )
        terminal.start()
        assert {name: terminal.state()[name] for name in told} == before
        terminal.kill()
        assert "thrown away" not in terminal.output


# The keeper


class KeptFile:
    """In the place of a SnapshotFile: `write` waits until it may."""

    def __init__(self) -> None:
        self.written: list[Snapshot] = []
        self.may = threading.Event()
        self.may.set()
        self.error: OSError | None = None

    def write(self, snapshot: Snapshot) -> None:
        self.may.wait(600)
        if self.error is not None:
            raise self.error
        self.written.append(snapshot)


@pytest.fixture
def kept() -> KeptFile:
    return KeptFile()


def keeper_of(kept: Any, seq: int = 0) -> SnapshotKeeper:
    return SnapshotKeeper(kept, seq)


def test_a_snapshot_is_taken_every_so_many_events_and_at_a_good_stop(
    played: Played, kept: KeptFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot_keeper, "SNAPSHOT_EVENTS", 10)
    keeper = keeper_of(kept, seq=5)
    session, times = Session(), EventTimes()
    for event in played.events[:38]:
        session.replay(event.seq, event.type, event.data)
        times.note(event)
        keeper.note(session, times, event)
        if keeper._writing is not None:
            keeper._writing.result(600)
    assert [snapshot.seq for snapshot in kept.written] == [15, 25, 35]
    keeper.stop(session, times, played.events[37])
    assert [snapshot.seq for snapshot in kept.written] == [15, 25, 35, 38]
    assert [snapshot.hash for snapshot in kept.written] == [played.events[seq - 1].hash for seq in (15, 25, 35, 38)]
    for snapshot in kept.written:
        assert text(snapshot.state) == text(played.states[snapshot.seq - 1])


def test_the_table_does_not_wait_for_a_slow_disk_nor_do_snapshots_pile_up(
    played: Played, kept: KeptFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot_keeper, "SNAPSHOT_EVENTS", 10)
    keeper = keeper_of(kept)
    kept.may.clear()
    for event in played.events:
        keeper.note(played.session, played.times, event)
    kept.may.set()
    keeper.close()
    assert [snapshot.seq for snapshot in kept.written] == [10]


def test_a_snapshot_that_fails_is_a_line_in_the_log_and_nothing_else(
    played: Played, kept: KeptFile, caplog: pytest.LogCaptureFixture
) -> None:
    keeper = keeper_of(kept)
    kept.error = OSError(errno.ENOSPC, "No space left on device")
    keeper.stop(played.session, played.times, played.events[-1])
    assert kept.written == []
    assert [record.getMessage() for record in caplog.records] == [
        "no snapshot was written, or thrown away: [Errno 28] No space left on device"
    ]


class Noted(SnapshotKeeper):
    """Takes every snapshot that a terminal offers, and what the disk holds at that moment."""

    def __init__(self, path: Path) -> None:
        self.reader = JournalReader(path)
        self.offered: list[tuple[str, str, str]] = []

    def note(self, session: Session, times: EventTimes, event: Event) -> None:
        on_disk = parse(self.reader.read(self.reader.last_seq, 1)[0])
        assert (session.seq, on_disk.seq, on_disk.hash) == (event.seq, event.seq, event.hash)
        self.offered.append((event.type, text(state_of(session, times)), event.hash))

    def stop(self, session: Session, times: EventTimes, event: Event) -> None:
        self.note(session, times, event)


def test_a_terminal_offers_what_is_on_the_disk_after_every_commit(tmp_path: Path) -> None:
    async def play(journal: Journal, keeper: Noted) -> None:
        given = terms()
        key = open_table_key(tmp_path / "table.key")
        terminal = terminal_on(journal, Settings("casino-1", "craps-1", given), key)
        terminal.keep_snapshots(keeper)
        terminal.begin("1", CONFIGURED, given)
        running = asyncio.create_task(terminal.run())
        steps: list[dict[str, Any]] = [{"bet": {"player": "3", "kind": "field", "amount": 10}}, {"roll": [1, 2]}]
        for number, step in enumerate(steps):
            await terminal.command(step, f"command-{number}")
        with pytest.raises(Refused):
            await terminal.command({"roll": [0, 9]}, "command-9")
        await terminal.alert("fenced", "look")
        await terminal.close_table("command-10")
        running.cancel()
        await asyncio.wait([running])

    with Journal.open(tmp_path / "journal.db", "craps-1") as journal:
        keeper = Noted(tmp_path / "journal.db")
        asyncio.run(play(journal, keeper))
        keeper.reader.close()
        session, times = Session(), EventTimes()
        states = {}
        for event in journal.events():
            session.replay(event.seq, event.type, event.data)
            times.note(event)
            states[event.hash] = text(state_of(session, times))
    # The closing and the stop are each signed in the same commit.
    kinds = [kind for kind, _, _ in keeper.offered]
    assert kinds == ["bet", "self_test", "roll", "alert_raised", "checkpoint", "checkpoint"]
    for _, state, last_hash in keeper.offered:
        assert states[last_hash] == state
