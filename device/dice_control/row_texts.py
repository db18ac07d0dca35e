"""The rows of the dice log in words: what text, CSV and page have in common."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, tzinfo

from device.dice_control import alert_texts
from device.dice_control.alert_texts import alert_text, mm_text, rule_text, slots_text
from device.dice_control.day_report import local
from device.dice_control.event_moments import Moment, Timed
from device.dice_control.log_rows import LogRow, Opening, SetFacts, Unwatched
from device.dice_control.report_words import Words

# Seqs that are named one by one in a sentence.
_NAMED_MAX = 8
# What stands after a time that the clock beside it does not vouch for.
_CLOCK_MARKS = {"free": " ?", "wrong": " !"}


def time_text(row: LogRow, zone: tzinfo | None) -> str:
    """Local time; a question mark where the clock was not synced, an exclamation mark where it was wrong."""
    return clock_text(row.at, row.clock, zone)


def clock_text(at: datetime, clock: str, zone: tzinfo | None) -> str:
    """A moment as `time_text` has it."""
    moment = local(at, zone).replace(tzinfo=None).isoformat(" ", "seconds")
    return moment + _CLOCK_MARKS.get(clock, "")


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


def saw_text(row: LogRow, words: Words) -> list[str]:
    """Where a count saw which dice: "in play: A1, A2", one for each place."""
    return [f"{words.of('place', place)}: {', '.join(dice)}" for place, dice in row.seen.items()]


def game_text(row: LogRow, words: Words) -> str:
    """Where the game was: "Roll 14, Point 6, Shooter 3"."""
    known = (("roll", row.roll_number), ("point", row.point), ("shooter", row.shooter))
    return ", ".join(f"{words(column)} {value}" for column, value in known if value is not None)


def outcome_text(row: LogRow, words: Words, zone: tzinfo | None) -> str:
    """What became of an alert that was raised in a row: who noted it, since when it is over, or that it is open."""
    if row.again is not None:
        return words("raised_again", seq=row.again.seq)
    said = []
    if row.noted is not None:
        at = time_text(row.noted, zone)
        said.append(words("noted_by", name=row.noted.done_by or "", seq=row.noted.seq, time=at))
    if row.over is not None:
        said.append(words("over_since", seq=row.over.seq, time=time_text(row.over, zone)))
    if not row.is_settled:
        said.append(words("alert_open"))
    return "; ".join(said)


def asked_text(row: LogRow, words: Words) -> str:
    """Who asked: the role, and the name where there is one."""
    if row.asked_by is None:
        return ""
    role = words.of("asker", row.asked_by)
    return role if row.asked_by_name is None else f"{role} {row.asked_by_name}"


def seconds_text(milliseconds: int) -> str:
    """Seconds to the nearest tenth: "6.5"."""
    tenths = (milliseconds + 50) // 100
    return f"{tenths // 10}.{tenths % 10}"


def rule_texts(row: LogRow, words: Words) -> list[str]:
    """The rules that it breaks, by article."""
    return alert_texts.rule_texts(row.against_rule, row, words)


def against_text(row: LogRow, words: Words) -> str:
    """All rules that it breaks."""
    return " ".join(rule_texts(row, words))


def difference_text(row: LogRow, words: Words) -> str:
    """What a count found that the log has not, or the other way round."""
    return alert_texts.difference_text(row.difference, words)


# Openings


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
        as_supervisor = f", {words('as_supervisor')}" if _says_supervisor(opening) else ""
        said += f" ({opening.explained_by}{as_supervisor})"
    return f"{said}, {words('explained_late')}" if opening.late else said


def _says_supervisor(opening: Opening) -> bool:
    # Of a late one it is said anyway.
    return opening.explained_as == "supervisor" and not opening.late


def opening_marks(opening: Opening, words: Words) -> list[str]:
    """What else is to be known of an opening: when it was, and what its explanation came to cover."""
    marks = [words(mark) for mark in ("during_roll", "while_closed", "asked_anew") if getattr(opening, mark)]
    if opening.explained_open and (opening.explained_as is not None or opening.afterwards):
        # A deed with the dice is its own reason, and moves what lies in the slots; what else follows it is to be told.
        marks.append("; ".join(_covered(opening, words)))
    return marks


def _covered(opening: Opening, words: Words) -> Iterator[str]:
    yield words("explained_open")
    if opening.open_after_ms is not None:
        yield words("open_after", time=words("seconds", number=seconds_text(opening.open_after_ms)))
    done = [f"{words.of('what', row.what)} ({words('of_event', seq=row.seq)})" for row in opening.afterwards]
    if _slots_moved(opening):
        done.append(_slots_text(opening.slots_then or (), opening.slots_at_end or (), words))
    yield words("afterwards", what=", ".join(done)) if done else words("nothing_afterwards")


def _slots_moved(opening: Opening) -> bool:
    """Whether dice came or went after a reason that is no deed with dice."""
    said_why = opening.explained_as is not None
    return said_why and opening.slots_at_end is not None and opening.slots_then != opening.slots_at_end


def _slots_text(before: tuple[int, ...], after: tuple[int, ...], words: Words) -> str:
    return words("slots", before=slots_text(before, words), after=slots_text(after, words))


# Notes


def note_text(row: LogRow, words: Words) -> str:
    """What else is to be known of a row."""
    return "; ".join(_notes(row, words))


def _notes(row: LogRow, words: Words) -> Iterator[str]:
    if row.first_since is not None:
        yield words.of("first_since", row.first_since)
    if row.what in ("table_opened", "table_closed"):
        yield words("session_rules", session=row.session, rules=row.rules)
    if row.explained_as == "supervisor":
        yield words("as_supervisor")
    if row.facts is not None:
        yield facts_text(row.facts, words)
    if row.what == "inspected":
        yield from inspection_texts(row, words)
    if row.seen:
        yield words("saw", places=" · ".join(saw_text(row, words)))
    if row.slots is not None:
        yield _slots_text(*row.slots, words)
    if row.stretch is not None:
        yield cause_text(row.stretch, words)
        if row.what == "watched_again":
            yield from _seen_again(row.stretch, words)
    if row.what in ("edge_lost", "changes_dropped"):
        yield words(row.what, inputs=_inputs_text(row.inputs, words), number=row.changes)
    if row.what == "asked_anew":
        yield words("surplus", number=f"{row.changes:+}")
    if row.lid_unseen:
        yield words("lid_unseen")
    if row.counted_by is not None:
        yield words("counted_by", source=row.counted_by)
    if row.alert is not None:
        yield alert_text(row, words)
    elif row.text:
        yield row.text
    if row.clock == "wrong":
        yield words("clock_said", wall=row.wall.removesuffix("Z").replace("T", " "))


def facts_text(facts: SetFacts, words: Words) -> str:
    """Maker, colour, the house's mark and the edge of a set, as they were said when it was received."""
    parts = [facts.maker, facts.colour]
    if facts.house_mark is not None:
        parts.append(words("house_mark", mark=facts.house_mark))
    if facts.edge_hundredths_mm is not None:
        parts.append(words("nominal_edge", mm=mm_text(facts.edge_hundredths_mm)))
    return ", ".join(parts)


