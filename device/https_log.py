"""The central log behind HTTPS (`https_protocol`): one link to it, its end, and writing under the last hash."""

import asyncio
import json
import logging
from pathlib import Path
from typing import Final, NoReturn

import httpx

from device.ended_tasks import end_tasks
from device.https_connection import KEPT_S, LinkBroke, ask, https_client
from device.https_protocol import (
    BODY_BYTES_MAX,
    EVENTS_TYPE,
    EXPECTED_HEADER,
    NOT_TAKEN,
    PRESENCE_TYPE,
    Answer,
    check_address,
    events_path,
    hash_of,
    last_path,
    presence_path,
    read_end,
    read_written,
)
from device.table_key import TableKey
from device.uplink import Deliver
from device.uplink_protocol import Batch, DeliveryError, LogEnd

# An idle link is asked so often whether it still is one, and where the log ends.
PROBE_S: Final = 20.0
assert PROBE_S < KEPT_S

log = logging.getLogger(__name__)


class HttpsSystem:
    """The central system behind an HTTPS address, for one table."""

    name: Final = "https"

    def __init__(self, address: str, site: str, table: str, key: TableKey, ca: Path | None) -> None:
        """`ca` is a file of the certificates that alone vouch for the system; None: those of the operating system.

        Raises ValueError for a wrong name or address. Nothing is connected yet.
        """
        self._address = check_address(address)
        self._site = site
        self._table = table
        last_path(site, table)
        self._key = key
        self._ca = ca

    async def use(self, deliver: Deliver) -> NoReturn:
        """Have `deliver` deliver until something breaks, which is raised as DeliveryError."""
        async with https_client(self._address, self._ca) as client:
            link = _HttpsLink(client, self._site, self._table, self._key)
            delivery = asyncio.ensure_future(deliver(link))
            probing = asyncio.create_task(link.probe())
            try:
                ends = (delivery, probing, link.broken)
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
                for task in ends:
                    if task.done() and not task.cancelled():
                        task.result()
                raise DeliveryError("the link to the central server broke off")
            finally:
                await end_tasks(delivery, probing)


class _HttpsLink:
    """The table's log over one connection (`uplink.CentralLog`)."""

    bytes_max = BODY_BYTES_MAX

    def __init__(self, client: httpx.AsyncClient, site: str, table: str, key: TableKey) -> None:
        self._client = client
        self._last_path = last_path(site, table)
        self._events_path = events_path(site, table)
        self._presence_path = presence_path(site, table)
        self._key = key
        # One request at a time, as on one connection.
        self._turn = asyncio.Lock()
        self._asked_s = asyncio.get_running_loop().time()
        self.broken: Final[asyncio.Future[NoReturn]] = asyncio.get_running_loop().create_future()
        # A central system need not take signs of life, and is not asked for it again then.
        self._takes_presence = True
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
            answer = await self._ask("POST", self._events_path, first["prev"], batch.payload, headers)
            if not read_written(answer, batch.last, last["hash"]):
                return None
            self._end_hash = last["hash"]
            return batch.last

    async def tell(self, presence: bytes) -> None:
        if not self._takes_presence:
            return
        async with self._turn:
            try:
                answer = await ask(
                    self._client,
                    self._key,
                    "POST",
                    self._presence_path,
                    body=presence,
                    headers={"Content-Type": PRESENCE_TYPE},
                    good=(200, *NOT_TAKEN),
                )
                self._takes_presence = answer.status == 200
            except LinkBroke as error:
                if not self.broken.done():
                    self.broken.set_exception(error)
            except DeliveryError as error:
                # Events may be taken all the same.
                log.debug("a sign of life was not taken: %s", error)

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
        end = read_end(await self._ask("GET", self._last_path, "", b"", {}))
        self._end_hash = hash_of(end)
        return end

    async def _ask(self, method: str, path: str, expected: str, body: bytes, headers: dict[str, str]) -> Answer:
        """As `https_connection.ask`; it counts as a sign that the link is one."""
        try:
            return await ask(self._client, self._key, method, path, expected=expected, body=body, headers=headers)
        finally:
            self._asked_s = asyncio.get_running_loop().time()


def _first_and_last(payload: bytes) -> tuple[bytes, bytes]:
    return payload.partition(b"\n")[0], payload.rpartition(b"\n")[2]
