"""The rows that follow from an event, beside the event itself (`archive_schema`). Pure: no database.

Rows are only ever added; what a later event changes about them (a roll is corrected, an alert ends, a session is
closed) is an update that names that event and touches none that came after it. So all rows of a message can be added
first, and the updates done behind them, in their order.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import ColumnElement, Table, Update, and_, or_, update

from device.dice_control.dice_log import EVENTS as DICE_EVENTS
from device.event import Event
from engine_lite.rules import LOSE, MOVE, PUSH, RETURN, WIN
from provisioning.central.archive_schema import (
    adjustments,
    alerts,
    commissions,
    dice_movements,
    limit_changes,
    rolls,
    sessions,
    settlements,
)
from provisioning.central.archive_stakes import Stake

_RESULTS: Final = (WIN, LOSE, PUSH, RETURN, MOVE)


class BadShape(ValueError):
    """An event of a known type does not say what it must; the text names the place."""


@dataclass
class Rows:
    """What is to be written: rows by table, and then the updates in their order."""

    added: dict[Table, list[dict[str, Any]]] = field(default_factory=dict)
    updates: list[Update] = field(default_factory=list)

    def add(self, table: Table, row: dict[str, Any]) -> None:
        """A further row."""
        self.added.setdefault(table, []).append(row)

    def extend(self, others: "Rows") -> None:
        """The rows of a later event as well."""
        for table, rows in others.added.items():
            self.added.setdefault(table, []).extend(rows)
        self.updates += others.updates


@dataclass(frozen=True)
class Origin:
    """An event, with the site it comes from, the table's session then, and what its results are about if known: a stake
    for each roll that it settles."""

    site: str
    event: Event
    session: int
    stakes: tuple[Stake, ...] | None

    def stake(self, place: int) -> Stake | None:
        """What the results of a roll of the event are about, or those of the step between two that it is."""
        return self.stakes[place] if self.stakes is not None else None

    def row(self) -> dict[str, Any]:
        """What all rows have in common."""
        event = self.event
        return {"site": self.site, "table_name": event.table, "seq": event.seq, "wall": event.wall}


def rows_of(origin: Origin) -> Rows:
    """The rows of an event; none for most types. Raises BadShape."""
    rows = Rows()
    kind, said = origin.event.type, _Said(origin.event.data, "data")
    if kind in DICE_EVENTS and ("moves" in origin.event.data or kind == "dice_set_received"):
        _take_dice(rows, origin, said)
    take = _TAKE.get(kind)
    if take is not None:
        take(rows, origin, said)
    return rows


@dataclass(frozen=True)
class _Said:
    """An object of an event's data that is read field by field. All raise BadShape, naming the place."""

    fields: Mapping[str, Any]
    place: str

    def _value(self, name: str, wanted: type, what: str) -> Any:
        value = self.fields.get(name)
        if type(value) is not wanted:
            raise BadShape(f"{self.place}.{name}: must be {what}")
        return value

    def number(self, name: str) -> int:
        value: int = self._value(name, int, "a whole number")
        return value

    def text(self, name: str) -> str:
        value: str = self._value(name, str, "a text")
        if "\x00" in value:
            raise BadShape(f"{self.place}.{name}: must be a text without U+0000")
        return value

    def flag(self, name: str) -> bool:
        value: bool = self._value(name, bool, "true or false")
        return value

    def items(self, name: str) -> list[Any]:
        value: list[Any] = self._value(name, list, "a list")
        return value

    def dice(self, name: str) -> list[int]:
        dice = self.items(name)
        if len(dice) != 2 or any(type(die) is not int or not 1 <= die <= 6 for die in dice):
            raise BadShape(f"{self.place}.{name}: must name two dice from 1 to 6")
        return dice

    def part(self, name: str) -> "_Said":
        return _Said(self._value(name, dict, "an object"), f"{self.place}.{name}")

    def parts(self, name: str) -> list["_Said"]:
        found = []
        for index, value in enumerate(self.items(name)):
            place = f"{self.place}.{name}[{index}]"
            if type(value) is not dict:
                raise BadShape(f"{place}: must be an object")
            found.append(_Said(value, place))
        return found

    def number_or_none(self, name: str) -> int | None:
        return None if self.fields.get(name) is None else self.number(name)

    def text_or_none(self, name: str) -> str | None:
        return None if self.fields.get(name) is None else self.text(name)


# The game


def _take_roll(rows: Rows, origin: Origin, said: _Said) -> None:
    correction = origin.event.type == "correct"
    dice = said.part("step").dice("correct" if correction else "roll")
    corrects = said.number("corrects") if correction else None
    _add_roll(rows, origin, said, dice, corrects, origin.stake(0))
    _add_results(rows, origin, said, said.number("number"), corrects, origin.stake(0))
    if corrects is not None:
        _supersede(rows, origin, corrects)


