"""`boxman statistics`: what a table's rolls and bets say against what chance and the exact edges expect.

It only reads, and may be used beside a running terminal. Times are of the machine's own zone (TZ names another).
"""

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from pathlib import Path

from device.dice_control.day_report import local
from device.event import Event
from device.recovery import beginning
from device.statistics_figures import Count, Figures, Hold, days_of, figures, sessions_of
from device.statistics_history import Statistics, Stretch, UnreadableEvent, statistics
from provisioning.command_failed import CommandFailed
from provisioning.data_option import add_data_option
from provisioning.dice_csv import Cell, write_csv
from provisioning.journal_commands import journal_reader, tell_of_pruned, write_data
from provisioning.pay_table import columns
from provisioning.progress import ProgressBar
from provisioning.standard_streams import visible

PROGRESS_EVENTS = 500
CSV_COLUMNS = ("figure", "of", "seen", "sample", "expected", "rounding", "standard_error", "off_by")
_LINE = {
    "natural": "naturals",
    "craps": "craps",
    "point_set": "points set",
    "point_made": "points made",
    "seven_out": "seven-outs",
}


def add_statistics_command(command: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_data_option(command)
    period = command.add_mutually_exclusive_group()
    period.add_argument("--day", metavar="DAY", help="only a gaming day, such as 2026-11-29")
    period.add_argument("--session", metavar="N", help="only a session, by its number")
    command.add_argument("--set", metavar="NAME", help="only rolls of a set of dice")
    command.add_argument("--csv", action="store_true", help="write CSV")
    command.set_defaults(
        start=lambda chosen: show_statistics(chosen.data, chosen.day, chosen.session, chosen.set, as_csv=chosen.csv)
    )


def show_statistics(data: Path, day: str | None, session: str | None, dice_set: str | None, *, as_csv: bool) -> int:
    """The statistics of a day, a session or the whole journal, of one set of dice or of all."""
    chosen_day, chosen_session = _day(day), _session(session)
    found = _read(data)
    parts = _chosen(found, chosen_day, chosen_session, dice_set)
    if not parts:
        raise CommandFailed(f"{data}: no rolls were recorded {_of(day, session, dice_set)}".rstrip())
    made = figures(parts, found)
    if as_csv:
        write_data()
        write_csv(_cells(found, made), sys.stdout)
    else:
        for line in _lines(found, made, _of(day, session, dice_set)):
            print(visible(line))
    return 0


def _read(data: Path) -> Statistics:
    with journal_reader(data) as reader:
        tell_of_pruned(reader)
        progress = ProgressBar("reading the journal")
        try:
            return statistics(_counted(reader.events(), reader.last_seq, progress), beginning(reader)[0])
        except UnreadableEvent as error:
            raise CommandFailed(f"{reader.path}: {error}") from error
        finally:
            progress.close()


def _counted(events: Iterable[Event], whole: int, progress: ProgressBar) -> Iterator[Event]:
    for event in events:
        yield event
        if event.seq % PROGRESS_EVENTS == 0:
            # The terminal may have written more meanwhile.
            progress(min(event.seq, whole), whole)


def _day(text: str | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        raise CommandFailed(f"--day {text} must be a day such as 2026-11-29") from None


def _session(text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text) <= 10**9:
        raise CommandFailed(f"--session {text} must be a whole number, 1 or more")
    return int(text)


def _chosen(found: Statistics, day: date | None, session: int | None, dice_set: str | None) -> list[Stretch]:
    parts = found.stretches
    if day is not None:
        parts = days_of(found, None).get(day, [])
    elif session is not None:
        parts = sessions_of(found).get(session, [])
    return [part for part in parts if dice_set is None or part.dice_set == dice_set]


def _of(day: str | None, session: str | None, dice_set: str | None) -> str:
    period = f"on {day}" if day is not None else f"in session {session}" if session is not None else ""
    return " ".join(part for part in (period, f"with set {dice_set}" if dice_set is not None else "") if part)


# Text


def _lines(found: Statistics, made: Figures, of: str) -> Iterator[str]:
    yield f"STATISTICS OF TABLE {found.table}" + (f", {of}" if of else "")
    yield f"journal read to event {found.last_seq}; rolls from {_moment(made.began)} to {_moment(made.ended)}"
    if found.layout:
        yield f"{found.layout} still on the layout, not counted"
    yield f"{made.rolls} rolls, {made.decisions} line decisions, {made.void_throws} void throws"
    if made.pace is not None:
        error = "" if made.pace.error is None else f" +/- {made.pace.error:.1f}"
        yield (
            f"{made.pace.an_hour:.1f}{error} rolls an hour of play, of {made.pace.gaps} times between rolls; pauses of "
            "more than 15 minutes are left out"
        )
    yield "Each +/- is one standard error; off by: in standard errors, two of which chance exceeds one time in twenty."
    yield from _counts("TOTALS", made.totals, made.totals_chance)
    yield from _counts("FACES", made.faces, made.faces_chance)
    yield from _table("LINE", [_count_row(count, _LINE[count.what]) for count in made.line])
    yield ""
    yield "HOLD, in chip units, of bets that rolls have decided"
    if not made.bets:
        yield "no bets were decided"
        return
    head = ("bet", "bets", "staked", "won", "hold", "edge", "expected", "rounding", "+/-", "off by")
    rows = [_hold_row(bet, found.names[bet.kind or ""]) for bet in made.bets]
    yield from columns([head, *rows, _hold_row(made.whole, "all bets")], right=range(1, len(head)))
    if made.adjusted:
        yield f"{made.adjusted:+} by supervisors' adjustments of settlements, in no other figure"
    if any(bet.error is None for bet in made.bets):
        yield "bets on a whole hand have no standard error here and are not in the sum"


def _counts(title: str, counts: Sequence[Count], chance: float | None) -> Iterator[str]:
    yield from _table(title, [_count_row(count, count.what) for count in counts])
    if chance is not None:
        yield f"chance alone strays this far or farther in {chance:.1%} of such samples"


def _table(title: str, rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield ""
    yield title
    head = ("", "seen", "of", "expected", "+/-", "off by")
    yield from columns([head, *rows], right=range(1, len(head)))


def _count_row(count: Count, name: str) -> Sequence[str]:
    off = "" if (by := _off(count)) is None else f"{by:+.1f}"
    return name, str(count.seen), str(count.of), f"{count.expected:.1f}", f"{count.error:.1f}", off


def _hold_row(bet: Hold, name: str) -> Sequence[str]:
    hold = "" if bet.hold is None else f"{bet.hold:.2%}"
    edge = "" if bet.expected_hold is None else f"{bet.expected_hold:.2%}"
    error = "" if bet.error is None else f"{bet.error:.1f}"
    off = "" if (by := _off_hold(bet)) is None else f"{by:+.1f}"
    amounts = (str(bet.decided), str(bet.staked), str(bet.won))
    return name, *amounts, hold, edge, f"{bet.expected:.1f}", f"{bet.rounding:.1f}", error, off


def _off(count: Count) -> float | None:
    return (count.seen - count.expected) / count.error if count.error else None


def _off_hold(bet: Hold) -> float | None:
    return bet.difference / bet.error if bet.error else None


def _moment(moment: datetime | None) -> str:
    assert moment is not None
    return local(moment, None).isoformat(sep=" ", timespec="minutes")


# CSV


def _cells(found: Statistics, made: Figures) -> Iterator[Sequence[Cell]]:
    """One row a figure; of bets `seen` is what was won and `sample` what was staked, in chip units."""
    yield CSV_COLUMNS
    yield "rolls", None, made.rolls, None, None, None, None, None
    yield "void throws", None, made.void_throws, None, None, None, None, None
    if made.pace is not None:
        yield (
            "rolls an hour",
            None,
            _rounded(made.pace.an_hour),
            made.pace.gaps,
            None,
            None,
            _rounded(made.pace.error),
            None,
        )
    for figure, counts in (("total", made.totals), ("face", made.faces), ("line", made.line)):
        for count in counts:
            error, off = _rounded(count.error), _rounded(_off(count))
            yield figure, count.what, count.seen, count.of, _rounded(count.expected), None, error, off
    for bet in (*made.bets, made.whole):
        name = "all bets" if bet.kind is None else found.names[bet.kind]
        yield "bets decided", name, bet.decided, None, None, None, None, None
        expected, error, off = _rounded(bet.expected), _rounded(bet.error), _rounded(_off_hold(bet))
        yield "won", name, bet.won, bet.staked, expected, _rounded(bet.rounding), error, off
    if made.adjusted:
        yield "adjusted", None, made.adjusted, None, None, None, None, None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
