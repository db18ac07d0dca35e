"""The compiled rule sets do what the regulations print, throw by throw.

payouts.json was read from the regulations apart from the rule sets; the Las Vegas numbers are typed below.
"""

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from engine_lite import rule_sets
from engine_lite.rule_compiler import compile_rules
from engine_lite.rule_data import RuleError
from engine_lite.rules import BetRule, RuleSet

PROFILES: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "payouts.json").read_text())["profiles"]
THROWS = [(first, second) for first in range(1, 7) for second in range(1, 7)]
OPTIONS: dict[str | None, dict[str, object]] = {
    None: {},
    "field12=2": {"field_twelve": [2, 1]},
    "field12=3": {"field_twelve": [3, 1]},
    "bar=6-6": {"bar": 12},
    "bar=1-1": {"bar": 2},
}
# Bets on which the text at hand is silent or whose article is not at hand: the house's choice.
HOUSE_BETS = {
    "es-1979": set[str](),
    "es-md-2004": set[str](),
    "mo-2010": set[str](),
    # The text names associated bets on the two lines only, and buy and lay only as markers.
    "cl-scj": {"come_odds", "dont_come_odds", "buy", "lay"},
    "pe-1999": {"place", "place_to_lose", "buy", "lay", "hardway"},
}
Said = tuple[str, Fraction | int | None] | None


def said_by_the_text(record: dict[str, Any], throw: tuple[int, int]) -> Said:
    """What a record of payouts.json says of a throw; a combination beats its total."""
    for key in (f"{min(throw)}-{max(throw)}", str(sum(throw))):
        if key in record["win"]:
            ratio = record["win"][key]
            return ("win", None if ratio is None else Fraction(*ratio))
        if key in record["lose"]:
            return ("lose", None)
        if key in record["push"]:
            return ("push", None)
        if key in record.get("to_point", []):
            return ("move", int(key))
    return None


def said_by_the_rules(rules: RuleSet, rule: BetRule, throw: tuple[int, int]) -> Said:
    outcome = rules.outcome(rule, *throw)
    if outcome is None:
        return None
    if outcome.result == "win":
        return ("win", Fraction(outcome.num, outcome.den))
    return (outcome.result, outcome.to if outcome.result == "move" else None)


def compiled(name: str, options: dict[str, object] | None = None) -> RuleSet:
    return compile_rules(rule_sets.load(name), options)


def found(rules: RuleSet, kind: str, number: int | None) -> BetRule:
    rule = rules.rule(kind, number)
    assert rule is not None, f"{rules.name} lacks {kind} {number}"
    return rule


@pytest.mark.parametrize("profile", [*HOUSE_BETS, "us-pa"])
def test_every_throw_does_to_every_bet_what_the_text_says(profile: str) -> None:
    records = PROFILES[profile]["bets"]
    assert records
    for record in records:
        # What a digest says of Pennsylvania is the Las Vegas convention but for the field's 12.
        options = {"field_twelve": [2, 1]} if profile == "us-pa" else OPTIONS[record.get("option")]
        rules = compiled("us-vegas" if profile == "us-pa" else profile, dict(options))
        rule = found(rules, record["bet"], record["on"])
        for throw in THROWS:
            text, came = said_by_the_text(record, throw), said_by_the_rules(rules, rule, throw)
            if text == ("win", None) and came is not None:
                came = (came[0], None)
            assert came == text, (record["bet"], record["on"], throw)


@pytest.mark.parametrize("name", HOUSE_BETS)
def test_no_bet_is_offered_that_the_text_does_not_know(name: str) -> None:
    known = {record["bet"] for record in PROFILES[name]["bets"]}
    assert set(compiled(name).kinds) == known | HOUSE_BETS[name]
    numbers: dict[str, set[int]] = {}
    for record in PROFILES[name]["bets"]:
        if record["on"] is not None:
            numbers.setdefault(record["bet"], set()).add(record["on"])
    rules = compiled(name)
    assert {kind: set(rules.numbers(kind)) for kind in numbers} == numbers


