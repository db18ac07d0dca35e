"""Commissioning on the console's page: who begins it, what takes the terminal's place, and how the table returns."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from device.journal import JournalReader
from device.journal_verification import verify
from device.people_file import Listed, changing, hashed
from device.table_key import is_signed_by
from tests.commissioning_rig import SMALL, message_of, press_as_asked
from tests.terminal_rig import TerminalProcess, boxman, lines_in, wait_for

ANA, BO, PIN = "Ana Ruiz", "Bo Lin", "2580"
STEPS = ["on", "off", "lamp_on", "lid", "node", "network", "power"]


class Page:
    """What a page of the commissioning asks and says."""

    def __init__(self, table: TerminalProcess) -> None:
        self.table = table
        self.client = table.client
        self.headers: dict[str, str] = {}

    def look(self) -> dict[str, Any]:
        """What the page shows now."""
        answer = self.client.get("/api/commissioning", headers=self.headers)
        assert answer.status_code == 200, answer.text
        view: dict[str, Any] = answer.json()
        return view

    def post(self, **body: Any) -> httpx.Response:
        """Ask for something."""
        return self.client.post("/api/commissioning", json=body, headers=self.headers)

    def do(self, deed: str, **more: Any) -> bool:
        """Do what the technician says; whether it was still meant."""
        answer = self.post(do=deed, **more)
        assert answer.status_code == 200, answer.text
        done: bool = answer.json()["done"]
        return done

    def sign_in(self, name: str) -> None:
        """Sign in with the PIN."""
        answer = self.client.post("/api/sign_in", json={"name": name, "pin": PIN})
        assert answer.status_code == 200, answer.text
        self.headers = {"X-Boxman-Page": answer.json()["page"]}

    def mode(self, mode: str) -> None:
        """Wait until the terminal plays, or the table is commissioned."""

        def is_so() -> bool:
            try:
                return bool(self.look()["mode"] == mode)
            except httpx.TransportError:
                return False

        wait_for(is_so, f"mode {mode}")

    def step(self, name: str | None, wanted: str | None = None) -> None:
        """Wait until this step is asked for; None: all are done."""

        def is_asked() -> bool:
            now = self.look()["now"]
            return bool((now and now["step"]) == name and (wanted is None or now["wanted"] == wanted))

        wait_for(is_asked, f"step {name} {wanted or ''}")

    def close_table(self) -> None:
        """Close the table."""
        assert self.client.post("/api/close", json={"id": self.table.fresh_id()}).status_code == 200

    def begin(self, **more: Any) -> None:
        """Close the table, and begin."""
        if self.look()["open"]:
            self.close_table()
        answer = self.post(table="craps-1", **more)
        assert answer.status_code == 200, answer.text
        self.mode("commissioning")


def configured(folder: Path, more: str = "") -> TerminalProcess:
    configuration = folder / "table.toml"
    configuration.write_text(SMALL + more)
    return TerminalProcess(folder / "data", configuration=configuration)


@pytest.fixture
def table(tmp_path: Path) -> Iterator[TerminalProcess]:
    with configured(tmp_path) as process:
        yield process


def kinds(table: TerminalProcess) -> list[str]:
    return [json.loads(line)["type"] for line in lines_in(table.data)]


def test_a_table_is_tried_on_the_page_across_a_kill_and_a_cut_and_plays_again(table: TerminalProcess) -> None:
    page = Page(table)
    assert page.look()["may"] is True and page.look()["reports"] == []
    page.begin(name=ANA)
    played = kinds(table)
    assert played[-2:] == ["stopped", "checkpoint"]
    view = page.look()
    assert (view["by"], [step["name"] for step in view["steps"]]) == (ANA, STEPS)
    assert view["steps"][0]["text"] == "ON button" and view["steps"][0]["pin"] == "gpio:5"

    # What is asked of the terminal leads to the page, with the name of the screen that asks.
    for path in ("/?screen=table", "/supervisor", "/api/state"):
        moved = table.client.get(path)
        assert (moved.status_code, moved.headers["location"].partition("?")[0]) == (303, "/commission")
    assert table.client.get("/?screen=table").headers["location"] == "/commission?screen=table"
    painted = {"screen": "table"}
    assert table.client.post("/api/painted", json=painted).status_code == 200
    assert table.client.get("/api/painted?screen=table").json()["ago_s"] is not None

    press_as_asked(table, "on")
    page.step("off", "closed")
    assert page.look()["last"] == "on" and page.look()["steps"][0]["verdict"] == "passed"
    # A touch that was meant for the step before does nothing.
    assert page.do("skip", step="on", why="late") is False
    assert page.look()["steps"][1]["verdict"] is None
    assert page.do("fail", step="off", why="does not answer") is True
    page.step("lamp_on", "lit")
    wait_for(lambda: table.client.get("/api/virtual").json()["lamps"]["on"], "the lamp is lit")
    assert page.do("yes", step="lamp_on") is True
    wait_for(lambda: not table.client.get("/api/virtual").json()["lamps"]["on"], "the lamp is dark")
    table.kill()
    table.start()
    # It goes on there, by itself.
    page.mode("commissioning")
    page.step("lid", "open")
    table.hand(lid="open")
    page.step("lid", "closed")
    table.hand(lid="closed")
    page.step("node")
    assert page.do("end", why="out of hours") is True
    page.step(None)
    assert page.do("back") is True
    page.step("power", "restart")
    # The machine's next start.
    progress = table.data / "commissioning" / "progress.json"
    wait_for(lambda: json.loads(progress.read_text())["cut_boot"], "the run of the machine is kept")
    table.kill()
    progress.write_text(progress.read_text().replace('"cut_boot": "', '"cut_boot": "before '))
    table.start()
    page.step(None)
    assert page.do("again", step="off") is True
    page.step("off")
    assert page.do("finish") is False
    press_as_asked(table, "off")
    page.step(None)
    verdicts = {step["name"]: step["verdict"] for step in page.look()["steps"]}
    assert verdicts == dict.fromkeys(STEPS, "passed") | {"node": "skipped", "network": "skipped"}
    assert page.do("finish") is True
    finished = page.look()["finished"]

    # Nothing of it was play.
    assert kinds(table) == [*played, "commissioned", "checkpoint"]
    [event] = [json.loads(line) for line in lines_in(table.data) if '"type":"commissioned"' in line]
    assert event["seq"] == finished["seq"] == len(played) + 1
    said = event["data"]
    assert said["key"] == finished["key"] and is_signed_by(said["key"], message_of(said), said["signature"])
    assert said["commissioning"]["by"] == [ANA]
    printed = table.client.get(f"/commission/report/{finished['report']}")
    assert printed.status_code == 200 and said["signature"] in printed.text
    assert "default-src 'none'" in printed.headers["content-security-policy"]

    assert page.do("leave") is True
    page.mode("terminal")
    assert page.look()["reports"] == [finished["report"]] and page.look()["begun"] is None
    kept = table.client.get(f"/commission/report/{finished['report']}".replace(".html", ".json"))
    assert kept.json() == said
    assert table.client.get("/commission/report/table.key").status_code == 404
    assert table.client.get("/commission/report/..%2Ftable.key").status_code == 404
    assert kinds(table)[len(played) + 2] == "started"
    assert table.terminate() == 0
    with JournalReader(table.data / "journal.db") as reader:
        assert verify(reader, lambda _done, _of: None).is_good


def test_left_it_goes_on_later_and_a_signal_ends_it_in_good_order(table: TerminalProcess) -> None:
    page = Page(table)
    progress = table.data / "commissioning" / "progress.json"
    page.begin(name=ANA)
    page.step("on")
    assert page.do("skip", step="on", why="no time") is True
    (table.data.parent / "asked.toml").write_text(f"[console]\nport = {table.port}\n")
    status = boxman("status", "--config", table.data.parent / "asked.toml")
    said = f"boxman: the table at http://127.0.0.1:{table.port} is being commissioned; finish that first, or leave it,"
    assert (status.returncode, status.stderr) == (1, f"{said} on its own page\n")
    assert page.do("leave") is True
    page.mode("terminal")
    begun = page.look()["begun"]
    assert (begun["done"], begun["same_configuration"]) == (1, True)
    page.begin(name=BO)
    assert (page.look()["by"], page.look()["now"]["step"]) == (BO, "off")
    # What cannot be kept is told, but nobody has to stay for that.
    (progress.parent / "progress.json.new").mkdir()
    refused = page.post(do="skip", step="off", why="no time")
    assert (refused.status_code, refused.json()["refused"]) == (409, "not_kept")
    assert page.do("leave") is True
    page.mode("terminal")
    (progress.parent / "progress.json.new").rmdir()
    page.begin(name=BO)
    assert table.terminate() == 0
    # Under another configuration it waits for somebody who begins anew; the table plays.
    configuration = table.data.parent / "table.toml"
    configuration.write_text(SMALL.replace("gpio:14", "gpio:15"))
    table.start()
    begun = page.look()["begun"]
    assert (begun["done"], begun["same_configuration"]) == (1, False)
    page.begin(name=BO)
    assert page.look()["now"]["step"] == "on"
    # One that fails before anyone has seen its page keeps no table from its players: the next start is the terminal's.
    wait_for(lambda: json.loads(progress.read_text())["on_page_by"] == BO, "it is kept that it goes on on the page")
    table.kill()
    table.start()
    assert table.client.get("/api/state").status_code == 303
    table.kill()
    table.start()
    assert page.look()["mode"] == "terminal"
    # Nor does what cannot be read.
    table.kill()
    progress.write_text("{")
    table.start()
    assert "remove it" in page.look()["fault"]
    refused = page.post(table="craps-1", name=BO)
    assert (refused.status_code, refused.json()["refused"]) == (409, "not_kept")


def test_it_is_begun_by_who_may_at_the_table_that_is_meant_while_it_is_closed(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    proof = hashed(PIN)
    listed = (
        Listed(ANA, "technician", 1, proof),
        Listed(BO, "boxman", 1, proof),
        Listed("Eva", "supervisor", 1, proof),
    )
    with changing(data) as write:
        write(listed)
    with configured(tmp_path) as table:
        page = Page(table)

        def refusal(**body: Any) -> str:
            answer = page.post(**body)
            assert answer.status_code in (400, 409), answer.text
            return str(answer.json().get("refused", answer.json().get("field")))

        assert refusal(table="craps-1", name=ANA) == "needs_sign_in"
        page.sign_in(BO)
        assert page.look()["may"] is False
        assert refusal(table="craps-1") == "needs_sign_in"
        page.sign_in(ANA)
        assert (page.look()["may"], page.look()["name"]) == (True, ANA)
        assert refusal(table="craps-1") == "table_open"
        page.close_table()
        assert refusal(table="craps-2") == "other_table"
        assert refusal() == refusal(table="a\nb", name=ANA) == "table"
        assert refusal(table="craps-1", by=ANA) == "by"
        assert refusal(table="craps-1", name="7") == "name"
        assert table.state()["open"] is False
        page.begin()
        assert page.look()["by"] == ANA
        for body in ({"do": "no such"}, {"do": "skip", "step": "on"}, {"do": "end", "why": ""}, {"do": "back", "x": 1}):
            assert page.post(**body).status_code == 400, body
        assert page.look()["last"] is None
        # Whoever did not sign in looks on, and may have the table back; the report bears another's name.
        page.client.cookies.clear()
        for body in ({"do": "skip", "step": "on", "why": "late"}, {"do": "end", "why": "late"}, {"do": "finish"}):
            assert refusal(**body) == "needs_sign_in"
        assert page.look()["last"] is None
        assert page.do("leave") is True
        page.mode("terminal")
