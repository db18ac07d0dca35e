"""What a jurisdiction asks about dice, as data: one JSON file for each, every value with its article.

An article is "house" (or begins so) where the regulation is silent and the value is the house's own.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAMES = ("es-1979", "es-md-2004", "mo-2010", "cl-scj", "pe-1999", "us-vegas")

# Why dice are changed. Why the reserve is opened: these, a count, and the closing of the table.
CHANGE_REASONS = (
    "offered_to_shooter",
    "shooter_request",
    "player_request",
    "inspector_request",
    "boxman_order",
    "damage",
    "die_off_table",
    "new_set",
)
REASONS = (*CHANGE_REASONS, "count", "closing")
INSTRUMENTS = ("micrometer", "balancing_caliper", "steel_square", "magnet")


@dataclass(frozen=True)
class Bounds:
    """A number from `minimum` to `maximum` (None: no upper bound)."""

    minimum: int
    maximum: int | None
    article: str

    def holds(self, number: int) -> bool:
        """Whether `number` is within them."""
        return number >= self.minimum and (self.maximum is None or number <= self.maximum)

    def said(self) -> str:
        """The bounds in words: "6", "4 to 5", "at least 5"."""
        if self.maximum is None:
            return f"at least {self.minimum}"
        return str(self.minimum) if self.minimum == self.maximum else f"{self.minimum} to {self.maximum}"


@dataclass(frozen=True)
class Offered:
    """How many dice are put before the shooter: the whole set, and never fewer than `minimum`."""

    whole_set: bool
    minimum: int
    article: str


@dataclass(frozen=True)
class Required:
    """Whether dice must carry something."""

    required: bool
    article: str


@dataclass(frozen=True)
class Reuse:
    """Whether a set that served in a session may serve again: `always`, `not_next_session` or `never`."""

    allowed: str
    article: str


@dataclass(frozen=True)
class LostDie:
    """Whether a lost die costs the whole set, at the end of the series in which it was lost."""

    replaces_set: bool
    article: str


@dataclass(frozen=True)
class Inspection:
    """Dice are inspected before use, with these instruments (of INSTRUMENTS; none: the regulation names none)."""

    article: str
    instruments: tuple[str, ...]
    instruments_article: str


@dataclass(frozen=True)
class Check:
    """One thing that an inspection looks at."""

    text: str
    article: str


@dataclass(frozen=True)
class AfterFloor:
    """A die that left the table is inspected before it is used again, for these checks."""

    checks: tuple[str, ...]
    article: str


@dataclass(frozen=True)
class Change:
    """Whether dice may be changed for a reason: before the come-out throw, and during the series for a point."""

    come_out: bool
    during_series: bool
    article: str


@dataclass(frozen=True)
class DiceRules:
    """The rules of one jurisdiction. `edge` is the length of a die's edge in hundredths of a millimetre."""

    name: str
    title: str
    source: str
    in_set: Bounds
    in_reserve: Bounds
    offered: Offered
    edge: Bounds | None
    serials: Required
    house_mark: Required
    reuse: Reuse
    lost_die: LostDie
    inspection: Inspection
    checks: Mapping[str, Check]
    after_floor: AfterFloor
    changes: Mapping[str, Change]


def load(name: str) -> DiceRules:
    """The dice rules of one of NAMES. Raises KeyError for any other name."""
    if name not in NAMES:
        raise KeyError(name)
    path = Path(__file__).with_name("rules") / f"{name}.json"
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    edge = data["edge_hundredths_mm"]
    inspection = data["inspection"]
    return DiceRules(
        name=data["name"],
        title=data["title"],
        source=data["source"],
        in_set=Bounds(**data["in_set"]),
        in_reserve=Bounds(**data["in_reserve"]),
        offered=Offered(**data["offered"]),
        edge=None if edge is None else Bounds(**edge),
        serials=Required(**data["serials"]),
        house_mark=Required(**data["house_mark"]),
        reuse=Reuse(**data["reuse"]),
        lost_die=LostDie(**data["lost_die"]),
        inspection=Inspection(
            inspection["article"], tuple(inspection["instruments"]), inspection["instruments_article"]
        ),
        checks={check: Check(**said) for check, said in data["checks"].items()},
        after_floor=AfterFloor(tuple(data["after_floor"]["checks"]), data["after_floor"]["article"]),
        changes={reason: Change(**data["changes"][reason]) for reason in CHANGE_REASONS},
    )
