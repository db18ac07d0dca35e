"""`boxman node`: through the real mpremote, on a stand-in for a Pico that a real MicroPython plays."""

import contextlib
import os
import pty
import signal
import subprocess
import sys
import threading
import time
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest

import drivers
from drivers import node_codec as codec
from drivers.node_port import NodePortMissing, close_port, open_port
from drivers.wiring import Wiring
from provisioning import node_commands, node_install
from provisioning.command_failed import CommandFailed
from provisioning.command_line import main
from provisioning.node_inquiry import NodeInquiry
from provisioning.node_install import install, node_configuration
from tests.node_rig import until
from tests.pico_rig import Pico

PACKAGE = Path(drivers.__file__).parent
# Six dice keys on 2 to 7 that settle in 20 ms; the lamps of BUY, LAY and the dice keys on 8, 9 and 10 to 15.
DEFAULT = bytes((6, 2, 20, 3, 20, 4, 20, 5, 20, 6, 20, 7, 20, 8, 9, 10, 11, 12, 13, 14, 15))
DEFAULT_CRC = f"{codec.crc16(DEFAULT):04x}"
OTHER = bytes((1, 5, 50, 20))
FILES = {
    "main.py": "node_firmware/main.py",
    "drivers/debounce.py": "debounce.py",
    "drivers/node_codec.py": "node_codec.py",
    "drivers/node_firmware/board.py": "node_firmware/board.py",
    "drivers/node_firmware/board_pico.py": "node_firmware/board_pico.py",
    "drivers/node_firmware/node.py": "node_firmware/node.py",
}
KILLED = -9


@pytest.fixture(scope="module", autouse=True)
def patience() -> Iterator[None]:
    """A board that a busy machine starts or copies to slowly is none that hangs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(node_install, "RESTART_SECONDS", 180.0)
        patch.setattr(node_install, "MPREMOTE_SECONDS", 300.0)
        yield


@contextlib.contextmanager
def expecting_an_answer() -> Iterator[None]:
    """There is a node that answers, however late; others are asked for no longer than the command does."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (node_install, node_commands):
            patch.setattr(module, "ANSWER_SECONDS", 60.0)
        yield


@pytest.fixture
def pico(tmp_path: Path) -> Iterator[Pico]:
    pico = Pico(tmp_path)
    yield pico
    pico.close()


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pico]:
    """A board with everything on it; what a test does to it, it undoes."""
    pico = Pico(tmp_path_factory.mktemp("node"))
    install(str(pico.port), DEFAULT, lambda _done, _whole: None)
    yield pico
    pico.close()


@pytest.fixture
def device() -> Iterator[tuple[int, str]]:
    """A serial device in the test's own hand."""
    near, far = pty.openpty()
    tty.setraw(far)
    yield near, os.ttyname(far)
    os.close(near)
    os.close(far)


def installed(configuration: bytes) -> dict[str, bytes]:
    files = {path: (PACKAGE / source).read_bytes() for path, source in FILES.items()}
    sealed = configuration + codec.crc16(configuration).to_bytes(2, "big")
    return {**files, "node_configuration": sealed}


