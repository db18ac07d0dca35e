"""Prunes the journal of a running table: delivered events that are older than the retention time go, oldest first."""

import asyncio
import json
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

from device.beside_table import ProgramFailed, run_beside
from device.clock import Clock
from device.journal_base import Base, pruned_data, sign_base
from device.recorder import Busy, Halted
from device.table_key import TableKey
from device.terminal import Terminal

PRUNE_EVERY_S: Final = 3600.0
PRUNING_PROGRAM: Final = "device.pruning_program"
MADE_WITHIN_S: Final = 1800.0

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Pruner:
    """Prunes one journal. What is not delivered stays, and so does everything while the clock or the link is not sure.

    A clock that was set by more than a minute is not sure until somebody has acknowledged the alert.

    `delivered` gives the last event that the central log has, as it has said itself in this run over a link that is up;
    None otherwise. `program` is this program's version.
    """

    terminal: Terminal
    journal: Path
    table: str
    key: TableKey
    program: str
    clock: Clock
    retention_days: int
    delivered: Callable[[], int | None]

    async def run(self) -> NoReturn:
        """Prune once an hour until cancelled. A failure is an alert; the table goes on."""
        while True:
            await asyncio.sleep(PRUNE_EVERY_S)
            try:
                await self.prune()
            except ProgramFailed as failed:
                log.warning("the journal was not pruned: %s", failed)
                text = f"The journal cannot be pruned, so it fills the disk: {failed}. Call a technician."
                with suppress(Halted, Busy):
                    await self.terminal.alert("journal_not_pruned", text)
            except (Halted, Busy) as error:
                log.info("the journal is not pruned now: %s", error)

    async def prune(self) -> bool:
        """Let go what may go, a part of it if it is much; whether there was any. Raises ProgramFailed, Halted, Busy."""
        now = self.clock.stamp()
        delivered = self.delivered()
        if delivered is None or now.clock != "synced" or self._clock_was_set():
            return False
        asked = (str(self.journal), str(delivered), str(self.retention_days), now.wall)
        made = await run_beside(PRUNING_PROGRAM, *asked, within_s=MADE_WITHIN_S)
        if not made:
            return False
        base = await asyncio.to_thread(self._base, made)
        # Asked again: the link and the clock may have changed meanwhile.
        still_delivered = self.delivered()
        if still_delivered is None or still_delivered < base.seq or self._clock_was_set():
            return False
        await self.terminal.prune(base, pruned_data(base, self.retention_days, still_delivered))
        log.info("events up to %d were pruned", base.seq)
        return True

    def _clock_was_set(self) -> bool:
        return any(alert["code"] == "clock_stepped" for alert in self.terminal.state["alerts"])

    def _base(self, made: bytes) -> Base:
        head, _, state = made.partition(b"\n")
        point = json.loads(head)
        return sign_base(self.key, self.table, point["seq"], point["hash"], state.decode("ascii"), self.program)
