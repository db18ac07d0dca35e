"""The folder of the releases, to be written, also on a system that is read only."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from provisioning.install.places import RELEASES_FOLDER
from provisioning.install.writable_root import is_read_only, writable_root


@contextmanager
def writable_releases() -> Iterator[Path]:
    """The folder, for as long as it takes to change it; what is changed is in force at once. Raises CommandFailed."""
    if is_read_only(Path("/")):
        with writable_root(None) as root:
            yield root / RELEASES_FOLDER.lstrip("/")
    else:
        yield Path(RELEASES_FOLDER)
