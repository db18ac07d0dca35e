"""The places of the reserve are told together."""

from drivers.signals import SlotsSeen
from drivers.slots_decoder import SlotsDecoder

NAMES = ("slot_1", "slot_2", "slot_3")


def levels(*occupied: int) -> dict[str, bool]:
    return {f"slot_{place}": place in occupied for place in (1, 2, 3)}


def test_the_places_at_start_are_told_once_and_then_each_change() -> None:
    slots = SlotsDecoder(NAMES, settle_ms=200)
    assert slots.feed(0, levels(1, 3)) == []
    assert slots.unsettled
    assert slots.poll(199) == []
    assert slots.poll(200) == [SlotsSeen((1, 3), initial=True)]
    assert not slots.unsettled
    assert slots.poll(5000) == []
    slots.feed(6000, levels(3))
    assert slots.poll(6200) == [SlotsSeen((3,), initial=False)]


def test_an_empty_reserve_is_told_at_start_too() -> None:
    slots = SlotsDecoder(NAMES, settle_ms=200)
    slots.feed(0, levels())
    assert slots.poll(200) == [SlotsSeen((), initial=True)]


def test_dice_that_are_taken_together_are_one_signal() -> None:
    slots = SlotsDecoder(NAMES, settle_ms=0)
    assert slots.feed(0, levels(1, 2, 3)) == [SlotsSeen((1, 2, 3), initial=True)]
    assert slots.feed(100, levels(2)) == [SlotsSeen((2,), initial=False)]


def test_a_finger_on_a_die_says_nothing() -> None:
    slots = SlotsDecoder(NAMES, settle_ms=200)
    slots.feed(0, levels(1))
    slots.poll(200)
    assert slots.feed(1000, levels()) + slots.feed(1150, levels(1)) + slots.poll(2000) == []


def test_a_place_that_cannot_be_read_counts_as_empty_at_start_and_keeps_its_state_later() -> None:
    slots = SlotsDecoder(NAMES, settle_ms=200)
    slots.feed(0, {"slot_1": True, "slot_3": False})
    assert slots.poll(200) == [SlotsSeen((1,), initial=True)]
    slots.feed(1000, levels(1, 2))
    assert slots.poll(1200) == [SlotsSeen((1, 2), initial=False)]
    slots.feed(2000, {"slot_1": False, "slot_3": False})
    assert slots.poll(2200) == [SlotsSeen((2,), initial=False)]


def test_nothing_is_told_while_no_place_can_be_read() -> None:
    slots = SlotsDecoder(NAMES, settle_ms=200)
    assert slots.feed(0, {}) + slots.poll(5000) == []
