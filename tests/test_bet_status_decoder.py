"""A box button picks, a status button sets."""

import pytest

from drivers.bet_status_decoder import BetStatusDecoder
from drivers.signals import BetStatusKeyed, BoxPicked, ButtonHeldAtStart, InputFreed, InputStuck, Signal, Status
from drivers.wiring import BUTTONS

SETTLE_MS = 20
PICK_MS = 10_000
STUCK_MS = 30_000


def decoder() -> BetStatusDecoder:
    return BetStatusDecoder(settle_ms=SETTLE_MS, pick_ms=PICK_MS, stuck_ms=STUCK_MS)


def quiet() -> BetStatusDecoder:
    buttons = decoder()
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
    buttons = decoder()
    buttons.feed(0, {name: name == "on" for name in BUTTONS})
    assert buttons.poll(SETTLE_MS) == [ButtonHeldAtStart("on")]
    assert buttons.feed(1000, {"on": False}) == []
    assert buttons.poll(1020) == []
    assert press(buttons, 2000, "on") == [BetStatusKeyed("on", None)]


def test_a_press_of_thirty_milliseconds_counts_with_the_default_timing() -> None:
    buttons = BetStatusDecoder(settle_ms=15, pick_ms=PICK_MS, stuck_ms=STUCK_MS)
    buttons.feed(0, dict.fromkeys(BUTTONS, False))
    buttons.poll(15)
    signals: list[Signal] = []
    # Looked at every 5 ms, from 4 ms after the edge on.
    for now_ms in range(1004, 1050, 5):
        signals += buttons.feed(now_ms, {"on": now_ms < 1030})
    assert signals == [BetStatusKeyed("on", None)]


def test_two_buttons_down_together_both_count() -> None:
    buttons = quiet()
    signals = buttons.feed(1000, {"on": True})
    signals += buttons.feed(1010, {"off": True})
    signals += buttons.poll(1020)
    assert signals == [BetStatusKeyed("on", None)]
    assert buttons.poll(1030) == [BetStatusKeyed("off", None)]


def test_a_button_that_is_stuck_is_named_once_and_the_others_go_on() -> None:
    buttons = quiet()
    buttons.feed(1000, {"on": True})
    assert buttons.poll(1020) == [BetStatusKeyed("on", None)]
    assert buttons.unsettled
    assert buttons.poll(31_019) == []
    assert buttons.poll(31_020) == [InputStuck("on")]
    assert buttons.poll(90_000) == []
    assert not buttons.unsettled, "a stuck button is no reason to look often"
    assert press(buttons, 90_000, "box_4") == [BoxPicked(4)]
    assert press(buttons, 91_000, "off") == [BetStatusKeyed("off", 4), BoxPicked(None)]
    buttons.feed(92_000, {"on": False})
    assert buttons.poll(92_020) == [InputFreed("on")], "and no press"
    assert press(buttons, 93_000, "on") == [BetStatusKeyed("on", None)]


def test_a_button_that_is_seen_up_after_nobody_looked_for_long_is_not_stuck() -> None:
    buttons = quiet()
    buttons.feed(1000, {"on": True})
    assert buttons.feed(1020, {"on": True}) == [BetStatusKeyed("on", None)]
    assert buttons.feed(40_000, {"on": False}) + buttons.feed(40_020, {"on": False}) == []


def test_a_button_that_is_down_at_start_can_be_stuck_too() -> None:
    buttons = decoder()
    buttons.feed(0, {name: name == "buy" for name in BUTTONS})
    assert buttons.poll(SETTLE_MS) == [ButtonHeldAtStart("buy")]
    assert buttons.poll(30_020) == [InputStuck("buy")]
    buttons.feed(40_000, {"buy": False})
    assert buttons.poll(40_020) == [InputFreed("buy")]


def test_a_button_that_comes_back_down_after_it_could_not_be_read_is_no_press() -> None:
    buttons = quiet()
    buttons.feed(1000, dict.fromkeys(BUTTONS[:-1], False))
    buttons.forget("lay")
    buttons.feed(6000, {"lay": True})
    assert buttons.poll(6020) == [ButtonHeldAtStart("lay")]
    buttons.feed(7000, {"lay": False})
    assert buttons.poll(7020) == []
    assert press(buttons, 8000, "lay") == [BetStatusKeyed("lay", None)]


def test_a_button_that_cannot_be_read_any_more_is_not_called_stuck() -> None:
    buttons = quiet()
    buttons.feed(1000, {"lay": True})
    assert buttons.poll(1020) == [BetStatusKeyed("lay", None)]
    buttons.forget("lay")
    assert buttons.poll(60_000) == []


def test_a_stuck_button_that_comes_back_up_after_it_could_not_be_read_is_free() -> None:
    buttons = quiet()
    buttons.feed(0, {"lay": True})
    buttons.poll(SETTLE_MS)
    assert buttons.poll(40_000) == [InputStuck("lay")]
    buttons.forget("lay")
    buttons.feed(50_000, {"lay": False})
    assert buttons.poll(50_020) == [InputFreed("lay")]


def test_a_picked_box_is_half_a_thing() -> None:
    buttons = quiet()
    assert not buttons.half_done
    press(buttons, 1000, "box_4")
    assert buttons.half_done
    press(buttons, 2000, "on")
    assert not buttons.half_done
