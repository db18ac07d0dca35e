"""A journal of very many events, made quickly: a short game again and again, sealed without the session's help.

What it holds is what a session would have written; whoever replays it finds out.
"""

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

from device.checkpoint import CHECKPOINT, CHECKPOINT_EVENTS, sign
from device.event import Event, Stamp, canonical, parse, seal
from device.journal import JournalReader
from device.origin import Origin
from device.session import Entry, Session
from device.table_key import TableKey

ROWS_A_TRANSACTION = 50_000
# Stand for what differs from one time to the next; no event holds them.
_ROLL_NUMBER = -987654321
_COMMAND = "the-id-of-a-command"
_STAMP = Stamp("boot-1", 5, "2026-11-29T22:10:56.123Z", "free")
_WON_AND_LOST: tuple[dict[str, Any], ...] = (
    {"bet": {"player": "1", "kind": "pass_line", "amount": 10}},
    {"bet": {"player": "2", "kind": "field", "amount": 10}},
    {"roll": [2, 2]},
    {"bet": {"player": "1", "kind": "pass_odds", "amount": 20, "number": 4}},
    {"bet": {"player": "2", "kind": "place", "amount": 12, "number": 6}},
    {"roll": [3, 3]},
    {"working": {"on": True, "number": 6}},
    {"roll": [5, 6]},
    {"roll": [3, 4]},
    {"shooter": "1"},
)


def lengthen(path: Path, session: Session, key: TableKey, events: int, stamp: Stamp = _STAMP) -> int:
    """Append at least so many events to the closed journal that `session` is the state of; how many it then holds.

    The session must be between two hands, with no bets on the layout. Nothing is flushed for each commit.
    """
    with JournalReader(path) as reader:
        last = parse(reader.read(reader.last_seq, 1)[0])
    assert session.table is not None
    rolls = session.table.roll_number
    hand: list[Entry] = []
    for step in _WON_AND_LOST:
        ((kind, data),) = session.command(step, Origin("console", _COMMAND))
        hand.append((kind, data | {"number": _ROLL_NUMBER} if kind == "roll" else data))
    assert session.table.layout() == 0
    rows = _rows(last, hand, rolls, key, events, stamp)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous=OFF")
        written = last.seq
        while block := list(islice(rows, ROWS_A_TRANSACTION)):
            connection.execute("BEGIN")
            connection.executemany("INSERT INTO events(seq, event) VALUES (?, ?)", block)
            connection.execute("COMMIT")
            written = block[-1][0]
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return written


def _rows(
    last: Event, hand: list[Entry], rolls: int, key: TableKey, events: int, stamp: Stamp
) -> Iterator[tuple[int, str]]:
    """(seq, line) of each event; the line in the form of `Event.line`."""
    shapes: list[tuple[bool, str, str, str]] = []
    for kind, data in hand:
        line = seal(last.table, last.seq + 1, stamp, kind, data, last.hash).line()
        place = line.index(',"hash":"')
        tail = line[place + len(',"hash":"') + 64 + 1 :]
        prev = f'"prev":"{last.hash}","seq":{last.seq + 1},'
        assert prev in tail
        middle, end = tail.split(prev)
        shapes.append((kind == "roll", line[:place], middle, end))
        assert canonical(data) in line
    seq, previous = last.seq, last.hash
    number = 0
    signed = last.seq
    while number < events:
        if seq - signed + len(hand) >= CHECKPOINT_EVENTS:
            data = sign(key, last.table, seq, previous).data()
            checkpoint = seal(last.table, seq + 1, stamp, CHECKPOINT, data, previous)
            seq, previous = checkpoint.seq, checkpoint.hash
            signed = seq
            yield seq, checkpoint.line()
        for is_roll, head, middle, end in shapes:
            seq += 1
            number += 1
            rolls += is_roll
            said = head.replace(_COMMAND, f"b5a1f0c2-{number:012}")
            if is_roll:
                said = said.replace(str(_ROLL_NUMBER), str(rolls))
            rest = f'{middle}"prev":"{previous}","seq":{seq},{end}'
            previous = hashlib.sha256((said + rest).encode()).hexdigest()
            yield seq, f'{said},"hash":"{previous}"{rest}'
