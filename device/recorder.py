"""The recorder: one thing at a time is decided by the session, written to the journal, and then told.

Nobody is told of anything ahead of the disk. When an append fails, nothing is accepted any more; no answer is given as
if it had been saved. Where the disk was merely full, the session is taken back to what is on it, the stop recorded
in the reserve, and work goes on when there is room.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from device.checkpoint import is_checkpoint_due, sign_entries
from device.clock import Clock
from device.disk_space import DiskSpace
from device.event import Event, Stamp
from device.event_times import EventTimes
from device.journal import Journal, JournalError, JournalFull
from device.recovery import Recovered
from device.session import Entry, Session
from device.snapshot_keeper import SnapshotKeeper
from device.table_key import TableKey
from engine_lite.refusal import Refused

log = logging.getLogger(__name__)

# Commands waiting for the journal; more than this at once is no boxman.
QUEUE_MAX = 256
# How often to look at the room on the disk.
SPACE_LOOK_S = 1.0
CALL_TECHNICIAN = "Nothing is accepted any more. Call a technician. ({})"
# To whom it concerns: whether it was recorded shows when the table goes on.
CANNOT_BE_WRITTEN = "the journal cannot be written: {}"
# To whom it concerns: it was not recorded.
DISK_FULL = (
    "The disk is full. Nothing is accepted, and nothing that was confirmed is lost. Call a technician to make room; "
    "work then goes on by itself."
)


class Halted(Exception):
    """Nothing is accepted; the message says why and what to do."""


class Busy(Exception):
    """More commands wait than a person can give."""


class IdReused(Exception):
    """A command came under the id of another one; each action needs an id of its own."""


class _DiskFull(Exception):
    """There is no room to go on."""


class Told(Protocol):
    """Who is told by the recorder."""

    def committed(self, events: list[Event]) -> None:
        """These are on the disk, and the session is where they lead; none: it is where it was, or was taken back."""

    def halted(self) -> None:
        """`Recorder.halt_reason` has changed."""

    def let_go(self) -> None:
        """Give the inputs back: nothing of theirs is taken on until `take_up`."""

    def take_up(self) -> None:
        """Look at the inputs again, as at a start."""


@dataclass(frozen=True)
class _Work:
    """One thing to be decided by the session; `done` gets the committed events, or what went wrong.

    `on_disk` is called when it is on the disk and was told. `write` writes what was decided, the journal's `append`
    where it is None.
    """

    decide: Callable[[], list[Entry]]
    done: "asyncio.Future[list[Event]] | None" = None
    on_disk: Callable[[], None] | None = None
    write: Callable[[list[Entry], Stamp], list[Event]] | None = None


class Recorder:
    """Owns a session and its journal. All methods belong to the event loop that runs `run`.

    `session` and `times` are replaced when they are taken back to what is on the disk: never keep them.
    """

    def __init__(
        self,
        recovered: Recovered,
        journal: Journal,
        clock: Clock,
        key: TableKey,
        space: DiskSpace,
        recover_again: Callable[[], Recovered],
        told: Told,
    ) -> None:
        """`recovered` is what the journal leads to, and `recover_again` finds that anew, in another thread."""
        self.journal = journal
        self.space = space
        self._go_on_from(recovered)
        self._clock = clock
        self._key = key
        self._recover_again = recover_again
        self._told = told
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[_Work] = asyncio.Queue(QUEUE_MAX)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="journal")
        self._snapshots: SnapshotKeeper | None = None
        # What the start is journaled as; None once it was.
        self._beginning: Callable[[], list[Entry]] | None = None
        self.halt_reason: str | None = None
        # Whether it is for want of room that nothing is accepted.
        self.is_full = False
        # Whether the session may be ahead of the disk.
        self._is_ahead = False

    def _go_on_from(self, recovered: Recovered) -> None:
        self.session: Session = recovered.session
        self.times: EventTimes = recovered.times
        self.snapshot_seq: int = recovered.snapshot_seq

    def keep_snapshots(self, keeper: SnapshotKeeper) -> None:
        """Have `keeper` keep a snapshot of what is on the disk."""
        self._snapshots = keeper

    # Handing in

    async def submit(
        self,
        decide: Callable[[], list[Entry]],
        *,
        on_disk: Callable[[], None] | None = None,
        write: Callable[[list[Entry], Stamp], list[Event]] | None = None,
    ) -> list[Event]:
        """Have something decided in its turn; what follows, on the disk. Raises Halted, Busy or what `decide` does."""
        if self.halt_reason is not None:
            raise Halted(self.halt_reason)
        done: asyncio.Future[list[Event]] = self._loop.create_future()
        try:
            self._queue.put_nowait(_Work(decide, done, on_disk, write))
        except asyncio.QueueFull:
            raise Busy("too many commands at once; wait a moment") from None
        return await done

    async def hand_in(self, decide: Callable[[], list[Entry]], on_disk: Callable[[], None] | None = None) -> None:
        """Have something decided in its turn, of which nobody waits to hear; nothing while nothing is accepted.

        `decide` asks for `session` when it is called: it may be another one by then.
        """
        if self.halt_reason is None:
            await self._queue.put(_Work(decide, on_disk=on_disk))

    def halt(self, reason: str) -> None:
        """Accept nothing any more."""
        self.halt_reason = reason
        self._told.halted()

    # Running

    def begin(self, entries: Callable[[], list[Entry]]) -> None:
        """Journal the start, before anything else is accepted. Where there is no room, `run` does so when there is.

        `entries` may be asked more than once. Raises JournalError.
        """
        self._beginning = entries
        self.space.take_reserve()
        if not self.space.is_short():
            try:
                self._told.committed(self._append_now(entries()))
            except JournalFull:
                self._go_on_from(self._recover_again())
            else:
                self._beginning = None
                return
        if self.session.table is None:
            raise JournalFull(f"{self.journal.path}: the disk has no room for a journal")
        self.is_full = True
        self.halt(DISK_FULL)
        self._told.committed([])

    async def run(self, beside: Callable[[], list[Coroutine[Any, Any, None]]]) -> None:
        """Work until cancelled; then journal the stop. What `beside` gives runs while work is accepted."""
        try:
            while True:
                if self.is_full:
                    await self._wait_for_space()
                with suppress(_DiskFull):
                    await self._accept(beside())
        finally:
            # What is on its way to the disk arrives before the stop is written behind it.
            self._writer.shutdown()
            if not self._is_ahead and self._beginning is None:
                with suppress(JournalError):
                    self._journal_stop()

    def _journal_stop(self) -> None:
        """Journal the end in good order, in the room of the reserve where there is no other."""
        if self.is_full:
            self._go_on_from(self._recover_again())
        try:
            events = self._append_now(self.session.stop())
        except JournalFull:
            self.space.give_up_reserve()
            self._go_on_from(self._recover_again())
            events = self._append_now(self.session.stop())
        if self._snapshots is not None:
            self._snapshots.stop(self.session, self.times, events[-1])

    async def _accept(self, beside: list[Coroutine[Any, Any, None]]) -> None:
        """Work, until the disk is full, which is raised and has then been told."""
        tasks = [asyncio.create_task(one) for one in (self._work(), self._watch_space(), *beside)]
        try:
            # Not gathered: what fails in the moment in which this is cancelled would be all that is raised.
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _work(self) -> None:
        while True:
            work = await self._queue.get()
            if self.halt_reason is not None:
                _fail(work, Halted(self.halt_reason))
                continue
            try:
                entries = work.decide()
            except (Refused, IdReused) as refused:
                _fail(work, refused)
                continue
            except _DiskFull:
                self._halt_for_space(work, DISK_FULL)
                raise
            except Exception as error:
                # A fault of this program: the session may have been left half changed, and only a restart is sure.
                log.exception("a step or a signal could not be taken on")
                self._fail_for_good(work, f"fault in the program: {error}")
                continue
            events: list[Event] = []
            if entries:
                stamp = self._clock.stamp()
                try:
                    append = self._loop.run_in_executor(
                        self._writer, work.write or self.journal.append, self._signed(entries, stamp), stamp
                    )
                    # Shielded: being told to end does not take back what is on its way to the disk.
                    events = await asyncio.shield(append)
                except JournalFull as error:
                    # Not answered as what is refused unwritten: until the log goes on, a power cut may bring it about.
                    self._halt_for_space(work, CANNOT_BE_WRITTEN.format(error))
                    raise _DiskFull from None
                except Exception as error:
                    # The session is ahead of the disk now, whatever the reason: only a restart puts that right.
                    log.exception("the journal cannot be written")
                    self._fail_for_good(work, CANNOT_BE_WRITTEN.format(error))
                    continue
            self._told.committed(events)
            if work.on_disk is not None:
                work.on_disk()
            if work.done is not None and not work.done.cancelled():
                work.done.set_result(events)
            if events and self._snapshots is not None:
                self._snapshots.note(self.session, self.times, events[-1])

    def _fail_for_good(self, work: _Work, reason: str) -> None:
        self._is_ahead = True
        self.halt(CALL_TECHNICIAN.format(reason))
        _fail(work, Halted(reason))

    def _append_now(self, entries: list[Entry]) -> list[Event]:
        stamp = self._clock.stamp()
        return self.journal.append(self._signed(entries, stamp), stamp)

    def _signed(self, entries: list[Entry], stamp: Stamp) -> list[Entry]:
        """The entries, with a checkpoint behind them when one is due: in one commit, so none is ever missing."""
        kinds = [kind for kind, _ in entries]
        if not is_checkpoint_due(kinds, self.session.seq - self.session.checkpoint_seq):
            return entries
        journal = self.journal
        signed = sign_entries(self._key, journal.table_name, entries, stamp, journal.last_seq, journal.last_hash)
        return entries + self.session.checkpoint(signed.data())

    # A full disk

    async def _watch_space(self) -> None:
        """Stop before a write fails, where there is time for it."""

        def stop() -> list[Entry]:
            raise _DiskFull

        while True:
            await asyncio.to_thread(self.space.take_reserve)
            if self.space.is_short():
                # In its turn, so that nothing is on its way to the disk then.
                with suppress(Halted, Busy):
                    await self.submit(stop)
            await asyncio.sleep(SPACE_LOOK_S)

    def _halt_for_space(self, work: _Work, answer: str) -> None:
        self.is_full = True
        self.halt(DISK_FULL)
        _fail(work, Halted(answer))
        self._drop_queue()

    def _drop_queue(self) -> None:
        """What was pressed and keyed so far is not to be done later, when nobody expects it any more."""
        while not self._queue.empty():
            _fail(self._queue.get_nowait(), Halted(DISK_FULL))

    async def _wait_for_space(self) -> None:
        """Return when there is room again, or when there is no hope. The stop is recorded as soon as that can be."""
        self._told.let_go()
        self.space.give_up_reserve()
        stop_is_recorded = self._beginning is not None
        try:
            while self.is_full:
                if not stop_is_recorded:
                    stop_is_recorded = await self._write_anew(self._stopping)
                if await asyncio.to_thread(self.space.take_reserve):
                    self.is_full = not await self._write_anew(self._going_on)
                if self.is_full:
                    await asyncio.sleep(SPACE_LOOK_S)
            self._beginning = None
            # Whoever waited for room in it when it was dropped has put his there since.
            self._drop_queue()
            self._told.take_up()
        except Exception as error:
            log.exception("work cannot go on after the disk was full")
            self.is_full, self._is_ahead = False, True
            self.halt(CALL_TECHNICIAN.format(error))
            return
        self.halt_reason = None
        self._told.halted()

    def _stopping(self) -> list[Entry]:
        return self.session.stop_recording("disk_full", self.space.free_bytes())

    def _going_on(self) -> list[Entry]:
        if self._beginning is not None:
            return self._beginning()
        return self.session.resume_recording(self.space.free_bytes())

    async def _write_anew(self, decide: Callable[[], list[Entry]]) -> bool:
        """From what is on the disk, write what `decide` says; whether there was room. Raises JournalError."""
        self._go_on_from(await self._loop.run_in_executor(self._writer, self._recover_again))
        stamp = self._clock.stamp()
        try:
            entries = self._signed(decide(), stamp)
            events = await self._loop.run_in_executor(self._writer, self.journal.append, entries, stamp)
        except JournalFull:
            return False
        self._told.committed(events)
        return True


def _fail(work: _Work, error: Exception) -> None:
    if work.done is not None and not work.done.cancelled():
        work.done.set_exception(error)
