"""Rows, accounts and judgements of the dice reports in words: what text, CSV and page have in common."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo

from device.dice_control.day_report import DayReport, Difference, SetDay, local
from device.dice_control.dice_history import History, LogRow, Opening, SetFacts
from device.dice_control.dice_state import PLACES
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
from device.dice_control.report_words import Words
from device.dice_control.rule_judgement import by_article

# Who signs a day's account.
SIGNERS = ("boxman", "supervisor", "inspector")
# Seqs that are named one by one in a sentence.
_NAMED_MAX = 8


def time_text(row: LogRow, zone: tzinfo | None) -> str:
    """Local time; a question mark where the clock was not synced."""
    moment = local(row.at, zone).replace(tzinfo=None).isoformat(" ", "seconds")
    return moment if row.clock == "synced" else f"{moment} ?"


def moment_text(moment: datetime, zone: tzinfo | None) -> str:
    """Local time with its offset: "2026-11-29 23:10 UTC+01:00"."""
    said = local(moment, zone)
    offset = said.strftime("%z")
    return f"{said.strftime('%Y-%m-%d %H:%M')} UTC{offset[:3]}:{offset[3:5]}"


def reason_text(row: LogRow, words: Words) -> str:
    """Why: the reason of what was done, or why a throw was void."""
    if row.reason is None:
        return ""
    return words.of("no_roll" if row.what in ("void_throw", "void_dice") else "reason", row.reason)


def dice_text(row: LogRow, words: Words) -> str:
    """The dice and where they went: "3: in play > on the floor"; dice that go the same way stand together."""
    ways: dict[tuple[str, str], list[str]] = {}
    for move in row.moves:
        ways.setdefault((move.source, move.target), []).append(move.die)
    if not ways and row.offered:
        # The shooter kept what he had.
        said = [words("offered_dice", dice=", ".join(row.offered))]
        return "; ".join([*said, words("taken_dice", dice=", ".join(row.taken))] if row.taken else said)
    if not ways:
        return ", ".join(row.dice)
    return "; ".join(
        f"{', '.join(dice)}: {words.of('place', source)} > {words.of('place', target)}"
        for (source, target), dice in ways.items()
    )


def asked_text(row: LogRow, words: Words) -> str:
    """Who asked: the role, and the name where there is one."""
    if row.asked_by is None:
        return ""
    role = words.of("asker", row.asked_by)
    return role if row.asked_by_name is None else f"{role} {row.asked_by_name}"


def rule_texts(row: LogRow, words: Words) -> list[str]:
    """The rules that it breaks: each article, and what the journal says of it."""
    return [
        f"{words('house') if article == 'house' else article}: {' '.join(texts)}"
        for article, texts in by_article(row.against_rule).items()
    ]


def against_text(row: LogRow, words: Words) -> str:
    """All rules that it breaks."""
    return " ".join(rule_texts(row, words))


def difference_text(row: LogRow, words: Words) -> str:
    """What a count found that the log has not, or the other way round."""
    return "; ".join(
        words(
            "differs",
            die=said["die"],
            log=words("not_of_set") if said["log"] is None else words.of("place", said["log"]),
            seen=words("not_seen") if said["seen"] is None else words.of("place", said["seen"]),
        )
        for said in row.difference
    )


def seconds_text(milliseconds: int) -> str:
    """Seconds to the nearest tenth: "6.5"."""
    tenths = (milliseconds + 50) // 100
    return f"{tenths // 10}.{tenths % 10}"


def open_text(row: LogRow, opening: Opening | None, words: Words) -> str:
    """For how long the lid was open; empty for what is no opening and no closing of one."""
    if row.open_ms is not None:
        return words("seconds", number=seconds_text(row.open_ms))
    if opening is None:
        return ""
    return words("still_open" if opening.closed is None else "not_known")


def explanation_text(opening: Opening, words: Words) -> str:
    """Why the reserve was opened, who said so, and whether it was in time."""
    if not opening.is_explained:
        return words("unexplained")
    said = words.of("reason", opening.reason or "")
    if opening.explained_by is not None:
        said += f" ({opening.explained_by})"
    return f"{said}, {words('explained_late')}" if opening.late else said


def note_text(row: LogRow, words: Words) -> str:
    """What else is to be known: unsound dice, what instruments showed, what somebody noted, what an alert says."""
    parts = [words("seen_at_start")] if row.initial else []
    parts += [f"{words('die', die=die)} {words('unsound', what=what)}" for die, what in sorted(row.unsound.items())]
    parts += [f"{name.replace('_', ' ')}: {said['showed']}" for name, said in sorted(row.instruments.items())]
    if row.counted_by is not None:
        parts.append(words("counted_by", source=row.counted_by))
    if row.text:
        parts.append(row.text)
    return "; ".join(parts)


def free_clock_text(rows: Sequence[LogRow], words: Words) -> str | None:
    """Which of the rows were written while the clock was not synced; None where none were."""
    seqs = [str(row.seq) for row in rows if row.clock == "free"]
    if not seqs:
        return None
    named = ", ".join(seqs[:_NAMED_MAX]) + (" ..." if len(seqs) > _NAMED_MAX else "")
    return words.counted("free_clock", len(seqs), seqs=named)


def free_mark_text(rows: Sequence[LogRow], words: Words) -> str | None:
    """What the question mark means, for the foot of a table of these rows; None where none has one."""
    return words("free_mark") if any(row.clock == "free" for row in rows) else None


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
            ("account.in_missing", lambda day: day.end["missing"]),
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
            ("account.missing", lambda day: day.into("missing")),
            ("account.found", lambda day: day.out_of("missing")),
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
    """Whether the account balances, and what it is that does not; or that dice rolled of which there is none."""
    if report.lacks_dice:
        return [words.counted("no_dice_recorded", report.unknown_rolls)]
    total = report.total
    key = "balances" if report.balances else "balances_not"
    said = words(
        key,
        beginning=total.held_at_beginning,
        received=total.received,
        destroyed=total.into("destroyed"),
        end=total.held_at_end,
    )
    return [said, *(_account_difference(difference, words) for difference in total.differences)]


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


def places_text(found: History, words: Words) -> list[tuple[str, str, str]]:
    """Of each set: its name, facts about it, and where its dice are."""
    return [(name, _facts(facts, words), _where(found.places[name], words)) for name, facts in found.sets.items()]


def _facts(facts: SetFacts, words: Words) -> str:
    said = words("set_facts", number=len(facts.dice), maker=facts.maker, colour=facts.colour)
    return said if facts.house_mark is None else f"{said}, {words('house_mark', mark=facts.house_mark)}"


def _where(places: Mapping[str, str], words: Words) -> str:
    return "; ".join(
        f"{words.of('place', place)}: {', '.join(dice)}"
        for place in PLACES
        if (dice := [die for die, at in places.items() if at == place])
    )


def openings_by_seq(found: History) -> dict[int, Opening]:
    """The openings of the reserve by their event."""
    return {opening.row.seq: opening for opening in found.openings}
