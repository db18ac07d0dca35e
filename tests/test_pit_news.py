"""What the archive has taken is on the pit's page at once, not at its next tick, and not more often than bounded."""

import time
from pathlib import Path

import pytest

from provisioning.central import pit_commands, pit_sources
from tests.archive_rig import History
from tests.pit_rig import Pit, Tables, central_server
from tests.terminal_rig import wait_for


def test_a_roll_is_shown_between_two_ticks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pit_commands, "TICK_S", 3600.0)
    monkeypatch.setattr(pit_sources, "DATABASE_ASKED_S", 3600.0)
    history = History()
    history.open()
    with central_server(tmp_path / "nats") as server:
        tables = Tables(server.url, tmp_path / "archive.db")
        tables.archived(history)
        pit = Pit(tmp_path, server.url)
        pit.start()
        try:
            wait_for(pit.answers, "the page")
            for number in (1, 2):
                history.do({"roll": [1, number]})
                tables.archived(history)
                pit.shows(history, roll=[1, number], seq=len(history.events))

            began_s, before = time.monotonic(), pit.told()["number"]
            for _ in range(40):
                history.do({"roll": [1, 2]})
                tables.archived(history)
            pit.shows(history, seq=len(history.events))
            looks = pit.told()["number"] - before
            most = (time.monotonic() - began_s) / pit_sources.LOOKS_APART_S + 2
            assert 0 < looks <= most
        finally:
            pit.close()
            tables.close()
