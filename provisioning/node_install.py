"""Puts the node's firmware and configuration on a Raspberry Pi Pico with mpremote.

A running node is first sent to MicroPython's prompt: its watchdog cannot be stopped, so it restarts for that, and its
own program would not be interrupted. Then `main.py` goes first and comes last: whatever goes wrong between, the board
is one that waits at its prompt, and can be installed again.
"""

import hashlib
import importlib.util
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import drivers
from drivers import node_codec as codec
from drivers.node_firmware.board import CONFIGURATION
from drivers.node_firmware.node import FIRMWARE
from drivers.node_port import USB, NodePortBusy, NodePortMissing, find_device
from drivers.wiring import Wiring
from provisioning.command_failed import CommandFailed
from provisioning.die_with_parent import die_with_parent
from provisioning.node_inquiry import NodeIdentity, NodeInquiry, NodePortGone

MAIN = "main.py"
# By path on the board, without those that are made: the file in the package `drivers`.
FILES = {
    "drivers/debounce.py": "debounce.py",
    "drivers/node_codec.py": "node_codec.py",
    "drivers/node_firmware/board.py": "node_firmware/board.py",
    "drivers/node_firmware/board_pico.py": "node_firmware/board_pico.py",
    "drivers/node_firmware/node.py": "node_firmware/node.py",
    MAIN: "node_firmware/main.py",
}
FOLDERS = ("drivers", "drivers/node_firmware")
PLATFORM = "rp2"
# A node that runs answers at once; one that starts takes a second or two.
ANSWER_SECONDS = 2.0
# After a restart: USB, MicroPython and the firmware's own start.
RESTART_SECONDS = 20.0
RETRY_SECONDS = 0.25
RESTART_TRIES = 3
MPREMOTE_SECONDS = 60.0

_LOOK = f"import os, sys; print('boxman', sys.implementation.name, sys.platform, {MAIN!r} in os.listdir(), sep=',')"
_DIGEST = re.compile(r"[0-9a-f]{64}")
_REMOVE_MAIN = f"import os; os.remove({MAIN!r})"
_MAKE_FOLDERS = f"""
import os
for folder in {FOLDERS!r}:
    try:
        os.mkdir(folder)
    except OSError:
        os.stat(folder)
"""


@dataclass(frozen=True)
class Installed:
    """What runs on the board now."""

    device: str
    identity: NodeIdentity


def node_configuration(wiring: Wiring) -> bytes:
    """The configuration of the node's firmware for a table's wiring, as `NodeLink` says it."""
    inputs = [(pin, wiring.timing.settle_ms(name)) for name, pin in wiring.inputs("node").items()]
    return codec.encode_configuration(inputs, list(wiring.lamps("node").values()))


def install(port: str, configuration: bytes, progress: Callable[[int, int], None]) -> Installed:
    """Install the firmware and this configuration on the board at `port`, start it, and hear it say so.

    `port` is a path, or usb: and a USB serial number. Raises CommandFailed.
    """
    if importlib.util.find_spec("mpremote") is None:
        raise CommandFailed("installing on a Pico needs mpremote; install the package mpremote")
    contents = {path: (Path(drivers.__file__).parent / source).read_bytes() for path, source in FILES.items()}
    contents[CONFIGURATION] = codec.seal(configuration)
    main = {MAIN: contents.pop(MAIN)}
    # Getting in, every file, and the start.
    steps = len(contents) + 3
    _leave_firmware(port)
    if _has_main(port):
        # Its program may have begun the watchdog, which only a restart ends.
        _mpremote(port, "exec", _REMOVE_MAIN, "+", "reset")
        _has_main(port)
    progress(1, steps)
    _copy(port, contents, lambda done: progress(1 + done, steps))
    _copy(port, main, lambda _: progress(steps - 1, steps))
    _mpremote(port, "resume", "reset")
    identity = _wait_for_node(port, configuration)
    progress(steps, steps)
    return Installed(_device(port), identity)


def _leave_firmware(port: str) -> None:
    """Send a node that answers to the prompt; a board that does not answer is taken to be there already."""
    try:
        with NodeInquiry(port) as inquiry:
            for _ in range(RESTART_TRIES):
                identity = inquiry.identity(ANSWER_SECONDS)
                if identity is None:
                    return
                if identity.protocol < codec.PROTOCOL:
                    raise CommandFailed(
                        f"the firmware {identity.firmware} on {port} cannot be replaced by this command; hold BOOTSEL "
                        "while plugging the Pico in, erase its flash, and put MicroPython on it again"
                    )
                inquiry.send_to_prompt(identity.boot_id)
        raise CommandFailed(f"the node at {port} does not restart to be installed; unplug it, plug it in and try again")
    except NodePortGone:
        # With the restart that was asked for.
        return
    except (NodePortBusy, NodePortMissing) as error:
        raise CommandFailed(str(error)) from error


