"""What the screen shows: the session's state as one JSON object, told only of what is on the disk."""

from collections.abc import Mapping
from typing import Any

from device.alert_book import ANOTHER_PERSON, needs_another
from device.hardware_state import Puck, expected_puck, puck_agrees
from device.session import Session
from device.taken_bets import kinds_not_taken

RESERVE_TEXT = "The lid of the dice reserve is open. Say why it was opened, and shut it."
# What moves chips stands first, then what changes the meaning of the next touch, then what stops the game, then what
# another person must see to, then what can wait.
_MONEY = ("roll_corrected",)
_FIRST = ("correcting", "notice")
_STOPS = ("roll_missing", "puck_fault", "pucks_disagree", "puck_misplaced")
_GRAVE = ANOTHER_PERSON | {"table_key_changed", "downgrade"}
_SOON = ("reserve_open", "node_offline", "commission_not_taken", "box_without_bets")
_TELLS_OF_OPEN_LID = ("reserve_open_during_roll", "reserve_open_while_closed", "reserve_left_open")


def table_view(session: Session) -> dict[str, Any]:
    """The part of the screen that follows from the session alone; units are chip units."""
    table, terms, hardware = session.table, session.terms, session.hardware
    if table is None or terms is None:
        raise ValueError("the table has never been opened")
    return {
        "seq": session.seq,
        "table": {
            "rules": table.rules.name,
            "title": table.rules.title,
            "options": dict(table.rules.options),
            "unit": table.unit,
            "limits": {"min": table.minimum, "max": table.maximum},
            "warnings": list(table.rules.warnings),
            "dice_pass": {
                "come_out_craps": table.rules.craps_pass_dice,
                "source": terms.rule_set["dice_pass"]["source"],
            },
        },
        "open": session.is_open,
        "session_number": session.session_number,
        "dice_out": session.dice_out,
        "phase": "come_out" if table.point is None else "point",
        "point": table.point,
        "shooter": table.shooter,
        "dice_pass": table.dice_pass,
        "roll_number": table.roll_number,
        "puck": puck_view(session, 1) | {"expected": expected_puck(table.point)},
        "second_puck": puck_view(session, 2) if 2 in hardware.pucks else None,
        "reserve": {"open": hardware.lid_open, "slots": hardware.slots},
        "buttons": {
            "last": hardware.last_status,
            "marks": {str(box): status for box, status in sorted(hardware.marks.items())},
        },
        "bets": table.bets(),
        "not_taken": kinds_not_taken(table),
        "last_roll": session.last_roll,
        "recent_rolls": session.recent_rolls,
        "last_no_roll": session.last_no_roll,
        "correcting": session.correcting,
        "house": table.house,
        "people": {"required": session.people.supervisors is not None, "signed_in": list(session.people.signed_in)},
    }


def puck_view(session: Session, number: int) -> dict[str, Any]:
    """Where puck 1 or 2 is, and whether that is where it belongs (None while it is unknown)."""
    puck: Puck = session.hardware.puck(number)
    agrees = puck_agrees(puck, session.point)
    return {"state": puck.state, "position": puck.position, "face": puck.face, "agrees": agrees}


def alerts(session: Session, since: Mapping[str, str]) -> list[dict[str, Any]]:
    """What is to be put right, the most urgent first and then the newest, and last what somebody has acknowledged.

    `since` has the wall times of alerts that stand, by name.
    """
    found = [
        {
            "id": name,
            "code": name.partition(":")[0],
            "text": alert["text"],
            "detail": alert["detail"],
            "raised": alert["seq"],
            "since": since.get(name),
            "can_acknowledge": alert["acknowledged_by"] is None,
            "needs_another": needs_another(name),
            "acknowledged_by": alert["acknowledged_by"],
        }
        for name, alert in session.alerts.items()
    ]
    if session.hardware.lid_open and not _open_lid_told(session):
        found.append(_state("reserve_open", RESERVE_TEXT))
    if session.notice is not None:
        found.append(_state("notice", session.notice[:1].upper() + session.notice[1:] + "."))
    if session.correcting:
        found.append(_state("correcting", "The next two dice correct the last roll."))
    if session.table is not None:
        found += [_state("rule_warning", warning) for warning in session.table.rules.warnings]
    return sorted(found, key=_urgency)


def _state(code: str, text: str) -> dict[str, Any]:
    """Something that is shown while it is so, and that nobody has to acknowledge."""
    return {
        "id": code,
        "code": code,
        "text": text,
        "detail": {},
        "raised": None,
        "since": None,
        "can_acknowledge": False,
        "needs_another": False,
        "acknowledged_by": None,
    }


def _open_lid_told(session: Session) -> bool:
    """Whether an alert that nobody has acknowledged tells already that the lid is open: one fact is one line."""
    opening = session.dice.state.open_opening()
    return opening is not None and any(
        name.partition(":")[0] in _TELLS_OF_OPEN_LID
        and alert["detail"].get("opening") == opening.seq
        and alert["acknowledged_by"] is None
        for name, alert in session.alerts.items()
    )


def _urgency(alert: dict[str, Any]) -> tuple[bool, int, int]:
    code = alert["code"]
    groups = (_MONEY, _FIRST, _STOPS, _GRAVE, _SOON)
    last = len(groups) + (code == "rule_warning")
    group = next((place for place, codes in enumerate(groups) if code in codes), last)
    # A correction that is on before a notice; of the rest, the newest.
    newest = _FIRST.index(code) if code in _FIRST else -(alert["raised"] or 0)
    return alert["acknowledged_by"] is not None, group, newest
