"""The table computer's own header pins, through gpiozero. The level counts; an edge is only a hint to look."""

import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

from gpiozero import LED, InputDevice
from gpiozero.exc import GPIOZeroError

from drivers.debounce import Debouncer
from drivers.signals import EdgeLost, InputAvailable, InputUnavailable, Signal

# A pin that cannot be had is tried again so often.
RETRY_MS = 5_000
# The library's thread may tell of an edge so long after the level was seen to have changed. Nothing waits for that but
# the telling of a lost edge.
HINT_LATE_MS = 80
# Edges that one input can hint between two looks; more than these are noise whatever their number.
HINTS_MAX = 1_000

_FACTORIES = {
    "lgpio": (
        "gpiozero.pins.lgpio",
        "LGPIOFactory",
        "run on a Raspberry Pi, in the group gpio; lgpio comes there with `make setup`, or as python3-lgpio",
    ),
    "rpigpio": (
        "gpiozero.pins.rpigpio",
        "RPiGPIOFactory",
        "run `.venv/bin/pip install RPi.GPIO` on a Raspberry Pi before the 5, or use lgpio",
    ),
    "mock": ("drivers.virtual_pins", "VirtualPinFactory", "install gpiozero"),
}
# Which interface of the board takes which pins when it is enabled.
_INTERFACES = {
    **dict.fromkeys((2, 3), "I2C"),
    4: "1-Wire",
    **dict.fromkeys((7, 8, 9, 10, 11), "SPI"),
    **dict.fromkeys((14, 15), "the serial console"),
    **dict.fromkeys((18, 19, 20, 21), "I2S sound"),
}
# Where lgpio names its working folder, and where there may be one that is written to on a read-only system.
_LGPIO_FOLDER = "LG_WD"
_RUNTIME_FOLDERS = ("RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR")


class PinFactoryError(Exception):
    """The pin factory that was asked for cannot be used; the message ends with the remedy."""


def open_pin_factory(name: str) -> Any:
    """Open the gpiozero pin factory `name`: lgpio, rpigpio or mock. Never another one instead.

    Raises PinFactoryError with a remedy in one line.
    """
    if name not in _FACTORIES:
        raise PinFactoryError(f"there is no pin factory {name!r}; choose one of {', '.join(_FACTORIES)}")
    module, factory, remedy = _FACTORIES[name]
    try:
        if name == "lgpio":
            with _lgpio_folder():
                return getattr(import_module(module), factory)()
        return getattr(import_module(module), factory)()
    except _pin_errors() as error:
        raise PinFactoryError(f"the pin factory {name} cannot be used here ({error}); {remedy}") from error


def pin_library(pin_factory: Any) -> str:
    """The name under which `open_pin_factory` knows the kind of this factory."""
    modules = [kind.__module__ for kind in type(pin_factory).__mro__]
    return next(name for name in _FACTORIES if f"gpiozero.pins.{name}" in modules)


@contextmanager
def _lgpio_folder() -> Iterator[None]:
    """Somewhere for lgpio to make its pipe.

    While it is imported, lgpio makes a pipe in its working folder, which is where the program was started unless LG_WD
    names another, and goes there for good. Once the pipe is open nobody needs its name, so the folder is gone again
    afterwards; two programs that share one would take each other's edges.
    """
    before = os.getcwd()  # noqa: PTH109
    try:
        if _LGPIO_FOLDER in os.environ:
            yield
            return
        with _runtime_folder() as folder:
            os.environ[_LGPIO_FOLDER] = folder
            try:
                yield
            finally:
                del os.environ[_LGPIO_FOLDER]
                os.chdir(before)
    finally:
        os.chdir(before)


@contextmanager
def _runtime_folder() -> Iterator[str]:
    candidates = [os.environ[variable] for variable in _RUNTIME_FOLDERS if variable in os.environ]
    for parent in (*candidates, "/run", "/dev/shm", None):  # noqa: S108
        with suppress(OSError):
            folder = tempfile.TemporaryDirectory(prefix="boxman-lgpio-", dir=parent)
            break
    else:
        raise OSError(f"no folder can be written to for its pipe; name one in {_LGPIO_FOLDER}")
    with folder as path:
        yield path


def _pin_errors() -> tuple[type[Exception], ...]:
    """What a back end raises for a pin: lgpio has an error of its own that derives from nothing more special."""
    lgpio_error = getattr(sys.modules.get("lgpio"), "error", None)
    common: tuple[type[Exception], ...] = (GPIOZeroError, ImportError, OSError, RuntimeError, ValueError)
    return common if lgpio_error is None else (*common, lgpio_error)


def _unavailable(name: str, pin: int, error: Exception) -> str:
    interface = f", or {_INTERFACES[pin]}, if it is enabled," if pin in _INTERFACES else ""
    return f"GPIO{pin} ({name}) is unavailable: {error}; another program{interface} may hold it"


