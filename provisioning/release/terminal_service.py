"""The terminal as a service of a table's computer: whether its table is open, and a release on trial in its place."""

import subprocess
from pathlib import Path, PurePosixPath
from typing import Final

import httpx

from provisioning.command_failed import CommandFailed
from provisioning.configuration import Configuration
from provisioning.install.places import MARK
from provisioning.install.plan import TERMINAL_SERVICE
from provisioning.install.units import start_command
from provisioning.install.writable_root import run_command
from provisioning.terminal_answer import console_address, terminal_answer

# In memory: whatever happens to the power, the next start is that of the release in force.
TRIAL: Final = Path(f"/run/systemd/system/{TERMINAL_SERVICE}.d/zz-boxman-trial.conf")
TRIAL_UNIT: Final = "boxman-trial"
# One that does not end when asked is to be gone soon; its journal stands a kill.
_STOP_S: Final = 5


def open_until(configuration: Configuration) -> tuple[bool, int]:
    """Whether a session is going on, and up to which event that is so (0: no terminal runs, so none is going on).

    Raises CommandFailed where a terminal runs and does not say, or its table is commissioned.
    """
    if not is_active():
        return False, 0
    address = console_address(configuration)
    try:
        state = terminal_answer(address, "state")
        return bool(state["open"]), int(state["seq"])
    except (httpx.HTTPError, ValueError, KeyError) as error:
        raise CommandFailed(
            f"{address}/api/state: does not say whether the table is open ({error}); where nobody plays, stop the "
            f"terminal first: systemctl stop {TERMINAL_SERVICE}"
        ) from error


def shows(*properties: str) -> dict[str, str]:
    """Properties of the service. Raises CommandFailed."""
    command = ("systemctl", "show", TERMINAL_SERVICE, "-p", ",".join(properties))
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    if said.returncode != 0:
        raise CommandFailed(f"{' '.join(command)}: {said.stderr.strip()}")
    return dict(line.split("=", 1) for line in said.stdout.splitlines())


def is_active() -> bool:
    """Whether a terminal runs or starts."""
    return shows("ActiveState")["ActiveState"] in ("active", "activating", "reloading")


def is_on_trial() -> bool:
    """Whether a release is on trial, also where whoever asked for it has gone away."""
    command = ("systemctl", "is-active", f"{TRIAL_UNIT}.service")
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return said in ("active", "activating", "deactivating")


def trial_text(program: PurePosixPath) -> str:
    """systemd.service(5): the terminal is started from another release, and not once more where it fails."""
    return f"""\
# {MARK}
[Service]
ExecStart=
ExecStart={start_command(program)}
Restart=no
TimeoutStopSec={_STOP_S}
"""


def begin_trial(program: PurePosixPath) -> None:
    """From the next start on, the terminal is `program`. Raises CommandFailed or OSError."""
    TRIAL.parent.mkdir(parents=True, exist_ok=True)
    TRIAL.write_text(trial_text(program), encoding="utf-8")
    run_command("systemctl", "daemon-reload")


def end_trial() -> None:
    """From the next start on, the terminal is that of the release in force. Raises CommandFailed or OSError."""
    TRIAL.unlink(missing_ok=True)
    run_command("systemctl", "daemon-reload")


def stop() -> None:
    """Raises CommandFailed."""
    run_command("systemctl", "stop", TERMINAL_SERVICE)


def start_by_itself() -> None:
    """Have it started, and do not wait. Raises CommandFailed."""
    run_command("systemctl", "start", "--no-block", TERMINAL_SERVICE)


def start() -> "subprocess.Popen[bytes]":
    """A process that ends when the terminal is ready, with 0, or has failed."""
    return subprocess.Popen(("systemctl", "start", TERMINAL_SERVICE), stdin=subprocess.DEVNULL)
