"""The alert that the table's own screen paints no more: on other screens and in the pit, until it paints again."""

import asyncio
import time
from contextlib import suppress
from typing import Final, NoReturn

from device.recorder import Busy, Halted
from device.terminal import Terminal

_TEXT: Final = (
    "The table's own screen paints no more. Enter rolls with the dice keys or on another screen; it is started anew "
    "after a minute. If it stays dark, call a technician."
)
_LOOK_S: Final = 1.0


async def watch_screen(terminal: Terminal) -> NoReturn:
    """Raise and clear the alert until cancelled; one that a former run has raised stands until the screen paints."""
    told: bool | None = None
    while True:
        await asyncio.sleep(_LOOK_S)
        is_silent = terminal.screens.is_silent(time.monotonic())
        if is_silent is None or is_silent == told:
            continue
        with suppress(Halted, Busy):
            await terminal.standing_alert("screen_silent", _TEXT if is_silent else None)
            told = is_silent
