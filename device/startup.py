"""Starting a terminal: lock, journal, replay, hardware, uplink, pages; and ending it in good order."""

import asyncio
import random
import signal
import socket
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn

from device.beside_table import ProgramFailed, run_beside
from device.clock import Clock
from device.console.dice_reports import DiceReports
from device.console.http_interface import create_app
from device.console.virtual_table import VirtualControls
from device.data_folder import DataFolder
from device.delivery_record import DeliveryRecord, alert_if_journal_is_shorter
from device.journal import Journal, JournalReader
from device.recovery import recover
from device.session import ReplayError, Session, TableTerms
from device.settings import Settings
from device.snapshot_file import SnapshotFile
from device.snapshot_keeper import SnapshotKeeper
from device.table_key import KEY_FILE_NAME, TableKeyError, open_table_key
from device.terminal import Busy, Halted, Terminal
from device.uplink import TARGET, Uplink, UplinkStatus
from drivers.header import open_pin_factory
from drivers.table_inputs import TableInputs
from drivers.virtual_table import VirtualTable

DELIVERY_FILE = "delivery.db"
SNAPSHOT_FILE = "snapshot"
# Pages and programs that may be connected at once; more are told to come later.
CONNECTIONS_MAX = 100
BACKLOG = 16
CANCEL_AGAIN_S = 3.0


class StartError(Exception):
    """The terminal cannot start; the message is one line that says what would be right."""


def terms_to_open(session: Session, terms: TableTerms, configured: dict[str, Any]) -> TableTerms | None:
    """The terms to open the table under at this start, or None where it goes on as it was.

    The configuration rules at the first start and when it has changed; otherwise what was opened last stays in force.
    Raises StartError when it has changed while bets lie on the layout.
    """
    if session.configured == configured and session.table is not None:
        return None
    if session.table is not None and session.table.layout():
        raise StartError(
            f"the configuration of the table has changed to {configured['rules']}, but bets lie on the layout under "
            f"{session.table.rules.name}; start with the former configuration and finish the hand first"
        )
    return terms


async def run_terminal(
    settings: Settings,
    folder: DataFolder,
    listener: socket.socket,
    version: str,
    on_progress: Callable[[int, int], None],
    on_ready: Callable[[str, str], None],
) -> None:
    """Run one terminal until SIGINT or SIGTERM, in a data folder that this process holds.

    `on_progress` gets (events read, events in all) while the journal is replayed, `on_ready` the
    console's address and the name of the rule set in force.
    Raises StartError, JournalError, PinFactoryError or NodePortBusy, each with one clear line.
    """
    with ExitStack() as stack:
        journal = stack.enter_context(Journal.open(folder.journal_path, settings.table))
        snapshots = SnapshotFile(folder.path / SNAPSHOT_FILE, version, settings.table)
        try:
            recovered = recover(journal, snapshots, on_progress)
        except ReplayError as error:
            raise StartError(f"{folder.journal_path}: {error}") from error
        session = recovered.session
        terms = settings.terms.check()
        configured = {
            "site": settings.site,
            "rules": terms.name,
            "rules_version": terms.version,
            "options": terms.options,
            "unit": settings.terms.unit,
            "limits": {"min": settings.terms.minimum, "max": settings.terms.maximum},
        }
        opening = terms_to_open(session, settings.terms, configured)
        try:
            key = open_table_key(folder.path / KEY_FILE_NAME)
        except TableKeyError as error:
            raise StartError(str(error)) from error

        terminal = Terminal(session, journal, Clock(), settings, recovered.times, key)
        keeper = SnapshotKeeper(snapshots, recovered.snapshot_seq)
        stack.callback(keeper.close)
        terminal.keep_snapshots(keeper)
        factory = open_pin_factory(settings.pin_library)
        inputs = TableInputs(settings.wiring, pin_factory=factory, node_port=settings.node_port, on_hint=terminal.hint)
        stack.callback(inputs.close)
        inputs.resume(session.hardware.reports, session.hardware.node_dropped)
        terminal.connect(inputs)
        controls = None
        if settings.virtual_folder is not None:
            table = VirtualTable(settings.wiring, pin_factory=factory, folder=settings.virtual_folder)
            controls = VirtualControls(table)

        last_seq_at_start = journal.last_seq
        terminal.begin(version, configured, opening)
        tasks = [asyncio.create_task(terminal.run())]
        if settings.uplink is not None:
            reader = stack.enter_context(JournalReader(folder.journal_path))
            record = stack.enter_context(closing(DeliveryRecord(folder.path / DELIVERY_FILE)))
            uplink = _uplink(settings, terminal, reader, record, last_seq_at_start)
            tasks.append(asyncio.create_task(uplink.run()))

        if recovered.snapshot_seq > 0:
            tasks.append(asyncio.create_task(_verify_beside(folder.journal_path, terminal)))
        app = create_app(terminal, settings, DiceReports(folder.journal_path), controls)
        server = _Server(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                lifespan="off",
                timeout_graceful_shutdown=1,
                backlog=BACKLOG,
                limit_concurrency=CONNECTIONS_MAX,
            )
        )
        server.on_exit = terminal.close
        on_ready(f"http://{settings.host}:{listener.getsockname()[1]}/", terminal.state["table"]["rules"])
        _take_signals()
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            await _until_one_fails(serving, tasks)
        finally:
            server.should_exit = True
            await asyncio.gather(serving, return_exceptions=True)
            for task in reversed(tasks):
                await _ended(task)


