"""A journal's sessions as scenario files, so that anyone can settle them again with `boxman settle`.

A session of which an earlier roll was corrected is written as it stands after the correction: with the right dice where
the wrong ones were thrown, and the results that the correction told of. What then cannot be done, a bet that was taken
back again before it mattered or a button for a bet that is not there, is expected to be refused. Where the limits were
changed, the widest stand for all of them; adjusted settlements are between house and players, and in no scenario.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import gcd
from typing import Any

from device.event import Event
from device.table_terms import TableTerms
from engine_lite.refusal import Refused
from engine_lite.steps import apply_step

STEPS = ("bet", "reduce", "take_down", "working", "shooter", "no_roll")


@dataclass(frozen=True)
class ExportedSession:
    """One opening of the table: the scenario, and the rule set as the journal holds it."""

    scenario: dict[str, Any]
    rule_set: dict[str, Any]
    # Where in the steps each roll was entered, and corrected as the last one: number to places.
    rolls: dict[int, list[int]] = field(default_factory=dict)
    corrected: list[dict[str, Any]] = field(default_factory=list)

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The steps of the scenario."""
        steps: list[dict[str, Any]] = self.scenario["steps"]
        return steps


def sessions(events: Iterable[Event]) -> Iterator[ExportedSession]:
    """Each session from one opening of the table to the next, every roll with the results that were told."""
    current: ExportedSession | None = None
    number = 0
    for event in events:
        data = event.data
        if event.type == "table_opened":
            if current is not None:
                yield _as_it_stands(current)
            number += 1
            current = ExportedSession(
                {
                    "name": f"{event.table}, session {number}, from event {event.seq}",
                    "rules": data["rule_set"]["name"],
                    "options": data["options"],
                    "unit": data["unit"],
                    "limits": dict(data["limits"]),
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
            current.rolls.setdefault(data["number"], []).append(len(current.steps))
            current.steps.append(data["step"] | {"expect": expect})
        elif event.type == "roll_corrected":
            _correct(current, data)
        elif event.type == "limits_changed":
            _widen(current.scenario["limits"], data["limits"])
    if current is not None:
        yield _as_it_stands(current)


def _correct(session: ExportedSession, data: dict[str, Any]) -> None:
    """Put the right dice where the wrong ones were thrown, and what it says of the rolls from there on."""
    session.corrected.append(data)
    places = session.rolls[data["number"]]
    session.steps[places[-1]] = {next(iter(session.steps[places[-1]])): data["dice"]}
    for number in (number for number in session.rolls if number >= data["number"]):
        # What a roll would have settled that was corrected afterwards, nobody was told.
        for place in session.rolls[number][:-1]:
            session.steps[place].pop("expect", None)
    for roll in data["rolls"]:
        step = session.steps[session.rolls[roll["number"]][-1]]
        # After a correction of the last roll, the results name what is handed back as well.
        known = {"results": roll["results"]} if "roll" in step else {}
        step["expect"] = {"point": roll["point"]} | known


def _as_it_stands(session: ExportedSession) -> ExportedSession:
    """The session, with what cannot be done after a correction expected to be refused."""
    if session.corrected:
        scenario = session.scenario
        limits = scenario["limits"]
        terms = TableTerms(session.rule_set, scenario["options"], scenario["unit"], limits["min"], limits["max"])
        table = terms.table()
        for place, step in enumerate(session.steps):
            bare = {name: said for name, said in step.items() if name != "expect"}
            try:
                apply_step(table, bare)
            except Refused as refused:
                session.steps[place] = bare | {"refused": refused.code}
    return session


def _widen(limits: dict[str, int], others: dict[str, int]) -> None:
    """Take in what `others` allow; rules may ask for multiples of the minimum."""
    limits["min"], limits["max"] = gcd(limits["min"], others["min"]), max(limits["max"], others["max"])
