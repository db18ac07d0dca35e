"""`boxman central config`, `stream` and `key`: what sets the central servers up."""

import argparse
import asyncio
from pathlib import Path

from device.nats_connection import NatsAccess, inbox_of
from device.table_key import TableKeyError, open_table_key
from provisioning.central.central_list import CentralList, read_list
from provisioning.central.server_files import SecretsUnusable, server_files, write_files
from provisioning.central.stream_setup import ensure_journal_stream, wanted_stream
from provisioning.central.toml_file import BadFile
from provisioning.central_server import STREAM, CentralServerError
from provisioning.command_failed import CommandFailed
from provisioning.key_file import CENTRAL_KEY, key_in_file


def add_setup_commands(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add them to the actions of `boxman central`."""
    action = actions.add_parser("config", help="write the NATS servers' configuration files from a list of tables")
    action.add_argument("--tables", type=Path, required=True, metavar="FILE", help="the list (TOML)")
    action.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder for the files")
    action.set_defaults(start=lambda chosen: write_configuration(chosen.tables, chosen.out))
    action = actions.add_parser("stream", help="set the stream of all journals up, on servers that run")
    action.add_argument("--tables", type=Path, required=True, metavar="FILE", help="the list (TOML)")
    action.add_argument("--key", type=Path, required=True, metavar="FILE", help="the admin's key")
    action.add_argument("--ca", type=Path, metavar="FILE", help="the site's CA here, when it lies elsewhere")
    action.add_argument("--site", metavar="NAME", help="a site with a server of its own (default: the hub)")
    action.set_defaults(start=lambda chosen: set_stream_up(chosen.tables, chosen.key, chosen.ca, chosen.site))
    action = actions.add_parser("key", help="make a key for the admin or a reader, and print its public part")
    action.add_argument("file", type=Path, metavar="FILE", help="where the secret part is kept (mode 0600)")
    action.set_defaults(start=lambda chosen: make_key(chosen.file))


def write_configuration(tables: Path, out: Path) -> int:
    """Write a file for each server into a folder. Raises CommandFailed, and then nothing is written."""
    listed = _listed(tables)
    try:
        files = server_files(listed, out)
    except SecretsUnusable as error:
        raise CommandFailed(str(error)) from error
    try:
        write_files(out, files)
    except OSError as error:
        raise CommandFailed(f"{error.filename}: cannot be written ({error.strerror})") from error
    for name in files:
        print(out / name)
    return 0


def set_stream_up(tables: Path, key_file: Path, ca: Path | None, site: str | None) -> int:
    """Make the stream, or give it what the list asks for; does nothing when all is well. Raises CommandFailed."""
    listed = _listed(tables)
    leaf = None
    servers = list(listed.hub)
    if site is not None:
        leaf = next((each for each in listed.leaf_sites if each.name == site), None)
        if leaf is None or leaf.server is None:
            raise CommandFailed(f"--site: {site} has no server of its own in {tables}")
        servers = [leaf.server]
    key = key_in_file(key_file)
    access = NatsAccess([server.url for server in servers], ca or Path(listed.ca), key, inbox_of(key.public))
    try:
        done = asyncio.run(ensure_journal_stream(access, wanted_stream(listed, leaf)))
    except CentralServerError as error:
        raise CommandFailed(str(error)) from error
    print(f"the stream {STREAM} at {', '.join(server.name for server in servers)}: {done}")
    return 0


def make_key(path: Path) -> int:
    """Print the public part of the key in a file, which is made when there is none. Raises CommandFailed."""
    try:
        key = open_table_key(path, CENTRAL_KEY)
    except TableKeyError as error:
        raise CommandFailed(str(error)) from error
    print(key.public)
    return 0


def _listed(path: Path) -> CentralList:
    try:
        return read_list(path)
    except BadFile as error:
        raise CommandFailed(str(error)) from error
