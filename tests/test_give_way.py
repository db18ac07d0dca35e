"""What is computed beside the table gives way, and does its work where the system lets no program be nicer."""

import asyncio
import logging
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from device import startup
from device.beside_table import ProgramFailed
from device.data_folder import open_data_folder
from device.give_way import give_way
from tests.terminal_rig import TerminalProcess

# As a service whose system calls are filtered (SystemCallErrorNumber=EPERM).
FORBIDDEN = """
import os, runpy, sys
def forbidden(niceness):
    raise PermissionError(1, "Operation not permitted")
os.nice = forbidden
sys.argv = sys.argv[1:]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


def test_it_is_nicer_by_so_much() -> None:
    program = (
        "import os; from device.give_way import give_way; before = os.nice(0); give_way(3); print(os.nice(0) - before)"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "3\n"


def test_where_that_is_forbidden_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(_niceness: int) -> int:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "nice", forbidden)
    give_way(19)


def test_every_program_beside_the_table_works_where_that_is_forbidden(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with TerminalProcess(data) as table:
        table.do({"roll": [3, 4]})
        table.terminate()
    journal = str(data / "journal.db")
    for module, arguments in {
        "device.statistics_program": [journal],
        "device.dice_control.report_program": [journal, "fairness"],
        "device.journal_query_program": [journal, '{"ask": "search", "filter": {}, "before": null}'],
        "device.pruning_program": [journal, "1", "180", "2026-11-30T12:00:00.000Z"],
        "device.replay_program": ["0.1.0", str(data)],
        "device.verification_program": [journal],
    }.items():
        command = [sys.executable, "-c", FORBIDDEN, module, *arguments]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert (ended.returncode, ended.stderr) == (0, ""), module


def test_a_verification_that_could_not_run_says_nothing_of_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def cannot(*_arguments: str, **_more: Any) -> bytes:
        raise ProgramFailed("killed")

    async def alert(_code: str, text: str) -> None:
        raise AssertionError(text)

    monkeypatch.setattr(startup, "run_beside", cannot)
    assembled: Any = SimpleNamespace(terminal=SimpleNamespace(alert=alert))
    with open_data_folder(tmp_path) as folder, caplog.at_level(logging.WARNING):
        asyncio.run(startup._verify_beside(folder, "0.1.0", assembled))
    assert "was not verified: killed" in caplog.text