EVENS, BOXES = (1, 1), (4, 5, 6, 8, 9, 10)
PLACE = {4: (9, 5), 5: (7, 5), 6: (7, 6), 8: (7, 6), 9: (7, 5), 10: (9, 5)}
TO_LOSE = {4: (5, 11), 5: (5, 8), 6: (4, 5), 8: (4, 5), 9: (5, 8), 10: (5, 11)}
TRUE_ODDS = {4: (2, 1), 5: (3, 2), 6: (6, 5), 8: (6, 5), 9: (3, 2), 10: (2, 1)}
LAID_ODDS = {4: (1, 2), 5: (2, 3), 6: (5, 6), 8: (5, 6), 9: (2, 3), 10: (1, 2)}
HARD = {4: (7, 1), 6: (9, 1), 8: (9, 1), 10: (7, 1)}
VEGAS_ONE_ROLL: dict[str, dict[int, tuple[int, int]]] = {
    "field": {2: (2, 1), 3: EVENS, 4: EVENS, 9: EVENS, 10: EVENS, 11: EVENS, 12: (3, 1)},
    "any_seven": {7: (4, 1)},
    "any_craps": {2: (7, 1), 3: (7, 1), 12: (7, 1)},
    "two": {2: (30, 1)},
    "three": {3: (15, 1)},
    "eleven": {11: (15, 1)},
    "twelve": {12: (30, 1)},
    # Four parts of one: 30 - 3 on 4, and 15 - 3 on 4.
    "horn": {2: (27, 4), 3: (3, 1), 11: (3, 1), 12: (27, 4)},
    # Two halves: (7 - 1) on 2, and (15 - 1) on 2.
    "c_and_e": {2: (3, 1), 3: (3, 1), 11: (7, 1), 12: (3, 1)},
    # Five parts of one: 30 - 4 on 5, and 15 - 4 on 5; on seven 4 - 4, the push.
    "world": {2: (26, 5), 3: (11, 5), 11: (11, 5), 12: (26, 5)},
}


