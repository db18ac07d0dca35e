"""What a start is journaled as: the start, what it finds of the run before, the opening, the self-test so far."""

from dataclasses import dataclass
from typing import Any

from device.event import Event, Stamp
from device.journal_base import ADOPTED
from device.machine_events import found_at_start
from device.origin import Origin
from device.self_test import (
    Check,
    check_clock,
    check_journal,
    check_key,
    check_program,
    check_rules,
    check_space,
    self_test,
)
from device.session import Entry, Session
from device.table_terms import TableTerms

RULES_UNFIT = "Nobody may play: these rules would pay wrong ({}). Call a technician."


@dataclass(frozen=True)
class Start:
    """How a terminal starts. `terms` None: the table goes on under the rules that it was opened under."""

    version: str
    configured: dict[str, Any]
    terms: TableTerms | None
    key: str
    configuration_hash: str


@dataclass(frozen=True)
class Found:
    """What the start finds: the journal's last event, the snapshot it was replayed from, the room on the disk."""

    last: Event | None
    snapshot_seq: int
    free_bytes: int
    holds_reserve: bool
    now: Stamp


@dataclass(frozen=True)
class Started:
    """What to journal, already taken on by the session, and what the self-test has found so far.

    `unfit`: why nobody may play; then the self-test is over and among the entries. Otherwise the hardware is missing.
    """

    entries: list[Entry]
    checks: list[Check]
    unfit: str | None


def _adopted_by(last: Event | None) -> str | None:
    return last.data["key"] if last is not None and last.type == ADOPTED else None


def start_session(session: Session, start: Start, found: Found) -> Started:
    """Start a session that was replayed."""
    told = found_at_start(found.last, session.running, found.now)
    former_key, former_version, last_seq = session.key, session.version, session.seq
    entries = session.start(start.version, start.configured, key=start.key, configuration_hash=start.configuration_hash)
    is_downgrade = entries[0][1].get("downgrade", False)
    entries += session.machine_seen(told)
    if session.recording_stopped:
        # The run before ended while nothing was recorded; that is over now.
        entries += session.resume_recording(found.free_bytes)
    if start.terms is not None:
        entries += session.open_table(start.terms, Origin("configuration"))
    assert session.terms is not None
    rules = check_rules(session.terms)
    checks = [
        check_journal(last_seq, found.snapshot_seq),
        rules,
        check_key(former_key, start.key, _adopted_by(found.last)),
        check_program(start.version, start.configuration_hash, newer_before=former_version if is_downgrade else None),
        check_space(found.free_bytes, holds_reserve=found.holds_reserve),
        check_clock(found.now.clock),
    ]
    if rules.result != "failed":
        return Started(entries, checks, None)
    entries += session.machine_seen([self_test(checks)])
    return Started(entries, checks, RULES_UNFIT.format(rules.said))
