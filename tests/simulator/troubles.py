"""What goes wrong in a simulated run, and when: each run has some kinds of trouble, from its seed."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import Final

from tests.simulator.machine import End, Machine
from tests.simulator.simulated_disk import FaultKind
from tests.simulator.simulated_space import KIB

YEAR_NS: Final = 365 * 86_400 * 10**9
ERRORS: Final[tuple[FaultKind, ...]] = ("write", "truncate", "sync", "delete", "any")


class Troubles:
    """Faults of disk, clock, network, node and contacts; `ends` says how each run of the program ends."""

    def __init__(self, machine: Machine, random: Random) -> None:
        self._machine = machine
        self._random = random
        kinds: dict[str, Callable[[], Awaitable[None]]] = {
            "clock": self._clock,
            "network": self._network,
            "lost tail": self._lost_tail,
            "disk error": self._disk_error,
            "disk full": self._disk_full,
        }
        if machine.node is not None:
            kinds |= {"node cable": self._node_cable, "node power": self._node_power, "node line": self._node_line}
        # Not all of it in every run: much of one hides another.
        self._kinds = [kind for name, kind in kinds.items() if random.random() < 0.5]
        self._has_second_unit = random.random() < 0.04
        machine.chance_of_stall = random.choice((0.0, 0.0, 0.01, 0.05))
        if random.random() < 0.3:
            for name in random.sample(sorted(machine.settings.wiring.inputs("header")), 3):
                machine.hands.let_bounce(name, random.randrange(1000))

    def ends(self) -> list[End]:
        """How the runs of the program end, one after the other."""
        count = self._random.randint(2, 5)
        return self._random.choices(("power cut", "kill", "stop"), (6, 2, 2), k=count)

    async def strike(self) -> None:
        """Go on for ever."""
        while True:
            await asyncio.sleep(self._random.expovariate(0.2))
            if self._has_second_unit and self._random.random() < 0.2:
                self._has_second_unit = False
                self._machine.central.second_unit_writes()
                self._note("network: second unit")
            if self._kinds:
                await self._random.choice(self._kinds)()

    def heal(self) -> None:
        """Everything works again."""
        machine = self._machine
        machine.chance_of_stall = 0.0
        machine.disk.heal()
        machine.disk.bytes_free = None
        machine.central.network = type(machine.central.network)()
        node = machine.node
        if node is not None:
            node.line.damage = 0.0
            node.line.plug(True)
            if not node.is_on:
                node.power(True)

    def _note(self, what: str) -> None:
        self._machine.struck[what] += 1
        self._machine.trace.note(f"trouble: {what}")

    async def _clock(self) -> None:
        clocks, random = self._machine.clocks, self._random
        if random.random() < 0.4:
            clocks.is_synced = not clocks.is_synced
            self._note("clock synced" if clocks.is_synced else "clock free")
            return
        step_ns = int(
            random.choice((-1, 1)) * random.choice((10**9, 3600 * 10**9, YEAR_NS, 8 * YEAR_NS)) * random.random()
        )
        clocks.step_ns = max(-50 * YEAR_NS, min(70 * YEAR_NS, clocks.step_ns + step_ns))
        self._note("clock step back" if step_ns < 0 else "clock step ahead")

    async def _network(self) -> None:
        central, random = self._machine.central, self._random
        network = central.network
        match random.choice(("cut", "down", "half-open", "unsure", "slow", "good")):
            case "cut":
                central.cut()
                self._note("network: link cut")
            case "down":
                network.is_down = True
                central.cut()
                self._note("network: server down")
                await asyncio.sleep(random.uniform(0.5, 15))
                network.is_down = False
            case "half-open":
                network.is_half_open = True
                self._note("network: half-open")
                await asyncio.sleep(random.uniform(0.5, 15))
                network.is_half_open = False
            case "unsure":
                network.lost_request, network.lost_answer, network.doubled, network.late = (
                    random.choice((0.0, 0.1, 0.3)) for _ in range(4)
                )
            case "slow":
                network.latency_max_s = random.choice((0.3, 2.0))
                self._note("network: slow")
            case _:
                central.network = type(network)()

    async def _lost_tail(self) -> None:
        central = self._machine.central
        if central.server.messages and self._random.random() < 0.4:
            central.server.lose_tail(self._random.randint(1, 6), purged=self._random.random() < 0.3)
            self._note("network: server lost its tail")

    async def _disk_error(self) -> None:
        disk, random = self._machine.disk, self._random
        kind = random.choice(ERRORS)
        disk.fail_nth(random.randint(1, 12), kind, lasting=random.random() < 0.3)

    async def _disk_full(self) -> None:
        disk, random = self._machine.disk, self._random
        if disk.bytes_free is not None:
            return
        if random.random() < 0.2:
            disk.fail_nth(random.randint(1, 8), "full", lasting=random.random() < 0.5)
            await asyncio.sleep(random.uniform(1, 10))
            disk.heal()
            return
        disk.bytes_free = random.choice((0, 4 * KIB, 60 * KIB, 200 * KIB)) + random.randrange(4 * KIB)
        self._note("disk full")
        await asyncio.sleep(random.uniform(2, 20))
        # The machine may have another disk object by now: the room is that of the same card.
        self._machine.disk.bytes_free = None
        self._note("room again")

    async def _node_cable(self) -> None:
        node = self._machine.node
        assert node is not None
        node.line.plug(False)
        self._note("node: cable out")
        await asyncio.sleep(self._random.choice((0.1, 1.0, 8.0)) * self._random.uniform(0.5, 2))
        node.line.plug(True)

    async def _node_power(self) -> None:
        node, ledger = self._machine.node, self._machine.ledger
        assert node is not None
        ledger.forgetful_boots.add(node.boot_id)
        node.power(False)
        self._note("node: restart")
        await asyncio.sleep(self._random.choice((0.0, 0.5, 6.0)) * self._random.uniform(0.5, 2))
        node.power(True)

    async def _node_line(self) -> None:
        node = self._machine.node
        assert node is not None
        node.line.damage = self._random.choice((0.0005, 0.005))
        self._note("node: noise")
        await asyncio.sleep(self._random.uniform(1, 10))
        node.line.damage = 0.0
