"""The faults that a virtual table can have: one catalogue of what each does, where, and how strongly.

Every fault has a seed. The same seed and the same movements of a contact give the same bounces and the same lost
edges; the same seed and the same bytes on a line give the same damage. Which bytes are on a line depends on the time
at which both ends speak, so a fault of the line repeats its dice, not the very frames that they hit.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Literal

from drivers.wiring import Wiring

# What the virtual table tells the process of its node, in the node's folder.
LINE_FAULTS = "line_faults.json"
SEED_MAX = 2**32 - 1
# Rates count bytes of so many.
RATE_OF = 10_000

# What a fault acts on: a contact on a header pin, any contact, the line to the node, or the node's power and cable.
Target = Literal["header", "contact", "line", "cable"]


class FaultError(Exception):
    """A fault that cannot be: `field` names the part of it, the message says what would be right."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field} {message}")
        self.field = field
        self.message = message


@dataclass(frozen=True)
class Number:
    """A whole number that says how strong a fault is."""

    name: str
    about: str
    unit: str
    lowest: int
    highest: int
    default: int

    def check(self, value: Any) -> None:
        """Raises FaultError."""
        if type(value) is not int or not self.lowest <= value <= self.highest:
            raise FaultError(self.name, f"must be a whole number from {self.lowest} to {self.highest}")


@dataclass(frozen=True)
class Flag:
    """A yes or no that says which way a fault goes."""

    name: str
    about: str
    default: bool

    def check(self, value: Any) -> None:
        """Raises FaultError."""
        if type(value) is not bool:
            raise FaultError(self.name, "must be true or false")


@dataclass(frozen=True)
class FaultKind:
    """One kind of fault. `one_name`: it needs a name; otherwise no name means every contact it can have."""

    kind: str
    about: str
    target: Target
    one_name: bool = False
    parameters: tuple[Number | Flag, ...] = ()
    # Whether it throws dice, so that the seed matters.
    seeded: bool = False
    # The parameter, in milliseconds, after which such a fault ends by itself.
    ends_after: str | None = None

    def names(self, wiring: Wiring) -> tuple[str, ...]:
        """The contacts that can have it."""
        if self.target == "header":
            return tuple(wiring.inputs("header"))
        return (*wiring.inputs("header"), *wiring.inputs("node")) if self.target == "contact" else ()


def _rate(about: str) -> Number:
    return Number("rate", about, f"of {RATE_OF} bytes", 1, 2_000, 50)


CATALOGUE: Mapping[str, FaultKind] = {
    kind.kind: kind
    for kind in (
        FaultKind(
            "bounce",
            "A contact does not settle at once: each movement comes as a burst of closings and openings.",
            "contact",
            parameters=(
                Number("bounces", "The most a movement bounces", "times", 1, 40, 6),
                Number("spread_ms", "How long a burst lasts", "ms", 1, 200, 8),
            ),
            seeded=True,
        ),
        FaultKind(
            "lost_edge",
            "The level of a pin changes, but the pin library does not tell.",
            "header",
            parameters=(Number("chance", "How many changes go untold", "of 100", 1, 100, 100),),
            seeded=True,
        ),
        FaultKind(
            "stuck",
            "A sensor or a button stays as it is told, whatever happens before it.",
            "contact",
            one_name=True,
            parameters=(Flag("active", "It stays active; otherwise it never becomes so", True),),
        ),
        FaultKind("dead", "A pin cannot be read any more, as when the chip behind it vanishes.", "header"),
        FaultKind(
            "noise",
            "Bytes on the line are damaged, and some are added.",
            "line",
            parameters=(_rate("Damaged or added"),),
            seeded=True,
        ),
        FaultKind("drop", "Bytes on the line are lost.", "line", parameters=(_rate("Lost"),), seeded=True),
        FaultKind("duplicate", "Bytes on the line come twice.", "line", parameters=(_rate("Doubled"),), seeded=True),
        FaultKind("silent", "The line is there, but nothing gets through in either direction.", "line"),
        FaultKind(
            "unplug",
            "The node's cable is pulled, and put back: its port comes back under another name.",
            "cable",
            parameters=(Number("away_ms", "How long it is out", "ms", 200, 60_000, 2_000),),
            ends_after="away_ms",
        ),
        FaultKind(
            "restart",
            "The node loses its power and starts again: what it had not handed over is gone.",
            "cable",
            parameters=(Number("away_ms", "How long it is without power", "ms", 200, 60_000, 1_000),),
            ends_after="away_ms",
        ),
    )
}


