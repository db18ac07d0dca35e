"""Takes the README's pictures of a hand in play: `python -m tests.screenshots`, from the root of the repository."""

import random
import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, expect

from tests.archive_rig import CONSOLE
from tests.browser_rig import browser, touch_page
from tests.pit_rig import Pit, SlowHistory, Tables, central_server
from tests.terminal_rig import TerminalProcess, boxman, wait_for

PICTURES = Path(__file__).parent.parent / "provisioning" / "pictures"
SCALE = 2
# Player, bet, amount and number: what goes down before each roll, and the roll.
COME_OUT = [("3", "pass_line", 25, None), ("5", "pass_line", 10, None), ("12", "dont_pass", 50, None)]
ON_THE_POINT = [
    ("3", "pass_odds", 50, 6),
    ("12", "dont_pass_odds", 60, 6),
    ("5", "come", 15, None),
    ("2", "place", 30, 8),
    ("7", "place", 12, 8),
    ("7", "place", 15, 5),
    ("9", "buy", 100, 4),
    ("9", "hardway", 5, 8),
    ("14", "field", 10, None),
    ("14", "any_craps", 2, None),
]

# The pit's floor: how many tables each casino has, which are in alarm, which is seen to, and which is not heard.
SITES = {"casino-1": 8, "casino-2": 6}
ALERTS = {
    2: ("reserve_left_open", "The dice reserve has been open for a minute. Close it, or say why it is open."),
    6: ("puck_differs", "The puck is on 8, but the point is 6. Move the puck."),
}
SEEN, SILENT = 6, 9


def play(table: TerminalProcess) -> None:
    """A come-out that makes 6 the point, then an 8 that collects, pays and moves a come bet."""
    assert table.open_table("us-vegas", limits={"min": 1, "max": 5000}).status_code == 200
    for bets, dice in ((COME_OUT, [2, 4]), (ON_THE_POINT, [3, 5])):
        for player, kind, amount, number in bets:
            table.do({"bet": {"player": player, "kind": kind, "amount": amount, "number": number}})
        table.do({"shooter": "3"})
        table.do({"roll": dice})
        table.hand(puck={"position": 6, "face": "on"})
    for button in ("box_4", "buy"):
        table.hand(press=button)
    table.wait_for_state(
        lambda state: (
            state["puck"]["agrees"]
            and state["node"]["state"] == "online"
            and (state["uplink"]["state"], state["uplink"]["undelivered"]) == ("online", 0)
        ),
        "the puck is on 6 and everything is delivered",
    )


def floor() -> list[SlowHistory]:
    """A floor of two casinos: tables in play with the dice that they use, two with alerts, some closed."""
    chance = random.Random(7)
    tables = [
        SlowHistory(f"craps-{number}", site=site) for site, last in SITES.items() for number in range(1, last + 1)
    ]
    for number, table in enumerate(tables):
        if number % 6 == 5:
            continue
        table.open(minimum=5 * (1 + number % 3))
        table.dice("on_duty", boxman="Ana", witness="Luis")
        table.dice("receive", set=f"A-{number + 11}", dice=5, maker="Bold", colour="red")
        table.dice("place", set=f"A-{number + 11}")
        table.dice("change", set=f"A-{number + 11}", taken=["1", "2"])
        shooter = str(chance.randint(1, 14))
        for _ in range(30):
            if table.session.point is None:
                table.do({"bet": {"player": shooter, "kind": "pass_line", "amount": 15}})
                table.do({"shooter": shooter})
            table.do({"roll": [chance.randint(1, 6), chance.randint(1, 6)]})
        for alert, known in list(table.session.alerts.items()):
            table.add(table.session.acknowledge_alert(alert, known["seq"], "Eva Ruiz", CONSOLE))
    for number, (alert, text) in ALERTS.items():
        tables[number].add(tables[number].session.raise_alert(alert, text, {}, latched=False))
    return tables


