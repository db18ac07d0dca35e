"""What the rules do not allow is refused with its code and one plain sentence, and changes nothing."""

from dataclasses import dataclass
from typing import Any

import pytest

from engine_lite import rule_sets
from engine_lite.json_text import json_text
from engine_lite.refusal import CODES, Refused
from engine_lite.rule_compiler import compile_rules
from engine_lite.steps import apply_step
from engine_lite.table import Table

Step = dict[str, Any]


def bet(kind: object, amount: object = 10, number: object = None, player: str = "A") -> Step:
    return {"bet": {"player": player, "kind": kind, "amount": amount, "number": number}}


def reduce(kind: str, amount: object, number: object = None, player: str = "A") -> Step:
    return {"reduce": {"player": player, "kind": kind, "amount": amount, "number": number}}


def take_down(kind: str, number: object = None, player: str = "A") -> Step:
    return {"take_down": {"player": player, "kind": kind, "number": number}}


def off(**which: object) -> Step:
    return {"working": {**which, "on": False}}


def roll(first: object, second: object) -> Step:
    return {"roll": [first, second]}


def correct(first: object, second: object) -> Step:
    return {"correct": [first, second]}


@dataclass
class Case:
    """After `done` on a table of `rules`, `refused` is refused with `code`."""

    code: str
    why: str
    rules: str
    done: list[Step]
    refused: Step
    unit: int = 1
    minimum: int = 1
    maximum: int = 1000


ON_FOUR, ON_FIVE, ON_SIX = roll(2, 2), roll(2, 3), roll(2, 4)
PASS, DONT = bet("pass_line"), bet("dont_pass")

AMOUNTS = [
    *(Case("bad_amount", f"{a!r} staked", "us-vegas", [], bet("field", a)) for a in (0, -5, 1.5, 5.0, "5", True, None)),
    *(
        Case("bad_amount", f"{a!r} taken from 10", "us-vegas", [bet("place", 10, 6)], reduce("place", a, 6))
        for a in (0, -1, 11, 2.5, True, None)
    ),
    Case("not_multiple", "12 in fives", "us-vegas", [], bet("field", 12), unit=5),
    Case("not_multiple", "odds in fives", "us-vegas", [PASS, ON_SIX], bet("pass_odds", 12), unit=5),
    Case("not_multiple", "2 taken back in fives", "us-vegas", [bet("place", 10, 6)], reduce("place", 2, 6), unit=5),
    # Macau, art. 5.6: amounts are multiples of the minima.
    Case("not_multiple", "15 with a minimum of 10", "mo-2010", [], bet("field", 15), minimum=10),
    Case("not_multiple", "below the minimum", "mo-2010", [], bet("field", 5), minimum=10),
    Case("not_multiple", "odds of 15", "mo-2010", [PASS, ON_SIX], bet("pass_odds", 15), minimum=10),
    Case("not_multiple", "5 of 20 taken back", "mo-2010", [bet("big", 20, 6)], reduce("big", 5, 6), minimum=10),
    Case("below_min", "5 with a minimum of 10", "us-vegas", [], bet("field", 5), minimum=10),
    Case("below_min", "4 left of 10", "us-vegas", [bet("place", 10, 6)], reduce("place", 6, 6), minimum=5),
    Case("above_max", "1001 of 1000", "us-vegas", [], bet("field", 1001)),
    Case("above_max", "added up", "us-vegas", [bet("field", 600)], bet("field", 401)),
]


def odds(rules: str, right: bool, point: Step, amount: int, why: str, flat: int = 10) -> Case:
    line, kind = ("pass_line", "pass_odds") if right else ("dont_pass", "dont_pass_odds")
    return Case("above_max", why, rules, [bet(line, flat), point], bet(kind, amount))


def travelled(rules: str, kind: str, amount: int, why: str) -> Case:
    """Odds on a come or don't come bet of 10 that has travelled to 4."""
    done = [ON_SIX, bet(kind), ON_FOUR]
    return Case("above_max", why, rules, done, bet(f"{kind}_odds", amount, 4))


