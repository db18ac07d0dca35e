"""Signing in at a terminal that runs: what is told, what is on the disk, and what only a supervisor's PIN opens."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from device.people_file import PEOPLE_FILE, Listed, changing, hashed
from tests.terminal_rig import TerminalProcess, client_at, lines_in, wait_for

MARTA, PIN = "Marta Gil", "2580"
BO, BO_PIN = "Bo Lin", "9731"


@pytest.fixture(scope="module")
def proofs() -> dict[str, str]:
    """A hash takes its time on purpose, so each PIN is hashed once."""
    return {pin: hashed(pin) for pin in (PIN, BO_PIN)}


def write_people(data: Path, *people: Listed) -> None:
    data.mkdir(exist_ok=True)
    with changing(data) as write:
        write(people)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, proofs: dict[str, str]) -> Iterator[TerminalProcess]:
    """A terminal with a supervisor and a boxman who have PINs."""
    folder = tmp_path_factory.mktemp("people")
    write_people(
        folder / "data",
        Listed(MARTA, "supervisor", 1, proofs[PIN]),
        Listed(BO, "boxman", 1, proofs[BO_PIN]),
        Listed("Eva", "supervisor"),
    )
    with TerminalProcess(folder / "data") as process:
        process.wait_for_state(lambda state: state["people"]["required"], "the people are known")
        yield process


class Person:
    """A browser's page on which somebody signs in."""

    def __init__(self, table: TerminalProcess) -> None:
        self._table = table
        self.client = client_at(table.address)

    def sign_in(self, name: str = MARTA, pin: str = PIN) -> httpx.Response:
        answer = self.client.post("/api/sign_in", json={"name": name, "pin": pin})
        if answer.status_code == 200:
            self.client.headers["X-Boxman-Page"] = answer.json()["page"]
        return answer

    def post(self, path: str, **body: Any) -> httpx.Response:
        return self.client.post(path, json={"id": self._table.fresh_id()} | body)

    def name(self) -> str | None:
        name: str | None = self.client.get("/api/people").json()["name"]
        return name


def events(table: TerminalProcess, *kinds: str) -> list[dict[str, Any]]:
    return [event for line in lines_in(table.data) if (event := json.loads(line))["type"] in kinds]


def test_the_people_and_their_roles_are_journaled_and_nothing_of_their_pins(running: TerminalProcess) -> None:
    (listed,) = events(running, "people_listed")
    assert listed["data"]["people"] == [
        {"name": MARTA, "role": "supervisor", "pins": 1},
        {"name": BO, "role": "boxman", "pins": 1},
        {"name": "Eva", "role": "supervisor", "pins": 0},
    ]
    shown = Person(running).client.get("/api/people").json()
    assert [person["name"] for person in shown["people"]] == [MARTA, BO], "who has no PIN cannot sign in"


def test_a_sign_in_holds_for_the_page_that_it_was_made_on_and_no_other(running: TerminalProcess) -> None:
    marta = Person(running)
    answer = marta.sign_in("MARTA GIL")
    assert answer.json()["name"] == MARTA
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie
    assert marta.name() == MARTA
    # The cookie alone, as another page of the same browser has it; and the page's word alone.
    other = Person(running)
    other.client.cookies = marta.client.cookies
    assert other.name() is None
    other.client.headers["X-Boxman-Page"] = "another"
    assert other.name() is None
    alone = Person(running)
    alone.client.headers["X-Boxman-Page"] = marta.client.headers["X-Boxman-Page"]
    assert alone.name() is None
    token = marta.client.cookies["boxman_sign_in"]
    journal = "\n".join(lines_in(running.data))
    for secret in (token, marta.client.headers["X-Boxman-Page"], f'"{PIN}"', "argon2"):
        assert secret not in journal
    # Signed in on another page, the first is signed out.
    assert other.sign_in().status_code == 200
    assert (marta.name(), other.name()) == (None, MARTA)
    assert events(running, "signed_out")[-1]["data"] == {"name": MARTA, "why": "elsewhere"}
    other.post("/api/sign_out")
    assert other.name() is None
    assert events(running, "signed_out")[-1]["data"] == {"name": MARTA, "why": "asked"}


