"""Looks at a table's inputs when it is worth it, hands on what they say, and shows the lamps."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from drivers.table_inputs import Received, TableInputs

# However fast a line bounces, the table does other things between two looks at it.
LOOK_MIN_S = 0.002
# A node that is there has said so by then; until then its silence is no alarm.
NODE_GREETING_S = 5.0


class InputReader:
    """Reads one TableInputs in the event loop. `look` is set, from whatever side, when a look is worth it."""

    def __init__(
        self,
        inputs: TableInputs,
        look: asyncio.Event,
        take: Callable[[Received], Awaitable[None]],
        tell_node: Callable[[dict[str, Any]], None],
    ) -> None:
        """`take` gets all that the inputs say, in order; `tell_node` how the node is, whenever it was looked at."""
        self._inputs = inputs
        self._look = look
        self._take = take
        self._tell_node = tell_node
        self._loop = asyncio.get_running_loop()
        self._node_met = False

    async def run(self, version: Callable[[], int], lamps: Callable[[], Mapping[str, bool]]) -> None:
        """Look whenever something may have changed, and at a steady pace for what no edge told of.

        `lamps` says which are to be lit; it is asked when `version` has changed.
        """
        inputs, clock = self._inputs, self._loop.time
        started = clock()
        version_shown = -1
        fileno: int | None = None
        try:
            while True:
                self._look.clear()
                for received in inputs.poll(int(clock() * 1000)):
                    await self._take(received)
                fileno = self._follow_line(fileno, inputs.node_fileno())
                self._note_node(inputs.node_state, clock() - started)
                if version() != version_shown:
                    version_shown = version()
                    inputs.set_lamps(lamps())
                await asyncio.sleep(LOOK_MIN_S)
                with suppress(TimeoutError):
                    async with asyncio.timeout(inputs.pace_ms / 1000):
                        await self._look.wait()
        finally:
            self._follow_line(fileno, None)

    def _follow_line(self, former: int | None, current: int | None) -> int | None:
        """Look when the node says something; its descriptor changes when the port is opened anew."""
        if former != current:
            if former is not None:
                self._loop.remove_reader(former)
            if current is not None:
                self._loop.add_reader(current, self._look.set)
        return current

    def _note_node(self, state: str, running_s: float) -> None:
        if state == "offline" and not self._node_met and running_s < NODE_GREETING_S:
            state = "connecting"
        self._node_met = self._node_met or state == "online"
        self._tell_node({"state": state})
