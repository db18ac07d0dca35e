"""Backs a table's data up into one file on a stick, also while the table runs, and reads it back from there."""

import os
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

from device.data_folder import JOURNAL_FILE_NAME, sync_folder
from device.journal import JournalError, JournalReader
from device.journal_copy import CopiedJournal
from device.journal_verification import VerificationResult, verify
from device.people_file import PEOPLE_FILE, PeopleError, read_people
from device.table_key import KEY_FILE_NAME, TableKey, TableKeyError, read_table_key
from provisioning.backup_file import (
    CONFIGURATION,
    JOURNAL,
    PEOPLE,
    BackupError,
    BackupFile,
    FileSum,
    Manifest,
    OnProgress,
    may_be_named,
    write_backup,
)
from provisioning.configuration import ConfigurationError, read_configuration

UNFINISHED: Final = ".part"

Phase = Callable[[str], OnProgress]
"""Is told what is done next; gives whom to tell how far it is."""


@dataclass(frozen=True)
class Backup:
    """A backup that was made and read back; `left_out` are files that the configuration names and that lie elsewhere"""

    path: Path
    manifest: Manifest
    bytes: int
    left_out: tuple[str, ...]


def back_up(data: Path, folder: Path, configuration: Path | None, made: str, phase: Phase) -> Backup:
    """Write a backup of the table in `data` into `folder`; `made` is the wall time (RFC 3339, UTC).

    A cut on the way leaves no backup, or a whole one. Raises BackupError, and then there is none.
    """
    if not folder.is_dir():
        raise BackupError(f"{folder}: is no folder; name one, such as that at which the stick is mounted")
    key = _key(data)
    files, left_out = _configuration(configuration)
    if (people := _people(data)) is not None:
        files[PEOPLE] = people
    copy = folder / f"boxman-backup-{os.getpid()}.db{UNFINISHED}"
    try:
        _remove_unfinished(folder)
        found = _copied(data / JOURNAL_FILE_NAME, copy, phase)
        manifest = _manifest(data, found, key, made)
        _check_table(configuration, manifest)
        return _written(folder, {JOURNAL: copy, **files}, manifest, key, left_out, phase)
    except OSError as error:
        raise BackupError(f"{folder}: the backup cannot be written ({error.strerror or error})") from error
    finally:
        with suppress(OSError):
            copy.unlink(missing_ok=True)


def _remove_unfinished(folder: Path) -> None:
    """What an attempt that was cut off has left."""
    for path in folder.glob(f"boxman-*{UNFINISHED}"):
        path.unlink()


def _key(data: Path) -> TableKey:
    try:
        key = read_table_key(data / KEY_FILE_NAME)
    except TableKeyError as error:
        raise BackupError(str(error)) from error
    if key is None:
        raise BackupError(f"{data / KEY_FILE_NAME}: there is no key to sign with; --data names the table's data folder")
    return key


def _people(data: Path) -> Path | None:
    """The file of the people, if there is one, once it was looked at."""
    path = data / PEOPLE_FILE
    try:
        read_people(path)
    except PeopleError as error:
        raise BackupError(str(error)) from error
    return path if path.exists() else None


def _configuration(path: Path | None) -> tuple[dict[str, Path], tuple[str, ...]]:
    """The configuration and what it names beside it, by their names in a backup; and what it names elsewhere."""
    if path is None:
        return {}, ()
    _read(path)
    said = tomllib.loads(path.read_text(encoding="utf-8"))
    rules = said.get("table", {}).get("rules", "")
    named = [rules if rules.endswith(".json") else "", said.get("uplink", {}).get("ca", "")]
    beside = [name for name in named if name and may_be_named(name)]
    if not may_be_named(path.name):
        raise BackupError(f"{path}: give it a name of letters, digits, _, - and . first, such as table.toml")
    files = {f"{CONFIGURATION}/{name}": path.with_name(name) for name in (path.name, *beside)}
    return files, tuple(name for name in named if name and name not in beside)


def _read(path: Path) -> tuple[str, str]:
    """Site and table of a configuration."""
    try:
        configuration = read_configuration(path)
    except ConfigurationError as error:
        raise BackupError(str(error)) from error
    return configuration.site, configuration.table


def _check_table(configuration: Path | None, manifest: Manifest) -> None:
    if configuration is not None and _read(configuration) != (manifest.site, manifest.table):
        site, table = _read(configuration)
        raise BackupError(
            f"{configuration}: is of table {table} of {site}, but the journal of table {manifest.table} of "
            f"{manifest.site}; name this table's configuration"
        )


def _copied(journal: Path, copy: Path, phase: Phase) -> VerificationResult:
    """Copy the journal; what a verification of the copy found."""
    if not journal.is_file():
        raise BackupError(f"{journal}: there is no journal; --data names the table's data folder")
    try:
        with CopiedJournal(journal) as source:
            source.copy_to(copy, phase("copying the journal"))
        with JournalReader(copy) as reader:
            return verify(reader, phase("verifying the copy"))
    except JournalError as error:
        raise BackupError(str(error)) from error


def _manifest(data: Path, found: VerificationResult, key: TableKey, made: str) -> Manifest:
    """The manifest of a good journal, without its files."""
    path = data / JOURNAL_FILE_NAME
    if found.what_is_wrong is not None:
        raise BackupError(
            f"{path}: event {found.first_bad_seq}: {found.what_is_wrong}; a damaged journal is not backed up: copy the "
            "whole folder, and call those who look after the table"
        )
    if found.table is None or found.site is None:
        raise BackupError(f"{path}: holds no start of the terminal yet, so there is nothing to back up")
    if key.public not in (found.key, found.heir):
        raise BackupError(
            f"{data / KEY_FILE_NAME}: is the key {key.public}, but the journal's last start names {found.key}"
        )
    return Manifest(
        found.site, found.table, key.public, made, version("boxman"), found.last_seq, found.last_hash, files={}
    )


def _written(
    folder: Path, files: Mapping[str, Path], manifest: Manifest, key: TableKey, left_out: tuple[str, ...], phase: Phase
) -> Backup:
    moment = "".join(character for character in manifest.made.partition(".")[0] if character.isalnum())
    path = folder / f"boxman-{manifest.site}-{manifest.table}-{moment}Z.zip"
    if path.exists():
        raise BackupError(f"{path}: is there already; a backup is never written over another one")
    unfinished = path.with_name(path.name + UNFINISHED)

    def signed(sums: Mapping[str, FileSum]) -> str:
        return Manifest(**vars(manifest) | {"files": sums}).signed_by(key)

    try:
        descriptor = os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w+b") as archive:
            write_backup(archive, files, signed, phase("writing"))
            archive.flush()
            os.fsync(archive.fileno())
            # So that it is the stick that is read, and not what the system remembers of it.
            os.posix_fadvise(archive.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        with BackupFile(unfinished) as backup:
            backup.check(phase("reading it back"))
            read_back = backup.manifest
        unfinished.rename(path)
        sync_folder(folder.absolute())
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
    return Backup(path, read_back, path.stat().st_size, left_out)
