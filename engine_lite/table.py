"""A craps table: the bets on the layout, the point, and what each throw pays.

All amounts are whole numbers of the table's smallest chip unit. A table is a plain object without I/O, clock or
chance: the same steps always give the same results.
"""

from engine_lite import correction, placement
from engine_lite.dealing_order import SEATS_MAX, dealing_order, layout_order
from engine_lite.refusal import Refused
from engine_lite.rules import (
    COLLECT,
    LOSE,
    MOVE,
    NUMBERS,
    RETURN,
    WIN,
    BetRule,
    Outcome,
    RuleSet,
    greatest_common_divisor,
)
from engine_lite.seats import Seats
from engine_lite.snapshot import state_from_json, state_to_json

try:
    from typing import TYPE_CHECKING
except ImportError:  # MicroPython has no typing
    TYPE_CHECKING = False  # type: ignore[misc]
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    # Kind and number.
    Key: TypeAlias = tuple[str, int | None]
    # Rule, amount, commission already taken, button (None, True for On, False for Off), bits that it has collected.
    Bet: TypeAlias = tuple[BetRule, int, int, bool | None, int]
    # The bets on the layout by player: of each player by kind and number.
    Layout: TypeAlias = dict[str, dict[Key, Bet]]
    # What a roll changes: point, shooter, roll number, whether the dice pass, whether the hand is new, house, players,
    # layout.
    State: TypeAlias = tuple[int | None, str | None, int, bool, bool, int, dict[str, int], Layout]

# No table has as many; with it no roll has more results than an event of the journal can hold.
BETS_MAX = 1000

_RETURNED = Outcome(RETURN, 0, 1, 0, 0)
_LOST = Outcome(LOSE, 0, 1, 0, 0)


