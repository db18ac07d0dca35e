"""`boxman dice`: the dice log, where the dice are, and a gaming day's account, out of a table's journal.

They only read, and may be used beside a running terminal. Times are of the machine's own zone (TZ names another).
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from pathlib import Path

from device.dice_control.day_report import (
    DAY_BEGINS,
    DayPruned,
    GamingDay,
    check_not_pruned,
    day_report,
    gaming_day,
    local,
)
from device.dice_control.dice_history import History, UnreadableEvent, history
from device.dice_control.report_page import log_page, report_page, status_page
from device.dice_control.report_words import Words
from device.dice_control.row_texts import moment_text
from device.event import Event
from device.languages.languages import LANGUAGES, language_of
from device.recovery import beginning
from provisioning.command_failed import CommandFailed
from provisioning.data_option import add_data_option
from provisioning.dice_csv import Cell, log_cells, report_cells, status_cells, write_csv
from provisioning.dice_text import log_lines, report_lines, status_lines
from provisioning.journal_commands import journal_reader, tell_of_pruned, write_data
from provisioning.progress import ProgressBar
from provisioning.standard_streams import visible

TEXT, CSV, HTML = "text", "csv", "html"
PROGRESS_EVENTS = 500


@dataclass(frozen=True)
class Wanted:
    """How a report is asked for: TEXT, CSV or HTML, and in which of LANGUAGES; None: by the table's rule set."""

    form: str = TEXT
    language: str | None = None


def add_dice_command(dice: argparse.ArgumentParser) -> None:
    """The actions log, status and report."""
    actions = dice.add_subparsers(required=True, metavar="ACTION")
    action = actions.add_parser("log", help="all that was done with dice and the reserve")
    _add_arguments(action)
    action.add_argument("--day", metavar="DAY", help="a gaming day, such as 2026-11-29")
    action.add_argument("--since", metavar="TIME", help="from a local time on, such as 2026-11-29T22:00")
    action.add_argument("--until", metavar="TIME", help="until a local time")
    _add_begins(action)
    action.set_defaults(
        start=lambda chosen: show_log(
            chosen.data, _wanted(chosen), chosen.day, chosen.since, chosen.until, chosen.begins
        )
    )
    action = actions.add_parser("status", help="the sets, and where each die is now")
    _add_arguments(action)
    action.set_defaults(start=lambda chosen: show_status(chosen.data, _wanted(chosen)))
    action = actions.add_parser("report", help="a gaming day's account of its dice, to be signed")
    _add_arguments(action)
    action.add_argument("--day", metavar="DAY", required=True, help="the gaming day, such as 2026-11-29")
    _add_begins(action)
    action.set_defaults(start=lambda chosen: show_report(chosen.data, _wanted(chosen), chosen.day, chosen.begins))


def _add_arguments(action: argparse.ArgumentParser) -> None:
    add_data_option(action)
    form = action.add_mutually_exclusive_group()
    form.add_argument(
        "--csv",
        dest="form",
        action="store_const",
        const=CSV,
        default=TEXT,
        help="write CSV; a text that begins like a formula has an apostrophe before it",
    )
    form.add_argument("--html", dest="form", action="store_const", const=HTML, help="write a page to print on A4")
    action.add_argument(
        "--language",
        metavar="L",
        help=f"{', '.join(LANGUAGES)} (default: by the table's rule set). Where zh-Hant is shown or printed there must "
        "be a font with Chinese letters, such as Noto Sans CJK TC",
    )


def _add_begins(action: argparse.ArgumentParser) -> None:
    action.add_argument(
        "--begins",
        metavar="HH:MM",
        help=f"when a gaming day begins, in local time (default: {DAY_BEGINS:%H:%M})",
    )


def _wanted(chosen: argparse.Namespace) -> Wanted:
    if chosen.language is not None and chosen.language not in LANGUAGES:
        raise CommandFailed(f"--language {chosen.language} must be one of {', '.join(LANGUAGES)}")
    return Wanted(chosen.form, chosen.language)


