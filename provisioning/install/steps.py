"""What is to be run when the files of an installation are in place, or gone: plain lists of commands."""

from collections.abc import Sequence
from pathlib import Path

Command = tuple[str, ...]

_OWN_CONF = "boxman.conf"
_DEVICES: tuple[Command, ...] = (
    ("udevadm", "control", "--reload"),
    ("udevadm", "trigger", "--settle", "--subsystem-match=gpio", "--subsystem-match=tty"),
)


def after_installing(root: Path, services: Sequence[str] | None) -> list[Command]:
    """Make users and folders below `root`; have the system that runs there take up what is new, and its `services`.

    None: nothing below `root` runs.
    """
    below = [] if services is not None else [f"--root={root.resolve()}"]
    commands: list[Command] = [
        ("systemd-sysusers", *below, _OWN_CONF),
        ("systemd-tmpfiles", *below, "--create", _OWN_CONF),
    ]
    if services is not None:
        commands += [
            ("systemctl", "daemon-reload"),
            ("systemctl", "restart", "systemd-modules-load.service", "systemd-journald.service"),
            *_DEVICES,
            ("systemctl", "restart", "--no-block", *services),
        ]
    return commands


def before_taking_back(services: Sequence[str], user_ids: Sequence[str]) -> list[Command]:
    """Stop what would lose the ground beneath it."""
    # What logind has started for the screen outlives it by ten seconds, and userdel removes nobody meanwhile.
    managers = [f"user@{user_id}.service" for user_id in user_ids]
    return [("systemctl", "stop", *units) for units in (services, managers) if units]


def after_taking_back(root: Path, running: bool, users: list[str]) -> list[Command]:
    """Remove the users, and have the system that runs there forget what is gone."""
    commands = [removing("userdel", root, running, user) for user in users]
    if running:
        commands += [
            ("systemctl", "daemon-reload"),
            ("systemctl", "reset-failed"),
            ("systemctl", "restart", "systemd-journald.service"),
            *_DEVICES,
        ]
    return commands


def removing(command: str, root: Path, running: bool, name: str) -> Command:
    """Remove a user or a group with userdel or groupdel."""
    return (command, *([] if running else ["--prefix", str(root.resolve())]), name)
