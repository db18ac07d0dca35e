"""The web server around the receiver: TLS, a bounded number of connections, none of which may stay idle for long."""

import asyncio
import signal
import socket
import ssl
from typing import Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from provisioning.central.receiver import Receiver
from provisioning.central.receiver_refusals import NOT_HTTP, TOO_MANY_CONNECTIONS, Refusals

CONNECTIONS_MAX: Final = 2_000
"""Each holds a body of half a MiB at most."""
BACKLOG: Final = 512
IDLE_S: Final = 75.0
"""A connection on which no request is answered for so long is closed. A table asks for itself every 20 s."""
HEADERS_BYTES_MAX: Final = 16 * 1024
GRACE_S: Final = 1


async def serve(receiver: Receiver, refusals: Refusals, listener: socket.socket, tls: ssl.SSLContext) -> None:
    """Serve until SIGINT or SIGTERM."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        # The server takes them, and raises them again at its end for whoever was there before.
        loop.add_signal_handler(number, lambda: None)

    class Connection(_BoundedConnection):
        counted = refusals

    server = uvicorn.Server(
        uvicorn.Config(
            receiver,
            http=Connection,
            ws="none",
            log_config=None,
            access_log=False,
            lifespan="off",
            interface="asgi3",
            server_header=False,
            proxy_headers=False,
            backlog=BACKLOG,
            timeout_keep_alive=round(IDLE_S),
            timeout_graceful_shutdown=GRACE_S,
            h11_max_incomplete_event_size=HEADERS_BYTES_MAX,
            ssl_context_factory=lambda _config, _default: tls,
        )
    )
    await server.serve(sockets=[listener])


class _BoundedConnection(H11Protocol):
    """uvicorn's connection, which would be without end for one that never asks anything, or never to an end."""

    counted: Refusals
    _idle: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > CONNECTIONS_MAX:
            self.counted.note(TOO_MANY_CONNECTIONS, self._peer(), f"at most {CONNECTIONS_MAX} are taken at once")
            transport.abort()
            return
        self._restart_idle()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._idle is not None:
            self._idle.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._restart_idle()

    def send_400_response(self, msg: str) -> None:
        self.counted.note(NOT_HTTP, self._peer(), msg)
        super().send_400_response(msg)

    def _restart_idle(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        if not self.transport.is_closing():
            self._idle = self.loop.call_later(IDLE_S, self.transport.abort)

    def _peer(self) -> str:
        return f"from {self.client[0] if self.client else 'unknown'}"
