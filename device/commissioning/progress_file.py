"""How far a commissioning has come, kept in the data folder: after a power cut it goes on where it was.

The file is written whole beside the old one, flushed, and put in its place.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from device.commissioning.machine import Result
from device.data_folder import give_to_owner, sync_folder

COMMISSIONING_FOLDER: Final = "commissioning"
PROGRESS_FILE: Final = "progress.json"
_VERSION: Final = 1
_FILE_BYTES_MAX: Final = 1 << 20
# A day: more than any contact's, and no more than what is made of it can hold.
_BOUNCE_US_MAX: Final = 86_400_000_000


class ProgressError(Exception):
    """The file cannot be used; one line that says what would be right."""


@dataclass(frozen=True)
class Progress:
    """A commissioning that was begun, under which configuration (its hash), and what its steps came to so far.

    `begun` and `ended` are wall times; `ended` None: it still goes on. `journal_seq` is the journal's last event when
    it ended. `cut_boot` is the run of the operating system in which the cut of the power was asked for, `firmware`
    that of the node. `on_page_by` is who tries the table on the console's page, to which the terminal's next start
    goes; None: it starts as ever. `on_page_key` is the digest of what the browser has where that person signed in to
    begin; None: nobody signs in at this table.
    """

    configuration: str
    begun: str
    results: Mapping[str, Result]
    cut_boot: str | None = None
    ended: str | None = None
    journal_seq: int = 0
    firmware: str | None = None
    on_page_by: str | None = None
    on_page_key: str | None = None


def read_progress(folder: Path) -> Progress | None:
    """What the data folder `folder` holds of one that is not over; None where nothing is. Raises ProgressError."""
    path = folder / COMMISSIONING_FOLDER / PROGRESS_FILE
    try:
        with path.open("rb") as file:
            return _progress(json.loads(file.read(_FILE_BYTES_MAX)))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ProgressError(f"{path}: cannot be read ({error.strerror})") from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise ProgressError(
            f"{path}: does not say how far the commissioning has come; remove it, and it begins anew"
        ) from None


def progress_on_page(folder: Path, configuration: str) -> Progress | None:
    """The commissioning under this configuration (its hash) that goes on on the console's page; None: the table plays.

    What was begun under another configuration, or cannot be read, waits for somebody who begins one.
    """
    try:
        progress = read_progress(folder)
    except ProgressError:
        return None
    if progress is None or progress.on_page_by is None or progress.configuration != configuration:
        return None
    return progress


def _progress(said: dict[str, Any]) -> Progress:
    """Raises ValueError, TypeError, KeyError or AttributeError."""
    if said.pop("version") != _VERSION:
        raise ValueError
    results = [_result(one) for one in said.pop("results")]
    progress = Progress(**said, results={result.step: result for result in results})
    texts, may_be_none = (
        (progress.configuration, progress.begun),
        (progress.cut_boot, progress.ended, progress.firmware, progress.on_page_by, progress.on_page_key),
    )
    if not all(isinstance(text, str) for text in texts) or type(progress.journal_seq) is not int:
        raise ValueError
    if not all(text is None or isinstance(text, str) for text in may_be_none):
        raise ValueError
    return progress


def _result(said: dict[str, Any]) -> Result:
    """Raises TypeError or ValueError."""
    result = Result(**said)
    texts = (result.step, result.by, result.at, result.said)
    if not all(isinstance(text, str) for text in texts) or type(result.edges) is not int:
        raise ValueError
    if result.verdict not in ("passed", "failed", "skipped"):
        raise ValueError
    if result.reason not in (None, "also", "both_faces", "not_lit", "said"):
        raise ValueError
    if result.bounce_us is not None and not (type(result.bounce_us) is int and 0 <= result.bounce_us <= _BOUNCE_US_MAX):
        raise ValueError
    return result


def write_progress(folder: Path, progress: Progress) -> None:
    """Keep it in the data folder `folder`; it is on the disk when this returns. Raises ProgressError."""
    said = {field.name: getattr(progress, field.name) for field in fields(progress)}
    said |= {"version": _VERSION, "results": [vars(result) for result in progress.results.values()]}
    write_whole(folder, PROGRESS_FILE, json.dumps(said, ensure_ascii=False, indent=1) + "\n")


def write_whole(folder: Path, name: str, text: str) -> Path:
    """Write a file of the commissioning in the data folder: whole and flushed, or not at all. Raises ProgressError."""
    path = folder / COMMISSIONING_FOLDER / name
    unfinished = path.with_name(f"{name}.new")
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        unfinished.unlink(missing_ok=True)
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            give_to_owner(file.fileno(), folder)
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
        sync_folder(path.parent)
        sync_folder(folder.absolute())
    except OSError as error:
        raise ProgressError(f"{path}: cannot be written ({error.strerror})") from error
    return path


def remove_progress(folder: Path) -> None:
    """The commissioning is over and recorded. Raises ProgressError."""
    path = folder / COMMISSIONING_FOLDER / PROGRESS_FILE
    try:
        path.unlink(missing_ok=True)
        sync_folder(path.parent)
    except OSError as error:
        raise ProgressError(f"{path}: cannot be removed ({error.strerror})") from error
