"""The players' places in the order in which a dealer works."""

from engine_lite.dealing_order import player_order

try:
    from typing import TYPE_CHECKING
except ImportError:  # MicroPython has no typing
    TYPE_CHECKING = False  # type: ignore[misc]
if TYPE_CHECKING:
    from collections.abc import Iterable


class Seats:
    """Who has a place. `places` gives it by name: 0, 1, 2 ... in the players' order."""

    def __init__(self, names: "Iterable[str]" = ()) -> None:
        self.places: "dict[str, int]" = {}
        # The one object that stands for all texts of a name.
        self._names = {name: name for name in names}
        self._number()

    def taken_by(self, player: str) -> str:
        """The player's name, who has a place from now on."""
        if player not in self._names:
            self._names[player] = player
            self._number()
        return self._names[player]

    def only(self, players: "Iterable[str]") -> "Seats":
        """The places of some of these players; all at once: one after the other takes as long as the square."""
        return Seats([self._names[name] for name in players])

    def _number(self) -> None:
        for place, name in enumerate(sorted(self._names, key=player_order)):
            self.places[name] = place
