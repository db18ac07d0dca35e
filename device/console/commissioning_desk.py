"""Where a commissioning on the page is begun, while the terminal runs: who may, and whether the table is closed.

It is written down in the data folder, and then the terminal ends in good order. What goes on in its place, with the
table's pins in its hand and no game behind it, is `commissioning_interface`.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from device.clock import Clock
from device.commissioning.progress_file import Progress, ProgressError, read_progress, write_progress
from device.console.commissioning_key import KEY_COOKIE, digest_of
from device.console.commissioning_reports import report_names, reports_route
from device.console.commissioning_requests import parse_begin
from device.console.request_body import read_body
from device.console.requests import BadRequest
from device.console.supervisor_interface import keys_of
from device.people import SUPERVISOR
from device.sign_in_desk import new_token
from device.terminal import Terminal
from engine_lite.refusal import Refused

_FRESH: Final = {"Cache-Control": "no-store"}
_MAY: Final = (SUPERVISOR, "technician")
_OPEN: Final = "the table is open; close it first"
_RESTS: Final = "The table is being commissioned."


@dataclass(frozen=True)
class CommissioningDesk:
    """The desk of one terminal.

    `folder` is its data folder, `configuration` the hash of what is in force; `begin` ends the terminal.
    """

    terminal: Terminal
    folder: Path
    configuration: str
    begin: Callable[[], None]

    def routes(self) -> list[BaseRoute]:
        """The routes beside the page itself."""
        return [
            Route("/api/commissioning", self._answer, methods=["GET", "POST"]),
            reports_route(self.folder),
        ]

    async def _answer(self, request: Request) -> Response:
        if request.method == "POST":
            return await self._begin(request)
        begun, fault = None, None
        try:
            progress = await asyncio.to_thread(read_progress, self.folder)
        except ProgressError as error:
            progress, fault = None, str(error)
        if progress is not None:
            same = progress.configuration == self.configuration
            begun = {"at": progress.begun, "done": len(progress.results), "same_configuration": same}
        people = self.terminal.people.view(keys_of(request))
        state = self.terminal.state
        return JSONResponse(
            {
                "mode": "terminal",
                "version": "terminal",
                "site": state["table"]["site"],
                "table": state["table"]["table"],
                "open": state["open"],
                "sign_in": people["required"],
                "name": people["name"],
                "may": not people["required"] or people["role"] in _MAY,
                "begun": begun,
                "fault": fault,
                "reports": await asyncio.to_thread(report_names, self.folder),
            },
            headers=_FRESH,
        )

    async def _begin(self, request: Request) -> Response:
        asked = parse_begin(await read_body(request))
        people = self.terminal.people.view(keys_of(request))
        by = _by(people, asked.name)
        table = self.terminal.state["table"]["table"]
        if asked.table != table:
            raise Refused("other_table", f"this is table {table}, not {asked.table}")
        if (await self.terminal.look(_is_open))["open"]:
            raise Refused("table_open", _OPEN)
        key = new_token() if people["required"] else None
        try:
            await asyncio.to_thread(self._write, by, None if key is None else digest_of(key))
            if not await self.terminal.rest_where_closed(_RESTS):
                # Somebody has opened it meanwhile.
                await asyncio.to_thread(self._write, None, None)
                raise Refused("table_open", _OPEN)
        except ProgressError as error:
            raise Refused("not_kept", str(error)) from error
        self.begin()
        response = JSONResponse({"by": by}, headers=_FRESH)
        if key is not None:
            response.set_cookie(KEY_COOKIE, key, httponly=True, samesite="strict")
        return response

    def _write(self, by: str | None, key: str | None) -> None:
        """Raises ProgressError."""
        begun = read_progress(self.folder)
        if begun is None or begun.configuration != self.configuration:
            begun = Progress(self.configuration, Clock().stamp().wall, {})
        write_progress(self.folder, replace(begun, on_page_by=by, on_page_key=key))


def _by(people: dict[str, Any], name: str | None) -> str:
    """Who begins it, of the people as the page that asks sees them. Raises BadRequest or Refused."""
    if not people["required"]:
        if (by := people["name"] or name) is None:
            raise BadRequest("name", "must be that of the technician")
        return str(by)
    if people["role"] not in _MAY:
        raise Refused("needs_sign_in", "a supervisor or a technician must sign in with a PIN to do this")
    return str(people["name"])


def _is_open(session: Any) -> dict[str, Any]:
    return {"open": session.is_open}
