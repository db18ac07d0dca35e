"""Reads one table's log at the centre from its first message to its last."""

from collections.abc import Callable
from typing import Final

from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig

from device.nats_connection import REQUEST_TIMEOUT_S, NatsAccess, connected
from device.nats_log import read_end
from device.uplink_protocol import EMPTY_LOG, DeliveryError, LogEnd

# At once in memory: a message is at most 1 MiB on a server that is set up as usual, and an event half of that.
FETCH_MESSAGES: Final = 32
# The server forgets what it keeps for us when it has not heard of us for so long.
INACTIVE_S: Final = 30.0


class CentralUnreadable(Exception):
    """The central log cannot be read; the text says why."""


async def read_history(
    access: NatsAccess,
    stream: str,
    subject: str,
    take: Callable[[bytes, LogEnd], None],
) -> LogEnd:
    """Give `take` every message's payload up to where the log under `subject` ends now, with that end; return the end.

    What `take` raises ends the reading. Raises CentralUnreadable.
    """
    try:
        async with connected(access, "boxman reads the log") as client:
            jetstream = client.jetstream(timeout=REQUEST_TIMEOUT_S)
            end = await read_end(jetstream, stream, subject)
            if end != EMPTY_LOG:
                await _take_all(jetstream, stream, subject, end, take)
            return end
    except DeliveryError as error:
        raise CentralUnreadable(str(error)) from error


async def _take_all(
    jetstream: JetStreamContext,
    stream: str,
    subject: str,
    end: LogEnd,
    take: Callable[[bytes, LogEnd], None],
) -> None:
    config = ConsumerConfig(ack_policy=AckPolicy.NONE, mem_storage=True, num_replicas=1, inactive_threshold=INACTIVE_S)
    messages = await jetstream.pull_subscribe(subject, stream=stream, config=config)
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
