"""`boxman run`: one table's terminal, and around it whatever of its surroundings is not configured.

Where no hardware is configured the table is a virtual one: its pins are mocked and its I/O node is a MicroPython
process. Where such a table has no uplink configured, it gets a central server of its own, on loopback.
"""

import argparse
import asyncio
import logging
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from device.assembly import StartError
from device.clock import Clock
from device.commissioning.progress_file import progress_on_page
from device.configuration_hash import configuration_hash
from device.console_listeners import listen_for_console
from device.data_folder import DataFolder, DataFolderError, open_data_folder
from device.journal import JournalError
from device.settings import Settings, UplinkSettings
from device.startup import run_terminal
from drivers.header import PinFactoryError
from drivers.node_link import NodePortBusy
from drivers.virtual_node import NODE, node_command
from provisioning.backup_file import BackupError
from provisioning.central_server import CentralServer, CentralServerError, ensure_stream
from provisioning.command_failed import CommandFailed
from provisioning.configuration import Configuration, ConfigurationError, read_configuration, settings
from provisioning.data_option import add_data_option
from provisioning.progress import ProgressBar
from provisioning.restore import check_nothing_waits
from provisioning.standard_streams import give_up_output

log = logging.getLogger(__name__)

LOOK_AFTER_S = 1.0
# Of what a virtual node says before it ends, so much is passed on.
WORDS_BYTES_MAX = 4096
CENTRAL_FOLDER = "central"
VIRTUAL_FOLDER = "virtual"


def add_run_command(parser: argparse.ArgumentParser) -> None:
    """Say what `run` takes."""
    parser.add_argument("--config", type=Path, metavar="FILE", help="the table's configuration (TOML)")
    add_data_option(parser)
    parser.add_argument("--port", type=_port, metavar="N", help="the console's port (default: 8080)")
    parser.set_defaults(start=lambda chosen: run(chosen.config, chosen.data, chosen.port))


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError("must be a port from 1 to 65535")
    return int(text)


def run(configuration_path: Path | None, data: Path, port: int | None) -> int:
    """Run the terminal until it is told to end. Raises CommandFailed."""
    try:
        configuration = read_configuration(configuration_path) if configuration_path else Configuration()
        with ExitStack() as stack:
            _run(configuration, data, port, stack)
    except (
        BackupError,
        ConfigurationError,
        DataFolderError,
        JournalError,
        NodePortBusy,
        PinFactoryError,
        StartError,
    ) as error:
        raise CommandFailed(str(error)) from error
    return 0


def _run(configuration: Configuration, data: Path, port: int | None, stack: ExitStack) -> None:
    virtual_folder = data / VIRTUAL_FOLDER if configuration.virtual else None
    node_port = configuration.node
    uplink = configuration.uplink
    # Checked before anything is started: a second terminal on the same data must not disturb the first.
    checked = settings(configuration, port=port, uplink=uplink, node_port=node_port, virtual_folder=virtual_folder)
    folder = stack.enter_context(open_data_folder(data))
    check_nothing_waits(data)
    listeners = [stack.enter_context(each) for each in listen_for_console(checked.host, checked.port)]
    if virtual_folder is not None:
        _make_virtual_folder(virtual_folder)
    companions: list[_VirtualNode | CentralServer] = []
    if virtual_folder is not None and node_port is None:
        companions.append(stack.enter_context(closing(_VirtualNode(virtual_folder))))
        node_port = str(virtual_folder / NODE)
    if virtual_folder is not None and uplink is None:
        server = _central_server(folder.path / CENTRAL_FOLDER, stack)
        if server is not None:
            companions.append(server)
            uplink = UplinkSettings([server.url])
    ready = replace(checked, uplink=uplink, node_port=node_port)

    def tell(address: str, rules: str) -> None:
        lines = [f"boxman {version('boxman')}: table {ready.table} under {rules}", f"  console        {address}"]
        if virtual_folder is not None:
            lines.append(f"  virtual table  {address}virtual")
        node = f", I/O node at {ready.node_port}" if ready.node_port is not None else ""
        pins = "virtual (gpiozero's mock pins)" if configuration.virtual else f"{ready.pin_library}, by gpiozero"
        lines += [f"  pins           {pins}{node}", f"  data           {data}"]
        try:
            print("\n".join(lines), flush=True)
        except OSError as error:
            # A table is not kept from its players because nobody can be told where it is.
            give_up_output()
            print(f"boxman: standard output cannot be written ({error.strerror})", file=sys.stderr)

    async def play() -> bool:
        progress = ProgressBar("reading the journal")

        def on_ready(address: str, rules: str) -> None:
            progress.close()
            tell(address, rules)

        return await run_terminal(ready, folder, _duplicates(listeners), version("boxman"), progress, on_ready)

    async def run_all() -> None:
        looking = asyncio.create_task(_look_after(companions))
        try:
            # The console's sockets stay open from one to the other: whoever comes in between waits, and is not refused.
            while await _commission(ready, folder, listeners) and await play():
                pass
        finally:
            looking.cancel()

    asyncio.run(run_all())


