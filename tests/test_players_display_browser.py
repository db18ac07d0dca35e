"""The players' display in a browser: what it shows live, what it hides when it cannot know, and that all of it fits."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from device.languages.languages import LANGUAGES
from tests.browser_rig import EXPECT_MS, touch_page
from tests.terminal_rig import TerminalProcess

LANDSCAPE: ViewportSize = {"width": 1920, "height": 1080}
PORTRAIT: ViewportSize = {"width": 1080, "height": 1920}
SMALL: ViewportSize = {"width": 1280, "height": 720}
# Where all the others have to be done as well.
PATIENT_MS = 60_000
# As long as it may be (120 characters).
HOUSE_TEXT = "Bienvenidos a la mesa de craps. " * 3 + "Mínimo 5, máximo 500 <b>"
# A turn of the pay table, in the page's own time.
TURN_MS = 12_000
# Parts that hold more than they show, and words too small to be read from three metres: below 32 px of 1080.
FAULTS = """() => {
  const faults = [];
  const least = (32 * Math.min(innerWidth, innerHeight)) / 1080;
  for (const node of document.querySelectorAll("#display, section, #house, #pay td, .number")) {
    if (!node.checkVisibility()) continue;
    if (node.scrollHeight > node.clientHeight + 1 || node.scrollWidth > node.clientWidth + 1)
      faults.push(`${node.id || node.className || node.tagName} cuts off ${node.innerText.slice(0, 40)}`);
    if (node.getBoundingClientRect().bottom > innerHeight + 1) faults.push(`${node.id} reaches below the screen`);
  }
  const texts = document.createTreeWalker(document.querySelector("#display"), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const home = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !home.checkVisibility()) continue;
    const size = parseFloat(getComputedStyle(home).fontSize);
    if (size < least) faults.push(`${texts.currentNode.data} has ${size} px`);
  }
  return faults;
}"""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TerminalProcess]:
    """A terminal with a display for the players."""
    folder = tmp_path_factory.mktemp("players")
    file = folder / "table.toml"
    file.write_text(f'[players_display]\nenabled = true\nhouse_text = "{HOUSE_TEXT}"\n', encoding="utf-8")
    with TerminalProcess(folder / "data", configuration=file) as process:
        yield process


@pytest.fixture
def page(chromium: Browser, table: TerminalProcess) -> Iterator[Page]:
    """The display of a table that was opened anew."""
    expect.set_options(timeout=PATIENT_MS)
    assert table.open_table("us-vegas").status_code == 200
    with touch_page(chromium, LANDSCAPE) as shown:
        shown.goto(f"{table.address}/players")
        expect(shown.get_by_test_id("display")).to_have_attribute("data-live", "true")
        yield shown
    expect.set_options(timeout=EXPECT_MS)


def roll(table: TerminalProcess, *rolls: tuple[int, int]) -> None:
    for dice in rolls:
        table.do({"roll": list(dice)})


def test_it_follows_the_game_and_says_nothing_of_bets(page: Page, table: TerminalProcess) -> None:
    for player, amount in (("Señora Ruiz", 500), ("7", 375)):
        table.do({"bet": {"player": player, "kind": "pass_line", "amount": amount}})
    table.do({"shooter": "Señora Ruiz"})
    roll(table, (1, 3))
    expect(page.get_by_test_id("point")).to_have_text("4")
    expect(page.get_by_test_id("last")).to_have_attribute("data-dice", "1-3")
    roll(table, (6, 6), (2, 2))
    expect(page.get_by_test_id("last")).to_have_attribute("data-dice", "2-2")
    expect(page.get_by_test_id("point")).to_have_attribute("data-point", "")
    expect(page.get_by_test_id("rolls").locator("li")).to_have_count(2)
    expect(page.get_by_test_id("rolls").locator("li").first).to_have_attribute("data-dice", "6-6")
    expect(page.get_by_test_id("hand-rolls")).to_have_text("3 rolls")
    expect(page.get_by_test_id("hand-points")).to_have_text("1 point made")
    expect(page.get_by_test_id("number-4")).to_have_attribute("data-count", "2")
    table.do({"correct": [5, 5]})
    expect(page.get_by_test_id("last")).to_have_attribute("data-dice", "5-5")
    expect(page.get_by_test_id("hand-points")).to_have_text("0 points made")
    said = page.locator("body").inner_text()
    assert "Ruiz" not in said
    assert "500" not in said.replace(HOUSE_TEXT.strip(), "")
    assert "375" not in said
    roll(table, (3, 4))


def test_out_of_touch_it_shows_nothing_but_the_house_s_text_and_then_goes_on(
    page: Page, table: TerminalProcess
) -> None:
    roll(table, (1, 3), (4, 4))
    expect(page.get_by_test_id("point")).to_have_text("4")
    expect(page.get_by_test_id("last")).to_have_attribute("data-dice", "4-4")
    table.kill()
    expect(page.get_by_test_id("display")).to_have_attribute("data-live", "false")
    expect(page.get_by_test_id("point")).to_be_hidden()
    expect(page.get_by_test_id("last")).to_be_hidden()
    expect(page.get_by_test_id("pay")).to_be_hidden()
    # Markup in it is text.
    expect(page.get_by_test_id("house")).to_have_text(HOUSE_TEXT.strip())
    table.start()
    expect(page.get_by_test_id("display")).to_have_attribute("data-live", "true")
    expect(page.get_by_test_id("point")).to_have_text("4")
    expect(page.get_by_test_id("hand-rolls")).to_have_text("2 rolls")
    expect(page.get_by_test_id("last")).to_have_attribute("data-dice", "4-4")
    roll(table, (3, 4))
    expect(page.get_by_test_id("hand-rolls")).to_have_text("3 rolls")


def test_a_closed_table_says_so(page: Page, table: TerminalProcess) -> None:
    roll(table, (5, 6))
    expect(page.get_by_test_id("last")).to_be_visible()
    answer = table.client.post("/api/close", json={"id": table.fresh_id()})
    assert answer.status_code == 200, answer.text
    expect(page.get_by_test_id("closed")).to_be_visible()
    expect(page.get_by_test_id("last")).to_be_hidden()


@pytest.mark.parametrize(
    ("screen", "language"),
    # The small screen is the landscape one, only smaller.
    [*((screen, language) for screen in (LANDSCAPE, PORTRAIT) for language in LANGUAGES), (SMALL, "en")],
    ids=lambda value: value if isinstance(value, str) else str(value["width"]),
)
def test_all_of_it_fits_and_can_be_read(
    chromium: Browser, table: TerminalProcess, screen: ViewportSize, language: str
) -> None:
    expect.set_options(timeout=PATIENT_MS)
    assert table.open_table("us-vegas").status_code == 200
    roll(table, *[(6, 6), (5, 6)] * 20, (5, 5))
    with touch_page(chromium, screen) as page:
        page.context.add_cookies([{"name": "language", "value": language, "url": table.address}])
        # A turn is made when the test says so, and not also by the time that a busy machine takes.
        page.clock.install(time=0)
        page.clock.pause_at(1)
        page.goto(f"{table.address}/players")
        expect(page.get_by_test_id("number-12")).to_have_attribute("data-count", "20")
        pay = page.get_by_test_id("pay")
        expect(pay).to_be_visible()
        seen = []
        while True:
            assert page.evaluate(FAULTS) == []
            words = pay.inner_text()
            if words in seen:
                break
            seen.append(words)
            page.clock.run_for(TURN_MS)
            expect(page.get_by_test_id("display")).to_have_attribute("data-live", "true")
            expect(pay).not_to_have_text(words)
        asked = {"language": language}
        groups = table.client.get("/api/players/pay_table", params=asked).json()["groups"]
        names = [bet["name"] for group in groups for bet in group["bets"]]
        assert [name for name in names if not any(name in words for words in seen)] == []
    roll(table, (3, 4))
    expect.set_options(timeout=EXPECT_MS)


def test_there_is_none_where_none_is_wanted(tmp_path: Path) -> None:
    with TerminalProcess(tmp_path / "data") as process:
        for path in ("/players", "/api/players/stream", "/api/players/pay_table"):
            assert process.client.get(path).status_code == 404
        assert "enabled = true under [players_display]" in process.client.get("/players").text
