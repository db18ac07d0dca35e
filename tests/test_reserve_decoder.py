"""The lid of the dice reserve."""

from drivers.reserve_decoder import ReserveDecoder
from drivers.signals import ReserveClosed, ReserveOpened


def test_the_lid_at_start_is_reported_as_initial_and_then_each_change() -> None:
    reserve = ReserveDecoder(settle_ms=50)
    assert reserve.feed(0, True) == []
    assert reserve.feed(50, True) == [ReserveClosed(initial=True)]
    assert reserve.feed(100, False) == []
    assert reserve.feed(120, True) == [], "a rattle"
    assert reserve.feed(200, False) == []
    assert reserve.poll(250) == [ReserveOpened(initial=False)]
    assert reserve.feed(300, True) == []
    assert reserve.poll(350) == [ReserveClosed(initial=False)]


def test_a_lid_that_is_open_at_start_is_reported_as_initial() -> None:
    reserve = ReserveDecoder(settle_ms=50)
    reserve.feed(0, False)
    assert reserve.poll(50) == [ReserveOpened(initial=True)]
