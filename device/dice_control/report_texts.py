"""Accounts and judgements of the dice reports in words: what text, CSV and page have in common."""

from collections.abc import Callable, Sequence
from datetime import timedelta

from device.dice_control import dice_rules
from device.dice_control.alert_texts import article_text, articles_of, short_article
from device.dice_control.day_report import DayReport
from device.dice_control.dice_history import History
from device.dice_control.event_moments import Moment
from device.dice_control.fairness import (
    FACES,
    ROLLS_PER_LOOK,
    TOTALS,
    Comparison,
    RollCount,
    compare_faces,
    compare_totals,
)
from device.dice_control.fairness_plot import bar_plot
from device.dice_control.log_rows import LogRow, Opening
from device.dice_control.report_words import Words
from device.dice_control.row_texts import difference_text, seqs_text
from device.dice_control.set_account import WRITTEN_OFF, Difference, SetDay

# Who signs a day's account.
SIGNERS = ("boxman", "witness", "supervisor", "inspector")


def journal_text(found: History, words: Words) -> str:
    """Which part of the journal a report is made of; the hash of the last event follows."""
    if found.pruned_seq:
        return words("pruned_journal_ends", pruned=found.pruned_seq, seq=found.last_seq)
    return words("journal_ends", seq=found.last_seq)


# The day's account

_Figure = Callable[[SetDay], int]
# Groups of lines; the first ends with what the day's end is, the second says where that lies.
ACCOUNT: Sequence[tuple[str, Sequence[tuple[str, _Figure]]]] = (
    (
        "account",
        (
            ("account.beginning", lambda day: day.held_at_beginning),
            ("account.received", lambda day: day.received),
            ("account.destroyed", lambda day: day.into("destroyed")),
            ("account.end", lambda day: day.held_at_end),
        ),
    ),
    (
        "account.of_which",
        (
            ("account.in_store", lambda day: day.end["store"]),
            ("account.in_play", lambda day: day.end["play"]),
            ("account.in_reserve", lambda day: day.end["reserve"]),
            ("account.elsewhere", lambda day: day.elsewhere_at_table),
            ("account.in_missing", lambda day: day.missed_at_end),
            ("account.in_written_off", lambda day: day.end[WRITTEN_OFF]),
            ("account.in_withdrawn", lambda day: day.end["withdrawn"]),
            ("account.in_cancelled", lambda day: day.end["cancelled"]),
        ),
    ),
    (
        "account.movements",
        (
            ("account.distributed", lambda day: day.distributed),
            ("account.returned", lambda day: day.returned),
            ("account.withdrawn", lambda day: day.into("withdrawn")),
            ("account.cancelled", lambda day: day.into("cancelled")),
            ("account.fell", lambda day: day.into("floor")),
            ("account.missing", lambda day: day.went_missing),
            ("account.written_off", lambda day: day.into(WRITTEN_OFF)),
            ("account.found", lambda day: day.found),
        ),
    ),
)


def day_text(report: DayReport, words: Words) -> str:
    """Whether the day is over by the journal, has not ended yet, or has not even begun."""
    if report.is_over:
        return words("is_over", day=report.journal_day)
    if report.journal_day is None or report.journal_day == report.day.date:
        return words("not_over")
    return words("not_begun", time=f"{report.day.begins:%H:%M}", day=report.journal_day)


def balance_text(report: DayReport, words: Words) -> list[str]:
    """Whether the account balances and the dice reconcile, and what it is that does not balance.

    Or that dice rolled of which there is none.
    """
    if report.lacks_dice:
        return [words.counted("no_dice_recorded", report.unknown_rolls)]
    total = report.total
    key = "balances" if report.reconciles else "balances_but" if report.balances else "balances_not"
    said = words(
        key,
        beginning=total.held_at_beginning,
        received=total.received,
        destroyed=total.into("destroyed"),
        end=total.held_at_end,
    )
    return [said, *(_account_difference(difference, words) for difference in total.differences)]


def findings_text(report: DayReport, words: Words) -> list[str]:
    """What is not in order on the day, the gravest first; empty where all is."""
    found: list[str] = []
    if report.lacks_dice or not report.balances:
        found += balance_text(report, words)
    for dice_set in report.sets:
        found += [
            words(f"finding.{place}", set=dice_set.name, dice=", ".join(dice))
            for place, dice in (*dice_set.lost.items(), (WRITTEN_OFF, dice_set.written_off))
            if dice
        ]
    for row in report.counts_differing:
        said = difference_text(row, words)
        what = words.of("what", row.what)
        found.append(words("finding.count", what=what, set=row.set_name, seq=row.seq, difference=said))
    shut = [row for row in report.unseen if row.what == "slots_changed_shut"]
    unexplained = [opening.row for opening in report.unexplained]
    for key, rows in (("unexplained", unexplained), ("slots", shut), ("broken", report.against_rule)):
        if rows:
            found.append(words.counted(f"finding.{key}", len(rows), seqs=seqs_text([row.seq for row in rows])))
    for key, seqs in _not_right(report):
        if seqs:
            what = words(f"not_right.{key}")
            found.append(words.counted("finding.events", len(seqs), what=what, seqs=seqs_text(seqs)))
    return found


def _not_right(report: DayReport) -> list[tuple[str, list[int]]]:
    """What was alarmed on the day and is not told by dice, counts, openings without a reason, and broken rules."""
    rows: dict[str, Sequence[LogRow | Moment]] = {
        "not_recorded": [stretch.began for stretch in report.not_recorded],
        "explained_late": [opening.row for opening in report.explained_late],
    }
    for mark in ("during_roll", "while_closed", "left_open"):
        rows[mark] = [opening.row for opening in report.openings if getattr(opening, mark)]
    rows |= {
        "slots_disagree": report.alerted("slots_disagree"),
        "not_named": report.not_named,
        "no_opening_count": report.alerted("no_opening_count"),
        "no_closing_count": report.without_closing_count,
        "set_must_go": report.set_must_go,
        "alerts_open": report.alerts_open,
    }
    return [(key, [row.seq for row in found]) for key, found in rows.items()]


