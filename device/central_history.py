"""Reads one table's log at the centre from its first message to its last."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig

from device.central_reader import consume_anew, passing_name_of
from device.nats_connection import REQUEST_TIMEOUT_S, NatsAccess, connected
from device.nats_log import read_end
from device.uplink_protocol import EMPTY_LOG, DeliveryError, LogEnd

# At once in memory: a message is at most 1 MiB on a server that is set up as usual, and an event half of that.
FETCH_MESSAGES: Final = 32
# The server forgets what it keeps for us when it has not heard of us for so long.
INACTIVE_S: Final = 30.0


class CentralUnreadable(Exception):
    """The central log cannot be read; the text says why."""


Take = Callable[[bytes, LogEnd], None]
"""Is given a piece of a log, events one a line, and where the whole of it ends."""


@dataclass(frozen=True)
class CentralHistory:
    """One table's log at a central system, as far as it goes when it is asked for. Both raise CentralUnreadable.

    `read` gives every event, in order, and returns the end; what is raised by the one that takes them ends it.
    """

    name: str
    end: Callable[[], Awaitable[LogEnd]]
    read: Callable[[Take], Awaitable[LogEnd]]


def nats_history(access: NatsAccess, stream: str, subject: str) -> CentralHistory:
    """The log under `subject`."""

    async def end() -> LogEnd:
        try:
            async with connected(access, "boxman reads the log") as client:
                return await read_end(client.jetstream(timeout=REQUEST_TIMEOUT_S), stream, subject)
        except DeliveryError as error:
            raise CentralUnreadable(str(error)) from error

    async def read(take: Take) -> LogEnd:
        return await read_history(access, stream, subject, take)

    return CentralHistory(subject, end, read)


async def read_history(access: NatsAccess, stream: str, subject: str, take: Take) -> LogEnd:
    """Give `take` every message's payload up to where the log under `subject` ends now, with that end; return the end.

    What `take` raises ends the reading. Raises CentralUnreadable.
    """
    try:
        async with connected(access, "boxman reads the log") as client:
            jetstream = client.jetstream(timeout=REQUEST_TIMEOUT_S)
            end = await read_end(jetstream, stream, subject)
            if end != EMPTY_LOG:
                await _take_all(jetstream, stream, subject, passing_name_of(access.key), end, take)
            return end
    except DeliveryError as error:
        raise CentralUnreadable(str(error)) from error


async def _take_all(
    jetstream: JetStreamContext,
    stream: str,
    subject: str,
    consumer: str,
    end: LogEnd,
    take: Take,
) -> None:
    config = ConsumerConfig(
        name=consumer,
        filter_subject=subject,
        ack_policy=AckPolicy.NONE,
        mem_storage=True,
        num_replicas=1,
        inactive_threshold=INACTIVE_S,
    )
    messages = await consume_anew(jetstream, stream, config)
    number = 0
    while True:
        for message in await messages.fetch(FETCH_MESSAGES, timeout=REQUEST_TIMEOUT_S):
            number += 1
            sequence = message.metadata.sequence
            if sequence.consumer != number:
                raise CentralUnreadable("a message of the central log was lost on the way; try again")
            take(message.data, end)
            if sequence.stream >= end.sequence:
                return
