"""What the archive makes of supervisors' corrections: what counts, and that what was wrong stays."""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import insert, text

import provisioning.central
from device import session_corrections
from device.event import GENESIS_HASH, Event, Stamp, seal
from device.session import Session
from provisioning.central import archive_schema as schema
from provisioning.central.archive_database import held_for_writing
from provisioning.central.archive_message import LogMessage
from provisioning.central.archive_writer import Archive, Taken
from tests.archive_rig import SITE, ArchiveDatabase, History, Postgresql, new_database, postgresql
from tests.supervised_history import adjust, change_limits, correct_roll, game, play_supervised

MIGRATIONS = Path(provisioning.central.__file__).with_name("archive_migrations")
TOTALS = (
    "SELECT session, collected, paid, commission, commission_returned, adjusted FROM session_totals"
    " WHERE table_name = 'craps-1' ORDER BY session"
)


@pytest.fixture(scope="module")
def server() -> Iterator[Postgresql]:
    with postgresql() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path, server: Postgresql) -> ArchiveDatabase:
    return new_database(tmp_path, server if request.param == "postgresql" else None)


def taken(archive: Archive, history: History, *payloads: bytes) -> Taken:
    """What became of the last message of a table."""
    found = Taken.HERE
    for payload in payloads:
        message = LogMessage(archive.position + 1, f"craps.{SITE}.{history.table}.journal", payload)
        found = archive.take(message, in_order=False)
    return found


def rows(database: ArchiveDatabase, query: str, **values: int) -> list[tuple[Any, ...]]:
    with database.engine().connect() as connection:
        return [tuple(row) for row in connection.execute(text(query), values)]


def picked(found: list[dict[str, Any]], names: str, *order: str) -> list[tuple[Any, ...]]:
    """Columns of rows, in an order of their own."""
    ordered = sorted(found, key=lambda row: [row[name] for name in order])
    return [tuple(row[name] for name in names.split()) for row in ordered]


def house(totals: tuple[Any, ...]) -> int:
    """What the house is up in a session, under rules that take the commission from the win."""
    _, collected, paid, commission, commission_returned, adjusted = totals
    return int(collected - paid + commission - commission_returned - adjusted)


def a_corrected_game() -> tuple[History, dict[str, int]]:
    """A history under us-vegas, and the events that its test names."""
    history, at = History(), {}
    history.open()
    history.do({"bet": {"player": "1", "kind": "pass_line", "amount": 10}})
    at["roll 1"] = history.do({"roll": [2, 4]})  # the point is 6
    history.do({"bet": {"player": "2", "kind": "field", "amount": 5}})
    history.do({"bet": {"player": "3", "kind": "place", "amount": 12, "number": 8}})
    at["roll 2"] = history.do({"roll": [5, 6]})  # 11: the field wins 5
    at["roll 3"] = history.do({"roll": [4, 4]})  # 8: the place bet wins 14 and stays
    at["adjusted"] = adjust(history, 3, {"3": 1, "2": -2})
    at["limits"] = change_limits(history, 2, 1000)
    # The 11 was a seven-out: pass line, place bet and field are lost, and the 8 is a point.
    at["corrected 2"] = correct_roll(history, 2, (5, 2))
    history.do({"bet": {"player": "1", "kind": "come", "amount": 10}})
    at["roll 4"] = history.do({"roll": [6, 2]})  # the come bet travels to 8; but it was
    at["boxman 4"] = history.do({"correct": [1, 2]})  # 3, which loses it
    at["corrected 3"] = correct_roll(history, 3, (5, 4))  # the point was 9, so roll 4 was thrown on that
    history.do({"shooter": "1"})
    history.do({"bet": {"player": "2", "kind": "field", "amount": 4}})  # below the limits of the opening
    at["roll 5"] = history.do({"roll": [3, 1]})  # 4: the field wins 4
    return history, at


