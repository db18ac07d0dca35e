"""Reads the central log for the archive: the NATS side of it, and what happens when either end is away.

Messages of all tables come through one durable pull consumer, in the stream's order, and are acknowledged once the
database has them. Why not a consumer for each table: ten thousand of them would each cost the servers a state of their
own, and nothing would be gained, since a table in alarm must not hold the others up. One consumer that left such a
table's messages unacknowledged would get them again and again, until its bound of open messages is full of them and
everybody stands still. So they are acknowledged as well, and nothing is lost: the stream deletes nothing, and the
database knows how far each table was taken. Once the alarm is resolved, the table alone is read from there on, message
by message, in slices between those of the others. The same way is gone before a hole is believed.

What was read is known by the database, in the same transaction as the events; the consumer is a bell. Where the two
differ (killed before the acknowledgement, a database brought back from a backup, a consumer that is gone), a new
consumer begins behind the database's position: under the reader's own name where it has a key, since a server lets it
make no other. Where the stream does not hold at that position what it held (a log
brought back from a backup), it is read again, from the beginning if need be: what is here is passed over.
"""

import asyncio
import hashlib
import logging
import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from typing import Any, Final, NoReturn, TypeVar

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy, RawStreamMsg
from nats.js.errors import NotFoundError
from sqlalchemy import Engine
from sqlalchemy.exc import InterfaceError, OperationalError

from device.central_reader import consume_anew, lasting_name
from device.nats_connection import REQUEST_TIMEOUT_S, NatsAccess, connected
from device.uplink_protocol import Backoff, DeliveryError, subject
from provisioning.central.archive_check import KnownKeys
from provisioning.central.archive_database import ArchiveHeld, held_for_writing, new_consumer_name
from provisioning.central.archive_message import LogMessage
from provisioning.central.archive_writer import Archive, Names, Taken
from provisioning.central_server import SUBJECTS
from provisioning.standard_streams import visible

BATCH_MESSAGES: Final = 100
FETCH_WAIT_S: Final = 1.0
FETCH_WAIT_AMID_S: Final = 0.2
LOOK_FOR_RESOLVED_S: Final = 1.0
# A table that is read again has a slice of messages between those of the others.
SLICE_MESSAGES: Final = 50
STANDBY_S: Final = 1.0
ACK_WAIT_S: Final = 30.0
# The server forgets a consumer that nobody asked for so long; the next start makes another.
CONSUMER_KEPT_S: Final = 7 * 24 * 3600.0

log = logging.getLogger(__name__)
_T = TypeVar("_T")


async def run_archive(engine: Engine, access: NatsAccess, stream: str, keys: KnownKeys | None) -> NoReturn:
    """Archive for ever; whatever is away is waited for. Raises ArchiveDatabaseError."""
    backoff = Backoff(random.Random())  # noqa: S311 - spreads attempts, keeps no secret
    stands_by = False
    while True:
        began = time.monotonic()
        async with _DatabaseThread() as thread:
            try:
                archive = await thread.do(lambda: Archive(thread.hold(engine), keys))
                stands_by = False
                await _read_for_ever(thread, archive, access, stream)
            except ArchiveHeld:
                if not stands_by:
                    log.warning("another archive writes into this database; waiting until it ends")
                stands_by = True
            except (OperationalError, InterfaceError) as error:
                log.warning("%s", visible(f"the database is away: {_first_line(error)}"))
        await asyncio.sleep(STANDBY_S if stands_by else backoff.delay_s(time.monotonic() - began))


async def _read_for_ever(thread: "_DatabaseThread", archive: Archive, access: NatsAccess, stream: str) -> NoReturn:
    backoff = Backoff(random.Random())  # noqa: S311 - as above
    while True:
        began = time.monotonic()
        try:
            async with connected(access, "boxman archive") as client:
                own = lasting_name(access.key.public) if access.key is not None else None
                await _Reading(thread, archive, client, stream, own).go_on()
        except DeliveryError as error:
            log.warning("%s", visible(f"the central log is away: {error}"))
        await asyncio.sleep(backoff.delay_s(time.monotonic() - began))


