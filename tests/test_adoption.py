"""A new unit takes a table over: whole terminals, a real central server with generated files, a real replaced unit."""

import asyncio
import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from device.event import parse
from device.table_key import KEY_FILE_NAME
from provisioning.central.event_store import EventStore
from provisioning.command_line import main
from tests.archive_rig import PlayedJournal
from tests.central_rig import SITE, TABLE, Central, history, set_up_when_ready, system_of, unit
from tests.conformance_rig import KEY as FORMER
from tests.conformance_rig import SITE as HTTPS_SITE
from tests.conformance_rig import Certificates, HttpsCentral, be_patient, delivering, running
from tests.terminal_rig import WAIT_S, TerminalProcess, lines_in


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    be_patient(monkeypatch)


@pytest.fixture
def central(tmp_path: Path) -> Iterator[Central]:
    (tmp_path / "central").mkdir()
    with Central(tmp_path / "central") as made:
        made.start()
        asyncio.run(set_up_when_ready(made))
        yield made


class Boxman:
    """The command, in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str | Path) -> tuple[int, str, str]:
        """Exit status, output and complaints."""
        self._capsys.readouterr()
        status = main([*map(str, arguments)])
        said = self._capsys.readouterr()
        return status, said.out, said.err


@pytest.fixture
def boxman(capsys: pytest.CaptureFixture[str]) -> Boxman:
    return Boxman(capsys)


def configuration(central: Central, folder: Path) -> Path:
    path = folder / "table.toml"
    path.write_text(
        f'[table]\nsite = "{SITE}"\nname = "{TABLE}"\n[uplink]\nservers = ["{central.urls(SITE)[0]}"]\n'
        f'ca = "{central.authority.ca}"\n',
        encoding="utf-8",
    )
    return path


def registered(boxman: Boxman, central: Central, data: Path) -> str:
    """Put the key of the unit in `data` into the list, in the place of the one before."""
    had = (data / KEY_FILE_NAME).exists()
    _, public, said = boxman("table", "key", "--data", data)
    public = public.strip()
    assert said == ("" if had else f"boxman: {data}: had no key; one was made\n")
    shutil.copy(data / KEY_FILE_NAME, central.keys / f"{SITE}.{TABLE}.key")
    central.write()
    central.servers["hub-1"].stop()
    central.start()
    assert public == central.key(f"{SITE}.{TABLE}").public
    return public


def played(data: Path, path: Path) -> None:
    """A start, a session and an end, all of it delivered."""
    with TerminalProcess(data, configuration=path) as terminal:
        terminal.wait_for_state(lambda state: state["uplink"]["state"] == "online", "the uplink online")
        terminal.wait_for_state(lambda state: state["uplink"]["undelivered"] == 0, "everything delivered")
        terminal.terminate()


def test_a_new_unit_goes_on_where_the_log_ends_and_the_old_one_is_kept_out(
    boxman: Boxman, central: Central, tmp_path: Path
) -> None:
    path = configuration(central, tmp_path)
    old, new, reader = tmp_path / "old", tmp_path / "new", central.keys / "archive.key"
    former = registered(boxman, central, old)
    played(old, path)
    owner = 1_234 if os.geteuid() == 0 else os.geteuid()
    new.mkdir(mode=0o700)
    os.chown(new, owner, -1)
    before = asyncio.run(history(central, SITE, TABLE))

    heir = registered(boxman, central, new)
    status, said, complaint = boxman("table", "adopt", "--config", path, "--data", new, "--key", reader)
    assert (status, complaint) == (0, "")
    assert said.splitlines()[0] == f"table {TABLE} of {SITE}: this unit goes on after event {len(before)}"
    # Root prepares it, and the terminal runs as the user whom the folder belongs to.
    assert {file.name: file.stat().st_uid for file in new.iterdir()} == dict.fromkeys(
        ("journal.db", "lock", "table.key"), owner
    )
    lines = lines_in(new)
    assert lines[:-1] == before
    last = parse(lines[-1])
    assert (last.type, last.data) == (
        "adopted",
        {"through": len(before), "hash": parse(before[-1]).hash, "former_key": former, "key": heir},
    )
    status, _, complaint = boxman("journal", "verify", "--data", new, "--central", path, "--key", reader)
    assert (status, complaint) == (0, "")

    played(new, path)
    after = asyncio.run(history(central, SITE, TABLE))
    assert after[: len(lines)] == lines
    [start] = [parse(line) for line in after[len(lines) :] if parse(line).type == "started"]
    assert (start.seq, start.data["key"], start.data["key_changed"]) == (len(lines) + 1, heir, True)
    status, _, complaint = boxman("journal", "verify", "--data", new, "--central", path, "--key", reader)
    assert (status, complaint) == (0, "")

    # It may come back with its key, or with the new unit's, as a copied card has it.
    with TerminalProcess(old, configuration=path) as terminal:
        words = f"the central server refuses this table's credentials; its list of tables should hold the key {former}"
        terminal.wait_for_state(lambda state: state["uplink"]["last_error"] == words, words)
        terminal.terminate()
    shutil.copy(new / KEY_FILE_NAME, old / KEY_FILE_NAME)
    with TerminalProcess(old, configuration=path) as terminal:
        terminal.wait_for_state(lambda state: state["uplink"]["state"] == "fenced", "the old unit fenced")
        terminal.terminate()
    assert asyncio.run(history(central, SITE, TABLE))[: len(after)] == after


def test_what_cannot_be_taken_over_leaves_no_journal(boxman: Boxman, central: Central, tmp_path: Path) -> None:
    path = configuration(central, tmp_path)
    old, new, reader = tmp_path / "old", tmp_path / "new", central.keys / "archive.key"
    registered(boxman, central, old)

    def refused(data: Path, key: Path | None) -> str:
        arguments = ("table", "adopt", "--config", path, "--data", data, *(("--key", key) if key else ()))
        status, said, complaint = boxman(*arguments)
        assert (status, said, len(complaint.splitlines())) == (1, "", 1)
        return complaint

    assert "holds nothing under craps.casino-1.craps-1.journal" in refused(new, reader)
    played(old, path)
    assert "this unit has a journal already" in refused(old, reader)
    nobody = "the central server lets nobody read without a key; --key names the file of a reader's"
    assert refused(new, None) == f"boxman: {nobody}\n"
    not_a_readers = "it should be that of one of the [[readers]] in its list"
    assert f"refuses the key in {new / KEY_FILE_NAME}; {not_a_readers}" in refused(new, new / KEY_FILE_NAME)
    status, _, complaint = boxman("journal", "verify", "--data", old, "--central", path)
    assert (status, complaint) == (1, f"boxman: --central: {nobody}\n")
    admins = central.keys / "admin.key"
    assert refused(new, admins) == (
        f"boxman: {admins}: this key may do more at the centre than read, so it does not belong on a table; use a "
        "reader's, made for this alone by boxman central key\n"
    )
    assert "boxman central key makes one" in refused(new, tmp_path / "no.key")
    shutil.copy(old / KEY_FILE_NAME, new / KEY_FILE_NAME)
    assert "written with this unit's own key" in refused(new, reader)
    assert not (new / "journal.db").exists()


def test_a_log_that_was_changed_is_not_taken_over(boxman: Boxman, central: Central, tmp_path: Path) -> None:
    path = configuration(central, tmp_path)
    old, new, reader = tmp_path / "old", tmp_path / "new", central.keys / "archive.key"
    registered(boxman, central, old)
    played(old, path)
    lines = lines_in(old)

    async def rewrite() -> None:
        """Whoever rules the server writes the history anew, without its last event but one."""
        from device.nats_connection import connected

        async with connected(central.access("admin"), "test") as client:
            jetstream = client.jetstream(timeout=WAIT_S)
            await jetstream.delete_stream("CRAPS")
            await central.set_up()
            await jetstream.publish(f"craps.{SITE}.{TABLE}.journal", "\n".join([*lines[:-2], lines[-1]]).encode())

    asyncio.run(rewrite())
    status, said, complaint = boxman("table", "adopt", "--config", path, "--data", new, "--key", reader)
    assert (status, said) == (1, "")
    assert f"event {len(lines) - 1} of the central log: does not follow the one before" in complaint
    assert not (new / "journal.db").exists()


def test_over_https_the_units_own_key_is_enough(boxman: Boxman, tmp_path: Path) -> None:
    receiver = HttpsCentral(tmp_path / "receiver", Certificates(tmp_path))
    data, path = tmp_path / "new", tmp_path / "table.toml"
    path.write_text(
        f'[table]\nsite = "{HTTPS_SITE}"\nname = "{TABLE}"\n[uplink]\nhttps = "https://127.0.0.1:{receiver.port}"\n'
        f'ca = "{receiver.certificates.ca}"\n',
        encoding="utf-8",
    )
    heir = boxman("table", "key", "--data", data)[1].strip()
    journal = PlayedJournal(TABLE, FORMER, site=HTTPS_SITE, events=20)
    journal.history.checkpoint()

    async def deliver() -> None:
        async with delivering(receiver, journal, tmp_path / "old") as unit:
            await unit.delivered(journal.last_seq())

    with running(receiver):
        asyncio.run(deliver())
        status, _, complaint = boxman("table", "adopt", "--config", path, "--data", data)
        assert (status, complaint) == (
            1,
            "boxman: the central server refuses this table's credentials; its list of tables should hold the key "
            f"{heir}\n",
        )
        receiver.program.stop()
        receiver.know({TABLE: heir})
        receiver.start()
        status, said, complaint = boxman("table", "adopt", "--config", path, "--data", data)
        assert (status, complaint) == (0, "")
        assert said.splitlines()[0] == (
            f"table {TABLE} of {HTTPS_SITE}: this unit goes on after event {journal.last_seq()}"
        )
        assert lines_in(data)[:-1] == journal.lines
        status, said, complaint = boxman("journal", "verify", "--data", data, "--central", path)
        assert (status, complaint) == (0, "")
        assert f"the central log holds events 1 to {journal.last_seq()}, each the same" in said


def test_of_two_central_systems_the_one_that_has_more_is_taken_and_both_must_be_of_one_history(
    boxman: Boxman, central: Central, tmp_path: Path
) -> None:
    receiver = HttpsCentral(tmp_path / "receiver", Certificates(tmp_path))
    # Both are under one CA, as the table's configuration has it.
    receiver.certificates.certificate, receiver.certificates.key = central.authority.issue("receiver")
    data, path = tmp_path / "new", tmp_path / "table.toml"
    path.write_text(
        f'[table]\nsite = "{SITE}"\nname = "{TABLE}"\n[uplink]\nservers = ["{central.urls(SITE)[0]}"]\n'
        f'https = "https://127.0.0.1:{receiver.port}"\nca = "{central.authority.ca}"\n',
        encoding="utf-8",
    )
    heir = boxman("table", "key", "--data", data)[1].strip()
    former = central.key(f"{SITE}.{TABLE}")
    journal = PlayedJournal(TABLE, former, site=SITE, events=20)
    other = PlayedJournal(TABLE, former, site=SITE, seed=2, events=10)
    receiver.know({TABLE: heir})
    text = receiver.configuration.read_text(encoding="utf-8").replace(f'site = "{HTTPS_SITE}"', f'site = "{SITE}"')
    receiver.configuration.write_text(text, encoding="utf-8")
    reader = ("--key", central.keys / "archive.key")

    async def deliver_to_nats() -> None:
        async with unit(system_of(central), journal, tmp_path / "old") as running_unit:
            await running_unit.delivered(journal.last_seq())

    def store(events: PlayedJournal, count: int) -> None:
        (receiver.program.store / "events.db").unlink(missing_ok=True)
        with closing(EventStore(receiver.program.store / "events.db")) as kept:
            kept.append(SITE, TABLE, "0" * 64, events.history.events[:count])

    asyncio.run(deliver_to_nats())
    store(other, 10)
    with running(receiver):
        status, _, complaint = boxman("table", "adopt", "--config", path, "--data", data, *reader)
        assert status == 1
        assert f"event 10 under {SITE}/{TABLE} at https://127.0.0.1:{receiver.port} is not the one under" in complaint
        assert not (data / "journal.db").exists()
    store(journal, 10)
    with running(receiver):
        assert boxman("table", "adopt", "--config", path, "--data", data, *reader)[0] == 0
    assert lines_in(data)[:-1] == journal.lines
