"""`boxman update`: a signed release takes the place of the one that runs, or does not, and then all is as before."""

import argparse
import fcntl
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from device.data_folder import JOURNAL_FILE_NAME
from provisioning.command_failed import CommandFailed
from provisioning.configuration import Configuration, ConfigurationError, read_configuration
from provisioning.install.places import CONFIGURATION, DATA, RELEASES_FOLDER, UNITS
from provisioning.install.plan import TERMINAL_SERVICE
from provisioning.release.bundle import BadBundle, Bundle
from provisioning.release.bundle_source import read_bundle
from provisioning.release.facts import Facts
from provisioning.release.fitness import Unit, why_unfit, why_unsigned
from provisioning.release.release_folder import carry_out, current_version, facts_in, others_in
from provisioning.release.switching import UNFINISHED, Remove, steps_to_unpack
from provisioning.release.terminal_service import TRIAL_UNIT, is_on_trial, open_until
from provisioning.release.trial_program import OUTCOME
from provisioning.release.writable_releases import writable_releases

_LOCK: Final = Path("/run/boxman-update.lock")


def add_update_command(update: argparse.ArgumentParser) -> None:
    """Say what `boxman update` takes."""
    update.add_argument("source", metavar="FILE_OR_URL", help="a signed release bundle, such as on a USB stick")
    update.set_defaults(start=lambda chosen: update_unit(chosen.source))


def update_unit(source: str) -> int:
    """Put a release in force. Raises CommandFailed, and then the one before is, or is again."""
    if os.geteuid() != 0:
        raise CommandFailed("this changes the system; run it as root")
    folder = Path(RELEASES_FOLDER)
    now = facts_in(folder, current_version(folder))
    if not (Path(UNITS) / TERMINAL_SERVICE).exists():
        raise CommandFailed("there is no terminal to update here: boxman provision install sets one up")
    with _alone():
        configuration = _configuration()
        bundle = read_bundle(source, configuration.ca)
        if why := why_unsigned(now, bundle.signer) or why_unfit(bundle.facts, _unit(now, configuration)):
            raise CommandFailed(f"{source}: {why}")
        print(f"laying {bundle.facts.version} beside {now.version}", flush=True)
        _lay(source, bundle)
        print(f"trying {bundle.facts.version}", flush=True)
        _try(bundle.facts.version)
    print(f"{bundle.facts.version} is in force; {now.version} was before")
    return 0


@contextmanager
def _alone() -> Iterator[None]:
    with _LOCK.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise CommandFailed("another update is under way") from error
        if is_on_trial():
            raise CommandFailed("another update is under way: its release is on trial")
        yield


def _configuration() -> Configuration:
    try:
        return read_configuration(Path(CONFIGURATION))
    except ConfigurationError as error:
        raise CommandFailed(str(error)) from error


def _unit(now: Facts, configuration: Configuration) -> Unit:
    is_open, _ = open_until(configuration)
    return Unit(
        now,
        f"{sys.version_info.major}.{sys.version_info.minor}",
        _journal_version(Path(DATA) / JOURNAL_FILE_NAME),
        is_open,
    )


def _journal_version(path: Path) -> int | None:
    """Of a journal of any version, also one that this program does not read."""
    if not path.exists():
        return None
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            return int(connection.execute("PRAGMA user_version").fetchone()[0])
    except sqlite3.Error as error:
        raise CommandFailed(f"{path}: cannot be read ({error})") from error


def _lay(source: str, bundle: Bundle) -> None:
    try:
        with writable_releases() as folder:
            try:
                carry_out(steps_to_unpack(bundle.facts.version, others_in(folder)), folder, bundle)
            except BaseException:
                carry_out((Remove(UNFINISHED),), folder)
                raise
    except BadBundle as error:
        raise CommandFailed(f"{source}: {error}") from error
    except OSError as error:
        raise CommandFailed(f"{RELEASES_FOLDER}: cannot be written ({error.strerror})") from error


def _try(version: str) -> None:
    """Have the service manager try it, for which nobody has to wait but who wants to know. Raises CommandFailed."""
    program = (sys.executable, "-I", "-m", "provisioning.release.trial_program")
    command = ["systemd-run", "--quiet", "--collect", "--wait", f"--unit={TRIAL_UNIT}"]
    # However slow the computer: what ends a trial is not to be ended itself.
    command += ["--property=TimeoutStopSec=10min"]
    command += [f"--property=ExecStopPost={' '.join(program)} end", *program, "try", version]
    OUTCOME.unlink(missing_ok=True)
    if subprocess.run(command, check=False).returncode == 0:
        return
    reason = OUTCOME.read_text(encoding="utf-8") if OUTCOME.exists() else "the trial broke off"
    now = current_version(Path(RELEASES_FOLDER))
    raise CommandFailed(f"{version} has not proven itself, and {now} is in force: {reason}")
