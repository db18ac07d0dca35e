"""One sensor is a place, none is lifted, two are a fault."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from drivers.puck_decoder import PuckDecoder
from drivers.signals import POSITIONS, Position, PuckFault, PuckLifted, PuckMoved, Signal

SETTLE_MS = 60
LIFT_MS = 300


def decoder() -> PuckDecoder:
    return PuckDecoder(settle_ms=SETTLE_MS, lift_ms=LIFT_MS)


def started_at(place: Position) -> PuckDecoder:
    puck = decoder()
    puck.feed(0, {place: True})
    assert len(puck.poll(SETTLE_MS)) == 1
    return puck


def test_the_place_at_start_is_reported_as_initial() -> None:
    puck = decoder()
    assert puck.feed(0, {"off": True}) == []
    assert puck.poll(59) == []
    assert puck.poll(60) == [PuckMoved("off", "off", initial=True)]
    assert puck.poll(1000) == []


def test_a_missing_puck_at_start_is_reported_as_initial() -> None:
    puck = decoder()
    puck.feed(0, {})
    assert puck.poll(299) == []
    assert puck.poll(300) == [PuckLifted(initial=True)]


def test_a_puck_carried_from_box_to_box_moves_once() -> None:
    puck = started_at("off")
    assert puck.feed(1000, {"off": False}) == []
    assert puck.feed(1290, {6: True}) == []
    assert puck.feed(1350, {6: True}) == [PuckMoved(6, "on", initial=False)]


def test_a_puck_that_stays_away_is_lifted_and_comes_back() -> None:
    puck = started_at(8)
    puck.feed(1000, {})
    assert puck.poll(1299) == []
    assert puck.poll(1300) == [PuckLifted(initial=False)]
    puck.feed(2000, {8: True})
    assert puck.poll(2060) == [PuckMoved(8, "on", initial=False)]


def test_a_puck_that_is_nudged_says_nothing() -> None:
    puck = started_at(8)
    assert puck.feed(1000, {}) == []
    assert puck.feed(1050, {8: True}) == []
    assert puck.poll(5000) == []


def test_two_sensors_are_a_fault_that_names_both_in_the_order_of_the_layout() -> None:
    puck = started_at(4)
    puck.feed(1000, {"off": True, 4: True})
    assert puck.poll(1300) == [PuckFault(("4", "off"), initial=False)]
    puck.feed(2000, {"off": True})
    assert puck.poll(2060) == [PuckMoved("off", "off", initial=False)]


@given(
    st.lists(
        st.tuples(st.integers(min_value=0, max_value=400), st.sets(st.sampled_from(POSITIONS), max_size=3)), max_size=40
    )
)
def test_after_any_train_the_last_signal_says_what_the_sensors_say(train: list[tuple[int, set[Position]]]) -> None:
    puck = decoder()
    now_ms = 0
    seen: set[Position] = set()
    signals: list[Signal] = puck.feed(now_ms, {})
    for gap_ms, places in train:
        now_ms += gap_ms
        seen = places
        signals += puck.feed(now_ms, {place: place in seen for place in POSITIONS})
    signals += puck.poll(now_ms + LIFT_MS)
    last = signals[-1]
    if not seen:
        assert isinstance(last, PuckLifted)
    elif len(seen) == 1:
        assert isinstance(last, PuckMoved) and {last.position} == seen
    else:
        assert isinstance(last, PuckFault) and set(last.sensors) == {str(place) for place in seen}
    assert [n for n, signal in enumerate(signals) if getattr(signal, "initial", False)] == [0]
    assert all(one != other for one, other in pairwise(signals)), "nothing is said twice"
