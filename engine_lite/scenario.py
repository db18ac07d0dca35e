"""Scenario files: checked whole, then played through the core, each roll held against what is expected of it."""

from engine_lite.json_text import json_text
from engine_lite.placement import KINDS
from engine_lite.refusal import CODES, Refused
from engine_lite.rule_compiler import compile_rules
from engine_lite.rule_data import RuleError
from engine_lite.rules import RuleSet
from engine_lite.steps import StepError, apply_step, check_step
from engine_lite.table import Table

try:
    from typing import TYPE_CHECKING
except ImportError:  # MicroPython has no typing
    TYPE_CHECKING = False  # type: ignore[misc]
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_RESULT_FIELDS = (
    "player",
    "kind",
    "number",
    "result",
    "paid",
    "returned",
    "remainder",
    "commission",
    "commission_returned",
    "to",
)
_FIELDS = ("name", "rules", "options", "unit", "limits", "steps")


# More chips than any table sees, and still exact wherever JSON is read.
CHIPS_MAX = 10**15


class ScenarioError(ValueError):
    """A scenario that cannot be played: the message names the step, what is wrong and what would be right."""


class Play:
    """A scenario ready to be played: `table` has not seen a step yet."""

    def __init__(self, table: Table, steps: "list[dict[str, Any]]") -> None:
        self.table = table
        self.steps = steps


def prepare(scenario: object, load_rules: "Callable[[str], dict[str, Any]]", rules: "str | None" = None) -> Play:
    """Check a parsed scenario file from top to bottom and set up its table; nothing is played.

    `load_rules` gives the data of a rule set by name and raises KeyError for an unknown one; `rules` stands in for the
    name in the file. Raises ScenarioError.
    """
    if not isinstance(scenario, dict):
        raise ScenarioError("the file must hold one JSON object")
    for field in scenario:
        if field not in _FIELDS:
            raise ScenarioError(str(field) + " is no field of a scenario; the fields are " + ", ".join(_FIELDS))
    for field in _FIELDS:
        if field not in scenario and field != "options":
            raise ScenarioError(field + " is missing")
    if not isinstance(scenario["name"], str) or not isinstance(scenario["rules"], str):
        raise ScenarioError("name and rules must be texts")
    table = _table(scenario, load_rules, rules or scenario["rules"])
    steps = scenario["steps"]
    if not isinstance(steps, list):
        raise ScenarioError("steps must be a list")
    for position in range(len(steps)):
        try:
            _check(steps[position], table.rules)
        except StepError as error:
            raise ScenarioError("step " + str(position + 1) + ": " + str(error)) from error
    return Play(table, steps)


def play(prepared: Play, write: "Callable[[str], object]", fail: "Callable[[str], object]") -> bool:
    """Play a scenario; returns whether every expectation held.

    `write` gets one JSON line for every roll, correction and refusal; `fail` one line for every expectation that
    failed: the step, what was expected, what came.
    """
    held = True
    table = prepared.table
    for position in range(len(prepared.steps)):
        step = prepared.steps[position]
        bare = {key: step[key] for key in step if key not in ("expect", "refused")}
        said: "dict[str, Any]" = {"step": position + 1}
        expected_refusal = step.get("refused")
        failure = None
        try:
            results = apply_step(table, bare)
        except Refused as refused:
            said["refused"] = refused.code
            said["message"] = refused.message
            write(json_text(said))
            if refused.code != expected_refusal:
                expected = "refused as " + expected_refusal if expected_refusal else "done"
                failure = "expected to be " + expected + ", came: refused as " + str(refused)
        else:
            name = "roll" if "roll" in bare else "correct"
            if name in bare:
                said[name] = list(bare[name])
                said["point"] = table.point
                said["results"] = results
                write(json_text(said))
            if expected_refusal:
                failure = "expected to be refused as " + expected_refusal + ", came: done"
            elif "expect" in step:
                failure = _difference(step["expect"], table.point, results)
        if failure:
            held = False
            fail("step " + str(position + 1) + ": " + failure)
    return held


def _table(scenario: "dict[str, Any]", load_rules: "Callable[[str], dict[str, Any]]", name: str) -> Table:
    options = scenario.get("options", {})
    if not isinstance(options, dict):
        raise ScenarioError("options must be an object")
    limits = scenario["limits"]
    if not isinstance(limits, dict) or sorted(limits) != ["max", "min"]:
        raise ScenarioError('limits must be an object such as {"min": 1, "max": 1000}')
    for field, value in (("unit", scenario["unit"]), ("limits.min", limits["min"]), ("limits.max", limits["max"])):
        if type(value) is not int or value < 1 or value > CHIPS_MAX:
            raise ScenarioError(field + " must be a whole number from 1 to " + str(CHIPS_MAX))
    try:
        data = load_rules(name)
    except KeyError:
        raise ScenarioError("rules: " + name + " is no rule set that is known here") from None
    try:
        rules = compile_rules(data, options)
    except RuleError as error:
        raise ScenarioError("rules: " + str(error)) from error
    try:
        return Table(rules, scenario["unit"], limits["min"], limits["max"])
    except ValueError as error:
        raise ScenarioError(str(error)) from error


