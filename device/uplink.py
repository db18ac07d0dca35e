"""The uplink: delivers the journal to a central log, in order, without hole or duplicate.

It is one more reader of the journal and holds no queue, so killing it loses nothing. Where to go on is asked of
the log on every connect, never assumed: that settles lost acknowledgements, long outages and lost tails alike.
Which kind of central system it is, and how it is reached, is the system's own (`nats_log`).
"""

import asyncio
import logging
import random
import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Literal, NoReturn, Protocol

from device.delivery_record import DeliveryRecord
from device.ended_tasks import end_tasks
from device.journal_base import Base
from device.presence import UNIT, Presence, keep_telling
from device.uplink_protocol import (
    PACK_EVENTS_MAX,
    Backoff,
    Batch,
    DeliveryError,
    LogEnd,
    fence_reason,
    lost_pruned_reason,
    pack,
)

FENCE_RECHECK_S: Final = 30.0

log = logging.getLogger(__name__)


class CentralLog(Protocol):
    """One table's log at the centre, over one link. Whatever breaks, the link ends with it."""

    @property
    def bytes_max(self) -> int:
        """The longest payload that it takes."""

    async def end(self) -> LogEnd:
        """Where the log ends now."""

    async def publish(self, batch: Batch, sequence: int) -> int | None:
        """Write `batch` if the log still ends at `sequence`; its new sequence, on the centre's disk when this returns.

        None: it was not written, or was before, since the log ends elsewhere.
        """

    async def tell(self, presence: bytes) -> None:
        """Tell whoever watches at the centre that the table is there; lost without a word where that fails."""


Deliver = Callable[[CentralLog], Awaitable[NoReturn]]


class CentralSystem(Protocol):
    """What takes a table's history: NATS servers, or something else that gives the same guarantees."""

    @property
    def name(self) -> str:
        """Under which the delivery record keeps what it has."""

    async def use(self, deliver: Deliver) -> NoReturn:
        """Link up and run `deliver` until it or the link fails. Raises DeliveryError, in words for the screen."""


@dataclass(frozen=True)
class UplinkStatus:
    """`delivered` is the last event that the central log has; `last_error` is in words for the screen."""

    state: Literal["online", "offline", "fenced"]
    delivered: int
    last_error: str | None


