"""One sensor is a place, none is lifted, two are a fault."""

from itertools import pairwise

from drivers.puck_decoder import PuckDecoder
from drivers.signals import (
    POSITIONS,
    InputFreed,
    InputStuck,
    Position,
    PuckFault,
    PuckLifted,
    PuckMoved,
    PuckNumber,
    PuckUnseen,
    Signal,
)

SETTLE_MS = 60
LIFT_MS = 300


def decoder(number: PuckNumber = 1) -> PuckDecoder:
    return PuckDecoder(number, settle_ms=SETTLE_MS, lift_ms=LIFT_MS)


def seen(*places: Position) -> dict[str, bool]:
    return {f"puck_{position}": position in places for position in POSITIONS}


def started_at(place: Position) -> PuckDecoder:
    puck = decoder()
    puck.feed(0, seen(place))
    assert len(puck.poll(SETTLE_MS)) == 1
    return puck


class Sensors:
    """Sensors that show one pattern after another, looked at every 5 ms."""

    def __init__(self, *places: Position) -> None:
        self.puck = decoder()
        self.now_ms = 0
        self.rest(1000, *places)

    def rest(self, duration_ms: int, *places: Position) -> list[Signal]:
        signals: list[Signal] = []
        for _ in range(duration_ms // 5):
            signals += self.puck.feed(self.now_ms, seen(*places))
            self.now_ms += 5
        return signals


def test_the_place_at_start_is_reported_as_initial() -> None:
    puck = decoder()
    assert puck.feed(0, seen("off")) == []
    assert puck.poll(59) == []
    assert puck.poll(60) == [PuckMoved("off", "off", initial=True)]
    assert puck.poll(1000) == []


def test_a_missing_puck_at_start_is_reported_as_initial() -> None:
    puck = decoder()
    puck.feed(0, seen())
    assert puck.poll(299) == []
    assert puck.poll(300) == [PuckLifted(initial=True)]


def test_a_puck_carried_from_box_to_box_moves_once() -> None:
    puck = started_at("off")
    assert puck.feed(1000, seen()) == []
    assert puck.feed(1290, seen(6)) == []
    assert puck.feed(1350, seen(6)) == [PuckMoved(6, "on", initial=False)]


def test_a_puck_that_stays_away_is_lifted_and_comes_back() -> None:
    puck = started_at(8)
    puck.feed(1000, seen())
    assert puck.poll(1299) == []
    assert puck.poll(1300) == [PuckLifted(initial=False)]
    puck.feed(2000, seen(8))
    assert puck.poll(2060) == [PuckMoved(8, "on", initial=False)]


def test_a_puck_that_is_nudged_says_nothing() -> None:
    puck = started_at(8)
    assert puck.feed(1000, seen()) == []
    assert puck.feed(1050, seen(8)) == []
    assert puck.poll(5000) == []


def test_two_sensors_are_a_fault_that_names_both_in_the_order_of_the_layout() -> None:
    puck = started_at(4)
    puck.feed(1000, seen("off", 4))
    assert puck.poll(1300) == [PuckFault(("4", "off"), initial=False)]
    puck.feed(2000, seen("off"))
    assert puck.poll(2060) == [PuckMoved("off", "off", initial=False)]


def test_the_second_puck_has_its_own_sensors_and_says_which_it_is() -> None:
    puck = decoder(2)
    names = [f"second_puck_{position}" for position in POSITIONS]
    puck.feed(0, dict.fromkeys(names, False) | {"second_puck_9": True, "puck_4": True})
    assert puck.poll(60) == [PuckMoved(9, "on", initial=True, puck=2)]
    puck.feed(1000, dict.fromkeys(names, False) | {"second_puck_9": True, "second_puck_off": True})
    assert puck.poll(1300) == [PuckFault(("9", "off"), initial=False, puck=2)]
    puck.feed(2000, dict.fromkeys(names, False))
    assert puck.poll(2300) == [PuckLifted(initial=False, puck=2)]


def test_a_stuck_sensor_is_named_when_the_puck_has_moved_on_and_left_out_until_it_lets_go() -> None:
    sensors = Sensors("off")
    assert sensors.rest(1000, 4) == [PuckMoved(4, "on", initial=False)]
    # The sensor of the 4 stays on from here.
    assert sensors.rest(1000, 4, "off") == [PuckFault(("4", "off"), initial=False)]
    assert sensors.rest(1000, 4) == [PuckMoved(4, "on", initial=False)]
    assert sensors.rest(1000, 4, 9) == [PuckFault(("4", "9"), initial=False)]
    assert sensors.rest(1000, 4) == [PuckMoved(4, "on", initial=False)]
    assert sensors.rest(1000, 4, "off") == [InputStuck("puck_4"), PuckMoved("off", "off", initial=False)]
    assert sensors.rest(1000, 4) == [PuckLifted(initial=False)]
    assert sensors.rest(1000, 4, 6) == [PuckMoved(6, "on", initial=False)]
    assert sensors.rest(55, 6) == [], "not before it has settled"
    assert sensors.rest(1000, 6) == [InputFreed("puck_4")]
    assert sensors.rest(1000, 4) == [PuckMoved(4, "on", initial=False)]


def test_a_stuck_sensor_is_found_without_a_gap_between_the_places_of_the_puck() -> None:
    sensors = Sensors(10, 5)
    sensors.rest(1000, 10, 6)
    assert sensors.rest(1000, 10, 8) == [InputStuck("puck_10"), PuckMoved(8, "on", initial=False)]


def test_two_sensors_can_be_stuck() -> None:
    sensors = Sensors(4, 5)
    for place in (6, 8):
        sensors.rest(1000, 4, 5, place)
        sensors.rest(1000, 4, 5)
    assert sensors.rest(1000, 4, 5, 9) == [
        InputStuck("puck_4"),
        InputStuck("puck_5"),
        PuckMoved(9, "on", initial=False),
    ]


def test_a_sensor_that_lets_go_once_is_not_stuck() -> None:
    sensors = Sensors(4)
    for place in (5, 6, 8, 9, 10):
        sensors.rest(1000, 4, place)
        # A single reading: no signal, but it can let go.
        sensors.rest(5)
    assert sensors.rest(1000, 4, "off") == [PuckFault(("4", "off"), initial=False)]


def test_a_puck_that_slides_slowly_over_its_sensors_leaves_none_stuck() -> None:
    sensors = Sensors(4)
    signals: list[Signal] = []
    there_and_back: tuple[Position, ...] = (4, 5, 6, 8, 9, 10, 9, 8, 6, 5, 4)
    for one, other in pairwise(there_and_back):
        signals += sensors.rest(2000, one, other)
        signals += sensors.rest(2000, other)
    assert all(isinstance(signal, PuckFault | PuckMoved) for signal in signals)
    assert len(signals) == 20


def test_a_second_magnet_that_lies_still_beside_a_puck_that_lies_still_leaves_none_stuck() -> None:
    sensors = Sensors(6)
    signals = sensors.rest(60_000, 6, 8)
    for _ in range(20):
        signals += sensors.rest(1000, 6) + sensors.rest(1000, 6, 8)
    assert not [signal for signal in signals if isinstance(signal, InputStuck)]


def test_a_magnet_that_passes_over_every_sensor_leaves_none_stuck() -> None:
    sensors = Sensors(6)
    signals: list[Signal] = []
    for _ in range(10):
        for place in POSITIONS:
            signals += sensors.rest(295, 6, place)
    assert signals + sensors.rest(1000, 6) == []


def test_none_while_a_sensor_cannot_be_read_may_be_anywhere() -> None:
    puck = started_at(8)
    blind = seen()
    del blind["puck_4"]
    assert puck.feed(1000, blind) == []
    assert puck.half_done
    assert puck.feed(1299, blind) == [], "it may be on its way"
    assert puck.feed(1300, blind) == [PuckUnseen(1)], "the puck may lie on the 4"
    assert not puck.half_done
    assert puck.feed(9000, blind) == [], "said once"
    assert puck.feed(9100, seen()) + puck.feed(9200, blind) + puck.poll(9400) == []
    assert puck.feed(10_000, blind | {"puck_5": True}) == []
    assert puck.feed(10_060, blind | {"puck_5": True}) == [PuckMoved(5, "on", initial=True)], "found, not moved"
    puck.feed(11_000, seen())
    assert puck.poll(11_300) == [PuckLifted(initial=False)]


def test_a_puck_that_a_sound_sensor_sees_is_seen_whatever_another_does() -> None:
    puck = started_at(8)
    half = seen(8)
    del half["puck_4"]
    assert puck.feed(1000, half) + puck.feed(9000, half) == []
    assert puck.feed(9100, seen(9)) == []
    assert puck.feed(9160, seen(9)) == [PuckMoved(9, "on", initial=False)]


def test_levels_that_have_settled_are_the_state_at_start_at_once() -> None:
    puck = PuckDecoder(1, settle_ms=0, lift_ms=LIFT_MS)
    assert puck.start(500, seen()) == [PuckLifted(initial=True)]
    assert puck.feed(600, seen(6)) == [PuckMoved(6, "on", initial=False)]
    assert puck.feed(700, seen()) == []
    assert puck.half_done
    assert puck.poll(1000) == [PuckLifted(initial=False)]