def _check(step: object, rules: RuleSet) -> None:
    """Check one step with what is expected of it. A value that is wrong in itself is let through only where the step
    says that it is to be refused."""
    if not isinstance(step, dict):
        raise StepError("step", "must be an object")
    refused = step.get("refused")
    if "refused" in step and refused not in CODES:
        raise StepError("refused", "must be one of " + ", ".join(CODES))
    bare = {key: step[key] for key in step if key not in ("expect", "refused")}
    name = check_step(bare, values="refused" not in step)
    if "refused" not in step and name in ("bet", "reduce", "take_down", "working"):
        kind = bare[name].get("kind")
        if kind is not None and kind not in KINDS and kind not in rules.kinds:
            raise StepError(name + ".kind", "is unknown: " + kind)
    if "expect" in step:
        if name not in ("roll", "correct") or "refused" in step:
            raise StepError("expect", "belongs to a roll or a correction that is done")
        _check_expect(step["expect"])


def _check_expect(expect: object) -> None:
    if not isinstance(expect, dict) or not expect or not set(expect) <= {"point", "results"}:
        raise StepError("expect", "must be an object with point, results or both")
    if expect.get("point") is not None and type(expect["point"]) is not int:
        raise StepError("expect.point", "must be a number or null")
    if not isinstance(expect.get("results", []), list):
        raise StepError("expect.results", "must be a list")
    for result in expect.get("results", []):
        if not isinstance(result, dict):
            raise StepError("expect.results", "must be a list of objects")
        for field in result:
            if field not in _RESULT_FIELDS:
                raise StepError("expect.results." + str(field), "is no field of a result")
            if not _is_result_value(field, result[field]):
                raise StepError("expect.results." + str(field), "must be a whole number or a text, and nothing nested")


def _is_result_value(field: str, value: object) -> bool:
    if field == "remainder" and isinstance(value, list):
        return len(value) == 2 and type(value[0]) is int and type(value[1]) is int
    return value is None or isinstance(value, str) or type(value) is int


def _difference(expect: "dict[str, Any]", point: "int | None", results: "list[dict[str, Any]]") -> "str | None":
    """What was expected and what came, or None where they agree; the order does not matter.

    What is left out altogether, the point or the results, is not compared.
    """
    if "point" in expect and expect["point"] != point:
        return "expected point " + json_text(expect["point"]) + ", came: " + json_text(point)
    if "results" not in expect:
        return None
    matched = matching(expect["results"], results)
    missing = [expect["results"][i] for i in range(len(expect["results"])) if i not in matched]
    surplus = [results[j] for j in range(len(results)) if j not in matched.values()]
    if missing or surplus:
        return "expected " + json_text(missing) + ", came: " + json_text(surplus)
    return None


def matching(expected: "list[dict[str, Any]]", results: "list[dict[str, Any]]") -> "dict[int, int]":
    """Pair expected results with those that came so that as many as possible are paired (augmenting paths)."""
    came_for: "dict[int, int]" = {}
    expected_as: "dict[int, int]" = {}
    for start in range(len(expected)):
        reached_from: "dict[int, int]" = {}
        waiting = [start]
        while waiting:
            i = waiting.pop()
            free = None
            for j in range(len(results)):
                if j not in reached_from and _agrees(expected[i], results[j]):
                    reached_from[j] = i
                    if j not in expected_as:
                        free = j
                        break
                    waiting.append(expected_as[j])
            if free is not None:
                _swap(free, start, reached_from, came_for, expected_as)
                break
    return came_for


def _swap(
    j: int, start: int, reached_from: "dict[int, int]", came_for: "dict[int, int]", expected_as: "dict[int, int]"
) -> None:
    """Pair along the path that leads from `start` to the free result `j`."""
    while True:
        i = reached_from[j]
        former = came_for.get(i)
        came_for[i] = j
        expected_as[j] = i
        if i == start or former is None:
            return
        j = former


def _agrees(expected: "dict[str, Any]", came: "dict[str, Any]") -> bool:
    """A field that is left out is not compared; a remainder that is left out is zero."""
    for field in expected:
        wanted = expected[field]
        if field == "remainder" and isinstance(wanted, list) and wanted[:1] == [0]:
            wanted = None
        if (wanted or None) != (came.get(field) or None):
            return False
    return "remainder" in expected or "remainder" not in came
