"""A touch screen for tests: a page in Debian's Chromium that fails the test when the page's own program did."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, ConsoleMessage, Page, ViewportSize, sync_playwright

CHROMIUM = Path("/usr/bin/chromium")
_ARGUMENTS = (
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
# What a deadline of a page is when a test names none.
EXPECT_MS = 10_000
# What the browser itself writes for a request that found no terminal, or that the rules refused; no fault of the page.
_NO_FAULT = re.compile(r"Failed to load resource: (net::ERR_\w+|the server responded with a status of 409\b.*)")


@contextmanager
def browser() -> Iterator[Browser]:
    """Chromium as Debian packages it, for any number of pages."""
    if not CHROMIUM.exists():
        raise AssertionError(f"{CHROMIUM} is missing: install Debian's package `chromium`")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=list(_ARGUMENTS))
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
