"""Proves that a journal is whole and unaltered, or names the first event that is not.

The chain shows a change that was made by hand. Somebody who computes all hashes anew is found by the signatures of the
checkpoints, unless the change is behind the last of them; that, a tail that was cut off, and a journal that was written
anew with a key of its own show only in what others hold: a checkpoint that was taken away earlier, the central log.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from device.checkpoint import (
    ALWAYS_SIGNED,
    CHECKPOINT,
    CHECKPOINT_EVENTS,
    BadCheckpoint,
    Checkpoint,
    parse_checkpoint,
)
from device.event import GENESIS_HASH, Event
from device.journal import JournalDamaged, JournalPruned, JournalReader
from device.journal_base import ADOPTED, BadBase, Base, Witness
from device.table_key import is_public_key

"""The type of the event that a new unit goes on with; its data name both keys and the last event of the other unit."""

PROGRESS_EVENTS: Final = 1_000

UNSIGNED_EVENTS_MAX: Final = CHECKPOINT_EVENTS + 256
"""So many events may lie between two checkpoints: those that are committed together are signed together."""


class Unproven(Exception):
    """An event that the table's signatures do not bear out; the text says why.

    `seq` is the event's, where it is not the one that was given last.
    """

    def __init__(self, reason: str, seq: int | None = None) -> None:
        super().__init__(reason)
        self.seq = seq


@dataclass(frozen=True)
class SignedSoFar:
    """Where a check of signatures stands after an event, so that another one can go on from there."""

    key: str | None = None
    key_changed_seq: int = 0
    signed_seq: int = 0
    checkpoint_seq: int = 0
    owed_seq: int | None = None


class SignatureCheck:
    """Holds a journal's events, given in order from the first on and with a good chain, against its checkpoints.

    Where the oldest were pruned, the first is the checkpoint behind the base, and the base is held against them too.
    """

    def __init__(self, base: Base | None = None, *, central: SignedSoFar | None = None) -> None:
        """With `central`, of the whole history in a central log from there on: nothing was pruned in that."""
        self.key: str | None = None
        """The public key that the last start named; None before the first."""
        self.key_changed_seq = 0
        """The last start under another key than before; 0 when there was none."""
        self.heir: str | None = None
        """The public key of the unit that has taken the journal over and was not started yet."""
        self.signed_seq = 0
        """The last event that a checkpoint signs."""
        self.site: str | None = None
        """The site that the last start named, which is part of the journal's subject in the central log."""
        self._checkpoint_seq = 0
        self._owed_seq: int | None = None
        self._base = base
        self._witness = Witness(base) if central is None else None
        if base is not None:
            self._go_on_from(base)
        if central is not None:
            self.key, self.key_changed_seq, self.signed_seq = central.key, central.key_changed_seq, central.signed_seq
            self._checkpoint_seq, self._owed_seq = central.checkpoint_seq, central.owed_seq

    @property
    def so_far(self) -> SignedSoFar:
        """Where the check stands."""
        return SignedSoFar(self.key, self.key_changed_seq, self.signed_seq, self._checkpoint_seq, self._owed_seq)

    def _go_on_from(self, base: Base) -> None:
        self._checkpoint_seq = base.seq
        try:
            session = json.loads(base.state)["session"]
            key, configured = session["key"], session["configured"]
        except (ValueError, KeyError, TypeError):
            # Then the first checkpoint is by another key than this.
            return
        self.key = key if isinstance(key, str) else None
        self.site = _site(configured)

    def take(self, event: Event) -> None:
        """Raises Unproven when the event cannot have been written by a table that signs as it should."""
        if self._base is not None and event.seq == self._base.seq + 1 and event.type != CHECKPOINT:
            raise Unproven("is no checkpoint, which a journal begins with whose oldest events were pruned")
        if event.type == "started":
            self.check_end()
            self._take_start(event)
        elif self.key is None:
            raise Unproven("comes before any start of the terminal, so nothing says whose key it is signed with")
        elif event.type == CHECKPOINT:
            self._take_checkpoint(event)
        elif event.type == ADOPTED:
            self._take_adoption(event)
        elif event.type in ALWAYS_SIGNED and self._owed_seq is None:
            self._owed_seq = event.seq
        if self._witness is not None:
            self._witness.take(event, self.key)
        if event.seq - self._checkpoint_seq > UNSIGNED_EVENTS_MAX:
            raise Unproven(
                f"there is no checkpoint since event {self._checkpoint_seq}, though one is due "
                f"every {CHECKPOINT_EVENTS} events"
            )

    def check_end(self) -> None:
        """Raises Unproven when the events may not end here, nor be followed by a start."""
        if self._owed_seq is not None:
            raise Unproven(f"the checkpoint that was written together with event {self._owed_seq} is missing")

    def check_journal_end(self) -> None:
        """Raises Unproven when the journal may not end here."""
        self.check_end()
        if self._witness is not None:
            try:
                self._witness.check_end()
            except BadBase as error:
                raise Unproven(str(error), error.seq) from None

    def _take_start(self, event: Event) -> None:
        key = event.data.get("key")
        if not isinstance(key, str) or not is_public_key(key):
            raise Unproven("is a start without the table's public key")
        is_marked = event.data.get("key_changed", False)
        if is_marked is not (self.key not in (None, key)):
            former = f"the table's key was {self.key}" if self.key is not None else "no key came before"
            mark = "marked as" if is_marked else "not marked as"
            raise Unproven(f"names the key {key}, {mark} changed, but {former}")
        if is_marked:
            self.key_changed_seq = event.seq
        self.key = key
        self.heir = None
        self.site = _site(event.data.get("configured"))

    def _take_adoption(self, event: Event) -> None:
        heir = event.data.get("key")
        if not isinstance(heir, str) or not is_public_key(heir):
            raise Unproven("is a taking over without the new unit's public key")
        if event.data.get("former_key") != self.key:
            raise Unproven(f"names the former key {event.data.get('former_key')}, but the table's key was {self.key}")
        self.heir = heir

    def _take_checkpoint(self, event: Event) -> None:
        try:
            checkpoint = parse_checkpoint(event.table, event.data)
        except BadCheckpoint as error:
            raise Unproven(f"{error}; one of events {self.signed_seq + 1} to {event.seq} was changed") from None
        if checkpoint.key != self.key:
            raise Unproven(f"is signed with the key {checkpoint.key}, but the table's key is {self.key}")
        if (checkpoint.seq, checkpoint.hash) != (event.seq - 1, event.prev):
            raise Unproven(
                f"signs event {checkpoint.seq} with hash {checkpoint.hash}, but before it comes event {event.seq - 1} "
                f"with hash {event.prev}; one of events {self.signed_seq + 1} to {event.seq} was changed"
            )
        self.signed_seq = checkpoint.seq
        self._checkpoint_seq = event.seq
        self._owed_seq = None


