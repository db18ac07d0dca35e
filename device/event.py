"""The journal event: its canonical line, its seal, and the check of a line that comes from outside.

An event is one JSON object in one canonical form, so that everybody computes the same hash from it: keys
sorted by Unicode code point, no blanks, UTF-8 without needless escapes, no floats. `hash` is the SHA-256 of
the canonical form of all other fields; `prev` is the hash of the event before, which chains a table's events.
Pure: no I/O, no clock.
"""

import hashlib
import json
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

EVENT_VERSION: Final = 1
GENESIS_HASH: Final = "0" * 64
"""`prev` of event 1."""

EVENT_BYTES_MAX: Final = 512 * 1024
"""A longer line is refused: an event must fit into one message of the uplink (NATS: 1 MiB by default)."""

NESTING_DEPTH_MAX: Final = 32
INTEGER_MIN: Final = -(2**63)
INTEGER_MAX: Final = 2**63 - 1

_FIELD_TYPES: Final[dict[str, type]] = {
    "v": int,
    "table": str,
    "seq": int,
    "boot": str,
    "mono_ns": int,
    "wall": str,
    "clock": str,
    "type": str,
    "data": dict,
    "prev": str,
    "hash": str,
}
_TYPE_NAMES: Final[dict[type, str]] = {int: "an integer", str: "a string", dict: "an object"}
_WALL: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")
_HASH: Final = re.compile(r"[0-9a-f]{64}")


class BadEvent(ValueError):
    """What was given is no journal event; the text says what is wrong and where."""


class UnknownVersion(BadEvent):
    """It may be an event, but of a format version that is not known here."""


@dataclass(frozen=True)
class Stamp:
    """When something happened, as one table's clock saw it.

    Order comes from `seq` and durations from `mono_ns` within one `boot`; `wall` is an attribute of the
    quality `clock`.
    """

    boot: str
    """Names the run of the operating system that `mono_ns` counts in."""
    mono_ns: int
    """Nanoseconds of the monotonic clock, 0 or more."""
    wall: str
    """RFC 3339, UTC, milliseconds: `2026-11-29T22:10:56.123Z`."""
    clock: str
    """`synced` or `free`."""


@dataclass(frozen=True)
class Event:
    """One sealed event. Made by `seal` or `parse` only, so its hash is right."""

    v: int
    table: str
    seq: int
    boot: str
    mono_ns: int
    wall: str
    clock: str
    type: str
    data: dict[str, Any]
    prev: str
    hash: str

    def line(self) -> str:
        """The canonical line, without a line end. It may hold U+2028: split lines at "\\n" only."""
        return canonical({field: getattr(self, field) for field in _FIELD_TYPES})


def canonical(value: object) -> str:
    """The canonical JSON of `value`: str, bool, None, 64-bit integers, lists, and dicts with str keys.

    Raises ValueError, naming the place, on anything else: floats (so NaN too), tuples, other keys, lone
    surrogates.
    """
    _check_value(value, "", 0)
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def seal(table: str, seq: int, stamp: Stamp, type: str, data: dict[str, Any], prev: str) -> Event:
    """The event that follows the one whose hash is `prev` (GENESIS_HASH for seq 1). Holds a copy of `data`.

    Raises BadEvent when a part is not what an event may hold.
    """
    fields: dict[str, Any] = {
        "v": EVENT_VERSION,
        "table": table,
        "seq": seq,
        "boot": stamp.boot,
        "mono_ns": stamp.mono_ns,
        "wall": stamp.wall,
        "clock": stamp.clock,
        "type": type,
        "data": data,
        "prev": prev,
    }
    _check_fields(fields | {"hash": GENESIS_HASH})
    try:
        text = canonical(fields)
    except ValueError as error:
        raise BadEvent(str(error)) from None
    sealed: dict[str, Any] = json.loads(text)
    event = Event(**sealed, hash=_sha256(text))
    _check_size(event.line())
    return event


def parse(line: str) -> Event:
    """The event in a canonical line. Raises BadEvent unless every character is as `Event.line` writes it."""
    _check_size(line)
    try:
        fields = json.loads(line)
    except json.JSONDecodeError as error:
        raise BadEvent(f"not JSON: {error.msg} at character {error.pos}") from None
    except (ValueError, RecursionError):
        # An integer of thousands of digits, or brackets within brackets without end.
        raise BadEvent("not JSON of a sensible size: an integer too long or a nesting too deep") from None
    if type(fields) is not dict:
        raise BadEvent("not a JSON object")
    _check_fields(fields)
    try:
        expected_line = canonical(fields)
    except ValueError as error:
        raise BadEvent(str(error)) from None
    if line != expected_line:
        raise BadEvent(f"not in canonical form from character {_first_difference(line, expected_line)}")
    expected_hash = _sha256(_without_hash(line, fields["hash"]))
    if fields["hash"] != expected_hash:
        raise BadEvent(f"hash is {fields['hash']}, but the content's is {expected_hash}")
    return Event(**fields)


