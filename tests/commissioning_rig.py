"""A technician at a virtual table, who does what the commissioning asks for with the virtual table's own hands."""

import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from device.event import canonical
from drivers.header import open_pin_factory
from drivers.virtual_faults import parse_fault
from drivers.virtual_table import DEMO_PINS, VirtualTable
from drivers.wiring import Wiring
from tests.terminal_rig import TerminalProcess, wait_for


def message_of(said: Mapping[str, Any]) -> bytes:
    """What the unit's key signs of a report, as provisioning/README.md has it."""
    return b"\xffboxman commissioning 1\n" + canonical(said["commissioning"]).encode()


# Header only: quick to be tried to the end. A virtual table brings its node and its centre.
SMALL = """
[wiring]
lid = "gpio:2"
on = "gpio:5"
off = "gpio:6"
lamp_on = "gpio:14"
"""
# From one movement of the hands to the next.
HANDS_S = 0.3


def press_until(table: TerminalProcess, name: str, is_seen: Callable[[dict[str, Any]], bool]) -> None:
    """Press a button as a quick finger does, and again where a busy machine has not looked meanwhile.

    `is_seen` is given what the page of the commissioning shows of the step.
    """

    def pressed() -> bool:
        table.hand(press=name)
        now = table.client.get("/api/commissioning").json()["now"]
        return now is None or is_seen(now)

    wait_for(pressed, f"{name} is pressed")


def press_as_asked(table: TerminalProcess, name: str) -> None:
    """Press the button that is asked for."""
    press_until(table, name, lambda now: (now["step"], now["wanted"]) != (name, "closed"))


class PowerCut(BaseException):
    """The machine is without power from here on."""


class Technician:
    """The terminal of a commissioning. What `does` has for a step's name or a prompt is done instead."""

    def __init__(self, folder: Path, wiring: Wiring | None = None) -> None:
        """`folder` is that of the virtual table."""
        self.wiring = wiring or Wiring(DEMO_PINS)
        self.factory: Any = open_pin_factory("mock")
        self.table = VirtualTable(self.wiring, pin_factory=self.factory, folder=folder)
        self.said: list[str] = []
        self.does: dict[str, Callable[[], object]] = {}
        self.lines: list[str] = []
        self.network: Callable[[bool], None] = lambda _plugged: None
        # What is seen of the contacts, once a commissioning looks at them.
        self.levels: Mapping[str, bool] | None = None
        self._heading = ""
        self._slot = ""
        self._lamp: str | None = None
        # Contacts that hands are still to move, and the one that they moved last, each with whether it is closed then.
        self._moves: list[tuple[str, bool]] = []
        self._moved: tuple[str, bool] | None = None
        self._next_move_at: float | None = None

    @property
    def transcript(self) -> str:
        """All that was said."""
        return "\n".join(self.said)

    def fault(self, kind: str, **said: Any) -> None:
        """Let the table have a fault."""
        self.table.set_fault(parse_fault({"kind": kind} | said, self.wiring, seed=7))

    def heard(self) -> str | None:
        """A line, once there is one to be said."""
        self.table.advance()
        self._go_on_moving()
        if self._lamp is not None and self.table.state()["lamps"] == self._lit_alone(self._lamp):
            self._lamp = None
            return "\n"
        return self.lines.pop(0) if self.lines else None

    def _go_on_moving(self) -> None:
        """One thing after the other, each a while after the one before was seen, which a busy node tells late."""
        if self._moved is not None and self.levels is not None:
            name, closed = self._moved
            if self.levels.get(name) is not closed:
                return
        if self._next_move_at is None:
            self._next_move_at = time.monotonic() + HANDS_S
        if self._moves and time.monotonic() >= self._next_move_at:
            self._moved = self._moves.pop(0)
            self._move(*self._moved)
            self._next_move_at = None

    def _move(self, name: str, closed: bool) -> None:
        if name == "lid":
            self.table.set_lid(shut=closed)
        elif name == "door":
            self.table.set_door(shut=closed)
        else:
            self.table.set_slot(int(name.removeprefix("slot_")), occupied=closed)

    def _lit_alone(self, lamp: str) -> dict[str, bool]:
        lamps = [name.removeprefix("lamp_") for name in (*self.wiring.lamps("header"), *self.wiring.lamps("node"))]
        return {name: name == lamp for name in lamps}

    def say(self, text: str) -> None:
        """Hear what is said, and do it."""
        self.said.append(text)
        text = text.strip()
        if text.startswith("["):
            self._heading = text.partition("] ")[2].partition(" (")[0]
            self._lamp = None
            return
        is_prompt = re.match("Put|Turn|Press|Release|Is the lamp|Open|Shut|With|Pull|Plug", text) is not None
        other = self.does.get(text) or (self.does.get(self._heading) if is_prompt else None)
        if other is not None:
            other()
        elif is_prompt:
            self._do(text)

    def _do(self, text: str) -> None:
        table = self.table
        if found := re.match(r"Put puck ([12]) on (\w+), (ON|OFF)", text):
            self._put(found[1], found[2], found[3])
        elif found := re.match(r"Turn the puck over on (\w+), (ON|OFF)", text):
            self._put(self._heading[5], found[1], found[2])
            self.lines.append("\n")
        elif text.startswith("Press"):
            self._press(text, True)
        elif text.startswith("Release"):
            self._press(self._heading, False)
        elif text.startswith("Is the lamp"):
            self._lamp = _name(text)
        elif found := re.match(r"With the lid open, take the die out of place (\d)", text):
            self._slot = f"slot_{found[1]}"
            self._moves += [("lid", False), (self._slot, False)]
        elif text.startswith("Put the die back"):
            self._moves.append((self._slot, True))
            if "shut the lid" in text:
                self._moves.append(("lid", True))
        elif "the lid" in text:
            self._moves.append(("lid", text.startswith("Shut")))
        elif "door" in text:
            self._moves.append(("door", text.startswith("Shut")))
        elif "I/O node" in text:
            self.fault("unplug", away_ms=60_000) if text.startswith("Pull") else table.mend("unplug")
        elif "network" in text:
            self.network(text.startswith("Plug"))
        else:
            assert text.startswith("Pull the plug"), text
            raise PowerCut

    def _put(self, puck: str, place: str, face: str) -> None:
        position: Any = "off" if place == "OFF" else int(place)
        self.table.place_puck(position, "on" if face == "ON" else "off", puck=2 if puck == "2" else 1)

    def _press(self, text: str, down: bool) -> None:
        name = _name(text)
        if name.startswith("dice_key_"):
            self.table.set_dice_key(int(name[-1]), down)
        else:
            self.table.set_button(name, down)


def _name(text: str) -> str:
    """The button or key that a text is about."""
    if found := re.search(r"[Dd]ice key (\d)", text):
        return f"dice_key_{found[1]}"
    if found := re.search(r"box (\d+)", text):
        return f"box_{found[1]}"
    found = re.search(r"\b(ON|OFF|BUY|LAY)\b", text)
    assert found is not None, text
    return found[1].lower()
