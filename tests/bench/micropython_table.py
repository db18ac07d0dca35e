"""Times a full table on the runtime that runs this: arguments are the project's folder, a rule set and what to do.

The last argument says what: "speed" prints `seven_us` and `average_us`, the microseconds of one roll with 288 bets on
the layout, the median of sevens that decide most and the mean over random dice, and `decided`, how many the seven
decides; "memory" prints `rules_bytes`, the memory of the core and the rule set, and `table_bytes`, what the bets of a
full table and its last roll take besides. Times on MicroPython hold the collecting of garbage.
"""

import gc
import sys
import time

try:
    from typing import TYPE_CHECKING
except ImportError:  # MicroPython has no typing
    TYPE_CHECKING = False  # type: ignore[misc]
if TYPE_CHECKING:
    from tests.micropython_full_table import FullTable

SEVENS = 30
RANDOM_ROLLS = 300


def now_us() -> int:
    """Microseconds of a clock that does not go back."""
    if hasattr(time, "ticks_us"):
        ticks: int = time.ticks_us()
        return ticks
    return time.perf_counter_ns() // 1000


def in_use() -> int:
    """Bytes of memory in use: MicroPython's heap, or what CPython has allocated since `tracemalloc` was started."""
    gc.collect()
    if hasattr(gc, "mem_alloc"):
        heap: int = gc.mem_alloc()
        return heap
    import tracemalloc

    return tracemalloc.get_traced_memory()[0]


def memory(root: str, name: str) -> "dict[str, int]":
    """Bytes of the core with its rule set, and of the full table after a hundred rolls."""
    from tests.micropython_full_table import Dice, FullTable, close, node_rules

    if sys.implementation.name != "micropython":
        import tracemalloc

        tracemalloc.start()
    before = in_use()
    rules = node_rules(root, name)
    from engine_lite.table import Table

    with_rules = in_use()
    full = FullTable(rules, Table(rules, 1, 5, 500))
    dice = Dice(7)
    for _ in range(100):
        full.play(dice.throw(), dice.throw())
    close(full)
    return {"rules_bytes": with_rules - before, "table_bytes": in_use() - with_rules}


def timed_roll(full: "FullTable", first: int, second: int) -> "tuple[int, int]":
    """Microseconds of one roll, and how many bets it decided or moved."""
    started = now_us()
    results = full.table.roll(first, second)
    ended = now_us()
    full.note(results)
    return ended - started, len(results)


def speed(root: str, name: str) -> "dict[str, int]":
    """Microseconds of a seven and of an average roll, and how many bets the seven decides."""
    from tests.micropython_full_table import Dice, FullTable, close, node_rules

    rules = node_rules(root, name)
    from engine_lite.table import Table

    full = FullTable(rules, Table(rules, 1, 5, 500))
    dice = Dice(7)
    sevens, decided, random_us = [], 0, 0
    for _ in range(SEVENS):
        close(full)
        seven_us, decided = timed_roll(full, 3, 4)
        sevens.append(seven_us)
        full.put_down()
    for _ in range(RANDOM_ROLLS):
        random_us += timed_roll(full, dice.throw(), dice.throw())[0]
        full.put_down()
    return {
        "seven_us": sorted(sevens)[SEVENS // 2],
        "average_us": random_us // RANDOM_ROLLS,
        "decided": decided,
    }


def main(root: str, name: str, what: str) -> "dict[str, int]":
    """Measure `what`; tracing CPython's memory would spoil the times of the same run."""
    if hasattr(gc, "threshold"):
        # From the first import on: what compiling leaves behind must not break up the heap.
        gc.threshold(8192)
    sys.path.insert(0, root)
    return speed(root, name) if what == "speed" else memory(root, name)


if __name__ == "__main__":
    import json

    print(json.dumps(main(sys.argv[1], sys.argv[2], sys.argv[3])))
