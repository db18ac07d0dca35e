"""The tables that a central system knows: which site each is of, and the public key that its unit signs with."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from device.table_key import is_public_key

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,32}")
_KEYS: Final = ("site", "name", "key")


@dataclass(frozen=True)
class KnownTable:
    """A table, and the public key of the unit that it is now."""

    site: str
    name: str
    key: str


def read_tables(given: Any) -> Sequence[KnownTable]:
    """The tables of a TOML file's `[[tables]]`. Raises ValueError, which names the table by its place in the file."""
    if not isinstance(given, list) or not given or not all(isinstance(entry, dict) for entry in given):
        raise ValueError("tables must be a list of sections, each written [[tables]] with site, name and key")
    tables: list[KnownTable] = []
    for number, entry in enumerate(given, start=1):
        tables.append(_table(entry, f"tables, number {number}"))
        *before, last = tables
        for other in before:
            if (other.site, other.name) == (last.site, last.name):
                raise ValueError(f"tables, number {number}: {last.site}, {last.name} is in the list already")
            if other.key == last.key:
                raise ValueError(f"tables, number {number}: key is that of {other.site}, {other.name} already")
    return tables


def _table(entry: dict[str, Any], place: str) -> KnownTable:
    for key in entry:
        if key not in _KEYS:
            raise ValueError(f"{place}: {key} is no key; the keys are {', '.join(_KEYS)}")
    for key in ("site", "name"):
        if not isinstance(entry.get(key), str) or not _NAME.fullmatch(entry[key]):
            raise ValueError(f"{place}: {key} must be 1 to 32 letters, digits, - or _")
    if not isinstance(entry.get("key"), str) or not is_public_key(entry["key"]):
        raise ValueError(f"{place}: key must be the table's public key, which begins with U")
    return KnownTable(entry["site"], entry["name"], entry["key"])