class Table:
    """One table under one rule set.

    `unit` is what amounts must be a multiple of and what payouts are rounded down to; `minimum` and `maximum` are the
    table's limits; all three in chip units. Raises ValueError when they contradict each other.

    Read freely: `point` (None on a come-out), `shooter` (None until named), `roll_number`, `dice_pass` (the last roll
    passes the dice on), `new_hand` (no roll yet since the dice passed), `house` (what the house is up), `players` (what
    each is up, chips on the layout counted as spent) and `not_redone` (see `correct`). The sum of `house`, `players`
    and the layout is always zero.
    """

    def __init__(self, rules: RuleSet, unit: int, minimum: int, maximum: int) -> None:
        if unit < 1 or minimum < 1 or maximum < minimum:
            raise ValueError("unit and minimum must be at least 1 and the maximum at least the minimum")
        self.rules = rules
        self.unit = unit
        self.minimum = minimum
        self.maximum = maximum
        self.point: "int | None" = None
        self.shooter: "str | None" = None
        self.roll_number = 0
        self.dice_pass = False
        self.new_hand = True
        self.house = 0
        self.players: "dict[str, int]" = {}
        self.not_redone: "list[dict[str, Any]]" = []
        self._seats = Seats()
        self._bets: "Layout" = {}
        # For a correction: the state before the last roll, where that roll sent line bets (player and kind to number),
        # and the steps taken since.
        self._before: "State | None" = None
        self._moved: "dict[tuple[str, str], int]" = {}
        self._since: "list[tuple[Any, ...]]" = []

    # What lies on the layout

    def bets(self) -> "list[dict[str, Any]]":
        """The bets on the layout by kind, box and player: player, kind, number, amount, commission, button, works.

        A bet that collects says with `collected` which totals or points it has.
        """
        found = []
        for player, key in self._in_order():
            rule, amount, commission, button, bits = self._bets[player][key]
            said: "dict[str, Any]" = {
                "player": player,
                "kind": rule.kind,
                "number": rule.number,
                "amount": amount,
                "commission": commission,
                "button": button,
                "works": self._works(rule, button),
            }
            if rule.full:
                said["collected"] = self.rules.collected(rule, bits)
            found.append(said)
        return found

    def layout(self) -> int:
        """The chips on the layout."""
        return sum(bet[1] for bets in self._bets.values() for bet in bets.values())

    def stake_before_roll(self, player: str, kind: str, number: "int | None") -> int:
        """What lay on a bet when the last roll was thrown, 0 where there was none: what a loser is collected of."""
        if self._before is None:
            return 0
        bets = self._before[7].get(player)
        bet = bets.get((kind, number)) if bets else None
        return bet[1] if bet else 0

    # Steps of the players

    def place(self, player: str, kind: str, amount: int, number: "int | None" = None) -> None:
        """Put a bet down, or add to the one that stands.

        Raises Refused: unknown_kind, not_offered, unknown_number, bad_amount, not_multiple, not_now, contract,
        needs_parent, below_min or above_max.
        """
        self._put(player, placement.named(self, player, kind, number), amount)

    def check_players(self, players: "list[str]") -> None:
        """Whether the game takes these players, each named once. Raises Refused: above_max.

        Who is even and has nothing on the layout is as one who never played: so it is in a snapshot too.
        """
        if len(self.players) + len(self._bets) + len(players) <= SEATS_MAX:
            return
        known = {name for name, bets in self._bets.items() if bets}
        known.update([name for name, up in self.players.items() if up])
        new = [player for player in players if player not in known]
        if new and len(known) + len(new) > SEATS_MAX:
            raise Refused("above_max", "a session has at most " + str(SEATS_MAX) + " players; close and open the table")

    def _put(self, player: str, rule: BetRule, amount: int) -> None:
        placement.check_placeable(self, player, rule)
        if type(amount) is not int or amount < 1:
            raise Refused("bad_amount", "the amount must be a positive whole number")
        placement.check_multiple(self, rule, amount)
        old = self.standing(player, rule.key)
        total = amount + (old[1] if old else 0)
        if rule.stage != "odds" and total < self.minimum:
            raise Refused("below_min", "the minimum is " + str(self.minimum))
        placement.check_maximum(self, player, rule, total)
        if old is None and sum(len(bets) for bets in self._bets.values()) >= BETS_MAX:
            raise Refused("above_max", "the layout holds at most " + str(BETS_MAX) + " bets")
        self.check_players([player])
        held = self._commission_up_front(rule, total)
        if len(self._seats.places) >= SEATS_MAX // 2:
            # Whoever has nothing on the layout, nor had before the last roll, needs none.
            self._bets = {name: bets for name, bets in self._bets.items() if bets}
            before = self._before[7] if self._before else {}
            self._seats = self._seats.only(set(self._bets).union(before))
        player = self._seats.taken_by(player)
        self._bets.setdefault(player, {})[rule.key] = (rule, total, held, old[3] if old else None, old[4] if old else 0)
        charged = held - (old[2] if old else 0)
        self._pay(player, -amount - charged)
        self.house += charged
        self._since.append(("bet", player, rule.kind, amount, rule.number))

    def reduce(self, player: str, kind: str, amount: int, number: "int | None" = None) -> "list[dict[str, Any]]":
        """Take part of a bet back; returns what is handed back, as results.

        Raises Refused: no_such_bet, contract, bad_amount, not_multiple, below_min or above_max (odds that would then
        be too high for their flat bet), and those of a wrong kind or number.
        """
        rule, total, held, button, bits = self._standing(player, kind, number)
        if type(amount) is not int or amount < 1 or amount > total:
            raise Refused("bad_amount", "the amount must be a whole number from 1 to " + str(total))
        if amount == total:
            return self.take_down(player, kind, number)
        if "reduce" not in rule.change:
            raise Refused("contract", rule.name + " may not be reduced now")
        left = total - amount
        placement.check_multiple(self, rule, amount)
        if rule.stage != "odds" and left < self.minimum:
            raise Refused("below_min", "what is left must be at least " + str(self.minimum))
        for odds_rule, odds in self._odds_on(player, rule):
            placement.check_share(self, odds_rule, odds[1], left)
        new_held = self._commission_up_front(rule, left)
        self._bets[player][rule.key] = (rule, left, new_held, button, bits)
        self._since.append(("reduce", player, kind, amount, rule.number))
        return [self._hand_back(player, rule, amount, held - new_held)]

    def take_down(self, player: str, kind: str, number: "int | None" = None) -> "list[dict[str, Any]]":
        """Take a bet back, with the odds that stand on it; returns what is handed back, as results.

        Raises Refused: no_such_bet, contract, and those of a wrong kind or number.
        """
        rule = self._standing(player, kind, number)[0]
        if "take_down" not in rule.change:
            raise Refused("contract", rule.name + " may not be taken down now")
        handed = []
        for odds_rule, _ in self._odds_on(player, rule):
            handed.append(self._lift(player, odds_rule.key))
        handed.append(self._lift(player, rule.key))
        return handed

    def _lift(self, player: str, key: "Key") -> "dict[str, Any]":
        rule, amount, held, _, _ = self._bets[player].pop(key)
        self._note_take_down(player, rule, amount)
        return self._hand_back(player, rule, amount, held)

    def _note_take_down(self, player: str, rule: BetRule, amount: int) -> None:
        """Note it for a correction. A bet that was put down since the roll and is gone again leaves no trace."""
        since = 0
        for step in self._since:
            if step[0] in ("bet", "reduce") and (step[1], step[2], step[4]) == (player, rule.kind, rule.number):
                since += step[3] if step[0] == "bet" else -step[3]
        if since == amount:
            self._since = [
                step
                for step in self._since
                if step[0] not in ("bet", "reduce") or (step[1], step[2], step[4]) != (player, rule.kind, rule.number)
            ]
        else:
            self._since.append(("take_down", player, rule.kind, amount, rule.number))

    def working(
        self, on: bool, player: "str | None" = None, kind: "str | None" = None, number: "int | None" = None
    ) -> int:
        """Lay the On or the Off button on the bets that match; what is None means all. Returns how many.

        Bets that always work (line bets, bets on one roll) take no button. Raises Refused: no_such_bet when something
        was named and nothing matches, contract when what matches always works and was to be off, and those of a wrong
        kind or number.
        """
        if kind is not None and number is not None:
            placement.offered(self, kind, number)
        elif kind is not None:
            placement.check_offered(self, kind)
        elif number is not None and (type(number) is not int or number not in NUMBERS):
            raise Refused("unknown_number", str(number) + " is no box")
        matches = [
            (name, bet)
            for name, bets in self._bets.items()
            if player is None or name == player
            for bet in bets.values()
            if (kind is None or bet[0].kind == kind) and (number is None or bet[0].number == number)
        ]
        named = player is not None or kind is not None or number is not None
        if named and not matches:
            raise Refused("no_such_bet", "there is no such bet on the layout")
        switchable = [match for match in matches if match[1][0].switchable]
        if named and not switchable and not on:
            # Named by rank, so that it is the same whatever order the bets came in.
            raise Refused("contract", min([(bet[0].rank, bet[0].name) for _, bet in matches])[1] + " always works")
        for name, (rule, amount, held, _, bits) in switchable:
            self._bets[name][rule.key] = (rule, amount, held, on, bits)
        self._since.append(("working", on, player, kind, number))
        return len(switchable)

    def set_shooter(self, player: str) -> None:
        """Give `player` the dice: from here a come-out roll needs that player's bet."""
        if player != self.shooter and self.point is None:
            self.new_hand = True
        self.shooter = player
        self.dice_pass = False
        self._since.append(("shooter", player))

    # What the house does between rolls

    def adjust(self, player: str, amount: int) -> None:
        """Give a player `amount` (below 0: take it) beside what the rolls have settled; the house bears it."""
        self._pay(player, amount)
        self.house -= amount
        self._since.append(("adjust", player, amount))

    def set_limits(self, minimum: int, maximum: int) -> None:
        """Change the limits for what is put down from now on. Raises ValueError when they contradict each other."""
        if minimum < 1 or maximum < minimum:
            raise ValueError("the minimum must be at least 1 and the maximum at least the minimum")
        self._since.append(("limits", minimum, maximum, self.minimum, self.maximum))
        self.minimum, self.maximum = minimum, maximum

    # The dice

    def roll(self, first: int, second: int) -> "list[dict[str, Any]]":
        """Settle a throw of two dice; returns the results in dealing order (the shape of SCENARIOS results).

        Raises Refused: bad_dice, or no_shooter_bet on a come-out whose named shooter has no bet that the rules ask for.
        """
        if type(first) is not int or type(second) is not int or not 1 <= first <= 6 or not 1 <= second <= 6:
            raise Refused("bad_dice", "each die must be a whole number from 1 to 6")
        if self.point is None and self.shooter is not None:
            placement.check_shooter(self, self.shooter)
        self._before = before = self._state()
        self._since = []
        if self._moved:
            self._moved = {}
        if self.not_redone:
            self.not_redone = []
        self.roll_number += 1
        index = (first - 1) * 6 + second - 1
        total = first + second
        outcomes, places = self.rules.outcomes, self._seats.places
        results: "list[tuple[int, dict[str, Any]]]" = []
        moved: "list[tuple[str, Bet, int]]" = []
        for player, bets in before[7].items():
            for bet in bets.values():
                rule = bet[0]
                code = rule.codes[index]
                if not code:
                    continue
                outcome = outcomes[code]
                if rule.switchable and not self._works(rule, bet[3]):
                    # Off: it stays, unless it is odds whose line bet is decided and leaves the layout.
                    if rule.parent is None:
                        continue
                    outcome = _RETURNED
                elif rule.full:
                    outcome = self._collect(player, bet, outcome, total)
                if outcome is None:
                    continue
                if outcome.result == MOVE:
                    # Travels after the box is settled, so that it never meets the bet that stood there.
                    del self._bets[player][rule.key]
                    moved.append((player, bet, outcome.to))
                    if rule.silent_move:
                        continue
                result = self._settle(player, bet, outcome)
                results.append((dealing_order(outcome.result, rule.number, places[player], rule.rank), result))
        for player, bet, to in moved:
            rule = self.known_rule(bet[0].kind, to)
            self._bets[player][rule.key] = (rule, bet[1], bet[2], bet[3], bet[4])
            self._moved[(player, rule.kind)] = to
        self._move_puck(total)
        if len(results) > 1:
            results.sort(key=_first)
        # In place: a seven that decides a full table leaves no room for a second list on a small heap.
        said: "list[Any]" = results
        for position in range(len(said)):
            said[position] = said[position][1]
        return said

    def correct(self, first: int, second: int) -> "list[dict[str, Any]]":
        """Undo the last roll and settle this one in its place; returns the results of the right roll.

        What the players did since is done again: on the bet that the dealer's chips lie on, which is the one that the
        right roll has moved, whatever number the wrong one gave it. A bet that the right roll does not allow is handed
        back and listed last as a `return`; what was taken back and should not have been stands in `not_redone`. Raises
        Refused: nothing_to_correct or bad_dice.
        """
        if self._before is None:
            raise Refused("nothing_to_correct", "no roll has been entered yet")
        now = (self._state(), self._before, self._moved, self._since, self.not_redone)
        moved, since = self._moved, self._since
        limits = (self.minimum, self.maximum)
        self._set_state(self._before)
        self.minimum, self.maximum = correction.limits_before(since, limits)
        try:
            results = self.roll(first, second)
        except Refused:
            self._set_state(now[0])
            _, self._before, self._moved, self._since, self.not_redone = now
            self.minimum, self.maximum = limits
            raise
        handed, self.not_redone = correction.redo(self, since, moved, self._moved)
        return results + handed

    def again(self, step: "tuple[Any, ...]", number: "int | None") -> None:
        """Do once more a step taken since a roll that is corrected, on the bet at `number`. Raises Refused."""
        name = step[0]
        if name == "working":
            self.working(step[1], step[2], step[3], step[4])
        elif name == "shooter":
            self.set_shooter(step[1])
        elif name == "adjust":
            self.adjust(step[1], step[2])
        elif name == "limits":
            self.set_limits(step[1], step[2])
        elif name == "bet":
            self._put(step[1], self.known_rule(step[2], number), step[3])
        elif not self.standing(step[1], (step[2], number)):
            raise Refused("no_such_bet", "there is no such bet on the layout")
        elif name == "reduce":
            self.reduce(step[1], step[2], step[3], number)
        else:
            self.take_down(step[1], step[2], number)

    # Other courses of the game

    def before_roll(self) -> "State | None":
        """The state before the last roll, for `at`; None while there was none. Nothing changes it any more."""
        return self._before

    def since_roll(self) -> "list[tuple[Any, ...]]":
        """The steps taken since the last roll, for `again`."""
        return list(self._since)

    def at(self, state: "State", minimum: int, maximum: int) -> "Table":
        """Another table under the same rules, in a state of this one and under the limits of then."""
        other = Table(self.rules, self.unit, minimum, maximum)
        other._seats = self._seats.only(self._seats.places)
        other._set_state(state)
        return other

    def copy(self) -> "Table":
        """Another table on which the game is as it is here, and goes on by itself."""
        other = self.at(self._state(), self.minimum, self.maximum)
        other._before = self._before
        other._moved = dict(self._moved)
        other._since = list(self._since)
        other.not_redone = list(self.not_redone)
        return other

    # Snapshots

    def snapshot(self) -> "dict[str, Any]":
        """The whole state as JSON values, what a correction needs included."""
        state = state_to_json(self._state())
        state["before"] = None if self._before is None else state_to_json(self._before)
        state["since"] = [list(step) for step in self._since]
        state["moved"] = [[key[0], key[1], self._moved[key]] for key in sorted(self._moved)]
        state["not_redone"] = [dict(said) for said in self.not_redone]
        return state

    def restore(self, snapshot: "dict[str, Any]") -> None:
        """Take on the state of a snapshot made under the same rule set, options, unit and limits."""
        self._set_state(state_from_json(self.known_rule, self._seats.taken_by, snapshot))
        before = snapshot["before"]
        self._before = None if before is None else state_from_json(self.known_rule, self._seats.taken_by, before)
        self._since = [tuple(step) for step in snapshot["since"]]
        self._moved = {(player, kind): to for player, kind, to in snapshot["moved"]}
        self.not_redone = [dict(said) for said in snapshot["not_redone"]]

    def _state(self) -> "State":
        return (
            self.point,
            self.shooter,
            self.roll_number,
            self.dice_pass,
            self.new_hand,
            self.house,
            dict(self.players),
            {player: dict(bets) for player, bets in self._bets.items() if bets},
        )

    def _set_state(self, state: "State") -> None:
        self.point, self.shooter, self.roll_number, self.dice_pass, self.new_hand, self.house, players, bets = state
        self.players = dict(players)
        # Who was even, and so left out of a snapshot, may have had a bet then.
        self._bets = {self._seats.taken_by(player): dict(mine) for player, mine in bets.items()}
        self._before = None
        self._moved = {}
        self._since = []
        self.not_redone = []

    # What stands where

    def known_rule(self, kind: str, number: "int | None") -> BetRule:
        """The rule of a bet that is known to be offered; ValueError where it is not."""
        rule = self.rules.rule(kind, number)
        if rule is None:
            raise ValueError(self.rules.name + " has no " + str(kind) + " " + str(number))
        return rule

    def standing(self, player: str, key: "Key") -> "Bet | None":
        """A player's bet on the layout, or None."""
        bets = self._bets.get(player)
        return bets.get(key) if bets else None

    def _standing(self, player: str, kind: str, number: "int | None") -> "Bet":
        """A bet on the layout, or Refused."""
        bet = self.standing(player, placement.named(self, player, kind, number).key)
        if bet is None:
            raise Refused("no_such_bet", "there is no such bet on the layout")
        return bet

    def _odds_on(self, player: str, parent: BetRule) -> "list[tuple[BetRule, Bet]]":
        """The odds that stand on a player's line bet."""
        if parent.stage != "line" or parent.number is None:
            return []
        return [(bet[0], bet) for bet in self._bets.get(player, {}).values() if bet[0].parent is parent]

    def bets_of(self, player: str) -> "list[Bet]":
        """A player's bets on the layout."""
        return list(self._bets.get(player, {}).values())

    # What a throw does

    def _works(self, rule: BetRule, button: "bool | None") -> bool:
        if not rule.switchable:
            return True
        if button is not None:
            return button
        return rule.works_on_come_out if self.point is None else rule.works_on_point

    def _collect(self, player: str, bet: "Bet", outcome: "Outcome | None", total: int) -> "Outcome | None":
        """Take a throw into a bet that collects; its outcome when that decides it."""
        rule, amount, held, button, bits = bet
        if outcome is None or outcome.result != COLLECT:
            return outcome
        by_count = rule.by_count
        assert by_count is not None
        if rule.stage == "points":
            if self.point is None or (total != self.point and total != 7):
                return None
            if total == 7:
                pays: "Outcome" = by_count.get(_count(bits), _LOST)
                return pays
        bits |= outcome.bit
        if bits == rule.full:
            return by_count[6] if rule.stage == "points" else by_count[0]
        self._bets[player][rule.key] = (rule, amount, held, button, bits)
        return None

    def _settle(self, player: str, bet: "Bet", outcome: Outcome) -> "dict[str, Any]":
        """Take the bet off the layout or leave it, move the money, and say so."""
        rule, amount = bet[0], bet[1]
        said: "dict[str, Any]" = {"player": player, "kind": rule.kind, "result": outcome.result}
        if rule.number is not None:
            said["number"] = rule.number
        if outcome.result == MOVE:
            said["to"] = outcome.to
        elif outcome.result == WIN:
            self._pay_win(said, player, rule, amount, outcome)
            if not rule.stays_up:
                del self._bets[player][rule.key]
        else:
            if outcome.result == LOSE:
                self.house += amount
            else:
                # With the stake goes a commission that was taken for a play that was none.
                said["returned"] = amount
                if bet[2]:
                    said["commission_returned"] = bet[2]
                    self.house -= bet[2]
                self._pay(player, amount + bet[2])
            del self._bets[player][rule.key]
        return said

    def _pay_win(self, said: "dict[str, Any]", player: str, rule: BetRule, amount: int, win: Outcome) -> None:
        exact = amount * win.num
        paid = exact // (win.den * self.unit) * self.unit
        returned = 0 if rule.stays_up else amount
        commission = 0
        # Taken from the win; or, where it is taken beforehand, for the bet that stays up and plays again.
        if rule.commission is not None and (not rule.commission.up_front or rule.stays_up):
            commission = rule.commission.due(amount, win, self.unit)
            if not rule.commission.up_front:
                # A bet that wins never costs its player anything.
                commission = min(commission, paid)
        if paid:
            said["paid"] = paid
        left = exact - paid * win.den
        if left:
            divisor = greatest_common_divisor(left, win.den)
            said["remainder"] = [left // divisor, win.den // divisor]
        if commission:
            said["commission"] = commission
        if returned:
            said["returned"] = returned
        self._pay(player, paid + returned - commission)
        self.house += commission - paid

    def _commission_up_front(self, rule: BetRule, total: int) -> int:
        if rule.commission is None or not rule.commission.up_front:
            return 0
        win = self.rules.winning(rule)
        assert win is not None
        return rule.commission.due(total, win, self.unit)

    def _hand_back(self, player: str, rule: BetRule, amount: int, commission: int) -> "dict[str, Any]":
        """Give `amount`, and the commission taken on it beforehand, back to the player."""
        self._pay(player, amount + commission)
        self.house -= commission
        said: "dict[str, Any]" = {"player": player, "kind": rule.kind, "result": RETURN, "returned": amount}
        if rule.number is not None:
            said["number"] = rule.number
        if commission:
            said["commission_returned"] = commission
        return said

    def _pay(self, player: str, amount: int) -> None:
        self.players[player] = self.players.get(player, 0) + amount

    def _move_puck(self, total: int) -> None:
        self.dice_pass = False
        if self.point is None:
            if total in NUMBERS:
                self.point = total
            elif total != 7 and total != 11:
                self.dice_pass = self.rules.craps_pass_dice
        elif total == self.point:
            self.point = None
        elif total == 7:
            self.point = None
            self.dice_pass = True
        self.new_hand = self.dice_pass

    def _in_order(self) -> "list[tuple[str, Key]]":
        found = [(player, bet[0]) for player, bets in self._bets.items() for bet in bets.values()]
        found.sort(key=lambda item: layout_order(item[1].rank, item[1].number, self._seats.places[item[0]]))
        return [(player, rule.key) for player, rule in found]


def _first(item: "tuple[int, dict[str, Any]]") -> int:
    return item[0]


def _count(bits: int) -> int:
    count = 0
    while bits:
        count += bits & 1
        bits >>= 1
    return count
