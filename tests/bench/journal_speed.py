"""A journal of a million events: append, start with a snapshot and without, verification, memory, bytes, hold-ups."""

import statistics
import tempfile
import threading
import time
from importlib.metadata import version
from pathlib import Path

from device.clock import Clock
from device.event_times import EventTimes
from device.journal import Journal, JournalReader
from device.journal_verification import verify
from device.recovery import recover
from device.session import Session
from device.session_snapshot import state_of
from device.snapshot_file import Snapshot, SnapshotFile
from device.snapshot_keeper import SNAPSHOT_EVENTS
from device.table_key import KEY_BYTES, KEY_FILE_NAME, TableKey, open_table_key
from tests.long_journal import lengthen
from tests.terminal_rig import TerminalProcess

EVENTS = 1_000_000
APPENDS = 1_000
SNAPSHOTS = 20
REPLAY_S_MAX = 600.0
# A table with an uplink, so that it needs no central server, to a port that nobody listens on.
CONFIGURATION = '[uplink]\nservers = ["nats://127.0.0.1:9"]\n'


def journal_speed() -> list[tuple[str, str]]:
    """Figures of this machine's disk. A terminal first starts without a snapshot, then with the one it left."""
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as name:
        folder = Path(name)
        data = folder / "data"
        path = data / "journal.db"
        configuration = folder / "table.toml"
        configuration.write_text(CONFIGURATION)
        terminal = TerminalProcess(data, configuration=configuration)
        with terminal:
            terminal.terminate()
            events = lengthen_journal(data, EVENTS)
            bytes_an_event = path.stat().st_size / events
            (data / "snapshot").unlink()
            without_s = _start_s(terminal)
            terminal.terminate()
            with_s = _start_s(terminal)
            memory_kib = _resident_kib(terminal.pid)
            terminal.terminate()
            # As after a crash just before the next snapshot.
            lengthen_journal(data, SNAPSHOT_EVENTS - 100)
            behind_s = _start_s(terminal)
            terminal.terminate()
        with JournalReader(path) as reader:
            started = time.perf_counter()
            result = verify(reader, _ignore)
            verify_s = time.perf_counter() - started
            assert result.is_good, result
        append_ms, beside_ms, held_ms, kib = _appends(path, data)
    return [
        ("append of one event, flushed, to a million, p50", f"{statistics.median(append_ms):.1f} ms"),
        ("the same, p99", f"{_p99(append_ms):.1f} ms"),
        ("the same while snapshots are written, p99", f"{_p99(beside_ms):.1f} ms"),
        (f"the table held up while a snapshot of {kib:.0f} KiB is taken, longest", f"{max(held_ms):.1f} ms"),
        ("bytes an event on the disk", f"{bytes_an_event:.0f}"),
        ("start with a million events and a snapshot of the last", f"{with_s:.2f} s"),
        (f"start with a million events and a snapshot {SNAPSHOT_EVENTS:,} events old", f"{behind_s:.2f} s"),
        ("start with a million events without a snapshot", f"{without_s:.1f} s"),
        ("events a second in catch-up, every one checked and done again", f"{events / without_s:,.0f}"),
        ("resident memory with a million events", f"{memory_kib / 1024:.1f} MiB"),
        ("verify of a million events", f"{verify_s:.1f} s"),
    ]


def _recovered(journal: Journal, data: Path) -> Session:
    return recover(
        journal,
        SnapshotFile(data / "snapshot", version("boxman"), "craps-1", open_table_key(data / KEY_FILE_NAME)),
        _ignore,
    ).session


def lengthen_journal(data: Path, events: int) -> int:
    """So many events more, and how many there are then."""
    with Journal.open(data / "journal.db", "craps-1") as journal:
        session = _recovered(journal, data)
    return lengthen(data / "journal.db", session, open_table_key(data / KEY_FILE_NAME), events)


def _start_s(terminal: TerminalProcess) -> float:
    started = time.perf_counter()
    terminal.start(REPLAY_S_MAX)
    return time.perf_counter() - started


def _appends(path: Path, data: Path) -> tuple[list[float], list[float], list[float], float]:
    """Milliseconds of appends, of appends beside the writing of snapshots, and of taking one; KiB of a snapshot."""
    clock, file = Clock(), SnapshotFile(data / "bench-snapshot", "bench", "craps-1", TableKey(bytes(KEY_BYTES)))
    with Journal.open(path, "craps-1") as journal:
        session = _recovered(journal, data)
        alone = [_append_ms(journal, clock) for _ in range(APPENDS)]
        held: list[float] = []
        ended = threading.Event()

        def write_snapshots() -> None:
            for _ in range(SNAPSHOTS):
                started = time.perf_counter()
                state = state_of(session, EventTimes())
                held.append((time.perf_counter() - started) * 1000)
                file.write(Snapshot(1, "0" * 64, state))
            ended.set()

        writing = threading.Thread(target=write_snapshots)
        writing.start()
        beside = []
        while not ended.is_set():
            beside.append(_append_ms(journal, clock))
        writing.join()
    return alone, beside, held, file.path.stat().st_size / 1024


def _append_ms(journal: Journal, clock: Clock) -> float:
    entry = ("bet", {"step": {"bet": {"player": "1", "kind": "field", "amount": 10}}, "via": "console"})
    started = time.perf_counter()
    journal.append([entry], clock.stamp())
    return (time.perf_counter() - started) * 1000


def _p99(times_ms: list[float]) -> float:
    return sorted(times_ms)[len(times_ms) * 99 // 100]


def _resident_kib(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def _ignore(_done: int, _in_all: int) -> None:
    """Progress is shown to nobody here."""


if __name__ == "__main__":
    for what, figure in journal_speed():
        print(f"  {what:<76} {figure:>12}")
