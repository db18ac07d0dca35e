"""The reports of a table's commissionings, as they lie in its data folder."""

import re
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from device.commissioning.progress_file import COMMISSIONING_FOLDER
from device.console.page_files import REPORT_HEADERS

REPORTS_TOLD: Final = 5
_NAME: Final = re.compile(r"commissioned-[A-Za-z0-9_-]+-[0-9]{8}T[0-9]{6}Z\.(html|json)")


def report_names(folder: Path) -> list[str]:
    """The pages of the latest reports in the data folder `folder`, the newest first."""
    found = [path.name for path in (folder / COMMISSIONING_FOLDER).glob("commissioned-*.html")]
    # All of one table: what differs is the time.
    return sorted(filter(_NAME.fullmatch, found), reverse=True)[:REPORTS_TOLD]


def reports_route(folder: Path) -> Route:
    """A report as a page to print, or as JSON to keep."""

    async def report(request: Request) -> Response:
        name = request.path_params["name"]
        path = folder / COMMISSIONING_FOLDER / name
        if not _NAME.fullmatch(name) or not path.is_file():
            return JSONResponse({"message": "there is no such report"}, status_code=404)
        if path.suffix == ".json":
            return FileResponse(path, filename=name, headers={"Cache-Control": "no-store"})
        return FileResponse(path, headers=REPORT_HEADERS)

    return Route("/commission/report/{name}", report)
