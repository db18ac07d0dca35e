"""The game in a session: what openings, steps, rolls and their corrections by the boxman make of it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from device import roll_history
from device.roll_history import KeptRoll
from device.settled_roll import settled_roll
from device.table_terms import TableTerms
from engine_lite.refusal import Refused
from engine_lite.steps import apply_step

if TYPE_CHECKING:
    from device.session import Session

RECENT_ROLLS_MAX: Final = 12


def take(session: "Session", kind: str, data: dict[str, Any]) -> None:
    """Take one of EVENTS on, live and in a replay alike; what follows from it is put into `data`. Raises Refused."""
    _TAKE[kind](session, data)


def _on_table_opened(session: "Session", data: dict[str, Any]) -> None:
    terms = TableTerms.of(data)
    session.table = terms.table()
    session.terms = terms
    session.hardware.open_table()
    session.hardware.puck_was_right = session.hardware.agrees(None) is True
    session.session_number += 1
    session.is_open = True
    session.dice_out = False
    session.rolls_in_series = session.series_before_roll = 0
    session.last_roll = None
    session.last_no_roll = None
    session.recent_rolls = []
    session.history = ()
    session.game_seq = session.seq + 1
    session.correcting = False
    session.notice = None


def _on_table_closed(session: "Session", _data: dict[str, Any]) -> None:
    session.is_open = False
    session.dice_out = False
    session.correcting = False
    session.notice = None


def _on_no_more_bets(session: "Session", _data: dict[str, Any]) -> None:
    session.dice_out = True


def _step(session: "Session", data: dict[str, Any]) -> list[dict[str, Any]]:
    if session.table is None or not session.is_open:
        raise Refused("not_now", "the table is closed; open it first")
    results = apply_step(session.table, data["step"])
    session.notice = None
    session.game_seq = session.seq + 1
    return results


def _on_bet(session: "Session", data: dict[str, Any]) -> None:
    _step(session, data)


def _on_reduce(session: "Session", data: dict[str, Any]) -> None:
    data["results"] = _step(session, data)


def _on_no_roll(session: "Session", data: dict[str, Any]) -> None:
    _step(session, data)
    session.hardware.throw_entered(data["via"])
    session.dice_out = False
    session.last_no_roll = {"reason": data["step"]["no_roll"], "seq": session.seq + 1}


def _on_roll(session: "Session", data: dict[str, Any]) -> None:
    point_before = session.table.point if session.table else None
    since = tuple(session.table.since_roll()) if session.table else ()
    data["results"] = _step(session, data)
    assert session.table is not None
    dice = (data["step"]["roll"][0], data["step"]["roll"][1])
    limits = (session.table.minimum, session.table.maximum)
    before, series, number = session.table.before_roll(), session.rolls_in_series, session.table.roll_number
    kept = KeptRoll(session.seq + 1, number, dice, since, limits, before, series)
    session.history = roll_history.with_roll(session.history, kept)
    data |= {"number": session.table.roll_number, "point_before": point_before, "point": session.table.point}
    _note_roll(session, data["step"]["roll"], data, session.seq + 1, corrected=False)


def _on_correct(session: "Session", data: dict[str, Any]) -> None:
    data["results"] = _step(session, data)
    assert session.table is not None
    assert session.last_roll is not None
    last = session.last_roll
    data |= {
        "corrects": last["seq"],
        "number": session.table.roll_number,
        "point_before": last["point_before"],
        "point": session.table.point,
    }
    if session.table.not_redone:
        data["not_redone"] = [dict(said) for said in session.table.not_redone]
    # A new list: the screen still shows the old one until the correction is on the disk.
    session.recent_rolls = session.recent_rolls[:-1]
    dice = (data["step"]["correct"][0], data["step"]["correct"][1])
    # A base of before rolls were kept has none.
    if session.history:
        session.history = (*session.history[:-1], replace(session.history[-1], dice=dice))
    _note_roll(session, data["step"]["correct"], data, last["seq"], corrected=True)


def _note_roll(session: "Session", dice: list[int], data: dict[str, Any], seq: int, *, corrected: bool) -> None:
    session.hardware.throw_entered(data["via"])
    session.hardware.puck_was_right = session.hardware.agrees(data["point"]) is True
    if not corrected:
        session.series_before_roll = session.rolls_in_series
    session.rolls_in_series = 0 if data["point"] is None else session.series_before_roll + 1
    undone = session.last_roll if corrected else None
    session.correcting = False
    session.dice_out = False
    session.last_no_roll = None
    session.recent_rolls = [*session.recent_rolls, list(dice)][-RECENT_ROLLS_MAX:]
    assert session.table is not None
    session.last_roll = settled_roll(session.table, seq, dice, data, undone)


def _on_take_back(session: "Session", data: dict[str, Any]) -> None:
    session.correcting = data["correcting"]


_TAKE: Final[Mapping[str, "Callable[[Session, dict[str, Any]], None]"]] = {
    "table_opened": _on_table_opened,
    "table_closed": _on_table_closed,
    "no_more_bets": _on_no_more_bets,
    "bet": _on_bet,
    "working": _on_bet,
    "shooter": _on_bet,
    "reduce": _on_reduce,
    "take_down": _on_reduce,
    "no_roll": _on_no_roll,
    "roll": _on_roll,
    "correct": _on_correct,
    "take_back": _on_take_back,
}
EVENTS: Final = tuple(_TAKE)
