"""`boxman commission`: leads a technician through every signal of a table, with the terminal stopped.

What was done so far is kept in the data folder after every step, so that leaving, and the cut of the power that is
asked for, only interrupt it. At its end there is a signed report in the data folder, and an event in the journal.
"""

import argparse
import queue
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from device.clock import Clock
from device.commissioning.bounce import SettleTime, timing_lines
from device.commissioning.machine import Commissioning
from device.commissioning.progress_file import (
    Progress,
    ProgressError,
    read_progress,
    remove_progress,
    write_progress,
)
from device.commissioning.report import Unit, report_of, signed
from device.commissioning.steps import steps_of
from device.configuration_hash import configuration_hash
from device.data_folder import DataFolder, DataFolderBusy, DataFolderError, open_data_folder
from device.dice_control.names import person_fault
from device.journal import JournalError, JournalReader
from device.languages.languages import language_of
from device.settings import Settings
from device.table_key import KEY_FILE_NAME, TableKey, TableKeyError, open_table_key
from drivers.contact_watch import ContactWatch
from drivers.header import PinFactoryError, open_pin_factory
from drivers.node_link import NodePortBusy
from drivers.virtual_node import NODE, node_command
from provisioning.command_failed import CommandFailed
from provisioning.commissioning_centre import CentreProbe, central_systems
from provisioning.commissioning_journal import check_journal, record
from provisioning.commissioning_run import Around, Talk, carry_on, write_report
from provisioning.configuration import Configuration, ConfigurationError, read_configuration, settings
from provisioning.data_option import add_data_option
from provisioning.run import VIRTUAL_FOLDER
from provisioning.standard_streams import visible

LISTEN_S: Final = 0.05


def add_commission_command(parser: argparse.ArgumentParser) -> None:
    """Say what `commission` takes."""
    parser.add_argument("--config", type=Path, required=True, metavar="FILE", help="the table's configuration (TOML)")
    add_data_option(parser)
    parser.add_argument("--by", required=True, metavar="NAME", help="the technician, whose name the report bears")
    parser.set_defaults(start=lambda chosen: commission(chosen.config, chosen.data, chosen.by, Terminal(), Clock()))


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


@dataclass(frozen=True)
class _Table:
    """The table that is commissioned."""

    configuration: Configuration
    settings: Settings
    folder: DataFolder
    key: TableKey


def commission(config: Path, data: Path, by: str, talk: Talk, clock: Clock, pin_factory: Any = None) -> int:
    """Commission a table; 0 when everything passed. `pin_factory` None: the configuration's. Raises CommandFailed."""
    if fault := person_fault(by):
        raise CommandFailed(f"--by: the name {fault}")
    try:
        configuration = read_configuration(config)
        virtual = data / VIRTUAL_FOLDER if configuration.virtual else None
        in_force = settings(
            configuration,
            port=None,
            uplink=configuration.uplink,
            node_port=configuration.node,
            virtual_folder=virtual,
        )
        with ExitStack() as stack:
            folder = stack.enter_context(open_data_folder(data))
            table = _Table(configuration, in_force, folder, open_table_key(folder.path / KEY_FILE_NAME))
            check_journal(folder, in_force.table, table.key)
            return _commission(table, by, talk, clock, pin_factory, stack)
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


def _commission(table: _Table, by: str, talk: Talk, clock: Clock, pin_factory: Any, stack: ExitStack) -> int:
    settings, folder = table.settings, table.folder.path
    wiring = settings.wiring
    node_port = settings.node_port
    if settings.virtual_folder is not None and node_port is None:
        settings.virtual_folder.mkdir(exist_ok=True)
        node_port = str(settings.virtual_folder / NODE)
        command = node_command(settings.virtual_folder, with_parent=True)
        stack.callback(_ended, subprocess.Popen(command, start_new_session=True))
    systems = central_systems(table.configuration, table.key)
    steps = steps_of(wiring, has_node=node_port is not None, has_centre=bool(systems))
    begun = _begun(folder, configuration_hash(settings), talk, clock)
    if begun is None:
        return 0
    progress = begun
    commissioning = Commissioning(steps, by, dict(progress.results), progress.cut_boot)
    watch = stack.enter_context(
        closing(
            ContactWatch(wiring, pin_factory=pin_factory or open_pin_factory(settings.pin_library), node_port=node_port)
        )
    )
    probe = stack.enter_context(closing(CentreProbe(systems)))

    def keep() -> None:
        nonlocal progress
        progress = replace(
            progress,
            results=dict(commissioning.results),
            cut_boot=commissioning.cut_boot,
            firmware=watch.node_firmware or progress.firmware,
        )
        write_progress(folder, progress)

    keep()
    if not carry_on(commissioning, Around(watch, probe, clock, talk), keep):
        talk.say("Left; the same command goes on here.")
        return 0
    if progress.ended is None:
        with JournalReader(table.folder.journal_path) as reader:
            progress = replace(progress, ended=clock.stamp().wall, journal_seq=reader.last_seq)
        keep()
    return _report(table, commissioning, progress, talk, clock)


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
        return progress
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


def _report(table: _Table, commissioning: Commissioning, progress: Progress, talk: Talk, clock: Clock) -> int:
    assert progress.ended is not None
    settings = table.settings
    unit = Unit(
        settings.site,
        settings.table,
        version("boxman"),
        progress.configuration,
        settings.pin_library,
        progress.firmware,
    )
    report = report_of(
        unit, settings.wiring, commissioning.steps, commissioning.results, begun=progress.begun, ended=progress.ended
    )
    said = signed(report, table.key)
    language = settings.language or language_of(table.configuration.rules)
    pages = write_report(table.folder, said, commissioning, language)
    seq = record(table.folder, settings.table, table.key, said, progress.journal_seq, clock)
    remove_progress(table.folder.path)
    not_passed = [result for result in commissioning.results.values() if result.verdict != "passed"]
    talk.say(f"\n{len(commissioning.results) - len(not_passed)} of {len(commissioning.results)} steps passed.")
    times = [SettleTime(**time) for time in report["timing"]]
    if lines := timing_lines(times):
        talk.say("Contacts bounce for longer than the configuration allows for; write into it:\n" + "\n".join(lines))
    for each in times:
        if each.replace is not None:
            talk.say(f"{each.replace} bounces too long for any settle time: replace its switch or its wire.")
    talk.say(
        f"The report: {pages[0]} to print and sign, {pages[1].name} beside it.\n"
        f"It is event {seq} of the journal; start the terminal (systemctl start boxman), which delivers it."
    )
    return 1 if not_passed else 0
