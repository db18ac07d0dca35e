"""Rolls a second for pass line, double odds, place 6 and 8, beside crapssim on the same dice."""

import random
import time

from crapssim.strategy.odds import PassLineOddsMultiplier
from crapssim.strategy.single_bet import BetPassLine, BetPlace, StrategyMode
from crapssim.table import Table as CrapssimTable

from engine_lite import rule_sets
from engine_lite.rule_compiler import compile_rules
from engine_lite.table import Table

ROLLS = 100_000
CRAPSSIM_ROLLS = 20_000
SEED = 7


def settlement_speed() -> list[tuple[str, str]]:
    """Rolls a second of both, one core each, one after the other."""
    chance = random.Random(SEED)
    dice = [(chance.randint(1, 6), chance.randint(1, 6)) for _ in range(ROLLS)]
    ours = ROLLS / _seconds_of_boxman(dice)
    theirs = CRAPSSIM_ROLLS / _seconds_of_crapssim(dice[:CRAPSSIM_ROLLS])
    return [
        ("rolls a second, boxman", f"{ours:,.0f}"),
        ("rolls a second, crapssim", f"{theirs:,.0f}"),
        ("boxman / crapssim", f"{ours / theirs:.1f}"),
    ]


def _seconds_of_boxman(dice: list[tuple[int, int]]) -> float:
    table = Table(compile_rules(rule_sets.load("us-vegas")), 1, 1, 10_000)
    started = time.perf_counter()
    standing: set[str] = set()
    for first, second in dice:
        if table.point is None:
            if "pass_line" not in standing:
                table.place("1", "pass_line", 10)
                standing.add("pass_line")
        else:
            if "pass_odds" not in standing:
                table.place("1", "pass_odds", 20)
                standing.add("pass_odds")
            if "place 6" not in standing:
                table.place("1", "place", 12, 6)
                standing.add("place 6")
            if "place 8" not in standing:
                table.place("1", "place", 12, 8)
                standing.add("place 8")
        for result in table.roll(first, second):
            if result["kind"] != "place":
                standing.discard(result["kind"])
            elif result["result"] == "lose":
                standing.discard(f"place {result['number']}")
    return time.perf_counter() - started


def _seconds_of_crapssim(dice: list[tuple[int, int]]) -> float:
    table = CrapssimTable()
    strategy = (
        BetPassLine(10)
        + PassLineOddsMultiplier(2)
        + BetPlace({6: 12, 8: 12}, mode=StrategyMode.BET_IF_POINT_ON, skip_point=False)
    )
    table.add_player(bankroll=10**9, strategy=strategy)
    started = time.perf_counter()
    table.fixed_run(dice, verbose=False)
    return time.perf_counter() - started
