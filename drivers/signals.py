"""The signals a table can give: what a driver says happened, after bounces and noise have been taken out.

Positions are the numbers of the layout's boxes (4, 5, 6, 8, 9, 10) or "off", the puck's resting place.
`initial` marks what was already so when the program started: a state, not something that happened just now.
"""

from dataclasses import dataclass, field
from typing import Literal

BOXES = (4, 5, 6, 8, 9, 10)
POSITIONS: tuple["Position", ...] = (4, 5, 6, 8, 9, 10, "off")

Position = Literal[4, 5, 6, 8, 9, 10, "off"]
Face = Literal["on", "off"]
Status = Literal["on", "off", "buy", "lay"]
# A long table has two pucks, one before each dealer.
PuckNumber = Literal[1, 2]


@dataclass(frozen=True)
class PuckMoved:
    """The puck lies at `position`: with its ON face up on a box, with its OFF face up at the off place."""

    position: Position
    face: Face
    initial: bool
    puck: PuckNumber = 1


@dataclass(frozen=True)
class PuckLifted:
    """No sensor sees the puck: it is in somebody's hand, lost, or lies on a box with the wrong face up."""

    initial: bool
    puck: PuckNumber = 1


@dataclass(frozen=True)
class PuckUnseen:
    """No sensor sees the puck, and one that might cannot be read: nobody knows where it is."""

    puck: PuckNumber = 1


@dataclass(frozen=True)
class PuckFault:
    """More than one sensor sees one puck; `sensors` names their positions, in the order of the layout."""

    sensors: tuple[str, ...]
    initial: bool
    puck: PuckNumber = 1


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
class DoorOpened:
    """The cabinet's door is open."""

    initial: bool


@dataclass(frozen=True)
class DoorClosed:
    """The cabinet's door is shut."""

    initial: bool


@dataclass(frozen=True)
class SlotsSeen:
    """Which places of the reserve hold a die, by number; told at start and at every change."""

    occupied: tuple[int, ...]
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
    reason: Literal["timeout", "taken_back", "new_shooter", "node_restarted", "entered_elsewhere"]


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
    this program or, after `resume`, its journal last heard of it. `dropped`: changes it could not keep meanwhile;
    `dropped_in_all`: since the node's start, which `boot_id` names.
    """

    gap_ms: int | None
    restarted: bool
    dropped: int
    boot_id: int = field(default=0, compare=False)
    dropped_in_all: int = field(default=0, compare=False)


@dataclass(frozen=True)
class NodeDropped:
    """While it was in contact, the I/O node had no room for `changes` more changes of its inputs."""

    changes: int
    boot_id: int = field(default=0, compare=False)
    dropped_in_all: int = field(default=0, compare=False)


@dataclass(frozen=True)
class LineNoisy:
    """The line to the I/O node damaged `frames` frames within the last `seconds`; nothing is lost yet."""

    frames: int
    seconds: int


@dataclass(frozen=True)
class LineQuiet:
    """The line to the I/O node, which was noisy, has been good for a while."""


@dataclass(frozen=True)
class InputUnavailable:
    """One input cannot be read; the others go on. `reason` names pin, signal and the likely holder."""

    name: str
    reason: str


@dataclass(frozen=True)
class InputAvailable:
    """An input that could not be read can be read again."""

    name: str


@dataclass(frozen=True)
class InputStuck:
    """An input that cannot be right: a puck sensor that answers wherever the puck is, a button down for too long.

    A stuck puck sensor is left out of account until it lets go.
    """

    name: str


@dataclass(frozen=True)
class InputFreed:
    """An input that was stuck has let go."""

    name: str


@dataclass(frozen=True)
class EdgeLost:
    """An input had changed although no edge told of it; the change was found by looking, and counts."""

    name: str


@dataclass(frozen=True)
class ButtonHeldAtStart:
    """A button or key was already down when the program started. That is no press."""

    name: str


Signal = (
    PuckMoved
    | PuckLifted
    | PuckFault
    | PuckUnseen
    | BoxPicked
    | BetStatusKeyed
    | ReserveOpened
    | ReserveClosed
    | DoorOpened
    | DoorClosed
    | SlotsSeen
    | DieKeyed
    | DiceKeyed
    | DiceEntryAbandoned
    | TakeBackKeyed
    | NewShooterKeyed
    | NodeLost
    | NodeFound
    | NodeDropped
    | LineNoisy
    | LineQuiet
    | InputUnavailable
    | InputAvailable
    | InputStuck
    | InputFreed
    | EdgeLost
    | ButtonHeldAtStart
)
