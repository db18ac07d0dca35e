"""The virtual table's page on a touch screen: two pucks, slots and the panel of faults, on a terminal that runs."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from drivers.virtual_faults import CATALOGUE
from drivers.wiring import DEFAULT_PINS, GROUPS
from tests.browser_rig import SCREEN, SCREEN_16_TO_9, know_only, touch, touch_page, touch_px, unhurry
from tests.terminal_rig import TerminalProcess

# A long table: the default without its header lamps, a second puck in their place, and eight slots on the node.
_PINS = {
    **{name: str(pin) for name, pin in DEFAULT_PINS.items() if not name.startswith("lamp_")},
    **{name: f"gpio:{pin}" for name, pin in zip(GROUPS["second_puck"], (18, 23, 24, 25, 8, 7, 14), strict=True)},
    **{name: f"node:{pin}" for name, pin in zip(GROUPS["slots"], (16, 17, 18, 19, 20, 21, 22, 26), strict=True)},
    "lamp_dice_key_1": "node:10",
}


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TerminalProcess]:
    """One long table for the whole file."""
    folder: Path = tmp_path_factory.mktemp("virtual_page")
    configuration = folder / "long_table.toml"
    configuration.write_text("[wiring]\n" + "".join(f'{name} = "{pin}"\n' for name, pin in _PINS.items()))
    with TerminalProcess(folder / "data", configuration=configuration) as process:
        yield process


def explain_openings(terminal: TerminalProcess) -> None:
    """Say why the reserve was opened, so that it is no alert of the next test."""
    shut = terminal.wait_for_state(lambda state: state["reserve"]["open"] is False, "the lid is shut")
    for opening in shut["dice"]["openings"]:
        parts = {"opening": opening["seq"], "reason": "inspector_request", "as": "supervisor", "done_by": "Eva"}
        body = {"id": terminal.fresh_id(), "action": {"explain": parts}}
        assert terminal.client.post("/api/dice", json=body).status_code == 200


@pytest.fixture
def table(terminal: TerminalProcess) -> TerminalProcess:
    """The table as new: pucks off, lid shut, all dice in the reserve, nothing wrong with it."""
    terminal.hand(mend="all")
    off = {"position": "off", "face": "off"}
    terminal.hand(puck=off)
    terminal.hand(second_puck=off)
    terminal.hand(lid="closed")
    explain_openings(terminal)
    for slot in range(1, 9):
        terminal.hand(slot=slot, occupied=True)
    return terminal


@pytest.fixture
def page(chromium: Browser, table: TerminalProcess) -> Iterator[Page]:
    """The virtual table's page, ready for the first touch."""
    with touch_page(chromium) as opened:
        unhurry(opened)
        opened.goto(f"{table.address}/virtual")
        expect(opened.get_by_test_id("virtual-slot-8")).to_be_visible()
        yield opened


def seen(table: TerminalProcess, name: str) -> object:
    """A part of what GET /api/virtual says."""
    view: dict[str, object] = table.client.get("/api/virtual").json()
    return view[name]


def test_the_hand_moves_the_puck_that_was_chosen(page: Page, table: TerminalProcess) -> None:
    touch(page, "virtual-which-2", "virtual-puck-6")
    six = page.get_by_test_id("virtual-puck-6")
    expect(six).to_have_attribute("data-second-puck", "on")
    expect(six).to_have_attribute("data-puck", "")
    expect(page.get_by_test_id("virtual-puck-off")).to_have_attribute("data-puck", "off")
    touch(page, "virtual-which-1", "virtual-puck-6")
    expect(six).to_have_attribute("data-puck", "on")
    expect(six).to_have_attribute("data-second-puck", "on")
    touch(page, "virtual-flip")
    expect(six).to_have_attribute("data-puck", "off")
    touch(page, "virtual-which-2", "virtual-lift")
    expect(six).to_have_attribute("data-second-puck", "")
    assert seen(table, "puck") == {"position": 6, "face": "off"}
    assert seen(table, "second_puck") == {"position": None, "face": "on"}


def test_a_die_is_taken_out_of_its_slot_and_put_back(page: Page, table: TerminalProcess) -> None:
    touch(page, "virtual-slot-3")
    expect(page.get_by_test_id("virtual-slot-3")).to_have_attribute("data-occupied", "false")
    expect(page.get_by_test_id("virtual-slot-4")).to_have_attribute("data-occupied", "true")
    assert seen(table, "slots") == [True, True, False, True, True, True, True, True]
    table.wait_for_state(lambda state: state["reserve"]["slots"] is not None, "the terminal sees the slots")
    page.get_by_test_id("virtual-slot-3").press("Enter")
    expect(page.get_by_test_id("virtual-slot-3")).to_have_attribute("data-occupied", "true")


