"""A gaming day's account of its dice, as New Jersey 13:69E-1.16 asks for it, out of the dice log's rows.

For each set and in sum, in numbers of dice:

  at the beginning + received - destroyed = at the end
  at the end = in store + in reserve + in play + elsewhere at the table + missing + written off + withdrawn + cancelled

The first line counts what the events say was moved, the second counts dice where they lie. They agree unless the
journal moves a die from where it was not; then the difference is named. A die that is cancelled, withdrawn, missing or
written off has still to be accounted for; one that is destroyed no longer. A die that is on the floor at the day's end
is missing. Nobody can withdraw, cancel or destroy a die that nobody has: where a journal says so of a missing one, it
is written off here. The dice reconcile only if besides none is missing at the day's end, none was written off on the
day, and every count of the day agreed with the log.

A gaming day begins at an hour of local time, 06:00 unless said otherwise, and ends when the next begins: a casino's
day is not over at midnight. Local is the zone that is handed in; None is the machine's own.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo

from device.dice_control.dice_alerts import SET_MUST_GO
from device.dice_control.dice_history import History
from device.dice_control.dice_state import GONE
from device.dice_control.log_rows import LogRow, Opening, Unwatched
from device.dice_control.report_kinds import FIRST_DAY, LAST_DAY
from device.dice_control.set_account import MISSED, TAKEN_AWAY, WRITTEN_OFF, Ledger, SetDay, sum_of

DAY_BEGINS = time(6)
CHANGES = ("swap", "change", "offer")
COUNTS = ("count_opening", "count_closing", "count_check")
SESSIONS = ("table_opened", "table_closed")
DELIVERIES = ("received", "placed")
# What nobody saw when it was.
UNSEEN = ("slots_changed_shut", "edge_lost", "changes_dropped")
# Why a throw is void for which a die left play: which one, somebody has to say.
TAKES_A_DIE = ("off_table", "broken", "in_dice_cup")


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
class DayReport:
    """The account of a gaming day, with what else an inspector looks at.

    `is_over`: the journal reaches beyond the day's end. `journal_day`: the gaming day that the journal ends in (None:
    it is empty); an earlier one where the day has not begun. `unknown_rolls`: how often dice were rolled on the day
    while no set was known to be in play. `unwatched` are stretches, part of which is on the day. `rules` are those that
    the table was open under on the day, `dice_rules` those that the dice were judged by. `duty` says who was on duty
    in the sessions of the day, also where it was said before.
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
    duty: tuple[LogRow, ...]

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
        """All that was done against a rule, and alerts that tell of what no row does: rolls with a set that must go."""
        rolls = {row.seq for row in self._rolls_against_rule}
        return [row for row in self.rows if row.against_rule or row.seq in rolls]

    @property
    def _rolls_against_rule(self) -> list[LogRow]:
        told = [row for row in self.alerts if row.alert_family == "against_rule" and row.about is None]
        served = [
            broken.get("detail", {}).get("set")
            for row in told
            for broken in row.detail.get("against_rule", ())
            if broken["rule"] == "reuse"
        ]
        return told + [
            row
            for row in self.set_must_go
            if row.rolls_while and not (row.alert_family == "set_served_before" and row.detail.get("set") in served)
        ]

    @property
    def alerts(self) -> list[LogRow]:
        """Alerts about dice or the reserve that were raised on the day."""
        return [row for row in self.rows if row.what == "alert_raised"]

    @property
    def alerts_open(self) -> list[LogRow]:
        """Of these, those that nobody has noted or put right until now, each once."""
        return [row for row in self.alerts if row.again is None and not row.is_settled]

    @property
    def set_must_go(self) -> list[LogRow]:
        """Alerts that a set may not serve: it rolled all the same, or it is at the table still."""
        must_go = [row for row in self.alerts if row.alert_family in SET_MUST_GO]
        return [row for row in must_go if row.rolls_while or (row.again is None and not row.is_settled)]

    def alerted(self, family: str) -> list[LogRow]:
        """Alerts of a family that were raised on the day, each once, although it was raised again while it stood."""
        return [row for row in self.alerts if row.alert_family == family and row.again is None]

    @property
    def without_closing_count(self) -> list[LogRow]:
        """Alerts that a table was closed without a closing count, those that no count made up for afterwards."""
        last = {(row.session, row.set_name): row.seq for row in self.counts if row.what == "count_closing"}
        return [
            row
            for row in self.alerted("no_closing_count")
            if any(last.get((row.detail["session"], name), 0) < row.seq for name in row.detail["sets"])
        ]

    @property
    def not_recorded(self) -> list[Unwatched]:
        """Stretches in which nothing at all was recorded."""
        return [stretch for stretch in self.unwatched if stretch.cause == "not_recorded"]

    @property
    def removals(self) -> list[LogRow]:
        """All that was withdrawn, cancelled, destroyed, lost, written off or found, apart from corrections."""
        return [
            row
            for row in self.rows
            if row.what != "correction"
            and any(
                move.target in (*GONE, WRITTEN_OFF) or move.source in (*MISSED, WRITTEN_OFF, *TAKEN_AWAY)
                for move in row.moves
            )
        ]

    @property
    def corrections(self) -> list[LogRow]:
        """What was put right in the log."""
        return [row for row in self.rows if row.what == "correction"]

    @property
    def void_throws(self) -> list[LogRow]:
        """Void throws with the dice concerned, or without where nobody told of them."""
        told = {row.belongs_to for row in self.rows if row.what == "void_dice"}
        return [
            row for row in self.rows if row.what == "void_dice" or (row.what == "void_throw" and row.seq not in told)
        ]

    @property
    def not_named(self) -> list[LogRow]:
        """Void throws for which a die left play, and nobody said which, where the log knows of dice at all."""
        if not self.sets:
            return []
        return [row for row in self.void_throws if row.what == "void_throw" and row.reason in TAKES_A_DIE]

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
        """Whether the account balances, no die is lost or was given up, and every count agreed."""
        lost = any(dice_set.lost or dice_set.written_off for dice_set in self.sets)
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
    ledger = Ledger(found.places_at_first)
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
    sessions = {row.session for row in rows if row.session is not None}
    journal_day = None if found.last_at is None else gaming_date(found.last_at, day.begins, day.zone)
    return DayReport(
        day=day,
        is_over=is_over,
        journal_day=journal_day,
        sets=sets,
        total=sum_of(sets),
        rows=tuple(rows),
        openings=openings,
        unwatched=tuple(stretch for stretch in found.unwatched if _touches(stretch, day)),
        rules=_rules_in_force(found.rows, day),
        dice_rules=tuple(dict.fromkeys(row.rules for row in rows if row.rules and row.what not in SESSIONS)),
        unknown_rolls=sum(day.holds(roll.at) for roll in found.unknown_rolls),
        duty=tuple(row for row in found.rows if row.what == "duty" and row.session in sessions and row.at < day.ends),
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
