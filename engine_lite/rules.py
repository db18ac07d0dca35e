"""Rule sets: from the data of a jurisdiction to tables that say what each throw does to each bet.

A rule set is a JSON object (see rule_sets/). Every number in it stands under a `source`: the article of the
regulation, or `house` where the text leaves the matter open.

Stages of a bet:
  line        decided by the first roll or travels to a number, then number against seven (pass line, come ...)
  odds        taken on a line bet that has its number; follows it
  multi_roll  stays until one of its results comes
  one_roll    decided by the next roll

Results are named by a total, "4", or by a combination, "2-2" with the smaller die first; a combination beats its
total, and a push beats a win. Ratios are "to one" pairs [numerator, denominator], the stake apart.
"""

from engine_lite.rule_data import RuleData, RuleError, as_ratio

NUMBERS = (4, 5, 6, 8, 9, 10)
OPTION = "option:"
STAGES = ("line", "odds", "multi_roll", "one_roll")

CHANGES = ("increase", "reduce", "take_down")

# The keys that the objects of a rule set may have.
_FIELDS = (
    "name",
    "version",
    "title",
    "source",
    "warnings",
    "options",
    "shooter",
    "dice_pass",
    "amounts",
    "no_roll",
    "working",
    "order",
    "bets",
)
_BET_FIELDS = ("stage", "name", "source")
_RESULT_FIELDS = ("win", "lose", "push")
_STAGE_FIELDS = {
    "line": ("side", "placed", "pays", "first_roll", "change"),
    "odds": ("parent", "numbers"),
    "multi_roll": _RESULT_FIELDS + ("numbers", "max", "max_source", "commission"),
    "one_roll": _RESULT_FIELDS + ("numbers", "max", "max_source"),
}

WIN = "win"
LOSE = "lose"
PUSH = "push"
MOVE = "move"
RETURN = "return"


class Outcome:
    """What one throw does to one bet: `result`, and for a win the ratio `num` to `den`, for a move the number `to`."""

    def __init__(self, result: str, num: int = 0, den: int = 1, to: int = 0) -> None:
        self.result = result
        self.num = num
        self.den = den
        self.to = to


class BetRule:
    """The rule of one bet at one number (None where it has none, or has not got it yet).

    `outcomes` has one entry for each of the 36 throws, at index (first die - 1) * 6 + (second die - 1): an Outcome, or
    None when the throw leaves the bet where it is. `rank` is its place in the dealing order among kinds.
    """

    def __init__(self, kind: str, number: "int | None", rank: int, stage: str, name: str) -> None:
        self.kind = kind
        self.number = number
        self.rank = rank
        self.stage = stage
        self.name = name
        self.outcomes: "list[Outcome | None]" = [None] * 36
        # The share of the table's maximum that may lie here, and of the flat bet that odds may reach.
        self.max_share: "tuple[int, int]" = (1, 1)
        self.parent: "BetRule | None" = None
        self.change: "tuple[str, ...]" = ()
        self.places_at = "any"
        self.switchable = False
        self.works_on_come_out = True
        self.stays_up = False
        self.silent_move = False
        self.commission: "Commission | None" = None


