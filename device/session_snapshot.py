"""The session as plain values, and the same session again from them: what spares a start the replay of everything."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final, TypedDict, get_type_hints

from device.dice_control.dice_log import DiceLog
from device.dice_control.dice_state import DiceState
from device.event_times import EventTimes
from device.plain_values import BadValue, build, plain
from device.roll_history import HistoryValues, from_values
from device.session import Session
from device.table_terms import TableTerms
from engine_lite.refusal import Refused
from engine_lite.table import Table


class BadState(ValueError):
    """What was given is not the state of a session; the text says where."""


class _Layout(TypedDict):
    """What a roll changes: engine_lite.snapshot."""

    point: int | None
    shooter: str | None
    roll_number: int
    dice_pass: bool
    new_hand: bool
    house: int
    players: list[tuple[str, int]]
    bets: list[tuple[str, str, int | None, int, int, bool | None, int]]


class _TableState(_Layout):
    """Table.snapshot."""

    before: _Layout | None
    since: list[list[str | int | bool | None]]
    moved: list[tuple[str, str, int]]
    not_redone: list[dict[str, Any]]


class _Limits(TypedDict):
    min: int
    max: int


class _Terms(TypedDict):
    """TableTerms.data."""

    rule_set: dict[str, Any]
    options: dict[str, Any]
    unit: int
    limits: _Limits


class _State(TypedDict):
    """What `state_of` gives."""

    session: dict[str, Any]
    times: EventTimes


# Those that are more than values: each is made in its own way.
_APART: Final = ("table", "terms", "dice", "commands", "history")


def state_of(session: Session, times: EventTimes) -> dict[str, Any]:
    """The whole state as plain values, which stay as they are while the session goes on."""
    return {"session": session.snapshot(), "times": plain(times)}


def restore_state(state: Mapping[str, Any], *, is_base: bool = False) -> tuple[Session, EventTimes]:
    """What `state_of` was given, also after a way through JSON. Raises BadState.

    `is_base`: it may be of an earlier version of this program. A field that it did not have yet takes its default,
    which has to say what was so before there was the field.
    """
    try:
        built: _State = build(_State, state, "state", with_defaults=is_base)
        return _restore(built["session"], with_defaults=is_base), built["times"]
    except BadValue as error:
        raise BadState(str(error)) from error


def restore(snapshot: Mapping[str, Any]) -> Session:
    """The session whose `snapshot` this is, also after a way through JSON; from here it goes on as that one does.

    Raises BadState. What it cannot see is a state that is possible, and that the journal does not lead to.
    """
    try:
        return _restore(snapshot)
    except BadValue as error:
        raise BadState(str(error)) from error


def _restore(snapshot: Mapping[str, Any], *, with_defaults: bool = False) -> Session:
    known = {field.name for field in fields(Session)}
    wrong = snapshot.keys() - known if with_defaults else snapshot.keys() ^ known
    # A base of before there were corrections of earlier rolls has kept none.
    wrong |= set(_APART) - snapshot.keys() - ({"history"} if with_defaults else set())
    if wrong:
        raise BadValue(f"session: {', '.join(sorted(map(str, wrong)))} missing or too much")
    hints = get_type_hints(Session)
    values = {
        name: build(hints[name], value, name, with_defaults=with_defaults)
        for name, value in snapshot.items()
        if name not in _APART
    }
    terms = None if snapshot["terms"] is None else TableTerms.of(build(_Terms, snapshot["terms"], "terms"))
    table = _table(terms, build(_TableState | None, snapshot["table"], "table"))
    if table is not None and "history" in snapshot:
        try:
            values["history"] = from_values(table, build(HistoryValues, snapshot["history"], "history"))
        except (KeyError, TypeError, ValueError, Refused) as error:
            raise BadValue(f"history: {error}") from error
    return Session(
        **values,
        terms=terms,
        table=table,
        dice=DiceLog(build(DiceState, snapshot["dice"], "dice", with_defaults=with_defaults)),
        commands=OrderedDict(build(list[tuple[str, dict[str, Any]]], snapshot["commands"], "commands")),
    )


def _table(terms: TableTerms | None, state: _TableState | None) -> Table | None:
    if terms is None or state is None:
        if terms is not None or state is not None:
            raise BadValue("table: the one of state and terms is there without the other")
        return None
    try:
        table = terms.table()
        table.restore(dict(state))
    except (KeyError, TypeError, ValueError) as error:
        raise BadValue(f"table: {error}") from error
    if table.house + sum(table.players.values()) + table.layout() != 0:
        raise BadValue("table: the money of house, players and layout does not add up to nothing")
    return table
