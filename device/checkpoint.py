"""Checkpoints: the table's signature under its journal as far as it goes, as an event of the journal itself.

The hash of an event stands for all events before it, so one signature over table, `seq` and hash speaks for them all:
whoever writes an event anew, and the hashes of those that follow, cannot write the signature. A checkpoint that was
taken away earlier also proves that nothing was cut off before it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from device.event import Stamp, canonical, seal
from device.journal_base import JOURNAL_PRUNED
from device.table_key import TableKey, is_public_key, is_signed_by

CHECKPOINT: Final = "checkpoint"
"""The type of the events."""

CHECKPOINT_EVENTS: Final = 1_000
"""There is a checkpoint at least after every so many events; up to so many may thus wait for a signature."""

ALWAYS_SIGNED: Final = ("table_closed", "stopped", JOURNAL_PRUNED)
"""Events that are written together with a checkpoint that signs them."""

# NATS has a client sign a text of the server's choice with the same kind of key. No text begins with this byte, so no
# server gets a checkpoint signed that way.
_DOMAIN: Final = b"\xffboxman checkpoint 1\n"

_FIELD_TYPES: Final[dict[str, type]] = {"seq": int, "hash": str, "key": str, "signature": str}
_HASH: Final = re.compile(r"[0-9a-f]{64}")


class BadCheckpoint(ValueError):
    """What was given is no checkpoint, or none that its key has signed; the text says why."""


@dataclass(frozen=True)
class Checkpoint:
    """Event `seq` of a table has this hash, signed with the table's key. Made by `sign` or `parse_checkpoint` only."""

    table: str
    seq: int
    hash: str
    key: str
    signature: str

    def data(self) -> dict[str, Any]:
        """The checkpoint as it stands in an event, which names the table itself."""
        return {"seq": self.seq, "hash": self.hash, "key": self.key, "signature": self.signature}


def sign(key: TableKey, table: str, seq: int, hash: str) -> Checkpoint:
    """The checkpoint of event `seq`, whose hash is `hash`."""
    return Checkpoint(table, seq, hash, key.public, key.sign(_message(table, seq, hash)))


def parse_checkpoint(table: str, fields: Mapping[str, object]) -> Checkpoint:
    """The checkpoint of a table, `fields` as `data` gives them. Raises BadCheckpoint unless its own key signed it."""
    for field, expected_type in _FIELD_TYPES.items():
        if type(fields.get(field)) is not expected_type:
            raise BadCheckpoint(f"the checkpoint has no {field} that could be one")
    if set(fields) != set(_FIELD_TYPES):
        raise BadCheckpoint("the checkpoint has fields that are none of a checkpoint")
    checkpoint = Checkpoint(table, **fields)  # type: ignore[arg-type]
    if checkpoint.seq < 1 or not _HASH.fullmatch(checkpoint.hash) or not is_public_key(checkpoint.key):
        raise BadCheckpoint("the checkpoint has a seq, hash or key that cannot be one")
    try:
        message = _message(checkpoint.table, checkpoint.seq, checkpoint.hash)
    except ValueError as error:
        raise BadCheckpoint(f"the checkpoint cannot be one: {error}") from None
    if not is_signed_by(checkpoint.key, message, checkpoint.signature):
        raise BadCheckpoint(
            f"the signature is not one of table {checkpoint.table!r}, event {checkpoint.seq} and this hash "
            f"by key {checkpoint.key}"
        )
    return checkpoint


def is_checkpoint_due(kinds: Sequence[str], events_since: int) -> bool:
    """Whether to sign after events of these types, `events_since` the last checkpoint with these counted in."""
    return events_since >= CHECKPOINT_EVENTS or any(kind in ALWAYS_SIGNED for kind in kinds)


def sign_entries(
    key: TableKey,
    table: str,
    entries: Sequence[tuple[str, dict[str, Any]]],
    stamp: Stamp,
    last_seq: int,
    last_hash: str,
) -> Checkpoint:
    """The checkpoint of the last of `entries` (at least one), sealed after event `last_seq` as the journal will.

    So that the journal can take it in one commit with what it signs. Raises BadEvent as the journal would.
    """
    for kind, data in entries:
        event = seal(table, last_seq + 1, stamp, kind, data, last_hash)
        last_seq, last_hash = event.seq, event.hash
    return sign(key, table, last_seq, last_hash)


def _message(table: str, seq: int, hash: str) -> bytes:
    return _DOMAIN + canonical({"table": table, "seq": seq, "hash": hash}).encode("utf-8")
