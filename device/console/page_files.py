"""The files that a page is made of."""

from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

PAGES: Final = Path(__file__).parent / "pages"
"""The terminal's own."""

# A page loads only what the terminal itself serves, and is shown in no other page's frame.
PAGE_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
}

# A report brings its own style in the page and no script; it is printed, not framed.
REPORT_HEADERS: Final = PAGE_HEADERS | {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
}


def page_route(path: str, name: str) -> Route:
    """One of the terminal's own pages at `path`."""

    async def serve(_request: Request) -> Response:
        return FileResponse(PAGES / name, headers=PAGE_HEADERS)

    return Route(path, serve)


class PageFiles(StaticFiles):
    """Files that a browser asks for anew each time, so that an update never mixes old and new ones."""

    def file_response(self, *arguments: Any, **more: Any) -> Response:
        """See StaticFiles."""
        response = super().file_response(*arguments, **more)
        response.headers["Cache-Control"] = "no-cache"
        return response
