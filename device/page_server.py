"""The web server of a terminal's pages, where it listens, and the signals that end it."""

import asyncio
import errno
import signal
import socket
import sys
from collections.abc import Callable
from types import FrameType
from typing import Final

import uvicorn
from starlette.applications import Starlette

# Pages and programs that may be connected at once; more are told to come later.
CONNECTIONS_MAX: Final = 100
BACKLOG: Final = 16
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
# As Linux numbers it; the library does not name it.
_IP_FREEBIND: Final = 15


def listen(host: str, port: int, *, backlog: int = BACKLOG, free_bind: bool = False) -> socket.socket:
    """A socket that listens. Raises OSError.

    With `free_bind` the address need not be one of this computer yet (IP_FREEBIND of ip(7)).
    """
    # Named as TCP, so that asyncio turns Nagle's delay off: an answer must not wait for another packet.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if free_bind and sys.platform == "linux":
            listener.setsockopt(socket.IPPROTO_IP, _IP_FREEBIND, 1)
        listener.bind((host, port))
        # Two programs may bind one port before either listens; only one can listen.
        listener.listen(backlog)
    except OverflowError as error:
        listener.close()
        raise OSError(errno.EINVAL, str(error)) from error
    except OSError:
        listener.close()
        raise
    return listener


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
