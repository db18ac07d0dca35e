"""The dice reports as pages to print on A4, and for a screen: black on white, with nothing from elsewhere."""

from collections.abc import Sequence
from datetime import tzinfo
from html import escape

from device.dice_control import page_markup as markup
from device.dice_control.alert_texts import alert_text
from device.dice_control.day_report import DayReport
from device.dice_control.dice_history import History
from device.dice_control.log_rows import LogRow, Opening
from device.dice_control.report_sections import Field, Section, sections
from device.dice_control.report_texts import (
    ACCOUNT,
    articles_text,
    balance_text,
    day_text,
    fairness_plots,
    fairness_text,
    findings_text,
    headline_text,
    hours_text,
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
    clock_marks_text,
    clock_text,
    clock_texts,
    dice_text,
    difference_text,
    ends_of,
    explanation_text,
    lasted_text,
    moment_text,
    note_text,
    open_text,
    opening_marks,
    outcome_text,
    reason_text,
    seen_after_text,
    time_text,
)
from device.dice_control.set_account import SetDay
from device.dice_control.status_texts import places_text, status_facts, unexplained_texts

# Columns of sets in one table of the account: what fits on the width of A4.
SETS_IN_TABLE = 6


def log_page(found: History, rows: Sequence[LogRow], period: str, words: Words, zone: tzinfo | None) -> str:
    """The rows of the dice log, on A4 across. `period` says which they are."""
    openings = openings_by_seq(found)
    columns = ("time", "event", "roll", "point", "shooter", "what", "dice", "reason", "done_by", "seen_by", "note")
    body = "".join(
        markup.cells(
            (
                _time(row, zone),
                markup.unbroken(str(row.seq)),
                _roll(row),
                _point(row),
                escape(row.shooter or ""),
                _what(row, words),
                escape(dice_text(row, words)),
                _why(row, openings.get(row.seq), words),
                escape(row.done_by or ""),
                escape(row.seen_by or ""),
                _remarks(row, openings.get(row.seq), words),
            )
        )
        for row in rows
    )
    content = (
        markup.table(columns, body, words, "log", clock_marks_text(rows, words))
        if rows
        else markup.paragraph(words("no_rows"))
    )
    facts = [(words("period"), period)]
    content = _clocks(rows, words) + content + _articles(found, rows, words)
    return markup.page("log", found, rules_now(found, words), facts, content, words, across=True)


def status_page(found: History, words: Words, zone: tzinfo | None) -> str:
    """Where every die is now, what stands, and who is on duty."""
    places = places_text(found, words)
    rows = "".join(markup.cells(map(escape, (place.name, place.facts, place.where, place.states))) for place in places)
    columns = ("set", "dice", "where", "state")
    parts = [markup.table(columns, rows, words, "status") if places else markup.paragraph(words("no_sets"))]
    parts += [markup.paragraph(said) for said in unexplained_texts(found, words)]
    standing = list(found.standing.values())
    if standing:
        alerts = "".join(
            markup.cells(
                (
                    _time(row, zone),
                    markup.unbroken(str(row.seq)),
                    escape(alert_text(row, words)),
                    escape(outcome_text(row, words, zone)),
                )
            )
            for row in standing
        )
        foot = clock_marks_text(standing, words)
        table = markup.table(("time", "event", "alert", "outcome"), alerts, words, foot=foot)
        parts.append(markup.section(words("alerts"), table))
    parts.append(_fairness(found, sorted(found.rolls), found.rolls_of_no_set, words))
    parts.append(_articles(found, standing, words))
    facts = status_facts(found, words, zone)
    return markup.page("status", found, rules_now(found, words), facts, "".join(parts), words, across=False)


