"""The players' display: the dice, the point, the hand and the pay table; and nothing where it cannot be sure."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from device.journal import JournalReader
from device.players_display import PlayersDisplay
from device.players_pay_table import players_pay_table
from device.players_table import EVENTS, Hand, PlayersTable, numbers
from device.session_corrections import correct_roll
from device.settings import PlayersDisplaySettings
from engine_lite import rule_sets
from tests.dice_journal import write_journal
from tests.played_journal import PlayedJournal

ALL = PlayersDisplaySettings(enabled=True, house_text="Good luck")
SIDE_BETS = Path(__file__).parent / "rules" / "house-side-bets.json"


def seen(game: PlayedJournal, first: int = 0) -> PlayersTable:
    """What players have seen of a game from one of its events on."""
    table = PlayersTable()
    for event in game.events[first:]:
        if event.type in EVENTS:
            table.take(event.type, event.data)
    return table


def streak(game: PlayedJournal) -> tuple[int | None, int | None, bool]:
    hand = seen(game).hand
    return hand.rolls, hand.points_made, hand.over


# The hand


def test_a_hand_counts_its_rolls_and_the_points_made() -> None:
    game = PlayedJournal()
    game.roll((5, 6), (1, 3), (3, 3), (2, 2), (3, 4))
    # A natural, the point 4, a 6, the 4, and a natural again: the shooter keeps the dice.
    assert streak(game) == (5, 1, False)
    game.roll((2, 3), (1, 6))
    assert streak(game) == (7, 1, True)
    assert seen(game).point is None
    game.roll((4, 4))
    assert streak(game) == (1, 0, False)
    assert seen(game).point == 8


def test_craps_pass_the_dice_only_where_the_rules_say_so() -> None:
    for name, passes in (("us-vegas", False), ("pe-1999", True)):
        game = PlayedJournal(rules=rule_sets.load(name))
        game.roll((1, 1))
        assert streak(game) == (1, 0, passes)


def test_another_shooter_begins_a_hand_and_one_who_is_named_late_has_begun_it() -> None:
    game = PlayedJournal()
    game.roll((5, 6), (5, 6))
    for player in "12":
        game.bet(player, "pass_line", 5)
    game.do({"shooter": "1"})
    assert streak(game) == (2, 0, False)
    game.roll((1, 3))
    game.do({"shooter": "1"})
    assert streak(game) == (3, 0, False)
    game.do({"shooter": "2"})
    assert streak(game) == (0, 0, False)


def test_a_correction_takes_the_roll_s_whole_meaning_back() -> None:
    game = PlayedJournal()
    game.roll((1, 3), (3, 4))
    assert streak(game) == (2, 0, True)
    game.do({"shooter": "2"})
    game.do({"correct": [1, 3]})
    # The point was made; whoever was named for the seven-out has not got the dice.
    assert streak(game) == (2, 1, False)
    assert seen(game).rolls == [(1, 3), (1, 3)]
    game.do({"correct": [3, 4]})
    assert streak(game) == (2, 0, True)


def test_an_earlier_roll_that_a_supervisor_corrects_changes_those_after_it() -> None:
    game = PlayedJournal()
    game.roll((1, 3), (3, 3), (2, 3))
    assert streak(game) == (3, 0, False)
    game.supervise(correct_roll, 1, (3, 3), "misread")
    # The six of the second roll made the point, and the five of the third is one.
    assert streak(game) == (3, 1, False)
    assert (seen(game).point, seen(game).rolls) == (5, [(3, 3), (3, 3), (2, 3)])
    # One that was thrown before what is known.
    table = seen(game, len(game.events) - 3)
    assert (table.hand.rolls, table.point) == (None, 5)


def test_a_hand_that_began_unseen_has_no_count_until_the_next_begins() -> None:
    game = PlayedJournal()
    game.roll((1, 3), (3, 3))
    start = len(game.events)
    game.roll((5, 5))
    table = seen(game, start)
    assert (table.hand, table.point, table.rolls) == (Hand(), 4, [(5, 5)])
    game.roll((1, 6), (5, 6))
    assert (seen(game, start).hand.rolls, seen(game, start).hand.points_made) == (1, 0)
    # The roll that a correction is of was not seen.
    game.roll((1, 3))
    start = len(game.events)
    game.do({"correct": [4, 4]})
    table = seen(game, start)
    assert (table.hand, table.point, table.rolls) == (Hand(), 8, [])


def test_what_was_thrown_while_nothing_was_recorded_is_not_guessed() -> None:
    table = seen(game := PlayedJournal())
    game.roll((1, 3))
    table = seen(game)
    table.take("recording_resumed", {})
    assert table.hand.rolls is None


def test_opening_the_table_forgets_and_closing_says_so() -> None:
    game = PlayedJournal()
    game.roll((1, 3), (3, 4))
    game.close()
    assert seen(game).is_open is False
    game.open()
    table = seen(game)
    assert (table.is_open, table.rolls, table.hand, table.point) == (True, [], Hand(0, 0), None)


# Hot and cold


def rolls_of(**totals: int) -> list[tuple[int, int]]:
    """So many rolls of each total, given as n7=6."""
    found: list[tuple[int, int]] = []
    for name, count in totals.items():
        total = int(name[1:])
        found.extend([(max(1, total - 6), total - max(1, total - 6))] * count)
    return found


def test_numbers_are_hot_and_cold_by_what_chance_gives_each() -> None:
    # Of 36 rolls chance gives 1 two, 3 fours and tens, 6 sevens ...
    as_expected = {"n2": 1, "n3": 2, "n4": 3, "n5": 4, "n6": 5, "n7": 6, "n8": 5, "n9": 4, "n10": 3, "n11": 2, "n12": 1}
    assert numbers(rolls_of(**as_expected)).hot == numbers(rolls_of(**as_expected)).cold == ()
    # Three twos are three times as many as expected, eight sevens a third more; no five, and two of five eights.
    counted = numbers(rolls_of(**(as_expected | {"n2": 3, "n7": 8, "n5": 1, "n8": 4})))
    assert (counted.of, counted.hot, counted.cold) == (36, (2, 7), (5, 8))
    assert counted.counts[7] == 8


def test_of_few_rolls_nothing_is_hot_or_cold() -> None:
    counted = numbers(rolls_of(n7=35))
    assert (counted.of, counted.hot, counted.cold) == (35, (), ())
    assert numbers(rolls_of(n7=36)).hot == (7,)
    # Of all that never came, those that chance would have given most often stand out.
    assert numbers(rolls_of(n7=36)).cold == (6, 8)


# The pay table


def lines_of(rules: dict[str, Any], kind: str, options: dict[str, Any] | None = None) -> list[Any]:
    for group in players_pay_table(rules, options or {}, "en"):
        for bet in group["bets"]:
            if bet["kind"] == kind:
                return [(line["on"], line["pays"], line.get("points")) for line in bet["lines"]]
    raise AssertionError(kind)


@pytest.mark.parametrize(
    ("kind", "lines"),
    [
        ("pass_line", [([], [1, 1], None)]),
        ("pass_odds", [(["4", "10"], [2, 1], None), (["5", "9"], [3, 2], None), (["6", "8"], [6, 5], None)]),
        ("place", [(["4", "10"], [9, 5], None), (["5", "9"], [7, 5], None), (["6", "8"], [7, 6], None)]),
        ("hardway", [(["4", "10"], [7, 1], None), (["6", "8"], [9, 1], None)]),
        ("field", [(["3", "4", "9", "10", "11"], [1, 1], None), (["2"], [2, 1], None), (["12"], [3, 1], None)]),
        ("any_craps", [(["2", "3", "12"], [7, 1], None)]),
    ],
)
def test_the_pay_table_has_what_the_rules_pay(kind: str, lines: list[Any]) -> None:
    assert lines_of(rule_sets.load("us-vegas"), kind) == lines


def test_the_pay_table_follows_the_options_in_force() -> None:
    field = lines_of(rule_sets.load("us-vegas"), "field", {"field_twelve": [2, 1]})
    assert field == [(["3", "4", "9", "10", "11"], [1, 1], None), (["2", "12"], [2, 1], None)]


def test_the_pay_table_has_bets_on_a_whole_hand() -> None:
    rules = json.loads(SIDE_BETS.read_text(encoding="utf-8"))
    assert lines_of(rules, "small") == [(["2", "3", "4", "5", "6"], [34, 1], None)]
    assert lines_of(rules, "fire") == [([], [24, 1], 4), ([], [249, 1], 5), ([], [999, 1], 6)]


@pytest.mark.parametrize("name", rule_sets.NAMES)
def test_every_bet_of_every_rule_set_is_on_it(name: str) -> None:
    rules = rule_sets.load(name)
    groups = players_pay_table(rules, {}, "en")
    assert sorted(bet["kind"] for group in groups for bet in group["bets"]) == sorted(rules["order"])
    assert all(bet["lines"] for group in groups for bet in group["bets"])


# The display


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.005)


def shown(
    game: PlayedJournal, folder: Path, settings: PlayersDisplaySettings = ALL, halted: str | None = None
) -> dict[str, Any]:
    """What a display shows that has just started on the game's journal."""
    session = game.session
    state = {
        "halted": halted,
        "session_number": session.session_number,
        "open": session.is_open,
        "point": session.point,
    }

    async def look() -> dict[str, Any]:
        with JournalReader(write_journal(folder, game.events) / "journal.db") as reader:
            display = PlayersDisplay(reader, settings, lambda: state)
            assert display.view()["live"] is False
            running = asyncio.create_task(display.run())
            await until(lambda: display.version > 0)
            running.cancel()
            return display.view()

    return asyncio.run(look())


