"""The receiver: takes tables' events over HTTPS (`openapi.json` beside this file) into a store of its own. ASGI.

A reference for central systems that are to take tables' histories themselves, and of use as it is for a small site.
"""

import asyncio
import ipaddress
import json
import re
import time
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from device.event import INTEGER_MAX
from device.https_protocol import (
    BODY_BYTES_MAX,
    BODY_EVENTS_MAX,
    EVENTS_TYPE,
    EXPECTED_HEADER,
    KEY_HEADER,
    ONE_EVENT_BYTES_MAX,
    SIGNATURE_HEADER,
    events_path,
    is_request_signed,
    last_path,
    presence_path,
)
from device.presence import BadPresence, read_presence
from device.uplink_protocol import DeliveryError, pack
from provisioning.central.central_list import KnownTable
from provisioning.central.enrolment_store import CodeRefused, EnrolmentStore
from provisioning.central.event_store import EventStore, NotContinued
from provisioning.central.received_body import read_body
from provisioning.central.receiver_refusals import BROKE_OFF, Refusals, Refused
from provisioning.central.sqlite_store import StoreError
from provisioning.central.wrong_codes import WrongCodes
from provisioning.enrolment import REQUEST_BYTES_MAX, BadMessage, answer, code_in, hash_of

BODY_TIMEOUT_S: Final = 30.0
# More would be answered when nobody waits any longer: a pack takes some 20 ms (seen), and a table gives up after 15 s.
WAITING_MAX: Final = 128
# With the line end after the last event.
_BODY_BYTES_MAX: Final = ONE_EVENT_BYTES_MAX + 1
_ENROLMENT: Final = re.compile(r"/v1/tables/([A-Za-z0-9_-]{1,32})/([A-Za-z0-9_-]{1,32})/enrolment")
_NUMBER: Final = re.compile(r"[1-9][0-9]{0,18}")
_DESCRIPTION: Final = Path(__file__).with_name("openapi.json")

_Result = TypeVar("_Result")
# An object is answered as JSON, bytes are events.
_Handler = Callable[[Request], Awaitable[dict[str, Any] | bytes]]


async def _told_nobody(_table: KnownTable, _presence: bytes) -> None:
    pass