def test_a_corrected_roll_takes_its_place_and_that_of_all_it_settles_otherwise(database: ArchiveDatabase) -> None:
    history, at = a_corrected_game()
    with held_for_writing(database.engine()) as connection:
        assert taken(Archive(connection, None), history, *history.payloads()) is Taken.HERE
    names = "seq number die_1 die_2 point_before point corrects corrected_by shooter"
    assert picked(database.rows(schema.rolls), names, "number", "seq") == [
        (at["roll 1"], 1, 2, 4, None, 6, None, None, None),
        (at["roll 2"], 2, 5, 6, 6, 6, None, at["corrected 2"], None),
        (at["corrected 2"], 2, 5, 2, 6, None, at["roll 2"], None, None),
        (at["roll 3"], 3, 4, 4, 6, 6, None, at["corrected 2"], None),
        (at["corrected 2"], 3, 4, 4, None, 8, at["roll 3"], at["corrected 3"], None),
        (at["corrected 3"], 3, 5, 4, None, 9, at["roll 3"], None, None),
        (at["roll 4"], 4, 6, 2, 8, None, None, at["boxman 4"], None),
        (at["boxman 4"], 4, 1, 2, 8, 8, at["roll 4"], at["corrected 3"], None),
        (at["corrected 3"], 4, 1, 2, 9, 9, at["roll 4"], None, None),
        (at["roll 5"], 5, 3, 1, 9, 9, None, None, "1"),
    ]
    names = "seq cause roll_number player kind result amount paid returned corrects corrected_by"
    second, third = at["corrected 2"], at["corrected 3"]
    assert picked(database.rows(schema.settlements), names, "roll_number", "seq", "player") == [
        (at["roll 2"], "roll", 2, "2", "field", "win", 5, 5, 5, None, second),
        (second, "roll_corrected", 2, "1", "pass_line", "lose", 10, 0, 0, at["roll 2"], None),
        (second, "roll_corrected", 2, "2", "field", "lose", 5, 0, 0, at["roll 2"], None),
        (second, "roll_corrected", 2, "3", "place", "lose", 12, 0, 0, at["roll 2"], None),
        (at["roll 3"], "roll", 3, "3", "place", "win", 12, 14, 0, None, second),
        (at["roll 4"], "roll", 4, "1", "come", "move", 10, 0, 0, None, at["boxman 4"]),
        (at["boxman 4"], "correct", 4, "1", "come", "lose", 10, 0, 0, at["roll 4"], third),
        (third, "roll_corrected", 4, "1", "come", "lose", 10, 0, 0, at["roll 4"], None),
        (at["roll 5"], "roll", 5, "2", "field", "win", 4, 4, 4, None, None),
    ]
    assert rows(database, "SELECT number, die_1 + die_2 FROM rolls_in_force ORDER BY number") == [
        (1, 6), (2, 7), (3, 9), (4, 3), (5, 4)
    ]  # fmt: skip
    assert rows(database, "SELECT COUNT(*) FROM settlements_in_force") == [(5,)]
    names = "seq position session roll_number corrects player amount reason person"
    assert picked(database.rows(schema.adjustments), names, "position") == [
        (at["adjusted"], 0, 1, 3, at["roll 3"], "3", 1, "short", "Marta Gil"),
        (at["adjusted"], 1, 1, 3, at["roll 3"], "2", -2, "short", "Marta Gil"),
    ]
    assert picked(database.rows(schema.limit_changes), "seq session minimum maximum person") == [
        (at["limits"], 1, 2, 1000, "Marta Gil")
    ]
    # From the losers 10, 5, 12 and 10; to the winner 4; and 1 less than nothing by adjustments.
    assert rows(database, TOTALS) == [(1, 37, 4, 0, 0, -1)]
    assert game(history).house == 37 - 4 + 1


def test_a_session_that_was_only_adjusted_has_totals(database: ArchiveDatabase) -> None:
    history = History()
    history.open()
    history.do({"roll": [2, 4]})
    adjust(history, 1, {"7": 25})
    with held_for_writing(database.engine()) as connection:
        assert taken(Archive(connection, None), history, *history.payloads()) is Taken.HERE
    assert rows(database, TOTALS) == [(1, 0, 0, 0, 0, 25)]


@pytest.mark.parametrize("seed", [1, 2])
def test_totals_are_what_the_table_says_whatever_was_corrected(database: ArchiveDatabase, seed: int) -> None:
    chance, history = random.Random(seed), History()
    play_supervised(history, chance, 100)
    with held_for_writing(database.engine()) as connection:
        archive, first = Archive(connection, None), 1
        while first <= len(history.events):
            last = first + chance.choice((0, 3, 20))
            assert taken(archive, history, history.payload(first, last)) is Taken.HERE
            if chance.random() < 0.2:
                archive = Archive(connection, None)
            first = last + 1
    houses: dict[int, int] = {}
    replay = Session()
    for event in history.events:
        replay.replay(event.seq, event.type, event.data)
        if replay.table is not None:
            houses[replay.session_number] = replay.table.house
    found = {totals[0]: house(totals) for totals in rows(database, TOTALS)}
    assert found | dict.fromkeys(houses.keys() - found.keys(), 0) == houses
    assert rows(database, "SELECT COUNT(*) FROM settlements WHERE amount IS NULL") == [(0,)]
    check_rolls_in_force(database, replay)
    kinds = [event.type for event in history.events]
    assert min(kinds.count(kind) for kind in ("roll_corrected", "settlement_adjusted", "limits_changed")) > 2