def test_a_start_reads_back_what_was_played(tmp_path: Path) -> None:
    game = PlayedJournal()
    game.bet("Señora Ruiz", "pass_line", 500)
    game.do({"shooter": "Señora Ruiz"})
    game.roll((1, 3), (5, 6), (3, 3))
    view = shown(game, tmp_path)
    assert view.pop("run")
    assert view.pop("numbers")["counts"][11] == 1
    assert view == {
        "live": True,
        "open": True,
        "session": 1,
        "house_text": "Good luck",
        "pay_table": True,
        "point": 4,
        "rolls": [[1, 3], [5, 6], [3, 3]],
        "hand": {"rolls": 3, "points_made": 0, "over": False},
    }


@pytest.mark.parametrize(
    ("settings", "missing"),
    [
        (replace(ALL, last_rolls=False), "rolls"),
        (replace(ALL, point=False), "point"),
        (replace(ALL, streak=False), "hand"),
        (replace(ALL, hot_and_cold=False), "numbers"),
    ],
)
def test_each_part_can_be_left_out(tmp_path: Path, settings: PlayersDisplaySettings, missing: str) -> None:
    game = PlayedJournal()
    game.roll((1, 3))
    parts = {"point", "rolls", "hand", "numbers"}
    view = shown(game, tmp_path, settings)
    assert parts - view.keys() == {missing}


