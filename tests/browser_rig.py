"""A touch screen for tests: a page in Debian's Chromium that fails the test when the page's own program did."""

import json
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Page, ViewportSize, expect, sync_playwright

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = (
    "--no-sandbox",
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SCREEN: ViewportSize = {"width": 800, "height": 480}
# 1280 x 720 on seven inches, as `boxman screen` has it laid out.
SCREEN_16_TO_9: ViewportSize = {"width": 853, "height": 480}
# A finger's target is 9 mm at least, on a screen of seven inches across.
_TARGET_MM = 9
_SCREEN_INCHES = 7


def touch_px(screen: ViewportSize) -> float:
    """How many pixels a target has at least; on a screen of more than seven inches, as many as on the smallest."""
    seven_inches = screen if screen["width"] < 1100 else SCREEN
    diagonal_px = math.hypot(seven_inches["width"], seven_inches["height"])
    return _TARGET_MM * diagonal_px / _SCREEN_INCHES / 25.4


TOUCH_PX = math.ceil(touch_px(SCREEN))
# What a deadline of a page is when a test names none: a slow machine is no fault of the product.
EXPECT_MS = 60_000
expect.set_options(timeout=EXPECT_MS)
# What the browser itself writes for a request that found no terminal, or that the rules refused; no fault of the page.
_NO_FAULT = re.compile(r"Failed to load resource: (net::ERR_\w+|the server responded with a status of 409\b.*)")


@contextmanager
def browser() -> Iterator[Browser]:
    """Chromium as Debian packages it, for any number of pages."""
    if not CHROMIUM.exists():
        raise AssertionError(f"{CHROMIUM} is missing: install Debian's package `chromium`")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS), timeout=2 * EXPECT_MS)
        try:
            yield chromium
        finally:
            chromium.close()


@contextmanager
def touch_page(chromium: Browser, screen: ViewportSize = SCREEN, scale: float = 1) -> Iterator[Page]:
    """An empty page on a touch screen, without anything that another page left behind.

    Raises AssertionError at the end if the page wrote an error to its console or threw one that nobody caught.
    """
    context = chromium.new_context(viewport=screen, device_scale_factor=scale, has_touch=True, is_mobile=False)
    context.set_default_timeout(EXPECT_MS)
    faults: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        if message.type == "error" and not _NO_FAULT.match(message.text):
            faults.append(f"{message.text} ({message.location['url']}:{message.location['lineNumber']})")

    def watch(page: Page) -> None:
        page.on("console", heard)
        page.on("pageerror", lambda error: faults.append(str(error.stack or error)))

    context.on("page", watch)
    try:
        yield context.new_page()
    finally:
        context.close()
    assert not faults, "the page reported errors:\n" + "\n".join(faults)


def touch(page: Page, *names: str) -> None:
    """Touch one thing after the other; each is waited for until it may be touched."""
    for name in names:
        page.get_by_test_id(name).tap()


def know_roll(page: Page, first: int, second: int) -> None:
    """The console knows of this roll: a dialog that was opened before it would close, and a first die would go."""
    expect(page.get_by_test_id("last-roll")).to_have_attribute("data-dice", f"{first}-{second}")


# A terminal that a busy machine leaves no time for is not away, and who touches late still touches in time: two seconds
# and more are held back until `lapse`, and what the page measures with a clock takes a hundred times as long.
_UNHURRIED = """() => {
  if (globalThis.lapse) return;
  const [later, drop, now] = [setTimeout, clearTimeout, performance.now.bind(performance)];
  const limit = AbortSignal.timeout.bind(AbortSignal);
  const held = new Map();
  let last = 0;
  globalThis.setTimeout = (act, ms, ...more) => {
    if (!(ms >= 2000)) return later(act, ms, ...more);
    last -= 1;
    held.set(last, () => act(...more));
    return last;
  };
  globalThis.clearTimeout = (name) => held.delete(name) || drop(name);
  globalThis.lapse = () => {
    const due = [...held.values()];
    held.clear();
    for (const act of due) act();
  };
  performance.now = () => now() / 100;
  AbortSignal.timeout = (ms) => limit(100 * ms);
}"""


def unhurry(page: Page) -> None:
    """Let nothing pass by itself any more in this page and in those that its window opens or loads later.

    What is asked for a second touch, a notice, a die that is half entered stay until they are touched or `lapse`. The
    terminal is never taken for away, and no action is sent twice for want of an answer.
    """
    page.context.add_init_script(f"({_UNHURRIED})()")
    page.evaluate(_UNHURRIED)


def lapse(page: Page) -> None:
    """All the time has passed that a page gives for a second touch, and that it leaves to what goes by itself."""
    page.evaluate("lapse()")


# Answered within the page: were it this program that answers, a busy machine would make the terminal look out of reach.
_KNOWS_ONLY = """(state) => {
  const asked = globalThis.fetch;
  globalThis.fetch = (resource, options) =>
    new URL(resource, location.href).pathname === "/api/state"
      ? Promise.resolve(Response.json(state))
      : asked(resource, options);
  globalThis.EventSource = class extends EventTarget {
    static CLOSED = 2;
    readyState = 0;
  };
}"""


def know_only(page: Page, state: dict[str, Any]) -> None:
    """Let pages that are loaded from now on see this state, whatever the terminal says."""
    page.add_init_script(f"({_KNOWS_ONLY})({json.dumps(state)})")


