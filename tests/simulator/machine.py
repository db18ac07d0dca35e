"""The computer under the simulated table: its disk, its clocks, and the product's program, started again and again."""

import asyncio
import hashlib
import json
import os
import shutil
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final, Literal
from unittest.mock import patch

import nacl.utils

from device import checkpoint, journal, recorder, self_test, snapshot_keeper
from device import terminal as terminal_module
from device.assembly import SNAPSHOT_FILE, StartError, Surroundings, assemble
from device.clock import TIME_ERROR, Clock
from device.data_folder import open_data_folder
from device.event import Event, Stamp
from device.journal import Journal, JournalError, JournalReader
from device.journal_files import log_path, write_log_anew
from device.rule_edges import check_edges
from device.settings import Settings
from device.snapshot_file import BadSnapshot, SnapshotFile
from device.table_key import KEY_FILE_NAME, read_table_key
from device.terminal import Terminal
from drivers import node_link, table_inputs
from drivers.table_inputs import TableInputs
from tests.simulator.hands import Hands
from tests.simulator.ledger import Ledger, Violation
from tests.simulator.simulated_central import SimulatedCentral
from tests.simulator.simulated_disk import SimulatedDisk
from tests.simulator.simulated_loop import SimulatedExecutor, SimulatedLoop
from tests.simulator.simulated_node import SimulatedNode, SimulatedOpening, close_port
from tests.simulator.simulated_space import SimulatedSpace

VERSION: Final = "1.0"
TAIL_LINES: Final = 60
WALL_BEGAN_NS: Final = 1_796_000_000 * 10**9
ERRORS_HALT_S: Final = 4.0
# What stands beside SQLite's files, and may be lost, torn or older after a power cut without any harm.
MAY_BE_LOST: Final = (SNAPSHOT_FILE, f"{SNAPSHOT_FILE}.new", "lock")

End = Literal["power cut", "kill", "stop"]


class Trace:
    """What happened, as a hash over everything, and the end of it in words. Nothing in it may differ between runs."""

    def __init__(self, loop: SimulatedLoop) -> None:
        self._loop = loop
        self._hash = hashlib.sha256()
        self.tail: deque[str] = deque(maxlen=TAIL_LINES)

    def note(self, what: str) -> None:
        """Something happened."""
        line = f"{self._loop.time():12.6f} {what}"
        self._hash.update(line.encode("utf-8", "replace") + b"\n")
        self.tail.append(line)

    def digest(self) -> str:
        """The hash so far."""
        return self._hash.hexdigest()


class SimulatedClocks:
    """The machine's clocks. Wall time is stepped and called synced or free from outside."""

    def __init__(self, loop: SimulatedLoop) -> None:
        self._loop = loop
        self._boot_s = loop.time()
        self._readings = 0
        self.boot = "boot-1"
        self._boots = 1
        self.step_ns = 0
        self.is_synced = True

    def reboot(self) -> None:
        """The machine starts anew."""
        self._boots += 1
        self.boot = f"boot-{self._boots}"
        self._boot_s = self._loop.time()

    def clock(self) -> Clock:
        """The product's clock on these sources."""
        return Clock(
            boot=self.boot,
            monotonic_ns=self._monotonic_ns,
            wall_ns=lambda: WALL_BEGAN_NS + self.step_ns + int(self._loop.time() * 1e9),
            time_state=lambda: 0 if self.is_synced else TIME_ERROR,
        )

    def _monotonic_ns(self) -> int:
        # No two events are stamped in the same moment, so a stamp names a commit.
        self._readings += 1
        return int((self._loop.time() - self._boot_s) * 1e9) + self._readings


class Life:
    """One run of the program, from its start to its end."""

    def __init__(self) -> None:
        self.over = asyncio.Event()
        self.end: End = "stop"
        self.terminal: Terminal | None = None
        self.executors: list[SimulatedExecutor] = []


