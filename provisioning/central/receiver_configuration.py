"""The receiver's TOML file: where it listens, its certificate, its store, and the tables that it knows."""

import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from device.nats_connection import NatsAccess
from provisioning.central.central_list import KnownTable, read_tables
from provisioning.central.nats_access import read_access
from provisioning.central.toml_file import HOST, BadFile, Section, TomlFile, read_toml


@dataclass(frozen=True)
class ReceiverConfiguration:
    """What the file says. `tls` holds the certificate and its key; `forward` the stream that all is written on to.

    `enrolments` is the store of enrolments, None where no unit enrols here.
    """

    host: str
    port: int
    tls: ssl.SSLContext
    store: Path
    tables: Sequence[KnownTable]
    forward: tuple[NatsAccess, str] | None
    enrolments: Path | None = None


def read_receiver_configuration(path: Path) -> ReceiverConfiguration:
    """Read and check the file; its paths start where it lies. Raises BadFile."""
    return read_toml(path, lambda file: _configuration(file, path.parent))


def _configuration(file: TomlFile, folder: Path) -> ReceiverConfiguration:
    file.top.check_keys("receiver", "tables", "central")
    given = file.top.section("receiver")
    given.check_keys("host", "port", "certificate", "key", "store", "enrolments")
    host = given.matching("host", HOST, "an address of this machine", "127.0.0.1")
    port = given.whole("port", 1, 65535, 8443)
    certificate, key, store = (folder / given.text(name, "a file") for name in ("certificate", "key", "store"))
    tls = _tls(given, certificate, key)
    enrolments = folder / given.text("enrolments", "a file") if "enrolments" in given.values else None
    tables = read_tables(file)
    # The first table of a centre is in no list before its unit has enrolled.
    if not tables and enrolments is None:
        raise BadFile("there should be a [[tables]] for each table, with its site, name and key")
    forward = read_access(file.top.section("central"), folder) if "central" in file.top.values else None
    return ReceiverConfiguration(host, port, tls, store, tables, forward, enrolments)


def _tls(given: Section, certificate: Path, key: Path) -> ssl.SSLContext:
    for name, file in (("certificate", certificate), ("key", key)):
        try:
            with file.open("rb"):
                pass
        except OSError as error:
            given.refuse(f"{name}: {file} cannot be read ({error.strerror})")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        # A key under a passphrase would be asked for on the terminal, which a service has none of.
        tls.load_cert_chain(certificate, key, password=b"")
    except (ssl.SSLError, ValueError):
        given.refuse(f"certificate: {certificate} and {key} are no certificate (PEM) and its key without a passphrase")
    return tls
