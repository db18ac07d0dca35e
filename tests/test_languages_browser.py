"""The console in the languages of the tables: chosen by configuration and by touch, and everything fits the screen."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.axe_rig import axe_faults
from tests.browser_rig import SCREEN, SCREEN_16_TO_9, layout_faults, touch, touch_page
from tests.console_tour import dice_tour, game_tour
from tests.terminal_rig import TerminalProcess

# Words that no page in another language has left over.
ENGLISH = r"\b(the|and|is|are|not|roll|bets?|shooter|reserve|touch|close|set|count)\b"


def table_in(folder: Path, language: str | None, rules: str) -> TerminalProcess:
    """A terminal whose configuration names a language, or none."""
    file = folder / "table.toml"
    console = "" if language is None else f'[console]\nlanguage = "{language}"\n'
    file.write_text(f'[table]\nrules = "{rules}"\n{console}[alerts]\nexplain_ms = 600000\n', encoding="utf-8")
    return TerminalProcess(folder / "data", configuration=file)


TOURS: dict[str, tuple[str, Callable[[Page, TerminalProcess], Iterator[str]]]] = {
    "game": ("us-vegas", game_tour),
    "dice": ("es-1979", dice_tour),
}


@pytest.mark.parametrize("tour", TOURS)
@pytest.mark.parametrize("language", ["es", "pt", "zh-Hant"])
def test_every_page_fits_the_screen_in_every_language(
    chromium: Browser, tmp_path: Path, language: str, tour: str
) -> None:
    rules, places = TOURS[tour]
    # The wider screen is as high, and its targets are higher.
    screen = SCREEN_16_TO_9 if language == "pt" else SCREEN
    with table_in(tmp_path, language, rules) as table, touch_page(chromium, screen) as page:
        page.goto(table.address)
        expect(page.locator("html")).to_have_attribute("lang", language)
        expect(page.get_by_test_id("die-1")).to_be_enabled()
        for where in places(page, table):
            assert layout_faults(page) + page.evaluate(_CUT) == [], where
            # Colours, roles and names of controls are the same in each of them: once is enough.
            if language == "es":
                assert axe_faults(page) == [], where
            assert set(re.findall(ENGLISH, page.evaluate(_TOLD))) == set(), where


# What stands in a place of its own that grows with no word.
_PLACES = "#phase, #puck-message, .puck-cell, .target, .board li, .results-part h2"
_CUT = f"""() => [...document.querySelectorAll("{_PLACES}")]
  .filter((node) => node.checkVisibility() && node.scrollWidth > node.clientWidth + 1)
  .map((node) => (node.id || node.className || node.dataset.testid) + " cuts off " + node.innerText)"""
# The words in sight, without what people wrote.
_TOLD = """() => {
  const copy = document.body.cloneNode(true);
  for (const node of copy.querySelectorAll("[hidden], .named, .name, script, dt, #help-languages, #hardware-body dl"))
    node.remove();
  return copy.textContent;
}"""


def test_a_language_is_chosen_by_touch_and_stays_for_this_browser(chromium: Browser, tmp_path: Path) -> None:
    with table_in(tmp_path, None, "cl-scj") as table, touch_page(chromium) as page:
        page.goto(table.address)
        # Nobody has chosen: the language is that of the rule set.
        expect(page.get_by_test_id("button-bets")).to_contain_text("Apuestas")
        touch(page, "button-bets")
        expect(page.get_by_test_id("kind-come")).to_have_text("Número por venir")
        touch(page, "close-bets", "button-help", "speak-zh-Hant")
        expect(page.locator("html")).to_have_attribute("lang", "zh-Hant")
        expect(page.get_by_test_id("button-bets")).to_contain_text("注碼")
        touch(page, "button-bets")
        expect(page.get_by_test_id("kind-come")).to_have_text("來注")
        page.goto(f"{table.address}/virtual")
        expect(page.get_by_test_id("virtual-lift")).to_have_text("拿起點數牌")
        expect(page.locator(".strip-text[data-kind=come]")).to_have_text("來注")
        page.goto(table.address)
        touch(page, "button-help", "speak-en")
        expect(page.get_by_test_id("button-bets")).to_contain_text("Bets")
        touch(page, "button-bets")
        expect(page.get_by_test_id("kind-pass_line")).to_have_text("Pass Line")
        # Another browser has not chosen.
        with touch_page(chromium) as other:
            other.goto(table.address)
            expect(other.get_by_test_id("button-bets")).to_contain_text("Apuestas")


def test_refusals_alerts_and_amounts_are_told_in_the_language_of_the_screen(chromium: Browser, tmp_path: Path) -> None:
    with table_in(tmp_path, "pt", "es-1979") as table, touch_page(chromium) as page:
        assert table.open_table("es-1979", limits={"min": 10, "max": 10_000}).status_code == 200
        page.goto(table.address)
        table.do({"bet": {"player": "3", "kind": "pass_line", "amount": 10_000, "number": None}})
        expect(page.locator("#bets-sum")).to_have_text("10.000")
        touch(page, "die-4", "die-4")
        table.hand(puck={"position": 4, "face": "on"})
        expect(page.get_by_test_id("alert-list")).to_contain_text("O disco está em 4, mas o ponto é 8. Pô-lo no 8")
        step = {"take_down": {"player": "3", "kind": "pass_line"}}
        refused = httpx.post(
            f"{table.address}/api/command?language=pt", json={"id": table.fresh_id(), "step": step}, timeout=60
        )
        assert refused.json() == {"refused": "contract", "message": "Win: agora não se pode retirar"}
        assert table.post(step).json()["message"] == "Win may not be taken down now"
        assert "the point is 8" in str(table.state()["alerts"])
        told = {
            "pt": "O disco está em 4, mas o ponto é 8",
            "zh-Hant": "點數牌在 4，但點數為 8",
            "xx": "the point is 8",
        }
        for language, text in told.items():
            before = table.state()["seq"]
            state = table.client.get(f"/api/state?language={language}").json()
            assert [alert for alert in state["alerts"] if text in alert["text"]]
            # What was not told yet, as that the link is back, may come meanwhile.
            assert before <= state["seq"] <= table.state()["seq"]
