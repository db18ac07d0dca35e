"""The command `boxman`: its words, and what each of them starts."""

import argparse
import sys
from pathlib import Path

from provisioning.central.archive_command_line import add_archive_commands
from provisioning.central.pit_command_line import add_serve_command
from provisioning.central.receive_command import add_receive_command
from provisioning.central.setup_commands import add_setup_commands
from provisioning.central_server import STREAM
from provisioning.command_failed import CommandFailed
from provisioning.config_commands import add_config_command
from provisioning.data_option import add_data_option
from provisioning.dice_commands import add_dice_command
from provisioning.install.install_commands import add_provision_command
from provisioning.journal_commands import (
    export_checkpoint,
    export_events,
    export_scenario,
    show_events,
    verify_journal,
)
from provisioning.node_commands import add_node_command
from provisioning.people_commands import add_people_command
from provisioning.rules_commands import check_file, show_edges, show_limits, show_pay_table
from provisioning.run import run
from provisioning.settle import settle
from provisioning.standard_streams import give_up_output, prepare
from provisioning.statistics_commands import add_statistics_command
from provisioning.table_commands import add_table_command
from provisioning.wiring_commands import show_parts, show_wiring


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    try:
        prepare()
        chosen = _parser().parse_args(arguments)
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="boxman", description="The terminal at the boxman's position of a craps table."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    command = commands.add_parser("run", help="run a table's terminal; without a configuration, a virtual table")
    command.add_argument("--config", type=Path, metavar="FILE", help="the table's configuration (TOML)")
    add_data_option(command)
    command.add_argument("--port", type=_port, metavar="N", help="the console's port (default: 8080)")
    command.set_defaults(start=lambda chosen: run(chosen.config, chosen.data, chosen.port))

    command = commands.add_parser("settle", help="play scenario files through the settlement core")
    command.add_argument("files", nargs="+", type=Path, metavar="FILE")
    command.add_argument(
        "--rules", metavar="NAME_OR_FILE", help="a rule set, or a file of one, in place of the files' own"
    )
    command.set_defaults(start=lambda chosen: settle(chosen.files, chosen.rules))

    journal = commands.add_parser("journal", help="verify a table's journal, take a checkpoint, show or export it")
    actions = journal.add_subparsers(required=True, metavar="ACTION")
    action = actions.add_parser("verify", help="check every event, the hash chain and the table's signatures")
    add_data_option(action)
    action.add_argument(
        "--checkpoint", type=Path, metavar="FILE", help="a checkpoint taken away earlier: nothing before it was cut off"
    )
    action.add_argument(
        "--central",
        metavar="URL",
        help="compare with the central log; a table's configuration file in place of nats://... keeps its password "
        "off the command line",
    )
    action.add_argument("--stream", default=STREAM, metavar="NAME", help="the central log's stream (default: CRAPS)")
    action.add_argument("--key", type=Path, metavar="FILE", help="a central reader's key, where servers ask for one")
    action.set_defaults(
        start=lambda chosen: verify_journal(chosen.data, chosen.checkpoint, chosen.central, chosen.stream, chosen.key)
    )
    action = actions.add_parser("checkpoint", help="write the last checkpoint, to be kept away from the table")
    add_data_option(action)
    action.set_defaults(start=lambda chosen: export_checkpoint(chosen.data))
    action = actions.add_parser("show", help="the latest events, a line each")
    add_data_option(action)
    action.add_argument("--last", type=_count, default=40, metavar="N", help="how many of them (default: 40)")
    action.set_defaults(start=lambda chosen: show_events(chosen.data, chosen.last))
    action = actions.add_parser("export", help="write the events as JSON lines, or a session as a scenario file")
    add_data_option(action)
    action.add_argument("--scenario", action="store_true", help="write a session as a scenario file")
    action.add_argument("--session", type=int, metavar="N", help="which session of the journal (default: the latest)")
    action.set_defaults(
        start=lambda chosen: (
            export_scenario(chosen.data, chosen.session) if chosen.scenario else export_events(chosen.data)
        )
    )

    command = commands.add_parser("wiring", help="draw how a table is wired, or list the parts for it")
    command.add_argument(
        "config", nargs="?", type=Path, metavar="CONFIG", help="the table's configuration (default: the default wiring)"
    )
    wanted = command.add_mutually_exclusive_group(required=True)
    wanted.add_argument(
        "-o", "--output", metavar="FILE", help="write the picture (SVG, A4 or A3); - is standard output"
    )
    wanted.add_argument("--parts", action="store_true", help="print the bill of materials")
    command.set_defaults(
        start=lambda chosen: show_parts(chosen.config) if chosen.parts else show_wiring(chosen.config, chosen.output)
    )
    add_config_command(commands.add_parser("config", help="a table's configuration: make one, check it, show it"))
    add_provision_command(
        commands.add_parser("provision", help="make a Raspberry Pi OS or Debian a table's computer, and take that back")
    )
    add_node_command(commands.add_parser("node", help="install or look at the table's I/O node, a Raspberry Pi Pico"))
    add_dice_command(commands.add_parser("dice", help="the dice log, where the dice are, and a day's account"))
    add_statistics_command(commands.add_parser("statistics", help="rolls and hold against chance and the exact edges"))
    add_people_command(commands.add_parser("people", help="who may sign in at a table, and with which PIN"))
    add_table_command(commands.add_parser("table", help="a unit's public key, and taking over from another unit"))
    central = commands.add_parser("central", help="the central side: take the histories of all tables")
    central_actions = central.add_subparsers(required=True, metavar="ACTION")
    add_setup_commands(central_actions)
    add_archive_commands(central_actions)
    add_receive_command(central_actions.add_parser("receive", help="take tables' events over HTTPS"))
    add_serve_command(central_actions.add_parser("serve", help="the pit's page of all tables"))
    _add_rules(commands.add_parser("rules", help="look into a rule set: its edges, soundness, pay table and limits"))
    return parser


