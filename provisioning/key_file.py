"""Keys of people and programs in files of their own, and what a command needs of a central log's servers."""

from pathlib import Path
from typing import Final

from device.central_history import CentralUnreadable
from device.nats_connection import NatsAccess, SignInRefused, inbox_of
from device.table_key import KeyWords, TableKey, TableKeyError, read_table_key
from provisioning.command_failed import CommandFailed

CENTRAL_KEY: Final = KeyWords("the key of an admin or a reader", "boxman central key makes a new one")


def key_in_file(path: Path) -> TableKey:
    """The key in a file that `boxman central key` made. Raises CommandFailed."""
    try:
        key = read_table_key(path, CENTRAL_KEY)
    except TableKeyError as error:
        raise CommandFailed(str(error)) from error
    if key is None:
        raise CommandFailed(f"{path}: is not there; boxman central key makes one")
    return key


def reader_access(servers: list[str], ca: Path | None, key_file: Path | None) -> NatsAccess:
    """What a central reader with this key needs; without one, servers that ask for none. Raises CommandFailed."""
    if key_file is None:
        return NatsAccess(servers, ca)
    key = key_in_file(key_file)
    return NatsAccess(servers, ca, key, inbox_of(key.public))


def unreadable(error: CentralUnreadable, key_file: Path | None) -> CommandFailed:
    """What to say to whoever wanted to read a central log with this key, or without one."""
    if not isinstance(error.__cause__, SignInRefused):
        return CommandFailed(str(error))
    if key_file is None:
        return CommandFailed("the central server lets nobody read without a key; --key names the file of a reader's")
    return CommandFailed(
        f"the central server refuses the key in {key_file}; it should be that of one of the [[readers]] in its list"
    )
