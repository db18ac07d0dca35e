"""A craps table: the bets on the layout, the point, and what each throw pays.

All amounts are whole numbers of the table's smallest chip unit. A table is a plain object without I/O, clock or
chance: the same steps always give the same results.
"""

from engine_lite.refusal import Refused
from engine_lite.rules import LOSE, MOVE, NUMBERS, PUSH, RETURN, WIN, BetRule, Outcome, RuleSet

try:
    from typing import TYPE_CHECKING
except ImportError:  # MicroPython has no typing
    TYPE_CHECKING = False  # type: ignore[misc]
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    # Player, kind, number.
    Key: TypeAlias = tuple[str, str, int | None]
    # Rule, amount, commission already taken, button (None, True for On, False for Off).
    Bet: TypeAlias = tuple[BetRule, int, int, bool | None]
    State: TypeAlias = tuple[int | None, str | None, int, bool, int, dict[str, int], dict[Key, Bet]]

# The order in which a dealer works: losers are collected, winners paid, then what is handed back and what travels.
DEALING_ORDER = (LOSE, WIN, PUSH, RETURN, MOVE)

# Every kind of SCENARIOS.md: one that a rule set lacks is "not offered", any other name is "unknown".
KINDS = (
    "pass_line",
    "dont_pass",
    "come",
    "dont_come",
    "pass_odds",
    "dont_pass_odds",
    "come_odds",
    "dont_come_odds",
    "place",
    "place_to_lose",
    "buy",
    "lay",
    "field",
    "big",
    "hardway",
    "any_seven",
    "any_craps",
    "two",
    "three",
    "eleven",
    "twelve",
    "horn",
    "c_and_e",
    "under_seven",
    "over_seven",
)


