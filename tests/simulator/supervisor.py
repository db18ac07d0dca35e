"""What a supervisor does at the simulated table: corrections of earlier rolls, adjustments, other limits."""

from dataclasses import dataclass
from random import Random
from typing import Any, Final

from device import session_corrections
from device.origin import Origin
from device.session import Entry, Session

SUPERVISOR: Final = "Sol Vega"


@dataclass(frozen=True)
class Decision:
    """One of the decisions of session_corrections, with what it is given; it looks the same in every run."""

    name: str
    arguments: tuple[Any, ...]

    def __call__(self, session: Session, origin: Origin) -> list[Entry]:
        entries: list[Entry] = getattr(session_corrections, self.name)(session, *self.arguments, origin)
        return entries


def some_decision(random: Random, session: Session) -> tuple[dict[str, Any], Decision] | None:
    """What is asked for, and the decision on it; None where there is nothing to correct."""
    if not session.history or session.terms is None:
        return None
    number = random.choice(session.history).number
    at = session.game_seq - (random.random() < 0.1)
    match random.choice(("correct", "correct", "adjust", "limits")):
        case "correct":
            dice = (random.randint(1, 6), random.randint(1, 6))
            asked: dict[str, Any] = {"number": number, "dice": list(dice), "reason": "camera"}
            return asked, Decision("correct_roll", (number, dice, "camera", at))
        case "adjust":
            adjustments = [{"player": random.choice(("1", "5", "9")), "amount": random.choice((-7, 1, 20))}]
            asked = {"number": number, "adjustments": adjustments, "reason": "paid wrongly"}
            return asked, Decision("adjust_settlement", (number, adjustments, "paid wrongly", at))
        case _:
            minimum, maximum = session.terms.minimum, session.terms.maximum + random.choice((-1, 0, 1))
            return {"min": minimum, "max": maximum}, Decision("change_limits", (minimum, maximum))
