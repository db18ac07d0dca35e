"""What all test files share: the browser, and an order in which those that take longest come first."""

import os
from collections.abc import Iterator
from typing import Final

import pytest
from hypothesis import HealthCheck, settings
from playwright.sync_api import Browser

from tests.browser_rig import browser

# Each of the hundreds of commands that the tests start reads compiled code, as an installed one does.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# How long an example takes, or its invention, says how busy the machine is, and nothing of the product. The examples
# are the same every time, but for the nights of `make test-long`.
settings.register_profile(
    "busy machine",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="BOXMAN_TEST_LONG" not in os.environ,
    database=None,
)
settings.load_profile("busy machine")

# So that no process waits for another at the end.
LONG: Final = (
    "test_system.py",
    "test_console_browser.py",
    "test_console_dice_browser.py",
    "test_commission_browser.py",
    "test_archive_process.py",
    "test_console_dice_signing_browser.py",
    "test_languages_browser.py",
    "test_players_display_browser.py",
    "test_node_install.py",
    "test_terminal_process.py",
    "test_simulator.py",
    "test_console_room_browser.py",
    "test_engine_micropython.py",
    "test_pulse_trains.py",
    "test_layout_browser.py",
    "test_supervisor_browser.py",
    "test_screen_command.py",
    "test_statistics_browser.py",
    "test_commission_page.py",
    "test_virtual_node.py",
    "test_console_attacks_browser.py",
    "test_dice_crash.py",
    "test_journal_pruning.py",
    "test_central_conformance.py",
    "test_terminal_kills.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first, the others as they were."""
    items.sort(key=lambda item: LONG.index(item.path.name) if item.path.name in LONG else len(LONG))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser for a whole file."""
    with browser() as started:
        yield started
