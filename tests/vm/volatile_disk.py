"""A disk with a volatile write cache, as an NBD server for one machine: a cut of the power loses what was not flushed.

Real disks lose it in different ways: all of it, or some sectors of it and not in the order of the writes. A disk that
lies says that it has flushed and has not.
"""

import os
import random
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from pathlib import Path

SECTOR = 512
_GREETING = struct.Struct(">QQH")
_OPTION = struct.Struct(">QII")
_OPTION_REPLY = struct.Struct(">QIII")
_REQUEST = struct.Struct(">IHHQQI")
_REPLY = struct.Struct(">IIQ")
_GREETING_MAGIC, _OPTION_MAGIC = 0x4E42444D41474943, 0x49484156454F5054
_OPTION_REPLY_MAGIC, _REPLY_MAGIC = 0x3E889045565A9, 0x67446698
_FIXED_NEWSTYLE = 1
_HAS_FLAGS, _KNOWS_FLUSH, _KNOWS_FUA = 1, 4, 8
_EXPORT_NAME, _INFO, _GO = 1, 6, 7
_ACKNOWLEDGED, _INFORMATION, _UNSUPPORTED = 1, 3, 0x80000001
_READ, _WRITE, _DISCONNECT, _FLUSH = range(4)
_THROUGH_CACHE = 1


class Loss(Enum):
    """What becomes of unflushed writes: all are gone, or a random part of their sectors arrives, out of order."""

    DROP = "drop"
    RANDOM = "random"


class VolatileDisk:
    """The image file is the medium; everything else is in this object until it is flushed."""

    def __init__(self, image: Path, address: Path, *, lies: bool = False) -> None:
        """Serve one client at the Unix socket `address`. With `lies`, a flush is answered and not done."""
        self.address = address
        self._medium = os.open(image, os.O_RDWR)
        self._size = os.fstat(self._medium).st_size
        self._lies = lies
        self._lock = threading.Lock()
        # Unflushed sectors as the machine must read them, and the writes that they came with, in order.
        self._cache: dict[int, bytes] = {}
        self._writes: list[dict[int, bytes]] = []
        self._operations_left: int | None = None
        self._has_power = True
        self._power_gone = threading.Event()
        self.writes = self.flushes = 0
        address.unlink(missing_ok=True)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(address))
        self._listener.listen(1)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def cut_at(self, operation: int, within_s: float) -> bool:
        """Have the power go at the n-th write or flush from now; returns whether it has come to that in time."""
        with self._lock:
            self._operations_left = operation
        return self._power_gone.wait(within_s)

    def cut(self) -> None:
        """The power goes: no request is answered any more."""
        with self._lock:
            self._has_power = False
            self._power_gone.set()

    def settle(self, loss: Loss, chance: random.Random) -> tuple[int, int]:
        """After `cut`, when the client has gone: unflushed sectors meet their fate; returns how many, and how many of
        them reached the medium."""
        self._listener.close()
        self._thread.join()
        unflushed = [entry for write in self._writes for entry in write.items()]
        arrived = 0
        if loss is Loss.RANDOM:
            share = chance.choice((0.1, 0.5, 0.9))
            if chance.random() < 0.5:
                chance.shuffle(self._writes)
            for write in self._writes:
                for sector, data in write.items():
                    if chance.random() < share:
                        os.pwrite(self._medium, data, sector * SECTOR)
                        arrived += 1
        os.close(self._medium)
        return len(unflushed), arrived

    def _serve(self) -> None:
        # A client that is killed, or a disk whose power went before one came.
        with suppress(EOFError, OSError):
            connection, _ = self._listener.accept()
            with connection:
                if self._agree(connection):
                    while self._answer(connection):
                        pass
                # Without power nothing is said, not even that the connection has ended.
                if not self._has_power:
                    while connection.recv(65536):
                        pass

    def _agree(self, connection: socket.socket) -> bool:
        """NBD's opening, in its fixed newstyle; False when the client has gone again."""
        connection.sendall(_GREETING.pack(_GREETING_MAGIC, _OPTION_MAGIC, _FIXED_NEWSTYLE))
        _receive(connection, 4)
        description = struct.pack(">QH", self._size, _HAS_FLAGS | _KNOWS_FLUSH | _KNOWS_FUA)
        while True:
            _, option, length = _OPTION.unpack(_receive(connection, _OPTION.size))
            _receive(connection, length)

            def reply(kind: int, data: bytes = b"", option: int = option) -> None:
                connection.sendall(_OPTION_REPLY.pack(_OPTION_REPLY_MAGIC, option, kind, len(data)) + data)

            if option == _EXPORT_NAME:
                connection.sendall(description + bytes(124))
                return True
            if option in (_INFO, _GO):
                reply(_INFORMATION, struct.pack(">H", 0) + description)
                reply(_ACKNOWLEDGED)
                if option == _GO:
                    return True
            else:
                reply(_UNSUPPORTED)

    def _answer(self, connection: socket.socket) -> bool:
        """Do one request; False when there is nothing more to be answered."""
        _, flags, kind, handle, offset, length = _REQUEST.unpack(_receive(connection, _REQUEST.size))
        data = _receive(connection, length) if kind == _WRITE else b""
        with self._lock:
            if kind in (_WRITE, _FLUSH):
                self._count_down(lambda: self._write(offset, data) if kind == _WRITE else None)
            if not self._has_power or kind == _DISCONNECT:
                return False
            found = b""
            if kind == _READ:
                found = self._read(offset, length)
            elif kind == _WRITE:
                self.writes += 1
                self._write(offset, data)
                if flags & _THROUGH_CACHE:
                    self._write_through(offset, data)
            elif kind == _FLUSH:
                self.flushes += 1
                self._flush()
            connection.sendall(_REPLY.pack(_REPLY_MAGIC, 0, handle) + found)
            return True

    def _count_down(self, last: Callable[[], None]) -> None:
        """At the operation that the power goes at, a write is in the cache and a flush has done nothing."""
        if self._operations_left is not None and self._has_power:
            self._operations_left -= 1
            if self._operations_left <= 0:
                last()
                self._has_power = False
                self._power_gone.set()

    def _read(self, offset: int, length: int) -> bytes:
        found = bytearray(os.pread(self._medium, length, offset))
        if self._cache:
            for start in range(0, length, SECTOR):
                cached = self._cache.get((offset + start) // SECTOR)
                if cached is not None:
                    found[start : start + SECTOR] = cached
        return bytes(found)

    def _write(self, offset: int, data: bytes) -> None:
        sectors = {(offset + start) // SECTOR: data[start : start + SECTOR] for start in range(0, len(data), SECTOR)}
        self._writes.append(sectors)
        self._cache |= sectors

    def _write_through(self, offset: int, data: bytes) -> None:
        """A write that is to be on the medium when it is answered; what was there before must not come back."""
        if self._lies:
            return
        os.pwrite(self._medium, data, offset)
        for sector in range(offset // SECTOR, (offset + len(data)) // SECTOR):
            self._cache.pop(sector, None)
            for write in self._writes:
                write.pop(sector, None)

    def _flush(self) -> None:
        if self._lies:
            return
        for sector, data in self._cache.items():
            os.pwrite(self._medium, data, sector * SECTOR)
        self._cache.clear()
        self._writes.clear()


def _receive(connection: socket.socket, length: int) -> bytes:
    """So many bytes. Raises EOFError when the connection ends before."""
    received = bytearray()
    while len(received) < length:
        part = connection.recv(length - len(received))
        if not part:
            raise EOFError
        received += part
    return bytes(received)
