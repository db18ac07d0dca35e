"""The dice reports as CSV (RFC 4180, UTF-8) for a spreadsheet or another program.

A text that a spreadsheet would take for a formula, because it begins with = + - @ or a tab, has an apostrophe before
it; a program that reads the CSV takes it away again. Numbers stay as they are.
"""

import csv
from collections.abc import Iterator, Sequence
from datetime import UTC, tzinfo
from typing import TextIO

from device.dice_control.alert_texts import alert_text
from device.dice_control.day_report import DayReport, local
from device.dice_control.dice_history import History
from device.dice_control.log_rows import LogRow, Opening
from device.dice_control.report_sections import ASKED_BY, DONE_BY, GAME, SEEN_BY, Line, Section, sections
from device.dice_control.report_texts import (
    ACCOUNT,
    articles_text,
    balance_text,
    day_text,
    fairness_text,
    findings_text,
    headline_text,
    hours_text,
    journal_text,
    openings_by_seq,
    over_24_hours_text,
    rules_now,
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
    outcome_text,
    reason_text,
    seconds_text,
    seen_after_text,
)
from device.dice_control.status_texts import die_places, places_text, status_facts

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
REPORT_COLUMNS = (
    "section",
    "set",
    "item",
    "value",
    "event",
    "time",
    "session",
    "roll",
    "point",
    "shooter",
    "asked_by",
    "done_by",
    "seen_by",
)
STATUS_COLUMNS = ("section", "set", "item", "value", "state", "event", "time", "done_by")
# Of a section's fields, those that are columns here, or said by some.
_COLUMNS_OF_THEIR_OWN = (GAME, ASKED_BY, DONE_BY, SEEN_BY, "session", "sign.boxman", "sign.witness")

Cell = str | int | float | None


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


def status_cells(found: History, words: Words, zone: tzinfo | None) -> Iterator[Sequence[Cell]]:
    """What the status tells, one fact, die or alert a row."""
    yield [words(column) for column in STATUS_COLUMNS]
    head = words("status")
    for item, value in _head_facts(found, rules_now(found, words), words):
        yield head, None, item, value, None, found.last_seq if value == found.last_hash else None, None, None
    for item, value in status_facts(found, words, zone):
        yield head, None, item, value, None, None, None, None
    for place in places_text(found, words):
        yield words("set"), place.name, words("set_is"), place.facts, None, None, None, None
    for die in die_places(found, words):
        yield words("dice"), die.set_name, die.die, die.place, die.state, None, None, None
    for opening in found.openings:
        if not opening.is_explained:
            said = "; ".join((explanation_text(opening, words), *opening_marks(opening, words)))
            yield words("openings"), None, words.of("what", opening.row.what), said, None, opening.row.seq, None, None
    for row in found.standing.values():
        about = row.detail.get("set")
        noted = None if row.noted is None else row.noted.done_by
        outcome = outcome_text(row, words, zone)
        yield words("alerts"), about, row.alert, alert_text(row, words), outcome, row.seq, _time(row, zone), noted
    for name, count in found.rolls.items():
        for text in fairness_text(count, words):
            yield words("fairness"), name, text, None, None, None, None, None
    if unknown := unknown_rolls_text(found.rolls_of_no_set, words):
        yield words("fairness"), None, unknown, None, None, None, None, None
    for article in articles_text(found, list(found.standing.values()), words):
        yield words("articles"), None, article, None, None, None, None, None


def _head_facts(found: History, rules: str, words: Words) -> list[tuple[str, str | None]]:
    return [
        (words("table"), found.table),
        (words("site"), found.site),
        (words("rules"), rules),
        (journal_text(found, words), found.last_hash),
    ]


def report_cells(found: History, report: DayReport, words: Words, zone: tzinfo | None) -> Iterator[Sequence[Cell]]:
    """A gaming day's account, one figure or event a row."""
    yield [words(column) for column in REPORT_COLUMNS]
    head = words("report")
    facts: list[tuple[str, Cell]] = [
        (day_text(report, words), None),
        *((words("not_in_order"), finding) for finding in findings_text(report, words)),
        *((said, None) for said in (headline_text(report, words), unwatched_text(report, words)) if said),
        *_head_facts(found, rules_of_day(found, report, words), words),
        (words("gaming_day"), report.day.date.isoformat()),
        (words("from", start="").strip(), local(report.day.starts, zone).isoformat(timespec="minutes")),
        (words("until", end="").strip(), local(report.day.ends, zone).isoformat(timespec="minutes")),
    ]
    facts += [(clock, None) for clock in clock_texts(report.rows, words)]
    facts += [(said, None) for said in (*balance_text(report, words), over_24_hours_text(report, words))]
    for item, value in facts:
        yield _report_row(head, item, value, event=found.last_seq if value == found.last_hash else None)
    for account in [*report.sets, report.total] if report.sets else []:
        name = account.name or words("sum")
        for group, figures in ACCOUNT:
            for label, figure in figures:
                yield _report_row(words(group), words(label).lstrip("+−=＋－＝ "), figure(account), about=name)
        if time := hours_text(account):
            yield _report_row(words("account.movements"), words("account.hours"), time, about=name)
    for section in sections(found, report, words, zone):
        if section.said is not None:
            yield _report_row(words(section.title), section.said, None)
        for line in section.lines:
            yield _line(line, section, words, zone)
    for stretch in report.unwatched:
        cause, after = cause_text(stretch, words), seen_after_text(stretch, words)
        parts = [f"{words('lasted')}: {lasted_text(stretch, words)}"]
        parts += [f"{words('seen_after')}: {after}"] if after else []
        began = local(stretch.began.at, zone).isoformat(timespec="seconds")
        yield _report_row(words("unwatched"), cause, "; ".join(parts), event=stretch.began.seq, time=began)
    for account in report.sets:
        if account.name in found.rolls:
            for said in fairness_text(found.rolls[account.name], words):
                yield _report_row(words("fairness"), said, None, about=account.name)
    if unknown := unknown_rolls_text(report.unknown_rolls, words):
        yield _report_row(words("fairness"), unknown, None)
    for article in articles_text(found, report.rows, words):
        yield _report_row(words("articles"), article, None)


def _report_row(
    section: str, item: str, value: Cell, *, about: str | None = None, event: int | None = None, time: str | None = None
) -> Sequence[Cell]:
    """A row that tells of no event at the game; `about` is a set."""
    return section, about, item, value, event, time, *([None] * (len(REPORT_COLUMNS) - 6))


def _line(line: Line, section: Section, words: Words, zone: tzinfo | None) -> Sequence[Cell]:
    row = line.row
    said = {field.column: field.text for field in line.fields}
    value = "; ".join(text for column, text in said.items() if text and column not in _COLUMNS_OF_THEIR_OWN)
    return (
        words(section.title),
        row.set_name,
        words.of("what", row.what),
        value,
        row.seq,
        _time(row, zone),
        row.session,
        row.roll_number,
        row.point,
        row.shooter,
        said.get(ASKED_BY),
        said.get(DONE_BY, row.done_by),
        said.get(SEEN_BY, row.seen_by),
    )


def _time(row: LogRow, zone: tzinfo | None) -> str:
    return local(row.at, zone).isoformat(timespec="seconds")
