"""`boxman status`: what it prints of a terminal's state, and where there is none."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from device.waiting_since import WaitingSince
from provisioning.command_line import main
from provisioning.status_command import status_lines
from tests.free_ports import free_port
from tests.nats_rig import FakeJournal

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


def state(**uplink: Any) -> dict[str, Any]:
    said = {"state": "online", "undelivered": 0, "waiting_since": None, "last_error": None, "targets": {}}
    return {"open": True, "seq": 120, "halted": None, "uplink": said | uplink}


def test_all_is_well() -> None:
    assert status_lines(state(targets={"nats": "online"}), NOW) == [
        "table: open, 120 events",
        "link to the centre: online",
        "undelivered: 0 events",
        "last error: none",
    ]


def test_a_table_without_a_centre_says_no_more_than_that() -> None:
    assert status_lines(state(state="off"), NOW)[1:] == ["link to the centre: none configured"]


@pytest.mark.parametrize(
    ("count", "since", "said"),
    [
        (1, "2026-11-30T11:59:18.250Z", "1 event, the oldest for 41 s (since 2026-11-30 11:59:18 UTC)"),
        (12, "2026-11-30T11:54:58.000Z", "12 events, the oldest for 5 min 2 s (since 2026-11-30 11:54:58 UTC)"),
        (12, "2026-11-30T08:40:00.000Z", "12 events, the oldest for 3 h 20 min (since 2026-11-30 08:40:00 UTC)"),
        (900, "2026-11-27T11:00:00.000Z", "900 events, the oldest for 3 d 1 h (since 2026-11-27 11:00:00 UTC)"),
        # The clock was set back since.
        (2, "2027-01-01T00:00:00.000Z", "2 events, the oldest for 0 s (since 2027-01-01 00:00:00 UTC)"),
        (2, None, "2 events"),
    ],
)
def test_what_waits_is_said_with_the_age_of_the_oldest(count: int, since: str | None, said: str) -> None:
    down = state(state="offline", undelivered=count, waiting_since=since, last_error="the central server is down")
    assert status_lines(down, NOW)[1:] == [
        "link to the centre: offline",
        f"undelivered: {said}",
        "last error: the central server is down",
    ]


def test_a_halt_is_said() -> None:
    assert status_lines(state() | {"halted": "the disk is full"}, NOW)[-1] == "HALTED: the disk is full"


def test_where_no_terminal_answers_it_is_said_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configuration = tmp_path / "table.toml"
    configuration.write_text(f"[console]\nport = {(port := free_port())}\n", encoding="utf-8")
    assert main(["status", "--config", str(configuration)]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"boxman: no terminal answers at http://127.0.0.1:{port} (")
    assert len(said.err.splitlines()) == 1


def test_since_when_is_read_once_for_an_event() -> None:
    journal, read = FakeJournal("craps-1", events=3), []

    def reading(first: int, limit: int) -> list[str]:
        read.append(first)
        return journal.read(first, limit)

    waiting_since = WaitingSince(reading)
    assert [waiting_since(seq) for seq in (2, 2, 3, 4)] == ["2026-11-29T22:10:56.123Z"] * 3 + [None]
    assert read == [2, 3, 4]
