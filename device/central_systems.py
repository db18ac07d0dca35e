"""What a table delivers to, by its settings."""

from device.nats_log import NatsSystem
from device.settings import Settings
from device.table_key import TableKey
from device.uplink import CentralSystem


def central_systems(settings: Settings, key: TableKey) -> list[CentralSystem]:
    """The central systems of a table with this key; none: nothing is delivered."""
    uplink = settings.uplink
    systems: list[CentralSystem] = []
    if uplink is not None and uplink.servers:
        systems.append(NatsSystem(uplink.servers, settings.site, settings.table, uplink.stream, ca=uplink.ca, key=key))
    if uplink is not None and uplink.https is not None:
        # Its packages take a while to read in, and few tables deliver this way.
        from device.https_log import HttpsSystem

        systems.append(HttpsSystem(uplink.https, settings.site, settings.table, key, uplink.ca))
    return systems
