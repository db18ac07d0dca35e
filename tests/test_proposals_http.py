"""Bets that another program proposes over HTTP: who may, what a power cut leaves of them, and what is recorded."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.requests import Request

from device.console.proposal_access import NotAllowed, TokenError, check_access, read_token
from tests.free_ports import free_port
from tests.terminal_rig import TerminalProcess, boxman, lines_in

TOKEN = "t" * 40
BETS = [{"player": "1", "kind": "pass_line", "amount": 10}, {"player": "2", "kind": "field", "amount": 5}]


def token_file(folder: Path, content: str = TOKEN + "\n", mode: int = 0o600) -> Path:
    path = folder / "tray.token"
    path.write_text(content)
    path.chmod(mode)
    return path


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TerminalProcess]:
    """One table whose configuration names a token, which is beside it."""
    folder = tmp_path_factory.mktemp("proposals")
    token_file(folder)
    configuration = folder / "table.toml"
    configuration.write_text('[proposals]\ntoken_file = "tray.token"\n')
    with TerminalProcess(folder / "data", configuration=configuration) as process:
        yield process


def propose(table: TerminalProcess, name: str, *, token: str | None = TOKEN, **more: Any) -> httpx.Response:
    body = {"source": "tray", "id": name, "after_roll": table.state()["roll_number"], "bets": BETS} | more
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return table.client.post("/api/proposals", json=body, headers=headers)


def answer(table: TerminalProcess, way: str, name: str, command: str | None = None) -> httpx.Response:
    body = {"id": command or table.fresh_id(), "source": "tray", "proposal": name}
    return table.client.post(f"/api/proposals/{way}", json=body)


@pytest.mark.parametrize("token", [None, "", "x" * 40, TOKEN + "x", "\u00e9"])
def test_whoever_has_not_the_token_proposes_nothing(table: TerminalProcess, token: str | None) -> None:
    headers = {} if token is None else {b"Authorization": f"Bearer {token}".strip().encode()}
    body = {"source": "tray", "id": "no-token-1", "after_roll": 0, "bets": BETS}
    refused = table.client.post("/api/proposals", json=body, headers=headers)
    assert refused.status_code == 401
    assert TOKEN not in refused.text
    assert table.state()["proposals"] == []


def test_a_power_cut_loses_a_proposal_but_no_accepted_bet_and_books_nothing_twice(table: TerminalProcess) -> None:
    assert propose(table, "tray-00001").json() == {"source": "tray", "id": "tray-00001", "state": "waiting"}
    assert propose(table, "tray-00002").json()["state"] == "waiting"
    assert [one["proposal"] for one in table.state()["proposals"]] == ["tray-00001", "tray-00002"]
    assert not [line for line in lines_in(table.data) if "tray-0000" in line]
    done = answer(table, "accept", "tray-00001", "accept-0001")
    assert done.status_code == 200, done.text
    table.kill()
    table.start()
    # What waited is gone and was never booked; what was accepted is booked, and known to whoever asks again.
    assert table.state()["proposals"] == []
    assert [(bet["player"], bet["amount"]) for bet in table.state()["bets"]] == [("1", 10), ("2", 5)]
    again = answer(table, "accept", "tray-00001", "accept-0001")
    assert (again.status_code, again.json()["repeated"]) == (200, True)
    assert propose(table, "tray-00001").json()["state"] == "accepted"
    assert propose(table, "tray-00002").json()["state"] == "waiting"
    assert answer(table, "refuse", "tray-00002").status_code == 200
    recorded = [json.loads(line) for line in lines_in(table.data)]
    bets = [event["data"] for event in recorded if event["type"] == "bet"]
    assert [(bet["via"], bet["source"], bet["proposal"]) for bet in bets] == [("console", "tray", "tray-00001")] * 2
    assert TOKEN not in json.dumps(recorded)


def test_a_proposal_is_for_the_throw_that_its_source_knows_of(table: TerminalProcess) -> None:
    number = table.state()["roll_number"]
    assert propose(table, "tray-00003", after_roll=number + 1).json()["refused"] == "stale"
    assert propose(table, "tray-00003").json()["state"] == "waiting"
    table.do({"roll": [1, 1]})
    assert table.state()["proposals"] == []
    assert answer(table, "accept", "tray-00003").json()["refused"] == "proposal_gone"
    assert propose(table, "tray-00003", after_roll=number).json()["state"] == "expired"


@pytest.mark.parametrize(
    ("part", "field"),
    [
        ({"bets": []}, "bets"),
        ({"bets": [BETS[0]] * 21}, "bets"),
        ({"bets": [BETS[0], {"player": "1", "kind": "field", "amount": 0}]}, "bets[1].amount"),
        ({"bets": [7]}, "bets[0]"),
        ({"source": "a b"}, "source"),
        ({"source": ""}, "source"),
        ({"id": "short"}, "id"),
        ({"after_roll": -1}, "after_roll"),
        ({"more": 1}, "more"),
    ],
)
def test_a_malformed_proposal_is_told_by_its_field(table: TerminalProcess, part: dict[str, Any], field: str) -> None:
    refused = propose(table, "tray-00009", **part)
    assert (refused.status_code, refused.json()["field"]) == (400, field)


def from_host(host: str, authorization: str | None = None) -> Request:
    headers = [] if authorization is None else [(b"authorization", authorization.encode())]
    return Request({"type": "http", "method": "POST", "path": "/", "headers": headers, "client": (host, 1)})


def test_without_a_token_only_programs_of_this_machine_propose() -> None:
    for here in ("127.0.0.1", "127.1.2.3", "::1"):
        check_access(from_host(here), None)
    for elsewhere in ("10.0.0.7", "192.168.1.4", "fe80::1", "localhost.example"):
        with pytest.raises(NotAllowed, match="token"):
            check_access(from_host(elsewhere), None)
    check_access(from_host("10.0.0.7", f"Bearer {TOKEN}"), TOKEN)
    with pytest.raises(NotAllowed):
        check_access(from_host("127.0.0.1"), TOKEN)


@pytest.mark.parametrize(
    ("content", "mode", "told"),
    [
        (TOKEN, 0o640, "it should be 600"),
        (TOKEN, 0o604, "it should be 600"),
        ("short", 0o600, "one word of 32 characters"),
        ("two words" * 8, 0o600, "one word"),
        ("", 0o600, "one word"),
        ("\u00e9" * 40, 0o600, "one word"),
    ],
)
def test_a_token_that_is_no_secret_is_refused_with_its_file(tmp_path: Path, content: str, mode: int, told: str) -> None:
    path = token_file(tmp_path, content, mode)
    with pytest.raises(TokenError, match=told) as refused:
        read_token(path)
    assert str(path) in str(refused.value)
    assert TOKEN not in str(refused.value)


def test_a_terminal_does_not_start_without_the_token_that_it_is_to_ask_for(tmp_path: Path) -> None:
    configuration = tmp_path / "table.toml"
    configuration.write_text('[proposals]\ntoken_file = "none.token"\n')
    ended = boxman("run", "--config", configuration, "--data", tmp_path / "data", "--port", str(free_port()))
    assert ended.returncode != 0
    assert "none.token: cannot be read" in ended.stderr
