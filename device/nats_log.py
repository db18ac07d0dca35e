"""The central log on a NATS JetStream stream: one link to it, its end, and publishing under the server's own fence."""

import asyncio
import logging
import ssl
from collections.abc import Sequence
from typing import Final, NoReturn
from urllib.parse import urlsplit

import nats.errors
from nats.aio.client import Client
from nats.js import JetStreamContext
from nats.js.errors import APIError, NoStreamResponseError, NotFoundError, ServiceUnavailableError

from device.uplink import Deliver
from device.uplink_protocol import (
    EMPTY_LOG,
    PACK_BYTES_MAX,
    Batch,
    DeliveryError,
    LogEnd,
    headers,
    read_log_end,
    subject,
)

CONNECT_TIMEOUT_S: Final = 5
REQUEST_TIMEOUT_S: Final = 5.0
CLOSE_TIMEOUT_S: Final = 2.0
# A peer that vanished without a word is noticed after some three of these.
PING_INTERVAL_S: Final = 10
LINK_CHECK_S: Final = 1.0

# Error codes of the JetStream API (nats-server, server/errors.json).
_NO_MESSAGE_FOUND: Final = 10037
_STREAM_NOT_FOUND: Final = 10059
_WRONG_LAST_SEQUENCE: Final = (10071, 10164)  # the second is what a replicated stream may say

log = logging.getLogger(__name__)


class NatsSystem:
    """The central system on NATS servers, for one table."""

    name: Final = "nats"

    def __init__(self, servers: Sequence[str], site: str, table: str, stream: str = "CRAPS") -> None:
        """`servers` are URLs of one cluster (nats:// or tls://, credentials allowed).

        Raises ValueError for a wrong name or URL. Nothing is connected yet.
        """
        self._servers = check_servers(servers)
        self._subject = subject(site, table)
        self._table = table
        self._stream = stream

    async def use(self, deliver: Deliver) -> NoReturn:
        """Connect and have `deliver` deliver until something breaks, which is raised as DeliveryError."""
        try:
            await self._use_one_link(deliver)
        except (nats.errors.Error, OSError) as error:
            raise DeliveryError(explain(error)) from error

    async def _use_one_link(self, deliver: Deliver) -> NoReturn:
        client = EncryptingClient()
        closed = asyncio.Event()
        cause: list[Exception] = []

        async def on_error(error: Exception) -> None:
            cause[:] = [error]

        async def on_closed() -> None:
            closed.set()

        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S * (1 + 2 * len(self._servers))):
                await client.connect(
                    servers=self._servers,
                    name=f"boxman {self._subject}",
                    error_cb=on_error,
                    closed_cb=on_closed,
                    # The client's own reconnecting would go on in the middle of a conversation. Here a new link
                    # always begins with the question where the log ends.
                    allow_reconnect=False,
                    # The smallest bound that the client knows: with 0 it tries the same servers for ever.
                    max_reconnect_attempts=1,
                    reconnect_time_wait=0,
                    connect_timeout=CONNECT_TIMEOUT_S,
                    ping_interval=PING_INTERVAL_S,
                    max_outstanding_pings=2,
                )
            cause.clear()  # one of several servers may have failed before another one took us
            await self._deliver_until_closed(client, closed, deliver)
        except (nats.errors.NoServersError, TimeoutError) as error:
            # Why no server would do, or that a request is not permitted, the client tells its listener only.
            raise cause[0] if cause else error from None
        finally:
            await _close(client)

    async def _deliver_until_closed(self, client: Client, closed: asyncio.Event, deliver: Deliver) -> NoReturn:
        # nats-py leaves a request waiting when its connection closes, so the connection is watched beside it.
        log_link = _NatsLink(client, self._subject, self._table, self._stream)
        delivery = asyncio.ensure_future(deliver(log_link))
        watch = asyncio.create_task(_watch(client, closed))
        try:
            await asyncio.wait({delivery, watch}, return_when=asyncio.FIRST_COMPLETED)
            for task in (delivery, watch):
                if task.done() and not task.cancelled():
                    task.result()
            raise DeliveryError("the link to the central server broke off")
        finally:
            delivery.cancel()
            watch.cancel()
            await asyncio.gather(delivery, watch, return_exceptions=True)


