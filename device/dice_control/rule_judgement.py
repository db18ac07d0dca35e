"""Where dice, or what is done with them, break a rule: named with its article, never prevented."""

from collections.abc import Iterable, Iterator

from device.dice_control.dice_context import Context
from device.dice_control.dice_rules import DiceRules
from device.dice_control.dice_state import DiceSet, DiceState

Broken = dict[str, str]


def set_unfit(rules: DiceRules, name: str, dice_set: DiceSet, session: int, number: int) -> Iterator[Broken]:
    """What keeps a set of which `number` dice are at hand from serving in a session, apart from its inspection."""
    if not rules.in_set.holds(number):
        text = f"Set {name} has {number} dice at hand; the rules ask for {rules.in_set.said()}."
        yield _broken("in_set", rules.in_set.article, text)
    if rules.serials.required and dice_set.numbered_by != "serial":
        yield _broken("serials", rules.serials.article, f"The dice of set {name} have no serial numbers.")
    if rules.house_mark.required and dice_set.house_mark is None:
        yield _broken("house_mark", rules.house_mark.article, f"The dice of set {name} do not carry the house's mark.")
    if dice_set.edge_hundredths_mm is not None:
        yield from edge_wrong(rules, f"The dice of set {name}", dice_set.edge_hundredths_mm)
    last = dice_set.last_session
    if last is None or last == session:
        return
    if rules.reuse.allowed == "never":
        yield _broken("reuse", rules.reuse.article, f"Set {name} is not new: it served in session {last}.")
    elif rules.reuse.allowed == "not_next_session" and last == session - 1:
        text = f"Set {name} served in the session before; the dice must be others."
        yield _broken("reuse", rules.reuse.article, text)


def edge_wrong(rules: DiceRules, whose: str, edge: int) -> Iterator[Broken]:
    """An edge, in hundredths of a millimetre, that is too short or too long; `whose` begins the sentence."""
    if rules.edge is None or rules.edge.holds(edge):
        return
    bounds = f"{_mm(rules.edge.minimum)} to {_mm(rules.edge.maximum or 0)}"
    yield _broken("edge", rules.edge.article, f"{whose}: edge {_mm(edge)} mm; the rules ask for {bounds} mm.")


def not_inspected(rules: DiceRules, name: str, dice_set: DiceSet, dice: Iterable[str]) -> Iterator[Broken]:
    """Dice that go into play without an inspection, or although it found them unsound."""
    article = rules.inspection.article
    if unchecked := [die for die in dice if dice_set.dice[die].state == "unchecked"]:
        text = f"{named(unchecked)} of set {name} not inspected before use."
        yield _broken("inspection", article, text)
    if unsound := [die for die in dice if dice_set.dice[die].state == "unsound"]:
        yield _broken("sound", article, f"{named(unsound)} of set {name} found unsound, and used.")


def back_unchecked(rules: DiceRules, name: str, dice: Iterable[str]) -> Iterator[Broken]:
    """Dice that were off the table or under inspection and go back without a good inspection."""
    if back := list(dice):
        text = f"{named(back)} of set {name} back on the table without being inspected and found sound."
        yield _broken("after_floor", rules.after_floor.article, text)


def change_forbidden(rules: DiceRules, reason: str, context: Context) -> Iterator[Broken]:
    """A change of dice for a reason for which there may be none now."""
    change = rules.changes[reason]
    during_series = context.point is not None
    if not (change.during_series if during_series else change.come_out):
        when = f"during the series for point {context.point}" if during_series else "before the come-out throw"
        yield _broken("change", change.article, f"No change of dice ({reason.replace('_', ' ')}) {when}.")


def too_few_offered(rules: DiceRules, name: str, dice_set: DiceSet, number: int, reason: str) -> Iterator[Broken]:
    """Fewer dice before the shooter than the rules ask for."""
    if reason == "die_off_table":
        # He chooses among those that are left.
        return
    asked = max(len(dice_set.dice), rules.offered.minimum) if rules.offered.whole_set else rules.offered.minimum
    if number < asked:
        text = f"{number} dice of set {name} were offered; the rules ask for {asked}."
        yield _broken("offered", rules.offered.article, text)


def too_many_at_table(rules: DiceRules, state: DiceState, name: str, coming: int) -> Iterator[Broken]:
    """A set that comes to the table while dice of another lie there."""
    others = sorted({other for other, _ in state.sets_at_table() if other != name})
    if others:
        there = sum(len(state.sets[other].at("reserve", "play", "offered")) for other in others)
        text = (
            f"Set {name} came to the table while set {', '.join(others)} was there: "
            f"{coming + there} dice; the rules ask for {rules.in_set.said()}."
        )
        yield _broken("in_set", rules.in_set.article, text)


def inspection_short(
    rules: DiceRules, checked: Iterable[str], instruments: Iterable[str], *, returning: bool
) -> Iterator[Broken]:
    """Checks and instruments that an inspection left out; `returning`: of dice that were off the table."""
    asked = rules.after_floor.checks if returning else tuple(rules.checks)
    done = set(checked)
    for check in asked:
        if check not in done:
            said = rules.checks[check]
            yield _broken(f"check:{check}", said.article, f"Not checked: {said.text}.")
    used = set(instruments)
    if not returning:
        for instrument in rules.inspection.instruments:
            if instrument not in used:
                text = f"Inspected without the {instrument.replace('_', ' ')}."
                yield _broken(f"instrument:{instrument}", rules.inspection.instruments_article, text)


def named(dice: list[str]) -> str:
    """ "Die 3" or "Dice 3 and 4"."""
    if len(dice) == 1:
        return f"Die {dice[0]}"
    return f"Dice {', '.join(dice[:-1])} and {dice[-1]}"


def _broken(rule: str, article: str, text: str) -> Broken:
    return {"rule": rule, "article": article, "text": text}


def _mm(hundredths: int) -> str:
    return f"{hundredths // 100}.{hundredths % 100:02}"
