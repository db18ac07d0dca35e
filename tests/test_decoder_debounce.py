"""One line's debouncer: bounces vanish, levels do not."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from drivers.debounce import Debouncer

SETTLE_MS = 20
POLL_MS = 10

pulses = st.lists(st.tuples(st.integers(min_value=0, max_value=70), st.booleans()), max_size=60)


def played(train: list[tuple[int, bool]]) -> tuple[list[bool], bool, Debouncer]:
    """Feed a train of (gap ms, level) and then quiet with time alone; the changes, the last level, the debouncer."""
    line = Debouncer(SETTLE_MS)
    now_ms = 0
    level = False
    changes = []
    line.feed(now_ms, level)
    for gap_ms, next_level in train:
        now_ms += gap_ms
        level = next_level
        if line.feed(now_ms, level):
            changes.append(line.level is True)
    for _ in range(1 + SETTLE_MS // POLL_MS):
        if line.poll(now_ms):
            changes.append(line.level is True)
        now_ms += POLL_MS
    return changes, level, line


@given(pulses)
def test_after_any_pulse_train_the_state_is_the_level_within_settle_time_plus_one_poll(
    train: list[tuple[int, bool]],
) -> None:
    changes, level, line = played(train)
    assert line.level is level
    assert all(one != other for one, other in pairwise(changes)), "presses and releases take turns"


@given(st.lists(st.integers(min_value=1, max_value=SETTLE_MS - 1), max_size=60))
def test_a_line_that_never_rests_never_changes(gaps_ms: list[int]) -> None:
    line = Debouncer(SETTLE_MS)
    line.feed(0, False)
    line.poll(SETTLE_MS)
    now_ms = SETTLE_MS
    for n, gap_ms in enumerate(gaps_ms):
        now_ms += gap_ms
        assert not line.feed(now_ms, n % 2 == 0)
    assert line.level is False


def test_a_recorded_press_that_bounces_on_both_edges_is_one_press() -> None:
    recorded = [(0, False), (100, True), (103, False), (105, True), (190, False), (192, True), (194, False)]
    line = Debouncer(10)
    changes = []
    for now_ms in range(260):
        level = [level for at_ms, level in recorded if at_ms <= now_ms][-1]
        if line.feed(now_ms, level):
            changes.append((now_ms, line.level))
    assert changes == [(10, False), (115, True), (204, False)]


def test_a_level_is_unknown_until_it_has_settled() -> None:
    line = Debouncer(10)
    assert not line.feed(0, True)
    assert line.level is None
    assert not line.poll(9)
    assert line.poll(10)
    assert line.level is True
