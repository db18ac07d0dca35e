"""The reports of dice control as pages of the console, each made by a program of its own beside the table."""

import asyncio
from datetime import date
from pathlib import Path

from device.beside_table import ProgramFailed, run_beside
from device.console.requests import BadRequest
from device.dice_control.report_kinds import FAIRNESS, FIRST_DAY, LAST_DAY, LOG, REPORT, STATUS
from device.languages.languages import LANGUAGES
from device.recorder import Busy

REPORT_PROGRAM = "device.dice_control.report_program"
# That of the console's own pages. A report speaks the language of its table.
PAGES = (LOG, STATUS, REPORT)
# One is made at a time; so many more may wait.
WAITING_MAX = 4
MADE_WITHIN_S = 120.0


class DiceReports:
    """Makes reports of one journal. Raises Busy when too many are asked for, ReportFailed when one cannot be made."""

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self._waiting = 0
        self._one = asyncio.Semaphore(1)

    async def page(self, kind: str, day: str | None, language: str | None) -> bytes:
        """A page of PAGES; the account of a day needs the day. Raises BadRequest."""
        if language is not None and language not in LANGUAGES:
            raise BadRequest("language", "must be one of " + ", ".join(LANGUAGES))
        if kind == REPORT and day is None:
            raise BadRequest("day", "is missing; name a day such as 2026-11-29")
        options = [] if language is None else ["--language", language]
        if day is not None:
            options += ["--day", _day(day).isoformat()]
        return await self._made(kind, options)

    async def fairness(self, language: str) -> bytes:
        """What the rolls say of each set's dice, as JSON, in one of LANGUAGES."""
        return await self._made(FAIRNESS, ["--language", language])

    async def _made(self, kind: str, options: list[str]) -> bytes:
        if self._waiting > WAITING_MAX:
            raise Busy("too many reports at once; wait a moment")
        self._waiting += 1
        try:
            async with self._one:
                return await self._run(kind, options)
        finally:
            self._waiting -= 1

    async def _run(self, kind: str, options: list[str]) -> bytes:
        try:
            return await run_beside(REPORT_PROGRAM, str(self._journal), kind, *options, within_s=MADE_WITHIN_S)
        except ProgramFailed as failed:
            raise ReportFailed(f"the report cannot be made: {failed}") from failed


def _day(text: str) -> date:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise BadRequest("day", "must be a day such as 2026-11-29") from None
    if not FIRST_DAY <= day <= LAST_DAY:
        raise BadRequest("day", f"must be a day from {FIRST_DAY} to {LAST_DAY}")
    return day


class ReportFailed(Exception):
    """A report cannot be made; the message says why."""