def inspection_texts(row: LogRow, words: Words) -> list[str]:
    """An inspection in full: dice, checks, instruments and edges, also where all was well."""
    # An edge of which the rules say that it is wrong is what is wrong with the die, in the journal's words.
    judged = {broken["text"]: rule_text(broken, row, words) for broken in row.against_rule}
    parts = [
        f"{words('die', die=die)} {words('unsound', what=judged.get(what, what).removesuffix('.'))}"
        for die, what in sorted(row.unsound.items())
    ]
    if not parts:
        parts.append(words("all_sound"))
    elif sound := [die for die in row.dice if die not in row.unsound]:
        parts.append(words("sound_dice", dice=", ".join(sound)))
    for key, good in (("failed", False), ("checked", True)):
        if names := [words.of("check", check) for check, said in row.checks.items() if said is good]:
            parts.append(words(key, names=", ".join(names)))
    if row.not_checked:
        parts.append(words("not_checked", names=", ".join(words.of("check", check) for check in row.not_checked)))
    for name, said in sorted(row.instruments.items()):
        key = "showed" if said["sound"] else "showed_unsound"
        parts.append(words(key, name=words.of("instrument", name), showed=said["showed"]))
    if not row.instruments:
        parts.append(words("no_instruments"))
    if row.edges:
        parts.append(words("edges", edges=", ".join(f"{die} {mm_text(edge)}" for die, edge in row.edges.items())))
    return parts


# Stretches in which nobody watched the reserve


def cause_text(stretch: Unwatched, words: Words) -> str:
    """Why the reserve could not be watched."""
    return words(f"cause.{stretch.cause}", inputs=_inputs_text(stretch.inputs, words))


def lasted_text(stretch: Unwatched, words: Words) -> str:
    """For how long, in hours, minutes and seconds, if the clocks tell: "0:12:07"."""
    if stretch.ended is None:
        return words("goes_on")
    if stretch.lasted_ms is None:
        return words("not_known")
    seconds = (stretch.lasted_ms + 500) // 1000
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def seen_after_text(stretch: Unwatched, words: Words) -> str:
    """What was seen first after it."""
    parts = []
    if stretch.lid_open_after is not None:
        parts.append(f"{words('reserve')} {words('reserve.open' if stretch.lid_open_after else 'reserve.closed')}")
    if stretch.slots_after is not None:
        parts.append(words("slots_with_dice", slots=slots_text(stretch.slots_after, words)))
    return "; ".join(parts)


def _seen_again(stretch: Unwatched, words: Words) -> Iterator[str]:
    yield f"{words('lasted')}: {lasted_text(stretch, words)}"
    if after := seen_after_text(stretch, words):
        yield f"{words('seen_after')}: {after}"


def _inputs_text(inputs: Sequence[str], words: Words) -> str:
    return ", ".join(
        words("slot", number=name.removeprefix("slot_")) if name.startswith("slot_") else words.of("input", name)
        for name in inputs
    )


def ends_of(stretches: Sequence[Unwatched]) -> list[Moment]:
    """When the stretches began and ended."""
    return [end for stretch in stretches for end in (stretch.began, stretch.ended) if end is not None]


# Clocks


def clock_texts(rows: Sequence[LogRow], words: Words) -> list[str]:
    """Which of the rows were written while the clock was not synced, and which while it was wrong."""
    texts = []
    for clock in ("free", "wrong"):
        if seqs := [row.seq for row in rows if row.clock == clock]:
            texts.append(words.counted(f"{clock}_clock", len(seqs), seqs=seqs_text(seqs)))
    return texts


def clock_marks_text(rows: Iterable[Timed], words: Words) -> str | None:
    """What the marks after times mean, for the foot of a table of these rows; None where none has one."""
    clocks = {row.clock for row in rows}
    return " ".join(words(f"{clock}_mark") for clock in ("free", "wrong") if clock in clocks) or None


def seqs_text(seqs: Sequence[int]) -> str:
    """Events by number, so many as a sentence bears."""
    return ", ".join(map(str, seqs[:_NAMED_MAX])) + (" ..." if len(seqs) > _NAMED_MAX else "")
