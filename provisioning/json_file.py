"""Reading a JSON file that someone wrote by hand: strict, and with one clear line for what is wrong."""

import json
from pathlib import Path
from typing import Any


class JsonFileError(ValueError):
    """A file that cannot be read as JSON; the message says what is wrong and where."""


def read_json_file(path: Path) -> Any:
    """The JSON value in a file. Raises JsonFileError, also for a key given twice and for NaN or Infinity."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise JsonFileError(f"cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise JsonFileError(f"is no UTF-8 text: byte {error.start} is wrong") from error
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise JsonFileError(f"is no JSON: line {error.lineno}, column {error.colno}: {error.msg}") from error
    except JsonFileError:
        raise
    except ValueError as error:
        raise JsonFileError(f"holds a number of too many digits: {error}") from error
    except RecursionError as error:
        raise JsonFileError("is nested too deeply") from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise JsonFileError(f"names {twice} twice in one object")
    return found


def _no_constant(name: str) -> Any:
    raise JsonFileError(f"holds {name}, which is no JSON number")
