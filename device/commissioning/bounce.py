"""How long contacts bounce, and the settle times that follow. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from drivers.contact_watch import Edge
from drivers.wiring import Wiring, group_of, time_bounds_ms

QUIET_US: Final = 40_000
"""Edges that are no farther apart than this belong to one movement."""
ROUNDED_TO_MS: Final = 5
SAFETY: Final = 2
"""A settle time is to be so many times the longest bounce that was seen: the next movement may bounce longer."""

TOLD_US: Final = 50
"""A bounce that is shorter is none in tenths of a millisecond, in which it is told."""

_TIMES: Final = {
    "puck": "puck_settle_ms",
    "second_puck": "puck_settle_ms",
    "bet_status": "button_settle_ms",
    "dice_keys": "dice_key_settle_ms",
    "reserve": "lid_settle_ms",
    "door": "lid_settle_ms",
    "slots": "slot_settle_ms",
}


@dataclass(frozen=True)
class SettleTime:
    """One settle time of the configuration: in force, the longest bounce that was seen, and what is proposed.

    `replace` is the input that bounces longer than any settle time allows for; its switch is worn or loose.
    """

    name: str
    in_force_ms: int
    bounce_us: int
    proposed_ms: int
    replace: str | None


def longest_bounce_us(edges: Iterable[Edge]) -> int:
    """Of the edges of one contact, in order: how long its longest movement took from the first to the last."""
    longest = 0
    began_us = last_us = None
    for edge in edges:
        if began_us is None or last_us is None or edge.at_us - last_us > QUIET_US:
            began_us = edge.at_us
        last_us = edge.at_us
        longest = max(longest, last_us - began_us)
    return longest


def settle_times(wiring: Wiring, bounces_us: Mapping[str, int]) -> Sequence[SettleTime]:
    """The settle times of the inputs that were tried, by the longest bounce of each (microseconds).

    What is in force stays unless it is too short.
    """
    found = []
    for name in dict.fromkeys(_TIMES.values()):
        of_it = {signal: us for signal, us in bounces_us.items() if _TIMES[group_of(signal)] == name}
        if not of_it:
            continue
        worst = max(of_it, key=lambda signal: of_it[signal])
        needed_ms = -(-of_it[worst] * SAFETY // (1_000 * ROUNDED_TO_MS)) * ROUNDED_TO_MS
        most_ms = time_bounds_ms(name)[1]
        in_force_ms: int = getattr(wiring.timing, name)
        proposed_ms = max(in_force_ms, min(needed_ms, most_ms))
        found.append(SettleTime(name, in_force_ms, of_it[worst], proposed_ms, worst if needed_ms > most_ms else None))
    return found


def timing_lines(times: Iterable[SettleTime]) -> list[str]:
    """What to write into the configuration; nothing where all is well."""
    changed = [time for time in times if time.proposed_ms != time.in_force_ms]
    return ["[timing]", *(f"{time.name} = {time.proposed_ms}" for time in changed)] if changed else []
