"""What the lamps of the buttons and dice keys say. They show what is on the disk, and a pick or a die that waits."""

from collections.abc import Mapping
from typing import Any

from drivers.signals import BOXES

MEANINGS: dict[str, str] = {
    **{f"box_{box}": f"Bets or a marker lie on box {box}, or the next status button speaks for it." for box in BOXES},
    "on": "At least one bet was set to work by the ON button.",
    "off": "At least one bet was set not to work by the OFF button.",
    "buy": "At least one box is marked BUY.",
    "lay": "At least one box is marked LAY.",
    **{f"dice_key_{die}": f"A die of {die} waits for the second one, or was in the last roll." for die in range(1, 7)},
}


def lit(view: Mapping[str, Any], picked_box: int | None, pending_die: int | None) -> dict[str, bool]:
    """Which lamps are lit, by the name of their button or key; `view` is the screen's (screen.table_view)."""
    bets, marks, last = view["bets"], view["buttons"]["marks"], view["last_roll"]
    boxes = {bet["number"] for bet in bets} | {int(box) for box in marks} | {picked_box}
    buttons = {bet["button"] for bet in bets}
    dice = [pending_die] if pending_die is not None else last["dice"] if last else []
    lamps = {f"box_{box}": box in boxes for box in BOXES}
    lamps |= {"on": True in buttons, "off": False in buttons}
    lamps |= {status: status in marks.values() for status in ("buy", "lay")}
    return lamps | {f"dice_key_{die}": die in dice for die in range(1, 7)}