class Receiver:
    """The ASGI application. `refusals` counts for it and for the server around it."""

    def __init__(
        self,
        store: EventStore,
        tables: Iterable[KnownTable],
        refusals: Refusals,
        *,
        on_events: Callable[[KnownTable], None] = lambda _: None,
        on_presence: Callable[[KnownTable, bytes], Awaitable[None]] = _told_nobody,
        enrolments: EnrolmentStore | None = None,
    ) -> None:
        """`on_events` is told whose log has grown, `on_presence` of a table's sign of life (`device.presence`).

        With `enrolments` new units may enrol, also of tables that are in no list.
        """
        self._enrolments = enrolments
        self._wrong_codes = WrongCodes()
        self._on_events = on_events
        self._on_presence = on_presence
        self._store = store
        self._refusals = refusals
        # The store's own thread: events are checked and flushed there, one request after the other.
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="store")
        self._waiting = 0
        self._keys: set[str] = set()
        self._description: dict[str, Any] = json.loads(_DESCRIPTION.read_text(encoding="utf-8"))
        self._routes: dict[str, dict[str, _Handler]] = {
            "/openapi.json": {"GET": self._describe},
            "/v1/refusals": {"GET": self._tell_refusals},
        }
        for table in tables:
            self._keys.add(table.key)
            self._routes[last_path(table.site, table.name)] = {"GET": self._last_of(table)}
            self._routes[presence_path(table.site, table.name)] = {"POST": self._presence_of(table)}
            self._routes[events_path(table.site, table.name)] = {
                "GET": self._page_of(table),
                "POST": self._events_of(table),
            }

    def close(self) -> None:
        """Wait for what is being written."""
        self._writer.shutdown()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        headers: dict[str, str] = {}
        said: dict[str, Any] | bytes
        try:
            status, said = 200, await self._answer(request)
        except ClientDisconnect:
            self._refusals.note(BROKE_OFF, _who(request), "the connection ended before the request was whole")
            return
        except Refused as refused:
            self._refusals.note(refused.reason, _who(request), str(refused))
            end = {} if refused.end is None else dict(zip(("seq", "hash"), refused.end, strict=True))
            status, said = refused.status, {"reason": refused.reason, "text": str(refused)} | end
            if refused.reason == "wrong_method":
                headers["Allow"] = ", ".join(self._methods(_path(request)) or ())
            if refused.reason in ("too_large", "too_slow"):
                # The rest of such a body is not waited for.
                headers["Connection"] = "close"
        if isinstance(said, bytes):
            response = Response(said, status, headers, EVENTS_TYPE)
        else:
            content = json.dumps(said, ensure_ascii=False).encode("utf-8")
            response = Response(content, status, headers, "application/json")
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> dict[str, Any] | bytes:
        methods = self._methods(_path(request))
        if methods is None:
            return await self._unknown(request)
        handler = methods.get(request.method)
        if handler is None:
            raise Refused("wrong_method", f"{request.method} is not taken here, but {' or '.join(methods)}")
        return await handler(request)

    def _methods(self, path: str) -> dict[str, _Handler] | None:
        if self._enrolments is not None and (named := _ENROLMENT.fullmatch(path)):
            return {"POST": self._enrolment_of(self._enrolments, *named.groups())}
        return self._routes.get(path)

    async def _unknown(self, request: Request) -> dict[str, Any]:
        """A path that leads nowhere, or to a table that is in no list, of which nobody is told more than his key is."""
        if _path(request).startswith("/v1/tables/"):
            self._known_key(request)
            raise Refused("foreign_table", "this key is not that table's")
        raise Refused("no_such_path", "there is nothing at this path; /openapi.json says what there is")

    async def _describe(self, _request: Request) -> dict[str, Any]:
        return self._description

    async def _tell_refusals(self, request: Request) -> dict[str, Any]:
        if request.client is None or not ipaddress.ip_address(request.client.host).is_loopback:
            raise Refused("not_loopback", "the refusals are told on the receiver's own machine only")
        return {"refusals": self._refusals.counts}

    def _last_of(self, table: KnownTable) -> _Handler:
        async def last(request: Request) -> dict[str, Any]:
            self._check_key(request, table)
            self._check_signature(request, "", b"")
            end = await self._in_writer(lambda: self._store.end(table.site, table.name))
            return {"seq": end.seq, "hash": end.hash, "event": end.line}

        return last

    def _page_of(self, table: KnownTable) -> _Handler:
        async def page(request: Request) -> bytes:
            self._check_key(request, table)
            self._check_signature(request, "", b"")
            first = _first(request)
            lines = await self._in_writer(lambda: self._store.lines(table.site, table.name, first, BODY_EVENTS_MAX))
            try:
                return pack(lines, first, BODY_BYTES_MAX).payload if lines else b""
            except DeliveryError:
                raise Refused("store_failed", f"the store has a hole at event {first} or behind it") from None

        return page

    def _presence_of(self, table: KnownTable) -> _Handler:
        async def take(request: Request) -> dict[str, Any]:
            self._check_key(request, table)
            body = await _body(request)
            self._check_signature(request, "", body)
            try:
                read_presence(body)
            except BadPresence as error:
                raise Refused("bad_presence", str(error)) from None
            await self._on_presence(table, body)
            return {}

        return take

    def _enrolment_of(self, enrolments: EnrolmentStore, site: str, table: str) -> _Handler:
        async def enrol(request: Request) -> dict[str, Any]:
            address = request.client.host if request.client is not None else ""
            if not self._wrong_codes.may_try(address, time.monotonic()):
                raise Refused("too_many_codes", "too many wrong codes came from this address; try again in a minute")
            key = self._given_key(request)
            body = await _body(request, REQUEST_BYTES_MAX)
            self._check_signature(request, "", body)
            try:
                code_hash = hash_of(code_in(body))
            except BadMessage as error:
                raise Refused("bad_enrolment", str(error)) from None
            now_s = int(time.time())
            try:
                return answer(await self._in_writer(lambda: enrolments.enrol(code_hash, site, table, key, now_s)))
            except CodeRefused as refused:
                if refused.reason in ("wrong_code", "foreign_code"):
                    self._wrong_codes.note(address, time.monotonic())
                raise Refused(refused.reason, str(refused)) from None

        return enrol

    def _events_of(self, table: KnownTable) -> _Handler:
        async def take(request: Request) -> dict[str, Any]:
            self._check_key(request, table)
            if request.headers.get("content-type") != EVENTS_TYPE or "content-encoding" in request.headers:
                raise Refused("wrong_content_type", f"events come as {EVENTS_TYPE}, and not compressed")
            body = await _body(request)
            expected = request.headers.get(EXPECTED_HEADER, "")
            self._check_signature(request, expected, body)
            seq, hash = await self._in_writer(lambda: self._written(table, expected, body))
            self._on_events(table)
            return {"seq": seq, "hash": hash}

        return take

    def _written(self, table: KnownTable, expected: str, body: bytes) -> tuple[int, str]:
        """Check and write, in the store's thread; the end of the log then. Raises Refused or StoreError."""
        events = read_body(body, table.name, expected)
        try:
            self._store.append(table.site, table.name, expected, events)
        except NotContinued as refusal:
            end = refusal.end
            if end.hash == expected:
                raise Refused("broken_chain", f"line 1: seq is {events[0].seq}, where {end.seq + 1} is due") from None
            raise Refused("wrong_expected_hash", str(refusal), (end.seq, end.hash)) from None
        return events[-1].seq, events[-1].hash

    async def _in_writer(self, work: Callable[[], _Result]) -> _Result:
        if self._waiting >= WAITING_MAX:
            raise Refused("too_busy", f"{WAITING_MAX} requests are waiting already; come again later")
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._writer, work)
        except StoreError as error:
            raise Refused("store_failed", str(error)) from error
        finally:
            self._waiting -= 1

    def _given_key(self, request: Request) -> str:
        key = request.headers.get(KEY_HEADER)
        if key is None or SIGNATURE_HEADER not in request.headers:
            raise Refused("no_identity", f"a request needs the headers {KEY_HEADER} and {SIGNATURE_HEADER}")
        return key

    def _known_key(self, request: Request) -> str:
        key = self._given_key(request)
        if key not in self._keys:
            raise Refused("unknown_key", "this key is in no list of tables here")
        return key

    def _check_key(self, request: Request, table: KnownTable) -> None:
        """Before the body, so that none is read from somebody unknown. Raises Refused."""
        if self._known_key(request) != table.key:
            raise Refused("foreign_table", "this key is not that table's")

    def _check_signature(self, request: Request, expected: str, body: bytes) -> None:
        said = request.headers
        if not is_request_signed(
            said[KEY_HEADER], said[SIGNATURE_HEADER], request.method, _target(request), expected, body
        ):
            raise Refused("bad_signature", "the signature is not one of this request by this key")


