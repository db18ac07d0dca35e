"""The exact house edge of every bet, against figures reckoned by hand or published.

Published figures: S. N. Ethier, The Doctrine of Chances (2010), for the lines and, through D. Catlin's column "The Fire
Bet" (Casino City Times, 13 February 2010), for Fire; Wizard of Odds, "Craps" and "Bonus Craps", for the rest.
"""

import json
import subprocess
import sys
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from engine_lite import rule_sets
from engine_lite.house_edge import Edge, NeverDecided, bets_as_made, house_edges, per_cent
from engine_lite.rule_compiler import compile_rules

HERE = Path(__file__).parent
SIDE_BETS = HERE / "rules" / "house-side-bets.json"
MICROPYTHON = Path(sys.executable).with_name("micropython")
BOXES = (4, 5, 6, 8, 9, 10)
Edges = dict[tuple[str, int | None], Edge]


def edges(name: str, **options: object) -> Edges:
    return edges_of(rule_sets.load(name), **options)


def edges_of(data: dict[str, Any], **options: object) -> Edges:
    return {(edge.kind, edge.number): edge for edge in house_edges(compile_rules(data, options))}


def side_bets() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(SIDE_BETS.read_text())
    return data


# What a bet loses of one chip, each by hand as (lost - won) / throws that decide.
PER_BET: dict[tuple[str, int | None], tuple[int, int]] = {
    # Ethier: 244/495 to win. Wizard of Odds: 1.414 %.
    ("pass_line", None): (7, 495),
    ("come", None): (7, 495),
    # Ethier: 1.364 % with the push counted; 949/1980 to win, 1/36 to push.
    ("dont_pass", None): (3, 220),
    ("dont_come", None): (3, 220),
    **{(kind, n): (0, 1) for n in BOXES for kind in ("pass_odds", "dont_pass_odds", "come_odds", "dont_come_odds")},
    # (6 - 3 x 9/5) / 9, (6 - 4 x 7/5) / 10, (6 - 5 x 7/6) / 11.
    **{("place", n): (1, 15) for n in (4, 10)},
    **{("place", n): (1, 25) for n in (5, 9)},
    **{("place", n): (1, 66) for n in (6, 8)},
    # (3 - 6 x 5/11) / 9, (4 - 6 x 5/8) / 10, (5 - 6 x 4/5) / 11.
    **{("place_to_lose", n): (1, 33) for n in (4, 10)},
    **{("place_to_lose", n): (1, 40) for n in (5, 9)},
    **{("place_to_lose", n): (1, 55) for n in (6, 8)},
    # One twentieth of the bet when it wins, which is in 3 of 9, 4 of 10, 5 of 11. Wizard of Odds: 1.67, 2.00, 2.27 %.
    **{("buy", n): (1, 60) for n in (4, 10)},
    **{("buy", n): (1, 50) for n in (5, 9)},
    **{("buy", n): (1, 44) for n in (6, 8)},
    # One twentieth of the win: 1/40 in 6 of 9, 1/30 in 6 of 10, 1/24 in 6 of 11.
    **{("lay", n): (1, 60) for n in (4, 10)},
    **{("lay", n): (1, 50) for n in (5, 9)},
    **{("lay", n): (1, 44) for n in (6, 8)},
    **{("big", n): (1, 11) for n in (6, 8)},
    # One of 9 throws wins seven and 8 lose; one of 11 wins nine and 10 lose.
    **{("hardway", n): (1, 9) for n in (4, 10)},
    **{("hardway", n): (1, 11) for n in (6, 8)},
    # 20 lose; 3, 4, 9, 10, 11 win 14, 2 wins two, 12 three: 19.
    ("field", None): (1, 36),
    ("any_seven", None): (1, 6),
    ("any_craps", None): (1, 9),
    ("two", None): (5, 36),
    ("twelve", None): (5, 36),
    ("three", None): (1, 9),
    ("eleven", None): (1, 9),
    # 30 lose; 2 x 27/4 + 4 x 3 = 51/2.
    ("horn", None): (1, 8),
    # 30 lose; 4 x 3 + 2 x 7 = 26.
    ("c_and_e", None): (1, 9),
    # 24 lose, 6 push; 2 x 26/5 + 4 x 11/5 = 96/5. Wizard of Odds: 13.33 %.
    ("world", None): (2, 15),
    **{
        (f"hop_{low}_{high}", None): (5, 36) if low == high else (1, 9) for low in range(1, 7) for high in range(low, 7)
    },
}


