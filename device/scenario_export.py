"""A journal's sessions as scenario files, so that anyone can settle them again with `boxman settle`."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from device.event import Event

STEPS = ("bet", "reduce", "take_down", "working", "shooter", "no_roll")


@dataclass(frozen=True)
class ExportedSession:
    """One opening of the table: the scenario, and the rule set as the journal holds it."""

    scenario: dict[str, Any]
    rule_set: dict[str, Any]


def sessions(events: Iterable[Event]) -> Iterator[ExportedSession]:
    """Each session from one opening of the table to the next, every roll with the results that were told."""
    current: ExportedSession | None = None
    number = 0
    for event in events:
        data = event.data
        if event.type == "table_opened":
            if current is not None:
                yield current
            number += 1
            current = ExportedSession(
                {
                    "name": f"{event.table}, session {number}, from event {event.seq}",
                    "rules": data["rule_set"]["name"],
                    "options": data["options"],
                    "unit": data["unit"],
                    "limits": data["limits"],
                    "steps": [],
                },
                data["rule_set"],
            )
        elif current is None:
            continue
        elif event.type in STEPS:
            current.scenario["steps"].append(data["step"])
        elif event.type in ("roll", "correct"):
            expect = {"point": data["point"], "results": data["results"]}
            current.scenario["steps"].append(data["step"] | {"expect": expect})
    if current is not None:
        yield current
