"""A full table, 24 players with 12 bets each, on the runtime that runs this.

Arguments: the project's folder, the rule set's name and the number of rolls. Prints one JSON object with what was
measured; see `main`. It imports what a node would: the rule set is compiled bet by bet from its file, and then the
compiler is let go of.
"""

import gc
import sys

try:
    from typing import TYPE_CHECKING
except ImportError:  # MicroPython has no typing
    TYPE_CHECKING = False  # type: ignore[misc]
if TYPE_CHECKING:
    from typing import Any

    from engine_lite.rules import RuleSet
    from engine_lite.table import Table

PLAYERS = 24
BETS = 12
LINE_AMOUNT, HELD_AMOUNT, SMALL_AMOUNT = 10, 30, 5
# Bets that stay: the first eight that a rule set offers.
HELD = (
    ("buy", 5),
    ("lay", 9),
    ("place", 6),
    ("place", 8),
    ("place_to_lose", 4),
    ("big", 6),
    ("big", 8),
    ("hardway", 6),
    ("hardway", 8),
    ("hardway", 4),
    ("hardway", 10),
    ("big", 4),
    ("big", 10),
)
HELD_COUNT = 8
# The slots after those that stay: line bet, its odds, come bet, its odds. While a slot's bet cannot be put down, a bet
# on one roll takes its place, so that every player always has 12 bets.
LINE, LINE_ODDS, COME, COME_ODDS = 8, 9, 10, 11
FILLERS = {LINE_ODDS: "any_seven", COME: "any_craps", COME_ODDS: "field"}
ALL_SLOTS = (1 << BETS) - 1


def node_rules(root: str, name: str) -> "RuleSet":
    """A rule set, compiled as on a node; the modules that compiled it are no longer held."""
    sys.path.insert(0, root)
    if hasattr(gc, "threshold"):
        gc.threshold(8192)
    # First the largest module: compiling its source takes most of an empty heap, and gives it back.
    import engine_lite.table
    from engine_lite.rule_compiler import compile_rules
    from engine_lite.rule_file import open_rule_file

    rules = compile_rules(open_rule_file(root + "/engine_lite/rule_sets/" + name + ".json"))
    del compile_rules, open_rule_file
    for module in ("rule_compiler", "rule_file", "rule_data"):
        del sys.modules["engine_lite." + module]
        delattr(engine_lite, module)
    gc.collect()
    return rules


class FullTable:
    """Players who put down again what they lost; what lies is known from the results alone."""

    def __init__(self, rules: "RuleSet", table: "Table") -> None:
        self.table = table
        held = [key for key in HELD if rules.rule(key[0], key[1]) is not None][:HELD_COUNT]
        self.held = held
        # One bit for each slot that has a bet; the box of the come bet, 0 before it has one.
        self.lying = [0] * PLAYERS
        self.come_boxes = [0] * PLAYERS
        # Where each bet goes: of those that stay kind and number, of the others the kind.
        self.slots: dict[Any, int] = {}
        for slot, key in enumerate(held):
            self.slots[key] = slot
        for slot, kind in FILLERS.items():
            self.slots[kind] = slot
        for right, wrong, slot in (
            ("pass_line", "dont_pass", LINE),
            ("pass_odds", "dont_pass_odds", LINE_ODDS),
            ("come", "dont_come", COME),
            ("come_odds", "dont_come_odds", COME_ODDS),
        ):
            self.slots[right] = self.slots[wrong] = slot
        self.names = [str(seat + 1) for seat in range(PLAYERS)]
        self.seats = {name: seat for seat, name in enumerate(self.names)}
        self.put_down()

    def put_down(self) -> None:
        """Every player has 12 bets again."""
        for seat in range(PLAYERS):
            if self.lying[seat] != ALL_SLOTS:
                for slot in range(BETS):
                    if not self.lying[seat] >> slot & 1:
                        self._bet(seat, slot)
                self.lying[seat] = ALL_SLOTS

    def _bet(self, seat: int, slot: int) -> None:
        place, name, point = self.table.place, self.names[seat], self.table.point
        right = seat % 2 == 0
        if slot < HELD_COUNT:
            kind, number = self.held[slot]
            place(name, kind, HELD_AMOUNT, number)
        elif slot == LINE:
            place(name, "pass_line" if right else "dont_pass", LINE_AMOUNT)
        elif slot == LINE_ODDS and point is not None:
            place(name, "pass_odds" if right else "dont_pass_odds", LINE_AMOUNT)
        elif slot == COME and point is not None:
            place(name, "come" if right else "dont_come", LINE_AMOUNT)
            self.come_boxes[seat] = 0
        elif slot == COME_ODDS and self.come_boxes[seat]:
            place(name, "come_odds" if right else "dont_come_odds", LINE_AMOUNT, self.come_boxes[seat])
        else:
            place(name, FILLERS[slot], SMALL_AMOUNT)

    def note(self, results: "list[dict[str, Any]]") -> None:
        """Take in which bets a roll has decided."""
        for result in results:
            seat, kind = self.seats[result["player"]], result["kind"]
            if result["result"] == "move":
                self.come_boxes[seat] = result["to"]
                continue
            slot = self.slots.get(kind, -1)
            if slot < 0:
                slot = self.slots[(kind, result["number"])]
                if result["result"] == "win":
                    # It is paid and stays.
                    continue
            elif slot == COME:
                self.come_boxes[seat] = 0
            self.lying[seat] &= ~(1 << slot)

    def roll(self, first: int, second: int) -> int:
        """Roll the dice; returns how many bets that decided or moved."""
        results = self.table.roll(first, second)
        self.note(results)
        return len(results)

    def play(self, first: int, second: int) -> int:
        """Roll and put down again what was decided; returns how many bets were decided or moved.

        The results of a roll are let go of, with the stack frame that held them, before bets are put down: 288 of them
        and as many new bets do not fit into the heap together.
        """
        count = self.roll(first, second)
        self.put_down()
        return count


