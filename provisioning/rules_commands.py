"""`boxman rules`: what a rule set is worth to the house, whether its file is sound, its pay table and its limits."""

import argparse
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from engine_lite.house_edge import Edge, NeverDecided, bets_as_made, fraction, house_edges, per_cent
from engine_lite.rule_compiler import compile_rules
from engine_lite.rule_data import RuleError
from engine_lite.rules import BetRule, RuleSet
from engine_lite.scenario import CHIPS_MAX
from provisioning.json_file import JsonFileError
from provisioning.pay_table import columns, pay_table, pay_table_html, pay_table_text
from provisioning.rule_check import ERROR, check_rules, kinds_of
from provisioning.rule_source import read_rules
from provisioning.standard_streams import complain, visible

SOUND, FOUND, NOT_DONE = 0, 1, 2
# More than any rule set needs; what is deeper is no rule set.
DEPTH_MAX = 12
# A longer fraction stands below the table.
FRACTION_WIDTH_MAX = 27
ADVANTAGE = "PLAYER HAS THE ADVANTAGE"


class _BadInput(ValueError):
    """What was typed cannot be used: one line that says what is wrong and what would be right."""


def add_rules_command(rules: argparse.ArgumentParser) -> None:
    """Say what `rules` takes."""
    actions = rules.add_subparsers(required=True, metavar="ACTION")

    action = actions.add_parser("edge", help="the exact house edge of every bet")
    _add_rule_set(action)
    action.add_argument("--json", action="store_true", help="write a JSON list of fractions")
    action.set_defaults(start=lambda chosen: show_edges(chosen.rules, chosen.option, chosen.json))

    action = actions.add_parser("check", help="say whether a rule file is sound, and what is wrong with it")
    action.add_argument("rules", metavar="FILE")
    action.set_defaults(start=lambda chosen: check_file(chosen.rules))

    action = actions.add_parser("show", help="a pay table to hang on the wall")
    _add_rule_set(action)
    action.add_argument("--html", action="store_true", help="write a page to print, on A4 or A3")
    action.set_defaults(start=lambda chosen: show_pay_table(chosen.rules, chosen.option, chosen.html))

    action = actions.add_parser("limits", help="the least and the most that a table takes on each bet")
    _add_rule_set(action)
    action.add_argument("--min", required=True, metavar="N", help="the table's minimum, in chip units")
    action.add_argument("--max", required=True, metavar="N", help="the table's maximum, in chip units")
    action.add_argument("--unit", default="1", metavar="N", help="what amounts are multiples of (default: 1)")
    action.set_defaults(
        start=lambda chosen: show_limits(chosen.rules, chosen.option, chosen.min, chosen.max, chosen.unit)
    )


def _add_rule_set(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rules", metavar="NAME_OR_FILE", help="a rule set that comes with boxman, or a file of one")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="choose an option of the rule set, such as vig=up_front; may be repeated",
    )


def show_edges(name_or_file: str, options: Sequence[str], as_json: bool) -> int:
    """Print the exact house edge of every bet of a rule set: a table, or one JSON list."""
    try:
        rules = _compiled(name_or_file, _load(name_or_file), options)
        edges = house_edges(rules)
    except NeverDecided as error:
        return _refuse(f"{name_or_file}: {error}")
    except _BadInput as error:
        return _refuse(str(error))
    if as_json:
        print(json.dumps([edge._asdict() for edge in edges]))
    else:
        _print_visibly(_edge_table(rules, edges))
    return SOUND


def check_file(name_or_file: str) -> int:
    """Print what is wrong with a rule file, a line each; FOUND where one of the findings is an error."""
    try:
        data = _load(name_or_file)
    except _BadInput as error:
        return _refuse(str(error))
    findings = check_rules(data)
    for finding in findings:
        mark = "" if finding.severity == ERROR else "warning: "
        _print_visibly([f"{name_or_file}: {finding.place}: {mark}{finding.text}"])
    if any(finding.severity == ERROR for finding in findings):
        return FOUND
    _print_visibly([f"{name_or_file}: sound"])
    return SOUND


def show_pay_table(name_or_file: str, options: Sequence[str], as_html: bool) -> int:
    """Print the pay table of a rule set as one would hang it on a wall: text, or a page to print."""
    try:
        data = _load(name_or_file)
        table = pay_table(data, _compiled(name_or_file, data, options))
    except _BadInput as error:
        return _refuse(str(error))
    if as_html:
        print(pay_table_html(table), end="")
    else:
        _print_visibly(pay_table_text(table))
    return SOUND


