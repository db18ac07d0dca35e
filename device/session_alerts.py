"""What a session tells those at the table, in words: of a start, a full disk, a key that comes too late. Pure."""

from typing import Any, Final

from packaging.version import InvalidVersion, Version

from device.dice_control.event_alerts import Alert

INPUT_TEXT_MAX: Final = 300
# Of an alert: Madrid's articles are long, and one may name several rules.
ALERT_TEXT_MAX: Final = 1200


def start_alerts(started: dict[str, Any], former_key: str | None, former_version: str | None) -> list[Alert]:
    """What those at the table are told of a start (the data of its event), and of the key and version before it."""
    alerts: list[Alert] = []
    if "key_changed" in started:
        text = "This table signs its journal with another key than before. Find out who changed it, and why."
        alerts.append(("table_key_changed", text, {"key": started["key"], "former_key": former_key}))
    if "downgrade" in started:
        version = started["version"]
        text = f"Version {version} has started, which is older than {former_version} before it. Find out why."
        alerts.append(("downgrade", text, {"version": version, "former_version": former_version}))
    return alerts


def gap_alert(gaps: int, event: int) -> Alert:
    """What they are told when there is room again, after so many times without; `event` says so in the journal."""
    text = (
        f"The disk was full{f', {gaps} times' if gaps > 1 else ''}, and nothing was recorded meanwhile. Enter what "
        "was thrown then; count the dice, and hold the bets on the layout against those on the screen."
    )
    return "recording_gap", text, {"gaps": gaps, "event": event}


def is_older(version: str, former: str) -> bool:
    """Whether `version` comes before `former`; what is no version of a Python package is not compared."""
    try:
        return Version(version) < Version(former)
    except InvalidVersion:
        return False


def late_key_text(what: str, *, while_full: bool) -> str:
    """What they are told of keys that are not counted: the disk was full then, or else the node was away."""
    when = (
        "while the disk was full and nothing was accepted"
        if while_full
        else "while the I/O node was away, and a throw was entered on the screen since"
    )
    return f"{what} was keyed {when}. It is not counted; if it was another throw, enter it now."


def event_text(text: str, length_max: int = INPUT_TEXT_MAX) -> str:
    """A text as an event can hold it: what is no Unicode is replaced, and what is too long is cut."""
    return text.encode("utf-8", "replace").decode("utf-8")[:length_max]