def test_a_fault_is_made_with_its_strength_and_seed_shown_and_mended(page: Page, table: TerminalProcess) -> None:
    button = page.get_by_test_id("virtual-faults")
    expect(button).to_have_text("Faults")
    touch(page, "virtual-faults", "fault-kind-noise")
    expect(page.get_by_test_id("fault-about")).to_have_text("Bytes on the line are damaged, and some are added.")
    page.get_by_test_id("fault-seed").fill("4711")
    page.get_by_test_id("fault-parameter-rate").fill("120")
    expect(page.locator("#fault-fields output")).to_have_text("1.2 %")
    touch(page, "fault-make")
    row = page.locator("[data-testid=fault-list] [data-kind=noise]")
    expect(row).to_contain_text("Noise")
    expect(row).to_contain_text("1.2 %, seed 4711")
    assert seen(table, "faults") == [{"kind": "noise", "name": None, "seed": 4711, "rate": 120}]
    touch(page, "faults-close")
    expect(page.get_by_test_id("faults-panel")).to_be_hidden()
    expect(button).to_have_text("Faults: 1 active")
    touch(page, "virtual-faults", "fault-mend-noise")
    expect(row).to_have_count(0)
    assert seen(table, "faults") == []
    expect(page.get_by_test_id("fault-mend-all")).to_be_hidden()


def test_a_stuck_lid_is_what_the_terminal_sees_until_it_is_mended(page: Page, table: TerminalProcess) -> None:
    table.wait_for_state(lambda state: not state["reserve"]["open"], "the lid is shut")
    touch(page, "virtual-faults", "fault-kind-stuck")
    page.get_by_test_id("fault-place").select_option(label="Lid")
    page.get_by_test_id("fault-parameter-active").select_option(label="Stays inactive")
    touch(page, "fault-make")
    expect(page.get_by_test_id("fault-list")).to_contain_text("Stuck: Lid")
    table.wait_for_state(lambda state: state["reserve"]["open"], "the lid seems open")
    assert seen(table, "lid") == "closed"
    touch(page, "fault-mend-stuck-lid")
    table.wait_for_state(lambda state: not state["reserve"]["open"], "the lid is shut again")


def test_one_of_two_places_is_mended_and_then_all(page: Page, table: TerminalProcess) -> None:
    touch(page, "virtual-faults", "fault-kind-dead")
    for place in ("Puck 2 at OFF", "Button BUY"):
        page.get_by_test_id("fault-place").select_option(label=place)
        touch(page, "fault-make")
        expect(page.get_by_test_id("fault-list")).to_contain_text(f"Dead pin: {place}")
    touch(page, "fault-mend-dead-buy")
    expect(page.get_by_test_id("fault-list").locator("li")).to_have_count(1)
    assert seen(table, "faults") == [{"kind": "dead", "name": "second_puck_off", "seed": seeds(table)[0]}]
    touch(page, "fault-mend-all")
    expect(page.get_by_test_id("fault-list").locator("li")).to_have_count(0)
    assert seen(table, "faults") == []


def seeds(table: TerminalProcess) -> list[int]:
    faults: list[dict[str, int]] = table.client.get("/api/virtual").json()["faults"]
    return [fault["seed"] for fault in faults]


def test_a_pulled_cable_goes_from_the_list_when_it_is_back(page: Page, table: TerminalProcess) -> None:
    touch(page, "virtual-faults", "fault-kind-unplug")
    listed = page.get_by_test_id("fault-list")
    # It may be back before a busy page has looked; then it is pulled for longer.
    for away_ms, said in ((800, "800 ms"), (5_000, "5 s"), (30_000, "30 s")):
        page.get_by_test_id("fault-parameter-away_ms").fill(str(away_ms))
        touch(page, "fault-make")
        with suppress(AssertionError):
            expect(listed).to_contain_text(said, timeout=away_ms)
            break
    else:
        pytest.fail("it was never listed")
    expect(listed.locator("li")).to_have_count(0)
    table.wait_for_state(lambda state: state["node"]["state"] == "online", "the node is back")


def test_the_panel_works_by_keyboard(page: Page, table: TerminalProcess) -> None:
    page.get_by_test_id("virtual-faults").press("Enter")
    expect(page.get_by_test_id("faults-panel")).to_be_visible()
    page.get_by_test_id("fault-kind-drop").press("Enter")
    expect(page.get_by_test_id("fault-kind-drop")).to_have_attribute("aria-pressed", "true")
    # The form comes next after the last kind: strength, seed, another seed, make.
    page.get_by_test_id("fault-kind-restart").focus()
    page.keyboard.press("Tab")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")
    page.keyboard.press("Control+A")
    page.keyboard.type("99")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("fault-list")).to_contain_text("Lost bytes")
    assert seen(table, "faults") == [{"kind": "drop", "name": None, "seed": 99, "rate": 53}]
    page.get_by_test_id("fault-mend-all").press("Enter")
    expect(page.get_by_test_id("fault-list").locator("li")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("faults-panel")).to_be_hidden()


def test_a_new_seed_is_drawn_at_a_touch(page: Page) -> None:
    touch(page, "virtual-faults", "fault-kind-bounce")
    seed = page.get_by_test_id("fault-seed")
    drawn = set()
    for _ in range(4):
        drawn.add(seed.input_value())
        touch(page, "fault-new-seed")
    assert len(drawn) > 1


