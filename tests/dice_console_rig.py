"""A terminal with dice rules, and its console on a touch screen: what the tests of the dice on the console share."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, Page, Request, expect

from tests.browser_rig import touch, touch_page, unhurry
from tests.terminal_rig import TerminalProcess

SERIALS = ["004711", "004712", "004713", "004714", "004715", "004716"]
# Long enough that no alert comes between, short where the alert is waited for.
PATIENT_MS = 600_000
IMPATIENT_MS = 100

# From here on the page counts what fingers do.
COUNT_TOUCHES = """() => {
  window.touches = 0;
  document.addEventListener("pointerdown", () => { window.touches += 1; }, { capture: true });
}"""

Start = Callable[..., tuple[Page, TerminalProcess]]


@contextmanager
def consoles(chromium: Browser, folder: Path) -> Iterator[Start]:
    """Starts a terminal with the dice rules of a jurisdiction and opens its console on a touch screen."""
    with ExitStack() as opened:

        def begin(rules: str, *, dice: int = 6, explain_ms: int = PATIENT_MS) -> tuple[Page, TerminalProcess]:
            file = folder / "table.toml"
            patient = "".join(f"{name} = {PATIENT_MS}\n" for name in ("slots_ms", "open_max_ms", "closing_count_ms"))
            file.write_text(
                f'[table]\nrules = "{rules}"\n[console]\nlanguage = "en"\n'
                f"[alerts]\nexplain_ms = {explain_ms}\n{patient}",
                encoding="utf-8",
            )
            process = opened.enter_context(TerminalProcess(folder / "data", configuration=file))
            for slot in range(dice + 1, 7):
                process.hand(slot=slot, occupied=False)
            page = opened.enter_context(touch_page(chromium))
            unhurry(page)
            page.goto(process.address)
            expect(page.get_by_test_id("die-1")).to_be_enabled()
            return page, process

        yield begin


def sent_action(sent: Request, name: str) -> dict[str, Any]:
    """The parts of the action on the dice that a request carries."""
    body = sent.post_data_json
    assert body is not None
    parts: dict[str, Any] = body["action"][name]
    return parts


def act(table: TerminalProcess, name: str, **parts: Any) -> None:
    """An action on the dice that must be recorded."""
    answer = table.client.post("/api/dice", json={"id": table.fresh_id(), "action": {name: parts}})
    assert answer.status_code == 200, answer.text


def set_up(table: TerminalProcess, *, dice: int = 6, serials: bool = True, counted: bool = True) -> None:
    """Ana and Bo are on duty; set A is inspected, at the table and counted, its first two dice in play."""
    act(table, "on_duty", boxman="Ana", witness="Bo")
    about: dict[str, Any] = {"set": "A", "dice": dice, "maker": "Bold", "colour": "red", "house_mark": "GM"}
    act(table, "receive", **about, **({"serials": SERIALS[:dice]} if serials else {}))
    rules = table.state()["dice"]["rules"]
    used = {name: {"sound": True, "showed": "in order"} for name in rules["instruments"]}
    act(table, "inspect", set="A", checks=dict.fromkeys(rules["checks"], True), instruments=used)
    lid(table, "open")
    act(table, "place", set="A")
    names = SERIALS[:dice] if serials else [str(number) for number in range(1, dice + 1)]
    act(table, "change", taken=names[:2])
    slots(table, dice - 2)
    lid(table, "closed")
    if counted:
        act(table, "count", count="opening", seen={"play": names[:2], "reserve": names[2:]})
    # What the rule set itself warns of stands for ever.
    table.wait_for_state(lambda state: not wrong(state), "nothing is wrong with the dice")


def wrong(state: dict[str, Any]) -> list[str]:
    """The alerts, without what the rule set itself warns of, and without a node that a busy machine leaves no time."""
    return [alert["text"] for alert in state["alerts"] if alert["code"] not in ("rule_warning", "node_offline")]


def slots(table: TerminalProcess, number: int) -> None:
    """So many dice lie in the reserve, as the slots feel them."""
    for slot in range(1, 7):
        table.hand(slot=slot, occupied=slot <= number)
    # The lid is shut after the dice lie in it, not at once with them.
    occupied = list(range(1, number + 1))
    table.wait_for_state(lambda state: state["reserve"]["slots"] == occupied, f"{number} dice lie in the slots")


def type_in(page: Page, text: str) -> None:
    """A text on the pad of the dialog, letter by letter, and OK."""
    for letter in text.lower():
        touch(page, "dice-letter-space" if letter == " " else f"dice-letter-{letter}")
    touch(page, "dice-text-done")


def _lid_is(is_open: bool, state: dict[str, Any]) -> bool:
    return state["reserve"]["open"] is is_open


def lid(table: TerminalProcess, *states: str) -> None:
    """Move the lid, and wait until the terminal has seen it."""
    for state in states:
        table.hand(lid=state)
        table.wait_for_state(partial(_lid_is, state == "open"), f"the lid is {state}")


def places(table: TerminalProcess, name: str = "A") -> dict[str, list[str]]:
    """Where the dice of a set are: place to dice."""
    found: dict[str, list[str]] = {}
    for dice_set in table.state()["dice"]["sets"]:
        if dice_set["set"] == name:
            for die in dice_set["dice"]:
                found.setdefault(die["place"], []).append(die["die"])
    return found


def question(page: Page) -> Locator:
    return page.get_by_test_id("question")


def is_asked(page: Page, about: str) -> None:
    expect(question(page)).to_be_visible()
    expect(question(page)).to_have_attribute("data-about", about)


def is_back(page: Page) -> None:
    """The main screen is there again."""
    expect(page.get_by_test_id("overlay-dice")).to_be_hidden()


def answers(page: Page) -> list[str]:
    """The reasons as they are offered, in their order."""
    return question(page).locator(".answers button").all_inner_texts()


def touches(page: Page) -> int:
    number: int = page.evaluate("touches")
    return number


def alert_texts(table: TerminalProcess) -> list[str]:
    return wrong(table.state())
