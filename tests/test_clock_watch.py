"""Steps of wall time are told from its slewing, from slow looks and from interrupted readings; flapping is bounded."""

import random

import pytest

from device.clock import Reading
from device.clock_watch import ClockWatch
from device.machine_events import step_text
from device.origin import Origin
from device.session import Session

S = 1_000_000_000
MS = 1_000_000
# 2026-11-30T12:00:00Z, by `date -d @1796040000 -u`.
NOON = 1_796_040_000 * S


class Machine:
    """Two clocks in simulated time and the watch that looks at them."""

    def __init__(self) -> None:
        self.watch = ClockWatch()
        self.mono_ns = 7 * S
        self.wall_ns = NOON
        self.quality = "synced"
        assert self.look() == []

    def look(self, took_ns: int = 1000) -> list[tuple[str, dict[str, object]]]:
        reading = Reading(self.mono_ns, self.wall_ns + took_ns // 2, self.mono_ns + took_ns, self.quality)
        return self.watch.look(reading)

    def after(self, passed_ns: int, *, by_ns: int = 0, took_ns: int = 1000) -> list[tuple[str, dict[str, object]]]:
        """Time passes, and wall time moves by `by_ns` more than that."""
        self.mono_ns += passed_ns
        self.wall_ns += passed_ns + by_ns
        return self.look(took_ns)


def test_a_step_back_and_a_step_forward_are_told_with_what_the_clock_would_have_said() -> None:
    machine = Machine()
    assert machine.after(S, by_ns=-3 * 3600 * S - 120 * S) == [
        (
            "clock_stepped",
            {
                "by_ms": -10_920_000,
                "before": "2026-11-30T12:00:01.000Z",
                "after": "2026-11-30T08:58:01.000Z",
                "was": "synced",
            },
        )
    ]
    assert machine.after(S) == [], "told once"
    assert machine.after(S, by_ns=500 * MS + 1 * MS) == [
        (
            "clock_stepped",
            {"by_ms": 501, "before": "2026-11-30T08:58:03.000Z", "after": "2026-11-30T08:58:03.501Z", "was": "synced"},
        )
    ]


@pytest.mark.parametrize("by_ns", [499 * MS, -499 * MS, 500_000, -500_000, 0])
def test_less_than_half_a_second_is_no_step(by_ns: int) -> None:
    assert Machine().after(S, by_ns=by_ns) == []


@pytest.mark.parametrize("direction", [1, -1])
def test_slewing_is_no_step_however_long_it_goes_on_and_however_late_the_look_is(direction: int) -> None:
    machine = Machine()
    for _ in range(3000):
        assert machine.after(S, by_ns=direction * 500_000) == []
    # Nobody looked for an hour, in which 500 millionths are 1.8 s.
    assert machine.after(3600 * S, by_ns=direction * 1800 * MS) == []
    assert machine.after(3600 * S, by_ns=direction * 2400 * MS)[0][1]["by_ms"] == direction * 2400


def test_an_interrupted_reading_is_no_step_and_hides_none() -> None:
    machine = Machine()
    # Two seconds passed between the two clocks.
    machine.mono_ns += S
    assert machine.watch.look(Reading(machine.mono_ns, NOON + 3 * S, machine.mono_ns + 2 * S, "synced")) == []
    machine.mono_ns += 2 * S
    machine.wall_ns += 3 * S
    assert machine.after(S) == []
    assert machine.after(S, by_ns=-5 * S, took_ns=200 * MS) == [], "not to be trusted"
    assert machine.after(S)[0][1]["by_ms"] == -5000, "the next look tells"


def test_steps_of_years_and_beyond_the_calendar_are_told() -> None:
    machine = Machine()
    assert machine.after(S, by_ns=-NOON)[0][1]["after"] == "1970-01-01T00:00:01.000Z"
    told = machine.after(S, by_ns=-10_000 * 365 * 86_400 * S)
    assert told[0][1]["after"] == "0001-01-03T00:00:00.000Z"
    told = machine.after(S, by_ns=30_000 * 365 * 86_400 * S)
    assert told[0][1]["after"] == "9999-12-29T23:59:59.999Z"


def test_small_steps_that_add_up_are_told_as_one() -> None:
    machine = Machine()
    assert machine.after(S, by_ns=400 * MS) == []
    # 0.8 s in two seconds, in which slewing makes 1 ms.
    assert machine.after(S, by_ns=400 * MS) == [
        (
            "clock_stepped",
            {"by_ms": 800, "before": "2026-11-30T12:00:02.000Z", "after": "2026-11-30T12:00:02.800Z", "was": "synced"},
        )
    ]
    assert machine.after(S, by_ns=-400 * MS) == [], "from the step on"
    assert machine.after(S, by_ns=400 * MS) == []


def test_a_step_is_told_as_far_as_it_was_whatever_was_slewed_before() -> None:
    machine = Machine()
    assert machine.after(3000 * S, by_ns=1500 * MS) == []
    assert machine.after(S, by_ns=-600 * MS)[0][1]["by_ms"] == -600


def test_small_steps_are_added_up_for_an_hour() -> None:
    machine = Machine()
    assert machine.after(3599 * S, by_ns=2000 * MS) == []
    # In an hour, 0.5 s and 500 millionths are 2.3 s.
    assert machine.after(S, by_ns=299 * MS) == []
    assert machine.after(S, by_ns=499 * MS) == [], "an hour is over"
    assert machine.after(S, by_ns=2 * MS)[0][1]["by_ms"] == 501
    machine = Machine()
    assert machine.after(3599 * S, by_ns=2000 * MS) == []
    assert machine.after(S, by_ns=300 * MS)[0][1]["by_ms"] == 2300


def test_a_clock_that_is_moved_every_second_is_told_ten_times_an_hour_and_the_rest_in_sum() -> None:
    machine = Machine()
    # Told from 12:00:01 to 12:00:10.
    told = [machine.after(S, by_ns=-3600 * S) for _ in range(10)]
    assert [[data["by_ms"] for _, data in each] for each in told] == [[-3_600_000]] * 10
    assert [machine.after(S, by_ns=600 * MS) for _ in range(3590)] == [[]] * 3590
    # An hour after the first: those 3,590, and this one.
    assert machine.after(S, by_ns=-1000 * MS) == [
        ("clock_stepped", {"untold": 3591, "by_ms": 3590 * 600 - 1000}),
    ]
    assert machine.after(S, by_ns=-1000 * MS)[0][1]["by_ms"] == -1000, "an hour after the second"


def test_what_could_not_be_told_is_told_when_the_hour_has_room_though_the_clock_stands_still() -> None:
    machine = Machine()
    for _ in range(10):
        assert machine.after(S, by_ns=S)
    assert machine.after(S, by_ns=-7 * S) == []
    assert machine.after(3589 * S) == []
    assert machine.after(S) == [("clock_stepped", {"untold": 1, "by_ms": -7000})]
    assert machine.after(3600 * S) == []


def test_the_alert_of_a_clock_that_is_set_again_and_again_can_be_acknowledged() -> None:
    session = Session()
    step = ("clock_stepped", {"by_ms": 61_000, "before": "x", "after": "y", "was": "synced"})
    assert [kind for kind, _ in session.machine_seen([step])] == ["clock_stepped", "alert_raised"]
    raised = session.seq
    far = ("clock_stepped", {"untold": 3, "by_ms": -7_200_000})
    assert [kind for kind, _ in session.machine_seen([far])] == ["clock_stepped"]
    assert session.alerts["clock_stepped"]["seq"] == raised
    session.acknowledge_alert("clock_stepped", raised, "Eva", Origin("console"))
    (_, alert) = session.machine_seen([far])
    assert (alert[0], alert[1]["text"]) == (
        "alert_raised",
        "The clock was set back by 2 h; order and durations are not concerned.",
    )


def test_a_change_of_quality_is_told_at_once_and_a_flapping_one_once_a_minute() -> None:
    machine = Machine()
    machine.quality = "free"
    assert machine.after(S) == [("clock_quality", {"clock": "free"})]
    assert machine.after(S) == []
    told = 0
    chance = random.Random(1)
    for _ in range(3600):
        machine.quality = chance.choice(("free", "synced"))
        told += len(machine.after(S))
    assert 30 <= told <= 60
    machine.quality = "synced"
    machine.after(61 * S)
    machine.quality = "free"
    machine.after(61 * S)
    machine.quality = "synced"
    assert machine.after(61 * S) == [("clock_quality", {"clock": "synced"})]


@pytest.mark.parametrize(
    ("by_ms", "text"),
    [
        (-10_920_000, "The clock was set back by 3 h 2 min; order and durations are not concerned."),
        (60_001, "The clock was set forward by 1 min; order and durations are not concerned."),
        (1_796_040_060_000, "The clock was set forward by 20787 d 12 h 1 min; order and durations are not concerned."),
        (60_000, None),
        (-60_000, None),
    ],
)
def test_a_step_of_more_than_a_minute_is_said_in_words(by_ms: int, text: str | None) -> None:
    assert step_text(by_ms, "synced") == text


def test_a_clock_that_was_not_set_may_be_put_right_without_an_alert() -> None:
    assert step_text(1_728_000_000, "free") is None
    # Nobody puts a clock right by setting it back.
    assert step_text(-1_728_000_000, "free") == "The clock was set back by 20 d; order and durations are not concerned."
