"""What each signal of the hardware means to the session."""

from dataclasses import asdict
from typing import Any

from device.origin import Origin
from device.session import Entry, Session
from drivers.signals import (
    BetStatusKeyed,
    BoxPicked,
    ButtonHeldAtStart,
    DiceEntryAbandoned,
    DiceKeyed,
    DieKeyed,
    DoorClosed,
    DoorOpened,
    EdgeLost,
    InputAvailable,
    InputFreed,
    InputStuck,
    InputUnavailable,
    LineNoisy,
    LineQuiet,
    NewShooterKeyed,
    NodeDropped,
    NodeFound,
    NodeLost,
    PuckFault,
    PuckLifted,
    PuckMoved,
    PuckUnseen,
    ReserveClosed,
    ReserveOpened,
    SlotsSeen,
    TakeBackKeyed,
)
from drivers.table_inputs import Received

# Signals that are journaled with their own fields and nothing else.
_PLAIN = {
    NodeLost: "node_lost",
    NodeFound: "node_found",
    NodeDropped: "node_dropped",
    LineNoisy: "line_noisy",
    LineQuiet: "line_quiet",
    InputUnavailable: "input_unavailable",
    InputAvailable: "input_available",
    InputStuck: "input_stuck",
    InputFreed: "input_freed",
    EdgeLost: "edge_lost",
    ButtonHeldAtStart: "button_held_at_start",
}
_KEYED = DiceKeyed | TakeBackKeyed | NewShooterKeyed
# Held, it takes the last entry back.
TAKE_BACK_KEY = "dice_key_1"
NODE_DROPPED_TEXT = (
    "The I/O node had no room for {} changes of its inputs, so keys may have been pressed in vain. "
    "Compare the last rolls with the table."
)


def origin_of(received: Received) -> Origin:
    """Where the entries of a signal come from."""
    return Origin(received.origin, report=received.report)


def entries_of(session: Session, received: Received) -> list[Entry]:
    """What the session makes of a signal; it has taken the entries on."""
    signal = received.signal
    origin = origin_of(received)
    if received.late and session.hardware.keys_are_late and isinstance(signal, _KEYED):
        return session.keyed_too_late(_said(signal), origin)
    match signal:
        case PuckMoved():
            detail = {"initial": signal.initial} | origin.data()
            return session.puck_seen(signal.puck, "in_place", signal.position, signal.face, detail)
        case PuckLifted():
            return session.puck_seen(signal.puck, "lifted", None, None, {"initial": signal.initial} | origin.data())
        case PuckUnseen():
            return session.puck_seen(signal.puck, "unknown", None, None, origin.data())
        case PuckFault():
            fault = {"initial": signal.initial, "sensors": list(signal.sensors)} | origin.data()
            return session.puck_seen(signal.puck, "fault", None, None, fault)
        case ReserveOpened() | ReserveClosed():
            return session.reserve_seen(isinstance(signal, ReserveOpened), signal.initial, origin)
        case DoorOpened() | DoorClosed():
            kind = "door_opened" if isinstance(signal, DoorOpened) else "door_closed"
            return session.input_seen(kind, {"initial": signal.initial} | origin.data())
        case SlotsSeen():
            return session.slots_seen(list(signal.occupied), signal.initial, origin)
        case BetStatusKeyed():
            return session.bet_status_keyed(signal.status, signal.box, origin)
        case DiceKeyed():
            return session.dice_keyed(signal.first, signal.second, origin)
        case TakeBackKeyed():
            return session.take_back_keyed(origin)
        case NewShooterKeyed():
            return session.new_shooter_keyed(origin)
        case NodeFound() | NodeDropped():
            return _node(session, signal)
        case InputStuck():
            return _stuck(session, signal, origin)
        case DieKeyed() | DiceEntryAbandoned() | BoxPicked():
            return []
        case _:
            return session.input_seen(_PLAIN[type(signal)], asdict(signal))


def _said(signal: DiceKeyed | TakeBackKeyed | NewShooterKeyed) -> str:
    if isinstance(signal, DiceKeyed):
        return f"{signal.first}-{signal.second}"
    return "A take-back" if isinstance(signal, TakeBackKeyed) else "A new shooter"


def _stuck(session: Session, signal: InputStuck, origin: Origin) -> list[Entry]:
    entries = session.input_seen(_PLAIN[type(signal)], asdict(signal))
    if signal.name == TAKE_BACK_KEY and session.correcting:
        # Nobody held the key to take a roll back.
        entries += session.take_back(False, origin)
    return entries


def _node(session: Session, signal: NodeFound | NodeDropped) -> list[Entry]:
    detail: dict[str, Any] = asdict(signal)
    entries = session.input_seen(_PLAIN[type(signal)], detail)
    dropped = signal.dropped if isinstance(signal, NodeFound) else signal.changes
    if dropped:
        # What was lost stays lost: it stands until somebody has taken note of it.
        standing = session.alerts.get("node_dropped", {"detail": {"changes": 0}})
        changes = standing["detail"]["changes"] + dropped
        text = NODE_DROPPED_TEXT.format(changes)
        entries += session.raise_alert("node_dropped", text, {"changes": changes}, latched=True)
    return entries
