"""The clock that stamps events: the boot, monotonic time, wall time, and whether wall time can be trusted."""

import ctypes
import time
import uuid
from collections.abc import Callable
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
        """The time now."""
        state = self._time_state()
        return Stamp(
            boot=self.boot,
            mono_ns=self._monotonic_ns(),
            wall=wall_text(self._wall_ns()),
            clock="free" if state in (TIME_ERROR, ADJTIMEX_FAILED) else "synced",
        )


def wall_text(wall_ns: int) -> str:
    """RFC 3339, UTC, cut to the millisecond, of nanoseconds since 1970."""
    moment = _EPOCH + timedelta(milliseconds=wall_ns // 1_000_000)
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
