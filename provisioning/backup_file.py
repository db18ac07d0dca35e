"""The file of a backup: a ZIP archive of a table's data, with a manifest of their hashes that the table's key signs.

`journal.db` is the journal, `people.json` the people with what proves their PINs, `configuration/` the configuration
with what it names beside it. The table's secret key is not in it: a backup is carried about, and whoever had the key
could write the table's history. A unit that a backup is restored to has a key of its own and adopts the table.
"""

import hashlib
import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import IO, Any, Final, Self

from device.event import canonical
from device.table_key import TableKey, is_public_key, is_signed_by

JOURNAL: Final = "journal.db"
PEOPLE: Final = "people.json"
CONFIGURATION: Final = "configuration"
MANIFEST: Final = "manifest.json"

_VERSION: Final = 1
_MANIFEST_BYTES_MAX: Final = 64 * 1024
_PIECE_BYTES: Final = 1 << 20
_CONFIGURATION_FILE: Final = re.compile(rf"{CONFIGURATION}/[A-Za-z0-9_-][A-Za-z0-9._-]{{0,99}}")
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_TEXTS: Final = ("site", "table", "key", "made", "program", "last_hash")
# No text that NATS has a client sign begins with this byte.
_DOMAIN: Final = b"\xffboxman backup 1\n"
# What is read of an archive that somebody has changed.
_UNREADABLE: Final = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)

OnProgress = Callable[[int, int], None]


class BackupError(Exception):
    """The file is no backup that can be used; one line that names it and says why."""