class _DatabaseThread:
    """The one thread that uses the database, so that a slow one does not hold up the connection to the log."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(1, "archive database")
        self._held = ExitStack()

    def hold(self, engine: Engine) -> Any:
        """Within the thread: the connection, kept until the end."""
        return self._held.enter_context(held_for_writing(engine))

    async def do(self, work: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)

    async def __aenter__(self) -> "_DatabaseThread":
        return self

    async def __aexit__(self, *_: object) -> None:
        # Behind whatever still runs in the thread; a transaction that is under way is finished.
        closed = self._executor.submit(self._held.close)
        self._executor.shutdown(wait=True)
        try:
            closed.result()
        except (OperationalError, InterfaceError) as error:
            log.debug("closing the database: %s", type(error).__name__)


class _Reading:
    """One connection to the central log."""

    def __init__(
        self, thread: _DatabaseThread, archive: Archive, client: Client, stream: str, own_consumer: str | None
    ) -> None:
        """`own_consumer` is the one name that a server lets the archive's consumer have; None: any."""
        self._thread = thread
        self._archive = archive
        self._client = client
        self._jetstream: JetStreamContext = client.jetstream(timeout=REQUEST_TIMEOUT_S)
        self._stream = stream
        self._own_consumer = own_consumer
        # Tables that are read again, and the number in the stream from which on.
        self._cursors: dict[Names, int] = {}

    async def go_on(self) -> NoReturn:
        """Read until the connection breaks. Raises DeliveryError, and what `connected` makes one of."""
        await self._check_position()
        messages = await self._messages()
        log.info("reading the central log behind message %d", self._archive.position)
        look_at = 0.0
        while True:
            batch = await _next_messages(messages, FETCH_WAIT_AMID_S if self._cursors else FETCH_WAIT_S)
            if batch:
                told = [_told(message) for message in batch]
                taken = await self._do(lambda told=told: self._archive.take_next(told))  # type: ignore[misc]
                for message in batch:
                    await message.ack()
                if Taken.WAITS in taken:
                    look_at = 0.0
            if not self._client.is_connected:
                raise DeliveryError("the link to the central server broke off")
            if time.monotonic() >= look_at:
                await self._look_for_tables_to_reread()
                look_at = time.monotonic() + LOOK_FOR_RESOLVED_S
            for names in list(self._cursors):
                await self._reread(names)

    async def _do(self, work: Callable[[], _T]) -> _T:
        return await self._thread.do(work)

    # Where to begin

    async def _check_position(self) -> None:
        """Go back where the stream does not hold at the archive's position what was read there."""
        archive = self._archive
        if archive.position == 0:
            return
        state = (await self._jetstream.stream_info(self._stream)).state
        if state.last_seq < archive.position:
            # It may hold other messages than were read under the numbers that it has by now.
            log.warning(
                "the central log ends at message %d, but %d was read; reading all again",
                state.last_seq,
                archive.position,
            )
            await self._do(lambda: archive.move_to(0))
        elif archive.position_hash is not None:
            there = await self._message_at(archive.position)
            if there is not None and hashlib.sha256(there.data or b"").hexdigest() != archive.position_hash:
                log.warning(
                    "message %d of the central log is another than was read; reading all again", archive.position
                )
                await self._do(lambda: archive.move_to(0))

    async def _message_at(self, sequence: int) -> RawStreamMsg | None:
        try:
            return await self._jetstream.get_msg(self._stream, seq=sequence, direct=True)
        except NotFoundError:
            return None

    async def _messages(self) -> JetStreamContext.PullSubscription:
        """From the consumer of the last time where it stands at the archive's position, otherwise from a new one."""
        archive = self._archive
        if self._own_consumer in (None, archive.consumer) and await self._stands_at_position(archive.consumer):
            return await self._jetstream.pull_subscribe_bind(consumer=archive.consumer, stream=self._stream)
        name = self._own_consumer or new_consumer_name()
        await self._do(lambda: archive.rename_consumer(name))
        config = ConsumerConfig(
            name=name,
            durable_name=name,
            description="boxman central archive",
            ack_policy=AckPolicy.EXPLICIT,
            ack_wait=ACK_WAIT_S,
            filter_subject=SUBJECTS,
            deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
            opt_start_seq=archive.position + 1,
            inactive_threshold=CONSUMER_KEPT_S,
        )
        return await consume_anew(self._jetstream, self._stream, config)

    async def _stands_at_position(self, consumer: str) -> bool:
        try:
            info = await self._jetstream.consumer_info(self._stream, consumer)
        except NotFoundError:
            return False
        delivered = info.delivered.stream_seq if info.delivered is not None else 0
        return delivered == self._archive.position and info.num_ack_pending == 0

    # Single tables

    async def _look_for_tables_to_reread(self) -> None:
        for names in await self._do(self._archive.to_reread):
            if names not in self._cursors:
                self._cursors[names] = await self._first_to_reread(names)

    async def _first_to_reread(self, names: Names) -> int:
        head = await self._do(lambda: self._archive.head(names))
        last = await self._message_at(head.last_sequence) if head.last_sequence else None
        if last is None or last.subject != f"craps.{names[0]}.{names[1]}.journal":
            return 1
        message = LogMessage(head.last_sequence, last.subject, last.data or b"")
        return head.last_sequence + 1 if await self._do(lambda: self._archive.holds(message)) else 1

    async def _reread(self, names: Names) -> None:
        """A slice of a table's own messages; at their end, or at an alarm, the table is done with."""
        try:
            own = subject(*names)
        except ValueError:
            await self._end_rereading(names)  # nothing under such a name can be taken
            return
        for _ in range(SLICE_MESSAGES):
            cursor = self._cursors[names]
            try:
                found = await self._jetstream.get_msg(self._stream, seq=cursor, subject=own, direct=True, next=True)
            except NotFoundError:
                await self._reach_end(names, cursor)
                return
            assert found.seq is not None
            message = LogMessage(found.seq, own, found.data or b"")
            taken = await self._do(lambda message=message: self._archive.take(message, in_order=True))  # type: ignore[misc]
            if taken is not Taken.HERE:
                del self._cursors[names]
                return
            self._cursors[names] = found.seq + 1

    async def _reach_end(self, names: Names, cursor: int) -> None:
        """A replica may answer that is a moment behind: what was heard of must have come."""
        head = await self._do(lambda: self._archive.head(names))
        if head.heard_sequence < cursor:
            await self._end_rereading(names)
        else:
            del self._cursors[names]

    async def _end_rereading(self, names: Names) -> None:
        await self._do(lambda: self._archive.reread_done(names))
        del self._cursors[names]


async def _next_messages(messages: JetStreamContext.PullSubscription, wait_s: float) -> list[Msg]:
    """The next messages; none when there is none for so long. Of those that are there already, many at once.

    The client waits the whole time for as many as it is asked for, once it has the first of them.
    """
    batch: list[Msg] = []
    with suppress(TimeoutError):  # the client's own is one
        batch = await messages.fetch(1, timeout=wait_s)
        if batch and (more := min(batch[0].metadata.num_pending, BATCH_MESSAGES - 1)):
            batch += await messages.fetch(more, timeout=wait_s)
    return batch


def _told(message: Any) -> LogMessage:
    about = message.metadata
    moment: datetime = about.timestamp.astimezone(UTC).replace(tzinfo=None)
    heard_at = moment.isoformat(timespec="milliseconds") + "Z"
    return LogMessage(about.sequence.stream, message.subject, message.data, heard_at)


def _first_line(error: OperationalError | InterfaceError) -> str:
    return str(error.orig).strip().partition("\n")[0]
