"""A journal's events as lines to be read by people: what happened, when, and by how good a clock."""

from collections.abc import Iterator
from typing import Any

from device.event import Event, canonical
from provisioning.standard_streams import visible

# A value that is longer stands in the event itself, which `boxman journal export` writes whole.
VALUE_MAX = 60
# What people ask for elsewhere: what the entry came in by, and under which id.
_LEFT_OUT = ("command", "report", "checks")


def event_lines(event: Event) -> Iterator[str]:
    """One event; the checks of a self-test follow in lines of their own."""
    said = ", ".join(f"{name} {_said(value)}" for name, value in event.data.items() if name not in _LEFT_OUT)
    wall = event.wall.replace("T", " ")
    yield visible(f"{event.seq:>8}  {wall} {event.clock:<6}  {event.type}  {said}".rstrip())
    if event.type == "self_test":
        for check in event.data.get("checks", []):
            yield visible(f"{'':>10}{check['check']:<9} {check['result']:<7}  {check['said']}")


def _said(value: Any) -> str:
    text = value if isinstance(value, str) else canonical(value)
    return text if len(text) <= VALUE_MAX else f"{text[: VALUE_MAX - 3]}..."
