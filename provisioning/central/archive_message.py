"""A message of the central log as the archive takes it in: its events, as far as they are good, and what is not.

Pure: no network, no database.
"""

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Final

from device.event import EVENT_BYTES_MAX, EVENT_VERSION, BadEvent, Event, parse
from device.uplink_protocol import PACK_EVENTS_MAX

MESSAGE_BYTES_MAX: Final = EVENT_BYTES_MAX
"""A table packs less into a message, unless a single event is that large."""

TYPE_LENGTH_MAX: Final = 100
SUBJECT_NAME_LENGTH_MAX: Final = 64
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True)
class LogMessage:
    """One message of the stream. `heard_at`: when the log took it, as events write a moment; None: long ago."""

    sequence: int
    subject: str
    payload: bytes
    heard_at: str | None = None

    @property
    def names(self) -> tuple[str, str]:
        """Site and table of the subject; cut to a length that no name has, so that a wrong one can be kept as well."""
        site, _, table = self.subject.removeprefix("craps.").removesuffix(".journal").partition(".")
        return _kept(site), _kept(table)

    @property
    def hash(self) -> str:
        """The SHA-256 of the payload."""
        return hashlib.sha256(self.payload).hexdigest()


@dataclass(frozen=True)
class Finding:
    """Why something cannot be taken. `seq` is the event's number, None where only the order tells it."""

    kind: str
    reason: str
    seq: int | None = None
    found_seq: int | None = None
    found_prev: str | None = None


def read_message(message: LogMessage) -> tuple[list[Event], Finding | None]:
    """The good events at the message's beginning, and what is wrong with what follows them, if anything is."""
    site, table = message.names
    if not (_NAME.fullmatch(site) and _NAME.fullmatch(table)):
        return [], Finding("foreign", "the subject does not name a site and a table in letters, digits, _ and -")
    size = len(message.payload)
    if size > MESSAGE_BYTES_MAX:
        return [], Finding("oversized", f"the message has {size} bytes, at most {MESSAGE_BYTES_MAX} are allowed")
    lines = message.payload.split(b"\n", PACK_EVENTS_MAX)
    if len(lines) > PACK_EVENTS_MAX:
        return [], Finding("oversized", f"the message has more than {PACK_EVENTS_MAX} events")
    events: list[Event] = []
    for place, line in enumerate(lines, start=1):
        try:
            event = parse(line.decode("utf-8"))
            _check_columns(event)
        except UnicodeDecodeError as error:
            return events, Finding("malformed", f"line {place} of the message: no UTF-8 text at byte {error.start}")
        except BadEvent as error:
            kind = "version" if _is_of_another_version(line) else "malformed"
            return events, Finding(kind, f"line {place} of the message: {error}")
        finding = _foreign(event, site, table)
        if finding is not None:
            return events, finding
        events.append(event)
    return events, None


def _kept(name: str) -> str:
    clean = name.replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")
    return clean[: SUBJECT_NAME_LENGTH_MAX + 1]


def _check_columns(event: Event) -> None:
    """Raises BadEvent for what an event may hold and a column of a database not."""
    for field, text in (("type", event.type), ("boot", event.boot)):
        if len(text) > TYPE_LENGTH_MAX or "\x00" in text:
            raise BadEvent(f"{field}: must be at most {TYPE_LENGTH_MAX} characters without U+0000")


def _is_of_another_version(line: bytes) -> bool:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(fields, dict) and "v" in fields and fields["v"] != EVENT_VERSION


def _foreign(event: Event, site: str, table: str) -> Finding | None:
    if event.table != table:
        return Finding("foreign", f"event {event.seq} is of table {event.table!r}, under the subject of {table!r}")
    configured = event.data.get("configured") if event.type == "started" else None
    named = configured.get("site") if isinstance(configured, dict) else None
    if named is not None and named != site:
        return Finding("foreign", f"event {event.seq} is of site {named!r}, under the subject of {site!r}", event.seq)
    return None
