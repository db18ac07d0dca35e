"""The command `boxman`: its words, and what each of them starts.

Only what the typed command needs is imported: a table's start, a technician's question and each shell prompt are not to
wait for the archive's or the console's packages.
"""

import argparse
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import NamedTuple

from provisioning.command_failed import CommandFailed
from provisioning.standard_streams import give_up_output, prepare


class _Command(NamedTuple):
    summary: str
    # Says what the command takes; imports its module.
    add: Callable[[argparse.ArgumentParser], None]


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    try:
        prepare()
        chosen = _parser(sys.argv[1:] if arguments is None else arguments).parse_args(arguments)
        status: int = chosen.start(chosen)
        if sys.stdout is not None:
            sys.stdout.flush()
    except CommandFailed as failed:
        print(f"boxman: {failed}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of our output has gone, such as `head`; nothing is left to say and nobody to say it to.
        give_up_output()
        return 1
    except OSError as error:
        # Such as a full disk behind standard output.
        give_up_output()
        print(f"boxman: reading or writing failed: {error}", file=sys.stderr)
        return 1
    return status


def _parser(arguments: list[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="boxman", description="The terminal at the boxman's position of a craps table."
    )
    parser.add_argument("--version", action="version", version=f"boxman {version('boxman')}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, command in _COMMANDS.items():
        its_parser = commands.add_parser(name, help=command.summary)
        if arguments[:1] == [name]:
            command.add(its_parser)
    return parser


def _run(parser: argparse.ArgumentParser) -> None:
    from provisioning.run import add_run_command

    add_run_command(parser)


def _status(parser: argparse.ArgumentParser) -> None:
    from provisioning.status_command import add_status_command

    add_status_command(parser)


def _settle(parser: argparse.ArgumentParser) -> None:
    from provisioning.settle import add_settle_command

    add_settle_command(parser)


def _journal(parser: argparse.ArgumentParser) -> None:
    from provisioning.journal_commands import add_journal_command

    add_journal_command(parser)


def _wiring(parser: argparse.ArgumentParser) -> None:
    from provisioning.wiring_commands import add_wiring_command

    add_wiring_command(parser)


def _config(parser: argparse.ArgumentParser) -> None:
    from provisioning.config_commands import add_config_command

    add_config_command(parser)


def _provision(parser: argparse.ArgumentParser) -> None:
    from provisioning.install.install_commands import add_provision_command

    add_provision_command(parser)


def _screen(parser: argparse.ArgumentParser) -> None:
    from provisioning.screen_command import add_screen_command

    add_screen_command(parser)


def _update(parser: argparse.ArgumentParser) -> None:
    from provisioning.release.update_commands import add_update_command

    add_update_command(parser)


def _release(parser: argparse.ArgumentParser) -> None:
    from provisioning.release.release_commands import add_release_command

    add_release_command(parser)


def _commission(parser: argparse.ArgumentParser) -> None:
    from provisioning.commission_command import add_commission_command

    add_commission_command(parser)


def _node(parser: argparse.ArgumentParser) -> None:
    from provisioning.node_commands import add_node_command

    add_node_command(parser)


def _dice(parser: argparse.ArgumentParser) -> None:
    from provisioning.dice_commands import add_dice_command

    add_dice_command(parser)


def _statistics(parser: argparse.ArgumentParser) -> None:
    from provisioning.statistics_commands import add_statistics_command

    add_statistics_command(parser)


def _people(parser: argparse.ArgumentParser) -> None:
    from provisioning.people_commands import add_people_command

    add_people_command(parser)


def _table(parser: argparse.ArgumentParser) -> None:
    from provisioning.table_commands import add_table_command

    add_table_command(parser)


def _central(parser: argparse.ArgumentParser) -> None:
    from provisioning.central.archive_command_line import add_archive_commands
    from provisioning.central.enrolment_commands import add_enrolment_command
    from provisioning.central.pit_command_line import add_serve_command
    from provisioning.central.receive_command import add_receive_command
    from provisioning.central.setup_commands import add_setup_commands

    actions = parser.add_subparsers(required=True, metavar="ACTION")
    add_setup_commands(actions)
    add_archive_commands(actions)
    add_receive_command(actions.add_parser("receive", help="take tables' events over HTTPS"))
    add_enrolment_command(actions.add_parser("enrolment", help="new units that have enrolled with a card"))
    add_serve_command(actions.add_parser("serve", help="the pit's page of all tables"))


def _rules(parser: argparse.ArgumentParser) -> None:
    from provisioning.rules_commands import add_rules_command

    add_rules_command(parser)


_COMMANDS = {
    "run": _Command("run a table's terminal; without a configuration, a virtual table", _run),
    "status": _Command("whether a table's terminal gets its events to the centre, and what waits", _status),
    "settle": _Command("play scenario files through the settlement core", _settle),
    "journal": _Command("verify a table's journal, take a checkpoint, show or export it", _journal),
    "wiring": _Command("draw how a table is wired, or list the parts for it", _wiring),
    "config": _Command("a table's configuration: make one, check it, show it", _config),
    "provision": _Command("make a Raspberry Pi OS or Debian a table's computer, and take that back", _provision),
    "screen": _Command("run the browser of the table's own screen, and end it when it paints no more", _screen),
    "update": _Command("put a signed release in the place of the one that runs", _update),
    "release": _Command("make, sign or look at release bundles", _release),
    "commission": _Command("try every signal of a table by hand, and make the report", _commission),
    "node": _Command("install or look at the table's I/O node, a Raspberry Pi Pico", _node),
    "dice": _Command("the dice log, where the dice are, and a day's account", _dice),
    "statistics": _Command("rolls and hold against chance and the exact edges", _statistics),
    "people": _Command("who may sign in at a table, and with which PIN", _people),
    "table": _Command("a unit's public key, backup and restore, and taking over from another unit", _table),
    "central": _Command("the central side: take the histories of all tables", _central),
    "rules": _Command("look into a rule set: its edges, soundness, pay table and limits", _rules),
}


if __name__ == "__main__":
    sys.exit(main())
