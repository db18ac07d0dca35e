"""What is to be on a system, what is there, and the changes that lead from one to the other: all of it plain values."""

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

# An address's name and password, which are nobody's to see in what is printed.
_CREDENTIALS = re.compile(r"(?<=//)[^/@\s]*@")


@dataclass(frozen=True)
class File:
    """A file with this text. Whose it is, where not root's, is for tmpfiles.d to say.

    `mode` None: as the file system has it, such as a boot partition, which knows no modes.
    """

    text: str
    mode: int | None = 0o644


@dataclass(frozen=True)
class Link:
    """A symbolic link."""

    target: str


# What is at a path; None: nothing.
Entry = File | Link | None


@dataclass(frozen=True)
class Change:
    """What is at `path`, an absolute path of the system, and what is to be there."""

    path: str
    before: Entry
    after: Entry


def changes(there: Mapping[str, Entry], wanted: Mapping[str, Entry]) -> tuple[Change, ...]:
    """The changes that make of what is `there` what is `wanted`, in the order of `wanted`."""
    return tuple(Change(path, there[path], entry) for path, entry in wanted.items() if there[path] != entry)


def shown(change: Change) -> Iterator[str]:
    """The lines of a change as a unified diff, with its modes and links; passwords in addresses are left out."""
    before, after = change.before, change.after
    yield f"{_verb(change)} {change.path}{_mode(before, after)}"
    for entry, sign in ((before, "-"), (after, "+")):
        if isinstance(entry, Link):
            yield f"{sign}-> {entry.target}"
    old, new = (
        _CREDENTIALS.sub("...@", entry.text).splitlines() if isinstance(entry, File) else []
        for entry in (before, after)
    )
    names = ("/dev/null" if before is None else change.path), ("/dev/null" if after is None else change.path)
    yield from (line.rstrip("\n") for line in difflib.unified_diff(old, new, *names, lineterm=""))


def _verb(change: Change) -> str:
    if change.before is None:
        return "create"
    return "remove" if change.after is None else "change"


def _mode(before: Entry, after: Entry) -> str:
    if not isinstance(after, File) or after.mode is None or (isinstance(before, File) and before.mode == after.mode):
        return ""
    return f" (mode {after.mode:04o})"
