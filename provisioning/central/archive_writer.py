"""Takes messages of the central log into the archive's database: each whole in a transaction, or not at all.

What can be taken and what not is a matter of the events alone, never of the stream's numbers: what is here already is
compared and passed over, however often it comes; what does not continue the history puts the table in alarm, and until
somebody resolves that (`archive_alarms`) its messages wait in the central log, which keeps them. A hole is only
believed when the table's own messages, read one after the other, have it too.
"""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any, Final

from sqlalchemy import Connection, and_, func, insert, select, update
from sqlalchemy.exc import DataError

from device.clock import wall_text
from device.event import Event
from device.journal_verification import SignedSoFar
from provisioning.central import archive_schema as schema
from provisioning.central.archive_check import Continued, End, KnownKeys, check_continuation
from provisioning.central.archive_message import Finding, LogMessage, read_message
from provisioning.central.archive_rows import BadShape, Origin, Rows, rows_of
from provisioning.central.archive_stakes import CORRECTION, OPENING, STEPS, Stakes
from provisioning.standard_streams import visible

TABLES_CACHED_MAX: Final = 20_000

log = logging.getLogger(__name__)
Names = tuple[str, str]


class Taken(Enum):
    """What became of a message."""

    HERE = auto()
    """All of it is in the archive."""
    WAITS = auto()
    """It stays in the central log: the table is in alarm, or has to be read again first."""
    ALARM = auto()
    """It put the table in alarm."""


@dataclass(frozen=True)
class Head:
    """The archive's row about a table. `left_out`: hashes of messages that somebody left out."""

    end: End = field(default_factory=End)
    last_wall: str | None = None
    last_sequence: int = 0
    heard_sequence: int = 0
    heard_at: str | None = None
    session: int = 0
    is_open: bool = False
    alarm: int | None = None
    reread: bool = False
    left_out: frozenset[str] = frozenset()
    is_stored: bool = False


