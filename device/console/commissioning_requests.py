"""What the page of a commissioning may ask for."""

from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from device.console.requests import BadRequest, check_fields, choice
from device.dice_control.names import person_fault, text_fault

WHY_MAX: Final = 200

Kind = Literal["yes", "no", "skip", "fail", "back", "again", "end", "finish", "leave"]
_KINDS: Final = get_args(Kind)
# Those that are about a step: the one that the page shows, or the one that is to be tried again.
_ABOUT_A_STEP: Final = ("yes", "no", "skip", "fail", "again")
_WITH_REASON: Final = ("skip", "fail", "end")


@dataclass(frozen=True)
class Begin:
    """A commissioning of this table is to begin; `name` is the technician's where nobody signs in with a PIN."""

    table: str
    name: str | None


@dataclass(frozen=True)
class Deed:
    """What the technician says or wants; `step` is "" where it is about none, `why` where no reason is given."""

    kind: Kind
    step: str
    why: str


def parse_begin(body: dict[str, Any]) -> Begin:
    """A request to begin. Raises BadRequest."""
    check_fields(body, ("table", "name"))
    table = choice(body, "table", _is_line, "must be the name of the table that is meant")
    name = body.get("name")
    if name is not None and (fault := person_fault(name)):
        raise BadRequest("name", fault)
    return Begin(table, name)


def parse_deed(body: dict[str, Any]) -> Deed:
    """What to do now. Raises BadRequest."""
    kind = choice(body, "do", lambda value: value in _KINDS, "must be one of " + ", ".join(_KINDS))
    needed = (("step", kind in _ABOUT_A_STEP), ("why", kind in _WITH_REASON))
    check_fields(body, ("do", *(name for name, is_needed in needed if is_needed)))
    step = choice(body, "step", _is_text, "must be the step that is meant") if kind in _ABOUT_A_STEP else ""
    right = f"must be a line of at most {WHY_MAX} characters"
    why = choice(body, "why", _is_line, right) if kind in _WITH_REASON else ""
    return Deed(kind, step, why)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _is_line(value: Any) -> bool:
    return text_fault(value, WHY_MAX) is None