class Table:
    """One table under one rule set.

    `unit` is what amounts must be a multiple of and what payouts are rounded down to; `minimum` and `maximum` are the
    table's limits; all three in chip units. Raises ValueError when they contradict each other.

    Read freely: `point` (None on a come-out), `shooter` (None until named), `roll_number`, `dice_pass` (the last roll
    passes the dice on), `house` (what the house is up) and `players` (what each is up, chips on the layout counted as
    spent). The sum of `house`, `players` and the layout is always zero.
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
        self.house = 0
        self.players: "dict[str, int]" = {}
        self._bets: "dict[Key, Bet]" = {}
        # For a correction: the state before the last roll, and the steps taken since.
        self._before: "State | None" = None
        self._since: "list[tuple[Any, ...]]" = []
        # Where the last roll sent line bets: (player, kind) to number.
        self._moved: "dict[tuple[str, str], int]" = {}
        self.not_redone: "list[dict[str, Any]]" = []

    # What lies on the layout

    def bets(self) -> "list[dict[str, Any]]":
        """The bets on the layout in dealing order: player, kind, number, amount, commission, button and works."""
        return [
            {
                "player": player,
                "kind": kind,
                "number": number,
                "amount": amount,
                "commission": commission,
                "button": button,
                "works": self._works(rule, button),
            }
            for (player, kind, number), (rule, amount, commission, button) in sorted(
                self._bets.items(), key=lambda item: _layout_order(item[0], item[1][0])
            )
        ]

    def layout(self) -> int:
        """The chips on the layout."""
        return sum(bet[1] for bet in self._bets.values())

    # Steps of the players

    def place(self, player: str, kind: str, amount: int, number: "int | None" = None) -> None:
        """Put a bet down, or add to the one that stands.

        Raises Refused: unknown_kind, not_offered, unknown_number, bad_amount, not_multiple, not_now, contract,
        needs_parent, below_min or above_max.
        """
        rule = self._named(player, kind, number)
        self._put(player, rule, amount)
        self._since.append(("bet", player, kind, amount, rule.number))

    def _put(self, player: str, rule: BetRule, amount: int) -> None:
        self._check_placeable(player, rule)
        if type(amount) is not int or amount < 1:
            raise Refused("bad_amount", "the amount must be a positive whole number")
        self._check_multiple(rule, amount)
        kind = rule.kind
        key = (player, kind, rule.number)
        old = self._bets.get(key)
        total = amount + (old[1] if old else 0)
        if rule.stage != "odds" and total < self.minimum:
            raise Refused("below_min", "the minimum is " + str(self.minimum))
        self._check_maximum(player, rule, total)
        held = self._commission_up_front(rule, total)
        self._bets[key] = (rule, total, held, old[3] if old else None)
        charged = held - (old[2] if old else 0)
        self._pay(player, -amount - charged)
        self.house += charged

    def reduce(self, player: str, kind: str, amount: int, number: "int | None" = None) -> "list[dict[str, Any]]":
        """Take part of a bet back; returns what is handed back, as results.

        Raises Refused: no_such_bet, contract, bad_amount, not_multiple, below_min or above_max (odds that would then
        be too high for their flat bet), and those of a wrong kind or number.
        """
        key = self._standing(player, kind, number)
        rule, total, held, button = self._bets[key]
        if type(amount) is not int or amount < 1 or amount > total:
            raise Refused("bad_amount", "the amount must be a whole number from 1 to " + str(total))
        if amount == total:
            return self.take_down(player, kind, number)
        if "reduce" not in rule.change:
            raise Refused("contract", rule.name + " may not be reduced now")
        left = total - amount
        self._check_multiple(rule, amount)
        if rule.stage != "odds" and left < self.minimum:
            raise Refused("below_min", "what is left must be at least " + str(self.minimum))
        for odds_rule, odds in self._odds_on(player, rule):
            self._check_share(odds_rule, odds[1], left)
        new_held = self._commission_up_front(rule, left)
        self._bets[key] = (rule, left, new_held, button)
        self._since.append(("reduce", player, kind, amount, rule.number))
        return [self._hand_back(player, rule, amount, held - new_held)]

    def take_down(self, player: str, kind: str, number: "int | None" = None) -> "list[dict[str, Any]]":
        """Take a bet back, with the odds that stand on it; returns what is handed back, as results.

        Raises Refused: no_such_bet, contract, and those of a wrong kind or number.
        """
        key = self._standing(player, kind, number)
        rule = self._bets[key][0]
        if "take_down" not in rule.change:
            raise Refused("contract", rule.name + " may not be taken down now")
        handed = []
        for odds_rule, odds in self._odds_on(player, rule):
            del self._bets[(player, odds_rule.kind, odds_rule.number)]
            self._since.append(("take_down", player, odds_rule.kind, odds[1], odds_rule.number))
            handed.append(self._hand_back(player, odds_rule, odds[1], odds[2]))
        _, amount, held, _ = self._bets.pop(key)
        handed.append(self._hand_back(player, rule, amount, held))
        self._since.append(("take_down", player, kind, amount, rule.number))
        return handed

    def working(
        self, on: bool, player: "str | None" = None, kind: "str | None" = None, number: "int | None" = None
    ) -> int:
        """Lay the On or the Off button on the bets that match; what is None means all. Returns how many.

        Bets that always work (line bets, bets on one roll) take no button. Raises Refused: no_such_bet when something
        was named and nothing matches, contract when what matches always works and was to be off, and those of a wrong
        kind or number.
        """
        if kind is not None and number is not None:
            self._offered(kind, number)
        elif kind is not None:
            self._check_offered(kind)
        elif number is not None and (type(number) is not int or number not in NUMBERS):
            raise Refused("unknown_number", str(number) + " is no box")
        matches = [
            key
            for key in self._bets
            if (player is None or key[0] == player)
            and (kind is None or key[1] == kind)
            and (number is None or key[2] == number)
        ]
        named = player is not None or kind is not None or number is not None
        if named and not matches:
            raise Refused("no_such_bet", "there is no such bet on the layout")
        switchable = [key for key in matches if self._bets[key][0].switchable]
        if named and not switchable and not on:
            raise Refused("contract", self._bets[matches[0]][0].name + " always works")
        for key in switchable:
            rule, amount, held, _ = self._bets[key]
            self._bets[key] = (rule, amount, held, on)
        self._since.append(("working", on, player, kind, number))
        return len(switchable)

    def set_shooter(self, player: str) -> None:
        """Give `player` the dice: from here a come-out roll needs that player's bet."""
        self.shooter = player
        self.dice_pass = False
        self._since.append(("shooter", player))

    # The dice

    def roll(self, first: int, second: int) -> "list[dict[str, Any]]":
        """Settle a throw of two dice; returns the results in dealing order (the shape of SCENARIOS results).

        Raises Refused: bad_dice, or no_shooter_bet on a come-out whose named shooter has no bet that the rules ask for.
        """
        for die in (first, second):
            if type(die) is not int or die < 1 or die > 6:
                raise Refused("bad_dice", "each die must be a whole number from 1 to 6")
        self._check_shooter()
        self._before = self._state()
        self._since = []
        self._moved = {}
        self.not_redone = []
        self.roll_number += 1
        index = (first - 1) * 6 + second - 1
        results: "list[tuple[tuple[Any, ...], dict[str, Any]]]" = []
        moved = []
        for key, bet in list(self._bets.items()):
            outcome = self._outcome(bet, index)
            if outcome is None:
                continue
            if outcome.result == MOVE:
                # Travels after the box is settled, so that it never meets the bet that stood there.
                del self._bets[key]
                moved.append((key[0], key[1], outcome.to, bet))
                if bet[0].silent_move:
                    continue
            result = self._settle(key, bet, outcome)
            results.append((_dealing_order(key, bet[0], outcome.result), result))
        for player, kind, to, (_, amount, held, button) in moved:
            self._bets[(player, kind, to)] = (self._known_rule(kind, to), amount, held, button)
            self._moved[(player, kind)] = to
        self._move_puck(first + second)
        results.sort(key=lambda item: item[0])
        return [result for _, result in results]

    def correct(self, first: int, second: int) -> "list[dict[str, Any]]":
        """Undo the last roll and settle this one in its place; returns the results of the right roll.

        What the players did since is done again: on the bet that the dealer's chips lie on, which is the one that the
        right roll has moved, whatever number the wrong one gave it. A bet that the right roll does not allow is handed
        back and listed last as a `return`; what else could not be done again stands in `not_redone`. Raises Refused:
        nothing_to_correct or bad_dice.
        """
        if self._before is None:
            raise Refused("nothing_to_correct", "no roll has been entered yet")
        now, before, since, moved = self._state(), self._before, self._since, self._moved
        self._set_state(before)
        try:
            results = self.roll(first, second)
        except Refused:
            self._set_state(now)
            self._before, self._since, self._moved = before, since, moved
            raise
        # What each bet is owed that was put down and could not be done again, less what was taken back of it.
        owed: "dict[Key, int]" = {}
        for step in since:
            try:
                self._again(step, moved)
            except Refused:
                if step[0] in ("bet", "reduce", "take_down"):
                    name, player, kind, amount, number = step
                    key = (player, kind, number)
                    owed[key] = owed.get(key, 0) + (amount if name == "bet" else -amount)
        for key in sorted(owed, key=lambda key: (key[0], key[1], key[2] or 0)):
            said: "dict[str, Any]" = {"player": key[0], "kind": key[1]}
            if key[2] is not None:
                said["number"] = key[2]
            if owed[key] > 0:
                results.append(_with(said, result=RETURN, returned=owed[key]))
            elif owed[key] < 0:
                self.not_redone.append(_with(said, amount=-owed[key]))
        return results

    def stake_before_roll(self, player: str, kind: str, number: "int | None") -> int:
        """What lay on a bet when the last roll was thrown, 0 where there was none: what a loser is collected of."""
        if self._before is None:
            return 0
        bet = self._before[6].get((player, kind, number))
        return bet[1] if bet else 0

    # Snapshots

    def snapshot(self) -> "dict[str, Any]":
        """The whole state as JSON values, what a correction needs included."""
        state = _state_to_json(self._state())
        state["before"] = None if self._before is None else _state_to_json(self._before)
        state["since"] = [list(step) for step in self._since]
        state["moved"] = [[key[0], key[1], self._moved[key]] for key in sorted(self._moved)]
        state["not_redone"] = [dict(said) for said in self.not_redone]
        return state

    def restore(self, snapshot: "dict[str, Any]") -> None:
        """Take on the state of a snapshot made under the same rule set, options, unit and limits."""
        self._set_state(self._state_from_json(snapshot))
        before = snapshot["before"]
        self._before = None if before is None else self._state_from_json(before)
        self._since = [tuple(step) for step in snapshot["since"]]
        self._moved = {(player, kind): to for player, kind, to in snapshot["moved"]}
        self.not_redone = [dict(said) for said in snapshot["not_redone"]]

    # What follows is the table's own

    def _check_offered(self, kind: str) -> None:
        if kind in self.rules.kinds:
            return
        if kind in KINDS:
            raise Refused("not_offered", self.rules.name + " has no such bet: " + kind)
        raise Refused("unknown_kind", "there is no bet called " + str(kind))

    def _offered(self, kind: str, number: "int | None") -> BetRule:
        """The rule of a kind and number as someone named them, or Refused."""
        rules = self.rules
        self._check_offered(kind)
        whole = number is None or type(number) is int
        rule = rules.rule(kind, number) if whole else None
        if rule is None:
            numbers = rules.numbers(kind)
            if whole and number in NUMBERS and numbers:
                raise Refused("not_offered", rules.name + " has no such bet: " + kind + " " + str(number))
            if not numbers:
                raise Refused("unknown_number", kind + " takes no number")
            raise Refused("unknown_number", kind + " needs a number: " + ", ".join(str(n) for n in numbers))
        return rule

    def _named(self, player: str, kind: str, number: "int | None") -> BetRule:
        """Like _offered; where the number may be left out (pass line and its odds), it is filled in."""
        rules = self.rules
        if kind in rules.kinds:
            stage = rules.stage(kind)
            if stage == "odds" and number is None:
                parent = self._known_rule(kind, rules.numbers(kind)[0]).parent
                assert parent is not None
                if self._known_rule(parent.kind, None).silent_move:
                    if self.point is None:
                        self._needs_parent(player, kind, parent.kind, None)
                        raise Refused("not_now", "odds need a point")
                    number = self.point
            elif (
                stage == "line"
                and number is None
                and self._known_rule(kind, None).silent_move
                and self.point is not None
            ):
                number = self.point
        return self._offered(kind, number)

    def _known_rule(self, kind: str, number: "int | None") -> BetRule:
        rule = self.rules.rule(kind, number)
        if rule is None:
            raise ValueError(self.rules.name + " has no " + str(kind) + " " + str(number))
        return rule

    def _check_placeable(self, player: str, rule: BetRule) -> None:
        """Whether a bet may be put down or added to now, or Refused."""
        if rule.stage == "odds":
            assert rule.parent is not None
            self._needs_parent(player, rule.kind, rule.parent.kind, rule.number)
        elif (player, rule.kind, rule.number) in self._bets:
            if "increase" not in rule.change:
                raise Refused("contract", rule.name + " may not be increased now")
        elif rule.stage == "line":
            first = self._known_rule(rule.kind, None)
            if first.places_at == "come_out" and self.point is not None:
                raise Refused("not_now", rule.name + " is taken on a come-out only")
            if first.places_at == "point" and self.point is None:
                raise Refused("not_now", rule.name + " is taken only after a point is made")
            if rule.number is not None:
                raise Refused("not_now", rule.name + " goes to its number by a roll only")

    def _needs_parent(self, player: str, kind: str, parent_kind: str, number: "int | None") -> None:
        if (player, parent_kind, number) not in self._bets:
            raise Refused("needs_parent", kind + " needs a bet on " + parent_kind + " that has this number")

    def _standing(self, player: str, kind: str, number: "int | None") -> "Key":
        """The key of a bet on the layout, or Refused."""
        rule = self._named(player, kind, number)
        key = (player, kind, rule.number)
        if key not in self._bets:
            raise Refused("no_such_bet", "there is no such bet on the layout")
        return key

    def _odds_on(self, player: str, parent: BetRule) -> "list[tuple[BetRule, Bet]]":
        """The odds that stand on a player's line bet."""
        if parent.stage != "line" or parent.number is None:
            return []
        return [(bet[0], bet) for key, bet in self._bets.items() if key[0] == player and bet[0].parent is parent]

    def _check_multiple(self, rule: BetRule, amount: int) -> None:
        steps = (self.unit, self.minimum) if self.rules.multiple_of_minimum else (self.unit,)
        for step in steps:
            if amount % step:
                raise Refused("not_multiple", rule.name + " must be a multiple of " + str(step))

    def _check_maximum(self, player: str, rule: BetRule, total: int) -> None:
        if rule.stage == "odds":
            assert rule.parent is not None
            flat = self._bets[(player, rule.parent.kind, rule.parent.number)][1]
            self._check_share(rule, total, flat)
        else:
            self._check_share(rule, total, self.maximum)

    def _check_share(self, rule: BetRule, total: int, whole: int) -> None:
        num, den = rule.max_share
        if total * den > whole * num:
            raise Refused("above_max", "the maximum here is " + str(whole * num // den))

    def _commission_up_front(self, rule: BetRule, total: int) -> int:
        if rule.commission is None or not rule.commission.up_front:
            return 0
        return rule.commission.due(total, _winning(rule), self.unit)

    def _check_shooter(self) -> None:
        """A come-out roll needs the bet that the regulation asks of the shooter."""
        if self.point is not None or self.shooter is None:
            return
        for key, bet in self._bets.items():
            if key[0] == self.shooter and (self.rules.shooter_needs == "any" or bet[0].silent_move):
                return
        raise Refused("no_shooter_bet", "the shooter " + self.shooter + " has no bet that the rules ask for")

    def _works(self, rule: BetRule, button: "bool | None") -> bool:
        if not rule.switchable:
            return True
        if button is not None:
            return button
        return self.point is not None or rule.works_on_come_out

    def _outcome(self, bet: "Bet", index: int) -> "Outcome | None":
        rule, button = bet[0], bet[3]
        outcome: "Outcome | None" = rule.outcomes[index]
        if outcome is None or self._works(rule, button):
            return outcome
        # Off: it stays, unless it is odds whose line bet is decided and leaves the layout.
        return _RETURNED if rule.parent is not None else None

    def _settle(self, key: "Key", bet: "Bet", outcome: Outcome) -> "dict[str, Any]":
        """Take the bet off the layout or leave it, move the money, and say so."""
        player, kind, number = key
        rule, amount, held, _ = bet
        said: "dict[str, Any]" = {"player": player, "kind": kind, "result": outcome.result}
        if number is not None:
            said["number"] = number
        if outcome.result == MOVE:
            said["to"] = outcome.to
            return said
        if outcome.result == WIN:
            exact = amount * outcome.num
            paid = exact // (outcome.den * self.unit) * self.unit
            returned = 0 if rule.stays_up else amount
            commission = 0
            # Taken from the win; or, where it is taken beforehand, for the bet that stays up and plays again.
            if rule.commission is not None and (not rule.commission.up_front or rule.stays_up):
                commission = rule.commission.due(amount, outcome, self.unit)
                if not rule.commission.up_front:
                    # A bet that wins never costs its player anything.
                    commission = min(commission, paid)
            if paid:
                said["paid"] = paid
            left = exact - paid * outcome.den
            if left:
                divisor = _greatest_common_divisor(left, outcome.den)
                said["remainder"] = [left // divisor, outcome.den // divisor]
            if commission:
                said["commission"] = commission
            if returned:
                said["returned"] = returned
            self._pay(player, paid + returned - commission)
            self.house += commission - paid
            if not rule.stays_up:
                del self._bets[key]
        elif outcome.result == LOSE:
            self.house += amount
            del self._bets[key]
        else:
            said["returned"] = amount
            self._pay(player, amount)
            del self._bets[key]
        return said

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

    def _state(self) -> "State":
        return (
            self.point,
            self.shooter,
            self.roll_number,
            self.dice_pass,
            self.house,
            dict(self.players),
            dict(self._bets),
        )

    def _set_state(self, state: "State") -> None:
        self.point, self.shooter, self.roll_number, self.dice_pass, self.house, players, bets = state
        self.players = dict(players)
        self._bets = dict(bets)
        self._before = None
        self._since = []
        self._moved = {}
        self.not_redone = []

    def _state_from_json(self, state: "dict[str, Any]") -> "State":
        bets: "dict[Key, Bet]" = {}
        for player, kind, number, amount, held, button in state["bets"]:
            bets[(player, kind, number)] = (self._known_rule(kind, number), amount, held, button)
        players = dict(state["players"])
        return (
            state["point"],
            state["shooter"],
            state["roll_number"],
            state["dice_pass"],
            state["house"],
            players,
            bets,
        )

    def _again(self, step: "tuple[Any, ...]", moved: "dict[tuple[str, str], int]") -> None:
        """Do once more what a player did after the roll that is being corrected; `moved`: where that roll sent bets."""
        name, arguments = step[0], step[1:]
        if name == "working":
            on, player, kind, number = arguments
            self.working(on, player, kind, number)
        elif name == "shooter":
            self.set_shooter(arguments[0])
        else:
            player, kind, amount, number = arguments
            rule = self._followed(player, kind, number, moved)
            if name == "bet":
                self._put(player, rule, amount)
                self._since.append(("bet", player, kind, amount, rule.number))
            elif (player, kind, rule.number) not in self._bets:
                raise Refused("no_such_bet", "there is no such bet on the layout")
            elif name == "reduce":
                self.reduce(player, kind, amount, rule.number)
            else:
                self.take_down(player, kind, rule.number)

    def _followed(self, player: str, kind: str, number: "int | None", moved: "dict[tuple[str, str], int]") -> BetRule:
        """The rule of the bet that was meant: where the wrong roll moved a line bet, the one the right roll moved."""
        rule = self._known_rule(kind, number)
        line = rule.parent.kind if rule.parent is not None else kind
        if number is not None and moved.get((player, line)) == number and (player, line) in self._moved:
            return self._known_rule(kind, self._moved[(player, line)])
        return rule


_RETURNED = Outcome(RETURN)


def player_order(player: str) -> "tuple[int, int, str]":
    """Sort key of a player: positions by number, then names."""
    for character in player:
        if character not in "0123456789":
            return (1, 0, player)
    return (0, int(player), player)


def _layout_order(key: "Key", rule: BetRule) -> "tuple[object, ...]":
    player, _, number = key
    return (rule.rank, number or 0, player_order(player), player)


def _dealing_order(key: "Key", rule: BetRule, result: str) -> "tuple[object, ...]":
    player, _, number = key
    return (DEALING_ORDER.index(result), number or 0, player_order(player), rule.rank, player)


def _winning(rule: BetRule) -> Outcome:
    for outcome in rule.outcomes:
        if outcome is not None and outcome.result == WIN:
            return outcome
    raise ValueError(rule.kind + " never wins")


def _state_to_json(state: "State") -> "dict[str, Any]":
    point, shooter, roll_number, dice_pass, house, players, bets = state
    return {
        "point": point,
        "shooter": shooter,
        "roll_number": roll_number,
        "dice_pass": dice_pass,
        "house": house,
        "players": [[name, players[name]] for name in sorted(players)],
        "bets": [
            [key[0], key[1], key[2], bet[1], bet[2], bet[3]]
            for key, bet in sorted(
                bets.items(),
                key=lambda item: _layout_order(item[0], item[1][0]),
            )
        ],
    }


def _with(said: "dict[str, Any]", **more: "Any") -> "dict[str, Any]":
    said.update(more)
    return said


def _greatest_common_divisor(a: int, b: int) -> int:
    while b:
        a, b = b, a % b
    return a
