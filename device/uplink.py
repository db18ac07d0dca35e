"""The uplink: delivers the journal to the central NATS JetStream stream, in order, without hole or duplicate.

It is one more reader of the journal and holds no queue, so killing it loses nothing. Where to go on is asked of
the log on every connect, never assumed: that settles lost acknowledgements, long outages and lost tails alike.
"""

import asyncio
import logging
import random
import sqlite3
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import urlsplit

import nats.errors
from nats.aio.client import Client
from nats.js import JetStreamContext
from nats.js.errors import APIError, NoStreamResponseError, NotFoundError, ServiceUnavailableError

from device.delivery_record import DeliveryRecord
from device.uplink_protocol import (
    EMPTY_LOG,
    PACK_BYTES_MAX,
    PACK_EVENTS_MAX,
    Backoff,
    Batch,
    DeliveryError,
    LogEnd,
    fence_reason,
    headers,
    pack,
    read_log_end,
    subject,
)

TARGET: Final = "nats"

CONNECT_TIMEOUT_S: Final = 5
REQUEST_TIMEOUT_S: Final = 5.0
CLOSE_TIMEOUT_S: Final = 2.0
# A peer that vanished without a word is noticed after some three of these.
PING_INTERVAL_S: Final = 10
LINK_CHECK_S: Final = 1.0
FENCE_RECHECK_S: Final = 30.0

# Error codes of the JetStream API (nats-server, server/errors.json).
_NO_MESSAGE_FOUND: Final = 10037
_STREAM_NOT_FOUND: Final = 10059
_WRONG_LAST_SEQUENCE: Final = (10071, 10164)  # the second is what a replicated stream may say

