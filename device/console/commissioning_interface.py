"""The HTTP interface while a table is commissioned: the page of it, and nothing of the game, which rests.

Whatever else of the terminal is asked for is sent to that page, so that a screen that was there before comes along.
"""

import asyncio
from pathlib import Path
from typing import Any, Final, Protocol

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from device.console.commissioning_key import has_key
from device.console.commissioning_reports import reports_route
from device.console.commissioning_requests import Deed, parse_deed
from device.console.http_interface import error_answers
from device.console.page_files import PAGES, PageFiles, page_route
from device.console.page_paths import COMMISSION_PATH
from device.console.page_words import words_route
from device.console.painted import painted_routes
from device.console.request_body import read_body
from device.console.screen_words import asked_language
from device.console.virtual_routes import virtual_routes
from device.console.virtual_table import VirtualControls
from device.screen_watch import ScreenWatch
from device.settings import Settings
from engine_lite.refusal import Refused

LOOK_AGAIN_S: Final = 1.0
"""Whoever asks what is new hears after so long that nothing is."""

_ELSEWHERE: Final = "this was begun on another screen; leave it, and sign in to go on here"
_FRESH: Final = {"Cache-Control": "no-store"}


class Trial(Protocol):
    """A commissioning as the page sees it."""

    def view(self, language: str) -> dict[str, Any]:
        """What the page shows; its `version` is another one whenever something can be seen that differs."""

    async def wait_for_change(self, version: str) -> None:
        """Wait until `version` is no more the one that is shown."""

    def do(self, deed: Deed) -> bool:
        """Do what the technician says; False: it was meant for a step that is over."""


def create_commissioning_app(
    trial: Trial, settings: Settings, folder: Path, controls: VirtualControls | None, key: str | None
) -> Starlette:
    """The application; `folder` is the data folder, `controls` drive the virtual table where there is one.

    `key` is the digest of what the browser has where it was begun with a PIN; all others look on, and may leave it.
    """
    rules = str(settings.terms.rule_set["name"])

    async def elsewhere(request: Request) -> Response:
        query = f"?{request.url.query}" if request.url.query else ""
        return RedirectResponse(f"{COMMISSION_PATH}{query}", status_code=303, headers=_FRESH)

    async def commissioning(request: Request) -> Response:
        if request.method == "POST":
            deed = parse_deed(await read_body(request))
            if deed.kind != "leave" and not has_key(request, key):
                raise Refused("needs_sign_in", _ELSEWHERE)
            return JSONResponse({"done": trial.do(deed)}, headers=_FRESH)
        try:
            async with asyncio.timeout(LOOK_AGAIN_S):
                await trial.wait_for_change(request.query_params.get("version", ""))
        except TimeoutError:
            # What is shown is told again: that says that the table is there.
            pass
        return JSONResponse(trial.view(asked_language(request.query_params.get("language"))), headers=_FRESH)

    routes: list[BaseRoute] = [
        page_route(COMMISSION_PATH, "commission.html"),
        words_route(settings, lambda: rules),
        Mount("/static", PageFiles(directory=PAGES)),
        Route("/api/commissioning", commissioning, methods=["GET", "POST"]),
        reports_route(folder),
        *painted_routes(ScreenWatch()),
    ]
    if controls is not None:
        routes += virtual_routes(controls, lambda: rules)
    return Starlette(
        routes=[*routes, Route("/{path:path}", elsewhere)],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=list(settings.hosts))],
        exception_handlers=error_answers(lambda: rules),
    )
