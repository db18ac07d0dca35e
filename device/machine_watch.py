"""Watches what is under one terminal, its clock and its link, for what the journal is to hold of them."""

from device.clock import Clock
from device.clock_watch import ClockWatch
from device.link_watch import LinkWatch
from device.machine_events import Entry


class MachineWatch:
    """To be looked at about once a second. `now_ms` is monotonic and never goes back."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._clocks = ClockWatch()
        self._link: LinkWatch | None = None
        self.clock_quality = clock.stamp().clock
        """synced or free, as it was seen last."""

    def note_link(self, *, up: bool, reason: str | None, undelivered: int, now_ms: int) -> None:
        """How the link to the central system is (link_watch); without a call there is none."""
        if self._link is None:
            self._link = LinkWatch(now_ms)
        self._link.note(up=up, reason=reason, undelivered=undelivered, now_ms=now_ms)

    def look(self, now_ms: int) -> list[Entry]:
        """What there is to be told (machine_events)."""
        reading = self._clock.read()
        self.clock_quality = reading.quality
        told = self._clocks.look(reading)
        return told if self._link is None else [*told, *self._link.look(now_ms)]