def _take_corrected_rolls(rows: Rows, origin: Origin, said: _Said) -> None:
    """An earlier roll was another one: it and all that are settled otherwise since have rows in the place of theirs."""
    parts = said.parts("rolls")
    entered = [part.number("seq") for part in parts]
    if said.number("corrects") not in entered or len({part.number("number") for part in parts}) < len(parts):
        raise BadShape("data.rolls: must name the roll that is corrected, and each roll once")
    for place, (part, corrects) in enumerate(zip(parts, entered, strict=True)):
        stake = origin.stake(place)
        _add_roll(rows, origin, part, part.dice("dice"), corrects, stake)
        _add_results(rows, origin, part, part.number("number"), corrects, stake)
        _supersede(rows, origin, corrects)


def _add_roll(
    rows: Rows, origin: Origin, said: _Said, dice: list[int], corrects: int | None, stake: Stake | None
) -> None:
    row = origin.row() | {
        "session": origin.session,
        "number": said.number("number"),
        "die_1": dice[0],
        "die_2": dice[1],
        "total": sum(dice),
        "point_before": said.number_or_none("point_before"),
        "point": said.number_or_none("point"),
        "shooter": stake.shooter if stake is not None else None,
        "via": _Said(origin.event.data, "data").text("via"),
        "corrects": corrects,
        "corrected_by": None,
    }
    rows.add(rolls, row)


def _take_bet(rows: Rows, origin: Origin, said: _Said) -> None:
    """A bet is no result, but a commission may be taken with it."""
    stake = origin.stake(0)
    if stake is None or not stake.commission:
        return
    bet = said.part("step").part("bet")
    row = origin.row() | {
        "session": origin.session,
        "player": bet.text("player"),
        "kind": bet.text("kind"),
        "number": bet.number_or_none("number"),
        "amount": stake.commission,
    }
    rows.add(commissions, row)


def _take_taken_back(rows: Rows, origin: Origin, said: _Said) -> None:
    _add_results(rows, origin, said, None, None, origin.stake(0))


def _add_results(
    rows: Rows, origin: Origin, said: _Said, number: int | None, corrects: int | None, stake: Stake | None
) -> None:
    """The results of a roll, or of what a player took back, behind those that the event has already."""
    first = len(rows.added.get(settlements, ()))
    for position, result in enumerate(said.parts("results")):
        outcome = result.text("result")
        if outcome not in _RESULTS:
            raise BadShape(f"{result.place}.result: must be one of {', '.join(_RESULTS)}")
        remainder = [None, None] if "remainder" not in result.fields else result.items("remainder")
        if len(remainder) != 2 or any(part is not None and type(part) is not int for part in remainder):
            raise BadShape(f"{result.place}.remainder: must be two whole numbers")
        row = origin.row() | {
            "position": first + position,
            "cause": origin.event.type,
            "session": origin.session,
            "roll_number": number,
            "corrects": corrects,
            "player": result.text("player"),
            "kind": result.text("kind"),
            "number": result.number_or_none("number"),
            "result": outcome,
            "amount": stake.amounts[position] if stake is not None else None,
            "paid": result.number_or_none("paid") or 0,
            "remainder_num": remainder[0],
            "remainder_den": remainder[1],
            "commission": result.number_or_none("commission") or 0,
            "commission_returned": result.number_or_none("commission_returned") or 0,
            "returned": result.number_or_none("returned") or 0,
            "moved_to": result.number_or_none("to"),
            "corrected_by": None,
        }
        rows.add(settlements, row)


def _supersede(rows: Rows, origin: Origin, wrong: int) -> None:
    """Of a roll that is corrected again, the correction before is superseded as well."""
    for table in (rolls, settlements):
        columns = table.c
        rows.updates.append(
            update(table)
            .where(
                _here(table, origin),
                columns.seq < origin.event.seq,
                or_(columns.seq == wrong, columns.corrects == wrong),
                columns.corrected_by.is_(None),
            )
            .values(corrected_by=origin.event.seq)
        )


def _take_adjustment(rows: Rows, origin: Origin, said: _Said) -> None:
    asked = said.part("asked")
    for position, adjustment in enumerate(asked.parts("adjustments")):
        row = origin.row() | {
            "position": position,
            "session": origin.session,
            "roll_number": asked.number("number"),
            "corrects": said.number("corrects"),
            "player": adjustment.text("player"),
            "amount": adjustment.number("amount"),
            "reason": said.text("reason"),
            "person": said.text_or_none("person"),
        }
        rows.add(adjustments, row)


