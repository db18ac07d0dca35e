"""The central log behind HTTPS (`https_protocol`): one link to it, its end, and writing under the last hash."""

import asyncio
import json
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NoReturn

import httpx

from device import nats_connection
from device.ended_tasks import end_tasks
from device.https_protocol import (
    ANSWER_BYTES_MAX,
    BODY_BYTES_MAX,
    EVENTS_TYPE,
    EXPECTED_HEADER,
    OTHER_END,
    Answer,
    check_address,
    events_path,
    explain,
    hash_of,
    last_path,
    read_end,
    read_written,
    signed_headers,
)
from device.nats_connection import check_ca
from device.table_key import TableKey
from device.uplink import Deliver
from device.uplink_protocol import Batch, DeliveryError, LogEnd

# A whole pack over a line of 20 KB a second; the answer takes a flush at the centre.
REQUEST_TIMEOUT_S: Final = 15.0
# An idle link is asked so often whether it still is one, and where the log ends. A receiver keeps it open for longer.
PROBE_S: Final = 20.0


class HttpsSystem:
    """The central system behind an HTTPS address, for one table."""

    name: Final = "https"

    def __init__(self, address: str, site: str, table: str, key: TableKey, ca: Path | None) -> None:
        """`ca` is a file of the certificates that alone vouch for the system; None: those of the operating system.

        Raises ValueError for a wrong name or address. Nothing is connected yet.
        """
        self._address = check_address(address)
        self._last_path = last_path(site, table)
        self._events_path = events_path(site, table)
        self._key = key
        self._ca = ca

    async def use(self, deliver: Deliver) -> NoReturn:
        """Have `deliver` deliver until something breaks, which is raised as DeliveryError."""
        # Nothing of the surroundings (proxies, .netrc) has a say in where a table's history goes.
        async with httpx.AsyncClient(
            base_url=self._address,
            verify=self._tls(),
            trust_env=False,
            timeout=None,  # noqa: S113 - one for the whole of a request is set around it
            limits=httpx.Limits(max_connections=1, keepalive_expiry=3 * PROBE_S),
            headers={"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "boxman"},
        ) as client:
            link = _HttpsLink(client, self._last_path, self._events_path, self._key)
            delivery = asyncio.ensure_future(deliver(link))
            probing = asyncio.create_task(link.probe())
            try:
                await asyncio.wait({delivery, probing}, return_when=asyncio.FIRST_COMPLETED)
                for task in (delivery, probing):
                    if task.done() and not task.cancelled():
                        task.result()
                raise DeliveryError("the link to the central server broke off")
            finally:
                await end_tasks(delivery, probing)

    def _tls(self) -> ssl.SSLContext:
        # Read at every link, so that a new file is in force without a restart.
        if self._ca is None:
            return ssl.create_default_context()
        try:
            return check_ca(self._ca)
        except ValueError as error:
            raise DeliveryError(str(error)) from error


class _HttpsLink:
    """The table's log over one connection (`uplink.CentralLog`)."""

    bytes_max = BODY_BYTES_MAX

    def __init__(self, client: httpx.AsyncClient, last_path: str, events_path: str, key: TableKey) -> None:
        self._client = client
        self._last_path = last_path
        self._events_path = events_path
        self._key = key
        # One request at a time, as on one connection.
        self._turn = asyncio.Lock()
        self._asked_s = asyncio.get_running_loop().time()
        # The event that the log was last said to end with, None where that is open.
        self._end_hash: str | None = None

    async def end(self) -> LogEnd:
        async with self._turn:
            return await self._ask_end()

    async def publish(self, batch: Batch, sequence: int) -> int | None:
        assert batch.first == sequence + 1
        first, last = (json.loads(line) for line in _first_and_last(batch.payload))
        async with self._turn:
            self._end_hash = None
            headers = {"Content-Type": EVENTS_TYPE, EXPECTED_HEADER: first["prev"]}
            answer = await self._request("POST", self._events_path, first["prev"], batch.payload, headers)
            if not read_written(answer, batch.last, last["hash"]):
                return None
            self._end_hash = last["hash"]
            return batch.last

    async def tell(self, presence: bytes) -> None:
        """A receiver hears from the table by its probes."""

    async def probe(self) -> NoReturn:
        """Ask the log where it ends whenever nothing was asked for a while. Raises DeliveryError."""
        clock = asyncio.get_running_loop().time
        while True:
            await asyncio.sleep(max(0.0, self._asked_s + PROBE_S - clock()))
            async with self._turn:
                if clock() - self._asked_s < PROBE_S:
                    continue
                before = self._end_hash
                end = await self._ask_end()
            if before not in (None, self._end_hash):
                raise DeliveryError(f"the central log has changed meanwhile, and now ends at event {end.seq}")

    async def _ask_end(self) -> LogEnd:
        end = read_end(await self._request("GET", self._last_path, "", b"", {}))
        self._end_hash = hash_of(end)
        return end

    async def _request(self, method: str, path: str, expected: str, body: bytes, headers: dict[str, str]) -> Answer:
        """Send a request and read the whole of a good answer, or of one that the log ends elsewhere.

        Raises DeliveryError.
        """
        headers = headers | signed_headers(self._key, method, path, expected, body)
        try:
            async with (
                asyncio.timeout(REQUEST_TIMEOUT_S),
                self._client.stream(method, path, content=body or None, headers=headers) as response,
            ):
                answer = Answer(response.status_code, await _bounded(response))
        except (httpx.HTTPError, TimeoutError) as error:
            raise DeliveryError(_why_it_broke(error)) from error
        finally:
            self._asked_s = asyncio.get_running_loop().time()
        if answer.status not in (200, OTHER_END):
            raise DeliveryError(explain(answer, self._key.public))
        return answer


async def _bounded(response: httpx.Response) -> bytes:
    body = bytearray()
    async for part in response.aiter_raw():
        body += part
        if len(body) > ANSWER_BYTES_MAX:
            raise DeliveryError("the central server's answer is longer than any that could be right")
    return bytes(body)


def _first_and_last(payload: bytes) -> tuple[bytes, bytes]:
    return payload.partition(b"\n")[0], payload.rpartition(b"\n")[2]


def _why_it_broke(error: Exception) -> str:
    """Say in plain words what went wrong on the way to the central log."""
    for cause in _causes(error):
        if isinstance(cause, OSError):
            return nats_connection.explain(cause)
    return "the link to the central server broke off"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what it was raised for, the innermost first."""
    inner = error.__cause__ or error.__context__
    if inner is not None:
        yield from _causes(inner)
    yield error