def headline_text(report: DayReport, words: Words) -> str | None:
    """That all is in order; None where it is not, or where there was nothing to be so."""
    if not report.rows or not report.sets or findings_text(report, words):
        return None
    return words("in_order")


def unwatched_text(report: DayReport, words: Words) -> str | None:
    """How often the reserve was out of sight, None where it never was."""
    return words.counted("finding.unwatched", len(report.unwatched)) if report.unwatched else None


def rules_text(rules: Sequence[str], dice_rules: Sequence[str], words: Words) -> str:
    """The rule sets of the table, and where the dice were judged by others, those too."""
    table, dice = ", ".join(rules), ", ".join(dice_rules)
    return words("dice_rules", table=table, dice=dice) if dice and set(dice_rules) != set(rules) else table


def rules_now(found: History, words: Words) -> str:
    """The rules by which the table was last open, and the dice last judged."""
    return rules_text(_known(found.rules), _known(found.dice_rules), words)


def rules_of_day(found: History, report: DayReport, words: Words) -> str:
    """The rules of a day; where the table was not open on it, those by which it was last."""
    return rules_text(report.rules or _known(found.rules), report.dice_rules, words)


def _known(rules: str | None) -> list[str]:
    return [] if rules is None else [rules]


def _account_difference(difference: Difference, words: Words) -> str:
    facts = {"seq": difference.seq, "die": difference.die, "set": difference.set_name}
    if difference.source is None:
        return words("received_twice", **facts)
    was = words("never_received") if difference.was is None else words.of("place", difference.was)
    return words("moved_from_elsewhere", source=words.of("place", difference.source), was=was, **facts)


def hours_text(account: SetDay) -> str:
    """How long a set was at the table, in hours and minutes: "26:05". Of a sum there is nothing to say."""
    if not account.name:
        return ""
    minutes = account.longest // timedelta(minutes=1)
    return f"{minutes // 60}:{minutes % 60:02}"


def over_24_hours_text(report: DayReport, words: Words) -> str:
    """The sets that were in use for more than 24 hours."""
    names = [f"{day.name} ({hours_text(day)})" for day in report.sets if day.over_24_hours]
    return f"{words('over_24_hours')}: {', '.join(names) or words('none')}"


def openings_text(report: DayReport, words: Words) -> str:
    """How often the reserve was opened, and how often without a reason or with a late one."""
    return words(
        "openings_sum",
        openings=words.counted("openings_number", len(report.openings)),
        unexplained=len(report.unexplained),
        late=words.counted("openings_late", len(report.explained_late)),
    )


def changes_text(report: DayReport, words: Words) -> str:
    """How often dice were changed, and how often against the rules."""
    broken = sum(1 for row in report.changes if row.against_rule)
    return words.counted("changes_sum", len(report.changes), broken=broken)


# Are they fair


def fairness_text(count: RollCount, words: Words) -> list[str]:
    """What the rolls of a set say: how many, the two probabilities, and the mark or that there is none."""
    rolls = words.counted("fair_rolls", count.rolls)
    said = [
        _chance_text(compare_faces(count.faces), words("faces"), words),
        _chance_text(compare_totals(count.totals), words("totals"), words),
    ]
    mark = count.mark_now()
    if mark is not None:
        last = words(
            "fair_mark",
            what=words(mark.what),
            look=mark.look,
            rolls=mark.rolls,
            probability=f"{mark.probability:.2g}",
            threshold=f"{mark.threshold:.2g}",
        )
    elif count.rolls < ROLLS_PER_LOOK:
        last = words("fair_before", pace=ROLLS_PER_LOOK)
    else:
        last = words.counted("fair_unmarked", count.rolls // ROLLS_PER_LOOK, pace=ROLLS_PER_LOOK)
    return [rolls, *said, last]


def _chance_text(comparison: Comparison, what: str, words: Words) -> str:
    if comparison.probability is None:
        return words("fair_few", what=what)
    return words("fair_chance", what=what, probability=f"{comparison.probability:.2g}")


def unknown_rolls_text(number: int, words: Words) -> str | None:
    """How many rolls count for no set; None where every roll counts for one."""
    return words.counted("fair_of_none", number) if number else None


def fairness_plots(count: RollCount, words: Words) -> tuple[str, str]:
    """Two SVG pictures of a set's rolls: faces, and totals."""
    about = words("plot_about", rolls=words.counted("fair_rolls", count.rolls))
    return (
        bar_plot(compare_faces(count.faces), FACES, words("faces"), about),
        bar_plot(compare_totals(count.totals), TOTALS, words("totals"), about),
    )


def openings_by_seq(found: History) -> dict[int, Opening]:
    """The openings of the reserve by their event."""
    return {opening.row.seq: opening for opening in found.openings}


def articles_text(found: History, rows: Sequence[LogRow], words: Words) -> list[str]:
    """What the rows cite: each regulation with its source, and each article in full where a row has it short."""
    cited: dict[str, None] = {}
    for row in rows:
        articles = list(articles_of(row))
        rules = row.rules or row.detail.get("rules") or found.dice_rules
        if articles and rules in dice_rules.NAMES:
            cited[f"{rules}: {dice_rules.load(rules).source}"] = None
    for article in dict.fromkeys(article for row in rows for article in articles_of(row)):
        if (short := short_article(article)) != article:
            cited[f"{article_text(short, words)}: {article_text(article, words)}"] = None
    return list(cited)