@dataclass(frozen=True)
class FileSum:
    """Length and SHA-256 (hex) of a file."""

    bytes: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What a backup holds: of which table and key, made when (RFC 3339, UTC), by which version, up to which event."""

    site: str
    table: str
    key: str
    made: str
    program: str
    last_seq: int
    last_hash: str
    files: Mapping[str, FileSum]

    def signed_by(self, key: TableKey) -> str:
        """The manifest as it stands in a backup."""
        said = self._said()
        return canonical(said | {"signature": key.sign(_DOMAIN + canonical(said).encode())})

    def _said(self) -> dict[str, Any]:
        return vars(self) | {"version": _VERSION, "files": {name: vars(one) for name, one in self.files.items()}}


def parse_manifest(text: bytes) -> Manifest:
    """The manifest in a backup. Raises ValueError unless the key that it names has signed it."""
    try:
        said = json.loads(text.decode("utf-8"))
    except RecursionError:
        raise ValueError("its manifest is none") from None
    if not isinstance(said, dict) or said.get("version") != _VERSION:
        raise ValueError(f"its manifest is not one of version {_VERSION}, which this program knows")
    signature, files = said.pop("signature", None), said.get("files")
    if not isinstance(files, dict):
        raise ValueError("its manifest names no files")  # noqa: TRY004 - it is the text that is wrong
    well_formed = (
        all(isinstance(said.get(name), str) for name in _TEXTS)
        and type(said.get("last_seq")) is int
        and isinstance(signature, str)
        and all(_is_file(name, about) for name, about in files.items())
        and JOURNAL in files
        and len(said) == len(_TEXTS) + 3
    )
    if not well_formed or not is_public_key(said["key"]):
        raise ValueError("its manifest is not as boxman table backup writes it")
    if not is_signed_by(said["key"], _DOMAIN + canonical(said).encode(), signature):
        raise ValueError(f"its manifest was changed: the signature is not one of it by the key {said['key']}")
    sums = {name: FileSum(about["bytes"], about["sha256"]) for name, about in files.items()}
    texts = {name: said[name] for name in _TEXTS}
    return Manifest(**texts, last_seq=said["last_seq"], files=sums)


def _is_file(name: str, about: Any) -> bool:
    return (
        (name in (JOURNAL, PEOPLE) or _CONFIGURATION_FILE.fullmatch(name) is not None)
        and isinstance(about, dict)
        and about.keys() == {"bytes", "sha256"}
        and type(about["bytes"]) is int
        and about["bytes"] >= 0
        and isinstance(about["sha256"], str)
        and _HASH.fullmatch(about["sha256"]) is not None
    )


def may_be_named(name: str) -> bool:
    """Whether a file of the configuration may have this name in a backup."""
    return _CONFIGURATION_FILE.fullmatch(f"{CONFIGURATION}/{name}") is not None


def write_backup(
    archive: IO[bytes],
    files: Mapping[str, Path],
    manifest: Callable[[Mapping[str, FileSum]], str],
    on_progress: OnProgress,
) -> None:
    """Write `files`, by their names in the backup, then what `manifest` makes of their sums. Raises OSError.

    `on_progress` is told (bytes taken, bytes in all).
    """
    whole = sum(path.stat().st_size for path in files.values())
    taken = 0
    sums = {}
    # The fastest: a journal shrinks to a fifth with it, and the stick is what takes the time.
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as zipped:
        for name, path in files.items():
            digest, length = hashlib.sha256(), 0
            with path.open("rb") as source, zipped.open(name, "w", force_zip64=True) as target:
                while piece := source.read(_PIECE_BYTES):
                    target.write(piece)
                    digest.update(piece)
                    length += len(piece)
                    taken += len(piece)
                    on_progress(taken, whole)
            sums[name] = FileSum(length, digest.hexdigest())
        with zipped.open(MANIFEST, "w") as target:
            target.write(manifest(sums).encode())


class BackupFile:
    """A backup that was opened; its manifest is signed, its files are checked as they are read."""

    def __init__(self, path: Path) -> None:
        """Raises BackupError."""
        self._path = path
        try:
            self._zipped = zipfile.ZipFile(path)
        except OSError as error:
            raise BackupError(f"{path}: cannot be read ({error.strerror or error})") from error
        except _UNREADABLE as error:
            raise BackupError(f"{path}: is no backup, or a damaged one ({error})") from error
        try:
            self.manifest = self._read_manifest()
        except BaseException:
            self.close()
            raise

    def _read_manifest(self) -> Manifest:
        names = self._zipped.namelist()
        if MANIFEST not in names:
            raise BackupError(f"{self._path}: is no backup, which is what boxman table backup writes")
        try:
            with self._zipped.open(MANIFEST) as source:
                text = source.read(_MANIFEST_BYTES_MAX + 1)
            manifest = parse_manifest(text)
        except OSError as error:
            raise BackupError(f"{self._path}: cannot be read ({error.strerror or error})") from error
        except _UNREADABLE as error:
            raise BackupError(f"{self._path}: is a damaged backup: {error}") from error
        if sorted(names) != sorted([*manifest.files, MANIFEST]):
            raise BackupError(f"{self._path}: is a damaged backup: it does not hold the files that its manifest names")
        return manifest

    def check(self, on_progress: OnProgress) -> None:
        """Read everything and hold it against the manifest. Raises BackupError."""
        for _name, pieces in self.files(on_progress):
            for _piece in pieces:
                pass

    def files(self, on_progress: OnProgress) -> Iterator[tuple[str, Iterator[bytes]]]:
        """Each file's name and content, which must be read to its end: then it is as it should be, or BackupError.

        `on_progress` is told (bytes read, bytes in all).
        """
        whole = sum(one.bytes for one in self.manifest.files.values())
        before = 0
        for name, about in self.manifest.files.items():
            yield name, self._pieces(name, about, before, whole, on_progress)
            before += about.bytes

    def _pieces(self, name: str, about: FileSum, before: int, whole: int, on_progress: OnProgress) -> Iterator[bytes]:
        digest, length = hashlib.sha256(), 0
        changed = BackupError(f"{self._path}: is a damaged backup: {name} is not what was put in")
        try:
            with self._zipped.open(name) as source:
                while piece := source.read(_PIECE_BYTES):
                    length += len(piece)
                    if length > about.bytes:
                        raise changed
                    digest.update(piece)
                    on_progress(before + length, whole)
                    yield piece
        except OSError as error:
            raise BackupError(f"{self._path}: cannot be read ({error.strerror or error})") from error
        except _UNREADABLE as error:
            raise BackupError(f"{self._path}: is a damaged backup: {name}: {error}") from error
        if FileSum(length, digest.hexdigest()) != about:
            raise changed

    def close(self) -> None:
        """Close the file."""
        self._zipped.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def in_folder(folder: Path, name: str) -> Path:
    """Where a file of a backup lies in a folder that it was taken out to."""
    return folder.joinpath(*PurePosixPath(name).parts)
