"""What the boxman's page asks before the last roll is corrected: what was, and what becomes. It changes nothing."""

import re
from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from device import session_corrections
from device.console.requests import BadRequest
from device.terminal import Terminal

_DICE: Final = re.compile(r"([1-6])-([1-6])")


def comparison_route(terminal: Terminal) -> Route:
    """`GET /api/correction?dice=2-1`: the last roll, had it been these dice (`corrections.preview`)."""

    async def compare(request: Request) -> Response:
        dice = _DICE.fullmatch(request.query_params.get("dice", ""))
        if dice is None:
            raise BadRequest("dice", "must be two dice, such as 2-1")
        right = (int(dice[1]), int(dice[2]))
        said = await terminal.look(lambda session: session_corrections.look_at_last(session, right))
        return JSONResponse(said, headers={"Cache-Control": "no-store"})

    return Route("/api/correction", compare)