def show_log(
    data: Path, wanted: Wanted, day: str | None, since: str | None, until: str | None, begins: str | None
) -> int:
    """The dice log: of a gaming day, of a time, or the whole."""
    if day is not None and (since is not None or until is not None):
        raise CommandFailed("--day is a time of its own; give it without --since and --until")
    if begins is not None and day is None:
        raise CommandFailed("--begins says when the day of --day begins; give --day too")
    chosen = None if day is None else _day(day, begins)
    first, last = _moment("--since", since), _moment("--until", until)
    if first is not None and last is not None and last <= first:
        raise CommandFailed(f"--until {until} must be later than --since {since}")
    if chosen is not None:
        first, last = chosen.starts, chosen.ends
    found = _read(data)
    if chosen is not None:
        try:
            check_not_pruned(found, chosen.ends, chosen)
        except DayPruned as error:
            raise CommandFailed(str(error)) from error
    words = _words(found, wanted)
    rows = [row for row in found.rows if (first is None or row.at >= first) and (last is None or row.at < last)]
    period = _period(first, last, words)
    _write(
        wanted,
        lambda: log_lines(found, rows, period, words, None),
        lambda: log_cells(found, rows, words, None),
        lambda: log_page(found, rows, period, words, None),
    )
    return 0


def show_status(data: Path, wanted: Wanted) -> int:
    """Every set, and where each of its dice is now."""
    found = _read(data)
    words = _words(found, wanted)
    _write(
        wanted,
        lambda: status_lines(found, words, None),
        lambda: status_cells(found, words, None),
        lambda: status_page(found, words, None),
    )
    return 0


def show_report(data: Path, wanted: Wanted, day: str, begins: str | None) -> int:
    """The account of a gaming day; exit status 1 when its dice do not reconcile, or were rolled and none recorded."""
    chosen = _day(day, begins)
    found = _read(data)
    words = _words(found, wanted)
    try:
        report = day_report(found, chosen)
    except DayPruned as error:
        raise CommandFailed(str(error)) from error
    _write(
        wanted,
        lambda: report_lines(found, report, words, None),
        lambda: report_cells(found, report, words, None),
        lambda: report_page(found, report, words, None),
    )
    return 0 if report.reconciles else 1


def _read(data: Path) -> History:
    with journal_reader(data) as reader:
        tell_of_pruned(reader)
        progress = ProgressBar("reading the journal")
        try:
            found = history(_counted(reader.events(), reader.last_seq, progress), beginning(reader)[0])
        except UnreadableEvent as error:
            raise CommandFailed(f"{reader.path}: {error}") from error
        finally:
            progress.close()
    return found


def _counted(events: Iterable[Event], whole: int, progress: ProgressBar) -> Iterator[Event]:
    for event in events:
        yield event
        if event.seq % PROGRESS_EVENTS == 0:
            # The terminal may have written more meanwhile.
            progress(min(event.seq, whole), whole)


def _words(found: History, wanted: Wanted) -> Words:
    return Words(wanted.language or language_of(found.rules))


def _write(
    wanted: Wanted,
    text: Callable[[], Iterator[str]],
    cells: Callable[[], Iterator[Sequence[Cell]]],
    page: Callable[[], str],
) -> None:
    if wanted.form != TEXT:
        write_data()
    if wanted.form == CSV:
        write_csv(cells(), sys.stdout)
    elif wanted.form == HTML:
        print(page(), end="")
    else:
        for line in text():
            print(visible(line))


def _day(text: str, begins: str | None) -> GamingDay:
    try:
        at = DAY_BEGINS if begins is None else time.fromisoformat(begins)
    except ValueError:
        at = None
    if at is None or at.tzinfo is not None:
        raise CommandFailed(f"--begins {begins} must be a time of day such as 06:00")
    try:
        return gaming_day(date.fromisoformat(text), at)
    except (ValueError, OverflowError):
        raise CommandFailed(f"--day {text} must be a day such as 2026-11-29") from None


def _moment(option: str, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return local(datetime.fromisoformat(text), None)
    except (ValueError, OverflowError):
        raise CommandFailed(f"{option} {text} must be a time such as 2026-11-29T22:00, or a day") from None


def _period(first: datetime | None, last: datetime | None, words: Words) -> str:
    start, end = (None if moment is None else moment_text(moment, None) for moment in (first, last))
    if start is not None and end is not None:
        return words("from_to", start=start, end=end)
    if start is not None:
        return words("from", start=start)
    return words("whole_journal") if end is None else words("until", end=end)
