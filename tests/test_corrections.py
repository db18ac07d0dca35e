"""Earlier rolls corrected by a supervisor: as if the right dice had been entered at once; settlements and limits."""

import json
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from device import roll_history, session_corrections
from device.dice_control.dice_history import history
from device.origin import Origin
from device.session import Session
from device.session_snapshot import restore
from engine_lite.refusal import Refused
from engine_lite.table import Table
from tests.dice_journal import DiceJournal
from tests.test_session import Recorder, terms

SUPERVISOR = Origin("console", person="Marta Gil")
THROWS = st.tuples(st.integers(1, 6), st.integers(1, 6))
PLAYERS = ("1", "2")
SOME_BETS: tuple[dict[str, Any], ...] = (
    {"kind": "pass_line", "amount": 10},
    {"kind": "dont_pass", "amount": 10},
    {"kind": "come", "amount": 10},
    {"kind": "field", "amount": 5},
    {"kind": "place", "amount": 12, "number": 6},
    {"kind": "buy", "amount": 20, "number": 4},
    {"kind": "hardway", "amount": 5, "number": 8},
    {"kind": "pass_odds", "amount": 10},
)
STEPS = st.one_of(
    st.builds(
        lambda player, bet: {"bet": {"player": player} | bet}, st.sampled_from(PLAYERS), st.sampled_from(SOME_BETS)
    ),
    st.builds(lambda dice: {"roll": list(dice)}, THROWS),
    st.builds(lambda dice: {"roll": list(dice)}, THROWS),
    st.builds(lambda on, number: {"working": {"on": on, "number": number}}, st.booleans(), st.sampled_from([4, 6])),
    st.builds(lambda player: {"shooter": player}, st.sampled_from(PLAYERS)),
)


def at_table(table: Recorder) -> Table:
    assert table.session.table is not None
    return table.session.table


def correct(table: Recorder, number: int, dice: tuple[int, int], reason: str = "camera") -> dict[str, Any]:
    """What the event of a correction holds."""
    at = table.session.game_seq
    entries = table.keep(session_corrections.correct_roll(table.session, number, dice, reason, at, SUPERVISOR))
    return entries[0][1]


def look(table: Recorder, number: int, dice: tuple[int, int]) -> dict[str, Any]:
    return session_corrections.look_at_correction(table.session, number, dice)


def game(session: Session) -> dict[str, Any]:
    """The game, but for players who have neither won nor lost."""
    assert session.table is not None
    state = session.table.snapshot()
    for part in (state, state["before"] or {}):
        part["players"] = [said for said in part.get("players", []) if said[1]]
    series = (session.rolls_in_series, session.series_before_roll)
    return {"table": state, "recent": session.recent_rolls, "series": series, "terms": session.terms}


@settings(max_examples=60)
@given(steps=st.lists(STEPS, min_size=3, max_size=25), which=st.integers(0, 24), right=THROWS, again=st.booleans())
def test_a_corrected_roll_is_the_session_played_with_the_right_dice_from_the_start(
    steps: list[dict[str, Any]], which: int, right: tuple[int, int], again: bool
) -> None:
    table = Recorder()
    done = []
    for step in steps:
        try:
            table.do(step)
        except Refused:
            continue
        done.append(step)
    rolls = [place for place, step in enumerate(done) if "roll" in step]
    assume(len(rolls) > 1)
    number = which % (len(rolls) - 1) + 1
    assume(sorted(done[rolls[number - 1]]["roll"]) != sorted(right))
    other = Recorder()
    blocked_after = None
    for place, step in enumerate(done):
        try:
            other.do({"roll": list(right)} if place == rolls[number - 1] else step)
        except Refused:
            if "working" not in step:
                blocked_after = sum(roll < place for roll in rolls)
                break
    before = table.session.snapshot()
    said = look(table, number, right)
    assert table.session.snapshot() == before, "looking changes nothing"
    if blocked_after is not None:
        assert said["blocked"]["after"] == blocked_after
        with pytest.raises(Refused, match="blocked"):
            correct(table, number, right)
        assert table.session.snapshot() == before
        return
    data = correct(table, number, right)
    assert game(table.session) == game(other.session)
    assert data["point"]["becomes"] == other.session.point
    wealth = {one["player"]: one["difference"] for one in data["players"]}
    # Who had neither won nor lost until then may be named only afterwards.
    then = dict(before["table"]["players"])
    assert {name: amount - then.get(name, 0) for name, amount in at_table(table).players.items()} == {
        name: wealth.get(name, 0) for name in at_table(table).players
    }
    assert table.replayed().snapshot() == table.session.snapshot()
    snapshot = json.loads(json.dumps(table.session.snapshot()))
    assert json.dumps(restore(snapshot).snapshot()) == json.dumps(table.session.snapshot())
    if again and not any("working" in step for step in done):
        # Corrected back, nothing has happened; but for buttons, which may have been left without a bet meanwhile.
        wrong = done[rolls[number - 1]]["roll"]
        correct(table, number, (wrong[0], wrong[1]))
        plain = Recorder()
        for step in done:
            plain.do(step)
        assert game(table.session) == game(plain.session)


