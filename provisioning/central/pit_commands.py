"""`boxman central serve`: the pit's page as a program."""

import asyncio
import logging
import signal
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import uvicorn

from device.clock import Clock
from device.data_folder import DataFolderError, open_data_folder
from device.journal import Journal, JournalError
from device.page_server import listen
from device.settings import LOOPBACK
from provisioning.central.pit_board import Board
from provisioning.central.pit_configuration import PitConfiguration, read_pit_configuration
from provisioning.central.pit_database import reading_engine
from provisioning.central.pit_http import create_pit_app
from provisioning.central.pit_journal import JOURNAL_NAME
from provisioning.central.pit_seen import SeenBook
from provisioning.central.pit_sources import listen_to_log, read_database
from provisioning.central.toml_file import BadFile
from provisioning.command_failed import CommandFailed

TICK_S: Final = 1.0
GRACE_S: Final = 3
# Pages that may be open at once; more are told to come later.
CONNECTIONS_MAX: Final = 200


def serve(configuration_path: Path) -> int:
    """Serve the page until told to end. Raises CommandFailed."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    # Every look into the database, and each step of the web server's start.
    for chatty in ("alembic", "uvicorn.error"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    try:
        configuration = read_pit_configuration(configuration_path)
        with ExitStack() as stack:
            folder = stack.enter_context(open_data_folder(configuration.data))
            journal = stack.enter_context(Journal.open(folder.journal_path, JOURNAL_NAME))
            book = SeenBook(journal, Clock())
            listener = stack.enter_context(_listen(configuration.port))
            print(f"pit page at http://{LOOPBACK}:{configuration.port}/", flush=True)
            asyncio.run(_until_told(configuration, book, listener))
    except (BadFile, DataFolderError, JournalError) as error:
        raise CommandFailed(str(error)) from error
    return 0


def _listen(port: int) -> socket.socket:
    try:
        return listen(LOOPBACK, port)
    except OSError as error:
        raise CommandFailed(
            f"the pit page cannot listen on {LOOPBACK} port {port} ({error.strerror or error}); "
            "choose another port with pit.port"
        ) from error


async def _until_told(configuration: PitConfiguration, book: SeenBook, listener: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        # The server takes them, and raises them again at its end for whoever was there before.
        loop.add_signal_handler(number, lambda: None)
    await serve_page(configuration, book, listener, monotonic_s=time.monotonic, wall_ms=_wall_ms)


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


async def serve_page(
    configuration: PitConfiguration,
    book: SeenBook,
    listener: socket.socket,
    *,
    monotonic_s: Callable[[], float],
    wall_ms: Callable[[], int],
) -> None:
    """Serve the page until the server is told to end; the clocks are this process's and this machine's."""
    archive = configuration.archive
    board = Board(archive.keys or (), book.who, monotonic_s=monotonic_s, wall_ms=wall_ms)
    server = uvicorn.Server(
        uvicorn.Config(
            create_pit_app(board, book, configuration),
            log_config=None,
            access_log=False,
            lifespan="off",
            server_header=False,
            timeout_graceful_shutdown=GRACE_S,
            limit_concurrency=CONNECTIONS_MAX,
        )
    )
    work = [
        asyncio.ensure_future(_keep_ticking(board, server)),
        asyncio.ensure_future(listen_to_log(board, archive.access, archive.stream)),
        asyncio.ensure_future(read_database(board, reading_engine(archive))),
    ]
    serving = asyncio.ensure_future(server.serve(sockets=[listener]))
    try:
        # One that fails takes the page with it, which then says so.
        done, _ = await asyncio.wait([serving, *work], return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        board.close()
        server.should_exit = True
        for task in work:
            task.cancel()
        await asyncio.gather(serving, *work, return_exceptions=True)


async def _keep_ticking(board: Board, server: uvicorn.Server) -> None:
    """Until the server is told to end; pages that are open would keep it from that."""
    while not server.should_exit:
        board.tick()
        await asyncio.sleep(TICK_S)
