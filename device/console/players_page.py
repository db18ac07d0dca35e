"""What the players' display asks the terminal: the game as it is shown, and what the bets pay. It changes nothing."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from device.console.page_files import PAGE_HEADERS
from device.console.screen_words import asked_language
from device.languages.languages import language_of
from device.languages.page_module import chosen_language
from device.languages.said import said
from device.players_display import PlayersDisplay
from device.players_pay_table import players_pay_table
from device.settings import Settings
from device.terminal import Terminal

# Sent so often whether anything has changed or not: a page that hears less is out of touch, and blanks itself.
HEARTBEAT_S = 0.5
NO_DISPLAY: Final = (
    "The players' display is switched off. It is switched on in the terminal's configuration: "
    "enabled = true under [players_display]."
)


def players_routes(terminal: Terminal, display: PlayersDisplay) -> list[Route]:
    """The routes beside the page itself."""

    async def stream(_request: Request) -> Response:
        async def views() -> AsyncIterator[str]:
            version = -1
            while not terminal.closing:
                yield f"data: {json.dumps(display.view(), separators=(',', ':'))}\n\n"
                try:
                    async with asyncio.timeout(HEARTBEAT_S):
                        version = await display.wait_for_change(version)
                except TimeoutError:
                    continue

        return StreamingResponse(views(), media_type="text/event-stream", headers={"Cache-Control": "no-store"})

    async def pay_table(request: Request) -> Response:
        groups = []
        if display.shows_pay_table:
            options = terminal.state["table"]["options"]
            language = asked_language(request.query_params.get("language"))
            groups = await asyncio.to_thread(players_pay_table, terminal.rule_set, options, language)
        return JSONResponse({"groups": groups}, headers={"Cache-Control": "no-store"})

    return [Route("/api/players/stream", stream), Route("/api/players/pay_table", pay_table)]


def no_display_route(settings: Settings, rules_now: Callable[[], str]) -> Route:
    """What stands in the place of the page where there is none: how it is switched on."""

    async def none(request: Request) -> Response:
        language = chosen_language(request.cookies, settings.language or language_of(rules_now()))
        return PlainTextResponse(said(NO_DISPLAY, language, ""), status_code=404, headers=PAGE_HEADERS)

    return Route("/players", none)
