"""A table's commissioning without hardware: a test sets what is seen, and lets time pass."""

from collections.abc import Mapping, Sequence

from device.commissioning.machine import Commissioning, Reading, Result
from device.commissioning.steps import steps_of
from drivers.contact_watch import Edge
from drivers.wiring import GROUPS, Pin, Wiring

LONG_TABLE = Wiring(
    {
        **{name: Pin("header", 2 + n) for n, name in enumerate(GROUPS["puck"])},
        **{name: Pin("header", 10 + n) for n, name in enumerate(GROUPS["second_puck"])},
        "box_4": Pin("node", 2),
        "lamp_box_4": Pin("node", 3),
        "lid": Pin("header", 20),
        "slot_1": Pin("header", 21),
        "slot_2": Pin("header", 22),
        "door": Pin("header", 23),
    }
)


class Trial:
    """One table's commissioning, whose levels a test sets; time passes as it says."""

    def __init__(self, wiring: Wiring, *steps: str, has_node: bool = False, has_centre: bool = False) -> None:
        known = {step.name: step for step in steps_of(wiring, has_node=has_node, has_centre=has_centre)}
        self.commissioning = Commissioning([known[name] for name in steps], "Ana")
        self.levels = dict.fromkeys((*wiring.inputs("header"), *wiring.inputs("node")), False)
        self.node: bool | None = None
        self.centre: bool | None = None
        self.boot = "boot-1"
        self.unavailable: Mapping[str, str] = {}
        self.now_ms = 0

    def see(self, for_ms: int = 0, *edges: Edge, **levels: bool) -> Result | None:
        """Let levels change, and time pass after that; what a step came to."""
        self.levels |= levels
        result = self._take(edges)
        for _ in range(for_ms // 10):
            self.now_ms += 10
            result = self._take(()) or result
        return result

    def _take(self, edges: Sequence[Edge]) -> Result | None:
        seen = {name: level for name, level in self.levels.items() if name not in self.unavailable}
        return self.commissioning.take(
            Reading(self.now_ms, seen, edges, self.unavailable, self.node, self.centre, self.boot, "2026-11-30")
        )


def verdict(result: Result | None) -> tuple[str, str | None, str] | None:
    return None if result is None else (result.verdict, result.reason, result.said)


PASSED = ("passed", None, "")
