"""Where one puck is, from the seven sensors under its places."""

from collections.abc import Mapping

from drivers.debounce import Debouncer
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
from drivers.wiring import GROUPS

# A sensor that answered all the while the puck was at so many other places, and left them, is stuck at the next place.
PLACES_LEFT_MIN = 2


class PuckDecoder:
    """Exactly one active sensor is the puck's place, none means lifted, more than one is a fault.

    A place is believed after `settle_ms`. None and several need the longer `lift_ms`: a puck on its way from one box
    to the next is a move, not a lift and a placing. None while a sensor cannot be read may be anywhere: for `lift_ms`
    it says nothing, then that the puck is unseen; what is seen next is a state, not a change.

    A sensor is stuck when, without once letting go, it was part of believed faults in which at least two different
    other places came and went, and is now part of one in which the puck rests at exactly one place more.
    - A puck that slides slowly over its sensors is not that: it has left each of them when it reaches the next but one.
    - Nor is a second magnet that lies on one sensor, for as long as the puck lies on another; nor one that passes over
      the others, because it is not there for `lift_ms`, and because in the end only the puck is left.
    - A magnet that stays where it is while the puck moves on from place to place answers wherever the puck is, as a
      broken sensor does. Told as stuck, it leaves the puck where the puck is.
    What is stuck is left out of account until it has been inactive for `settle_ms`.
    """

    def __init__(self, puck: PuckNumber, *, settle_ms: int, lift_ms: int) -> None:
        self._puck = puck
        self._names = dict(zip(POSITIONS, GROUPS["puck" if puck == 1 else "second_puck"], strict=True))
        self._settle_ms = settle_ms
        self._lift_ms = lift_ms
        self._accepted: tuple[Position, ...] | None = None
        self._candidate: tuple[Position, ...] | None = None
        self._since_ms = 0
        self._blind_since_ms: int | None = None
        # For each place that has answered since it was first believed: the others that came, and those that also went.
        self._came: dict[Position, set[Position]] = {}
        self._left: dict[Position, set[Position]] = {}
        self._stuck: dict[Position, Debouncer] = {}

    @property
    def started(self) -> bool:
        """Whether a first state has been told."""
        return self._accepted is not None

    @property
    def half_done(self) -> bool:
        """Whether something that was fed may still become part of a later signal."""
        seen_but_not_believed = self._candidate is not None and self._candidate != self._accepted
        going_blind = self._blind_since_ms is not None and self._accepted is not None
        return seen_but_not_believed or going_blind or any(not sensor.settled for sensor in self._stuck.values())

    @property
    def unsettled(self) -> bool:
        """Whether time alone may still bring a signal."""
        return self.half_done

    def start(self, time_ms: int, active: Mapping[str, bool]) -> list[Signal]:
        """Take levels that have settled as the state at start."""
        self._see(time_ms, active)
        return self._believe()

    def feed(self, time_ms: int, active: Mapping[str, bool]) -> list[Signal]:
        """Take one reading of the sensors by input name; one that is missing cannot be read."""
        freed: list[Signal] = []
        for position in [*self._stuck]:
            name = self._names[position]
            if name in active and self._stuck[position].feed(time_ms, active[name]):
                del self._stuck[position]
                freed.append(InputFreed(name))
        self._see(time_ms, active)
        return freed + self._ripe(time_ms)

    def poll(self, time_ms: int) -> list[Signal]:
        """Let time pass with the sensors as they were last seen."""
        freed: list[Signal] = []
        for position in [*self._stuck]:
            if self._stuck[position].poll(time_ms):
                del self._stuck[position]
                freed.append(InputFreed(self._names[position]))
        return freed + self._ripe(time_ms)

    def _see(self, time_ms: int, active: Mapping[str, bool]) -> None:
        answering = [position for position in POSITIONS if active.get(self._names[position], False)]
        for position in [*self._came]:
            if position not in answering:
                del self._came[position], self._left[position]
        seen = tuple(position for position in answering if position not in self._stuck)
        blind = not seen and any(name not in active for name in self._names.values())
        if not blind:
            self._blind_since_ms = None
        elif self._blind_since_ms is None:
            self._blind_since_ms = time_ms
        if blind or seen != self._candidate:
            self._candidate = None if blind else seen
            self._since_ms = time_ms

    def _ripe(self, time_ms: int) -> list[Signal]:
        blind_ms = self._blind_since_ms
        if blind_ms is not None and self._accepted is not None and time_ms - blind_ms >= self._lift_ms:
            self._accepted = None
            return [PuckUnseen(self._puck)]
        seen = self._candidate
        if seen is None or seen == self._accepted:
            return []
        if time_ms - self._since_ms < (self._settle_ms if len(seen) == 1 else self._lift_ms):
            return []
        return self._believe()

    def _believe(self) -> list[Signal]:
        seen = self._candidate
        if seen is None:
            return []
        stuck = self._find_stuck(self._accepted or (), seen)
        for position in stuck:
            self._stuck[position] = Debouncer(self._settle_ms)
            self._stuck[position].level = True
            del self._came[position], self._left[position]
        signals: list[Signal] = [InputStuck(self._names[position]) for position in stuck]
        seen = tuple(position for position in seen if position not in stuck)
        initial = self._accepted is None
        self._accepted = self._candidate = seen
        if not seen:
            return [*signals, PuckLifted(initial, self._puck)]
        if len(seen) > 1:
            return [*signals, PuckFault(tuple(str(position) for position in seen), initial, self._puck)]
        return [*signals, PuckMoved(seen[0], "off" if seen[0] == "off" else "on", initial, self._puck)]

    def _find_stuck(self, before: tuple[Position, ...], seen: tuple[Position, ...]) -> list[Position]:
        """Keep book of who came and went while whom answered; who is stuck by that."""
        for position in seen:
            came = self._came.setdefault(position, set())
            left = self._left.setdefault(position, set())
            left |= {other for other in came if other in before and other not in seen}
            came |= {other for other in seen if other not in before}
        suspects = [position for position in seen if len(self._left[position]) >= PLACES_LEFT_MIN]
        return suspects if len(seen) - len(suspects) == 1 else []