async def _until_one_fails(serving: "asyncio.Task[None]", tasks: list["asyncio.Task[None]"]) -> None:
    """Wait until the server has ended, as it does on a signal. Raises what ends another task before it is done."""
    running = {serving, *tasks}
    while serving in running:
        done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()


async def _verify_beside(journal: Path, terminal: Terminal) -> None:
    """Look at the events that a start from a snapshot did not look at; what is wrong with them is an alert."""
    try:
        await run_beside("device.verification_program", str(journal))
    except ProgramFailed as failed:
        text = f"The journal is not as this table wrote it: {failed}. Call a technician; keep the card."
        with suppress(Halted, Busy):
            await terminal.alert("journal_damaged", text)


async def _ended(task: "asyncio.Task[None]") -> None:
    """End a task, and raise what it failed with.

    It is asked again and again: asyncio.wait_for, which libraries use, may lose a cancellation before Python 3.12.
    """
    while not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=CANCEL_AGAIN_S)
    with suppress(asyncio.CancelledError):
        task.result()


class _Server(uvicorn.Server):
    """The web server, which tells when it is asked to end, so that nobody keeps it waiting."""

    on_exit: Callable[[], None]

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        asyncio.get_running_loop().call_soon_threadsafe(self.on_exit)


def _take_signals() -> None:
    """Keep SIGINT and SIGTERM from ending the process at once.

    The server takes them while it serves and ends on them; afterwards it raises them again for whoever was there
    before, and the journal's last event is still to be written then.
    """
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, lambda: None)


def _uplink(
    settings: Settings, terminal: Terminal, reader: JournalReader, record: DeliveryRecord, last_seq: int
) -> Uplink:
    """The uplink of a terminal whose journal ended at event `last_seq` when it was opened."""
    assert settings.uplink is not None
    alerts: set[asyncio.Task[None]] = set()

    def on_change(status: UplinkStatus) -> None:
        terminal.set_uplink(status.state, status.delivered, status.last_error)

    def on_alert(code: str, text: str) -> None:
        task = asyncio.ensure_future(terminal.alert(code, text))
        alerts.add(task)
        task.add_done_callback(alerts.discard)

    uplink = Uplink(
        read_events=reader.read,
        last_seq=lambda: reader.last_seq,
        record=record,
        servers=settings.uplink.servers,
        site=settings.site,
        table=settings.table,
        stream=settings.uplink.stream,
        on_change=on_change,
        on_alert=on_alert,
        random=random.Random(),  # noqa: S311 - jitter, no secret
    )
    on_change(uplink.status)
    alert_if_journal_is_shorter(record.read(TARGET), last_seq, on_alert)
    terminal.follow(uplink)
    return uplink


def listen(host: str, port: int) -> socket.socket:
    """The console's socket, to be had before anything else is started. Raises StartError."""
    # Named as TCP, so that asyncio turns Nagle's delay off: an answer must not wait for another packet.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        # Two programs may bind one port before either listens; only one can listen.
        listener.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise StartError(
            f"the console cannot listen on {host} port {port} ({reason}); choose another port with --port"
        ) from error
    return listener
