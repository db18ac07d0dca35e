"""How the pit's page sees one table: by what the archive has, by what the table says itself, and by the time."""

from collections.abc import Mapping
from typing import Any

import pytest

from device.presence import PRESENCE_S, SILENT_S, BadPresence, Presence, read_presence
from provisioning.central.pit_database import Game, Names, Refusal, Row, Standing
from provisioning.central.pit_table import BEHIND_S, STATES, Heard, Moment, Table, view

NAMES = ("casino-1", "craps-1")
S = 10**9
PUCK = Standing("puck_differs", 7, "The puck is on 8.", {}, latched=False, acknowledged_by=None)
LISTENING = Moment(now_s=1000.0, listening_since_s=0.0)


def row(*, is_open: bool = True, last_seq: int = 9, refusal: Refusal | None = None) -> Row:
    return Row(NAMES, last_seq, "2026-11-30T07:12:00.000Z", 3, is_open, refusal)


def heard(
    at_s: float = 995.0, seq: int = 9, delivered: int = 9, state: str = "online", *, stuck: bool = False
) -> dict[str, Heard]:
    return {state: Heard(Presence(state, seq, delivered, state), at_s, round(at_s * 1000), stuck)}


def nobody(_names: Names, _standing: Standing) -> None:
    return None


def eva(_names: Names, _standing: Standing) -> Mapping[str, Any]:
    return {"name": "Eva", "at": 1}


def state(table: Table, moment: Moment = LISTENING, seen: Any = nobody) -> str:
    found: str = view(table, moment, seen)["state"]
    assert found in STATES
    return found


def test_a_table_is_in_order_only_while_it_is_heard() -> None:
    table = Table(NAMES, row(), units=heard(at_s=1000.0))
    assert state(table) == "open"
    assert state(table, Moment(1000.0 + SILENT_S - 0.1, 0.0)) == "open"
    silent = view(table, Moment(1000.0 + SILENT_S, 0.0), nobody)
    assert (silent["state"], silent["live"]) == ("silent", False)
    # How much it has not delivered, nobody can know then.
    assert (silent["undelivered"], silent["behind"]) == (None, None)
    # Two signs of life may be lost.
    assert 2 * PRESENCE_S < SILENT_S


def test_a_closed_table_that_is_silent_is_neither_in_order_nor_in_alarm() -> None:
    table = Table(NAMES, row(is_open=False), units=heard(at_s=1000.0))
    assert state(table) == "closed"
    assert state(table, Moment(1100.0, 0.0)) == "closed_silent"
    table.game = Game(alerts=(PUCK,))
    assert state(table, Moment(1100.0, 0.0)) == "alert"
    assert state(table, Moment(1100.0, 0.0), eva) == "closed_silent"


def test_nobody_is_called_silent_before_it_was_listened_for_long_enough_or_while_the_log_is_away() -> None:
    table = Table(NAMES, row(), units=heard(at_s=100.0))
    assert state(table, Moment(1000.0, None)) == "deaf"
    assert state(table, Moment(1000.0, 1000.0 - SILENT_S + 0.1)) == "listening"
    assert state(table, Moment(1000.0, 1000.0 - SILENT_S)) == "silent"
    # What was heard before the log went does not count while it is away.
    table.units = heard(at_s=999.0)
    assert view(table, Moment(1000.0, None), nobody)["live"] is False


def test_a_table_that_tells_no_signs_of_life_is_known_by_its_events_and_never_in_order() -> None:
    table = Table(NAMES, row(), heard_by_events=True)
    assert state(table) == "unknown"
    table.heard_by_events = False
    assert state(table) == "silent"
    assert state(Table(NAMES)) == "never"


def test_a_history_that_is_refused_comes_before_all_else() -> None:
    refusal = Refusal("gap", 10, "events 10 to 12 are missing")
    table = Table(NAMES, row(refusal=refusal), units=heard())
    shown = view(table, LISTENING, nobody)
    assert shown["state"] == "refused"
    assert shown["refusal"] == {"kind": "gap", "seq": 10, "reason": "events 10 to 12 are missing"}


