"""The dice reports as pages to print on A4, and for a screen: black on white, with nothing from elsewhere."""

from collections.abc import Iterable, Sequence
from datetime import tzinfo
from html import escape
from string import Template

from device.dice_control.day_report import DayReport, SetDay
from device.dice_control.dice_history import History, LogRow, Opening
from device.dice_control.report_texts import (
    ACCOUNT,
    SIGNERS,
    against_text,
    asked_text,
    balance_text,
    changes_text,
    day_text,
    dice_text,
    difference_text,
    explanation_text,
    fairness_plots,
    fairness_text,
    free_clock_text,
    free_mark_text,
    hours_text,
    moment_text,
    note_text,
    open_text,
    openings_by_seq,
    openings_text,
    over_24_hours_text,
    reason_text,
    rule_texts,
    time_text,
    unknown_rolls_text,
)
from device.dice_control.report_words import Words

# Columns of sets in one table of the account: what fits on the width of A4.
SETS_IN_TABLE = 6


def log_page(found: History, rows: Sequence[LogRow], period: str, words: Words, zone: tzinfo | None) -> str:
    """The rows of the dice log, on A4 across. `period` says which they are."""
    openings = openings_by_seq(found)
    columns = ("time", "event", "roll", "point", "shooter", "what", "dice", "reason", "done_by", "seen_by", "note")
    body = "".join(
        _cells(
            (
                _time(row, zone),
                _unbroken(str(row.seq)),
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
    content = _table(columns, body, words, "log", free_mark_text(rows, words)) if rows else _paragraph(words("no_rows"))
    facts = [(words("period"), period)]
    return _page("log", found, facts, _notice(free_clock_text(rows, words)) + content, words, across=True)


def status_page(found: History, places: Sequence[tuple[str, str, str]], words: Words, zone: tzinfo | None) -> str:
    """Where every die is now: `places` are (set, facts about it, where its dice are)."""
    rows = "".join(_cells(map(escape, place)) for place in places)
    parts = [_table(("set", "dice", "where"), rows, words, "status") if places else _paragraph(words("no_sets"))]
    if found.alerts:
        parts.append(f"<h2>{escape(words('standing_alerts'))}</h2>\n")
        parts += [_paragraph(text) for text in found.alerts.values()]
    parts.append(_fairness(found, sorted(found.rolls), found.rolls_of_no_set, words))
    when = "" if found.last_at is None else moment_text(found.last_at, zone)
    return _page("status", found, [(words("time"), when)], "".join(parts), words, across=False)


def report_page(found: History, report: DayReport, words: Words, zone: tzinfo | None) -> str:
    """A gaming day's account with lines to sign, on A4 upright."""
    day = report.day
    span = words("from_to", start=moment_text(day.starts, zone), end=moment_text(day.ends, zone))
    facts = [(words("gaming_day"), f"{day.date.isoformat()} ({span})")]
    parts = [
        _notice(free_clock_text(report.rows, words)),
        "" if report.rows or report.unknown_rolls else _paragraph(words("no_events")),
        _account(report, words),
        _counts(report, words, zone),
        _openings(report, words, zone),
        _changes(report, words, zone),
        _void_throws(report, words, zone),
        _fairness(found, [day.name for day in report.sets if day.name in found.rolls], report.unknown_rolls, words),
    ]
    said = day_text(report, words)
    first = _paragraph(said) if report.is_over else _notice(said)
    return _page("report", found, facts, "".join(parts), words, across=False, first=first)


# Parts of the day's report


def _account(report: DayReport, words: Words) -> str:
    parts = []
    if not report.sets and not report.lacks_dice:
        parts.append(_paragraph(words("no_dice")))
    accounts: list[SetDay] = [*report.sets, report.total] if report.sets else []
    for first in range(0, len(accounts), SETS_IN_TABLE):
        parts.append(_account_table(accounts[first : first + SETS_IN_TABLE], words))
    mark = "" if report.balances and not report.lacks_dice else ' class="notice"'
    parts += [f"<p{mark}><strong>{escape(said)}</strong></p>\n" for said in balance_text(report, words)]
    parts.append(_paragraph(over_24_hours_text(report, words)))
    return _section(words("account"), "".join(parts))


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


def _counts(report: DayReport, words: Words, zone: tzinfo | None) -> str:
    rows = "".join(
        _cells(
            (
                _time(row, zone),
                _unbroken(str(row.seq)),
                escape(words.of("what", row.what)),
                escape(row.set_name or ""),
                _strong(difference_text(row, words)) if row.difference else escape(words("agrees")),
                escape(row.done_by or ""),
                escape(row.seen_by or ""),
            )
        )
        for row in report.counts
    )
    columns = ("time", "event", "what", "set", "difference", "done_by", "seen_by")
    foot = free_mark_text(report.counts, words)
    return _section(words("counts"), _table(columns, rows, words, foot=foot) if rows else _paragraph(words("none")))


def _openings(report: DayReport, words: Words, zone: tzinfo | None) -> str:
    rows = "".join(
        _cells(
            (
                _time(opening.row, zone),
                _unbroken(str(opening.row.seq)),
                _roll(opening.row),
                _point(opening.row),
                escape(opening.row.shooter or ""),
                escape(open_text(opening.row, opening, words)),
                _explanation(opening, words),
            )
        )
        for opening in report.openings
    )
    columns = ("time", "event", "roll", "point", "shooter", "open_for", "reason")
    foot = free_mark_text([opening.row for opening in report.openings], words)
    table = _table(columns, rows, words, foot=foot) if rows else ""
    return _section(words("openings"), _paragraph(openings_text(report, words)) + table)


def _changes(report: DayReport, words: Words, zone: tzinfo | None) -> str:
    rows = "".join(
        _cells(
            (
                _time(row, zone),
                _unbroken(str(row.seq)),
                _what(row, words),
                escape(dice_text(row, words)),
                escape(reason_text(row, words)),
                escape(asked_text(row, words)),
                escape(row.done_by or ""),
                escape(row.seen_by or ""),
            )
        )
        for row in report.changes
    )
    columns = ("time", "event", "what", "dice", "reason", "asked_by", "done_by", "seen_by")
    foot = free_mark_text(report.changes, words)
    parts = [_paragraph(changes_text(report, words)), _table(columns, rows, words, foot=foot) if rows else ""]
    broken = "".join(
        _cells(
            (
                _time(row, zone),
                _unbroken(str(row.seq)),
                _what(row, words),
                "<br>".join(map(escape, rule_texts(row, words))),
            )
        )
        for row in report.against_rule
    )
    if broken:
        foot = free_mark_text(report.against_rule, words)
        table = _table(("time", "event", "what", "against_rule"), broken, words, foot=foot)
        parts.append(f"<h3>{escape(words('broken_rules'))}</h3>\n{table}")
    return _section(words("changes"), "".join(parts))


def _void_throws(report: DayReport, words: Words, zone: tzinfo | None) -> str:
    rows = "".join(
        _cells(
            (
                _time(row, zone),
                _unbroken(str(row.seq)),
                _roll(row),
                escape(row.shooter or ""),
                escape(reason_text(row, words)),
                escape(row.set_name or ""),
                escape(dice_text(row, words)),
            )
        )
        for row in report.void_throws
    )
    columns = ("time", "event", "roll", "shooter", "reason", "set", "dice")
    foot = free_mark_text(report.void_throws, words)
    return _section(
        words("void_throws"), _table(columns, rows, words, foot=foot) if rows else _paragraph(words("none"))
    )


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
        parts.append(_paragraph(said_of_none))
    return _section(words("fairness"), "".join(parts)) if parts else ""


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
    return escape(said) if opening.is_explained else _strong(said)


def _remarks(row: LogRow, opening: Opening | None, words: Words) -> str:
    parts = []
    if lid := open_text(row, opening, words):
        parts.append(f"{escape(words('open_for'))} {escape(lid)}")
    if row.against_rule:
        parts.append(_strong(f"{words('against_rule')}: {against_text(row, words)}"))
    if row.difference:
        parts.append(_strong(f"{words('difference')}: {difference_text(row, words)}"))
    if note := note_text(row, words):
        parts.append(escape(note))
    if row.belongs_to is not None:
        parts.append(escape(f"({words('of_event', seq=row.belongs_to)})"))
    return "<br>".join(parts)


# Markup


def _cells(cells: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>\n"


def _table(columns: Sequence[str], rows: str, words: Words, name: str = "", foot: str | None = None) -> str:
    head = "".join(f'<th class="{column}">{escape(words(column))}</th>' for column in columns)
    said = "" if foot is None else f'<tfoot><tr><td colspan="{len(columns)}">{escape(foot)}</td></tr></tfoot>\n'
    return f'<table class="{name}">\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n{said}</table>\n'


def _section(title: str, content: str) -> str:
    return f"<section>\n<h2>{escape(title)}</h2>\n{content}</section>\n"


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>\n"


def _notice(text: str | None) -> str:
    return "" if text is None else f'<p class="notice">{escape(text)}</p>\n'


def _strong(text: str) -> str:
    return f"<strong>{escape(text)}</strong>"


def _time(row: LogRow, zone: tzinfo | None) -> str:
    return _unbroken(time_text(row, zone))


def _roll(row: LogRow) -> str:
    return "" if row.roll_number is None else _unbroken(str(row.roll_number))


def _unbroken(text: str) -> str:
    return f'<span class="unbroken">{escape(text)}</span>'


def _page(
    title: str,
    found: History,
    facts: Sequence[tuple[str, str]],
    content: str,
    words: Words,
    *,
    across: bool,
    first: str = "",
) -> str:
    head = [
        (words("table"), found.table or ""),
        (words("site"), found.site or ""),
        (words("rules"), found.rules or ""),
        *facts,
        (words("journal_ends", seq=found.last_seq), found.last_hash),
    ]
    said = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>\n" for name, value in head if value)
    lines = "".join(f"<th>{escape(words(f'sign.{part}'))}</th>" for part in ("name", "signature", "date"))
    signers = "".join(
        f'<tr class="sign"><th>{escape(words(f"sign.{signer}"))}</th><td></td><td></td><td></td></tr>\n'
        for signer in SIGNERS
    )
    footer = f"{words(title)} · {words('table')} {found.table or ''}"
    return Template(_PAGE).substitute(
        language=words.language,
        size="A4 landscape" if across else "A4",
        footer=_css_string(footer),
        title=escape(words(title)),
        first=first,
        fonts=_FONTS,
        facts=said,
        content=content,
        signatures=escape(words("signatures")),
        lines=lines,
        signers=signers,
    )


def _css_string(text: str) -> str:
    """A string of CSS that can end neither itself nor the style it stands in."""
    return '"' + "".join(char if char.isalnum() or char in " -_.·" else f"\\{ord(char):x} " for char in text) + '"'


# Those of Chinese last, for the letters that the others have not.
_FONTS = (
    '"Liberation Sans", "DejaVu Sans", Arial, "Noto Sans TC", "Noto Sans CJK TC", "Noto Sans HK", "PingFang TC", '
    '"Microsoft JhengHei", sans-serif'
)

_PAGE = """<!DOCTYPE html>
<html lang="$language">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>
@page {
  size: $size;
  margin: 12mm 12mm 15mm;
  @bottom-left { content: $footer; font: 8pt $fonts; }
  @bottom-right { content: counter(page) " / " counter(pages); font: 8pt $fonts; }
}
* { box-sizing: border-box; }
html { font: 9.5pt/1.35 $fonts; color: #000; background: #fff; }
body { max-width: 72rem; margin: 0 auto; padding: 1.5rem; overflow-wrap: anywhere; }
h1 { font-size: 17pt; line-height: 1.15; margin: 0 0 .5rem; padding-bottom: .3rem; border-bottom: .2rem solid #000; }
h2 { font-size: 11.5pt; margin: 1rem 0 .2rem; break-after: avoid; }
h3 { font-size: 10pt; margin: .6rem 0 .1rem; break-after: avoid; }
p { margin: .25rem 0; }
dl { display: flex; flex-wrap: wrap; gap: .1rem 1.6rem; margin: 0 0 .6rem; }
dl div { display: flex; flex-wrap: wrap; gap: 0 .4rem; }
dt { font-weight: bold; }
dd { margin: 0; }
.notice { border: .15rem solid #000; padding: .3rem .6rem; font-weight: bold; break-inside: avoid; }
table { width: 100%; border-collapse: collapse; border-top: 1.5pt solid #000; margin: .2rem 0 .5rem; }
thead { display: table-header-group; }
tr { break-inside: avoid; border-bottom: .5pt solid #888; }
thead tr { border-bottom: 1pt solid #000; }
th, td { text-align: left; vertical-align: top; padding: .14rem .7rem .14rem 0; }
td:last-child, th:last-child { padding-right: 0; }
.log { font-size: 8pt; }
.unbroken { white-space: nowrap; }
th { overflow-wrap: normal; word-break: keep-all; }
.number { text-align: right; width: 5.5rem; }
.account { break-inside: avoid; }
.account th.number { overflow-wrap: anywhere; }
.account .sum td { font-weight: bold; border-top: 1pt solid #000; }
.account .group { padding-top: .5rem; }
.set { break-inside: avoid; }
.plots { display: flex; gap: 1rem; }
figure { flex: 1 1 50%; margin: .2rem 0; max-width: 28rem; }
svg { display: block; width: 100%; font-family: inherit; }
.signatures { break-inside: avoid; margin-top: 1.2rem; }
.signatures td { border-left: .5pt solid #888; }
.signatures .sign { height: 3.6rem; }
.signatures th { width: 18%; }
@media print { body { max-width: none; padding: 0; } }
</style>
</head>
<body>
<h1>$title</h1>
$first<dl>
$facts</dl>
<main>
$content</main>
<section class="signatures">
<h2>$signatures</h2>
<table>
<thead><tr><th></th>$lines</tr></thead>
<tbody>
$signers</tbody>
</table>
</section>
</body>
</html>
"""