def played() -> Recorder:
    """Three rolls: six is the point, an eleven that was a five-four, and the seven that ended the hand."""
    table = Recorder()
    table.bet("3", "pass_line", 10)
    table.do({"roll": [2, 4]})
    table.bet("5", "field", 5)
    table.bet("7", "place", 12, 8)
    table.do({"roll": [5, 6]})
    return table


def test_the_differences_say_who_gets_what_and_the_wrong_roll_stays_in_the_journal() -> None:
    table = played()
    table.bet("5", "field", 5)
    table.do({"roll": [1, 4]})
    seqs = [roll.seq for roll in table.session.history]
    # Six-two is no field number and the eight is placed. 5 had got 10 back and bet 5 of it: now
    # only the 5 are gone. 7 wins 14 for 12.
    said = look(table, 2, (6, 2))
    assert said["players"] == [
        {"player": "5", "was": 5, "becomes": -5, "difference": -10},
        {"player": "7", "was": 0, "becomes": 14, "difference": 14},
    ]
    assert (said["point"], said["bets"], said["blocked"]) == ({"was": 6, "becomes": 6}, [], None)
    data = correct(table, 2, (6, 2))
    assert (data["corrects"], data["was"], data["dice"]) == (seqs[1], [5, 6], [6, 2])
    assert (data["person"], data["reason"]) == ("Marta Gil", "camera")
    # The field of the roll after it loses as it did.
    assert [roll["number"] for roll in data["rolls"]] == [2]
    assert [kind for kind, _ in table.entries if kind == "roll"] == ["roll"] * 3
    assert table.session.recent_rolls == [[2, 4], [6, 2], [1, 4]]
    (alert,) = table.session.alerts.values()
    assert alert["text"] == "Roll 2 was corrected to 6-2. Hand out 14 to 7. Take back 10 from 5."


def test_what_could_not_have_happened_forbids_a_correction_and_leaves_what_the_roll_owes() -> None:
    table = played()
    # With the six made at once, the come-out would take no come bet.
    table.bet("2", "come", 10)
    table.do({"roll": [1, 2]})
    said = look(table, 2, (3, 3))
    assert said["blocked"]["after"] == 2
    assert said["blocked"]["step"] == {"bet": {"player": "2", "kind": "come", "amount": 10}}
    assert said["blocked"]["refused"] == "not_now"
    # Pass line 10 won and is back, 20 in hand; the field loses what it had won, 5, and its 5.
    assert said["adjustments"] == [{"player": "3", "amount": 10}, {"player": "5", "amount": -10}]
    house = at_table(table).house
    asked = (2, said["adjustments"], "camera", table.session.game_seq, SUPERVISOR)
    ((kind, data),) = table.keep(session_corrections.adjust_settlement(table.session, *asked))
    assert (kind, data["corrects"]) == ("settlement_adjusted", table.session.history[1].seq)
    assert at_table(table).house == house
    assert (at_table(table).players["3"], at_table(table).point) == (-10 + 10, 6)
    assert table.replayed().snapshot() == table.session.snapshot()


def test_the_last_roll_is_corrected_as_the_boxman_does_it_with_the_reason() -> None:
    table = played()
    table.bet("2", "come", 10)
    said = look(table, 2, (3, 3))
    # The come bet goes back, as it does for the boxman.
    assert said["is_last"]
    assert [bet["becomes"] for bet in said["bets"] if bet["kind"] == "come"] == [0]
    data = correct(table, 2, (3, 3))
    assert table.entries[-1][0] == "correct"
    assert (data["reason"], data["person"], data["results"][-1]["result"]) == ("camera", "Marta Gil", "return")
    assert table.replayed().snapshot() == table.session.snapshot()


def test_what_was_looked_at_before_the_game_went_on_is_not_confirmed() -> None:
    table = played()
    at = table.session.game_seq
    look(table, 1, (2, 2))
    table.keep(table.session.puck_seen(1, "lifted", None, None, {"initial": False}))
    assert table.session.game_seq == at, "what is no part of the game ages no look at it"
    table.bet("9", "field", 5)
    with pytest.raises(Refused, match="stale"):
        session_corrections.correct_roll(table.session, 1, (2, 2), "camera", at, SUPERVISOR)
    more = [{"player": "3", "amount": 1}]
    with pytest.raises(Refused, match="stale"):
        session_corrections.adjust_settlement(table.session, 1, more, "camera", at, SUPERVISOR)


