"""Whether events continue a table's history in the archive: without a hole, on its chain, signed with its key.

Pure: no network, no database.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from device.event import GENESIS_HASH, Event
from device.journal_base import ADOPTED
from device.journal_verification import SignatureCheck, SignedSoFar, Unproven
from provisioning.central.archive_message import Finding

KnownKeys = Mapping[tuple[str, str], tuple[str, ...]]
"""The public keys of a table's units, one after the other, by site and table."""


@dataclass(frozen=True)
class End:
    """Where the history of a table in the archive ends."""

    seq: int = 0
    hash: str = GENESIS_HASH
    signed: SignedSoFar = field(default_factory=SignedSoFar)


@dataclass(frozen=True)
class Continued:
    """An event that continues a history, and the end of the history with it."""

    event: Event
    end: End


def check_continuation(
    site: str, end: End, events: Sequence[Event], stored: Mapping[int, str], keys: KnownKeys | None
) -> tuple[list[Continued], Finding | None]:
    """The events behind `end` that are good, and what is wrong with the one that follows them, if anything is.

    `events` may begin before the end: `stored` holds the hashes of those that the archive has. What it has not, of
    those, was left out by name and stays out.
    """
    good: list[Continued] = []
    signatures = SignatureCheck(central=end.signed)
    for event in events:
        if event.seq <= end.seq:
            stored_hash = stored.get(event.seq, event.hash)
            if stored_hash != event.hash:
                reason = f"event {event.seq} has hash {event.hash} here, but {stored_hash} in the archive"
                return good, Finding("fork", f"{reason}: two histories under one name", event.seq)
            continue
        finding = _finding(site, end, event, keys)
        if finding is not None:
            return good, finding
        try:
            signatures.take(event)
        except Unproven as unproven:
            return good, Finding("signature", f"event {event.seq} {unproven}", event.seq)
        end = End(event.seq, event.hash, signatures.so_far)
        good.append(Continued(event, end))
    return good, None


def behind_gap(end: End, found_seq: int, found_prev: str) -> End:
    """The end of a history whose next event is `found_seq`, those before it left out: they may hold checkpoints."""
    signed = replace(end.signed, checkpoint_seq=found_seq - 1, owed_seq=None)
    return End(found_seq - 1, found_prev, signed)


def _finding(site: str, end: End, event: Event, keys: KnownKeys | None) -> Finding | None:
    if event.seq > end.seq + 1:
        reason = f"events {end.seq + 1} to {event.seq - 1} are missing: behind event {end.seq} comes event {event.seq}"
        return Finding("gap", reason, end.seq + 1, event.seq, event.prev)
    if event.prev != end.hash:
        reason = (
            f"event {event.seq} follows one with hash {event.prev}, but event {end.seq} in the archive has {end.hash}"
        )
        return Finding("fork", f"{reason}: two histories under one name", event.seq)
    if event.type not in ("started", ADOPTED):
        return None
    fault = _key_fault(event, end.signed.key, keys, site)
    return Finding("key", f"event {event.seq}{fault}", event.seq) if fault is not None else None


def _key_fault(event: Event, before: str | None, keys: KnownKeys | None, site: str) -> str | None:
    """Why the key that an event names may not be the table's after `before`, or None when it may.

    Nobody at the table can vouch for a new key: whoever has another one writes the same events as a new unit does.
    """
    key = event.data.get("key")
    if keys is None:
        if before in (None, key):
            return None
        return f" changes the key from {before} to {key!r}, which only a list of tables with both of them can allow"
    known = keys.get((site, event.table))
    if known is None:
        return ": the table is not in the list of tables"
    if key not in known:
        return f" names the key {key!r}, which is not listed as the table's; its unit was replaced, or is another one"
    if before in known and known.index(key) < known.index(before):
        return f" names the key {key!r} of a former unit, which {before} has replaced"
    return None