@dataclass(frozen=True)
class Fault:
    """A fault as it is: its kind, which contact (None: all of them, or the line), its seed, and how strong it is."""

    kind: str
    name: str | None = None
    seed: int = 0
    parameters: Mapping[str, int | bool] = field(default_factory=dict)

    def random(self, part: str) -> Random:
        """The dice of this fault for one contact or one direction of the line."""
        return Random(f"{self.kind} {self.seed} {part}")  # noqa: S311 - to be repeated, no secret

    def number(self, name: str) -> int:
        """A parameter, or its default."""
        if name in self.parameters:
            return int(self.parameters[name])
        return next(int(known.default) for known in CATALOGUE[self.kind].parameters if known.name == name)

    def data(self) -> dict[str, Any]:
        """As a JSON object that `parse_fault` takes."""
        return {"kind": self.kind, "name": self.name, "seed": self.seed, **self.parameters}


def parse_fault(value: Any, wiring: Wiring, *, seed: int) -> Fault:
    """The fault that a JSON object describes; `seed` is for one that names none. Raises FaultError."""
    if not isinstance(value, dict):
        raise FaultError("fault", 'must be an object such as {"kind": "noise", "rate": 50}')
    kind = kind_named(value.get("kind"))
    parameters = {known.name: known for known in kind.parameters}
    allowed = ("kind", "name", "seed", *parameters)
    for part in value:
        if part not in allowed:
            raise FaultError(part, "is not known; the fields are " + ", ".join(allowed))
    name, names = value.get("name"), kind.names(wiring)
    if name is None and kind.one_name:
        raise FaultError("name", "is missing; choose one of " + ", ".join(names))
    if name is not None and (not isinstance(name, str) or name not in names):
        raise FaultError("name", "must be one of " + ", ".join(names) if names else "must be left out")
    seed = value.get("seed", seed)
    if type(seed) is not int or not 0 <= seed <= SEED_MAX:
        raise FaultError("seed", f"must be a whole number from 0 to {SEED_MAX}")
    for part, known in parameters.items():
        if part in value:
            known.check(value[part])
    strength = {part: value.get(part, known.default) for part, known in parameters.items()}
    return Fault(kind.kind, name, seed, strength)


def kind_named(kind: Any) -> FaultKind:
    """The catalogue's entry. Raises FaultError."""
    if not isinstance(kind, str) or kind not in CATALOGUE:
        raise FaultError("kind", "must be one of " + ", ".join(CATALOGUE))
    return CATALOGUE[kind]


def catalogue_view(wiring: Wiring) -> list[dict[str, Any]]:
    """The catalogue for one table, as JSON objects."""
    return [
        {
            "kind": kind.kind,
            "about": kind.about,
            "target": kind.target,
            "names": list(kind.names(wiring)),
            "one_name": kind.one_name,
            "seeded": kind.seeded,
            "parameters": [vars(parameter) for parameter in kind.parameters],
        }
        for kind in CATALOGUE.values()
        if kind.names(wiring) or kind.target in ("line", "cable")
    ]


@dataclass(frozen=True)
class LineFault:
    """A fault of the line or of the cable, and when it ends by itself (None: it does not), in ms of CLOCK_MONOTONIC."""

    fault: Fault
    ends_ms: int | None


def write_line_faults(folder: Path, faults: list[LineFault]) -> None:
    """Tell the process of the node in `folder` which faults there are from now on. Raises OSError."""
    new = folder / f"{LINE_FAULTS}.new"
    new.write_text(json.dumps([{"fault": entry.fault.data(), "ends_ms": entry.ends_ms} for entry in faults]))
    new.replace(folder / LINE_FAULTS)


def read_line_faults(folder: Path) -> list[LineFault]:
    """The faults that were written last; none where there is no such file. Raises FaultError."""
    try:
        entries = json.loads((folder / LINE_FAULTS).read_bytes())
    except FileNotFoundError:
        return []
    except (OSError, ValueError, RecursionError) as error:
        raise FaultError(os.fspath(folder / LINE_FAULTS), f"cannot be read ({error})") from error
    if not isinstance(entries, list):
        raise FaultError(os.fspath(folder / LINE_FAULTS), "must be a list")
    faults = []
    for entry in entries:
        if not isinstance(entry, dict) or sorted(entry) != ["ends_ms", "fault"]:
            raise FaultError(os.fspath(folder / LINE_FAULTS), "must be a list of {fault, ends_ms}")
        ends_ms = entry["ends_ms"]
        if ends_ms is not None and type(ends_ms) is not int:
            raise FaultError("ends_ms", "must be a whole number or null")
        fault = parse_fault(entry["fault"], Wiring(pins={}), seed=0)
        if CATALOGUE[fault.kind].target not in ("line", "cable"):
            raise FaultError("kind", f"{fault.kind} is not a fault of the line")
        faults.append(LineFault(fault, ends_ms))
    return faults
