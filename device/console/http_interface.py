"""The HTTP interface: pages, state, its stream, and commands. Nothing here decides; the terminal does."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from device.console.dice_reports import PAGES as DICE_PAGES
from device.console.dice_reports import DiceReports, ReportFailed
from device.console.requests import (
    BODY_BYTES_MAX,
    BadRequest,
    parse_acknowledge,
    parse_bare,
    parse_body,
    parse_dice,
    parse_open,
    parse_step,
    parse_take_back,
)
from device.console.virtual_table import VirtualControls
from device.recorder import Busy, Halted, IdReused
from device.settings import Settings
from device.terminal import Terminal
from engine_lite import rule_sets
from engine_lite.refusal import Refused
from engine_lite.rule_compiler import compile_rules

PAGES = Path(__file__).parent / "pages"
HEARTBEAT_S = 1.0
# A page loads only what the terminal itself serves, and is shown in no other page's frame.
_PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
}

# A report brings its own style in the page and no script; it is printed, not framed.
_REPORT_HEADERS = _PAGE_HEADERS | {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
}


def create_app(
    terminal: Terminal, settings: Settings, reports: DiceReports, controls: VirtualControls | None
) -> Starlette:
    """The application for one terminal; `controls` drive the virtual table where the hardware is virtual."""
    rules = _rules_view()

    def page(name: str) -> Callable[[Request], Any]:
        async def serve(_request: Request) -> Response:
            return FileResponse(PAGES / name, headers=_PAGE_HEADERS)

        return serve

    def state_view() -> dict[str, Any]:
        return terminal.state | {"virtual": controls is not None}

    async def state(_request: Request) -> Response:
        return JSONResponse(state_view(), headers={"Cache-Control": "no-store"})

    async def stream(_request: Request) -> Response:
        async def changes() -> AsyncIterator[str]:
            version = -1
            while not terminal.closing:
                try:
                    async with asyncio.timeout(HEARTBEAT_S):
                        version = await terminal.wait_for_change(version)
                except TimeoutError:
                    yield ": alive\n\n"
                else:
                    yield f"data: {json.dumps(state_view(), separators=(',', ':'))}\n\n"

        return StreamingResponse(changes(), media_type="text/event-stream", headers={"Cache-Control": "no-store"})

    async def rule_list(_request: Request) -> Response:
        current = _rule_set_view(terminal.rule_set)
        others = [view for view in rules if view["name"] != current["name"]]
        return JSONResponse({"current": current["name"], "sets": [*others, current]})

    async def command(request: Request) -> Response:
        parsed = parse_step(await _body(request))
        return JSONResponse(_answer(await terminal.command(parsed.step, parsed.command, parsed.after_roll)))

    async def take_back(request: Request) -> Response:
        parsed = parse_take_back(await _body(request))
        return JSONResponse(_answer(await terminal.take_back(parsed.correcting, parsed.command)))

    async def acknowledge(request: Request) -> Response:
        parsed = parse_acknowledge(await _body(request))
        answer = await terminal.acknowledge(parsed.alert, parsed.raised, parsed.name, parsed.command)
        return JSONResponse(_answer(answer))

    async def close_table(request: Request) -> Response:
        return JSONResponse(_answer(await terminal.close_table(parse_bare(await _body(request)))))

    async def dice(request: Request) -> Response:
        parsed = parse_dice(await _body(request))
        return JSONResponse(_answer(await terminal.dice_action(parsed.action, parsed.command)))

    def dice_page(kind: str) -> Callable[[Request], Any]:
        async def serve(request: Request) -> Response:
            asked = request.query_params
            made = await reports.page(kind, asked.get("day"), asked.get("language"))
            return Response(made, media_type="text/html; charset=utf-8", headers=_REPORT_HEADERS)

        return serve

    async def dice_fairness(_request: Request) -> Response:
        return Response(await reports.fairness(), media_type="application/json", headers={"Cache-Control": "no-store"})

    async def no_more_bets(request: Request) -> Response:
        return JSONResponse(_answer(await terminal.no_more_bets(parse_bare(await _body(request)))))

    async def hardware(_request: Request) -> Response:
        return JSONResponse(terminal.hardware(), headers={"Cache-Control": "no-store"})

    async def open_table(request: Request) -> Response:
        parsed = parse_open(await _body(request))
        return JSONResponse(_answer(await terminal.open_table(parsed.terms, parsed.command)))

    routes: list[BaseRoute] = [
        Route("/", page("console.html")),
        Mount("/static", _PageFiles(directory=PAGES)),
        Route("/api/state", state),
        Route("/api/stream", stream),
        Route("/api/rules", rule_list),
        Route("/api/command", command, methods=["POST"]),
        Route("/api/take_back", take_back, methods=["POST"]),
        Route("/api/acknowledge", acknowledge, methods=["POST"]),
        Route("/api/dice", dice, methods=["POST"]),
        Route("/api/dice/fairness", dice_fairness),
        *(Route(f"/dice/{kind}", dice_page(kind)) for kind in DICE_PAGES),
        Route("/api/close", close_table, methods=["POST"]),
        Route("/api/no_more_bets", no_more_bets, methods=["POST"]),
        Route("/api/hardware", hardware),
        Route("/api/open", open_table, methods=["POST"]),
    ]
    if controls is not None:
        drive = controls

        async def virtual(request: Request) -> Response:
            if request.method == "POST":
                await drive.apply(await _body(request))
                return JSONResponse({})
            return JSONResponse(drive.view(), headers={"Cache-Control": "no-store"})

        routes += [Route("/virtual", page("virtual.html")), Route("/api/virtual", virtual, methods=["GET", "POST"])]
    return Starlette(
        routes=routes,
        # A name of somebody else's that resolves to this machine gets nothing.
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=list(settings.hosts))],
        exception_handlers={
            BadRequest: _bad_request,
            Refused: _refused,
            Halted: _halted,
            IdReused: _id_reused,
            ClientDisconnect: _client_gone,
            Busy: _busy,
            ReportFailed: _report_failed,
        },
    )


class _PageFiles(StaticFiles):
    """Files that a browser asks for anew each time, so that an update never mixes old and new ones."""

    def file_response(self, *arguments: Any, **more: Any) -> Response:
        response = super().file_response(*arguments, **more)
        response.headers["Cache-Control"] = "no-cache"
        return response


def _answer(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: answer[name] for name in ("seq", "results", "point", "repeated")}


async def _body(request: Request) -> dict[str, Any]:
    """The JSON object that a page of this terminal sent, within bounds. Raises BadRequest."""
    origin = request.headers.get("origin")
    if origin is not None and origin.split("://")[-1] != request.headers.get("host"):
        raise BadRequest("Origin", "must be this terminal's own page")
    if request.headers.get("content-type", "").split(";")[0].strip() != "application/json":
        raise BadRequest("Content-Type", "must be application/json")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > BODY_BYTES_MAX:
            raise BadRequest("body", f"must be at most {BODY_BYTES_MAX} bytes")
    return parse_body(body)


async def _bad_request(_request: Request, error: Exception) -> Response:
    assert isinstance(error, BadRequest)
    return JSONResponse({"field": error.field, "message": error.message}, status_code=400)


async def _refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return JSONResponse({"refused": error.code, "message": error.message}, status_code=409)


async def _id_reused(_request: Request, _error: Exception) -> Response:
    return await _bad_request(_request, BadRequest("id", "was used for another action; each action needs its own"))


async def _client_gone(_request: Request, _error: Exception) -> Response:
    # Nobody is there to read it; nothing was done.
    return Response(status_code=400)


async def _halted(_request: Request, error: Exception) -> Response:
    return JSONResponse({"halted": str(error)}, status_code=503)


async def _busy(_request: Request, error: Exception) -> Response:
    return JSONResponse({"message": str(error)}, status_code=429)


async def _report_failed(_request: Request, error: Exception) -> Response:
    return JSONResponse({"message": str(error)}, status_code=500)


def _rules_view() -> list[dict[str, Any]]:
    """What the pages need to know of each rule set: its bets, options and reasons of a void throw."""
    return [_rule_set_view(rule_sets.load(name)) for name in rule_sets.NAMES]


def _rule_set_view(data: dict[str, Any]) -> dict[str, Any]:
    rules = compile_rules(data)
    return {
        "name": rules.name,
        "title": rules.title,
        "options": data["options"],
        "bets": [
            {
                "kind": kind,
                "name": rule.name,
                "numbers": [] if rule.stage == "line" else rules.numbers(kind),
                "stage": rule.stage,
            }
            for kind in rules.kinds
            if (rule := rules.one(kind)) is not None
        ],
        "warnings": rules.warnings,
        "no_roll": {reason: _reason_text(reason, said) for reason, said in data["no_roll"].items()},
    }


def _reason_text(reason: str, said: dict[str, Any]) -> str:
    """A reason as a button says it, with a warning where the regulation reads such dice."""
    text = reason.replace("_", " ").capitalize()
    return text if said["void"] else f"{text} (read here, {said['source']})"