def test_what_a_supervisor_does_needs_a_supervisors_pin(running: TerminalProcess) -> None:
    bo, marta, nobody = Person(running), Person(running), Person(running)
    assert bo.sign_in(BO, BO_PIN).status_code == 200
    assert marta.sign_in().status_code == 200
    correction = {"number": 1, "dice": [1, 2], "reason": "camera", "at": 1}
    for path, body in (
        ("/api/correction", correction),
        ("/api/adjustment", correction | {"adjustments": [{"player": "3", "amount": 5}]}),
        ("/api/limits", {"limits": {"min": 5, "max": 10}}),
    ):
        if "adjustments" in body:
            body = {name: said for name, said in body.items() if name != "dice"}
        for person in (nobody, bo):
            refused = person.post(path, **body)
            assert (refused.status_code, refused.json()["refused"]) == (409, "needs_sign_in"), path
    for path in ("/api/journal/search", "/api/journal/sessions", "/api/journal/shooters?opened=1"):
        assert nobody.client.get(path).json()["refused"] == "needs_sign_in", path
        assert bo.client.get(path).json().get("refused") != "needs_sign_in", path
    assert nobody.client.get("/api/rolls").json()["refused"] == "needs_sign_in"
    assert bo.client.get("/api/rolls").json()["refused"] == "needs_sign_in"
    # A boxman at work is named in what he does; nobody is where nobody has signed in.
    assert bo.post("/api/command", step={"shooter": "3"}).status_code == 200
    assert nobody.post("/api/command", step={"shooter": "4"}).status_code == 200
    assert [event["data"].get("person") for event in events(running, "shooter")] == [BO, None]
    assert marta.post("/api/limits", limits={"min": 10, "max": 500}).status_code == 200
    assert running.state()["table"]["limits"] == {"min": 10, "max": 500}
    (changed,) = events(running, "limits_changed")
    assert changed["data"]["was"] == {"min": 5, "max": 5000}
    assert changed["data"]["person"] == MARTA


def test_whoever_plays_on_does_not_keep_a_supervisor_signed_in(running: TerminalProcess) -> None:
    marta = Person(running)
    assert marta.sign_in().status_code == 200

    def left_s() -> int:
        left: int = marta.client.get("/api/people").json()["left_s"]
        return left

    wait_for(lambda: left_s() < 119, "some time has passed", 60)
    before = left_s()
    marta.post("/api/command", step={"shooter": "5"}).raise_for_status()
    for path, body in (("no_more_bets", {}), ("take_back", {"correcting": False}), ("dice", {"action": {}})):
        marta.post(f"/api/{path}", **body)
    marta.client.get("/api/rolls").raise_for_status()
    marta.client.get("/api/journal/search").raise_for_status()
    assert left_s() <= before
    assert marta.client.post("/api/still_here", json={}).json() == {"name": MARTA}


def test_a_search_for_what_no_search_knows_is_refused_with_what_it_knows(running: TerminalProcess) -> None:
    marta = Person(running)
    assert marta.sign_in().status_code == 200
    answer = marta.client.get("/api/journal/search?typ=roll")
    known = "type, since, until, roll, player, name, before, language"
    assert (answer.status_code, answer.json()) == (
        400,
        {"field": "typ", "message": f"is not known; the fields are {known}"},
    )
    asked = "type=shooter&since=2026&until=9999&player=5&before=9999&language=en"
    assert marta.client.get(f"/api/journal/search?{asked}").status_code == 200
    assert marta.client.get("/api/journal/search?roll=1&name=x").status_code == 200


def test_a_supervisor_who_is_only_named_explains_and_acknowledges_nothing(running: TerminalProcess) -> None:
    table = running
    table.hand(lid="open")
    table.wait_for_state(lambda state: state["reserve"]["open"], "the lid is open")
    table.hand(lid="closed")
    table.wait_for_state(lambda state: not state["reserve"]["open"], "the lid is shut")
    nobody, marta = Person(table), Person(table)
    explain = {"explain": {"reason": "inspector_request", "as": "supervisor", "done_by": MARTA}}
    refused = nobody.post("/api/dice", action=explain)
    assert refused.json() == {"refused": "needs_sign_in", "message": "a supervisor must sign in with a PIN to do this"}
    assert marta.sign_in().status_code == 200
    other = {"explain": explain["explain"] | {"done_by": "Eva"}}
    assert (
        marta.post("/api/dice", action=other).json()["message"] == f"{MARTA} is signed in; Eva must sign in to do this"
    )
    done = marta.post("/api/dice", action=explain)
    assert done.status_code == 200, done.text
    (explained,) = events(table, "reserve_explained")
    assert explained["data"]["person"] == MARTA


