"""Whether a table's central systems are reached, asked again and again beside a commissioning."""

import asyncio
import threading
from collections.abc import Sequence
from typing import Final, NoReturn

from device.uplink import CentralLog, CentralSystem
from device.uplink_protocol import DeliveryError

ASKED_EVERY_S: Final = 1.0
ANSWER_S: Final = 10.0


class _Reached(Exception):
    """The central log has told where it ends, so it takes this table's key."""


class CentreProbe:
    """Asks in a thread of its own, as the uplink does: with the table's key, where its log ends.

    `reached` says whether every system has answered the last time (False: none has; None: some, or nobody knows yet),
    `error` why one has not.
    """

    def __init__(self, systems: Sequence[CentralSystem]) -> None:
        self.reached: bool | None = None
        self.error: str | None = None
        self._systems = systems
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="centre probe", daemon=True)
        if systems:
            self._thread.start()

    def _run(self) -> None:
        while not self._closing.is_set():
            errors = asyncio.run(_ask(self._systems))
            failed = [error for error in errors if error is not None]
            self.error = failed[0] if failed else None
            self.reached = not failed if len(failed) in (0, len(errors)) else None
            self._closing.wait(ASKED_EVERY_S)

    def close(self) -> None:
        """Ask no more. One that is being asked now is not waited for."""
        self._closing.set()


async def _ask(systems: Sequence[CentralSystem]) -> list[str | None]:
    return list(await asyncio.gather(*(_why_not_reached(system) for system in systems)))


async def _why_not_reached(system: CentralSystem) -> str | None:
    try:
        async with asyncio.timeout(ANSWER_S):
            await system.use(_ask_end)
    except _Reached:
        return None
    except DeliveryError as error:
        return str(error)
    except TimeoutError:
        return f"no answer within {ANSWER_S:.0f} s"


async def _ask_end(central: CentralLog) -> NoReturn:
    await central.end()
    raise _Reached