def take_pit_picture(chromium: Browser, folder: Path) -> None:
    """The pit's page, with a table that was not heard for a minute and an alert that was seen."""
    tables = floor()
    with central_server(folder / "nats") as server:
        sender = Tables(server.url, folder / "archive.db")
        sender.archived(*tables)
        pit = Pit(folder, server.url)
        pit.start()
        wait_for(lambda: pit.answers() and not pit.told()["warnings"], "the page's sources have answered")
        sender.present(*tables)
        pit.shows(tables[SILENT], live=True)
        pit.clock.ahead_s += 60
        sender.present(*(table for number, table in enumerate(tables) if number != SILENT))
        pit.shows(tables[SILENT], state="silent")
        with touch_page(chromium, scale=SCALE) as page:
            page.set_viewport_size({"width": 1280, "height": 720})
            page.goto(pit.address)
            page.get_by_test_id(f"table-casino-1/{tables[SEEN].table}").click()
            page.get_by_test_id("see-puck_differs").click()
            page.get_by_test_id("see-name").fill("Marta Gil")
            page.get_by_test_id("see-done").click()
            expect(page.get_by_test_id("alert-puck_differs")).to_contain_text("Marta Gil")
            page.get_by_test_id("detail-close").click()
            sender.present(*(table for number, table in enumerate(tables) if number != SILENT))
            pit.shows(tables[SEEN], state="seen")
            page.screenshot(path=PICTURES / "pit.png")
        sender.close()
        pit.close()


def commission_until(table: TerminalProcess, last: str) -> None:
    """Close the table, and try its pucks and buttons up to this step, which is asked for then."""

    def now() -> dict[str, Any]:
        # While the terminal hands the table over, who asks may hear nothing.
        with suppress(httpx.TransportError):
            return dict(table.client.get("/api/commissioning").json().get("now") or {"step": None})
        return {"step": None}

    assert table.client.post("/api/close", json={"id": table.fresh_id()}).status_code == 200
    begun = {"table": table.state()["table"]["table"], "name": "Ana Ruiz"}
    assert table.client.post("/api/commissioning", json=begun).status_code == 200
    while (asked := wait_for(lambda: now()["step"] and now(), "a step is asked for"))["step"] != last:
        step, place = asked["step"], asked["place"]
        if asked["kind"] == "press":
            table.hand(press=step)
        else:
            position = place if place == "off" else int(place)
            table.hand(puck={"position": position, "face": asked["face"].lower()})
        if asked["asked"]:
            table.client.post("/api/commissioning", json={"do": "yes", "step": step})
        passed = partial(lambda before: now()["step"] != before, step)
        wait_for(passed, f"{step} has passed")


def main() -> None:
    """Play the hand and take the pictures."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, TerminalProcess(Path(folder) / "data") as table:
        play(table)
        with browser() as chromium:
            with touch_page(chromium, scale=SCALE) as page:
                page.goto(table.address)
                expect(page.get_by_test_id("pay-list")).to_contain_text("Come")
                expect(page.get_by_test_id("puck-message")).to_have_text("Puck in place")
                page.screenshot(path=PICTURES / "console.png")
                page.get_by_test_id("last-roll").tap()
                expect(page.get_by_test_id("felt-pass_line")).to_be_visible()
                page.screenshot(path=PICTURES / "layout.png")
            with touch_page(chromium, scale=SCALE) as page:
                page.goto(f"{table.address}/virtual")
                expect(page.get_by_test_id("virtual-puck-6")).to_have_attribute("data-puck", "on")
                expect(page.get_by_test_id("virtual-point")).to_have_text("6")
                page.screenshot(path=PICTURES / "virtual_table.png")
            drawing = Path(folder) / "wiring.svg"
            assert boxman("wiring", "-o", drawing).returncode == 0
            with touch_page(chromium, scale=SCALE) as page:
                page.goto(drawing.as_uri())
                page.screenshot(path=PICTURES / "wiring.png")
            # Not the table above, on which bets lie: only one at rest can be closed.
            with (
                TerminalProcess(Path(folder) / "commissioned") as other,
                touch_page(chromium, scale=SCALE) as page,
            ):
                commission_until(other, "box_6")
                page.goto(f"{other.address}/commission")
                expect(page.get_by_test_id("step")).to_have_attribute("data-step", "box_6")
                page.screenshot(path=PICTURES / "commission.png")
            take_pit_picture(chromium, Path(folder))


if __name__ == "__main__":
    main()
