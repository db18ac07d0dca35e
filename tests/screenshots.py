"""Takes the README's pictures of a hand in play: `python -m tests.screenshots`, from the root of the repository."""

import tempfile
from pathlib import Path

from playwright.sync_api import expect

from tests.browser_rig import browser, touch_page
from tests.terminal_rig import TerminalProcess, boxman

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


if __name__ == "__main__":
    main()
