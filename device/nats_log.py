"""The central log on a NATS JetStream stream: one link to it, its end, and publishing under the server's own fence."""

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NoReturn

import nats.errors
from nats.js import JetStreamContext
from nats.js.errors import APIError, NotFoundError

from device.ended_tasks import end_tasks
from device.nats_connection import (
    REQUEST_TIMEOUT_S,
    EncryptingClient,
    NatsAccess,
    check_servers,
    connected,
    inbox_of,
)
from device.table_key import TableKey
from device.uplink import Deliver
from device.uplink_protocol import (
    EMPTY_LOG,
    PACK_BYTES_MAX,
    Batch,
    DeliveryError,
    LogEnd,
    headers,
    presence_subject,
    read_log_end,
    subject,
)

LINK_CHECK_S: Final = 1.0
# A replica that is behind answers anew after so long, and is believed after so many answers.
REPLICA_WAIT_S: Final = 0.1
REPLICA_ANSWERS_MAX: Final = 10

# Error codes of the JetStream API (nats-server, server/errors.json).
_WRONG_LAST_SEQUENCE: Final = (10071, 10164)  # the second is what a replicated stream may say
_SEQUENCE_IN_REFUSAL: Final = re.compile(r"wrong last sequence: ([0-9]{1,19})")


class NatsSystem:
    """The central system on NATS servers, for one table."""

    name: Final = "nats"

    def __init__(
        self,
        servers: Sequence[str],
        site: str,
        table: str,
        stream: str = "CRAPS",
        *,
        ca: Path | None = None,
        key: TableKey | None = None,
    ) -> None:
        """`servers` are URLs of one cluster (nats:// or tls://, credentials allowed).

        `ca` and `key` are those of `NatsAccess`. Raises ValueError for a wrong name or URL. Nothing is connected yet.
        """
        self._subject = subject(site, table)
        self._access = NatsAccess(check_servers(servers), ca, key, inbox_of(f"{site}.{table}"))
        self._site = site
        self._table = table
        self._stream = stream

    async def use(self, deliver: Deliver) -> NoReturn:
        """Connect and have `deliver` deliver until something breaks, which is raised as DeliveryError."""
        async with connected(self._access, f"boxman {self._subject}") as client:
            await self._deliver_until_closed(client, deliver)
        raise AssertionError("delivery ends with an error")

    async def _deliver_until_closed(self, client: EncryptingClient, deliver: Deliver) -> NoReturn:
        # nats-py leaves a request waiting when its connection closes, so the connection is watched beside it.
        log_link = _NatsLink(client, self._site, self._table, self._stream)
        delivery = asyncio.ensure_future(deliver(log_link))
        watch = asyncio.create_task(_watch(client))
        try:
            await asyncio.wait({delivery, watch}, return_when=asyncio.FIRST_COMPLETED)
            for task in (delivery, watch):
                if task.done() and not task.cancelled():
                    task.result()
            raise DeliveryError("the link to the central server broke off")
        finally:
            await end_tasks(delivery, watch)


class _NatsLink:
    """The table's log over one connection (`uplink.CentralLog`)."""

    def __init__(self, client: EncryptingClient, site: str, table: str, stream: str) -> None:
        self._client = client
        self._jetstream: JetStreamContext = client.jetstream(timeout=REQUEST_TIMEOUT_S)
        self._subject = subject(site, table)
        self._presence_subject = presence_subject(site, table)
        # Two sites may each have a table of this name.
        self._owner = f"{site}.{table}"
        self._stream = stream
        # The log is known to have gone as far as this, so an answer with less is a replica's that is behind.
        self._sequence_seen = 0
        self.bytes_max = min(PACK_BYTES_MAX, client.max_payload // 2)

    async def end(self) -> LogEnd:
        for _ in range(REPLICA_ANSWERS_MAX):
            end = await read_end(self._jetstream, self._stream, self._subject)
            if end.sequence >= self._sequence_seen:
                break
            await asyncio.sleep(REPLICA_WAIT_S)
        self._sequence_seen = end.sequence
        return end

    async def publish(self, batch: Batch, sequence: int) -> int | None:
        try:
            ack = await self._jetstream.publish(
                self._subject,
                batch.payload,
                stream=self._stream,
                headers=headers(self._owner, batch, sequence),
            )
        except APIError as error:
            if error.err_code not in _WRONG_LAST_SEQUENCE:
                raise
            said = _SEQUENCE_IN_REFUSAL.search(error.description or "")
            self._sequence_seen = int(said[1]) if said else 0
            return None
        # "Duplicate" speaks of the message's name alone: the server also says so of a message that is gone
        # again (seen with 2.15.1 after a purge). Only the log itself can tell.
        if ack.duplicate:
            return None
        self._sequence_seen = ack.seq
        return ack.seq

    async def tell(self, presence: bytes) -> None:
        # That the link broke off is noticed elsewhere.
        with suppress(nats.errors.Error):
            await self._client.publish(self._presence_subject, presence)


async def read_end(jetstream: JetStreamContext, stream: str, subject: str) -> LogEnd:
    """Where the log under `subject` ends; in a cluster it may be a moment behind, since any replica may answer.

    This is the one form of the question that a server can grant for one subject alone. Raises NATS's errors.
    """
    try:
        message = await jetstream.get_last_msg(stream, subject, direct=True)
    except NotFoundError:
        return EMPTY_LOG
    return read_log_end(message.seq or 0, message.data or b"")


async def _watch(client: EncryptingClient) -> None:
    """Return when the connection is closed. The client may fail to say so when closing fails: look as well."""
    while client.is_connected and not client.closed.is_set():
        try:
            async with asyncio.timeout(LINK_CHECK_S):
                await client.closed.wait()
        except TimeoutError:
            continue
