"""`boxman central archive`, `status` and `resolve`: the programs around the archive's database."""

import asyncio
import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
from sqlalchemy import Connection
from sqlalchemy.exc import InterfaceError, OperationalError

from provisioning.central.archive_alarms import NotInAlarm, TableStatus, read_position, read_status, resolve
from provisioning.central.archive_configuration import ArchiveConfiguration, read_archive_configuration
from provisioning.central.archive_database import ArchiveDatabaseError, opened
from provisioning.central.archive_reader import run_archive
from provisioning.central.toml_file import BadFile
from provisioning.command_failed import CommandFailed
from provisioning.standard_streams import visible

NAME_LENGTH_MAX = 100
REASON_LENGTH_MAX = 1_000


def archive(configuration_path: Path) -> int:
    """Archive until told to end. Raises CommandFailed."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    logging.getLogger("alembic").setLevel(logging.WARNING)
    configuration = _configuration(configuration_path)
    try:
        asyncio.run(_until_told(configuration))
    except (ArchiveDatabaseError, psycopg.ProgrammingError) as error:
        raise CommandFailed(str(error).strip()) from error
    return 0


def show_status(configuration_path: Path) -> int:
    """Print where the archive stands with each table; the exit status is 1 while one is in alarm."""
    with _database(configuration_path) as connection:
        tables, position = read_status(connection), read_position(connection)
    if position == 0 and not tables:
        print("nothing of the central log was read yet: boxman central archive has not reached it, or it is empty")
        return 0
    print(f"central log read as far as message {position}; tables: {len(tables)}")
    for table in tables:
        print(visible(f"{table.site}/{table.table}  {_told(table)}"))
    return 1 if any(table.alarm is not None for table in tables) else 0


def resolve_alarm(configuration_path: Path, site: str, table: str, name: str, reason: str, leave_out: bool) -> int:
    """Resolve a table's alarm, under the name of whoever does. Raises CommandFailed."""
    for what, text, longest in (("--name", name, NAME_LENGTH_MAX), ("--reason", reason, REASON_LENGTH_MAX)):
        if not text.strip() or not text.isprintable() or len(text) > longest:
            raise CommandFailed(f"{what} must be 1 to {longest} printable characters")
    try:
        with _database(configuration_path) as connection:
            resolve(connection, site, table, name=name.strip(), reason=reason.strip(), leave_out=leave_out)
    except NotInAlarm as error:
        raise CommandFailed(str(error)) from error
    print(f"the alarm of {site}/{table} is resolved; the archive reads the table again")
    return 0


async def _until_told(configuration: ArchiveConfiguration) -> None:
    running = asyncio.ensure_future(
        run_archive(configuration.engine(), configuration.access, configuration.stream, configuration.keys)
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, running.cancel)
    with suppress(asyncio.CancelledError):
        await running


@contextmanager
def _database(configuration_path: Path) -> Iterator[Connection]:
    configuration = _configuration(configuration_path)
    try:
        with opened(configuration.engine()) as connection:
            yield connection
    except ArchiveDatabaseError as error:
        raise CommandFailed(str(error)) from error
    except (OperationalError, InterfaceError) as error:
        raise CommandFailed(f"the archive's database is away: {str(error.orig).strip()}") from error


def _configuration(path: Path) -> ArchiveConfiguration:
    try:
        return read_archive_configuration(path)
    except BadFile as error:
        raise CommandFailed(str(error)) from error


def _told(table: TableStatus) -> str:
    heard = f"last heard {table.heard_at}" if table.heard_at is not None else "never heard"
    said = f"event {table.last_seq} (signed to {table.signed_seq}), {heard}"
    if table.left_out:
        said += f", {table.left_out} x left out by name"
    if table.alarm is not None:
        alarm = table.alarm
        waiting = f"{table.waiting_messages} messages wait since {alarm.raised_at}"
        return f"ALARM at event {alarm.seq} ({alarm.kind}): {alarm.reason}; {waiting}; {said}"
    return f"{'is being read again' if table.reread else 'whole'}, {said}"
