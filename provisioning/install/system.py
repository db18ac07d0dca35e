"""The system that is installed on: this computer, or a folder that holds the file system of another one."""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath

from provisioning.command_failed import CommandFailed
from provisioning.install import boot_lines
from provisioning.install.changes import Change, Entry, File, Link
from provisioning.install.places import DATA, MARK
from provisioning.install.plan import RECORD, Found, boot_files, recorded_in

_BOOT_FOLDERS = ("/boot/firmware", "/boot")
_COMPOSITORS = ("/usr/bin/cage",)
# Without it logind lets nobody but root have the first console.
_AUTHORITIES = ("/usr/lib/polkit-1/polkitd", "/usr/libexec/polkitd")
_OWN_FOLDERS = (".conf.d", ".mount.d", "local-fs.target.wants", "sysusers.d", "boxman")
_BROWSERS = ("/usr/bin/chromium", "/usr/bin/chromium-browser")


class System:
    """A file system below `root`; every path is one of that system, such as /etc/boxman."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def real(self, path: str) -> Path:
        """Where `path` is here. Raises CommandFailed where a link leads out of the root."""
        here = self.root / PurePosixPath(path).relative_to("/")
        root = self.root.resolve()
        if not here.parent.resolve().is_relative_to(root):
            raise CommandFailed(f"{here.parent}: leads out of {self.root}; make its link a relative one")
        return here

    def inside(self, folder: str) -> Path:
        """Where what is in the folder `folder` is here. Raises CommandFailed where a link leads out of the root."""
        return self.real(f"{folder}/.boxman").parent

    def read(self, path: str, like: Entry) -> Entry:
        """What is at `path`; its mode only where that of `like` matters. Raises CommandFailed."""
        here = self.real(path)
        try:
            if here.is_symlink():
                return Link(str(here.readlink()))
            with_mode = not (isinstance(like, File) and like.mode is None)
            return File(here.read_text(encoding="utf-8"), here.stat().st_mode & 0o7777 if with_mode else None)
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise CommandFailed(f"{here}: cannot be read ({error})") from error

    def find(self, program: PurePosixPath) -> Found:
        """What a plan depends on. Raises CommandFailed."""
        folder = next((folder for folder in _BOOT_FOLDERS if self.real(f"{folder}/config.txt").is_file()), None)
        boot: dict[str, str] = {}
        for path in boot_files(folder) if folder is not None else ():
            if isinstance(there := self.read(path, None), File):
                boot[path] = there.text
        if folder is not None:
            self._check_boot(folder, boot)
        record = self.read(RECORD, None)
        return Found(
            program,
            folder,
            self._first(_COMPOSITORS) if self._first(_AUTHORITIES) is not None else None,
            self._first(_BROWSERS),
            recorded_in(record.text) if isinstance(record, File) else (),
            boot,
        )

    def _check_boot(self, folder: str, boot: Mapping[str, str]) -> None:
        config, line = f"{folder}/config.txt", f"{folder}/cmdline.txt"
        if config not in boot:
            raise CommandFailed(f"{self.real(config)}: is a link; it should be a file")
        if line not in boot:
            raise CommandFailed(f"{self.real(folder)}: holds config.txt, but no cmdline.txt beside it")
        for path, fault in (
            (config, boot_lines.config_fault(boot[config])),
            (line, boot_lines.command_line_fault(boot[line])),
        ):
            if fault is not None:
                raise CommandFailed(f"{self.real(path)}: {fault}")

    def _first(self, paths: Iterable[str]) -> str | None:
        return next((path for path in paths if self.real(path).exists()), None)

    def has_data_on_root(self) -> bool:
        """Whether there is a table's data that a partition, mounted over it, would hide."""
        here = self.real(DATA)
        return here.is_dir() and not here.is_mount() and any(here.iterdir())

    def apply(self, change: Change) -> None:
        """Make one change, whole or not at all. Raises CommandFailed."""
        here = self.real(change.path)
        try:
            if change.after is None:
                here.unlink()
                _remove_empty(here.parent)
                return
            here.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(change.after, Link):
                _put(here, change.after)
            else:
                _write(here, change.after)
        except OSError as error:
            raise CommandFailed(f"{here}: cannot be written ({error.strerror})") from error

    def tidy(self, path: str) -> None:
        """Remove what a change of `path` that was cut off has left beside it. Raises CommandFailed."""
        left = _unfinished(self.real(path))
        try:
            if left.is_symlink() or left.exists():
                left.unlink()
                _remove_empty(left.parent)
        except OSError as error:
            raise CommandFailed(f"{left}: cannot be removed ({error.strerror})") from error


def check_foreign(changes: Iterable[Change], recorded: Iterable[str]) -> None:
    """Raises CommandFailed where a file is somebody else's that boxman would put one of its own in the place of."""
    known = {*recorded, RECORD}
    for change in changes:
        before = change.before
        if before is None or change.path in known or not _is_own(change.after):
            continue
        if not (isinstance(before, File) and MARK in before.text):
            raise CommandFailed(f"{change.path}: is there already, and is not boxman's; move it away")


def _is_own(entry: Entry) -> bool:
    return isinstance(entry, Link) or (isinstance(entry, File) and MARK in entry.text and entry.mode is not None)


def _unfinished(here: Path) -> Path:
    """Where an entry is made before it has its place; always there, so that what a cut has left is found again."""
    return here.with_name(f".boxman-{here.name}")


def _write(here: Path, file: File) -> None:
    new = _unfinished(here)
    new.unlink(missing_ok=True)
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "w", encoding="utf-8") as stream:  # noqa: PTH123
            stream.write(file.text)
            stream.flush()
            if file.mode is not None:
                os.fchmod(descriptor, file.mode)
            else:
                # A boot partition's own idea of modes may allow no other.
                with suppress(PermissionError):
                    os.fchmod(descriptor, here.stat().st_mode & 0o777 if here.exists() else 0o644)
            os.fsync(descriptor)
        new.replace(here)
    except OSError:
        new.unlink(missing_ok=True)
        raise
    _flush(here.parent)


def _put(here: Path, link: Link) -> None:
    new = _unfinished(here)
    new.unlink(missing_ok=True)
    new.symlink_to(link.target)
    new.replace(here)
    _flush(here.parent)


def _flush(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_empty(folder: Path) -> None:
    """Remove the folder of a file of ours where nothing else is in it, and Debian has no such folder by itself."""
    if folder.name.endswith(_OWN_FOLDERS) and not any(folder.iterdir()):
        folder.rmdir()
