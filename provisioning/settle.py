"""`boxman settle`: scenario files through the settlement core, the very one that runs on the table."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from engine_lite import rule_sets
from engine_lite.rule_compiler import compile_rules
from engine_lite.rule_data import RuleError
from engine_lite.scenario import Play, ScenarioError, play, prepare
from provisioning.json_file import JsonFileError, read_json_file
from provisioning.rule_source import read_rules
from provisioning.standard_streams import complain, write_utf8

HELD, FAILED, NOT_PLAYED = 0, 1, 2


def add_settle_command(parser: argparse.ArgumentParser) -> None:
    """Say what `settle` takes."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument(
        "--rules", metavar="NAME_OR_FILE", help="a rule set, or a file of one, in place of the files' own"
    )
    parser.set_defaults(start=lambda chosen: settle(chosen.files, chosen.rules))


def settle(files: Sequence[Path], rules: str | None) -> int:
    """Play scenario files, one JSON line to standard output for every roll, correction and refusal.

    `rules` is the name of a rule set or a rule file that stands in for what the files name. Returns the exit status:
    HELD, FAILED (an expectation, named on standard error) or NOT_PLAYED (a file is not sound: one line on standard
    error, and nothing of any file is played).
    """
    prepared: list[tuple[Path, Play]] = []
    try:
        load = _loader(rules)
    except (RuleError, JsonFileError) as error:
        complain(f"{rules}: {error}")
        return NOT_PLAYED
    for path in files:
        try:
            prepared.append((path, prepare(read_json_file(path), load, rules)))
        except (ScenarioError, JsonFileError) as error:
            complain(f"{path}: {error}")
            return NOT_PLAYED
    write_utf8()
    failed = False
    for path, scenario in prepared:
        failures: list[str] = []
        play(scenario, print, failures.append)
        for failure in failures:
            complain(f"{path}: {failure}")
        if not failures and sys.stderr.isatty():
            print(f"{path}: every expectation held", file=sys.stderr)
        failed = failed or bool(failures)
    return FAILED if failed else HELD


def _loader(rules: str | None) -> Callable[[str], dict[str, Any]]:
    """Rule sets by name; `rules` may be a file instead, which is checked first. Raises JsonFileError or RuleError."""
    if rules is None or rules in rule_sets.NAMES:
        return rule_sets.load
    data = read_rules(rules)
    compile_rules(data)
    return lambda _name: data
