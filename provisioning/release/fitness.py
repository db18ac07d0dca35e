"""Whether a release may take the place of the one that runs, and why not: plain decisions from plain values."""

from dataclasses import dataclass

from provisioning.release.facts import Facts


@dataclass(frozen=True)
class Unit:
    """A unit as an update finds it: the release in force, and the version of the journal's database (None: no journal).

    `python` is the system's, such as 3.11. `open_session`: the table is open, so that a session is going on.
    """

    facts: Facts
    python: str
    journal: int | None
    open_session: bool


def why_unsigned(facts: Facts, signer: str | None) -> str | None:
    """Why a bundle that `signer` has signed (None: nobody) is not one for a unit with these facts; None: it is."""
    if not facts.key:
        return "this installation names no release key, so nothing can be told from a forgery; install a package"
    if signer is None:
        return "is not signed; it must be signed with the release key"
    if signer != facts.key:
        return f"is signed with {signer}, not with this installation's release key {facts.key}"
    return None


def why_unfit(new: Facts, unit: Unit) -> str | None:
    """Why the release `new`, whose signature is right, must not take over now; None: it may."""
    now = unit.facts
    if new.version == now.version:
        return f"{new.version} is in force already"
    if new.architecture != now.architecture:
        return f"{new.version} is for {new.architecture}, this computer is {now.architecture}"
    if unit.python not in new.pythons:
        return f"{new.version} is for Python {' or '.join(new.pythons)}, this system has {unit.python}"
    if unit.journal is not None and unit.journal not in new.journals:
        return f"{new.version} does not read this table's journal, of version {unit.journal}"
    if new.journal not in now.journals or new.event != now.event:
        # Once it had opened the journal, there would be no way back.
        return (
            f"{now.version} could not read a journal that {new.version} has written, and so could not come back; "
            "a release between them must be installed first"
        )
    if unit.open_session:
        return "the table is open; close it first, an update never comes in the middle of a session"
    return None
