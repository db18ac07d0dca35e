"""Which of the locked packages a release holds: those that boxman needs on a table's computer, and what they need."""

import re
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import PackageNotFoundError, requires
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from provisioning.command_failed import CommandFailed
from provisioning.release.facts import ARCHITECTURES, PYTHONS

EXTRAS: Final = ("pi", "node")
"""Of boxman's extras, those of a table's own computer; the others are for tests and for the centre."""

SOURCE_ONLY: Final = frozenset({"nkeys"})
"""Nobody publishes these as wheels; they are of pure Python, the same for each architecture."""

OF_THE_SYSTEM: Final = {"3.13": {"lgpio": "_lgpio"}}
"""Nobody publishes wheels of these for these Pythons: the compiled module is that of Debian's package python3-NAME."""

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

    `needs` gives the requirements of a package by its name. Raises KeyError for one that is not in the lock file, and
    CommandFailed for one that it has in a version for one Python and in another for another.
    """
    entries = _entries(lock)
    needed = {name: entries[name] for name in sorted(_closure(architecture, needs))}
    for name, versions in needed.items():
        if len(versions) > 1:
            raise CommandFailed(
                f"{name} is locked in {len(versions)} versions; a release holds one for all its Pythons"
            )
    return {name: text for name, (text,) in needed.items()}


def _entries(lock: str) -> Mapping[str, list[str]]:
    """Each package's lines, for each of its versions.

    Their conditions are left out: pip would ask them of the computer that it runs on.
    """
    found: dict[str, list[str]] = {}
    name = None
    for line in lock.splitlines():
        if entry := _ENTRY.match(line):
            name = canonicalize_name(entry[1])
            found.setdefault(name, []).append(f"{entry[0]} \\\n")
        elif name is not None and line.lstrip().startswith("--hash="):
            found[name][-1] += f"{line}\n"
    return {name: [text.rstrip("\\\n ") + "\n" for text in texts] for name, texts in found.items()}


def _closure(architecture: str, needs: Needs) -> set[str]:
    surroundings = [
        {
            "platform_machine": ARCHITECTURES[architecture],
            "sys_platform": "linux",
            "python_version": python,
            "python_full_version": f"{python}.0",
        }
        for python in PYTHONS
    ]
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
                needed.marker.evaluate(surrounding | {"extra": extra})
                for surrounding in surroundings
                for extra in ("", *extras)
            )
            one = canonicalize_name(needed.name)
            if asked and one not in _NOT_IMPORTED:
                found.add(one)
                todo.append((one, frozenset(needed.extras)))
    return found - {"boxman"}
