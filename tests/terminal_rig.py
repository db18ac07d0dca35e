"""A terminal as a process of its own, for tests that start, kill and talk to it as its users would."""

import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from device.data_folder import JOURNAL_FILE_NAME
from device.journal import JournalReader
from tests.free_ports import free_port

START_S = 120.0
WAIT_S = 60.0
# The alerts of a node that is silent for a while, as on a busy machine.
SILENT_NODE = ("node_offline", "line_noisy")
BOXMAN = Path(sys.executable).with_name("boxman")


def wait_for(condition: Callable[[], Any], what: str, timeout_s: float = WAIT_S) -> Any:
    """What `condition` gives as soon as it is true; AssertionError that names `what` after the deadline."""
    began = time.monotonic()
    while True:
        if found := condition():
            return found
        waited_s = time.monotonic() - began
        assert waited_s < timeout_s, f"not within {timeout_s} s: {what}"
        # Whoever waits long looks less often: the asking takes the processor from what is waited for.
        time.sleep(min(0.1, max(0.01, waited_s / 10)))


def boxman(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    """Run the command to its end."""
    return subprocess.run([BOXMAN, *arguments], capture_output=True, text=True, timeout=300, check=False)


def lines_in(data: Path) -> list[str]:
    """All events in a data folder, as they stand there. Raises JournalError."""
    lines: list[str] = []
    with JournalReader(data / JOURNAL_FILE_NAME) as reader:
        while more := reader.read(len(lines) + 1, 1000):
            lines += more
    return lines


def client_at(address: str) -> httpx.Client:
    """A client that connects anew each time: the server drops what is idle for 5 s, maybe just when a test goes on."""
    return httpx.Client(base_url=address, timeout=60, limits=httpx.Limits(max_keepalive_connections=0))


class TerminalProcess:
    """`boxman run`, started and ended as often as a test likes; the console stays on one port."""

    def __init__(self, data: Path, *, configuration: Path | None = None, port: int | None = None) -> None:
        self.data = data
        self.port = port or free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self._configuration = configuration
        self._process: subprocess.Popen[str] | None = None
        # All that the last run printed, known when it has ended.
        self.output = ""
        self._ids = itertools.count(1)
        self.client = client_at(self.address)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        self.client.close()

    @property
    def pid(self) -> int:
        """The process's number."""
        assert self._process is not None
        return self._process.pid

    def start(self, within_s: float = START_S) -> None:
        """Start and wait until the console answers."""
        command: list[str | Path] = [BOXMAN, "run", "--data", self.data, "--port", str(self.port)]
        if self._configuration is not None:
            command += ["--config", self._configuration]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        wait_for(self._answers, "the console answers", within_s)

    def _answers(self) -> bool:
        assert self._process is not None
        if self._process.poll() is not None:
            output = self._process.stdout.read() if self._process.stdout else ""
            raise AssertionError(f"the terminal ended by itself with {self._process.returncode}: {output}")
        try:
            # Elsewhere: its table is being commissioned.
            return self.client.get("/api/state").status_code in (200, 303)
        except httpx.TransportError:
            return False

    def kill(self) -> None:
        """End it as a crash would."""
        self._end(signal.SIGKILL)

    def terminate(self) -> int:
        """End it in good order; returns the exit status."""
        return self._end(signal.SIGTERM)

    def _end(self, number: int) -> int:
        assert self._process is not None
        if self._process.poll() is None:
            os.kill(self._process.pid, number)
        status = self._process.wait(START_S)
        if self._process.stdout is not None and not self._process.stdout.closed:
            self.output = self._process.stdout.read()
            self._process.stdout.close()
        return status

    def state(self) -> dict[str, Any]:
        """What the screen shows."""
        answer = self.client.get("/api/state")
        assert answer.status_code == 200
        state: dict[str, Any] = answer.json()
        return state

    def wait_for_state(self, condition: Callable[[dict[str, Any]], Any], what: str) -> dict[str, Any]:
        """The first state for which `condition` holds. What fails says which alerts stand."""
        state: dict[str, Any] = {}

        def look() -> bool:
            nonlocal state
            state = self.state()
            return bool(condition(state))

        try:
            wait_for(look, what)
        except AssertionError as error:
            raise AssertionError(f"{error}; alerts: {[alert['text'] for alert in state['alerts']]}") from error
        return state

    def fresh_id(self) -> str:
        """A command id that was not used before."""
        return f"test-{os.getpid()}-{self.port}-{next(self._ids)}"

    def post(self, step: Any, command: str | None = None) -> httpx.Response:
        """Send a step under a fresh or a given id."""
        return self.client.post("/api/command", json={"id": command or self.fresh_id(), "step": step})

    def do(self, step: dict[str, Any]) -> dict[str, Any]:
        """Send a step that must be done."""
        answer = self.post(step)
        assert answer.status_code == 200, answer.text
        done: dict[str, Any] = answer.json()
        return done

    def open_table(self, rules: str, /, **more: Any) -> httpx.Response:
        """Open the table under another rule set."""
        body = {"id": self.fresh_id(), "rules": rules, "unit": 1, "limits": {"min": 1, "max": 1000}} | more
        return self.client.post("/api/open", json=body)

    def hand(self, **movement: Any) -> None:
        """Move something on the virtual table."""
        answer = self.client.post("/api/virtual", json=movement)
        assert answer.status_code == 200, answer.text


def bet(table: TerminalProcess, player: str, kind: str, amount: int, number: int | None = None) -> None:
    """A bet that must be taken."""
    table.do({"bet": {"player": player, "kind": kind, "amount": amount, "number": number}})