def test_where_nothing_can_be_recorded_only_the_house_speaks(tmp_path: Path) -> None:
    game = PlayedJournal()
    game.roll((1, 3))
    view = shown(game, tmp_path, halted="The disk is full.")
    assert view["live"] is False
    assert view.keys() == {"run", "live", "open", "session", "house_text", "pay_table"}


def test_a_table_that_was_opened_long_ago_is_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("device.players_display.TAIL_EVENTS", 1)
    game = PlayedJournal()
    game.roll((1, 3))
    game.bet("1", "field", 5)
    view = shown(game, tmp_path)
    assert (view["open"], view["point"], view["rolls"]) == (True, 4, [])
    assert view["hand"] == {"rolls": None, "points_made": None, "over": False}


def test_an_event_that_it_cannot_read_blanks_it_and_ends_nothing(tmp_path: Path) -> None:
    game = PlayedJournal()
    game.events[-1].data.pop("rule_set")
    folder = write_journal(tmp_path, game.events)

    async def look() -> bool:
        with JournalReader(folder / "journal.db") as reader:
            display = PlayersDisplay(reader, ALL, lambda: {"halted": None, "session_number": 1})
            async with asyncio.timeout(60):
                await display.run()
            live: bool = display.view()["live"]
            return live

    assert asyncio.run(look()) is False
