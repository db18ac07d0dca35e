"""A table's data on a stick and on a new unit: whole and proved, or not at all."""

import asyncio
import errno
import hashlib
import json
import os
import resource
import shutil
import sys
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import provisioning.backup
import provisioning.backup_file
import provisioning.restore
from device.adoption import NotAdopted, adopt
from device.central_history import CentralHistory, CentralUnreadable
from device.clock import Clock
from device.data_folder import JOURNAL_FILE_NAME, open_data_folder
from device.event import parse
from device.journal import Journal, JournalReader
from device.journal_copy import CopiedJournal
from device.journal_verification import verify
from device.people_file import PEOPLE_FILE
from device.table_key import TableKey
from provisioning.backup import back_up
from provisioning.backup_file import BackupError, BackupFile, FileSum, Manifest, parse_manifest
from provisioning.command_line import main
from provisioning.restore import RESTORED, restore
from provisioning.restored_history import restored_history
from tests.backup_rig import CONFIGURATION, MADE, SEED, Unit, log_of, quiet
from tests.journal_rig import KEY, OTHER_KEY, STAMP, chained_anew, changed, noted
from tests.pruning_rig import SITE, TABLE
from tests.terminal_rig import boxman as run_boxman

MODULES = [module.__file__ for module in (provisioning.backup, provisioning.backup_file, provisioning.restore)]


@pytest.fixture
def unit(tmp_path: Path) -> Unit:
    return Unit(tmp_path / "unit")


@pytest.fixture
def stick(tmp_path: Path) -> Path:
    (tmp_path / "stick").mkdir()
    return tmp_path / "stick"