def check_rolls_in_force(database: ArchiveDatabase, session: Session) -> None:
    """Those of the last session that may still be corrected are settled as the table would settle them again."""
    assert session.table is not None
    in_force = rows(
        database,
        "SELECT number, die_1, die_2, point_before, point FROM rolls_in_force WHERE session = :session ORDER BY number",
        session=session.session_number,
    )
    settled = rows(
        database,
        "SELECT roll_number, player, kind, number, result, paid FROM settlements_in_force"
        " WHERE session = :session AND roll_number IS NOT NULL AND result IN ('win', 'lose', 'push', 'move')"
        " ORDER BY roll_number, position",
        session=session.session_number,
    )
    expected, results = [], []
    for kept in session.history:
        then = session.table.at(kept.before, *kept.limits)
        point_before = then.point
        for result in then.roll(*kept.dice):
            if result["result"] != "return":
                said = (result["player"], result["kind"], result.get("number"), result["result"], result.get("paid", 0))
                results.append((kept.number, *said))
        expected.append((kept.number, *kept.dice, point_before, then.point))
    first = session.history[0].number
    assert [roll for roll in in_force if roll[0] >= first] == expected
    assert [result for result in settled if result[0] >= first] == results


def test_an_archive_of_before_keeps_its_rolls_and_takes_corrections(database: ArchiveDatabase) -> None:
    history, at = a_corrected_game()
    configuration = Config()
    configuration.set_main_option("script_location", str(MIGRATIONS))
    roll = {
        "site": SITE, "table_name": "craps-9", "seq": 3, "wall": "2026-11-29T00:00:03.250Z", "session": 1, "number": 1,
        "die_1": 2, "die_2": 4, "total": 6, "point_before": None, "point": 6, "shooter": "Ana", "via": "console",
        "corrects": None, "corrected_by": 7,
    }  # fmt: skip
    if database.server is None:
        database.path.touch(0o600)
    with database.engine().connect() as connection, connection.begin():
        configuration.attributes["connection"] = connection
        command.upgrade(configuration, "0001")
        connection.execute(insert(schema.rolls), roll)
    with held_for_writing(database.engine()) as connection:
        assert taken(Archive(connection, None), history, *history.payloads()) is Taken.HERE
    found = database.rows(schema.rolls)
    assert [row for row in found if row["table_name"] == "craps-9"] == [roll]
    assert sum(row["seq"] == at["corrected 2"] for row in found) == 2


def a_game_with_commission_up_front() -> History:
    """Chile's rules: buy costs 5 % of the bet, lay 5 % of what it wins, rounded down, with the bet and at every win."""
    history = History()
    history.open("cl-scj", 10, 1000)
    history.do({"bet": {"player": "1", "kind": "pass_line", "amount": 10}})
    history.do({"roll": [2, 4]})
    history.do({"bet": {"player": "1", "kind": "buy", "number": 4, "amount": 100}})  # 5
    history.do({"bet": {"player": "1", "kind": "buy", "number": 4, "amount": 30}})  # of 130 it is 6: 1 more
    history.do({"bet": {"player": "2", "kind": "lay", "number": 4, "amount": 100}})  # wins 50 at most: 2
    history.do({"bet": {"player": "2", "kind": "place", "number": 8, "amount": 60}})  # none
    history.do({"roll": [1, 3]})  # buy wins 260, stays and pays 6 again; lay loses 100
    history.do({"reduce": {"player": "1", "kind": "buy", "number": 4, "amount": 30}})  # of 100 it is 5: 1 back
    history.do({"take_down": {"player": "1", "kind": "buy", "number": 4}})  # 5 back
    history.do({"roll": [3, 4]})  # the pass line's 10 and the 60 on the 8 are lost
    history.add(history.session.stop())
    return history