@dataclass(frozen=True)
class VerificationResult:
    """What a verification found. `last_seq` and `last_hash` are of the last event that is good."""

    last_seq: int
    """Those from 1 on to it have no hole, and those that were not pruned were checked."""
    last_hash: str
    table: str | None
    """None when there is no event."""
    first_bad_seq: int | None
    """None when everything is good, or when it is the checkpoint that was given which proves nothing here."""
    what_is_wrong: str | None
    signed_seq: int
    """The last event that a signature holds for; those after it up to `last_seq` are chained only."""
    key: str | None
    """The table's public key, as its last start names it."""
    key_changed_seq: int
    """The last start under another key than before, 0 when there was none. Only what others hold tells who did it."""
    site: str | None
    """The site of the last start."""
    heir: str | None = None
    """The public key of a unit that has taken the journal over and was not started yet."""
    pruned_seq: int = 0
    """The last event that was pruned after delivery, and that the base stands for; 0 when none was."""

    @property
    def is_good(self) -> bool:
        return self.what_is_wrong is None


def verify(
    reader: JournalReader, on_progress: Callable[[int, int], None], checkpoint: Checkpoint | None = None
) -> VerificationResult:
    """Checks every event: canonical form, hash, `seq` without a hole, `prev`, one table, signatures; what stands for
    those that were pruned; and that the journal holds the event of a `checkpoint` that was taken away earlier.

    `on_progress` is told (events checked, events in all) every PROGRESS_EVENTS and at the end. Raises
    JournalError when the file cannot be read for a reason other than damage.
    """
    while True:
        try:
            return _verify(reader, on_progress, checkpoint)
        except JournalPruned:
            # A table prunes once an hour at most, so that the next time is not in vain.
            continue


