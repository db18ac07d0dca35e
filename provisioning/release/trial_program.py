"""Tries a release: `python -m provisioning.release.trial_program try VERSION`, and `... end` in any case afterwards.

Run by the service manager and from the release in force, so that it goes on whoever has asked for it goes away, and
however broken the release on trial is.
"""

import re
import sys
import time
from pathlib import Path, PurePosixPath
from typing import Final

from device.data_folder import JOURNAL_FILE_NAME
from device.journal import JournalError, JournalReader
from provisioning.command_failed import CommandFailed
from provisioning.configuration import ConfigurationError, read_configuration
from provisioning.install.places import CONFIGURATION, DATA, RELEASES_FOLDER
from provisioning.install.units import WATCHDOG_S
from provisioning.release import terminal_service
from provisioning.release.release_folder import carry_out, current_version
from provisioning.release.switching import release_path, steps_to_switch
from provisioning.release.trial import Proof, Seen, Trial, Verdict, opened_in, proof_in
from provisioning.release.writable_releases import writable_releases

OUTCOME: Final = Path("/run/boxman-trial.txt")
"""Why the last trial has failed, in one line; empty where it has not."""

_LOOK_S: Final = 0.5
_BATCH: Final = 500
_JOURNAL: Final = Path(DATA) / JOURNAL_FILE_NAME
_TIME_SPAN: Final = re.compile(r"([0-9.]+)(h|min|s|ms)(?![a-z])")
_UNITS_S: Final = {"h": 3600.0, "min": 60.0, "s": 1.0, "ms": 0.001}
_FOLDER: Final = Path(RELEASES_FOLDER)


def try_release(version: str) -> Verdict:
    """Have the release run the table, and make it the one in force when it has proven itself.

    Otherwise all is left for `end_trial`. Raises CommandFailed, JournalError or OSError, which is no proof either.
    """
    configuration = read_configuration(Path(CONFIGURATION))
    is_open, seq = terminal_service.open_until(configuration)
    if is_open:
        return Verdict(False, "the table was opened meanwhile")
    terminal_service.stop()
    if seq and opened_in(_lines(seq + 1)):
        return Verdict(False, "the table was opened meanwhile")
    began_seq = _last_seq()
    silence_s = _seconds(terminal_service.shows("WatchdogUSec")["WatchdogUSec"])
    terminal_service.begin_trial(_program(version))
    trial = Trial(time.monotonic(), silence_s)
    starting = terminal_service.start()
    while True:
        # In this order: one that is ready is active from then on.
        start_status = starting.poll()
        told = terminal_service.shows("ActiveState", "StatusText")
        seen = Seen(start_status, told["ActiveState"] == "active", told["StatusText"], _proof(began_seq, version))
        verdict = trial.judge(time.monotonic(), seen)
        if verdict.good is not None:
            break
        time.sleep(_LOOK_S)
    if verdict.good:
        with writable_releases() as folder:
            carry_out(steps_to_switch(version), folder)
    return verdict


def end_trial() -> None:
    """The release in force runs the table: the one that was tried, if it has proven itself, or else the former one."""
    if not terminal_service.TRIAL.exists():
        # Nothing was begun, but for a terminal that may have been stopped.
        terminal_service.start_by_itself()
        return
    tried = terminal_service.TRIAL.read_text(encoding="utf-8")
    if tried == terminal_service.trial_text(_program(current_version(_FOLDER))):
        terminal_service.end_trial()
        return
    try:
        terminal_service.stop()
    finally:
        terminal_service.end_trial()
        terminal_service.start_by_itself()


def _program(version: str) -> PurePosixPath:
    return PurePosixPath(RELEASES_FOLDER) / release_path(version) / "bin" / "boxman"


def _seconds(text: str) -> float:
    """Of a time span as systemctl shows it, such as "30s" or "1min 30s"; where there is none, the watchdog's own."""
    parts = _TIME_SPAN.findall(text)
    return sum(float(number) * _UNITS_S[unit] for number, unit in parts) or WATCHDOG_S


def _last_seq() -> int:
    if not _JOURNAL.exists():
        return 0
    with JournalReader(_JOURNAL) as reader:
        return reader.last_seq


def _proof(after: int, version: str) -> Proof:
    try:
        return proof_in(_lines(after + 1), version)
    except JournalError:
        # It is being made, or made another version's, just now.
        return Proof()


def _lines(first: int) -> list[str]:
    if not _JOURNAL.exists():
        return []
    with JournalReader(_JOURNAL) as reader:
        return reader.read(first, _BATCH)


def main() -> int:
    """Do what the arguments say; returns the exit status."""
    if sys.argv[1:] == ["end"]:
        end_trial()
        return 0
    try:
        verdict = try_release(sys.argv[2])
    except (CommandFailed, ConfigurationError, JournalError, OSError) as error:
        verdict = Verdict(False, str(error))
    print(f"{sys.argv[2]}: {verdict.reason or 'has proven itself'}", flush=True)
    OUTCOME.write_text(verdict.reason, encoding="utf-8")
    return 0 if verdict.good else 1


if __name__ == "__main__":
    sys.exit(main())
