"""The clock's stamp: right text, right quality, and something sensible where the machine offers nothing."""

import re
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from device.clock import (
    ADJTIMEX_FAILED,
    BOOT_ID_PATH,
    TIME_ERROR,
    Clock,
    Reading,
    read_boot_id,
    read_time_state,
    wall_text,
)
from device.event import GENESIS_HASH, Stamp, seal


def test_stamp_of_a_fake_clock() -> None:
    clock = Clock(
        boot="boot-7", monotonic_ns=lambda: 42, wall_ns=lambda: 1_000_000_000_123_999_999, time_state=lambda: 0
    )
    assert clock.stamp() == Stamp("boot-7", 42, "2001-09-09T01:46:40.123Z", "synced")


@pytest.mark.parametrize(
    ("wall_ns", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (999_999, "1970-01-01T00:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (951_782_400_000_000_000, "2000-02-29T00:00:00.000Z"),
        (951_782_400_007_000_000, "2000-02-29T00:00:00.007Z"),
        # 253,402,300,799 is the last second of the year 9999, -62,135,596,800 the first of the year 1.
        (253_402_300_799_999_999_999, "9999-12-29T23:59:59.999Z"),
        (10**30, "9999-12-29T23:59:59.999Z"),
        (-62_135_596_800_000_000_000, "0001-01-03T00:00:00.000Z"),
        (-(10**30), "0001-01-03T00:00:00.000Z"),
    ],
)
def test_wall_text(wall_ns: int, text: str) -> None:
    assert wall_text(wall_ns) == text


@pytest.mark.parametrize(
    ("state", "quality"),
    [(0, "synced"), (1, "synced"), (4, "synced"), (TIME_ERROR, "free"), (ADJTIMEX_FAILED, "free")],
)
def test_quality_of_each_kernel_state(state: int, quality: str) -> None:
    assert Clock(time_state=lambda: state).stamp().clock == quality


@pytest.mark.parametrize(
    ("wall_ns", "wall"),
    [
        (-1, "1970-01-01T00:00:00.000Z"),
        (-62_135_596_800_000_000_000, "1970-01-01T00:00:00.000Z"),
        (-(10**30), "1970-01-01T00:00:00.000Z"),
        (253_402_300_799_999_999_999, "9999-12-29T23:59:59.999Z"),
        (10**30, "9999-12-29T23:59:59.999Z"),
    ],
)
def test_an_extreme_wall_time_is_told_as_the_nearest_one_and_is_free(wall_ns: int, wall: str) -> None:
    clock = Clock(boot="boot-7", monotonic_ns=lambda: 42, wall_ns=lambda: wall_ns, time_state=lambda: 0)
    stamp = clock.stamp()
    assert (stamp.wall, stamp.clock) == (wall, "free")
    assert seal("craps-1", 1, stamp, "started", {}, GENESIS_HASH).wall == wall
    assert clock.read().quality == "free"
    # Wherever in the world it is shown.
    for hours in (-14, 14):
        datetime.fromisoformat(wall).astimezone(timezone(timedelta(hours=hours)))


def test_a_reading_holds_the_wall_time_between_two_monotonic_ones() -> None:
    ticks = iter((10, 12))
    clock = Clock(boot="boot-7", monotonic_ns=lambda: next(ticks), wall_ns=lambda: 5, time_state=lambda: 0)
    assert clock.read() == Reading(10, 5, 12, "synced")


def test_this_machines_clock() -> None:
    clock = Clock()
    before = time.monotonic_ns()
    first, second = clock.stamp(), clock.stamp()
    assert before <= first.mono_ns <= second.mono_ns <= time.monotonic_ns()
    assert first.boot == second.boot == Clock().boot
    assert read_time_state() in range(ADJTIMEX_FAILED, TIME_ERROR + 1)
    assert seal("craps-1", 1, first, "started", {}, GENESIS_HASH).wall == first.wall


def test_boot_id_is_the_kernels_or_one_that_the_process_keeps(tmp_path: Path) -> None:
    kernels = tmp_path / "boot_id"
    kernels.write_text("0f7c4c7e-3b67-4a50-9c49-d4d2b7f8a101\n")
    assert read_boot_id(kernels) == "0f7c4c7e-3b67-4a50-9c49-d4d2b7f8a101"

    substitute = read_boot_id(tmp_path / "missing")
    assert re.fullmatch(r"[0-9a-f-]{36}", substitute)
    assert read_boot_id(tmp_path / "missing") == substitute
    kernels.write_text("")
    assert read_boot_id(kernels) == substitute
    assert Path("/proc/sys/kernel/random/boot_id") == BOOT_ID_PATH
