"""A table that is being commissioned: its contacts, node and centre are looked at, and what came of it is kept.

What was done so far is in the data folder after every step, so that leaving, and the cut of the power that is asked
for, only interrupt it. At its end there is a signed report in the data folder, and an event in the journal.
"""

import json
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from device.central_systems import central_systems
from device.clock import Clock
from device.commissioning.machine import Commissioning, Reading, Result
from device.commissioning.progress_file import Progress, remove_progress, write_progress, write_whole
from device.commissioning.report import Unit, report_of, signed
from device.commissioning.report_page import report_page
from device.commissioning.steps import Step, steps_of
from device.commissioning.words import Words
from device.data_folder import DataFolder
from device.journal import JournalReader
from device.languages.languages import language_of
from device.settings import Settings
from device.table_key import KEY_FILE_NAME, TableKey, open_table_key
from drivers.contact_watch import ContactWatch
from drivers.header import open_pin_factory
from provisioning.commissioning_centre import CentreProbe
from provisioning.commissioning_journal import check_journal, record


@dataclass(frozen=True)
class Table:
    """The table that is commissioned. Its data folder is held by this process."""

    settings: Settings
    folder: DataFolder
    key: TableKey


def open_table(settings: Settings, folder: DataFolder) -> Table:
    """The table in a data folder, whose journal can take the report of a commissioning.

    Raises CommandFailed, JournalError or TableKeyError.
    """
    key = open_table_key(folder.path / KEY_FILE_NAME)
    check_journal(folder, settings.table, key)
    return Table(settings, folder, key)


@dataclass(frozen=True)
class Finished:
    """A commissioning that is over: its signed report, the pages of it (HTML, JSON), and its event in the journal."""

    said: dict[str, Any]
    pages: Sequence[Path]
    seq: int


class Bench:
    """One table while it is tried. Not for several threads."""

    def __init__(
        self, table: Table, by: str, progress: Progress, clock: Clock, stack: ExitStack, pin_factory: Any = None
    ) -> None:
        """Go on with what was begun; what is opened is closed with `stack`.

        `pin_factory` None: that of the settings. Raises PinFactoryError or NodePortBusy.
        """
        settings = table.settings
        systems = central_systems(settings, table.key)
        steps = steps_of(settings.wiring, has_node=settings.node_port is not None, has_centre=bool(systems))
        self.commissioning = Commissioning(steps, by, dict(progress.results), progress.cut_boot)
        self.watch = stack.enter_context(
            closing(
                ContactWatch(
                    settings.wiring,
                    pin_factory=pin_factory or open_pin_factory(settings.pin_library),
                    node_port=settings.node_port,
                )
            )
        )
        self.probe = stack.enter_context(closing(CentreProbe(systems)))
        self._table = table
        self._progress = progress
        self._clock = clock
        self._lamps = [step.signal for step in steps if step.kind == "lamp" and step.signal is not None]
        self._lit: str | None = None

    def look(self) -> Result | None:
        """Look at everything once; what the step came to, when it ends by that. Never waits."""
        return self.commissioning.take(self._reading())

    def light(self) -> None:
        """Light the lamp that is asked for, and no other."""
        if self._lit != self.commissioning.lit:
            self._lit = self.commissioning.lit
            self.watch.set_lamps({name: name == self._lit for name in self._lamps})

    def _reading(self) -> Reading:
        watch = self.watch
        at_ms = time.monotonic_ns() // 1_000_000
        edges = watch.look(at_ms)
        stamp = self._clock.stamp()
        return Reading(
            at_ms,
            watch.levels,
            edges,
            watch.unavailable,
            watch.node_online,
            self.probe.reached,
            stamp.boot,
            stamp.wall,
        )

    def keep(self, **changed: Any) -> None:
        """Keep how far it is, with what else of the progress has changed; on the disk when this returns.

        Raises ProgressError.
        """
        self._progress = replace(
            self._progress,
            results=dict(self.commissioning.results),
            cut_boot=self.commissioning.cut_boot,
            firmware=self.watch.node_firmware or self._progress.firmware,
            **changed,
        )
        write_progress(self._table.folder.path, self._progress)

    def finish(self) -> Finished:
        """Make the report of what every step came to, and record it, once. Raises ProgressError or JournalError."""
        table, settings = self._table, self._table.settings
        if self._progress.ended is None:
            with JournalReader(table.folder.journal_path) as reader:
                self.keep(ended=self._clock.stamp().wall, journal_seq=reader.last_seq)
        progress = self._progress
        assert progress.ended is not None
        unit = Unit(
            settings.site,
            settings.table,
            version("boxman"),
            progress.configuration,
            settings.pin_library,
            progress.firmware,
        )
        steps, results = self.commissioning.steps, self.commissioning.results
        report = report_of(unit, settings.wiring, steps, results, begun=progress.begun, ended=progress.ended)
        said = signed(report, table.key)
        language = settings.language or language_of(settings.terms.rule_set["name"])
        pages = write_report(table.folder, said, steps, language)
        seq = record(table.folder, settings.table, table.key, said, progress.journal_seq, self._clock)
        remove_progress(table.folder.path)
        return Finished(said, pages, seq)


def write_report(folder: DataFolder, said: dict[str, Any], steps: Sequence[Step], language: str) -> list[Path]:
    """Write a signed report as a page to print and as JSON; where they are. Raises ProgressError."""
    moment = "".join(character for character in said["commissioning"]["ended"][:19] if character.isalnum())
    name = f"commissioned-{said['commissioning']['table']}-{moment}Z"
    page = report_page(said, steps, Words(language))
    content = json.dumps(said, ensure_ascii=False, indent=1) + "\n"
    return [write_whole(folder.path, f"{name}.html", page), write_whole(folder.path, f"{name}.json", content)]
