"""A table's dice log in tests: the game's state by hand, and the events as the journal would hold them."""

import json
from dataclasses import replace
from typing import Any

from device.dice_control import dice_rules
from device.dice_control.dice_actions import parse_action
from device.dice_control.dice_context import Context
from device.dice_control.dice_log import DiceLog

Data = dict[str, Any]
SERIALS = ["004711", "004712", "004713", "004714", "004715", "004716"]


class DiceTable:
    """A dice log under the rules of one jurisdiction, in session 5, the table open, before a come-out throw."""

    def __init__(self, rules: str = "us-vegas", *, duty: bool = True) -> None:
        self.log = DiceLog()
        # The log's own count of sessions, by how many events were there when it changed: it hears no table_opened here.
        self.sessions = {0: 5}
        self.log.state.session = 5
        self.context = Context(
            rules=dice_rules.load(rules),
            table_open=True,
            session_number=5,
            point=None,
            shooter="3",
            roll_number=0,
            throwing=False,
            rolls_in_series=0,
        )
        self.events: list[tuple[str, Data]] = []
        if duty:
            self.do("on_duty", boxman="Ana", witness="Luis")

    def game(self, **changes: Any) -> None:
        """The game is another now."""
        self.context = replace(self.context, **changes)
        self.sessions[len(self.events)] = self.log.state.session = self.context.session_number

    def throw(self) -> None:
        """Dice are thrown; the context stays as it is."""
        self.take("roll", {})

    def do(self, name: str, /, **parts: Any) -> Data:
        """An action of the console, done; `to`, `in` and `as` as they are. The event's data."""
        action = parse_action({name: {part.removesuffix("_"): value for part, value in parts.items()}})
        ((kind, data),) = self.log.decide(action, self.context)
        self.take(kind, data)
        return data

    def take(self, kind: str, data: Data) -> int:
        """An event from elsewhere, such as the lid's; its seq."""
        self.events.append((kind, data))
        self.log.take(kind, data, len(self.events))
        return len(self.events)

    @property
    def seq(self) -> int:
        return len(self.events)

    def lid(self, is_open: bool, *, initial: bool = False) -> int:
        game: Data = {
            "shooter": self.context.shooter,
            "roll_number": self.context.roll_number,
            "point": self.context.point,
        }
        if not self.context.table_open:
            game["table_open"] = False
        return self.take("reserve_opened" if is_open else "reserve_closed", {"initial": initial} | game)

    def receive(self, name: str = "A", dice: int = 6, **more: Any) -> Data:
        return self.do("receive", set=name, dice=dice, maker="Bold", colour="red", **more)

    def inspect(self, **more: Any) -> Data:
        """Every check and every instrument, all good; with unsound dice, not the check that they are sound."""
        rules = self.context.rules
        return self.do(
            "inspect",
            checks={check: check != "sound" or "unsound" not in more for check in rules.checks},
            instruments={name: {"sound": True, "showed": "as it should be"} for name in rules.inspection.instruments},
            **more,
        )

    def set_up(self, name: str = "A", dice: int = 6, **more: Any) -> None:
        """A set is received, inspected, at the table, and dice 1 and 2 of it are in play."""
        self.receive(name, dice, **more)
        self.inspect(set=name)
        self.do("place", set=name)
        self.do("change", set=name, taken=list(self.log.state.sets[name].dice)[:2])

    def at(self, *places: str, name: str = "A") -> list[str]:
        return self.log.state.sets[name].at(*places)

    def replayed(self) -> DiceLog:
        """A fresh log that has been given the events as they come back from the disk."""
        log = DiceLog()
        for seq, (kind, data) in enumerate(json.loads(json.dumps(self.events)), start=1):
            log.state.session = self.sessions.get(seq - 1, log.state.session)
            log.take(kind, data, seq)
        log.state.session = self.log.state.session
        return log


def broken(data: Data) -> list[tuple[str, str]]:
    """(rule, article) of the rules that an event breaks."""
    return [(said["rule"], said["article"]) for said in data.get("against_rule", [])]
