"""What is wrong with the reserve and the dice now. What has happened, and stays wrong, is in `event_alerts`."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from device.condition import Condition
from device.dice_control import rule_judgement as judge
from device.dice_control.dice_context import Context
from device.dice_control.dice_log import DiceLog
from device.dice_control.dice_state import LOST, SERVING, DiceSet, DiceState
from device.dice_control.event_alerts import sets_said
from device.dice_control.reserve_openings import Opening, ShutChange
from device.dice_control.rule_judgement import dice_number, named

# Within this time, in milliseconds, the decoders have settled and told of both: how the lid is and what lies in the
# slots (`drivers.wiring`: at most 250 each). A slot that changes so soon after a closing, or so shortly before an
# opening, belongs to that opening.
SETTLED_MS = 1_000
# Whoever lets the terminal start again and again must not put an alert off: what outlives so many starts has no time
# left.
STARTS_MAX = 2


@dataclass(frozen=True)
class ReserveTimes:
    """How long the reserve may be as it is before it is an alert, in milliseconds."""

    # From closing to a reason.
    explain_ms: int = 30_000
    open_max_ms: int = 60_000
    # A die is put into its slot while the lid is closed.
    slots_ms: int = 5_000
    # From the table's closing to the closing count.
    closing_count_ms: int = 120_000


def conditions(dice: DiceLog, context: Context, times: ReserveTimes) -> Iterator[Condition]:
    """All that is wrong now, the most urgent first."""
    state = dice.state
    if state.reserve_open:
        yield from _open(state, context, times)
    for opening in state.openings:
        yield from _grave(opening, context)
        if opening.closed is not None and opening.waits:
            yield _unexplained(opening, times)
    if state.slots_disagree() and not state.reserve_open and not context.slots_unseen:
        yield _slots(state, times)
    if not context.lid_unseen and state.reserve_open is False and (changed := state.shut_changes()) is not None:
        yield _changed_shut(changed)
    if state.rolled_unknown and context.table_open:
        yield _not_two_in_play(state)
    yield from _game(state, context, times)
    for name, dice_set in state.sets.items():
        if dice_set.at(*SERVING, "missing"):
            yield from _set(name, dice_set, context)


def _open(state: DiceState, context: Context, times: ReserveTimes) -> Iterator[Condition]:
    opening = state.open_opening()
    seq = opening.seq if opening is not None else None
    # At a start the lid is first to say that it is open still.
    at_once = opening is not None and opening.starts >= STARTS_MAX and not context.lid_unseen
    grace_ms = 0 if at_once else times.open_max_ms
    text = f"The dice reserve is open for more than {times.open_max_ms // 1000} s. Close it."
    detail = {"opening": seq, "open_max_ms": times.open_max_ms}
    # Shut and opened again before anybody looked, it is another opening.
    yield Condition("reserve_left_open", text, detail, grace_ms, seq, told_apart_by=("opening",))


def _grave(opening: Opening, context: Context) -> Iterator[Condition]:
    """What has happened with an opening, and is to be known to another person, however short it was."""
    open_now = opening.closed is None
    for family, so, when in (
        ("reserve_open_during_roll", opening.during_roll or (open_now and context.throwing), "during a roll"),
        (
            "reserve_open_while_closed",
            opening.while_closed or (open_now and not context.table_open),
            "while the table was closed",
        ),
    ):
        if so and family not in opening.told:
            text = f"The dice reserve was open {when}. Close it, and say why it was opened."
            yield Condition(f"{family}:{opening.seq}", text, {"opening": opening.seq}, 0, opening.seq, latched=True)


def _game(state: DiceState, context: Context, times: ReserveTimes) -> Iterator[Condition]:
    """What throws and the closing of the table left open."""
    for throw in state.game.unnamed:
        text = "A die left the table in a void throw, and nobody said which. Record it, or have a supervisor see to it."
        grace_ms = 0 if throw.over or throw.starts >= STARTS_MAX else times.explain_ms
        yield Condition(f"dice_not_named:{throw.event}", text, {"event": throw.event}, grace_ms)
    reused = state.game.reused
    if reused is not None and reused.session == context.session_number:
        broken = [
            wrong
            for name, last in reused.sets.items()
            for wrong in judge.reused(context.rules, state, name, last, reused.session)
        ]
        if broken:
            said = " ".join(f"{wrong['text'].removesuffix('.')} ({judge.short(wrong['article'])})." for wrong in broken)
            text = f"Thrown against {context.rules.name}: {said}"
            detail = {"event": reused.event, "rules": context.rules.name, "against_rule": broken}
            yield Condition(f"against_rule:{reused.event}", text, detail, 0, latched=True)
    for closing in state.game.uncounted:
        text = f"Session {closing.session} was closed without a closing count of {sets_said(closing.sets)}."
        detail = {"session": closing.session, "sets": list(closing.sets)}
        # Once the next session goes on, nobody can tell how the dice lay.
        grace_ms = 0 if context.table_open or closing.starts >= STARTS_MAX else times.closing_count_ms
        yield Condition(f"no_closing_count:{closing.session}", text, detail, grace_ms, latched=True)


def _unexplained(opening: Opening, times: ReserveTimes) -> Condition:
    shooter = "no shooter" if opening.shooter is None else f"shooter {opening.shooter}"
    more = f" {opening.further} more openings followed it." if opening.further else ""
    return Condition(
        f"reserve_unexplained:{opening.seq}",
        f"The dice reserve was opened after roll {opening.roll_number} ({shooter}) and no reason was given.{more} "
        f"A supervisor must say why.",
        {
            "opening": opening.seq,
            "closed": opening.closed,
            "roll_number": opening.roll_number,
            "shooter": opening.shooter,
            "further": opening.further,
        },
        times.explain_ms if opening.starts < STARTS_MAX else 0,
        opening.closed,
    )


def _not_two_in_play(state: DiceState) -> Condition:
    dice = state.at("play")
    sets = list(dict.fromkeys(name for name, _ in dice))
    are = f"{dice_number(len(dice)) if dice else 'no die'} {'are' if len(dice) > 1 else 'is'} in play"
    of = f", of sets {' and '.join(sets)}" if len(sets) > 1 else ""
    text = f"Rolls are entered, but by the log {are}{of}. Record which dice are in play."
    return Condition("dice_in_play", text, {"dice": [list(one) for one in dice]}, 0)


def _slots(state: DiceState, times: ReserveTimes) -> Condition:
    slots, dice = state.slots or [], state.at("reserve")
    by_log = ", ".join(f"{die} of set {name}" for name, die in dice)
    are = "there is" if len(dice) == 1 else "there are"
    said = f"{are} {len(dice)}: {by_log}" if dice else "there are none"
    return Condition(
        "slots_disagree",
        f"The slots of the reserve hold {dice_number(len(slots)) if slots else 'no dice'}, but by the log {said}. "
        f"Count them and record the count.",
        {"occupied": list(slots), "log": [die for _, die in dice], "sets": [name for name, _ in dice]},
        # At a start the slots are first to say what they hold.
        times.slots_ms if state.starts_in_disagreement < STARTS_MAX else SETTLED_MS,
    )


def settled_facts(state: DiceState, *, unread: bool = False) -> dict[str, Any]:
    """The data of a `reserve_settled` event: what lies in the slots now that the lid is shut, held against the log.

    `unread`: the slots cannot be seen now, so nothing is held against it until they can.

    A reason that was given before the lid was shut is asked anew where more or fewer dice than the log has are there
    now, and it was not so when the slots had settled the last time. What was recorded since the lid was shut is not
    held against it, and may explain the difference.
    """
    if unread:
        return {"closed": state.settling, "unread": True, "asked_anew": None}
    slots = state.slots or []
    surplus = len(slots) - len(state.at("reserve"))
    opening = state.settling_opening
    as_shut = len(slots) - state.settling_reserve
    anew = opening is not None and all(one not in (0, state.surplus) for one in (surplus, as_shut))
    return {
        "closed": state.settling,
        "occupied": list(slots),
        "surplus": surplus,
        "asked_anew": opening.seq if opening is not None and anew else None,
    }


def _changed_shut(changed: ShutChange) -> Condition:
    times = "" if changed.changes == 1 else f" {changed.changes} times"
    at_start = " It was found so at a start." if changed.initial else ""
    text = (
        f"The slots of the reserve changed{times} without an opening of its lid: {_places(changed.before)} before, "
        f"{_places(changed.after)} now.{at_start} Count the dice."
    )
    alert = f"slots_changed_shut:{changed.event}"
    return Condition(alert, text, asdict(changed), SETTLED_MS, latched=True)


def _places(occupied: list[int]) -> str:
    return "occupied " + ", ".join(map(str, occupied)) if occupied else "all empty"


def _set(name: str, dice_set: DiceSet, context: Context) -> Iterator[Condition]:
    rules = context.rules
    series = [context.session_number, context.roll_number - context.rolls_in_series]
    # While the series goes on in which a die left the table, it is looked for and the shooter plays on.
    over = [die for die, said in dice_set.dice.items() if said.left_in not in (None, series)]
    lost = [die for die in over if dice_set.dice[die].place in LOST]
    missing = [
        die
        for die, said in dice_set.dice.items()
        if said.place == "missing" or (die in lost and said.place != "written_off")
    ]
    if missing:
        text = f"{named(missing)} of set {name} lost. Search; record what is found."
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
            f"withdraw the set and bring a new one ({judge.short(rules.lost_die.article)})."
        )
        detail: dict[str, Any] = {"set": name, "dice": not_back, "article": rules.lost_die.article}
        yield Condition(f"set_to_replace:{name}", text, detail, 0)
    elif over and at_hand < rules.in_set.minimum:
        text = (
            f"Set {name} has {dice_number(at_hand)} left; the rules ask for {rules.in_set.said()}. "
            f"Bring another set ({judge.short(rules.in_set.article)})."
        )
        detail = {"set": name, "dice": over, "at_hand": at_hand}
        detail |= {"asked": rules.in_set.said(), "article": rules.in_set.article}
        yield Condition(f"set_to_replace:{name}", text, detail, 0)
    served = dice_set.first_session
    if (
        rules.reuse.allowed != "always"
        and context.table_open
        and served is not None
        and served < context.session_number
    ):
        last = dice_set.last_session
        # The last in which it served, apart from this one.
        before = (dice_set.previous_session or served) if last in (None, context.session_number) else last
        article = judge.short(rules.reuse.article)
        text = f"Set {name} served in session {before} and is still at the table. Bring another ({article})."
        detail = {"set": name, "session": before, "article": rules.reuse.article}
        yield Condition(f"set_served_before:{name}", text, detail, 0)
