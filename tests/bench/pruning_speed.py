"""Pruning a journal of a million events, a part at a time: how long the table is held up, time and memory beside it."""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from device.checkpoint import CHECKPOINT, sign_entries
from device.event import Stamp
from device.journal import Journal, JournalReader
from device.journal_base import pruned_data, sign_base
from device.journal_verification import verify
from device.prune_point import PRUNE_EVENTS_MAX
from device.pruner import PRUNING_PROGRAM
from device.recovery import recover
from device.session import Session
from device.snapshot_file import SnapshotFile
from device.table_key import KEY_FILE_NAME, TableKey, open_table_key
from tests.bench.journal_speed import CONFIGURATION, EVENTS
from tests.long_journal import lengthen
from tests.terminal_rig import TerminalProcess

PRUNES = 10
# A small program between: what a process is forked from counts as its own memory.
MEASURED = (
    "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); "
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)"
)
STAMP = Stamp("boot-1", 5, "2026-11-29T22:10:56.123Z", "synced")
NOW = "2036-11-29T22:10:56.123Z"


def pruning_speed() -> list[tuple[str, str]]:
    """Figures of this machine's disk."""
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as name:
        folder = Path(name)
        data = folder / "data"
        configuration = folder / "table.toml"
        configuration.write_text(CONFIGURATION)
        with TerminalProcess(data, configuration=configuration) as terminal:
            terminal.terminate()
        key = open_table_key(data / KEY_FILE_NAME)
        with Journal.open(data / "journal.db", "craps-1") as journal:
            session = recover(
                journal, SnapshotFile(data / "none", "bench", "craps-1", key), lambda _done, _of: None
            ).session
        lengthen(data / "journal.db", session, key, EVENTS, STAMP)
        held_ms, made_s, memory_kib = _prunes(data / "journal.db", key)
        with JournalReader(data / "journal.db") as reader:
            result = verify(reader, lambda _done, _of: None)
            assert result.is_good, result
    return [
        (f"the table held up while {PRUNE_EVENTS_MAX:,} events are pruned, longest", f"{max(held_ms):.0f} ms"),
        ("the same, median", f"{sorted(held_ms)[len(held_ms) // 2]:.0f} ms"),
        ("time for the state there, beside the table, longest", f"{max(made_s):.1f} s"),
        ("memory of that, of a journal of a million events, most", f"{memory_kib / 1024:.1f} MiB"),
    ]


def _prunes(path: Path, key: TableKey) -> tuple[list[float], list[float], int]:
    """Milliseconds of each prune, seconds of each making of a state, and the most KiB that took."""
    held_ms: list[float] = []
    made_s: list[float] = []
    memory_kib = 0
    for _ in range(PRUNES):
        started = time.perf_counter()
        command = [sys.executable, "-m", PRUNING_PROGRAM, str(path), str(EVENTS), "180", NOW]
        made = subprocess.run([sys.executable, "-c", MEASURED, *command], capture_output=True, check=True)
        made_s.append(time.perf_counter() - started)
        head, _, state = made.stdout.partition(b"\n")
        memory_kib = max(memory_kib, int(made.stderr))
        point = json.loads(head)
        base = sign_base(key, "craps-1", point["seq"], point["hash"], state.decode(), "bench")
        with Journal.open(path, "craps-1") as journal:
            entries = Session().prune_journal(pruned_data(base, 180, EVENTS))
            checkpoint = sign_entries(key, "craps-1", entries, STAMP, journal.last_seq, journal.last_hash)
            entries.append((CHECKPOINT, checkpoint.data()))
            started = time.perf_counter()
            journal.prune(base, entries, STAMP)
            held_ms.append((time.perf_counter() - started) * 1000)
    return held_ms, made_s, memory_kib


if __name__ == "__main__":
    for what, figure in pruning_speed():
        print(f"  {what:<76} {figure:>12}")
