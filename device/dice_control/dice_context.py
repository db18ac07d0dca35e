"""The game as the dice log sees it at the moment of an action."""

from dataclasses import dataclass

from device.dice_control.dice_rules import DiceRules


@dataclass(frozen=True)
class Context:
    """The table now, and the rules that its dice are judged by.

    `rolls_in_series` counts the throws since the last decision: 0 where the next throw is a come-out, so that
    `roll_number - rolls_in_series` tells one series from another. `throwing`: the dice are out. `no_roll` is the last
    void throw since the last roll: its event's seq and its reason. `lid_unseen`: the reserve's lid cannot be seen now;
    `slots_unseen`: nor can any of its slots, whatever the lid does.
    `supervisors` are the names that the configuration lists; None: it lists none, and no name is checked.
    """

    rules: DiceRules
    table_open: bool
    session_number: int
    point: int | None
    shooter: str | None
    roll_number: int
    throwing: bool
    rolls_in_series: int
    no_roll: tuple[int, str] | None = None
    lid_unseen: bool = False
    slots_unseen: bool = False
    supervisors: tuple[str, ...] | None = None
