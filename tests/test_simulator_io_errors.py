"""The Nth thing that a playing table asks of its disk fails, for N = 1, 2, 3 ... until nothing does.

Each time it stops taking anything on and says so, answers nothing as if it had been saved, and is right after the next
start. The journal alone is held to that in test_journal_io_errors.
"""

import asyncio
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

from device.journal import JournalReader
from device.journal_verification import verify
from device.recorder import Halted
from device.settings import Settings
from device.table_terms import TableTerms
from engine_lite import rule_sets
from tests.simulator.ledger import Asked, Violation
from tests.simulator.machine import End, Machine, product_in
from tests.simulator.memory_folder import memory_folder
from tests.simulator.simulated_loop import SimulatedLoop
from tests.simulator.simulation import WIRINGS

LOG_PAGES = 6
"""The log goes to the database in the middle of what is played."""
SETTINGS = Settings("casino", "craps-1", TableTerms(rule_sets.load("us-vegas"), {}, 1, 1, 1000), wiring=WIRINGS[1])
STEPS: tuple[dict[str, Any], ...] = (
    {"bet": {"player": "1", "kind": "pass_line", "amount": 10, "number": None}},
    {"roll": [3, 1]},
    {"bet": {"player": "2", "kind": "place", "amount": 12, "number": 6}},
    {"roll": [2, 2]},
)
STEP_S = 1.0
OPERATIONS_MIN = 60
"""What the table must at least ask of the disk for this test to mean anything."""
STOPPED = "Nothing is accepted any more. Call a technician. (the journal cannot be written: "


async def command(machine: Machine, number: int) -> bool:
    """Give step `number` under its name; whether it was answered as done. Raises Violation."""
    name = f"step-{number}"
    machine.ledger.commands.setdefault(name, Asked("command", (STEPS[number],)))
    assert machine.terminal is not None
    try:
        answer = await machine.terminal.command(STEPS[number], name)
    except Halted:
        return False
    machine.ledger.done(name, answer)
    return True


async def play_until_it_fails(machine: Machine) -> bool:
    """Play; whether the table stopped."""
    is_stopped = False
    for number in range(len(STEPS)):
        is_done = await command(machine, number)
        # A flush that failed is not made good by a later one.
        assert not (is_done and is_stopped)
        await asyncio.sleep(STEP_S)
        assert machine.terminal is not None
        said = machine.terminal.state["halted"]
        is_stopped = said is not None
        assert is_stopped or is_done
        assert said is None or said.startswith(STOPPED)
        assert machine.failure is None
    return is_stopped


async def run(machine: Machine, n: int, end: End) -> str:
    """The `n`th operation fails; the table ends and is started again. How it went before. Raises Violation."""
    try:
        machine.disk.fail_nth(n, "any")
        how = "not started"
        if machine.start():
            how = "stopped" if await play_until_it_fails(machine) else "played"
        machine.disk.heal()
        struck = any(what.startswith("failed ") for what in machine.disk.struck)
        await machine.end(end)
        assert machine.start()
        for number in range(len(STEPS)):
            # Under the same names, as a page asks again that got no answer: each of them is done once.
            assert await command(machine, number)
        await machine.end("stop")
        with JournalReader(machine.journal_path) as reader:
            machine.ledger.check_journal(reader)
            assert verify(reader, lambda _done, _of: None).is_good
        return how if struck else "no failure"
    finally:
        if machine.life is not None:
            with suppress(Violation):
                await machine.end("kill")


def outcome(n: int, end: End) -> str:
    """See `run`, in a machine of its own."""
    loop = SimulatedLoop(Random(n))
    asyncio.set_event_loop(loop)

    async def made(root: Path) -> Machine:
        return Machine(root, n, loop, SETTINGS)

    try:
        with memory_folder() as root:
            machine = loop.run_until_complete(made(root))
            try:
                with product_in(machine, LOG_PAGES):
                    return loop.run_until_complete(run(machine, n, end))
            finally:
                machine.close()
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def test_whichever_operation_fails_the_table_stops_says_so_and_loses_nothing() -> None:
    ends: tuple[End, ...] = ("kill", "power cut")
    outcomes: Counter[str] = Counter()
    while "no failure" not in outcomes:
        n = outcomes.total() + 1
        outcomes[outcome(n, ends[n % 2])] += 1
    assert outcomes.total() > OPERATIONS_MIN
    # A failure while the log goes to the database is none of what was written.
    assert outcomes.keys() == {"not started", "stopped", "played", "no failure"}
