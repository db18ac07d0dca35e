"""A central reader's own consumers on the stream of all journals.

A server lets a reader make, read and end consumers under the reader's own names alone: one that lasts, and one for
reading something once. So no reader can use up what a server has for consumers, or come at another reader's.
"""

import asyncio
import secrets
from contextlib import suppress
from typing import Final

from nats.js import JetStreamContext
from nats.js.api import ConsumerConfig
from nats.js.errors import NotFoundError

from device.ended_tasks import end_tasks
from device.nats_connection import REQUEST_TIMEOUT_S, NatsAccess, connected
from device.table_key import TableKey

REFUSAL_LOOK_S: Final = 0.02
# What the admin may ask, and no reader.
_ADMINS_QUESTION: Final = "$JS.API.STREAM.NAMES"


def lasting_name(public: str) -> str:
    """The name of the consumer that the reader with this public key comes back to."""
    return public


def passing_name(public: str) -> str:
    """The name of its consumer for reading something once."""
    return f"{public}-once"


def passing_name_of(key: TableKey | None) -> str:
    """As `passing_name`; where servers ask for no key, a name that nobody else has."""
    return passing_name(key.public) if key is not None else f"once-{secrets.token_hex(8)}"


async def consume_anew(
    jetstream: JetStreamContext, stream: str, config: ConsumerConfig
) -> JetStreamContext.PullSubscription:
    """Make the consumer that `config` names, in the place of one of that name, and fetch from it.

    Raises NATS's errors.
    """
    assert config.name is not None
    with suppress(NotFoundError):
        await jetstream.delete_consumer(stream, config.name)
    await jetstream.add_consumer(stream, config)
    return await jetstream.pull_subscribe_bind(consumer=config.name, stream=stream)


async def may_do_more_than_read(access: NatsAccess) -> bool:
    """Whether the servers let whoever comes so do what no reader may. Raises DeliveryError."""
    # A connection for this alone, since a server's refusal counts as a failure of whatever is done by the same one.
    async with connected(access, "boxman asks what it may") as client:
        asked = asyncio.ensure_future(client.request(_ADMINS_QUESTION, timeout=REQUEST_TIMEOUT_S))
        try:
            # Of a refusal the one that asked is not told.
            while not asked.done():
                if "permissions violation" in str(client.last_error).lower():
                    return False
                await asyncio.sleep(REFUSAL_LOOK_S)
            asked.result()
            return True
        finally:
            await end_tasks(asked)