class Uplink:
    """Delivers one table's journal. All of it, callbacks included, runs in the event loop of `run`."""

    def __init__(
        self,
        *,
        read_events: Callable[[int, int], list[str]],
        last_seq: Callable[[], int],
        base: Callable[[], Base | None],
        record: DeliveryRecord,
        system: CentralSystem,
        on_change: Callable[[UplinkStatus], None],
        on_alert: Callable[[str, str], None],
        random: random.Random,
    ) -> None:
        """Prepare; nothing is connected yet.

        `read_events(first, limit)` returns canonical lines of the journal from event `first` on, `base` what stands
        for those that were pruned. `on_alert` gets a code ("uplink_fenced", "log_lost_tail" or "log_lost_pruned") and a
        text.
        """
        self._read_events = read_events
        self._last_seq = last_seq
        self._base = base
        self._record = record
        self._system = system
        self._on_change = on_change
        self._on_alert = on_alert
        self._random = random
        self._news = asyncio.Event()
        self._online_since: float | None = None
        self._status = UplinkStatus("offline", record.read(system.name).seq, None)
        # The last event that the log had, unless it is known to have lost it.
        self._acknowledged = self._status.delivered

    @property
    def target(self) -> str:
        """The name of the central system."""
        return self._system.name

    @property
    def status(self) -> UplinkStatus:
        """The status as last told to `on_change`."""
        return self._status

    def notify(self) -> None:
        """Say that events were committed. To be called in the event loop of `run`."""
        self._news.set()

    async def run(self) -> NoReturn:
        """Deliver until cancelled. No error ends it: it is shown in the status, and tried again."""
        backoff = Backoff(self._random)
        clock = asyncio.get_running_loop().time
        while True:
            self._online_since = None
            try:
                await self._system.use(self._deliver)
            except DeliveryError as error:
                text = str(error)
            except Exception as error:
                log.exception("unexpected error in the uplink")
                text = f"an unexpected error ({type(error).__name__}); the log of this unit has the details"
            # A fence is a fact about the log. Losing the link does not lift it.
            state: Literal["fenced", "offline"] = "fenced" if self._status.state == "fenced" else "offline"
            self._report(UplinkStatus(state, self._status.delivered, text))
            lasted_s = 0.0 if self._online_since is None else clock() - self._online_since
            await asyncio.sleep(backoff.delay_s(lasted_s))

    async def _deliver(self, central: CentralLog) -> NoReturn:
        telling = asyncio.ensure_future(keep_telling(central.tell, self._presence))
        try:
            await self._deliver_events(central)
        finally:
            await end_tasks(telling)

    def _presence(self) -> Presence:
        state = "fenced" if self._status.state == "fenced" else "online"
        return Presence(UNIT, self._last_seq(), self._status.delivered, state)

    async def _deliver_events(self, central: CentralLog) -> NoReturn:
        end = await self._resume(central)
        while True:
            self._news.clear()
            lines = self._read_events(end.seq + 1, PACK_EVENTS_MAX)
            if lines:
                end = await self._publish(central, pack(lines, end.seq + 1, central.bytes_max), end)
            else:
                await self._news.wait()

    async def _resume(self, central: CentralLog) -> LogEnd:
        """Return where to go on, once the log is found to be a beginning of our journal."""
        while True:
            end = await central.end()
            base = self._base()
            pruned_seq = base.seq if base is not None else 0
            alert, reason = "log_lost_pruned", lost_pruned_reason(end, pruned_seq)
            if reason is None:
                own = self._read_events(end.seq, 1) if end.seq > pruned_seq else []
                own_hash = base.hash if base is not None and end.seq == pruned_seq else None
                alert = "uplink_fenced"
                reason = fence_reason(end, self._last_seq(), own[0] if own else None, own_hash)
            if reason is None:
                break
            self._fence(alert, reason)
            await asyncio.sleep(self._random.uniform(FENCE_RECHECK_S / 2, FENCE_RECHECK_S))
        self._reached(end)
        return end

    async def _publish(self, central: CentralLog, batch: Batch, end: LogEnd) -> LogEnd:
        """Publish one message after `end` and return the new end of the log."""
        sequence = await central.publish(batch, end.sequence)
        if sequence is None:
            new_end = await self._resume(central)
            if new_end.sequence == end.sequence:
                raise DeliveryError(f"the central log does not take events {batch.first} to {batch.last} at the moment")
            return new_end
        if end.seq < self._acknowledged:
            # It has taken anew what it had acknowledged. Before that, a replica may just have been behind.
            self._alert(
                "log_lost_tail",
                f"the central log ends at event {end.seq}, though it acknowledged event "
                f"{self._acknowledged}; the missing events are sent again",
            )
            self._acknowledged = end.seq
        new_end = LogEnd(sequence, batch.last, batch.payload.rpartition(b"\n")[2].decode())
        self._reached(new_end)
        return new_end

    def _reached(self, end: LogEnd) -> None:
        """Keep and tell that the log has everything up to `end`."""
        self._acknowledged = max(self._acknowledged, end.seq)
        if self._online_since is None:
            self._online_since = asyncio.get_running_loop().time()
        try:
            self._record.set(self._system.name, end.seq, end.sequence)
        except sqlite3.Error as error:
            # A full disk must not stop what makes room on it. The log is asked again after a restart.
            log.warning("the delivery record was not written: %s", error)
        self._report(UplinkStatus("online", end.seq, None))

    def _fence(self, code: str, reason: str) -> None:
        was_fenced = self._status.state == "fenced"
        self._report(UplinkStatus("fenced", self._status.delivered, reason))
        if not was_fenced:
            self._alert(code, reason)

    def _report(self, status: UplinkStatus) -> None:
        before, self._status = self._status, status
        if (before.state, before.last_error) != (status.state, status.last_error):
            log.info("uplink %s: %s", status.state, status.last_error or f"event {status.delivered} delivered")
        if before != status:
            try:
                self._on_change(status)
            except Exception:
                log.exception("telling the uplink's status failed")

    def _alert(self, code: str, text: str) -> None:
        log.warning("%s: %s", code, text)
        try:
            self._on_alert(code, text)
        except Exception:
            log.exception("raising an alert of the uplink failed")
