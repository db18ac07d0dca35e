"""A connection to one of the site's NATS servers: whom it trusts, how it signs in, and its failures in plain words."""

import asyncio
import base64
import logging
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import nats.errors
from nats.aio.client import Client
from nats.js.errors import APIError, NoStreamResponseError, NotFoundError, ServiceUnavailableError

from device.ended_tasks import raise_if_cancelled
from device.table_key import TableKey
from device.uplink_protocol import DeliveryError, is_host

CONNECT_TIMEOUT_S: Final = 5
REQUEST_TIMEOUT_S: Final = 5.0
CLOSE_TIMEOUT_S: Final = 2.0
# A peer that vanished without a word is noticed after some three of these.
PING_INTERVAL_S: Final = 10

# Error codes of the JetStream API (nats-server, server/errors.json).
_STREAM_NOT_FOUND: Final = 10059

# Codes of X509_verify_cert_error_string (OpenSSL).
_NOT_YET_VALID: Final = 9
_EXPIRED: Final = 10
_UNTRUSTED: Final = (2, 18, 19, 20, 21)
_OTHER_NAME: Final = (62, 64)

log = logging.getLogger(__name__)


def _is_news(record: logging.LogRecord) -> bool:
    return "eof_received" not in record.getMessage()


# nats-py turns a plain stream into an encrypted one, which asyncio wonders about whenever one ends.
logging.getLogger("asyncio").addFilter(_is_news)


class SignInRefused(DeliveryError):
    """The central server lets nobody in with this key or password, or without one."""


@dataclass(frozen=True)
class NatsAccess:
    """Servers of one cluster (URLs, nats:// or tls://, credentials allowed) and what it takes to get in.

    With `ca`, a file of certificates (PEM), every server must encrypt and have a certificate under one of them,
    whatever its URL says. `key` signs in where a server asks for keys and its URL holds no credentials. Answers come to
    subjects under `inbox`.
    """

    servers: Sequence[str]
    ca: Path | None = None
    key: TableKey | None = None
    inbox: str = "_INBOX"


def inbox_of(owner: str) -> str:
    """Where answers to one table (`site.table`) or reader (its public key) come, which nobody else may listen to."""
    return f"_INBOX_{owner}"


class EncryptingClient(Client):
    """A client that takes tls:// and a CA at their word, and signs in without giving the key's seed away.

    nats-py encrypts when the server asks for it, and otherwise sends a tls:// URL's password in the clear to
    whoever answers. It signs with a seed that it is given; here it gets a signature only.
    """

    def __init__(self, access: NatsAccess) -> None:
        super().__init__()
        self.closed: Final = asyncio.Event()
        self._access: Final = access

    def _connect_command(self) -> bytes:
        server = self._current_server
        encrypts = bool(self._server_info.get("tls_required"))
        if server is not None and server.uri.scheme == "tls" and not encrypts:
            raise DeliveryError("the central server offers no encryption, which its tls:// address demands")
        if self._access.ca is not None and not encrypts:
            raise DeliveryError("the central server offers no encryption, which the CA in the configuration demands")
        key = self._access.key
        if key is not None and "nonce" in self._server_info and not (server is not None and server.uri.username):
            self._auth_configured = True
            self._public_nkey = key.public
            self._signature_cb = lambda nonce: base64.b64encode(bytes.fromhex(key.sign(nonce.encode())))
        return super()._connect_command()


@asynccontextmanager
async def connected(access: NatsAccess, name: str) -> AsyncIterator[EncryptingClient]:
    """A connection, called `name` at the server, that is never taken up again once it broke off.

    Whatever goes wrong with it, inside as well, is raised as DeliveryError.
    """
    trust = _trust(access.ca) if access.ca is not None else None
    client = EncryptingClient(access)
    cause: list[Exception] = []

    async def on_error(error: Exception) -> None:
        # Where signs of life are not let through, as by a server whose files are of an older version, nothing breaks.
        if not str(error).lower().endswith('.presence"'):
            cause[:] = [error]

    async def on_closed() -> None:
        client.closed.set()

    try:
        async with asyncio.timeout(CONNECT_TIMEOUT_S * (1 + 2 * len(access.servers))):
            await client.connect(
                servers=list(access.servers),
                name=name,
                error_cb=on_error,
                closed_cb=on_closed,
                # The client's own reconnecting would go on in the middle of a conversation.
                allow_reconnect=False,
                # The smallest bound that the client knows: with 0 it tries the same servers for ever.
                max_reconnect_attempts=1,
                reconnect_time_wait=0,
                connect_timeout=CONNECT_TIMEOUT_S,
                ping_interval=PING_INTERVAL_S,
                max_outstanding_pings=2,
                inbox_prefix=access.inbox,
                tls=trust,
            )
        raise_if_cancelled()
        cause.clear()  # one of several servers may have failed before another one took us
        yield client
    except (nats.errors.NoServersError, TimeoutError) as error:
        # Why no server would do, or that a request is not permitted, the client tells its listener only.
        told = cause[0] if cause else error
        if isinstance(told, DeliveryError):
            raise told from None
        raise _failure(told, access.key) from error
    except (nats.errors.Error, OSError) as error:
        raise _failure(error, access.key) from error
    finally:
        await _close(client)


