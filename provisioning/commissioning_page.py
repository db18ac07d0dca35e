"""A commissioning on the console's page, in the terminal's place: the pins are in this process's hand, and no game is.

It is begun on the page while the terminal runs (`device.console.commissioning_desk`), goes on there after a cut of the
power, and ends with the report or when the technician leaves: then the terminal starts.
"""

import asyncio
import os
import secrets
import socket
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Any, Final, Literal

from device.clock import Clock
from device.commissioning.bounce import SettleTime, timing_lines
from device.commissioning.progress_file import Progress, ProgressError, write_progress
from device.commissioning.view import commissioning_view
from device.commissioning.words import Words
from device.console.commissioning_interface import create_commissioning_app
from device.console.commissioning_requests import Deed
from device.console.virtual_table import VirtualControls
from device.data_folder import DataFolder
from device.journal import JournalError
from device.languages.said import said
from device.page_server import PageServer, give_signals_back, take_signals
from device.service_manager import ServiceManager
from device.settings import Settings
from device.table_key import TableKeyError
from drivers.header import PinFactoryError, open_pin_factory
from drivers.node_link import NodePortBusy
from drivers.virtual_table import VirtualTable
from engine_lite.refusal import Refused
from provisioning.command_failed import CommandFailed
from provisioning.commissioning_bench import Bench, Finished, open_table
from provisioning.commissioning_run import LOOK_S
from provisioning.standard_streams import complain

SHOW_S: Final = 0.05
"""The page is told of what is seen at most so often; of what a step came to, at once."""


async def commission_on_page(
    settings: Settings, folder: DataFolder, listeners: Sequence[socket.socket], progress: Progress, clock: Clock
) -> bool:
    """Serve the page until the commissioning is over or left; False: a signal has ended it before.

    `listeners` are closed. What stands in its way is complained of, and the terminal may start, which knows best to say
    what it lacks.
    """
    try:
        with ExitStack() as stack:
            for listener in listeners:
                stack.callback(listener.close)
            # Until a page has been shown, the next start is the terminal's: nothing that fails before it can be left
            # keeps a table from its players.
            write_progress(folder.path, replace(progress, on_page_by=None))
            return await _serve(settings, folder, listeners, progress, clock, stack)
    except (CommandFailed, JournalError, NodePortBusy, PinFactoryError, ProgressError, TableKeyError) as error:
        complain(f"boxman: the table is not commissioned: {error}")
        return True


async def _serve(
    settings: Settings,
    folder: DataFolder,
    listeners: Sequence[socket.socket],
    progress: Progress,
    clock: Clock,
    stack: ExitStack,
) -> bool:
    assert progress.on_page_by is not None
    table = open_table(settings, folder)
    factory = open_pin_factory(settings.pin_library)
    bench = Bench(table, progress.on_page_by, replace(progress, on_page_by=None), clock, stack, factory)
    trial = PageTrial(bench, settings)
    controls = None
    if settings.virtual_folder is not None:
        controls = VirtualControls(VirtualTable(settings.wiring, pin_factory=factory, folder=settings.virtual_folder))
    manager = ServiceManager(os.environ)
    app = create_commissioning_app(trial, settings, folder.path, controls, progress.on_page_key)
    server = PageServer(app, lambda: manager.tell("STOPPING=1"))
    take_signals()
    with suppress(OSError):
        print(f"boxman: table {settings.table} is commissioned on the console by {progress.on_page_by}", flush=True)

    async def why_not() -> str | None:
        return None if server.started else "opens its page"

    serving = asyncio.create_task(server.serve(sockets=[*listeners]))
    trying = asyncio.create_task(trial.run())
    telling = asyncio.create_task(manager.keep_told(why_not, "is commissioned"))
    try:
        await asyncio.wait({serving, trying}, return_when=asyncio.FIRST_COMPLETED)
        if trying.done():
            trying.result()
        return not server.has_signal
    finally:
        server.end()
        for task in (trying, telling):
            task.cancel()
        await asyncio.gather(serving, trying, telling, return_exceptions=True)
        if not server.has_signal:
            give_signals_back()


