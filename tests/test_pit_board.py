"""The pit's board: what of its sources is dead, what changed since a page last looked, and what is no sign of life."""

from collections.abc import Iterable
from typing import Any

from device.presence import Presence
from provisioning.central.pit_board import (
    ARCHIVE_BEHIND_S,
    DATABASE_SILENT_S,
    ODD_MAX,
    ODD_SHOWN_S,
    UNITS_MAX,
    Board,
)
from provisioning.central.pit_database import Game, Look, Names, Row

NAMES = ("casino-1", "craps-1")
SUBJECT = "craps.casino-1.craps-1.presence"
START_MS = 1_790_000_000_000


class Time:
    """Both clocks of the centre."""

    now_s = 0.0

    def monotonic_s(self) -> float:
        return self.now_s

    def wall_ms(self) -> int:
        return START_MS + round(self.now_s * 1000)


def board(time: Time, listed: Iterable[Names] = ()) -> Board:
    return Board(listed, lambda _names, _standing: None, monotonic_s=time.monotonic_s, wall_ms=time.wall_ms)


def looked(position: int = 5, last_seq: int = 9, heard_sequence: int = 5, names: Names = NAMES) -> Look:
    row = Row(names, last_seq, "2026-09-21T14:13:20.000Z", heard_sequence, True, None)
    return Look(position, {names: row}, {names: Game()})


def ready(time: Time) -> Board:
    """One that hears, and has looked."""
    made = board(time)
    made.log_reached(presence_refused=False)
    made.log_ends(5)
    made.take_look(looked())
    return made


def alive(seq: int = 9, delivered: int = 9, unit: str = "unit1", state: str = "online") -> bytes:
    return Presence(unit, seq, delivered, state).payload()


def warnings(of: Board) -> list[tuple[str, bool]]:
    of.tick()
    return [(warning["kind"], warning["dead"]) for warning in of.since(0)["warnings"]]


def shown(of: Board) -> dict[str, Any]:
    of.tick()
    [view] = of.since(0)["tables"]
    return dict(view)


def test_until_both_sources_have_answered_nothing_is_live() -> None:
    time = Time()
    made = board(time)
    assert warnings(made) == [("log_away", True), ("database_away", True)]
    made.log_reached(presence_refused=False)
    assert warnings(made) == [("database_away", True)]
    made.take_look(looked())
    assert warnings(made) == []


def test_a_log_that_is_away_is_said_with_the_time_since_when() -> None:
    time = Time()
    made = ready(time)
    made.take_presence(SUBJECT, alive())
    assert shown(made)["state"] == "open"
    time.now_s = 3.0
    made.log_failed("the central server takes no connections; it may be down")
    time.now_s = 9.0
    made.log_failed("the central server does not answer in time")
    made.take_look(looked())
    assert warnings(made) == [("log_away", True)]
    [warning] = made.since(0)["warnings"]
    assert (warning["since"], warning["text"]) == (START_MS + 3000, "the central server does not answer in time")
    assert shown(made)["state"] == "deaf"
    # Back again, a table is not silent for what nobody could hear.
    time.now_s = 60.0
    made.log_reached(presence_refused=False)
    assert shown(made)["state"] == "listening"
    made.take_presence(SUBJECT, alive())
    assert shown(made)["state"] == "open"


def test_a_database_that_fails_or_does_not_answer_is_dead() -> None:
    time = Time()
    made = ready(time)
    time.now_s = DATABASE_SILENT_S
    assert warnings(made) == []
    time.now_s = DATABASE_SILENT_S + 0.1
    assert warnings(made) == [("database_silent", True)]
    made.database_failed("connection refused")
    assert warnings(made) == [("database_away", True)]
    made.take_look(looked())
    assert warnings(made) == []


def test_tables_that_are_not_read_yet_are_counted() -> None:
    time = Time()
    made = ready(time)
    found = looked()
    made.take_look(Look(found.position, found.rows, found.games, waiting=12))
    assert warnings(made) == [("reading", False)]
    assert made.since(0)["warnings"][0]["count"] == 12


def test_an_archive_that_stands_still_is_dead_and_one_that_catches_up_lags() -> None:
    time = Time()
    made = ready(time)
    made.log_ends(105)
    time.now_s = ARCHIVE_BEHIND_S
    made.take_look(looked(position=5))
    assert warnings(made) == []
    time.now_s = ARCHIVE_BEHIND_S + 0.1
    made.take_look(looked(position=5))
    assert warnings(made) == [("archive_stands", True)]
    assert made.since(0)["warnings"][0]["count"] == 100
    made.take_look(looked(position=50))
    assert warnings(made) == [("archive_behind", False)]
    # The log goes on meanwhile; that the archive reached what was there is enough.
    made.log_ends(200)
    made.take_look(looked(position=105))
    assert warnings(made) == []


