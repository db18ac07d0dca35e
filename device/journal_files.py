"""A journal's files, below SQLite: whether the paths still lead to them, and what a failed flush left in the log."""

import os
from pathlib import Path
from typing import Final

_PIECE_BYTES: Final = 1 << 20


class FilesChanged(Exception):
    """The paths no longer lead to the files that are written."""


class WrittenFiles:
    """A database and its write-ahead log, as they were when they were opened and have grown since."""

    def __init__(self, path: Path) -> None:
        """The files as they are now. Raises OSError."""
        self._names: Final = (str(path), str(log_path(path)))
        self._seen = self._now()

    def check(self) -> None:
        """Raises FilesChanged unless database and log are the ones that were opened, and no shorter than seen.

        SQLite itself never shortens them while the writer has them open: the log begins anew in place.
        """
        try:
            now = self._now()
        except OSError as error:
            raise FilesChanged(f"{error.filename} was removed or moved while in use: {error.strerror}") from error
        for name, before, after in zip(self._names, self._seen, now, strict=True):
            if (after.st_dev, after.st_ino) != (before.st_dev, before.st_ino):
                raise FilesChanged(f"{name} was replaced while in use")
            if after.st_size < before.st_size:
                raise FilesChanged(f"{name} was cut from {before.st_size} to {after.st_size} bytes while in use")
        self._seen = now

    def _now(self) -> list[os.stat_result]:
        # Not through Path: this is done twice for every append.
        return [os.stat(name) for name in self._names]  # noqa: PTH116


def log_path(path: Path) -> Path:
    """SQLite's write-ahead log of the database at `path`."""
    return path.with_name(f"{path.name}-wal")


def bytes_in(path: Path) -> int:
    """The length of a file, 0 when there is none to be seen."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def write_log_anew(path: Path) -> None:
    """Write what an earlier run left in the write-ahead log once more, in place, and flush it. Raises OSError.

    A flush that failed leaves events in the system's memory that look flushed and are not on the disk. SQLite would
    write them to the database first, and a power cut meanwhile would leave half of them there and no log to mend it.
    """
    try:
        descriptor = os.open(log_path(path), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return
    try:
        # No locks of SQLite are on this file, which closing it would end.
        offset = 0
        while piece := os.pread(descriptor, _PIECE_BYTES, offset):
            offset += os.pwrite(descriptor, piece, offset)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
