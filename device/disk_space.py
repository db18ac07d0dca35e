"""The space that is left for the journal, and a reserve of it that is given up so that a full disk can be recorded."""

import logging
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from device.data_folder import sync_folder

RESERVE_FILE_NAME: Final = "reserve"
MIB: Final = 1024 * 1024
# In which stat counts, whatever the file system's own are.
_BLOCK_BYTES: Final = 512

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SpaceLimits:
    """How much room the journal wants, in bytes.

    The write-ahead log takes some 4 MiB and the database as much again before it is put there, so the reserve has room
    for both and for what else writes to the disk in the same moment.
    """

    reserve: int = 16 * MIB
    # With less than this left, whether the reserve is held or not, the table stops before a write fails.
    stop: int = 8 * MIB
    # With this much left beside the reserve, work goes on: well above `stop`, so that it does not flutter.
    resume: int = 32 * MIB


class DiskSpace:
    """The room on the file system of a data folder, and the reserve file in the folder."""

    def __init__(self, folder: Path, limits: SpaceLimits | None = None) -> None:
        self._folder = folder
        self._reserve = folder / RESERVE_FILE_NAME
        self._limits = limits if limits is not None else SpaceLimits()
        self._holds_nothing = False

    def free_bytes(self) -> int:
        """What this user may still write, the reserve not counted; 0 where the folder cannot be asked."""
        try:
            found = os.statvfs(self._folder)
        except OSError:
            return 0
        return found.f_bavail * found.f_frsize

    def is_short(self) -> bool:
        """Whether to stop before a write fails."""
        return self.free_bytes() < self._limits.stop

    def give_up_reserve(self) -> None:
        """Make room for the record of the stop."""
        try:
            self._reserve.unlink(missing_ok=True)
        except OSError as error:
            log.warning("%s cannot be given up: %s", self._reserve, error.strerror)

    def take_reserve(self) -> bool:
        """Take the reserve, if there is room for it and for going on; whether it is there now."""
        held = self._held_bytes()
        if held >= self._limits.reserve:
            return True
        if self._holds_nothing or self.free_bytes() + held < self._limits.reserve + self._limits.resume:
            return False
        return self._make_reserve()

    def _held_bytes(self) -> int:
        """What the reserve really takes: a file with a hole holds nothing back."""
        try:
            found = self._reserve.stat()
        except OSError:
            return 0
        return min(found.st_size, found.st_blocks * _BLOCK_BYTES)

    def _make_reserve(self) -> bool:
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
            descriptor = os.open(self._reserve, flags, 0o600)
            try:
                os.posix_fallocate(descriptor, 0, self._limits.reserve)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            sync_folder(self._folder)
        except OSError as error:
            log.warning("%s cannot be made: %s", self._reserve, error.strerror)
            with suppress(OSError):
                self._reserve.unlink(missing_ok=True)
            return False
        if self._held_bytes() < self._limits.reserve:
            # It would be made anew at every look.
            self._holds_nothing = True
            log.warning("%s holds nothing back on this kind of file system; the journal goes without", self._reserve)
            self.give_up_reserve()
        return not self._holds_nothing