def vegas() -> list[tuple[str, int | None, Callable[[tuple[int, int]], Said]]]:
    """Every Las Vegas bet on numbers or one roll, with what each throw must do to it."""

    def win(ratio: tuple[int, int]) -> Said:
        return ("win", Fraction(*ratio))

    def right(number: int, ratio: tuple[int, int]) -> Callable[[tuple[int, int]], Said]:
        return lambda t: win(ratio) if sum(t) == number else ("lose", None) if sum(t) == 7 else None

    def wrong(number: int, ratio: tuple[int, int]) -> Callable[[tuple[int, int]], Said]:
        return lambda t: win(ratio) if sum(t) == 7 else ("lose", None) if sum(t) == number else None

    def hard(number: int, ratio: tuple[int, int]) -> Callable[[tuple[int, int]], Said]:
        return lambda t: win(ratio) if t == (number // 2, number // 2) else right(number, ratio)(t) and ("lose", None)

    def one_roll(kind: str, pays: dict[int, tuple[int, int]]) -> Callable[[tuple[int, int]], Said]:
        def says(t: tuple[int, int]) -> Said:
            if sum(t) in pays:
                return win(pays[sum(t)])
            return ("push", None) if kind == "world" and sum(t) == 7 else ("lose", None)

        return says

    def hop(low: int, high: int) -> Callable[[tuple[int, int]], Said]:
        return lambda t: win((30 if low == high else 15, 1)) if sorted(t) == [low, high] else ("lose", None)

    bets: list[tuple[str, int | None, Callable[[tuple[int, int]], Said]]] = []
    for number in BOXES:
        bets += [(kind, number, right(number, PLACE[number])) for kind in ("place",)]
        bets += [(kind, number, right(number, TRUE_ODDS[number])) for kind in ("buy", "pass_odds", "come_odds")]
        bets += [(kind, number, right(number, EVENS)) for kind in ("pass_line", "come")]
        bets += [(kind, number, wrong(number, EVENS)) for kind in ("dont_pass", "dont_come")]
        bets += [(kind, number, wrong(number, LAID_ODDS[number])) for kind in ("lay", "dont_pass_odds")]
        bets += [("dont_come_odds", number, wrong(number, LAID_ODDS[number]))]
        bets += [("place_to_lose", number, wrong(number, TO_LOSE[number]))]
    bets += [("hardway", number, hard(number, ratio)) for number, ratio in HARD.items()]
    bets += [("big", number, right(number, EVENS)) for number in (6, 8)]
    bets += [(kind, None, one_roll(kind, pays)) for kind, pays in VEGAS_ONE_ROLL.items()]
    bets += [(f"hop_{low}_{high}", None, hop(low, high)) for low in range(1, 7) for high in range(low, 7)]
    return bets


def test_las_vegas_pays_what_the_layout_prints() -> None:
    rules = compiled("us-vegas")
    bets = vegas()
    for kind, number, says in bets:
        rule = found(rules, kind, number)
        assert [said_by_the_rules(rules, rule, throw) for throw in THROWS] == [says(throw) for throw in THROWS], (
            kind,
            number,
        )
    assert {kind for kind, _, _ in bets} == set(rules.kinds)


def test_the_field_pays_double_on_twelve_where_las_vegas_chooses_so() -> None:
    rules = compiled("us-vegas", {"field_twelve": [2, 1]})
    assert said_by_the_rules(rules, found(rules, "field", None), (6, 6)) == ("win", Fraction(2))


RIGHT = {7: "win", 11: "win", 2: "lose", 3: "lose", 12: "lose"}
WRONG = {7: "lose", 11: "lose", 2: "win", 3: "win", 12: "push"}
FIRST_ROLL = {"pass_line": RIGHT, "come": RIGHT, "dont_pass": WRONG, "dont_come": WRONG}


@pytest.mark.parametrize("name", rule_sets.NAMES)
@pytest.mark.parametrize("kind", FIRST_ROLL)
def test_the_first_roll_decides_a_line_bet_or_gives_it_its_number(name: str, kind: str) -> None:
    rules = compiled(name)
    rule = found(rules, kind, None)
    for throw in THROWS:
        came = said_by_the_rules(rules, rule, throw)
        assert came is not None
        if sum(throw) in BOXES:
            assert came == ("move", sum(throw))
        else:
            assert came[0] == FIRST_ROLL[kind][sum(throw)]
            assert came[0] != "win" or came[1] == 1


# How many times the flat bet may lie in odds.
THREE_FOUR_FIVE = {4: 3, 5: 4, 6: 5, 8: 5, 9: 4, 10: 3}
SPANISH_LAID = {4: "2", 5: "3/2", 6: "6/5", 8: "6/5", 9: "3/2", 10: "2"}


@pytest.mark.parametrize("name", rule_sets.NAMES)
def test_odds_reach_the_multiple_of_the_flat_bet_that_is_allowed(name: str) -> None:
    rules, spanish = compiled(name), name.startswith("es-")
    for number in BOXES:
        right = Fraction(1 if spanish else THREE_FOUR_FIVE[number])
        wrong = Fraction(SPANISH_LAID[number] if spanish else 6)
        shares = {"pass_odds": right, "come_odds": right, "dont_pass_odds": wrong, "dont_come_odds": wrong}
        for kind, share in shares.items():
            assert Fraction(*found(rules, kind, number).max_share) == share, (kind, number)


# The share of the table's maximum; a multiple bet k to 1 may win three times what the maximum wins on a simple bet.
SPANISH_SHARES = {
    "place": {4: "1", 5: "1", 6: "6/5", 8: "6/5", 9: "1", 10: "1"},
    "place_to_lose": {4: "11/5", 5: "8/5", 6: "5/4", 8: "5/4", 9: "8/5", 10: "11/5"},
    "hardway": {4: "3/7", 6: "3/9", 8: "3/9", 10: "3/7"},
}
SPANISH_MULTIPLES = {"eleven": 15, "any_craps": 7, "two": 30, "three": 15, "twelve": 30, "horn": 4}


@pytest.mark.parametrize(("name", "any_seven"), [("es-1979", 4), ("es-md-2004", 15)])
def test_spanish_maxima_follow_the_pay(name: str, any_seven: int) -> None:
    rules = compiled(name)
    for kind, shares in SPANISH_SHARES.items():
        for number, share in shares.items():
            assert Fraction(*found(rules, kind, number).max_share) == Fraction(share), (kind, number)
    for kind, to_one in {**SPANISH_MULTIPLES, "any_seven": any_seven}.items():
        assert Fraction(*found(rules, kind, None).max_share) == Fraction(3, to_one), kind


# The data files


def no_float(text: str) -> float:
    raise AssertionError(f"a float in a rule set: {text}")


def data_of(name: str) -> dict[str, Any]:
    path = Path(rule_sets.__file__).parent / f"{name}.json"
    data: dict[str, Any] = json.loads(path.read_text(), parse_float=no_float, parse_constant=no_float)
    return data


def numbers_without_source(value: object, place: str, sourced: bool) -> list[str]:
    if isinstance(value, dict):
        here = sourced or bool(value.get("source"))
        return [
            where
            for key, item in value.items()
            for where in numbers_without_source(item, f"{place}.{key}", here or bool(value.get(f"{key}_source")))
        ]
    if isinstance(value, list):
        return [where for item in value for where in numbers_without_source(item, place, sourced)]
    return [place] if isinstance(value, int) and not sourced else []


@pytest.mark.parametrize("name", rule_sets.NAMES)
def test_every_number_and_choice_of_a_rule_set_names_its_source(name: str) -> None:
    data = data_of(name)
    assert data["source"]
    assert data["name"] == name
    # The source of the whole file is none for a single number in it; the version is the file's own.
    parts = {key: value for key, value in data.items() if key not in ("source", "version")}
    assert numbers_without_source(parts, name, False) == []


def test_a_rule_set_that_gives_the_player_the_advantage_warns() -> None:
    assert "fifteen" in compiled("es-md-2004").warnings[0]
    assert "pay table" in compiled("cl-scj").warnings[0]
    assert compiled("es-1979").warnings == []


OFFERED_OPTIONS = {
    "es-1979": {"winners_stay_up": True, "exact_amounts": False},
    "es-md-2004": {"winners_stay_up": True, "exact_amounts": False},
    "mo-2010": {"winners_stay_up": True, "exact_amounts": False, "field_twelve": [2, 1]},
    "cl-scj": {"winners_stay_up": True, "exact_amounts": False, "vig": "up_front"},
    "pe-1999": {"winners_stay_up": True, "exact_amounts": False, "bar": 12, "vig": "on_win"},
    "us-vegas": {"winners_stay_up": True, "exact_amounts": False, "field_twelve": [3, 1], "vig": "on_win"},
}


@pytest.mark.parametrize("name", rule_sets.NAMES)
def test_what_is_left_to_the_operator_has_the_default_that_is_documented(name: str) -> None:
    assert compiled(name).options == OFFERED_OPTIONS[name]


# A house's own bets, as data


def with_house_bets() -> dict[str, Any]:
    data = data_of("us-vegas")
    data["bets"]["low_doubles"] = {
        "stage": "one_roll",
        "name": "Low Doubles",
        "win": {"1-1": [10, 1], "2-2": [8, 1]},
        "lose": [str(total) for total in range(2, 13)],
        "push": ["6-6"],
        "source": "house",
    }
    data["bets"]["fours_before_fives"] = {
        "stage": "multi_roll",
        "name": "Fours before Fives",
        "win": {"4": [3, 2], "10": [3, 2]},
        "lose": ["5", "9"],
        "push": [],
        "source": "house",
    }
    data["order"] += ["low_doubles", "fours_before_fives"]
    return data


def test_a_house_bet_of_totals_and_combinations_needs_no_code() -> None:
    rules = compile_rules(with_house_bets())
    one_roll, held = found(rules, "low_doubles", None), found(rules, "fours_before_fives", None)
    assert [said_by_the_rules(rules, one_roll, throw) for throw in [(1, 1), (2, 2), (1, 3), (6, 6), (3, 4)]] == [
        ("win", Fraction(10)),
        ("win", Fraction(8)),
        ("lose", None),
        ("push", None),
        ("lose", None),
    ]
    assert [said_by_the_rules(rules, held, throw) for throw in [(1, 3), (6, 4), (2, 3), (5, 4), (3, 4), (3, 3)]] == [
        ("win", Fraction(3, 2)),
        ("win", Fraction(3, 2)),
        ("lose", None),
        ("lose", None),
        None,
        None,
    ]


UNSOUND: dict[str, Callable[[dict[str, Any]], object]] = {
    "no name": lambda d: d.pop("name"),
    "version is a text": lambda d: d.update(version="1"),
    "version is true": lambda d: d.update(version=True),
    "bets is a list": lambda d: d.update(bets=[]),
    "a bet is no object": lambda d: d["bets"].update(field=[]),
    "a bet without source": lambda d: d["bets"]["field"].pop("source"),
    "a bet missing from the order": lambda d: d["order"].pop(),
    "a bet twice in the order": lambda d: d["order"].append("field"),
    "an unknown stage": lambda d: d["bets"]["field"].update(stage="for_ever"),
    "a total of 13": lambda d: d["bets"]["field"]["win"].update({"13": [1, 1]}),
    "a combination with the larger die first": lambda d: d["bets"]["field"]["win"].update({"4-2": [1, 1]}),
    "a ratio of zero": lambda d: d["bets"]["field"]["win"].update({"2": [0, 1]}),
    "a ratio over zero": lambda d: d["bets"]["field"]["win"].update({"2": [1, 0]}),
    "a ratio that is a float": lambda d: d["bets"]["field"]["win"].update({"2": 2.5}),
    "a ratio of floats": lambda d: d["bets"]["field"]["win"].update({"2": [2.0, 1.0]}),
    "a ratio of three": lambda d: d["bets"]["field"]["win"].update({"2": [2, 1, 1]}),
    "a one-roll bet that can stay": lambda d: d["bets"]["field"].update(lose=["5", "6", "7"]),
    "a box of 7": lambda d: d["bets"]["place"]["numbers"].update({"7": {"win": {}, "lose": [], "push": []}}),
    "an option that is not there": lambda d: d["bets"]["field"]["win"].update({"12": "option:none"}),
    "a default that is no value": lambda d: d["options"]["vig"].update(default="never"),
    "odds without a parent": lambda d: d["bets"]["pass_odds"].update(parent="place"),
    "a flag that is a number": lambda d: d["dice_pass"].update(come_out_craps=0),
    "no option winners_stay_up": lambda d: d["options"].pop("winners_stay_up"),
    "a bet on numbers without any": lambda d: d["bets"]["place"].update(numbers={}),
    "odds without a number": lambda d: d["bets"].update(
        pass_odds={**d["bets"]["any_seven"], "stage": "odds", "parent": "pass_line"}
    ),
    "a commission on a bet that never wins": lambda d: d["bets"]["lay"]["numbers"]["4"].update(win={}),
}


@pytest.mark.parametrize("unsound", UNSOUND)
def test_an_unsound_rule_set_is_refused_with_the_place_of_what_is_wrong(unsound: str) -> None:
    data = data_of("us-vegas")
    UNSOUND[unsound](data)
    with pytest.raises(RuleError):
        compile_rules(data)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("es-1979", {"bar": 2}),
        ("mo-2010", {"vig": "on_win"}),
        ("us-vegas", {"vig": "never"}),
        ("pe-1999", {"bar": 3}),
        ("pe-1999", {"bar": True}),
        ("pe-1999", {"bar": "12"}),
        ("us-vegas", {"winners_stay_up": 1}),
        ("us-vegas", {"field_twelve": [4, 1]}),
        ("us-vegas", {"field_twelve": [2.0, 1]}),
    ],
)
def test_an_option_that_is_not_offered_or_not_among_its_values_is_refused(
    name: str, options: dict[str, object]
) -> None:
    with pytest.raises(RuleError):
        compiled(name, options)
