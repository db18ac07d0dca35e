"""Starting a terminal: lock, journal, replay, hardware, uplink, pages; and ending it in good order."""

import asyncio
import logging
import os
import random
import socket
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from typing import Any

from device.assembly import Assembled, StartError, Surroundings, assemble
from device.beside_table import ProgramFailed, run_beside
from device.central_systems import central_systems
from device.clock import Clock
from device.configuration_hash import configuration_hash
from device.console.commissioning_desk import CommissioningDesk
from device.console.dice_reports import DiceReports
from device.console.http_interface import create_app
from device.console.journal_questions import JournalQuestions
from device.console.proposal_access import TokenError, read_token
from device.console.statistics_page import StatisticsPage
from device.console.virtual_table import VirtualControls
from device.data_folder import DataFolder
from device.disk_space import DiskSpace
from device.journal import JournalReader
from device.page_server import PageServer, give_signals_back, take_signals
from device.players_display import PlayersDisplay
from device.recorder import Busy, Halted
from device.screen_alert import watch_screen
from device.service_manager import ServiceManager
from device.settings import Settings
from device.terminal import Terminal
from drivers.header import open_pin_factory
from drivers.table_inputs import TableInputs
from drivers.virtual_table import VirtualTable

log = logging.getLogger(__name__)

CANCEL_AGAIN_S = 3.0


async def run_terminal(
    settings: Settings,
    folder: DataFolder,
    listeners: Sequence[socket.socket],
    version: str,
    on_progress: Callable[[int, int], None],
    on_ready: Callable[[str, str], None],
) -> bool:
    """Run one terminal until SIGINT or SIGTERM, in a data folder that this process holds.

    True: it has ended before that, because its table is to be commissioned on the console's page.

    `listeners` are where the console is. `on_progress` gets (events read, events in all) while the journal is
    replayed, `on_ready` the console's address and the name of the rule set in force.
    Raises StartError, JournalError, PinFactoryError or NodePortBusy, each with one clear line.
    """
    manager = ServiceManager(os.environ)

    def on_replay(read: int, of: int) -> None:
        manager.still_starting(f"reads its journal, {read} of {of} events")
        on_progress(read, of)

    token = _proposals_token(settings)
    with ExitStack() as stack:
        factory = open_pin_factory(settings.pin_library)
        assembled = assemble(stack, settings, folder, version, _surroundings(settings, folder, factory), on_replay)
        terminal = assembled.terminal
        controls = None
        if settings.virtual_folder is not None:
            table = VirtualTable(settings.wiring, pin_factory=factory, folder=settings.virtual_folder)
            controls = VirtualControls(table)

        tasks = [asyncio.create_task(terminal.run())]
        tasks += [asyncio.create_task(uplink.run()) for uplink in assembled.uplinks]
        tasks.append(asyncio.create_task(watch_screen(terminal)))
        if assembled.pruner is not None:
            tasks.append(asyncio.create_task(assembled.pruner.run()))
        if assembled.snapshot_seq > 0:
            tasks.append(asyncio.create_task(_verify_beside(folder, version, assembled)))
        journal = folder.journal_path
        players = None
        if settings.players_display.enabled:
            reader = stack.enter_context(JournalReader(journal))
            players = PlayersDisplay(reader, settings.players_display, lambda: terminal.state)
            terminal.follow(players)
            tasks.append(asyncio.create_task(players.run()))

        def to_commissioning() -> None:
            terminal.close()
            server.end()

        app = create_app(
            terminal,
            settings,
            DiceReports(journal),
            StatisticsPage(journal),
            JournalQuestions(journal),
            players,
            controls,
            token,
            CommissioningDesk(terminal, folder.path, configuration_hash(settings), to_commissioning),
        )

        def on_signal() -> None:
            manager.tell("STOPPING=1")
            terminal.close()

        server = PageServer(app, on_signal)

        async def why_not() -> str | None:
            return await terminal.why_not_accepting() if server.started else "opens its pages"

        on_ready(f"http://{settings.host}:{listeners[0].getsockname()[1]}/", terminal.state["table"]["rules"])
        take_signals()
        serving = asyncio.create_task(server.serve(sockets=[*listeners]))
        tasks.append(asyncio.create_task(manager.keep_told(why_not)))
        try:
            await _until_one_fails(serving, tasks)
        finally:
            server.end()
            await asyncio.gather(serving, return_exceptions=True)
            for task in reversed(tasks):
                await _ended(task)
        if not server.has_signal:
            give_signals_back()
        return not server.has_signal


def _proposals_token(settings: Settings) -> str | None:
    """What whoever proposes bets must send; None: no file of it is named. Raises StartError."""
    if settings.proposals_token_file is None:
        return None
    try:
        return read_token(settings.proposals_token_file)
    except TokenError as error:
        raise StartError(str(error)) from error


async def _until_one_fails(serving: "asyncio.Task[None]", tasks: list["asyncio.Task[None]"]) -> None:
    """Wait until the server has ended, as it does on a signal. Raises what ends another task before it is done."""
    running = {serving, *tasks}
    while serving in running:
        done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()


async def _verify_beside(folder: DataFolder, version: str, assembled: Assembled) -> None:
    """Look at the events that a start from a snapshot did not look at, and whether they lead to what it went on from.

    What is wrong is an alert. A snapshot that is wrong helps no further start.
    """
    try:
        found = await run_beside("device.verification_program", str(folder.journal_path))
    except ProgramFailed as failed:
        # That it did not run says nothing of the journal.
        log.warning("what this start did not look at was not verified: %s", failed)
        return
    if found:
        wrong = found.decode(errors="replace").strip()
        text = f"The journal is not as this table wrote it: {wrong}. Call a technician; keep the card."
        await _alert(assembled.terminal, "journal_damaged", text)
        return
    try:
        differing = await run_beside("device.replay_program", version, str(folder.path))
    except ProgramFailed as failed:
        log.warning("the snapshot was not held against the journal: %s", failed)
        return
    if differing:
        assembled.snapshots.give_up()
        text = (
            f"What this table shows does not follow from its journal: {differing.decode(errors='replace').strip()}. "
            "Finish the hand by what lies on the layout, then start the terminal anew: it goes by the journal alone. "
            "Call a technician."
        )
        await _alert(assembled.terminal, "snapshot_wrong", text)


async def _alert(terminal: Terminal, code: str, text: str) -> None:
    with suppress(Halted, Busy):
        await terminal.alert(code, text)


async def _ended(task: "asyncio.Task[None]") -> None:
    """End a task, and raise what it failed with.

    It is asked again and again: asyncio.wait_for, which libraries use, may lose a cancellation before Python 3.12.
    """
    while not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=CANCEL_AGAIN_S)
    with suppress(asyncio.CancelledError):
        task.result()


def _surroundings(settings: Settings, folder: DataFolder, pin_factory: Any) -> Surroundings:
    def open_inputs(hint: Callable[[], None]) -> TableInputs:
        return TableInputs(settings.wiring, pin_factory=pin_factory, node_port=settings.node_port, on_hint=hint)

    return Surroundings(
        Clock(),
        DiskSpace(folder.path),
        open_inputs,
        partial(central_systems, settings),
        random.Random(),  # noqa: S311 - jitter, no secret
    )
