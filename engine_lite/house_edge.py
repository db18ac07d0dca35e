"""The exact house edge of every bet of a rule set, by enumeration in whole numbers.

A fraction is a pair (numerator, denominator) in lowest terms with a positive denominator: MicroPython has no fractions.
An edge is the player's expected loss for one chip put down; negative where the bet favours the player.

What is counted. A bet is followed from the throw after it is made to its first decision, always working; a winner that
stays up is not followed further. A push ends it with nothing won, a commission already taken left with the house. The
commission is the exact rate, without rounding and without a minimum; taken up front it is put down beside the bet and
counts as staked, which gives the figures that are published (1 in 21 for a buy on 4 at five per cent). Line bets are
counted as made for their first roll, collecting bets with nothing collected, bets on points before a shooter's first
roll.
"""

from collections import namedtuple

from engine_lite.rules import COLLECT, LOSE, MOVE, NUMBERS, WIN, greatest_common_divisor

try:
    from typing import TYPE_CHECKING
except ImportError:  # MicroPython has no typing
    TYPE_CHECKING = False  # type: ignore[misc]
if TYPE_CHECKING:
    from typing import TypeAlias

    from engine_lite.rules import BetRule, RuleSet

    Pair: TypeAlias = tuple[int, int]

THROWS = 36
ZERO = (0, 1)
ONE = (1, 1)
# How many of the 36 throws make the totals that a point may be, and seven.
WAYS = {4: 3, 5: 4, 6: 5, 7: 6, 8: 5, 9: 4, 10: 3}

# A bet's edge per bet made, per bet that was decided and not pushed, and per roll that it lay.
Edge = namedtuple("Edge", ("kind", "number", "per_bet", "per_decision", "per_roll"))


class NeverDecided(ValueError):
    """A bet that no throw ever wins or loses has no edge."""


def house_edges(rules: "RuleSet") -> "list[Edge]":
    """The edge of every bet, in dealing order, numbers rising. Raises NeverDecided."""
    return [house_edge(rules, rule) for rule in bets_as_made(rules)]


def bets_as_made(rules: "RuleSet") -> "list[BetRule]":
    """Every kind and number at which a bet can be put down; a line bet has no number yet."""
    found = []
    for kind in rules.kinds:
        one = rules.one(kind)
        assert one is not None
        if one.number is None:
            # A line bet's first rule is the one without a number.
            found.append(one)
            continue
        for number in rules.numbers(kind):
            rule = rules.rule(kind, number)
            assert rule is not None
            found.append(rule)
    return found


def house_edge(rules: "RuleSet", rule: "BetRule") -> Edge:
    """The edge of one bet. Raises NeverDecided."""
    if rule.stage == "collect":
        won, paid, rolls = _collected(rules, rule)
        lost = subtract(ONE, won)
    elif rule.stage == "points":
        won, paid, rolls = _points(rule)
        lost = subtract(ONE, won)
    else:
        won, paid, lost, rolls = _held(rules, rule)
    decided = add(won, lost)
    if decided == ZERO or rolls == ZERO:
        number = "" if rule.number is None else " " + str(rule.number)
        raise NeverDecided(rule.kind + number + ": no throw ever wins or loses this bet")
    return _edge(rule, won, paid, lost, rolls)


def _edge(rule: "BetRule", won: "Pair", paid: "Pair", lost: "Pair", rolls: "Pair") -> Edge:
    """From the chance to win, what is paid on average (0 where a bet does not win), the chance to lose, the rolls."""
    decided = add(won, lost)
    loss = subtract(lost, paid)
    beside = ZERO
    if rule.commission is not None:
        rate = fraction(rule.commission.num, rule.commission.den)
        if rule.commission.base == "win":
            rate = multiply(rate, divide(paid, won))
        if rule.commission.up_front:
            beside = rate
        else:
            loss = add(loss, multiply(rate, won))
    staked = add(ONE, beside)
    per_bet = divide(add(loss, beside), staked)
    per_decision = divide(add(divide(loss, decided), beside), staked)
    return Edge(rule.kind, rule.number, per_bet, per_decision, divide(per_bet, rolls))


def _held(rules: "RuleSet", rule: "BetRule") -> "tuple[Pair, Pair, Pair, Pair]":
    """Of a bet that a throw wins, loses, pushes, moves or leaves: what `_edge` takes, to the bet's end."""
    won = paid = lost = rolls = ZERO
    ends = 0
    for index in range(THROWS):
        outcome = rules.outcomes[rule.codes[index]]
        if outcome is None:
            continue
        ends += 1
        if outcome.result == WIN:
            won = add(won, ONE)
            paid = add(paid, fraction(outcome.num, outcome.den))
        elif outcome.result == LOSE:
            lost = add(lost, ONE)
        elif outcome.result == MOVE:
            there = rules.rule(rule.kind, outcome.to)
            assert there is not None
            moved = _held(rules, there)
            won, paid, lost, rolls = [add(a, b) for a, b in zip((won, paid, lost, rolls), moved)]  # noqa: B905
    if not ends:
        return ZERO, ZERO, ZERO, ZERO
    share = (1, ends)
    rolls = add(multiply(rolls, share), fraction(THROWS, ends))
    return multiply(won, share), multiply(paid, share), multiply(lost, share), rolls


