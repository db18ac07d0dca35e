"""What a value of the configuration may be: said in words, checked, and given as JSON Schema."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol


class Form(Protocol):
    """What the values of a key have in common. `right` continues the sentence "must be ..."."""

    @property
    def right(self) -> str:
        """What would be right, in words."""

    def fits(self, value: object) -> bool:
        """Whether `value`, as it is read from TOML, is of this form."""

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of this form."""


@dataclass(frozen=True)
class Text:
    """A string that a regular expression matches as a whole; the expression is one for JSON Schema as well."""

    pattern: str
    right: str

    def fits(self, value: object) -> bool:
        """Whether `value` is such a string."""
        return isinstance(value, str) and re.fullmatch(self.pattern, value) is not None

    def schema(self) -> dict[str, Any]:
        """Its type and pattern."""
        return {"type": "string", "pattern": f"^({self.pattern})$"}


@dataclass(frozen=True)
class Whole:
    """A whole number with bounds, both of which are allowed."""

    lowest: int
    highest: int

    @property
    def right(self) -> str:
        """The bounds in words."""
        return f"a whole number from {self.lowest} to {self.highest}"

    def fits(self, value: object) -> bool:
        """Whether `value` is such a number; true and 5.0 are none."""
        return type(value) is int and self.lowest <= value <= self.highest

    def schema(self) -> dict[str, Any]:
        """Its type and bounds."""
        return {"type": "integer", "minimum": self.lowest, "maximum": self.highest}


@dataclass(frozen=True)
class Flag:
    """Yes or no."""

    right: str = "true or false"

    def fits(self, value: object) -> bool:
        """Whether `value` is one of the two."""
        return type(value) is bool

    def schema(self) -> dict[str, Any]:
        """Its type."""
        return {"type": "boolean"}


@dataclass(frozen=True)
class OneOf:
    """One of a few words."""

    words: tuple[str, ...]

    @property
    def right(self) -> str:
        """The words."""
        return f"one of {', '.join(self.words)}"

    def fits(self, value: object) -> bool:
        """Whether `value` is one of them."""
        return isinstance(value, str) and value in self.words

    def schema(self) -> dict[str, Any]:
        """All of them."""
        return {"enum": list(self.words)}


@dataclass(frozen=True)
class Texts:
    """A list of one or more strings, each of which `pattern` matches as a whole."""

    pattern: str
    right: str

    def fits(self, value: object) -> bool:
        """Whether `value` is such a list."""
        one = Text(self.pattern, "")
        return isinstance(value, list) and bool(value) and all(one.fits(item) for item in value)

    def schema(self) -> dict[str, Any]:
        """Its type and that of its items."""
        return {"type": "array", "minItems": 1, "items": Text(self.pattern, "").schema()}


@dataclass(frozen=True)
class AnySection:
    """A section whose keys somebody else knows, as a rule set knows its options."""

    right: str

    def fits(self, value: object) -> bool:
        """Whether `value` is a section."""
        return isinstance(value, dict)

    def schema(self) -> dict[str, Any]:
        """An object of whatever it holds."""
        return {"type": "object"}


@dataclass(frozen=True)
class Wire:
    """A pin, or a section of a pin and the name of a part."""

    pin: str
    parts: Sequence[str]
    right: str = 'a pin such as "gpio:17", or { pin = "gpio:17", part = "..." }'

    def fits(self, value: object) -> bool:
        """Whether `value` is of this form; which pins and parts there are is not asked here."""
        if isinstance(value, str):
            return True
        return isinstance(value, dict) and "pin" in value and all(isinstance(said, str) for said in value.values())

    def schema(self) -> dict[str, Any]:
        """A string or an object."""
        pin = Text(self.pin, "").schema()
        both = {"pin": pin, "part": {"enum": list(self.parts)}}
        return {
            "anyOf": [pin, {"type": "object", "properties": both, "required": ["pin"], "additionalProperties": False}]
        }
