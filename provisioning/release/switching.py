"""The steps by which a release takes the place of another, so that a power cut between any two does no harm.

Plain values. `current` is a symbolic link, and it names the new release only when that has proven itself: until then
the new one runs by a drop-in of the service manager's in memory, which a power cut takes away. So whatever was carried
out, the next start runs a release that has proven itself. Paths are below the folder of the releases.
"""

from collections.abc import Iterable
from dataclasses import dataclass

RELEASES = "releases"
CURRENT = "current"
UNFINISHED = "releases/.unfinished"
_NEXT = ".next"


@dataclass(frozen=True)
class Remove:
    """Remove what is at `path`, if anything is."""

    path: str


@dataclass(frozen=True)
class Unpack:
    """Unpack the bundle into the new folder `path`, and compile it for this computer's Python."""

    path: str


@dataclass(frozen=True)
class Flush:
    """Have everything at and below `path` on the disk."""

    path: str


@dataclass(frozen=True)
class FlushFolder:
    """Have the names in the folder `path` on the disk."""

    path: str


@dataclass(frozen=True)
class Rename:
    """Rename `path` to `to`, in the place of a link that may be there."""

    path: str
    to: str


@dataclass(frozen=True)
class MakeLink:
    """Make a symbolic link at `path`."""

    path: str
    target: str


Step = Remove | Unpack | Flush | FlushFolder | Rename | MakeLink


def release_path(version: str) -> str:
    """The folder of a release."""
    return f"{RELEASES}/{version}"


def steps_to_unpack(version: str, others: Iterable[str]) -> tuple[Step, ...]:
    """Lay the release beside the one in force; `others` are all that is in the folder and not that one."""
    return (
        *(Remove(release_path(other)) for other in sorted(others)),
        Unpack(UNFINISHED),
        Flush(UNFINISHED),
        Rename(UNFINISHED, release_path(version)),
        FlushFolder(RELEASES),
    )


def steps_to_switch(version: str) -> tuple[Step, ...]:
    """Make the release that has proven itself the one in force."""
    return (
        Remove(_NEXT),
        MakeLink(_NEXT, release_path(version)),
        Rename(_NEXT, CURRENT),
        FlushFolder("."),
    )