def test_limits_change_for_what_is_put_down_from_then_on_and_a_correction_goes_by_those_of_then() -> None:
    table = played()
    table.bet("9", "place", 6, 6)
    table.keep(session_corrections.change_limits(table.session, 25, 500, SUPERVISOR))
    with pytest.raises(Refused, match="the minimum is 25"):
        table.bet("8", "field", 10)
    table.bet("8", "field", 25)
    # The boxman corrects the last roll: 9's six was put down under the limits of then, and stands.
    table.do({"correct": [5, 4]})
    assert {bet["player"]: bet["amount"] for bet in at_table(table).bets()} == {"3": 10, "7": 12, "9": 6, "8": 25}
    table.do({"roll": [1, 2]})
    assert look(table, 1, (5, 1))["blocked"] is None
    correct(table, 1, (5, 1))
    assert (at_table(table).minimum, at_table(table).maximum) == (25, 500)
    assert table.replayed().snapshot() == table.session.snapshot()
    with pytest.raises(Refused, match="bad_limits"):
        session_corrections.change_limits(table.session, 600, 500, SUPERVISOR)


def test_only_rolls_of_this_session_that_are_kept_can_be_corrected() -> None:
    table = Recorder()
    for _ in range(roll_history.ROLLS_MAX + 1):
        table.do({"roll": [1, 2]})
    with pytest.raises(Refused, match="none of the last 60"):
        look(table, 1, (1, 1))
    assert look(table, 2, (1, 1))["players"] == []
    table.keep(table.session.close_table(Origin("console")))
    with pytest.raises(Refused, match="the table is closed"):
        look(table, 2, (1, 1))
    table.keep(table.session.open_table(terms(), Origin("console")))
    with pytest.raises(Refused, match="none of the last 60"):
        look(table, 61, (1, 1))


def test_fewer_rolls_are_kept_where_much_was_done_between_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roll_history, "STEPS_MAX", 10)
    table = Recorder()
    for number in range(4):
        for player in range(4):
            table.bet(f"{number}{player}", "field", 5)
        table.do({"roll": [1, 2]})
    # The rolls 3 and 4 have four bets each before them; those before the oldest that is kept are in its state.
    assert [roll.number for roll in table.session.history] == [2, 3, 4]


def test_the_faces_of_a_corrected_roll_count_for_the_set_that_was_thrown() -> None:
    journal = DiceJournal()
    journal.do("on_duty", boxman="Ana", witness="Luis")
    journal.set_up("A", dice=5)
    first = journal.roll(5, 4)
    journal.roll(2, 2, number=2)
    for dice in ([5, 5], [1, 1]):
        journal.take("roll_corrected", {"corrects": first, "dice": dice, "point": {"was": None, "becomes": 4}})
    found = history(journal.journal)
    assert found.rolls["A"].faces == [2, 2, 0, 0, 0, 0]
    assert found.rolls["A"].rolls == 2


@pytest.mark.parametrize("players", [[], ["3", "3"]], ids=["nobody", "one twice"])
def test_an_adjustment_names_each_player_once(players: list[str]) -> None:
    table = played()
    before = table.session.snapshot()
    adjustments = [{"player": player, "amount": 5} for player in players]
    with pytest.raises(Refused, match="bad_adjustment"):
        session_corrections.adjust_settlement(
            table.session, 1, adjustments, "camera", table.session.game_seq, SUPERVISOR
        )
    assert table.session.snapshot() == before


def test_what_was_added_to_a_line_bet_is_a_line_bet_where_the_point_was_none() -> None:
    table = Recorder()
    table.bet("1", "pass_line", 10)
    table.do({"roll": [1, 3]})
    table.bet("1", "pass_line", 10)
    table.do({"roll": [1, 2]})
    # With two at once, the first ten are lost, the other ten are a bet on the come-out, and three takes them too.
    correct(table, 1, (1, 1))
    assert (at_table(table).players["1"], at_table(table).bets(), at_table(table).point) == (-20, [], None)


def test_a_session_restored_from_its_snapshot_corrects_as_the_one_that_went_on() -> None:
    table = played()
    table.bet("9", "place", 6, 6)
    table.do({"roll": [1, 4]})
    table.do({"roll": [1, 2]})
    restored = restore(json.loads(json.dumps(table.session.snapshot())))
    for number in (2, 3):
        said = session_corrections.look_at_correction(restored, number, (3, 3))
        assert said == look(table, number, (3, 3))
    # The six pays 9 seven for six.
    assert [one for one in said["players"] if one["player"] == "9"] == [
        {"player": "9", "was": 0, "becomes": 7, "difference": 7}
    ]
