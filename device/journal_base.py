"""The base of a journal: what stands for the events that were pruned, signed with the table's key.

It lies in the journal's own database and takes the place of events 1 to `seq` in one commit with their deletion and
with a `journal_pruned` event, which names it. What remains begins with a checkpoint, whose signature is of event
`seq`; so the chain stays anchored, and the session's state goes on from the base's. The event binds the base to the
chain and, once it is delivered, to the central log.

A later program must read an older base for ever. Fields that are added to the state take their default where a base
lacks them (`device.session_snapshot.restore_state`, `is_base`); a change that needs more than that raises BASE_FORMAT
and comes with a function that makes the state of each format from the one before it.
"""

import hashlib
import json
import re
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from device.event import Event, canonical
from device.table_key import TableKey, is_public_key, is_signed_by

BASE_FORMAT: Final = 1
JOURNAL_PRUNED: Final = "journal_pruned"
"""The type of the event that is written together with a base."""
ADOPTED: Final = "adopted"
"""Of the event of a unit that has taken the history over from the central log, in which nothing is pruned."""

# As with checkpoints (device.checkpoint): no text begins with this byte, so no server gets a base signed.
_DOMAIN: Final = b"\xffboxman base 1\n"
_HASH: Final = re.compile(r"[0-9a-f]{64}")


class BadBase(ValueError):
    """What was given is no base, or not the one that belongs here; the text says why.

    `seq` is the event that says otherwise, where it is not the last that was read.
    """

    def __init__(self, reason: str, seq: int | None = None) -> None:
        super().__init__(reason)
        self.seq = seq


@dataclass(frozen=True)
class Base:
    """Event `seq` of a table has this hash, and the journal up to it leads to this state.

    `state` is the JSON of `device.session_snapshot.state_of`, keys in their order, which is part of it. `program` is
    the version that wrote it. `signature` is by `key` over everything else.
    """

    table: str
    seq: int
    hash: str
    state: str
    format: int
    program: str
    key: str
    signature: str

    @property
    def state_hash(self) -> str:
        """The SHA-256 of the state."""
        return hashlib.sha256(self.state.encode("utf-8")).hexdigest()


def state_text(state: Mapping[str, Any]) -> str:
    """A state as it stands in a base."""
    return json.dumps(state, separators=(",", ":"), allow_nan=False)


def sign_base(key: TableKey, table: str, seq: int, hash: str, state: str, program: str) -> Base:
    """The base that stands for events 1 to `seq`, the last of which has this hash."""
    base = Base(table, seq, hash, state, BASE_FORMAT, program, key.public, "")
    return replace(base, signature=key.sign(_message(base)))


def check_base(base: Base) -> None:
    """Raises BadBase unless its own key has signed it, and this program knows its format."""
    if base.seq < 1 or not _HASH.fullmatch(base.hash) or not is_public_key(base.key):
        raise BadBase("has a seq, hash or key that cannot be one")
    try:
        message = _message(base)
    except ValueError as error:
        raise BadBase(f"cannot be one: {error}") from None
    if not is_signed_by(base.key, message, base.signature):
        raise BadBase(f"its signature is not one of this table, event, hash and state by key {base.key}")
    if base.format > BASE_FORMAT:
        raise BadBase(f"is of format {base.format}, from version {base.program}; this program knows {BASE_FORMAT}")


def read_base(connection: sqlite3.Connection) -> Base | None:
    """The base in a journal's database whose texts are given as bytes, None where there is none.

    Raises sqlite3.Error; BadBase when what is there cannot be one.
    """
    rows = connection.execute(
        "SELECT table_name, seq, hash, state, format, program, key, signature FROM base ORDER BY seq DESC"
    ).fetchall()
    if not rows:
        return None
    if len(rows) > 1:
        raise BadBase("is one of several")
    try:
        fields: list[Any] = [value if type(value) is int else value.decode("utf-8") for value in rows[0]]
    except (UnicodeDecodeError, AttributeError):
        raise BadBase("is not text") from None
    base = Base(*fields)
    check_base(base)
    return base


def put_base(connection: sqlite3.Connection, base: Base) -> None:
    """In the place of the events that it stands for, and of the base before it. Raises sqlite3.Error."""
    connection.execute(
        "INSERT INTO base(table_name, seq, hash, state, format, program, key, signature)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (base.table, base.seq, base.hash, base.state, base.format, base.program, base.key, base.signature),
    )
    connection.execute("DELETE FROM events WHERE seq <= ?", (base.seq,))
    connection.execute("DELETE FROM base WHERE seq < ?", (base.seq,))


def pruned_data(base: Base, retention_days: int, delivered: int) -> dict[str, Any]:
    """The event that is written together with the base; `delivered` is the last event that the central log has."""
    return {
        "through": base.seq,
        "hash": base.hash,
        "state": base.state_hash,
        "retention_days": retention_days,
        "delivered": delivered,
    }


class Witness:
    """Looks through the events behind a base for the one that it was written with.

    What a unit pruned from its own journal is there again in the journal of the unit that has taken its history over.
    """

    def __init__(self, base: Base | None) -> None:
        self._base = base
        self._seen = base is None
        self._contradicts: BadBase | None = None

    def take(self, event: Event, key: str | None) -> None:
        """Take an event, in order; `key` is the table's public key then."""
        if event.type == ADOPTED:
            self._contradicts = None
        elif event.type == JOURNAL_PRUNED and self._contradicts is None:
            self._look_at(event.seq, event.data, key)

    def _look_at(self, seq: int, data: Mapping[str, Any], key: str | None) -> None:
        base, through = self._base, data.get("through")
        base_seq = base.seq if base is not None else 0
        reason = None
        if type(through) is not int or through > base_seq:
            reason = f"says that events 1 to {through} were pruned, but the base stands for {base_seq} events"
        elif base is None or through < base_seq:
            return
        elif (data.get("hash"), data.get("state")) != (base.hash, base.state_hash):
            reason = f"was written with another base than the one that stands for events 1 to {base_seq}"
        elif base.key != key:
            reason = f"the base is signed with the key {base.key}, but the table's key is {key}"
        else:
            self._seen = True
        if reason is not None:
            self._contradicts = BadBase(reason, seq)

    def check_end(self) -> None:
        """Raises BadBase when the events may not end here."""
        if self._contradicts is not None:
            raise self._contradicts
        if not self._seen and self._base is not None:
            raise BadBase(f"the event that was written with the base of events 1 to {self._base.seq} is missing")


def _message(base: Base) -> bytes:
    said = {
        "table": base.table,
        "seq": base.seq,
        "hash": base.hash,
        "state": base.state_hash,
        "format": base.format,
        "program": base.program,
    }
    return _DOMAIN + canonical(said).encode("utf-8")