class PageTrial:
    """A bench as the page sees it (`commissioning_interface.Trial`). All methods belong to the event loop of `run`."""

    def __init__(self, bench: Bench, settings: Settings) -> None:
        self._bench = bench
        self._settings = settings
        self._run = secrets.token_hex(4)
        self._changes = 0
        self._changed = asyncio.Event()
        self._over = False
        self._is_seen = False
        self._finished: Finished | None = None
        self._shown: object = None

    # Trying

    async def run(self) -> None:
        """Look at the table until the technician leaves it. Raises ProgressError or JournalError."""
        loop = asyncio.get_running_loop()
        self._bench.look()
        self._bench.keep()
        is_kept_on_page = False
        show_at = 0.0
        while not self._over:
            if self._is_seen and not is_kept_on_page:
                is_kept_on_page = True
                self._bench.keep(on_page_by=self._bench.commissioning.by)
            self._look()
            if loop.time() >= show_at:
                show_at = loop.time() + SHOW_S
                self._show()
            await asyncio.sleep(LOOK_S)

    def _look(self) -> None:
        cut_boot = self._bench.commissioning.cut_boot
        if self._finished is None:
            result = self._bench.look()
            if result is not None or self._bench.commissioning.cut_boot != cut_boot:
                self._keep()
            self._bench.light()

    def _keep(self) -> None:
        self._bench.keep()
        self._announce()

    def _show(self) -> None:
        commissioning = self._bench.commissioning
        shown = (
            commissioning.step,
            commissioning.wanted,
            commissioning.unread,
            commissioning.begins_wrong,
            commissioning.others,
            self._bench.probe.error,
        )
        if shown != self._shown:
            self._shown = shown
            self._announce()

    def _announce(self) -> None:
        self._changes += 1
        self._changed.set()
        self._changed = asyncio.Event()

    # What the page asks

    @property
    def version(self) -> str:
        """What is shown now; no two runs have one in common."""
        return f"{self._run}-{self._changes}"

    async def wait_for_change(self, version: str) -> None:
        """See Trial."""
        if version == self.version:
            await self._changed.wait()

    def view(self, language: str) -> dict[str, Any]:
        """See Trial."""
        self._is_seen = True
        settings, rules = self._settings, self._settings.terms.rule_set["name"]
        view = commissioning_view(self._bench.commissioning, Words(language))
        if view["now"] is not None and view["now"]["unread"] is not None:
            view["now"]["unread"] = said(view["now"]["unread"], language, rules)
        error = self._bench.probe.error
        more = {
            "mode": "commissioning",
            "version": self.version,
            "site": settings.site,
            "table": settings.table,
            "centre_error": None if error is None else said(error, language, rules),
            "finished": None if self._finished is None else _finished_view(self._finished),
        }
        return view | more

    def do(self, deed: Deed) -> bool:
        """See Trial. Raises Refused where it cannot be kept."""
        try:
            return self._do(deed)
        except (ProgressError, JournalError) as error:
            raise Refused("not_kept", str(error)) from error

    def _do(self, deed: Deed) -> bool:
        commissioning = self._bench.commissioning
        if deed.kind == "leave":
            self._leave()
            return True
        if self._finished is not None:
            return False
        if deed.kind in _OF_THE_STEP:
            # Whoever says that it is done means the table as it is now.
            ended = self._bench.look()
            step = commissioning.step
            if ended is not None or step is None or step.name != deed.step:
                self._keep()
                return False
        done = self._act(deed)
        if self._finished is None:
            self._keep()
        return done

    def _act(self, deed: Deed) -> bool:
        commissioning = self._bench.commissioning
        match deed.kind:
            case "yes" | "no":
                return commissioning.answer(deed.kind == "yes") is not None
            case "skip" | "fail":
                commissioning.put_aside(_VERDICTS[deed.kind], deed.why)
            case "back":
                return commissioning.back() is not None
            case "again":
                return commissioning.again(deed.step)
            case "end":
                while commissioning.put_aside("skipped", deed.why) is not None:
                    pass
            case "finish":
                if commissioning.step is not None:
                    return False
                self._finished = self._bench.finish()
                self._announce()
        return True

    def _leave(self) -> None:
        if self._finished is None:
            try:
                self._bench.keep(on_page_by=None)
            except ProgressError as error:
                # A full disk keeps no table from its players; the next start only comes back to this page.
                complain(f"boxman: that the commissioning was left is not kept: {error}")
        self._over = True


_OF_THE_STEP: Final = ("yes", "no", "skip", "fail")
_VERDICTS: Final[dict[str, Literal["failed", "skipped"]]] = {"skip": "skipped", "fail": "failed"}


def _finished_view(finished: Finished) -> dict[str, Any]:
    times = [SettleTime(**time) for time in finished.said["commissioning"]["timing"]]
    return {
        "key": finished.said["key"],
        "seq": finished.seq,
        "report": finished.pages[0].name,
        "timing": timing_lines(times),
        "replace": [time.replace for time in times if time.replace is not None],
    }
