"""Where a journal entry came from."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Origin:
    """Where an entry came from: the console, or a board and a group of its inputs such as node:dice_keys.

    `command` is the console's id for it, `report` the last report of the node that went into it, `person` who had
    signed in on the page that it came from, `source` the other program that proposed it and its own id for that.
    """

    via: str
    command: str | None = None
    report: tuple[int, int] | None = None
    person: str | None = None
    source: tuple[str, str] | None = None

    def data(self) -> dict[str, Any]:
        """The origin as it stands in an event."""
        said: dict[str, Any] = {"via": self.via}
        if self.command is not None:
            said["command"] = self.command
        if self.report is not None:
            said["report"] = list(self.report)
        if self.person is not None:
            said["person"] = self.person
        if self.source is not None:
            said["source"], said["proposal"] = self.source
        return said
