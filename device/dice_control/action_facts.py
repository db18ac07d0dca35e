"""What every decision needs: the set and the dice that an action means, the people, and the facts of an event."""

from collections.abc import Iterable, Mapping
from typing import Any

from device.dice_control.dice_context import Context
from device.dice_control.dice_state import IN_PLAY, LOST, DiceSet, DiceState
from device.dice_control.names import same_name
from device.dice_control.rule_judgement import dice_number
from engine_lite.refusal import Refused

PLACE_WORDS = {
    "store": "in the store",
    "reserve": "in the reserve",
    "play": "in play",
    "offered": "before the shooter",
    "floor": "on the floor",
    "inspection": "under inspection",
    "missing": "missing",
    "written_off": "written off as lost",
    "withdrawn": "withdrawn",
    "cancelled": "cancelled",
    "destroyed": "destroyed",
}


def find_set(state: DiceState, parts: Mapping[str, Any]) -> tuple[str, DiceSet]:
    """The set that is named, or the only one at the table. Raises Refused."""
    name = parts.get("set")
    if name is None:
        there = [name for name, _ in state.sets_at_table()]
        if not there:
            raise Refused("unknown_set", "no set of dice is at the table; place one, or name the set")
        if len(there) > 1:
            raise Refused("unknown_set", f"sets {' and '.join(there)} are at the table; name the set")
        name = there[0]
    if name not in state.sets:
        raise Refused("unknown_set", f"no set {name} was received")
    return name, state.sets[name]


def check_dice(state: DiceState, name: str, dice: Iterable[str], places: tuple[str, ...] | None = None) -> None:
    """Refuse a die that is not of the set, or not in one of these places."""
    dice_set = state.sets[name]
    for die in dice:
        if die not in dice_set.dice:
            elsewhere = [
                f"; one of this number is {PLACE_WORDS[other.dice[die].place]}, in set {other_name}"
                for other_name, other in state.sets.items()
                if die in other.dice and other.numbered_by == "serial"
            ]
            has = f"set {name} has {len(dice_set.dice)} dice, {', '.join(dice_set.dice)}"
            raise Refused("unknown_die", f"{has}, and no die {die}{''.join(elsewhere)}")
        place = dice_set.dice[die].place
        if places is not None and place not in places:
            wanted = " or ".join(PLACE_WORDS[place] for place in places)
            raise Refused("wrong_place", f"die {die} of set {name} is {PLACE_WORDS[place]}, not {wanted}")


def check_in_play(state: DiceState, name: str, targets: Mapping[str, str], *, both: bool = False) -> None:
    """Refuse what would leave more than two dice in play, or with `both` not two."""
    after = [(other, die) for other, die in state.at("play") if other != name or targets.get(die, "play") == "play"]
    after += [(name, die) for die, to in targets.items() if to == "play" and (name, die) not in after]
    if len(after) > IN_PLAY or (both and len(after) != IN_PLAY):
        now = ", ".join(f"{die} of set {other}" for other, die in state.at("play")) or "none"
        raise Refused("two_in_play", f"{dice_number(len(after))} would be in play, not {IN_PLAY}; in play now: {now}")


def moves(name: str, dice_set: DiceSet, targets: Mapping[str, str]) -> list[dict[str, str]]:
    """The changes of place that bring each die where it is to be, in the set's order."""
    return [
        {"set": name, "die": die, "from": there.place, "to": targets[die]}
        for die, there in dice_set.dice.items()
        if die in targets and targets[die] != there.place
    ]