def report_page(found: History, report: DayReport, words: Words, zone: tzinfo | None) -> str:
    """A gaming day's account with lines to sign, on A4 upright."""
    day = report.day
    span = words("from_to", start=moment_text(day.starts, zone), end=moment_text(day.ends, zone))
    facts = [(words("gaming_day"), f"{day.date.isoformat()} ({span})")]
    parts = [
        _clocks(report.rows, words),
        "" if report.rows or report.unknown_rolls else markup.paragraph(words("no_events")),
        _account(report, words),
        *(_section(section, words, zone) for section in sections(found, report, words, zone)),
        _unwatched(report, words, zone),
        _fairness(found, [day.name for day in report.sets if day.name in found.rolls], report.unknown_rolls, words),
        _articles(found, report.rows, words),
    ]
    said = day_text(report, words)
    first = (markup.paragraph(said) if report.is_over else markup.notice(said)) + _headline(report, words)
    rules = rules_of_day(found, report, words)
    return markup.page("report", found, rules, facts, "".join(parts), words, across=False, first=first)


# Parts of the day's report


def _headline(report: DayReport, words: Words) -> str:
    """Whether all is in order, and if not, what is not."""
    said = ""
    if findings := findings_text(report, words):
        lines = "".join(f"<li>{escape(finding)}</li>\n" for finding in findings)
        said = f'<div class="notice">{escape(words("not_in_order"))}\n<ul>\n{lines}</ul></div>\n'
    elif in_order := headline_text(report, words):
        said = markup.paragraph(in_order)
    unwatched = unwatched_text(report, words)
    return said if unwatched is None else said + markup.paragraph(unwatched)


def _account(report: DayReport, words: Words) -> str:
    parts = []
    if not report.sets and not report.lacks_dice:
        parts.append(markup.paragraph(words("no_dice")))
    accounts: list[SetDay] = [*report.sets, report.total] if report.sets else []
    for first in range(0, len(accounts), SETS_IN_TABLE):
        parts.append(_account_table(accounts[first : first + SETS_IN_TABLE], words))
    mark = "" if report.reconciles else ' class="notice"'
    parts += [f"<p{mark}><strong>{escape(said)}</strong></p>\n" for said in balance_text(report, words)]
    parts.append(markup.paragraph(over_24_hours_text(report, words)))
    return markup.section(words("account"), "".join(parts))


def _account_table(accounts: Sequence[SetDay], words: Words) -> str:
    names = "".join(f'<th class="number">{escape(account.name or words("sum"))}</th>' for account in accounts)
    rows = [f"<thead><tr><th>{escape(words('set'))}</th>{names}</tr></thead>\n"]
    for group, lines in ACCOUNT:
        rows.append("<tbody>\n")
        if group != "account":
            rows.append(f'<tr><th class="group" colspan="{len(accounts) + 1}">{escape(words(group))}</th></tr>\n')
        for label, figure in lines:
            cells = "".join(f'<td class="number">{figure(account)}</td>' for account in accounts)
            strong = ' class="sum"' if label == "account.end" else ""
            rows.append(f"<tr{strong}><td>{escape(words(label))}</td>{cells}</tr>\n")
        if group == "account.movements":
            cells = "".join(f'<td class="number">{hours_text(account)}</td>' for account in accounts)
            rows.append(f"<tr><td>{escape(words('account.hours'))}</td>{cells}</tr>\n")
        rows.append("</tbody>\n")
    return f'<table class="account">\n{"".join(rows)}</table>\n'


def _unwatched(report: DayReport, words: Words, zone: tzinfo | None) -> str:
    """Stretches in which nobody watched the reserve."""
    rows = "".join(
        markup.cells(
            (
                markup.unbroken(clock_text(stretch.began.at, stretch.began.clock, zone)),
                ""
                if stretch.ended is None
                else markup.unbroken(clock_text(stretch.ended.at, stretch.ended.clock, zone)),
                escape(lasted_text(stretch, words)),
                escape(cause_text(stretch, words)),
                escape(seen_after_text(stretch, words)),
            )
        )
        for stretch in report.unwatched
    )
    foot = clock_marks_text(ends_of(report.unwatched), words)
    table = markup.table(("began", "ended", "lasted", "cause", "seen_after"), rows, words, foot=foot) if rows else ""
    return markup.section(words("unwatched"), table or markup.paragraph(words("none")))


