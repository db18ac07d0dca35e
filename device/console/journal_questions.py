"""What pages ask the journal (`device.journal_query`), each answered by a program of its own beside the table."""

import asyncio
import json
from pathlib import Path
from typing import Any, Final

from device.beside_table import ProgramFailed, run_beside
from device.recorder import Busy
from engine_lite.refusal import Refused

PROGRAM: Final = "device.journal_query_program"
# One is answered at a time; so many more may wait.
WAITING_MAX: Final = 4
ANSWERED_WITHIN_S: Final = 120.0


class JournalQuestions:
    """Asks one journal. Raises Busy when too many ask at once, Refused where there is no answer."""

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self._waiting = 0
        self._one = asyncio.Semaphore(1)

    async def answer(self, question: dict[str, Any]) -> bytes:
        """What the program says to a question."""
        if self._waiting > WAITING_MAX:
            raise Busy("too many questions at once; wait a moment")
        self._waiting += 1
        try:
            async with self._one:
                return await run_beside(PROGRAM, str(self._journal), json.dumps(question), within_s=ANSWERED_WITHIN_S)
        except ProgramFailed as failed:
            raise Refused("no_answer", str(failed)) from failed
        finally:
            self._waiting -= 1
