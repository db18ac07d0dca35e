"""What is tried when a table is commissioned, in which order: made from the wiring and what else the table has."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from drivers.signals import POSITIONS
from drivers.wiring import BUTTONS, DICE_KEYS, GROUPS, LAMPS, Wiring, group_of

STEADY_MS: Final = 300
"""A puck, a lid, a door or a die that is seen for so long lies there."""
PRESSED_MS: Final = 30
"""A button that is down for so long is pressed."""
RELEASED_MS: Final = 100
"""And one that is up for so long has come to rest."""

Kind = Literal["puck", "turned", "press", "closure", "slot", "lamp", "node", "network", "power"]


@dataclass(frozen=True)
class Contact:
    """The contact of the step is to be closed, or open, for `steady_ms`; the others of `alone` are to be open then."""

    closed: bool
    steady_ms: int
    alone: tuple[str, ...] = ()


@dataclass(frozen=True)
class Turned:
    """The technician says that the puck lies there with the wrong face up: no contact of `alone` may be closed."""

    alone: tuple[str, ...]


@dataclass(frozen=True)
class Lit:
    """The technician says whether the lamp of the step is lit, and no other."""


@dataclass(frozen=True)
class NodeAnswers:
    """The I/O node is to answer, or not."""

    wanted: bool


@dataclass(frozen=True)
class CentreReached:
    """Every central system is to be reached, or none."""

    wanted: bool


@dataclass(frozen=True)
class Restarted:
    """The power is to be cut: the machine's next start goes on from here."""


Wanted = Contact | Turned | Lit | NodeAnswers | CentreReached | Restarted


@dataclass(frozen=True)
class Step:
    """One thing to try. `signal` is a name of the wiring with its `pin`, both None for what is no contact or lamp.

    `wanted` comes one after the other. `puck` is 1 or 2, `place` where it goes: 4 to 10 or off; or it is a place of the
    reserve, by its number.
    """

    name: str
    kind: Kind
    wanted: tuple[Wanted, ...]
    signal: str | None = None
    pin: str | None = None
    puck: int = 1
    place: str = ""

    @property
    def face(self) -> str:
        """The face of the puck that is to lie up, ON or OFF: its place answers to the one, and not to the other."""
        return "ON" if (self.place == "off") == (self.kind == "turned") else "OFF"


def steps_of(wiring: Wiring, *, has_node: bool, has_centre: bool) -> tuple[Step, ...]:
    """All steps, in the order in which a technician walks around a table; the cut of the power is the last."""
    steps = [*_pucks(wiring)]
    for name in (*BUTTONS, *DICE_KEYS):
        if name in wiring.pins:
            wanted = (Contact(True, PRESSED_MS), Contact(False, RELEASED_MS))
            steps.append(Step(name, "press", wanted, name, str(wiring.pins[name])))
    for name in LAMPS:
        if name in wiring.pins:
            steps.append(Step(name, "lamp", (Lit(),), name, str(wiring.pins[name])))
    for name in ("lid", *wiring.group("slots"), "door"):
        if name in wiring.pins:
            kind: Kind = "slot" if group_of(name) == "slots" else "closure"
            wanted = (Contact(False, STEADY_MS), Contact(True, STEADY_MS))
            place = name.removeprefix("slot_") if kind == "slot" else ""
            steps.append(Step(name, kind, wanted, name, str(wiring.pins[name]), place=place))
    if has_node:
        steps.append(Step("node", "node", (NodeAnswers(True), NodeAnswers(False), NodeAnswers(True))))
    if has_centre:
        steps.append(Step("network", "network", (CentreReached(True), CentreReached(False), CentreReached(True))))
    steps.append(Step("power", "power", (Restarted(),)))
    return tuple(steps)


def _pucks(wiring: Wiring) -> Iterator[Step]:
    for number, group in ((1, "puck"), (2, "second_puck")):
        for position, name in zip(POSITIONS, GROUPS[group], strict=True):
            if name in wiring.pins:
                alone, pin, place = GROUPS[group], str(wiring.pins[name]), str(position)
                right = (Contact(True, STEADY_MS, alone),)
                yield Step(name, "puck", right, name, pin, number, place)
                yield Step(f"{name}_turned", "turned", (Turned(alone),), name, pin, number, place)
