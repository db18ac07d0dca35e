"""Where the console listens: always on this computer's own loopback address, and on that of its configuration.

The table's own screen and the commands on the same computer come by the first one, with a network or without. The other
may be given to the computer later, and taken from it again: no table waits for its network.
"""

import logging
import socket
from contextlib import ExitStack

from device.assembly import StartError
from device.page_server import listen
from device.settings import LOOPBACK

log = logging.getLogger(__name__)


def listen_for_console(host: str, port: int) -> list[socket.socket]:
    """The console's sockets, to be had before anything else is started. Raises StartError.

    A name that nobody knows, as there may be no network yet, leaves the computer's own address until the next start.
    """
    with ExitStack() as until_all:
        listeners = [until_all.enter_context(_listen(LOOPBACK, port))]
        address = _resolved(host)
        if address not in (None, LOOPBACK):
            if not _is_here(address):
                log.warning("console.host: this computer does not have %s yet; the console is at %s", address, LOOPBACK)
            # Where `port` is 0, both are at the one that was free.
            listeners.append(until_all.enter_context(_listen(address, listeners[0].getsockname()[1])))
        until_all.pop_all()
    return listeners


def _listen(address: str, port: int) -> socket.socket:
    try:
        return listen(address, port, free_bind=True)
    except OSError as error:
        raise StartError(
            f"the console cannot listen on {address} port {port} ({error.strerror or error}); "
            "choose another port with --port"
        ) from error


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
