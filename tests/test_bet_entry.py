"""Pressing, repeating and proposals: what is booked follows the rules of bets entered by hand, once, in one commit."""

from typing import Any

import pytest

from device.bet_entry import press, put_all, quick_bets, repeat
from device.origin import Origin
from device.proposals import WAITING_MAX, Moment, Proposal, ProposalDesk, accept, was_accepted
from device.recorder import Busy, IdReused
from engine_lite.refusal import Refused
from tests.test_session import Recorder, terms


def console(command: str | None = None) -> Origin:
    return Origin("console", command)


def layout(table: Recorder) -> list[tuple[str, str, int | None, int]]:
    assert table.session.table is not None
    return [(bet["player"], bet["kind"], bet["number"], bet["amount"]) for bet in table.session.table.bets()]


def opened(minimum: int, maximum: int, rules: str = "us-vegas") -> Recorder:
    table = Recorder()
    table.keep(table.session.open_table(terms(rules, minimum, maximum), Origin("configuration")))
    return table


def refused(entries: Any) -> str:
    with pytest.raises(Refused) as error:
        entries()
    return error.value.code


@pytest.mark.parametrize(
    ("kind", "number", "minimum", "stands", "by", "becomes"),
    [
        # A six pays 7 to 6: of 6 and more it is paid exactly; a five pays 7 to 5.
        ("place", 6, 5, 12, "unit", 18),
        ("place", 6, 25, 30, "unit", 60),
        ("place", 5, 5, 10, "unit", 15),
        ("place", 4, 25, 25, "unit", 50),
        ("field", None, 5, 5, "unit", 10),
        ("place", 8, 5, 12, "double", 24),
    ],
)
def test_a_press_adds_one_unit_that_is_paid_exactly_or_doubles(
    kind: str, number: int | None, minimum: int, stands: int, by: str, becomes: int
) -> None:
    table = opened(minimum, 1000)
    table.bet("3", kind, stands, number)
    table.keep(press(table.session, "3", kind, number, by, console("press-0001")))
    assert layout(table) == [("3", kind, number, becomes)]
    kind_of_event, data = table.entries[-1]
    assert kind_of_event == "bet"
    assert data["step"]["bet"]["amount"] == becomes - stands
    assert table.replayed().snapshot() == table.session.snapshot()


def test_a_press_of_what_stands_no_more_puts_nothing_down_and_the_maximum_holds() -> None:
    table = opened(5, 20)
    assert refused(lambda: press(table.session, "3", "place", 6, "double", console())) == "no_such_bet"
    table.bet("3", "place", 12, 6)
    before = table.session.snapshot()
    assert refused(lambda: press(table.session, "3", "place", 6, "double", console())) == "above_max"
    assert table.session.snapshot() == before


def test_repeat_puts_down_what_the_seven_took_as_far_as_the_come_out_allows_it() -> None:
    table = opened(5, 1000)
    table.bet("3", "pass_line", 10)
    table.bet("4", "pass_line", 20)
    table.do({"roll": [4, 2]})
    table.bet("3", "pass_odds", 20)
    table.bet("3", "place", 10, 5)
    table.bet("3", "come", 10)
    table.do({"roll": [5, 4]})
    table.do({"roll": [3, 4]})
    assert layout(table) == []
    offered = quick_bets(table.session, "3")
    assert offered["repeat"] == [
        {"kind": "pass_line", "amount": 10},
        {"kind": "place", "amount": 10, "number": 5},
    ]
    assert [(bet["kind"], bet["refused"]) for bet in offered["not_allowed"]] == [
        ("come", "not_now"),
        ("pass_odds", "needs_parent"),
    ]
    before = len(table.entries)
    table.keep(repeat(table.session, "3", console("repeat-01")))
    assert layout(table) == [("3", "pass_line", None, 10), ("3", "place", 5, 10)]
    assert [(kind, data["asked"], data["command"]) for kind, data in table.entries[before:]] == [
        ("bet", {"repeat": "3"}, "repeat-01")
    ] * 2
    # Nothing is left to repeat but what is not allowed; another player's bets are his.
    assert refused(lambda: repeat(table.session, "3", console())) == "not_now"
    assert quick_bets(table.session, "4")["repeat"] == [{"kind": "pass_line", "amount": 20}]
    assert refused(lambda: repeat(table.session, "5", console())) == "nothing_to_repeat"
    assert table.replayed().snapshot() == table.session.snapshot()


def test_the_limits_of_odds_and_of_what_stands_are_told_before_anything_is_put_down() -> None:
    table = opened(5, 500)
    table.bet("3", "pass_line", 10)
    table.bet("4", "dont_pass", 30)
    # Nobody has odds before a point; what stands may be added to by one, up to the table's highest bet.
    assert quick_bets(table.session, "3")["limits"] == [{"kind": "pass_line", "number": None, "min": 1, "max": 490}]
    assert quick_bets(table.session, "5")["limits"] == []
    table.do({"roll": [6, 2]})
    told = {(one["kind"], one["number"]): one for one in quick_bets(table.session, "3")["limits"]}
    odds = told["pass_odds", 8]
    assert refused(lambda: table.bet("3", "pass_odds", odds["max"] + odds["min"], 8)) == "above_max"
    table.bet("3", "pass_odds", odds["max"], 8)
    full = next(one for one in quick_bets(table.session, "3")["limits"] if one["kind"] == "pass_odds")
    assert full["max"] == 0
    others = {(one["kind"], one["number"]) for one in quick_bets(table.session, "4")["limits"]}
    assert ("dont_pass_odds", 8) in others
    assert ("pass_odds", 8) not in others


