"""Shows what SQLite writes in chosen folders to Python, in the process that runs SQLite, whoever opens the files.

SQLite reaches files through a VFS. Ours is the default one while it is used, and it is the one of Unix except for
opening and deleting: a file below a watched folder keeps the functions that the VFS of Unix gave it, but for writing,
truncating, flushing and closing. So reading, locks and the shared index cost what they always cost.
"""

import ctypes
import os
import sqlite3
from collections.abc import Callable
from ctypes import c_char_p, c_int, c_int64, c_void_p
from pathlib import Path
from typing import Any, Final, Protocol

SQLITE_IOERR: Final = sqlite3.SQLITE_IOERR
_PRNG_SEED: Final = 28
"""SQLITE_TESTCTRL_PRNG_SEED: where SQLite's own random numbers start, such as the salts of a write-ahead log."""


class WatchedFile(Protocol):
    """What is asked when SQLite changes a file. Every answer is a result code of SQLite, 0 for done."""

    def write(self, cache: "CachedFile", buffer: int, count: int, offset: int) -> int:
        """`count` bytes at address `buffer` shall be written at `offset`."""

    def truncate(self, cache: "CachedFile", size: int) -> int:
        """The file shall have `size` bytes."""

    def sync(self) -> int:
        """What was written shall be flushed."""


class WatchedFolder(Protocol):
    """What is asked when SQLite opens or deletes a file of a folder."""

    def may_open(self) -> bool:
        """Whether files can be opened."""

    def opened(self, name: str) -> WatchedFile:
        """A file was opened, and made if it was not there."""

    def delete(self, name: str, flushes_folder: bool, unlink: Callable[[], int]) -> int:
        """A file shall be deleted, which `unlink` does. The answer is a result code of SQLite."""


_METHODS: Final = """
    xClose xRead xWrite xTruncate xSync xFileSize xLock xUnlock xCheckReservedLock xFileControl xSectorSize
    xDeviceCharacteristics xShmMap xShmLock xShmBarrier xShmUnmap xFetch xUnfetch
"""
_VFS_MEMBERS: Final = """
    pAppData xOpen xDelete xAccess xFullPathname xDlOpen xDlError xDlSym xDlClose xRandomness xSleep xCurrentTime
    xGetLastError xCurrentTimeInt64 xSetSystemCall xGetSystemCall xNextSystemCall
"""


class _Methods(ctypes.Structure):
    """`sqlite3_io_methods`, version 3."""

    _fields_ = (("iVersion", c_int), *((name, c_void_p) for name in _METHODS.split()))


class _Vfs(ctypes.Structure):
    """`sqlite3_vfs`, version 3."""

    _fields_ = (
        ("iVersion", c_int),
        ("szOsFile", c_int),
        ("mxPathname", c_int),
        ("pNext", c_void_p),
        ("zName", c_char_p),
        *((name, c_void_p) for name in _VFS_MEMBERS.split()),
    )


_OPEN: Final = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, c_void_p)
_DELETE: Final = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_int)
_WRITE: Final = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)
_TRUNCATE: Final = ctypes.CFUNCTYPE(c_int, c_void_p, c_int64)
_SYNC: Final = ctypes.CFUNCTYPE(c_int, c_void_p, c_int)
_CLOSE: Final = ctypes.CFUNCTYPE(c_int, c_void_p)
# Called without giving up the interpreter's lock, which takes longer than writing to a file in memory.
_WRITE_HERE: Final = ctypes.PYFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)


class _UnixMethods:
    """The functions that the VFS of Unix gave a file, and those that take their place."""

    def __init__(self, address: int) -> None:
        methods = _Methods.from_address(address)
        self.close: Final = _CLOSE(methods.xClose)
        self.write: Final = _WRITE_HERE(methods.xWrite)
        self.truncate: Final = _TRUNCATE(methods.xTruncate)
        self.watched: Final = _Methods.from_buffer_copy(methods)
        for name, function in _FUNCTIONS.items():
            setattr(self.watched, name, ctypes.cast(function, c_void_p).value)


class CachedFile:
    """An open file as the system's memory holds it: what is written here can be read at once, by everybody."""

    __slots__ = ("_address", "_unix", "watched")

    def __init__(self, address: int, unix: _UnixMethods, watched: WatchedFile) -> None:
        """`address` is that of SQLite's `sqlite3_file`."""
        self._address = address
        self._unix = unix
        self.watched = watched

    def write(self, buffer: int, count: int, offset: int) -> int:
        """Write `count` bytes at address `buffer`; the answer is a result code of SQLite."""
        return int(self._unix.write(self._address, buffer, count, offset))

    def truncate(self, size: int) -> int:
        """Make the file `size` bytes long; the answer is a result code of SQLite."""
        return int(self._unix.truncate(self._address, size))

    def close(self) -> int:
        """Close the file; the answer is a result code of SQLite."""
        return int(self._unix.close(self._address))


def _broken(error: BaseException) -> int:
    _errors.append(error)
    return SQLITE_IOERR


