"""Corrections of earlier rolls, adjustments of settlements and changes of limits: what a session makes of them.

History stays: each is an event of its own, which names the roll that it is about.

The journal events
==================
roll_corrected       asked: {number, dice, reason}; corrects: the event that entered the roll; was, dice; point and
                     dice_pass: {was, becomes}; players: [{player, was, becomes, difference}], what each had got since
                     the roll was thrown, and what is to be handed out (below 0: taken back) now; bets: [{player, kind,
                     number, was, becomes}], what lies on the layout; rolls: [{seq, number, dice, point_before, point,
                     results}], those that are settled otherwise now. The last roll is corrected by a `correct` event.
settlement_adjusted  asked: {number, adjustments: [{player, amount}], reason}; corrects: as above. A player has got so
                     much more (below 0: less) of the roll than it settled, and that stands; the game is as it was.
limits_changed       limits, was: {min, max}

Each with `person`, who had signed in, and `reason` where one is asked for.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from device import corrections, roll_history
from device.origin import Origin
from device.settled_roll import settled_roll
from engine_lite.refusal import Refused
from engine_lite.table import Table

if TYPE_CHECKING:
    from device.session import Entry, Session

EVENTS: Final = ("roll_corrected", "settlement_adjusted", "limits_changed")


# Decisions


def look_at_correction(session: "Session", number: int, dice: tuple[int, int]) -> dict[str, Any]:
    """What a correction of roll `number` would change (`corrections.preview`), with `at`: the game that it is of.

    Nothing changes. Raises Refused.
    """
    table, place = _kept(session, number)
    return corrections.preview(table, session.history, place, dice) | {"at": session.game_seq}


def look_at_last(session: "Session", dice: tuple[int, int]) -> dict[str, Any]:
    """The same of the last roll, before the boxman corrects it. Raises Refused."""
    if session.table is None or session.last_roll is None:
        raise Refused("nothing_to_correct", "no roll has been entered yet")
    return look_at_correction(session, session.table.roll_number, dice)


def correct_roll(
    session: "Session", number: int, dice: tuple[int, int], reason: str, at: int, origin: Origin
) -> "list[Entry]":
    """Correct roll `number`, as the game of event `at` was looked at. Raises Refused: nothing has changed."""
    _check_game(session, at)
    said = look_at_correction(session, number, dice)
    if said["blocked"] is not None:
        raise Refused("blocked", f"what came after roll {number} could not have happened then; adjust its settlement")
    asked = {"number": number, "dice": list(dice), "reason": reason}
    data = {"reason": reason, "asked": asked} | origin.data()
    if said["is_last"]:
        return [session.record("correct", {"step": {"correct": list(dice)}} | data)]
    corrections.check_size(said)
    entries = [session.record("roll_corrected", data)]
    if told := corrections.to_settle(said):
        detail = {"number": number, "players": said["players"], "bets": said["bets"]}
        entries += session.raise_alert(f"roll_corrected:{session.seq}", told, detail, latched=True)
    return entries


def adjust_settlement(
    session: "Session", number: int, adjustments: list[dict[str, Any]], reason: str, at: int, origin: Origin
) -> "list[Entry]":
    """Players have got more or less of roll `number` than it settled, and that stands. Raises Refused."""
    _check_game(session, at)
    corrections.check_adjustments(adjustments)
    table, place = _kept(session, number)
    table.check_players([adjustment["player"] for adjustment in adjustments])
    asked = {"number": number, "adjustments": adjustments, "reason": reason}
    data = {"corrects": session.history[place].seq, "reason": reason, "asked": asked}
    return [session.record("settlement_adjusted", data | origin.data())]


def change_limits(session: "Session", minimum: int, maximum: int, origin: Origin) -> "list[Entry]":
    """Change the limits of the open table, for what is put down from now on. Raises Refused."""
    if session.terms is None or not session.is_open:
        raise Refused("not_now", "the table is closed; its limits are chosen when it is opened")
    terms = replace(session.terms, minimum=minimum, maximum=maximum)
    try:
        terms.check()
    except ValueError as error:
        raise Refused("bad_limits", str(error)) from None
    data = {"limits": terms.data()["limits"], "was": session.terms.data()["limits"]}
    return [session.record("limits_changed", data | {"asked": data["limits"]} | origin.data())]


def _kept(session: "Session", number: int) -> tuple[Table, int]:
    """The table, and the place of a roll that may be corrected."""
    if session.table is None or not session.is_open:
        raise Refused("not_now", "the table is closed; open it first")
    place = roll_history.find(session.history, number)
    if place is None:
        raise Refused("not_kept", f"roll {number} is none of the last {roll_history.ROLLS_MAX} of this session")
    return session.table, place


def _check_game(session: "Session", at: int) -> None:
    if at != session.game_seq:
        raise Refused("stale", "the game has gone on since; look at what would change again")


# Taking on


def take(session: "Session", kind: str, data: dict[str, Any]) -> None:
    """Take one of EVENTS on, live and in a replay alike; what follows from it is put into `data`."""
    _TAKE[kind](session, data)
    session.game_seq = session.seq + 1


def _take_correction(session: "Session", data: dict[str, Any]) -> None:
    asked = data["asked"]
    dice = (asked["dice"][0], asked["dice"][1])
    table, place = _kept(session, asked["number"])
    said = corrections.preview(table, session.history, place, dice)
    facts = ("corrects", "number", "was", "dice", "point", "dice_pass", "players", "bets")
    data |= {name: said[name] for name in facts}
    data["rolls"] = [changed["becomes"] for changed in said["rolls"]]
    course = corrections.play(table, session.history[place:], dice)
    session.table = course.table
    session.history = (*session.history[:place], *course.kept)
    session.rolls_in_series, session.series_before_roll = course.series, course.kept[-1].series_before
    session.recent_rolls = _with_dice(session.recent_rolls, len(course.kept), list(dice))
    last = data["rolls"][-1]
    if last["number"] == table.roll_number:
        # What it pays differs now, and that is settled together with the rest of the correction.
        shown = settled_roll(course.table, last["seq"], last["dice"], last, None)
        session.last_roll = shown | {"settled_by": session.seq + 1}
    session.hardware.puck_was_right = session.hardware.agrees(session.point) is True
    session.correcting = False
    session.notice = None


def _with_dice(recent: list[list[int]], back: int, dice: list[int]) -> list[list[int]]:
    """The recent rolls, of which the one so many `back` from the end (1: the last) was `dice`."""
    place = len(recent) - back
    return recent if place < 0 else [*recent[:place], dice, *recent[place + 1 :]]


def _take_adjustment(session: "Session", data: dict[str, Any]) -> None:
    if session.table is None:
        raise Refused("not_now", "the table was never opened")
    for adjustment in data["asked"]["adjustments"]:
        session.table.adjust(adjustment["player"], adjustment["amount"])


def _take_limits(session: "Session", data: dict[str, Any]) -> None:
    if session.table is None or session.terms is None:
        raise Refused("not_now", "the table was never opened")
    minimum, maximum = data["limits"]["min"], data["limits"]["max"]
    session.table.set_limits(minimum, maximum)
    session.terms = replace(session.terms, minimum=minimum, maximum=maximum)


_TAKE: Final = {
    "roll_corrected": _take_correction,
    "settlement_adjusted": _take_adjustment,
    "limits_changed": _take_limits,
}
