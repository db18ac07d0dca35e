"""A table without hardware, on the very pins and the very serial line that hardware would use, with faults on demand.

The header is `virtual_pins.VirtualPinFactory`, which `open_pin_factory("mock")` gives; the I/O node is a process of its
own (see virtual_node). How a service uses them:

    node = subprocess.Popen(node_command(folder, with_parent=True))     # from the main thread
    factory = open_pin_factory("mock")
    inputs = TableInputs(wiring, pin_factory=factory, node_port=str(folder / "node"))
    table = VirtualTable(wiring, pin_factory=factory, folder=folder)
    table.place_puck(6, "on"); table.set_lid(shut=False); table.set_slot(3, occupied=False)
    table.set_button("box_6", True); ...80 ms later...; table.set_button("box_6", False)
    table.set_dice_key(3, True); ...80 ms later...; table.set_dice_key(3, False)
    table.set_fault(parse_fault({"kind": "noise", "rate": 50}, wiring, seed=7)); ...; table.mend("noise")
    table.state()                                                       # what one would see
    node.terminate(); node.wait()
"""

import json
import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from drivers.signals import BOXES, POSITIONS, Face, Position, PuckNumber
from drivers.virtual_contact import Contact
from drivers.virtual_faults import CATALOGUE, Fault, LineFault, kind_named, write_line_faults
from drivers.virtual_node import LAMPS, make_keys, monotonic_ms, node_lamps, set_node_pin
from drivers.virtual_pins import VirtualPinFactory
from drivers.wiring import BUTTONS, DEFAULT_PINS, DICE_KEYS, GROUPS, SLOTS, Pin, Wiring

TABLE = "table.json"

# What a virtual table is wired to where nothing is configured: all of the default, six dice in the reserve, a door.
DEMO_PINS: Mapping[str, Pin] = {
    **DEFAULT_PINS,
    **{name: Pin("node", pin) for name, pin in zip(SLOTS[:6], range(16, 22), strict=True)},
    "door": Pin("node", 22),
}

log = logging.getLogger(__name__)


