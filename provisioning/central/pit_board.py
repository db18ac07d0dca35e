"""All tables as the pit sees them, and whether what it sees is live. It decides nothing; pages follow it.

What cannot be known is said: the central log away, the database away or without an answer, the archive standing still.
The board is looked at once a second (`tick`), and tables of which there is news at once (`show`); every look has a
number, and a page that misses some gets what changed.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from device.presence import SILENT_S, BadPresence, Presence, read_presence
from provisioning.central.pit_database import Look, Names, Row, Standing
from provisioning.central.pit_table import Heard, Moment, Seen, Table, view
from provisioning.standard_streams import visible

DATABASE_SILENT_S: Final = 5.0
"""The database is asked every second."""
ARCHIVE_BEHIND_S: Final = 10.0
ODD_SHOWN_S: Final = 60.0
ODD_MAX: Final = 20
TABLES_MAX: Final = 20_000
"""Tables beyond so many that nobody listed are not shown."""
UNITS_MAX: Final = 8
TEXT_MAX: Final = 300

_SUBJECT: Final = re.compile(r"craps\.([A-Za-z0-9_-]{1,64})\.([A-Za-z0-9_-]{1,64})\.presence")

log = logging.getLogger(__name__)


@dataclass
class _Odd:
    """Messages of one subject that are no signs of life."""

    count: int
    reason: str
    at_s: float


@dataclass
class _Shown:
    """What a page has of a table: its view, the look that changed it and the look it was last heard before."""

    view: dict[str, Any]
    changed: int
    heard: int = 0


class Board:
    """The state behind the page. All of it runs in one event loop, and no part of it waits for anything."""

    def __init__(
        self, listed: Iterable[Names], seen: Seen, *, monotonic_s: Callable[[], float], wall_ms: Callable[[], int]
    ) -> None:
        """`listed` are the tables that should be there; the clocks are this process's and this machine's."""
        self._seen = seen
        self._monotonic_s = monotonic_s
        self._wall_ms = wall_ms
        self._tables: dict[Names, Table] = {names: Table(names) for names in listed}
        self._shown: dict[Names, _Shown] = {}
        self._heard_since: set[Names] = set()
        self._odd: dict[str, _Odd] = {}
        now_s, now_ms = monotonic_s(), wall_ms()
        # The central log: since when it is listened to, or away and why.
        self._listening_since_s: float | None = None
        self._log_away: tuple[int, str] | None = (now_ms, "not reached yet")
        self._presence_refused = False
        # The database: the last answer, and why there is none.
        self._looked: tuple[float, int] = (now_s, now_ms)
        self._rows: dict[Names, Row] = {}
        self._unread = 0
        self._database_away: tuple[int, str] | None = (now_ms, "not read yet")
        # The archive: how far it is, since when, and the end of the log that it has not reached since then.
        self._position = (0, now_s)
        self._due: tuple[int, float, int] | None = None
        self.number = 0
        self.is_closed = False
        self._next = asyncio.Event()

    # What comes in

    @property
    def rows(self) -> Mapping[Names, Row]:
        """The database's rows, as last looked at."""
        return self._rows

    def take_look(self, found: Look) -> None:
        """The database has answered."""
        now_s, now_ms = self._monotonic_s(), self._wall_ms()
        is_first = not self._rows
        for names, row in found.rows.items():
            table = self._tables.setdefault(names, Table(names))
            before = table.row
            if before is None or before.last_seq != row.last_seq:
                table.known_s = now_s - (_age_s(row.heard_at, now_ms) if before is None else 0.0)
            if not is_first and (before is None or before.heard_sequence != row.heard_sequence):
                table.heard_by_events = True
            table.row = row
        for names, game in found.games.items():
            self._tables[names].game = game
        self._rows = dict(found.rows)
        self._unread = found.waiting
        self._looked, self._database_away = (now_s, now_ms), None
        if found.position != self._position[0]:
            self._position = (found.position, now_s)
        if self._due is not None and found.position >= self._due[0]:
            self._due = None

    def database_failed(self, reason: str) -> None:
        """The database did not answer as it should."""
        since_ms = self._wall_ms() if self._database_away is None else self._database_away[0]
        self._database_away = (since_ms, _short(reason))

    def log_reached(self, *, presence_refused: bool) -> None:
        """The central log is listened to from now on."""
        self._listening_since_s, self._log_away = self._monotonic_s(), None
        self._presence_refused = presence_refused

    def log_ends(self, sequence: int) -> None:
        """The central log ends with this message now."""
        if self._due is None and sequence > self._position[0]:
            self._due = (sequence, self._monotonic_s(), self._wall_ms())

    def log_failed(self, reason: str) -> None:
        """The link to the central log broke, or could not be had."""
        since_ms = self._wall_ms() if self._log_away is None else self._log_away[0]
        self._listening_since_s, self._log_away, self._due = None, (since_ms, _short(reason)), None

    def take_presence(self, subject: str, payload: bytes) -> None:
        """A message came on a subject of signs of life."""
        try:
            table, presence = self._table_of(subject), read_presence(payload)
        except BadPresence as error:
            self._note_odd(subject, str(error))
            return
        self._tables[table.names] = table
        self._hear(table, presence)
        self._heard_since.add(table.names)

    def _table_of(self, subject: str) -> Table:
        named = _SUBJECT.fullmatch(subject)
        if named is None:
            raise BadPresence("the subject does not name a site and a table in letters, digits, _ and -")
        names = (named[1], named[2])
        if names not in self._tables and len(self._tables) >= TABLES_MAX:
            raise BadPresence(f"there are more than {TABLES_MAX} tables")
        return self._tables.get(names) or Table(names)

    def _hear(self, table: Table, presence: Presence) -> None:
        before = table.units.pop(presence.unit, None)
        stuck = (
            before is not None and before.presence.seq > before.presence.delivered == presence.delivered < presence.seq
        )
        while len(table.units) >= UNITS_MAX:
            del table.units[next(iter(table.units))]
        table.units[presence.unit] = Heard(presence, self._monotonic_s(), self._wall_ms(), stuck)

    def _note_odd(self, subject: str, reason: str) -> None:
        known = self._odd.pop(subject, None)
        while len(self._odd) >= ODD_MAX:
            del self._odd[next(iter(self._odd))]
        count = 1 if known is None else known.count + 1
        if known is None:
            log.warning("%s", visible(f"{subject}: {reason}"))
        self._odd[subject] = _Odd(count, _short(reason), self._monotonic_s())

    # What is asked

    def standing(self, names: Names, alert: str) -> Standing | None:
        """An alert that stands at a table, as far as is known."""
        table = self._tables.get(names)
        alerts = () if table is None else table.game.alerts
        return next((standing for standing in alerts if standing.alert == alert), None)

    def tick(self) -> None:
        """Look at everything again, as time has passed, and tell those who wait."""
        self.number += 1
        self._look_at(self._tables)
        for names in self._heard_since:
            self._shown[names].heard = self.number
        self._heard_since.clear()
        now_s = self._monotonic_s()
        for subject in [subject for subject, odd in self._odd.items() if now_s - odd.at_s > ODD_SHOWN_S]:
            del self._odd[subject]
        self._tell()

    def show(self, changed: Collection[Names]) -> None:
        """Look at these tables again, if there are any, and tell those who wait."""
        if changed:
            self.number += 1
            self._look_at(changed)
            self._tell()

    def _look_at(self, looked_at: Iterable[Names]) -> None:
        now_s = self._monotonic_s()
        moment = Moment(now_s, self._listening_since_s)
        for names in looked_at:
            table = self._tables[names]
            self._note_behind(table, now_s)
            seen_now = view(table, moment, self._seen)
            shown = self._shown.get(names)
            if shown is None:
                self._shown[names] = _Shown(seen_now, self.number)
            elif shown.view != seen_now:
                shown.view, shown.changed = seen_now, self.number

    def _tell(self) -> None:
        self._next.set()
        self._next = asyncio.Event()

    def _note_behind(self, table: Table, now_s: float) -> None:
        heard = table.speaking
        lacks = heard is not None and heard.presence.delivered > (0 if table.row is None else table.row.last_seq)
        if not lacks:
            table.behind_since_s = None
        elif table.behind_since_s is None:
            table.behind_since_s = now_s

    def close(self) -> None:
        """Nothing further is looked at: whoever waits is let go."""
        self.is_closed = True
        self._next.set()

    async def wait(self, number: int) -> bool:
        """Wait for a look behind this one; False: there will be none."""
        while self.number <= number and not self.is_closed:
            await self._next.wait()
        return not self.is_closed

    def since(self, number: int) -> dict[str, Any]:
        """What a page that knows the look of this number has to learn; 0: everything."""
        shown = [entry for entry in self._shown.values() if entry.changed > number]
        heard = {
            f"{names[0]}/{names[1]}": last.at_ms
            for names, entry in self._shown.items()
            if (number == 0 or entry.heard > number) and (last := self._tables[names].heard) is not None
        }
        return {
            "number": self.number,
            "whole": number == 0,
            "now": self._wall_ms(),
            "warnings": self._warnings(),
            "tables": [entry.view for entry in shown],
            "heard": heard,
        }

    def _warnings(self) -> list[dict[str, Any]]:
        """What is wrong with the sources themselves; `dead`: nothing on the page can be taken as live."""
        now_s = self._monotonic_s()
        warnings: list[dict[str, Any]] = []
        if self._log_away is not None:
            warnings.append(_warning("log_away", dead=True, since=self._log_away[0], text=self._log_away[1]))
        if self._database_away is not None:
            since, text = self._database_away
            warnings.append(_warning("database_away", dead=True, since=since, text=text))
        elif now_s - self._looked[0] > DATABASE_SILENT_S:
            warnings.append(_warning("database_silent", dead=True, since=self._looked[1]))
        elif self._unread > 0:
            warnings.append(_warning("reading", dead=False, count=self._unread))
        if self._due is not None and now_s - self._due[1] > ARCHIVE_BEHIND_S:
            stands = now_s - max(self._position[1], self._due[1]) > ARCHIVE_BEHIND_S
            kind = "archive_stands" if stands else "archive_behind"
            warnings.append(_warning(kind, dead=stands, since=self._due[2], count=self._due[0] - self._position[0]))
        if self._presence_refused:
            warnings.append(_warning("presence_refused", dead=False))
        for subject, odd in self._odd.items():
            warnings.append(
                _warning("odd_message", dead=False, subject=_short(subject), count=odd.count, text=odd.reason)
            )
        return warnings


def _warning(kind: str, *, dead: bool, **said: Any) -> dict[str, Any]:
    return {"kind": kind, "dead": dead} | said


def _short(text: str) -> str:
    return visible(text)[:TEXT_MAX]


def _age_s(heard_at: str | None, now_ms: int) -> float:
    """How long ago that was, by the clocks of the centre; what lies ahead is now."""
    if heard_at is None:
        return 0.0
    return max(0.0, now_ms / 1000 - datetime.fromisoformat(heard_at).timestamp())


assert DATABASE_SILENT_S < SILENT_S
