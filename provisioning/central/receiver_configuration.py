"""The receiver's TOML file: where it listens, its certificate, its store, and the tables that it knows."""

import re
import ssl
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from provisioning.central.table_list import KnownTable, read_tables
from provisioning.standard_streams import visible

_HOST = re.compile(r"[0-9A-Za-z-]{1,63}(\.[0-9A-Za-z-]{1,63})*")
_KEYS = ("host", "port", "certificate", "key", "store")


class ReceiverConfigurationError(Exception):
    """The file is not sound: one line that names the file, the place and what would be right."""

    def __init__(self, message: str) -> None:
        super().__init__(visible(message))


@dataclass(frozen=True)
class ReceiverConfiguration:
    """What the file says. `tls` holds the certificate and its key."""

    host: str
    port: int
    tls: ssl.SSLContext
    store: Path
    tables: Sequence[KnownTable]


def read_receiver_configuration(path: Path) -> ReceiverConfiguration:
    """Read and check the file; its paths start where it lies. Raises ReceiverConfigurationError."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ReceiverConfigurationError(f"{path}: cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise ReceiverConfigurationError(f"{path}: is no TOML: {error}") from error
    try:
        return _configuration(data, path.parent)
    except ValueError as error:
        raise ReceiverConfigurationError(f"{path}: {error}") from error


def _configuration(data: dict[str, Any], folder: Path) -> ReceiverConfiguration:
    for section in data:
        if section not in ("receiver", "tables"):
            raise ValueError(f"{section} is no section; the sections are [receiver], [[tables]]")
    given = data.get("receiver")
    if not isinstance(given, dict):
        raise ValueError(  # noqa: TRY004 - as everything that is wrong with the file
            "receiver must be a section, written [receiver]"
        )
    for key in given:
        if key not in _KEYS:
            raise ValueError(f"receiver.{key} is no key; the keys are {', '.join(_KEYS)}")
    host = given.get("host", "127.0.0.1")
    if not isinstance(host, str) or not _HOST.fullmatch(host):
        raise ValueError("receiver.host must be an address of this machine")
    port = given.get("port", 8443)
    if type(port) is not int or not 1 <= port <= 65535:
        raise ValueError("receiver.port must be a whole number from 1 to 65535")
    certificate, key, store = (_file(given, name, folder) for name in ("certificate", "key", "store"))
    return ReceiverConfiguration(host, port, _tls(certificate, key), store, read_tables(data.get("tables")))


def _file(given: dict[str, Any], name: str, folder: Path) -> Path:
    value = given.get(name)
    if not isinstance(value, str) or not value or not value.isprintable():
        raise ValueError(f"receiver.{name} must name a file")
    return folder / value


def _tls(certificate: Path, key: Path) -> ssl.SSLContext:
    for name, file in (("certificate", certificate), ("key", key)):
        try:
            with file.open("rb"):
                pass
        except OSError as error:
            raise ValueError(f"receiver.{name}: {file} cannot be read ({error.strerror})") from error
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        # A key under a passphrase would be asked for on the terminal, which a service has none of.
        tls.load_cert_chain(certificate, key, password=b"")
    except (ssl.SSLError, ValueError) as error:
        raise ValueError(
            f"receiver.certificate, receiver.key: {certificate} and {key} are no certificate (PEM) and its key "
            "without a passphrase"
        ) from error
    return tls
