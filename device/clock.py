"""The clock that stamps events: the boot, monotonic time, wall time, and whether wall time can be trusted."""

import ctypes
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Final

from device.event import Stamp

BOOT_ID_PATH: Final = Path("/proc/sys/kernel/random/boot_id")

# adjtimex(2): the state it returns when the kernel's clock is not synchronised, or when it fails.
TIME_ERROR: Final = 5
ADJTIMEX_FAILED: Final = -1

# Larger than `struct timex` on every Linux (208 bytes on 64 bits). Its first field is `modes`; 0 asks and
# changes nothing.
_TIMEX_BYTES: Final = 512

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# What a wall time is put between: two days within what a datetime holds, so that every time zone can tell it as well.
_TEXT_NS_MIN: Final = -62_135_424_000 * 1_000_000_000
_TEXT_NS_MAX: Final = 253_402_128_000 * 1_000_000_000 - 1_000_000


@dataclass(frozen=True)
class Reading:
    """A look at the clocks: monotonic time, wall time (from 1970, UTC), monotonic time again; the quality of wall time.

    How far the two monotonic times lie apart says how sure it is that both clocks were read in one moment.
    """

    before_ns: int
    wall_ns: int
    after_ns: int
    quality: str


class Clock:
    """Reads the machine's clocks. Each source can be replaced, so that a test moves time as it likes."""

    def __init__(
        self,
        *,
        boot: str | None = None,
        monotonic_ns: Callable[[], int] = time.monotonic_ns,
        wall_ns: Callable[[], int] = time.time_ns,
        time_state: Callable[[], int] | None = None,
    ) -> None:
        """`boot` defaults to the kernel's boot id; `wall_ns` counts from 1970, UTC; `time_state` is adjtimex."""
        self.boot: Final = boot if boot is not None else read_boot_id(BOOT_ID_PATH)
        self._monotonic_ns = monotonic_ns
        self._wall_ns = wall_ns
        self._time_state = time_state if time_state is not None else read_time_state

    def stamp(self) -> Stamp:
        """The time now. A wall time before 1970 or after what an event can hold is told as the nearest that it can."""
        quality = self._quality()
        mono_ns, wall_ns = self._monotonic_ns(), self._wall_ns()
        told_ns = min(max(wall_ns, 0), _TEXT_NS_MAX)
        return Stamp(
            boot=self.boot,
            mono_ns=mono_ns,
            wall=wall_text(told_ns),
            clock=quality if told_ns == wall_ns else "free",
        )

    def read(self) -> Reading:
        """Both clocks, for those who compare them."""
        quality = self._quality()
        before_ns, wall_ns, after_ns = self._monotonic_ns(), self._wall_ns(), self._monotonic_ns()
        return Reading(before_ns, wall_ns, after_ns, quality if 0 <= wall_ns <= _TEXT_NS_MAX else "free")

    def _quality(self) -> str:
        return "free" if self._time_state() in (TIME_ERROR, ADJTIMEX_FAILED) else "synced"


def wall_text(wall_ns: int) -> str:
    """RFC 3339, UTC, cut to the millisecond, of nanoseconds since 1970; at most the years 1 to 9999, less two days."""
    told_ns = min(max(wall_ns, _TEXT_NS_MIN), _TEXT_NS_MAX)
    moment = _EPOCH + timedelta(milliseconds=told_ns // 1_000_000)
    return moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def read_boot_id(path: Path) -> str:
    """The kernel's boot id; where there is none, a random one that this process keeps."""
    try:
        return path.read_text(encoding="ascii").strip() or _process_boot_id()
    except (OSError, UnicodeDecodeError):
        return _process_boot_id()


@cache
def _process_boot_id() -> str:
    return str(uuid.uuid4())


def read_time_state() -> int:
    """What Linux's adjtimex says of the clock (0 to 5), ADJTIMEX_FAILED where it cannot be asked."""
    try:
        return int(ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES)))
    except (OSError, AttributeError):
        return ADJTIMEX_FAILED
