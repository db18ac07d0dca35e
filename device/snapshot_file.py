"""The snapshot file: a state that the journal leads to, kept beside it so that a start need not replay everything.

A cache: whoever finds it missing, damaged or of something else replays the journal from its beginning. Two lines of
ASCII: an object with `format`, `program` (the version that wrote it), `table`, `seq`, `hash` (of event `seq`) and
`state` (after that event); and the table's signature of the SHA-256 of the first line. What money follows from must not
be somebody else's word, and the hash of an event says nothing about a state.
"""

import errno
import hashlib
import json
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypedDict

from device.data_folder import sync_folder
from device.plain_values import BadValue, build
from device.table_key import TableKey, is_signed_by

FORMAT: Final = 2
SNAPSHOT_BYTES_MAX: Final = 64 * 1024 * 1024
"""A state of a thousand remembered answers takes some hundred KiB, at a full table a few MiB."""

# What stands before what is signed, so that no signature of another kind passes for one of a snapshot.
_DOMAIN: Final = b"\xffboxman snapshot 2\n"
_SIGNATURE_BYTES: Final = 128
# So deep do the pieces lie that are encoded one by one: each answer that is remembered, each set of dice.
_PIECES_DEPTH: Final = 4


class BadSnapshot(Exception):
    """The file is not to be believed; the text says why."""


@dataclass(frozen=True)
class Snapshot:
    """The state after event `seq`, whose hash is `hash`."""

    seq: int
    hash: str
    state: dict[str, Any]


class _Kept(TypedDict):
    """The first line of the file."""

    format: int
    program: str
    table: str
    seq: int
    hash: str
    state: dict[str, Any]


@dataclass(frozen=True)
class SnapshotFile:
    """Where the snapshots of one table lie. Only those of this `program` (its version) and this `key` are believed."""

    path: Path
    program: str
    table: str
    key: TableKey

    def read(self) -> Snapshot | None:
        """The snapshot, None where there is none. Raises BadSnapshot.

        That it is whole says nothing about the journal: it must hold event `seq` with exactly that hash.
        """
        content = self._content()
        if content is None:
            return None
        line, _, signature = content.partition(b"\n")
        if not is_signed_by(self.key.public, _signed(hashlib.sha256(line)), _signature_text(signature)):
            raise BadSnapshot("this table's key has not signed it as it is")
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            raise BadSnapshot("is signed, but no JSON") from None
        # First, because nobody knows what else another format has.
        if not isinstance(fields, dict) or fields.get("format") != FORMAT:
            raise BadSnapshot(f"is not of format {FORMAT}")
        try:
            kept: _Kept = build(_Kept, fields, "snapshot")
        except BadValue as error:
            raise BadSnapshot(str(error)) from None
        if kept["program"] != self.program:
            raise BadSnapshot(f"was written by version {kept['program']}, this is {self.program}")
        if kept["table"] != self.table:
            raise BadSnapshot(f"is of table {kept['table']}, not of {self.table}")
        if kept["seq"] < 1:
            raise BadSnapshot(f"is of event {kept['seq']}, but events start at 1")
        return Snapshot(kept["seq"], kept["hash"], kept["state"])

    def write(self, snapshot: Snapshot) -> None:
        """Put a snapshot in the place of the former one: cut anywhere, the one or the other is there, whole.

        Raises OSError; then the former one is still there.
        """
        fields = _Kept(
            format=FORMAT,
            program=self.program,
            table=self.table,
            seq=snapshot.seq,
            hash=snapshot.hash,
            state=snapshot.state,
        )
        new = self.path.with_name(f"{self.path.name}.new")
        try:
            _write_flushed(new, fields, self.key)
            new.replace(self.path)
        except OSError:
            with suppress(OSError):
                new.unlink()
            raise
        sync_folder(self.path.absolute().parent)

    def discard(self) -> None:
        """Throw the snapshot away. Raises OSError."""
        self.path.unlink(missing_ok=True)

    def _content(self) -> bytes | None:
        try:
            # O_NONBLOCK: a pipe in its place must not hold up the start.
            descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                return _read_whole(descriptor)
            finally:
                os.close(descriptor)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BadSnapshot(f"cannot be read ({error.strerror})") from error


def _read_whole(descriptor: int) -> bytes:
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise BadSnapshot("is no file")
    longest = SNAPSHOT_BYTES_MAX + _SIGNATURE_BYTES + 2
    if found.st_size > longest:
        raise BadSnapshot(f"has {found.st_size} bytes, a snapshot has at most {longest}")
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        return file.read(longest)


def _write_flushed(path: Path, fields: _Kept, key: TableKey) -> None:
    # O_NOFOLLOW: only ever a file of this folder.
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
        # What was left there may have been readable to others.
        os.fchmod(file.fileno(), 0o600)
        content = hashlib.sha256()
        for piece in _pieces(fields, _PIECES_DEPTH):
            content.update(piece)
            file.write(piece)
            if file.tell() > SNAPSHOT_BYTES_MAX:
                raise OSError(errno.EFBIG, f"a snapshot has at most {SNAPSHOT_BYTES_MAX} bytes", str(path))
        file.write(b"\n" + key.sign(_signed(content)).encode("ascii") + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _signed(content: "hashlib._Hash") -> bytes:
    return _DOMAIN + content.digest()


def _signature_text(line: bytes) -> str:
    """The signature in the last line; whatever else stands there is none."""
    return line.removesuffix(b"\n").decode("ascii", "replace") if line.endswith(b"\n") else ""


def _pieces(value: Any, depth: int) -> Iterator[bytes]:
    """The JSON of a value, in pieces: encoding one holds up every other thread, the whole would for too long.

    Keys stay in their order, which is part of the state.
    """
    if depth > 0 and isinstance(value, dict):
        separator = b"{"
        for key, inner in value.items():
            yield separator + json.dumps(str(key)).encode("ascii") + b":"
            yield from _pieces(inner, depth - 1)
            separator = b","
        yield b"}" if value else b"{}"
    elif depth > 0 and isinstance(value, list):
        separator = b"["
        for inner in value:
            yield separator
            yield from _pieces(inner, depth - 1)
            separator = b","
        yield b"]" if value else b"[]"
    else:
        yield json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")
