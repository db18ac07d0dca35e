"""The small files of a table's computer: its users, names of devices, limits of its logs, its clock."""

import re
from pathlib import PurePosixPath
from typing import Final

from provisioning.configuration import Configuration
from provisioning.install.places import CONFIGURATION_FOLDER, KIOSK_USER, MARK, USER

USERS: Final = {USER: "boxman terminal", KIOSK_USER: "boxman screen"}
"""Who the services run as, with the full names by which they are known from a person of such a name."""

# MicroPython on a Raspberry Pi Pico, as its USB port says.
_NODE_IDS = ("2e8a", "0005")
# What a udev rule and a line of tmpfiles.d can hold without quoting; the serial numbers of Picos are hexadecimal.
_PLAIN = re.compile(r"[A-Za-z0-9_.-]+")


def users() -> str:
    """sysusers.d(5): who the services run as. Neither can log in or owns anything but its data."""
    lines = [f'u {user} - "{name}" - /usr/sbin/nologin' for user, name in USERS.items()]
    return "\n".join([f"# {MARK}", *lines, ""])


def owners(configuration: Configuration) -> str:
    """tmpfiles.d(5): the configuration and what lies beside it is for root to change and for the terminal to read.

    It may hold a server's password. The word that programs must send is the terminal's alone, which takes it from no
    file that others may read.
    """
    lines = [
        f"# {MARK}",
        f"d {CONFIGURATION_FOLDER} 0750 root {USER} -",
        f"z {CONFIGURATION_FOLDER}/* 0640 root {USER} -",
    ]
    token = configuration.proposals_token
    if token is not None and _PLAIN.fullmatch(token.name):
        # Of two lines for a file the later one is done later.
        lines.append(f"z {CONFIGURATION_FOLDER}/{token.name} 0600 {USER} {USER} -")
    return "\n".join([*lines, ""])


def device_names(configuration: Configuration) -> str:
    """udev(7): the pins and the node belong to the terminal, and the node has a name of its own.

    The file's name sorts behind 99-com.rules, with which Raspberry Pi OS gives the pins to a group of its own.
    """
    lines = [f"# {MARK}"]
    if configuration.pins == "lgpio":
        lines.append(f'SUBSYSTEM=="gpio", KERNEL=="gpiochip[0-9]*", GROUP="{USER}", MODE="0660"')
    elif configuration.pins == "rpigpio":
        lines.append(f'KERNEL=="gpiomem", GROUP="{USER}", MODE="0660"')
    if configuration.node is not None:
        match = _node_match(configuration.node)
        # ModemManager talks to everything that looks like a modem, and would be taken for the table.
        lines.append(
            f'SUBSYSTEM=="tty", {match}, GROUP="{USER}", MODE="0660", SYMLINK+="boxman/node", '
            'ENV{ID_MM_DEVICE_IGNORE}="1", ENV{ID_MM_PORT_IGNORE}="1"'
        )
    return "\n".join([*lines, ""])


def _node_match(node: str) -> str:
    serial = node.removeprefix("usb:")
    if serial != node and _PLAIN.fullmatch(serial):
        return f'ATTRS{{serial}}=="{serial}"'
    if node.startswith("/dev/tty") and _PLAIN.fullmatch(name := PurePosixPath(node).name):
        return f'KERNEL=="{name}"'
    vendor, product = _NODE_IDS
    return f'ATTRS{{idVendor}}=="{vendor}", ATTRS{{idProduct}}=="{product}"'


def modules() -> str:
    """modules-load.d(5): what makes serial ports of USB devices, so that the service may be given theirs in advance."""
    return f"# {MARK}\ncdc_acm\n"


def log_limits() -> str:
    """journald.conf(5): logs are in memory, for they would wear the card, and what counts is in the table's journal."""
    return f"""\
# {MARK}
[Journal]
Storage=volatile
RuntimeMaxUse=32M
RateLimitIntervalSec=30s
RateLimitBurst=2000
"""


def hardware_watchdog() -> str:
    """systemd-system.conf(5): a computer that hangs as a whole starts anew. A Pi's watchdog counts to 15 s at most."""
    return f"# {MARK}\n[Manager]\nRuntimeWatchdogSec=14s\n"


def time_servers(configuration: Configuration) -> str | None:
    """timesyncd.conf(5): the servers to set the clock by; None: those that the system knows."""
    if configuration.time_servers is None:
        return None
    return f"# {MARK}\n[Time]\nNTP={' '.join(configuration.time_servers)}\nFallbackNTP=\n"
