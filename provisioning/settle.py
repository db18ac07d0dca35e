"""`boxman settle`: scenario files through the settlement core, the very one that runs on the table."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from engine_lite import rule_sets
from engine_lite.scenario import Play, ScenarioError, play, prepare
from provisioning.json_file import JsonFileError, read_json_file

HELD, FAILED, NOT_PLAYED = 0, 1, 2


def settle(files: Sequence[Path], rules: str | None) -> int:
    """Play scenario files, one JSON line to standard output for every roll, correction and refusal.

    `rules` is the name of a rule set or a rule file that stands in for what the files name. Returns the exit status:
    HELD, FAILED (an expectation, named on standard error) or NOT_PLAYED (a file is not sound: one line on standard
    error, and nothing of any file is played).
    """
    prepared: list[tuple[Path, Play]] = []
    load = _loader(rules)
    for path in files:
        try:
            prepared.append((path, prepare(read_json_file(path), load, rules)))
        except (ScenarioError, JsonFileError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            return NOT_PLAYED
    failed = False
    for path, scenario in prepared:
        failures: list[str] = []
        play(scenario, print, failures.append)
        for failure in failures:
            print(f"{path}: {failure}", file=sys.stderr)
        failed = failed or bool(failures)
    return FAILED if failed else HELD


def _loader(rules: str | None) -> Callable[[str], dict[str, Any]]:
    """Rule sets by name; `rules` may be a file instead."""
    if rules is None or rules in rule_sets.NAMES:
        return rule_sets.load
    path = Path(rules)

    def load(name: str) -> dict[str, Any]:
        if not path.is_file():
            raise KeyError(name)
        data = read_json_file(path)
        if not isinstance(data, dict):
            raise JsonFileError("a rule file must hold one JSON object")
        return data

    return load
