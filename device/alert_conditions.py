"""What is not as it should be, from the session's state alone: the game holds the hardware to account, and the reverse.

A condition is not yet an alert: it becomes one when it has lasted for its grace time (`alert_watch`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from device.condition import Condition
from device.hardware_state import HardwareState, Puck, expected_puck
from device.input_names import GROUPS_SAID, all_said
from device.session import Session
from drivers.wiring import GROUPS, Wiring


@dataclass(frozen=True)
class GraceTimes:
    """How long a condition lasts before it is an alert, in milliseconds."""

    # A dealer moves the puck while the boxman keys the dice.
    puck_ms: int = 4_000
    # The dice are keyed a moment after the puck was moved.
    roll_ms: int = 4_000
    # A bet is keyed while its marker is put down.
    button_ms: int = 5_000


# How long after a start what is still wrong is told again: a pin at once, a node after three seconds of silence, a
# stuck button after half a minute.
TOLD_AGAIN_MS = {
    "input_unavailable": 5_000,
    "node_offline": 5_000,
    "door_open": 5_000,
    "line_noisy": 65_000,
    "input_stuck": 35_000,
}
DOOR_TEXT = "The cabinet's door is open."
PUCK_ALERTS = ("puck_misplaced", "roll_missing", "pucks_disagree", "puck_fault")


def conditions(session: Session, grace: GraceTimes, wiring: Wiring) -> Iterator[Condition]:
    """All that is wrong now, the most urgent first."""
    yield from _puck(session, grace)
    yield from _buttons(session, grace)
    yield from _inputs(session.hardware, wiring)


def undetermined(session: Session, watched_ms: int) -> set[str]:
    """The alerts of which nothing can be said now: they stay as they are.

    After a start the hardware takes a while to say again what is wrong with it; `watched_ms` is how long that was ago.
    """
    found = {name for name, wait_ms in TOLD_AGAIN_MS.items() if watched_ms < wait_ms}
    # Whether the screen paints, the session does not know (screen_alert).
    found.add("screen_silent")
    if session.hardware.node_away is not None and "door" in session.hardware.on_node:
        found.add("door_open")
    if session.hardware.slots_unseen:
        found.add("slots_disagree")
    return found | set(PUCK_ALERTS) if session.hardware.agrees(session.point) is None else found


def _puck(session: Session, grace: GraceTimes) -> Iterator[Condition]:
    hardware, table = session.hardware, session.table
    # A closed table's puck may be put away.
    if table is None or not session.is_open or hardware.agrees(session.point) is not False:
        return
    expected = expected_puck(session.point)
    where = "on its OFF place, OFF face up" if session.point is None else f"on {session.point}, ON face up"
    pucks = {number: hardware.puck(number) for number in hardware.pucks}
    seen = [{"puck": number, **_seen(puck)} for number, puck in sorted(pucks.items())]
    detail = {"expected": expected, "seen": seen}
    faulty = [number for number, puck in sorted(pucks.items()) if puck.state == "fault"]
    if faulty:
        number = faulty[0]
        sensors = " and ".join(sensor.upper() for sensor in pucks[number].sensors)
        yield Condition(
            "puck_fault",
            f"The sensors of {_name(number, pucks)} on {sensors} answer at once. Look for a second magnet on the "
            f"layout; if there is none, a sensor is faulty: call a technician. The puck belongs {where}.",
            detail,
            0,
        )
    elif len({(puck.state, puck.position) for puck in pucks.values()}) > 1:
        said = ". ".join(_said(number, puck, pucks) for number, puck in sorted(pucks.items()))
        yield Condition(
            "pucks_disagree",
            f"The pucks disagree. {said}. Both belong {where}.",
            detail,
            grace.puck_ms,
            table.roll_number,
        )
    elif hardware.puck_was_right and pucks[1].state == "in_place":
        yield Condition(
            "roll_missing",
            f"{_said(1, pucks[1], {1: pucks[1]})}, but no roll was entered. Enter the roll, or put it back {where}.",
            detail,
            grace.roll_ms,
            table.roll_number,
        )
    else:
        point = "there is no point" if session.point is None else f"the point is {session.point}"
        yield Condition(
            "puck_misplaced",
            f"{_said(1, pucks[1], {1: pucks[1]})}, but {point}. Put it {where}.",
            detail,
            grace.puck_ms,
            table.roll_number,
        )


def _seen(puck: Puck) -> dict[str, Any]:
    said = {"state": puck.state, "position": puck.position}
    return said | {"sensors": list(puck.sensors)} if puck.state == "fault" else said


def _name(number: int, pucks: dict[int, Puck]) -> str:
    return "the puck" if len(pucks) == 1 else ("the first puck" if number == 1 else "the second puck")


def _said(number: int, puck: Puck, pucks: dict[int, Puck]) -> str:
    name = _name(number, pucks)
    if puck.state == "in_place":
        return f"{name[0].upper()}{name[1:]} is on {str(puck.position).upper()}"
    return f"No sensor sees {name}: it is lifted, or lies with the wrong face up"


def _buttons(session: Session, grace: GraceTimes) -> Iterator[Condition]:
    table, hardware = session.table, session.hardware
    if table is None:
        return
    bets = table.bets()
    press = hardware.idle_press
    if press is not None and all(bet["number"] != press["box"] for bet in bets):
        lift = "" if press["status"] in ("on", "off") else ", or press the buttons again to lift the marker"
        yield Condition(
            "box_without_bets",
            f"{press['status'].upper()} was pressed for box {press['box']}, which has no bets. "
            f"Enter the bet that lies there{lift}.",
            dict(press),
            grace.button_ms,
            told_apart_by=("status", "box"),
        )
    for box, status in sorted(hardware.marks.items()):
        on_box = [bet for bet in bets if bet["number"] == box]
        # A bet of another kind carries no commission; one of this kind carries it where it is taken up front.
        # Chile: the marker is placed after the commission is paid (Medios materiales, Marcador de Compra).
        rule = table.rules.one(status)
        up_front = rule is not None and rule.commission is not None and rule.commission.up_front
        marked = [bet for bet in on_box if bet["kind"] == status]
        unpaid = [bet for bet in marked if up_front and not bet["commission"]]
        if not on_box or (marked and not unpaid):
            continue
        players = sorted({bet["player"] for bet in unpaid or on_box})
        lift = "press the buttons again to lift the marker"
        yield Condition(
            f"commission_not_taken:{box}",
            f"Box {box} is marked {status.upper()}: these rules have no {status} bet. {lift[0].upper()}{lift[1:]}."
            if rule is None
            else f"Box {box} is marked {status.upper()}: take the commission and enter the {status} bet, or {lift}.",
            {"box": box, "status": status, "players": players, "in_rules": rule is not None},
            grace.button_ms,
        )


def _inputs(hardware: HardwareState, wiring: Wiring) -> Iterator[Condition]:
    if hardware.node_away is not None:
        groups = [group for group in GROUPS if wiring.board(group) == "node"]
        said = ", ".join(GROUPS_SAID[group] for group in groups)
        unseen = f"What it reads is not seen: {said}." if groups else "Its lamps are dark."
        keys = (
            " Enter dice on the screen: keys pressed now count later, but not once a throw is entered here."
            if wiring.board("dice_keys") == "node"
            else ""
        )
        yield Condition(
            "node_offline",
            f"The I/O node does not answer; look at its cable. {unseen}{keys}",
            {"groups": groups},
            0,
        )
    if hardware.door_open:
        yield Condition("door_open", DOOR_TEXT, {}, 0)
    if hardware.stuck:
        text = f"Stuck, and left out of account: {all_said(hardware.stuck)}. Call a technician."
        yield Condition("input_stuck", text, {"names": hardware.stuck}, 0)
    if hardware.unavailable:
        names = sorted(hardware.unavailable)
        text = f"Cannot be used: {all_said(names)}. Call a technician; all else works."
        yield Condition("input_unavailable", text, {"names": names}, 0)
    if hardware.line_noisy:
        yield Condition(
            "line_noisy",
            "The line to the I/O node is disturbed. Nothing is lost yet; have its cable and plugs looked at. "
            "This goes five minutes after the line is good again.",
            {},
            0,
        )
