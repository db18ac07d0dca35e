"""Where the console listens: always on this computer's own loopback address, and on that of its configuration.

The table's own screen and the commands on the same computer come by the first one, with a network or without. The other
may be given to the computer later, and taken from it again: no table waits for its network (IP_FREEBIND of ip(7)).
"""

import logging
import socket
import sys
from contextlib import ExitStack
from typing import Final

from device.assembly import StartError
from device.page_server import BACKLOG

log = logging.getLogger(__name__)

LOOPBACK: Final = "127.0.0.1"
# As Linux numbers it; the library does not name it.
_IP_FREEBIND: Final = 15


def listen_for_console(host: str, port: int) -> list[socket.socket]:
    """The console's sockets, to be had before anything else is started. Raises StartError.

    A name that nobody knows, as there may be no network yet, leaves the computer's own address until the next start.
    """
    with ExitStack() as until_all:
        listeners = [until_all.enter_context(listen(LOOPBACK, port))]
        address = _resolved(host)
        if address not in (None, LOOPBACK):
            if not _is_here(address):
                log.warning("console.host: this computer does not have %s yet; the console is at %s", address, LOOPBACK)
            # Where `port` is 0, both are at the one that was free.
            listeners.append(until_all.enter_context(listen(address, listeners[0].getsockname()[1], free_bind=True)))
        until_all.pop_all()
    return listeners


def _resolved(host: str) -> str | None:
    try:
        return socket.gethostbyname(host)
    except OSError as error:
        log.warning(
            "console.host: %s is not known (%s); the console is at %s alone until the next start", host, error, LOOPBACK
        )
        return None


def _is_here(address: str) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True


def listen(host: str, port: int, *, free_bind: bool = False) -> socket.socket:
    """A socket that listens. With `free_bind` the address need not be one of this computer yet. Raises StartError."""
    # Named as TCP, so that asyncio turns Nagle's delay off: an answer must not wait for another packet.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        if free_bind and sys.platform == "linux":
            listener.setsockopt(socket.IPPROTO_IP, _IP_FREEBIND, 1)
        listener.bind((host, port))
        # Two programs may bind one port before either listens; only one can listen.
        listener.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise StartError(
            f"the console cannot listen on {host} port {port} ({reason}); choose another port with --port"
        ) from error
    return listener
