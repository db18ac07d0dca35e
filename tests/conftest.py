"""The order of the test files: those that take longest first, so that no process waits for the other at the end."""

from typing import Final

import pytest

LONG: Final = (
    "test_system.py",
    "test_console_dice_browser.py",
    "test_console_browser.py",
    "test_archive_process.py",
    "test_terminal_process.py",
    "test_players_display_browser.py",
    "test_languages_browser.py",
    "test_terminal_kills.py",
    "test_engine_micropython.py",
    "test_node_install.py",
    "test_simulator.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first, the others as they were."""
    items.sort(key=lambda item: LONG.index(item.path.name) if item.path.name in LONG else len(LONG))
