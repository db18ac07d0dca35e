"""The file of the people of a table, with what proves their PINs: `people.json` in the data folder, for its owner only.

It is written whole beside the old one, flushed, and put in its place: after a power cut it is the old one or the new
one. PINs are hashed with Argon2id. A PIN of a few digits is found from its hash by whoever has the file and a few
hours: it is the file's mode and the lock after wrong tries that protect it.
"""

import fcntl
import json
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import nacl.pwhash
from nacl.exceptions import InvalidkeyError

from device.data_folder import give_to_owner, sync_folder
from device.dice_control.names import person_fault, same_name
from device.people import PEOPLE_MAX, ROLES

PEOPLE_FILE: Final = "people.json"
PIN_DIGITS: Final = (4, 8)
FILE_VERSION: Final = 1
_FILE_BYTES_MAX: Final = 256 * 1024
_HASH_LENGTH_MAX: Final = 128
_PINS_MAX: Final = 10**9


class PeopleError(Exception):
    """The file cannot be used, or what was asked for cannot be; one line that says what would be right."""


@dataclass(frozen=True)
class Listed:
    """A person of the file; `pins` counts how often the PIN was set, `hash` proves it (None: there is none yet)."""

    name: str
    role: str
    pins: int = 0
    hash: str | None = None


def pin_fault(pin: str) -> str | None:
    """Why this cannot be a PIN, and what would be right; None where it can be."""
    least, most = PIN_DIGITS
    if not (pin.isascii() and pin.isdecimal() and least <= len(pin) <= most):
        return f"a PIN has {least} to {most} digits"
    steps = {int(after) - int(before) for before, after in pairwise(pin)}
    if steps in ({0}, {1}, {-1}):
        return "this PIN is the first that anyone would try; choose another one"
    return None


def hashed(pin: str) -> str:
    """What proves a PIN. Takes a tenth of a second and 64 MiB, on purpose."""
    made: bytes = nacl.pwhash.argon2id.str(
        pin.encode("ascii"),
        opslimit=nacl.pwhash.argon2id.OPSLIMIT_INTERACTIVE,
        memlimit=nacl.pwhash.argon2id.MEMLIMIT_INTERACTIVE,
    )
    return made.decode("ascii")


def is_pin(proof: str, pin: str) -> bool:
    """Whether `proof` is of this PIN. Takes as long as `hashed`."""
    try:
        return nacl.pwhash.verify(proof.encode("ascii"), pin.encode("utf-8"))
    except (InvalidkeyError, ValueError):
        return False


def read_people(path: Path) -> tuple[Listed, ...]:
    """The people in a file; none where there is no file. Raises PeopleError."""
    try:
        # O_NONBLOCK: a pipe in its place must not hold up a table that runs.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            text = _content(path, descriptor)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise PeopleError(
            f"{path}: cannot be read ({error.strerror}); it should belong to the terminal's user"
        ) from None
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        raise PeopleError(
            f"{path}: is no JSON; put it back from a copy, or remove it and add the people again"
        ) from None
    return _people(path, said)


@contextmanager
def changing(folder: Path) -> Iterator[Callable[[tuple[Listed, ...]], None]]:
    """While nobody else changes it: gives what writes the file of a data folder anew. Raises PeopleError."""
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise PeopleError(
            f"{folder}: cannot be opened ({error.strerror}); --data names the table's data folder"
        ) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield lambda people: _write(folder / PEOPLE_FILE, people)
    finally:
        os.close(lock)


def find(people: tuple[Listed, ...], name: str) -> Listed:
    """The person whose name reads like `name`. Raises PeopleError."""
    for person in people:
        if same_name(person.name, name):
            return person
    known = ", ".join(person.name for person in people) or "nobody yet"
    raise PeopleError(f"nobody here is called {name}; listed: {known}")


def with_person(people: tuple[Listed, ...], name: str, role: str) -> tuple[Listed, ...]:
    """One more person, who has no PIN yet. Raises PeopleError."""
    if fault := person_fault(name):
        raise PeopleError(f"the name {fault}")
    if any(same_name(person.name, name) for person in people):
        raise PeopleError(f"there is a person called {name} already, or one whose name reads like it")
    if len(people) >= PEOPLE_MAX:
        raise PeopleError(f"a table has at most {PEOPLE_MAX} people; remove one first")
    return (*people, Listed(name, role))


def with_pin(people: tuple[Listed, ...], name: str, pin: str) -> tuple[Listed, ...]:
    """The same people, of whom one has another PIN. Raises PeopleError."""
    chosen = find(people, name)
    if fault := pin_fault(pin):
        raise PeopleError(fault)
    changed = replace(chosen, pins=chosen.pins + 1, hash=hashed(pin))
    return tuple(changed if person is chosen else person for person in people)


def without(people: tuple[Listed, ...], name: str) -> tuple[Listed, ...]:
    """All but one. Raises PeopleError."""
    chosen = find(people, name)
    return tuple(person for person in people if person is not chosen)


def _content(path: Path, descriptor: int) -> bytes:
    """Raises PeopleError or OSError."""
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise PeopleError(f"{path}: is no file; put the list back from a copy, or remove it and add the people again")
    if found.st_mode & 0o077:
        raise PeopleError(f"{path}: others may read or write it; set its mode to 600 and give everyone a new PIN")
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        return file.read(_FILE_BYTES_MAX + 1)


def _people(path: Path, said: Any) -> tuple[Listed, ...]:
    wrong = PeopleError(f"{path}: is no list of people as `boxman people` writes it; put it back from a copy")
    if not isinstance(said, dict) or said.get("version") != FILE_VERSION or not isinstance(said.get("people"), list):
        raise wrong
    people: tuple[Listed, ...] = ()
    for one in said["people"]:
        if not isinstance(one, dict) or one.keys() != {"name", "role", "pins", "hash"}:
            raise wrong
        name, role, pins, proof = one["name"], one["role"], one["pins"], one["hash"]
        proven = proof is None or (isinstance(proof, str) and proof.isascii() and len(proof) <= _HASH_LENGTH_MAX)
        counted = type(pins) is int and 0 <= pins <= _PINS_MAX and (proof is None) == (pins == 0)
        if role not in ROLES or not counted or not proven:
            raise wrong
        try:
            people = (*with_person(people, name, role)[:-1], Listed(name, role, pins, proof))
        except PeopleError:
            raise wrong from None
    return people


def _write(path: Path, people: tuple[Listed, ...]) -> None:
    said = {"version": FILE_VERSION, "people": [vars(person) for person in people]}
    text = json.dumps(said, ensure_ascii=False, indent=1) + "\n"
    beside = path.with_name(path.name + ".new")
    try:
        beside.unlink(missing_ok=True)
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            give_to_owner(file.fileno(), path.parent)
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise PeopleError(f"{path}: cannot be written ({error.strerror})") from None