def test_every_las_vegas_bet_costs_what_it_does_by_hand() -> None:
    assert {key: edge.per_bet for key, edge in edges("us-vegas").items()} == PER_BET


def test_pushed_bets_do_not_count_as_decided() -> None:
    found = edges("us-vegas")
    # 3/220 of 35/36; 2/15 of 30/36. Ethier: 1.403 %.
    pushed: dict[tuple[str, int | None], tuple[int, int]] = {
        ("dont_pass", None): (27, 1925),
        ("dont_come", None): (27, 1925),
        ("world", None): (4, 25),
    }
    for key, edge in found.items():
        assert edge.per_decision == pushed.get(key, edge.per_bet), key


def test_a_line_bet_costs_by_the_roll_what_it_costs_by_the_bet_over_its_rolls() -> None:
    """557/165 rolls: one, and 36 over the throws that decide for each point. Wizard of Odds: 0.42 and 0.40 %."""
    found = edges("us-vegas")
    assert found["pass_line", None].per_roll == (7, 1671)
    assert found["dont_pass", None].per_roll == (9, 2228)


def test_a_bet_that_stays_costs_by_the_roll_its_loss_in_36_throws() -> None:
    """Place 4: 6 - 27/5 in 36; place 6: 6 - 35/6 in 36. Wizard of Odds: 1.67, 1.11, 0.46 and, hard ways, 2.78 %."""
    found = edges("us-vegas")
    expected = {
        ("place", 4): (1, 60),
        ("place", 9): (1, 90),
        ("place", 6): (1, 216),
        ("hardway", 4): (1, 36),
        ("hardway", 8): (1, 36),
        ("big", 8): (1, 36),
        ("buy", 4): (1, 240),
        ("field", None): (1, 36),
    }
    assert {key: found[key].per_roll for key in expected} == expected


def test_the_commission_taken_up_front_is_staked_with_the_bet() -> None:
    """21 for each 20 on a buy; on a lay 41 for 40, 31 for 30, 25 for 24. Wizard of Odds: 4.76; 2.44, 3.23, 4.00 %."""
    found = edges("us-vegas", vig="up_front")
    for number in BOXES:
        assert found["buy", number].per_bet == (1, 21)
    assert [found["lay", number].per_bet for number in (4, 5, 6)] == [(1, 41), (1, 31), (1, 25)]
    assert found["buy", 4].per_roll == (1, 84)
    assert found["buy", 4].per_decision == (1, 21)


def test_the_fields_twelve_is_worth_one_throw_in_36() -> None:
    for name in ("us-vegas", "mo-2010"):
        assert edges(name, field_twelve=[2, 1])["field", None].per_bet == (1, 18)
        assert edges(name, field_twelve=[3, 1])["field", None].per_bet == (1, 36)


def test_madrids_any_seven_favours_the_player_as_printed() -> None:
    """30 lose, 6 win fifteen each: 60 won in 36."""
    assert edges("es-md-2004")["any_seven", None] == ("any_seven", None, (-5, 3), (-5, 3), (-5, 3))
    assert edges("es-1979")["any_seven", None].per_bet == (1, 6)


def test_no_other_bet_of_any_rule_set_favours_the_player() -> None:
    favoured = {(name, *key) for name in rule_sets.NAMES for key, edge in edges(name).items() if edge.per_bet[0] < 0}
    assert favoured == {("es-md-2004", "any_seven", None)}


