"""`boxman run`: one table's terminal, and around it whatever of its surroundings is not configured.

Where no hardware is configured the table is a virtual one: its pins are mocked and its I/O node is a MicroPython
process. Where such a table has no uplink configured, it gets a central server of its own, on loopback.
"""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from pathlib import Path

from device.data_folder import DataFolderError, open_data_folder
from device.journal import JournalError
from device.settings import UplinkSettings
from device.startup import StartError, listen, run_terminal
from drivers.header import PinFactoryError
from drivers.node_link import NodePortBusy
from drivers.virtual_table import node_command
from provisioning.central_server import CentralServer, CentralServerError, ensure_stream
from provisioning.command_failed import CommandFailed
from provisioning.configuration import Configuration, ConfigurationError, read_configuration, settings
from provisioning.progress import ProgressBar

CENTRAL_FOLDER = "central"
VIRTUAL_FOLDER = "virtual"


def run(configuration_path: Path | None, data: Path, port: int | None) -> int:
    """Run the terminal until it is told to end. Raises CommandFailed."""
    try:
        configuration = read_configuration(configuration_path) if configuration_path else Configuration()
        with ExitStack() as stack:
            _run(configuration, data, port, stack)
    except (
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
    virtual = configuration.pins in (None, "mock")
    virtual_folder = data / VIRTUAL_FOLDER if virtual else None
    node_port = Path(configuration.node) if configuration.node else None
    uplink = UplinkSettings(configuration.servers, configuration.stream) if configuration.servers else None
    # Checked before anything is started: a second terminal on the same data must not disturb the first.
    checked = settings(configuration, port=port, uplink=uplink, node_port=node_port, virtual_folder=virtual_folder)
    folder = stack.enter_context(open_data_folder(data))
    listener = stack.enter_context(listen(checked.host, checked.port))
    if virtual_folder is not None and node_port is None:
        stack.enter_context(_virtual_node(virtual_folder))
        node_port = virtual_folder / "node"
    if virtual_folder is not None and uplink is None:
        uplink = _central_server(folder.path / CENTRAL_FOLDER, stack)
    ready = settings(configuration, port=port, uplink=uplink, node_port=node_port, virtual_folder=virtual_folder)
    progress = ProgressBar("reading the journal")

    def on_ready(address: str) -> None:
        progress.close()
        print(f"boxman {version('boxman')}: table {ready.table} under {configuration.rules}")
        print(f"  console        {address}")
        if virtual_folder is not None:
            print(f"  virtual table  {address}virtual")
        print(f"  data           {data}", flush=True)

    asyncio.run(run_terminal(ready, folder, listener, version("boxman"), progress, on_ready))


@contextmanager
def _virtual_node(folder: Path) -> Iterator[None]:
    """An I/O node without a Pico, as long as this program runs."""
    node = subprocess.Popen(node_command(folder, with_parent=True), start_new_session=True)
    try:
        yield
    finally:
        node.terminate()
        node.wait()


def _central_server(folder: Path, stack: ExitStack) -> UplinkSettings | None:
    """A central server on loopback. Without one the table works on, so a failure is said and no more."""
    try:
        server = stack.enter_context(CentralServer(folder))
        asyncio.run(ensure_stream(server.url))
    except CentralServerError as error:
        print(f"boxman: no central server, the table works on without: {error}", file=sys.stderr)
        return None
    return UplinkSettings([server.url])
