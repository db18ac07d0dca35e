"""A disk that loses what was not flushed: under SQLite as the product uses it, faults and power cuts from a seed.

The real files of the folder play the system's memory: what was written is read back from there at once. Beside them
is kept what a flush has made sure of, and what was written since.
"""

import ctypes
import os
import random
import shutil
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self

from tests.simulator.sqlite_vfs import CachedFile, unwatch, watch

SECTOR_BYTES: Final = 512
"""A disk writes these whole or not at all."""

_SHARED_INDEX: Final = "-shm"
_FOLDER_FLUSHING: Final = ("-wal", "-journal")
_PRNG_SEED_MAX: Final = 2**31 - 1

Operation = Literal["write", "truncate", "sync", "delete"]
FaultKind = Literal["write", "truncate", "sync", "delete", "any", "full"]
_Change = tuple[int, bytes | None]
"""Bytes and where they were written; or None and how long the file was made."""

_CODES: Final[dict[Operation, int]] = {
    "write": sqlite3.SQLITE_IOERR_WRITE,
    "truncate": sqlite3.SQLITE_IOERR_TRUNCATE,
    "sync": sqlite3.SQLITE_IOERR_FSYNC,
    "delete": sqlite3.SQLITE_IOERR_DELETE,
}


@dataclass
class _Countdown:
    """To the operation that something happens to."""

    left: int
    kind: FaultKind
    lasting: bool

    def strikes(self, operation: Operation) -> bool:
        """Count an operation, and say whether it is hit."""
        if self.kind not in ("any", operation) and (self.kind, operation) != ("full", "write"):
            return False
        self.left -= 1
        return self.left == 0 or (self.lasting and self.left < 0)


