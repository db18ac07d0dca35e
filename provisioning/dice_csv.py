"""The dice reports as CSV (RFC 4180, UTF-8) for a spreadsheet or another program.

A text that a spreadsheet would take for a formula, because it begins with = + - @ or a tab, has an apostrophe before
it; a program that reads the CSV takes it away again. Numbers stay as they are.
"""

import csv
from collections.abc import Iterator, Sequence
from datetime import UTC, tzinfo
from typing import TextIO

from device.dice_control.day_report import DayReport, local
from device.dice_control.dice_history import History
from device.dice_control.log_rows import LogRow, Opening
from device.dice_control.report_texts import (
    ACCOUNT,
    balance_text,
    day_text,
    fairness_text,
    findings_text,
    headline_text,
    hours_text,
    journal_text,
    openings_by_seq,
    rules_of_day,
    unknown_rolls_text,
    unwatched_text,
)
from device.dice_control.report_words import Words
from device.dice_control.row_texts import (
    against_text,
    asked_text,
    cause_text,
    clock_texts,
    dice_text,
    difference_text,
    explanation_text,
    lasted_text,
    note_text,
    opening_marks,
    reason_text,
    seconds_text,
    seen_after_text,
)

# What a spreadsheet takes for the beginning of a formula, in the wide forms of East Asia as well.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
LOG_COLUMNS = (
    "event",
    "time",
    "utc",
    "clock",
    "session",
    "shooter",
    "roll",
    "phase",
    "point",
    "what",
    "set",
    "dice",
    "reason",
    "asked_by",
    "done_by",
    "seen_by",
    "against_rule",
    "difference",
    "open_s",
    "belongs_to",
    "note",
    "alert",
)
REPORT_COLUMNS = ("section", "set", "item", "value", "event", "time", "done_by", "seen_by")
STATUS_COLUMNS = ("set", "dice", "where")

Cell = str | int | None


def safe(cell: Cell) -> str:
    """A cell that no spreadsheet takes for a formula: such a text gets an apostrophe before it."""
    text = "" if cell is None else str(cell)
    return f"'{text}" if isinstance(cell, str) and text.startswith(_FORMULA_STARTS) else text


def write_csv(rows: Iterator[Sequence[Cell]], output: TextIO) -> None:
    """Write rows; lines end with CR LF."""
    writer = csv.writer(output, lineterminator="\r\n")
    for row in rows:
        writer.writerow([safe(cell) for cell in row])


def log_cells(found: History, rows: Sequence[LogRow], words: Words, zone: tzinfo | None) -> Iterator[Sequence[Cell]]:
    """The rows of the dice log under their heads."""
    yield [words(column) for column in LOG_COLUMNS]
    openings = openings_by_seq(found)
    for row in rows:
        yield _log_row(row, openings.get(row.seq), words, zone)


def _log_row(row: LogRow, opening: Opening | None, words: Words, zone: tzinfo | None) -> Sequence[Cell]:
    return (
        row.seq,
        local(row.at, zone).isoformat(timespec="milliseconds"),
        local(row.at, UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z",
        words.of("clock", row.clock),
        row.session,
        row.shooter,
        row.roll_number,
        "" if row.phase is None else words.of("phase", row.phase),
        row.point,
        words.of("what", row.what),
        row.set_name,
        dice_text(row, words),
        reason_text(row, words) if opening is None else explanation_text(opening, words),
        asked_text(row, words),
        row.done_by,
        row.seen_by,
        against_text(row, words),
        difference_text(row, words),
        "" if row.open_ms is None else seconds_text(row.open_ms),
        row.belongs_to,
        "; ".join(
            part for part in (*(opening_marks(opening, words) if opening else ()), note_text(row, words)) if part
        ),
        row.alert,
    )


def status_cells(places: Sequence[tuple[str, str, str]], words: Words) -> Iterator[Sequence[Cell]]:
    """Where every die is now: set, facts about it, where its dice are."""
    yield [words(column) for column in STATUS_COLUMNS]
    yield from places


def report_cells(found: History, report: DayReport, words: Words, zone: tzinfo | None) -> Iterator[Sequence[Cell]]:
    """A gaming day's account, one figure or event a row."""
    yield [words(column) for column in REPORT_COLUMNS]
    head = words("report")
    facts: list[tuple[str, Cell]] = [
        (day_text(report, words), None),
        *((words("not_in_order"), finding) for finding in findings_text(report, words)),
        *((said, None) for said in (headline_text(report, words), unwatched_text(report, words)) if said),
        (words("table"), found.table),
        (words("site"), found.site),
        (words("rules"), rules_of_day(found, report, words)),
        (words("gaming_day"), report.day.date.isoformat()),
        (words("from", start="").strip(), local(report.day.starts, zone).isoformat(timespec="minutes")),
        (words("until", end="").strip(), local(report.day.ends, zone).isoformat(timespec="minutes")),
        (journal_text(found, words), found.last_hash),
    ]
    facts += [(clock, None) for clock in clock_texts(report.rows, words)]
    facts += [(said, None) for said in balance_text(report, words)]
    for item, value in facts:
        yield head, None, item, value, found.last_seq if value == found.last_hash else None, None, None, None
    for account in [*report.sets, report.total] if report.sets else []:
        name = account.name or words("sum")
        for group, figures in ACCOUNT:
            for label, figure in figures:
                yield words(group), name, words(label).lstrip("+−=＋－＝ "), figure(account), None, None, None, None
        if time := hours_text(account):
            yield words("account.movements"), name, words("account.hours"), time, None, None, None, None
    for title, rows in (
        ("deliveries", report.deliveries),
        ("inspections", report.inspections),
        ("counts", report.counts),
        ("changes", report.changes),
        ("broken_rules", report.against_rule),
        ("void_throws", report.void_throws),
        ("unseen", report.unseen),
    ):
        for row in rows:
            yield _event(row, title, words, zone)
    for opening in report.openings:
        row = opening.row
        value = "; ".join((explanation_text(opening, words), *opening_marks(opening, words)))
        lid = words.of("what", row.what)
        yield words("openings"), None, lid, value, row.seq, _time(row, zone), opening.explained_by, None
    for stretch in report.unwatched:
        cause, after = cause_text(stretch, words), seen_after_text(stretch, words)
        parts = [f"{words('lasted')}: {lasted_text(stretch, words)}"]
        parts += [f"{words('seen_after')}: {after}"] if after else []
        began = local(stretch.began.at, zone).isoformat(timespec="seconds")
        yield words("unwatched"), None, cause, "; ".join(parts), stretch.began.seq, began, None, None
    for account in report.sets:
        if account.name in found.rolls:
            for said in fairness_text(found.rolls[account.name], words):
                yield words("fairness"), account.name, said, None, None, None, None, None
    if unknown := unknown_rolls_text(report.unknown_rolls, words):
        yield words("fairness"), None, unknown, None, None, None, None, None


def _event(row: LogRow, title: str, words: Words, zone: tzinfo | None) -> Sequence[Cell]:
    if title == "counts":
        value = difference_text(row, words) or words("agrees")
    elif title == "broken_rules":
        value = against_text(row, words)
    else:
        note = note_text(row, words) if title in ("deliveries", "inspections", "unseen") else ""
        value = "; ".join(part for part in (reason_text(row, words), dice_text(row, words), note) if part)
    what = words.of("what", row.what)
    return words(title), row.set_name, what, value, row.seq, _time(row, zone), row.done_by, row.seen_by


def _time(row: LogRow, zone: tzinfo | None) -> str:
    return local(row.at, zone).isoformat(timespec="seconds")