def test_what_the_terminal_refuses_is_said_where_it_can_be_read_and_touched_away(page: Page) -> None:
    refused = {"field": "fault.rate", "message": "cannot be done: the disk is full"}

    def answer(route: object) -> None:
        request = route.request  # type: ignore[attr-defined]
        if request.method == "POST":
            route.fulfill(status=409, json=refused)  # type: ignore[attr-defined]
        else:
            route.continue_()  # type: ignore[attr-defined]

    page.route("**/api/virtual", answer)
    touch(page, "virtual-faults", "fault-kind-silent", "fault-make")
    notice = page.get_by_test_id("virtual-notice")
    expect(notice).to_have_text("Fault rate: cannot be done: the disk is full")
    touch(page, "virtual-notice")
    expect(notice).to_be_hidden()


def test_what_is_not_wired_cannot_be_pressed(page: Page, table: TerminalProcess) -> None:
    assert len(seen(table, "buttons")) == 10  # type: ignore[arg-type]
    assert seen(table, "dice_keys") == [1, 2, 3, 4, 5, 6]
    expect(page.get_by_test_id("virtual-button-buy")).to_be_enabled()
    view = table.client.get("/api/virtual").json() | {"buttons": ["on", "box_6"], "dice_keys": []}
    page.route("**/api/virtual", lambda route: route.fulfill(json=view))
    for name in ("button-buy", "button-box_4", "key-1", "key-6", "hold-1", "hold-2"):
        expect(page.get_by_test_id(f"virtual-{name}")).to_be_disabled()
    for name in ("on", "box_6"):
        expect(page.get_by_test_id(f"virtual-button-{name}")).to_be_enabled()


def test_what_the_console_says_is_cut_at_no_line(page: Page, table: TerminalProcess) -> None:
    def alert(number: int, text: str) -> dict[str, object]:
        return {"id": f"x:{number}", "code": "x", "text": text}

    told = table.state()

    def show(*texts: str) -> None:
        state = told | {"alerts": [alert(number, text) for number, text in enumerate(texts)]}
        know_only(page, state)
        page.reload()

    alerts = page.get_by_test_id("virtual-alerts").locator("li")
    show("Press a box button before LAY.", "The puck is on OFF, but the point is 6. Put it on 6, ON face up. " * 3, "C")
    expect(alerts).to_have_text(["Press a box button before LAY.", "2 more on the console"])
    show("The I/O node does not answer; look at its cable. " * 9, "B")
    expect(alerts).to_have_count(2)
    expect(alerts.last).to_have_text("1 more on the console")
    expect(alerts.last).to_be_in_viewport(ratio=1)
    words = alerts.first.locator("p")
    lines = words.evaluate("node => node.offsetHeight / parseFloat(getComputedStyle(node).lineHeight)")
    assert lines >= 2
    assert abs(lines - round(lines)) < 0.1
    assert page.locator("#live").evaluate("node => node.scrollHeight <= node.clientHeight + 1")


_MISFITS = """async (least) => {
  // What observers of sizes still owe is done within the frame that follows.
  for (let frames = 0; frames < 2; frames++) await new Promise(requestAnimationFrame);
  const faults = [];
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth || root.scrollHeight > innerHeight) faults.push("the page leaves the screen");
  for (const part of document.querySelectorAll("main section, dialog section, dialog form, #fault-fields"))
    if (part.clientWidth && (part.scrollWidth > part.clientWidth + 1 || part.scrollHeight > part.clientHeight + 1))
      faults.push(`${part.id} overflows`);
  const panel = document.querySelector("dialog[open]");
  for (const control of (panel ?? document).querySelectorAll("button, select, input")) {
    if (!control.checkVisibility()) continue;
    const { left, right, top, bottom, width, height } = control.getBoundingClientRect();
    const name = `${control.dataset.testid} (${Math.round(width)} x ${Math.round(height)})`;
    if (width < least || height < least) faults.push(`${name} is too small`);
    if (left < 0 || right > innerWidth || top < 0 || bottom > innerHeight) faults.push(`${name} leaves the screen`);
    if (control.tagName !== "INPUT" && control.scrollWidth > control.clientWidth + 1)
      faults.push(`${name} cuts its words off`);
    if (control.scrollHeight > control.clientHeight + 1) faults.push(`${name} is too low for its words`);
  }
  return faults;
}"""


@pytest.mark.parametrize(
    "screen", [SCREEN, SCREEN_16_TO_9, {"width": 1280, "height": 720}], ids=["800x480", "853x480", "1280x720"]
)
def test_the_page_and_its_panel_fit_the_screen_with_controls_for_a_finger(
    page: Page, table: TerminalProcess, screen: ViewportSize
) -> None:
    page.set_viewport_size(screen)
    assert page.evaluate(_MISFITS, touch_px(screen)) == []
    for name in ("puck_6", "second_puck_10", "dice_key_6"):
        table.hand(fault={"kind": "stuck", "name": name})
    touch(page, "virtual-faults")
    expect(page.get_by_test_id("fault-list").locator("li")).to_have_count(3)
    for kind in CATALOGUE:
        touch(page, f"fault-kind-{kind}")
        assert page.evaluate(_MISFITS, touch_px(screen)) == [], kind
