"""Bets that another program proposes (chips read by their tags, a station with screens of its own).

A proposal is held here and nowhere else until the boxman takes it or leaves it. Nothing of it is booked or journaled
before: after a power cut there is none, and its source proposes again. A proposal is for one throw; the roll ends it.
What became of it is kept a while, so that a source that asks again is told. What was accepted is in the journal.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from device.bet_entry import put_all
from device.origin import Origin
from device.recorder import Busy, IdReused
from device.session import Entry, Session
from engine_lite.refusal import Refused

WAITING_MAX: Final = 16
"""So many proposals may wait at once; a boxman reads no more."""

BETS_MAX: Final = 20
"""So many bets may be in one."""

ANSWERED_MAX: Final = 256
"""Of so many it is remembered what became of them."""

WAITING: Final = "waiting"
ACCEPTED: Final = "accepted"
REFUSED: Final = "refused"
EXPIRED: Final = "expired"

_GONE: Final = {
    ACCEPTED: "this proposal was accepted",
    REFUSED: "this proposal was refused",
    EXPIRED: "this proposal has expired",
}

# A source's name and its own id.
Key = tuple[str, str]


@dataclass(frozen=True)
class Proposal:
    """What a source proposes after roll `after_roll`: bets as in a step, each with player, kind and amount."""

    source: str
    proposal: str
    after_roll: int
    bets: tuple[dict[str, Any], ...]

    @property
    def key(self) -> Key:
        """What it is known by."""
        return self.source, self.proposal


@dataclass(frozen=True)
class Moment:
    """Between two rolls of a session: as long as the game is at it, a proposal holds."""

    session_number: int
    roll_number: int
    is_open: bool


class ProposalDesk:
    """The proposals of one table.

    `now` gives the moment that the game is at; `on_change` is told of every change but that a roll ended one, which the
    roll tells itself.
    """

    def __init__(self, now: Callable[[], Moment], on_change: Callable[[], None]) -> None:
        self._now = now
        self._on_change = on_change
        self._waiting: dict[Key, tuple[Proposal, Moment]] = {}
        self._answered: OrderedDict[Key, tuple[Proposal, str]] = OrderedDict()

    def offer(self, proposal: Proposal, *, accepted: bool) -> str:
        """Hold a proposal; what has become of it: WAITING, or more where it was offered before.

        `accepted`: the journal says so (`was_accepted`), though it was before a restart. Raises Refused (not_now,
        stale), Busy where too many wait, or IdReused for other bets under the same name.
        """
        self._expire()
        key = proposal.key
        if key in self._answered:
            known, became = self._answered[key]
        elif key in self._waiting:
            known, became = self._waiting[key][0], WAITING
        elif accepted:
            return ACCEPTED
        else:
            self._hold(proposal)
            return WAITING
        if known != proposal:
            raise IdReused
        return became

    def _hold(self, proposal: Proposal) -> None:
        now = self._now()
        if not now.is_open:
            raise Refused("not_now", "the table is closed; open it first")
        if proposal.after_roll != now.roll_number:
            raise Refused("stale", f"the table has moved on: roll {now.roll_number} was entered meanwhile")
        if len(self._waiting) >= WAITING_MAX:
            raise Busy("too many proposals wait; wait a moment")
        self._waiting[proposal.key] = (proposal, now)
        self._on_change()

    def view(self) -> list[dict[str, Any]]:
        """Those that wait, the oldest first."""
        self._expire()
        return [
            {"source": proposal.source, "proposal": proposal.proposal, "bets": list(proposal.bets)}
            for proposal, _ in self._waiting.values()
        ]

    def waiting(self, key: Key) -> Proposal:
        """One that waits. Raises Refused: proposal_gone."""
        self._expire()
        if key in self._waiting:
            return self._waiting[key][0]
        raise Refused("proposal_gone", _GONE[self._answered[key][1] if key in self._answered else EXPIRED])

    def refuse(self, key: Key) -> None:
        """The boxman leaves one; nothing where it was left already. Raises Refused: proposal_gone."""
        if key not in self._waiting and key in self._answered and self._answered[key][1] == REFUSED:
            return
        self.waiting(key)
        self._end(key, REFUSED)
        self._on_change()

    def note_accepted(self, key: Key) -> None:
        """The bets of one are in the journal."""
        if key in self._waiting:
            self._end(key, ACCEPTED)
            self._on_change()

    def _expire(self) -> None:
        now = self._now()
        for key in [key for key, (_, moment) in self._waiting.items() if moment != now]:
            self._end(key, EXPIRED)

    def _end(self, key: Key, became: str) -> None:
        proposal, _ = self._waiting.pop(key)
        self._answered[key] = (proposal, became)
        if len(self._answered) > ANSWERED_MAX:
            self._answered.popitem(last=False)


def asked_for(key: Key) -> dict[str, Any]:
    """What a command asks for that accepts a proposal."""
    return {"accept": {"source": key[0], "proposal": key[1]}}


def was_accepted(session: Session, key: Key) -> bool:
    """Whether one of the last commands accepted this proposal, before a restart or after."""
    return any(known["asked"] == asked_for(key) for known in session.commands.values())


def accept(session: Session, proposal: Proposal, origin: Origin) -> list[Entry]:
    """Put all bets of a proposal down, or none. Raises Refused: also `stale`, after another roll."""
    if session.table is not None and session.table.roll_number != proposal.after_roll:
        raise Refused("stale", f"the table has moved on: roll {session.table.roll_number} was entered meanwhile")
    # Two screens may have touched it at once.
    if was_accepted(session, proposal.key):
        raise Refused("proposal_gone", _GONE[ACCEPTED])
    return put_all(session, proposal.bets, asked_for(proposal.key), origin)