def _device(port: str) -> str:
    """The device that `port` stands for now. Raises CommandFailed."""
    try:
        device = find_device(port)
    except NodePortMissing as missing:
        raise CommandFailed(str(missing)) from missing
    if device is None:
        raise CommandFailed(f"no USB serial device with the number {port.removeprefix(USB)} is plugged in")
    return os.path.realpath(device)


def _has_main(port: str) -> bool:
    """Whether the board, which is a Pico with MicroPython, has a program to start. Waits for a board that restarts."""
    deadline = time.monotonic() + RESTART_SECONDS
    while True:
        try:
            said = _mpremote(port, "exec", _LOOK)
            break
        except CommandFailed as failed:
            if time.monotonic() >= deadline:
                raise CommandFailed(f"{port} is no board at MicroPython's prompt: {failed}") from failed
            time.sleep(RETRY_SECONDS)
    words = said.strip().splitlines()[-1].split(",") if said.strip() else []
    if len(words) != 4 or words[0] != "boxman":
        raise CommandFailed(f"{port} is no board at MicroPython's prompt: it answers {said.strip()[:80]!r}")
    if words[1:3] != ["micropython", PLATFORM]:
        raise CommandFailed(
            f"{port} is a board with {words[1]} for {words[2]}; the node's firmware needs a Pico ({PLATFORM})"
        )
    return words[3] == "True"


def _copy(port: str, contents: Mapping[str, bytes], copied: Callable[[int], None]) -> None:
    """Put files on the board, and read each back; `copied` hears how many are there."""
    arguments = ["resume", "exec", _MAKE_FOLDERS]
    with tempfile.TemporaryDirectory() as folder:
        for n, (path, content) in enumerate(contents.items()):
            file = Path(folder) / str(n)
            file.write_bytes(content)
            arguments += ["+", "fs", "cp", str(file), f":{path}", "+", "fs", "sha256sum", f":{path}"]
        digests: list[str] = []

        def heard(line: str) -> None:
            if _DIGEST.fullmatch(line):
                digests.append(line)
                copied(len(digests))

        _mpremote(port, *arguments, heard=heard)
    for n, (path, content) in enumerate(contents.items()):
        if digests[n : n + 1] != [hashlib.sha256(content).hexdigest()]:
            raise CommandFailed(f"{path} did not reach {port} whole; run the command again")


def _wait_for_node(port: str, configuration: bytes) -> NodeIdentity:
    """Wait until the node says that it runs this firmware with this configuration."""
    deadline = time.monotonic() + RESTART_SECONDS
    heard: NodeIdentity | None = None
    expected = f"{FIRMWARE[0]}.{FIRMWARE[1]}"
    while time.monotonic() < deadline:
        try:
            with NodeInquiry(port) as inquiry:
                heard = inquiry.identity(ANSWER_SECONDS)
        except (NodePortBusy, NodePortMissing):
            # It is still restarting, or mpremote still lets go.
            time.sleep(RETRY_SECONDS)
            continue
        if heard is not None:
            break
    if heard is None:
        raise CommandFailed(f"everything is on {port}, but the node does not answer; run the command again")
    if heard.firmware != expected or heard.configuration != codec.configuration_crc(configuration):
        raise CommandFailed(
            f"the node at {port} answers with firmware {heard.firmware} and configuration "
            f"{configuration_name(heard.configuration)} instead of {expected} and "
            f"{configuration_name(codec.configuration_crc(configuration))}; run the command again"
        )
    return heard


def configuration_name(crc: int | None) -> str:
    """How a configuration is called: four hexadecimal digits."""
    return "none" if crc is None else f"{crc:04x}"


def _mpremote(port: str, *arguments: str, heard: Callable[[str], None] | None = None) -> str:
    """Run mpremote on the board; `heard` gets each line that it prints. Raises CommandFailed with its last line."""
    command = [sys.executable, "-u", "-m", "mpremote", "connect", _device(port), *arguments]
    lines: list[str] = []
    with subprocess.Popen(
        die_with_parent(command),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        # It waits for a board that hangs for ever.
        timer = threading.Timer(MPREMOTE_SECONDS, process.kill)
        # A user who gives up while it starts is not held by it either.
        timer.daemon = True
        try:
            timer.start()
            assert process.stdout is not None
            for line in process.stdout:
                lines.append(line.rstrip())
                if heard is not None:
                    heard(lines[-1])
            status = process.wait()
        finally:
            # Also when the user gives up: it would hold the port, and the timer would hold this program.
            timer.cancel()
            process.kill()
    if status == -signal.SIGKILL:
        raise CommandFailed(f"the board does not answer mpremote within {MPREMOTE_SECONDS:.0f} s")
    if status != 0:
        raise CommandFailed(next((line for line in reversed(lines) if line), f"mpremote ended with status {status}"))
    return "\n".join(lines)