def _without_hash(line: str, hash: str) -> str:
    """The canonical form without its `hash`: what the hash is of."""
    # No quotation mark within a text stands without a backslash, and nothing nested follows: the last one is it.
    before, _, after = line.rpartition(f',"hash":"{hash}"')
    return before + after


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _first_difference(left: str, right: str) -> int:
    for position, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            return position
    return min(len(left), len(right))


def _check_size(line: str) -> None:
    # The number of bytes is only counted when the number of characters leaves a doubt; surrogates are found
    # elsewhere.
    if len(line) * 4 <= EVENT_BYTES_MAX:
        return
    size = len(line.encode("utf-8", "surrogatepass"))
    if size > EVENT_BYTES_MAX:
        raise BadEvent(f"{size} bytes long, at most {EVENT_BYTES_MAX} are allowed")


def _check_value(value: object, place: str, depth: int) -> None:
    """Raises ValueError unless `value` has one canonical form. Types are exact: a subclass may differ."""
    kind = type(value)
    if value is None or kind is bool:
        return
    if kind is str:
        _check_text(value, place)
    elif kind is int:
        if not INTEGER_MIN <= value <= INTEGER_MAX:  # type: ignore[operator]
            raise ValueError(f"{place or 'value'}: an integer beyond 64 bits")
    elif depth >= NESTING_DEPTH_MAX:
        raise ValueError(f"{place or 'value'}: nested deeper than {NESTING_DEPTH_MAX}")
    elif isinstance(value, dict) and kind is dict:
        for key, inner in value.items():
            if type(key) is not str:
                raise ValueError(f"{place or 'value'}: key {key!r} is not a string")
            _check_text(key, f"{place or 'value'}: a key")
            _check_value(inner, f"{place}.{key}" if place else key, depth + 1)
    elif isinstance(value, list) and kind is list:
        for index, inner in enumerate(value):
            _check_value(inner, f"{place}[{index}]", depth + 1)
    else:
        raise ValueError(f"{place or 'value'}: {kind.__name__} is not allowed in an event")


def _check_text(value: object, place: str) -> None:
    try:
        str(value).encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(f"{place or 'value'}: a lone surrogate, which UTF-8 cannot hold") from None


def _check_fields(fields: dict[str, Any]) -> None:
    """Raises BadEvent unless `fields` are an event's, of right types and ranges. Computes no hash."""
    version = fields.get("v")
    if "v" in fields and (type(version) is not int or version != EVENT_VERSION):
        raise UnknownVersion(f"v: version {version!r} is unknown, {EVENT_VERSION} is known")
    for field, expected_type in _FIELD_TYPES.items():
        if field not in fields:
            raise BadEvent(f"{field}: missing")
        if type(fields[field]) is not expected_type:
            raise BadEvent(f"{field}: must be {_TYPE_NAMES[expected_type]}, is {type(fields[field]).__name__}")
    for field in fields:
        if field not in _FIELD_TYPES:
            raise BadEvent(f"{field}: not a field of an event")
    for field in ("table", "boot", "type"):
        if not fields[field]:
            raise BadEvent(f"{field}: must not be empty")
    if fields["seq"] < 1:
        raise BadEvent(f"seq: must be 1 or more, is {fields['seq']}")
    if fields["mono_ns"] < 0:
        raise BadEvent(f"mono_ns: must be 0 or more, is {fields['mono_ns']}")
    if fields["clock"] not in ("synced", "free"):
        raise BadEvent(f"clock: must be synced or free, is {fields['clock']!r}")
    if not _is_wall_time(fields["wall"]):
        raise BadEvent(f"wall: must look like 2026-11-29T22:10:56.123Z, is {fields['wall']!r}")
    for field in ("prev", "hash"):
        if not _HASH.fullmatch(fields[field]):
            raise BadEvent(f"{field}: must be 64 digits of lower-case hex")
    if fields["seq"] == 1 and fields["prev"] != GENESIS_HASH:
        raise BadEvent("prev: must be 64 zeros in event 1")


def _is_wall_time(text: str) -> bool:
    if not _WALL.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
