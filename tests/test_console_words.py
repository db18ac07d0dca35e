"""The console's words: one for each alert that the terminal can raise, and for all that its state names."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from device.dice_control.dice_actions import ASKERS, COUNTED_PLACES, COUNTS
from device.dice_control.dice_log import _DECISIONS
from device.dice_control.dice_rules import INSTRUMENTS, REASONS
from device.dice_control.dice_state import PLACES
from drivers.wiring import GROUPS
from tests.dice_console_rig import (
    Start,
    consoles,
)


@pytest.fixture
def start(chromium: Browser, tmp_path: Path) -> Iterator[Start]:
    """Starts a terminal with the dice rules of a jurisdiction and opens its console on a touch screen."""
    with consoles(chromium, tmp_path) as begin:
        yield begin


# Calls whose first argument names an alert.
_ALERT_CALLS = ("Condition", "raise_alert", "alert", "standing_alert", "on_alert", "_alert", "_on_alert", "_state")
_ALERT_CODE = re.compile(r"[a-z]+(_[a-z]+)*")


def alert_codes() -> set[str]:
    """The codes of all alerts that the terminal's program can raise, out of its source."""
    found: set[str] = set()
    for path in (Path(__file__).parent.parent / "device").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[first, *_]):
                    if name in _ALERT_CALLS and isinstance(first, ast.Constant):
                        found.add(str(first.value))
                case ast.JoinedStr(values=[ast.Constant(value=str(head)), *_]) if head.endswith(":"):
                    if _ALERT_CODE.fullmatch(head[:-1]) and "_" in head:
                        found.add(head[:-1])
                case ast.Assign(targets=[ast.Name("alert") | ast.Tuple(elts=[ast.Name("alert"), *_])], value=value):
                    texts = [part.value for part in ast.walk(value) if isinstance(part, ast.Constant)]
                    found |= {text for text in texts if isinstance(text, str) and re.fullmatch("[a-z]+_[a-z_]+", text)}
    return found


def test_the_page_has_words_for_each_alert_and_for_all_that_the_state_names(start: Start) -> None:
    page, _ = start("us-vegas")
    words = page.evaluate("import('/static/console_text.js').then(({ TEXT }) => JSON.parse(JSON.stringify(TEXT)))")
    codes = alert_codes()
    assert {"no_closing_count", "dice_missing", "count_differs", "late_key", "uplink_fenced", "notice"} <= codes
    assert codes - set(words["alerts"]) == set()
    dice = words["dice"]
    assert set(PLACES) <= set(dice["places"])
    assert {*COUNTED_PLACES, "missing"} <= set(dice["seen_at"])
    assert set(REASONS) <= set(dice["reasons"])
    assert set(INSTRUMENTS) == set(dice["instruments"]) == set(dice["showed_words"])
    assert {"unchecked", "sound", "unsound"} == set(dice["states"])
    assert set(COUNTS) == set(dice["counts"])
    assert set(ASKERS) == set(dice["askers"])
    assert set(_DECISIONS) == set(dice["actions"])
    assert set(GROUPS) <= set(words["input_groups"])
