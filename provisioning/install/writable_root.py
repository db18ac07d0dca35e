"""A running system that is read only, made writable for as long as it takes to change it."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from provisioning.command_failed import CommandFailed
from provisioning.install.places import UNITS

_RUNTIME = Path("/run")
# Documentation/admin-guide/sysctl/vm.rst of Linux: 2 frees what is known of files that nobody uses.
_DROP_CACHES = Path("/proc/sys/vm/drop_caches")


def is_read_only(root: Path) -> bool:
    """Whether `root` is a running system whose files below /etc are in memory only (read_only.py)."""
    return root == Path("/") and (Path(UNITS) / "etc.mount").exists() and Path("/etc").is_mount()


@contextmanager
def writable_root(boot_folder: str | None) -> Iterator[Path]:
    """A folder below which the system's own files can be written, without what lies over them in memory.

    Raises CommandFailed.
    """
    with ExitStack() as stack:
        folder = _folder(stack)
        _bind(stack, "/", folder)
        if boot_folder is not None and Path(boot_folder).is_mount():
            _bind(stack, boot_folder, folder / boot_folder.lstrip("/"))
        yield folder


@contextmanager
def lasting_root() -> Iterator[Path]:
    """A folder below which the system's own files are read as the next start finds them. Raises CommandFailed."""
    with ExitStack() as stack:
        folder = _folder(stack)
        run_command("mount", "--bind", "/", str(folder))
        stack.callback(run_command, "umount", str(folder))
        yield folder


def _folder(stack: ExitStack) -> Path:
    return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="boxman-root-", dir=_RUNTIME)))


def _bind(stack: ExitStack, what: str, where: Path) -> None:
    run_command("mount", "--bind", what, str(where))
    stack.callback(run_command, "umount", str(where))
    run_command("mount", "-o", "remount,rw", str(where))
    stack.callback(_make_read_only, where)


def _make_read_only(where: Path) -> None:
    # What lies over the system in memory holds on to the files beneath that it has once shown, and with files that are
    # gone and yet held the kernel refuses.
    _DROP_CACHES.write_text("2\n", encoding="ascii")
    run_command("mount", "-o", "remount,ro", str(where))


def run_command(*command: str) -> None:
    """Run a command to its end. Raises CommandFailed with what it said."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise CommandFailed(f"{command[0]} cannot be run ({error.strerror})") from error
    if done.returncode != 0:
        # Lines that are set in only say where there is more to know.
        said = [line for line in (done.stderr or done.stdout).splitlines() if line.strip() and not line[0].isspace()]
        raise CommandFailed(f"{' '.join(command)}: {said[-1] if said else f'ended with {done.returncode}'}")
