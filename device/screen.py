"""What the screen shows: the session's state as one JSON object, told only of what is on the disk."""

from typing import Any

from device.session import Session

RESERVE_TEXT = "The lid of the dice reserve is open."


def table_view(session: Session) -> dict[str, Any]:
    """The part of the screen that follows from the session alone; units are chip units."""
    table, terms = session.table, session.terms
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
        },
        "phase": "come_out" if table.point is None else "point",
        "point": table.point,
        "shooter": table.shooter,
        "dice_pass": table.dice_pass,
        "roll_number": table.roll_number,
        "puck": puck_view(session),
        "reserve": {"open": session.reserve_open},
        "buttons": {
            "last": session.last_status,
            "marks": {str(box): status for box, status in sorted(session.marks.items())},
        },
        "bets": table.bets(),
        "last_roll": session.last_roll,
        "recent_rolls": session.recent_rolls,
        "last_no_roll": session.last_no_roll,
        "correcting": session.correcting,
        "house": table.house,
        "alerts": alerts(session),
    }


def puck_view(session: Session) -> dict[str, Any]:
    """Where the puck is, where it should be, and whether the two agree (None while it is unknown)."""
    point = session.table.point if session.table else None
    expected = {"position": "off" if point is None else point, "face": "off" if point is None else "on"}
    puck = session.puck
    agrees: bool | None
    if puck.state == "unknown":
        agrees = None
    else:
        agrees = puck.state == "in_place" and {"position": puck.position, "face": puck.face} == expected
    return {
        "state": puck.state,
        "position": puck.position,
        "face": puck.face,
        "expected": expected,
        "agrees": agrees,
    }


def alerts(session: Session) -> list[dict[str, str]]:
    """What the boxman should put right, each with what to do."""
    found = []
    puck = puck_view(session)
    if puck["agrees"] is False:
        expected = puck["expected"]["position"]
        where = "on its OFF place, face OFF" if expected == "off" else f"on {expected}, face ON"
        if puck["state"] == "lifted":
            now = "No sensor sees the puck: it is lifted, or lies with the wrong face up"
        elif puck["state"] == "fault":
            now = "Two puck sensors answer at once"
        else:
            now = f"The puck is on {str(puck['position']).upper()}"
        found.append({"code": "puck_misplaced", "text": f"{now}; put it {where}."})
    if session.reserve_open:
        found.append({"code": "reserve_open", "text": RESERVE_TEXT})
    if session.notice is not None:
        found.append({"code": "notice", "text": session.notice[:1].upper() + session.notice[1:] + "."})
    if session.correcting:
        found.append({"code": "correcting", "text": "The next two dice correct the last roll."})
    found.extend(
        {"code": "input_unavailable", "text": f"{name}: {reason}"}
        for name, reason in sorted(session.unavailable.items())
    )
    if session.table is not None:
        found.extend({"code": "rule_warning", "text": warning} for warning in session.table.rules.warnings)
    return found
