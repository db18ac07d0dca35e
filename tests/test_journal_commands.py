"""`boxman journal` on a real table's data, tampered with; and where its output or data is not what it should be."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from device.checkpoint import sign
from device.delivery_record import DeliveryRecord
from device.event import GENESIS_HASH, Event
from device.table_key import TableKey, open_table_key
from engine_lite import rule_sets
from provisioning.central_server import CentralServer
from provisioning.command_line import main
from tests.conformance_rig import be_patient
from tests.free_ports import free_port
from tests.journal_rig import chained_anew, changed, events_in, lines_of, rewrite, started, tamper, write
from tests.terminal_rig import BOXMAN, TerminalProcess, wait_for

OPENED = {
    "rule_set": rule_sets.load("us-vegas"),
    "options": {},
    "unit": 1,
    "limits": {"min": 1, "max": 1000},
}
SHOOTER = {"step": {"shooter": "Zoé"}}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with a journal at rest, which names a player with a letter beyond ASCII."""
    write(tmp_path / "journal.db", [started(), ("table_opened", OPENED), ("shooter", SHOOTER), ("sign", {})])
    return tmp_path


def in_a_shell(command: str, data: Path, **environment: str) -> "subprocess.CompletedProcess[bytes]":
    """Run `command`, in which $B is boxman and $D the data folder."""
    return subprocess.run(
        ["bash", "-c", command],
        env=os.environ | {"B": str(BOXMAN), "D": str(data)} | environment,
        capture_output=True,
        timeout=60,
        check=False,
    )


def assert_one_line(ended: "subprocess.CompletedProcess[bytes]", told: str) -> None:
    assert ended.returncode == 1, ended
    assert ended.stderr.count(b"\n") == 1, ended.stderr
    assert told in ended.stderr.decode()


@pytest.mark.parametrize("action", ["verify", "export", "export --scenario"])
def test_a_full_disk_behind_standard_output_is_one_line(data: Path, action: str) -> None:
    assert_one_line(in_a_shell(f'"$B" journal {action} --data "$D" >/dev/full', data), "No space left on device")


@pytest.mark.parametrize("action", ["export", "export --scenario"])
def test_nothing_is_exported_to_a_closed_output_without_a_word(data: Path, action: str) -> None:
    assert_one_line(in_a_shell(f'"$B" journal {action} --data "$D" >&-', data), "standard output is closed")


def test_closed_streams_keep_no_journal_from_being_verified(data: Path) -> None:
    assert in_a_shell('"$B" journal verify --data "$D" >&- 2>&- <&-', data).returncode == 0
    assert in_a_shell('"$B" journal verify --data "$D/none" >&- 2>&- <&-', data).returncode == 1


@pytest.mark.parametrize("action", ["export", "export --scenario"])
def test_an_export_is_utf8_in_every_locale(data: Path, action: str) -> None:
    ended = in_a_shell(f'"$B" journal {action} --data "$D"', data, PYTHONIOENCODING="ascii")
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert '"Zoé"'.encode() in ended.stdout


def test_a_path_that_cannot_be_looked_at_is_one_line(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["journal", "verify", "--data", str(data / ("a" * 300))]) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "cannot be read (File name too long)" in told


# On what a real table left: two runs, a closing, two stops; all but the last stop delivered.


@dataclass
class Left:
    """A copy of a table's data folder, to be tampered with."""

    data: Path
    capsys: pytest.CaptureFixture[str]

    @property
    def path(self) -> Path:
        return self.data / "journal.db"

    def events(self) -> list[Event]:
        return events_in(self.path)

    def verify(self, *more: str) -> tuple[int, str, str]:
        """Exit status, output, and complaint without the path that it must begin with."""
        self.capsys.readouterr()
        status = main(["journal", "verify", "--data", str(self.data), *more])
        told, complaint = self.capsys.readouterr()
        assert complaint.count("\n") == (1 if status else 0), complaint
        return status, told, complaint.removeprefix(f"{self.path}: ").removesuffix("\n")

    def checkpoint(self) -> str:
        """The path of a checkpoint taken away now."""
        self.capsys.readouterr()
        assert main(["journal", "checkpoint", "--data", str(self.data)]) == 0
        file = self.data.parent / f"checkpoint-{len(self.events())}.json"
        file.write_text(self.capsys.readouterr().out)
        return str(file)


