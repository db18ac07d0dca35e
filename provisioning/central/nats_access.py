"""The [central] of a central program's file: servers, stream, CA and key."""

from pathlib import Path

from device.nats_connection import NatsAccess, check_ca, check_servers, inbox_of
from device.table_key import TableKeyError, read_table_key
from provisioning.central.toml_file import NAME, NAME_FORM, Section
from provisioning.key_file import CENTRAL_KEY


def read_access(central: Section, folder: Path) -> tuple[NatsAccess, str]:
    """The access and the stream's name; paths start at `folder`. Raises BadFile."""
    central.check_keys("servers", "stream", "ca", "key")
    stream = central.matching("stream", NAME, NAME_FORM, "CRAPS")
    return _access(central, folder), stream


def _access(central: Section, folder: Path) -> NatsAccess:
    servers = central.texts("servers", "a list of URLs")
    try:
        check_servers(servers)
    except ValueError as error:
        central.refuse(f"servers: {error}")
    ca = None
    if "ca" in central.values:
        ca = folder / central.text("ca", "a file of certificates (PEM)")
        try:
            check_ca(ca)
        except ValueError as error:
            central.refuse(f"ca: {error}")
    if "key" not in central.values:
        return NatsAccess(servers, ca)
    path = folder / central.text("key", "a file")
    try:
        key = read_table_key(path, CENTRAL_KEY)
    except TableKeyError as error:
        central.refuse(f"key: {error}")
    if key is None:
        central.refuse(f"key: there is no file {path}; it should be this program's key, which boxman central key makes")
    return NatsAccess(servers, ca, key, inbox_of(key.public))
