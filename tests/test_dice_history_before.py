"""What the reports know where the oldest events were pruned: from the state that stands for them."""

from datetime import UTC

from device.dice_control.dice_history import History, history
from device.dice_control.report_words import Words
from device.dice_control.status_texts import die_places, status_facts, unexplained_texts
from device.session import Session
from tests.dice_journal import SERIALS, DiceJournal

EN = Words("en")


def table() -> DiceJournal:
    """A set is at the table, dice lie in the slots, and the lid was opened for it."""
    journal = DiceJournal("es-1979", "2026-11-29T20:00:00.000Z")
    journal.do("on_duty", boxman="Ana", witness="Luis")
    journal.receive("A", serials=SERIALS, house_mark="CM")
    journal.inspect(set="A")
    slots(journal, 1, 2, 3, 4)
    return journal


def slots(journal: DiceJournal, *occupied: int) -> int:
    data = {"occupied": list(occupied), "initial": False, "lid": "shut"}
    journal.log.take("slots", data, journal.seq + 1)
    return journal.take("slots", data)


def pruned(journal: DiceJournal) -> Session:
    """The session after all events until now, which stands for them from here on."""
    session = Session()
    session.dice, session.seq = journal.log, journal.seq
    session.session_number, session.is_open = 1, True
    return session


def read_on(journal: DiceJournal, before: Session, first: int) -> History:
    return history([event for event in journal.journal if event.seq > first], before)


def test_the_reserve_that_was_shut_is_shut_and_a_change_in_it_is_one() -> None:
    journal = table()
    journal.lid_opened_for(1)
    before, first = pruned(journal), journal.seq
    state = before.dice.state
    assert (state.reserve_open, state.slots) == (False, [1, 2, 3, 4])
    found = read_on(journal, before, first)
    assert found.reserve_open is False
    assert ("Reserve", "closed") in status_facts(found, EN, UTC)
    changed = journal.take("slots", {"occupied": [1, 2], "initial": False, "lid": "shut"})
    (row,) = [row for row in read_on(journal, before, first).rows if row.what == "slots_changed_shut"]
    assert (row.seq, row.slots) == (changed, ((1, 2, 3, 4), (1, 2)))


def test_an_opening_that_was_not_over_ends_with_its_closing_and_waits_for_its_reason() -> None:
    journal = table()
    opened = journal.lid(True)
    first = journal.seq
    found = read_on(journal, pruned(journal), first)
    assert found.reserve_open is True
    (opening,) = found.openings
    assert (opening.row.seq, opening.closed) == (opened, None)
    journal.wait(5)
    closed = journal.lid(False)
    (opening,) = history(journal.journal[first:], _opened(opened, journal)).openings
    assert (opening.row.seq, opening.closed, opening.open_ms, opening.is_explained) == (opened, closed, None, False)
    journal.do("explain", reason="boxman_order", as_="boxman")
    (opening,) = history(journal.journal[first:], _opened(opened, journal)).openings
    assert (opening.reason, opening.explained_by) == ("boxman_order", "Ana")


def _opened(opening: int, journal: DiceJournal) -> Session:
    """The session as it was while this opening was not over: the log goes on, so its state is made anew."""
    before = DiceJournal("es-1979", "2026-11-29T20:00:00.000Z")
    for kind, data in journal.events[2:opening]:
        if kind == "slots":
            before.log.take(kind, data, before.seq + 1)
        before.take(kind, data)
    return pruned(before)


def test_an_opening_that_waits_is_told_in_the_status_with_who_is_on_duty_and_how_each_die_was_found() -> None:
    journal = table()
    opened = journal.lid_opened_for(1)
    found = read_on(journal, pruned(journal), journal.seq)
    assert unexplained_texts(found, EN) == [f"Reserve opened (event {opened}): NOT EXPLAINED"]
    assert ("On duty", "Ana, Luis (session 1)") in status_facts(found, EN, UTC)
    assert {(die.place, die.state) for die in die_places(found, EN)} == {("in the store", "sound")}
