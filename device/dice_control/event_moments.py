"""When each event of a journal was, by its order, its monotonic clock, and as much of its wall clock as can be true.

Order is by seq, and moments never go back from one event to the next, so that a day is an unbroken part of the journal.
A synced clock may still be wrong: set by hand, or by a time server that is. It is believed only as far as the others
bear it out:

  - Readings of one boot whose wall time less monotonic time is the same, within SAME_S, are one setting of the clock.
    Of each boot one setting is believed, or none, so that no reading in 1970 or 2037 moves its neighbours.
  - The settings believed follow each other in time. Of all ways to choose them so, the one that has most boots on its
    side, each for as much as the share of its readings; where two are even, the one that ends first, for a clock that
    ran ahead is set back.
  - What was read before EARLIEST is never believed.

An event whose own synced reading is believed has that as its moment. Any other of that boot is placed by the monotonic
clock; events of a boot of which nothing is believed keep their wall time, held between the boots beside them. `clock`
then says which it is: synced, free (the clock was not synced), or wrong (synced, and not believed).
"""

from bisect import bisect_right, insort
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Protocol

from device.event import Event

SAME_S = 60
EARLIEST = datetime(2020, 1, 1, tzinfo=UTC)
# Of one boot; further ones, of a clock that is never twice the same, are not believed.
SETTINGS_MAX = 100
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SAME_US = SAME_S * 1_000_000
# What a boot counts whose readings all agree.
_WHOLE_BOOT = 1_000_000
# A smaller drift of the clock is not followed for events that it does not stamp.
_DRIFT_US = 1_000_000


class Timed(Protocol):
    """What has a moment."""

    seq: int
    at: datetime
    clock: str


@dataclass(slots=True)
class Moment:
    """When an event was."""

    seq: int
    at: datetime
    clock: str


def wall_of(event: Event) -> datetime:
    """What the wall clock said."""
    return datetime.fromisoformat(event.wall)


def lapse_ms(first: Event, last: Event) -> int | None:
    """From one event to a later one of the same boot, by the monotonic clock; None over a restart of the machine."""
    return (last.mono_ns - first.mono_ns) // 1_000_000 if first.boot == last.boot else None


def between_ms(first: Timed, last: Timed) -> int | None:
    """From one moment to a later one, where both are by a synced clock."""
    if first.clock == last.clock == "synced":
        return (last.at - first.at) // timedelta(milliseconds=1)
    return None


@dataclass
class _Setting:
    """Readings of one boot that agree. `offsets`: (monotonic, wall less monotonic), microseconds, where it drifted."""

    offsets: list[tuple[int, int]]
    latest: int
    first_us: int
    last_us: int
    readings: int = 1

    def wall_us(self, mono_us: int) -> int:
        place = bisect_right(self.offsets, mono_us, key=lambda at: at[0])
        return mono_us + self.offsets[max(0, place - 1)][1]


@dataclass
class _Boot:
    name: str
    first_mono_us: int
    last_mono_us: int
    readings: int = 0
    settings: list[_Setting] = field(default_factory=list)
    believed: _Setting | None = None

    def read(self, mono_us: int, wall_us: int) -> None:
        self.readings += 1
        offset = wall_us - mono_us
        for setting in self.settings:
            if abs(offset - setting.latest) <= _SAME_US:
                setting.readings += 1
                setting.latest, setting.last_us = offset, max(wall_us, setting.last_us)
                if abs(offset - setting.offsets[-1][1]) > _DRIFT_US:
                    setting.offsets.append((mono_us, offset))
                return
        if len(self.settings) < SETTINGS_MAX:
            self.settings.append(_Setting([(mono_us, offset)], offset, wall_us, wall_us))


@dataclass
class _Way:
    """A choice of settings: where it ends, how much it has on its side, and the last of them."""

    ends_us: int
    score: int
    boot: _Boot
    setting: _Setting
    before: "_Way | None"


