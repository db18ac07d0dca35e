"""A few hundred seeds of the simulator; `make sim` runs thousands. A failing one is had again with `make sim SEED=`."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.simulator.simulation import run_seed

ROOT = Path(__file__).resolve().parent.parent
# In blocks, so that they run beside each other.
BLOCK = 20
BLOCKS = 5


@pytest.mark.parametrize("block", range(BLOCKS))
def test_nothing_told_is_lost_whatever_happens(block: int) -> None:
    struck: Counter[str] = Counter()
    for seed in range(1 + block * BLOCK, 1 + (block + 1) * BLOCK):
        outcome = run_seed(seed)
        assert outcome.violation is None, f"make sim SEED={seed}   # {outcome.violation}"
        struck.update(outcome.struck)
    # A simulator in which nothing goes wrong proves nothing.
    for what in ("power cut", "kill", "stop", "start from a snapshot", "start from event 1", "disk full"):
        assert struck[what] > 0, f"{what} never happened"


@pytest.mark.parametrize("seed", [1, 16])
def test_a_seed_is_the_same_run_every_time(seed: int) -> None:
    """In another process, with another order of sets: whatever that changes is no part of the seed."""
    digests = {run_seed(seed).digest}
    for hash_seed in ("1", "2"):
        program = f"from tests.simulator.simulation import run_seed; print(run_seed({seed}).digest)"
        run = subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        )
        digests.add(run.stdout.strip())
    assert len(digests) == 1
