"""Restores a backup into the data folder of a new unit, from which the unit then adopts the table.

What is restored lies in the folder `restored` of the data folder: it was proved to be whole, and it is no journal that
a terminal goes on with, since the centre may know more by now. `boxman table adopt` takes whatever goes farther.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from device.data_folder import DataFolder, DataFolderError, give_to_owner, open_data_folder, sync_folder
from device.journal import JournalError, JournalReader
from device.journal_verification import verify
from device.people_file import PEOPLE_FILE, PeopleError, changing, read_people
from device.table_key import KEY_FILE_NAME
from provisioning.backup import UNFINISHED, Phase
from provisioning.backup_file import CONFIGURATION, JOURNAL, PEOPLE, BackupError, BackupFile, Manifest
from provisioning.backup_file import in_folder as place_in

RESTORED: Final = "restored"


def restore(backup: Path, data: Path, phase: Phase) -> Manifest:
    """Take a backup out to the data folder of a new unit, once all of it was proved.

    A cut on the way leaves nothing that counts, or all of it. Raises BackupError, and then nothing was restored.
    """
    with BackupFile(backup) as opened:
        try:
            with open_data_folder(data) as folder:
                _check_is_new(folder)
                _take_out(opened, folder, backup, phase)
        except DataFolderError as error:
            raise BackupError(str(error)) from error
        except OSError as error:
            raise BackupError(f"{data}: the backup cannot be restored here ({error.strerror or error})") from error
        return opened.manifest


def _check_is_new(folder: DataFolder) -> None:
    if folder.journal_path.exists():
        raise BackupError(
            f"{folder.journal_path}: this unit has a journal already; a backup is restored to a new unit only, or to a "
            f"data folder that was moved away whole, with its {KEY_FILE_NAME}"
        )
    if (folder.path / RESTORED).exists():
        raise BackupError(
            f"{folder.path / RESTORED}: a backup was restored here already; go on with boxman table adopt, or remove "
            "that folder first"
        )


def _take_out(opened: BackupFile, folder: DataFolder, backup: Path, phase: Phase) -> None:
    unfinished = folder.path / f"{RESTORED}{UNFINISHED}"
    if unfinished.exists():
        # What an attempt that was cut off has left.
        shutil.rmtree(unfinished)
    try:
        _make_folder(unfinished, folder.path)
        for name, pieces in opened.files(phase("restoring")):
            place = place_in(unfinished, name)
            if not place.parent.exists():
                _make_folder(place.parent, folder.path)
            _write(place, pieces, folder.path)
        _check(unfinished, opened.manifest, backup, phase)
        if (unfinished / CONFIGURATION).exists():
            sync_folder(unfinished / CONFIGURATION)
        sync_folder(unfinished)
        unfinished.rename(folder.path / RESTORED)
        sync_folder(folder.path.absolute())
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def _make_folder(path: Path, data: Path) -> None:
    path.mkdir(mode=0o700)
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        give_to_owner(descriptor, data)
    finally:
        os.close(descriptor)


def _write(path: Path, pieces: Iterator[bytes], data: Path) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        give_to_owner(file.fileno(), data)
        for piece in pieces:
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())


def _check(folder: Path, manifest: Manifest, backup: Path, phase: Phase) -> None:
    """Raises BackupError unless journal and people are what the manifest says, and whole."""
    try:
        with JournalReader(folder / JOURNAL) as reader:
            found = verify(reader, phase("verifying"))
        read_people(folder / PEOPLE)
    except (JournalError, PeopleError) as error:
        raise BackupError(f"{backup}: {str(error).replace(f'{folder}/', '')}") from error
    if found.what_is_wrong is not None:
        raise BackupError(f"{backup}: {JOURNAL}: event {found.first_bad_seq}: {found.what_is_wrong}")
    ends = (found.site, found.table, found.last_seq, found.last_hash)
    if ends != (manifest.site, manifest.table, manifest.last_seq, manifest.last_hash):
        raise BackupError(
            f"{backup}: the manifest is of table {manifest.table} of {manifest.site} up to event {manifest.last_seq}, "
            f"the journal of table {found.table} of {found.site} up to event {found.last_seq}: one of them is another "
            "table's or another day's"
        )
    if manifest.key not in (found.key, found.heir):
        raise BackupError(f"{backup}: is signed by {manifest.key}, but the journal by {found.key}")


def restored_journal(data: Path) -> Path | None:
    """The journal that was restored to a data folder and not adopted yet."""
    path = data / RESTORED / JOURNAL
    return path if path.exists() else None


def check_nothing_waits(data: Path) -> None:
    """Raises BackupError when a backup was restored to a data folder and the unit has not adopted the table yet."""
    # The journal first: a unit that has one is kept from nothing by what was left beside it.
    if not (data / JOURNAL).exists() and restored_journal(data) is not None:
        raise BackupError(
            f"{data / RESTORED}: the backup that was restored here is not in force yet; run boxman table adopt, or "
            "remove that folder"
        )


def take_people(data: Path) -> bool:
    """Give the unit the people of a backup that was restored, where it has none; whether it was done.

    Before the table is adopted, so that no cut leaves the table without its people. Raises PeopleError.
    """
    restored = data / RESTORED / PEOPLE
    if not restored.exists() or (data / PEOPLE_FILE).exists():
        return False
    with changing(data) as write:
        write(read_people(restored))
    return True


def forget_restored(data: Path) -> None:
    """The table is adopted: what was restored for it goes, but for the configuration, which has its own place."""
    folder = data / RESTORED
    if not folder.exists():
        return
    for name in (JOURNAL, PEOPLE):
        (folder / name).unlink(missing_ok=True)
    if not (folder / CONFIGURATION).exists():
        folder.rmdir()
    sync_folder(data.absolute())
