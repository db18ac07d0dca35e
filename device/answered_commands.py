"""The commands of the console that were done, with their answers, so that one that is sent again is not done twice."""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

# Sent again after a lost answer, within seconds or after a start.
COMMANDS_MAX = 1000

Commands = OrderedDict[str, dict[str, Any]]


def remember(commands: Commands, command: str, seq: int, kind: str, data: Mapping[str, Any], point: int | None) -> None:
    """Keep what the command of this id asked for and what came of it: event `seq`. The oldest is forgotten."""
    commands[command] = {"seq": seq, "asked": _asked(kind, data), "results": data.get("results", []), "point": point}
    if len(commands) > COMMANDS_MAX:
        commands.popitem(last=False)


def _asked(kind: str, data: Mapping[str, Any]) -> Any:
    """What a command asked for, as far as it tells it from another one under the same id."""
    if kind == "table_opened":
        return {name: data[name] for name in ("rule_set", "options", "unit", "limits")}
    if kind == "alert_acknowledged":
        return {name: data[name] for name in ("alert", "raised", "name")}
    if kind in ("table_closed", "no_more_bets"):
        return kind
    if "asked" in data:
        return data["asked"]
    return data["correcting"] if kind == "take_back" else data["step"]
