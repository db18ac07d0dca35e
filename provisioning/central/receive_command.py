"""`boxman central receive`: the receiver of tables' events over HTTPS, as a program."""

import argparse
import asyncio
import logging
import resource
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from device.nats_connection import NatsAccess
from device.page_server import listen
from provisioning.central.enrolment_store import EnrolmentStore
from provisioning.central.event_store import EventStore
from provisioning.central.receiver import Receiver
from provisioning.central.receiver_configuration import ReceiverConfiguration, read_receiver_configuration
from provisioning.central.receiver_forwarding import Forwarding, record_beside
from provisioning.central.receiver_refusals import Refusals
from provisioning.central.receiver_server import BACKLOG, CONNECTIONS_MAX, serve
from provisioning.central.sqlite_store import StoreError
from provisioning.central.toml_file import BadFile
from provisioning.command_failed import CommandFailed

# What is open beside connections: the store and its log, standard streams, the event loop's own.
FILES_BESIDE: Final = 64

log = logging.getLogger(__name__)


def add_receive_command(parser: argparse.ArgumentParser) -> None:
    """Say what `receive` takes."""
    parser.add_argument(
        "--config", type=Path, required=True, metavar="FILE", help="the receiver's configuration (TOML)"
    )
    parser.set_defaults(start=lambda chosen: receive(chosen.config))


def receive(configuration_path: Path) -> int:
    """Receive until told to end. Raises CommandFailed."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    try:
        configuration = read_receiver_configuration(configuration_path)
        # Each forwarded table has a connection to the stream as well.
        allow_open_files(CONNECTIONS_MAX + len(configuration.tables) + FILES_BESIDE)
        with (
            closing(_listening(configuration.host, configuration.port)) as listener,
            closing(EventStore(configuration.store)) as store,
            _enrolments(configuration.enrolments) as enrolments,
        ):
            enrols = "" if configuration.enrolments is None else ", new units may enrol"
            where = f"https://{configuration.host}:{configuration.port}"
            print(f"receiver at {where}, tables: {len(configuration.tables)}{enrols}", flush=True)
            if configuration.forward is None:
                asyncio.run(_take(configuration, store, enrolments, listener))
            else:
                asyncio.run(_take_and_forward(configuration, store, enrolments, listener, *configuration.forward))
    except (BadFile, StoreError) as error:
        raise CommandFailed(str(error)) from error
    return 0


def allow_open_files(wanted: int) -> None:
    """Let this process have so many files and connections open at once, as far as the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    if allowed < wanted:
        log.warning("only %d files and connections may be open at once, not %d; raise LimitNOFILE", allowed, wanted)


@contextmanager
def _enrolments(path: Path | None) -> Iterator[EnrolmentStore | None]:
    if path is None:
        yield None
    else:
        with closing(EnrolmentStore(path)) as enrolments:
            yield enrolments


async def _take(
    configuration: ReceiverConfiguration,
    store: EventStore,
    enrolments: EnrolmentStore | None,
    listener: socket.socket,
) -> None:
    refusals = Refusals()
    with closing(Receiver(store, configuration.tables, refusals, enrolments=enrolments)) as receiver:
        await serve(receiver, refusals, listener, configuration.tls)


async def _take_and_forward(
    configuration: ReceiverConfiguration,
    store: EventStore,
    enrolments: EnrolmentStore | None,
    listener: socket.socket,
    access: NatsAccess,
    stream: str,
) -> None:
    # Every forwarding of a table says for itself how it is.
    logging.getLogger("device.uplink").setLevel(logging.ERROR)
    refusals, tables = Refusals(), configuration.tables
    with (
        closing(EventStore(configuration.store)) as reading,
        closing(record_beside(configuration.store)) as record,
    ):
        forwarding = Forwarding(reading, record, tables, access, stream)
        taking = Receiver(
            store,
            tables,
            refusals,
            on_events=forwarding.notify,
            on_presence=forwarding.tell,
            enrolments=enrolments,
        )
        with closing(taking) as receiver:
            async with forwarding.running():
                await serve(receiver, refusals, listener, configuration.tls)


def _listening(host: str, port: int) -> socket.socket:
    """Raises CommandFailed."""
    try:
        return listen(host, port, backlog=BACKLOG)
    except OSError as error:
        raise CommandFailed(
            f"the receiver cannot listen on {host} port {port} ({error.strerror}); choose another in its configuration"
        ) from error