class VirtualTable:
    """Pucks, buttons, lid, slots, door and dice keys on the pins that `wiring` names, of the header and of the node.

    Pucks, lid, slots and door stay as they were left, in `folder`, when a program starts again; a new table, and one
    whose file cannot be read, has its pucks off, lid and door shut and a die in every slot. Faults end with the
    program. `now_ms` is the time in which contacts bounce. Raises OSError when there can be no such folder.
    """

    def __init__(
        self,
        wiring: Wiring,
        *,
        pin_factory: VirtualPinFactory,
        folder: Path,
        now_ms: Callable[[], int] = monotonic_ms,
    ) -> None:
        self.wiring = wiring
        self._factory = pin_factory
        self._folder = folder
        self._now_ms = now_ms
        self._pucks: dict[PuckNumber, tuple[Position | None, Face]] = {1: ("off", "off"), 2: ("off", "off")}
        self._shut = True
        self._door_shut = True
        self._occupied = dict.fromkeys(SLOTS, True)
        self._faults: dict[tuple[str, str | None], LineFault] = {}
        self._node_pins = wiring.inputs("node")
        self._contacts = {name: Contact(name) for name in (*wiring.inputs("header"), *self._node_pins)}
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / TABLE).exists():
            self._take_up(folder / TABLE)
        self._pull()
        for name, pin in wiring.inputs("header").items():
            pin_factory.pin(pin).connect(self._contacts[name], now_ms)
        try:
            make_keys(folder, "table")
            write_line_faults(folder, [])
            for name, pin in self._node_pins.items():
                self._contacts[name].changes(now_ms())
                set_node_pin(folder, pin, self._contacts[name].level)
        except OSError as error:
            # The header's side of the table works without.
            log.warning("the virtual node in %s cannot be used: %s", folder, error)

    # What a hand does

    def place_puck(self, position: Position | None, face: Face, *, puck: PuckNumber = 1) -> None:
        """Put a puck down with this face up; None lifts it. A place's sensor sees one face only.

        ValueError: there is no such place, face or puck.
        """
        if not self._wired(puck):
            raise ValueError(f"there is no puck {puck}")
        if position is not None and position not in POSITIONS:
            raise ValueError(f"there is no place {position!r} for the puck")
        if face not in ("on", "off"):
            raise ValueError(f"the puck has no face {face!r}")
        self._pucks[puck] = (position, face)
        self._changed()

    def set_lid(self, *, shut: bool) -> None:
        """Shut or open the lid of the dice reserve."""
        self._shut = shut
        self._changed()

    def set_door(self, *, shut: bool) -> None:
        """Shut or open the cabinet's door. ValueError: it has no switch."""
        if not self.has_door:
            raise ValueError("there is no switch at a door")
        self._door_shut = shut
        self._changed()

    def set_slot(self, slot: int, *, occupied: bool) -> None:
        """Put a die into a place of the reserve, 1 to 8, or take it out. ValueError: it has no sensor."""
        if f"slot_{slot}" not in self._contacts:
            raise ValueError(f"there is no slot {slot}")
        self._occupied[f"slot_{slot}"] = occupied
        self._changed()

    def set_button(self, name: str, down: bool) -> None:
        """Press or release a status button (on, off, buy, lay) or a box button (box_4 ... box_10). ValueError."""
        if name not in self.buttons:
            raise ValueError(f"there is no button {name!r}")
        self._contacts[name].move(down, self._now_ms())
        self.advance()

    def set_dice_key(self, key: int, down: bool) -> None:
        """Press or release a dice key, 1 to 6. ValueError: there is none; FileNotFoundError: there was never a node."""
        name = f"dice_key_{key}"
        if name not in self._contacts:
            raise ValueError(f"there is no dice key {key}")
        if name in self._node_pins and not (self._folder / LAMPS).exists():
            raise FileNotFoundError(f"there has been no virtual node in {self._folder}")
        self._contacts[name].move(down, self._now_ms())
        self.advance()

    def advance(self) -> bool:
        """Let time pass for the contacts; whether one still bounces.

        A header pin also does so when it is read; a contact of the node needs this call, every millisecond or so.
        """
        now_ms = self._now_ms()
        moving = False
        # A puck is lifted before it is put down: no two sensors see it at once.
        for name, contact in sorted(self._contacts.items(), key=lambda item: item[1].closed):
            if name in self._node_pins:
                for closed, _told in contact.changes(now_ms):
                    set_node_pin(self._folder, self._node_pins[name], closed)
            else:
                self._factory.pin(self.wiring.pins[name].number).look()
            moving = moving or contact.moving
        return moving

    # Faults

    def set_fault(self, fault: Fault) -> None:
        """Let the table have a fault from now on, in the place of one of the same kind and name. Raises OSError."""
        ends_after = CATALOGUE[fault.kind].ends_after
        ends_ms = None if ends_after is None else monotonic_ms() + fault.number(ends_after)
        self.faults()
        self._take_faults({**self._faults, (fault.kind, fault.name): LineFault(fault, ends_ms)})
        for name in self._having(fault):
            self._contacts[name].set_fault(fault)
        self.advance()

    def mend(self, kind: str | None = None, name: str | None = None) -> None:
        """End faults: all of them, those of one kind, or the one of a kind that has this name. Raises OSError."""
        if kind is not None:
            kind_named(kind)
        self.faults()
        ended = [key for key in self._faults if kind in (None, key[0]) and name in (None, key[1])]
        self._take_faults({key: entry for key, entry in self._faults.items() if key not in ended})
        for ended_kind, _name in ended:
            # A contact may have had it for itself and with all the others.
            left = [entry.fault for (other, _), entry in self._faults.items() if other == ended_kind]
            for contact in self._contacts.values():
                contact.mend(ended_kind)
            for fault in left:
                for having in self._having(fault):
                    self._contacts[having].set_fault(fault)
        self.advance()

    def faults(self) -> list[Fault]:
        """The faults that there are, in the order in which they came."""
        now_ms = monotonic_ms()
        over = [key for key, entry in self._faults.items() if entry.ends_ms is not None and now_ms >= entry.ends_ms]
        for key in over:
            del self._faults[key]
        return [entry.fault for entry in self._faults.values()]

    # What one would see

    @property
    def buttons(self) -> tuple[str, ...]:
        """The buttons that are wired."""
        return tuple(name for name in BUTTONS if name in self._contacts)

    @property
    def dice_keys(self) -> tuple[int, ...]:
        """The dice keys that are wired."""
        return tuple(die for die, name in enumerate(DICE_KEYS, 1) if name in self._contacts)

    @property
    def slots(self) -> tuple[int, ...]:
        """The numbers of the slots that are wired."""
        return tuple(range(1, 1 + len(self.wiring.group("slots"))))

    @property
    def has_second_puck(self) -> bool:
        """Whether the table has two pucks."""
        return self._wired(2)

    @property
    def has_door(self) -> bool:
        """Whether the cabinet's door has a switch."""
        return "door" in self._contacts

    def state(self) -> dict[str, Any]:
        """Pucks {"position", "face"} (the second one None where there is none), lid, slots, door and lamps by name."""
        self.advance()
        lamps = {}
        for name, number in self.wiring.lamps("header").items():
            pin = self._factory.pin(number)
            lamps[name.removeprefix("lamp_")] = pin.function == "output" and bool(pin.state)
        pucks = {number: {"position": position, "face": face} for number, (position, face) in self._pucks.items()}
        return {
            "puck": pucks[1],
            "second_puck": pucks[2] if self.has_second_puck else None,
            "lid": "closed" if self._shut else "open",
            "door": None if not self.has_door else "closed" if self._door_shut else "open",
            "slots": [self._occupied[f"slot_{slot}"] for slot in self.slots],
            "lamps": {**lamps, **node_lamps(self._folder, wiring=self.wiring)},
        }

    def _wired(self, puck: PuckNumber) -> bool:
        return bool(self.wiring.group({1: "puck", 2: "second_puck"}[puck]))

    def _having(self, fault: Fault) -> tuple[str, ...]:
        """The contacts that a fault is at."""
        return CATALOGUE[fault.kind].names(self.wiring) if fault.name is None else (fault.name,)

    def _take_faults(self, faults: dict[tuple[str, str | None], LineFault]) -> None:
        """Have these faults from now on; the node's process is told where they concern it. Raises OSError."""
        of_line = [entry for entry in faults.values() if _is_of_line(entry)]
        if of_line != [entry for entry in self._faults.values() if _is_of_line(entry)]:
            write_line_faults(self._folder, of_line)
        self._faults = faults

    def _take_up(self, path: Path) -> None:
        try:
            left = json.loads(path.read_bytes())
            pucks = {number: (left[name]["position"], left[name]["face"]) for number, name in _PUCKS.items()}
            # A table that was left by a version without a door has it shut.
            shut, occupied, door_shut = left["shut"], left["slots"], left.get("door_shut", True)
            fit = (
                all(_is_place(position) and face in ("on", "off") for position, face in pucks.values())
                and type(shut) is bool
                and type(door_shut) is bool
                and [type(one) for one in occupied] == [bool] * len(SLOTS)
            )
        except (OSError, ValueError, RecursionError, TypeError, KeyError):
            fit = False
        if not fit:
            log.warning("%s does not say how pucks, lid, door and dice are; they are as a new table has them", path)
            return
        self._pucks, self._shut, self._occupied = pucks, shut, dict(zip(SLOTS, occupied, strict=True))
        self._door_shut = door_shut

    def _changed(self) -> None:
        pucks = {_PUCKS[number]: {"position": at, "face": face} for number, (at, face) in self._pucks.items()}
        slots = list(self._occupied.values())
        left = {**pucks, "shut": self._shut, "door_shut": self._door_shut, "slots": slots}
        new = self._folder / f"{TABLE}.new"
        with new.open("w") as file:
            json.dump(left, file)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._folder / TABLE)
        self._pull()
        self.advance()

    def _pull(self) -> None:
        now_ms = self._now_ms()
        closed = {"lid": self._shut, "door": self._door_shut, **self._occupied}
        for number, group in _PUCKS.items():
            position, face = self._pucks[number]
            for place, name in zip(POSITIONS, GROUPS[group], strict=True):
                closed[name] = place == position and face == ("on" if place in BOXES else "off")
        for name in closed.keys() & self._contacts.keys():
            self._contacts[name].move(closed[name], now_ms)


_PUCKS: Mapping[PuckNumber, str] = {1: "puck", 2: "second_puck"}


def _is_of_line(entry: LineFault) -> bool:
    return CATALOGUE[entry.fault.kind].target in ("line", "cable")


def _is_place(position: Any) -> bool:
    return position is None or (type(position) in (int, str) and position in POSITIONS)
