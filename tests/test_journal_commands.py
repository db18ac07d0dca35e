"""`boxman journal` where its output or its data folder is not what it should be."""

import os
import subprocess
from pathlib import Path

import pytest

from device.event import Stamp
from device.journal import Journal
from engine_lite import rule_sets
from provisioning.command_line import main
from tests.terminal_rig import BOXMAN

STAMP = Stamp("boot-1", 5, "2026-11-29T22:10:56.123Z", "free")
OPENED = {
    "rule_set": rule_sets.load("us-vegas"),
    "options": {},
    "unit": 1,
    "limits": {"min": 1, "max": 1000},
}
SHOOTER = {"step": {"shooter": "Zoé"}}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with a closed journal of two events, which names a player with a letter beyond ASCII."""
    with Journal.open(tmp_path / "journal.db", "craps-1") as journal:
        journal.append([("table_opened", OPENED), ("shooter", SHOOTER)], STAMP)
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
