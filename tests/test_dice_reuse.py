"""What comes back: sets after a session, numbers of destroyed dice, dice that were withdrawn or unsound."""

from typing import Any

import pytest

from device.dice_control import dice_state
from engine_lite.refusal import Refused
from tests.dice_table import SERIALS, DiceTable, broken

MARKED: dict[str, Any] = {"serials": SERIALS, "house_mark": "CGM"}
D1, D2, D3, D4, D5, D6 = SERIALS
CORRECTION = ("correction", "house")


def in_play() -> DiceTable:
    """In Spain, two dice in play, four in the reserve, the lid shut."""
    table = DiceTable("es-1979")
    table.set_up(**MARKED)
    table.lid(False, initial=True)
    return table


def test_a_session_without_a_roll_does_not_let_a_set_serve_again() -> None:
    # Spain II.1: "distintos de los usados en la sesión anterior"
    table = in_play()
    table.throw()
    table.lid(True)
    table.do("remove", set="A", to="store", reason="closing")
    for session in (6, 7):
        table.game(session_number=session)
        table.do("on_duty", boxman="Ana", witness="Luis")
        table.do("place", set="A")
        table.do("change", taken=[D1, D2])
        table.do("remove", set="A", to="store", reason="closing")
        table.throw()
    table.game(session_number=8)
    table.do("on_duty", boxman="Ana", witness="Luis")
    data = table.do("place", set="A")
    assert broken(data) == [("reuse", "II.1")], "rolls without dice by the log are no session either"
    assert data["against_rule"][0]["detail"] == {"set": "A", "session": 5}


def test_the_session_before_is_the_one_before_this_also_when_this_one_has_begun() -> None:
    table = in_play()
    table.throw()
    table.lid(True)
    table.do("remove", set="A", to="store", reason="closing")
    for session, name in ((6, "B"), (7, "C")):
        table.game(session_number=session)
        table.do("on_duty", boxman="Ana", witness="Luis")
        table.receive(name, 6)
        table.do("place", set=name)
        table.do("change", set=name, taken=["1", "2"])
        table.throw()
        table.do("remove", set=name, to="store", reason="new_set")
    assert broken(table.do("place", set="A")) == []
    table.do("remove", set="A", to="store", reason="new_set")
    assert ("reuse", "II.1") in broken(table.do("place", set="B"))


def test_a_roll_with_no_dice_in_play_counts_for_the_sets_at_the_table() -> None:
    table = in_play()
    table.lid(True)
    table.do("offer")
    table.throw()
    table.do("remove", set="A", to="store", reason="closing")
    table.game(session_number=6)
    table.do("on_duty", boxman="Ana", witness="Luis")
    assert broken(table.do("place", set="A")) == [("reuse", "II.1")]


# Destroyed dice


def test_the_number_of_a_destroyed_die_that_comes_back_is_an_alarm() -> None:
    table = DiceTable("es-1979")
    table.receive(**MARKED)
    table.do("remove", set="A", to="destroyed", reason="damage", dice=[D1])
    data = table.receive("B", 2, serials=[D1, "7"], house_mark="CGM")
    assert broken(data) == [("in_set", "II.1"), ("destroyed", "house")]
    table.do("remove", set="A", to="destroyed", reason="damage")
    assert "A" not in table.log.state.sets, "what is over takes no room"
    with pytest.raises(Refused, match="no set A was received"):
        table.do("inspect", set="A", checks={"sound": True})
    data = table.receive("C", 3, serials=[D2, "8", D3], house_mark="CGM")
    assert data["against_rule"][1] == {
        "rule": "destroyed",
        "article": "house",
        "text": f"Dice {D2} and {D3} of set C: dice of these numbers were destroyed in set A.",
        "detail": {"set": "C", "dice": [D2, D3], "others": ["A"]},
    }
    other_maker = {"set": "D", "dice": 2, "maker": "Gem", "colour": "red", "serials": [D4, D5]}
    assert broken(table.do("receive", **other_maker)) == [("in_set", "II.1")]
    with pytest.raises(Refused, match="a set A was received before, and destroyed"):
        table.receive("a", 5)
    assert table.replayed().snapshot() == table.log.snapshot()


def test_so_many_destroyed_sets_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    assert dice_state.DESTROYED_MAX == 10_000
    monkeypatch.setattr(dice_state, "DESTROYED_MAX", 2)
    table = DiceTable()
    for name in "ABC":
        table.receive(name, 5)
        table.do("remove", set=name, to="destroyed", reason="damage")
    assert (list(table.log.state.sets), list(table.log.state.destroyed)) == ([], ["B", "C"])


# What is final


def test_a_withdrawn_die_does_not_come_back_as_lost_and_found() -> None:
    table = in_play()
    table.lid(True)
    table.do("remove", set="A", dice=[D6], to="withdrawn", reason="damage")
    final = ("final", "house")
    data = table.do("missing", dice=[D6])
    assert data["against_rule"] == [
        {
            "rule": "final",
            "article": "house",
            "text": "Die 004716 of set A was withdrawn or cancelled before.",
            "detail": {"set": "A", "dice": [D6]},
        }
    ]
    assert broken(table.do("correction", places={D6: "inspection"}, note="x")) == [CORRECTION, final]
    table.do("missing", dice=[D6])
    assert broken(table.do("found", die=D6)) == [final]


def test_an_unsound_die_is_not_called_sound_without_a_mark() -> None:
    table = in_play()
    table.lid(True)
    table.inspect(dice=[D3], unsound={D3: "chipped"})
    data = table.inspect(dice=[D3])
    assert data["against_rule"] == [
        {
            "rule": "sound",
            "article": "III",
            "text": "Die 004713 of set A called sound; unsound before: chipped.",
            "detail": {"set": "A", "dice": [D3], "before": "chipped"},
        }
    ]
    assert broken(table.inspect(dice=[D3])) == [], "said once"
