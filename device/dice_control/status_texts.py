"""Where the dice are now in words, with the reserve, who is on duty, and what waits: for text, CSV and page alike."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo

from device.dice_control.dice_history import History
from device.dice_control.dice_state import PLACES
from device.dice_control.log_rows import SetFacts
from device.dice_control.report_words import Words
from device.dice_control.row_texts import explanation_text, moment_text, opening_marks


def status_facts(found: History, words: Words, zone: tzinfo | None) -> list[tuple[str, str]]:
    """When it is of, who is on duty, and whether the reserve is open."""
    when = "" if found.last_at is None else moment_text(found.last_at, zone)
    facts = [("time", when), ("duty", _duty_text(found, words)), ("reserve", _reserve_text(found, words))]
    return [(words(name), said) for name, said in facts if said]


def unexplained_texts(found: History, words: Words) -> list[str]:
    """The openings of the reserve that wait for a reason."""
    return [
        f"{words.of('what', 'reserve_opened')} ({words('of_event', seq=opening.row.seq)}): "
        + "; ".join((explanation_text(opening, words), *opening_marks(opening, words)))
        for opening in found.openings
        if not opening.is_explained
    ]


@dataclass(frozen=True)
class DiePlace:
    """Where a die is now, and what the last inspection said of it, in words."""

    set_name: str
    die: str
    place: str
    state: str


def die_places(found: History, words: Words) -> list[DiePlace]:
    """Every die of every set."""
    return [
        DiePlace(name, die, words.of("place", place), words.of("state", found.states[name][die]))
        for name in found.sets
        for die, place in found.places[name].items()
    ]


@dataclass(frozen=True)
class SetPlaces:
    """A set with facts about it, where its dice are, and what the last inspection said of them."""

    name: str
    facts: str
    where: str
    states: str


def places_text(found: History, words: Words) -> list[SetPlaces]:
    """Every set."""
    sets: list[SetPlaces] = []
    dice = die_places(found, words)
    for name, facts in found.sets.items():
        own = [die for die in dice if die.set_name == name]
        order = [words.of("place", place) for place in PLACES]
        where = sorted(((die.place, die.die) for die in own), key=lambda at: order.index(at[0]))
        sets.append(
            SetPlaces(name, _facts(facts, words), _grouped(where), _grouped([(die.state, die.die) for die in own]))
        )
    return sets


def _facts(facts: SetFacts, words: Words) -> str:
    said = words("set_facts", number=len(facts.dice), maker=facts.maker, colour=facts.colour)
    return said if facts.house_mark is None else f"{said}, {words('house_mark', mark=facts.house_mark)}"


def _grouped(dice: Sequence[tuple[str, str]]) -> str:
    """ "in play: 1, 2; in the reserve: 3"."""
    groups: dict[str, list[str]] = {}
    for said, die in dice:
        groups.setdefault(said, []).append(die)
    return "; ".join(f"{said}: {', '.join(names)}" for said, names in groups.items())


def _duty_text(found: History, words: Words) -> str:
    """Who was said to be on duty last."""
    if found.on_duty is None:
        return ""
    boxman, witness, session = found.on_duty
    return words("duty_in", boxman=boxman, witness=witness, session=session)


def _reserve_text(found: History, words: Words) -> str:
    """Whether the reserve is open; nothing where no lid was ever seen."""
    if found.reserve_open is None:
        return ""
    return words("reserve.open" if found.reserve_open else "reserve.closed")
