"""When each contact last began to move: what moves as one is wired as one, or moved by one thing. Pure: no clock."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from drivers.wiring import group_of

TOGETHER_MS: Final = 100
"""Contacts that begin to move within this move together: hands that open a lid and then reach for a die are slower.

A contact that is still for so long has come to rest; until then, its bounces belong to one movement.
"""

_CLOSED_AT_REST: Final = ("reserve", "slots", "door")


def rests_closed(name: str) -> bool:
    """Whether this contact is closed while nobody touches the table: lid and door are shut, dice lie in the reserve."""
    return group_of(name) in _CLOSED_AT_REST


class _Contact(NamedTuple):
    """A contact's level and since when; its last movement, from which level it came, None while it has not moved."""

    level: bool
    since_ms: int
    began_ms: int | None
    came_from: bool


class Movements:
    """The last movement of each contact."""

    def __init__(self) -> None:
        self._contacts: dict[str, _Contact] = {}

    def take(self, at_ms: int, levels: Mapping[str, bool]) -> None:
        """Take on the levels at a moment; `at_ms` never goes back."""
        for name, level in levels.items():
            last = self._contacts.get(name)
            if last is None:
                self._contacts[name] = _Contact(level, at_ms - TOGETHER_MS, None, level)
            elif level is not last.level:
                was_still = at_ms - last.since_ms >= TOGETHER_MS
                began_ms, came_from = (at_ms, last.level) if was_still else (last.began_ms, last.came_from)
                self._contacts[name] = _Contact(level, at_ms, began_ms, came_from)

    def came_from_rest(self, name: str) -> bool:
        """Whether its last movement took the contact away from how it rests, or it has not moved from there."""
        contact = self._contacts.get(name)
        return contact is not None and contact.came_from is rests_closed(name)

    def together(self, name: str, closed: bool) -> set[str]:
        """The contacts that moved as this one did when it last came to be closed, or open; none while that is over."""
        own = self._contacts.get(name)
        if own is None or own.began_ms is None or own.came_from is closed:
            return set()
        return {
            other
            for other, contact in self._contacts.items()
            if other != name
            and contact.began_ms is not None
            and contact.came_from is own.came_from
            and abs(contact.began_ms - own.began_ms) <= TOGETHER_MS
        }
