"""The signals a table can give: what a driver says happened, after bounces and noise have been taken out.

Positions are the numbers of the layout's boxes (4, 5, 6, 8, 9, 10) or "off", the puck's resting place.
`initial` marks what was already so when the program started: a state, not something that happened just now.
"""

from dataclasses import dataclass
from typing import Literal

BOXES = (4, 5, 6, 8, 9, 10)
POSITIONS: tuple["Position", ...] = (4, 5, 6, 8, 9, 10, "off")

Position = Literal[4, 5, 6, 8, 9, 10, "off"]
Face = Literal["on", "off"]
Status = Literal["on", "off", "buy", "lay"]


@dataclass(frozen=True)
class PuckMoved:
    """The puck lies at `position`: with its ON face up on a box, with its OFF face up at the off place."""

    position: Position
    face: Face
    initial: bool


@dataclass(frozen=True)
class PuckLifted:
    """No sensor sees the puck: it is in somebody's hand, lost, or lies on a box with the wrong face up."""

    initial: bool


@dataclass(frozen=True)
class PuckFault:
    """More than one sensor sees a puck; `sensors` names them all, in the order of the layout."""

    sensors: tuple[str, ...]
    initial: bool


@dataclass(frozen=True)
class BoxPicked:
    """A box button picked the box that the next status button speaks about; None: no box is picked any more."""

    box: int | None


@dataclass(frozen=True)
class BetStatusKeyed:
    """A status button was pressed, for the picked box or, with None, for the whole table."""

    status: Status
    box: int | None


@dataclass(frozen=True)
class ReserveOpened:
    """The lid of the dice reserve is open."""

    initial: bool


@dataclass(frozen=True)
class ReserveClosed:
    """The lid of the dice reserve is shut."""

    initial: bool


@dataclass(frozen=True)
class DieKeyed:
    """The first die of a roll was keyed; nothing is entered yet. For the screen, not for the journal."""

    first: int


@dataclass(frozen=True)
class DiceKeyed:
    """Both dice of a roll were keyed, in this order; 1 to 6 each."""

    first: int
    second: int


@dataclass(frozen=True)
class DiceEntryAbandoned:
    """A lone first die was given up, because no second came in time or because of what was keyed instead."""

    first: int
    reason: Literal["timeout", "taken_back", "new_shooter", "node_restarted"]


@dataclass(frozen=True)
class TakeBackKeyed:
    """The dice key 1 was held: take the last entry back."""


@dataclass(frozen=True)
class NewShooterKeyed:
    """The dice key 2 was held: a new shooter has the dice."""


@dataclass(frozen=True)
class NodeLost:
    """The I/O node does not answer."""

    reason: str


@dataclass(frozen=True)
class NodeFound:
    """The I/O node answers.

    `gap_ms` is how long it was away, None at the first contact of this run. `restarted`: it has been reset since
    this program or, after `resume`, its journal last heard of it. `dropped`: changes it could not keep meanwhile.
    """

    gap_ms: int | None
    restarted: bool
    dropped: int


@dataclass(frozen=True)
class InputUnavailable:
    """One input cannot be read; the others go on. `reason` names pin, signal and the likely holder."""

    name: str
    reason: str


@dataclass(frozen=True)
class ButtonHeldAtStart:
    """A button or key was already down when the program started. That is no press."""

    name: str


Signal = (
    PuckMoved
    | PuckLifted
    | PuckFault
    | BoxPicked
    | BetStatusKeyed
    | ReserveOpened
    | ReserveClosed
    | DieKeyed
    | DiceKeyed
    | DiceEntryAbandoned
    | TakeBackKeyed
    | NewShooterKeyed
    | NodeLost
    | NodeFound
    | InputUnavailable
    | ButtonHeldAtStart
)
