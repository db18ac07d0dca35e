"""What the machine under the terminal goes through, as events by name: starts, clock, link, self-test, commissioning.

None of them changes the game; they are for whoever asks later what happened. Pure.
"""

from typing import Any, Final

from device.event import Event, Stamp

Entry = tuple[str, dict[str, Any]]

EVENTS: Final = (
    "power_up",
    "power_loss_found",
    "crash_found",
    "clock_behind",
    "clock_stepped",
    "clock_quality",
    "link_lost",
    "link_regained",
    "link_unsteady",
    "self_test",
    "commissioned",
)
STEP_ALERT_MS: Final = 60_000
"""A step of more than this is told to those at the table."""
STEP_CONCERNS: Final = "order and durations are not concerned."
_UNITS: Final = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"))


def found_at_start(last: Event | None, was_running: bool, now: Stamp) -> list[Entry]:
    """What a start finds of the run before, whose `last` event is given; it had not ended if `was_running`.

    `power_up`: the machine was started. `power_loss_found`: and the run before had not ended. `crash_found`: it had not
    ended, on a machine that ran on. `clock_behind`: wall time is before that of the last event, as where no battery
    keeps it.
    """
    found: list[Entry] = []
    is_new_boot = last is None or last.boot != now.boot
    if is_new_boot:
        found.append(("power_up", {}))
    if last is None:
        return found
    if was_running:
        found.append(("power_loss_found" if is_new_boot else "crash_found", {"last_seq": last.seq, "last": last.wall}))
    # Of one form and length, so they compare as texts.
    if now.wall < last.wall:
        found.append(("clock_behind", {"last": last.wall, "now": now.wall}))
    return found


def step_text(by_ms: int, was: str) -> str | None:
    """What those at the table are told of a step of the clock, None where it need not concern them.

    It is too small, or a clock that was `free` is put right: without a battery, it stands where it was at the power's
    end until the network tells it the time, at each start.
    """
    if abs(by_ms) <= STEP_ALERT_MS or (was == "free" and by_ms > 0):
        return None
    return f"The clock was set {'forward' if by_ms > 0 else 'back'} by {_said(abs(by_ms))}; {STEP_CONCERNS}"


def _said(duration_ms: int) -> str:
    """A duration of a minute or more: 3 h 2 min, 20424 d 1 min."""
    parts = []
    for unit_ms, name in _UNITS:
        count, duration_ms = divmod(duration_ms, unit_ms)
        if count:
            parts.append(f"{count} {name}")
    return " ".join(parts)