def _duplicates(listeners: Sequence[socket.socket]) -> list[socket.socket]:
    return [listener.dup() for listener in listeners]


async def _commission(ready: Settings, folder: DataFolder, listeners: Sequence[socket.socket]) -> bool:
    """Commission the table on the console's page, where that was begun; whether the terminal is to start now."""
    progress = progress_on_page(folder.path, configuration_hash(ready))
    if progress is None:
        return True
    # A table is commissioned once, and plays for years.
    from provisioning.commissioning_page import commission_on_page

    return await commission_on_page(ready, folder, _duplicates(listeners), progress, Clock())


def _make_virtual_folder(path: Path) -> None:
    try:
        path.mkdir(exist_ok=True)
    except OSError as error:
        raise CommandFailed(
            f"{path}: cannot be used ({error.strerror}); it should be a folder, or not exist yet"
        ) from error


class _VirtualNode:
    """An I/O node without a Pico, as long as this program runs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # What it says for itself, and the last of it that was passed on.
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close
        self._said = ""
        self._process = self._started()

    def _started(self) -> "subprocess.Popen[bytes]":
        # One that was killed, now or in a former run, leaves its port's link, whose number may be anyone's by now.
        link = self._folder / NODE
        if link.is_symlink():
            with suppress(OSError):
                link.unlink()
        self._words.seek(0)
        self._words.truncate()
        command = node_command(self._folder, with_parent=True)
        return subprocess.Popen(command, stderr=self._words, start_new_session=True)

    def look_after(self) -> None:
        """Start it anew when it has ended.

        One that cannot start ends every time it is started: why is said once, and again when it is another reason.
        """
        if self._process.poll() is None:
            return
        self._words.seek(0)
        reason = self._words.read(WORDS_BYTES_MAX).decode(errors="replace").strip()
        if reason and reason != self._said:
            self._said = reason
            log.warning("%s", reason)
        self._process = self._started()

    def close(self) -> None:
        """Stop it."""
        self._process.terminate()
        self._process.wait()
        self._words.close()


def _central_server(folder: Path, stack: ExitStack) -> CentralServer | None:
    """A central server on loopback. Without one the table works on, so a failure is said and no more."""
    try:
        server = stack.enter_context(CentralServer(folder))
        asyncio.run(ensure_stream(server.url))
    except CentralServerError as error:
        print(f"boxman: no central server, the table works on without: {error}", file=sys.stderr)
        return None
    return server


async def _look_after(companions: Sequence[_VirtualNode | CentralServer]) -> None:
    """Keep what was started around the table running, as a real table's surroundings would be."""
    while True:
        await asyncio.sleep(LOOK_AFTER_S)
        for companion in companions:
            try:
                companion.look_after()
            except CentralServerError as error:
                log.warning("%s", error)
