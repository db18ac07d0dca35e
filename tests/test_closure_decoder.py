"""The lid of the dice reserve, and the cabinet's door, which is read in the same way."""

from drivers.closure_decoder import door_decoder, lid_decoder
from drivers.signals import DoorClosed, DoorOpened, ReserveClosed, ReserveOpened


def test_the_lid_at_start_is_reported_as_initial_and_then_each_change() -> None:
    reserve = lid_decoder(settle_ms=50)
    assert reserve.feed(0, {"lid": True}) == []
    assert reserve.feed(50, {"lid": True}) == [ReserveClosed(initial=True)]
    assert reserve.feed(100, {"lid": False}) == []
    assert reserve.feed(120, {"lid": True}) == [], "a rattle"
    assert reserve.feed(200, {"lid": False}) == []
    assert reserve.poll(250) == [ReserveOpened(initial=False)]
    assert reserve.feed(300, {"lid": True}) == []
    assert reserve.poll(350) == [ReserveClosed(initial=False)]


def test_a_lid_that_is_open_at_start_is_reported_as_initial() -> None:
    reserve = lid_decoder(settle_ms=50)
    reserve.feed(0, {"lid": False})
    assert reserve.poll(50) == [ReserveOpened(initial=True)]


def test_a_lid_that_could_not_be_read_is_found_as_it_is() -> None:
    reserve = lid_decoder(settle_ms=50)
    reserve.feed(0, {"lid": True})
    assert reserve.poll(50) == [ReserveClosed(initial=True)]
    assert not reserve.unsettled
    assert reserve.feed(1000, {}) + reserve.feed(2000, {}) == []
    assert reserve.feed(3000, {"lid": False}) == []
    assert reserve.unsettled
    assert reserve.feed(3050, {"lid": False}) == [ReserveOpened(initial=True)]
    assert reserve.feed(4000, {}) + reserve.feed(5000, {"lid": False}) == []
    assert reserve.poll(5050) == [ReserveOpened(initial=True)], "also where it is as it was"


def test_without_a_settle_time_a_level_counts_at_once() -> None:
    reserve = lid_decoder(settle_ms=0)
    assert reserve.feed(0, {"lid": True}) == [ReserveClosed(initial=True)]
    assert reserve.feed(0, {"lid": False}) == [ReserveOpened(initial=False)]


def test_the_door_is_read_from_its_own_input() -> None:
    door = door_decoder(settle_ms=50)
    assert door.feed(0, {"door": True, "lid": False}) == []
    assert door.feed(50, {"door": True, "lid": False}) == [DoorClosed(initial=True)]
    assert door.feed(100, {"door": False}) == []
    assert door.poll(150) == [DoorOpened(initial=False)]
    assert door.feed(200, {"lid": True}) + door.feed(300, {"door": False}) == []
    assert door.poll(350) == [DoorOpened(initial=True)]