def test_repeat_looks_past_rolls_that_took_nothing_and_leaves_alone_what_stands() -> None:
    table = opened(5, 1000)
    table.bet("3", "pass_line", 10)
    table.do({"roll": [4, 2]})
    table.bet("3", "field", 5)
    table.bet("3", "place", 12, 8)
    # The field loses on five; the line and the place bet stand. Then a roll that decides nothing.
    table.do({"roll": [2, 3]})
    table.do({"roll": [2, 3]})
    assert quick_bets(table.session, "3")["repeat"] == [{"kind": "field", "amount": 5}]
    table.keep(repeat(table.session, "3", console()))
    assert ("3", "field", None, 5) in layout(table)
    assert quick_bets(table.session, "3")["repeat"] == []


def test_what_was_repeated_is_taken_along_by_a_correction() -> None:
    table = opened(5, 1000)
    table.bet("3", "field", 5)
    table.do({"roll": [2, 3]})
    table.keep(repeat(table.session, "3", console()))
    # Nine it was: the field won and its stake went back; the one laid since stands.
    table.do({"correct": [5, 4]})
    assert layout(table) == [("3", "field", None, 5)]
    assert table.replayed().snapshot() == table.session.snapshot()


def test_several_bets_are_put_down_all_or_none() -> None:
    table = opened(5, 1000)
    bets = [
        {"player": "1", "kind": "pass_line", "amount": 10},
        {"player": "2", "kind": "come", "amount": 10},
    ]
    before = table.session.snapshot()
    assert refused(lambda: put_all(table.session, bets, {}, console())) == "not_now"
    assert table.session.snapshot() == before
    table.keep(put_all(table.session, bets[:1], {"accept": {}}, console()))
    assert layout(table) == [("1", "pass_line", None, 10)]


# Proposals


class Desk:
    """A desk at a moment that the test moves on."""

    def __init__(self) -> None:
        self.moment = Moment(1, 0, is_open=True)
        self.changes = 0
        self.desk = ProposalDesk(lambda: self.moment, self._changed)

    def _changed(self) -> None:
        self.changes += 1


def proposal(number: int = 1, *, after_roll: int = 0, amount: int = 10) -> Proposal:
    bet = {"player": "1", "kind": "pass_line", "amount": amount}
    return Proposal("tray", f"proposal-{number}", after_roll, (bet,))


def test_a_proposal_waits_and_is_told_of_until_the_next_roll_ends_it() -> None:
    table = Desk()
    assert table.desk.offer(proposal(), accepted=False) == "waiting"
    assert table.changes == 1
    assert [one["proposal"] for one in table.desk.view()] == ["proposal-1"]
    assert table.desk.offer(proposal(), accepted=False) == "waiting"
    assert len(table.desk.view()) == 1
    with pytest.raises(IdReused):
        table.desk.offer(proposal(amount=20), accepted=False)
    table.moment = Moment(1, 1, is_open=True)
    assert table.desk.view() == []
    assert table.desk.offer(proposal(), accepted=False) == "expired"
    assert refused(lambda: table.desk.waiting(("tray", "proposal-1"))) == "proposal_gone"
    assert refused(lambda: table.desk.offer(proposal(2), accepted=False)) == "stale"


@pytest.mark.parametrize("moment", [Moment(1, 0, is_open=False), Moment(2, 0, is_open=True)])
def test_a_proposal_ends_with_the_session(moment: Moment) -> None:
    table = Desk()
    table.desk.offer(proposal(), accepted=False)
    table.moment = moment
    assert table.desk.view() == []


def test_no_proposal_is_held_while_the_table_is_closed_and_no_more_than_a_boxman_reads() -> None:
    table = Desk()
    for number in range(WAITING_MAX):
        table.desk.offer(proposal(number), accepted=False)
    with pytest.raises(Busy):
        table.desk.offer(proposal(99), accepted=False)
    table.moment = Moment(1, 0, is_open=False)
    assert refused(lambda: table.desk.offer(proposal(99), accepted=False)) == "not_now"


def test_a_proposal_that_was_refused_is_not_shown_again_and_can_be_refused_twice() -> None:
    table = Desk()
    key = ("tray", "proposal-1")
    table.desk.offer(proposal(), accepted=False)
    table.desk.refuse(key)
    table.desk.refuse(key)
    assert table.desk.view() == []
    assert table.desk.offer(proposal(), accepted=False) == "refused"
    assert refused(lambda: table.desk.waiting(key)) == "proposal_gone"
    assert refused(lambda: table.desk.refuse(("tray", "proposal-2"))) == "proposal_gone"


def test_an_accepted_proposal_is_booked_once_with_its_source_and_known_after_a_restart() -> None:
    table = opened(5, 1000)
    origin = Origin("console", "accept-01", source=("tray", "proposal-1"))
    table.keep(accept(table.session, proposal(), origin))
    _, data = table.entries[-1]
    assert (data["source"], data["proposal"]) == ("tray", "proposal-1")
    assert layout(table) == [("1", "pass_line", None, 10)]
    assert refused(lambda: accept(table.session, proposal(), origin)) == "proposal_gone"
    again = table.replayed()
    assert was_accepted(again, ("tray", "proposal-1"))
    assert not was_accepted(again, ("tray", "proposal-2"))
    # What the journal says is told to a source that asks anew.
    assert Desk().desk.offer(proposal(), accepted=True) == "accepted"


def test_a_proposal_is_not_accepted_after_another_roll() -> None:
    table = opened(5, 1000)
    table.bet("1", "field", 5)
    table.do({"roll": [3, 4]})
    assert refused(lambda: accept(table.session, proposal(), console())) == "stale"
