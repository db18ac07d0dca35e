"""How a table and a central system speak over HTTPS: paths, headers, limits, and what a table signs. No network.

A request carries no time and no number. What makes a second POST of the same events harmless is the hash that the log
must end with: after the first one it ends with another.
"""

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from device.event import EVENT_BYTES_MAX, GENESIS_HASH, canonical
from device.table_key import TableKey, is_signed_by
from device.uplink_protocol import (
    EMPTY_LOG,
    PACK_BYTES_MAX,
    PACK_EVENTS_MAX,
    DeliveryError,
    LogEnd,
    is_host,
    read_log_end,
    subject,
)

EVENTS_TYPE: Final = "application/x-ndjson"
PRESENCE_TYPE: Final = "application/json"
KEY_HEADER: Final = "Boxman-Key"
SIGNATURE_HEADER: Final = "Boxman-Signature"
EXPECTED_HEADER: Final = "Boxman-Expected-Last-Hash"

OTHER_END: Final = 409
"""The status of an answer that says: the log ends elsewhere than was expected."""
NOT_TAKEN: Final = (404, 405)
"""Those of answers that say: nothing of the kind is taken here."""

BODY_EVENTS_MAX: Final = PACK_EVENTS_MAX
BODY_BYTES_MAX: Final = PACK_BYTES_MAX
"""Of several events with the line ends between them."""
ONE_EVENT_BYTES_MAX: Final = EVENT_BYTES_MAX
"""Of a body that is a single event."""
ANSWER_BYTES_MAX: Final = 2 * EVENT_BYTES_MAX + 4096
"""Of an answer: it quotes one event, in which at most every other character is escaped."""

HASH: Final = re.compile(r"[0-9a-f]{64}")

# As a checkpoint's (`checkpoint`): no text begins with this byte, so no server of another protocol that has texts of
# its choice signed with the same kind of key gets a request signed.
_DOMAIN: Final = b"\xffboxman request 1\n"
_WORDS_MAX: Final = 300


@dataclass(frozen=True)
class Answer:
    """The status and the body of an answer."""

    status: int
    body: bytes


def last_path(site: str, table: str) -> str:
    """The path of the end of a table's log. Raises ValueError for a wrong name."""
    subject(site, table)
    return f"/v1/tables/{site}/{table}/last"


def events_path(site: str, table: str) -> str:
    """The path that a table's events are sent to. Raises ValueError for a wrong name."""
    subject(site, table)
    return f"/v1/tables/{site}/{table}/events"


def presence_path(site: str, table: str) -> str:
    """The path that a table's signs of life are sent to. Raises ValueError for a wrong name."""
    subject(site, table)
    return f"/v1/tables/{site}/{table}/presence"


def page_target(site: str, table: str, first: int) -> str:
    """The path and query of a table's events from event `first` on. Raises ValueError for a wrong name."""
    return f"{events_path(site, table)}?from={first}"


def check_address(address: str) -> str:
    """The address of a central system without a slash at its end. Raises ValueError, which does not quote it."""
    try:
        url = urlsplit(address)
        is_good = (
            url.scheme == "https"
            and is_host(url.hostname)
            and url.port != 0
            and url.username is None
            and not (url.query or url.fragment)
            and address.isascii()
            and address.isprintable()
        )
    except ValueError:
        is_good = False
    if not is_good or url.path not in ("", "/"):
        raise ValueError("is not an address like https://central.example:8443")
    return address.removesuffix("/")


def signed_headers(key: TableKey, method: str, path: str, expected: str, body: bytes) -> dict[str, str]:
    """The headers that say who asks; `path` is with the query, `expected` is "" for what does not append events."""
    return {KEY_HEADER: key.public, SIGNATURE_HEADER: key.sign(_message(method, path, expected, body))}


def is_request_signed(public: str, signature: str, method: str, path: str, expected: str, body: bytes) -> bool:
    """Whether this request was signed by the key with the public key `public`."""
    return is_signed_by(public, _message(method, path, expected, body), signature)


def _message(method: str, path: str, expected: str, body: bytes) -> bytes:
    said = {"method": method, "path": path, "expected": expected, "body": hashlib.sha256(body).hexdigest()}
    return _DOMAIN + canonical(said).encode("utf-8")


def read_end(answer: Answer) -> LogEnd:
    """Where the log ends, from the good answer to a GET. Raises DeliveryError.

    The log numbers nothing of its own: the event's `seq` is the sequence.
    """
    said = _object(answer)
    seq, hash, line = said.get("seq"), said.get("hash"), said.get("event")
    if (seq, hash, line) == (0, GENESIS_HASH, None):
        return EMPTY_LOG
    if type(seq) is int and seq >= 1 and isinstance(line, str):
        end = read_log_end(seq, line.encode("utf-8", "replace"))
        if end.seq == seq and hash_of(end) == hash:
            return end
    raise DeliveryError(_NO_ANSWER)


def hash_of(end: LogEnd) -> str | None:
    """The hash that a log which ends so is expected to end with."""
    if end == EMPTY_LOG:
        return GENESIS_HASH
    found = json.loads(end.line).get("hash")
    return found if isinstance(found, str) else None


def read_written(answer: Answer, last: int, hash: str) -> bool:
    """Whether the events up to `last`, which has this hash, are on the centre's disk, from the answer to a POST.

    False: the log ends elsewhere than was expected. Raises DeliveryError.
    """
    if answer.status == OTHER_END:
        return False
    said = _object(answer)
    if (said.get("seq"), said.get("hash")) != (last, hash):
        raise DeliveryError(_NO_ANSWER)
    return True


_NO_ANSWER: Final = "the central server's answer makes no sense; it may not be one that takes tables' events"


def explain(answer: Answer, public: str) -> str:
    """Say in plain words why the central system does not do what the table with this public key asked."""
    match answer.status:
        case 401:
            return (
                f"the central server refuses this table's credentials; its list of tables should hold the key {public}"
            )
        case 403:
            return "the central server has this table's key under another table's name, or another site's"
        case 400 | 408 | 413 | 415:
            return "the central server refuses this table's events" + _words(answer)
        case 404:
            return "the central server takes no tables' events at this address"
        case 503:
            return "the central server is not available at the moment" + _words(answer)
        case status:
            return f"the central server answers with status {status}"


def _words(answer: Answer) -> str:
    """What the answer says for itself, as far as it can be shown."""
    try:
        text = _object(answer).get("text")
    except DeliveryError:
        return ""
    if not isinstance(text, str) or not text.isprintable() or not text:
        return ""
    return f": {text[:_WORDS_MAX]}"


def _object(answer: Answer) -> dict[str, object]:
    try:
        said = json.loads(answer.body)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise DeliveryError(_NO_ANSWER)
    return said
