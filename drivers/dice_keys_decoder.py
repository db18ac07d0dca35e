"""What the six dice keys say: two presses enter a roll, holding 1 takes back, holding 2 names a new shooter."""

from drivers.signals import (
    ButtonHeldAtStart,
    DiceEntryAbandoned,
    DiceKeyed,
    DieKeyed,
    NewShooterKeyed,
    Signal,
    TakeBackKeyed,
)

TAKE_BACK_KEY = 1
NEW_SHOOTER_KEY = 2
PALM_KEYS = 3


class DiceKeysDecoder:
    """Fed with debounced presses and releases and with the time of whoever debounced them.

    - A die is keyed when its key is released before `hold_ms`. A longer press is never a die, on any key.
    - Keys 1 and 2 held alone for `hold_ms` speak at once; with another key down meanwhile they do not.
    - Two keys down together are two dice, in the order of their release. Three or more are a palm: none of them
      counts until all are up again.
    - A lone first die is given up after `abandon_ms`, unless a key is down just then. With a first die pending,
      holding 1 takes that die back and nothing else.

    A release says itself how long its key was down, so that a program which starts in the middle of a press, after
    the press was acknowledged, still counts it once.
    """

    def __init__(self, *, hold_ms: int, abandon_ms: int) -> None:
        self._hold_ms = hold_ms
        self._abandon_ms = abandon_ms
        self._down: set[int] = set()
        self._palm = False
        self._holding: int | None = None
        self._holding_since_ms = 0
        self._first: int | None = None
        self._first_at_ms = 0

    @property
    def pending(self) -> int | None:
        """The first die, while the second is awaited."""
        return self._first

    @property
    def half_done(self) -> bool:
        """Whether something that was fed may still become part of a later signal."""
        return self._first is not None or self._holding is not None

    def feed(self, time_ms: int, key: int, down: bool, *, held_ms: int, initial: bool) -> list[Signal]:
        """Take one press or release of `key`, 1 to 6.

        `held_ms`, of a release: how long the key was down. `initial`: the key was down already when the
        node began to look; neither that press nor its release counts.
        """
        signals = self.poll(time_ms)
        if down:
            self._down.add(key)
            self._palm = self._palm or len(self._down) >= PALM_KEYS
            alone = len(self._down) == 1 and not initial
            self._holding = key if alone and key in (TAKE_BACK_KEY, NEW_SHOOTER_KEY) else None
            self._holding_since_ms = time_ms
            return [*signals, ButtonHeldAtStart(f"dice_key_{key}")] if initial else signals
        palm = self._palm
        self._down.discard(key)
        self._holding = None
        self._palm = palm and bool(self._down)
        if initial or palm or held_ms >= self._hold_ms:
            return signals
        if self._first is None:
            self._first = key
            self._first_at_ms = time_ms
            return [*signals, DieKeyed(key)]
        first, self._first = self._first, None
        return [*signals, DiceKeyed(first, key)]

    def give_up(self) -> None:
        """The roll was entered in another way: a lone first die is forgotten."""
        self._first = None

    def poll(self, time_ms: int) -> list[Signal]:
        """Let time pass: holds ripen and a lone die is given up."""
        signals: list[Signal] = []
        first = self._first
        if first is not None and not self._down and time_ms - self._first_at_ms >= self._abandon_ms:
            self._first = None
            signals.append(DiceEntryAbandoned(first, "timeout"))
        elif self._holding is not None and time_ms - self._holding_since_ms >= self._hold_ms:
            take_back = self._holding == TAKE_BACK_KEY
            self._holding = None
            self._first = None
            if first is not None:
                signals.append(DiceEntryAbandoned(first, "taken_back" if take_back else "new_shooter"))
            if not take_back:
                signals.append(NewShooterKeyed())
            elif first is None:
                signals.append(TakeBackKeyed())
        return signals
