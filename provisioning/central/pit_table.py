"""How one table stands, for the pit: out of what the archive has of it, what it says itself, and what time it is. Pure.

Two sources speak of a table. The archive has its events, verified, and so its game; its signs of life
(`device.presence`) say that it is there now, how far its journal goes and how much of that is delivered. A table is
shown as in order only while it is heard; when it last was is told by the centre's clocks alone, since a table's own may
be wrong by years.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from device.presence import SILENT_S, Presence
from provisioning.central.pit_database import Game, Names, Row, Standing

BEHIND_S: Final = 15.0
"""The archive takes an event within a second; where it has not for so long, what is shown is old."""

HOUR_NS: Final = 3600 * 10**9
RATE_AFTER_NS: Final = 600 * 10**9
"""Rolls an hour are told of ten minutes at least."""
MINUTE_S: Final = 60

STATES: Final = (
    "refused",  # the archive takes nothing further: a gap, a fork, a bad signature ...
    "fenced",  # the unit must not deliver: another one reports under its name
    "silent",  # open when it was last heard, and not heard now
    "alert",  # an alert stands that nobody has taken note of
    "undelivered",  # it is heard, but its events do not come through
    "behind",  # they come through, but the archive does not have them yet
    "unknown",  # it tells no signs of life, so it is known by its events only
    "never",  # it is in the list of tables, and was never heard
    "deaf",  # the central log is away, so nobody can be heard
    "listening",  # this service has not listened for long enough to know
    "seen",  # every alert that stands was taken note of
    "open",
    "closed",
    "closed_silent",  # closed when it was last heard, and not heard now
)
"""The worst first."""


@dataclass(frozen=True)
class Heard:
    """A unit's last sign of life: when, by this process's monotonic clock and by this machine's wall clock.

    `stuck`: it had undelivered events before as well, and the log has taken none of them since.
    """

    presence: Presence
    at_s: float
    at_ms: int
    stuck: bool


@dataclass
class Table:
    """What is known of a table. `known_s` is when `row` came to have its last event, `behind_since_s` since when the
    archive lacks events that the log has."""

    names: Names
    row: Row | None = None
    game: Game = field(default_factory=Game)
    known_s: float = 0.0
    behind_since_s: float | None = None
    heard_by_events: bool = False
    units: dict[str, Heard] = field(default_factory=dict)

    @property
    def heard(self) -> Heard | None:
        """The last sign of life of any unit."""
        return max(self.units.values(), key=lambda heard: heard.at_s, default=None)

    @property
    def speaking(self) -> Heard | None:
        """The last sign of life of the unit that delivers, where two of them are heard."""
        delivering = [heard for heard in self.units.values() if heard.presence.state != "fenced"]
        return max(delivering, key=lambda heard: heard.at_s, default=self.heard)


@dataclass(frozen=True)
class Moment:
    """When it is, by the monotonic clock, and since when the central log is listened to; None: it is away."""

    now_s: float
    listening_since_s: float | None


Seen = Callable[[Names, Standing], Mapping[str, Any] | None]
"""Who has taken note of an alert at the pit, and when."""


def view(table: Table, moment: Moment, seen: Seen) -> dict[str, Any]:
    """The table as the page shows it; the same again as long as nothing changes that anybody has to know."""
    row, game = table.row, table.game
    alerts = [_alert(table.names, standing, seen) for standing in game.alerts]
    state = _state(table, moment, alerts)
    heard = table.speaking if _is_heard(table, moment) else None
    is_open = row is not None and row.is_open
    return {
        "live": heard is not None,
        "site": table.names[0],
        "table": table.names[1],
        "state": state,
        "open": is_open,
        "rules": game.rules,
        "minimum": game.minimum,
        "maximum": game.maximum,
        "point": game.point if is_open else None,
        "shooter": game.shooter if is_open else None,
        "roll": game.roll,
        "roll_number": game.roll_number,
        "sets": list(game.dice_sets),
        "rate": _rate(table, moment) if is_open else None,
        "alerts": alerts,
        "seq": row.last_seq if row is not None else 0,
        "event_at": row.heard_at if row is not None else None,
        "undelivered": None if heard is None else max(0, heard.presence.seq - heard.presence.delivered),
        "behind": None if heard is None or row is None else max(0, heard.presence.delivered - row.last_seq),
        "refusal": _refusal(row),
    }


def _state(table: Table, moment: Moment, alerts: list[dict[str, Any]]) -> str:
    row = table.row
    is_open = row is not None and row.is_open
    heard = table.speaking
    if row is not None and row.refusal is not None:
        return "refused"
    if moment.listening_since_s is None:
        return "deaf"
    if not _is_heard(table, moment):
        return _unheard(table, moment, moment.listening_since_s, alerts)
    assert heard is not None
    if any(other.presence.state == "fenced" and _is_live(other, moment) for other in table.units.values()):
        return "fenced"
    if _is_unseen(alerts):
        return "alert"
    if heard.stuck:
        return "undelivered"
    is_behind = table.behind_since_s is not None and moment.now_s - table.behind_since_s > BEHIND_S
    if row is None or is_behind:
        return "behind"
    if alerts:
        return "seen"
    return "open" if is_open else "closed"


def _unheard(table: Table, moment: Moment, since_s: float, alerts: list[dict[str, Any]]) -> str:
    row = table.row
    if moment.now_s - since_s < SILENT_S:
        return "listening"
    if row is None:
        return "never"
    if not row.is_open:
        return "alert" if _is_unseen(alerts) else "closed_silent"
    # A terminal of an older version, or behind a server that lets no signs of life through.
    return "unknown" if table.heard is None and table.heard_by_events else "silent"


def _is_unseen(alerts: list[dict[str, Any]]) -> bool:
    return any(alert["at_table"] is None and alert["seen"] is None for alert in alerts)


def _is_heard(table: Table, moment: Moment) -> bool:
    return moment.listening_since_s is not None and any(_is_live(heard, moment) for heard in table.units.values())


def _is_live(heard: Heard, moment: Moment) -> bool:
    return moment.now_s - heard.at_s < SILENT_S


def _alert(names: Names, standing: Standing, seen: Seen) -> dict[str, Any]:
    return {
        "alert": standing.alert,
        "raised": standing.raised,
        "text": standing.text,
        "detail": standing.detail,
        "latched": standing.latched,
        "at_table": standing.acknowledged_by,
        "seen": seen(names, standing),
    }


def _refusal(row: Row | None) -> dict[str, Any] | None:
    if row is None or row.refusal is None:
        return None
    return {"kind": row.refusal.kind, "seq": row.refusal.seq, "reason": row.refusal.reason}


def _rate(table: Table, moment: Moment) -> int | None:
    """Rolls an hour in the last hour, or since the table was opened; None where that was just now.

    The time since the last event is this process's, in whole minutes, so that the figure rests between two rolls.
    """
    game = table.game
    idle_ns = int((moment.now_s - table.known_s) // MINUTE_S) * MINUTE_S * 10**9
    end_ns = game.last_ns + idle_ns
    begin_ns = max(game.since_ns, end_ns - HOUR_NS)
    if end_ns - begin_ns < RATE_AFTER_NS:
        return None
    thrown = sum(at_ns >= begin_ns for at_ns in game.thrown_ns)
    return round(thrown * HOUR_NS / (end_ns - begin_ns))
