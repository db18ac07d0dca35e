"""A connection to a central system over HTTPS: whom it trusts, one signed request, and its failures in plain words."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Container, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import httpx

from device import nats_connection
from device.https_protocol import ANSWER_BYTES_MAX, OTHER_END, Answer, explain, signed_headers
from device.nats_connection import check_ca
from device.table_key import TableKey
from device.uplink_protocol import DeliveryError

# A whole pack over a line of 20 KB a second; the answer takes a flush at the centre.
REQUEST_TIMEOUT_S: Final = 15.0
# An idle connection is kept for so long; a receiver keeps it for longer.
KEPT_S: Final = 60.0


class LinkBroke(DeliveryError):
    """No answer came, or the way there could not be had."""


@asynccontextmanager
async def https_client(address: str, ca: Path | None) -> AsyncIterator[httpx.AsyncClient]:
    """For one connection to `address` (`https_protocol.check_address`); nothing is connected yet.

    `ca` is a file of the certificates that alone vouch for the system; None: those of the operating system. Raises
    DeliveryError.
    """
    # Nothing of the surroundings (proxies, .netrc) has a say in where a table's history goes.
    async with httpx.AsyncClient(
        base_url=address,
        verify=_tls(ca),
        trust_env=False,
        timeout=None,  # noqa: S113 - one for the whole of a request is set around it
        limits=httpx.Limits(max_connections=1, keepalive_expiry=KEPT_S),
        headers={"Accept-Encoding": "identity", "User-Agent": "boxman"},
    ) as client:
        yield client


async def ask(
    client: httpx.AsyncClient,
    key: TableKey,
    method: str,
    target: str,
    *,
    expected: str = "",
    body: bytes = b"",
    headers: Mapping[str, str] | None = None,
    good: Container[int] = (200, OTHER_END),
) -> Answer:
    """Send a request that `key` signs and read the whole of the answer, whose status must be one of `good`.

    `target` is the path, with the query if there is one. Raises DeliveryError, in words for the screen, of which
    LinkBroke says that there is no answer.
    """
    signed = dict(headers or {}) | signed_headers(key, method, target, expected, body)
    try:
        async with (
            asyncio.timeout(REQUEST_TIMEOUT_S),
            client.stream(method, target, content=body or None, headers=signed) as response,
        ):
            answer = Answer(response.status_code, await _bounded(response))
    except (httpx.HTTPError, TimeoutError) as error:
        raise LinkBroke(_why_it_broke(error)) from error
    if answer.status not in good:
        raise DeliveryError(explain(answer, key.public))
    return answer


def _tls(ca: Path | None) -> ssl.SSLContext:
    # Read at every link, so that a new file is in force without a restart.
    if ca is None:
        return ssl.create_default_context()
    try:
        return check_ca(ca)
    except ValueError as error:
        raise DeliveryError(str(error)) from error


async def _bounded(response: httpx.Response) -> bytes:
    body = bytearray()
    async for part in response.aiter_raw():
        body += part
        if len(body) > ANSWER_BYTES_MAX:
            raise DeliveryError("the central server's answer is longer than any that could be right")
    return bytes(body)


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
