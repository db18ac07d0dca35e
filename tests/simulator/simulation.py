"""One seed, one run: a table is played at while everything goes wrong, then all is healed and must be right."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

from device.dice_control import dice_rules
from device.event import Event
from device.journal import JournalReader
from device.journal_verification import verify
from device.session import Session
from device.settings import Settings
from drivers.wiring import DEFAULT_PINS, DICE_KEYS, Pin, Wiring
from engine_lite import rule_sets
from tests.simulator.dealer import Dealer, terms_from
from tests.simulator.ledger import Violation
from tests.simulator.machine import Machine, product_in
from tests.simulator.memory_folder import memory_folder
from tests.simulator.simulated_loop import BEGAN_S, NothingLeft, SimulatedLoop
from tests.simulator.troubles import Troubles

TABLE: Final = "craps-1"
HALTED_S: Final = 5.0
RESTART_S: Final = 2.0
ACCEPTS_WITHIN_S: Final = 60.0
DELIVERED_WITHIN_S: Final = 150.0
STEP_S: Final = 1.0
# Node reports are taken, pucks and lids settled and told by then.
QUIET_S: Final = 15.0

SLOTS_ON_NODE: Final = {f"slot_{n}": Pin("node", pin) for n, pin in enumerate((16, 17, 18, 19, 20, 21), start=1)}
KEYS_ON_HEADER: Final = {name: Pin("header", n) for name, n in zip(DICE_KEYS, (18, 23, 24, 25, 8, 7), strict=True)}
WIRINGS: Final = (
    Wiring({**DEFAULT_PINS, **SLOTS_ON_NODE}),
    Wiring(
        {name: pin for name, pin in DEFAULT_PINS.items() if pin.board == "header" and not name.startswith("lamp_")}
        | KEYS_ON_HEADER
    ),
)


@dataclass(frozen=True)
class Outcome:
    """What a seed led to. `violation` None: all was as it must be."""

    seed: int
    violation: str | None
    digest: str
    tail: list[str]
    struck: "Counter[str]"
    events: int
    simulated_s: float


def run_seed(seed: int) -> Outcome:
    """Run one seed, in a folder of its own in memory."""
    logging.disable(logging.CRITICAL)
    try:
        with memory_folder() as root:
            return _run(seed, root)
    finally:
        logging.disable(logging.NOTSET)


def _run(seed: int, root: Path) -> Outcome:
    random = Random(f"{seed} run")
    loop = SimulatedLoop(Random(f"{seed} loop"))
    machine = None
    violation: str | None = None
    asyncio.set_event_loop(loop)
    try:
        names = tuple(random.sample(rule_sets.NAMES, 2))
        terms = terms_from(random, names, rule_sets.load)
        wiring = random.choice((WIRINGS[0], WIRINGS[0], WIRINGS[1]))
        settings = Settings(
            "casino",
            TABLE,
            terms[0],
            wiring=wiring,
            node_port="usb:SIMULATED" if wiring.inputs("node") else None,
            dice_rules=dice_rules.load(random.choice(dice_rules.NAMES)),
        )
        machine = loop.run_until_complete(_machine(root, seed, loop, settings))
        loop.set_exception_handler(machine.note_error)
        run = Run(machine, random, Dealer(machine, Random(f"{seed} dealer"), terms))
        with product_in(machine, random.choice((6, 20, 60))):
            try:
                loop.run_until_complete(run.run())
            except (Violation, NothingLeft) as error:
                violation = f"{type(error).__name__}: {error}"
            finally:
                loop.run_until_complete(run.abandon())
        return Outcome(
            seed,
            violation,
            machine.trace.digest(),
            list(machine.trace.tail),
            machine.struck,
            machine.ledger.last_seq,
            loop.time() - BEGAN_S,
        )
    finally:
        if machine is not None:
            machine.close()
        asyncio.set_event_loop(None)
        loop.close()


async def _machine(root: Path, seed: int, loop: SimulatedLoop, settings: Settings) -> Machine:
    return Machine(root, seed, loop, settings)


class Run:
    """One run, from the first start to the last look."""

    def __init__(self, machine: Machine, random: Random, dealer: Dealer) -> None:
        self._machine = machine
        self._random = random
        self._dealer = dealer
        self._troubles = Troubles(machine, Random(f"{machine.random.random()} troubles"))
        self._beside: list[asyncio.Task[None]] = []
        self._former_snapshot: bytes | None = None
        # Many short lives find other things than few long ones.
        self._life_max_s = random.choice((5, 12, 30))

    async def run(self) -> None:
        """Raises Violation."""
        self._beside = [
            asyncio.create_task(self._dealer.play()),
            asyncio.create_task(self._troubles.strike()),
        ]
        for end in self._troubles.ends():
            await self._live(end)
        await self._heal()

    async def abandon(self) -> None:
        """Leave nothing running."""
        for task in self._beside:
            task.cancel()
        await asyncio.gather(*self._beside, return_exceptions=True)
        if self._machine.life is not None:
            with suppress(Violation):
                await self._machine.end("kill")

    # Trouble

    async def _live(self, end: Any) -> None:
        machine, random = self._machine, self._random
        if random.random() < 0.5 and end != "stop":
            # In the middle of an operation, counted from now on.
            machine.disk.cut_nth(int(random.expovariate(1 / 80)) + 1, random.choice(("any", "write", "sync", "sync")))
        if machine.start():
            is_halted = await self._until_over(random.uniform(1, self._life_max_s))
            if is_halted and random.random() < 0.7:
                # Somebody starts the program again, on a machine that ran on.
                end = "kill"
        elif not machine.disk.dead:
            await self._pass(RESTART_S)
            machine.disk.heal()
        if machine.disk.dead and end == "stop":
            end = "power cut"
        await machine.end(end)
        if random.random() < 0.3:
            self._former_snapshot = machine.replace_snapshot(self._former_snapshot) or self._former_snapshot
        await self._pass(random.uniform(0.1, 10))

    async def _until_over(self, duration_s: float) -> bool:
        """Live for so long, until the power goes, or until somebody sees that it is halted for good; whether it is."""
        machine = self._machine
        life = machine.life
        assert life is not None
        halted_s = 0.0
        ends_s = machine.loop.time() + duration_s
        while machine.loop.time() < ends_s and not life.over.is_set() and halted_s < HALTED_S:
            with suppress(TimeoutError):
                async with asyncio.timeout(min(STEP_S, max(0.001, ends_s - machine.loop.time()))):
                    await life.over.wait()
            self._look_after()
            halted_s = halted_s + STEP_S if self._is_halted_for_good() else 0.0
        is_halted = halted_s >= HALTED_S
        machine.struck["halted for good"] += is_halted
        return is_halted

    def _is_halted_for_good(self) -> bool:
        terminal = self._machine.terminal
        return terminal is not None and terminal.state["halted"] is not None and not terminal._recorder.is_full

    def _look_after(self) -> None:
        """Raise what went wrong beside."""
        if self._machine.failure is not None:
            raise self._machine.failure
        for task in self._beside:
            if task.done() and not task.cancelled():
                task.result()

    async def _pass(self, duration_s: float) -> None:
        await asyncio.sleep(duration_s)
        self._look_after()

    # The end

    async def _heal(self) -> None:
        """From here on nothing goes wrong, and the table must be as if nothing ever had."""
        machine = self._machine
        self._beside[1].cancel()
        self._troubles.heal()
        machine.trace.note("healed")
        if not machine.start():
            raise Violation("the program does not start, though nothing is wrong any more")
        await self._within(ACCEPTS_WITHIN_S, self._accepts, "the table accepts a command")
        await self._pass(self._random.uniform(5, 15))
        self._dealer.is_leaving = True
        while not self._beside[0].done():
            await self._pass(STEP_S)
        await self._pass(QUIET_S)
        machine.ledger.check_keyed()
        self._check_hardware()
        self._check_states()
        await self._within(DELIVERED_WITHIN_S, self._is_delivered, "the centre holds the journal")
        await machine.end("stop")
        self._check_file()

    async def _within(self, limit_s: float, condition: Callable[[], Any], what: str) -> None:
        ends_s = self._machine.loop.time() + limit_s
        while not await condition():
            await self._pass(STEP_S)
            if self._machine.loop.time() > ends_s:
                raise Violation(f"not within {limit_s} s, though nothing is wrong: {what}")

    async def _accepts(self) -> bool:
        ledger = self._machine.ledger
        return await self._dealer.ask("take_back", False) and ledger.session.seq > 0

    async def _is_delivered(self) -> bool:
        machine = self._machine
        lines = machine.central.server.lines()
        if machine.central.has_second_unit:
            terminal = machine.terminal
            assert terminal is not None
            return terminal.state["uplink"]["state"] == "fenced" and machine.ledger.is_alert_told("uplink_fenced")
        if lines != machine.ledger.lines[: len(lines)]:
            raise Violation("the central log is not a beginning of the journal")
        return len(lines) == machine.ledger.last_seq

    def _check_hardware(self) -> None:
        """What the table knows of its hardware is how it is. Raises Violation."""
        hardware, hands = self._machine.ledger.session.hardware, self._machine.hands
        puck = hardware.puck(1)
        seen = puck.position if puck.state == "in_place" else None
        if seen != hands.puck:
            raise Violation(f"the puck is at {hands.puck}, the table has it {puck}")
        if hardware.lid_open != hands.lid_open:
            raise Violation(f"the lid is open: {hands.lid_open}, the table has it {hardware.lid_open}")
        occupied = [slot for slot, there in enumerate(hands.occupied, start=1) if there]
        if hands.occupied and hardware.slots != occupied:
            raise Violation(f"the slots {occupied} hold dice, the table has it {hardware.slots}")
        node = self._machine.node
        if node is not None and node.waiting:
            raise Violation(f"the node still keeps {node.waiting} reports")

    def _check_states(self) -> None:
        terminal = self._machine.terminal
        assert terminal is not None
        self._machine.ledger.check_session(terminal._session)

    def _check_file(self) -> None:
        """The journal is whole and signed, and a replay of it is what all had been told. Raises Violation."""
        machine = self._machine
        session = Session()
        with JournalReader(machine.journal_path) as reader:
            machine.ledger.check_journal(reader)
            result = verify(reader, lambda _done, _of: None)
            if not result.is_good or result.last_seq != machine.ledger.last_seq:
                raise Violation(f"the journal does not verify: {result}")
            for event in reader.events():
                _replay(session, event)
        machine.ledger.check_session(session)


def _replay(session: Session, event: Event) -> None:
    session.replay(event.seq, event.type, event.data)