def error_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line that a command fails with."""
    assert main(["node", *arguments]) == 1
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1
    return captured.err.removeprefix("boxman: ").rstrip("\n")


def status(pico: Pico, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    with expecting_an_answer():
        assert main(["node", "status", "--port", str(pico.port)]) == 0
    return {line[:17].strip(): line[17:] for line in capsys.readouterr().out.splitlines()}


def test_the_configuration_is_that_of_the_tables_wiring() -> None:
    assert node_configuration(Wiring()) == DEFAULT


def test_a_fresh_pico_becomes_a_node_and_one_that_runs_becomes_another(
    pico: Pico, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["node", "install", "--port", str(pico.port)]) == 0
    said = capsys.readouterr()
    device = os.path.realpath(pico.port)
    assert said.out == (
        f"The node at {device} runs firmware 2.0 with configuration {DEFAULT_CRC} (inputs: 6, lamps: 8).\n"
    )
    assert pico.files() == installed(DEFAULT)
    boot = status(pico, capsys)["boot"]
    table = tmp_path / "table.toml"
    table.write_text(f'[hardware]\nnode = "{pico.port}"\n[wiring]\nlid = "node:20"\nlamp_buy = "node:21"\n')
    with expecting_an_answer():
        assert main(["node", "install", "--config", str(table)]) == 0
    # The lid, with its 50 ms, and the lamp.
    other = bytes((1, 20, 50, 21))
    assert pico.files() == installed(other)
    assert f"configuration {codec.crc16(other):04x} (inputs: 1, lamps: 1)." in capsys.readouterr().out
    assert status(pico, capsys)["boot"] != boot
    assert KILLED not in pico.statuses, "the watchdog is not in the way"


def test_a_node_on_the_stand_in_samples_with_nobody_listening_and_status_takes_nothing(
    node: Pico, capsys: pytest.CaptureFixture[str]
) -> None:
    pins = node.flash.parent / "pins_in"
    before = status(node, capsys)
    assert before["firmware"] == "2.0" and before["configuration"] == DEFAULT_CRC
    assert (before["changes dropped"], before["frames lost"]) == ("0", "0")
    start = int(before["reports waiting"])
    for n, pressed in enumerate((True, False, True, False)):
        pins.write_bytes(b"0" * 4 + (b"1" if pressed else b"0") + b"0" * 25)

        def waits(count: int = start + n + 1) -> bool:
            return status(node, capsys)["reports waiting"] == str(count)

        until(waits, "the report")
    until(lambda: int(status(node, capsys)["running for"].split()[0]) >= 4, "more time than the watchdog has")
    assert status(node, capsys)["boot"] == before["boot"]


def test_a_power_cut_in_the_middle_leaves_a_board_that_can_be_installed_again(node: Pico) -> None:
    def cut(done: int, whole: int) -> None:
        # The first of nine steps is getting in, the second a file; mpremote is at the next one.
        if (done, whole) == (2, 9):
            assert "main.py" not in node.files()
            node.cut_power()

    def was_cut() -> bool:
        try:
            with expecting_an_answer():
                install(str(node.port), OTHER, cut)
        except CommandFailed:
            return True
        # On a busy machine the power may go when mpremote has done already what it was told.
        return False

    until(was_cut, "a cut in the middle")
    assert "main.py" not in node.files()
    done: list[tuple[int, int]] = []
    install(str(node.port), DEFAULT, lambda *so_far: done.append(so_far))
    assert node.files() == installed(DEFAULT)
    assert done == [(n, 9) for n in range(1, 10)]


def test_what_does_not_arrive_whole_is_said_and_is_no_node(node: Pico, monkeypatch: pytest.MonkeyPatch) -> None:
    real = node_install._mpremote

    def damaging(port: str, *arguments: str, heard: object = None) -> str:
        for n, argument in enumerate(arguments):
            if argument == ":drivers/node_firmware/node.py" and arguments[n - 2] == "cp":
                file = Path(arguments[n - 1])
                file.write_bytes(file.read_bytes()[:-1])
        return real(port, *arguments, heard=heard)  # type: ignore[arg-type]

    monkeypatch.setattr(node_install, "_mpremote", damaging)
    with pytest.raises(CommandFailed) as caught, expecting_an_answer():
        install(str(node.port), DEFAULT, lambda _done, _whole: None)
    assert str(caught.value) == (
        f"drivers/node_firmware/node.py did not reach {node.port} whole; run the command again"
    )
    assert "main.py" not in node.files()
    monkeypatch.undo()
    install(str(node.port), DEFAULT, lambda _done, _whole: None)
    assert node.files() == installed(DEFAULT)


def test_at_the_prompt_no_watchdog_runs_and_the_next_start_is_the_nodes(node: Pico) -> None:
    with NodeInquiry(str(node.port)) as inquiry:
        identity = inquiry.identity(60)
        assert identity is not None
        known = len(node.statuses)
        inquiry.send_to_prompt(identity.boot_id)
        # Who closes the port takes back what the node has not read.
        until(lambda: "node_install" not in node.files() and len(node.statuses) > known, "the restart")
    command = [sys.executable, "-m", "mpremote", "connect", os.path.realpath(node.port), "resume", "exec"]
    sleeping = "import time; time.sleep(3.5); print('awake')"
    done = subprocess.run([*command, sleeping], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "awake\n", "longer than the watchdog waits"
    node.cut_power()

    def answers() -> bool:
        try:
            with NodeInquiry(str(node.port)) as inquiry:
                return inquiry.identity(0.5) is not None
        except NodePortMissing:
            return False

    until(answers, "the node")


def test_a_program_that_fails_is_started_again_by_the_watchdog(node: Pico, capsys: pytest.CaptureFixture[str]) -> None:
    boot = status(node, capsys)["boot"]
    known = len(node.statuses)
    pins = node.flash.parent / "pins_in"
    pins.rename(pins.with_name("elsewhere"))
    until(lambda: len(node.statuses) > known, "the watchdog")
    assert node.statuses[known] == KILLED
    pins.with_name("elsewhere").rename(pins)
    until(lambda: main(["node", "status", "--port", str(node.port)]) == 0, "the restart")
    capsys.readouterr()
    assert status(node, capsys)["boot"] != boot


def test_a_program_that_fails_again_and_again_under_its_watchdog_is_replaced(pico: Pico) -> None:
    (pico.flash / "main.py").write_text("import machine\nmachine.WDT(timeout=3000)\n1 / 0\n")
    known = len(pico.statuses)
    pico.cut_power()
    until(lambda: len(pico.statuses) > known and pico.port.exists(), "the restart")

    def replaced() -> bool:
        try:
            install(str(pico.port), DEFAULT, lambda _done, _whole: None)
        except CommandFailed:
            # The watchdog bit while mpremote was at it, for which three seconds are short: the command is run again.
            return False
        return True

    until(replaced, "the installation")
    assert pico.files() == installed(DEFAULT)


def test_a_board_of_another_kind_is_refused_and_stays_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pico = Pico(tmp_path, platform="esp32")
    (pico.flash / "data.txt").write_text("precious")
    try:
        assert error_of(capsys, "install", "--port", str(pico.port)) == (
            f"{pico.port} is a board with micropython for esp32; the node's firmware needs a Pico (rp2)"
        )
        assert pico.files() == {"data.txt": b"precious"}
    finally:
        pico.close()


def test_a_device_that_is_no_board_is_refused(
    device: tuple[int, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_install, "MPREMOTE_SECONDS", 1.0)
    monkeypatch.setattr(node_install, "RESTART_SECONDS", 0.0)
    assert error_of(capsys, "install", "--port", device[1]) == (
        f"{device[1]} is no board at MicroPython's prompt: the board does not answer mpremote within 1 s"
    )


def running_on(device: str) -> list[int]:
    """The processes that run mpremote on a device."""
    found = []
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes().split(b"\0") if process.name.isdecimal() else []
            if b"mpremote" in words and device.encode() in words:
                found.append(int(process.name))
    return found


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGTERM, 128 + 15), (signal.SIGINT, 130), (signal.SIGKILL, KILLED)]
)
def test_an_installation_that_is_told_to_end_does_so_at_once_and_leaves_nothing_behind(
    device: tuple[int, str], number: signal.Signals, status: int
) -> None:
    command = [sys.executable, "-c", "import sys; from provisioning.command_line import main; sys.exit(main())"]
    with subprocess.Popen(
        [*command, "node", "install", "--port", device[1]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        try:
            until(lambda: running_on(device[1]) != [], "mpremote")
            process.send_signal(number)
            assert process.wait(60) == status
            until(lambda: running_on(device[1]) == [], "the end of mpremote")
            assert process.stdout is not None and process.stdout.read() == b""
        finally:
            process.kill()


def test_a_port_that_is_not_there_or_in_use_or_not_named_is_said(
    device: tuple[int, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert f"the I/O node's port {tmp_path}/none cannot be opened" in error_of(
        capsys, "install", "--port", f"{tmp_path}/none"
    )
    assert "no USB serial device with the number 0123 is plugged in" in error_of(capsys, "status", "--port", "usb:0123")
    for port in ("", "usb:"):
        for action in ("install", "status"):
            assert error_of(capsys, action, "--port", port) == (
                "--port must be usb: and the node's USB serial number, or the path of a serial port, "
                "such as /dev/ttyACM0"
            )
    assert r"number \x1b[2J\n is plugged in" in error_of(capsys, "status", "--port", "usb:\x1b[2J\n")
    held = open_port(device[1])
    for action in ("install", "status"):
        assert error_of(capsys, action, "--port", device[1]) == (
            f"the I/O node at {device[1]} is in use by another program; stop that program, or name another port"
        )
    close_port(held)
    assert error_of(capsys, "install").startswith("say which port with --port or as hardware.node; plugged in by USB: ")
    assert error_of(capsys, "status", "--config", f"{tmp_path}/none.toml").endswith(
        "none.toml: cannot be read (No such file or directory)"
    )


def test_a_silent_device_has_no_status(device: tuple[int, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert error_of(capsys, "status", "--port", device[1]) == (
        f"nothing at {device[1]} answers as an I/O node; boxman node install puts one there"
    )


def test_an_older_firmware_is_named_with_the_way_out(
    device: tuple[int, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Protocol 1 knows no way to the prompt."""
    near, port = device
    over = threading.Event()

    def answer() -> None:
        hello = codec.encode(1, codec.HELLO, bytes((1, 1, 0)) + bytes(14))
        os.set_blocking(near, False)
        while not over.is_set():
            try:
                if codec.Decoder().feed(os.read(near, 4096)):
                    os.write(near, hello)
            except BlockingIOError:
                time.sleep(0.01)

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        with expecting_an_answer():
            told = error_of(capsys, "install", "--port", port), error_of(capsys, "status", "--port", port)
        assert told[0] == (
            f"the firmware 1.0 on {port} cannot be replaced by this command; hold BOOTSEL while plugging the Pico in, "
            "erase its flash, and put MicroPython on it again"
        )
        assert told[1] == (f"the firmware 1.0 of the node at {port} speaks protocol 1, not 2; install it again")
    finally:
        over.set()
        thread.join()


def test_a_node_that_does_not_say_what_was_installed_is_no_success(node: Pico) -> None:
    with pytest.raises(CommandFailed) as caught:
        node_install._wait_for_node(str(node.port), OTHER)
    assert str(caught.value) == (
        f"the node at {node.port} answers with firmware 2.0 and configuration {DEFAULT_CRC} instead of 2.0 and "
        f"{codec.crc16(OTHER):04x}; run the command again"
    )