# An exception cannot pass through SQLite: each of these keeps it for `unwatch`, and tells SQLite of an I/O error.
def _open(_vfs: int, name: int | None, file: int, flags: int, flags_out: int | None) -> int:
    try:
        folder_name, _, file_name = os.fsdecode(ctypes.string_at(name)).rpartition("/") if name else ("", "", "")
        folder = _folders.get(folder_name)
        if folder is not None and not folder.may_open():
            # No functions: SQLite must not close what was not opened.
            c_void_p.from_address(file).value = None
            return sqlite3.SQLITE_CANTOPEN
        result = int(_unix_open(ctypes.addressof(_unix_vfs), name, file, flags, flags_out))
        if folder is None or result != sqlite3.SQLITE_OK:
            return result
        address = c_void_p.from_address(file).value
        if address is None:
            return result
        if address not in _unix_methods:
            _unix_methods[address] = _UnixMethods(address)
        unix = _unix_methods[address]
        _open_files[file] = CachedFile(file, unix, folder.opened(file_name))
        c_void_p.from_address(file).value = ctypes.addressof(unix.watched)
    except BaseException as error:  # noqa: BLE001
        return _broken(error)
    return result


def _delete(_vfs: int, name: int, flushes_folder: int) -> int:
    try:
        folder_name, _, file_name = os.fsdecode(ctypes.string_at(name)).rpartition("/")
        folder = _folders.get(folder_name)
        unix = ctypes.addressof(_unix_vfs)
        if folder is None:
            return int(_unix_delete(unix, name, flushes_folder))
        return folder.delete(file_name, bool(flushes_folder), lambda: int(_unix_delete(unix, name, 0)))
    except BaseException as error:  # noqa: BLE001
        return _broken(error)


def _write(file: int, buffer: int, count: int, offset: int) -> int:
    try:
        cached = _open_files[file]
        return cached.watched.write(cached, buffer, count, offset)
    except BaseException as error:  # noqa: BLE001
        return _broken(error)


def _truncate(file: int, size: int) -> int:
    try:
        cached = _open_files[file]
        return cached.watched.truncate(cached, size)
    except BaseException as error:  # noqa: BLE001
        return _broken(error)


def _sync(file: int, _flags: int) -> int:
    try:
        return _open_files[file].watched.sync()
    except BaseException as error:  # noqa: BLE001
        return _broken(error)


def _close(file: int) -> int:
    try:
        return _open_files.pop(file).close()
    except BaseException as error:  # noqa: BLE001
        return _broken(error)


def _loaded_library() -> ctypes.CDLL:
    """The very library that Python's own module runs, so that what is registered there counts."""
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        path = line.partition("/")[2]
        if "libsqlite3" in path:
            library = ctypes.CDLL(f"/{path}")
            library.sqlite3_vfs_find.restype = ctypes.POINTER(_Vfs)
            library.sqlite3_vfs_find.argtypes = (c_char_p,)
            library.sqlite3_vfs_register.argtypes = (c_void_p, c_int)
            return library
    raise RuntimeError("Python's sqlite3 has SQLite built in; the simulated disk needs one that loads libsqlite3")


_FUNCTIONS: Final[dict[str, Any]] = {
    "xWrite": _WRITE(_write),
    "xTruncate": _TRUNCATE(_truncate),
    "xSync": _SYNC(_sync),
    "xClose": _CLOSE(_close),
}
_library: Final = _loaded_library()
_unix_vfs: Final[_Vfs] = _library.sqlite3_vfs_find(b"unix").contents
_unix_open: Final = _OPEN(_unix_vfs.xOpen)
_unix_delete: Final = _DELETE(_unix_vfs.xDelete)
# All of this lives as long as the process: a connection uses its VFS until it is closed, however late.
_vfs: Final = _Vfs.from_buffer_copy(_unix_vfs)
_vfs_functions: Final = (_OPEN(_open), _DELETE(_delete))
_vfs.zName = b"watched"
_vfs.pNext = None
_vfs.xOpen, _vfs.xDelete = (ctypes.cast(function, c_void_p).value for function in _vfs_functions)
_unix_methods: Final[dict[int, _UnixMethods]] = {}
_open_files: Final[dict[int, CachedFile]] = {}
_folders: Final[dict[str, WatchedFolder]] = {}
_errors: Final[list[BaseException]] = []


def watch(folder: Path, watcher: WatchedFolder, seed: int) -> None:
    """From now on `watcher` sees what SQLite does to files that lie in `folder` and are opened after this.

    `seed` (1 to 2**31 - 1) is where SQLite's own random numbers start, so that a run can be had again to the byte.
    """
    _folders[str(folder.resolve())] = watcher
    _library.sqlite3_vfs_register(ctypes.byref(_vfs), 1)
    _library.sqlite3_test_control(_PRNG_SEED, c_int(seed), None)


def unwatch(folder: Path) -> None:
    """Files opened from now on are seen no more; those still open are. Raises RuntimeError if a watcher failed."""
    del _folders[str(folder.resolve())]
    if not _folders:
        _library.sqlite3_vfs_register(ctypes.byref(_unix_vfs), 1)
        _library.sqlite3_test_control(_PRNG_SEED, c_int(0), None)
    if _errors:
        first = _errors[0]
        _errors.clear()
        raise RuntimeError("a watcher of SQLite's files failed") from first
