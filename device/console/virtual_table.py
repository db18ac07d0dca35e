"""The virtual table's side of the HTTP interface: a hand that moves puck, buttons, lid and keys.

It drives the pins and the node's key file, as hardware would; the session behind them is out of its reach.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from device.console.requests import BadRequest, choice
from drivers.bet_status_decoder import BUTTONS
from drivers.signals import POSITIONS
from drivers.virtual_table import VirtualTable

HOLD_MS_DEFAULT = 80
HOLD_MS_MAX = 5_000
REST_S = 0.06
_KINDS = ("puck", "press", "lid", "dice_key")


class VirtualControls:
    """Applies what the virtual table's page asks for."""

    def __init__(self, table: VirtualTable) -> None:
        self._table = table

    def view(self) -> dict[str, Any]:
        """What one would see of the table's hardware: puck, lid and lamps."""
        return self._table.state()

    async def apply(self, body: dict[str, Any]) -> None:
        """Do one movement; a press returns when the button is released again. Raises BadRequest."""
        kinds = [kind for kind in _KINDS if kind in body]
        if len(kinds) != 1:
            raise BadRequest("body", "must name exactly one of " + ", ".join(_KINDS))
        kind = kinds[0]
        for field in body:
            if field not in (kind, "hold_ms"):
                raise BadRequest(field, "is not known")
        if kind == "puck":
            self._place_puck(body["puck"])
        elif kind == "lid":
            state = choice(body, "lid", lambda value: value in ("open", "closed"), "must be open or closed")
            self._table.set_lid(shut=state == "closed")
        elif kind == "press":
            name = choice(body, "press", lambda value: value in BUTTONS, "must be one of " + ", ".join(BUTTONS))
            await self._hold(body, lambda down: self._table.set_button(name, down))
        else:
            key = choice(body, "dice_key", lambda value: type(value) is int and 1 <= value <= 6, "must be 1 to 6")
            await self._hold(body, lambda down: self._press_key(key, down))

    def _place_puck(self, puck: Any) -> None:
        if not isinstance(puck, dict) or sorted(puck) != ["face", "position"]:
            raise BadRequest("puck", 'must be an object such as {"position": 6, "face": "on"}')
        places = (*POSITIONS, None)
        position = choice(
            puck, "position", lambda value: value in places and type(value) is not bool, "must be a box, off or null"
        )
        face = choice(puck, "face", lambda value: value in ("on", "off"), "must be on or off")
        self._table.place_puck(position, face)

    def _press_key(self, key: int, down: bool) -> None:
        try:
            self._table.set_dice_key(key, down)
        except FileNotFoundError:
            raise BadRequest("dice_key", "cannot be pressed: there is no virtual node") from None

    async def _hold(self, body: dict[str, Any], press: Callable[[bool], None]) -> None:
        hold_ms = body.get("hold_ms", HOLD_MS_DEFAULT)
        if type(hold_ms) is not int or not 1 <= hold_ms <= HOLD_MS_MAX:
            raise BadRequest("hold_ms", f"must be a whole number from 1 to {HOLD_MS_MAX}")
        press(True)
        try:
            await asyncio.sleep(hold_ms / 1000)
        finally:
            press(False)
        # So that the next press of the same key is seen as one of its own.
        await asyncio.sleep(REST_S)
