"""`boxman commission`: leads a technician through every signal of a table on a terminal, with its service stopped.

What was done so far is kept in the data folder after every step; the console's page goes on there as well.
"""

import argparse
import queue
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from device.clock import Clock
from device.commissioning.bounce import SettleTime, timing_lines
from device.commissioning.progress_file import Progress, ProgressError, read_progress
from device.configuration_hash import configuration_hash
from device.data_folder import DataFolderBusy, DataFolderError, open_data_folder
from device.dice_control.names import person_fault
from device.journal import JournalError
from device.settings import Settings
from device.table_key import TableKeyError
from drivers.header import PinFactoryError
from drivers.node_link import NodePortBusy
from drivers.virtual_node import NODE, node_command
from provisioning.command_failed import CommandFailed
from provisioning.commission_verify import add_verify_action
from provisioning.commissioning_bench import Bench, Finished, Table, open_table
from provisioning.commissioning_run import Talk, carry_on
from provisioning.configuration import ConfigurationError, read_configuration, settings
from provisioning.data_option import add_data_option
from provisioning.run import VIRTUAL_FOLDER
from provisioning.standard_streams import visible

LISTEN_S: Final = 0.05


def add_commission_command(parser: argparse.ArgumentParser) -> None:
    """Say what `commission` takes."""
    parser.add_argument("--config", type=Path, metavar="FILE", help="the table's configuration (TOML)")
    add_data_option(parser)
    parser.add_argument("--by", metavar="NAME", help="the technician, whose name the report bears")

    def start(chosen: argparse.Namespace) -> int:
        if chosen.config is None or chosen.by is None:
            parser.error("--config FILE and --by NAME are needed to commission a table")
        return commission(chosen.config, chosen.data, chosen.by, Terminal(), Clock())

    parser.set_defaults(start=start)
    actions = parser.add_subparsers(metavar="ACTION")
    add_verify_action(actions.add_parser("verify", help="whether a report is as a unit has signed it, and which unit"))


class Terminal:
    """The terminal that the command was typed on."""

    def __init__(self) -> None:
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._listen, name="technician", daemon=True).start()

    def _listen(self) -> None:
        while line := sys.stdin.readline() if sys.stdin is not None else "":
            self._lines.put(line)
        self._lines.put("")

    def say(self, text: str) -> None:
        """Print it, each line harmless."""
        print("\n".join(visible(line) for line in text.split("\n")), flush=True)

    def heard(self) -> str | None:
        """A line that was typed, None while there is none. Raises EOFError."""
        try:
            line = self._lines.get_nowait()
        except queue.Empty:
            return None
        if not line:
            raise EOFError
        return line


def commission(config: Path, data: Path, by: str, talk: Talk, clock: Clock, pin_factory: Any = None) -> int:
    """Commission a table; 0 when everything passed. `pin_factory` None: the configuration's. Raises CommandFailed."""
    if fault := person_fault(by):
        raise CommandFailed(f"--by: the name {fault}")
    try:
        configuration = read_configuration(config)
        in_force = settings(
            configuration,
            port=None,
            uplink=configuration.uplink,
            node_port=configuration.node,
            virtual_folder=data / VIRTUAL_FOLDER if configuration.virtual else None,
        )
        with ExitStack() as stack:
            folder = stack.enter_context(open_data_folder(data))
            return _commission(open_table(in_force, folder), by, talk, clock, pin_factory, stack)
    except DataFolderBusy as busy:
        raise CommandFailed(f"{busy}; where it is the table's service: systemctl stop boxman") from busy
    except (
        ConfigurationError,
        DataFolderError,
        JournalError,
        NodePortBusy,
        PinFactoryError,
        ProgressError,
        TableKeyError,
    ) as error:
        raise CommandFailed(str(error)) from error


def _commission(table: Table, by: str, talk: Talk, clock: Clock, pin_factory: Any, stack: ExitStack) -> int:
    begun = _begun(table.folder.path, configuration_hash(table.settings), talk, clock)
    if begun is None:
        return 0
    table = replace(table, settings=_with_node(table.settings, stack))
    bench = Bench(table, by, begun, clock, stack, pin_factory)
    bench.keep()
    if not carry_on(bench, talk):
        talk.say("Left; the same command goes on here.")
        return 0
    return _tell_report(bench.finish(), talk)


def _with_node(in_force: Settings, stack: ExitStack) -> Settings:
    """A virtual table has its node started, until `stack` is closed."""
    folder = in_force.virtual_folder
    if folder is None or in_force.node_port is not None:
        return in_force
    folder.mkdir(exist_ok=True)
    stack.callback(_ended, subprocess.Popen(node_command(folder, with_parent=True), start_new_session=True))
    return replace(in_force, node_port=str(folder / NODE))


def _ended(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    process.wait()


def _begun(folder: Path, configuration: str, talk: Talk, clock: Clock) -> Progress | None:
    """What was begun here, or a new one; None: it was begun under another configuration, and shall stay."""
    progress = read_progress(folder)
    if progress is None:
        return Progress(configuration, clock.stamp().wall, {})
    if progress.configuration == configuration:
        talk.say(f"The commissioning that was begun on {progress.begun} goes on.")
        return replace(progress, on_page_by=None)
    talk.say(
        f"A commissioning was begun on {progress.begun} under another configuration, with {len(progress.results)} "
        "steps done. Enter: begin anew    q: leave it"
    )
    try:
        while (line := talk.heard()) is None:
            time.sleep(LISTEN_S)
    except EOFError:
        return None
    return None if line.strip() else Progress(configuration, clock.stamp().wall, {})


def _tell_report(finished: Finished, talk: Talk) -> int:
    report = finished.said["commissioning"]
    passed = [step["verdict"] for step in report["steps"]].count("passed")
    talk.say(f"\n{passed} of {len(report['steps'])} steps passed.")
    times = [SettleTime(**time) for time in report["timing"]]
    if lines := timing_lines(times):
        talk.say("Contacts bounce for longer than the configuration allows for; write into it:\n" + "\n".join(lines))
    for each in times:
        if each.replace is not None:
            talk.say(f"{each.replace} bounces too long for any settle time: replace its switch or its wire.")
    page, content = finished.pages
    talk.say(
        f"The report: {page} to print and sign, {content.name} beside it.\n"
        f"It is event {finished.seq} of the journal; start the terminal (systemctl start boxman), which delivers it."
    )
    return 0 if report["passed"] else 1
