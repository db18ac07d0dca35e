"""Header pins without a header: gpiozero's mock pins, with contacts of a virtual table wired to them."""

import errno
import os
from collections import deque
from collections.abc import Callable
from typing import Any

from gpiozero.pins.mock import MockFactory, MockPin

from drivers.virtual_contact import Contact

# A virtual table may be played at for months.
STATES_MAX = 1_000


class VirtualPin(MockPin):  # type: ignore[misc]
    """A pin that shows the contact wired to it whenever it is read, and tells of every change but those that are lost.

    Nothing happens by itself: a contact that bounces does so in the time between two readings.
    """

    def __init__(self, factory: Any, info: Any) -> None:
        self._contact: Contact | None = None
        self._now_ms: Callable[[], int] | None = None
        self.states: deque[Any] = deque()
        super().__init__(factory, info)

    def clear_states(self) -> None:
        """Forget the former levels; of those to come, the last STATES_MAX are kept in `states`."""
        super().clear_states()
        self.states = deque(self.states, STATES_MAX)

    def connect(self, contact: Contact, now_ms: Callable[[], int]) -> None:
        """Wire a contact to ground to this pin; `now_ms` is the time in which it moves."""
        self._contact = contact
        self._now_ms = now_ms
        self._show(contact.level, told=True)

    def look(self) -> None:
        """Follow the contact, as the line itself would."""
        if self._contact is not None and self._now_ms is not None:
            for closed, told in self._contact.changes(self._now_ms()):
                self._show(closed, told)

    def _show(self, closed: bool, told: bool) -> None:
        # A pin that is an output drives the line itself.
        if self._function == "input" and self._change_state(not closed) and told:
            edge = "falling" if closed else "rising"
            if self._edges in ("both", edge) and self._when_changed is not None:
                self._call_when_changed()

    def _get_state(self) -> Any:
        if self._function == "input":
            if self._contact is not None and self._contact.dead:
                raise OSError(errno.ENODEV, os.strerror(errno.ENODEV))
            self.look()
        return super()._get_state()

    def _set_pull(self, value: str) -> None:
        super()._set_pull(value)
        # A closed contact is stronger than a pull-up.
        if self._contact is not None and self._contact.level:
            self._show(True, told=False)


class VirtualPinFactory(MockFactory):  # type: ignore[misc]
    """The header of a virtual table."""

    def __init__(self) -> None:
        super().__init__(pin_class=VirtualPin)