def boxman(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    capsys.readouterr()
    status = main([*map(str, arguments)])
    said = capsys.readouterr()
    return status, said.out, said.err


def lines_in(path: Path) -> list[str]:
    with JournalReader(path) as reader:
        return [event.line() for event in reader.events()]


# Backing up


def test_a_backup_holds_what_the_table_has_but_its_secret_key(
    unit: Unit, stick: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    people = unit.people()
    shutil.copy(Path(__file__).parent / "rules" / "house-side-bets.json", tmp_path / "house.json")
    table = tmp_path / "table.toml"
    table.write_text(CONFIGURATION.replace('"us-vegas"', '"house.json"'))
    status, said, complaint = boxman(capsys, "table", "backup", stick, "--data", unit.data, "--config", table)
    assert (status, complaint) == (0, "")
    [path] = stick.iterdir()
    assert path.name.startswith(f"boxman-{SITE}-{TABLE}-2") and path.suffix == ".zip"
    assert path.stat().st_mode & 0o777 == 0o600
    assert said.splitlines()[0] == f"{path}: {path.stat().st_size} bytes, read back and found right"
    with zipfile.ZipFile(path) as zipped:
        held = {name: zipped.read(name) for name in zipped.namelist()}
    assert sorted(held) == [
        "configuration/house.json",
        "configuration/table.toml",
        "journal.db",
        "manifest.json",
        "people.json",
    ]
    assert held["people.json"] == people
    assert held["configuration/table.toml"] == table.read_bytes()
    (tmp_path / "copy.db").write_bytes(held["journal.db"])
    assert lines_in(tmp_path / "copy.db") == unit.lines()
    assert [SEED.encode() in content for content in held.values()] == [False] * 5
    manifest = json.loads(held["manifest.json"])
    assert (manifest["site"], manifest["table"], manifest["key"]) == (SITE, TABLE, KEY.public)
    assert (manifest["last_seq"], manifest["last_hash"]) == (len(unit.lines()), parse(unit.lines()[-1]).hash)


def test_the_copy_is_of_one_moment_however_much_is_written_meanwhile(unit: Unit, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    with Journal.open(unit.data / JOURNAL_FILE_NAME, TABLE) as writer:
        writer.append([noted(number, "x" * 5_000) for number in range(500)], STAMP)
        before = writer.last_seq

        def write_on(_done: int, _of: int) -> None:
            # A copy that begins anew with each of these would not come to an end otherwise.
            if len(looks) < 100:
                looks.append(writer.append([noted(1)], STAMP)[-1].seq)

        looks: list[int] = []
        with CopiedJournal(writer.path) as source:
            source.copy_to(copy, write_on)
        assert len(looks) > 2
        assert lines_in(copy) == lines_in(writer.path)[:before]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("copy")] == ["copy.db"]
    assert copy.stat().st_mode & 0o777 == 0o600


def test_what_a_backup_that_was_cut_off_has_left_goes_with_the_next(unit: Unit, stick: Path) -> None:
    for name in ("boxman-backup-1.db.part", f"boxman-{SITE}-{TABLE}-1.zip.part"):
        (stick / name).write_bytes(b"half of it")
    (stick / "letter.part").write_bytes(b"somebody's")
    path = unit.back_up(stick).path
    assert sorted(stick.iterdir()) == sorted([path, stick / "letter.part"])
    with pytest.raises(BackupError, match="is there already; a backup is never written over another one"):
        unit.back_up(stick)


def test_what_cannot_be_backed_up_is_told_in_one_line(
    unit: Unit, stick: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.toml"
    other.write_text(CONFIGURATION.replace(SITE, "elsewhere"))

    def refused(*arguments: str | Path) -> str:
        status, said, complaint = boxman(capsys, "table", "backup", *arguments)
        assert (status, said, complaint.count("\n")) == (1, "", 1)
        assert list(stick.iterdir()) == []
        return complaint

    assert "no.where: is no folder" in refused(tmp_path / "no.where", "--data", unit.data)
    assert "table.key: there is no key to sign with" in refused(stick, "--data", tmp_path)
    assert f"other.toml: is of table {TABLE} of elsewhere" in refused(stick, "--data", unit.data, "--config", other)
    assert "nothing.toml: cannot be read" in refused(stick, "--data", unit.data, "--config", tmp_path / "nothing.toml")
    (unit.data / PEOPLE_FILE).write_text("[]")
    (unit.data / PEOPLE_FILE).chmod(0o600)
    assert "people.json: is no list of people" in refused(stick, "--data", unit.data)
    (unit.data / PEOPLE_FILE).unlink()
    with closing(Journal.open(unit.data / JOURNAL_FILE_NAME, TABLE)) as journal:
        journal.append([("table_closed", {})], STAMP)
    assert "is missing" in refused(stick, "--data", unit.data)
    (unit.data / JOURNAL_FILE_NAME).unlink()
    assert "journal.db: there is no journal" in refused(stick, "--data", unit.data)


# Restoring


def test_a_new_unit_goes_on_with_journal_and_people_of_a_backup(
    unit: Unit, stick: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    people, new, table = unit.people(), tmp_path / "new", tmp_path / "table.toml"
    table.write_text(CONFIGURATION)
    backup = unit.back_up(stick, table).path
    status, said, complaint = boxman(capsys, "table", "restore", backup, "--data", new)
    assert (status, complaint) == (0, "")
    assert said.splitlines()[0] == f"table {TABLE} of {SITE} up to event {len(unit.lines())}, as it was on {MADE}"
    assert f"signed with {KEY.public}, " in said.splitlines()[1]
    assert f"boxman table adopt --config FILE --data {new}" in said
    assert not (new / JOURNAL_FILE_NAME).exists()
    run = run_boxman("run", "--data", new, "--config", table)
    assert (run.returncode, "not in force yet; run boxman table adopt" in run.stderr) == (1, True)

    status, said, complaint = boxman(capsys, "table", "adopt", "--config", table, "--data", new)
    assert (status, complaint) == (0, "")
    lines = lines_in(new / JOURNAL_FILE_NAME)
    assert lines[:-1] == unit.lines()
    assert parse(lines[-1]).data["former_key"] == KEY.public != parse(lines[-1]).data["key"]
    assert (new / PEOPLE_FILE).read_bytes() == people
    left = sorted(str(path.relative_to(new / RESTORED)) for path in (new / RESTORED).rglob("*"))
    assert left == ["configuration", "configuration/table.toml"]
    assert boxman(capsys, "journal", "verify", "--data", new)[0] == 0


def test_what_root_restores_is_its_owners_to_read(unit: Unit, stick: Path, tmp_path: Path) -> None:
    unit.people()
    table, new = tmp_path / "table.toml", tmp_path / "new"
    table.write_text(CONFIGURATION)
    owner = 1_234 if os.geteuid() == 0 else os.geteuid()
    new.mkdir(mode=0o700)
    os.chown(new, owner, -1)
    restore(unit.back_up(stick, table).path, new, quiet)
    found = {str(path.relative_to(new)): path.stat() for path in (new / RESTORED, *(new / RESTORED).rglob("*"))}
    assert found.keys() == {RESTORED} | {
        f"{RESTORED}/{name}" for name in (JOURNAL_FILE_NAME, PEOPLE_FILE, "configuration", "configuration/table.toml")
    }
    assert {(name, about.st_uid, about.st_mode & 0o077) for name, about in found.items()} == {
        (name, owner, 0) for name in found
    }


def taken_over(data: Path, backup: Path, central: CentralHistory | None) -> list[str]:
    """The journal of a unit to which `backup` was restored, and which has adopted the table then."""
    restore(backup, data, quiet)
    restored = restored_history(data / RESTORED / JOURNAL_FILE_NAME, central)
    with open_data_folder(data) as folder:
        sources = [restored] if central is None else [central, restored]
        asyncio.run(
            adopt(
                folder,
                sources,
                site=SITE,
                table=TABLE,
                key=OTHER_KEY.public,
                clock=Clock(),
                on_progress=lambda _done, _of: None,
            )
        )
    with JournalReader(data / JOURNAL_FILE_NAME) as reader:
        assert verify(reader, lambda _done, _of: None).is_good
    return lines_in(data / JOURNAL_FILE_NAME)


def test_whichever_goes_farther_is_taken_the_backup_or_the_centre(unit: Unit, stick: Path, tmp_path: Path) -> None:
    backup = unit.back_up(stick).path
    early, then = unit.game.read(), len(unit.lines())
    unit.game.more(2)
    late = unit.game.read()
    assert len(late) > then
    assert taken_over(tmp_path / "older", backup, log_of(late))[:-1] == [event.line() for event in late]
    for name, known in (("newer", early[:-3]), ("even", early)):
        assert taken_over(tmp_path / name, backup, log_of(known))[:-1] == [event.line() for event in early]


def test_a_backup_of_another_history_than_the_centres_is_not_taken(unit: Unit, stick: Path, tmp_path: Path) -> None:
    backup = unit.back_up(stick).path
    events = unit.game.read()
    other = chained_anew([*events[:-2], changed(events[-2], wall="2026-11-29T22:10:57.000Z")])
    with pytest.raises(NotAdopted, match=f"event {len(other)} under the centre is not the one under the backup"):
        taken_over(tmp_path / "new", backup, log_of(other))
    assert not (tmp_path / "new" / JOURNAL_FILE_NAME).exists()


def test_what_was_pruned_before_the_backup_comes_from_the_centre(unit: Unit, stick: Path, tmp_path: Path) -> None:
    whole = unit.game.read()
    unit.game.prune(unit.game.cuts[1])
    restore(unit.back_up(stick).path, tmp_path / "new", quiet)
    journal = tmp_path / "new" / RESTORED / JOURNAL_FILE_NAME

    async def read(central: CentralHistory | None) -> list[str]:
        lines: list[str] = []
        history = restored_history(journal, central)
        end = await history.read(lambda payload, _: lines.extend(payload.decode().split("\n")))
        assert end == await history.end()
        assert (end.seq, end.line) == (len(lines), lines[-1])
        return lines

    for known in (whole, whole[: unit.game.cuts[1]]):
        assert asyncio.run(read(log_of(known))) == [event.line() for event in (*whole, *unit.game.read()[-2:])]
    for short, why in ((None, "name the central system that has them"), (log_of(whole[:3]), "ends at event 3")):
        with pytest.raises(CentralUnreadable, match=f"were pruned after delivery.*{why}"):
            asyncio.run(read(short))


def test_a_unit_with_a_history_takes_no_backup(
    unit: Unit, stick: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    backup, new = unit.back_up(stick).path, tmp_path / "new"
    status, said, complaint = boxman(capsys, "table", "restore", backup, "--data", unit.data)
    assert (status, said, "this unit has a journal already" in complaint) == (1, "", True)
    restore(backup, new, quiet)
    status, _, complaint = boxman(capsys, "table", "restore", backup, "--data", new)
    assert (status, "a backup was restored here already" in complaint) == (1, True)
    foreign = tmp_path / "foreign.toml"
    foreign.write_text(CONFIGURATION.replace(TABLE, "craps-9"))
    status, _, complaint = boxman(capsys, "table", "adopt", "--config", foreign, "--data", new)
    assert (status, f"is the backup of table {TABLE}, not of craps-9" in complaint) == (1, True)
    with open_data_folder(new), pytest.raises(BackupError, match="in use by process"):
        restore(backup, new, quiet)


def test_every_byte_that_was_edited_is_found_or_changes_nothing(unit: Unit, stick: Path, tmp_path: Path) -> None:
    people = unit.people()
    backup = unit.back_up(stick).path
    good, edited = backup.read_bytes(), tmp_path / "edited.zip"
    harmless = 0
    positions = [*range(0, len(good), 97), *range(len(good) - 700, len(good), 7)]
    for position in positions:
        edited.write_bytes(good[:position] + bytes([good[position] ^ 0x5A]) + good[position + 1 :])
        new, complaint = tmp_path / "new", None
        try:
            restore(edited, new, quiet)
        except BackupError as error:
            complaint = str(error)
        if complaint is not None:
            assert complaint.startswith(str(edited)) and "\n" not in complaint
            assert not new.exists() or not (new / RESTORED).exists()
        else:
            # A time of day in the directory of the archive, say, of which the positions have more than its share.
            harmless += 1
            assert (new / RESTORED / PEOPLE_FILE).read_bytes() == people
            assert lines_in(new / RESTORED / JOURNAL_FILE_NAME) == unit.lines()
        shutil.rmtree(new, ignore_errors=True)
    assert harmless < len(positions) / 4


def rewritten(backup: Path, target: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """The same backup with other content, as somebody makes it who knows the format and has no key."""
    with zipfile.ZipFile(backup) as zipped:
        held = {name: zipped.read(name) for name in zipped.namelist()}
    change(held)
    with zipfile.ZipFile(target, "w") as zipped:
        for name, content in held.items():
            zipped.writestr(name, content)
    return target


def sealed_by(key: TableKey, held: dict[str, bytes], **other: Any) -> None:
    """Put sums and a signature of this key under what is held now."""
    former = parse_manifest(held["manifest.json"])
    files = {
        name: FileSum(len(content), hashlib.sha256(content).hexdigest())
        for name, content in held.items()
        if name != "manifest.json"
    }
    said = vars(former) | {"files": files, "key": key.public} | other
    held["manifest.json"] = Manifest(**said).signed_by(key).encode()


def test_what_was_put_together_by_others_is_refused(unit: Unit, stick: Path, tmp_path: Path) -> None:
    unit.people()
    backup, new = unit.back_up(stick).path, tmp_path / "new"

    def refused(change: Callable[[dict[str, bytes]], None]) -> str:
        with pytest.raises(BackupError) as refusal:
            restore(rewritten(backup, tmp_path / "changed.zip", change), new, quiet)
        assert not (new / RESTORED).exists() and not (new / f"{RESTORED}.part").exists()
        return str(refusal.value)

    def other_people(held: dict[str, bytes]) -> None:
        held["people.json"] = held["people.json"].replace(b"Marta", b"Maria")

    def other_people_and_their_sum(held: dict[str, bytes]) -> None:
        signature = json.loads(held["manifest.json"])["signature"]
        other_people(held)
        sealed_by(KEY, held)
        said = json.loads(held["manifest.json"]) | {"signature": signature}
        held["manifest.json"] = json.dumps(said).encode()

    def signed_by_others(held: dict[str, bytes]) -> None:
        other_people(held)
        sealed_by(OTHER_KEY, held)

    def of_another_table(held: dict[str, bytes]) -> None:
        sealed_by(KEY, held, table="craps-2")

    def with_another_file(held: dict[str, bytes]) -> None:
        held["../table.key"] = b"x"

    def named_outside(held: dict[str, bytes]) -> None:
        held["configuration/../../table.key"] = b"x"
        sealed_by(KEY, held)

    def another_days(held: dict[str, bytes]) -> None:
        sealed_by(KEY, held, last_seq=5)

    def without_journal(held: dict[str, bytes]) -> None:
        del held["journal.db"]
        sealed_by(KEY, held)

    def broken_people(held: dict[str, bytes]) -> None:
        held["people.json"] = b"[]"
        sealed_by(KEY, held)

    def no_journal(held: dict[str, bytes]) -> None:
        held["journal.db"] = b"SQLite format 3\0" + b"x" * 5_000
        sealed_by(KEY, held)

    def with_nothing(held: dict[str, bytes]) -> None:
        held.clear()

    assert "people.json is not what was put in" in refused(other_people)
    assert "its manifest was changed" in refused(other_people_and_their_sum)
    assert "is signed by" in refused(signed_by_others)
    assert "one of them is another table's or another day's" in refused(of_another_table)
    assert "does not hold the files that its manifest names" in refused(with_another_file)
    assert "its manifest is not as boxman table backup writes it" in refused(named_outside)
    assert "another day's" in refused(another_days)
    assert "its manifest is not as boxman table backup writes it" in refused(without_journal)
    assert "people.json: is no list of people" in refused(broken_people)
    assert "journal.db: is not a database" in refused(no_journal)
    assert "is no backup" in refused(with_nothing)
    with zipfile.ZipFile(tmp_path / "packed.zip", "w", zipfile.ZIP_LZMA) as packed:
        packed.writestr("manifest.json", bytes(range(256)).hex() * 20)
    content = bytearray((tmp_path / "packed.zip").read_bytes())
    # In the packed content, behind its header of 43 bytes and the 9 of what it is packed by.
    content[60:80] = bytes(20)
    (tmp_path / "packed.zip").write_bytes(content)
    with pytest.raises(BackupError, match="is a damaged backup: "):
        restore(tmp_path / "packed.zip", new, quiet)
    with pytest.raises(BackupError, match="is no backup, or a damaged one"):
        restore(Path(__file__), new, quiet)
    with pytest.raises(BackupError, match="cannot be read"):
        restore(tmp_path / "nothing.zip", new, quiet)
    with pytest.raises(BackupError, match="cannot be read"):
        restore(tmp_path, new, quiet)


# Cuts


def in_a_child(work: Callable[[], object]) -> int:
    """Run it in a process of its own, which ends in whatever way it does; how."""
    child = os.fork()
    if child == 0:
        status = 5
        try:
            work()
            status = 0
        except BackupError as error:
            status = 1 if "\n" not in str(error) else 4
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


CUT = 9


def cut_at(step: int, work: Callable[[], object]) -> int:
    """Let the power fail at this step (a line that is run); how the process ended: CUT, or 0 when it came before."""
    left = step

    def trace(frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal left
        if frame.f_code.co_filename not in MODULES:
            return None
        if event == "line":
            left -= 1
            if left < 0:
                os._exit(CUT)
        return trace

    def traced() -> None:
        sys.settrace(trace)
        work()

    return in_a_child(traced)


def test_a_cut_leaves_no_backup_or_a_whole_one(unit: Unit, stick: Path, tmp_path: Path) -> None:
    unit.people()
    wanted = unit.lines()
    # Every step is too many; the number has no factor in common with the loops.
    for step in range(0, 10_000, 7):
        ended = cut_at(step, lambda: unit.back_up(stick))
        for path in stick.glob("*.zip"):
            with BackupFile(path) as backup:
                backup.check(quiet(""))
            path.unlink()
        assert ended in (0, CUT)
        if ended == 0:
            break
    assert ended == 0 and step > 100
    assert list(stick.iterdir()) == []
    path = unit.back_up(stick).path
    restore(path, tmp_path / "new", quiet)
    assert lines_in(tmp_path / "new" / RESTORED / JOURNAL_FILE_NAME) == wanted


def test_a_cut_leaves_nothing_restored_or_all_of_it(unit: Unit, stick: Path, tmp_path: Path) -> None:
    people = unit.people()
    backup, new = unit.back_up(stick).path, tmp_path / "new"
    states = set()
    for step in range(0, 10_000, 7):
        ended = cut_at(step, lambda: restore(backup, new, quiet))
        assert ended in (0, CUT)
        assert not (new / JOURNAL_FILE_NAME).exists()
        states.add((new / f"{RESTORED}.part").exists())
        if (new / RESTORED).exists():
            assert (new / RESTORED / PEOPLE_FILE).read_bytes() == people
            assert lines_in(new / RESTORED / JOURNAL_FILE_NAME) == unit.lines()
            shutil.rmtree(new / RESTORED)
        if ended == 0:
            break
    assert ended == 0 and step > 100 and states == {True, False}
    restore(backup, new, quiet)
    assert (new / RESTORED / PEOPLE_FILE).read_bytes() == people


@pytest.mark.parametrize("what", ["backup", "restore"])
def test_a_disk_that_is_full_leaves_nothing(what: str, unit: Unit, stick: Path, tmp_path: Path) -> None:
    backup, new = unit.back_up(stick).path, tmp_path / "new"
    smaller = tmp_path / "smaller"
    smaller.mkdir()

    def work() -> None:
        back_up(unit.data, smaller, None, MADE, quiet) if what == "backup" else restore(backup, new, quiet)

    def full(bytes_max: int) -> Callable[[], None]:
        def limited() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_max, bytes_max))
            work()

        return limited

    whole = (unit.data / JOURNAL_FILE_NAME).stat().st_size
    for bytes_max in (0, 1_000, whole // 2, whole - 1):
        assert in_a_child(full(bytes_max)) == 1
        assert list(smaller.iterdir()) == []
        assert not new.exists() or [path.name for path in new.iterdir() if path.name.startswith(RESTORED)] == []
    assert in_a_child(work) == 0


@pytest.mark.parametrize("what", ["backup", "restore"])
def test_what_counts_is_flushed_before_it_has_its_name(
    what: str, unit: Unit, stick: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "table.toml"
    table.write_text(CONFIGURATION)
    unit.people()
    before = unit.back_up(stick, table).path
    flushed: list[str] = []
    really_flush, really_rename = os.fsync, Path.rename

    def fsync(descriptor: int) -> None:
        flushed.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
        really_flush(descriptor)

    def rename(path: Path, target: Path) -> Path:
        flushed.append(f"{path.name} gets its name")
        return really_rename(path, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "rename", rename)
    if what == "backup":
        before.unlink()
        unit.back_up(stick)
        assert flushed == [f"{before.name}.part", f"{before.name}.part gets its name", "stick"]
        return
    restore(before, tmp_path / "new", quiet)
    named = flushed.index("restored.part gets its name")
    assert {"journal.db", "people.json", "table.toml", "configuration", "restored.part"} <= set(flushed[:named])
    assert flushed[named + 1 :] == ["new"]


def test_a_stick_that_gives_back_something_else_is_found_at_once(
    unit: Unit, stick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    really_flush = os.fsync

    def fsync(descriptor: int) -> None:
        really_flush(descriptor)
        os.pwrite(descriptor, b"\0" * 10, 5_000)

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(BackupError, match="is a damaged backup"):
        unit.back_up(stick)
    assert list(stick.iterdir()) == []


def test_a_stick_that_was_pulled_out_is_told(unit: Unit, stick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fsync(_descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(BackupError, match=r"the backup cannot be written \(Input/output error\)"):
        unit.back_up(stick)
    assert list(stick.iterdir()) == []