class _NatsLink:
    """The table's log over one connection (`uplink.CentralLog`)."""

    def __init__(self, client: Client, subject: str, table: str, stream: str) -> None:
        self._jetstream: JetStreamContext = client.jetstream(timeout=REQUEST_TIMEOUT_S)
        self._subject = subject
        self._table = table
        self._stream = stream
        self.bytes_max = min(PACK_BYTES_MAX, client.max_payload // 2)

    async def end(self) -> LogEnd:
        # Not the direct form: in a cluster any replica may answer that one, also one that is a moment behind.
        try:
            message = await self._jetstream.get_last_msg(self._stream, self._subject)
        except NotFoundError as error:
            if error.err_code == _NO_MESSAGE_FOUND:
                return EMPTY_LOG
            raise
        return read_log_end(message.seq or 0, message.data or b"")

    async def publish(self, batch: Batch, sequence: int) -> int | None:
        try:
            ack = await self._jetstream.publish(
                self._subject,
                batch.payload,
                stream=self._stream,
                headers=headers(self._table, batch, sequence),
            )
        except APIError as error:
            if error.err_code not in _WRONG_LAST_SEQUENCE:
                raise
            return None
        # "Duplicate" speaks of the message's name alone: the server also says so of a message that is gone
        # again (seen with 2.15.1 after a purge). Only the log itself can tell.
        return None if ack.duplicate else ack.seq


class EncryptingClient(Client):
    """A client that takes tls:// at its word.

    nats-py encrypts when the server asks for it, and otherwise sends a tls:// URL's password in the clear to
    whoever answers.
    """

    def _connect_command(self) -> bytes:
        wants_tls = self._current_server is not None and self._current_server.uri.scheme == "tls"
        if wants_tls and not self._server_info.get("tls_required"):
            raise DeliveryError("the central server offers no encryption, which its tls:// address demands")
        return super()._connect_command()


async def _watch(client: Client, closed: asyncio.Event) -> None:
    """Return when the connection is closed. The client may fail to say so when closing fails: look as well."""
    while client.is_connected and not closed.is_set():
        try:
            async with asyncio.timeout(LINK_CHECK_S):
                await closed.wait()
        except TimeoutError:
            continue


async def _close(client: Client) -> None:
    try:
        async with asyncio.timeout(CLOSE_TIMEOUT_S):
            await client.close()
    except (nats.errors.Error, OSError) as error:
        log.debug("closing the link: %s", type(error).__name__)


def check_servers(servers: Sequence[str]) -> list[str]:
    """Return the URLs; the text of a ValueError names one by its place only, since it may hold a password."""
    if not servers:
        raise ValueError("the uplink needs at least one server")
    for place, server in enumerate(servers, start=1):
        try:
            url = urlsplit(server)
            good = url.scheme in ("nats", "tls") and url.hostname and url.port != 0
        except ValueError:
            good = False
        if not good:
            raise ValueError(f"server {place} of the uplink is not a URL like nats://central.example:4222")
    return list(servers)


def explain(error: Exception) -> str:
    """Say in plain words what went wrong on the way to the central log; no URL, which may hold a password."""
    match error:
        case ConnectionRefusedError():
            return "the central server takes no connections; it may be down"
        case TimeoutError():
            return "the central server does not answer in time"
        case nats.errors.StaleConnectionError() | nats.errors.ConnectionClosedError() | ConnectionError():
            return "the link to the central server broke off"
        case ssl.SSLError():
            return f"the central server's certificate or encryption is refused: {error.reason}"
        case nats.errors.Error() if "authorization" in str(error).lower():
            return "the central server refuses this table's credentials"
        case NotFoundError(err_code=code) if code == _STREAM_NOT_FOUND:
            return "the central server has no such stream; it has to be set up there"
        case NoStreamResponseError():
            return "no stream on the central server takes this table's events; it has to be set up there"
        case ServiceUnavailableError():
            return "the central server's stream is not available at the moment"
        case APIError():
            return f"the central server refuses: {error.description} (code {error.err_code})"
        case OSError():
            return f"the central server cannot be reached: {error.strerror or 'no address of it answers'}"
        case _:
            return f"the central server or the link to it fails: {str(error).removeprefix('nats: ')}"
