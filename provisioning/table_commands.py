"""`boxman table`: a unit's public key, and the taking over of a table's history by a new unit."""

import argparse
import asyncio
import sys
from pathlib import Path

from device.adoption import NotAdopted, adopt
from device.central_history import CentralHistory, CentralUnreadable, nats_history
from device.central_reader import may_do_more_than_read
from device.clock import Clock
from device.data_folder import DataFolderError, open_data_folder
from device.journal import JournalError
from device.nats_connection import NatsAccess
from device.table_key import KEY_FILE_NAME, TableKey, TableKeyError, open_table_key, read_table_key
from device.uplink_protocol import DeliveryError, subject
from provisioning.backup_commands import add_backup_actions, end_restoring, restored_source, take_restored_people
from provisioning.command_failed import CommandFailed
from provisioning.configuration import Configuration, ConfigurationError, read_configuration
from provisioning.data_option import add_data_option
from provisioning.key_file import reader_access, unreadable
from provisioning.progress import ProgressBar
from provisioning.restore import restored_journal


def add_table_command(table: argparse.ArgumentParser) -> None:
    """Add the actions of `boxman table`."""
    actions = table.add_subparsers(required=True, metavar="ACTION")
    action = actions.add_parser("key", help="print the unit's public key, for the list of tables at the centre")
    add_data_option(action)
    action.set_defaults(start=lambda chosen: show_key(chosen.data))
    action = actions.add_parser("adopt", help="a new unit takes over the history of the one it replaces")
    action.add_argument("--config", type=Path, required=True, metavar="FILE", help="the table's configuration (TOML)")
    add_data_option(action)
    action.add_argument(
        "--key",
        type=Path,
        metavar="FILE",
        help="the key of a central reader, which may read whole histories on NATS; over HTTPS the unit's own does",
    )
    action.set_defaults(start=lambda chosen: adopt_table(chosen.config, chosen.data, chosen.key))
    add_backup_actions(actions)


def show_key(data: Path) -> int:
    """Print the public key; a unit that has none yet makes it."""
    try:
        # Without the lock where there is one, so that it can be asked beside a terminal that runs.
        key = read_table_key(data / KEY_FILE_NAME)
        if key is None:
            with open_data_folder(data) as folder:
                key = open_table_key(folder.path / KEY_FILE_NAME)
            # Whoever has named another folder than his table's sees it here.
            print(f"boxman: {data}: had no key; one was made", file=sys.stderr)
    except (DataFolderError, TableKeyError) as error:
        raise CommandFailed(str(error)) from error
    print(key.public)
    return 0


def adopt_table(config: Path, data: Path, key_file: Path | None) -> int:
    """Make this unit's journal from the central logs and from a backup that was restored, whichever goes farthest.

    Raises CommandFailed, and then there is no journal, as before.
    """
    progress = ProgressBar("taking over")
    try:
        configuration = read_configuration(config)
        if configuration.uplink is None and restored_journal(data) is None:
            raise CommandFailed(
                f"{config}: names neither uplink.servers nor uplink.https, so there is no central log to take over from"
            )
        with open_data_folder(data) as folder:
            own = open_table_key(folder.path / KEY_FILE_NAME)
            centrals = _centrals(configuration, own, key_file)
            sources = [*centrals, *restored_source(data, configuration.table, centrals)]
            take_restored_people(data)
            last = asyncio.run(
                adopt(
                    folder,
                    sources,
                    site=configuration.site,
                    table=configuration.table,
                    key=own.public,
                    clock=Clock(),
                    on_progress=progress,
                )
            )
            end_restoring(data)
    except CentralUnreadable as error:
        raise unreadable(error, key_file) from error
    except (ConfigurationError, DataFolderError, JournalError, NotAdopted, TableKeyError) as error:
        raise CommandFailed(str(error)) from error
    finally:
        progress.close()
    print(f"table {configuration.table} of {configuration.site}: this unit goes on after event {last - 1}")
    print(f"the list of tables at the centre should hold its key {own.public}")
    return 0


def _centrals(configuration: Configuration, own: TableKey, key_file: Path | None) -> list[CentralHistory]:
    """The table's log at every system that it delivers to. Raises CommandFailed and CentralUnreadable."""
    site, table = configuration.site, configuration.table
    found = []
    if configuration.servers is not None:
        access = reader_access(list(configuration.servers), configuration.ca, key_file)
        if key_file is not None and _may_do_more_than_read(access):
            raise CommandFailed(
                f"{key_file}: this key may do more at the centre than read, so it does not belong on a table; use a "
                "reader's, made for this alone by boxman central key"
            )
        found.append(nats_history(access, configuration.stream, subject(site, table)))
    if configuration.https is not None:
        # Its packages take a while to read in, and few tables deliver this way.
        from device.https_history import https_history

        found.append(https_history(configuration.https, site, table, own, configuration.ca))
    return found


def _may_do_more_than_read(access: NatsAccess) -> bool:
    try:
        return asyncio.run(may_do_more_than_read(access))
    except DeliveryError as error:
        raise CentralUnreadable(str(error)) from error
