"""A rule set as someone names it on the command line: by its name, or by the file that holds it."""

from pathlib import Path
from typing import Any

from engine_lite import rule_sets
from provisioning.json_file import JsonFileError, read_json_file


def read_rules(name_or_file: str) -> Any:
    """The data of a rule set that comes with boxman, or the JSON of a rule file. Raises JsonFileError."""
    if name_or_file in rule_sets.NAMES:
        return rule_sets.load(name_or_file)
    path = Path(name_or_file)
    try:
        there = path.exists()
    except OSError as error:
        raise JsonFileError(f"cannot be read: {error.strerror}") from error
    if not there:
        raise JsonFileError("is neither a file nor one of " + ", ".join(rule_sets.NAMES))
    return read_json_file(path)
