"""The pit page's HTTP interface: the page, its stream of changes, and who has seen an alert."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route

from device.console.page_files import PAGE_HEADERS, PageFiles
from device.console.page_files import PAGES as CONSOLE_PAGES
from device.console.request_body import read_body
from device.console.requests import BadRequest
from device.console.screen_words import asked_language
from device.dice_control.names import person_fault, same_name
from device.journal import JournalError
from device.languages.alert_texts import alert_said
from device.languages.page_module import chosen_language, words_module
from device.languages.said import said
from provisioning.central.pit_board import Board
from provisioning.central.pit_configuration import PitConfiguration
from provisioning.central.pit_seen import SeenBook

PAGES: Final = Path(__file__).with_name("pit_pages")
_FIELDS: Final = ("site", "table", "alert", "raised", "name")


class _Stale(Exception):
    """The alert is not as the page had it; nothing was recorded."""


def create_pit_app(board: Board, book: SeenBook, configuration: PitConfiguration) -> Starlette:
    """The application; the board is kept up to date by somebody else."""
    recording = asyncio.Lock()

    async def page(_request: Request) -> Response:
        return FileResponse(PAGES / "pit.html", headers=PAGE_HEADERS)

    async def words(request: Request) -> Response:
        language = chosen_language(request.cookies, configuration.language)
        module = words_module(language, "")
        return Response(module, media_type="text/javascript; charset=utf-8", headers={"Cache-Control": "no-store"})

    def told(number: int, language: str) -> dict[str, Any]:
        found = board.since(number)
        views = [_in_language(view, language) for view in found["tables"]]
        return found | {"tables": views, "names": book.names}

    async def tables(request: Request) -> Response:
        return JSONResponse(told(0, _language(request)), headers={"Cache-Control": "no-store"})

    async def stream(request: Request) -> Response:
        language = _language(request)

        async def looks() -> AsyncIterator[str]:
            number = 0
            # A page that is slow to read gets what changed since its last look, and no queue grows.
            while await board.wait(number):
                look = told(number, language)
                number = look["number"]
                yield f"data: {json.dumps(look, separators=(',', ':'))}\n\n"

        return StreamingResponse(looks(), media_type="text/event-stream", headers={"Cache-Control": "no-store"})

    async def seen(request: Request) -> Response:
        given = _given(await _body(request))
        names, name = (given["site"], given["table"]), given["name"]
        async with recording:
            standing = board.standing(names, given["alert"])
            if standing is None:
                raise _Stale("this alert does not stand any more")
            if standing.raised != given["raised"]:
                raise _Stale("this alert says something else now; read it again")
            before = book.who(names, standing)
            if before is None:
                await asyncio.to_thread(book.add, names, standing, name)
                board.tick()
            elif not same_name(before["name"], name):
                raise _Stale(f"{before['name']} has seen this alert already")
            return JSONResponse({"seen": dict(book.who(names, standing) or {})})

    return Starlette(
        routes=[
            Route("/", page),
            Route("/words.js", words),
            Mount("/static", PageFiles(directory=PAGES)),
            Mount("/console", PageFiles(directory=CONSOLE_PAGES)),
            Route("/api/tables", tables),
            Route("/api/stream", stream),
            Route("/api/seen", seen, methods=["POST"]),
        ],
        # A name of somebody else's that resolves to this machine gets nothing.
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=list(configuration.hosts))],
        exception_handlers={
            BadRequest: _bad_request,
            _Stale: _stale,
            JournalError: _not_recorded,
            ClientDisconnect: _client_gone,
        },
    )


def _language(request: Request) -> str:
    return asked_language(request.query_params.get("language"))


def _in_language(view: dict[str, Any], language: str) -> dict[str, Any]:
    """The view as a page of this language shows it: what its alerts say, without the facts behind the text."""
    rules = view["rules"] or ""
    alerts = []
    for alert in view["alerts"]:
        shown = {part: value for part, value in alert.items() if part != "detail"}
        text = alert_said(alert["alert"], alert["text"], alert["detail"], language, rules)
        alerts.append(shown | {"text": text})
    return view | {"alerts": alerts}


def _given(body: Mapping[str, Any]) -> dict[str, Any]:
    for field in body:
        if field not in _FIELDS:
            raise BadRequest(field, "is not known; the fields are " + ", ".join(_FIELDS))
    for field in ("site", "table", "alert"):
        if not isinstance(body.get(field), str):
            raise BadRequest(field, "must be a text")
    if type(body.get("raised")) is not int or body["raised"] < 1:
        raise BadRequest("raised", "must be the number of the event that raised the alert")
    if fault := person_fault(body.get("name")):
        raise BadRequest("name", fault)
    return dict(body)


async def _body(request: Request) -> dict[str, Any]:
    """As a terminal's page sends it; and only a page says where it is from. Raises BadRequest."""
    if request.headers.get("origin") is None:
        raise BadRequest("Origin", "is missing; this is for the pit's own page")
    return await read_body(request)


async def _bad_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, BadRequest)
    return JSONResponse({"field": error.field, "message": said(error.message, _language(request), "")}, status_code=400)


async def _stale(request: Request, error: Exception) -> Response:
    return JSONResponse({"message": said(str(error), _language(request), "")}, status_code=409)


async def _not_recorded(_request: Request, error: Exception) -> Response:
    return JSONResponse({"halted": str(error)}, status_code=503)


async def _client_gone(_request: Request, _error: Exception) -> Response:
    # Nobody is there to read it; nothing was done.
    return Response(status_code=400)
