"""The table's own screen tells that it paints, and whoever runs its browser asks when it last did."""

import re
import time
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from device.console.request_body import read_body
from device.console.requests import BadRequest
from device.screen_watch import ScreenWatch

_SCREEN: Final = re.compile(r"[a-z0-9-]{1,16}")


def painted_routes(screens: ScreenWatch) -> list[BaseRoute]:
    """The routes of one terminal's screens."""

    async def painted(request: Request) -> Response:
        if request.method == "POST":
            screen = _screen((await read_body(request)).get("screen"))
            screens.painted(screen, time.monotonic())
            return JSONResponse({})
        ago_s = screens.ago_s(_screen(request.query_params.get("screen")), time.monotonic())
        return JSONResponse(
            {"ago_s": None if ago_s is None else round(ago_s, 1)}, headers={"Cache-Control": "no-store"}
        )

    return [Route("/api/painted", painted, methods=["GET", "POST"])]


def _screen(name: Any) -> str:
    if not isinstance(name, str) or not _SCREEN.fullmatch(name):
        raise BadRequest("screen", "must be 1 to 16 small letters, digits or -")
    return name