class Machine:
    """Starts the program, lets it live, ends it as it is told to, and holds what it leaves against the ledger."""

    def __init__(self, root: Path, seed: int, loop: SimulatedLoop, settings: Settings) -> None:
        self._root = root
        self._seed = seed
        self.loop: Final = loop
        self.settings: Final = settings
        self.struck: Final = Counter[str]()
        self.trace: Final = Trace(loop)
        self.ledger: Final = Ledger()
        self.clocks: Final = SimulatedClocks(loop)
        self.random: Final = Random(f"{seed} machine")
        self.node: Final = SimulatedNode(loop, Random(f"{seed} node")) if settings.node_port is not None else None
        self.hands: Final = Hands(loop, Random(f"{seed} hands"), settings.wiring, self.node, self.ledger)
        self.central: Final = SimulatedCentral(loop, Random(f"{seed} central"), settings.table, self.struck)
        # What the table hands out was committed, and may not have been told to itself yet.
        self.central.on_asked = self._on_asked
        self.central.on_written = self._on_written
        self._executor_random = Random(f"{seed} executor")
        self._uplink_random = Random(f"{seed} uplink")
        self.chance_of_stall = 0.0
        self._lives = 0
        self._folder = root / "0"
        self._folder.mkdir(mode=0o700)
        self._disk_random = Random(f"{seed} disk")
        self.disk = SimulatedDisk(self._folder, self._disk_random)
        self.disk.__enter__()
        self.holds_reserve = False
        self.life: Life | None = None
        self.delivered_seq = 0
        self.failure: Violation | None = None
        # How often the screen began to say that nothing is accepted, and the event that it showed when it last did.
        self.halts = 0
        self.halted_seq = 0

    @property
    def terminal(self) -> Terminal | None:
        """The terminal, while the program runs and the power is on."""
        return self.life.terminal if self.life is not None and not self.disk.dead else None

    def close(self) -> None:
        """Let go of what was opened."""
        self._leave_disk(self.disk)
        if self.node is not None:
            self.node.line.close()

    # Lives

    def start(self) -> bool:
        """Start the program; whether it runs. Raises Violation when what it begins with is not what was told."""
        life = self.life = Life()
        self._lives += 1
        self._stack = ExitStack()
        self.disk.note_file(self._folder / SNAPSHOT_FILE)
        self._space = SimulatedSpace(self._folder, self.disk, holds_reserve=self.holds_reserve)
        self._tasks: list[asyncio.Task[Any]] = []
        self.loop.pool = self._executor(stalls=True)
        try:
            folder = self._stack.enter_context(open_data_folder(self._folder))
            surroundings = Surroundings(
                self.clocks.clock(),
                self._space,
                lambda hint: TableInputs(
                    self.settings.wiring,
                    pin_factory=self.hands.new_header(),
                    node_port=self.settings.node_port,
                    on_hint=hint,
                ),
                lambda _key: [self.central],
                self._uplink_random,
            )
            with patch("device.journal.write_log_anew", self._write_log_anew):
                assembled = assemble(self._stack, self.settings, folder, VERSION, surroundings, lambda _done, _of: None)
            reader = self._stack.enter_context(JournalReader(self._folder / "journal.db"))
        except (StartError, JournalError) as error:
            self.trace.note(f"start {self._lives} failed: {self._told(str(error))}")
            self.struck["start failed"] += 1
            if self.disk.dead:
                life.over.set()
            return False
        if self.disk.dead:
            life.over.set()
            return False
        terminal = assembled.terminal
        new = self.ledger.check_journal(reader)
        self.ledger.check_session(terminal._session)
        self.trace.note(f"start {self._lives}, from snapshot {assembled.snapshot_seq}, {len(new)} events")
        for line in new:
            self.trace.note(line)
        self.struck["start from a snapshot" if assembled.snapshot_seq else "start from event 1"] += 1
        self._reader = reader
        life.terminal = terminal
        terminal.follow(self)
        self._task(terminal.run())
        (self._uplink,) = assembled.uplinks
        self._task(self._uplink.run())
        self._task(self._watch_screen(terminal, reader))
        return True

    def _write_log_anew(self, path: Path) -> None:
        """As the product does, and not through SQLite: the disk has to be told of what it has flushed."""
        write_log_anew(path)
        if not self.disk.dead and log_path(path).exists():
            self.disk.flushed(log_path(path))

    async def end(self, how: End) -> None:
        """End the program, and start the next one's disk. Raises Violation."""
        assert self.life is not None
        life, disk, folder = self.life, self.disk, self._folder
        self.trace.note(f"{how} in life {self._lives}")
        self.struck[how] += 1
        if how == "stop":
            # As it is asked to end in startup: nothing else goes on beside it.
            disk.heal()
            for task in reversed(self._tasks):
                await self._ended(task)
            self.holds_reserve = self._space.holds_reserve
            if not disk.dead:
                if self.life.terminal is not None:
                    self._take_new()
                self._stack.close()
                life.over.set()
                self.life = None
                return
            how = "power cut"
        self.holds_reserve = self._space.holds_reserve
        new_folder = self._root / str(self._lives)
        if how == "power cut":
            bytes_free = disk.bytes_free
            disk.crash(new_folder, MAY_BE_LOST)
            self.clocks.reboot()
        else:
            new_disk = disk.kill(new_folder)
        life.over.set()
        for executor in life.executors:
            executor.die()
        for task in reversed(self._tasks):
            await self._ended(task)
        self._stack.close()
        self._leave_disk(disk)
        shutil.rmtree(folder)
        self.life = None
        self._folder = new_folder
        if how == "power cut":
            new_disk = SimulatedDisk(new_folder, self._disk_random)
            new_disk.bytes_free = bytes_free
        self.disk = new_disk
        new_disk.__enter__()

    def replace_snapshot(self, former: bytes | None) -> bytes | None:
        """While the program does not run: take the snapshot away, or put `former` in its place; what there was.

        Or make it one of another journal: whole and signed, and wrong.
        """
        path = self._folder / SNAPSHOT_FILE
        there = path.read_bytes() if path.exists() else None
        path.unlink(missing_ok=True)
        if there is not None and self.random.random() < 0.5 and self._put_snapshot_of_another_journal(there):
            self.struck["snapshot of another journal"] += 1
        elif former is not None:
            self.struck["snapshot from before"] += 1
            self._put_snapshot(former)
        else:
            self.struck["snapshot lost"] += 1
        return there

    def _put_snapshot(self, content: bytes) -> None:
        path = self._folder / SNAPSHOT_FILE
        path.write_bytes(content)
        path.chmod(0o600)

    def _put_snapshot_of_another_journal(self, there: bytes) -> bool:
        """The same one, if the journal had come to the same event in another way; whether one could be made."""
        path = self._folder / SNAPSHOT_FILE
        key = read_table_key(self._folder / KEY_FILE_NAME)
        if key is None:
            return False
        file = SnapshotFile(path, VERSION, self.settings.table, key)
        self._put_snapshot(there)
        try:
            snapshot = file.read()
        except BadSnapshot:
            snapshot = None
        path.unlink()
        if snapshot is None:
            return False
        snapshot.state["session"]["session_number"] += 1
        file.write(replace(snapshot, hash=hashlib.sha256(snapshot.hash.encode()).hexdigest()))
        return True

    @property
    def journal_path(self) -> Path:
        """Where the journal lies now."""
        return self._folder / "journal.db"

    def _leave_disk(self, disk: SimulatedDisk) -> None:
        self.struck.update(disk.struck)
        disk.struck.clear()
        disk.__exit__(None, None, None)

    def _task(self, work: Any) -> None:
        task = self.loop.create_task(work)
        task.add_done_callback(self._note_end)
        self._tasks.append(task)

    def _note_end(self, task: "asyncio.Task[Any]") -> None:
        if task.cancelled() or (error := task.exception()) is None:
            return
        if isinstance(error, Violation):
            self.fail(error)
        elif not self.disk.dead:
            self.fail(Violation(f"the program ended with {type(error).__name__}: {self._told(str(error))}"))

    def fail(self, violation: Violation) -> None:
        """Something was wrong in the middle of a run."""
        if self.failure is None:
            self.failure = violation

    def note_error(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """The event loop has something to say. What nobody waited for is no fault; a callback that fails is."""
        if "handle" in context:
            self.fail(Violation(f"{context['message']}: {context.get('exception')!r}"))

    async def _ended(self, task: "asyncio.Task[Any]") -> None:
        while not task.done():
            task.cancel()
            await asyncio.wait([task], timeout=3)

    # What is told

    def notify(self) -> None:
        """The terminal says that events were committed."""
        if self.terminal is None:
            return
        try:
            self._take_new()
        except Violation as violation:
            self.fail(violation)

    def _on_asked(self) -> bool:
        self.notify()
        return self.terminal is not None

    def _take_new(self) -> None:
        for line in self.ledger.take_new(self._reader):
            self.trace.note(line)

    def _on_written(self) -> None:
        message = self.central.server.messages[-1]
        self.trace.note(f"the centre takes {message.name} as {message.sequence}")
        try:
            self.ledger.check_written(message.payload)
        except Violation as violation:
            self.fail(violation)
        last = json.loads(message.payload.rpartition(b"\n")[2])["seq"]
        self.delivered_seq = max(self.delivered_seq, last)

    async def _watch_screen(self, terminal: Terminal, reader: JournalReader) -> None:
        """Raises Violation when the screen shows what is not on the disk, or delivered what is not."""
        version = shown_seq = 0
        was_halted = False
        while True:
            version = await terminal.wait_for_change(version)
            if self.disk.dead:
                return
            state = terminal.state
            if state["seq"] > reader.last_seq:
                raise Violation(f"the screen shows event {state['seq']}, the journal ends at {reader.last_seq}")
            if state["seq"] < shown_seq:
                raise Violation(f"the screen showed event {shown_seq}, and now {state['seq']}")
            shown_seq = state["seq"]
            is_halted = state["halted"] is not None
            if is_halted and not was_halted:
                self.halts += 1
                self.halted_seq = shown_seq
            was_halted = is_halted
            delivered = self._uplink.status.delivered
            if delivered > self.delivered_seq and not self.central.has_second_unit:
                raise Violation(
                    f"the screen says that event {delivered} is delivered, but not what is after {self.delivered_seq}"
                )
            self.trace.note(
                f"screen: {state['seq']} {self._told(str(state['halted']))} {state['uplink']['state']}"
                f" {state['node']['state']}"
            )

    def _told(self, text: str) -> str:
        return text.replace(str(self._root), "")

    # Threads

    def new_executor(self, _workers: int, thread_name_prefix: str) -> SimulatedExecutor:
        """Stands for ThreadPoolExecutor in the product."""
        return self._executor(stalls=thread_name_prefix == "journal")

    def _executor(self, *, stalls: bool) -> SimulatedExecutor:
        assert self.life is not None
        executor = SimulatedExecutor(self.loop, self._executor_random)
        if stalls:
            executor.stall = self._stall
        executor.after_each = self._look_at_power
        self.life.executors.append(executor)
        return executor

    def _stall(self) -> float:
        if self.chance_of_stall and self._executor_random.random() < self.chance_of_stall:
            self.struck["stall of the disk"] += 1
            return self._executor_random.uniform(0.5, 8.0)
        return 0.0

    def _look_at_power(self) -> None:
        """After each write: the power may have gone in it."""
        if self.disk.dead and self.life is not None:
            for executor in self.life.executors:
                executor.die()
            self.life.over.set()


def _edges_found(rule_set: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """What the self-test finds of the house edges, reckoned once in a process for each rule set."""
    return _reckoned_edges(json.dumps(dict(rule_set)), json.dumps(dict(options)))


@cache
def _reckoned_edges(rule_set: str, options: str) -> str:
    return check_edges(json.loads(rule_set), json.loads(options))


@contextmanager
def product_in(machine: Machine, log_pages: int) -> Iterator[None]:
    """The product's own threads, chance and serial port are the simulation's, and its bounds small, meanwhile."""
    chance = Random(f"{machine.random.random()} chance")
    append = Journal.append

    def noted_append(self: Journal, entries: Sequence[tuple[str, dict[str, Any]]], stamp: Stamp) -> list[Event]:
        machine.ledger.commit_begins(stamp.boot, stamp.mono_ns, len(entries))
        return append(self, entries, stamp)

    line = machine.node.line if machine.node is not None else None
    with (
        patch.object(Journal, "append", noted_append),
        patch.object(recorder, "ThreadPoolExecutor", machine.new_executor),
        patch.object(snapshot_keeper, "ThreadPoolExecutor", machine.new_executor),
        patch.object(snapshot_keeper, "SNAPSHOT_EVENTS", 25),
        patch.object(checkpoint, "CHECKPOINT_EVENTS", 40),
        patch.object(journal, "LOG_PAGES", log_pages),
        patch.object(terminal_module, "WATCH_S", 0.5),
        # Looking is what takes most of the time. A look that comes later is no other look.
        patch.object(table_inputs, "PACE_MS", 20),
        patch.object(table_inputs, "IDLE_LOOK_MS", 250),
        patch.object(node_link, "Opening", lambda _port: SimulatedOpening(line) if line is not None else None),
        patch.object(node_link, "close_port", close_port),
        # The same every time, and a third of a start.
        patch.object(self_test, "check_edges", _edges_found),
        patch.object(os, "urandom", chance.randbytes),
        patch.object(nacl.utils, "random", chance.randbytes),
    ):
        yield
