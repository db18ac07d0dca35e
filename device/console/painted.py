"""The table's own screen tells that it paints, and whoever runs its browser asks when it last did.

Nothing of it is journaled: a screen that shows nothing is seen by whoever stands before it.
"""

import re
import time
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from device.console.request_body import read_body
from device.console.requests import BadRequest

SCREENS_MAX: Final = 8
_SCREEN: Final = re.compile(r"[a-z0-9-]{1,16}")


def painted_routes() -> list[BaseRoute]:
    """The routes of one terminal's screens."""
    # When each screen painted last, by the monotonic clock.
    painted_s: dict[str, float] = {}

    async def painted(request: Request) -> Response:
        if request.method == "POST":
            screen = _screen((await read_body(request)).get("screen"))
            painted_s.pop(screen, None)
            painted_s[screen] = time.monotonic()
            if len(painted_s) > SCREENS_MAX:
                painted_s.pop(next(iter(painted_s)))
            return JSONResponse({})
        at_s = painted_s.get(_screen(request.query_params.get("screen")))
        ago_s = None if at_s is None else round(time.monotonic() - at_s, 1)
        return JSONResponse({"ago_s": ago_s}, headers={"Cache-Control": "no-store"})

    return [Route("/api/painted", painted, methods=["GET", "POST"])]


def _screen(name: Any) -> str:
    if not isinstance(name, str) or not _SCREEN.fullmatch(name):
        raise BadRequest("screen", "must be 1 to 16 small letters, digits or -")
    return name
