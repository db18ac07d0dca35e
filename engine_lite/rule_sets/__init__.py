"""The rule sets that come with boxman, each a JSON file named by jurisdiction and year."""

import json

try:
    from typing import TYPE_CHECKING
except ImportError:  # MicroPython has no typing
    TYPE_CHECKING = False  # type: ignore[misc]
if TYPE_CHECKING:
    from typing import Any

NAMES = ("es-1979", "es-md-2004", "mo-2010", "cl-scj", "pe-1999", "us-vegas")


def load(name: str) -> "dict[str, Any]":
    """The data of one of NAMES. Raises KeyError for any other name."""
    with open(path(name), encoding="utf-8") as file:
        data: "dict[str, Any]" = json.load(file)
    return data


def path(name: str) -> str:
    """The file of one of NAMES. Raises KeyError for any other name."""
    if name not in NAMES:
        raise KeyError(name)
    return __file__.rsplit("/", 1)[0] + "/" + name + ".json"
