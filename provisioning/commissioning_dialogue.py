"""What a commissioning says to the technician on the terminal, and what the technician's lines mean to it."""

from typing import Final, Literal

from device.commissioning.machine import Commissioning, Result
from device.commissioning.steps import CentreReached, Contact, Lit, NodeAnswers, Restarted, Step, Turned
from device.commissioning.words import Words
from device.input_names import said as in_words

KEYS: Final = (
    "Enter: yes, or done    n: no    s WHY: skip    f WHY: it failed    b: back\n"
    "e WHY: end here, skip the rest    q: leave now, go on later"
)
ENGLISH: Final = Words("en")

Told = Literal["nothing", "left", "ended"]


def heading(commissioning: Commissioning, step: Step) -> str:
    """Which of the steps this is."""
    number = commissioning.steps.index(step) + 1
    pin = "" if step.pin is None else f" ({step.pin})"
    return f"[{number}/{len(commissioning.steps)}] {ENGLISH.of_step(step)}{pin}"


def prompt(commissioning: Commissioning, centre_error: str | None) -> str:
    """What the technician is to do now."""
    step, wanted = commissioning.step, commissioning.wanted
    assert step is not None
    match wanted:
        case Contact() if step.kind == "puck":
            return f"Put puck {step.puck} on {step.place.upper()}, {step.face} face up."
        case Contact() if step.kind == "press":
            return f"Press {in_words(step.name)} and hold it for a moment." if wanted.closed else "Release it."
        case Contact() if step.kind == "slot":
            if not wanted.closed:
                return f"With the lid open, take the die out of place {step.place} of the reserve."
            return "Put the die back, and shut the lid." if commissioning.is_last_place else "Put the die back."
        case Contact():
            what = "the lid of the reserve" if step.name == "lid" else "the cabinet's door"
            return f"Shut {what}." if wanted.closed else f"Open {what}."
        case Turned():
            return f"Turn the puck over on {step.place.upper()}, {step.face} face up; press Enter when it lies there."
        case Lit():
            return f"Is {in_words(step.name)} lit, and no other? Enter: yes, n: no."
        case NodeAnswers():
            return "Plug the I/O node in; waiting for it." if wanted.wanted else "Pull the I/O node's cable."
        case CentreReached() if wanted.wanted:
            return f"Plug the network in; waiting for the centre{f' ({centre_error})' if centre_error else ''}."
        case CentreReached():
            return "Pull the network cable."
    assert isinstance(wanted, Restarted)
    return (
        "Pull the plug, wait ten seconds, put it back. Once the machine is up: systemctl stop boxman, and run this "
        "command again. It goes on here."
    )


def hint(commissioning: Commissioning) -> str | None:
    """What keeps the step from going on, as far as it can be seen."""
    step = commissioning.step
    assert step is not None
    if (unread := commissioning.unread) is not None:
        return f"It cannot be used: {unread}."
    if commissioning.others:
        return f"Something else has answered: {', '.join(in_words(name) for name in commissioning.others)}."
    if commissioning.begins_wrong:
        return "It is so already: do the contrary first."
    return None


def outcome(result: Result) -> str:
    """What a step came to, in one line."""
    bounce = "" if result.told_bounce_us is None else f" (bounces for {result.told_bounce_us / 1_000:.1f} ms)"
    if result.verdict == "passed":
        return f"    passed{bounce}"
    names = ", ".join(in_words(name) for name in result.said.split(", ")) if result.reason in _NAMED else result.said
    return f"    {ENGLISH(result.verdict)}: {ENGLISH(f'reason.{result.reason}', said=names)}{bounce}"


_NAMED: Final = ("also", "both_faces")


def take_line(commissioning: Commissioning, line: str) -> tuple[Told, list[Result], str | None]:
    """Do what a line says: whether the dialogue is over, what came of it, and what is wrong with the line."""
    word, _, why = line.strip().partition(" ")
    why = why.strip()
    match word.lower():
        case "" | "y" | "yes" | "n" | "no":
            if not commissioning.is_asked:
                return "nothing", [], "nothing is asked: it goes on by itself when it is seen; s WHY skips it"
            result = commissioning.answer(word.lower() not in ("n", "no"))
            return "nothing", [] if result is None else [result], None
        case "s" | "f" | "e" if not why:
            return "nothing", [], f"say why, such as: {word} no magnet at hand"
        case "s" | "f":
            result = commissioning.put_aside("skipped" if word.lower() == "s" else "failed", why)
            return "nothing", [] if result is None else [result], None
        case "e":
            results = []
            while (result := commissioning.put_aside("skipped", why)) is not None:
                results.append(result)
            return "ended", results, None
        case "b":
            return "nothing", [], None if commissioning.back() else "this is the first step"
        case "q":
            return "left", [], None
        case _:
            return "nothing", [], KEYS