@dataclass
class _Waiting:
    timed: Timed
    boot: int
    mono_us: int
    wall_us: int


class EventMoments:
    """Takes every event, in order, and gives moments when all are known."""

    def __init__(self) -> None:
        self._boots: list[_Boot] = []
        self._waiting: list[_Waiting] = []

    def see(self, event: Event) -> None:
        """Take note of an event's stamp."""
        mono_us = event.mono_ns // 1000
        if not self._boots or self._boots[-1].name != event.boot:
            self._boots.append(_Boot(event.boot, mono_us, mono_us))
        boot = self._boots[-1]
        boot.last_mono_us = mono_us
        wall = wall_of(event)
        if event.clock == "synced":
            if wall >= EARLIEST:
                boot.read(mono_us, _us(wall))
            else:
                boot.readings += 1

    def add(self, timed: Timed, event: Event) -> None:
        """Give `timed` the moment of an event that was seen before, when all are known."""
        boot = len(self._boots) - 1
        while self._boots[boot].name != event.boot:
            boot -= 1
        self._waiting.append(_Waiting(timed, boot, event.mono_ns // 1000, _us(wall_of(event))))

    def settle(self) -> None:
        """Give all their moments."""
        _believe(self._boots)
        lower, upper = _bounds(self._boots)
        latest = datetime.min.replace(tzinfo=UTC)
        for waiting in sorted(self._waiting, key=lambda waiting: waiting.timed.seq):
            timed, setting = waiting.timed, self._boots[waiting.boot].believed
            moment_us = waiting.wall_us
            if setting is not None:
                by_monotonic = setting.wall_us(waiting.mono_us)
                is_believed = timed.clock == "synced" and abs(moment_us - by_monotonic) <= _SAME_US
                if not is_believed:
                    moment_us = by_monotonic
            else:
                is_believed = False
                moment_us = max(moment_us, lower[waiting.boot] or moment_us)
                moment_us = min(moment_us, upper[waiting.boot] or moment_us)
            if timed.clock == "synced" and not is_believed:
                timed.clock = "wrong"
            latest = timed.at = max(_EPOCH + timedelta(microseconds=moment_us), latest)
        self._waiting.clear()


def _believe(boots: Iterable[_Boot]) -> None:
    """Choose the setting of each boot that is believed."""
    # By where they end; a way that ends later is there only if it has more on its side.
    ways: list[_Way] = []
    for boot in boots:
        found: list[_Way] = []
        for setting in boot.settings:
            place = bisect_right(ways, setting.first_us + _SAME_US, key=lambda way: way.ends_us)
            before = ways[place - 1] if place else None
            score = _WHOLE_BOOT * setting.readings // boot.readings + (before.score if before else 0)
            ends_us = max(setting.last_us, before.ends_us if before else 0)
            found.append(_Way(ends_us, score, boot, setting, before))
        for way in found:
            place = bisect_right(ways, way.ends_us, key=lambda other: other.ends_us)
            if place and ways[place - 1].score >= way.score:
                continue
            ways[:] = [other for other in ways if other.ends_us < way.ends_us or other.score > way.score]
            insort(ways, way, key=lambda other: other.ends_us)
    last = ways[-1] if ways else None
    while last is not None:
        last.boot.believed = last.setting
        last = last.before


def _bounds(boots: list[_Boot]) -> tuple[list[int | None], list[int | None]]:
    """For each boot, where the believed one before it ends and where the one after it begins."""
    lower: list[int | None] = []
    known: int | None = None
    for boot in boots:
        lower.append(known)
        if boot.believed is not None:
            known = boot.believed.wall_us(boot.last_mono_us)
    upper: list[int | None] = []
    known = None
    for boot in reversed(boots):
        upper.append(known)
        if boot.believed is not None:
            known = boot.believed.wall_us(boot.first_mono_us)
    return lower, upper[::-1]


def _us(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)