class _Contact:
    """One contact to ground on a pulled-up pin: its device, the edges hinted, and what was made of them.

    An accepted change of level is paid for by a hint that came since the one before, or within HINT_LATE_MS: hints pay
    for the oldest change first. One that no hint has paid for by then is a lost edge.
    """

    def __init__(
        self, name: str, pin: int, settle_ms: int, hinted: Callable[[], None], on_edge: Callable[[str, Any, bool], None]
    ) -> None:
        self.name = name
        self.pin = pin
        self.lost_edges = 0
        self.glitches = 0
        self.level: bool | None = None
        self.device: InputDevice | None = None
        # A device whose pin could not be given back. It tries again when it is forgotten, and must not do so later.
        self._stale: InputDevice | None = None
        self._settle_ms = settle_ms
        self._hinted = hinted
        self._on_edge = on_edge
        self._lock = threading.Lock()
        self._arrived = 0
        self.forget()

    def forget(self) -> None:
        """Begin anew: the next level that settles is a state, not a change."""
        self.level = None
        self._settled = Debouncer(self._settle_ms)
        self._seen: bool | None = None
        self._seen_ms = 0
        self._hints = 0
        self._hinted_ms = 0
        # When each change that no hint has paid for was seen; they settle, so there are few within HINT_LATE_MS.
        self._owed_ms: list[int] = []

    @property
    def settled_level(self) -> bool | None:
        """The level, once it has settled."""
        return self._settled.level

    @property
    def unsettled(self) -> bool:
        """Whether something is to be found out by looking again soon."""
        return not self._settled.settled or self._hints > 0 or bool(self._owed_ms)

    def open(self, pin_factory: Any) -> None:
        """Take the pin and read it. Raises one of `_pin_errors`, and then the pin is given back."""
        if self._stale is not None:
            self._stale.close()
            self._stale = None
        self.device = InputDevice(self.pin, pull_up=True, pin_factory=pin_factory)
        try:
            # gpiozero's own events pass over an edge that follows a lost one.
            self.device.pin.when_changed = self.edge
            self.level = bool(self.device.is_active)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Give the pin back, if it was had. A pin that is gone cannot object."""
        device, self.device = self.device, None
        if device is None:
            return
        # A library keeps its pins for the process, and arms the edges of one only when it had no listener before.
        with suppress(*_pin_errors()):
            device.pin.when_changed = None
        try:
            device.close()
        except _pin_errors():
            self._stale = device

    def edge(self, ticks: Any, state: Any) -> None:
        """An edge was hinted; called from the library's own thread."""
        self._on_edge(self.name, ticks, not state)
        with self._lock:
            first = self._arrived == 0
            self._arrived = min(self._arrived + 1, HINTS_MAX)
        if first:
            self._hinted()

    def look(self, now_ms: int) -> int:
        """Read the level; return how many lost edges have come to light. Raises one of `_pin_errors`."""
        assert self.device is not None
        # Taken before the level is read: what arrives in between belongs to the next look.
        with self._lock:
            arrived, self._arrived = self._arrived, 0
        self.level = bool(self.device.is_active)
        if arrived:
            self._hints += arrived
            self._hinted_ms = now_ms
        if self.level != self._seen:
            self._seen, self._seen_ms = self.level, now_ms
        at_start = self._settled.level is None
        changed = self._settled.feed(now_ms, self.level)
        if at_start:
            if changed:
                self._hints = 0
            return 0
        lost = self._account(now_ms, changed)
        self.lost_edges += lost
        return lost

    def _account(self, now_ms: int, changed: bool) -> int:
        """Hold changes against hints: a settled one needs a hint, HINT_LATE_MS after it was seen at the latest."""
        if changed:
            self._owed_ms.append(self._seen_ms)
        paid = min(len(self._owed_ms), self._hints)
        if paid:
            del self._owed_ms[:paid]
            # What is left over are its bounces, or belongs to what has not settled yet.
            self._hints = 0 if self._settled.settled else self._hints - paid
        elif self._hints and self._settled.settled and now_ms - self._hinted_ms >= self._settle_ms:
            self.glitches += self._hints
            self._hints = 0
        owed = len(self._owed_ms)
        self._owed_ms = [seen_ms for seen_ms in self._owed_ms if now_ms - seen_ms < HINT_LATE_MS]
        return owed - len(self._owed_ms)


