"""Two presses are a roll; holds speak for themselves; a palm on the keys says nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.dice_keys_decoder import DiceKeyContacts, DiceKeysDecoder
from drivers.signals import (
    ButtonHeldAtStart,
    DiceEntryAbandoned,
    DiceKeyed,
    DieKeyed,
    InputFreed,
    InputStuck,
    NewShooterKeyed,
    Signal,
    TakeBackKeyed,
)
from drivers.wiring import DICE_KEYS

HOLD_MS = 2000
ABANDON_MS = 10_000
STUCK_MS = 30_000


def new_decoder() -> DiceKeysDecoder:
    return DiceKeysDecoder(hold_ms=HOLD_MS, abandon_ms=ABANDON_MS, stuck_ms=STUCK_MS)


class Keys:
    """Six keys and their decoder, with the hold times a node would report."""

    def __init__(self) -> None:
        self.decoder = new_decoder()
        self._since_ms: dict[int, int] = {}

    def down(self, at_ms: int, key: int, *, initial: bool = False) -> list[Signal]:
        self._since_ms[key] = at_ms
        return self.decoder.feed(at_ms, key, True, held_ms=0, initial=initial)

    def up(self, at_ms: int, key: int, *, initial: bool = False) -> list[Signal]:
        return self.decoder.feed(at_ms, key, False, held_ms=at_ms - self._since_ms[key], initial=initial)

    def press(self, at_ms: int, key: int) -> list[Signal]:
        return self.down(at_ms, key) + self.up(at_ms + 80, key)


def test_two_presses_enter_a_roll_in_their_order() -> None:
    keys = Keys()
    assert keys.press(0, 5) == [DieKeyed(5)]
    assert keys.decoder.pending == 5
    assert keys.press(500, 2) == [DiceKeyed(5, 2)]
    assert keys.decoder.pending is None
    assert keys.press(1000, 3) + keys.press(1200, 3) == [DieKeyed(3), DiceKeyed(3, 3)]


def test_a_lone_die_is_given_up_after_ten_seconds() -> None:
    keys = Keys()
    keys.press(0, 4)
    assert keys.decoder.poll(10_079) == []
    assert keys.decoder.poll(10_080) == [DiceEntryAbandoned(4, "timeout")]
    assert keys.press(11_000, 6) == [DieKeyed(6)]


def test_a_lone_die_is_given_up_before_a_late_key_is_looked_at() -> None:
    keys = Keys()
    keys.press(0, 4)
    assert keys.press(60_000, 6) == [DiceEntryAbandoned(4, "timeout"), DieKeyed(6)]


def test_a_second_die_that_is_down_in_time_counts() -> None:
    keys = Keys()
    keys.press(0, 4)
    assert keys.down(10_000, 6) == []
    assert keys.decoder.poll(10_090) == []
    assert keys.up(10_120, 6) == [DiceKeyed(4, 6)]


def test_holding_1_takes_back_and_enters_no_die() -> None:
    keys = Keys()
    assert keys.down(0, 1) == []
    assert keys.decoder.half_done
    assert keys.decoder.poll(1999) == []
    assert keys.decoder.poll(2000) == [TakeBackKeyed()]
    assert keys.decoder.poll(9000) == []
    assert keys.decoder.half_done, "it may still become part of a palm"
    assert keys.up(9000, 1) == []
    assert not keys.decoder.half_done


def test_holding_2_names_a_new_shooter_even_when_the_release_is_the_next_that_is_heard() -> None:
    keys = Keys()
    keys.down(0, 2)
    assert keys.up(2500, 2) == [NewShooterKeyed()]
    assert keys.decoder.pending is None


def test_a_press_of_1_shorter_than_the_hold_is_a_die() -> None:
    keys = Keys()
    keys.down(0, 1)
    assert keys.up(1999, 1) == [DieKeyed(1)]


def test_holding_1_with_a_die_pending_takes_back_that_die_only() -> None:
    keys = Keys()
    keys.press(0, 6)
    keys.down(1000, 1)
    assert keys.decoder.poll(3000) == [DiceEntryAbandoned(6, "taken_back")]
    assert keys.up(3100, 1) == []


def test_holding_2_with_a_die_pending_gives_it_up() -> None:
    keys = Keys()
    keys.press(0, 6)
    keys.down(1000, 2)
    assert keys.decoder.poll(3000) == [DiceEntryAbandoned(6, "new_shooter"), NewShooterKeyed()]


def test_holding_another_key_says_nothing() -> None:
    keys = Keys()
    keys.down(0, 5)
    assert keys.decoder.poll(5000) == []
    assert keys.up(5000, 5) == []


def test_two_keys_together_are_two_dice_in_the_order_of_their_release() -> None:
    keys = Keys()
    assert keys.down(0, 1) + keys.down(20, 2) == []
    assert keys.up(100, 2) == [DieKeyed(2)]
    assert keys.up(130, 1) == [DiceKeyed(2, 1)]
    assert not keys.decoder.half_done


def test_1_and_2_held_together_say_nothing() -> None:
    keys = Keys()
    keys.down(0, 1)
    keys.down(100, 2)
    assert keys.decoder.poll(5000) == []
    assert keys.up(5000, 1) + keys.decoder.poll(9000) + keys.up(9000, 2) == []


def test_a_palm_on_three_keys_says_nothing_until_all_are_up() -> None:
    keys = Keys()
    for at_ms, key in ((0, 1), (5, 2), (10, 3)):
        keys.down(at_ms, key)
    assert keys.up(50, 1) + keys.up(60, 2) == []
    assert keys.press(70, 5) == [], "one of the three is still down"
    assert keys.up(160, 3) == []
    assert keys.press(300, 4) == [DieKeyed(4)]


def test_a_key_that_was_down_when_the_node_began_is_neither_pressed_nor_held() -> None:
    keys = Keys()
    assert keys.down(0, 1, initial=True) == [ButtonHeldAtStart("dice_key_1")]
    assert keys.decoder.poll(5000) == []
    assert keys.up(5000, 1, initial=True) == []
    assert keys.press(6000, 1) == [DieKeyed(1)]


def test_a_release_whose_press_was_acknowledged_in_an_earlier_run_counts_once() -> None:
    decoder = new_decoder()
    assert decoder.feed(50_000, 3, False, held_ms=90, initial=False) == [DieKeyed(3)]


def test_the_release_of_a_hold_that_was_acknowledged_in_an_earlier_run_says_nothing() -> None:
    decoder = new_decoder()
    assert decoder.feed(50_000, 1, False, held_ms=2300, initial=False) == []


def test_a_stuck_key_is_named_once_and_its_release_is_no_die() -> None:
    keys = Keys()
    keys.down(0, 5)
    assert keys.decoder.poll(29_999) == []
    assert keys.decoder.poll(30_000) == [InputStuck("dice_key_5")]
    assert keys.decoder.poll(90_000) == []
    assert keys.up(90_000, 5) == [InputFreed("dice_key_5")]
    assert keys.press(91_000, 5) == [DieKeyed(5)]


def test_a_stuck_key_makes_no_palm_of_the_next_two() -> None:
    keys = Keys()
    keys.down(0, 5)
    keys.decoder.poll(STUCK_MS)
    assert keys.down(31_000, 3) + keys.down(31_020, 4) == []
    assert keys.up(31_100, 3) + keys.up(31_130, 4) == [DieKeyed(3), DiceKeyed(3, 4)]


def test_a_stuck_key_ends_the_palm_that_it_alone_kept_up() -> None:
    keys = Keys()
    for at_ms, key in ((0, 1), (5, 2), (10, 3)):
        keys.down(at_ms, key)
    assert keys.up(50, 1) + keys.up(60, 2) == []
    assert keys.decoder.poll(30_010) == [InputStuck("dice_key_3")]
    assert keys.press(31_000, 4) == [DieKeyed(4)]


def test_a_stuck_key_does_not_keep_a_lone_die_waiting_for_ever() -> None:
    keys = Keys()
    keys.down(0, 5)
    keys.press(1000, 2)
    assert keys.decoder.poll(29_999) == []
    assert keys.decoder.poll(30_000) == [InputStuck("dice_key_5"), DiceEntryAbandoned(2, "timeout")]


def test_a_stuck_key_lets_1_be_held_alone_and_its_release_does_not_end_the_hold() -> None:
    keys = Keys()
    keys.down(0, 5)
    keys.decoder.poll(STUCK_MS)
    keys.down(31_000, 1)
    assert keys.up(32_000, 5) == [InputFreed("dice_key_5")]
    assert keys.decoder.poll(33_000) == [TakeBackKeyed()]


def test_a_held_1_takes_back_once_before_it_is_stuck() -> None:
    keys = Keys()
    keys.down(0, 1)
    assert keys.decoder.poll(60_000) == [TakeBackKeyed(), InputStuck("dice_key_1")]


def test_the_release_of_a_key_that_was_down_at_start_is_no_die_whoever_says_so() -> None:
    keys = Keys()
    keys.down(0, 3, initial=True)
    assert keys.up(100, 3, initial=False) == []


def test_a_key_that_was_down_when_the_program_began_still_makes_a_palm_of_two_more() -> None:
    decoder = new_decoder()
    assert decoder.start(0, {4: 0}) == []
    for key in (1, 2):
        decoder.feed(100, key, True, held_ms=0, initial=False)
    assert decoder.feed(200, 1, False, held_ms=100, initial=False) == []
    assert decoder.feed(200, 2, False, held_ms=100, initial=False) == []
    assert decoder.feed(250, 4, False, held_ms=300, initial=False) == []


def test_a_palm_that_lay_on_the_keys_when_the_program_began_says_nothing_when_it_goes() -> None:
    decoder = new_decoder()
    assert decoder.start(0, {1: 0, 2: 0, 3: 0}) == []
    for key in (1, 2, 3):
        assert decoder.half_done
        assert decoder.feed(200, key, False, held_ms=300, initial=False) == []
    assert not decoder.half_done


def test_a_key_that_was_stuck_when_the_program_began_is_so_at_once_and_makes_no_palm() -> None:
    decoder = new_decoder()
    assert decoder.start(40_000, {4: 10_000, 5: 39_000}) == [InputStuck("dice_key_4")]
    decoder.feed(40_100, 6, True, held_ms=0, initial=False)
    assert decoder.feed(40_200, 6, False, held_ms=100, initial=False) == [DieKeyed(6)]
    assert decoder.feed(41_000, 4, False, held_ms=31_000, initial=False) == [InputFreed("dice_key_4")]


class Contacts:
    """Six keys on the header, looked at every 5 ms."""

    def __init__(self) -> None:
        self.keys = DiceKeyContacts(new_decoder(), settle_ms=10)
        self.down: set[str] = set()
        self.now_ms = 0

    def run(self, until_ms: int) -> list[Signal]:
        signals: list[Signal] = []
        while self.now_ms < until_ms:
            self.now_ms += 5
            signals += self.keys.feed(self.now_ms, {name: name in self.down for name in DICE_KEYS})
        return signals


def test_a_press_of_thirty_milliseconds_on_the_header_is_a_die() -> None:
    contacts = Contacts()
    contacts.run(100)
    contacts.down = {"dice_key_6"}
    assert contacts.run(130) == []
    assert contacts.keys.unsettled
    contacts.down = set()
    assert contacts.run(140) == []
    assert contacts.run(145) == [DieKeyed(6)]
    assert not contacts.keys.unsettled


def test_a_hold_on_the_header_is_timed_from_when_the_key_had_settled() -> None:
    contacts = Contacts()
    contacts.run(100)
    contacts.down = {"dice_key_1"}
    assert contacts.run(2110) == []
    assert contacts.run(2115) == [TakeBackKeyed()]
    contacts.down = set()
    assert contacts.run(3000) == []


@pytest.mark.parametrize("other", [None, 1, 3])
@pytest.mark.parametrize("stall_ms", [2200, 31_000])
def test_a_tap_whose_end_is_seen_late_is_a_tap(stall_ms: int, other: int | None) -> None:
    """As when the program is not scheduled for seconds; another key that goes down then changes nothing."""
    contacts = Contacts()
    contacts.run(100)
    contacts.down = {"dice_key_2"}
    assert contacts.run(155) == []
    contacts.now_ms += stall_ms
    contacts.down = set() if other is None else {f"dice_key_{other}"}
    assert contacts.run(contacts.now_ms + 100) == [DieKeyed(2)]


def test_a_contact_that_bounces_while_it_is_held_delays_the_hold_and_nothing_else() -> None:
    contacts = Contacts()
    contacts.run(100)
    contacts.down = {"dice_key_1"}
    assert contacts.run(2110) == []
    contacts.down = set()
    assert contacts.run(2115) == []
    contacts.down = {"dice_key_1"}
    assert contacts.run(2120) == [TakeBackKeyed()]
    contacts.down = set()
    assert contacts.run(3000) == []


def test_a_press_on_the_header_is_either_a_die_or_a_hold() -> None:
    for held_ms in range(1980, 2030, 5):
        contacts = Contacts()
        contacts.run(100)
        contacts.down = {"dice_key_1"}
        signals = contacts.run(100 + held_ms)
        contacts.down = set()
        signals += contacts.run(2500)
        # Seen down at 105, settled at 115: at 2115 it is a hold, if it is still down.
        assert signals == ([TakeBackKeyed()] if 100 + held_ms >= 2115 else [DieKeyed(1)])


def test_a_key_that_cannot_be_read_any_more_is_not_held() -> None:
    contacts = Contacts()
    contacts.run(100)
    contacts.down = {"dice_key_1"}
    contacts.run(200)
    contacts.keys.forget("dice_key_1")
    for now_ms in range(205, 40_000, 5):
        assert contacts.keys.feed(now_ms, dict.fromkeys(DICE_KEYS[1:], False)) == []


def test_a_key_that_is_down_at_start_on_the_header_is_no_press() -> None:
    contacts = Contacts()
    contacts.down = {"dice_key_2"}
    assert contacts.run(100) == [ButtonHeldAtStart("dice_key_2")]
    assert contacts.run(3000) == [], "and no hold"
    contacts.down = set()
    assert contacts.run(3200) == []
    contacts.down = {"dice_key_2"}
    contacts.run(3300)
    contacts.down = set()
    assert contacts.run(3400) == [DieKeyed(2)]


def test_a_key_that_comes_back_after_it_could_not_be_read_is_no_press_and_ends_no_hold() -> None:
    contacts = Contacts()
    contacts.run(100)
    contacts.down = {"dice_key_1"}
    contacts.run(1000)
    contacts.keys.forget("dice_key_4")
    assert contacts.run(2200) == [TakeBackKeyed()]
    contacts.keys.forget("dice_key_4")
    contacts.down = {"dice_key_1", "dice_key_4"}
    assert contacts.run(2300) == [ButtonHeldAtStart("dice_key_4")]


def test_a_stuck_key_that_comes_back_down_is_still_stuck_until_it_is_up() -> None:
    contacts = Contacts()
    contacts.run(100)
    contacts.down = {"dice_key_5"}
    assert contacts.run(30_200) == [InputStuck("dice_key_5")]
    contacts.keys.forget("dice_key_5")
    assert contacts.run(30_400) == []
    contacts.down = {"dice_key_3"}
    assert contacts.run(30_600) == [InputFreed("dice_key_5")]
    contacts.down = set()
    assert contacts.run(30_700) == [DieKeyed(3)]


@given(
    st.lists(st.tuples(st.integers(min_value=1, max_value=3000), st.integers(min_value=1, max_value=6)), max_size=80)
)
def test_nothing_is_invented(train: list[tuple[int, int]]) -> None:
    """Each step toggles a key: no more dice come out than presses went in, and each from its own release."""
    keys = Keys()
    down: set[int] = set()
    now_ms = 0
    presses: list[int] = []
    dice: list[int] = []
    for gap_ms, key in train:
        now_ms += gap_ms
        signals = keys.up(now_ms, key) if key in down else keys.down(now_ms, key)
        if key in down:
            presses.append(key)
        down ^= {key}
        for signal in signals:
            if isinstance(signal, DieKeyed):
                dice.append(signal.first)
                assert signal.first == key
            elif isinstance(signal, DiceKeyed):
                dice.append(signal.second)
                assert signal.second == key
                assert signal.first == dice[-2]
    remaining = iter(presses)
    assert all(die in remaining for die in dice), "the dice are a part of the releases, in order"


def test_the_second_die_of_a_roll_that_was_entered_otherwise_is_given_up_too() -> None:
    keys = Keys()
    keys.press(0, 4)
    keys.decoder.give_up()
    assert keys.press(2_900, 5) == [DiceEntryAbandoned(5, "entered_elsewhere")], "keyed within 3 s of the first, at 80"
    # That pair is over: the next is another roll, however soon.
    assert keys.press(3_000, 1) + keys.press(3_100, 2) == [DieKeyed(1), DiceKeyed(1, 2)]


def test_a_die_keyed_three_seconds_after_one_that_was_given_up_begins_a_new_roll() -> None:
    keys = Keys()
    keys.press(0, 4)
    keys.decoder.give_up()
    assert keys.press(3_000, 5) + keys.press(3_100, 6) == [DieKeyed(5), DiceKeyed(5, 6)]


def test_with_no_first_die_there_is_no_second_to_give_up() -> None:
    keys = Keys()
    keys.press(0, 4)
    keys.press(200, 3)
    keys.decoder.give_up()
    assert keys.press(400, 5) == [DieKeyed(5)]
