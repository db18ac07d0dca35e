"""A table's sign of life: a short message that no log keeps, told beside the journal while the link is up.

A table at which nothing happens writes no events, so its journal alone cannot tell it from one that has gone. The
message says how far the journal goes and how much of it the central log has, which only the table itself knows.
"""

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, NoReturn

from device.event import INTEGER_MAX

PRESENCE_S: Final = 10.0
SILENT_S: Final = 25.0
"""A table that is heard has told twice in this time, with some to spare."""

STATES: Final = ("online", "fenced")
BYTES_MAX: Final = 512
_UNIT_LENGTH_MAX: Final = 32
_VERSION: Final = 1

UNIT: Final = secrets.token_hex(4)
"""Names this run of the terminal, so that two units under one table's name are told apart."""


class BadPresence(ValueError):
    """A message that is no sign of life; the text says in one line what would be right."""


@dataclass(frozen=True)
class Presence:
    """What a unit says of itself: its journal's last event, and the last that the central log has acknowledged.

    `state` is "fenced" where the unit must not deliver, since the log holds another history than its own.
    """

    unit: str
    seq: int
    delivered: int
    state: str

    def payload(self) -> bytes:
        """The message."""
        said = {"v": _VERSION, "unit": self.unit, "seq": self.seq, "delivered": self.delivered, "state": self.state}
        return json.dumps(said, separators=(",", ":")).encode()


def read_presence(payload: bytes) -> Presence:
    """The message as it was told. Raises BadPresence."""
    if len(payload) > BYTES_MAX:
        raise BadPresence(f"the message has {len(payload)} bytes, at most {BYTES_MAX} are right")
    try:
        said = json.loads(payload)
    except (ValueError, RecursionError):
        raise BadPresence("the message is no JSON") from None
    if not isinstance(said, dict) or said.get("v") != _VERSION:
        raise BadPresence(f"the message must be an object with v = {_VERSION}")
    unit, state = said.get("unit"), said.get("state")
    if not isinstance(unit, str) or not unit.isalnum() or len(unit) > _UNIT_LENGTH_MAX:
        raise BadPresence(f"unit must be 1 to {_UNIT_LENGTH_MAX} letters or digits")
    if state not in STATES:
        raise BadPresence(f"state must be one of {', '.join(STATES)}")
    return Presence(unit, _event_number(said, "seq"), _event_number(said, "delivered"), state)


def _event_number(said: dict[str, object], name: str) -> int:
    value = said.get(name)
    if type(value) is not int or not 0 <= value <= INTEGER_MAX:
        raise BadPresence(f"{name} must be the number of an event")
    return value


async def keep_telling(tell: Callable[[bytes], Awaitable[None]], presence: Callable[[], Presence]) -> NoReturn:
    """Tell at once and every PRESENCE_S, until cancelled."""
    while True:
        await tell(presence().payload())
        await asyncio.sleep(PRESENCE_S)