def _failure(error: Exception, key: TableKey | None) -> DeliveryError:
    said = explain(error, key)
    return SignInRefused(said) if _refuses_sign_in(error) else DeliveryError(said)


def _refuses_sign_in(error: Exception) -> bool:
    return isinstance(error, nats.errors.Error) and "authorization" in str(error).lower()


async def _close(client: Client) -> None:
    try:
        async with asyncio.timeout(CLOSE_TIMEOUT_S):
            await client.close()
    except (nats.errors.Error, OSError) as error:
        log.debug("closing the link: %s", type(error).__name__)


def _trust(ca: Path) -> ssl.SSLContext:
    """Trust in the certificates of a file and no others. Read at every connection, so that a renewed one is seen."""
    try:
        return check_ca(ca)
    except ValueError as error:
        raise DeliveryError(str(error)) from error


def check_ca(ca: Path) -> ssl.SSLContext:
    """Trust in the certificates of a file and no others. Raises ValueError, in one line, when it holds none."""
    try:
        trusting = ssl.create_default_context(cafile=str(ca))
    except ssl.SSLError as error:
        raise ValueError(f"{ca}: holds no certificate; it should be the site's CA in PEM form") from error
    except OSError as error:
        raise ValueError(f"{ca}: cannot be read ({error.strerror}); it should be the site's CA in PEM form") from error
    return takes_plain_ca(trusting)


def takes_plain_ca(context: ssl.SSLContext) -> ssl.SSLContext:
    """The same context, that takes a site's own CA on any system.

    From 3.13 on Python refuses one that says nothing of what its key is for.
    """
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def check_servers(servers: Sequence[str]) -> list[str]:
    """Return the URLs; the text of a ValueError names one by its place only, since it may hold a password."""
    if not servers:
        raise ValueError("the uplink needs at least one server")
    for place, server in enumerate(servers, start=1):
        try:
            url = urlsplit(server)
            good = url.scheme in ("nats", "tls") and is_host(url.hostname) and url.port != 0
        except ValueError:
            good = False
        if not good:
            raise ValueError(f"server {place} of the uplink is not a URL like nats://central.example:4222")
    return list(servers)


def explain(error: Exception, key: TableKey | None = None) -> str:
    """Say in plain words what went wrong on the way to the central log; no URL, which may hold a password."""
    match error:
        case ConnectionRefusedError():
            return "the central server takes no connections; it may be down"
        case TimeoutError():
            return "the central server does not answer in time"
        case nats.errors.StaleConnectionError() | nats.errors.ConnectionClosedError() | ConnectionError():
            return "the link to the central server broke off"
        case ssl.SSLCertVerificationError():
            return f"the central server's certificate is refused: {_what_is_wrong_with_certificate(error)}"
        case ssl.SSLError():
            return f"the central server's certificate or encryption is refused: {error.reason}"
        case nats.errors.Error() if _refuses_sign_in(error):
            its_list = f"; its list of tables should hold the key {key.public}" if key is not None else ""
            return f"the central server refuses this table's credentials{its_list}"
        case nats.errors.Error() if "permissions violation" in str(error).lower():
            what = str(error).lower().partition("permissions violation for ")[2]
            return f"the central server does not permit it: {what or 'what this table asked for'}"
        case NotFoundError(err_code=code) if code == _STREAM_NOT_FOUND:
            return "the central server has no such stream; it has to be set up there"
        case nats.errors.NoRespondersError():
            return "no central server has this stream ready; if that stays, it has to be set up there"
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


def _what_is_wrong_with_certificate(error: ssl.SSLCertVerificationError) -> str:
    code = error.verify_code
    if code == _EXPIRED:
        return "it has expired, or this table's clock is ahead"
    if code == _NOT_YET_VALID:
        return "it is not valid yet, or this table's clock is behind"
    if code in _UNTRUSTED:
        return "the site's CA has not signed it"
    if code in _OTHER_NAME:
        return "it is of another server than the one in this table's configuration"
    return error.verify_message
