"""A commissioning on the terminal: the table is looked at, and the technician's lines are listened to."""

import time
from typing import Final, Protocol

from device.commissioning.machine import Result
from provisioning.commissioning_bench import Bench
from provisioning.commissioning_dialogue import KEYS, heading, hint, outcome, prompt, take_line

# A contact that bounces is followed by the millisecond where the pin library has no times of its own.
LOOK_S: Final = 0.001


class Talk(Protocol):
    """The technician's terminal."""

    def say(self, text: str) -> None:
        """Print it."""

    def heard(self) -> str | None:
        """A line that was typed; None while there is none. Raises EOFError when nobody is there any more."""


def carry_on(bench: Bench, talk: Talk) -> bool:
    """Try the steps that are left; False when the technician leaves. Raises ProgressError."""
    commissioning = bench.commissioning
    if commissioning.step is None:
        return True
    talk.say(KEYS)
    said: tuple[str, str, str | None] | None = None
    if (taken := bench.look()) is not None:
        # The cut of the power, which nobody is to be asked for again.
        talk.say(outcome(taken))
    cut_boot = commissioning.cut_boot
    bench.keep()
    while (step := commissioning.step) is not None:
        results: list[Result] = []
        now = (heading(commissioning, step), prompt(commissioning, bench.probe.error), hint(commissioning))
        _tell(talk, said, now)
        said = now
        line = _heard(talk)
        # After the line: whoever says that it is done means the table as it is now. A line that comes as the step ends
        # by itself was meant for it, and not for the next one.
        if (taken := bench.look()) is not None:
            results.append(taken)
        elif line is not None:
            told, answered, wrong = take_line(commissioning, line)
            results += answered
            if wrong is not None:
                talk.say(f"    {wrong}")
            said = None
            if told == "left":
                return False
        for result in results:
            talk.say(outcome(result))
        if results or commissioning.cut_boot != cut_boot:
            cut_boot = commissioning.cut_boot
            bench.keep()
        bench.light()
        time.sleep(LOOK_S)
    return True


def _heard(talk: Talk) -> str | None:
    try:
        return talk.heard()
    except EOFError:
        return "q"


def _tell(talk: Talk, before: tuple[str, str, str | None] | None, now: tuple[str, str, str | None]) -> None:
    """Say what has changed."""
    if before is None or before[0] != now[0]:
        talk.say(f"\n{now[0]}")
        before = None
    for indent, was, text in zip(("  ", "    "), before[1:] if before else (None, None), now[1:], strict=True):
        if text is not None and text != was:
            talk.say(indent + text)
