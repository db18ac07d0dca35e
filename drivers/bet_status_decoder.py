"""What the bet-status buttons say: six box buttons pick a box, four status buttons set its status."""

from collections.abc import Mapping

from drivers.debounce import Debouncer
from drivers.signals import BOXES, BetStatusKeyed, BoxPicked, ButtonHeldAtStart, Signal, Status

STATUSES: tuple[Status, ...] = ("on", "off", "buy", "lay")
# Box buttons first: a box and a status that settle in the same reading were meant together.
BUTTONS = (*(f"box_{box}" for box in BOXES), *STATUSES)


class BetStatusDecoder:
    """Presses count, releases do not. The box button that is picked, pressed again, picks none.

    A status takes the pick with it: the next status needs a box of its own. A pick that no status follows within
    `pick_ms` is given up. BUY and LAY without a box are passed on as they are, for the session to refuse.
    """

    def __init__(self, *, settle_ms: int, pick_ms: int) -> None:
        self._buttons = {name: Debouncer(settle_ms) for name in BUTTONS}
        self._started: set[str] = set()
        self._pick_ms = pick_ms
        self._box: int | None = None
        self._picked_at_ms = 0

    def feed(self, time_ms: int, active: Mapping[str, bool]) -> list[Signal]:
        """Take one reading of the buttons by name; one that is missing from `active` keeps its state."""
        signals = self._give_up_pick(time_ms)
        for name, button in self._buttons.items():
            if name in active and button.feed(time_ms, active[name]):
                signals += self._changed(time_ms, name)
        return signals

    def poll(self, time_ms: int) -> list[Signal]:
        """Let time pass with the buttons as they were last seen."""
        signals = self._give_up_pick(time_ms)
        for name, button in self._buttons.items():
            if button.poll(time_ms):
                signals += self._changed(time_ms, name)
        return signals

    def _give_up_pick(self, time_ms: int) -> list[Signal]:
        if self._box is None or time_ms - self._picked_at_ms < self._pick_ms:
            return []
        self._box = None
        return [BoxPicked(None)]

    def _changed(self, time_ms: int, name: str) -> list[Signal]:
        down = self._buttons[name].level
        if name not in self._started:
            self._started.add(name)
            return [ButtonHeldAtStart(name)] if down else []
        if not down:
            return []
        for box in BOXES:
            if name == f"box_{box}":
                self._box = None if self._box == box else box
                self._picked_at_ms = time_ms
                return [BoxPicked(self._box)]
        status = next(status for status in STATUSES if status == name)
        keyed = BetStatusKeyed(status, self._box)
        if self._box is None:
            return [keyed]
        self._box = None
        return [keyed, BoxPicked(None)]