LIMITS = [
    # Spain, IV.2: odds up to the flat bet; 200, 150 and 120 per cent of it against the number.
    odds("es-1979", True, ON_FOUR, 11, "11 on 10 at 4"),
    odds("es-1979", True, ON_SIX, 11, "11 on 10 at 6"),
    odds("es-1979", False, ON_FOUR, 21, "21 against 4"),
    odds("es-1979", False, ON_FIVE, 16, "16 against 5"),
    odds("es-1979", False, ON_SIX, 13, "13 against 6"),
    # 150 per cent of 5 is 7 and a half.
    odds("es-1979", False, ON_FIVE, 8, "8 against 5 on a flat 5", flat=5),
    travelled("es-1979", "come", 11, "come odds"),
    travelled("es-1979", "dont_come", 21, "don't come odds"),
    odds("es-md-2004", False, ON_SIX, 13, "Madrid, 13 against 6"),
    # Las Vegas: three, four and five times; six times when laid.
    odds("us-vegas", True, ON_FOUR, 31, "31 on 10 at 4"),
    odds("us-vegas", True, ON_FIVE, 41, "41 on 10 at 5"),
    odds("us-vegas", True, ON_SIX, 51, "51 on 10 at 6"),
    odds("us-vegas", False, ON_FOUR, 61, "61 against 4"),
    odds("us-vegas", False, ON_SIX, 61, "61 against 6"),
    travelled("us-vegas", "come", 31, "come odds"),
    travelled("us-vegas", "dont_come", 61, "don't come odds"),
    Case(
        "above_max",
        "odds left on a smaller flat bet",
        "us-vegas",
        [DONT, ON_FOUR, bet("dont_pass_odds", 60)],
        reduce("dont_pass", 1, 4),
    ),
    # Spain: right bets 120 per cent of the maximum on 6 and 8, wrong bets 220, 160 and 125 per cent.
    *(Case("above_max", f"right {n}", "es-1979", [], bet("place", a, n)) for n, a in ((4, 1001), (9, 1001))),
    *(Case("above_max", f"right {n}", "es-1979", [], bet("place", 1201, n)) for n in (6, 8)),
    *(Case("above_max", f"wrong {n}", "es-1979", [], bet("place_to_lose", 2201, n)) for n in (4, 10)),
    *(Case("above_max", f"wrong {n}", "es-1979", [], bet("place_to_lose", 1601, n)) for n in (5, 9)),
    *(Case("above_max", f"wrong {n}", "es-1979", [], bet("place_to_lose", 1251, n)) for n in (6, 8)),
    # A multiple bet wins at most three times 1000: 3000 / 30, 3000 / 9, 3000 / 4; in Madrid 3000 / 15 on any seven.
    Case("above_max", "craps 12", "es-1979", [], bet("twelve", 101)),
    Case("above_max", "hard 6", "es-1979", [], bet("hardway", 334, 6)),
    Case("above_max", "any seven", "es-1979", [], bet("any_seven", 751)),
    Case("above_max", "any seven in Madrid", "es-md-2004", [], bet("any_seven", 201)),
]

JUST_ALLOWED = [
    ("es-1979", [PASS, ON_SIX], bet("pass_odds", 10)),
    ("es-1979", [DONT, ON_FOUR], bet("dont_pass_odds", 20)),
    ("es-1979", [DONT, ON_FIVE], bet("dont_pass_odds", 15)),
    ("es-1979", [DONT, ON_SIX], bet("dont_pass_odds", 12)),
    ("es-1979", [], bet("place", 1200, 6)),
    ("es-1979", [], bet("place_to_lose", 2200, 4)),
    ("es-1979", [], bet("place_to_lose", 1600, 5)),
    ("es-1979", [], bet("place_to_lose", 1250, 6)),
    ("es-1979", [], bet("twelve", 100)),
    ("es-1979", [], bet("hardway", 333, 6)),
    ("es-md-2004", [], bet("any_seven", 200)),
    ("us-vegas", [PASS, ON_FOUR], bet("pass_odds", 30)),
    ("us-vegas", [PASS, ON_FIVE], bet("pass_odds", 40)),
    ("us-vegas", [PASS, ON_SIX], bet("pass_odds", 50)),
    ("us-vegas", [DONT, ON_SIX], bet("dont_pass_odds", 60)),
    ("us-vegas", [], bet("field", 1000)),
]

