"""Keys of people and programs in files of their own, and what a command needs of a central log's servers."""

from pathlib import Path

from device.nats_connection import NatsAccess, inbox_of
from device.table_key import TableKey, TableKeyError, read_table_key
from provisioning.command_failed import CommandFailed


def key_in_file(path: Path) -> TableKey:
    """The key in a file that `boxman central key` made. Raises CommandFailed."""
    try:
        key = read_table_key(path)
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
