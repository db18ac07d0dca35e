"""Ports that are the tests' own, for as long as the process runs that has asked for them."""

import errno
import random
import socket
from typing import Final

# Below those that the system gives to whoever calls others, so that nobody has one while a server is between two runs;
# above 10080, the highest of those to which browsers do not go.
_PORTS: Final = range(11_000, 32_768)
_CHANCE: Final = random.SystemRandom()
# Names in the abstract name space of Linux, which one process at a time can have.
_taken: Final[list[socket.socket]] = []


def free_port() -> int:
    """A port on which nobody listens, and which no other test is given, whichever process it runs in."""
    while True:
        port = _CHANCE.choice(_PORTS)
        name = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            name.bind(f"\0boxman test port {port}")
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError as error:
            name.close()
            if error.errno != errno.EADDRINUSE:
                raise
        else:
            _taken.append(name)
            return port
