"""What is wrong with the reserve and the dice now. What has happened, and stays wrong, is in `event_alerts`."""

from collections.abc import Iterator
from dataclasses import dataclass

from device.condition import Condition
from device.dice_control.dice_context import Context
from device.dice_control.dice_log import DiceLog
from device.dice_control.dice_state import DiceSet, DiceState, Opening
from device.dice_control.rule_judgement import named

SERVING = ("reserve", "play", "offered")


@dataclass(frozen=True)
class ReserveTimes:
    """How long the reserve may be as it is before it is an alert, in milliseconds."""

    # From closing to a reason.
    explain_ms: int = 30_000
    open_max_ms: int = 60_000
    # A die is put into its slot while the lid is closed.
    slots_ms: int = 5_000


def conditions(dice: DiceLog, context: Context, times: ReserveTimes) -> Iterator[Condition]:
    """All that is wrong now, the most urgent first."""
    state = dice.state
    if state.reserve_open:
        yield from _open(state, context, times)
    for opening in state.openings:
        if opening.closed is not None and opening.waits:
            yield _unexplained(opening, times)
    # Where no set was ever recorded, nobody keeps the log that the slots could contradict.
    if state.sets and state.slots is not None and not state.reserve_open:
        yield from _slots(state, state.slots, times)
    for name, dice_set in state.sets.items():
        if dice_set.at(*SERVING):
            yield from _set(name, dice_set, context)


def _open(state: DiceState, context: Context, times: ReserveTimes) -> Iterator[Condition]:
    opening = state.open_opening()
    seq = opening.seq if opening is not None else None
    if context.throwing:
        text = "The dice reserve is open during a roll. Close it, and say why it was opened."
        yield Condition("reserve_open_during_roll", text, {"opening": seq}, 0, seq)
    if not context.table_open:
        text = "The dice reserve is open while the table is closed. Close it, and say why it was opened."
        yield Condition("reserve_open_while_closed", text, {"opening": seq}, 0, seq)
    text = f"The dice reserve is open for more than {times.open_max_ms // 1000} s. Close it."
    yield Condition("reserve_left_open", text, {"opening": seq}, times.open_max_ms, seq)


def _unexplained(opening: Opening, times: ReserveTimes) -> Condition:
    shooter = "no shooter" if opening.shooter is None else f"shooter {opening.shooter}"
    more = f" {opening.further} more openings followed it." if opening.further else ""
    return Condition(
        f"reserve_unexplained:{opening.seq}",
        f"The dice reserve was opened after roll {opening.roll_number} ({shooter}) and no reason was given.{more} "
        f"A supervisor must say why.",
        {"opening": opening.seq, "closed": opening.closed},
        times.explain_ms,
        opening.closed,
    )


def _slots(state: DiceState, slots: list[int], times: ReserveTimes) -> Iterator[Condition]:
    dice = state.at("reserve")
    if len(slots) == len(dice):
        return
    by_log = ", ".join(f"{die} of set {name}" for name, die in dice) or "none"
    yield Condition(
        "slots_disagree",
        f"The slots of the reserve hold {_dice(len(slots))}, but by the log there are {len(dice)}: {by_log}. "
        f"Count them and record the count.",
        {"occupied": list(slots), "log": [die for _, die in dice]},
        times.slots_ms,
    )


def _set(name: str, dice_set: DiceSet, context: Context) -> Iterator[Condition]:
    rules = context.rules
    series = [context.session_number, context.roll_number - context.rolls_in_series]
    # While the series goes on in which a die left the table, it is looked for and the shooter plays on.
    over = [die for die, said in dice_set.dice.items() if said.left_in not in (None, series)]
    lost = [die for die in over if dice_set.dice[die].place in ("floor", "missing")]
    missing = sorted({*dice_set.at("missing"), *lost}, key=list(dice_set.dice).index)
    if missing:
        text = f"{named(missing)} of set {name} missing. Search; record what is found."
        yield Condition(f"dice_missing:{name}", text, {"set": name, "dice": missing}, 0)
    at_hand = len(dice_set.at(*SERVING, "inspection"))
    if lost and rules.lost_die.replaces_set:
        text = (
            f"{named(lost)} of set {name} not found when the series ended: "
            f"withdraw the set and bring a new one ({rules.lost_die.article})."
        )
        yield Condition(f"set_to_replace:{name}", text, {"set": name, "dice": lost}, 0)
    elif over and at_hand < rules.in_set.minimum:
        text = (
            f"Set {name} has {_dice(at_hand)} left; the rules ask for {rules.in_set.said()}. "
            f"Bring another set ({rules.in_set.article})."
        )
        yield Condition(f"set_to_replace:{name}", text, {"set": name, "dice": over, "at_hand": at_hand}, 0)
    placed = dice_set.placed_session
    if (
        rules.reuse.allowed != "always"
        and context.table_open
        and placed is not None
        and placed < context.session_number
    ):
        text = (
            f"Set {name} served in session {placed} and is still at the table. Bring another ({rules.reuse.article})."
        )
        yield Condition(f"set_served_before:{name}", text, {"set": name, "session": placed}, 0)


def _dice(number: int) -> str:
    return "1 die" if number == 1 else f"{number} dice"
