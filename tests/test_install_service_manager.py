"""systemd is told that the terminal is ready when it accepts play, and that it lives while it answers."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from device.service_manager import ServiceManager
from tests.terminal_rig import TerminalProcess, wait_for

# Whatever it is connected to is not there: a terminal on its own.
ALONE = """
[hardware]
node = "/dev/none"
[uplink]
servers = ["nats://127.0.0.1:9"]
"""
DEADLINE_S = 60.0


class Told:
    """The other end: all that was told so far, each as its assignments."""

    def __init__(self, address: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(address)
        self.socket.setblocking(False)
        self.messages: list[dict[str, str]] = []

    def look(self) -> list[dict[str, str]]:
        """Everything until now."""
        while True:
            try:
                text = self.socket.recv(65_536).decode()
            except BlockingIOError:
                return self.messages
            self.messages.append(dict(line.split("=", 1) for line in text.splitlines()))

    def has(self, assignment: str) -> bool:
        """Whether any of them said so."""
        return any("=".join(each) == assignment for message in self.look() for each in message.items())


@pytest.fixture
def told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test lasts so long that progress is told again."""
    monkeypatch.setattr("device.service_manager.TELL_AGAIN_S", 3600.0)


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Told]:
    found = Told(str(tmp_path / "notify"))
    yield found
    found.socket.close()


def keep_told_until(
    told: Told, why_not: Callable[[], Awaitable[str | None]], end: Callable[[], bool], **more: str
) -> None:
    """Run a terminal that answers as `why_not` does until `end`."""
    environment = {"NOTIFY_SOCKET": str(told.socket.getsockname()), "WATCHDOG_USEC": "30000"} | more

    async def run() -> None:
        task = asyncio.create_task(ServiceManager(environment).keep_told(why_not))
        try:
            async with asyncio.timeout(DEADLINE_S):
                while not end():
                    await asyncio.sleep(0.005)
        finally:
            task.cancel()

    asyncio.run(run())


@pytest.mark.usefixtures("told_once")
def test_ready_is_told_when_play_is_accepted_and_then_that_it_lives(told: Told) -> None:
    reasons = iter(["opens its pages", "The disk is full.\nREADY=1", None, None, "The disk is full.", None])

    async def why_not() -> str | None:
        return next(reasons, None)

    keep_told_until(told, why_not, lambda: len(told.look()) >= 5)
    first = told.messages[0]
    # What is no reason to wait is not told more often than the service manager needs to hear it.
    assert (first["EXTEND_TIMEOUT_USEC"], first["STATUS"]) == ("60000000", "opens its pages")
    assert told.messages[1] == {"READY": "1", "WATCHDOG": "1", "STATUS": "accepts play"}
    assert told.messages[2:5] == [
        {"WATCHDOG": "1", "STATUS": "accepts play"},
        {"WATCHDOG": "1", "STATUS": "The disk is full."},
        {"WATCHDOG": "1", "STATUS": "accepts play"},
    ]


def test_a_reason_cannot_speak_for_the_terminal(told: Told) -> None:
    async def why_not() -> str | None:
        return "The disk is full.\nREADY=1\r\nWATCHDOG=1"

    keep_told_until(told, why_not, lambda: bool(told.look()))
    assert set(told.messages[0]) == {"EXTEND_TIMEOUT_USEC", "STATUS", "WATCHDOG"}
    assert told.messages[0]["STATUS"] == "The disk is full. READY=1 WATCHDOG=1"


def test_nothing_is_told_while_the_terminal_does_not_answer(told: Told) -> None:
    asked = 0

    async def why_not() -> str | None:
        nonlocal asked
        asked += 1
        if asked > 3:
            await asyncio.Event().wait()
        return None

    keep_told_until(told, why_not, lambda: asked == 4)
    assert [message.get("WATCHDOG") for message in told.look()] == ["1", "1", "1"]


@pytest.mark.usefixtures("told_once")
def test_progress_of_a_long_start_is_told_now_and_then(told: Told) -> None:
    manager = ServiceManager({"NOTIFY_SOCKET": str(told.socket.getsockname())})
    for event in range(1000):
        manager.still_starting(f"event {event}")
    assert told.look() == [{"WATCHDOG": "1", "EXTEND_TIMEOUT_USEC": "60000000", "STATUS": "event 0"}]


def test_an_abstract_address_is_understood_and_one_that_nobody_reads_does_no_harm(tmp_path: Path) -> None:
    name = f"boxman-{tmp_path}"
    other = Told(f"\0{name}")
    ServiceManager({"NOTIFY_SOCKET": f"@{name}"}).tell("READY=1")
    assert other.look() == [{"READY": "1"}]
    other.socket.close()
    for environment in ({"NOTIFY_SOCKET": f"@{name}"}, {"NOTIFY_SOCKET": str(tmp_path / "none")}, {}):
        ServiceManager(environment).tell("READY=1")
    # Without a service manager it ends at once.
    asyncio.run(asyncio.wait_for(ServiceManager({}).keep_told(lambda: asyncio.sleep(DEADLINE_S)), DEADLINE_S / 2))


def test_a_real_terminal_tells_that_it_accepts_play_lives_and_ends(
    tmp_path: Path, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    configuration = tmp_path / "table.toml"
    configuration.write_text(ALONE)
    monkeypatch.setenv("NOTIFY_SOCKET", str(told.socket.getsockname()))
    # Every two seconds a word: of ten that nobody has heard, the system keeps no more.
    monkeypatch.setenv("WATCHDOG_USEC", "6000000")
    with TerminalProcess(tmp_path / "data", configuration=configuration) as terminal:
        wait_for(lambda: told.has("READY=1"), "it is ready", DEADLINE_S)
        assert terminal.do({"roll": [3, 1]})
        before = len(told.look())
        wait_for(lambda: len(told.look()) > before, "it lives", DEADLINE_S)
        assert told.messages[-1] == {"WATCHDOG": "1", "STATUS": "accepts play"}
        terminal.terminate()
        assert told.has("STOPPING=1")