@dataclass(eq=False)
class _File:
    """What once was made under a name. Another file of that name is another one."""

    disk: "SimulatedDisk"
    name: str
    inode: int
    image: bytearray
    length: int
    unflushed: list[_Change] = field(default_factory=list)

    def copy(self, disk: "SimulatedDisk") -> "_File":
        """The same on another disk, whose folder has a copy of what this disk's folder has."""
        path = disk.folder / self.name
        inode = path.stat().st_ino if path.exists() else 0
        return _File(disk, self.name, inode, bytearray(self.image), self.length, list(self.unflushed))

    def write(self, cache: CachedFile, buffer: int, count: int, offset: int) -> int:
        """See WatchedFile."""
        disk = self.disk
        with disk.lock:
            if disk.dead:
                return disk.CUT
            fault = disk.fault_of("write")
            if fault is not None and fault != disk.CUT:
                # What a write that failed has done is anybody's guess.
                count = disk.random.choice((0, count // 2, count - 1))
            grown = offset + count - self.length
            if disk.bytes_free is not None and grown > 0:
                if grown > disk.bytes_free:
                    fault = fault or disk.struck_by("full", sqlite3.SQLITE_FULL)
                    count = max(0, count - (grown - disk.bytes_free))
                    grown = offset + count - self.length if count else 0
                disk.bytes_free -= max(0, grown)
            if count:
                self.unflushed.append((offset, ctypes.string_at(buffer, count)))
                self.length = max(self.length, offset + count)
                result = cache.write(buffer, count, offset)
            else:
                result = sqlite3.SQLITE_OK
            return fault or result

    def truncate(self, cache: CachedFile, size: int) -> int:
        """See WatchedFile."""
        disk = self.disk
        with disk.lock:
            if disk.dead:
                return disk.CUT
            fault = disk.fault_of("truncate")
            if fault is not None and fault != disk.CUT:
                return fault
            if disk.bytes_free is not None:
                disk.bytes_free += self.length - size
            self.unflushed.append((size, None))
            self.length = size
            return fault or cache.truncate(size)

    def sync(self) -> int:
        """See WatchedFile."""
        disk = self.disk
        # Outside the lock: it may let time pass for other threads, or cut the power.
        if disk.on_sync is not None:
            disk.on_sync()
        with disk.lock:
            if disk.dead:
                return disk.CUT
            fault = disk.fault_of("sync")
            if fault == disk.CUT:
                return fault
            if fault is not None:
                # As Linux does: what did not get to the disk stays in memory, looks written, and is not tried again.
                _, self.image = disk.left_of(self)
                self.unflushed.clear()
                return fault
            for change in self.unflushed:
                _apply(self.image, change)
            self.unflushed.clear()
            if self.name.endswith(_FOLDER_FLUSHING):
                # SQLite flushes the folder with the first flush of such a file.
                disk.flush_folder()
            return sqlite3.SQLITE_OK


class SimulatedDisk:
    """The disk of one folder, from a start to a power cut. Use it as a context: it is under SQLite meanwhile.

    What lies in the folder at the start is taken as flushed. SQLite's files are seen; files that are written by
    other means are not, nor is a flush of the folder by other means: the entries of the folder count as flushed
    when SQLite flushes it. Several threads may use the files.

    bytes_free: how much SQLite's files may grow; None for no end.
    on_sync: called at each flush, before it takes effect; it may set `dead`, and then it does not.
    dead: the power is off; whatever is still asked of the files fails and changes nothing.
    struck: how often each kind of fault has struck.
    """

    CUT: Final = sqlite3.SQLITE_IOERR
    """What the operation in which the power goes answers, to whom it may still concern."""

    def __init__(self, folder: Path, random: random.Random) -> None:
        """`random` decides everything that is left to chance."""
        self.folder: Final = folder
        self.random: Final = random
        self.bytes_free: int | None = None
        self.on_sync: Callable[[], None] | None = None
        self.struck: Final = Counter[str]()
        self.lock: Final = threading.RLock()
        self.dead = False
        self._fault: _Countdown | None = None
        self._cut: _Countdown | None = None
        self._not_yet_seen = {entry.name for entry in os.scandir(folder) if entry.is_file()}
        self._entries: Final[dict[str, _File]] = {}
        self._flushed_entries: dict[str, _File] = {}
        self._former: Final[dict[str, bytes]] = {}

    def __enter__(self) -> Self:
        watch(self.folder, self, self.random.randint(1, _PRNG_SEED_MAX))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        unwatch(self.folder)

    def fail_nth(self, n: int, kind: FaultKind, *, lasting: bool = False) -> None:
        """The `n`th (1 or more) operation of a kind from now on fails, and with `lasting` all of them after it.

        "any" is any of the others; "full" is a write that fails for want of space, also one over what is there: file
        systems that put elsewhere what is written anew do that, ext4 does not. A write that fails may have written a
        part. A flush that fails has flushed anything between nothing and all, and what it has not flushed
        no later flush does, until it is written again.
        """
        self._fault = _Countdown(n, kind, lasting)

    def heal(self) -> None:
        """No fault of `fail_nth` strikes from now on. What they did is not undone."""
        self._fault = None

    def cut_nth(self, n: int, kind: FaultKind = "any") -> None:
        """The power goes during the `n`th (1 or more) operation of a kind from now on."""
        self._cut = _Countdown(n, kind, lasting=True)

    def note_file(self, path: Path) -> None:
        """Keep what a file that SQLite does not write holds now, as what a power cut may bring back."""
        if path.exists():
            self._former[path.name] = path.read_bytes()
        else:
            self._former.pop(path.name, None)

    def flushed(self, path: Path) -> None:
        """A file of SQLite's was written whole and flushed, with its folder, by other means than SQLite."""
        with self.lock:
            file = self._seen(path.name)
            file.image = bytearray(path.read_bytes())
            file.unflushed.clear()
            self._flushed_entries[path.name] = file

    def crash(self, into: Path, plain_files: Collection[str] = ()) -> None:
        """Cut the power, and write what is then on the disk to a new folder.

        Files that SQLite does not write are there as they are; those named in `plain_files` may as well be as they
        were at `note_file`, missing or torn. Called again it is another way in which the same cut may have ended.
        """
        with self.lock:
            self.dead = True
            into.mkdir(mode=0o700)
            on_disk = {entry.name for entry in os.scandir(self.folder) if entry.is_file()}
            for name in sorted(self._entries.keys() | self._flushed_entries.keys()):
                file = self._entry_left(name, on_disk)
                if file is not None:
                    way, image = self.left_of(file)
                    _write_new(into / name, image)
                    if file.unflushed:
                        self.struck[f"unflushed {way}"] += 1
            for name in sorted(on_disk - self._entries.keys() - self._flushed_entries.keys()):
                if name.endswith(_SHARED_INDEX):
                    if self.random.random() < 0.5:
                        shutil.copy(self.folder / name, into / name)
                elif name in plain_files:
                    self._leave_plain_file(name, into)
                else:
                    shutil.copy(self.folder / name, into / name)

    def kill(self, into: Path) -> "SimulatedDisk":
        """End the program, not the machine: its files as the system's memory holds them, in a new folder.

        The new disk remembers what of them was flushed; this one is dead.
        """
        with self.lock:
            self.dead = True
            shutil.copytree(self.folder, into, ignore=shutil.ignore_patterns(f"*{_SHARED_INDEX}"))
            disk = SimulatedDisk(into, self.random)
            disk.bytes_free = self.bytes_free
            disk._not_yet_seen &= self._not_yet_seen
            known = [*self._entries.values(), *self._flushed_entries.values()]
            copies = {file: file.copy(disk) for file in known}
            disk._entries.update((name, copies[file]) for name, file in self._entries.items())
            disk._flushed_entries.update((name, copies[file]) for name, file in self._flushed_entries.items())
            disk._former.update(self._former)
            return disk

    def may_open(self) -> bool:
        """See WatchedFolder."""
        return not self.dead

    def opened(self, name: str) -> _File:
        """See WatchedFolder."""
        with self.lock:
            return self._seen(name)

    def delete(self, name: str, flushes_folder: bool, unlink: Callable[[], int]) -> int:
        """See WatchedFolder."""
        with self.lock:
            if self.dead:
                return self.CUT
            fault = self.fault_of("delete")
            if fault is not None and fault != self.CUT:
                return fault
            if not (self.folder / name).exists():
                return unlink()
            length = self._seen(name).length
            result = unlink()
            if result == sqlite3.SQLITE_OK:
                del self._entries[name]
                if self.bytes_free is not None:
                    self.bytes_free += length
                if flushes_folder and fault is None:
                    self.flush_folder()
            return fault or result

    def flush_folder(self) -> None:
        """What files there are is now on the disk, if not what they hold."""
        self._flushed_entries = dict(self._entries)

    def fault_of(self, operation: Operation) -> int | None:
        """Count an operation; the result code of SQLite if it shall fail."""
        if self._cut is not None and self._cut.strikes(operation):
            self.dead = True
            return self.struck_by(f"power cut in {operation}", self.CUT)
        if self._fault is not None and self._fault.strikes(operation):
            if self._fault.kind == "full":
                return self.struck_by("full", sqlite3.SQLITE_FULL)
            return self.struck_by(f"failed {operation}", _CODES[operation])
        return None

    def struck_by(self, what: str, code: int) -> int:
        """Count a fault, and give its result code back."""
        self.struck[what] += 1
        return code

    def left_of(self, file: _File) -> tuple[str, bytearray]:
        """What may be on the disk of a file: what was flushed, and any part of what was not; and which part."""
        image = bytearray(file.image)
        changes = file.unflushed
        way = self.random.choice(("lost", "whole", "in order", "some", "reordered", "torn")) if changes else "whole"
        match way:
            case "lost":
                changes = []
            case "in order":
                changes = changes[: self.random.randrange(len(changes))]
            case "some":
                changes = [change for change in changes if self.random.random() < 0.5]
            case "reordered":
                # Each sector got as far as it did; between what got far and what did not there may be zeros.
                share = self.random.choice((0.1, 0.5, 0.9))
                pieces = [piece for change in changes for piece in _sectors(change)]
                changes = [piece for piece in pieces if self.random.random() < share]
            case "torn":
                last = self.random.randrange(len(changes))
                pieces = list(_sectors(changes[last]))
                cut = self.random.randrange(len(pieces))
                changes = changes[:last] + self.random.choice((pieces[:cut], pieces[cut:]))
        for change in changes:
            _apply(image, change)
        return way, image

    def _seen(self, name: str) -> _File:
        status = (self.folder / name).stat()
        known = self._entries.get(name)
        if known is not None and (known.inode, known.length) == (status.st_ino, status.st_size):
            return known
        image = bytearray((self.folder / name).read_bytes())
        file = self._entries[name] = _File(self, name, status.st_ino, image, len(image))
        if name in self._not_yet_seen:
            self._not_yet_seen.discard(name)
            self._flushed_entries[name] = file
        return file

    def _entry_left(self, name: str, on_disk: Collection[str]) -> _File | None:
        now = self._entries.get(name) if name in on_disk else None
        flushed = self._flushed_entries.get(name)
        if now is flushed or self.random.random() < 0.5:
            return now
        self.struck["entry lost" if flushed is None else "deletion undone" if now is None else "former file"] += 1
        return flushed

    def _leave_plain_file(self, name: str, into: Path) -> None:
        ways = ["as it is", "missing", "torn"]
        if name in self._former:
            ways.append("former")
        way = self.random.choice(ways)
        self.struck[f"plain file {way}"] += 1
        content = (self.folder / name).read_bytes()
        if way == "torn":
            content = content[: self.random.randrange(len(content) + 1) // SECTOR_BYTES * SECTOR_BYTES]
        elif way == "former":
            content = self._former[name]
        if way != "missing":
            _write_new(into / name, content)


def _apply(image: bytearray, change: _Change) -> None:
    offset, data = change
    if len(image) < offset:
        image.extend(bytes(offset - len(image)))
    if data is None:
        del image[offset:]
    else:
        image[offset : offset + len(data)] = data


def _sectors(change: _Change) -> Iterator[_Change]:
    """A change cut at the disk's sectors."""
    offset, data = change
    if data is None:
        yield change
        return
    start = 0
    while start < len(data):
        end = SECTOR_BYTES - (offset + start) % SECTOR_BYTES + start
        yield offset + start, data[start:end]
        start = end


def _write_new(path: Path, content: bytes | bytearray) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(content)