def _section(section: Section, words: Words, zone: tzinfo | None) -> str:
    """A section's table, and what sums it up."""
    rows = "".join(
        markup.cells(
            (
                _time(line.row, zone),
                markup.unbroken(str(line.row.seq)),
                *(() if section.alike else (_what(line.row, words),)),
                *map(_field, line.fields),
            )
        )
        for line in section.lines
    )
    content = markup.paragraph(section.said) if section.said is not None else ""
    if rows:
        columns = ("time", "event", *(() if section.alike else ("what",)), *section.columns)
        content += markup.table(columns, rows, words, foot=clock_marks_text([one.row for one in section.lines], words))
    return markup.section(words(section.title), content or markup.paragraph(words("none")))


def _field(field: Field) -> str:
    return "<br>".join(markup.strong(part) if field.grave else escape(part) for part in field.parts)


def _articles(found: History, rows: Sequence[LogRow], words: Words) -> str:
    cited = articles_text(found, rows, words)
    return markup.section(words("articles"), "".join(map(markup.paragraph, cited))) if cited else ""


def _fairness(found: History, names: Sequence[str], unknown_rolls: int, words: Words) -> str:
    parts = []
    for name in names:
        count = found.rolls[name]
        said = " · ".join(escape(part) for part in fairness_text(count, words))
        mark = "" if count.mark_now() is None else ' class="notice"'
        plots = "".join(f"<figure>{plot}</figure>" for plot in fairness_plots(count, words))
        parts.append(
            f'<div class="set">\n<h3>{escape(words("set"))} {escape(name)}</h3>\n<p{mark}>{said}</p>\n'
            f'<div class="plots">{plots}</div>\n</div>\n'
        )
    if said_of_none := unknown_rolls_text(unknown_rolls, words):
        parts.append(markup.paragraph(said_of_none))
    return markup.section(words("fairness"), "".join(parts)) if parts else ""


# Parts of a row


def _point(row: LogRow) -> str:
    if row.point is not None:
        return str(row.point)
    return "" if row.roll_number is None else "–"


def _what(row: LogRow, words: Words) -> str:
    said = escape(words.of("what", row.what))
    return said if row.set_name is None else f"{said} <b>{escape(row.set_name)}</b>"


def _why(row: LogRow, opening: Opening | None, words: Words) -> str:
    if opening is not None:
        return _explanation(opening, words)
    return "<br>".join(escape(said) for said in (reason_text(row, words), asked_text(row, words)) if said)


def _explanation(opening: Opening, words: Words) -> str:
    said = explanation_text(opening, words)
    parts = [escape(said) if opening.is_explained else markup.strong(said)]
    return "<br>".join([*parts, *map(escape, opening_marks(opening, words))])


def _remarks(row: LogRow, opening: Opening | None, words: Words) -> str:
    parts = []
    if lid := open_text(row, opening, words):
        parts.append(f"{escape(words('open_for'))} {escape(lid)}")
    if row.against_rule:
        parts.append(markup.strong(f"{words('against_rule')}: {against_text(row, words)}"))
    if row.difference:
        parts.append(markup.strong(f"{words('difference')}: {difference_text(row, words)}"))
    if note := note_text(row, words):
        parts.append(escape(note))
    if row.belongs_to is not None:
        parts.append(escape(f"({words('of_event', seq=row.belongs_to)})"))
    return "<br>".join(parts)


def _time(row: LogRow, zone: tzinfo | None) -> str:
    return markup.unbroken(time_text(row, zone))


def _roll(row: LogRow) -> str:
    return "" if row.roll_number is None else markup.unbroken(str(row.roll_number))


def _clocks(rows: Sequence[LogRow], words: Words) -> str:
    return "".join(map(markup.notice, clock_texts(rows, words)))