class Commission:
    """The vig of a buy or lay bet: `num`/`den` of the bet or win, rounded down to the unit, at least one unit."""

    def __init__(self, num: int, den: int, base: str, up_front: bool) -> None:
        self.num = num
        self.den = den
        self.base = base
        self.up_front = up_front

    def due(self, amount: int, win: "Outcome", unit: int) -> int:
        """The commission, in chip units, on a bet of `amount` that pays as `win` says."""
        if self.base == "bet":
            exact_num, exact_den = amount * self.num, self.den
        else:
            exact_num, exact_den = amount * win.num * self.num, win.den * self.den
        return max(unit, exact_num // (exact_den * unit) * unit)


class RuleSet:
    """A jurisdiction's bets under chosen options, ready for play.

    `data` is the parsed JSON of a rule set and is neither changed nor kept; `options` is what the operator chose.
    Raises RuleError when either is not sound.
    """

    def __init__(self, data: "dict[str, object]", options: "dict[str, object] | None" = None) -> None:
        reader = RuleData(data, known=_FIELDS)
        self.name = reader.text("name")
        self.title = reader.text("title")
        self.version = reader.whole("version")
        self.warnings = reader.texts("warnings")
        self.options = _resolve_options(reader.child("options"), options or {}, self.name)
        if "winners_stay_up" not in self.options:
            raise RuleError("options.winners_stay_up is missing")
        shooter = reader.child("shooter", ("needs", "source"))
        self.shooter_needs = shooter.choice("needs", ("line", "any"))
        dice_pass = reader.child("dice_pass", ("come_out_craps", "source"))
        self.craps_pass_dice = dice_pass.flag("come_out_craps")
        amounts = reader.child("amounts", ("multiple_of_minimum", "source"))
        self.multiple_of_minimum = amounts.flag("multiple_of_minimum")
        self.kinds: "list[str]" = []
        self._rules: "dict[tuple[str, int | None], BetRule]" = {}
        # Many throws have the same outcome: one object serves them all, which a small heap needs.
        self._outcomes: "dict[tuple[str, int, int, int], Outcome]" = {}
        bets = reader.child("bets")
        working = reader.child("working", tuple(bets.keys()))
        for rank, kind in enumerate(reader.order("order", bets.keys())):
            self.kinds.append(kind)
            stage = bets.child(kind).choice("stage", STAGES)
            self._compile(kind, rank, bets.child(kind, _BET_FIELDS + _STAGE_FIELDS[stage]), working)
        for rule in self._rules.values():
            if rule.stage == "odds":
                self._attach(rule, bets.child(rule.kind))

    def rule(self, kind: str, number: "int | None") -> "BetRule | None":
        """The rule of `kind` at `number`, or None when this rule set has no such bet."""
        return self._rules.get((kind, number))

    def numbers(self, kind: str) -> "list[int]":
        """The numbers at which `kind` is offered, rising; empty for a bet without numbers or an unknown kind."""
        return sorted(number for (k, number) in self._rules if k == kind and number is not None)

    def stage(self, kind: str) -> str:
        """The stage of an offered kind."""
        for (k, _), rule in self._rules.items():
            if k == kind:
                return rule.stage
        raise KeyError(kind)

    def bet_name(self, kind: str) -> str:
        """The regulation's own name of an offered kind."""
        for (k, _), rule in self._rules.items():
            if k == kind:
                return rule.name
        raise KeyError(kind)

    def _outcome(self, result: str, num: int = 0, den: int = 1, to: int = 0) -> Outcome:
        key = (result, num, den, to)
        if key not in self._outcomes:
            self._outcomes[key] = Outcome(result, num, den, to)
        return self._outcomes[key]

    def _compile(self, kind: str, rank: int, bet: "RuleData", working: "RuleData") -> None:
        stage = bet.choice("stage", STAGES)
        bet.text("source")
        name = bet.text("name")
        if stage == "line":
            rules = self._line(kind, rank, name, bet)
        elif bet.has("numbers"):
            rules = self._numbered(kind, rank, stage, name, bet.child("numbers"))
        elif stage == "odds":
            raise RuleError(bet.place + ".numbers is missing")
        else:
            rule = BetRule(kind, None, rank, stage, name)
            self._results(rule, bet)
            rules = [rule]
        for rule in rules:
            if bet.has("max"):
                rule.max_share = bet.ratio("max")
            if stage == "multi_roll":
                rule.stays_up = bool(self.options["winners_stay_up"])
            if bet.has("commission"):
                rule.commission = self._commission(rule, bet.child("commission", ("rate", "base", "taken", "source")))
            if stage != "line":
                rule.change = CHANGES
            if working.has(kind):
                rule.switchable = True
                rule.works_on_come_out = working.child(kind, ("come_out", "source")).flag("come_out")
            self._rules[(kind, rule.number)] = rule

    def _numbered(self, kind: str, rank: int, stage: str, name: str, numbers: RuleData) -> "list[BetRule]":
        rules = []
        for key in numbers.keys():
            number = _number(key, numbers.place)
            entry = numbers.child(key, _RESULT_FIELDS + ("max", "max_source", "source"))
            rule = BetRule(kind, number, rank, stage, name)
            self._results(rule, entry)
            if stage == "odds" or entry.has("max"):
                rule.max_share = entry.ratio("max")
            rules.append(rule)
        if not rules:
            raise RuleError(numbers.place + " must name at least one number")
        return rules

    def _line(self, kind: str, rank: int, name: str, bet: "RuleData") -> "list[BetRule]":
        """A line bet is one rule before it has its number and one for each number it may travel to."""
        pays = bet.ratio("pays")
        wrong = bet.choice("side", ("right", "wrong")) == "wrong"
        change = bet.child("change", ("first_roll", "with_number", "source"))
        first = BetRule(kind, None, rank, "line", name)
        first.change = _changes(change, "first_roll")
        first.places_at = bet.choice("placed", ("come_out", "point"))
        first.silent_move = first.places_at == "come_out"
        self._results(first, bet.child("first_roll", _RESULT_FIELDS))
        rules = [first]
        for number in NUMBERS:
            for index in _throws(str(number), bet.place):
                first.outcomes[index] = self._outcome(MOVE, to=number)
            rule = BetRule(kind, number, rank, "line", name)
            rule.change = _changes(change, "with_number")
            won, lost = self._outcome(WIN, pays[0], pays[1]), self._outcome(LOSE)
            for index in _throws(str(number), bet.place):
                rule.outcomes[index] = lost if wrong else won
            for index in _throws("7", bet.place):
                rule.outcomes[index] = won if wrong else lost
            rules.append(rule)
        if None in first.outcomes:
            raise RuleError(bet.place + ".first_roll: 2, 3, 7, 11 and 12 must each win, lose or push")
        return rules

    def _results(self, rule: BetRule, reader: "RuleData") -> None:
        """Fill `rule.outcomes` from "win" (result to ratio), "lose" and "push" (results)."""
        wins = reader.child("win")
        for result in wins.keys():
            if result in reader.texts("lose"):
                raise RuleError(reader.place + ": " + result + " cannot both win and lose")
        # Totals first, then combinations, so that a combination beats its total.
        for exact in (False, True):
            for result in reader.texts("lose"):
                if ("-" in result) == exact:
                    for index in _throws(result, reader.place):
                        rule.outcomes[index] = self._outcome(LOSE)
            for result in wins.keys():
                if ("-" in result) == exact:
                    num, den = self._ratio(wins, result)
                    for index in _throws(result, wins.place):
                        rule.outcomes[index] = self._outcome(WIN, num, den)
        for result in reader.texts("push"):
            if result.startswith(OPTION):
                result = str(self._option(result, reader.place))
            for index in _throws(result, reader.place):
                rule.outcomes[index] = self._outcome(PUSH)
        if rule.stage == "one_roll" and None in rule.outcomes:
            raise RuleError(reader.place + ": a bet on one roll must win, lose or push on each of the 36 throws")

    def _ratio(self, reader: "RuleData", key: str) -> "tuple[int, int]":
        value = reader.value(key)
        if isinstance(value, str) and value.startswith(OPTION):
            value = self._option(value, reader.place)
        return as_ratio(value, reader.place + "." + key)

    def _option(self, reference: str, place: str) -> object:
        name = reference[len(OPTION) :]
        if name not in self.options:
            raise RuleError(place + ": there is no option " + name)
        return self.options[name]

    def _commission(self, rule: BetRule, reader: "RuleData") -> Commission:
        if not [outcome for outcome in rule.outcomes if outcome is not None and outcome.result == WIN]:
            raise RuleError(reader.place + ": a bet that never wins can have no commission")
        num, den = reader.ratio("rate")
        taken = self._option(reader.text("taken"), reader.place)
        return Commission(num, den, reader.choice("base", ("bet", "win")), taken == "up_front")

    def _attach(self, rule: BetRule, bet: "RuleData") -> None:
        kind = bet.text("parent")
        parent = self._rules.get((kind, rule.number))
        if parent is None or parent.stage != "line":
            raise RuleError(bet.place + ".parent: " + kind + " is no line bet of this rule set")
        rule.parent = parent


def _changes(change: RuleData, key: str) -> "tuple[str, ...]":
    changes = change.texts(key)
    for name in changes:
        if name not in CHANGES:
            raise RuleError(change.place + "." + key + ": " + name + " must be one of " + ", ".join(CHANGES))
    return tuple(changes)


def _number(key: str, place: str) -> int:
    for number in NUMBERS:
        if key == str(number):
            return number
    raise RuleError(place + "." + key + " must be one of 4, 5, 6, 8, 9, 10")


def _indices_by_result() -> "dict[str, list[int]]":
    indices: "dict[str, list[int]]" = {}
    for first in range(1, 7):
        for second in range(1, 7):
            combination = str(min(first, second)) + "-" + str(max(first, second))
            for result in (str(first + second), combination):
                indices.setdefault(result, []).append((first - 1) * 6 + second - 1)
    return indices


_INDICES = _indices_by_result()


def _throws(result: str, place: str) -> "list[int]":
    """The indices of the throws that make `result`: a total "2" to "12", or a combination "1-1" to "6-6"."""
    if result not in _INDICES:
        raise RuleError(place + ": " + result + " is no total 2 to 12 and no combination such as 2-4")
    return _INDICES[result]


def _resolve_options(offered: RuleData, chosen: "dict[str, object]", rules: str) -> "dict[str, object]":
    """Each offered option with the chosen value or its default, by name."""
    for name in sorted(chosen):
        if not offered.has(name):
            known = ", ".join(offered.keys())
            raise RuleError("option " + name + " is unknown to " + rules + "; it has " + known)
    resolved = {}
    for name in offered.keys():
        option = offered.child(name, ("default", "values", "about", "source"))
        option.text("about")
        option.text("source")
        values = option.value("values")
        if not isinstance(values, list) or not _among(option.value("default"), values):
            raise RuleError(option.place + ": the default must be one of the values")
        value = chosen.get(name, option.value("default"))
        if not _among(value, values):
            raise RuleError("option " + name + " must be one of " + ", ".join(_shown(v) for v in values))
        resolved[name] = value
    return resolved


def _among(value: object, values: "list[object]") -> bool:
    # 1 equals True and 1.0 in Python; an option's value must be written as it is offered.
    for known in values:
        if known == value and str(known) == str(value):
            return True
    return False


def _shown(value: object) -> str:
    if value is True:
        return "true"
    if value is False:
        return "false"
    return str(value)
