"""`boxman commission verify`: whether a report is as a unit's key has signed it, and whose key that is."""

import argparse
from pathlib import Path
from typing import Any, Final

from device.commissioning.report import ReportError, read_signed
from device.table_key import KEY_FILE_NAME, TableKeyError, is_public_key, read_table_key
from provisioning.command_failed import CommandFailed
from provisioning.data_option import add_data_option
from provisioning.standard_streams import visible

# No report is longer.
_FILE_BYTES_MAX: Final = 1 << 20


def add_verify_action(action: argparse.ArgumentParser) -> None:
    """Say what `commission verify` takes."""
    action.add_argument("report", type=Path, metavar="FILE", help="the report's JSON")
    action.add_argument("--key", metavar="U…", help="the unit's public key; without it, that of the data folder")
    add_data_option(action)
    action.set_defaults(start=lambda chosen: verify_report(chosen.report, chosen.key, chosen.data))


def verify_report(path: Path, key: str | None, data: Path) -> int:
    """Say by which unit a report is signed, and what it says; 0 when it is the unit that is meant.

    Raises CommandFailed where the signature is not that of the report.
    """
    if key is not None and not is_public_key(key):
        raise CommandFailed("--key: is no public key of a unit; `boxman table key` there prints it, U and 55 more")
    meant, whose = (key, "the key that was given") if key is not None else (_own_key(data), f"the key of {data}")
    try:
        with path.open("rb") as file:
            said = read_signed(file.read(_FILE_BYTES_MAX))
    except OSError as error:
        raise CommandFailed(f"{path}: cannot be read ({error.strerror})") from error
    except ReportError as error:
        raise CommandFailed(f"{path}: {error}") from error
    if meant is not None and said["key"] != meant:
        raise CommandFailed(f"{path}: is signed with the key {said['key']}, but {whose} is {meant}")
    try:
        content_said = visible(_content(said["commissioning"]))
    except (KeyError, TypeError, AttributeError):
        raise CommandFailed(f"{path}: is signed with the key {said['key']}, but is no report of this version") from None
    print(f"{path}: as it was signed with the key {said['key']}")
    if meant is None:
        print(f"Whose key that is, nothing here tells: {data} holds none. Name the unit's with --key.")
    else:
        print(f"That is {whose}.")
    print(content_said)
    return 0 if meant is not None else 1


def _own_key(data: Path) -> str | None:
    try:
        own = read_table_key(data / KEY_FILE_NAME)
    except TableKeyError as error:
        raise CommandFailed(str(error)) from error
    return None if own is None else own.public


def _content(report: dict[str, Any]) -> str:
    verdicts = [step["verdict"] for step in report["steps"]]
    counted = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in ("passed", "failed", "skipped"))
    return f"Table {report['table']} of {report['site']}, {report['ended']}, by {', '.join(report['by'])}: {counted}"
