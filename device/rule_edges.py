"""Whether a rule set is worth what is stated of it: its exact house edges, held against figures that were checked.

`stated_edges.json` holds, for each rule set that comes with boxman in one version, what each bet costs its player of
one chip under the default options (engine_lite.house_edge counts it; tests hold it against figures made by hand and
published). So a rule file that was damaged or changed, and a program that reckons wrong, are found before any play.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from engine_lite.house_edge import NeverDecided, house_edges
from engine_lite.rule_compiler import compile_rules

STATED_PATH: Final = Path(__file__).with_name("stated_edges.json")

Edges = dict[str, tuple[int, int]]


class EdgesDiffer(ValueError):
    """A rule set that nobody should play under; the text names the bet and says what is wrong."""


def check_edges(rule_set: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """What was found of a sound rule set, in words. Raises EdgesDiffer.

    Under the options in force each bet must be decided sometime; under the defaults each must cost what is stated.
    """
    name, version = rule_set["name"], rule_set["version"]
    count = len(edges_of(rule_set, options))
    stated = stated_edges().get(name)
    if stated is None:
        return f"{name}, version {version}: each of {count} bets is decided; no figures are stated for these rules"
    if stated["version"] != version:
        return (
            f"{name}, version {version}: each of {count} bets is decided; figures are stated for version "
            f"{stated['version']} only"
        )
    found = edges_of(rule_set, {})
    expected: Edges = {bet: (num, den) for bet, (num, den) in stated["per_bet"].items()}
    for bet in [*expected, *found]:
        if found.get(bet) != expected.get(bet):
            raise EdgesDiffer(
                f"the house edge of {bet} is {_said(found.get(bet))}, but {_said(expected.get(bet))} is stated for "
                f"{name}, version {version}"
            )
    return f"{name}, version {version}: the house edge of each of {count} bets is as stated"


def edges_of(rule_set: Mapping[str, Any], options: Mapping[str, Any]) -> Edges:
    """What each bet costs of one chip, by its kind and number. Raises EdgesDiffer where one is never decided."""
    try:
        edges = house_edges(compile_rules(dict(rule_set), dict(options)))
    except NeverDecided as error:
        raise EdgesDiffer(str(error)) from error
    return {edge.kind if edge.number is None else f"{edge.kind} {edge.number}": edge.per_bet for edge in edges}


@cache
def stated_edges() -> dict[str, dict[str, Any]]:
    """By rule set: `version`, and `per_bet` by bet, as numerator and denominator."""
    stated: dict[str, dict[str, Any]] = json.loads(STATED_PATH.read_text(encoding="utf-8"))
    return stated


def _said(edge: tuple[int, int] | None) -> str:
    return "none" if edge is None else f"{edge[0]}/{edge[1]}"
