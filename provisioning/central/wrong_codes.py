"""How many wrong codes somebody may show at the enrolment before the next one is not looked at. Pure."""

from collections import deque
from typing import Final

TRIES_MAX: Final = 10
WITHIN_S: Final = 60.0
ADDRESSES_MAX: Final = 1_000


class WrongCodes:
    """Ten wrong codes within a minute, by address; of the addresses only those that were last wrong are remembered."""

    def __init__(self) -> None:
        self._wrong_s: dict[str, deque[float]] = {}

    def may_try(self, address: str, now_s: float) -> bool:
        """Whether a code from there is looked at. `now_s` is monotonic, as in every call."""
        tries = self._wrong_s.get(address)
        return tries is None or len(tries) < TRIES_MAX or now_s - tries[0] >= WITHIN_S

    def note(self, address: str, now_s: float) -> None:
        """A wrong one came from there."""
        tries = self._wrong_s.pop(address, None) or deque(maxlen=TRIES_MAX)
        tries.append(now_s)
        self._wrong_s[address] = tries
        if len(self._wrong_s) > ADDRESSES_MAX:
            del self._wrong_s[next(iter(self._wrong_s))]
