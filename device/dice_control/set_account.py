"""A set's part in a gaming day: where its dice lay at the beginning, what was moved, and where they lie at the end."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from device.dice_control.dice_state import AT_TABLE, PLACES
from device.dice_control.log_rows import LogRow

USE_MAX = timedelta(hours=24)
# Places at the table apart from reserve and play.
ELSEWHERE_AT_TABLE = ("offered", "inspection")
# Where nobody has a die, who may still find it; and where it is given up.
MISSED = ("floor", "missing")
WRITTEN_OFF = "written_off"
TAKEN_AWAY = ("withdrawn", "cancelled", "destroyed")


@dataclass(frozen=True)
class Difference:
    """An event that moves a die from `source` (None: receives it) which lay in `was` (None: was never received)."""

    seq: int
    set_name: str
    die: str
    source: str | None
    was: str | None


@dataclass
class SetDay:
    """A set's day, or the sum of all: numbers of dice.

    `beginning` and `end` are by place; `moved` by (from, to). `since` is when the first of its dice came to the table,
    where some are there at the day's end; `longest` the longest time it lay there without a break that ended on this
    day or went on at its end.
    """

    name: str
    beginning: Counter[str] = field(default_factory=Counter)
    received: int = 0
    moved: Counter[tuple[str, str]] = field(default_factory=Counter)
    end: Counter[str] = field(default_factory=Counter)
    since: datetime | None = None
    longest: timedelta = timedelta(0)
    differences: list[Difference] = field(default_factory=list)
    # Dice that are not there at the day's end, by where they were last: on the floor or missing.
    lost: dict[str, list[str]] = field(default_factory=dict)
    # Dice that fell or were missed on the day, those of them that were missed or are not back, and those given up.
    fell: set[str] = field(default_factory=set)
    gone: list[str] = field(default_factory=list)
    written_off: list[str] = field(default_factory=list)
    found: int = 0

    def into(self, place: str) -> int:
        """How many dice came to a place, from all others."""
        return sum(number for (_, target), number in self.moved.items() if target == place)

    def out_of(self, place: str) -> int:
        """How many dice left a place, to all others."""
        return sum(number for (source, _), number in self.moved.items() if source == place)

    @property
    def missed_at_end(self) -> int:
        """Dice that are missing, or not back from the floor, at the day's end."""
        return sum(self.end[place] for place in MISSED)

    @property
    def went_missing(self) -> int:
        """Dice that were missed on the day, found again or not, or are not back from the floor."""
        return len(self.gone)

    @property
    def distributed(self) -> int:
        """Dice that came from the store to the table."""
        return sum(self.moved["store", place] for place in AT_TABLE)

    @property
    def returned(self) -> int:
        """Dice that went from the table back to the store."""
        return sum(self.moved[place, "store"] for place in AT_TABLE)

    @property
    def held_at_beginning(self) -> int:
        """Dice to account for when the day begins."""
        return _held(self.beginning)

    @property
    def held_at_end(self) -> int:
        """Dice to account for when the day ends, counted where they lie."""
        return _held(self.end)

    @property
    def elsewhere_at_table(self) -> int:
        """Dice at the table that are neither in play nor in the reserve at the day's end."""
        return sum(self.end[place] for place in ELSEWHERE_AT_TABLE)

    @property
    def over_24_hours(self) -> bool:
        """Whether the set was in use at the table for longer than USE_MAX."""
        return self.longest > USE_MAX

    @property
    def balances(self) -> bool:
        """Whether what was moved leads from the beginning to the end, at every place."""
        return not self.differences and (
            self.held_at_beginning + self.received + self.out_of("destroyed") - self.into("destroyed")
            == self.held_at_end
            and all(
                self.beginning[place]
                + (self.received if place == "store" else 0)
                + self.into(place)
                - self.out_of(place)
                == self.end[place]
                for place in dict.fromkeys((*PLACES, WRITTEN_OFF))
            )
        )

    @property
    def concerns_day(self) -> bool:
        """Whether there is anything to account for."""
        return bool(self.held_at_beginning or self.received or self.moved or self.held_at_end or self.differences)


