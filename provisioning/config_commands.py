"""`boxman config`: a new configuration by questions and answers, whether one is sound, and what is in force."""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from drivers.node_port import usb_devices
from provisioning.command_failed import CommandFailed
from provisioning.configuration import Configuration, ConfigurationError, read_configuration
from provisioning.configuration_dialogue import ask, file_of, questions
from provisioning.configuration_in_force import in_force
from provisioning.configuration_lines import key_lines
from provisioning.configuration_reference import reference, schema
from provisioning.standard_streams import visible, write_utf8

NEW_FILE = Path("table.toml")


def add_config_command(config: argparse.ArgumentParser) -> None:
    """Give the command `boxman config` its actions."""
    actions = config.add_subparsers(required=True, metavar="ACTION")
    action = actions.add_parser("new", help="ask for what a table needs, and write a commented configuration")
    action.add_argument(
        "file", nargs="?", type=Path, default=NEW_FILE, metavar="FILE", help="not yet there (default: table.toml)"
    )
    action.set_defaults(start=lambda chosen: new_configuration(chosen.file))
    action = actions.add_parser("check", help="say whether a configuration is sound, and what is wrong with it")
    action.add_argument("file", type=Path, metavar="FILE")
    action.set_defaults(start=lambda chosen: check_configuration(chosen.file))
    action = actions.add_parser("show", help="what is in force, and where each value comes from")
    action.add_argument("file", nargs="?", type=Path, metavar="FILE", help="without one: what holds without any")
    action.set_defaults(start=lambda chosen: show_configuration(chosen.file))
    action = actions.add_parser("keys", help="every key: what it is, what it may be, what holds without it (Markdown)")
    action.set_defaults(start=lambda _: show_keys())
    action = actions.add_parser("schema", help="the JSON Schema of the configuration, for editors")
    action.set_defaults(start=lambda _: show_schema())


def new_configuration(path: Path) -> int:
    """Ask, and write the file. Raises CommandFailed; nothing is ever overwritten."""
    if path.exists():
        raise CommandFailed(f"{path}: is there already, and is not overwritten; name another file")
    print("An empty answer takes what stands in brackets; - leaves the thing out.")
    plugged = sorted(number for _, number in usb_devices())
    try:
        answers = ask(questions(plugged), path, input, lambda said: print(visible(said), file=sys.stderr))
    except EOFError:
        raise CommandFailed("the answers ended; nothing was written") from None
    _write_new(path, file_of(answers))
    print(f"{path}: written; boxman config show {path} shows what is in force")
    return 0


def _write_new(path: Path, text: str) -> None:
    """Write a file whole or not at all, and never over another. Raises CommandFailed."""
    try:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, prefix=".boxman-") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            # For the owner alone: a server's address may hold a password.
            Path(file.name).chmod(0o600)
            path.hardlink_to(file.name)
    except FileExistsError:
        raise CommandFailed(f"{path}: is there already, and is not overwritten; name another file") from None
    except OSError as error:
        raise CommandFailed(f"{path}: cannot be written ({error.strerror})") from error


def check_configuration(path: Path) -> int:
    """Say that a configuration is sound. Raises CommandFailed with what is wrong."""
    given = _read(path)
    print(f"{visible(str(path))}: sound; table {given.table} at {given.site} under {visible(given.rules)}")
    return 0


def show_configuration(path: Path | None) -> int:
    """Print what is in force, a key a line. Raises CommandFailed."""
    configuration = Configuration() if path is None else _read(path)
    lines = {} if path is None else key_lines(path.read_text(encoding="utf-8"))
    rows = [(one.key, visible(one.value), visible(one.source)) for one in in_force(configuration, lines, path)]
    width = max(len(key) for key, _, _ in rows)
    # Longer values stand out of the column rather than push all others aside.
    value_width = min(30, max(len(value) for _, value, _ in rows))
    for key, value, source in rows:
        print(f"{key:<{width}}  {value:<{value_width}}  {source}")
    return 0


def show_keys() -> int:
    """Print the reference of all keys."""
    print(reference(), end="")
    return 0


def show_schema() -> int:
    """Print the JSON Schema."""
    write_utf8()
    print(json.dumps(schema(), indent=2, ensure_ascii=False))
    return 0


def _read(path: Path) -> Configuration:
    try:
        return read_configuration(path)
    except ConfigurationError as error:
        raise CommandFailed(str(error)) from error
