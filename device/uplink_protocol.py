"""What the uplink sends and decides, without a network: packing, headers, who may go on, how long to wait.

A message of the central log carries journal events, canonical and one a line, in order and without a hole.
Everything here is a plain function of its arguments, so that it can be tested without a server.
"""

import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from device.event import INTEGER_MAX, BadEvent, parse

# One message is far below the 1 MiB that a NATS server takes by default, even once it is base64 in an answer.
PACK_EVENTS_MAX: Final = 256
PACK_BYTES_MAX: Final = 256 * 1024

BACKOFF_FIRST_S: Final = 1.0
BACKOFF_CAP_S: Final = 30.0
# A link that breaks sooner than this has not proved anything: the next wait goes on growing.
LINK_STABLE_S: Final = 60.0

# A name is one token of a NATS subject, so it must hold none of its separators and wildcards.
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
# A name, or an address of either kind.
_HOST: Final = re.compile(r"[\w.:%-]+")


class DeliveryError(Exception):
    """Delivery cannot go on for now; the text says why in words for the screen."""


@dataclass(frozen=True)
class Batch:
    """Events `first` to `last` (both included) as the payload of one message."""

    first: int
    last: int
    payload: bytes


@dataclass(frozen=True)
class LogEnd:
    """Where the central log of one table ends.

    `sequence` is the stream's own number of the last message, `seq` the last event in it and `line` that event
    (0 and "" if that message ends in something else). An empty log is `LogEnd(0, 0, "")`.
    """

    sequence: int
    seq: int
    line: str


EMPTY_LOG: Final = LogEnd(sequence=0, seq=0, line="")


def is_host(name: str | None) -> bool:
    """Whether this may be the host of a server's address; what it cannot hold is a slip, such as a backslash."""
    return name is not None and _HOST.fullmatch(name) is not None


def subject(site: str, table: str) -> str:
    """Return the subject of a table's journal; ValueError if a name is not 1 to 64 of `A-Z a-z 0-9 _ -`."""
    for name in (site, table):
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not a name of 1 to 64 letters, digits, _ or -")
    return f"craps.{site}.{table}.journal"


def presence_subject(site: str, table: str) -> str:
    """Return the subject of a table's signs of life (`device.presence`), which no stream keeps; as `subject`."""
    return f"{subject(site, table).removesuffix('.journal')}.presence"


def pack(lines: Sequence[str], first: int, bytes_max: int = PACK_BYTES_MAX) -> Batch:
    """Pack as many of `lines` (at least one) as fit into `bytes_max`; the first of them is event `first`.

    A single event larger than that is packed alone. Raises DeliveryError when the journal no longer holds event
    `first`, or has a hole.
    """
    taken: list[bytes] = []
    size = -1
    for line in lines[:PACK_EVENTS_MAX]:
        encoded = line.encode()
        size += 1 + len(encoded)
        if taken and size > bytes_max:
            break
        taken.append(encoded)
    last = first + len(taken) - 1
    for expected, encoded in ((first, taken[0]), (last, taken[-1])):
        found = json.loads(encoded)["seq"]
        if found != expected:
            raise DeliveryError(f"the journal of this table gives event {found} where event {expected} is due")
    return Batch(first, last, b"\n".join(taken))


def headers(owner: str, batch: Batch, expected_sequence: int) -> dict[str, str]:
    """Return the headers of `batch`; the server refuses it unless the log ends at `expected_sequence`.

    `owner` is a name that no other table of the stream has: messages of one name are taken for one, and dropped.
    """
    return {
        "Nats-Msg-Id": f"{owner}:{batch.first}-{batch.last}",
        "Nats-Expected-Last-Subject-Sequence": str(expected_sequence),
        "Boxman-First-Seq": str(batch.first),
        "Boxman-Last-Seq": str(batch.last),
    }


def read_log_end(sequence: int, payload: bytes) -> LogEnd:
    """Read the end of the log from its last message."""
    try:
        line = payload.rpartition(b"\n")[2].decode()
        event = json.loads(line)
    except (ValueError, RecursionError):
        event = None
    seq = event.get("seq") if isinstance(event, dict) else None
    if type(seq) is not int or not 1 <= seq <= INTEGER_MAX:
        return LogEnd(sequence, 0, "")
    return LogEnd(sequence, seq, line)


def lost_pruned_reason(log: LogEnd, pruned_seq: int) -> str | None:
    """Say why `log` cannot be continued where it ends before event `pruned_seq`, the last that is not here any more."""
    if (log != EMPTY_LOG and log.seq == 0) or log.seq >= pruned_seq:
        return None
    return (
        f"the central log ends at event {log.seq}, but events 1 to {pruned_seq} of this table were pruned here after "
        f"delivery: events {log.seq + 1} to {pruned_seq} were lost there and cannot be sent again; bring the central "
        "log back from its backup"
    )


def fence_reason(log: LogEnd, own_last_seq: int, own_line: str | None, own_hash: str | None = None) -> str | None:
    """Say why this unit must not write to `log`, or None if the log is a beginning of its own journal.

    `own_line` is the journal's event with the log's last `seq`; `own_hash`, in its place, the hash of that event where
    it is the last that was pruned. Each event holds the hash of the one before, so one equal event means that all
    before it are equal as well.
    """
    if log == EMPTY_LOG:
        return None
    if own_hash is not None and own_line is None and _hash_of(log.line) == own_hash:
        return None
    if log.seq == 0:
        found = "the last message under this table's name in the central log is not a journal event"
    elif log.seq > own_last_seq:
        found = (
            f"the central log already has event {log.seq} of this table, "
            f"but this unit's journal ends at event {own_last_seq}"
        )
    elif log.line != own_line:
        found = f"event {log.seq} in the central log is not the one in this unit's journal"
    else:
        return None
    return f"{found}: another unit reports under this table's name, or this unit's journal was replaced"


def _hash_of(line: str) -> str | None:
    """The hash of the event in a line, None where it is none that was sealed right."""
    try:
        return parse(line).hash
    except BadEvent:
        return None


class Backoff:
    """How long to wait before the next attempt: full jitter under a limit that doubles up to a cap.

    A thousand tables that lost one server thus come back spread over the whole limit, not in one second.
    """

    def __init__(self, random: random.Random) -> None:
        self._random = random
        self._failures = 0

    def delay_s(self, link_lasted_s: float) -> float:
        """Return the wait (0 to BACKOFF_CAP_S) after a link that was up for `link_lasted_s` (0: never)."""
        if link_lasted_s >= LINK_STABLE_S:
            self._failures = 0
        limit = backoff_limit_s(self._failures)
        self._failures += 1
        return self._random.uniform(0.0, limit)


def backoff_limit_s(failures: int) -> float:
    """Return the upper bound of the wait after `failures` earlier failures in a row."""
    doublings_max = 10  # beyond the cap anyway; keeps the power small after days without a server
    return min(BACKOFF_CAP_S, BACKOFF_FIRST_S * 2.0 ** min(failures, doublings_max))
