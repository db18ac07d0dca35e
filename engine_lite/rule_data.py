"""Reading the JSON of a rule set: each value is checked where it is read, and what is wrong is named with its place."""

try:
    from typing import TYPE_CHECKING
except ImportError:  # MicroPython has no typing
    TYPE_CHECKING = False  # type: ignore[misc]
if TYPE_CHECKING:
    from typing import Any


class RuleError(ValueError):
    """A rule set or an option that is not sound; the message names the place and what would be right."""


class RuleData:
    """Reads one object of a rule set and names the place of what is missing or wrong."""

    def __init__(self, data: object, place: str = "", known: "tuple[str, ...] | None" = None) -> None:
        if not hasattr(data, "keys"):
            raise RuleError((place or "the rule set") + " must be an object")
        self._data: "Any" = data
        self.place = place
        if known is not None:
            self.only(known)

    def only(self, known: "tuple[str, ...]") -> None:
        """A key that nobody reads is a mistake: most likely a misspelt one."""
        for key in self.keys():
            if key not in known:
                raise RuleError(self._at(key) + " is no key here; the keys are " + ", ".join(known))

    def _at(self, key: str) -> str:
        return self.place + "." + key if self.place else key

    def has(self, key: str) -> bool:
        return key in self._data

    def keys(self) -> "list[str]":
        return sorted(self._data)

    def value(self, key: str) -> object:
        if key not in self._data:
            raise RuleError(self._at(key) + " is missing")
        return self._data[key]

    def child(self, key: str, known: "tuple[str, ...] | None" = None) -> "RuleData":
        return RuleData(self.value(key), self._at(key), known)

    def text(self, key: str) -> str:
        value = self.value(key)
        if not isinstance(value, str) or not value:
            raise RuleError(self._at(key) + " must be a text")
        return value

    def texts(self, key: str) -> "list[str]":
        value = self.value(key)
        if not isinstance(value, list):
            raise RuleError(self._at(key) + " must be a list of texts")
        for item in value:
            if not isinstance(item, str):
                raise RuleError(self._at(key) + " must be a list of texts")
        return value

    def order(self, key: str, known: "list[str]") -> "list[str]":
        """A list that names each of `known` once; JSON objects have no order of their own on every runtime."""
        value = self.texts(key)
        if sorted(value) != known:
            raise RuleError(self._at(key) + " must name each bet once")
        return value

    def whole(self, key: str) -> int:
        value = self.value(key)
        if type(value) is not int or value < 1:
            raise RuleError(self._at(key) + " must be a positive whole number")
        return value

    def flag(self, key: str) -> bool:
        value = self.value(key)
        if type(value) is not bool:
            raise RuleError(self._at(key) + " must be true or false")
        return value

    def choice(self, key: str, choices: "tuple[str, ...]") -> str:
        value = self.text(key)
        if value not in choices:
            raise RuleError(self._at(key) + " must be one of " + ", ".join(choices))
        return value

    def ratio(self, key: str) -> "tuple[int, int]":
        return as_ratio(self.value(key), self._at(key))


def as_ratio(value: object, place: str) -> "tuple[int, int]":
    if isinstance(value, list) and len(value) == 2:
        num, den = value
        if type(num) is int and type(den) is int and num > 0 and den > 0:
            return num, den
    raise RuleError(place + " must be a ratio of two positive whole numbers, such as [3, 2]")
