"""What the bet-status buttons say: six box buttons pick a box, four status buttons set its status."""

from collections.abc import Mapping

from drivers.debounce import Debouncer
from drivers.signals import (
    BOXES,
    BetStatusKeyed,
    BoxPicked,
    ButtonHeldAtStart,
    InputFreed,
    InputStuck,
    Signal,
    Status,
)
from drivers.wiring import BUTTONS

STATUSES: tuple[Status, ...] = ("on", "off", "buy", "lay")


class BetStatusDecoder:
    """Presses count, releases do not. The box button that is picked, pressed again, picks none.

    A status takes the pick with it: the next status needs a box of its own. A pick that no status follows within
    `pick_ms` is given up. BUY and LAY without a box are passed on as they are, for the session to refuse.
    Box buttons are looked at first: a box and a status that settle in the same reading were meant together.

    A button that is down for `stuck_ms` is stuck until it is up again. The others work all the while.
    """

    def __init__(self, *, settle_ms: int, pick_ms: int, stuck_ms: int) -> None:
        self._settle_ms = settle_ms
        self._pick_ms = pick_ms
        self._stuck_ms = stuck_ms
        self._buttons = {name: Debouncer(settle_ms) for name in BUTTONS}
        self._started: set[str] = set()
        self._down_since_ms: dict[str, int] = {}
        self._stuck: set[str] = set()
        self._box: int | None = None
        self._picked_at_ms = 0

    @property
    def unsettled(self) -> bool:
        """Whether a button is moving, or is down and not stuck."""
        moving = any(not button.settled for button in self._buttons.values())
        return moving or bool(self._down_since_ms.keys() - self._stuck)

    @property
    def half_done(self) -> bool:
        """Whether something that was fed may still become part of a later signal: a box is picked."""
        return self._box is not None

    def feed(self, time_ms: int, active: Mapping[str, bool]) -> list[Signal]:
        """Take one reading of the buttons by input name; one that is missing from `active` keeps its state."""
        signals = self._give_up_pick(time_ms)
        for name, button in self._buttons.items():
            if name in active and button.feed(time_ms, active[name]):
                signals += self._changed(time_ms, name)
        return signals + self._find_stuck(time_ms)

    def poll(self, time_ms: int) -> list[Signal]:
        """Let time pass with the buttons as they were last seen."""
        signals = self._give_up_pick(time_ms)
        for name, button in self._buttons.items():
            if button.poll(time_ms):
                signals += self._changed(time_ms, name)
        return signals + self._find_stuck(time_ms)

    def forget(self, name: str) -> None:
        """The button could not be read for a while: how it is found then is a state at start, and no press."""
        self._buttons[name] = Debouncer(self._settle_ms)
        self._started.discard(name)
        self._down_since_ms.pop(name, None)

    def _give_up_pick(self, time_ms: int) -> list[Signal]:
        if self._box is None or time_ms - self._picked_at_ms < self._pick_ms:
            return []
        self._box = None
        return [BoxPicked(None)]

    def _find_stuck(self, time_ms: int) -> list[Signal]:
        signals: list[Signal] = []
        for name, since_ms in self._down_since_ms.items():
            # One whose newest reading is up is about to be let go, however late that was seen.
            seen_down = self._buttons[name].settled
            if seen_down and name not in self._stuck and time_ms - since_ms >= self._stuck_ms:
                self._stuck.add(name)
                signals.append(InputStuck(name))
        return signals

    def _changed(self, time_ms: int, name: str) -> list[Signal]:
        at_start = name not in self._started
        self._started.add(name)
        if not self._buttons[name].level:
            self._down_since_ms.pop(name, None)
            if name not in self._stuck:
                return []
            self._stuck.remove(name)
            return [InputFreed(name)]
        self._down_since_ms[name] = time_ms
        return [ButtonHeldAtStart(name)] if at_start else self._pressed(time_ms, name)

    def _pressed(self, time_ms: int, name: str) -> list[Signal]:
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
