"""Forwards what the receiver has taken to the stream on NATS, so that archive and pit have its tables as all others.

Each table's log goes by an uplink of its own, the table's own kind (`device.uplink`), which resumes by asking the
stream. Nobody need trust the receiver for that: the archive checks the chain and the tables' signatures.
"""

import asyncio
import contextlib
import logging
import random
from collections.abc import AsyncIterator, Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Final, NoReturn

from device.delivery_record import DeliveryRecord
from device.ended_tasks import end_tasks
from device.nats_connection import NatsAccess
from device.nats_log import NatsSystem
from device.uplink import CentralLog, Deliver, Uplink, UplinkStatus
from device.uplink_protocol import Batch, DeliveryError, LogEnd
from provisioning.central.central_list import KnownTable
from provisioning.central.event_store import EventStore
from provisioning.central.sqlite_store import StoreError
from provisioning.standard_streams import visible

# While the stream is ahead of the store, both are looked at so often.
AHEAD_LOOK_S: Final = 1.0

log = logging.getLogger(__name__)


class Forwarding:
    """All tables' logs on their way to the stream. All of it runs in one event loop."""

    def __init__(
        self, store: EventStore, record: DeliveryRecord, tables: Iterable[KnownTable], access: NatsAccess, stream: str
    ) -> None:
        """`store` is open for this alone. Raises ValueError for a wrong URL or name."""
        self._systems: dict[tuple[str, str], _Forwarded] = {}
        self._uplinks: dict[tuple[str, str], Uplink] = {}
        for table in tables:
            names = (table.site, table.name)
            last_seq = partial(_last_seq, store, table)
            self._systems[names] = _Forwarded(table, access, stream, last_seq)
            self._uplinks[names] = _uplink(store, record, table, self._systems[names], last_seq)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Forward meanwhile."""
        work = [asyncio.create_task(uplink.run()) for uplink in self._uplinks.values()]
        try:
            yield
        finally:
            await end_tasks(*work)

    def notify(self, table: KnownTable) -> None:
        """The table's log has grown."""
        self._uplinks[table.site, table.name].notify()

    async def tell(self, table: KnownTable, presence: bytes) -> None:
        """The table has told that it is there; it is told on while the stream can be reached, and lost otherwise."""
        await self._systems[table.site, table.name].tell(presence)


class _Forwarded:
    """The stream as the central system of one table. The delivery record knows it by the table's name."""

    def __init__(self, table: KnownTable, access: NatsAccess, stream: str, last_seq: Callable[[], int]) -> None:
        self._last_seq = last_seq
        self.name = f"{table.site}/{table.name}"
        self._nats = NatsSystem(access.servers, table.site, table.name, stream, ca=access.ca, key=access.key)
        self._link: CentralLog | None = None

    async def use(self, deliver: Deliver) -> NoReturn:
        async def through(link: CentralLog) -> NoReturn:
            self._link = link
            try:
                await deliver(_Quiet(link, self.name, self._last_seq))
            finally:
                self._link = None

        await self._nats.use(through)

    async def tell(self, presence: bytes) -> None:
        if self._link is not None:
            await self._link.tell(presence)


class _Quiet:
    """A link on which the forwarding itself tells no signs of life: those are the table's.

    The stream may be ahead of the receiver's store, where that was brought back from a backup or the table delivers to
    the stream as well. That is no second unit's doing: what the store lacks is still to come from the table.
    """

    def __init__(self, link: CentralLog, name: str, last_seq: Callable[[], int]) -> None:
        self._link = link
        self._name = name
        self._last_seq = last_seq

    @property
    def bytes_max(self) -> int:
        return self._link.bytes_max

    async def end(self) -> LogEnd:
        is_said = False
        while (end := await self._link.end()).seq > (own := self._last_seq()):
            if not is_said:
                text = f"to the stream, {self._name}: it has event {end.seq} already, the store ends at event {own}"
                log.warning("%s", visible(f"{text}; waiting for the table to send what is missing here"))
                is_said = True
            await asyncio.sleep(AHEAD_LOOK_S)
        return end

    async def publish(self, batch: Batch, sequence: int) -> int | None:
        return await self._link.publish(batch, sequence)

    async def tell(self, presence: bytes) -> None:
        """Nobody is told."""


def _last_seq(store: EventStore, table: KnownTable) -> int:
    try:
        return store.end(table.site, table.name).seq
    except StoreError as error:
        raise DeliveryError(str(error)) from error


def _uplink(
    store: EventStore, record: DeliveryRecord, table: KnownTable, system: _Forwarded, last_seq: Callable[[], int]
) -> Uplink:
    site, name = table.site, table.name

    def read_events(first: int, limit: int) -> list[str]:
        try:
            return store.lines(site, name, first, limit)
        except StoreError as error:
            raise DeliveryError(str(error)) from error

    said: list[tuple[str, str | None]] = []

    def on_change(status: UplinkStatus) -> None:
        news = (status.state, status.last_error)
        if said != [news]:
            said[:] = [news]
            told = status.last_error or f"event {status.delivered} is there"
            level = logging.INFO if status.state == "online" else logging.WARNING
            log.log(level, "%s", visible(f"to the stream, {system.name} {status.state}: {told}"))

    def on_alert(code: str, text: str) -> None:
        log.error("%s", visible(f"to the stream, {system.name} {code}: {text}"))

    return Uplink(
        read_events=read_events,
        last_seq=last_seq,
        base=lambda: None,
        record=record,
        system=system,
        on_change=on_change,
        on_alert=on_alert,
        random=random.Random(),  # noqa: S311 - spreads attempts, keeps no secret
    )


def record_beside(store: Path) -> DeliveryRecord:
    """How far each table was forwarded, in a file beside the receiver's store."""
    return DeliveryRecord(store.with_name(f"{store.name}.forwarded"))
