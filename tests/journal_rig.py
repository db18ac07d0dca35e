"""Journals as a table writes them, signed, and what somebody does to them who knows SQLite and how hashes are made."""

import json
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from device.checkpoint import sign
from device.clock import Clock
from device.disk_space import DiskSpace, SpaceLimits
from device.event import GENESIS_HASH, Event, Stamp, parse, seal
from device.event_times import EventTimes
from device.journal import Journal, JournalReader
from device.recovery import Recovered
from device.session import Session
from device.settings import Settings
from device.table_key import TableKey
from device.terminal import Terminal

STAMP = Stamp("boot-1", 5, "2026-11-29T22:10:56.123Z", "synced")
KEY = TableKey(bytes(range(32)))
OTHER_KEY = TableKey(bytes(32))
Entry = tuple[str, dict[str, Any]]


def started(key: TableKey = KEY, **more: Any) -> Entry:
    """A start as the terminal journals it."""
    return "started", {"version": "1", "configured": {"site": "casino-1"}, "key": key.public} | more


def noted(number: int, note: str = "Zoë") -> Entry:
    """An event without a meaning."""
    return "noted", {"number": number, "note": note}


def write(path: Path, entries: Sequence[Entry], key: TableKey = KEY, table: str = "craps-1") -> list[Event]:
    """Append `entries`; where one is called "sign", a checkpoint of the event before it takes its place."""
    with Journal.open(path, table) as journal:
        waiting: list[Entry] = []
        for kind, data in entries:
            if kind == "sign":
                journal.append(waiting, STAMP)
                waiting = [("checkpoint", sign(key, table, journal.last_seq, journal.last_hash).data())]
            else:
                waiting.append((kind, data))
        journal.append(waiting, STAMP)
    return events_in(path)


def filled(path: Path, count: int, note: str = "Zoë") -> list[Event]:
    """`count` events: a start, then notes, and every thousandth a checkpoint."""
    entries: list[Entry] = [started(), *(noted(number, note) for number in range(2, count + 1))][:count]
    entries[999::1000] = [("sign", {})] * len(entries[999::1000])
    return write(path, entries)


def events_in(path: Path) -> list[Event]:
    """The events of a good journal."""
    with JournalReader(path) as reader:
        return list(reader.events())


def tamper(path: Path, change: Callable[[sqlite3.Connection], object]) -> None:
    """Change the file as somebody who knows SQLite would: without the triggers, which are put back afterwards."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA synchronous=OFF")
    triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    change(connection)
    for _, sql in triggers:
        connection.execute(sql)
    connection.commit()
    connection.close()


def rewrite(path: Path, lines: Sequence[str]) -> None:
    """Put `lines` in the place of all events."""

    def change(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM events")
        connection.executemany("INSERT INTO events VALUES (?, ?)", enumerate(lines, start=1))

    tamper(path, change)


def chained_anew(events: Sequence[Event]) -> list[Event]:
    """The same events, numbered, linked and hashed anew, and the checkpoints' own numbers and hashes put right."""
    chained: list[Event] = []
    last_hash = GENESIS_HASH
    for seq, event in enumerate(events, start=1):
        data = event.data | {"seq": seq - 1, "hash": last_hash} if event.type == "checkpoint" else event.data
        stamp = Stamp(event.boot, event.mono_ns, event.wall, event.clock)
        chained.append(seal(event.table, seq, stamp, event.type, data, last_hash))
        last_hash = chained[-1].hash
    return chained


def changed(event: Event, **fields: Any) -> Event:
    """The event with other fields and a hash that fits."""
    said = json.loads(event.line()) | fields
    stamp = Stamp(said["boot"], said["mono_ns"], said["wall"], said["clock"])
    return seal(said["table"], said["seq"], stamp, said["type"], said["data"], said["prev"])


def lines_of(events: Sequence[Event]) -> list[str]:
    """Their canonical lines, each checked."""
    return [parse(event.line()).line() for event in events]


def replayed(journal: Journal) -> Recovered:
    """What a journal leads to, without a snapshot."""
    session, times = Session(), EventTimes()
    for event in journal.events():
        session.replay(event.seq, event.type, event.data)
        times.note(event)
    return Recovered(session, times, 0)


def terminal_on(journal: Journal, settings: Settings, key: TableKey, clock: Clock | None = None) -> Terminal:
    """A terminal that goes on from a journal; its start is not journaled yet."""
    return Terminal(
        replayed(journal),
        journal,
        clock if clock is not None else Clock(),
        settings,
        key,
        space=DiskSpace(journal.path.parent, SpaceLimits(reserve=4096, stop=0, resume=0)),
        recover_again=lambda: replayed(journal),
    )
