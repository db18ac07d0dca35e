"""What a start finds of the run before it, told by name."""

import pytest

from device.event import GENESIS_HASH, Event, Stamp, seal
from device.machine_events import found_at_start

BEFORE = Stamp("boot-1", 900, "2026-11-29T22:10:56.123Z", "synced")
LAST = seal("craps-1", 1, BEFORE, "stopped", {}, GENESIS_HASH)
LATER = "2026-11-30T06:00:00.000Z"
CUT = {"last_seq": 1, "last": "2026-11-29T22:10:56.123Z"}


@pytest.mark.parametrize(
    ("last", "was_running", "boot", "found"),
    [
        (None, False, "boot-1", [("power_up", {})]),
        (LAST, False, "boot-1", []),
        (LAST, True, "boot-1", [("crash_found", CUT)]),
        (LAST, False, "boot-2", [("power_up", {})]),
        (LAST, True, "boot-2", [("power_up", {}), ("power_loss_found", CUT)]),
    ],
)
def test_boots_and_endings_say_what_happened(
    last: Event | None, was_running: bool, boot: str, found: list[tuple[str, dict[str, object]]]
) -> None:
    assert found_at_start(last, was_running, Stamp(boot, 5, LATER, "synced")) == found


@pytest.mark.parametrize(
    ("wall", "is_behind"),
    [
        ("1970-01-01T00:00:12.345Z", True),
        ("2026-11-29T22:10:56.122Z", True),
        ("2026-11-29T22:10:56.123Z", False),
        (LATER, False),
    ],
)
def test_a_clock_behind_the_last_event_is_told(wall: str, is_behind: bool) -> None:
    found = found_at_start(LAST, False, Stamp("boot-1", 950, wall, "free"))
    assert found == ([("clock_behind", {"last": "2026-11-29T22:10:56.123Z", "now": wall})] if is_behind else [])
