"""What the dice log remembers of the reserve: its openings, and slots that changed under a shut lid."""

from dataclasses import dataclass, field

# Openings that wait for a reason. Beyond it, a further one counts as part of the last: a lid switch that flutters
# must not fill the memory.
OPENINGS_MAX = 100
# People on duty that are remembered for one opening.
DUTY_MAX = 100


@dataclass
class Opening:
    """An opening of the reserve that is not over, or waits for its reason."""

    seq: int
    shooter: str | None
    roll_number: int
    point: int | None
    closed: int | None = None
    reason: str | None = None
    # A deed that moved dice gave the reason; otherwise a deed that moves some while the lid is open gives its own.
    moved: bool = False
    # The alert was raised: only a supervisor's explanation ends it.
    late: bool = False
    # Who was on duty when it was opened, as far as it is known.
    duty: list[str] = field(default_factory=list)
    # The lid was open during a roll, or while the table was closed; and which of the two an alert has told.
    during_roll: bool = False
    while_closed: bool = False
    told: list[str] = field(default_factory=list)
    # A roll was entered since it was shut, or the table opened anew: what is done now is no part of it.
    over: bool = False
    # A throw of the series that was on went off the table.
    off_table: bool = False
    # The starts of the program since, and the times that recording went on after a full disk.
    starts: int = 0
    # Openings after this one that were counted in, beyond OPENINGS_MAX: how many, and the seq of the last.
    further: int = 0
    through: int | None = None

    @property
    def waits(self) -> bool:
        """Whether it needs a reason from someone."""
        return self.reason is None or self.late


@dataclass
class ShutChange:
    """Slots that changed without an opening of the lid: from the event `event` to `last`, so many `changes`."""

    event: int
    last: int
    changes: int
    # The places that held a die before the first and after the last.
    before: list[int]
    after: list[int]
    # Seen at a start: it was so when the slots could be read again.
    initial: bool


def added(first: ShutChange | None, then: ShutChange) -> ShutChange:
    """One change after another, as one."""
    if first is None:
        return then
    return ShutChange(
        event=first.event,
        last=then.last,
        changes=first.changes + then.changes,
        before=first.before,
        after=then.after,
        initial=first.initial or then.initial,
    )
