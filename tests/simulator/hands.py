"""What hands move at the simulated table: contacts on the header and on the node, whether a program looks or not."""

import asyncio
from random import Random
from typing import Any

from drivers.signals import BOXES, POSITIONS
from drivers.virtual_contact import Contact
from drivers.virtual_faults import Fault
from drivers.virtual_pins import VirtualPinFactory
from drivers.wiring import DICE_KEYS, GROUPS, Wiring
from tests.simulator.ledger import Keyed, Ledger, What
from tests.simulator.simulated_loop import SimulatedLoop
from tests.simulator.simulated_node import SimulatedNode

HOLD_S = 2.3
# What was moved has settled by then, on header and node alike.
SETTLED_S = 0.3
# A first die that nothing follows is given up after ten seconds.
ABANDONED_S = 11.0


class Hands:
    """The table's contacts, by name. They stay as they are while programs come and go."""

    def __init__(
        self, loop: SimulatedLoop, random: Random, wiring: Wiring, node: SimulatedNode | None, ledger: Ledger
    ) -> None:
        self._loop = loop
        self._random = random
        self._wiring = wiring
        self._node = node
        self._ledger = ledger
        self._contacts = {name: Contact(name) for name in wiring.inputs("header")}
        self._node_pins = wiring.inputs("node")
        self._factory: Any = None
        self.puck: int | str | None = "off"
        self.lid_open = False
        self.occupied = [True] * len(wiring.group("slots"))
        self._show()

    def new_header(self) -> Any:
        """A pin factory for a program that starts; the contacts are wired to it."""
        self._factory = VirtualPinFactory()
        for name, number in self._wiring.inputs("header").items():
            self._factory.pin(number).connect(self._contacts[name], self._now_ms)
        return self._factory

    def let_bounce(self, name: str, seed: int) -> None:
        """Let a contact of the header bounce from now on."""
        if name in self._contacts:
            self._contacts[name].set_fault(Fault("bounce", name, seed))

    def move_puck(self, to: int | str | None) -> None:
        """Put the puck on a box with its ON face up, or on its own place; None lifts it."""
        self.puck = to
        self._show()

    def move_lid(self, is_open: bool) -> None:
        """Open or shut the reserve."""
        self.lid_open = is_open
        self._show()

    def move_die(self, slot: int, occupied: bool) -> None:
        """Put a die into a place of the reserve (from 0), or take it out."""
        self.occupied[slot] = occupied
        self._show()

    async def press(self, name: str, duration_s: float | None = None) -> None:
        """Press a button or key."""
        self._set(name, True)
        await asyncio.sleep(self._random.uniform(0.06, 0.3) if duration_s is None else duration_s)
        self._set(name, False)
        await asyncio.sleep(self._random.uniform(0.06, 0.5))

    async def key_dice(self, first: int, second: int) -> None:
        """Key a roll on the dice keys."""
        begun = self._begun()
        await self.press(DICE_KEYS[first - 1])
        await self.press(DICE_KEYS[second - 1])
        await self._keyed("pair", (first, second), *begun)

    async def key_one_die(self, die: int) -> None:
        """Key a single die, and no other."""
        begun = self._begun()
        await self.press(DICE_KEYS[die - 1])
        await self._keyed("lone die", (die,), *begun)

    async def hold_key(self, key: int) -> None:
        """Hold dice key 1 (take back) or 2 (new shooter)."""
        begun = self._begun()
        await self.press(DICE_KEYS[key - 1], HOLD_S)
        await self._keyed("hold", (key,), *begun)

    @property
    def node_boot_id(self) -> int:
        """The boot of the node, 0 where it does not look at its keys."""
        return self._begun()[1]

    def _begun(self) -> tuple[float, int, int]:
        """Now, the node's boot (0: it does not look at its keys) and its last report."""
        if self._node is None or not self._node.is_configured:
            return self._loop.time(), 0, 0
        return self._loop.time(), self._node.boot_id, self._node.last_number

    async def _keyed(self, what: What, dice: tuple[int, ...], began_s: float, boot_id: int, before: int) -> None:
        await asyncio.sleep(SETTLED_S)
        if DICE_KEYS[0] not in self._node_pins:
            return
        now_s, boot_id_now, last = self._begun()
        if boot_id and boot_id == boot_id_now:
            self._ledger.keyed.append(Keyed(what, dice, began_s, now_s, boot_id, before + 1, last))
        else:
            # The node was not there all the time, and may have seen one of two dice.
            await asyncio.sleep(ABANDONED_S)

    def _show(self) -> None:
        """Let the contacts be as puck, lid and dice are; a puck is lifted before it is put down."""
        closed = {"lid": not self.lid_open}
        closed |= {f"slot_{n}": there for n, there in enumerate(self.occupied, start=1)}
        for position, name in zip(POSITIONS, GROUPS["puck"], strict=True):
            closed[name] = self.puck == position
        for name, is_closed in sorted(closed.items(), key=lambda item: item[1]):
            self._set(name, is_closed)

    def _set(self, name: str, closed: bool) -> None:
        if name in self._node_pins and self._node is not None:
            self._node.set(self._node_pins[name], closed)
        elif name in self._contacts:
            self._contacts[name].move(closed, self._now_ms())
            if self._factory is not None:
                self._factory.pin(self._wiring.pins[name].number).look()

    def _now_ms(self) -> int:
        return int(self._loop.time() * 1000)


def right_place(point: int | None) -> int | str:
    """Where the puck belongs."""
    assert point is None or point in BOXES
    return "off" if point is None else point
