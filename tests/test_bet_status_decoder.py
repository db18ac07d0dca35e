"""A box button picks, a status button sets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.bet_status_decoder import BUTTONS, BetStatusDecoder
from drivers.signals import BetStatusKeyed, BoxPicked, ButtonHeldAtStart, Signal, Status

SETTLE_MS = 20
PICK_MS = 10_000


def quiet() -> BetStatusDecoder:
    buttons = BetStatusDecoder(settle_ms=SETTLE_MS, pick_ms=PICK_MS)
    buttons.feed(0, dict.fromkeys(BUTTONS, False))
    assert buttons.poll(SETTLE_MS) == []
    return buttons


def press(buttons: BetStatusDecoder, at_ms: int, *names: str) -> list[Signal]:
    signals = buttons.feed(at_ms, dict.fromkeys(names, True))
    signals += buttons.poll(at_ms + SETTLE_MS)
    signals += buttons.feed(at_ms + 80, dict.fromkeys(names, False))
    return signals + buttons.poll(at_ms + 80 + SETTLE_MS)


@pytest.mark.parametrize("status", ["on", "off", "buy", "lay"])
def test_a_status_without_a_box_speaks_for_the_whole_table(status: Status) -> None:
    assert press(quiet(), 1000, status) == [BetStatusKeyed(status, None)]


@pytest.mark.parametrize("box", [4, 5, 6, 8, 9, 10])
def test_a_status_after_a_box_is_that_boxs_and_takes_the_pick_with_it(box: int) -> None:
    buttons = quiet()
    assert press(buttons, 1000, f"box_{box}") == [BoxPicked(box)]
    assert press(buttons, 2000, "lay") == [BetStatusKeyed("lay", box), BoxPicked(None)]
    assert press(buttons, 3000, "off") == [BetStatusKeyed("off", None)]


def test_another_box_replaces_the_pick_and_the_same_one_drops_it() -> None:
    buttons = quiet()
    assert press(buttons, 1000, "box_4") == [BoxPicked(4)]
    assert press(buttons, 2000, "box_10") == [BoxPicked(10)]
    assert press(buttons, 3000, "box_10") == [BoxPicked(None)]


def test_a_box_and_a_status_pressed_together_belong_together() -> None:
    assert press(quiet(), 1000, "buy", "box_8") == [BoxPicked(8), BetStatusKeyed("buy", 8), BoxPicked(None)]


def test_a_pick_that_no_status_follows_is_given_up() -> None:
    buttons = quiet()
    press(buttons, 1000, "box_4")
    assert buttons.poll(11_019) == []
    assert buttons.poll(11_020) == [BoxPicked(None)]
    assert press(buttons, 12_000, "on") == [BetStatusKeyed("on", None)]


def test_a_button_that_is_down_at_start_is_no_press_until_it_is_pressed_again() -> None:
    buttons = BetStatusDecoder(settle_ms=SETTLE_MS, pick_ms=PICK_MS)
    buttons.feed(0, {name: name == "on" for name in BUTTONS})
    assert buttons.poll(SETTLE_MS) == [ButtonHeldAtStart("on")]
    assert buttons.feed(1000, {"on": False}) == []
    assert buttons.poll(1020) == []
    assert press(buttons, 2000, "on") == [BetStatusKeyed("on", None)]


@given(st.lists(st.tuples(st.integers(min_value=0, max_value=60), st.booleans()), max_size=60))
def test_a_bouncing_button_is_pressed_no_more_often_than_it_was_held(train: list[tuple[int, bool]]) -> None:
    buttons = quiet()
    now_ms = 1000
    signals: list[Signal] = []
    held_since_ms: int | None = None
    long_holds = 0
    for gap_ms, down in train:
        now_ms += gap_ms
        signals += buttons.feed(now_ms, {"off": down})
        if not down:
            held_since_ms = None
        elif held_since_ms is None:
            held_since_ms = now_ms
    assert all(signal == BetStatusKeyed("off", None) for signal in signals)
    held_since_ms = None
    counted = False
    now_ms = 1000
    for gap_ms, down in train:
        now_ms += gap_ms
        if not down:
            held_since_ms, counted = None, False
        elif held_since_ms is None:
            held_since_ms = now_ms
        elif now_ms - held_since_ms >= SETTLE_MS and not counted:
            long_holds, counted = long_holds + 1, True
    assert len(signals) <= long_holds