def _collected(rules: "RuleSet", rule: "BetRule") -> "tuple[Pair, Pair, Pair]":
    """Of a bet that collects: the chance to win, what is paid on average, the rolls expected.

    Which of its results are missing matters only by how many throws make each, so a state is how many are missing of
    each such weight: 243 states for the ten totals of All, and few however many results there are.
    """
    assert rule.by_count is not None
    ways_of_bit: "dict[int, int]" = {}
    bit = 1
    while bit <= rule.full:
        ways_of_bit[bit] = 0
        bit *= 2
    losing = 0
    for index in range(THROWS):
        outcome = rules.outcomes[rule.codes[index]]
        if outcome is not None and outcome.result == COLLECT:
            ways_of_bit[outcome.bit] += 1
        elif outcome is not None:
            losing += 1
    weights = sorted(set(ways_of_bit.values()))
    counts = [len([ways for ways in ways_of_bit.values() if ways == weight]) for weight in weights]
    if not losing and 0 in weights:
        return ZERO, ZERO, ZERO
    # States are numbered so that taking one of any weight leads to a lower number; the first has nothing missing.
    strides = []
    states = 1
    for count in counts:
        strides.append(states)
        states *= count + 1
    chance: "list[Pair]" = [ONE]
    rolls: "list[Pair]" = [ZERO]
    for state in range(1, states):
        active = losing
        won = waited = ZERO
        for weight, count, stride in zip(weights, counts, strides):  # noqa: B905 - MicroPython knows no strict
            missing = state // stride % (count + 1)
            if missing and weight:
                active += weight * missing
                won = add(won, multiply((weight * missing, 1), chance[state - stride]))
                waited = add(waited, multiply((weight * missing, 1), rolls[state - stride]))
        chance.append(divide(won, (active, 1)))
        rolls.append(divide(add(waited, (THROWS, 1)), (active, 1)))
    win = rule.by_count[0]
    return chance[-1], multiply(chance[-1], fraction(win.num, win.den)), rolls[-1]


def _points(rule: "BetRule") -> "tuple[Pair, Pair, Pair]":
    """The same of a bet on points, from a shooter's first come-out to the seven-out or to the sixth point.

    A state is the set of points made, a bit each; within it come-outs and points made again lead back to it.
    """
    assert rule.by_count is not None
    throws_to_a_point = sum([WAYS[number] for number in NUMBERS])
    states = 1 << len(NUMBERS)
    # From each state on a come-out: the chance to win, what is then paid, and the rolls until the end.
    won: "list[Pair]" = [ZERO] * states
    paid: "list[Pair]" = [ZERO] * states
    rolls: "list[Pair]" = [ZERO] * states
    all_made = rule.by_count[len(NUMBERS)]
    won[-1] = ONE
    paid[-1] = fraction(all_made.num, all_made.den)
    for state in range(states - 2, -1, -1):
        made_now = rule.by_count.get(len([n for n in range(len(NUMBERS)) if state >> n & 1]))
        back = ZERO
        wins = pays = ZERO
        waits = fraction(THROWS, throws_to_a_point)
        for place, number in enumerate(NUMBERS):
            this_point = fraction(WAYS[number], throws_to_a_point)
            decides = WAYS[number] + WAYS[7]
            made = multiply(this_point, fraction(WAYS[number], decides))
            seven_out = multiply(this_point, fraction(WAYS[7], decides))
            waits = add(waits, multiply(this_point, fraction(THROWS, decides)))
            after = state | 1 << place
            if after == state:
                back = add(back, made)
            else:
                wins = add(wins, multiply(made, won[after]))
                pays = add(pays, multiply(made, paid[after]))
                waits = add(waits, multiply(made, rolls[after]))
            if made_now is not None:
                wins = add(wins, seven_out)
                pays = add(pays, multiply(seven_out, fraction(made_now.num, made_now.den)))
        leaves = subtract(ONE, back)
        won[state], paid[state], rolls[state] = divide(wins, leaves), divide(pays, leaves), divide(waits, leaves)
    return won[0], paid[0], rolls[0]


def per_cent(share: "Pair") -> str:
    """A fraction in per cent to three decimals, a half rounded away from zero, such as "1.414 %"."""
    num, den = share
    thousandths = (2 * abs(num) * 100000 + den) // (2 * den)
    sign = "-" if num < 0 and thousandths else ""
    return sign + str(thousandths // 1000) + "." + "%03d" % (thousandths % 1000) + " %"


def fraction(num: int, den: int) -> "Pair":
    """num/den in lowest terms; `den` must not be 0."""
    divisor = greatest_common_divisor(abs(num), abs(den))
    if den < 0:
        divisor = -divisor
    return num // divisor, den // divisor


def add(a: "Pair", b: "Pair") -> "Pair":
    """a + b."""
    return fraction(a[0] * b[1] + b[0] * a[1], a[1] * b[1])


def subtract(a: "Pair", b: "Pair") -> "Pair":
    """a - b."""
    return fraction(a[0] * b[1] - b[0] * a[1], a[1] * b[1])


def multiply(a: "Pair", b: "Pair") -> "Pair":
    """a x b."""
    return fraction(a[0] * b[0], a[1] * b[1])


def divide(a: "Pair", b: "Pair") -> "Pair":
    """a / b; `b` must not be 0."""
    return fraction(a[0] * b[1], a[1] * b[0])
