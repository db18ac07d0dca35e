"""A journal's events in lines for people."""

from typing import Any

from device.event import GENESIS_HASH, Event, seal
from provisioning.journal_text import event_lines
from tests.journal_rig import STAMP


def event(kind: str, data: dict[str, Any]) -> Event:
    return seal("craps-1", 1, STAMP, kind, data, GENESIS_HASH)


def test_an_event_is_one_line_with_its_time_and_how_good_the_clock_was() -> None:
    data = {"by_ms": -10_920_000, "after": "2026-11-29T19:08:56.123Z"}
    assert list(event_lines(event("clock_stepped", data))) == [
        "       1  2026-11-29 22:10:56.123Z synced  clock_stepped  after 2026-11-29T19:08:56.123Z, by_ms -10920000"
    ]
    assert list(event_lines(event("power_up", {}))) == ["       1  2026-11-29 22:10:56.123Z synced  power_up"]


def test_the_checks_of_a_self_test_follow_it() -> None:
    checks = [{"check": "disk", "result": "warning", "said": "9 MiB free"}]
    lines = list(event_lines(event("self_test", {"passed": True, "checks": checks})))
    assert lines[0].endswith("self_test  passed true")
    assert lines[1] == "          disk      warning  9 MiB free"


def test_what_is_long_is_cut_and_what_would_move_the_cursor_is_told() -> None:
    data = {"reason": "a\nb\x1b[2J" + "x" * 100, "report": [1, 2], "rule_set": {"name": "y" * 100}}
    (line,) = event_lines(event("link_lost", data))
    assert line.endswith(
        "link_lost  reason a\\nb\\x1b[2J" + "x" * 50 + "..., rule_set " + '{"name":"' + "y" * 48 + "..."
    )