PHASES = [
    *(
        Case("not_now", f"{kind} after the point", name, [ON_FOUR], bet(kind))
        for kind in ("pass_line", "dont_pass")
        for name in rule_sets.NAMES
    ),
    *(
        Case("not_now", f"{kind} on the come-out", name, [], bet(kind))
        for kind in ("come", "dont_come")
        for name in rule_sets.NAMES
    ),
    Case("not_now", "a come bet put on a number", "us-vegas", [ON_SIX], bet("come", 10, 4)),
    Case("not_now", "odds before the point", "us-vegas", [PASS], bet("pass_odds")),
    Case("needs_parent", "pass odds without pass line", "us-vegas", [ON_FOUR], bet("pass_odds")),
    Case("needs_parent", "another player's line", "us-vegas", [PASS, ON_FOUR], bet("pass_odds", player="B")),
    Case("needs_parent", "the other side's line", "us-vegas", [PASS, ON_FOUR], bet("dont_pass_odds")),
    Case("needs_parent", "a number that is not the point", "us-vegas", [PASS, ON_FOUR], bet("pass_odds", 10, 6)),
    Case("needs_parent", "a come bet still in its box", "us-vegas", [ON_FOUR, bet("come")], bet("come_odds", 10, 6)),
    Case("needs_parent", "another come number", "us-vegas", [ON_FOUR, bet("come"), ON_SIX], bet("come_odds", 10, 8)),
]

NAMES = [
    Case("unknown_kind", "no bet of this name", "us-vegas", [], bet("fourth_line")),
    Case("unknown_kind", "taken down", "us-vegas", [], take_down("fourth_line")),
    Case("unknown_kind", "switched off", "us-vegas", [], off(kind="fourth_line")),
    Case("unknown_number", "no box 7", "us-vegas", [], bet("place", 10, 7)),
    Case("unknown_number", "no number", "us-vegas", [], bet("place")),
    Case("unknown_number", "a bet that takes none", "us-vegas", [], bet("field", 10, 6)),
    Case("unknown_number", "a text", "us-vegas", [], bet("place", 10, "6")),
    Case("unknown_number", "a fraction", "us-vegas", [], bet("place", 10, 6.0)),
    Case("unknown_number", "a list", "us-vegas", [], bet("place", 10, [6])),
    Case("unknown_number", "an object taken down", "us-vegas", [], take_down("place", {})),
    Case("unknown_number", "come odds without a number", "us-vegas", [ON_FOUR], bet("come_odds")),
    Case("unknown_number", "taken down from 7", "us-vegas", [bet("place", 12, 6)], take_down("place", 7)),
    Case("unknown_number", "7 switched off", "us-vegas", [bet("place", 12, 6)], off(number=7)),
    Case("unknown_number", "a fraction switched off", "us-vegas", [bet("place", 12, 6)], off(number=6.0)),
    Case("not_offered", "no place bets", "mo-2010", [], bet("place", 12, 6)),
    Case("not_offered", "no horn", "pe-1999", [], bet("horn", 20)),
    Case("not_offered", "no buy", "es-1979", [], bet("buy", 20, 4)),
    Case("not_offered", "no under seven", "us-vegas", [], bet("under_seven")),
    Case("not_offered", "big on 6 and 8 only", "us-vegas", [], bet("big", 10, 5)),
    Case("not_offered", "no hard 5", "us-vegas", [], bet("hardway", 10, 5)),
    Case("not_offered", "taken down", "es-1979", [], take_down("lay", 4)),
    Case("no_such_bet", "nothing taken down", "us-vegas", [], take_down("place", 6)),
    Case("no_such_bet", "nothing reduced", "us-vegas", [], reduce("field", 1)),
    Case("no_such_bet", "another player's", "us-vegas", [bet("place", 12, 6)], take_down("place", 6, player="B")),
    Case("no_such_bet", "another number", "us-vegas", [bet("place", 12, 6)], take_down("place", 8)),
    Case("no_such_bet", "nothing to switch off", "us-vegas", [bet("place", 12, 6)], off(player="B")),
    Case("no_such_bet", "no number to switch off", "us-vegas", [bet("place", 12, 6)], off(kind="place", number=8)),
]

