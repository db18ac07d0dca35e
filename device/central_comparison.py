"""Holds a journal against the central log, event by event: where they differ first, and what either of them lacks."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from device.central_history import FETCH_MESSAGES, CentralHistory
from device.event import BadEvent, Event, parse
from device.journal import JournalReader
from device.journal_base import Base
from device.uplink_protocol import EMPTY_LOG, LogEnd

READ_EVENTS: Final = 64


class Different(Exception):
    """The central log and the journal differ at event `seq`; the text says how."""

    def __init__(self, seq: int, reason: str) -> None:
        super().__init__(reason)
        self.seq: Final = seq


@dataclass(frozen=True)
class ComparisonResult:
    """What a comparison found, as far as it got."""

    alike_seq: int
    """Events 1 to this one are the same in both; of those that were pruned, the central log's lead to the base."""
    journal_seq: int
    """Where the journal ends."""
    central_seq: int
    """Where the central log ends; 0 when it ends in something that is no event."""
    first_bad_seq: int | None
    """None when the central log is a beginning of the journal, or the whole of it."""
    what_is_wrong: str | None


class Comparison:
    """Takes the central log's messages in order and holds each event in them against the journal's."""

    def __init__(self, read: Callable[[int, int], list[str]], base: Base | None = None) -> None:
        """`read(first, limit)` gives the journal's lines from event `first` on, which comes behind the base."""
        self._read = read
        self._base = base
        self._pruned_before: Event | None = None
        self._lines: list[str] = []
        self._lines_from = 1
        self.central_seq = 0
        """The last event taken."""
        self.alike_seq = 0
        """The last event that is the same in both."""

    def take(self, payload: bytes) -> None:
        """Raises Different at the first event that is not the journal's, unless the journal has ended before."""
        for line in payload.split(b"\n"):
            self._take(self.central_seq + 1, line)
            self.central_seq += 1

    def _take(self, seq: int, line: bytes) -> None:
        if self._base is not None and seq <= self._base.seq:
            self._take_pruned(seq, line, self._base)
            return
        own = self._own(seq)
        if line == own:
            self.alike_seq = seq
            return
        found, hash = _seq_and_hash(line)
        if found is None:
            raise Different(seq, "the central log holds something else than an event in its place")
        if found > seq:
            raise Different(seq, f"missing in the central log, where event {found} follows event {seq - 1}")
        if found < seq:
            raise Different(seq, f"the central log holds event {found} again after event {seq - 1}")
        if own is not None:
            raise Different(seq, f"hash is {_seq_and_hash(own)[1]}, but {hash} in the central log")

    def _take_pruned(self, seq: int, line: bytes, base: Base) -> None:
        """The central log alone still has it; one changed event would not lead to the hash that the base holds."""
        try:
            event = parse(line.decode("utf-8"))
        except (UnicodeDecodeError, BadEvent) as error:
            raise Different(seq, f"the central log alone has it, and holds no event in its place: {error}") from None
        if event.seq != seq:
            raise Different(seq, f"the central log holds event {event.seq} in its place")
        if self._pruned_before is not None and event.prev != self._pruned_before.hash:
            raise Different(seq, f"does not follow event {seq - 1} in the central log, which alone still has them")
        if seq == base.seq and event.hash != base.hash:
            raise Different(seq, f"hash is {base.hash} in the journal's base, but {event.hash} in the central log")
        self._pruned_before = event
        if seq == base.seq:
            self.alike_seq = seq

    def _own(self, seq: int) -> bytes | None:
        if not self._lines_from <= seq < self._lines_from + len(self._lines):
            self._lines, self._lines_from = self._read(seq, READ_EVENTS), seq
        return self._lines[seq - self._lines_from].encode("utf-8") if self._lines else None


async def compare_with_central(
    reader: JournalReader, central: CentralHistory, on_progress: Callable[[int, int], None]
) -> ComparisonResult:
    """Read the central log as far as it goes now, and compare. Raises CentralUnreadable or JournalError.

    `on_progress` is told (events compared, events in the central log).
    """
    base = reader.base()
    comparison = Comparison(reader.read, base)
    ends: list[LogEnd] = []
    taken = 0

    def take(payload: bytes, end: LogEnd) -> None:
        nonlocal taken
        ends[:] = [end]
        comparison.take(payload)
        taken += 1
        if taken % FETCH_MESSAGES == 0:
            on_progress(comparison.central_seq, max(end.seq, comparison.central_seq))

    try:
        # Its end is asked for before the journal's is looked at: the journal always has an event before the log has it.
        end = await central.read(take)
    except Different as different:
        return ComparisonResult(comparison.alike_seq, reader.last_seq, ends[0].seq, different.seq, str(different))
    journal_seq = reader.last_seq
    bad_seq, reason = None, None
    if end == EMPTY_LOG and journal_seq:
        bad_seq, reason = 1, f"the central log holds nothing under {central.name}"
    elif base is not None and comparison.central_seq < base.seq:
        bad_seq = comparison.central_seq + 1
        reason = f"missing in the central log, and pruned here, as those up to event {base.seq} are"
    elif comparison.central_seq > journal_seq:
        bad_seq = journal_seq + 1
        reason = f"missing, though the central log goes on to event {comparison.central_seq}: the journal was cut off"
    return ComparisonResult(comparison.alike_seq, journal_seq, comparison.central_seq, bad_seq, reason)


def _seq_and_hash(line: bytes) -> tuple[int | None, object]:
    """What a line says of itself; the number is None when it is no event."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None, None
    if not isinstance(event, dict) or type(event.get("seq")) is not int:
        return None, None
    return event["seq"], event.get("hash")
