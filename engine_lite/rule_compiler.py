"""From the data of a jurisdiction to a rule set: checked whole, each fault named with its place.

A rule set is a JSON object (see rule_sets/). Every number in it stands under a `source`: the article of the
regulation, or `house` where the text leaves the matter open.

Stages of a bet:
  line        decided by the first roll or travels to a number, then number against seven (pass line, come ...)
  odds        taken on a line bet that has its number; follows it
  multi_roll  stays until one of its results comes: one set before another
  one_roll    decided by the next roll
  collect     wins when each of a set of totals has come, loses on another set before that (All, Small, Tall)
  points      pays by how many different points the shooter has made at the seven-out (Fire)

Results are named by a total, "4", or by a combination, "2-2" with the smaller die first; a combination beats its
total, and a push beats a win. "lose": "rest" means every throw that is named nowhere else. Ratios are "to one" pairs
[numerator, denominator], the stake apart.
"""

from engine_lite.rule_data import RuleData, RuleError, as_ratio
from engine_lite.rules import CHANGES, COLLECT, LOSE, MOVE, NUMBERS, PUSH, WIN, BetRule, Commission, Outcome, RuleSet

try:
    from typing import TYPE_CHECKING
except ImportError:  # MicroPython has no typing
    TYPE_CHECKING = False  # type: ignore[misc]
if TYPE_CHECKING:
    from typing import Any

OPTION = "option:"
REST = "rest"
STAGES = ("line", "odds", "multi_roll", "one_roll", "collect", "points")
# When a bet may be put down: at any time, on a come-out, after a point, or before a shooter's first roll.
PLACED = ("any", "come_out", "point", "new_shooter")
ROUNDINGS = ("down", "nearest", "up")

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
    "limits",
    "no_roll",
    "working",
    "order",
    "bets",
)
_BET_FIELDS = ("stage", "name", "source", "max", "max_source", "change")
_RESULT_FIELDS = ("win", "lose", "push")
_STAGE_FIELDS = {
    "line": ("side", "placed", "pays", "first_roll"),
    "odds": ("parent", "numbers"),
    "multi_roll": _RESULT_FIELDS + ("numbers", "commission"),
    "one_roll": _RESULT_FIELDS + ("numbers", "each"),
    "collect": ("collect", "lose", "pays", "placed"),
    "points": ("pays", "placed"),
}

_COMMISSION_FIELDS = ("rate", "base", "rounding", "minimum", "taken", "source")


def compile_rules(data: "dict[str, Any]", options: "dict[str, Any] | None" = None) -> RuleSet:
    """The rule set that `data`, the parsed JSON, describes, under the `options` that the operator chose.

    Nothing of `data` is changed or kept. Raises RuleError when data or options are not sound.
    """
    return _Compiler(data, options or {}).compile()


