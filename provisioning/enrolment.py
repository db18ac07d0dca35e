"""What a new unit and the centre say to each other at an enrolment: the one-time code, the path, request and answer.

The request is signed with the unit's new key as every request to a receiver is (`device.https_protocol`): so the centre
knows that whoever shows the code has that key.
"""

import base64
import hashlib
import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from device.uplink_protocol import subject

CODE_BYTES: Final = 20
"""160 bits at random: nobody guesses one, so its plain hash gives nothing away."""
REQUEST_BYTES_MAX: Final = 256
ANSWER_BYTES_MAX: Final = 512 * 1024
_WORDS_MAX: Final = 300

_CODE: Final = re.compile(r"[A-Z2-7]{32}")
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
# No path, and nothing that a folder's listing hides.
_FILE_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")


class BadMessage(Exception):
    """What the other side sent makes no sense; the text says in one line why."""


@dataclass(frozen=True)
class Enrolled:
    """What a unit gets: its table's configuration (TOML), and the files that lie beside it, by their names."""

    configuration: str
    files: Mapping[str, str]


def new_code() -> str:
    """A one-time code."""
    return base64.b32encode(secrets.token_bytes(CODE_BYTES)).decode("ascii")


def hash_of(code: str) -> str:
    """What is kept of a code at the centre."""
    return hashlib.sha256(code.encode("ascii")).hexdigest()


def enrolment_path(site: str, table: str) -> str:
    """The path that a table's unit enrols at. Raises ValueError for a wrong name."""
    subject(site, table)
    return f"/v1/tables/{site}/{table}/enrolment"


def is_code(text: str) -> bool:
    """Whether `text` has the form of a code."""
    return _CODE.fullmatch(text) is not None


def is_file_name(text: str) -> bool:
    """Whether a file of that name may lie beside a configuration."""
    return _FILE_NAME.fullmatch(text) is not None


def request_body(code: str) -> bytes:
    """What the unit sends."""
    return json.dumps({"code": code}).encode("ascii")


def code_in(body: bytes) -> str:
    """The code in what a unit sent. Raises BadMessage."""
    said = _object(body)
    code = said.get("code")
    if set(said) != {"code"} or not isinstance(code, str) or not is_code(code):
        raise BadMessage('the body should be {"code": "..."} with the 32 letters and digits of a code')
    return code


def answer(enrolled: Enrolled) -> dict[str, Any]:
    """What the centre answers."""
    return {"configuration": enrolled.configuration, "files": dict(enrolled.files)}


def answer_bytes(enrolled: Enrolled) -> bytes:
    """The same as it is sent."""
    return json.dumps(answer(enrolled), ensure_ascii=False).encode("utf-8")


def refusal_in(body: bytes) -> str:
    """Why the centre has refused, in its own words, as far as they can be shown. Raises BadMessage."""
    text = _object(body).get("text")
    if not isinstance(text, str) or not text.isprintable() or len(text) > _WORDS_MAX:
        raise BadMessage("it says no reason")
    return text


def read_answer(body: bytes) -> Enrolled:
    """What the centre has answered. Raises BadMessage."""
    said = _object(body)
    configuration, files = said.get("configuration"), said.get("files")
    if not isinstance(configuration, str) or not isinstance(files, dict):
        raise BadMessage("it holds no configuration")
    if not all(is_file_name(name) and isinstance(text, str) for name, text in files.items()):
        raise BadMessage("it names a file that is none to lie beside a configuration")
    if any(_SURROGATE.search(text) for text in (configuration, *files.values())):
        raise BadMessage("it holds half a letter, which no file can hold")
    return Enrolled(configuration, files)


def _object(body: bytes) -> dict[str, Any]:
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise BadMessage("it is no JSON object")
    return said
