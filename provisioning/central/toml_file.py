"""Reads a TOML file of the central side, value by value; what is wrong is named with its place in the file."""

import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

from device.table_key import is_public_key
from provisioning.standard_streams import visible

NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,32}")
NAME_FORM: Final = "1 to 32 letters, digits, - or _"
HOST: Final = re.compile(r"[0-9A-Za-z-]{1,63}(\.[0-9A-Za-z-]{1,63})*")
_TEXT: Final = re.compile(r"[^\x00-\x1f\x7f]+")

_T = TypeVar("_T")


class BadFile(ValueError):
    """A file that is not sound: one line that names the place in it and what would be right."""

    def __init__(self, message: str) -> None:
        # Keys and paths may hold what a terminal takes for a command.
        super().__init__(visible(message))


@dataclass(frozen=True)
class Section:
    """Keys and values. `place` stands before a key in what is said of it, such as "receiver."."""

    values: dict[str, Any]
    place: str

    def check_keys(self, *keys: str) -> None:
        """Raises BadFile for a key that is none of these."""
        for key in self.values:
            if key not in keys:
                near = get_close_matches(key, keys, 1)
                instead = f", did you mean {near[0]}?" if near else f"; the keys are {', '.join(keys)}"
                self.refuse(f"{key} is no key{instead}")

    def refuse(self, what: str) -> NoReturn:
        """Raises BadFile: `what` begins with the key."""
        raise BadFile(f"{self.place}{what}")

    def matching(self, key: str, form: re.Pattern[str], right: str, default: str | None = None) -> str:
        """A text of this form; `right` says what the key should be. Raises BadFile."""
        value = self._given(key, default)
        if not isinstance(value, str) or not form.fullmatch(value):
            self.refuse(f"{key} should be {right}")
        return value

    def text(self, key: str, right: str, default: str | None = None) -> str:
        """Any text in one line, at least a character. Raises BadFile."""
        return self.matching(key, _TEXT, right, default)

    def whole(self, key: str, lowest: int, highest: int, default: int | None = None) -> int:
        """A whole number. Raises BadFile."""
        value = self._given(key, default)
        if type(value) is not int or not lowest <= value <= highest:
            self.refuse(f"{key} should be a whole number from {lowest} to {highest}")
        return value

    def texts(self, key: str, right: str, default: list[str] | None = None) -> list[str]:
        """A list of texts. Raises BadFile."""
        value = self._given(key, default)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.refuse(f"{key} should be {right}")
        return value

    def public_key(self, key: str) -> str:
        """A public key, as `boxman table key` and `boxman central key` say it. Raises BadFile."""
        return self.checked_key(key, self._given(key, None))

    def checked_key(self, key: str, value: Any) -> str:
        """`value`, which stands under `key`, as a public key. Raises BadFile."""
        if isinstance(value, str) and value.startswith("S"):
            self.refuse(f"{key} is a secret seed; make a new key, and put its public part here")
        if not isinstance(value, str) or not is_public_key(value):
            self.refuse(f"{key} should be a public key: 56 letters and digits that begin with U")
        return value

    def section(self, name: str) -> "Section":
        """A section within this one; empty when it is not there. Raises BadFile."""
        value = self.values.get(name, {})
        if not isinstance(value, dict):
            self.refuse(f"{name} should be a section, written [{name}]")
        return Section(value, f"{self.place}{name}.")

    def _given(self, key: str, default: Any) -> Any:
        if key not in self.values and default is None:
            self.refuse(f"{key} is missing")
        return self.values.get(key, default)


@dataclass(frozen=True)
class TomlFile:
    """A file's text, and all that it says as one section."""

    text: str
    top: Section

    def each(self, name: str) -> Iterator[Section]:
        """The sections [[name]] in their order; none when there are none. Raises BadFile."""
        entries = self.top.values.get(name, [])
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise BadFile(f"{name} should be written [[{name}]], once for each")
        for number, entry in enumerate(entries, start=1):
            yield Section(entry, f"{self.place(name, number)}: ")

    def place(self, name: str, number: int) -> str:
        """Where the section [[name]] begins: its line, where it is written with a header of its own."""
        begins = [
            line
            for line, words in enumerate(self.text.splitlines(), start=1)
            if re.match(rf"\s*\[\[\s*{name}\s*\]\]", words)
        ]
        where = f"line {begins[number - 1]}, " if len(begins) >= number else ""
        return f"{where}[[{name}]] {number}"


def read_toml(path: Path, read: Callable[[TomlFile], _T]) -> _T:
    """What `read` makes of a file; whatever BadFile it raises then names the file as well. Raises BadFile."""
    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text)
    except OSError as error:
        raise BadFile(f"{path}: cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise BadFile(f"{path}: is no UTF-8 text (byte {error.start})") from error
    except tomllib.TOMLDecodeError as error:
        if text.startswith("\ufeff"):
            raise BadFile(f"{path}: begins with a byte order mark; save it as UTF-8 without one") from error
        raise BadFile(f"{path}: is no TOML: {error}") from error
    except (ValueError, RecursionError) as error:
        raise BadFile(f"{path}: is no TOML that can be read ({error})") from error
    try:
        return read(TomlFile(text, Section(data, "")))
    except BadFile as error:
        raise BadFile(f"{path}: {error}") from None