log = logging.getLogger(__name__)


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
        record: DeliveryRecord,
        servers: Sequence[str],
        site: str,
        table: str,
        stream: str = "CRAPS",
        on_change: Callable[[UplinkStatus], None],
        on_alert: Callable[[str, str], None],
        random: random.Random,
    ) -> None:
        """Prepare; nothing is connected yet.

        `read_events(first, limit)` returns canonical lines of the journal from event `first` on. `servers` are
        URLs of one cluster (nats:// or tls://, credentials allowed). `on_alert` gets a code
        ("uplink_fenced" or "log_lost_tail") and a text. Raises ValueError for a wrong name or URL.
        """
        self._read_events = read_events
        self._last_seq = last_seq
        self._record = record
        self._servers = check_servers(servers)
        self._subject = subject(site, table)
        self._table = table
        self._stream = stream
        self._on_change = on_change
        self._on_alert = on_alert
        self._random = random
        self._news = asyncio.Event()
        self._online_since: float | None = None
        self._status = UplinkStatus("offline", record.read(TARGET).seq, None)

    @property
    def status(self) -> UplinkStatus:
        """The status as last told to `on_change`."""
        return self._status

    def notify(self) -> None:
        """Say that events were committed. To be called in the event loop of `run`."""
        self._news.set()

    async def run(self) -> None:
        """Deliver until cancelled. No error ends it: it is shown in the status, and tried again."""
        backoff = Backoff(self._random)
        clock = asyncio.get_running_loop().time
        while True:
            self._online_since = None
            try:
                await self._use_one_link()
            except DeliveryError as error:
                text = str(error)
            except (nats.errors.Error, OSError) as error:
                text = explain(error)
            except Exception as error:
                log.exception("unexpected error in the uplink")
                text = f"an unexpected error ({type(error).__name__}); the log of this unit has the details"
            # A fence is a fact about the log. Losing the link does not lift it.
            state: Literal["fenced", "offline"] = "fenced" if self._status.state == "fenced" else "offline"
            self._report(UplinkStatus(state, self._status.delivered, text))
            lasted_s = 0.0 if self._online_since is None else clock() - self._online_since
            await asyncio.sleep(backoff.delay_s(lasted_s))

    async def _use_one_link(self) -> None:
        """Connect and deliver until something breaks, which is raised."""
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
            await self._deliver_until_closed(client, closed)
        except (nats.errors.NoServersError, TimeoutError) as error:
            # Why no server would do, or that a request is not permitted, the client tells its listener only.
            raise cause[0] if cause else error from None
        finally:
            await _close(client)

    async def _deliver_until_closed(self, client: Client, closed: asyncio.Event) -> None:
        # nats-py leaves a request waiting when its connection closes, so the connection is watched beside it.
        deliver = asyncio.create_task(self._deliver(client))
        watch = asyncio.create_task(_watch(client, closed))
        try:
            await asyncio.wait({deliver, watch}, return_when=asyncio.FIRST_COMPLETED)
            for task in (deliver, watch):
                if task.done() and not task.cancelled():
                    task.result()
            raise DeliveryError("the link to the central server broke off")
        finally:
            deliver.cancel()
            watch.cancel()
            await asyncio.gather(deliver, watch, return_exceptions=True)

    async def _deliver(self, client: Client) -> None:
        stream = client.jetstream(timeout=REQUEST_TIMEOUT_S)
        bytes_max = min(PACK_BYTES_MAX, client.max_payload // 2)
        end = await self._resume(stream)
        while True:
            self._news.clear()
            lines = self._read_events(end.seq + 1, PACK_EVENTS_MAX)
            if lines:
                end = await self._publish(stream, pack(lines, end.seq + 1, bytes_max), end)
            else:
                await self._news.wait()

    async def _resume(self, stream: JetStreamContext) -> LogEnd:
        """Return where to go on, once the log is found to be a beginning of our journal."""
        while True:
            end = await self._ask_log(stream)
            own = self._read_events(end.seq, 1) if end.seq else []
            reason = fence_reason(end, self._last_seq(), own[0] if own else None)
            if reason is None:
                break
            self._fence(reason)
            await asyncio.sleep(self._random.uniform(FENCE_RECHECK_S / 2, FENCE_RECHECK_S))
        if end.seq < self._status.delivered:
            self._alert(
                "log_lost_tail",
                f"the central log ends at event {end.seq}, though it acknowledged event "
                f"{self._status.delivered}; the missing events are sent again",
            )
        self._reached(end)
        return end

    async def _ask_log(self, stream: JetStreamContext) -> LogEnd:
        # Not the direct form: in a cluster any replica may answer that one, also one that is a moment behind.
        try:
            message = await stream.get_last_msg(self._stream, self._subject)
        except NotFoundError as error:
            if error.err_code == _NO_MESSAGE_FOUND:
                return EMPTY_LOG
            raise
        return read_log_end(message.seq or 0, message.data or b"")

    async def _publish(self, stream: JetStreamContext, batch: Batch, end: LogEnd) -> LogEnd:
        """Publish one message after `end` and return the new end of the log."""
        try:
            ack = await stream.publish(
                self._subject,
                batch.payload,
                stream=self._stream,
                headers=headers(self._table, batch, end.sequence),
            )
        except APIError as error:
            if error.err_code not in _WRONG_LAST_SEQUENCE:
                raise
            refused = True
        else:
            # "Duplicate" speaks of the message's name alone: the server also says so of a message that is gone
            # again (seen with 2.15.1 after a purge). Only the log itself can tell.
            refused = bool(ack.duplicate)
        if refused:
            new_end = await self._resume(stream)
            if new_end.sequence == end.sequence:
                raise DeliveryError(f"the central log does not take events {batch.first} to {batch.last} at the moment")
            return new_end
        new_end = LogEnd(ack.seq, batch.last, batch.payload.rpartition(b"\n")[2].decode())
        self._reached(new_end)
        return new_end

    def _reached(self, end: LogEnd) -> None:
        """Keep and tell that the log has everything up to `end`."""
        if self._online_since is None:
            self._online_since = asyncio.get_running_loop().time()
        try:
            self._record.set(TARGET, end.seq, end.sequence)
        except sqlite3.Error as error:
            # A full disk must not stop what makes room on it. The log is asked again after a restart.
            log.warning("the delivery record was not written: %s", error)
        self._report(UplinkStatus("online", end.seq, None))

    def _fence(self, reason: str) -> None:
        was_fenced = self._status.state == "fenced"
        self._report(UplinkStatus("fenced", self._status.delivered, reason))
        if not was_fenced:
            self._alert("uplink_fenced", reason)

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
