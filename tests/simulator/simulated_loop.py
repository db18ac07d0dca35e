"""An event loop whose time passes by itself: it never waits, and what it does follows from a seed alone."""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from random import Random
from typing import Any, Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


BEGAN_S: Final = 1_000.0
ROUNDS_MAX: Final = 400_000
"""A run takes some ten thousand rounds."""


class NothingLeft(Exception):
    """Nothing will ever happen any more, though something is still waited for; or the same for ever."""


class _Skipping:
    """Stands where a loop waits for files: time goes to the next timer instead."""

    def __init__(self, loop: "SimulatedLoop") -> None:
        self._loop = loop
        self._rounds = 0

    def select(self, timeout_s: float | None) -> list[Any]:
        """No file is ever ready; `timeout_s` passes at once."""
        self._rounds += 1
        if timeout_s is None or self._rounds > ROUNDS_MAX:
            raise NothingLeft(f"after {self._rounds} rounds of the event loop")
        self._loop.pass_time(timeout_s)
        return []

    def close(self) -> None:
        """Nothing is open."""


class SimulatedLoop(asyncio.BaseEventLoop):
    """Functions that are handed to threads are run by `pool`, between two callbacks, at a time from the seed."""

    def __init__(self, random: Random) -> None:
        super().__init__()
        self._now_s = BEGAN_S
        self._selector = _Skipping(self)
        self._readers: dict[int, Callable[[], object]] = {}
        self.pool = SimulatedExecutor(self, random)

    def time(self) -> float:
        return self._now_s

    def pass_time(self, duration_s: float) -> None:
        """Nothing happens for so long."""
        self._now_s += duration_s

    def _process_events(self, _events: list[Any]) -> None:
        """There are none."""

    def _write_to_self(self) -> None:
        """Nobody waits, so nobody need be woken."""

    def run_in_executor(  # type: ignore[override]
        self, executor: Executor | None, function: Callable[..., T], *arguments: Any
    ) -> "asyncio.Future[T]":
        chosen = self.pool if executor is None else executor
        return asyncio.wrap_future(chosen.submit(function, *arguments), loop=self)

    def add_reader(  # type: ignore[override]
        self, fd: Any, callback: Callable[..., object], *arguments: Any
    ) -> None:
        self._readers[fd] = lambda: callback(*arguments)

    def remove_reader(self, fd: Any) -> bool:
        return self._readers.pop(fd, None) is not None

    def has_come(self, fd: int) -> None:
        """There is something to read at a descriptor."""
        if fd in self._readers:
            self.call_soon(self._readers[fd])


class SimulatedExecutor(Executor):
    """One thread's work, in order: each function runs at once, some time after it was handed in, and is done later.

    `stall`: how long the next function's work takes beyond the usual, in seconds.
    `after_each`: called when a function has run, before anybody knows.
    """

    def __init__(self, loop: SimulatedLoop, random: Random) -> None:
        self._loop = loop
        self._random = random
        self._waiting: deque[Callable[[], None]] = deque()
        self._is_busy = False
        self._is_dead = False
        self._undelivered: Callable[[], None] | None = None
        self.stall: Callable[[], float] = float
        self.after_each: Callable[[], None] = _nothing

    def submit(self, function: Callable[P, T], /, *arguments: P.args, **named: P.kwargs) -> "Future[T]":
        future: Future[T] = Future()

        def run() -> None:
            try:
                result = function(*arguments, **named)
            except Exception as raised:  # noqa: BLE001 - as a thread does it: whoever waits gets it
                error = raised
                self._undelivered = lambda: _unless_done(future, lambda: future.set_exception(error))
            else:
                self._undelivered = lambda: _unless_done(future, lambda: future.set_result(result))
            self.after_each()

        self._waiting.append(run)
        if not self._is_busy:
            self._begin()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        """Do at once what was handed in."""
        if self._is_dead:
            return
        self._deliver()
        while self._waiting and not self._is_dead:
            self._waiting.popleft()()
            self._deliver()

    def die(self) -> None:
        """The machine, or the program, is no more: nothing of what was handed in is done or told."""
        self._is_dead = True
        self._waiting.clear()
        self._undelivered = None

    def _begin(self) -> None:
        self._is_busy = True
        self._loop.call_later(self._random.uniform(0.000_05, 0.002) + self.stall(), self._run)

    def _run(self) -> None:
        if self._waiting and not self._is_dead:
            self._waiting.popleft()()
        self._loop.call_later(self._random.uniform(0.000_05, 0.004) + self.stall(), self._end)

    def _end(self) -> None:
        self._is_busy = False
        if self._is_dead:
            return
        self._deliver()
        if self._waiting:
            self._begin()

    def _deliver(self) -> None:
        deliver, self._undelivered = self._undelivered, None
        if deliver is not None and not self._is_dead:
            deliver()


def _unless_done(future: "Future[Any]", tell: Callable[[], None]) -> None:
    if not future.done():
        tell()


def _nothing() -> None:
    """Nobody wants to know."""
