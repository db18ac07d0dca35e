"""What the dice log keeps of the game because dice are judged by it later: void throws, closings, reused sets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# Throws off the table that wait for a name. As many alerts cannot be overlooked, so that a further one is not kept.
UNNAMED_MAX = 100
# Sessions that were closed without a closing count and are not told yet.
UNCOUNTED_MAX = 10


@dataclass
class UnnamedThrow:
    """A throw off the table, the event `event`, of which no die was named. `over`: there was another throw since."""

    event: int
    over: bool = False
    # As `Opening.starts`.
    starts: int = 0


@dataclass
class ReusedRoll:
    """The first roll of a session with sets that had served in an earlier one: by set, the last such session."""

    event: int
    session: int
    sets: dict[str, int]


@dataclass
class UncountedClosing:
    """A session that was closed while these sets lay at the table without a closing count."""

    session: int
    sets: list[str]
    # As `Opening.starts`.
    starts: int = 0


@dataclass
class GameMemory:
    """Only its methods, and `DiceState` on a roll, change it."""

    # The dice are out.
    throwing: bool = False
    # A throw of the series that is on went off the table.
    off_table: bool = False
    unnamed: list[UnnamedThrow] = field(default_factory=list)
    reused: ReusedRoll | None = None
    uncounted: list[UncountedClosing] = field(default_factory=list)

    def no_roll(self, data: Mapping[str, Any], seq: int) -> None:
        """A void throw. Where sets were at the table, the event names them; older journals name none."""
        self.throwing = False
        self._throws_over()
        if data["step"]["no_roll"] == "off_table":
            self.off_table = True
            if data.get("sets") and len(self.unnamed) < UNNAMED_MAX:
                self.unnamed.append(UnnamedThrow(seq))

    def rolled(self, data: Mapping[str, Any]) -> None:
        """A roll; with its point decided, the series is over."""
        self.throwing = False
        self._throws_over()
        if data.get("point") is None:
            self.off_table = False

    def started(self) -> None:
        """The program has started, or recording went on after a full disk."""
        for throw in self.unnamed:
            throw.starts += 1
        for closing in self.uncounted:
            closing.starts += 1

    def opened(self) -> None:
        """The table is open for another session."""
        self.throwing = self.off_table = False
        self._throws_over()

    def closed(self, data: Mapping[str, Any], session: int) -> None:
        """The session is over; the event names the sets that were not counted, if there are any."""
        self.throwing = False
        if sets := data.get("uncounted"):
            self.uncounted = [*self.uncounted, UncountedClosing(session, list(sets))][-UNCOUNTED_MAX:]

    def named(self, no_roll: int) -> None:
        """Which dice a void throw was about is known, or another person took note that it is not."""
        self.unnamed = [throw for throw in self.unnamed if throw.event != no_roll]

    def counted(self, session: int, name: str) -> None:
        """A closing count of a set."""
        for closing in self.uncounted:
            if closing.session == session and name in closing.sets:
                closing.sets.remove(name)
        self.uncounted = [closing for closing in self.uncounted if closing.sets]

    def told(self, family: str, about: str) -> None:
        """An alert tells of it now."""
        if family == "no_closing_count":
            self.uncounted = [closing for closing in self.uncounted if str(closing.session) != about]
        elif family == "against_rule" and self.reused is not None and str(self.reused.event) == about:
            self.reused = None

    def _throws_over(self) -> None:
        for throw in self.unnamed:
            throw.over = True
