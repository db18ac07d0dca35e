"""The dice reports as text for a terminal, no line wider than WIDTH columns."""

import unicodedata
from collections.abc import Iterator, Sequence
from datetime import tzinfo

from device.dice_control.alert_texts import alert_text
from device.dice_control.day_report import DayReport
from device.dice_control.dice_history import History
from device.dice_control.event_moments import Timed
from device.dice_control.log_rows import LogRow, Opening
from device.dice_control.report_sections import GAME, Line, Section, sections
from device.dice_control.report_texts import (
    ACCOUNT,
    SIGNERS,
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

WIDTH = 100
_INDENT = 4
_SHOOTER_WIDTH_MAX = 14
_GAP = 2
_NUMBER_WIDTH = 5


def shown_width(text: str) -> int:
    """Columns that a text takes on a terminal: two for a wide letter of East Asia, none for a combining mark."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def wrapped(text: str, width: int, indent: int = 0) -> list[str]:
    """Lines of at most `width` columns, broken at blanks, or within a word that is too long; all but the first
    begin with `indent` blanks.
    """
    lines = [""]
    for word in text.split():
        rest = word
        while rest:
            line = lines[-1]
            gap = " " if line.strip() else ""
            if shown_width(line + gap + rest) <= width:
                lines[-1] += gap + rest
                break
            # A word goes to the next line whole; letters of East Asia, which have no blanks between them, do not.
            if line.strip() and shown_width(rest) <= width - indent and not _is_wide(rest):
                lines.append(" " * indent)
                continue
            fitting = _fitting(rest, width - shown_width(line + gap))
            if fitting:
                lines[-1] += gap + rest[:fitting]
            rest = rest[fitting:]
            if rest:
                lines.append(" " * indent)
    return lines


def _is_wide(text: str) -> bool:
    return any(unicodedata.east_asian_width(char) in "WF" for char in text)


def _fitting(text: str, width: int) -> int:
    """How many of the letters fit into a width."""
    used = 0
    for place, char in enumerate(text):
        used += shown_width(char)
        if used > width:
            return place
    return len(text)


def _pad(text: str, width: int) -> str:
    return text + " " * (width - shown_width(text))


def _cut(text: str, width: int) -> str:
    return text if shown_width(text) <= width else text[: _fitting(text, width - 1)] + "…"


def log_lines(found: History, rows: Sequence[LogRow], period: str, words: Words, zone: tzinfo | None) -> Iterator[str]:
    """The rows of the dice log: one line each, and indented what else is to be known."""
    yield from _head("log", found, rules_now(found, words), [(words("period"), period)], words)
    if not rows:
        yield words("no_rows")
        return
    heads = [words(column) for column in ("time", "event", "roll", "point", "shooter", "what")]
    shooters = max((shown_width(row.shooter or "") for row in rows), default=0)
    least = (21, 6, 4, 2, min(shooters, _SHOOTER_WIDTH_MAX))
    widths = [max(shown_width(head), width) for head, width in zip(heads, least, strict=False)]
    yield _row(heads, widths)
    yield "-" * WIDTH
    openings = openings_by_seq(found)
    for row in rows:
        what = words.of("what", row.what)
        if row.set_name is not None:
            what += f", {words('set')} {row.set_name}"
        cells = [
            time_text(row, zone),
            str(row.seq),
            "" if row.roll_number is None else str(row.roll_number),
            "-" if row.point is None else str(row.point),
            _cut(row.shooter or "", widths[4]),
        ]
        room = WIDTH - sum(widths) - _GAP * len(widths)
        first, *more = wrapped(what, room)
        yield _row([*cells, first], widths)
        for line in more:
            yield " " * (WIDTH - room) + line
        for detail in _details(row, openings.get(row.seq), words):
            yield from _indented(detail)
    yield from _foot(rows, words)
    for said in clock_texts(rows, words):
        yield ""
        yield from wrapped(said, WIDTH)
    yield from _articles(found, rows, words)


def _details(row: LogRow, opening: Opening | None, words: Words) -> Iterator[str]:
    if dice := dice_text(row, words):
        yield f"{words('dice')} {dice}"
    if opening is not None:
        yield f"{words('reason')}: {'; '.join((explanation_text(opening, words), *opening_marks(opening, words)))}"
    elif reason := reason_text(row, words):
        yield f"{words('reason')}: {reason}"
    if asked := asked_text(row, words):
        yield f"{words('asked_by')}: {asked}"
    people = [f"{words(part)}: {name}" for part, name in (("done_by", row.done_by), ("seen_by", row.seen_by)) if name]
    if people:
        yield ". ".join(people)
    if lid := open_text(row, opening, words):
        yield f"{words('open_for')}: {lid}"
    if row.against_rule:
        yield f"{words('against_rule').upper()}: {against_text(row, words)}"
    if row.difference:
        yield f"{words('difference').upper()}: {difference_text(row, words)}"
    if note := note_text(row, words):
        yield note
    if row.belongs_to is not None:
        yield f"({words('of_event', seq=row.belongs_to)})"


def status_lines(found: History, words: Words, zone: tzinfo | None) -> Iterator[str]:
    """Where every die is now, what stands, and who is on duty."""
    yield from _head("status", found, rules_now(found, words), status_facts(found, words, zone), words)
    places = places_text(found, words)
    if not places:
        yield from wrapped(words("no_sets"), WIDTH)
    for place in places:
        yield from wrapped(f"{words('set')} {place.name}: {place.facts}", WIDTH, _INDENT)
        yield from _indented(place.where)
        yield from _indented(place.states)
        if place.name in found.rolls:
            yield from _indented("; ".join(fairness_text(found.rolls[place.name], words)))
    yield ""
    for said in unexplained_texts(found, words):
        yield from wrapped(said, WIDTH, _INDENT)
    standing = list(found.standing.values())
    if standing:
        yield from _title(words("alerts"))
    for row in standing:
        said = f"{time_text(row, zone)}  {words('of_event', seq=row.seq)}: {alert_text(row, words)}"
        yield from wrapped(f"{said} {words('outcome')}: {outcome_text(row, words, zone)}", WIDTH, _INDENT)
    yield from _foot(standing, words)
    if unknown := unknown_rolls_text(found.rolls_of_no_set, words):
        yield from wrapped(unknown, WIDTH)
    yield from _articles(found, standing, words)


def report_lines(found: History, report: DayReport, words: Words, zone: tzinfo | None) -> Iterator[str]:
    """A gaming day's account, with lines to sign."""
    day = report.day
    span = words("from_to", start=moment_text(day.starts, zone), end=moment_text(day.ends, zone))
    facts = [(words("gaming_day"), f"{day.date.isoformat()} ({span})")]
    first = [day_text(report, words), *_headline(report, words)]
    yield from _head("report", found, rules_of_day(found, report, words), facts, words, first=first)
    for clock in clock_texts(report.rows, words):
        yield from wrapped(clock, WIDTH)
    if not report.rows and not report.unknown_rolls:
        yield from wrapped(words("no_events"), WIDTH)
    yield from _account(report, words)
    for section in sections(found, report, words, zone):
        yield from _title(words(section.title))
        if section.said is not None or not section.lines:
            yield from wrapped(section.said or words("none"), WIDTH)
        for line in section.lines:
            yield from _line(line, section, words, zone)
        yield from _foot([line.row for line in section.lines], words)
    yield from _unwatched(report, words, zone)
    marked = [account.name for account in report.sets if account.name in found.rolls]
    unknown = unknown_rolls_text(report.unknown_rolls, words)
    if marked or unknown:
        yield from _title(words("fairness"))
        for name in marked:
            yield from wrapped(f"{words('set')} {name}: {'; '.join(fairness_text(found.rolls[name], words))}", WIDTH, 4)
        yield from wrapped(unknown, WIDTH) if unknown else ()
    yield from _articles(found, report.rows, words)
    yield from _signatures(words)


def _headline(report: DayReport, words: Words) -> Iterator[str]:
    """Whether all is in order, and if not, what is not."""
    if findings := findings_text(report, words):
        yield f"{words('not_in_order')}:"
        for finding in findings:
            yield f"- {finding}"
    elif said := headline_text(report, words):
        yield said
    if unwatched := unwatched_text(report, words):
        yield unwatched


def _unwatched(report: DayReport, words: Words, zone: tzinfo | None) -> Iterator[str]:
    """Stretches in which nobody watched the reserve."""
    yield from _title(words("unwatched"))
    if not report.unwatched:
        yield words("none")
    for stretch in report.unwatched:
        ends = [clock_text(end.at, end.clock, zone) for end in (stretch.began, stretch.ended) if end is not None]
        parts = [lasted_text(stretch, words), cause_text(stretch, words)]
        if after := seen_after_text(stretch, words):
            parts.append(f"{words('seen_after')}: {after}")
        yield from wrapped(f"{' > '.join(ends)}: {'; '.join(parts)}", WIDTH, _INDENT)
    yield from _foot(ends_of(report.unwatched), words)


def _articles(found: History, rows: Sequence[LogRow], words: Words) -> Iterator[str]:
    """The articles that rows cite, in full."""
    if cited := articles_text(found, rows, words):
        yield from _title(words("articles"))
        for article in cited:
            yield from wrapped(article, WIDTH, _INDENT)


def _signatures(words: Words) -> Iterator[str]:
    """A line to sign for each who does, with room to write."""
    yield from _title(words("signatures"))
    signers = [words(f"sign.{signer}") for signer in SIGNERS]
    label_width = max(map(shown_width, signers))
    room = (WIDTH - label_width) // 3 - _GAP
    widths = [label_width, room, room]
    yield _row(["", *(words(f"sign.{part}") for part in ("name", "signature", "date"))], widths)
    for signer in signers:
        yield ""
        yield ""
        yield _row([signer, *["_" * room] * 3], widths)


def _foot(rows: Sequence[Timed], words: Words) -> Iterator[str]:
    """What the marks at times mean, where one of the rows has one."""
    if said := clock_marks_text(rows, words):
        yield from wrapped(said, WIDTH, _INDENT)


def _line(line: Line, section: Section, words: Words, zone: tzinfo | None) -> Iterator[str]:
    """One event of the day, told under a title."""
    row = line.row
    said = f"{time_text(row, zone)}  {words('of_event', seq=row.seq)}"
    if not section.alike:
        said += f": {words.of('what', row.what)}"
        if row.set_name is not None:
            said += f", {words('set')} {row.set_name}"
    yield from wrapped(said, WIDTH, _INDENT)
    for field in line.fields:
        if field.parts:
            text = field.text.upper() if field.grave else field.text
            yield from _indented(text if field.column == GAME else f"{words(field.column)}: {text}")


def _account(report: DayReport, words: Words) -> Iterator[str]:
    if not report.sets and not report.lacks_dice:
        yield from wrapped(words("no_dice"), WIDTH)
    accounts: list[SetDay] = [*report.sets, report.total] if report.sets else []
    labels = [words(label) for _, lines in ACCOUNT for label, _ in lines] + [words("account.hours")]
    label_width = max(map(shown_width, labels)) + _GAP
    while accounts:
        # As many sets side by side as there is room for, one at least.
        shown, used = 0, label_width
        while shown < len(accounts) and (shown == 0 or used + _account_width(accounts[shown], words) <= WIDTH):
            used += _account_width(accounts[shown], words)
            shown += 1
        yield from _account_table(accounts[:shown], label_width, words)
        del accounts[:shown]
    yield ""
    for said in (*balance_text(report, words), over_24_hours_text(report, words)):
        yield from wrapped(said, WIDTH, _INDENT)


def _account_width(account: SetDay, words: Words) -> int:
    return max(shown_width(account.name or words("sum")), _NUMBER_WIDTH) + _GAP


def _account_table(accounts: Sequence[SetDay], label_width: int, words: Words) -> Iterator[str]:
    widths = [_account_width(account, words) for account in accounts]

    def line(label: str, cells: Sequence[str]) -> str:
        right = [" " * (width - shown_width(cell)) + cell for cell, width in zip(cells, widths, strict=True)]
        return (_pad(label, label_width) + "".join(right)).rstrip()

    yield ""
    yield line(words("set"), [account.name or words("sum") for account in accounts])
    for group, figures in ACCOUNT:
        yield words(group)
        for label, figure in figures:
            yield line(words(label), [str(figure(account)) for account in accounts])
    yield line(words("account.hours"), [hours_text(account) for account in accounts])


def _head(
    title: str, found: History, rules: str, facts: Sequence[tuple[str, str]], words: Words, first: Sequence[str] = ()
) -> Iterator[str]:
    said = words(title)
    yield said
    yield "=" * shown_width(said)
    for line in first:
        yield from wrapped(line, WIDTH, 2 if line.startswith("- ") else 0)
    head = [(words("table"), found.table), (words("site"), found.site), (words("rules"), rules)]
    yield from wrapped(". ".join(f"{name}: {value}" for name, value in head if value), WIDTH, _INDENT)
    for name, value in facts:
        yield from wrapped(f"{name}: {value}", WIDTH, _INDENT)
    yield from wrapped(f"{journal_text(found, words)} {found.last_hash}", WIDTH, _INDENT)
    yield ""


def _title(text: str) -> Iterator[str]:
    yield ""
    yield text
    yield "-" * shown_width(text)


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [_pad(cell, width) for cell, width in zip(cells, widths, strict=False)]
    return (" " * _GAP).join([*padded, cells[-1]]).rstrip()


def _indented(text: str) -> Iterator[str]:
    for line in wrapped(text, WIDTH - _INDENT, _INDENT):
        yield " " * _INDENT + line
