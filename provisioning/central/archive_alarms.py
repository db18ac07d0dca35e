"""What the archive has to say about each table, and how somebody resolves an alarm.

A resolution is a row of the database, with the name of whoever gave it and the reason. The table is then read again
from its last good event on: for what was put right meanwhile, a log that was brought back, a key that was listed. Where
nothing can be put right, `leave_out` goes on without: of a gap the missing events stay missing, otherwise the message
that raised the alarm stays out. What follows must still continue the history; if it does not, that is the next alarm.
"""

import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, and_, func, select, update

from device.clock import wall_text
from device.journal_verification import SignedSoFar
from provisioning.central.archive_check import End, behind_gap
from provisioning.central.archive_schema import alarms, archive, tables


class NotInAlarm(Exception):
    """There is nothing to be resolved; the text says so."""


@dataclass(frozen=True)
class Alarm:
    """Why nothing further is taken of a table."""

    seq: int
    kind: str
    reason: str
    raised_at: str


@dataclass(frozen=True)
class TableStatus:
    """Where the archive stands with a table."""

    site: str
    table: str
    last_seq: int
    heard_at: str | None
    signed_seq: int
    is_open: bool
    waiting_messages: int
    reread: bool
    alarm: Alarm | None
    left_out: int
    """How often something was left out of this history, for good."""


def read_status(connection: Connection) -> list[TableStatus]:
    """All tables, by site and name."""
    left_out = (
        select(alarms.c.site, alarms.c.table_name, func.count().label("left_out"))
        .where(alarms.c.left_out)
        .group_by(alarms.c.site, alarms.c.table_name)
        .subquery()
    )
    same = and_(left_out.c.site == tables.c.site, left_out.c.table_name == tables.c.table_name)
    wanted = (
        select(tables, alarms.c.seq, alarms.c.kind, alarms.c.reason, alarms.c.raised_at, left_out.c.left_out)
        .join_from(tables, alarms, tables.c.alarm == alarms.c.id, isouter=True)
        .join(left_out, same, isouter=True)
        .order_by(tables.c.site, tables.c.table_name)
    )
    with connection.begin():
        return [_status(row) for row in connection.execute(wanted)]


def read_position(connection: Connection) -> int:
    """Number, in the central log's stream, of the last message that was dealt with."""
    with connection.begin():
        position: int = connection.execute(select(archive.c.position)).scalar_one()
        return position


def resolve(connection: Connection, site: str, table: str, *, name: str, reason: str, leave_out: bool) -> None:
    """Resolve the alarm of a table. Raises NotInAlarm."""
    here = and_(tables.c.site == site, tables.c.table_name == table)
    with connection.begin():
        row = connection.execute(
            select(tables, alarms.c.kind, alarms.c.found_seq, alarms.c.found_prev)
            .join_from(tables, alarms, tables.c.alarm == alarms.c.id)
            .where(here)
            .with_for_update()
        ).first()
        if row is None:
            raise NotInAlarm(f"no alarm of table {site}/{table} stands")
        said = {
            "resolved_at": wall_text(time.time_ns()),
            "resolved_by": name,
            "resolution": reason,
            "left_out": leave_out,
        }
        connection.execute(update(alarms).where(alarms.c.id == row.alarm).values(said))
        after: dict[str, Any] = {"alarm": None, "reread": True}
        if leave_out and row.kind == "gap":
            signed = SignedSoFar(row.key, row.key_changed_seq, row.signed_seq, row.checkpoint_seq, row.owed_seq)
            end = behind_gap(End(row.last_seq, row.last_hash, signed), row.found_seq, row.found_prev)
            after |= {
                "last_seq": end.seq,
                "last_hash": end.hash,
                "checkpoint_seq": end.signed.checkpoint_seq,
                "owed_seq": end.signed.owed_seq,
            }
        connection.execute(update(tables).where(here).values(after))


def _status(row: Any) -> TableStatus:
    alarm = Alarm(row.seq, row.kind, row.reason, row.raised_at) if row.alarm is not None else None
    return TableStatus(
        site=row.site,
        table=row.table_name,
        last_seq=row.last_seq,
        heard_at=row.heard_at,
        signed_seq=row.signed_seq,
        is_open=row.is_open,
        waiting_messages=row.waiting_messages,
        reread=row.reread,
        alarm=alarm,
        left_out=row.left_out or 0,
    )
