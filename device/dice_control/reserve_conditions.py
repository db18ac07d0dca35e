"""What is wrong with the reserve and the dice now. What has happened, and stays wrong, is in `event_alerts`."""

from collections.abc import Iterator
from dataclasses import dataclass

from device.condition import Condition
from device.dice_control.dice_context import Context
from device.dice_control.dice_log import DiceLog
from device.dice_control.dice_state import LOST, SERVING, DiceSet, DiceState, Opening
from device.dice_control.rule_judgement import dice_number, named


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
    if state.rolled_unknown and context.table_open:
        yield _not_two_in_play(state)
    for name, dice_set in state.sets.items():
        if dice_set.at(*SERVING, "missing"):
            yield from _set(name, dice_set, context)


def _open(state: DiceState, context: Context, times: ReserveTimes) -> Iterator[Condition]:
    opening = state.open_opening()
    seq = opening.seq if opening is not None else None
    if context.throwing or (opening is not None and opening.during_roll):
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


def _not_two_in_play(state: DiceState) -> Condition:
    dice = state.at("play")
    sets = list(dict.fromkeys(name for name, _ in dice))
    are = f"{dice_number(len(dice)) if dice else 'no die'} {'are' if len(dice) > 1 else 'is'} in play"
    of = f", of sets {' and '.join(sets)}" if len(sets) > 1 else ""
    text = f"Rolls are entered, but by the log {are}{of}. Record which dice are in play."
    return Condition("dice_in_play", text, {"dice": [list(one) for one in dice]}, 0)


def _slots(state: DiceState, slots: list[int], times: ReserveTimes) -> Iterator[Condition]:
    dice = state.at("reserve")
    if len(slots) == len(dice):
        return
    by_log = ", ".join(f"{die} of set {name}" for name, die in dice)
    are = "there is" if len(dice) == 1 else "there are"
    said = f"{are} {len(dice)}: {by_log}" if dice else "there are none"
    yield Condition(
        "slots_disagree",
        f"The slots of the reserve hold {dice_number(len(slots)) if slots else 'no dice'}, but by the log {said}. "
        f"Count them and record the count.",
        {"occupied": list(slots), "log": [die for _, die in dice]},
        times.slots_ms,
    )


def _set(name: str, dice_set: DiceSet, context: Context) -> Iterator[Condition]:
    rules = context.rules
    series = [context.session_number, context.roll_number - context.rolls_in_series]
    # While the series goes on in which a die left the table, it is looked for and the shooter plays on.
    over = [die for die, said in dice_set.dice.items() if said.left_in not in (None, series)]
    lost = [die for die in over if dice_set.dice[die].place in LOST]
    missing = sorted({*dice_set.at("missing"), *lost}, key=list(dice_set.dice).index)
    if missing:
        text = f"{named(missing)} of set {name} missing. Search; record what is found."
        yield Condition(f"dice_missing:{name}", text, {"set": name, "dice": missing}, 0)
    if not dice_set.at(*SERVING):
        # It was taken away as a whole; what is lost of it is still to be found.
        return
    at_hand = len(dice_set.at(*SERVING, "inspection"))
    # Found afterwards it does not save the set: the rules ask for a new one as soon as the series is over.
    not_back = [die for die in dice_set.dice if die in lost or die in dice_set.found_late]
    if not_back and rules.lost_die.replaces_set:
        text = (
            f"{named(not_back)} of set {name} not found when the series ended: "
            f"withdraw the set and bring a new one ({rules.lost_die.article})."
        )
        yield Condition(f"set_to_replace:{name}", text, {"set": name, "dice": not_back}, 0)
    elif over and at_hand < rules.in_set.minimum:
        text = (
            f"Set {name} has {dice_number(at_hand)} left; the rules ask for {rules.in_set.said()}. "
            f"Bring another set ({rules.in_set.article})."
        )
        yield Condition(f"set_to_replace:{name}", text, {"set": name, "dice": over, "at_hand": at_hand}, 0)
    served = dice_set.first_session
    if (
        rules.reuse.allowed != "always"
        and context.table_open
        and served is not None
        and served < context.session_number
    ):
        text = (
            f"Set {name} served in session {served} and is still at the table. Bring another ({rules.reuse.article})."
        )
        yield Condition(f"set_served_before:{name}", text, {"set": name, "session": served}, 0)
