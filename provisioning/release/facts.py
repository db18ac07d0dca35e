"""What a release says of itself: its version, what it runs on, which journals it reads and writes, who signs the next.

It stands in the release's folder as release.json, and at the head of a bundle.
"""

import json
import re
from dataclasses import asdict, dataclass
from typing import Any, Final

from packaging.version import InvalidVersion, Version

from device.event import EVENT_VERSION
from device.journal_schema import SCHEMA_VERSION, SCHEMAS
from device.table_key import is_public_key

FACTS_FILE: Final = "release.json"
ARCHITECTURES: Final = {"amd64": "x86_64", "arm64": "aarch64"}
"""Debian's names for what a release can be made for, and the kernel's."""
PYTHONS: Final = ("3.11", "3.13")
"""The Pythons that a release is made for: of Debian 12 and 13, and of the Raspberry Pi OS that is made of each."""

_PYTHON: Final = re.compile(r"3\.[0-9]{1,2}")
_VERSION_CHARACTERS_MAX: Final = 40


class BadFacts(ValueError):
    """These are no facts of a release; the text says what is wrong."""


@dataclass(frozen=True)
class Facts:
    """A release. `architecture` is one of ARCHITECTURES, `pythons` are such as 3.11, the lowest first.

    `journal` is the version of the journal's database that it writes, `journals` are those that it reads; `event` is
    the version of the events. `key` is the public key that signs the bundle which may follow it; empty: none may.
    """

    version: str
    architecture: str
    pythons: tuple[str, ...]
    journal: int
    journals: tuple[int, ...]
    event: int
    key: str


def facts_of_this_program(version: str, architecture: str, key: str) -> Facts:
    """Of a release that is made of the program that runs."""
    return Facts(version, architecture, PYTHONS, SCHEMA_VERSION, tuple(sorted(SCHEMAS)), EVENT_VERSION, key)


def facts_text(facts: Facts) -> str:
    """As a JSON object on one line."""
    return json.dumps(asdict(facts), sort_keys=True)


def facts_from(text: str) -> Facts:
    """Of what `facts_text` wrote. Raises BadFacts."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadFacts("is no JSON") from error
    return facts_of(data)


def facts_of(data: Any) -> Facts:
    """Of a JSON object. Raises BadFacts for any that could not be one of a release."""
    if not isinstance(data, dict) or set(data) != set(Facts.__annotations__):
        raise BadFacts(f"must be an object of {', '.join(Facts.__annotations__)}")
    texts = [data[name] for name in ("version", "architecture", "key")]
    journals, pythons = data["journals"], data["pythons"]
    numbers = [data["journal"], data["event"], *(journals if isinstance(journals, list) else [None])]
    if not all(isinstance(text, str) for text in texts) or not all(type(number) is int for number in numbers):
        raise BadFacts("journal, journals and event must be whole numbers, the rest texts")
    if not is_version(data["version"]):
        raise BadFacts("version must be one such as 1.2.0")
    if data["architecture"] not in ARCHITECTURES:
        raise BadFacts(f"architecture must be {' or '.join(ARCHITECTURES)}")
    if not isinstance(pythons, list) or not pythons or not all(map(_is_python, pythons)):
        raise BadFacts("pythons must be a list of versions such as 3.11")
    if data["key"] and not is_public_key(data["key"]):
        raise BadFacts("key must be a public key, or empty")
    if data["journal"] not in journals:
        raise BadFacts("journals must name the version that it writes")
    return Facts(**(data | {"journals": tuple(journals), "pythons": tuple(pythons)}))


def _is_python(value: Any) -> bool:
    return isinstance(value, str) and _PYTHON.fullmatch(value) is not None


def is_version(text: str) -> bool:
    """Whether this is a version, written in the one way that may also name a folder."""
    try:
        return len(text) <= _VERSION_CHARACTERS_MAX and str(Version(text)) == text and "!" not in text
    except InvalidVersion:
        return False