def show_state(page: Page, state: dict[str, Any]) -> None:
    """Let the console see this state from now on, whatever the terminal says."""
    know_only(page, state)
    page.reload()
    expect(page.get_by_test_id("die-1")).to_be_enabled()


def layout_faults(page: Page) -> list[str]:
    """What a finger cannot hit or an eye cannot read on the console, in words.

    That is what overlaps its neighbour, reaches beyond the screen or its place, cuts its words off, breaks a word in
    two (Chinese breaks anywhere), or is too small for a finger; a row that an edge cuts through, and a list of rows
    that shows none of them.
    Names that people gave (`.named`) may be cut and broken: they can be any length.
    """
    assert page.viewport_size is not None
    least_px = touch_px(page.viewport_size)
    faults: list[str] = page.evaluate(_LAYOUT_FAULTS, least_px)
    if faults:
        # What the terminal told in this very moment may not have had its frame yet; a fault that an eye sees stays.
        faults = page.evaluate(_LAYOUT_FAULTS, least_px)
    return faults


_LAYOUT_FAULTS = """async (least) => {
  // What observers of sizes still owe is done within the frame that follows; an eye never sees what comes before.
  for (let frames = 0; frames < 2; frames++) await new Promise(requestAnimationFrame);
  const faults = [];
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) faults.push(`the page is ${root.scrollWidth} px wide`);
  const seen = (node) => node.checkVisibility() && node.getBoundingClientRect().height > 0;
  const name = (node) => node.dataset.testid || node.id || node.className || node.tagName;
  const open = ".overlay:not([hidden])";
  const all = (selector) => [...document.querySelectorAll(selector)].filter(seen);
  for (const box of all(`main, ${open}, ${open} :is(div, section)`))
    if (box.scrollWidth > box.clientWidth + 1)
      faults.push(`${name(box)} overflows: ${box.scrollWidth} in ${box.clientWidth}`);
  const groups =
    `#status, #phase-block, #work, #entry, ${open}, .dice-page:not([hidden]), .deeds, .fields, .why, .answers, .places`;
  for (const group of all(groups)) {
    const children = [...group.children].filter(seen).map((node) => [node, node.getBoundingClientRect()]);
    children.forEach(([one, a], index) => {
      for (const [other, b] of children.slice(index + 1))
        if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1)
          faults.push(`${name(one)} lies on ${name(other)}`);
    });
    if (group.matches(".dice-page")) for (const [node, box] of children)
      if (box.bottom > innerHeight + 1) faults.push(`${name(node)} reaches below the screen`);
  }
  for (const target of all("button, input, a.page-link")) {
    const { left, right, width, height } = target.getBoundingClientRect();
    if (width < least || height < least) faults.push(`${name(target)} is ${width.toFixed(1)} x ${height.toFixed(1)}`);
    if (left < 0 || right > innerWidth) faults.push(`${name(target)} leaves the screen`);
    const cut = target.scrollWidth > target.clientWidth + 1 || target.scrollHeight > target.clientHeight + 1;
    if (!target.matches(".named, input") && cut) faults.push(`${name(target)} cuts its words off`);
  }
  for (const point of all("#point:not(:empty)"))
    if (point.offsetHeight < 32) faults.push(`the point is ${point.offsetHeight} px high`);
  for (const felt of all("#felt"))
    if (felt.scrollHeight > felt.clientHeight + 1)
      faults.push(`the layout is ${felt.scrollHeight} px high in ${felt.clientHeight}`);
  // How much of a row is in sight within all that clips it, in px; what is not drawn is not there.
  const inSight = (row) => {
    let { top, bottom } = row.getBoundingClientRect();
    const edges = [{ top: 0, bottom: innerHeight }];
    for (let home = row.parentElement; home; home = home.parentElement)
      if (getComputedStyle(home).overflowY !== "visible") edges.push(home.getBoundingClientRect());
    return Math.min(bottom, ...edges.map((edge) => edge.bottom)) - Math.max(top, ...edges.map((edge) => edge.top));
  };
  // A list that was left no height at all is one that shows nothing.
  // What lies under a dialog is not looked at meanwhile.
  const front = document.querySelector(open) ?? document;
  const lists = [...front.querySelectorAll("#alert-list, .results-part ol, .places")];
  for (const list of lists.filter((list) => list.checkVisibility())) {
    const rows = [...list.children].filter((row) => row.checkVisibility({ visibilityProperty: true }));
    const shares = rows.map((row) => [row, inSight(row), row.getBoundingClientRect().height]);
    for (const [row, shown, height] of shares)
      if (shown > 1 && shown < height - 3) faults.push(`${name(list)} cuts through ${row.innerText.slice(0, 40)}`);
    if (list.children.length > 0 && !shares.some(([, shown, height]) => shown >= height - 3))
      faults.push(`${name(list)} shows none of its ${list.children.length} rows`);
  }
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    const home = text.parentElement;
    if (!seen(home) || home.closest(".named, [data-alert], dd, script, style")) continue;
    for (const word of text.data.matchAll(/(?:(?!\\p{Script=Han})[\\p{L}\\p{N}])+/gu)) {
      const range = new Range();
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
      if (lines.size > 1) faults.push(`${name(home)} breaks the word ${word[0]}`);
    }
  }
  return faults;
}"""
