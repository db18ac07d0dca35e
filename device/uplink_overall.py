"""How a table stands with all the central systems that it delivers to, in one status. Pure."""

from collections.abc import Mapping

from device.uplink import UplinkStatus


def overall(statuses: Mapping[str, UplinkStatus]) -> UplinkStatus:
    """The status of all, by the system's name, at least one.

    Delivered is what every one of them has. The state is the worst, and each error names its system when there are
    several of them.
    """
    states = {status.state for status in statuses.values()}
    errors = [
        error if len(statuses) == 1 else f"{name}: {error}"
        for name, status in statuses.items()
        if (error := status.last_error) is not None
    ]
    return UplinkStatus(
        "fenced" if "fenced" in states else "offline" if "offline" in states else "online",
        min(status.delivered for status in statuses.values()),
        "; ".join(errors) or None,
    )
