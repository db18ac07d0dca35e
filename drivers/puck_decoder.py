"""Where the puck is, from the seven sensors under its places."""

from collections.abc import Mapping

from drivers.signals import POSITIONS, Position, PuckFault, PuckLifted, PuckMoved, Signal


class PuckDecoder:
    """Exactly one active sensor is the puck's place, none means lifted, more than one is a fault.

    A place is believed after `settle_ms`. None and several need the longer `lift_ms`: a puck on its way from one box
    to the next is a move, not a lift and a placing.
    """

    def __init__(self, *, settle_ms: int, lift_ms: int) -> None:
        self._settle_ms = settle_ms
        self._lift_ms = lift_ms
        self._accepted: tuple[Position, ...] | None = None
        self._candidate: tuple[Position, ...] | None = None
        self._since_ms = 0

    def feed(self, time_ms: int, active: Mapping[Position, bool]) -> list[Signal]:
        """Take one reading of the sensors; one that is missing from `active` counts as inactive."""
        seen = tuple(position for position in POSITIONS if active.get(position, False))
        if seen != self._candidate:
            self._candidate = seen
            self._since_ms = time_ms
            return []
        return self.poll(time_ms)

    def poll(self, time_ms: int) -> list[Signal]:
        """Let time pass with the sensors as they were last seen."""
        seen = self._candidate
        if seen is None or seen == self._accepted:
            return []
        if time_ms - self._since_ms < (self._settle_ms if len(seen) == 1 else self._lift_ms):
            return []
        initial = self._accepted is None
        self._accepted = seen
        if not seen:
            return [PuckLifted(initial)]
        if len(seen) > 1:
            return [PuckFault(tuple(str(position) for position in seen), initial)]
        return [PuckMoved(seen[0], "off" if seen[0] == "off" else "on", initial)]
