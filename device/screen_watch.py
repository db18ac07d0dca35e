"""When the screens of one terminal painted last, and whether the table's own one does no more. Pure.

Only a screen that has told that it paints is watched, and only the one that its address calls `?screen=table`, which is
what `boxman screen` opens; a page on anybody's laptop may be closed.
"""

from typing import Final

SCREEN: Final = "table"
"""What the page's address calls the table's own screen: `?screen=table`."""
SILENT_MAX_S: Final = 10.0
"""A page tells every two seconds that it paints; while another one is loaded, nothing does."""
SCREENS_MAX: Final = 8
# Looks that are farther apart: the terminal itself was held up, and what was told meanwhile is still to be read.
_HELD_UP_S: Final = 3.0


class ScreenWatch:
    """When each screen of one terminal painted last. Pure: `now_s` comes in and never goes back."""

    def __init__(self) -> None:
        self._painted_s: dict[str, float] = {}
        self._looked_s: float | None = None
        self._went_on_s = 0.0

    def painted(self, screen: str, now_s: float) -> None:
        """A screen tells that it has painted; of more than SCREENS_MAX, the one that told longest ago is forgotten."""
        self._painted_s.pop(screen, None)
        self._painted_s[screen] = now_s
        if len(self._painted_s) > SCREENS_MAX:
            self._painted_s.pop(next(iter(self._painted_s)))

    def ago_s(self, screen: str, now_s: float) -> float | None:
        """How long ago a screen painted; None: it never did while the terminal ran."""
        at_s = self._painted_s.get(screen)
        return None if at_s is None else now_s - at_s

    def is_silent(self, now_s: float) -> bool | None:
        """Whether the table's own screen paints no more; None: it never did. To be asked about once a second."""
        if self._looked_s is None or now_s - self._looked_s > _HELD_UP_S:
            self._went_on_s = now_s
        self._looked_s = now_s
        at_s = self._painted_s.get(SCREEN)
        return None if at_s is None else now_s - max(at_s, self._went_on_s) > SILENT_MAX_S
