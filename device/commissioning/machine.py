"""A commissioning as it goes on: what is asked next, what is seen and said, what follows. Pure: no I/O, no clock."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from device.commissioning.bounce import TOLD_US, longest_bounce_us
from device.commissioning.movements import Movements, rests_closed
from device.commissioning.steps import CentreReached, Contact, Lit, NodeAnswers, Restarted, Step, Turned, Wanted
from drivers.contact_watch import Edge
from drivers.wiring import group_of

EDGES_MAX: Final = 10_000
"""Of one step; a contact that has more than these is broken, and is told by fewer."""

Verdict = Literal["passed", "failed", "skipped"]
Reason = Literal["also", "both_faces", "not_lit", "said"]


@dataclass(frozen=True)
class Reading:
    """The table as it is seen at one moment.

    `at_ms` never goes back. `levels` has the contacts that can be read, `unavailable` why others cannot. `node` and
    `centre` say whether node and centre answer; None: there is none, or nobody knows yet. `boot` names the run of the
    operating system, `wall` is the time of day (RFC 3339, UTC).
    """

    at_ms: int
    levels: Mapping[str, bool]
    edges: Sequence[Edge] = ()
    unavailable: Mapping[str, str] = field(default_factory=dict)
    node: bool | None = None
    centre: bool | None = None
    boot: str = ""
    wall: str = ""


@dataclass(frozen=True)
class Result:
    """What a step came to, by whom and when. Where it did not pass: why; `said` is the technician's words or names.

    `bounce_us` is the longest bounce of its contact, None where none was moved.
    """

    step: str
    verdict: Verdict
    by: str
    at: str
    reason: Reason | None = None
    said: str = ""
    bounce_us: int | None = None
    edges: int = 0

    @property
    def told_bounce_us(self) -> int | None:
        """The bounce, where there is any to be told of."""
        return None if self.bounce_us is None or self.bounce_us < TOLD_US else self.bounce_us


@dataclass
class Commissioning:
    """The steps of one table and what they came to so far. `by` tries them now.

    `cut_boot` is the run of the operating system in which the power was asked to be cut.
    """

    steps: Sequence[Step]
    by: str
    results: dict[str, Result] = field(default_factory=dict)
    cut_boot: str | None = None

    def __post_init__(self) -> None:
        self._last: Reading | None = None
        self._movements = Movements()
        self._begin()

    def _begin(self) -> None:
        """Begin the step that is next anew."""
        self._phase = 0
        # Of this part of the step; and of those before it, how many and the longest bounce, None while there are none.
        self._edges: list[Edge] = []
        self._edges_before = 0
        self._bounce_us: int | None = None
        self._others: tuple[str, ...] = ()
        self._also: set[str] = set()
        self._was_otherwise = False
        self._since_ms: int | None = None

    @property
    def step(self) -> Step | None:
        """The step that is next; None when all are done."""
        return next((step for step in self.steps if step.name not in self.results), None)

    @property
    def wanted(self) -> Wanted | None:
        """What is waited for now."""
        return None if self.step is None else self.step.wanted[self._phase]

    @property
    def is_asked(self) -> bool:
        """Whether the technician has to say something; otherwise what is seen goes on by itself."""
        return isinstance(self.wanted, Turned | Lit)

    @property
    def lit(self) -> str | None:
        """The lamp that is to be lit, and no other."""
        step = self.step
        return step.signal if step is not None and step.kind == "lamp" else None

    @property
    def others(self) -> tuple[str, ...]:
        """The contacts that answered last in this step and are not its own; none once its own has answered."""
        return self._others

    @property
    def is_last_place(self) -> bool:
        """Whether no other place of the reserve is left to be tried."""
        left = [step for step in self.steps if step.kind == "slot" and step.name not in self.results]
        return left == [self.step]

    @property
    def begins_wrong(self) -> bool:
        """Whether the contact is as it is wanted without having been otherwise: first the contrary has to be done."""
        step, wanted, last = self.step, self.wanted, self._last
        if step is None or not isinstance(wanted, Contact) or last is None or self._was_otherwise:
            return False
        return last.levels.get(step.signal or "") is wanted.closed

    @property
    def unread(self) -> str | None:
        """Why the contact or lamp of the step cannot be used, if that is so."""
        step, last = self.step, self._last
        if step is None or last is None or step.signal is None:
            return None
        if step.signal in last.unavailable:
            return last.unavailable[step.signal]
        is_on_node = (step.pin or "").startswith("node:")
        return "the I/O node does not answer" if is_on_node and last.node is not True else None

    def take(self, reading: Reading) -> Result | None:
        """Take on what is seen; what the step came to, when it ends by that."""
        before, self._last = self._last or reading, reading
        self._movements.take(reading.at_ms, reading.levels)
        step, wanted = self.step, self.wanted
        if step is None:
            return None
        own = [edge for edge in reading.edges if edge.name == step.signal]
        self._edges += own[: EDGES_MAX - len(self._edges)]
        self._note_boot()
        if isinstance(wanted, Contact):
            self._note_others(step, wanted, before, reading)
        if not self._is_met(step, wanted, before, reading):
            return None
        if isinstance(wanted, Contact) and (also := self._answered_too(step, wanted, reading)):
            return self._end("failed", "also", ", ".join(also))
        self._count_edges()
        self._phase += 1
        self._since_ms = None
        self._was_otherwise = True
        self._also = set()
        return self._end("passed") if self._phase == len(step.wanted) else None

    def _note_others(self, step: Step, wanted: Contact, before: Reading, reading: Reading) -> None:
        """Note what else answers. A press may be over before anyone has read of it, so the last ones stay."""
        moved = [(name, level) for name, level in reading.levels.items() if level is not before.levels.get(name, level)]
        moved += [(edge.name, edge.closed) for edge in reading.edges]
        if any(name == step.signal for name, _ in moved):
            self._others = ()
        # What returns to how it rests was moved before, by hands that put the table in order.
        new = [
            name
            for name, level in moved
            if name != step.signal and level is not rests_closed(name) and self._movements.came_from_rest(name)
            if not self._is_handled(step, name)
        ]
        if new:
            still = (name for name in self._others if reading.levels.get(name) is not rests_closed(name))
            self._others = tuple(dict.fromkeys((*still, *new)))
        self._also |= self._movements.together(step.signal or "", wanted.closed)

    def _is_handled(self, step: Step, name: str) -> bool:
        """Whether hands move this contact for the step: the lid, or a die whose place was tried before."""
        if step.kind not in ("slot", "closure") or group_of(name) not in ("reserve", "slots"):
            return False
        return name in self.results and self.results[name].verdict != "failed"

    def _is_met(self, step: Step, wanted: Wanted | None, before: Reading, reading: Reading) -> bool:
        match wanted:
            case Contact():
                level = reading.levels.get(step.signal or "")
                otherwise = not wanted.closed
                if otherwise in (level, before.levels.get(step.signal or "")) or self._edges:
                    self._was_otherwise = True
                if level is not wanted.closed:
                    self._since_ms = None
                elif self._since_ms is None:
                    self._since_ms = reading.at_ms
                steady = self._since_ms is not None and reading.at_ms - self._since_ms >= wanted.steady_ms
                return steady and self._was_otherwise
            case NodeAnswers():
                return reading.node is wanted.wanted
            case CentreReached():
                return reading.centre is wanted.wanted
            case Restarted():
                return reading.boot != self.cut_boot
            case _:
                return False

    def _answered_too(self, step: Step, wanted: Contact, reading: Reading) -> tuple[str, ...]:
        """The contacts that answer although they are not meant: not to be closed, or moved as one with the step's."""
        alone = [name for name in wanted.alone if name != step.signal and reading.levels.get(name)]
        also = [name for name, level in reading.levels.items() if name in self._also and level is wanted.closed]
        return tuple(dict.fromkeys((*alone, *also)))

    def answer(self, yes: bool) -> Result | None:
        """The technician says yes (or that it is done), or no. What the step came to, when it ends by that."""
        step, wanted, last = self.step, self.wanted, self._last
        if step is None or last is None:
            return None
        if isinstance(wanted, Lit):
            return self._end("passed") if yes else self._end("failed", "not_lit")
        if isinstance(wanted, Turned) and yes:
            seen = [name for name in wanted.alone if last.levels.get(name)]
            unread = [name for name in wanted.alone if name not in last.levels]
            if unread:
                return None
            return self._end("failed", "both_faces", ", ".join(seen)) if seen else self._end("passed")
        return None

    def put_aside(self, verdict: Literal["failed", "skipped"], why: str) -> Result | None:
        """The technician ends the step by their own word, for a reason."""
        return None if self.step is None else self._end(verdict, "said", why)

    def back(self) -> str | None:
        """Take the last result back and begin that step anew; its name."""
        if self.results:
            name, _ = self.results.popitem()
            self.cut_boot = None
            self._begin()
            return name
        return None

    def again(self, name: str) -> bool:
        """Take the result of this step back, so that it is the next one; False: it has none."""
        if self.results.pop(name, None) is None:
            return False
        self.cut_boot = None
        self._begin()
        return True

    def _end(self, verdict: Verdict, reason: Reason | None = None, said: str = "") -> Result:
        step, last = self.step, self._last
        assert step is not None
        self._count_edges()
        wall = "" if last is None else last.wall
        result = Result(step.name, verdict, self.by, wall, reason, said, self._bounce_us, self._edges_before)
        self.results[step.name] = result
        self._begin()
        self._note_boot()
        return result

    def _count_edges(self) -> None:
        """A part of the step is over: what its contact does from now on is another movement."""
        if self._edges:
            self._bounce_us = max(self._bounce_us or 0, longest_bounce_us(self._edges))
        self._edges_before += len(self._edges)
        self._edges = []

    def _note_boot(self) -> None:
        """Before the technician is asked to cut the power."""
        if isinstance(self.wanted, Restarted) and self.cut_boot is None and self._last is not None:
            self.cut_boot = self._last.boot
