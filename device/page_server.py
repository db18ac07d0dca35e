"""The web server of a terminal's pages, and the signals that end it."""

import asyncio
import signal
from collections.abc import Callable
from types import FrameType
from typing import Final

import uvicorn
from starlette.applications import Starlette

# Pages and programs that may be connected at once; more are told to come later.
CONNECTIONS_MAX: Final = 100
BACKLOG: Final = 16
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class PageServer(uvicorn.Server):
    """Serves until SIGINT or SIGTERM, or until `end`. It tells when a signal comes, so that nobody keeps it waiting."""

    def __init__(self, app: Starlette, on_signal: Callable[[], None]) -> None:
        """`on_signal` is called in the event loop."""
        super().__init__(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                lifespan="off",
                timeout_graceful_shutdown=1,
                backlog=BACKLOG,
                limit_concurrency=CONNECTIONS_MAX,
            )
        )
        self._on_signal = on_signal
        self.has_signal = False

    def end(self) -> None:
        """Let `serve` come to its end."""
        self.should_exit = True

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """See uvicorn.Server."""
        super().handle_exit(sig, frame)
        self.has_signal = True
        asyncio.get_running_loop().call_soon_threadsafe(self._on_signal)


def take_signals() -> None:
    """Keep SIGINT and SIGTERM from ending the process at once.

    The server takes them while it serves and ends on them; afterwards it raises them again for whoever was there
    before, and the journal's last event is still to be written then.
    """
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, lambda: None)


def give_signals_back() -> None:
    """Let SIGINT and SIGTERM end the process, until another server takes them."""
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.remove_signal_handler(number)
