"""Sets the stream of all journals up, at the hub or at a leaf site's server, as the list asks for it."""

from nats.js import JetStreamContext
from nats.js.api import ExternalStream, StreamConfig, StreamSource
from nats.js.errors import NotFoundError

from device.nats_connection import REQUEST_TIMEOUT_S, NatsAccess, connected
from device.uplink_protocol import DeliveryError
from provisioning.central.central_list import CentralList, Site
from provisioning.central_server import STREAM, CentralServerError, check_stream, stream_config


def wanted_stream(listed: CentralList, site: Site | None) -> StreamConfig:
    """How the stream should be at a leaf site's server, or with None at the hub."""
    if site is not None:
        return stream_config().evolve(num_replicas=1)
    sources = [
        StreamSource(name=STREAM, external=ExternalStream(api=f"$JS.{leaf.name}.API", deliver=f"$JS.S.{leaf.name}"))
        for leaf in listed.leaf_sites
    ]
    return stream_config().evolve(num_replicas=len(listed.hub), sources=sources or None)


async def ensure_journal_stream(access: NatsAccess, wanted: StreamConfig) -> str:
    """Make the stream, or give it the replicas and sources that are wanted. Says what was done.

    Raises CentralServerError when that fails, or when the stream that is there would lose events.
    """
    try:
        async with connected(access, "boxman central stream") as client:
            return await _ensured(client.jetstream(timeout=REQUEST_TIMEOUT_S), wanted)
    except DeliveryError as error:
        raise CentralServerError(f"the stream {STREAM} cannot be set up: {error}") from error


async def _ensured(manager: JetStreamContext, wanted: StreamConfig) -> str:
    try:
        found = (await manager.stream_info(STREAM)).config
    except NotFoundError:
        await manager.add_stream(wanted)
        return "made"
    check_stream(found)
    if (found.num_replicas, _origins(found)) == (wanted.num_replicas, _origins(wanted)):
        return "as it should be"
    await manager.update_stream(found.evolve(num_replicas=wanted.num_replicas, sources=wanted.sources))
    return "changed"


def _origins(config: StreamConfig) -> set[str]:
    return {source.external.api for source in config.sources or [] if source.external is not None}
