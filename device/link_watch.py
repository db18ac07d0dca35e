"""Watches the link to the central system: says when it was lost and when it is back, without its flapping. Pure."""

from typing import Any, Final

from device.hourly_limit import HOUR_MS, HourlyLimit

LASTED_MS: Final = 5_000
"""A state that is over sooner is not told by itself, only counted."""

Entry = tuple[str, dict[str, Any]]


class LinkWatch:
    """The link of one uplink, from the start of the program on, when it is not up yet."""

    def __init__(self, now_ms: int) -> None:
        """`now_ms` is monotonic, as in every call."""
        self._up = False
        self._since_ms = now_ms
        self._reason: str | None = None
        # When it went down last, and how much had not been delivered when it came back.
        self._lost_ms = now_ms
        self._undelivered = 0
        self._was_up = False
        # What was told last; None: nothing yet.
        self._told_up: bool | None = None
        self._limit = HourlyLimit()
        # Changes that lasted and that there was no room to tell of; whether the last one is among them.
        self._untold = 0
        self._is_counted = False
        # States that were over too soon and are not told of yet, and when some were told of last.
        self._brief = 0
        self._brief_told_ms: int | None = None

    def note(self, *, up: bool, reason: str | None, undelivered: int, now_ms: int) -> None:
        """How the link is now. `reason`: why it is down; `undelivered`: how many events wait."""
        if up != self._up:
            # That it is not up yet is how every start begins.
            if self._was_up and now_ms - self._since_ms < LASTED_MS:
                self._brief += 1
            self._up, self._since_ms, self._is_counted = up, now_ms, False
            if up:
                self._undelivered = undelivered
            else:
                self._lost_ms = now_ms
        self._reason = None if up else reason or self._reason
        self._was_up = self._was_up or up

    def look(self, now_ms: int) -> list[Entry]:
        """What there is to be told now: `link_lost` or `link_regained`, and `link_unsteady`.

        The last says how many `changes` were over within LASTED_MS: at once, and then once an hour in sum.
        """
        return [*self._brief_changes(now_ms), *self._lasting_change(now_ms)]

    def _brief_changes(self, now_ms: int) -> list[Entry]:
        if not self._brief or (self._brief_told_ms is not None and now_ms - self._brief_told_ms < HOUR_MS):
            return []
        changes, self._brief, self._brief_told_ms = self._brief, 0, now_ms
        return [("link_unsteady", {"changes": changes})]

    def _lasting_change(self, now_ms: int) -> list[Entry]:
        if now_ms - self._since_ms < LASTED_MS:
            return []
        if self._told_up is None and self._up:
            # It came up as it should, and nobody was told otherwise.
            self._told_up = True
        if self._told_up == self._up and not self._untold:
            return []
        if not self._limit.has_room(now_ms):
            if not self._is_counted:
                self._is_counted = True
                self._untold += 1
            return []
        untold = self._untold - self._is_counted
        said: dict[str, Any] = {"untold": untold} if untold else {}
        self._limit.note(now_ms)
        self._told_up, self._untold, self._is_counted = self._up, 0, False
        if self._up:
            away = {"away_ms": self._since_ms - self._lost_ms, "undelivered": self._undelivered}
            return [("link_regained", away | said)]
        said["reason"] = self._reason or "there is no connection"
        if not self._was_up:
            said["never_connected"] = True
        return [("link_lost", said)]
