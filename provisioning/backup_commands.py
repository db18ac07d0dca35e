"""`boxman table backup` and `boxman table restore`: a table's data on a stick, and from there to a new unit."""

import argparse
from pathlib import Path
from typing import Any

from device.central_history import CentralHistory
from device.clock import Clock
from device.journal import JournalError, JournalReader
from device.people_file import PeopleError
from provisioning.backup import back_up
from provisioning.backup_file import CONFIGURATION, PEOPLE, BackupError, OnProgress
from provisioning.command_failed import CommandFailed
from provisioning.data_option import add_data_option
from provisioning.progress import ProgressBar
from provisioning.restore import RESTORED, forget_restored, restore, restored_journal, take_people
from provisioning.restored_history import restored_history


def add_backup_actions(actions: "argparse._SubParsersAction[Any]") -> None:
    """Add `backup` and `restore` to the actions of `boxman table`."""
    action = actions.add_parser("backup", help="write the table's data into one file on a stick; the table may run")
    action.add_argument("folder", type=Path, metavar="FOLDER", help="where to, such as a mounted USB stick")
    add_data_option(action)
    action.add_argument("--config", type=Path, metavar="FILE", help="take the table's configuration (TOML) along")
    action.set_defaults(start=lambda chosen: back_up_table(chosen.data, chosen.folder, chosen.config))
    action = actions.add_parser("restore", help="take a backup out for a new unit, which then adopts the table")
    action.add_argument("file", type=Path, metavar="FILE", help="what boxman table backup wrote")
    add_data_option(action)
    action.set_defaults(start=lambda chosen: restore_table(chosen.file, chosen.data))


class _Phases:
    """A progress bar for each thing that is done, one after the other."""

    def __init__(self) -> None:
        self._bar: ProgressBar | None = None

    def __call__(self, what: str) -> OnProgress:
        self.close()
        self._bar = ProgressBar(what)
        return self._bar

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


def back_up_table(data: Path, folder: Path, configuration: Path | None) -> int:
    """Write a backup. Raises CommandFailed, and then there is none."""
    phases = _Phases()
    try:
        backup = back_up(data, folder, configuration, Clock().stamp().wall, phases)
    except BackupError as error:
        raise CommandFailed(str(error)) from error
    finally:
        phases.close()
    manifest = backup.manifest
    print(f"{backup.path}: {backup.bytes} bytes, read back and found right")
    print(f"table {manifest.table} of {manifest.site} up to event {manifest.last_seq}, signed with {manifest.key}")
    print(f"it holds: {', '.join(sorted(manifest.files))}; the unit's secret key is not in it")
    for name in backup.left_out:
        print(f"not in it: {name}, which does not lie beside the configuration")
    return 0


def restore_table(backup: Path, data: Path) -> int:
    """Restore a backup to a new unit. Raises CommandFailed, and then nothing was restored."""
    phases = _Phases()
    try:
        manifest = restore(backup, data, phases)
    except BackupError as error:
        raise CommandFailed(str(error)) from error
    finally:
        phases.close()
    print(f"table {manifest.table} of {manifest.site} up to event {manifest.last_seq}, as it was on {manifest.made}")
    # Whose key that is only the list of tables at the centre tells: anybody can sign with one of his own.
    print(f"everything is whole and signed with {manifest.key}, and waits for this unit to adopt the table:")
    named = next((name for name in sorted(manifest.files) if name.endswith(".toml")), None)
    if named is not None:
        print(f"  its configuration is {data / RESTORED / named}; put it where this unit has it")
    print(f"  boxman table adopt --config FILE --data {data}")
    if PEOPLE in manifest.files:
        print("adopting puts its people and their PINs into force as well")
    return 0


def restored_source(data: Path, table: str, centrals: list[CentralHistory]) -> list[CentralHistory]:
    """The journal that was restored to a data folder as one more log, if there is one. Raises CommandFailed."""
    journal = restored_journal(data)
    if journal is None:
        return []
    try:
        with JournalReader(journal) as reader:
            found = next(reader.events(reader.last_seq)).table
    except JournalError as error:
        raise CommandFailed(str(error)) from error
    if found != table:
        raise CommandFailed(
            f"{journal.parent}: is the backup of table {found}, not of {table}; remove that folder, or name the "
            f"configuration of {found}"
        )
    return [restored_history(journal, centrals[0] if centrals else None)]


def take_restored_people(data: Path) -> None:
    """Give the unit the people of a backup that was restored, if it has none. Raises CommandFailed."""
    try:
        if take_people(data):
            print("the people of the backup and their PINs are in force")
    except PeopleError as error:
        raise CommandFailed(str(error)) from error


def end_restoring(data: Path) -> None:
    """The table was adopted: what was restored for that goes."""
    try:
        forget_restored(data)
    except OSError as error:
        print(f"{data / RESTORED}: is not needed any more, but cannot be removed ({error.strerror})")
    if (data / RESTORED / CONFIGURATION).exists():
        print(f"{data / RESTORED / CONFIGURATION}: put the configuration in its place, then remove {data / RESTORED}")