def test_spains_flat_horn_and_macaus_own_bets() -> None:
    # 30 lose, 6 win four each.
    assert edges("es-1979")["horn", None].per_bet == (1, 6)
    macau = edges("mo-2010")
    assert macau["horn", None].per_bet == (1, 8)
    # 15 win, 21 lose.
    assert macau["under_seven", None].per_bet == macau["over_seven", None].per_bet == (1, 6)
    # Place odds under the name Big.
    assert [macau["big", number].per_bet for number in BOXES] == [PER_BET["place", number] for number in BOXES]


def test_perus_bar_is_worth_the_same_on_either_double_six_or_ones() -> None:
    for bar in (2, 12):
        found = edges("pe-1999", bar=bar)
        assert found["dont_pass", None].per_bet == (3, 220)
        assert found["dont_come", None].per_decision == (27, 1925)


def test_the_edge_does_not_depend_on_whether_winners_stay_up() -> None:
    assert edges("us-vegas", winners_stay_up=False) == edges("us-vegas")


def test_every_bet_that_can_be_put_down_has_its_edge_in_lowest_terms() -> None:
    for name in rule_sets.NAMES:
        rules = compile_rules(rule_sets.load(name))
        found = house_edges(rules)
        assert [(edge.kind, edge.number) for edge in found] == [rule.key for rule in bets_as_made(rules)]
        assert {edge.kind for edge in found} == set(rules.kinds)
        for edge in found:
            for num, den in edge[2:]:
                assert (num, den) == Fraction(num, den).as_integer_ratio()


# Bets on a whole hand


WAYS = {2: 1, 3: 2, 4: 3, 5: 4, 6: 5, 8: 5, 9: 4, 10: 3, 11: 2, 12: 1}


def all_come_before_seven(totals: list[int]) -> Fraction:
    """By inclusion and exclusion over the totals that have not come when the seven does."""
    chance = Fraction(0)
    for size in range(len(totals) + 1):
        for missing in combinations(totals, size):
            chance += (-1) ** size * Fraction(6, 6 + sum(WAYS[total] for total in missing))
    return chance


def test_all_small_and_tall() -> None:
    """Wizard of Odds, "Bonus Craps": 7.76 % on Small and Tall at 34 to 1, 7.46 % on All at 175 to 1."""
    found = edges_of(side_bets())
    small, everything = all_come_before_seven([2, 3, 4, 5, 6]), all_come_before_seven(list(WAYS))
    assert Fraction(*found["small", None].per_bet) == 1 - 35 * small == Fraction(1687, 21736)
    assert found["tall", None].per_bet == found["small", None].per_bet
    assert Fraction(*found["all", None].per_bet) == 1 - 176 * everything == Fraction(10207263466, 136745788725)
    assert per_cent(found["small", None].per_bet) == "7.761 %"
    assert per_cent(found["all", None].per_bet) == "7.464 %"


def test_a_bet_that_collects_two_totals_by_hand() -> None:
    """2 and 12 before 7: a first of them 2/8, the other 1/7, so 1/28; 36/8 rolls, and 36/7 more in 2/8."""
    data = side_bets()
    data["bets"]["small"].update(collect=["2", "12"], pays=[26, 1])
    edge = edges_of(data)["small", None]
    assert edge.per_bet == edge.per_decision == (1, 28)
    assert Fraction(*edge.per_roll) == Fraction(1, 28) / (Fraction(36, 8) + Fraction(2, 8) * Fraction(36, 7))


def points_made() -> list[Fraction]:
    """The chances of 0 to 6 different points in a hand, by inclusion and exclusion over the points that may be made.

    Of the throws that set a point, 24, each number's share is made before seven with ways / (ways + 6).
    """
    made = {number: Fraction(WAYS[number], 24) * Fraction(WAYS[number], WAYS[number] + 6) for number in BOXES}
    seven_out = 1 - sum(made.values())
    chances = [Fraction(0)] * 7
    for size in range(7):
        for points in combinations(BOXES, size):
            for fewer in range(size + 1):
                for some in combinations(points, fewer):
                    none_else = seven_out / (1 - sum((made[number] for number in some), Fraction(0)))
                    chances[size] += (-1) ** (size - fewer) * none_else
    return chances


