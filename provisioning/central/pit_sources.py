"""What the pit's board hears: tables' signs of life and the end of the central log by NATS, and the archive's database.

The database is asked ten times a second whether the archive has taken anything, and looked into when it has, though
not more often than a bound; and every second anyhow. Whatever fails is told to the board at once, and tried again.
"""

import asyncio
import logging
import random
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Final, NoReturn

from nats.aio.msg import Msg
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from device.nats_connection import NatsAccess, connected
from device.uplink_protocol import Backoff, DeliveryError
from provisioning.central.archive_database import ArchiveDatabaseError, opened
from provisioning.central.pit_board import Board
from provisioning.central.pit_database import has_moved_on, look
from provisioning.central_server import PRESENCES
from provisioning.standard_streams import visible

LOG_ASKED_S: Final = 2.0
LOG_ANSWERS_S: Final = 3.0
DATABASE_ASKED_S: Final = 1.0
MOVED_ON_ASKED_S: Final = 0.1
# Between two looks lies at least so long, and so many times as long as the last one took.
LOOKS_APART_S: Final = 0.2
LOOKS_APART_TIMES: Final = 4
# A look that would take longer, as after a start or when many tables return at once, is done in parts.
LOOK_S: Final = 1.0
# A page that shows nothing of the log asks for it again soon.
RETRY_MAX_S: Final = 5.0

log = logging.getLogger(__name__)


async def listen_to_log(board: Board, access: NatsAccess, stream: str) -> NoReturn:
    """Take signs of life, and ask where the log ends, for ever."""
    retry = _Retry("the central log", board.log_failed)
    while True:
        try:
            async with connected(access, "boxman pit") as client:

                async def heard(message: Msg) -> None:
                    board.take_presence(message.subject, message.data)

                await client.subscribe(PRESENCES, cb=heard)
                jetstream = client.jetstream(timeout=LOG_ANSWERS_S)
                said: bool | None = None
                while True:
                    # Once the server has answered this, it has taken the subscription, or has refused it.
                    end = (await jetstream.stream_info(stream)).state.last_seq
                    refused = "permissions violation" in str(client.last_error).lower()
                    if refused != said:
                        board.log_reached(presence_refused=refused)
                        said = refused
                    board.log_ends(end)
                    retry.succeeded()
                    await asyncio.sleep(LOG_ASKED_S)
        except DeliveryError as error:
            await retry.after(str(error))


async def read_database(board: Board, engine: Engine) -> NoReturn:
    """Look into the database for ever."""
    retry = _Retry("the archive's database", board.database_failed)
    while True:
        with ExitStack() as stack:
            try:
                connection = await asyncio.to_thread(stack.enter_context, opened(engine))
                while True:
                    began_s = time.monotonic()
                    is_time_up = partial(_is_past, began_s + LOOK_S)
                    found = await asyncio.to_thread(look, connection, board.rows, is_time_up)
                    took_s = time.monotonic() - began_s
                    board.take_look(found)
                    board.show(found.games)
                    retry.succeeded()
                    if found.waiting == 0:
                        await asyncio.sleep(max(LOOKS_APART_S, LOOKS_APART_TIMES * took_s))
                        is_due = partial(_is_past, began_s + DATABASE_ASKED_S)
                        while not is_due() and not await asyncio.to_thread(has_moved_on, connection, found.position):
                            await asyncio.sleep(MOVED_ON_ASKED_S)
            except (DBAPIError, ArchiveDatabaseError) as error:
                reason = str(error.orig) if isinstance(error, DBAPIError) else str(error)
        await retry.after(reason.strip().partition("\n")[0])


def _is_past(moment_s: float) -> bool:
    return time.monotonic() > moment_s


class _Retry:
    """Tells of a failure, says it once in the log, and waits before the next attempt."""

    def __init__(self, what: str, tell: Callable[[str], None]) -> None:
        self._what = what
        self._tell = tell
        self._said: str | None = None
        self._backoff = Backoff(random.Random())  # noqa: S311 - spreads attempts, keeps no secret
        self._since_s: float | None = None

    def succeeded(self) -> None:
        if self._since_s is None:
            self._since_s = time.monotonic()
        self._said = None

    async def after(self, reason: str) -> None:
        self._tell(reason)
        if reason != self._said:
            log.warning("%s", visible(f"{self._what} is away: {reason}"))
            self._said = reason
        lasted_s = 0.0 if self._since_s is None else time.monotonic() - self._since_s
        self._since_s = None
        await asyncio.sleep(min(RETRY_MAX_S, self._backoff.delay_s(lasted_s)))