def test_a_fenced_unit_is_seen_beside_the_one_that_delivers() -> None:
    table = Table(NAMES, row(), units=heard(990.0) | heard(998.0, seq=14, delivered=4, state="fenced"))
    shown = view(table, LISTENING, nobody)
    # The figures are those of the unit that delivers.
    assert (shown["state"], shown["undelivered"], shown["behind"]) == ("fenced", 0, 0)
    # Once it has gone, it is not spoken of any more.
    table.units = heard(990.0) | heard(970.0, state="fenced")
    assert state(table) == "open"


def test_an_alert_counts_until_somebody_has_taken_note_of_it() -> None:
    table = Table(NAMES, row(), Game(alerts=(PUCK,)), units=heard())
    assert state(table) == "alert"
    assert state(table, seen=eva) == "seen"
    at_table = Standing("puck_differs", 7, "The puck is on 8.", {}, latched=False, acknowledged_by="Luis")
    table.game = Game(alerts=(at_table,))
    assert state(table) == "seen"
    table.game = Game(alerts=(at_table, PUCK))
    assert state(table) == "alert"


def test_events_that_do_not_come_through_are_said() -> None:
    table = Table(NAMES, row(), units=heard(seq=20, delivered=9))
    shown = view(table, LISTENING, nobody)
    assert (shown["state"], shown["undelivered"]) == ("open", 11)
    table.units = heard(seq=20, delivered=9, stuck=True)
    assert state(table) == "undelivered"
    table = Table(NAMES, row(), behind_since_s=1000.0 - BEHIND_S, units=heard(seq=20, delivered=20))
    shown = view(table, LISTENING, nobody)
    assert (shown["state"], shown["behind"]) == ("open", 11)
    assert state(table, Moment(1000.1, 0.0)) == "behind"
    # Of one that the archive has nothing of, nothing is known.
    assert state(Table(NAMES, units=heard(seq=0, delivered=0))) == "behind"


@pytest.mark.parametrize(
    ("thrown_s", "since_s", "last_s", "idle_s", "rate"),
    [
        ([700] * 30, 0, 1800, 0, 60),  # 30 rolls in half an hour
        ([100] * 50 + [2000] * 40, 0, 4000, 0, 40),  # 50 of them are more than an hour ago
        ([500] * 10, 0, 599, 0, None),  # too early to tell
        ([500] * 10, 0, 600, 0, 60),
        ([500] * 10, 0, 1200, 600, 20),  # nothing was thrown in the ten minutes since
        ([500] * 10, 0, 1200, 659, 20),  # whole minutes
        ([500] * 10, 0, 1200, 4000, 0),
    ],
)
def test_rolls_an_hour(thrown_s: list[int], since_s: int, last_s: int, idle_s: float, rate: int | None) -> None:
    game = Game(thrown_ns=tuple(at * S for at in thrown_s), since_ns=since_s * S, last_ns=last_s * S)
    table = Table(NAMES, row(), game, known_s=1000.0 - idle_s, units=heard())
    assert view(table, LISTENING, nobody)["rate"] == rate
    table.row = row(is_open=False)
    assert view(table, LISTENING, nobody)["rate"] is None


def test_a_sign_of_life_is_read_as_it_was_told() -> None:
    told = Presence("0a1b2c3d", 12, 10, "online")
    assert told.payload() == b'{"v":1,"unit":"0a1b2c3d","seq":12,"delivered":10,"state":"online"}'
    assert read_presence(told.payload()) == told


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"", "the message is no JSON"),
        (b"\xff", "the message is no JSON"),
        (b"[" * 400, "the message is no JSON"),
        (b"[]", "the message must be an object with v = 1"),
        (b'{"v":2}', "the message must be an object with v = 1"),
        (b'{"v":1,"unit":"a b"}', "unit must be 1 to 32 letters or digits"),
        (b'{"v":1,"unit":"a","state":"x"}', "state must be one of online, fenced"),
        (b'{"v":1,"unit":"a","state":"online","seq":-1}', "seq must be the number of an event"),
        (b'{"v":1,"unit":"a","state":"online","seq":1,"delivered":true}', "delivered must be the number of an event"),
        (b"x" * 513, "the message has 513 bytes, at most 512 are right"),
    ],
)
def test_what_is_no_sign_of_life_is_refused(payload: bytes, reason: str) -> None:
    with pytest.raises(BadPresence) as bad:
        read_presence(payload)
    assert str(bad.value) == reason