@contextmanager
def holding_still(table: TerminalProcess) -> Iterator[None]:
    """What is done meanwhile to its files, the terminal sees at once or not at all."""
    os.kill(table.pid, signal.SIGSTOP)
    try:
        status = Path(f"/proc/{table.pid}/stat")
        wait_for(lambda: status.read_text().rpartition(") ")[2].startswith("T"), "the terminal holds still")
        yield
    finally:
        os.kill(table.pid, signal.SIGCONT)


@pytest.mark.parametrize("damage", ["brackets", "folder", "pipe"])
def test_a_table_whose_list_of_people_is_damaged_plays_on(running: TerminalProcess, damage: str) -> None:
    path = running.data / PEOPLE_FILE
    kept = path.read_bytes()
    with holding_still(running):
        path.unlink()
        match damage:
            case "brackets":
                path.write_text("[" * 200_000)
                path.chmod(0o600)
            case "folder":
                path.mkdir()
            case "pipe":
                os.mkfifo(path, 0o600)
    person = Person(running)
    told = wait_for(lambda: person.client.get("/api/people").json()["fault"], "the list cannot be read", 60)
    assert told.startswith(f"{path}: is no ")
    assert person.sign_in().json() == {"refused": "no_people", "message": told}
    assert running.do({"shooter": "6"})
    assert running.state()["people"]["required"], "a list that cannot be read makes nobody a supervisor"
    with holding_still(running):
        path.rmdir() if path.is_dir() else path.unlink()
        path.write_bytes(kept)
        path.chmod(0o600)
    wait_for(lambda: person.client.get("/api/people").json()["fault"] is None, "the list is read again", 60)
    assert person.sign_in().status_code == 200


def test_wrong_pins_are_counted_across_a_cut_and_a_new_pin_ends_the_lock(
    tmp_path: Path, proofs: dict[str, str]
) -> None:
    data = tmp_path / "data"
    write_people(data, Listed(MARTA, "supervisor", 1, proofs[PIN]), Listed(BO, "supervisor", 1, proofs[BO_PIN]))
    with TerminalProcess(data) as table:
        table.wait_for_state(lambda state: state["people"]["required"], "the people are known")
        person = Person(table)
        assert person.sign_in(pin="1111").json()["message"] == "wrong PIN; 4 more tries"
        # Counted across a cut.
        table.kill()
        table.start()
        for left in ("3 more tries", "2 more tries", "1 more try", "nothing is tried for 60 seconds"):
            assert person.sign_in(pin="1111").json()["message"] == f"wrong PIN; {left}"
        tries = [(event["data"]["wrong"], event["data"]["locked_s"]) for event in events(table, "pin_wrong")]
        assert tries == [(1, 0), (2, 0), (3, 0), (4, 0), (5, 60)]
        table.wait_for_state(lambda state: "pin_locked" in str(state["alerts"]), "an alert tells of the lock")
        assert Person(table).sign_in(BO, BO_PIN).status_code == 200, "others are not locked out"
        # A new PIN ends it, at once.
        write_people(data, Listed(MARTA, "supervisor", 2, proofs[BO_PIN]))
        assert person.sign_in(pin=BO_PIN).status_code == 200
        # Removed, they are signed out within a second.
        (data / PEOPLE_FILE).unlink()
        wait_for(lambda: person.name() is None, "who was removed is signed out", 60)
        wait_for(lambda: not table.state()["people"]["required"], "nobody is asked for a PIN any more", 60)
        wait_for(lambda: MARTA not in table.state()["people"]["signed_in"], "the journal says so", 60)
        assert {"name": MARTA, "why": "removed"} in [event["data"] for event in events(table, "signed_out")]
