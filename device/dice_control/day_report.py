"""A gaming day's account of its dice, as New Jersey 13:69E-1.16 asks for it, out of the dice log's rows.

For each set and in sum, in numbers of dice:

  at the beginning + received - destroyed = at the end
  at the end = in store + in reserve + in play + elsewhere at the table + missing + withdrawn + cancelled

The first line counts what the events say was moved, the second counts dice where they lie. They agree unless the
journal moves a die from where it was not; then the difference is named. A die that is cancelled, withdrawn or missing
has still to be accounted for; one that is destroyed no longer. The dice reconcile only if besides none is missing or on
the floor at the day's end, and every count of the day agreed with the log.

A gaming day begins at an hour of local time, 06:00 unless said otherwise, and ends when the next begins: a casino's
day is not over at midnight. Local is the zone that is handed in; None is the machine's own.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, tzinfo

from device.dice_control.dice_history import History
from device.dice_control.dice_state import AT_TABLE, LOST, PLACES
from device.dice_control.log_rows import LogRow, Opening, Unwatched
from device.dice_control.report_kinds import FIRST_DAY, LAST_DAY

DAY_BEGINS = time(6)
USE_MAX = timedelta(hours=24)
# Places at the table apart from reserve and play.
ELSEWHERE_AT_TABLE = ("offered", "floor", "inspection")
CHANGES = ("swap", "change", "offer")
COUNTS = ("count_opening", "count_closing", "count_check")
SESSIONS = ("table_opened", "table_closed")
DELIVERIES = ("received", "placed")
# What nobody saw when it was.
UNSEEN = ("slots_changed_shut", "edge_lost", "changes_dropped")


@dataclass(frozen=True)
class GamingDay:
    """A day from `starts`, which is part of it, to `ends`, which is not."""

    date: date
    starts: datetime
    ends: datetime
    begins: time
    zone: tzinfo | None

    def holds(self, moment: datetime) -> bool:
        """Whether a moment is part of the day."""
        return self.starts <= moment < self.ends


def gaming_day(day: date, begins: time = DAY_BEGINS, zone: tzinfo | None = None) -> GamingDay:
    """The gaming day that begins on `day`. With a change to or from summer time it has 23 or 25 hours.

    Raises ValueError for a day before FIRST_DAY or after LAST_DAY, which no journal has.
    """
    if not FIRST_DAY <= day <= LAST_DAY:
        raise ValueError(f"{day} is not from {FIRST_DAY} to {LAST_DAY}")
    starts, ends = local(datetime.combine(day, begins), zone), local(day_after(day, begins), zone)
    return GamingDay(day, starts, ends, begins, zone)


def gaming_date(moment: datetime, begins: time, zone: tzinfo | None) -> date:
    """The gaming day that a moment is part of."""
    day = local(moment, zone).date()
    return day if moment >= local(datetime.combine(day, begins), zone) else day - timedelta(days=1)


def day_after(day: date, begins: time) -> datetime:
    """When the day after begins, without a zone."""
    return datetime.combine(day + timedelta(days=1), begins)


def local(moment: datetime, zone: tzinfo | None) -> datetime:
    """A moment in the zone; one that has no zone is taken to be of it."""
    if moment.tzinfo is None and zone is not None:
        return moment.replace(tzinfo=zone)
    return moment.astimezone(zone)


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

    def into(self, place: str) -> int:
        """How many dice came to a place, from all others."""
        return sum(number for (_, target), number in self.moved.items() if target == place)

    def out_of(self, place: str) -> int:
        """How many dice left a place, to all others."""
        return sum(number for (source, _), number in self.moved.items() if source == place)

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
                for place in PLACES
            )
        )

    @property
    def concerns_day(self) -> bool:
        """Whether there is anything to account for."""
        return bool(self.held_at_beginning or self.received or self.moved or self.held_at_end or self.differences)


def _held(places: Counter[str]) -> int:
    return sum(number for place, number in places.items() if place != "destroyed")


@dataclass(frozen=True)
class DayReport:
    """The account of a gaming day, with what else an inspector looks at.

    `is_over`: the journal reaches beyond the day's end. `journal_day`: the gaming day that the journal ends in (None:
    it is empty); an earlier one where the day has not begun. `unknown_rolls`: how often dice were rolled on the day
    while no set was known to be in play. `unwatched` are stretches, part of which is on the day. `rules` are those that
    the table was open under on the day, `dice_rules` those that the dice were judged by.
    """

    day: GamingDay
    is_over: bool
    journal_day: date | None
    sets: tuple[SetDay, ...]
    total: SetDay
    rows: tuple[LogRow, ...]
    openings: tuple[Opening, ...]
    unwatched: tuple[Unwatched, ...]
    rules: tuple[str, ...]
    dice_rules: tuple[str, ...]
    unknown_rolls: int

    @property
    def counts(self) -> list[LogRow]:
        """Opening, closing and other counts."""
        return [row for row in self.rows if row.what in COUNTS]

    @property
    def counts_differing(self) -> list[LogRow]:
        """Counts that did not agree with the log, also where it was put right afterwards."""
        return [row for row in self.counts if row.difference]

    @property
    def deliveries(self) -> list[LogRow]:
        """Sets that were received, or brought to the table."""
        return [row for row in self.rows if row.what in DELIVERIES]

    @property
    def inspections(self) -> list[LogRow]:
        """Inspections of dice, good or not."""
        return [row for row in self.rows if row.what == "inspected"]

    @property
    def unseen(self) -> list[LogRow]:
        """Changes of the lid or the slots that nobody saw, or that were under a shut lid."""
        return [row for row in self.rows if row.what in UNSEEN]

    @property
    def changes(self) -> list[LogRow]:
        """Swaps, changes and offers of dice."""
        return [row for row in self.rows if row.what in CHANGES]

    @property
    def against_rule(self) -> list[LogRow]:
        """All that was done against a rule."""
        return [row for row in self.rows if row.against_rule]

    @property
    def void_throws(self) -> list[LogRow]:
        """Void throws with the dice concerned, or without where nobody told of them."""
        told = {row.belongs_to for row in self.rows if row.what == "void_dice"}
        return [
            row for row in self.rows if row.what == "void_dice" or (row.what == "void_throw" and row.seq not in told)
        ]

    @property
    def unexplained(self) -> list[Opening]:
        """Openings that nobody has explained until now."""
        return [opening for opening in self.openings if not opening.is_explained]

    @property
    def explained_late(self) -> list[Opening]:
        """Openings that a supervisor has explained after the alert."""
        return [opening for opening in self.openings if opening.late and opening.is_explained]

    @property
    def balances(self) -> bool:
        """Whether every set's account balances."""
        return self.total.balances and all(dice_set.balances for dice_set in self.sets)

    @property
    def lacks_dice(self) -> bool:
        """Whether dice were rolled although there are none to account for, so that the account says nothing."""
        return not self.sets and self.unknown_rolls > 0

    @property
    def reconciles(self) -> bool:
        """Whether the account balances, no die is lost, and every count agreed."""
        lost = any(dice_set.lost for dice_set in self.sets)
        return self.balances and not self.lacks_dice and not lost and not self.counts_differing


