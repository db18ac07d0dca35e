"""What the six dice keys say: two presses enter a roll, holding 1 takes back, holding 2 names a new shooter."""

from collections.abc import Mapping

from drivers.debounce import Debouncer
from drivers.signals import (
    ButtonHeldAtStart,
    DiceEntryAbandoned,
    DiceKeyed,
    DieKeyed,
    InputFreed,
    InputStuck,
    NewShooterKeyed,
    Signal,
    TakeBackKeyed,
)
from drivers.wiring import DICE_KEYS

TAKE_BACK_KEY = 1
NEW_SHOOTER_KEY = 2
PALM_KEYS = 3
# Nobody throws again so soon: within this time of a first die that was entered in another way, the next is its second.
SAME_THROW_MS = 3_000


class DiceKeysDecoder:
    """Fed with debounced presses and releases and with the time of whoever debounced them.

    - A die is keyed when its key is released before `hold_ms`. A longer press is never a die, on any key.
    - Keys 1 and 2 held alone for `hold_ms` speak at once; with another key down meanwhile they do not.
    - Two keys down together are two dice, in the order of their release. Three or more are a palm: none of them
      counts until all are up again.
    - A lone first die is given up after `abandon_ms`, unless a key is down just then. With a first die pending,
      holding 1 takes that die back and nothing else.
    - When the roll was entered in another way after its first die, its second die is given up as well.
    - A key that is down for `stuck_ms`, which is longer than `hold_ms`, is stuck. Until it is up again the others work
      as if it were up already.

    A release says itself how long its key was down, so that one whose press was not heard still counts once.
    """

    def __init__(self, *, hold_ms: int, abandon_ms: int, stuck_ms: int) -> None:
        self._hold_ms = hold_ms
        self._abandon_ms = abandon_ms
        self._stuck_ms = stuck_ms
        # The keys that are down and not stuck, and since when.
        self._down: dict[int, int] = {}
        self._stuck: set[int] = set()
        # Of those that are down, the ones whose newest reading is up, though it has not settled.
        self._seen_up: set[int] = set()
        # The keys that have been down from the beginning.
        self._initial: set[int] = set()
        self._palm = False
        self._holding: int | None = None
        self._holding_since_ms = 0
        self._first: int | None = None
        self._first_at_ms = 0
        # When the first die was keyed whose roll was entered in another way, until its second has come.
        self._given_up_at_ms: int | None = None

    @property
    def pending(self) -> int | None:
        """The first die, while the second is awaited."""
        return self._first

    @property
    def half_done(self) -> bool:
        """Whether something that was fed may still become part of a later signal.

        Every press may, until its key is up or stuck: as a die, as a hold, or as one of those that make a palm. And
        who looks anew must know of a first die that was given up, as long as its second may come.
        """
        return self._first is not None or self._given_up_at_ms is not None or self.key_down

    @property
    def key_down(self) -> bool:
        """Whether a key is down that is not stuck."""
        return bool(self._down)

    def start(self, time_ms: int, down_since_ms: Mapping[int, int]) -> list[Signal]:
        """These keys are down already, each since then, and what their presses had to say has been said."""
        self._down = dict(down_since_ms)
        signals = self._find_stuck(time_ms)
        self._palm = len(self._down) >= PALM_KEYS
        return signals

    def seen(self, key: int, down: bool) -> None:
        """The newest reading of a key that is down and not yet debounced: while it is up, no hold ripens of it."""
        if down:
            self._seen_up.discard(key)
        elif key in self._down:
            self._seen_up.add(key)

    def feed(self, time_ms: int, key: int, down: bool, *, held_ms: int, initial: bool) -> list[Signal]:
        """Take one press or release of `key`, 1 to 6.

        `held_ms`, of a release: how long the key was down. `initial`: the key was down already when somebody
        began to look; neither that press nor its release counts.
        """
        signals = self.poll(time_ms)
        if down and key in self._stuck:
            return signals
        if down:
            self._down[key] = time_ms
            self._palm = self._palm or len(self._down) >= PALM_KEYS
            alone = len(self._down) == 1 and not initial
            self._holding = key if alone and key in (TAKE_BACK_KEY, NEW_SHOOTER_KEY) else None
            self._holding_since_ms = time_ms
            if not initial:
                return signals
            self._initial.add(key)
            return [*signals, ButtonHeldAtStart(f"dice_key_{key}")]
        initial = initial or key in self._initial
        self._initial.discard(key)
        self._seen_up.discard(key)
        if key in self._stuck:
            self._stuck.remove(key)
            return [*signals, InputFreed(f"dice_key_{key}")]
        if initial and key not in self._down:
            return signals
        palm = self._palm
        self._down.pop(key, None)
        self._holding = None
        self._palm = palm and bool(self._down)
        if initial or palm or held_ms >= self._hold_ms:
            return signals
        if self._first is None:
            if self._given_up_at_ms is not None:
                self._given_up_at_ms = None
                return [*signals, DiceEntryAbandoned(key, "entered_elsewhere")]
            self._first = key
            self._first_at_ms = time_ms
            return [*signals, DieKeyed(key)]
        first, self._first = self._first, None
        return [*signals, DiceKeyed(first, key)]

    def give_up(self) -> None:
        """The roll was entered in another way: a lone first die is forgotten, and the second when it comes."""
        if self._first is not None:
            self._first, self._given_up_at_ms = None, self._first_at_ms

    def given_up_before(self, time_ms: int) -> None:
        """Before the start: a first die was keyed then whose roll was entered in another way."""
        self._given_up_at_ms = time_ms

    def forget(self, key: int) -> None:
        """The key could not be read for a while: whatever it was doing, it is taken to be up."""
        self._down.pop(key, None)
        self._initial.discard(key)
        self._seen_up.discard(key)
        if self._holding == key:
            self._holding = None
        self._palm = self._palm and bool(self._down)

    def poll(self, time_ms: int) -> list[Signal]:
        """Let time pass: holds ripen, keys turn out to be stuck and a lone die is given up."""
        signals: list[Signal] = []
        first = self._first
        if self._given_up_at_ms is not None and time_ms - self._given_up_at_ms >= SAME_THROW_MS:
            self._given_up_at_ms = None
        if self._hold_ripe(time_ms):
            take_back = self._holding == TAKE_BACK_KEY
            self._holding = None
            self._first = None
            if first is not None:
                signals.append(DiceEntryAbandoned(first, "taken_back" if take_back else "new_shooter"))
            if not take_back:
                signals.append(NewShooterKeyed())
            elif first is None:
                signals.append(TakeBackKeyed())
        signals += self._find_stuck(time_ms)
        if self._first is not None and not self._down and time_ms - self._first_at_ms >= self._abandon_ms:
            signals.append(DiceEntryAbandoned(self._first, "timeout"))
            self._first = None
        return signals

    def _hold_ripe(self, time_ms: int) -> bool:
        if self._holding is None or self._holding in self._seen_up:
            return False
        return time_ms - self._holding_since_ms >= self._hold_ms

    def _find_stuck(self, time_ms: int) -> list[Signal]:
        found = [
            key
            for key, since_ms in self._down.items()
            if key not in self._seen_up and time_ms - since_ms >= self._stuck_ms
        ]
        for key in found:
            del self._down[key]
            self._stuck.add(key)
        self._palm = self._palm and bool(self._down)
        return [InputStuck(f"dice_key_{key}") for key in found]


