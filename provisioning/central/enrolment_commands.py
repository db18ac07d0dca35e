"""`boxman central enrolment`: which units have enrolled, and putting a new unit's key into a list of tables."""

import argparse
import os
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from device.data_folder import sync_folder
from provisioning.central.central_list import KnownTable, read_list, read_tables
from provisioning.central.enrolment_store import Enrolment, EnrolmentStore
from provisioning.central.receiver_configuration import read_receiver_configuration
from provisioning.central.sqlite_store import StoreError
from provisioning.central.toml_file import BadFile, TomlFile, read_toml
from provisioning.command_failed import CommandFailed

_TIME: Final = "%Y-%m-%d %H:%M UTC"


def add_enrolment_command(parser: argparse.ArgumentParser) -> None:
    """Add the actions of `boxman central enrolment`."""
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    action = actions.add_parser("list", help="every card that was made, and the unit that came with it")
    _add_receiver(action)
    action.set_defaults(start=lambda chosen: show_enrolments(chosen.receiver))
    action = actions.add_parser("accept", help="put the key of a table's new unit into a list of tables")
    action.add_argument("site", metavar="SITE")
    action.add_argument("table", metavar="TABLE")
    _add_receiver(action)
    action.add_argument(
        "--tables",
        type=Path,
        required=True,
        metavar="FILE",
        help="the list of the servers, or a receiver's file (TOML)",
    )
    action.set_defaults(start=lambda chosen: accept(chosen.site, chosen.table, chosen.receiver, chosen.tables))


def _add_receiver(action: argparse.ArgumentParser) -> None:
    action.add_argument(
        "--receiver", type=Path, required=True, metavar="FILE", help="the receiver's configuration (TOML)"
    )


def show_enrolments(receiver: Path) -> int:
    """Print a line for each code that was given out, the oldest first. Raises CommandFailed."""
    now_s = datetime.now(UTC).timestamp()
    for enrolment in _enrolments(receiver):
        print(enrolment.site, enrolment.table, _state(enrolment, now_s))
    return 0


def _state(enrolment: Enrolment, now_s: float) -> str:
    if enrolment.enrolled_s is not None:
        return f"enrolled {_text(enrolment.enrolled_s)}, key {enrolment.key}"
    if enrolment.replaced:
        return "void: a newer card was made"
    return f"{'waits until' if now_s < enrolment.expires_s else 'expired'} {_text(enrolment.expires_s)}"


def _text(time_s: int) -> str:
    return datetime.fromtimestamp(time_s, UTC).strftime(_TIME)


def accept(site: str, table: str, receiver: Path, tables: Path) -> int:
    """Add the key that the table's newest unit enrolled with; says so when it is there. Raises CommandFailed.

    The file is changed whole or not at all, and only to one that is sound.
    """
    key = next((e.key for e in reversed(_enrolments(receiver)) if (e.site, e.table) == (site, table) and e.key), None)
    if key is None:
        raise CommandFailed(f"no unit has enrolled as table {table} of {site}; boxman central enrolment list shows all")
    try:
        its = next(
            (known for known in read_toml(tables, read_tables) if (known.site, known.name) == (site, table)), None
        )
        if its is None:
            _append(tables, KnownTable(site, table, key))
        elif its.key != key:
            raise CommandFailed(
                f"{tables}: table {table} of {site} has another unit's key; where this one takes its place, put "
                f"{key} there by hand, and the former one under former_keys"
            )
    except BadFile as error:
        raise CommandFailed(str(error)) from error
    print(f"{tables}: {'holds' if its else 'now holds'} table {table} of {site} with key {key}")
    return 0


def _append(path: Path, table: KnownTable) -> None:
    """Raises BadFile or CommandFailed."""
    changed = path.with_name(f"{path.name}.new")
    try:
        text = path.read_text(encoding="utf-8")
        former = path.stat()
        changed.unlink(missing_ok=True)
        descriptor = os.open(changed, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            ends = "" if text.endswith("\n") else "\n"
            file.write(f'{text}{ends}\n[[tables]]\nsite = "{table.site}"\nname = "{table.name}"\nkey = "{table.key}"\n')
            file.flush()
            if os.geteuid() == 0:
                # The servers read it as whoever it belongs to.
                os.fchown(file.fileno(), former.st_uid, former.st_gid)
            os.fchmod(file.fileno(), former.st_mode & 0o777)
            os.fsync(file.fileno())
        _check(changed)
        changed.rename(path)
        sync_folder(path.absolute().parent)
    except BadFile as error:
        changed.unlink(missing_ok=True)
        raise BadFile(f"with the new table, {path} would be wrong: {error}") from None
    except OSError as error:
        changed.unlink(missing_ok=True)
        raise CommandFailed(f"{path}: cannot be written ({error.strerror})") from error


def _check(path: Path) -> None:
    """Raises BadFile where this is no sound list of a centre's, or file of a receiver's, whichever it is."""
    if read_toml(path, _is_receivers):
        read_receiver_configuration(path)
    else:
        read_list(path)


def _is_receivers(file: TomlFile) -> bool:
    return "receiver" in file.top.values


def _enrolments(receiver: Path) -> list[Enrolment]:
    """Raises CommandFailed."""
    try:
        store = read_receiver_configuration(receiver).enrolments
        if store is None:
            raise CommandFailed(f"{receiver}: receiver.enrolments is missing; it should name the store of enrolments")
        with closing(EnrolmentStore(store)) as enrolments:
            return enrolments.enrolments()
    except (BadFile, StoreError) as error:
        raise CommandFailed(str(error)) from error
