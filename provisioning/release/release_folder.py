"""The folder with the releases of a table's computer, /opt/boxman: what is in it, and the steps that change it."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from device.data_folder import sync_folder
from provisioning.command_failed import CommandFailed
from provisioning.release.bundle import Bundle, unpack
from provisioning.release.facts import FACTS_FILE, BadFacts, Facts, facts_from
from provisioning.release.switching import (
    CURRENT,
    RELEASES,
    Flush,
    FlushFolder,
    MakeLink,
    Remove,
    Rename,
    Step,
    Unpack,
    release_path,
)
from provisioning.release.tree import compile_tree


def current_version(folder: Path) -> str:
    """The version of the release in force. Raises CommandFailed where there is none."""
    link = folder / CURRENT
    try:
        target = link.readlink()
    except OSError as error:
        raise CommandFailed(
            f"{link}: this boxman was not installed as a release; install its Debian package"
        ) from error
    if target.parts[:-1] != (RELEASES,):
        raise CommandFailed(f"{link}: leads to {target}, which is no release")
    return target.name


def facts_in(folder: Path, version: str) -> Facts:
    """What a release that is there says of itself. Raises CommandFailed."""
    path = folder / release_path(version) / FACTS_FILE
    try:
        return facts_from(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, BadFacts) as error:
        raise CommandFailed(f"{path}: cannot be read ({error})") from error


def others_in(folder: Path) -> list[str]:
    """The names of all that is beside the release in force. Raises CommandFailed."""
    current = current_version(folder)
    return sorted(path.name for path in (folder / RELEASES).iterdir() if path.name != current)


def carry_out(steps: Iterable[Step], folder: Path, bundle: Bundle | None = None) -> None:
    """Carry out steps, of which Unpack takes `bundle`. Raises BadBundle or OSError."""
    for step in steps:
        here = folder / step.path
        match step:
            case Remove():
                if here.is_dir() and not here.is_symlink():
                    shutil.rmtree(here)
                else:
                    here.unlink(missing_ok=True)
            case Unpack():
                assert bundle is not None
                unpack(bundle, here)
                compile_tree(here)
            case Flush():
                _flush(here)
            case FlushFolder():
                sync_folder(here)
            case Rename():
                here.rename(folder / step.to)
            case MakeLink():
                here.symlink_to(step.target)


def _flush(folder: Path) -> None:
    # All at once, which takes a card far less time than one file after the other; then each, to hear of what failed.
    os.sync()
    for parent, _, files in os.walk(folder):
        for name in files:
            path = Path(parent, name)
            if not path.is_symlink():
                descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
        sync_folder(Path(parent))