def _add_rules(rules: argparse.ArgumentParser) -> None:
    actions = rules.add_subparsers(required=True, metavar="ACTION")

    action = actions.add_parser("edge", help="the exact house edge of every bet")
    _add_rule_set(action)
    action.add_argument("--json", action="store_true", help="write a JSON list of fractions")
    action.set_defaults(start=lambda chosen: show_edges(chosen.rules, chosen.option, chosen.json))

    action = actions.add_parser("check", help="say whether a rule file is sound, and what is wrong with it")
    action.add_argument("rules", metavar="FILE")
    action.set_defaults(start=lambda chosen: check_file(chosen.rules))

    action = actions.add_parser("show", help="a pay table to hang on the wall")
    _add_rule_set(action)
    action.add_argument("--html", action="store_true", help="write a page to print, on A4 or A3")
    action.set_defaults(start=lambda chosen: show_pay_table(chosen.rules, chosen.option, chosen.html))

    action = actions.add_parser("limits", help="the least and the most that a table takes on each bet")
    _add_rule_set(action)
    action.add_argument("--min", required=True, metavar="N", help="the table's minimum, in chip units")
    action.add_argument("--max", required=True, metavar="N", help="the table's maximum, in chip units")
    action.add_argument("--unit", default="1", metavar="N", help="what amounts are multiples of (default: 1)")
    action.set_defaults(
        start=lambda chosen: show_limits(chosen.rules, chosen.option, chosen.min, chosen.max, chosen.unit)
    )


def _add_rule_set(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rules", metavar="NAME_OR_FILE", help="a rule set that comes with boxman, or a file of one")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="choose an option of the rule set, such as vig=up_front; may be repeated",
    )


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text) <= 10**9:
        raise argparse.ArgumentTypeError("must be a whole number, 1 or more")
    return int(text)


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError("must be a port from 1 to 65535")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
