"""A table that plays without a terminal: a session's own entries, sealed as events at times that a test sets."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any

from device.dice_control import dice_rules
from device.dice_control.dice_actions import parse_action
from device.event import GENESIS_HASH, Event, Stamp, seal
from device.origin import Origin
from device.session import Entry, Session
from device.statistics_history import Statistics, statistics
from device.table_terms import TableTerms
from engine_lite import rule_sets
from engine_lite.rule_compiler import compile_rules
from tests.journal_rig import KEY

ROLL_S = 36
# What a player puts down where it may be: player, bet, amount and number.
Bet = tuple[str, str, int, int | None]
BETS: Sequence[Bet] = (
    ("1", "pass_line", 10, None),
    ("2", "pass_line", 25, None),
    ("3", "dont_pass", 10, None),
    ("4", "come", 10, None),
    ("5", "place", 12, 6),
    ("5", "place", 12, 8),
    ("6", "buy", 20, 4),
    ("7", "field", 5, None),
    ("8", "hardway", 5, 8),
    ("9", "any_craps", 5, None),
)
# All of them lose on a seven while there is a point.
ONE_SIDED: Sequence[Bet] = (
    ("1", "pass_line", 25, None),
    ("2", "come", 25, None),
    ("3", "place", 25, 5),
    ("4", "place", 24, 6),
    ("5", "place", 24, 8),
    ("6", "place", 25, 9),
    ("7", "buy", 20, 4),
    ("8", "buy", 20, 10),
)


class PlayedJournal:
    """One table, under us-vegas where no rules are given, a minimum of 5 and a unit of 1; open from the start."""

    def __init__(
        self,
        *,
        rules: dict[str, Any] | None = None,
        options: dict[str, Any] | None = None,
        wall: str = "2026-11-28T20:00:00.000Z",
    ) -> None:
        self.session = Session()
        self.events: list[Event] = []
        self.wall = datetime.fromisoformat(wall)
        self.mono_ns = 0
        self._ids = 0
        self._add(self.session.start("1", {"site": "casino-1"}, key=KEY.public, configuration_hash="0" * 64))
        self.open(rules=rules, options=options)

    def wait(self, seconds: float) -> None:
        """The time of the next event, by both clocks."""
        self.wall += timedelta(seconds=seconds)
        self.mono_ns += round(seconds * 1e9)

    def open(self, *, rules: dict[str, Any] | None = None, options: dict[str, Any] | None = None) -> None:
        """Open the table: another session."""
        data = rules or rule_sets.load("us-vegas")
        filled = compile_rules(data, options or {}).options
        self._add(self.session.open_table(TableTerms(data, filled, 1, 5, 5000), self._origin()))

    def close(self) -> None:
        self._add(self.session.close_table(self._origin()))

    def do(self, step: dict[str, Any]) -> None:
        """A step that must be done."""
        self._add(self.session.command(step, self._origin()))

    def bet(self, player: str, kind: str, amount: int, number: int | None = None) -> None:
        self.do({"bet": {"player": player, "kind": kind, "amount": amount, "number": number}})

    def roll(self, *dice: tuple[int, int]) -> None:
        """Rolls, each ROLL_S after what was before."""
        for first, second in dice:
            self.wait(ROLL_S)
            self.do({"roll": [first, second]})

    def dice(self, name: str, **parts: Any) -> None:
        """An action on the dice (device.dice_control.dice_actions)."""
        action = parse_action({name: {part.removesuffix("_"): value for part, value in parts.items()}})
        self._add(self.session.dice_action(action, dice_rules.load("us-vegas"), self._origin()))

    def supervise(self, deed: Callable[..., Sequence[Entry]], *asked: Any) -> None:
        """A supervisor's deed (device.session_corrections) on the game as it is now."""
        self._add(deed(self.session, *asked, self.session.game_seq, self._origin()))

    def use_set(self, name: str) -> None:
        """Ana and Luis are on duty, a new set is brought, and its first two dice are in play."""
        self.dice("on_duty", boxman="Ana", witness="Luis")
        self.dice("receive", set=name, dice=6, maker="Bold", colour="red")
        self.dice("place", set=name)
        self.dice("change", set=name, taken=["1", "2"])

    def store_set(self, name: str) -> None:
        """A set leaves the table."""
        self.dice("remove", set=name, to="store", reason="closing")

    def hands(self, random: Random, rolls: int, bets: Sequence[Bet] = BETS) -> None:
        """So many rolls by chance, with bets down, and then on until nothing lies on the layout."""
        for _ in range(rolls):
            for player, kind, amount, number in bets:
                if self._may_put(player, kind):
                    self.bet(player, kind, amount, number)
            self.roll((random.randint(1, 6), random.randint(1, 6)))
        self.clear(random)

    def clear(self, random: Random) -> None:
        """Take down what may be, and roll until the rest is decided."""
        table = self.session.table
        assert table is not None
        for bet in table.bets():
            if bet["kind"] in ("place", "buy", "hardway"):
                self.do({"take_down": {part: bet[part] for part in ("player", "kind", "number")}})
        while table.layout():
            self.roll((random.randint(1, 6), random.randint(1, 6)))

    def statistics(self) -> Statistics:
        return statistics(self.events)

    def _may_put(self, player: str, kind: str) -> bool:
        table = self.session.table
        assert table is not None
        if kind in ("pass_line", "dont_pass") and table.point is not None:
            return False
        if kind == "come" and table.point is None:
            return False
        return all((bet["player"], bet["kind"]) != (player, kind) for bet in table.bets())

    def _origin(self) -> Origin:
        self._ids += 1
        return Origin("console", f"{self._ids:032}")

    def _add(self, entries: Sequence[Entry]) -> None:
        for kind, data in entries:
            wall = self.wall.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
            previous = self.events[-1].hash if self.events else GENESIS_HASH
            stamp = Stamp("boot-1", self.mono_ns, wall, "synced")
            self.events.append(seal("craps-1", len(self.events) + 1, stamp, kind, data, previous))


def played_days(random: Random, sessions: int, rolls: int) -> PlayedJournal:
    """Sessions by chance, eight hours from one to the next, with a set of dice each."""
    journal = PlayedJournal()
    for number in range(sessions):
        if number:
            journal.open()
        name = f"R{number + 1}"
        journal.use_set(name)
        journal.hands(random, rolls)
        journal.store_set(name)
        journal.close()
        journal.wait(8 * 3600)
    return journal