AT_START = {"reserve_closed", "door_closed", "puck", "node_found", "slots", "self_test"}


def types_of_last_run(data: Path) -> list[str]:
    types = [event.type for event in events_in(data / "journal.db")]
    return types[len(types) - types[::-1].index("started") :]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("played") / "data"

    def delivered(table: TerminalProcess) -> None:
        # All that comes of itself at a start, the self-test's end too, so that nothing comes behind what was delivered.
        wait_for(lambda: set(types_of_last_run(data)) >= AT_START, "the inputs are read")
        table.wait_for_state(
            lambda state: state["uplink"]["state"] == "online" and state["uplink"]["undelivered"] == 0, "delivery"
        )

    with TerminalProcess(data) as table:
        table.do({"bet": {"player": "3", "kind": "pass_line", "amount": 10}})
        table.do({"roll": [3, 4]})
        answer = table.client.post("/api/close", json={"id": table.fresh_id()})
        assert answer.status_code == 200, answer.text
        delivered(table)
        table.terminate()
        table.start()
        delivered(table)
        table.terminate()
        # Once more where something came behind that, such as a node's silence on a busy machine.
        while delivered_seq(data) != len(events_in(data / "journal.db")) - 2:
            table.start()
            delivered(table)
            table.terminate()
    return data


def delivered_seq(data: Path) -> int:
    """The last event that was delivered."""
    with closing(DeliveryRecord(data / "delivery.db")) as record:
        return record.read("nats").seq


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    be_patient(monkeypatch)


