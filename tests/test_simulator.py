"""A few hundred seeds of the simulator; `make sim` runs thousands. A failing one is had again with `make sim SEED=`."""

import asyncio
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from device.settings import Settings
from device.table_terms import TableTerms
from engine_lite import rule_sets
from tests.simulator.machine import Machine, product_in
from tests.simulator.memory_folder import memory_folder
from tests.simulator.simulated_loop import SimulatedLoop
from tests.simulator.simulation import WIRINGS, run_seed

ROOT = Path(__file__).resolve().parent.parent
# In blocks, so that they run beside each other.
BLOCK = 20
BLOCKS = 10


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


def test_the_second_die_of_a_throw_that_the_screen_entered_is_none_of_the_next_though_the_program_was_killed() -> None:
    """What chance brings about once in thousands of seeds."""
    loop = SimulatedLoop(Random("second die"))
    asyncio.set_event_loop(loop)
    terms = TableTerms(rule_sets.load("us-vegas"), {}, 1, 1, 1000)
    settings = Settings("casino", "craps-1", terms, wiring=WIRINGS[0], node_port="usb:SIMULATED")

    async def made(root: Path) -> Machine:
        return Machine(root, 1, loop, settings)

    async def play(machine: Machine) -> None:
        assert machine.start()
        await asyncio.sleep(5)
        await machine.hands.key_one_die(3)
        terminal = machine.terminal
        assert terminal is not None
        assert terminal.state["pending_die"] == 3
        await terminal.command({"roll": [3, 5]}, "roll")
        await machine.end("kill")
        assert machine.start()
        await machine.hands.key_one_die(5)
        terminal = machine.terminal
        assert terminal is not None
        assert terminal.state["pending_die"] is None
        await machine.hands.key_dice(6, 1)
        await asyncio.sleep(5)
        assert terminal._session.recent_rolls == [[3, 5], [6, 1]]
        await machine.end("stop")

    try:
        with memory_folder() as root:
            machine = loop.run_until_complete(made(root))
            with product_in(machine, 20):
                loop.run_until_complete(play(machine))
            machine.close()
    finally:
        asyncio.set_event_loop(None)
        loop.close()
