"""What a gaming day's report tells of its events, section by section: the same facts in text, CSV and page."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from device.dice_control.alert_texts import alert_text
from device.dice_control.day_report import DayReport
from device.dice_control.dice_history import History
from device.dice_control.log_rows import LogRow
from device.dice_control.report_texts import changes_text, openings_text
from device.dice_control.report_words import Words
from device.dice_control.row_texts import (
    asked_text,
    dice_text,
    difference_text,
    explanation_text,
    facts_text,
    game_text,
    inspection_texts,
    note_text,
    open_text,
    opening_marks,
    outcome_text,
    reason_text,
    rule_texts,
    saw_text,
)

DONE_BY, SEEN_BY, ASKED_BY, GAME = "done_by", "seen_by", "asked_by", "roll"


@dataclass(frozen=True)
class Field:
    """What a line says under a column; `grave`: it is not in order. Parts stand under each other on a page."""

    column: str
    parts: tuple[str, ...]
    grave: bool = False

    @property
    def text(self) -> str:
        """All parts in one; sentences stand beside each other as they are."""
        return "; ".join(self.parts).replace(".; ", ". ")


@dataclass(frozen=True)
class Line:
    """One event: its row, with time, event, what was done and the set, and besides these the fields."""

    row: LogRow
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class Section:
    """Lines under a title; `said` sums them up, where there is anything to sum up.

    `alike`: each tells of the same as the title says, so that what was done need not be said in each.
    """

    title: str
    lines: tuple[Line, ...]
    said: str | None = None
    alike: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """Those of the fields; each line has all."""
        return tuple(field.column for field in self.lines[0].fields) if self.lines else ()


def sections(found: History, report: DayReport, words: Words, zone: tzinfo | None) -> list[Section]:
    """The sections of a day's report, in their order, those without lines too, unless nothing was done on the day."""

    def lines(rows: Sequence[LogRow], fields: Callable[[LogRow], Sequence[Field]]) -> tuple[Line, ...]:
        return tuple(Line(row, tuple(fields(row))) for row in rows)

    def said(column: str, *parts: str | None, grave: bool = False) -> Field:
        return Field(column, tuple(part for part in parts if part), grave)

    def people(row: LogRow) -> tuple[Field, ...]:
        return said(DONE_BY, row.done_by), said(SEEN_BY, row.seen_by)

    def dice(row: LogRow) -> Field:
        return said("dice", dice_text(row, words))

    def reason(row: LogRow) -> Field:
        return said("reason", reason_text(row, words))

    def game(row: LogRow) -> Field:
        return said(GAME, game_text(row, words))

    def note(row: LogRow) -> Field:
        return said("note", note_text(row, words))

    def asked(row: LogRow) -> Field:
        return said(ASKED_BY, asked_text(row, words))

    def thrown(row: LogRow) -> tuple[Field, ...]:
        return game(row), reason(row), dice(row), *people(row)

    def set_is(row: LogRow) -> Field:
        facts = found.sets.get(row.set_name or "")
        return said("set_is", None if facts is None else facts_text(facts, words))

    def result(row: LogRow) -> Field:
        return said("result", *inspection_texts(row, words), row.text)

    def difference(row: LogRow) -> Field:
        return said("difference", difference_text(row, words) or words("agrees"), grave=bool(row.difference))

    def broken(row: LogRow) -> Field:
        if row.against_rule:
            return said("against_rule", *rule_texts(row, words))
        rolled = words.counted("rolled", row.rolls_while) if row.rolls_while else None
        return said("against_rule", alert_text(row, words), rolled)

    def outcome(row: LogRow) -> Field:
        last = row.last_raised
        return said("outcome", outcome_text(row, words, zone), grave=last is row and not row.is_settled)

    def duty(row: LogRow) -> tuple[Field, ...]:
        session = "" if row.session is None else str(row.session)
        return said("session", session), said("sign.boxman", row.done_by), said("sign.witness", row.seen_by)

    openings = tuple(
        Line(
            opening.row,
            (
                game(opening.row),
                said("open_for", open_text(opening.row, opening, words)),
                said(
                    "reason",
                    explanation_text(opening, words),
                    *opening_marks(opening, words),
                    grave=not opening.is_explained,
                ),
                said(ASKED_BY, None if opening.deed is None else asked_text(opening.deed, words)),
                said(DONE_BY, opening.explained_by),
            ),
        )
        for opening in report.openings
    )
    told = [
        Section("duty", lines(report.duty, duty), alike=True),
        Section("deliveries", lines(report.deliveries, lambda row: (set_is(row), dice(row), *people(row)))),
        Section("inspections", lines(report.inspections, lambda row: (dice(row), result(row), *people(row)))),
        Section(
            "counts",
            lines(report.counts, lambda row: (said("saw_dice", *saw_text(row, words)), difference(row), *people(row))),
        ),
        Section("openings", openings, openings_text(report, words), alike=True),
        Section(
            "changes",
            lines(report.changes, lambda row: (game(row), dice(row), reason(row), asked(row), *people(row))),
            changes_text(report, words),
        ),
        Section("broken_rules", lines(report.against_rule, lambda row: (game(row), broken(row), *people(row)))),
        Section(
            "void_throws", lines(report.void_throws, lambda row: (game(row), reason(row), dice(row), *people(row)))
        ),
        Section("removals", lines(report.removals, lambda row: (dice(row), reason(row), *people(row), note(row)))),
        Section("corrections", lines(report.corrections, lambda row: (dice(row), *people(row), note(row)))),
        Section(
            "alerts",
            lines(report.alerts, lambda row: (said("alert", alert_text(row, words)), outcome(row))),
            alike=True,
        ),
        Section("unseen", lines(report.unseen, lambda row: (note(row),))),
    ]
    return [section for section in told if report.rows or section.lines]
