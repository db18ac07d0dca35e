"""A folder for many short runs that flush often: in memory, where the system has such a place."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_SHARED_MEMORY: Final = Path("/dev/shm")


@contextmanager
def memory_folder() -> Iterator[Path]:
    """An empty folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(dir=_SHARED_MEMORY if _SHARED_MEMORY.is_dir() else None) as name:
        yield Path(name)