def game_facts(action: str, parts: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """What stands in every event: the action, the rules, the game, the note."""
    facts: dict[str, Any] = {
        "action": action,
        "rules": context.rules.name,
        "session": coming_session(context) if for_coming(action, parts) else context.session_number,
        "shooter": context.shooter,
        "roll_number": context.roll_number,
        "rolls_in_series": context.rolls_in_series,
        "point": context.point,
        "phase": "come_out" if context.point is None else "point",
    }
    if "note" in parts:
        facts["note"] = parts["note"]
    return facts


def for_coming(action: str, parts: Mapping[str, Any]) -> bool:
    """Whether an action, done while the table is closed, is for the session to come."""
    return action in ("on_duty", "place", "offer", "change") or parts.get("count") == "opening"


def coming_session(context: Context) -> int:
    """The session that is on, or comes next."""
    return context.session_number if context.table_open else context.session_number + 1


def signatures(state: DiceState, parts: Mapping[str, Any], context: Context) -> dict[str, str]:
    """Who did it and who saw it: named, or the two on duty. Raises Refused, also where both are one person."""
    done_by = parts.get("done_by") or on_duty(state, context, "boxman")
    seen_by = parts.get("seen_by") or on_duty(state, context, "witness")
    if done_by is None or seen_by is None:
        field = "done_by" if done_by is None else "seen_by"
        raise Refused("needs_name", f"nobody is on duty in this session; say who is, or name {field}")
    if same_name(done_by, seen_by):
        raise Refused("same_name", f"{done_by} cannot witness what {done_by} did; name another person as seen_by")
    return {"done_by": done_by, "seen_by": seen_by}


def on_duty(state: DiceState, context: Context, role: str) -> str | None:
    """The boxman or the witness on duty in this session, or while the table is closed in the one before or after."""
    duty = state.duty
    if duty is None or duty["session"] not in (context.session_number, coming_session(context)):
        return None
    name: str = duty[role]
    return name


def asked(state: DiceState, parts: Mapping[str, Any], context: Context, reason: str) -> dict[str, str | None]:
    """Who asked for a change of dice: as it was said, or as the reason itself says; of others nobody is made up."""
    by_reason = {
        "shooter_request": "shooter",
        "player_request": "player",
        "inspector_request": "inspector",
        "boxman_order": "boxman",
    }
    who = parts.get("asked_by", by_reason.get(reason))
    known = {"shooter": context.shooter, "boxman": parts.get("done_by") or on_duty(state, context, "boxman")}
    return {"asked_by": who, "asked_by_name": parts.get("asked_by_name", known.get(who))}


def opening_facts(
    state: DiceState, context: Context, reason: str | None, made: Iterable[Mapping[str, str]], *, reserve: bool
) -> dict[str, Any]:
    """The opening that a deed belongs to which takes dice from the reserve, puts them there or counts them.

    While the lid is open, every deed belongs to that opening, whatever its reason. When it is shut again, deeds that
    are entered afterwards still belong to it until it has a reason, and once it has one, those of the same reason; but
    only until a roll is entered, or the table is opened for another session: two hands may have done them before the
    lid was shut. Any other deed belongs to none, and one that moves dice then marks that the lid was not opened
    (`rule_judgement.lid_shut`), or where nobody could see the lid says that instead.

    A reason that was given while the lid is open, by an explanation or a count, gives way to that of a deed which
    moves dice in or out of the reserve before it is shut.
    """
    if not reserve:
        return {"opening": None}
    # Where no lid was ever seen, there is none.
    said: dict[str, Any] = {"lid": "unseen"} if context.lid_unseen and state.reserve_open is not None else {}
    opening = state.current_opening()
    if opening is None:
        last = state.last_opening
        return said | {"opening": last["seq"] if last is not None and last["reason"] == reason else None}
    said["opening"] = opening.seq
    if opening.through is not None:
        # It stands for others (OPENINGS_MAX): what explains it explains them.
        said["through"] = opening.through
    if opening.reason not in (None, reason) and not opening.moved and not opening.late and touches_reserve(made):
        said["instead_of"] = opening.reason
    return said


def check_supervisor(state: DiceState, context: Context, name: str, what: str) -> None:
    """Refuse one of those on duty now, or until now, and one whom the configuration does not list as a supervisor.

    `what` says what a supervisor must do.
    """
    for role in ("boxman", "witness"):
        if state.duty is not None and same_name(name, state.duty[role]):
            raise Refused("same_name", f"{name} is the {role} on duty; a supervisor must {what}")
    if context.supervisors is not None and not any(same_name(name, other) for other in context.supervisors):
        raise Refused("not_a_supervisor", f"{name} is none of the supervisors of this table; one of them must {what}")


def point_now(context: Context) -> int | None:
    """The point of the series that is on; what is done while the table is closed is before the next come-out."""
    return context.point if context.table_open else None


def fell(state: DiceState, name: str, context: Context, targets: Mapping[str, str]) -> bool:
    """Whether a die of the set is off the table since this series, by the log or by what is recorded now.

    A void throw off the table says so too, where nobody named the die.
    """
    now = series(context)
    dice = state.sets[name].dice.values()
    return state.game.off_table or any(die.fell_in == now for die in dice) or any(to in LOST for to in targets.values())


def touches_play(made: Iterable[Mapping[str, str]]) -> bool:
    """Whether dice come into play or are taken out of it, as in a change of dice; a lost die is none."""
    return any("play" in (move["from"], move["to"]) and move["to"] not in LOST for move in made)


def touches_reserve(made: Iterable[Mapping[str, str]]) -> bool:
    """Whether dice left the reserve or came into it."""
    return any("reserve" in (move["from"], move["to"]) for move in made)


def series(context: Context) -> list[int]:
    """What tells this series of throws from any other: the session, and the roll before its first."""
    return [context.session_number, context.roll_number - context.rolls_in_series]
