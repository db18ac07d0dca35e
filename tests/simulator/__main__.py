"""Runs seeds on all cores: `python -m tests.simulator --seeds 1000`, or one of them again with `--seed 123`."""

import argparse
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

from tests.simulator.simulation import Outcome, run_seed

BAR_WIDTH = 40
TAIL_WIDTH = 400
CHUNK = 4


def main() -> int:
    """The exit status: 1 when a seed was violated."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulator", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1000, help="how many seeds to run")
    parser.add_argument("--first", type=int, default=1, help="the first of them")
    parser.add_argument("--seed", type=int, help="run this one alone, and show what happened at its end")
    chosen = parser.parse_args()
    if chosen.seed is not None:
        outcome = run_seed(chosen.seed)
        _show(outcome)
        print(f"seed {outcome.seed}: {outcome.events} events in {outcome.simulated_s:.0f} s, trace {outcome.digest}")
        print(outcome.violation or "no violation")
        return int(outcome.violation is not None)
    return _run_all(range(chosen.first, chosen.first + chosen.seeds))


def _run_all(seeds: range) -> int:
    struck: Counter[str] = Counter()
    runs_struck: Counter[str] = Counter()
    violated, events, simulated_s = 0, 0, 0.0
    began_s = time.monotonic()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for done, outcome in enumerate(pool.map(run_seed, seeds, chunksize=CHUNK), start=1):
            struck.update(outcome.struck)
            runs_struck.update(outcome.struck.keys())
            events += outcome.events
            simulated_s += outcome.simulated_s
            if outcome.violation is not None:
                violated += 1
                _clear()
                _show(outcome)
                print(f"make sim SEED={outcome.seed}   # {outcome.violation}", flush=True)
            _progress(done, len(seeds), violated, time.monotonic() - began_s)
    _clear()
    print(f"{'what happened':32} {'times':>8} {'in runs':>8}")
    for what, times in sorted(struck.items()):
        print(f"{what:32} {times:8} {runs_struck[what]:8}")
    took_s = time.monotonic() - began_s
    print(f"{len(seeds)} seeds, {events} events, {simulated_s / 3600:.1f} simulated hours in {took_s:.0f} s: ", end="")
    print(f"{violated} with a violation" if violated else "no violation")
    return int(violated > 0)


def _show(outcome: Outcome) -> None:
    for line in outcome.tail:
        print(line[:TAIL_WIDTH])


def _progress(done: int, of: int, violated: int, took_s: float) -> None:
    if sys.stderr.isatty():
        full = BAR_WIDTH * done // of
        left_s = took_s / done * (of - done)
        bar = "#" * full + "." * (BAR_WIDTH - full)
        print(
            f"\r[{bar}] {done}/{of} seeds, {violated} violated, {left_s:.0f} s left ",
            end="",
            file=sys.stderr,
            flush=True,
        )


def _clear() -> None:
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
