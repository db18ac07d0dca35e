"""One hash for all that a terminal is told when it starts, so that the journal shows when any of it has changed."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any
from urllib.parse import urlsplit

from device.event import canonical
from device.settings import Settings, UplinkSettings


def configuration_hash(settings: Settings) -> str:
    """SHA-256 (hex) over the canonical JSON of the settings in force, without secrets and without paths of this device.

    A virtual table's own node and central server are left out: they are made anew at each start.
    """
    said = {field.name: getattr(settings, field.name) for field in fields(settings)}
    is_virtual = said.pop("virtual_folder") is not None
    said["proposals_token"] = said.pop("proposals_token_file") is not None
    uplink = said.pop("uplink")
    if is_virtual:
        del said["node_port"]
    said |= {"virtual": is_virtual, "uplink": None if is_virtual or uplink is None else _addresses(uplink)}
    return hashlib.sha256(canonical(_plain(said)).encode("utf-8")).hexdigest()


def _addresses(uplink: UplinkSettings) -> dict[str, Any]:
    """Where to, without the names and passwords that an address may hold."""
    servers = [urlsplit(server) for server in uplink.servers]
    return {
        "servers": [f"{server.scheme}://{server.netloc.rpartition('@')[2]}" for server in servers],
        "stream": uplink.stream,
        "https": uplink.https,
    }


def _plain(value: Any) -> Any:
    """The value as `canonical` takes it; what it does not know stays as it is, and is refused there."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(inner) for inner in value]
    return value
