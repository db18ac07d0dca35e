"""A commissioning from its first step to its report: the table is looked at, the technician is listened to."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from device.clock import Clock
from device.commissioning.machine import Commissioning, Reading, Result
from device.commissioning.progress_file import write_whole
from device.commissioning.report_page import report_page
from device.commissioning.words import Words
from device.data_folder import DataFolder
from drivers.contact_watch import ContactWatch
from provisioning.commissioning_centre import CentreProbe
from provisioning.commissioning_dialogue import KEYS, heading, hint, outcome, prompt, take_line

# A contact that bounces is followed by the millisecond where the pin library has no times of its own.
LOOK_S: Final = 0.001


class Talk(Protocol):
    """The technician's terminal."""

    def say(self, text: str) -> None:
        """Print it."""

    def heard(self) -> str | None:
        """A line that was typed; None while there is none. Raises EOFError when nobody is there any more."""


@dataclass(frozen=True)
class Around:
    """What a commissioning looks at and talks to."""

    watch: ContactWatch
    probe: CentreProbe
    clock: Clock
    talk: Talk


def carry_on(commissioning: Commissioning, around: Around, keep: Callable[[], None]) -> bool:
    """Try the steps that are left; False when the technician leaves. `keep` is called whenever there is more to keep.

    Raises ProgressError from `keep`.
    """
    if commissioning.step is None:
        return True
    watch, talk = around.watch, around.talk
    talk.say(KEYS)
    said: tuple[str, str, str | None] | None = None
    shown: str | None = None
    lamps = [step.signal for step in commissioning.steps if step.kind == "lamp" and step.signal is not None]
    if (taken := commissioning.take(_reading(around))) is not None:
        # The cut of the power, which nobody is to be asked for again.
        talk.say(outcome(taken))
    cut_boot = commissioning.cut_boot
    keep()
    while (step := commissioning.step) is not None:
        results: list[Result] = []
        now = (heading(commissioning, step), prompt(commissioning, around.probe.error), hint(commissioning))
        _tell(talk, said, now)
        said = now
        line = _heard(talk)
        # After the line: whoever says that it is done means the table as it is now. A line that comes as the step ends
        # by itself was meant for it, and not for the next one.
        if (taken := commissioning.take(_reading(around))) is not None:
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
            keep()
        if shown != commissioning.lit:
            shown = commissioning.lit
            watch.set_lamps({name: name == shown for name in lamps})
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


def _reading(around: Around) -> Reading:
    watch = around.watch
    at_ms = time.monotonic_ns() // 1_000_000
    edges = watch.look(at_ms)
    stamp = around.clock.stamp()
    return Reading(
        at_ms,
        watch.levels,
        edges,
        watch.unavailable,
        watch.node_online,
        around.probe.reached,
        stamp.boot,
        stamp.wall,
    )


def write_report(folder: DataFolder, said: dict[str, Any], commissioning: Commissioning, language: str) -> list[Path]:
    """Write a signed report as a page to print and as JSON; where they are. Raises ProgressError."""
    moment = "".join(character for character in said["commissioning"]["ended"][:19] if character.isalnum())
    name = f"commissioned-{said['commissioning']['table']}-{moment}Z"
    page = report_page(said, commissioning.steps, Words(language))
    content = json.dumps(said, ensure_ascii=False, indent=1) + "\n"
    return [write_whole(folder.path, f"{name}.html", page), write_whole(folder.path, f"{name}.json", content)]
