"""Which of the locked packages a release holds: those that boxman needs on a table's computer, and what they need."""

import re
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import PackageNotFoundError, requires
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from provisioning.release.facts import ARCHITECTURES

EXTRAS: Final = ("pi", "node")
"""Of boxman's extras, those of a table's own computer; the others are for tests and for the centre."""

SOURCE_ONLY: Final = frozenset({"nkeys"})
"""Nobody publishes these as wheels; they are of pure Python, the same for each architecture."""

# colorzero names it for its own installation and imports nothing of it.
_NOT_IMPORTED: Final = frozenset({"setuptools"})
_ENTRY: Final = re.compile(r"^([A-Za-z0-9._-]+)==\S+")

Needs = Callable[[str], Iterable[str] | None]


def installed_needs(name: str) -> Iterable[str] | None:
    """The requirements of a package as its metadata has them; none, where it is for other computers than this one."""
    try:
        return requires(name)
    except PackageNotFoundError:
        return None


def locked_requirements(lock: str, architecture: str, needs: Needs = installed_needs) -> Mapping[str, str]:
    """The part of a lock file that a release for an architecture takes: each package's lines, with hashes, by its name.

    `needs` gives the requirements of a package by its name. Raises KeyError for one that is not in the lock file.
    """
    entries = _entries(lock)
    return {name: entries[name] for name in sorted(_closure(architecture, needs))}


def _entries(lock: str) -> Mapping[str, str]:
    """Each package's lines. Its condition is left out: pip would ask it of the computer that it runs on."""
    found: dict[str, str] = {}
    name = None
    for line in lock.splitlines():
        if entry := _ENTRY.match(line):
            name = canonicalize_name(entry[1])
            found[name] = f"{entry[0]} \\\n"
        elif name is not None and line.lstrip().startswith("--hash="):
            found[name] += f"{line}\n"
    return {name: text.rstrip("\\\n ") + "\n" for name, text in found.items()}


def _closure(architecture: str, needs: Needs) -> set[str]:
    surroundings = {"platform_machine": ARCHITECTURES[architecture], "sys_platform": "linux"}
    found: set[str] = set()
    todo = [("boxman", frozenset(EXTRAS))]
    done = set()
    while todo:
        name, extras = todo.pop()
        if (name, extras) in done:
            continue
        done.add((name, extras))
        for text in needs(name) or ():
            needed = Requirement(text)
            asked = needed.marker is None or any(
                needed.marker.evaluate(surroundings | {"extra": extra}) for extra in ("", *extras)
            )
            one = canonicalize_name(needed.name)
            if asked and one not in _NOT_IMPORTED:
                found.add(one)
                todo.append((one, frozenset(needed.extras)))
    return found - {"boxman"}
