"""`boxman central serve`: its configuration, and the program as it is started and ended."""

import signal
import subprocess
from pathlib import Path

import httpx
import pytest

from device.clock import Clock
from device.journal import Journal
from provisioning.central.pit_configuration import read_pit_configuration
from provisioning.central.toml_file import BadFile
from provisioning.command_line import main
from tests.free_ports import free_port
from tests.terminal_rig import BOXMAN, lines_in, wait_for

CENTRAL = '[central]\nservers = ["nats://127.0.0.1:1"]\n'


def written(folder: Path, text: str) -> Path:
    path = folder / "pit.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_configuration_with_nothing_but_its_servers(tmp_path: Path) -> None:
    found = read_pit_configuration(written(tmp_path, CENTRAL))
    assert (found.port, found.data, found.language) == (8090, tmp_path / "pit", "en")
    assert found.hosts == ("127.0.0.1", "localhost")
    assert (found.archive.sqlite, found.archive.stream, found.archive.keys) == (tmp_path / "archive.db", "CRAPS", None)


def test_a_configuration_that_says_all(tmp_path: Path) -> None:
    pit = '[pit]\nport = 8091\nhosts = ["pit.casino.example"]\ndata = "seen"\nlanguage = "zh-Hant"\n'
    found = read_pit_configuration(written(tmp_path, CENTRAL + pit))
    assert (found.port, found.data, found.language) == (8091, tmp_path / "seen", "zh-Hant")
    assert found.hosts == ("127.0.0.1", "localhost", "pit.casino.example")


@pytest.mark.parametrize(
    ("pit", "words"),
    [
        ("pit = 1", "pit should be a section, written [pit]"),
        ("[pit]\nhost = '0.0.0.0'", "pit.host is no key, did you mean hosts?"),
        ("[pit]\ntls = 1", "pit.tls is no key; the keys are port, hosts, data, language"),
        ("[pit]\nport = 0", "pit.port should be a whole number from 1 to 65535"),
        ("[pit]\nport = true", "pit.port should be a whole number from 1 to 65535"),
        ("[pit]\nhosts = ['*']", "pit.hosts should be a list of names, such as pit.casino.example"),
        ("[pit]\nhosts = 'a'", "pit.hosts should be a list of names, such as pit.casino.example"),
        (f"[pit]\nhosts = {['a'] * 21}", "pit.hosts holds 21 names, at most 20 are right"),
        ("[pit]\ndata = ''", "pit.data should be a folder"),
        ("[pit]\nlanguage = 'fr'", "pit.language should be one of en, es, pt, zh-Hant"),
        ("[pits]", "pits is no key; the keys are central, archive, tables"),
        ("[pit", "is no TOML: "),
    ],
)
def test_a_configuration_that_is_not_sound(tmp_path: Path, pit: str, words: str) -> None:
    # Before the sections, since one of these is no section.
    path = written(tmp_path, f"{pit}\n{CENTRAL}")
    with pytest.raises(BadFile) as bad:
        read_pit_configuration(path)
    assert str(bad.value).startswith(f"{path}: {words}")


def test_the_program_serves_whatever_is_away_and_ends_when_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    port = free_port()
    path = written(tmp_path, f"{CENTRAL}[pit]\nport = {port}\n")
    log = tmp_path / "log"
    with (
        log.open("wb") as said,
        subprocess.Popen([BOXMAN, "central", "serve", "--config", path], stdout=said, stderr=said) as program,
    ):
        address = f"http://127.0.0.1:{port}"

        def warnings() -> set[str]:
            assert program.poll() is None, log.read_text(encoding="utf-8")
            try:
                told = httpx.get(f"{address}/api/tables").json()
            except httpx.TransportError:
                return set()
            return {warning["text"] for warning in told["warnings"]}

        # Neither the log nor the archive is there: the page is, and says so.
        missing = f"there is no file {tmp_path}/archive.db; boxman central archive makes the database"
        refused = "the central server takes no connections; it may be down"
        wait_for(lambda: warnings() == {missing, refused}, "the page says what is away", 60)
        # A second one on the same journal, and one on the same port, are refused.
        assert f"{tmp_path}/pit: in use by process {program.pid}" in refusal(path, capsys)
        other = written(tmp_path, f"{CENTRAL}[pit]\nport = {port}\ndata = 'other'\n")
        assert f"the pit page cannot listen on 127.0.0.1 port {port} (" in refusal(other, capsys)
        assert listening_at(port) == {"0100007F"}
        program.send_signal(signal.SIGTERM)
        assert program.wait(60) in (0, -signal.SIGTERM)
    assert "Started server process" not in log.read_text(encoding="utf-8")


def refusal(configuration: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Why the program does not start."""
    assert main(["central", "serve", "--config", str(configuration)]) == 1
    complaint = capsys.readouterr().err
    assert complaint.startswith("boxman: ") and complaint.count("\n") == 1
    return complaint


def listening_at(port: int) -> set[str]:
    """The addresses of this machine at which somebody takes connections to the port, as the kernel writes them."""
    found = set()
    for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")):
        lines = table.read_text(encoding="ascii").splitlines()[1:] if table.is_file() else []
        rows = [line.split() for line in lines]
        found |= {row[1].partition(":")[0] for row in rows if row[1].endswith(f":{port:04X}") and row[3] == "0A"}
    return found


def test_a_table_s_journal_is_not_written_into(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pit").mkdir(mode=0o700)
    with Journal.open(tmp_path / "pit" / "journal.db", "craps-1") as journal:
        journal.append([("started", {})], Clock().stamp())
    assert "is the journal of table 'craps-1', not of 'pit'" in refusal(written(tmp_path, CENTRAL), capsys)
    assert len(lines_in(tmp_path / "pit")) == 1
