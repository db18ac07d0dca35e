"""The tables that a central system knows, as a TOML file lists them: `[[tables]]` with site, name and public key."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from device.table_key import is_public_key

_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")
_KEYS = ("site", "name", "key")


@dataclass(frozen=True)
class KnownTable:
    """A table and its public key, as its journal's `started` names it."""

    site: str
    name: str
    key: str


def read_tables(given: object) -> Sequence[KnownTable]:
    """The tables in the value of `tables`. Raises ValueError with one line that names the place."""
    if not isinstance(given, list) or not given or not all(isinstance(table, dict) for table in given):
        raise ValueError("tables: must be a list of at least one table, each written [[tables]]")
    tables = [_table(f"tables {number}", table) for number, table in enumerate(given, start=1)]
    for number, table in enumerate(tables, start=1):
        for earlier in tables[: number - 1]:
            if (earlier.site, earlier.name) == (table.site, table.name):
                raise ValueError(f"tables {number}: {table.site}/{table.name} is there already")
            if earlier.key == table.key:
                raise ValueError(
                    f"tables {number}: {table.site}/{table.name} has the key of {earlier.site}/{earlier.name}; "
                    "every table has a key of its own"
                )
    return tables


def _table(place: str, given: dict[str, object]) -> KnownTable:
    for key in given:
        if key not in _KEYS:
            raise ValueError(f"{place}: {key} is no key; the keys are {', '.join(_KEYS)}")
    for key in ("site", "name"):
        value = given.get(key)
        if not isinstance(value, str) or not _NAME.fullmatch(value):
            raise ValueError(f"{place}: {key} must be 1 to 32 letters, digits, - or _")
    public = given.get("key")
    if not isinstance(public, str) or not is_public_key(public):
        raise ValueError(f"{place}: key must be the table's public key, which begins with U")
    return KnownTable(str(given["site"]), str(given["name"]), public)