def _take_limits(rows: Rows, origin: Origin, said: _Said) -> None:
    limits = said.part("limits")
    row = origin.row() | {
        "session": origin.session,
        "minimum": limits.number("min"),
        "maximum": limits.number("max"),
        "person": said.text_or_none("person"),
    }
    rows.add(limit_changes, row)


def _take_opening(rows: Rows, origin: Origin, said: _Said) -> None:
    limits = said.part("limits")
    row = origin.row() | {
        "session": origin.session,
        "opened_seq": origin.event.seq,
        "opened_wall": origin.event.wall,
        "closed_seq": None,
        "closed_wall": None,
        "rules": said.part("rule_set").text("name"),
        "unit": said.number("unit"),
        "minimum": limits.number("min"),
        "maximum": limits.number("max"),
    }
    del row["seq"], row["wall"]
    rows.add(sessions, row)


def _take_closing(rows: Rows, origin: Origin, _said: _Said) -> None:
    closed = {"closed_seq": origin.event.seq, "closed_wall": origin.event.wall}
    same = and_(_here(sessions, origin), sessions.c.session == origin.session)
    rows.updates.append(update(sessions).where(same).values(**closed))


# Dice


def _take_dice(rows: Rows, origin: Origin, said: _Said) -> None:
    if origin.event.type == "dice_set_received":
        dice_set = said.text("set")
        moves: list[_Said] = []
        for die in said.items("dice"):
            moves.append(_Said({"set": dice_set, "die": die, "from": None, "to": "store"}, "data.dice"))
    else:
        moves = said.parts("moves")
    for position, move in enumerate(moves):
        row = origin.row() | {
            "position": position,
            "type": origin.event.type,
            "action": said.text("action"),
            "dice_set": move.text("set"),
            "die": move.text("die"),
            "from_place": move.text_or_none("from"),
            "to_place": move.text_or_none("to"),
            "reason": said.text_or_none("reason"),
            "opening": said.number_or_none("opening"),
            "done_by": said.text_or_none("done_by"),
            "seen_by": said.text_or_none("seen_by"),
            "session": said.number_or_none("session"),
            "roll_number": said.number_or_none("roll_number"),
            "rules": said.text_or_none("rules"),
            "against_rule": bool(said.fields.get("against_rule")),
        }
        rows.add(dice_movements, row)


# Alerts


def _take_raised(rows: Rows, origin: Origin, said: _Said) -> None:
    alert = said.text("alert")
    rows.updates.append(_end(origin, alert))
    row = origin.row() | {
        "alert": alert,
        "kind": alert.partition(":")[0],
        "text": said.text("text"),
        "detail": dict(said.part("detail").fields),
        "latched": said.flag("latched"),
        "acknowledged_seq": None,
        "acknowledged_wall": None,
        "acknowledged_by": None,
        "ended_seq": None,
        "ended_wall": None,
        "ended_by": None,
    }
    rows.add(alerts, row)


def _take_cleared(rows: Rows, origin: Origin, said: _Said) -> None:
    rows.updates.append(_end(origin, said.text("alert")))


def _take_acknowledged(rows: Rows, origin: Origin, said: _Said) -> None:
    alert, event = said.text("alert"), origin.event
    about = {"acknowledged_seq": event.seq, "acknowledged_wall": event.wall, "acknowledged_by": said.text("name")}
    rows.updates.append(update(alerts).where(_standing(origin, alert)).values(**about))
    rows.updates.append(_end(origin, alert).where(alerts.c.latched))


def _standing(origin: Origin, alert: str) -> ColumnElement[bool]:
    before = alerts.c.seq < origin.event.seq
    return and_(_here(alerts, origin), alerts.c.alert == alert, before, alerts.c.ended_seq.is_(None))


def _end(origin: Origin, alert: str) -> Update:
    event = origin.event
    ended = {"ended_seq": event.seq, "ended_wall": event.wall, "ended_by": event.type}
    return update(alerts).where(_standing(origin, alert)).values(**ended)


def _here(table: Table, origin: Origin) -> ColumnElement[bool]:
    return and_(table.c.site == origin.site, table.c.table_name == origin.event.table)


_TAKE: Final[dict[str, Callable[[Rows, Origin, _Said], None]]] = {
    "bet": _take_bet,
    "roll": _take_roll,
    "correct": _take_roll,
    "roll_corrected": _take_corrected_rolls,
    "settlement_adjusted": _take_adjustment,
    "limits_changed": _take_limits,
    "reduce": _take_taken_back,
    "take_down": _take_taken_back,
    "table_opened": _take_opening,
    "table_closed": _take_closing,
    "alert_raised": _take_raised,
    "alert_cleared": _take_cleared,
    "alert_acknowledged": _take_acknowledged,
}