def show_limits(name_or_file: str, options: Sequence[str], minimum: str, maximum: str, unit: str) -> int:
    """Print the least and the most that a table takes on each bet; FOUND where the regulation forbids the maximum."""
    try:
        data = _load(name_or_file)
        rules = _compiled(name_or_file, data, options)
        limits = _Limits(_chips("--min", minimum), _chips("--max", maximum), _chips("--unit", unit))
    except _BadInput as error:
        return _refuse(str(error))
    if limits.maximum < limits.minimum:
        return _refuse(f"--max {limits.maximum} must be at least --min {limits.minimum}")
    _print_visibly(_limits_table(data, rules, limits))
    bounds = rules.maximum_bounds(limits.minimum)
    if bounds is not None and not bounds[0] <= limits.maximum <= bounds[1]:
        complain(
            f"{rules.name}, {rules.limits_source}: the maximum {limits.maximum} is outside what the regulation "
            f"allows; where the minimum is {limits.minimum} it must be from {bounds[0]} to {bounds[1]}"
        )
        return FOUND
    return SOUND


# Reading what was typed


def _load(name_or_file: str) -> Any:
    """The data of a rule set by name or from a file."""
    try:
        data = read_rules(name_or_file)
    except JsonFileError as error:
        raise _BadInput(f"{name_or_file}: {error}") from error
    level = [data]
    for _ in range(DEPTH_MAX):
        if any(type(value) is int and abs(value) > CHIPS_MAX for value in level):
            raise _BadInput(f"{name_or_file}: holds a whole number beyond {CHIPS_MAX}, the most that is reckoned with")
        level = [item for value in level for item in _items(value)]
    if level:
        raise _BadInput(f"{name_or_file}: is nested too deeply; a rule set has at most {DEPTH_MAX} levels")
    return data


