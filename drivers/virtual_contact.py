"""One contact of a virtual table: how a hand has left it, and how its faults let it be seen. No clock and no pin."""

from collections import deque
from random import Random

from drivers.virtual_faults import Fault


class Contact:
    """A contact between a pin and ground. `closed` is what the hand did, `level` what was last handed out.

    Time comes in with each call, in milliseconds that do not go back.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.closed = False
        self.level = False
        self._faults: dict[str, tuple[Fault, Random]] = {}
        # What a bouncing contact has still to do: (when, closed). At most two a bounce, and one.
        self._train: deque[tuple[int, bool]] = deque()
        self._wire = False

    @property
    def dead(self) -> bool:
        """Whether it cannot be read."""
        return "dead" in self._faults

    @property
    def moving(self) -> bool:
        """Whether it has not come to rest."""
        return bool(self._train)

    def set_fault(self, fault: Fault) -> None:
        """Let it have this fault, in the place of another one of its kind; the dice begin anew."""
        self._faults[fault.kind] = (fault, fault.random(self.name))

    def mend(self, kind: str) -> None:
        """Take a fault away, if it has it."""
        self._faults.pop(kind, None)

    def move(self, closed: bool, now_ms: int) -> None:
        """Close or open it."""
        if closed == self.closed:
            return
        self.closed = closed
        self._train.clear()
        times = [now_ms]
        if "bounce" in self._faults:
            fault, random = self._faults["bounce"]
            bounces = random.randint(1, fault.number("bounces"))
            times += sorted(now_ms + random.randint(0, fault.number("spread_ms")) for _ in range(2 * bounces))
        self._train.extend((at_ms, closed == (n % 2 == 0)) for n, at_ms in enumerate(times))

    def changes(self, now_ms: int) -> list[tuple[bool, bool]]:
        """The changes of its level up to now, oldest first, each with whether anybody is told of it."""
        changes: list[tuple[bool, bool]] = []
        while self._train and self._train[0][0] <= now_ms:
            self._wire = self._train.popleft()[1]
            self._take(changes)
        # A fault that came or went may have changed it without a movement.
        self._take(changes)
        return changes

    def _take(self, changes: list[tuple[bool, bool]]) -> None:
        level = bool(self._faults["stuck"][0].number("active")) if "stuck" in self._faults else self._wire
        if level == self.level:
            return
        self.level = level
        told = not self.dead
        if told and "lost_edge" in self._faults:
            fault, random = self._faults["lost_edge"]
            told = random.randrange(100) >= fault.number("chance")
        changes.append((level, told))
