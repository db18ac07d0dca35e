"""Where dice, or what is done with them, break a rule: named with its article, never prevented."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from device.dice_control.dice_rules import DiceRules
from device.dice_control.dice_state import IN_PLAY, DiceSet, DiceState
from device.dice_control.names import folded_mark, same_name

# {"rule", "article", "text", and where the text names more than these, "detail"}: see `dice_log`.
Broken = dict[str, Any]

_NUMBER = r"(\d+(?:[.,]\d+)?)"
# A length that a micrometer showed, or two between which it lay: "20.05 mm", "20,05 to 20,10 mm".
_LENGTH = re.compile(rf"(?:{_NUMBER} ?(?:-|\u2013|to) ?)?{_NUMBER} ?mm\b")
# What is shorter is no edge of a die, but a tolerance.
_EDGE_MIN = 500


def set_unfit(
    rules: DiceRules, state: DiceState, name: str, dice_set: DiceSet, session: int, number: int
) -> Iterator[Broken]:
    """What keeps a set of which `number` dice are at hand from serving in a session, apart from its inspection.

    The session before is the last in which dice were in play for a roll: a table that is opened and closed without
    one uses no dice.
    """
    if not rules.in_set.holds(number):
        text = f"Set {name} has {dice_number(number)} at hand; the rules ask for {rules.in_set.said()}."
        yield _broken("in_set", rules.in_set.article, text, set=name, number=number, asked=rules.in_set.said())
    if rules.serials.required and dice_set.numbered_by != "serial":
        yield _broken("serials", rules.serials.article, f"The dice of set {name} have no serial numbers.", set=name)
    if rules.house_mark.required and dice_set.house_mark is None:
        text = f"The dice of set {name} do not carry the house's mark."
        yield _broken("house_mark", rules.house_mark.article, text, set=name)
    if dice_set.edge_hundredths_mm is not None:
        yield from edge_wrong(rules, name, None, dice_set.edge_hundredths_mm)
    last = dice_set.last_session
    if last is not None and last != session:
        yield from reused(rules, state, name, last, session)


def reused(rules: DiceRules, state: DiceState, name: str, last: int, session: int) -> Iterator[Broken]:
    """A set that is to serve in a session, or serves in it, and served in session `last` before."""
    if rules.reuse.allowed == "never":
        text = f"Set {name} is not new: it served in session {last}."
        yield _broken("reuse", rules.reuse.article, text, set=name, session=last)
    elif rules.reuse.allowed == "not_next_session" and last >= (state.played_before(session) or 0):
        text = f"Set {name} served in the session before; the dice must be others."
        yield _broken("reuse", rules.reuse.article, text, set=name, session=last)


def wrong_number(rules: DiceRules, name: str, number: int) -> Iterator[Broken]:
    """A set that is received with more or fewer dice than the rules ask for."""
    if not rules.in_set.holds(number):
        text = f"Set {name} has {dice_number(number)}; the rules ask for {rules.in_set.said()}."
        yield _broken("in_set", rules.in_set.article, text, set=name, number=number, asked=rules.in_set.said())


def edge_wrong(rules: DiceRules, name: str, die: str | None, edge: int) -> Iterator[Broken]:
    """An edge, in hundredths of a millimetre, that is too short or too long: of one die, or of all of the set."""
    if rules.edge is None or rules.edge.holds(edge):
        return
    minimum, maximum = rules.edge.minimum, rules.edge.maximum or 0
    whose = f"The dice of set {name}" if die is None else f"Die {die} of set {name}"
    text = f"{whose}: edge {_mm(edge)} mm; the rules ask for {_mm(minimum)} to {_mm(maximum)} mm."
    detail: dict[str, Any] = {"set": name} | ({} if die is None else {"dice": [die]})
    detail |= {"edge_hundredths_mm": edge, "minimum_hundredths_mm": minimum, "maximum_hundredths_mm": maximum}
    yield _broken("edge", rules.edge.article, text, **detail)


def edges_shown(showed: str) -> list[int]:
    """The edges that a micrometer showed, in hundredths of a millimetre: what its text gives in millimetres."""
    numbers = [number.replace(",", ".") for found in _LENGTH.findall(showed) for number in found if number]
    edges = [round(float(number) * 100) for number in numbers]
    return [edge for edge in edges if edge >= _EDGE_MIN]


def destroyed_again(state: DiceState, name: str, serials: Iterable[str], maker: str) -> Iterator[Broken]:
    """Serial numbers of a new set that dice of the same maker carried which were destroyed."""
    coming = {folded_mark(serial): serial for serial in serials}
    before = [(other, gone.maker, gone.serials) for other, gone in state.destroyed.items()]
    before += [
        (other, known.maker, known.at("destroyed"))
        for other, known in state.sets.items()
        if known.numbered_by == "serial"
    ]
    for other, made_by, destroyed in before:
        if again := [coming[folded_mark(serial)] for serial in destroyed if folded_mark(serial) in coming]:
            if not same_name(made_by, maker):
                continue
            were = "a die of this number was" if len(again) == 1 else "dice of these numbers were"
            text = f"{named(again)} of set {name}: {were} destroyed in set {other}."
            yield _broken("destroyed", "house", text, set=name, dice=again, others=[other])


def not_inspected(
    rules: DiceRules, name: str, dice_set: DiceSet, dice: Iterable[str], *, used: bool = True
) -> Iterator[Broken]:
    """Dice that go into play, or with `used` false may come to it, without an inspection or although found unsound."""
    article = rules.inspection.article
    if unchecked := [die for die in dice if dice_set.dice[die].state == "unchecked"]:
        text = f"{named(unchecked)} of set {name} not inspected before use."
        yield _broken("inspection", article, text, set=name, dice=unchecked)
    if unsound := [die for die in dice if dice_set.dice[die].state == "unsound"]:
        text = f"{named(unsound)} of set {name} found unsound{', and used' if used else ''}."
        yield _broken("sound", article, text, set=name, dice=unsound)


def back_unchecked(rules: DiceRules, name: str, dice: Iterable[str]) -> Iterator[Broken]:
    """Dice that were off the table or under inspection and go back without a good inspection."""
    if back := list(dice):
        text = f"{named(back)} of set {name} back on the table without being inspected and found sound."
        yield _broken("after_floor", rules.after_floor.article, text, set=name, dice=back)


def change_forbidden(rules: DiceRules, reason: str, point: int | None, *, fell: bool = False) -> Iterator[Broken]:
    """A change of dice for a reason for which there may be none while the point is `point` (None: on the come-out).

    `fell`: by the log a die of the set is off the table since this series; without one, nothing is believed that only
    a fallen die allows. For a reason that is none for a change, such as a count, it is judged as the boxman's order.
    """
    change = rules.changes.get(reason, rules.changes["boxman_order"])
    said, when = reason.replace("_", " "), "before the come-out throw"
    if point is not None:
        when = f"during the series for point {point}"
    if not (change.come_out if point is None else change.during_series):
        yield _broken("change", change.article, f"No change of dice ({said}) {when}.", reason=reason, point=point)
    elif (
        reason == "die_off_table" and point is not None and not fell and not rules.changes["boxman_order"].during_series
    ):
        text = f"No change of dice ({said}) {when}: by the log no die left the table in it."
        yield _broken("change", change.article, text, reason=reason, point=point, fell=False)


def lid_shut(
    state: DiceState, made: Iterable[Mapping[str, str]], opening: int | None, *, entry: bool = False
) -> Iterator[Broken]:
    """Dice that left the reserve or came into it while no opening of its lid is known to which that belongs.

    `entry`: only the log was put right, and nobody knows when they did.
    """
    if state.reserve_open is not False or opening is not None:
        return
    if any("reserve" in (move["from"], move["to"]) for move in made):
        if entry:
            yield _broken("no_opening", "house", "No opening of the reserve accounts for what the log is put right by.")
        else:
            yield _broken("lid_shut", "house", "Dice left or entered the reserve, but its lid was not opened.")


def uncounted_correction(name: str, dice: list[str]) -> Broken:
    """Dice whose places in the log were corrected although no count had seen them there."""
    saw = "it" if len(dice) == 1 else "them"
    text = f"{named(dice)} of set {name} put elsewhere in the log without a count that saw {saw} there."
    return _broken("correction", "house", text, set=name, dice=dice)


def back_after_end(name: str, dice_set: DiceSet, dice: Iterable[str]) -> Iterator[Broken]:
    """Dice that are spoken of as lost or there although they were withdrawn or cancelled, which is final."""
    if final := [die for die in dice if dice_set.dice[die].taken_away]:
        were = "was" if len(final) == 1 else "were"
        text = f"{named(final)} of set {name} {were} withdrawn or cancelled before."
        yield _broken("final", "house", text, set=name, dice=final)


def sound_after_fault(rules: DiceRules, name: str, dice_set: DiceSet, dice: Iterable[str]) -> Iterator[Broken]:
    """Dice that are called sound and were found unsound before."""
    for die in dice:
        if (fault := dice_set.dice[die].fault) is not None:
            text = f"Die {die} of set {name} called sound; unsound before: {fault.removesuffix('.')}."
            yield _broken("sound", rules.inspection.article, text, set=name, dice=[die], before=fault)


def too_few_offered(
    rules: DiceRules, name: str, dice_set: DiceSet, number: int, reason: str, *, fell: bool
) -> Iterator[Broken]:
    """Fewer dice before the shooter than the rules ask for; `fell` as in `change_forbidden`."""
    if reason == "die_off_table" and fell:
        # He chooses among those that are left.
        return
    asked = max(len(dice_set.dice), rules.offered.minimum) if rules.offered.whole_set else rules.offered.minimum
    if number < asked:
        were = "was" if number == 1 else "were"
        text = f"{dice_number(number)} of set {name} {were} offered; the rules ask for {asked}."
        yield _broken("offered", rules.offered.article, text, set=name, number=number, asked=str(asked))


def reserve_wrong(rules: DiceRules, name: str, seen: Mapping[str, list[str]]) -> Iterator[Broken]:
    """A reserve that an opening count finds too small or too large, once two dice are in play."""
    number = len(seen.get("reserve", []))
    if len(seen.get("play", [])) == IN_PLAY and not rules.in_reserve.holds(number):
        asked = rules.in_reserve.said()
        text = f"Set {name} has {dice_number(number)} in the reserve; the rules ask for {asked}."
        yield _broken("in_reserve", rules.in_reserve.article, text, set=name, number=number, asked=asked)


def too_many_at_table(rules: DiceRules, state: DiceState, name: str, coming: int) -> Iterator[Broken]:
    """A set that comes to the table while dice of another lie there."""
    others = sorted({other for other, _ in state.sets_at_table() if other != name})
    if others:
        there = sum(len(state.sets[other].at("reserve", "play", "offered")) for other in others)
        text = (
            f"Set {name} came to the table while set {', '.join(others)} was there: "
            f"{coming + there} dice; the rules ask for {rules.in_set.said()}."
        )
        detail = {"set": name, "others": others, "number": coming + there, "asked": rules.in_set.said()}
        yield _broken("in_set", rules.in_set.article, text, **detail)


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


def by_article(broken: Iterable[Mapping[str, str]]) -> dict[str, list[str]]:
    """The texts of what was broken under their articles, each article once."""
    texts: dict[str, list[str]] = {}
    for wrong in broken:
        texts.setdefault(wrong["article"], []).append(wrong["text"])
    return texts


def short(article: str) -> str:
    """An article without what explains it: "II.1", "art. 2.2", "house". The whole of it is in what was broken."""
    return article.partition(" (")[0].partition(": ")[0]


def dice_number(number: int) -> str:
    """ "1 die" or "4 dice"."""
    return "1 die" if number == 1 else f"{number} dice"


def named(dice: list[str]) -> str:
    """ "Die 3" or "Dice 3 and 4"."""
    if len(dice) == 1:
        return f"Die {dice[0]}"
    return f"Dice {', '.join(dice[:-1])} and {dice[-1]}"


def _broken(rule: str, article: str, text: str, **detail: Any) -> Broken:
    said: Broken = {"rule": rule, "article": article, "text": text}
    return said | {"detail": detail} if detail else said


def _mm(hundredths: int) -> str:
    return f"{hundredths // 100}.{hundredths % 100:02}"