def _items(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _compiled(name_or_file: str, data: Any, options: Sequence[str]) -> RuleSet:
    chosen: dict[str, object] = {}
    for option in options:
        name, equals, value = option.partition("=")
        if not name or not equals:
            raise _BadInput(f"--option {option}: must be name=value, such as vig=up_front or field_twelve=[2,1]")
        if name in chosen:
            raise _BadInput(f"--option {option}: {name} is given twice")
        chosen[name] = _option_value(value)
    try:
        return compile_rules(data, chosen)
    except RuleError as error:
        raise _BadInput(f"{name_or_file}: {error}") from error


def _option_value(text: str) -> object:
    """JSON where it is some, such as true, 12 or [2, 1]; any other text is itself."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _chips(name: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 16 and 1 <= int(text) <= CHIPS_MAX):
        raise _BadInput(f"{name} {text}: must be a whole number of chip units from 1 to {CHIPS_MAX}")
    return int(text)


# Edges


def _edge_table(rules: RuleSet, edges: Sequence[Edge]) -> list[str]:
    favoured = [edge for edge in edges if edge.per_bet[0] < 0]
    heading = [f"{rules.title} ({rules.name}, version {rules.version})"]
    heading += [f"Options: {', '.join(f'{name} {json.dumps(value)}' for name, value in sorted(rules.options.items()))}"]
    heading += [f"WARNING: {warning}" for warning in rules.warnings]
    heading += [f"{ADVANTAGE}: {_name(rules, edge)}, {per_cent(edge.per_bet)} per bet" for edge in favoured]
    rows = [("bet", "kind", "number", "per bet", "decided", "per roll", "per bet", "decided", "per roll")]
    notes = []
    for edge in edges:
        shares = (edge.per_bet, edge.per_decision, edge.per_roll)
        number = "" if edge.number is None else str(edge.number)
        fractions = [f"{num}/{den}" if num else "0" for num, den in shares]
        if max(map(len, fractions)) > FRACTION_WIDTH_MAX:
            notes += ["", *map(": ".join, zip(rows[0][6:], fractions, strict=True))]
            notes[-3] = f"{_name(rules, edge)}, {notes[-3]}"
            fractions = ["below"] * len(fractions)
        if edge in favoured:
            fractions[-1] += f"  <== {ADVANTAGE}"
        rows.append((_bet_name(rules, edge), edge.kind, number, *map(per_cent, shares), *fractions))
    return [
        *heading,
        "House edge of a bet followed to its first decision, always working; a push ends it. Negative: for the player.",
        "",
        *columns(rows, right=(2, 3, 4, 5)),
        *notes,
    ]


def _bet_name(rules: RuleSet, edge: Edge) -> str:
    rule = rules.one(edge.kind)
    assert rule is not None
    return rule.name


def _name(rules: RuleSet, edge: Edge) -> str:
    return _bet_name(rules, edge) + ("" if edge.number is None else f" {edge.number}")


# Limits


@dataclass(frozen=True)
class _Limits:
    """A table's own limits, in chip units."""

    minimum: int
    maximum: int
    unit: int


def _limits_table(data: dict[str, Any], rules: RuleSet, limits: _Limits) -> list[str]:
    # What is the same at several numbers is said once.
    bets: dict[tuple[str, ...], list[str]] = {}
    odds: dict[tuple[str, ...], list[str]] = {}
    for rule in bets_as_made(rules):
        number = [] if rule.number is None else [str(rule.number)]
        source = _max_source(data, rules, rule)
        if rule.stage == "odds":
            said = (rule.name, _times(rule), _examples(rules, rule, limits), source)
            odds.setdefault(said, []).extend(number)
            continue
        least, most = accepted(rules, rule, limits.minimum, limits.maximum, limits.unit)
        offered = (str(least), str(most)) if least <= most else ("none", f"{most}, below the minimum")
        bets.setdefault((rule.name, *offered, source), []).extend(number)
    lines = [
        f"{rules.title} ({rules.name}, version {rules.version})",
        f"Table: minimum {limits.minimum}, maximum {limits.maximum}, unit {limits.unit}",
    ]
    if rules.multiple_of_minimum:
        lines.append(f"Amounts are multiples of the minimum ({data['amounts'].get('source', 'no source')}).")
    lines += ["", *_with_numbers(("bet", "minimum", "maximum", "source"), bets, right=(2, 3))]
    if odds:
        lines += ["", *_with_numbers(("odds", "times the flat bet", "on a flat bet of", "source"), odds)]
    return lines


def _with_numbers(
    heading: tuple[str, ...], numbers_of: dict[tuple[str, ...], list[str]], right: Sequence[int] = ()
) -> list[str]:
    rows = [(heading[0], "numbers", *heading[1:])]
    rows += [(said[0], ", ".join(numbers), *said[1:]) for said, numbers in numbers_of.items()]
    return columns(rows, right)


def accepted(rules: RuleSet, rule: BetRule, minimum: int, whole: int, unit: int) -> tuple[int, int]:
    """The least and the most that a table takes on a bet, in chip units; most < least where it takes nothing.

    `whole` is what the maximum is a share of: the table's maximum, or for odds the flat bet. Odds have no minimum of
    their own.
    """
    step = unit
    if rules.multiple_of_minimum:
        step = math.lcm(step, minimum)
    if rules.exact_amounts:
        step = math.lcm(step, rules.exact_step(rule) * unit)
    num, den = rule.max_share
    floor = step if rule.stage == "odds" else minimum
    return -(-floor // step) * step, whole * num // den // step * step


def _times(rule: BetRule) -> str:
    num, den = fraction(*rule.max_share)
    return f"{num}" if den == 1 else f"{num}/{den}"


def _examples(rules: RuleSet, rule: BetRule, limits: _Limits) -> str:
    """The odds on the least and on the greatest flat bet."""
    assert rule.parent is not None
    said = []
    for flat in accepted(rules, rule.parent, limits.minimum, limits.maximum, limits.unit):
        least, most = accepted(rules, rule, limits.minimum, flat, limits.unit)
        said.append(f"{flat}: {least} to {most}" if least <= most else f"{flat}: none")
    return ", ".join(said)


def _max_source(data: dict[str, Any], rules: RuleSet, rule: BetRule) -> str:
    """Where the rule set says that it has the maximum from."""
    kind = next(name for name, bet in data["bets"].items() if rule.kind in kinds_of(name, bet))
    bet = data["bets"][kind]
    entry = bet.get("numbers", {}).get(str(rule.number), {})
    if "max" in bet or "max" in entry:
        return str(entry.get("max_source") or bet.get("max_source") or entry.get("source") or bet["source"])
    return f"the table's limits, {rules.limits_source}" if rules.limits_source else "the table's limits"


# Saying it


def _refuse(text: str) -> int:
    complain(text)
    return NOT_DONE


def _print_visibly(lines: Sequence[str]) -> None:
    for line in lines:
        print(visible(line))
