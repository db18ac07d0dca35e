"""Alerts about dice or the reserve, as the reports read them: which there are, and how one ends."""

from collections.abc import Mapping
from typing import Any

from device.dice_control.log_rows import LogRow

ALERT_EVENTS = ("alert_raised", "alert_cleared", "alert_acknowledged")
# Alerts that tell of what has happened, so that they are over when they are noted.
HAPPENED = (
    "against_rule",
    "count_differs",
    "no_opening_count",
    "no_closing_count",
    "slots_changed_shut",
    "dice_written_off",
    "dice_not_named",
)
# What stands before the colon of their names.
DICE_ALERTS = (
    "reserve_unexplained",
    "reserve_left_open",
    "reserve_open_during_roll",
    "reserve_open_while_closed",
    "slots_disagree",
    "dice_missing",
    "set_to_replace",
    "set_served_before",
    "dice_in_play",
    "recording_gap",
    *HAPPENED,
)
# While one of these stands, a roll with the set breaks the article that it names.
SET_MUST_GO = ("set_to_replace", "set_served_before")


def take_alert(row: LogRow, data: Mapping[str, Any], standing: dict[str, LogRow]) -> None:
    """Fill a row of ALERT_EVENTS, link it with the one in which its alert was raised, and keep `standing` right.

    `standing`: alerts that stand, by name, with the row in which they were raised last.
    """
    name: str = data["alert"]
    row.alert, row.done_by = name, data.get("name")
    raised = standing.get(name)
    if row.what == "alert_raised":
        row.text, row.detail = data["text"], data["detail"]
        row.latched = data.get("latched", False) or row.alert_family in HAPPENED
        if raised is not None:
            raised.again = row
        standing[name] = row
    elif raised is not None:
        row.text, row.detail, row.about, row.belongs_to = raised.text, raised.detail, raised.about, raised.seq
        if row.what == "alert_acknowledged":
            raised.noted = row
        else:
            raised.over = row
        if raised.is_settled:
            del standing[name]


def count_roll_against(standing: Mapping[str, LogRow], names: set[str]) -> None:
    """A roll with dice of these sets (none: it is not known of which) while alerts stand that one of them must go."""
    for row in standing.values():
        if row.alert_family in SET_MUST_GO and (not names or row.detail.get("set") in names):
            row.rolls_while += 1