COMMISSIONS = [("1", "buy", 4, 5), ("1", "buy", 4, 1), ("2", "lay", 4, 2)]
UP_FRONT = (1, 170, 260, 14, 6, 0)
"""Lost 100 + 10 + 60; paid 260; commissions 5 + 1 + 2 with the bets and 6 at the win, of which 1 + 5 went back."""


def test_commissions_taken_with_the_bets_are_in_the_totals(database: ArchiveDatabase) -> None:
    history = a_game_with_commission_up_front()
    with held_for_writing(database.engine()) as connection:
        assert taken(Archive(connection, None), history, *history.payloads()) is Taken.HERE
    found = database.rows(schema.commissions)
    assert [(row["player"], row["kind"], row["number"], row["amount"]) for row in found] == COMMISSIONS
    assert {row["session"] for row in found} == {1}
    [totals] = rows(database, TOTALS)
    assert tuple(map(int, totals)) == UP_FRONT
    # 170 - 260 + 14 - 6, as the table itself has it.
    assert history.session.table is not None
    assert house(totals) == history.session.table.house == -82


def test_an_archive_of_before_gets_the_commissions_of_its_games(database: ArchiveDatabase) -> None:
    history, other = a_game_with_commission_up_front(), History("craps-2").play(random.Random(1), 50)
    history.open("us-vegas")
    history.do({"bet": {"player": "1", "kind": "buy", "number": 4, "amount": 100}})
    configuration = Config()
    configuration.set_main_option("script_location", str(MIGRATIONS))
    if database.server is None:
        database.path.touch(0o600)
    with database.engine().connect() as connection, connection.begin():
        configuration.attributes["connection"] = connection
        command.upgrade(configuration, "0002")
        for each in (history, other):
            session = 0
            for event in each.events:
                connection.execute(insert(schema.events), event_row(event))
                if event.type == "table_opened":
                    session += 1
                    connection.execute(insert(schema.sessions), session_row(event, session))
    with held_for_writing(database.engine()):
        pass
    found = database.rows(schema.commissions)
    assert [(row["player"], row["kind"], row["number"], row["amount"]) for row in found] == COMMISSIONS
    bets = [event for event in history.events if event.type == "bet"]
    assert [(row["seq"], row["wall"]) for row in found] == [(event.seq, event.wall) for event in bets[1:4]]
    assert {(row["table_name"], row["session"]) for row in found} == {("craps-1", 1)}


def event_row(event: Event) -> dict[str, Any]:
    names = ("seq", "wall", "clock", "boot", "mono_ns", "type", "data", "prev", "hash")
    return {"site": SITE, "table_name": event.table} | {name: getattr(event, name) for name in names}


def session_row(event: Event, session: int) -> dict[str, Any]:
    said = event.data
    row = {"site": SITE, "table_name": event.table, "session": session, "opened_seq": event.seq}
    row |= {"opened_wall": event.wall, "closed_seq": None, "closed_wall": None, "rules": said["rule_set"]["name"]}
    return row | {"unit": said["unit"], "minimum": said["limits"]["min"], "maximum": said["limits"]["max"]}


# What is not as it must be


def resealed(history: History, seq: int, data: dict[str, Any]) -> bytes:
    """The history as far as event `seq`, which holds something else than its session said."""
    events, last_hash = [], GENESIS_HASH
    for event in history.events[:seq]:
        stamp = Stamp(event.boot, event.mono_ns, event.wall, event.clock)
        said: Event = seal(
            event.table, event.seq, stamp, event.type, data if event.seq == seq else event.data, last_hash
        )
        events.append(said.line())
        last_hash = said.hash
    return "\n".join(events).encode()