def _path(request: Request) -> str:
    return str(request.scope["path"])


def _target(request: Request) -> str:
    """The path and the query, as they were signed."""
    query = bytes(request.scope["query_string"]).decode("utf-8", "replace")
    return f"{_path(request)}?{query}" if query else _path(request)


def _first(request: Request) -> int:
    """The event that a page is to begin with. Raises Refused."""
    said = request.query_params.multi_items()
    if len(said) == 1 and said[0][0] == "from" and _NUMBER.fullmatch(said[0][1]) and int(said[0][1]) <= INTEGER_MAX:
        return int(said[0][1])
    raise Refused("bad_from", "the query must be from= and the number of an event, 1 or more")


async def _body(request: Request, bytes_max: int = _BODY_BYTES_MAX) -> bytes:
    """The whole body, never more than fits. Raises Refused or ClientDisconnect."""
    too_large = Refused("too_large", f"a body is at most {min(bytes_max, ONE_EVENT_BYTES_MAX)} bytes long")
    said = request.headers.get("content-length", "0")
    if not (said.isascii() and said.isdecimal()) or len(said) > 20 or int(said) > bytes_max:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_TIMEOUT_S):
            async for part in request.stream():
                body += part
                if len(body) > bytes_max:
                    raise too_large
    except TimeoutError:
        raise Refused("too_slow", f"the body did not come within {BODY_TIMEOUT_S:.0f} s") from None
    return bytes(body)


def _who(request: Request) -> str:
    """The path, cut to what a path of ours can be, and the address it came from."""
    host = request.client.host if request.client is not None else "unknown"
    return f"{_path(request)[:160]!a} from {host}"
