"""The virtual table's side of the HTTP interface: a hand that moves pucks, buttons, lid, door and dice; and faults.

It drives the pins and the node's files, as hardware would; the session behind them is out of its reach.
"""

import asyncio
import secrets
from collections.abc import Callable
from typing import Any

from device.console.requests import BadRequest, choice
from drivers.signals import POSITIONS, PuckNumber
from drivers.virtual_faults import CATALOGUE, FaultError, catalogue_view, parse_fault
from drivers.virtual_table import VirtualTable

HOLD_MS_DEFAULT = 80
HOLD_MS_MAX = 5_000
REST_S = 0.06
# How closely the contacts of the node follow time while they bounce.
BOUNCE_STEP_S = 0.001
# Seeds of faults that come without one: short enough to be said aloud.
DRAWN_SEEDS = 1_000_000
MEND_ALL = "all"
# What a request may be about, and what else it may hold.
_KINDS = {
    "puck": (),
    "second_puck": (),
    "press": ("hold_ms",),
    "lid": (),
    "door": (),
    "dice_key": ("hold_ms",),
    "slot": ("occupied",),
    "fault": (),
    "mend": ("name",),
}
_PUCKS: dict[str, PuckNumber] = {"puck": 1, "second_puck": 2}


class VirtualControls:
    """Applies what the virtual table's page asks for."""

    def __init__(self, table: VirtualTable) -> None:
        self._table = table

    def view(self) -> dict[str, Any]:
        """What one would see of the table's hardware, what is wired, the faults it has, and those it could have."""
        return {
            **self._table.state(),
            "buttons": list(self._table.buttons),
            "dice_keys": list(self._table.dice_keys),
            "faults": [fault.data() for fault in self._table.faults()],
            "fault_kinds": catalogue_view(self._table.wiring),
        }

    async def apply(self, body: dict[str, Any]) -> None:
        """Do one thing; a press returns when the button is released again. Raises BadRequest."""
        kinds = [kind for kind in _KINDS if kind in body]
        if len(kinds) != 1:
            raise BadRequest("body", "must name exactly one of " + ", ".join(_KINDS))
        kind = kinds[0]
        for field in body:
            if field not in (kind, *_KINDS[kind]):
                raise BadRequest(field, "is not known")
        try:
            await self._apply(kind, body)
        except OSError as error:
            raise BadRequest(kind, f"cannot be done: {error}") from error
        await self._come_to_rest()

    async def _apply(self, kind: str, body: dict[str, Any]) -> None:
        table = self._table
        match kind:
            case "puck" | "second_puck":
                self._place_puck(kind, body[kind])
            case "lid":
                state = choice(body, "lid", lambda value: value in ("open", "closed"), "must be open or closed")
                table.set_lid(shut=state == "closed")
            case "door":
                if not table.has_door:
                    raise BadRequest("door", "has no switch on this table")
                state = choice(body, "door", lambda value: value in ("open", "closed"), "must be open or closed")
                table.set_door(shut=state == "closed")
            case "press":
                buttons = table.buttons
                right = "must be one of " + ", ".join(buttons) if buttons else "cannot be done: no buttons are wired"
                name = choice(body, "press", lambda value: value in buttons, right)
                await self._hold(body, lambda down: table.set_button(name, down))
            case "dice_key":
                keys = table.dice_keys
                right = f"must be {keys[0]} to {keys[-1]}" if keys else "is not on this table"
                key = choice(body, "dice_key", lambda value: type(value) is int and value in keys, right)
                await self._hold(body, lambda down: self._press_key(key, down))
            case "slot":
                slots = table.slots
                right = f"must be 1 to {slots[-1]}" if slots else "has no sensor on this table"
                slot = choice(body, "slot", lambda value: type(value) is int and value in slots, right)
                occupied = choice(body, "occupied", lambda value: type(value) is bool, "must be true or false")
                table.set_slot(slot, occupied=occupied)
            case "fault":
                try:
                    fault = parse_fault(body["fault"], table.wiring, seed=secrets.randbelow(DRAWN_SEEDS))
                except FaultError as error:
                    field = error.field if error.field == "fault" else f"fault.{error.field}"
                    raise BadRequest(field, error.message) from error
                table.set_fault(fault)
            case _:
                self._mend(body)

    def _place_puck(self, which: str, puck: Any) -> None:
        if which == "second_puck" and not self._table.has_second_puck:
            raise BadRequest(which, "is not on this table")
        if not isinstance(puck, dict) or sorted(puck) != ["face", "position"]:
            raise BadRequest(which, 'must be an object such as {"position": 6, "face": "on"}')
        places = (*POSITIONS, None)
        position = choice(
            puck,
            "position",
            lambda value: value in places and type(value) in (int, str, type(None)),
            "must be a box, off or null",
        )
        face = choice(puck, "face", lambda value: value in ("on", "off"), "must be on or off")
        self._table.place_puck(position, face, puck=_PUCKS[which])

    def _press_key(self, key: int, down: bool) -> None:
        try:
            self._table.set_dice_key(key, down)
        except FileNotFoundError:
            raise BadRequest("dice_key", "cannot be pressed: there is no virtual node") from None

    def _mend(self, body: dict[str, Any]) -> None:
        kinds = (*CATALOGUE, MEND_ALL)
        kind = choice(body, "mend", lambda value: value in kinds, "must be one of " + ", ".join(kinds))
        name = body.get("name")
        if name is not None and (not isinstance(name, str) or (kind, name) not in self._named_faults()):
            raise BadRequest("name", "must be one that has this fault, or be left out")
        self._table.mend(None if kind == MEND_ALL else kind, name)

    def _named_faults(self) -> list[tuple[str, str | None]]:
        return [(fault.kind, fault.name) for fault in self._table.faults()]

    async def _hold(self, body: dict[str, Any], press: Callable[[bool], None]) -> None:
        hold_ms = body.get("hold_ms", HOLD_MS_DEFAULT)
        if type(hold_ms) is not int or not 1 <= hold_ms <= HOLD_MS_MAX:
            raise BadRequest("hold_ms", f"must be a whole number from 1 to {HOLD_MS_MAX}")
        press(True)
        try:
            await self._wait(hold_ms / 1000)
        finally:
            press(False)
        # So that the next press of the same key is seen as one of its own.
        await self._wait(REST_S)

    async def _wait(self, seconds: float) -> None:
        """Let time pass, in small steps while a contact bounces."""
        clock = asyncio.get_running_loop().time
        until = clock() + seconds
        while (left := until - clock()) > 0:
            await asyncio.sleep(min(left, BOUNCE_STEP_S) if self._table.advance() else left)

    async def _come_to_rest(self) -> None:
        while self._table.advance():
            await asyncio.sleep(BOUNCE_STEP_S)