def changed(data: dict[str, Any], place: list[str | int], value: Any) -> dict[str, Any]:
    """The data, with one value in it put in the place of another."""
    if not place:
        return value  # type: ignore[no-any-return]
    copy: Any = dict(data) if isinstance(data, dict) else list(data)
    copy[place[0]] = changed(copy[place[0]], place[1:], value)
    return copy  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("named", "place", "value", "why"),
    [
        ("corrected 2", ["rolls"], [], "data.rolls: must name the roll that is corrected"),
        ("corrected 2", ["rolls", 1, "number"], 2, "data.rolls: must name the roll that is corrected, and each roll"),
        ("corrected 2", ["rolls", 1, "dice"], [0, 7], "data.rolls[1].dice: must name two dice"),
        ("corrected 2", ["rolls", 0, "results"], None, "data.rolls[0].results: must be a list"),
        ("corrected 2", ["rolls", 0, "results", 1, "result"], "won", "data.rolls[0].results[1].result: must be one of"),
        ("corrected 2", ["rolls", 0, "results", 0, "kind"], "dont_pass", None),
        ("corrected 2", ["asked"], None, None),
        ("corrected 2", ["asked", "dice"], [], None),
        ("adjusted", ["asked", "adjustments", 1, "amount"], "2", "data.asked.adjustments[1].amount: must be a whole"),
        ("adjusted", ["asked", "adjustments", 0, "player"], 3, "data.asked.adjustments[0].player: must be a text"),
        ("limits", ["limits", "min"], "10", "data.limits.min: must be a whole number"),
        ("limits", ["limits"], [], "data.limits: must be an object"),
    ],
)
def test_a_malformed_correction_is_an_alarm_and_what_only_the_game_needs_is_none(
    tmp_path: Path, named: str, place: list[str | int], value: Any, why: str | None
) -> None:
    history, at = a_corrected_game()
    database = ArchiveDatabase(tmp_path, None, "")
    payload = resealed(history, at[named], changed(history.events[at[named] - 1].data, place, value))
    with held_for_writing(database.engine()) as connection:
        became = taken(Archive(connection, None), history, payload)
    alarms = database.rows(schema.alarms)
    if why is None:
        assert (became, alarms) == (Taken.HERE, [])
        # Nobody knows what lay on the bets of such a correction.
        amounts = [row["amount"] for row in database.rows(schema.settlements) if row["seq"] == at[named]]
        assert amounts == [None, None, None]
        return
    assert became is Taken.ALARM
    assert (alarms[0]["kind"], alarms[0]["seq"]) == ("malformed", at[named])
    assert why in alarms[0]["reason"]
    assert database.rows(schema.tables)[0]["last_seq"] == at[named] - 1


def test_of_a_correction_that_the_rules_forbid_nobody_knows_what_lay_there(tmp_path: Path) -> None:
    history, database = History(), ArchiveDatabase(tmp_path, None, "")
    history.open()
    history.do({"bet": {"player": "1", "kind": "pass_line", "amount": 10}})
    first = history.do({"roll": [2, 4]})
    history.do({"bet": {"player": "1", "kind": "come", "amount": 10}})
    history.do({"roll": [3, 6]})
    # An 11 makes no point, and there is no come bet without one.
    said = session_corrections.look_at_correction(history.session, 1, (5, 6))
    assert said["blocked"] is not None
    rolls = [roll["becomes"] for roll in said["rolls"]]
    data = {"corrects": first, "asked": {"number": 1, "dice": [5, 6]}, "rolls": rolls, "via": "console"}
    last = history.events[-1]
    stamp = Stamp(last.boot, last.mono_ns, last.wall, last.clock)
    history.events.append(seal(history.table, last.seq + 1, stamp, "roll_corrected", data, last.hash))
    with held_for_writing(database.engine()) as connection:
        assert taken(Archive(connection, None), history, *history.payloads()) is Taken.HERE
    names = "roll_number kind result paid amount"
    assert picked(database.rows(schema.settlements), names)[-1] == (1, "pass_line", "win", 10, None)


# As an analyst asks


def test_the_question_of_the_readme_is_answered(tmp_path: Path, server: Postgresql) -> None:
    readme = Path(provisioning.central.__file__).with_name("README.md").read_text(encoding="utf-8")
    (question,) = re.findall(r"```sql\n(.*?)```", readme, re.DOTALL)
    server.run("CREATE DATABASE readme")
    database = ArchiveDatabase(tmp_path, server, "readme")
    history, _ = a_corrected_game()
    history.day = "2026-11-30"
    history.do({"bet": {"player": "7", "kind": "buy", "number": 4, "amount": 20}})
    history.do({"roll": [2, 2]})  # wins 40, of which 1 is commission
    history.add(history.session.stop())
    with held_for_writing(database.engine()) as connection:
        assert taken(Archive(connection, None), history, *history.payloads()) is Taken.HERE
    found = [(site, str(day), int(won)) for site, day, won in rows(database, question)]
    assert found == [(SITE, "2026-11-29", 34), (SITE, "2026-11-30", -39)]