class DiceKeyContacts:
    """The same keys on the header, where nobody has debounced them yet: fed with levels.

    A key that is down when it is first read says so and is no press. A key was down for as long as it was seen so: when
    nobody looked for two seconds, a tap is a tap and no hold.
    """

    def __init__(self, decoder: DiceKeysDecoder, *, settle_ms: int) -> None:
        self._decoder = decoder
        self._settle_ms = settle_ms
        self._contacts = {name: Debouncer(settle_ms) for name in DICE_KEYS}
        # Of each key that is down: when it had settled, and when it was last seen so.
        self._down_since_ms: dict[str, int] = {}
        self._seen_down_ms: dict[str, int] = {}
        self._started: set[str] = set()

    @property
    def unsettled(self) -> bool:
        """Whether a key is moving, or is down and not stuck."""
        return self._decoder.key_down or any(not contact.settled for contact in self._contacts.values())

    def feed(self, time_ms: int, active: Mapping[str, bool]) -> list[Signal]:
        """Take one reading of the keys by input name; one that is missing from `active` keeps its state."""
        signals: list[Signal] = []
        # All of them first, because any change lets time pass for all.
        for key, name in enumerate(self._contacts, 1):
            if name in active and name in self._down_since_ms:
                self._decoder.seen(key, active[name])
                if active[name]:
                    self._seen_down_ms[name] = time_ms
        for key, (name, contact) in enumerate(self._contacts.items(), 1):
            if name in active and contact.feed(time_ms, active[name]):
                signals += self._changed(time_ms, key, name)
        return signals + self._decoder.poll(time_ms)

    def forget(self, name: str) -> None:
        """The key could not be read for a while: how it is found then is a state at start, and no press."""
        self._contacts[name] = Debouncer(self._settle_ms)
        self._started.discard(name)
        self._down_since_ms.pop(name, None)
        self._decoder.forget(DICE_KEYS.index(name) + 1)

    def _changed(self, time_ms: int, key: int, name: str) -> list[Signal]:
        initial = name not in self._started
        self._started.add(name)
        if self._contacts[name].level:
            self._down_since_ms[name] = self._seen_down_ms[name] = time_ms
            return self._decoder.feed(time_ms, key, True, held_ms=0, initial=initial)
        held_ms = self._seen_down_ms[name] - self._down_since_ms.pop(name) if name in self._down_since_ms else 0
        return self._decoder.feed(time_ms, key, False, held_ms=held_ms, initial=initial)