TRAVELLED = [ON_FOUR, bet("come"), bet("dont_come", player="B"), ON_SIX]
CONTRACT = [
    # Spain: bets on Win are never withdrawn, and are played on the first roll.
    Case("contract", "Win withdrawn", "es-1979", [PASS], take_down("pass_line")),
    Case("contract", "Win reduced", "es-1979", [PASS], reduce("pass_line", 5)),
    Case("contract", "Win withdrawn after the point", "es-1979", [PASS, ON_FOUR], take_down("pass_line")),
    Case("contract", "Win raised after the point", "es-1979", [PASS, ON_FOUR], bet("pass_line", 5)),
    Case("contract", "Don't Win raised after the point", "es-1979", [DONT, ON_FOUR], bet("dont_pass", 5)),
    Case("contract", "Madrid as Spain", "es-md-2004", [PASS], take_down("pass_line")),
    # Chile: not withdrawn at all, not reduced after the point; the other side never raised.
    Case("contract", "Pase withdrawn", "cl-scj", [PASS], take_down("pass_line")),
    Case("contract", "Pase reduced to nothing", "cl-scj", [PASS], reduce("pass_line", 10)),
    Case("contract", "Pase reduced after the point", "cl-scj", [PASS, ON_FOUR], reduce("pass_line", 5)),
    Case("contract", "No Pase raised", "cl-scj", [DONT], bet("dont_pass", 5)),
    Case("contract", "No Pase raised after the point", "cl-scj", [DONT, ON_FOUR], bet("dont_pass", 5)),
    # Peru, art. 5: after the point the line is not reduced, the other side not raised; Come as the lines.
    *(
        case
        for name in ("pe-1999", "mo-2010", "us-vegas")
        for case in (
            Case("contract", "line withdrawn", name, [PASS, ON_FOUR], take_down("pass_line")),
            Case("contract", "line reduced", name, [PASS, ON_FOUR], reduce("pass_line", 5, 4)),
            Case("contract", "other side raised", name, [DONT, ON_FOUR], bet("dont_pass", 5)),
            Case("contract", "come withdrawn", name, TRAVELLED, take_down("come", 6)),
            Case("contract", "come reduced", name, TRAVELLED, reduce("come", 5, 6)),
            Case("contract", "don't come raised", name, TRAVELLED, bet("dont_come", 5, 6, player="B")),
        )
    ),
    Case("contract", "a line bet switched off", "us-vegas", [PASS], off(kind="pass_line")),
    Case("contract", "a bet on one roll switched off", "us-vegas", [bet("field")], off(player="A", kind="field")),
]

SHOOTER: Step = {"shooter": "A"}
DICE = [
    *(Case("no_shooter_bet", "no bet at all", name, [SHOOTER], roll(3, 4)) for name in rule_sets.NAMES),
    *(
        Case("no_shooter_bet", "no bet on a line", name, [SHOOTER, bet("field")], roll(3, 4))
        for name in rule_sets.NAMES
        if name != "mo-2010"
    ),
    Case("no_shooter_bet", "only another's line", "us-vegas", [SHOOTER, bet("pass_line", player="B")], roll(3, 4)),
    Case("no_shooter_bet", "the line was lost", "us-vegas", [SHOOTER, PASS, roll(1, 1)], roll(3, 4)),
    Case("no_shooter_bet", "only another's bet", "mo-2010", [SHOOTER, bet("field", player="B")], roll(3, 4)),
    *(
        Case("bad_dice", f"{first!r} and {second!r}", "us-vegas", [], roll(first, second))
        for first, second in ((0, 1), (1, 7), (-1, 1), (1.0, 2), ("1", 2), (True, 2), (None, 2), ([1], 2))
    ),
    Case("bad_dice", "a correction", "us-vegas", [PASS, ON_FOUR, bet("pass_odds")], correct(0, 1)),
    Case("nothing_to_correct", "no roll yet", "us-vegas", [PASS], correct(1, 1)),
]

CASES = AMOUNTS + LIMITS + PHASES + NAMES + CONTRACT + DICE


def played(rules: str, done: list[Step], unit: int = 1, minimum: int = 1, maximum: int = 1000) -> Table:
    table = Table(compile_rules(rule_sets.load(rules)), unit, minimum, maximum)
    for step in done:
        apply_step(table, step)
    return table


