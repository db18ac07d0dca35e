"""What systemd is told of the terminal: that it starts, accepts play, lives and ends (sd_notify(3)).

Without a service manager nothing is told, and nothing here does anything.
"""

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

# A start that goes on is given so much more time, and says so no more often than that.
MORE_TIME_S = 60
TELL_AGAIN_S = 5.0
# Where the service manager has no watchdog, it still shows how the terminal is.
WITHOUT_WATCHDOG_S = 10.0
_STATUS_CHARACTERS_MAX = 200


class ServiceManager:
    """The service manager that `environment` names, if any."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._address = environment.get("NOTIFY_SOCKET", "")
        if self._address.startswith("@"):
            # The abstract name space of Linux.
            self._address = "\0" + self._address[1:]
        watchdog_us = environment.get("WATCHDOG_USEC", "")
        # Three times within what the watchdog allows, so that one late time does no harm.
        self._every_s = int(watchdog_us) / 3e6 if watchdog_us.isdecimal() else WITHOUT_WATCHDOG_S
        self._extended_s = -TELL_AGAIN_S

    def tell(self, *said: str) -> None:
        """Send assignments such as READY=1; a service manager that cannot be reached does not stop a table."""
        if not self._address:
            return
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)
            sender.sendto("\n".join(said).encode(), self._address)

    def still_starting(self, status: str) -> None:
        """The start goes on, however long it has taken; may be called as often as there is progress."""
        if time.monotonic() - self._extended_s >= TELL_AGAIN_S:
            self._extended_s = time.monotonic()
            # A start after a commissioning is none to the service manager, whose watchdog goes on.
            self.tell("WATCHDOG=1", f"EXTEND_TIMEOUT_USEC={MORE_TIME_S * 1_000_000}", _status(status))

    async def keep_told(self, why_not: Callable[[], Awaitable[str | None]], well: str = "accepts play") -> None:
        """Tell, until cancelled, that the terminal is ready once it accepts play, and from then on that it lives.

        `why_not` returns why nothing is accepted, or None when something just was; while it does not return, nothing
        is told, and the watchdog will bite. `well` is what is shown while there is no reason.
        """
        if not self._address:
            return
        ready = False
        while True:
            reason = await why_not()
            status = well if reason is None else reason
            if ready:
                self.tell("WATCHDOG=1", _status(status))
            elif reason is None:
                ready = True
                self.tell("READY=1", "WATCHDOG=1", _status(status))
            else:
                self.still_starting(status)
            await asyncio.sleep(self._every_s if ready else min(self._every_s, TELL_AGAIN_S))


def _status(text: str) -> str:
    """One line, or what follows would be taken for another assignment."""
    return f"STATUS={' '.join(text.split())[:_STATUS_CHARACTERS_MAX]}"