class _Compiler:
    """Reads one rule set's data into `rules`."""

    def __init__(self, data: "dict[str, Any]", options: "dict[str, Any]") -> None:
        self._reader = reader = RuleData(data, known=_FIELDS)
        name = reader.text("name")
        self._options = _resolve_options(reader.child("options"), options, name)
        for option in ("winners_stay_up", "exact_amounts"):
            if type(self._options.get(option)) is not bool:
                raise RuleError("options." + option + " must be offered, with the values true and false")
        self._rules = RuleSet(name, reader.text("title"), reader.whole("version"), self._options)

    def compile(self) -> RuleSet:
        """The whole rule set."""
        reader, rules = self._reader, self._rules
        rules.warnings = reader.texts("warnings")
        reader.text("source")
        reader.child("no_roll")
        rules.exact_amounts = self._options["exact_amounts"] is True
        rules.shooter_needs = reader.child("shooter", ("needs", "source")).choice("needs", ("line", "any"))
        rules.craps_pass_dice = reader.child("dice_pass", ("come_out_craps", "source")).flag("come_out_craps")
        amounts = reader.child("amounts", ("multiple_of_minimum", "source"))
        rules.multiple_of_minimum = amounts.flag("multiple_of_minimum")
        if reader.has("limits"):
            limits = reader.child("limits", ("maximum_in_minima", "source"))
            rules.maximum_in_minima = limits.ratio("maximum_in_minima")
            if rules.maximum_in_minima[0] > rules.maximum_in_minima[1]:
                raise RuleError(limits.place + ".maximum_in_minima must name the lower bound first")
            rules.limits_source = limits.text("source")
        bets = reader.child("bets")
        working = reader.child("working", tuple(bets.keys()))
        same: "dict[bytes, bytes]" = {}
        for kind in reader.order("order", bets.keys()):
            bet = bets.child(kind)
            bet.only(_BET_FIELDS + _STAGE_FIELDS[bet.choice("stage", STAGES)])
            for rule in self._compile(kind, bet, working):
                if rules.rule(rule.kind, rule.number) is not None:
                    raise RuleError("bets: two bets are called " + rule.kind + "; each needs its own name")
                codes = bytes(rule.codes)
                rule.codes = same.setdefault(codes, codes)
                rules.add(rule)
        return rules

    def _code(self, result: str, num: int = 0, den: int = 1, to: int = 0, bit: int = 0) -> int:
        """The place of an outcome in `outcomes`; it is made when it is new."""
        outcome = Outcome(result, num, den, to, bit)
        if outcome in self._rules.outcomes:
            return self._rules.outcomes.index(outcome)
        self._rules.outcomes.append(outcome)
        if len(self._rules.outcomes) > 256:
            raise RuleError("bets: more than 255 different outcomes")
        return len(self._rules.outcomes) - 1

    def _compile(self, kind: str, bet: RuleData, working: RuleData) -> "list[BetRule]":
        stage = bet.text("stage")
        bet.text("source")
        name = bet.text("name")
        if stage == "line":
            rules = self._line(kind, name, bet)
        elif stage == "collect":
            rules = [self._collect(kind, name, bet)]
        elif stage == "points":
            rules = [self._points(kind, name, bet)]
        elif bet.has("each"):
            rules = self._each(kind, name, bet.child("each"))
        elif bet.has("numbers"):
            rules = self._numbered(kind, stage, name, bet.child("numbers"))
        elif stage == "odds":
            raise RuleError(bet.place + ".numbers is missing")
        else:
            rule = BetRule(kind, None, stage, name)
            self._results(rule, bet)
            rules = [rule]
        for rule in rules:
            if bet.has("max") and rule.max_share == (1, 1):
                rule.max_share = bet.ratio("max")
                bet.text("max_source")
            if stage == "multi_roll" and self._options["winners_stay_up"]:
                rule.stays_up = True
            if bet.has("commission"):
                rule.commission = self._commission(rule, bet.child("commission", _COMMISSION_FIELDS))
            if bet.has("change") and stage != "line":
                rule.change = _changes(bet, "change")
            if working.has(kind):
                flags = working.child(kind, ("come_out", "point", "source"))
                rule.switchable = True
                rule.works_on_come_out = flags.flag("come_out")
                rule.works_on_point = flags.flag("point")
            if stage == "odds":
                self._attach(rule, bet)
        return rules

    def _numbered(self, kind: str, stage: str, name: str, numbers: RuleData) -> "list[BetRule]":
        rules = []
        for key in numbers.keys():
            number = _number(key, numbers.place)
            entry = numbers.child(key, _RESULT_FIELDS + ("max", "max_source", "source"))
            rule = BetRule(kind, number, stage, name)
            self._results(rule, entry)
            if stage == "odds" or entry.has("max"):
                rule.max_share = entry.ratio("max")
            rules.append(rule)
        if not rules:
            raise RuleError(numbers.place + " must name at least one number")
        return rules

    def _each(self, kind: str, name: str, each: RuleData) -> "list[BetRule]":
        """One bet for each result, such as hop_1_2 that wins on 1-2 and loses on the rest."""
        rules = []
        for result in each.keys():
            num, den = self._ratio(each, result)
            rule = BetRule(kind + "_" + result.replace("-", "_"), None, "one_roll", name + " " + result)
            for index in range(36):
                rule.codes[index] = self._code(LOSE)  # type: ignore[index]
            _fill(rule, result, self._code(WIN, num, den), each.place)
            rules.append(rule)
        return rules

    def _line(self, kind: str, name: str, bet: RuleData) -> "list[BetRule]":
        """A line bet is one rule before it has its number and one for each number it may travel to."""
        num, den = bet.ratio("pays")
        wrong = bet.choice("side", ("right", "wrong")) == "wrong"
        change = bet.child("change", ("first_roll", "with_number", "source"))
        first = BetRule(kind, None, "line", name)
        first.change = _changes(change, "first_roll")
        first.placed = bet.choice("placed", ("come_out", "point"))
        first.silent_move = first.placed == "come_out"
        self._results(first, bet.child("first_roll", _RESULT_FIELDS))
        rules = [first]
        won, lost = self._code(WIN, num, den), self._code(LOSE)
        for number in NUMBERS:
            _fill(first, str(number), self._code(MOVE, to=number), bet.place)
            rule = BetRule(kind, number, "line", name)
            rule.change = _changes(change, "with_number")
            rule.silent_move = first.silent_move
            _fill(rule, str(number), lost if wrong else won, bet.place)
            _fill(rule, "7", won if wrong else lost, bet.place)
            rules.append(rule)
        if not _complete(first):
            raise RuleError(bet.place + ".first_roll: 2, 3, 7, 11 and 12 must each win, lose or push")
        return rules

    def _collect(self, kind: str, name: str, bet: RuleData) -> BetRule:
        """A bet that collects totals: each has a bit, and the bet wins when it has them all."""
        rule = BetRule(kind, None, "collect", name)
        rule.placed = bet.choice("placed", PLACED)
        num, den = bet.ratio("pays")
        rule.by_count = {0: Outcome(WIN, num, den, 0, 0)}
        for result in bet.texts("lose"):
            _fill(rule, result, self._code(LOSE), bet.place)
        bit = 1
        for result in bet.texts("collect"):
            if result in bet.texts("lose"):
                raise RuleError(bet.place + ": " + result + " cannot both be collected and lose")
            _fill(rule, result, self._code(COLLECT, bit=bit), bet.place)
            rule.full |= bit
            bit *= 2
        if not rule.full or not bet.texts("lose"):
            raise RuleError(bet.place + " must collect at least one total and lose on at least one")
        return rule

    def _points(self, kind: str, name: str, bet: RuleData) -> BetRule:
        """A bet on points: each number has a bit; at the seven-out it pays by how many were made."""
        rule = BetRule(kind, None, "points", name)
        rule.placed = bet.choice("placed", PLACED)
        pays = bet.child("pays", ("1", "2", "3", "4", "5", "6"))
        rule.by_count = {}
        for count in pays.keys():
            num, den = pays.ratio(count)
            rule.by_count[int(count)] = Outcome(WIN, num, den, 0, 0)
        if 6 not in rule.by_count:
            raise RuleError(pays.place + ".6 is missing: all six points must pay")
        for position, number in enumerate(NUMBERS):
            _fill(rule, str(number), self._code(COLLECT, to=number, bit=1 << position), bet.place)
            rule.full |= 1 << position
        _fill(rule, "7", self._code(COLLECT, to=7), bet.place)
        return rule

    def _results(self, rule: BetRule, reader: RuleData) -> None:
        """Fill `rule.codes` from "win" (result to ratio), "lose" and "push" (results, or "rest" for lose)."""
        wins = reader.child("win")
        rest = reader.value("lose") == REST
        loses = [] if rest else reader.texts("lose")
        for result in wins.keys():
            if result in loses:
                raise RuleError(reader.place + ": " + result + " cannot both win and lose")
        # Totals first, then combinations, so that a combination beats its total.
        for exact in (False, True):
            for result in loses:
                if ("-" in result) == exact:
                    _fill(rule, result, self._code(LOSE), reader.place)
            for result in wins.keys():
                if ("-" in result) == exact:
                    num, den = self._ratio(wins, result)
                    _fill(rule, result, self._code(WIN, num, den), wins.place)
        for result in reader.texts("push") if reader.has("push") else []:
            if result.startswith(OPTION):
                result = str(self._option(result, reader.place))
            _fill(rule, result, self._code(PUSH), reader.place)
        if rest:
            lost = self._code(LOSE)
            for index in range(36):
                rule.codes[index] = rule.codes[index] or lost  # type: ignore[index]
        if rule.stage == "one_roll" and not _complete(rule):
            raise RuleError(reader.place + ": a bet on one roll must win, lose or push on each of the 36 throws")

    def _ratio(self, reader: "RuleData", key: str) -> "tuple[int, int]":
        value = reader.value(key)
        if isinstance(value, str) and value.startswith(OPTION):
            value = self._option(value, reader.place)
        return as_ratio(value, reader.place + "." + key)

    def _option(self, reference: str, place: str) -> object:
        if not reference.startswith(OPTION):
            raise RuleError(place + ": " + reference + " must name an option, such as option:vig")
        name = reference[len(OPTION) :]
        if name not in self._options:
            raise RuleError(place + ": there is no option " + name)
        return self._options[name]

    def _commission(self, rule: BetRule, reader: RuleData) -> Commission:
        if self._rules.winning(rule) is None:
            raise RuleError(reader.place + ": a bet that never wins can have no commission")
        num, den = reader.ratio("rate")
        taken = self._option(reader.text("taken"), reader.place)
        return Commission(
            num,
            den,
            reader.choice("base", ("bet", "win")),
            reader.choice("rounding", ROUNDINGS),
            reader.whole("minimum"),
            taken == "up_front",
        )

    def _attach(self, rule: BetRule, bet: "RuleData") -> None:
        kind = bet.text("parent")
        parent = self._rules.rule(kind, rule.number)
        if parent is None or parent.stage != "line":
            raise RuleError(bet.place + ".parent: " + kind + " is no line bet that stands before it in order")
        rule.parent = parent


def _complete(rule: BetRule) -> bool:
    """Whether every throw does something to the bet; MicroPython does not look for a number in bytes."""
    for code in rule.codes:
        if not code:
            return False
    return True


def _fill(rule: BetRule, result: str, code: int, place: str) -> None:
    """Give the throws that make `result` an outcome; `codes` is still a bytearray then."""
    for index in _throws(result, place):
        rule.codes[index] = code  # type: ignore[index]


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
