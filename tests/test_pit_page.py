"""The pit's page in a real browser, over a real NATS server and a real archive: it never shows what is old as live."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest
from playwright.sync_api import Page, expect

from device.console.requests import BODY_BYTES_MAX
from device.presence import SILENT_S
from provisioning.central import pit_sources
from provisioning.central_server import CentralServer
from tests.archive_rig import History
from tests.axe_rig import axe_faults
from tests.browser_rig import browser
from tests.pit_rig import LateHistory, Pit, Tables, central_server
from tests.terminal_rig import WAIT_S, wait_for

# The page's own bounds are some seconds; the rest is a busy machine's.
SOON_MS = 60_000
PUCK = "The puck is on 8, but the point is 6. Move the puck."


@dataclass
class Floor:
    """A casino's floor: its central server, its tables and the pit's page."""

    server: CentralServer
    tables: Tables
    pit: Pit
    made: int = 0

    def table(self, *, is_open: bool = True, kind: type[History] = History) -> History:
        """A table of its own for a test, archived and heard."""
        self.made += 1
        history = kind(table=f"craps-{self.made}")
        if is_open:
            history.open()
        self.tables.archived(history)
        self.tables.present(history)
        self.pit.shows(history, state="open" if is_open else "closed")
        return history


@pytest.fixture(scope="module")
def floor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Floor]:
    folder = tmp_path_factory.mktemp("pit")
    with pytest.MonkeyPatch.context() as patch, central_server(folder / "nats") as server:
        # Whoever listens anew because the log was slow to answer has missed what was told meanwhile.
        patch.setattr(pit_sources, "LOG_ANSWERS_S", 30.0)
        tables = Tables(server.url, folder / "archive.db")
        tables.archived(History(table="craps-0"))
        pit = Pit(folder, server.url)
        pit.start()
        wait_for(lambda: pit.answers() and not pit.told()["warnings"], "the page's sources have answered")
        # So long nobody is called silent.
        pit.clock.ahead_s += SILENT_S
        yield Floor(server, tables, pit)
        tables.close()
        pit.close()


@pytest.fixture(scope="module")
def opened(floor: Floor) -> Iterator[Page]:
    """One page for the whole file, as one stands open in a pit."""
    with browser() as chromium:
        page = chromium.new_page(viewport={"width": 1280, "height": 720})
        page.set_default_timeout(SOON_MS)
        faults: list[str] = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(floor.pit.address)
        yield page
        assert not faults


@pytest.fixture
def page(opened: Page) -> Page:
    """The page with no dialog open and nothing in its filter."""
    opened.keyboard.press("Escape")
    opened.get_by_test_id("filter").fill("")
    opened.get_by_test_id("show-all").click()
    expect(opened.get_by_test_id("table-casino-1/craps-0")).to_be_visible()
    return opened


def shows(page: Page, history: History, state: str, words: str) -> None:
    tile = page.get_by_test_id(f"table-{history.site}/{history.table}")
    expect(tile).to_have_attribute("data-state", state)
    expect(tile.locator(".word")).to_have_text(words)


expect.set_options(timeout=SOON_MS)


def test_the_game_is_followed_as_it_is_played(page: Page, floor: Floor) -> None:
    history = floor.table()
    tile = page.get_by_test_id(f"table-casino-1/{history.table}")
    expect(tile.locator(".puck")).to_have_text("OFF")
    history.do({"bet": {"player": "3", "kind": "pass_line", "amount": 10}})
    history.do({"shooter": "3"})
    history.do({"roll": [2, 4]})
    floor.tables.archived(history)
    floor.tables.present(history)
    expect(tile.locator(".puck")).to_have_text("6")
    expect(tile.locator(".facts")).to_contain_text("Shooter 3")
    tile.click()
    expect(page.get_by_test_id("detail-game")).to_have_text("Point 6")
    expect(page.get_by_test_id("detail-roll")).to_have_text("2-4, roll 1")
    expect(page.get_by_test_id("detail-heard")).to_contain_text("second")
    expect(page.get_by_test_id("detail-undelivered")).to_have_text("0")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("detail")).to_be_hidden()


def test_a_silent_table_is_red_and_heard_again_it_is_in_order(page: Page, floor: Floor) -> None:
    opened, closed = floor.table(), floor.table(is_open=False)
    shows(page, opened, "open", "Open")
    shows(page, closed, "closed", "Closed")
    floor.pit.clock.ahead_s += SILENT_S
    for history, state, words in (
        (opened, "silent", "Silent since "),
        (closed, "closed_silent", "Closed, last heard "),
    ):
        tile = page.get_by_test_id(f"table-casino-1/{history.table}")
        expect(tile).to_have_attribute("data-state", state)
        expect(tile.locator(".word")).to_contain_text(words)
        assert tile.get_attribute("data-live") is None
    silent = page.get_by_test_id("trouble").get_by_test_id(f"table-casino-1/{opened.table}")
    expect(silent).to_have_attribute("data-mood", "alarm")
    silent.click()
    expect(page.get_by_test_id("detail-word")).to_contain_text("What it does now is not known")
    expect(page.get_by_test_id("detail-undelivered")).to_have_text("not known")
    page.get_by_test_id("detail-close").click()
    # An event that comes late is no sign of life.
    opened.do({"roll": [1, 1]})
    floor.tables.archived(opened)
    floor.pit.shows(opened, seq=len(opened.events), state="silent")
    floor.tables.present(opened)
    shows(page, opened, "open", "Open")


def test_a_table_whose_clock_is_wrong_by_years_is_heard_by_the_centre_s_clock(page: Page, floor: Floor) -> None:
    history = floor.table(kind=LateHistory)
    shows(page, history, "open", "Open")
    page.get_by_test_id(f"table-casino-1/{history.table}").click()
    for fact in ("heard", "event"):
        expect(page.get_by_test_id(f"detail-{fact}")).not_to_contain_text("2019")
    floor.pit.clock.ahead_s += SILENT_S
    floor.pit.shows(history, state="silent")
    expect(page.get_by_test_id("detail-word")).not_to_contain_text("2019")


def test_an_alert_that_was_seen_at_the_pit_stands_on_at_the_table(page: Page, floor: Floor) -> None:
    history = floor.table()
    raised = history.add(history.session.raise_alert("puck_differs", PUCK, {}, latched=False))
    floor.tables.archived(history)
    floor.tables.present(history)
    shows(page, history, "alert", "Open, 1 alert")
    tile = page.get_by_test_id(f"table-casino-1/{history.table}")
    tile.click()
    page.get_by_test_id("see-puck_differs").click()
    page.get_by_test_id("see-done").click()
    expect(page.get_by_test_id("see-refused")).to_contain_text("must be 1 to 40 visible characters")
    page.get_by_test_id("see-name").fill("  Eva   Ruiz ")
    page.keyboard.press("Enter")
    seen = page.get_by_test_id("alert-puck_differs")
    expect(seen).to_contain_text("Seen at the pit by Eva Ruiz, ")
    expect(seen).to_contain_text("still standing at the table")
    expect(page.get_by_test_id("see-puck_differs")).to_have_count(0)
    page.get_by_test_id("detail-close").click()
    shows(page, history, "seen", "Open, 1 alert seen")
    # Raised anew, it says something else, and nobody has seen that.
    history.add(history.session.raise_alert("puck_differs", "The puck is lifted.", {}, latched=False))
    floor.tables.archived(history)
    shows(page, history, "alert", "Open, 1 alert")
    tile.click()
    page.get_by_test_id("see-puck_differs").click()
    page.get_by_test_id("see-as-Eva Ruiz").click()
    expect(seen).to_contain_text("Seen at the pit by Eva Ruiz, ")
    page.get_by_test_id("detail-close").click()
    # What the page had of it before is stale now.
    answer = see(floor, history, "puck_differs", raised, "Luis")
    assert (answer.status_code, answer.json()["message"]) == (409, "this alert says something else now; read it again")


def see(floor: Floor, history: History, alert: str, raised: int, name: str, **headers: str) -> httpx.Response:
    said = {"site": history.site, "table": history.table, "alert": alert, "raised": raised, "name": name}
    given = {"Origin": floor.pit.address} | headers
    return httpx.post(f"{floor.pit.address}/api/seen", json=said, headers=given, timeout=WAIT_S)


def test_who_has_seen_an_alert_outlives_the_service_and_is_not_said_twice(page: Page, floor: Floor) -> None:
    history = floor.table()
    raised = history.add(history.session.raise_alert("puck_differs", PUCK, {}, latched=False))
    floor.tables.archived(history)
    floor.pit.shows(history, state="alert")
    first = see(floor, history, "puck_differs", raised, "Eva Ruiz")
    assert first.status_code == 200 and first.json()["seen"]["name"] == "Eva Ruiz"
    # An answer that was lost, and asked for again.
    assert see(floor, history, "puck_differs", raised, "eva ruiz").json() == first.json()
    other = see(floor, history, "puck_differs", raised, "Luis")
    assert (other.status_code, other.json()["message"]) == (409, "Eva Ruiz has seen this alert already")
    floor.pit.stop()
    expect(page.get_by_test_id("lost")).to_be_visible(timeout=SOON_MS)
    floor.pit.start()
    expect(page.get_by_test_id("lost")).to_be_hidden(timeout=SOON_MS)
    [alert] = wait_for(lambda: floor.pit.table(history).get("alerts"), "the table is shown again")
    assert alert["seen"] == first.json()["seen"]
    # A service that has just started does not know yet who is silent, and says so.
    floor.pit.shows(history, state="listening")
    floor.tables.present(history)
    floor.pit.shows(history, state="seen")
    floor.pit.clock.ahead_s += SILENT_S


GOOD = {"site": "casino-1", "table": "craps-0", "alert": "puck_differs", "raised": 1, "name": "Eva"}


@pytest.mark.parametrize(
    ("headers", "body", "status", "words"),
    [
        ({}, GOOD, 409, "this alert does not stand any more"),
        ({"Origin": "http://elsewhere.example"}, GOOD, 400, "own page"),
        ({"Origin": "null"}, GOOD, 400, "own page"),
        ({"Origin": None}, GOOD, 400, "is missing; this is for the pit's own page"),
        ({"Host": "elsewhere.example"}, GOOD, 400, "Invalid host header"),
        ({"Content-Type": "text/plain"}, GOOD, 400, "must be application/json"),
        ({}, [], 400, "must be a JSON object"),
        ({}, GOOD | {"more": 1}, 400, "is not known; the fields are site, table, alert, raised, name"),
        ({}, GOOD | {"table": 1}, 400, "must be a text"),
        ({}, GOOD | {"raised": 0}, 400, "must be the number of the event that raised the alert"),
        ({}, GOOD | {"name": "\u202eEva"}, 400, "must not hold"),
        ({}, GOOD | {"name": "x" * BODY_BYTES_MAX}, 400, f"must be at most {BODY_BYTES_MAX} bytes"),
    ],
)
def test_what_no_page_of_ours_would_send_is_refused(
    floor: Floor, headers: dict[str, str | None], body: object, status: int, words: str
) -> None:
    before = floor.pit.told()["names"]
    given = {"Origin": floor.pit.address, "Content-Type": "application/json"} | headers
    sent = {name: value for name, value in given.items() if value is not None}
    answer = httpx.post(f"{floor.pit.address}/api/seen", content=json.dumps(body), headers=sent, timeout=WAIT_S)
    assert answer.status_code == status
    assert words in answer.text
    assert floor.pit.told()["names"] == before


def test_a_log_that_is_away_turns_the_page_red_and_no_table_looks_in_order(page: Page, floor: Floor) -> None:
    history = floor.table()
    page.get_by_test_id(f"table-casino-1/{history.table}").click()
    floor.server.kill()
    warning = page.get_by_test_id("warning-log_away")
    expect(warning).to_contain_text("what stands here is old")
    expect(warning).to_have_attribute("data-dead", "")
    expect(page.locator("body")).to_have_class("dead")
    # A dialog lies over the page, so it says so as well.
    expect(page.get_by_test_id("detail")).to_contain_text("The central log is away")
    page.get_by_test_id("detail-close").click()
    shows(page, history, "deaf", "Cannot be heard now")
    assert not page.locator(".tile[data-mood=good]").count()
    floor.server.start()
    expect(page.locator("body")).not_to_have_class("dead")
    floor.tables.connect()
    floor.tables.present(history)
    shows(page, history, "open", "Open")


def test_an_archive_that_stands_still_is_said_in_red(page: Page, floor: Floor) -> None:
    history = floor.table()
    history.do({"roll": [1, 1]})
    floor.tables.sent_only(history)
    bar = page.get_by_test_id("warning-archive_stands")

    def is_said() -> bool:
        floor.pit.clock.ahead_s += 1.0
        return "archive_stands" in [warning["kind"] for warning in floor.pit.told()["warnings"]]

    wait_for(is_said, "the archive is said to stand still")
    expect(bar).to_contain_text("1 message behind the tables")
    floor.tables.catch_up()
    expect(bar).to_have_count(0)


def test_a_malformed_message_is_named_and_the_other_tables_go_on(page: Page, floor: Floor) -> None:
    broken, well = floor.table(), floor.table()
    floor.tables.take(floor.tables.message(f"craps.casino-1.{broken.table}.journal", b'{"v":1}'))
    floor.tables.tell(f"craps.casino-1.{well.table}.presence", b"\xff\x00 nonsense")
    shows(page, broken, "refused", "History refused")
    expect(page.get_by_test_id(f"table-casino-1/{broken.table}").locator(".alert-text")).to_contain_text(
        "line 1 of the message"
    )
    odd = page.get_by_test_id("warning-odd_message")
    expect(odd).to_contain_text(f"craps.casino-1.{well.table}.presence: 1 message is no sign of life")
    floor.tables.present(well)
    shows(page, well, "open", "Open")


def test_markup_in_what_others_say_is_text(page: Page, floor: Floor) -> None:
    history = floor.table()
    history.add(history.session.raise_alert("puck_differs", "<b>bold</b><img src=x>", {}, latched=False))
    floor.tables.archived(history)
    tile = page.get_by_test_id(f"table-casino-1/{history.table}")
    expect(tile.locator(".alert-text")).to_have_text("<b>bold</b><img src=x>")
    assert tile.locator("img").count() == 0


def test_the_page_is_used_by_keyboard_alone(page: Page, floor: Floor) -> None:
    history = floor.table()
    expect(page.get_by_test_id(f"table-casino-1/{history.table}")).to_be_visible(timeout=SOON_MS)
    page.keyboard.press("/")
    page.keyboard.type(history.table.upper())
    expect(page.locator(".tile")).to_have_count(len([name for name in names(floor) if history.table in name]))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("detail")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("detail")).to_be_hidden()
    page.keyboard.press("/")
    page.keyboard.press("Escape")
    expect(page.locator(".tile")).to_have_count(len(names(floor)))


def names(floor: Floor) -> list[str]:
    return [f"{view['site']}/{view['table']}" for view in floor.pit.told()["tables"]]


def test_nothing_is_cut_off_and_everything_is_large_enough_for_a_finger(page: Page, floor: Floor) -> None:
    history = floor.table()
    history.add(history.session.raise_alert("puck_differs", PUCK, {}, latched=False))
    floor.tables.archived(history)
    shows(page, history, "alert", "Open, 1 alert")
    tile = page.get_by_test_id(f"table-casino-1/{history.table}")
    screens = [("en", 1920, 1080), ("en", 800, 480), ("es", 800, 480), ("pt", 800, 480), ("zh-Hant", 1280, 720)]
    for language, width, height in [*screens, ("en", 1280, 720)]:
        page.set_viewport_size({"width": width, "height": height})
        # The page is loaded anew, also in the language that it has: what is touched before that is lost.
        page.evaluate("globalThis.former = true")
        page.get_by_test_id("language").select_option(language)
        page.wait_for_function("globalThis.former === undefined")
        expect(page.locator("html")).to_have_attribute("lang", language)
        tile.click()
        page.get_by_test_id("detail-close").click()
        assert page.evaluate(FAULTS) == [], (language, width, height)
        tile.click()
        page.get_by_test_id("see-puck_differs").click()
        assert page.evaluate(FAULTS) == [], (language, width, height)
        if width == 1920:
            assert axe_faults(page) == []
        page.get_by_test_id("detail-close").click()
        if width == 1920:
            assert axe_faults(page) == []


FAULTS = """() => {
  const faults = [];
  if (document.documentElement.scrollWidth > innerWidth) faults.push("the page is wider than the screen");
  const front = document.querySelector("dialog[open]") ?? document;
  for (const node of front.querySelectorAll("button, input, select")) {
    if (!node.checkVisibility()) continue;
    const { left, right, width, height } = node.getBoundingClientRect();
    const name = node.dataset.testid ?? node.id;
    if (width < 48 || height < 48) faults.push(`${name} is ${width} x ${height}`);
    if (left < 0 || right > innerWidth) faults.push(`${name} leaves the screen`);
    if (node.tagName === "BUTTON" && node.scrollWidth > node.clientWidth + 1) faults.push(`${name} cuts its words`);
  }
  const head = [...document.querySelectorAll("#head > *")].map((node) => node.getBoundingClientRect());
  head.forEach((box, at) => {
    if (at > 0 && box.left < head[at - 1].right) faults.push(`part ${at} of the head lies on the one before`);
  });
  return faults;
}"""