class Archive:
    """The one writer of an archive's database, by a connection that holds its lock (`archive_database`).

    All methods raise sqlalchemy.exc.OperationalError when the database is away; then nothing was written.
    """

    def __init__(self, connection: Connection, keys: KnownKeys | None) -> None:
        self._connection = connection
        self._keys = keys
        # Of tables that are well, and were heard since the start.
        self._heads: dict[Names, Head] = {}
        self._stakes: dict[Names, Stakes] = {}
        with connection.begin():
            row = connection.execute(select(schema.archive)).one()
        self.consumer: str = row.consumer
        self.position: int = row.position
        """Number, in the stream, of the last message that was dealt with; 0: none."""
        self.position_hash: str | None = row.position_hash

    def take(self, message: LogMessage, *, in_order: bool) -> Taken:
        """Take what the message has and the archive not.

        `in_order`: it is the table's next message in the stream, which was asked for all of them. Otherwise it is the
        next of all tables, and once it is dealt with, the position is behind it.
        """
        is_done = False
        try:
            with self._connection.begin():
                taken = self._take(message, in_order)
                if not in_order:
                    self._note_position(message)
            is_done = True
        except DataError as error:
            with self._connection.begin():
                reason = f"the database refuses what an event holds: {type(error.orig).__name__}"
                taken = self._refuse_all(message, Finding("malformed", reason))
                if not in_order:
                    self._note_position(message)
        finally:
            if not is_done:
                self._forget(message.names)
        if not in_order:
            self._advance(message)
        return taken

    def take_next(self, messages: Sequence[LogMessage]) -> list[Taken]:
        """Take the next messages of all tables, at least one, in one transaction.

        Where the database refuses what one of them holds, each is taken by itself.
        """
        is_done = False
        try:
            with self._connection.begin():
                taken = [self._take(message, in_order=False) for message in messages]
                self._note_position(messages[-1])
            is_done = True
        except DataError:
            taken = []
        finally:
            if not is_done:
                for message in messages:
                    self._forget(message.names)
        if not is_done:
            return [self.take(message, in_order=False) for message in messages]
        self._advance(messages[-1])
        return taken

    def move_to(self, position: int) -> None:
        """Go on behind another message of the stream than the last that was dealt with."""
        with self._connection.begin():
            self._connection.execute(update(schema.archive).values(position=position, position_hash=None))
        self.position, self.position_hash = position, None

    def rename_consumer(self, consumer: str) -> None:
        """The central log is read by another consumer from now on."""
        with self._connection.begin():
            self._connection.execute(update(schema.archive).values(consumer=consumer))
        self.consumer = consumer

    def holds(self, message: LogMessage) -> bool:
        """Whether a message was dealt with before: its events are here, or it was left out."""
        events, _ = read_message(message)
        with self._connection.begin():
            head = self._read_head(message.names)
            if self._is_left_out(message, head):
                return True
            if not events or events[-1].seq > head.end.seq:
                return False
            stored = self._stored_hashes(message.names, head, events[-1:])
            return stored.get(events[-1].seq) == events[-1].hash

    def to_reread(self) -> list[Names]:
        """The tables whose own messages are to be read again, one after the other."""
        columns = schema.tables.c
        with self._connection.begin():
            rows = self._connection.execute(select(columns.site, columns.table_name).where(columns.reread))
            return [(row.site, row.table_name) for row in rows]

    def head(self, names: Names) -> Head:
        """Where the archive stands with a table."""
        with self._connection.begin():
            return self._read_head(names)

    def reread_done(self, names: Names) -> None:
        """There are no further messages of this table."""
        with self._connection.begin():
            self._update_table(names, reread=False, waiting_messages=0)
        self._forget(names)

    # Within a transaction

    def _take(self, message: LogMessage, in_order: bool) -> Taken:
        names = message.names
        head = self._heads.get(names) or self._read_head(names)
        if head.alarm is not None or (head.reread and not in_order):
            self._let_wait(message, head)
            return Taken.WAITS
        events, finding = ([], None) if self._is_left_out(message, head) else read_message(message)
        stored = self._stored_hashes(names, head, events)
        good, earlier = check_continuation(names[0], head.end, events, stored, self._keys)
        finding = earlier or finding
        if finding is not None and finding.kind == "gap" and not in_order:
            self._let_wait(message, head)
            self._update_table(names, reread=True)
            self._forget(names)
            return Taken.WAITS
        next_seq = events[-1].seq + 1 if events else head.end.seq + 1
        return self._write(message, head, good, finding, next_seq)

    def _write(
        self, message: LogMessage, head: Head, good: list[Continued], finding: Finding | None, next_seq: int
    ) -> Taken:
        names = message.names
        rows = Rows()
        written = head
        for continued in good:
            if continued.event.type == CORRECTION:
                # The game before it is looked up in the database.
                self._execute(rows)
                rows = Rows()
            try:
                written = self._add_rows(rows, names, written, continued)
            except BadShape as error:
                seq = continued.event.seq
                finding = Finding("malformed", f"event {seq}: {error}", seq)
                break
        self._execute(rows)
        if finding is not None:
            return self._refuse(message, written, finding, next_seq)
        if good or message.sequence > head.last_sequence:
            written = replace(written, last_sequence=message.sequence)
        written = _heard(written, message)
        self._store(names, written)
        self._remember(names, replace(written, is_stored=True))
        return Taken.HERE

    def _add_rows(self, rows: Rows, names: Names, head: Head, continued: Continued) -> Head:
        event = continued.event
        session, is_open = head.session, head.is_open
        if event.type == OPENING:
            session, is_open = session + 1, True
        elif event.type == "table_closed":
            is_open = False
        stakes = None
        if event.type in STEPS:
            stakes = self._stakes_at(names, event.type).take(event.seq, event.type, event.data)
        event_rows = rows_of(Origin(names[0], event, session, stakes))
        event_rows.add(schema.events, _event_row(names[0], event))
        rows.extend(event_rows)
        return replace(head, end=continued.end, last_wall=event.wall, session=session, is_open=is_open)

    def _execute(self, rows: Rows) -> None:
        for table, added in rows.added.items():
            self._connection.execute(insert(table), added)
        for statement in rows.updates:
            self._connection.execute(statement)

    def _refuse_all(self, message: LogMessage, finding: Finding) -> Taken:
        head = self._read_head(message.names)
        return self._refuse(message, head, finding, head.end.seq + 1)

    def _refuse(self, message: LogMessage, head: Head, finding: Finding, next_seq: int) -> Taken:
        """Put the table in alarm; what was good before it is kept."""
        names = message.names
        seq = finding.seq or next_seq
        alarm = {
            "site": names[0],
            "table_name": names[1],
            "kind": finding.kind,
            "seq": seq,
            "reason": finding.reason.replace("\x00", "\ufffd"),
            "sequence": message.sequence,
            "message_hash": message.hash,
            "found_seq": finding.found_seq,
            "found_prev": finding.found_prev,
            "raised_at": wall_text(time.time_ns()),
        }
        added = self._connection.execute(insert(schema.alarms), alarm).inserted_primary_key
        assert added is not None
        self._store(names, replace(_heard(head, message), alarm=added[0], reread=False))
        self._forget(names)
        log.error("%s", visible(f"{names[0]}/{names[1]} is in alarm at event {seq}: {finding.reason}"))
        return Taken.ALARM

    def _let_wait(self, message: LogMessage, head: Head) -> None:
        self._store(message.names, _heard(head, message))
        self._update_table(message.names, waiting_messages=schema.tables.c.waiting_messages + 1)

    def _is_left_out(self, message: LogMessage, head: Head) -> bool:
        return bool(head.left_out) and message.hash in head.left_out

    def _stored_hashes(self, names: Names, head: Head, events: list[Event]) -> dict[int, str]:
        known = [event.seq for event in events if event.seq <= head.end.seq]
        if not known:
            return {}
        columns = schema.events.c
        wanted = select(columns.seq, columns.hash).where(
            columns.site == names[0],
            columns.table_name == names[1],
            columns.seq.between(min(known), max(known)),
        )
        return {row.seq: row.hash for row in self._connection.execute(wanted)}

    def _stakes_at(self, names: Names, kind: str) -> Stakes:
        """The table's game before a further event; where that is not known, the events in the archive are played again.

        That is so for the first correction of a session as well, since until then no game keeps its rolls.
        """
        found = self._stakes.get(names)
        if kind == OPENING:
            found = Stakes(keeps_rolls=False)
        elif found is None or (kind == CORRECTION and not found.keeps_rolls):
            found = self._played_again(names, kind == CORRECTION)
        self._stakes[names] = found
        return found

    def _played_again(self, names: Names, is_corrected: bool) -> Stakes:
        columns = schema.events.c
        here = and_(columns.site == names[0], columns.table_name == names[1])
        opened = select(func.max(columns.seq)).where(here, columns.type == OPENING).scalar_subquery()
        steps = (
            select(columns.seq, columns.type, columns.data)
            .where(here, columns.type.in_(STEPS), columns.seq >= opened)
            .order_by(columns.seq)
        )
        rows = self._connection.execute(steps).all()
        stakes = Stakes(keeps_rolls=is_corrected or any(row.type == CORRECTION for row in rows))
        for row in rows:
            stakes.take(row.seq, row.type, row.data)
        return stakes

    # Rows of the archive's own

    def _advance(self, message: LogMessage) -> None:
        """What `_note_position` wrote is committed."""
        if message.sequence > self.position:
            self.position, self.position_hash = message.sequence, message.hash

    def _note_position(self, message: LogMessage) -> None:
        if message.sequence > self.position:
            position = update(schema.archive).values(position=message.sequence, position_hash=message.hash)
            self._connection.execute(position)

    def _read_head(self, names: Names) -> Head:
        table, alarms = schema.tables, schema.alarms
        row = self._connection.execute(select(table).where(_is(table, names))).first()
        if row is None:
            return Head()
        left_out = select(alarms.c.message_hash).where(_is(alarms, names), alarms.c.left_out, alarms.c.kind != "gap")
        signed = SignedSoFar(row.key, row.key_changed_seq, row.signed_seq, row.checkpoint_seq, row.owed_seq)
        return Head(
            end=End(row.last_seq, row.last_hash, signed),
            last_wall=row.last_wall,
            last_sequence=row.last_sequence,
            heard_sequence=row.heard_sequence,
            heard_at=row.heard_at,
            session=row.session,
            is_open=row.is_open,
            alarm=row.alarm,
            reread=row.reread,
            left_out=frozenset(self._connection.execute(left_out).scalars()),
            is_stored=True,
        )

    def _store(self, names: Names, head: Head) -> None:
        signed = head.end.signed
        said: dict[str, Any] = {
            "last_seq": head.end.seq,
            "last_hash": head.end.hash,
            "last_wall": head.last_wall,
            "heard_at": head.heard_at,
            "last_sequence": head.last_sequence,
            "heard_sequence": head.heard_sequence,
            "session": head.session,
            "is_open": head.is_open,
            "key": signed.key,
            "key_changed_seq": signed.key_changed_seq,
            "signed_seq": signed.signed_seq,
            "checkpoint_seq": signed.checkpoint_seq,
            "owed_seq": signed.owed_seq,
            "alarm": head.alarm,
            "reread": head.reread,
        }
        if head.is_stored:
            self._update_table(names, **said)
        else:
            row = said | {"site": names[0], "table_name": names[1], "waiting_messages": 0}
            self._connection.execute(insert(schema.tables).values(row))

    def _update_table(self, names: Names, **said: Any) -> None:
        self._connection.execute(update(schema.tables).where(_is(schema.tables, names)).values(**said))

    def _remember(self, names: Names, head: Head) -> None:
        if head.reread:
            return
        if len(self._heads) >= TABLES_CACHED_MAX:
            self._heads.clear()
            self._stakes.clear()
        self._heads[names] = head

    def _forget(self, names: Names) -> None:
        self._heads.pop(names, None)
        self._stakes.pop(names, None)


def _is(table: Any, names: Names) -> Any:
    return and_(table.c.site == names[0], table.c.table_name == names[1])


def _heard(head: Head, message: LogMessage) -> Head:
    """The last word of the table. What is read again is no news."""
    if message.heard_at is None:
        return head
    return replace(head, heard_at=message.heard_at, heard_sequence=message.sequence)


def _event_row(site: str, event: Event) -> dict[str, Any]:
    return {
        "site": site,
        "table_name": event.table,
        "seq": event.seq,
        "wall": event.wall,
        "clock": event.clock,
        "boot": event.boot,
        "mono_ns": event.mono_ns,
        "type": event.type,
        "data": event.data,
        "prev": event.prev,
        "hash": event.hash,
    }