def _held(places: Counter[str]) -> int:
    return sum(number for place, number in places.items() if place != "destroyed")


def sum_of(sets: Sequence[SetDay]) -> SetDay:
    """The account of all sets together."""
    total = SetDay("")
    for dice_set in sets:
        total.beginning += dice_set.beginning
        total.received += dice_set.received
        total.moved += dice_set.moved
        total.end += dice_set.end
        total.differences += dice_set.differences
        total.gone += dice_set.gone
        total.found += dice_set.found
    return total


class Ledger:
    """Where every die lies, and between the beginning of a day and its end what was moved."""

    def __init__(self, places: Mapping[str, Mapping[str, str]]) -> None:
        """`places` are those before the first row."""
        self._places = {name: dict(dice) for name, dice in places.items()}
        self._since: dict[str, datetime] = {}
        # Where dice are by the journal that it says are withdrawn, cancelled or destroyed, and were missing.
        self._said: dict[tuple[str, str], str] = {}
        self._accounts: dict[str, SetDay] | None = None

    def begin_day(self) -> dict[str, SetDay]:
        """The accounts of all sets, which fill from now on."""
        self._accounts = {name: SetDay(name, Counter(dice.values())) for name, dice in self._places.items()}
        return self._accounts

    def end_day(self, until: datetime) -> None:
        """Close the accounts."""
        for name, account in (self._accounts or {}).items():
            places = self._places.get(name, {})
            account.end = Counter(places.values())
            for place in MISSED:
                if dice := [die for die, at in places.items() if at == place]:
                    account.lost[place] = dice
            account.gone += [die for die in account.fell if places.get(die) == "floor" and die not in account.gone]
            account.since = self._since.get(name)
            if account.since is not None:
                account.longest = max(account.longest, until - account.since)

    def apply(self, rows: Iterable[LogRow]) -> None:
        """Take what rows say was received and moved."""
        for row in rows:
            if row.what == "received" and row.set_name is not None:
                self._receive(row, row.set_name)
            for move in row.moves:
                self._move(row, move.set_name, move.die, move.source, move.target)

    def _account(self, name: str) -> SetDay | None:
        return None if self._accounts is None else self._accounts.setdefault(name, SetDay(name))

    def _receive(self, row: LogRow, name: str) -> None:
        dice = self._places.setdefault(name, {})
        account = self._account(name)
        for die in row.dice:
            if die in dice:
                if account is not None:
                    account.differences.append(Difference(row.seq, name, die, None, dice[die]))
                continue
            dice[die] = "store"
            if account is not None:
                account.received += 1

    def _move(self, row: LogRow, name: str, die: str, source: str, target: str) -> None:
        dice = self._places.setdefault(name, {})
        was = dice.get(die)
        account = self._account(name)
        if was == WRITTEN_OFF and self._said.pop((name, die), None) == source:
            source = WRITTEN_OFF
        if source in ("missing", WRITTEN_OFF) and target in TAKEN_AWAY:
            self._said[name, die] = target
            target = WRITTEN_OFF
        if account is not None and source != target:
            account.moved[source, target] += 1
            if was != source:
                account.differences.append(Difference(row.seq, name, die, source, was))
            self._note_loss(account, die, source, target)
        dice[die] = target
        at_table = any(place in AT_TABLE for place in dice.values())
        if at_table:
            self._since.setdefault(name, row.at)
        elif (since := self._since.pop(name, None)) is not None and account is not None:
            account.longest = max(account.longest, row.at - since)

    def _note_loss(self, account: SetDay, die: str, source: str, target: str) -> None:
        """What a move says of a die that fell, was missed, was given up or was found."""
        if target == "floor":
            account.fell.add(die)
        elif target == "missing":
            account.gone += [die] if die not in account.gone else []
        elif target == WRITTEN_OFF:
            account.written_off.append(die)
        elif source in (*MISSED, WRITTEN_OFF):
            account.found += 1
            if die in account.written_off:
                account.written_off.remove(die)