def test_signs_of_life_that_the_servers_keep_back_are_said() -> None:
    time = Time()
    made = ready(time)
    made.log_reached(presence_refused=True)
    assert warnings(made) == [("presence_refused", False)]


def test_what_is_no_sign_of_life_is_named_and_counted_for_a_while() -> None:
    time = Time()
    made = ready(time)
    for _ in range(3):
        made.take_presence(SUBJECT, b"\xff\x00")
    made.take_presence("craps.casino-1.craps 1.presence", alive())
    made.tick()
    odd = [(warning["subject"], warning["count"], warning["text"]) for warning in made.since(0)["warnings"]]
    assert odd == [
        (SUBJECT, 3, "the message is no JSON"),
        (
            "craps.casino-1.craps 1.presence",
            1,
            "the subject does not name a site and a table in letters, digits, _ and -",
        ),
    ]
    assert shown(made)["live"] is False
    for number in range(2 * ODD_MAX):
        made.take_presence(f"craps.casino-1.craps-{number}.presence", b"{")
    assert len(warnings(made)) == ODD_MAX
    time.now_s = ODD_SHOWN_S + 0.1
    made.take_look(looked())
    assert warnings(made) == []


def test_a_page_learns_only_what_has_changed() -> None:
    time = Time()
    made = ready(time)
    made.take_presence(SUBJECT, alive())
    made.tick()
    whole = made.since(0)
    assert whole["whole"] and len(whole["tables"]) == 1 and whole["heard"] == {"casino-1/craps-1": START_MS}
    made.tick()
    later = made.since(whole["number"])
    assert (later["whole"], later["tables"], later["heard"]) == (False, [], {})
    time.now_s = 10.0
    made.take_presence(SUBJECT, alive())
    made.tick()
    # That it is heard is one number; the table itself has not changed.
    heard = made.since(later["number"])
    assert (heard["tables"], heard["heard"]) == ([], {"casino-1/craps-1": START_MS + 10_000})
    made.take_look(looked(last_seq=10, heard_sequence=6))
    made.tick()
    assert [view["seq"] for view in made.since(heard["number"])["tables"]] == [10]
    # One that missed a look gets that of both.
    assert [view["seq"] for view in made.since(later["number"])["tables"]] == [10]


def test_undelivered_events_that_stay_so_from_one_sign_of_life_to_the_next_are_trouble() -> None:
    time = Time()
    made = ready(time)
    made.take_presence(SUBJECT, alive(seq=12))
    assert (shown(made)["state"], shown(made)["undelivered"]) == ("open", 3)
    made.take_presence(SUBJECT, alive(seq=14))
    assert (shown(made)["state"], shown(made)["undelivered"]) == ("undelivered", 5)
    made.take_presence(SUBJECT, alive(seq=15, delivered=10))
    assert shown(made)["state"] == "open"
    made.take_presence(SUBJECT, alive(seq=15, delivered=15))
    made.take_presence(SUBJECT, alive(seq=15, delivered=15))
    assert shown(made)["state"] == "open"


def test_units_that_come_and_go_are_not_kept_without_end() -> None:
    time = Time()
    made = ready(time)
    for number in range(3 * UNITS_MAX):
        made.take_presence(SUBJECT, alive(unit=f"fenced{number}", state="fenced"))
    made.take_presence(SUBJECT, alive())
    assert shown(made)["state"] == "fenced"
    assert len(made._tables[NAMES].units) == UNITS_MAX
    time.now_s = 30.0
    made.take_presence(SUBJECT, alive())
    assert shown(made)["state"] == "open"


def test_a_listed_table_that_was_never_heard_is_shown_and_an_unlisted_one_that_is_heard_too() -> None:
    time = Time()
    made = board(time, [("casino-9", "craps-9")])
    made.log_reached(presence_refused=False)
    time.now_s = 30.0
    made.take_presence(SUBJECT, alive())
    made.tick()
    states = {f"{view['site']}/{view['table']}": view["state"] for view in made.since(0)["tables"]}
    assert states == {"casino-9/craps-9": "never", "casino-1/craps-1": "behind"}


def test_a_message_that_the_archive_takes_is_a_word_of_a_table_without_signs_of_life() -> None:
    time = Time()
    made = ready(time)
    time.now_s = 30.0
    made.take_look(looked())
    # Of what the archive had at the first look, nobody knows how old it is.
    assert shown(made)["state"] == "silent"
    made.take_look(looked(last_seq=10, heard_sequence=6))
    assert shown(made)["state"] == "unknown"
