"""A copy of a journal, made by SQLite's own backup while the table writes on."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

from device.journal import JournalError, JournalReader

_PAGES: Final = 256


class CopiedJournal(JournalReader):
    """A journal that is read in order to be copied, beside the terminal that writes it."""

    def copy_to(self, target: Path, on_progress: Callable[[int, int], None]) -> None:
        """Make the file `target`, a journal that needs no file beside it; it holds what was there when this began.

        `on_progress` is told (pages copied, pages in all). The terminal's log grows until this ends, and a terminal
        that starts meanwhile may have to try again. Raises JournalError, OSError when the file cannot be made.
        """
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        try:
            with closing(sqlite3.connect(target, isolation_level=None)) as copy:
                # Whoever makes the copy flushes what it becomes a part of.
                copy.execute("PRAGMA synchronous=OFF")
                # One look from the first page to the last: an event that comes between two steps would begin it anew.
                self._connection.execute("BEGIN")
                try:
                    self._connection.execute("SELECT max(seq) FROM events").fetchone()
                    self._connection.backup(
                        copy, pages=_PAGES, progress=lambda _, left, pages: on_progress(pages - left, pages)
                    )
                finally:
                    self._connection.execute("ROLLBACK")
                copy.execute("PRAGMA journal_mode=DELETE")
        except sqlite3.Error as error:
            raise JournalError(f"{target}: the journal cannot be copied to it ({error})") from error
