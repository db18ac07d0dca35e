"""The page of statistics: made by a program of its own beside the table, and the same for all who ask meanwhile."""

import asyncio
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from device.beside_table import ProgramFailed, run_beside
from device.console.dice_reports import ReportFailed
from device.console.screen_words import asked_language

PROGRAM = "device.statistics_program"
# Reading a journal of a million events takes minutes on a small machine that has a table to serve.
MADE_WITHIN_S = 900.0


class StatisticsPage:
    """Makes the statistics of one journal, once at a time in each language."""

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self._making: dict[str, asyncio.Task[bytes]] = {}

    async def view(self, request: Request) -> Response:
        """The statistics as JSON, in the language that is asked for. Raises ReportFailed."""
        made = await self.made(asked_language(request.query_params.get("language")))
        return Response(made, media_type="application/json", headers={"Cache-Control": "no-store"})

    async def made(self, language: str) -> bytes:
        """The statistics in one of LANGUAGES, as JSON. Raises ReportFailed."""
        task = self._making.get(language)
        if task is None:
            task = asyncio.create_task(
                run_beside(PROGRAM, str(self._journal), "--language", language, within_s=MADE_WITHIN_S)
            )
            self._making[language] = task
            task.add_done_callback(lambda _done: self._making.pop(language))
        try:
            # Whoever goes away does not end it for the others.
            return await asyncio.shield(task)
        except ProgramFailed as failed:
            raise ReportFailed(f"the statistics cannot be made: {failed}") from failed
