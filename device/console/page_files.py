"""The files that a page is made of."""

from pathlib import Path
from typing import Any, Final

from starlette.responses import Response
from starlette.staticfiles import StaticFiles

PAGES: Final = Path(__file__).parent / "pages"
"""The terminal's own."""


class PageFiles(StaticFiles):
    """Files that a browser asks for anew each time, so that an update never mixes old and new ones."""

    def file_response(self, *arguments: Any, **more: Any) -> Response:
        """See StaticFiles."""
        response = super().file_response(*arguments, **more)
        response.headers["Cache-Control"] = "no-cache"
        return response
