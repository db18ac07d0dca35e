"""Who may do what at a table: people with their roles, who is signed in, and how often a wrong PIN was tried.

This is what the journal says of them, so it survives a power cut and holds no PIN, nor anything that a PIN could be
found out from (that is in `device.people_file`). Pure.

The journal events
==================
people_listed   people: all of them, [{"name", "role", "pins"}]; `pins` counts how often a PIN was set, 0: never
signed_in       name, role
signed_out      name, why: asked, idle, elsewhere (signed in on another page), removed, changed (the PIN),
                interrupted (nothing could be recorded any more)
pin_wrong       name, wrong: the wrong tries since the last right one, locked_s: for how long nothing is tried after it
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from device.dice_control.names import same_name
from engine_lite.refusal import Refused

SUPERVISOR: Final = "supervisor"
ROLES: Final = (SUPERVISOR, "boxman", "technician")
PEOPLE_MAX: Final = 100
EVENTS: Final = ("people_listed", "signed_in", "signed_out", "pin_wrong")

TRIES_MAX: Final = 5
"""So many wrong PINs, and nothing is tried for a while."""
LOCK_S: Final = 60
LOCK_S_MAX: Final = 3_600

SIGN_IN_FIRST: Final = "a supervisor must sign in with a PIN to do this"


@dataclass(frozen=True)
class Person:
    """What a person is here, and how often their PIN was set (0: they have none and cannot sign in)."""

    role: str
    pins: int


@dataclass
class People:
    """The people of a table, by name. Read freely; change it only by `take`."""

    people: dict[str, Person] = field(default_factory=dict)
    signed_in: list[str] = field(default_factory=list)
    wrong: dict[str, int] = field(default_factory=dict)

    @property
    def supervisors(self) -> tuple[str, ...] | None:
        """The supervisors who can sign in; None where nobody can, and a supervisor's word is a name only."""
        found = tuple(name for name, person in self.people.items() if person.role == SUPERVISOR and person.pins)
        return found or None

    def check_supervisor(self, name: str, signed_in: str | None) -> None:
        """Refuse what `name` does as a supervisor, unless it is the supervisor who is `signed_in` (None: nobody is).

        Where no supervisor has a PIN, nothing is refused.
        """
        if self.supervisors is None:
            return
        if signed_in is None or self.role_of(signed_in) != SUPERVISOR:
            raise Refused("needs_sign_in", SIGN_IN_FIRST)
        if not same_name(name, signed_in):
            raise Refused("needs_sign_in", f"{signed_in} is signed in; {name} must sign in to do this")

    def role_of(self, name: str) -> str | None:
        """The role of a person, None for a name that is not among them."""
        person = self.people.get(name)
        return None if person is None else person.role

    def known_as(self, name: str) -> str | None:
        """The name under which a person is listed that reads like `name`."""
        return next((known for known in self.people if same_name(known, name)), None)

    def lock_s(self, name: str) -> int:
        """For how long nothing is tried after the wrong tries so far."""
        return lock_s(self.wrong.get(name, 0))

    def take(self, kind: str, data: Mapping[str, Any]) -> None:
        """Take one of EVENTS on. Raises ValueError for another one."""
        match kind:
            case "people_listed":
                listed = {said["name"]: Person(said["role"], said["pins"]) for said in data["people"]}
                # A new PIN ends what was tried against the former one.
                same = {name for name, person in listed.items() if self.people.get(name) == person}
                self.wrong = {name: tries for name, tries in self.wrong.items() if name in same}
                self.people = listed
            case "signed_in":
                self.wrong = {name: tries for name, tries in self.wrong.items() if name != data["name"]}
                self.signed_in = [*(name for name in self.signed_in if name != data["name"]), data["name"]]
            case "signed_out":
                self.signed_in = [name for name in self.signed_in if name != data["name"]]
            case "pin_wrong":
                self.wrong = self.wrong | {data["name"]: data["wrong"]}
            case _:
                raise ValueError(f"{kind} is no event of people")

    def sign_all_out(self) -> None:
        """The terminal has started or stopped: nobody is signed in."""
        self.signed_in = []


def lock_text(name: str, wrong: int) -> str:
    """What those at the table are told when nothing more is tried for a while."""
    return f"{wrong} wrong PINs in a row were entered for {name}. PINs are refused for a while; find out who tried."


def lock_s(wrong: int) -> int:
    """For how long nothing is tried after so many wrong tries in a row: longer with each."""
    if wrong < TRIES_MAX:
        return 0
    # Bounded before the power, which would be a number of thousands of digits.
    return min(LOCK_S << min(wrong - TRIES_MAX, 16), LOCK_S_MAX)