def test_fire() -> None:
    """Ethier, through Catlin: 0.593939, 0.260750, 0.101275, 0.033434 and 0.008798 for none to four points."""
    chances = points_made()
    published = (0.593939393939, 0.260750492004, 0.101275355549, 0.033434212179, 0.008798178440)
    assert [round(float(chance), 12) for chance in chances[:5]] == list(published)
    edge = edges_of(side_bets())["fire", None]
    exact = Fraction(3155010189076512755518373649266277142847, 15195531003242259962803834074351444164892)
    assert Fraction(*edge.per_bet) == 1 - 25 * chances[4] - 250 * chances[5] - 1000 * chances[6] == exact
    assert edge.per_decision == edge.per_bet
    assert per_cent(edge.per_bet) == "20.763 %"


def test_a_hand_lasts_8_and_a_half_rolls() -> None:
    """Ethier: 1671/196 rolls on average to the seven-out. A Fire bet ends there unless the sixth point ends it before,
    which is in 1 of 6156, so 8.5245 rolls at the most."""
    edge = edges_of(side_bets())["fire", None]
    rolls = Fraction(*edge.per_bet) / Fraction(*edge.per_roll)
    # Had the sixth point not ended it, another hand would have followed.
    assert rolls == Fraction(1671, 196) * (1 - points_made()[6])


def test_the_houses_other_bets() -> None:
    found = edges_of(side_bets())
    # 1 x 5 against 6 in 7; 25 + 8 lose against 9 + 6 + 12.
    assert found["twelve_before_seven", None][2:] == ((1, 7), (1, 7), (1, 36))
    assert found["aces_or_high_doubles", None].per_bet == (1, 6)


@pytest.mark.parametrize(
    "bet",
    [
        {"stage": "multi_roll", "name": "Nothing", "win": {}, "lose": [], "source": "house"},
        {"stage": "one_roll", "name": "Nothing", "win": {}, "lose": [], "push": [str(n) for n in range(2, 13)]},
        {
            "stage": "collect",
            "name": "Nothing",
            "placed": "any",
            "pays": [1, 1],
            "lose": ["2-2"],
            "collect": ["2", "4", "2"],
        },
    ],
)
def test_a_bet_that_is_never_decided_has_no_edge(bet: dict[str, Any]) -> None:
    data = side_bets()
    data["bets"]["twelve_before_seven"] = {"source": "house", **bet}
    with pytest.raises(NeverDecided, match="twelve_before_seven"):
        edges_of(data)


def test_per_cent_is_rounded_to_three_decimals_in_whole_numbers() -> None:
    shares = {
        (7, 495): "1.414 %",
        (0, 1): "0.000 %",
        (-5, 3): "-166.667 %",
        (1, 200000): "0.001 %",
        (-1, 200001): "0.000 %",
        (1, 1): "100.000 %",
    }
    assert {share: per_cent(share) for share in shares} == shares


def test_the_edges_are_the_same_under_micropython() -> None:
    code = f"""
import json, sys
sys.path.insert(0, {str(HERE.parent)!r})
from engine_lite.house_edge import house_edges
from engine_lite.rule_compiler import compile_rules
for path in {[str(SIDE_BETS), rule_sets.path("pe-1999")]!r}:
    with open(path) as file:
        for edge in house_edges(compile_rules(json.load(file))):
            print(edge[0], edge[1], edge[2], edge[3], edge[4])
"""
    outputs = [
        subprocess.run([python, "-c", code], capture_output=True, check=True).stdout
        for python in (MICROPYTHON, sys.executable)
    ]
    assert outputs[0] == outputs[1]
    assert outputs[0].count(b"\n") > 100