def _verify(
    reader: JournalReader, on_progress: Callable[[int, int], None], checkpoint: Checkpoint | None
) -> VerificationResult:
    last_seq, last_hash = 0, GENESIS_HASH
    table: str | None = None
    signatures = SignatureCheck()
    pruned_seq = 0

    def result(bad_seq: int | None, reason: str | None) -> VerificationResult:
        return VerificationResult(
            last_seq,
            last_hash,
            table,
            bad_seq,
            reason,
            signatures.signed_seq,
            signatures.key,
            signatures.key_changed_seq,
            signatures.site,
            signatures.heir,
            pruned_seq,
        )

    try:
        events_in_all = reader.last_seq
        base = reader.base()
        if base is not None:
            signatures = SignatureCheck(base)
            pruned_seq = last_seq = base.seq
            last_hash, table = base.hash, base.table
            if checkpoint is not None:
                _compare_with_base(base, checkpoint)
                if checkpoint.seq < base.seq:
                    return result(None, _too_old(checkpoint, base))
        for event in reader.events():
            signatures.take(event)
            if checkpoint is not None:
                _compare(event, checkpoint, signatures.key)
            last_seq, last_hash, table = event.seq, event.hash, event.table
            if last_seq % PROGRESS_EVENTS == 0:
                on_progress(last_seq, max(events_in_all, last_seq))
        signatures.check_journal_end()
    except JournalDamaged as damage:
        return result(damage.seq if damage.seq is not None else last_seq + 1, damage.reason)
    except Unproven as unproven:
        return result(unproven.seq or last_seq + 1, str(unproven))
    if checkpoint is not None and last_seq < checkpoint.seq:
        return result(last_seq + 1, f"missing, though the checkpoint is of event {checkpoint.seq}: it was cut off")
    on_progress(last_seq, last_seq)
    return result(None, None)


def _site(configured: Any) -> str | None:
    site = configured.get("site") if isinstance(configured, dict) else None
    return site if isinstance(site, str) else None


def _compare_with_base(base: Base, checkpoint: Checkpoint) -> None:
    """Raises Unproven when what was pruned is not what a checkpoint says that was taken away earlier."""
    if base.table != checkpoint.table:
        raise Unproven(f"the base is of table {base.table!r}, but the checkpoint of table {checkpoint.table!r}")
    if checkpoint.seq == base.seq and checkpoint.hash != base.hash:
        raise Unproven(f"the base has hash {base.hash} for event {base.seq}, but {checkpoint.hash} in the checkpoint")


def _too_old(checkpoint: Checkpoint, base: Base) -> str:
    return (
        f"the checkpoint that was given is of event {checkpoint.seq}, but events 1 to {base.seq} were pruned here, so "
        f"it proves nothing of this journal; give one of event {base.seq} or later, or --central in its place"
    )


def _compare(event: Event, checkpoint: Checkpoint, key: str | None) -> None:
    """Raises Unproven when `event` is not what a checkpoint says that was taken away earlier."""
    if event.table != checkpoint.table:
        raise Unproven(f"is of table {event.table!r}, but the checkpoint of table {checkpoint.table!r}")
    if event.seq != checkpoint.seq:
        return
    if key != checkpoint.key:
        raise Unproven(f"the checkpoint is signed with the key {checkpoint.key}, but the table's key here is {key}")
    if event.hash != checkpoint.hash:
        raise Unproven(
            f"hash is {event.hash}, but {checkpoint.hash} in the checkpoint: it or an event before it was changed"
        )