class HeaderInputs:
    """Contacts to ground on pulled-up pins, by name. `levels` has those that can be read; True is a closed contact.

    A pin that cannot be had, or fails, takes down that input alone: it is in `unavailable` with the reason, and is
    tried again every RETRY_MS. `on_hint` is called from the library's own thread when a level may have changed: once,
    until the next look. `on_edge` is called from there for every edge, with the input's name, the library's time
    of it and whether the contact closed. `settle_ms` is for each input how long it takes to settle.
    """

    def __init__(
        self,
        pins: Mapping[str, int],
        *,
        settle_ms: Mapping[str, int],
        pin_factory: Any,
        on_hint: Callable[[], None] | None = None,
        on_edge: Callable[[str, Any, bool], None] | None = None,
    ) -> None:
        self.levels: dict[str, bool] = {}
        self.unavailable: dict[str, str] = {}
        self._factory = pin_factory
        hinted = on_hint if on_hint is not None else _nobody
        told = on_edge if on_edge is not None else _nobody_follows
        self._contacts = {name: _Contact(name, pin, settle_ms[name], hinted, told) for name, pin in pins.items()}
        self._news: list[Signal] = []
        self._tried_ms: int | None = None
        try:
            for contact in self._contacts.values():
                self._open(contact)
        except BaseException:
            self.close()
            raise

    @property
    def unsettled(self) -> bool:
        """Whether something is to be found out by looking again soon."""
        return any(contact.unsettled for contact in self._contacts.values() if contact.device is not None)

    def level(self, name: str) -> bool | None:
        """The settled level of an input; None while it is not known."""
        return self._contacts[name].settled_level if self._contacts[name].device is not None else None

    def counts(self, name: str) -> dict[str, int]:
        """How often an edge of this input was lost, and how many edges led to no change of level."""
        return {"lost_edges": self._contacts[name].lost_edges, "glitches": self._contacts[name].glitches}

    def look(self, now_ms: int) -> list[Signal]:
        """Read all inputs into `levels`; say which edges were lost and which pins have gone or come back."""
        signals, self._news = self._news, []
        if self._tried_ms is None:
            self._tried_ms = now_ms
        if now_ms - self._tried_ms >= RETRY_MS:
            self._tried_ms = now_ms
            signals += self._try_again()
        for name, contact in self._contacts.items():
            if contact.device is None:
                continue
            try:
                lost = contact.look(now_ms)
            except _pin_errors() as error:
                contact.close()
                self.levels.pop(name, None)
                self.unavailable[name] = _unavailable(name, contact.pin, error)
                signals.append(InputUnavailable(name, self.unavailable[name]))
                continue
            assert contact.level is not None
            self.levels[name] = contact.level
            signals += [EdgeLost(name)] * lost
        return signals

    def close(self) -> None:
        """Give all pins back."""
        for contact in self._contacts.values():
            contact.close()

    def _open(self, contact: _Contact) -> None:
        try:
            contact.open(self._factory)
        except _pin_errors() as error:
            self.unavailable[contact.name] = _unavailable(contact.name, contact.pin, error)
            self._news.append(InputUnavailable(contact.name, self.unavailable[contact.name]))

    def _try_again(self) -> list[Signal]:
        signals: list[Signal] = []
        for name in [*self.unavailable]:
            contact = self._contacts[name]
            try:
                contact.open(self._factory)
            except _pin_errors() as error:
                self.unavailable[name] = _unavailable(name, contact.pin, error)
                continue
            contact.forget()
            del self.unavailable[name]
            signals.append(InputAvailable(name))
        return signals


def _nobody() -> None:
    """Nobody waits for a hint."""


def _nobody_follows(_name: str, _ticks: Any, _closed: bool) -> None:
    """Nobody follows the edges."""


class HeaderLamps:
    """Lamps on output pins, by name, dark at first.

    A pin that cannot be had, or fails, is in `unavailable` with the reason, and is tried again every RETRY_MS.
    """

    def __init__(self, pins: Mapping[str, int], *, pin_factory: Any) -> None:
        self.unavailable: dict[str, str] = {}
        self._pins = dict(pins)
        self._factory = pin_factory
        self._lit = dict.fromkeys(pins, False)
        self._lamps: dict[str, LED] = {}
        self._news: list[Signal] = []
        self._tried_ms: int | None = None
        try:
            for name in self._pins:
                self._open(name)
        except BaseException:
            self.close()
            raise

    def set_lamps(self, lit: Mapping[str, bool]) -> None:
        """Light or darken the named lamps; the others stay as they are. Unavailable ones follow when they are back."""
        for name in self._pins:
            if name in lit and lit[name] != self._lit[name]:
                self._lit[name] = lit[name]
                self._show(name)

    def look(self, now_ms: int) -> list[Signal]:
        """Try those that cannot be had again, every RETRY_MS; say which have gone or come back."""
        if self._tried_ms is None:
            self._tried_ms = now_ms
        if now_ms - self._tried_ms >= RETRY_MS:
            self._tried_ms = now_ms
            for name in [*self.unavailable]:
                self._open(name)
        news, self._news = self._news, []
        return news

    def close(self) -> None:
        """Darken the lamps and give their pins back."""
        while self._lamps:
            with suppress(*_pin_errors()):
                self._lamps.popitem()[1].close()

    def _open(self, name: str) -> None:
        try:
            self._lamps[name] = LED(self._pins[name], initial_value=self._lit[name], pin_factory=self._factory)
        except _pin_errors() as error:
            self._fail(name, error)
            return
        if self.unavailable.pop(name, None) is not None:
            self._news.append(InputAvailable(name))

    def _show(self, name: str) -> None:
        if name not in self._lamps:
            return
        try:
            self._lamps[name].value = self._lit[name]
        except _pin_errors() as error:
            with suppress(*_pin_errors()):
                self._lamps.pop(name).close()
            self._fail(name, error)

    def _fail(self, name: str, error: Exception) -> None:
        reason = _unavailable(name, self._pins[name], error)
        if name not in self.unavailable:
            self._news.append(InputUnavailable(name, reason))
        self.unavailable[name] = reason
