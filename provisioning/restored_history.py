"""A restored journal as one more log that a table's history can be taken over from."""

from pathlib import Path
from typing import Final

from device.central_history import CentralHistory, CentralUnreadable, Take
from device.journal import JournalError, JournalReader
from device.uplink_protocol import LogEnd

_PIECE_EVENTS: Final = 500


def restored_history(journal: Path, central: CentralHistory | None) -> CentralHistory:
    """The history in a journal; what was pruned from it after delivery is taken from the `central` log."""

    async def end() -> LogEnd:
        try:
            with JournalReader(journal) as reader:
                return _end(reader)
        except JournalError as error:
            raise CentralUnreadable(str(error)) from error

    async def read(take: Take) -> LogEnd:
        try:
            with JournalReader(journal) as reader:
                whole = _end(reader)
                first = 1
                if (base := reader.base()) is not None:
                    first = 1 + await _pruned(base.seq, whole, take)
                while lines := reader.read(first, _PIECE_EVENTS):
                    first += len(lines)
                    take("\n".join(lines).encode(), whole)
                return whole
        except JournalError as error:
            raise CentralUnreadable(str(error)) from error

    async def _pruned(seq: int, whole: LogEnd, take: Take) -> int:
        """Take the central log; the last event of it."""
        if central is None:
            raise CentralUnreadable(
                f"{journal}: events 1 to {seq} were pruned after delivery; name the central system that has them in "
                "the configuration"
            )
        end = await central.read(lambda payload, _: take(payload, whole))
        if end.seq < seq:
            raise CentralUnreadable(
                f"{journal}: events 1 to {seq} were pruned after delivery, but the central log ends at event {end.seq}"
            )
        return end.seq

    return CentralHistory("the backup", end, read)


def _end(reader: JournalReader) -> LogEnd:
    last = reader.last_seq
    return LogEnd(last, last, reader.read(last, 1)[0])
