"""The virtual table's page, and what its hand does, wherever a terminal or a commissioning serves a virtual table."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from device.console.page_files import page_route
from device.console.request_body import read_body
from device.console.screen_words import asked_language, virtual_in
from device.console.virtual_table import VirtualControls


def virtual_routes(controls: VirtualControls, rules_now: Callable[[], str]) -> list[Route]:
    """The page and its interface, in the words of the rules that are in force."""

    async def virtual(request: Request) -> Response:
        if request.method == "POST":
            await controls.apply(await read_body(request))
            return JSONResponse({})
        view = virtual_in(controls.view(), asked_language(request.query_params.get("language")), rules_now())
        return JSONResponse(view, headers={"Cache-Control": "no-store"})

    return [page_route("/virtual", "virtual.html"), Route("/api/virtual", virtual, methods=["GET", "POST"])]
