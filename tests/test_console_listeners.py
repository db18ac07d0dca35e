"""The console is where its own computer finds it, whether or not there is the network that it is configured for."""

import socket
from pathlib import Path

import httpx
import pytest

from device.assembly import StartError
from device.console_listeners import listen_for_console
from tests.free_ports import free_port
from tests.terminal_rig import TerminalProcess, boxman

# For documentation alone (RFC 5737): no computer has it.
ELSEWHERE = "192.0.2.7"


def addresses(host: str, port: int = 0) -> list[tuple[str, int]]:
    listeners = listen_for_console(host, port)
    try:
        return [listener.getsockname() for listener in listeners]
    finally:
        for listener in listeners:
            listener.close()


def test_an_address_that_the_computer_does_not_have_yet_is_listened_at_besides_its_own(
    caplog: pytest.LogCaptureFixture,
) -> None:
    (own, port), (other, same_port) = addresses(ELSEWHERE)
    assert (own, other) == ("127.0.0.1", ELSEWHERE)
    assert port == same_port != 0
    assert f"this computer does not have {ELSEWHERE} yet; the console is at 127.0.0.1" in caplog.text


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_the_computer_s_own_address_is_listened_at_once(host: str, caplog: pytest.LogCaptureFixture) -> None:
    [(own, _)] = addresses(host)
    assert own == "127.0.0.1"
    assert not caplog.text


def test_a_name_that_nobody_knows_yet_leaves_the_computer_s_own_address(caplog: pytest.LogCaptureFixture) -> None:
    [(own, _)] = addresses("table-7.invalid")
    assert own == "127.0.0.1"
    assert "table-7.invalid is not known" in caplog.text
    assert "the console is at 127.0.0.1 alone until the next start" in caplog.text


def test_a_port_that_is_taken_is_said_and_nothing_is_kept() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(StartError, match=f"the console cannot listen on 127.0.0.1 port {port} "):
            listen_for_console(ELSEWHERE, port)
    assert len(addresses(ELSEWHERE, port)) == 2


def test_a_terminal_without_its_network_plays_and_its_own_computer_finds_it(tmp_path: Path) -> None:
    port = free_port()
    configuration = tmp_path / "table.toml"
    configuration.write_text(f'[console]\nhost = "{ELSEWHERE}"\nport = {port}\n')
    with TerminalProcess(tmp_path / "data", configuration=configuration, port=port) as table:
        table.do({"roll": [3, 4]})
        # Whoever comes by its address, once there is one, is known; by another name nobody is.
        for name, status in ((f"{ELSEWHERE}:{port}", 200), (f"192.0.2.8:{port}", 400)):
            assert httpx.get(f"{table.address}/api/state", headers={"Host": name}).status_code == status
        told = boxman("status", "--config", configuration)
        assert told.returncode == 0, told.stderr
