"""`boxman status`: whether the table is open and how its delivery to the centre stands, as its terminal says."""

import argparse
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import httpx

from provisioning.command_failed import CommandFailed
from provisioning.configuration import Configuration, ConfigurationError, read_configuration
from provisioning.standard_streams import visible
from provisioning.terminal_answer import console_address, terminal_answer

_LINKS: Final = {
    "online": "online",
    "offline": "offline",
    "fenced": "FENCED OFF: another unit reports as this table, or its journal was replaced",
    "off": "none configured",
}


def add_status_command(parser: argparse.ArgumentParser) -> None:
    """Say what `status` takes."""
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="the table's configuration, which says where its console is"
    )
    parser.set_defaults(start=lambda chosen: show_status(chosen.config))


def show_status(config: Path | None) -> int:
    """Print it; the exit status is 1 while events do not get to the centre. Raises CommandFailed."""
    address, state = asked(config, "state")
    try:
        lines = status_lines(state, datetime.now(UTC))
    except (ValueError, KeyError, TypeError) as error:
        raise not_understood(address) from error
    print("\n".join(map(visible, lines)))
    return 0 if state["uplink"]["state"] in ("online", "off") else 1


def asked(config: Path | None, what: str) -> tuple[str, dict[str, Any]]:
    """Where the terminal with this configuration is, and what it answers below /api. Raises CommandFailed."""
    try:
        address = console_address(Configuration() if config is None else read_configuration(config))
    except ConfigurationError as error:
        raise CommandFailed(str(error)) from error
    try:
        return address, terminal_answer(address, what)
    except httpx.HTTPError as error:
        raise CommandFailed(f"no terminal answers at {address} ({error}); is it running?") from error
    except ValueError as error:
        raise not_understood(address) from error


def not_understood(address: str) -> CommandFailed:
    """What to say where another state than a terminal's comes."""
    return CommandFailed(f"{address}: what answers there is no terminal of this version")


def status_lines(state: dict[str, Any], now: datetime) -> list[str]:
    """What is printed of a terminal's state at this moment."""
    uplink = state["uplink"]
    links = {name: _LINKS[link] for name, link in uplink["targets"].items()}
    if len(links) < 2:
        links = {"": _LINKS[uplink["state"]]}
    lines = [f"table: {'open' if state['open'] else 'closed'}, {state['seq']} events"]
    lines += [f"link to the centre{f' ({name})' if name else ''}: {link}" for name, link in links.items()]
    if uplink["state"] != "off":
        lines.append(f"undelivered: {_undelivered(uplink, now)}")
        lines.append(f"last error: {uplink['last_error'] or 'none'}")
    if state["halted"] is not None:
        lines.append(f"HALTED: {state['halted']}")
    return lines


def _undelivered(uplink: dict[str, Any], now: datetime) -> str:
    if not uplink["undelivered"]:
        return "0 events"
    count = f"{uplink['undelivered']} event{'s' if uplink['undelivered'] > 1 else ''}"
    if uplink["waiting_since"] is None:
        return count
    since = datetime.fromisoformat(uplink["waiting_since"])
    # A clock that was set back meanwhile makes no age below nothing.
    return f"{count}, the oldest for {_age(max(now - since, timedelta()))} (since {since:%Y-%m-%d %H:%M:%S} UTC)"


def _age(age: timedelta) -> str:
    minutes, seconds = divmod(int(age.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    for large, small, words in ((days, hours, "d h"), (hours, minutes, "h min"), (minutes, seconds, "min s")):
        if large:
            return f"{large} {words.split()[0]} {small} {words.split()[1]}"
    return f"{seconds} s"
