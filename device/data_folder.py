"""The folder that holds a table's journal, and the lock that keeps it to one process."""

import fcntl
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from device.clock import wall_text

LOCK_FILE_NAME: Final = "lock"
JOURNAL_FILE_NAME: Final = "journal.db"
_LOCK_TEXT_BYTES_MAX: Final = 200


class DataFolderError(Exception):
    """The folder cannot be used; the text says in one line what would be right."""


class DataFolderBusy(DataFolderError):
    """Another process holds the folder; the text names it."""


class DataFolder:
    """An open data folder. The lock ends with `close`, or with the process, however that ends."""

    def __init__(self, path: Path, lock_descriptor: int) -> None:
        """Use `open_data_folder`. Owns `lock_descriptor`."""
        self.path: Final = path
        self._lock_descriptor: int | None = lock_descriptor

    @property
    def journal_path(self) -> Path:
        """Where the journal's database lies."""
        return self.path / JOURNAL_FILE_NAME

    def close(self) -> None:
        """Lets the folder go. Closing twice does nothing."""
        if self._lock_descriptor is not None:
            os.close(self._lock_descriptor)
            self._lock_descriptor = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_data_folder(path: Path) -> DataFolder:
    """Takes the folder for this process alone. Makes it (mode 0700) if it is missing, but not those above.

    Raises DataFolderBusy when another process has it, DataFolderError when it cannot be used.
    """
    _make(path)
    lock_path = path / LOCK_FILE_NAME
    try:
        descriptor = os.open(lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise DataFolderError(
            f"{path}: cannot write here ({error.strerror}); it should be a folder that this user may write to"
        ) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        give_to_owner(descriptor, path)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n{wall_text(time.time_ns())}\n".encode("ascii"), 0)
    except BlockingIOError:
        holder = _holder(descriptor)
        os.close(descriptor)
        raise DataFolderBusy(f"{path}: in use by {holder}; stop that process or choose another folder") from None
    except OSError as error:
        os.close(descriptor)
        raise DataFolderError(
            f"{lock_path}: cannot be written ({error.strerror}); it should be on a local disk with space"
        ) from error
    return DataFolder(path, descriptor)


def _make(path: Path) -> None:
    try:
        path.mkdir(mode=0o700)
        sync_folder(path.parent)
    except FileExistsError:
        if not path.is_dir():
            raise DataFolderError(f"{path}: is not a folder; it should be one, or not exist yet") from None
    except OSError as error:
        raise DataFolderError(
            f"{path}: cannot be made ({error.strerror}); it should lie in a folder that may be written to"
        ) from error


def give_to_owner(descriptor: int, folder: Path) -> None:
    """Give an open file in a data folder to whom the folder belongs, where root made it. Raises OSError.

    The terminal reads and writes it as that user.
    """
    owner, own = folder.stat(), os.fstat(descriptor)
    if os.geteuid() == 0 and (own.st_uid, own.st_gid) != (owner.st_uid, owner.st_gid):
        os.fchown(descriptor, owner.st_uid, owner.st_gid)


def sync_folder(path: Path) -> None:
    """Flushes a folder's entries, so that what was just made in it survives a power cut. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _holder(descriptor: int) -> str:
    """Words for the process that wrote the lock file. It may have taken the lock and not have written yet."""
    pid, _, started = os.pread(descriptor, _LOCK_TEXT_BYTES_MAX, 0).decode("ascii", "replace").partition("\n")
    if not pid.isdecimal():
        return "another process"
    try:
        command = Path("/proc", pid, "comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        command = "name unknown"
    return f"process {pid} ({command}), since {started.strip() or 'a moment ago'}"