@pytest.mark.parametrize("case", CASES, ids=[f"{case.code}-{case.rules}-{case.why}" for case in CASES])
def test_the_step_is_refused_and_changes_nothing(case: Case) -> None:
    table = played(case.rules, case.done, case.unit, case.minimum, case.maximum)
    before = json_text(table.snapshot())
    with pytest.raises(Refused) as refusal:
        apply_step(table, case.refused)
    assert refusal.value.code == case.code
    assert refusal.value.message
    assert "\n" not in refusal.value.message
    assert json_text(table.snapshot()) == before


def test_a_session_takes_so_many_players_and_who_is_even_is_none_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("engine_lite.table", "engine_lite.dealing_order"):
        monkeypatch.setattr(f"{module}.SEATS_MAX", 8)
    table = played("us-vegas", [ON_FOUR])
    for number in range(20, 50):
        # They come and go, and leave no trace in the order of those who stay.
        for step in (bet("field", player=str(number)), take_down("field", player=str(number))):
            apply_step(table, step)
    for step in (bet("place", number=5, player="1"), bet("place", number=4, player="99")):
        apply_step(table, step)
    assert [said["player"] for said in table.bets()] == ["99", "1"]
    assert [said["player"] for said in apply_step(table, roll(3, 4))] == ["99", "1"]
    table = played("us-vegas", [bet("field", player=str(number)) for number in range(1, 9)])
    restored = played("us-vegas", [])
    restored.restore(table.snapshot())
    for full in (table, restored):
        before = json_text(full.snapshot())
        with pytest.raises(Refused, match="at most 8 players; close and open the table") as refusal:
            apply_step(full, bet("field", player="A"))
        assert refusal.value.code == "above_max"
        assert json_text(full.snapshot()) == before
        with pytest.raises(Refused, match="at most 8 players"):
            full.check_players(["8", "A"])
        apply_step(full, bet("any_seven", player="8"))
        # A field that loses leaves no bet, but a player who is down; one that is taken down leaves nobody.
        apply_step(full, take_down("field", player="3"))
        apply_step(full, bet("field", player="A"))
        apply_step(full, roll(3, 4))
        with pytest.raises(Refused, match="at most 8 players"):
            apply_step(full, bet("field", player="3"))


def test_every_code_is_met() -> None:
    assert {case.code for case in CASES} == set(CODES)


@pytest.mark.parametrize(("rules", "done", "step"), JUST_ALLOWED)
def test_the_limit_itself_is_allowed(rules: str, done: list[Step], step: Step) -> None:
    table = played(rules, done)
    apply_step(table, step)
    placed = step["bet"]
    assert [lies["amount"] for lies in table.bets() if lies["kind"] == placed["kind"]] == [placed["amount"]]


@pytest.mark.parametrize(
    ("rules", "done", "step"),
    [
        ("es-1979", [PASS], bet("pass_line", 5)),
        ("es-1979", [DONT, ON_FOUR], take_down("dont_pass")),
        ("cl-scj", [PASS], reduce("pass_line", 5)),
        ("cl-scj", [PASS, ON_FOUR], bet("pass_line", 5)),
        ("pe-1999", [PASS, ON_FOUR], bet("pass_line", 5)),
        ("pe-1999", [DONT, ON_FOUR], reduce("dont_pass", 5)),
        ("pe-1999", [DONT, ON_FOUR], take_down("dont_pass")),
        ("us-vegas", [PASS], take_down("pass_line")),
        ("us-vegas", TRAVELLED, bet("come", 5, 6)),
        ("us-vegas", TRAVELLED, take_down("dont_come", 6, player="B")),
        ("mo-2010", [SHOOTER, bet("field")], roll(3, 4)),
        ("us-vegas", [SHOOTER, DONT], roll(3, 4)),
        ("us-vegas", [SHOOTER, PASS, ON_FOUR], roll(3, 3)),
    ],
)
def test_what_each_jurisdiction_allows_is_done(rules: str, done: list[Step], step: Step) -> None:
    apply_step(played(rules, done), step)


def test_a_line_bet_that_is_too_late_is_told_that_it_belongs_to_the_come_out() -> None:
    table = played("us-vegas", [ON_FOUR])
    with pytest.raises(Refused, match="come-out"):
        apply_step(table, PASS)
