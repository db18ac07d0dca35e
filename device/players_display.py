"""The players' display: what a second screen at the table shows, each part only where the house lets it.

A reader of the journal: it is told of commits, reads what was committed and keeps the game of the players with it. A
restart reads the journal's end again. Nothing of anybody's bets or money goes through here.
"""

import asyncio
import json
import logging
import secrets
from collections.abc import Callable
from typing import Any

from device.journal import JournalError, JournalPruned, JournalReader
from device.players_table import EVENTS, PlayersTable, numbers
from device.settings import PlayersDisplaySettings

# How far back a start reads: some hundred rolls, and no hand is longer.
TAIL_EVENTS = 10_000
READ_EVENTS = 500
SHOWN_ROLLS_MAX = 18
AGAIN_S = 1.0

log = logging.getLogger(__name__)


class PlayersDisplay:
    """What the display shows of one journal. All methods belong to the event loop that runs `run`."""

    def __init__(
        self, reader: JournalReader, settings: PlayersDisplaySettings, state: Callable[[], dict[str, Any]]
    ) -> None:
        """`reader` is its own; `state` gives the terminal's (device.terminal), of which little is used."""
        self._reader = reader
        self._settings = settings
        self._state = state
        self._table = PlayersTable()
        self._next_seq = 0
        self._is_read = False
        self._told = asyncio.Event()
        self._changed = asyncio.Event()
        self.version = 0
        # Names this run of the program: the page loads itself anew when another one answers.
        self._run = secrets.token_hex(8)

    @property
    def shows_pay_table(self) -> bool:
        """Whether the house shows what the bets pay."""
        return self._settings.pay_table

    def notify(self) -> None:
        """Events were committed."""
        self._told.set()

    async def run(self) -> None:
        """Read the journal until cancelled."""
        while True:
            self._told.clear()
            try:
                await self._read()
            except JournalPruned as pruned:
                self._next_seq = pruned.seq + 1
            except (KeyError, TypeError, ValueError, IndexError):
                # No table is stopped by its display, which stays blank.
                self._is_read = False
                log.exception("the players' display cannot read event %s or one after it", self._next_seq)
                return
            except JournalError as error:
                # The display says nothing meanwhile; the table goes on.
                self._is_read = False
                log.warning("the players' display cannot read the journal: %s", error)
                await asyncio.sleep(AGAIN_S)
            else:
                await self._told.wait()

    async def _read(self) -> None:
        if self._next_seq == 0:
            last_seq = await asyncio.to_thread(lambda: self._reader.last_seq)
            self._next_seq = max(1, last_seq - TAIL_EVENTS + 1)
        while lines := await asyncio.to_thread(self._reader.read, self._next_seq, READ_EVENTS):
            for line in lines:
                event = json.loads(line)
                if event["type"] in EVENTS:
                    self._table.take(event["type"], event["data"])
            self._next_seq += len(lines)
        if self._table.is_open is None:
            # Opened longer ago than was read.
            state = self._state()
            self._table.is_open, self._table.point = state["open"], state["point"]
        self._is_read = True
        self._announce()

    def _announce(self) -> None:
        self.version += 1
        self._changed.set()
        self._changed = asyncio.Event()

    async def wait_for_change(self, version: int) -> int:
        """Wait until what is shown is newer than `version`; returns the version it then has."""
        while self.version <= version:
            await self._changed.wait()
        return self.version

    def view(self) -> dict[str, Any]:
        """What is shown now. `live` false: nothing but the house's text may be shown, for the rest may not be so."""
        shown, table, state = self._settings, self._table, self._state()
        view: dict[str, Any] = {
            "run": self._run,
            "live": self._is_read and state["halted"] is None,
            "open": table.is_open,
            "session": state["session_number"],
            "house_text": shown.house_text,
            "pay_table": shown.pay_table,
        }
        if not view["live"]:
            return view
        if shown.point:
            view["point"] = table.point
        if shown.last_rolls:
            view["rolls"] = [list(dice) for dice in table.rolls][-SHOWN_ROLLS_MAX:]
        if shown.streak:
            hand = table.hand
            view["hand"] = {"rolls": hand.rolls, "points_made": hand.points_made, "over": hand.over}
        if shown.hot_and_cold:
            counted = numbers(table.rolls)
            view["numbers"] = {
                "of": counted.of,
                "counts": counted.counts,
                "hot": counted.hot,
                "cold": counted.cold,
            }
        return view
