"""The words of `boxman central archive`, `status` and `resolve`."""

import argparse
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from provisioning.command_failed import CommandFailed


def add_archive_commands(actions: Any) -> None:
    """Say what they take."""
    command = actions.add_parser("archive", help="write all tables' histories from the central log into a database")
    _add_config(command)
    command.set_defaults(start=_with_archive(lambda commands, chosen: commands.archive(chosen.config)))

    command = actions.add_parser("status", help="where the archive stands with each table, and which are in alarm")
    _add_config(command)
    command.set_defaults(start=_with_archive(lambda commands, chosen: commands.show_status(chosen.config)))

    command = actions.add_parser("resolve", help="resolve a table's alarm: the archive reads the table again")
    _add_config(command)
    command.add_argument("site", metavar="SITE")
    command.add_argument("table", metavar="TABLE")
    command.add_argument("--name", required=True, help="who resolves it")
    command.add_argument("--reason", required=True, metavar="TEXT", help="why it may go on")
    command.add_argument(
        "--leave-out",
        action="store_true",
        help="go on without the events that are missing, or without the message that cannot be taken",
    )
    command.set_defaults(
        start=_with_archive(
            lambda commands, chosen: commands.resolve_alarm(
                chosen.config, chosen.site, chosen.table, chosen.name, chosen.reason, chosen.leave_out
            )
        )
    )


def _add_config(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--config", type=Path, required=True, metavar="FILE", help="the archive's configuration (TOML)"
    )


def _with_archive(start: Callable[[ModuleType, argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """A table has no use for the database's packages, and may lack them."""

    def started(chosen: argparse.Namespace) -> int:
        try:
            from provisioning.central import archive_commands
        except ModuleNotFoundError as error:
            raise CommandFailed(f"the package {error.name} is missing; install boxman[archive]") from error
        return start(archive_commands, chosen)

    return started
