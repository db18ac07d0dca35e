"""What is wrong at a table and not yet an alert."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Condition:
    """Something that is wrong now. `alert` names it, one alert a name; `text` says what it is and what to do.

    What stands before a colon in the name is its kind. `detail` is what the record keeps of it. It becomes an alert
    when it has lasted for `grace_ms`; that time starts anew when `epoch` changes. `latched`: it
    has happened, and the alert ends by its acknowledgement alone. `told_apart_by` are the members of `detail` that tell
    one occurrence from the next: where they are others than those of the alert that stands, that one is over.
    """

    alert: str
    text: str
    detail: dict[str, Any]
    grace_ms: int
    epoch: Any = None
    latched: bool = False
    told_apart_by: tuple[str, ...] = ()

    def occurrence(self, detail: Mapping[str, Any]) -> tuple[Any, ...]:
        """What tells an occurrence with this detail from others of the same name."""
        return tuple(detail.get(name) for name in self.told_apart_by)
