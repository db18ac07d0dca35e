"""Who has taken note of which alert at the pit: a journal of its own, chained and flushed as a table's is.

Taking note ends nothing at the table, where the alert stands until it is put right or acknowledged there. Each entry is
an event `alert_seen` of the journal "pit": {"site", "table", "alert", "raised": the event that raised it, "name"}.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from device.clock import Clock
from device.event import Event
from device.journal import Journal
from provisioning.central.pit_database import Names, Standing
from provisioning.central.pit_journal import KIND

REMEMBERED_MAX: Final = 100_000
"""Entries that are read again at a start, the latest. An alert that stood for longer shows as not seen, and may be."""
NAMES_MAX: Final = 6


class SeenBook:
    """The entries, by alert. Used from one thread at a time."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        """Read what is there. Raises JournalError, also where it was altered."""
        self._journal = journal
        self._clock = clock
        self._seen: dict[tuple[Names, str, int], dict[str, Any]] = {}
        self._names: list[str] = []
        first = max(1, journal.last_seq - REMEMBERED_MAX + 1)
        for event in journal.events(first):
            self._remember(event)

    @property
    def names(self) -> list[str]:
        """The last names that were given, the latest first."""
        return list(self._names)

    def who(self, names: Names, standing: Standing) -> Mapping[str, Any] | None:
        """{"name", "at"} of whoever has taken note of an alert; `at` is milliseconds since 1970."""
        return self._seen.get((names, standing.alert, standing.raised))

    def add(self, names: Names, standing: Standing, name: str) -> None:
        """Record it; on the disk when this returns. Raises JournalError."""
        said = {
            "site": names[0],
            "table": names[1],
            "alert": standing.alert,
            "raised": standing.raised,
            "name": name,
        }
        [event] = self._journal.append([(KIND, said)], self._clock.stamp())
        self._remember(event)

    def _remember(self, event: Event) -> None:
        if event.type != KIND:
            return
        said = event.data
        at_ms = round(datetime.fromisoformat(event.wall).timestamp() * 1000)
        about = ((said["site"], said["table"]), said["alert"], said["raised"])
        self._seen[about] = {"name": said["name"], "at": at_ms}
        self._names = list(dict.fromkeys([said["name"], *self._names]))[:NAMES_MAX]