@pytest.fixture
def left(played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Left:
    shutil.copytree(played, tmp_path / "data", symlinks=True)
    return Left(tmp_path / "data", capsys)


@pytest.fixture(scope="module")
def central(played: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the central server with what it was sent."""
    folder = tmp_path_factory.mktemp("server") / "central"
    shutil.copytree(played / "central", folder)
    with CentralServer(folder) as server:
        yield server.url


def last_of(events: list[Event], kind: str) -> int:
    return max(event.seq for event in events if event.type == kind)


def test_what_the_table_left_is_good_and_says_how_far_it_is_signed(left: Left) -> None:
    events = left.events()
    assert [event.type for event in events[-2:]] == ["stopped", "checkpoint"]
    key = open_table_key(left.data / "table.key").public
    status, told, _ = left.verify()
    assert status == 0
    assert told.splitlines() == [
        f"{len(events)} events, unbroken; the last hash is {events[-1].hash}",
        f"signed up to event {len(events) - 1} with the key {key}; 1 event after it is chained only: "
        "a change there, with all hashes computed anew, shows only in the central log",
    ]


def test_a_running_table_is_good_too_and_its_unsigned_events_are_counted(left: Left) -> None:
    write(left.path, [("noted", {}), ("noted", {})])
    status, told, _ = left.verify()
    assert (status, "3 events after it are chained only" in told) == (0, True)


def test_a_table_that_has_just_started_is_signed_nowhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "journal.db", [started()])
    assert main(["journal", "verify", "--data", str(tmp_path)]) == 0
    assert "not signed yet; 1 event after it is chained only" in capsys.readouterr().out


def test_the_checkpoint_and_the_central_log_bear_it_out(left: Left, central: str) -> None:
    last = len(left.events())
    status, told, _ = left.verify("--checkpoint", left.checkpoint(), "--central", central)
    assert status == 0
    assert told.splitlines()[2:] == [
        f"nothing was cut off or changed up to event {last - 1}, as the checkpoint proves",
        f"the central log holds events 1 to {last - 2}, each the same",
        "2 events are not in the central log yet",
    ]


def test_the_checkpoint_that_is_taken_away_is_the_journals_last(left: Left) -> None:
    before, last = left.events()[-2:]
    taken = json.loads(Path(left.checkpoint()).read_text())
    assert taken == {"table": "craps-1"} | last.data
    assert (taken["seq"], taken["hash"]) == (before.seq, before.hash)


def test_there_is_no_checkpoint_to_take_away_before_the_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "journal.db", [started()])
    assert main(["journal", "checkpoint", "--data", str(tmp_path)]) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "holds no checkpoint yet; there is one after 1000 events" in told


def test_a_forged_checkpoint_is_not_taken_away(left: Left) -> None:
    before, last = left.events()[-2:]
    for forged in (
        sign(TableKey(bytes(32)), "craps-1", before.seq, before.hash).data() | {"key": last.data["key"]},
        sign(TableKey(bytes(32)), "craps-1", before.seq - 1, before.prev).data(),
    ):
        rewrite(left.path, lines_of([*left.events()[:-1], changed(last, data=forged)]))
        assert main(["journal", "checkpoint", "--data", str(left.data)]) == 1
        told, complaint = left.capsys.readouterr()
        assert (told, complaint.count("\n")) == ("", 1)


def sealed_edit(events: list[Event]) -> list[Event]:
    """The roll with another time, and every hash made anew."""
    at = last_of(events, "roll") - 1
    return chained_anew([*events[:at], changed(events[at], wall="2026-11-29T22:10:56.123Z"), *events[at + 1 :]])


TAMPERED: dict[str, tuple[Callable[[list[Event]], list[Event]], str]] = {
    "an edit": (lambda events: [*events[:3], changed(events[3], boot="x"), *events[4:]], "event 5: prev is"),
    "an edit with all hashes anew": (sealed_edit, "the signature is not one of table 'craps-1'"),
    "a removed event": (lambda events: [*events[:3], *events[4:]], "event 4: holds event 5"),
    "a removed event, all anew": (lambda events: chained_anew([*events[:3], *events[4:]]), "the signature is not one"),
    "a swapped pair": (lambda events: [*events[:2], events[3], events[2], *events[4:]], "event 3: holds event 4"),
    "a swapped pair, all anew": (
        lambda events: chained_anew([*events[:2], events[3], events[2], *events[4:]]),
        "the signature is not one",
    ),
    "an event again": (lambda events: [*events[:3], *events[2:]], "event 4: holds event 3"),
    "an inserted event, all anew": (
        lambda events: chained_anew([*events[:3], *events[2:]]),
        "the signature is not one",
    ),
    "no checkpoints, all anew": (
        lambda events: chained_anew([event for event in events if event.type != "checkpoint"]),
        "the checkpoint that was written together with event",
    ),
    "another table": (lambda events: [changed(event, table="craps-2") for event in events], "event 2: prev is"),
    "another table, all anew": (
        lambda events: chained_anew([changed(event, table="craps-2") for event in events]),
        "the signature is not one of table 'craps-2'",
    ),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_tampering_is_found(left: Left, name: str) -> None:
    change, complaint = TAMPERED[name]
    rewrite(left.path, lines_of(change(left.events())))
    status, told, said = left.verify()
    assert (status, told) == (1, "")
    assert complaint in said
    assert said.startswith("event ")


def test_an_edit_with_the_old_hash_is_found(left: Left) -> None:
    tamper(left.path, lambda c: c.execute("UPDATE events SET event = replace(event, '[3,4]', '[3,3]')"))
    status, _, said = left.verify()
    assert (status, ": hash is " in said) == (1, True)


def test_an_edit_after_the_last_checkpoint_with_all_hashes_anew_is_found_by_the_central_log_alone(
    left: Left, central: str
) -> None:
    events = left.events()
    # As if the second run had been cut off: its stop and the checkpoint of it are not there.
    cut = events[:-2]
    away = cut[-1]
    rewrite(left.path, lines_of([*cut[:-1], changed(away, mono_ns=away.mono_ns + 1)]))
    status, told, _ = left.verify()
    assert (status, "chained only: a change there" in told) == (0, True)
    status, _, said = left.verify("--central", central)
    assert status == 1
    assert said.startswith(f"event {away.seq}: hash is ")
    assert said.endswith(f"(the journal ends at event {away.seq}, the central log at event {away.seq})")


def cut_to(path: Path, seq: int) -> None:
    tamper(path, lambda connection: connection.execute("DELETE FROM events WHERE seq > ?", (seq,)))


def test_a_tail_that_was_cut_off_is_found_by_each_of_three(left: Left, central: str) -> None:
    away = left.checkpoint()
    events = left.events()
    first_stop = min(event.seq for event in events if event.type == "stopped")
    cut_to(left.path, first_stop + 1)
    status, _, said = left.verify()
    delivered = len(events) - 2
    assert (status, said) == (
        1,
        f"event {first_stop + 2}: missing, though event {delivered} was delivered: it was cut off",
    )
    for name in ("delivery.db", "delivery.db-wal", "delivery.db-shm"):
        (left.data / name).unlink(missing_ok=True)
    assert left.verify()[0] == 0
    status, _, said = left.verify("--checkpoint", away)
    assert (status, said) == (
        1,
        f"event {first_stop + 2}: missing, though the checkpoint is of event {len(events) - 1}: it was cut off",
    )
    status, _, said = left.verify("--central", central)
    assert status == 1
    assert said.startswith(f"event {first_stop + 2}: missing, though the central log goes on to event {delivered}")


def test_a_journal_cut_to_nothing_is_found(left: Left) -> None:
    cut_to(left.path, 0)
    status, _, said = left.verify()
    assert (status, said.startswith("event 1: missing, though event ")) == (1, True)


def test_a_central_log_that_ends_before_what_it_acknowledged_is_found(left: Left, central: str) -> None:
    last = len(left.events())
    record = DeliveryRecord(left.data / "delivery.db")
    record.set("nats", last, 99)
    record.close()
    assert left.verify()[0] == 0
    status, _, said = left.verify("--central", central)
    assert (status, said) == (
        1,
        f"event {last - 1}: missing in the central log, which acknowledged event {last}: the log was cut off",
    )


def test_what_was_delivered_over_https_is_held_against_the_journal_and_not_against_another_log(
    left: Left, central: str
) -> None:
    last = len(left.events())
    record = DeliveryRecord(left.data / "delivery.db")
    record.set("https", last, last)
    assert left.verify("--central", central)[0] == 0
    record.set("https", last + 1, last + 1)
    record.close()
    said = f"event {last + 1}: missing, though event {last + 1} was delivered: it was cut off"
    assert left.verify() == (1, "", said)


def test_a_delivery_record_that_cannot_be_read_is_said(left: Left) -> None:
    for name in ("delivery.db-wal", "delivery.db-shm"):
        (left.data / name).unlink(missing_ok=True)
    (left.data / "delivery.db").write_bytes(b"rubbish" * 999)
    assert main(["journal", "verify", "--data", str(left.data)]) == 0
    assert "delivery.db: cannot be read (file is not a database)" in left.capsys.readouterr().err


def test_verifying_changes_nothing_in_the_folder(left: Left) -> None:
    def contents() -> dict[str, bytes]:
        return {name: (left.data / name).read_bytes() for name in ("journal.db", "delivery.db", "table.key")}

    before = contents()
    assert left.verify()[0] == 0
    assert contents() == before


# Keys


def test_a_replaced_key_file_is_found(left: Left) -> None:
    key_path = left.data / "table.key"
    former = open_table_key(key_path).public
    key_path.unlink()
    new = open_table_key(key_path).public
    status, _, said = left.verify()
    assert (status, said) == (1, f"{key_path}: is the key {new}, but the journal's last start names {former}")


def test_a_key_file_that_others_may_read_is_found(left: Left) -> None:
    (left.data / "table.key").chmod(0o644)
    status, _, said = left.verify()
    assert (status, "has mode 0644" in said) == (1, True)


def test_a_copy_without_the_key_can_be_verified(left: Left) -> None:
    (left.data / "table.key").unlink()
    assert left.verify()[0] == 0
    assert not (left.data / "table.key").exists()


def test_a_changed_key_is_found_until_something_from_after_it_bears_it_out(left: Left) -> None:
    (left.data / "table.key").unlink()
    new = open_table_key(left.data / "table.key")
    before = left.checkpoint()
    at = len(left.events()) + 1
    configured = {"site": "demo"}
    write(
        left.path,
        [started(new, key_changed=True, configured=configured), ("stopped", {}), ("sign", {}), started(new)],
        new,
    )
    for more in ((), ("--checkpoint", before)):
        status, _, said = left.verify(*more)
        assert (status, said.startswith(f"event {at}: the table's key changed here")) == (1, True)
    assert left.verify("--checkpoint", left.checkpoint())[0] == 0


def test_a_whole_journal_forged_with_another_key_is_found(left: Left, central: str) -> None:
    away = left.checkpoint()
    events = left.events()
    new = TableKey(bytes(32))
    forged: list[Event] = []
    for event in events:
        data = event.data
        if event.type == "started":
            data = data | {"key": new.public}
        elif event.type == "checkpoint":
            data = sign(new, "craps-1", len(forged), forged[-1].hash).data()
        prev = forged[-1].hash if forged else GENESIS_HASH
        forged.append(changed(event, data=data, prev=prev))
    rewrite(left.path, lines_of(forged))
    assert "is the key" in left.verify()[2], "the key in the folder is another one"
    (left.data / "table.key").unlink()
    assert left.verify()[0] == 0
    assert "the checkpoint is signed with the key" in left.verify("--checkpoint", away)[2]
    assert left.verify("--central", central)[2].startswith("event 1: hash is ")


# What is given on the command line


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is no JSON"),
        ("[]", "is no checkpoint"),
        ("{}", "is no checkpoint"),
        ('{"table":"craps-1"}', "the checkpoint has no seq that could be one"),
        ('{"table":7}', "is no checkpoint"),
    ],
)
def test_a_file_that_is_no_checkpoint_is_one_line(left: Left, content: str, words: str) -> None:
    file = left.data.parent / "checkpoint.json"
    file.write_text(content)
    status, _, said = left.verify("--checkpoint", str(file))
    assert status == 1
    assert said.startswith(f"boxman: {file}") and words in said


def test_every_character_of_a_checkpoint_file_counts(left: Left) -> None:
    file = Path(left.checkpoint())
    text = file.read_text().removesuffix("\n")
    for position, character in enumerate(text):
        file.write_text(text[:position] + ("1" if character != "1" else "2") + text[position + 1 :])
        assert left.verify("--checkpoint", str(file))[0] == 1, position
    file.write_text(text)
    assert left.verify("--checkpoint", str(file))[0] == 0


def test_a_checkpoint_file_that_is_not_there_is_one_line(left: Left) -> None:
    status, _, said = left.verify("--checkpoint", str(left.data / "none.json"))
    assert (status, "cannot be read: No such file" in said) == (1, True)


def test_a_checkpoint_of_another_table_is_found(left: Left) -> None:
    event = left.events()[-2]
    other = sign(open_table_key(left.data / "table.key"), "craps-2", event.seq, event.hash)
    file = left.data.parent / "other.json"
    file.write_text(json.dumps({"table": "craps-2"} | other.data()))
    status, _, said = left.verify("--checkpoint", str(file))
    assert (status, said) == (1, "event 1: is of table 'craps-1', but the checkpoint of table 'craps-2'")


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "nats://", "nats://host:0"])
def test_what_is_no_address_of_a_central_server_is_one_line(left: Left, url: str) -> None:
    status, _, said = left.verify("--central", url)
    assert (status, said) == (1, "boxman: --central: is no URL like nats://central.example:4222")


def test_a_central_server_that_is_down_is_one_line_without_its_password(left: Left) -> None:
    status, _, said = left.verify("--central", "nats://table:secret@127.0.0.1:1")
    assert (status, said) == (1, "boxman: --central: the central server takes no connections; it may be down")


def test_the_central_servers_may_be_those_of_a_configuration(left: Left, central: str) -> None:
    file = left.data.parent / "table.toml"
    file.write_text(f'[uplink]\nservers = ["{central}"]\n')
    status, told, _ = left.verify("--central", str(file))
    assert (status, "the central log holds events 1 to" in told) == (0, True)
    file.write_text(f'[uplink]\nhttps = "https://127.0.0.1:{free_port()}"\n')
    status, _, said = left.verify("--central", str(file))
    assert (status, said) == (1, "boxman: --central: the central server takes no connections; it may be down")
    file.write_text("[table]\n")
    status, _, said = left.verify("--central", str(file))
    assert (status, said) == (1, f"boxman: --central: {file} names neither uplink.servers nor uplink.https")


def test_a_stream_of_another_name_is_asked_for(left: Left, central: str) -> None:
    status, _, said = left.verify("--central", central, "--stream", "OTHER")
    assert (status, "no central server has this stream ready" in said) == (1, True)