class Dice:
    """Dice that are the same on every runtime: a linear congruential generator, its high bits."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def throw(self) -> int:
        self._state = (self._state * 1103515245 + 12345) & 0x3FFFFFFF
        return (self._state >> 12) % 6 + 1


# Played before each measuring, from any point to the same state. The seven decides whatever has a number, and the
# layout is that of a fresh come-out. Then nine is the point, the come bets go to eight and get their odds, and a three
# decides the bets on one roll, which are put down again.
CLOSING = ((3, 4), (4, 5), (2, 6), (1, 2))
CLOSING_ROLLS = len(CLOSING) + 1


def close(full: FullTable) -> None:
    """Bring the table from any state to the one in which it is measured, with CLOSING_ROLLS rolls.

    There the same bets lie on it, put down in the same order; it remembers the same last roll and the same steps since.
    Only the counts of money and of rolls differ, which are small whole numbers and no objects of their own.
    """
    # A come-out roll needs a point first, so that the seven finds one: it decides the line and the come bets.
    if full.table.point is None:
        full.play(2, 2)
    else:
        full.play(1, 1)
    for first, second in CLOSING:
        full.play(first, second)
    assert full.table.point == 9


def in_use() -> int:
    """The heap in use, in bytes, once everything that nobody holds is given back; 0 on CPython."""
    gc.collect()
    return gc.mem_alloc() if hasattr(gc, "mem_alloc") else 0


def main(root: str, name: str, rolls: int) -> "dict[str, Any]":
    """Play `rolls` rolls.

    Returns, in bytes: `rules`, the heap in use with the core and its rule set; `first` and `last`, the heap in use
    after 100 rolls and after all, the layout in the same state; `free`, the heap that is left then. All four are 0 on
    CPython. Then `rolls`; `most`, the most results that a roll had; `lies`, whether all 288 bets lie there; `layout`,
    the chips on it; and `house` and `players`, what they are up.
    """
    rules = node_rules(root, name)
    from engine_lite.table import Table

    heap_of_rules = in_use()
    full = FullTable(rules, Table(rules, 1, 5, 500))
    dice = Dice(7)
    measured = []
    most = 0
    for last in (100, rolls):
        while full.table.roll_number < last - CLOSING_ROLLS:
            most = max(most, full.play(dice.throw(), dice.throw()))
        close(full)
        measured.append(in_use())
    return {
        "rules": heap_of_rules,
        "first": measured[0],
        "last": measured[1],
        "free": gc.mem_free() if hasattr(gc, "mem_free") else 0,
        "rolls": full.table.roll_number,
        "most": most,
        "lies": full.lying == [ALL_SLOTS] * PLAYERS,
        "layout": full.table.layout(),
        "house": full.table.house,
        "players": [full.table.players[player] for player in full.names],
    }


if __name__ == "__main__":
    measured_here = main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    from engine_lite.json_text import json_text

    print(json_text(measured_here))