class DayPruned(Exception):
    """What happened on the day is not, or not all, in the journal any more; the text says where it begins."""


def check_not_pruned(found: History, since: datetime, day: GamingDay) -> None:
    """Raises DayPruned when the journal, which was pruned, begins after `since` of the day."""
    if found.pruned_seq and found.first_at is not None and since < found.first_at:
        first = found.first_at.astimezone(day.zone)
        raise DayPruned(
            f"{day.date} was pruned: this journal begins with event {found.pruned_seq + 1} of "
            f"{first:%Y-%m-%d %H:%M}, and what came before is in the central log alone"
        )


def day_report(found: History, day: GamingDay) -> DayReport:
    """The account of a day. A day before or after the journal has one too: nothing happens in it.

    Raises DayPruned where a part of the day was pruned.
    """
    check_not_pruned(found, day.starts, day)
    ledger = _Ledger(found.places_at_first)
    rows = [row for row in found.rows if day.holds(row.at)]
    ledger.apply(row for row in found.rows if row.at < day.starts)
    accounts = ledger.begin_day()
    ledger.apply(rows)
    is_over = found.last_at is not None and found.last_at >= day.ends
    # A day that is not over ends, for now, with the journal.
    until = day.ends if is_over else max(day.starts, found.last_at or day.starts)
    ledger.end_day(until)
    sets = tuple(account for account in accounts.values() if account.concerns_day)
    seqs = {row.seq for row in rows}
    openings = tuple(opening for opening in found.openings if opening.row.seq in seqs)
    journal_day = None if found.last_at is None else gaming_date(found.last_at, day.begins, day.zone)
    return DayReport(
        day=day,
        is_over=is_over,
        journal_day=journal_day,
        sets=sets,
        total=_sum(sets),
        rows=tuple(rows),
        openings=openings,
        unwatched=tuple(stretch for stretch in found.unwatched if _touches(stretch, day)),
        rules=_rules_in_force(found.rows, day),
        dice_rules=tuple(dict.fromkeys(row.rules for row in rows if row.rules and row.what not in SESSIONS)),
        unknown_rolls=sum(day.holds(roll.at) for roll in found.unknown_rolls),
    )


def _touches(stretch: Unwatched, day: GamingDay) -> bool:
    """Whether part of a stretch is on the day; one that is not over goes on."""
    return stretch.began.at < day.ends and (stretch.ended is None or stretch.ended.at >= day.starts)


def _rules_in_force(rows: Iterable[LogRow], day: GamingDay) -> tuple[str, ...]:
    """The rule sets of the sessions of which a part was on the day."""
    before: list[str] = []
    during: list[str] = []
    for row in rows:
        if row.what in SESSIONS and row.rules is not None and row.at < day.ends:
            if row.at < day.starts:
                before = [row.rules] if row.what == "table_opened" else []
            elif row.what == "table_opened":
                during.append(row.rules)
    return tuple(dict.fromkeys([*before, *during]))


def _sum(sets: Sequence[SetDay]) -> SetDay:
    total = SetDay("")
    for dice_set in sets:
        total.beginning += dice_set.beginning
        total.received += dice_set.received
        total.moved += dice_set.moved
        total.end += dice_set.end
        total.differences += dice_set.differences
    return total


class _Ledger:
    """Where every die lies, and between the beginning of a day and its end what was moved."""

    def __init__(self, places: Mapping[str, Mapping[str, str]]) -> None:
        """`places` are those before the first row."""
        self._places = {name: dict(dice) for name, dice in places.items()}
        self._since: dict[str, datetime] = {}
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
            for place in LOST:
                if dice := [die for die, at in places.items() if at == place]:
                    account.lost[place] = dice
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
        if account is not None:
            account.moved[source, target] += 1
            if was != source:
                account.differences.append(Difference(row.seq, name, die, source, was))
        dice[die] = target
        at_table = any(place in AT_TABLE for place in dice.values())
        if at_table:
            self._since.setdefault(name, row.at)
        elif (since := self._since.pop(name, None)) is not None and account is not None:
            account.longest = max(account.longest, row.at - since)
